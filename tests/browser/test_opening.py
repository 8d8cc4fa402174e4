"""What a person finds who has chosen nothing: the recorded side, the sentence, the overview."""

from __future__ import annotations

import re
from itertools import pairwise

from playwright.sync_api import Locator, Page, expect

from inspector.policies.table import SUMMARISED
from tests.browser.bare import wait_for_python
from tests.browser.conftest import OpenWorkbench
from tests.browser.product import Workbench, open_demo

SAYS = re.compile(r"([\d,]+) blocks?, ([\d.]+k?) tokens")


def sentence(page: Page) -> Locator:
    return page.get_by_test_id("sentence")


def sides(page: Page) -> Locator:
    return page.get_by_test_id("look").get_by_role("button")


def test_W2_3_a_session_opens_on_what_it_records_and_the_switch_shows_the_plan(
    page: Page, opened: Workbench
) -> None:
    expect(sentence(page)).to_contain_text(
        "Left of the cut: 332 blocks, 141.5k tokens became a summary of 1k."
    )
    expect(page.get_by_test_id("losses")).to_contain_text("facts are missing.")
    expect(page.get_by_test_id("losses")).to_have_class(re.compile("ci-bad"))
    assert opened.plan.after != opened.plan.before and opened.policy == "auto"
    expect(sides(page)).to_have_text(["◆1 recorded", "Plan"])
    expect(sides(page).first).to_have_attribute("aria-pressed", "true")
    sides(page).nth(1).click()
    expect(sentence(page)).to_contain_text("become a summary of")
    wait_for_python(page)
    assert opened.look == "plan"
    sides(page).first.click()
    expect(sentence(page)).to_contain_text("became a summary of")
    # The hand moves a plan: nothing that happened has another cut.
    page.get_by_test_id("cut-handle").press("PageUp")
    expect(sides(page).nth(1)).to_have_attribute("aria-pressed", "true")
    wait_for_python(page)
    assert (opened.look, opened.plan.policy.name, opened.policy) == ("plan", "claude-code", "auto")


def test_the_two_words_of_the_switch_stand_apart(page: Page, opened: Workbench) -> None:
    gap = """([first, second]) => {
      const [left, right] = [first, second].map(node => {
        const range = document.createRange();
        range.selectNodeContents(node);
        return range.getBoundingClientRect();
      });
      return right.left - left.right;
    }"""
    expect(sides(page)).to_have_count(2)
    assert sides(page).evaluate_all(gap) >= 8


def test_W2_4_a_policy_that_does_nothing_says_why_and_offers_a_way(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    workbench = open_workbench(policy="deepseek-harness-pruner")
    expect(sentence(page)).to_contain_text(
        "DeepSeek Harness with its pruner keeps everything here: 158.3k is within its target of 160k"
    )
    before = workbench.plan.after
    page.get_by_role("button", name="place the cut myself").click()
    wait_for_python(page)
    assert workbench.plan.after < before and workbench.cut
    page.get_by_role("button", name="Reset to the policy's cut").click()
    wait_for_python(page)
    page.get_by_role("button", name="use Flue").click()
    wait_for_python(page)
    assert workbench.policy == "flue" and workbench.plan.after < before
    expect(sentence(page)).to_contain_text("Left of the cut: 242 blocks")


def test_W2_5_a_policy_that_cuts_where_a_provider_refuses_has_a_number_and_says_so(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    at = next(entry.id for entry in open_demo().entries if entry.id.startswith("4d84c5fb"))
    workbench = open_workbench(policy="flue", at=at)
    plan = workbench.plan
    assert plan.cut is not None and not plan.cut.legal
    expect(sentence(page)).to_contain_text("A provider would refuse it")
    expect(page.get_by_test_id("cut-handle")).to_have_attribute(
        "aria-valuetext", re.compile("not valid, .* after")
    )
    page.get_by_role("button", name="nearest valid cut point").click()
    wait_for_python(page)
    assert workbench.plan.cut is not None and workbench.plan.cut.legal


def test_W2_8_the_sentence_says_the_blocks_and_tokens_of_the_plan(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    workbench = open_workbench(policy="flue")
    cuts = workbench.plan.cuts
    legal = [place for place in range(1, len(cuts)) if cuts.legal[place]]
    for place in legal[:: len(legal) // 20][:20]:
        workbench.cut = cuts.ids[place]
        plan = workbench.plan
        taken = plan.is_older & (plan.fate == SUMMARISED)
        blocks, tokens = int(taken.sum()), int(plan.table.tokens[taken].sum())
        number = f"{blocks:,} block{'' if blocks == 1 else 's'}, "
        expect(sentence(page)).to_contain_text(f"Left of the cut: {number}")
        said = SAYS.search(sentence(page).inner_text())
        assert said is not None
        shown = float(said[2].removesuffix("k")) * (1000 if said[2].endswith("k") else 1)
        assert abs(shown - tokens) <= (50 if said[2].endswith("k") else 0), place


def test_W2_9_each_compaction_is_a_button_that_shows_it(page: Page, opened: Workbench) -> None:
    marks = page.get_by_test_id("compactions")
    buttons = marks.get_by_role("button", name=re.compile("^Show [◆◇]"))
    expect(buttons).to_have_count(2)
    whole, micro = buttons.first, buttons.nth(1)
    expect(whole).to_have_text(re.compile(r"^◆1 · turn 15 · auto · 158\.3k → 18\.6k$"))
    expect(whole).to_have_attribute("aria-pressed", "true")
    micro.click()
    expect(micro).to_have_attribute("aria-pressed", "true")
    wait_for_python(page)
    assert opened.look == "cleared:1"
    expect(sides(page).first).to_have_text("◇1 recorded")
    expect(sentence(page)).to_contain_text("were cleared")
    whole.click()
    expect(whole).to_have_attribute("aria-pressed", "true")
    expect(sentence(page)).to_contain_text("332 blocks")
    boxes = [button.bounding_box() for button in buttons.all()]
    rows = sorted((box["x"], box["x"] + box["width"]) for box in boxes if box is not None)
    assert all(right <= left for (_, right), (left, _) in pairwise(rows))
    overview = page.get_by_test_id("overview").bounding_box()
    assert overview is not None and overview["height"] <= 68
