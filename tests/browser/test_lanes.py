"""The upper half of the workbench: outline, brush, zoom, arcs, sidechains, two plans."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.bare import WidgetServer, set_theme, wait_for_python
from tests.browser.conftest import OpenWorkbench
from tests.browser.hand import fill_page, grasp_pill, shown_place
from tests.browser.product import Workbench
from tests.browser.screen import Watch, screenshot, wait_for_frame, wait_until, wait_until_still

TURNS = 12
ALL = re.compile("^all ")


def write_session(path: Path, compactions: int = 1) -> Path:
    """A Claude Code session: turns of three calls, a sub-agent in every fourth, compactions between."""
    rows: list[dict[str, Any]] = []
    last: str | None = None

    def add(kind: str, content: object, **more: object) -> str:
        nonlocal last
        uuid = f"{len(rows):08d}-0000-4000-8000-000000000000"
        message: dict[str, Any] = {"role": kind, "content": content}
        if kind == "assistant":
            message |= {"id": f"msg_{len(rows)}", "model": "claude-opus-4-6", "type": "message"}
            message["usage"] = {"input_tokens": 900 * (len(rows) % 90), "output_tokens": 40}
        side = {"isSidechain": bool(more.get("isSidechain"))}
        base = {"type": kind, "uuid": uuid, "parentUuid": last, "sessionId": "s", "version": "2.1.0", **side}
        rows.append({**base, "message": message, **more})
        if not more.get("isSidechain"):
            last = uuid
        return uuid

    for stretch in range(compactions + 1):
        if stretch:
            boundary = f"{len(rows):08d}-0000-4000-8000-000000000000"
            told = {"trigger": "auto", "preTokens": 150_000 + stretch}
            rows.append(
                {"type": "system", "subtype": "compact_boundary", "uuid": boundary, "parentUuid": None}
                | {"sessionId": "s", "compactMetadata": told, "isSidechain": False}
            )
            last = boundary
            add("user", "The conversation so far was summarised.", isCompactSummary=True)
        for turn in range(TURNS if compactions < 5 else 2):
            add("user", f"Please do part {turn} of stretch {stretch}. " * (turn + 2))
            for step in range(3):
                task = f"look into part {turn} of stretch {stretch}"
                delegates = turn % 4 == 1 and step == 1
                given = {"prompt": task} if delegates else {"command": f"make part{turn}"}
                use = {"type": "tool_use", "id": f"toolu_{len(rows)}", "input": given}
                add("assistant", [use | {"name": "Task" if delegates else "Bash"}])
                if delegates:
                    add("user", task, isSidechain=True, agentId=f"agent{len(rows)}")
                    add("assistant", "word " * 400, isSidechain=True, agentId=rows[-1]["agentId"])
                result = {
                    "type": "tool_result",
                    "tool_use_id": use["id"],
                    "content": "line\n" * 90 * (step + 1),
                }
                add("user", [result])
            add("assistant", f"Part {turn} is done. " * 6)
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


@pytest.fixture
def workbench(open_workbench: OpenWorkbench, page: Page, tmp_path: Path) -> Workbench:
    """A session of two stretches, with sub-agents."""
    fill_page(page, 1280, 900)
    return open_workbench(write_session(tmp_path / "lanes.jsonl"), "keep-recent-turns")


def said(brush: Locator) -> str:
    return brush.get_attribute("aria-valuetext") or ""


def spread(page: Page) -> dict[str, float]:
    box = page.get_by_test_id("brush").bounding_box()
    assert box is not None
    return {"left": box["x"], "right": box["x"] + box["width"], "y": box["y"] + box["height"] / 2}


def drag(page: Page, start: float, end: float, y: float) -> None:
    page.mouse.move(start, y)
    page.mouse.down()
    page.mouse.move(end, y, steps=8)
    page.mouse.up()
    wait_until_still(page)


def test_the_brush_is_drawn_moved_resized_and_forgotten_by_mouse(page: Page, workbench: Workbench) -> None:
    brush = page.get_by_test_id("brush")
    expect(brush).to_have_attribute("aria-valuetext", ALL)
    whole = spread(page)
    third = (whole["right"] - whole["left"]) / 3
    drag(page, whole["left"] + third, whole["left"] + 2 * third, whole["y"])
    drawn = spread(page)
    assert said(brush).startswith("steps ")
    assert abs(drawn["left"] - whole["left"] - third) < 20
    drag(page, drawn["left"] + third / 2, drawn["left"], whole["y"])
    moved = spread(page)
    assert moved["left"] < drawn["left"] - third / 3
    assert abs((moved["right"] - moved["left"]) - (drawn["right"] - drawn["left"])) < 2
    drag(page, moved["right"], moved["right"] + third / 2, whole["y"])
    wider = spread(page)
    assert abs(wider["left"] - moved["left"]) < 2
    assert wider["right"] > moved["right"] + third / 4
    page.mouse.dblclick(wider["left"] + third / 2, whole["y"])
    expect(brush).to_have_attribute("aria-valuetext", ALL)


def test_the_brush_follows_the_keyboard(page: Page, workbench: Workbench) -> None:
    brush = page.get_by_test_id("brush")
    brush.focus()
    brush.press("+")
    brush.press("Home")
    wait_until_still(page)
    first = said(brush)
    assert first.startswith("steps 1–")
    assert brush.get_attribute("aria-valuenow") == "1"
    brush.press("ArrowRight")
    wait_until_still(page)
    assert said(brush) != first
    brush.press("Shift+ArrowLeft")
    brush.press("End")
    wait_until_still(page)
    assert int(brush.get_attribute("aria-valuenow") or 0) > 1
    brush.press("Escape")
    wait_until_still(page)
    expect(brush).to_have_attribute("aria-valuetext", ALL)


def test_zooming_goes_from_turns_to_steps_to_single_blocks_and_back(page: Page, workbench: Workbench) -> None:
    zoom = page.get_by_role("group", name="Zoom")
    expect(zoom).to_have_attribute("data-level", "step")
    lanes = page.get_by_role("grid", name="Tokens per section and step")
    lanes.focus()
    for _ in range(3):
        lanes.press("+")
        wait_until_still(page)
    expect(zoom).to_have_attribute("data-level", "block")
    lanes.press("0")
    expect(zoom).to_have_attribute("data-level", "step")
    lanes.scroll_into_view_if_needed()
    box = lanes.bounding_box()
    assert box is not None
    x = box["x"] + 0.7 * box["width"]
    page.mouse.move(x, box["y"] + 40)
    page.keyboard.down("Control")
    for _ in range(4):
        page.mouse.wheel(0, -120)
    page.wait_for_function(
        "() => document.querySelector('[data-testid=brush]').ariaValueText.startsWith('steps')"
    )
    page.keyboard.up("Control")
    first, end = (int(part) for part in said(page.get_by_test_id("brush")).split()[1].split("–"))
    assert 1 < first < end, "what stood under the pointer is still in sight"
    page.get_by_role("button", name="Show all steps").click()
    expect(page.get_by_test_id("brush")).to_have_attribute("aria-valuetext", ALL)


def test_a_cut_out_of_sight_is_told_at_its_edge_and_the_range_follows_the_keys(
    page: Page, workbench: Workbench
) -> None:
    brush, handle = page.get_by_test_id("brush"), page.get_by_test_id("cut-handle")
    brush.focus()
    for key in ("+", "+", "Home"):
        brush.press(key)
    wait_until_still(page)
    pill = page.locator(".ci-off .ci-pill")
    expect(pill).to_contain_text("after")
    box, axis = pill.bounding_box(), page.locator(".ci-strip").bounding_box()
    assert box is not None and axis is not None
    gap = box["x"] + box["width"] - axis["x"] - axis["width"]
    assert abs(gap) < 2, "it stands at the edge behind which the cut is"
    screenshot(page, "lanes-cut-outside", ".ci")
    before = said(brush)
    handle.focus()
    handle.press("ArrowLeft")
    wait_for_python(page)
    assert said(brush) != before
    expect(page.locator(".ci-off")).to_have_count(0)
    handle.press("Home")
    wait_for_python(page)
    expect(page.locator(".ci-off")).to_have_count(0)
    assert shown_place(page) == workbench.plan.place


def test_dragging_to_the_edge_of_a_zoomed_range_moves_it_on(page: Page, workbench: Workbench) -> None:
    brush = page.get_by_test_id("brush")
    page.get_by_role("button", name="Zoom in").click()
    wait_until_still(page)
    before = said(brush)
    axis = page.locator(".ci-strip").bounding_box()
    assert axis is not None
    _, y, _ = grasp_pill(page)
    page.mouse.move(axis["x"] + 4, y, steps=6)
    # The range moves frame by frame while the mouse button is down at the edge.
    wait_until(lambda: int(brush.get_attribute("aria-valuenow") or 99) < 5, page)
    page.mouse.up()
    wait_for_python(page)
    assert said(brush) != before
    assert int(brush.get_attribute("aria-valuenow") or 99) < 5
    assert workbench.plan.cuts.legal[workbench.plan.place]


def test_where_a_cut_would_tear_a_pair_an_arc_joins_its_halves(page: Page, workbench: Workbench) -> None:
    marks = page.get_by_test_id("marks")
    expect(marks).to_have_attribute("data-pairs", "0")
    box = page.locator(".ci-strip").bounding_box()
    assert box is not None
    for x in range(0, 120, 2):
        page.mouse.move(box["x"] + x, box["y"] + 4)
        wait_for_frame(page)
        if marks.get_attribute("data-pairs") != "0":
            break
    expect(marks).to_have_attribute("data-pairs", "1")
    expect(page.get_by_test_id("cut-refusal")).to_contain_text("without the call")
    expect(page.get_by_test_id("cut-refusal")).to_contain_text("Nearest:")
    expect(page.locator(".ci-refused .ci-pill")).to_be_visible()
    screenshot(page, "lanes-arc", ".ci")
    page.mouse.move(5, 5)
    expect(marks).to_have_attribute("data-pairs", "0")
    expect(page.get_by_test_id("cut-refusal")).to_be_hidden()
    page.get_by_role("grid", name="Tokens per section and step").focus()
    for key in ("Home", "ArrowRight", "ArrowRight", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown"):
        page.keyboard.press(key)
    expect(page.get_by_test_id("block")).to_contain_text("tool output")
    expect(marks).to_have_attribute("data-pairs", "1")


def test_sub_agents_have_lanes_that_say_they_are_not_in_this_context(
    page: Page, workbench: Workbench
) -> None:
    sides = page.get_by_test_id("sidelanes")
    expect(sides.get_by_role("listitem")).to_contain_text(["3 sub-agents"])
    page.get_by_role("button", name="Open 3 sub-agents").click()
    expect(sides.get_by_role("listitem")).to_have_count(3)
    told = workbench.get_state("_scene")["_scene"]["sides"]
    assert len(told) == 3
    assert all(side["call"] >= 0 for side in told), "each is known by the call that started it"
    expect(sides.get_by_role("listitem").first).to_contain_text(told[0]["task"])
    box = sides.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 400, box["y"] + 7)
    expect(page.locator(".ci-hint")).to_contain_text("not in this context")
    page.mouse.move(box["x"] + 401, 2)


def test_plan_b_has_its_own_cut_as_a_dashed_line(page: Page, workbench: Workbench) -> None:
    line = page.locator(".ci-cutb")
    expect(line).to_be_hidden()
    workbench.versus = {"policy": "keep-recent-turns", "settings": {"keep-recent-turns.turns": 6}}
    expect(line).to_be_visible()
    expect(line).to_contain_text("B · ")
    screenshot(page, "lanes-two-plans", ".ci")


def test_a_press_on_another_stretch_plans_at_its_end(
    page: Page, workbench: Workbench, watch: Watch, widgets: WidgetServer
) -> None:
    first, last = [segment["at"] for segment in workbench.get_state("_scene")["_scene"]["segments"]]
    stage = page.get_by_test_id("overview").locator(".ci-stage")
    box = stage.bounding_box()
    assert box is not None
    for at, x in ((last, box["width"] - 20), (first, 20)):
        stage.click(position={"x": x, "y": box["height"] - 8})
        wait_for_python(page)
        assert workbench.at == at
    set_theme(page, dark=True)
    screenshot(page, "lanes-dark", ".ci")
    assert watch.strangers(widgets) == []


def test_many_compactions_are_gone_through_one_by_one(
    page: Page, open_workbench: OpenWorkbench, tmp_path: Path
) -> None:
    path = write_session(tmp_path / "many.jsonl", compactions=60)
    workbench = open_workbench(path, "keep-recent-turns", look="recorded:3")
    marks = page.get_by_test_id("compactions")
    expect(marks.get_by_role("button")).to_have_text(["◆ 3 of 60", "‹", "›"])
    marks.get_by_role("button", name="the next compaction").click()
    wait_for_python(page)
    expect(marks.get_by_role("button").first).to_have_text("◆ 4 of 60")
    assert workbench.look == "recorded:4"


def test_what_is_found_stands_as_ticks_over_the_lanes(page: Page, workbench: Workbench) -> None:
    marks = page.get_by_test_id("marks")
    expect(marks).to_have_attribute("data-hits", "0")
    search = page.get_by_test_id("search")
    search.fill("part 3 of stretch 1")
    search.press("Enter")
    expect(marks).not_to_have_attribute("data-hits", "0")
    screenshot(page, "lanes-found", ".ci")
