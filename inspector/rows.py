"""Session -> the rows of its ledger: where each block stands, what it is and the text that is counted.

One row per block of the file: the head first (system prompt, tools, provided contributions), then every
block of every entry in file order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from .blocks import KINDS, Block, Document, Image, ToolOutput
from .compactjson import stringify
from .session import Entry, Session, Tool

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

ImageCost = Callable[[Image, str | None, bool], int | None]

_KIND = {kind: code for code, kind in enumerate(KINDS)}
_SECTION = {section: code for code, section in enumerate(SECTIONS)}
_OF_KIND = {kind: _SECTION[kind] for kind in ("reasoning", "tool_call", "tool_output", "unknown")}
_OF_ROLE = {"user": "user", "assistant": "assistant", "tool": "tool_output", "system": "system"}


@dataclass(frozen=True, eq=False)
class Rows:
    """Lists over the rows, and what some rows hold besides their text.

    `start` has one number per entry and one more: the entry's first row. `more` are further texts of a row,
    `pictures` tokens to add to a row, `uncounted` rows that cost more than is counted, and why.
    """

    entry: list[int] = field(default_factory=list)
    block: list[int] = field(default_factory=list)
    kind: list[int] = field(default_factory=list)
    section: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    start: list[int] = field(default_factory=list)
    more: list[tuple[int, str]] = field(default_factory=list)
    pictures: list[tuple[int, int]] = field(default_factory=list)
    uncounted: list[tuple[int, str]] = field(default_factory=list)

    def add(self, entry: int, block: int, kind: str, section: int, text: str) -> int:
        """Append a row and return its number."""
        self.entry.append(entry)
        self.block.append(block)
        self.kind.append(_KIND[kind])
        self.section.append(section)
        self.texts.append(text)
        return len(self.texts) - 1


def gather_rows(session: Session, model: str | None, cost: ImageCost) -> Rows:
    """All rows of a session. `model` reads the context, `cost` tells what a picture costs it."""
    rows = Rows()
    for at, said in enumerate(session.system):
        row = rows.add(-1, at, said.kind, _SECTION["system"], said.text)
        _look_closer(rows, row, said, model, cost, False)
    for at, tool in enumerate(session.tools):
        rows.add(-1, at, "text", _SECTION["tools"], tool_text(tool))
    for at, provided in enumerate(session.provided):
        rows.add(-1, at, "text", _SECTION["provided"], provided.text)
    for index, entry in enumerate(session.entries):
        rows.start.append(len(rows.texts))
        words = _section_of_words(entry)
        for at, block in enumerate(entry.blocks):
            kind = block.kind
            row = rows.add(index, at, kind, _OF_KIND.get(kind, words), block.text)
            if kind != "text" and kind != "tool_call":
                _look_closer(rows, row, block, model, cost, False)
    rows.start.append(len(rows.texts))
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
    elif block.kind == "reasoning" and (block.encrypted or (block.signature and not block.text)):
        rows.uncounted.append((row, SEALED))
