"""The events of a replay: what each is called by whom, what it must hold, in which order they may come."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.policies.events import KINDS, RULES, AuditEvent, Kind, count_retention, name_kind
from inspector.policies.harness import Dialect, Harness, step
from tests.reference.event_order import check_fields, check_order


def event(
    kind: str, step: int = 0, before: int | None = 9_000, after: int | None = None, **data: Any
) -> AuditEvent:
    return AuditEvent(
        kind,
        step=step,
        turn=7,
        entry="e1",
        correlation="t7",
        provider="core",
        model="m",
        before=before,
        after=after,
        data=data,
    )


def story(*kinds: str, reason: str = "auto", conduct: Harness | None = None) -> list[str]:
    return check_order([event(kind, step=at, reason=reason) for at, kind in enumerate(kinds)], conduct)


# --- names ---

AUDIT_KINDS = (
    *("threshold_hit", "started", "completed", "failed"),
    *("reasoning_downgraded", "double_ran", "double_configured"),
)
"""The audit kinds that S0 lists: four, and three more in its changelog 1.1.0 (S0-123)."""


def registry(dialect: Dialect) -> dict[str, Kind]:
    """The kinds that a system has a name for, in order."""
    return {kind: value for kind, value in KINDS.items() if name_kind(kind, dialect) is not None}


def test_S0_120_the_first_version_lists_four_audit_kinds() -> None:
    four = ["CompactionThresholdHit", "CompactionStarted", "CompactionCompleted", "CompactionFailed"]
    kinds = registry("stud-wiki")
    assert [name_kind(kind, "stud-wiki") for kind in AUDIT_KINDS[:4]] == four
    assert all(kinds[kind].channel == "audit" for kind in AUDIT_KINDS[:4])


def test_S0_123_version_1_1_lists_seven_and_each_says_where_it_is_told() -> None:
    kinds = registry("stud-wiki")
    told = {name_kind(kind, "stud-wiki"): kinds[kind].channel for kind in AUDIT_KINDS}
    assert told == {
        "CompactionThresholdHit": "audit",
        "CompactionStarted": "audit",
        "CompactionCompleted": "audit",
        "CompactionFailed": "audit",
        "CompactionReasoningDowngraded": "diagnostic",
        "CompactionDoubleRan": "event",
        "DoubleCompactionConfigured": "audit",
    }


def test_the_failure_table_of_S0_names_two_more_diagnostics() -> None:
    kinds = registry("stud-wiki")
    for kind, name in (
        ("summary_oversize", "CompactionSummaryOversize"),
        ("no_progress", "CompactionNoProgress"),
    ):
        assert (name_kind(kind, "stud-wiki"), kinds[kind].channel) == (name, "diagnostic")


def test_S1_43_S1_44_S1_45_S1_46_the_four_events_of_the_warning_flow() -> None:
    kinds = registry("stud-warning")
    assert {kind: name_kind(kind, "stud-warning") for kind in kinds} == {
        "warned": "CompactionWarning",
        "required": "CompactionRequired",
        "overridden": "CompactionOverridden",
        "applied": "CompactionApplied",
    }
    assert {kind.channel for kind in kinds.values()} == {"audit"}


def test_the_merged_dialect_has_both_families() -> None:
    assert set(registry("stud-merged")) == set(registry("stud-wiki")) | set(registry("stud-warning"))


@pytest.mark.parametrize("dialect", ["pi"])
def test_S4_18_S4_23_reason_and_will_retry_are_in_the_record(dialect: Dialect) -> None:
    for reason, name, retry in (("auto", "threshold", False), ("overflow", "overflow", True)):
        for kind in ("started", "completed"):
            record = event(kind, reason=reason, willRetry=retry).record_in(dialect)
            assert record is not None
            assert (record["reason"], record["willRetry"]) == (name, retry)


def test_S3_21_the_loop_event_holds_reason_before_after_and_turn() -> None:
    own = {"estimated": 8_100, "estimated_after": 3_300, "loop_turn": 2}
    assert event("completed", after=4_000, reason="auto", **own).record_in("mini-claude-code") == {
        "type": "compaction",
        "reason": "proactive",
        "beforeTokens": 8_100,
        "afterTokens": 3_300,
        "turn": 2,
    }


def test_S3_25_a_line_is_tagged_and_has_before_and_after() -> None:
    line = event("completed", after=4_000, reason="auto").line_in("mini-claude-code")
    assert line.startswith("[compaction] 9,000 -> 4,000 tokens")
    assert line.endswith("turn 8")


# --- what an event holds ---


def test_S0_97_the_breakdown_has_a_row_per_turn_with_reasoning() -> None:
    rows = count_retention(
        [(0, "summarised"), (0, "summarised"), (0, "dropped"), (4, "cleared"), (9, "verbatim")]
    )
    assert rows == {
        0: {"verbatim": 0, "summarised": 2, "dropped": 1, "cleared": 0},
        4: {"verbatim": 0, "summarised": 0, "dropped": 0, "cleared": 1},
        9: {"verbatim": 1, "summarised": 0, "dropped": 0, "cleared": 0},
    }
    assert count_retention([]) == {}
    told = event("completed", after=1, reason="auto", retention=rows)
    assert json.loads(json.dumps(told.to_json()))["data"]["retention"]["4"]["cleared"] == 1


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from(RULES))))
def test_every_reasoning_block_is_in_the_breakdown_once(blocks: list[tuple[int, str]]) -> None:
    rows = count_retention(blocks)
    assert rows.keys() == {turn for turn, _ in blocks}
    assert sum(sum(row.values()) for row in rows.values()) == len(blocks)


# --- order ---


def test_S0_9_a_threshold_is_hit_before_the_compaction_starts() -> None:
    assert story("threshold_hit", "started", "completed") == []
    assert story("started", "completed") == ["event 0 (started) comes without a hit"]
    assert story("started", "threshold_hit", "completed") == ["event 0 (started) comes without a hit"]
    assert story("forced", "started", "completed") == [], "unless a state machine asked for it"


def test_S0_14_compact_needs_no_threshold() -> None:
    assert story("started", "completed", reason="manual") == []


@given(st.lists(st.floats(0, 1.2), max_size=10))
def test_what_the_machine_tells_is_always_in_order(measured: list[float]) -> None:
    conduct = Harness(mode="manual", warn=0.8, require=0.95)
    state, log = "normal", []
    for at, ratio in enumerate(measured):
        state, moves = step(conduct, state, ratio)
        log += [event(move.kind, step=at, **move.data) for move in moves]
    assert check_order(log, conduct) == check_fields(log) == []
