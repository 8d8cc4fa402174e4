"""A draft: an entry of a Claude Code file in the making, from the first of its rows to the last.

There are as many drafts as entries while a file is read, so what they take is kept small: a session of 1 GB
opens within 1.5 GB of memory.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from ....session.blocks import Block
from ....session.entries import Entry, Source
from .rows import UsageFields

Kind = Literal["message", "compaction", "micro", "note"]
Lane = tuple[bool, str | None]
"""Whether a row is a sub-agent's, and which one's."""


class Line(msgspec.Struct, gc=False):
    """A row of a draft: its id, what it says, where it stands."""

    row: str | None
    blocks: tuple[Block, ...]
    source: Source


class ReplyFields(msgspec.Struct, gc=False):
    """What a reply's rows tell besides its blocks; the last row that tells it counts."""

    model: str | None = None
    stop_reason: str | None = None
    usage: UsageFields | None = None
    error: str | None = None
    request: str | None = None
    cost: float | None = None


class CompactionFields(msgspec.Struct, gc=False):
    """What the row of a compaction tells of it, and which row it says it follows."""

    metadata: Any
    logical: str | None = None


class Draft(msgspec.Struct, eq=False):
    """An entry in the making.

    `copied_from` names the session that a fork copied it from.
    `parent` is what the file says. Linking finds `up`, the draft that it comes to, `above`, the id that
    stands for it where there is none, the `side` it is on, and the `owner` of an output: the reply it
    answers. `made` is the entry it was made into last, None when a row came since. `queued` words, and
    what the harness attached, stand in no chain of the file: they follow what was there when they were
    delivered. What is `again` is a reply that stands elsewhere too, and is charged there. `repeats` are
    where rows stand that came again. Drafts only point upwards: a circle of them would keep a whole file's
    text alive until the next full garbage collection. Unlike its parts it is known to the collector: what is
    not is freed one inside the other, and a long chain of them overflows the stack.
    """

    id: str
    parent: str | None
    role: str
    order: int
    lane: Lane
    lines: list[Line] = []
    repeats: list[Source] | None = None
    kind: Kind = "message"
    message: str | None = None
    reply: ReplyFields | None = None
    compaction: CompactionFields | None = None
    timestamp: str | None = None
    meta: bool = False
    answers: tuple[str, ...] = ()
    extra: Any = None
    queued: bool = False
    up: Draft | None = None
    above: str | None = None
    owner: Draft | None = None
    side: str | None = None
    made: Entry | None = None
    again: bool = False
    copied_from: str | None = None

    @property
    def aside(self) -> bool:
        """Whether it is a sub-agent's."""
        return self.lane[0]

    @property
    def agent(self) -> str | None:
        """Which sub-agent's, where that is told."""
        return self.lane[1]

    @property
    def metadata(self) -> Any:
        """What the row of a compaction tells of it."""
        return None if self.compaction is None else self.compaction.metadata

    @property
    def contents(self) -> tuple[tuple[Block, ...], tuple[str, ...], tuple[Source, ...]]:
        """What all its rows say, the ids of those after the first, and where they stand, in the order of the
        file and each as often as it came."""
        lines = self.lines
        if len(lines) == 1 and self.repeats is None:
            return lines[0].blocks, (), (lines[0].source,)
        return (
            tuple([block for line in lines for block in line.blocks]),
            tuple([line.row for line in lines[1:] if line.row is not None]),
            tuple(sorted([line.source for line in lines] + (self.repeats or []))),
        )

    def append(self, row: str | None, blocks: Iterable[Block], source: Source) -> None:
        """One more row of it."""
        self.made = None
        line = Line(row, tuple(blocks), source)
        if self.lines:
            self.lines.append(line)
        else:
            self.lines = [line]  # with no room for more, which most never need

    def replace(self, row: str | None, blocks: Iterable[Block], source: Source) -> bool:
        """Replace the blocks of a repeated row by the later ones. Return whether they differ."""
        self.made = None
        line = next((line for line in self.lines if line.row == row), self.lines[0])
        before, line.blocks = line.blocks, tuple(blocks)
        if self.repeats is None:
            self.repeats = []
        self.repeats.append(source)
        return before != line.blocks
