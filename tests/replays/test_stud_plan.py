"""What a plan of stud's policies says, and what its replay, its audit and the user's banner say with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector import compact, count_tokens, make_plan, read_session, replay, save_session
from inspector.cli import main
from inspector.errors import PolicyError
from inspector.planning.summary_jobs import SummaryJob
from inspector.policies.events import AuditEvent
from inspector.policies.harness import Harness, level_of, write_banner
from inspector.policies.registry import find_policy, swap_tool
from inspector.session.session import Session
from inspector.summaries.material import job_text
from tests.replays.test_seed_records import talk


def size(session: Session) -> int:
    return make_plan(session, count_tokens(session), "stud-warning", window=10**6).before


# -- who decides -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("share", "says"), [(0.54, "used."), (0.86, "warns from 80 %"), (0.97, "requests are refused from 95 %")]
)
def test_S1_a_plan_waits_for_the_user_and_says_what_the_harness_does_at_this_share(
    share: float, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = talk(9)
    window = int(size(session) / share)
    plan = make_plan(session, count_tokens(session), "stud-warning", window=window)
    sentence = plan.verdict.sentence
    assert sentence.startswith("Waits for the user's /compact: ") and says in sentence
    assert f"{share:.0%}".rstrip("%") in sentence and not plan.verdict.fires
    assert plan.reason == plan.verdict.reason == "manual"
    # The same at the other doors.
    assert compact(session, "stud-warning", reason="auto", window=window).why == sentence
    run = replay(session, "stud-warning", {"user": "waits"}, window=window)
    kinds = {event.kind for event in run.events}
    assert ("warned" in kinds, "required" in kinds) == (share > 0.8, share > 0.95)
    save_session(session.with_entries(session.entries, session.leaf, window=window), tmp_path / "s.json")
    main(["plan", str(tmp_path / "s.json"), "--policy", "stud-warning", "--json"])
    shown = json.loads(capsys.readouterr().out)
    assert "Waits for the user's /compact" in json.dumps(shown)


def test_S1_a_plan_in_an_unknown_window_says_that_nothing_is_warned_of() -> None:
    session = talk(9)
    plan = make_plan(session, count_tokens(session), "stud-warning")
    assert "window is not known" in plan.verdict.sentence
    off = make_plan(
        session, count_tokens(session), {"name": "mine", "rules": [], "trigger": {"enabled": False}}
    )
    assert off.verdict.sentence.startswith("Waits for the user's /compact")


# -- sealed reasoning ------------------------------------------------------------------------------

SEALED = [
    {"type": "redacted_thinking", "data": "Q" * 400},
    {"type": "thinking", "thinking": "", "signature": "E" * 300},
    {"type": "thinking", "thinking": " \n", "signature": "E" * 300},
]


@pytest.mark.parametrize("block", SEALED)
@pytest.mark.parametrize("spoken", [0, 2])
def test_S0_reasoning_without_words_is_dropped_and_not_downgraded(block: dict[str, Any], spoken: int) -> None:
    messages: list[dict[str, Any]] = []
    for turn in range(9):
        thought = {"type": "thinking", "thinking": f"The tide of {turn}.", "signature": "s"}
        content = [thought if turn < spoken else block, {"type": "text", "text": f"Noted {turn}. " * 40}]
        messages += [
            {"role": "user", "content": f"Day {turn}. " * 40},
            {"role": "assistant", "content": content},
        ]
    session = read_session({"model": "claude-opus-4-5", "messages": messages})
    told: list[AuditEvent] = []
    asked: list[str] = []

    def write(job: SummaryJob, given: Session) -> str:
        asked.append(job_text(given, job))
        return "Nine days of tides."

    compact(session, "stud-wiki-1.1", write, on_event=told.append)
    run = replay(session, "stud-wiki-1.1", window=int(size(session) * 1.1))
    for events in (told, run.events):
        down = [event.data["blocks"] for event in events if event.kind == "reasoning_downgraded"]
        assert down == [spoken] * bool(spoken)
        record = next(event.record_in("stud-wiki") for event in events if event.kind == "completed")
        fates = record["retention"]
        assert [fates[f"turn-{turn}"]["dropped"] for turn in (1, 3, 4)] == [spoken == 0, 1, 1]
        assert fates["turn-1"]["summarized"] == (spoken > 0)
        assert 3 <= sum(row["verbatim"] for row in fates.values()) <= 4
    assert "".join(asked).count("[Assistant thinking]:") == spoken


# -- the same in both ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "provider"), [("stud-wiki-deterministic", "rules"), ("stud-wiki-1.1", None)]
)
def test_S0_the_threshold_is_recorded_with_the_provider_that_compacts(
    policy: str, provider: str | None
) -> None:
    session = talk(30)
    window = int(size(session) / 0.9)
    told: list[AuditEvent] = []
    compact(session, policy, reason="auto", window=window, on_event=told.append)
    for events in (replay(session, policy, window=window).events, told):
        hit, started = (
            next(event for event in events if event.kind == kind) for kind in ("threshold_hit", "started")
        )
        assert (hit.provider == "rules") is (started.provider == "rules") is (provider == "rules")


def test_S1_36_a_tool_is_named_as_a_policy_is() -> None:
    named = swap_tool("stud-warning", "claude-code")
    assert named == swap_tool(find_policy("stud-warning"), "tool:claude-code")
    assert named.rules == find_policy("claude-code").rules and named.harness.mode == "manual"
    with pytest.raises(PolicyError, match="tool:flue"):
        swap_tool("stud-warning", "flu")
    with pytest.raises(PolicyError, match="core"):
        swap_tool("stud-wiki-1.1", "flue")


# -- compactions that free nothing -----------------------------------------------------------------


@pytest.mark.parametrize("policy", ["stud-warning", "keep-recent-turns", "claude-code"])
@pytest.mark.parametrize("grows", [0, 10])
def test_a_compaction_that_frees_nothing_is_a_finding_of_any_policy(policy: str, grows: int) -> None:
    """A user's /compact of a few words, whose summary is longer than they are."""
    acts = [{"at": f"turn {turn}", "do": "compact"} for turn in (6, 7, 8, 9)]
    run = replay(talk(24), policy, {"acts": acts, "writer": {"grows": grows}}, window=10**6)
    larger = [item for item in run.adopted if item.after >= item.before]
    assert bool(larger) is (grows > 0)
    assert ("freed_nothing" in [finding.kind for finding in run.findings]) is bool(larger)


# -- the banner ------------------------------------------------------------------------------------


@given(st.floats(0.3, 1.2), st.sampled_from([(0.8, 0.95), (0.5, 0.7), (0.333, 0.9)]))
def test_S1_17_a_banner_rounds_its_percentage_but_never_over_a_threshold(
    ratio: float, shares: tuple[float, float]
) -> None:
    harness = Harness(mode="manual", warn=shares[0], require=shares[1])
    banner = write_banner(harness, ratio)
    assert (banner is None) is (ratio < shares[0])
    if banner is not None:
        shown = float(banner.split(" %")[0])
        assert abs(shown - 100 * ratio) < 0.1 and level_of(harness, shown / 100) == level_of(harness, ratio)
        assert shown == round(100 * ratio, 1) or any(abs(ratio - share) < 0.001 for share in shares)


@pytest.mark.parametrize("require", [0.95, None])
def test_S1_41_without_tool_and_reset_the_banner_names_override_where_it_is_offered(
    require: float | None,
) -> None:
    harness = Harness(mode="manual", engine="none", warn=0.8, require=require, reset=False)
    banner = write_banner(harness, 0.97)
    assert banner is not None and ("override" in banner) is (require is not None)
