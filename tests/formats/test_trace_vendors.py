"""Runs of LangSmith, observations of Langfuse and spans of the AI SDK, in the forms that they have had."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector import open_session, price_session
from inspector.session.session import Session
from tests.recount.__main__ import compare

Json = dict[str, Any]


def open_spans(folder: Path, value: Any, *, lines: bool = False) -> Session:
    file = folder / "spans.json"
    rows = value if lines else [value]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    session = open_session(file)
    assert session.format == "traces"
    assert [each for each in compare(file, session) if not each.same] == []
    return session


def said(session: Session) -> list[tuple[str, str]]:
    return [(entry.role, entry.text) for entry in session.entries]


def observation(**more: Any) -> Json:
    """A generation, as Langfuse keeps it."""
    asked = [{"role": "user", "content": "Which tide is next?"}]
    about = {"id": "o1", "traceId": "t1", "type": "GENERATION", "name": "chat", "sessionId": "s1"}
    told = {"model": "gpt-5.5", "input": asked, "output": {"role": "assistant", "content": "High."}}
    return {**about, "startTime": "2026-05-01T10:00:01.000Z", **told, **more}


SPAN = {"id": "o0", "traceId": "t1", "type": "SPAN", "name": "root", "startTime": "2026-05-01T10:00:00.000Z"}
TALK = [("user", "Which tide is next?"), ("assistant", "High.")]


@pytest.mark.parametrize("page", [False, True])
def test_a_span_that_holds_nothing_may_stand_first(tmp_path: Path, page: bool) -> None:
    items = [SPAN, observation(usage={"input": 13, "output": 3, "total": 16, "unit": "TOKENS"})]
    session = open_spans(tmp_path, {"data": items, "meta": {}} if page else items)
    assert said(session) == TALK
    assert session.unknown == 0
    assert said(open_spans(tmp_path, items, lines=True)) == TALK


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


def test_words_that_were_put_in_alone_are_the_user_s(tmp_path: Path) -> None:
    item = observation(input="Which tide is next?", output="High.", providedModelName="gpt-5.5")
    session = open_spans(tmp_path, [{key: value for key, value in item.items() if key != "model"}])
    assert said(session) == TALK
    assert session.entries[-1].model == "gpt-5.5"
    assert len(session.turns) == 1
    bare = observation(input={"content": "Which tide is next?"}, output={"content": "High."})
    assert said(open_spans(tmp_path, [bare])) == TALK


def langsmith(**more: Any) -> Json:
    """A run of a model, as LangSmith keeps it."""
    about = {
        "id": "r1",
        "trace_id": "t1",
        "name": "Chat",
        "run_type": "llm",
        "start_time": "2026-01-01T00:00:00Z",
    }
    asked = {"messages": [{"type": "human", "data": {"content": "Which tide is next?"}}]}
    return {
        **about,
        "inputs": asked,
        "outputs": {"message": {"type": "ai", "data": {"content": "High."}}},
        **more,
    }


def test_a_run_s_parameters_tell_its_model_and_tools(tmp_path: Path) -> None:
    tool = {"type": "function", "function": {"name": "look", "description": "Look.", "parameters": {}}}
    asked = {"model": "gpt-5.5", "tools": [tool]}
    chain = {"id": "c", "run_type": "chain", "name": "agent", "dotted_order": "1"}
    session = open_spans(tmp_path, [chain, langsmith(extra={"invocation_params": asked, "metadata": {}})])
    assert said(session) == TALK
    assert session.entries[-1].model == "gpt-5.5"
    assert [one.name for one in session.tools] == ["look"]
    assert session.unknown == 0


def test_runs_of_one_project_are_no_conversation(tmp_path: Path) -> None:
    def run(number: int, trace: str, *said: str, **more: Any) -> Json:
        kinds = ("human", "ai")
        asked = [{"type": kinds[at % 2], "data": {"content": words}} for at, words in enumerate(said)]
        reply = {"message": {"type": "ai", "data": {"content": f"{said[-1]}: yes."}}}
        times = {"id": f"r{number}", "trace_id": trace, "start_time": f"2026-01-01T00:00:0{number}Z"}
        return langsmith(session_id="project", inputs={"messages": asked}, outputs=reply, **times, **more)

    runs = [
        run(1, "t1", "Tides?"),
        run(2, "t1", "Tides?", "Tides?: yes.", "More"),
        run(3, "t2", "Moons?"),
    ]
    session = open_spans(tmp_path, runs)
    assert session.boundaries == ()
    assert [entry.text for entry in session.entries if entry.sidechain is None] == [
        "Tides?",
        "Tides?: yes.",
        "More",
        "More: yes.",
    ]
    thread = {"extra": {"metadata": {"thread_id": "x"}}}
    together = [run(1, "t1", "Tides?", **thread), run(2, "t2", "Tides?", "Tides?: yes.", "On", **thread)]
    assert len(open_spans(tmp_path, together).path) == 4


def test_a_span_s_attributes_may_be_written_as_a_text(tmp_path: Path) -> None:
    told = {
        "gen_ai.request.model": "gpt-5.5",
        "gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": TALK[0][1]}]}],
        "gen_ai.output.messages": [{"role": "assistant", "parts": [{"type": "text", "content": "High."}]}],
        "gen_ai.usage.input_tokens": 13,
        "gen_ai.usage.output_tokens": 3,
    }
    span = {"trace_id": "1", "span_id": "2", "span_name": "chat", "start_timestamp": "2026-01-01T00:00:00Z"}
    session = open_spans(tmp_path, [{**span, "attributes": json.dumps(told)}])
    assert said(session) == TALK
    assert session.entries[-1].timestamp == "2026-01-01T00:00:00Z"


def test_a_run_of_a_model_of_texts_is_a_prompt_and_a_reply(tmp_path: Path) -> None:
    run = langsmith(
        inputs={"prompts": ["Which tide is next?"]}, outputs={"generations": [[{"text": "High."}]]}
    )
    assert said(open_spans(tmp_path, [run])) == TALK


def test_a_span_of_the_ai_sdk_tells_its_model_and_usage_in_its_own_words(tmp_path: Path) -> None:
    asked = json.dumps([{"role": "user", "content": [{"type": "text", "text": "Which tide is next?"}]}])
    told = {"ai.prompt.messages": asked, "ai.response.text": "High.", "ai.model.id": "gpt-5.5"}
    for used in (
        {"ai.usage.promptTokens": 13, "ai.usage.completionTokens": 3},
        {"ai.usage.inputTokens": 13, "ai.usage.outputTokens": 3, "ai.usage.cachedInputTokens": 0},
    ):
        span = {"trace_id": "1", "span_id": "2", "name": "ai.generateText.doGenerate", "start_time": 2}
        session = open_spans(tmp_path, [{**span, "attributes": {**told, **used}}])
        reply = session.entries[-1]
        assert said(session) == TALK
        assert reply.usage is not None
        assert (reply.model, reply.usage.input, reply.usage.output) == ("gpt-5.5", 13, 3)


CALL = {"id": "c1", "type": "function", "function": {"name": "tide_table", "arguments": '{"pier": "north"}'}}
ASKED = {"role": "user", "content": "Which tide is next?"}
WANTS = {"role": "assistant", "content": None, "tool_calls": [CALL]}
FOUND = {"role": "tool", "tool_call_id": "c1", "content": "high at noon"}
HIGH = {"role": "assistant", "content": "High."}


def logged(number: int, kind: str, *asked: Json, reply: Any = None, **metrics: Any) -> Json:
    """A span as Braintrust keeps it: a call's reply is the list of choices."""
    names = {"id": f"row-{number}", "span_id": f"s{number}", "root_span_id": "s0", "span_parents": ["s0"]}
    about = {"metadata": {"model": "gpt-5.5", "provider": "openai"}, "created": "2026-05-01T10:00:00Z"}
    told = {"span_attributes": {"type": kind, "name": kind}, "input": list(asked), "output": reply}
    return names | about | told | {"metrics": {"start": 1_777_629_600.0 + number, **metrics}}


@pytest.mark.parametrize("page", ["", "events", "data"])
def test_calls_that_braintrust_logged_are_one_conversation(tmp_path: Path, page: str) -> None:
    used = {"start": 1_777_629_602.0, "prompt_tokens": 900, "completion_tokens": 3, "tokens": 903}
    used |= {"prompt_cached_tokens": 512, "prompt_cache_creation_tokens": 100}
    called = [{"index": 0, "message": WANTS}]
    spans = [
        logged(2, "llm", ASKED, WANTS, FOUND, reply=[{"index": 0, "message": HIGH}]) | {"metrics": used},
        logged(0, "task", ASKED, reply="High."),
        logged(1, "llm", ASKED, reply=called, prompt_tokens=700, completion_tokens=9),
        logged(3, "tool", reply="high at noon"),
    ]
    session = open_spans(tmp_path, {page: spans} if page else spans)
    assert [entry.role for entry in session.entries] == ["user", "assistant", "tool", "assistant"]
    assert session.entries[-1].text == "High." and session.model == "gpt-5.5"
    used = [entry.usage for entry in session.entries if entry.usage]
    assert [(each.input, each.cache_read, each.cache_write, each.output) for each in used] == [
        (700, 0, 0, 9),
        (288, 512, 100, 3),  # 900 hold the 612 of the cache
    ]
    assert [note.type for note in session.notes] == ["task", "tool"] and session.unknown == 0
    assert said(open_spans(tmp_path, spans, lines=True)) == said(session)


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
