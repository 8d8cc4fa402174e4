"""Words looked up that are no fact, and who said what only stands inside somebody's text."""

from __future__ import annotations

import re

import pytest

from inspector.errors import EditError
from inspector.facts.literal import find_literal
from inspector.facts.trace import trace_recorded
from inspector.facts.traced import TracedFact
from inspector.session.blocks import Document, Text
from inspector.session.entries import Entry
from inspector.session.session import Session
from tests.facts.test_explain import compact, use
from tests.test_cuts import build, say, user
from tests.work import limit_work

CODE = "}); err != nil {"


def trace(session: Session, text: str) -> TracedFact:
    return trace_recorded(session)[0][text]


@pytest.mark.parametrize(
    ("tool", "output", "who"),
    [
        ("Task", "The plan is in `docs/plan.md`, and twelve widgets are left.", "a sub-agent"),
        ("Bash", "docs/plan.md: twelve widgets are left", "a tool"),
        (
            "AskUserQuestion",
            'User has answered your questions: "How many?"="twelve widgets are left". You can now continue.',
            "the user",
        ),
        (
            "Bash",
            "one\n<system-reminder>See docs/plan.md: twelve widgets are left</system-reminder>",
            "the harness",
        ),
    ],
)
def test_words_in_an_output_are_laid_to_whoever_says_them(tool: str, output: str, who: str) -> None:
    session = build(user("go"), *use(1, tool, output), say("ok"), compact("Nothing."), user("on"))
    why = trace(session, "twelve widgets are left").why()
    assert why.startswith(f'The words "twelve widgets are left" were first said by {who} in turn 1')


def test_a_name_that_nobody_marked_is_a_sub_agents_where_the_sub_agent_names_it() -> None:
    """The bare name is known as a file from a call alone; the first to name it is the report before."""
    session = build(
        *(user("go"), *use(1, "Task", "I looked at (notes.md)!"), *use(2, "Read", file_path="notes.md")),
        *(say("ok"), compact("Nothing."), user("on")),
    )
    assert "was first said by a sub-agent in turn 1 (the output of Task" in trace(session, "notes.md").why()


def test_code_is_no_command_and_no_part_of_it_is_what_is_left() -> None:
    session = build(
        user("go"), *use(1, "Read", f"if err := f(func() {{ {CODE}"), compact("A } is missing."), user("on")
    )
    traced = trace(session, CODE)
    assert (traced.fact.kind, traced.outcome) == ("text", "absent")
    assert find_literal(session, "f(func() { } && x") is None


def test_the_end_of_a_longer_name_is_words_and_no_file_of_its_own() -> None:
    session = build(user("see src/derive-name.ts"), say("ok"), compact("Read derive-name.ts."), user("on"))
    traced = trace(session, "name.ts")
    assert (traced.fact.kind, traced.outcome, len(traced.named)) == ("text", "quoted", 1)
    named = build(user("see x/other.ts."), say("ok"), compact("Read derive-other.ts."), user("on"))
    fact = find_literal(named, "other.ts")
    assert fact is not None and fact.kind == "file"


def test_an_underscore_belongs_to_the_word() -> None:
    session = build(
        user("run my_test.go and _private"), say("ok"), compact("my_test.go, _private"), user("on")
    )
    (recorded,) = trace_recorded(session)
    assert "_test.go" not in recorded
    assert recorded["_private"].outcome == "quoted"


def test_other_words_and_some_words_are_told_as_such() -> None:
    said = "Please remove the flaky checkpoint tests for tomorrow's release branch"
    whole = "- the release branch: remove flaky checkpoint tests for tomorrow"
    some = "- the release branch and the checkpoint tests"
    for summary, words in (
        (whole, "The summary says it in other words: “- the release branch: remove"),
        (some, "Some of the words are missing there."),
    ):
        session = build(user(said), say("ok"), compact(summary), user("on"))
        recorded = trace_recorded(session)[0]
        why = recorded["statement", said].why()
        assert words in why
        assert why.startswith(f'The statement "{said}" was first said by the user in turn 1')


def test_what_a_summary_before_told_in_other_words_is_not_said_to_be_named() -> None:
    said = "Never remove the flaky checkpoint tests."
    told = "Removing the flaky checkpoint tests is never allowed."
    session = build(
        *(user(said), say("ok"), compact(told), user("on"), say("ok"), compact("Nothing."), user("on")),
        *(say("ok"), compact(told), user("on")),
    )
    second, third = (recorded["constraint", said].why() for recorded in trace_recorded(session)[1:])
    assert "right before, only the summary of an earlier compaction (e2/0) said it." in second
    assert "says it in other words: “Removing the flaky checkpoint tests is never allowed.”" in third


def test_the_working_directory_is_called_so() -> None:
    session = build(user("go"), *use(1, "Bash", command="ls", workdir="/home/me/app"), compact("No."), user())
    session = session.model_copy(update={"cwd": "/home/me/app"})
    assert (
        trace(session, "/home/me/app").why().startswith("The working directory /home/me/app was first said")
    )


def test_what_an_attached_file_holds_is_the_files() -> None:
    attached = Document(text="const sidebar_rows = 41;", media_type="text/plain")
    asked = Entry(id="", role="user", blocks=(Text(text="look at this"), attached))
    session = build(asked, say("ok"), compact("Nothing."), user("on"))
    for text in ("sidebar_rows", "const sidebar_rows = 41;"):
        assert " first said by an attached file in turn 1 (a document, e0/1)." in trace(session, text).why()


def test_what_was_not_said_yet_is_told_where_it_is_said() -> None:
    session = build(user("go"), say("ok"), compact("All nine lamps glow."), user("see later.md"), say("ok"))
    aside = Entry(id="side", sidechain="agent", role="assistant", blocks=(Text(text="a sidelong look"),))
    session = session.with_entries((*session.entries, aside), session.leaf)
    (recorded,) = trace_recorded(session)
    for text, reason in (
        ("later.md", "it is first said later (e3)"),
        ("nine lamps", "only a summary says it (e2)"),
        ("sidelong look", "only a sub-agent's own conversation says it (side)"),
        ("nobody tells this", "nothing said so far holds it"),
    ):
        with pytest.raises(EditError, match=re.escape(f"file {text!r}: {reason}")):
            recorded["file", text]
        asked = recorded[text]
        assert (asked.said, asked.stood) == ((), False)
        assert "not said in this session." in asked.why() or reason in asked.why()


def test_words_that_a_table_nearly_holds_are_soon_told_to_be_in_none() -> None:
    """Of a hundred words all but the last stand there, with a bar and blanks between each two."""
    row = "|  ".join(f"column{number}  " for number in range(100))
    session = build(user(f"hello\n|  {row}|"), say("ok"), compact("Nothing."), user("on"))
    told = [f"column{number}" for number in range(30)]
    with limit_work():
        (line,) = trace(session, " ".join([*told, "lamp"])).nearest
    assert line.words == (30, 31)
    assert trace(session, " ".join(told)).outcome == "absent"


def test_words_of_which_only_the_beginning_was_said_have_that_line_as_the_nearest() -> None:
    said = " ".join(f"Word{number}" for number in range(60))[:400].strip()
    session = build(user(f"{said}\nThat is all."), say("ok"), compact("Nothing."), user("on"))
    assert trace(session, said.lower()).outcome == "absent"
    whole = f"{said.lower()} and delete the old releases"
    assert whole not in trace_recorded(session)[0]
    (line,) = trace(session, whole).nearest
    assert line.share < 1 and line.text.startswith("Word0 Word1 ")


@pytest.mark.parametrize("between", [" ", "\n", "** ", ",\n- "])
def test_words_are_found_with_other_marks_and_over_the_end_of_a_line(between: str) -> None:
    session = build(user(f"Please Keep{between}the Cache"), say("ok"), compact("Nothing."), user("on"))
    assert trace(session, "keep the cache").outcome == "absent"
