"""A refusal that the file records, in a replay whose context is that of the file or a smaller one."""

from __future__ import annotations

import pytest

from inspector.policies.harness import Harness
from inspector.policies.trigger import Trigger
from inspector.replays.run import Run
from inspector.session.entries import Entry
from inspector.session.session import Session
from tests.replays.test_engine import WINDOW, kinds, live, make_policy, talk, turns

REFUSED = "prompt is too long: 210 tokens > 200 maximum"


def refused_at(where: int, count: int, **fields: str) -> Session:
    """So many turns of ten words, and a reply before entry `where` that the provider refused."""
    entries = list(turns(count).entries)
    reply = Entry(id="", role="assistant", stop_reason="error", error=REFUSED, **fields)  # type: ignore[arg-type]
    return talk(*entries[:where], reply, *entries[where:])


def refusals(run: Run) -> list[str]:
    return kinds(run, "token_overflow")


@pytest.mark.parametrize("recover", [True, False])
def test_S2_21_what_a_compaction_made_smaller_is_not_refused_again(recover: bool) -> None:
    """Ten turns and the eleventh's question are 104 words where the file says that they were too long."""
    session = refused_at(21, 12)
    conduct = Harness(recover=recover)
    lived = live(session, make_policy(conduct=conduct))
    assert [item.reason for item in lived.adopted] == ["auto"]
    assert refusals(lived) == []
    # The same file where nothing was compacted before: the provider refuses what it refused.
    off = make_policy(Trigger(enabled=False), conduct)
    unchanged = live(session, off, window=3 * WINDOW)
    assert refusals(unchanged) == ["token_overflow"]
    assert [item.reason for item in unchanged.adopted] == (["overflow"] if recover else [])


def test_S0_100_a_refusal_is_told_with_who_refused() -> None:
    """The maker and the model of the refused reply where it names them, else those of the reply before."""
    off = make_policy(Trigger(enabled=False))
    told = {}
    for fields in ({}, {"provider": "p2"}, {"model": "m2"}, {"provider": "p2", "model": "m2"}):
        session = refused_at(5, 4, **fields)
        entries = [
            entry.model_copy(update={"provider": "p1", "model": "m1"})
            if entry.role == "assistant" and entry.error is None
            else entry
            for entry in session.entries
        ]
        run = live(session.model_copy(update={"entries": tuple(entries)}), off)
        first = next(event for event in run.events if event.kind == "token_overflow")
        told[tuple(fields)] = (first.provider, first.model)
    assert told == {
        (): ("p1", "m1"),
        ("provider",): ("p2", "m1"),
        ("model",): ("p1", "m2"),
        ("provider", "model"): ("p2", "m2"),
    }
