"""Claude Code's files: every rule of the reader on a few rows anyone can read."""

from __future__ import annotations

import base64
import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.errors import EmptySession, ReadError
from inspector.formats.harnesses.claude_code.agents import READER
from inspector.formats.harnesses.claude_code.rows import decode_row, decode_row_slowly
from inspector.formats.readers import read_session
from inspector.session.blocks import Image, Reasoning, Text, ToolOutput, Unknown
from inspector.session.entries import Boundary, Request, Source, Usage
from inspector.session.session import Session
from tests.rows import dump
from tests.strategies import JUNK, paths_of, replaced

Row = dict[str, Any]


def user(uuid: str, parent: str | None, content: Any, **more: Any) -> Row:
    return {"type": "user", "uuid": uuid, "parentUuid": parent, "message": {"content": content}} | more


def reply(uuid: str, parent: str | None, *blocks: Row, id: str | None = None, **more: Any) -> Row:
    message = {"id": id or f"msg-{uuid}", "model": "claude-opus-4-6", "content": list(blocks)}
    message |= {name: more.pop(name) for name in ("usage", "model", "stop_reason") if name in more}
    return {"type": "assistant", "uuid": uuid, "parentUuid": parent, "message": message} | more


def text(words: str) -> Row:
    return {"type": "text", "text": words}


def call(id: str, name: str = "Read") -> Row:
    return {"type": "tool_use", "id": id, "name": name, "input": {"path": "a.py"}}


def output(id: str, content: Any = "done") -> Row:
    return {"type": "tool_result", "tool_use_id": id, "content": content}


def system(uuid: str, parent: str | None, subtype: str, **more: Any) -> Row:
    return {"type": "system", "subtype": subtype, "uuid": uuid, "parentUuid": parent} | more


def boundary(uuid: str, logical: str | None, **metadata: Any) -> Row:
    told = {"trigger": "auto", "preTokens": 1000} | metadata
    return system(uuid, None, "compact_boundary", logicalParentUuid=logical, compactMetadata=told)


def summary(uuid: str, parent: str | None, words: str = "What happened") -> Row:
    return user(uuid, parent, words, isCompactSummary=True)


def read(*rows: Any) -> Session:
    session = READER.read(dump(*rows))
    assert session.records == len(rows)
    return session


def path(session: Session) -> list[str]:
    return [session.entries[i].id for i in session.path]


def live(session: Session) -> list[str]:
    return [session.entries[i].id for i in session.live.entries]


def test_damage_at_the_beginning_hides_nothing() -> None:
    content = b"\xff\n{\n" + dump(user("u", None, "hi"))
    assert READER.sniff(content) is None
    assert READER.read(content).records == 3


# The chain


def test_the_chain_runs_through_rows_that_are_no_messages() -> None:
    session = read(
        {"type": "progress", "uuid": "p0", "parentUuid": None, "data": {}},
        user("u1", "p0", "hi"),
        {"type": "attachment", "uuid": "t1", "parentUuid": "u1", "attachment": {"type": "file"}},
        reply("a1", "t1", text("hello")),
        system("s1", "a1", "stop_hook_summary"),
        system("s2", "s1", "turn_duration"),
        user("u2", "s2", "bye"),
    )
    assert path(session) == ["u1", "a1", "u2"]
    assert session.entries[0].parent is None
    assert not session.warnings


def test_an_edited_prompt_starts_a_branch() -> None:
    session = read(
        user("u1", None, "hi"),
        reply("a1", "u1", text("hello")),
        user("old", "a1", "first try"),
        reply("a2", "old", text("no")),
        user("new", "a1", "second try"),
    )
    assert path(session) == ["u1", "a1", "new"]
    assert path(session.at("a2")) == ["u1", "a1", "old", "a2"]


def test_what_follows_a_missing_record_follows_the_entry_before_it_with_a_warning() -> None:
    session = read(user("u1", None, "hi"), reply("a1", "lost", text("hello")), user("u2", "a1", "bye"))
    assert path(session) == ["u1", "a1", "u2"]
    assert session.warnings == (
        "1 entry follows a record that is not in the file; it was placed after the entry before it",
    )


def test_a_file_that_begins_in_the_middle_says_so_whatever_was_compacted_since() -> None:
    cut = (
        user("u1", "elsewhere", "hi"),
        reply("a1", "u1", text("hello")),
        {**system("b1", None, "compact_boundary"), "logicalParentUuid": "a1"},
        user("s1", "b1", "the story so far", isCompactSummary=True),
    )
    assert read(*cut).warnings == (
        "it begins in the middle of its session: the parent of its first entry is not in the file",
    )
    assert not read({**cut[0], "parentUuid": None}, *cut[1:]).warnings


@pytest.mark.parametrize("parent", ["u1", "u2", "p1"])
def test_circles_end(parent: str) -> None:
    session = read(
        user("u1", parent, "hi"),
        {"type": "progress", "uuid": "p1", "parentUuid": "p2"},
        {"type": "progress", "uuid": "p2", "parentUuid": "p1"},
        user("u2", "u1", "bye"),
    )
    assert path(session)[-1] == "u2"


def test_rows_without_parents_follow_each_other() -> None:
    rows = [user("u1", None, "hi"), reply("a1", None, text("hello")), user("u2", None, "bye")]
    for row in rows:
        del row["parentUuid"]
        row["sessionId"] = "s"
    assert path(read(*rows)) == ["u1", "a1", "u2"]


def test_a_uuid_written_twice_counts_once_and_the_last_one_wins() -> None:
    session = read(user("u1", None, "draft"), user("u1", None, "final"), reply("a1", "u1", text("ok")))
    assert [entry.text for entry in session.entries] == ["final", "ok"]
    assert [source.line for source in session.entries[0].sources] == [1, 2]
    assert path(session) == ["u1", "a1"]


# Replies and the outputs of their calls


SENT = {"input_tokens": 7}


def test_rows_of_one_reply_are_one_entry_with_the_last_usage() -> None:
    session = read(
        user("u1", None, "hi"),
        reply("a1", "u1", text("one"), id="m", usage={**SENT, "output_tokens": 1}),
        reply("a2", "a1", call("t1"), id="m", usage={**SENT, "output_tokens": 9}, stop_reason="tool_use"),
    )
    entry = session.entries[1]
    assert [block.kind for block in entry.blocks] == ["text", "tool_call"]
    assert (entry.id, entry.aliases) == ("a1", ("a2",))
    assert [source.line for source in entry.sources] == [2, 3]
    assert entry.usage == Usage(input=7, output=9)
    assert entry.stop_reason == "tool_use"
    assert session["a2"] is entry
    assert path(session) == ["u1", "a1"]


def test_usage_is_read_in_full() -> None:
    told = {
        "input_tokens": 3,
        "output_tokens": 9,
        "cache_creation_input_tokens": 17018,
        "cache_read_input_tokens": 16509,
        "cache_creation": {"ephemeral_5m_input_tokens": 17018},
    }
    usage = read(user("u1", None, "hi"), reply("a1", "u1", text("x"), usage=told)).entries[1].usage
    assert usage == Usage(input=3, output=9, cache_write=17018, cache_write_1h=0, cache_read=16509)
    assert usage.prompt == 3 + 17018 + 16509


def test_the_context_is_that_of_the_last_message_iteration() -> None:
    """CLAUDE §5.1: never that of a compaction."""
    told = [
        {"type": "compaction", "input_tokens": 180_000, "output_tokens": 3_500},
        {"type": "message", "input_tokens": 23_000, "output_tokens": 1_000},
        {"type": "advisor_message", "input_tokens": 99, "output_tokens": 9},
    ]
    usage = {"input_tokens": 23_099, "output_tokens": 1_009, "iterations": told}
    entry = read(user("u1", None, "hi"), reply("a1", "u1", text("x"), usage=usage)).entries[1]
    assert entry.usage is not None
    assert (entry.usage.input, entry.usage.output) == (23_000, 1_000)
    assert entry.usage.requests == (
        Request(kind="compaction", input=180_000, output=3_500),
        Request(input=23_000, output=1_000),
        Request(kind="advisor_message", input=99, output=9),
    )


def test_outputs_of_parallel_calls_are_chained_in_file_order() -> None:
    session = read(
        user("u1", None, "hi"),
        reply("a1", "u1", call("t1"), id="m"),
        reply("a2", "a1", call("t2"), id="m"),
        reply("a3", "a2", call("t3"), id="m"),
        user("r2", "a2", [output("t2")]),
        user("r1", "a1", [output("t1")]),
        user("r3", "a3", [output("t3")]),
        reply("b1", "r2", text("all three")),
    )
    assert path(session) == ["u1", "a1", "r2", "r1", "r3", "b1"]
    assert len(session.live.pairs) == 3
    assert not len(session.live.orphans) + len(session.live.pending)


def test_roles() -> None:
    session = read(
        user("u1", None, "hi"),
        reply("a1", "u1", call("t1"), call("t2")),
        user("r1", "a1", [output("t1")]),
        user("r2", "a1", [output("t2"), text("and stop")]),
        user("u2", "r2", "<caveat>", isMeta=True),
    )
    assert [entry.role for entry in session.entries] == ["user", "assistant", "tool", "user", "user"]
    assert [entry.meta for entry in session.entries] == [False, False, False, False, True]
    assert [entry.opens_turn for entry in session.entries] == [True, False, False, True, False]


# Blocks


def blocks(*content: Any) -> tuple[Any, ...]:
    return read(user("u1", None, "hi"), reply("a1", "u1", *content)).entries[1].blocks


def test_reasoning_is_kept_when_it_is_empty_or_encrypted() -> None:
    assert blocks(
        {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
        {"type": "thinking", "thinking": "", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "ZGF0YQ=="},
    ) == (
        Reasoning(text="Hm.", signature="c2ln"),
        Reasoning(text="", signature="c2ln"),
        Reasoning(encrypted="ZGF0YQ=="),
    )


@pytest.mark.parametrize(
    "raw",
    [
        {"type": "tool_reference", "tool_name": "Grep"},
        {"type": "text", "text": 7},
        {"type": "tool_use", "name": "no id"},
        {"type": "thinking", "thinking": None},
        {"type": "image", "source": {"type": "file", "file_id": "f"}},
        {"type": ["text"]},
        {},
        7,
    ],
)
def test_a_block_nobody_knows_is_kept_whole_and_counted(raw: Any) -> None:
    session = read(user("u1", None, "hi"), reply("a1", "u1", raw), user("r1", "a1", [output("t1", [raw])]))
    kind = raw["type"] if isinstance(raw, dict) and isinstance(raw.get("type"), str) else ""
    assert session.entries[1].blocks == (Unknown(type=kind, raw=raw),)
    assert session.entries[2].blocks == (ToolOutput(call_id="t1", parts=(Unknown(type=kind, raw=raw),)),)
    assert session.unknown == 1


def png(width: int, height: int) -> bytes:
    return (
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
        + width.to_bytes(4, "big")
        + height.to_bytes(4, "big")
        + b"\x08\2\0\0\0"
    )


def jpeg(width: int, height: int, exif: int = 0) -> bytes:
    size = height.to_bytes(2, "big") + width.to_bytes(2, "big")
    app1 = b"\xff\xe1" + (exif + 2).to_bytes(2, "big") + b"e" * exif
    return b"\xff\xd8" + app1 + b"\xff\xff\xc4\0\4ab" + b"\xff\xc2\0\x0b\x08" + size + b"\1\1\x11\0"


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + width.to_bytes(2, "little") + height.to_bytes(2, "little") + b"\0\0\0"


def webp(kind: bytes, width: int, height: int) -> bytes:
    frames = {
        b"VP8X": b"\0" * 4 + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little"),
        b"VP8L": b"\x2f" + (width - 1 | (height - 1) << 14).to_bytes(4, "little") + b"\0" * 5,
        b"VP8 ": b"\0\0\0\x9d\x01\x2a" + width.to_bytes(2, "little") + height.to_bytes(2, "little"),
    }
    return b"RIFF\0\0\0\0WEBP" + kind + b"\0\0\0\0" + frames[kind]


@pytest.mark.parametrize(
    "content",
    [
        png(1200, 34),
        jpeg(1200, 34),
        jpeg(1200, 34, exif=60_000),
        gif(1200, 34),
        webp(b"VP8X", 1200, 34),
        webp(b"VP8L", 1200, 34),
        webp(b"VP8 ", 1200, 34),
    ],
)
def test_pixels_of_a_picture_are_read_from_its_first_bytes(content: bytes) -> None:
    data = base64.b64encode(content).decode()
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/x", "data": data}}
    assert blocks(picture, output("t1", [picture])) == (
        Image(media_type="image/x", width=1200, height=34, data=data),
        ToolOutput(call_id="t1", parts=(Image(media_type="image/x", width=1200, height=34, data=data),)),
    )


# Compactions


def test_a_boundary_and_its_summary_are_one_entry() -> None:
    session = read(
        user("u1", None, "hi"),
        reply("a1", "u1", text("hello")),
        boundary("c", "a1", trigger="manual", preTokens=82572, postTokens=5000, durationMs=7),
        summary("s", "c", "What happened"),
        user("u2", "s", "go on"),
    )
    entry = session.entries[2]
    assert (entry.kind, entry.role, entry.blocks) == ("compaction", "user", (Text(text="What happened"),))
    assert (entry.id, entry.aliases, entry.parent) == ("c", ("s",), "a1")
    told = {"postTokens": 5000, "durationMs": 7}
    assert entry.boundary == Boundary(trigger="manual", tokens_before=82572, extra=told)
    assert path(session) == ["u1", "a1", "c", "u2"]
    assert live(session) == ["c", "u2"]
    assert len(session.turns) == 2


@pytest.mark.parametrize(
    ("row", "words"), [(boundary("c", "u1"), ""), (summary("c", "u1", "So far"), "So far")]
)
def test_a_boundary_or_a_summary_alone_compacts_too(row: Row, words: str) -> None:
    session = read(user("u1", None, "hi"), row, reply("a1", "c", text("on")))
    assert (session["c"].kind, session["c"].text) == ("compaction", words)
    assert (path(session), live(session)) == (["u1", "c", "a1"], ["c", "a1"])


KEPT = [
    {"preservedMessages": {"anchorUuid": "s", "uuids": ["u2", "a2"]}},
    {"preservedSegment": {"headUuid": "u2", "anchorUuid": "s", "tailUuid": "a2"}},
    {
        "preservedSegment": {"headUuid": "u2", "anchorUuid": "s", "tailUuid": "a2"},
        "preservedMessages": {"anchorUuid": "s", "uuids": ["u2", "a2"], "allUuids": ["u2", "p", "a2"]},
    },
]
BEFORE = [
    user("u1", None, "old"),
    reply("a1", "u1", text("old")),
    user("u2", "a1", "recent"),
    reply("a2", "u2", text("recent")),
]


@pytest.mark.parametrize("kept", KEPT)
@pytest.mark.parametrize("parent", ["s", "c", "a2"])
def test_kept_messages_stay_and_what_follows_their_tail_follows_the_compaction(
    kept: Row, parent: str
) -> None:
    session = read(*BEFORE, boundary("c", "a2", **kept), summary("s", "c"), user("u3", parent, "on"))
    assert session.boundaries[0][1].kept == ("u2", "a2")
    assert session.boundaries[0][1].extra == {}
    assert path(session) == ["u1", "a1", "u2", "a2", "c", "u3"]
    assert live(session) == ["c", "u2", "a2", "u3"]


def test_going_back_behind_a_compaction_undoes_it() -> None:
    session = read(*BEFORE, boundary("c", "a2", **KEPT[0]), summary("s", "c"), user("u3", "a1", "anew"))
    assert live(session) == ["u1", "a1", "u3"]


CLEARED = {"clearedAttachmentUUIDs": list[str]()}


def test_a_micro_compaction_empties_outputs_in_place() -> None:
    told = {"trigger": "auto", "preTokens": 65398, "tokensSaved": 45149, "compactedToolIds": ["t1"]}
    session = read(
        user("u1", None, "hi"),
        reply("a1", "u1", call("t1"), call("t2")),
        user("r1", "a1", [output("t1")]),
        user("r2", "a1", [output("t2")]),
        system("m", "r2", "microcompact_boundary", microcompactMetadata=told | CLEARED),
        reply("a2", "m", text("on")),
    )
    entry, sizes = session["m"], {"tokens_before": 65398, "tokens_saved": 45149}
    assert (entry.kind, entry.role, entry.blocks) == ("micro", "system", ())
    assert entry.boundary == Boundary(kind="micro", trigger="auto", cleared=("t1",), **sizes, extra=CLEARED)
    assert path(session) == ["u1", "a1", "r1", "r2", "m", "a2"]
    assert live(session) == ["u1", "a1", "r1", "r2", "a2"]
    assert [int(row) for row in session.live.cleared.nonzero()[0]] == [3]


# Sub-agents


def test_sidechains_are_kept_apart() -> None:
    session = read(
        user("u1", None, "hi"),
        reply("a1", "u1", call("t1", "Task")),
        user("x1", None, "do it", isSidechain=True),
        reply("x2", "x1", text("done"), isSidechain=True),
        user("y1", "a1", "do that", isSidechain=True, agentId="b7"),
        reply("y2", "y1", text("done"), isSidechain=True, agentId="b7"),
        user("r1", "a1", [output("t1")]),
    )
    sides = {entry.id: entry.sidechain for entry in session.entries}
    assert sides == {"u1": None, "a1": None, "x1": "x1", "x2": "x1", "y1": "b7", "y2": "b7", "r1": None}
    assert path(session) == ["u1", "a1", "r1"]
    assert path(session.at("x2")) == ["x1", "x2"]


def test_a_sub_agents_own_file_is_a_session() -> None:
    rows = [
        user("x1", None, "do it", isSidechain=True, agentId="b7"),
        reply("x2", "x1", text("done"), isSidechain=True, agentId="b7"),
    ]
    session = read(*rows)
    assert path(session) == ["x1", "x2"]
    assert [entry.sidechain for entry in session.entries] == [None, None]
    assert session.model == "claude-opus-4-6"
    assert session.extra["agent_id"] == "b7"


# What is no message


def test_bookkeeping_is_noted_and_what_nobody_knows_is_counted() -> None:
    session = read(
        user("u1", None, "hi"),
        {"type": "queue-operation", "operation": "enqueue", "sessionId": "s"},
        system("s1", "u1", "local_command", content="/skills"),
        system("s2", "s1", "new_thing"),
        {"type": "something-new"},
        {"no": "type"},
        user("u2", "s2", "bye"),
    )
    known, unknown = ["queue-operation", "system/local_command"], ["system/new_thing", "something-new", ""]
    assert [note.type for note in session.notes] == [*known, *unknown]
    assert [(note.known, note.source.line) for note in session.notes] == [(at < 4, at) for at in range(2, 7)]
    assert session.unknown == 3
    assert path(session) == ["u1", "u2"]


# Damage, and unusual JSON


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"type": "user"', "not JSON at character 15: Expecting ',' delimiter"),
        (b"\x00\x00\x00", "not JSON at character 0: Expecting value"),
        (b'{"type": "\xff\xfe"}', "not UTF-8 at byte 10"),
        (b"[1, 2]", "not a JSON object"),
        (b"7", "not a JSON object"),
        (b'{"type": "user", "uuid": "x"}', "a row of type user without a message"),
        (b'{"type": "assistant", "message": "hello"}', "a row of type assistant without a message"),
    ],
)
def test_one_bad_line_is_put_down_and_the_rest_opens(line: bytes, reason: str) -> None:
    first, last = dump(user("u1", None, "hi")), dump(user("u2", "u1", "bye"))
    session = READER.read(first + line + b"\n" + last)
    assert path(session) == ["u1", "u2"]
    [corrupt] = session.corrupt
    assert (corrupt.line, corrupt.offset, corrupt.reason) == (2, len(first), reason)
    assert session.records == 3


def test_blank_lines_line_ends_and_a_byte_order_mark_are_no_records() -> None:
    rows = [json.dumps(row).encode() for row in (user("u1", None, "hi"), user("u2", "u1", "bye"))]
    session = READER.read(b"\xef\xbb\xbf" + rows[0] + b"\r\n\r\n  \t\n" + rows[1] + b"\r\n\n")
    assert [entry.sources for entry in session.entries] == [
        (Source(1, 3, len(rows[0]) + 1),),
        (Source(4, 3 + len(rows[0]) + 2 + 2 + 4, len(rows[1]) + 1),),
    ]
    assert session.records == 2


def test_a_field_of_the_wrong_type_counts_as_missing() -> None:
    row = user("u1", None, "hi", timestamp=7, isMeta="no", cwd={}, agentId=[]) | {"parentUuid": 3}
    entry = read(row).entries[0]
    assert (entry.id, entry.parent, entry.timestamp, entry.meta) == ("u1", None, None, False)


# Laws


@given(st.data())
def test_rows_with_junk_in_any_place_open_or_are_empty_and_every_line_is_represented(
    data: st.DataObject,
) -> None:
    cleared = {"preTokens": 9, "compactedToolIds": ["t1"]}
    rows: Any = [
        *BEFORE,
        reply("a3", "a2", call("t1"), usage={"input_tokens": 7, "iterations": [{"type": "message"}]}),
        user("r1", "a3", [output("t1", [text("done")])]),
        boundary("c", "r1", **KEPT[2]),
        summary("s", "c"),
        system("m", "s", "microcompact_boundary", microcompactMetadata=cleared),
        user("x1", None, "do it", isSidechain=True, agentId="b7"),
        {"type": "summary", "summary": "A title", "leafUuid": "s"},
    ]
    for _ in range(data.draw(st.integers(1, 4))):
        way = data.draw(st.sampled_from([way for way in paths_of(rows) if way]))
        rows = replaced(rows, way, data.draw(JUNK))
    for line in (memoryview(json.dumps(row).encode()) for row in rows if isinstance(row, dict)):
        # NaN is no value to compare by; what it is printed as will do.
        assert repr(decode_row(line)) == repr(decode_row_slowly(line))
    with suppress(EmptySession):
        session = READER.read(dump(*rows))
        assert session.records == len(rows)
        assert set(live(session)) <= set(path(session))
        assert Session.model_validate(session.model_dump()) == session


def test_a_format_can_be_named() -> None:
    content = dump(user("u1", None, "hi"))
    assert read_session(content, format="claude-code") == read_session(content)
    with pytest.raises(ReadError, match="no reader is called 'claude'; known: session-manifest, claude-code"):
        read_session(content, format="claude")


def rewound(leaf: str | None, **more: Any) -> Row:
    return {"type": "last-prompt", "sessionId": "s", "leafUuid": leaf, "explicit": True} | more


def test_a_rewind_is_followed_until_something_is_said_after_it() -> None:
    said = [user("u1", None, "Go"), reply("a1", "u1", call("t1")), user("o1", "a1", [output("t1")])]
    said += [reply("a2", "o1", text("Done")), user("u2", "a2", "More"), reply("a3", "u2", text("No"))]
    late = system("log", "a3", "informational")
    assert path(read(*said, rewound("a3"), rewound("a2"), late)) == ["u1", "a1", "o1", "a2"]
    assert path(read(*said, rewound("a1"))) == ["u1", "a1", "o1"]
    assert path(read(*said, rewound("a2"), user("u3", "a2", "Else"))) == ["u1", "a1", "o1", "a2", "u3"]
    everything = ["u1", "a1", "o1", "a2", "u2", "a3"]
    for row in (rewound("a2", explicit=False), rewound("gone")):
        assert path(read(*said, row)) == everything
    assert path(read(*said, rewound("a2"), rewound("a3"))) == everything
    assert path(read(*said, rewound(None))) == []


def write_text(lines: int, width: int = 9) -> str:
    return "\n".join(["x" * width] * lines)


@pytest.mark.parametrize(
    ("result", "size"),
    [
        ({"type": "text", "file": {"filePath": "/a", "content": write_text(4), "numLines": 4}}, (39, 4)),
        ({"file": {"content": write_text(4), "numLines": 4, "totalLines": 40}}, (390, 40)),
        ({"file": {"content": write_text(4), "numLines": 4, "totalLines": 10**400}}, (39, 4)),
        ({"type": "create", "filePath": "/a", "content": write_text(7)}, (69, 7)),
        ({"filePath": "/a", "originalFile": write_text(7), "oldString": "x\nx", "newString": "y"}, (67, 6)),
        ({"type": "image", "file": {"base64": "aGk=", "originalSize": 2}}, None),
        ({"mode": "content", "filenames": ["/a"], "content": write_text(7)}, None),
        ({"filePath": "/a", "originalFile": None, "oldString": "x", "newString": "y"}, None),
        ({"filePath": "/a", "content": [{"type": "text", "text": "no file"}]}, None),
        ("Error: File has not been read yet.", None),
    ],
)
def test_an_output_tells_how_long_the_file_is_that_was_read_or_changed(
    result: Any, size: tuple[int, int] | None
) -> None:
    """Of the whole file, though the model saw a part of it or a change alone; the text is not kept."""
    rows = [user("u1", None, "go"), reply("a1", "u1", call("c1"))]
    rows.append(user("t1", "a1", [output("c1")], toolUseResult=result))
    told = read(*rows)["t1"].extra
    assert told == ({} if size is None else {"file": {"chars": size[0], "lines": size[1]}})
