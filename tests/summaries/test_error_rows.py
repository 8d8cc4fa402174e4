"""Requests that Claude Code was refused, as its file has them: a code beside the provider's message."""

from __future__ import annotations

from typing import Any

import pytest

from inspector import Session, compact, live_context, replay
from inspector.summaries.recovery import judge_reply
from tests.claude_rows import Claude


def write_session(message: str, usage: bool = True, **fields: Any) -> Session:
    """Five turns, and a sixth request that is refused with `message`."""
    rows = Claude()
    for turn in range(5):
        rows.say(f"Question {turn}. " + "Tide. " * (40 + 90 * turn))
        rows.reply("Answer. " * (30 + 70 * turn), 30_000 + 900 * turn)
        if not usage:
            del rows.rows[-1]["message"]["usage"]
    rows.say("And now?")
    content = [{"type": "text", "text": message}]
    refused = {"id": "x", "role": "assistant", "model": "<synthetic>", "content": content}
    rows.add(
        "assistant", message={**refused, "stop_reason": "stop_sequence"}, isApiErrorMessage=True, **fields
    )
    return rows.open()


@pytest.mark.parametrize("usage", [True, False])
@pytest.mark.parametrize("fields", [{}, {"error": "invalid_request"}, {"error": "unknown"}])
@pytest.mark.parametrize(
    "message", ["Prompt is too long", "API Error: 400 prompt is too long: 203000 tokens > 200000 maximum"]
)
def test_a_prompt_that_is_too_long_is_recovered_from(
    message: str, fields: dict[str, Any], usage: bool
) -> None:
    session = write_session(message, usage, **fields)
    judged = judge_reply(session, "claude-code")
    assert (judged.follows, judged.kind, judged.failed) == ("recover", "token_overflow", session.leaf)
    done = compact(session, "claude-code", reason="overflow")
    assert (done.failed, done.done) == (session.leaf, True)
    assert session.leaf not in {done.after.entries[i].id for i in done.after.path}
    assert "token_overflow" in [event.kind for event in replay(session, "claude-code").events]


@pytest.mark.parametrize("message", ["Login expired · Please run /login", "API Error: 529 overloaded"])
def test_another_error_is_none_of_length(message: str) -> None:
    session = write_session(message, error="authentication_failed")
    assert judge_reply(session, "claude-code").follows == "surface"


def test_a_compaction_makes_no_system_prompt_where_no_reply_reports_one() -> None:
    session = write_session("Prompt is too long", usage=False)
    done = compact(session.at("r9"), "claude-code", reason="manual")
    before, after = done.plan.before, live_context(done.after, done.ledger).tokens
    assert after < before
