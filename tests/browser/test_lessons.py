"""The course on its static pages: from a plain web server, without a kernel, by mouse, keyboard and touch."""

from __future__ import annotations

import functools
import json
import threading
from collections.abc import Callable, Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from inspector.workbench.lessons.bundled import FINAL, FINAL_POOL, POOL, list_names, open_bundled
from inspector.workbench.lessons.commands import write_course
from inspector.workbench.lessons.grading import choose_seed, count_points, grade_answers
from inspector.workbench.lessons.pages import name_page
from inspector.workbench.payloads.sections import format_tokens
from tests.browser.conftest import OpenWorkbench
from tests.browser.hand import focus_workbench
from tests.browser.screen import find_violations, wait_for_frame, wait_until_still
from tests.browser.traffic import own_server
from tests.work import PATIENCE

STUDENT = "0123456789abcdef"
Exercise = dict[str, Any]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the course, served as `python -m http.server` does."""
    folder = tmp_path_factory.mktemp("course")
    write_course(folder)
    handler = functools.partial(Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        own_server(address)
        yield address
        server.shutdown()


Visit = Callable[..., tuple[Page, list[str]]]


@pytest.fixture
def visit(browser: Browser, course: str) -> Iterator[Visit]:
    """Opens a page as a known student; foreign requests and complaints of the page come with it."""
    contexts: list[BrowserContext] = []

    def visit(name: str, **options: Any) -> tuple[Page, list[str]]:
        context = browser.new_context(**{"viewport": {"width": 1400, "height": 900}, **options})
        context.set_default_timeout(1000 * PATIENCE)
        contexts.append(context)
        page, complaints = context.new_page(), []
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "request",
            lambda request: None if request.url.startswith(course) else complaints.append(request.url),
        )
        begin = {"format": "compaction-inspector-answers-1", "student": STUDENT, "lessons": {}}
        page.add_init_script(
            "try { localStorage.getItem('compaction-inspector-course') ?? "
            f"localStorage.setItem('compaction-inspector-course', '{json.dumps(begin)}') }} catch {{}}"
        )
        page.goto(f"{course}/{name}")
        return page, complaints

    yield visit
    for context in contexts:
        context.close()


def find_exercise(name: str, number: int, tries: int) -> Exercise | None:
    """The exercise of a step for the known student, from Python; None for a step without one."""
    step = open_bundled(name)["steps"][number - 1]
    if step["kind"] == "reveal":
        return None
    if "exercise" in step:
        return step["exercise"]  # type: ignore[no-any-return]
    pool = FINAL_POOL if name == FINAL else POOL
    seed = choose_seed(STUDENT, name, pool)
    return step["variants"][seed if name == FINAL else (seed + tries) % pool]  # type: ignore[no-any-return]


def drag_to(page: Page, exercise: Exercise, option: int) -> None:
    """Take the handle with the mouse, and let it go near the option's place."""
    chart = page.locator(".cl-plot svg")
    chart.scroll_into_view_if_needed()
    box = page.get_by_test_id("cut-handle").bounding_box()
    lanes = chart.bounding_box()
    assert box and lanes
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 20)
    page.mouse.down()
    state = exercise["options"][option]["state"]
    place = option if exercise["ask"] == "place" else state[0]
    columns = page.evaluate(
        "() => JSON.parse(document.getElementById('data').textContent).lesson.charts.map(p => p.columns)"
    )[exercise["chart"]]
    lead = float(page.locator(".cl-band").first.get_attribute("x") or 0)
    x = lanes["x"] + lead + (lanes["width"] - lead) * place / columns
    page.mouse.move(x, box["y"] + 60, steps=4)
    page.mouse.up()


def choose(page: Page, exercise: Exercise, option: int) -> None:
    """Answer with the mouse: drag, set, or choose."""
    if exercise["ask"] in ("cut", "place"):
        drag_to(page, exercise, option)
        handle = page.get_by_test_id("cut-handle")
        # The mouse is not finer than a pixel, so the last steps may be the arrows beside the name.
        for _ in range(6):
            now = int(handle.get_attribute("aria-valuenow") or 0)
            if now == option:
                return
            page.get_by_test_id("cut-left" if now > option else "cut-right").click()
        pytest.fail(f"the handle is at {handle.get_attribute('aria-valuenow')}, and not at {option}")
    elif exercise["ask"] == "set":
        for _ in exercise["options"]:
            now = int(page.get_by_test_id("number").input_value())
            if now == option:
                return
            page.get_by_role("button", name="Less" if now > option else "More").click()
    else:
        page.get_by_test_id("choice").nth(option).click()


def find_option(exercise: Exercise, right: bool) -> int:
    """The solution, or a wrong answer that is not the one shown first."""
    if right:
        return int(exercise["solution"])
    wrong = [
        at for at, option in enumerate(exercise["options"]) if not option["right"] and at != exercise["start"]
    ]
    return wrong[0]


def play(page: Page, name: str, fails: int = 0) -> None:
    """Play a lesson to its mark; the step number `fails` is failed once and repaired."""
    page.get_by_test_id("next").click()
    steps = open_bundled(name)["steps"]
    for number in range(1, len(steps) + 1):
        expect(page.get_by_test_id("lesson")).to_have_attribute("data-step", str(number + 1))
        assert page.url.endswith(f"#{number + 1}")
        for tries, right in enumerate([False, True] if number == fails else [True]):
            exercise = find_exercise(name, number, tries)
            if exercise is None:
                break
            expect(page.locator("h2")).to_have_text(exercise["question"])
            option = find_option(exercise, right)
            choose(page, exercise, option)
            page.get_by_test_id("commit").click()
            says = exercise["says"][exercise["options"][option]["says"]]
            if name == FINAL:
                expect(page.get_by_test_id("verdict")).to_contain_text("Your answer is saved")
            else:
                sign = "✓ Right." if right else "✕ Not yet."
                expect(page.get_by_test_id("verdict")).to_contain_text(sign)
                expect(page.get_by_test_id("verdict")).to_contain_text(" ".join(says.split()))
            if not right and page.get_by_test_id("again").count():
                page.get_by_test_id("again").click()
        page.get_by_test_id("next").click()


def export(page: Page, folder: Path) -> str:
    with page.expect_download() as download:
        page.get_by_test_id("export").click()
    download.value.save_as(folder / "answers.json")
    return (folder / "answers.json").read_text("utf-8")


@pytest.mark.parametrize("name", list_names())
def test_a_lesson_is_finished_with_the_mouse_exported_and_graded(
    visit: Visit, tmp_path: Path, name: str
) -> None:
    """The check is failed once and repaired, so one point of all is missing."""
    page, complaints = visit(name_page(name))
    last = len(open_bundled(name)["steps"])
    play(page, name, 0 if name == FINAL else last)
    points = count_points(name) - (name != FINAL)
    expect(page.get_by_test_id("mark")).to_have_text(f"{points} of {count_points(name)} points")
    graded = grade_answers("answers.json", export(page, tmp_path))
    assert graded.marks == {name: (points, count_points(name))}
    assert graded.remarks == []
    # Progress is kept, and each step has an address.
    page.goto(page.url.partition("#")[0] + "#2")
    page.reload()
    expect(page.get_by_test_id("lesson")).to_have_attribute("data-step", "2")
    expect(page.get_by_test_id("next")).to_be_visible()
    assert complaints == []


def test_a_step_opens_only_when_the_one_before_is_done_and_giving_up_is_recorded(
    visit: Visit, tmp_path: Path
) -> None:
    page, _ = visit("lesson-2.html#6")
    lesson = page.get_by_test_id("lesson")
    expect(lesson).to_have_attribute("data-step", "2")
    assert page.get_by_test_id("next").count() == 0
    expect(page.get_by_test_id("commit")).to_be_disabled()
    page.locator(".cl-steps a").nth(4).click(force=True)
    expect(lesson).to_have_attribute("data-step", "2")
    page.get_by_test_id("give-up").click()
    expect(page.get_by_test_id("verdict")).to_contain_text("Solution: between a call and its output.")
    page.get_by_test_id("next").click()
    expect(lesson).to_have_attribute("data-step", "3")
    page.go_back()
    expect(lesson).to_have_attribute("data-step", "2")
    stored = page.evaluate("() => JSON.parse(localStorage.getItem('compaction-inspector-course'))")
    assert stored["lessons"]["legal-cut"]["steps"]["1"]["gave_up"] is True


def test_before_the_answer_no_part_of_the_picture_gives_it_away(visit: Visit) -> None:
    """A prediction about a policy shows the request as it is; the plan is drawn after the commit."""
    page, _ = visit("lesson-1.html")
    page.get_by_test_id("next").click()
    choose(page, find_exercise("where-the-tokens-are", 1, 0) or {}, 3)
    page.get_by_test_id("commit").click()
    page.get_by_test_id("next").click()
    expect(page.locator("h2")).to_have_text("How much of the request is gone?")
    assert page.locator("[data-fate]:not([data-fate=v])").count() == 0
    page.get_by_test_id("give-up").click()
    page.locator("[data-fate=c]").first.wait_for()


def find_hidden() -> list[tuple[str, int]]:
    """Lessons and numbers of the steps that hide a plan until it is answered."""
    return [
        (name, number)
        for name in list_names()
        for number, step in enumerate(open_bundled(name)["steps"], 1)
        if step.get("hidden")
    ]


def open_step(page: Page, name: str, number: int) -> Exercise:
    """Open a step of a lesson in which everything before it was given up."""
    lesson = open_bundled(name)
    given_up = {"tries": [], "gave_up": True, "seconds": 1}
    steps = {str(at): given_up for at in range(1, number) if lesson["steps"][at - 1]["kind"] != "reveal"}
    lessons = {name: {"version": lesson["version"], "steps": steps}}
    stored = {"format": "compaction-inspector-answers-1", "student": STUDENT, "lessons": lessons}
    page.evaluate("text => localStorage.setItem('compaction-inspector-course', text)", json.dumps(stored))
    page.goto(f"{page.url.rpartition('/')[0]}/{name_page(name)}?{number}#{number + 1}")
    expect(page.get_by_test_id("lesson")).to_have_attribute("data-step", str(number + 1))
    exercise = find_exercise(name, number, 0)
    assert exercise is not None
    expect(page.locator("h2")).to_have_text(exercise["question"])
    return exercise


def test_a_hidden_plan_shows_the_request_alone_and_then_the_plan(visit: Visit) -> None:
    page, _ = visit("index.html")
    hidden = find_hidden()
    assert len(hidden) > 3
    for name, number in hidden:
        exercise = open_step(page, name, number)
        chart = open_bundled(name)["charts"][exercise["chart"]]
        plot = page.locator(".cl-plot svg")
        page.locator("[data-fate=v]").first.wait_for()
        assert page.locator("[data-fate]:not([data-fate=v])").count() == 0, (name, number)
        assert page.locator(".cl-pill").count() == 0, (name, number)
        messages = sum(tokens for _, _, tokens in chart["blocks"])
        assert page.locator(".cl-newer-words").text_content() == f"messages {format_tokens(messages)}"
        assert f"no cut, {format_tokens(chart['before'])} sent" in (plot.get_attribute("aria-label") or "")
        page.get_by_test_id("give-up").click()
        if exercise["state"][4]:
            page.locator("[data-fate]:not([data-fate=v])").first.wait_for()
        elif exercise["state"][0] >= 0:
            page.locator(".cl-pill").wait_for()


def test_the_picture_has_the_summary_of_the_question(visit: Visit) -> None:
    last = len(open_bundled("two-surfaces")["steps"])
    page, _ = visit("index.html", viewport={"width": 1920, "height": 1080})
    exercise = open_step(page, "two-surfaces", last)
    sizes = [words.rstrip(".") for words in exercise["question"].split() if words[0].isdigit()]
    held, remaining, summary = sizes
    band = " ".join(page.locator(".cl-plot svg text").all_text_contents())
    assert f"summary {summary}" in band and f"kept {remaining}" in band
    assert (
        f"Lanes of {len(open_bundled('two-surfaces')['charts'][exercise['chart']]['turns'])} turns, {held}"
        in (page.locator(".cl-plot svg").get_attribute("aria-label") or "")
    )


SIZES = [{"width": 390, "height": 844}, {"width": 1366, "height": 700}]


def list_questions() -> list[tuple[str, int]]:
    """Lessons and numbers of the steps that ask: to build all lessons takes too long for a collection."""
    return [
        (name, number)
        for name in list_names()
        if name != FINAL
        for number, step in enumerate(open_bundled(name)["steps"], 1)
        if step["kind"] != "reveal"
    ]


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size['width']}x{size['height']}")
def test_after_a_wrong_answer_the_feedback_is_seen_above_the_bar(visit: Visit, size: dict[str, int]) -> None:
    hidden = []
    page, _ = visit("index.html", viewport=size)
    # Every question in one of the sizes.
    for name, number in list_questions()[SIZES.index(size) :: len(SIZES)]:
        exercise = open_step(page, name, number)
        if exercise["ask"] in ("choice", "policy", "pin"):
            choose(page, exercise, find_option(exercise, False))
        page.get_by_test_id("commit").click()
        expect(page.get_by_test_id("verdict")).to_contain_text("✕ Not yet.")
        wait_for_frame(page)
        seen = page.get_by_test_id("verdict").evaluate(
            """node => {
                const { left, top, height } = node.getBoundingClientRect()
                return [0.1, 0.5, 0.9].every(share =>
                    node.contains(document.elementFromPoint(left + 20, top + height * share)))
            }"""
        )
        if not seen:
            hidden.append((name, number))
    assert hidden == []


def test_a_lesson_is_played_by_the_keyboard(visit: Visit) -> None:
    page, _ = visit("lesson-2.html")
    page.keyboard.press("Tab")
    page.get_by_test_id("next").focus()
    page.keyboard.press("Enter")
    expect(page.locator("h2")).to_be_focused()  # a new step begins at its question
    page.get_by_test_id("choice").locator("input").nth(1).focus()
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("verdict")).to_contain_text("✓ Right.")
    page.keyboard.press("Tab")
    page.get_by_test_id("next").focus()
    page.keyboard.press("Enter")
    expect(page.locator("h2")).to_be_focused()
    handle = page.get_by_test_id("cut-handle")
    handle.focus()
    for _ in range(4):
        page.keyboard.press("PageDown")
    expect(handle).to_have_attribute("aria-valuetext", "start of turn 12")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("verdict")).to_contain_text("✓ Right. Turns 1 to 11")


def test_a_drop_beside_a_cut_point_counts_as_the_nearest(visit: Visit) -> None:
    page, _ = visit("try.html")
    lanes = page.locator(".cl-plot svg").bounding_box()
    assert lanes
    for share in (0.4, 0.55, 0.7, 0.85):
        page.mouse.click(lanes["x"] + lanes["width"] * share, lanes["y"] + 60)
        x = float(page.locator(".cl-cut").get_attribute("x1") or 0)
        ticks = [float(tick.get_attribute("x1") or 0) for tick in page.locator(".cl-tick").all()]
        target = lanes["width"] * share
        assert abs(x - min(ticks, key=lambda tick: abs(tick - target))) < 0.5


def test_by_touch_on_a_phone_a_cut_is_moved_and_committed(visit: Visit) -> None:
    page, complaints = visit(
        "lesson-2.html", viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    page.get_by_test_id("next").tap()
    page.get_by_test_id("choice").nth(1).tap()
    page.get_by_test_id("commit").tap()
    page.get_by_test_id("next").tap()
    exercise = find_exercise("legal-cut", 2, 0)
    assert exercise is not None
    handle, target = page.get_by_test_id("cut-handle"), str(exercise["solution"])
    for _ in range(60):
        if handle.get_attribute("aria-valuenow") == target:
            break
        page.get_by_test_id("cut-right").tap()
    page.get_by_test_id("commit").tap()
    expect(page.get_by_test_id("verdict")).to_contain_text("✓ Right.")
    small = page.evaluate(
        """() => [...document.querySelectorAll('.cl button, .cl label.cl-answer, .cl summary')]
            .filter(node => node.checkVisibility())
            .map(node => node.getBoundingClientRect())
            .filter(({ width, height }) => width < 44 || height < 43.5).length"""
    )
    assert small == 0
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    assert complaints == []


def swipe(page: Page, begin: tuple[float, float], by: tuple[float, float]) -> None:
    """Swipe with a finger, in ten moves."""
    session = page.context.new_cdp_session(page)
    session.send(
        "Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": begin[0], "y": begin[1]}]}
    )
    for share in range(1, 11):
        x, y = (start + way * share / 10 for start, way in zip(begin, by, strict=True))
        session.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [{"x": x, "y": y}]})
        wait_for_frame(page)
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    session.detach()


def test_a_finger_scrolls_the_page_over_the_picture_and_drags_the_cut_to_the_side(visit: Visit) -> None:
    page, _ = visit("index.html", viewport={"width": 390, "height": 600}, has_touch=True, is_mobile=True)
    exercise = open_step(page, "legal-cut", 2)
    handle, start = page.get_by_test_id("cut-handle"), str(exercise["start"])
    expect(handle).to_have_attribute("aria-valuenow", start)
    lanes = page.locator(".cl-plot svg").bounding_box()
    assert lanes
    swipe(page, (60, lanes["y"] + 100), (6, -150))
    page.wait_for_function("() => scrollY > 30")
    expect(handle).to_have_attribute("aria-valuenow", start)
    page.evaluate("() => scrollTo(0, 0)")
    wait_for_frame(page)
    swipe(page, (60, lanes["y"] + 60), (100, 10))
    x = float(page.locator(".cl-cut").get_attribute("x1") or 0)
    assert abs(lanes["x"] + x - 160) < 10
    grip = handle.bounding_box()
    assert grip
    swipe(page, (grip["x"] + grip["width"] / 2, grip["y"] + 20), (60, 30))
    assert float(page.locator(".cl-cut").get_attribute("x1") or 0) > x + 20


@pytest.mark.parametrize(
    ("width", "colours", "lanes"),
    [(390, "none", 1), (390, "active", 5), (1400, "none", 5), (1400, "active", 5)],
)
def test_kinds_are_told_apart_and_the_scale_is_said(
    visit: Visit, width: int, colours: str, lanes: int
) -> None:
    """By their colours in one lane, or each in a lane with its name."""
    page, _ = visit("index.html", viewport={"width": width, "height": 900}, forced_colors=colours)
    open_step(page, "where-the-tokens-are", 1)
    page.locator("[data-fate]").first.wait_for()
    # The floor of a lane is where many bars end.
    floors = page.evaluate(
        """() => {
            const bars = [...document.querySelectorAll('[data-fate]')].map(bar => bar.getBBox())
            const ends = bars.map(({ y, height }) => Math.round(y + height))
            return new Set(ends.filter(end => ends.filter(other => other === end).length > 5)).size
        }"""
    )
    names = page.locator(".cl-plot .cl-name tspan").count()
    assert names >= lanes <= floors if lanes > 1 else names == 0
    assert page.locator(".cl-legend").count() == (lanes == 1)
    said = "All kinds have one scale." if lanes == 1 else "Each lane has its own scale."
    assert page.locator(".cl-source span:visible").all_inner_texts() == [said]


def test_escape_clears_the_search_then_shrinks_the_picture_then_leaves(visit: Visit) -> None:
    page, _ = visit("index.html")
    open_step(page, "what-got-lost", 1)
    lesson, field = page.get_by_test_id("lesson"), page.get_by_test_id("search-text")
    page.get_by_test_id("large").click()
    expect(lesson).to_have_attribute("data-large", "true")
    field.fill("outbox")
    page.locator("mark").first.wait_for()
    field.press("Escape")
    expect(field).to_have_value("")
    expect(page.locator("mark")).to_have_count(0)
    expect(lesson).to_have_attribute("data-large", "true")
    field.press("Escape")
    expect(lesson).not_to_have_attribute("data-large", "true")
    assert "lesson-4.html" in page.url
    with page.expect_navigation(url="**/demo.html"):
        field.press("Escape")


def test_a_finished_test_shows_the_solutions_to_those_who_come_back(visit: Visit) -> None:
    page, _ = visit("final.html")
    page.get_by_test_id("next").click()
    for number in range(1, 11):
        exercise = find_exercise(FINAL, number, 0)
        assert exercise is not None
        expect(page.locator("h2")).to_have_text(exercise["question"])
        if exercise["ask"] in ("choice", "policy"):
            choose(page, exercise, find_option(exercise, False))
        page.get_by_test_id("commit").click()
        expect(page.get_by_test_id("verdict")).to_have_text(
            "Your answer is saved. The result comes at the end."
        )
        page.get_by_test_id("next").click()
    expect(page.get_by_test_id("mark")).to_have_text("0 of 30 points")
    page.locator(".cl-marks a").first.click()
    first = find_exercise(FINAL, 1, 0) or {}
    solution = first["options"][first["solution"]]
    expect(page.get_by_test_id("verdict")).to_contain_text(f"Solution: {solution['label']}.")
    assert page.get_by_test_id("commit").count() == 0
    page.locator(".cl-steps a").last.click()
    page.get_by_test_id("next-lesson").click()
    expect(page.get_by_test_id("contents")).to_be_visible()


def test_starting_over_forgets_the_answers_and_the_name(visit: Visit) -> None:
    page, _ = visit("index.html")
    open_step(page, "legal-cut", 3)
    page.goto(f"{page.url.rpartition('/')[0]}/index.html")
    expect(page.locator(".cl-titles small").nth(1)).to_contain_text("2 of")
    page.get_by_text("Start over", exact=True).click()
    page.get_by_test_id("start-over").click()
    expect(page.locator(".cl-titles small").nth(1)).not_to_contain_text("of")
    stored = page.evaluate("() => JSON.parse(localStorage.getItem('compaction-inspector-course'))")
    assert stored["lessons"] == {} and len(stored["student"]) == 16 and stored["student"] != STUDENT


SCREENS: list[tuple[tuple[int, ...], dict[str, Any]]] = [
    ((1400, 560, 390), {}),
    ((1920,), {"color_scheme": "dark"}),
    ((1400,), {"forced_colors": "active"}),
]


@pytest.mark.parametrize(("widths", "options"), SCREENS, ids=["light", "dark", "forced"])
def test_axe_finds_nothing_and_nothing_is_cut_off(
    visit: Visit, course: str, widths: tuple[int, ...], options: dict[str, Any]
) -> None:
    page, complaints = visit("index.html", **options)
    for name in ("index.html", "lesson-3.html", "lesson-4.html", "lesson-6.html"):
        page.goto(f"{course}/{name}")
        for _ in range(3):
            for width in widths:
                page.set_viewport_size({"width": width, "height": 900})
                wait_for_frame(page)
                assert page.evaluate("() => document.documentElement.scrollWidth") <= width
            # What axe finds depends on the colours and on the narrowest width.
            assert find_violations(page, "html") == [], name
            if page.get_by_test_id("next").count():
                page.get_by_test_id("next").click()
            elif page.get_by_test_id("give-up").count():
                page.get_by_test_id("give-up").click()
    assert complaints == []


def test_a_page_works_in_a_frame_without_storage(visit: Visit, course: str) -> None:
    """As a learning platform embeds it: sandboxed, so the browser keeps nothing."""
    page, _ = visit("lesson-1.json")
    page.set_content(
        f'<iframe sandbox="allow-scripts" src="{course}/lesson-1.html" width="800" height="700"></iframe>'
    )
    frame = page.frame_locator("iframe")
    frame.get_by_test_id("next").click()
    frame.get_by_test_id("choice").nth(3).click()
    frame.get_by_test_id("commit").click()
    expect(frame.get_by_test_id("verdict")).to_contain_text("✓ Right.")


def test_the_module_shows_a_lesson_from_its_address_and_writes_back(visit: Visit, course: str) -> None:
    """As `{anywidget}` of MyST does: a model with `src`, and a module with a default export."""
    page, complaints = visit("lesson-2.json")
    page.set_content(f'<link rel="stylesheet" href="{course}/lesson.css"><div id="here"></div>')
    page.evaluate(
        """async address => {
            const { default: widget } = await import(`${address}/lesson.js`)
            const values = { src: `${address}/lesson-2.json` }
            const model = { get: name => values[name], set: (name, value) => { values[name] = value },
                            on() {}, off() {}, save_changes() {} }
            await widget.render({ model, el: document.getElementById('here') })
        }""",
        course,
    )
    page.get_by_test_id("next").click()
    page.get_by_test_id("choice").nth(1).click()
    page.get_by_test_id("commit").click()
    expect(page.get_by_test_id("verdict")).to_contain_text("✓ Right.")
    assert complaints == []


def press(page: Page, *names: str) -> None:
    for name in names:
        page.keyboard.press(name)
    wait_for_frame(page)


SCREEN_PARTS = """() => JSON.stringify([
    document.querySelector('.ci-sentence')?.innerText,
    document.querySelector('[data-testid=gauge-after]')?.innerText,
    document.querySelector('[data-testid=fact-lane]')?.innerText,
    [...document.querySelectorAll('.ci-turns canvas')].map(canvas => canvas.toDataURL()),
])"""


@pytest.mark.parametrize("policy", ["flue", "mini-claude-code", "inspect-edit"])
def test_W2_23_at_each_rule_that_plays_the_picture_is_another(
    page: Page, open_workbench: OpenWorkbench, policy: str
) -> None:
    open_workbench(policy=policy)
    focus_workbench(page)
    press(page, "9", ".")
    expect(page.get_by_test_id("play-at")).to_contain_text("Nothing is decided yet")
    expect(page.get_by_test_id("fact-lane")).to_be_hidden()
    count = page.locator(".ci-played li").count()
    seen = [page.evaluate(SCREEN_PARTS)]
    for _ in range(count):
        press(page, ".")
        wait_until_still(page)
        seen.append(page.evaluate(SCREEN_PARTS))
    assert len(set(seen)) == count + 1
    expect(page.get_by_test_id("fact-lane")).to_be_visible()
    press(page, "4")
    expect(page.get_by_test_id("fact-lane")).to_be_hidden()
