"""A summary written from the workbench: seen before it is sent, watched as it comes, and then counted.

The provider is a server on 127.0.0.1; the Lab's environment names it, so every kernel and the server ask it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from inspector.story import LOST_PATH
from tests.browser.lab import (
    WORKBENCH,
    Lab,
    Watch,
    find_file,
    open_lab,
    open_notebook,
    run_all,
    screenshot,
    set_theme,
    start_lab,
)
from tests.browser.test_axe import find_violations
from tests.browser.test_workbench import ask, wait_for_python
from tests.loopback import KEY, Cue, Loopback, fail

CELL = """
import inspector, json
wb = inspector.Workbench(inspector.open_demo(), "flue")
wb
"""
NO_KEY = "import os; os.environ.pop('ANTHROPIC_API_KEY')"
NARROW = 560
SEND = re.compile(r"^Send [\d.]+k tokens to 127\.0\.0\.1:\d+, at most \$0\.\d\d$")
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
SLOW = 0.15  # seconds before each piece of 16 characters


@pytest.fixture(scope="module")
def provider() -> Iterator[Loopback]:
    with Loopback() as provider:
        yield provider


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory, provider: Loopback) -> Iterator[Lab]:
    """A server of its own, which knows this provider and its key."""
    home = tmp_path_factory.mktemp("summarise")
    with start_lab(home, ANTHROPIC_BASE_URL=provider.url, ANTHROPIC_API_KEY=KEY) as lab:
        yield lab


@pytest.fixture(autouse=True)
def unasked(provider: Loopback) -> Iterator[None]:
    """Each test has its own cues and sees its own requests."""
    provider.cues.clear()
    provider.received.clear()
    yield
    provider.released.set()
    provider.released.clear()


@pytest.fixture
def notebook(page: Page, lab: Lab, watch: Watch) -> Iterator[Page]:
    open_workbench(page, lab, CELL)
    yield page
    assert watch.strangers(lab) == []
    set_theme(page, dark=False)


def open_workbench(page: Page, lab: Lab, *cells: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 2600})
    open_notebook(page, lab, lab.write_notebook("summarise.ipynb", *cells))
    run_all(page)
    page.get_by_test_id("cut-handle").wait_for()


def held(page: Page, told: str) -> Any:
    """What Python holds."""
    return json.loads(ask(page, f"print(json.dumps({told}))"))


def choose(page: Page | Locator, by: str) -> None:
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


def gauge(page: Page) -> int:
    """Tokens after the plan, as the gauge tells them."""
    title = page.get_by_test_id("gauge-after").get_attribute("title") or ""
    return int(title.split(" ")[0].replace(",", ""))


def cut_line(page: Page) -> Locator:
    return page.locator(".ci-cutline .ci-fate")


def test_from_the_sessions_own_words_by_keys_alone(notebook: Page, provider: Loopback) -> None:
    page = notebook
    before, shown = held(page, "wb.plan.after"), gauge(page)
    expect(cut_line(page)).to_contain_text("stand-in")
    page.locator(".ci").focus()
    page.keyboard.press("s")
    expect(page.get_by_test_id("writer-extractive")).to_be_focused()
    expect(page.get_by_test_id("summary-note")).to_contain_text("nothing is sent")
    page.keyboard.press("Tab")
    expect(page.get_by_test_id("summary-write")).to_be_focused()
    page.keyboard.press("Enter")
    expect(status(page)).to_contain_text("Written by extractive")
    expect(page.get_by_test_id("summary-text")).to_be_focused()
    expect(cut_line(page)).to_contain_text("by extractive")
    after = held(page, "wb.plan.after")
    assert after != before
    assert gauge(page) - shown == after - before
    assert provider.received == []
    assert held(page, "wb.plan.checkpoint.by") == "extractive"

    page.keyboard.press("Tab")
    expect(page.get_by_test_id("writing-drop")).to_be_focused()
    page.keyboard.press("Enter")
    expect(cut_line(page)).to_contain_text("stand-in")
    assert held(page, "wb.plan.after") == before
    expect(page.get_by_test_id("summary-write")).to_be_focused()


def test_a_model_writes_what_was_looked_at_while_everyone_watches(notebook: Page, provider: Loopback) -> None:
    page = notebook
    page.get_by_test_id("open-facts").click()
    page.get_by_test_id("facts-search").fill(LOST_PATH)
    fact = page.locator(f"[data-testid=fact][title^='git diff {LOST_PATH}']")
    expect(fact).to_contain_text("restated")
    before, shown = held(page, "wb.plan.after"), gauge(page)
    provider.cues.extend([Cue(text=TEXT, pause=SLOW)] * 2)
    choose(page, "model")
    expect(page.get_by_test_id("summary-write")).to_be_hidden()
    send = look(page)
    told = page.get_by_test_id("sending")
    for words in ("127.0.0.1:", "at most $", "calibrated", "characters"):
        expect(told).to_contain_text(words)
    page.get_by_test_id("request").first.locator("summary").click()
    expect(page.get_by_test_id("request").first.locator("pre")).to_contain_text("session")
    assert provider.received == [], "a look sends nothing"
    assert find_violations(page) == []
    screenshot(page, "summary-look", "[data-testid=summary]")

    send.click()
    expect(status(page)).to_contain_text("Writing")
    expect(page.get_by_test_id("writing-cancel")).to_be_focused()
    expect(page.get_by_test_id("summary-text")).to_contain_text("## Goal", timeout=30_000)
    assert "Critical context" not in page.get_by_test_id("summary-text").inner_text()
    assert find_violations(page) == []
    screenshot(page, "summary-writing", "[data-testid=summary]")
    expect(status(page)).to_contain_text("Written by claude-", timeout=30_000)
    assert len(provider.asked) == held(page, "len(wb.plan.jobs)")
    assert not any(KEY.encode() in one.raw for one in provider.received)
    expect(page.get_by_test_id("summary-text")).to_contain_text("<img src=x")
    expect(page.locator(".ci img")).to_have_count(0)
    expect(page.get_by_test_id("writing-cost")).to_contain_text("$")
    tokens = held(page, "wb.plan.summary_tokens")
    expect(status(page)).to_contain_text(f"{tokens:,} tokens")

    # Everything that draws the plan draws the summary now.
    expect(cut_line(page)).to_contain_text("by claude-")
    assert gauge(page) - shown == held(page, "wb.plan.after") - before
    expect(fact).to_contain_text("lost")
    cut_line(page).click()
    expect(page.locator(".ci-fates .ci-text pre").first).to_contain_text("Times are kept in UTC")
    for dark in (True, False):
        set_theme(page, dark)
        assert find_violations(page) == []
        screenshot(page, f"summary-{'dark' if dark else 'light'}", ".ci")


def test_cancelling_half_way_keeps_nothing(notebook: Page, provider: Loopback) -> None:
    page = notebook
    before = held(page, "wb.plan.after")
    provider.cues.extend([Cue(text=TEXT, pause=SLOW)] * 2)
    choose(page, "model")
    look(page).click()
    expect(page.get_by_test_id("summary-text")).to_contain_text("## Goal", timeout=30_000)
    page.get_by_test_id("writing-cancel").press("Enter")
    expect(status(page)).to_have_text("Stopped; nothing of it was kept.")
    expect(page.get_by_test_id("summary-text")).to_have_count(0)
    expect(page.get_by_test_id("summary-write")).to_be_focused()
    assert held(page, "[wb.plan.after, wb.plan.checkpoint]") == [before, None]
    expect(cut_line(page)).to_contain_text("stand-in")


@pytest.mark.parametrize(
    ("cue", "words"),
    [
        (fail(529, "Overloaded"), "529"),
        (Cue(text="I cannot help with that.", stop_reason="refusal"), "refus"),
    ],
    ids=["overloaded", "refused"],
)
def test_a_failure_reads_as_a_sentence(notebook: Page, provider: Loopback, cue: Cue, words: str) -> None:
    page = notebook
    provider.cues.extend([cue] * 12)
    choose(page, "model")
    look(page).click()
    again = page.get_by_test_id("writing-again")
    expect(again).to_be_focused(timeout=30_000)
    expect(status(page)).to_contain_text(re.compile(words, re.IGNORECASE))
    assert "Traceback" not in status(page).inner_text()
    assert status(page).inner_text().rstrip().endswith((".", ")"))
    expect(cut_line(page)).to_contain_text("stand-in")
    assert find_violations(page) == []
    provider.cues.clear()
    again.press("Enter")
    expect(status(page)).to_contain_text("Written by claude-", timeout=30_000)


def test_without_a_key_there_is_a_sentence_and_no_button(page: Page, lab: Lab, watch: Watch) -> None:
    open_workbench(page, lab, NO_KEY, CELL)
    choose(page, "model")
    page.get_by_test_id("summary-look").click()
    expect(page.get_by_test_id("summary-note")).to_contain_text("There is no key")
    expect(page.get_by_test_id("summary-write")).to_be_hidden()
    assert find_violations(page) == []
    assert watch.strangers(lab) == []


def test_a_moved_cut_makes_the_look_stale_and_a_summary_leads_back_to_its_cut(notebook: Page) -> None:
    page = notebook
    choose(page, "model")
    send = look(page)
    page.get_by_test_id("cut-handle").press("ArrowLeft")
    expect(send).to_be_disabled()
    expect(page.get_by_test_id("summary-note")).to_have_text("The plan has changed: look again.")
    wait_for_python(page)
    expect(send).to_be_disabled()
    look(page)

    cut = held(page, "wb.cut")
    page.get_by_test_id("writer-extractive").check()
    page.get_by_test_id("summary-write").click()
    expect(status(page)).to_contain_text("Written by extractive")
    page.get_by_test_id("cut-handle").press("ArrowLeft")
    expect(page.get_by_test_id("written-away")).to_contain_text("It was written for the cut at turn")
    expect(cut_line(page)).to_contain_text("stand-in")
    page.get_by_test_id("writing-go").click()
    expect(page.get_by_test_id("written-away")).to_be_hidden()
    assert held(page, "wb.cut") == cut
    expect(cut_line(page)).to_contain_text("by extractive")


def test_a_text_of_ones_own_and_what_the_checks_say_of_it(notebook: Page) -> None:
    page = notebook
    choose(page, "pasted")
    page.get_by_test_id("summary-own").fill("The tide table is an hour off. <b>Nothing else.</b>")
    page.get_by_test_id("summary-write").click()
    expect(status(page)).to_contain_text("Written by pasted")
    expect(page.get_by_test_id("summary-text")).to_have_text(
        "The tide table is an hour off. <b>Nothing else.</b>"
    )
    expect(page.get_by_test_id("findings").locator("li").first).to_be_visible()
    assert held(page, "wb.plan.checkpoint.by") == "pasted"


def test_the_panel_fits_a_narrow_cell(notebook: Page) -> None:
    page = notebook
    page.locator(".ci").first.evaluate(f"node => {{ node.style.width = '{NARROW}px' }}")
    choose(page, "model")
    look(page)
    panel = page.get_by_test_id("summary")
    assert panel.evaluate("node => node.scrollWidth <= node.clientWidth")
    for dark in (True, False):
        set_theme(page, dark)
        assert find_violations(page) == []
        screenshot(page, f"summary-narrow-{'dark' if dark else 'light'}", "[data-testid=summary]")


def test_the_server_writes_for_a_document_too(page: Page, lab: Lab, provider: Loopback, watch: Watch) -> None:
    name = lab.write_session("written.session.jsonl")
    open_lab(page, lab)
    find_file(page, name).dblclick()
    page.locator(WORKBENCH).wait_for()
    document = page.locator(".ci-document")
    document.get_by_test_id("policy").select_option("flue")
    wait_for_python(page)
    expect(cut_line(page)).to_contain_text("stand-in")
    provider.cues.extend([Cue(text=TEXT, pause=SLOW)] * 2)
    choose(document, "model")
    look(document).click()
    expect(document.get_by_test_id("summary-text")).to_contain_text("## Goal", timeout=30_000)
    document.get_by_test_id("writing-cancel").click()
    expect(status(document)).to_have_text("Stopped; nothing of it was kept.")
    expect(cut_line(page)).to_contain_text("stand-in")
    provider.cues.clear()
    provider.cues.extend([Cue(text=TEXT)] * 2)
    document.get_by_test_id("summary-write").click()
    expect(status(document)).to_contain_text("Written by claude-", timeout=30_000)
    expect(cut_line(page)).to_contain_text("by claude-")
    assert lab.api("kernels") == [], "no kernel is started for it"
    assert watch.strangers(lab) == []
