"""Name a block in a few words: "your words", "the edit", "the output of git diff"."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from ..redaction.cut import cut_text
from ..session.blocks import BlockRef, ToolCall
from ..session.session import Session
from ..session.speakers import who_speaks
from ..session.toolcalls.core_command import core_command, name_command, split_core
from .occurrences import refer

_DOING = (("created", "writing"), ("edited", "edit"), ("read", "reading"))
_OWN = ("Edit", "Write", "Read")
"""Tools whose names say no more than what they did."""


def name_block(session: Session, ref: BlockRef, operations: Collection[str | None] = ()) -> str:
    """Return the name of a block.

    Args:
        session: The session.
        ref: The block.
        operations: What the block does with the fact that it is named for.

    >>> from inspector import read_session
    >>> session = read_session([{"role": "user", "content": "Read src/a.py."}])
    >>> name_block(session, session.live_refs()[0])
    'your words'
    """
    if ref.entry not in session.index:
        return "the head"
    block = session.block(ref)
    if isinstance(block, ToolCall):
        tool = _name_run(block) or cut_text(block.name, 40)
        word = "" if _name_run(block) else next((word for way, word in _DOING if way in operations), "")
        return f"the {word}" + (f" by {tool}" if tool not in _OWN else "") if word else f"the call {tool}"
    if block.kind == "tool_output":
        call = _find_call(session, ref)
        name = block.name if call is None else _name_run(call) or call.name
        return f"the output of {cut_text(name, 40)}" if name else "a tool's output"
    if block.kind in ("reasoning", "document"):
        return "the thinking" if block.kind == "reasoning" else "a document"
    speech = who_speaks(session[ref.entry])
    if speech.way == "plan":
        return "the plan that you approved"
    names = {"user": "your words", "model": "the answer", "agent": "a sub-agent's words"}
    return names.get(speech.speaker, "a message")


def _find_call(session: Session, ref: BlockRef) -> ToolCall | None:
    """Return the call that an output answers."""
    tree, row = session.tree, session.block_row(ref)
    rows = np.flatnonzero((tree.call[:row] == tree.call[row]) & ~tree.answers[:row])
    (call,) = refer(session, rows[-1:].tolist()) if tree.call[row] >= 0 and len(rows) else (None,)
    block = None if call is None else session.block(call)
    return block if isinstance(block, ToolCall) else None


def _name_run(call: ToolCall) -> str:
    """Return the program and subcommand that a call runs; "" if it runs none."""
    arguments = call.input if isinstance(call.input, dict) else {}
    command = arguments.get("command", arguments.get("cmd"))
    if isinstance(command, list) and len(command) == 3:
        # A shell and its command: ["bash", "-lc", "git diff"].
        command = command[2]
    if not isinstance(command, str) or not command.strip():
        return ""
    clause = split_core(core_command(command))[0]
    return cut_text(name_command(clause) or clause.split()[0], 40)
