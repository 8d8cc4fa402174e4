"""Who is asked for the parts of a summary, and what stands behind their answers."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from inspector.demo import open_demo
from inspector.errors import ArgumentError
from inspector.formats.sealed import Sealed
from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.planning.summary_jobs import Checkpoint, SummaryJob
from inspector.session.session import Session
from inspector.summaries.compaction import compact
from inspector.summaries.write import summarise, with_files
from inspector.tokens.ledger import count_tokens
from tests.planning.test_plan import FIVE_TURNS, count
from tests.planning.test_stand_in import SESSION


def plan_of_turns(turns: int) -> Plan:
    """A summary for each of so many turns."""
    rules = [{"kind": "keep-recent-turns", "turns": 5 - turns}, {"kind": "summarise-older", "per": "turn"}]
    return make_plan(FIVE_TURNS, count(FIVE_TURNS), {"name": "mine", "rules": rules}, window=100_000)


class Together:
    """Answers only when every job is asked for at once."""

    side_by_side = True

    def __init__(self, jobs: int) -> None:
        self.gate = threading.Barrier(jobs, timeout=120)

    def __call__(self, job: SummaryJob, session: Session) -> str:
        self.gate.wait()
        return f"of {job.entries[0]}"


@pytest.mark.parametrize("jobs", [1, 2, 3, 4])
def test_who_can_is_asked_side_by_side_and_answered_in_order(jobs: int) -> None:
    plan = plan_of_turns(jobs)
    assert len(plan.jobs) == jobs
    done = summarise(plan, Together(jobs))
    assert done.text == "\n\n".join(f"of e{2 * number}" for number in range(jobs))


def test_the_lists_of_files_end_a_text_once_and_no_failed_or_sealed_one() -> None:
    plan = make_plan(SESSION, count(SESSION), "flue", {"cut": "e9"}, window=100_000)
    files = "\n\n<read-files>\nsrc/1.py\nsrc/2.py\n</read-files>"
    done = with_files(plan, Checkpoint(text="Words."))
    assert done.text == f"Words.{files}" and with_files(plan, done) == done
    sealed = Sealed(block={"type": "compaction", "content": "Words.", "encrypted_content": "x"})
    for other in (Checkpoint(error="it failed"), Checkpoint(text="Words.", sealed=sealed)):
        assert with_files(plan, other) == other
    bare = make_plan(SESSION, count(SESSION), "keep-recent-turns", {"cut": "e9"}, window=100_000)
    assert with_files(bare, Checkpoint(text="Words.")).text == "Words.", "a policy that lists none"


@pytest.mark.parametrize("answer", [{"text": "All is well."}, None, 3, b"All is well."])
def test_a_summariser_that_returns_no_text_and_no_reply_is_named(answer: object) -> None:
    def mine(job: SummaryJob, session: Session) -> Any:
        return answer

    session = open_demo()
    plan = make_plan(session, count_tokens(session), "flue", reason="manual")
    for call in (lambda: summarise(plan, mine), lambda: compact(session, "flue", mine)):
        with pytest.raises(ArgumentError, match="what mine returns must be a string or a Reply, not"):
            call()
