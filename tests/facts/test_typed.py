"""What people type as facts: every sentence, marked as a rule or a choice; and how well the two are found."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector import lint, read_session
from inspector.facts.extract.statements import find_statements
from inspector.facts.trace import trace_recorded
from inspector.session.entries import Entry
from inspector.session.session import Session
from tests.figures import read_scores, write_scores
from tests.shared import SHARED, needs_shared, open_shared
from tests.telling import compact, use
from tests.test_cuts import build, say, user
from tests.typed import FILES, HALVES, KINDS, READ, find_marks, hash_file, print_table, read_labels, score
from tests.work import count_calls, limit_work

FLOORS = {
    "clean": {"rule": (0.5, 0.55), "choice": (0.3, 0.2)},
    "dev": {"rule": (0.5, 0.33), "choice": (0.8, 0.6)},
}
"""Precision and recall on both halves, a little under what was measured."""


STATED = ("constraint", "choice", "statement")


def marks(text: str, *kinds: str) -> list[str]:
    """The forms of these kinds of a message with this text, in order."""
    facts = read_session([{"role": "user", "content": text}]).facts
    return [fact.form for fact in facts.values() if fact.kind in kinds]


def told(*words: str | Entry, summary: str) -> Session:
    """Messages of a user, a compaction with this summary, and one word after it."""
    said = [word if isinstance(word, Entry) else user(word) for word in words]
    return build(*said, compact(summary), say("ok"))


def test_every_sentence_a_person_typed_is_a_fact_that_a_summary_quotes_or_does_not() -> None:
    """One summary quotes it in other marks, one has its words in other sentences, one none of them."""
    words = "rename the checkpoint branch, squash shadow commits, publish nightly metrics dashboard"
    found = []
    for summary in (
        f"The user: “{words.capitalize()}”.",
        "The dashboard with nightly metrics: publish.\nsquash shadow commits; rename checkpoint branch",
        "All is well.",
    ):
        session = told(words, summary=summary)
        (fact,) = session.facts.by_kind("statement")
        assert (fact.form, fact.said[0].by) == (words, "user")
        traced = trace_recorded(session, session.facts)[0]["statement", words]
        found.append(traced.outcome)
    assert found == ["quoted", "unclear", "absent"]


def test_an_answer_to_a_question_is_one_choice_of_the_user() -> None:
    words = 'User has answered your questions: "Which store?"="Redis". You can now continue with it.'
    session = told("Store it", *use(1, "AskUserQuestion", words), summary="All is well.")
    (choice,) = session.facts.by_kind("choice")
    assert (choice.form, choice.said[0].by) == ('"Which store?"="Redis"', "user")
    said = choice.said[0]
    assert words[said.start : said.end] == choice.form
    assert [fact.form for fact in session.facts.by_kind("statement")] == ["Store it"]


SENTENCES = [
    "Nothing goes to production without my sign-off.",
    "Wait for my OK before you run a migration.",
    "pnpm, not npm.",
    "Functions: 30 lines max.",
    "Main is protected; open a PR for everything.",
    "Whatever you do, leave production alone.",
    "Why does the build fail?",
    "It always crashes when I open the page.",
    "Perfect, thank you!",
    "The version is 1.5.0.",
    "ok",
    "Yes",
    "B)",
    "いいえ。",
]


@given(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=8, unique=True))
def test_each_sentence_is_one_fact_of_the_user_whatever_it_is_marked_as(lines: list[str]) -> None:
    text = "\n".join(lines)
    session = read_session([{"role": "user", "content": text}])
    stated = [fact for fact in session.facts.values() if fact.kind in STATED]
    spans = [(said.start, said.end) for fact in stated for said in fact.said]
    assert all(said.by == "user" for fact in stated for said in fact.said)
    assert all(text[said.start : said.end] == fact.form for fact in stated for said in fact.said)
    assert all(one[1] <= two[0] for one, two in pairwise(sorted(spans)))
    left = "".join(c for at, c in enumerate(text) if not any(start <= at < end for start, end in spans))
    assert not any(c.isalpha() for c in left)


def test_a_bare_consent_ranks_last() -> None:
    facts = read_session([{"role": "user", "content": "ok\nThe page is slow.\nNever push."}]).facts
    assert [facts.rank[facts[form].number] for form in ("ok", "The page is slow.", "Never push.")] == [
        0,
        1,
        3,
    ]


@needs_shared
@pytest.mark.parametrize("half", HALVES)
def test_rules_and_choices_of_each_half_are_found(half: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert {label.file for label in read_labels(half)} <= {hash_file(f) for f in FILES[half]}
    tallies = score(half)
    print_table(half, tallies)
    table = capsys.readouterr().out
    for kind, (precision, recall) in FLOORS[half].items():
        assert tallies[kind].precision >= precision and tallies[kind].recall >= recall, table
    assert write_scores(half, tallies) == read_scores(half), "run `make accuracy`"


@needs_shared
@pytest.mark.parametrize("half", HALVES)
def test_a_model_that_is_asked_finds_more_and_the_product_loses_none_of_it(half: str) -> None:
    by_patterns, read = score(half), score(half, read=True)
    for kind in KINDS:
        assert (
            read[kind].recall > by_patterns[kind].recall
            and read[kind].precision > by_patterns[kind].precision
        )
    found = sum(len(marks) for file in FILES[half] for marks in find_marks(file, read=True).values())
    assert found == len(read_labels(half, READ))
    assert write_scores(f"{half}-read", read) == read_scores(f"{half}-read"), "run `make accuracy`"


@needs_shared
def test_a_session_lists_what_its_person_typed_in_every_turn() -> None:
    session = open_shared(SHARED / "sessions" / "claude-code--entire-sem" / "cc-2.1.210-1404l.jsonl")
    stated = [fact for fact in session.facts.values() if fact.kind in STATED]
    entries = {said.ref.entry for fact in stated for said in fact.said if said.by == "user"}
    assert len(session.turns) == 23 and len(entries) >= 23


# Wordings of real sessions and their like: the rule is another's, what follows is the person's.
QUOTED = [
    "> Never use a mutex here.",
    ">Always rebase before you merge",
    'He said: "never push to main".',
    "the reviewer wrote: you must never swallow this error",
    'copilot says "Always close the file before you return".',
    'got this feedback: \n\nThe comment should be updated to: "Lines added by agent" to reflect it.',
    "Here is the review:\n\nThe retry is wrong.\n\nNote: callers must always close the handle.",
    (
        "I've plenty of warning in the console: arning: Encountered two children with the same "
        "key, `SKILL.md`. Keys should be unique so that components maintain their identity across updates."
    ),
    (
        'this results in\n\n Error: 400 {"type":"error","error":{"message":"`tool_use`\n ids. Each\n '
        '`tool_use` block must have a corresponding `tool_result` block in the next."},"id":"r1"}'
    ),
    'Look at it:\n<file path="AGENTS.md">\nNever edit generated files.\n</file>',
]


@pytest.mark.parametrize("words", QUOTED)
def test_a_rule_in_a_quote_is_not_the_persons_own(words: str) -> None:
    own = "Never rename the branch."
    facts = read_session([{"role": "user", "content": f"{words}\n\n{own}"}]).facts
    assert [fact.form for fact in facts.by_kind("constraint")] == [own]
    alone = read_session([{"role": "user", "content": words}]).facts
    assert alone.by_kind("constraint") == ()


REVIEW = (
    "This loop repeats what sync.go does at lines 20-31. Both must always handle renames. Avoid the copy."
)


def test_what_is_shaped_like_a_review_states_no_rules_of_the_person() -> None:
    """Its sentences are statements, which no check misses; what the person says around it is theirs."""
    own = "Please never rename the branch."
    session = told(f"{REVIEW}\n\n{own}", "Go on.", summary="All is well.")
    assert [fact.form for fact in session.facts.by_kind("constraint")] == [own]
    assert [fact.fact.form for fact in lint(session) if fact.fact is not None] == [own]
    assert session.find_facts(REVIEW)[0].fact.kind == "statement"


@pytest.mark.parametrize(
    "words",
    [
        "## Task\nAdd the export.\n\n## Summary\nOnly touch the parser.\n\n## Results\nNever write to main.",
        "Rules:\n- never push to main\n- always rebase",
        "The schema is frozen.\nNever push to main.\nDates must be in UTC.",
        "## Backend\nNever push to main.\n## Frontend\nAlways use tabs.",
    ],
)
def test_a_brief_with_headings_keeps_its_rules(words: str) -> None:
    forms = marks(words, "constraint")
    assert any("ever" in form for form in forms) and len(forms) >= 2


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("On point 1, do not copy the full folder, but only add the two that are already here", "constraint"),
        ("They did not copy the folder, but only the two that were already here", "statement"),
    ],
)
def test_not_this_but_only_that_is_a_rule(words: str, kind: str) -> None:
    assert marks(words, kind) == [words]


def test_a_command_over_several_lines_is_no_rule() -> None:
    words = "❯ sync replicate \\\n  --max-bytes 1024 \\\n  --only-new $URL\nNever push."
    assert marks(words, "constraint") == ["Never push."]


@pytest.mark.parametrize("piece", ["Let's use it.\n", "Use 5, not 6. ", "- [ ] Never do it.\n"])
def test_choices_and_rules_over_and_over_take_no_time_squared(piece: str) -> None:
    def find(many: int) -> None:
        facts = read_session([{"role": "user", "content": piece * many}]).facts
        assert facts.by_kind("constraint") or facts.by_kind("choice")

    with limit_work():
        assert count_calls(lambda: find(4_000)) < 6 * count_calls(lambda: find(1_000))


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        # A description of what is, a report, and an order about what was just spoken of bind nothing.
        ("That list is always complete and we're just now ending step 8.", "statement"),
        ("All reviewers of this module have read the older plans.", "statement"),
        ("leave that one.", "statement"),
        ("under budget, lovely.", "statement"),
        ("Das hat keiner gesagt.", "statement"),
        # What forbids may stand behind a description, and "always" may come last.
        ("ACM0 is the board of the other lab, don't erase it!", "constraint"),
        ("the example host is web-03, never restart web-01 at night.", "constraint"),
        ("it failed twice, never worked again.", "statement"),
        ("All of them are in metres, always.", "constraint"),
        ("We try to change foreign sources as little as possible.", "constraint"),
        ("it will be there as soon as possible", "statement"),
    ],
)
def test_a_description_is_no_rule_and_a_rule_may_stand_behind_one(said: str, kind: str) -> None:
    assert marks(said, *STATED) == marks(said, kind) != []


@pytest.mark.parametrize(
    "words",
    [
        "Ask Dr. Vane before any release.",
        "Never page Mrs. Ito at night.",
        "Use a lock, e.g. Redis, in all jobs.",
        "Bitte nimm z.B. Redis als Cache.",
        "Write to Prof. Oe (oe@lab.example) only on Mondays.",
    ],
)
def test_a_title_or_an_abbreviation_ends_no_sentence(words: str) -> None:
    assert marks(f"{words} Then stop.", *STATED) == [words, "Then stop."]
    session = told(f"{words} Then stop.", summary=f"The user said: {words} All is well.")
    (traced,) = [item for item in trace_recorded(session, session.facts)[0] if item.fact.form == words]
    assert traced.outcome == "quoted"


def test_the_place_of_an_address_marks_no_doubt() -> None:
    assert marks("Never mail oe@lab.example from here.", "constraint") == [
        "Never mail oe@lab.example from here."
    ]


RULES = (
    "don't push to the shared branch",
    "never rewrite published history",
    "keep the margins as they are",
    "if a build takes more than 5 minutes, stop it and tell me",
    "the importer must not run on weekdays",
    "restarting the importer by day is not acceptable",
)
FRAMES = (
    "{}",
    "btw {}",
    "right, {}",
    "ah and {}",
    "one more thing: {}",
    "That looks good, but {}",
    "{}, that's when it broke last year",
    "{}, because the others build on it",
    "could you please make sure that {}?",
)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("frame", FRAMES)
def test_what_stands_around_a_rule_does_not_hide_it(frame: str, rule: str) -> None:
    """The sentence is a rule whatever aside, reason or politeness it comes with."""
    (fact,) = [one for one in find_statements(frame.format(rule)) if rule in one.form]
    assert fact.kind == "constraint"


@pytest.mark.parametrize(
    "words",
    [
        "now the second chapter please",
        "never mind",
        "no, not that one",
        "Could you look at the log?",
        "right, it never worked",
        "ok, it failed because the disk was full",
        "Testing takes more than an hour.",
        "Reading the log before lunch helped.",
        "no worries",
        "No luck with the build.",
        "Could you approve it?",
    ],
)
def test_a_request_or_a_report_in_the_same_frames_is_no_rule(words: str) -> None:
    assert [one.kind for one in find_statements(words)] == ["statement"]
