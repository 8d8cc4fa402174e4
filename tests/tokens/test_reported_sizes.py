"""Sizes that disagree with other figures of a file: a usage's total, and the size before a compaction."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inspector import live_context, make_plan, price_session, read_session, replay
from inspector.session.session import Session
from inspector.tokens.history import trace_history
from inspector.tokens.ledger import count_tokens
from inspector.tokens.models import window_of

M = 1_000_000
TIME = "2026-09-01T10:00:00.000Z"


def pi_session(turns: int, calls: int, *, total: bool = True) -> Session:
    """Return replies of several calls each: cache reads are sums, `totalTokens` is the context."""
    rows: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": "s", "cwd": "/w", "timestamp": TIME}
    ]
    context, free = 9_000, dict.fromkeys(("input", "output", "cacheRead", "cacheWrite", "total"), 0)

    def add(**message: Any) -> None:
        number, parent = f"{len(rows):08x}", rows[-1]["id"] if len(rows) > 1 else None
        rows.append({"type": "message", "id": number, "parentId": parent, "timestamp": TIME})
        rows[-1]["message"] = message | {"timestamp": 1}

    for turn in range(turns):
        add(role="user", content=f"step {turn} " + "alpha beta gamma " * 1_000)
        context += 13_000
        used = {"input": 12, "output": 10_000, "cacheRead": calls * (context - 10_012), "cacheWrite": 3_000}
        add(
            role="assistant",
            content=[{"type": "text", "text": "delta epsilon " * 5_000}],
            provider="anthropic",
            model="claude-opus-4-8",
            usage=used | {"totalTokens": context if total else 0, "cost": free},
            stopReason="stop",
        )
    return read_session("\n".join(map(json.dumps, rows)).encode())


def test_the_total_is_the_context_wherever_a_size_is_shown() -> None:
    session = pi_session(12, 6)
    after = 9_000 + 12 * 13_000
    ledger = count_tokens(session)
    assert live_context(session, ledger).tokens == pytest.approx(after, abs=1)
    assert make_plan(session, ledger, "pi", window=300_000).before == pytest.approx(after, abs=1)
    assert int(trace_history(session, ledger).reported.max()) == after
    assert len(replay(session, "pi", window=300_000).compactions) == 0
    assert window_of(session).tokens == M, "960,000 tokens are a sum of reads, not one context"


def test_the_bill_still_charges_the_parts() -> None:
    session = pi_session(3, 6)
    read = sum(6 * (9_000 + 13_000 * turn - 10_012) for turn in (1, 2, 3))
    bill = price_session(session)
    assert bill.cost is not None and int(bill.read.sum()) == read
    by_hand = 3 * 12 * 5 + read * 0.50 + 9_000 * 6.25 + 30_000 * 25
    assert bill.cost.total == pytest.approx(by_hand / M)
    assert not any("cache was rebuilt" in note for note in bill.notes)
