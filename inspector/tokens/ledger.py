"""Session + counter -> Ledger: tokens per block as columns, for the whole file at once.

A ledger does not depend on the leaf: `session.at(...)` shares it, and the context at any leaf is a
selection of its rows. It holds tokens only. The sizes reported by the provider are separate from the counts;
the difference is a value of its own, `outside`.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import OtherSession, expect
from ..mixins import Drawable, Framed, ask
from ..session.blocks import KINDS, REASONING, Block, BlockRef, Text, ToolOutput
from ..session.entries import Entry
from ..session.session import Session
from ..session.tree import Bools, Ints
from ..text import html_table, printed
from .counter import Calibration, Counter, Longs, running_sums
from .counters import find_counter
from .counters.measures import FRACTIONS
from .memo import Memo, Memory
from .models import model_of, strips_thinking
from .not_in_file import NotInFile, Part
from .rows import HEAD, SECTIONS, Bytes, Counted, count_rows, gather_rows, say_uncounted

CLEARED_TEXT = "[output cleared by an earlier compaction]"
"""The text that replaces a tool output whose clearing the file records."""


_CLEARED: Memo[int] = Memo()
_WEIGHTS: Memo[Ints] = Memo()
_FRACTIONS: Memo[np.ndarray] = Memo()


@dataclass(frozen=True, eq=False, repr=False)
class Ledger(Framed, Drawable):
    """Columns over the r blocks of a file with n entries: the head first, then every entry in file order.

    entry    int32[r]    position in `session.entries`, -1 in the head
    block    int32[r]    index of the block in its entry; in the head, its index in that part
    kind     uint8[r]    index into KINDS
    section  uint8[r]    index into SECTIONS
    tokens   int32[r]    by `counter`
    start    int32[n+1]  the blocks of entry i are rows start[i] … start[i+1]
    head     int         rows of the head: system prompt, tools, provided contributions

    `uncounted_rows` (int32) cost more than is counted, by an unpublished amount; `missing` gives their number
    by kind.

    >>> from inspector import read_session
    >>> session = read_session([{"role": "user", "content": "Name a prime."},
    ...                         {"role": "assistant", "content": "Seven."}])
    >>> ledger = count_tokens(session, "chars4_utf16")
    >>> ledger.tokens.tolist(), ledger.total, ledger.ref(1)
    ([4, 2], 6, BlockRef(entry='m2', block=0))
    >>> ledger
    Ledger: 6 tokens in the context, 6 in the file (2 blocks)
      user         4   66.7 %
      assistant    2   33.3 %
      total        6  0 reported for the last request, 0 counted
      chars4_utf16, an estimate: UTF-16 characters / 4, as Flue and pi count
    """

    session: Session
    counter: Counter
    calibration: Calibration | None
    entry: Ints
    block: Ints
    kind: Bytes
    section: Bytes
    tokens: Ints
    start: Ints
    head: int
    uncounted_rows: Ints
    missing: dict[str, int]
    _counted: Counted | None = None
    memory: Memory = field(default_factory=Memory, init=False)

    def __len__(self) -> int:
        return len(self.tokens)

    def to_columns(self) -> dict[str, list[Any]]:
        """Return a row per block of the file: its reference, kind, section and tokens.

        >>> from inspector import open_demo
        >>> columns = count_tokens(open_demo()).to_columns()
        >>> columns["kind"][-1], len(columns["tokens"]) > 500
        ('text', True)
        """
        return {
            "ref": [str(self.ref(row)) for row in range(len(self))],
            "kind": [KINDS[code] for code in self.kind.tolist()],
            "section": [SECTIONS[code] for code in self.section.tolist()],
            "tokens": self.tokens.tolist(),
        }

    def ref(self, row: int) -> BlockRef:
        """The reference of a row."""
        entry, block = int(self.entry[row]), int(self.block[row])
        return BlockRef(HEAD[self.section[row]] if entry < 0 else self.session.entries[entry].id, block)

    def row(self, ref: BlockRef) -> int:
        """The row of a reference. Raises KeyError when there is no such block."""
        name, block = ref
        if name in HEAD:
            first, end = np.searchsorted(self.section[: self.head], (HEAD.index(name), HEAD.index(name) + 1))
        else:
            first, end = self.start[self.session.index[name] :][:2]
        if not 0 <= block < end - first:
            raise KeyError(str(ref))
        return int(first) + block

    def live_rows(self, session: Session) -> Ints:
        """int32[m]: the row of each live block at a session's leaf, in context order.

        Raises `OtherSession` for a session whose entries are not the ones counted here.
        """
        self.check(session)
        live = session.live
        return (self.start[live.entries[live.position]] + live.block).astype(np.int32)

    def check(self, session: Session) -> None:
        """Raise `OtherSession` unless this ledger counted that session's entries and head, under its labels:
        facts are asked of the session that was counted."""
        own, other = self.session, session
        parts = ("entries", "system", "tools", "provided")
        if any(getattr(own, part) is not getattr(other, part) for part in parts):
            raise OtherSession("", "the ledger was counted of another session: count this one")
        if own.labels is not other.labels and own.labels != other.labels:
            raise OtherSession("", "the ledger was counted under other labels: count this session")

    def live_tokens(self, session: Session) -> Ints:
        """int32[m]: tokens of each live block at a session's leaf; an emptied output is CLEARED_TEXT.

        Reasoning that the provider strips is nothing.
        """
        tokens = self.tokens[self.live_rows(session)]
        if session.live.cleared.any():
            stub = _CLEARED.of(self, lambda: int(self.count_texts([CLEARED_TEXT])[0]))
            tokens[session.live.cleared] = stub
        tokens[self.find_stripped(session)] = 0
        return tokens

    def find_stripped(self, session: Session) -> Bools:
        """bool[m]: live reasoning that the provider leaves out and does not count.

        That is what was reasoned in earlier turns, on a model that strips it.

        Source: Anthropic's platform documentation, thinking.
        """
        live = session.live
        out = np.zeros(len(live.position), bool)
        opens = np.flatnonzero(live.opens)
        if len(opens) and strips_thinking(model_of(session)):
            rows = self.live_rows(session)
            out[:] = (self.kind[rows] == REASONING) & (live.position < opens[-1])
        return out

    @cached_property
    def reasoning_tokens(self) -> Longs:
        """int64[n]: tokens of each entry's reasoning."""
        return _sum_entries(np.where(self.kind == REASONING, self.tokens, 0), self.start)

    @property
    def uncounted(self) -> tuple[BlockRef, ...]:
        """Blocks that cost more than is counted here."""
        return tuple(self.ref(row) for row in self.uncounted_rows)

    @cached_property
    def prefix(self) -> Longs:
        """int64[r+1]: tokens before each row, and all of them."""
        return running_sums(self.tokens)

    @property
    def total(self) -> int:
        """Tokens of the whole file: the head and every entry, on any branch."""
        return int(self.prefix[-1])

    @property
    def head_tokens(self) -> int:
        """Tokens of the head, which every request carries."""
        return int(self.prefix[self.head])

    @cached_property
    def head_sections(self) -> Longs:
        """int64, one per section: tokens of the head."""
        return _sum_sections(self.section[: self.head], self.tokens[: self.head])

    @cached_property
    def entry_tokens(self) -> Longs:
        """int64[n]: tokens of each entry."""
        return np.diff(self.prefix[self.start])

    def by_section(self, session: Session | None = None) -> dict[str, int]:
        """Tokens by section of the context at a session's leaf, its head too. They add up to the context."""
        session = session or self.session
        sums = _sum_sections(self.section[self.live_rows(session)], self.live_tokens(session))
        return dict(zip(SECTIONS, (self.head_sections + sums).tolist(), strict=True))

    def count_context(self, session: Session | None = None) -> int:
        """Tokens of the context at a session's leaf, its head too."""
        return self.head_tokens + int(self.live_tokens(session or self.session).sum(dtype=np.int64))

    def count_texts(self, texts: Sequence[str]) -> Ints:
        """int32: tokens of other texts by the same counter."""
        return self.counter.count(texts)

    def count_lines(self, lines: Sequence[str]) -> Ints:
        """int32: tokens of each text as a line, its newline counted with it."""
        return self.counter.count([f"{line}\n" for line in lines])

    def count_blocks(self, blocks: Sequence[Block]) -> Ints:
        """int32: tokens of other blocks, counted like the session's own blocks."""
        entry = Entry.model_construct(id="", blocks=tuple(blocks))
        session = Session.model_construct(format="", entries=(entry,))
        rows = gather_rows(session, model_of(self.session), self.counter.image)
        words, pictures = rows.count(self.counter.count)
        return words + pictures

    def weights(self, name: str) -> Ints:
        """int32[n]: tokens of every entry by another measure, such as "chars4_utf16"; cached.

        Raises `CounterError` for a name that does not exist.
        """
        return _WEIGHTS.of(self, lambda: _weigh(self.session, name), name)

    def fractions(self, name: str) -> np.ndarray:
        """float64[n]: the same before they are rounded, for measures of `FRACTIONS`; cached."""
        if name not in FRACTIONS:
            return self.weights(name).astype(np.float64)
        entries = self.session.entries
        return _FRACTIONS.of(self, lambda: np.array([*map(FRACTIONS[name], entries)], float), name)

    @property
    def base(self) -> Counter:
        """The counter as it was asked for, before it was fitted: `count_tokens` with it counts as this did.

        >>> from inspector import open_demo
        >>> ledger = count_tokens(open_demo(), "calibrated")
        >>> ledger.counter.fit is None, ledger.base is find_counter("calibrated")
        (True, True)
        """
        return self.counter if self._counted is None else self._counted.counter

    def words_by(self, counter: Counter) -> Longs | None:
        """int64[n]: tokens of each entry's text by another counter, without images; None unless this ledger
        was fitted from that counter."""
        counted = self._counted
        if counted is None or counted.counter.count is not counter.count:
            return None
        return _sum_entries(counted.words, counted.start)

    @property
    def source(self) -> str:
        """The source of the counts, as a sentence."""
        return self.counter.source

    @property
    def outside(self) -> NotInFile:
        """The parts of the request at the ledger's leaf that are not in the file.

        System prompt, tool schemas, hidden reasoning: they belong to no section.

        >>> from inspector import open_demo
        >>> count_tokens(open_demo()).outside.system_and_tools.tokens > 0
        True
        """
        not_in_file: NotInFile = ask("outside", self.session, self)
        return not_in_file

    @printed
    def __repr__(self) -> str:
        return _draw(self)

    def _repr_html_(self) -> str:
        """The same table as HTML, for a notebook."""
        sections = {name: tokens for name, tokens in self.by_section().items() if tokens}
        context, outside = sum(sections.values()), self.outside
        rows = [(name, f"{n:,}", f"{n / context:.1%}", "counted in the file") for name, n in sections.items()]
        for name, part in outside.parts.items():
            if part.tokens:
                rows.append((name, f"{part.tokens:,}", "", f"not in the file{_span(part)}"))
        summary = f"{outside.reported:,} reported for the last request, {outside.counted:,} counted"
        rows.append(("total", f"{context + outside.tokens:,}", "", summary))
        caption, *_ = repr(self).splitlines()
        below = [*outside.warnings, *_name_missing(self), self.source]
        headings = ("section", "tokens", "share", "source")
        return html_table(headings, rows, numbers=(1, 2), around=(caption, "\n".join(below)))


def count_tokens(
    session: Session,
    counter: str | Counter = "o200k_base",
    tell: Callable[[float], None] | None = None,
    *,
    known: Ledger | None = None,
) -> Ledger:
    """Count every block of a session.

    `counter` is a name ("o200k_base", "calibrated", "chars4_utf16", "tiered", "cl100k_base") or a `Counter`
    of your own. Text is counted unchanged; a tool call as its name and compact JSON; an unknown block as its
    compact JSON; an image by the model's published cost. Blocks without a published cost are listed in
    `uncounted`. Raises `CounterError` for a counter that is not available.

    `tell` is called with the finished share, from 0 to 1, at most some dozens of times; an exception that it
    raises (`Stopped`) ends the counting. `known` is a ledger of an earlier state of this session by the same
    counter: its counts are reused, and the result is the same as after a full count.

    >>> from inspector import read_session
    >>> session = read_session([{"role": "user", "content": "Name a prime."},
    ...                         {"role": "assistant", "content": "Seven."}])
    >>> count_tokens(session).tokens.tolist(), count_tokens(session, "chars4_utf16").by_section()["user"]
    ([4, 2], 4)
    """
    expect("count_tokens", session=(session, Session), counter=(counter, str, Counter))
    expect("count_tokens", known=(known, Ledger, None), tell=(tell, Callable, None))
    counter = find_counter(counter) if isinstance(counter, str) else counter
    if tell is not None:
        tell(0.0)
    counted = count_rows(session, counter, tell, None if known is None else known._counted)
    tokens, calibration, fitted = counted.words, None, counter
    if counter.fit is not None:
        gaps = np.bincount(counted.uncounted_rows, minlength=len(tokens))
        sums = (_sum_entries(column, counted.start) for column in (tokens, counted.pictures, gaps))
        fitted, calibration = counter.fit(session, *sums)
        tokens = np.rint(tokens * calibration.factor).astype(np.int32)
    return Ledger(
        session=session,
        counter=fitted,
        calibration=calibration,
        entry=counted.entry,
        block=counted.block,
        kind=counted.kind,
        section=counted.section,
        tokens=tokens + counted.pictures,
        start=counted.start,
        head=counted.head,
        uncounted_rows=counted.uncounted_rows,
        missing=dict(Tally(why for _, why in counted.uncounted)),
        _counted=counted,
    )


def clear_output(block: Block) -> Block:
    """A tool output as it is left where outputs are cleared; any other block as it is."""
    if not isinstance(block, ToolOutput):
        return block
    return block.model_copy(update={"parts": (Text(text=CLEARED_TEXT),)})


def _sum_entries(tokens: NDArray[Any], start: Ints) -> Longs:
    return np.diff(running_sums(tokens)[start])


def _sum_sections(section: Bytes, tokens: Ints) -> Longs:
    return np.bincount(section, tokens, len(SECTIONS)).astype(np.int64)


def _weigh(session: Session, name: str) -> Ints:
    counter = find_counter(name)
    if counter.weigh is not None:
        return counter.entry_weights(session)
    return count_tokens(session, counter).entry_tokens.astype(np.int32)


def _draw(ledger: Ledger) -> str:
    """The context at the ledger's leaf as a small table: tokens and share of every section that has any."""
    sections, outside = ledger.by_section(), ledger.outside
    context = sum(sections.values())
    figures = [(name, tokens) for name, tokens in sections.items() if tokens]
    summary = f"{outside.reported:,} reported for the last request, {outside.counted:,} counted"
    parts = [(name, part) for name, part in outside.parts.items() if part.tokens]
    total = context + outside.tokens
    wide = max(len(f"{tokens:,}") for tokens in (total, ledger.total))
    long = max(12, *(len(name) + 2 for name, _ in parts)) if parts else 12
    lines = [
        f"Ledger: {context:,} tokens in the context, {ledger.total:,} in the file ({len(ledger):,} blocks)",
        *(f"  {name:<{long}}{tokens:>{wide},}  {100 * tokens / context:>5.1f} %" for name, tokens in figures),
        *(f"  {name:<{long}}{part.tokens:>{wide},}  not in the file{_span(part)}" for name, part in parts),
        f"  {'total':<{long}}{total:>{wide},}  {summary}",
        *(f"  ! {warning}" for warning in outside.warnings),
    ]
    lines += [f"  {line}" for line in _name_missing(ledger)]
    return "\n".join([*lines, f"  {ledger.source}"])


def _name_missing(ledger: Ledger) -> list[str]:
    missing = ", ".join(say_uncounted(n, why) for why, n in sorted(ledger.missing.items()))
    return [f"not counted: {missing}"] if missing else []


def _span(part: Part) -> str:
    word = "" if part.replies else "predicted, "
    return "" if part.certain else f": {word}{part.low:,} to {part.high:,}"
