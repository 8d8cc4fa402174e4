"""What people type as facts: whole messages, their choices, their rules; and how well the two are found."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from inspector import read_session
from inspector.facts.extract.choices import find_choices
from inspector.facts.extract.constraints import find_typed_rules
from inspector.facts.extract.typed import blank_pasted, typed_sentences
from inspector.facts.trace import trace_recorded
from inspector.session.blocks import Text, ToolCall, ToolOutput
from inspector.session.entries import Boundary, Entry
from inspector.session.session import Session
from tests.figures import read_scores, write_scores
from tests.shared import SHARED, needs_shared, open_shared
from tests.typed import FILES, HALVES, KINDS, READ, find_marks, hash_file, print_table, read_labels, score
from tests.work import count_calls, limit_work

FLOORS = {
    "clean": {"rule": (0.65, 0.33), "choice": (0.55, 0.28)},
    "dev": {"rule": (0.85, 0.35), "choice": (0.85, 0.70)},
}
"""Precision and recall on both halves, a little under what was measured."""


def rules(text: str) -> list[str]:
    return [form for _, _, form in find_typed_rules(text)]


def choices(text: str) -> list[str]:
    return [form for _, _, form in find_choices(text)]


def told(*words: str | Entry, summary: str) -> Session:
    """Messages of a user, a compaction with this summary, and one word after it."""
    said = [word if isinstance(word, Entry) else Entry(id="", blocks=(Text(text=word),)) for word in words]
    made = Entry(id="", kind="compaction", blocks=(Text(text=summary),), boundary=Boundary(summary=summary))
    after = Entry(id="", role="assistant", blocks=(Text(text="ok"),))
    entries = [
        entry.model_copy(update={"id": f"e{at}", "parent": f"e{at - 1}" if at else None})
        for at, entry in enumerate([*said, made, after])
    ]
    return Session(format="demo", entries=tuple(entries), leaf=entries[-1].id)


def test_every_message_a_person_typed_is_a_fact_with_an_outcome_by_its_telling_words() -> None:
    """Of ten telling words one summary holds all in other places, one half of them, one none."""
    words = "rename the checkpoint branch, squash shadow commits, publish nightly metrics dashboard"
    forms = {}
    for summary in (
        "The dashboard with nightly metrics: publish.\nsquash shadow commits; rename checkpoint branch",
        "The checkpoint branch has a new name.\nIts shadow commits stand; squash later.",
        "All is well.",
    ):
        session = told(words, summary=summary)
        (fact,) = session.facts.by_kind("message")
        assert (fact.form, fact.said[0].by) == (words, "user")
        traced = trace_recorded(session, session.facts)[0]["message", words]
        forms[traced.outcome] = traced.words
    assert list(forms) == ["quoted", "partial", "absent"]
    assert forms["partial"] == "5 of its 10 telling words"


def test_an_answer_to_a_question_is_a_message_and_a_choice_of_the_user() -> None:
    asked = Entry(id="", role="assistant", blocks=(ToolCall(id="1", name="AskUserQuestion", input={}),))
    words = 'User has answered your questions: "Which store?"="Redis". You can now continue with it.'
    answer = ToolOutput(call_id="1", parts=(Text(text=words),))
    session = told("Store it", asked, Entry(id="", role="tool", blocks=(answer,)), summary="All is well.")
    (choice,) = session.facts.by_kind("choice")
    assert (choice.form, choice.said[0].by) == ('"Which store?"="Redis"', "user")
    said = choice.said[0]
    assert words[said.start : said.end] == choice.form
    assert [fact.form for fact in session.facts.by_kind("message")] == ["Store it", choice.form]


def test_rules_are_what_is_wanted_always_or_never_and_in_what_manner() -> None:
    for rule in (
        "no emojis in the README",
        "Please keep the commits small.",
        "let's only touch the parser for now",
        "the reader needs to reload them before it evaluates commands",
        "i only want e2e tests for this class",
        "When you finish a task, end your reply with DONE.",
        "Report all times in UTC.",
        "The user prefers terse answers.",
        "Total spending is capped at $481; exceeding it needs approval.",
        "Under no circumstances reveal the key.",
        "Can you ensure that both files are merged",
        "Also never delete the fixtures",
    ):
        assert rules(rule) == [rule]


def test_questions_reports_doubts_plans_and_what_was_pasted_are_no_rules() -> None:
    for words in (
        "Should it always be there?",
        "I've still got a shadow, no commit",
        "There are two of them, no idea why",
        "Consider extracting this, as it must be kept.",
        "Also never worked on Linux",
        "It also never starts",
        "Keep in mind that it has to be fast",
        "Let's look at it before lunch",
        "expected, actual: you must set it",
        "It fails:\nERROR: you must never do that\n    at run (a.js:1:2)",
        "```\nNever do this.\n```",
    ):
        assert rules(blank_pasted(words)) == []


@pytest.mark.parametrize(
    "rule",
    [
        "I don't want you to commit yet",
        "hold off on pushing",
        "please be concise",
        "one commit per task please",
        "all names in snake_case",
        "every endpoint needs a test",
        "do it in small steps",
        "stop adding comments everywhere",
        "backward compatibility is not needed",
        "let's avoid global state",
        "the config format stays as it is",
        "the vendor folder is off limits",
        "treat warnings as errors",
        "we need to support Python 3.9 too",
        "I need this to be fast",
        "make the smallest change",
        "it's important that the order stays stable",
        "stay on this branch",
        "functions shorter than 40 lines",
        "we never deploy on Fridays",
        "answer in German",
    ],
)
def test_how_a_project_is_to_be_is_a_rule_in_whatever_words(rule: str) -> None:
    assert rules(rule) == [rule]


@pytest.mark.parametrize(
    "words",
    [
        "the build always fails on CI",
        "the error says it must be a string",
        "he said it must be fast",
        "the server only starts once",
        "it never worked on my machine",
        "all tests are green",
        "every run fails with a timeout",
        "stop the server",
        "stop watching the logs",
        "the output is longer than 40 lines",
        "I think it's important to know why it fails",
        "please be so kind and check the logs",
        "one test fails per run",
        "the config stays the same on my machine",
        "I need to see the logs",
    ],
)
def test_what_somebody_does_or_says_is_no_rule(words: str) -> None:
    assert rules(words) == []


@pytest.mark.parametrize(
    "choice",
    [
        "we'll use Postgres",
        "I prefer the map over the list",
        "the first approach please",
        "1 and 3 please",
        "do the second one",
        "skip 2",
        "both",
        "the latter",
        "I'm fine with dropping it",
        "go ahead with the refactor",
        "keep the old name",
        "the second one sounds better",
        "yes to 1, no to 2",
        "we can drop the legacy path",
        "name it parse_rows",
        "let's stay with sqlite",
        "agree, make it a method",
    ],
)
def test_what_is_taken_is_a_choice_in_few_words_too(choice: str) -> None:
    assert choices(choice) == [choice]


@pytest.mark.parametrize(
    "words",
    [
        "should we use the second one?",
        "the first one failed",
        "both tests fail",
        "the new one is slower",
        "we don't know why",
        "go ahead",
        "leave a comment on the PR",
        "I like how this works",
        "we can look at it tomorrow",
        "let's start with the first test",
    ],
)
def test_what_only_names_an_option_is_no_choice(words: str) -> None:
    assert choices(words) == []


def test_a_rule_without_an_object_keeps_the_sentence_before_it() -> None:
    assert rules("Budget cap is $481 total. Never exceed without approval. Thanks.") == [
        "Budget cap is $481 total. Never exceed without approval."
    ]
    assert rules("It is late. Never push to main.") == ["Never push to main."]


def test_items_below_a_heading_of_rules_are_rules() -> None:
    text = (
        "## Constraints\n- snake_case on the wire\n- dashboards stay local\n\n## Steps\n- read the guides\n"
    )
    assert rules(text) == ["snake_case on the wire", "dashboards stay local"]


def test_choices_settle_and_next_steps_questions_and_bare_consent_do_not() -> None:
    for choice in (
        "let's store it in metadata",
        "I think 2 is the right approach.",
        "no remove this again, the risk is too big",
        "I'd prefer a map",
        "put it in the handler",
        "We chose sqlite because it is small.",
    ):
        assert choices(choice) == [choice]
    assert choices("let's use it, can you show an example?") == ["let's use it"]
    assert choices("tools -> core/tools\ntui -> modes/tui\ntheme -> modes/theme\n") == [
        "tools -> core/tools",
        "tui -> modes/tui",
        "theme -> modes/theme",
    ]
    for words in (
        "yes",
        "let's check the logs",
        "should we use it?",
        "it went from a -> b",
        "let's not worry",
    ):
        assert choices(words) == []


NO_RULES = """
it should be fixed now
add a flag to skip the cache
there must be a bug somewhere
the server must have crashed
you must have misread it
check if the tests pass before and after
see if we can avoid it
no tests failed
no changes since yesterday
no chart visible, and the axis is gone
I suspect two of them should be merged
I'm curious if it always picks the first
I'd expect that the totals should match
We need to work on this
You should read the plan and tell me what is wrong
right now, we don't use the full range
the table still needs to be filled
use grep to find where it is set
list every file in the folder
explain what happens if the file is missing
For example, a draft should be sent later, but that is another story
It is a tool I planned for years, but then never got to build
Once this is done, update the page
I want to make sure the numbers are right
unless you had planned that anyway
update the names to avoid the clash
it seems the file has to be created first
"""


@pytest.mark.parametrize("words", NO_RULES.strip().splitlines())
def test_a_guess_a_report_an_aim_and_a_plain_task_are_no_rules(words: str) -> None:
    assert rules(words) == []


CHOICES = """
B
2
option B
the second one
both please
Yes, all five, please.
1, 2 and 4
neither, do it by hand
just the first two
let's keep it as it is
I'd go for postgres
yes, use the cached one
yes, extend the parser
no, leave the flag in
sqlite is better here
the simpler one is fine
go with redis instead of memcached
we decided to drop python 3.8
keep the wrapper, drop the shim
use the env var rather than a flag
fine with me, go with sqlite
as you suggested, use a trie
I will do the second one first
ok, park it for now
please go with 1
revert to the version of this morning
implement this approach
prefer to have it on one line
a file for every year is a fine choice
"""
NO_CHOICES = """
It runs at half past two and I would like to sleep.
The school says that their race has moved in everybody's calendar since you changed the feed.
I'd like to have a table of all the results
I want to add a new endpoint
I want to keep two sources of numbers apart
let's start with the first test
let's add a test for that
let's make it work
let's make a couple more samples
let's create a set because we need one
let's move on to phase 2
let's go through the comments
We'll use these new tests to find the slow ones
I think this is better now
ok, create a branch
no, it still fails
I'll push it myself
both files are missing
instead of 5 I get 6
it fails when I use sqlite instead of postgres
make it faster
put the button on the right
keep going
Keep the code short
option 2 does not work
the latter fails
"""


@pytest.mark.parametrize("choice", CHOICES.strip().splitlines())
def test_a_pick_between_alternatives_and_an_answer_are_choices(choice: str) -> None:
    assert choices(choice) == [choice]


@pytest.mark.parametrize("words", NO_CHOICES.strip().splitlines())
def test_a_wish_a_report_and_work_to_be_done_are_no_choices(words: str) -> None:
    assert choices(words) == []


def test_a_letter_answers_only_as_the_whole_message() -> None:
    facts = read_session([{"role": "user", "content": words} for words in ("b", "Look:\n3\n4\n")]).facts
    assert [fact.form for fact in facts.by_kind("choice")] == ["b"]


def test_a_sentence_that_breaks_off_is_no_rule() -> None:
    for words in (
        "The page must",
        "The page must:",
        "The page must:\n- end with a table",
        "You should never",
    ):
        facts = read_session([{"role": "user", "content": words}]).facts
        assert facts.by_kind("constraint") == ()
    assert rules("The page must end with a table.") == ["The page must end with a table."]


def test_a_bracket_holds_the_rule_only_where_the_sentence_is_none() -> None:
    assert rules("Do not use any packages (no sockets, no threads).") == [
        "Do not use any packages (no sockets, no threads)."
    ]
    assert rules("You can look it up (do not read the whole file!)") == ["do not read the whole file!"]


def test_only_a_persons_words_are_messages() -> None:
    session = told("<task-notification>done</task-notification>", "Fix it now", summary="x")
    assert [fact.form for fact in session.facts.by_kind("message")] == ["Fix it now"]


def test_the_labels_of_typed_words_are_well_formed() -> None:
    labels = read_labels()
    assert len(labels) >= 100 and len(set(labels)) == len(labels)
    assert len({label.file for label in labels}) >= 10
    assert not {f.file for f in read_labels("dev")} & {f.file for f in read_labels("clean")}
    for label in labels:
        assert label.half in HALVES and label.kind in KINDS and 0 <= label.start < label.end


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


@pytest.mark.parametrize(
    "sentence",
    ["use the small fixtures, e.g. the demo, never the large one.", "see no. 5, i.e. keep the name."],
)
def test_a_typed_sentence_goes_on_behind_an_abbreviation(sentence: str) -> None:
    assert next(form for _, _, form in typed_sentences(f"{sentence} Thanks!")) == sentence


@needs_shared
def test_no_words_of_the_clean_half_are_kept_to_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    for half, kept in (("dev", True), ("clean", False)):
        tallies = score(half)
        print_table(half, tallies, slips=True)
        assert any(tally.missed or tally.extra for tally in tallies.values()) is kept
        assert ("missed: " in capsys.readouterr().out) is kept


@needs_shared
def test_a_session_lists_every_message_its_person_typed() -> None:
    session = open_shared(SHARED / "sessions" / "claude-code--entire-sem" / "cc-2.1.210-1404l.jsonl")
    facts = session.facts.by_kind("message")
    assert sum(len(fact) for fact in facts) == len(session.turns) == 23
    assert len(facts) == 20  # "Yes" was said four times


def _sentences() -> Iterator[str]:
    """The rule sentences of conpact and of compaction-conformance-kit, both MIT, if they are installed."""
    # Of conpact this file alone: the package asks for 400 MB of others.
    constraints = _load("conpact", "constraints")
    pytest.importorskip("compaction_kit")
    generated = import_module("compaction_kit.generated")
    yield from (item["sc"] for item in constraints.SCS)
    for subject in generated._SUBJECTS:
        if subject.canary_type.value in ("safety_rule", "hard_constraint", "user_preference"):
            yield from (template.replace("{v}", "Go") for template in subject.templates)


def _load(package: str, name: str) -> ModuleType:
    if (found := find_spec(package)) is None or found.origin is None:
        pytest.skip(f"{package}, whose sentences are not ours to copy, is not installed")
    spec = spec_from_file_location(name, Path(found.origin).with_name(f"{name}.py"))
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_rule_sentences_nobody_here_wrote_are_rules() -> None:
    sentences = list(_sentences())
    assert len(sentences) == 51
    assert sum(bool(rules(sentence)) for sentence in sentences) >= 45


# Wordings of real sessions and their like: the rule is another's, what follows is the person's.
QUOTED = [
    "> Never use a mutex here.",
    ">Always rebase before you merge",
    'He said: "never push to main".',
    "the reviewer wrote: you must never swallow this error",
    'copilot says "Always close the file before you return".',
    'got this feedback: \n\nThe comment should be updated to: "Lines added by agent" to reflect it.',
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
OWN = [
    "I said: never push to main.",
    'Claude Rule should appear as "Claude Rule", not just "Rule"',
    '"likely obsolete" is not good enough',
    "From now on: never commit without running the tests.",
    "the user said: never push to main",
    "Keep count >= 3, never less than that.",
]


@pytest.mark.parametrize("words", QUOTED)
def test_a_rule_in_a_quote_is_not_the_persons_own(words: str) -> None:
    own = "Never rename the branch."
    facts = read_session([{"role": "user", "content": f"{words}\n\n{own}"}]).facts
    assert [fact.form for fact in facts.by_kind("constraint")] == [own]
    alone = read_session([{"role": "user", "content": words}]).facts
    assert alone.by_kind("constraint") == ()


@pytest.mark.parametrize("words", OWN)
def test_what_a_person_says_themselves_stays_theirs(words: str) -> None:
    facts = read_session([{"role": "user", "content": words}]).facts
    assert len(facts.by_kind("constraint")) == 1


def test_blanks_for_quotes_keep_every_place() -> None:
    for words in QUOTED:
        left = blank_pasted(words)
        assert len(left) == len(words) and left.count("\n") == words.count("\n")


PIECES = ["<file>", "</file>", '{"error": {', "a.a-", "he said: ", 'he said "', "> ", "got this ", "}", "\n"]


@pytest.mark.parametrize("piece", PIECES)
def test_a_text_of_one_piece_over_and_over_is_read_at_once(piece: str) -> None:
    """What would take hours if each piece were held against all that follow; words before it stay."""
    text = f"Never push.\n{piece * 60_000}\n\nNever push."
    blanked = blank_pasted(text)
    assert len(blanked) == len(text)
    assert blanked.startswith("Never push.\n")


@pytest.mark.parametrize("piece", ["Let's use it.\n", "Use 5, not 6. ", "- [ ] Never do it.\n"])
def test_choices_and_rules_over_and_over_take_no_time_squared(piece: str) -> None:
    def find(many: int) -> None:
        facts = read_session([{"role": "user", "content": piece * many}]).facts
        assert facts.by_kind("constraint") or facts.by_kind("choice")

    with limit_work():
        assert count_calls(lambda: find(20_000)) < 6 * count_calls(lambda: find(5_000))


@pytest.mark.parametrize(
    ("words", "own"),
    [
        ('He claims: "never push". Then an error came.', "He claims:  . Then an error came."),
        ("Note: keep it. I got this error: it must wait", "Note: keep it. I got this error:"),
        ('Use "a", he said: never b', 'Use "a", he said:'),
        ("Note: I saw an error, and it must go", "Note: I saw an error, and it must go"),
    ],
)
def test_what_stands_behind_whose_words_it_is_is_quoted(words: str, own: str) -> None:
    # Before and behind the colon or the quotation mark, whichever words of the kind come first.
    assert " ".join(blank_pasted(words).split()) == " ".join(own.split())
