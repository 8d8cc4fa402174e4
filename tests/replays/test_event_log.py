"""The audit of a replay: every record complete, told of the moment that led to it, and exported whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector.cli import main
from inspector.files import open_session, save_session
from inspector.policies.events import AuditEvent
from inspector.replays.engine import replay
from inspector.session.entries import Entry
from inspector.session.session import Session
from inspector.tokens.ledger import count_tokens
from inspector.workbench.payloads.replay import draw_run
from tests.replays.test_engine import event, live, talk, turn, turns


def by_two(first: str | None = "first", second: str | None = "second") -> Session:
    """Five turns answered by one provider's model, and five by another's."""
    entries: list[Entry] = []
    for number in range(10):
        asked, answered = turn()
        provider, model = (first, "model-1") if number < 5 else (second, "model-2")
        entries += [asked, answered.model_copy(update={"provider": provider, "model": model})]
    return talk(*entries)


# -- what each record tells ---------------------------------------------------------------------------


def test_S0_100_a_threshold_s_records_are_of_the_turn_that_crossed_it() -> None:
    run = live(by_two())
    assert {(one.provider, one.model, one.correlation) for one in run.events} == {
        ("second", "model-2", "turn-9")
    }
    told = {one.kind: (one.before, one.after) for one in run.events if one.channel == "audit"}
    assert told == {"threshold_hit": (84, None), "started": (84, None), "completed": (84, 9)}
    failed = event(live(by_two(), scenario={"writer": {"fails": 99}}), "failed")
    assert (failed.before, failed.after, failed.provider) == (84, 84, "second")


# -- the exported list --------------------------------------------------------------------------------


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
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    exported = [row for row in rows if row["kind"] != "finding"]
    session = open_session(path)
    ledger = count_tokens(session, "chars4_utf16")
    scenario = {"user": "overrides", "provider": "accepts"}
    run = replay(session, "stud-warning", scenario, ledger=ledger, window=10)
    assert len(exported) == len(run.events) > 5_000
    for one, record in zip(run.events, exported, strict=True):
        check_record(one, record)
    picture, _ = draw_run(run)
    assert (len(picture.events), picture.counts.events) == (5_000, len(run.events))
