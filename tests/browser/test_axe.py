"""axe finds nothing in the workbench, in any of its states, light and dark; and the cut says where it is.

All of axe's rules run, colour contrast among them, over the workbench's own element: JupyterLab's page
around it is not ours to mend.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from inspector import open_demo
from inspector.workbench.page.export import export_html
from tests.browser.lab import (
    ROOT,
    WORKBENCH,
    Lab,
    open_lab,
    open_notebook,
    run_all,
    set_theme,
)
from tests.browser.test_workbench import ask, wait_for_python

NARROW = 560
CELL = "import inspector; session = inspector.open_demo(); wb = inspector.Workbench(session); wb"
AXE = ROOT / "js" / "node_modules" / "axe-core" / "axe.min.js"
# JupyterLab's body has no height and hides what flows over it, so axe would take everything for hidden.
JUDGE = """async scope => {
  document.body.style.height = "100vh";
  const { violations } = await axe.run(scope, { resultTypes: ["violations"] });
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, html, any, all, none }) => {
      const why = [...any, ...all, ...none].map(check => check.message).join("; ");
      return `${id}: ${target.join(" ")} ${html.slice(0, 160)} (${why.slice(0, 200)})`;
    }));
}"""


@cache
def axe_source() -> str:
    assert AXE.is_file(), "axe-core is not installed: run `make build`"
    return AXE.read_text("utf-8")


def find_violations(page: Page, scope: str = ".ci") -> list[str]:
    """What axe holds against an element and all in it, a line each. It must be on the screen: what is
    scrolled away has no contrast to judge."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(axe_source())
    found: list[str] = page.evaluate(JUDGE, scope)
    return found


@pytest.fixture(scope="module")
def opened(window: BrowserContext, lab: Lab) -> Iterator[Page]:
    """One page for all states: each has a workbench of its own in it. Tall enough to show it whole."""
    page = window.new_page()
    page.set_viewport_size({"width": 1280, "height": 3200})
    open_notebook(page, lab, lab.write_notebook("axe.ipynb", CELL))
    yield page
    page.close()
    lab.shut_down_kernels()


@pytest.fixture
def notebook(opened: Page) -> Iterator[Page]:
    run_all(opened)
    opened.get_by_test_id("cut-handle").wait_for()
    yield opened
    opened.evaluate("() => window.jupyterapp.commands.execute('notebook:clear-all-cell-outputs')")
    opened.locator(".ci").wait_for(state="detached")
    set_theme(opened, dark=False)


def set_trait(page: Page, line: str) -> None:
    """Set something in the notebook's own kernel, and wait until it is drawn."""
    said = ask(page, line)
    assert said == "", said
    page.wait_for_timeout(150)
    wait_for_python(page)


def explore(page: Page) -> None:
    set_trait(page, "wb.mode = 'explore'")


def teach(page: Page) -> None:
    set_trait(page, "wb.mode = 'teach'")


def debug(page: Page) -> None:
    set_trait(page, "wb.mode = 'debug'")


def look_for_facts(page: Page) -> None:
    """A fact open that something became of, beside what was needed again."""
    set_trait(page, "wb.mode = 'debug'; wb.policy = 'claude-code'; wb.cut = 'end'")
    page.get_by_test_id("facts-lost").click()
    page.get_by_test_id("regrets").locator("summary").click()
    page.get_by_test_id("facts-list").focus()
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    page.get_by_test_id("fact-why").wait_for()


def live_again(page: Page) -> None:
    page.get_by_test_id("replay-ask").click()
    page.get_by_test_id("sawtooth").wait_for()
    wait_for_python(page)


def compare(page: Page) -> None:
    set_trait(page, "wb.versus = {'policy': 'keep-recent-turns'}")
    page.wait_for_timeout(300)


def open_help(page: Page) -> None:
    page.get_by_test_id("cut-handle").focus()
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Keys").wait_for()


def look_closely(page: Page) -> None:
    """A fold and a block open."""
    page.get_by_test_id("fates").locator("[data-fold]").first.click()
    page.get_by_test_id("fate-row").nth(1).click()
    page.wait_for_timeout(300)


def fail(page: Page) -> None:
    assert ask(page, "wb.cut = 'nowhere'").startswith("EditError")
    expect(page.get_by_test_id("error")).to_contain_text("no such entry")


def narrow(page: Page) -> None:
    page.evaluate(
        "width => { document.querySelector('.ci').parentElement.style.width = `${width}px` }", NARROW
    )
    page.wait_for_timeout(300)


STATES: tuple[Callable[[Page], None], ...] = (
    explore,
    teach,
    debug,
    look_for_facts,
    live_again,
    compare,
    open_help,
    look_closely,
    fail,
    narrow,
)


@pytest.mark.parametrize("enter", STATES, ids=lambda state: state.__name__)
def test_axe_finds_nothing(notebook: Page, enter: Callable[[Page], Any]) -> None:
    enter(notebook)
    found = []
    for dark in (False, True):
        set_theme(notebook, dark)
        notebook.wait_for_timeout(200)
        found += [f"{'dark' if dark else 'light'}: {line}" for line in find_violations(notebook)]
    assert not found, "\n" + "\n".join(found)


def test_axe_finds_nothing_in_a_document(window: BrowserContext, lab: Lab) -> None:
    page = window.new_page()
    page.set_viewport_size({"width": 1280, "height": 2000})
    open_lab(page, lab)
    lab.write_session("axe.session.jsonl")
    page.evaluate(
        "path => { window.jupyterapp.commands.execute('docmanager:open', { path }) }", "axe.session.jsonl"
    )
    page.locator(WORKBENCH).wait_for()
    found = []
    for dark in (False, True):
        set_theme(page, dark)
        page.wait_for_timeout(200)
        found += [f"{'dark' if dark else 'light'}: {line}" for line in find_violations(page, ".ci-document")]
    set_theme(page, dark=False)
    page.close()
    assert not found, "\n" + "\n".join(found)


def test_axe_finds_nothing_in_an_exported_page(window: BrowserContext, tmp_path: Path) -> None:
    export_html(open_demo(), tmp_path / "page.html")
    page = window.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    page.get_by_test_id("cut-handle").wait_for()
    found = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.wait_for_timeout(200)
        found += [f"{scheme}: {line}" for line in find_violations(page, "html")]
    page.close()
    assert not found, "\n" + "\n".join(found)


def test_axe_is_not_blind(notebook: Page) -> None:
    """A grey on grey word and a nameless button, put into the workbench, are found."""
    notebook.evaluate(
        """() => { const bad = document.createElement("p"); bad.textContent = "faint";
        bad.style.cssText = "color: #999; background: #aaa"; const button = document.createElement("button");
        document.querySelector(".ci").append(bad, button) }"""
    )
    rules = {line.partition(":")[0] for line in find_violations(notebook)}
    assert {"color-contrast", "button-name"} <= rules


SAYS = re.compile(r"turn \d+, legal, [\d.]+[kM]? after(, splits the turn)?")


def test_the_cut_announces_its_place_as_it_moves(notebook: Page) -> None:
    handle = notebook.get_by_test_id("cut-handle")
    expect(handle).to_have_attribute("role", "slider")
    expect(handle).to_have_accessible_name("Cut")
    handle.focus()
    told = []
    for key in ("Home", "ArrowRight", "PageDown", "ArrowLeft"):
        handle.press(key)
        wait_for_python(notebook)
        text = handle.get_attribute("aria-valuetext") or ""
        assert SAYS.fullmatch(text), text
        turn, after = ask(
            notebook, "p = wb.plan; print(int(wb.moment.live.turn[p.place]) + 1, p.after + p.hidden)"
        ).split()
        assert text.startswith(f"turn {turn}, legal, ")
        assert text.split(", ")[2].split()[0] == short(int(after))
        told.append(text)
    assert len(set(told)) > 1


def short(tokens: int) -> str:
    """41712 as people read it: "41.7k"."""
    return str(tokens) if tokens < 1000 else f"{tokens / 1000:.1f}".removesuffix(".0") + "k"
