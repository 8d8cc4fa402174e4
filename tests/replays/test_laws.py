"""Laws of replays: for any session, any policy, any harness, and whatever happens from outside."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from inspector.planning.assemble import build_context, live_context
from inspector.policies.harness import BUNDLED, STATE_NAMES, Dialect, Harness, Mode
from inspector.policies.policy import Policy
from inspector.policies.registry import POLICIES, find_policy
from inspector.policies.rules import find_rule
from inspector.policies.rules.clear_tool_outputs import ClearToolOutputs
from inspector.policies.rules.summarise_older import SummariseOlder
from inspector.policies.table import CLEARED, FATES, SUMMARISED
from inspector.policies.trigger import Check, Trigger
from inspector.replays.carry import carry_entries, chain, count_carried, join_ledger
from inspector.replays.engine import replay
from inspector.replays.run import Compaction, Run
from inspector.replays.scenario import Action, Scenario, ScenarioEvent
from inspector.replays.simulated_summariser import SimulatedSummariser
from inspector.replays.timeline import find_life
from inspector.session.blocks import Reasoning, Text, ToolCall, ToolOutput
from inspector.session.entries import Entry
from inspector.session.session import Session
from inspector.tokens.history import History, trace_history
from inspector.tokens.ledger import count_tokens
from inspector.workbench.payloads.replay import draw_run
from tests.reference.event_order import check_fields, check_order
from tests.refusals import check_opening, find_rules
from tests.strategies import sessions
from tests.test_laws import LENGTH, calls_and_outputs, policies

CUTTERS = ("keep-recent-turns.turns", "keep-recent-tokens.tokens")
COLUMNS = (
    "entry",
    "turn",
    "recorded",
    "context",
    "measured",
    "requests",
    "sent",
    "cached",
    "output",
    "state",
)
MODELS = (None, "claude-haiku-4-5", "claude-opus-4-6", "claude-fable-5-1")


@st.composite
def conducts(draw: st.DrawFn, ratio: float | None) -> Harness:
    """Any harness around a policy that fires at that share of the window, if it is a share."""
    warn = draw(st.floats(0.01, ratio or 1)) if draw(st.booleans()) else None
    require = draw(st.floats(max(warn or 0.01, ratio or 0.01), 1)) if draw(st.booleans()) else None
    least = max(require or 0.01, warn or 0.01, ratio or 0.01)
    block = draw(st.floats(least, 1)) if draw(st.booleans()) else None
    small = st.integers(0, 2)
    return Harness(
        mode=draw(st.sampled_from(("auto", "auto", *get_args(Mode)))),
        engine=draw(st.sampled_from((*("core",) * 5, BUNDLED, "none"))),
        warn=warn,
        require=require,
        block=block,
        strict=draw(st.booleans()),
        machine=draw(st.sampled_from(("none", "defer", "force"))),
        recover=draw(st.booleans()),
        recoveries=draw(small),
        retries=draw(small),
        breaker=draw(small),
        reset=draw(st.booleans()),
        adopt=draw(st.sampled_from(("always", "smaller"))),
        dialect=draw(st.sampled_from(get_args(Dialect))),
    )


_POLICIES = policies()
_RATIO = st.none() | st.floats(0.01, 1)
_TOKENS = st.integers(0, 300) | st.none()
_BUDGET = st.none() | st.integers(0, 2000)


@st.composite
def harnessed(draw: st.DrawFn) -> Policy:
    """Any rules under a trigger that small sessions reach, in any harness; or a built-in policy."""
    if draw(st.sampled_from((False, False, True))):
        policy = draw(st.sampled_from(POLICIES))
        ratio = policy.trigger.ratio if policy.trigger.tokens is None else None
        own = draw(st.booleans())
        return policy.model_copy(update={"harness": policy.harness if own else draw(conducts(ratio))})
    policy = draw(_POLICIES)
    # Few policies that are drawn freely do anything to a short session: most are helped to.
    knob = draw(st.sampled_from((*CUTTERS, *CUTTERS, None)))
    if knob is not None:
        name, _, knob = knob.partition(".")
        rules = tuple(rule for rule in policy.rules if rule.kind not in (name, "summarise-older"))
        cutter = find_rule(name).model_validate({knob: draw(st.integers(0, 4))})
        policy = policy.model_copy(update={"rules": (*rules, cutter, SummariseOlder()), "stages": ()})
    ratio = draw(_RATIO)
    trigger = Trigger(
        ratio=ratio,
        tokens=draw(_TOKENS),
        reserve_tokens=draw(st.integers(0, 2000)),
        budget=draw(_BUDGET) if ratio is None else None,
        strict=draw(st.booleans()),
        measure=policy.trigger.measure,
        check=draw(st.sampled_from(get_args(Check))),
    )
    return policy.model_copy(update={"trigger": trigger, "harness": draw(conducts(ratio))})


_WINDOW = st.none() | st.integers(0, 5000)
_DEEDS = ("compact", *get_args(Action))


@st.composite
def _acts(draw: st.DrawFn, names: list[str]) -> tuple[ScenarioEvent, ...]:
    acts = []
    for _ in range(draw(st.integers(0, 4))):
        more: dict[str, Any] = {"at": draw(st.sampled_from(names)), "do": draw(st.sampled_from(_DEEDS))}
        if more["do"] == "reset":
            more["confirmed"] = draw(st.booleans())
        elif more["do"] == "switch":
            more |= {"window": draw(_WINDOW), "model": draw(st.sampled_from([one for one in MODELS if one]))}
        acts.append(ScenarioEvent(**more))
    return tuple(acts)


@st.composite
def scenarios(draw: st.DrawFn, session: Session) -> Scenario:
    """Acts at entries of the session's own path, and everybody's ways."""
    failed = find_life(session, count_tokens(session, LENGTH), trace(session))
    names = [session.entries[i].id for i in failed.at.tolist()]
    return Scenario(
        acts=draw(_acts(names)) if names else (),
        writer=SimulatedSummariser(
            fails=draw(st.integers(0, 4)), oversize=draw(st.sampled_from((0, 0.5, 1, 1.5, 3, 100)))
        ),
        user=draw(st.sampled_from(("compacts", "waits", "overrides", "resets"))),
        consents=draw(st.booleans()),
        tool=draw(st.booleans()),
        provider=draw(st.sampled_from(("accepts", "refuses"))),
    )


def trace(session: Session) -> History:
    return trace_history(session, count_tokens(session, LENGTH))


_SESSIONS = {
    tidy: sessions(orderly=tidy, least=4, most=14) | sessions(orderly=tidy) for tidy in (False, True)
}
_HARNESSED = harnessed()


@st.composite
def lives(draw: st.DrawFn, *, orderly: bool | None = None) -> dict[str, Any]:
    """Everything a replay takes."""
    tidy = draw(st.booleans()) if orderly is None else orderly
    session = draw(_SESSIONS[tidy])
    return {
        "session": session,
        "policy": draw(_HARNESSED),
        "scenario": draw(scenarios(session)),
        "window": draw(st.sampled_from((None, 0, 300, 1500, 6000))),
        "ledger": count_tokens(session, LENGTH),
    }


def live(given: dict[str, Any]) -> Run:
    return replay(**given)


@given(lives())
def test_any_life_is_told_in_order_with_every_field_and_drawn(given: dict[str, Any]) -> None:
    run = live(given)
    conduct = run.policy.harness
    assert check_order(run.events, conduct) == []
    assert check_fields(run.events) == []
    assert all(len(getattr(run, name)) == len(run) for name in COLUMNS)
    assert (run.cached <= run.sent).all() and (run.cached >= 0).all()
    assert (run.requests >= (run.sent > 0)).all()
    assert (run.context >= 0).all() and (run.output >= 0).all() and (run.recorded >= 0).all()
    assert (run.state < len(STATE_NAMES)).all()
    unknown = run.state == len(STATE_NAMES) - 1
    switched = any(event.kind == "switched" for event in run.events)
    assert not unknown.any() or not run.window or switched
    assert run.status == "finished" or run.why
    assert run.peak >= (run.context.max() if len(run) else 0)
    draw_run(run)
    assert repr(run)


class PlannedEachTime(ClearToolOutputs):
    """The same rule, which never says that it rests: so every request is planned."""

    def rests(self, tokens: int, model: str | None) -> bool:
        return False


MOVES = {
    "asks": [Entry(id="", role="user", blocks=(Text(text="And now? " * 4),))],
    "says": [Entry(id="", role="assistant", blocks=(Text(text="This. " * 4),))],
    "calls": [
        Entry(id="", role="assistant", blocks=(ToolCall(id="c", name="ls", input={"path": "x" * 20}),))
    ],
    "answers": [Entry(id="", role="tool", blocks=(ToolOutput(call_id="c", parts=(Text(text="y" * 60),)),))],
    "thinks": [Entry(id="", role="assistant", blocks=(Reasoning(text="Hm. " * 4), Text(text="So.")))],
    "nothing": [Entry(id="", role="assistant")],
    "another model": [Entry(id="", role="assistant", model="claude-haiku-4-5", blocks=(Text(text="Hi."),))],
}
MOVES["uses"] = MOVES["calls"] + MOVES["answers"]
MOVES["twice"] = MOVES["calls"] + MOVES["calls"] + MOVES["answers"]


@given(
    st.lists(st.sampled_from([*["asks", "says", "uses", "uses"] * 3, *MOVES]), min_size=4, max_size=30),
    st.sampled_from((None, 200, 600, 1500)),
    st.integers(0, 2),
    st.sampled_from(("claude-opus-4-6", "claude-haiku-4-5")),
)
@example(["asks", *["uses"] * 12, "says"], 600, 1, "claude-opus-4-6")
@example(["asks", "says", "asks", "calls", "asks", "says", "asks", "says"], 1500, 1, "claude-opus-4-6")
@example(["asks", "says", "asks", "says", "answers", "says", "asks", "says"], 1500, 1, "claude-opus-4-6")
@example(
    ["asks", "says", *["asks", "thinks"] * 3, "another model", "asks", "says"], 1500, 1, "claude-opus-4-6"
)
def test_a_request_that_no_edit_touches_is_what_its_plan_says(
    moves: list[str], tokens: int | None, keep: int, model: str
) -> None:
    """S0-49: a rule that rests spares the plan, and nothing else."""
    said = [entry for move in moves for entry in MOVES[move]]
    entries = chain(entry.model_copy(update={"id": f"e{at}"}) for at, entry in enumerate(said))
    session = Session(format="demo", model=model, entries=entries, leaf=entries[-1].id)
    policy = find_policy("anthropic-context-editing")
    knobs = {"trigger_tokens": tokens, "keep": keep, "clear_inputs": True}

    def edited(rule: ClearToolOutputs) -> Run:
        rules = tuple(rule if each.kind == rule.kind else each for each in policy.rules)
        changed = policy.model_copy(update={"rules": rules})
        return replay(session, changed, ledger=count_tokens(session, LENGTH))

    spared, planned = edited(ClearToolOutputs(**knobs)), edited(PlannedEachTime(**knobs))
    assert spared.events == planned.events
    assert all((getattr(spared, name) == getattr(planned, name)).all() for name in COLUMNS)


@given(lives())
def test_the_same_life_is_the_same_again(given: dict[str, Any]) -> None:
    one, other = live(given), live(given | {"ledger": count_tokens(given["session"], LENGTH)})
    for name in COLUMNS:
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert one.events == other.events
    assert one.findings == other.findings
    assert (one.status, one.why, one.against) == (other.status, other.why, other.against)
    assert [told(item) for item in one.compactions] == [told(item) for item in other.compactions]


def told(item: Compaction) -> tuple[Any, ...]:
    fates = item.plan.fate.tolist()
    figures = (item.step, item.before, item.after, item.prefix, item.calls, item.asked, item.written)
    return (item.adopted, item.reason, item.entry, *figures, fates)


@given(lives())
def test_S0_39_S4_12_compactions_keep_pairs_whole_and_invent_no_reasoning(given: dict[str, Any]) -> None:
    run = live(given)
    known = {id(b) for entry in run.session.entries for b in entry.blocks if b.kind == "reasoning"}
    for item in run.compactions:
        context = build_context(item.plan.session, item.plan)
        for piece in context.pieces:
            if piece.block.kind == "reasoning":
                assert id(piece.block) in known
        if item.plan.place is not None and not item.plan.tier.unpaired:
            calls, outputs = calls_and_outputs(context)
            assert calls == outputs


@given(lives(orderly=True))
def test_S4_12_what_a_compaction_leaves_may_be_sent(given: dict[str, Any]) -> None:
    run = live(given)
    for item in run.adopted:
        if item.plan.tier.unpaired:
            return
        session, plan = item.plan.session, item.plan
        after = build_context(session, plan)
        had, has = find_rules(live_context(session, plan.ledger)), find_rules(after)
        # A policy that is drawn may leave nothing that is said: then the user's next words are all there is.
        check_opening(after, has)
        assert has <= had | {"no_message"}


@given(lives())
def test_S4_20_life_goes_on_from_what_build_context_says(given: dict[str, Any]) -> None:
    run = live(given)
    for item in run.adopted:
        plan = item.plan
        written = item.written if plan.summarises else None
        carried = carry_entries(plan, "new", written)
        entries = chain(one.entry for one in carried)
        fields = {name: getattr(plan.session, name) for name in Session.model_fields}
        leaf = entries[-1].id if entries else None
        session = Session.model_construct(**(fields | {"entries": entries, "leaf": leaf}))
        ledger = join_ledger(session, plan.ledger, count_carried(plan.ledger, carried))
        left, said = live_context(session, ledger), build_context(plan.session, plan)
        more = item.written - plan.summary_tokens if plan.summarises else 0
        if CLEARED not in plan.fate:
            # What is not in the file is told by usage, which no entry that goes on carries.
            assert left.tokens - left.outside == said.tokens - said.outside + more
            assert [piece.block for piece in left.pieces] == [piece.block for piece in said.pieces]
            assert item.after == said.tokens + more
        else:
            assert left.tokens - left.outside >= said.tokens - said.outside + more


@given(lives())
def test_a_summary_is_written_up_from_what_was_summarised(given: dict[str, Any]) -> None:
    run = live(given)
    for item in run.compactions:
        summarised = int(item.plan.table.tokens[item.plan.fate == SUMMARISED].sum())
        assert (item.calls > 0) == item.plan.summarises
        assert item.asked >= (summarised if item.adopted and item.plan.summarises else 0)
        assert item.written >= 0
        assert set(np.unique(item.plan.fate).tolist()) <= set(range(len(FATES)))
