"""Keeping facts under a limit: the pins that are found, and the plans they give."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from inspector.demo import open_demo
from inspector.facts.keep import KeepResult, keep_facts
from inspector.facts.outcomes import OUTCOMES
from inspector.facts.trace import trace_again
from inspector.facts.traced import TracedFact
from inspector.planning.assemble import build_context, live_context
from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.session.blocks import Reasoning, Text, ToolCall, ToolOutput
from inspector.session.entries import Entry
from inspector.session.session import Session
from inspector.tokens.counter import Counter as TokenCounter
from inspector.tokens.ledger import count_tokens
from inspector.wire.checks import check_context
from tests.strategies import sessions
from tests.telling import use
from tests.test_cuts import build, say, user

LENGTH = TokenCounter("length", "Characters", lambda texts: np.array([len(t) for t in texts], np.int32))
FILES = ("src/a.py", "src/b.py", "lib/c.py", "d.txt")


# Sessions in which a few files are said here and there.

words = st.lists(st.sampled_from((*FILES, "x" * 40, "please", "done")), min_size=1, max_size=4).map(" ".join)


@st.composite
def talks(draw: st.DrawFn) -> Session:
    """A few turns, some with a tool loop that may think."""
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
        ("claude-code-analysis", {"drop-oldest-turns.turns": 1}),
        ("mini-claude-code", {"keep-recent-messages.messages": 2, "point-large-outputs.characters": 30}),
        ("openhands", {"condense-middle.events": 6}),
    ]
)


def plan_of(session: Session, policy: tuple[str, dict[str, object]], window: int = 400) -> Plan:
    name, knobs = policy
    return make_plan(
        session, count_tokens(session, LENGTH), name, {"settings": knobs}, window=window, reason="manual"
    )


@given(talks(), POLICIES, st.sampled_from((250, 400, 2_000)), st.sampled_from(("verbatim", "quoted")))
def test_what_is_found_is_a_plan_that_keeps_them_and_no_pin_of_it_is_idle(
    session: Session, policy: tuple[str, dict[str, object]], window: int, least: str
) -> None:
    plan = plan_of(session, policy, window)
    files = [traced for traced in plan.trace if traced.fact.kind == "file" and traced.stood]
    kept = keep_facts(plan, files, least=least)  # type: ignore[arg-type]
    if kept.plan is None:
        return
    assert keeps(files, kept.plan, least)
    assert kept.after == kept.plan.after
    if not plan.policy.stages and not plan.tiers.bound and plan.notice is None:
        for pin in kept.pins:
            pins = tuple(name for name in kept.plan.edits.pins if name != pin)
            less = plan.with_edits(plan.edits.model_copy(update={"pins": pins}))
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


@given(
    sessions(orderly=True, least=3),
    st.sampled_from(("flue", "keep-recent-turns", "claude-code-analysis", "mini-claude-code")),
    st.integers(0, 3_000),
)
def test_what_is_kept_is_kept_at_the_price_told_and_breaks_nothing(
    session: Session, name: str, limit: int
) -> None:
    plan = make_plan(session, count_tokens(session, LENGTH), name, window=2_000, reason="manual")
    facts = [traced for traced in plan.trace if traced.stood][:8]
    check_keeping(plan, keep_facts(plan, facts, limit))


# One case each, small enough to read.


def reading() -> Plan:
    """src/a.py is read for many tokens, and named in few."""
    session = build(
        user("hello"), *use(1, "Read", "x" * 300, file_path="src/a.py"), say("src/a.py"), user("go on"), say()
    )
    return plan_of(session, ("keep-recent-turns", {"keep-recent-turns.turns": 1}))


def test_a_limit_that_is_too_low_is_told_with_what_was_found() -> None:
    plan = reading()
    least = keep_facts(plan, ["src/a.py"]).after
    assert least is not None
    assert keep_facts(plan, ["src/a.py"], least).fits
    short = keep_facts(plan, ["src/a.py"], least - 1)
    assert (short.fits, short.answer, short.after) == (False, "not found", least)
    assert short.sentence.endswith(f"; {least - 1:,} are allowed.")


def test_a_pin_that_a_later_one_makes_needless_is_dropped() -> None:
    session = build(
        user("src/a.py"), say(), user("Now src/b.py, as src/a.py was."), say(), user("go on"), say()
    )
    plan = plan_of(session, ("keep-recent-turns", {"keep-recent-turns.turns": 1}))
    assert keep_facts(plan, ["src/a.py"]).pins == ("e0/0",)
    assert keep_facts(plan, ["src/a.py", "src/b.py"]).pins == ("e2/0",)


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
