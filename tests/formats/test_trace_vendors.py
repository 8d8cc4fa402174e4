"""Runs of LangSmith, observations of Langfuse and spans of the AI SDK, in the forms that they have had."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector import open_session, price_session
from inspector.session.session import Session

Json = dict[str, Any]


def open_spans(folder: Path, value: Any, *, lines: bool = False) -> Session:
    file = folder / "spans.json"
    rows = value if lines else [value]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    session = open_session(file)
    assert session.format == "traces"
    return session


def said(session: Session) -> list[tuple[str, str]]:
    return [(entry.role, entry.text) for entry in session.entries]


def observation(**more: Any) -> Json:
    """A generation, as Langfuse keeps it."""
    asked = [{"role": "user", "content": "Which tide is next?"}]
    about = {"id": "o1", "traceId": "t1", "type": "GENERATION", "name": "chat", "sessionId": "s1"}
    told = {"model": "gpt-5.5", "input": asked, "output": {"role": "assistant", "content": "High."}}
    return {**about, "startTime": "2026-05-01T10:00:01.000Z", **told, **more}


@pytest.mark.parametrize(
    "used",
    [
        {"usageDetails": {"input": 13, "output": 3, "total": 16}},
        {"usage": {"promptTokens": 13, "completionTokens": 3, "totalTokens": 16}},
        {"promptTokens": 13, "completionTokens": 3, "totalTokens": 16},
        {"usage": {}, "inputUsage": 13, "outputUsage": 3, "totalUsage": 16},
        {"usage_details": {"input_tokens": 13, "output_tokens": 3}},
    ],
)
def test_usage_is_read_under_each_of_its_names(tmp_path: Path, used: Json) -> None:
    usage = open_spans(tmp_path, [observation(**used)]).entries[-1].usage
    assert usage is not None
    assert (usage.input, usage.output) == (13, 3)


def test_what_the_file_says_it_cost_is_its_cost(tmp_path: Path) -> None:
    used = {"usageDetails": {"input": 13, "output": 3, "total": 16}}
    for told in (
        {"costDetails": {"input": 0.1, "total": 0.25}},
        {"calculatedTotalCost": 0.25},
        {"totalCost": 0.25},
    ):
        assert price_session(open_spans(tmp_path, [observation(**used, **told)])).cost.total == 0.25
    run = langsmith(total_cost="0.25", prompt_tokens=5, completion_tokens=2)
    assert price_session(open_spans(tmp_path, [run])).cost.total == 0.25


def langsmith(**more: Any) -> Json:
    """A run of a model, as LangSmith keeps it."""
    about = {"id": "r1", "trace_id": "t1", "name": "Chat", "run_type": "llm", "start_time": "2026-01-01"}
    asked = {"messages": [{"type": "human", "data": {"content": "Which tide is next?"}}]}
    told = {"message": {"type": "ai", "data": {"content": "High."}}}
    return {**about, "inputs": asked, "outputs": told, **more}


CALL = {"id": "c1", "type": "function", "function": {"name": "tide_table", "arguments": '{"pier": "north"}'}}
ASKED = {"role": "user", "content": "Which tide is next?"}
WANTS = {"role": "assistant", "content": None, "tool_calls": [CALL]}
FOUND = {"role": "tool", "tool_call_id": "c1", "content": "high at noon"}
HIGH = {"role": "assistant", "content": "High."}


def spanned(number: int, kind: str, *asked: Json, reply: Json | None = None, **usage: Any) -> Json:
    """A span as Opik keeps it."""
    names = {"id": f"s{number}", "trace_id": "t1", "parent_span_id": None, "name": kind, "type": kind}
    told = {"input": {"messages": list(asked)}, "output": {"choices": [{"message": reply}]} if reply else {}}
    times = {"start_time": f"2026-05-01T10:00:0{number}Z", "end_time": f"2026-05-01T10:00:0{number}.5Z"}
    return names | times | told | {"model": "claude-opus-4-6", "provider": "anthropic", "usage": usage}


@pytest.mark.parametrize("whole", [True, False])
def test_spans_of_opik_are_one_conversation(tmp_path: Path, whole: bool) -> None:
    """The prompt's tokens hold the cache's; the oldest versions told Anthropic's own without them."""
    own = {"input_tokens": 200, "cache_read_input_tokens": 30, "cache_creation_input_tokens": 50}
    used = {f"original_usage.{name}": number for name, number in own.items()}
    sums = {"prompt_tokens": 280 if whole else 200, "completion_tokens": 7}
    spans = [
        spanned(0, "general", ASKED),
        spanned(1, "llm", ASKED, reply=WANTS, prompt_tokens=90, completion_tokens=9, total_tokens=99),
        spanned(2, "tool"),
        spanned(3, "llm", ASKED, WANTS, FOUND, reply=HIGH, **sums, **used),
    ]
    session = open_spans(
        tmp_path, {"trace": {"id": "t1", "name": "run", "thread_id": "talk"}, "spans": spans}
    )
    assert session.id == "talk"
    assert [entry.role for entry in session.entries] == ["user", "assistant", "tool", "assistant"]
    (first, last) = [entry.usage for entry in session.entries if entry.usage]
    assert (first.prompt, first.output) == (90, 9)
    assert (last.input, last.cache_read, last.cache_write, last.output) == (200, 30, 50, 7)
    assert said(open_spans(tmp_path, {"content": spans, "page": 1})) == said(session)
