"""The workbench's shell in a real JupyterLab: modes, keys, search, undo, links, lessons, what survives."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Watch
from tests.browser.lab import Lab, open_notebook, run_all, screenshot, set_theme
from tests.browser.test_workbench import ask, drag_to, shown_place, wait_for_python

OPEN = "import inspector, json; session = inspector.open_demo(); wb = inspector.Workbench(session); wb"
WIDE, NARROW = {"width": 1440, "height": 1500}, {"width": 760, "height": 2000}


@pytest.fixture
def lab_page(page: Page, lab: Lab) -> Page:
    open_notebook(page, lab, lab.write_notebook("shell.ipynb", OPEN))
    run_all(page)
    page.get_by_test_id("cut-handle").wait_for()
    page.get_by_test_id("cut-handle").scroll_into_view_if_needed()
    return page


def held(page: Page, told: str) -> Any:
    """What Python holds."""
    return json.loads(ask(page, f"print(json.dumps({told}))"))


def keys(page: Page, *names: str) -> None:
    """Press keys wherever the focus is in the workbench; nothing is clicked."""
    for name in names:
        page.keyboard.press(name)
        page.wait_for_timeout(60)
    wait_for_python(page)


def enter(page: Page) -> None:
    page.locator(".ci").focus()


def panels(page: Page) -> list[str]:
    shown: list[str] = page.evaluate(
        "() => [...document.querySelectorAll('[data-panel]')]"
        ".filter(panel => panel.offsetParent !== null).map(panel => panel.dataset.panel)"
    )
    return shown


def test_the_whole_lesson_without_a_mouse(lab_page: Page, lab: Lab, watch: Watch) -> None:
    page = lab_page
    enter(page)
    keys(page, "m")
    expect(page.get_by_test_id("mode-teach")).to_have_attribute("aria-checked", "true")
    assert held(page, "wb.mode") == "teach"
    assert panels(page) == ["lesson", "rules"]
    policy_place = held(page, "wb.plan.place")

    # Guess the cut: it hides, is placed by keys, and Python hears nothing of the guess.
    keys(page, "g")
    expect(page.get_by_test_id("guess-show")).to_be_visible()
    expect(page.get_by_test_id("cut-reason")).not_to_contain_text("policy")
    assert shown_place(page) != policy_place
    keys(page, "c", "Home", "ArrowRight", "ArrowRight")
    assert held(page, "[wb.cut, wb._seq]") == ["", 0]
    mine = shown_place(page)
    keys(page, "g")
    expect(page.get_by_test_id("verdict")).to_contain_text("too early")
    assert shown_place(page) == policy_place
    turns = held(page, f"int(wb.moment.live.turn[{policy_place}]) - int(wb.moment.live.turn[{mine}])")
    expect(page.get_by_test_id("verdict")).to_contain_text(f"{turns} turns too early")

    # An illegal place by keys: the pair and the provider's own answer.
    keys(page, "c", "End", "Shift+ArrowLeft")
    while page.get_by_test_id("broken").is_hidden():
        keys(page, "Shift+ArrowLeft")
    expect(page.get_by_test_id("refusal")).to_contain_text(
        "unexpected `tool_use_id` found in `tool_result` blocks: toolu_"
    )
    place = int(page.get_by_test_id("cut-handle").get_attribute("aria-valuenow") or -1)
    assert held(page, f"bool(wb.plan.cuts.legal[{place}])"), "the cut itself never stands there"

    # Rule by rule: nothing is decided, then each rule, then the plan as it is.
    keys(page, "ControlOrMeta+z", "ControlOrMeta+z", "ControlOrMeta+z")
    page.wait_for_function("() => document.querySelector('[data-testid=undo]').disabled")
    wait_for_python(page)
    after = page.get_by_test_id("gauge-after").inner_text()
    keys(page, ".")
    expect(page.get_by_test_id("play-at")).to_contain_text("Nothing is decided yet")
    expect(page.get_by_test_id("gauge-after")).to_have_text(re.compile(r"k\s+0$"))
    count = page.locator(".ci-played li").count()
    for number in range(1, count + 1):
        keys(page, ".")
        expect(page.get_by_test_id("play-at")).to_contain_text(f"{number} of {count}")
    assert page.get_by_test_id("gauge-after").inner_text() == after
    keys(page, ",")
    expect(page.get_by_test_id("play-at")).to_contain_text(f"{count - 1} of {count}")
    assert watch.strangers(lab) == []


def test_letting_the_handle_go_on_an_illegal_place_tells_what_it_breaks(lab_page: Page) -> None:
    page = lab_page
    enter(page)
    keys(page, "m")
    illegal = held(page, "[c.place for c in wb.plan.cuts if c.rule == 'orphan-output'][-6]")
    strip = page.locator(".ci-strip").bounding_box()
    grip = page.get_by_test_id("cut-handle").bounding_box()
    assert strip is not None and grip is not None
    page.mouse.move(grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2)
    page.mouse.down()
    found = False
    for x in range(int(strip["x"] + strip["width"]) - 2, int(strip["x"]), -2):
        page.mouse.move(x, strip["y"] + 5)
        page.wait_for_timeout(15)
        if "No cut in" in page.get_by_test_id("cut-reason").inner_text():
            found = True
            break
    assert found and illegal > 0
    page.mouse.up()
    expect(page.get_by_test_id("broken")).to_be_visible()
    expect(page.get_by_test_id("refusal")).to_contain_text("400")


def test_keys_reach_the_workbench_and_not_the_notebook(lab_page: Page) -> None:
    page = lab_page
    cells = page.locator(".jp-Cell").count()
    page.locator(".ci-legend").click()
    # In command mode b inserts a cell, z undoes one, y and m change its type, j and k select another.
    keys(page, "b", "b", "j", "z", "m", "m", "m", "y")
    assert page.locator(".jp-Cell").count() == cells
    assert (
        page.evaluate("() => window.jupyterapp.shell.currentWidget.content.activeCell.model.type") == "code"
    )
    expect(page.get_by_test_id("said")).to_contain_text('wb.block = "')
    copied = page.evaluate("() => navigator.clipboard.readText()")
    assert copied.startswith('wb.block = "')
    expect(page.get_by_test_id("block")).to_contain_text("turn")


def test_the_help_holds_the_focus_until_escape(lab_page: Page) -> None:
    page = lab_page
    enter(page)
    keys(page, "?")
    dialog = page.get_by_test_id("help")
    expect(dialog).to_be_visible()
    for _ in range(4):
        page.keyboard.press("Tab")
        outside = (
            "() => document.activeElement !== document.body && !document.activeElement.closest('dialog')"
        )
        assert not page.evaluate(outside)
    screenshot(page, "shell-help")
    keys(page, "m")
    expect(page.get_by_test_id("mode-explore")).to_have_attribute("aria-checked", "true")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    keys(page, "m")
    expect(page.get_by_test_id("mode-teach")).to_have_attribute("aria-checked", "true")


def test_a_search_goes_to_a_hit_in_another_stretch(lab_page: Page, lab: Lab, watch: Watch) -> None:
    page = lab_page
    at = held(page, "wb.at")
    enter(page)
    keys(page, "/")
    page.keyboard.type("tide", delay=20)
    expect(page.get_by_test_id("found-count")).to_contain_text("block")
    expect(page.locator(".ci-hit mark").first).to_have_text(re.compile("tide", re.IGNORECASE))
    # Words that only the first stretch holds.
    live = "{session.entries[i].id for i in wb.moment.live.entries}"
    path = "[session.entries[i] for i in session.path]"
    old = f"next(e for e in {path} if e.opens_turn and e.id not in {live})"
    words, ref = held(page, f"(lambda e: [e.text[:40].splitlines()[0], e.id + '/0'])({old})")
    page.get_by_test_id("search").fill(words)
    elsewhere = page.locator(".ci-hit", has_text="stretch").first
    expect(elsewhere.locator("b")).to_have_text("user text")
    page.keyboard.press("ArrowDown")
    expect(elsewhere).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("block")).to_contain_text(ref)
    wait_for_python(page)
    page.wait_for_timeout(500)  # Python hears of the block looked at after a short pause
    moved, focus = held(page, "[wb.at, wb.block]")
    assert moved != at
    assert focus == ref
    page.get_by_test_id("search").fill("tide")
    expect(page.locator(".ci-hit mark").first).to_have_text(re.compile("tide", re.IGNORECASE))
    enter(page)
    keys(page, "n")
    page.wait_for_timeout(400)
    assert held(page, "wb.block") != focus, "n goes to the next hit"
    enter(page)
    keys(page, "/")
    page.keyboard.type("no such words anywhere")
    expect(page.get_by_test_id("found-note")).to_contain_text("nowhere in this session")
    assert watch.strangers(lab) == []


def test_undo_and_redo_of_a_drag_a_rule_and_a_pin(lab_page: Page) -> None:
    page = lab_page
    told = "[wb.cut, wb.settings, wb.pins]"
    states = [held(page, told)]
    drag_to(page, 0.4)
    states.append(held(page, told))
    knob = page.get_by_test_id("knob-keep-recent-tokens.tokens")
    knob.fill("4000")
    knob.press("Enter")
    wait_for_python(page)
    states.append(held(page, told))
    enter(page)
    keys(page, "j", "p")
    states.append(held(page, told))
    assert len({json.dumps(state) for state in states}) == 4
    for name, state in zip(("a pin", "a rule", "the cut"), states[2::-1], strict=True):
        expect(page.get_by_test_id("undo")).to_have_attribute("title", f"Undo the change of {name} (z)")
        keys(page, "z")
        assert held(page, told) == state
        assert shown_place(page) == held(page, "wb.plan.place or 0")
    expect(page.get_by_test_id("undo")).to_be_disabled()
    for state in states[1:]:
        page.get_by_test_id("redo").click()
        wait_for_python(page)
        assert held(page, told) == state
    ask(page, "wb.policy = 'keep-recent-turns'")
    wait_for_python(page)
    expect(page.get_by_test_id("undo")).to_have_attribute("title", "Undo the change of the policy (z)")
    page.get_by_test_id("undo").click()
    wait_for_python(page)
    assert held(page, "wb.policy") == "flue"
    assert held(page, told) == states[-1]


def test_a_link_opens_a_block_in_its_own_moment(lab_page: Page) -> None:
    page = lab_page
    first = held(page, "session.entries[session.path[0]].id")
    at = held(page, "wb.at")
    last = held(page, "session.entries[session.path[-1]].id")
    for entry in (first, last):
        ask(page, f"wb.block = '{entry}/0'")
        page.wait_for_function(
            "entry => document.querySelector('[data-testid=block]').innerText.includes(entry)",
            arg=f"{entry}/0",
        )
    wait_for_python(page)
    assert held(page, "wb.at") != at
    assert held(page, "wb.block") == f"{last}/0"


def test_python_sets_the_mode(lab_page: Page) -> None:
    page = lab_page
    ask(page, "wb.mode = 'debug'")
    expect(page.get_by_test_id("mode-debug")).to_have_attribute("aria-checked", "true")
    expect(page.get_by_test_id("found-note")).to_contain_text("Type a path")
    assert "found" in panels(page) and "rules" not in panels(page)
    page.get_by_test_id("open-rules").click()
    expect(page.get_by_test_id("policy")).to_be_visible()


def test_two_workbenches_on_one_kernel_are_independent(page: Page, lab: Lab) -> None:
    second = "other = inspector.Workbench(session, 'keep-recent-turns'); other"
    open_notebook(page, lab, lab.write_notebook("two.ipynb", OPEN, second))
    run_all(page)
    page.get_by_test_id("cut-handle").nth(1).wait_for()
    before = held(page, "[wb.cut, wb.policy, wb.mode]")
    page.locator(".ci").nth(1).focus()
    for name in ("m", "c", "ArrowLeft"):
        page.keyboard.press(name)
        page.wait_for_timeout(250)
    assert held(page, "[other.mode, bool(other.cut)]") == ["teach", True]
    assert held(page, "[wb.cut, wb.policy, wb.mode]") == before
    expect(page.get_by_test_id("mode-explore").nth(0)).to_have_attribute("aria-checked", "true")
    ids = page.evaluate("() => [...document.querySelectorAll('.ci [id]')].map(node => node.id)")
    assert len(ids) == len(set(ids)), "no id stands twice on the page"


def test_after_a_restart_of_the_kernel_and_a_reload_the_cell_works_again(lab_page: Page, lab: Lab) -> None:
    page = lab_page
    restart = "async () => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()"
    page.evaluate(restart)
    page.wait_for_timeout(500)
    enter(page)
    page.keyboard.press("c")
    page.keyboard.press("ArrowLeft")
    waiting = page.locator(".ci-waiting")
    expect(waiting).to_contain_text("run the cell again", timeout=15_000)
    run_all(page)
    page.wait_for_function("() => !document.querySelector('.ci-waiting')?.textContent")
    page.get_by_test_id("cut-handle").wait_for()
    enter(page)
    keys(page, "c", "ArrowLeft")
    assert held(page, "bool(wb.cut)")
    page.reload()
    page.wait_for_selector(".jp-NotebookPanel .jp-Notebook")
    page.evaluate("async () => { await window.jupyterapp.restored }")
    page.wait_for_timeout(1500)
    run_all(page)
    page.get_by_test_id("cut-handle").wait_for()
    enter(page)
    keys(page, "m")
    assert held(page, "wb.mode") == "teach"


@pytest.mark.parametrize("mode", ["explore", "teach", "debug"])
def test_each_mode_fits_wide_and_narrow_light_and_dark(lab_page: Page, mode: str) -> None:
    page = lab_page
    ask(page, f"wb.mode = '{mode}'")
    expect(page.get_by_test_id(f"mode-{mode}")).to_have_attribute("aria-checked", "true")
    enter(page)
    if mode == "teach":
        keys(page, ".", ".", ".")
        expect(page.get_by_test_id("play-at")).to_contain_text("2 of")
    if mode == "debug":
        keys(page, "/")
        page.keyboard.type("tide")
        expect(page.locator(".ci-hit").first).to_be_visible()
        keys(page, "ArrowDown", "Enter")
    for size, name in ((WIDE, "wide"), (NARROW, "narrow")):
        page.set_viewport_size(size)
        for dark in (False, True):
            set_theme(page, dark=dark)
            page.wait_for_timeout(350)
            wide = page.evaluate(
                "() => { const w = document.querySelector('.ci'); return [w.scrollWidth, w.clientWidth] }"
            )
            assert wide[0] <= wide[1] + 1, "nothing is cut off at the right"
            screenshot(page, f"shell-{mode}-{name}-{'dark' if dark else 'light'}", ".ci")
    set_theme(page, dark=False)
    page.set_viewport_size({"width": 1280, "height": 900})


def test_the_notebook_is_safe_from_a_key_that_means_nothing_here(lab_page: Page) -> None:
    page = lab_page
    page.evaluate(
        "() => { window.done = []; const { commands } = window.jupyterapp;"
        "commands.commandExecuted.connect((_, { id }) => window.done.push(id)) }"
    )
    # In command mode a inserts a cell, x cuts one and d d deletes one, whatever has the focus within a cell.
    for focused in ("cut-handle", "mode-explore"):
        page.get_by_test_id(focused).focus()
        keys(page, "x", "d", "d", "v", "Shift+M", "1", "Shift+Enter")
        expect(page.get_by_test_id(focused)).to_be_focused()
        # Here this one lists the rules that may be added, and puts the list away again.
        keys(page, "a", "Escape")
    assert page.evaluate("() => window.done.filter(id => id.startsWith('notebook:'))") == []
    # Saving is JupyterLab's wherever the focus is.
    for focused in ("cut-handle", "search"):
        page.get_by_test_id(focused).focus()
        page.evaluate("() => { window.done = [] }")
        keys(page, "ControlOrMeta+s")
        page.wait_for_function("() => window.done.includes('docmanager:save')")
