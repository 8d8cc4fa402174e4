"""Traces of model calls, in the forms of five systems: each holds the same two requests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector import open_session, read_session
from inspector.errors import EmptySession, ReadError
from inspector.session.blocks import ToolCall
from inspector.session.session import Session
from tests.recount.__main__ import compare
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


def events(sent: list[Any], reply: Any) -> list[Any]:
    said = [(f"gen_ai.{message['role']}.message", message) for message in sent]
    told = [*said, ("gen_ai.choice", {"index": 0, "message": reply})]
    return [{"name": n, "attributes": {"gen_ai.event.content": json.dumps(held)}} for n, held in told]


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


def test_a_call_of_openinference_may_hold_its_whole_request_only() -> None:
    spans = []
    for at, (sent, reply, used) in enumerate(CALLED, 1):
        count = dict(zip(("prompt", "prompt_details.cache_read", "completion"), used, strict=True))
        told = {"openinference.span.kind": "LLM", "input.value": json.dumps({"messages": sent})}
        told |= {"output.value": json.dumps({"choices": [{"message": reply}]}), "llm.model_name": "demo-1"}
        spans.append(span(at, told | {f"llm.token_count.{key}": value for key, value in count.items()}))
    check(read_session(dump(*spans)))


def test_messages_in_the_events_of_spans_are_read() -> None:
    rows = [
        span(at, listed(sent, reply, *used), events=events(sent, reply))
        for at, (sent, reply, used) in enumerate(CALLED, 1)
    ]
    check(read_session(dump(*rows)))
    lists = []
    for at, (sent, reply, used) in enumerate(CALLED, 1):
        said = [{"event.name": f"gen_ai.{message['role']}.message", **message} for message in sent]
        said.append({"event.name": "gen_ai.choice", "index": 0, "message": reply})
        lists.append(span(at, {**listed(sent, reply, *used), "events": json.dumps(said)}))
    check(read_session(dump(*lists)))


def test_details_of_a_call_may_stand_in_an_event() -> None:
    def part(message: dict[str, Any]) -> dict[str, Any]:
        parts = [
            {"type": "tool_call", "id": c["id"], "name": "read", "arguments": {"path": "a.py"}}
            for c in message.get("tool_calls", [])
        ]
        if "tool_call_id" in message:
            parts = [{"type": "tool_call_response", "id": "c1", "response": message["content"]}]
        elif message["content"]:
            parts = [{"type": "text", "content": message["content"]}]
        return {"role": message["role"], "parts": parts}

    rows = []
    for at, (sent, reply, used) in enumerate(CALLED, 1):
        told = {"gen_ai.input.messages": [part(m) for m in sent], "gen_ai.output.messages": [part(reply)]}
        event = {"name": "gen_ai.client.inference.operation.details", "attributes": told}
        rows.append(span(at, listed(sent, reply, *used), events=[event]))
    check(read_session(dump(*rows)))


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


def test_older_mlflow_tells_usage_and_model_in_the_reply_itself() -> None:
    spans = []
    for at, (sent, reply, (given, cached, output)) in enumerate(CALLED, 1):
        used = {"prompt_tokens": given, "completion_tokens": output}
        used["prompt_tokens_details"] = {"cached_tokens": cached}  # type: ignore[assignment]
        answer = {"model": "demo-1", "choices": [{"message": reply}], "usage": used}
        told = {"mlflow.spanInputs": {"messages": sent}, "mlflow.spanOutputs": answer}
        coded = {key: json.dumps(value) for key, value in told.items()}
        spans.append({"context": {"span_id": str(at)}, "start_time": at, "name": "x", "attributes": coded})
    check(read_session({"info": {"request_id": "tr", "request_metadata": {}}, "data": {"spans": spans}}))


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


@pytest.mark.parametrize("written", ["cache_write.input_tokens", "cache_creation_input_tokens"])
def test_what_was_written_to_the_cache_is_read_under_each_of_its_names(written: str) -> None:
    said = [{"role": "user", "parts": [{"type": "text", "content": "Hi"}]}]
    told = {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": json.dumps(said),
        "gen_ai.output.messages": json.dumps([{**said[0], "role": "assistant"}]),
        "gen_ai.usage.input_tokens": 100,
        f"gen_ai.usage.{written}": 20,
        "gen_ai.usage.output_tokens": 5,
    }
    session = read_session([span(1, told)])
    usage = session.entries[-1].usage
    assert usage is not None and (usage.input, usage.cache_write, usage.output) == (80, 20, 5)


def generation(number: int, sent: list[Any], reply: str, trace: str = "t", **more: Any) -> dict[str, Any]:
    """A call of a model's as Langfuse keeps it, in a trace that names no session."""
    told = {"id": str(number), "traceId": trace, "type": "GENERATION", "name": "call", "model": "demo-1"}
    told |= {"startTime": f"2026-01-01T00:00:{number:02}Z", "usageDetails": {"input": 10, "output": 2}}
    return {**told, "input": sent, "output": {"role": "assistant", "content": reply}, **more}


def say(role: str, words: str) -> dict[str, Any]:
    return {"role": role, "content": words}


def test_another_agent_in_the_same_trace_is_no_compaction() -> None:
    writer, critic = say("system", "Write a joke. Ask the tools first."), say("system", "You judge jokes.")
    asked = [writer, say("user", "About bugs")]
    rows = [
        generation(1, asked, "Light attracts them."),
        generation(2, [critic, say("user", "Rate: light attracts them.")], "Good."),
        generation(
            3, [*asked, say("assistant", "Light attracts them."), say("user", "Another")], "None left."
        ),
    ]
    session = read_session({"trace": {"id": "t", "sessionId": None}, "observations": rows})
    assert not session.boundaries and len(session.turns) == 2
    assert [entry.text for entry in session.entries if entry.sidechain] == [
        "Rate: light attracts them.",
        "Good.",
    ]
    assert [block.text for block in session.system] == [writer["content"]]


def test_a_system_prompt_with_another_date_is_the_same_agents() -> None:
    first = [say("system", "You are a helpful agent. Today is Monday."), say("user", "one, at length")]
    later = [say("system", "You are a helpful agent. Today is Friday."), say("user", "so far: one was said")]
    rows = [generation(1, first, "yes", sessionId="s"), generation(2, later, "yes", sessionId="s")]
    assert [each.kind for _, each in read_session(rows).boundaries] == ["compact"]


def test_calls_that_share_a_trace_and_no_message_are_conversations_of_their_own() -> None:
    rows = [generation(n, [say("user", f"prompt {n}")], f"reply {n}") for n in (1, 2)]
    session = read_session(rows)
    assert not session.boundaries
    assert [bool(entry.sidechain) for entry in session.entries] == [False, False, True, True]


def test_a_chat_of_a_trace_for_each_turn_is_one_conversation() -> None:
    asked = [say("user", "Hello")]
    more = [*asked, say("assistant", "Hi."), say("user", "Who are you?")]
    rows = [generation(1, asked, "Hi.", "t1"), generation(2, more, "A model.", "t2")]
    session = read_session([*rows, generation(3, [say("user", "Hello")], "Hey.", "t3")])
    main = [entry.text for entry in session.entries if not entry.sidechain]
    assert main == ["Hello", "Hi.", "Who are you?", "A model."]
    assert len(session.turns) == 2


def test_what_a_reply_of_openais_responses_repeats_of_its_request_is_read() -> None:
    tool = {"type": "function", "name": "weather", "parameters": {"type": "object"}}
    reply = {"object": "response", "instructions": "Help.", "tools": [tool]}
    reply["output"] = [
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Sunny"}]}
    ]
    used = {"input": 85, "output": 29, "total": 114, "prompt_details.cache_read": 40}
    row = generation(1, [say("user", "And in Oslo?")], "", output=reply, usageDetails=used)
    session = read_session([row])
    assert [block.text for block in session.system] == ["Help."]
    assert [each.name for each in session.tools] == ["weather"]
    usage = session.entries[1].usage
    assert usage is not None and (usage.prompt, usage.cache_read, usage.output) == (85, 40, 29)


def test_an_agents_span_that_repeats_what_its_calls_tell_is_not_read() -> None:
    around = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "demo",
        "gen_ai.usage.input_tokens": 600,
    }
    said = {
        "gen_ai.conversation.id": "c",
        "gen_ai.input.messages": json.dumps(
            [{"role": "user", "parts": [{"type": "text", "content": "Hello"}]}]
        ),
        "gen_ai.output.messages": json.dumps(
            [{"role": "assistant", "parts": [{"type": "text", "content": "Hi"}]}]
        ),
    }
    call = {
        "gen_ai.operation.name": "chat",
        "gen_ai.usage.input_tokens": 300,
        "gen_ai.usage.output_tokens": 5,
    }
    session = read_session(dump(span(1, said | around), span(2, said | call)))
    assert [(entry.text, entry.sidechain) for entry in session.entries] == [("Hello", None), ("Hi", None)]
    assert [entry.usage.prompt for entry in session.entries if entry.usage] == [300]
    assert len(session.notes) == 1
    alone = read_session(dump(span(1, said | around)))
    assert [entry.text for entry in alone.entries] == ["Hello", "Hi"], (
        "where no call is traced it is all there is"
    )


def test_an_agent_whose_calls_stand_in_no_trace_of_its_own_is_read(tmp_path: Path) -> None:
    """One trace holds the call below its agent's span, the other only an agent's: that one alone tells it."""

    def told(operation: str, asked: str, reply: str, tokens: int) -> dict[str, Any]:
        lists = zip(("input", "output"), ("user", "assistant"), (asked, reply), strict=True)
        return {
            "gen_ai.operation.name": operation,
            "gen_ai.usage.input_tokens": tokens,
            "gen_ai.usage.output_tokens": 5,
        } | {
            f"gen_ai.{kind}.messages": json.dumps(
                [{"role": role, "parts": [{"type": "text", "content": words}]}]
            )
            for kind, role, words in lists
        }

    rows = [
        span(1, told("invoke_agent", "Hello", "Hi", 600), trace_id="a"),
        span(2, told("chat", "Hello", "Hi", 300), trace_id="a"),
        span(3, told("invoke_agent", "Look around", "Nothing there", 70), trace_id="b"),
    ]
    path = tmp_path / "traces.jsonl"
    path.write_bytes(dump(*rows))
    session = open_session(path)
    assert [entry.text for entry in session.entries] == ["Hello", "Hi", "Look around", "Nothing there"]
    assert [entry.usage.prompt for entry in session.entries if entry.usage] == [300, 70]
    assert [note.type for note in session.notes] == ["call"]
    assert [str(figure) for figure in compare(path, session) if not figure.same] == []


@pytest.mark.parametrize("beside", ["gen_ai.system_instructions", "mlflow", "langfuse"])
def test_a_system_prompt_that_is_told_twice_stands_once(beside: str) -> None:
    messages = [say("system", "You are terse."), say("developer", "Say no more."), say("user", "Hello")]
    reply = say("assistant", "Hi")
    if beside == "langfuse":
        output = {"instructions": "You are terse.", **reply}
        row = generation(1, messages, "", output=output)
    elif beside == "mlflow":
        inputs = {"system": "You are terse.", "messages": messages}
        row = span(1, {"mlflow.spanInputs": inputs, "mlflow.spanOutputs": reply})
    else:
        lists = {"gen_ai.input.messages": messages, "gen_ai.output.messages": [reply]}
        told = [{"type": "text", "content": "You are terse."}]
        row = span(1, {key: json.dumps(value) for key, value in {**lists, beside: told}.items()})
    session = read_session([row])
    assert [block.text for block in session.system] == ["You are terse.", "Say no more."]
    assert [entry.text for entry in session.entries] == ["Hello", "Hi"]


def test_conversations_that_stand_apart_are_told_of() -> None:
    rows = [generation(n, [say("user", f"prompt {n}")], f"reply {n}") for n in (1, 2, 3)]
    told = "stands apart: it shares no message with the session's, or has another name"
    assert read_session(rows[:2]).warnings == (f"1 other conversation {told}",)
    assert read_session(rows).warnings[0].startswith("2 other conversations stand apart: each shares")


def test_the_latest_of_the_conversations_that_a_request_may_go_on_with_is_taken() -> None:
    """Two traces tell the same words; what goes on is the later one's, and its line then another's."""
    asked, reply = [say("user", "Hello")], "Hi."
    more = [*asked, say("assistant", reply), say("user", "Who are you?")]
    rows = [generation(1, asked, reply, "t1"), generation(2, asked, reply, "t2")]
    rows += [generation(3, more, "A model.", "t3"), generation(4, more, "Still one.", "t4")]
    session = read_session(rows)
    lines = {name: [e for e in session.entries if e.sidechain == name]
             for name in dict.fromkeys(e.sidechain for e in session.entries)}  # fmt: skip
    said = ["Hello", "Hi.", "Who are you?"]
    # Rows are told from each other by their replies, the first two by their lines alone.
    assert sorted(
        ([entry.text for entry in line], [source.line for entry in line for source in entry.sources])
        for line in lines.values()
    ) == [([*said, "A model."], [2, 3]), ([*said, "Still one."], [1, 4])]


def test_a_summary_that_the_last_reply_wrote_goes_on_with_its_conversation() -> None:
    summary = "The cap is 481 dollars, the host is amber, and nobody may touch the vendor folder."
    rows = [
        {"model": "m", "messages": [say("user", f"task {n}")], "response": {"choices": [{"message": said}]}}
        for n, said in enumerate((say("assistant", summary), say("assistant", summary.upper())))
    ]
    rows.append({**rows[0], "messages": [say("user", f"So far: {summary}\n\nGo on."), say("user", "on")]})
    session = read_session(rows, format="request-log")
    assert [session.entries[at].kind for at in session.path] == [
        "message",
        "message",
        "compaction",
        "message",
        "message",
    ]


METRICS = (
    {"type": "metric", "name": "gen_ai.client.token.usage", "dataPoints": []},
    {"resourceMetrics": [{"resource": {}, "scopeMetrics": []}]},
)


@pytest.mark.parametrize("metric", METRICS)
def test_measures_among_the_spans_of_a_file_are_known_and_no_calls(
    metric: dict[str, Any], tmp_path: Path
) -> None:
    said = {"gen_ai.input.messages": json.dumps([ASK]), "gen_ai.output.messages": json.dumps([END])}
    told = {**said, "gen_ai.usage.input_tokens": 100, "gen_ai.usage.output_tokens": 10}
    path = tmp_path / "sent.jsonl"
    path.write_bytes(dump(metric, {"type": "span", **span(1, told)}, metric, {"type": "event"}))
    session = open_session(path)
    assert [entry.text for entry in session.entries] == ["Read a.py.", "Three."]
    assert [(note.type, note.known) for note in session.notes] == [
        ("metric", True),
        ("metric", True),
        ("row without a span", False),
    ]
    assert [str(figure) for figure in compare(path, session) if not figure.same] == []
    path.write_bytes(dump(metric, metric))
    with pytest.raises(ReadError):
        open_session(path)
