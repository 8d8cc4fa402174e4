"""What survived each compaction that the shared transcripts record: facts by harness, kind and evidence.

Three kinds of evidence stand in rows of their own and are never added up: `recorded` is what the file itself
holds; `inferred` what nothing readable says, where the summary is sealed; `planned` what our policy of the
same harness, with its stand-in for a summary, would have left at the same moments. A fact counts once for
every compaction before which it could be read. `kept` is the share of those that stand in full, verbatim or
quoted. Codex, opencode and Cline are read by `foreign.py`, not by the package.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))

from inspector.facts.extract.collect import KINDS
from inspector.facts.facts import Facts, find_facts
from inspector.facts.outcomes import IN_FULL, OUTCOMES
from inspector.facts.trace import trace_facts, trace_recorded
from inspector.facts.traced import TIERS, Trace
from inspector.formats.readers import read_session
from inspector.planning.planner import make_plan
from inspector.session.session import Session
from inspector.tokens.ledger import count_tokens
from tests.bench.foreign import read_others
from tests.shared import SHARED

SESSIONS = SHARED / "sessions"
OURS = (
    ("Claude Code", ("claude-code*/*.jsonl", "growth*/*.jsonl", "inspect--inspect_scout/cc-*.jsonl")),
    ("pi", ("pi*/*.jsonl",)),
    ("Flue", ("flue/*.json",)),
)
POLICY = {"Claude Code": "claude-code", "pi": "pi", "Flue": "flue", "Codex": "codex"}
"""The policy of ours that is each harness's own."""
AGAIN = {"Flue": "the transcript of pi in another form"}
COLUMNS = f"  stood{''.join(f'{name:>13}' for name in OUTCOMES)}   kept"


class Case(NamedTuple):
    """One file."""

    harness: str
    name: str
    session: Session
    facts: Facts


def read_cases(sessions: Path = SESSIONS) -> Iterator[Case]:
    """Every file that may record compactions, the package's formats first."""
    for harness, patterns in OURS:
        for path in sorted(path for pattern in patterns for path in sessions.glob(pattern)):
            session = read_session(path.read_bytes(), path.name)
            yield Case(harness, path.name, session, find_facts(session))
    for harness, name, session in read_others(sessions):
        yield Case(harness, name, session, find_facts(session))


class Tally:
    """Facts by (tier, kind) and outcome, and all that stood before by kind."""

    def __init__(self) -> None:
        self.outcomes: Counter[tuple[str, str, str]] = Counter()
        self.compactions = 0

    def add(self, trace: Trace) -> None:
        self.compactions += 1
        self.outcomes.update((t.tier, t.fact.kind, t.outcome) for t in trace if t.stood)

    def row(self, tier: str, kinds: tuple[str, ...]) -> dict[str, int]:
        return {outcome: sum(self.outcomes[tier, kind, outcome] for kind in kinds) for outcome in OUTCOMES}

    def stood(self, kinds: tuple[str, ...]) -> int:
        return sum(sum(self.row(tier, kinds).values()) for tier in TIERS)


def show(row: dict[str, int], stood: int) -> str:
    """The figures of a row; `kept` is a share of all that stood, whatever the evidence."""
    kept = sum(row[outcome] for outcome in IN_FULL)
    numbers = "".join(f"{row[outcome]:>13,}" for outcome in OUTCOMES)
    return f"{sum(row.values()):>7,}{numbers}{kept / stood:>7.1%}" if stood else ""


def tabulate(tally: Tally) -> Iterator[tuple[str, str]]:
    for kind in (*KINDS, "all kinds"):
        kinds = KINDS if kind == "all kinds" else (kind,)
        for tier in TIERS:
            if any((row := tally.row(tier, kinds)).values()):
                yield f"  {kind}, {tier}", show(row, tally.stood(kinds))


def plan_like(case: Case, trace: Trace) -> Trace | None:
    """The trace of our policy of the same harness at the same moment; None where there is none."""
    if case.harness not in POLICY:
        return None
    ledger = count_tokens(case.session)
    plan = make_plan(trace.scene.session, ledger, POLICY[case.harness], reason="manual")
    return trace_facts(case.facts, plan)


def run() -> Iterator[tuple[str, str]]:
    if not SESSIONS.exists():
        yield "survival", "not measured: the shared transcripts are not beside this checkout"
        return
    recorded: dict[str, Tally] = {}
    planned: dict[str, Tally] = {}
    for case in read_cases():
        traces = trace_recorded(case.session, case.facts)
        for number, trace in enumerate(traces, 1):
            recorded.setdefault(case.harness, Tally()).add(trace)
            one = Tally()
            one.add(trace)
            for tier in TIERS:
                if any((row := one.row(tier, KINDS)).values()):
                    label = f"{case.harness}, {case.name}, {number} of {len(traces)}, {tier}"
                    yield label, show(row, one.stood(KINDS))
            if not one.stood(KINDS):
                yield f"{case.harness}, {case.name}, {number} of {len(traces)}", "no facts stood before"
            if (like := plan_like(case, trace)) is not None:
                planned.setdefault(case.harness, Tally()).add(like)
    for harness, tally in recorded.items():
        many = "1 compaction" if tally.compactions == 1 else f"{tally.compactions} compactions"
        yield "", ""
        yield f"{harness}: {AGAIN.get(harness, many)}", COLUMNS
        yield from tabulate(tally)
        if harness in planned:
            yield f"  the policy {POLICY[harness]} at the same moments", COLUMNS
            yield from tabulate(planned[harness])


if __name__ == "__main__":
    for label, value in run():
        print(f"{label:<66} {value}")
