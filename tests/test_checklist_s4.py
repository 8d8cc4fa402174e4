"""What Flue says of compaction as failure recovery, row by row. Messages weigh characters / 4."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import inspector
import inspector.policies.builtin.flue
from inspector.files import open_session, save_session
from inspector.planning.assemble import build_context, live_context
from inspector.planning.context import Context
from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.planning.summary_jobs import Checkpoint, Reply, SummaryJob
from inspector.policies.policy import Edits
from inspector.policies.registry import find_policy, names_of_policies
from inspector.policies.rules.carry_file_operations import collect
from inspector.policies.rules.keep_recent_tokens import valid_places, walk_back
from inspector.session.blocks import Block, Text, ToolCall, ToolOutput
from inspector.session.entries import Cost, Entry, Usage
from inspector.session.session import Session
from inspector.summaries.compaction import CompactionResult, compact
from inspector.summaries.record import append_checkpoint
from inspector.summaries.recovery import judge_reply
from inspector.summaries.write import checkpoint_from_text, summarise, write_checkpoint
from inspector.tokens.counter import Counter
from inspector.tokens.counters import chars4_utf16
from inspector.tokens.ledger import count_tokens
from inspector.tokens.reported import add_usage
from inspector.wire.checks import check_context
from tests.reference.flue_steps import request_text
from tests.shared import SHARED, needs_shared
from tests.strategies import sessions
from tests.test_checklist_s0 import chain, changed, grow
from tests.watched import watched

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


def said(context: Context) -> list[tuple[str, Block]]:
    return [(piece.role, piece.block) for piece in context.pieces]


def job_ids(plan: Plan) -> list[list[str]]:
    return [list(job.entries) for job in plan.jobs]


# -- a state transition -----------------------------------------------------------------------------------


def test_S4_1_S4_6_compaction_is_one_entry_in_the_tree_and_the_older_ones_stay() -> None:
    session = talk(6)
    before = session.model_dump_json()
    done = compacted(session, lambda job, session: "what happened so far")
    assert session.model_dump_json() == before
    assert done.after.model_dump()["entries"][:-1] == session.model_dump()["entries"]
    entry = done.after.entries[-1]
    assert (entry.id, entry.kind, entry.parent) == (done.entry, "compaction", session.leaf)
    assert done.after.leaf == entry.id
    assert entry.boundary is not None
    assert (entry.boundary.tokens_before, entry.boundary.tokens_after) == (120, done.context.tokens)


def test_S4_2_S4_29_S4_33_the_latest_reply_s_usage_decides_and_the_source_of_each_number_is_told() -> None:
    earlier = [user(), reply(usage=Usage(input=THRESHOLD + 1))]
    heard = plan_of(chain(*earlier, user(), reply(usage=Usage(input=900, output=100)), user(THRESHOLD)))
    measured = (heard.measured.usage_tokens, heard.measured.trailing_tokens, heard.measured.last)
    assert measured == (1000, THRESHOLD, 3)
    # With what was said since it would be above the threshold; the provider's word alone counts.
    assert heard.measured.tokens > heard.verdict.threshold == THRESHOLD
    assert (heard.verdict.tokens, heard.verdict.fires) == (1000, False)
    assert "1,000 tokens (by provider usage; 183,616 estimated since do not count)" in heard.verdict.sentence
    unheard = plan_of(talk(1))
    assert (unheard.measured.usage_tokens, unheard.measured.trailing_tokens) == (0, 20)
    assert unheard.measured.last is None
    assert "20 tokens (all estimated" in unheard.verdict.sentence


def test_S4_3_a_plan_has_the_entry_of_its_cut_and_a_reason() -> None:
    plan = keep(talk(6), 30)
    assert plan.cut is not None
    assert (plan.cut.entry, plan.cut.sentence) == ("e9", "Valid cut point, inside a turn.")
    nothing = keep(talk(2), 1000)
    assert nothing.cut is None
    assert "the budget covers the whole context" in nothing.why


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
            kept = [b for i in session.live.entries[point.place :] for b in session.entries[i].blocks]
            called = {block.id for block in kept if block.kind == "tool_call"}
            assert {block.call_id for block in kept if block.kind == "tool_output"} <= called
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
    assert WRITTEN.usage is not None
    assert add_usage(after) == add_usage(session) + WRITTEN.usage
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


class Sealed(dict[str, Any]):
    """JSON of a call that may be read and not written."""

    def _refuse(self, *given: Any, **more: Any) -> Any:
        raise AssertionError("planning wrote into a call's input")

    __setitem__ = __delitem__ = __ior__ = _refuse  # type: ignore[assignment]
    update = pop = popitem = clear = setdefault = _refuse  # type: ignore[assignment]


def sealed(session: Session) -> Session:
    """The session, the inputs of its calls sealed."""

    def seal(block: Block) -> Block:
        return block.model_copy(update={"input": Sealed(block.input)}) if block.kind == "tool_call" else block

    entries = [e.model_copy(update={"blocks": tuple(map(seal, e.blocks))}) for e in session.entries]
    return changed(session, entries=tuple(entries))


def plan_all(session: Session, policy: str) -> Plan:
    plan = make_plan(session, count_tokens(session, LENGTH), policy, {"cut": "e12"}, window=WINDOW)
    assert plan.cut_table.total.any()
    assert (plan.why, plan.notes, plan.jobs, plan.stages, plan.verdict.sentence) is not None
    build_context(session, plan)
    return plan


@pytest.mark.parametrize("policy", names_of_policies())
def test_S4_36_preparing_writes_nothing_and_asks_nobody(policy: str) -> None:
    session = sealed(working())
    plan_all(working(), policy)  # What is imported late is imported by now.
    before = deepcopy(session.model_dump())
    with watched() as seen:
        plan_all(session, policy)
    assert seen == []
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


SPLIT = chain(user(), reply(), user(), *step("read", "a.py"), *step("read", "b.py"), reply())


def test_S4_41_a_split_turn_has_its_beginning_summarised_apart() -> None:
    plan = plan_of(SPLIT, cut="e5")
    assert [(job.kind, job.entries) for job in plan.jobs] == [
        ("initial", ("e0", "e1")),
        ("turn_prefix", ("e2", "e3", "e4")),
    ]
    written = summarise(plan, lambda job, session: job.kind.upper()).text
    assert written.startswith("INITIAL\n\n---\n")
    assert "\n\nTURN_PREFIX\n\n<read-files>" in written


@pytest.mark.parametrize(
    ("session", "cut", "calls"),
    [
        (SPLIT, "e5", ["initial", "turn_prefix"]),
        (chain(user(), reply(), reply()), "e2", ["turn_prefix"]),
        (talk(6), "e8", ["initial"]),
    ],
    ids=["split", "split, without history", "between turns"],
)
def test_S4_47_S4_48_the_model_is_called_twice_for_a_split_turn_and_else_once(
    session: Session, cut: str, calls: list[str]
) -> None:
    asked = []

    def write(job: SummaryJob, session: Session) -> str:
        asked.append(job.kind)
        return "so far"

    assert compact(session, POLICY, write, ledger=count_tokens(session, LENGTH), edits={"cut": cut}).done
    assert asked == calls


@pytest.mark.parametrize("window", [8_000, 200_000, 1_000_000])
@pytest.mark.parametrize("name", ["claude-opus-4-5", "gpt-5", "unheard-of"])
def test_S4_42_no_default_is_derived_from_the_model(name: str, window: int) -> None:
    session = changed(chain(*talk(40, 1_000).entries, reply(usage=Usage(input=9_000))), model=name)
    plan = plan_of(session, window=window)
    assert plan.verdict.threshold == window - 16_384
    assert plan.verdict.fires is (window < 9_000 + 16_384)
    assert plan.place is not None
    kept = [len(session.entries[i].text) // 4 for i in session.live.entries[plan.place :].tolist()]
    assert sum(kept) - kept[0] < 20_000 <= sum(kept)


# -- files ------------------------------------------------------------------------------------------------


def test_S4_44_read_write_and_edit_calls_give_the_lists_of_paths() -> None:
    plan = plan_of(working(), cut="e12")
    files = collect(plan.table, 12)
    assert (files.read, files.written, files.edited) == (("a.py", "b.py"), ("docs/ü.md",), ("b.py",))


LISTS = "<read-files>\na.py\n</read-files>\n\n<modified-files>\nb.py\ndocs/ü.md\n</modified-files>"


def compacted(session: Session, summariser: Any, **edits: Any) -> CompactionResult:
    """The session compacted by Flue, the last 30 tokens kept unless there is an edit."""
    given = edits or {"settings": {KEEP: 30}}
    return compact(session, POLICY, summariser, ledger=count_tokens(session, LENGTH), edits=given)


def test_S4_45_a_written_summary_and_the_stand_in_end_alike() -> None:
    plan = plan_of(working(), cut="e12")
    assert summarise(plan, lambda job, session: "SUMMARY").text == f"SUMMARY\n\n{LISTS}"
    stand_in = build_context(plan.session, plan).pieces[0].block.text
    assert stand_in.endswith(LISTS.replace("\n\n", "\n"))
    bare = plan_of(chain(user(), reply(), user(), reply()), cut="e2")
    assert checkpoint_from_text("SUMMARY", bare).text == "SUMMARY", "no file, no list"


def test_S4_45_a_summary_handed_to_the_workbench_ends_with_them_too() -> None:
    workbench = inspector.Workbench(working(), policy=POLICY, cut="e12")
    for written in ("SUMMARY", Checkpoint(text="SUMMARY")):
        assert workbench.summarise(written).text == f"SUMMARY\n\n{LISTS}"


ODD = ["./src//a.py", "C:\\tmp\\b.txt", "naïve café.md", "../up", "a" * 300, "Makefile"]


@pytest.mark.parametrize("tool", ["read", "write", "edit"])
def test_S4_46_paths_are_carried_to_the_letter(tool: str) -> None:
    session = chain(user(), *(e for path in ODD for e in step(tool, path)), reply(), user(), reply())
    for summariser in (lambda job, session: "S", Checkpoint(text="S")):
        done = compacted(session, summariser, cut="e14")
        lines = done.after[done.entry or ""].text.splitlines()
        tag = "read-files" if tool == "read" else "modified-files"
        assert sorted(lines[lines.index(f"<{tag}>") + 1 : lines.index(f"</{tag}>")]) == sorted(ODD)


def test_S4_54_a_path_stands_in_its_list_once() -> None:
    calls = ["read a.py", "read a.py", "edit b.py", "edit b.py", "write c.py", "edit c.py", "read c.py"]
    session = chain(user(), *(e for call in calls for e in step(*call.split())), reply(), user(), reply())
    done = compacted(session, lambda job, session: "S", cut="e16")
    boundary = done.after[done.entry or ""].boundary
    assert boundary is not None
    assert (boundary.files_read, boundary.files_modified) == (("a.py",), ("b.py", "c.py"))
    ending = "<read-files>\na.py\n</read-files>\n\n<modified-files>\nb.py\nc.py\n</modified-files>"
    assert done.after[done.entry or ""].text == f"S\n\n{ending}"


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


def test_S4_51_S4_52_S4_53_S4_55_the_fields_of_the_entry() -> None:
    session = grow(working(), reply(usage=Usage(input=900, output=100)), user(7))
    spent = Reply(text="SUMMARY", usage=Usage(input=3, output=2))
    done = compacted(session, lambda job, session: spent, cut="e12")
    entry = done.after.entries[-1]
    boundary = entry.boundary
    assert boundary is not None
    assert entry.text == boundary.summary == f"SUMMARY\n\n{LISTS}"
    assert boundary.first_kept == "e12"
    assert boundary.first_kept in ids(session)
    assert session["e12"].role == "user"
    assert boundary.tokens_before == 1000 + 7
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


FLUE_TRIGGER = find_policy(POLICY).trigger
REFUSED = "prompt is too long: 213462 tokens > 200000 maximum"
ALL_USAGE = [None, Usage(input=100), Usage(input=THRESHOLD + 1), Usage(input=2 * WINDOW)]


@pytest.mark.parametrize("usage", ALL_USAGE, ids=["none", "low", "above the threshold", "above the window"])
def test_S4_16_S4_22_a_refusal_is_an_overflow_whatever_usage_says(usage: Usage | None) -> None:
    session = chain(user(), model(stop_reason="error", error=REFUSED, usage=usage))
    judged = judge_reply(session, FLUE_TRIGGER, window=WINDOW)
    assert (judged.follows, judged.kind, judged.failed) == ("recover", "token_overflow", "e1")


def test_S4_22_usage_near_the_limit_of_a_good_reply_is_the_threshold_s() -> None:
    judged = judge_reply(chain(user(), reply(usage=ALL_USAGE[2])), FLUE_TRIGGER, window=WINDOW)
    assert (judged.follows, judged.kind, judged.failed) == ("compact", None, None)


def test_S4_58_the_detector_is_given_the_reply_and_the_window() -> None:
    read = Usage(input=9_000, cache_read=3_000, output=5)
    session = chain(user(), reply(stop_reason="stop", usage=read))
    judged = [judge_reply(session, FLUE_TRIGGER, window=window) for window in (11_999, 12_000, 40_000)]
    assert [(one.follows, one.kind) for one in judged] == [
        ("recover", "token_overflow"),
        ("compact", None),
        ("nothing", None),
    ]
    overloaded = chain(user(), model(stop_reason="error", error="overloaded", usage=read))
    assert judge_reply(overloaded, FLUE_TRIGGER, window=10_000).follows == "surface"


def test_S4_69_S4_70_usage_is_summed_along_the_path_since_a_leaf_however_the_context_shrank() -> None:
    session = chain(*talk(6).entries, user(), reply(usage=Usage(input=40, output=2)))
    before = session.leaf
    lost = grow(session, model(usage=Usage(input=999), stop_reason="error"))
    after = append_checkpoint(keep(lost.at(before), 30), WRITTEN, "c1")
    ended = grow(after, user(), reply(usage=Usage(input=7, output=1)))
    assert len(ended.live) < len(session.live)
    assert "e14" in ended.index, "the reply that was left behind is stored, and not counted"
    since, whole = add_usage(ended, before), add_usage(ended)
    assert (since.input, since.output) == (900 + 7, 100 + 1)
    assert (whole.input, whole.output) == (900 + 7 + 40, 100 + 1 + 2)


def test_S4_72_a_larger_reserve_fires_earlier() -> None:
    policy = find_policy(POLICY)
    points = []
    for reserve in (0, 1_000, 16_384, 50_000):
        trigger = policy.configured({"trigger.reserve_tokens": reserve}).trigger
        points.append(next(n for n in range(150_000, 200_002) if trigger.fires(n, WINDOW)))
    assert points == [200_001, 199_001, 183_617, 150_001]


def is_stuck(session: Session, tokens: float) -> bool:
    """Flue's published defect: outputs at the very end that fill the budget alone leave the walk stuck.

    Everything is kept then, and nothing compacted (FLUE §6).
    """
    filled = 0
    for i in session.live.entries[::-1].tolist():
        entry = session.entries[i]
        if entry.role in ("user", "assistant"):
            return False
        filled += chars4_utf16.weigh(entry)
        if filled >= tokens:
            return True
    return False


def ends_on_branch(session: Session, tokens: float) -> bool:
    """Flue's other one: a cut on a branch's summary is refused, and nothing compacted (FLUE §9)."""
    filled, nearest = 0, None
    for i in session.live.entries[::-1].tolist():
        entry = session.entries[i]
        nearest = entry if entry.role in ("user", "assistant") else nearest
        filled += chars4_utf16.weigh(entry)
        if filled >= tokens:
            break
    return nearest is not None and nearest.kind == "branch_summary"


def kept_from(session: Session, tokens: float) -> int:
    """The live position of the first entry that Flue keeps."""
    place = keep(session, tokens).place
    return 0 if place is None else place


@given(sessions(), st.integers(1, 400), st.integers(1, 400))
def test_S4_73_in_flue_a_larger_tail_keeps_no_less_but_for_the_walk_that_is_stuck(
    session: Session, one: int, other: int
) -> None:
    small, large = sorted((one, other))
    if not is_stuck(session, small) and not ends_on_branch(session, small):
        assert kept_from(session, large) <= kept_from(session, small)
