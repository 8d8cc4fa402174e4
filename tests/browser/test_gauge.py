"""The gauge and the names of the lanes: what is not in the file is apart, and words stay whole."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from inspector.session.session import Session
from inspector.workbench.payloads.sections import format_tokens
from tests.browser.conftest import OpenWorkbench
from tests.browser.hand import fill_page
from tests.browser.screen import wait_until_still
from tests.claude_rows import Claude

IN_FILE = ("user", "assistant", "reasoning", "tool call", "tool output")


def make_reasoning() -> Session:
    """Most of what is sent is reasoning that the file does not hold."""
    talk = Claude().say("Begin. " * 90).reply("Good.", 3_000).say("Go on.").reply("Yes. " * 50, 9_000)
    return talk.say("Now the next part.").reply("Done.", 9_300).open()


def test_reasoning_that_is_not_in_the_file_is_an_estimate_and_no_saving(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    fill_page(page, 1400, 1100)
    workbench = open_workbench(make_reasoning())
    hidden = workbench.plan.outside.parts["hidden_reasoning"].tokens
    assert hidden > workbench.plan.before / 2
    last = page.locator(".ci-lane > .ci-label").last
    expect(last).to_contain_text("hidden reasoning")
    expect(last).to_contain_text("est.")
    expect(last).not_to_contain_text("→")
    assert "estimated: not in the file" in (last.get_attribute("title") or "")
    words = page.locator("[data-row=before] .ci-bar-words")
    expect(words).not_to_contain_text("hidden")
    expect(words).to_contain_text("not in the file")


def test_a_narrow_frame_has_a_legend_of_its_colours(page: Page, open_workbench: OpenWorkbench) -> None:
    open_workbench(policy="auto")
    key = page.locator(".ci-gauge .ci-key")
    for width in (560, 390):
        fill_page(page, width, 900)
        expect(key).to_be_visible()
        for name in (*IN_FILE, "not in the file"):
            entry = key.get_by_text(name, exact=True)
            expect(entry).to_be_visible()
            expect(entry.locator(".ci-chip")).to_be_visible()
        assert key.evaluate("node => node.scrollWidth <= node.clientWidth")
    fill_page(page, 1400, 900)
    expect(key).to_be_hidden()


CROSSED = """nodes => nodes.filter(node => node.checkVisibility()).map(node => {
  const style = getComputedStyle(node);
  return [node.textContent, style.backgroundColor];
})"""


def test_no_threshold_crosses_the_words_of_a_bar(page: Page, open_workbench: OpenWorkbench) -> None:
    fill_page(page, 1400, 900)
    open_workbench(policy="auto")
    wait_until_still(page)
    words = page.locator(".ci-bar-words").evaluate_all(CROSSED)
    assert words
    for text, ground in words:
        assert ground.startswith("rgb("), (text, ground)


def test_what_a_policy_adds_at_the_cut_is_not_counted_as_kept(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    """Claude Code attaches files again behind its summary; the lanes and the list of blocks keep none."""
    fill_page(page, 1400, 900)
    workbench = open_workbench(policy="claude-code", cut="end")
    plan = workbench.plan
    assert plan.notice is not None and plan.place is not None
    added = int(plan.notice.sections[plan.place].sum())
    assert added > 0
    words = page.locator("[data-row=after] .ci-bar-words")
    expect(words).to_contain_text(f"added {format_tokens(added)}")
    expect(words).not_to_contain_text("kept")
    figure = page.get_by_test_id("added")
    expect(figure).to_contain_text(f"{added:,}")
    expect(figure).to_contain_text("attached again")
