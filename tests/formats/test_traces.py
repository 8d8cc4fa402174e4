"""Traces of model calls, in the forms of five systems: each holds the same two requests."""

from __future__ import annotations

import json
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
    assert [entry.role for entry in session.entries if entry.kind == "message"][:4] == [
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    assert session.id == "conv-1"
    assert [block.text for block in session.system] == ["You are terse."]
    assert sorted(note.type for note in session.notes) == ["execute_tool read", "invoke_agent demo"]
    usage = [entry.usage for entry in session.entries if entry.usage]
    assert sum(each.prompt for each in usage) == 100 + 300 + 90, "a parent's sum is not counted again"
    ((name, boundary),) = session.boundaries
    assert (boundary.tokens_before, boundary.tokens_after) == (305, 90)
    assert session[name].text.startswith("Summary of the work so far")


def span(number: int, attributes: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"trace_id": "t", "span_id": f"s{number}", "start_time": f"2026-01-01T00:00:0{number}Z"} | {
        "name": "call",
        "attributes": attributes,
        **more,
    }


def flat(head: str, messages: list[Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for at, message in enumerate(messages):
        for key in ("role", "content", "tool_call_id"):
            if key in message:
                found[f"{head}.{at}.message.{key}"] = message[key]
        for n, call in enumerate(message.get("tool_calls", [])):
            inner = f"{head}.{at}.message.tool_calls.{n}.tool_call"
            found |= {f"{inner}.id": call["id"], f"{inner}.function.name": call["function"]["name"]}
            found[f"{inner}.function.arguments"] = call["function"]["arguments"]
    return found


def test_openinference_has_flat_keys() -> None:
    def call(number: int, sent: list[Any], reply: Any, given: int, cached: int, output: int) -> Any:
        count = {"prompt": given, "completion": output, "prompt_details.cache_read": cached}
        return span(
            number,
            {
                "openinference.span.kind": "LLM",
                "llm.model_name": "demo-1",
                **flat("llm.input_messages", sent),
                **flat("llm.output_messages", [reply]),
                **{f"llm.token_count.{key}": value for key, value in count.items()},
            },
        )

    rows = [call(1, [ASK], CALLS, 100, 0, 10), call(2, [ASK, CALLS, ANSWER], END, 130, 90, 5)]
    check(read_session(dump(*rows)))


def test_older_spans_have_prompts_by_number() -> None:
    def call(number: int, sent: list[Any], reply: Any, given: int, cached: int, output: int) -> Any:
        told: dict[str, Any] = {"gen_ai.request.model": "demo-1", "gen_ai.usage.input_tokens": given}
        told |= {"gen_ai.usage.output_tokens": output, "gen_ai.usage.cache_read.input_tokens": cached}
        for head, messages in (("gen_ai.prompt", sent), ("gen_ai.completion", [reply])):
            for at, message in enumerate(messages):
                told |= {f"{head}.{at}.{k}": v for k, v in message.items() if k != "tool_calls"}
                for n, each in enumerate(message.get("tool_calls", [])):
                    inner = {"id": each["id"], **each["function"]}
                    told |= {f"{head}.{at}.tool_calls.{n}.{k}": v for k, v in inner.items()}
        return span(number, told)

    check(
        read_session(dump(call(1, [ASK], CALLS, 100, 0, 10), call(2, [ASK, CALLS, ANSWER], END, 130, 90, 5)))
    )


def test_mlflow_writes_every_attribute_as_json_once_more() -> None:
    def call(number: int, sent: list[Any], reply: Any, given: int, cached: int, output: int) -> Any:
        used = {"input_tokens": given, "output_tokens": output, "cache_read_input_tokens": cached}
        told = {
            "mlflow.spanType": "CHAT_MODEL",
            "mlflow.spanInputs": {"messages": sent},
            "mlflow.spanOutputs": {"choices": [{"message": reply}]},
            "mlflow.chat.tokenUsage": used,
            "gen_ai.response.model": "demo-1",
        }
        coded = {key: json.dumps(value) for key, value in told.items()}
        return {"span_id": str(number), "start_time_unix_nano": number, "name": "x", "attributes": coded}

    spans = [call(1, [ASK], CALLS, 100, 0, 10), call(2, [ASK, CALLS, ANSWER], END, 130, 90, 5)]
    trace = {
        "info": {"trace_id": "tr", "trace_metadata": {"mlflow.trace.session": "s"}},
        "data": {"spans": spans},
    }
    session = read_session(json.dumps(trace).encode())
    check(session)
    assert session.id == "s"


def test_langsmith_runs_of_a_model_hold_whole_requests() -> None:
    def run(number: int, sent: list[Any], reply: Any, given: int, output: int) -> Any:
        return {
            "id": str(number),
            "trace_id": "t",
            "run_type": "llm",
            "name": "ChatOpenAI",
            "start_time": f"2026-01-01T00:00:0{number}",
            "inputs": {"messages": [sent]},
            "outputs": {"generations": [[{"message": reply}]]},
            "prompt_tokens": given,
            "completion_tokens": output,
            "extra": {"metadata": {"ls_model_name": "demo-1", "thread_id": "th"}},
        }

    human = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "HumanMessage"]}
    human["kwargs"] = {"content": "Read a.py.", "type": "human"}
    tool = {
        "type": "ai",
        "data": {"content": "", "tool_calls": [{"id": "c1", "name": "read", "args": {"path": "a.py"}}]},
    }
    chain = {
        "id": "0",
        "trace_id": "t",
        "run_type": "chain",
        "name": "agent",
        "inputs": {},
        "prompt_tokens": 230,
    }
    rows = [chain, run(1, [human], tool, 100, 10), run(2, [human, tool, ANSWER], END, 130, 5)]
    session = read_session(dump(*rows))
    assert [entry.text for entry in session.entries] == ["Read a.py.", "", "", "Three."]
    assert [entry.usage.prompt for entry in session.entries if entry.usage] == [100, 130]
    assert (session.id, session.model, len(session.live.pairs)) == ("th", "demo-1", 1)


@pytest.mark.parametrize("apart", [True, False])
def test_langfuse_tells_by_its_total_whether_the_cache_is_part_of_the_input(apart: bool) -> None:
    def observation(number: int, sent: list[Any], reply: Any, given: int, cached: int, output: int) -> Any:
        used = {"input": given - cached * apart, "output": output, "cache_read_input_tokens": cached}
        return {
            "id": str(number),
            "trace_id": "t",
            "type": "GENERATION",
            "name": "call",
            "session_id": "s",
            "start_time": f"2026-01-01 00:00:0{number}.000000",
            "input": {"messages": sent},
            "output": reply,
            "model": "demo-1",
            "usage_details": used | {"total": given + output},
        }

    rows = [observation(1, [ASK], CALLS, 100, 0, 10), observation(2, [ASK, CALLS, ANSWER], END, 130, 90, 5)]
    check(read_session(dump(*rows)))


CALLED = [
    ([ASK], CALLS, (100, 0, 10)),
    ([ASK, CALLS, ANSWER], END, (130, 90, 5)),
]
"""What was sent, what was replied, and the figures: the input with the cache's, the cache's, the output."""


def inference(sent: list[Any], reply: Any, given: int, cached: int, output: int) -> dict[str, Any]:
    """An LLM call in OpenInference's attributes, nested as a table or a file of spans has them."""

    def name(message: dict[str, Any]) -> dict[str, Any]:
        calls = [{"tool_call": call} for call in message.get("tool_calls", [])]
        return {"message": {**message, "tool_calls": calls} if calls else message}

    count = {"prompt": given, "completion": output, "prompt_details": {"cache_read": cached}}
    told = {"input_messages": [name(m) for m in sent], "output_messages": [name(reply)], "token_count": count}
    return {"openinference": {"span": {"kind": "LLM"}}, "llm": {"model_name": "demo-1", **told}}


def listed(sent: list[Any], reply: Any, given: int, cached: int, output: int) -> dict[str, Any]:
    """An LLM call of older OpenTelemetry, whose messages stand in its events."""
    used = {"gen_ai.usage.input_tokens": given, "gen_ai.usage.output_tokens": output}
    return {"gen_ai.request.model": "demo-1", "gen_ai.usage.cache_read.input_tokens": cached, **used}


def test_pages_and_tables_of_phoenix_hold_spans() -> None:
    nested = [
        span(at, inference(sent, reply, *used)) | {"context": {"trace_id": "t", "span_id": f"s{at}"}}
        for at, (sent, reply, used) in enumerate(CALLED, 1)
    ]
    check(read_session(dump(*nested)))
    check(read_session({"data": nested, "next_cursor": None}))
    table = [
        {
            "name": "call",
            "start_time": at,
            "context.trace_id": "t",
            "context.span_id": f"s{at}",
            "attributes.llm.model_name": "demo-1",
            "attributes.llm.token_count.prompt": used[0],
            "attributes.llm.token_count.completion": used[2],
            "attributes.llm.token_count.prompt_details.cache_read": used[1],
            "attributes.llm.input_messages": inference(sent, reply, *used)["llm"]["input_messages"],
            "attributes.llm.output_messages": inference(sent, reply, *used)["llm"]["output_messages"],
            "attributes.llm.invocation_parameters": None,
        }
        for at, (sent, reply, used) in enumerate(CALLED, 1)
    ]
    check(read_session(dump(*table)))


def test_the_ai_sdks_telemetry_is_read() -> None:
    held = {"toolCallId": "c1", "toolName": "read"}
    call = {"type": "tool-call", **held, "input": {"path": "a.py"}}
    output = {"type": "text", "value": "three lines"}
    first = [{"role": "user", "content": [{"type": "text", "text": "Read a.py."}]}]
    second = [
        *first,
        {"role": "assistant", "content": [call]},
        {"role": "tool", "content": [{"type": "tool-result", **held, "output": output}]},
    ]
    answers = (
        {"ai.response.toolCalls": json.dumps([{**held, "input": '{"path": "a.py"}'}])},
        {"ai.response.text": "Three."},
    )
    rows = []
    for at, (sent, answer) in enumerate(zip((first, second), answers, strict=True), 1):
        used = CALLED[at - 1]
        rows.append(
            span(at, {**listed(*used[:2], *used[2]), "ai.prompt.messages": json.dumps(sent), **answer})
        )
    check(read_session(dump(*rows)))


def test_a_trace_of_jaeger_has_tags() -> None:
    spans = []
    for at, (sent, reply, used) in enumerate(CALLED, 1):
        told: dict[str, Any] = listed(sent, reply, *used)
        told |= {"gen_ai.input.messages": json.dumps(sent), "gen_ai.output.messages": json.dumps([reply])}
        tags = [{"key": key, "type": "string", "value": value} for key, value in told.items()]
        spans.append({"traceID": "t", "spanID": str(at), "operationName": "x", "startTime": at, "tags": tags})
    check(read_session({"data": [{"traceID": "t", "spans": spans[::-1], "processes": {}}]}))


def test_runs_of_langsmith_may_stand_in_one_another_and_tell_usage_in_the_reply() -> None:
    def run(number: int, sent: list[Any], reply: Any, given: int, cached: int, output: int) -> Any:
        used = {"input_tokens": given, "output_tokens": output, "input_token_details": {"cache_read": cached}}
        kwargs = {"content": reply["content"], "type": "ai", "usage_metadata": used}
        kwargs["tool_calls"] = [{"id": "c1", "name": "read", "args": {"path": "a.py"}}] if number == 1 else []
        message = {"lc": 1, "type": "constructor", "id": ["langchain", "AIMessage"], "kwargs": kwargs}
        return {
            "id": str(number),
            "run_type": "llm",
            "name": "ChatDemo",
            "start_time": f"2026-01-01T00:00:0{number}",
            "inputs": {"messages": [sent]},
            "outputs": {"generations": [[{"message": message}]]},
            "extra": {"metadata": {"ls_model_name": "demo-1"}},
            "child_runs": [],
        }

    below = [run(at, sent, reply, *used) for at, (sent, reply, used) in enumerate(CALLED, 1)]
    tree = {"id": "0", "run_type": "chain", "name": "agent", "inputs": {}, "child_runs": below}
    check(read_session(tree))
    check(read_session({"runs": below}))


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
    spans = []
    for at, (sent, reply, used) in enumerate(CALLED, 1):
        told = {"gen_ai.input.messages": json.dumps(sent), "gen_ai.output.messages": json.dumps([reply])}
        spans.append(span(at, {**listed(sent, reply, *used), **told}))
    printed = "\n".join(json.dumps(each, indent=4) for each in spans)
    session = read_session(printed)
    check(session)
    assert session.records == 2
    # One that was cut short is counted, and those before it are read.
    short = read_session(printed[:-40])
    assert (len(short.entries), len(short.corrupt)) == (2, 1)
