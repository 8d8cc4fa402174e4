"""Pair the results of tools with their calls in formats whose calls may have no ids."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

from ...session.blocks import Block, ToolCall, ToolOutput
from ..json_document import ParsedBlock


class OpenCalls:
    """The calls without an output, in order: all of them, and those of each tool."""

    def __init__(self) -> None:
        # In a plain dict, finding the first key gets slower with each key that was removed before it.
        self.tools: OrderedDict[str, str] = OrderedDict()
        self.of_tool: dict[str, OrderedDict[str, None]] = {}

    def name_calls(self, parsed_blocks: list[ParsedBlock], number: object) -> None:
        """Give an id to each call of a message that has none of its own.

        >>> pairs = [(ToolCall(id="ls", name="ls"), {}), (ToolCall(id="", name="ls"), {})]
        >>> OpenCalls().name_calls(pairs, 7)
        >>> [call.id for call, _ in pairs]
        ['call-7', 'call-7.2']
        """
        count = 0
        for index, (block, rest) in enumerate(parsed_blocks):
            if isinstance(block, ToolCall) and block.id in ("", block.name):
                count += 1
                name = f"call-{number}.{count}" if count > 1 else f"call-{number}"
                parsed_blocks[index] = block.model_copy(update={"id": name}), rest

    def add_all(self, blocks: Iterable[Block]) -> None:
        """Add the calls of a message."""
        for block in blocks:
            if isinstance(block, ToolCall):
                self.add(block)

    def add(self, call: ToolCall) -> None:
        """Add a call."""
        self._close(call.id)
        self.tools[call.id] = call.name
        self.of_tool.setdefault(call.name, OrderedDict())[call.id] = None

    def answer(self, pair: ParsedBlock) -> ParsedBlock:
        """Return an output with the id of its call; without one, the first open call of its tool, or of all.

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
