"""The new screen: rules that add up, sizes that hold, keys and words for everyone, and paper."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.bare import wait_for_python
from tests.browser.conftest import OpenWorkbench
from tests.browser.hand import focus_workbench
from tests.browser.product import TABS, Workbench
from tests.browser.screen import find_violations, wait_until
from tests.shared import SHARED, needs_shared

REAL = SHARED / "sessions" / "claude-code--entireio-cli" / "cc-auto+manual-1161l.jsonl"
"""A session of 3.7 MB with two compactions."""


FILLED = {
    # Where there is little room a story stands in the list's place.
    "compactions": "[data-testid=compaction]",
    "findings": "[data-testid=finding], [data-testid=story]",
    "facts": "[data-testid=fact], [data-testid=story]",
    "blocks": "[data-testid=fates] [role=rowgroup] [role=row]",
    "context": "[data-testid=context-total]",
    "summary": "[data-testid=side]",
    "replay": "[data-testid=replay-ask]",
    "rules": "[data-testid=offers] button",
    "lesson": "[data-testid=guess]",
}
"""What each tab shows when it has been told all that it shows at first."""


def show_tab(page: Page, workbench: Workbench, tab: str) -> None:
    """Open a tab, and wait for what it shows."""
    workbench.tab = tab
    expect(page.get_by_test_id(f"tab-{tab}")).to_have_attribute("aria-selected", "true")
    expect(page.locator(FILLED[tab]).filter(visible=True).first).to_be_visible()
    wait_for_python(page)


def show_width(page: Page, width: int) -> None:
    """Give the element a width, and wait until it has it and is drawn."""
    page.set_viewport_size({"width": width, "height": 900})
    wait_until(lambda: page.locator(".ci").evaluate("node => node.offsetWidth") == width, page)
    wait_for_python(page)


def tokens(title: str | None) -> int:
    """ "158,167 tokens" as a number."""
    return int((title or "").split()[0].replace(",", "").replace("\u2212", "-"))


@pytest.mark.parametrize("policy", ["flue", "mini-claude-code", "keep-recent-turns"])
def test_W2_22_rules_are_numbered_from_the_trigger_and_add_up_to_the_plan(
    page: Page, open_workbench: OpenWorkbench, policy: str
) -> None:
    workbench = open_workbench(policy=policy, tab="rules")
    expect(page.get_by_test_id("offers").get_by_role("button").first).to_be_visible()
    rows = page.locator(".ci-waterfall > li[data-kind]")
    numbers = [text.strip() for text in rows.locator(".ci-nth").all_inner_texts()]
    rules = [number for number in numbers if number]
    assert rules == [str(number) for number in range(1, len(rules) + 1)]
    assert rows.first.get_attribute("data-kind") == "trigger"
    changes = [tokens(each.get_attribute("title")) for each in rows.locator(".ci-delta[title]").all()]
    assert changes[0] == workbench.plan.before
    assert sum(changes) == workbench.plan.after
    assert tokens(page.get_by_test_id("rules-after").get_attribute("title")) == workbench.plan.after


FULL = "body { padding: 0 !important }"
"""The element as wide as the window, as the statements about widths mean it."""


def overflow(page: Page, selector: str) -> int:
    """How many pixels of an element stand above or below what is seen of it."""
    over: int = page.evaluate(
        "selector => { const node = document.querySelector(selector);"
        " return node.scrollHeight - node.clientHeight }",
        selector,
    )
    return over


def height(page: Page) -> float:
    box = page.locator(".ci").bounding_box()
    assert box is not None
    return box["height"]


@pytest.mark.parametrize("session", [None, pytest.param(REAL, marks=needs_shared)], ids=["bundled", "real"])
def test_W2_1_one_screen_without_a_vertical_scroll_at_any_width(
    page: Page, open_workbench: OpenWorkbench, session: Path | None
) -> None:
    workbench = open_workbench(*([] if session is None else [session]), policy="auto", height=900)
    page.add_style_tag(content=FULL)
    for width in (1400, 900, 560):
        show_width(page, width)
        assert overflow(page, "html") <= 0, width
        assert overflow(page, ".ci-bench") <= 0, width
        for tab in TABS:
            show_tab(page, workbench, tab)
            assert height(page) == 900, (width, tab)
            assert overflow(page, ".ci-bench") <= 0, (width, tab)


@pytest.mark.parametrize("session", [None, pytest.param(REAL, marks=needs_shared)], ids=["bundled", "real"])
def test_W2_6_header_to_sentence_are_at_most_480_pixels_high(
    page: Page, open_workbench: OpenWorkbench, session: Path | None
) -> None:
    workbench = open_workbench(*([] if session is None else [session]), policy="auto", height=900)
    page.add_style_tag(content=FULL)
    page.set_viewport_size({"width": 1400, "height": 900})
    for look in (workbench.look, "plan"):
        workbench.look = look
        wait_for_python(page)
        # What would be lost is told later, and is a part of the sentence.
        expect(page.get_by_test_id("losses")).not_to_be_empty()
        first = page.locator(".ci-header").bounding_box()
        last = page.locator(".ci-sentence").bounding_box()
        assert first is not None and last is not None
        assert 300 < last["y"] + last["height"] - first["y"] <= 480, look


def test_W2_29_a_cell_is_720_high_until_its_edge_is_dragged_and_remembers_it(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    workbench = open_workbench()
    assert height(page) == 720
    edge = page.get_by_test_id("edge")
    box = edge.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 200, box["y"] + 4)
    page.mouse.down()
    page.mouse.move(box["x"] + 200, box["y"] + 64, steps=4)
    page.mouse.up()
    wait_for_python(page)
    assert (height(page), workbench.height) == (780, 780)
    edge.press("End")
    wait_for_python(page)
    assert workbench.height == 1200
    workbench.height = 600
    expect(edge).to_have_attribute("aria-valuenow", "600")
    assert height(page) == 600


def test_W2_29_the_wheel_over_a_list_scrolls_the_page_until_the_list_has_the_focus(
    page: Page, workbench: Workbench
) -> None:
    page.add_style_tag(content="body { padding-bottom: 2000px !important }")
    for tab in TABS:
        show_tab(page, workbench, tab)
        page.evaluate("() => { document.activeElement?.blur(); window.scrollTo(0, 0) }")
        box = page.locator("[role=tabpanel]:not([hidden])").bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + 60, box["y"] + min(80, box["height"] / 2))
        page.mouse.wheel(0, 200)
        wait_until(lambda: page.evaluate("() => window.scrollY") == 200, page)


SMALL_TEXT = """() => [...document.querySelectorAll('.ci *')]
  .filter(node => node.checkVisibility() && [...node.childNodes].some(c => c.nodeType === 3 && c.data.trim()))
  .filter(node => parseFloat(getComputedStyle(node).fontSize) < 12)
  .map(node => `${node.className} ${getComputedStyle(node).fontSize} ${node.textContent.slice(0, 30)}`)"""


def test_W2_26_no_text_is_below_12_pixels_and_it_grows_with_jupyterlabs(
    page: Page, workbench: Workbench
) -> None:
    for tab in TABS:
        show_tab(page, workbench, tab)
        assert page.evaluate(SMALL_TEXT) == [], tab
    workbench.tab = "rules"
    size = "() => parseFloat(getComputedStyle(document.querySelector('.ci-waterfall > li')).fontSize)"
    usual = page.evaluate(size)
    page.add_style_tag(content=":root { --jp-ui-font-size1: 17px !important }")
    assert page.evaluate(size) > usual


def test_W2_26_axe_finds_nothing_in_high_contrast(page: Page, workbench: Workbench) -> None:
    page.emulate_media(forced_colors="active")
    for tab in ("rules", "blocks"):
        show_tab(page, workbench, tab)
        assert find_violations(page) == [], tab
    page.emulate_media(forced_colors="none")


ORDER = (
    "ci-header",
    "ci-gauge",
    "ci-overview",
    "ci-turns",
    "ci-sentence",
    "ci-tabrow",
    "ci-tabpanel",
    "ci-recipe",
)
WHERE = """order => { const at = order.findIndex(name => document.activeElement?.closest('.' + name));
  return at }"""


def test_W2_27_tab_and_f6_visit_the_parts_from_top_to_bottom(page: Page, workbench: Workbench) -> None:
    show_tab(page, workbench, "rules")
    focus_workbench(page)
    seen: list[int] = []
    for _ in range(80):
        page.keyboard.press("Tab")
        at = page.evaluate(WHERE, list(ORDER))
        if at < 0:
            break
        seen.append(at)
    assert seen == sorted(seen)
    assert {ORDER.index(name) for name in ("ci-header", "ci-turns", "ci-tabrow", "ci-tabpanel")} <= set(seen)
    focus_workbench(page)
    regions = []
    for _ in range(len(set(seen))):
        page.keyboard.press("F6")
        regions.append(page.evaluate(WHERE, list(ORDER)))
    assert regions == sorted(set(seen))
    page.keyboard.press("Shift+F6")
    assert page.evaluate(WHERE, list(ORDER)) == regions[-2]


def test_W2_27_with_letter_keys_off_no_letter_acts(page: Page, workbench: Workbench) -> None:
    workbench.tab = "blocks"
    focus_workbench(page)
    page.keyboard.press("?")
    page.get_by_test_id("letter-keys").uncheck()
    page.keyboard.press("Escape")
    wait_for_python(page)
    assert workbench.letter_keys is False
    focus_workbench(page)
    before = (workbench.pins, workbench.cut, workbench.versus, workbench.tab)
    for key in "jpbz1234678acfsng.,?/":
        page.keyboard.press(key)
    wait_for_python(page)
    assert (workbench.pins, workbench.cut, workbench.versus, workbench.tab) == before
    expect(page.get_by_test_id("help")).to_be_hidden()
    page.keyboard.press("ArrowLeft")
    wait_for_python(page)
    assert workbench.cut != ""
    workbench.letter_keys = True
    wait_for_python(page)
    page.keyboard.press("8")
    wait_for_python(page)
    assert workbench.tab == "rules"


def test_W2_30_the_print_is_one_page_with_sentence_findings_and_story(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    workbench = open_workbench(policy="auto", tab="findings")
    page.add_style_tag(content=FULL)
    page.set_viewport_size({"width": 1400, "height": 900})
    expect(page.get_by_test_id("sentence")).to_contain_text("Left of the cut")
    expect(page.get_by_test_id("losses")).not_to_be_empty()
    expect(page.get_by_test_id("cause")).to_be_visible()
    wait_for_python(page)
    pdf = page.pdf(prefer_css_page_size=True, print_background=True)
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == 1
    page.emulate_media(media="print")
    expect(page.get_by_test_id("sentence")).to_be_visible()
    expect(page.get_by_test_id("tab-findings")).to_be_hidden()
    panel = page.locator("[data-panel=findings]")
    expect(panel).to_be_visible()
    expect(panel).to_contain_text("offsets")
    expect(panel).to_contain_text("1 block named it; the summary does not")
    assert overflow(page, "[data-panel=findings]") <= 0, "nothing of it is cut off"
    expect(page.get_by_test_id("recipe").locator("code")).to_be_visible()
    assert workbench.tab == "findings"
    page.emulate_media(media="screen")
