"""Traces of model calls, in the forms of five systems: each holds the same two requests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector import open_session, read_session
from inspector.errors import EmptySession
from inspector.session.blocks import ToolCall
from inspector.session.session import Session
from tests.shared import SHARED, needs_shared

CASE = Path(__file__).parents[1] / "cases" / "formats" / "traces.jsonl"
ASK = {"role": "user", "content": "Read a.py."}
CALL = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"path": "a.py"}'}}
CALLS = {"role": "assistant", "content": "", "tool_calls": [CALL]}
ANSWER = {"role": "tool", "tool_call_id": "c1", "content": "three lines"}
END = {"role": "assistant", "content": "Three."}


def dump(*rows: Any) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


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


@needs_shared
def test_a_real_trace_without_messages_is_recognised_and_named_empty() -> None:
    """Visual Studio's traces hold calls of tools only: what was said is not recorded in them."""
    folder = SHARED / "sessions" / "agentsview--testdata" / "visualstudio-copilot" / "redacted"
    paths = sorted(folder.glob("*.jsonl"))
    assert len(paths) == 4
    for path in paths:
        with pytest.raises(EmptySession, match="recognised as traces"):
            open_session(path)
