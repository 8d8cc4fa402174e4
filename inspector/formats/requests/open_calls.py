"""Calls that wait for what their tools answer -> the call of an output that names its tool alone, or none."""

from __future__ import annotations

from collections import OrderedDict

from ...session.blocks import ToolCall, ToolOutput
from ..json_document import Found


class OpenCalls:
    """The calls without an output, in the order in which they were made: all, and those of each tool."""

    def __init__(self) -> None:
        # Of a plain dict the first key is found more slowly the more of them were taken out before it.
        self.tools: OrderedDict[str, str] = OrderedDict()
        self.of_tool: dict[str, OrderedDict[str, None]] = {}

    def add(self, call: ToolCall) -> None:
        """A call was made."""
        self._close(call.id)
        self.tools[call.id] = call.name
        self.of_tool.setdefault(call.name, OrderedDict())[call.id] = None

    def answer(self, pair: Found) -> Found:
        """An output with the call that it answers: where it names none, the first of its tool, or of all.

        >>> calls = OpenCalls()
        >>> for call, tool in (("1", "Read"), ("2", "Bash")):
        ...     calls.add(ToolCall(id=call, name=tool))
        >>> [calls.answer((ToolOutput(call_id=said), {}))[0].call_id for said in ("Bash", "", "other")]
        ['2', '1', 'other']
        """
        block, rest = pair
        if not isinstance(block, ToolOutput):
            return pair
        call = block.call_id
        if call not in self.tools and self.tools:
            call = next(iter(self.of_tool.get(call) or ([call] if call else self.tools)))
            block = block.model_copy(update={"call_id": call, "name": self.tools.get(call, block.name)})
        self._close(call)
        return block, rest

    def _close(self, call: str) -> None:
        tool = self.tools.pop(call, None)
        if tool is not None:
            del self.of_tool[tool][call]
