"""Read logs of whole requests: OpenAI's Chat Completions and Responses, one or many, and Anthropic's, many.

Sources: FORMATS §9, §13. The input is a request with its reply, a list or lines of them, or a bare list of
OpenAI's messages. `prefix.py` joins several requests to one session. A request with a `previous_response_id`
follows that reply if it is in the file; otherwise the session begins in the middle, with a warning.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from ...session.entries import Source
from ...session.garbage import paused_gc
from ...session.session import Session
from ..harnesses.swe_agent import is_bare_mini
from ..json_document import Fields, iso_time, load, placed, refuse
from ..json_lines import Data, Reader, decode, iter_values
from ..recording import Json, Reading, are_lines, sniff_records
from .chat_messages import ANSWERS, CALLS, ChatMessage, read_chat, read_chat_tools, read_chat_usage
from .prefix import WholeRequest, join_requests
from .streamed import find_body, read_streamed

_PARTS = frozenset(
    ["image_url", "input_text", "input_image", "input_audio", "input_file", "output_text", "refusal"]
)
"""Types of content parts that do not exist in Anthropic's messages."""
_FIELDS = frozenset(
    [
        *("frequency_penalty", "functions", "logit_bias", "logprobs", "max_completion_tokens"),
        *("parallel_tool_calls", "presence_penalty", "response_format", "stream_options", "top_logprobs"),
    ]
)
"""Fields of a body that Anthropic's API rejects."""
NAME = "request-log"
ROLES = ("system", "developer", "user", "assistant", "tool", "function")
WRAPPERS = ("request", "body", "params", "request_body", "kwargs", "text")
REPLIES = ("response", "response_body", "output", "completion")
ITEMS = ("message", "reasoning", "compaction", "item_reference")
SPANS = ("llm", "general", "tool", "guardrail")
LISTED = ("mcp_list_tools", "mcp_approval_request", "mcp_approval_response")
OTHERS = frozenset(
    [
        *("monotonicTs", "parts", "uuid", "parentId", "toolCalls", "message_type", "extra", "info"),
        *("metrics", "ts"),
    ]
)
"""Fields of messages that belong to other systems."""
CONVERSE = frozenset(["modelId", "inferenceConfig", "toolConfig"])
"""Fields of a request to Bedrock's Converse API."""
KEYS = ("session_id", "conversation_id", "thread_id", "conversation")
TASKS = ("traj_id", "trajectory_id", "instance_id", "custom_id")
"""Fields with the task of a row in data sets and batches. Rows of two tasks are two conversations."""


def find_openai(body: dict[str, Any], messages: list[Any]) -> str:
    """Find a part, tool or field that only OpenAI's requests have. Return it as a clause, or ""."""
    for number, message in enumerate(messages, 1):
        content = message.get("content") if isinstance(message, dict) else None
        for part in content if isinstance(content, list) else ():
            kind = part.get("type") if isinstance(part, dict) else None
            # The beginning of a large file may end before the type.
            if kind is None and isinstance(part, dict):
                kind = next((name for name in ("image_url", "input_audio") if name in part), None)
            if kind == "file" and not isinstance(part.get("file"), dict):
                continue
            if isinstance(kind, str) and kind in (*_PARTS, "file"):
                return f"message {number} holds a part of type `{kind}`, which is OpenAI's"
    tools = body.get("tools")
    for tool in tools if isinstance(tools, list) else ():
        if isinstance(tool, dict) and (tool.get("type") == "function" or "function" in tool):
            return "its tools are defined as functions, which is OpenAI's form"
    field = min(_FIELDS & body.keys(), default=None)
    return f"it has a field `{field}`, which is OpenAI's" if field is not None else ""


def _judge_rows(rows: list[Json]) -> str | None:
    are_requests = len(rows) > 1 and all(map(_is_request, rows))
    return None if are_requests else "its lines are not requests with messages"


def judge(value: Any) -> str | None:
    """Return why a document is neither a request to OpenAI nor a list of requests or OpenAI messages."""
    if (archive := _unpack_har(value)) is not value:
        return None if any(map(_is_request, archive)) else "none of its requests has messages"
    if isinstance(value, list):
        if not value:
            return "an empty list"
        if is_bare_mini(value):
            return "its prompt is mini-swe-agent's"
        if all(_is_request(item) for item in value):
            return None
        return _judge_messages(value, {})
    if not isinstance(value, dict):
        return "neither an object nor a list"
    body, around = _unwrap(value)
    if not _is_request(value):
        return "it has neither `messages` nor `input` of a request"
    if isinstance(body.get("input"), str | list):
        around = {**around, **body}
        if {"output", "instructions", "previous_response_id", "response"} & set(around):
            return None
        if any(
            _is_item(item.get("type"))
            for item in body["input"]
            if isinstance(item, dict) and "role" not in item
        ):
            return None
        if isinstance(body["input"], list) and find_openai(body, body["input"]):
            return None
        return "its `input` has no reply and no `instructions`"
    return _judge_messages(body["messages"], {**body, **around})


def _judge_messages(messages: list[Any], around: Json) -> str | None:
    """Return why a list of messages may not be OpenAI's; None if it can only be OpenAI's.

    `around` is the body of the request, with the other fields of the objects around it.
    """
    if (reason := _find_fault(messages)) is not None:
        return reason
    reply = around.get("response")
    if CONVERSE & set(around) or "choices" in around or (isinstance(reply, dict) and "choices" in reply):
        return None
    if find_openai(around, messages):
        return None
    first = messages[0].get("role") if messages else None
    if first in ("system", "developer") or any({"tool_call_id", *CALLS} & set(m) for m in messages):
        return None
    return "its messages may be any system's: name one by format="


def _find_fault(messages: list[Any]) -> str | None:
    """Return why these are not OpenAI's messages, or None. Scripts leave out the ids of calls and results."""
    calls = any(CALLS & Fields(message).rest.keys() for message in messages)
    return next((why for message in messages if (why := _fault(message, calls))), None)


def _is_openai(body: Json, messages: list[Any]) -> bool:
    """Return whether a request has a form that only OpenAI's API takes."""
    marks = {"tool_call_id", *CALLS}
    return bool(find_openai(body, messages)) or any(marks & Fields(item).rest.keys() for item in messages)


def _fault(message: Any, calls: bool) -> str | None:
    if not isinstance(message, dict):
        return "a message that is not an object"
    if message.get("role") not in ROLES:
        return f"a message has the role {message.get('role')!r:.40}"
    if OTHERS & set(message):
        return f"a message has the field `{min(OTHERS & set(message))}`, which is another system's"
    if message["role"] == "tool" and not calls and not any(name in message for name in ANSWERS):
        return "a tool's message without a tool_call_id"
    return None


def _unwrap(value: Json, levels: int = 3) -> tuple[Json, Json]:
    """Return the body of a request, and the other fields of the objects around it."""
    if isinstance(value.get("messages"), list) or isinstance(value.get("input"), str | list):
        return value, {}
    if value.get("object") == "list" and isinstance(items := value.get("data"), list):
        # The items of a conversation or a response, as OpenAI's API lists them.
        rest = {key: item for key, item in value.items() if key != "data"}
        return ({"input": _order(items)} if items else {}), rest
    for name in WRAPPERS if levels else ():
        inner = value.get(name)
        if isinstance(inner, str) and inner.lstrip()[:1] == "{":
            try:
                inner = decode(inner.encode("utf-8", "surrogatepass"))
            except ValueError:
                continue
        if isinstance(inner, dict):
            body, around = _unwrap(inner, levels - 1)
            if body:
                return body, {key: item for key, item in value.items() if key != name} | around
    return {}, {}


def _order(items: list[Any]) -> list[Any]:
    """The items, the oldest first: the API lists the newest first unless it is asked not to."""
    places: dict[Any, int] = {}
    for place_, item in enumerate(items):
        fields = Fields(item).rest
        call = fields.get("call_id")
        if call is None:
            continue
        if str(fields.get("type")).endswith("_output"):
            if call not in places:
                return items[::-1]
        else:
            places[call] = place_
    roles = [Fields(item).rest.get("role") for item in items]
    return items[::-1] if not places and roles[0] == "assistant" and roles[-1] != "assistant" else items


def _is_request(value: Any) -> bool:
    if not isinstance(value, dict) or {"sessionId", "projectHash", "trajectory", "uuid", "role"} & set(value):
        return False
    kind = str(value.get("type"))
    spans = kind.isupper() or (kind in SPANS and {"start_time", "input"} <= set(value))
    traced = bool({"trace_id", "traceId"} & set(value)) and spans
    if {"run_type", "span_attributes"} & set(value) or traced:
        return False  # of a tracing system: `traces.py` finds the requests among them
    body, _ = _unwrap(value)
    messages = body.get("messages")
    if isinstance(messages, list):
        return bool(messages) and _find_fault(messages[:-1] or messages) is None
    prompt = body.get("input")
    if isinstance(prompt, str):
        return "model" in body
    return isinstance(prompt, list) and all(
        isinstance(item, dict) and (item.get("role") in ROLES or _is_item(item.get("type")))
        for item in prompt
    )


def _is_item(kind: Any) -> bool:
    return isinstance(kind, str) and (kind in (*ITEMS, *LISTED) or kind.endswith(("_call", "_output")))


@paused_gc()
def read(data: Data) -> Session:
    """Read the session of all requests. Raises `ReadError`, or `EmptySession` if there are no messages."""
    log = _RequestLog()
    return log.read(_find_values(data, log))


def _find_values(data: Data, recording: Reading) -> Iterator[tuple[Source, Any]]:
    """Yield the requests of a document or of lines with their sources; a list of messages is one request."""
    if not are_lines(data, judge):
        document = _unpack_har(load(data))
        if isinstance(document, list) and not any(isinstance(item, dict) for item in document):
            raise refuse("it holds no request")
        calls = isinstance(document, list) and any("request" in Fields(item).rest for item in document)
        if isinstance(document, list) and not calls and not all(map(_is_request, document)):
            document = {"messages": document}
            recording.warnings.append(
                "it is a bare list of messages: read as OpenAI's, it may be another system's"
            )
        yield from placed(document if isinstance(document, list) else [document])
        return
    yield from iter_values(data, recording.corrupt)


class _RequestLog(Reading):
    """The requests of a log. `replies` are the messages up to and including each reply, by response id.

    `is_openai` is whether a request has a form that only OpenAI's API takes.
    """

    format = NAME

    def __init__(self) -> None:
        super().__init__()
        self.requests: list[WholeRequest] = []
        self.replies: dict[str, list[ChatMessage]] = {}
        self.middle = 0
        self.is_openai = False

    def finish(self) -> Session:
        if not self.requests and not self.notes:
            raise refuse("it holds no request")
        lost = "{} after a reply that is not in the file: earlier messages are missing"
        self.warn(self.middle, lost, "request continues", "requests continue")
        about = {"extra": {"api": "openai"}} if self.is_openai else {}
        return join_requests(NAME, self.requests, self, **about)

    def take(self, source: Source, value: Any) -> None:
        body, around = _unwrap(value) if isinstance(value, dict) else ({}, {})
        if not body:
            if isinstance(value, dict):
                self.note(str(value.get("type") or "row that is not a request"), source, is_known=False)
            else:
                self.spoil("not a JSON object", source)
            return
        fields = Fields(body)
        sent = fields.rest.get("messages")
        self.is_openai = self.is_openai or (isinstance(sent, list) and _is_openai(body, sent))
        messages = read_chat(fields.any("messages"), self.names) + read_chat(fields.any("input"), self.names)
        around_fields = Fields(around)
        reply, answer = self._take_reply(fields, around_fields)
        before = fields.text("previous_response_id")
        if before in self.replies:
            messages = [*self.replies[before], *messages]
        elif before is not None:
            self.middle += 1
        number = answer.text("id")
        if number is not None:
            self.replies[number] = [*messages, *reply]
        usage = next(
            (u for u in (answer, around_fields, fields) if isinstance(u.rest.get("usage"), dict)), answer
        )
        keys = (around_fields.rest.get(key, fields.rest.get(key)) for key in KEYS + TASKS)
        system = [fields.any(key) for key in ("system", "instructions")]
        self.requests.append(
            WholeRequest(
                source,
                messages,
                reply,
                usage=read_chat_usage(usage.rest.get("usage")),
                model=answer.text("model") or fields.text("model") or fields.text("modelId"),
                system=read_chat([{"role": "system", "content": p} for p in system if p], self.names),
                tools=read_chat_tools(fields.any("tools") or Fields(fields.any("toolConfig")).any("tools")),
                time=_read_time(around_fields) or _read_time(fields) or _read_time(answer),
                key=next((key for key in keys if isinstance(key, str)), ""),
                extra={"request": fields.rest | around_fields.rest | answer.rest},
            )
        )

    def _take_reply(self, fields: Fields, around: Fields) -> tuple[list[ChatMessage], Fields]:
        """Take the reply from inside the request or next to it. Returns its messages and its other fields."""
        for holder in (around, fields):
            for name in REPLIES:
                raw = holder.rest.get(name)
                if isinstance(raw, str) and (streamed := read_streamed(raw)) is not None:
                    raw = streamed
                if isinstance(raw, dict):
                    holder.any(name)
                    answer = Fields(find_body(raw))
                    return self._read_reply(answer), answer
                if name == "output" and isinstance(raw, list):
                    return read_chat(holder.any(name), self.names), holder
        return self._read_reply(fields if "choices" in fields.rest else around), fields

    def _read_reply(self, answer: Fields) -> list[ChatMessage]:
        if isinstance(choices := answer.rest.get("choices"), list):
            answer.any("choices")
            first = Fields(choices[0] if choices else None)
            message = first.any("message")
            return read_chat([message], self.names) if isinstance(message, dict) else []
        converse = Fields(answer.rest.get("output")).rest.get("message", answer.rest.get("message"))
        if isinstance(converse, dict) and "content" in converse:
            answer.any("message"), answer.any("output")
            return read_chat([converse], self.names)
        if isinstance(answer.rest.get("output"), list):
            return read_chat(answer.any("output"), self.names)
        if "content" in answer.rest:
            answer.any("role"), answer.any("type")
            return read_chat([{"role": "assistant", "content": answer.any("content")}], self.names)
        return []


def _unpack_har(value: Any) -> Any:
    """Return the requests of an HTTP archive with their responses; other values are returned unchanged."""
    entries = Fields(Fields(value).rest.get("log")).rest.get("entries")
    if not isinstance(entries, list):
        return value
    return [
        {
            "request": Fields(Fields(entry).rest.get("request")).rest.get("postData"),
            "response": Fields(Fields(entry).rest.get("response")).rest.get("content"),
            "timestamp": Fields(entry).rest.get("startedDateTime"),
        }
        for entry in entries
    ]


def _read_time(fields: Fields) -> str | None:
    for name in ("timestamp", "created_at", "created", "startTime", "start_time"):
        value = fields.rest.get(name)
        if isinstance(value, str):
            return value
        if isinstance(value, int | float) and not isinstance(value, bool):
            return iso_time(value * 1000 if value < 1e11 else value)
    return None


READER = Reader(
    NAME, "Log of whole requests", partial(sniff_records, judge=judge, judge_rows=_judge_rows), read
)
