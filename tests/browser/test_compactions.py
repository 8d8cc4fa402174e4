"""The tab Compactions: the screen opens on the one with the most harm, and a row chooses what it shows."""

from __future__ import annotations

import re
import threading
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from inspector.session.entries import Boundary, Entry
from inspector.workbench import queries
from tests.browser.bare import wait_for_python
from tests.browser.conftest import OpenWorkbench
from tests.browser.hand import fill_page, open_tab
from tests.browser.screen import find_violations, screenshot, wait_until_still
from tests.work import PATIENCE
from tests.workbench.test_compactions import RULE, make_session
from tests.workbench.test_recorded import chain, user
from tests.workbench.test_recorded import model as said

SMALL = """() => [...document.querySelectorAll('.ci .ci-link, .ci .ci-reading')].filter(node => {
  node.scrollIntoView({ block: "center" });
  const { x, y, width, height } = node.getBoundingClientRect();
  const hit = at => document.elementFromPoint(x + width / 2, at)?.closest('button') === node;
  return hit(y + height / 2) && !(hit(y + height / 2 - 11.5) && hit(y + height / 2 + 11.5));
}).map(node => node.textContent)"""
"""Buttons in a line of text that a finger 24 px wide does not meet above and below the line."""
WRAPPED = """() => [...document.querySelectorAll('.ci-fx-table td:not(:first-child)')].filter(
  cell => cell.checkVisibility() && cell.firstElementChild?.getBoundingClientRect().height > 30
).map(cell => cell.textContent)"""


def test_it_opens_on_the_worst_row_and_keys_choose_another(page: Page, open_workbench: OpenWorkbench) -> None:
    fill_page(page, 1400, 900)
    workbench = open_workbench(make_session(), policy="auto", window=20_000)
    rows = page.get_by_test_id("compaction")
    expect(rows).to_have_count(2)
    current = page.locator("[data-testid=compaction][aria-current=true]")
    expect(current).to_have_attribute("data-look", "recorded:2")
    wait_for_python(page)
    assert (workbench.look, workbench.tab) == ("recorded:2", "compactions")
    # The first missing fact is shown with both sides, without a gesture.
    expect(page.get_by_test_id("story-title")).to_contain_text(RULE)
    assert find_violations(page) == []
    screenshot(page, "compactions")
    current.focus()
    page.keyboard.press("k")
    expect(current).to_have_attribute("data-look", "recorded:1")
    wait_for_python(page)
    assert workbench.look == "recorded:1"
    rows.last.click()
    expect(current).to_have_attribute("data-look", "recorded:2")
    wait_for_python(page)
    # One of the two has losses.
    page.get_by_test_id("compactions-losses").click()
    expect(rows).to_have_count(1)
    for width in (900, 560, 390):
        fill_page(page, width, 900)
        expect(rows.first).to_be_visible()
        screenshot(page, f"compactions-{width}")


def test_clearings_are_not_called_compactions(page: Page, open_workbench: OpenWorkbench) -> None:
    clearing = Entry(id="", kind="micro", boundary=Boundary(kind="micro", trigger="auto"))
    fill_page(page, 1400, 900)
    open_workbench(
        chain(user("Read the almanac."), said("It is read."), clearing, user("Go on."), said("Yes."))
    )
    page.get_by_test_id("tab-compactions").click()
    expect(page.get_by_test_id("tab-compactions")).to_have_text(re.compile("Compactions *◇1$"))
    # The file does not say which outputs it cleared.
    expect(page.locator("[data-look='cleared:1'] .ci-cp-wide").first).to_have_text("?")


def test_a_finger_meets_every_link_and_outcomes_stay_in_one_line(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    open_workbench(policy="auto")
    for width in (390, 560):
        fill_page(page, width, 900)
        for tab in ("compactions", "findings", "facts", "blocks", "context"):
            open_tab(page, tab)
            wait_until_still(page)
            if tab == "facts":
                if width == 390:
                    page.get_by_role("button", name="‹ Facts").click()
                expect(page.get_by_test_id("fact").first).to_be_visible()
                assert page.evaluate(WRAPPED) == []
            assert page.evaluate(SMALL) == [], (width, tab)


def test_the_opening_is_no_edit_and_praises_no_compaction_before_all_are_read(
    page: Page, open_workbench: OpenWorkbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, listed = threading.Event(), queries.QUERIES["compactions"]

    def list_late(*asked: Any) -> Any:
        assert read.wait(PATIENCE)
        return listed(*asked)

    monkeypatch.setitem(queries.QUERIES, "compactions", list_late)
    fill_page(page, 1400, 900)
    open_workbench(make_session(), policy="auto", window=20_000)
    sentence = page.get_by_test_id("sentence")
    expect(sentence).to_contain_text("Looking for what each compaction lost")
    expect(page.get_by_test_id("losses")).to_have_count(0)
    read.set()
    current = page.locator("[data-testid=compaction][aria-current=true]")
    expect(current).to_have_attribute("data-look", "recorded:2")
    expect(page.get_by_test_id("losses")).to_have_text("1 fact is missing.")
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()


def test_neither_a_long_name_nor_a_dialog_is_cut_off(page: Page, open_workbench: OpenWorkbench) -> None:
    fill_page(page, 1400, 900)
    workbench = open_workbench(make_session(), policy="openhands", window=20_000, tab="compactions")
    workbench.look = "plan"
    head, fits = page.locator(".ci-cp .ci-fd-head"), "box => box.scrollWidth <= box.clientWidth"
    expect(page.locator("[data-testid=compaction][aria-current=true]")).to_contain_text("LLMSumm")
    assert head.evaluate(fits)
    page.get_by_test_id("export").click()
    dialog = page.locator(".ci-exporter")
    expect(dialog).to_contain_text("nothing is sent anywhere")
    assert dialog.evaluate(fits)


def test_the_counts_are_those_of_python(page: Page, open_workbench: OpenWorkbench) -> None:
    fill_page(page, 1400, 900)
    workbench = open_workbench(policy="auto")
    for row, shown in zip(
        workbench.session.compactions, page.get_by_test_id("compaction").all(), strict=False
    ):
        for name, count in (("files", row.files), ("rules", row.rules), ("changed", row.changed)):
            if row.kind == "compact":
                expect(shown.locator(f"[data-name='{name}']")).to_have_text(str(count))
