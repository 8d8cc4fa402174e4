"""Lessons, a step at a time: played to the end by the keyboard alone, each step with a picture of its own."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from inspector.workbench.lessons.bundled import find_lesson, list_lessons, make_session
from inspector.workbench.lessons.lesson import Lesson, Step
from inspector.workbench.lessons.played_step import find_place
from tests.browser.bare import wait_for_python
from tests.browser.conftest import OpenWorkbench
from tests.browser.hand import focus_workbench
from tests.browser.product import Workbench
from tests.browser.screen import wait_for_frame, wait_until, wait_until_still

LESSONS = {lesson.name: number for number, lesson in enumerate(list_lessons(), 1)}
SMALLEST = """() => Math.min(...[...document.querySelectorAll('[data-testid=lesson] *')]
    .filter(one => one.checkVisibility() && [...one.childNodes].some(
        node => node.nodeType === Node.TEXT_NODE && node.textContent.trim() !== ''))
    .map(one => parseFloat(getComputedStyle(one).fontSize)))"""
PICTURE = """() => JSON.stringify([
    document.querySelector('.ci-sentence')?.innerText,
    document.querySelector('[data-testid=gauge-after]')?.innerText,
    document.querySelector('[data-testid=fact-row]')?.innerText,
    [...document.querySelectorAll('.ci-turns canvas')].map(canvas => canvas.toDataURL()),
    document.querySelector('[data-testid=cut-handle]')?.getAttribute('aria-valuetext'),
])"""


def press(page: Page, *names: str) -> None:
    for name in names:
        page.keyboard.press(name)
    wait_for_frame(page)
    wait_for_python(page)


def tab_to(page: Page, script: str, most: int = 90) -> None:
    """Press Tab until the element with the focus is the one that is looked for."""
    for _ in range(most):
        if page.evaluate(f"() => (one => {script})(document.activeElement)"):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"no Tab leads to where {script}")


def go_to_lesson(page: Page) -> None:
    # A step that has just come takes the focus to its title a moment later: keys are heard from inside alone.
    page.wait_for_function("() => document.activeElement.closest('.ci') !== null")
    press(page, "l")
    page.wait_for_function("() => document.activeElement.closest('[data-testid=lesson]') !== null")


def move_cut(page: Page, workbench: Workbench, words: str) -> None:
    """Take the cut and move it with arrows; with Shift onto a place that is not legal."""
    cuts = workbench.plan.cuts
    wanted = find_place(words, workbench.moment)
    assert wanted is not None
    press(page, "c", "Home")
    legal = [cut.place for cut in cuts if cut.legal]
    steps = sum(place <= wanted for place in legal) - 1
    for _ in range(steps):
        page.keyboard.press("ArrowRight")
    wait_for_python(page)
    for _ in range(wanted - legal[steps]):
        press(page, "Shift+ArrowRight")


def solve(page: Page, workbench: Workbench, step: Step) -> None:
    """Do what the step's solution says, as a person without a mouse."""
    for name, value in step.solve.items():
        if name == "cut":
            move_cut(page, workbench, value)
        elif name == "answer":
            go_to_lesson(page)
            tab_to(page, f"one.dataset.testid === 'choice' && one.textContent === {value!r}")
            press(page, "Enter")
        elif name == "pin":
            press(page, "1")
            tab_to(page, "one.tagName === 'BUTTON' && one.textContent.trim() === 'Pin'")
            press(page, "Enter")
            wait_until(lambda: workbench.pins != [], page)
        elif name == "policy":
            workbench.policy = value
        else:
            press(page, "7")
            tab_to(page, f"one.matches('input') && one.value.replace(/\\D/g, '') === '{step.show[name]}'")
            page.keyboard.press("ControlOrMeta+a")
            page.keyboard.type(value)
            press(page, "Enter", "Tab")
            expected = {name: int(value)}
            wait_until(lambda: workbench.settings == expected, page)  # noqa: B023


def play(page: Page, workbench: Workbench, lesson: Lesson) -> None:
    number, before = LESSONS[lesson.name], ""
    for at, step in enumerate(lesson.steps, 1):
        shown = page.get_by_test_id("step")
        expect(shown).to_have_attribute("data-link", f"{number}.{at}")
        wait_for_python(page)
        wait_until_still(page)
        picture = page.evaluate(PICTURE)
        assert picture != before, f"step {at} looks as the one before"
        before = picture
        assert page.evaluate(SMALLEST) >= 14
        expect(shown.locator("h4")).to_contain_text(step.title)
        if step.check:
            go_to_lesson(page)
            if step.choices:
                tab_to(page, "one.dataset.testid === 'lesson-check'")
            press(page, "Enter")
            expect(page.get_by_test_id("lesson-verdict")).to_contain_text("Not yet.")
            assert len(page.get_by_test_id("lesson-verdict").inner_text()) > 20
            if step.hide:
                press(page, "g")
            solve(page, workbench, step)
            go_to_lesson(page)
            press(page, "Enter")
            expect(page.get_by_test_id("lesson-verdict")).to_contain_text("✓ Right.")
        if at < len(lesson.steps):
            go_to_lesson(page)
            press(page, "Enter")


@pytest.mark.parametrize("name", LESSONS)
def test_W2_23_a_lesson_is_played_to_its_end_with_the_keyboard_alone(
    page: Page, open_workbench: OpenWorkbench, name: str
) -> None:
    """Nothing done is not right, the solution is; each step has its own picture, and no text is small."""
    lesson = find_lesson(name)
    page.set_viewport_size({"width": 1400, "height": 900})
    workbench = open_workbench(make_session(lesson.session), lesson=f"{LESSONS[name]}.1")
    focus_workbench(page)
    play(page, workbench, lesson)


@pytest.mark.parametrize("policy", ["flue", "mini-claude-code", "inspect-edit"])
def test_W2_23_at_each_rule_that_plays_the_picture_is_another(
    page: Page, open_workbench: OpenWorkbench, policy: str
) -> None:
    open_workbench(policy=policy)
    focus_workbench(page)
    press(page, "8", ".")
    expect(page.get_by_test_id("play-at")).to_contain_text("Nothing is decided yet")
    expect(page.get_by_test_id("fact-row")).to_be_hidden()
    count = page.locator(".ci-played li").count()
    seen = [page.evaluate(PICTURE)]
    for _ in range(count):
        press(page, ".")
        wait_until_still(page)
        seen.append(page.evaluate(PICTURE))
    assert len(set(seen)) == count + 1
    expect(page.get_by_test_id("fact-row")).to_be_visible()
    press(page, "3")
    expect(page.get_by_test_id("fact-row")).to_be_hidden()


def test_a_step_starts_again_as_it_began_and_undo_takes_that_back(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    """Whatever somebody tried in a step: the cut, the policy and its settings, a pin, an answer."""
    lesson = find_lesson("legal-cut")
    at = next(n for n, step in enumerate(lesson.steps, 1) if step.check and not step.hide)
    page.set_viewport_size({"width": 1400, "height": 900})
    workbench = open_workbench(make_session(lesson.session), lesson=f"{LESSONS[lesson.name]}.{at}")
    focus_workbench(page)
    wait_for_python(page)
    wait_until_still(page)
    names = ("cut", "policy", "settings", "pins", "at")
    begun = {name: getattr(workbench, name) for name in names}
    plan = repr(workbench.plan)
    workbench.policy = "codex" if workbench.plan.policy.name != "codex" else "flue"
    press(page, "c", "Home", "ArrowRight", "ArrowRight")
    wait_until(lambda: workbench.cut != begun["cut"], page)
    moved = {name: getattr(workbench, name) for name in names}
    assert moved != begun
    go_to_lesson(page)
    tab_to(page, "one.dataset.testid === 'step-again'")
    press(page, "Enter")
    wait_until(lambda: {name: getattr(workbench, name) for name in names} == begun, page)
    assert repr(workbench.plan) == plan
    expect(page.get_by_test_id("lesson-verdict")).to_have_count(0)
    page.get_by_role("button", name=re.compile("^Undo")).first.click()
    wait_until(lambda: {name: getattr(workbench, name) for name in names} == moved, page)


def test_a_guess_stays_as_a_dashed_line_beside_the_answer_until_the_next_step(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    workbench = open_workbench(make_session("demo"), lesson="3.1")
    guess = page.locator(".ci-cutb")
    expect(page.get_by_test_id("sentence")).to_have_text("Where would you cut?")
    expect(guess).to_be_hidden()
    focus_workbench(page)
    press(page, "c", "End", "ArrowLeft")
    go_to_lesson(page)
    press(page, "Enter")
    expect(page.get_by_test_id("lesson-verdict")).to_contain_text("Your cut in turn 15")
    expect(guess).to_be_visible()
    expect(guess).to_contain_text(re.compile(r"your guess: turn 15, \d+\.\dk after"))
    expect(page.get_by_test_id("sentence")).to_contain_text("Left of the cut")
    assert workbench.cut == "", "a guess is no edit"
    workbench.lesson = "3.2"
    expect(page.get_by_test_id("step")).to_have_attribute("data-link", "3.2")
    expect(guess).to_be_hidden()


def test_presenter_size_makes_the_type_larger_and_takes_it_back(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    open_workbench(make_session("demo"), lesson="1.1")
    page.get_by_test_id("step").wait_for()
    focus_workbench(page)
    size = "one => parseFloat(getComputedStyle(document.querySelector(one)).fontSize)"
    before = page.evaluate(size, ".ci-header")
    press(page, "P")
    assert page.evaluate(size, ".ci-tell p") == 18
    assert page.evaluate(size, ".ci-header") == pytest.approx(before * 1.25)
    press(page, "P")
    assert page.evaluate(size, ".ci-tell p") == 14
    assert page.evaluate(size, ".ci-header") == before


def test_a_step_that_python_opens_keeps_what_python_sets_after_it(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    workbench = open_workbench(make_session("demo"))
    workbench.lesson = "2.1"
    workbench.cut = workbench.plan.cuts.ids[find_place("turn 5", workbench.moment) or 0]
    expect(page.get_by_test_id("step")).to_have_attribute("data-link", "2.1")
    wait_for_python(page)
    wait_until_still(page)
    assert int(workbench.moment.live.turn[workbench.plan.place or 0]) == 4
    page.get_by_test_id("step-next").click()
    expect(page.get_by_test_id("step")).to_have_attribute("data-link", "2.2")
    wait_until(lambda: workbench.lesson == "2.2", page)
    wait_until(lambda: int(workbench.moment.live.turn[workbench.plan.place or 0]) == 10, page)


def test_a_session_of_ones_own_names_the_lessons_and_plays_its_own_policy(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    session = make_session("demo").model_copy(update={"id": "another"})
    open_workbench(session, "flue", tab="lesson")
    expect(page.get_by_test_id("lesson")).to_contain_text('open_lesson("legal-cut")')
    expect(page.get_by_test_id("lesson-1")).to_have_count(0)
    expect(page.get_by_test_id("play-start")).to_be_visible()
