"""After each gesture every place of the screen says what Python says: SCREEN3's stories three to five."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from inspector.facts.outcomes import MISSING
from inspector.workbench.payloads.sections import format_tokens
from inspector.workbench.queries import answer_query
from tests.browser.bare import wait_for_python
from tests.browser.conftest import OpenWorkbench
from tests.browser.hand import choose_policy, drag_handle, fill_page
from tests.browser.product import Workbench
from tests.browser.screen import wait_until_still
from tests.browser.test_compare import choose

RULE = "never touch data/almanac.json"
PATH = "src/tidepool/calendar/offsets.py"
COUNTS = ("files", "rules", "errors", "links", "todos", "changed")
LOSSES = ("files", "rules", "errors", "to-dos", "changed")
NAMES = "nodes => nodes.map(node => node.dataset.name)"


def panel(page: Page, tab: str) -> Locator:
    page.get_by_test_id(f"tab-{tab}").click()
    wait_for_python(page)
    wait_until_still(page)
    return page.locator(f"[data-panel={tab}]")


def read_number(words: str) -> int:
    (digits,) = re.findall(r"\d[\d,]*", words)[:1] or ["0"]
    return int(digits.replace(",", ""))


def check_agreement(page: Page, workbench: Workbench) -> None:
    """Sentence, gauge, tabs, table, findings, facts and both panes, each against Python and the others."""
    wait_for_python(page)
    wait_until_still(page)
    plan = workbench.plan
    place = plan.place or 0
    query = {"id": 1, "place": place, "look": "plan"}
    findings = answer_query(workbench.model, {"type": "findings", **query})
    row = answer_query(workbench.model, {"type": "compactions", **query})["plan"]
    missing = sum(len(row[name]) if isinstance(row[name], list) else row[name] for name in COUNTS)
    after = page.get_by_test_id("gauge-after")
    expect(after.locator("b")).to_have_text(format_tokens(plan.after))
    assert read_number(after.get_attribute("title") or "") == plan.after
    # The sentence: what is cut off, and how much is missing.
    sentence = page.get_by_test_id("sentence").inner_text()
    told = re.search(r"(\d+) (?:essential )?facts? ", sentence)
    assert (int(told[1]) if told else 0) == missing, sentence
    assert (missing == 0) == ("No essential fact is missing" in sentence), sentence
    # The table, and the list under it.
    line = panel(page, "compactions").locator("[data-look=plan]")
    expect(line).to_contain_text(format_tokens(plan.after))
    columns = line.locator("[data-name]")
    shown = dict(zip(columns.evaluate_all(NAMES), columns.all_inner_texts(), strict=True))
    assert (
        sum(read_number(words) for name, words in shown.items() if name in LOSSES and words != "?") == missing
    )
    listed = panel(page, "findings")
    counts = [read_number(words) for words in listed.locator("h3 .ci-count").all_inner_texts()]
    assert sum(counts) == findings["total"] >= missing
    tab = page.get_by_test_id("tab-findings").inner_text()
    assert read_number(tab) == findings["total"]
    # The list of facts is the plan's own.
    panel(page, "facts")
    page.get_by_test_id("facts-search").fill(PATH)
    lost = page.get_by_role("row").filter(has=page.locator(f"[data-testid=fact][title='{PATH}']"))
    facts = answer_query(workbench.model, {"type": "facts", **query, "query": PATH, "kind": "file"})["rows"]
    (absent,) = (fact["outcome"] in MISSING for fact in facts if fact["form"] == PATH)
    expect(lost.get_by_role("cell").nth(-2)).to_contain_text("■" if absent else re.compile("[●“◐]"))
    # Both panes have the totals of the gauge.
    panes = panel(page, "context")
    expect(page.get_by_test_id("tab-context")).to_contain_text(format_tokens(plan.after))
    heads = panes.locator(".ci-ctx-heads b").all_inner_texts()
    numbers = [read_number(words) for words in heads if re.fullmatch(r"[\d,]+", words)]
    assert numbers == [plan.before, plan.after]
    # What only the request before has is what is missing or changed.
    only = panes.get_by_test_id("facts-only-in-a")
    expect(only.locator(".ci-count")).to_have_text(str(missing))
    expect(only).to_contain_text("missing or changed in B")
    # The summary's tab says of the planned one what the table says.
    planned = panel(page, "summary").get_by_role("region", name="Planned")
    expect(planned.locator(".ci-side-counts")).to_contain_text(row["losses"])


def check_comparison(page: Page, workbench: Workbench) -> None:
    """Plan B in the gauge and both plans in the panes, each against Python."""
    plan, other = workbench.plan, workbench.other
    for name, compared in (("gauge-after", plan), ("gauge-other", other)):
        reading = page.get_by_test_id(name)
        expect(reading.locator("b")).to_have_text(format_tokens(compared.after))
        assert read_number(reading.get_attribute("title") or "") == compared.after
    panes = panel(page, "context")
    page.get_by_test_id("pair-other").click()
    wait_for_python(page)
    wait_until_still(page)
    heads = panes.locator(".ci-ctx-heads b").all_inner_texts()
    numbers = [read_number(words) for words in heads if re.fullmatch(r"[\d,]+", words)]
    assert numbers == [plan.after, other.after]
    page.get_by_test_id("pair-before").click()
    differing = ((plan.fate != other.fate) | (plan.outcome.tokens != other.outcome.tokens)).sum()
    panel(page, "blocks")
    expect(page.get_by_test_id("differing")).to_contain_text(f"{differing} of")


@pytest.mark.parametrize("by", ["mouse", "keyboard"])
def test_after_a_cut_a_rule_and_a_fix_all_places_agree(
    page: Page, open_workbench: OpenWorkbench, by: str
) -> None:
    fill_page(page, 1400, 900)
    workbench = open_workbench(policy="keep-recent-turns", cut="end")
    check_agreement(page, workbench)
    before = workbench.plan.after
    handle = page.get_by_test_id("cut-handle")
    if by == "mouse":
        drag_handle(page, 0.7)
    else:
        handle.press("PageUp")
    wait_for_python(page)
    assert workbench.plan.after != before
    check_agreement(page, workbench)
    # A rule, and the cut that it makes then.
    panel(page, "rules")
    settings = page.get_by_test_id("all-settings")
    settings.click() if by == "mouse" else settings.press("Enter")
    knob = page.get_by_test_id("set-keep-recent-turns.turns")
    knob.fill("5")
    knob.press("Enter")
    close = page.get_by_test_id("settings").get_by_role("button", name="Close")
    close.click() if by == "mouse" else close.press("Enter")
    reset = page.get_by_role("button", name="Reset to the policy's cut")
    reset.click() if by == "mouse" else reset.press("Enter")
    wait_for_python(page)
    assert workbench.settings and not workbench.cut
    check_agreement(page, workbench)
    # A fix of the first thing that is missing.
    panel(page, "findings")
    fix = page.get_by_test_id("story-fix").get_by_role("button", name="Pin").first
    fix.click() if by == "mouse" else fix.press("Enter")
    wait_for_python(page)
    assert workbench.pins
    check_agreement(page, workbench)
    # Another policy next to it, which changes nothing of the plan's own.
    choose(page, "flue")
    check_comparison(page, workbench)
    check_agreement(page, workbench)


@pytest.mark.parametrize("by", ["mouse", "keyboard"])
def test_half_a_remembered_sentence_leads_to_its_evidence(
    page: Page, open_workbench: OpenWorkbench, by: str
) -> None:
    fill_page(page, 1400, 900)
    open_workbench(policy="auto")
    panel(page, "facts")  # the facts are found
    panel(page, "blocks")
    field = page.get_by_test_id("search")
    if by == "mouse":
        field.click()
    else:
        page.locator(".ci").first.focus()
        page.keyboard.press("/")
    expect(field).to_be_focused()
    page.keyboard.type(RULE)
    first = page.get_by_test_id("found").get_by_role("option").first
    expect(first).to_contain_text(RULE)
    if by == "mouse":
        first.click()
    else:
        page.keyboard.press("Enter")
    expect(page.get_by_test_id("story-title")).to_contain_text(RULE)
    said = page.get_by_test_id("evidence").first
    expect(said).to_have_accessible_name("You said")
    expect(said).to_contain_text(RULE)


def test_what_only_the_plan_keeps_is_two_gestures_away_by_keys(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    fill_page(page, 1400, 900)
    workbench = open_workbench(policy="auto")
    choose_policy(page, "codex")
    wait_for_python(page)
    panel(page, "blocks")
    page.get_by_test_id("tab-blocks").press("ArrowRight")  # the first gesture
    pair = page.get_by_test_id("pair-recorded")
    pair.press("Enter")  # and the second
    expect(pair).to_have_attribute("aria-pressed", "true")
    wait_for_python(page)
    only = page.get_by_test_id("facts-only-in-b").get_by_role("listitem")
    expect(only.first).to_be_visible()
    recorded = workbench.session.compactions[0].trace
    lost = {fact.fact.form for fact in recorded if fact.outcome in MISSING}
    forms = [button.get_attribute("title") for button in only.get_by_role("button").all()]
    assert forms and set(forms) <= lost
