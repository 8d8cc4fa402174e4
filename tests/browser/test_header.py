"""The line over everything, the gauge, the search, the policy picker, and plans in files."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenWorkbench
from tests.browser.product import Workbench, open_demo, read_demo
from tests.browser.screen import wait_until_still

TOTAL = re.compile(r"[\d.,]+[kM]?")


def short(tokens: int) -> str:
    """As the page writes it."""
    return str(tokens) if tokens < 1000 else f"{tokens / 1000:.1f}".removesuffix(".0") + "k"


def box(page: Page, selector: str) -> dict[str, float]:
    found = page.locator(selector).first.bounding_box()
    assert found is not None, selector
    return {name: round(value) for name, value in found.items()}


def test_W2_10_one_total_for_one_plan(page: Page, open_workbench: OpenWorkbench) -> None:
    workbench = open_workbench(policy="flue")
    after = workbench.plan.after
    told = short(after)
    expect(page.get_by_test_id("gauge-after").locator("b")).to_have_text(told)
    assert f"{after:,}" in (page.get_by_test_id("gauge-after").get_attribute("title") or "")
    assert f"{after:,} tokens" in repr(workbench.plan)
    expect(page.get_by_test_id("cut-handle")).to_contain_text(f"{told} after")
    page.get_by_test_id("policy-picker").click()
    chosen = page.get_by_test_id("policy-list").locator("[aria-selected=true]")
    expect(chosen).to_contain_text(told)
    # What the picker says of another policy is what that one leaves once it is chosen.
    other = page.get_by_test_id("policy-list").locator("[data-policy=codex]")
    expect(other.locator(".ci-policy-after")).to_have_text(TOTAL)
    promised = other.locator(".ci-policy-after").inner_text()
    other.click()
    expect(page.get_by_test_id("gauge-after").locator("b")).to_have_text(promised)
    assert promised == short(workbench.plan.after) != told


def test_W2_14_thresholds_are_labelled_in_the_order_of_their_ticks(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    # As wide as a document: 1400 pixels beside the page's own margins.
    page.set_viewport_size({"width": 1832, "height": 1000})
    workbench = open_workbench(policy="claude-code-analysis")
    expect(page.locator(".ci-tick:visible").first).to_be_visible()
    seen = page.locator(".ci-tick:visible").evaluate_all(
        "nodes => nodes.map(node => [Number(node.dataset.tokens), node.getBoundingClientRect().left,"
        " node.getBoundingClientRect().right])"
    )
    assert len(seen) > 1
    for (tokens, _, right), (next_tokens, left, _) in pairwise(seen):
        assert tokens < next_tokens
        assert right <= left, "labels that stand on one another"
    words = [label for label in page.locator(".ci-tick:visible").all_inner_texts() if " " in label]
    # The size down to which the stages go has words of its own.
    assert [word for word in words if "target" in word] == ["△ target 160k (80 % of 200k)"]
    words = [word for word in words if "target" not in word]
    assert words == [word for word in words if "would not compact yet" in word]
    assert len(words) == 1
    assert workbench.plan.verdict.threshold == 190_000
    assert "190k" in words[0]


def test_W2_20_search_opens_over_the_page_and_gives_the_focus_back(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    open_workbench(policy="flue")
    # What the plan loses comes in after the picture, and takes a line.
    expect(page.get_by_test_id("sentence")).to_contain_text("facts would be missing")
    expect(page.get_by_test_id("tab-compactions")).to_contain_text("1 ◇1")
    handle = page.get_by_test_id("cut-handle")
    handle.focus()
    names = (".ci-gauge", ".ci-dock", ".ci-tabs", ".ci")
    before = [box(page, name) for name in names]
    rows = page.locator(".ci-tabpanel:visible").inner_text()
    page.keyboard.press("/")
    page.keyboard.type("offsets")
    options = page.get_by_test_id("found").get_by_role("option")
    expect(options.first).to_be_visible()
    assert 0 < options.count() <= 12
    assert [box(page, name) for name in names] == before
    assert page.locator(".ci-tabpanel:visible").inner_text() == rows, "nothing is filtered"
    assert round(box(page, "[data-testid=found]")["width"]) == 520
    groups = page.get_by_test_id("found").get_by_role("group")
    assert "blocks" in [group.get_attribute("aria-label") for group in groups.all()]
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("found")).to_be_hidden()
    expect(handle).to_be_focused()
    # Enter goes to what was found.
    page.keyboard.press("/")
    page.keyboard.type("turn 7")
    turns = page.get_by_test_id("found").get_by_role("group", name="turns").get_by_role("option")
    expect(turns).to_contain_text("turn 7")
    while turns.get_attribute("aria-selected") != "true":
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("found")).to_be_hidden()
    expect(page.get_by_test_id("block")).to_contain_text("turn 7")


def test_W2_21_the_picker_has_a_result_or_a_word_for_each_policy(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    workbench = open_workbench(policy="flue")
    tall = box(page, ".ci")["height"]
    page.get_by_test_id("policy-picker").click()
    picker = page.get_by_test_id("policy-list")
    expect(picker.locator("[data-policy=flue]")).to_be_focused()
    groups = [group.get_attribute("aria-label") for group in picker.get_by_role("group").all()]
    assert groups == ["this session's harness", "coding agents", "libraries and APIs", "yours"]
    order = picker.get_by_role("option").evaluate_all("nodes => nodes.map(node => node.dataset.policy)")
    for name in order:
        told = picker.locator(f"[data-policy='{name}'] .ci-policy-after")
        expect(told).to_have_text(TOTAL)
    again = picker.get_by_role("option").evaluate_all("nodes => nodes.map(node => node.dataset.policy)")
    assert again == order, "the order never changes"
    assert "langchain-trim" not in order, "variants stand in one row"
    expect(picker.locator("[data-policy=keep-recent-turns]")).to_contain_text("as stud-cli wiki 1.1.0 here")
    assert box(page, ".ci")["height"] == tall
    picker.locator("[data-policy=langchain-summarization]").focus()
    page.keyboard.press("ArrowRight")
    variant = picker.locator("[data-policy=langchain-trim]")
    expect(variant).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(variant).to_be_focused()
    page.keyboard.press("Enter")
    expect(picker).to_be_hidden()
    # The margin has no room for "LangChain, trim_messages", and "LangChain" would be any of three.
    expect(page.get_by_test_id("policy-picker")).to_contain_text("langchain-trim")
    assert workbench.policy == "langchain-trim"


def test_W2_24_a_plan_in_a_file_opens_its_session_with_the_plan(
    page: Page, open_workbench: OpenWorkbench, tmp_path: Path
) -> None:
    session = tmp_path / "tides.jsonl"
    session.write_bytes(read_demo())
    first = open_workbench(session, policy="pi")
    first.cut = first.plan.cuts.ids[int(first.plan.cuts.legal.nonzero()[0][10])]
    first.pins = [f"{first.moment.entries[0].id}/0"]
    plan = first.plan
    page.get_by_test_id("plans").click()
    page.get_by_test_id("save-plan").click()
    expect(page.get_by_test_id("saved")).to_contain_text("Saved as tides.plan.json")
    state = (first.cut, first.policy, first.pins, first.at)
    # Opening what was saved changes nothing.
    page.get_by_test_id("open-plan").click()
    expect(page.get_by_test_id("plans-menu")).to_be_hidden()
    expect(page.get_by_test_id("gauge-after").locator("b")).to_have_text(short(plan.after))
    assert (first.cut, first.policy, first.pins, first.at) == state
    # Nor does opening the file in place of the session.
    again = Workbench(tmp_path / "tides.plan.json")
    try:
        assert (again.cut, again.policy, list(again.pins), again.at) == state
        assert (again.plan.after, again.plan.recipe) == (plan.after, plan.recipe)
    finally:
        again.close()
    page.get_by_test_id("plans").click()
    page.get_by_test_id("reset").click()
    expect(page.get_by_test_id("policy-picker")).to_contain_text("As recorded")
    assert (first.policy, first.cut, first.pins) == ("auto", "", [])


def test_the_notes_close_with_escape_wherever_the_reader_clicked_in_them(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    open_workbench(policy="auto")
    notes = page.get_by_test_id("notes")
    for put in ("summary", "li"):
        notes.locator("summary").click()
        text = notes.get_by_test_id("notices")
        expect(text).to_be_visible()
        if put == "li":
            text.locator("li").first.click()
        page.keyboard.press("Escape")
        expect(text).to_be_hidden()
        expect(notes.locator("summary")).to_be_focused()
    notes.locator("summary").click()
    page.get_by_test_id("sentence").click()
    expect(notes.get_by_test_id("notices")).to_be_hidden()


def test_a_long_title_leaves_the_numbers_of_the_header_whole(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    page.add_style_tag(content="body { padding: 0 !important }")
    title = "Please look at every one of the failing tests of the renderer " * 4
    open_workbench(open_demo().model_copy(update={"title": title}), policy="auto")
    for width in (1400, 1100):
        page.set_viewport_size({"width": width, "height": 900})
        wait_until_still(page)
        box = page.locator(".ci-header").bounding_box()
        assert box is not None
        for name in ("compactions", "size"):
            fact = page.locator(f".ci-about-{name}")
            place, clip = fact.bounding_box(), fact.locator("..").bounding_box()
            assert place is not None and clip is not None
            assert place["width"] > 20 and place["y"] < clip["y"] + clip["height"] - 10
            end = clip["x"] + clip["width"]
            assert place["x"] + place["width"] <= end + 0.5 <= box["x"] + box["width"] + 1
