"""Claude Code's pipeline as seed 002 tells it: its stages, what each does, and when they stop."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from inspector.planning.assemble import build_context, live_context
from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.policies.builtin.claude_code import CLAUDE_CODE
from inspector.policies.harness import level_of, lint
from inspector.policies.policy import Policy
from inspector.policies.table import FATES
from inspector.policies.trigger import Reason
from inspector.session.blocks import Text, ToolCall
from inspector.session.session import Session
from inspector.summaries.record import stored_context
from inspector.summaries.write import checkpoint_from_text
from inspector.tokens.history import trace_history
from inspector.tokens.ledger import count_tokens
from inspector.wire.checks import check_context
from inspector.workbench.payloads.columns import unpack
from inspector.workbench.payloads.scene import draw_plan, draw_scene
from tests.policies.test_rules import gave, use
from tests.strategies import sessions
from tests.test_checklist_s0 import blocks_of, chain, count, fates_of, model, shown, user
from tests.test_laws import LENGTH

ALL = {"target.tokens": 0}
"""A target nothing meets, so that every stage has its turn."""
NO_AUTO = {"summarise-all.enabled": False}
"""Without the stage that every automatic compaction has."""
SMALL = {
    "spill-outputs.budget": 900,
    "spill-outputs.preview": 10,
    "drop-oldest-turns.turns": 4,
    "truncate-outputs.limit": 300,
    "collapse.turns": 2,
    "collapse.shown": 20,
}
WORDS = "some words of an output "


def talk(turns: int, *, size: int = 20) -> Session:
    """Turns of a question, a call with an output of 24 characters times `size`, and an answer."""
    return chain(
        *(
            entry
            for n in range(turns)
            for entry in [
                user(f"question {n} asks this"),
                *use(f"c{n}", text=WORDS * size),
                model(Text(text=f"answer {n} " * 20)),
            ]
        )
    )


def plan_of(session: Session, reason: Reason = "auto", policy: Policy = CLAUDE_CODE, **settings: Any) -> Plan:
    edits = {"settings": {**SMALL, **settings}}
    return make_plan(session, count(session), policy, edits, window=1_000, reason=reason)


def ran(plan: Plan) -> list[str]:
    return [stage.name for stage in plan.stages if stage.ran]


def fates(plan: Plan) -> list[str]:
    return [FATES[code] for code in plan.fate]


STAGES = {
    "budget": "spill-outputs",
    "snip": "drop-oldest-turns",
    "micro": "truncate-outputs",
    "auto": "summarise-all",
    "collapse": "collapse",
}


def test_S2_2_S2_48_stages_come_in_their_order_each_with_tokens_in_and_out() -> None:
    loud = {"spill-outputs.budget": 400, "target.tokens": 1}
    plan = plan_of(talk(8), **loud)
    names = [stage.name for stage in plan.stages]
    assert names == [*STAGES, "reactive"]
    assert ran(plan) == names[:5]
    # What stands after each stage is counted on the context that a plan without the later ones leaves.
    reached = [plan.before]
    for last in range(5):
        off = {f"{kind}.enabled": False for kind in list(STAGES.values())[last + 1 :]}
        less = plan_of(talk(8), **loud, **off)
        reached.append(build_context(less.session, less).tokens)
    figures = [(stage.before, stage.after) for stage in plan.stages[:5]]
    assert figures == list(pairwise(reached))
    assert len({*reached}) > 3, "and several of them do something"
    assert plan.stages[5][2:] == (reached[5], reached[5], "It runs only when the reason is overflow.")


def test_S2_2_a_stage_that_is_not_needed_is_skipped_and_says_so() -> None:
    session = talk(8)
    plan = plan_of(session, **{"target.tokens": count(session).count_context()})
    assert ran(plan) == ["budget"]
    skipped = plan.stages[1:5]
    assert {stage.sentence for stage in skipped} == {"Not needed: the target was met."}
    assert {(stage.ran, stage.before, stage.after) for stage in skipped} == {
        (False, plan.before, plan.before)
    }


def test_S2_46_the_budget_has_settings_and_a_stage_of_its_own() -> None:
    loud = talk(2, size=60)
    plan = plan_of(loud, **{"target.tokens": count(loud).count_context() - 10})
    assert ran(plan) == ["budget"]
    assert fates_of(plan, "tool_output") == ["pointer", "pointer"]
    assert [rule.kind for rule in plan.policy.rules if "budget" in type(rule).model_fields] == [
        "spill-outputs"
    ]


def test_stages_stop_as_soon_as_the_target_is_met() -> None:
    session = talk(8)
    full = count(session).count_context()
    snipped = plan_of(session, **NO_AUTO, **{"target.tokens": full // 2 + 20})
    assert ran(snipped) == ["budget", "snip"]
    assert snipped.stages[2].sentence == "Not needed: the target was met."
    cut = plan_of(session, **NO_AUTO, **{"target.tokens": full // 2 - 60})
    assert ran(cut) == ["budget", "snip", "micro"]
    assert plan_of(session, **{"target.tokens": 150}).summarises


@pytest.mark.parametrize("target", [150, 600, 900])
def test_S2_43_an_automatic_compaction_asks_for_a_summary_whatever_snip_has_freed(target: int) -> None:
    session = talk(8)
    full = count(session).count_context()
    assert full > target
    plan = plan_of(session, **{"target.tokens": target})
    assert "auto" in ran(plan)
    assert len(plan.jobs) == 1
    # Within the target nothing is compacted at all, and a rule that is switched off is not waited for.
    assert not plan_of(session, **{"target.tokens": full}).jobs
    assert not plan_of(session, **NO_AUTO, **{"target.tokens": target}).jobs


def test_S2_3_S2_13_S2_14_snip_leaves_the_last_turns_and_the_stored_messages_alone() -> None:
    session = talk(8)
    before = session.model_dump_json()
    plan = plan_of(session, **NO_AUTO, **{"target.tokens": count(session).count_context() // 2 + 20})
    assert fates(plan) == ["dropped"] * 16 + ["verbatim"] * 16
    assert shown(build_context(session, plan)) == blocks_of(session)[16:]
    assert stored_context(session, plan) == live_context(session, plan.ledger)
    assert session.model_dump_json() == before


def test_S2_15_snip_can_be_switched_off() -> None:
    on = plan_of(talk(8), **{"target.tokens": 400})
    off = plan_of(talk(8), **{"target.tokens": 400, "drop-oldest-turns.enabled": False})
    assert (fates(on).count("dropped"), fates(off).count("dropped")) == (16, 0)
    assert (on.stages[1].name, on.stages[1].ran) == ("snip", True)
    snip = off.stages[1]
    assert (snip.name, snip.ran, snip.sentence) == ("snip", False, "It is switched off.")
    assert snip.before == snip.after


def test_S2_13_what_is_drawn_of_a_snipped_session_lists_the_turns_that_are_gone_as_dropped() -> None:
    session = talk(8)
    plan = plan_of(session, **NO_AUTO, **{"target.tokens": count(session).count_context() // 2 + 20})
    scene, _ = draw_scene(plan, trace_history(session, plan.ledger))
    assert scene.entry_ids == [entry.id for entry in session.entries]
    picture, data = draw_plan(plan)
    columns = unpack(picture.columns, data)
    drawn = np.where(plan.is_older, columns["fate_older"], columns["fate_kept"])
    gone = [scene.fates[code].id for code in drawn.tolist()]
    assert gone == ["dropped"] * 16 + ["verbatim"] * 16


def test_S2_4_micro_shortens_large_outputs_only() -> None:
    session = talk(4)
    plan = plan_of(session, **NO_AUTO, **{"target.tokens": count(session).count_context() - 10})
    assert ran(plan) == ["budget", "snip", "micro"]
    assert fates_of(plan, "tool_output") == ["truncated"] * 4
    assert {
        fate for fate, b in zip(fates(plan), blocks_of(session), strict=True) if b.kind != "tool_output"
    } == {"verbatim"}


def test_S2_5_S2_43_auto_writes_the_whole_conversation_up_in_one_call() -> None:
    session = talk(8)
    plan = plan_of(session, **{"target.tokens": 150})
    assert plan.place == len(session.live)
    assert len(plan.jobs) == 1
    assert [piece.fate for piece in build_context(session, plan).pieces] == ["summarised"]
    assert set(fates(plan)) == {"dropped", "summarised"}


def test_S2_7_S2_20_collapse_folds_what_auto_left_and_nothing_where_it_did_its_work() -> None:
    session = talk(4)
    folded = plan_of(session, **ALL, **{"summarise-all.enabled": False})
    assert fates_of(folded, "tool_output") == ["truncated"] * 4
    assert stored_context(session, folded).pieces[0].block == blocks_of(session)[0]
    assert len(shown(build_context(session, folded))[2].text) < 60
    stored = [len(b.text) for b in shown(stored_context(session, folded)) if b.kind == "tool_output"]
    assert all(length == 300 for length in stored)
    opened = plan_of(session, **ALL, **{"summarise-all.enabled": False, "collapse.expanded": [1]})
    assert len(shown(build_context(session, opened))[2].text) == 300
    assert plan_of(session, **ALL).stages[4].sentence == "It found nothing to do."


@pytest.mark.parametrize(
    ("reason", "expected"), [("manual", ["budget", "auto"]), ("overflow", ["budget", "reactive"])]
)
def test_S2_9_S2_11_S2_21_of_what_shrinks_history_a_compact_runs_auto_alone_and_a_refusal_reactive(
    reason: Reason, expected: list[str]
) -> None:
    session = talk(3)
    plan = plan_of(session, reason)
    assert ran(plan) == expected
    assert plan.summarises
    assert plan.after < plan.before
    assert "reactive" not in ran(plan_of(session, **{"target.tokens": 1}))


@pytest.mark.parametrize("turns", [20, 60, 200])
def test_S2_1_what_is_left_of_a_conversation_above_the_window_fits_it(turns: int) -> None:
    plan = plan_of(talk(turns)).with_summary(checkpoint_from_text("They asked, and it was answered."))
    assert plan.before > 1_000
    left = build_context(plan.session, plan).tokens
    assert left == plan.after <= 800, "the target is 80 % of the window"
    assert plan.fits
    assert not any("missed" in note for note in plan.notes)


def test_S2_1_where_nothing_makes_it_fit_the_pipeline_does_what_it_can_and_the_plan_says_so() -> None:
    said = [entry for _ in range(20) for entry in (user("why " * 50), model(Text(text="so " * 50)))]
    session = chain(*said, system=(Text(text="rule " * 2_000),))
    head = make_plan(session, count(session), CLAUDE_CODE, window=1_000)
    assert not head.fits
    # The system prompt alone is 2,000; whatever is written of the 2,000 words of talk stands after it.
    assert ran(head) == ["budget", "snip", "micro", "auto", "collapse"]
    assert [piece.fate for piece in build_context(session, head).pieces] == ["summarised"]
    assert 2_000 < head.after < head.before == 4_000
    assert any(note.startswith("The target of 800 is missed") for note in head.notes)


def test_S2_42_it_acts_above_95_percent_and_the_harness_has_the_levels_of_the_seed() -> None:
    fires = [CLAUDE_CODE.trigger.fires(size, 10_000) for size in (9_500, 9_501)]
    assert fires == [False, True]
    shares = (0.80, 0.8001, 0.9501, 0.9801)
    manual = CLAUDE_CODE.configured({"harness.mode": "manual"}).harness
    assert [level_of(manual, share) for share in shares] == ["normal", "warning", "critical", "blocking"]
    assert level_of(CLAUDE_CODE.harness, 0.9801) == "critical"
    assert (CLAUDE_CODE.harness.breaker, CLAUDE_CODE.harness.recover) == (3, True)
    assert lint(CLAUDE_CODE.name, CLAUDE_CODE.harness, 0.95) == ()


def test_outputs_of_one_message_share_the_budget_and_later_stages_go_on_from_the_pointer() -> None:
    calls = [ToolCall(id=f"p{n}", name="bash", input={}) for n in range(3)]
    outputs = [gave(f"p{n}", WORDS * 20) for n in range(3)]
    entries = [e.model_copy(update={"blocks": (o,)}) for e, o in zip([use("x")[1]] * 3, outputs, strict=True)]
    session = chain(user("go"), model(*calls), *entries, model(Text(text="done")))
    plan = plan_of(session, **NO_AUTO, **{"target.tokens": 100})
    assert ran(plan) == ["budget", "snip", "micro"]
    assert fates_of(plan, "tool_output") == ["pointer", "pointer", "truncated"]


@pytest.mark.parametrize("reason", ["auto", "manual", "overflow"])
@pytest.mark.parametrize("target", [0, 150, 300, 700])
def test_S2_8_what_comes_out_is_valid_for_the_wire(reason: Reason, target: int) -> None:
    for turns in (1, 3, 8, 30):
        session = talk(turns)
        plan = plan_of(session, reason, **{"target.tokens": target})
        assert check_context(build_context(session, plan), awaits_user=True) == ()


@given(sessions(orderly=True))
def test_S2_8_a_pipeline_adds_no_reason_to_refuse_a_request(session: Session) -> None:
    ledger = count_tokens(session, LENGTH)
    before = {v.rule for v in check_context(live_context(session, ledger), awaits_user=True)}
    edits = {"settings": {**SMALL, "target.tokens": 500}}
    plan = make_plan(session, ledger, CLAUDE_CODE, edits, window=1_000)
    after = {v.rule for v in check_context(build_context(session, plan), awaits_user=True)}
    assert after <= before
