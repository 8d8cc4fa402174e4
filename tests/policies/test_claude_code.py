"""Claude Code's pipeline as seed 002 tells it: its stages, what each does, and when they stop."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from inspector import compact, replay
from inspector.planning.assemble import build_context, live_context
from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.planning.summary_jobs import Reply, SummaryJob
from inspector.policies.builtin.claude_code_analysis import CLAUDE_CODE_ANALYSIS
from inspector.policies.harness import check_thresholds, level_of
from inspector.policies.policy import Policy
from inspector.policies.table import FATES
from inspector.policies.trigger import Reason
from inspector.session.blocks import Text
from inspector.session.session import Session
from inspector.summaries.write import checkpoint_from_text
from inspector.tokens.ledger import count_tokens
from inspector.wire.checks import check_context
from tests.policies.test_rules import use
from tests.reference.stored import stored_context
from tests.strategies import sessions
from tests.test_checklist_s0 import blocks_of, chain, count, fates_of, model, shown, user
from tests.test_laws import LENGTH

ALL = {"target.tokens": 0}
"""A target nothing meets, so that every stage has its turn."""
NO_AUTO = {"summarise-all.enabled": False}
"""Without the stage that every automatic compaction has."""
EVERY = ["budget", "snip", "micro"]
"""The stages that run before every request."""
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


FULL = 400
"""A window that the conversations here fill, though Snip and Micro have had their turn."""


def plan_of(
    session: Session,
    reason: Reason = "auto",
    policy: Policy = CLAUDE_CODE_ANALYSIS,
    window: int = 1_000,
    **settings: Any,
) -> Plan:
    edits = {"settings": {**SMALL, **settings}}
    return make_plan(session, count(session), policy, edits, window=window, reason=reason)


def ran(plan: Plan) -> list[str]:
    return [stage.name for stage in plan.stages if stage.ran]


def fates(plan: Plan) -> list[str]:
    return [FATES[code] for code in plan.fate]


def test_S2_2_a_stage_that_is_not_needed_is_skipped_and_says_so() -> None:
    session = talk(3)
    plan = plan_of(session, **{"truncate-outputs.limit": 10_000})
    assert ran(plan) == ["budget", "snip", "micro"]
    auto, collapse = plan.stages[3:5]
    assert auto.sentence == "Not run: the trigger does not fire."
    assert collapse.sentence == "Not needed: the target was met."
    assert {(stage.before, stage.after) for stage in plan.stages} == {(plan.before, plan.before)}


def test_S2_46_the_budget_has_settings_and_a_stage_of_its_own() -> None:
    loud = talk(2, size=60)
    plan = plan_of(loud)
    assert [stage.name for stage in plan.stages if stage.before != stage.after] == ["budget"]
    assert fates_of(plan, "tool_output") == ["pointer", "pointer"]
    assert [rule.kind for rule in plan.policy.rules if "budget" in type(rule).model_fields] == [
        "spill-outputs"
    ]


@pytest.mark.parametrize("preview", [0, 10, 400, 2_000])
def test_S2_46_what_remains_above_the_budget_is_said(preview: int) -> None:
    """Outputs that a preview would not make shorter go to no file, however many there are in a message."""
    uses = [use(f"c{n}", text=WORDS * 20) for n in range(6)]
    calls = model(*(block for call, _ in uses for block in call.blocks))
    session = chain(user("go"), calls, *(output for _, output in uses), user("on"))
    plan = plan_of(session, **{"spill-outputs.preview": preview, "truncate-outputs.enabled": False})
    outputs = [
        piece.block for piece in build_context(session, plan).pieces if piece.block.kind == "tool_output"
    ]
    assert len(outputs) == 6
    above = sum(len(output.text) for output in outputs) - 900
    assert (above > 0) == (preview > 10)
    said = [note for note in plan.notes if f"remains {above:,} characters above the budget of 900" in note]
    assert len(said) == (above > 0)
    assert [stage.sentence for stage in plan.stages if stage.sentence in said] == said


def test_S2_20_without_a_target_collapse_folds_before_every_request() -> None:
    session = talk(8)
    idle = plan_of(session, window=10**6)
    always = plan_of(session, window=10**6, **{"target.enabled": False})
    assert (ran(idle), ran(always)) == (EVERY, [*EVERY, "collapse"])
    assert always.after < idle.after


@pytest.mark.parametrize("target", [150, 600, 900])
def test_S2_43_an_automatic_compaction_asks_for_a_summary_whatever_snip_has_freed(target: int) -> None:
    session = talk(8)
    plan = plan_of(session, window=FULL, **{"target.tokens": target})
    assert plan.verdict.fires and "auto" in ran(plan)
    assert len(plan.jobs) == 1
    # Where the trigger does not fire nobody is asked, and a rule that is switched off is not waited for.
    idle = plan_of(session, **{"target.tokens": target})
    assert idle.verdict.fires is False and not idle.jobs
    assert not plan_of(session, window=FULL, **NO_AUTO, **{"target.tokens": target}).jobs


def test_S2_3_S2_13_S2_14_snip_leaves_the_last_turns_and_the_stored_messages_alone() -> None:
    session = talk(8)
    before = session.model_dump_json()
    snip = {"target.tokens": count(session).count_context() // 2 + 20, "truncate-outputs.enabled": False}
    plan = plan_of(session, **NO_AUTO, **snip)
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
    plan = plan_of(session, window=FULL)
    assert plan.place == len(session.live)
    assert len(plan.jobs) == 1
    assert [piece.fate for piece in build_context(session, plan).pieces] == ["summarised"]
    assert set(fates(plan)) == {"summarised"}, "Snip leaves turns out of the request, not of the history"


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
    full = plan_of(session, window=FULL, **ALL)
    assert (full.summarises, full.stages[4].sentence) == (True, "It found nothing to do.")


@pytest.mark.parametrize(
    ("reason", "expected"), [("manual", [*EVERY, "auto"]), ("overflow", [*EVERY, "reactive"])]
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
    written = checkpoint_from_text("They asked, and it was answered.")
    plan = plan_of(talk(turns), window=FULL).with_summary(written)
    assert plan.before > FULL
    left = build_context(plan.session, plan).tokens
    assert left == plan.after <= 0.8 * FULL, "the target is 80 % of the window"
    assert plan.fits
    assert not any("missed" in note for note in plan.notes)


def test_S2_1_where_nothing_makes_it_fit_the_pipeline_does_what_it_can_and_the_plan_says_so() -> None:
    said = [entry for _ in range(20) for entry in (user("why " * 50), model(Text(text="so " * 50)))]
    session = chain(*said, system=(Text(text="rule " * 2_000),))
    head = make_plan(session, count(session), CLAUDE_CODE_ANALYSIS, window=1_000)
    assert not head.fits
    # The system prompt alone is 2,000; whatever is written of the 2,000 words of talk stands after it.
    assert ran(head) == ["budget", "snip", "micro", "auto", "collapse"]
    assert [piece.fate for piece in build_context(session, head).pieces] == ["summarised"]
    assert 2_000 < head.after < head.before == 4_000
    assert any(note.startswith("The target of 800 is missed") for note in head.notes)


def test_S2_42_it_acts_above_95_percent_and_the_harness_has_the_levels_of_the_seed() -> None:
    fires = [CLAUDE_CODE_ANALYSIS.trigger.fires(size, 10_000) for size in (9_500, 9_501)]
    assert fires == [False, True]
    shares = (0.80, 0.8001, 0.9501, 0.9801)
    manual = CLAUDE_CODE_ANALYSIS.configured({"harness.mode": "manual"}).harness
    assert [level_of(manual, share) for share in shares] == ["normal", "warning", "critical", "blocking"]
    assert level_of(CLAUDE_CODE_ANALYSIS.harness, 0.9801) == "critical"
    assert (CLAUDE_CODE_ANALYSIS.harness.breaker, CLAUDE_CODE_ANALYSIS.harness.recover) == (3, True)
    check_thresholds(CLAUDE_CODE_ANALYSIS.name, CLAUDE_CODE_ANALYSIS.harness, 0.95)


@pytest.mark.parametrize("window", [1_000, 3_000])
def test_S2_2_snip_and_micro_run_before_every_request_though_auto_does_not(window: int) -> None:
    """And Collapse as soon as the request is above the target, which no summary has to wait for."""
    session = talk(8)
    plan = plan_of(session, window=window)
    assert plan.verdict.fires is False and not plan.summarises
    assert [stage.name for stage in plan.stages if stage.before != stage.after] == ["snip", "micro"]
    assert len(shown(build_context(session, plan))) == 4 * 4
    tight = plan_of(session, window=window, **{"target.tokens": 300})
    assert (tight.verdict.fires, ran(tight)) == (False, [*EVERY, "collapse"])
    assert tight.after < plan.after
    # A cut by hand asks what a compaction would do there.
    assert plan_of(session, window=window, **NO_AUTO).after == plan.after
    moved = make_plan(
        session, count(session), CLAUDE_CODE_ANALYSIS, {"settings": SMALL, "cut": "end"}, window=window
    )
    assert moved.summarises and int(plan.cut_table.total[-1]) == moved.after


@pytest.mark.parametrize("reason", ["auto", "manual", "overflow"])
@pytest.mark.parametrize("cut", [None, "turn 7"])
def test_S2_5_S2_14_a_summary_is_of_the_stored_history_with_the_turns_that_snip_does_not_send(
    cut: str | None, reason: Reason
) -> None:
    session = talk(9)
    edits = {"settings": SMALL, "cut": cut}
    plan = make_plan(session, count(session), CLAUDE_CODE_ANALYSIS, edits, window=FULL, reason=reason)
    assert [ref for job in plan.jobs for ref in job.leave_out] == []
    text = build_context(session, plan).pieces[0].block.text
    assert [n for n in range(9) if f"question {n} asks" in text] == list(range(9 if cut is None else 6))
    assert plan.after == build_context(session, plan).tokens
    # Snip decides what the request holds as long as nothing is summarised.
    snip = plan.stages[1]
    assert snip.ran and snip.after < snip.before


def test_S2_5_compact_gives_the_summariser_the_oldest_turn_and_a_replay_too() -> None:
    session = talk(9)
    asked: list[tuple[str, ...]] = []

    def write(job: SummaryJob, session: Session) -> Reply:
        asked.append(job.entries)
        assert not job.leave_out
        return Reply(text="They asked, and it was answered.")

    policy = CLAUDE_CODE_ANALYSIS.configured(SMALL)
    done = compact(session, policy, write, ledger=count(session), window=FULL, reason="manual")
    assert done.done and asked == [tuple(entry.id for entry in session.entries)]
    run = replay(
        session,
        policy,
        {"acts": [{"at": session.entries[-1].id, "do": "compact"}]},
        ledger=count(session),
        window=100_000,
    )
    (item,) = run.compactions
    (job,) = item.plan.jobs
    # It comes before the last answer arrives.
    assert job.entries == tuple(entry.id for entry in session.entries[:-1]) and not job.leave_out
    rows = item.plan.to_columns()
    assert rows["turn"][0] == 1 and set(rows["retention"]) == {"summarised"}
    assert item.before < item.plan.before, "the request before it had four turns"
    assert item.after == item.plan.after == run.context[-1] - 20 * 2


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
    plan = make_plan(session, ledger, CLAUDE_CODE_ANALYSIS, edits, window=1_000)
    after = {v.rule for v in check_context(build_context(session, plan), awaits_user=True)}
    assert after <= before


@pytest.mark.parametrize("turns", [1, 12])
@pytest.mark.parametrize("reason", ["manual", "overflow"])
def test_S2_9_without_auto_s_rule_neither_a_compact_nor_a_refusal_appends_anything(
    turns: int, reason: Reason
) -> None:
    """The stages that run before every request are no part of what the user asks for."""
    session = talk(turns, size=2_000)
    asked: list[SummaryJob] = []

    def write(job: SummaryJob, _: Session) -> Reply:
        asked.append(job)
        return Reply(text="S")

    policy = CLAUDE_CODE_ANALYSIS.configured(NO_AUTO)
    done = compact(session, policy, write, reason=reason)
    assert not done.done and done.after == session and not asked
    do = "compact" if reason == "manual" else "token_overflow"
    run = replay(session, policy, {"acts": [{"at": f"turn {turns}", "do": do}]}, window=10**6)
    assert not run.compactions
    if reason == "manual":
        assert done.why in " ".join(found.sentence for found in run.findings)
    else:
        assert run.status == "failed"
    other = CLAUDE_CODE_ANALYSIS.configured({"truncate-outputs.enabled": False, "harness.mode": "manual"})
    assert compact(session, other, write).done, "the rule that /compact runs is on"
