"""Read exports of opencode and its forks: a session's `info`, and its messages with their parts.

Source: FORMATS §7. The input is the output of `opencode export`. The export may be in the `data` of a
response, or follow the line that the program prints while it exports. The server's list of a session's
messages is read too. A reply of several steps becomes an entry per step, because a step is a request; the
figures of the message are the sum of its steps and are not counted again. A compaction is a user message with
a part `compaction`, answered by a finished `summary`; messages from `tail_start_id` on are kept. Outputs that
were cleared later are still in the file and count as cleared. Messages hidden by a `revert` are recorded, but
not in the context.

The newer form has no parts: a message has a `type`, and its content is next to it; it is converted to the
form of exports. A row `compaction` contains a summary and, as text, the kept messages; the model gets both.
Output of the user's shell commands and additions of the harness become synthetic parts.
"""

from __future__ import annotations

import re
from typing import Any

from ....session.blocks import Document, Image, Reasoning, Text, ToolCall
from ....session.entries import Source, Usage
from ....session.garbage import paused_gc
from ....session.session import Session
from ...image_size import measure
from ...json_document import (
    Fields,
    ParsedBlock,
    find_lack,
    is_number,
    iso_time,
    list_objects,
    load,
    placed,
    refuse,
    sniff_document,
    unknown,
)
from ...json_lines import BOM, Data, Reader
from ...recording import Json, Reading, make_output, read_inclusive

SWITCHES = ("agent-switched", "model-switched", "location-switched", "idle")
"""Records between the messages: changes of agent, model or folder, and the end of a turn."""
_ADDED = ("synthetic", "system", "skill")
NAME = "opencode"
UNSEEN = ("step-start", "step-finish", "snapshot", "patch", "retry", "agent", "subtask", "compaction")
OWN = frozenset(["slug", "projectID", "directory", "version"])
"""Fields of a session's `info`, in all versions."""
_PRINTED_LINE = re.compile(rb"\s*Exporting session: [^\n{]{1,200}\n")


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
        user_parts += [
            {"type": "file", "mime": file.get("mime"), "url": file.get("uri"), "filename": file.get("name")}
            for file in list_objects(fields.items("files"))
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
    return list_objects(parts)


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


def sniff(data: Data) -> str | None:
    """Return None for a session's `info` and messages with parts, or such messages alone; else the reason."""
    return sniff_document(_skip_printed_line(data), _judge)


def _skip_printed_line(data: Data) -> Data:
    """Return the export without the line before it, which exists if the program's output was redirected."""
    match = _PRINTED_LINE.match(bytes(memoryview(data)[:256]).removeprefix(BOM))
    if match is None:
        return data
    return memoryview(data)[match.end() + (len(BOM) if bytes(memoryview(data)[:3]) == BOM else 0) :]


def _open_answer(value: Any) -> Any:
    """Return the export in the `data` of a response; wrap a list of messages as an export."""
    if isinstance(value, dict) and "messages" not in value and isinstance(value.get("data"), dict | list):
        value = value["data"]
    if not isinstance(value, list):
        return value
    name = _info(value[0]).get("sessionID") if value else None
    return {"info": {"id": name}, "messages": value} if name and _is_message(value[0]) else value


def _judge(value: Any) -> str | None:
    value = _open_answer(value)
    if lack := find_lack(value, info=dict, messages=list):
        return lack
    info, messages = value["info"], value["messages"]
    # The id may be redacted or missing; then the rest of the export identifies the format.
    if (
        str(info.get("id")).startswith("ses_")
        or len(OWN & info.keys()) > 1
        or any(map(_is_message, messages[:8]))
    ):
        return None
    return "neither its `info` nor its messages are opencode's"


def _is_message(raw: Any) -> bool:
    """Return whether a message has separate `info` and `parts`."""
    return bool(_info(raw)) and isinstance(raw.get("parts"), list)


@paused_gc()
def read(data: Data) -> Session:
    """Read the whole session. Raises `ReadError`, or `EmptySession` if it contains no messages."""
    document = _open_answer(load(_skip_printed_line(data)))
    if lack := find_lack(document, messages=list):
        raise refuse(lack)
    return _ExportReading(document).read(placed(document["messages"]))


class _ExportReading(Reading):
    """State while an export is read message by message."""

    format = NAME

    def __init__(self, document: Json) -> None:
        super().__init__()
        self.document = Fields(document, "messages")
        messages = document["messages"]
        self.marks: dict[str, Json] = {}
        self.summaries = {
            info["parentID"]
            for raw in messages
            if (info := _info(raw)).get("summary") is True
            and info.get("finish") and not info.get("error")
            and isinstance(info.get("parentID"), str)
        }  # fmt: skip
        self.cleared: dict[float, list[str]] = {}
        self.begins: dict[str, str | None] = {}
        self.echoes = any(map(is_echo, messages))

    def take(self, source: Source, raw: Any) -> None:
        if (kind := find_type(raw)) is not None:
            self._take_next(source, raw, kind)
        else:
            self._take(source, raw)

    def _take_next(self, source: Source, raw: Json, kind: str) -> None:
        """Read one message of opencode's newer form."""
        if kind == "shell" and self.echoes:
            self.note(kind)  # the next message repeats the shell's output for the model
            return
        message = translate(raw)
        if message is None:
            name = kind if kind in SWITCHES else f"message of type {kind}"
            self.note(name, is_known=kind in SWITCHES)
            return
        mark = message["info"].pop("mark", None)
        if mark is not None and message["info"]["finish"]:
            self.marks[message["info"]["id"]] = mark
        self._take(source, message)

    def _take(self, source: Source, raw: Any) -> None:
        """Read one message with its parts."""
        if not isinstance(raw, dict) or not isinstance(raw.get("info"), dict):
            self.spoil("a message without `info`")
            return
        info, outer = Fields(raw["info"]), Fields(raw, "info", "parts")
        name = info.text("id") or f"m{source.line}"
        role = info.text("role")
        parts = list_objects(raw.get("parts"))
        times = Fields(info.object("time"))
        created = times.number("created")
        self._clear(created)
        self.begins[name] = self.last
        extra = info.rest | outer.rest | ({"time": times.rest} if times.rest else {})
        mark = next((part for part in parts if part.get("type") == "compaction"), None)
        self.time = iso_time(created)
        if role == "user" and mark is not None:
            if name in self.summaries:
                self.marks[name] = mark
            self.note("compaction")
        elif role == "user":
            self._add_prompt(name, parts, extra)
        elif role == "assistant" and raw["info"].get("summary") is True:
            self._add_summary(name, raw["info"], parts, extra)
        elif role == "assistant":
            self._add_reply(name, info, parts, extra)
        else:
            self.note(f"message of role {role}", is_known=False)

    def _add_prompt(self, name: str, parts: list[Json], extra: Json) -> None:
        """Add a prompt. Parts that the harness added become a separate entry."""
        typed = [part for part in parts if part.get("synthetic") is not True]
        added = [part for part in parts if part.get("synthetic") is True]
        unseen = [part for part in typed if part.get("type") in UNSEEN or part.get("ignored") is True]
        parsed_blocks = [_read_part(part) for part in typed if part not in unseen]
        if unseen:
            extra = {**extra, "parts": unseen}
        if parsed_blocks or not added:
            self.add(name, "user", parsed_blocks, extra)
        if added:
            blocks = [_read_part(part) for part in added]
            name, extra = (f"{name}/added", {}) if parsed_blocks else (name, extra)
            self.add(name, "user", blocks, extra, meta=True)

    def _add_reply(self, name: str, info: Fields, parts: list[Json], extra: Json) -> None:
        steps: list[list[Json]] = [[]]
        for part in parts:
            steps[-1].append(part)
            if part.get("type") == "step-finish":
                steps.append([])
        if len(steps) > 1 and not steps[-1]:
            steps.pop()
        error = Fields(info.object("error"))
        for number, step in enumerate(steps, 1):
            end = next((part for part in step if part.get("type") == "step-finish"), None)
            tokens = (
                end.get("tokens") if end is not None else extra.get("tokens") if len(steps) == 1 else None
            )
            parsed_blocks: list[ParsedBlock] = []
            outputs: list[ParsedBlock] = []
            unseen: list[Json] = []
            for part in step:
                if part.get("type") == "tool" and isinstance(part.get("callID"), str):
                    self._add_tool(part, parsed_blocks, outputs)
                elif part.get("type") in UNSEEN:
                    unseen.append(part)
                else:
                    parsed_blocks.append(_read_part(part))
            more: Json = {"parts": unseen} if unseen else {}
            entry = self.add(
                name if number == 1 else f"{name}/{number}",
                "assistant",
                parsed_blocks,
                (extra | more) if number == 1 else more,
                usage=read_tokens(tokens, (end or extra).get("cost")),
                model=_text(extra, "modelID"),
                provider=_text(extra, "providerID"),
                stop_reason="error" if error.rest and number == len(steps) else _text(end or extra, "reason"),
                error=_describe(error) if number == len(steps) else None,
            )
            if outputs:
                self.add(f"{entry.id}/results", "tool", outputs)

    def _add_tool(self, part: Json, parsed_blocks: list[ParsedBlock], outputs: list[ParsedBlock]) -> None:
        """Add a call and its result, which are in the same part."""
        fields = Fields(part, "type")
        call, tool = fields.text("callID") or "", fields.text("tool") or ""
        state = Fields(fields.object("state"))
        status, arguments = state.text("status"), state.any("input")
        parsed_blocks.append((ToolCall(id=call, name=tool, input=arguments), fields.rest))
        if status in ("completed", "error"):
            answer = state.any("output") if status == "completed" else state.any("error")
            outputs.append(make_output(call, answer, unknown, tool, failed=status == "error"))
            outputs[-1] = outputs[-1][0], outputs[-1][1] | state.rest
        cleared_at = Fields(state.rest.get("time")).number("compacted")
        if cleared_at is not None:
            self.cleared.setdefault(float(cleared_at), []).append(call)

    def _clear(self, now: Any) -> None:
        """Add an entry for the outputs that were cleared until a point in time; None for all."""
        due = [cleared_at for cleared_at in sorted(self.cleared) if not is_number(now) or cleared_at <= now]
        calls = [call for cleared_at in due for call in self.cleared.pop(cleared_at)]
        if calls:
            self.clear(f"cleared-{len(self.entries) + 1}", calls, source=None, timestamp=iso_time(due[-1]))

    def _add_summary(self, name: str, info: Json, parts: list[Json], extra: Json) -> None:
        mark = self.marks.get(str(info.get("parentID")))
        if mark is None:
            self.note("unfinished summary")
            return
        words = "\n".join(part["text"] for part in parts if isinstance(part.get("text"), str))
        fields = Fields(mark, "type", "id", "messageID", "sessionID")
        auto = fields.flag("auto")
        boundary = {
            "trigger": None if auto is None else "auto" if auto else "manual",
            "first_kept": fields.text("tail_start_id"),
            "summary": words,
            "extra": fields.rest,
        }
        usage = read_tokens(info.get("tokens"), info.get("cost"))
        self.compact(name, words, boundary, extra=extra, usage=usage, model=_text(extra, "modelID"))

    def finish(self) -> Session:
        self._clear(None)
        info = Fields(self.document.object("info"))
        times, revert = Fields(info.object("time")), Fields(info.rest.get("revert"))
        more: Json = {}
        hidden = revert.text("messageID")
        if hidden in self.begins:
            more["leaf"] = self.begins[hidden]
        model_fields = Fields(info.rest.get("model"))
        model = model_fields.text("id") or model_fields.text("modelID")
        version = info.rest.get("version")
        return self.make_session(
            id=info.text("id") or "",
            title=info.text("title"),
            model=model,
            cwd=info.text("directory") or Fields(info.rest.get("location")).text("directory"),
            created=iso_time(times.number("created")),
            updated=iso_time(times.number("updated")),
            extra=self.document.rest | info.rest | ({"version": version} if version else {}),
            **more,
        )


def _info(raw: Any) -> Json:
    info = raw.get("info") if isinstance(raw, dict) else None
    return info if isinstance(info, dict) else {}


def _text(holder: Json, name: str) -> str | None:
    value = holder.get(name)
    return value if isinstance(value, str) else None


def _describe(error: Fields) -> str | None:
    data = Fields(error.rest.get("data"))
    return data.text("message") or error.text("message") or error.text("name")


def read_tokens(raw: Any, cost: Any) -> Usage | None:
    """Return the usage from opencode's figures. They are disjoint; reasoning is not part of output.

    >>> read_tokens({"input": 5, "output": 2, "reasoning": 1, "cache": {"read": 9}}, 0).tokens
    17
    """
    keys = ("input", "output", "cache/read", "cache/write", "total")
    return read_inclusive(raw, *keys, thoughts="reasoning", cost=cost, inclusive=False)


def _read_part(part: Json) -> ParsedBlock:
    fields = Fields(part)
    kind = fields.text("type")
    if kind == "text" and (text := fields.text("text")) is not None:
        return Text(text=text), fields.rest
    if kind == "reasoning" and (text := fields.text("text")) is not None:
        return Reasoning(text=text, encrypted=_find_seal(fields.rest)), fields.rest
    if kind == "file":
        sort, url, title = fields.text("mime"), fields.text("url"), fields.text("filename")
        head, comma, data = (url or "").partition(";base64,")
        content = {"data": data} if comma and head.startswith("data:") else {"url": url}
        if (sort or "").startswith("image/"):
            width, height = (measure(data) if comma else None) or (None, None)
            return Image(media_type=sort, width=width, height=height, **content), fields.rest
        return Document(media_type=sort, title=title, **content), fields.rest
    return unknown(part)


def _find_seal(rest: Json) -> str | None:
    """Return the encrypted reasoning from the provider's fields; before 2.0 under the provider's name."""
    holders = [rest.get("state"), *Fields(rest.get("metadata")).rest.values()]
    seals = (Fields(holder).text("reasoningEncryptedContent") for holder in holders)
    return next((seal for seal in seals if seal), None)


READER = Reader(NAME, "opencode export", sniff, read)
