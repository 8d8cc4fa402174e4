"""What requests cost: the arithmetic by hand, cached prefixes, and bills of what was recorded."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from hashlib import sha256
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from inspector.errors import InspectorError
from inspector.formats import manifest
from inspector.formats.readers import read_session
from inspector.replays.engine import replay
from inspector.session.blocks import Text, ToolCall
from inspector.session.entries import Boundary, Cost, Entry, Request, SubAgent, Usage
from inspector.session.session import Session
from inspector.tokens.bill import COMPACTION, RESULTS, SUBAGENTS, UNKNOWN, WHOLE, WRITE, Bill, BillLine, Reset
from inspector.tokens.cost import SummaryCall, break_even, price_session, price_steps
from inspector.tokens.counters import find_counter
from inspector.tokens.history import trace_history
from inspector.tokens.ledger import count_tokens
from inspector.tokens.prices import PRICES, Money, Price, find_price, price_usage
from inspector.tokens.reported import add_usage
from tests.reference.prompt_cache import Fingerprint, common_prefix, find_changes, hash_json, take_fingerprint
from tests.shared import SHARED, needs_shared, open_shared
from tests.strategies import json_values, sessions

FIVE = Price(model="five", input=5, output=25, date="2026-11-01", source="an example")
"""5 for a million fresh tokens, so 0.50 read, 6.25 or 10 written, 25 out."""
M = 1_000_000

blocks = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 50)), max_size=12)


def prefix(before: list[tuple[int, int]], after: list[tuple[int, int]]) -> int:
    """The longest common prefix of two lists of (id, tokens)."""
    columns = [[row[at] for row in rows] for rows in (before, after) for at in (0, 1)]
    return common_prefix(*columns)


def line(bill: Bill, name: str) -> BillLine:
    return next(each for each in bill.lines if each.name == name)


def reply(name: str, parent: str | None = None, **given: Any) -> Entry:
    return Entry.model_validate({"id": name, "parent": parent, "role": "assistant", **given})


# -- prices ---------------------------------------------------------------------------------------------


def test_a_cached_token_costs_a_tenth_a_written_one_a_quarter_more_or_double() -> None:
    """CLAUDE §9: 5m write 1.25, 1h write 2, read 0.1 times the input."""
    charges = FIVE.charge(M, M, M, M)
    assert [float(money) for money in charges] == [5.0, 0.5, 6.25, 25.0]
    assert float(FIVE.charge(0, 0, M, 0, ttl="1h").total) == 10.0


@pytest.mark.parametrize(
    ("model", "published"),
    # input, 5m write, 1h write, cache hit and output as the pricing page prints them
    [
        ("claude-fable-5-1", (10, 12.50, 20, 0.25, 50)),
        ("claude-mythos-5", (10, 12.50, 20, 1, 50)),
        ("claude-opus-5-5", (4, 5, 8, 0.20, 20)),
        ("claude-opus-4-5-20251101", (5, 6.25, 10, 0.50, 25)),
        ("claude-opus-4-20250514", (15, 18.75, 30, 1.50, 75)),
        ("claude-sonnet-5-5", (2, 2.50, 4, 0.10, 10)),
        ("claude-sonnet-5", (2, 2.50, 4, 0.20, 10)),
        ("claude-sonnet-4.6", (3, 3.75, 6, 0.30, 15)),
        ("claude-haiku-5-5", (0.10, 0.125, 0.20, 0.01, 0.50)),
        ("claude-haiku-4-5", (1, 1.25, 2, 0.10, 5)),
        ("claude-3-5-haiku-20241022", (0.80, 1, 1.60, 0.08, 4)),
        ("claude-3-haiku-20240307", (0.25, 0.30, 0.50, 0.03, 1.25)),
    ],
)
def test_published_prices_are_those_of_the_page(model: str, published: tuple[float, ...]) -> None:
    price = find_price(model).price
    assert price is not None
    mine = (
        price.input,
        price.input * price.write_5m,
        price.input * price.write_1h,
        price.read_input,
        price.output,
    )
    assert mine == pytest.approx(published)


def test_every_published_price_tells_its_source_and_date() -> None:
    for name, price in PRICES.items():
        assert price.model == name
        assert price.source.startswith("platform.claude.com/")
        assert price.date >= "2025-08"
        assert price.source in price.note
        assert price.date in price.note


def test_shortest_cached_prefixes_are_the_published_ones() -> None:
    """CLAUDE §9."""
    expected = {
        512: "opus-5 opus-5-5 fable-5 fable-5-1 mythos-5 mythos-5-1",
        1024: "opus-4-8 sonnet-5 sonnet-4-6 sonnet-4-5 opus-4-1 opus-4",
        2048: "opus-4-7 haiku-3-5",
        4096: "opus-4-6 opus-4-5 haiku-4-5",
    }
    for minimum, names in expected.items():
        for name in names.split():
            assert PRICES[f"claude-{name}"].minimum == minimum, name


@pytest.mark.parametrize(
    "model", ["claude-opus-6", "claude-opus", "claude-mythos-preview", "gpt-5.5", "", None]
)
def test_a_model_without_a_published_price_has_none_and_a_sentence(model: str | None) -> None:
    found = find_price(model)
    assert found.price is None
    assert (model or "an unnamed model") in found.note
    assert "price=" in found.note


def test_a_table_of_ones_own_adds_models_and_changes_prices() -> None:
    mine = Price(model="gpt-5.5", input=1, output=2, write_5m=1, read=0.5, source="a contract")
    cheaper = Price(model="claude-opus-4-5", input=1, output=2, source="a contract")
    table = {**PRICES, "gpt-5.5": mine, "claude-opus-4-5": cheaper}
    assert find_price("gpt-5.5", table).price is mine
    assert find_price("claude-opus-4-5-20251101", table).price is cheaper
    dated = {**table, "claude-opus-4-5-20251101": mine}
    assert find_price("claude-opus-4-5-20251101", dated).price is mine


def test_a_hostile_model_name_is_only_text() -> None:
    assert "\x1b" not in find_price("\x1b[31mevil\u202e").note
    assert len(find_price("x" * 10_000).note) < 300


def test_a_prompt_over_the_limit_pays_the_higher_price_in_every_part() -> None:
    """Haiku 5.5 above 100,000 tokens of prompt: 0.50 in and 2.50 out instead of 0.10 and 0.50."""
    haiku = PRICES["claude-haiku-5-5"]
    at, over = [0, 0], [1, 0]
    money = haiku.charge([at[0], over[0]], [90_000, 90_000], [10_000, 10_000], [1000, 1000])
    assert money.cache_read.tolist() == pytest.approx([0.0009, 0.0045])
    assert money.cache_write.tolist() == pytest.approx([0.00125, 0.00625])
    assert money.output.tolist() == pytest.approx([0.0005, 0.0025])


@pytest.mark.parametrize(
    "wrong",
    [{"input": -1}, {"output": float("nan")}, {"read": float("inf")}, {"long_above": 10}, {"speed": 1}],
)
def test_a_price_that_is_none_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Price.model_validate({"model": "m", "input": 1, "output": 1, **wrong})


# -- common prefix --------------------------------------------------------------------------------------


@given(blocks, blocks)
def test_S3_26_S3_27_an_append_keeps_the_whole_request_before(
    before: list[tuple[int, int]], more: list[tuple[int, int]]
) -> None:
    assert prefix(before, before + more) == sum(tokens for _, tokens in before)


@given(blocks.filter(bool), st.data())
def test_S3_26_a_compaction_cuts_the_prefix_at_the_first_block_it_rewrote(
    before: list[tuple[int, int]], data: st.DataObject
) -> None:
    first = data.draw(st.integers(0, len(before) - 1))
    kept = data.draw(st.integers(first, len(before)))
    rewritten = [*before[:first], (99, 7), *before[kept:]]
    assert prefix(before, rewritten) == sum(tokens for _, tokens in before[:first])


@given(blocks, blocks)
def test_the_prefix_is_that_of_a_walk_block_by_block(
    a: list[tuple[int, int]], b: list[tuple[int, int]]
) -> None:
    walked = 0
    for mine, other in zip(a, b, strict=False):
        if mine != other:
            break
        walked += other[1]
    assert prefix(a, b) == walked


def test_a_block_with_the_same_id_and_other_tokens_was_rewritten() -> None:
    assert common_prefix([1, 2], [10, 900], [1, 2], [10, 40]) == 10


def test_a_prefix_of_columns_that_do_not_fit_is_refused() -> None:
    with pytest.raises(InspectorError, match="one token count per block"):
        common_prefix([1, 2], [10], [1], [10])


# -- hash and attribution -------------------------------------------------------------------------------


def test_the_hash_is_of_json_with_keys_by_code_point_at_every_depth() -> None:
    """TIERED §8. No locale puts `B` and `_` before `a` and `é` after `z`."""
    value = [{"é": 1, "z": [{"b": None, "a": True}], "a": 2.0, "_": "\ud800", "B": "ü"}]
    written = '[{"B":"ü","_":"\\ud800","a":2,"z":[{"a":true,"b":null}],"é":1}]'
    assert hash_json(value) == sha256(written.encode()).hexdigest()


@given(json_values)
def test_the_hash_does_not_see_the_order_of_keys(value: Any) -> None:
    def turned(item: Any) -> Any:
        if isinstance(item, dict):
            return {key: turned(item[key]) for key in reversed(item)}
        return [turned(child) for child in item] if isinstance(item, list) else item

    assert hash_json(turned(value)) == hash_json(value)


def test_the_hash_of_a_deep_value_is_taken() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    assert hash_json(deep) == sha256(b"[" * 100_001 + b"]" * 100_001).hexdigest()


TURNS = [{"role": "user" if at % 2 == 0 else "assistant", "content": f"message {at}"} for at in range(8)]


def test_S3_28_the_hash_of_the_whole_list_changes_with_every_turn() -> None:
    hashes = [hash_json(TURNS[:at]) for at in range(len(TURNS) + 1)]
    assert len(set(hashes)) == len(hashes)


def test_S3_29_turns_that_only_append_are_no_miss_though_every_hash_differs() -> None:
    tokens = [100 * (at + 1) for at in range(len(TURNS))]
    sent = [sum(tokens[: at + 1]) for at in range(len(TURNS))]
    cached = [0] + [
        prefix(list(enumerate(tokens[:at])), list(enumerate(tokens[: at + 1]))) for at in range(1, len(TURNS))
    ]
    prints = [take_fingerprint(system="s", messages=TURNS[: at + 1], model="m") for at in range(len(TURNS))]
    assert all(find_changes(*pair) == ("message_prefix",) for pair in pairwise(prints))
    assert price_steps(sent, cached, [10] * len(TURNS), FIVE, minimum=0).resets == ()


def test_changes_are_told_in_a_fixed_order() -> None:
    """TIERED §8: system_prompt, tools, message_prefix, child_directive, model."""
    old = take_fingerprint("s", [{"name": "a"}], TURNS, "d", "m")
    assert find_changes(old, old) == ()
    assert find_changes(old, Fingerprint()) == (
        *("system_prompt", "tools", "message_prefix", "child_directive", "model"),
    )
    assert find_changes(old, old._replace(model="n", tools="x")) == ("tools", "model")
    assert old == take_fingerprint("s", [{"name": "a"}], list(TURNS), "d", "m")


# -- steps ----------------------------------------------------------------------------------------------


def test_S3_23_a_compaction_is_one_prefix_rewrite() -> None:
    """Seven requests by hand. Two compactions, at steps 2 and 5, leave 4,000 and 2,000 tokens in front."""
    sent = [10_000, 30_000, 9_000, 12_000, 40_000, 8_000, 9_000]
    cached = [0, 10_000, 4_000, 9_000, 12_000, 2_000, 8_000]
    bill = price_steps(sent, cached, [100] * 7, FIVE)
    assert bill.resets == (Reset(2, 4_000, 26_000, 5_000), Reset(5, 2_000, 38_000, 6_000))
    assert bill.fresh.tolist() == [0] * 7
    assert bill.read.tolist() == cached
    assert bill.written.tolist() == [10_000, 20_000, 5_000, 3_000, 28_000, 6_000, 1_000]
    assert bill.cost is not None
    assert bill.cost.cache_read == pytest.approx(45_000 * 0.50 / M)
    assert bill.cost.cache_write == pytest.approx(73_000 * 6.25 / M)
    assert bill.cost.output == pytest.approx(700 * 25 / M)
    assert bill.cost.total == pytest.approx(0.0225 + 0.45625 + 0.0175)
    assert bill.money[2] == pytest.approx((4_000 * 0.50 + 5_000 * 6.25 + 100 * 25) / M)
    paid = break_even(5_000, 26_000, price=FIVE)
    assert (paid.needed, paid.note.split(":")[0]) == (3, "It pays for itself from request 3 on")


@given(st.lists(st.tuples(st.integers(1, 9_000), st.integers(0, 500)), max_size=20))
def test_S3_27_a_run_that_only_appends_writes_every_token_once(steps: list[tuple[int, int]]) -> None:
    sent = np.cumsum([new for new, _ in steps], dtype=np.int64)
    cached = np.concatenate([[0], sent[:-1]])[: len(sent)]
    bill = price_steps(sent, cached, [output for _, output in steps], FIVE)
    assert bill.resets == ()
    assert int(bill.written.sum()) == (int(sent[-1]) if steps else 0)
    assert (bill.fresh + bill.read + bill.written).tolist() == sent.tolist()


def test_S0_85_what_is_sent_with_each_request_is_paid_for_with_each_request() -> None:
    """A fragment of 2,000 tokens in front of four requests that grow by 1,000."""
    sent, head = np.array([5_000, 6_000, 7_000, 8_000]), 2_000
    cached = np.array([0, 5_000, 6_000, 7_000])
    without = price_steps(sent, cached, [0] * 4, FIVE)
    more = price_steps(sent + head, np.where(cached, cached + head, 0), [0] * 4, FIVE)
    assert more.tokens - without.tokens == 4 * head
    extra = (more.money - without.money).tolist()
    assert extra == pytest.approx([head * 6.25 / M, *[head * 0.50 / M] * 3])
    uncached = [price_steps(each, [0] * 4, [0] * 4, FIVE, ttl=None) for each in (sent, sent + head)]
    assert (uncached[1].money - uncached[0].money).tolist() == pytest.approx([head * 5 / M] * 4)


def test_S1_31_the_summary_is_a_line_of_its_own_with_its_call_and_tokens() -> None:
    call = SummaryCall(step=1, sent=30_000, cached=28_000, output=1_500)
    bill = price_steps([30_000, 6_000], [0, 2_000], [400, 400], FIVE, summaries=[call])
    compaction = line(bill, "compaction")
    assert (compaction.calls, compaction.tokens) == (1, 31_500)
    assert compaction.money == pytest.approx((2_000 * 5 + 28_000 * 0.50 + 1_500 * 25) / M)
    without = price_steps([30_000, 6_000], [0, 2_000], [400, 400], FIVE)
    assert "compaction" not in [each.name for each in without.lines]
    assert bill.money.tolist() == without.money.tolist()
    assert bill.cost is not None
    assert without.cost is not None
    assert bill.cost.total - without.cost.total == pytest.approx(compaction.money)
    assert sum(each.money or 0 for each in bill.lines) == pytest.approx(bill.cost.total)


def test_what_is_shorter_than_the_smallest_cached_prefix_is_neither_written_nor_read() -> None:
    opus = PRICES["claude-opus-4-5"]  # 4,096
    bill = price_steps([4_000, 4_096, 5_000], [0, 4_000, 4_096], [0, 0, 0], opus)
    assert bill.fresh.tolist() == [4_000, 0, 0]
    assert bill.read.tolist() == [0, 0, 4_096]
    assert bill.written.tolist() == [0, 4_096, 904]
    lower = price_steps([4_000, 4_096], [0, 4_000], [0, 0], opus, minimum=0)
    assert lower.read.tolist() == [0, 4_000]


def test_a_step_without_a_request_is_passed_over() -> None:
    bill = price_steps([5_000, 0, 6_000], [0, 0, 5_000], [10, 0, 10], FIVE)
    assert bill.resets == ()
    assert bill.money[1] == 0
    assert "2 requests" in repr(bill)
    shorter = price_steps([5_000, 0, 3_000], [0, 0, 2_000], [10, 0, 10], FIVE)
    assert shorter.resets == (Reset(2, kept=2_000, lost=3_000, rewritten=1_000),)


def test_a_request_that_is_all_prefix_of_the_one_before_is_no_reset() -> None:
    bill = price_steps([9_000, 6_000, 7_000], [0, 6_000, 6_000], [0] * 3, FIVE)
    assert (bill.resets, bill.written.tolist()) == ((), [9_000, 0, 1_000])


def test_a_breakpoint_after_the_head_is_all_that_a_reset_reads() -> None:
    bill = price_steps([9_000, 10_000, 8_000], [0, 9_000, 6_000], [0] * 3, FIVE, head=2_000)
    assert bill.read.tolist() == [0, 9_000, 2_000]


def test_without_a_cache_and_with_a_longer_one() -> None:
    none = price_steps([9_000, 10_000], [0, 9_000], [0, 0], FIVE, ttl=None)
    assert none.fresh.tolist() == [9_000, 10_000]
    hour = price_steps([9_000, 10_000], [0, 9_000], [0, 0], FIVE, ttl="1h")
    assert hour.money.tolist() == pytest.approx([9_000 * 10 / M, (9_000 * 0.50 + 1_000 * 10) / M])


def test_without_a_price_tokens_are_counted_and_money_is_not() -> None:
    bill = price_steps([9_000], [0], [50], None, summaries=[SummaryCall(0, 10, 5)])
    assert (bill.tokens, bill.cost, bill.unpriced) == (9_065, None, 2)
    assert np.isnan(bill.money).all()
    assert all(each.money is None for each in bill.lines)
    assert "?" in repr(bill)
    assert "No price is given" in repr(bill)


def test_a_bill_of_nothing_costs_nothing() -> None:
    bill = price_steps([], [], [], None)
    assert (len(bill), bill.cost, bill.tokens) == (0, Cost(), 0)


def test_a_bill_tells_its_price_source_date_currency_and_that_it_estimates() -> None:
    told = repr(price_steps([9_000], [0], [50], FIVE))
    for part in ("estimate", "an example", "2026-11-01", "USD", "five", "0.0575"):
        assert part in told
    euros = repr(
        price_steps([9_000], [0], [50], FIVE.model_copy(update={"currency": "EUR"}), estimated=False)
    )
    assert "EUR" in euros
    assert "estimate" not in euros


@pytest.mark.parametrize(
    ("sent", "cached", "output", "match"),
    [
        ([1, 2], [0], [0, 0], "differ in length: sent 2, cached 1, output 2"),
        ([1], [-1], [0], "cached is no column"),
        ([1.5], [0], [0], "sent is no column"),
        ([1], [0], [float("nan")], "output is no column"),
        ([2**60], [0], [0], "sent is no column"),
        ([[1]], [[0]], [[0]], "sent is no column"),
        ([5, 5], [0, 6], [0, 0], "step 1: 6 of 5"),
    ],
)
def test_columns_that_cannot_be_are_refused(sent: Any, cached: Any, output: Any, match: str) -> None:
    with pytest.raises(InspectorError, match=match):
        price_steps(sent, cached, output, FIVE)


def test_a_summary_that_cannot_be_is_refused() -> None:
    with pytest.raises(InspectorError, match="step 3"):
        price_steps([], [], [], FIVE, summaries=[SummaryCall(3, sent=10, cached=11, output=1)])


# -- break-even -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rewritten", "saved", "summary", "equal", "needed"),
    [
        (10_000, 10_000, 0, 11.5, 12),  # 11.5 R / S
        (20_000, 10_000, 0, 23.0, 24),  # equal at 23, so ahead at 24
        (10_000, 115_000, 0, 1.0, 2),
        (10_000, 10_000, 5_000, 16.5, 17),  # + 5,000 / (0.1 x 10,000)
        (0, 10_000, 0, 0.0, 1),
        (137_000, 6_000, 0, 262.583333333, 263),
        (10_000, 0, 0, float("inf"), None),
    ],
)
def test_break_even_is_that_of_the_formula(
    rewritten: int, saved: int, summary: int, equal: float, needed: int | None
) -> None:
    """CLAUDE §9: n > 11.5 x R / S + summary / (0.1 S)."""
    found = break_even(rewritten, saved, summary)
    assert found.requests == pytest.approx(equal)
    assert found.needed == needed


def test_break_even_is_later_where_cached_tokens_are_cheaper() -> None:
    """(write - read) / read: 11.5 as a rule, 24 at a read of 0.05, 49 at 0.025; 19 for 1h writes."""
    found = [
        break_even(1000, 1000, price=PRICES[f"claude-{n}"]).requests
        for n in ("opus-5", "opus-5-5", "fable-5-1")
    ]
    assert found == pytest.approx([11.5, 24, 49])
    assert break_even(1000, 1000, ttl="1h").requests == pytest.approx(19)


@given(st.integers(0, 50_000), st.integers(1, 50_000), st.integers(0, 50_000))
def test_break_even_is_the_first_request_that_is_ahead(rewritten: int, saved: int, summary: int) -> None:
    def gain(requests: int) -> Fraction:
        once = (Fraction(5, 4) - Fraction(1, 10)) * rewritten + summary
        return Fraction(saved, 10) * requests - once

    needed = break_even(rewritten, saved, summary).needed
    assert needed is not None
    assert gain(needed) > 0 >= gain(needed - 1)


def test_break_even_agrees_with_the_bills_of_both_ways() -> None:
    """50,000 tokens become 10,000 of which 2,000 stay as they are: R = 8,000, S = 40,000, so n > 2.3."""
    needed = break_even(8_000, 40_000, price=FIVE).needed
    assert needed == 3
    ahead = []
    for requests in (needed - 1, needed):
        none = [0] * (requests + 1)
        left = price_steps([50_000] * (requests + 1), [0, *[50_000] * requests], none, FIVE)
        sent, cached = [50_000, *[10_000] * requests], [0, 2_000, *[10_000] * (requests - 1)]
        done = price_steps(sent, cached, none, FIVE)
        assert left.cost is not None
        assert done.cost is not None
        ahead.append(done.cost.total < left.cost.total)
    assert ahead == [False, True]


def test_money_for_a_summary_becomes_tokens_worth() -> None:
    assert FIVE.worth(0.05) == pytest.approx(10_000)
    assert break_even(10_000, 10_000, FIVE.worth(0.05), FIVE).needed == 22
    assert Price(model="free", input=0, output=0).worth(1) == float("inf")


@pytest.mark.parametrize("wrong", [(-1, 1, 0), (1, -1, 0), (1, 1, -1), (float("nan"), 1, 0)])
def test_break_even_of_what_cannot_be_is_refused(wrong: tuple[float, float, float]) -> None:
    with pytest.raises(InspectorError, match="below 0"):
        break_even(*wrong)


# -- recorded sessions ----------------------------------------------------------------------------------

OPUS = "claude-opus-4-5-20251101"
USED = Usage(input=1_000, cache_read=20_000, cache_write=4_000, output=300)
SUMMARY = Usage(input=25_000, output=2_000)
RECORDED = Session(
    format="demo",
    entries=(
        Entry(id="u"),
        reply("a", "u", model=OPUS, usage=USED),
        reply("lost", "a", model=OPUS, usage=USED),
        Entry(id="c", parent="a", kind="compaction", boundary=Boundary(), usage=SUMMARY, model=OPUS),
        reply("b", "c", model=OPUS, usage=Usage(input=10, output=5)),
    ),
    leaf="b",
)


def test_S4_66_a_recorded_summary_is_in_the_report_as_a_line_of_its_own() -> None:
    bill = price_session(RECORDED)
    compaction = line(bill, "compaction")
    assert (compaction.calls, compaction.tokens) == (1, 27_000)
    assert compaction.money == pytest.approx((25_000 * 5 + 2_000 * 25) / M)
    assert bill.entry is not None
    assert [RECORDED.entries[at].id for at in bill.entry] == ["a", "lost", "b"]
    one = (1_000 * 5 + 20_000 * 0.50 + 4_000 * 6.25 + 300 * 25) / M
    assert bill.money.tolist() == pytest.approx([one, one, (10 * 5 + 5 * 25) / M])
    assert bill.cost is not None
    assert bill.cost.total == pytest.approx(2 * one + bill.money[2] + (compaction.money or 0))


def test_S4_67_the_usage_of_a_summary_survives_saving_and_reading() -> None:
    again = manifest.read(manifest.dump_manifest(RECORDED).encode())
    assert again["c"].usage == SUMMARY
    assert price_session(again).lines == price_session(RECORDED).lines


def test_S4_68_S4_69_S4_89_usage_since_an_entry_holds_the_summary_and_only_the_path() -> None:
    both = Usage(input=25_010, output=2_005, total=0, cost=Cost())
    assert add_usage(RECORDED, "a") == both
    assert add_usage(RECORDED) == both + USED  # once: the reply "lost" is not on the path
    assert add_usage(RECORDED, "lost") == Usage(total=0, cost=Cost())


def test_what_the_file_says_it_cost_comes_before_any_table() -> None:
    told = USED.model_copy(update={"cost": Cost(input=1, output=2, cache_read=3, cache_write=4, total=10)})
    session = Session(
        format="demo",
        entries=(reply("a", model="gpt-5.5", usage=told), reply("b", "a", model=OPUS, usage=USED)),
        leaf="b",
    )
    bill = price_session(session)
    assert bill.money[0] == 10
    assert bill.notes[0] == "Cost stated by the file: 1 of 2 requests."
    mine = price_session(session, FIVE)
    assert mine.money[0] == pytest.approx(mine.money[1])
    assert mine.prices == (FIVE,)


def test_a_reply_of_an_unknown_model_is_counted_and_told() -> None:
    session = Session(
        format="demo", entries=(*RECORDED.entries, reply("x", "b", model="gpt-5.5", usage=USED)), leaf="x"
    )
    bill = price_session(session)
    assert bill.unpriced == 1
    assert np.isnan(bill.money[-1])
    assert bill.cost == price_session(RECORDED).cost
    assert "without a price: 1" in repr(bill)
    assert "gpt-5.5" in repr(bill)


def test_a_compaction_without_usage_is_told_to_be_missing() -> None:
    entries = (
        reply("a", model=OPUS, usage=USED),
        Entry(id="c", parent="a", kind="compaction", boundary=Boundary()),
    )
    bill = price_session(Session(format="demo", entries=entries, leaf="c"))
    assert bill.notes[-1] == "1 recorded compaction reports no usage, so that cost is not in the bill."


def test_a_file_that_tells_only_a_total_is_charged_for_what_the_reply_leaves() -> None:
    session = Session(
        format="demo", entries=(reply("a", usage=Usage(output=100, total=600)),), leaf="a", model=OPUS
    )
    bill = price_session(session)
    assert (bill.fresh.tolist(), bill.output.tolist()) == ([500], [100])


def test_a_cost_that_tells_no_total_is_that_of_its_parts() -> None:
    usage = USED.model_copy(update={"cost": Cost(input=1, output=2)})
    bill = price_session(Session(format="demo", entries=(reply("a", usage=usage),), leaf="a"))
    assert bill.money.tolist() == [3]


@pytest.mark.parametrize("odd", [10**400, float("nan"), float("inf"), -1])
def test_an_odd_cost_in_a_file_is_not_taken(odd: float) -> None:
    usage = USED.model_copy(update={"cost": Cost.model_construct(total=odd)})
    bill = price_session(Session(format="demo", entries=(reply("a", model=OPUS, usage=usage),), leaf="a"))
    assert bill.money.tolist() == pytest.approx([(1_000 * 5 + 20_000 * 0.50 + 4_000 * 6.25 + 300 * 25) / M])


def test_prices_in_several_currencies_make_no_bill() -> None:
    entries = (reply("a", model=OPUS, usage=USED), reply("b", "a", model="mine", usage=USED))
    table = {**PRICES, "mine": FIVE.model_copy(update={"currency": "EUR"})}
    session = Session(format="demo", entries=entries, leaf="b")
    with pytest.raises(InspectorError, match="currencies"):
        price_session(session, table=table)
    assert price_session(session, FIVE).currency == "USD"


def test_an_hour_in_the_cache_costs_more_than_five_minutes_as_the_usage_tells() -> None:
    """D3. CLAUDE §9: written for five minutes 1.25, for an hour 2 times the input."""
    usage = Usage(cache_write=5_000, cache_write_1h=3_000)
    session = Session(format="demo", entries=(reply("a", model=OPUS, usage=usage),), leaf="a")
    for ttl in ("5m", "1h"):
        bill = price_session(session, ttl=ttl)
        assert line(bill, "cache write 5m") == ("cache write 5m", 1, 2_000, pytest.approx(2_000 * 6.25 / M))
        assert line(bill, "cache write 1h") == ("cache write 1h", 1, 3_000, pytest.approx(3_000 * 10 / M))
        assert bill.written.tolist() == [5_000]
        assert not any("charged as" in note for note in bill.notes)
    assert price_usage(OPUS, usage) == Money(Decimal("0.0425"), "USD", find_price(OPUS).note)


def test_a_time_to_live_is_only_taken_where_the_usage_tells_none() -> None:
    told, untold = Usage(cache_write=1_000, cache_write_1h=0), Usage(cache_write=1_000)
    alone = Session(format="demo", entries=(reply("b", model=OPUS, usage=untold),), leaf="b")
    assert line(price_session(alone, ttl="1h"), WRITE).money == pytest.approx(1_000 * 10 / M)
    assert (
        price_session(alone, ttl="1h").notes[-1]
        == "Cache writes are charged as 1h writes: the file does not report their lifetime."
    )
    both = Session(
        format="demo",
        entries=(reply("a", model=OPUS, usage=told), reply("b", "a", model=OPUS, usage=untold)),
        leaf="b",
    )
    bill = price_session(both, ttl="1h")
    assert bill.money.tolist() == pytest.approx([1_000 * 6.25 / M, 1_000 * 10 / M])
    assert bill.notes[-1] == "1 request does not report the lifetime of cache writes: charged as 1h writes."


@pytest.mark.parametrize("ttl", ["2h", "x", "", None, 5, True])
def test_another_time_to_live_is_refused(ttl: Any) -> None:
    """D19."""
    with pytest.raises(InspectorError, match='lives "5m" or "1h", not'):
        price_session(RECORDED, ttl=ttl)
    with pytest.raises(InspectorError, match='lives "5m" or "1h", not'):
        break_even(1, 1, ttl=ttl)
    with pytest.raises(InspectorError, match='lives "5m" or "1h", not'):
        FIVE.charge(1, 1, 1, 1, ttl=ttl)
    if ttl is not None:  # which is no cache at all there
        with pytest.raises(InspectorError, match='lives "5m" or "1h", not'):
            price_steps([1], [0], [1], FIVE, ttl=ttl)


def test_a_reply_that_was_written_down_while_it_streamed_is_counted() -> None:
    """D4."""
    said = (Text(text="word " * 400), ToolCall(id="t", name="Read", input={"path": "a.py"}))
    counted = int(find_counter("o200k_base").count([block.text for block in said]).sum())
    streamed = reply("a", model=OPUS, usage=Usage(input=10, output=2), blocks=said)
    ended = streamed.model_copy(update={"id": "b", "parent": "a", "stop_reason": "tool_use"})
    more = reply("c", "b", model=OPUS, usage=Usage(input=10, output=9_000), blocks=said)
    session = Session(format="claude-code", entries=(streamed, ended, more), leaf="c")
    bill = price_session(session)
    assert counted > 400
    assert bill.output.tolist() == [counted, 2, 9_000]
    assert bill.counted == 1
    assert bill.money[0] == pytest.approx((10 * 5 + counted * 25) / M)
    assert bill.notes[-1] == (
        "1 reply reports fewer output tokens than the text has, because the usage was recorded during "
        f"streaming: 2, counted as {counted} (o200k_base)."
    )
    assert repr(bill).startswith("Bill: 3 requests (usage as reported, 1 reply counted)")
    other = session.model_copy(update={"format": "pi"})
    assert price_session(other).output.tolist() == [2, 2, 9_000]


def test_the_context_after_such_a_reply_holds_what_it_says() -> None:
    said = (Text(text="word " * 400),)
    streamed = reply("a", "u", model=OPUS, usage=Usage(input=10, output=2), blocks=said)
    session = Session(format="claude-code", entries=(Entry(id="u"), streamed), leaf="a")
    ledger = count_tokens(session)
    counted = int(ledger.entry_tokens[1])
    assert trace_history(session, ledger).reported.tolist()[-1] == 10 + counted
    assert int(replay(session, "flue", ledger=ledger, window=100_000).recorded[-1]) == 10 + counted
    ended = streamed.model_copy(update={"stop_reason": "end_turn"})
    whole = session.with_entries((session.entries[0], ended), "a")
    assert trace_history(whole, count_tokens(whole)).reported.tolist()[-1] == 12


def test_sub_agents_are_a_row_of_their_own() -> None:
    """D5."""
    used = Usage(input=1_000, output=100)
    side = reply("s", "a", model="claude-haiku-4-5", usage=used, sidechain="x")
    apart = SubAgent(
        id="y",
        replies=(reply("p", model="claude-haiku-4-5", usage=used),),
        results=(reply("q", model="claude-haiku-4-5", usage=Usage(input=500)),),
    )
    session = RECORDED.model_copy(update={"entries": (*RECORDED.entries, side), "subagents": (apart,)})
    bill, without = price_session(session), price_session(RECORDED)
    one = (1_000 * 1 + 100 * 5) / M
    assert line(bill, SUBAGENTS) == (SUBAGENTS, 2, 2_200, pytest.approx(2 * one))
    assert line(bill, RESULTS) == (RESULTS, 1, 500, pytest.approx(500 / M))
    assert bill.lines[:4] == without.lines[:4]
    assert bill.cost is not None
    assert without.cost is not None
    assert bill.cost.total == pytest.approx(without.cost.total + 2 * one + 500 / M)
    assert len(bill) == len(without)
    total = next(line for line in repr(bill).splitlines() if line.split()[0] == "total")
    assert total.split() == ["total", "7", "80,315", f"{bill.cost.total:.4f}"]


def test_sub_agents_whose_requests_are_not_in_the_file_are_an_unknown_row() -> None:
    session = RECORDED.model_copy(
        update={"subagents": (SubAgent(id="x", silent=True), SubAgent(id="y", silent=True))}
    )
    bill = price_session(session)
    assert bill.lines[-1] == (f"{UNKNOWN}: sub-agents", 2, None, None)
    assert bill.cost == price_session(RECORDED).cost
    assert any("2 runs of sub-agents are recorded without some requests" in note for note in bill.notes)
    assert "total known" in repr(bill)


def test_every_request_of_a_reply_is_charged_and_a_compaction_as_such() -> None:
    """D6, CLAUDE §5.1: what is paid is the sum, and a compaction is no part of the context."""
    requests = (
        Request(kind="compaction", input=180_000, output=3_500),
        Request(input=23_000, output=1_000),
        Request(kind="advisor_message", model="claude-haiku-4-5", input=2_000, output=50),
    )
    usage = Usage(input=23_000, output=1_000, requests=requests)
    bill = price_session(Session(format="demo", entries=(reply("a", model=OPUS, usage=usage),), leaf="a"))
    assert line(bill, COMPACTION) == (COMPACTION, 1, 183_500, pytest.approx((180_000 * 5 + 3_500 * 25) / M))
    assert len(bill) == 1
    assert bill.money[0] == pytest.approx((23_000 * 5 + 1_000 * 25 + 2_000 * 1 + 50 * 5) / M)
    alone = Usage(requests=requests[:1])
    only = price_session(Session(format="demo", entries=(reply("a", model=OPUS, usage=alone),), leaf="a"))
    assert only.cost is not None
    assert only.cost.total == pytest.approx((180_000 * 5 + 3_500 * 25) / M)


def test_a_compaction_whose_request_a_reply_reports_is_not_missed() -> None:
    usage = Usage(input=10, requests=(Request(kind="compaction", input=900), Request(input=10)))
    entries = (
        Entry(id="c", kind="compaction", boundary=Boundary()),
        reply("a", "c", model=OPUS, usage=usage),
    )
    bill = price_session(Session(format="demo", entries=entries, leaf="a"))
    assert (bill.silent_compactions, line(bill, COMPACTION).calls) == (0, 1)


def test_what_has_no_price_is_an_unknown_row_and_never_nothing() -> None:
    strange = reply("x", "b", model="gpt-5.5", usage=USED)
    session = RECORDED.model_copy(update={"entries": (*RECORDED.entries, strange)})
    bill, without = price_session(session), price_session(RECORDED)
    assert bill.lines[-1] == (f"{UNKNOWN}: no price", 1, 25_300, None)
    assert bill.lines[:4] == without.lines[:4]
    alone = price_session(Session(format="demo", entries=(strange,), leaf="x"))
    assert [each.money for each in alone.lines] == [None] * 4
    assert alone.cost is None


def test_a_file_that_says_nothing_was_paid_does_not_tell_the_cost() -> None:
    free = USED.model_copy(update={"cost": Cost()})
    session = Session(format="pi", entries=(reply("a", model=OPUS, usage=free),), leaf="a")
    assert price_session(session).money.tolist() == [price_session(RECORDED).money[0]]
    assert price_session(session.model_copy(update={"entries": (reply("a", usage=free),)})).cost is None


def test_a_cost_told_as_a_whole_is_a_row_of_its_own() -> None:
    usage = Usage(input=100, output=50, cost=Cost(total=0.01))
    bill = price_session(Session(format="pi", entries=(reply("a", usage=usage),), leaf="a"))
    assert line(bill, WHOLE) == (WHOLE, 1, None, 0.01)
    assert [each.money for each in bill.lines[:4]] == [None] * 4
    assert bill.cost == Cost(total=0.01)
    assert not bill.has_unknown
    assert "total known" not in repr(bill)


@needs_shared
@pytest.mark.parametrize(
    ("name", "line_name", "calls", "tokens", "money"),
    [
        # Added up from the rows by hand: sums of the fields of one row for each message id.
        ("claude-code--entire-sem/cc-2.1.210-1404l.jsonl", "cache write 1h", 155, 255_341, 5.10682),
        ("claude-code--git-sync/cc-426k-ctx-1142l.jsonl", "cache write 1h", 393, 1_499_573, 14.99573),
        (
            "claude-code--entireio-cli/cc-3auto-compactions-893l.jsonl",
            "cache write 5m",
            225,
            1_618_146,
            10.1134125,
        ),
    ],
)
def test_D3_cache_writes_of_real_sessions(
    name: str, line_name: str, calls: int, tokens: int, money: float
) -> None:
    found = line(price_session(open_shared(SHARED / "sessions" / name)), line_name)
    assert (found.calls, found.tokens) == (calls, tokens)
    assert found.money == pytest.approx(money)


@given(sessions())
def test_a_bill_holds_every_reported_token_once(session: Session) -> None:
    bill = price_session(session, FIVE)
    used = [entry.usage for entry in session.entries if entry.usage is not None]
    expected = sum(usage.prompt + usage.output for usage in used if usage.prompt or usage.output)
    only_total = sum(usage.total or 0 for usage in used if not (usage.prompt or usage.output))
    assert bill.tokens == expected + only_total
    if not bill.tokens:
        assert bill.cost is None
        return
    assert bill.cost is not None
    assert sum(each.money or 0 for each in bill.lines) == pytest.approx(bill.cost.total)
    assert repr(bill).startswith("Bill: ")


@needs_shared
def test_the_table_gives_what_a_real_session_was_billed() -> None:
    path = SHARED / "sessions/flue/before-compaction.session.json"
    session = read_session(path.read_bytes(), path.name)
    billed, charged = price_session(session), price_session(session, PRICES["claude-opus-4-5"])
    assert len(billed) > 400
    assert charged.money == pytest.approx(billed.money)
    added = add_usage(session).cost
    assert billed.cost is not None
    assert added is not None
    assert billed.cost.total == pytest.approx(added.total)
