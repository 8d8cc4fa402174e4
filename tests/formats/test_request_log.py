"""Logs of whole requests: what is new in each, what a broken beginning tells, and real logs by own count."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inspector import lint, open_session, read_session
from inspector.session.blocks import Reasoning, ToolCall, ToolOutput
from inspector.session.session import Session
from tests.rows import CASES, dump
from tests.shared import SHARED, needs_shared

LOG = CASES / "request-log.jsonl"
CHAT = SHARED / "sessions" / "openai-chat--context-viewer" / "completions-ask_github.json"


@pytest.mark.parametrize("newest_first", [False, True])
def test_items_of_a_conversation_are_read_in_the_order_they_came(newest_first: bool) -> None:
    items = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "List."}]},
        {"type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "a.py"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "One file."}]},
    ]
    listed = {"object": "list", "data": items[::-1] if newest_first else items, "has_more": False}
    session = read_session(json.dumps(listed).encode())
    assert [entry.role for entry in session.entries] == ["user", "assistant", "tool", "assistant"]
    kinds = [entry.blocks[0].kind for entry in session.entries]
    assert kinds == ["text", "tool_call", "tool_output", "text"]


def test_requests_that_grow_are_one_session() -> None:
    session = open_session(LOG)
    assert (session.model, session.records) == ("gpt-5-2025-08-07", 5)
    assert [block.text for block in session.system] == ["You are terse."]
    assert [tool.name for tool in session.tools] == ["read"]
    main = [entry for entry in session.entries if entry.sidechain is None]
    told = [entry.role if entry.kind == "message" else entry.kind for entry in main]
    assert told[:5] == ["user", "assistant", "tool", "assistant", "micro"]
    assert told[5:] == ["user", "assistant", "compaction", "user", "assistant"]
    assert main[1].blocks[0] == ToolCall(id="c1", name="read", input={"path": "a.py"})


def test_responses_are_joined_by_the_reply_they_go_on_from() -> None:
    session = open_session(CASES / "request-log.responses.json")
    assert [entry.role for entry in session.entries] == ["user", "assistant", "tool", "assistant"]
    assert session.entries[1].blocks[0] == Reasoning(text="Look.", encrypted="seal")
    assert [entry.usage.prompt for entry in session.entries if entry.usage] == [50, 90]
    second = json.loads((CASES / "request-log.responses.json").read_text("utf-8"))[1]
    middle = read_session(dump(second))
    assert middle.warnings == (
        "1 request continues after a reply that is not in the file: earlier messages are missing",
    )


@needs_shared
def test_a_real_completion_holds_what_it_sent() -> None:
    raw = json.loads(CHAT.read_text("utf-8"))
    session = open_session(CHAT)
    sent = [message for message in raw["messages"] if message["role"] != "system"]
    assert len(session.entries) == len(sent) + 1
    calls = [call for message in sent for call in message.get("tool_calls") or ()]
    blocks = [block.kind for entry in session.entries for block in entry.blocks]
    assert blocks.count("tool_call") == len(calls) == blocks.count("tool_output")
    (usage,) = [entry.usage for entry in session.entries if entry.usage]
    assert (usage.prompt, usage.output) == (raw["usage"]["prompt_tokens"], raw["usage"]["completion_tokens"])
    assert session.unknown == 0 and len(session.live.pairs) == len(calls)


def run(number: int) -> dict[str, Any]:
    function = {"name": "run", "arguments": '{"cmd": "pytest -q"}'}
    call = {"id": f"c{number}", "type": "function", "function": function}
    return {"role": "assistant", "content": "Running the tests.", "tool_calls": [call]}


def message(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": text}


def step(number: int) -> list[dict[str, Any]]:
    return [
        message("user", f"Step {number}: change file{number}.py"),
        run(number),
        {"role": "tool", "tool_call_id": f"c{number}", "content": f"{80 + number} passed"},
        message("assistant", f"Step {number} is done."),
    ]


def find_kept(*requests: list[dict[str, Any]]) -> tuple[tuple[str, ...], str | None]:
    """The names that the only compaction of a log keeps, and its summary."""
    session = read_session(dump(*({"model": "m", "messages": messages} for messages in requests)))
    (boundary,) = [entry.boundary for entry in session.entries if entry.boundary]
    assert boundary.kept is not None
    return boundary.kept, boundary.summary


def test_calls_with_the_same_words_are_told_apart_by_their_ids() -> None:
    system = message("system", "You are an agent.")
    steps = [message for number in range(1, 7) for message in step(number)]
    summary = message("user", "Summary: steps 1 to 4 are done.")
    compacted = [system, summary, *steps[16:], message("user", "Step 7: finish")]
    rows = [[system, *steps], compacted]
    # The 16 messages of four steps are summarised; m17 to m24 are those of steps 5 and 6.
    kept, words = find_kept(*rows)
    assert kept == ("m17", "m18", "m19", "m20", "m21", "m22", "m23", "m24")
    assert words == "Summary: steps 1 to 4 are done."
    session = read_session(dump(*({"model": "m", "messages": messages} for messages in rows)))
    assert lint(session, rules="CI013").findings == ()
    # A call that is made after the compaction is new, although one with the same words was dropped.
    newer = [run(7), {"role": "tool", "tool_call_id": "c7", "content": "87 passed"}]
    assert find_kept([system, *steps], [system, summary, steps[23], *newer])[0] == ("m24",)


@pytest.mark.parametrize(
    ("before", "after", "kept"),
    [
        # The end of the conversation is kept, not its beginning with the same words.
        ("continue ok continue ok continue ok", "S continue ok next", ["m5", "m6"]),
        ("task ok continue ok continue ok", "task S continue ok next", ["m1", "m5", "m6"]),
        ("continue ok x continue ok", "continue ok next", ["m4", "m5"]),
        # The same words are written again after the compaction.
        ("task a continue ok", "S continue ok continue ok", ["m3", "m4"]),
        # Only what was kept in order is kept: "b" comes after the summary as a new message.
        ("task b ok c ok", "S c ok b", ["m4", "m5"]),
        # Scattered messages are kept, as by a harness that keeps the prompts.
        ("p ok q ok r ok", "p q r S", ["m1", "m3", "m5"]),
    ],
)
def test_repeated_words_without_ids_are_kept_as_the_last_run(
    before: str, after: str, kept: list[str]
) -> None:
    first, second = (
        [message("assistant" if word == "ok" else "user", word) for word in line.split()]
        for line in (before, after)
    )
    assert list(find_kept(first, second)[0]) == kept


@pytest.mark.parametrize(
    "words",
    [
        "Summary: the gate is mended.",
        "Summary of earlier work: all is mended.",
        "[CONTEXT SUMMARY] The gate is mended.",
        "Here's a summary of our conversation:\n\nThe gate is mended.",
        "## Summary\nThe gate is mended.",
        "Previous conversation summary\n\nThe gate is mended.",
        "Here is a summary of the conversation to date:\n\nThe gate is mended.",
        "This is a summary of our conversation so far. The gate is mended.",
        "=== Summary of conversation ===\nThe gate is mended.",
    ],
)
@pytest.mark.parametrize("replies", [False, True])
def test_a_request_of_a_summary_alone_marks_a_compaction(words: str, replies: bool) -> None:
    system, reply = message("system", "You mend."), message("assistant", "It is mended.")
    first = [system, message("user", "Mend the gate."), reply, message("user", "Now paint it.")]
    second = [system, message("user", words)]
    rows = [first, second]
    if replies:
        rows = [[*row, message("assistant", "Painted." if row is first else "Go on.")] for row in rows]
    session = read_session(dump(*({"messages": row} for row in rows)))
    assert session.format == "request-log"
    (compaction,) = [entry for entry in session.entries if entry.boundary]
    assert (compaction.text, compaction.boundary and compaction.boundary.kept) == (words, ())
    assert {entry.sidechain for entry in session.entries} == {None}
    assert session.warnings == (
        "1 compaction keeps no message: its summary is recognised by its first words",
    )


@pytest.mark.parametrize(
    "task",
    [
        "Summary of the log: write one in five lines.",
        "The summary of the session page is broken",
        "Summary of messages table is wrong; fix the SQL",
    ],
)
def test_a_task_about_a_summary_is_another_conversation(task: str) -> None:
    system, reply = message("system", "You mend."), message("assistant", "It is mended.")
    first = [system, message("user", "Mend the gate."), reply, message("user", "Now paint it.")]
    second = [system, message("user", task)]
    session = read_session(dump({"messages": first}, {"messages": second}))
    assert [entry.sidechain for entry in session.entries] == [None, None, None, "conversation-2"]
    (warning,) = session.warnings
    assert warning.startswith("1 other conversation is separate: it shares no message with the session's")
    assert warning.endswith("Rows of one session are joined by an equal `session_id`")


def bare(*tools: str, text: str | None = None) -> dict[str, Any]:
    """A reply whose calls have no ids."""
    calls = [{"type": "function", "function": {"name": tool, "arguments": "{}"}} for tool in tools]
    return {"role": "assistant", "content": text, "tool_calls": calls}


BARE = [
    message("user", "go"),
    bare("ls", "ls", "cat"),
    *(message("tool", words) for words in ("a.py", "b.py", "one")),
    bare("ls"),
    message("tool", "c.py"),
    message("assistant", "three files"),
]


def pair_outputs(session: Session) -> list[tuple[str, str]]:
    """The tool and the output of each answered call, in order."""
    blocks = [block for entry in session.entries for block in entry.blocks]
    names = {block.id: block.name for block in blocks if isinstance(block, ToolCall)}
    return [(names[block.call_id], block.text) for block in blocks if isinstance(block, ToolOutput)]


def test_calls_without_ids_are_answered_in_their_order() -> None:
    session = read_session(BARE)
    assert (session.format, session.unknown) == ("request-log", 0)
    assert pair_outputs(session) == [("ls", "a.py"), ("ls", "b.py"), ("cat", "one"), ("ls", "c.py")]
    ids = [block.id for entry in session.entries for block in entry.blocks if isinstance(block, ToolCall)]
    assert len(set(ids)) == 4
    lines = read_session(dump(*BARE))
    assert (lines.format, lines.unknown) == ("message-lines", 0)
    assert pair_outputs(lines) == pair_outputs(session)


def test_calls_without_ids_are_kept_by_a_compaction() -> None:
    summary, newer = message("user", "Summary: there are three files."), message("user", "And now?")
    # Of the entries m1 to m8, the call m6, its output m7 and the reply m8 are kept.
    assert find_kept(BARE, [summary, *BARE[5:], newer]) == (("m6", "m7", "m8"), summary["content"])
    # An output that became shorter is cleared, as of a call with an id.
    short = [*BARE[:6], message("tool", "-"), *BARE[7:], newer]
    session = read_session(dump({"messages": BARE}, {"messages": short}))
    (clearing,) = [entry for entry in session.entries if entry.boundary]
    assert clearing.kind == "micro" and clearing.boundary is not None
    assert clearing.boundary.cleared == (session.entries[5].blocks[0].id,)  # type: ignore[union-attr]


READ_BY = ("request-log", "message-lines", "anthropic-messages", "data-set", "langgraph", "mini-claude-code")


@pytest.mark.parametrize("format", READ_BY)
@pytest.mark.parametrize(
    "odd",
    [
        {"role": "assistant", "content": "x", "tool_calls": "x"},
        {"role": "assistant", "content": "x", "tool_calls": {"a": 1}},
        {"role": "assistant", "content": "x", "tool_calls": [1]},
        {"role": 1, "content": "x"},
    ],
)
def test_a_field_of_the_wrong_type_is_counted(odd: dict[str, Any], format: str) -> None:
    messages = [message("user", "go"), odd, message("assistant", "done")]
    lines, row = dump(*messages), {"conversations": messages}
    given = {"message-lines": lines, "data-set": row}.get(format, messages)
    assert read_session(given, format=format).unknown == 1  # type: ignore[arg-type]


def test_calls_as_the_json_of_a_list_are_calls() -> None:
    reply = {"role": "assistant", "content": "", "tool_calls": json.dumps(run(1)["tool_calls"])}
    session = read_session([message("user", "go"), reply, message("assistant", "done")])
    assert session.entries[1].blocks[-1] == ToolCall(id="c1", name="run", input={"cmd": "pytest -q"})
