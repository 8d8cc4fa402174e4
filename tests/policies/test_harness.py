"""The machine of states, its permissions and counters, and what is said about a harness: pure functions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.errors import PolicyError
from inspector.policies.failures import FailureCounts
from inspector.policies.harness import (
    LEVELS,
    STATES,
    Harness,
    Latch,
    StateChange,
    begin,
    describe_double,
    find_actions,
    finish,
    level_of,
    may_send,
    step,
    write_banner,
)
from inspector.policies.registry import find_policy
from inspector.session.overflow import classify_refusal

# The harness of S1, and that of S2, as published, with auto on and off. S2's shares have to be exceeded
# (ruling g).
WARNING = Harness(mode="manual", engine="tool", warn=0.8, require=0.95)
AUTO = find_policy("claude-code-analysis").harness.model_copy(update={"reset": True})
OFF = AUTO.model_copy(update={"mode": "manual"})

shares = st.one_of(st.none(), st.sampled_from((0.5, 0.8, 0.95, 0.98, 1.0)))
ratios = st.one_of(st.sampled_from((0.0, 0.5, 0.8, 0.8001, 0.95, 0.98, 1.0, 1.3)), st.floats(0, 2))


@st.composite
def conducts(draw: st.DrawFn) -> Harness:
    given_shares = sorted(share for share in draw(st.tuples(shares, shares, shares)) if share is not None)
    names = draw(st.permutations(("warn", "require", "block")))[: len(given_shares)]
    ordered = sorted(names, key=("warn", "require", "block").index)
    return Harness(
        mode=draw(st.sampled_from(("auto", "ask", "manual"))),
        engine=draw(st.sampled_from(("core", "tool", "none"))),
        strict=draw(st.booleans()),
        reset=draw(st.booleans()),
        **dict(zip(ordered, given_shares, strict=True)),
    )


def kinds(moves: tuple[StateChange, ...]) -> list[str]:
    return [move.kind for move in moves]


def route(moves: tuple[StateChange, ...]) -> list[tuple[str, str]]:
    return [(move.previous, move.entered) for move in moves]


# --- levels and thresholds ---


@pytest.mark.parametrize(
    ("ratio", "state"), [(0.79, "normal"), (0.80, "warning"), (0.94, "warning"), (0.95, "critical")]
)
def test_S1_4_it_warns_at_80_and_requires_at_95_percent(ratio: float, state: str) -> None:
    assert step(WARNING, "normal", ratio)[0] == state


@pytest.mark.parametrize(("ratio", "state"), [(0.2, "normal"), (0.80, "normal"), (0.8001, "warning")])
def test_S2_24_S2_25_above_80_percent_is_warning_and_80_itself_is_normal(ratio: float, state: str) -> None:
    assert step(AUTO, "normal", ratio)[0] == state


def test_S2_26_above_95_percent_is_critical() -> None:
    assert step(AUTO, "normal", 0.95)[0] == "warning"
    assert step(AUTO, "normal", 0.9501)[0] == "critical"


def test_S2_27_above_98_percent_blocks_unless_auto_is_on() -> None:
    assert step(OFF, "normal", 0.98)[0] == "critical"
    assert step(OFF, "normal", 0.9801)[0] == "blocking"
    assert step(AUTO, "normal", 0.9801)[0] == "critical"
    assert step(AUTO, "normal", 1.2)[0] == "critical"


def test_S1_22_a_user_sets_warn_higher_or_lower() -> None:
    for warn in (0.6, 0.9):
        conduct = find_policy("stud-warning").configured({"harness.warn": warn}).harness
        assert step(conduct, "normal", warn - 0.01)[0] == "normal"
        assert step(conduct, "normal", warn)[0] == "warning"
    with pytest.raises(PolicyError, match=r"warn \(0\.96\) must not exceed require \(0\.95\)"):
        find_policy("stud-warning").configured({"harness.warn": 0.96})


# --- crossings ---


def test_S1_1_S1_43_crossing_warn_is_told_once() -> None:
    state, moves = step(WARNING, "normal", 0.82)
    assert (state, kinds(moves)) == ("warning", ["warned"])
    assert moves[0].data == {"from": "normal", "to": "warning", "ratio": 0.82}
    assert step(WARNING, state, 0.84) == ("warning", ())


def test_S1_26_the_warning_remains_and_is_told_again_only_when_crossed_again() -> None:
    state, _ = step(WARNING, "normal", 0.82)
    state, quiet = step(WARNING, state, 0.83)
    state, down = step(WARNING, state, 0.34)
    state, again = step(WARNING, state, 0.81)
    assert (quiet, kinds(down), kinds(again), state) == ((), ["recovered"], ["warned"], "warning")


def test_S1_44_required_comes_after_the_warning_even_in_one_jump() -> None:
    state, moves = step(WARNING, "normal", 0.96)
    assert (state, kinds(moves)) == ("critical", ["warned", "required"])


def test_S2_31_S2_32_growth_is_logged_and_a_jump_logs_both() -> None:
    assert route(step(AUTO, "normal", 0.9)[1]) == [("normal", "warning")]
    assert route(step(AUTO, "warning", 0.96)[1]) == [("warning", "critical")]
    jump = step(AUTO, "normal", 0.96)[1]
    assert route(jump) == [("normal", "warning"), ("warning", "critical")]
    assert {move.ratio for move in jump} == {0.96}
    assert kinds(jump) == ["warned", "required"]


@pytest.mark.parametrize("block", [0.95, 0.98])
def test_S2_34_critical_leads_to_blocking_without_auto(block: float) -> None:
    """Its text blocks at once, its diagram above 98 %: `block` says which (K8)."""
    conduct = OFF.model_copy(update={"block": block})
    state, moves = step(conduct, "warning", 0.96)
    if block == 0.95:
        assert route(moves) == [("warning", "critical"), ("critical", "blocking")]
    else:
        assert (state, route(moves)) == ("critical", [("warning", "critical")])
        state, moves = step(conduct, state, 0.985)
        assert route(moves) == [("critical", "blocking")]
    assert state == "blocking"
    assert moves[-1].kind == "blocked"


def test_S0_94_a_threshold_hit_is_told_once_per_crossing() -> None:
    latch, told = Latch(), []
    for above in (False, True, True, False, False, True):
        latch, kind = latch.look(above)
        told.append(kind)
    assert told == [None, "threshold_hit", None, "recovered", None, "threshold_hit"]


@given(conducts(), st.lists(ratios, max_size=12))
def test_the_state_after_a_step_is_the_level_and_crossings_are_a_path_to_it(
    conduct: Harness, measured: list[float]
) -> None:
    state = STATES[0]
    for ratio in measured:
        before = state
        state, moves = step(conduct, state, ratio)
        assert state == level_of(conduct, ratio)
        path = [before, *(move.entered for move in moves)]
        assert path[-1] == state
        assert all(move.previous == left for move, left in zip(moves, path, strict=False))
        up = [move for move in moves if move.kind in ("warned", "required", "blocked")]
        assert len(up) == len(moves) or (not up and len(moves) == 1)
        assert [LEVELS.index(move.entered) for move in up] == sorted({LEVELS.index(m.entered) for m in up})
        assert step(conduct, state, ratio) == (state, ())


# --- compactions ---


def test_S2_28_S2_33_with_auto_on_critical_leads_to_auto() -> None:
    state, moves = begin(AUTO, "critical", "auto", 0.96)
    assert (state, route(moves)) == ("auto", [("critical", "auto")])
    assert FailureCounts().may_compact(AUTO, "auto")
    assert not FailureCounts().may_compact(OFF, "auto")


def test_S2_35_success_leads_to_the_level_the_context_then_has() -> None:
    state, moves = finish(AUTO, "auto", 0.4, before="critical")
    assert (state, route(moves)) == ("normal", [("auto", "normal")])
    state, moves = finish(AUTO, "auto", 0.85, before="critical")
    assert (state, route(moves), kinds(moves)) == ("warning", [("auto", "warning")], ["state_changed"])
    assert finish(AUTO, "auto", 0.80, before="critical")[0] == "normal"


def test_S2_36_failure_alone_does_not_enter_reactive() -> None:
    assert finish(AUTO, "auto", 0.96, before="critical")[0] == "critical"
    state, moves = finish(AUTO, "auto", 0.96, refused=True, before="critical")
    assert (state, route(moves)) == ("reactive", [("auto", "reactive")])


def test_S2_23_with_recovery_off_the_error_surfaces() -> None:
    off = AUTO.model_copy(update={"recover": False})
    assert finish(off, "auto", 0.96, refused=True, before="critical")[0] == "critical"
    assert FailureCounts().may_compact(AUTO, "overflow")
    assert not FailureCounts().may_compact(off, "overflow")


def test_S2_29_S2_37_a_refusal_leads_to_reactive_and_its_success_to_normal() -> None:
    state, moves = begin(AUTO, "normal", "overflow", 0.4)
    assert (state, route(moves)) == ("reactive", [("normal", "reactive")])
    state, moves = finish(AUTO, state, 0.1, before="normal")
    assert (state, route(moves)) == ("normal", [("reactive", "normal")])
    assert kinds(moves) == ["state_changed"], "no threshold was above, so none is recovered from"


@pytest.mark.parametrize("state", LEVELS)
def test_S2_30_S2_39_compact_leads_to_manual_from_every_level_and_on_to_normal(state: str) -> None:
    entered, moves = begin(OFF, state, "manual", 0.5)
    assert (entered, route(moves)) == ("manual", [(state, "manual")])
    left, moves = finish(OFF, entered, 0.3, before=state)
    assert (left, route(moves)) == ("normal", [("manual", "normal")])


def test_S2_38_only_compact_or_falling_usage_leads_out_of_blocking() -> None:
    for reason in ("auto", "overflow"):
        assert begin(OFF, "blocking", reason, 0.99) == ("blocking", ())
    assert begin(OFF, "blocking", "manual", 0.99)[0] == "manual"
    assert step(OFF, "blocking", 0.99) == ("blocking", ())
    assert step(OFF, "blocking", 0.5)[0] == "normal"


def test_S1_17_S1_23_recovery_is_judged_by_what_the_context_then_is() -> None:
    state, moves = finish(WARNING, "manual", 0.34, before="warning")
    assert (state, kinds(moves), write_banner(WARNING, 0.34)) == ("normal", ["recovered"], None)
    state, moves = finish(WARNING, "manual", 0.81, before="warning")
    assert (state, kinds(moves)) == ("warning", ["state_changed"])
    assert write_banner(WARNING, 0.81)


# --- what may be sent ---


def test_S1_18_a_warned_session_continues() -> None:
    for ratio in (0.80, 0.94):
        state, _ = step(WARNING, "normal", ratio)
        assert may_send(WARNING, state).allowed
        assert write_banner(WARNING, ratio)


def test_S1_19_at_95_percent_nothing_is_sent_until_compacted() -> None:
    state, _ = step(WARNING, "warning", 0.95)
    assert not may_send(WARNING, state).allowed
    state, _ = finish(WARNING, "manual", 0.34, before=state)
    assert may_send(WARNING, state).allowed


def test_S1_27_two_turns_in_a_row_are_refused() -> None:
    state, _ = step(WARNING, "normal", 0.96)
    first = may_send(WARNING, state)
    state, _ = step(WARNING, state, 0.96)
    assert (first.allowed, may_send(WARNING, state).allowed) == (False, False)


def test_S1_28_S1_29_an_override_lets_one_request_through() -> None:
    state, _ = step(WARNING, "normal", 0.96)
    once = may_send(WARNING, state, override=True)
    assert (once.allowed, once.overridden) == (True, True)
    state, _ = step(WARNING, state, 0.97)
    assert not may_send(WARNING, state).allowed


def test_S2_44_S2_45_blocking_refuses_and_names_compact() -> None:
    refused = may_send(OFF, "blocking")
    assert not refused.allowed
    assert "/compact" in refused.sentence
    assert not may_send(OFF, "blocking", override=True).allowed
    assert may_send(OFF, "critical").allowed
    assert may_send(AUTO, "critical").allowed


@given(conducts(), ratios, st.booleans())
def test_below_the_refusing_threshold_a_request_is_always_sent(
    conduct: Harness, ratio: float, override: bool
) -> None:
    refusing = conduct.require if conduct.block is None else conduct.block
    state = level_of(conduct, ratio)
    if refusing is None or ratio < refusing:
        assert may_send(conduct, state, override).allowed
    if not may_send(conduct, state).allowed:
        assert ratio >= (refusing or 0)
        assert "continue" not in find_actions(conduct, state)


# --- two surfaces ---


def test_S0_56_core_compaction_is_on_by_default() -> None:
    assert (Harness().enabled, Harness().engine, Harness().mode) == (True, "core", "auto")


def test_S0_57_S0_58_the_warning_is_one_and_offers_three_choices() -> None:
    sentence = describe_double("main")
    assert "The session continues" in sentence
    for choice in ("Switch off the harness' compaction", "switch off context management", "accept both"):
        assert choice in sentence


# --- failures ---


def test_S2_6_the_breaker_opens_after_so_many_failures_in_a_row_and_success_resets_it() -> None:
    tally = FailureCounts()
    for _ in range(2):
        tally = tally.fail("auto")
    assert tally.may_compact(AUTO, "auto")
    assert not tally.succeed().fail("auto").is_open(AUTO)
    tally = tally.fail("auto")
    assert tally.is_open(AUTO)
    assert not tally.may_compact(AUTO, "auto")
    assert tally.may_compact(AUTO, "manual"), "only automatic calls stop"
    assert tally.succeed().may_compact(AUTO, "auto")
    assert not FailureCounts(failures=50).is_open(Harness(breaker=0))


@pytest.mark.parametrize("retries", [0, 2, 5])
def test_S0_101_a_summariser_is_called_again_as_often_as_the_harness_does(retries: int) -> None:
    harness = Harness(retries=retries)
    assert [harness.may_retry(failed) for failed in range(retries + 2)] == [True] * (retries + 1) + [False]


def test_S4_59_one_recovery_per_call() -> None:
    conduct = Harness(recoveries=1)
    tally = FailureCounts()
    assert tally.may_compact(conduct, "overflow")
    tally = tally.recover()
    assert not tally.may_compact(conduct, "overflow")
    assert tally.accept().may_compact(conduct, "overflow")


def test_the_counters_know_nothing_of_each_other() -> None:
    """K17."""
    start = FailureCounts(failures=1, recoveries=1)
    assert start.fail("auto") == FailureCounts(2, 1)
    assert start.fail("overflow") == start.fail("manual") == start
    assert start.recover() == FailureCounts(1, 2)
    assert start.accept() == FailureCounts(1, 0)
    assert start.succeed() == FailureCounts(0, 1)


@given(conducts(), st.booleans())
def test_S1_30_nothing_is_compacted_without_authorisation_unless_auto(conduct: Harness, agreed: bool) -> None:
    may = FailureCounts().may_compact(conduct, "auto", authorised=agreed)
    assert may <= (conduct.mode == "auto" or (conduct.mode == "ask" and agreed))
    assert may <= (conduct.engine != "none")


@pytest.mark.parametrize(
    ("status", "message", "expected"),
    [
        (400, "prompt is too long: 213462 tokens > 200000 maximum", "token_overflow"),
        (400, "Input is too long for requested model.", "token_overflow"),
        (400, "capability_rejected: prompt_too_long", "token_overflow"),
        (400, None, None),
        (400, "messages.0: text content blocks must be non-empty", None),
        (400, "image exceeds 5 MB maximum", None),
        (413, None, "byte_overflow"),
        (413, "request_too_large: Request exceeds the maximum size", "byte_overflow"),
        (413, "Request body exceeds the limit of 33554432 bytes", "byte_overflow"),
        (413, "prompt_too_long", "token_overflow"),
        (413, "prompt is too long: 1100000 tokens > 1000000 maximum", "token_overflow"),
        (None, "413 Request Entity Too Large", "byte_overflow"),
        (None, "400 status code (no body)", "token_overflow"),
        (429, "ThrottlingException: Too many tokens, please wait", None),
        (529, "overloaded_error", None),
        (None, None, None),
    ],
)
def test_S2_22_too_many_tokens_and_too_many_bytes_are_told_apart(
    status: int | None, message: str | None, expected: str | None
) -> None:
    assert classify_refusal(status, message) == expected
