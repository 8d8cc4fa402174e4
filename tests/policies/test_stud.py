"""The stud-cli profiles: what core compacts and keeps, its modes, and what the wire does beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given

from inspector.demo import open_demo
from inspector.errors import PolicyError
from inspector.files import open_session, save_plan, save_session
from inspector.formats.manifest import dump_manifest
from inspector.formats.readers import read_session
from inspector.planning.assemble import build_context, live_context
from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.planning.summary_jobs import CAME_WHOLE, Checkpoint, SummaryJob
from inspector.policies.base_rule import Rule
from inspector.policies.builtin.claude_code import CLAUDE_CODE
from inspector.policies.builtin.stud import STUD_DETERMINISTIC, STUD_MERGED, STUD_WARNING, STUD_WIKI
from inspector.policies.core import CONTRACT, SWITCHES, core_rules, keeps_contract
from inspector.policies.harness import lint
from inspector.policies.policy import Edits, Policy, Stage
from inspector.policies.registry import add_policy, find_policy, swap_tool
from inspector.policies.rules import add_rule
from inspector.policies.table import FATES, Decision, Table
from inspector.replays.engine import replay
from inspector.replays.run import Run
from inspector.session.blocks import Text, ToolCall
from inspector.session.entries import Entry, Provided
from inspector.session.queries import without_reasoning
from inspector.session.session import Session
from inspector.summaries.compaction import compact
from inspector.summaries.record import (
    append_checkpoint,
    split_policy,
    stored_context,
    stored_part,
)
from inspector.summaries.write import summarise
from inspector.tokens.ledger import count_tokens
from inspector.wire.context_management import context_management
from inspector.workbench.payloads.base_payload import to_json
from inspector.workbench.payloads.scene import draw_plan
from inspector.workbench.payloads.sections import ALL_SECTIONS
from tests.reference.context_management import read_context_management, with_context_management
from tests.strategies import sessions
from tests.test_checklist_s0 import (
    asked,
    blocks_of,
    chain,
    count,
    fates_of,
    grow,
    plan_of,
    shown,
    talk,
    turn,
)
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
    with pytest.raises(PolicyError, match=r"asked for, and it keeps none"):
        make_plan(session, plan.ledger, **{**plan.spec_json, "policy": "stud-merged"})


@pytest.mark.parametrize(
    ("policy", "mode", "engine", "shares", "turns"),
    [
        (STUD_WIKI, "auto", "core", (None, 0.8, None), 4),
        (STUD_WARNING, "manual", "tool:context-compaction", (0.8, None, 0.95), 2),
        (STUD_MERGED, "ask", "core", (0.8, 0.8, 0.95), 4),
    ],
)
def test_S0_12_S0_24_S1_4_the_defaults_are_those_of_the_pages(
    policy: Policy, mode: str, engine: str, shares: tuple[float | None, ...], turns: int
) -> None:
    conduct, trigger = policy.harness, policy.trigger
    assert (conduct.mode, conduct.engine) == (mode, engine)
    assert (conduct.warn, trigger.ratio if trigger.enabled else None, conduct.require) == shares
    assert [r.turns for r in policy.rules if r.kind == "keep-recent-turns"] == [turns]
    assert lint(policy.name, conduct, trigger.ratio) == ()


def test_S0_12_core_compacts_from_80_percent_of_the_window_on() -> None:
    assert [STUD_WIKI.trigger.fires(size, 10_000) for size in (7_999, 8_000)] == [False, True]
    assert not STUD_WARNING.trigger.fires(10_000, 10_000)


def told(**more: Any) -> dict[str, Any]:
    """The profile's JSON as it is written by hand, with more keys."""
    return {"name": "mine", "trigger": {"ratio": 0.8, "measure": "assembled", "check": "request"}, **more}


def replayed(session: Session, policy: Any) -> Run:
    return replay(session, policy, ledger=count(session), window=120)


def test_S0_25_S0_116_reasoning_is_sent_unless_the_profile_says_that_it_is_not() -> None:
    session = talk(6)
    fates_told = ["summarised"] * 2 + ["verbatim"] * 4
    for data in (told(), told(sendReasoning=True), told(harness={"send_reasoning": True}), STUD_WIKI):
        assert fates_of(plan_of(session, data), "reasoning") == fates_told
    for data in (told(sendReasoning=False), told(harness={"send_reasoning": False})):
        plan = plan_of(session, data)
        kept = build_context(session, plan)
        assert [piece.block.kind for piece in kept.pieces].count("reasoning") == 0
        assert kept.tokens == plan.after
        assert {plan.rule_of(row) for row, b in enumerate(blocks_of(session)) if b.kind == "reasoning"} == {
            "withheld"
        }
        assert any("6 blocks of it in the file, none in the context" in note for note in plan.notes)
        assert plan.before == plan_of(without_reasoning(session), told()).before
        told_all = asked(plan)
        assert "question 0" in told_all
        assert "thought" not in told_all


def test_S0_25_S0_116_a_setting_does_the_same_and_no_pin_brings_reasoning_back() -> None:
    session = talk(6)
    plan = plan_of(session, STUD_WIKI, settings={"harness.send_reasoning": False}, pins=("e1", "e21"))
    context = build_context(session, plan)
    assert "reasoning" not in {piece.block.kind for piece in context.pieces}
    assert Text(text="looking 0") in shown(context)
    with pytest.raises(PolicyError, match="send_reasoning"):
        plan_of(session, told(sendReasoning="perhaps"))


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


def test_S0_44_without_reasoning_nothing_else_is_decided_otherwise() -> None:
    session = talk(6)
    bare = without_reasoning(session)
    kinds = [block.kind for block in blocks_of(session)]
    mine = fates(plan_of(session, STUD_WIKI))
    said = [fate for fate, kind in zip(mine, kinds, strict=True) if kind != "reasoning"]
    assert fates(plan_of(bare, STUD_WIKI)) == said


def test_S0_44_what_is_told_of_a_compaction_has_no_breakdown_where_nobody_reasoned() -> None:
    runs = [replayed(session, STUD_WIKI) for session in (talk(12), without_reasoning(talk(12)))]
    told_of = [[e.data for e in run.events if e.kind == "completed"] for run in runs]
    assert all(told_of)
    assert {"retention" in data for data in told_of[0]} == {True}
    assert {"retention" in data for data in told_of[1]} == {False}
    assert "reasoning_downgraded" not in {event.kind for event in runs[1].events}


@pytest.mark.parametrize("data", [{"name": "mine"}, {"name": "mine", "harness": {}}])
def test_S0_56_an_empty_profile_compacts_by_itself_once_the_window_fills(data: dict[str, Any]) -> None:
    session = talk(12)
    low = replay(session, data, ledger=count(session), window=1_000)
    assert low.compactions == ()
    run = replay(session, data, ledger=count(session), window=120)
    assert {(item.reason, item.adopted) for item in run.compactions} == {("auto", True)}
    first = run.compactions[0]
    assert first.before >= 0.8 * 120 > run.sent[: first.step].max()
    assert make_plan(session, count(session), data, window=120).place == 8 * 4


def test_S0_57_with_both_surfaces_on_the_session_goes_on_and_is_planned() -> None:
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


def recorded(session: Session) -> list[tuple[str, str]]:
    """Role and words of every message in the recorded history, each of one text."""
    live = session.live
    entries = [session.entries[i] for i in live.entries.tolist()]
    return [(entry.role, entry.text) for entry in entries]


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


def test_S0_30_so_is_what_is_recorded_and_read_again() -> None:
    session = talk(7)
    done = compact(session, STUD_WIKI, turn_summariser, ledger=count(session), edits={"settings": PER_TURN})
    said = [("user", f"Of e{4 * n} to e{4 * n + 3}:\n\nall is well.") for n in range(3)]
    assert recorded(done.after)[:3] == said
    assert blocks_of(done.after)[3:] == blocks_of(session)[18:]
    again = read_session(dump_manifest(done.after).encode())
    assert recorded(again) == recorded(done.after)
    assert done.after[done.entry or ""].boundary.summary == said[0][1]  # type: ignore[union-attr]
    by_hand = append_checkpoint(plan_of(session, STUD_WIKI, settings=PER_TURN), done.checkpoint, "s1")  # type: ignore[arg-type]
    assert recorded(by_hand) == recorded(done.after)


def test_S0_30_a_text_that_comes_whole_is_divided_by_turn_or_the_plan_says_that_it_is_not() -> None:
    session = talk(6)
    plan = plan_of(session, STUD_WIKI, settings=PER_TURN)
    pieces = build_context(session, plan, Checkpoint(text="one\n\ntwo")).pieces
    assert [piece.block for piece in pieces[:2]] == [Text(text="one"), Text(text="two")]
    for text in ("one", "one\n\ntwo\n\nthree"):
        assert CAME_WHOLE in plan.with_summary(Checkpoint(text=text)).notes
    assert CAME_WHOLE not in plan.with_summary(Checkpoint(text="one\n\ntwo")).notes
    whole = plan_of(session, STUD_WIKI).with_summary(Checkpoint(text="one\n\ntwo"))
    assert [p.block for p in build_context(session, whole).pieces if p.summary] == [Text(text="one\n\ntwo")]


def test_S0_30_a_stand_in_is_one_message_for_each_older_turn_too() -> None:
    session = talk(6)
    plan = plan_of(session, STUD_WIKI, settings=PER_TURN)
    pieces = build_context(plan.session, plan).pieces
    assert [piece.block.kind for piece in pieces if piece.fate == "summarised"] == ["text", "text"]
    assert fates(plan)[:12] == ["summarised"] * 12
    done = compact(session, STUD_WIKI, ledger=count(session), edits={"settings": PER_TURN})
    assert [f"question {n}" in words for n, (_, words) in enumerate(recorded(done.after)[:2])] == [True] * 2


def test_S0_30_a_turn_that_is_pinned_has_no_summary_and_one_that_was_summarised_goes_into_the_first() -> None:
    session = talk(7)
    done = compact(session, STUD_WIKI, turn_summariser, ledger=count(session), edits={"settings": PER_TURN})
    going_on = grow(done.after, *(entry for n in range(7, 10) for entry in turn(n)))
    plan = plan_of(going_on, STUD_WIKI, settings=PER_TURN)
    heard: list[SummaryJob] = []
    summarise(plan, lambda job, session: heard.append(job) or "well")  # type: ignore[func-returns-value]
    assert heard[0].previous == "Of e0 to e3:\n\nall is well."
    assert [job.previous for job in heard[1:]] == [None] * (len(heard) - 1)
    pins = ("e4", "e5", "e6", "e7")
    pinned = compact(
        session, STUD_WIKI, turn_summariser, ledger=count(session), edits={"settings": PER_TURN, "pins": pins}
    )
    words = [words for _, words in recorded(pinned.after)]
    assert [text.split(":")[0] for text in words if text.startswith("Of")] == ["Of e0 to e3", "Of e8 to e11"]
    assert "question 1" in words


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


def test_S0_75_the_deterministic_mode_leaves_long_calls_and_words_of_older_turns_as_they_are() -> None:
    long = {"path": "src/app.py", "text": "word " * 80}
    session = heard(6)
    entries = [
        entry.model_copy(
            update={
                "blocks": tuple(
                    block.model_copy(update={"input": long}) if isinstance(block, ToolCall) else block
                    for block in entry.blocks
                )
            }
        )
        for entry in session.entries
    ]
    session = session.model_copy(update={"entries": tuple(entries)})
    plan = plan_of(session, STUD_DETERMINISTIC)
    assert fates_of(plan, "tool_output") == ["cleared"] * 2 + ["verbatim"] * 4
    left = [block for piece in build_context(session, plan).pieces if (block := piece.block)]
    assert [block.input for block in left if isinstance(block, ToolCall)] == [long] * 6


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


def test_S0_76_a_mode_that_is_none_is_refused_and_core_stays_core_in_each() -> None:
    with pytest.raises(PolicyError, match="mode"):
        plan_of(talk(6), {"name": "mine", "mode": "magic"})
    with pytest.raises(PolicyError, match="known: summarise"):
        STUD_WIKI.in_mode("magic")  # type: ignore[arg-type]
    for mode in SWITCHES:
        changed = STUD_WIKI.in_mode(mode)
        assert (changed.harness, changed.contract) == (STUD_WIKI.harness, CONTRACT)
        assert changed.in_mode("summarise") == STUD_WIKI
    by_hand = STUD_WIKI.configured({"drop-reasoning.enabled": True})
    assert by_hand.mode is None


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
        lost[drawn["deterministic"]] = {
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
        "other rules": {"rules": CLAUDE_CODE.rules, "stages": CLAUDE_CODE.stages, "mode": None},
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
    update = {"rules": CLAUDE_CODE.rules, "stages": CLAUDE_CODE.stages, "target": CLAUDE_CODE.target}
    return policy.model_copy(update=update)


# -- two surfaces -----------------------------------------------------------------------------------------


def test_S0_36_nothing_is_cleared_at_the_wire_unless_it_is_configured() -> None:
    session = heard(7)
    assert "cleared" not in fates(plan_of(session, STUD_WIKI))
    plan = plan_of(session, with_both())
    assert fates_of(plan, "tool_output") == ["summarised"] * 3 + ["cleared"] * 3 + ["verbatim"]
    assert fates_of(plan, "reasoning") == ["summarised"] * 3 + ["cleared"] * 3 + ["verbatim"]
    assert "cleared" not in {piece.fate for piece in stored_context(session, plan).pieces}


def test_S0_46_S0_54_manifest_and_wire_are_handed_out_apart_and_the_edit_is_called_one_in_flight() -> None:
    session = heard(7)
    both, core = plan_of(session, with_both()), plan_of(session, STUD_WIKI)
    drawn = to_json(draw_plan(both).payload)["surfaces"]
    assert drawn["manifest"] == {"after": stored_context(session, both).tokens, "changed": True}
    assert drawn["manifest"]["after"] == core.after
    assert drawn["wire"] == {
        "after": build_context(session, both).tokens,
        "cleared": 6,
        "spared": core.after - both.after,
        "label": "in-flight edit",
    }
    assert drawn["wire"]["after"] < drawn["manifest"]["after"]
    # At the wire alone nothing is stored, and nothing says that anything was saved.
    alone = to_json(draw_plan(plan_of(session, split_policy(with_both())[1])).payload)
    assert alone["surfaces"]["manifest"] == {"after": both.before, "changed": False}
    del alone["saved"]  # the name of the figures by kind of block, and no word that is shown
    assert "saved" not in json.dumps(alone)
    assert draw_plan(core).payload.surfaces is None


def test_S0_54_a_run_says_that_requests_were_edited_in_flight_and_the_history_was_not() -> None:
    session = heard(7)
    wire = split_policy(with_both())[1]
    run = replay(session, wire, ledger=count(session), window=10_000)
    (said,) = [finding.sentence for finding in run.findings if finding.kind == "wire"]
    # What each request would have been without the rule, less what was sent.
    bare = wire.model_copy(update={"rules": ()})
    saved = replay(session, bare, ledger=count(session), window=10_000).sent - run.sent
    edited, tokens = int((saved > 0).sum()), int(saved.sum())
    assert edited > 2 and tokens > edited
    assert said.startswith(f"{edited} requests were edited in flight, {tokens} tokens of them in all; ")
    assert "the history itself was not" in said
    assert run.compactions == ()


def test_S0_37_S0_51_the_manifest_is_core_s_and_the_request_is_another_artifact() -> None:
    session = heard(7)
    plan, core = plan_of(session, with_both()), plan_of(session, STUD_WIKI)
    assert stored_context(session, plan) == build_context(session, core)
    assert build_context(session, plan) != build_context(session, core)


def test_S0_38_only_core_makes_a_new_manifest() -> None:
    session = heard(7)
    wire = split_policy(with_both())[1]
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
    wire = split_policy(with_both())[1]
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


def test_S0_53_a_request_made_small_leaves_the_manifest_as_full_as_it_is() -> None:
    session = heard(7)
    plan = plan_of(session, split_policy(with_both(0))[1])
    window = int(plan.before / 0.81)
    assert STUD_WIKI.trigger.fires(plan.before, window)
    assert not STUD_WIKI.trigger.fires(plan.after, window)
    assert STUD_WIKI.trigger.fires(stored_context(session, plan).tokens, window)


def test_S0_54_what_the_wire_clears_is_called_so_and_by_rules_that_say_who_does_it() -> None:
    plan = plan_of(heard(7), with_both())
    cleared = [row for row, fate in enumerate(fates(plan)) if fate == "cleared"]
    assert {plan.rule_of(row) for row in cleared} == {"clear-thinking", "clear-tool-outputs"}
    titles = {rule.kind: rule.title for rule in plan.policy.rules}
    assert all("in the request" in titles[plan.rule_of(row)] for row in cleared)


def test_S0_99_core_and_wire_on_one_entry_are_told_and_the_plan_is_core_s() -> None:
    policy = with_both()
    notices = lint(policy.name, policy.harness, policy.trigger.ratio, wire=True)
    assert [notice.kind for notice in notices] == ["double_configured"]
    session = heard(7)
    assert fates(stored_part(plan_of(session, policy))) == fates(plan_of(session, STUD_WIKI))


def test_the_manifest_keeps_reasoning_that_the_model_would_refuse() -> None:
    session = heard(7, model="claude-fable-5-1")
    plan = plan_of(session, STUD_WIKI)
    assert fates_of(plan, "reasoning") == ["summarised"] * 3 + ["dropped"] * 4
    stored = shown(stored_context(session, plan))
    assert sum(block.kind == "reasoning" for block in stored) == 4


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


def test_S0_14_a_compact_by_hand_plans_at_any_fill() -> None:
    session = talk(6)
    plan = make_plan(session, count(session), STUD_WIKI, Edits(), window=1_000_000, reason="manual")
    assert plan.before < 10_000
    assert plan.place == 8


def test_a_stage_s_record_can_say_which_reasoning_is_disposable() -> None:
    entries = [
        Entry(**{**entry.__dict__, "extra": {"stage": "draft"}}) if at < 4 else entry
        for at, entry in enumerate(talk(6).entries)
    ]
    session = chain(*entries)
    plan = plan_of(
        session, STUD_WIKI.in_mode("drop-reasoning"), settings={"drop-reasoning.stages": ["draft"]}
    )
    assert fates_of(plan, "reasoning") == ["dropped", "summarised"] + ["verbatim"] * 4


def test_a_policy_that_leaves_outputs_first_has_its_stages_no_more_and_another_keeps_its_own() -> None:
    first = STUD_WIKI.in_mode("outputs-first")
    assert [stage.name for stage in first.stages] == ["outputs", "summary"] and first.target is not None
    back = first.in_mode("summarise")
    assert (back.stages, back.target) == ((), None)
    own = STUD_WIKI.model_copy(update={"stages": (Stage(name="mine", rules=("summarise-older",)),)})
    assert own.in_mode("drop-old-outputs").stages == own.stages


def test_only_a_threshold_that_fires_has_to_lie_between_the_others() -> None:
    """Warned at 80 %, required at 95: a trigger at 50 % lies below the warning, if it fires at all."""
    merged = find_policy("stud-merged")
    with pytest.raises(PolicyError, match=r"warn \(0\.8\) may not lie above trigger \(0\.5\)"):
        merged.configured({"trigger.ratio": 0.5})
    off = merged.configured({"trigger.ratio": 0.5, "trigger.enabled": False})
    assert (off.trigger.ratio, off.trigger.enabled) == (0.5, False)
    fixed = merged.configured({"trigger.ratio": 0.5, "trigger.tokens": 9_000})
    assert fixed.trigger.tokens == 9_000


def test_the_wiki_s_contract_is_of_its_very_version() -> None:
    assert keeps_contract(CONTRACT, "core", core_rules())
    for other in ("Compaction and Memory 1.2.0", "Compaction and Memory 1.0.9", "", "Z"):
        assert not keeps_contract(other, "core", core_rules())


def test_core_writes_up_a_turn_that_a_hand_cuts_in_two_as_one_summary() -> None:
    session = open_demo()
    plan = make_plan(session, count_tokens(session), "stud-wiki-1.1", reason="manual")
    inside = max(cut.place for cut in plan.cuts if cut.legal and cut.splits_turn)
    split = plan.with_edits(plan.edits.model_copy(update={"cut": plan.cuts.ids[inside]}))
    assert [job.kind for job in split.jobs] == ["update"]
    other = make_plan(session, plan.ledger, "flue", split.edits)
    assert [job.kind for job in other.jobs] == ["update", "turn_prefix"]
