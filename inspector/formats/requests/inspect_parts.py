"""Read the parts of an Inspect event: attachments, message parts, and the spans around it.

Source: FORMATS §10. Parts of Inspect's messages are converted to forms that `chat_messages.py` reads.
"""

from __future__ import annotations

from typing import Any

from ..json_document import Fields
from ..recording import Json

POINTERS = ("attachment://", "tc://")
"""Prefixes of texts that refer to an attachment; the second occurs in logs of 2024."""
APART = ("tool", "scorer", "scorers", "branch", "subtask")
"""Types of spans whose requests are a sub-agent's, a judge's, or of an abandoned branch."""
MEDIA = ("audio", "video", "document")


def open_message(value: Any, attached: Json) -> Any:
    """Insert the attachments of a message, and convert it to OpenAI's form."""
    if isinstance(value, str):
        for pointer in POINTERS:
            if value.startswith(pointer):
                return attached.get(value.removeprefix(pointer), value)
        return value
    if isinstance(value, list):
        return [open_message(item, attached) for item in value]
    if not isinstance(value, dict):
        return value
    opened = {key: open_message(item, attached) for key, item in value.items()}
    if isinstance(parts := opened.get("content"), list):
        opened["content"] = [part for item in parts for part in _split_part(item)]
    return opened


def _split_part(part: Any) -> list[Any]:
    """Convert a part of a message. A call of a tool that the provider ran is split from its output."""
    if not isinstance(part, dict):
        return [part]
    kind = part.get("type")
    if kind == "image" and isinstance(part.get("image"), str):
        rest = {key: item for key, item in part.items() if key != "image"}
        return [{**rest, "type": "image_url", "image_url": part["image"]}]
    if kind == "reasoning" and isinstance(part.get("reasoning"), str):
        return [_open_reasoning(part)]
    if kind == "tool_use" and "arguments" in part:
        call = {key: item for key, item in part.items() if key not in ("result", "error")}
        answer = part.get("error") or part.get("result")
        result = {"type": "tool_call_response", "id": part.get("id"), "result": answer}
        return [{**call, "type": "tool_call"}, *([result] if answer else [])]
    if kind in MEDIA and isinstance(part.get(kind), str):
        return [_open_file(part, kind)]
    inner = Fields(Fields(part.get("data")).rest.get("compaction_metadata")).rest if kind == "data" else {}
    if isinstance(inner.get("content"), str):
        return [{"type": "text", "text": inner["content"]}]
    if isinstance(inner.get("encrypted_content"), str):
        return [{"type": "redacted_thinking", "data": inner["encrypted_content"]}]
    return [part]


def _open_reasoning(part: Json) -> Json:
    """Convert reasoning: its summary is the text, because the reasoning itself may be encrypted."""
    rest = {key: item for key, item in part.items() if key not in ("reasoning", "summary")}
    summary = part.get("summary") if isinstance(part.get("summary"), str) else ""
    if part.get("redacted") is True:
        return {**rest, "text": summary, "encrypted_content": part["reasoning"]}
    return {**rest, "text": part["reasoning"] or summary}


def _open_file(part: Json, kind: str) -> Json:
    rest = {key: item for key, item in part.items() if key != kind}
    head, comma, data = part[kind].partition(";base64,")
    sort = head.removeprefix("data:") if comma else f"{kind}/{part.get('format', '')}"
    where = {"data": data} if comma else {"uri": part[kind]}
    return {"mime_type": sort, **rest, "type": "file", **where}


class Surroundings:
    """The open spans and steps around events."""

    def __init__(self) -> None:
        self._spans: dict[str, str] = {}  # the tool call around each span, "" for none
        self._steps: list[str] = []

    def take(self, event: Json, kind: str | None) -> str:
        """Return the tool call or "scorer" around an event, "" if it belongs to the session itself."""
        if kind == "span_begin" and isinstance(event.get("id"), str):
            within = self._spans.get(str(event.get("parent_id")), "")
            self._spans[event["id"]] = event["id"] if event.get("type") in APART else within
        elif kind == "step" and event.get("action") == "begin":
            self._steps.append(str(event.get("type")))
        elif kind == "step" and event.get("action") == "end" and self._steps:
            self._steps.pop()
        judged = "scorer" if "scorer" in self._steps else ""
        return self._spans.get(str(event.get("span_id")), "") or judged
