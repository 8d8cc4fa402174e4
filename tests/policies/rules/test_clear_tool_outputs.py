"""Outputs that are cleared, and the inputs of their calls, in a file that begins with a call."""

from __future__ import annotations

from inspector import build_context, count_tokens, make_plan
from inspector.session.blocks import Text, ToolCall, ToolOutput
from inspector.session.entries import Entry
from tests.telling import use
from tests.test_cuts import build, say, user


def act(number: int) -> tuple[Entry, Entry]:
    return use(number, "Read", "line " * 200, path=f"{number}.py " * 40)


def test_the_inputs_of_exactly_the_cleared_outputs_are_emptied() -> None:
    """The first block of the file is a call; an output of no call stands in it too."""
    stray = ToolOutput(call_id="gone", name="Read", parts=(Text(text="line " * 200),))
    session = build(
        *act(0),
        Entry(id="", role="tool", blocks=(stray,)),
        *act(1),
        user("go on"),
        *act(2),
        *act(3),
        say("done"),
    )
    settings = {"drop-old-outputs.clear_inputs": True, "drop-old-outputs.keep": 1}
    ledger = count_tokens(session)
    plan = make_plan(session, ledger, "langchain-clear", {"settings": settings}, reason="manual")
    pieces = build_context(session, plan).pieces
    emptied = {
        piece.block.id for piece in pieces if isinstance(piece.block, ToolCall) and not piece.block.input
    }
    cleared = {
        piece.block.call_id for piece in pieces
        if isinstance(piece.block, ToolOutput) and "line" not in piece.block.text
    }  # fmt: skip
    assert emptied == {"c0", "c1", "c2"} and cleared - {"gone"} == emptied
