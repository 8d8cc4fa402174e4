"""What a harness tells its user, its states, and a recovery, as they stand on the screen."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from inspector import replay
from tests.browser.conftest import OpenWorkbench
from tests.browser.hand import fill_page, open_tab
from tests.browser.product import open_demo
from tests.browser.screen import find_violations, screenshot, wait_until_still
from tests.claude_rows import Claude


def grow(turns: int, words: int) -> Claude:
    """Turns whose outputs fill the window as their usage says."""
    rows, size = Claude(), 20_000
    for n in range(turns):
        size += 2 * words + 700 * n
        rows.say(f"How does part {n} of the calendar work?")
        rows.use(f"c{n}", " ".join(f"line{i}" for i in range((2 * words + 700 * n) // 3)), size - words)
        rows.reply(f"Part {n} works well. " * 30, size)
    return rows


CLIPPED = """node => [...node.querySelectorAll("*")].filter(one => {
  const [inner, outer] = [one.getBoundingClientRect(), node.getBoundingClientRect()];
  const isCut = one.clientWidth > 0 && one.scrollWidth > one.clientWidth + 1;
  return isCut || inner.width < 2 || inner.left < outer.left - 0.5
    || inner.right > outer.right + 0.5 || inner.bottom > outer.bottom + 0.5;
}).map(one => one.outerHTML)"""


def test_S1_10_S2_41_the_banner_can_be_read_and_its_button_pressed(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    fill_page(page, 1400, 900)
    open_workbench(grow(9, 6_500).open(), "stud-warning", window=200_000)
    banner = page.get_by_role("region", name="Warning of the harness")
    expect(banner).to_contain_text(re.compile(r"8\d(\.\d)? % of the context window is used"))
    buttons = ["/compact", "/reset", "continue", "stop"]
    expect(banner.get_by_role("button")).to_have_text(buttons)
    for width in (1400, 560):
        fill_page(page, width, 900)
        wait_until_still(page)
        assert [one for one in banner.evaluate(CLIPPED) if "ci-chip" not in one] == []
        box = banner.bounding_box()
        assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= width
        assert find_violations(page, ".ci-gauge") == []
        screenshot(page, f"banner-{width}", ".ci")
    banner.get_by_role("button", name="/compact").click()
    expect(page.get_by_test_id("summary")).to_be_visible()


@pytest.mark.parametrize(
    ("policy", "turns", "offer", "act", "part"),
    [
        ("stud-warning", 9, "/reset", "Reset (/reset)", {}),
        ("stud-warning", 11, "override", "Override the refusal for this turn", {}),
        ("stud-merged", 10, "decline", "", {"consents": False}),
    ],
)
def test_an_offer_of_the_banner_does_in_a_replay_what_its_scenario_does(
    page: Page,
    open_workbench: OpenWorkbench,
    policy: str,
    turns: int,
    offer: str,
    act: str,
    part: dict[str, bool],
) -> None:
    fill_page(page, 1400, 900)
    opened = open_workbench(grow(turns, 6_500).open(), policy, window=200_000)
    page.get_by_role("region", name="Warning of the harness").get_by_role("button", name=offer).press("Enter")
    expect(page.get_by_role("tab", name="Replay")).to_have_attribute("aria-selected", "true")
    chosen = page.get_by_test_id("chosen")
    expect(chosen).to_contain_text(act or "When asked, the user: declines")
    # The replay from Python with the same scenario comes to the same.
    assert opened.run is not None
    assert part.items() <= opened.scenario.items()
    again = replay(opened.session, policy, scenario=opened.scenario, window=200_000, ledger=opened.ledger)
    assert [event.kind for event in opened.run.events] == [event.kind for event in again.events]


def test_an_offer_that_cannot_be_replayed_says_why(page: Page, open_workbench: OpenWorkbench) -> None:
    fill_page(page, 1400, 900)
    opened = open_workbench(grow(9, 6_500).open(), "stud-warning", window=200_000)
    banner = page.get_by_role("region", name="Warning of the harness")
    banner.get_by_role("button", name="stop").press("Enter")
    expect(banner.get_by_test_id("offered")).to_contain_text("ends the session")
    assert opened.run is None


def test_S2_40_seven_states_stand_under_the_gauge_with_their_thresholds(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    fill_page(page, 1400, 900)
    open_workbench(grow(10, 6_900).open(), "claude-code-analysis", window=200_000)
    legend = page.locator(".ci-gauge").get_by_test_id("state-legend")
    expect(legend.locator("li")).to_have_count(7)
    for words in ("above 80 %", "above 95 %", "above 98 %, auto off", "after a refusal", "/compact"):
        expect(legend).to_contain_text(words)
    assert legend.locator("[aria-current]").count() == 1
    # A zone for each level that can be entered, from its threshold on.
    scale = page.locator(".ci-scale .ci-ticks").bounding_box()
    zones = [zone.bounding_box() for zone in page.locator(".ci-zone").all()]
    assert scale is not None and len(zones) == 2
    for zone, share in zip(zones, (0.8, 0.95), strict=True):
        assert zone is not None
        assert zone["x"] - scale["x"] == pytest.approx(share * scale["width"], abs=2)


def test_S4_65_a_replayed_recovery_is_a_tree_and_its_banners_are_listed(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    fill_page(page, 1400, 1200)
    acts = [{"at": "r30", "do": "token_overflow"}]
    open_workbench(grow(14, 5_900).open(), "claude-code-analysis", window=200_000, scenario={"acts": acts})
    open_tab(page, "replay")
    page.get_by_test_id("replay-ask").click()
    page.get_by_test_id("sawtooth").wait_for()
    row = page.locator(".ci-event", has_text="leaf removed")
    row.click()
    tree = page.get_by_test_id("recovery")
    for width in (1400, 560):
        fill_page(page, width, 1200)
        wait_until_still(page)
        kinds = tree.locator("li").evaluate_all("nodes => nodes.map(node => node.dataset.node)")
        assert kinds == ["leaf", "removed", "compaction", "retry"]
        removed, made = (
            tree.locator(f"[data-node={kind}]").bounding_box() for kind in ("removed", "compaction")
        )
        assert removed is not None and made is not None and removed["x"] > made["x"] + 20
        assert find_violations(page, "[data-testid=replay]") == []
        screenshot(page, f"recovery-{width}", ".ci")
    expect(page.get_by_test_id("replay").get_by_test_id("state-legend")).to_contain_text("reactive")
    shown = page.get_by_test_id("banner-history").locator("li")
    if shown.count():
        shown.first.get_by_role("button").click()
        expect(page.get_by_test_id("banner")).to_contain_text("% of the context window is used")


def test_S4_47_the_strip_shows_the_second_call_of_a_split_turn(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    workbench = open_workbench(open_demo(), "flue")
    assert len(workbench.plan.jobs) == 2
    strip = page.get_by_test_id("becomes")
    expect(strip).to_have_attribute("aria-label", re.compile("one summary in 2 calls: .*call 2: turn 11"))
    cuts = workbench.plan.cuts
    whole = [at for at in range(len(cuts.ids)) if cuts.legal[at] and not cuts.splits[at]]
    workbench.cut = cuts.ids[whole[3]]
    expect(strip).to_have_attribute("aria-label", re.compile("one summary: "))


def test_S4_25_why_a_recorded_compaction_ran_stands_on_its_button_and_in_its_row(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    page.set_viewport_size({"width": 1400, "height": 900})
    open_workbench(open_demo(), policy="auto")
    expect(page.get_by_test_id("compactions").locator("button").first).to_contain_text("· auto ·")
    expect(page.locator(".ci-ticks")).to_contain_text("compacted here (auto), at 79 %")
