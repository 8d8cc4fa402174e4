"""Dedupe reads: of a file that was read again only the newest reading stays, older ones point at it."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from ...session.blocks import TOOL_OUTPUT, Block, Text, ToolCall, ToolOutput
from ...session.json_text import stringify
from ...tokens.memo import Memo
from ..base_rule import Rule
from ..table import POINTER, Claim, Decision, Rewrite, Table

_REPEATED: Memo[dict[int, str]] = Memo()

PATHS = ("file_path", "path", "filename", "notebook_path")
"""Arguments that name the file."""


class DedupeReads(Rule):
    """An output becomes a pointer when the same file is read again later: with the same arguments, or whole.

    Readings that failed neither point nor are pointed at.
    """

    title: ClassVar[str] = "Dedupe reads"
    phrase: ClassVar[str] = "a file read again leaves only its newest reading"
    source: ClassVar[str] = (
        "Claude Code changelog 2.1.86: re-reads of unchanged files are stored once (CLAUDE §2.5)"
    )

    kind: Literal["dedupe-reads"] = "dedupe-reads"
    tools: tuple[str, ...] = Field(
        ("read", "Read", "FileRead", "read_file", "view"), description="Tools that read files"
    )

    def decide(self, table: Table) -> Decision:
        """Claim the readings that a later one stands for, wherever the cut is."""
        key = ("dedupe-reads", table.session.leaf, self.tools)
        later = _REPEATED.of(table.moment, lambda: _find_repeated(self.tools, table), self.tools)
        rows = table.mask(later)

        def make(block: Block, row: int) -> Block:
            if not isinstance(block, ToolOutput):
                return block
            return block.model_copy(update={"parts": (Text(text=later[row]),)})

        claim = Claim(rows, POINTER, rewrite=Rewrite(make, key))
        return Decision(older=claim, kept=claim)


def _find_repeated(tools: tuple[str, ...], table: Table) -> dict[int, str]:
    """Rows of outputs that a later reading stands for, and the pointer in their place."""
    newest: dict[tuple[str, str], str] = {}
    out: dict[int, str] = {}
    for call_row, row in reversed(table.live.pairs.tolist()):
        call, output = table.block(call_row), table.block(row)
        if not (isinstance(call, ToolCall) and isinstance(output, ToolOutput)):
            continue
        if call.name not in tools or output.is_error:
            continue
        path, rest = _read_input(call.input)
        if not path:
            continue
        again = newest.get((path, rest)) or newest.get((path, ""))
        if again is None:
            newest[path, rest] = call.id
        else:
            out[row] = f"[read again later: {path} as call {again} gives it]"
    return _cheaper(table, out)


def _read_input(value: Any) -> tuple[str, str]:
    """The file that is read, and the other arguments as one text; empty when it is read whole."""
    if not isinstance(value, dict):
        return "", ""
    key = next((name for name in PATHS if isinstance(value.get(name), str)), None)
    rest = {name: value[name] for name in sorted(value) if name != key and value[name] is not None}
    return (value[key], stringify(rest) if rest else "") if key else ("", "")


def _cheaper(table: Table, pointers: dict[int, str]) -> dict[int, str]:
    """Those pointers that cost less than what they stand for."""
    rows = [row for row in pointers if table.kind[row] == TOOL_OUTPUT and not table.live.cleared[row]]
    costs = table.ledger.count_texts([pointers[row] for row in rows]).tolist() if rows else []
    return {row: pointers[row] for row, cost in zip(rows, costs, strict=True) if cost < table.tokens[row]}
