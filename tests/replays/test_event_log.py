"""The audit of a replay: every record complete, told of the moment that led to it, and exported whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector.cli import main
from inspector.files import open_session, save_session
from inspector.policies.events import KINDS, AuditEvent
from inspector.policies.harness import Harness
from inspector.policies.trigger import Trigger
from inspector.replays.engine import replay
from inspector.replays.run import Run
from inspector.session.entries import Entry
from inspector.session.session import Session
from inspector.tokens.ledger import count_tokens
from inspector.workbench.payloads.base_payload import to_json
from inspector.workbench.payloads.replay import draw_run
from tests.replays.test_compactor import THOUGHTS, thoughtful
from tests.replays.test_engine import (
    MANUAL,
    OFF,
    WARNING,
    at,
    event,
    live,
    make_policy,
    on_wire,
    say,
    talk,
    turn,
    turns,
    with_outputs,
)


def by_two(first: str | None = "first", second: str | None = "second") -> Session:
    """Five turns answered by one provider's model, and five by another's."""
    entries: list[Entry] = []
    for number in range(10):
        asked, answered = turn()
        provider, model = (first, "model-1") if number < 5 else (second, "model-2")
        entries += [asked, answered.model_copy(update={"provider": provider, "model": model})]
    return talk(*entries)


# -- what each record tells ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entry", "do", "provider", "model", "correlation"),
    [
        ("e4", "compact", "first", "model-1", "turn-3"),
        ("e7", "token_overflow", "first", "model-1", "turn-4"),
        ("e15", "token_overflow", "second", "model-2", "turn-8"),
        ("e16", "compact", "second", "model-2", "turn-9"),
    ],
)
def test_S0_64_S0_100_records_tell_the_turn_that_led_to_them_and_who_answers_in_it(
    entry: str, do: str, provider: str, model: str, correlation: str
) -> None:
    run = live(by_two(), make_policy(OFF), at(entry, do))
    (item,) = run.adopted
    told = [one for one in run.events if one.kind in ("started", "completed")]
    assert [(one.provider, one.model, one.correlation) for one in told] == [
        (provider, model, correlation)
    ] * 2
    assert [(one.before, one.after) for one in told] == [(item.before, None), (item.before, item.after)]
    assert (told[0].turn, told[0].entry) == (item.turn, item.entry)


def test_S0_100_a_threshold_s_records_are_of_the_turn_that_crossed_it() -> None:
    run = live(by_two())
    assert {(one.provider, one.model, one.correlation) for one in run.events} == {
        ("second", "model-2", "turn-9")
    }
    told = {one.kind: (one.before, one.after) for one in run.events if one.channel == "audit"}
    assert told == {"threshold_hit": (84, None), "started": (84, None), "completed": (84, 9)}
    failed = event(live(by_two(), scenario={"writer": {"fails": 99}}), "failed")
    assert (failed.before, failed.after, failed.provider) == (84, 84, "second")


def test_S0_100_a_provider_that_nobody_names_is_not_made_up() -> None:
    # By the model's name alone: who makes Claude is known, who made the others is not.
    plain = live(by_two(None, None), scenario=at("e16", "compact"))
    assert {one.provider for one in plain.events} == {"unknown"}
    claude = live(turns(9, model="claude-opus-4-5"))
    assert {one.provider for one in claude.events} == {"anthropic"}


def test_S0_64_after_a_switch_the_new_provider_and_model_summarise() -> None:
    switch = {"at": "e6", "do": "switch", "model": "model-3", "provider": "third"}
    acts = [{"at": "e4", "do": "compact"}, switch, {"at": "e8", "do": "compact"}]
    run = live(by_two(), make_policy(OFF), {"acts": acts})
    told = [(one.provider, one.model) for one in run.events if one.kind == "started"]
    assert told == [("first", "model-1"), ("third", "model-3")]
    # Within one provider only the model changes.
    switch = {"at": "e6", "do": "switch", "model": "model-3"}
    run = live(by_two(), make_policy(OFF), {"acts": [switch, {"at": "e8", "do": "compact"}]})
    assert (event(run, "started").provider, event(run, "started").model) == ("first", "model-3")


# -- the exported list --------------------------------------------------------------------------------


def lives() -> list[Run]:
    """Lives that together tell every kind of event."""
    asks, blocks = Harness(mode="ask"), Harness(mode="manual", warn=0.5, require=0.6, block=0.8)
    core = ({"kind": "keep-recent-turns", "turns": 2}, {"kind": "summarise-older", "cap": 5})
    both = on_wire(*core, trigger=Trigger(tokens=70, measure="assembled", check="request"))
    defers = Harness(machine="defer")
    forces = Harness(machine="force")
    acts = [{"at": "e4", "do": "switch", "window": 400}, {"at": "e6", "do": "byte_overflow"}]
    acts += [{"at": "e8", "do": "token_overflow"}, {"at": "e9", "do": "token_overflow"}]
    return [
        live(turns(12), make_policy(conduct=asks)),
        live(turns(12), make_policy(OFF, blocks), {"user": "waits"}),
        live(turns(12), WARNING, {"user": "overrides"}),
        live(turns(12), WARNING, {"user": "resets", "tool": False}),
        live(turns(10), make_policy(conduct=defers), at("e0", "defer")),
        live(turns(3), make_policy(conduct=forces), at("e4", "force")),
        live(turns(6), make_policy(OFF), {"acts": acts}),
        live(turns(9), make_policy(budget=10), {"writer": {"fails": 1, "oversize": 8}}),
        live(THOUGHTS, thoughtful(), at("e10", "compact")),
        live(with_outputs(5), both),
        live(turns(5), make_policy(OFF, MANUAL), at("e8", "compact")),
        live(turns(3), make_policy(conduct=Harness(adopt="smaller"), budget=50), at("e4", "compact")),
        live(turns(15), make_policy(conduct=Harness(retries=0, breaker=3)), {"writer": {"fails": 99}}),
        live(turns(30), make_policy(keep=22, budget=30), window=300),
        live(turns(2, system=(say("user", 90).blocks[0],))),
        live(turns(6), make_policy(conduct=Harness(recover_output=True)), at("e8", "max_output")),
        live(turns(12), make_policy(OFF, Harness(silent_overflow=True)), {"provider": "accepts"}),
    ]


STUD_WARNING_NAMES = {
    "warned": "CompactionWarning",
    "required": "CompactionRequired",
    "overridden": "CompactionOverridden",
    "applied": "CompactionApplied",
}


def check_record(event: AuditEvent, record: dict[str, Any]) -> None:
    """Whether a record of an exported list is the event, field by field."""
    names = (
        "kind",
        "channel",
        "step",
        "turn",
        "entry",
        "correlation",
        "provider",
        "model",
        "before",
        "after",
    )
    assert record.keys() == {*names, "data", "record"}
    assert [record[name] for name in names] == [getattr(event, name) for name in names]
    assert record["data"] == json.loads(json.dumps(dict(event.data)))
    # What the harness itself writes: stud's warning flow names four moments.
    name = STUD_WARNING_NAMES.get(event.kind)
    assert (record["record"] or {}).get("type") == name
    if name is not None:
        assert record["record"]["correlationId"] == f"turn-{(event.turn or 0) + 1}"


def test_S0_93_every_kind_of_event_is_in_the_list_that_is_drawn_with_all_it_tells() -> None:
    seen = set()
    for run in lives():
        drawn = to_json(draw_run(run).payload)["events"]
        assert len(drawn) == len(run.events) > 0
        ordered = sorted(run.events, key=lambda event: event.step or 0)
        for one, record in zip(ordered, drawn, strict=True):
            seen.add(one.kind)
            assert (record["kind"], record["at"]) == (one.kind, one.entry or "")
            assert (record["before"], record["after"]) == (one.before, one.after)
            assert (record["step"], record["turn"]) == (one.step or 0, one.turn or 0)
            details = dict(record["details"])
            own = {name: getattr(one, name) or None for name in ("correlation", "provider", "model")}
            assert {name: details.get(name) for name in own} == own
            data = {name: value for name, value in one.data.items() if value not in ("", None)}
            retention = data.pop("retention", {})
            data = {name.replace("_", " "): value for name, value in data.items()}
            assert data.keys() <= details.keys()
            assert ("reasoning by turn" in details) == bool(retention)
            for name, value in data.items():
                if isinstance(value, str | int) and not isinstance(value, bool):
                    assert details[name].replace(",", "") == str(value).replace(",", "")
    assert seen == set(KINDS)


def test_S0_93_the_exported_audit_holds_every_event_however_many(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "long.json"
    save_session(turns(2_600), path)
    options = [
        "--counter",
        "chars4_utf16",
        "--window",
        "10",
        "--scenario",
        '{"user": "overrides", "provider": "accepts"}',
    ]
    assert main(["replay", str(path), "--policy", "stud-warning", "--json", *options]) == 0
    exported = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    session = open_session(path)
    ledger = count_tokens(session, "chars4_utf16")
    scenario = {"user": "overrides", "provider": "accepts"}
    run = replay(session, "stud-warning", scenario, ledger=ledger, window=10)
    assert len(exported) == len(run.events) > 5_000
    for one, record in zip(run.events, exported, strict=True):
        check_record(one, record)
    picture, _ = draw_run(run)
    assert (len(picture.events), picture.counts.events) == (5_000, len(run.events))


@pytest.mark.parametrize("deed", ["compact", "token_overflow", None])
def test_S0_98_the_exported_audit_speaks_stud_s_words_with_stud_s_fields(
    deed: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The threshold, /compact and a refusal have a word each; a model's summary is said not to repeat."""
    path = tmp_path / "talk.json"
    save_session(turns(14), path)
    acts = [] if deed is None else [{"at": "e17", "do": deed}]
    options = ["--window", "110" if deed is None else "1000", "--scenario", json.dumps({"acts": acts})]
    command = ["replay", str(path), "--policy", "stud-wiki-1.1", "--counter", "chars4_utf16"]
    assert main([*command, "--json", *options]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    records = [line["record"] for line in lines if line["record"] is not None]
    start, end = (
        [one for one in records if one["type"] == f"Compaction{name}"] for name in ("Started", "Completed")
    )
    words = {"compact": "explicit", "token_overflow": "post-failure", None: "threshold"}
    assert start and len(start) == len(end)
    for one in start + end:
        assert one["trigger"] == words[deed]
        assert {"provider", "beforeTokens", "correlationId"} <= one.keys()
    assert all(one["deterministic"] is False and one["afterTokens"] > 0 for one in end)
    assert any(one["type"] == "CompactionThresholdHit" for one in records) is (deed is None)
    assert main([*command, *options]) == 0
    turn = int(end[0]["correlationId"].removeprefix("turn-"))
    assert f"From turn {turn} on everything follows a summary that a model writes" in capsys.readouterr().out
    deterministic = [*command[:3], "stud-wiki-deterministic", *command[4:]]
    assert main([*deterministic, *options]) == 0
    assert "summary that a model writes" not in capsys.readouterr().out
