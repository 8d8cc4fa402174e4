"""Traces of model calls: OpenTelemetry, OpenInference, MLflow, LangSmith, Langfuse, Braintrust and Opik.

Read an export, a document or lines, into a `Session`. Source: FORMATS §13. Every span of a model call
contains a whole request, and `prefix.py` joins the requests to a session. Spans around calls (agents, tools,
chains, cycles) repeat the messages and often the usage of the calls: they are counted, and read only if a
trace has no call. Spans are read in order of time and grouped by the conversation that they name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from json import JSONDecoder
from typing import Any

from ...session.entries import Source, Usage
from ...session.garbage import paused_gc
from ...session.session import Session
from ..json_document import Fields, cut_head, list_objects, load, placed, refuse, sniff_document
from ..json_lines import Data, Reader, iter_values
from ..recording import Json, Reading, are_lines, first_rows, read_inclusive
from .chat_messages import ChatMessage, Names, read_chat, read_chat_usage
from .prefix import WholeRequest, join_requests
from .trace_vendors import (
    TRACE,
    add_cost,
    find_instructions,
    find_key,
    find_order,
    lay_logged,
    make_request,
    open_value,
    read_body,
    read_logged,
    read_money,
    read_observation,
    read_run,
    read_system,
)

NAME = "traces"
DETAILS = ("gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions")
WHOLE = (*DETAILS, "gen_ai.tool.definitions")
"""Attributes with lists of objects, as JSON text or as objects."""
NESTED = ("llm", "openinference", "gen_ai", "session", "tool")
OPERATION = "gen_ai.operation.name"
CALLS = ("chat", "text_completion", "generate_content", "completion", "responses", "message", "messages")
"""Operations that are a call of a model. Spans of other operations, such as agents, contain calls."""
KINDS = ("openinference.span.kind", "mlflow.spanType", "langfuse.observation.type", "traceloop.span.kind")
MODELS = ("LLM", "CHAT_MODEL", "GENERATION")
"""Attributes for the kind of a span, and the kinds that are a call of a model."""
IDS = ("span_id", "spanId")
PARENTS = (
    *("parentSpanId", "parent_span_id", "parent_id", "parentId"),
    *("parent_run_id", "parentObservationId", "parent_observation_id"),
)
"""Fields for the id of the parent span."""
COSTS = ("llm.cost.total", "gen_ai.usage.cost", "gen_ai.usage.total_cost", "operation.cost")
"""Attributes with the whole cost of a call."""
COST_PARTS = (
    ("llm.cost.prompt", "llm.cost.completion"),
    ("gen_ai.usage.input_cost", "gen_ai.usage.output_cost"),
)
DEEPEST = 64
"""The maximum number of ancestors of a call that are searched."""
AGENTS = ("gen_ai.agent.id", "gen_ai.agent.name")
_OTEL = (
    ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
    ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
    ("gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens"),
    (
        *("gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.cache_write.input_tokens"),
        "gen_ai.usage.cache_creation_input_tokens",
    ),
)
_SDK = (
    ("ai.usage.inputTokens", "ai.usage.promptTokens"),
    ("ai.usage.outputTokens", "ai.usage.completionTokens"),
    "ai.usage.cachedInputTokens",
)
_INFERENCE = ("prompt", "completion", "prompt_details.cache_read", "prompt_details.cache_write", "total")
OBSERVATIONS = ("SPAN", "EVENT", "GENERATION", "AGENT", "TOOL", "CHAIN", "RETRIEVER")
"""Types of Langfuse observations that may have no input."""
OPIK = ("general", "tool", "llm", "guardrail")
"""Types of Opik's spans."""
PAGES = ("traces", "data", "runs", "spans", "observations", "events", "content")
"""Fields of an API response that may contain its list."""
_WORD = re.compile(r"\S")
_NUMBER = re.compile(r"\.(\d+)(?:\.|$)")


def sniff(data: Data) -> str | None:
    """Return None for spans, runs or observations of a tracing system, in a document or in lines."""
    reason = sniff_document(data, _judge)
    if reason is None or "several" not in reason:
        return reason
    rows = first_rows(data)
    first = next((row for row in rows if not _is_metric(row)), None)
    if not rows:
        first = next(_find_printed(cut_head(data)), None)
    return None if _judge(first) is None else "its lines are not spans, runs or observations"


def _is_metric(row: Any) -> bool:
    """Return whether a row is a metric. A file of all OpenTelemetry data has such rows between the spans."""
    return isinstance(row, dict) and (
        row.get("type") == "metric" or isinstance(row.get("resourceMetrics"), list)
    )


def _find_printed(data: Data) -> Iterator[Any]:
    """Yield values printed over several lines, as OpenTelemetry prints spans; None for a broken value."""
    text = bytes(data).decode("utf-8-sig", "replace")
    decoder, offset = JSONDecoder(), 0
    while match := _WORD.search(text, offset):
        try:
            value, offset = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            yield None
            return
        yield value


def _judge(value: Any) -> str | None:
    document = _unpack(value)
    first = document[0] if isinstance(document, list) and document else document
    return (
        None if isinstance(first, dict) and _name_system(first) else "it holds no spans, runs or observations"
    )


def _unpack(value: Any) -> Any:
    """Return the list in a page of an API response; other values are returned unchanged."""
    for name in PAGES if isinstance(value, dict) and not _name_system(value) else ():
        if isinstance(value.get(name), list) and value[name]:
            return value[name]
    return value


def _name_system(value: Json) -> str:
    """Return the system that wrote an object; "" if it is unknown."""
    if isinstance(value.get("resourceSpans"), list):
        return "otlp"
    if "scopeSpans" in Fields(_first(value.get("batches"))).rest:
        return "otlp"
    if isinstance(value.get("info"), dict) and isinstance(Fields(value.get("data")).rest.get("spans"), list):
        return "mlflow"
    if isinstance(value.get("run_type"), str) and {"inputs", "dotted_order", "child_runs"} & set(value):
        return "langsmith"
    if isinstance(value.get("span_attributes"), dict) and {"span_id", "root_span_id"} & set(value):
        return "braintrust"
    if (
        isinstance(value.get("trace"), dict)
        and _name_system(Fields(_first(value.get("spans"))).rest) == "opik"
    ):
        return "opik-trace"
    kind = value.get("type") if {"trace_id", "traceId"} & set(value) else None
    if kind in OPIK and {"input", "start_time"} <= set(value):
        return "opik"
    if isinstance(kind, str) and ("input" in value or kind in OBSERVATIONS):
        return "langfuse" if kind.isupper() else ""
    if isinstance(value.get("observations"), list) and value["observations"]:
        observation = Fields(value["observations"][0]).rest
        return "langfuse-trace" if {"input", "type"} & set(observation) else ""
    if isinstance(value.get("traceID"), str) and "operationName" in Fields(_first(value.get("spans"))).rest:
        return "jaeger"
    if "context.span_id" in value and any(key.startswith("attributes.") for key in value):
        return "table"
    attributes = open_value(value.get("attributes"))
    if isinstance(attributes, dict) and {"span_id", "spanId", "context"} & set(value):
        return "span"
    return ""


@paused_gc()
def read(data: Data) -> Session:
    """Read the session of all calls. Raises `ReadError`, or `EmptySession` if no call has messages."""
    recording = Reading(NAME)
    names: Names = {}
    requests: list[tuple[str, WholeRequest, str, str, bool]] = []
    nesting = _Nesting()
    count = 0
    for source, value in _find_values(data, recording):
        count += 1
        if not isinstance(value, dict):
            recording.spoil("not a JSON object", source)
            continue
        spans = list(_find_spans(value))
        if not spans:
            is_metric = _is_metric(value)
            recording.note("metric" if is_metric else "row without a span", source, is_known=is_metric)
        for index, span in enumerate(spans):
            where = source if not index else None
            request = _read_span(span, names)
            attributes = Fields(span.get("attributes")).rest
            is_call = request is not None and _is_call(attributes)
            nesting.add(span, request if is_call else None)
            if request is not None:
                request.source = where
                trace = find_key(attributes, span, TRACE)
                requests.append((find_order(span), request, _name_span(span), trace, is_call))
            elif where is not None:
                recording.note(str(span.get("name") or "span"), where)
    if not count:
        raise refuse("it holds no span")
    outer = nesting.find_outer()
    called = {trace for *_, trace, is_call in requests if is_call}
    calls: list[WholeRequest] = []
    for _, request, name, trace, is_call in sorted(requests, key=lambda row: row[0]):
        if (name not in outer) if is_call else (trace not in called):
            calls.append(request)
        elif request.source is not None:
            # The calls of an agent contain its task, its answer and the usage.
            recording.note(str(request.extra.get("span") or "span"), request.source)
    keys = {request.key for request in calls}
    return join_requests(NAME, calls, recording, id=min(keys, default=""))


def _is_call(attributes: Json) -> bool:
    """Whether a span is a call of a model, by its kind or its operation.

    A span without either is a call if it has messages.
    """
    kinds = (open_value(attributes.get(name)) for name in KINDS)
    kind = next((kind.upper() for kind in kinds if isinstance(kind, str) and kind), "UNKNOWN")
    if kind not in ("UNKNOWN", "SPAN"):
        return kind in MODELS
    operation = attributes.get(OPERATION)
    return not isinstance(operation, str) or operation.lower() in CALLS


def _name_span(span: Json) -> str:
    """Return the id of a span with the id of its trace; "" if the span has no id."""
    number = next((span[key] for key in (*IDS, "id") if isinstance(span.get(key), str)), "")
    return f"{find_key({}, span, TRACE)}/{number}" if number else ""


class _Nesting:
    """The parent of each span, and the requests of the spans that are calls."""

    def __init__(self) -> None:
        self._parents: dict[str, str] = {}
        self._calls: dict[str, WholeRequest] = {}

    def add(self, span: Json, call: WholeRequest | None) -> None:
        """Note the parent of a span, and its request if it is a call."""
        name = _name_span(span)
        parent = next((span[key] for key in PARENTS if isinstance(span.get(key), str) and span[key]), "")
        if name and parent:
            self._parents[name] = _name_span({**span, "span_id": parent})
        if name and call is not None:
            self._calls[name] = call

    def find_outer(self) -> set[str]:
        """Return the calls that contain the same request again, recorded by a second instrumentation."""
        outer: set[str] = set()
        for name, call in self._calls.items():
            above = self._parents.get(name, "")
            for _ in range(DEEPEST):
                last = self._calls[above].messages[-1].print if above in self._calls else None
                if last is not None and any(message.print == last for message in call.messages):
                    outer.add(above)
                if not (above := self._parents.get(above, "")):
                    break
        return outer


def _find_values(data: Data, recording: Reading) -> Iterator[tuple[Source, Any]]:
    if "several" in (sniff_document(data, _judge) or "") and not first_rows(data):
        yield from placed(_find_printed(data))
        return
    if not are_lines(data, _judge):
        document = _unpack(load(data))
        yield from placed(document if isinstance(document, list) else [document])
        return
    yield from iter_values(data, recording.corrupt)


def _find_spans(value: Any) -> Iterator[Json]:
    """Yield the spans in an object, each with its attributes as a flat object."""
    if not isinstance(value, dict):
        return
    system = _name_system(value)
    if system == "otlp":
        for resource in list_objects(value.get("resourceSpans", value.get("batches"))):
            for scope in list_objects(resource.get("scopeSpans")):
                for span in list_objects(scope.get("spans")):
                    events = [
                        {"name": event.get("name"), "attributes": _flatten(event.get("attributes"))}
                        for event in list_objects(span.get("events"))
                    ]
                    yield {**span, "attributes": _flatten(span.get("attributes")), "events": events}
    elif system == "mlflow":
        about = Fields(value["info"].get("trace_metadata")).rest
        for span in list_objects(value["data"]["spans"]):
            span_attributes = {k: open_value(v) for k, v in Fields(span.get("attributes")).rest.items()}
            yield {**span, "attributes": {**about, **span_attributes}}
    elif system == "langfuse-trace":
        for observation in list_objects(value["observations"]):
            holder = Fields(value.get("trace")).rest or value
            yield {**observation, "sessionId": holder.get("sessionId"), "system": "langfuse"}
    elif system == "langsmith":
        below = list_objects(value.get("child_runs"))
        yield {**{key: item for key, item in value.items() if key != "child_runs"}, "system": system}
        for run in below:
            yield from _find_spans(run)
    elif system == "opik-trace":
        for span in list_objects(value["spans"]):
            yield lay_logged({**span, "thread_id": value["trace"].get("thread_id")}, "opik")
    elif system in ("braintrust", "opik"):
        yield lay_logged(value, system)
    elif system == "langfuse":
        yield {**value, "system": system}
    elif system == "jaeger":
        for span in list_objects(value["spans"]):
            span_attributes = {
                str(tag.get("key")): tag.get("value") for tag in list_objects(span.get("tags"))
            }
            began = span.get("startTime")
            more = {"startTimeUnixNano": began * 1000} if isinstance(began, int) else {}
            yield {
                "name": span.get("operationName"),
                "traceId": span["traceID"],
                "attributes": span_attributes,
                **more,
            }
    elif system == "table":
        # A row of a table of spans; its columns are named by the path in a span.
        flat = {k.removeprefix("attributes."): v for k, v in value.items() if k.startswith("attributes.")}
        yield {**value, "trace_id": value.get("context.trace_id"), "attributes": _lay_flat(flat)}
    elif system == "span":
        context = Fields(value.get("context")).rest
        flat = _lay_flat(Fields(open_value(value.get("attributes"))).rest)
        yield {**{key: context[key] for key in (*TRACE, *IDS) if key in context}, **value, "attributes": flat}


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, list) and value else None


def _lay_flat(attributes: Json, head: str = "") -> Json:
    """Flatten nested attributes of OpenInference to their dotted keys."""
    flat: Json = {}
    for key, value in attributes.items():
        name = f"{head}{key}"
        if name in WHOLE:
            flat[name] = value
        elif name.startswith(NESTED) and isinstance(value, dict):
            flat |= _lay_flat(value, f"{name}.")
        elif name.startswith(NESTED) and isinstance(value, list) and value and isinstance(value[0], dict):
            for index, item in enumerate(list_objects(value)):
                flat |= _lay_flat(item, f"{name}.{index}.")
        elif value is not None:
            flat[name] = value
    return flat


def _flatten(attributes: Any) -> Json:
    """Convert OTLP's list of keys and typed values to an object."""
    return {
        str(item["key"]): _read_value(item.get("value")) for item in list_objects(attributes) if "key" in item
    }


def _read_value(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    for name in ("stringValue", "boolValue", "doubleValue", "bytesValue"):
        if name in value:
            return value[name]
    if "intValue" in value:
        whole = value["intValue"]
        return (
            int(whole)
            if isinstance(whole, str) and whole.lstrip("-").isdigit() and len(whole) < 20
            else whole
        )
    if "arrayValue" in value:
        return [_read_value(item) for item in Fields(value["arrayValue"]).items("values") or ()]
    if "kvlistValue" in value:
        return _flatten(Fields(value["kvlistValue"]).items("values"))
    return None


def _read_span(span: Json, names: Names) -> WholeRequest | None:
    """Build the request of a span; None if the span has no messages."""
    system = span.get("system")
    if system == "langsmith":
        return read_run(span, names)
    if system == "langfuse":
        return read_observation(span, names)
    if system in ("braintrust", "opik"):
        return read_logged(span, names)
    attributes = Fields(span.get("attributes")).rest
    events = [*list_objects(span.get("events")), *_find_listed(attributes)]
    for event in events:
        # The newest spans may store their messages in an event with details.
        about = Fields(event.get("attributes")).rest
        attributes = {**{key: item for key, item in about.items() if key in DETAILS}, **attributes}
    sent, reply = _find_messages(attributes, events, names)
    if not sent:
        return None
    models = (attributes.get(key) for key in ("gen_ai.response.model", "gen_ai.request.model", "ai.model.id"))
    bodies = [
        Fields(open_value(attributes.get(f"mlflow.span{x}"))).rest.get("model") for x in ("Outputs", "Inputs")
    ]
    tools = open_value(attributes.get("gen_ai.tool.definitions", attributes.get("mlflow.chat.tools")))
    body = open_value(attributes.get("mlflow.spanInputs", attributes.get("input.value")))
    instructions = open_value(attributes.get("gen_ai.system_instructions", find_instructions(body)))
    request = make_request(
        span,
        attributes,
        (sent, reply),
        models=(*models, attributes.get("llm.model_name"), *bodies),
        provider=attributes.get(
            "gen_ai.provider.name", attributes.get("gen_ai.system", attributes.get("llm.provider"))
        ),
        tools=tools or Fields(body).rest.get("tools"),
        usage=add_cost(_read_usage(attributes), _find_cost(attributes)),
        system=read_system(instructions, names),
        flagged=attributes.get("gen_ai.conversation.compacted") is True,
    )
    if agent := next((str(attributes[key]) for key in AGENTS if isinstance(attributes.get(key), str)), ""):
        request.key += f"/{agent}"
    return request


def _find_listed(attributes: Json) -> list[Json]:
    """Return the events in a span's attribute, as pydantic-ai's instrumentation wrote them."""
    listed = list_objects(open_value(attributes.get("events")))
    return [
        {"name": event.get("event.name"), "attributes": event} for event in listed if "event.name" in event
    ]


def _find_messages(
    attributes: Json, events: list[Json], names: Names
) -> tuple[list[ChatMessage], list[ChatMessage]]:
    """Return the sent messages and the reply, in any of the encodings of a span."""
    for sent, reply in (
        ("gen_ai.input.messages", "gen_ai.output.messages"),
        ("mlflow.spanInputs", "mlflow.spanOutputs"),
    ):
        if sent in attributes:
            request = read_body(open_value(attributes[sent]), names, "user")
            return request, read_body(open_value(attributes.get(reply)), names)
    for convert, *heads in (
        (_read_inference, "llm.input_messages.", "llm.output_messages."),
        (_nest, "gen_ai.prompt.", "gen_ai.completion."),
    ):
        if any(key.startswith(heads[0]) for key in attributes):
            prompts, answered = (list(map(convert, _unflatten(attributes, head))) for head in heads)
            return read_chat(prompts, names), read_chat(answered, names)
    if isinstance(prompt := open_value(attributes.get("ai.prompt.messages")), list):
        calls = list_objects(open_value(attributes.get("ai.response.toolCalls")))
        reply_text = attributes.get("ai.response.text")
        parts = [{"type": "tool-call", **call} for call in calls]
        words = [{"type": "text", "text": reply_text}] if isinstance(reply_text, str) and reply_text else []
        reply_ = [{"role": "assistant", "content": [*words, *parts]}] if words or parts else []
        return read_chat(prompt, names), read_chat(reply_, names)
    if attributes.get("openinference.span.kind") == "LLM" and "input.value" in attributes:
        whole, answer = (open_value(attributes.get(key)) for key in ("input.value", "output.value"))
        return read_body(whole, names, "user"), read_body(answer, names)
    prompts, answered = [], []
    for event in events:
        name, about = str(event.get("name")), Fields(event.get("attributes")).rest
        if isinstance(event_content := open_value(about.get("gen_ai.event.content")), dict):
            about = {**about, **event_content}
        elif name in ("gen_ai.content.prompt", "gen_ai.content.completion"):
            words = open_value(about.get("gen_ai.prompt", about.get("gen_ai.completion")))
            role = "user" if name.endswith("prompt") else "assistant"
            listed: list[Any] = words if isinstance(words, list) else [{"role": role, "content": words}]
            (prompts if role == "user" else answered).extend(m for m in listed if isinstance(m, dict))
            continue
        if name == "gen_ai.choice":
            message = open_value(about.get("message", about.get("content")))
            answered.append(
                message if isinstance(message, dict) else {"role": "assistant", "content": message}
            )
        elif name.startswith("gen_ai.") and name.endswith(".message"):
            role = name.removeprefix("gen_ai.").removesuffix(".message")
            if role == "tool" and "tool_call_id" not in about and "id" in about:
                about = {**about, "tool_call_id": about["id"]}
            prompts.append(
                {"role": role, **{key: open_value(item) for key, item in about.items() if "." not in key}}
            )
    for message in answered:
        message.setdefault("role", "assistant")
    return read_chat(prompts, names), read_chat(answered, names)


def _unflatten(attributes: Json, head: str) -> list[Json]:
    """Convert attributes `head.0.x`, `head.1.y` … to a list of objects with the keys after the number."""
    items: dict[int, Json] = {}
    for key, value in attributes.items():
        match = _NUMBER.match(key, len(head) - 1) if key.startswith(head) else None
        if match is not None and len(match[1]) < 7:
            items.setdefault(int(match[1]), {})[key[match.end() :]] = value
    return [items[number] for number in sorted(items)]


def _nest(flat: Json) -> Json:
    """Convert an older message with flat keys; each of its calls becomes an object."""
    message = {
        key: open_value(value) if key == "content" else value for key, value in flat.items() if "." not in key
    }
    return message | _list_calls(flat, "id", "name", "arguments")


def _list_calls(flat: Json, *keys: str) -> Json:
    """Return the calls in flat keys, by the keys of their id, name and arguments; {} if there are none."""
    calls = [
        dict(zip(("id", "name", "arguments"), map(call.get, keys), strict=True))
        for call in _unflatten(flat, "tool_calls.")
    ]
    return {"tool_calls": calls} if calls else {}


def _read_inference(flat: Json) -> Json:
    """Convert a message of OpenInference with flat keys, all of which begin with `message.`."""
    fields = {key.removeprefix("message."): value for key, value in flat.items()}
    message: Json = {key: fields[key] for key in ("role", "content", "tool_call_id") if key in fields}
    contents = _unflatten(fields, "contents.")
    if contents and "content" not in message:
        parts = [{k.removeprefix("message_content."): v for k, v in part.items()} for part in contents]
        message["content"] = [
            {"type": "image_url", "image_url": part[key]}
            if (key := next((k for k in ("image.image.url", "image.url") if k in part), ""))
            else part
            for part in parts
        ]
    names = ("tool_call.id", "tool_call.function.name", "tool_call.function.arguments")
    return message | _list_calls(fields, *names)


def _read_usage(attributes: Json) -> Usage | None:
    """Return the usage in the attributes. The input includes tokens read from the cache."""
    if any(key.startswith("gen_ai.usage.") and key.endswith("_tokens") for key in attributes):
        return read_inclusive(attributes, *_OTEL)
    if any(key.startswith("llm.token_count.") for key in attributes):
        return read_inclusive(attributes, *(f"llm.token_count.{key}" for key in _INFERENCE))
    if any(key.startswith("ai.usage.") for key in attributes):
        return read_inclusive(attributes, *_SDK)
    used = open_value(attributes.get("mlflow.chat.tokenUsage"))
    if not isinstance(used, dict):
        # Before version 3 only the reply contains the usage.
        return read_chat_usage(Fields(open_value(attributes.get("mlflow.spanOutputs"))).rest.get("usage"))
    keys_ = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    return read_inclusive(used, *keys_, "total_tokens")


def _find_cost(attributes: Json) -> Any:
    """Return the cost that a span states: the total, or the sum of prompt and completion."""
    totals = (attributes[name] for name in COSTS if attributes.get(name) is not None)
    if (total := next(totals, None)) is not None:
        return total
    for names in COST_PARTS:
        parts = [read_money(attributes.get(name)) for name in names]
        if None not in parts:
            return sum(filter(None, parts))
    return None


READER = Reader(NAME, "Traces of model calls", sniff, read)
