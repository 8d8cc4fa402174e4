"""The lessons that come with the package can be played, and a lesson that cannot be says so."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from inspector.demo import open_demo
from inspector.errors import LessonError
from inspector.facts.trace import trace_facts
from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.testing import check_lesson
from inspector.tokens.ledger import count_tokens
from inspector.workbench.lessons.bundled import find_lesson, is_about, list_lessons, make_session, read_link
from inspector.workbench.lessons.expressions import READABLE, evaluate, explain
from inspector.workbench.lessons.lesson import fill, read_lesson
from inspector.workbench.lessons.played_step import LessonView, attempt, begin, find_place, judge, tell
from inspector.workbench.model import WorkbenchModel
from inspector.workbench.queries import answer_query

FOLDER = Path(str(files("inspector.workbench.lessons")))
HEAD = "---\ntitle: A lesson\nmoment: recorded:1\n---\n"
ASKED = """# A step
Some text.

show: cut = turn 8
question: Move the cut to turn 12.
check: wb.cut.turn == 12
solve: cut = turn 12
"""


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.md")), ids=lambda path: path.stem)
def test_every_bundled_lesson_can_be_played_to_its_end(path: Path) -> None:
    check_lesson(path)


def test_each_lesson_is_about_the_session_that_it_names_and_no_other() -> None:
    for lesson in list_lessons():
        assert is_about(lesson, make_session(lesson.session))
        others = {"demo", "generated"} - {lesson.session}
        assert not any(is_about(lesson, make_session(other)) for other in others)
        assert not is_about(lesson, open_demo().at(open_demo().entries[0].id).model_copy(update={"id": "x"}))


def test_a_lesson_is_found_by_its_name_or_its_number_and_a_link_is_two_numbers() -> None:
    assert find_lesson("2") is find_lesson("legal-cut")
    with pytest.raises(
        LessonError, match="there is no lesson nothing; there are where-the-tokens-are, legal"
    ):
        find_lesson("nothing")
    for wrong in ("", "2", "2.", "a.b", "2.3.4", "-1.2"):
        with pytest.raises(LessonError, match="two numbers"):
            read_link(wrong)


# expressions


def plan() -> Plan:
    session = open_demo()
    return make_plan(session, count_tokens(session), "flue")


def test_an_expression_means_what_it_means_in_python() -> None:
    whole = plan()
    names: dict[str, Any] = {"plan": whole, "n": 3, "words": ("a", "b")}
    for expression in (
        "plan.after < plan.before and not plan.why",
        "plan.saved['tool_output'] / 2",
        "n + 2 * -1",
        "1 < n <= 3 != 4",
        "n in (1, 2, 3) and 'c' not in words",
        "plan.why or 'nothing'",
        "len(words) == 2 and any(word == 'b' for word in words if word)",
        "max([n * 2, 1])",
        "len(plan.trace.select('absent', kind='file'))",
        "sum(len(one.fact.form) for one in plan.trace.select(kind='constraint'))",
        "[one.outcome for one in plan.trace.select(kind='constraint')]",
    ):
        assert evaluate(expression, names) == eval(expression, dict(names)), expression
    trace = trace_facts(whole.ledger.session.facts, whole)
    assert evaluate("trace['src/tidepool/jobs/outbox.py'].fate", {"trace": trace}) == "verbatim"


@pytest.mark.parametrize(
    "expression",
    [
        "__import__('os')",
        "plan.__class__",
        "plan.ledger",
        "plan.with_edits(None)",
        "(lambda: 1)()",
        "[].append(1)",
        "'a' * 1000000",
        "9 ** 9",
        "n := 2",
        "f'{n}'",
        "words[7]",
        "missing",
        "n / 0",
        "1 < 'a'",
        "len(3)",
        "any(x for x in n)",
        "(x for x in words)",
        "any(any(y for y in words) for x in words)",
        "plan.trace.select.__globals__",
        "getattr(plan, 'after')",
        "not " * 60 + "n",
        "n + " * 200 + "n",
        "...",
        "b'x'",
        "import os",
        "",
    ],
)
def test_what_is_no_lessons_business_is_refused(expression: str) -> None:
    with pytest.raises(LessonError):
        evaluate(expression, {"plan": plan(), "n": 3, "words": ("a", "b")})


def test_what_may_be_read_is_there_and_is_no_method_but_one() -> None:
    whole = plan()
    traced = whole.trace.traced[0]
    model = WorkbenchModel(open_demo(), "flue")
    model.answer({})
    seen = LessonView(model, None)
    examples = [whole, whole.policy, whole.trace, traced, traced.fact, seen.rules[0]]
    assert {type(one) for one in examples} == READABLE.keys()
    methods = set()
    for one in [*examples, seen, seen.cut, seen.paid_again]:
        names = READABLE.get(type(one)) or getattr(one, "READABLE", frozenset())
        assert names
        methods |= {name for name in names if callable(getattr(one, name))}
    assert methods == {"select"}


def test_a_check_that_fails_says_which_part_of_it_and_why() -> None:
    names = {"n": 52_702, "word": "lost"}
    assert explain("word == 'lost' and n <= 50_000", names) == "n is 52,702, and should be at most 50,000."
    assert explain("word == 'kept'", names) == "word is 'lost', and should be 'kept'."
    assert explain("not n", names) == "not n does not hold."
    assert explain("n", names) == ""


def test_values_stand_in_texts_as_the_screen_says_them() -> None:
    names = {"n": 158_295, "share": 0.25}
    assert fill("{n:k} or {n} or {n:,}: {share:.0%}", names) == "158.3k or 158,295 or 158,295: 25%"
    with pytest.raises(LessonError, match="Unknown format code"):
        fill("{n:q}", names)


# files


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("", 1, "three dashes"),
        ("---\ntitle: x\n", 1, "no end"),
        ("---\nsession: demo\n---\n# a\n", 1, "no title"),
        ("---\ntitle: x\ncolour: red\n---\n# a\n", 3, "colour"),
        ("---\ntitle: x\ntitle: y\n---\n# a\n", 3, "each once"),
        ("---\ntitle: x\ntab: flow\n---\n# a\n", 1, "no tab flow"),
        (HEAD, 4, "no step"),
        (HEAD + "words\n", 5, "begins with"),
        (HEAD + "# a\nplan: 3\n", 6, "no field plan"),
        (HEAD + "# a\nplay: two\n", 6, "how many rules"),
        (HEAD + "# a\nhide: all\n", 6, "the cut"),
        (HEAD + "# a\nshow: colour = red\n", 6, "nothing called colour"),
        (HEAD + "# a\nshow: cut\n", 6, "not name = value"),
        (HEAD + "# a\nhint: look\n", 5, "nothing is asked"),
        (HEAD + "# a\nquestion: why\n", 5, "stand together"),
        (HEAD + "# a\nsaw: {import os}\n", 6, "not an expression"),
        (HEAD + "# a\nsaw: {n\n", 6, "a brace"),
        (HEAD + "# a\nsaw: one\nsaw: two\n", 7, "twice"),
        (HEAD + "# a\nsaw: one\ntext\n", 7, "indented"),
        (HEAD + ASKED + "choices: one | two\n", 5, "solve has the answer"),
        (HEAD + ASKED + "wrong: wb.cut\n", 12, "an arrow"),
        (HEAD + ASKED.replace("cut = turn 12", "answer = yes"), 5, "there are none"),
    ],
)
def test_a_lesson_that_cannot_be_read_says_why_and_in_which_line(text: str, line: int, reason: str) -> None:
    with pytest.raises(LessonError, match=reason) as caught:
        read_lesson(text)
    assert caught.value.line == line


def test_a_field_goes_on_in_indented_lines() -> None:
    (step,) = read_lesson(HEAD + "# a\nText.\n\nMore.\nsaw: one\n  and two\n").steps
    assert (step.text, step.saw) == ("Text.\n\nMore.", "one and two")


def fault_of(text: str) -> str:
    with pytest.raises(AssertionError) as caught:
        check_lesson(HEAD + text)
    return str(caught.value)


def test_the_check_of_a_lesson_tells_each_fault() -> None:
    check_lesson(HEAD + ASKED)
    assert "its picture is that of the step before" in fault_of(ASKED + ASKED)
    assert "its solution is refused" in fault_of(
        ASKED.replace("solve: cut = turn 12", "solve: cut = turn 11")
    )
    assert "doing nothing is taken for right" in fault_of(ASKED.replace("== 12", "> 2"))
    assert "cut = turn 13 is taken for right" in fault_of(
        ASKED.replace("== 12", "> 11") + "try: cut = turn 13\n"
    )
    assert "no place turn 99" in fault_of(ASKED.replace("turn 8", "turn 99"))
    assert "nothing called colour" in fault_of(ASKED + "hint: {wb.colour}\n")
    assert "policy 'squeeze'" in fault_of(ASKED.replace("show: ", "show: policy = squeeze; "))
    assert "no moment recorded:7" in fault_of(ASKED.replace("show: ", "show: moment = recorded:7; "))
    with pytest.raises(AssertionError, match="cannot be played: line 1"):
        check_lesson("no lesson\n")
    with pytest.raises(AssertionError, match=r"nothing\.jsonl"):
        check_lesson("---\ntitle: x\nsession: nothing.jsonl\n---\n# a\n")


# steps


def judged(lesson: str, number: int, **changes: str) -> tuple[bool, str]:
    model = WorkbenchModel(open_demo(), "flue")
    tried = attempt(changes, found := find_lesson(lesson), number, model)
    model.answer(tried.inputs)
    return judge(found, number, model, tried.place, tried.answer)


def test_a_wrong_answer_is_explained_by_what_the_person_did() -> None:
    assert judged("legal-cut", 1, cut="turn 12")[0]
    assert judged("legal-cut", 1, cut="turn 11") == (False, "This is the beginning of turn 11.")
    assert judged("legal-cut", 1, cut="inside turn 12")[1].startswith("This place is inside turn 12")
    assert judged("where-the-tokens-are", 1) == (False, "Choose an answer first.")


def test_an_illegal_place_is_pointed_at_and_told_in_the_providers_words() -> None:
    right, words = judged("legal-cut", 2, cut="illegal in turn 11")
    assert right and "400: unexpected tool_use_id" in words


def test_numbers_in_a_lesson_are_those_of_the_plan() -> None:
    model = WorkbenchModel(open_demo(), "flue")
    lesson = find_lesson("where-the-tokens-are")
    model.answer(begin(lesson, 1, model))
    assert f"{model.plan.before / 1000:.1f}k" in tell(lesson, 1, model).text


# what the screen asks


def test_a_step_is_told_as_it_will_stand_and_nothing_moves_for_that() -> None:
    model = WorkbenchModel(open_demo(), "flue")
    model.answer({})
    before = dict(model.inputs), model.plan
    told = answer_query(model, {"type": "lesson_step", "id": 1, "link": "1.3"})
    assert (model.inputs, model.plan) == before
    assert (told["lesson"], told["step"], told["steps"]) == ("Where the tokens are", 3, 4)
    assert told["inputs"]["cut"] == "end"
    assert told["links"] == ["1.2", "1.4"]
    model.answer(told["inputs"])
    assert f"{model.plan.after / 1000:.1f}k" in told["text"][0]
    assert "braces" not in str(told) and "{" not in "".join([*told["text"], told["hint"], told["solution"]])


def test_links_go_through_all_lessons_of_the_session() -> None:
    model = WorkbenchModel(open_demo(), "flue")
    model.answer({})
    link, seen = "1.1", []
    while link:
        seen.append(link)
        link = answer_query(model, {"type": "lesson_step", "id": 1, "link": link})["links"][1]
    steps = [len(lesson.steps) for lesson in list_lessons() if lesson.session == "demo"]
    assert len(seen) == sum(steps) == len(set(seen))


def test_an_attempt_is_judged_at_the_place_under_the_hand() -> None:
    model = WorkbenchModel(open_demo(), "flue")
    model.answer(answer_query(model, {"type": "lesson_step", "link": "2.1"})["inputs"])
    wanted = find_place("turn 12", model.moment)
    ask = {"type": "lesson_check", "link": "2.1", "answer": ""}
    assert answer_query(model, {**ask, "place": wanted})["right"] is True
    told = answer_query(model, {**ask, "place": find_place("turn 11", model.moment)})
    assert (told["right"], told["words"]) == (False, "This is the beginning of turn 11.")
    assert told["place"] == wanted, "the right cut, to be drawn beside the guess"
    assert "no step 9" in answer_query(model, {**ask, "link": "2.9", "place": 3})["sentence"]
