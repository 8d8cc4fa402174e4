"""Session -> the rows of its ledger: where each block stands, what it is and the text that is counted.

One row per block of the file: the head first (system prompt, tools, provided contributions), then every
block of every entry in file order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .session.blocks import KINDS, Block, Document, Image, Reasoning, Text, ToolOutput
from .session.json_text import stringify
from .session.session import Entry, Session, Tool
from .session.tree import Ints

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
"""What a token is spent on. `compacted` is the text of recorded compactions and branch summaries; `unknown`
holds blocks no reader knows and the words of roles nobody knows."""

HEAD = ("@system", "@tools", "@provided")
"""What stands for the entry's id in the reference of a head row, in the order of their sections."""

SEALED, PICTURE, FILE = "sealed reasoning", "pictures of unknown cost", "documents that are no plain text"
"""Why a block costs more than is counted."""

_KIND = {kind: code for code, kind in enumerate(KINDS)}
_SECTION = {section: code for code, section in enumerate(SECTIONS)}
_WORDS = len(SECTIONS)  # the entry decides
_OF_KIND = np.array([_SECTION.get(kind, _WORDS) for kind in KINDS], np.uint8)
_OF_ROLE = {"user": "user", "assistant": "assistant", "tool": "tool_output", "system": "system"}
_PLAIN = np.isin(KINDS, ("text", "tool_call"))


@dataclass(frozen=True, eq=False)
class Rows:
    """Columns over the r rows of a session with n entries, and what some rows hold besides their text.

    entry, block int32[r], kind, section uint8[r], start int32[n+1] as in `Ledger`; `head` rows come first.
    `texts` has one text per row, `more` has further texts of a row, `pictures` tokens to add to a row,
    `uncounted` rows that cost more than is counted, and why.
    """

    entry: Ints
    block: Ints
    kind: Bytes
    section: Bytes
    start: Ints
    head: int
    texts: list[str]
    more: list[tuple[int, str]] = field(default_factory=list)
    pictures: list[tuple[int, int]] = field(default_factory=list)
    uncounted: list[tuple[int, str]] = field(default_factory=list)


def gather_rows(session: Session, model: str | None, cost: ImageCost) -> Rows:
    """All rows of a session. `model` reads the context, `cost` tells what a picture costs it."""
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
    words = np.array([0, 1, 2, *map(_section_of_words, session.entries)], np.uint8)
    section = np.where(_OF_KIND[kind] == _WORDS, np.repeat(words, sizes), _OF_KIND[kind])
    rows = Rows(
        entry=np.repeat(np.maximum(np.arange(-3, len(session.entries)), -1), sizes).astype(np.int32),
        block=(np.arange(len(blocks)) - np.repeat(start[:-1], sizes)).astype(np.int32),
        kind=kind,
        section=section,
        start=start[len(HEAD) :],
        head=int(start[len(HEAD)]),
        texts=[block.text for block in blocks],
    )
    for row in np.flatnonzero(~_PLAIN[kind]).tolist():
        _look_closer(rows, row, blocks[row], model, cost, False)
    return rows


def tool_text(tool: Tool) -> str:
    """A tool as it is counted: name, description and compact JSON schema, a line each."""
    schema = "" if tool.input_schema is None else stringify(tool.input_schema)
    return "\n".join(part for part in (tool.name, tool.description, schema) if part)


def _section_of_words(entry: Entry) -> int:
    if entry.kind in ("compaction", "branch_summary"):
        return _SECTION["compacted"]
    return _SECTION[_OF_ROLE.get(entry.role, "unknown")]


def _look_closer(
    rows: Rows, row: int, block: Block, model: str | None, cost: ImageCost, in_tool: bool
) -> None:
    """Note what a row holds besides its text."""
    if isinstance(block, ToolOutput):
        for part in block.parts:
            if part.kind != "text":
                if part.text:
                    rows.more.append((row, part.text))
                _look_closer(rows, row, part, model, cost, True)
    elif isinstance(block, Image):
        tokens = cost(block, model, in_tool)
        if tokens is None:
            rows.uncounted.append((row, PICTURE))
        else:
            rows.pictures.append((row, tokens))
    elif isinstance(block, Document):
        if not block.text:
            rows.uncounted.append((row, FILE))
    elif isinstance(block, Reasoning):
        if block.encrypted or (block.signature and not block.text):
            rows.uncounted.append((row, SEALED))
