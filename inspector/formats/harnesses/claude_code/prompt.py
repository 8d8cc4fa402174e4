"""The system prompt and the tools, as newer versions of Claude Code keep them beside the conversation.

From about 2.1.260 on, rows of type `attachment` hold them: `prompt_snapshot` the prompt's parts, with what
the client puts before them (`cliPrefix`), and mostly the tools. A session writes it when it begins, twice
(the second has the tools), and after each compaction: the last one counts. `deferred_tools_record` holds
tools that wait to be loaded: one is in a request once the result of a search names it (`tool_reference`).
Source: public transcripts and descriptions of versions 2.1.267 to 2.1.289, read in November 2026.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ....session.blocks import Block, Text, ToolOutput, Unknown, build
from ....session.entries import Tool
from ...json_document import Fields


class PromptSnapshot:
    """What the attachments of a file tell of the prompt, in the order met."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.tools: dict[str, Tool] = {}
        self.waiting: dict[str, Tool] = {}

    def take(self, attachment: Mapping[str, Any]) -> bool:
        """Take an attachment; whether it tells of the prompt.

        >>> snapshot = PromptSnapshot()
        >>> snapshot.take({"type": "prompt_snapshot", "systemPrompt": ["You mend tests.", "Be brief."]})
        True
        >>> [block.text for block in snapshot.make_system()]
        ['You mend tests.', 'Be brief.']
        """
        kind, fields = attachment.get("type"), Fields(dict(attachment))
        if kind == "prompt_snapshot":
            told = fields.any("systemPrompt")
            parts = [fields.text("cliPrefix"), *(told if isinstance(told, list) else [told])]
            self.parts = [part for part in parts if isinstance(part, str) and part] or self.parts
            tools, waiting = _read_tools(fields.any("tools"))
            self.tools = tools or self.tools
            self.waiting |= waiting
            return True
        if kind == "deferred_tools_record":
            tools, waiting = _read_tools(fields.any("entries"))
            self.waiting |= tools | waiting
            return True
        return False

    def make_system(self) -> tuple[Text, ...]:
        """The parts of the prompt as they stand now."""
        return tuple(build(Text, text=part) for part in self.parts)

    def make_tools(self, blocks: Iterable[Block]) -> tuple[Tool, ...]:
        """The tools as they stand now: those of the prompt, then those that `blocks` loaded."""
        loaded = _find_loaded(blocks) if self.waiting else {}
        late = {name: self.waiting[name] for name in loaded if name in self.waiting}
        return tuple((self.tools | late).values())


def _read_tools(raw: Any) -> tuple[dict[str, Tool], dict[str, Tool]]:
    """The tools that are in the request, and those that wait to be loaded."""
    found: dict[bool, dict[str, Tool]] = {False: {}, True: {}}
    for item in raw if isinstance(raw, list) else ():
        fields = Fields(item)
        name = fields.text("name")
        if name is not None:
            about = fields.text("description") or ""
            schema = fields.any("input_schema") or fields.any("schema")
            tool = build(Tool, name=name, description=about, input_schema=schema)
            found[fields.flag("defer_loading") is True][name] = tool
    return found[False], found[True]


def _find_loaded(blocks: Iterable[Block]) -> dict[str, None]:
    """The names of tools that results of searches loaded."""
    parts = (part for block in blocks if type(block) is ToolOutput for part in block.parts)
    raws = (part.raw for part in parts if type(part) is Unknown and part.type == "tool_reference")
    names = (Fields(raw).text("tool_name") for raw in raws)
    return {name: None for name in names if name is not None}
