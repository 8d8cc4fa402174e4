"""Convert a message in opencode's newer form to the form of its exports.

The newer form has no parts: a message has a `type`, and its content is next to it. Source: FORMATS §7. A row
`compaction` contains a summary and, as text, the kept messages; the model gets both. Output of the user's
shell commands and additions of the harness become synthetic parts.
"""

from __future__ import annotations

from typing import Any

from ...json_document import Fields
from ...recording import Json

SWITCHES = ("agent-switched", "model-switched", "location-switched", "idle")
"""Records between the messages: changes of agent, model or folder, and the end of a turn."""
_ADDED = ("synthetic", "system", "skill")


def find_type(raw: Any) -> str | None:
    """Return the type of a message in the newer form; None for any other value."""
    fields = Fields(raw)
    return None if "info" in fields.rest or fields.text("id") is None else fields.text("type")


def is_echo(raw: Any) -> bool:
    """Return whether a message repeats a shell command of the user for the model."""
    fields = Fields(raw).rest
    return fields.get("type") == "synthetic" and Fields(fields.get("metadata")).rest.get("source") == "shell"


def translate(raw: Json) -> Json | None:
    """Return the message with `info` and `parts`; None for types that are not messages.

    >>> translate({"id": "m", "type": "user", "text": "Hi", "time": {"created": 1}})
    {'info': {'id': 'm', 'time': {'created': 1}, 'role': 'user'}, 'parts': [{'type': 'text', 'text': 'Hi'}]}
    """
    fields = Fields(raw)
    kind = fields.text("type")
    if kind == "user":
        user_parts: list[Json] = [{"type": "text", "text": fields.text("text") or ""}]
        files = [file for file in fields.items("files") or () if isinstance(file, dict)]
        user_parts += [
            {"type": "file", "mime": file.get("mime"), "url": file.get("uri"), "filename": file.get("name")}
            for file in files
        ]
        return {"info": fields.rest | {"role": "user"}, "parts": user_parts}
    if kind in _ADDED or kind == "shell":
        words = [fields.text(name) for name in ("text", "command", "output")]
        if (printed := Fields(fields.rest.get("output")).text("output")) is not None:
            words.append(printed)
        text = "\n".join(word for word in words if word)
        added = [{"type": "text", "text": text, "synthetic": True}]
        return {"info": fields.rest | {"role": "user"}, "parts": added}
    if kind == "compaction":
        reason, status = fields.text("reason"), fields.text("status")
        summary, recent = fields.text("summary"), fields.text("recent")
        done = bool(summary) and status in (None, "completed")
        info: Json = {"role": "assistant", "summary": True, "finish": "stop" if done else None}
        mark = {"type": "compaction"} | ({"auto": reason == "auto"} if reason else {})
        info |= {"parentID": fields.rest.get("id"), "mark": mark} | _read_model(fields)
        summary_parts = [{"type": "text", "text": text} for text in (summary, recent) if text]
        return {"info": fields.rest | info, "parts": summary_parts}
    if kind != "assistant":
        return None
    parts = [_make_part(part) for part in _list_content(fields)]
    info = {"role": "assistant", "reason": fields.text("finish")} | _read_model(fields)
    return {"info": fields.rest | info, "parts": parts}


def _list_content(fields: Fields) -> list[Json]:
    """Return the parts of a content. A bare string is a part; other values stay in the fields."""
    content = fields.rest.get("content")
    listed = [content] if isinstance(content, str) else content if isinstance(content, list) else []
    parts = [{"type": "text", "text": item} if isinstance(item, str) else item for item in listed]
    if odd := [item for item in parts if not isinstance(item, dict)]:
        fields.rest["content"] = odd
    elif isinstance(content, str | list):
        del fields.rest["content"]
    return [item for item in parts if isinstance(item, dict)]


def _read_model(fields: Fields) -> Json:
    model = Fields(fields.object("model"))
    return {"modelID": model.text("id"), "providerID": model.text("providerID")}


def _make_part(part: Json) -> Json:
    if part.get("type") != "tool":
        return part
    fields = Fields(part)
    state, times = Fields(fields.object("state")), Fields(fields.rest.get("time"))
    content = state.rest.get("content")
    answer = [Fields(text).text("text") for text in _list_content(Fields({"content": content}))]
    new_state: Json = {}
    if content is not None or "output" not in state.rest:
        new_state["output"] = "\n".join(text for text in answer if text)
    error = state.object("error")
    if error is not None:
        new_state["error"] = Fields(error).text("message")
    if None not in answer and isinstance(content, str | list):
        state.rest.pop("content", None)
    if (pruned := times.number("pruned")) is not None:
        new_state["time"] = {"compacted": pruned}
    names = {"callID": fields.text("id"), "tool": fields.text("name")}
    return fields.rest | names | {"state": state.rest | new_state}
