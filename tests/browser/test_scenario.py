"""What happens to a session from outside, chosen on the chart of its replay by mouse and keyboard."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from tests.browser.product import Workbench, replay_session
from tests.browser.test_replay import replay, settle


def offer(page: Page, words: str) -> Locator:
    return page.get_by_test_id("offer").filter(has_text=words)


def choose(page: Page, name: str, words: str) -> None:
    page.get_by_test_id(f"scenario-{name}").select_option(words)
    settle(page)


def kinds(workbench: Workbench) -> list[str]:
    return [event.kind for event in workbench.run.events]


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


CAUSED = (
    ("writer", "always fails", "failed"),
    ("writer", "fails once", "retried"),
    ("tool", "off", "suggested"),
    ("user", "overrides", "overridden"),
    ("user", "resets", "reset"),
    ("user", "waits", "refused"),
    ("provider", "accepted", "refused"),
)


def test_what_the_seeds_call_a_failure_is_caused_and_seen(page: Page, workbench: Workbench) -> None:
    workbench.policy = "stud-warning"
    replay(page)
    page.get_by_test_id("what-if").click()
    for name, words, seen in CAUSED:
        choose(page, name, words)
        assert seen in kinds(workbench)
        label = seen.replace("_", " ")
        expect(page.get_by_test_id("events").get_by_text(label, exact=True).first).to_be_attached()
        again = replay_session(workbench.session, "stud-warning", workbench.scenario)
        assert again.events == workbench.run.events
        if words != "waits":  # beside which the next one is
            page.get_by_test_id(f"scenario-{name}").select_option(index=0)
            settle(page)
            assert seen not in kinds(workbench) or name == "provider"
