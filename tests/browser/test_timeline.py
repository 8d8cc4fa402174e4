"""The pill, the lanes, what they become: their heights, their numbers, and that all of it moves together."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from inspector import Edits
from inspector.workbench.payloads.columns import unpack
from tests.browser.bare import wait_for_python
from tests.browser.conftest import OpenWorkbench
from tests.browser.hand import fill_page, grasp_pill
from tests.browser.product import Workbench
from tests.browser.test_lanes import write_session

SIZE = (1400, 900)
PER_FRAME = """() => {
  const read = () => ["cut-handle", "gauge-after", "sentence"].map(
    id => document.querySelector(`[data-testid="${id}"]`).textContent
  ).concat(document.querySelector("[data-testid=becomes]").ariaLabel, [readContext()]);
  const readContext = () => {
    const tab = document.querySelector("[data-testid=context]");
    const place = document.querySelector("[data-testid=cut-handle]").ariaValueNow;
    return [tab.querySelector("[data-testid=context-total]").textContent, Number(place)];
  };
  window.frames_ = [];
  const look = () => { window.frames_.push(read()); window.looking = requestAnimationFrame(look); };
  look();
}"""
PIXELS = """() => {
  const canvas = document.querySelector("[data-testid=bars]");
  const { width, height } = canvas;
  const data = canvas.getContext("2d").getImageData(0, 0, width, height).data;
  const isDrawn = (x, y) => (data[4 * (y * width + x) + 3] > 0 ? "1" : "0");
  return Array.from({ length: height }, (_, y) =>
    Array.from({ length: width }, (_, x) => isDrawn(x, y)).join(""));
}"""
LANES = """() => [...document.querySelectorAll("[data-lane]")].map(name => [name.dataset.lane, name.title])"""
LOW, TALL = 14, 45  # pixels of a full bar


def short(tokens: int) -> str:
    """As the screen writes a number under a million."""
    return str(tokens) if tokens < 1000 else f"{tokens / 1000:.1f}".removesuffix(".0") + "k"


def read_lanes(page: Page) -> dict[str, tuple[int, int]]:
    """Exact tokens before and after of each lane, as its name says."""
    told = {}
    for lane, title in page.evaluate(LANES):
        before, after = re.findall(r"([\d,]+) tokens before, ([\d,]+) after", title)[0]
        told[lane] = int(before.replace(",", "")), int(after.replace(",", ""))
    return told


def test_W2_7_the_pill_has_a_grip_and_all_moves_with_it_in_the_same_frame(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    fill_page(page, *SIZE)
    workbench = open_workbench(tab="context")
    expect(page.get_by_test_id("fold-run").first).to_be_visible()
    pill = page.locator(".ci-pill")
    assert pill.evaluate("node => getComputedStyle(node).cursor") == "ew-resize"
    assert pill.locator(".ci-dotted").evaluate("node => getComputedStyle(node).backgroundImage") != "none"
    assert page.get_by_role("slider", name="Cut").count() == 1
    x, y, _ = grasp_pill(page)
    page.evaluate(PER_FRAME)
    page.mouse.move(x - 500, y, steps=25)
    frames = page.evaluate("() => { cancelAnimationFrame(window.looking); return window.frames_ }")
    page.mouse.up()
    table = workbench.plan.cut_table
    seen = set()
    places = set()
    for words, total, sentence, strip, (in_context, place) in frames:
        # The total of the request on the right.
        if place not in places:
            moved = workbench.plan.with_edits(Edits(cut=workbench.plan.cuts.ids[place]))
            assert in_context == f"{moved.after:,}"
            places.add(place)
        after = words.split("·")[1].removesuffix("after").strip()
        assert total.split()[0] == after
        blocks, tokens = re.findall(r"one summary(?: in 2 calls)?: ([\d,]+ blocks), (\S+) →", strip)[0]
        assert f"{blocks}, {tokens} tokens" in sentence
        seen.add((after, strip))
    assert len(seen) > 5 < len(places)
    assert {after for after, _ in seen} <= {short(int(total)) for total in table.total}
    # The last place is told by Python in the end, and nothing moves any more.
    wait_for_python(page)
    last = page.get_by_test_id("cut-handle").inner_text()
    assert short(workbench.plan.after) in last


@pytest.mark.parametrize("own", [False, True], ids=["bundled", "generated"])
def test_W2_11_lanes_and_what_is_not_in_the_file_are_all_of_it(
    page: Page, open_workbench: OpenWorkbench, tmp_path: Path, own: bool
) -> None:
    fill_page(page, *SIZE)
    given = (write_session(tmp_path / "lanes.jsonl"), "flue") if own else ()
    workbench = open_workbench(*given)
    legal = [place for place in range(len(workbench.plan.cuts)) if workbench.plan.cuts.legal[place]]
    for place in (legal[0], legal[len(legal) // 2], legal[-1]):
        workbench.cut = workbench.plan.cuts[place].entry
        wait_for_python(page)
        plan, lanes = workbench.plan, read_lanes(page)
        parts = {name: part.tokens for name, part in plan.outside.parts.items()}
        left = dict(plan.parts_after)
        for lane in lanes.keys() & parts.keys():
            del parts[lane], left[lane]
        assert sum(before for before, _ in lanes.values()) + sum(parts.values()) == plan.before
        # A summary where there was none has its words in the strip.
        new = 0 if "compacted" in lanes else plan.summary_tokens
        assert sum(after for _, after in lanes.values()) + new + sum(left.values()) == plan.after
        strip = page.get_by_test_id("becomes").get_attribute("aria-label") or ""
        assert f"→ {short(plan.summary_tokens)}" in strip


def draw_of(page: Page, workbench: Workbench) -> tuple[list[str], dict[str, Any], dict[str, Any]]:
    scene = workbench.get_state("_scene")["_scene"]
    return page.evaluate(PIXELS), scene, unpack(scene["columns"], workbench._scene_data)


def height_at(rows: list[str], floor: int, top: int, x: int) -> tuple[int, bool]:
    """Of the bar at a column: its height in pixels, and whether it has a notch."""
    column = "".join(rows[y][x] for y in range(floor - 1, top - 1, -1))
    return len(column.rstrip("0")), "0" in column.strip("0")


def test_W2_13_bars_are_in_proportion_and_longer_ones_are_notched(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    fill_page(page, *SIZE)
    workbench = open_workbench(cut="end")
    rows, scene, columns = draw_of(page, workbench)
    steps = int(columns["entry_step"][-1]) + 1
    step_of = columns["entry_step"][columns["block_entry"]]
    wide = len(rows[0]) / steps
    scales = {"tool_output": 8_000, "low": 200}
    text = page.locator("[data-lane=tool_output] small").inner_text()
    assert text == f"to {short(scales['tool_output'])}; others to {scales['low']}"
    floor, clipped = 0, 0
    for lane in scene["lanes"]:
        tall = lane["id"] == "tool_output"
        top, floor = floor, floor + (48 if tall else 16)
        full, room = (scales["tool_output"], TALL) if tall else (scales["low"], LOW)
        for step in range(steps):
            mine = (step_of == step) & (columns["block_section"] == lane["sections"][0])
            tokens = int(columns["block_tokens"][mine].sum())
            # The floor is a line of its own; a bar stands on it.
            height, notched = height_at(rows, floor - 1, top, round(step * wide) + 4)
            assert abs(height - min(1, tokens / full) * room) <= 1, (lane["id"], step, tokens, height)
            assert notched == (tokens > full), (lane["id"], step, tokens)
            clipped += notched
    assert clipped > 2
