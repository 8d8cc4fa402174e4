"""What requests cost: the arithmetic by hand, cached prefixes, and bills of what was recorded."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from hashlib import sha256
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.formats import manifest
from inspector.formats.readers import read_session
from inspector.session.entries import Boundary, Cost, Entry, Usage
from inspector.session.session import Session
from inspector.tokens.bill import Bill, BillLine
from inspector.tokens.cost import SummaryCall, break_even, price_session, price_steps
from inspector.tokens.prices import PRICES, Money, Price, find_price, price_usage
from inspector.tokens.reported import add_usage
from tests.recount import figures as recounted
from tests.reference.prompt_cache import common_prefix, hash_json
from tests.shared import SHARED, needs_shared, open_shared
from tests.strategies import sessions

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
    each = [[M if at == kind else 0 for at in range(4)] for kind in range(4)]
    assert [float(FIVE.charge(*tokens)) for tokens in each] == [5.0, 0.5, 6.25, 25.0]
    assert float(FIVE.charge(0, 0, M, 0, ttl="1h")) == 10.0


@pytest.mark.parametrize("name", recounted.PRICES)
def test_published_prices_are_those_of_the_page(name: str) -> None:
    """As the recount has them, which were typed from the page: fresh, reply, and shares read and written."""
    price = find_price(f"claude-{name}").price
    assert price is not None
    mine = (price.input, price.output, price.read, price.write_5m, price.write_1h)
    assert mine == pytest.approx((*recounted.PRICES[name], recounted.HOUR))


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


def test_a_prompt_over_the_limit_pays_the_higher_price_in_every_part() -> None:
    """Haiku 5.5 above 100,000 tokens of prompt: 0.50 in and 2.50 out instead of 0.10 and 0.50."""
    haiku = PRICES["claude-haiku-5-5"]
    at, over = [0, 0], [1, 0]
    money = haiku.charge([at[0], over[0]], [90_000, 90_000], [10_000, 10_000], [1000, 1000])
    parts = [0.0009 + 0.00125 + 0.0005, 0.5e-6 + 0.0045 + 0.00625 + 0.0025]
    assert money.tolist() == pytest.approx(parts)


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


# -- hash and attribution -------------------------------------------------------------------------------


def test_the_hash_is_of_json_with_keys_by_code_point_at_every_depth() -> None:
    """TIERED §8. No locale puts `B` and `_` before `a` and `é` after `z`."""
    value = [{"é": 1, "z": [{"b": None, "a": True}], "a": 2.0, "_": "\ud800", "B": "ü"}]
    written = '[{"B":"ü","_":"\\ud800","a":2,"z":[{"a":true,"b":null}],"é":1}]'
    assert hash_json(value) == sha256(written.encode()).hexdigest()


TURNS = [{"role": "user" if at % 2 == 0 else "assistant", "content": f"message {at}"} for at in range(8)]


def test_S3_28_the_hash_of_the_whole_list_changes_with_every_turn() -> None:
    hashes = [hash_json(TURNS[:at]) for at in range(len(TURNS) + 1)]
    assert len(set(hashes)) == len(hashes)


# -- steps ----------------------------------------------------------------------------------------------


def test_S3_23_a_compaction_is_one_prefix_rewrite() -> None:
    """Seven requests by hand. Two compactions, at steps 2 and 5, leave 4,000 and 2,000 tokens in front."""
    sent = [10_000, 30_000, 9_000, 12_000, 40_000, 8_000, 9_000]
    cached = [0, 10_000, 4_000, 9_000, 12_000, 2_000, 8_000]
    bill = price_steps(sent, cached, [100] * 7, FIVE)
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
    assert paid.needed == 3


@given(st.lists(st.tuples(st.integers(1, 9_000), st.integers(0, 500)), max_size=20))
def test_S3_27_a_run_that_only_appends_writes_every_token_once(steps: list[tuple[int, int]]) -> None:
    sent = np.cumsum([new for new, _ in steps], dtype=np.int64)
    cached = np.concatenate([[0], sent[:-1]])[: len(sent)]
    bill = price_steps(sent, cached, [output for _, output in steps], FIVE)
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


def test_S1_31_the_summary_is_a_line_of_its_own_with_its_call_and_tokens() -> None:
    call = SummaryCall(step=1, sent=30_000, output=1_500)
    bill = price_steps([30_000, 6_000], [0, 2_000], [400, 400], FIVE, summaries=[call])
    compaction = line(bill, "compaction")
    assert (compaction.calls, compaction.tokens) == (1, 31_500)
    assert compaction.money == pytest.approx((30_000 * 5 + 1_500 * 25) / M)
    without = price_steps([30_000, 6_000], [0, 2_000], [400, 400], FIVE)
    assert "compaction" not in [each.name for each in without.lines]
    assert bill.money.tolist() == without.money.tolist()
    assert bill.cost is not None
    assert without.cost is not None
    assert bill.cost.total - without.cost.total == pytest.approx(compaction.money)
    assert sum(each.money or 0 for each in bill.lines) == pytest.approx(bill.cost.total)


def test_a_bill_tells_its_price_source_date_currency_and_that_it_estimates() -> None:
    told = repr(price_steps([9_000], [0], [50], FIVE))
    for part in ("estimate", "an example", "2026-11-01", "USD", "five", "0.0575"):
        assert part in told
    assert "EUR" in repr(price_steps([9_000], [0], [50], FIVE.model_copy(update={"currency": "EUR"})))


# -- break-even -----------------------------------------------------------------------------------------


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
    both = Usage(input=25_010, output=2_005)
    assert add_usage(RECORDED, "a") == both
    assert add_usage(RECORDED) == both + USED  # once: the reply "lost" is not on the path
    nothing = add_usage(RECORDED, "lost")
    assert nothing == Usage() and (nothing.total, nothing.cost) == (None, None)


@pytest.mark.parametrize("total", [None, 0, 130])
@pytest.mark.parametrize("cost", [None, Cost(total=0), Cost(total=2.5)])
def test_S4_69_a_total_or_cost_that_no_reply_reports_is_unknown(total: int | None, cost: Cost | None) -> None:
    told = Usage(input=100, output=30, total=total, cost=cost)
    entries = [
        Entry(id=str(at), parent=str(at - 1) if at else None, role="assistant", usage=told) for at in range(3)
    ]
    added = add_usage(Session(format="demo", entries=tuple(entries), leaf="2"))
    assert added.total == (None if total is None else 3 * total)
    assert (None if added.cost is None else added.cost.total) == (cost and 3 * cost.total)
    assert added.tokens == 390


@given(st.lists(st.tuples(st.integers(0, 9_000), st.integers(0, 900), st.booleans()), min_size=1, max_size=6))
def test_S4_68_a_sum_has_every_token_however_many_of_its_usages_state_a_total(
    replies: list[tuple[int, int, bool]],
) -> None:
    usages = [
        Usage(input=sent, output=out, total=sent + out if told else None) for sent, out, told in replies
    ]
    costs = [Cost(input=sent, output=out, total=sent + out if told else 0) for sent, out, told in replies]
    entries = [
        Entry(
            id=str(at),
            parent=str(at - 1) if at else None,
            role="assistant",
            usage=usage.model_copy(update={"cost": cost}),
        )
        for at, (usage, cost) in enumerate(zip(usages, costs, strict=True))
    ]
    added = add_usage(Session(format="demo", entries=tuple(entries), leaf=entries[-1].id))
    whole = sum(sent + out for sent, out, _ in replies)
    assert added.tokens == whole == sum(usage.tokens for usage in usages)
    assert added.cost is not None and added.cost.amount == whole


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
