"""Read the attachments that Claude Code adds for the model: files, skills, instructions, reminders.

A row of type `attachment` holds one, with fields by its type; no file has the reminder tags around it. Newer
versions also keep the text that was sent, `rendered`, which is used if present. Types and fields are from
public transcripts and public descriptions (versions 2.1.97 to 2.1.289, read in November 2026).
Attachments that only the screen shows (`hook_system_message`, `hook_success`
without content, permissions) are not text for the model, and unknown types give no text. Without `rendered`,
the harness's words around an attachment, some tens of tokens, are missing.

Lists of agents, skills, tools and servers, the project's instruction files, and facts about model, date,
environment and session are announced again after every compaction, so they are part of every request: they
are `Provided` by the harness, each line once, even if a later announcement removes it. Other attachments
belong to their place in the conversation and may be compacted.

From about 2.1.260 on, attachments also hold the system prompt and the tools. `prompt_snapshot` has the parts
of the prompt, the client's text before them (`cliPrefix`), and usually the tools. A session writes it twice
at its beginning (the second has the tools) and again after each compaction: the last one counts.
`deferred_tools_record` has tools that are loaded later: a request contains one once the result of a search
names it (`tool_reference`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ....session.blocks import Block, Document, Text, ToolOutput, Unknown, build
from ....session.entries import Provided, Tool
from ....session.json_text import stringify
from ...json_document import Fields, list_objects

MAIN = ("sdk", "repl_main_thread")
"""Who asks in the requests of the conversation itself."""
PROMPTED = ("SessionStart", "UserPromptSubmit", "UserPromptExpansion")
"""Events of hooks whose printed words become context; those of other events are for the screen."""
WAY = "attached"
"""How these words came, as `session.speakers` has it."""
Attachment = Mapping[str, Any]


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


def read_attachment(attachment: Attachment, rendered: Any = None) -> list[Block]:
    """Return the blocks that the model receives for an attachment; [] if it is not known to receive any.

    >>> [block.text for block in read_attachment({"type": "date_change", "newDate": "2026-07-21"})]
    ['2026-07-21']
    >>> read_attachment({"type": "command_permissions", "allowedTools": []})
    []
    """
    kind = attachment.get("type")
    if kind in ("file", "new_file") and (file := list(_read_file(attachment))):
        return file
    if (sent := "\n".join(filter(None, _strings(rendered)))).strip():
        return [build(Text, text=sent)]
    reader = _READERS.get(kind) if isinstance(kind, str) else None
    words = "" if reader is None else "\n".join(filter(None, reader(attachment))).strip()
    return [build(Text, text=words)] if words else []


class Announced:
    """The announcements of a file's attachments for every request, by name and origin, in file order."""

    def __init__(self) -> None:
        self._lines: dict[tuple[str, str], dict[str, None]] = {}

    def take(self, attachment: Attachment, rendered: Any = None) -> bool:
        """Take an attachment; whether it is an announcement."""
        kind = attachment.get("type")
        if kind == "instructions":
            for file in list_objects(attachment.get("files")):
                if content := _string(file.get("content")):
                    self._lines["instructions", _string(file.get("path"))] = {content: None}
            return True
        if isinstance(kind, str) and kind in _STANDING:
            words = [*filter(None, _strings(rendered))] or list(filter(None, _STANDING[kind](attachment)))
            self._lines[kind, ""] = dict.fromkeys(words)
            return True
        if not isinstance(kind, str) or kind not in _ANNOUNCED:
            return False
        words = [*filter(None, _READERS[kind](attachment))] or list(filter(None, _strings(rendered)))
        lines = self._lines.setdefault((_ANNOUNCED[kind], ""), {})
        lines.update(dict.fromkeys(words))
        return True

    def make(self) -> tuple[Provided, ...]:
        """Return the contributions up to here."""
        return tuple(
            build(Provided, name=name, text="\n".join(lines), origin=origin)
            for (name, origin), lines in self._lines.items()
            if lines
        )


_FIELDS = {
    "agents": ("agent_listing_delta", "addedLines"),
    "tools": ("deferred_tools_delta", "addedLines"),
    "servers": ("mcp_instructions_delta", "addedBlocks"),
    "skills": ("skill_listing", "content"),
}
_ANNOUNCED = {kind: name for name, (kind, _) in _FIELDS.items()}


def write_provided(provided: Provided) -> dict[str, Any] | None:
    """The attachment that announces a contribution; None for one of another harness."""
    if provided.name == "instructions":
        return {"type": "instructions", "files": [{"path": provided.origin, "content": provided.text}]}
    if provided.name not in _FIELDS:
        return None
    kind, field = _FIELDS[provided.name]
    return {"type": kind, field: provided.text if field == "content" else [provided.text]}


def _read_file(fields: Attachment) -> Iterator[Block]:
    name = _string(fields.get("filename")) or _string(fields.get("displayPath"))
    content = fields.get("content")
    file = content.get("file") if isinstance(content, dict) else None
    words = file.get("content") if isinstance(file, dict) else content
    if isinstance(words, str) and words:
        yield build(Document, media_type="text/plain", title=name or None, text=words)


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _strings(value: Any) -> Iterator[str]:
    """Yield a string, or the strings of a list; for an object in the list, its text or content."""
    if isinstance(value, str):
        yield value
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict):
            yield _string(item.get("text")) or _string(item.get("content"))
        else:
            yield _string(item)


def _read_memory(path: Any, content: Any) -> str:
    """An instruction file with its path, in the words that older versions wrote into a message."""
    words = content.get("content") if isinstance(content, dict) else content
    return f"Contents of {_string(path)}:\n\n{words}" if isinstance(words, str) and words else ""


def _read_skills(fields: Attachment) -> Iterator[str]:
    for skill in list_objects(fields.get("skills")):
        if content := _string(skill.get("content")):
            yield f"{_string(skill.get('name'))}\n\n{content}"


def _read_tasks(fields: Attachment) -> Iterator[str]:
    for task in list_objects(fields.get("content")):
        words = _string(task.get("subject")) or _string(task.get("content"))
        yield f"[{_string(task.get('status')) or 'pending'}] {words}" if words else ""


def _read_blocked(fields: Attachment) -> Iterator[str]:
    error = fields.get("blockingError")
    yield _string(error.get("blockingError") if isinstance(error, dict) else error)


def _read_hook(fields: Attachment) -> Iterator[str]:
    """What a hook printed: the model receives it before a prompt only."""
    if fields.get("hookEvent", PROMPTED[0]) in PROMPTED:
        yield from _strings(fields.get("content"))


def _read_late_hook(fields: Attachment) -> Iterator[str]:
    """The answer of a hook that ran in the background."""
    response = fields.get("response")
    answer = response if isinstance(response, dict) else {}
    yield _string(answer.get("systemMessage"))
    inner = answer.get("hookSpecificOutput")
    yield _string(inner.get("additionalContext")) if isinstance(inner, dict) else ""


def _read_diagnostics(fields: Attachment) -> Iterator[str]:
    for file in list_objects(fields.get("files")):
        yield _string(file.get("uri"))
        yield from (
            _string(diagnostic.get("message")) for diagnostic in list_objects(file.get("diagnostics"))
        )


def _read_memories(fields: Attachment) -> Iterator[str]:
    return (
        _read_memory(file.get("path"), file.get("content")) for file in list_objects(fields.get("memories"))
    )


def _read_values(name: str) -> Callable[[Attachment], Iterator[str]]:
    """A reader of an object's values that are words, each behind its name."""

    def read(fields: Attachment) -> Iterator[str]:
        members = fields.get(name)
        for key, value in members.items() if isinstance(members, dict) else ():
            yield f"{key}: {value}" if isinstance(value, str) and value else ""

    return read


def _take(*names: str) -> Callable[[Attachment], Iterator[str]]:
    """A reader of fields that hold words, or lists of them."""
    return lambda fields: (words for name in names for words in _strings(fields.get(name)))


def _read_resource(fields: Attachment) -> Iterator[str]:
    yield _string(fields.get("uri"))
    content = fields.get("content")
    yield content if isinstance(content, str) else "" if content is None else stringify(content)


_STANDING: dict[str, Callable[[Attachment], Iterator[str]]] = {
    "date": _take("date"),
    "environment": _read_values("snapshot"),
    "model": _take("text"),
    "session_context": _read_values("context"),
}
"""Announced again as a whole when it changes, and after every compaction."""
_READERS: dict[str, Callable[[Attachment], Iterable[str]]] = {
    "async_hook_response": _read_late_hook,
    "bash_output_audience_note": _take("text", "content"),
    "batching_reminder_sent": _take("text"),
    "compact_file_reference": _take("filename"),
    "date_change": _take("newDate"),
    "diagnostics": _read_diagnostics,
    "directory": _take("path", "content"),
    "edited_text_file": _take("filename", "snippet"),
    "hook_additional_context": _take("content"),
    "hook_blocking_error": _read_blocked,
    "hook_success": _read_hook,
    "invoked_skills": _read_skills,
    "mcp_resource": _read_resource,
    "nested_memory": lambda fields: [_read_memory(fields.get("path"), fields.get("content"))],
    "opened_file_in_ide": _take("filename"),
    "output_style_instructions": _take("text", "content"),
    "plan_file_reference": _take("planFilePath", "planContent"),
    "read_truncation_notice": _take("text", "content"),
    "relevant_memories": _read_memories,
    "sandbox_instructions": _take("text", "content"),
    "selected_lines_in_ide": _take("filename", "content"),
    "task_reminder": _read_tasks,
    "silent_turn_reminder": _take("text", "content"),
    "todo_reminder": _read_tasks,
    "total_tokens_reminder": _take("text", "content"),
    **{kind: _take(field) for kind, field in _FIELDS.values()},
}
