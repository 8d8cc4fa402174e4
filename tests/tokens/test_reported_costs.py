"""Bills of files that report usage or costs other than per reply, with amounts computed by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector import open_session, price_session, read_session, save_session
from inspector.cli import main
from inspector.library import sessions
from inspector.session.session import Session
from inspector.tokens.ledger import count_tokens
from inspector.tokens.prices import Price
from inspector.workbench.payloads.bill import describe_bill

Row = dict[str, Any]
M = 1_000_000


def dump(*rows: Row) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


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


def test_the_model_comes_from_the_sum_if_nothing_else_names_it() -> None:
    sums = {"claude-haiku-4.5": metrics(1, 1_000, 100)}
    assert copilot(PROMPT, *TALK[3:], event(5, "session.shutdown", modelMetrics=sums)).model == (
        "claude-haiku-4.5"
    )


def test_several_shutdowns_and_models_add_up() -> None:
    """A session that is resumed counts from zero again."""
    sonnet, haiku = "claude-sonnet-4.5", "claude-haiku-4.5"
    session = copilot(
        *TALK,
        event(5, "session.shutdown", modelMetrics={sonnet: metrics(2, 1_000, 10, 400)}),
        event(6, "session.resume", **START),
        event(7, "user.message", content="And now?"),
        event(8, "assistant.message", content="Eleven.", toolRequests=[]),
        event(9, "session.shutdown", modelMetrics={sonnet: metrics(1, 500, 5), haiku: metrics(4, 3_000, 30)}),
    )
    sonnets = ((600 + 500) * 3 + 400 * 0.30 + 15 * 15) / M
    assert total(session) == pytest.approx(sonnets + (3_000 * 1 + 30 * 5) / M)
    assert repr(price_session(session)).startswith("Bill: 7 requests")


def test_replies_after_the_last_shutdown_are_unknown() -> None:
    sums = {"claude-sonnet-4.5": metrics(2, 1_000, 10)}
    session = copilot(
        *TALK,
        event(5, "session.shutdown", modelMetrics=sums),
        event(7, "user.message", content="And now?"),
        event(8, "assistant.message", content="Eleven.", toolRequests=[]),
    )
    bill = price_session(session)
    assert bill.silent_replies == 1 and bill.has_unknown and "total known" in repr(bill)


def test_requests_that_are_reported_one_by_one_are_not_billed_again_by_the_sum() -> None:
    used = {"inputTokens": 700, "outputTokens": 7, "apiCallId": "a1"}
    reply = event(4, "assistant.message", content="Ten.", apiCallId="a1", model="claude-sonnet-4.5")
    record = event(3, "session.usage_record", usage=used)
    same = event(5, "session.shutdown", modelMetrics={"claude-sonnet-4.5": metrics(1, 700, 7)})
    more = event(5, "session.shutdown", modelMetrics={"claude-sonnet-4.5": metrics(3, 1_000, 17)})
    assert total(copilot(PROMPT, record, reply, same)) == pytest.approx((700 * 3 + 7 * 15) / M)
    assert total(copilot(PROMPT, record, reply, more)) == pytest.approx((1_000 * 3 + 17 * 15) / M)


@pytest.mark.parametrize("figures", [None, 3, {}, {"usage": None}, {"usage": {"inputTokens": "x"}}])
def test_a_sum_without_figures_leaves_the_cost_unknown(figures: Any) -> None:
    session = copilot(*TALK, event(5, "session.shutdown", modelMetrics={"claude-sonnet-4.5": figures}))
    assert price_session(session).cost is None


# -- no usage at all ---------------------------------------------------------------------------------------

SILENT = [
    {"role": "user", "content": "Name a prime."},
    {"role": "assistant", "content": "Seven."},
]


def test_a_session_without_usage_has_an_unknown_cost_everywhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "silent.json"
    file.write_text(json.dumps({"model": "claude-opus-4-5", "messages": SILENT}), "utf-8")
    session = open_session(file)
    bill = price_session(session)
    assert bill.cost is None and bill.silent_replies == 1
    assert repr(bill).splitlines()[-2].split() == ["total", "0", "0", "?"]
    shown = describe_bill(count_tokens(session))
    assert shown.total is None and [(row.name, row.money) for row in shown.rows] == [
        ("unknown: replies", None)
    ]
    main(["show", str(file)])
    printed = capsys.readouterr().out
    assert "unknown: replies" in printed and "0.0000" not in repr(bill) + printed


def test_the_list_of_sessions_marks_an_unknown_cost(tmp_path: Path) -> None:
    folder = tmp_path / ".copilot" / "session-state"
    folder.mkdir(parents=True)
    (folder / "one.jsonl").write_bytes(dump(event(0, "session.start", **START), *TALK))
    listed = sessions(home=tmp_path, index=tmp_path / "index", seconds=600)
    assert [session.cost for session in listed] == [None] and listed.rows()[0][-1] == "?"


def test_a_prompt_without_a_reply_has_no_cost() -> None:
    assert price_session(read_session(SILENT[:1])).cost is None


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


def test_rows_of_a_reply_around_a_result_are_one_request() -> None:
    session = read_session(dump(INIT, *TWO))
    bill = price_session(session)
    assert (len(bill), int(bill.read.sum()), int(bill.output.sum())) == (2, 32_000, 115)
    assert total(session) == pytest.approx(HAND)
    assert not any("cache was rebuilt" in note for note in bill.notes)
    assert [entry.id for entry in session.entries] == ["a1", "b3", "b5", "a6"]
    assert [block.kind for block in session["a1"].blocks] == ["text", "tool_call", "tool_call"]
    assert session["a4"] is session["a1"] and session.live_names == ["a1", "b3", "b5", "a6"]


def test_a_reply_goes_on_after_a_sub_agents_rows() -> None:
    aside = [row | {"parent_tool_use_id": "t1"} for row in (reply("x1", "n1", TEXT, 50, 5),)]
    session = read_session(dump(INIT, *TWO[:2], *aside, *TWO[2:]))
    assert len(price_session(session)) == 2
    assert len([entry for entry in session.entries if entry.sidechain]) == 1


@pytest.mark.parametrize(
    ("between", "more"),
    [
        (result("b", "t1"), {"read": 16_000}),
        (result("b", "t1"), {"request_id": "r2"}),
        (prompt("b", "Please go on."), {}),
        ({"type": "system", "subtype": "compact_boundary", "uuid": "b", "session_id": "s"}, {}),
    ],
    ids=["other figures", "another request", "a prompt", "a compaction"],
)
def test_one_id_for_several_replies_is_several_requests(between: Row, more: Row) -> None:
    """Gateways give every reply the same id."""
    read = more.pop("read", 15_000)
    first = reply("a1", "same", use("t1"), 15_000, 10, request_id="r1")
    session = read_session(dump(INIT, first, between, reply("a2", "same", TEXT, read, 20, **more)))
    assert int(price_session(session).read.sum()) == 15_000 + read
    assert session["a2"].id == "a2"


def test_the_total_that_a_result_states_is_the_bills() -> None:
    bill = price_session(session := read_session(dump(INIT, *TWO, ended(0.0314))))
    assert total(session) == pytest.approx(0.0314) and not bill.has_unknown
    (beyond,) = (line for line in bill.lines if line.name == "stated total beyond these")
    assert beyond.money == pytest.approx(0.0314 - HAND)
    assert sum(line.money or 0 for line in bill.lines) == pytest.approx(0.0314)


def test_a_total_below_the_published_prices_stands_too() -> None:
    assert total(read_session(dump(INIT, *TWO, ended(0.01)))) == pytest.approx(0.01)


def test_results_of_one_process_are_running_totals_and_those_of_others_add_up() -> None:
    more = prompt("u", "More."), reply("a7", "m3", TEXT, 18_000, 5)
    assert total(read_session(dump(INIT, *TWO, ended(0.02), *more, ended(0.05)))) == pytest.approx(0.05)
    assert total(read_session(dump(INIT, *TWO, ended(0.05), *more, ended(0.02)))) == pytest.approx(0.07)
    other = dump(INIT, *TWO, ended(0.02), prompt("u", "More."), ended(0.05, "another"))
    assert total(read_session(other)) == pytest.approx(0.07)
    used = [{"modelUsage": {SONNET: {"outputTokens": count}}} for count in (115, 5)]
    models = dump(INIT, *TWO, ended(0.02, **used[0]), prompt("u", "More."), ended(0.05, **used[1]))
    assert total(read_session(models)) == pytest.approx(0.07)


def test_replies_after_the_last_result_are_billed_beside_it() -> None:
    late = reply("a7", "m3", TEXT, 18_000, 5)
    session = read_session(dump(INIT, *TWO, ended(0.03), prompt("u", "More."), late))
    assert total(session) == pytest.approx(0.03 + (3 * 3 + 18_000 * 0.30 + 2_000 * 3.75 + 5 * 15) / M)


@pytest.mark.parametrize("money", [None, 0, -1, "0.5", True, 1e300, float("nan")])
def test_a_total_that_is_no_amount_is_not_taken(money: Any) -> None:
    assert total(read_session(dump(INIT, *TWO, ended(money)))) == pytest.approx(HAND)


def test_a_stated_total_covers_models_without_a_price() -> None:
    rows = json.loads(json.dumps([INIT, *TWO, ended(0.25)]).replace(SONNET, "gateway-model"))
    session = read_session(dump(*rows))
    assert total(session) == pytest.approx(0.25) and not price_session(session).has_unknown


def test_totals_and_terms_survive_a_manifest(tmp_path: Path) -> None:
    session = read_session(dump(INIT, *TWO, ended(0.25)))
    save_session(session, tmp_path / "saved.json")
    assert open_session(tmp_path / "saved.json") == session
    assert total(open_session(tmp_path / "saved.json")) == pytest.approx(0.25)


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


def test_premiums_apply_to_cached_tokens_too() -> None:
    cached = {"cache_read_input_tokens": 100_000, "cache_creation_input_tokens": 10_000}
    session = claude_code({"usage": {"output_tokens": 0, **cached, "service_tier": "batch"}})
    assert total(session) == pytest.approx((100_000 * 0.50 + 10_000 * 6.25) / M / 2)


def test_searches_are_a_line_of_their_own() -> None:
    usage = {"input_tokens": 1_000, "output_tokens": 200, "server_tool_use": {"web_search_requests": 5}}
    session = claude_code({"model": "claude-sonnet-4-5", "usage": usage}, {"usage": BIG})
    (line,) = (line for line in price_session(session).lines if line.name == "web searches")
    assert (line.calls, line.money) == (5, pytest.approx(0.05))
    assert total(session) == pytest.approx(0.006 + 0.05 + 0.55)


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"speed": "turbo"}, "1 request with speed turbo: charged as standard"),
        ({"service_tier": "priority"}, "1 request with service_tier priority: charged as standard"),
        ({"inference_geo": "mars"}, "1 request with inference_geo mars: charged as standard"),
        ({"server_tool_use": {"code_execution_requests": 2}}, "2 uses of other server tools"),
    ],
)
def test_what_has_no_published_price_is_said(more: Row, sentence: str) -> None:
    session = claude_code({"usage": BIG | more})
    (note,) = (note for note in price_session(session).notes if "not in the bill" in note)
    assert note.startswith(sentence) and total(session) == pytest.approx(0.55)


def test_fast_mode_of_a_model_without_a_fast_price_is_said() -> None:
    bill = price_session(claude_code({"model": "claude-haiku-4-5", "usage": BIG | {"speed": "fast"}}))
    assert any(note.startswith("1 request with speed fast") for note in bill.notes)


def test_a_price_of_ones_own_is_charged_as_it_is() -> None:
    own = Price(model="mine", input=1, output=1)
    searched = BIG | {"speed": "fast", "server_tool_use": {"web_search_requests": 5}}
    bill = price_session(claude_code({"usage": searched}), own)
    assert bill.cost is not None and bill.cost.total == pytest.approx(0.102)
    assert "5 web searches not in the bill." in bill.notes


def test_searches_of_a_reply_with_several_requests_are_paid_once() -> None:
    single = {"type": "message", "input_tokens": 1_000, "output_tokens": 10}
    usage = single | {"iterations": [single, single], "server_tool_use": {"web_search_requests": 2}}
    assert total(claude_code({"usage": usage})) == pytest.approx(2 * (1_000 * 5 + 10 * 25) / M + 0.02)


@pytest.mark.parametrize("used", [None, 5, [], {"web_search_requests": "x"}, {"web_search_requests": -3}])
def test_searches_that_are_no_number_are_none(used: Any) -> None:
    assert total(claude_code({"usage": BIG | {"server_tool_use": used}})) == pytest.approx(0.55)
