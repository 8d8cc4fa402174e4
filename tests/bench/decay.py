"""How facts fade over five compactions in a row: `make decay` writes the table, the figure, the numbers.

The longest real sessions, each lived from its beginning without the compactions it records and compacted at
five moments, an equal share of its tokens apart, by each of the package's policies that stores what it does,
once with the stand-in and once with `ExtractiveSummariser`. No model is asked and the replies are those of
the file, so
the evidence is `planned`. What the files record of their own compactions in a row stands beside it.
Two runs write the same bytes.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))

from inspector.facts.extract.collect import KINDS
from inspector.facts.facts import find_facts
from inspector.facts.trace import trace_recorded
from inspector.policies.registry import POLICIES
from inspector.replays.decay import Decay, DecayLine, Round, compact_rounds, measure_decay, strip_compactions
from inspector.summaries.extractive.summariser import ExtractiveSummariser
from inspector.tokens.ledger import count_tokens
from tests.bench import decay_page as page
from tests.bench.bench_survival import Case, read_cases
from tests.bench.decay_figure import draw_fading
from tests.bench.retention import COUNTER, LEFT_OUT, NOTEBOOKS

LONG = 200_000
"""Tokens that a session says in all, at least."""
ROUNDS = 5
FORMATS = ("Claude Code", "pi", "Flue")
DRAWN = ("flue-2", "pi", "claude-code", "codex", "anthropic-context-editing")
ALL = "all"


class Row(NamedTuple):
    """Facts of one kind after one of the compactions, and tokens of the context before and after it."""

    policy: str
    by: str
    session: str
    kind: str
    round: int
    done: int
    first: int
    kept: int
    silent: int
    silent_kept: int
    before: int
    after: int


def find_long(cases: Iterator[Case]) -> Iterator[Case]:
    """The sessions that are measured."""
    for case in cases:
        if case.harness in FORMATS and case.name not in LEFT_OUT:
            life = strip_compactions(case.session)
            if int(count_tokens(life, COUNTER).entry_tokens.sum()) >= LONG:
                yield case


def measure(case: Case) -> Iterator[Row]:
    """One row for each policy, summariser, moment and kind."""
    facts = find_facts(strip_compactions(case.session))
    for policy in POLICIES:
        for summariser in (None, ExtractiveSummariser(COUNTER)):
            decay = compact_rounds(
                case.session, policy, summariser, rounds=ROUNDS, counter=COUNTER, facts=facts
            )
            yield from _rows(case, decay)
            if all(move.checkpoint is None for move in decay.transitions):
                break


def _rows(case: Case, decay: Decay) -> Iterator[Row]:
    by = decay.by if any(move.checkpoint is not None for move in decay.transitions) else page.NOBODY
    for move, one, tokens in zip(decay.transitions, decay.rounds, decay.tokens, strict=True):
        for kind in KINDS:
            facts = (each.get(kind, 0) for each in (one.first, one.kept, one.silent, one.silent_kept))
            yield Row(decay.policy, by, case.name, kind, one.number, int(move.done), *facts, *tokens)


def pool(rows: Sequence[Row], kind: str = ALL, session: str = ALL) -> list[Row]:
    """The rows of one policy and summariser added up, one for each moment; tokens once for each session."""
    out = []
    for number in sorted({row.round for row in rows}):
        mine = [row for row in rows if row.round == number and session in (ALL, row.session)]
        each = {row.session: row for row in mine}.values()
        wanted = [row for row in mine if kind in (ALL, row.kind)]
        facts = (sum(getattr(row, name) for row in wanted) for name in Row._fields[6:10])
        tokens = (sum(getattr(row, name) for row in each) for name in Row._fields[10:])
        done = sum(row.done for row in each)
        out.append(Row(rows[0].policy, rows[0].by, session, kind, number, done, *facts, *tokens))
    return out


def group(rows: Sequence[Row]) -> dict[tuple[str, str], list[Row]]:
    """Rows by policy and summariser, where anything was compacted."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.policy, row.by), []).append(row)
    return {key: mine for key, mine in groups.items() if any(row.done for row in mine)}


def write_csv(rows: Sequence[Row]) -> str:
    """All sessions by kind, and every session with its kinds added up; a column for each moment."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    numbers = range(1, ROUNDS + 1)
    heads = [f"{name}_{number}" for name in ("kept", "silent", "tokens") for number in numbers]
    writer.writerow(["policy", "by", "session", "kind", "compacted", "first", "silent", *heads])
    for mine in group(rows).values():
        sessions = dict.fromkeys(row.session for row in mine)
        tables = [pool(mine, kind) for kind in KINDS]
        tables += [pool(mine, session=name) for name in sessions]
        for pooled in (*tables, pool(mine)):
            one = pooled[0]
            if one.first:
                done = sum(row.done for row in pooled)
                each = [row.kept for row in pooled] + [row.silent_kept for row in pooled]
                each += [row.after for row in pooled]
                writer.writerow(
                    [one.policy, one.by, one.session, one.kind, done, one.first, one.silent, *each]
                )
    return file.getvalue()


def read_line(rows: Sequence[Row], kind: str = ALL) -> DecayLine:
    """Pooled rows as a line."""
    pooled = pool(rows, kind)
    shares = (1.0, *(row.kept / row.first for row in pooled))
    return DecayLine(pooled[0].policy, pooled[0].by, shares, tuple(row.after for row in pooled))


def measure_recorded(cases: Sequence[Case]) -> dict[str, tuple[Round, ...]]:
    """By file, what its own compactions in a row left; those of two and more."""
    found = {case.name: measure_decay(trace_recorded(case.session, case.facts)) for case in cases}
    return {name: rounds for name, rounds in found.items() if len(rounds) > 1}


def write(folder: Path = NOTEBOOKS) -> None:
    """Measure, and write the files."""
    every = [case for case in read_cases() if case.name not in LEFT_OUT]
    cases = list(find_long(iter(every)))
    if not cases:
        sys.exit("The shared transcripts are not beside this checkout: nothing is measured, nothing written.")
    rows = [row for case in cases for row in measure(case)]
    groups = group(rows)
    still = [policy.name for policy in POLICIES if not any(policy.name == name for name, _ in groups)]
    lines = [read_line(groups[name, by]) for name in DRAWN for by in (ExtractiveSummariser.by, page.STAND_IN)]
    pooled = {key: (pool(mine), {kind: pool(mine, kind) for kind in KINDS}) for key, mine in groups.items()}
    text = page.write_page(
        pooled, [(case.name, case.harness) for case in cases], measure_recorded(every), still
    )
    (folder / "decay.csv").write_text(write_csv(rows), "utf-8", newline="\n")
    (folder / "decay.md").write_text(text, "utf-8", newline="\n")
    for name, dark in (("light", False), ("dark", True)):
        picture = draw_fading(lines, dark)
        (folder / "images" / f"decay-{name}.svg").write_text(picture, "utf-8", newline="\n")


if __name__ == "__main__":
    write()
    print("notebooks/decay.md, decay.csv, images/decay-light.svg, images/decay-dark.svg")
