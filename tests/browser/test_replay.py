"""The session lived again, in a real JupyterLab: the sawtooth, its events, and Python under them."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Watch
from tests.browser.lab import Lab, open_notebook, run_all, screenshot, set_theme
from tests.browser.test_workbench import FIRST, ask, wait_for_python

REPLAY = ".ci-replay"


@pytest.fixture
def notebook(page: Page, lab: Lab) -> Page:
    page.set_viewport_size({"width": 1280, "height": 1000})
    open_notebook(page, lab, FIRST)
    run_all(page)
    page.get_by_test_id("replay-ask").wait_for()
    return page


def replay(page: Page) -> None:
    """Ask for the replay by the button, and wait for its picture."""
    page.get_by_test_id("replay-ask").click()
    page.get_by_test_id("sawtooth").wait_for()
    page.get_by_test_id("sawtooth").scroll_into_view_if_needed()
    settle(page)


def settle(page: Page) -> None:
    wait_for_python(page)
    page.wait_for_function("() => !document.querySelector('.ci-replay').hasAttribute('aria-busy')")


def test_the_replay_is_asked_for_and_drawn(notebook: Page, lab: Lab, watch: Watch) -> None:
    assert ask(notebook, "print(wb.replay, wb.run)") == "False None"
    replay(notebook)
    assert ask(notebook, "print(wb.replay, wb.run.policy.name, len(wb.run))") == "True flue 151"
    expect(notebook.get_by_test_id("replay-status")).to_contain_text("151 steps lived")
    expect(notebook.get_by_test_id("sawtooth")).to_have_attribute("aria-valuemax", "151")
    ink = notebook.evaluate(
        """() => { const c = document.querySelector('.ci-plot canvas');
        const pixels = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        let seen = 0; for (let i = 3; i < pixels.length; i += 4) seen += pixels[i] > 200; return seen }"""
    )
    assert ink > 1000, "lines, names and the band of states are drawn"
    for dark in (False, True):
        set_theme(notebook, dark)
        notebook.get_by_test_id("replay").scroll_into_view_if_needed()
        notebook.wait_for_timeout(500)
        screenshot(notebook, f"replay-{'dark' if dark else 'light'}", REPLAY)
    set_theme(notebook, dark=False)
    assert watch.strangers(lab) == []


def test_the_chart_stands_under_the_overview_step_by_step(notebook: Page) -> None:
    replay(notebook)
    saw = notebook.get_by_test_id("sawtooth").bounding_box()
    overview = notebook.get_by_test_id("overview").locator(".ci-stage").bounding_box()
    assert saw is not None
    assert overview is not None
    assert (saw["x"], saw["width"]) == pytest.approx((overview["x"], overview["width"]), abs=0.5)


def test_keys_step_through_the_events_that_python_tells(notebook: Page) -> None:
    replay(notebook)
    saw = notebook.get_by_test_id("sawtooth")
    assert saw.evaluate("node => node === document.activeElement"), "the chart takes over from the button"
    saw.press("Home")
    steps = []
    for _ in range(int(ask(notebook, "print(len(wb.run.events))"))):
        saw.press(".")
        steps.append(int(saw.get_attribute("aria-valuenow") or 0) - 1)
    told = ask(notebook, "print([event.step for event in wb.run.events if event.step])")
    assert str([step for step in steps if step]) == told
    expect(notebook.get_by_test_id("event-next")).to_be_disabled()
    saw.press(",")
    expect(notebook.get_by_test_id("event-next")).to_be_enabled()


def test_a_step_reads_the_figures_of_the_run(notebook: Page) -> None:
    replay(notebook)
    saw = notebook.get_by_test_id("sawtooth")
    saw.press("Home")
    for _ in range(9):
        saw.press("ArrowRight")
    figures = ask(notebook, "print(int(wb.run.recorded[9]), int(wb.run.context[9]))").split()
    readout = notebook.get_by_test_id("replay-readout").inner_text().replace(",", "")
    assert "step 10 of 151" in readout
    assert f"recorded {figures[0]} · replayed {figures[1]}" in readout


def test_the_moment_of_an_event_can_be_looked_at(notebook: Page) -> None:
    replay(notebook)
    notebook.get_by_test_id("look").click()
    settle(notebook)
    at = ask(notebook, "print(wb.at)")
    assert at in ask(notebook, "print([event.entry for event in wb.run.events])")
    expect(notebook.get_by_test_id("recipe")).to_contain_text(at)
    expect(notebook.get_by_test_id("sawtooth")).to_be_visible()


def test_another_policy_and_another_setting_are_replayed_by_themselves(notebook: Page) -> None:
    replay(notebook)
    first = notebook.get_by_test_id("replay-status").inner_text()
    notebook.get_by_test_id("policy").select_option("keep-recent-turns")
    settle(notebook)
    expect(notebook.get_by_test_id("replay-status")).not_to_have_text(first)
    assert ask(notebook, "print(wb.run.policy.name)") == "keep-recent-turns"
    before = ask(notebook, "print(len(wb.run.compactions))")
    ask(notebook, "wb.settings = {'trigger.ratio': 0.4}")
    settle(notebook)
    after = ask(notebook, "print(len(wb.run.compactions))")
    assert int(after) > int(before)
    expect(notebook.get_by_test_id("replay-status")).to_contain_text(f"{after} compaction")
    screenshot(notebook, "replay-turns", REPLAY)


def test_a_replay_is_put_away_and_taken_up_again(notebook: Page) -> None:
    replay(notebook)
    notebook.get_by_role("button", name="put away").click()
    settle(notebook)
    expect(notebook.get_by_test_id("sawtooth")).to_be_hidden()
    assert ask(notebook, "print(wb.replay)") == "False"
    replay(notebook)
    assert ask(notebook, "print(wb.replay)") == "True"


def test_a_narrow_cell_holds_the_replay(notebook: Page) -> None:
    replay(notebook)
    notebook.set_viewport_size({"width": 700, "height": 1000})
    notebook.wait_for_timeout(500)
    notebook.get_by_test_id("sawtooth").scroll_into_view_if_needed()
    wide = notebook.evaluate(
        "() => { const w = document.querySelector('.ci'); return [w.scrollWidth, w.clientWidth] }"
    )
    assert wide[0] <= wide[1] + 1, "nothing is cut off at the right"
    screenshot(notebook, "replay-narrow", REPLAY)
