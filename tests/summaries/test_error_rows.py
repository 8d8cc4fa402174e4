"""Requests that Claude Code was refused, as its file has them: a code beside the provider's message."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector import Session, compact, live_context, open_session, replay
from inspector.summaries.recovery import judge_reply


def write_session(folder: Path, message: str, usage: bool = True, **fields: Any) -> Session:
    """Five turns, and a sixth request that is refused with `message`."""
    rows: list[dict[str, Any]] = []

    def add(role: str, text: str, more: dict[str, Any], **row: Any) -> None:
        content: Any = text if role == "user" else [{"type": "text", "text": text}]
        told = {"role": role, "content": content, **more}
        above = rows[-1]["uuid"] if rows else None
        name = {"type": role, "uuid": f"u{len(rows)}", "parentUuid": above, "sessionId": "s"}
        rows.append({**name, "version": "2.1.72", "message": told, **row})

    for turn in range(5):
        add("user", f"Question {turn}. " + "Tide. " * (40 + 90 * turn), {})
        counted = {"input_tokens": 30_000 + 900 * turn, "output_tokens": 60} if usage else None
        reply = {"id": f"a{turn}", "model": "claude-opus-4-5", "stop_reason": "end_turn", "usage": counted}
        add("assistant", "Answer. " * (30 + 70 * turn), reply)
    add("user", "And now?", {})
    refused = {"id": "x", "model": "<synthetic>", "stop_reason": "stop_sequence"}
    add("assistant", message, refused, isApiErrorMessage=True, **fields)
    path = folder / "s.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return open_session(path)


@pytest.mark.parametrize("usage", [True, False])
@pytest.mark.parametrize("fields", [{}, {"error": "invalid_request"}, {"error": "unknown"}])
@pytest.mark.parametrize(
    "message", ["Prompt is too long", "API Error: 400 prompt is too long: 203000 tokens > 200000 maximum"]
)
def test_a_prompt_that_is_too_long_is_recovered_from(
    tmp_path: Path, message: str, fields: dict[str, Any], usage: bool
) -> None:
    session = write_session(tmp_path, message, usage, **fields)
    judged = judge_reply(session, "claude-code")
    assert (judged.follows, judged.kind, judged.failed) == ("recover", "token_overflow", session.leaf)
    done = compact(session, "claude-code", reason="overflow")
    assert (done.failed, done.done) == (session.leaf, True)
    assert session.leaf not in {done.after.entries[i].id for i in done.after.path}
    assert "token_overflow" in [event.kind for event in replay(session, "claude-code").events]


@pytest.mark.parametrize("message", ["Login expired · Please run /login", "API Error: 529 overloaded"])
def test_another_error_is_none_of_length(tmp_path: Path, message: str) -> None:
    session = write_session(tmp_path, message, error="authentication_failed")
    assert judge_reply(session, "claude-code").follows == "surface"


def test_a_compaction_makes_no_system_prompt_where_no_reply_reports_one(tmp_path: Path) -> None:
    session = write_session(tmp_path, "Prompt is too long", usage=False)
    done = compact(session.at("u9"), "claude-code", reason="manual")
    before, after = done.plan.before, live_context(done.after, done.ledger).tokens
    assert after < before
