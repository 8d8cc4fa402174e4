"""Rules that clear, shorten, spill and fold, each on a session small enough to read."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from inspector.formats.manifest import dump_manifest
from inspector.formats.readers import read_session
from inspector.planning.assemble import build_context, live_context
from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.policies.base_rule import Rule
from inspector.policies.policy import Policy, Stage
from inspector.policies.rules.clear_thinking import ClearThinking
from inspector.policies.rules.clear_tool_outputs import STUB, ClearToolOutputs, DropOldOutputs
from inspector.policies.rules.collapse import Collapse
from inspector.policies.rules.dedupe_reads import DedupeReads
from inspector.policies.rules.drop_oldest_turns import DropOldestTurns
from inspector.policies.rules.drop_reasoning import DropReasoning
from inspector.policies.rules.keep_recent_turns import KeepRecentTurns
from inspector.policies.rules.spill_outputs import SpillOutputs, find_spilled, find_spills
from inspector.policies.rules.summarise_all import SummariseAll
from inspector.policies.rules.summarise_older import SummariseOlder
from inspector.policies.rules.truncate_outputs import TruncateOutputs, shorten
from inspector.policies.shorten import output_lengths, tool_of
from inspector.policies.table import FATES
from inspector.session.blocks import Block, Reasoning, Text, ToolCall, ToolOutput
from inspector.session.entries import Entry
from inspector.session.session import Session
from inspector.summaries.compaction import compact
from inspector.summaries.record import list_archived
from inspector.tokens.ledger import count_tokens
from inspector.wire.checks import check_context
from inspector.workbench.payloads.figures import list_figures
from tests.reference.stored import stored_context
from tests.strategies import sessions
from tests.test_checklist_s0 import blocks_of, chain, count, fates_of, model, plan_of, shown, talk, user
from tests.test_laws import LENGTH, calls_and_outputs

LONG = "one two three four five six seven eight"


def policy(*rules: Rule, **more: Any) -> Policy:
    return Policy(name="mine", rules=rules, **more)


def gave(call: str, text: str = LONG, **more: Any) -> ToolOutput:
    return ToolOutput(call_id=call, parts=(Text(text=text),), **more)


def use(call: str, name: str = "bash", text: str = LONG, **given: Any) -> list[Entry]:
    """A call and its output."""
    return [
        model(ToolCall(id=call, name=name, input=given or {"command": call})),
        Entry(id="", role="tool", blocks=(gave(call, text),)),
    ]


def fates(plan: Plan) -> list[str]:
    return [FATES[code] for code in plan.fate]


def texts(plan: Plan) -> list[str]:
    return [block.text for block in shown(build_context(plan.session, plan)) if block.kind == "tool_output"]


def figures_of(plan: Plan) -> dict[str, str]:
    return {figure.id: figure.lead + figure.words for figure in list_figures(plan)}


USES = chain(user("go"), *(entry for name in "abcde" for entry in use(name)), model(Text(text="done")))


# -- clear and drop tool outputs --------------------------------------------------------------------------


def test_all_but_the_newest_tool_uses_are_cleared_and_their_calls_stay() -> None:
    plan = plan_of(USES, policy(ClearToolOutputs(keep=3)))
    assert fates_of(plan, "tool_output") == ["cleared", "cleared", "verbatim", "verbatim", "verbatim"]
    assert set(fates_of(plan, "tool_call")) == {"verbatim"}
    assert texts(plan) == [STUB, STUB, LONG, LONG, LONG]
    assert plan.before - plan.after == 2 * (8 - 4)


def test_a_client_s_clearing_is_called_so_and_lasts_and_is_archived() -> None:
    plan, sent = (plan_of(USES, policy(rule)) for rule in (DropOldOutputs(keep=3), ClearToolOutputs(keep=3)))
    assert fates_of(plan, "tool_output")[:2] == fates_of(sent, "tool_output")[:2] == ["cleared", "cleared"]
    # What the provider clears in a request stands in the history; what the client clears is lost to it.
    assert (len(list_archived(plan)), list_archived(sent)) == (2, ())
    request, none = figures_of(sent), figures_of(plan)
    assert request["manifest"] == f"{sent.before:,} unchanged" and not none.keys() & {"manifest", "wire"}
    assert request["wire"] == f"{sent.after:,} in-flight edit: 2 blocks cleared, 8 less"
    both = figures_of(plan_of(USES, policy(DropOldOutputs(keep=4), ClearToolOutputs(keep=3))))
    assert "1 block cleared" in both["wire"], "of the two that are cleared, the provider clears one"
    idle = figures_of(plan_of(USES, policy(ClearToolOutputs(keep=9))))
    assert (idle["wire"], idle["prefix"]) == (f"{sent.before:,} as stored", "none")
    # The user's words and the first call stay before the first output that is cleared.
    assert request["prefix"].startswith("message 3, ")
    assert len(stored_context(USES, plan).pieces) == len(blocks_of(USES))
    assert [piece.block.text for piece in stored_context(USES, plan).pieces if piece.fate != "verbatim"] == [
        STUB,
        STUB,
    ]


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ({"trigger_tokens": 46}, 2),
        ({"trigger_tokens": 47}, 0),
        ({"trigger_uses": 4}, 2),
        ({"trigger_uses": 5}, 0),
    ],
)
def test_clearing_waits_for_more_than_its_own_trigger(own: dict[str, int], expected: int) -> None:
    assert count(USES).count_context() == 47
    plan = plan_of(USES, policy(ClearToolOutputs(keep=3, **own)))
    assert fates(plan).count("cleared") == expected


# -- reasoning --------------------------------------------------------------------------------------------


def test_S0_34_S0_35_older_reasoning_goes_and_text_and_calls_stay() -> None:
    session = talk(5)
    plan = plan_of(session, policy(KeepRecentTurns(turns=2), DropReasoning()))
    assert fates_of(plan, "reasoning") == ["dropped"] * 3 + ["verbatim"] * 2
    older = [block for block in blocks_of(session)[:18] if block.kind != "reasoning"]
    assert shown(build_context(session, plan))[:15] == older


def test_S0_35_a_message_of_nothing_but_reasoning_goes_whole_and_none_stands_empty() -> None:
    alone = model(Reasoning(text="hm", signature="s"))
    session = chain(user("a"), alone, model(Text(text="b")), user("c"), model(Text(text="d")))
    plan = plan_of(session, policy(KeepRecentTurns(turns=1), DropReasoning()))
    context = build_context(session, plan)
    assert [block.text for block in shown(context)] == ["a", "b", "c", "d"]
    assert check_context(context, awaits_user=True) == ()


def test_S0_33_only_reasoning_declared_disposable_is_dropped() -> None:
    def think(name: str, tool: str) -> list[Entry]:
        call = ToolCall(id=name, name=tool, input={"path": name})
        thought = Reasoning(text=f"about {name}", signature="s")
        return [model(thought, call), Entry(id="", role="tool", blocks=(gave(name),))]

    staged = [entry.model_copy(update={"extra": {"stage": "plan"}}) for entry in think("c", "bash")]
    session = chain(
        user("go"), *think("a", "read"), *think("b", "bash"), *staged, user("on"), model(Text(text="ok"))
    )
    window = KeepRecentTurns(turns=1)
    by_tool = plan_of(session, policy(window, DropReasoning(tools=("read",))))
    assert fates_of(by_tool, "reasoning") == ["dropped", "verbatim", "verbatim"]
    by_stage = plan_of(session, policy(window, DropReasoning(stages=("plan",))))
    assert fates_of(by_stage, "reasoning") == ["verbatim", "verbatim", "dropped"]


# -- windows, sizes, files --------------------------------------------------------------------------------


def test_S2_3_the_oldest_turns_are_absent_and_the_last_stand() -> None:
    session = talk(5)
    plan = plan_of(session, policy(DropOldestTurns(turns=2)))
    assert plan.place == 12
    assert session.live.opens[plan.place]
    assert shown(build_context(session, plan)) == blocks_of(session)[18:]
    assert plan_of(session, policy(DropOldestTurns(turns=5))).place is None


def test_S2_13_S2_14_snipped_turns_stay_stored_and_are_listed_as_dropped() -> None:
    session = talk(5)
    before = session.model_dump_json()
    plan = plan_of(session, policy(DropOldestTurns(turns=2)))
    assert fates(plan) == ["dropped"] * 18 + ["verbatim"] * 12
    assert len(plan.fate) == len(blocks_of(session))
    assert stored_context(session, plan) == live_context(session, plan.ledger)
    assert session.model_dump_json() == before


def test_S2_4_outputs_over_the_size_are_shortened_and_nothing_else_is() -> None:
    big = "x" * 500
    session = chain(user(big), *use("a", text=big), *use("b", text="x" * 100), model(Text(text=big)))
    plan = plan_of(session, policy(TruncateOutputs(limit=100)))
    assert fates(plan) == ["verbatim", "verbatim", "truncated", "verbatim", "verbatim", "verbatim"]
    short, whole = texts(plan)
    assert short == "x" * 69 + "\n[… 431 characters left out …]\n"
    assert (len(short), whole) == (100, "x" * 100)


@given(st.text(max_size=400), st.integers(0, 300), st.sampled_from(["head", "head+tail"]))
def test_shortening_never_grows_a_text_and_is_done_once(text: str, limit: int, form: Any) -> None:
    short = shorten(text, limit, form)
    assert len(short) <= len(text)
    assert shorten(short, limit, form) == short
    if len(text) > limit > 50:
        assert len(short) <= limit
    head = short.partition("\n[…")[0]
    assert text.startswith(head)


def truncated_to(limit: int, form: str = "head") -> Policy:
    return policy(TruncateOutputs.model_validate({"limit": limit, "form": form}))


def outputs_of(session: Session) -> list[str]:
    """The tools' words as they stand in the session's context."""
    blocks = shown(live_context(session, count(session)))
    return [block.text for block in blocks if isinstance(block, ToolOutput)]


@pytest.mark.parametrize("later", [0, 40, 60, 400, 10_000])
@pytest.mark.parametrize("form", ["head", "head+tail"])
def test_S2_16_a_truncation_is_decided_once_for_a_call_whatever_the_limit_is_later(
    later: int, form: str
) -> None:
    session = chain(user("go"), *use("a", text="x" * 500), *use("b", text="y" * 90), model(Text(text="ok")))
    first = compact(session, truncated_to(100, form), ledger=count(session))
    cut, whole = outputs_of(first.after)
    assert (len(cut), whole) == (100, "y" * 90)
    # More of the session comes, and the limit is another one: only what is new is decided by it.
    more = first.after
    for entry in (*use("c", text="z" * 500), model(Text(text="so"))):
        added = entry.model_copy(update={"id": f"n{len(more.entries)}", "parent": more.leaf})
        more = more.with_entries((*more.entries, added), added.id)
    second = compact(more, truncated_to(later, form), ledger=count(more))
    again = outputs_of(second.after)
    assert again[0] == cut
    assert (len(again[2]) < 500) == (later < 500)
    # What the second decided stands after a third too, and a written session remembers it.
    kept = read_session(dump_manifest(second.after).encode(), "kept")
    third = compact(kept, truncated_to(70, form), ledger=count(kept))
    final = outputs_of(third.after)
    assert final[0] == cut
    assert final[2] == again[2] or later > 500


def many(*sizes: int, tool: str = "bash") -> Session:
    """One reply that calls several tools, each output a record of its own."""
    calls = [ToolCall(id=f"c{at}", name=tool, input={}) for at in range(len(sizes))]
    outputs = [
        Entry(id="", role="tool", blocks=(gave(f"c{at}", f"{at}" * size),)) for at, size in enumerate(sizes)
    ]
    return chain(user("go"), model(*calls), *outputs, model(Text(text="done")))


def spilling(session: Session, **knobs: Any) -> tuple[SpillOutputs, Plan]:
    rule = SpillOutputs(**{"budget": 2_000, "preview": 50} | knobs)
    return rule, plan_of(session, policy(rule))


def test_S2_47_outputs_each_under_but_together_over_are_spilled_largest_first_until_under() -> None:
    rule, plan = spilling(many(900, 1_200, 800))
    assert fates_of(plan, "tool_output") == ["verbatim", "pointer", "verbatim"]
    assert sum(len(text) for text in texts(plan)) <= rule.budget
    assert fates_of(spilling(many(900, 1_000, 100))[1], "tool_output") == ["verbatim"] * 3


def test_S2_47_another_message_has_a_budget_of_its_own() -> None:
    session = chain(
        user("go"), *use("a", text="a" * 1_500), *use("b", text="b" * 1_500), model(Text(text="ok"))
    )
    assert fates_of(spilling(session)[1], "tool_output") == ["verbatim"] * 2


def test_S2_49_path_and_preview_stand_and_the_file_is_to_hold_all_of_it() -> None:
    rule, plan = spilling(many(900, 1_200, 800))
    (spill,) = find_spills(rule, plan.table)
    (pointer,) = [text for text in texts(plan) if spill.path in text]
    assert (spill.call_id, spill.text) == ("c1", "1" * 1_200)
    assert spill.sha256 == sha256(b"1" * 1_200).hexdigest()
    assert pointer.endswith("\n" + "1" * 50)
    assert "1,200 characters" in pointer


def test_S2_50_outputs_of_exempt_tools_are_untouched_and_do_not_count() -> None:
    assert fates_of(spilling(many(5_000, 5_000, tool="Read"))[1], "tool_output") == ["verbatim"] * 2
    mixed = many(1_900, 1_900)
    read = ToolCall(id="c1", name="Read", input={})
    entry = mixed.entries[1]
    session = chain(mixed.entries[0], model(entry.blocks[0], read), *mixed.entries[2:])
    assert fates_of(spilling(session)[1], "tool_output") == ["verbatim"] * 2


# -- views and pointers -----------------------------------------------------------------------------------


def test_S2_7_older_turns_are_segments_that_fold_and_unfold_one_by_one() -> None:
    session = chain(*(e for n in range(4) for e in [user("word " * 90), *use(f"c{n}", text="x" * 400)]))
    rule = Collapse(turns=2, shown=40)
    plan = plan_of(session, policy(rule))
    # A call is never folded.
    assert [(s.turn, [str(ref) for ref in s.refs]) for s in plan.segments] == [
        (1, ["e0/0", "e2/0"]),
        (2, ["e3/0", "e5/0"]),
    ]
    assert fates(plan) == ["truncated", "verbatim", "truncated"] * 2 + ["verbatim"] * 6
    opened = plan_of(session, policy(rule), settings={"collapse.expanded": [1]})
    assert shown(build_context(session, opened))[:3] == blocks_of(session)[:3]
    assert fates(opened)[3:6] == ["truncated", "verbatim", "truncated"]


def test_S2_19_S2_20_folding_is_a_view_and_without_its_ledger_the_originals_stand() -> None:
    session = talk(6)
    before = session.model_dump_json()
    plan = plan_of(session, policy(Collapse(turns=2, shown=0)))
    assert [segment.turn for segment in plan.segments] == [1, 2, 3, 4]
    assert plan.after < plan.before
    assert stored_context(session, plan) == live_context(session, plan.ledger)
    assert session.model_dump_json() == before
    without = plan_of(session, policy(Collapse(turns=2, shown=0, enabled=False)))
    assert shown(build_context(session, without)) == blocks_of(session)
    assert without.segments == ()


# -- summaries --------------------------------------------------------------------------------------------


def test_S0_30_a_summary_for_each_older_turn_is_an_ordinary_text_message_each() -> None:
    session = talk(5)
    rules = policy(KeepRecentTurns(turns=2), SummariseOlder(per="turn", split_turns=False))
    plan = plan_of(session, rules)
    pieces = build_context(session, plan).pieces
    summaries = [piece for piece in pieces if piece.fate == "summarised"]
    assert [piece.block.kind for piece in summaries] == ["text"] * 3
    assert len({piece.message for piece in summaries}) == 3
    assert [piece.origin[0].entry for piece in summaries] == ["e0", "e4", "e8"]
    assert fates(plan)[:18] == ["summarised"] * 18


def test_S2_5_the_whole_conversation_becomes_one_summary_by_one_call() -> None:
    session = talk(4)
    plan = plan_of(session, policy(SummariseAll()))
    assert set(fates(plan)) == {"summarised"}
    assert len(plan.jobs) == 1
    assert len(build_context(session, plan).pieces) == 1
    assert plan_of(chain(user("hi")), policy(SummariseAll(above=100))).place is None


# -- laws -------------------------------------------------------------------------------------------------

ANY = st.one_of(
    st.builds(ClearToolOutputs, keep=st.integers(0, 3), clear_inputs=st.booleans()),
    st.builds(DropOldOutputs, keep=st.none() | st.integers(0, 3)),
    st.builds(ClearThinking, keep=st.integers(1, 3)),
    st.builds(DropReasoning),
    st.builds(DropOldestTurns, turns=st.integers(1, 4)),
    st.builds(TruncateOutputs, limit=st.integers(0, 800), form=st.sampled_from(["head", "head+tail"])),
    st.builds(SpillOutputs, budget=st.integers(0, 900), preview=st.integers(0, 200)),
    st.builds(Collapse, turns=st.integers(1, 3), shown=st.integers(0, 300)),
    st.builds(DedupeReads),
)


def lived(session: Session, plan: Plan) -> Session:
    """The session with what the plan leaves as its own history."""
    messages: dict[int, list[Block]] = {}
    roles: dict[int, str] = {}
    for piece in build_context(session, plan).pieces:
        messages.setdefault(piece.message, []).append(piece.block)
        roles[piece.message] = piece.role
    entries = [Entry(id="", role=roles[at], blocks=tuple(blocks)) for at, blocks in messages.items()]
    return chain(*entries) if entries else chain(user("nothing"))


@given(sessions(), st.lists(ANY, max_size=4, unique_by=lambda rule: rule.kind), st.booleans())
def test_no_rule_makes_a_context_larger_or_parts_a_pair(
    session: Session, rules: list[Rule], staged: bool
) -> None:
    stages = tuple(Stage(name=rule.kind, rules=(rule.kind,)) for rule in rules) if staged else ()
    ledger = count_tokens(session, LENGTH)
    plan = make_plan(session, ledger, policy(KeepRecentTurns(turns=1), *rules, stages=stages), window=10_000)
    assert (plan.outcome.tokens <= plan.table.tokens).all()
    calls, outputs = calls_and_outputs(build_context(session, plan))
    assert calls == outputs


@given(sessions(orderly=True), ANY)
def test_a_rule_has_nothing_left_to_do_on_what_it_left(session: Session, rule: Rule) -> None:
    assume(not session.live.cleared.any())  # an output that history emptied is one like any other there
    rules = policy(KeepRecentTurns(turns=1), rule)
    plan = make_plan(session, count_tokens(session, LENGTH), rules, window=10_000)
    after = lived(session, plan)
    again = make_plan(after, count_tokens(after, LENGTH), rules, window=10_000)
    if not isinstance(rule, DropOldestTurns | DropReasoning):
        assert again.after == again.before
    assert again.after <= again.before


@given(sessions())
def test_lengths_are_those_of_the_outputs_as_they_stand(session: Session) -> None:
    table = make_plan(session, count_tokens(session, LENGTH), policy(), window=10_000).table
    lengths = output_lengths(table)
    for row in range(len(lengths)):
        block = table.block(row)
        assert lengths[row] == (len(block.text) if block.kind == "tool_output" else 0)
        if block.kind == "tool_call":
            assert tool_of(table, row) == block.name
    assert not find_spilled(SpillOutputs(budget=10**9), table)[0].any()
