"""Two contexts -> four frozen values over their pieces: Keep, Change, Insert and Remove."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, ClassVar

from ...errors import expect
from ...mixins import Printable
from ...redaction.cut import cut_text
from ...text import plural, printed
from ..assemble import build_context, live_context
from ..context import Context, Piece
from ..plan import Plan
from .align import find_longest_ascent, weave_pairs

SIGNS = {"keep": " ", "change": "~", "insert": "+", "remove": "-"}

HEAD = ("system", "tools", "provided", "head_tokens", "model", "outside")
"""Fields of a context that come before its pieces."""
CROSSED = "There is a summary between them: another run may write another summary and continue differently."
LINE_LIMIT, RUN_LIMIT = 60, 8
"""Lines of a printed diff, and of those for adjacent rows of one kind; the rest is counted."""


@dataclass(frozen=True, slots=True)
class Keep:
    """The same piece in both; only the number of its message may differ."""

    before: Piece
    after: Piece
    kind: ClassVar[str] = "keep"


@dataclass(frozen=True, slots=True)
class Change:
    """One origin, seen differently: another block, role, fate or count."""

    before: Piece
    after: Piece
    kind: ClassVar[str] = "change"


@dataclass(frozen=True, slots=True)
class Insert:
    """A piece that only the second context has, or has here."""

    after: Piece
    kind: ClassVar[str] = "insert"


@dataclass(frozen=True, slots=True)
class Remove:
    """A piece that only the first context has, or has here."""

    before: Piece
    kind: ClassVar[str] = "remove"


Row = Keep | Change | Insert | Remove


@dataclass(frozen=True, slots=True)
class HeadChange:
    """A change in a part that every request repeats: `field` is one of HEAD."""

    field: str
    before: Any
    after: Any


@dataclass(frozen=True, repr=False)
class Diff(Printable):
    """The differences of two contexts. `tokens_before` and `tokens_after` count everything, the heads too.

    >>> from inspector import count_tokens, live_context, read_session
    >>> session = read_session([{"role": "user", "content": "Name a prime."},
    ...                         {"role": "assistant", "content": "Seven."}])
    >>> ledger = count_tokens(session)
    >>> diff_contexts(live_context(session.at("m1"), ledger), live_context(session, ledger))
    Diff: 1 → 2 pieces, 4 → 6 tokens (+2)
      1 keep, 0 change, 1 insert, 0 remove
        m1/0               user text                            4  verbatim    Name a prime.
      + m2/0               assistant text                       2  verbatim    Seven.
    """

    rows: tuple[Row, ...]
    head: tuple[HeadChange, ...] = ()
    tokens_before: int = 0
    tokens_after: int = 0

    @property
    def tokens(self) -> int:
        """Tokens after less tokens before; negative when the second context is smaller."""
        return self.tokens_after - self.tokens_before

    @property
    def counts(self) -> dict[str, int]:
        """Rows of each kind: keep, change, insert, remove; a kind without rows is 0."""
        counted = Counter(row.kind for row in self.rows)
        return {kind: counted[kind] for kind in SIGNS}

    @property
    def crosses_summary(self) -> bool:
        """Whether either context has a summary: later messages do not follow from the history alone."""
        return any(piece.summary for row in self.rows for piece in _pieces(row))

    def __len__(self) -> int:
        return len(self.rows)

    @printed
    def __repr__(self) -> str:
        return "\n".join(_table(self))


def diff_plan(plan: Plan) -> Diff:
    """Compare the context before a plan with the planned one: `Plan.diff`."""
    return diff_contexts(live_context(plan.session, plan.ledger), build_context(plan.session, plan))


def diff_contexts(before: Context, after: Context) -> Diff:
    """Align two contexts by origin. Takes O(n log n) for n pieces.

    Pieces with the same origin refs belong together. If an origin repeats, they are paired in order. Of
    pieces that were moved, a longest ordered run stays aligned; the others are removed and inserted. A
    summary has the origins of all summarised blocks, so it is an insert, unless `before` has a summary of
    exactly the same blocks.

    >>> from inspector.session.blocks import BlockRef, Text
    >>> piece = lambda i, text: Piece(Text(text=text), "user", i, (BlockRef(f"e{i}", 0),), "verbatim", 9)
    >>> context = lambda *pieces: Context((), (), (), pieces)
    >>> diff_contexts(context(piece(0, "a"), piece(1, "b")), context(piece(1, "B"))).counts
    {'keep': 0, 'change': 1, 'insert': 0, 'remove': 1}
    """
    expect("diff_contexts", before=(before, Context), after=(after, Context))
    rows: list[Row] = []
    old, new = before.pieces, after.pieces
    for i, j in weave_pairs(len(old), len(new), _align(old, new)):
        if i is not None and j is not None:
            same = _is_unchanged(old[i], new[j])
            rows.append(Keep(old[i], new[j]) if same else Change(old[i], new[j]))
        elif i is not None:
            rows.append(Remove(old[i]))
        elif j is not None:
            rows.append(Insert(new[j]))
    head = tuple(
        HeadChange(field, getattr(before, field), getattr(after, field))
        for field in HEAD
        if not _equal(getattr(before, field), getattr(after, field))
    )
    return Diff(tuple(rows), head, before.tokens, after.tokens)


def _align(old: Sequence[Piece], new: Sequence[Piece]) -> list[tuple[int, int]]:
    """(index in old, index in new) of the pieces that stay together, ascending on both sides."""
    waiting: dict[Hashable, deque[int]] = {}
    for i, piece in enumerate(old):
        waiting.setdefault(_key(piece), deque()).append(i)
    pairs = [(indices.popleft(), j) for j, piece in enumerate(new) if (indices := waiting.get(_key(piece)))]
    return [pairs[index] for index in find_longest_ascent([i for i, _ in pairs])]


def _key(piece: Piece) -> Hashable:
    # A piece without an origin is recognised by its text.
    return piece.origin or (piece.role, piece.block.kind, piece.block.text)


def _is_unchanged(first: Piece, other: Piece) -> bool:
    return first is other or _equal(replace(first, message=other.message), other)


def _equal(first: Any, other: Any) -> bool:
    """Equality that a tool's input nested deeper than Python recurses cannot break: that is unequal."""
    try:
        return first is other or bool(first == other)
    except RecursionError:
        return False


def _table(diff: Diff) -> Iterator[str]:
    counts = diff.counts
    old, new = len(diff) - counts["insert"], len(diff) - counts["remove"]
    tokens = f"{diff.tokens_before:,} → {diff.tokens_after:,} tokens ({diff.tokens:+,})"
    yield f"Diff: {old:,} → {plural(new, 'piece')}, {tokens}"
    yield "  " + ", ".join(f"{count:,} {kind}" for kind, count in counts.items())
    if diff.crosses_summary:
        yield f"  ! {CROSSED}"
    for change in diff.head:
        if change.field in ("model", "head_tokens", "outside"):
            old_one, new_one = (_name(value) for value in (change.before, change.after))
            yield f"~ {change.field}: {_show_plain(f'{old_one} → {new_one}', 100)}"
        else:
            yield f"~ {change.field}"
    lines = [line for kind, rows in groupby(diff.rows, lambda row: row.kind) for line in _run(kind, [*rows])]
    yield from lines[:LINE_LIMIT]
    if len(lines) > LINE_LIMIT:
        yield f"  … {len(lines) - LINE_LIMIT:,} lines more"


def _name(value: Any) -> str:
    return "not told" if value is None else str(value)


def _run(kind: str, rows: list[Row]) -> list[str]:
    """Unchanged rows as their number; of many others the first few, so that what follows is still seen."""
    if kind == "keep" and len(rows) > 1:
        return [f"  … {len(rows):,} rows the same"]
    if len(rows) <= RUN_LIMIT:
        return [_line(row) for row in rows]
    shown = RUN_LIMIT - 1
    return [*map(_line, rows[:shown]), f"{SIGNS[kind]} … {len(rows) - shown:,} rows more"]


def _pieces(row: Row) -> tuple[Piece, ...]:
    if isinstance(row, Insert):
        return (row.after,)
    return (row.before,) if isinstance(row, Remove) else (row.before, row.after)


def _line(row: Row) -> str:
    """A row as one line: sign, origin, role and kind, tokens, fate, first words."""
    piece = row.before if isinstance(row, Remove) else row.after
    origin = str(piece.origin[0]) if piece.origin else "–"
    if len(piece.origin) > 1:
        origin += f" and {len(piece.origin) - 1:,} more"
    tokens = f"{piece.tokens:,}"
    if isinstance(row, Change):
        tokens = f"{row.before.tokens:,} → {tokens}"
    what = f"{piece.role} {piece.block.kind}"
    words = ("[stand-in] " if piece.stand_in else "") + _show_plain(piece.block.text, 40)
    line = f"{SIGNS[row.kind]} {_show_plain(origin, 24):<18} {_show_plain(what, 24):<22} {tokens:>15}"
    return f"{line}  {piece.fate:<11} {words}".rstrip()


def _show_plain(text: str, width: int) -> str:
    """Text from a transcript for a terminal: one line, and nothing in it that a terminal would obey."""
    start = cut_text(text, width).replace("\n", "␊").replace("\t", " ")
    return start if len(text) <= width else start + "…"
