"""A message of opencode's next form -> the same in the form of its exports.

The next form has no parts: a message has a `type`, and what it holds stands beside it. Source: FORMATS §7. A
row `compaction` holds a summary and, as text, the messages that were kept; both are what the model gets. What
a person ran in the shell, and what the harness adds, are words that nobody typed.
"""

from __future__ import annotations

from typing import Any

from ...json_document import Fields
from ...recording import Json

SWITCHES = ("agent-switched", "model-switched", "location-switched", "idle")
"""What a session tells of itself between the messages: what it changed to, and that a turn is over."""
_ADDED = ("synthetic", "system", "skill")


def find_type(raw: Any) -> str | None:
    """The type of a message of the next form; None for another value."""
    fields = Fields(raw)
    return None if "info" in fields.rest or fields.text("id") is None else fields.text("type")


def is_echo(raw: Any) -> bool:
    """Whether a message says again, to the model, what a person ran in the shell."""
    told = Fields(raw).rest
    return told.get("type") == "synthetic" and Fields(told.get("metadata")).rest.get("source") == "shell"


def translate(raw: Json) -> Json | None:
    """The message with `info` and `parts`; None for a type that has none.

    >>> translate({"id": "m", "type": "user", "text": "Hi", "time": {"created": 1}})
    {'info': {'id': 'm', 'time': {'created': 1}, 'role': 'user'}, 'parts': [{'type': 'text', 'text': 'Hi'}]}
    """
    fields = Fields(raw)
    kind = fields.text("type")
    if kind == "user":
        said: list[Json] = [{"type": "text", "text": fields.text("text") or ""}]
        files = [file for file in fields.items("files") or () if isinstance(file, dict)]
        said += [
            {"type": "file", "mime": file.get("mime"), "url": file.get("uri"), "filename": file.get("name")}
            for file in files
        ]
        return {"info": fields.rest | {"role": "user"}, "parts": said}
    if kind in _ADDED or kind == "shell":
        words = [fields.text(name) for name in ("text", "command", "output")]
        if (printed := Fields(fields.rest.get("output")).text("output")) is not None:
            words.append(printed)
        text = "\n".join(each for each in words if each)
        added = [{"type": "text", "text": text, "synthetic": True}]
        return {"info": fields.rest | {"role": "user"}, "parts": added}
    if kind == "compaction":
        reason, status = fields.text("reason"), fields.text("status")
        summary, recent = fields.text("summary"), fields.text("recent")
        done = bool(summary) and status in (None, "completed")
        info: Json = {"role": "assistant", "summary": True, "finish": "stop" if done else None}
        mark = {"type": "compaction"} | ({"auto": reason == "auto"} if reason else {})
        info |= {"parentID": fields.rest.get("id"), "mark": mark} | _read_model(fields)
        told = [{"type": "text", "text": text} for text in (summary, recent) if text]
        return {"info": fields.rest | info, "parts": told}
    if kind != "assistant":
        return None
    parts = [_make_part(part) for part in _list_content(fields)]
    info = {"role": "assistant", "reason": fields.text("finish")} | _read_model(fields)
    return {"info": fields.rest | info, "parts": parts}


def _list_content(fields: Fields) -> list[Json]:
    """The parts of a content: words that stand there bare are a part; what is no part stays where it is."""
    held = fields.rest.get("content")
    listed = [held] if isinstance(held, str) else held if isinstance(held, list) else []
    parts = [{"type": "text", "text": each} if isinstance(each, str) else each for each in listed]
    if odd := [each for each in parts if not isinstance(each, dict)]:
        fields.rest["content"] = odd
    elif isinstance(held, str | list):
        del fields.rest["content"]
    return [each for each in parts if isinstance(each, dict)]


def _read_model(fields: Fields) -> Json:
    model = Fields(fields.object("model"))
    return {"modelID": model.text("id"), "providerID": model.text("providerID")}


def _make_part(part: Json) -> Json:
    if part.get("type") != "tool":
        return part
    fields = Fields(part)
    state, times = Fields(fields.object("state")), Fields(fields.rest.get("time"))
    content = state.rest.get("content")
    answer = [Fields(each).text("text") for each in _list_content(Fields({"content": content}))]
    told: Json = {}
    if content is not None or "output" not in state.rest:
        told["output"] = "\n".join(each for each in answer if each)
    error = state.object("error")
    if error is not None:
        told["error"] = Fields(error).text("message")
    if None not in answer and isinstance(content, str | list):
        state.rest.pop("content", None)
    if (pruned := times.number("pruned")) is not None:
        told["time"] = {"compacted": pruned}
    names = {"callID": fields.text("id"), "tool": fields.text("name")}
    return fields.rest | names | {"state": state.rest | told}
