"""Lessons, a step at a time: played to the end by the keyboard alone, each step with a picture of its own."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from inspector.workbench.lessons.bundled import find_lesson, list_lessons, make_session
from inspector.workbench.lessons.lesson import Lesson, Step
from inspector.workbench.lessons.played_step import find_place
from tests.browser.bare import wait_for_python
from tests.browser.conftest import OpenWorkbench
from tests.browser.hand import focus_workbench
from tests.browser.product import Workbench
from tests.browser.screen import wait_until

LESSONS = {lesson.name: number for number, lesson in enumerate(list_lessons(), 1)}
SMALLEST = """() => Math.min(...[...document.querySelectorAll('[data-testid=lesson] *')]
    .filter(one => one.checkVisibility() && [...one.childNodes].some(
        node => node.nodeType === Node.TEXT_NODE && node.textContent.trim() !== ''))
    .map(one => parseFloat(getComputedStyle(one).fontSize)))"""
PICTURE = """() => JSON.stringify([
    document.querySelector('.ci-sentence')?.innerText,
    document.querySelector('[data-testid=gauge-after]')?.innerText,
    [...document.querySelectorAll('.ci-turns canvas')].map(canvas => canvas.toDataURL()),
    document.querySelector('[data-testid=cut-handle]')?.getAttribute('aria-valuetext'),
])"""


def press(page: Page, *names: str) -> None:
    for name in names:
        page.keyboard.press(name)
    page.wait_for_timeout(40)
    wait_for_python(page)


def tab_to(page: Page, script: str, most: int = 90) -> None:
    """Press Tab until the element with the focus is the one that is looked for."""
    for _ in range(most):
        if page.evaluate(f"() => (one => {script})(document.activeElement)"):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"no Tab leads to where {script}")


def go_to_lesson(page: Page) -> None:
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
        else:
            press(page, "7")
            tab_to(page, "one.matches('input[type=number], input.ci-knob') && one.value.includes('40')")
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
        page.wait_for_timeout(150)
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
