"""Tiered compaction of mini-claude-code: as published, value by value, and without its defects."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.planning.assemble import build_context, live_context
from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.policies.policy import Edits
from inspector.policies.registry import find_policy
from inspector.policies.shorten import snip
from inspector.policies.trigger import Reason
from inspector.session.blocks import Text
from inspector.session.session import Session
from inspector.summaries.record import archive_plan, list_archived
from inspector.tokens.ledger import count_tokens
from inspector.wire.checks import check_context
from tests import tiered_oracle as oracle
from tests.conformance import mini, mini_loop, tiered
from tests.conformance.mini import Json, Messages, parse
from tests.shared import SHARED, needs_shared
from tests.strategies import SAYINGS, chars

PIN = "aa22b30b3aa54b1244aeb78766d51c484c19c2933a39a75a1b83e43a67102c8a"
"""SHA-256 of the SHA-256 of every vector here, in the order of their names."""
CASES = Path(__file__).parents[1] / "cases" / "tiered"
FIXED, COMPAT = "mini-claude-code", "mini-claude-code-compat"
POINTER = re.compile(r"\[archived (\w+)\((.*)\) result: (\d+) chars omitted(?: -> (.+)| \(.*\))\]")


def say(role: str, text: str) -> Json:
    return {"role": role, "content": text}


def call(name: str, tool: str = "Read", **given: Any) -> Json:
    return {
        "role": "assistant",
        "content": [{"type": "tool_use", "toolUse": {"id": name, "name": tool, "input": given}}],
    }


def answer(name: str, text: str, **more: Any) -> Json:
    result = {"toolUseId": name, "status": "success", "content": text, **more}
    return {"role": "tool", "content": [{"type": "tool_result", "result": result}]}


def reads(count: int, size: int = 3000, name: str = "t", **more: Any) -> Messages:
    """A task, and `count` files read one after the other by calls t0, t1, …"""
    pairs = (
        (call(f"{name}{i}", path=f"src/{i}.py"), answer(f"{name}{i}", f"{i}" * size, **more))
        for i in range(count)
    )
    return [say("user", "Fix the failing test."), *(message for pair in pairs for message in pair)]


def plan(
    messages: Messages | Session, target: int, policy: str = FIXED, reason: Reason = "auto", **settings: Any
) -> Plan:
    session = parse(messages) if isinstance(messages, list) else messages
    knobs = {name.replace("__", ".").replace("_", "-"): value for name, value in settings.items()}
    edits = Edits(settings={"target.tokens": target, **knobs})
    return make_plan(session, count_tokens(session, "tiered"), policy, edits, reason=reason)


def left(made: Plan) -> list[str]:
    """The texts that stand, in order."""
    return [piece.block.text for piece in build_context(made.session, made).pieces]


def ran(made: Plan) -> list[str]:
    return [stage.name for stage in made.stages if stage.ran]


@pytest.mark.parametrize("case", sorted(CASES.glob("*.json")), ids=lambda path: path.stem)
def test_S3_16_S3_43_golden_values_of_the_pinned_commit(case: Path, tmp_path: Path) -> None:
    (tmp_path / case.name).write_bytes(case.read_bytes())
    assert list(tiered.run(tmp_path)) == [(case.stem, [])]


def test_S3_43_the_vectors_and_the_policies_are_those_of_one_commit() -> None:
    told = (CASES / "ORIGIN.md").read_text("utf-8")
    (commit,) = re.findall(r"\b[0-9a-f]{40}\b", told)
    assert commit == "60a3bef1992404c821ab37065189799101ad72b6", "the merge that the seed names"
    for policy in map(find_policy, (FIXED, COMPAT)):
        assert re.findall(r"\b[0-9a-f]{7,}\b", policy.source) == [commit[:7]]
    cases = sorted(CASES.glob("*.json"))
    # Our copies are kept to the byte: another set of vectors is another commit's.
    assert sha256(b"".join(sha256(case.read_bytes()).digest() for case in cases)).hexdigest() == PIN


@needs_shared
def test_S3_43_our_copies_are_the_vectors_that_the_commit_returned() -> None:
    index = json.loads((SHARED / "vectors" / "tiered" / "INDEX.json").read_text("utf-8"))
    assert index["source"].endswith("60a3bef1992404c821ab37065189799101ad72b6")
    for case in CASES.glob("*.json"):
        assert json.loads(case.read_bytes()) == json.loads(
            (SHARED / "vectors" / "tiered" / case.name).read_bytes()
        )


# As published


texts = st.one_of(
    chars,
    st.sampled_from(SAYINGS),
    st.builds(
        lambda word, size: (word * size)[:size],
        st.sampled_from(["x", "ab\n", "😀", "[snip: 5 chars omitted]"]),
        st.sampled_from([0, 10, 80, 599, 600, 601, 1999, 2000, 2001, 5000]),
    ),
)
inputs = st.sampled_from([{}, {"path": "", "query": "q"}, {"command": "c😀" * 50}, {"a": [1, None, "é"]}])


@st.composite
def mini_messages(draw: st.DrawFn) -> Messages:
    """Any list of messages: pairs whole or not, ids met twice, tools that speak without a call."""
    out: Messages = []
    ids = st.sampled_from(["a", "b", "c"])
    for role in draw(st.lists(st.sampled_from(["user", "assistant", "tool"]), max_size=14)):
        if role == "user" or draw(st.integers(0, 3)) == 0:
            out.append(say(role, draw(texts)))
            continue
        blocks = []
        for _ in range(draw(st.integers(1, 2))):
            if role == "tool":
                blocks += answer(draw(ids), draw(texts), artifactPath=draw(st.sampled_from(["", "a/1.txt"])))[
                    "content"
                ]
            elif draw(st.booleans()):
                blocks += call(draw(ids), **draw(inputs))["content"]
            else:
                blocks.append({"type": "text", "text": draw(texts)})
        out.append({"role": role, "content": blocks})
    return out


knobs = st.fixed_dictionaries(
    {"targetTokens": st.sampled_from([0, 3, 100, 300, 1000, 3000])},
    optional={
        "rootMessages": st.integers(-1, 3),
        "recentWindowMessages": st.integers(-1, 8),
        "pointerizeOverChars": st.sampled_from([0, 10, 100, 599]),
        "maxTextChars": st.sampled_from([0, 1, 11, 60, 500]),
    },
)
OPTIONS = {
    "targetTokens": "target",
    "rootMessages": "root",
    "recentWindowMessages": "recent",
    "pointerizeOverChars": "over",
    "maxTextChars": "most",
}


@given(mini_messages(), knobs)
def test_the_compat_policy_is_the_published_routine(messages: Messages, options: Json) -> None:
    expected, archived = oracle.tiered(messages, **{OPTIONS[name]: value for name, value in options.items()})
    done = mini.tiered(messages, options)
    assert list(tiered.differ(done.messages, expected)) == []
    assert list(tiered.differ(done.archived, archived)) == []
    assert done.tokens == (oracle.estimate(messages), oracle.estimate(expected))


@given(mini_messages(), st.integers(0, 3), st.integers(0, 7), st.sampled_from([0, 11, 2000]))
def test_the_manual_command_is_the_published_legacy_routine(
    messages: Messages, first: int, last: int, most: int
) -> None:
    expected, archived = oracle.drop_middle(messages, 300, first, last, most)
    options = {"keepFirstMessages": first, "keepLastMessages": last, "maxMessageChars": most}
    done = mini.legacy(messages, {"targetTokens": 300, **options})
    assert list(tiered.differ(done.messages, expected)) == []
    assert list(tiered.differ(done.archived, archived)) == []
    assert done.tokens == (oracle.estimate(messages), oracle.estimate(expected))


@pytest.mark.parametrize("policy", [FIXED, COMPAT])
def test_S3_4_S3_12_S3_13_stale_messages_shrink_in_place(policy: str) -> None:
    messages = reads(10)
    made = plan(messages, 4000, policy)
    after = build_context(made.session, made).pieces
    assert ran(made) == ["shrink"]
    assert [piece.role for piece in after] == [message["role"] for message in messages]
    assert check_context(live_context(made.session, made.ledger)) == check_context(
        build_context(made.session, made)
    )


@pytest.mark.parametrize("policy", [FIXED, COMPAT])
def test_S3_6_S3_7_S3_33_root_and_recent_messages_are_the_very_same_blocks(policy: str) -> None:
    made = plan([say("user", "task " * 900), *reads(10)[1:]], 6500, policy)
    before, after = live_context(made.session, made.ledger), build_context(made.session, made)
    assert ran(made) == ["shrink"]
    assert after.pieces[0].block is before.pieces[0].block
    assert [p.block for p in after.pieces[-6:]] == [p.block for p in before.pieces[-6:]]
    assert after.pieces[2].block != before.pieces[2].block


@pytest.mark.parametrize("policy", [FIXED, COMPAT])
def test_S3_8_S3_32_outputs_of_more_than_600_units_become_pointers(policy: str) -> None:
    kept, pointed = answer("a", "x" * 600), answer("b", "x" * 601)
    messages = [say("user", "task"), call("a"), kept, call("b"), pointed, *reads(3, 10)[1:]]
    texts = left(plan(messages, 300, policy))
    assert texts[2] == "x" * 600
    assert texts[4] == "[archived Read({}) result: 601 chars omitted (re-run the tool to see full output)]"


@pytest.mark.parametrize("policy", [FIXED, COMPAT])
def test_S3_9_a_pointer_says_whose_output_it_was_how_long_and_where_it_is(policy: str) -> None:
    for given_input, label in (
        ({"path": "", "query": "q", "pattern": "a|b"}, "a|b"),
        ({"command": "c" * 90}, "c" * 80 + "..."),
        ({"n": 1.0, "all": True}, '{"n":1,"all":true}'),
    ):
        messages = [*reads(9, artifactPath="spill/1.txt"), *reads(3, 10, "u")[1:]]
        messages[1] = call("t0", "Grep", **given_input)
        found = POINTER.fullmatch(left(plan(messages, 1000, policy))[2])
        assert found is not None
        assert found.groups() == ("Grep", label, "3000", "spill/1.txt")


@pytest.mark.parametrize("policy", [FIXED, COMPAT])
def test_S3_10_long_stale_text_keeps_its_head_and_tail(policy: str) -> None:
    messages = [say("user", "task"), say("assistant", "a" * 3000 + "z" * 3000), *reads(4, 10)[1:]]
    text = left(plan(messages, 600, policy))[1]
    assert text.startswith("a" * 900)
    assert text.endswith("z" * 900)
    assert re.search(r"\n\[snip: 40\d\d chars omitted\]\n", text)


@pytest.mark.parametrize("policy", [FIXED, COMPAT])
def test_S3_14_the_middle_is_dropped_only_where_shrinking_is_not_enough(policy: str) -> None:
    talk = [say("user", "task"), *(say(("assistant", "user")[i % 2], "w" * 400) for i in range(20))]
    assert ran(plan(reads(10), 4000, policy)) == ["shrink"]
    made = plan(talk, 1000, policy)
    assert ran(made) == ["shrink", "snip everything", "drop the middle"]
    # 100 tokens of words each; the published estimate adds the role: 3 for the assistant, 1 for the user.
    gone = {FIXED: 1400, COMPAT: 1428}[policy]
    assert left(made)[1] == f"[context compacted: 14 messages omitted, about {gone} estimated tokens removed]"
    assert len(left(made)) == 8


def test_S3_1_it_compacts_by_itself_ahead_of_the_limit_in_three_tiers() -> None:
    for policy in map(find_policy, (FIXED, COMPAT)):
        assert (policy.harness.mode, policy.trigger.ratio, policy.trigger.strict) == ("auto", 0.75, True)
        assert [stage.name for stage in policy.stages] == ["shrink", "snip everything", "drop the middle"]
        assert [stage.name for stage in policy.stages if "overflow" in stage.reasons] == [
            *("snip everything", "drop the middle")
        ]


def test_S3_15_S3_41_no_model_is_ever_asked() -> None:
    for policy in (FIXED, COMPAT):
        for reason in ("auto", "manual", "overflow"):
            made = plan(reads(10), 10, policy, reason)
            assert made.jobs == ()
            assert not made.summarises


def test_S3_18_S3_36_S3_37_it_fires_above_three_quarters_of_the_budget() -> None:
    for policy in (FIXED, COMPAT):
        trigger = find_policy(policy).trigger
        assert (trigger.budget, trigger.check) == (24_000, "outputs")
        assert [trigger.fires(tokens, 0) for tokens in (18_000, 18_001)] == [False, True]


def test_S3_19_it_goes_down_to_half_of_the_budget() -> None:
    policy = find_policy(COMPAT)
    assert policy.target is not None
    assert policy.target.limit(policy.trigger.base(0)) == 12_000
    narrow = policy.configured({"trigger.budget": 1007, "target.ratio": 0.2})
    assert narrow.target is not None
    assert narrow.target.limit(narrow.trigger.base(0)) == 201


def test_S3_36_the_loop_of_the_vectors_compacts_one_big_read_past_a_tiny_budget() -> None:
    script = [{"type": "tool_use", "toolUse": {"id": "t", "name": "Read", "input": {"path": "big"}}}]
    script += [{"type": "turn_break"}, {"type": "assistant_message", "content": "done"}]
    result = {"type": "tool_result", "result": {"toolUseId": "t", "status": "success", "content": "x" * 8000}}
    given_case = {
        "script": script,
        "initialMessages": [say("user", "read it")],
        "options": {"contextBudgetTokens": 1000},
    }
    output, flags = mini_loop.run_query({"input": given_case, "output": {"events": [result]}})
    assert flags == {"soft_limit": 750, "target": 500, "compaction_count": 1}
    assert output["request_tokens"] == [3, 515]
    assert [event["type"] for event in output["events"]] == [
        *("assistant_message", "tool_use", "tool_result", "compaction", "assistant_message", "terminal_state")
    ]


def test_S3_24_the_published_recoveries_of_the_vectors_are_planned_by_the_policy_itself() -> None:
    words = [say("user", "first"), *(say(("assistant", "user")[i % 2], "w" * 1500) for i in range(10))]
    # Twelve messages over a budget of 2,000: as in vectors 074 and 077, eight of them are left.
    done = mini.recover([*words, say("user", "latest")], 2000)
    assert len(done.messages) == 8
    assert done.plan.tiers.limit == 1400
    small = mini.recover(reads(1, 4000), 24_000)
    assert small.plan.tiers.limit == 1000


@pytest.mark.parametrize("policy", [FIXED, COMPAT])
def test_S3_34_what_is_archived_is_archived_once_and_as_it_was(policy: str) -> None:
    messages = reads(10)
    for target in (4000, 10):
        made = plan(messages, target, policy)
        assert mini.list_slice(made) == tuple(f"m{i}" for i in range(2, 16))
        names = list_archived(made)
        record = archive_plan(made, "2026-06-16T13:22:05.120Z")
        assert record is not None and names
        omitted = {entry["id"]: entry for entry in record["omitted"]}
        assert list(omitted) == list(names)
        assert omitted["m3"]["blocks"][0]["parts"][0]["text"] == "0" * 3000


@pytest.mark.parametrize("policy", [FIXED, COMPAT])
def test_S3_35_nothing_happens_up_to_the_target(policy: str) -> None:
    messages = reads(3)
    session = parse(messages)
    size = plan(messages, 10**6, policy).stages[0].before
    made = plan(session, size, policy)
    after = build_context(session, made)
    assert ran(made) == []
    assert all(
        a.block is b.block
        for a, b in zip(after.pieces, live_context(session, made.ledger).pieces, strict=True)
    )
    assert list_archived(made) == ()
    assert ran(plan(session, size - 1, policy)) != []


def test_S3_5_the_published_border_parts_a_call_from_its_output_and_ours_does_not() -> None:
    messages = [*reads(4, 10), *(say("user", "w" * 400) for _ in range(5))]
    parted, whole = (plan(messages, 100, policy) for policy in (COMPAT, FIXED))
    refused = check_context(build_context(parted.session, parted), awaits_user=True)
    assert [found.rule for found in refused] == ["orphan_result"]
    assert not check_context(build_context(whole.session, whole), awaits_user=True)
    assert any("providers refuse" in note for note in parted.notes)
    assert not any("providers refuse" in note for note in whole.notes)


# Without the published defects (TIERED §11)


@given(texts, st.integers(0, 3000))
def test_fixed_b_what_is_rewritten_is_shorter(text: str, limit: int) -> None:
    cut = snip(text, limit)
    assert cut == text or oracle.units(cut) < oracle.units(text)


@given(texts, st.integers(0, 3000))
def test_fixed_c_what_was_snipped_once_stays(text: str, limit: int) -> None:
    once = snip(text, limit)
    assert snip(once, limit) == once


@given(mini_messages(), knobs)
def test_fixed_c_a_second_pass_changes_nothing(messages: Messages, options: Json) -> None:
    once = mini.compact(messages, options, mini.TIERED, "auto", FIXED)
    again = mini.compact(once.messages, options, mini.TIERED, "auto", FIXED)
    assert again.messages == once.messages


@given(mini_messages(), knobs)
def test_fixed_e_no_output_without_its_call(messages: Messages, options: Json) -> None:
    done = mini.compact(messages, options, mini.TIERED, "auto", FIXED)
    assert not any(mini.find_pairing(done.messages).values())


def test_fixed_f_a_short_list_is_no_reason_to_ignore_the_windows() -> None:
    messages = [say("user", "task"), *(say(("assistant", "user")[i % 2], "w" * 1500) for i in range(8))]
    published, ours = (plan(messages, 500, p, keep_recent_messages__messages=10) for p in (COMPAT, FIXED))
    assert len(left(published)) == 8  # two messages of the window gave way to a notice
    assert left(ours) == [message["content"] for message in messages]


@given(mini_messages(), knobs, st.sampled_from(["auto", "manual"]))
def test_fixed_g_whatever_loses_something_is_archived_once(
    messages: Messages, options: Json, reason: Reason
) -> None:
    done = mini.compact(messages, options, mini.TIERED, reason, FIXED, "changed")
    before = live_context(done.plan.session, done.plan.ledger).pieces
    stands = {
        piece.origin[0]: piece.block
        for piece in build_context(done.plan.session, done.plan).pieces
        if len(piece.origin) == 1
    }
    changed = {piece.origin[0].entry for piece in before if stands.get(piece.origin[0]) != piece.block}
    archived = list_archived(done.plan)
    assert set(archived) == changed
    assert len(set(archived)) == len(archived)


def test_fixed_h_calls_and_the_system_prompt_count() -> None:
    messages = [*reads(5, 10), call("w", "Write", path="f", content="c" * 50_000), answer("w", "ok")]
    assert ran(plan(messages, 1000, COMPAT)) == []
    assert ran(plan(messages, 1000)) != []
    session = parse(reads(2, 10)).model_copy(update={"system": (Text(text="s" * 8000),)})
    assert plan(session, 10**6).stages[0].before > 2000 > plan(session, 10**6, COMPAT).stages[0].before
