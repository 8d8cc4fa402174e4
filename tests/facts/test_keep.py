"""Keeping facts under a limit: the search against every subset there is, and the plans it gives."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from inspector.demo import LOST_PATH, open_demo
from inspector.errors import EditError
from inspector.facts.keep import KeepResult, keep_facts
from inspector.facts.outcomes import OUTCOMES
from inspector.facts.set_cover import Unit, find_cover
from inspector.facts.trace import trace_again
from inspector.planning.assemble import build_context, live_context
from inspector.planning.plan import Plan, make_plan
from inspector.session.blocks import BlockRef, Reasoning, Text, ToolCall, ToolOutput
from inspector.session.entries import Boundary, Entry
from inspector.session.session import Session
from inspector.tokens.counter import Counter as TokenCounter
from inspector.tokens.ledger import count_tokens
from inspector.wire.checks import check_context
from tests.strategies import sessions
from tests.test_cuts import build, say, user

LENGTH = TokenCounter("length", "Characters", lambda texts: np.array([len(t) for t in texts], np.int32))
FILES = ("src/a.py", "src/b.py", "lib/c.py", "d.txt")


def subsets(things: list[str]) -> list[tuple[str, ...]]:
    return list(chain.from_iterable(combinations(things, size) for size in range(len(things) + 1)))


# The search for the cheapest cover, alone.

units = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 31)), max_size=8)


def brute_cover(priced: list[tuple[int, int]], bits: int) -> int | None:
    """Every choice of units, tried."""
    full, best = (1 << bits) - 1, None
    for chosen in range(1 << len(priced)):
        mine = [unit for at, unit in enumerate(priced) if chosen >> at & 1]
        covered = 0
        for _, covers in mine:
            covered |= covers
        price = sum(price for price, _ in mine)
        if covered & full == full and (best is None or price < best):
            best = price
    return best


@settings(max_examples=300)
@given(units, st.integers(0, 5))
def test_the_cheapest_cover_is_the_cheapest_of_all(priced: list[tuple[int, int]], bits: int) -> None:
    found = find_cover([Unit(price, covers, at) for at, (price, covers) in enumerate(priced)], bits)
    best = brute_cover(priced, bits)
    if found is None:
        assert best is None
        return
    assert found.price == found.bound == best
    assert sum(priced[at][0] for at in found.chosen) == found.price


@settings(max_examples=200)
@given(units, st.integers(1, 5), st.integers(0, 3))
def test_a_search_that_is_cut_short_proves_less_but_nothing_false(
    priced: list[tuple[int, int]], bits: int, steps: int
) -> None:
    found = find_cover([Unit(price, covers, at) for at, (price, covers) in enumerate(priced)], bits, steps)
    best = brute_cover(priced, bits)
    assert (found is None) == (best is None)
    if found is not None and best is not None:
        assert found.bound <= best <= found.price


def test_forty_facts_said_by_many_blocks_are_covered_in_time() -> None:
    rng = np.random.default_rng(7)
    many = [
        Unit(int(rng.integers(20, 2_000)), int(rng.integers(1, 1 << 40, dtype=np.int64)), at)
        for at in range(400)
    ]
    found = find_cover(many, 40, steps=500)
    assert found is not None
    assert found.bound <= found.price


# Sessions in which a few files are said here and there.

words = st.lists(st.sampled_from((*FILES, "x" * 40, "please", "done")), min_size=1, max_size=4).map(" ".join)


@st.composite
def talks(draw: st.DrawFn) -> Session:
    """A few turns, some with a tool loop that may think; few enough to try every choice of pins."""
    entries: list[Entry] = []
    for number in range(draw(st.integers(1, 2))):
        entries.append(user(draw(words)))
        if draw(st.booleans()):
            name = f"c{number}"
            thought = (Reasoning(text=draw(words), signature="s"),) if draw(st.booleans()) else ()
            asked = ToolCall(id=name, name="Read", input={"file_path": draw(st.sampled_from(FILES))})
            told = ToolOutput(call_id=name, name="Read", parts=(Text(text=draw(words)),))
            entries.append(Entry(id="", role="assistant", blocks=(*thought, asked)))
            entries.append(Entry(id="", role="tool", blocks=(told,)))
        entries.append(say(draw(words)))
    entries += [user("go on"), say()]
    model = draw(st.sampled_from((None, "claude-opus-4-5", "claude-opus-5-5")))
    return build(*entries).model_copy(update={"model": model})


POLICIES = st.sampled_from(
    [
        ("flue", {"keep-recent-tokens.tokens": 1, "summarise-older.cap": 60}),
        ("keep-recent-turns", {"keep-recent-turns.turns": 1}),
        ("claude-code", {"drop-oldest-turns.turns": 1}),
        ("mini-claude-code", {"keep-recent-messages.messages": 2, "point-large-outputs.characters": 30}),
        ("openhands", {"condense-middle.events": 6}),
    ]
)


def plan_of(session: Session, policy: tuple[str, dict[str, object]], window: int = 400) -> Plan:
    name, knobs = policy
    return make_plan(
        session, count_tokens(session, LENGTH), name, {"settings": knobs}, window=window, reason="manual"
    )


def every_plan(plan: Plan) -> list[Plan]:
    """A plan for every choice of blocks to pin."""
    live = plan.table.live
    names = [
        str(BlockRef(plan.session.entries[live.entries[at]].id, number))
        for at, number in zip(live.position.tolist(), live.block.tolist(), strict=True)
    ]
    older = [name for name, gone in zip(names, plan.fate.tolist(), strict=True) if gone]
    assume(len(older) <= 7)
    given_window = plan.table.given_window
    return [
        make_plan(
            plan.session,
            plan.ledger,
            plan.policy,
            plan.edits.model_copy(update={"pins": pins}),
            window=given_window,
            reason=plan.reason,
        )
        for pins in subsets(older)
    ]


@settings(max_examples=40)
@given(talks(), POLICIES, st.sampled_from((250, 400, 2_000)), st.sampled_from(("verbatim", "quoted")))
def test_no_choice_of_pins_does_better_than_what_is_proved(
    session: Session, policy: tuple[str, dict[str, object]], window: int, least: str
) -> None:
    plan = plan_of(session, policy, window)
    files = [traced for traced in plan.trace if traced.fact.kind == "file"]
    kept = keep_facts(plan, files, least=least)  # type: ignore[arg-type]
    plans = every_plan(plan)
    good = [
        other.after
        for other in plans
        if all(OUTCOMES.index(t.outcome) <= OUTCOMES.index(least) for t in trace_again(files, other))
    ]
    if kept.missing:
        assert not good
        return
    assert all(kept.bound <= after for after in good)
    if kept.optimal:
        assert kept.after == min(good, default=kept.after)
    kept = keep_facts(plan, files, 0, least=least)  # type: ignore[arg-type]
    assert (kept.plan is not None) == bool(good)
    if good and not plan.policy.stages and not plan.tiers.bound and plan.notice is None:
        # With no room at all every way is tried, to pin everything too.
        assert kept.optimal


def check_keeping(plan: Plan, kept: KeepResult) -> None:
    assert kept.fits <= (kept.plan is not None)
    assert not (kept.fits and kept.impossible)
    if kept.plan is None:
        return
    assert kept.price == kept.plan.after - plan.after
    assert kept.plan.after >= kept.bound
    assert all(t.outcome == "verbatim" for t in trace_again(kept.wanted, kept.plan))
    again = make_plan(
        plan.session, plan.ledger, kept.plan.policy, kept.plan.edits, window=2_000, reason="manual"
    )
    assert again.after == kept.after
    had = refusals(live_context(plan.session, plan.ledger)) | refusals(build_context(plan.session, plan))
    assert refusals(build_context(plan.session, kept.plan)) <= had


def refusals(context: object) -> set[str]:
    found = check_context(context, awaits_user=True, model="claude-opus-4-5")  # type: ignore[arg-type]
    return {violation.rule for violation in found}


@settings(max_examples=60)
@given(
    sessions(orderly=True, least=3),
    st.sampled_from(("flue", "keep-recent-turns", "claude-code", "mini-claude-code")),
    st.integers(0, 3_000),
)
def test_what_is_kept_is_kept_at_the_price_told_and_breaks_nothing(
    session: Session, name: str, limit: int
) -> None:
    plan = make_plan(session, count_tokens(session, LENGTH), name, window=2_000, reason="manual")
    facts = [traced for traced in plan.trace if traced.stood][:8]
    check_keeping(plan, keep_facts(plan, facts, limit))


# One case each, small enough to read.


def read(number: int, path: str, text: str) -> tuple[Entry, Entry]:
    asked = ToolCall(id=f"c{number}", name="Read", input={"file_path": path})
    told = ToolOutput(call_id=f"c{number}", name="Read", parts=(Text(text=text),))
    return Entry(id="", role="assistant", blocks=(asked,)), Entry(id="", role="tool", blocks=(told,))


def reading() -> Plan:
    """src/a.py is said in a cheap call and with src/b.py in one sentence; src/b.py alone in a dear one."""
    session = build(
        user("hello"),
        *read(1, "src/a.py", "x" * 30),
        *read(2, "src/b.py", "x" * 500),
        say("both src/a.py and src/b.py are fine, as far as I can see"),
        user("go on"),
        say(),
    )
    return plan_of(session, ("keep-recent-turns", {"keep-recent-turns.turns": 1}))


def test_one_block_that_says_two_facts_is_paid_once() -> None:
    plan = reading()
    kept = keep_facts(plan, ["src/a.py", "src/b.py"])
    assert kept.pins == ("e5/0",)
    assert kept.price == len("both src/a.py and src/b.py are fine, as far as I can see")
    assert kept.optimal
    assert "fewer cannot be had" in kept.sentence


def test_a_pin_of_a_call_pays_for_its_output_too() -> None:
    plan = reading()
    session = plan.session.model_copy(
        update={"entries": (*plan.session.entries[:5], *plan.session.entries[6:])}
    )
    entries = [entry.model_copy(update={"id": "", "parent": None}) for entry in session.entries]
    plan = plan_of(build(*entries), ("keep-recent-turns", {"keep-recent-turns.turns": 1}))
    kept = keep_facts(plan, ["src/a.py"])
    assert kept.pins == ("e1/0",)
    assert kept.price == len('Read{"file_path":"src/a.py"}') + 30


def test_a_limit_that_is_too_low_is_proved_to_be() -> None:
    plan = reading()
    least = keep_facts(plan, ["src/a.py"]).after
    assert least is not None
    assert keep_facts(plan, ["src/a.py"], least).fits
    short = keep_facts(plan, ["src/a.py"], least - 1)
    assert short.impossible
    assert not short.fits
    assert f"takes {least:,} tokens at least, {least - 1:,} are allowed" in short.sentence
    assert short.cheapest == {("file", "src/a.py"): least - plan.after}
    assert short.answer == "impossible"


def test_what_an_earlier_compaction_removed_cannot_be_kept() -> None:
    told = Boundary(summary="nothing to tell")
    gone = Entry(id="", kind="compaction", blocks=(Text(text="nothing to tell"),), boundary=told)
    session = build(user("look into src/a.py"), say(), gone, user("go on"), say(), user("and on"), say())
    plan = plan_of(session, ("keep-recent-turns", {"keep-recent-turns.turns": 1}))
    kept = keep_facts(plan, ["src/a.py"], 10_000)
    assert (kept.missing, kept.impossible, kept.plan) == (("src/a.py",), True, None)
    assert "nothing that could be pinned here says src/a.py" in kept.sentence


def test_what_an_earlier_summary_says_is_kept_by_a_pin_of_it_where_that_is_enough() -> None:
    told = Boundary(summary="src/a.py was looked into")
    gone = Entry(id="", kind="compaction", blocks=(Text(text="src/a.py was looked into"),), boundary=told)
    session = build(user("look into src/a.py"), say(), gone, user("go on"), say(), user("and on"), say())
    plan = plan_of(session, ("keep-recent-turns", {"keep-recent-turns.turns": 1}))
    assert keep_facts(plan, ["src/a.py"]).missing
    kept = keep_facts(plan, ["src/a.py"], least="quoted")
    assert kept.plan is not None
    assert trace_again(kept.wanted, kept.plan)[0].outcome == "quoted"


def test_nothing_is_pinned_for_what_stands() -> None:
    session = build(user("hello"), say(), user("look into src/a.py"), say())
    plan = plan_of(session, ("keep-recent-turns", {"keep-recent-turns.turns": 1}))
    kept = keep_facts(plan, ["src/a.py"])
    assert (kept.pins, kept.plan is plan, keep_facts(plan, []).pins) == ((), True, ())


def test_facts_of_one_form_and_two_kinds_are_priced_each() -> None:
    """A rule of the user that is a task on the list too: the first stands in one block, the second in two."""
    rule = "Never touch src/a.py by hand"
    todos = ToolCall(id="t", name="TodoWrite", input={"todos": [{"content": rule, "status": "pending"}]})
    told = ToolOutput(call_id="t", name="TodoWrite", parts=(Text(text="x" * 300),))
    session = build(
        user(rule),
        Entry(id="", role="assistant", blocks=(todos,)),
        Entry(id="", role="tool", blocks=(told,)),
        user("go on"),
        say(),
    )
    plan = plan_of(session, ("keep-recent-turns", {"keep-recent-turns.turns": 1}))
    kept = keep_facts(plan, [("constraint", rule), ("todo", rule)])
    assert kept.cheapest.keys() == {("constraint", rule), ("todo", rule)}
    assert len(kept.wanted) == 2


def test_thinking_that_a_model_binds_is_kept_where_everything_before_it_stands() -> None:
    """Only the reasoning says the file, and it falls with the first edit before it."""
    thought = Reasoning(text="perhaps src/a.py is to blame", signature="s")
    asked = ToolCall(id="c1", name="Bash", input={"command": "ls"})
    told = ToolOutput(call_id="c1", name="Bash", parts=(Text(text="x" * 50),))
    session = build(
        user("hello"),
        say("yes"),
        user("look"),
        Entry(id="", role="assistant", blocks=(thought, asked)),
        Entry(id="", role="tool", blocks=(told,)),
        say("done"),
        user("go on"),
        say(),
    ).model_copy(update={"model": "claude-opus-5-5"})
    plan = plan_of(session, ("keep-recent-turns", {"keep-recent-turns.turns": 1}), window=100_000)
    kept = keep_facts(plan, ["src/a.py"])
    assert plan.tiers.bound
    assert kept.plan is not None
    assert kept.answer == "fits"
    assert trace_again(kept.wanted, kept.plan)[0].outcome == "verbatim"


def test_neither_pins_nor_a_proof_is_an_answer_of_its_own() -> None:
    plan = reading()
    kept = KeepResult((plan.trace["src/a.py"],), 300, plan, None, 200, {})
    assert (kept.answer, kept.fits, kept.impossible) == ("not found", False, False)
    assert "nor a proof that there are none" in kept.sentence


def test_pins_there_were_stay_and_are_not_counted_again() -> None:
    plan = reading()
    pinned = make_plan(
        plan.session,
        plan.ledger,
        plan.policy,
        plan.edits.model_copy(update={"pins": ("e1/0",)}),
        window=400,
        reason="manual",
    )
    kept = keep_facts(pinned, ["src/a.py", "src/b.py"])
    assert kept.plan is not None
    assert kept.plan.edits.pins == ("e1/0", "e5/0")
    assert kept.pins == ("e5/0",)


def test_an_unknown_fact_and_an_unknown_degree_are_named_errors() -> None:
    plan = reading()
    with pytest.raises(EditError, match="nothing said so far"):
        keep_facts(plan, ["src/ghost.py"])
    with pytest.raises(EditError, match="verbatim or quoted"):
        keep_facts(plan, ["src/a.py"], least="absent")  # type: ignore[arg-type]


def test_the_demo_keeps_its_lost_path_and_every_file_it_changed() -> None:
    session = open_demo()
    compaction = next(entry for entry in session.entries if entry.kind == "compaction")
    ledger = count_tokens(session)
    plan = make_plan(session.at(compaction.parent), ledger, "flue", {"cut": "end"})
    changed = [
        traced
        for traced in plan.trace.select(kind="file")
        if {"edited", "created"} & {said.operation for said in traced.fact.said if said.ref in traced.said}
    ]
    assert len(changed) > 8
    kept = keep_facts(plan, changed, tokens=plan.before)
    assert kept.fits
    assert kept.optimal
    assert ("file", LOST_PATH) in kept.cheapest
    assert sum(kept.cheapest.values()) >= (kept.price or 0) >= max(kept.cheapest.values())
