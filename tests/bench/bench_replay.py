"""How long it takes to live a session again: a real one under many policies, a long one under one.

Goals: 1,350 entries under 10 policies in 2 s; 100,000 messages under one in 5 s; cost in a line with the
session. The ledger is counted beforehand. The long session tells no usage, so that every context is counted,
and its window is 200,000 tokens. A tenth of it ends before that was filled a tenth as often: so the number
of compactions, and how it grew, stand beside the time. A policy that edits requests in flight plans each of
those that it has anything to do in, a third of them here: it may take 30 s for 100,000 messages.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from functools import partial

from bench_count import clock
from long_session import SIZE, make_messages, make_session
from outside import SHARED

from inspector.files import open_session
from inspector.policies.registry import POLICIES
from inspector.replays.engine import replay
from inspector.replays.run import Run
from inspector.session.garbage import paused_gc
from inspector.session.session import Session
from inspector.tokens.history import trace_history
from inspector.tokens.ledger import count_tokens

GROWTH = SHARED / "sessions" / "growth-series--entireio-cli" / "step08-1350l.jsonl"
LONG = ("keep-recent-turns", "flue", "claude-code-analysis", "anthropic-context-editing")
WINDOW, ROUNDS = 200_000, 3


def without_usage(session: Session) -> Session:
    """The session as if no provider had reported anything."""
    fields = {name: getattr(session, name) for name in Session.model_fields}
    entries = tuple(entry.model_copy(update={"usage": None}) for entry in session.entries)
    return Session.model_construct(**(fields | {"entries": entries}))


def run() -> Iterator[tuple[str, str]]:
    yield from time_policies()
    names = [name for name in LONG if any(policy.name == name for policy in POLICIES)]
    before: dict[str, tuple[float, int]] = {}
    for size in (SIZE // 100, SIZE // 10, SIZE):
        with paused_gc():
            session = without_usage(make_session(make_messages(size)))
            ledger = count_tokens(session)
            history = trace_history(session, ledger)
        for name in names:
            live = partial(replay, session, name, ledger=ledger, history=history, window=WINDOW)
            runs: list[Run] = []
            seconds = clock(lambda live=live, runs=runs: runs.append(live()))
            compactions = len(runs[0].compactions)
            value = f"{seconds:.2f} s, {compactions} compactions"
            if name in before:
                less, fewer = before[name]
                value += f"; {seconds / less:.1f}x and {compactions / max(fewer, 1):.1f}x the tenth of it"
            before[name] = seconds, compactions
            yield f"{size:,} messages under {name}", value


def time_policies() -> Iterator[tuple[str, str]]:
    """A real session under all policies, and under the ten that take longest."""
    if not GROWTH.exists():
        yield "a real session of 1,350 entries", "not measured: it is not beside this checkout"
        return
    session = open_session(GROWTH)
    ledger = count_tokens(session, "calibrated")
    each = {}
    for policy in POLICIES:
        live = partial(replay, session, policy, ledger=ledger)
        each[policy.name] = statistics.median(clock(live) for _ in range(ROUNDS))
    slowest = sorted(each, key=lambda name: each[name])[-10:]
    yield "a real session of 1,350 entries, ledger counted", f"{len(session.entries):,} entries"
    yield "  under all policies", f"{sum(each.values()):.2f} s"
    yield "  under the 10 slowest", f"{sum(each[name] for name in slowest):.2f} s"
    yield f"  the slowest, {slowest[-1]}", f"{each[slowest[-1]]:.2f} s"


if __name__ == "__main__":
    for label, value in run():
        print(f"{label:<64} {value:>22}")
