"""The new screen: rules that add up, sizes that hold, keys and words for everyone, and paper."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from inspector import open_session
from tests.browser.bare import show_widget, wait_for_python
from tests.browser.conftest import OpenWorkbench
from tests.browser.hand import fill_page, focus_workbench, open_tab
from tests.browser.product import (
    FORBIDDEN,
    TABS,
    Workbench,
    find_recorded,
    make_again,
    make_small_session,
    trace_history,
)
from tests.browser.screen import find_violations, screenshot, wait_until
from tests.shared import SHARED, needs_shared

REAL = SHARED / "sessions" / "claude-code--entireio-cli" / "cc-auto+manual-1161l.jsonl"
"""A session of 3.7 MB with two compactions."""


FILLED = {
    # Where there is little room a story stands in the list's place.
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


def test_W2_22_blocks_and_lesson_give_a_rule_the_number_it_has_in_rules(
    page: Page, workbench: Workbench
) -> None:
    plan = workbench.plan
    written = next(i for i, rule in enumerate(plan.policy.rules) if rule.kind == "summarise-older") + 2
    workbench.tab = "rules"
    row = page.get_by_test_id(f"rule-{written}")
    expect(row).to_have_attribute("data-kind", "summarise-older")
    workbench.block = f"{workbench.moment.entries[workbench.moment.live.entries[0]].id}/0"
    workbench.tab = "blocks"
    expect(page.get_by_test_id("block")).to_contain_text(f"rule {written}, ")
    # The tab that the block opened is told to Python too, and would come after the one that is set here.
    wait_for_python(page)
    workbench.tab = "lesson"
    page.get_by_test_id("play-start").click()
    wait_for_python(page)
    last = page.locator("[data-testid=lesson] [data-number]").last
    expect(last).to_have_attribute("data-number", str(written))


def test_a_rule_shows_a_number_only_where_it_matters_and_says_what_differs(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    workbench = open_workbench(tab="rules")
    knob = page.get_by_test_id("knob-keep-recent-tokens.tokens")
    expect(knob).to_have_value("20000")
    expect(page.get_by_test_id("rules")).to_contain_text("Nothing differs from the published policy.")
    knob.fill("8000")
    knob.press("Enter")
    wait_for_python(page)
    expect(page.get_by_test_id("rule-3")).to_contain_text("was 20,000")
    expect(page.get_by_test_id("rule-3").get_by_role("img", name="differs")).to_be_visible()
    expect(page.get_by_test_id("rules")).to_contain_text("1 setting differs")
    page.get_by_test_id("take-back").click()
    wait_for_python(page)
    assert workbench.settings == {}
    # The first messages kept are so few that half as many, or half more, change nothing.
    workbench.policy = "mini-claude-code"
    expect(page.get_by_test_id("rule-1")).to_contain_text("0.75")
    # Which numbers matter is told with what a rule would add.
    expect(page.get_by_test_id("rule-1").locator("input")).to_be_visible()
    expect(page.get_by_test_id("offers").get_by_role("button").first).to_be_visible()
    expect(page.get_by_test_id("knob-snip-long-text.characters")).to_have_count(0)
    expect(page.get_by_test_id("rule-7")).to_contain_text("2,000 characters")


def test_what_a_title_says_the_keyboard_is_told_too(page: Page, workbench: Workbench) -> None:
    focus_workbench(page)
    told = page.locator(".ci-hint")
    reading = page.get_by_test_id("gauge-after")
    for _ in range(30):
        page.keyboard.press("Tab")
        if reading.evaluate("node => node === document.activeElement"):
            break
    expect(told).to_have_text(reading.get_attribute("title") or "nothing")
    expect(told).to_contain_text(f"{workbench.plan.after:,} tokens")
    page.keyboard.press("Escape")
    expect(told).to_be_hidden()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    expect(told).to_be_visible()
    page.get_by_test_id("cut-handle").focus()
    expect(told).to_be_hidden()


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


def test_the_dock_is_dragged_moved_by_arrows_and_folded_by_a_double_click(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    workbench = open_workbench(height=900, tab="blocks")
    edge, dock = page.get_by_test_id("dock-edge"), page.locator(".ci-dock")

    def high() -> float:
        box = dock.bounding_box()
        assert box is not None
        return box["height"]

    # What comes a little later makes all above the edge taller: the hand waits for it.
    show_tab(page, workbench, "blocks")
    expect(page.get_by_test_id("losses")).not_to_be_empty()
    wait_for_python(page)
    box, before = edge.bounding_box(), high()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y - 100, steps=4)
    page.mouse.up()
    wait_until(lambda: high() == before + 100, page)
    edge.press("ArrowUp")
    wait_until(lambda: high() == before + 120, page)
    edge.press("ArrowDown")
    edge.press("ArrowDown")
    wait_until(lambda: high() == before + 80, page)
    expect(edge).to_have_attribute("aria-valuenow", str(round(before + 80)))
    edge.press("End")
    # The sentence stays in sight, above the dock.
    expect(page.get_by_test_id("sentence")).to_be_in_viewport()
    edge.press("Home")
    wait_until(lambda: high() == 220, page)
    edge.dblclick()
    expect(page.get_by_test_id("fates")).to_be_hidden()
    wait_until(lambda: high() < 60, page)
    page.get_by_test_id("tab-rules").click()
    expect(page.get_by_test_id("rules")).to_be_visible()
    wait_until(lambda: high() == 220, page)
    wait_until(lambda: height(page) == 900, page)


def test_a_narrow_element_has_the_recipe_behind_more(page: Page, open_workbench: OpenWorkbench) -> None:
    workbench = open_workbench(height=900)
    page.add_style_tag(content=FULL)
    page.set_viewport_size({"width": 1400, "height": 900})
    expect(page.get_by_test_id("recipe")).to_be_visible()
    expect(page.get_by_test_id("recipe-more")).to_be_hidden()
    page.set_viewport_size({"width": 560, "height": 900})
    expect(page.get_by_test_id("recipe")).to_be_hidden()
    page.get_by_test_id("more-menu").click()
    recipe = page.get_by_test_id("recipe-more")
    expect(recipe).to_contain_text("make_plan(session.at('820f59b6'), ledger, 'flue')")
    code = recipe.locator("code")
    assert code.evaluate("node => node.scrollWidth <= node.clientWidth + 1")
    recipe.get_by_role("button", name="Copy").click()
    expect(recipe.get_by_role("button")).to_have_text("Copied")
    copied = page.evaluate("() => navigator.clipboard.readText()")
    plan = make_again(copied, workbench)
    assert (plan.after, plan.place) == (workbench.plan.after, workbench.plan.place)
    assert find_violations(page) == []
    screenshot(page, "more-560")


def test_the_size_of_the_dock_is_remembered_with_the_widget(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    workbench = open_workbench(height=900, tab="blocks")
    edge = page.get_by_test_id("dock-edge")
    for _ in range(3):
        edge.press("ArrowUp")
    high = page.locator(".ci-dock").evaluate("node => node.offsetHeight")
    wait_until(lambda: workbench.dock == high, page)
    show_widget(page, workbench.model_id)
    again = page.locator(".ci-dock").nth(1)
    wait_until(lambda: again.evaluate("node => node.offsetHeight") == high, page)
    edge.first.dblclick()
    wait_until(lambda: workbench.dock == -1, page)
    show_widget(page, workbench.model_id)
    third = page.locator(".ci-dock").nth(2)
    wait_until(lambda: 0 < third.evaluate("node => node.offsetHeight") < 60, page)
    third.get_by_test_id("tab-rules").click()
    wait_until(lambda: workbench.dock > 200, page)


def test_W2_1_a_narrow_element_has_four_tabs_and_the_rest_behind_more(
    page: Page, workbench: Workbench
) -> None:
    more = page.get_by_test_id("more-tabs")
    expect(more).to_be_hidden()
    page.add_style_tag(content=FULL)
    page.set_viewport_size({"width": 560, "height": 900})
    expect(page.get_by_test_id("tab-rules")).to_be_hidden()
    more.click()
    page.keyboard.press("ArrowDown")
    page.get_by_test_id("more-rules").click()
    expect(more).to_have_text("Rules \u25be")
    expect(more).to_be_focused()
    expect(page.get_by_test_id("rules")).to_be_visible()


def test_at_the_width_of_a_telephone_no_tab_covers_another(page: Page, workbench: Workbench) -> None:
    page.add_style_tag(content=FULL)
    page.set_viewport_size({"width": 390, "height": 844})
    for chosen in page.locator(".ci-tabs > .ci-tab:visible").all():
        chosen.click()
        tabs = page.locator(".ci-tabrow .ci-tab:visible").all()
        boxes = [box for tab in tabs if (box := tab.bounding_box()) is not None]
        assert len(boxes) == len(tabs) >= 4
        ends = [box["x"] + box["width"] for box in boxes]
        assert all(end <= box["x"] for end, box in zip(ends, boxes[1:], strict=False)), boxes
        assert ends[-1] <= 390


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
    page.keyboard.press("7")
    wait_for_python(page)
    assert workbench.tab == "rules"


WORD = re.compile(rf"\b({'|'.join(FORBIDDEN)})s?\b", re.IGNORECASE)
SAID = """() => { const said = [];
  const told = ['title', 'aria-label', 'placeholder', 'aria-valuetext', 'aria-description'];
  for (const node of document.querySelectorAll('.ci, .ci *')) {
    for (const name of told) if (node.hasAttribute(name)) said.push(node.getAttribute(name));
    for (const child of node.childNodes) if (child.nodeType === 3) said.push(child.data);
  }
  return said }"""


def forbidden(page: Page, own: str) -> list[str]:
    """The forbidden words that can be seen or read out, hidden parts included, each with what is beside it.

    What the session itself says, `own`, is not ours.
    """
    found = []
    for text in page.evaluate(SAID):
        for at in WORD.finditer(text):
            beside = text[max(0, at.start() - 12) : at.end() + 12]
            if " ".join(beside.split()) not in own:
                found.append(text[max(0, at.start() - 40) : at.end() + 30])
    return found


def words_of(workbench: Workbench) -> str:
    """Everything that the session says, in one line."""
    texts = (block.text for entry in workbench.session.entries for block in entry.blocks)
    return " ".join(" ".join(texts).split())


def say_every_word(page: Page, workbench: Workbench) -> dict[str, list[str]]:
    """Open each tab and dialog of a workbench; the forbidden words, by where they stand."""
    own, found = words_of(workbench), {}
    for tab in TABS:
        show_tab(page, workbench, tab)
        found[tab] = forbidden(page, own)
    workbench.tab = "rules"
    page.get_by_test_id("all-settings").click()
    found["settings"] = forbidden(page, own)
    page.keyboard.press("Escape")
    page.get_by_test_id("plans").click()
    page.get_by_test_id("compare-with").click()
    page.get_by_test_id("compare-held").wait_for()
    found["plans"] = forbidden(page, own)
    return {where: words for where, words in found.items() if words}


def test_W2_28_no_word_of_the_workshop_is_on_any_screen(page: Page, workbench: Workbench) -> None:
    assert say_every_word(page, workbench) == {}
    page.keyboard.press("Escape")
    workbench.tab = "replay"
    page.get_by_test_id("replay-ask").click()
    page.get_by_test_id("sawtooth").wait_for()
    wait_for_python(page)
    own = words_of(workbench)
    assert forbidden(page, own) == []
    for look in ("recorded:1", "plan"):
        workbench.look = look
        show_tab(page, workbench, "findings")
        assert forbidden(page, own) == [], look


@needs_shared
def test_W2_28_nor_on_those_of_a_real_session(page: Page, open_workbench: OpenWorkbench) -> None:
    workbench = open_workbench(REAL, policy="auto")
    assert say_every_word(page, workbench) == {}


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
    expect(panel).to_contain_text("12 blocks named it; the summary does not")
    assert overflow(page, "[data-panel=findings]") <= 0, "nothing of it is cut off"
    expect(page.get_by_test_id("recipe").locator("code")).to_be_visible()
    assert workbench.tab == "findings"
    page.emulate_media(media="screen")


def test_a_policy_s_name_is_a_word_beside_whatever_is_said_of_it(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    """A sentence beside a name takes lines of its own, and no letters of the name's."""
    fill_page(page, 1400, 900)
    open_workbench(make_small_session(), policy="auto", tab="rules")
    said = page.locator(".ci-policies .ci-policy", has_text="keeps everything")
    expect(said.first).to_be_visible()
    for row in said.all():
        box = row.locator(".ci-policy-name").bounding_box()
        assert box is not None and box["width"] > 100 and box["height"] < 50, row.inner_text()


SEALED = SHARED / "sessions" / "codex--agentv" / "codex-2compacted-a6.jsonl"
CLIPPED = """() => [...document.querySelectorAll('.ci-row .ci-number')].filter(cell => {
  const range = document.createRange()
  range.selectNodeContents(cell)
  const words = range.getBoundingClientRect()
  return words.width > 0 && words.right > document.querySelector('.ci').getBoundingClientRect().right
}).map(cell => cell.textContent)"""


@needs_shared
def test_a_compaction_that_nobody_can_read_is_told_by_the_plan_s_rules_and_request(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    """One number in the tab and below it; no empty list of rules; no number beyond the edge."""
    fill_page(page, 1000, 900)
    workbench = open_workbench(open_session(SEALED), policy="auto")
    wait_for_python(page)
    assert workbench.look.startswith("recorded:")
    open_tab(page, "context")
    expect(page.get_by_test_id("context-total")).to_have_text(f"{workbench.plan.after:,}")
    expect(page.get_by_test_id("tab-context")).to_contain_text(f"{workbench.plan.after / 1000:.1f}k")
    open_tab(page, "rules")
    expect(page.get_by_test_id("rules")).to_contain_text("Rules of As recorded")
    expect(page.locator(".ci-waterfall > li[data-kind]")).not_to_have_count(0)
    after = page.get_by_test_id("rules-after").get_attribute("title")
    assert tokens(after) == workbench.plan.after
    workbench.tab = "blocks"
    for width in (900, 560):
        fill_page(page, width, 900)
        expect(page.locator(".ci-cutline")).to_contain_text("no summary to read")
        wait_for_python(page)
        assert page.evaluate(CLIPPED) == [], width


@needs_shared
def test_a_fact_s_name_has_the_room_in_a_narrow_list_of_several_compactions(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    fill_page(page, 560, 900)
    open_workbench(open_session(SEALED), policy="auto")
    # The first finding is the chosen fact, whose story stands in the list's place.
    page.get_by_test_id("story-title").first.wait_for()
    open_tab(page, "facts")
    page.get_by_role("button", name="‹ Facts").click()
    rows = page.get_by_test_id("facts-list").locator("tbody tr")
    expect(rows.first).to_contain_text("absent")
    assert page.get_by_test_id("facts-list").locator("th", has_text="in ◆").count() == 2
    names = [box["width"] for fact in page.get_by_test_id("fact").all()[:8] if (box := fact.bounding_box())]
    heights = [box["height"] for row in rows.all()[:8] if (box := row.bounding_box())]
    assert min(names) > 200 and max(heights) < 60, (names, heights)
    assert page.locator(".ci-fx-table").evaluate("t => t.scrollWidth - t.parentElement.clientWidth") <= 0


def test_where_outputs_were_cleared_nothing_is_told_as_unreadable(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    """Nobody wrote a summary there, and what was left stands in the file: that is told, and no plan's."""
    workbench = open_workbench(policy="auto")
    wait_for_python(page)
    page.get_by_test_id("compactions").get_by_role("button", name=re.compile("^◇1")).click()
    wait_for_python(page)
    assert workbench.look == "cleared:1"
    left = find_recorded(workbench.plan, trace_history(workbench.session, workbench.ledger)).after
    assert left != workbench.plan.after
    expect(page.get_by_test_id("losses")).to_have_text("No essential fact is missing.")
    expect(page.get_by_test_id("finding")).not_to_have_count(0)
    expect(page.get_by_test_id("findings-none")).to_have_text(
        "Nothing that was changed, asked for or left open was lost in ◇1. These would be lost by the plan:"
    )
    open_tab(page, "facts")
    expect(page.get_by_test_id("facts-list").locator("tbody tr")).not_to_have_count(0)
    open_tab(page, "context")
    expect(page.get_by_test_id("context-total")).to_have_text(f"{left:,}")
    expect(page.get_by_test_id("tab-context")).to_contain_text(f"{left / 1000:.1f}k")
    expect(page.get_by_test_id("context")).not_to_contain_text("Nobody can read")
    open_tab(page, "rules")
    expect(page.get_by_test_id("no-rules")).to_have_text(
        "The file records what was done here, and no rule that did it."
    )
    open_tab(page, "blocks")
    expect(page.locator(".ci-row").first).to_be_visible()
    expect(page.get_by_test_id("fates")).not_to_contain_text("no summary to read")
    open_tab(page, "summary")
    expect(page.get_by_test_id("sides")).to_contain_text("outputs were cleared here")
    expect(page.get_by_test_id("sides")).not_to_contain_text("nobody can read")
    plan = workbench.plan
    share = round(100 * plan.before / plan.table.window)
    expect(page.locator(".ci-ticks")).to_contain_text(f"cleared here (auto), at {share} %")
    # What is replayed and guessed is the plan, which has rules.
    open_tab(page, "replay")
    expect(page.get_by_test_id("replay-ask")).to_have_text("Replay this session under Flue (May 2026)")
    open_tab(page, "lesson")
    expect(page.get_by_test_id("lesson")).to_contain_text("Where would Flue (May 2026) cut?")


def test_what_clearing_outputs_did_to_a_chosen_fact_is_a_row_of_its_story(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    fill_page(page, 1400, 900)
    workbench = open_workbench(policy="auto")
    wait_for_python(page)
    page.get_by_test_id("compactions").get_by_role("button", name=re.compile("^◇1")).click()
    wait_for_python(page)
    cleared, moment = find_clearing(workbench), workbench.moment
    texts: dict[bool, str] = {True: "", False: ""}
    for ref in moment.live_refs():
        block = moment.block(ref)
        texts[block.kind == "tool_output" and block.call_id in cleared] += block.text + "\n"
    words = {gone: set(re.findall(r"\w{8,}", texts[gone])) for gone in texts}
    facts = [fact.form for fact in workbench.session.facts.values() if fact.kind == "symbol"]
    lost = next(form for form in facts if form in words[True] - words[False])
    kept = next(form for form in facts if form in words[True] & words[False])
    open_tab(page, "facts")
    became = page.get_by_test_id("became")
    for form, row, says in (
        (lost, "cleared at ◇1", "and nothing else has it."),
        (kept, "kept at ◇1", "It stays as it is"),
    ):
        page.get_by_test_id("facts-search").fill(form)
        page.locator(f"[data-testid=fact][title='{form}']").click()
        expect(page.get_by_test_id("story-title")).to_have_text(form)
        mine = became.filter(has_text="◇1")
        expect(mine).to_contain_text(row)
        expect(mine).to_contain_text("by the file")
        # It is the one that is told; a click tells another, and comes back.
        expect(mine).to_have_attribute("aria-pressed", "true")
        expect(page.get_by_test_id("cause")).to_contain_text(says)
        became.filter(has_text="by this plan").click()
        expect(mine).to_have_attribute("aria-pressed", "false")
        mine.click()
        expect(mine).to_have_attribute("aria-pressed", "true")
        expect(page.get_by_test_id("cause")).to_contain_text(says)
    screenshot(page, "story-cleared", ".ci")


def find_clearing(workbench: Workbench) -> set[str]:
    """The calls whose outputs the file says were emptied."""
    (cleared,) = (
        boundary.cleared for _, boundary in workbench.session.boundaries if boundary.kind == "micro"
    )
    return set(cleared)
