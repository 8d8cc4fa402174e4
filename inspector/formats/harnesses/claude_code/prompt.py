"""Read the system prompt and the tools from a Claude Code file.

From about 2.1.260 on, rows of type `attachment` hold them. `prompt_snapshot` has the parts of the prompt, the
client's text before them (`cliPrefix`), and usually the tools. A session writes it twice at its beginning
(the second has the tools) and again after each compaction: the last one counts. `deferred_tools_record` has
tools that are loaded later: a request contains one once the result of a search names it (`tool_reference`).
Source: public transcripts and descriptions of versions 2.1.267 to 2.1.289, read in November 2026.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ....session.blocks import Block, Text, ToolOutput, Unknown, build
from ....session.entries import Tool
from ...json_document import Fields

MAIN = ("sdk", "repl_main_thread")
"""Who asks in the requests of the conversation itself."""


class PromptSnapshot:
    """The prompt and the tools in a file's attachments, taken in file order."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.tools: dict[str, Tool] = {}
        self.waiting: dict[str, Tool] = {}
        self.shapes: dict[str, Any] = {}

    def take(self, attachment: Mapping[str, Any]) -> bool:
        """Take an attachment. Return whether it is about the prompt or the tools.

        >>> snapshot = PromptSnapshot()
        >>> snapshot.take({"type": "prompt_snapshot", "systemPrompt": ["You mend tests.", "Be brief."]})
        True
        >>> [block.text for block in snapshot.make_system()]
        ['You mend tests.', 'Be brief.']
        """
        kind, fields = attachment.get("type"), Fields(dict(attachment))
        if kind == "prompt_snapshot":
            prompt = fields.any("systemPrompt")
            parts = [fields.text("cliPrefix"), *(prompt if isinstance(prompt, list) else [prompt])]
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

    def take_request(self, name: str | None, shape: Any, asker: str | None) -> None:
        """Take the system prompt and the tools of a recorded request; the conversation's last request counts.

        A row holds them under a hash, and the rows of requests name the hash.
        """
        if name is None:
            return
        if isinstance(shape, dict):
            self.shapes[name] = shape
        elif asker in MAIN and (fields := Fields(dict(self.shapes.get(name, {})))).rest:
            system = fields.any("system")
            texts = [Fields(part).text("text") for part in system] if isinstance(system, list) else [system]
            self.parts = [text for text in texts if isinstance(text, str) and text] or self.parts
            self.tools = _read_tools(fields.any("tools"))[0] or self.tools

    def make_system(self) -> tuple[Text, ...]:
        """Return the parts of the prompt up to here."""
        return tuple(build(Text, text=part) for part in self.parts)

    def make_tools(self, blocks: Iterable[Block]) -> tuple[Tool, ...]:
        """Return the tools up to here: the prompt's, then the tools that `blocks` loaded."""
        loaded = _find_loaded(blocks) if self.waiting else {}
        late = {name: self.waiting[name] for name in loaded if name in self.waiting}
        return tuple((self.tools | late).values())


def _read_tools(raw: Any) -> tuple[dict[str, Tool], dict[str, Tool]]:
    """Return the tools that are in the request, and the tools that can be loaded later."""
    tools: dict[bool, dict[str, Tool]] = {False: {}, True: {}}
    for item in raw if isinstance(raw, list) else ():
        fields = Fields(item)
        name = fields.text("name")
        if name is not None:
            about = fields.text("description") or ""
            schema = fields.any("input_schema") or fields.any("schema")
            tool = build(Tool, name=name, description=about, input_schema=schema)
            tools[fields.flag("defer_loading") is True][name] = tool
    return tools[False], tools[True]


def _find_loaded(blocks: Iterable[Block]) -> dict[str, None]:
    """The names of tools that results of searches loaded."""
    parts = (part for block in blocks if type(block) is ToolOutput for part in block.parts)
    raws = (part.raw for part in parts if type(part) is Unknown and part.type == "tool_reference")
    names = (Fields(raw).text("tool_name") for raw in raws)
    return {name: None for name in names if name is not None}
