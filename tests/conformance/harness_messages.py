"""Messages of many harnesses, in their own forms, as a session: one entry for each message, one block for
each part, so that what a plan leaves can be told by the numbers of messages and parts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from inspector.policies.rules.clear_tool_outputs import STUB
from inspector.session.blocks import Block, Image, Reasoning, Text, ToolCall, ToolOutput, Unknown
from inspector.session.entries import Boundary, Entry, Usage
from inspector.session.session import Session

Json = dict[str, Any]
ROLES = {"human": "user", "ai": "assistant", "developer": "system"}


def read_messages(messages: Iterable[Json], *, compacted: bool = False, **more: Any) -> Session:
    """A session of these messages. Message number 3 is entry "m3", its parts are the entry's blocks.

    With `compacted` an item that a service compacted is what a recorded compaction is to a session.
    """
    entries: list[Entry] = []
    for number, message in enumerate(messages):
        parent = entries[-1].id if entries else None
        given = {"id": f"m{number}", "parent": parent, **_read_message(message)}
        if compacted and message.get("type") == "compaction":
            given |= {"kind": "compaction", "boundary": Boundary(kind="compact")}
        entries.append(Entry.model_validate(given))
    leaf = entries[-1].id if entries else None
    return Session(format="vector", entries=tuple(entries), leaf=leaf, **more)


def _read_message(message: Json) -> Json:
    if "info" in message:
        return _read_opencode(message)
    if "invocation_id" in message:
        return _read_adk(message)
    if "contents" in message:
        message = message | {"content": message["contents"]}
    if "event" in message:
        message = {"role": message["event"].partition("/")[0], "content": message["data"]["content"]}
    kind = message.get("type")
    if kind in _ITEMS:
        role, read = _ITEMS[kind]
        return {"role": role, "blocks": (read(message),)}
    role = message.get("role", kind)
    role = ROLES.get(role, role)
    content = message.get("content")
    if "context_editing" in (message.get("response_metadata") or {}):
        content = STUB  # cleared before, and by us it would have left this
    if role == "tool" and not isinstance(content, list):
        output = _output(message.get("tool_call_id"), content, message.get("name"))
        return {"role": role, "blocks": (output,)}
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
    calls = message.get("tool_calls") or []
    # An empty text beside calls is no part of the message.
    parts = [] if calls and content == "" else parts
    blocks = tuple(map(read_part, [*parts, *({**call, "type": "call"} for call in calls)]))
    return {"role": role, "blocks": blocks}


def _read_adk(event: Json) -> Json:
    """An event of ADK's. Its parts have no type: one key says what each is."""
    content = event.get("content") or {}
    blocks: list[Block] = []
    for part in content.get("parts", ()):
        if "function_call" in part:
            call = part["function_call"]
            blocks.append(ToolCall(id=call["id"], name=call["name"], input=call["args"]))
        elif "function_response" in part:
            result = part["function_response"]
            blocks.append(_output(result["id"], result["response"].get("result"), result["name"]))
        elif part.get("thought"):
            blocks.append(Reasoning(text=part["text"]))
        elif "text" in part:
            blocks.append(Text(text=part["text"]))
        else:
            blocks.append(Image())
    role = "assistant" if content.get("role") == "model" else "user"
    return {"role": role, "blocks": tuple(blocks)}


def _read_bedrock(part: Json) -> Block | None:
    """A part as Bedrock and Strands write it: one key says what it is."""
    if "toolUse" in part:
        use = part["toolUse"]
        return ToolCall(id=use["toolUseId"], name=use["name"], input=use["input"])
    if "toolResult" in part:
        result = part["toolResult"]
        parts = [{"type": "text", "text": one.get("text", json.dumps(one))} for one in result["content"]]
        output = _output(result["toolUseId"], parts, None)
        return output.model_copy(update={"is_error": result.get("status") == "error"})
    if "reasoningContent" in part:
        told = part["reasoningContent"].get("reasoningText", {})
        return Reasoning(text=told.get("text", ""), signature=told.get("signature"))
    if "tool_call" in part:
        call = part["tool_call"]
        return ToolCall(id=call["id"], name=call["tool_name"], input=call["arguments"])
    if "tool_call_result" in part:
        result = part["tool_call_result"]
        return _output(result["origin"]["id"], result["result"], result["origin"]["tool_name"])
    if "image" in part and "type" not in part:
        return Image(media_type=part["image"].get("format"))
    return Text(text=part["text"]) if "text" in part and "type" not in part else None


def read_part(part: Json) -> Block:
    """One part of a message, as AI SDK, Anthropic, LangChain and OpenAI write it."""
    if (bedrock := _read_bedrock(part)) is not None:
        return bedrock
    match part.get("type"):
        case "text" | "output_text" | "input_text":
            return Text(text=part["text"])
        case "function_call":
            return ToolCall(id=part["call_id"], name=part["name"], input=_parse(part["arguments"]))
        case "function_result":
            return _output(part["call_id"], part["result"], part.get("name"))
        case "data" | "file":
            uri = str(part.get("uri") or part.get("data"))
            return Image(media_type=part.get("media_type"), data=uri.rpartition("base64,")[2])
        case "reasoning" | "thinking" | "text_reasoning":
            words = next(str(part[k]) for k in ("text", "thinking", "reasoning") if k in part)
            return Reasoning(text=words, signature=part.get("signature"))
        case "tool-call" if "arguments" in part:
            return ToolCall(id=part["id"], name=part["name"], input=_parse(part["arguments"]))
        case "tool-call":
            return ToolCall(id=part["toolCallId"], name=part["toolName"], input=part["input"])
        case "tool-result" if "content" in part:
            return _output(part["toolCallId"], part["content"], None)
        case "tool_use":
            return ToolCall(id=part["id"], name=part["name"], input=part["input"])
        case "call":
            made = part.get("function") or part
            given = made.get("args", made.get("arguments"))
            return ToolCall(id=part["id"], name=made["name"], input=_parse(given))
        case "tool-result":
            value = part["output"].get("value")
            return _output(part["toolCallId"], value, part.get("toolName"))
        case "tool_result":
            return _output(part["tool_use_id"], part["content"], None)
        case "image" | "input_image":
            data = part.get("base64") or part.get("image")
            return Image(media_type=part.get("mime_type"), data=data, url=part.get("image_url"))
        case kind:
            return Unknown(type=str(kind), raw=part)


def _output(call: Any, content: Any, name: Any) -> ToolOutput:
    parts = content if isinstance(content, list) else [{"type": "text", "text": _text(content)}]
    return ToolOutput(call_id=str(call), name=name, parts=tuple(map(read_part, parts)))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _parse(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


def _read_reasoning(item: Json) -> Block:
    return Reasoning(text="\n".join(part["text"] for part in item.get("summary", ())))


_ITEMS: dict[str, tuple[str, Callable[[Json], Block]]] = {
    "function_call": (
        "assistant",
        lambda i: ToolCall(id=i["call_id"], name=i["name"], input=_parse(i["arguments"])),
    ),
    "function_call_output": ("tool", lambda i: _output(i["call_id"], i["output"], None)),
    "reasoning": ("assistant", _read_reasoning),
    "compaction": ("user", lambda i: Unknown(type="compaction", raw=i)),
}


def _read_opencode(message: Json) -> Json:
    """A message of opencode's holds its calls with their outputs: two blocks for such a part."""
    blocks: list[Block] = []
    for part in message["parts"]:
        if part["type"] == "tool":
            state = part["state"]
            blocks.append(ToolCall(id=part["callID"], name=part["tool"], input=state["input"]))
            if "output" in state or "error" in state:
                words = state.get("output", state.get("error"))
                blocks.append(_output(part["callID"], words, part["tool"]))
        elif part["type"] not in ("step-start", "step-finish"):
            blocks.append(read_part(part))
    info = message["info"]
    told = info.get("tokens")
    usage = None
    if told and info["role"] == "assistant":
        cache = told["cache"]
        usage = Usage(
            input=told["input"],
            output=told["output"],
            cache_read=cache["read"],
            cache_write=cache["write"],
            total=told.get("total"),
        )
    return {"role": info["role"], "blocks": tuple(blocks), "usage": usage}
