"""axe finds nothing in the workbench, in any of its tabs and states, light and dark.

The cut says where it is.

All of axe's rules run, colour contrast among them, over the workbench's own element: the page around it is
not ours to mend.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.bare import set_theme, wait_for_python
from tests.browser.product import TABS, EditError, Workbench
from tests.browser.screen import COLOURS, find_violations, wait_until_still

NARROW = 560


@pytest.fixture(autouse=True)
def tall(page: Page, workbench: Workbench) -> None:
    """Tall enough to show the whole workbench: what is scrolled away has no contrast to judge."""
    page.set_viewport_size({"width": 1280, "height": 3200})


def look_for_facts(page: Page, workbench: Workbench) -> None:
    """A fact open that something became of, beside the list of those that were lost."""
    workbench.tab, workbench.policy, workbench.cut = "facts", "claude-code-analysis", "end"
    wait_for_python(page)
    page.get_by_test_id("facts-absent").click()
    page.get_by_test_id("fact").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.locator("[data-panel=facts]").get_by_test_id("cause").wait_for()


def live_again(page: Page, workbench: Workbench) -> None:
    workbench.tab = "replay"
    page.get_by_test_id("replay-ask").click()
    page.get_by_test_id("sawtooth").wait_for()
    wait_for_python(page)


def compare(page: Page, workbench: Workbench) -> None:
    workbench.versus = {"policy": "keep-recent-turns"}
    page.locator(".ci-cutb").wait_for()


def open_help(page: Page, workbench: Workbench) -> None:
    page.get_by_test_id("cut-handle").focus()
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Keys").wait_for()


def look_closely(page: Page, workbench: Workbench) -> None:
    """A fold and a block open."""
    workbench.tab = "blocks"
    page.get_by_test_id("fates").locator("[data-fold]").first.click()
    page.get_by_test_id("fate-row").nth(1).click()
    wait_until_still(page)


def fail(page: Page, workbench: Workbench) -> None:
    with pytest.raises(EditError, match="no such entry"):
        workbench.cut = "nowhere"
    expect(page.get_by_test_id("error")).to_contain_text("no such entry")


def play_a_rule(page: Page, workbench: Workbench) -> None:
    """A rule that plays in the tab Lesson."""
    workbench.tab = "lesson"
    page.get_by_test_id("play-start").click()
    page.get_by_test_id("play-next").click()
    expect(page.get_by_test_id("play-at")).to_contain_text("1 of")


def narrow(page: Page, workbench: Workbench) -> None:
    page.evaluate(
        "width => { document.querySelector('.ci').parentElement.style.width = `${width}px` }", NARROW
    )
    wait_until_still(page)


STATES: tuple[Callable[[Page, Workbench], None], ...] = (
    look_for_facts,
    live_again,
    compare,
    open_help,
    look_closely,
    fail,
    play_a_rule,
    narrow,
)


@pytest.mark.parametrize("enter", STATES, ids=lambda state: state.__name__)
def test_axe_finds_nothing(
    page: Page, workbench: Workbench, enter: Callable[[Page, Workbench], None]
) -> None:
    enter(page, workbench)
    wait_for_python(page)
    judge(page)


def test_axe_finds_nothing_in_any_tab(page: Page, workbench: Workbench) -> None:
    for tab in TABS:
        workbench.tab = tab
        expect(page.get_by_test_id(f"tab-{tab}")).to_have_attribute("aria-selected", "true")
        wait_for_python(page)
        # The rest of the screen is the first one's.
        judge(page, tab, ".ci" if tab == TABS[0] else "[role=tabpanel]:not([hidden])")


def judge(page: Page, where: str = "", scope: str = ".ci") -> None:
    """axe finds nothing on the page as it is, in light and in dark."""
    found = []
    for dark in (False, True):
        set_theme(page, dark)
        lines = find_violations(page, scope, COLOURS if dark else ())
        found += [f"{where} {'dark' if dark else 'light'}: {line}" for line in lines]
    assert not found, "\n" + "\n".join(found)


def test_axe_finds_nothing_in_an_exported_page(page: Page, exported_page: Path) -> None:
    page.goto(exported_page.as_uri())
    page.get_by_test_id("cut-handle").wait_for()
    found = []
    for scheme, rules in (("light", ()), ("dark", COLOURS)):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        found += [f"{scheme}: {line}" for line in find_violations(page, "html", rules)]
    assert not found, "\n" + "\n".join(found)
