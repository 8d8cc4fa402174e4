"""List the recorded compactions of a session, with the facts missing in each and their cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, overload

from ..mixins import Framed
from ..redaction.cut import cut_text
from ..session.queries import find_move
from ..session.session import Session
from ..session.tree import COMPACTION, MICRO
from ..text import html_table, plural, printable, printed
from ..tokens.ledger import Ledger, count_tokens
from ..tokens.memo import Memo, Same
from ..tokens.recorded_sizes import find_recorded_sizes
from .lint.check import LOSSES, check_trace
from .outcomes import CODE
from .regret import Regret, find_regret, sum_regret
from .trace import trace_moves
from .traced import Trace, TracedFact

HEADINGS = (
    *("", "turn", "trigger", "before", "after", "files", "rules", "to-dos", "errors", "changed"),
    *("needed again", "summary"),
)


class CompactionRow(NamedTuple):
    """A recorded compaction or clearing.

    Attributes:
        number: Its place in the list, from 1.
        kind: "compact", or "micro" for outputs that were cleared in place.
        entry: The id of the entry that records it.
        turn: Its turn, from 1; 0 before the first.
        time: When, as the file says it; None if it does not.
        trigger: Its cause as recorded in the file, such as "auto"; "" if the file does not record one.
        before, after: Tokens of the context around it; `before` is None if the file begins with it.
        source: Where `after` comes from: "reported", "counted" or "predicted".
        files, rules, todos, errors: Facts missing in it, as `lint` and the screen find them: changed files,
            rules, open to-dos, and failures of the last check.
        changed: Facts that the summary gives with another value, or contradicts.
        unknown: Facts whose outcome is unknown because the summary is encrypted or missing.
        needed_again: Re-reads, re-runs and restated rules after it.
        needed_tokens: Their tokens.
        summary: Tokens of the summary; 0 without a readable one.
        missing: The facts behind these counts, those with another value first.
        trace: The outcome of every fact said before it.
    """

    number: int
    kind: str
    entry: str
    turn: int
    time: str | None
    trigger: str
    before: int | None
    after: int
    source: str
    files: int
    rules: int
    todos: int
    errors: int
    changed: int
    unknown: int
    needed_again: int
    needed_tokens: int
    summary: int
    missing: tuple[TracedFact, ...]
    trace: Trace

    @property
    def harm(self) -> tuple[int, int]:
        """Facts missing or changed, and tokens spent to get facts back: the order of harm."""
        return self.files + self.rules + self.todos + self.errors + self.changed, self.needed_tokens

    def __repr__(self) -> str:
        before = "?" if self.before is None else f"{self.before:,}"
        missing = plural(self.harm[0], "fact")
        return (
            f"CompactionRow({self.number}, turn {self.turn}: {before} -> {self.after:,} tokens "
            f"{self.source}; {missing} missing or changed)"
        )


class CompactionTable(Framed, Sequence[CompactionRow]):
    """The recorded compactions and clearings of a session's path, in order; shown as a table.

    >>> from inspector import open_demo
    >>> compactions: CompactionTable = open_demo().compactions
    >>> compactions.worst.number, compactions.worst.trigger
    (1, 'auto')
    """

    def __init__(self, rows: Sequence[CompactionRow]) -> None:
        self._rows = tuple(rows)

    @overload
    def __getitem__(self, index: int) -> CompactionRow: ...
    @overload
    def __getitem__(self, index: slice) -> CompactionTable: ...
    def __getitem__(self, index: int | slice) -> CompactionRow | CompactionTable:
        return CompactionTable(self._rows[index]) if isinstance(index, slice) else self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def worst(self) -> CompactionRow:
        """The row with the most harm. Raises `ValueError` if the table is empty."""
        if not self._rows:
            raise ValueError("this session records no compaction")
        return max(self._rows, key=lambda row: row.harm)

    def to_columns(self) -> dict[str, list[Any]]:
        """Return the fields of `CompactionRow` as columns, without the traces."""
        names = [name for name in CompactionRow._fields if name not in ("missing", "trace")]
        return {name: [getattr(row, name) for row in self] for name in names}

    def _cells(self) -> list[tuple[str, ...]]:
        return [
            (
                *(str(row.number), str(row.turn), _name_trigger(row)),
                "?" if row.before is None else f"{row.before:,}",
                f"{row.after:,} {row.source}",
                *(_count(row, number) for number in (row.files, row.rules, row.todos, row.errors)),
                _count(row, row.changed),
                f"{row.needed_again:,} ({row.needed_tokens:,} tokens)" if row.needed_again else "0",
                f"{row.summary:,}" if row.summary else "-",
            )
            for row in self
        ]

    @printed
    def __repr__(self) -> str:
        if not self._rows:
            return "This session records no compaction."
        lines = [HEADINGS, *self._cells()]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in lines
        )

    def _repr_html_(self) -> str:
        return html_table(HEADINGS, self._cells(), numbers=range(len(HEADINGS)))


def _name_trigger(row: CompactionRow) -> str:
    """Return the cause of a compaction, with a note if it only cleared outputs."""
    words = [printable(cut_text(row.trigger, 20))] if row.trigger else []
    return ", ".join([*words, *(["clearing"] if row.kind == "micro" else [])]) or "-"


def _count(row: CompactionRow, number: int) -> str:
    """A count of facts; "?" if the summary cannot be read."""
    return "?" if row.unknown and not number else str(number)


_TABLES: Memo[CompactionTable] = Memo(1)


def list_compactions(session: Session) -> CompactionTable:
    """Return the recorded compactions and clearings on a session's path.

    >>> from inspector import open_demo
    >>> row = list_compactions(open_demo())[0]
    >>> row.source, row.missing[0].outcome
    ('reported', 'absent')
    """
    return _TABLES.of(session.facts, lambda: _build_table(session), Same(session.tree), session.leaf)


def _build_table(session: Session) -> CompactionTable:
    marks = [i for i in session.path if session.tree.sort[i] in (COMPACTION, MICRO)]
    if not marks:
        return CompactionTable(())
    ledger = count_tokens(session, "calibrated")
    again: dict[str, list[Regret]] = {}
    for regret in find_regret(session, session.facts, ledger):
        entry = regret.traced.scene.entry
        if entry is not None:
            again.setdefault(entry.id, []).append(regret)
    return CompactionTable(
        [
            _describe(session, ledger, number, index, again.get(session.entries[index].id, []))
            for number, index in enumerate(marks, 1)
        ]
    )


def _describe(
    session: Session, ledger: Ledger, number: int, index: int, again: Sequence[Regret]
) -> CompactionRow:
    """Describe the compaction at a position in `session.entries`."""
    entry = session.entries[index]
    boundary = entry.boundary
    (trace,) = trace_moves(session, session.facts, [find_move(session, entry)])
    findings = [finding for finding in check_trace(trace) if finding.traced is not None]
    losses = {
        name: [finding.traced for finding in findings if finding.code in codes]
        for name, codes in LOSSES.items()
    }
    unknown = trace.stood & (trace.outcome == CODE["unknown"])
    sizes = find_recorded_sizes(session, ledger, entry.id)
    summary = "" if boundary is None else boundary.summary or entry.text
    tokens, _ = sum_regret(again)
    return CompactionRow(
        number=number,
        kind="compact" if boundary is None else boundary.kind,
        entry=entry.id,
        turn=session.turn_of.get(entry.id, 0),
        time=entry.timestamp,
        trigger="" if boundary is None else boundary.trigger or "",
        before=None if sizes.before is None else sizes.before.tokens,
        after=sizes.after.tokens,
        source=sizes.after.source,
        **{name: len(traced) for name, traced in losses.items()},
        unknown=int(unknown.sum()),
        needed_again=len(again),
        needed_tokens=tokens,
        summary=int(ledger.count_texts([summary])[0]) if summary else 0,
        missing=tuple(fact for traced in losses.values() for fact in traced if fact is not None),
        trace=trace,
    )
