"""The new screen: rules that add up, sizes that hold, keys and words for everyone, and paper."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.bare import wait_for_python
from tests.browser.conftest import OpenWorkbench
from tests.browser.product import Workbench


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
    expect(page.get_by_test_id("offers").get_by_role("button").first).to_be_visible()
    page.wait_for_timeout(800)
    expect(page.get_by_test_id("knob-snip-long-text.characters")).to_have_count(0)
    expect(page.get_by_test_id("rule-7")).to_contain_text("2,000 characters")
