"""The audit of a compaction as the descriptions of stud give it, from a replay and from `compact()`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector import Run, Session, compact, count_tokens, find_policy, make_plan, read_session, replay
from inspector.cli import main
from inspector.errors import PolicyError
from inspector.session.entries import Entry

WINDOW = 12_000
TOOLS = [
    {"name": name, "description": "does it " * 300, "input_schema": {"type": "object"}} for name in "abc"
]


def talk(turns: int = 12, *, reports: bool = False, tools: bool = False) -> Session:
    """Turns of unequal length, with reasoning, one call of tool a or b, and perhaps reported usage."""
    messages: list[dict[str, Any]] = []
    sent = 40
    for n in range(turns):
        words = "word " * (200 + 700 * (n % 3))
        call = {"type": "tool_use", "id": f"c{n}", "name": "ab"[n % 2], "input": {"path": f"{n}.py"}}
        thought = {"type": "thinking", "thinking": "so " * (60 + n), "signature": "s"}
        output = {"type": "tool_result", "tool_use_id": f"c{n}", "content": words}
        reply: dict[str, Any] = {"role": "assistant", "content": [thought, call]}
        if reports:
            reply["usage"] = {"input_tokens": sent + 90, "output_tokens": 130}
            sent += 900 + 700 * (n % 3)
        messages += [
            {"role": "user", "content": f"Do step {n}. " + "and " * (30 * n)},
            reply,
            {"role": "user", "content": [output]},
            {"role": "assistant", "content": f"Step {n} is done."},
        ]
    return read_session({"tools": TOOLS if tools else [], "messages": messages})


def records(run: Run, kind: str) -> list[dict[str, Any]]:
    return [record for e in run.events if e.kind == kind and (record := e.record_in("stud-wiki"))]


def both() -> dict[str, Any]:
    wire = [
        {"kind": "clear-thinking", "keep": 1},
        {"kind": "clear-tool-outputs", "keep": 1, "trigger_tokens": 0},
    ]
    rules = find_policy("stud-wiki-1.1").model_dump(mode="json")["rules"]
    return {
        "name": "both",
        "trigger": {"ratio": 0.8, "measure": "assembled", "check": "request"},
        "harness": {"dialect": "stud-wiki", "growth": 2},
        "rules": [*rules, *wire],
    }


@pytest.mark.parametrize("reports", [False, True])
def test_S0_124_every_record_of_a_compaction_has_the_tokens_before_and_after(reports: bool) -> None:
    run = replay(talk(20, reports=reports), both(), {"writer": {"grows": 1.5}}, window=WINDOW)
    completed = records(run, "completed")
    assert len(completed) > 1
    sizes = [(record["beforeTokens"], record["afterTokens"]) for record in completed]
    assert [(r["beforeTokens"], r["afterTokens"]) for r in records(run, "reasoning_downgraded")] == sizes
    stuck = records(run, "no_progress")
    assert stuck
    assert (stuck[0]["beforeTokens"], stuck[0]["afterTokens"]) in sizes
    twice = [event for event in run.events if event.kind == "double_ran"]
    assert twice
    for event, (before, after) in zip(twice, sizes, strict=False):
        assert event.before == before
        assert event.data["core"] == before - after
        assert event.after == after - event.data["wire"]


def test_S0_103_a_summary_over_its_budget_names_both_and_the_context() -> None:
    run = replay(talk(), "stud-wiki-1.1", {"writer": {"oversize": 3}}, window=WINDOW)
    started, oversize = records(run, "started"), records(run, "summary_oversize")
    assert oversize
    assert oversize[0]["beforeTokens"] == started[0]["beforeTokens"]
    assert oversize[0]["size"] > oversize[0]["budget"]


def test_limits_are_named_beside_what_was_counted() -> None:
    grown = replay(talk(20), both(), {"writer": {"grows": 1.5}}, window=WINDOW)
    stuck = next(event.data for event in grown.events if event.kind == "no_progress")
    assert (stuck["passes"], stuck["limit"]) == (2, 2)
    hit = next(event for event in grown.events if event.kind == "threshold_hit")
    assert hit.data["limit"] == int(0.8 * WINDOW)
    assert hit.data["size"] >= hit.data["limit"]
    settings = {"harness.breaker": 2, "harness.fatal": False, "harness.retries": 1}
    fails = replay(talk(20), "stud-wiki-1.1", {"writer": {"fails": "always"}, "provider": "accepts"},
                   settings=settings, window=WINDOW)  # fmt: skip
    opened = next(event.data for event in fails.events if event.kind == "breaker_opened")
    assert (opened["failures"], opened["limit"]) == (2, 2)
    assert {(e.data["attempt"], e.data["limit"]) for e in fails.events if e.kind == "retried"} == {(1, 1)}
    warned = next(e for e in replay(talk(), "stud-warning", window=WINDOW).events if e.kind == "warned")
    assert warned.data["limit"] == 0.8
    assert warned.before is not None
    assert warned.data["ratio"] == warned.before / WINDOW


def test_S0_97_the_record_spells_the_retention_rules_as_the_description_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "talk.json"
    messages = []
    for n in range(24):
        thought = {"type": "thinking", "thinking": "so it is", "signature": "s"}
        words = {"type": "text", "text": "word " * 900}
        messages.append(
            {"role": ("user", "assistant")[n % 2], "content": [thought, words] if n % 2 else [words]}
        )
    file.write_text(json.dumps({"messages": messages}), "utf-8")
    assert main(["replay", str(file), "--policy", "stud-wiki-1.1", "--window", str(WINDOW), "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    done = next(row for row in rows if row["kind"] == "completed")
    retention = done["record"]["retention"]
    assert {key for row in retention.values() for key in row} == {
        "verbatim", "summarized", "dropped", "cleared-by-provider"
    }  # fmt: skip
    assert retention["turn-1"]["summarized"] == 1


def test_S0_58_with_the_core_switched_off_there_is_no_double() -> None:
    session, policy = talk(), find_policy(both())

    def is_told(settings: dict[str, Any]) -> set[bool]:
        run = replay(session, policy, settings=settings, window=WINDOW)
        plan = make_plan(session, count_tokens(session), policy.configured(settings), window=WINDOW)
        return {
            "double_configured" in {event.kind for event in run.events},
            "double_configured" in {note.kind for note in run.findings},
            any("both the harness" in note for note in plan.notes),
        }

    assert is_told({}) == {True}
    assert is_told({"trigger.enabled": False}) == {False}
    assert is_told({"summarise-older.enabled": False}) == {False}
    assert is_told({"harness.engine": "none"}) == {False}
    assert is_told({"clear-thinking.enabled": False}) == {True}
    assert is_told({"clear-thinking.enabled": False, "clear-tool-outputs.enabled": False}) == {False}
    # Old outputs are still cleared by core.
    assert is_told({"summarise-older.enabled": False, "drop-old-outputs.enabled": True}) == {True}


@pytest.mark.parametrize("reports", [False, True])
def test_S0_94_compact_tells_the_threshold_as_a_replay_does(reports: bool) -> None:
    session = talk(reports=reports)
    events: list[Any] = []
    for reason in ("auto", "manual"):
        compact(session, "stud-wiki-1.1", lambda *_: "So far.", reason=reason, window=WINDOW,
                on_event=events.append)  # fmt: skip
    kinds = [event.kind for event in events]
    assert kinds.count("threshold_hit") == 1
    assert kinds[:2] == ["threshold_hit", "started"]
    hit = events[0].record_in("stud-wiki")
    assert hit["type"] == "CompactionThresholdHit"
    assert hit["beforeTokens"] == events[1].before
    assert events[0].data["limit"] == int(0.8 * WINDOW) <= events[0].data["size"]
    replayed = replay(session, "stud-wiki-1.1", window=WINDOW)
    first = next(event for event in replayed.events if event.kind == "threshold_hit")
    assert set(first.data) == set(events[0].data)
    assert set(first.record_in("stud-wiki") or {}) == set(hit)


def test_S0_25_the_manifest_may_say_under_harness_that_no_reasoning_is_sent() -> None:
    session = talk(6)
    plans = [
        make_plan(session, count_tokens(session), {"name": "mine", **told}, window=WINDOW)
        for told in ({"sendReasoning": False}, {"harness": {"sendReasoning": False}})
    ]
    assert [plan.policy.harness.send_reasoning for plan in plans] == [False, False]
    assert (
        find_policy("stud-wiki-1.1").configured({"harness.sendReasoning": False}).harness.send_reasoning
        is False
    )
    with pytest.raises(PolicyError, match="given twice"):
        find_policy({"name": "mine", "sendReasoning": False, "harness": {"sendReasoning": True}})


def test_S0_88_a_stage_has_its_own_tools_and_its_own_cap() -> None:
    session = talk(6, tools=True)
    whole = replay(session, "stud-wiki-1.1", window=60_000)
    narrow = replay(session, "stud-wiki-1.1", {"allowedTools": ["a", "c"]}, window=60_000)
    ledger = count_tokens(session)
    without = count_tokens(session.with_entries(session.entries, session.leaf, tools=session.tools[::2]))
    saved = ledger.head_tokens - without.head_tokens
    assert saved > 300
    both_sent = zip(whole.sent.tolist(), narrow.sent.tolist(), strict=True)
    assert {a - b for a, b in both_sent if a} == {saved}
    told = [note for note in narrow.findings if note.kind == "not_allowed"]
    assert len(told) == 1
    assert "3 recorded calls" in told[0].sentence
    assert "(b)" in told[0].sentence
    # The turn of a stage is all of its loop: its cap limits the requests.
    free = replay(session, "stud-wiki-1.1", {"turnCap": 2, "allowedTools": ["a", "b", "c"]}, window=60_000)
    assert free.status == "finished", "no turn has more than two requests"
    capped = replay(session, "stud-wiki-1.1", {"turnCap": 1, "allowedTools": ["a", "b", "c"]}, window=60_000)
    assert (capped.status, int((capped.sent > 0).sum())) == ("capped", 1)
    assert (capped.events[-1].kind, dict(capped.events[-1].data)) == ("capped", {"requests": 1, "limit": 1})
    again = eval(capped.recipe, {"replay": replay, "session": session})
    assert again.sent.tolist() == capped.sent.tolist()


def test_S0_88_a_cap_counts_the_requests_of_each_turn() -> None:
    requests = [2, 4, 1, 7]
    messages: list[dict[str, Any]] = []
    for turn, count in enumerate(requests):
        messages.append({"role": "user", "content": f"Task {turn}"})
        for number in range(count - 1):
            name = f"call-{turn}-{number}"
            call = {"type": "tool_use", "id": name, "name": "ls", "input": {}}
            messages += [
                {"role": "assistant", "content": [call]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": name, "content": "a"}]},
            ]
        messages.append({"role": "assistant", "content": "Done."})
    session = read_session(messages)
    assert replay(session, "stud-wiki-1.1", {"turnCap": 7}).status == "finished"
    for cap, turn in ((1, 0), (2, 1), (4, 3), (6, 3)):
        run = replay(session, "stud-wiki-1.1", {"turnCap": cap})
        assert (run.status, run.events[-1].turn) == ("capped", turn)
        assert int((run.sent > 0).sum()) == sum(requests[:turn]) + cap
    one = read_session([m for m in messages if isinstance(m["content"], str)])
    assert replay(one, "stud-wiki-1.1", {"turnCap": 1}).status == "finished"


def test_S0_94_the_threshold_is_told_if_nothing_can_be_compacted() -> None:
    session = read_session(
        [{"role": "user", "content": "word " * 9_000}, {"role": "assistant", "content": "Ok."}]
    )
    events: list[Any] = []
    done = compact(session, "stud-wiki-1.1", reason="auto", window=WINDOW // 2, on_event=events.append)
    assert not done.done
    assert [event.kind for event in events] == ["threshold_hit"]
    compact(session, "stud-wiki-1.1", reason="auto", window=10**6, on_event=events.append)
    assert len(events) == 1


def test_S0_5_a_compaction_that_a_state_machine_forced_names_no_threshold() -> None:
    acts = {"acts": [{"at": "turn 6", "do": "force"}, {"at": "turn 9", "do": "compact"}]}
    run = replay(talk(), "stud-wiki-1.1", acts, settings={"harness.machine": "force"}, window=90_000)
    told = [record["trigger"] for kind in ("started", "completed") for record in records(run, kind)]
    assert told == ["forced", "explicit", "forced", "explicit"]
    assert "threshold_hit" not in {event.kind for event in run.events}


def test_S0_110_compact_tells_that_the_provider_clears_on_the_same_boundary() -> None:
    session = talk(9)
    events: list[Any] = []
    done = compact(session, both(), lambda *_: "So far.", window=WINDOW, on_event=events.append)
    twice = [event for event in events if event.kind == "double_ran"]
    assert len(twice) == 1
    stored, sent = done.promised.tokens, done.plan.with_summary(done.checkpoint).after
    assert (twice[0].before, twice[0].after) == (done.plan.before, sent)
    assert dict(twice[0].data) == {"core": done.plan.before - stored, "wire": stored - sent}
    compact(session, "stud-wiki-1.1", lambda *_: "So far.", window=WINDOW, on_event=events.append)
    assert [event.kind for event in events].count("double_ran") == 1


def test_S4_59_the_error_that_surfaces_names_the_recoveries_and_their_limit() -> None:
    again = [{"at": "turn 7", "do": "token_overflow"}] * 3
    for most in (1, 2):
        settings = {"harness.recoveries": most, "keep-recent-tokens.tokens": 3_000}
        run = replay(talk(), "flue", {"acts": again}, settings=settings, window=200_000)
        error = next(event for event in run.events if event.kind == "surfaced")
        assert (error.data["recoveries"], error.data["limit"]) == (most, most)
    off = replay(talk(), "stud-warning", {"acts": again, "user": "compacts"}, window=200_000)
    assert {event.data["limit"] for event in off.events if event.kind == "surfaced"} == {0}


@pytest.mark.parametrize(
    ("error", "kind", "status"),
    [
        ("prompt is too long: 250000 tokens > 200000 maximum", "token_overflow", None),
        ("400 prompt is too long: 250000 tokens > 200000 maximum", "token_overflow", 400),
        ("413 request_too_large: Request exceeds the maximum size", "byte_overflow", 413),
    ],
)
def test_S4_60_compact_tells_the_refusal_as_a_replay_does(error: str, kind: str, status: int | None) -> None:
    session = talk(9)
    failed = Entry(id="failed", parent=session.leaf, role="assistant", stop_reason="error", error=error)
    refused = session.with_entries((*session.entries, failed), "failed")
    events: list[Any] = []
    compact(refused, "stud-wiki-1.1", lambda *_: "So far.", reason="overflow", window=90_000,
            on_event=events.append)  # fmt: skip
    own = [event for event in events if event.kind != "state_changed"]
    run = [e for e in replay(refused, "stud-wiki-1.1", window=90_000).events if e.kind != "state_changed"]
    assert [event.kind for event in own] == [event.kind for event in run]
    assert [event.kind for event in own][:3] == [kind, "leaf_removed", "started"]
    assert dict(own[0].data) == dict(run[0].data) == ({"status": status} if status else {})
    assert (own[0].before, own[2].before) == (run[0].before, run[2].before)
