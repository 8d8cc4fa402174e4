"""Keep prompts: the user's words stay, with what fits of the newest turn and of older final answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from ...session.blocks import IMAGE, TEXT, Block, Text, ToolCall
from ...session.tree import ASSISTANT, SYSTEM, Bools
from ..base_rule import Rule
from ..groups import find_calling, find_groups, in_open_loop
from ..part import Count, Share
from ..table import DROPPED, TRUNCATED, Claim, Decision, Rewrite, Table

COMMAND, TEXTS = 100, 3
"""Characters of a command, and the newest texts of the assistant, that a notice has at most."""


class KeepPrompts(Rule):
    """Of the newest turn the newest messages stay while they fit, then the final answers of older turns.

    All the user's words stay, even beyond the limit. The prompt of a turn of which something goes is followed
    by a notice that names its files, commands and last texts. Only the newest prompt keeps its pictures. No
    model is asked, and no cut is needed.
    """

    title: ClassVar[str] = "Keep prompts"
    source: ClassVar[str] = "@cline/core 0.0.86, basic strategy"
    takes: ClassVar[bool] = True

    kind: Literal["keep-prompts"] = "keep-prompts"
    share: Share = Field(0.7, description="Share of the trigger's threshold that may remain")
    amount: Count | None = Field(None, description="A fixed size that may remain instead")
    overhead: Count = Field(0, description="Tokens that count besides the messages")
    frozen: Count = Field(0, description="Messages at the beginning that stay: they survived a compaction")

    @property
    def template(self) -> str:
        limit = "{share} of the trigger's threshold" if self.amount is None else "{amount} tokens"
        return f"keep the user's words, and of the rest the newest that fits in {limit}"

    def decide(self, table: Table) -> Decision:
        """Claim what goes, and the prompts before it, on both sides of the cut."""
        limit: float = -1 if self.amount is None else self.amount
        if self.amount is None and table.trigger.knows(table.window):
            limit = int(table.trigger.threshold(table.window) * self.share)
        if limit < 0:
            return Decision(why="The model's window is not known, so no share of it is.")
        live = table.live
        staying = self._choose(table, limit - self.overhead)
        gone = ~staying
        if not gone.any():
            return Decision(why="There is nothing to leave out.")
        rows = gone[live.position]
        opens = np.flatnonzero(live.opens)
        if len(opens):
            rows |= (table.kind == IMAGE) & live.opens[live.position] & (live.position < opens[-1])
        notices = _write_notices(table, gone)
        noted = table.mask(notices)
        rewrite = Rewrite(lambda block, row: _add(block, notices.get(row)))
        claims = Claim(rows & ~noted, DROPPED), Claim(noted, TRUNCATED, rewrite=rewrite)
        return Decision(older=claims, kept=claims)

    def _choose(self, table: Table, limit: float) -> Bools:
        """bool[n]: the live entries that stay."""
        live = table.live
        n = len(live)
        sizes = table.weights("cline").astype(np.int64)
        groups = find_groups(table)
        called = find_calling(table, groups)
        staying: Bools = live.opens | (np.arange(n) < max(self.frozen, table.start)) | in_open_loop(table)
        staying |= live.role >= SYSTEM
        room = limit - int(sizes[staying].sum())
        opens = np.flatnonzero(live.opens)
        newest = int(opens[-1]) if len(opens) else 0
        for group in dict.fromkeys(groups[newest:][::-1].tolist()):
            members = (groups == group) & ~staying
            size = int(sizes[members].sum())
            if size > room:
                break
            staying, room = staying | members, room - size
        for answer in _find_answers(table, called, newest)[::-1]:
            size = 0 if staying[answer] else int(sizes[answer])
            if size > room:
                break
            staying[answer], room = True, room - size
        return staying


def _find_answers(table: Table, called: Bools, before: int) -> list[int]:
    """The last message of each turn before a place, if it is the assistant's and calls nothing."""
    live = table.live
    ends: dict[int, int] = {}
    for position in range(before):
        ends[int(live.turn[position])] = position
    return [end for end in ends.values() if live.role[end] == ASSISTANT and not called[end]]


def _write_notices(table: Table, gone: Bools) -> Mapping[int, str]:
    """The notice of each turn of which something goes, by the row of the prompt's last text."""
    live = table.live
    notices: dict[int, str] = {}
    for turn in np.unique(live.turn[gone]).tolist():
        positions = np.flatnonzero((live.turn == turn) & live.opens)
        rows = [
            row
            for position in positions.tolist()
            for row in range(int(live.start[position]), int(live.start[position + 1]))
            if table.kind[row] == TEXT
        ]
        if rows:
            notices[rows[-1]] = _describe(table, (live.turn == turn) & gone)
    return notices


def _describe(table: Table, gone: Bools) -> str:
    files: dict[str, None] = {}
    commands: dict[str, None] = {}
    texts: list[str] = []
    for row in np.flatnonzero(gone[table.live.position]).tolist():
        block = table.block(row)
        if isinstance(block, ToolCall) and isinstance(block.input, Mapping):
            path = block.input.get("path") or block.input.get("file_path")
            command = block.input.get("command")
            files |= {str(path): None} if path else {}
            commands |= {str(command)[:COMMAND]: None} if command else {}
        elif block.kind == "text" and block.text.strip():
            texts.append(block.text)
    parts = [
        f"files: {', '.join(files)}" if files else "",
        f"commands: {'; '.join(commands)}" if commands else "",
        *texts[-TEXTS:],
    ]
    return f"[left out here: {' | '.join(filter(None, parts)) or 'messages'}]"


def _add(block: Block, notice: str | None) -> Block:
    return block if notice is None else Text(text=f"{block.text}\n\n{notice}")
