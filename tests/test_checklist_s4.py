"""What Flue says of compaction as failure recovery, row by row. Messages weigh characters / 4."""

from __future__ import annotations

import builtins
import socket
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from inspector.errors import EditError
from inspector.files import open_session, save_session
from inspector.planning.assemble import build_context, live_context
from inspector.planning.plan import Plan, make_plan
from inspector.planning.summary_jobs import Checkpoint, Reply
from inspector.policies.policy import Edits
from inspector.policies.registry import find_policy
from inspector.policies.rules.carry_file_operations import collect
from inspector.policies.rules.keep_recent_tokens import valid_places, walk_back
from inspector.policies.trigger import TailWeight, measure_usage
from inspector.session.blocks import Block, Text, ToolCall, ToolOutput
from inspector.session.entries import Cost, Entry, Usage
from inspector.session.overflow import is_overflow
from inspector.session.session import Session
from inspector.summaries.record import append_checkpoint
from inspector.summaries.write import write_checkpoint
from inspector.tokens.counter import Counter
from inspector.tokens.ledger import count_tokens
from inspector.wire.checks import check_context
from inspector.workbench.payloads.rules import describe_rules
from tests.reference.flue_steps import request_text
from tests.shared import SHARED, needs_shared
from tests.strategies import sessions
from tests.test_checklist_s0 import chain, changed, grow

POLICY = "flue"
WINDOW = 200_000
THRESHOLD = WINDOW - 16_384
LENGTH = Counter("length", "Characters", lambda texts: np.array([len(t) for t in texts], np.int32))
WRITTEN = Checkpoint(text="what happened so far", usage=Usage(input=900, output=100))
KEEP = "keep-recent-tokens.tokens"


def user(tokens: int = 10) -> Entry:
    """A user's words that weigh so much."""
    return Entry(id="", role="user", blocks=(Text(text="u" * 4 * tokens),))


def model(*blocks: Block, **more: Any) -> Entry:
    return Entry(id="", role="assistant", blocks=blocks, **more)


def reply(tokens: int = 10, **more: Any) -> Entry:
    return model(Text(text="a" * 4 * tokens), **more)


def step(name: str, path: str, tokens: int = 10) -> list[Entry]:
    """A call with a path, and its output."""
    made = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in name + path)
    out = ToolOutput(call_id=made, parts=(Text(text="o" * 4 * tokens),))
    return [
        model(ToolCall(id=made, name=name, input={"path": path})),
        Entry(id="", role="tool", blocks=(out,)),
    ]


def talk(turns: int, tokens: int = 10) -> Session:
    return chain(*(entry for _ in range(turns) for entry in (user(tokens), reply(tokens))))


def plan_of(session: Session, *, window: int = WINDOW, **edits: Any) -> Plan:
    return make_plan(session, count_tokens(session, LENGTH), POLICY, Edits(**edits), window=window)


def keep(session: Session, tokens: float, **more: Any) -> Plan:
    return plan_of(session, settings={KEEP: tokens} | more)


def ids(session: Session, first: int = 0) -> list[str]:
    return [session.entries[i].id for i in session.live.entries[first:]]


def job_ids(plan: Plan) -> list[list[str]]:
    return [list(job.entries) for job in plan.jobs]


# -- a state transition -----------------------------------------------------------------------------------


def test_S4_1_S4_6_compaction_is_one_entry_in_the_tree_and_the_older_ones_stay() -> None:
    session = talk(6)
    plan = keep(session, 30)
    after = append_checkpoint(plan, WRITTEN, "c1")
    assert after.entries[:-1] == session.entries
    entry = after.entries[-1]
    assert (entry.id, entry.kind, entry.parent, after.leaf) == ("c1", "compaction", session.leaf, "c1")
    assert entry.boundary is not None
    context = build_context(session, plan, WRITTEN)
    assert (entry.boundary.tokens_before, entry.boundary.tokens_after) == (120, context.tokens)


def test_S4_2_S4_33_a_measurement_tells_the_source_of_each_number() -> None:
    session = chain(user(), reply(usage=Usage(input=900, output=100)))
    heard = plan_of(session)
    assert (heard.measured.usage_tokens, heard.measured.trailing_tokens, heard.measured.last) == (1000, 0, 1)
    assert "by provider usage" in heard.verdict.sentence
    since = plan_of(grow(session, user(7)))
    assert (since.measured.usage_tokens, since.measured.trailing_tokens, since.measured.last) == (1000, 7, 1)
    unheard = plan_of(talk(1))
    assert (unheard.measured.usage_tokens, unheard.measured.trailing_tokens) == (0, 20)
    assert unheard.measured.last is None
    assert "estimated" in unheard.verdict.sentence


def test_S4_3_a_plan_has_the_entry_of_its_cut_and_a_reason() -> None:
    plan = keep(talk(6), 30)
    assert plan.cut is not None
    assert (plan.cut.entry, plan.cut.sentence) == ("e9", "A cut may stand here, inside a turn.")
    nothing = keep(talk(2), 1000)
    assert nothing.cut is None
    assert "walk back ended where the context begins" in nothing.why


def test_S4_4_older_conversation_is_serialised() -> None:
    session = chain(user(), *step("read", "a.py"), reply(), user(), reply())
    (job,) = plan_of(session, cut="e4").jobs
    lines = request_text(session, job).split("\n\n")
    assert lines[0] == "<conversation>\n[User]: " + "u" * 40
    assert lines[1] == '[Assistant tool calls]: read(path="a.py")'
    assert lines[2] == "[Tool result]: " + "o" * 40
    assert lines[3] == "[Assistant]: " + "a" * 40 + "\n</conversation>"


def test_S4_7_S4_67_usage_is_recorded_on_the_entry_and_survives_a_reload(tmp_path: Path) -> None:
    after = append_checkpoint(keep(talk(6), 30), WRITTEN, "c1")
    save_session(after, tmp_path / "session.json")
    assert open_session(tmp_path / "session.json")["c1"].usage == Usage(input=900, output=100)


# -- invariants -------------------------------------------------------------------------------------------


def test_S4_10_every_place_a_cut_may_stand_leaves_a_suffix_that_runs() -> None:
    session = chain(user(), *step("read", "a.py"), *step("edit", "a.py"), reply(), user(), reply())
    for point in plan_of(session).cuts:
        if point.legal:
            plan = plan_of(session, cut=point.entry)
            assert check_context(build_context(session, plan), awaits_user=True) == ()


def test_S4_11_what_is_left_is_a_summary_and_recent_entries_with_the_last_intent() -> None:
    session = chain(*talk(5).entries, Entry(id="", role="user", blocks=(Text(text="fix the test"),)))
    after = append_checkpoint(keep(session, 30), WRITTEN, "c1")
    assert ids(after) == ["c1", *(f"e{i}" for i in range(7, 11))]
    assert after.entries[after.live.entries[-1]].text == "fix the test"


def test_S4_13_accounting_and_failures_are_not_erased() -> None:
    failed = model(stop_reason="error", error="overloaded", usage=Usage(input=50))
    session = chain(user(), reply(usage=Usage(input=10, output=5)), user(), failed, user(), reply())
    after = append_checkpoint(plan_of(session, cut="e4"), WRITTEN, "c1")
    before_total = sum((e.usage for e in session.path_since(None) if e.usage), Usage())
    after_total = sum((e.usage for e in after.path_since(None) if e.usage), Usage())
    assert WRITTEN.usage is not None
    assert after_total == before_total + WRITTEN.usage
    assert (after["e3"].error, after["e3"].stop_reason) == ("overloaded", "error")
    assert "e3" not in ids(after)


# -- when -------------------------------------------------------------------------------------------------


def test_S4_26_S4_27_S4_28_the_defaults() -> None:
    policy = find_policy(POLICY)
    knobs = {rule.kind: rule for rule in policy.rules}
    assert policy.trigger.enabled is True
    assert policy.trigger.reserve_tokens == 16_384
    assert knobs["keep-recent-tokens"].model_dump()["tokens"] == 20_000


@pytest.mark.parametrize(("total", "fires"), [(183_616, False), (183_617, True)])
def test_S4_30_fires_only_above_the_window_less_the_reserve(total: int, fires: bool) -> None:
    plan = plan_of(chain(user(), reply(usage=Usage(input=total - 1, output=1))))
    assert (plan.verdict.tokens, plan.verdict.threshold, plan.verdict.fires) == (total, 183_616, fires)


def test_S4_31_an_unknown_window_never_fires() -> None:
    huge = chain(user(), reply(usage=Usage(input=10_000_000)))
    assert plan_of(huge, window=0).verdict.fires is None
    assert not find_policy(POLICY).trigger.fires(10_000_000, 0)


def test_S4_34_tokens_before_is_usage_and_an_estimate_of_what_follows() -> None:
    session = chain(user(500), reply(usage=Usage(input=900, output=100)), *step("read", "a.py", 30), user(7))
    measured = plan_of(session).measured
    a_call = -(-len('read{"path":"a.py"}') // 4)
    assert measured.usage_tokens == 1000
    assert measured.trailing_tokens == a_call + 30 + 7
    assert measured.tokens == 1000 + a_call + 30 + 7


@needs_shared
@pytest.mark.parametrize(
    "name", ["flue/before-compaction.session.json", "pi--pi-mono/pi-before-compaction.jsonl"]
)
def test_S4_34_the_estimate_keeps_above_its_measured_lower_bound(name: str) -> None:
    """What the context grew from reply to reply, reported and estimated; 1.30 was measured (FLUE §2)."""
    session = open_session(SHARED / "sessions" / name)
    weights = count_tokens(session, LENGTH).weights("chars4_utf16")
    grown, estimated, since, last = 0.0, 0, 0, 0.0
    for i in session.path:
        usage, since = session.entries[i].usage, since + int(weights[i])
        if usage is not None and usage.tokens:
            if usage.tokens > last > 0:
                grown, estimated = grown + usage.tokens - last, estimated + since
            last, since = usage.tokens, 0
    assert estimated > 100_000
    assert 1.25 < grown / estimated < 1.35


def test_S4_35_usage_decides_when_and_the_estimate_decides_where() -> None:
    full = chain(*talk(9, 100).entries, user(100), reply(100, usage=Usage(input=THRESHOLD + 1)))
    plan = keep(full, 350)
    assert plan.verdict.fires
    assert plan.verdict.tokens == THRESHOLD + 1
    assert sum(plan.table.weights("chars4_utf16")) == 2000
    assert plan.place == len(full.live) - 4
    easy = chain(*talk(9, 100).entries, user(100), reply(100, usage=Usage(input=50)))
    assert not keep(easy, 350).verdict.fires
    assert keep(easy, 350).place == plan.place


# -- preparing --------------------------------------------------------------------------------------------


def test_S4_36_preparing_changes_nothing_and_asks_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: Any, **more: Any) -> None:
        raise AssertionError("preparing opens no file and no connection")

    session = talk(6)
    before = session.model_dump()
    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(builtins, "open", refuse)
    plan = keep(session, 30)
    assert plan.jobs
    assert plan.cut_table.total.any()
    assert session.model_dump() == before
    with pytest.raises(ValidationError, match="frozen"):
        session.entries[0].role = "assistant"


def test_S4_37_what_is_summarised_and_what_remains_are_disjoint_and_leave_nothing_out() -> None:
    first = append_checkpoint(keep(talk(6), 30), WRITTEN, "c1")
    plan = keep(grow(first, *(e for _ in range(4) for e in (user(), reply()))), 30)
    assert plan.place is not None
    summarised = [name for names in job_ids(plan) for name in names]
    remains = ids(plan.session, plan.place)
    assert set(summarised).isdisjoint(remains)
    assert summarised + remains == ids(plan.session)[1:], "all but the summary before"


@given(sessions(), st.integers(0, 3000))
def test_S4_38_cuts_stand_at_users_and_assistants_and_never_at_a_result(
    session: Session, tokens: int
) -> None:
    plan = keep(session, tokens)
    roles = [session.entries[i].role for i in session.live.entries]
    assert {roles[place] for place in valid_places(plan.table)} <= {"user", "assistant"}
    walk = walk_back(plan.table, tokens)
    if walk.first_kept > plan.table.start:
        assert roles[walk.first_kept] in ("user", "assistant")
    if plan.place is not None:
        assert roles[plan.place] in ("user", "assistant")


@pytest.mark.parametrize(("tokens", "kept"), [(10, 1), (11, 2), (20, 2), (21, 3), (119, 12), (10**6, 12)])
def test_S4_39_the_kept_tail_is_the_shortest_that_fills_its_budget(tokens: int, kept: int) -> None:
    session = talk(6)
    assert len(session.live) - walk_back(plan_of(session).table, tokens).first_kept == kept


def test_S4_39_a_tail_that_would_begin_with_a_result_begins_after_it() -> None:
    session = chain(user(), *step("read", "a.py", 100), reply(10), user(10), reply(10))
    assert walk_back(plan_of(session).table, 40).first_kept == 3
    assert walk_back(plan_of(session).table, 130).first_kept == 3, "the output alone fills it"
    assert walk_back(plan_of(session).table, 131).first_kept == 1


def working() -> Session:
    """Files are read, edited and written; one read fails, one file is read and edited."""
    wanted = [("read", "a.py"), ("read", "b.py"), ("edit", "b.py"), ("write", "docs/ü.md"), ("bash", "c.py")]
    return chain(user(), *(e for name, path in wanted for e in step(name, path)), reply(), user(), reply())


def test_S4_40_S4_80_file_lists_are_carried_through_two_compactions() -> None:
    first = append_checkpoint(plan_of(working(), cut="e12"), WRITTEN, "c1")
    again = grow(first, user(), *step("read", "new.py"), *step("edit", "a.py"), reply(), user(), reply())
    plan = plan_of(again, cut=again.entries[-2].id)
    boundary = append_checkpoint(plan, WRITTEN, "c2").entries[-1].boundary
    assert boundary is not None
    assert boundary.files_read == ("new.py",)
    assert boundary.files_modified == ("a.py", "b.py", "docs/ü.md")


def test_S4_41_S4_47_a_split_turn_has_its_beginning_summarised_apart_by_a_second_call() -> None:
    session = chain(user(), reply(), user(), *step("read", "a.py"), *step("read", "b.py"), reply())
    plan = plan_of(session, cut="e5")
    assert [(job.kind, job.entries) for job in plan.jobs] == [
        ("initial", ("e0", "e1")),
        ("turn_prefix", ("e2", "e3", "e4")),
    ]
    written = write_checkpoint(plan.jobs, [Reply(text="HISTORY"), Reply(text="BEGINNING")])
    assert written.text.startswith("HISTORY")
    assert written.text.endswith("BEGINNING")


def test_S4_48_a_cut_between_turns_is_one_call() -> None:
    assert [job.kind for job in plan_of(talk(6), cut="e8").jobs] == ["initial"]
    assert [job.kind for job in plan_of(chain(user(), reply(), reply()), cut="e2").jobs] == ["turn_prefix"]


def test_S4_42_five_steps_are_offered_and_no_default_is_derived_from_the_model() -> None:
    session = chain(*talk(6).entries, user(), reply(usage=Usage(input=7, output=3)))
    tail = TailWeight(session, lambda entry: len(entry.text) // 4)
    assert Usage(input=7, output=3).tokens == 10
    assert measure_usage(grow(session, user(5)), TailWeight(grow(session, user(5)), lambda e: 5)).tokens == 15
    assert measure_usage(session, tail).tokens == 10
    assert find_policy(POLICY).trigger.fires(THRESHOLD + 1, WINDOW)
    plan = keep(session, 30)
    assert plan.jobs
    assert append_checkpoint(plan, write_checkpoint(plan.jobs, [Reply(text="x")] * len(plan.jobs)), "c1")
    for model_name, window in (("claude-opus-4-5", 200_000), ("gpt-5", 8_000), ("unheard-of", 1_000_000)):
        other = changed(session, model=model_name)
        assert plan_of(other, window=window).policy == find_policy(POLICY)


# -- files ------------------------------------------------------------------------------------------------


def test_S4_44_read_write_and_edit_calls_give_the_lists_of_paths() -> None:
    plan = plan_of(working(), cut="e12")
    files = collect(plan.table, 12)
    assert (files.read, files.written, files.edited) == (("a.py", "b.py"), ("docs/ü.md",), ("b.py",))


def test_S4_45_both_lists_end_the_summary() -> None:
    plan = plan_of(working(), cut="e12")
    ending = "<read-files>\na.py\n</read-files>\n\n<modified-files>\nb.py\ndocs/ü.md\n</modified-files>"
    written = write_checkpoint(plan.jobs, [Reply(text="SUMMARY")], collect(plan.table, 12).text())
    assert written.text == f"SUMMARY\n\n{ending}"
    stand_in = build_context(plan.session, plan).pieces[0].block.text
    assert stand_in.endswith(ending.replace("\n\n", "\n"))


def test_S4_46_paths_are_carried_to_the_letter() -> None:
    odd = ["./src//a.py", "C:\\tmp\\b.txt", "naïve café.md", "../up", "a" * 300]
    session = chain(user(), *(e for path in odd for e in step("edit", path)), reply(), user(), reply())
    written = write_checkpoint(
        plan_of(session, cut="e12").jobs, [Reply(text="S")], collect(plan_of(session).table, 12).text()
    )
    assert set(odd) <= set(written.text.splitlines())


# -- the entry --------------------------------------------------------------------------------------------


def test_S4_49_usage_is_summed_over_the_calls_field_by_field() -> None:
    plan = plan_of(chain(user(), reply(), user(), reply(), reply()), cut="e4")
    one = Usage(
        input=100, output=20, cache_read=5, cache_write=1, total=126, cost=Cost(input=0.5, total=0.75)
    )
    other = Usage(input=30, output=4, total=34, cost=Cost(input=0.25, total=0.25))
    summed = Usage(
        input=130, output=24, cache_read=5, cache_write=1, total=160, cost=Cost(input=0.75, total=1.0)
    )
    replies = [Reply(text="h", usage=one), Reply(text="p", usage=other)]
    assert write_checkpoint(plan.jobs, replies).usage == summed
    assert write_checkpoint(plan.jobs, [Reply(text="h", usage=one), Reply(text="p")]).usage == one
    assert write_checkpoint(plan.jobs, [Reply(text="h"), Reply(text="p")]).usage is None


def test_S4_50_a_call_that_fails_appends_nothing() -> None:
    session = talk(6)
    plan = plan_of(session, cut="e8")
    failed = write_checkpoint(plan.jobs, [Reply(stop_reason="error", error="overloaded")])
    with pytest.raises(EditError, match="Summarization failed: overloaded"):
        append_checkpoint(plan, failed, "c1")
    assert session == talk(6)
    assert append_checkpoint(plan, WRITTEN, "c1").entries[-1].id == "c1"


def test_S4_51_S4_52_S4_53_S4_54_S4_55_the_fields_of_the_entry() -> None:
    session = grow(working(), reply(usage=Usage(input=900, output=100)), user(7))
    plan = plan_of(session, cut="e12")
    written = write_checkpoint(plan.jobs, [Reply(text="SUMMARY", usage=Usage(input=3, output=2))])
    entry = append_checkpoint(plan, written, "c1").entries[-1]
    boundary = entry.boundary
    assert boundary is not None
    assert (entry.text, boundary.summary) == ("SUMMARY", "SUMMARY")
    assert boundary.first_kept == "e12"
    assert boundary.first_kept in ids(session)
    assert session["e12"].role == "user"
    assert boundary.tokens_before == 1000 + 7
    assert (boundary.files_read, boundary.files_modified) == (("a.py",), ("b.py", "docs/ü.md"))
    assert entry.usage == Usage(input=3, output=2)


def test_S4_56_messages_are_rebuilt_from_the_tree() -> None:
    session = talk(6)
    plan = keep(session, 30)
    after = append_checkpoint(plan, WRITTEN, "c1")
    reread = Session.model_validate(after.model_dump())
    rebuilt = live_context(reread, count_tokens(reread, LENGTH))
    promised = build_context(session, plan, WRITTEN)
    assert [(p.role, p.block) for p in rebuilt.pieces] == [(p.role, p.block) for p in promised.pieces]


def test_S4_57_the_next_request_begins_with_the_summary_and_goes_on_with_what_was_kept() -> None:
    session = talk(6)
    after = grow(append_checkpoint(keep(session, 30), WRITTEN, "c1"), user())
    assert ids(after) == ["c1", "e9", "e10", "e11", "e13"]
    assert live_context(after, count_tokens(after, LENGTH)).pieces[0].block == Text(text=WRITTEN.text)


# -- recovery and cost ------------------------------------------------------------------------------------


def test_S4_58_the_detector_is_given_the_reply_and_the_window() -> None:
    read = Usage(input=100, cache_read=50, output=5)
    assert [is_overflow("stop", None, read, window) for window in (149, 150)] == [True, False]
    assert is_overflow("error", "prompt is too long: 213462 tokens > 200000 maximum", None, WINDOW)
    assert not is_overflow("error", "overloaded", read, WINDOW)


def test_S4_69_S4_70_usage_is_summed_along_the_path_since_a_leaf_however_the_context_shrank() -> None:
    session = chain(*talk(6).entries, user(), reply(usage=Usage(input=40, output=2)))
    before = session.leaf
    lost = grow(session, model(usage=Usage(input=999), stop_reason="error"))
    after = append_checkpoint(keep(lost.at(before), 30), WRITTEN, "c1")
    ended = grow(after, user(), reply(usage=Usage(input=7, output=1)))
    assert len(ended.live) < len(session.live)
    since = ended.path_since(before)
    assert [entry.id for entry in since] == ["c1", "e16", "e17"]
    assert "e14" in ended.index, "the reply that was left behind is stored, and not counted"
    assert sum((e.usage for e in since if e.usage), Usage()) == Usage(input=900 + 7, output=100 + 1)


def test_S4_71_the_two_budgets_are_set_apart_and_each_has_its_control() -> None:
    session = chain(*talk(20, 100).entries, user(), reply(usage=Usage(input=THRESHOLD)))
    base, reserve, tail = (
        plan_of(session, settings={KEEP: 300} | more)
        for more in ({}, {"trigger.reserve_tokens": 20_000}, {KEEP: 900})
    )
    assert (base.verdict.fires, reserve.verdict.fires, tail.verdict.fires) == (False, True, False)
    assert base.place == reserve.place != tail.place
    knobs = {
        (rule["kind"], knob["name"]): knob["type"] for rule in describe_rules(base) for knob in rule["knobs"]
    }
    assert knobs["trigger", "reserve_tokens"] == knobs["keep-recent-tokens", "tokens"] == "number"


def test_S4_72_a_larger_reserve_fires_earlier() -> None:
    policy = find_policy(POLICY)
    points = []
    for reserve in (0, 1_000, 16_384, 50_000):
        trigger = policy.configured({"trigger.reserve_tokens": reserve}).trigger
        points.append(next(n for n in range(150_000, 200_002) if trigger.fires(n, WINDOW)))
    assert points == [200_001, 199_001, 183_617, 150_001]


def test_S4_73_a_larger_tail_leaves_no_less() -> None:
    session = talk(30, 200)
    left = [keep(session, tokens).after for tokens in range(200, 12_000, 200)]
    assert left == sorted(left)
    assert left[0] < left[-1]


def test_S4_74_switched_off_it_never_fires_and_an_overflow_is_still_told() -> None:
    session = chain(user(), reply(usage=Usage(input=10 * WINDOW)))
    assert plan_of(session, settings={"trigger.enabled": False}).verdict.fires is False
    assert is_overflow("error", "prompt is too long", None, WINDOW)
