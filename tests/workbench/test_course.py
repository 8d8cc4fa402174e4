"""Checks on generated sessions: solvable, with one right answer; and the marks for exported answers."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from inspector.cli import main
from inspector.planning.planner import make_plan
from inspector.workbench.lessons.attempt import turn_of
from inspector.workbench.lessons.bundled import (
    FINAL,
    FINAL_POOL,
    POOL,
    find_lesson,
    list_names,
    make_session,
    open_bundled,
)
from inspector.workbench.lessons.exercise import Charts, Exercise, LessonStage
from inspector.workbench.lessons.generated import GeneratedSession
from inspector.workbench.lessons.grading import (
    FORMAT,
    add_hash,
    choose_seed,
    count_points,
    grade_all,
    grade_answers,
)
from inspector.workbench.lessons.pages import build_pages
from inspector.workbench.lessons.tasks import TASKS, build_check, build_final
from inspector.workbench.payloads.sections import format_tokens

Answers = dict[str, Any]


def find_right(exercise: Exercise, charts: Charts) -> set[str]:
    """The right answers; a question that asks for a turn accepts each of its cut points."""
    right = [option for option in exercise.options if option.right]
    if "into the turn" in exercise.question:
        turns = charts.drawn[exercise.chart]["turns"]
        return {
            str(max(turn for turn, column in turns if column <= option.state.place))
            for option in right
            if option.state is not None
        }
    return {option.key for option in right}


@pytest.mark.parametrize("name", TASKS)
def test_law_random_sessions_of_a_check_have_exactly_one_right_answer(name: str) -> None:
    for _ in range(4):
        seed, charts = secrets.randbelow(10**9), Charts()
        exercise = build_check(name, seed, charts)
        assert len(find_right(exercise, charts)) == 1, (name, seed)
        assert exercise.options[exercise.solution].right
        keys = [option.key for option in exercise.options]
        assert len(set(keys)) == len(keys) >= 4
        wrong = [option for option in exercise.options if not option.right]
        assert len({option.says for option in wrong}) >= 2 and all(option.says for option in wrong), seed
        # What it starts with is not the answer.
        assert exercise.start < 0 or not exercise.options[exercise.start].right


@pytest.mark.parametrize("name", TASKS)
def test_a_check_is_the_same_for_the_same_number_and_another_for_another(name: str) -> None:
    first, again, other = (build_check(name, seed, Charts()) for seed in (3, 3, 4))
    assert first == again
    assert first != other


def test_answers_of_checks_differ_from_session_to_session() -> None:
    """An answer that was copied from another student is right by chance only."""
    for name in list_names():
        if name != FINAL:
            variants = open_bundled(name)["steps"][-1]["variants"]
            assert len(variants) == POOL
            assert len({each["options"][each["solution"]]["key"] for each in variants}) >= 3, name


def test_a_final_test_has_ten_questions_on_three_sessions() -> None:
    charts = Charts()
    exercises = build_final(0, charts)
    assert len(exercises) == 10
    sessions = [json.dumps(charts.drawn[exercise.chart]["blocks"]) for exercise in exercises]
    assert len(set(sessions)) == 3


def test_the_answer_to_a_policy_question_is_where_the_policy_cuts() -> None:
    """Worked out from the plan anew, not by the task."""
    exercise = build_check("policy-cut", 1, Charts())
    keep = int(re.findall(r"[\d,]+", exercise.question)[0].replace(",", ""))
    for attempt in range(200):
        generated = GeneratedSession(f"policy-cut:1:{attempt}")
        plan = generated.plan("flue", {"keep-recent-tokens.tokens": keep})
        if [option.key for option in exercise.options] == [plan.cuts.ids[place] for place in generated.legal]:
            break
    right = {option.key for option in exercise.options if option.right}
    assert plan.place is not None and plan.cuts.ids[plan.place] in right
    assert {turn_of(plan, plan.cuts.ids.index(key)) for key in right} == {turn_of(plan, plan.place)}


def test_a_question_about_sizes_has_those_of_its_picture() -> None:
    steps = [*open_bundled("two-surfaces")["steps"], *open_bundled(FINAL)["steps"]]
    asked = [
        exercise
        for step in steps
        for exercise in step.get("variants", [])
        if exercise["question"].startswith("The file holds")
    ]
    assert len(asked) == POOL + FINAL_POOL
    for exercise in asked:
        remaining, summary = re.findall(
            r"keeps (\S+) of them, and a summary of (\S+) is", exercise["question"]
        )[0]
        _, after, kept, drawn, _ = exercise["state"]
        assert (remaining, summary) == (format_tokens(kept), format_tokens(drawn))
        assert after == kept + drawn


def test_the_smallest_request_of_lesson_8_is_the_one_that_its_feedback_names() -> None:
    """Of all policies that the lesson offers, planned anew."""
    lesson = find_lesson("choose-a-policy")
    stage = LessonStage(lesson, make_session(lesson.session))
    session = stage.plan(lesson.steps[0]).session
    names = {name for step in lesson.steps if step.ask == "policy" for name in step.choices}
    plans = [make_plan(session, stage.ledger, name) for name in names]
    least = min(plans, key=lambda plan: plan.after)
    (step,) = (step for step in open_bundled(lesson.name)["steps"] if step["title"] == "Which first?")
    exercise = step["exercise"]
    (says,) = (
        exercise["says"][option["says"]]
        for option in exercise["options"]
        if option["label"] == "the smallest request"
    )
    assert least.policy.title in says and format_tokens(least.after) in says
    rule = least.trace.select(kind="constraint")[0]
    assert rule.outcome == "absent" and "rule of turn 2 is absent" in says
    # Where the rule is asked about, the smallest two are offered as well.
    asked = next(step for step in lesson.steps if step.right.startswith("outcome verbatim rule"))
    smallest = sorted(plans, key=lambda plan: plan.after)[:2]
    assert {plan.policy.name for plan in smallest} <= set(asked.choices)


# marks


def answer(student: str, choose: Callable[[str, int, int], list[bool]]) -> Answers:
    """Answers to all lessons: `choose` says which tries of a question are right, by lesson, step and number
    of tries; none gives up."""
    lessons: Answers = {}
    for name in list_names():
        lesson = open_bundled(name)
        seed = choose_seed(student, name, FINAL_POOL if name == FINAL else POOL)
        steps: Answers = {}
        for number, step in enumerate(lesson["steps"], 1):
            if step["kind"] == "reveal":
                continue
            tries: list[Answers] = []
            plan = choose(name, number, seed)
            for at, is_right in enumerate(plan):
                exercise, extra = step.get("exercise"), {}
                if exercise is None:
                    chosen = seed if name == FINAL else (seed + at) % POOL
                    exercise, extra = step["variants"][chosen], {"seed": chosen}
                key = next(option["key"] for option in exercise["options"] if option["right"] == is_right)
                tries.append({"answer": key, **extra})
            gave_up = plan[-1:] != [True] and name != FINAL
            steps[str(number)] = {"tries": tries, "gave_up": gave_up, "seconds": 40}
        lessons[name] = {"version": lesson["version"], "steps": steps}
    return {"format": FORMAT, "student": student, "lessons": lessons}


def right(*_: object) -> list[bool]:
    return [True]


def write(answers: Answers) -> str:
    return json.dumps(add_hash(answers))


def test_right_wrong_and_given_up_answers_get_their_marks() -> None:
    perfect = grade_answers("a", write(answer("a" * 16, right)))
    assert perfect.total == 1 and perfect.gave_up == 0 and perfect.remarks == []
    assert perfect.marks == {name: (count_points(name), count_points(name)) for name in list_names()}

    def second(name: str, *_: object) -> list[bool]:
        return [True] if name == FINAL else [False, True]

    repaired = grade_answers("b", write(answer("b" * 16, second)))
    for name in list_names():
        share = 1 if name == FINAL else 2 / 3
        assert repaired.marks[name][0] == round(share * count_points(name))

    none = grade_answers("c", write(answer("c" * 16, lambda *_: [False])))
    questions = sum(count_points(name) // 3 for name in list_names())
    assert none.total == 0 and none.gave_up == questions - 10
    assert sum(none.wrong.values()) == questions


def test_a_file_that_was_changed_says_so() -> None:
    text = write(answer("a" * 16, lambda *_: [False]))
    data = json.loads(text)
    data["lessons"]["legal-cut"]["steps"]["1"]["seconds"] = 1
    assert grade_answers("a", json.dumps(data)).remarks == ["changed after it was exported"]


def test_answers_that_do_not_fit_their_sessions_are_refused_even_with_a_right_hash() -> None:
    def grade(change: Callable[[Answers], object]) -> tuple[str, int]:
        data = answer("d" * 16, right)
        change(data["lessons"])
        graded = grade_answers("d", write(data))
        return "; ".join(graded.remarks), len(graded.marks)

    last = str(len(open_bundled("legal-cut")["steps"]))
    cases: list[tuple[Callable[[Answers], object], str]] = [
        (
            lambda lessons: lessons["legal-cut"]["steps"][last]["tries"][0].update(
                seed=(lessons["legal-cut"]["steps"][last]["tries"][0]["seed"] + 1) % POOL
            ),
            "answered on a session that it did not ask about",
        ),
        (
            lambda lessons: lessons["legal-cut"]["steps"]["1"]["tries"][0].update(answer="x"),
            "there is no answer x",
        ),
        (lambda lessons: lessons["legal-cut"].update(version="0"), "another version"),
        (lambda lessons: lessons["legal-cut"]["steps"].pop("1"), "before the step in front of it"),
        (lambda lessons: lessons["legal-cut"]["steps"].update({"99": {}}), "no question in step 99"),
        (
            lambda lessons: lessons["legal-cut"]["steps"]["1"]["tries"].append({"answer": "x"}),
            "continues after",
        ),
        (lambda lessons: lessons["legal-cut"].pop("steps"), "it is not in the form of an export"),
        (
            lambda lessons: lessons["legal-cut"]["steps"]["1"].update(seconds=float("inf")),
            "it is not in the form",
        ),
        (lambda lessons: lessons.update(nothing={}), "there is no such lesson"),
        (
            lambda lessons: lessons[FINAL]["steps"]["1"]["tries"].insert(0, {"answer": "x", "seed": 0}),
            "answer",
        ),
    ]
    for change, reason in cases:
        remarks, marked = grade(change)
        assert reason in remarks, reason
        assert marked == (9 if "no such lesson" in reason else 8)


def test_copies_and_answers_without_reading_are_remarked_on() -> None:
    first = answer("e" * 16, right)
    copied = {**first, "student": "f" * 16}
    rows = grade_all({"1.json": write(first), "2.json": write(first), "3.json": write(copied)})
    assert rows[0].remarks == []
    assert rows[1].remarks == ["same random name as 1.json"]
    # Under another name the checks ask about other sessions.
    assert any("did not ask about" in remark for remark in rows[2].remarks)
    quick = answer("a1" * 8, right)
    for lesson in quick["lessons"].values():
        for step in lesson["steps"].values():
            step["seconds"] = 1
    rows = grade_all({"1.json": write(first), "2.json": write(quick)})
    assert rows[1].remarks == ["quick: 1 s per question"]


def test_exports_of_one_student_and_answers_all_given_up_are_no_copies() -> None:
    def none(*_: object) -> list[bool]:
        return []

    whole = answer("e" * 16, right)
    early = {**whole, "lessons": {name: whole["lessons"][name] for name in list_names()[:2]}}
    given_up = [answer(name * 16, none) for name in "ab"]
    for data in given_up:
        data["lessons"].pop(FINAL)
    rows = grade_all({"1.json": write(early), "2.json": write(whole)})
    assert [row.remarks for row in rows] == [[], ["same random name as 1.json"]]
    rows = grade_all({"1.json": write(given_up[0]), "2.json": write(given_up[1])})
    assert [row.remarks for row in rows] == [[], []]
    assert rows[0].gave_up == rows[1].gave_up > 0
    # Without a check, one lesson's answers are the same in other hands: that is remarked on.
    first = {"legal-cut": whole["lessons"]["legal-cut"]}
    last = str(len(open_bundled("legal-cut")["steps"]))
    first["legal-cut"]["steps"].pop(last)
    pair = [write({**whole, "student": name * 16, "lessons": first}) for name in "ab"]
    rows = grade_all({"1.json": pair[0], "2.json": pair[1]})
    assert rows[1].remarks == ["same answers as 1.json"]


@pytest.mark.parametrize(
    "text", ["", "[]", "nothing", '{"format": 1}', "[" * 100_000, '{"lessons": []}', "1e999"]
)
def test_a_file_that_holds_no_answers_gets_a_remark(text: str) -> None:
    assert grade_answers("x", text).remarks == ["not an answers file"]


def test_the_command_prints_a_table_and_writes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "answers"
    (folder / "ben").mkdir(parents=True)
    (folder / "ann.json").write_text(write(answer("a" * 16, right)), "utf-8")
    wrong = answer("b" * 16, lambda *_: [False, False])
    wrong["lessons"].pop(FINAL)
    (folder / "ben" / "answers.json").write_text(write(wrong), "utf-8")
    (folder / "=cmd.json").write_text(write(answer("c" * 16, right)), "utf-8-sig")
    (folder / "wide.json").write_text(write(answer("d" * 16, right)), "utf-16")
    (folder / "noise.json").write_bytes(b"\xff\xfe")
    assert main(["grade", str(folder), "--csv", str(tmp_path / "marks.csv")]) == 0
    out = capsys.readouterr().out
    assert "ann.json" in out and "100%" in out and "not an answers file" in out
    assert "Most frequent wrong answers" in out
    lines = (tmp_path / "marks.csv").read_text("utf-8").splitlines()
    assert [line.split(",")[0] for line in lines] == [
        *("file", "'=cmd.json", "ann.json", "ben/answers.json", "noise.json", "wide.json")
    ]
    heads, *rows = [line.split(",") for line in lines]
    # Ben did not take the final test: his share is one of all points, as the head says.
    shares = {row[0]: row[heads.index("of all")] for row in rows}
    assert shares["'=cmd.json"] == shares["wide.json"] == "100%"
    (tmp_path / "empty").mkdir()
    assert main(["grade", str(tmp_path / "empty")]) == 1
    assert "there is no answers file" in capsys.readouterr().err


# pages


def test_lessons_for_a_learning_platform_link_to_no_other_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main(["course", str(tmp_path / "whole")])
        == main(["course", str(tmp_path / "single"), "--single"])
        == 0
    )
    capsys.readouterr()
    for folder, is_linked in (("whole", True), ("single", False)):
        for name in ("lesson-2.html", "final.html"):
            data = re.findall(r'id="data">(.*?)</script>', (tmp_path / folder / name).read_text("utf-8"))[0]
            assert any(json.loads(data)["links"].values()) == is_linked
    assert not (tmp_path / "single" / "index.html").exists()


def test_the_pages_are_small_whole_and_ask_for_nothing() -> None:
    pages = dict(build_pages())
    assert len([name for name in pages if re.fullmatch(r"lesson-\d\.html|final\.html", name)]) == 9
    for name, text in pages.items():
        assert len(text.encode()) <= 700_000, name
        assert re.findall(r"https?://(?!www\.w3\.org/)[\w.-]+", text) == [], name
        if name.endswith(".html"):
            assert "default-src &#x27;none&#x27;" in text and "unsafe-" not in text
            assert not re.findall(r"<(?:link|img|iframe)\b|<script src", text)
