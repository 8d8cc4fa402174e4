"""The figures of traces of model calls, from their spans: FORMATS §13.

A span that holds messages is a whole request; they are joined in the order of their times, those of one
conversation by its name, those that only share a trace where one begins with all that another holds.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .chat import Asked, join, split_usage
from .figures import Figures
from .tally import NotRecounted, Row, held, listed, read_document, read_rows, split_inclusive, whole

_OPIK = ("general", "tool", "llm", "guardrail")
_NAMES = ("gen_ai.conversation.id", "session.id", "mlflow.trace.session", "langfuse.session.id", "thread_id")
_NAMES += ("session_id", "sessionId", "conversation_id")
_TRACES = ("trace_id", "traceId")
_READ = ("cache_read_input_tokens", "input_cached_tokens", "input_cache_read", "prompt_details.cache_read")
_WRITTEN = ("cache_creation_input_tokens", "input_cache_creation", "prompt_details.cache_write")


def recount(path: Path) -> Figures:
    """Every figure of the spans."""
    try:
        document = read_document(path)
    except ValueError:
        document = list(read_rows(path))
    while isinstance(document, dict) and not _spans(document):
        names = ("traces", "data", "runs", "spans", "events", "content")
        below = [document[name] for name in names if listed(document.get(name))]
        if not below:
            raise NotRecounted("spans of a form that is not read here")
        document = below[0]
    spans = [
        span for each in (document if isinstance(document, list) else [document]) for span in _spans(each)
    ]
    every = [(_time(span), at, call) for at, span in enumerate(spans) if (call := _ask(span)) is not None]
    around = ("invoke_agent", "create_agent", "execute_tool", "invoke_workflow")
    agents = {
        at for _, at, _ in every if held(spans[at], "attributes").get("gen_ai.operation.name") in around
    }
    called = {_trace(spans[at]) for _, at, _ in every if at not in agents}
    calls = [each for each in every if each[1] not in agents or _trace(spans[each[1]]) not in called]
    if not calls:
        raise NotRecounted("its spans hold messages in a form that is not read here")
    return join([call for _, _, call in sorted(calls, key=lambda each: each[:2])])


def _spans(value: Any) -> list[Row]:
    """The spans in a value, each with its attributes as one object of flat keys."""
    if not isinstance(value, dict):
        return []
    if isinstance(value.get("resourceSpans"), list):
        scopes = [scope for each in value["resourceSpans"] for scope in listed(each.get("scopeSpans"))]
        flat = [span for scope in scopes for span in listed(scope.get("spans"))]
        return [{**span, "attributes": _flatten(span.get("attributes"))} for span in flat]
    if "spans" in held(value, "data"):
        about = held(value, "info", "trace_metadata")
        return [
            {**span, "attributes": {**about, **{k: _open(v) for k, v in held(span, "attributes").items()}}}
            for span in listed(value["data"]["spans"])
        ]
    if isinstance(value.get("observations"), list):
        about = held(value, "trace") or value
        return [{**each, "sessionId": about.get("sessionId")} for each in value["observations"]]
    if "run_type" in value:
        return [value, *(span for each in listed(value.get("child_runs")) for span in _spans(each))]
    if "span_attributes" in value:
        began = held(value, "metrics").get("start")
        return [{**value, "trace_id": value["root_span_id"], "start_time": f"{began:020.6f}"}]
    if "trace" in value and "spans" in value:
        return [{**span, "thread_id": value["trace"].get("thread_id")} for span in value["spans"]]
    if value.get("type") in _OPIK:
        return [value]
    attributes = _open(value.get("attributes"))
    if isinstance(attributes, dict):
        return [{**held(value, "context"), **value, "attributes": attributes}]
    if str(value.get("type")).isupper():
        return [{**held(value, "context"), **value}]
    return []


def _flatten(attributes: Any) -> Row:
    return {each["key"]: _value(each.get("value")) for each in listed(attributes) if "key" in each}


def _value(value: Any) -> Any:
    kind, inner = next(iter(value.items())) if isinstance(value, dict) and value else ("", None)
    if kind == "arrayValue":
        return [_value(each) for each in listed(inner.get("values"))]
    if kind == "kvlistValue":
        return _flatten(inner.get("values"))
    return int(inner) if kind == "intValue" else inner


def _open(value: Any) -> Any:
    try:
        return json.loads(value) if isinstance(value, str) and value[:1] in '{["' else value
    except ValueError:
        return value


def _time(span: Row) -> str:
    names = ("startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime", "start_timestamp")
    value = next((span[name] for name in names if span.get(name)), "")
    return str(value).rjust(24, "0") if str(value).isdigit() else str(value).replace("T", " ")


def _trace(span: Row) -> str:
    return next((str(span[name]) for name in _TRACES if span.get(name)), "")


def _ask_logged(span: Row) -> Asked | None:
    """A call that Braintrust or Opik logged: both count what the cache gave and took in the prompt."""
    opik = span.get("type") in _OPIK
    kind = span["type"] if opik else span["span_attributes"].get("type")
    if kind != "llm":
        return None
    used = held(span, "usage" if opik else "metrics")
    own, total = "original_usage.", "total_tokens" if opik else "tokens"
    read, written = "prompt_cached_tokens", "prompt_cache_creation_tokens"
    if opik:
        read, written = f"{own}cache_read_input_tokens", f"{own}cache_creation_input_tokens"
        read = read if read in used else f"{own}prompt_tokens_details.cached_tokens"
    about = held(span, "metadata")
    tokens = None
    if "prompt_tokens" in used:
        figures = (used["prompt_tokens"], used.get("completion_tokens"), used.get(read), used.get(written))
        tokens = split_inclusive(*figures)
        if opik and used.get(f"{own}input_tokens") == used["prompt_tokens"]:
            tokens[0] = whole(used["prompt_tokens"])
    cost = span.get("total_estimated_cost") if opik else used.get("estimated_cost")
    answer = span.get("output")
    if isinstance(answer, list) and answer and "message" in answer[0]:
        answer = [answer[0]["message"]]
    model = span.get("model") or about.get("model")
    sent, reply = _find(span.get("input"), "user"), _find(answer)
    return _make(span, about, sent, reply, tokens, model, used.get(total), cost=cost)


def _ask(span: Row) -> Asked | None:
    """The request of a span; None for one that holds none."""
    told = held(span, "attributes")
    if "span_attributes" in span or span.get("type") in _OPIK:
        return _ask_logged(span)
    if "run_type" in span:
        return _ask_run(span) if span["run_type"] == "llm" else None
    if str(span.get("type")).isupper() and not told:
        return _ask_observation(span) if span["type"] == "GENERATION" else None
    if "gen_ai.input.messages" in told:
        sent, reply = (_open(told.get(f"gen_ai.{kind}.messages")) for kind in ("input", "output"))
    elif "mlflow.spanInputs" in told:
        sent, reply = _open(told["mlflow.spanInputs"]), _open(told.get("mlflow.spanOutputs"))
    elif "ai.prompt.messages" in told:
        words = [{"type": "text", "text": told["ai.response.text"]}] if told.get("ai.response.text") else []
        calls = [{"type": "tool-call", **each} for each in listed(_open(told.get("ai.response.toolCalls")))]
        sent = _open(told["ai.prompt.messages"])
        reply = [{"role": "assistant", "content": [*words, *calls]}]
    elif any(key.startswith("llm.input_messages.") for key in told):
        sent, reply = (_number(told, f"llm.{kind}_messages.") for kind in ("input", "output"))
    else:
        return None
    system = _open(told.get("gen_ai.system_instructions"))
    lead = [{"role": "system", "parts": system}] if isinstance(system, list) else []
    names = [told.get(f"gen_ai.{kind}.model") for kind in ("response", "request")]
    names += [
        told.get("ai.model.id"),
        told.get("llm.model_name"),
        *(held({"b": body}, "b").get("model") for body in (reply, sent)),
    ]
    model = next((name for name in names if isinstance(name, str)), None)
    agent = told.get("gen_ai.agent.id") or told.get("gen_ai.agent.name")
    tokens, total = _split(told, reply)
    return _make(span, told, [*lead, *_find(sent, "user")], _find(reply), tokens, model, total, agent)


def _make(
    span: Row,
    told: Row,
    sent: list[Any],
    reply: list[Any],
    tokens: Any,
    model: Any,
    total: Any,
    agent: Any = "",
    cost: Any = None,
) -> Asked | None:
    sent, reply = [_plain(each) for each in sent], [_plain(each) for each in reply]
    if not sent:
        return None
    named = [holder[name] for name in _NAMES for holder in (told, span) if isinstance(holder.get(name), str)]
    trace = [holder[name] for name in _TRACES for holder in (told, span) if isinstance(holder.get(name), str)]
    key = next((name for name in (*named, *trace) if name), "") + (f"/{agent}" if agent else "")
    cost = float(cost) if isinstance(cost, str) else cost
    return Asked(sent, reply, tokens, model, key, False, total, not any(named), cost)


def _find(body: Any, role: str = "assistant") -> list[Any]:
    """The messages in a request's or a reply's body; words alone are those of `role`."""
    if isinstance(body, str):
        return [{"role": role, "content": body}] if body else []
    if not isinstance(body, dict):
        return [each for inner in listed(body) for each in (inner if isinstance(inner, list) else [inner])]
    lead = [{"role": "system", "content": body[n]} for n in ("system", "instructions") if body.get(n)]
    for name in ("messages", "input"):
        if isinstance(body.get(name), list):
            return [*lead, *_find(body[name])]
    if isinstance(body.get("prompts"), list):
        return [{"role": role, "content": body["prompts"][0]}]
    if isinstance(body.get("choices"), list):
        return [choice["message"] for choice in body["choices"][:1]]
    if isinstance(body.get("generations"), list):
        first = body["generations"][0]
        first = first[0] if isinstance(first, list) else first
        return [first["message"]] if "message" in first else _find(first.get("text"), role)
    for name in ("message", "output"):
        if isinstance(body.get(name), dict | list):
            return _find(body[name]) if isinstance(body[name], list) else [body[name]]
    return [{"role": role, **body}] if "content" in body else []


def _number(told: Row, head: str) -> list[Row]:
    """Messages of flat keys by their numbers."""
    rows: dict[int, Row] = {}
    for key, value in told.items():
        if key.startswith(head):
            number, _, rest = key.removeprefix(head).partition(".")
            rows.setdefault(int(number), {})[rest.removeprefix("message.")] = value
    made = []
    for _, row in sorted(rows.items()):
        content = [row[key] for key in sorted(row) if key.endswith("message_content.text")]
        calls: dict[str, Row] = {}
        for key, value in row.items():
            if key.startswith("tool_calls."):
                _, number, rest = key.split(".", 2)
                calls.setdefault(number, {})[rest.rpartition(".")[2]] = value
        words = row.get("content", [{"type": "text", "text": text} for text in content])
        made.append({**row, "content": words, "tool_calls": list(calls.values())})
    return made


def _plain(message: Any) -> Row:
    """A message of any form as OpenAI writes it, so that it is the same when it is sent again."""
    told = message if isinstance(message, dict) else {"role": "user", "content": message}
    if told.get("lc") == 1:
        told = {"type": str(told["id"][-1]).removesuffix("Message").lower(), **told["kwargs"]}
    elif isinstance(told.get("data"), dict):
        told = {"type": told.get("type"), **told["data"]}
    kind = str(told.get("type"))
    if kind.endswith("_output") and "role" not in told:
        return {"role": "tool", "content": told.get("output"), "tool_call_id": told.get("call_id")}
    if kind.endswith("_call") and "role" not in told:
        return {"role": "assistant", "content": [], "tool_calls": [_call(told)]}
    role = {"human": "user", "ai": "assistant", "model": "assistant"}.get(str(told.get("role") or kind))
    plain: Row = {"role": role or told.get("role") or kind, "content": told.get("content")}
    calls = [_call(each) for each in listed(told.get("tool_calls"))]
    if isinstance(told.get("parts"), list):
        parts = [part for part in told["parts"] if isinstance(part, dict)]
        calls = [_call(part) for part in parts if part.get("type") == "tool_call"]
        answers = [part for part in parts if part.get("type") == "tool_call_response"]
        plain["content"] = [
            {"type": "text", "text": p.get("content")} for p in parts if p.get("type") == "text"
        ]
        if answers and not plain["content"]:
            plain["role"] = "tool"
            plain["content"] = json.dumps(
                [[p.get("id"), p.get("response", p.get("result"))] for p in answers]
            )
    return {**plain, "tool_calls": calls, "tool_call_id": told.get("tool_call_id")}


def _call(call: Row) -> Row:
    inner = held(call, "function") or call
    given = next((inner[key] for key in ("arguments", "args", "input") if key in inner), None)
    return {"name": inner.get("name"), "arguments": _open(given)}


def _split(told: Row, reply: Any) -> tuple[list[int] | None, Any]:
    """What a call took, with the cache's among what was sent, and all of it where that is told."""
    if any(key.startswith("gen_ai.usage.") for key in told):
        used = {key.removeprefix("gen_ai.usage."): value for key, value in told.items()}
        names = (
            ("input_tokens", "prompt_tokens"),
            ("output_tokens", "completion_tokens"),
            ("cache_read.input_tokens", "cache_read_input_tokens"),
            ("cache_creation.input_tokens", "cache_write.input_tokens", "cache_creation_input_tokens"),
        )
        return split_inclusive(*(next((used[n] for n in each if n in used), 0) for each in names)), None
    if any(key.startswith("llm.token_count.") for key in told):
        names_ = ("prompt", "completion", "prompt_details.cache_read", "prompt_details.cache_write")
        figures = (told.get(f"llm.token_count.{name}") for name in names_)
        return split_inclusive(*figures), told.get("llm.token_count.total")
    if any(key.startswith("ai.usage.") for key in told):
        names_ = ("inputTokens", "outputTokens", "cachedInputTokens", "promptTokens", "completionTokens")
        given, replied, read, old, older = (told.get(f"ai.usage.{name}") for name in names_)
        return split_inclusive(given or old, replied or older, read), None
    used = _open(told.get("mlflow.chat.tokenUsage"))
    if isinstance(used, dict):
        names_ = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        return split_inclusive(*(used.get(name) for name in names_)), used.get("total_tokens")
    usage = held({"r": reply}, "r", "usage")
    return split_usage(usage), usage.get("total_tokens")


def _ask_observation(item: Row) -> Asked | None:
    sent, reply = _open(item.get("input")), _open(item.get("output"))
    figures = [held(item, n) for n in ("usage_details", "usageDetails", "usage")] + [
        {k: v for k, v in item.items() if k not in ("input", "output")}
    ]
    used = next((u for each in figures if {"input", "output"} & set(u := _rename(each))), {})
    read, written = (whole(next((used[k] for k in keys if used.get(k)), 0)) for keys in (_READ, _WRITTEN))
    given, replied, total = (whole(used.get(name)) for name in ("input", "output", "total"))
    apart = "total" in used and given + read + written + replied <= total
    tokens = [given if apart else max(given - read - written, 0), read, written, 0, replied]
    told = {"role": "system", "content": held({"r": reply}, "r").get("instructions")}
    lead = [told] if told["content"] else []
    known = {"input", "output"} & set(used)
    model = item.get("model") or item.get("providedModelName")
    costs = [held(item, name).get("total") for name in ("cost_details", "costDetails")]
    cost = next(
        (each for each in (*costs, item.get("calculatedTotalCost"), item.get("totalCost")) if each), None
    )
    asked = [*lead, *_find(sent, "user")]
    return _make(item, {}, asked, _find(reply), tokens if known else None, model, total, cost=cost)


def _rename(used: Row) -> Row:
    """Figures under the names they have had since."""
    names = {
        "input": ("promptTokens", "prompt_tokens", "inputTokens", "input_tokens", "inputUsage"),
        "output": ("completionTokens", "completion_tokens", "outputTokens", "output_tokens", "outputUsage"),
        "total": ("totalTokens", "total_tokens", "totalUsage"),
    }
    told = {new: used[old] for new, olds in names.items() for old in reversed(olds) if used.get(old)}
    return {**told, **used}


def _ask_run(run: Row) -> Asked | None:
    about = held(run, "extra", "metadata")
    sent, body = _find(_open(run.get("inputs")), "user"), _open(run.get("outputs"))
    reply = _find(body)
    holders = [held({"b": body}, "b"), about, *(each.get("kwargs", each.get("data", each)) for each in reply)]
    used = next((u for each in holders if (u := held(each, "usage_metadata"))), None)
    if used is not None:
        details = held(used, "input_token_details")
        read, written = details.get("cache_read"), details.get("cache_creation")
        tokens: list[int] | None = split_inclusive(
            used.get("input_tokens"), used.get("output_tokens"), read, written
        )
        total = used.get("total_tokens")
    else:
        sums = {key: run[key] for key in ("prompt_tokens", "completion_tokens") if run.get(key)}
        body = held({"b": body}, "b")
        usage = sums or held(body, "llm_output", "token_usage") or held(body, "usage")
        tokens, total = split_usage(usage), usage.get("total_tokens")
    run = {key: value for key, value in run.items() if key != "session_id"}  # the project's
    asked = held(run, "extra", "invocation_params")
    model = about.get("ls_model_name") or asked.get("model") or asked.get("model_name")
    return _make(run, about, sent, reply, tokens, model, total, cost=run.get("total_cost"))
