"""Spill outputs: tool outputs that together are too large for one message go to files, largest first."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field

from ...session.blocks import Block, BlockRef, ToolOutput
from ...session.tree import Bools
from ..base_rule import Rule
from ..part import LARGE
from ..shorten import TOOL_OUTPUT, from_tools, output_lengths, replace_text
from ..table import POINTER, Claim, Decision, Rewrite, Table


class SpillOutputs(Rule):
    """The outputs of one message may have `budget` characters together; beyond that the largest are kept
    in files, and a path and the beginning stand in their place.

    One message is what answers one reply of the model, however many records the file makes of it. Outputs
    of exempt tools are neither touched nor counted. It is done before every request, and before anything
    else a compaction does (S2-48).
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
    budget: int = Field(50_000, ge=0, le=LARGE, description="Characters that a message's outputs may have")
    preview: int = Field(2_000, ge=0, le=LARGE, description="Characters shown of an output in a file")
    exempt_tools: tuple[str, ...] = Field(
        ("Read", "FileRead"), description="Tools whose outputs always stay and do not count"
    )
    folder: str = Field("tool-results", description="Where the files are")

    def decide(self, table: Table) -> Decision:
        """Claim the outputs that go to files, wherever the cut is."""

        def make(block: Block, row: int) -> Block:
            return replace_text(block, _point(self, block)) if isinstance(block, ToolOutput) else block

        rewrite = Rewrite(make, ("spill", self.folder, self.preview))
        claim = Claim(find_spilled(self, table), POINTER, rewrite=rewrite)
        return Decision(older=claim, kept=claim)

    def is_needed(self, characters: int) -> bool:
        return characters > self.budget


_WORTH = 256
"""Characters beyond the preview that an output must have: a pointer is always shorter, and stays one."""


class Spill(NamedTuple):
    """An output to be written to a file: what it is, where to, all of its text and the hash of that."""

    ref: BlockRef
    call_id: str
    path: str
    text: str
    sha256: str


def find_spilled(rule: SpillOutputs, table: Table) -> Bools:
    """bool[m]: outputs that go to files: of each message over the budget the largest, until it is under."""
    rows, lengths = np.zeros(len(table.tokens), bool), output_lengths(table)
    step = table.live.step[table.live.position]
    heavy = np.bincount(step, lengths) > rule.budget
    eligible: Bools = (table.kind == TOOL_OUTPUT) & heavy[step] if len(step) else rows
    eligible &= ~from_tools(table, eligible, rule.exempt_tools)
    candidates = np.flatnonzero(eligible)
    _, first = np.unique(step[candidates], return_index=True)
    for mine in np.split(candidates, first[1:]):
        total = int(lengths[mine].sum())
        for row in mine[np.argsort(-lengths[mine], kind="stable")].tolist():
            block = table.block(row)
            if total <= rule.budget or lengths[row] <= rule.preview + len(rule.folder) + _WORTH:
                break
            if isinstance(block, ToolOutput):
                rows[row] = True
                total -= int(lengths[row]) - len(_point(rule, block))
    return rows


def find_spills(rule: SpillOutputs, table: Table) -> tuple[Spill, ...]:
    """What has to be written to files for this context; writing them is for a door."""
    out = []
    rows = np.flatnonzero(find_spilled(rule, table))
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
