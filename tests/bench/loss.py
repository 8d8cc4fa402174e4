"""What recorded compactions lose by where it stood, and what had to be paid for again: for `make benchmark`.

*Where it stood* is the kind of block that said a fact and could be read right before the compaction. One that
stood in several kinds of blocks counts in each of them; the second column counts those that stood in one kind
alone. *Paid for again* is what `inspector.find_regret` finds: a file read again, a command run again with the
same answer, an error met again, a rule that the user had to repeat.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from inspector.corpus.resample import Interval
from inspector.facts.extract.collect import BY
from inspector.facts.facts import Facts
from inspector.facts.outcomes import CODE, IN_FULL
from inspector.facts.regret import MEANS, Regret, find_regret, sum_regret
from inspector.facts.trace import trace_recorded
from inspector.facts.traced import Trace
from inspector.files import open_session
from inspector.session.session import Session
from inspector.tokens.counter import Longs
from inspector.tokens.ledger import count_tokens
from inspector.tokens.prices import add_money
from tests.bench.shares import pool, shorten, tell_share

CARRIERS = (
    *("user text", "assistant text", "reasoning", "tool input", "tool output"),
    "text of the harness or a sub-agent",
)
BY_BLOCK = {"reasoning": "reasoning", "tool_call": "tool input", "tool_output": "tool output"}
BY_SPEAKER = {"user": "user text", "model": "assistant text"}
"""Whose a text is; an attached file is of the harness."""
SUMMARY = "an earlier summary"
"""Where a fact stood that no block still said."""
KEPT = tuple(CODE[name] for name in IN_FULL)


class Carried(NamedTuple):
    """Of the facts that stood in one carrier before one recorded compaction: how many, and how many kept."""

    carrier: str
    alone: bool
    session: str
    stood: int
    kept: int


class PaidAgain(NamedTuple):
    """What was needed again after the readable compactions of one session."""

    session: str
    regrets: tuple[Regret, ...]


def find_carriers(session: Session, facts: Facts) -> Longs:
    """int64: the carrier of every occurrence, as an index into CARRIERS."""
    found = []
    for entry, block, by in zip(facts.entry.tolist(), facts.block.tolist(), facts.by.tolist(), strict=True):
        kind = session.entries[entry].blocks[block].kind
        name = BY_BLOCK.get(kind) or BY_SPEAKER.get(BY[by], CARRIERS[-1])
        found.append(CARRIERS.index(name))
    return np.array(found, np.int64)


def measure_carriers(path: Path) -> Iterator[Carried]:
    """Where the facts stood before each compaction of a file whose summary can be read, and what is kept."""
    session = open_session(path)
    facts = session.facts
    carriers = find_carriers(session, facts)
    for trace in trace_recorded(session, facts):
        if trace.scene.tier == "recorded":
            yield from tally_carriers(trace, facts, carriers, path.name)


def tally_carriers(trace: Trace, facts: Facts, carriers: Longs, name: str) -> Iterator[Carried]:
    """How many of the facts in each carrier, and in it alone, stand after; `facts` are the trace's."""
    moment = trace.scene.session
    # A moment has the entries of its session up to there.
    early = facts.entry < len(moment.entries)
    start = np.asarray(moment.tree.start)
    rows = start[facts.entry[early]] + facts.block[early]
    standing = np.zeros(len(facts.fact), bool)
    standing[early] = trace.scene.before.rows[rows]
    places = np.zeros((len(facts), len(CARRIERS)), bool)
    places[facts.fact[standing], carriers[standing]] = True
    stood = trace.stood & (trace.outcome != CODE["superseded"])
    mine, kept = places[trace.number[stood]], np.isin(trace.outcome[stood], KEPT)
    many = mine.sum(1)
    for at, carrier in enumerate(CARRIERS):
        for alone in (False, True):
            these = mine[:, at] & ((many == 1) if alone else True)
            yield Carried(carrier, alone, name, int(these.sum()), int((these & kept).sum()))
    yield Carried(SUMMARY, True, name, int((many == 0).sum()), int(((many == 0) & kept).sum()))


def pool_carried(rows: Iterable[Carried], carrier: str, alone: bool) -> Interval:
    """The share kept of what stood in a carrier, with its interval by session; none of fewer than FEW."""
    return pool(
        (row.session, row.stood, row.kept) for row in rows if (row.carrier, row.alone) == (carrier, alone)
    )


def measure_regret(path: Path) -> PaidAgain:
    """What a file's readable compactions took away and was needed again."""
    session = open_session(path)
    facts = session.facts
    named = {
        trace.scene.entry.id
        for trace in trace_recorded(session, facts)
        if trace.scene.tier == "recorded" and trace.scene.entry is not None
    }
    regrets = find_regret(session, facts, count_tokens(session))
    return PaidAgain(path.name, tuple(regret for regret in regrets if regret.entry in named))


def list_carriers(rows: Sequence[Carried]) -> list[dict[str, Any]]:
    """What is kept by carrier, for the leaderboard."""
    return [
        {
            "carrier": carrier,
            "alone": alone,
            "stood": sum(r.stood for r in rows if (r.carrier, r.alone) == (carrier, alone)),
            "kept": shorten(pool_carried(rows, carrier, alone)),
        }
        for carrier in (*CARRIERS, SUMMARY)
        for alone in ((True,) if carrier == SUMMARY else (False, True))
    ]


def list_regret(rows: Sequence[PaidAgain]) -> list[dict[str, Any]]:
    """What was paid for again by kind, and in all, for the leaderboard.

    `cost` is in `currency`, the least that those of them cost whose price is known; `unpriced` counts the
    others. A block that two of them paid for is counted once in a row.
    """
    found: list[dict[str, Any]] = []
    for kind in (*MEANS, "all"):
        mine = [[r for r in row.regrets if kind in (r.fact.kind, "all")] for row in rows]
        priced = [[r for r in regrets if r.money is not None] for regrets in mine]
        money = add_money([sum_regret(regrets)[1] for regrets in priced if regrets])
        again = sum(map(len, mine))
        found.append(
            {
                "kind": kind,
                "again": again,
                "sessions": sum(bool(regrets) for regrets in mine),
                "tokens": sum(sum_regret(regrets)[0] for regrets in mine),
                "cost": None if money is None else round(float(money.amount), 4),
                "currency": None if money is None else money.currency,
                "unpriced": again - sum(map(len, priced)),
            }
        )
    return found


def _tell_cost(cost: float | None, currency: str | None) -> str:
    if cost is None:
        return "–"
    return f"below {currency} 0.01" if cost < 0.01 else f"{currency} {cost:.2f}"


def tell_carriers(rows: Sequence[dict[str, Any]]) -> list[list[str]]:
    """The lines of the page's table: carrier, facts that stood there, kept, and the same for it alone."""
    lines = []
    for carrier in (*CARRIERS, SUMMARY):
        cells = []
        for alone in (False, True):
            row = next((r for r in rows if (r["carrier"], r["alone"]) == (carrier, alone)), None)
            cells += ["–", "–"] if row is None else [f"{row['stood']:,}", tell_share(Interval(*row["kept"]))]
        lines.append([carrier, *cells])
    return lines


def tell_regret(rows: Sequence[dict[str, Any]]) -> list[list[str]]:
    """The lines of the page's table: what was needed again, times, sessions, tokens, price."""
    return [
        [
            f"{row['kind']}, {MEANS[row['kind']]}" if row["kind"] in MEANS else "all",
            f"{row['again']}",
            f"{row['sessions']}",
            f"{row['tokens']:,}",
            _tell_cost(row["cost"], row["currency"]),
        ]
        for row in rows
    ]
