"""The events of a replay: what each is called by whom, what it must hold, in which order they may come."""

from __future__ import annotations

import json
import re
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.policies.event_names import AUDIT_KINDS, BY_REASON, FIELDS, NAMES, REASONS
from inspector.policies.events import (
    KINDS,
    RULES,
    AuditEvent,
    count_retention,
    name_kind,
    registry,
    write_word,
)
from inspector.policies.harness import Dialect, Harness, finish, step
from tests.reference.event_order import check_fields, check_order

DIALECTS = get_args(Dialect)
MINI = Harness(dialect="mini-claude-code")


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


def test_S0_120_the_first_version_lists_four_audit_kinds() -> None:
    four = ["CompactionThresholdHit", "CompactionStarted", "CompactionCompleted", "CompactionFailed"]
    kinds = registry("stud-wiki")
    assert [name_kind(kind, "stud-wiki") for kind in AUDIT_KINDS["stud-wiki"][:4]] == four
    assert all(kinds[kind].channel == "audit" for kind in AUDIT_KINDS["stud-wiki"][:4])


def test_S0_123_version_1_1_lists_seven_and_each_says_where_it_is_told() -> None:
    kinds = registry("stud-wiki")
    told = {name_kind(kind, "stud-wiki"): kinds[kind].channel for kind in AUDIT_KINDS["stud-wiki"]}
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


def test_every_table_of_names_speaks_of_kinds_and_dialects_that_exist() -> None:
    assert set(NAMES) | {"neutral"} == set(DIALECTS)
    assert all(set(names) <= set(KINDS) for names in NAMES.values())
    assert set(REASONS) <= set(DIALECTS)
    for dialect, kind, *_ in (*FIELDS, *BY_REASON):
        assert kind in NAMES[dialect]


def test_neutral_names_every_kind_by_itself() -> None:
    assert list(registry("neutral")) == list(KINDS)
    assert event("started").name_in("neutral") == "started"


def test_flue_names_the_two_events_around_the_call() -> None:
    assert [event(kind).name_in("flue") for kind in ("started", "completed")] == [
        "compaction_start",
        "compaction",
    ]
    assert event("failed").name_in("flue") is None, "the pin closes nothing after a failure (FLUE §9)"
    assert event("failed").name_in("flue-2") == "compaction", "and 2.0.3 closes once per start (FLUE §13.1)"


def test_S4_18_S4_23_flue_s_records_have_its_own_fields_and_no_others() -> None:
    """The start tells the reason and the estimate, the end both counts and the usage (FLUE §9)."""
    more = {
        "estimated": 8_100,
        "messages_before": 12,
        "messages_after": 4,
        "usage_input": 700,
        "usage_output": 90,
    }
    for reason, name in (("auto", "threshold"), ("overflow", "overflow"), ("manual", "manual")):
        start, end = (
            event(kind, after=4_000, reason=reason, willRetry=reason == "overflow", **more).record_in("flue")
            for kind in ("started", "completed")
        )
        assert start == {"type": "compaction_start", "reason": name, "estimatedTokens": 8_100}
        usage = {"input": 700, "output": 90}
        assert end == {"type": "compaction", "messagesBefore": 12, "messagesAfter": 4, "usage": usage}
    unknown = event("completed", reason="auto", messages_before=12, messages_after=4).record_in("flue")
    assert unknown is not None and "usage" not in unknown


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


def test_S3_30_the_real_reset_is_marked_before_the_loop_event() -> None:
    record = event("prefix_reset", after=4_000, reason="auto").record_in("mini-claude-code")
    assert record is not None
    assert (record["type"], record["reason"]) == ("query.cache_prefix_reset", "proactive_compaction")
    assert story("threshold_hit", "started", "prefix_reset", "completed", conduct=MINI) == []
    assert story("threshold_hit", "started", "completed", conduct=MINI) == [
        "event 2 (completed) comes before its prefix reset"
    ]
    assert "is told twice" in story("threshold_hit", "started", *["prefix_reset"] * 2, "completed")[0]
    twice = ["started", "prefix_reset", "completed"] * 2
    assert story("threshold_hit", *twice, conduct=MINI) == []


def test_mini_claude_code_tells_compact_otherwise_and_a_recovery_not_at_all() -> None:
    """TIERED §5 and §7, vectors 074 to 077 and 085 to 087."""
    names = [
        event("completed", reason=reason).name_in("mini-claude-code")
        for reason in ("auto", "manual", "overflow")
    ]
    assert names == ["compaction", "compact", None]
    assert event("prefix_reset", reason="overflow").record_in("mini-claude-code") is None


def test_S3_25_a_line_is_tagged_and_has_before_and_after() -> None:
    line = event("completed", after=4_000, reason="auto").line_in("mini-claude-code")
    assert line.startswith("[compaction] 9,000 -> 4,000 tokens")
    assert line.endswith("turn 8")


def test_claude_code_tells_crossings_as_transitions_of_its_states() -> None:
    conduct = Harness(warn=0.8, require=0.95, strict=True)
    _, up = step(conduct, "normal", 0.96)
    _, down = finish(conduct, "auto", 0.3, before="critical")
    told = [AuditEvent(move.kind, data=move.data).name_in("claude-code") for move in (*up, *down)]
    assert told == ["NORMAL → WARNING", "WARNING → CRITICAL", "AUTO COMPACT → NORMAL"]
    assert AuditEvent("recovered").name_in("claude-code") is None, "a threshold of the trigger is no state"
    assert event("stage", stage="micro", ran=True).name_in("claude-code") == "micro"
    assert event("completed", reason="manual").record_in("claude-code") == {
        "type": "compact_boundary",
        "trigger": "manual",
        "pre_tokens": 9_000,
    }


# --- what an event holds ---


def test_compaction_records_tell_provider_tokens_and_correlation() -> None:
    complete = [
        event("threshold_hit"),
        event("started", reason="auto"),
        event("completed", after=3_000, reason="auto"),
        event("failed", after=9_000, error="SummarizeFailed"),
    ]
    assert check_fields(complete) == []
    for kind in AUDIT_KINDS["stud-wiki"][:4]:
        lacking = check_fields([AuditEvent(kind)])
        for name in ("provider", "before", "correlation"):
            assert f"event 0 ({kind}) does not tell its {name}" in lacking
        keys = {"provider", "before", "after", "correlation"}
        assert keys <= AuditEvent(kind).to_json().keys(), "a figure not known yet is there, as null"
    assert check_fields([event("completed", reason="auto")]) == [
        "event 0 (completed) does not tell its after"
    ]
    assert check_fields([event("completed", before=0, after=0, reason="auto")]) == [], "0 is a figure"


def test_a_double_run_tells_both_figures() -> None:
    assert check_fields([event("double_ran", core=4_000, wire=3_000)]) == []
    assert len(check_fields([event("double_ran")])) == 2


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


@given(
    st.text(min_size=1).filter(lambda text: re.search(r"\s", text) is not None), st.sampled_from(list(KINDS))
)
def test_no_message_text_is_ever_in_an_event(text: str, kind: str) -> None:
    for data in ({"a": text}, {"a": {"b": [1, text]}}, {text: 1}, {"a": ("ok", {"x": text})}):
        with pytest.raises(ValueError, match="no message text"):
            AuditEvent(kind, data=data)


def test_only_numbers_and_words_make_a_payload() -> None:
    for value in ("Validation/ContextOverflow", "tool:context-compaction", 0.82, 12, True, None, [1, "a"]):
        assert event("failed", error=value).to_json()["data"]["error"] == value
    for value in (b"bytes", object(), {1, 2}, "x" * 121, "没有空格的话"):
        with pytest.raises(ValueError, match="an event holds"):
            event("failed", error=value)


@given(st.text())
def test_any_name_becomes_a_word_an_event_may_hold(name: str) -> None:
    assert AuditEvent("stage", data={"stage": write_word(name)}).name_in("claude-code") == write_word(name)


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="no kind of event"):
        AuditEvent("compacted")


def test_events_are_values() -> None:
    one, other = event("started", reason="auto"), event("started", reason="auto")
    assert one == other
    assert len({one, other, event("started", reason="manual")}) == 2
    with pytest.raises(AttributeError):
        one.kind = "failed"  # type: ignore[misc]


@pytest.mark.parametrize("kind", list(KINDS))
def test_every_event_has_a_sentence_a_line_and_json(kind: str) -> None:
    told = event(kind, after=4_000, ratio=0.82, reason="auto")
    assert re.fullmatch(
        r"[A-Z/].*: 9,000 -> 4,000 tokens, 82% of the window, reason auto, turn 8\.", told.sentence
    )
    assert AuditEvent(kind).sentence == f"{KINDS[kind].meaning}."
    assert json.loads(json.dumps(told.to_json())) == told.to_json()
    for dialect in DIALECTS:
        name, record = told.name_in(dialect), told.record_in(dialect)
        assert (record is None) == (name is None)
        assert name is None or "{" not in name
        assert told.line_in(dialect).startswith(f"[{name or kind}] 9,000 -> 4,000")


# --- order ---


def test_S0_9_a_threshold_is_hit_before_the_compaction_starts() -> None:
    assert story("threshold_hit", "started", "completed") == []
    assert story("started", "completed") == ["event 0 (started) comes without a hit"]
    assert story("started", "threshold_hit", "completed") == ["event 0 (started) comes without a hit"]
    assert story("forced", "started", "completed") == [], "unless a state machine asked for it"


def test_S0_14_compact_needs_no_threshold() -> None:
    assert story("started", "completed", reason="manual") == []


def test_an_overflow_is_recovered_from_only_after_a_refusal() -> None:
    for refusal in ("token_overflow", "byte_overflow"):
        assert story(refusal, "leaf_removed", "started", "completed", reason="overflow") == []
    assert story("started", "completed", reason="overflow") == ["event 0 (started) comes without a refusal"]


def test_every_start_ends_once_in_completed_or_failed() -> None:
    assert story("threshold_hit", "started", "retried", "failed", "surfaced") == []
    assert story("threshold_hit", "started") == ["the last compaction never ended"]
    assert story("threshold_hit", "completed") == ["event 1 (completed) comes while no compaction runs"]
    assert "while no compaction runs" in story("threshold_hit", "started", "failed", "completed")[0]
    assert "another compaction runs" in story("threshold_hit", "started", "started", "completed")[0]


def test_a_hit_is_told_again_only_after_it_was_recovered_from() -> None:
    assert "is told twice" in story("threshold_hit", "threshold_hit")[0]
    assert story("threshold_hit", "recovered", "threshold_hit") == []
    assert story("threshold_hit", "reset", "threshold_hit") == []
    assert story("threshold_hit", "started", "completed", "threshold_hit", "started", "completed") == []
    assert "without a hit" in story("threshold_hit", "recovered", "started", "completed")[0]


def test_a_failure_leaves_the_threshold_hit() -> None:
    assert story("threshold_hit", "started", "failed", "started", "completed") == []


def test_applied_follows_success_and_no_failure() -> None:
    assert story("started", "completed", "applied", reason="manual") == []
    assert story("started", "failed", "applied", reason="manual") == [
        "event 2 (applied) comes without a completed compaction"
    ]


def test_required_follows_the_warning_where_the_harness_warns() -> None:
    assert story("warned", "required", conduct=Harness(warn=0.8, require=0.95)) == []
    assert story("required", conduct=Harness(warn=0.8, require=0.95)) == [
        "event 0 (required) comes without a warning"
    ]
    assert story("required", conduct=Harness(require=0.95)) == []


def test_the_double_configuration_is_told_once_per_session() -> None:
    assert story("double_configured", "threshold_hit", "started", "completed") == []
    assert story("double_configured", "double_configured") == ["event 1 (double_configured) is told twice"]


def test_reasoning_is_downgraded_once_per_compaction() -> None:
    one = ("started", "completed", "reasoning_downgraded")
    assert story("threshold_hit", *one, *one) == []
    assert "is told twice" in story("threshold_hit", *one, "reasoning_downgraded")[0]


def test_a_log_never_steps_back() -> None:
    assert check_order([event("asked", step=3), event("asked", step=2)]) == [
        "event 1 (asked) steps back behind the event before it"
    ]


@given(st.lists(st.floats(0, 1.2), max_size=10))
def test_what_the_machine_tells_is_always_in_order(measured: list[float]) -> None:
    conduct = Harness(mode="manual", warn=0.8, require=0.95)
    state, log = "normal", []
    for at, ratio in enumerate(measured):
        state, moves = step(conduct, state, ratio)
        log += [event(move.kind, step=at, **move.data) for move in moves]
    assert check_order(log, conduct) == check_fields(log) == []
