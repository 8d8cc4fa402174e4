"""Flue, Flue 2 and pi: what one of them gets wrong beside what another mended, on sessions one can read.

A message weighs a quarter of its characters, so `user(5)` is a message of five tokens.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector import replay
from inspector.planning.assemble import build_context
from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.planning.summary_jobs import Checkpoint, Reply, SummaryJob
from inspector.policies.builtin.pi import VERSIONS
from inspector.policies.events import AuditEvent
from inspector.policies.policy import Edits
from inspector.policies.registry import find_policy
from inspector.policies.rules.keep_recent_tokens import KeepRecentTokens, measure_context, walk_back
from inspector.policies.trigger import Measured
from inspector.session.blocks import Block, Reasoning, Text, ToolCall, ToolOutput
from inspector.session.entries import Entry, Usage
from inspector.session.session import Session
from inspector.summaries.compaction import compact
from inspector.summaries.material import job_text
from inspector.summaries.recovery import judge_reply
from inspector.tokens.ledger import count_tokens
from tests.reference.flue_2 import derive_defaults
from tests.strategies import sessions
from tests.test_cuts import build

KEEP, OLDER = "keep-recent-tokens", "summarise-older"
WINDOW = 200_000


def user(tokens: int = 5, *more: Block) -> Entry:
    return Entry(id="", role="user", blocks=(Text(text="u" * 4 * tokens), *more))


def reply(tokens: int = 5, usage: int | None = None, stop: str = "stop") -> Entry:
    spent = None if usage is None else Usage(input=usage, total=usage)
    return Entry(
        id="", role="assistant", blocks=(Text(text="a" * 4 * tokens),), usage=spent, stop_reason=stop
    )


def ask(name: str, tool: str = "read", path: str = "a.py") -> Entry:
    return Entry(id="", role="assistant", blocks=(ToolCall(id=name, name=tool, input={"path": path}),))


def output(name: str, tokens: int = 5, **extra: Any) -> Entry:
    parts = (Text(text="o" * 4 * tokens),)
    return Entry(id="", role="tool", blocks=(ToolOutput(call_id=name, parts=parts),), extra=extra)


def branch(text: str) -> Entry:
    words = f"Another branch:\n\n<summary>\n{text}\n</summary>"
    return Entry(id="", role="user", kind="branch_summary", blocks=(Text(text=words),))


def plan_of(session: Session, policy: str, keep: float = 10, settings: dict[str, Any] | None = None) -> Plan:
    edits = Edits(settings=(settings or {}) | {f"{KEEP}.tokens": keep})
    return make_plan(session, count_tokens(session, "chars4_utf16"), policy, edits, window=WINDOW)


def versions(session: Session, keep: float = 10) -> dict[str, Plan]:
    """The plan of Flue's pin and of every version of pi."""
    plans = {"flue": plan_of(session, "flue", keep)}
    return plans | {name: plan_of(session, "pi", keep, knobs) for name, knobs in VERSIONS.items()}


def cuts(plans: dict[str, Plan]) -> dict[str, str | None]:
    return {name: plan.cut.entry if plan.cut is not None else None for name, plan in plans.items()}


def test_S4_26_S4_27_S4_28_each_system_has_its_own_two_budgets() -> None:
    def budgets(name: str) -> tuple[bool, float, float]:
        policy = find_policy(name)
        walk = next(rule for rule in policy.rules if isinstance(rule, KeepRecentTokens))
        return policy.trigger.enabled, policy.trigger.reserve_tokens, walk.tokens

    assert budgets("flue") == budgets("pi") == (True, 16_384, 20_000)
    assert budgets("flue-2") == (True, 20_000, 8_000)
    assert derive_defaults(200_000, 64_000) == (20_000, 8_000)
    assert derive_defaults(32_000, 0) == (10_666, 8_000), "a third of a small window"


STUCK = build(user(), reply(), user(), ask("1"), output("1", 20))


def test_outputs_at_the_very_end_leave_flue_stuck_and_pi_keeps_their_call() -> None:
    assert cuts(versions(STUCK)) == {"flue": None, "0.58.3": "e0", "0.73.1": "e0", "1.5.2": "e3"}
    assert cuts({"2": plan_of(STUCK, "flue-2")}) == {"2": None}
    mended = plan_of(STUCK, "flue", settings={f"{KEEP}.fallback": "last"})
    assert cuts({"flue": mended}) == {"flue": "e3"}
    assert [job.entries for job in mended.jobs] == [("e0", "e1"), ("e2",)]


@pytest.mark.parametrize("name", ["flue", "flue-2"])
def test_the_reason_for_no_cut_is_the_one_that_holds(name: str) -> None:
    """The budget covers the context only if all of it is within the budget."""
    held, failed = plan_of(STUCK, name, keep=1_000), plan_of(STUCK, name)
    assert held.place is failed.place is None
    assert "budget covers the whole context" in held.why and "no valid cut point" not in held.why
    assert "no valid cut point follows" in failed.why and "covers" not in failed.why
    settings = {"settings": {f"{KEEP}.tokens": 10}}
    for reason in ("manual", "overflow"):
        done = compact(STUCK, name, Checkpoint(text="So far."), edits=settings, reason=reason)
        assert not done.done and done.why == failed.why


@pytest.mark.parametrize("name", ["flue", "flue-2", "pi"])
@pytest.mark.parametrize(("first", "last", "said"), [
    (40, 5, "the first message alone fills the budget"),
    (8, 5, "the first message fills the budget"),
    (4, 5, "the budget covers the whole context"),
])  # fmt: skip
def test_a_first_message_that_fills_the_budget_is_the_reason(
    name: str, first: int, last: int, said: str
) -> None:
    plan = plan_of(build(user(first), reply(last)), name)
    assert plan.place is None and said in plan.why


@pytest.mark.parametrize("retries", [0, 1, 3])
def test_S0_101_a_replay_asks_as_often_as_compact_does_when_both_calls_of_a_split_turn_fail(
    retries: int,
) -> None:
    def fail(job: SummaryJob, session: Session) -> Reply:
        return Reply(text="", stop_reason="error", error="500")

    events: list[AuditEvent] = []
    policy = find_policy("flue").configured({
        f"{KEEP}.tokens": 10, f"{KEEP}.fallback": "last", "harness.retries": retries
    })  # fmt: skip
    assert not compact(STUCK, policy, fail, on_event=events.append).done
    scenario = {"acts": [{"at": STUCK.leaf, "do": "compact"}], "writer": {"fails": "always"}}
    run = replay(STUCK, policy, scenario, window=WINDOW)
    for kind in ("failed", "retried"):
        told, own = ([e.data for e in found if e.kind == kind] for found in (run.events, events))
        assert len(told) == len(own) == (1 if kind == "failed" else retries)
    (told,), (own,) = ([e for e in found if e.kind == "failed"] for found in (run.events, events))
    assert told.data["calls"] == own.data["calls"] == retries + 2
    assert run.compactions[0].calls == retries + 2


@pytest.mark.parametrize("retries", [0, 1, 2, 5])
@pytest.mark.parametrize("failing", [{"initial"}, {"turn_prefix"}, {"initial", "turn_prefix"}])
def test_S0_101_a_split_turn_reports_a_retry_for_each_call_that_was_made_again(
    retries: int, failing: set[str]
) -> None:
    asked: list[str] = []
    events: list[AuditEvent] = []

    def write(job: SummaryJob, session: Session) -> Reply:
        asked.append(job.kind)
        return (
            Reply(text="", stop_reason="error", error="500") if job.kind in failing else Reply(text="So far.")
        )

    settings = {f"{KEEP}.tokens": 10, f"{KEEP}.fallback": "last", "harness.retries": retries}
    done = compact(STUCK, "flue", write, edits={"settings": settings}, on_event=events.append)
    assert not done.done and set(asked) == {"initial", "turn_prefix"}
    repeated = [event for event in events if event.kind == "retried"]
    assert len(repeated) == len(asked) - 2
    assert all(event.data["attempt"] <= event.data["limit"] == retries for event in repeated)


def measured(session: Session, policy: str, **knobs: Any) -> Measured:
    plan = plan_of(session, policy, settings={f"{KEEP}.{name}": value for name, value in knobs.items()})
    rule = plan.table.sibling(KEEP)
    assert isinstance(rule, KeepRecentTokens)
    return measure_context(plan.table, rule)


@pytest.mark.parametrize("name", ["flue", "flue-2", "pi"])
def test_S4_29_the_provider_s_word_of_the_latest_reply_alone_decides(name: str) -> None:
    session = build(user(), reply(usage=WINDOW), user(5000), reply(5000, usage=900), user(WINDOW))
    verdict = plan_of(session, name).verdict
    assert (verdict.tokens, verdict.fires) == (900, False)


def test_a_reply_whose_usage_is_zero_hides_the_context_in_flue_and_not_in_pi() -> None:
    session = build(user(50), reply(usage=900), user(5), reply(usage=0), user(7))
    assert measured(session, "flue") == Measured(7, 0, 7, 3)
    assert measured(session, "pi") == Measured(900 + 5 + 5 + 7, 900, 17, 1)


SIDE = build(user(), reply(), branch("b" * 40), user(6), reply(6))


def test_pi_0_73_1_moves_the_cut_back_over_a_branch_summary() -> None:
    assert cuts(versions(SIDE, 12)) == {"flue": "e3", "0.58.3": "e2", "0.73.1": "e2", "1.5.2": "e3"}
    old = plan_of(SIDE, "pi", 12, VERSIONS["0.73.1"])
    rule = old.table.sibling(KEEP)
    assert isinstance(rule, KeepRecentTokens)
    assert walk_back(old.table, 12, rule) == (2, 2), "called a split turn, of which nothing stands before"
    assert [job.kind for job in old.jobs] == ["initial"]


def test_pi_1_5_2_hides_reasoning_from_the_summariser_and_cuts_no_character() -> None:
    thought = Reasoning(text="I think")
    said = Entry(id="", role="assistant", blocks=(thought, ToolCall(id="1", name="bash", input={})))
    out = "o" * 1999 + "😀" + "end"
    told = Entry(id="", role="tool", blocks=(ToolOutput(call_id="1", parts=(Text(text=out),)),))
    session = build(user(1), said, told, user(5), reply(5))
    flue, pi = (job_text(session, plan_of(session, name, 10).jobs[0]) for name in ("flue", "pi"))
    assert "[Assistant thinking]: I think\n\n[Assistant tool calls]: bash()" in flue
    assert "I think" not in pi
    assert flue.endswith("o\ud83d\n\n[... 4 more characters truncated]")
    assert pi.endswith("o\n\n[... 4 more characters truncated]")


def test_S4_30_all_three_fire_only_above_the_window_less_the_reserve() -> None:
    for name, edge in (("flue", 183_616), ("pi", 183_616), ("flue-2", 180_000)):
        trigger = find_policy(name).trigger
        assert (trigger.fires(edge, WINDOW), trigger.fires(edge + 1, WINDOW)) == (False, True)


def test_S4_74_switched_off_the_threshold_rests_and_overflow_recovery_does_not() -> None:
    refused = build(user(), reply(usage=WINDOW + 1))
    for name in ("flue-2", "pi"):
        policy = find_policy(name).configured({"trigger.enabled": False})
        full = build(user(), reply(usage=WINDOW))
        recovers = policy.harness.recover
        assert judge_reply(full, policy.trigger, window=WINDOW, recovers=recovers).follows == "nothing"
        judged = judge_reply(refused, policy.trigger, window=WINDOW, recovers=recovers)
        assert (judged.follows, judged.kind) == ("recover", "token_overflow"), "it read more than the window"


knobs = st.fixed_dictionaries(
    {},
    optional={
        f"{KEEP}.estimate": st.sampled_from(("flue", "pi-0.73.1", "pi-1.5.2")),
        f"{KEEP}.fresh_usage": st.booleans(),
        f"{KEEP}.skip_empty": st.booleans(),
        f"{KEEP}.fallback": st.sampled_from(("first", "last")),
        f"{KEEP}.summaries": st.booleans(),
        f"{KEEP}.step_back": st.booleans(),
        f"{KEEP}.start": st.sampled_from(("kept", "compaction")),
        f"{KEEP}.again": st.booleans(),
        f"{KEEP}.always": st.booleans(),
        "carry-file-operations.nested": st.booleans(),
        f"{OLDER}.limited": st.booleans(),
        f"{OLDER}.keep_previous": st.booleans(),
    },
)
"""Any mixture of the versions."""


@given(sessions(), st.sampled_from(("flue", "flue-2", "pi")), st.integers(-5, 800), knobs)
def test_S4_38_no_mixture_of_versions_keeps_an_output_without_its_call(
    session: Session, policy: str, keep: int, settings: dict[str, Any]
) -> None:
    plan = plan_of(session, policy, keep, settings)
    live = session.live
    if plan.place is not None and plan.place < len(live) and not settings.get(f"{KEEP}.always"):
        assert session.entries[live.entries[plan.place]].role in ("user", "assistant")
    pieces = [piece.block for piece in build_context(session, plan).pieces]
    called = {block.id for block in pieces if block.kind == "tool_call"}
    assert {block.call_id for block in pieces if block.kind == "tool_output"} <= called


def first_kept(session: Session, policy: str, keep: float) -> int:
    table = plan_of(session, policy).table
    rule = table.sibling(KEEP)
    assert isinstance(rule, KeepRecentTokens)
    return walk_back(table, keep, rule).first_kept


@given(sessions(), st.integers(0, 400), st.integers(0, 400))
def test_S4_39_S4_73_in_pi_a_larger_budget_never_keeps_less(session: Session, one: int, other: int) -> None:
    small, large = sorted((one, other))
    assert first_kept(session, "pi", large) <= first_kept(session, "pi", small)


def test_S4_71_S4_72_the_two_budgets_are_set_apart() -> None:
    policy = find_policy("flue-2").configured({"trigger.reserve_tokens": 50_000})
    assert policy.trigger.fires(150_001, WINDOW)
    assert not find_policy("flue-2").trigger.fires(150_001, WINDOW)
    walk = next(rule for rule in policy.rules if isinstance(rule, KeepRecentTokens))
    assert walk.tokens == 8_000


@pytest.mark.parametrize(("name", "lost"), [("flue", True), ("flue-2", True), ("pi", False)])
def test_S4_45_a_plan_says_where_a_split_turn_loses_the_earlier_summary(name: str, lost: bool) -> None:
    first = build(user(40), reply(40), user(9))
    done = compact(first, "flue", Checkpoint(text="MARKED"), edits={"cut": "e2"})
    assert done.entry is not None
    for more in ((), (reply(9), user(20))):
        entries, leaf = list(done.after.entries), done.after.leaf
        for at, entry in enumerate((*more, ask("1"), output("1", 9), reply(30))):
            entries.append(entry.model_copy(update={"id": f"n{at}", "parent": leaf}))
            leaf = f"n{at}"
        session = done.after.with_entries(entries, leaf)
        plan = plan_of(session, name)
        shown = any("MARKED" in f"{job.previous} {job.history}" for job in plan.jobs)
        noted = any("earlier summary is lost" in note for note in plan.notes)
        assert "turn_prefix" in [job.kind for job in plan.jobs] and noted != shown, plan.notes
        assert noted == (lost and not more)
