"""Driving JupyterLab: start it, open a notebook, run it, look at it."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Locator, Page, expect

from tests.browser.product import open_demo, read_demo, save_session
from tests.browser.screen import ROOT
from tests.browser.servers import start_server
from tests.kernels import find_transport, make_folder
from tests.quick_imports import path_without_grammar

READY = """async () => {
  const app = window.jupyterapp;
  await app.restored;
  const panel = app.shell.currentWidget;
  await panel.context.ready;
  await panel.sessionContext.ready;
  await panel.sessionContext.session.kernel.info;
}"""
RUN = "([command, args]) => { window.jupyterapp.commands.execute(command, args) }"
RUN_ALL = "async () => { await window.jupyterapp.commands.execute('notebook:run-all-cells') }"
ASK = """async code => {
  const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
  const future = kernel.requestExecute({ code, silent: false, store_history: false });
  let said = "";
  future.onIOPub = message => { if (message.header.msg_type === "stream") said += message.content.text; };
  const reply = await future.done;
  return reply.content.status === "ok" ? said : `${reply.content.ename}: ${reply.content.evalue}`;
}"""
# Cells outside the view are drawn only when scrolled to.
DRAW_ALL = """async () => {
  const notebook = window.jupyterapp.shell.currentWidget.content;
  notebook.notebookConfig = { ...notebook.notebookConfig, windowingMode: 'none' };
}"""


# Closing takes its time: the server hears of it a little later. What is selected is selected no more, and
# nobody is asked about what was not saved.
START_OVER = """async () => {
  const { commands, shell } = window.jupyterapp;
  for (const { context } of shell.widgets('main')) if (context !== undefined) context.model.dirty = false;
  await commands.execute('application:close-all');
  await new Promise(resolve => setTimeout(resolve, 150));
  await commands.execute('filebrowser:go-to-path', { path: '/', dontShowBrowser: true });
  await commands.execute('filebrowser:refresh');
  [...shell.widgets('left')].find(({ id }) => id === 'filebrowser').clearSelectedItems();
}"""
WORKBENCH = ".ci-document [data-testid=cut-handle]"


class Lab(NamedTuple):
    """A running server. `notebooks` is its root folder, a copy that tests may write to."""

    base: str
    token: str
    notebooks: Path
    log: Path

    def url(self, path: str = "", **query: str) -> str:
        """The address of a notebook (or of Lab itself) in a workspace that starts empty."""
        more = "".join(f"&{name}={value}" for name, value in query.items())
        place = f"lab/tree/{path}" if path else "lab"
        return f"{self.base}/{place}?token={self.token}&reset{more}"

    def api(self, path: str, method: str = "GET") -> object:
        """What the server's own interface answers."""
        return self.ask(f"api/{path}", method)

    def ask(self, path: str, method: str = "GET") -> object:
        """What any of its routes answers."""
        request = urllib.request.Request(
            f"{self.base}/{path}", method=method, headers={"Authorization": f"token {self.token}"}
        )
        with urllib.request.urlopen(request, timeout=120) as answer:
            body = answer.read()
        return json.loads(body) if body else None

    def shut_down_kernels(self) -> None:
        sessions = self.api("sessions")
        assert isinstance(sessions, list)
        for session in sessions:
            self.api(f"sessions/{session['id']}", "DELETE")

    def write_notebook(self, name: str, *cells: str) -> str:
        """Put a notebook of code cells into the server's folder; returns its name."""
        notebook = new_notebook(
            cells=[new_code_cell(cell) for cell in cells],
            metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
        )
        nbformat.write(notebook, self.notebooks / name)
        return name

    def write_session(self, name: str, lines: int | None = None) -> str:
        """Put the bundled session into the server's folder, or its first lines; returns its name."""
        place = self.notebooks / name
        place.parent.mkdir(exist_ok=True)
        if name.endswith(".json"):
            save_session(open_demo(), place)
        else:
            place.write_bytes(b"".join(read_demo().splitlines(keepends=True)[:lines]))
        return name


@contextmanager
def start_lab(home: Path, python: str = sys.executable, **more: str) -> Iterator[Lab]:
    """Run a server whose every folder is under `home`, until the block ends; `more` is of its environment."""
    notebooks = home / "notebooks"
    if (ROOT / "notebooks").is_dir():
        shutil.copytree(ROOT / "notebooks", notebooks, ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
    notebooks.mkdir(exist_ok=True)
    settings = home / "settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    (settings / "notification.jupyterlab-settings").write_text(
        '{"fetchNews": "false", "checkForUpdates": false}'
    )
    # At each load of the page Lab asks itself by a Node of its own whether it is to be built again.
    (home / "config" / "labconfig").mkdir(parents=True)
    (home / "config" / "labconfig" / "page_config.json").write_text('{"buildCheck": false}')
    folders = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
        # Where sessions are looked for, and what is known of them.
        "CLAUDE_CONFIG_DIR": "claude",
        "CODEX_HOME": "codex",
        "PI_CODING_AGENT_DIR": "pi",
        "XDG_CACHE_HOME": "cache",
    }
    connections = make_folder()
    own = {"PYTHONPATH": path_without_grammar(connections)}
    environment = {
        **os.environ,
        **own,
        **{name: str(home / folder) for name, folder in folders.items()},
        **more,
    }
    environment["JUPYTER_RUNTIME_DIR"] = str(connections)
    token, log = secrets.token_hex(16), home / "lab.log"

    def command(port: int) -> list[str]:
        return [
            *(python, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1"),
            *(f"--port={port}", "--ServerApp.port_retries=0", f"--IdentityProvider.token={token}"),
            *(f"--ServerApp.root_dir={notebooks}", "--LabApp.expose_app_in_browser=True"),
            "--JupyterNotebookApp.expose_app_in_browser=True",
            *("--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"),
            "--LanguageServerManager.autodetect=False",
            f"--KernelManager.transport={find_transport(connections)}",
        ]

    def answers(base: str) -> object:
        return Lab(base, token, notebooks, log).api("status")

    try:
        with start_server(command, answers, log, env=environment) as base:
            yield Lab(base, token, notebooks, log)
    finally:
        shutil.rmtree(connections, ignore_errors=True)


def open_notebook(page: Page, lab: Lab, name: str) -> None:
    """Load Lab with one notebook open, and wait until its kernel answers."""
    page.goto(lab.url(name))
    page.wait_for_selector(".jp-NotebookPanel .jp-Notebook")
    page.evaluate(READY)
    page.evaluate(DRAW_ALL)


def open_lab(page: Page, lab: Lab) -> None:
    """Lab with nothing open but its launcher. A tab that shows Lab already only closes what is open there."""
    if page.url.startswith(f"{lab.base}/lab") and page.evaluate("() => window.isFreshLab === true"):
        page.evaluate(START_OVER)
        page.locator(".jp-Document").first.wait_for(state="detached")
        page.locator(".jp-Launcher").first.wait_for()
        return
    page.goto(lab.url())
    page.wait_for_selector(".jp-DirListing-item")
    wait_until_restored(page)
    may_start_over(page)


def may_start_over(page: Page) -> None:
    """The next test may go on in this Lab: nothing is left of the test but what is open."""
    page.evaluate("() => { window.isFreshLab = true }")


def wait_until_restored(page: Page) -> None:
    """Until whatever was open is open again."""
    page.wait_for_function("() => window.jupyterapp !== undefined")
    page.evaluate("async () => { await window.jupyterapp.restored }")


def run(page: Page, command: str, **args: Any) -> None:
    """Run a command of Lab, without waiting for its end."""
    page.evaluate(RUN, [command, args])


def find_file(page: Page, name: str) -> Locator:
    """A file's row in the file browser."""
    return page.locator(f".jp-DirListing-item[title^='Name: {name}\\a ']")


def run_all(page: Page) -> None:
    """Run every cell, and wait until the last one is done."""
    page.evaluate(RUN_ALL)


def set_theme(page: Page, dark: bool) -> None:
    """Switch JupyterLab's theme, and wait until it is on."""
    theme = "JupyterLab Dark" if dark else "JupyterLab Light"
    page.evaluate("theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })", theme)
    page.wait_for_function("light => document.body.dataset.jpThemeLight === light", arg=str(not dark).lower())
    page.wait_for_selector("#jupyterlab-splash", state="detached")


def settle(page: Page, document: str = ".ci-document:visible") -> Locator:
    """Until a document shows its session and waits for nothing; returns it."""
    found = page.locator(document)
    found.get_by_test_id("cut-handle").wait_for()
    expect(found.locator(".ci[aria-busy]")).to_have_count(0)
    return found


def ask(page: Page, code: str) -> str:
    """Run a line in the notebook's own kernel and return what it prints, or the error it raises."""
    return str(page.evaluate(ASK, code)).strip()


def wait_for_kernel(page: Page) -> None:
    """Until the screen is no longer ahead of Python."""
    page.wait_for_function(
        "() => { const w = document.querySelector('.ci'); return w && !w.hasAttribute('aria-busy') }"
    )
