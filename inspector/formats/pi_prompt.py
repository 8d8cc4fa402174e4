"""System messages in a pi session -> the system prompt and the tools at the end of its path.

Since September 2026 the first request of a session stores a message of role `system` with named sections of
the prompt and the tools; later ones change them by name: a section that is null goes, `toolsAdded` and
`toolsRemoved` come and go. A compaction may hold one, `systemMessage`, that stands for all before it. Source:
pi's documentation of its session format, read in November 2026.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..session.blocks import Text
from ..session.entries import Tool
from .json_document import Fields

Json = dict[str, Any]


def find_system_messages(path: Iterable[Json]) -> list[Json]:
    """The system messages that count, of the records from the first to the last."""
    found: list[Json] = []
    for record in path:
        if is_system_message(record):
            found.append(record["message"])
        elif isinstance(whole := record.get("systemMessage"), dict) and record.get("type") == "compaction":
            found = [whole]
    return found


def is_system_message(record: Json) -> bool:
    """Whether a record tells of the prompt, and is no part of the conversation."""
    message = record.get("message") if record.get("type") == "message" else None
    return isinstance(message, dict) and message.get("role") == "system"


def replay_prompt(messages: Iterable[Json]) -> tuple[tuple[Text, ...], tuple[Tool, ...]]:
    """The prompt as one text, its own words before its sections, and the tools.

    >>> first = {"content": "", "sections": {"who": "You fix tests.", "how": "Be brief."}}
    >>> system, _ = replay_prompt([first, {"content": "Ask before you push.", "sections": {"how": None}}])
    >>> system[0].text
    'Ask before you push.\\n\\nYou fix tests.'
    """
    words: list[str] = []
    sections: dict[str, str] = {}
    tools: dict[str, Tool] = {}
    for message in messages:
        fields = Fields(message)
        words.append(_read_words(fields.any("content")))
        for name, section in (fields.object("sections") or {}).items():
            if isinstance(section, str):
                sections[name] = section
            else:
                sections.pop(name, None)
        for raw in fields.items("toolsRemoved") or ():
            tools.pop(str(Fields(raw).text("name")), None)
        for raw in fields.items("toolsAdded") or ():
            tool = Fields(raw)
            if (added := tool.text("name")) is not None:
                about = tool.text("description") or ""
                tools[added] = Tool(name=added, description=about, input_schema=tool.any("parameters"))
    said = "\n\n".join(filter(None, (*words, *sections.values())))
    return ((Text(text=said),) if said else ()), tuple(tools.values())


def _read_words(content: Any) -> str:
    parts = content if isinstance(content, list) else [{"text": content}]
    return "\n".join(filter(None, (Fields(part).text("text") for part in parts)))
