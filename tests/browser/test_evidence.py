"""Both sides of a finding on the screen: what was said, what the summary says, and what differs."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from inspector.session.blocks import Text, ToolCall, ToolOutput
from inspector.session.entries import Boundary, Entry
from inspector.session.session import Session
from tests.browser.conftest import OpenWorkbench
from tests.browser.hand import fill_page
from tests.browser.screen import screenshot, wait_until_still
from tests.claude_rows import Claude

CAP = "Spend at most $500 per run."
LINT = "Always run the linter and the tests before a commit."
RULES = ("Never push to the branch release/12.", "Always keep the file src/tide.py in UTF-8.")
IS_IN_BOX = """box => {
  const words = (box.querySelector('mark') ?? box.querySelector('[data-core]')).getBoundingClientRect()
  const {top, bottom} = box.getBoundingClientRect()
  return words.top >= top - 1 && words.bottom <= bottom + 1
}"""
SUMMARY = (
    "The importer is being moved to the new API.\n\n"
    "Limits: spend at most $600 per run. The linter and the tests are part of a commit. "
    "The offsets helper kept one value and is mended."
)


def make_compacted() -> Session:
    """A session whose summary changes a value, leaves a rule open and names an edited file by one word."""

    def say(role: str, *words: str) -> Entry:
        return Entry(id="", role=role, blocks=tuple(Text(text=one) for one in words))

    edit = ToolCall(id="c1", name="Edit", input={"file_path": "src/cal/offsets.py", "new_string": "b"})
    done = ToolOutput(call_id="c1", name="Edit", parts=(Text(text="ok"),))
    entries = [
        say("user", f"We move the importer. {CAP} Thanks."),
        say("assistant", "I will."),
        say("user", f"{LINT}"),
        Entry(id="", role="assistant", blocks=(edit,)),
        Entry(id="", role="tool", blocks=(done,)),
        say("assistant", "Done. " + "It reads row by row. " * 200),
        Entry(id="", kind="compaction", blocks=(Text(text=SUMMARY),), boundary=Boundary(summary=SUMMARY)),
        say("user", "Go on."),
        say("assistant", "Yes."),
    ]
    made = [
        entry.model_copy(update={"id": f"e{n}", "parent": f"e{n - 1}" if n else None})
        for n, entry in enumerate(entries)
    ]
    return Session(format="made", entries=tuple(made), leaf="e8")


def open_finding(page: Page, open_workbench: OpenWorkbench, title: str, width: int = 1840) -> Locator:
    page.set_viewport_size({"width": width, "height": 900})
    page.add_style_tag(content="body { padding: 0 !important }")
    open_workbench(make_compacted(), policy="auto", look="recorded:1", tab="findings")
    expect(page.get_by_test_id("story-title")).to_be_visible()
    row = page.get_by_test_id("finding").filter(has_text=title).first
    if not row.is_visible():
        page.get_by_role("button", name="‹ Findings").press("Enter")
    row.press("Enter")
    expect(page.get_by_test_id("story-title")).to_contain_text(title)
    return page.get_by_test_id("evidence")


def test_a_changed_value_is_marked_on_both_sides(page: Page, open_workbench: OpenWorkbench) -> None:
    sides = open_finding(page, open_workbench, CAP)
    expect(page.get_by_role("region", name="Changed or contradicted").first).to_be_visible()
    expect(page.get_by_test_id("cause")).to_contain_text("You said “$500” (turn 1). The summary says “$600”.")
    expect(sides).to_have_count(2)
    expect(sides.nth(0)).to_have_accessible_name("You said")
    expect(sides.nth(1)).to_have_accessible_name("The summary says")
    for side, value in ((sides.nth(0), "$500"), (sides.nth(1), "$600")):
        expect(side.locator("mark.ci-ev-differs")).to_have_text(value)
        expect(side.locator("mark:not(.ci-ev-differs)").first).to_contain_text("pend at most")
    expect(page.get_by_test_id("story")).to_have_attribute("data-tone", "red")
    screenshot(page, "evidence-changed")


LINES = """nodes => nodes.filter(node => node.scrollHeight > node.clientHeight).map(node => {
  const line = Number.parseFloat(getComputedStyle(node).lineHeight);
  return [node.getBoundingClientRect().height - 2 * node.clientTop, node.scrollTop].map(pixels => {
    const rest = pixels % line;
    return Math.min(rest, line - rest);
  });
})"""


def test_a_box_of_evidence_cuts_no_line_in_half(page: Page, open_workbench: OpenWorkbench) -> None:
    open_workbench(policy="auto", look="recorded:1", tab="findings")
    for width, height in ((1400, 900), (1400, 1100), (560, 900), (390, 900)):
        fill_page(page, width, height)
        expect(page.get_by_test_id("story-title")).to_be_visible()
        wait_until_still(page)
        boxes = page.get_by_test_id("evidence").locator(".ci-ev-paper").evaluate_all(LINES)
        assert boxes, "no passage is longer than its box"
        assert all(rest < 1 for box in boxes for rest in box), (width, height, boxes)


def test_head_line_tab_and_list_have_one_count(page: Page, open_workbench: OpenWorkbench) -> None:
    open_finding(page, open_workbench, CAP)
    rows = page.get_by_test_id("finding").count()
    expect(page.get_by_test_id("tab-findings")).to_have_text(f"Findings{rows}")
    counts = [int(words) for words in page.locator(".ci-fd .ci-count").all_inner_texts()]
    assert sum(counts) == rows
    changed, missing, unsure = counts
    line = f"{changed} fact is changed or contradicted and {missing} fact is missing."
    line += f" {unsure} sentence to check."
    expect(page.get_by_test_id("losses")).to_have_text(line)


IN_SIGHT = """(box, words) => {
  const nodes = document.createTreeWalker(box, NodeFilter.SHOW_TEXT), range = document.createRange();
  while (nodes.nextNode() && !nodes.currentNode.data.includes(words));
  const start = nodes.currentNode.data.indexOf(words);
  range.setStart(nodes.currentNode, start);
  range.setEnd(nodes.currentNode, start + words.length);
  const [line, sight] = [range, box].map(one => one.getBoundingClientRect());
  return sight.top <= line.top && line.bottom <= sight.bottom;
}"""


def test_what_was_said_is_in_sight_when_no_words_match(page: Page, open_workbench: OpenWorkbench) -> None:
    """A rule at the end of a long message: its box begins with what stands before it."""
    rule = "Never repaint the beacon."
    lines = "\n".join(f"The ledger of the {number}th tide lists its own entries." for number in range(12))
    talk = Claude().say(f"{lines}\n{rule}").reply("Good.", 9_000).say("Go on.").reply("Yes.", 9_500)
    talk = talk.compact("The tides were listed.").say("Next.").reply("Fine.", 2_000)
    fill_page(page, 1400, 900)
    open_workbench(talk.open(), policy="auto", look="recorded:1", tab="findings")
    page.locator(".ci-fd-row").filter(has_text=rule).click()
    said = page.get_by_test_id("evidence").first
    expect(said).to_contain_text(rule)
    wait_until_still(page)
    assert said.locator(".ci-ev-paper").evaluate(IN_SIGHT, rule)


def test_the_box_of_the_next_finding_is_at_its_own_words_and_copy_says_so(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    padding = "\n".join(f"The harbour of place {n} is drawn in blue." for n in range(12))
    rows = Claude().say(f"{RULES[0]}\n{padding}").reply("Yes.", 900).say(f"{padding}\n{RULES[1]}")
    session = rows.reply("Yes.", 1_000).compact("The harbours were drawn.").say("Go on.").open()
    fill_page(page, 1400, 900)
    open_workbench(session, policy="auto", look="recorded:1", tab="findings")
    for rule in (*RULES, RULES[0]):
        page.get_by_test_id("finding").filter(has_text=rule[:20]).first.dispatch_event("click")
        expect(page.get_by_test_id("story-title")).to_contain_text(rule[:20])
        box = page.get_by_test_id("evidence").first.locator("p")
        assert box.evaluate(IS_IN_BOX), rule
    page.get_by_role("button", name="copy words for /compact").click()
    expect(page.get_by_role("button", name="copied").or_(page.get_by_text("blocked copying"))).to_be_visible()
