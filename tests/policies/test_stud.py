"""The stud-cli profiles: what core compacts and keeps, its modes, and what the wire does beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given

from inspector.errors import PolicyError
from inspector.files import open_session, save_plan, save_session
from inspector.planning.assemble import build_context, live_context
from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.planning.summary_jobs import Checkpoint, SummaryJob
from inspector.policies.base_rule import Rule
from inspector.policies.builtin.claude_code_analysis import CLAUDE_CODE_ANALYSIS
from inspector.policies.builtin.stud import STUD_DETERMINISTIC, STUD_WIKI
from inspector.policies.core import CONTRACT
from inspector.policies.policy import Policy
from inspector.policies.registry import add_policy, find_policy, swap_tool
from inspector.policies.rules import add_rule
from inspector.policies.table import FATES, Decision, Table
from inspector.replays.engine import replay
from inspector.replays.run import Run
from inspector.session.blocks import Text
from inspector.session.entries import Provided
from inspector.session.queries import without_reasoning
from inspector.session.session import Session
from inspector.summaries.compaction import compact
from inspector.summaries.record import stored_part
from inspector.summaries.write import summarise
from inspector.tokens.ledger import count_tokens
from inspector.wire.context_management import context_management
from inspector.workbench.payloads.base_payload import to_json
from inspector.workbench.payloads.scene import draw_plan
from inspector.workbench.payloads.sections import ALL_SECTIONS
from tests.reference.context_management import read_context_management, with_context_management
from tests.reference.stored import stored_context
from tests.strategies import sessions
from tests.test_checklist_s0 import asked, blocks_of, chain, count, fates_of, plan_of, shown, talk, turn
from tests.test_laws import LENGTH

BOTH = {"clear_thinking": {"keep": {"type": "thinking_turns", "value": 1}}, "clear_tool_uses": True}
WRITTEN = Checkpoint(text="what happened so far")
LONG = "the whole of a long file with many words"


def heard(turns: int, **more: Any) -> Session:
    """Turns whose outputs are longer than what stands for them when they go."""
    return chain(*(entry for n in range(turns) for entry in turn(n, output=f"{LONG} {n}")), **more)


def with_both(keep: int = 1) -> Policy:
    rules = read_context_management(
        {**BOTH, "clear_tool_uses": {"trigger": {"type": "tool_uses", "value": 0}}}
    )
    return with_context_management(STUD_WIKI, rules).configured({"clear-tool-outputs.keep": keep})


def fates(plan: Plan) -> list[str]:
    return [FATES[code] for code in plan.fate]


# -- the profile ------------------------------------------------------------------------------------------


def test_S0_1_the_profile_names_its_contract_in_the_plan_and_in_what_is_exported(tmp_path: Path) -> None:
    session = talk(6)
    plan = plan_of(session, "stud-wiki-1.1")
    assert plan.spec_json["contract"] == "Compaction and Memory 1.1.0"
    assert "contractVersion 1.1.0" in draw_plan(plan).payload.policy_source
    save_plan(plan, tmp_path / "mine.plan.json")
    saved = json.loads((tmp_path / "mine.plan.json").read_text("utf-8"))
    assert saved["policy"]["contract"] == "Compaction and Memory 1.1.0"
    again = make_plan(session, plan.ledger, **plan.spec_json)
    assert again.spec_json == plan.spec_json
    assert "contract" not in plan_of(session, "flue").spec_json
    with pytest.raises(PolicyError, match="was requested, but this policy keeps none"):
        make_plan(session, plan.ledger, **{**plan.spec_json, "policy": "stud-merged"})


def told(**more: Any) -> dict[str, Any]:
    """The profile's JSON as it is written by hand, with more keys."""
    return {"name": "mine", "trigger": {"ratio": 0.8, "measure": "assembled", "check": "request"}, **more}


def replayed(session: Session, policy: Any) -> Run:
    return replay(session, policy, ledger=count(session), window=120)


def test_S0_25_S0_44_S0_116_a_replay_sends_reasoning_or_withholds_it_from_every_request() -> None:
    session = talk(12)
    sends, withholds = (replayed(session, told(sendReasoning=value)) for value in (True, False))
    never = replayed(without_reasoning(session), told())
    assert withholds.sent.tolist() == never.sent.tolist() != sends.sent.tolist()
    assert len(sends.compactions) > 0 < len(withholds.compactions)
    completed = [[e.data for e in run.events if e.kind == "completed"] for run in (sends, withholds)]
    assert all("retention" in data for data in completed[0])
    assert not any("retention" in data for data in completed[1])
    assert "reasoning_downgraded" in {event.kind for event in sends.events}
    assert "reasoning_downgraded" not in {event.kind for event in withholds.events}


def test_S0_25_S0_116_what_is_recorded_holds_none() -> None:
    session = talk(6)
    done = compact(session, told(sendReasoning=False), WRITTEN, ledger=count(session))
    assert [block.kind for block in blocks_of(done.after)].count("reasoning") == 0
    assert blocks_of(done.after)[1:] == [b for b in blocks_of(session)[12:] if b.kind != "reasoning"]
    sent = compact(session, told(), WRITTEN, ledger=count(session))
    assert blocks_of(sent.after)[1:] == blocks_of(session)[12:]


def test_S0_55_S0_57_with_both_surfaces_on_the_session_goes_on_and_is_planned() -> None:
    session = heard(12)
    run = replay(session, with_both(), ledger=count(session), window=200)
    kinds = [event.kind for event in run.events]
    assert kinds[0] == "double_configured"
    assert kinds.count("double_configured") == 1
    assert run.status == "finished"
    assert len(run.adopted) > 0
    assert int(run.turn[run.entry >= 0][-1]) == 11
    assert plan_of(session, with_both()).place == 8 * 4


def test_S0_42_S0_118_by_default_reasoning_is_verbatim_in_the_window_and_written_up_beyond() -> None:
    plan = plan_of(talk(7), STUD_WIKI)
    assert fates_of(plan, "reasoning") == ["summarised"] * 3 + ["verbatim"] * 4
    told_all = asked(plan)
    assert [f"thought {n}" in told_all for n in range(7)] == [True] * 3 + [False] * 4


def test_S0_43_one_switch_drops_reasoning_beyond_the_window_and_changes_nothing_else() -> None:
    session = talk(7)
    plain, strict = plan_of(session, STUD_WIKI), plan_of(session, STUD_WIKI.in_mode("drop-reasoning"))
    assert fates_of(strict, "reasoning") == ["dropped"] * 3 + ["verbatim"] * 4
    others = [row for row, block in enumerate(blocks_of(session)) if block.kind != "reasoning"]
    assert [fates(strict)[row] for row in others] == [fates(plain)[row] for row in others]


PER_TURN = {"summarise-older.per": "turn"}


def turn_summariser(job: SummaryJob, session: Session) -> str:
    """Names the entries it was asked to write up; with a blank line in it, as models write."""
    return f"Of {job.entries[0]} to {job.entries[-1]}:\n\nall is well."


def test_S0_30_S0_121_a_written_summary_is_one_text_message_for_each_older_turn() -> None:
    session = talk(7)
    plan = plan_of(session, STUD_WIKI, settings=PER_TURN)
    checkpoint = summarise(plan, turn_summariser)
    said = [f"Of e{4 * n} to e{4 * n + 3}:\n\nall is well." for n in range(3)]
    pieces = build_context(session, plan, checkpoint).pieces
    older = [piece for piece in pieces if piece.fate == "summarised"]
    assert [(piece.role, piece.block) for piece in older] == [("user", Text(text=text)) for text in said]
    assert len({piece.message for piece in older}) == 3
    assert [{ref.entry for ref in piece.origin} for piece in older] == [
        {f"e{i}" for i in range(4 * n, 4 * n + 4)} for n in range(3)
    ]
    assert [piece.block for piece in pieces[3:]] == blocks_of(session)[18:]
    adopted = plan.with_summary(checkpoint)
    assert build_context(session, adopted).tokens == adopted.after


# -- modes ------------------------------------------------------------------------------------------------


def test_S0_75_the_deterministic_mode_drops_older_outputs_and_keeps_all_else() -> None:
    session = heard(6)
    plan = plan_of(session, STUD_DETERMINISTIC)
    assert fates_of(plan, "tool_output") == ["cleared"] * 2 + ["verbatim"] * 4
    for kind in ("text", "reasoning", "tool_call"):
        assert set(fates_of(plan, kind)) == {"verbatim"}
    assert plan.jobs == ()
    again = plan_of(Session.model_validate(session.model_dump()), STUD_DETERMINISTIC)
    assert build_context(again.session, again) == build_context(session, plan)


EFFECTS: dict[Any, dict[str, set[str]]] = {
    "summarise": {"reasoning": {"summarised"}, "tool_output": {"summarised"}, "text": {"summarised"}},
    "drop-reasoning": {"reasoning": {"dropped"}, "tool_output": {"summarised"}, "text": {"summarised"}},
    "drop-old-outputs": {"reasoning": {"verbatim"}, "tool_output": {"cleared"}, "text": {"verbatim"}},
}
"""What each mode makes of the blocks of a turn that is older than the window."""


@pytest.mark.parametrize("mode", EFFECTS)
def test_S0_76_S0_78_the_mode_is_a_key_of_the_profile_and_selecting_one_has_its_effect(mode: Any) -> None:
    session = heard(6)
    written = {**STUD_WIKI.model_dump(mode="json"), "name": "mine", "mode": mode}
    for data in (written, {"name": "mine", "mode": mode}):
        plan = plan_of(session, data)
        older = list(zip(blocks_of(session)[:12], fates(plan), strict=False))
        told = {kind: {fate for block, fate in older if block.kind == kind} for kind in EFFECTS[mode]}
        assert told == EFFECTS[mode]
        assert set(fates(plan)[12:]) == {"verbatim"}
        assert plan.deterministic == (mode == "drop-old-outputs")
    # The rules say it too, so that what was dumped is read as it was.
    policy = plan_of(session, written).policy
    assert policy.mode == mode
    assert find_policy(policy.model_dump(mode="json")) == policy
    assert policy.contract == CONTRACT


def test_S0_78_neither_is_forced_both_plan_the_same_session() -> None:
    session = heard(6)
    plans = [plan_of(session, name) for name in ("stud-wiki-1.1", "stud-wiki-deterministic")]
    assert [(plan.policy.mode, plan.summarises, plan.place) for plan in plans] == [
        ("summarise", True, 8),
        ("drop-old-outputs", False, 8),
    ]


def test_S0_77_what_the_deterministic_mode_loses_is_handed_out_by_type_and_that_it_is_deterministic() -> None:
    lost = {}
    for policy in (STUD_DETERMINISTIC, STUD_WIKI):
        drawn = to_json(draw_plan(plan_of(heard(6), policy)).payload)
        before, after = drawn["before"]["sections"], drawn["after"]["sections"]
        (same,) = (figure["words"] for figure in drawn["figures"] if figure["id"] == "deterministic")
        lost[same.startswith("yes")] = {
            name: b - a for name, b, a in zip(ALL_SECTIONS, before, after, strict=True) if b > a
        }
        assert sum(after) == drawn["after"]["total"]
    # Two older outputs of ten words, of each of which the call's name, four words, is left.
    assert lost[True] == {"tool_output": 2 * (10 - 4)}
    assert {"user", "assistant", "reasoning", "tool_call", "tool_output"} <= set(lost[False])


def test_S0_19_with_a_target_that_outputs_meet_no_message_is_touched() -> None:
    session = heard(6)
    policy = STUD_WIKI.in_mode("outputs-first")
    enough = plan_of(session, policy, settings={"target.tokens": count(session).count_context() - 12})
    assert set(fates_of(enough, "text")) == {"verbatim"}
    assert fates_of(enough, "tool_output")[:2] == ["cleared"] * 2
    assert [(stage.name, stage.ran) for stage in enough.stages] == [("outputs", True), ("summary", False)]
    more = plan_of(session, policy, settings={"target.tokens": 10})
    assert fates(more)[:12] == ["summarised"] * 12


# -- who may replace what ---------------------------------------------------------------------------------


def replacements() -> dict[str, Policy]:
    """Ways to let something else compact than core, and go on calling it the profile."""
    fields: dict[str, dict[str, Any]] = {
        "another tool": {"harness": STUD_WIKI.harness.model_copy(update={"engine": "tool"})},
        "nothing": {"harness": STUD_WIKI.harness.model_copy(update={"engine": "none"})},
        "other rules": {
            "rules": CLAUDE_CODE_ANALYSIS.rules,
            "stages": CLAUDE_CODE_ANALYSIS.stages,
            "mode": None,
        },
        "no summary": {"rules": STUD_WIKI.rules[:-1], "mode": None},
    }
    return {name: STUD_WIKI.model_copy(update=update) for name, update in fields.items()}


@pytest.mark.parametrize("how", replacements())
@pytest.mark.parametrize("name", ["stud-wiki-1.1", "mine"])
def test_S0_4_S0_68_who_lets_something_else_compact_loses_the_claim_under_whatever_name(
    how: str, name: str
) -> None:
    session = talk(6)
    before = fates(plan_of(session, "stud-wiki-1.1"))
    copy = replacements()[how].model_copy(update={"name": name})
    for given_policy in (copy, copy.model_dump(mode="json")):
        plan = plan_of(session, given_policy)
        assert plan.policy.contract == ""
        assert "contract" not in plan.spec_json
        assert "1.1.0" not in plan.policy.title
        assert any("no longer keeps the contract" in note for note in plan.notes)
        assert "no longer keeps" in draw_plan(plan).payload.policy_source
        assert "no longer keeps" in replay(session, given_policy, ledger=count(session)).policy.source
    assert fates(plan_of(session, "stud-wiki-1.1")) == before


def test_S0_4_S0_68_core_compaction_cannot_be_replaced_through_any_door() -> None:
    session = talk(6)
    before = fates(plan_of(session, "stud-wiki-1.1"))
    swapped = swap_rules(STUD_WIKI)
    with pytest.raises(PolicyError, match="a built-in policy has this name"):
        add_policy(swapped)
    with pytest.raises(PolicyError, match="cannot be replaced under Compaction and Memory"):
        plan_of(session, "stud-wiki-1.1", settings={"harness.engine": "tool"})
    with pytest.raises(PolicyError, match="cannot be replaced"):
        swap_tool(STUD_WIKI, f"tool:{STUD_DETERMINISTIC.name}")

    class Mine(Rule):
        kind: Literal["summarise-older"] = "summarise-older"

        def decide(self, table: Table) -> Decision:
            return Decision()

    with pytest.raises(PolicyError, match="a built-in kind of rule has this name"):
        add_rule(Mine)
    assert fates(plan_of(session, "stud-wiki-1.1")) == before
    # What may be set keeps the claim: how much stays, the mode, what the provider edits beside it.
    for policy in (STUD_WIKI.configured({"keep-recent-turns.turns": 2}), STUD_DETERMINISTIC, with_both()):
        assert plan_of(session, policy).policy.contract == CONTRACT


def swap_rules(policy: Policy) -> Policy:
    """The profile with another's way to compact under its own name."""
    update = {
        "rules": CLAUDE_CODE_ANALYSIS.rules,
        "stages": CLAUDE_CODE_ANALYSIS.stages,
        "target": CLAUDE_CODE_ANALYSIS.target,
    }
    return policy.model_copy(update=update)


# -- two surfaces -----------------------------------------------------------------------------------------


def test_S0_36_nothing_is_cleared_at_the_wire_unless_it_is_configured() -> None:
    session = heard(7)
    assert "cleared" not in fates(plan_of(session, STUD_WIKI))
    plan = plan_of(session, with_both())
    assert fates_of(plan, "tool_output") == ["summarised"] * 3 + ["cleared"] * 3 + ["verbatim"]
    assert fates_of(plan, "reasoning") == ["summarised"] * 3 + ["cleared"] * 3 + ["verbatim"]
    assert "cleared" not in {piece.fate for piece in stored_context(session, plan).pieces}


def test_S0_37_S0_51_the_manifest_is_core_s_and_the_request_is_another_artifact() -> None:
    session = heard(7)
    plan, core = plan_of(session, with_both()), plan_of(session, STUD_WIKI)
    assert stored_context(session, plan) == build_context(session, core)
    assert build_context(session, plan) != build_context(session, core)


def test_S0_38_only_core_makes_a_new_manifest() -> None:
    session = heard(7)
    wire = with_both().with_rules(lambda rule: rule.wire)
    plan = plan_of(session, wire)
    assert "cleared" in fates(plan)
    assert stored_context(session, plan) == live_context(session, plan.ledger)
    nothing = compact(session, wire, WRITTEN, ledger=count(session))
    assert not nothing.done
    assert nothing.after is session
    # With both, what is stored is core's to the block, and what the wire cleared stands in it whole.
    both = compact(session, with_both(), WRITTEN, ledger=count(session))
    core = compact(session, STUD_WIKI, WRITTEN, ledger=count(session))
    assert blocks_of(both.after) == blocks_of(core.after)
    assert blocks_of(both.after)[1:] == blocks_of(session)[18:]
    assert "cleared" in fates(both.plan)[18:]


def test_S0_38_what_a_wire_edit_leaves_is_never_saved(tmp_path: Path) -> None:
    session = heard(7)
    files = []
    for name, policy in (("both", with_both()), ("core", STUD_WIKI)):
        done = compact(session, policy, WRITTEN, ledger=count(session))
        path = tmp_path / f"{name}.json"
        save_session(done.after, path)
        again = open_session(path)
        files.append([block.text for block in blocks_of(again)])
    assert files[0] == files[1]
    assert sum(text.startswith(LONG) for text in files[0]) == 4


def test_S0_48_S0_109_where_both_would_decide_a_block_core_does() -> None:
    session = heard(7)
    both, core = fates(plan_of(session, with_both())), fates(plan_of(session, STUD_WIKI))
    assert [(mine, its) for mine, its in zip(both, core, strict=True) if mine != its] == [
        ("cleared", "verbatim")
    ] * 6


def test_S0_49_S0_50_the_wire_is_edited_in_each_of_three_turns_and_the_manifest_in_none() -> None:
    wire = with_both().with_rules(lambda rule: rule.wire)
    manifests, cleared = [], []
    for turns in (5, 6, 7):
        session = heard(turns)
        plan = plan_of(session, wire)
        manifests.append(stored_context(session, plan) == live_context(session, plan.ledger))
        cleared.append(fates(plan).count("cleared"))
    assert manifests == [True] * 3
    assert cleared == [8, 10, 12]


def test_S0_45_S0_52_with_core_active_the_request_still_carries_context_management() -> None:
    policy = with_context_management(STUD_WIKI, read_context_management(BOTH))
    assert context_management(STUD_WIKI) is None
    management = context_management(policy)
    assert management is not None
    assert [edit["type"] for edit in management["edits"]] == [
        "clear_thinking_20251015",
        "clear_tool_uses_20250919",
    ]


def test_S0_99_core_and_wire_on_one_entry_are_told_and_the_plan_is_core_s() -> None:
    policy = with_both()
    assert policy.is_double and not STUD_WIKI.is_double
    session = heard(7)
    assert fates(stored_part(plan_of(session, policy))) == fates(plan_of(session, STUD_WIKI))


@given(sessions())
def test_S0_37_no_edit_at_the_wire_ever_reaches_the_manifest(session: Session) -> None:
    ledger = count_tokens(session, LENGTH)
    both = make_plan(session, ledger, with_both(), window=10_000)
    core = make_plan(session, ledger, STUD_WIKI, window=10_000)
    stored = stored_context(session, both)
    if core.place is not None:
        assert stored == build_context(session, core)
    else:
        assert stored == live_context(session, ledger)


# -- what is never compacted ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["stud-wiki-1.1", "stud-wiki-deterministic", "stud-warning", "stud-merged"])
@pytest.mark.parametrize("turns", [0, 1, 4, 10])
def test_S0_16_S0_17_S0_22_S0_29_system_window_and_provided_context_stay_to_the_byte(
    name: str, turns: int
) -> None:
    session = heard(8, system=(Text(text="be brief"),), provided=(Provided(name="clock", text="noon"),))
    plan = plan_of(session, name, settings={"keep-recent-turns.turns": turns})
    context = build_context(session, plan)
    assert context.system is session.system
    assert context.provided is session.provided
    kept = 6 * min(turns, 8)
    if kept:
        assert shown(context)[-kept:] == blocks_of(session)[-kept:]
