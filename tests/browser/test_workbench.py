"""The hand on the cut and on the rules, and Python under it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.bare import WidgetServer, wait_for_python
from tests.browser.conftest import OpenWorkbench
from tests.browser.hand import drag_handle, shown_place
from tests.browser.product import Workbench
from tests.browser.screen import Watch, screenshot, wait_until_still


def test_dragging_the_handle_moves_the_cut_in_python_too(page: Page, workbench: Workbench) -> None:
    first = workbench.plan.place
    before = page.get_by_test_id("gauge-after").inner_text()
    page.get_by_test_id("cut-handle").scroll_into_view_if_needed()
    drag_handle(page, 0.4)
    wait_for_python(page)
    assert workbench.plan.place != first
    assert workbench.cut != ""
    assert shown_place(page) == workbench.plan.place
    assert page.get_by_test_id("gauge-after").inner_text() != before
    expect(page.get_by_test_id("recipe")).to_contain_text(f"cut='{workbench.cut}'")
    legal = workbench.plan.cuts.legal
    grip = page.get_by_test_id("cut-handle").bounding_box()
    assert grip is not None
    page.mouse.move(grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2)
    page.mouse.down()
    seen = set()
    for x in range(60):
        page.mouse.move(grip["x"] + grip["width"] / 2 + x, grip["y"] + grip["height"] / 2)
        page.evaluate("() => new Promise(requestAnimationFrame)")
        seen.add(shown_place(page))
    page.mouse.up()
    wait_for_python(page)
    assert len(seen) > 5
    assert not all(legal[min(seen) : max(seen)]), "the hand went over places where no cut may be"
    assert all(legal[place] for place in seen), "the handle snaps to legal cuts"
    assert shown_place(page) == workbench.plan.place


def test_the_keyboard_moves_the_cut_from_legal_place_to_legal_place(page: Page, workbench: Workbench) -> None:
    handle = page.get_by_test_id("cut-handle")
    handle.focus()
    for key in ("ArrowLeft", "ArrowLeft", "ArrowRight", "PageUp", "Home", "ArrowRight", "End", "ArrowLeft"):
        handle.press(key)
        wait_for_python(page)
        assert shown_place(page) == workbench.plan.place
        assert "valid" in (handle.get_attribute("aria-valuetext") or "")
    assert workbench.plan.cuts.legal[workbench.plan.place]


def test_a_block_can_be_pinned(page: Page, workbench: Workbench) -> None:
    page.get_by_test_id("fates").locator("[data-fold]").first.click()
    page.get_by_test_id("fate-row").nth(1).click()
    page.get_by_test_id("block").get_by_role("button", name="Pin", exact=True).click()
    wait_for_python(page)
    (pin,) = workbench.pins
    assert pin in [str(ref) for piece in workbench.context.pieces[1:] for ref in piece.origin]
    expect(page.get_by_test_id("recipe")).to_contain_text("pins=")


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A session that is full of what a careless page would run, follow or choke on."""
    bad = (
        "<script>window.__hit = 1</script><img src=x onerror='window.__hit = 1'>"
        "[a](javascript:window.__hit=1) \x1b[31m \u202e \ud800 http://example.com/x.png"
    )
    use = {"type": "tool_use", "id": "t1", "name": bad, "input": {"path": bad}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": bad * 20}
    rows = [
        {"role": "user", "content": bad},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": bad, "signature": "s"}, use]},
        {"role": "user", "content": [result]},
        {"role": "assistant", "content": bad},
        {"role": "user", "content": bad},
        {"role": "assistant", "content": "x" * 10_000_000},
    ]
    path = tmp_path / "bad.json"
    path.write_text(json.dumps({"model": bad, "system": bad, "messages": rows}))
    return path


def test_a_hostile_transcript_is_shown_as_text(
    page: Page, open_workbench: OpenWorkbench, hostile: Path, watch: Watch, widgets: WidgetServer
) -> None:
    open_workbench(hostile, "keep-recent-turns", settings={"keep-recent-turns.turns": 1})
    # Folds and texts, by the keyboard: what is opened may push the rows after it out of the list's window.
    grid = page.get_by_test_id("fates").get_by_role("treegrid")
    grid.focus()
    grid.press("Home")
    back = page.get_by_role("button", name="‹ Blocks")
    for _ in range(6):
        grid.press("Enter")
        wait_until_still(page)
        if back.is_visible():  # the story stands in the list's place
            expect(page.locator(".ci script, .ci img, .ci a[href]")).to_have_count(0)
            back.press("Enter")
        grid.press("ArrowDown")
    expect(page.locator(".ci")).to_contain_text("<script>window.__hit = 1</script>")
    assert page.evaluate("() => window.__hit") is None
    assert page.locator(".ci script, .ci img, .ci a[href]").count() == 0
    assert watch.strangers(widgets) == []
    screenshot(page, "workbench-hostile", ".ci")
