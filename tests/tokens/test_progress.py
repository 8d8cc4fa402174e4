"""Long work tells how far it is, and can be stopped."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import sessions

import inspector.tokens.rows
from inspector import Session, compare_policies, count_tokens, open_demo, replay
from inspector.errors import Stopped

WORK: dict[str, Callable[[Session, Callable[[float], None]], object]] = {
    "count": lambda session, tell: count_tokens(session, "o200k_base", tell),
    "count, fitted": lambda session, tell: count_tokens(session, "calibrated", tell),
    "replay": lambda session, tell: replay(session, "flue", tell=tell),
    "replay what is counted": lambda session, tell: replay(
        session, "flue", ledger=count_tokens(session), tell=tell
    ),
    "compare": lambda session, tell: compare_policies(session, ["flue", "pi"], tell=tell),
}


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that counting the bundled session is told more than once."""
    monkeypatch.setattr(inspector.tokens.rows, "BATCH", 1000)


@pytest.mark.parametrize("work", WORK)
def test_the_share_done_only_grows_from_0_to_1_and_is_told_some_hundred_times_at_most(work: str) -> None:
    told: list[float] = []
    WORK[work](open_demo(), told.append)
    assert told == sorted(told)
    assert told[0] == 0.0 and told[-1] == 1.0
    assert 10 < len(told) < 500


@pytest.mark.parametrize("work", WORK)
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_stopped_work_ends_at_once_and_can_be_done_again(work: str, share: float) -> None:
    session = open_demo()
    before = session.model_dump()
    told: list[float] = []

    def stop(done: float) -> None:
        told.append(done)
        if done >= share:
            raise Stopped

    with pytest.raises(Stopped, match="Stopped before it was finished"):
        WORK[work](session, stop)
    assert [done for done in told if done >= share] == told[-1:]
    assert session.model_dump() == before
    assert _figures(WORK[work](session, lambda done: None)) == _figures(WORK[work](open_demo(), told.append))


def _figures(result: object) -> object:
    """The numbers of a ledger, a run or a comparison."""
    if hasattr(result, "table"):
        return result.table()
    if hasattr(result, "compactions"):
        return [result.context.tolist(), [event.sentence for event in result.events]]
    return result.tokens.tolist()  # type: ignore[attr-defined]


@given(sessions(), st.integers(1, 400))
def test_counting_in_batches_counts_the_same(session: Session, batch: int) -> None:
    whole, told = count_tokens(session), list[float]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inspector.tokens.rows, "BATCH", batch)
        parts = count_tokens(session, tell=told.append)
    assert np.array_equal(whole.tokens, parts.tokens)
    assert told == sorted(told) and told[0] == 0.0 and told[-1] == 1.0


def test_a_session_without_anything_to_count_is_done_at_once() -> None:
    told: list[float] = []
    count_tokens(Session(format="demo"), "o200k_base", told.append)
    assert told[0] == 0.0 and told[-1] == 1.0
