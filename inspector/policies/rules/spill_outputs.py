"""Spill outputs: tool outputs that together are too large for one message go to files, largest first."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field

from ...session.blocks import TOOL_OUTPUT, Block, BlockRef, ToolOutput
from ...session.tree import Bools
from ...text import plural
from ..base_rule import Rule
from ..part import Count
from ..shorten import from_tools, output_lengths, replace_text
from ..table import POINTER, Claim, Decision, Rewrite, Table


class SpillOutputs(Rule):
    """Limit the outputs of one message to `budget` characters: write the largest to files, and replace them
    by a path and their beginning.

    One message holds all outputs for one reply of the model, even if they are several records in the file.
    Outputs of exempt tools are neither changed nor counted. The rule runs before every request, and before
    the other steps of a compaction (S2-48).
    """

    title: ClassVar[str] = "Spill outputs to files"
    phrase: ClassVar[str] = "tool outputs of one message over {budget} characters go to files, largest first"
    source: ClassVar[str] = (
        "seed 002, tool-result budget (S2-46 to S2-50); 50,000 characters is from when on Claude Code writes "
        "a result to a file (CLAUDE §2.5)"
    )

    early: ClassVar[bool] = True
    names_files: ClassVar[bool] = True

    kind: Literal["spill-outputs"] = "spill-outputs"
    budget: Count = Field(50_000, description="Maximum characters of a message's outputs")
    preview: Count = Field(2_000, description="Characters shown of an output in a file")
    exempt_tools: tuple[str, ...] = Field(
        ("Read", "FileRead"), description="Tools whose outputs always stay and do not count"
    )
    folder: str = Field("tool-results", description="Folder for the files")

    def decide(self, table: Table) -> Decision:
        """Claim the outputs that go to files, wherever the cut is."""

        def make(block: Block, row: int) -> Block:
            return replace_text(block, _point(self, block)) if isinstance(block, ToolOutput) else block

        rewrite = Rewrite(make, ("spill", self.folder, self.preview))
        rows, above = find_spilled(self, table)
        claim = Claim(rows, POINTER, rewrite=rewrite)
        notes: tuple[str, ...] = ()
        if above:
            where = plural(len(above), "message remains", "messages remain up to")
            sentence = (
                f"{where} {max(above):,} characters above the budget of {self.budget:,}: an output in a file "
                f"keeps its beginning here, and one of at most {self._least:,} characters goes to no file."
            )
            notes = (sentence,)
        return Decision(older=claim, kept=claim, notes=notes)

    @property
    def _least(self) -> int:
        """The most characters of an output that is not worth a file."""
        return self.preview + len(self.folder) + _WORTH

    def is_needed(self, characters: int, turns: int) -> bool:
        return characters > self.budget


_WORTH = 256
"""Characters beyond the preview that an output must have: a pointer is always shorter, and stays one."""


class Spill(NamedTuple):
    """An output to be written to a file: its block, the path, its whole text and the hash of that."""

    ref: BlockRef
    call_id: str
    path: str
    text: str
    sha256: str


def find_spilled(rule: SpillOutputs, table: Table) -> tuple[Bools, list[int]]:
    """bool[m]: outputs that go to files: of each message over the budget the largest, until it is under.

    And by how many characters each message is over it still.
    """
    above: list[int] = []
    rows, lengths = np.zeros(len(table.tokens), bool), output_lengths(table)
    step = table.live.step[table.live.position]
    heavy = np.bincount(step, lengths) > rule.budget
    eligible: Bools = (table.kind == TOOL_OUTPUT) & heavy[step] if len(step) else rows
    eligible &= ~from_tools(table, eligible, rule.exempt_tools)
    candidates = np.flatnonzero(eligible)
    _, first = np.unique(step[candidates], return_index=True)
    for step_rows in np.split(candidates, first[1:]):
        total = int(lengths[step_rows].sum())
        for row in step_rows[np.argsort(-lengths[step_rows], kind="stable")].tolist():
            block = table.block(row)
            if total <= rule.budget or lengths[row] <= rule._least:
                break
            if isinstance(block, ToolOutput):
                rows[row] = True
                total -= int(lengths[row]) - len(_point(rule, block))
        if total > rule.budget:
            above.append(total - rule.budget)
    return rows, above


def find_spills(rule: SpillOutputs, table: Table) -> tuple[Spill, ...]:
    """Return the outputs to be written to files for this context. The caller writes them."""
    out = []
    rows = np.flatnonzero(find_spilled(rule, table)[0])
    for row, ref in zip(rows.tolist(), table.session.live_refs(rows), strict=True):
        block = table.block(row)
        if isinstance(block, ToolOutput):
            out.append(Spill(ref, block.call_id, _path(rule, block), block.text, _hash(block.text)))
    return tuple(out)


def _point(rule: SpillOutputs, output: ToolOutput) -> str:
    text = output.text
    where = f"[{len(text):,} characters of output are in {_path(rule, output)}"
    shown = f"; they begin:]\n{text[: rule.preview]}" if rule.preview else "]"
    return where + shown


def _path(rule: SpillOutputs, output: ToolOutput) -> str:
    # A call's id is the transcript's word, so it cannot name a file as it is.
    name = re.sub(r"[^A-Za-z0-9_-]", "_", output.call_id)[:64]
    return f"{rule.folder}/{name}-{_hash(output.text)[:12]}.txt"


def _hash(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
