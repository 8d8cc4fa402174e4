"""Who speaks: a person, the harness, a sub-agent, the model or a tool: in made rows and in people's."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inspector.cuts import find_cuts
from inspector.facts.facts import find_facts
from inspector.formats.exports.writers import export_session
from inspector.formats.readers import read_session
from inspector.planning.planner import make_plan
from inspector.session.blocks import Text, ToolOutput
from inspector.session.entries import Entry
from inspector.session.session import Session
from inspector.session.speakers import Speech, find_speech, judge, who_speaks
from inspector.tokens.ledger import count_tokens
from tests.formats.test_claude_code import Row, call, output, path, read, reply, text, user
from tests.shared import SHARED, needs_shared, open_shared

SESSIONS = SHARED / "sessions"
REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file "
    "edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:\n"
)


def queue(operation: str, content: str | None = None) -> Row:
    told = {} if content is None else {"content": content}
    return {"type": "queue-operation", "operation": operation, "sessionId": "s", **told}


def delivers(name: str, parent: str, prompt: Any, **more: Any) -> Row:
    attached = {"type": "queued_command", "prompt": prompt, **more}
    return {"type": "attachment", "uuid": name, "parentUuid": parent, "attachment": attached}


NOTIFIED = "<task-notification>\n<task-id>b1</task-id>\n<status>completed</status>\n</task-notification>"
REPORTED = (
    '<task-notification>\n<task-id>a1</task-id>\n<summary>Agent "Look" came to rest</summary>\n'
    "<result>You must never use a cache here.</result>\n<usage>tokens: 9</usage>\n</task-notification>"
)


@pytest.mark.parametrize(
    ("words", "speech", "opens"),
    [
        ("Fix the nits", Speech("user"), True),
        (NOTIFIED, Speech("harness", "notification"), False),
        (REPORTED, Speech("agent", "notification"), False),
        ("<local-command-stdout>Bye!</local-command-stdout>", Speech("harness", "notice"), False),
        ("<local-command-caveat>Caveat: …</local-command-caveat>", Speech("harness", "notice"), False),
        ("<bash-input>git pull</bash-input>", Speech("user", "shell"), False),
        ("<bash-stdout>ok</bash-stdout><bash-stderr></bash-stderr>", Speech("harness", "notice"), False),
        (
            "<command-name>/copy</command-name>\n  <command-args></command-args>",
            Speech("harness", "local command"),
            False,
        ),
        (
            "<command-message>init is…</command-message>\n<command-name>/init</command-name>",
            Speech("user", "command"),
            True,
        ),
        ("<system-reminder>Mind the todos.</system-reminder>", Speech("harness", "notice"), False),
        ("<system-reminder>Mind the todos.</system-reminder>\nGo on.", Speech("user"), True),
        ("[Request interrupted by user for tool use]", Speech("harness", "interrupt"), False),
        ("Stop hook feedback:\n- run the tests", Speech("harness", "notice"), False),
        ("Why do I get <task-notification> rows?", Speech("user"), True),
        (
            '<cross-session-message from="uds:1" from-name="docs">\nBlocked.\n</cross-session-message>',
            Speech("agent", "notification"),
            False,
        ),
        ("<tick>14:20:15</tick>", Speech("harness", "notification"), False),
        ('<mcp-resource-update server="a">x</mcp-resource-update>', Speech("harness", "notification"), False),
        ("<div> is not closed in index.html", Speech("user"), True),
    ],
)
def test_without_fields_the_tags_tell_who_speaks_and_who_opens_a_turn(
    words: str, speech: Speech, opens: bool
) -> None:
    session = read(user("u1", None, "Hello"), reply("a1", "u1", text("Hi.")), user("u2", "a1", words))
    assert judge(words) == who_speaks(session["u2"]) == speech
    assert (session["u2"].opens_turn, len(session.turns)) == (opens, 1 + opens)


@pytest.mark.parametrize(
    ("fields", "speech"),
    [
        ({"origin": {"kind": "human"}, "promptSource": "typed"}, Speech("user")),
        ({"origin": {"kind": "human"}, "promptSource": "queued"}, Speech("user", "queued")),
        (
            {"origin": {"kind": "task-notification"}, "promptSource": "system"},
            Speech("harness", "notification"),
        ),
        ({"promptSource": "system"}, Speech("harness", "notice")),
        ({"isMeta": True}, Speech("harness", "notice")),
        ({"planContent": "# Plan"}, Speech("model", "plan")),
        ({}, Speech("user")),
    ],
)
def test_the_fields_of_a_row_are_asked_before_its_words(fields: Row, speech: Speech) -> None:
    """The same words each time. A plan that was approved opens a turn, and its words are the model's."""
    session = read(user("u1", None, "Carry on with it", **fields))
    assert who_speaks(session["u1"]) == speech
    assert session["u1"].opens_turn == (not speech.meta)
    again = read_session(export_session(session, "claude-code"))
    assert who_speaks(again["u1"]) == speech


def test_in_a_request_the_tags_tell_too() -> None:
    """A report of a background task in a request body; and pi's record of a command that its user ran."""
    said = ["Mend it", NOTIFIED, "<system-reminder>x</system-reminder>\nGo on"]
    messages = [{"role": "user", "content": words} for words in said]
    session = read_session(json.dumps({"model": "m", "max_tokens": 9, "messages": messages}).encode())
    assert [entry.opens_turn for entry in session.entries] == [True, False, True]
    ran = Entry(id="a", extra={"command": "ls"}, blocks=(Text(text="Ran `ls`: a.py"),))
    assert who_speaks(ran) == Speech("user", "shell")
    facts = find_facts(Session(format="demo", entries=(ran,), leaf="a"))
    assert facts.by_kind("statement") == ()


def test_what_a_sub_agent_answers_is_its_own_and_a_file_is_a_tools() -> None:
    block = ToolOutput(call_id="1", parts=(Text(text="Three files."),))
    entry = Entry(id="a", role="tool", blocks=(block,))
    assert [
        span.speaker for tool in ("Task", "Agent", "Read") for span in find_speech(entry, block, tool)
    ] == ["agent", "agent", "tool"]


def test_rules_of_a_user_are_those_that_a_user_said() -> None:
    """Of five texts with a rule in them a person said three; none of the others' is a rule of the user's."""
    session = read(
        user("u1", None, "Never push to main."),
        reply("a1", "u1", call("c1", "Edit")),
        user("u2", "a1", [output("c1", f"{REFUSED}always ask me before an edit") | {"is_error": True}]),
        user("u3", "u2", REPORTED),
        user(
            "u4", "u3", "<command-message>go</command-message><command-args>do not touch b.py</command-args>"
        ),
        user("u5", "u4", "You must never read this file.", isMeta=True),
    )
    rules = find_facts(session).by_kind("constraint")
    assert [fact.form for fact in rules if fact.said[0].by == "user"] == [
        "Never push to main.",
        "always ask me before an edit",
        "do not touch b.py",
    ]
    assert [fact.form for fact in rules if fact.said[0].by == "agent"] == []


# What is queued


def test_a_row_of_its_own_is_the_one_place_of_what_was_queued() -> None:
    """Newer files tell of the delivery too: what was put in its place before stands no longer."""
    rows = (
        user("u1", None, "Mend it"),
        reply("a1", "u1", call("c1")),
        queue("enqueue", "and add tests"),
        queue("remove"),
        reply("a2", "a1", call("c2")),
        user("t2", "a2", [output("c2")]),
        delivers("q1", "t2", [text("and add tests")], origin={"kind": "human"}),
        delivers("q2", "q1", NOTIFIED, commandMode="task-notification"),
        reply("a3", "q2", text("Done.")),
    )
    session = read(*rows)
    delivered = [entry for entry in session.entries if entry.text == "and add tests"]
    assert [(entry.id, entry.parent) for entry in delivered] == [("q1", "t2")]
    assert [who_speaks(session[name]) for name in ("q1", "q2")] == [
        Speech("user", "queued"),
        Speech("harness", "notification"),
    ]
    assert len(session.turns) == 2
    assert path(session)[-3:] == ["q1", "q2", "a3"]


def test_a_slash_command_that_is_removed_was_handed_over_and_opens_no_turn() -> None:
    """One that is dequeued is carried out: its own row names it, and no later removal takes it."""
    session = read(
        user("u1", None, "Mend it"),
        reply("a1", "u1", call("c1")),
        queue("enqueue", "/skills"),
        queue("remove"),
        user("t1", "a1", [output("c1")]),
        reply("a2", "t1", text("You sent /skills.")),
        queue("enqueue", "/compact now"),
        queue("dequeue"),
        user("u2", "a2", "<command-name>/compact</command-name>\n<command-args>now</command-args>"),
        reply("a3", "u2", call("c2")),
        queue("enqueue", NOTIFIED),
        queue("remove"),
        user("t2", "a3", [output("c2")]),
        reply("a4", "t2", text("Done.")),
    )
    assert path(session) == ["u1", "a1", "t1", "line-4", "a2", "u2", "a3", "t2", "a4"]
    assert (session["line-4"].text, who_speaks(session["line-4"]).way) == ("/skills", "local command")
    assert len(session.turns) == 1


def test_a_plan_by_turns_counts_prompts_alone() -> None:
    """Three prompts, four reports: the last two turns begin at the second prompt."""
    rows = [user("u0", None, "first")]
    for at, words in enumerate(("a", NOTIFIED, "b", NOTIFIED, NOTIFIED, NOTIFIED), 1):
        rows += [reply(f"a{at}", f"u{at - 1}", text("ok " * 40)), user(f"u{at}", f"a{at}", words)]
    session = read(*rows, reply("end", "u6", text("done")))
    edits = {"settings": {"keep-recent-turns.turns": 2}}
    plan = make_plan(session, count_tokens(session, "chars4_utf16"), "keep-recent-turns", edits)
    assert plan.place is not None and plan.table.live.opens[plan.place]
    assert session.live_names[plan.place] == "u1"
    assert len(find_cuts(session).splits)


# People's sessions

TURNS = {
    "claude-code--entire-sem/cc-2.1.210-1404l.jsonl": (
        "9 99 154 221 248 294 416 440 542 584 626 670 792 808 834 840 873 1092 1142 1148 1220 1232 1318"
    ),
    "claude-code--git-sync/cc-2.1.183-648l.jsonl": "7 67 85 110 437 540 547 589",
    "claude-code--cipher-box/cc-2.1.49-1compact-993l.jsonl": "3 172 561 682 685",
    "claude-code--context-evaluator/cc-1compact-417l.jsonl": "3 278 330 364 394",
    "claude-code--entireio-cli/cc-1auto-1micro.jsonl": "4 68 71 338 376 415 778 887 928",
    "claude-code--entireio-cli/cc-small-no-compaction.jsonl": "4 31 103 135 140",
}
"""Lines of the rows in which a person asks for something, judged by reading all rows of the user's role."""


@needs_shared
@pytest.mark.parametrize("file", TURNS)
def test_the_turns_of_a_session_are_its_persons_prompts(file: str) -> None:
    session = open_shared(SESSIONS / file)
    opened = [session.entries[session.path[turn.first]].sources[0].line for turn in session.turns]
    assert opened == [int(line) for line in TURNS[file].split()]
