"""Usage and costs stated in files: Inspect's cache, OpenHands' sums, opencode's redacted exports."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inspector import price_session, read_session
from inspector.errors import ReadError
from inspector.tokens.bill import Bill

Row = dict[str, Any]


def total(bill: Bill) -> float:
    return sum(line.money or 0 for line in bill.lines)


# Inspect


def make_log(caches: list[str | None]) -> bytes:
    """Return a log with model events of 100, 200, … tokens; "read" is a hit in Inspect's cache."""
    messages: list[Row] = []
    events: list[Row] = []
    for number, cache in enumerate(caches, 1):
        messages.append({"id": f"u{number}", "role": "user", "content": f"Question {number}"})
        reply = {"id": f"a{number}", "role": "assistant", "content": f"Answer {number}"}
        used = {"input_tokens": 100 * number, "output_tokens": number, "total_tokens": 101 * number}
        output = {
            "model": "claude-sonnet-4-5",
            "choices": [{"message": reply, "stop_reason": "stop"}],
            "usage": used,
        }
        event = {
            "event": "model",
            "model": "anthropic/claude-sonnet-4-5",
            "input": list(messages),
            "output": output,
        }
        events.append(event if cache is None else event | {"cache": cache})
        messages.append(reply)
    sample = {"id": 1, "epoch": 1, "messages": messages, "events": events}
    return json.dumps({"version": 2, "eval": {"task": "t"}, "samples": [sample]}).encode()


@pytest.mark.parametrize(
    ("caches", "requests", "tokens"),
    [
        (["read", None], 1, 202),
        ([None, "read", "read"], 1, 101),
        (["write", None], 2, 303),
        (["read", "read"], 0, 0),
    ],
)
def test_a_reply_from_inspects_own_cache_is_not_charged(
    caches: list[str | None], requests: int, tokens: int
) -> None:
    session = read_session(make_log(caches))
    assert [entry.role for entry in session.entries] == ["user", "assistant"] * len(caches)
    used = [entry.usage for entry in session.entries if entry.usage is not None]
    assert (len(used), sum(usage.tokens for usage in used)) == (requests, tokens)
    bill = price_session(session)
    assert len(bill) == requests and not bill.has_unknown


# OpenHands before its SDK


def make_sums(cost: float, prompt: int, output: int, read: int = 0, written: int = 0) -> Row:
    used = {"prompt_tokens": prompt, "completion_tokens": output, "cache_read_tokens": read}
    used |= {"cache_write_tokens": written, "model": "claude-sonnet-4-20250514"}
    return {"accumulated_cost": cost, "accumulated_token_usage": used}


def make_act(number: int, action: str, sums: Row | None, response: Row | None = None, **args: Any) -> Row:
    event = {"id": number, "source": "agent", "action": action, "args": args, "message": ""}
    if sums is not None:
        event["llm_metrics"] = sums
    if response is not None:
        reply = {"role": "assistant", "content": "Look."}
        answer = {"id": f"r{number}", "model": "claude-sonnet-4-20250514", "choices": [{"message": reply}]}
        called = {"function_name": "run", "tool_call_id": f"c{number}"}
        event["tool_call_metadata"] = called | {"model_response": answer | {"usage": response}}
    return event


PROMPT = {"id": 0, "source": "user", "action": "message", "args": {"content": "Fix it."}, "message": ""}
USED = {"prompt_tokens": 3000, "completion_tokens": 40, "cache_creation_input_tokens": 900}


def read_run(*events: Row) -> list[tuple[int, int, int, int, float]]:
    """Return the fresh, read, written and output tokens and the cost of each reply of a run."""
    session = read_session(json.dumps([PROMPT, *events]).encode())
    used = [entry.usage for entry in session.entries if entry.usage is not None]
    assert len(price_session(session)) == len(used)
    return [(u.input, u.cache_read, u.cache_write, u.output, u.cost.total if u.cost else 0) for u in used]


def test_a_reply_without_a_call_takes_what_the_sums_grew_by() -> None:
    replies = read_run(
        make_act(1, "run", make_sums(0.01, 3000, 40, 0, 900), USED, command="ls"),
        make_act(2, "message", make_sums(0.03, 7000, 90, 2000, 1800), content="Done."),
    )
    assert replies == [(2100, 0, 900, 40, 0.01), (1100, 2000, 900, 50, pytest.approx(0.02))]


def test_actions_before_function_calls_take_what_the_sums_grew_by() -> None:
    replies = read_run(
        make_act(1, "run", make_sums(0.01, 100, 10), command="ls", thought="Look."),
        make_act(2, "read", make_sums(0.01, 100, 10), path="a.py"),  # of the same reply
        make_act(3, "finish", make_sums(0.04, 300, 30), thought="Done."),
    )
    assert replies == [(100, 0, 0, 10, 0.01), (200, 0, 0, 20, pytest.approx(0.03))]


def test_sums_that_begin_anew_after_a_restart_are_taken_whole() -> None:
    replies = read_run(
        make_act(1, "message", make_sums(0.05, 500, 50), content="One."),
        make_act(2, "message", make_sums(0.01, 100, 10), content="Two."),
    )
    assert replies == [(500, 0, 0, 50, 0.05), (100, 0, 0, 10, 0.01)]


def test_a_run_costs_what_its_sums_say() -> None:
    events = [make_act(n, "message", make_sums(0.25 * n, 100 * n, n), content=f"{n}") for n in range(1, 5)]
    session = read_session(json.dumps([PROMPT, *events]).encode())
    assert total(price_session(session)) == pytest.approx(1.0)


@pytest.mark.parametrize("sums", [None, {}, {"accumulated_token_usage": None}, {"accumulated_cost": "x"}])
def test_a_reply_without_sums_has_no_usage(sums: Row | None) -> None:
    assert read_run(make_act(1, "message", sums, content="Done.")) == []


# opencode


def make_export(info: Row, session: str) -> Row:
    about = {"sessionID": session, "time": {"created": 1_772_900_065_047}}
    step = {
        "type": "step-finish",
        "cost": 0.012,
        "tokens": {"input": 100, "output": 50, "cache": {"read": 2000}},
    }
    return {
        "info": info,
        "messages": [
            {
                "info": {"id": "m1", "role": "user", **about},
                "parts": [{"type": "text", "text": "Add a retry."}],
            },
            {
                "info": {"id": "m2", "role": "assistant", "modelID": "claude-sonnet-4-5", **about},
                "parts": [{"type": "text", "text": "Added."}, step],
            },
        ],
    }


ABOUT = {"slug": "otter", "projectID": "p", "directory": "/w", "version": "1.2.26", "title": "Retry"}


@pytest.mark.parametrize(
    "info",
    [
        ABOUT | {"id": "REDACTED"},
        ABOUT | {"id": ""},
        ABOUT | {"id": None},
        ABOUT,
        {"id": "«session 1»", "title": "Retry"},
        {"id": "ses_3f", "title": "Retry"},
    ],
)
def test_an_export_of_opencodes_is_known_whatever_its_id_is(info: Row) -> None:
    export = make_export(info, info.get("id") or "ses_x")
    for value in (export, {"data": export}):
        session = read_session(json.dumps(value).encode())
        assert (session.format, [entry.text for entry in session.entries]) == (
            "opencode",
            ["Add a retry.", "Added."],
        )
        assert total(price_session(session)) == pytest.approx(0.012)


@pytest.mark.parametrize(
    "value",
    [
        {"info": {"id": "x"}, "messages": [{"role": "user", "content": "Hi"}]},
        {"info": {"exit_status": "ok"}, "messages": [{"role": "user", "content": "Hi"}]},
        {"info": {"id": "x", "version": "1"}, "messages": []},
        {"info": {"id": 7, **ABOUT}, "messages": []},
    ],
)
def test_another_documents_info_and_messages_are_not_taken_for_opencodes(value: Row) -> None:
    try:
        session = read_session(json.dumps(value).encode())
    except ReadError:
        return
    assert session.format != "opencode"
