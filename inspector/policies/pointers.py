"""Replace a tool's output by a line that names the tool and the artifact with the output (TIERED §3.1).

The line has the tool's name, its input, the length of the omitted text in UTF-16 units, and the artifact's
name. It is worded as in the published system, so that both can read each other's contexts.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..session.blocks import TOOL_CALL, Block, ToolCall, ToolOutput
from ..session.json_text import stringify
from ..text import utf16_length
from ..tokens.memo import Memo
from .shorten import Form, cut_units, replace_text, take_head
from .table import Table

SALIENT = ("path", "pattern", "command", "query")
"""Arguments that say best what a call was about, the first that is there decides."""
LABEL = 80
"""Units of a label, before the three dots."""
_CALLS: Memo[Mapping[str, ToolCall]] = Memo()


def find_calls(table: Table) -> Mapping[str, ToolCall]:
    """Every live call by its id. Of two with one id the later is meant (TIERED §3 step 3)."""
    return _CALLS.of(table.moment, lambda: _find_calls(table))


def _find_calls(table: Table) -> dict[str, ToolCall]:
    rows = np.flatnonzero(table.kind == TOOL_CALL).tolist()
    blocks = [table.block(row) for row in rows]
    return {block.id: block for block in blocks if isinstance(block, ToolCall)}


def call_of(table: Table, output: ToolOutput, row: int) -> ToolCall | None:
    """The call that an output answers, else the latest call of its id."""
    paired = int(table.calls[row])
    call = table.block(paired) if paired >= 0 else None
    return call if isinstance(call, ToolCall) else find_calls(table).get(output.call_id)


def name_call(call: ToolCall, form: Form = "fixed") -> str:
    """Return the call's tool and its input, in at most one line.

    >>> name_call(ToolCall(id="t", name="Read", input={"limit": 5, "path": "src/x.ts"}))
    'Read(src/x.ts)'
    """
    inputs = call.input if isinstance(call.input, dict) else {}
    words = next(
        (inputs[name] for name in SALIENT if isinstance(inputs.get(name), str) and inputs[name]), None
    )
    label = stringify(call.input) if words is None else words
    if form == "fixed":
        label = " ".join(label.split())
    if utf16_length(label) > LABEL:
        label = (cut_units if form == "compat" else take_head)(label, LABEL) + "..."
    return f"{call.name}({label})"


def write_pointer(output: ToolOutput, call: ToolCall | None, form: Form = "fixed") -> str:
    """The line that replaces the output.

    >>> from inspector.session.blocks import Text
    >>> call = ToolCall(id="t", name="Read", input={"path": "src/x.ts"})
    >>> write_pointer(ToolOutput(call_id="t", parts=(Text(text="x" * 900),), artifact="a/1.txt"), call)
    '[archived Read(src/x.ts) result: 900 chars omitted -> a/1.txt]'
    """
    before, after = _frame(output, call, form)
    return f"{before}{utf16_length(output.text)}{after}"


def is_pointer(output: ToolOutput, call: ToolCall | None) -> bool:
    """Whether the output already is the line that would replace it, with any figure."""
    before, after = _frame(output, call, "fixed")
    text = output.text
    figure = text[len(before) : len(text) - len(after)]
    return text.startswith(before) and text.endswith(after) and figure.isdigit() and figure.isascii()


def _frame(output: ToolOutput, call: ToolCall | None, form: Form) -> tuple[str, str]:
    """The text of the line before and after the length."""
    named = (output.name if form == "fixed" else None) or "tool"
    named = name_call(call, form) if call is not None else named
    where = f" -> {output.artifact}" if output.artifact else " (re-run the tool to see full output)"
    return f"[archived {named} result: ", f" chars omitted{where}]"


def point_at(output: ToolOutput, call: ToolCall | None, form: Form = "fixed") -> Block:
    """The output as a pointer to itself; in the fixed form only if that is shorter than the output."""
    text = write_pointer(output, call, form)
    if form == "fixed" and (utf16_length(text) >= utf16_length(output.text) or is_pointer(output, call)):
        return output
    return replace_text(output, text)
