"""A draft: an entry of a Claude Code file in the making, from the first of its rows to the last.

There are as many drafts as entries while a file is read, so what they take is kept small: a session of 1 GB
opens within 1.5 GB of memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec

from ....session.blocks import Block, Text, ToolOutput, build
from ....session.entries import Entry, Source
from ...json_document import list_objects
from .rows import UsageFields

Kind = Literal["message", "compaction", "micro", "note"]
Lane = tuple[bool, str | None]
"""Whether a row is a sub-agent's, and which one's."""


class Line(msgspec.Struct, gc=False):
    """A row of a draft: its id, its blocks, its place in the file."""

    row: str | None
    blocks: tuple[Block, ...]
    source: Source


class ReplyFields(msgspec.Struct, gc=False):
    """The fields of a reply besides its blocks. The last row that has a field counts."""

    model: str | None = None
    stop_reason: str | None = None
    usage: UsageFields | None = None
    error: str | None = None
    request: str | None = None
    cost: float | None = None


class Draft(msgspec.Struct, eq=False):
    """An entry in the making.

    `copied_from` names the session that a fork copied it from. `metadata` and `logical` are of the row of a
    compaction: its metadata, and the row that it names as its parent.
    `parent` is the id in the file. Linking sets `up`, the parent draft; `above`, its id if no draft has it;
    `side`, the sidechain; and `owner`, the reply that an output answers. `made` is the last entry made from
    the draft, None if a row came since. The file's chain has no `queued` words and no attachments: they
    follow the message before their delivery. `again` marks a reply that another file holds and charges.
    `repeats` are the places of repeated rows.

    Drafts point only upwards, because a circle would keep the text of a whole file alive until the next full
    garbage collection. Unlike its parts, a draft is tracked by the collector: objects that are not tracked
    are freed recursively, and a long chain of them overflows the stack.
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
    metadata: Any = None
    logical: str | None = None
    timestamp: str | None = None
    meta: bool = False
    answers: tuple[str, ...] = ()
    extra: Any = None
    queued: bool = False
    up: Draft | None = None
    above: str | None = None
    owner: Draft | None = None
    side: str | None = None
    cached_entry: Entry | None = None
    again: bool = False
    copied_from: str | None = None

    @property
    def aside(self) -> bool:
        """Whether it belongs to a sub-agent."""
        return self.lane[0]

    @property
    def agent(self) -> str | None:
        """The sub-agent, None if the row names none."""
        return self.lane[1]

    @property
    def contents(self) -> tuple[tuple[Block, ...], tuple[str, ...], tuple[Source, ...]]:
        """The blocks of all its rows, the ids of the rows after the first, and their sources, in file order.

        A repeated row has a source for each repetition.
        """
        lines = self.lines
        if len(lines) == 1 and self.repeats is None:
            return lines[0].blocks, (), (lines[0].source,)
        return (
            tuple([block for line in lines for block in line.blocks]),
            tuple([line.row for line in lines[1:] if line.row is not None]),
            tuple(sorted([line.source for line in lines] + (self.repeats or []))),
        )

    def append(self, row: str | None, blocks: Iterable[Block], source: Source) -> None:
        """Add a row."""
        self.cached_entry = None
        line = Line(row, tuple(blocks), source)
        if self.lines:
            self.lines.append(line)
        else:
            self.lines = [line]  # allocates no spare room, because most drafts have one row

    def replace(self, row: str | None, blocks: Iterable[Block], source: Source) -> bool:
        """Replace the blocks of a repeated row by the later ones. Return whether they differ."""
        self.cached_entry = None
        line = next((line for line in self.lines if line.row == row), self.lines[0])
        before, line.blocks = line.blocks, tuple(blocks)
        if self.repeats is None:
            self.repeats = []
        self.repeats.append(source)
        return before != line.blocks


# If the new outputs of one message are too long together, Claude Code writes the longest to files and sends
# the beginning of each with the file's path. The row of the message still has the whole output; a row of type
# `content-replacement` has the text that was sent in every request, by the id of the call. Source: public
# descriptions of versions 2.1, read in November 2026.


def read_replacements(rows: Any) -> dict[str, str]:
    """Return the text that was sent instead of each output, by the id of the call.

    >>> read_replacements([{"toolUseId": "t1", "replacement": "its beginning"}, {"old": 1}])
    {'t1': 'its beginning'}
    """
    pairs = ((row.get("toolUseId"), row.get("replacement")) for row in list_objects(rows))
    return {call: sent for call, sent in pairs if isinstance(call, str) and isinstance(sent, str)}


def replace_outputs(drafts: Iterable[Draft], sent: Mapping[str, str]) -> None:
    """Replace the outputs of these calls by the text that was sent."""
    for draft in drafts if sent else ():
        if sent.keys().isdisjoint(draft.answers):
            continue
        for line in draft.lines:
            line.blocks = tuple(_replace(block, sent) for block in line.blocks)
        draft.cached_entry = None


def _replace(block: Block, sent: Mapping[str, str]) -> Block:
    if type(block) is not ToolOutput or block.call_id not in sent:
        return block
    return block.model_copy(update={"parts": (build(Text, text=sent[block.call_id]),)})
