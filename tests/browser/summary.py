"""Having a summary written, on any page that shows a workbench: by whom, looked at first, then sent."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.hand import open_tab
from tests.browser.product import LOST_PATH

SEND = re.compile(r"^Send [\d.]+k tokens to 127\.0\.0\.1:\d+, at most \$\d+\.\d\d$")
TEXT = "\n\n".join(
    f"## {title}\n- {line}"
    for title, line in (
        ("Goal", "Find why every high water is an hour early."),
        ("Constraints", "No new dependency."),
        ("Progress", f"Read {LOST_PATH}."),
        ("Decisions", "Times are kept in UTC."),
        ("Next steps", "Run the tests again."),
        ("Critical context", f"{LOST_PATH} <img src=x onerror=alert(1)>"),
    )
)


def choose(page: Page | Locator, by: str) -> None:
    open_tab(page, "summary")
    if page.get_by_test_id("summarise").get_attribute("aria-expanded") == "false":
        page.get_by_test_id("summarise").click()
    page.get_by_test_id(f"writer-{by}").check()


def look(page: Page | Locator) -> Locator:
    """See what would be sent; the button that sends it."""
    page.get_by_test_id("summary-look").click()
    send = page.get_by_test_id("summary-write")
    expect(send).to_have_text(SEND)
    expect(send).to_be_enabled()
    return send


def status(page: Page | Locator) -> Locator:
    return page.get_by_test_id("writing-status")
