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
from inspector.policies.pointers import write_pointer
from inspector.policies.policy import Edits
from inspector.policies.registry import find_policy
from inspector.policies.rules.drop_middle import DropMiddle
from inspector.policies.shorten import snip
from inspector.policies.trigger import Reason
from inspector.session.blocks import Reasoning, Text, ToolCall, ToolOutput
from inspector.session.entries import Entry
from inspector.session.session import Session
from inspector.summaries.archive import list_archived, make_record
from inspector.tokens.ledger import count_tokens
from inspector.wire.checks import check_context
from inspector.wire.render import render_request
from inspector.workbench.payloads.scene import draw_plan
from tests import tiered_oracle as oracle
from tests.conformance import mini, mini_loop, tiered
from tests.conformance.mini import Json, Messages, parse
from tests.reference.spill import CLI_LIMIT, find_limit, spill
from tests.shared import SHARED, needs_shared
from tests.strategies import SAYINGS, chars

PIN = "aa22b30b3aa54b1244aeb78766d51c484c19c2933a39a75a1b83e43a67102c8a"
"""SHA-256 of the SHA-256 of every vector here, in the order of their names."""
CASES = Path(__file__).parents[1] / "cases" / "tiered"
FIXED, COMPAT = "mini-claude-code", "mini-claude-code-compat"
LONE = re.compile("[\ud800-\udfff]")
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
def test_S3_11_the_share_that_each_kind_saves_is_told(policy: str) -> None:
    """Long stale words are snipped too, and still it is tool outputs that the saving comes from."""
    words = [say("assistant", "w" * 3000), say("user", "go on"), say("assistant", "v" * 2500)]
    messages = [say("user", "task"), *words, *reads(10)[1:]]
    made = plan(messages, 4000, policy)
    saved = made.saved
    assert set(saved) == {"text", "tool_output"}
    # Two texts of 3,000 and 2,500 units keep 2,000, the mark among them or not; eight outputs become a line.
    assert 350 < saved["text"] <= 375
    lines = [block for block in left(made) if block.startswith("[archived")]
    gone = sum(3000 - len(line) for line in lines)
    assert abs(saved["tool_output"] - gone // 4) <= len(lines) > 5
    assert saved["tool_output"] / sum(saved.values()) > 0.9
    assert made.before - made.after == sum(saved.values())
    assert draw_plan(made).payload.saved == saved
    assert plan(messages, 10**6, policy).saved == {}


def test_S3_11_what_a_dropped_middle_saves_is_told_by_kind_too() -> None:
    talk = [say("user", "task"), *(say(("assistant", "user")[i % 2], "w" * 400) for i in range(20))]
    made = plan(talk, 1000, FIXED)
    assert made.saved == {"text": 1400}
    assert made.before - made.after == 1400 - made.notice_tokens


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


@pytest.mark.parametrize("policy", [FIXED, COMPAT])
@pytest.mark.parametrize(("count", "budget"), [(10, 6_000), (10, 24_000), (3, 24_000), (1, 24_000)])
def test_S3_24_after_a_refusal_the_plan_goes_down_to_seventy_percent(
    policy: str, count: int, budget: int
) -> None:
    """Of the context, or of the budget where that is less, and at least 1,000 tokens (TIERED §5)."""
    session = parse(reads(count))
    settings = {"trigger.budget": budget}
    made = make_plan(
        session, count_tokens(session, "tiered"), policy, {"settings": settings}, reason="overflow"
    )
    size = made.tiers[0].size(None)
    goal = max(1000, int(0.7 * min(size, budget)))
    assert made.stages[0].sentence == "It runs only when the reason is auto."
    assert "snip everything" in ran(made)
    # The middle goes exactly where snipping everything is not enough for that.
    snipped = next(stage.after for stage in made.stages if stage.name == "snip everything")
    assert ("drop the middle" in ran(made)) == (snipped > goal)
    assert made.under_target == (made.left <= goal)
    proactive = make_plan(session, made.ledger, policy, {"settings": settings})
    assert proactive.tiers.limit == budget // 2


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
        names = list_archived(made, "slice")
        assert names == tuple(f"m{i}" for i in range(2, 16))
        record = make_record(made, "2026-06-16T13:22:05.120Z", "slice")
        assert record is not None
        assert [entry["id"] for entry in record["omitted"]] == list(names)
        assert record["omitted"][1]["blocks"][0]["parts"][0]["text"] == "0" * 3000


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
    assert list_archived(made) == list_archived(made, "slice") == ()
    assert ran(plan(session, size - 1, policy)) != []


def test_S3_5_the_published_border_parts_a_call_from_its_output_and_ours_does_not() -> None:
    messages = [*reads(4, 10), *(say("user", "w" * 400) for _ in range(5))]
    parted, whole = (plan(messages, 100, policy) for policy in (COMPAT, FIXED))
    refused = check_context(build_context(parted.session, parted), awaits_user=True)
    assert [found.rule for found in refused] == ["orphan_result"]
    assert not check_context(build_context(whole.session, whole), awaits_user=True)
    assert any("refuses" in note for note in parted.notes)


def fails(error: str, content: str = "") -> Messages:
    """A call that failed, and six messages after it."""
    told = {"toolUseId": "t", "status": "error", "content": content, "error": error}
    failed = {"role": "tool", "content": [{"type": "tool_result", "result": told}]}
    return [say("user", "task"), call("t"), failed, *(say("user", "and on") for _ in range(6))]


def test_a_failed_tool_s_error_is_the_text_of_an_output_that_has_no_other() -> None:
    for content, text in (("", "no such tool"), ("half of it", "half of it")):
        session = parse(fails("no such tool", content))
        (output,) = [b for b in session["m3"].blocks if isinstance(b, ToolOutput)]
        assert (output.text, output.is_error) == (text, True)
        request = render_request(live_context(session, count_tokens(session, "tiered"))).request
        (sent,) = [b for m in request["messages"] for b in m["content"] if b["type"] == "tool_result"]
        assert (sent["content"], sent["is_error"]) == ([{"type": "text", "text": text}], True)
        assert session["m3"].extra["blocks"]["0"]["error"] == "no such tool"


def test_h_an_error_s_text_is_counted_and_shortened_but_not_as_published() -> None:
    messages = fails("x" * 4000)
    session = parse(messages)
    ledger = count_tokens(session, "tiered")
    sizes = {
        name: make_plan(session, ledger, name, {"settings": {"target.tokens": 500}}).tiers[0].size(None)
        for name in (FIXED, COMPAT)
    }
    # 4,000 units are 1,000 tokens; as published an output without content is an empty text.
    assert mini.estimate(messages[2:3]) == 2
    assert sizes[FIXED] > 1000 > sizes[COMPAT]
    made = make_plan(session, ledger, FIXED, {"settings": {"target.tokens": 500}})
    assert ran(made) == ["shrink"]
    assert made.left < 500
    # Of so few messages everything long is snipped, as published, but an error is no content.
    published = plan(messages[:7], 10, COMPAT)
    assert "snip everything" in ran(published)
    assert left(published)[2] == "x" * 4000


# Without the published defects (TIERED §11)


def test_fixed_a_no_character_is_split() -> None:
    text = "x" + "😀" * 3000 + "x"
    assert len(LONE.findall(snip(text, 2000, "compat"))) == 2
    assert not LONE.findall(snip(text, 2000))
    joined = "👩\u200d💻e\u0301" * 900
    for limit in range(300, 330):
        head, tail = re.split(r"\n\[snip: \d+ chars omitted\]\n", snip(joined, limit))
        assert head in ("", *(joined[: len(head)],))
        assert not tail.startswith(("\u200d", "\u0301", "💻"))
        assert not head.endswith(("\u200d", "👩", "e"))
    shown = spill("x😀😀", 2).text
    assert not LONE.findall(shown)
    assert LONE.findall(spill("x😀😀", 2, form="compat").text)


def test_the_middle_s_sentence_names_no_number_that_another_rule_overrides() -> None:
    fixed = next(rule for rule in find_policy(FIXED).rules if isinstance(rule, DropMiddle))
    assert fixed.sentence == "the middle is dropped, between what the other rules keep"
    assert (
        fixed.model_copy(update={"last": 2}).sentence
        == "drop what stands between what the other rules keep and the last 2 messages"
    )
    compat = next(rule for rule in find_policy(COMPAT).rules if isinstance(rule, DropMiddle))
    assert compat.sentence.endswith(
        "first 1 and the last 6 messages; automatically, between what the other rules keep"
    )


def test_a_number_of_the_middle_s_own_counts_and_none_asks_the_other_rules() -> None:
    messages = [say(("user", "assistant")[i % 2], f"{i} " * 400) for i in range(20)]

    def kept(**settings: Any) -> tuple[int, int]:
        """Messages before the notice, and after it."""
        texts = left(plan(messages, 10, **settings))
        at = next(i for i, text in enumerate(texts) if text.startswith("[context compacted"))
        return at, len(texts) - at - 1

    assert kept() == (1, 6)
    assert kept(keep_root__messages=3, keep_recent_messages__messages=4) == (3, 4)
    assert kept(drop_middle__first=5, drop_middle__last=2) == (5, 2)
    assert kept(keep_root__messages=3, drop_middle__first=1) == (3, 6)


@given(texts, st.integers(0, 3000))
def test_fixed_b_what_is_rewritten_is_shorter(text: str, limit: int) -> None:
    cut = snip(text, limit)
    assert cut == text or oracle.units(cut) < oracle.units(text)


def test_fixed_b_a_pointer_never_is_longer_than_the_output() -> None:
    messages = [*reads(11, 60)]
    assert left(
        plan(messages, 10, policy=COMPAT, point_large_outputs__characters=50, drop_middle__enabled=False)
    )[2].startswith("[archived")
    kept = left(plan(messages, 10, point_large_outputs__characters=50, drop_middle__enabled=False))
    assert kept[2] == "0" * 60


@given(texts, st.integers(0, 3000))
def test_fixed_c_what_was_snipped_once_stays(text: str, limit: int) -> None:
    once = snip(text, limit)
    assert snip(once, limit) == once


def test_fixed_c_a_snip_of_a_snip_has_one_mark_that_counts_for_both() -> None:
    text = snip(snip("x" * 10_000, 2000), 500)
    assert len(re.findall("snip:", text)) == 1
    found = re.search(r"\n\[snip: (\d+) chars omitted\]\n", text)
    assert found is not None
    assert int(found[1]) + len(text) - len(found[0]) == 10_000


@given(mini_messages(), knobs)
def test_fixed_c_a_second_pass_changes_nothing(messages: Messages, options: Json) -> None:
    once = mini.compact(messages, options, mini.TIERED, "auto", FIXED)
    again = mini.compact(once.messages, options, mini.TIERED, "auto", FIXED)
    assert again.messages == once.messages


def test_fixed_d_a_window_of_none_is_none() -> None:
    messages = [say("user", "task"), *(say("assistant", "w" * 400) for _ in range(5))]
    made = plan(messages, 100, keep_recent_messages__messages=0)
    assert left(made) == [
        "task",
        "[context compacted: 5 messages omitted, about 500 estimated tokens removed]",
    ]
    echoed = plan(messages, 100, COMPAT, keep_recent_messages__messages=0)
    assert len(left(echoed)) == 1 + 1 + 6


@given(mini_messages(), knobs)
def test_fixed_e_no_output_without_its_call(messages: Messages, options: Json) -> None:
    done = mini.compact(messages, options, mini.TIERED, "auto", FIXED)
    assert not any(mini.find_pairing(done.messages).values())


def test_fixed_f_a_short_list_is_no_reason_to_ignore_the_windows() -> None:
    messages = [say("user", "task"), *(say(("assistant", "user")[i % 2], "w" * 1500) for i in range(8))]
    published, ours = (plan(messages, 500, p, keep_recent_messages__messages=10) for p in (COMPAT, FIXED))
    assert len(left(published)) == 8  # two messages of the window gave way to a notice
    assert left(ours) == [message["content"] for message in messages]


def test_fixed_f_a_read_output_becomes_a_pointer_even_in_a_short_list() -> None:
    messages = [say("user", "w" * 3000), *reads(2)[1:]]
    texts = left(plan(messages, 100))
    assert texts[0] == "w" * 3000
    assert texts[2].startswith("[archived Read(src/0.py)")
    # What the model has not seen yet it is shown, if not all of it.
    assert texts[4].startswith("1" * 900)
    assert len(texts[4]) == 2000


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


def test_fixed_i_a_missed_target_is_said() -> None:
    missed, met = plan(reads(1), 10), plan(reads(10), 4000)
    assert (missed.under_target, met.under_target) == (False, True)
    assert any(note.startswith("The target of 10 is missed") for note in missed.notes)
    assert not any("missed" in note for note in met.notes)


def test_fixed_j_outputs_of_one_message_stay_together() -> None:
    both = [*call("a", path="1")["content"], *call("b", path="2")["content"]]
    outputs = [*answer("a", "A" * 500)["content"], *answer("b", "B" * 500)["content"]]
    for results in (
        [{"role": "tool", "content": outputs}],
        [{"role": "tool", "content": [o]} for o in outputs],
    ):
        for recent in range(8):
            messages = [
                *reads(3, 500),
                {"role": "assistant", "content": both},
                *results,
                *reads(2, 500, "u")[1:],
            ]
            made = plan(messages, 10, keep_recent_messages__messages=recent)
            texts = left(made)
            assert ("A" * 500 in texts) == ("B" * 500 in texts)


def test_the_rules_of_a_bound_model_hold_here_too() -> None:
    thought = Reasoning(text="hm", signature="seal")
    entries = [
        entry.model_copy(update={"blocks": (thought, *entry.blocks)}) if entry.role == "assistant" else entry
        for entry in parse(reads(10)).entries
    ]
    session = parse(reads(10)).model_copy(update={"entries": tuple(entries), "model": "claude-opus-5-5"})
    made = plan(session, 4000)
    kinds = [piece.block.kind for piece in build_context(session, made).pieces]
    assert kinds.count("reasoning") == 1


def test_stale_outputs_of_a_loop_that_still_goes_on_are_pointed_at_and_nothing_of_it_is_dropped() -> None:
    thought = Reasoning(text="hm", signature="seal")
    entries = [
        entry.model_copy(update={"blocks": (thought, *entry.blocks)}) if entry.role == "assistant" else entry
        for entry in parse(reads(10)).entries
    ]
    session = parse(reads(10)).model_copy(update={"entries": tuple(entries), "model": "claude-opus-4-5"})
    for target, stages in ((4000, ["shrink"]), (10, ["shrink", "snip everything", "drop the middle"])):
        made = plan(session, target)
        after = build_context(session, made)
        assert ran(made) == stages
        assert len(after) == len(live_context(session, made.ledger))
        assert not check_context(after)


def test_S3_9_the_tool_is_named_by_the_file_where_the_call_is_gone() -> None:
    output = ToolOutput(call_id="t", name="Bash", parts=(Text(text="x" * 700),))
    assert write_pointer(output, None) == (
        "[archived Bash result: 700 chars omitted (re-run the tool to see full output)]"
    )
    assert write_pointer(output, None, "compat").startswith("[archived tool result: 700")
    named = ToolCall(id="t", name="Bash", input={"command": "make\n  test"})
    assert write_pointer(output, named).startswith("[archived Bash(make test) result")


def test_an_earlier_summary_is_never_cut() -> None:
    summary = Entry(
        id="s", kind="compaction", blocks=(Text(text="what happened " * 400),), boundary={"kind": "compact"}
    )
    rest = [e.model_copy(update={"parent": e.parent or "s"}) for e in parse(reads(10)).entries]
    session = Session(format="demo", entries=(summary, *rest), leaf=rest[-1].id)
    texts = left(plan(session, 10, keep_root__messages=0))
    assert texts[0] == "what happened " * 400
    assert texts[1].startswith("[context compacted: ")


def test_the_limits_of_a_tool_add_up_to_the_smallest() -> None:
    assert find_limit(None, CLI_LIMIT) == CLI_LIMIT
    assert find_limit(500_000) == 120_000
    assert spill("x" * 8192, CLI_LIMIT) == ("x" * 8192, False)


def talked(count: int = 20) -> Messages:
    return [say("user", "task"), *(say(("assistant", "user")[i % 2], "w" * 400) for i in range(count))]


@pytest.mark.parametrize("policy", [FIXED, COMPAT])
def test_the_notice_stands_for_the_messages_that_went_and_for_no_others(policy: str) -> None:
    made = plan(talked(), 1000, policy)
    (notice,) = [piece for piece in build_context(made.session, made).pieces if "omitted" in piece.block.text]
    live = [ref.entry for ref in made.session.live_refs()]
    assert [ref.entry for ref in notice.origin] == live[1:15], "14 messages after the task"


def test_under_a_trigger_that_counts_messages_the_notice_is_one_of_them() -> None:
    """Twenty-one messages; the first and the last six stay, and the notice stands between them."""
    session = parse(talked())
    policy = {
        "name": "mine",
        "trigger": {"tokens": 10, "measure": "messages"},
        "rules": [{"kind": "drop-middle", "first": 1, "last": 6}],
    }
    made = make_plan(session, count_tokens(session, "tiered"), policy)
    assert made.notice is not None and made.place is not None
    assert int(made.notice.weight[made.place]) == 1
    assert len(build_context(session, made).pieces) == 8


def test_as_published_the_recent_window_parts_a_call_from_its_output() -> None:
    """Of the last six messages the first is an output: its call goes with the middle, and it stays."""
    messages = [*reads(8, 900), say("assistant", "done")]
    policy = {
        "name": "mine",
        "trigger": {"tokens": 10, "measure": "messages"},
        "rules": [
            {"kind": "keep-root", "messages": 1},
            {"kind": "keep-recent-messages", "messages": 6, "form": "compat"},
            {"kind": "drop-older"},
        ],
    }
    session = parse(messages)
    made = make_plan(session, count_tokens(session, "tiered"), policy)
    assert made.place == len(session.live) - 6
    kinds = [piece.block.kind for piece in build_context(session, made).pieces]
    assert kinds[:2] == ["text", "tool_output"]
