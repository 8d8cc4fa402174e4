"""Flue, Flue 2 and pi: what one of them gets wrong beside what another mended, on sessions one can read.

A message weighs a quarter of its characters, so `user(5)` is a message of five tokens.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.formats.summary_wording import shown_summary
from inspector.planning.assemble import build_context
from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.planning.summary_jobs import Checkpoint, Reply
from inspector.policies.builtin.pi import VERSIONS
from inspector.policies.pi_estimate import weigh_message
from inspector.policies.policy import Edits
from inspector.policies.registry import find_policy
from inspector.policies.rules.carry_file_operations import collect
from inspector.policies.rules.keep_recent_tokens import KeepRecentTokens, measure_context, walk_back
from inspector.policies.table import FATES
from inspector.policies.trigger import Measured
from inspector.session.blocks import Block, Image, Reasoning, Text, ToolCall, ToolOutput
from inspector.session.entries import Boundary, Entry, Usage
from inspector.session.queries import since_compaction
from inspector.session.session import Session
from inspector.summaries.material import job_text
from inspector.summaries.record import append_checkpoint
from inspector.summaries.recovery import judge_reply
from inspector.summaries.write import write_checkpoint
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


def summary(text: str = "what was", first_kept: str | None = None, **more: Any) -> Entry:
    boundary = Boundary(summary=text, first_kept=first_kept, **more)
    return Entry(id="", role="user", kind="compaction", blocks=(Text(text=text),), boundary=boundary)


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


def write(plan: Plan, **replies: Reply) -> Checkpoint:
    told = [replies.get(job.kind, Reply(text=f"({job.kind})")) for job in plan.jobs]
    return write_checkpoint(plan.jobs, told)


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


CUT_IN_THE_FIRST_TURN = build(
    user(), reply(), summary("the old summary", first_kept="e4"), user(), ask("1"), output("1"), reply()
)


def test_a_turns_beginning_alone_loses_the_summary_before_in_flue_and_keeps_it_in_pi() -> None:
    told = {name: write(plan).text for name, plan in versions(CUT_IN_THE_FIRST_TURN, 5).items()}
    lost = "No prior history.\n\n---\n\n**Turn Context (split turn):**\n\n(turn_prefix)"
    kept = lost.replace("No prior history.", "the old summary")
    assert told == {"flue": lost, "0.58.3": lost, "0.73.1": lost, "1.5.2": kept}
    one = plan_of(CUT_IN_THE_FIRST_TURN, "flue", 5, {f"{OLDER}.keep_previous": True})
    assert [job.kind for job in one.jobs] == ["turn_prefix"]
    assert one.jobs[0].previous is None, "the turn's beginning is written up without it"
    assert write(one).text == kept


def test_without_a_summary_before_there_is_no_history_to_keep() -> None:
    session = build(user(), ask("1"), output("1"), reply())
    assert write(plan_of(session, "pi", 5)).text.startswith("No prior history.\n")


KEPT_TAIL = build(
    user(),
    ask("1", "edit", "lost.py"),
    output("1"),
    reply(),
    summary("old", first_kept="e1", files_read=("before.py",)),
    user(),
    ask("2", "read", "new.py"),
    output("2"),
    reply(),
    user(),
    reply(),
)


def test_pi_0_58_3_loses_what_the_compaction_before_had_kept() -> None:
    old, new = (plan_of(KEPT_TAIL, "pi", 10, VERSIONS[name]) for name in ("0.58.3", "1.5.2"))
    assert cuts({"old": old, "new": new}) == {"old": "e9", "new": "e9"}
    assert [job.entries for job in new.jobs] == [("e1", "e2", "e3", "e5", "e6", "e7", "e8")]
    assert [job.entries for job in old.jobs] == [("e5", "e6", "e7", "e8")]
    assert [FATES[code] for code in old.fate] == ["summarised", *["dropped"] * 3, *["summarised"] * 4] + [
        "verbatim"
    ] * 2
    assert {old.rule_of(row) for row in (1, 2, 3)} == {KEEP}


def test_files_touched_in_the_lost_tail_are_lost_too_and_those_carried_are_not() -> None:
    for version, modified in (("0.58.3", []), ("1.5.2", ["lost.py"])):
        plan = plan_of(KEPT_TAIL, "pi", 10, VERSIONS[version])
        files = collect(plan.table, plan.place or 0)
        assert (files.read_files, files.modified_files) == (["before.py", "new.py"], modified)


def test_a_turn_that_began_in_the_lost_tail_is_not_split() -> None:
    session = build(user(), reply(), summary("s", first_kept="e0"), ask("1"), output("1", 9), reply(9))
    new, old = (plan_of(session, "pi", 5, VERSIONS[name]) for name in ("1.5.2", "0.58.3"))
    assert [(job.kind, job.entries) for job in new.jobs] == [("turn_prefix", ("e0", "e1", "e3", "e4"))]
    assert [(job.kind, job.entries) for job in old.jobs] == [("update", ("e3", "e4"))]


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


def test_usage_older_than_the_compaction_is_believed_by_flue_and_not_by_pi() -> None:
    session = build(user(), reply(usage=90_000), summary("s" * 8, first_kept="e1"), user(3))
    assert measured(session, "flue") == Measured(90_003, 90_000, 3, 1)
    assert measured(session, "pi") == Measured(2 + 5 + 3, 0, 10, None)
    assert measured(session, "flue", fresh_usage=True) == Measured(10, 0, 10, None)
    assert measured(session, "pi", fresh_usage=False, start="compaction").tokens == 2 + 3


def test_pi_counts_users_pictures_since_1_5_2_and_never_the_words_around_a_summary() -> None:
    seen = user(1, Image(media_type="image/png", data="AAAA"))
    assert [weigh_message(seen, name) for name in ("flue", "pi-0.73.1", "pi-1.5.2")] == [1, 1, 1201]
    side = branch("s" * 8)
    weights = [weigh_message(side, name) for name in ("flue", "pi-0.73.1", "pi-1.5.2")]
    assert weights[1:] == [2, 2]
    assert weights[0] > 2


def test_messages_that_weigh_nothing_are_walked_past() -> None:
    session = build(user(), reply(), user(), reply(), user(0))
    flue, pi = plan_of(session, "flue", 0), plan_of(session, "pi", 0)
    assert cuts({"flue": flue, "pi": pi}) == {"flue": "e4", "pi": "e3"}


SIDE = build(user(), reply(), branch("b" * 40), user(6), reply(6))


def test_a_cut_may_stand_at_a_branch_summary_in_pi_and_flue_refuses_it() -> None:
    plans = versions(build(user(), reply(), branch("b" * 40), reply(6)), 7)
    assert cuts(plans)["flue"] is None
    assert "branch summary" in plans["flue"].why
    assert cuts(plans)["1.5.2"] == "e2", "its ten tokens count, so it fills the budget"
    allowed = plan_of(plans["flue"].session, "flue", 7, {f"{KEEP}.summaries": True})
    assert cuts({"flue": allowed}) == {"flue": "e2"}


def test_pi_0_73_1_moves_the_cut_back_over_a_branch_summary() -> None:
    assert cuts(versions(SIDE, 12)) == {"flue": "e3", "0.58.3": "e2", "0.73.1": "e2", "1.5.2": "e3"}
    old = plan_of(SIDE, "pi", 12, VERSIONS["0.73.1"])
    rule = old.table.sibling(KEEP)
    assert isinstance(rule, KeepRecentTokens)
    assert walk_back(old.table, 12, rule) == (2, 2), "called a split turn, of which nothing stands before"
    assert [job.kind for job in old.jobs] == ["initial"]


def test_it_does_not_move_back_over_the_last_compaction() -> None:
    session = build(user(), branch("b" * 40), summary("s", first_kept="e0"), user(6), reply(6))
    assert since_compaction(session) == 3
    assert cuts({"old": plan_of(session, "pi", 12, VERSIONS["0.73.1"])}) == {"old": "e3"}


def test_pi_0_73_1_compacts_although_nothing_can_be_summarised() -> None:
    session = build(user(), reply(), summary("old", first_kept="e0"), user())
    plans = versions(session, 1000)
    assert cuts(plans) == {"flue": None, "0.58.3": "e3", "0.73.1": "e0", "1.5.2": None}
    assert [(job.kind, job.entries) for job in plans["0.73.1"].jobs] == [("update", ())]


def test_pi_never_compacts_twice_in_a_row_and_flue_may() -> None:
    session = build(user(), reply(), user(), reply(), summary("old", first_kept="e1"))
    assert cuts(versions(session, 5)) == {"flue": "e3", "0.58.3": None, "0.73.1": None, "1.5.2": None}


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


def test_lengths_and_effort_asked_of_the_summariser() -> None:
    session = build(user(), reply(), user(), ask("1"), output("1"), reply())
    big = {"trigger.reserve_tokens": 40_000}

    def asked(policy: str, version: str = "1.5.2") -> list[tuple[int | None, str]]:
        knobs = VERSIONS[version] if policy == "pi" else {}
        return [(job.max_tokens, job.reasoning) for job in plan_of(session, policy, 5, knobs | big).jobs]

    assert asked("flue") == asked("flue-2") == [(16_000, "high"), (16_000, "high")]
    assert asked("pi", "0.58.3") == [(32_000, "high"), (20_000, "")]
    assert asked("pi", "0.73.1") == [(32_000, "session"), (20_000, "session")]
    assert asked("pi") == [(None, "session"), (None, "session")]


@pytest.mark.parametrize("stop", ["length", "toolUse"])
def test_a_reply_that_was_cut_off_or_calls_a_tool_is_no_summary_to_pi(stop: str) -> None:
    session = build(user(), reply(), user(), reply())
    half = Reply(text="half a summ", stop_reason=stop)
    assert write(plan_of(session, "flue"), initial=half).text == "half a summ"
    assert (write(plan_of(session, "pi"), initial=half).error or "").startswith("Summarization failed: ")


def test_a_summary_is_shown_as_the_sessions_format_shows_it() -> None:
    assert shown_summary("flue", "so far") == "[Context Summary]\n\nso far"
    shown = shown_summary("pi", "so far")
    assert shown.endswith("\n\n<summary>\nso far\n</summary>")
    recorded = summary("so far").model_copy(update={"blocks": (Text(text=shown),)})
    assert weigh_message(recorded, "pi-1.5.2") == 2, "six characters: the words around it weigh nothing"


def test_S4_40_calls_that_a_tool_made_itself_count_in_pi_1_5_2() -> None:
    nested = {"calls": [{"name": "write", "arguments": {"path": "made.py"}}, {"name": "ls"}, "?"]}
    session = build(user(), ask("1"), output("1", nestedCalls=nested), user(), reply())
    found = {name: collect(plan.table, plan.place or 0) for name, plan in versions(session).items()}
    assert {name: files.modified_files for name, files in found.items()} == {
        "flue": [],
        "0.58.3": [],
        "0.73.1": [],
        "1.5.2": ["made.py"],
    }


def test_S4_40_lists_are_carried_over_from_a_compaction_before() -> None:
    first = plan_of(build(user(), ask("1", "edit"), output("1"), user(), reply()), "pi")
    session = append_checkpoint(first, Checkpoint(text="one"), "c1")
    more = [user(), ask("2", "read", "b.py"), output("2"), user(), reply()]
    entries, parent = list(session.entries), "c1"
    for i, entry in enumerate(more):
        entries.append(entry.model_copy(update={"id": f"f{i}", "parent": parent}))
        parent = f"f{i}"
    second = plan_of(Session(format="test", entries=tuple(entries), leaf=parent), "pi")
    files = collect(second.table, second.place or 0)
    assert (files.read_files, files.modified_files) == (["b.py"], ["a.py"])


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


@given(sessions(), st.integers(-5, 800), knobs)
def test_what_a_job_is_shown_was_neither_kept_nor_lost(
    session: Session, keep: int, settings: dict[str, Any]
) -> None:
    plan = plan_of(session, "pi", keep, settings)
    names = [session.entries[i].id for i in session.live.entries.tolist()]
    first = since_compaction(session) if settings.get(f"{KEEP}.start") == "compaction" else plan.table.start
    shown = [name for job in plan.jobs for name in job.entries]
    assert shown == (names[first : plan.place] if plan.jobs else [])


def first_kept(session: Session, policy: str, keep: float) -> int:
    table = plan_of(session, policy).table
    rule = table.sibling(KEEP)
    assert isinstance(rule, KeepRecentTokens)
    return walk_back(table, keep, rule).first_kept


@given(sessions(), st.integers(0, 400), st.integers(0, 400))
def test_S4_39_S4_73_in_pi_a_larger_budget_never_keeps_less(session: Session, one: int, other: int) -> None:
    small, large = sorted((one, other))
    assert first_kept(session, "pi", large) <= first_kept(session, "pi", small)


def test_in_flue_a_smaller_budget_can_keep_more() -> None:
    assert [first_kept(STUCK, "flue", keep) for keep in (10, 22)] == [0, 3]
    assert [first_kept(STUCK, "pi", keep) for keep in (10, 22)] == [3, 3]


def test_S4_71_S4_72_the_two_budgets_are_set_apart() -> None:
    policy = find_policy("flue-2").configured({"trigger.reserve_tokens": 50_000})
    assert policy.trigger.fires(150_001, WINDOW)
    assert not find_policy("flue-2").trigger.fires(150_001, WINDOW)
    walk = next(rule for rule in policy.rules if isinstance(rule, KeepRecentTokens))
    assert walk.tokens == 8_000
