"""What becomes of a statement, asked for as a user asks: development cases as a bound, and laws."""

from __future__ import annotations

import json
import re
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector import checkpoint_from_text, count_tokens, make_plan, read_session
from inspector.facts.evidence import find_evidence
from inspector.facts.outcomes import OUTCOMES
from inspector.facts.traced import Trace
from tests.work import limit_work

CASES = Path(__file__).parents[1] / "cases" / "fates"
KEPT = {"verbatim", "quoted", "paraphrased"}
RIGHT = {
    "kept": KEPT,
    "present": KEPT,
    "absent": {"absent", "unclear"},
    "weakened": {"partial"},
    "changed": {"changed"},
    "contradicted": {"contradicted"},
    "lost": {"absent"},
}
"""The outcomes that are right for each label of the cases, which has the names of an older version."""


def trace_turns(summary: str, *turns: object) -> Trace:
    """The user's turns and the model's, one after the other; a summary takes the place of everything."""
    roles = cycle(("user", "assistant"))
    session = read_session(
        [{"role": role, "content": turn} for role, turn in zip(roles, turns, strict=False)]
    )
    plan = make_plan(session, count_tokens(session), "claude-code-analysis", reason="manual")
    return plan.with_summary(checkpoint_from_text(summary)).trace


def trace(said: str, summary: str) -> Trace:
    return trace_turns(summary, said, "Understood.", "Go on.", "Done so far.")


def called(
    tool: str, output: str, failed: bool = False, **given: object
) -> tuple[list[object], list[object]]:
    """The model's call of a tool and its output, as two turns."""
    call = {"type": "tool_use", "id": "1", "name": tool, "input": given}
    return [call], [{"type": "tool_result", "tool_use_id": "1", "content": output, "is_error": failed}]


def outcome(said: str, summary: str) -> str:
    return trace(said, summary)[said].outcome


def read_cases(*names: str) -> list[dict[str, Any]]:
    lines = [line for name in names for line in (CASES / f"{name}.jsonl").read_text("utf-8").splitlines()]
    return [json.loads(line) for line in lines]


def judge(cases: list[dict[str, Any]]) -> tuple[list[str], list[str]]:
    """The cases with a right outcome, and those told as kept that are not."""
    right, false = [], []
    for case in cases:
        told = trace(case.get("said", case["fact"]), case["summary"])[case["fact"]].outcome
        if told in RIGHT[case["label"]] or told in case.get("also", ()):
            right.append(case["id"])
        elif told in KEPT:
            false.append(case["id"])
    return right, false


def test_development_cases_are_read_and_none_is_certified_falsely() -> None:
    cases = read_cases("compaction_guard_dev", "compint_dev", "own_rules_dev")
    assert len(cases) == 158
    right, false = judge(cases)
    assert false == []
    assert len(right) >= 150


def test_rules_that_nobody_developed_with_are_seldom_certified_falsely() -> None:
    cases = read_cases("own_rules_more")
    assert len(cases) == 287
    right, false = judge(cases)
    assert len(false) <= 3, false
    assert len(right) >= 135


GUARDED = "Never push to main without a passing CI run."


@pytest.mark.parametrize(
    ("said", "summary", "expected"),
    [
        (
            "Never push to main without a passing CI run.",
            "Pushing to main is only allowed after CI passed.",
            "paraphrased",
        ),
        (GUARDED, "Pushing to main is fine.", "contradicted"),
        ("Retry at most 3 times.", "The user said: retry at most three times.", "quoted"),
        ("Retry at most 3 times.", "Retry about 3 times.", "partial"),
        ("Retry at most 3 times.", "Retry at most 5 times.", "changed"),
        ("Never push to main.", "Try not to push to main.", "partial"),
        ("Spend at most $500 per run.", "Do not spend more than $500 per run.", "paraphrased"),
        ("Do not spend more than $500 per run.", "Spend more than $500 per run.", "contradicted"),
        ("Answer in German.", "Do not answer in German.", "contradicted"),
        ("Answer in German.", "Answer in German when convenient.", "partial"),
        ("Is that us?", "The user asked: “Is that us?”", "quoted"),
        ("Is that us?", "The docs are done.", "absent"),
    ],
)
def test_the_outcomes_of_the_specification(said: str, summary: str, expected: str) -> None:
    assert outcome(said, f"All is well. {summary} Next: the docs.") == expected


LIST = "Run make gen-log and make gen-docs."
REFUSED = "On point 1, do not unignore the full folder, but only add the two skills that are in this repo."


@pytest.mark.parametrize(
    ("said", "summary", "expected"),
    [
        (LIST, "Executed make gen-log. To do: call make gen-docs.", "unclear"),
        (LIST, "执行 make gen-log。\n待办：make gen-docs，推送。", "unclear"),
        (LIST, "执行 make gen-log。\n待办：推送。", "absent"),
        ("Please run `make gen-docs` to update the manual of the users.", "待办：make gen-docs。", "unclear"),
        ("Please run `make gen-docs` to update the manual of the users.", "待办：make docs。", "absent"),
        (REFUSED, "The skills of the repo: unignored the whole `.agents` folder.", "unclear"),
        (REFUSED, "The skills of the repo are documented.", "absent"),
        (
            "Now write a test, always use vitest and never jest.",
            "user-agent.ts written, tests added",
            "absent",
        ),
        ("Now write a test, always use vitest and never jest.", "Tests use vitest.", "unclear"),
    ],
)
def test_a_statement_is_absent_unless_its_parts_or_more_than_general_words_are_left(
    said: str, summary: str, expected: str
) -> None:
    found = trace(f"- [ ] {said}" if said == LIST else said, f"All is well.\n{summary}\nNext: the page.")
    one = found["todo", said] if said == LIST else found[said]
    assert one.outcome == expected
    if expected == "unclear" and said == LIST:
        closest = find_evidence(one).found
        assert closest is not None
        assert "make gen-log" in closest.text
        assert "make gen-docs" in closest.text


def test_why_says_what_the_summary_of_a_plan_says_in_its_place() -> None:
    rule = "Spend at most $500 per run."
    changed = trace(rule, "Spend at most $600 per run.")[rule]
    assert "You said “$500” (turn 1). The summary of this plan says “$600”." in changed.why()
    assert "does not mention this." in trace("Use tabs.", "All is well.")["Use tabs."].why()


@pytest.mark.parametrize(
    ("summary", "expected"),
    [
        ("IDLE_MINUTES is set to 30.", "changed"),
        ("IDLE_MINUTES is set to 20.", "quoted"),
        ("IDLE_MINUTES is read at start.", "unclear"),
        ("The port is set to 30.", "absent"),
    ],
)
def test_a_number_is_looked_for_beside_its_name(summary: str, expected: str) -> None:
    assert trace("Use IDLE_MINUTES = 20 there.", summary)["IDLE_MINUTES = 20"].outcome == expected


@pytest.mark.parametrize(
    ("said", "summary", "expected"),
    [
        ("timeout = 90 s", "The timeout is 1.5 minutes.", "quoted"),
        ("timeout=90s", "The latency is 2 s and the timeout is 1.5 minutes.", "quoted"),
        ("latency = 90 s", "The latency is 2 s, and the timeout is 90 s.", "unclear"),
        ("upload_limit = 10 MB", "The upload limit is 20 MB and the download limit is 10 MB.", "unclear"),
    ],
)
def test_an_amount_of_another_name_is_not_certified(said: str, summary: str, expected: str) -> None:
    (number,) = trace(f"We have {said} there.", summary).select(kind="number")
    assert number.outcome == expected


# Laws.

SUBJECTS = ["parser", "migrations", "database", "invoices", "sidebar", "fixtures", "gateway", "ledger"]
VERBS = ["edit", "delete", "publish", "rename", "archive", "encrypt"]
FRAMES = [
    "Never {verb} the {one} before the {two} is done.",
    "Always {verb} the {one} and the {two} together.",
    "{verb} at most {number} {one} per {two}.",
    "Do not {verb} more than {number} {one} in the {two}.",
    "Only {verb} the {one} if the {two} has {number} rows.",
]
UNRELATED = [
    "The weather in Lisbon stayed mild.",
    "Kim bought four green umbrellas yesterday.",
    "A train left for Porto at noon.",
]


@st.composite
def statements(draw: st.DrawFn, frames: list[str] = FRAMES) -> tuple[str, int]:
    """A rule, and the number in it."""
    one, two = draw(st.permutations(SUBJECTS).map(lambda names: names[:2]))
    number = draw(st.integers(11, 99))
    frame = draw(st.sampled_from(frames))
    text = frame.format(verb=draw(st.sampled_from(VERBS)), one=one, two=two, number=number)
    return text[0].upper() + text[1:], number


AROUND = st.lists(st.sampled_from(UNRELATED), max_size=3).map(" ".join)


@given(statements(), AROUND, AROUND, st.sampled_from(["{}", "- {}", "> {}", "The user: “{}”", "**{}**"]))
def test_law_what_is_quoted_word_for_word_is_never_missing(
    rule: tuple[str, int], before: str, after: str, frame: str
) -> None:
    said, _ = rule
    assert outcome(said, f"{before}\n{frame.format(said)}\n{after}") in KEPT


@given(statements(), st.lists(st.sampled_from(UNRELATED), min_size=1, max_size=5))
def test_law_a_summary_without_a_word_of_the_subject_makes_it_absent(
    rule: tuple[str, int], lines: list[str]
) -> None:
    assert outcome(rule[0], "\n".join(lines)) == "absent"


RANK = ("absent", "unclear", "partial", "changed", "contradicted", "paraphrased", "quoted")


@given(statements(), statements(), AROUND)
def test_law_an_unrelated_paragraph_lowers_no_outcome(
    rule: tuple[str, int], other: tuple[str, int], more: str
) -> None:
    alone, longer = outcome(rule[0], other[0]), outcome(rule[0], f"{other[0]}\n\n{more}")
    assert RANK.index(longer) >= RANK.index(alone)


@given(
    statements(),
    st.tuples(st.permutations(SUBJECTS), st.sampled_from(VERBS)),
    st.lists(st.sampled_from(SUBJECTS), max_size=8),
    st.booleans(),
)
def test_law_lines_that_share_a_word_make_nothing_absent_that_another_line_leaves(
    rule: tuple[str, int], words: tuple[list[str], str], named: list[str], first: bool
) -> None:
    """What is left of a sentence is the best line's to say, however often other lines name its things."""
    near = f"The {words[0][0]} and the {words[0][1]} wait, {words[1]} one by one"
    others = [f"Notes about {name}" for name in named]
    lines = [near, *others] if first else [*others, near]
    assert outcome(rule[0], near) == "absent" or outcome(rule[0], "\n".join(lines)) != "absent"


@pytest.mark.parametrize(
    ("said", "near", "others"),
    [
        (
            "Bitte erstmal nur `helm diff`, niemals upgrade ohne mein ausdrückliches OK.",
            "helm upgrade nur nach ausdrücklicher Freigabe",
            ["Umzug mit Helm", "Nur zwei Knoten"],
        ),
        (
            "MQTT costs us 9 cents each, cap at 400 a week.",
            "- MQTT limit: 4,000 a week",
            ["First a push, then MQTT", "MQTT follows after a day"],
        ),
    ],
)
def test_a_close_line_counts_beside_lines_with_one_of_its_words(
    said: str, near: str, others: list[str]
) -> None:
    assert {outcome(said, near), outcome(said, "\n".join([*others, near]))} == {"unclear"}


@given(statements(FRAMES[2:]), st.integers(11, 99), AROUND)
def test_law_another_number_in_the_same_sentence_is_never_certified(
    rule: tuple[str, int], number: int, around: str
) -> None:
    said, mine = rule
    told = re.sub(r"\d+", str(number), said)
    assert (outcome(said, f"{around} {told}") in KEPT) == (number == mine)


SIGNS = {
    "{verb} the {one} while the {two} has {} {number} rows.": [">=", "<=", "<", ">", "==", "!=", "≤", "≥"],
    "Set the offset of the {one} in the {two} to {}{number}.": ["-", ""],
    "{verb} the {one} {} the {two} in {number} steps.": ["&&", "||"],
}


@given(st.sampled_from([*SIGNS]), statements(FRAMES[2:]), st.data(), AROUND, st.sampled_from(["{}", "- {}"]))
def test_law_another_operator_or_sign_in_the_same_sentence_is_never_certified(
    frame: str, rule: tuple[str, int], data: st.DataObject, around: str, line: str
) -> None:
    one, two = data.draw(st.permutations(SUBJECTS).map(lambda names: names[:2]))
    mine, told = (data.draw(st.sampled_from(SIGNS[frame])) for _ in range(2))
    said, summary = (
        frame.format(sign, verb=VERBS[0].title(), one=one, two=two, number=rule[1]) for sign in (mine, told)
    )
    same = {"≤": "<=", "≥": ">="}
    is_same = same.get(mine, mine) == same.get(told, told)
    assert (outcome(said, f"{around}\n{line.format(summary)}") in KEPT) == is_same


@given(statements(), statements(), AROUND)
def test_law_the_same_question_has_the_same_answer(
    rule: tuple[str, int], other: tuple[str, int], around: str
) -> None:
    summary = f"{around} {other[0]}"
    one, two = (trace(rule[0], summary)[rule[0]] for _ in range(2))
    assert (one.outcome, one.words, one.comparison) == (two.outcome, two.words, two.comparison)
    assert one.words in summary or one.outcome == "absent"


@given(st.text(max_size=120), st.text(max_size=200))
def test_law_any_text_is_compared_with_any_other(said: str, summary: str) -> None:
    found = trace(f"x {said}", f"x {summary}")
    for one in found:
        assert one.outcome in (*RANK, "verbatim") and one.why()


@pytest.mark.parametrize(
    "unit",
    ["-.", "12-", "a@", "not push to main x ", "bash", "(exec", "1" * 99_990 + "items", "é" + "1" * 99_990],
)
def test_no_summary_takes_a_time_that_grows_with_its_square(unit: str) -> None:
    """A summary of 100,000 characters of one pattern is read; backtracking over it would take hours."""
    rule = "Never push to main without a review."
    with limit_work():
        found = trace(f"Run `git status` first. {rule}", "git " + unit * (100_000 // len(unit)))
        outcomes = [found[asked].outcome for asked in (rule, "git status")]
    assert set(outcomes) <= set(OUTCOMES)


def test_a_long_sentence_that_compares_takes_no_time_squared() -> None:
    rule = "Keep answers shorter than 5 lines."
    with limit_work():
        found = trace(rule, "Answers are kept shorter than 5 lines, " + "alpha beta " * 20_000)
        assert found[rule].outcome in OUTCOMES


def test_what_is_told_absent_is_not_told_kept_when_its_value_is_asked_for() -> None:
    said = "We measured: max = 6.1 ms, timeout = 20 ms, obs = -0.4, width = 5"
    found = trace(said, "The loop took up to 6.1 ms and waits 20 ms, with a bias of -0.4; there are 5 pins.")
    numbers = {traced.fact.form: traced.outcome for traced in found.select(kind="number")}
    assert {form for form, outcome in numbers.items() if outcome == "absent"} <= {"width = 5"}
    assert len(numbers) == 4
    for form in numbers:
        value = form.partition(" = ")[2]
        if found[value].outcome in KEPT and len(value) > 1:
            assert numbers[form] == "unclear"
    assert {traced.outcome for traced in trace(said, "Nothing was measured.").select(kind="number")} == {
        "absent"
    }


@pytest.mark.parametrize(
    ("asked", "summary", "right"),
    [
        ("user tidelog", "The user (Mira) extends `tidelog`.", "unclear"),
        ("user tidelog", "It runs as the user `tidelog`.", "unclear"),
        ("user tidelog", "Required: the user `tidelog`.", "quoted"),
        ("renumber", "Receipts may be renumbered.", "unclear"),
        ("renumber", "Receipts have numbers.", "absent"),
        ("1password", "1. Receipts\n2. Passwords", "absent"),
        ("1password", "The key is in 1Password.", "unclear"),
        ("2 hours", "The cap is 2 h.", "quoted"),
    ],
)
def test_a_question_of_a_word_or_two(asked: str, summary: str, right: str) -> None:
    said = "Never renumber one, run as user tidelog, keys are in 1password, the cap is 2h."
    answer = trace(said, summary)[asked]
    assert (answer.outcome, bool(answer.said)) == (right, True)
    evidence = answer.explanation.evidence
    if right == "absent":
        assert evidence.found is None, "no closest sentence that has all of one word"
