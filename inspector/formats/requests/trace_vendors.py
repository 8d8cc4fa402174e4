"""Read whole requests from LangSmith's runs, Langfuse's observations, and spans of Braintrust and Opik.

All of them store the request and the reply as the SDK wrote them: messages as a list or as text, tools next
to them or in the parameters of the call, tokens and costs in fields whose names changed over time. In
Braintrust and Opik, the prompt's tokens include cached tokens, as the tests of their SDKs show.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ...session.entries import Cost, Usage
from ..json_document import Fields, is_number, iso_time, list_objects
from ..json_lines import decode
from ..recording import FigureNames, Json, find_figure, read_inclusive
from .chat_messages import (
    ChatMessage,
    Names,
    read_chat,
    read_chat_tools,
    read_chat_usage,
    read_langchain_usage,
)
from .prefix import WholeRequest

CONVERSATIONS = (
    *("gen_ai.conversation.id", "session.id", "mlflow.trace.session", "langfuse.session.id", "thread_id"),
    *("session_id", "sessionId", "conversation_id"),
)
TRACE = ("trace_id", "traceId")
_READ = ("cache_read_input_tokens", "input_cached_tokens", "input_cache_read", "prompt_details.cache_read")
_WRITTEN = ("cache_creation_input_tokens", "input_cache_creation", "prompt_details.cache_write")
"""Names of cache figures that SDKs write to Langfuse."""
_SENT = ("input", "promptTokens", "prompt_tokens", "inputTokens", "input_tokens", "inputUsage")
_REPLIED = ("output", "completionTokens", "completion_tokens", "outputTokens", "output_tokens", "outputUsage")
_SUMS = ("total", "totalTokens", "total_tokens", "totalUsage")
"""Names of the same figures in different versions of Langfuse's API and in SDKs."""


def open_value(value: Any) -> Any:
    """Decode a value if it is JSON in a string; other values are returned unchanged."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "[", '"'):
        try:
            return decode(value.encode("utf-8", "surrogatepass"))
        except ValueError:
            return value
    return value


def find_order(span: Json) -> str:
    """Return a text by which the spans of one system are sorted by time."""
    for name in ("startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime", "start_timestamp"):
        value = span.get(name)
        if isinstance(value, int | str) and str(value).isdigit():
            return str(value).rjust(24, "0")
        if isinstance(value, str):
            return value.replace("T", " ")
    return ""


def _read_time(span: Json) -> str | None:
    order = find_order(span)
    if order.isdigit():
        return iso_time(int(order) / 1e6) if len(order.lstrip("0")) < 22 else None
    return order.replace(" ", "T") or None


def find_key(attributes: Json, span: Json, names: Sequence[str] = (*CONVERSATIONS, *TRACE)) -> str:
    """Return the conversation that a span names, or its trace."""
    keys = (holder.get(key) for key in names for holder in (attributes, span))
    return next((key for key in keys if isinstance(key, str) and key), "")


def find_instructions(*bodies: Any) -> Any:
    """Return the instructions next to the messages of a request, or of the reply that repeats it."""
    values = (Fields(body).rest.get(name) for body in bodies for name in ("system", "instructions"))
    return next((value for value in values if value), None)


def read_system(content: Any, names: Names) -> list[ChatMessage]:
    if isinstance(content, list):
        return read_chat([{"role": "system", "parts": content}], names)
    return read_chat([{"role": "system", "content": content}], names) if isinstance(content, str) else []


def read_body(value: Any, names: Names, role: str = "assistant") -> list[ChatMessage]:
    """Read the messages in the JSON of a request or a reply. Text without a role gets the role `role`."""
    if isinstance(value, list):
        return read_chat(value, names)
    if isinstance(value, str):
        return read_chat([{"role": role, "content": value}], names) if value else []
    if not isinstance(value, dict):
        return []
    for name in ("messages", "input"):
        if isinstance(value.get(name), list):
            return read_chat(value[name], names)
    if isinstance(prompts := value.get("prompts"), list):
        return read_chat([{"role": role, "content": prompt} for prompt in prompts[:1]], names)
    if isinstance(choices := value.get("choices"), list):
        messages = [choice["message"] for choice in list_objects(choices)[:1] if "message" in choice]
        return read_chat(messages, names)
    if isinstance(generations := value.get("generations"), list):
        first = generations[0] if generations else None
        chosen = Fields(first[0] if isinstance(first, list) and first else first).rest
        if chosen.get("message") is not None:
            return read_chat([chosen["message"]], names)
        return read_body(chosen.get("text"), names, role)
    for name in ("message", "output"):
        inner = value.get(name)
        if isinstance(inner, dict | list):
            return read_chat(inner if isinstance(inner, list) else [inner], names)
    return read_chat([{"role": role, **value}], names) if "content" in value else []


def read_run(run: Json, names: Names) -> WholeRequest | None:
    """Build the request of a LangSmith run of a model; None for other runs."""
    if run.get("run_type") != "llm":
        return None
    sent = read_body(open_value(run.get("inputs")), names, "user")
    if not sent:
        return None
    extra = Fields(run.get("extra")).rest
    about, params = (Fields(extra.get(name)).rest for name in ("metadata", "invocation_params"))
    models = (about.get("ls_model_name"), params.get("model"), params.get("model_name"))
    reply = read_body(open_value(run.get("outputs")), names)
    # `session_id` names the project, which contains all conversations.
    place = {key: value for key, value in run.items() if key != "session_id"}
    sums = {key: run[key] for key in ("prompt_tokens", "completion_tokens") if run.get(key)}
    return make_request(
        place,
        about,
        (sent, reply),
        models=models,
        tools=params.get("tools"),
        usage=add_cost(_read_reply_usage(reply, sums, run), run.get("total_cost")),
    )


def make_request(
    span: Json,
    about: Json,
    messages: tuple[list[ChatMessage], list[ChatMessage]],
    *,
    models: Iterable[Any],
    provider: Any = None,
    tools: Any = None,
    **more: Any,
) -> WholeRequest:
    """Build the request of a span from its messages and its reply.

    The span or its attributes `about` name the time and the conversation. Of `models`, the first name counts.
    """
    return WholeRequest(
        None,
        *messages,
        model=next((model for model in models if isinstance(model, str)), None),
        provider=provider if isinstance(provider, str) else None,
        tools=read_chat_tools(tools),
        time=_read_time(span),
        key=find_key(about, span),
        loose=not find_key(about, span, CONVERSATIONS),  # it names only its trace
        extra={"span": span.get("name")},
        **more,
    )


def add_cost(usage: Usage | None, stated: Any) -> Usage | None:
    """Return the usage with the total cost that the file states. A cost of 0 means an unknown price."""
    money = read_money(stated)
    return usage.model_copy(update={"cost": Cost(total=money)}) if usage is not None and money else usage


def read_money(value: Any) -> float | None:
    """Return an amount of money, which may be a string; None for any other value."""
    try:
        money = float(value) if isinstance(value, str) else value
    except ValueError:
        return None
    return float(money) if is_number(money) and money >= 0 else None


def _read_reply_usage(reply: list[ChatMessage], sums: Json, run: Json) -> Usage | None:
    """Return the usage of a run: from the reply, which lists cached tokens, else the totals of the run."""
    metadata = Fields(Fields(run.get("extra")).rest.get("metadata")).rest
    holders = (Fields(open_value(run.get("outputs"))).rest, metadata, *(message.extra for message in reply))
    used = next((u for holder in holders if isinstance(u := holder.get("usage_metadata"), dict)), None)
    if used is None:
        body = Fields(open_value(run.get("outputs")))
        stated = Fields(body.rest.get("llm_output")).rest.get("token_usage", body.rest.get("usage"))
        return read_chat_usage(sums or stated)
    return read_langchain_usage(used)


def read_observation(item: Json, names: Names) -> WholeRequest | None:
    """Build the request of a Langfuse generation; None for other observations."""
    if item.get("type") != "GENERATION":
        return None
    bodies = [open_value(item.get(name)) for name in ("input", "output")]
    sent = read_body(bodies[0], names, "user")
    if not sent:
        return None
    request_tools = next((tools for body in bodies if (tools := Fields(body).rest.get("tools"))), None)
    holders = (item.get("usage_details"), item.get("usageDetails"), item.get("usage"), item)
    usage = next((figures for holder in holders if (figures := _read_figures(holder))), None)
    costs = (Fields(item.get(name)).rest.get("total") for name in ("cost_details", "costDetails"))
    cost = next(
        (value for value in (*costs, item.get("calculatedTotalCost"), item.get("totalCost")) if value), None
    )
    return make_request(
        item,
        {},
        (sent, read_body(bodies[1], names)),
        models=(item.get("model") or item.get("providedModelName"),),
        tools=request_tools,
        usage=add_cost(usage, cost),
        system=read_system(find_instructions(*bodies), names),
    )


_LOGGED: dict[str, tuple[FigureNames, ...]] = {
    "braintrust": (
        *("prompt_tokens", "completion_tokens", "prompt_cached_tokens", "prompt_cache_creation_tokens"),
        "tokens",
    ),
    "opik": (
        "prompt_tokens",
        "completion_tokens",
        (
            "original_usage.cache_read_input_tokens",
            "original_usage.prompt_tokens_details.cached_tokens",
            "original_usage.input_tokens_details.cached_tokens",
        ),
        "original_usage.cache_creation_input_tokens",
        "total_tokens",
    ),
}
"""Names of the figures of a call: sent, replied, read from and written to the cache, total."""


def lay_logged(span: Json, system: str) -> Json:
    """Convert a span of Braintrust or Opik: trace and time get the field names of other systems."""
    if system == "opik":
        return {**span, "system": system}
    began = Fields(span.get("metrics")).number("start")
    time = iso_time(began * 1000) if began is not None else span.get("created")
    name = Fields(span["span_attributes"]).text("name")
    return {**span, "system": system, "trace_id": span.get("root_span_id"), "start_time": time, "name": name}


def read_logged(span: Json, names: Names) -> WholeRequest | None:
    """Build the request of a Braintrust or Opik span of a model; None for other spans."""
    system = span["system"]
    kind = span.get("type") if system == "opik" else Fields(span.get("span_attributes")).rest.get("type")
    sent = read_body(open_value(span.get("input")), names, "user") if kind == "llm" else []
    if not sent:
        return None
    answer = open_value(span.get("output"))
    chosen = [
        choice["message"] for choice in list_objects(answer)[:1] if isinstance(choice.get("message"), dict)
    ]
    about = Fields(span.get("metadata")).rest
    used = Fields(span.get("usage" if system == "opik" else "metrics"))
    money = span.get("total_estimated_cost", used.rest.get("estimated_cost"))
    request = Fields(open_value(span.get("input"))).rest
    return make_request(
        span,
        about,
        (sent, read_body(chosen or answer, names)),
        models=(span.get("model"), about.get("model")),
        provider=span.get("provider", about.get("provider")),
        tools=request.get("tools") or about.get("tools"),
        usage=add_cost(_read_logged_usage(used.rest, system), money),
        system=read_system(find_instructions(request), names),
    )


def _read_logged_usage(used: Json, system: str) -> Usage | None:
    # Older versions of Opik recorded Anthropic's prompts without cached tokens, as its own figure shows.
    fresh = used.get("original_usage.input_tokens") if system == "opik" else None
    inclusive = fresh is None or fresh != used.get("prompt_tokens")
    return read_inclusive(used, *_LOGGED[system], inclusive=inclusive)


def _read_figures(used: Any) -> Usage | None:
    """Return the usage, under any of its names, or None."""
    keys = (_SENT, _REPLIED, _READ, _WRITTEN, _SUMS)
    # Whether the input includes cached tokens depends on the SDK; the total shows it.
    *figures, total = (find_figure(used, names) for names in keys)
    inclusive = total is None or sum(figure or 0 for figure in figures) > total
    return read_inclusive(used, *keys, inclusive=inclusive)
