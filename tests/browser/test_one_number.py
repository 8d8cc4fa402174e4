"""Each recorded compaction has one size before it and one after it at every place of the screen."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from inspector.workbench.payloads.sections import format_tokens
from tests.browser.bare import wait_for_python
from tests.browser.conftest import OpenWorkbench
from tests.browser.screen import Watch
from tests.claude_rows import Claude, dump

WORDS = "The tide table for Brest was wrong by an hour. "
REPORTED = (31_000, 27_500, None)
"""Requests right after the compactions; none follows the last one."""


def write_session(path: Path) -> Path:
    """Three compactions, each after three requests that grow."""
    rows = Claude()
    for stretch, after in enumerate((None, *REPORTED)):
        if stretch:
            rows.compact(f"Summary {stretch}. " + WORDS * 40)
        if stretch and after is None:
            break
        base = 20_000 if after is None else after
        if after is not None:
            rows.reply("So far so good. ", after)
        for turn in range(3):
            rows.say(f"Part {turn} of stretch {stretch}. " + WORDS * 60)
            rows.reply(WORDS * 90, base + 9_000 * (turn + 1))
    path.write_bytes(dump(rows.rows))
    return path


def buttons(page: Page) -> Locator:
    return page.get_by_test_id("compactions").get_by_role("button", name=re.compile("^Show ◆"))


def test_each_compaction_in_turn_leaves_every_number_as_it_was(
    page: Page, open_workbench: OpenWorkbench, tmp_path: Path, watch: Watch
) -> None:
    open_workbench(write_session(tmp_path / "three.jsonl"), policy="auto")
    expect(buttons(page)).to_have_count(3)
    # The screen moves to the worst compaction once the facts are found, so wait for their counts.
    expect(page.get_by_test_id("compaction").last.locator("[data-name=files]")).to_have_text(
        re.compile(r"\d|\?")
    )
    wait_for_python(page)
    names = [one.get_attribute("aria-label") or "" for one in buttons(page).all()]
    titles = [one.get_attribute("title") or "" for one in buttons(page).all()]
    for name, title, request in zip(names, titles, REPORTED, strict=True):
        after = re.search(r"→ ([\d.]+k)", name)
        assert after is not None
        if request is None:
            assert " predicted, " in title
        else:
            assert after[1] == format_tokens(request) and " reported, auto" in title
    for at, name in enumerate(names):
        button = buttons(page).nth(at)
        if button.get_attribute("aria-pressed") != "true":
            button.click()
        expect(button).to_have_attribute("aria-pressed", "true")
        wait_for_python(page)
        sizes = re.search(r"([\d.]+k) → ([\d.]+k)", name)
        assert sizes is not None
        source = "predicted" if REPORTED[at] is None else "reported"
        expect(page.get_by_test_id("gauge-before").locator("b")).to_have_text(sizes[1])
        expect(page.get_by_test_id("gauge-recorded").locator("b")).to_have_text(sizes[2])
        expect(page.get_by_test_id("gauge-recorded")).to_contain_text(source)
        page.get_by_test_id("tab-rules").click()
        expect(page.get_by_test_id("rules-after")).to_have_text(sizes[2])
        page.get_by_test_id("tab-context").click()
        total = page.get_by_test_id("context-total")
        expect(total).not_to_have_text("")
        assert format_tokens(int((total.text_content() or "").replace(",", ""))) == sizes[2]
        assert [one.get_attribute("aria-label") for one in buttons(page).all()] == names
        assert [one.get_attribute("title") for one in buttons(page).all()] == titles
    assert watch.errors == []


def test_a_cut_moved_by_a_key_is_what_sentence_and_gauge_speak_of(
    page: Page, open_workbench: OpenWorkbench, tmp_path: Path
) -> None:
    """Also if the summary is larger than the one block that it stands for."""
    rows = Claude()
    for part in range(6):
        rows.say("Hello." if part == 0 else f"Part {part}. " + WORDS * 20)
        rows.reply(WORDS * 20, 3_000 * (part + 1))
    (tmp_path / "open.jsonl").write_bytes(dump(rows.rows))
    opened = open_workbench(tmp_path / "open.jsonl", "auto")
    sentence = page.get_by_test_id("sentence")
    page.get_by_test_id("cut-handle").press("Home")
    wait_for_python(page)
    assert opened.plan.edits.cut and opened.plan.outcome.changed.any()
    assert opened.plan.after >= opened.plan.before
    expect(sentence).to_contain_text("Left of the cut: ")
    expect(sentence).not_to_contain_text("No compaction needed yet")
