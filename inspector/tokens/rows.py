"""Session -> the rows of its ledger: the position of each block, its kind and the text that is counted.

One row per block of the file: the head first (system prompt, tools, provided contributions), then every
block of every entry in file order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..session.blocks import KINDS, Block, Image, Text
from ..session.entries import Entry, Tool
from ..session.json_text import BASE64, stringify
from ..session.session import Session
from ..session.tree import BRANCH_SUMMARY, COMPACTION, ROLES, Ints
from ..text import plural
from .counter import Counter
from .models import model_of

Bytes = NDArray[np.uint8]
ImageCost = Callable[[Image, str | None, bool], int | None]

SECTIONS = (
    "system",
    "tools",
    "provided",
    "compacted",
    "user",
    "assistant",
    "reasoning",
    "tool_call",
    "tool_output",
    "unknown",
)
"""The uses of tokens. `compacted` is the text of recorded compactions and branch summaries; `unknown` holds
blocks of unknown kinds and the text of unknown roles."""

HEAD = ("@system", "@tools", "@provided")
"""The names that replace the entry's id in the reference of a head row, in the order of the sections."""

SEALED, IMAGE, FILE = "sealed reasoning", "pictures of unknown cost", "documents that are not plain text"
DATA = "blocks of unknown type that hold data"
_SINGULAR = {
    SEALED: "block of sealed reasoning",
    IMAGE: "picture of unknown cost",
    FILE: "document that is not plain text",
    DATA: "block of unknown type that holds data",
}
"""Why a block costs more than is counted."""

_KIND = {kind: code for code, kind in enumerate(KINDS)}
_SECTION = {section: code for code, section in enumerate(SECTIONS)}
_WORDS = len(SECTIONS)  # the entry decides
_OF_KIND = np.array([_SECTION.get(kind, _WORDS) for kind in KINDS], np.uint8)
SECTIONS_OF_ROLES = {"user": "user", "assistant": "assistant", "tool": "tool_output", "system": "system"}
"""The section of a message's words, by its role."""
_OF_ROLE = np.array([_SECTION[SECTIONS_OF_ROLES.get(role, "unknown")] for role in ROLES], np.uint8)
_PLAIN = np.isin(KINDS, ("text", "tool_call"))


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns over the r rows of a session with n entries, as in `Ledger`.

    `uncounted` are rows that cost more than is counted, and why.
    """

    entry: Ints
    block: Ints
    kind: Bytes
    section: Bytes
    start: Ints
    head: int
    uncounted: list[tuple[int, str]]

    @cached_property
    def uncounted_rows(self) -> Ints:
        """int32: the rows that cost more than is counted, each once."""
        # Not by `np.unique`, which imports masked arrays first.
        return np.array(sorted({row for row, _ in self.uncounted}), np.int32)


@dataclass(frozen=True, eq=False)
class Rows(Columns):
    """The rows with what they hold: `texts` has one text per row, `more` further texts of a row, `pictures`
    tokens to add to a row."""

    texts: list[str]
    more: list[tuple[int, str]] = field(default_factory=list)
    pictures: list[tuple[int, int]] = field(default_factory=list)

    def count(self, count: Callable[[list[str]], Ints]) -> tuple[Ints, Ints]:
        """Count every row: int32[r] tokens of its texts, and int32[r] of its pictures."""
        counts, size = count([*self.texts, *(text for _, text in self.more)]), len(self.texts)
        words, pictures = np.array(counts[:size], np.int32), np.zeros(size, np.int32)
        np.add.at(words, [row for row, _ in self.more], counts[size:])
        np.add.at(pictures, [row for row, _ in self.pictures], [tokens for _, tokens in self.pictures])
        return words, pictures


def gather_rows(session: Session, model: str | None, cost: ImageCost) -> Rows:
    """Return all rows of a session. `model` reads the context, `cost` returns the tokens of an image for
    it."""
    parts: tuple[tuple[Block, ...], ...] = (
        session.system,
        tuple(Text(text=tool_text(tool)) for tool in session.tools),
        tuple(Text(text=provided.text) for provided in session.provided),
        *(entry.blocks for entry in session.entries),
    )
    blocks = [block for part in parts for block in part]
    sizes = np.fromiter(map(len, parts), np.int32, len(parts))
    start = np.concatenate(([0], np.cumsum(sizes))).astype(np.int32)
    kind = np.fromiter((_KIND[block.kind] for block in blocks), np.uint8, len(blocks))
    tree = session.tree
    summaries = np.isin(tree.sort, (COMPACTION, BRANCH_SUMMARY))
    words = np.where(summaries, _SECTION["compacted"], _OF_ROLE[tree.role])
    words = np.concatenate((np.arange(3), words)).astype(np.uint8)
    section = np.where(_OF_KIND[kind] == _WORDS, np.repeat(words, sizes), _OF_KIND[kind])
    rows = Rows(
        entry=np.repeat(np.maximum(np.arange(-3, len(session.entries)), -1), sizes).astype(np.int32),
        block=(np.arange(len(blocks)) - np.repeat(start[:-1], sizes)).astype(np.int32),
        kind=kind,
        section=section,
        start=start[len(HEAD) :],
        head=int(start[len(HEAD)]),
        texts=[block.text for block in blocks],
        uncounted=[],
    )
    for row in np.flatnonzero(~_PLAIN[kind]).tolist():
        _note_beyond_text(rows, row, blocks[row], model, cost, False)
    return rows


def tool_text(tool: Tool) -> str:
    """A tool as it is counted: name, description and compact JSON schema, a line each."""
    schema = "" if tool.input_schema is None else stringify(tool.input_schema)
    return "\n".join(part for part in (tool.name, tool.description, schema) if part)


def say_uncounted(number: int, why: str) -> str:
    """Return the number of rows that cost more than is counted, in words.

    >>> say_uncounted(1, IMAGE), say_uncounted(2, SEALED)
    ('1 picture of unknown cost', '2 blocks of sealed reasoning')
    """
    return plural(number, _SINGULAR[why], f"blocks of {SEALED}" if why == SEALED else why)


def _note_beyond_text(
    rows: Rows, row: int, block: Block, model: str | None, cost: ImageCost, in_tool: bool
) -> None:
    """Note what a row holds besides its text."""
    if block.kind == "tool_output":
        for part in block.parts:
            if part.kind != "text":
                if part.text:
                    rows.more.append((row, part.text))
                _note_beyond_text(rows, row, part, model, cost, True)
        return
    tokens = cost(block, model, in_tool) if block.kind == "image" else None
    if tokens is not None:
        rows.pictures.append((row, tokens))
    elif block.kind == "image":
        rows.uncounted.append((row, IMAGE))
    elif block.kind == "unknown" and BASE64 in block.text:
        rows.uncounted.append((row, DATA))
    elif block.kind == "document" and not block.text:
        rows.uncounted.append((row, FILE))
    elif block.kind == "reasoning" and (block.encrypted or (block.signature and not block.text)):
        rows.uncounted.append((row, SEALED))


OnProgress = Callable[[float], None]
N = TypeVar("N", np.int32, np.uint8)

BATCH, MOST_BATCHES = 2**19, 400
"""Characters counted between two words about progress, at least, and how many such words there are at most.
Fewer characters at once would keep the counter from using every core."""


@dataclass(frozen=True, eq=False)
class Counted(Columns):
    """The rows with their tokens: `words` and `pictures` int32[r]."""

    counter: Counter
    model: str | None
    entries: tuple[Entry, ...]
    words: Ints
    pictures: Ints


def count_rows(
    session: Session, counter: Counter, report: OnProgress | None, previous: Counted | None
) -> Counted:
    """Count every row; rows of `previous` keep their counts."""
    model = model_of(session)
    if previous is None or previous.counter is not counter or previous.model != model:
        return _count(session, 0, counter, model, report)
    shared = _find_shared(previous.entries, session.entries)
    fresh = _count(session, shared, counter, model, report)
    first, end = int(previous.start[0]), int(previous.start[shared])
    moved = fresh.head - first

    def join(old: NDArray[N], new: NDArray[N]) -> NDArray[N]:
        return np.concatenate((new[: fresh.head], old[first:end], new[fresh.head :]))

    uncounted = [(row, why) for row, why in fresh.uncounted if row < fresh.head]
    uncounted += [(row + moved, why) for row, why in previous.uncounted if first <= row < end]
    uncounted += [(row + end - first, why) for row, why in fresh.uncounted if row >= fresh.head]
    names = ("entry", "block", "kind", "section", "words", "pictures")
    columns: dict[str, Any] = {name: join(getattr(previous, name), getattr(fresh, name)) for name in names}
    starts = previous.start[:shared] + moved, fresh.start + end - first
    return replace(fresh, **columns, start=np.concatenate(starts), uncounted=uncounted)


def _find_shared(old: tuple[Entry, ...], new: tuple[Entry, ...]) -> int:
    """How many entries at the beginning have the same rows in both."""
    pairs = enumerate(zip(old, new, strict=False))
    return next((at for at, (a, b) in pairs if not _has_same_rows(a, b)), min(len(old), len(new)))


def _has_same_rows(a: Entry, b: Entry) -> bool:
    if a is b:
        return True
    same = (a.role, a.kind, len(a.blocks)) == (b.role, b.kind, len(b.blocks))
    # Equal JSON is not always equal text: 1 and true are the same to Python.
    return same and all(
        x is y or (x.kind == "text" and y.kind == "text" and x.text == y.text)
        for x, y in zip(a.blocks, b.blocks, strict=True)
    )


def _count(
    session: Session, first: int, counter: Counter, model: str | None, report: OnProgress | None
) -> Counted:
    """Count the head and the entries from `first` on."""
    part = session
    if first:
        fields = {name: getattr(session, name) for name in ("format", "system", "tools", "provided")}
        part = Session.model_construct(**fields, entries=session.entries[first:])
    rows = gather_rows(part, model, counter.image)
    count = counter.count if report is None else partial(_count_in_batches, counter, report)
    words, pictures = rows.count(count)
    return Counted(
        counter=counter,
        model=model,
        entries=session.entries,
        entry=np.where(rows.entry < 0, rows.entry, rows.entry + np.int32(first)),
        block=rows.block,
        kind=rows.kind,
        section=rows.section,
        start=rows.start,
        head=rows.head,
        words=words,
        pictures=pictures,
        uncounted=rows.uncounted,
    )


def _count_in_batches(counter: Counter, report: OnProgress, texts: list[str]) -> Ints:
    """int32: tokens of each text, a batch at a time."""
    ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))
    total = int(ends[-1]) if texts else 0
    batch = max(BATCH, -(-total // MOST_BATCHES))
    places = np.searchsorted(ends, np.arange(batch, total, batch)) + 1
    out, first = np.zeros(len(texts), np.int32), 0
    for end in np.unique(np.append(places, len(texts))).tolist():
        out[first:end] = counter.count(texts[first:end])
        first = end
        report(float(ends[end - 1] / total) if total else 1.0)
    return out
