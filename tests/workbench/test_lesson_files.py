"""The lessons that come with the package can be played, and a lesson that cannot be says so."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from inspector.demo import open_demo
from inspector.errors import LessonError
from inspector.planning.planner import make_plan
from inspector.testing import check_lesson
from inspector.tokens.ledger import count_tokens
from inspector.workbench.lessons.attempt import CHECKS, Attempt, fill, holds
from inspector.workbench.lessons.bundled import build_lesson, find_lesson, list_lessons
from inspector.workbench.lessons.lesson import read_lesson

FOLDER = Path(str(files("inspector.workbench.lessons")))
HEAD = "---\ntitle: A lesson\ngoal: Look.\nmoment: recorded:1\n---\n"
TASK = """# do: A step
Some text.

show: cut = turn 8
ask: cut
question: Move the cut to turn 12.
right: turn 12
wrong: else -> This is turn {turn}.
solve: turn 12
"""


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.md")), ids=lambda path: path.stem)
def test_every_bundled_lesson_can_be_played_to_its_end(path: Path) -> None:
    check_lesson(path)


def test_each_lesson_has_a_goal_a_prediction_or_a_task_a_reveal_and_one_check_at_its_end() -> None:
    assert len(list_lessons()) == 8
    for lesson in list_lessons():
        kinds = [step.kind for step in lesson.steps]
        assert lesson.goal and kinds[-2:] == ["reveal", "check"] and kinds.count("check") == 1
        assert len(kinds) >= 5
        assert set(kinds[:-2]) <= {"predict", "do"}


def test_a_lesson_is_found_by_its_name_or_its_number() -> None:
    assert find_lesson("2") is find_lesson("legal-cut")
    with pytest.raises(LessonError, match="there is no lesson nothing; there are where-the-tokens-are, leg"):
        find_lesson("nothing")


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("title: no head", 1, "three dashes"),
        ("---\ntitle: A\n", 1, "no end"),
        ("---\ntitle: A\ngoal: B\n---\n", 4, "there is no step"),
        ("---\ngoal: B\n---\n# reveal: A\n", 1, "no title"),
        ("---\ntitle: B\n---\n# reveal: A\n", 1, "no goal"),
        ("---\ntitle: A\ntitle: B\n---\n# reveal: A\n", 3, "each once"),
        (HEAD + "# A step\n", 6, "one of predict, do, reveal, check"),
        (HEAD + "# watch: A step\n", 6, "one of predict, do, reveal, check"),
        (HEAD + "# reveal: A\nText {\n", 6, "a brace is left over"),
        (HEAD + "# reveal: A\nquestion: Why?\n", 6, "no question of its own"),
        (HEAD + TASK.replace("right: turn 12\n", ""), 6, "used together"),
        (HEAD + TASK.replace("ask: cut", "ask: me"), 10, "ask is one of"),
        (HEAD + TASK.replace("ask: cut", "ask: set"), 6, "setting does not say"),
        (HEAD + TASK.replace("ask: cut\n", ""), 6, "choices are two or more"),
        (HEAD + TASK.replace("show: cut = turn 8", "show: colour = red"), 9, "nothing called colour"),
        (HEAD + TASK.replace("else -> This", "else This"), 13, "an arrow"),
        (HEAD + TASK + "saw: {\n", 15, "a brace is left over"),
        (HEAD + TASK + "ask: cut\n", 15, "given twice"),
    ],
)
def test_a_lesson_that_cannot_be_read_says_why_and_in_which_line(text: str, line: int, reason: str) -> None:
    with pytest.raises(LessonError, match=reason) as refused:
        read_lesson(text)
    assert refused.value.line == line


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("solve: turn 12", "solve: turn 11", "its solution is refused: This is turn 11."),
        ("wrong: else -> This is turn {turn}.\n", "", "nothing is said about"),
        ("{turn}", "{colour}", "there is no value colour"),
        ("right: turn 12", "right: shines", "there is no check shines"),
        ("right: turn 12", "right: turn twelve", "a turn is a number or policy"),
        ("right: turn 12", "right: at-most", "a number is expected"),
        ("right: turn 12", "right: not turn 99", "every answer is right"),
        ("turn 8", "turn 99", "there is no place turn 99"),
        ("turn 8", "invalid in turn 11", "no cut is valid there"),
        ("# do: A step", "# check: riddle\n# do: A step", "there is no task riddle"),
    ],
)
def test_a_lesson_that_cannot_be_solved_fails_its_check(old: str, new: str, fault: str) -> None:
    check_lesson(HEAD + TASK)
    assert old in TASK
    with pytest.raises(AssertionError, match=fault):
        check_lesson(HEAD + TASK.replace(old, new))


def test_the_named_checks_say_what_a_plan_says() -> None:
    """Each check beside the plan itself, at every valid cut point of the demo session."""
    session = open_demo()
    moment = session.at("820f59b6-ac5d-42af-a447-0e91c81e5d1b")
    ledger = count_tokens(session)
    own = make_plan(moment, ledger, "flue")
    turns = moment.live.turn.tolist()
    for cut in own.cuts:
        plan = make_plan(moment, ledger, "flue", cut=own.cuts.ids[cut.place]) if cut.legal else own
        attempt = Attempt(session, ledger, plan, cut.place, "yes")
        turn = turns[cut.place] + 1 if cut.place < len(turns) else turns[-1] + 2
        starts = cut.place == len(turns) or cut.place == 0 or turns[cut.place - 1] != turns[cut.place]
        assert holds("in-turn 8", attempt) == (turn == 8)
        assert holds("turn 8", attempt) == (turn == 8 and (starts or not cut.legal))
        assert holds("from-turn 8", attempt) == (turn >= 8)
        assert holds("inside", attempt) == (cut.legal and not starts)
        assert holds("invalid", attempt) != cut.legal
        assert holds(f"invalid {cut.rule}", attempt) == (cut.rule is not None)
        assert holds("at-most 60,000", attempt) == (plan.after <= 60_000)
        assert holds("answer yes; not answer no", attempt)
    recorded = Attempt(session, ledger, make_plan(moment, ledger, "recorded"))
    assert holds("outcome absent src/tidepool/calendar/offsets.py", recorded)
    assert not holds("outcome absent src/tidepool/jobs/outbox.py", recorded)
    idle = Attempt(session, ledger, make_plan(moment, ledger, "deepseek-harness-pruner"))
    clearing = Attempt(session, ledger, make_plan(moment, ledger, "langchain-clear"))
    assert [holds("acts", attempt) for attempt in (idle, clearing, recorded)] == [False, True, True]
    assert [holds("no-model", Attempt(session, ledger, own)), holds("no-model", clearing)] == [False, True]
    assert len(CHECKS) == 10


def test_the_values_of_a_text_are_those_of_the_plan() -> None:
    session = open_demo()
    ledger = count_tokens(session)
    plan = make_plan(session, ledger, "flue", cut="end")
    attempt = Attempt(session, ledger, plan)
    assert fill("{before} {after} {before:k}", attempt) == (
        f"{plan.before:,} {plan.after:,} {plan.before / 1000:.1f}k"
    )
    with pytest.raises(LessonError, match="the format is k or none"):
        fill("{before:x}", attempt)


def test_the_version_of_a_lesson_changes_with_every_word_of_it() -> None:
    built = build_lesson(read_lesson(HEAD + TASK), open_demo())
    same = build_lesson(read_lesson(HEAD + TASK), open_demo())
    other = build_lesson(read_lesson(HEAD + TASK.replace("Some", "Any")), open_demo())
    assert built["version"] == same["version"] != other["version"]
