"""Laws: for any session, any policy that the rules can make, any edit. (ARCHITECTURE, tests by value.)"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any, get_args

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import ValidationError

from inspector.cuts import find_cuts
from inspector.planning.assemble import build_context, live_context
from inspector.planning.context import Context
from inspector.planning.diff.contexts import diff_contexts
from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.policies.base_rule import Rule
from inspector.policies.policy import Edits, Policy, Stage
from inspector.policies.rules import RULES, find_rule, kind_of
from inspector.policies.rules.prune_parts import PrunedCalls
from inspector.policies.table import FATES
from inspector.policies.trigger import Measure, Target, Trigger
from inspector.session.session import Session
from inspector.tokens.counter import Counter
from inspector.tokens.ledger import count_tokens
from inspector.tokens.rows import SECTIONS
from inspector.wire.checks import check_context
from inspector.workbench.payloads.block import describe_rows
from inspector.workbench.payloads.scene import draw_plan
from tests.reference.patched import patch_context
from tests.strategies import TOOLS, sessions

LENGTH = Counter("length", "Characters", lambda texts: np.array([len(t) for t in texts], np.int32))

# What a knob's schema does not tell, or tells too widely to be worth trying.
KNOBS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "keep-recent-tokens": {"tokens": st.one_of(st.integers(-5, 3000), st.floats(-1, 500))},
    "summarise-older": {
        "share": st.floats(0, 2),
        "prefix_share": st.floats(0, 2),
        "cap": st.integers(0, 20_000),
    },
    "prune-parts": {
        "calls": st.lists(
            st.builds(
                PrunedCalls,
                newest=st.integers(0, 6),
                tools=st.lists(st.sampled_from(TOOLS), max_size=2, unique=True).map(tuple),
            ),
            max_size=2,
        ).map(tuple)
    },
}


def draw_knob(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values a knob's JSON schema allows, small ones: sessions drawn here are small too."""
    options = schema.get("anyOf", [schema])
    if len(options) > 1:
        return st.one_of(*map(draw_knob, options))
    kind = options[0].get("type")
    if "enum" in options[0]:
        return st.sampled_from(options[0]["enum"])
    if "const" in options[0]:
        return st.just(options[0]["const"])
    if kind == "null":
        return st.none()
    if kind == "boolean":
        return st.booleans()
    least = options[0].get("minimum", options[0].get("exclusiveMinimum", 0))
    if kind == "integer":
        most = options[0].get("maximum", 10**6)
        return st.integers(least, min(6, most) if least <= 6 else most) | st.integers(least, min(3000, most))
    if kind == "number":
        return st.floats(least, min(options[0].get("maximum", 3000), 3000), exclude_min=True)
    if kind == "array":
        items = options[0].get("items", {})
        names = st.sampled_from(TOOLS) if items.get("type") == "string" else draw_knob(items)
        return st.lists(names, max_size=2, unique=True).map(tuple)
    return st.just(schema["default"])


@cache
def knobs_of(model: type[Rule]) -> dict[str, st.SearchStrategy[Any]]:
    """Values of each of its knobs. Writing a model's schema costs as much as several plans."""
    known = KNOBS.get(kind_of(model), {})
    properties = model.model_json_schema()["properties"]
    return {
        name: known[name] if name in known else draw_knob(schema)
        for name, schema in properties.items()
        if name not in ("kind", "enabled")
    }


@cache
@st.composite
def rules(draw: st.DrawFn, model: type[Rule], *, enabled: bool = False) -> Rule:
    """A rule of that kind with any knobs; those its model refuses together are drawn again."""
    knobs = {name: draw(values) for name, values in knobs_of(model).items()}
    if not model.locked:
        knobs["enabled"] = enabled or draw(st.sampled_from((True, True, True, False)))
    try:
        return model.model_validate(knobs)
    except ValidationError:
        return model.model_validate({"enabled": knobs.get("enabled", True)})


# To make a strategy costs as much as to draw from it ten times, so what no draw changes is made once.
_SOME_KINDS = st.lists(st.sampled_from(RULES), unique=True, max_size=5)
_RATIO = st.none() | st.floats(0.01, 1, exclude_min=False)


@cache
def _bounds(most: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(0, most), max_size=3)


@cache
@st.composite
def policies(draw: st.DrawFn, *, summarising: bool = False) -> Policy:
    """Any trigger, any of the rules in any order with any knobs, some of them perhaps in stages."""
    kinds = draw(_SOME_KINDS)
    if summarising:
        kinds = [find_rule("keep-system"), find_rule("summarise-older")]
    drawn = tuple(draw(rules(kind, enabled=summarising)) for kind in kinds)
    trigger = Trigger(
        reserve_tokens=draw(st.integers(0, 50_000)),
        ratio=draw(_RATIO),
        measure=draw(st.sampled_from(get_args(Measure))),
    )
    names = [kind_of(kind) for kind in kinds]
    cuts = sorted(draw(_bounds(len(names)))) if not summarising else []
    stages = tuple(Stage(name=f"s{at}", rules=tuple(names[a:b])) for at, (a, b) in enumerate(pairwise(cuts)))
    target = Target(tokens=draw(st.integers(0, 3000))) if draw(st.booleans()) else None
    return Policy(name="drawn", trigger=trigger, target=target, stages=stages, rules=drawn)


@st.composite
def plans(draw: st.DrawFn, *, orderly: bool = False, summarising: bool = False) -> Plan:
    """A plan of any policy for any session, perhaps with a cut by hand, a beginning by hand, and pins.

    A `summarising` plan has a legal cut and summarises what is older; it is never pinned.
    """
    session = draw(sessions(orderly=orderly, least=3 if summarising else 0))
    policy = draw(policies(summarising=summarising))
    live = session.live
    names = [session.entries[i].id for i in live.entries]
    pins = tuple(draw(st.lists(st.sampled_from(names), max_size=2))) if names and not summarising else ()
    cuts = find_cuts(session)
    starts = [None, *np.flatnonzero(cuts.starts).tolist()] if takes_since(policy) else [None]
    start = draw(st.sampled_from(starts))
    legal = [point.entry for point in cuts.since(start or 0) if point.legal]
    # Without a cut everything from there on is compacted.
    assume(legal or not (summarising or start))
    cut = draw(st.sampled_from(legal if summarising else [None, *legal]))
    edits = Edits(cut=cut, since=None if start is None else cuts.ids[start], pins=pins)
    assume(cut or start is None or cuts.legal[-1])
    return make_plan(session, count_tokens(session, LENGTH), policy, edits, window=10_000)


def takes_since(policy: Policy) -> bool:
    return not any(rule.enabled and rule.takes and rule.by_provider for rule in policy.rules)


def calls_and_outputs(context: Context) -> tuple[list[str], list[str]]:
    calls = [piece.block.id for piece in context.pieces if piece.block.kind == "tool_call"]
    outputs = [piece.block.call_id for piece in context.pieces if piece.block.kind == "tool_output"]
    return sorted(calls), sorted(outputs)


@given(plans())
def test_patching_the_diff_gives_the_context_after(plan: Plan) -> None:
    before, after = live_context(plan.session, plan.ledger), build_context(plan.session, plan)
    assert patch_context(before, diff_contexts(before, after)) == after


@given(plans())
def test_S4_12_an_output_never_stands_without_its_call_nor_a_call_without_its_output(plan: Plan) -> None:
    # Published defects are reproduced where a policy asks for them; it then says that it leaves pairs alone.
    assume(plan.place is not None and not plan.tier.unpaired)
    calls, outputs = calls_and_outputs(build_context(plan.session, plan))
    assert calls == outputs


@given(plans())
def test_S0_39_reasoning_is_never_invented(plan: Plan) -> None:
    given_blocks = [block for entry in plan.session.entries for block in entry.blocks]
    for piece in build_context(plan.session, plan).pieces:
        if piece.block.kind == "reasoning":
            assert any(piece.block is block for block in given_blocks)


@given(plans())
def test_what_the_model_never_sees_is_in_no_context(plan: Plan) -> None:
    unseen = {
        entry.id for entry in plan.session.entries if entry.kind == "note" or entry.sidechain is not None
    }
    for context in (live_context(plan.session, plan.ledger), build_context(plan.session, plan)):
        assert not unseen & {ref.entry for piece in context.pieces for ref in piece.origin}


@given(plans())
def test_S0_16_the_system_prompt_is_untouched(plan: Plan) -> None:
    context = build_context(plan.session, plan)
    assert context.system is plan.session.system
    assert context.tools is plan.session.tools
    assert context.provided is plan.session.provided


@given(plans())
def test_ledger_fates_and_sections_add_up(plan: Plan) -> None:
    before, after = live_context(plan.session, plan.ledger), build_context(plan.session, plan)
    counted = sum(plan.ledger.by_section(plan.session).values())
    assert plan.counted_before == before.counted == counted
    assert plan.before == before.tokens == counted + plan.outside.tokens
    assert plan.after == after.tokens
    assert len(plan.fate) == len(plan.table.tokens) == len(before.pieces)
    if plan.notice is not None and plan.place is not None and plan.notice.echoes(plan.place):
        return  # what a published notice repeats stands twice
    standing = [piece for piece in after.pieces if piece.fate not in ("summarised", "dropped")]
    gone = sum(FATES[code] in ("summarised", "dropped") for code in plan.fate)
    emptied = sum(block is None for block in plan.outcome.blocks.values())
    assert len(standing) + gone + emptied == len(plan.fate)
    assert all(len(piece.origin) == 1 for piece in standing)


@given(plans())
def test_the_cut_table_agrees_with_the_plan_at_every_legal_cut(plan: Plan) -> None:
    table = plan.cut_table
    for point in plan.cuts:
        if not point.legal:
            assert table.total[point.place] == -1
            continue
        edits = plan.edits.model_copy(update={"cut": point.entry})
        there = make_plan(plan.session, plan.ledger, plan.policy, edits, window=10_000)
        assert (table.total[point.place], table.summary[point.place]) == (there.after, there.summary_tokens)
        assert table.sections[point.place].tolist() == sections_of(there)


def sections_of(plan: Plan) -> list[int]:
    """By hand: the head, what stands, the summary as compacted history, and a notice as a message."""
    sums = plan.ledger.head_sections.astype(int).tolist()
    for section, tokens in zip(plan.table.section, plan.outcome.tokens, strict=True):
        sums[section] += int(tokens)
    sums[SECTIONS.index("compacted")] += plan.summary_tokens
    if plan.notice is not None and plan.place is not None:
        repeated = plan.notice.before.tokens if plan.notice.echoes(plan.place) else []
        for section, tokens in zip(plan.table.section, repeated, strict=False):
            sums[section] += int(tokens)
        sums[SECTIONS.index(plan.notice.role)] += int(plan.notice.cost[plan.place])
    return sums


@given(plans(orderly=True, summarising=True))
def test_every_legal_cut_leaves_a_runnable_context(plan: Plan) -> None:
    assume(plan.summarises)
    before, after = live_context(plan.session, plan.ledger), build_context(plan.session, plan)
    had, has = (
        {v.rule for v in check_context(c, awaits_user=True, model="claude-opus-4-5")} for c in (before, after)
    )
    # A tool's error without a word, and a loop that began without thinking, are the session's own. A pin may
    # keep what a provider refuses, and the plan says so.
    pinned = any(note.startswith("A provider refuses this: a pin") for note in plan.notes)
    own = had & {"unexplained_error", "loop_without_thinking"}
    if plan.summary_at:
        own |= had & {"first_not_user"}  # the beginning stays as it was
    assert has <= own | ({"final_thinking"} if pinned else set())


@given(plans(orderly=True))
def test_no_plan_at_a_legal_cut_is_refused_where_the_session_was_not(plan: Plan) -> None:
    # Published defects are reproduced where a policy asks for them; it then says that it leaves pairs alone.
    assume(not plan.tier.unpaired)
    before, after = live_context(plan.session, plan.ledger), build_context(plan.session, plan)
    had, has = (
        {v.rule for v in check_context(c, awaits_user=True, model="claude-opus-4-5")} for c in (before, after)
    )
    # Of a policy that leaves nothing, or nothing of the user's, the plan says so; nothing is made up for it.
    # So it is where a pin keeps what a provider refuses.
    said = ("Nothing is left", "The context would not begin", "A provider refuses this: a pin")
    told = any(note.startswith(said) for note in plan.notes)
    refused = has - had - ({"no_message", "first_not_user", "final_thinking"} if told else set())
    # A pin, or a rule that does not look at loops, may leave a later message's reasoning without the first.
    if any(note.startswith("A provider may refuse this: the open tool loop") for note in plan.notes):
        refused -= {"loop_without_thinking"}
    # A collapsed stretch may hold the beginning of the loop that goes on; it is no cut.
    assert refused <= ({"loop_without_thinking"} if plan.segments else set())


@given(plans())
def test_a_plan_never_changes_the_session_and_is_the_same_again(plan: Plan) -> None:
    again = make_plan(plan.session, plan.ledger, plan.policy, plan.edits, window=10_000)
    fresh = Session.model_validate(plan.session.model_dump())
    assert fresh == plan.session
    other = make_plan(fresh, count_tokens(fresh, LENGTH), plan.policy, plan.edits, window=10_000)
    for mine in (again, other):
        assert build_context(mine.session, mine) == build_context(plan.session, plan)
        assert draw_plan(mine) == draw_plan(plan)


@given(plans(summarising=True))
def test_what_is_older_than_the_cut_is_written_up_once(plan: Plan) -> None:
    assume(plan.summarises)
    assert plan.place is not None
    named = [name for job in plan.jobs for name in job.entries]
    live = plan.session.live
    older = [plan.session.entries[i].id for i in live.entries[plan.table.start : plan.place]]
    assert named == older


@given(plans())
def test_what_is_drawn_is_valid_utf8_and_acts_on_nothing(plan: Plan) -> None:
    rows = describe_rows(plan, 0, 1000)
    assert len(rows) == len(plan.table.tokens)
    for row in rows:
        for text in (row.label, row.preview):
            assert text == text.encode("utf-8").decode("utf-8")
            assert not set(text) & set("\x1b\x00\u202e")
