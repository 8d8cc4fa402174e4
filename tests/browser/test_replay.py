"""The session replayed: the sawtooth, its events, and Python under them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.bare import WidgetServer, set_theme, wait_for_python
from tests.browser.hand import fill_page, open_tab
from tests.browser.product import Workbench, export_html, open_demo, replay_session
from tests.browser.screen import Watch, screenshot, wait_until_still

REPLAY = ".ci-replay"
TALL, NARROW = {"width": 1280, "height": 1000}, {"width": 700, "height": 1000}


@pytest.fixture(autouse=True)
def tall(page: Page) -> None:
    page.set_viewport_size(TALL)


def replay(page: Page) -> None:
    """Ask for the replay on its tab, and wait for its picture."""
    open_tab(page, "replay")
    page.get_by_test_id("replay-ask").click()
    page.get_by_test_id("sawtooth").wait_for()
    page.get_by_test_id("sawtooth").scroll_into_view_if_needed()
    settle(page)


def settle(page: Page) -> None:
    wait_for_python(page)
    page.wait_for_function("() => !document.querySelector('.ci-replay').hasAttribute('aria-busy')")


def test_the_replay_is_asked_for_and_drawn(
    page: Page, workbench: Workbench, watch: Watch, widgets: WidgetServer
) -> None:
    assert not workbench.replay
    assert workbench.run is None
    replay(page)
    assert workbench.replay
    assert workbench.run.policy.name == "flue"
    assert len(workbench.run) == 151
    expect(page.get_by_test_id("replay-status")).to_contain_text("151 steps replayed")
    expect(page.get_by_test_id("sawtooth")).to_have_attribute("aria-valuemax", "151")
    ink = page.get_by_test_id("sawtooth").evaluate(
        """node => { const c = node.querySelector('canvas');
        const pixels = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        let seen = 0; for (let i = 3; i < pixels.length; i += 4) seen += pixels[i] > 200; return seen }"""
    )
    assert ink > 10_000, "area, lines, names and the band of states are drawn"
    for dark in (False, True):
        set_theme(page, dark)
        page.get_by_test_id("replay").scroll_into_view_if_needed()
        wait_until_still(page)
        screenshot(page, f"replay-{'dark' if dark else 'light'}", REPLAY)
    assert watch.strangers(widgets) == []


def read_above(page: Page) -> str:
    return page.get_by_test_id("replay-above").inner_text()


def read_step(page: Page, step: int) -> tuple[int, int]:
    """What the readout says of a step, gone to by keys from the nearer end: recorded, replayed."""
    chart = page.get_by_test_id("sawtooth")
    last = int(chart.get_attribute("aria-valuemax") or 0) - 1
    end, key, times = ("Home", "ArrowRight", step) if 2 * step < last else ("End", "ArrowLeft", last - step)
    chart.press(end)
    for _ in range(times):
        page.keyboard.press(key)
    expect(chart).to_have_attribute("aria-valuenow", str(step + 1))
    words = page.get_by_test_id("replay-readout").inner_text().replace(",", "").split(" · ")
    recorded, replayed = (
        next(word for word in words if word.startswith(name)) for name in ("recorded", "replayed")
    )
    return int(recorded.split()[1]), int(replayed.split()[1])


def test_the_provider_refuses_by_default_and_that_it_accepts_is_asked_for(
    page: Page, workbench: Workbench
) -> None:
    session = workbench.session
    refuses = replay_session(session, "flue", {"provider": "refuses"})
    accepts = replay_session(session, "flue", {"provider": "accepts"})
    step = int((refuses.context != accepts.context).nonzero()[0][-1])
    replay(page)
    page.get_by_test_id("what-if").click()
    switch = page.get_by_test_id("scenario-provider")
    expect(switch).to_have_value("refused")
    assert [event.kind for event in refuses.events].count("token_overflow") == 1
    assert read_above(page) == "1 request was larger than the window of 200,000 and was refused."
    expect(page.get_by_role("option", name="token overflow")).to_have_count(1)
    assert read_step(page, step) == (int(refuses.recorded[step]), int(refuses.context[step]))

    switch.focus()
    page.keyboard.press("ArrowDown")
    settle(page)
    expect(switch).to_have_value("accepted")
    # The request whose reply ran over is sent once more, after a compaction.
    above = int((accepts.sent > accepts.window).sum()) + [e.kind for e in accepts.events].count("overran")
    assert above > 1
    assert read_above(page) == f"{above} requests were larger than the window of 200,000 and were accepted."
    expect(page.get_by_role("option", name="token overflow")).to_have_count(0)
    assert read_step(page, step) == (int(accepts.recorded[step]), int(accepts.context[step]))
    assert workbench.provider == "accepts"

    page.get_by_role("button", name="Remove Above the window").click()
    settle(page)
    expect(switch).to_have_value("refused")
    assert read_step(page, step) == (int(refuses.recorded[step]), int(refuses.context[step]))


def test_W2_25_an_exported_page_shows_its_replay_and_hides_what_cannot_work(
    show: Callable[..., tuple[Page, list[str]]], tmp_path: Path, exported_page: Path
) -> None:
    session = open_demo()
    export_html(Workbench(session, "flue", replay=True), tmp_path / "page.html")
    page, told = show(tmp_path / "page.html")
    run = replay_session(session, "flue", {"provider": "refuses"})
    open_tab(page, "replay")
    panel = page.get_by_test_id("replay")
    expect(panel).to_contain_text("1 request was larger than the window of 200,000 and was refused.")
    for step in (0, 60, 140):
        assert read_step(page, step) == (int(run.recorded[step]), int(run.context[step]))
    expect(page.get_by_test_id("events").get_by_role("option")).to_have_count(len(run.events))
    page.get_by_test_id("event-previous").click()
    expect(page.get_by_test_id("moment")).not_to_be_empty()
    names = [button.inner_text() for button in panel.get_by_role("button").all()]
    assert [name for name in names if name not in ("previous", "next") and not name.startswith("turn ")] == []

    bare, complained = show(exported_page)
    bare.get_by_test_id("tab-rules").wait_for()
    expect(bare.get_by_test_id("tab-replay")).to_be_hidden()
    assert told + complained == []


def test_W2_29_the_wheel_over_the_replays_lists_scrolls_the_page_until_they_have_the_focus(
    page: Page, workbench: Workbench
) -> None:
    fill_page(page, 1400, 900)
    replay(page)
    page.add_style_tag(content="body { padding-bottom: 2000px !important }")
    listed = page.get_by_test_id("events")
    lists = (listed, page.get_by_test_id("moment"), page.get_by_test_id("replay-notes"))
    for one in lists:
        one.scroll_into_view_if_needed()
        page.evaluate("() => document.activeElement?.blur()")
        box, before = one.bounding_box(), page.evaluate("() => window.scrollY")
        assert box is not None
        page.mouse.move(box["x"] + 40, box["y"] + 20)
        page.mouse.wheel(0, 100)
        wait_until_still(page)
        assert page.evaluate("() => window.scrollY") == before + 100
    listed.focus()
    listed.press("Home")
    box, before = listed.bounding_box(), page.evaluate("() => window.scrollY")
    assert box is not None
    page.mouse.move(box["x"] + 40, box["y"] + 20)
    page.mouse.wheel(0, 48)
    wait_until_still(page)
    assert (listed.evaluate("node => node.scrollTop") > 0, page.evaluate("() => window.scrollY")) == (
        True,
        before,
    )
