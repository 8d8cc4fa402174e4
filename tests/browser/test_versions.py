"""The oldest JupyterLab that is supported, with the wheel installed where there is no Node."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import cache_from_source
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from playwright.sync_api import Browser, expect

from tests.browser.hand import choose_policy
from tests.browser.lab import WORKBENCH, Lab, find_file, open_lab, start_lab
from tests.browser.screen import ROOT, Watch, screenshot
from tests.quick_imports import path_without_grammar
from tests.work import PATIENCE

OLDEST = "4.2.0"
FEW = 40  # seconds without a byte before an index counts as out of reach
# Beside the packages of this checkout, for the next run: what others publish is installed once.
PLACE = Path(sys.prefix) / f"jupyterlab-{OLDEST}"
PYTHON = PLACE / "bin" / "python"
PIP = (sys.executable, "-m", "pip", "--python", PYTHON, "--disable-pip-version-check")
# Most of what is installed is never imported, so nothing is compiled before it is.
INSTALL = (*PIP, "install", "--no-compile", "--quiet", "--timeout", FEW, "--retries", 1)


def call(*command: object, env: dict[str, str]) -> str:
    done = subprocess.run([str(part) for part in command], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def list_fitting(asked: Iterable[str]) -> list[Distribution]:
    """What is asked for, and what that asks for in turn, as far as this environment has it and it fits."""
    fitting: dict[str, Distribution] = {}
    seen, todo = set[str](), [Requirement(line) for line in asked]
    while todo:
        wanted = todo.pop()
        if str(wanted) in seen:
            continue
        seen.add(str(wanted))
        try:
            found = distribution(wanted.name)
        except PackageNotFoundError:
            continue
        if wanted.specifier.contains(found.version, prereleases=True):
            fitting[found.name] = found
        for more in map(Requirement, found.requires or ()):
            # Its own extras are asked for by name, and the rest is a matter of the platform.
            if more.marker is None or any(
                more.marker.evaluate({"extra": extra}) for extra in ("", *wanted.extras)
            ):
                more.marker = None
                todo.append(more)
    return list(fitting.values())


def link_installed(found: Distribution) -> None:
    """Give the other environment an installed package of this one, but its scripts: they name a Python."""
    here = Path(sys.prefix)
    paths = [Path(os.path.normpath(str(found.locate_file(file)))) for file in found.files or ()]
    if not all(path.is_relative_to(here) for path in paths):
        return
    compiled = [Path(cache_from_source(path)) for path in paths if path.suffix == ".py"]
    for path in dict.fromkeys((*paths, *compiled)):
        inside = path.relative_to(here)
        if inside.parts[0] in ("bin", "Scripts") or not path.is_file():
            continue
        target = PLACE / inside
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(path, target)
        except OSError:
            shutil.copy2(path, target)


def install_others(env: dict[str, str]) -> None:
    """The packages of others that the wheel asks for, and that JupyterLab, unless they are there already.

    To fetch and unpack a hundred packages takes a minute, and this environment has nearly all of them. They
    are linked, and pip, which is asked all the same, fetches what is missing or does not fit.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    asked = [*project["dependencies"], f"jupyterlab=={OLDEST}", "ipykernel"]
    note, told = PLACE / "installed.json", json.dumps([sys.version, asked])
    if note.is_file() and note.read_text("utf-8") == told:
        return
    venv.create(PLACE, with_pip=False, clear=True)
    for found in list_fitting(asked):
        link_installed(found)
    done = subprocess.run([str(part) for part in (*INSTALL, *asked)], env=env, capture_output=True, text=True)
    if done.returncode != 0 and "(from versions: none)" in done.stderr:
        pytest.skip(f"no package index can be reached: {done.stderr.splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    note.write_text(told, "utf-8")


@pytest.fixture(scope="module")
def oldest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A server of that version in an environment of its own, with nothing on PATH but that environment."""
    home = tmp_path_factory.mktemp("oldest")
    empty = home / "empty"
    empty.mkdir()
    bare = {**os.environ, "PATH": str(empty), "PYTHONPATH": ""}
    build = ("-m", "build", "--wheel", "--no-isolation", "--outdir", home / "dist", ROOT)
    call(sys.executable, *build, env=bare)
    (wheel,) = (home / "dist").glob("*.whl")
    install_others(bare)
    call(*INSTALL, "--no-deps", "--force-reinstall", wheel, env=bare)
    call(*PIP, "check", env=bare)
    own = path_without_grammar(empty, {})
    with start_lab(home / "lab", str(PYTHON), PATH=str(PYTHON.parent), PYTHONPATH=own) as lab:
        yield lab


def test_a_double_click_opens_a_session_in_the_oldest_jupyterlab(oldest: Lab, browser: Browser) -> None:
    name = oldest.write_session("old.session.jsonl")
    window = browser.new_context(viewport={"width": 1280, "height": 900})
    window.set_default_timeout(1000 * PATIENCE)
    page = window.new_page()
    watch = Watch(page)
    try:
        open_lab(page, oldest)
        version = page.evaluate("() => window.jupyterapp.version")
        assert version == OLDEST
        find_file(page, name).dblclick()
        page.locator(WORKBENCH).wait_for()
        expect(page.locator(".ci-document")).to_contain_text("Every high water an hour early")
        choose_policy(page, "keep-recent-turns")
        expect(page.get_by_test_id("recipe")).to_contain_text("keep-recent-turns")
        find_file(page, name).click(button="right")
        page.get_by_role("menuitem", name="Inspect compaction").wait_for()
        page.keyboard.press("Escape")
        screenshot(page, "document-oldest")
        assert watch.strangers(oldest) == []
        assert watch.errors == []
    finally:
        window.close()


def test_the_installed_wheel_is_known_to_jupyter(oldest: Lab, tmp_path: Path) -> None:
    bare = {**os.environ, "PATH": str(PYTHON.parent), "PYTHONPATH": path_without_grammar(tmp_path, {})}
    done = subprocess.run(
        [str(PYTHON), "-m", "jupyter", "labextension", "list"], env=bare, capture_output=True, text=True
    )
    found = [
        line
        for line in (done.stdout + done.stderr).splitlines()
        if line.strip().startswith("compaction-inspector ")
    ]
    assert len(found) == 1
    assert "enabled" in found[0]
    assert "OK" in found[0]
    assert "(python, compaction-inspector)" in found[0]
    assert Path(oldest.log).read_text().count("inspector | extension was successfully loaded") == 1
