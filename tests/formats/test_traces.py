"""Traces of model calls, in the forms of five systems: each holds the same two requests."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from inspector import open_session, read_session
from inspector.errors import EmptySession
from inspector.session.blocks import ToolCall
from inspector.session.session import Session
from tests.rows import CASES, dump
from tests.shared import SHARED, needs_shared

CASE = CASES / "traces.jsonl"
ASK = {"role": "user", "content": "Read a.py."}
CALL = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"path": "a.py"}'}}
CALLS = {"role": "assistant", "content": "", "tool_calls": [CALL]}
ANSWER = {"role": "tool", "tool_call_id": "c1", "content": "three lines"}
END = {"role": "assistant", "content": "Three."}


def check(session: Session) -> None:
    assert [(entry.role, entry.text) for entry in session.entries] == [
        ("user", "Read a.py."),
        ("assistant", ""),
        ("tool", ""),
        ("assistant", "Three."),
    ]
    call = next(block for block in session.entries[1].blocks if block.kind == "tool_call")
    assert call == ToolCall(id="c1", name="read", input={"path": "a.py"})
    assert session.entries[2].blocks[0].text == "three lines"
    usage = [entry.usage for entry in session.entries if entry.usage]
    assert [(each.prompt, each.cache_read, each.output) for each in usage] == [(100, 0, 10), (130, 90, 5)]
    assert session.model == "demo-1"
    assert session.unknown == 0


def test_spans_of_opentelemetry_in_any_order_are_one_session() -> None:
    session = open_session(CASE)
    said = [entry.role for entry in session.entries if entry.kind == "message"]
    assert said[:4] == ["user", "assistant", "tool", "assistant"]
    assert session.id == "conv-1"
    assert [block.text for block in session.system] == ["You are terse."]
    assert sorted(note.type for note in session.notes) == ["execute_tool read", "invoke_agent demo"]
    usage = [entry.usage for entry in session.entries if entry.usage]
    assert sum(each.prompt for each in usage) == 100 + 300 + 90, "a parent's sum is not counted again"
    ((name, boundary),) = session.boundaries
    assert (boundary.tokens_before, boundary.tokens_after) == (305, 90)
    assert session[name].text.startswith("Summary of the work so far")


CALLED = [([ASK], CALLS, (100, 0, 10)), ([ASK, CALLS, ANSWER], END, (130, 90, 5))]
"""What was sent, what was replied, and the figures: the input with the cache's, the cache's, the output."""


def span(number: int, attributes: dict[str, Any], **more: Any) -> dict[str, Any]:
    names = {"trace_id": "t", "span_id": f"s{number}", "name": "call"}
    return {**names, "start_time": f"2026-01-01T00:00:0{number}Z", "attributes": attributes, **more}


def flatten(head: str, value: Any) -> dict[str, Any]:
    """A value as flat keys, the places of its lists among them."""
    if not isinstance(value, dict | list):
        return {head: value}
    items = value.items() if isinstance(value, dict) else enumerate(value)
    deeper = (flatten(f"{head}.{name}" if head else f"{name}", inner) for name, inner in items)
    return {key: leaf for flat in deeper for key, leaf in flat.items()}


def inference(sent: list[Any], reply: Any, prompt: int, cached: int, output: int) -> dict[str, Any]:
    """An LLM call in OpenInference's attributes, nested as a table or a file of spans has them."""

    def name(message: dict[str, Any]) -> dict[str, Any]:
        calls = [{"tool_call": call} for call in message.get("tool_calls", [])]
        return {"message": {**message, "tool_calls": calls} if calls else message}

    count = {"prompt": prompt, "completion": output, "prompt_details": {"cache_read": cached}}
    fields = {
        "input_messages": [name(m) for m in sent],
        "output_messages": [name(reply)],
        "token_count": count,
    }
    return {"openinference": {"span": {"kind": "LLM"}}, "llm": {"model_name": "demo-1", **fields}}


def listed(sent: list[Any], reply: Any, prompt: int, cached: int, output: int) -> dict[str, Any]:
    """An LLM call of OpenTelemetry, whose messages are JSON."""
    used = {"gen_ai.usage.input_tokens": prompt, "gen_ai.usage.output_tokens": output}
    used |= {"gen_ai.request.model": "demo-1", "gen_ai.usage.cache_read.input_tokens": cached}
    return used | {"gen_ai.input.messages": json.dumps(sent), "gen_ai.output.messages": json.dumps([reply])}


def numbered(sent: list[Any], reply: Any, *used: int) -> dict[str, Any]:
    """An LLM call of older OpenTelemetry: its prompts by number, in flat keys."""
    fields = {key: value for key, value in listed(sent, reply, *used).items() if "messages" not in key}
    for head, messages in (("gen_ai.prompt", sent), ("gen_ai.completion", [reply])):
        bare = [{**message} for message in messages]
        for message in bare:
            calls = message.pop("tool_calls", [])
            message |= {"tool_calls": [{"id": call["id"], **call["function"]} for call in calls]}
        fields |= flatten(head, bare)
    return fields


def in_table(at: int, *call: Any) -> dict[str, Any]:
    """A row of Phoenix's table of spans: the lists of messages are in one cell each."""
    llm = inference(*call)["llm"]
    cells = {f"attributes.llm.{name}": llm.pop(name) for name in ("input_messages", "output_messages")}
    names = {"name": "call", "start_time": at, "context.trace_id": "t", "context.span_id": f"s{at}"}
    return names | flatten("attributes.llm", llm) | cells | {"attributes.llm.invocation_parameters": None}


def tagged(at: int, *call: Any) -> dict[str, Any]:
    """A span of Jaeger's."""
    tags = [{"key": key, "type": "string", "value": value} for key, value in listed(*call).items()]
    return {"traceID": "t", "spanID": str(at), "operationName": "x", "startTime": at, "tags": tags}


def mlflow(at: int, sent: list[Any], reply: Any, prompt: int, cached: int, output: int) -> dict[str, Any]:
    """A span of MLflow's, which writes every attribute as JSON once more."""
    used = {"input_tokens": prompt, "output_tokens": output, "cache_read_input_tokens": cached}
    fields = {"mlflow.spanType": "CHAT_MODEL", "mlflow.spanInputs": {"messages": sent}}
    fields |= {"mlflow.spanOutputs": {"choices": [{"message": reply}]}, "mlflow.chat.tokenUsage": used}
    fields["gen_ai.response.model"] = "demo-1"
    coded = {key: json.dumps(value) for key, value in fields.items()}
    return {"span_id": str(at), "start_time_unix_nano": at, "name": "x", "attributes": coded}


def langfuse(
    at: int, sent: list[Any], reply: Any, prompt: int, cached: int, output: int, apart: bool
) -> dict[str, Any]:
    """An observation of Langfuse's: its total shows whether the cache is part of the input."""
    used = {"input": prompt - cached * apart, "output": output, "cache_read_input_tokens": cached}
    names = {"id": str(at), "trace_id": "t", "type": "GENERATION", "name": "call", "session_id": "s"}
    fields = {"start_time": f"2026-01-01 00:00:0{at}.000000", "input": {"messages": sent}, "output": reply}
    return names | fields | {"model": "demo-1", "usage_details": used | {"total": prompt + output}}


TOOL = {"id": "c1", "name": "read", "args": {"path": "a.py"}}


def langsmith(at: int, sent: list[Any], reply: Any, prompt: int, cached: int, output: int) -> dict[str, Any]:
    """A run of LangSmith's, which reports usage in the reply."""
    used = {"input_tokens": prompt, "output_tokens": output, "input_token_details": {"cache_read": cached}}
    kwargs = {"content": reply["content"], "type": "ai", "usage_metadata": used}
    kwargs["tool_calls"] = [TOOL] if at == 1 else []
    message = {"lc": 1, "type": "constructor", "id": ["langchain", "AIMessage"], "kwargs": kwargs}
    return run(at, sent, message) | {"extra": {"metadata": {"ls_model_name": "demo-1"}}, "child_runs": []}


def run(at: int, sent: list[Any], message: Any, **more: Any) -> dict[str, Any]:
    names = {"id": str(at), "trace_id": "t", "run_type": "llm", "name": "ChatDemo"}
    fields = {"inputs": {"messages": [sent]}, "outputs": {"generations": [[{"message": message}]]}}
    return names | fields | {"start_time": f"2026-01-01T00:00:0{at}", **more}


def ai_sdk(at: int, *call: Any) -> dict[str, Any]:
    """A span of the AI SDK's, whose messages have parts."""
    ids = {"toolCallId": "c1", "toolName": "read"}
    part = {"type": "tool-call", **ids, "input": {"path": "a.py"}}
    result = {"type": "tool-result", **ids, "output": {"type": "text", "value": "three lines"}}
    sent = [
        {"role": "user", "content": [{"type": "text", "text": "Read a.py."}]},
        {"role": "assistant", "content": [part]},
        {"role": "tool", "content": [result]},
    ][: 2 * at - 1]
    answer = {"ai.response.toolCalls": json.dumps([{**ids, "input": '{"path": "a.py"}'}])}
    fields = {key: value for key, value in listed(*call).items() if "messages" not in key}
    fields["ai.prompt.messages"] = json.dumps(sent)
    return span(at, fields | (answer if at == 1 else {"ai.response.text": "Three."}))


def every(make: Callable[..., dict[str, Any]]) -> list[dict[str, Any]]:
    """Both calls, as a system writes them."""
    return [make(at, sent, reply, *used) for at, (sent, reply, used) in enumerate(CALLED, 1)]


NESTED = every(
    lambda at, *call: span(at, inference(*call)) | {"context": {"trace_id": "t", "span_id": str(at)}}
)
CHAIN = {"id": "0", "run_type": "chain", "name": "agent", "inputs": {}}
DOCUMENTS: dict[str, Any] = {
    "OpenInference": dump(*every(lambda at, *call: span(at, flatten("", inference(*call))))),
    "older OpenTelemetry": dump(*every(lambda at, *call: span(at, numbered(*call)))),
    "MLflow": {"info": {"trace_id": "tr"}, "data": {"spans": every(mlflow)}},
    "Langfuse": dump(*every(partial(langfuse, apart=False))),
    "Langfuse, the cache apart": dump(*every(partial(langfuse, apart=True))),
    "Phoenix's spans": dump(*NESTED),
    "Phoenix's page": {"data": NESTED, "next_cursor": None},
    "Phoenix's table": dump(*every(in_table)),
    "the AI SDK": dump(*every(ai_sdk)),
    "Jaeger": {"data": [{"traceID": "t", "spans": every(tagged)[::-1], "processes": {}}]},
    "LangSmith, runs in a run": {**CHAIN, "child_runs": every(langsmith)},
    "LangSmith's runs": {"runs": every(langsmith)},
}


@pytest.mark.parametrize("system", DOCUMENTS)
def test_the_calls_of_a_system_are_one_conversation(system: str) -> None:
    check(read_session(DOCUMENTS[system]))


def test_a_trace_of_mlflow_may_name_its_session() -> None:
    about = {"trace_id": "tr", "trace_metadata": {"mlflow.trace.session": "s"}}
    assert read_session({"info": about, "data": {"spans": every(mlflow)}}).id == "s"


def test_langsmith_runs_of_a_model_hold_whole_requests() -> None:
    human = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "HumanMessage"]}
    human["kwargs"] = {"content": "Read a.py.", "type": "human"}
    tool = {"type": "ai", "data": {"content": "", "tool_calls": [TOOL]}}
    about = {"extra": {"metadata": {"ls_model_name": "demo-1", "thread_id": "th"}}}
    rows = [
        {**CHAIN, "trace_id": "t", "prompt_tokens": 230},
        run(1, [human], tool, prompt_tokens=100, completion_tokens=10, **about),
        run(2, [human, tool, ANSWER], END, prompt_tokens=130, completion_tokens=5, **about),
    ]
    session = read_session(dump(*rows))
    assert [entry.text for entry in session.entries] == ["Read a.py.", "", "", "Three."]
    assert [entry.usage.prompt for entry in session.entries if entry.usage] == [100, 130]
    assert (session.id, session.model, len(session.live.pairs)) == ("th", "demo-1", 1)


@needs_shared
def test_a_real_trace_without_messages_is_recognised_and_named_empty() -> None:
    """Visual Studio's traces hold calls of tools only: what was said is not recorded in them."""
    folder = SHARED / "sessions" / "agentsview--testdata" / "visualstudio-copilot" / "redacted"
    paths = sorted(folder.glob("*.jsonl"))
    assert len(paths) == 4
    for path in paths:
        with pytest.raises(EmptySession, match="recognised as traces"):
            open_session(path)


def test_spans_that_were_printed_over_several_lines_are_read() -> None:
    spans = every(lambda at, *call: span(at, listed(*call)))
    printed = "\n".join(json.dumps(each, indent=4) for each in spans)
    session = read_session(printed)
    check(session)
    assert session.records == 2
    # One that was cut short is counted, and those before it are read.
    short = read_session(printed[:-40])
    assert (len(short.entries), len(short.corrupt)) == (2, 1)
