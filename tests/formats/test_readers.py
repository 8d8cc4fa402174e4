"""Readers: each knows its own files and no other's, and every record ends up somewhere that can be seen."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inspector.errors import EmptySession, ReadError
from inspector.formats import manifest
from inspector.formats.harnesses import mini_claude_code as mini
from inspector.formats.harnesses import stud
from inspector.formats.harnesses.pi import flue
from inspector.formats.harnesses.pi import read as pi
from inspector.formats.readers import READERS, read_session
from inspector.formats.requests import anthropic_messages
from inspector.formats.sealed import Sealed
from inspector.planning.assemble import build_context
from inspector.planning.planner import make_plan
from inspector.session.blocks import Document, Image, Reasoning, Text, ToolCall, ToolOutput, Unknown
from inspector.session.entries import Boundary, Cost, Entry, Provided, Usage
from inspector.session.session import Session
from inspector.testing import check_reader
from inspector.tokens.ledger import count_tokens
from inspector.wire.render import render_request
from tests.rows import CASES

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
TIME = "2026-01-01T00:00:00.000Z"


def dump(value: Any) -> bytes:
    return json.dumps(value).encode()


def lines(*rows: Any) -> bytes:
    return b"".join((row if isinstance(row, bytes) else dump(row)) + b"\n" for row in rows)


def flue_entry(name: str, parent: str | None, **more: Any) -> dict[str, Any]:
    return {"type": "message", "id": name, "parentId": parent, "timestamp": TIME} | more


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content, "timestamp": 1}


def assistant(*content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(content), "stopReason": "stop", "timestamp": 2} | more


def tool_result(call: str, *content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "toolResult", "toolCallId": call, "toolName": "read", "content": list(content)} | more


TEXT = {"type": "text", "text": "hi"}
CALL = {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "a.py"}}
COUNTS = {"input": 10, "output": 2, "cacheRead": 3, "cacheWrite": 4, "totalTokens": 19}
USAGE = {**COUNTS, "cost": {"input": 0.5, "total": 1}}


def flue_session(*entries: Any, leaf: str | None = "", **more: Any) -> dict[str, Any]:
    leaf = entries[-1]["id"] if leaf == "" else leaf
    return {"version": 3, "entries": list(entries), "leafId": leaf, "metadata": {}, "createdAt": TIME} | more


FLUE = flue_session(
    flue_entry("e1", None, message=user("read it")),
    flue_entry("e2", "e1", message=assistant(TEXT, CALL, usage=USAGE), source="prompt"),
    flue_entry("e3", "e2", message=tool_result("c1", TEXT, isError=False)),
)
HEADER = {"type": "session", "version": 3, "id": "s1", "timestamp": TIME, "cwd": "/w"}
PI = [HEADER, *FLUE["entries"]]
READ = {"name": "read", "input": {"path": "a.py"}}


def stud_message(number: int, role: str, content: Any) -> dict[str, Any]:
    return {"id": f"m{number}", "role": role, "content": content, "monotonicTs": f"{number}"}


STUD_CALL = {"toolCallId": "c1", "toolName": "read"}
STUD = {
    "sessionId": "s1",
    "projectRoot": "/w/.stud",
    "mode": "ask",
    "storeId": "filesystem-session-store",
    "createdAt": 1750000000000,
    "updatedAt": 1750000001000,
    "messages": [
        stud_message(1, "user", "read it"),
        stud_message(2, "assistant", [TEXT, {"type": "tool-call", **STUD_CALL, "args": {"path": "a.py"}}]),
        stud_message(3, "tool", [{"type": "tool-result", **STUD_CALL, "content": "print()"}]),
    ],
}
ANTHROPIC = {
    "model": "claude-demo",
    "max_tokens": 100,
    "system": "Be kind.",
    "tools": [{"name": "read", "description": "Reads.", "input_schema": {"type": "object"}}],
    "messages": [
        {"role": "user", "content": "read it"},
        {"role": "assistant", "content": [TEXT, {"type": "tool_use", "id": "c1", **READ}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "print()"}]},
    ],
}
MINI_RESULT = {"toolUseId": "c1", "status": "success", "content": "x"}
MINI = {
    "messages": [
        {"role": "user", "content": "read it"},
        {"role": "assistant", "content": [TEXT, {"type": "tool_use", "toolUse": {"id": "c1", **READ}}]},
        {"role": "tool", "content": [{"type": "tool_result", "result": MINI_RESULT}]},
    ]
}
CLAUDE = [
    {"type": "user", "uuid": "u1", "parentUuid": None, "sessionId": "s", "message": user("read it")},
    {"type": "assistant", "uuid": "u2", "parentUuid": "u1", "sessionId": "s", "message": {"content": [TEXT]}},
]
MANIFEST = manifest.dump_manifest(
    Session(format="demo", entries=(Entry(id="a", blocks=(Text(text="hi"),)),), leaf="a")
)
SAMPLES: dict[str, bytes] = {
    "session-manifest": MANIFEST.encode(),
    "claude-code": lines(*CLAUDE),
    "pi": lines(*PI),
    "flue": dump(FLUE),
    "stud": dump(STUD),
    "anthropic-messages": dump(ANTHROPIC),
    "mini-claude-code": dump(MINI),
}
FOREIGN: dict[str, bytes] = {
    "nothing": b"",
    "blanks": b"\n \n\t\n",
    "a picture": b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
    "prose": b"Dear diary,\nnothing happened.\n",
    "half a document": dump(FLUE)[:-9],
    "a number": b"7",
    "an empty object": b"{}",
    "an empty list": b"[]",
    "a list of numbers": b"[1, 2, 3]",
    "a package": dump({"name": "x", "version": "1", "entries": []}),
    "another's log": lines({"type": "session_meta", "timestamp": TIME, "payload": {}}, {"type": "event_msg"}),
    "another's messages": dump({"sessionId": "s", "messages": [{"type": "user", "content": "x", "id": "1"}]}),
}


# Sniffing


def test_every_reader_has_a_sample() -> None:
    written = {path.name.partition(".")[0] for path in CASES.iterdir()}
    assert {reader.name for reader in READERS} == written | SAMPLES.keys()


@pytest.mark.parametrize(
    ("name", "records"),
    [
        ("session-manifest", 0),
        ("claude-code", 2),
        ("pi", 4),
        ("flue", 3),
        ("stud", 3),
        ("anthropic-messages", 3),
        ("mini-claude-code", 3),
    ],
)
def test_the_reader_of_a_sample_does_what_a_reader_owes(name: str, records: int) -> None:
    """As `test_every_format.py` asks of the formats that have a file in `CASES`."""
    (reader,) = [reader for reader in READERS if reader.sniff(memoryview(SAMPLES[name])) is None]
    assert reader.name == name
    check_reader(reader, [SAMPLES[name]])
    session = read_session(SAMPLES[name])
    assert (session.records, session.unknown, session.corrupt) == (records, 0, ())


@pytest.mark.parametrize("name", FOREIGN)
def test_what_is_no_transcript_is_refused_by_all_with_short_reasons(name: str) -> None:
    for reader in READERS:
        reason = reader.sniff(FOREIGN[name])
        assert reason, reader.name
        assert len(reason) < 120
        assert "\n" not in reason
    with pytest.raises(ReadError) as caught:
        read_session(FOREIGN[name], name)
    assert [reader for reader, _ in caught.value.tried] == [reader.name for reader in READERS]
    assert str(caught.value).startswith(name)


@pytest.mark.parametrize(
    ("name", "empty"),
    [
        ("claude-code", {"type": "summary", "summary": "A title", "leafUuid": "x"}),
        ("flue", flue_session(leaf=None)),
        ("flue", flue_session({"type": "song", "id": "a", "parentId": None}, leaf=None)),
        ("stud", STUD | {"messages": []}),
        ("anthropic-messages", ANTHROPIC | {"messages": []}),
        ("mini-claude-code", {"messages": []}),
    ],
)
def test_a_transcript_in_which_nobody_speaks_is_recognised_and_named_empty(name: str, empty: Any) -> None:
    with pytest.raises(EmptySession, match=f"x was recognised as {name}, but it holds no message"):
        read_session(dump(empty), "x", format=name)


# Flue


def read_flue(*entries: Any, **more: Any) -> Session:
    return flue.READER.read(dump(flue_session(*entries, **more)))


def test_flue_messages_become_entries() -> None:
    session = flue.READER.read(dump(FLUE))
    first, second, third = session.entries
    assert (first.id, first.parent, first.role, first.blocks) == ("e1", None, "user", (Text(text="read it"),))
    assert second.blocks == (Text(text="hi"), ToolCall(id="c1", name="read", input={"path": "a.py"}))
    assert second.usage == Usage(
        input=10, output=2, cache_read=3, cache_write=4, total=19, cost=Cost(input=0.5, total=1)
    )
    assert (second.stop_reason, second.extra["source"], second.timestamp) == ("stop", "prompt", TIME)
    assert (third.role, third.parent) == ("tool", "e2")
    assert third.blocks == (ToolOutput(call_id="c1", name="read", parts=(Text(text="hi"),)),)
    assert [source.line for entry in session.entries for source in entry.sources] == [1, 2, 3]
    assert (session.leaf, session.created, session.records) == ("e3", TIME, 3)


def test_flue_a_compaction_says_its_summary_behind_a_marker_once() -> None:
    base = {"type": "compaction", "parentId": "a", "timestamp": TIME, "tokensBefore": 7, "usage": USAGE}
    session = read_flue(
        flue_entry("a", None, message=user("one")),
        base | {"id": "c", "summary": "s", "details": {"readFiles": ["r.py"], "modifiedFiles": ["m.py"]}},
        base | {"id": "d", "summary": "[Context Summary] own", "details": {"readFiles": ["r.py"]}},
        flue_entry("e", "d", summary="went", fromId="c") | {"type": "branch_summary"},
    )
    _, plain, marked, branch = session.entries
    assert (plain.kind, plain.role, plain.text) == ("compaction", "user", "[Context Summary]\n\ns")
    assert plain.boundary == Boundary(
        tokens_before=7, summary="s", files_read=("r.py",), files_modified=("m.py",)
    )
    assert plain.usage is not None
    assert plain.usage.total == 19
    assert marked.text == "[Context Summary] own"
    assert (branch.kind, branch.text) == ("branch_summary", "[Branch Summary]\n\nwent")
    assert branch.extra == {"fromId": "c"}


# pi


def read_pi(*rows: Any) -> Session:
    return pi.READER.read(lines(*rows))


def pi_row(kind: str, name: str = "", parent: str | None = None, /, **more: Any) -> dict[str, Any]:
    named = {"id": name, "parentId": parent} if name else {}
    return {"type": kind, "timestamp": TIME} | named | more


def test_pi_parents_lead_through_bookkeeping_and_the_leaf_is_the_last_line() -> None:
    session = read_pi(
        HEADER,
        pi_row("message", "a", None, message=user("one")),
        pi_row("thinking_level_change", "t", "a", thinkingLevel="high"),
        pi_row("message", "b", "t", message=assistant(TEXT)),
        pi_row("message", "z", "a", message=user("another branch")),
        pi_row("session_info", "n", "b", name="My session"),
        pi_row("label", "l", "n", targetId="a", label="start"),
    )
    assert [session.entries[i].id for i in session.path] == ["a", "b"]
    assert (session.leaf, session.title) == ("b", "My session")
    assert session["l"].id == "b"
    assert session.unknown == 0


def test_pi_a_compaction_wraps_its_summary_and_an_extensions_file_lists_are_not_carried() -> None:
    details = {"readFiles": ["a.py"], "modifiedFiles": ["b.py"]}
    session = read_pi(
        HEADER,
        pi_row("message", "a", None, message=user("one")),
        pi_row("compaction", "b", "a", summary="s", firstKeptEntryId="a", tokensBefore=5, details=details),
        pi_row("compaction", "c", "b", summary="t", firstKeptEntryId="a", details=details, fromHook=True),
    )
    own, hook = session.entries[1], session.entries[2]
    assert own.text.endswith("\n\n<summary>\ns\n</summary>")
    assert own.text.count("\n\n") == 1
    assert own.boundary is not None
    assert hook.boundary is not None
    assert (own.boundary.files_read, own.boundary.files_modified) == (("a.py",), ("b.py",))
    assert (hook.boundary.files_read, hook.boundary.files_modified) == ((), ())
    assert hook.boundary.extra == {"details": details}
    assert hook.extra == {"fromHook": True}
    assert [session.entries[i].id for i in session.live.entries] == ["c", "a"]


def test_pi_corrupt_lines_are_counted_with_place_and_reason() -> None:
    good = pi_row("message", message=user("hi"))
    data = lines(
        HEADER, good, dump(good) + dump(good), b"{oops", b"", b"[1]", {"no": "type"}, pi_row("message"), good
    )
    session = pi.READER.read(data)
    assert [one.line for one in session.corrupt] == [3, 4, 6, 7, 8]
    glued = "several JSON values on one line; 2 whole records in it were read"
    assert session.corrupt[0].reason == glued
    assert data[session.corrupt[1].offset :].startswith(b"{oops")
    assert [one.reason for one in session.corrupt][2:] == [
        "not a JSON object",
        "a record without a type",
        "a message entry without a message",
    ]
    assert session.records == 10  # both records of the third line are read
    names = [session.entries[i].id for i in session.path]
    assert names == ["L00002", "L00003", f"L00003.{session.entries[2].sources[0].offset}", "L00009"]


# stud


def read_stud(*messages: Any, **more: Any) -> Session:
    return stud.READER.read(dump(STUD | {"messages": list(messages)} | more))


def test_stud_a_valid_manifest_is_read_without_a_warning() -> None:
    session = stud.READER.read(dump(STUD | {"smState": {"smExtId": "x", "stateSlotRef": "y"}}))
    assert session.warnings == ()
    assert (session.id, session.cwd, session.created) == ("s1", "/w", "2025-06-15T15:06:40.000Z")
    assert session.extra["mode"] == "ask"
    ask, answer, result = session.entries
    assert ask.blocks == (Text(text="read it"),)
    assert answer.blocks == (Text(text="hi"), ToolCall(id="c1", name="read", input={"path": "a.py"}))
    assert (result.role, result.blocks) == (
        "tool",
        (ToolOutput(call_id="c1", name="read", parts=(Text(text="print()"),)),),
    )
    assert [entry.extra for entry in session.entries] == [{"monotonicTs": n} for n in "123"]
    assert session.path == (0, 1, 2)


@pytest.mark.parametrize("category", ["memory", "context-provider", None])
def test_S0_82_a_memory_in_a_file_is_provided_context_and_no_kind_of_its_own(category: str | None) -> None:
    told = {"ownerExtId": "mem", "content": "likes tabs"} | ({"category": category} if category else {})
    other = {"category": "tool", "id": "x", "content": "no provider"}
    session = read_session(dump(STUD | {"contextProviders": [told, other]}))
    origin = "memory" if category == "memory" else ""
    assert session.provided == (Provided(name="mem", text="likes tabs", origin=origin),)
    assert session.extra["contextProviders"] == [other]
    # It is sent with every request and is nothing that a compaction could take.
    ledger = count_tokens(session)
    plan = make_plan(session, ledger, "stud-wiki-1.1", {"cut": "end"})
    assert "likes tabs" in str(render_request(build_context(session, plan)).request["system"])
    assert not any("likes tabs" in block.text for entry in session.entries for block in entry.blocks)
    assert "likes tabs" not in str(plan.jobs)
    assert {entry.kind for entry in session.entries} == {"message"}


@pytest.mark.parametrize(
    ("change", "deviation"),
    [
        ({"sessionId": ""}, "`sessionId` is not a string of at least one character"),
        ({"projectRoot": 7}, "`projectRoot` is not a string of at least one character"),
        ({"mode": "careful"}, "`mode` is not one of ask, yolo, allowlist"),
        ({"createdAt": "2026"}, "`createdAt` is not a number"),
        ({"smState": {"smExtId": "x"}}, "`smState` is not an object of `smExtId` and `stateSlotRef`"),
        ({"surprise": 1}, "`surprise` is not a field of it"),
    ],
)
def test_stud_what_its_schema_forbids_is_read_with_a_warning(change: dict[str, Any], deviation: str) -> None:
    session = stud.READER.read(dump(STUD | change))
    assert session.warnings == (f"differs from stud's schema: {deviation}",)
    assert len(session.entries) == 3


def test_S0_26_thinking_blocks_stand_beside_text_and_calls_in_their_order() -> None:
    parts = [
        {"type": "reasoning", "text": "first", "signature": "s", "providerMetadata": {"x": 1}},
        TEXT,
        {"type": "thinking", "thinking": "then"},
        {"type": "tool-call", "toolCallId": "c1", "toolName": "read", "args": {}},
    ]
    entry = read_stud({"id": "m1", "role": "assistant", "content": parts}).entries[0]
    assert [block.kind for block in entry.blocks] == ["reasoning", "text", "reasoning", "tool_call"]
    assert entry.blocks[0] == Reasoning(text="first", signature="s")
    assert entry.blocks[2] == Reasoning(text="then")
    assert entry.extra == {"blocks": {"0": {"providerMetadata": {"x": 1}}}}


def test_S0_27_reasoning_and_its_signature_survive_import_and_export() -> None:
    part = {"type": "reasoning", "text": "å\ud83d\n", "signature": "c2ln+/=="}
    session = read_stud({"id": "m1", "role": "assistant", "content": [part]})
    assert manifest.read(manifest.dump_manifest(session).encode()).entries[0].blocks == (
        Reasoning(text="å\ud83d\n", signature="c2ln+/=="),
    )


# Anthropic's Messages API


def read_anthropic(*messages: Any, **more: Any) -> Session:
    return anthropic_messages.READER.read(dump({"model": "claude-demo", "messages": list(messages)} | more))


def test_anthropic_a_request_becomes_a_session() -> None:
    session = anthropic_messages.READER.read(dump(ANTHROPIC))
    assert (session.model, session.system) == ("claude-demo", (Text(text="Be kind."),))
    assert [(tool.name, tool.description, tool.input_schema) for tool in session.tools] == [
        ("read", "Reads.", {"type": "object"})
    ]
    assert [(entry.id, entry.parent, entry.role) for entry in session.entries] == [
        ("m1", None, "user"),
        ("m2", "m1", "assistant"),
        ("m3", "m2", "tool"),
    ]
    assert session.entries[2].blocks == (
        ToolOutput(call_id="c1", name="read", parts=(Text(text="print()"),)),
    )
    assert session.extra == {"max_tokens": 100}
    assert len(session.live.pairs) == 1


EDITED = {"applied_edits": [{"type": "clear_tool_uses_20250919", "cleared_tool_uses": 2}]}
REPLY = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-demo-2",
    "content": [TEXT],
    "usage": {
        "input_tokens": 5,
        "output_tokens": 2,
        "cache_read_input_tokens": 3,
        "cache_creation_input_tokens": 4,
    },
    "stop_reason": "end_turn",
    "context_management": EDITED,
}


@pytest.mark.parametrize(
    "document",
    [
        {"request": ANTHROPIC, "response": REPLY},
        {"body": ANTHROPIC, "response": REPLY, "status": 200},
        {"request": {"body": ANTHROPIC, "url": "x"}, "response": {"body": REPLY, "status": 200}},
        ANTHROPIC | {"response": REPLY},
    ],
    ids=["request", "body", "http", "inside"],
)
def test_anthropic_the_reply_is_the_last_entry_and_brings_the_usage(document: Any) -> None:
    assert anthropic_messages.READER.sniff(dump(document)) is None
    session = anthropic_messages.READER.read(dump(document))
    last = session.entries[-1]
    told = ("m4", "assistant", "claude-demo-2", "end_turn")
    assert (last.id, last.role, last.model, last.stop_reason) == told
    assert last.usage == Usage(input=5, output=2, cache_read=3, cache_write=4)
    assert last.extra["context_management"] == REPLY["context_management"]
    assert (session.leaf, session.model, session.records) == ("m4", "claude-demo", 4)
    merged = anthropic_messages.READER.read(dump(ANTHROPIC | REPLY)).entries
    assert (len(merged), merged[3].usage) == (4, last.usage)


def test_anthropic_blocks_of_every_kind() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    page = {"type": "text", "media_type": "text/plain", "data": "D"}
    document = {"type": "document", "title": "T", "source": page}
    asked = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}}
    hits = {"content": [{"type": "web_search_result"}]}
    blocks = [
        {"type": "thinking", "thinking": "", "signature": "sig"},
        {"type": "redacted_thinking", "data": "enc"},
        asked,
        {"type": "web_search_tool_result", "tool_use_id": "s1", **hits},
        {"type": "mcp_tool_use", "id": "m1", "name": "query", "server_name": "db", "input": {}},
        {"type": "mcp_tool_result", "tool_use_id": "m1", "is_error": True, "content": [TEXT]},
        {"type": "song"},
    ]
    session = read_anthropic(
        {"role": "user", "content": [TEXT | {"cache_control": {"type": "ephemeral"}}, image, document]},
        {"role": "assistant", "content": blocks},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "is_error": True}, TEXT]},
        {"role": "system", "content": "mind the time", "clear_at": "never"},
    )
    first, second, third, fourth = session.entries
    assert first.blocks == (
        Text(text="hi"),
        Image(media_type="image/png", width=1, height=1, data=PNG),
        Document(media_type="text/plain", title="T", text="D"),
    )
    assert first.extra == {"blocks": {"0": {"cache_control": {"type": "ephemeral"}}}}
    hit = Unknown(type="web_search_result", raw={"type": "web_search_result"})
    failed = {"type": "mcp_tool_result", "is_error": True, "content": [TEXT]}
    served, told = {"type": "server_tool_use"}, {"type": "web_search_tool_result", **hits}
    called = {"type": "mcp_tool_use", "server_name": "db"}
    assert second.blocks == (
        Reasoning(signature="sig"),
        Reasoning(encrypted="enc"),
        ToolCall(id="s1", name="web_search", input={"query": "x"}, provider_fields=served),
        ToolOutput(call_id="s1", name="web_search", parts=(hit,), provider_fields=told),
        ToolCall(id="m1", name="query", input={}, provider_fields=called),
        ToolOutput(
            call_id="m1", name="query", parts=(Text(text="hi"),), is_error=True, provider_fields=failed
        ),
        Unknown(type="song", raw={"type": "song"}),
    )
    assert second.extra == {}
    assert (third.role, third.blocks) == ("user", (ToolOutput(call_id="c", is_error=True), Text(text="hi")))
    assert (fourth.role, fourth.text, fourth.extra) == ("system", "mind the time", {"clear_at": "never"})


def test_anthropic_a_compaction_block_replaces_what_stands_before_it() -> None:
    compaction = {"type": "compaction", "content": "so far", "encrypted_content": "enc"}
    session = read_anthropic(
        {"role": "user", "content": "old"},
        {"role": "assistant", "content": [compaction, TEXT], "usage": {"input_tokens": 1}},
        {"role": "user", "content": "new"},
    )
    assert [(entry.id, entry.kind) for entry in session.entries] == [
        ("m1", "message"),
        ("m2", "compaction"),
        ("m2.2", "message"),
        ("m3", "message"),
    ]
    assert [session.entries[i].text for i in session.live.entries] == ["so far", "hi", "new"]
    sealed = Sealed(block=compaction, betas=("compact-2026-01-12",), model=session.model).fields()
    assert session.entries[1].boundary == Boundary(summary="so far", extra=sealed)
    assert session.entries[2].usage == Usage(input=1)
    assert session.records == 3


# mini-claude-code


def test_mini_messages_become_entries() -> None:
    failed = {"toolUseId": "c1", "status": "error", "content": "no"}
    failed |= {"error": "exit 1", "artifactPath": "/a.txt"}
    call = {"type": "tool_use", "toolUse": {"id": "c1", "name": "Bash"}}
    roles = {"user": "go", "assistant": [call], "tool": [{"type": "tool_result", "result": failed}]}
    session = mini.READER.read(dump([{"role": role, "content": said} for role, said in roles.items()]))
    assert session.entries[1].blocks == (ToolCall(id="c1", name="Bash"),)
    result = session.entries[2]
    assert result.blocks == (
        ToolOutput(call_id="c1", parts=(Text(text="no"),), is_error=True, status="error", artifact="/a.txt"),
    )
    assert result.extra == {"blocks": {"0": {"error": "exit 1"}}}
    assert (result.role, result.parent, session.leaf) == ("tool", "m2", "m3")
