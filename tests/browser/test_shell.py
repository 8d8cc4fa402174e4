"""The workbench's shell: tabs, keys, search, undo, links, lessons."""

from __future__ import annotations

import json
import re

from playwright.sync_api import Page, expect

from tests.browser.bare import WidgetServer, wait_for_python
from tests.browser.conftest import OpenWorkbench
from tests.browser.hand import drag_handle, focus_workbench, shown_place
from tests.browser.product import Workbench, open_demo
from tests.browser.screen import Watch, wait_for_frame, wait_until


def keys(page: Page, *names: str) -> None:
    """Press keys wherever the focus is in the workbench; nothing is clicked."""
    for name in names:
        page.keyboard.press(name)
        wait_for_frame(page)
    wait_for_python(page)


def panels(page: Page) -> list[str]:
    shown: list[str] = page.evaluate(
        "() => [...document.querySelectorAll('[data-panel]')]"
        ".filter(panel => panel.offsetParent !== null).map(panel => panel.dataset.panel)"
    )
    return shown


def test_the_whole_lesson_without_a_mouse(
    page: Page, workbench: Workbench, watch: Watch, widgets: WidgetServer
) -> None:
    focus_workbench(page)
    keys(page, "9")
    expect(page.get_by_test_id("tab-lesson")).to_have_attribute("aria-selected", "true")
    assert workbench.tab == "lesson"
    assert panels(page) == ["lesson"]
    policy_place = workbench.plan.place

    # Guess the cut: it hides, is placed by keys, and Python hears nothing of the guess.
    keys(page, "g")
    expect(page.get_by_test_id("guess-show")).to_be_visible()
    expect(page.get_by_test_id("sentence")).to_have_text("Where would you cut?")
    assert shown_place(page) != policy_place
    keys(page, "c", "Home", "ArrowRight", "ArrowRight")
    assert (workbench.cut, workbench.get_state("_seq")["_seq"]) == ("", 0)
    mine = shown_place(page)
    keys(page, "g")
    expect(page.get_by_test_id("verdict")).to_contain_text("too early")
    assert shown_place(page) == policy_place
    turn = workbench.moment.live.turn
    expect(page.get_by_test_id("verdict")).to_contain_text(
        f"{turn[policy_place] - turn[mine]} turns too early"
    )

    # An invalid cut point by keys: the pair and the provider's own answer.
    keys(page, "c", "End", "Shift+ArrowLeft")
    while page.get_by_test_id("broken").is_hidden():
        keys(page, "Shift+ArrowLeft")
    expect(page.get_by_test_id("refusal")).to_contain_text(
        "unexpected `tool_use_id` found in `tool_result` blocks: toolu_"
    )
    place = shown_place(page)
    assert workbench.plan.cuts.legal[place], "the cut itself never stands there"

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
    assert watch.strangers(widgets) == []


def test_letting_the_handle_go_on_an_illegal_place_tells_what_it_breaks(
    page: Page, workbench: Workbench
) -> None:
    focus_workbench(page)
    keys(page, "9")
    illegal = [cut.place for cut in workbench.plan.cuts if cut.rule == "orphan-output"][-6]
    strip = page.locator(".ci-strip").bounding_box()
    grip = page.get_by_test_id("cut-handle").bounding_box()
    assert strip is not None and grip is not None
    page.mouse.move(grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2)
    page.mouse.down()
    found = False
    for x in range(int(strip["x"] + strip["width"]) - 2, int(strip["x"]), -2):
        page.mouse.move(x, strip["y"] + 5)
        wait_for_frame(page)
        if page.get_by_test_id("cut-refusal").is_visible():
            found = True
            break
    assert found and illegal > 0
    page.mouse.up()
    expect(page.get_by_test_id("broken")).to_be_visible()
    expect(page.get_by_test_id("refusal")).to_contain_text("400")


def test_undo_and_redo_of_a_drag_a_rule_and_a_pin(page: Page, workbench: Workbench) -> None:

    def decided() -> tuple[str, dict[str, object], list[str]]:
        return workbench.cut, workbench.settings, workbench.pins

    states = [decided()]
    page.get_by_test_id("cut-handle").scroll_into_view_if_needed()
    drag_handle(page, 0.4)
    wait_for_python(page)
    states.append(decided())
    # Under a cut that was set by hand its number changes nothing, and so has a field only among all settings.
    workbench.tab = "rules"
    page.get_by_test_id("all-settings").click()
    knob = page.get_by_test_id("set-keep-recent-tokens.tokens")
    knob.fill("4000")
    knob.press("Enter")
    page.get_by_test_id("settings").get_by_role("button", name="Close").click()
    wait_for_python(page)
    states.append(decided())
    focus_workbench(page)
    keys(page, "j", "p")
    states.append(decided())
    assert len({json.dumps(state) for state in states}) == 4
    for name, state in zip(("a pin", "a rule", "the cut"), states[2::-1], strict=True):
        expect(page.get_by_test_id("undo")).to_have_attribute("title", f"Undo the change of {name} (z)")
        keys(page, "z")
        assert decided() == state
        assert shown_place(page) == (workbench.plan.place or 0)
    expect(page.get_by_test_id("undo")).to_be_disabled()
    for state in states[1:]:
        page.get_by_test_id("redo").click()
        wait_for_python(page)
        assert decided() == state
    workbench.policy = "keep-recent-turns"
    wait_for_python(page)
    expect(page.get_by_test_id("undo")).to_have_attribute("title", "Undo the change of the policy (z)")
    page.get_by_test_id("undo").click()
    wait_for_python(page)
    assert workbench.policy == "flue"
    assert decided() == states[-1]


def test_a_link_opens_a_block_in_its_own_moment(page: Page, workbench: Workbench) -> None:
    first = workbench.session.entries[workbench.session.path[0]].id
    at = workbench.at
    last = workbench.session.entries[workbench.session.path[-1]].id
    for entry in (first, last):
        workbench.block = f"{entry}/0"
        page.wait_for_function(
            "entry => document.querySelector('[data-testid=block]').innerText.includes(entry)",
            arg=f"{entry}/0",
        )
    wait_for_python(page)
    assert workbench.at != at
    assert workbench.block == f"{last}/0"


def test_python_sets_the_tab(page: Page, workbench: Workbench) -> None:
    workbench.tab = "rules"
    expect(page.get_by_test_id("tab-rules")).to_have_attribute("aria-selected", "true")
    assert panels(page) == ["rules"]
    page.get_by_test_id("tab-blocks").click()
    expect(page.get_by_test_id("tab-blocks")).to_have_attribute("aria-selected", "true")
    wait_until(lambda: workbench.tab == "blocks", page)
    assert panels(page) == ["blocks"]


def test_two_workbenches_on_one_kernel_are_independent(page: Page, open_workbench: OpenWorkbench) -> None:
    first, other = open_workbench(tab="blocks"), open_workbench(open_demo(), "keep-recent-turns")
    before = (first.cut, first.policy, first.tab)
    page.locator(".ci").nth(1).focus()
    keys(page, "9", "c", "ArrowLeft")
    assert other.tab == "lesson"
    assert other.cut != ""
    assert (first.cut, first.policy, first.tab) == before
    expect(page.get_by_test_id("tab-blocks").nth(0)).to_have_attribute("aria-selected", "true")
    ids = page.evaluate("() => [...document.querySelectorAll('.ci [id]')].map(node => node.id)")
    assert len(ids) == len(set(ids)), "no id stands twice on the page"
