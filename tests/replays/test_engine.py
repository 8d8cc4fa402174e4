"""A session lived again, row by row, on sessions small enough to count by hand: a word is a token."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

from inspector.errors import EditError
from inspector.planning.assemble import build_context, live_context
from inspector.policies.harness import Harness
from inspector.policies.policy import Policy, read_policy
from inspector.policies.registry import find_policy, names_of_policies
from inspector.policies.rules.truncate_outputs import TruncateOutputs
from inspector.policies.table import FATES
from inspector.policies.trigger import Reason, Trigger
from inspector.replays.engine import replay
from inspector.replays.run import Run
from inspector.session.blocks import Block, Text, ToolCall, ToolOutput
from inspector.session.entries import Boundary, Entry, Provided, Tool, Usage
from inspector.session.session import Session
from inspector.tokens.cost import SummaryCall, price_steps
from inspector.tokens.counter import Counter
from inspector.tokens.history import History, trace_history
from inspector.tokens.ledger import Ledger, count_tokens
from inspector.tokens.prices import Price
from inspector.workbench.payloads.replay import draw_run
from tests.reference.event_order import check_fields, check_order
from tests.shared import SHARED, needs_shared, open_shared

WORDS = Counter("words", "Words", lambda texts: np.array([len(text.split()) for text in texts], np.int32))
WINDOW = 100


def say(role: str, words: int, *more: Block, **fields: Any) -> Entry:
    return Entry(id="", role=role, blocks=(Text(text="word " * words), *more), **fields)


def turn(asked: int = 4, answered: int = 6) -> list[Entry]:
    """A question and an answer: ten tokens unless told otherwise."""
    return [say("user", asked), say("assistant", answered)]


def tools(number: int, words: int) -> list[Entry]:
    """A reply of four tokens, its call of one among them, and the call's output."""
    call = ToolCall(id=f"c{number}", name="read", input={})
    output = ToolOutput(call_id=f"c{number}", parts=(Text(text="word " * words),))
    return [say("assistant", 3, call), Entry(id="", role="tool", blocks=(output,))]


def talk(*entries: Entry, **fields: Any) -> Session:
    """Entries e0, e1, … that follow each other."""
    linked = tuple(
        entry.model_copy(update={"id": f"e{i}", "parent": f"e{i - 1}" if i else None})
        for i, entry in enumerate(entries)
    )
    return Session(
        **{"format": "demo", "entries": linked, "leaf": linked[-1].id if linked else None} | fields
    )


def turns(count: int, **fields: Any) -> Session:
    return talk(*(entry for _ in range(count) for entry in turn()), **fields)


def make_policy(
    trigger: Trigger | None = None, conduct: Harness | None = None, keep: int = 1, budget: int = 5
) -> Policy:
    """Keeps so many turns and writes the rest up in `budget` tokens; fires from 80 % on, before a request."""
    return Policy(
        name="mine",
        trigger=trigger or Trigger(ratio=0.8, measure="assembled", check="request"),
        harness=conduct or Harness(),
        rules=read_policy(
            {
                "name": "mine",
                "rules": [
                    {"kind": "keep-system"},
                    {"kind": "keep-recent-turns", "turns": keep},
                    {"kind": "summarise-older", "split_turns": False, "cap": budget},
                ],
            }
        ).rules,
    )


def live(session: Session, policy: Policy | str | None = None, scenario: Any = None, **more: Any) -> Run:
    """A replay whose log is in order; its summaries are as long as they may be, unless told otherwise."""
    told: dict[str, Any] = {"writer": {"oversize": 1}} | (scenario or {})
    given: dict[str, Any] = {"window": WINDOW, "ledger": count_tokens(session, WORDS)} | more
    run = replay(session, make_policy() if policy is None else policy, told, **given)
    assert check_order(run.events, run.policy.harness) == []
    assert check_fields(run.events) == []
    return run


def kinds(run: Run, *wanted: str) -> list[str]:
    return [event.kind for event in run.events if not wanted or event.kind in wanted]


def requests(run: Run) -> list[int]:
    """How often a request was composed, at each step that opens with one."""
    return [int(count) for count in run.requests if count]


def event(run: Run, kind: str) -> Any:
    return next(event for event in run.events if event.kind == kind)


def at(entry: str, do: str, **more: Any) -> dict[str, Any]:
    return {"acts": [{"at": entry, "do": do, **more}]}


MANUAL = Harness(mode="manual", engine="tool", warn=0.8, require=0.95, recover=False, dialect="stud-warning")
OFF = Trigger(enabled=False)
WARNING = make_policy(OFF, MANUAL)
FLUE = {"keep-recent-tokens.tokens": 8, "trigger.reserve_tokens": 20}


# -- what fits, and what does not ---------------------------------------------------------------------


def test_S0_8_what_fits_is_sent_as_it_is() -> None:
    run = live(turns(5))
    assert (run.events, run.compactions, run.status) == ((), (), "finished")
    assert run.context.tolist() == [4, 10, 14, 20, 24, 30, 34, 40, 44, 50]
    assert run.sent.tolist() == [0, 4, 0, 14, 0, 24, 0, 34, 0, 44]


def test_S3_26_S3_27_S3_29_an_append_keeps_the_whole_request_before_as_its_prefix() -> None:
    run = live(turns(5))
    assert run.cached.tolist() == [0, 0, 0, 4, 0, 14, 0, 24, 0, 34]


def test_S0_7_S0_9_S0_10_S0_11_the_total_decides_and_what_is_sent_is_rebuilt_once() -> None:
    run = live(turns(9))
    # Before the ninth answer there are 84 tokens: eight turns and a question. One turn and a summary stay.
    (item,) = run.compactions
    assert (item.before, item.after, item.reason, item.adopted) == (84, 9, "auto", True)
    assert item.plan.table.window == WINDOW and item.plan.before == 84
    assert kinds(run) == [
        *("threshold_hit", "state_changed", "started", "prefix_reset", "completed", "state_changed"),
        "recovered",
    ]
    assert (run.sent[-1], run.cached[-1]) == (9, 0)
    assert run.context.tolist()[-3:] == [80, 84, 15]
    assert run.peak == 84


@pytest.mark.parametrize("part", ["system", "provided", "tools"])
def test_S0_7_S0_12_the_head_is_part_of_the_total_that_decides(part: str) -> None:
    # Seven turns and a question are 74 of 80 tokens; the head alone makes the difference.
    words = "word " * 6
    head: dict[str, Any] = {
        "system": (Text(text=words),),
        "provided": (Provided(name="clock", text=words),),
        "tools": (Tool(name="a b c d e f"),),
    }
    assert kinds(live(turns(8)), "threshold_hit") == []
    session = turns(8, **{part: head[part]})
    assert count_tokens(session, WORDS).head_tokens == 6
    hit = event(live(session), "threshold_hit")
    # What was decided on is told: the whole request, and the window it was held against.
    assert (hit.before, hit.data["window"]) == (80, WINDOW)


def test_S3_2_S3_23_a_compaction_is_one_miss_from_the_first_block_it_rewrote() -> None:
    system = (Text(text="be kind"),)
    run = live(turns(10, system=system))
    (item,) = run.adopted
    assert item.prefix == 2
    misses = [step for step in range(1, len(run)) if run.sent[step] > 0 and run.cached[step] == 2]
    assert misses == [item.step]


def test_S3_30_the_reset_is_marked_once_per_adopted_compaction_before_its_loop_event() -> None:
    run = live(turns(30))
    assert len(run.adopted) > 2
    assert kinds(run, "prefix_reset", "completed") == ["prefix_reset", "completed"] * len(run.adopted)


# -- triggers ------------------------------------------------------------------------------------------


def test_S0_117_three_reasons_and_each_can_be_lived() -> None:
    assert get_args(Reason) == ("auto", "manual", "overflow")
    assert live(turns(9)).adopted[0].reason == "auto"
    assert live(turns(5), scenario=at("e8", "compact")).adopted[0].reason == "manual"
    assert live(turns(5), scenario=at("e9", "token_overflow")).adopted[0].reason == "overflow"


def test_S0_14_compact_works_at_any_fill_and_hits_no_threshold() -> None:
    run = live(turns(3), scenario=at("e4", "compact"))
    assert kinds(run, "threshold_hit", "started", "completed") == ["started", "completed"]
    assert (run.adopted[0].before, run.adopted[0].entry) == (20, "e3")


def test_S3_17_outputs_are_followed_by_a_check_before_the_next_request() -> None:
    published = find_policy("mini-claude-code").trigger
    trigger = Trigger(tokens=50, measure="assembled", check=published.check)
    session = talk(*turn(), *turn(), say("user", 4), *tools(1, 30), say("assistant", 2))
    run = live(session, make_policy(trigger))
    (item,) = run.adopted
    assert (item.before, item.entry) == (58, "e6")
    assert run.sent[-1] == item.after
    # Without outputs nobody looks, however full it is (vector 073).
    assert live(turns(9), make_policy(trigger)).compactions == ()


def test_S4_15_the_trigger_is_looked_at_when_a_reply_arrives() -> None:
    trigger = Trigger(tokens=50, measure="assembled", check="reply")
    run = live(talk(*turn(), say("user", 60), say("assistant", 2)), make_policy(trigger))
    assert [item.entry for item in run.adopted] == ["e3"]
    assert run.adopted[0].before == 72


def test_S4_31_S4_32_without_a_window_nothing_fires_and_an_overflow_is_recovered_from() -> None:
    run = live(
        turns(9),
        find_policy("flue").configured({"keep-recent-tokens.tokens": 8}),
        at("e17", "token_overflow"),
        window=0,
    )
    assert [item.reason for item in run.adopted] == ["overflow"]
    assert run.threshold == 0 and "threshold_hit" not in kinds(run)


# -- state machines, deferring and forcing -------------------------------------------------------------


def test_S0_5_a_state_machine_forces_a_compaction_below_the_threshold() -> None:
    run = live(turns(3), make_policy(conduct=Harness(machine="force")), at("e4", "force"))
    assert kinds(run)[:3] == ["forced", "state_changed", "started"]
    assert event(run, "started").data["by"] == "machine"
    assert len(run.adopted) == 1


@pytest.mark.parametrize("deed", ["force", "defer"])
def test_S0_87_by_default_a_state_machine_is_refused_with_a_diagnostic(deed: str) -> None:
    run = live(turns(3), scenario=at("e4", deed))
    assert run.compactions == () and [found.kind for found in run.findings] == [f"no_{deed}"]


def test_S0_66_what_is_put_off_waits_for_its_release_or_an_overflow() -> None:
    policy = make_policy(conduct=Harness(machine="defer"))
    deferred = live(turns(10), policy, at("e0", "defer"))
    assert deferred.compactions == () and kinds(deferred, "deferred") == ["deferred"] * 2
    acts = [{"at": "e0", "do": "defer"}, {"at": "e19", "do": "release"}]
    assert live(turns(10), policy, {"acts": acts}).adopted[0].entry == "e18"
    acts = [{"at": "e0", "do": "defer"}, {"at": "e19", "do": "token_overflow"}]
    assert [item.reason for item in live(turns(10), policy, {"acts": acts}).adopted] == ["overflow"]


# -- the summariser ------------------------------------------------------------------------------------


def test_S0_101_S0_102_retried_and_then_the_turn_fails_with_its_cause() -> None:
    good = live(turns(9), scenario={"writer": {"fails": 2, "oversize": 1}})
    assert (good.adopted[0].calls, kinds(good, "retried", "completed")) == (
        3,
        ["retried", "retried", "completed"],
    )
    # Each call is asked about the same eight turns.
    assert good.adopted[0].asked == 3 * live(turns(9)).adopted[0].asked == 240
    bad = live(turns(9), scenario={"writer": {"fails": 3}})
    told = event(bad, "failed")
    # The turn goes on with the whole context, unless the harness lets it end.
    assert (told.data["error"], told.data["cause"]) == ("SummarizeFailed", "SummarizeFailed")
    ends = live(turns(9), make_policy(conduct=Harness(fatal=True)), {"writer": {"fails": 3}})
    told_end = event(ends, "failed").data
    assert (told_end["error"], told_end["cause"]) == ("ContextOverflow", "SummarizeFailed")
    assert (bad.status, ends.status) == ("finished", "failed")
    assert (told.before, told.after) == (84, 84)
    assert bad.adopted == () and bad.context[-1] == 90 and bad.compactions[0].calls == 3


def test_S0_103_S0_104_a_summary_over_its_budget_is_asked_for_again_with_a_smaller_limit() -> None:
    run = live(turns(9), make_policy(budget=12), {"writer": {"oversize": 1.5}})
    told = event(run, "summary_oversize")
    assert (told.data["size"], told.data["budget"], told.data["limit"]) == (18, 12, 6)
    assert kinds(run, "summary_oversize", "summary_truncated") == ["summary_oversize"]
    # Written to half the limit at 1.5 times its length.
    assert (run.adopted[0].written, run.adopted[0].calls) == (9, 2)
    assert run.adopted[0].asked == 2 * 80
    assert run.adopted[0].after == 13
    # A fifth of the window of 100 is reserved, and a summary may have 0.8 of that.
    capped = live(turns(9), make_policy(budget=40), {"writer": {"oversize": 1.5}})
    assert event(capped, "summary_oversize").data["budget"] == 16


def test_S0_105_in_the_end_it_is_cut_to_its_budget() -> None:
    run = live(turns(9), make_policy(budget=10), {"writer": {"oversize": 8}})
    assert [e.data.get("limit") for e in run.events if e.kind == "summary_oversize"] == [5, 2, None]
    assert event(run, "summary_truncated").data["budget"] == 10
    assert (run.adopted[0].written, run.adopted[0].after, run.adopted[0].calls) == (10, 14, 3)
    assert run.adopted[0].asked == 3 * 80


def test_S2_6_the_breaker_stops_automatic_compaction_and_not_the_users() -> None:
    policy = make_policy(conduct=Harness(retries=0, breaker=3))
    run = live(turns(15), policy, {"writer": {"fails": 99}, "provider": "accepts"})
    assert kinds(run, "failed", "breaker_opened") == ["failed"] * 3 + ["breaker_opened"]
    acts = at("e26", "compact") | {"writer": {"fails": 3}, "provider": "accepts"}
    assert [item.reason for item in live(turns(15), policy, acts).adopted] == ["manual"]


def test_S4_66_S4_79_what_a_summariser_takes_is_in_the_bill() -> None:
    run = live(turns(9))
    (item,) = run.adopted
    # Eight turns are asked about, five tokens are written.
    assert (item.asked, item.written, item.calls) == (80, 5, 1)
    price = Price(model="mine", input=1, output=1, source="an example")
    calls = [SummaryCall(item.step, item.asked, item.written, calls=item.calls)]
    whole = price_steps(run.sent, run.cached, run.output, price, summaries=calls)
    short = price_steps(run.sent, run.cached, run.output, price)
    assert whole.calls == 1 and whole.cost is not None and short.cost is not None
    assert whole.cost.total > short.cost.total


# -- warning, requiring, overriding --------------------------------------------------------------------


def test_S1_13_S1_15_compact_is_one_call_and_the_next_turn_is_composed_anew() -> None:
    run = live(turns(10), WARNING, at("e18", "compact"))
    (item,) = run.adopted
    assert (item.calls, item.reason, item.entry) == (1, "manual", "e17")
    # The ninth turn is not sent again; the tenth is asked in what is left of it: summary, turn, question.
    assert [n for n in run.sent.tolist() if n][-2:] == [84, 5 + 10 + 4]
    assert kinds(run, "completed", "applied") == ["completed", "applied"]


def test_S1_16_the_fill_afterwards_is_told() -> None:
    session = talk(*turn(40, 38), say("user", 4), say("assistant", 6))
    run = live(session, make_policy(OFF, MANUAL, budget=30), at("e3", "compact"))
    assert event(run, "completed").before == 82
    assert event(run, "applied").data["ratio"] == pytest.approx(0.34)


def test_S1_24_reset_leaves_what_the_user_says_now() -> None:
    session = turns(4, system=(Text(text="be kind"),), tools=(Tool(name="read"),))
    run = live(session, WARNING, at("e7", "reset", confirmed=True))
    told = event(run, "reset")
    assert (told.before, told.after) == (37, 7)
    assert run.sent[-1] == 7 and run.cached[-1] == 3
    # Before a question comes nothing is left of the turns before.
    again = live(session, WARNING, at("e6", "reset", confirmed=True))
    assert again.context[-2:].tolist() == [7, 13]


def test_S1_5_S1_38_S1_39_without_the_tool_it_warns_and_names_reset() -> None:
    run = live(turns(9), WARNING, {"tool": False})
    assert kinds(run) == ["suggested", "warned", "suggested"]
    assert any("/reset" in found.sentence for found in run.findings)


def test_S1_40_S1_41_S1_42_without_the_tool_only_reset_gets_it_below() -> None:
    policy = WARNING
    stuck = live(turns(12), policy, {"tool": False, "user": "compacts"} | at("e22", "compact"))
    assert stuck.compactions == () and stuck.status == "paused"
    # A /compact that comes in time is answered with what there is to do instead, and nothing starts.
    early = live(turns(6), policy, {"tool": False} | at("e8", "compact"))
    assert early.compactions == () and "started" not in kinds(early)
    assert [event.entry for event in early.events if event.kind == "suggested"] == [None, "e7"]
    assert len(live(turns(6), policy, at("e8", "compact")).adopted) == 1
    again = live(turns(12), policy, {"tool": False, "user": "resets"})
    assert again.status == "finished" and kinds(again, "reset") == ["reset"]
    none = make_policy(OFF, MANUAL.model_copy(update={"reset": False}))
    assert live(turns(12), none, {"tool": False, "user": "resets"}).status == "paused"


def test_S1_3_a_threshold_that_the_head_crosses_alone_is_said_to_be_so() -> None:
    run = live(turns(1, system=(Text(text="word " * 85),)), WARNING)
    assert [found.kind for found in run.findings] == ["head"] and "89 %" not in run.findings[0].sentence
    assert "85%" in run.findings[0].sentence
    assert not any(found.kind == "head" for found in live(turns(9), WARNING).findings)


def test_a_trigger_that_no_cut_gets_below_is_told_once() -> None:
    """The head takes 75 of the 80 tokens at which it fires, and every compaction leaves a turn of ten."""
    run = live(turns(8, system=(Text(text="word " * 75),)))
    assert len(run.adopted) > 2 and kinds(run, "irreducible") == ["irreducible"]
    least = event(run, "irreducible").after
    assert least >= 85
    assert found(run, "irreducible").startswith(f"No cut leaves less than {least} tokens here")
    assert not kinds(live(turns(8)), "irreducible")


# -- refused by the provider ---------------------------------------------------------------------------


def test_S0_15_S4_62_a_refusal_at_40_percent_is_recovered_from_and_asked_again_once() -> None:
    run = live(turns(4), scenario=at("e7", "token_overflow"))
    (item,) = run.adopted
    assert (item.before, item.after, item.reason) == (34, 9, "overflow")
    assert run.sent[-1] == item.after and run.status == "finished"
    # The last request was made, refused, and made again once.
    assert requests(run) == [1, 1, 1, 2]


@pytest.mark.parametrize("reason", ["threshold", "manual", "overflow"])
def test_S4_8_S4_18_S4_23_S4_24_only_an_overflow_is_followed_by_a_retry(reason: str) -> None:
    # By characters / 4 a turn has 13 tokens: nine of them are above 110.
    flue = find_policy("flue").configured(FLUE | {"trigger.reserve_tokens": -10})
    acts: dict[str, Any] = {"manual": at("e9", "compact"), "overflow": at("e9", "token_overflow")}
    session = turns(9 if reason == "threshold" else 5)
    run = live(session, flue, acts.get(reason))
    stood = session.entries if reason == "threshold" else session.entries[:-1]
    # Nothing was reported, so all of it is characters / 4, rounded up for each message (FLUE §2).
    assert event(run, "started").record_in("flue") == {
        "type": "compaction_start",
        "reason": reason,
        "estimatedTokens": sum(-(-len(entry.text) // 4) for entry in stood),
    }
    assert event(run, "started").data["willRetry"] == (reason == "overflow")
    assert event(run, "completed").data["willRetry"] is (reason == "overflow")
    *before, last = requests(run)
    assert set(before) == {1} and last == (2 if reason == "overflow" else 1)
    if reason == "threshold":
        # It came after the last reply; nothing was sent any more.
        assert run.adopted[0].entry == "e17" and run.sent[-1] == 84


@pytest.mark.parametrize("fails", [0, 1, 2])
def test_S4_87_flue_s_two_events_stand_around_the_summariser_s_call(fails: int) -> None:
    policy = make_policy(conduct=Harness(dialect="flue", retries=1))
    run = live(turns(9), policy, {"writer": {"fails": fails}})
    told = [record["type"] for one in run.events if (record := one.record_in("flue"))]
    assert told == (["compaction_start", "compaction"] if fails < 2 else ["compaction_start"])
    around = [kind for kind in kinds(run) if kind in ("started", "retried", "completed", "failed")]
    calls = ["retried"] * min(fails, 1)
    assert around == ["started", *calls, "completed" if fails < 2 else "failed"]


def failed(
    session: Session,
    where: int,
    error: str = "prompt is too long: 210 tokens > 200 maximum",
    usage: Usage | None = None,
) -> Session:
    """The session with a reply that failed before entry `where`."""
    entries = list(session.entries)
    entries.insert(where, Entry(id="", role="assistant", stop_reason="error", error=error, usage=usage))
    return talk(*entries)


@pytest.mark.parametrize("usage", [None, Usage(input=5), Usage(input=95), Usage(input=500)])
def test_S4_16_S4_17_S4_60_S4_61_S4_78_a_failed_reply_is_taken_off_before_anything_is_compacted(
    usage: Usage | None,
) -> None:
    session = failed(turns(4), 7, usage=usage)
    run = live(session, "flue", settings=FLUE)
    assert kinds(run)[:2] == ["token_overflow", "leaf_removed"]
    assert event(run, "leaf_removed").entry == "e7"
    (item,) = run.adopted
    # Usage had nothing to do with it: 34 of 100 tokens, and the leaf planned on is the failed reply's parent.
    assert (item.reason, item.before) == ("overflow", 34)
    assert item.plan.session.leaf == session["e7"].parent == "e6"
    poisoned = [e.id for item in run.adopted for e in item.plan.session.entries if e.stop_reason == "error"]
    assert poisoned == []


def test_S4_19_S4_20_S4_21_S4_63_S4_81_removed_appended_rebuilt_continued_and_idle() -> None:
    policy = make_policy(Trigger(enabled=False), Harness(dialect="flue", retries=1), keep=2)
    run = live(turns(6), policy, at("e9", "token_overflow") | {"writer": {"fails": 1, "oversize": 1}})
    order = ["token_overflow", "leaf_removed", "started", "retried", "prefix_reset", "completed"]
    assert kinds(run, *order) == order, "prepared, summarised at the second call, appended and rebuilt"
    (item,) = run.adopted
    assert all(job.max_tokens is not None for job in item.plan.jobs)
    left = build_context(item.plan.session, item.plan)
    assert [str(piece.origin[-1]) for piece in left.pieces] == ["e5/0", "e6/0", "e7/0", "e8/0"]
    # The stand-in is as long as the summary is here, but for what was told.
    assert item.after == left.tokens + item.written - item.plan.summary_tokens == 19
    # One continuation, with the rebuilt context; its reply makes it idle, and the next turn goes on from it.
    assert requests(run) == [1, 1, 1, 1, 2, 1]
    assert run.sent[run.sent > 0].tolist() == [4, 14, 24, 34, item.after, item.after + 6 + 4]
    assert run.context[run.sent > 0].tolist()[-2:] == [item.after + 6, item.after + 6 + 10]


def test_S4_20_messages_are_those_of_the_rebuilt_context_and_what_came_since() -> None:
    rules = make_policy(budget=20).rules
    short = TruncateOutputs(limit=40)
    policy = make_policy().model_copy(update={"rules": (*rules, short), "trigger": Trigger(enabled=False)})
    entries = [*turn(), say("user", 4), *tools(1, 30), say("assistant", 6), *turn(), *turn()]
    acts = [{"at": "e5", "do": "token_overflow"}, {"at": "e9", "do": "compact"}]
    first, second = live(talk(*entries), policy, {"acts": acts}).adopted
    assert first.reason == "overflow" and "truncated" in {FATES[code] for code in first.plan.fate}
    rebuilt = [(p.role, p.block) for p in build_context(first.plan.session, first.plan).pieces]
    then = live_context(second.plan.session, second.plan.ledger)
    since = [(entry.role, block) for entry in talk(*entries).entries[5:9] for block in entry.blocks]
    assert [(piece.role, piece.block) for piece in then.pieces] == [*rebuilt, *since]


@pytest.mark.parametrize("enabled", [True, False])
def test_S4_74_an_overflow_is_recovered_from_with_the_trigger_on_or_off(enabled: bool) -> None:
    settings = FLUE | {"trigger.enabled": enabled}
    run = live(turns(5), "flue-2", at("e9", "token_overflow"), settings=settings)
    assert [item.reason for item in run.adopted] == ["overflow"]
    full = live(turns(9), "flue-2", settings=settings)
    assert [item.reason for item in full.adopted] == (["auto"] if enabled else [])


def test_S4_59_a_second_refusal_in_a_row_surfaces() -> None:
    acts = [{"at": "e9", "do": "token_overflow"}] * 2
    run = live(turns(6), scenario={"acts": acts})
    assert run.status == "failed" and "did not help" in run.why
    assert kinds(run, "completed", "surfaced") == ["completed", "surfaced"]
    apart = live(turns(6), scenario={"acts": [acts[0], {"at": "e11", "do": "token_overflow"}]})
    assert apart.status == "finished" and len(apart.adopted) == 2


def test_S2_23_with_recovery_off_the_error_surfaces() -> None:
    run = live(turns(4), make_policy(conduct=Harness(recover=False)), at("e7", "token_overflow"))
    assert kinds(run) == ["token_overflow", "leaf_removed", "surfaced"] and run.status == "failed"


def test_S2_10_S2_11_S2_29_prompt_too_long_leads_to_reactive_and_its_output_is_asked_again() -> None:
    conduct = Harness(dialect="claude-code")
    run = live(turns(4), make_policy(conduct=conduct), at("e7", "token_overflow"))
    assert event(run, "token_overflow").name_in("claude-code") == "prompt_too_long"
    states = [e.data["to"] for e in run.events if e.kind in ("state_changed", "recovered") and "to" in e.data]
    assert states == ["reactive", "normal"]
    assert run.sent[-1] == run.adopted[0].after


def test_S2_9_S2_21_above_the_window_nothing_is_reactive_until_the_provider_refuses() -> None:
    never = make_policy(Trigger(enabled=False))
    run = live(turns(12), never, {"provider": "accepts"})
    assert run.compactions == () and run.status == "finished"
    assert "2 requests were larger than the window" in run.findings[-1].sentence
    refused = live(turns(12), never)
    assert [item.reason for item in refused.adopted] == ["overflow"]
    assert (refused.sent <= WINDOW).all()


def test_S4_14_a_headless_run_survives_overflows() -> None:
    run = live(turns(40), make_policy(Trigger(enabled=False)), {"provider": "refuses"})
    assert run.status == "finished" and len(run.adopted) > 2
    assert run.sent.max() <= WINDOW and run.context.max() <= WINDOW + 9


# -- edits in flight -----------------------------------------------------------------------------------

CLEAR = {"kind": "clear-tool-outputs", "keep": 1}


def with_outputs(count: int = 4) -> Session:
    return talk(*(e for n in range(count) for e in (say("user", 4), *tools(n, 10), say("assistant", 2))))


def on_wire(*more: dict[str, Any], trigger: Trigger | None = None) -> Policy:
    read = read_policy({"name": "mine", "rules": [{"kind": "keep-system"}, CLEAR, *more]})
    return read.model_copy(update={"trigger": trigger or Trigger(enabled=False)})


def test_S0_49_S0_50_S0_37_requests_are_edited_every_time_and_the_history_never() -> None:
    run, plain = live(with_outputs(), on_wire()), live(with_outputs(), make_policy())
    assert run.context.tolist() == plain.context.tolist()
    saved = (plain.sent - run.sent)[plain.sent > 0].tolist()
    # The newest output stays; a stub of four words stands for each older one.
    assert saved == [0, 0, 0, 6, 6, 12, 12, 18]
    assert run.compactions == ()


def test_S0_51_S0_52_S0_53_S0_99_S0_109_S0_110_with_both_the_history_is_cores() -> None:
    rules = ({"kind": "keep-recent-turns", "turns": 1}, {"kind": "summarise-older", "cap": 5})
    fires = Trigger(tokens=50, measure="assembled", check="request")
    both, session = on_wire(*rules, trigger=fires), with_outputs(5)
    core = both.model_copy(update={"rules": tuple(r for r in both.rules if r.kind != "clear-tool-outputs")})
    one, other = live(session, both), live(session, core)
    assert one.context.tolist() == other.context.tolist()
    assert [(a.before, a.after) for a in one.adopted] == [(b.before, b.after) for b in other.adopted]
    assert kinds(one)[0] == "double_configured" and kinds(one).count("double_configured") == 1
    assert (one.sent <= other.sent).all() and (one.sent < other.sent).any()
    # Clearing alone brings requests below the threshold; core compacts all the same.
    assert len(one.adopted) == len(other.adopted) > 0
    fates = {FATES[code] for item in one.adopted for code in item.plan.fate.tolist()}
    assert "cleared" not in fates


def test_S0_110_a_turn_on_which_both_ran_is_told_with_both_figures() -> None:
    rules = ({"kind": "keep-recent-turns", "turns": 2}, {"kind": "summarise-older", "cap": 5})
    policy = on_wire(*rules, trigger=Trigger(tokens=70, measure="assembled", check="request"))
    run = live(with_outputs(5), policy)
    told = event(run, "double_ran")
    (item,) = [item for item in run.adopted if item.step == told.step]
    assert told.data == {"core": item.before - item.after, "wire": 6}


# -- figures and findings ------------------------------------------------------------------------------


def test_S3_22_a_lower_target_compacts_less_often() -> None:
    session = talk(say("user", 4), *(e for n in range(60) for e in tools(n, 1200)), say("assistant", 2))
    settings = {"trigger.budget": 6_000, "trigger.measure": "assembled"}

    def count(ratio: float) -> int:
        settled = settings | {"target.ratio": ratio}
        run = live(session, "mini-claude-code", {"provider": "accepts"}, settings=settled)
        return len(run.adopted)

    assert 0 < count(0.5) < count(0.7)


def test_S3_39_a_scenario_has_a_fingerprint_that_can_be_added_up() -> None:
    run = live(turns(9), scenario=at("e9", "compact"))
    # 44 before /compact; nine tokens are sent then: a summary of 5 and the question of 4.
    sent = [4, 14, 24, 34, 9, 19, 29, 39, 49]
    assert [n for n in run.sent.tolist() if n] == sent
    fingerprint = (len(run), int(run.turn[-1]) + 1, int(run.sent.sum()), int(run.output.sum()))
    assert fingerprint == (18, 9, sum(sent), 9 * 6)


def test_an_act_that_is_not_on_the_path_is_an_error_that_names_it() -> None:
    with pytest.raises(EditError, match="e9"):
        live(turns(2), scenario=at("e9", "compact"))
    with pytest.raises(EditError, match="provider"):
        live(turns(2), scenario={"provider": "sometimes"})
    with pytest.raises(EditError, match="user"):
        live(turns(2), scenario={"user": "sleeps", "provider": "sometimes"})


def test_usage_is_the_providers_word_until_something_changes() -> None:
    session = talk(
        say("user", 4),
        say("assistant", 6, usage=Usage(input=50, output=7)),
        say("user", 4),
        say("assistant", 6, usage=Usage(input=62, output=8)),
    )
    run = live(session, make_policy(Trigger(enabled=False)))
    # The first request is as its reply reports it; after it 47 tokens more than the ten that are counted.
    assert run.context.tolist() == run.recorded.tolist() == [50, 57, 61, 70]
    assert (run.sent[1], run.sent[3], run.output.tolist()) == (50, 62, [0, 7, 0, 8])


def test_S0_73_with_nothing_that_compacts_the_headroom_is_told() -> None:
    policy = Policy(name="mine", trigger=Trigger(ratio=0.8, measure="assembled", check="request"))
    run = live(turns(5), policy)
    # Of 80 tokens 50 are taken, ten more by every turn.
    assert run.headroom == (30, 3.0)
    assert "30 tokens are left before the policy fires, about 3.0 turns" in repr(run)
    assert live(turns(9), policy).headroom == (-10, 0.0)
    assert live(turns(5), policy, window=0).headroom is None


def test_S4_25_proactive_and_recovery_are_labelled_apart() -> None:
    labels = []
    for scenario in ({}, at("e17", "token_overflow")):
        policy = make_policy(Trigger(enabled=not scenario, ratio=0.8, measure="assembled", check="request"))
        picture, _ = draw_run(live(turns(9), policy, scenario))
        (told,) = picture.compactions
        labels.append(told.sentence.partition(":")[0])
    assert labels == ["By itself", "After the provider refused"]


# -- beside what was recorded --------------------------------------------------------------------------


def with_recorded(*, trigger: str = "auto", own: int = 70) -> Session:
    told = Boundary(trigger=trigger, tokens_before=own, summary="so far")
    boundary = Entry(id="", kind="compaction", blocks=(Text(text="so far"),), boundary=told)
    return talk(*(e for _ in range(7) for e in turn()), boundary, *turn())


@pytest.mark.parametrize(
    ("ratio", "fired", "words"),
    [
        (0.7, 6, "in the same turn"),
        (0.45, 5, "1 turn earlier"),
        (0.8, None, "10 more than the 70 that were reached, since the recorded harness compacts earlier"),
    ],
)
def test_a_recorded_compaction_is_told_beside_the_policys_own(
    ratio: float, fired: int | None, words: str
) -> None:
    policy = make_policy(Trigger(ratio=ratio, measure="assembled", check="request"))
    (told,) = live(with_recorded(), policy).against
    assert (told.fired, told.turn, told.tokens) == (fired, 6, 70)
    assert words in told.sentence and "70.0 % of the window" in told.sentence


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (0.8, "10 more than the 70 that were reached"),
        (0.73, "there at 75 by the harness's own count."),
        (0.7, "there at 70."),
    ],
)
def test_another_count_of_the_harness_is_not_given_for_the_size_that_the_screen_has(
    ratio: float, words: str
) -> None:
    policy = make_policy(Trigger(ratio=ratio, measure="assembled", check="request"))
    (told,) = live(with_recorded(own=75), policy).against
    assert told.tokens == 70 and "at 70 tokens" in told.sentence
    assert words in told.sentence


REAL = sorted((SHARED / "sessions").glob("claude-code--*/*.jsonl"))


@cache
def read_real(path: Path) -> tuple[Session, Ledger, History]:
    session = open_shared(path)
    ledger = count_tokens(session, "calibrated")
    return session, ledger, trace_history(session, ledger)


@needs_shared
def test_every_recorded_compaction_of_a_real_session_has_its_sentence() -> None:
    seen = 0
    for session, ledger, history in map(read_real, REAL):
        run = replay(session, "claude-code-analysis", ledger=ledger, history=history)
        marks = [mark for mark in history.marks if mark.kind == "compact"]
        assert [told.entry for told in run.against] == [mark.entry for mark in marks]
        for told in run.against:
            seen += 1
            share = f"({100 * told.tokens / run.window:.1f} % of the window)"
            assert share in told.sentence
            # It fires within turns of the recorded one, or the sentence says how many tokens are between.
            assert (
                told.fired is not None or "more than the" in told.sentence or "does not look" in told.sentence
            )
    assert seen >= 10


def check_life(session: Session, name: str, provider: str, **known: Any) -> Run:
    run = replay(session, name, {"provider": provider}, **known)
    assert check_order(run.events, run.policy.harness) == []
    assert check_fields(run.events) == []
    assert (run.cached <= run.sent).all()
    return run


@needs_shared
@pytest.mark.parametrize(("number", "name"), list(enumerate(names_of_policies())))
def test_real_sessions_are_lived_in_order_under_every_policy(number: int, name: str) -> None:
    """Every policy replays one of the sessions, and each session is replayed under several policies."""
    session, ledger, history = read_real(REAL[number % len(REAL)])
    run = check_life(session, name, "accepts", ledger=ledger, history=history)
    # Only what is larger than the window is refused; without it both lives are the same, see below.
    if (run.sent > run.window).any():
        check_life(session, name, "refuses", ledger=ledger, history=history)


# -- what a reader is told of what did not go as asked --------------------------------------------------


def found(run: Run, kind: str) -> str:
    return next((item.sentence for item in run.findings if item.kind == kind), "")
