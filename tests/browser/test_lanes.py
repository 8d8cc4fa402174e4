"""The upper half of the workbench: outline, brush, zoom, arcs, sidechains, two plans."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.bare import wait_for_python
from tests.browser.conftest import OpenWorkbench
from tests.browser.hand import fill_page, focus_workbench
from tests.browser.product import Workbench
from tests.browser.screen import wait_until_still
from tests.claude_rows import Claude, dump

TURNS = 12
ALL = re.compile("^all ")


def write_session(path: Path, compactions: int = 1) -> Path:
    """A Claude Code session: turns of three calls, a sub-agent in every fourth, compactions between."""
    rows = Claude()

    def say(kind: str, content: object, **more: object) -> None:
        number = len(rows.rows)
        message: dict[str, Any] = {"role": kind, "content": content}
        if kind == "assistant":
            usage = {"input_tokens": 900 * (number % 90), "output_tokens": 40}
            message |= {"id": f"msg_{number}", "model": "claude-opus-4-6", "usage": usage}
        rows.add(kind, message=message, **more)

    for stretch in range(compactions + 1):
        if stretch:
            rows.compact("The conversation so far was summarised.")
        for turn in range(TURNS if compactions < 5 else 2):
            rows.say(f"Please do part {turn} of stretch {stretch}. " * (turn + 2))
            for step in range(3):
                task = f"look into part {turn} of stretch {stretch}"
                delegates = turn % 4 == 1 and step == 1
                given = {"prompt": task} if delegates else {"command": f"make part{turn}"}
                use = {"type": "tool_use", "id": f"toolu_{len(rows.rows)}", "input": given}
                say("assistant", [use | {"name": "Task" if delegates else "Bash"}])
                if delegates:
                    agent = f"agent{len(rows.rows)}"
                    say("user", task, isSidechain=True, agentId=agent)
                    say("assistant", "word " * 400, isSidechain=True, agentId=agent)
                output = "line\n" * 90 * (step + 1)
                say("user", [{"type": "tool_result", "tool_use_id": use["id"], "content": output}])
            say("assistant", f"Part {turn} is done. " * 6)
    path.write_bytes(dump(rows.rows))
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


def test_many_compactions_are_gone_through_one_by_one(
    page: Page, open_workbench: OpenWorkbench, tmp_path: Path
) -> None:
    path = write_session(tmp_path / "many.jsonl", compactions=60)
    workbench = open_workbench(path, "keep-recent-turns", look="recorded:3")
    marks = page.get_by_test_id("compactions")
    expect(marks.get_by_role("button")).to_have_text(["◆3 of 60", "‹", "›"])
    marks.get_by_role("button", name="the next compaction").click()
    wait_for_python(page)
    expect(marks.get_by_role("button").first).to_have_text("◆4 of 60")
    assert workbench.look == "recorded:4"


def test_presentation_mode_enlarges_the_lanes_and_their_names(page: Page, workbench: Workbench) -> None:
    fill_page(page, 1400, 1000)
    plot, name = page.locator(".ci-plot"), page.locator(".ci-lane > .ci-label").first
    sizes = "node => [node.clientHeight, parseFloat(getComputedStyle(node).fontSize)]"
    wait_until_still(page)
    (height, _), (_, type_size) = plot.evaluate(sizes), name.evaluate(sizes)
    focus_workbench(page)
    page.keyboard.press("P")
    # A name may be drawn anew while the view is enlarged.
    larger = """([height, size]) => document.querySelector(".ci-plot").clientHeight >= height &&
      parseFloat(getComputedStyle(document.querySelector(".ci-lane > .ci-label")).fontSize) >= size"""
    page.wait_for_function(larger, arg=[1.15 * height, 1.2 * type_size])
    wait_until_still(page)
    overlap = """nodes => nodes.some((node, i) => i > 0 &&
      node.getBoundingClientRect().top < nodes[i - 1].getBoundingClientRect().bottom - 1)"""
    assert not page.locator(".ci-lane > .ci-label").evaluate_all(overlap)
