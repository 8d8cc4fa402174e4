"""Model calls among the spans of a trace, their costs, and blocks of Bedrock's Converse API."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inspector import Session, price_session, read_session
from inspector.session.blocks import ToolCall, ToolOutput

Row = dict[str, Any]
PROMPT, CALLED, ANSWER = "What is in the box?", "Let me open it.", "A cat."
CALL = {"id": "t1", "function": {"name": "open_box", "arguments": "{}"}}
TURNS = [
    {"role": "user", "content": PROMPT},
    {"role": "assistant", "content": CALLED, "tool_calls": [CALL]},
    {"role": "tool", "content": "a cat", "tool_call_id": "t1"},
    {"role": "assistant", "content": ANSWER},
]


def flatten(messages: list[Row], head: str) -> Row:
    """Return messages as OpenInference attributes."""
    flat: Row = {}
    for at, message in enumerate(messages):
        for key, value in message.items():
            if key == "tool_calls":
                for number, call in enumerate(value):
                    name = f"{head}.{at}.message.tool_calls.{number}.tool_call"
                    flat |= {f"{name}.id": call["id"], f"{name}.function.name": call["function"]["name"]}
                    flat[f"{name}.function.arguments"] = call["function"]["arguments"]
            else:
                flat[f"{head}.{at}.message.{key}"] = value
    return flat


def make_span(name: str, number: int, parent: int, attributes: Row, events: tuple[Row, ...] = ()) -> Row:
    return {
        "name": name,
        "context": {"trace_id": "ab" * 16, "span_id": f"{number:02}"},
        "parent_id": f"{parent:02}" if parent else None,
        "start_time": f"2026-05-01T10:00:{number:02}Z",
        "attributes": attributes,
        "events": list(events),
    }


def infer(kind: str, sent: list[Row], reply: list[Row], tokens: tuple[int, int] = (0, 0), **more: Any) -> Row:
    """Return the attributes of an OpenInference span."""
    used = (
        {"llm.token_count.prompt": tokens[0], "llm.token_count.completion": tokens[1]} if any(tokens) else {}
    )
    about = {"openinference.span.kind": kind, "llm.model_name": "claude-sonnet-4-5", **used, **more}
    return about | flatten(sent, "llm.input_messages") | flatten(reply, "llm.output_messages")


def read(spans: list[Row]) -> Session:
    """Read spans one a line, as one list, and as OTLP; check that the sessions are the same."""
    sessions = [
        read_session("\n".join(map(json.dumps, spans)).encode()),
        read_session(json.dumps(spans).encode()),
    ]
    sessions.append(
        read_session(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": list(map(lay, spans))}]}]}))
    )
    contents = [[(entry.role, entry.text, entry.usage) for entry in session.entries] for session in sessions]
    assert contents[0] == contents[1] == contents[2]
    return sessions[0]


def lay(span: Row) -> Row:
    """Return a span in the OTLP format."""

    def write(attributes: Row) -> list[Row]:
        kinds = {str: "stringValue", int: "intValue", float: "doubleValue"}
        return [
            {"key": k, "value": {kinds[type(v)]: str(v) if type(v) is int else v}}
            for k, v in attributes.items()
        ]

    time = int(span["start_time"][17:19]) * 1_000_000_000 + 1_780_000_000_000_000_000
    events = [{**event, "attributes": write(event["attributes"])} for event in span["events"]]
    names = {
        "traceId": span["context"]["trace_id"],
        "spanId": span["context"]["span_id"],
        "name": span["name"],
    }
    more = {"parentSpanId": span["parent_id"] or "", "startTimeUnixNano": str(time)}
    return names | more | {"attributes": write(span["attributes"]), "events": events}


def check(session: Session, tokens: tuple[int, int] = (300, 30), calls: int = 2) -> None:
    """Check that the path has the four messages once each, with the usage of the calls alone."""
    assert [session.entries[at].role for at in session.path] == ["user", "assistant", "tool", "assistant"]
    assert len(session.entries) == 4
    used = [entry.usage for entry in session.entries if entry.usage is not None]
    assert (len(used), sum(u.prompt for u in used), sum(u.output for u in used)) == (calls, *tokens)


FIRST = infer("LLM", TURNS[:1], TURNS[1:2], (100, 10))
SECOND = infer("LLM", TURNS[:3], TURNS[3:], (200, 20))


@pytest.mark.parametrize("kind", ["CHAIN", "AGENT", "TOOL", "GUARDRAIL", "RETRIEVER", "chain"])
def test_openinferences_spans_around_calls_are_no_calls(kind: str) -> None:
    """LangGraph's spans repeat the first message, and an agent's span the reply and the sum of its calls."""
    around = infer(kind, TURNS[:1], [])
    check(
        read(
            [
                make_span("LangGraph", 1, 0, infer(kind, TURNS[:1], TURNS[3:], (300, 30))),
                make_span("agent", 2, 1, around),
                make_span("ChatAnthropic", 3, 2, FIRST),
                make_span("tools", 4, 1, infer(kind, TURNS[:2], [])),
                make_span("agent", 5, 1, infer(kind, TURNS[:3], TURNS[3:])),
                make_span("ChatAnthropic", 6, 5, SECOND),
            ]
        )
    )


def say(role: str, content: Any) -> Row:
    return {"name": f"gen_ai.{role}.message", "attributes": {"content": json.dumps(content)}}


def choose(content: Any) -> Row:
    return {"name": "gen_ai.choice", "attributes": {"message": json.dumps(content)}}


USE = {"toolUse": {"toolUseId": "c1", "name": "get_marker", "input": {"slot": 3}}}
RESULT = {"toolResult": {"toolUseId": "c1", "status": "success", "content": [{"text": "marker-77"}]}}
STRANDS = (
    (say("user", [{"text": "Read it."}]), choose([{"text": "I will."}, USE])),
    (
        say("user", [{"text": "Read it."}]),
        say("assistant", [{"text": "I will."}, USE]),
        say("tool", [RESULT]),
        choose([{"text": "done"}]),
    ),
)


@pytest.mark.parametrize(
    "operation", ["execute_event_loop_cycle", "invoke_agent", "plan", "execute_tool", "run_step"]
)
def test_cycles_and_agents_that_tell_an_operation_are_no_calls(operation: str) -> None:
    spans = [
        make_span(
            "agent", 1, 0, {"gen_ai.operation.name": operation, "gen_ai.usage.input_tokens": 335}, STRANDS[1]
        )
    ]
    for number, events in enumerate(STRANDS):
        used = {"gen_ai.usage.input_tokens": 160 + 15 * number, "gen_ai.usage.output_tokens": 45 + 5 * number}
        spans.append(make_span("cycle", 2 + 3 * number, 1, {"gen_ai.operation.name": operation}, events))
        about = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "claude-sonnet-4-5", **used}
        spans.append(make_span("chat", 3 + 3 * number, 2 + 3 * number, about, events))
    session = read(spans)
    check(session, (335, 95))
    assert {
        type(block) for entry in session.entries for block in entry.blocks if block.kind == "unknown"
    } == set()
    (call,) = (block for entry in session.entries for block in entry.blocks if isinstance(block, ToolCall))
    (output,) = (
        block for entry in session.entries for block in entry.blocks if isinstance(block, ToolOutput)
    )
    assert (call.name, call.input, output.call_id, output.name, output.text) == (
        *("get_marker", {"slot": 3}),
        *("c1", "get_marker", "marker-77"),
    )


def test_spans_around_calls_are_read_in_a_trace_without_a_call() -> None:
    about = {"gen_ai.operation.name": "execute_event_loop_cycle", "gen_ai.usage.input_tokens": 9}
    session = read([make_span("cycle", 1, 0, about, STRANDS[1])])
    assert [entry.role for entry in session.entries] == ["user", "assistant", "tool", "assistant"]
    assert session.entries[-1].usage is not None


def test_one_call_that_two_instrumentations_record_is_one() -> None:
    outer = {
        "gen_ai.operation.name": "chat",
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 10,
    }
    events = (say("user", PROMPT), {"name": "gen_ai.choice", "attributes": {"message": json.dumps(TURNS[1])}})
    session = read(
        [
            make_span("litellm", 1, 0, outer, events),
            make_span("http", 2, 1, {"http.request.method": "POST"}),
            make_span("ChatAnthropic", 3, 2, FIRST),
            make_span("litellm", 5, 0, infer("LLM", TURNS[:3], TURNS[3:], (200, 20))),
            make_span("ChatAnthropic", 6, 5, SECOND),
        ]
    )
    check(session)


def test_a_call_that_a_tool_within_another_call_makes_is_a_call() -> None:
    inner = infer(
        "LLM",
        [{"role": "user", "content": "Summarise it."}],
        [{"role": "assistant", "content": "Short."}],
        (7, 1),
    )
    session = read(
        [
            make_span("chat", 1, 0, FIRST),
            make_span("tool", 2, 1, {"openinference.span.kind": "TOOL"}),
            make_span("chat", 3, 2, inner),
            make_span("chat", 4, 0, SECOND),
        ]
    )
    assert sum(entry.usage.prompt for entry in session.entries if entry.usage) == 307


@pytest.mark.parametrize(
    ("stated", "cost"),
    [
        ({"llm.cost.total": 0.0123, "llm.cost.prompt": 0.01, "llm.cost.completion": 0.0023}, 0.0123),
        ({"llm.cost.prompt": 0.01, "llm.cost.completion": 0.0023}, 0.0123),
        ({"llm.cost.total": 2}, 2),
        ({"llm.cost.total": "0.5"}, 0.5),
        ({"gen_ai.usage.cost": 0.25}, 0.25),
        ({"gen_ai.usage.total_cost": 0.25, "gen_ai.usage.input_cost": 0.2}, 0.25),
        ({"gen_ai.usage.input_cost": 0.2, "gen_ai.usage.output_cost": 0.05}, 0.25),
        ({"operation.cost": 0.02}, 0.02),
    ],
)
def test_what_a_span_says_that_a_call_cost_is_taken(stated: Row, cost: float) -> None:
    session = read([make_span("chat", 1, 0, infer("LLM", TURNS[:1], TURNS[3:], (100, 10), **stated))])
    assert sum(line.money or 0 for line in price_session(session).lines) == pytest.approx(cost)


@pytest.mark.parametrize(
    "stated",
    [
        {},
        {"llm.cost.total": 0},
        {"llm.cost.total": -1.0},
        {"llm.cost.total": "free"},
        {"gen_ai.usage.details": "x", "gen_ai.usage.input_cost": 0.2},
    ],
)
def test_a_call_whose_span_tells_no_cost_is_charged_by_its_tokens(stated: Row) -> None:
    session = read([make_span("chat", 1, 0, infer("LLM", TURNS[:1], TURNS[3:], (100_000, 1_000), **stated))])
    assert sum(line.money or 0 for line in price_session(session).lines) == pytest.approx(0.3 + 0.015)


CONVERSE: list[Row] = [
    {"role": "user", "content": [{"text": "Read it."}, {"cachePoint": {"type": "default"}}]},
    {
        "role": "assistant",
        "content": [
            {"reasoningContent": {"reasoningText": {"text": "Slot three.", "signature": "sig"}}},
            {"reasoningContent": {"redactedContent": "c2VjcmV0"}},
            {"text": "I will."},
            USE,
        ],
    },
    {
        "role": "user",
        "content": [
            {
                "toolResult": {
                    "toolUseId": "c1",
                    "status": "error",
                    "content": [
                        {"json": {"marker": 77}},
                        {"text": "no"},
                        {"image": {"format": "png", "source": {"bytes": "iVBORw0KGgo="}}},
                    ],
                }
            }
        ],
    },
    {
        "role": "user",
        "content": [
            {"image": {"format": "jpeg", "source": {"s3Location": {"uri": "s3://b/k"}}}},
            {"document": {"format": "md", "name": "notes", "source": {"text": "All of it."}}},
            {"guardContent": {"text": {"text": "Guarded."}}},
        ],
    },
]
REPLY = {
    "role": "assistant",
    "content": [{"citationsContent": {"content": [{"text": "Done."}], "citations": []}}],
}
TOOL = {
    "toolSpec": {"name": "get_marker", "description": "Reads.", "inputSchema": {"json": {"type": "object"}}}
}
USAGE = {"inputTokens": 40, "outputTokens": 5, "totalTokens": 1045, "cacheReadInputTokens": 1000}


def check_converse(session: Session) -> None:
    blocks = [block for entry in session.entries for block in entry.blocks]
    assert [block.kind for block in blocks] == [
        *("text", "reasoning", "reasoning", "text", "tool_call", "tool_output"),
        *("image", "document", "text", "text"),
    ]
    (output,) = (block for block in blocks if isinstance(block, ToolOutput))
    assert (output.call_id, output.name, output.is_error) == ("c1", "get_marker", True)
    assert [part.kind for part in output.parts] == ["text", "text", "image"]
    assert [part.text for part in output.parts[:2]] == ['{"marker":77}', "no"]
    thought, sealed, image, document = (blocks[at] for at in (1, 2, 6, 7))
    assert (thought.text, thought.encrypted, sealed.encrypted) == ("Slot three.", "sig", "c2VjcmV0")
    assert (image.media_type, image.url) == ("image/jpeg", "s3://b/k")
    assert (document.title, document.text, blocks[-1].text) == ("notes", "All of it.", "Done.")


@pytest.mark.parametrize("shape", ["apart", "beside"])
def test_requests_of_bedrocks_converse_interface_are_read(shape: str) -> None:
    body = {
        "modelId": "us.anthropic.claude-sonnet-4-20250514-v1:0",
        "system": [{"text": "Be brief."}, {"cachePoint": {"type": "default"}}],
        "messages": CONVERSE,
        "toolConfig": {"tools": [TOOL, {"cachePoint": {"type": "default"}}]},
        "inferenceConfig": {"maxTokens": 100},
    }
    answer = {"output": {"message": REPLY}, "stopReason": "end_turn", "usage": USAGE}
    value = {"request": body, "response": answer} if shape == "apart" else body | answer
    for data in (json.dumps(value), json.dumps([value]), "\n".join([json.dumps(value)] * 2)):
        session = read_session(data, format="request-log")
        check_converse(session.model_copy(update={"entries": session.entries[:5]}))
        usage = next(entry.usage for entry in session.entries if entry.usage)
        assert (usage.input, usage.output, usage.cache_read) == (40, 5, 1000)
        assert [block.text for block in session.system] == ["Be brief."]
        assert [(tool.name, tool.input_schema) for tool in session.tools] == [
            ("get_marker", {"type": "object"})
        ]
        assert session.model == "us.anthropic.claude-sonnet-4-20250514-v1:0"


def test_converse_messages_one_a_line_are_read() -> None:
    check_converse(read_session("\n".join(map(json.dumps, [*CONVERSE, REPLY])).encode()))


@pytest.mark.parametrize(
    "block",
    [
        {"toolUse": {"name": "x"}},
        {"toolUse": "x"},
        {"toolResult": {"content": []}},
        {"reasoningContent": {}},
        {"guardContent": {"image": {}}},
        {"somethingNew": {"a": 1}},
    ],
)
def test_a_block_of_converse_that_is_broken_or_new_is_counted_as_unknown(block: Row) -> None:
    rows = [
        {"role": "user", "content": [{"text": "Hi"}, block]},
        {"role": "assistant", "content": [{"text": "Ho"}]},
    ]
    session = read_session("\n".join(map(json.dumps, rows)).encode())
    assert [b.kind for b in session.entries[0].blocks] == ["text", "unknown"]
