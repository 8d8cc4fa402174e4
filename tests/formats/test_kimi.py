"""Kimi Code's wire logs, beside a count of their rows that shares no code with the reader."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from inspector import open_session, read_session
from inspector.session.blocks import ToolCall, ToolOutput
from tests.rows import CASES, dump

CASE = CASES / "kimi.jsonl"
START = {"type": "metadata", "protocol_version": "1.4"}


def ask(text: str, kind: str = "user") -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return {
        "type": "context.append_message",
        "message": {"role": "user", "content": content, "origin": {"kind": kind}},
    }


def reply(number: str, text: str, **usage: int) -> list[dict[str, Any]]:
    part = {"type": "content.part", "stepUuid": number, "part": {"type": "text", "text": text}}
    end = {"type": "step.end", "uuid": number, "usage": {"inputOther": 10, "output": 2} | usage}
    events = ({"type": "step.begin", "uuid": number}, part, end)
    return [{"type": "context.append_loop_event", "event": event} for event in events]


def compaction(count: int, **more: Any) -> dict[str, Any]:
    return {"type": "context.apply_compaction", "summary": "So far.", "compactedCount": count} | more


def live(data: bytes) -> list[str]:
    session = read_session(data)
    return [session[name].text for name in session.live_names]


def test_a_step_is_one_reply_and_its_end_says_what_it_took() -> None:
    session = open_session(CASE)
    first, answer = session.entries[1:3]
    assert [block.kind for block in first.blocks] == ["reasoning", "tool_call"]
    (output,) = answer.blocks
    assert isinstance(first.blocks[1], ToolCall) and isinstance(output, ToolOutput)
    assert (first.blocks[1].input, output.call_id, output.name) == ({"path": "gate.txt"}, "Read_0", "Read")
    assert first.usage is not None
    assert (first.usage.input, first.usage.cache_read, first.usage.output) == (310, 1_024, 22)
    assert (session.model, session.system[0].text, len(session.turns)) == ("deep-3", "You keep the weir.", 2)
    assert first.extra["step"]["messageId"] == "m1"


def test_a_compaction_takes_the_first_messages_and_leaves_its_summary() -> None:
    session = open_session(CASE)
    (boundary,) = [entry.boundary for entry in session.entries if entry.boundary]
    assert (boundary.tokens_before, boundary.tokens_after) == (1_428, 96)
    assert boundary.summary == "What was said before: the gate is shut since 05:40."
    # Three of four messages went: the prompt, the reply that calls and what the call answered.
    assert [session[name].text for name in boundary.kept] == ["It is shut since 05:40 (GATE-7)."]


def test_prompts_that_were_undone_are_recorded_and_gone_from_the_line(tmp_path: Path) -> None:
    rows = [START, ask("one"), *reply("a", "A"), compaction(1), ask("two"), *reply("b", "B")]
    rows += [{"type": "context.undo", "count": 5}, ask("three"), *reply("c", "C")]
    (path := tmp_path / "wire.jsonl").write_bytes(dump(*rows))
    session = open_session(path)
    # None from before the compaction is taken back.
    assert live(dump(*rows)) == ["So far.", "A", "three", "C"]
    assert [entry.text for entry in session.entries] == ["one", "A", "So far.", "two", "B", "three", "C"]
    assert live(dump(*rows, {"type": "context.clear"}, ask("four"))) == ["four"]


def test_what_the_harness_says_is_no_prompt_and_a_step_without_words_no_reply() -> None:
    rows = [START, ask("one"), ask("Mind the tide.", "injection"), *reply("a", " "), *reply("b", "B")]
    session = read_session(dump(*rows))
    assert [(entry.role, entry.meta) for entry in session.entries] == [
        *(("user", False), ("user", True), ("assistant", False))
    ]
    assert session.records == len(rows) and session.unknown == 0


def test_what_a_micro_compaction_emptied_is_not_told_and_is_shown() -> None:
    rows = [START, ask("one"), *reply("a", "A"), {"type": "micro_compaction.apply", "cutoff": 1}]
    (warning,) = read_session(dump(*rows)).warnings
    assert "1 micro-compaction is recorded" in warning
