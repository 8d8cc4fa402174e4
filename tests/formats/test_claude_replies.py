"""Rows of one reply in Claude Code files whose message ids do not identify it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector import price_session
from inspector.session.session import Session
from tests.formats.test_claude_code import call, output, path, read, reply, text, user

Row = dict[str, Any]
SONNET = "claude-sonnet-4-5"


def usage(fresh: int, read: int, written: int, out: int) -> Row:
    return {
        "input_tokens": fresh,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
        "output_tokens": out,
    }


def sums(session: Session) -> tuple[int, list[int]]:
    """Return the number of requests of the conversation, and their fresh, read, written and output tokens."""
    bill = price_session(session)
    return len(bill), [int(value.sum()) for value in (bill.fresh, bill.read, bill.written, bill.output)]


def loop(requests: list[Row | None], ids: list[str], names: list[str | None]) -> list[Row]:
    """Return a prompt and replies that each call a tool, with the outputs; the last reply is text alone."""
    rows = [user("u1", None, "Fix the parser.")]
    parent = "u1"
    for number, (used, name, request) in enumerate(zip(requests, ids, names, strict=True)):
        out = call(f"t{number}") if number < len(requests) - 1 else text("Done.")
        row = reply(f"a{number}", parent, out, model=SONNET, stop_reason="tool_use")
        row["message"] |= {"id": name} | ({} if used is None else {"usage": used})
        rows.append(row | ({} if request is None else {"requestId": request}))
        rows.append(user(f"r{number}", f"a{number}", [output(f"t{number}")]))
        parent = f"r{number}"
    return rows[:-1]


FIVE = [usage(2, 20_000 + 3_000 * number, 3_000, 50 + number) for number in range(5)]


@pytest.mark.parametrize("name", ["msg_same", "msg_proxy_stream", ""])
@pytest.mark.parametrize("requests", [[f"req_{n}" for n in range(5)], ["req"] * 5, [None] * 5])
def test_each_request_of_a_loop_is_billed_whatever_its_message_is_called(
    name: str, requests: list[str | None]
) -> None:
    """20,000 + 23,000 + 26,000 + 29,000 + 32,000 read, 5 x 3,000 written, 50 + 51 + 52 + 53 + 54 out."""
    session = read(*loop(FIVE, [name] * 5, requests))
    assert path(session) == ["u1", "a0", "r0", "a1", "r1", "a2", "r2", "a3", "r3", "a4"]
    assert sums(session) == (5, [10, 130_000, 15_000, 260])
    cost = price_session(session).cost
    assert cost is not None
    expected = (10 * 3 + 130_000 * 0.3 + 15_000 * 3.75 + 260 * 15) / 1e6
    assert cost.total == pytest.approx(expected, abs=1e-9)


def test_usage_that_is_completed_while_the_reply_streams_is_no_other_request() -> None:
    begun = {"id": "m", "model": SONNET}
    rows = [
        user("u1", None, "Hi."),
        reply("a1", "u1", text("One."), usage=usage(0, 0, 0, 0), **begun),
        reply("a2", "a1", text("Two."), usage=usage(900, 0, 0, 1), **begun),
        reply("a3", "a2", call("t1"), usage=usage(1_400, 0, 0, 30), stop_reason="tool_use", **begun),
    ]
    session = read(*rows)
    assert path(session) == ["u1", "a1"]
    assert sums(session) == (1, [1_400, 0, 0, 30])


PROMPTS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=5)


@given(PROMPTS, st.sampled_from(("m", "")), st.sampled_from((None, "req")), st.booleans())
def test_every_prompt_is_a_turn_and_every_reply_a_request(
    turns: list[tuple[int, int]], name: str, request_id: str | None, reported: bool
) -> None:
    """A gateway gives every message the same id, and may report the same figures for all requests."""
    rows: list[Row] = []
    parent: str | None = None
    for number, (fresh, extra) in enumerate(turns):
        used = usage(100 * fresh + 10, 0, 0, 5) if reported else usage(0, 0, 0, 0)
        rows.append(user(f"u{number}", parent, f"Prompt {number}"))
        parent = f"u{number}"
        for part in range(extra + 1):
            row = reply(f"a{number}.{part}", parent, text("!"), usage=used, stop_reason="end_turn")
            row["message"]["id"] = name
            rows.append(row | ({} if request_id is None else {"requestId": request_id}))
            parent = row["uuid"]
    session = read(*rows)
    assert len(session.turns) == len(turns)
    assert path(session) == [x for n in range(len(turns)) for x in (f"u{n}", f"a{n}.0")]
    if reported:
        fresh = sum(100 * value + 10 for value, _ in turns)
        assert sums(session) == (len(turns), [fresh, 0, 0, 5 * len(turns)])
