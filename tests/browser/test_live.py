"""A followed file that is compacted: a banner says so, and nothing else moves until it is asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.bare import wait_for_python
from tests.browser.conftest import OpenWorkbench
from tests.browser.hand import fill_page, open_tab
from tests.browser.product import Workbench
from tests.browser.screen import find_violations, screenshot, wait_until_still
from tests.browser.test_lanes import write_session

CURRENT = "[data-testid=compaction][aria-current=true]"


def split(path: Path, compactions: int) -> tuple[bytes, bytes]:
    """Return the lines of a session before its last compaction, and the rest."""
    lines = path.read_bytes().splitlines(keepends=True)
    marks = [i for i, line in enumerate(lines) if json.loads(line).get("subtype") == "compact_boundary"]
    assert len(marks) == compactions
    return b"\n".join(line.rstrip(b"\n") for line in lines[: marks[-1]]) + b"\n", b"".join(lines[marks[-1] :])


@pytest.fixture
def growing(tmp_path: Path) -> tuple[Path, bytes]:
    """A file with one compaction, and the bytes that bring a second one."""
    path = write_session(tmp_path / "growing.jsonl", compactions=2)
    first, rest = split(path, 2)
    path.write_bytes(first)
    return path, rest


def append(path: Path, rest: bytes) -> None:
    with path.open("ab") as file:
        file.write(rest + b"\n")


def sights(page: Page) -> dict[str, str | None]:
    """What must not move: the chosen row, the sentence, the recipe, the undo buttons, what is in sight."""
    return {
        "row": page.locator(CURRENT).get_attribute("data-look"),
        "sentence": page.get_by_test_id("sentence").inner_text(),
        "recipe": page.get_by_test_id("recipe").inner_text(),
        "undo": str(page.get_by_role("button", name="Undo").first.is_enabled()),
        "tab": page.locator("[role=tab][aria-selected=true]").get_attribute("data-testid"),
        "gauge": page.locator(".ci-gauge").inner_text(),
        "dock": str(page.locator(".ci-dock").bounding_box()),
        "lanes": page.get_by_test_id("lanes").inner_text(),
    }


def test_a_new_compaction_is_told_and_shown_by_one_gesture(
    page: Page, open_workbench: OpenWorkbench, growing: tuple[Path, bytes]
) -> None:
    path, rest = growing
    fill_page(page, 1400, 900)
    # Fitted to the provider, every report changes all counts a little.
    workbench: Workbench = open_workbench(path, "auto", follow=True, counter="o200k_base")
    expect(page.locator(CURRENT)).to_have_attribute("data-look", "recorded:1")
    wait_for_python(page)
    wait_until_still(page)
    before, policy, look = sights(page), workbench.policy, workbench.look
    append(path, rest)
    banner = page.get_by_test_id("live")
    expect(banner).to_contain_text("Compaction ◆2")
    wait_until_still(page)
    assert sights(page) == before
    assert (workbench.policy, workbench.look) == (policy, look)
    # It says what is missing, and the table has a row more.
    expect(banner).to_contain_text("Missing")
    expect(page.get_by_test_id("compaction")).to_have_count(2)
    expect(page.get_by_test_id("spoken")).to_contain_text("Compaction ◆2")
    assert find_violations(page, "[data-testid=live]") == []
    screenshot(page, "live")
    banner.get_by_test_id("live-show").click()
    expect(page.locator(CURRENT)).to_have_attribute("data-look", "recorded:2")
    expect(banner).to_be_empty()
    wait_for_python(page)
    assert workbench.look == "recorded:2"


def test_a_screen_at_the_live_end_stays_before_the_compaction(
    page: Page, open_workbench: OpenWorkbench, tmp_path: Path
) -> None:
    path = write_session(tmp_path / "first.jsonl")
    first, rest = split(path, 1)
    path.write_bytes(first)
    fill_page(page, 1400, 900)
    workbench = open_workbench(path, "auto", follow=True, counter="o200k_base")
    workbench.at = workbench.session.leaf or ""
    wait_for_python(page)
    open_tab(page, "rules")
    wait_until_still(page)
    chosen = workbench.plan.policy.name
    sentence, gauge = page.get_by_test_id("sentence").inner_text(), page.locator(".ci-gauge").inner_text()
    at = workbench.at
    append(path, rest)
    banner = page.get_by_test_id("live")
    expect(banner).to_contain_text("Compaction ◆1")
    wait_until_still(page)
    assert (workbench.at, workbench.look, workbench.plan.policy.name) == (at, "plan", chosen)
    assert page.get_by_test_id("sentence").inner_text() == sentence
    assert page.locator(".ci-gauge").inner_text() == gauge
    # By the keyboard.
    page.locator(".ci").focus()
    page.keyboard.press("v")
    expect(page.locator(CURRENT)).to_have_attribute("data-look", "recorded:1")
    expect(banner).to_be_empty()
    wait_for_python(page)
    assert workbench.look == "recorded:1"


def test_the_banner_fits_and_can_be_dismissed(
    page: Page, open_workbench: OpenWorkbench, growing: tuple[Path, bytes]
) -> None:
    path, rest = growing
    fill_page(page, 900, 900)
    open_workbench(path, "auto", follow=True)
    wait_for_python(page)
    append(path, rest)
    banner = page.get_by_test_id("live")
    expect(banner).to_contain_text("Missing")
    for width in (900, 560, 390):
        fill_page(page, width, 900)
        assert find_violations(page, "[data-testid=live]") == []
        screenshot(page, f"live-{width}")
        box = banner.bounding_box()
        assert box is not None
        assert box["x"] >= 0 and box["x"] + box["width"] <= width
    banner.get_by_test_id("live-dismiss").click()
    expect(banner).to_be_empty()
