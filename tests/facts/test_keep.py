"""Keeping facts under a limit: the pins against every subset there is, and the plans they give."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from inspector.demo import open_demo
from inspector.errors import EditError
from inspector.facts.keep import KeepResult, keep_facts
from inspector.facts.outcomes import OUTCOMES
from inspector.facts.trace import trace_again
from inspector.facts.traced import TracedFact
from inspector.planning.assemble import build_context, live_context
from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
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
def test_what_is_found_is_a_plan_that_keeps_them_and_no_pin_of_it_is_idle(
    session: Session, policy: tuple[str, dict[str, object]], window: int, least: str
) -> None:
    plan = plan_of(session, policy, window)
    files = [traced for traced in plan.trace if traced.fact.kind == "file" and traced.stood]
    kept = keep_facts(plan, files, least=least)  # type: ignore[arg-type]
    plans = every_plan(plan)
    good = [other.after for other in plans if keeps(files, other, least)]
    if kept.plan is None:
        return
    assert keeps(files, kept.plan, least)
    assert kept.after is not None and min(good) <= kept.after
    if not plan.policy.stages and not plan.tiers.bound and plan.notice is None:
        for pin in kept.pins:
            pins = tuple(name for name in kept.plan.edits.pins if name != pin)
            less = make_plan(
                plan.session,
                plan.ledger,
                plan.policy,
                plan.edits.model_copy(update={"pins": pins}),
                window=plan.table.given_window,
                reason=plan.reason,
            )
            assert less.after < kept.after or not keeps(files, less, least)


def keeps(facts: list[TracedFact], plan: Plan, least: str) -> bool:
    return all(OUTCOMES.index(t.outcome) <= OUTCOMES.index(least) for t in trace_again(facts, plan))


def check_keeping(plan: Plan, kept: KeepResult) -> None:
    assert kept.fits <= (kept.plan is not None)
    assert not (kept.fits and kept.missing)
    if kept.plan is None:
        return
    assert kept.price == kept.plan.after - plan.after
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


BOTH = "both src/a.py and src/b.py are fine, as far as I can see"


def naming() -> Plan:
    """Each file is named alone in short, src/b.py in a long sentence too, and both in one sentence."""
    session = build(
        user("hello"),
        say(f"src/a.py {'x' * 30}"),
        user(f"src/b.py {'x' * 500}"),
        say(BOTH),
        user("go on"),
        say(),
    )
    return plan_of(session, ("keep-recent-turns", {"keep-recent-turns.turns": 1}))


def reading() -> Plan:
    """src/a.py is read for many tokens, and named in few."""
    session = build(user("hello"), *read(1, "src/a.py", "x" * 300), say("src/a.py"), user("go on"), say())
    return plan_of(session, ("keep-recent-turns", {"keep-recent-turns.turns": 1}))


def test_one_block_that_says_two_facts_is_paid_once() -> None:
    kept = keep_facts(naming(), ["src/a.py", "src/b.py"])
    assert (kept.pins, kept.price) == (("e3/0",), len(BOTH))
    assert kept.sentence == f"1 pin keeps 2 facts in {kept.after:,} tokens ({kept.price:+,})."


def test_a_later_pin_that_says_all_takes_the_place_of_an_earlier_one() -> None:
    """src/a.py alone is cheaper for a fact than both are; once both are there it is not needed."""
    kept = keep_facts(naming(), ["src/a.py"])
    assert kept.pins == ("e1/0",)
    assert keep_facts(naming(), ["src/b.py", "src/a.py"]).pins == ("e3/0",)


def test_a_file_that_was_read_is_kept_by_the_read_and_paid_with_its_output() -> None:
    kept = keep_facts(reading(), ["src/a.py"])
    assert kept.pins == ("e1/0",)
    assert kept.price == len('Read{"file_path":"src/a.py"}') + 300


def test_a_limit_that_is_too_low_is_told_with_what_was_found() -> None:
    plan = reading()
    least = keep_facts(plan, ["src/a.py"]).after
    assert least is not None
    assert keep_facts(plan, ["src/a.py"], least).fits
    short = keep_facts(plan, ["src/a.py"], least - 1)
    assert (short.fits, short.answer, short.after) == (False, "not found", least)
    assert short.sentence.endswith(f"; {least - 1:,} are allowed.")


def test_what_an_earlier_compaction_removed_cannot_be_kept() -> None:
    told = Boundary(summary="nothing to tell")
    gone = Entry(id="", kind="compaction", blocks=(Text(text="nothing to tell"),), boundary=told)
    session = build(user("look into src/a.py"), say(), gone, user("go on"), say(), user("and on"), say())
    plan = plan_of(session, ("keep-recent-turns", {"keep-recent-turns.turns": 1}))
    kept = keep_facts(plan, ["src/a.py"], 10_000)
    assert (kept.missing, kept.answer, kept.plan) == (("src/a.py",), "impossible", None)
    assert "no block that could be pinned here holds src/a.py" in kept.sentence


def test_nothing_is_pinned_for_what_stands() -> None:
    session = build(user("hello"), say(), user("look into src/a.py"), say())
    plan = plan_of(session, ("keep-recent-turns", {"keep-recent-turns.turns": 1}))
    kept = keep_facts(plan, ["src/a.py"])
    assert (kept.pins, kept.plan is plan, keep_facts(plan, []).pins) == ((), True, ())


def test_facts_of_one_form_and_two_kinds_are_two() -> None:
    """A rule of the user that is a task on the list too."""
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
    assert len(keep_facts(plan, [("constraint", rule), ("todo", rule)]).wanted) == 2


def test_thinking_that_a_model_binds_is_no_place_to_rely_on() -> None:
    """Only the reasoning says the file, and it falls with the first edit before it: no pins are found."""
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
    assert (kept.plan, kept.answer) == (None, "not found")
    assert kept.sentence == "No pins were found that keep 1 fact."


def test_pins_there_were_stay_and_are_not_counted_again() -> None:
    plan = naming()
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
    assert kept.plan.edits.pins == ("e1/0", "e3/0")
    assert kept.pins == ("e3/0",)


def test_what_nothing_says_and_an_unknown_degree_are_named_errors() -> None:
    plan = reading()
    with pytest.raises(EditError, match=r"src/ghost\.py"):
        keep_facts(plan, ["src/a.py", "src/ghost.py"])
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
    alone = [keep_facts(plan, [traced]).price or 0 for traced in changed]
    assert sum(alone) >= (kept.price or 0) >= max(alone)
