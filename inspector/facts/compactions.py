"""List the recorded compactions of a session, with the facts missing in each and their cost."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple, overload

from ..formats.summary_wording import shown_summary
from ..mixins import Framed
from ..redaction.cut import cut_text
from ..session.entries import Boundary
from ..session.labels import FindingJudgement
from ..session.queries import MarkName, find_move, number_compactions, why_unread
from ..session.session import Session
from ..session.tree import COMPACTION, MICRO
from ..text import html_table, plural, printable, printed, text_table
from ..tokens.ledger import Ledger, count_tokens
from ..tokens.memo import Memo, Same
from ..tokens.recorded_sizes import find_recorded_sizes
from ..tokens.reported import whole_tokens
from .lint.check import find_losses
from .outcomes import CODE
from .regret import Regret, find_regret, sum_regret
from .trace import trace_moves, trace_recorded
from .traced import Trace, TracedFact

HEADINGS = (
    *("", "turn", "trigger", "before", "after", "in the file", "files", "rules", "to-dos", "errors"),
    *("links", "changed", "needed again", "summary"),
)


class CompactionRow(NamedTuple):
    """A recorded compaction or clearing.

    Attributes:
        number: Its number among those of its kind, from 1, as on the screen; 0 if the file begins with it.
        kind: "compact", or "micro" for outputs that were cleared in place.
        entry: The id of the entry that records it.
        turn: Its turn, from 1; 0 before the first.
        time: When, as the file says it; None if it does not.
        trigger: Its cause as recorded in the file, such as "auto"; "" if the file does not record one.
        before, after: Tokens of the context around it; `before` is None if the file begins with it.
        before_source, source: The source of each: "reported" by the provider, "counted",
            "estimated" by the harness, or "predicted"; "" without one.
        recorded_before, recorded_after, recorded_saved: The harness's own record, on its own scale; None
            without one. Claude Code's `postTokens` is the conversation alone.
        files, rules, todos, errors, links: Facts missing in it, as `lint` and the screen find them: changed
            files; what the user ruled, chose or tried; what was said last, open to-dos; open failures;
            addresses and ids that the user gave.
        changed: Facts that the summary gives with another value, contradicts or restricts by an exception.
        known: Whether the file shows what was lost: not if the summary is encrypted or missing, or if the
            file does not say which outputs were cleared.
        unknown: Facts whose outcome is unknown then.
        needed_again: Facts needed again after it (`find_regret`), each counted once.
        needed_tokens: Their tokens.
        summary: Tokens of the summary as the model is shown it; 0 without a readable one.
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
    before_source: str
    source: str
    recorded_before: int | None
    recorded_after: int | None
    recorded_saved: int | None
    files: int
    rules: int
    todos: int
    errors: int
    links: int
    changed: int
    known: bool
    unknown: int
    needed_again: int
    needed_tokens: int
    summary: int
    missing: tuple[TracedFact, ...]
    trace: Trace

    @property
    def harm(self) -> tuple[int, int]:
        """Facts missing or changed, and tokens spent to get facts back: the order of harm."""
        missing = self.files + self.rules + self.todos + self.errors + self.links
        return missing + self.changed, self.needed_tokens

    @property
    def sign(self) -> str:
        """Its name on the screen: "◆1", or "◇1" for a clearing."""
        return MarkName("micro" if self.kind == "micro" else "compact", self.number).sign

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values; `missing` as the forms of the facts, and no trace."""
        fields = {name: value for name, value in self._asdict().items() if name != "trace"}
        return {**fields, "missing": [traced.fact.form for traced in self.missing]}

    def __repr__(self) -> str:
        before = self._sizes[0].removesuffix(f" {self.source}")
        losses = f"{plural(self.harm[0], 'fact')} missing or changed" if self.known else "losses unknown"
        return (
            f"CompactionRow({self.sign}, turn {self.turn}: {before} -> {self.after:,} tokens "
            f"{self.source}; {losses})"
        )

    @property
    def why_unread(self) -> str:
        """Why the summary cannot be read: "encrypted" or "missing"; "" if nothing is to be read."""
        if self.known or self.kind == "micro" or self.trace.scene.entry is None:
            return ""
        return why_unread(self.trace.scene.entry)

    @property
    def _sizes(self) -> tuple[str, str]:
        before = "?" if self.before is None else f"{self.before:,} {self.before_source}"
        return before, f"{self.after:,} {self.source}"

    @property
    def _recorded(self) -> str:
        """The sizes that the harness recorded: "155,099 -> ?", or "45,149 saved"."""
        sizes_text = [None if n is None else f"{n:,}" for n in (self.recorded_before, self.recorded_after)]
        sizes = [" -> ".join(size or "?" for size in sizes_text)] if any(sizes_text) else []
        saved = [] if self.recorded_saved is None else [f"{self.recorded_saved:,} saved"]
        return ", ".join(sizes + saved) or "-"


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
                *(row.sign, str(row.turn), _name_trigger(row), *row._sizes, row._recorded),
                *(_count(row, number) for number in (row.files, row.rules, row.todos, row.errors, row.links)),
                _count(row, row.changed),
                f"{row.needed_again:,} ({row.needed_tokens:,} tokens)" if row.needed_again else "0",
                f"{row.summary:,}" if row.summary else row.why_unread or "-",
            )
            for row in self
        ]

    @printed
    def __repr__(self) -> str:
        if not self._rows:
            return "This session records no compaction."
        lines = [HEADINGS, *self._cells()]
        return "\n".join(text_table(lines, range(len(HEADINGS))))

    def _repr_html_(self) -> str:
        return html_table(HEADINGS, self._cells(), numbers=range(len(HEADINGS)))


def _whole(figure: float | None) -> int | None:
    return None if figure is None else whole_tokens(figure)


def _name_trigger(row: CompactionRow) -> str:
    """Return the cause of a compaction, with a note if it only cleared outputs."""
    words = [printable(cut_text(row.trigger, 20))] if row.trigger else []
    return ", ".join([*words, *(["clearing"] if row.kind == "micro" else [])]) or "-"


def _count(row: CompactionRow, number: int) -> str:
    """A count of facts; "?" if the losses are unknown."""
    return str(number) if row.known or number else "?"


_TABLES: Memo[CompactionTable] = Memo(1)


def list_compactions(session: Session) -> CompactionTable:
    """Return the recorded compactions and clearings on a session's path.

    >>> from inspector import open_demo
    >>> row = list_compactions(open_demo())[0]
    >>> row.source, row.missing[0].outcome
    ('reported', 'absent')
    """
    return _TABLES.of(session.facts, lambda: _build_table(session), *_table_key(session))


def known_compactions(session: Session) -> CompactionTable | None:
    """Return the table that was computed for a session before, None if none was.

    >>> from inspector import open_demo
    >>> session = open_demo()
    >>> table = session.compactions
    >>> known_compactions(session) is table
    True
    """
    facts = vars(session).get("facts")
    return None if facts is None else _TABLES.known(facts, *_table_key(session))


def _table_key(session: Session) -> tuple[Same, str | None, tuple[FindingJudgement, ...]]:
    return Same(session.tree), session.leaf, session.judgements


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
    names = number_compactions(session)
    entries = [session.entries[index] for index in marks if session.tree.sort[index] == MICRO]
    traces = [
        *trace_recorded(session),
        *trace_moves(session, session.facts, map(partial(find_move, session), entries)),
    ]
    by_entry = {trace.scene.entry.id: trace for trace in traces if trace.scene.entry is not None}
    return CompactionTable(
        [
            _describe(
                session,
                ledger,
                names.get(entry, MarkName("compact", 0)),
                by_entry[entry],
                again.get(entry, []),
            )
            for entry in (session.entries[index].id for index in marks)
        ]
    )


def _describe(
    session: Session, ledger: Ledger, name: MarkName, trace: Trace, again: Sequence[Regret]
) -> CompactionRow:
    """Describe a recorded compaction."""
    entry = trace.scene.entry
    assert entry is not None
    boundary = entry.boundary or Boundary()
    losses = find_losses(trace, session)
    unknown = trace.stood & (trace.outcome == CODE["unknown"])
    if boundary.kind == "micro" and not trace.scene.is_known:
        unknown = trace.stood
    sizes = find_recorded_sizes(session, ledger, entry.id)
    summary = entry.text or boundary.summary
    tokens, _ = sum_regret(again)
    return CompactionRow(
        number=name.number,
        kind=boundary.kind,
        entry=entry.id,
        turn=session.turn_of.get(entry.id, 0),
        time=entry.timestamp,
        trigger=boundary.trigger or "",
        before=None if sizes.before is None else sizes.before.tokens,
        after=sizes.after.tokens,
        before_source="" if sizes.before is None else sizes.before.source,
        source=sizes.after.source,
        recorded_before=_whole(boundary.tokens_before),
        recorded_after=_whole(boundary.left),
        recorded_saved=_whole(boundary.tokens_saved),
        **{name: len(traced) for name, traced in losses.items()},
        known=trace.scene.is_known,
        unknown=int(unknown.sum()),
        needed_again=len(again),
        needed_tokens=tokens,
        summary=int(ledger.count_texts([shown_summary(session.format, summary)])[0]) if summary else 0,
        missing=tuple(chain(*losses.values())),
        trace=trace,
    )
