"""The audit of stud's compactions: what each record says, and when it is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector import compact, count_tokens, find_policy, open_demo, replay, save_session
from inspector.cli import main
from inspector.errors import PolicyError
from inspector.planning.summary_jobs import Checkpoint, Reply, SummaryJob
from inspector.policies.events import AuditEvent
from inspector.policies.registry import add_policy
from inspector.session.session import Session
from inspector.summaries.extractive.summariser import ExtractiveSummariser
from tests.replays.test_one_answer import fail, unequal
from tests.replays.test_seed_records import both, talk

STUD = ("stud-wiki-1.1", "stud-wiki-deterministic", "stud-merged")


def audit(session: Session, policy: Any, summariser: Any = None, **more: Any) -> list[AuditEvent]:
    events: list[AuditEvent] = []
    compact(session, policy, summariser, on_event=events.append, **more)
    return events


def records(events: Any, *kinds: str) -> list[dict[str, Any]]:
    return [event.record_in("stud-wiki") for event in events if event.kind in kinds]


# -- the threshold ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STUD)
@pytest.mark.parametrize("window", [2_500, 4_000, 9_000])
@pytest.mark.parametrize("settings", [{}, {"keep-recent-turns.turns": 2}, {"trigger.ratio": 0.55}])
def test_S0_9_a_threshold_is_recorded_before_each_compaction_by_it(
    name: str, window: int, settings: dict[str, Any]
) -> None:
    more = {} if name != "stud-merged" or "trigger.ratio" not in settings else {"harness.warn": 0.5}
    scenario = {"provider": "accepts", "user": "overrides"}
    run = replay(unequal(40), name, scenario, settings=settings | more, window=window)
    told = records(run.events, "threshold_hit", "started")
    started = [at for at, record in enumerate(told) if record.get("trigger") == "threshold"]
    for at in started:
        hit, start = told[at - 1], told[at]
        assert hit["type"] == "CompactionThresholdHit"
        assert (hit["correlationId"], hit["beforeTokens"]) == (start["correlationId"], start["beforeTokens"])
        assert hit["beforeTokens"] >= hit["limit"] == int(window * settings.get("trigger.ratio", 0.8))


def test_S0_9_also_if_the_context_never_falls_below_it() -> None:
    run = replay(unequal(40), "stud-wiki-1.1", {"provider": "accepts"}, window=1_500)
    kinds = [event.kind for event in run.events if event.kind in ("threshold_hit", "started", "recovered")]
    assert kinds.count("started") > 3 and kinds.count("threshold_hit") >= kinds.count("started")
    assert kinds.count("recovered") < kinds.count("started")


@pytest.mark.parametrize("fails", [0, "always"])
@pytest.mark.parametrize("window", [2_000, 2_500, 6_000])
@pytest.mark.parametrize("fatal", [True, False])
def test_S0_9_the_state_is_normal_only_below_the_threshold(fails: Any, window: int, fatal: bool) -> None:
    scenario = {"provider": "accepts", "writer": {"fails": fails}}
    run = replay(unequal(30), "stud-wiki-1.1", scenario, settings={"harness.fatal": fatal}, window=window)
    moves = [event.data for event in run.events if event.kind == "state_changed"]
    assert any(move["ratio"] >= 0.8 for move in moves)
    for move in moves:
        assert (move["to"] == "normal") <= (move["ratio"] < 0.8)
        assert (move["from"] == "normal") <= (move["ratio"] < 0.8 or move["to"] == "warning")
    # It has no warning of its own to record.
    assert not {"warned", "required"} & {event.kind for event in run.events}


# -- how it ends -----------------------------------------------------------------------------------


def test_S0_102_a_compaction_that_the_user_asked_for_fails_without_an_overflow() -> None:
    acts = {"acts": [{"at": "turn 7", "do": "compact"}], "writer": {"fails": "always"}}
    run = replay(unequal(12), "stud-wiki-1.1", acts, window=200_000)
    own = audit(unequal(12), "stud-wiki-1.1", fail, window=200_000)
    for events in (run.events, own):
        (failed,) = records(events, "failed")
        assert (failed["trigger"], failed["error"]) == ("explicit", "SummarizeFailed")
        assert not records(events, "surfaced")
    assert run.status == "finished"


@pytest.mark.parametrize("raises", [True, False])
@pytest.mark.parametrize("name", ["stud-wiki-1.1", "flue"])
@pytest.mark.parametrize("reason", ["auto", "overflow"])
def test_S0_102_compact_ends_with_the_error_a_replay_ends_with(reason: Any, name: str, raises: bool) -> None:
    session, kept = unequal(12), {"keep-recent-tokens.tokens": 120, "trigger.reserve_tokens": 500}
    policy = find_policy(name).configured(kept if name == "flue" else {})

    def write(job: SummaryJob, of: Session) -> Reply:
        if raises:
            raise ConnectionError("reset by peer")
        return fail(job, of)

    events: list[AuditEvent] = []
    window = 2_000 if reason == "auto" else 90_000
    try:
        compact(session, policy, write, reason=reason, window=window, on_event=events.append)
    except ConnectionError:
        assert raises
    acts = [{"at": "turn 12", "do": "token_overflow"}] if reason == "overflow" else []
    scenario = {"acts": acts, "writer": {"fails": "always"}, "provider": "accepts"}
    run = replay(session, policy, scenario, window=window)
    ends = [
        [event.name_in("stud-wiki") for event in each if event.kind in ("failed", "surfaced")][:2]
        for each in (events, run.events)
    ]
    goes_on = name == "flue" and reason == "auto"
    assert ends[0] == ["CompactionFailed", "ContextOverflow"][: 1 if goes_on else 2]
    assert (
        ends[0] == ends[1][: 1 if goes_on else 2]
        and ("surfaced" in {e.kind for e in run.events}) is not goes_on
    )
    surfaced = [
        dict(event.data) for each in (events, run.events) for event in each if event.kind == "surfaced"
    ]
    assert surfaced[1:] == surfaced[:-1]
    errors = {
        event.data["error"] for each in (events, run.events) for event in each if event.kind == "failed"
    }
    assert ("ContextOverflow" in errors) is not goes_on


# -- summaries that grow ---------------------------------------------------------------------------


def grow(sizes: list[int], reasons: list[Any], policy: Any = "stud-wiki-1.1") -> list[list[AuditEvent]]:
    """Compactions of one session that goes on, each with a summary of so many words."""
    whole = unequal(60)
    entries, session, out = list(whole.entries), None, []
    for number, (words, reason) in enumerate(zip(sizes, reasons, strict=True)):
        more = entries[number * 16 : number * 16 + 16]
        if session is None:
            session = Session(format=whole.format, entries=tuple(more), leaf=more[-1].id)
        else:
            more[0] = more[0].model_copy(update={"parent": session.leaf})
            session = session.with_entries((*session.entries, *more), more[-1].id)
        events: list[AuditEvent] = []
        done = compact(
            session,
            policy,
            Checkpoint(text="word " * words),
            reason=reason,
            window=1_800,
            on_event=events.append,
        )
        # One that is refused tells nothing, and the session goes on as it is.
        assert done.done is bool(events) and done.done is not ("until the user acts" in done.why)
        session = session if not done.done else done.after
        out.append(events)
    return out


@pytest.mark.parametrize(
    ("sizes", "reasons", "stuck", "refused"),
    [
        ([20, 60, 120, 240], ["auto"] * 4, [2], [3]),
        ([20, 60, 60, 90, 120, 150], ["auto"] * 6, [4], [5]),
        ([90, 60, 40, 20], ["auto"] * 4, [], []),
        ([20, 60, 120, 100], ["auto", "auto", "overflow", "overflow"], [2], []),
        ([20, 60, 120, 100, 90], ["auto", "auto", "overflow", "overflow", "auto"], [2], []),
        # The user's own are counted, and refused never; the one after them is automatic again.
        ([20, 60, 120, 240], ["manual"] * 4, [2, 3], []),
        ([20, 60, 120, 240, 300], ["auto", "auto", "manual", "auto", "auto"], [2, 3], [4]),
        ([20, 60, 120, 240, 100, 90], ["auto"] * 3 + ["auto", "manual", "auto"], [2], [3]),
    ],
)
def test_S0_106_compact_reports_summaries_that_grow(
    sizes: list[int], reasons: list[Any], stuck: list[int], refused: list[int]
) -> None:
    told = grow(sizes, reasons)
    assert [at for at, events in enumerate(told) if not events] == refused
    assert [at for at, events in enumerate(told) if records(events, "no_progress")] == stuck
    for at in stuck:
        (event,) = [event for event in told[at] if event.kind == "no_progress"]
        assert event.data["passes"] >= event.data["limit"] == 2
        assert event.data["summary"] > event.data["last"]
        assert event.name_in("stud-wiki") == "CompactionNoProgress"
        assert told[at].index(event) > [e.kind for e in told[at]].index("completed")
    off = find_policy("stud-wiki-1.1").configured({"harness.growth": 0})
    assert not [e for events in grow(sizes, reasons, off) for e in events if e.kind == "no_progress"]


def test_S0_106_after_a_recovery_whose_summary_is_no_longer_automatic_ones_start_again() -> None:
    """As the guide says: a summary that reached its budget grows no more."""
    for grows in (1.5, 2, 3):
        run = replay(talk(60), "stud-wiki-1.1", {"writer": {"grows": grows}}, window=16_000)
        kinds = [event.kind for event in run.events]
        assert [item.reason for item in run.compactions][:4] == ["auto"] * 3 + ["overflow"]
        reasons = [
            event.data["reason"]
            for event in run.events[kinds.index("no_progress") :]
            if event.kind == "started"
        ]
        again = reasons.index("auto")
        assert again and set(reasons[:again]) == {"overflow"}
        written = [item.written for item in run.compactions]
        assert (
            written[2 + again] <= written[1 + again] and sorted(written[: 2 + again]) == written[: 2 + again]
        )
        assert len(set(written[: 2 + again])) == 2 + again


# -- state machines --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["stud-wiki-1.1", "stud-merged"])
def test_S0_5_a_state_machine_may_defer_and_forces_only_if_it_is_allowed(name: str) -> None:
    acts = [{"at": "turn 2", "do": "defer"}, {"at": "turn 12", "do": "release"}]
    scenario = {"acts": acts, "provider": "accepts", "user": "overrides"}
    free, put_off = (
        replay(unequal(20), name, {**scenario, "acts": each}, window=2_500) for each in ([], acts)
    )
    first = [min(item.turn for item in run.compactions) + 1 for run in (free, put_off)]
    assert first[0] < 12 <= first[1]
    assert "no_defer" not in {note.kind for note in put_off.findings}
    force = {"acts": [{"at": "turn 8", "do": "force"}]}
    (told,) = [
        note for note in replay(unequal(20), name, force, window=90_000).findings if note.kind == "no_force"
    ]
    key, value = told.sentence.split("The setting ")[1].split(" does")[0].split(" = ")
    run = replay(unequal(20), name, force, settings={key: json.loads(value)}, window=90_000)
    assert [event.kind for event in run.events if event.kind == "forced"] == ["forced"]


def test_S0_5_other_harnesses_name_the_setting_too() -> None:
    acts = {"acts": [{"at": "turn 3", "do": "defer"}]}
    (told,) = [note for note in replay(unequal(6), "flue", acts).findings if note.kind == "no_defer"]
    assert 'harness.machine = "defer"' in told.sentence


# -- non-determinism -------------------------------------------------------------------------------


def test_S0_71_a_recording_that_crossed_a_boundary_is_not_reproduced_from_there_on() -> None:
    whole = unequal(40)
    half = whole.at(whole.entries[29].id)
    written = compact(half, "stud-wiki-1.1", lambda job, of: "So far.").after
    rest = [
        entry.model_copy(update={"parent": written.leaf} if not at else {})
        for at, entry in enumerate(whole.entries[30:])
    ]
    going_on = written.with_entries((*written.entries, *rest), rest[-1].id)
    copied = compact(half, "stud-wiki-1.1", ExtractiveSummariser(count_tokens(half))).after
    rest[0] = rest[0].model_copy(update={"parent": copied.leaf})
    extracted = copied.with_entries((*copied.entries, *rest), rest[-1].id)

    def told(session: Session, window: int) -> list[tuple[int, bool]]:
        run = replay(session, "stud-wiki-1.1", window=window)
        turns = [int(run.turn[note.step]) + 1 for note in run.findings if note.kind == "downstream"]
        return [(turn, turn == min((item.turn + 1 for item in run.compactions), default=0)) for turn in turns]

    assert told(whole, 10**6) == []
    assert told(going_on, 10**6) == [(16, False)]
    assert told(written, 10**6) == [], "nothing follows it"
    assert told(extracted, 10**6) == [], "the same text each time"
    (own,) = told(going_on, 2_500)
    assert own[0] < 16 and own[1], "the run's own comes first"


# -- what the records name -------------------------------------------------------------------------


def test_S0_60_the_record_of_both_surfaces_names_the_precedence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "talk.json"
    save_session(talk(), file)
    add_policy(both() | {"name": "both-surfaces"})
    assert main(["replay", str(file), "--policy", "both-surfaces", "--window", "12000", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (double,) = [row["record"] for row in rows if row["kind"] == "double_configured"]
    assert double["precedence"] == "core" and double["providerEntry"]
    run = replay(talk(), both(), window=12_000)
    found = [(row["finding"], row["step"], row["sentence"]) for row in rows if row["kind"] == "finding"]
    assert (
        {name for name, _, _ in found}
        == {note.kind for note in run.findings}
        >= {"double_configured", "downstream"}
    )
    assert len(found) == len(run.findings)


def test_S0_98_the_provider_is_that_of_the_summarising_model_and_the_writer_has_a_field() -> None:
    session = talk(9)

    def plain(job: SummaryJob, of: Session) -> str:
        return "So far."

    def hosted(job: SummaryJob, of: Session) -> Reply:
        return Reply(text="So far.", provider="openai", model="gpt-5")

    class Own:
        by, provider, model = "mine", "anthropic", "claude-haiku-4-5"

        def __call__(self, job: SummaryJob, of: Session) -> str:
            return "So far."

    cases: list[tuple[Any, set[str], str]] = [
        (plain, {"unknown"}, "plain"),
        (hosted, {"unknown", "openai"}, "hosted"),
        (Own(), {"anthropic"}, "mine"),
        (ExtractiveSummariser(count_tokens(session)), {"extractive"}, "extractive"),
        (Checkpoint(text="So far.", by="me", provider="openai"), {"openai"}, "me"),
    ]
    for summariser, providers, writer in cases:
        told = records(audit(session, "stud-wiki-1.1", summariser), "started", "completed")
        assert {record["provider"] for record in told} == providers
        assert told[-1]["provider"] == (providers - {"unknown"} or providers).pop()
        assert {record["writer"] for record in told} == {writer}
    (done,) = records(audit(session, "stud-wiki-deterministic"), "completed")
    assert done["provider"] == "rules" and "writer" not in done
    run = replay(open_demo(), "stud-wiki-1.1")
    assert {record["provider"] for record in records(run.events, "started", "completed")} == {"anthropic"}


@pytest.mark.parametrize(("key", "named"), [("mode", "mode"), ("turns", "keep-recent-turns.turns")])
def test_S0_76_a_settings_file_with_a_key_of_the_policy_is_told_the_key(key: str, named: str) -> None:
    text = json.dumps({"compaction": {"trigger": 0.7, key: "drop-old-outputs" if key == "mode" else 2}})
    with pytest.raises(PolicyError, match=rf"compaction\.{key} is not a threshold") as told:
        find_policy("stud-wiki-1.1", settings=text)
    assert named in str(told.value).split("threshold", 1)[1]
    if key == "turns":
        assert find_policy("stud-wiki-1.1").configured({named: 2}) != find_policy("stud-wiki-1.1")
