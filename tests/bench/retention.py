"""Retention by kind and policy on real sessions: `make retention` writes the table, the figures, the numbers.

Every session that was full enough, at its fullest moment, under each of the package's policies: how many of
the facts that could be read has which outcome. No model is asked, so
a summary is the deterministic stand-in, and the evidence is `planned`. What the same files record of their
own compactions stands beside it, as `recorded` or `inferred`. Two runs write the same bytes.
"""

from __future__ import annotations

import csv
import io
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))

from inspector.corpus.columns import COUNTED, sum_kept
from inspector.facts.extract.collect import KINDS
from inspector.facts.trace import trace_facts, trace_recorded
from inspector.facts.traced import TIERS, Trace
from inspector.planning.planner import make_plan
from inspector.policies.policy import Policy
from inspector.policies.registry import POLICIES
from inspector.tokens.history import trace_history
from inspector.tokens.ledger import Ledger, count_tokens
from tests.bench import retention_page as page
from tests.bench.bench_survival import Case, read_cases
from tests.bench.retention_figure import Lane, draw_retention

FULL = 100_000
"""Tokens that the provider reported at a session's fullest moment, at least."""
LEFT_OUT = {
    "before-compaction.session.json": "the transcript of pi in another form",
    "step04-689l.jsonl": "an earlier state of step08-1350l.jsonl",
    "opencode-3compactions-65msgs.json": "real format, made-up content",
}
FEW = 20
"""Facts of a kind below which a share would say little."""
COUNTER = "o200k_base"
PLANNED, RECORDED = "planned", "recorded"
NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


class Row(NamedTuple):
    """Facts of one kind that stood before, by outcome as in COUNTED; tokens of the context before and after.

    `session` and `kind` may be "all". `by` is a policy, or the harness that wrote the file.
    """

    tier: str
    by: str
    session: str
    kind: str
    outcomes: tuple[int, ...]
    before: int
    after: int

    @property
    def stood(self) -> int:
        return sum(self.outcomes)

    @property
    def kept(self) -> int:
        return sum_kept(self.outcomes)


class Full(NamedTuple):
    """A session at its fullest moment."""

    case: Case
    ledger: Ledger
    at: str
    tokens: int


def find_full(cases: Iterator[Case]) -> Iterator[Full]:
    """The sessions that are measured."""
    for case in cases:
        if case.name in LEFT_OUT:
            continue
        ledger = count_tokens(case.session, COUNTER)
        fullest = trace_history(case.session, ledger).fullest
        if fullest is not None and fullest.tokens >= FULL:
            yield Full(case, ledger, fullest.at, fullest.tokens)


def count_outcomes(trace: Trace, kind: str, tier: str | None = None) -> tuple[int, ...]:
    tally = Counter[str](
        t.outcome for t in trace if t.stood and t.fact.kind == kind and (tier is None or t.tier == tier)
    )
    return tuple(tally[outcome] for outcome in COUNTED)


def measure_plans(full: Full, policies: Sequence[Policy] = POLICIES) -> Iterator[Row]:
    """One row for each policy and kind."""
    moment = full.case.session.at(full.at)
    for policy in policies:
        plan = make_plan(moment, full.ledger, policy, reason="manual")
        trace = trace_facts(full.case.facts, plan)
        for kind in KINDS:
            # A summary that an earlier compaction left in the file is read as it is; the plan is planned.
            outcomes = count_outcomes(trace, kind)
            yield Row(PLANNED, policy.name, full.case.name, kind, outcomes, plan.before, plan.after)


def measure_recorded(full: Full) -> Iterator[Row]:
    """One row for each recorded compaction, kind and kind of evidence."""
    session, ledger = full.case.session, full.ledger
    for number, trace in enumerate(trace_recorded(session, full.case.facts), 1):
        assert trace.scene.entry is not None
        before, after = (
            ledger.count_context(at) for at in (trace.scene.session, session.at(trace.scene.entry.id))
        )
        name = f"{full.case.name} #{number}"
        for tier in ("recorded", "inferred"):
            for kind in KINDS:
                outcomes = count_outcomes(trace, kind, tier)
                if any(outcomes):
                    yield Row(tier, full.case.harness, name, kind, outcomes, before, after)


def pool(rows: Sequence[Row], kinds: Sequence[str] = KINDS, session: str = "all") -> Row:
    """Rows of one tier added up; tokens once for each session."""
    mine = [row for row in rows if row.kind in kinds]
    tokens = {row.session: (row.before, row.after) for row in rows}
    before, after = (sum(pair[at] for pair in tokens.values()) for at in (0, 1))
    outcomes = tuple(sum(row.outcomes[at] for row in mine) for at in range(len(COUNTED)))
    kind = kinds[0] if len(kinds) == 1 else "all"
    return Row(rows[0].tier, rows[0].by, session, kind, outcomes, before, after)


def group(rows: Sequence[Row]) -> dict[tuple[str, str], list[Row]]:
    """Rows by (tier, policy or harness), as they come."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.tier, row.by), []).append(row)
    return groups


def order_plans(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """The rows by policy, the policy that leaves the most first."""
    planned = {by: mine for (tier, by), mine in group(rows).items() if tier == PLANNED}
    return dict(sorted(planned.items(), key=lambda item: (-pool(item[1]).after, item[0])))


def write_csv(rows: Sequence[Row]) -> str:
    """All sessions by kind, and every session with its kinds added up."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["tier", "by", "session", "kind", "stood", *COUNTED, "tokens_before", "tokens_after"])
    for mine in group(rows).values():
        sessions = dict.fromkeys(row.session for row in mine)
        pooled = [pool(mine, (kind,)) for kind in KINDS]
        pooled += [pool([row for row in mine if row.session == name], session=name) for name in sessions]
        for row in (*pooled, pool(mine)):
            counts = (row.stood, *row.outcomes, row.before, row.after)
            writer.writerow([row.tier, row.by, row.session, row.kind, *counts])
    return file.getvalue()


def write_page(fulls: Sequence[Full], rows: Sequence[Row]) -> str:
    planned = order_plans(rows)
    recorded = {key: mine for key, mine in group(rows).items() if key[0] != PLANNED}
    some = next(iter(planned.values()))
    stood = {kind: pool(some, (kind,)).stood for kind in KINDS}
    shown = [kind for kind in KINDS if stood[kind] >= FEW]
    names = [full.case.name for full in fulls]
    shown_outcomes = find_outcomes(rows)
    out = [page.TOP.format(sessions=len(fulls), facts=sum(stood.values()), counter=COUNTER)]
    out += ["## By policy (planned)", ""]
    out += page.table(
        ["policy", "acts in", "tokens left", *shown_outcomes, "kept"],
        [*page.by_policy(planned, names, pool, shown_outcomes)],
    )
    out += ["## Kept by kind (planned)", ""]
    kept = [
        [by, *(page.share(pool(mine, (k,)).kept, stood[k]) for k in shown)] for by, mine in planned.items()
    ]
    out += page.table(["policy", *(f"{kind} ({stood[kind]:,})" for kind in shown)], kept)
    out += [f"In brackets: facts that could be read before; kinds with fewer than {FEW} are not shown.", ""]
    out.append(page.RECORDED)
    heads = ["harness", "evidence", "compactions", "tokens left", "facts", *shown_outcomes, "kept"]
    out += page.table(heads, [*page.by_harness(recorded, pool, shown_outcomes)], 2)
    out += ["Of each kind stands for certain:", ""]
    out += page.table(["harness", *shown], [*page.kept_of_kinds(recorded, shown, FEW, pool)])
    out += ["## The sessions", ""]
    heads = ["file", "harness", "tokens at the fullest", "compactions", "facts in all"]
    out += page.table(heads, [describe(full) for full in fulls], 2)
    left = "; ".join(f"`{name}` ({why})" for name, why in sorted(LEFT_OUT.items()))
    out.append(page.BOTTOM.format(full=FULL, left=left))
    return "\n".join(out)


def find_outcomes(rows: Sequence[Row]) -> list[str]:
    """The outcomes that any fact has, in order."""
    return [name for at, name in enumerate(COUNTED) if any(row.outcomes[at] for row in rows)]


def describe(full: Full) -> list[str]:
    session = full.case.session
    path = (session.entries[i] for i in session.path)
    number = sum(entry.kind == "compaction" for entry in path)
    facts = f"{len(full.case.facts):,}"
    return [f"`{full.case.name}`", full.case.harness, f"{full.tokens:,}", str(number), facts]


def write(folder: Path = NOTEBOOKS) -> None:
    """Measure, and write the files."""
    fulls = list(find_full(read_cases()))
    if not fulls:
        sys.exit("The shared transcripts are not beside this checkout: nothing is measured, nothing written.")
    rows = [row for full in fulls for row in measure_plans(full)]
    rows += [row for full in fulls for row in measure_recorded(full)]
    planned = order_plans(rows)
    recorded = {by: mine for (tier, by), mine in group(rows).items() if tier == RECORDED}
    inferred = {by: mine for (tier, by), mine in group(rows).items() if tier == TIERS[2]}
    (folder / "retention.csv").write_text(write_csv(rows), "utf-8", newline="\n")
    (folder / "retention.md").write_text(write_page(fulls, rows), "utf-8", newline="\n")
    lanes = merge_lanes(planned)
    lanes += [
        (
            by,
            RECORDED,
            [_both(mine, inferred.get(by), (kind,)) for kind in KINDS],
            _both(mine, inferred.get(by)),
        )
        for by, mine in recorded.items()
    ]
    for name, dark in (("light", False), ("dark", True)):
        picture = draw_retention(lanes, find_outcomes(rows), dark, FEW)
        (folder / "images" / f"retention-{name}.svg").write_text(picture, "utf-8", newline="\n")


def merge_lanes(planned: dict[str, list[Row]]) -> list[Lane]:
    """A lane for each policy; those that leave the same share one."""
    names: dict[tuple[tuple[int, ...], ...], list[str]] = {}
    for by, mine in planned.items():
        names.setdefault(tuple((*row.outcomes, row.after) for row in mine), []).append(by)
    return [
        (
            ", ".join(same),
            PLANNED,
            [pool(planned[same[0]], (kind,)) for kind in KINDS],
            pool(planned[same[0]]),
        )
        for same in names.values()
    ]


def _both(mine: Sequence[Row], sealed: Sequence[Row] | None, kinds: Sequence[str] = KINDS) -> Row:
    """The recorded rows, with the facts that a sealed summary may hold as unknown."""
    row = pool(mine, kinds)
    unknown = pool(sealed, kinds).stood if sealed else 0
    return row._replace(outcomes=(*row.outcomes[:-1], row.outcomes[-1] + unknown))


if __name__ == "__main__":
    write()
    print("notebooks/retention.md, retention.csv, images/retention-light.svg, images/retention-dark.svg")
