"""Bills of files that report usage or costs other than per reply, with amounts computed by hand."""

from __future__ import annotations

from typing import Any

import pytest

from inspector import price_session, read_session
from inspector.session.session import Session
from inspector.tokens.prices import Price
from tests.rows import dump

Row = dict[str, Any]
M = 1_000_000


def total(session: Session) -> float:
    cost = price_session(session).cost
    assert cost is not None
    return float(cost.total)


# -- Copilot CLI: sums by model when the program exits ----------------------------------------------------

START = {"sessionId": "s", "producer": "copilot-agent", "copilotVersion": "1.0.24", "context": {"cwd": "/x"}}


def event(number: int, kind: str, **data: Any) -> Row:
    time = f"2026-04-11T10:00:{number:02d}.000Z"
    return {"type": kind, "id": f"e{number}", "timestamp": time, "parentId": None, "data": data}


def metrics(count: int, sent: int, output: int, read: int = 0, written: int = 0) -> Row:
    usage = {"inputTokens": sent, "outputTokens": output, "cacheReadTokens": read}
    return {"requests": {"count": count, "cost": 1}, "usage": usage | {"cacheWriteTokens": written}}


def copilot(*events: Row) -> Session:
    return read_session(dump(event(0, "session.start", **START), *events))


PROMPT = event(1, "user.message", content="Fetch the page")
CALL = {"toolCallId": "c1", "name": "web_fetch", "arguments": {}, "type": "function"}
TALK = (
    PROMPT,
    event(2, "assistant.message", content="", toolRequests=[CALL]),
    event(
        3,
        "tool.execution_complete",
        toolCallId="c1",
        success=True,
        model="claude-sonnet-4.5",
        result={"content": "ten euros"},
    ),
    event(4, "assistant.message", content="It costs ten euros.", toolRequests=[], outputTokens=9),
)


def test_the_sum_of_a_shutdown_is_billed() -> None:
    """40,503 tokens went in, 31,836 of them from the cache: 8,667 at $3, 31,836 at $0.30, 187 out at $15."""
    sums = {"claude-sonnet-4.5": metrics(2, 40_503, 187, 31_836)}
    session = copilot(*TALK, event(5, "session.shutdown", modelMetrics=sums))
    bill = price_session(session)
    assert total(session) == pytest.approx((8_667 * 3 + 31_836 * 0.30 + 187 * 15) / M)
    assert bill.tokens == 40_503 + 187 and repr(bill).startswith("Bill: 2 requests")
    assert "8,667 input, 31,836 cache read" in repr(bill) and "?" not in repr(bill)
    assert session.model == "claude-sonnet-4.5" == session["e2"].model


def test_requests_that_are_reported_one_by_one_are_not_billed_again_by_the_sum() -> None:
    used = {"inputTokens": 700, "outputTokens": 7, "apiCallId": "a1"}
    reply = event(4, "assistant.message", content="Ten.", apiCallId="a1", model="claude-sonnet-4.5")
    record = event(3, "session.usage_record", usage=used)
    same = event(5, "session.shutdown", modelMetrics={"claude-sonnet-4.5": metrics(1, 700, 7)})
    more = event(5, "session.shutdown", modelMetrics={"claude-sonnet-4.5": metrics(3, 1_000, 17)})
    assert total(copilot(PROMPT, record, reply, same)) == pytest.approx((700 * 3 + 7 * 15) / M)
    assert total(copilot(PROMPT, record, reply, more)) == pytest.approx((1_000 * 3 + 17 * 15) / M)


# -- stream-json -------------------------------------------------------------------------------------------

SONNET = "claude-sonnet-4-5-20250929"
INIT: Row = {"type": "system", "subtype": "init", "session_id": "s", "tools": ["Bash"], "model": SONNET}
TEXT = {"type": "text", "text": "Looking."}


def use(name: str) -> Row:
    return {"type": "tool_use", "id": name, "name": "Bash", "input": {"command": "ls"}}


def reply(uuid: str, number: str, block: Row, read: int, output: int, **more: Any) -> Row:
    usage = {"input_tokens": 3, "output_tokens": output, "cache_read_input_tokens": read}
    usage["cache_creation_input_tokens"] = 2_000
    message = {"id": number, "role": "assistant", "model": SONNET, "content": [block], "usage": usage}
    row = {"type": "assistant", "uuid": uuid, "session_id": "s", "parent_tool_use_id": None}
    return row | {"message": message} | more


def prompt(uuid: str, content: Any, agent: str | None = None) -> Row:
    row = {"type": "user", "uuid": uuid, "session_id": "s", "parent_tool_use_id": agent}
    return row | {"message": {"role": "user", "content": content}}


def result(uuid: str, call: str, agent: str | None = None) -> Row:
    return prompt(uuid, [{"type": "tool_result", "tool_use_id": call, "content": "a.py"}], agent)


def ended(money: Any, session_id: str = "s", **more: Any) -> Row:
    return {"type": "result", "session_id": session_id, "total_cost_usd": money} | more


TWO = (
    reply("a1", "m1", TEXT, 15_000, 1),
    reply("a2", "m1", use("t1"), 15_000, 1),
    result("b3", "t1"),
    reply("a4", "m1", use("t2"), 15_000, 95),
    result("b5", "t2"),
    reply("a6", "m2", TEXT, 17_000, 20),
)
"""Two requests. Rows of the first come before and after the result of its first call."""
HAND = (6 * 3 + 32_000 * 0.30 + 4_000 * 3.75 + 115 * 15) / M


def test_the_total_that_a_result_states_is_the_bills() -> None:
    bill = price_session(session := read_session(dump(INIT, *TWO, ended(0.0314))))
    assert total(session) == pytest.approx(0.0314) and not bill.has_unknown
    (beyond,) = (line for line in bill.lines if line.name == "stated total beyond these")
    assert beyond.money == pytest.approx(0.0314 - HAND)
    assert sum(line.money or 0 for line in bill.lines) == pytest.approx(0.0314)


def test_results_of_one_process_are_running_totals_and_those_of_others_add_up() -> None:
    more = prompt("u", "More."), reply("a7", "m3", TEXT, 18_000, 5)
    assert total(read_session(dump(INIT, *TWO, ended(0.02), *more, ended(0.05)))) == pytest.approx(0.05)
    assert total(read_session(dump(INIT, *TWO, ended(0.05), *more, ended(0.02)))) == pytest.approx(0.07)
    other = dump(INIT, *TWO, ended(0.02), prompt("u", "More."), ended(0.05, "another"))
    assert total(read_session(other)) == pytest.approx(0.07)
    used = [{"modelUsage": {SONNET: {"outputTokens": count}}} for count in (115, 5)]
    models = dump(INIT, *TWO, ended(0.02, **used[0]), prompt("u", "More."), ended(0.05, **used[1]))
    assert total(read_session(models)) == pytest.approx(0.07)


# -- Claude Code: costs of old versions, and what else changes a price ---------------------------------------


def claude_code(*replies: Row) -> Session:
    """Return a prompt and replies, each with its usage and further fields of its row and message."""
    rows: list[Row] = [{"type": "user", "message": {"role": "user", "content": "Go"}}]
    for number, fields in enumerate(replies):
        message = {
            "id": fields.get("id", f"m{number}"),
            "role": "assistant",
            "model": fields.get("model", "claude-opus-4-8"),
            "content": [{"type": "text", "text": "done"}],
            "stop_reason": "end_turn",
            "usage": fields["usage"],
        }
        rows.append({"type": "assistant", "message": message} | fields.get("row", {}))
    for index, row in enumerate(rows):
        row |= {"uuid": f"u{index}", "parentUuid": f"u{index - 1}" if index else None, "sessionId": "s"}
        row["timestamp"] = f"2026-09-01T10:00:{index:02d}.000Z"
    return read_session(dump(*rows))


BIG = {"input_tokens": 100_000, "output_tokens": 2_000}
"""At $5 in and $25 out: 0.50 + 0.05."""


def test_the_cost_that_a_row_states_is_taken() -> None:
    stated = claude_code({"usage": BIG, "row": {"costUSD": 0.0425}}, {"usage": BIG})
    bill = price_session(stated)
    assert total(stated) == pytest.approx(0.0425 + 0.55)
    assert "Cost stated by the file: 1 of 2 requests." in bill.notes
    rows = [{"usage": BIG, "id": "same", "row": {"costUSD": 0.04}}] * 2
    assert total(claude_code(*rows)) == pytest.approx(0.04), "the rows of one reply state it once"


@pytest.mark.parametrize("cost", [None, 0, -0.5, "0.04", True, 1e999])
def test_a_cost_that_is_no_amount_is_not_taken(cost: Any) -> None:
    assert total(claude_code({"usage": BIG, "row": {"costUSD": cost}})) == pytest.approx(0.55)


@pytest.mark.parametrize(
    ("model", "more", "money"),
    [
        ("claude-opus-4-8", {"speed": "fast"}, 1.10),  # $10 in, $50 out
        ("claude-opus-5", {"speed": "fast"}, 1.10),
        ("claude-opus-4-6", {"speed": "fast"}, 3.30),  # $30 in, $150 out
        ("claude-opus-4-8", {"inference_geo": "us"}, 0.605),
        ("claude-opus-4-5", {"inference_geo": "us"}, 0.55),  # the premium begins with the 4.6 models
        ("claude-opus-4-8", {"service_tier": "batch"}, 0.275),
        ("claude-opus-4-8", {"service_tier": "batch", "inference_geo": "us"}, 0.3025),
        (
            "claude-opus-4-8",
            {"speed": "standard", "service_tier": "standard", "inference_geo": "global"},
            0.55,
        ),
        ("claude-opus-4-8", {"inference_geo": "not_available"}, 0.55),
        ("claude-opus-4-8", {"inference_geo": "global"}, 0.55),
        ("claude-opus-4-8", {"speed": None, "service_tier": None, "inference_geo": None}, 0.55),
        ("claude-opus-4-8", {"server_tool_use": {"web_search_requests": 5, "web_fetch_requests": 3}}, 0.60),
        ("claude-opus-4-8", {"speed": "fast", "server_tool_use": {"web_search_requests": 1}}, 1.11),
    ],
)
def test_what_the_usage_says_of_the_price_is_charged(model: str, more: Row, money: float) -> None:
    session = claude_code({"model": model, "usage": BIG | more})
    bill = price_session(session)
    assert total(session) == pytest.approx(money)
    assert sum(line.money or 0 for line in bill.lines) == pytest.approx(money)
    assert not any("not in the bill" in note for note in bill.notes)


def test_searches_are_a_line_of_their_own() -> None:
    usage = {"input_tokens": 1_000, "output_tokens": 200, "server_tool_use": {"web_search_requests": 5}}
    session = claude_code({"model": "claude-sonnet-4-5", "usage": usage}, {"usage": BIG})
    (line,) = (line for line in price_session(session).lines if line.name == "web searches")
    assert (line.calls, line.money) == (5, pytest.approx(0.05))
    assert total(session) == pytest.approx(0.006 + 0.05 + 0.55)


def test_a_price_of_ones_own_is_charged_as_it_is() -> None:
    own = Price(model="mine", input=1, output=1)
    searched = BIG | {"speed": "fast", "server_tool_use": {"web_search_requests": 5}}
    bill = price_session(claude_code({"usage": searched}), own)
    assert bill.cost is not None and bill.cost.total == pytest.approx(0.102)
    assert "5 web searches not in the bill." in bill.notes
