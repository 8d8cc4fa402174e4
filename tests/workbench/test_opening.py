"""What a workbench opens on: what was done or would be, or a sentence that nothing has to go."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from inspector import Workbench, find_policy, make_plan, open_session, read_session, replay
from inspector.demo import open_demo
from inspector.errors import InspectorError
from inspector.policies.own_policy import find_own_policy
from inspector.policies.policy import Edits, Policy
from inspector.policies.registry import configure_policy
from inspector.session.blocks import Text, ToolCall, ToolOutput
from inspector.session.entries import Entry
from inspector.session.session import Session
from inspector.tokens.history import trace_history
from inspector.tokens.ledger import count_tokens
from inspector.workbench.model import WorkbenchModel
from inspector.workbench.opening import choose, find_start, list_marks
from inspector.workbench.payloads.columns import unpack
from tests.claude_rows import Claude, dump
from tests.shared import SHARED, list_few, needs_shared, open_shared
from tests.workbench.asking import open_model

NOTHING = "No compaction needed yet"


def show(answer: dict[str, Any]) -> str:
    return "".join(part["text"] for part in answer["_plan"]["sentence"]["parts"])


def judge(model: WorkbenchModel, at: str) -> None:
    """W2-3 at one moment."""
    answer = model.answer({"at": at, "policy": "auto", "cut": "", "pins": [], "settings": {}})
    plan, cut = model.plan, answer["_plan"]["cut"]
    if not show(answer).startswith(NOTHING):
        assert plan.after != plan.before
    if plan.place is None:
        # A cut that is nobody's yet waits at a valid cut point, and only where there is one.
        assert plan.cuts.legal[cut["rest"]] if cut["rest"] >= 0 else not plan.cuts.legal.any()
    else:
        assert plan.cuts.legal[plan.place]


@pytest.mark.parametrize(
    "path", [None, *list_few()[::2]], ids=lambda path: "demo" if path is None else path.name
)
def test_w2_3_a_session_opens_on_something_that_is_done_or_says_that_nothing_has_to(
    path: Path | None,
) -> None:
    try:
        session = open_demo() if path is None else open_shared(path)
    except InspectorError as error:
        pytest.skip(f"this version reads no such file: {error}")
    model = WorkbenchModel(session, "auto", counter="chars4_utf16")
    first = model.answer({})
    assert first["_plan"]["chosen"]
    marks = list_marks(session, model.history)
    for at in dict.fromkeys([model.inputs["at"], *(mark.at for mark in marks if mark.kind == "compact"), ""]):
        judge(model, at)


def test_where_the_file_records_a_compaction_that_is_what_is_shown() -> None:
    model = WorkbenchModel(open_demo(), "auto")
    answer = model.answer({})
    (whole, micro) = list_marks(model.session, model.history)
    assert (model.inputs["at"], model.inputs["look"], model.tab) == (whole.at, "recorded:1", "compactions")
    assert (model.inputs["policy"], model.plan.policy.name) == ("auto", "recorded")
    assert "As the file records it" in answer["_plan"]["chosen"]
    assert answer["_recorded"]["label"] == "◆1 recorded" and answer["_recorded"]["entry"] == whole.entry
    assert answer["_recorded"]["after"]["total"] == model.shown.after == model.plan.after
    written = answer["_recorded"]["sentence"]["parts"]
    assert "".join(part["text"] for part in written).startswith("Left of the cut: 332 blocks, ")
    assert [part["text"] for part in written][2] == " became a summary of"
    assert micro.look == "cleared:1"


def say(n: int, role: Any, *blocks: Any) -> Entry:
    return Entry(id=f"e{n}", parent=f"e{n - 1}" if n else None, role=role, blocks=blocks)


def make_session(*entries: Entry) -> Session:
    return Session(format="demo", entries=entries, leaf=entries[-1].id)


def idle(policy: str, *entries: Entry, **options: Any) -> tuple[str, list[dict[str, Any]], WorkbenchModel]:
    model = WorkbenchModel(make_session(*entries), policy, counter="chars4_utf16", **options)
    answer = model.answer({})
    return show(answer), answer["_plan"]["sentence"]["buttons"], model


def talk(turns: int, length: int = 400) -> Iterator[Entry]:
    for n in range(turns):
        yield say(2 * n, "user", Text(text="a" * length))
        yield say(2 * n + 1, "assistant", Text(text="b" * length))


def with_output(length: int) -> tuple[Entry, ...]:
    call = ToolCall(id="c", name="Read", input={})
    return (
        *talk(3),
        say(6, "user", Text(text="read it")),
        say(7, "assistant", call),
        say(8, "tool", ToolOutput(call_id="c", parts=(Text(text="x" * length),))),
    )


@pytest.mark.parametrize(("turns", "fires"), [(1, False), (40, False), (90, True)])
def test_a_session_without_a_compaction_opens_on_its_own_harness_policy(turns: int, fires: bool) -> None:
    """The plan shows what a compaction would do; the sentence says if the policy does not fire yet."""
    said = Claude()
    for turn in range(turns):
        said.say(f"Read file {turn}. " + "x" * 3_000).reply("Yes. " + "y" * 3_000, 2_000 * (turn + 1))
    session = read_session(dump(said.rows), "talk.jsonl")
    model = WorkbenchModel(session, "auto")
    chosen = model.answer({})["_plan"]["chosen"]
    assert model.plan.policy.name == "claude-code" and model.plan.after < model.plan.before
    assert chosen.endswith("It does not fire yet.") != fires
    assert model.plan.verdict.fires == fires


@pytest.mark.parametrize(
    ("policy", "entries", "reason"),
    [
        ("claude-code-analysis", tuple(talk(10)), "2k is within its target of 80k"),
        (
            "flue",
            with_output(200_000),
            "the last tool output alone (50k) is more than the 20,000 tokens it keeps",
        ),
        ("flue", tuple(talk(6)), "nothing is older than the tail it keeps"),
    ],
)
def test_w2_4_a_policy_that_does_nothing_says_why_and_what_would_do_something(
    policy: str, entries: tuple[Entry, ...], reason: str
) -> None:
    sentence, buttons, model = idle(policy, *entries, window=100_000)
    assert f"keeps everything here: {reason}" in sentence
    assert model.plan.after == model.plan.before
    for button in buttons:
        other = open_model(model.session, policy, counter="chars4_utf16", window=100_000)
        other.answer(button["edit"])
        assert other.plan.after != model.plan.after, button
    assert buttons or not model.plan.cuts.legal[1:-1].any()


def test_w2_8_the_sentence_counts_what_the_plan_takes() -> None:
    model = WorkbenchModel(open_demo(), "flue")
    answer = model.answer({})
    columns = unpack(answer["_plan"]["columns"], answer["_plan_data"])
    legal = [place for place in range(len(model.plan.cuts)) if model.plan.cuts.legal[place]]
    for place in legal[:: len(legal) // 20]:
        plan = model.plan.with_edits(Edits(cut=model.plan.cuts.ids[place]))
        taken = [row for row in range(len(plan.fate)) if plan.is_older[row] and plan.fate[row] == 3]
        assert columns["left_blocks"][place] == len(taken)
        assert columns["left_tokens"][place] == plan.table.tokens[taken].sum()


def test_w2_5_a_cut_that_a_provider_refuses_has_its_number_and_the_provider_s_words() -> None:
    session = open_demo()
    model = WorkbenchModel(session, "flue", counter="chars4_utf16")
    at = next(entry.id for entry in session.entries if entry.id.startswith("4d84c5fb"))
    answer = model.answer({"at": at})
    cut = model.plan.cut
    assert cut is not None and not cut.legal
    assert answer["_plan"]["sentence"]["case"] == "refused"
    assert show(answer).startswith("This plan leaves 22.2k. A provider would refuse it: the reply is still")
    (button,) = answer["_plan"]["sentence"]["buttons"]
    model.answer(button["edit"])
    assert model.plan.cut is not None and model.plan.cut.legal
    # Nobody is shown such a plan who has not asked for it.
    choice = choose(session.at(at), model.ledger, Edits())
    assert choice.plan.place is None or choice.plan.cuts.legal[choice.plan.place]


def test_a_manifest_of_stud_opens_under_a_policy_of_stud_and_is_replayed_under_it() -> None:
    words = "the tide at noon is three metres and falling " * 400
    messages = [
        {
            "id": f"m{n}",
            "role": ("user", "assistant")[n % 2],
            "content": f"{n}: {words}",
            "monotonicTs": str(n),
        }
        for n in range(60)
    ]
    manifest = {"sessionId": "s1", "projectRoot": "/w/.stud", "mode": "ask", "messages": messages}
    session = read_session(json.dumps(manifest | {"storeId": "filesystem-session-store"}).encode())
    assert session.format == "stud"
    model = WorkbenchModel(session, window=200_000)
    answer = model.answer({"policy": "auto", "cut": ""})
    assert model.plan.policy.name == "stud-wiki-1.1"
    assert "keep-recent-turns" not in str(answer["_plan"]["sentence"])
    run = replay(session, model.plan.policy, window=200_000)
    names = [event.name_in(run.policy.harness.dialect) for event in run.events]
    assert "CompactionThresholdHit" in names and "CompactionCompleted" in names


@needs_shared
def test_the_fullest_recorded_compaction_is_opened_on() -> None:
    path = SHARED / "sessions" / "claude-code--entireio-cli" / "cc-3auto-compactions-893l.jsonl"
    session = open_session(path)
    ledger = count_tokens(session, "chars4_utf16")
    history = trace_history(session, ledger)
    marks = list_marks(session, history)
    fullest = max(marks, key=lambda mark: mark.tokens)
    assert len(marks) == 3 and find_start(session, history, ledger) == fullest.at
    choice = choose(session.at(fullest.at), ledger, Edits())
    assert choice.plan.policy.name == "recorded" and choice.harness == "claude-code"


@pytest.mark.parametrize(
    ("format", "told", "policy"),
    [
        ("claude-stream-json", {}, "claude-code"),
        ("openhands-trajectory", {}, "openhands"),
        ("atif", {"harness": "Codex"}, "codex"),
        ("atif", {}, None),
        ("swe-agent", {}, None),
    ],
)
def test_a_session_gets_the_policy_of_its_harness_whatever_format_holds_it(
    format: str, told: dict[str, str], policy: str | None
) -> None:
    session = make_session(*talk(2)).model_copy(update={"format": format, "extra": told})
    own = find_own_policy(session)
    assert (None if own is None else own.name) == policy
    reason = WorkbenchModel(session, "auto").answer({})["_plan"]["chosen"]
    if policy is None and (harness := session.source.harness) is not None:
        assert harness in reason or "No policy" in reason


def list_changed() -> list[tuple[str, Policy, dict[str, object]]]:
    flue, warning = find_policy("flue"), find_policy("stud-warning")
    return [
        ("flue", flue.configured({"trigger.reserve_tokens": 9_000}), {"trigger.reserve_tokens": 9_000}),
        (
            "stud-warning",
            find_policy(warning, settings='{"compaction": {"warn": 0.5}}'),
            {"harness.warn": 0.5},
        ),
        ("flue", flue.configured({"dedupe-reads.enabled": True}), {}),
        ("stud-warning", configure_policy(warning, {"harness.engine": "tool:flue"}), {}),
        ("stud-wiki-1.1-edited", find_policy("stud-wiki-1.1").in_mode("outputs-first"), {}),
    ]


@pytest.mark.parametrize(("name", "policy", "settings"), list_changed())
def test_a_built_in_policy_with_other_settings_is_shown_as_it_was_made(
    name: str, policy: Policy, settings: dict[str, object]
) -> None:
    session = open_demo()
    plan = make_plan(session, policy)
    for shown in (Workbench(plan), Workbench(session, policy, at=session.leaf, counter="o200k_base")):
        try:
            assert shown.policy == name
            assert settings.items() <= shown.settings.items()
            assert shown.plan.policy.rules == policy.rules
            assert shown.plan.policy.harness == policy.harness
            assert shown.plan.policy.trigger == policy.trigger
            assert (shown.plan.place, shown.plan.after) == (plan.place, plan.after)
            assert shown.plan.fate.tolist() == plan.fate.tolist()
        finally:
            shown.close()


def test_settings_of_the_workbench_come_on_top_of_those_of_its_policy() -> None:
    policy = find_policy("flue").configured({"trigger.reserve_tokens": 9_000})
    shown = Workbench(open_demo(), policy, settings={"trigger.ratio": 0.4})
    try:
        trigger = shown.plan.policy.trigger
        assert (trigger.reserve_tokens, trigger.ratio) == (9_000, 0.4)
    finally:
        shown.close()
