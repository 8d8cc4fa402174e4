"""Closing a tab while its session opens cancels the request, and the file can be opened again."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.lab import Lab, may_start_over, open_lab, run, settle
from tests.jupyter.test_hanging_files import hang

ROUTE = "/inspector/open"


def test_closing_a_tab_cancels_the_opening_of_its_file(lab_page: Page, lab: Lab) -> None:
    page, name = lab_page, lab.write_session("hanging.session.jsonl")
    open_lab(page, lab)
    with hang(lab.notebooks / name):
        with page.expect_request(lambda request: ROUTE in request.url):
            run(page, "docmanager:open", path=name)
        expect(page.get_by_text("Opening the session")).to_be_visible()
        with page.expect_event("requestfailed", lambda request: ROUTE in request.url):
            run(page, "application:close")
    run(page, "docmanager:open", path=name)
    expect(settle(page)).to_contain_text("Every high water an hour early")
    may_start_over(page)
