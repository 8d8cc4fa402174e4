"""DeepSeek Harness's logs: the surface in force, as its own reader gives it for the samples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector import open_session, read_session
from inspector.errors import ReadError
from inspector.session.blocks import ToolCall
from inspector.session.session import Session
from tests.shared import SHARED, needs_shared

SAMPLES = sorted((SHARED / "samples" / "deepseek-harness").glob("*.jsonl*"))
HEADER = {"type": "session", "version": 0, "id": "s1", "createdAt": 1, "cwd": "/tool"}
PLUGIN = {"kind": "plugin", "plugin": "compact", "compactionId": "c"}


def format_entry(entry: Any) -> str:
    """Return the blocks of an entry in the form of the expected readings."""
    parts = []
    for block in entry.blocks:
        if isinstance(block, ToolCall):
            arguments = json.dumps(block.input, separators=(",", ":"), ensure_ascii=False)
            parts.append(f"{block.name}({arguments})")
        else:
            parts.append(block.text)
    return " | ".join(parts)


def matches(expected: Any, text: str) -> bool:
    """Return whether a text is the expected one, which has no frames of the harness and cuts long texts."""
    if isinstance(expected, dict):
        return len(text) == expected["chars"] and text.startswith(expected["starts"])
    offset = 0
    for part in expected.split("[frame of the harness]"):
        offset = text.find(part.strip(" |"), offset)
        if offset < 0:
            return False
    return True


def live(session: Session) -> list[Any]:
    return [session.entries[index] for index in session.live.entries.tolist()]


def read_usage(session: Session, kind: str) -> dict[str, float]:
    return {entry.id: entry.usage.prompt for entry in session.entries if entry.usage and entry.kind == kind}


@needs_shared
@pytest.mark.parametrize("file", SAMPLES, ids=lambda file: file.name.partition(".")[0])
def test_a_sample_is_read_as_the_harness_reads_it(file: Path) -> None:
    expected = json.loads((file.parent / f"{file.name.partition('.')[0]}.expected.json").read_text("utf-8"))
    session = open_session(file)
    names = ("id", "cwd", "model", "window")
    assert {name: getattr(session, name) for name in names} == {
        name: expected["session"][name] for name in names
    }
    assert [block.text for block in session.system] == [expected["system"]]
    assert len(session.tools) == expected["tools"]
    context = live(session)
    assert [entry.id for entry in context] == [f"e{event['seq']}" for event in expected["surface"]]
    for entry, event in zip(context, expected["surface"], strict=True):
        text = format_entry(entry)
        assert (entry.role, matches(event["text"], text)) == (event["role"], True), (event, text)
    summaries = [entry.id for entry in session.entries if entry.boundary is not None]
    if not expected.get("torn"):
        replacing = [event for event in expected["replaced"] if event["type"] == "user/message"]
        assert summaries == [f"e{event['seq']}" for event in replacing]
    failed = sum(bool(event.get("error")) for event in expected["compactions"])
    assert sum("failed" in warning for warning in session.warnings) == (failed > 0)
    reported = {
        f"e{event['seq']}": event["inputTokens"] for event in expected["usage"] if "inputTokens" in event
    }
    assert read_usage(session, "message") == {
        name: size for name, size in reported.items() if name in session.index
    }
    assert set(read_usage(session, "compaction")) == set(summaries)
    assert not [note for note in session.notes if not note.known]


def join_rows(*events: dict[str, Any], header: dict[str, Any] = HEADER) -> bytes:
    return "\n".join(map(json.dumps, (header, *events))).encode()


def prompt(seq: int, text: str, operation: Any = "append", **data: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    data = {"content": content, **data}
    return {"type": "user/message", "seq": seq, "time": seq, "data": data, "surfaceOp": operation}


def output(seq: int, text: str, operation: Any = "append") -> dict[str, Any]:
    part = {"type": "tool-result", "toolCallId": "t1", "content": text}
    data = {"message": {"content": [part]}}
    return {"type": "tool/result", "seq": seq, "time": seq, "data": data, "surfaceOp": operation}


def call(seq: int) -> dict[str, Any]:
    part = {"type": "tool-call", "id": "t1", "name": "bash", "arguments": "{}"}
    data = {"message": {"content": [part]}}
    return {"type": "assistant/message", "seq": seq, "time": seq, "data": data, "surfaceOp": "append"}


def replace(start: Any, end: Any) -> dict[str, Any]:
    return {"op": "replace", "start": start, "end": end}


def list_words(session: Session) -> list[str]:
    return [format_entry(entry) for entry in live(session)]


def test_a_replacement_names_positions_and_not_an_interval() -> None:
    rows = [prompt(at, words) for at, words in enumerate(("one", "two", "three"))]
    rows += [prompt(3, "first summary", replace(0, 1), source=PLUGIN), prompt(4, "four")]
    # The first summary, event 3, is before event 2.
    session = read_session(join_rows(*rows, prompt(5, "second summary", replace(3, 2), source=PLUGIN)))
    assert list_words(session) == ["second summary", "four"]


@pytest.mark.parametrize("later", [[], [prompt(6, "next")]])
def test_an_output_that_a_compaction_kept_can_be_shortened_later(later: list[dict[str, Any]]) -> None:
    rows = [prompt(0, "one"), call(1), output(2, "a long output")]
    rows += [prompt(3, "summary", replace(0, 0), source=PLUGIN), output(4, "an output", replace(2, 2))]
    session = read_session(join_rows(*rows, output(5, "short", replace(4, 4)), *later))
    assert list_words(session) == ["summary", "bash({})", "short", *["next" for _ in later]]
    assert [entry.text for entry in session.entries if entry.boundary] == ["summary"]
    assert [warning for warning in session.warnings if warning.startswith("1 output was shortened")]
    outputs = {entry.id: entry.blocks[0].text for entry in session.entries if entry.role == "tool"}
    assert outputs == {"e2": "a long output", "e4": "an output", "e5": "short"}


def test_a_message_in_the_place_of_several_is_a_compaction() -> None:
    rows = prompt(0, "one"), prompt(1, "two"), prompt(2, "three"), prompt(3, "in short", replace(0, 1))
    session = read_session(join_rows(*rows, prompt(4, "four")))
    assert list_words(session) == ["in short", "three", "four"]
    assert len(session.compactions) == 1


@pytest.mark.parametrize(
    "operation", [replace(7, 9), replace([1], {}), replace(1, 0), {"op": "move"}, "move"]
)
def test_a_replacement_of_no_message_of_the_context_is_reported(operation: Any) -> None:
    session = read_session(join_rows(prompt(0, "one"), prompt(1, "two"), prompt(2, "three", operation)))
    assert list_words(session) == ["one", "two", "three"]
    assert [warning for warning in session.warnings if warning.startswith("1 message replaces others")]


def test_unknown_events_are_counted_and_another_version_is_refused() -> None:
    odd = {"type": "galaxy/turned", "seq": 1, "time": 1, "data": {}}
    unnumbered = {**prompt(2, "two"), "seq": "2"}
    session = read_session(join_rows(prompt(0, "one"), odd, unnumbered))
    assert [note.type for note in session.notes if not note.known] == ["galaxy/turned", "user/message"]
    with pytest.raises(ReadError, match="version 7"):
        read_session(join_rows(prompt(0, "one"), header={**HEADER, "version": 7}))


def test_the_last_title_is_the_sessions() -> None:
    told = ({"title": "Guide"}, {"title": "Reading a guide"}, {})
    titles = [{"type": "session/title", "seq": at, "data": data} for at, data in enumerate(told, 2)]
    session = read_session(join_rows(prompt(1, "Read it.", source={"kind": "user"}), *titles))
    assert (session.title, session.unknown) == ("Reading a guide", 0)
