"""Model calls among the spans of a trace, their costs, and blocks of Bedrock's Converse API."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inspector import Session, read_session
from inspector.session.blocks import ToolCall, ToolOutput

Row = dict[str, Any]


def make_span(name: str, number: int, parent: int, attributes: Row, events: tuple[Row, ...] = ()) -> Row:
    return {
        "name": name,
        "context": {"trace_id": "ab" * 16, "span_id": f"{number:02}"},
        "parent_id": f"{parent:02}" if parent else None,
        "start_time": f"2026-05-01T10:00:{number:02}Z",
        "attributes": attributes,
        "events": list(events),
    }


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


FAILED: Row = {"toolUseId": "c1", "status": "error"}
FAILED["content"] = [
    *({"json": {"marker": 77}}, {"text": "no"}),
    {"image": {"format": "png", "source": {"bytes": "iVBORw0KGgo="}}},
]
CONTENTS: tuple[tuple[str, list[Row]], ...] = (
    ("user", [{"text": "Read it."}, {"cachePoint": {"type": "default"}}]),
    (
        "assistant",
        [
            {"reasoningContent": {"reasoningText": {"text": "Slot three.", "signature": "sig"}}},
            {"reasoningContent": {"redactedContent": "c2VjcmV0"}},
            *({"text": "I will."}, USE),
        ],
    ),
    ("user", [{"toolResult": FAILED}]),
    (
        "user",
        [
            {"image": {"format": "jpeg", "source": {"s3Location": {"uri": "s3://b/k"}}}},
            {"document": {"format": "md", "name": "notes", "source": {"text": "All of it."}}},
            {"guardContent": {"text": {"text": "Guarded."}}},
        ],
    ),
)
CONVERSE: list[Row] = [{"role": role, "content": content} for role, content in CONTENTS]
CITED = {"content": [{"text": "Done."}], "citations": []}
REPLY = {"role": "assistant", "content": [{"citationsContent": CITED}]}
SCHEMA = {"inputSchema": {"json": {"type": "object"}}}
TOOL = {"toolSpec": {"name": "get_marker", "description": "Reads.", **SCHEMA}}
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
