"""What happens to a session from outside, chosen on the chart of its replay by mouse and keyboard."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.bare import set_theme
from tests.browser.hand import fill_page, find_sticking_out
from tests.browser.product import EditError, Workbench, replay_session
from tests.browser.screen import find_violations, screenshot, wait_until_still
from tests.browser.test_replay import FLAWS, replay, settle


def click_step(page: Page, step: int, steps: int) -> None:
    """Click a step (from 0) on the chart."""
    plot = page.get_by_test_id("sawtooth")
    box = plot.bounding_box()
    assert box is not None
    plot.click(position={"x": (step + 0.5) * box["width"] / steps, "y": 60})


def offer(page: Page, words: str) -> Locator:
    return page.get_by_test_id("offer").filter(has_text=words)


def choose(page: Page, name: str, words: str) -> None:
    page.get_by_test_id(f"scenario-{name}").select_option(words)
    settle(page)


def kinds(workbench: Workbench) -> list[str]:
    return [event.kind for event in workbench.run.events]


def test_a_click_on_a_turn_compacts_there_as_the_same_scenario_does_in_python(
    page: Page, workbench: Workbench
) -> None:
    replay(page)
    before = workbench.run
    step = int((before.turn == 8).nonzero()[0][0])
    click_step(page, step, len(before))
    page.get_by_test_id("what-if").click()
    expect(page.get_by_test_id("scenario")).to_contain_text(f"At turn 9, step {step + 1}")
    offer(page, "Compact (/compact)").click()
    settle(page)
    wanted = replay_session(
        workbench.session, "flue", {"acts": [{"at": "turn 9", "do": "compact"}], "provider": "refuses"}
    )
    assert workbench.run.events == wanted.events != before.events
    assert workbench.run.compactions[0].reason == "manual"
    expect(page.get_by_test_id("chosen")).to_contain_text("Compact (/compact)")
    code = page.get_by_test_id("scenario-code").inner_text()
    assert code == wanted.recipe == workbench.run.recipe
    again = eval(code, {"session": workbench.session, "replay": replay_session})
    assert again.events == wanted.events

    page.get_by_role("button", name="Remove turn 9").click()
    settle(page)
    assert workbench.run.events == before.events
    assert workbench.scenario["acts"] == []


def test_the_keyboard_alone_refuses_a_request_and_makes_the_summariser_fail(
    page: Page, workbench: Workbench
) -> None:
    replay(page)
    saw = page.get_by_test_id("sawtooth")
    saw.press("Home")
    saw.press("PageDown")
    saw.press("ArrowRight")
    saw.press("Enter")
    expect(page.get_by_test_id("offer").first).to_be_focused()
    while page.evaluate("document.activeElement.textContent") != "Refuse: body too large (413)":
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    settle(page)
    step = int((workbench.run.turn == 1).nonzero()[0][0]) + 1
    assert workbench.scenario["acts"][0]["at"] == f"step {step + 1}"
    assert [event.step for event in workbench.run.events if event.kind == "byte_overflow"] == [step]
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("what-if")).to_be_focused()
    expect(page.get_by_test_id("offer")).to_have_count(0)


@pytest.mark.parametrize(
    ("name", "words", "seen"),
    [
        ("writer", "always fails", "failed"),
        ("writer", "fails once", "retried"),
        ("tool", "off", "suggested"),
        ("user", "overrides", "overridden"),
        ("user", "resets", "reset"),
        ("user", "waits", "refused"),
        ("provider", "accepted", "refused"),
    ],
)
def test_what_the_seeds_call_a_failure_is_caused_and_seen(
    page: Page, workbench: Workbench, name: str, words: str, seen: str
) -> None:
    workbench.policy = "stud-warning"
    replay(page)
    page.get_by_test_id("what-if").click()
    if words == "accepted":
        choose(page, "user", "waits")
    choose(page, name, words)
    assert seen in kinds(workbench)
    label = seen.replace("_", " ")
    expect(page.get_by_test_id("events").get_by_text(label, exact=True).first).to_be_attached()
    again = replay_session(workbench.session, "stud-warning", workbench.scenario)
    assert again.events == workbench.run.events


def test_a_wrong_scenario_from_python_leaves_the_one_before(workbench: Workbench) -> None:
    workbench.scenario = {"acts": [{"at": "step 3", "do": "compact"}]}
    for wrong in ({"acts": [{"at": "turn 500", "do": "compact"}]}, {"user": "sleeps"}):
        with pytest.raises(EditError, match=r"turn 500|user"):
            workbench.scenario = wrong
        assert workbench.scenario["acts"][0]["at"] == "step 3"


@pytest.mark.parametrize("width", [1400, 560])
def test_nothing_of_the_choices_is_small_or_cut_off(page: Page, workbench: Workbench, width: int) -> None:
    fill_page(page, width, 900)
    workbench.policy = "stud-warning"
    replay(page)
    page.get_by_test_id("what-if").click()
    offer(page, "Compact (/compact)").click()
    choose(page, "writer", "always fails")
    for dark in (False, True):
        set_theme(page, dark)
        wait_until_still(page)
        assert page.get_by_test_id("replay").evaluate(FLAWS) == []
        assert find_sticking_out(page) <= 1
        page.get_by_test_id("scenario").scroll_into_view_if_needed()
        screenshot(page, f"scenario-{width}-{'dark' if dark else 'light'}")
        assert find_violations(page, ".ci-replay") == []


def test_a_sub_agent_is_replayed_from_its_lane_under_a_turn_cap_and_the_session_again(
    page: Page, workbench: Workbench
) -> None:
    whole = replay_session(workbench.session, "flue", {"provider": "refuses"})
    page.get_by_role("button", name="Replay sub-agent 1").click()
    page.get_by_test_id("sawtooth").wait_for()
    settle(page)
    expect(page.get_by_test_id("replay-status")).to_contain_text("sub-agent 1")
    stage = workbench.run
    assert 1 < len(stage) < len(whole)
    alone = replay_session(workbench.session.at(workbench.at), "flue", {"provider": "refuses"})
    assert stage.events == alone.events
    page.get_by_test_id("what-if").click()
    choose(page, "turn_cap", "2 requests")
    assert (workbench.run.status, int((workbench.run.sent > 0).sum())) == ("capped", 2)
    expect(page.get_by_test_id("replay-status")).to_contain_text("capHit")
    screenshot(page, "stage")
    page.get_by_role("button", name="replay the whole session").click()
    settle(page)
    expect(page.get_by_test_id("replay-status")).not_to_contain_text("sub-agent")
    assert len(workbench.run) == len(whole)
