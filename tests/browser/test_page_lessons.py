"""The lessons on an exported page: from a file, with the network off and no Python behind it."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from inspector.workbench.lessons.bundled import find_lesson, lessons_of, list_lessons, make_session
from inspector.workbench.lessons.lesson import INPUTS, Step
from inspector.workbench.lessons.played_step import find_place
from tests.browser.conftest import OpenOffline
from tests.browser.hand import choose_policy, open_tab
from tests.browser.product import WorkbenchModel, export_html, open_demo
from tests.browser.screen import wait_until_still

HERE = [lesson.name for lesson in lessons_of(open_demo())]
NUMBERS = {lesson.name: number for number, lesson in enumerate(list_lessons(), 1)}


@pytest.fixture(scope="module")
def model() -> WorkbenchModel:
    model = WorkbenchModel(open_demo())
    model.answer({})
    return model


def move_cut(page: Page, model: WorkbenchModel, words: str) -> None:
    """By the keyboard: the cut to a legal place, and with Shift on to one that is not."""
    wanted = find_place(words, model.moment)
    assert wanted is not None
    handle = page.get_by_test_id("cut-handle")
    handle.press("Home")
    legal = [cut.place for cut in model.plan.cuts if cut.legal]
    steps = sum(place <= wanted for place in legal) - 1
    for _ in range(steps):
        handle.press("ArrowRight")
    for _ in range(wanted - legal[steps]):
        handle.press("Shift+ArrowRight")


def is_done_here(step: Step) -> bool:
    """A page has one moment and changes no rule and no pin."""
    return set(step.solve) | set(step.show) <= {*INPUTS} - {"pin", "moment"} or bool(step.choices)


@pytest.mark.parametrize("name", HERE)
def test_W2_25_a_lesson_is_played_to_its_end_on_the_page(
    exported_page: Path, show: OpenOffline, model: WorkbenchModel, name: str
) -> None:
    """Nothing done is not right and the solution is, as in a notebook; what a page cannot do is said."""
    page, told = show(exported_page, viewport={"width": 1400, "height": 900})
    page.get_by_test_id("cut-handle").wait_for()
    open_tab(page, "lesson")
    page.get_by_test_id(f"lesson-{NUMBERS[name]}").click()
    verdict = page.get_by_test_id("lesson-verdict")
    steps, check = find_lesson(name).steps, page.get_by_test_id("lesson-check")
    for at, step in enumerate(steps, 1):
        shown = page.get_by_test_id("step")
        expect(shown).to_have_attribute("data-link", f"{NUMBERS[name]}.{at}")
        expect(shown.locator("h4")).to_contain_text(step.title)
        if is_done_here(step):
            check.click()
            expect(verdict).to_contain_text("Not yet.")
            for what, value in step.solve.items():
                if what == "answer":
                    page.get_by_test_id("choice").filter(has_text=value).first.click()
                elif what == "policy":
                    choose_policy(page, value)
                else:
                    move_cut(page, model, value)
            # A cut that is still moving takes back what was said of the place before.
            wait_until_still(page)
            check.click()
            expect(verdict).to_contain_text("✓ Right.")
        else:
            expect(shown).to_contain_text("needs a kernel; this page has none")
            expect(check).to_have_count(0)
        page.get_by_test_id("step-next").click() if at < len(steps) else None
    assert told == []


def test_the_rules_of_a_policy_play_one_by_one_on_the_page(
    exported_page: Path, show: OpenOffline, model: WorkbenchModel
) -> None:
    page, told = show(exported_page)
    page.get_by_test_id("cut-handle").wait_for()
    choose_policy(page, "mini-claude-code")
    open_tab(page, "lesson")
    page.get_by_test_id("play-start").click()
    expect(page.get_by_test_id("play-at")).to_contain_text("Nothing is decided yet")
    count = page.locator(".ci-played li").count()
    assert count > 5
    page.get_by_test_id("play-all").click()
    # After all rules stands what the plan leaves.
    other = WorkbenchModel(open_demo(), "mini-claude-code")
    other.answer({"at": model.inputs["at"], "policy": "mini-claude-code"})
    expect(page.get_by_test_id("play-at")).to_contain_text(f"{other.plan.after / 1000:.1f}k left")
    assert told == []


def test_where_a_cut_is_refused_the_page_tells_what_it_would_break(
    exported_page: Path, show: OpenOffline, model: WorkbenchModel
) -> None:
    page, told = show(exported_page)
    page.get_by_test_id("cut-handle").wait_for()
    open_tab(page, "lesson")
    move_cut(page, model, "illegal in turn 11")
    expect(page.get_by_test_id("refusal")).to_contain_text("400")
    expect(page.get_by_test_id("lesson")).to_contain_text("its output")
    assert told == []


def test_a_question_about_another_moment_is_answered_without_its_picture(
    show: OpenOffline, tmp_path: Path
) -> None:
    session = make_session("generated")
    done = export_html(session, tmp_path / "five.html")
    page, told = show(done.path)
    page.get_by_test_id("cut-handle").wait_for()
    open_tab(page, "lesson")
    page.get_by_test_id("lesson-5").wait_for()
    listed = page.locator("[data-testid^=lesson-]").filter(has=page.locator("small"))
    assert [one.inner_text().split()[0] for one in listed.all()] == ["5"]
    page.get_by_test_id("lesson-5").click()
    page.get_by_test_id("step-next").click()
    expect(page.get_by_test_id("step")).to_contain_text("another moment of the session; this page holds one")
    page.get_by_test_id("choice").filter(has_text="more than a third").click()
    page.get_by_test_id("lesson-check").click()
    expect(page.get_by_test_id("lesson-verdict")).to_contain_text("✓ Right.")
    assert told == []
