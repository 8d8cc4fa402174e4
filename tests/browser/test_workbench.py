"""The first notebook in a real JupyterLab: the hand on the cut, and Python under it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Watch
from tests.browser.lab import Lab, open_notebook, run_all, screenshot, set_theme

FIRST = "01-open-a-session.ipynb"
ASK = """async code => {
  const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
  const future = kernel.requestExecute({ code, silent: false, store_history: false });
  let said = "";
  future.onIOPub = message => { if (message.header.msg_type === "stream") said += message.content.text; };
  const reply = await future.done;
  return reply.content.status === "ok" ? said : `${reply.content.ename}: ${reply.content.evalue}`;
}"""


def ask(page: Page, code: str) -> str:
    """Run a line in the notebook's own kernel and return what it prints."""
    return str(page.evaluate(ASK, code)).strip()


def wait_for_python(page: Page) -> None:
    """Until the screen is no longer ahead of Python."""
    page.wait_for_function(
        "() => { const w = document.querySelector('.ci'); return w && !w.hasAttribute('aria-busy') }"
    )


@pytest.fixture
def notebook(page: Page, lab: Lab) -> Page:
    open_notebook(page, lab, FIRST)
    run_all(page)
    page.get_by_test_id("cut-handle").wait_for()
    page.get_by_test_id("cut-handle").scroll_into_view_if_needed()
    return page


def state(page: Page) -> dict[str, Any]:
    """What Python holds."""
    told = "[wb.cut, wb.plan.place, wb.policy, wb.settings]"
    cut, place, policy, settings = json.loads(ask(page, f"import json; print(json.dumps({told}))"))
    return {"cut": cut, "place": place, "policy": policy, "settings": settings}


def shown_place(page: Page) -> int:
    return int(page.get_by_test_id("cut-handle").get_attribute("aria-valuenow") or -1)


def drag_to(page: Page, share: float) -> None:
    """Take the handle by the mouse to a share of the lanes' width."""
    handle, lanes = page.get_by_test_id("cut-handle"), page.get_by_test_id("lanes")
    grip, box = handle.bounding_box(), lanes.bounding_box()
    assert grip is not None
    assert box is not None
    y = grip["y"] + grip["height"] / 2
    page.mouse.move(grip["x"] + grip["width"] / 2, y)
    page.mouse.down()
    left = box["x"] + 120
    page.mouse.move(left + (box["width"] - 120) * share, y, steps=12)
    page.mouse.up()
    wait_for_python(page)


def test_the_notebook_opens_the_workbench(notebook: Page, lab: Lab, watch: Watch) -> None:
    notebook.set_viewport_size({"width": 1440, "height": 1600})
    expect(notebook.get_by_test_id("gauge-before")).to_contain_text("k")
    expect(notebook.get_by_test_id("recipe")).to_contain_text("make_plan(session.at(")
    set_theme(notebook, dark=False)
    notebook.get_by_test_id("cut-handle").scroll_into_view_if_needed()
    screenshot(notebook, "workbench-light", ".ci")
    set_theme(notebook, dark=True)
    screenshot(notebook, "workbench-dark", ".ci")
    set_theme(notebook, dark=False)
    assert watch.strangers(lab) == []


def test_dragging_the_handle_moves_the_cut_in_python_too(notebook: Page) -> None:
    first = state(notebook)
    before = notebook.get_by_test_id("gauge-after").inner_text()
    drag_to(notebook, 0.4)
    moved = state(notebook)
    assert moved["place"] != first["place"]
    assert moved["cut"] != ""
    assert shown_place(notebook) == moved["place"]
    assert notebook.get_by_test_id("gauge-after").inner_text() != before
    expect(notebook.get_by_test_id("recipe")).to_contain_text(f"cut='{moved['cut']}'")
    legal = ask(notebook, "print(wb.plan.cuts.legal[wb.plan.place])")
    assert legal == "True", "the handle snaps to legal cuts"


def test_the_keyboard_moves_the_cut_from_legal_place_to_legal_place(notebook: Page) -> None:
    handle = notebook.get_by_test_id("cut-handle")
    handle.focus()
    for key in ("ArrowLeft", "ArrowLeft", "ArrowRight", "PageUp", "Home", "ArrowRight", "End", "ArrowLeft"):
        handle.press(key)
        wait_for_python(notebook)
        held = state(notebook)
        assert shown_place(notebook) == held["place"]
        assert "legal" in (handle.get_attribute("aria-valuetext") or "")
    assert ask(notebook, "print(wb.plan.cuts.legal[wb.plan.place])") == "True"


def test_changing_a_rule_replans(notebook: Page) -> None:
    first = state(notebook)
    knob = notebook.get_by_test_id("knob-keep-recent-tokens.tokens")
    knob.fill("4000")
    knob.press("Enter")
    wait_for_python(notebook)
    notebook.wait_for_function(
        "() => document.querySelector('[data-testid=recipe]').innerText.includes('4000')"
    )
    held = state(notebook)
    assert held["settings"] == {"keep-recent-tokens.tokens": 4000}
    assert held["place"] > first["place"]
    assert shown_place(notebook) == held["place"]


def test_a_rule_can_be_switched_off_and_on(notebook: Page) -> None:
    switch = notebook.get_by_test_id("knob-summarise-older.enabled")
    switch.click()
    wait_for_python(notebook)
    assert state(notebook)["settings"] == {"summarise-older.enabled": False}
    assert ask(notebook, "print(wb.plan.after == wb.plan.before)") == "True"
    switch.click()
    wait_for_python(notebook)
    assert ask(notebook, "print(wb.plan.after < wb.plan.before)") == "True"


def test_a_block_can_be_pinned(notebook: Page) -> None:
    notebook.get_by_test_id("fates").locator("[data-fold]").first.click()
    notebook.get_by_test_id("fate-row").nth(1).click()
    notebook.get_by_test_id("block").get_by_role("button", name="Pin", exact=True).click()
    wait_for_python(notebook)
    pin = ask(notebook, "print(*wb.pins)")
    assert pin
    assert (
        ask(notebook, f"print({pin!r} in [str(r) for p in wb.context.pieces[1:] for r in p.origin])")
        == "True"
    )
    expect(notebook.get_by_test_id("recipe")).to_contain_text("pins=")


def test_choosing_another_policy_replans(notebook: Page) -> None:
    notebook.get_by_test_id("policy").select_option("keep-recent-turns")
    wait_for_python(notebook)
    notebook.wait_for_function(
        "() => document.querySelector('[data-testid=recipe]').innerText.includes('keep-recent-turns')"
    )
    assert state(notebook)["policy"] == "keep-recent-turns"
    expect(notebook.get_by_test_id("knob-keep-recent-turns.turns")).to_be_visible()


def test_python_moves_the_handle(notebook: Page) -> None:
    name = ask(
        notebook, "legal = [p for p in wb.plan.cuts if p.legal]; wb.cut = legal[5].entry; print(wb.cut)"
    )
    expect(notebook.get_by_test_id("recipe")).to_contain_text(name)
    assert shown_place(notebook) == state(notebook)["place"]
    assert ask(notebook, "wb.cut = 'nowhere'").startswith("EditError")
    expect(notebook.get_by_test_id("error")).to_contain_text("no such entry")


def test_a_row_opens_its_body_as_text(notebook: Page) -> None:
    fold = notebook.get_by_test_id("fates").locator("[data-fold]").first
    fold.scroll_into_view_if_needed()
    fold.click()
    row = notebook.get_by_test_id("fate-row").first
    row.click()
    block = notebook.get_by_test_id("block")
    expect(block).to_contain_text("turn 1")
    first_words = ask(notebook, "print(next(e.text for e in session.entries if e.opens_turn)[:40])")
    expect(notebook.locator(".ci")).to_contain_text(first_words)
    screenshot(notebook, "workbench-block", ".ci")


def test_the_session_can_be_looked_at_at_another_moment(notebook: Page) -> None:
    count = int(ask(notebook, "print(len(wb._scene['segments']))"))
    assert count > 1
    ask(notebook, "wb.at = wb._scene['segments'][-1]['at']")
    wait_for_python(notebook)
    notebook.wait_for_timeout(300)
    assert shown_place(notebook) == int(ask(notebook, "print(wb.plan.place or 0)"))
    screenshot(notebook, "workbench-last-segment", ".ci")


def test_a_narrow_cell_holds_the_whole_workbench(notebook: Page) -> None:
    notebook.set_viewport_size({"width": 760, "height": 1000})
    notebook.wait_for_timeout(400)
    notebook.get_by_test_id("cut-handle").scroll_into_view_if_needed()
    wide = notebook.evaluate(
        "() => { const w = document.querySelector('.ci'); return [w.scrollWidth, w.clientWidth] }"
    )
    assert wide[0] <= wide[1] + 1, "nothing is cut off at the right"
    screenshot(notebook, "workbench-narrow", ".ci")
    notebook.set_viewport_size({"width": 1280, "height": 900})


HOSTILE = """
import json, inspector, tempfile, pathlib
bad = "<script>window.__hit = 1</script><img src=x onerror='window.__hit = 1'>[a](javascript:window.__hit=1)"
bad += " \\x1b[31m \\u202e \\ud800 http://example.com/x.png"
rows = [{"role": "user", "content": bad}, {"role": "assistant", "content": [
    {"type": "thinking", "thinking": bad, "signature": "s"},
    {"type": "tool_use", "id": "t1", "name": bad, "input": {"path": bad}}]},
  {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": bad * 20}]},
  {"role": "assistant", "content": bad}, {"role": "user", "content": bad},
  {"role": "assistant", "content": "x" * 10_000_000}]
path = pathlib.Path(tempfile.mkdtemp(), "bad.json")
path.write_text(json.dumps({"model": bad, "system": bad, "messages": rows}))
wb = inspector.Workbench(path, "keep-recent-turns", settings={"keep-recent-turns.turns": 1})
wb
"""


def test_a_hostile_transcript_is_shown_as_text(page: Page, lab: Lab, watch: Watch) -> None:
    open_notebook(page, lab, lab.write_notebook("hostile.ipynb", HOSTILE))
    run_all(page)
    page.get_by_test_id("cut-handle").wait_for()
    # Folds and texts, by the keyboard: what is opened may push the rows after it out of the list's window.
    grid = page.get_by_test_id("fates").get_by_role("treegrid")
    grid.focus()
    grid.press("Home")
    for _ in range(6):
        grid.press("Enter")
        page.wait_for_timeout(150)
        grid.press("ArrowDown")
    expect(page.locator(".ci")).to_contain_text("<script>window.__hit = 1</script>")
    assert page.evaluate("() => window.__hit") is None
    assert page.locator(".ci script, .ci img, .ci a[href]").count() == 0
    assert watch.strangers(lab) == []
    screenshot(page, "workbench-hostile", ".ci")
