"""A summary that is empty or longer than the replaced messages is refused if its harness refuses it."""

from __future__ import annotations

from typing import Any

import pytest

from inspector import compact, open_demo
from inspector.planning.summary_jobs import Checkpoint, Reply
from inspector.policies.events import AuditEvent
from inspector.session.session import Session


@pytest.fixture(scope="module")
def session() -> Session:
    whole = open_demo()
    return whole.at(whole.entries[300].id)


@pytest.mark.parametrize("text", ["", " \n\t"])
@pytest.mark.parametrize("policy", ["claude-code", "gemini-cli", "codex", "openhands"])
def test_an_empty_summary_compacts_nothing(session: Session, policy: str, text: str) -> None:
    events: list[AuditEvent] = []
    done = compact(session, policy, lambda job, of: Reply(text=text), on_event=events.append)
    assert not done.done and done.why == "The summary is empty."
    assert done.after is session and done.entry is None
    assert [event.kind for event in events] == ["started", "failed"]


def test_an_empty_checkpoint_is_no_better_than_an_empty_reply(session: Session) -> None:
    assert not compact(session, "claude-code", Checkpoint(text="", by="me")).done


@pytest.mark.parametrize("policy", ["flue", "pi"])
def test_flue_and_pi_take_an_empty_summary(session: Session, policy: str) -> None:
    """FLUE §10.3: any answer of the model is the summary."""
    assert compact(session, policy, lambda job, of: Reply(text="")).done


def test_gemini_throws_away_what_is_not_smaller(session: Session) -> None:
    inflated: Any = Reply(text="word " * 200_000)
    done = compact(session, "gemini-cli", lambda job, of: inflated)
    assert not done.done and done.why.startswith("The context would not become smaller: ")
    assert compact(session, "gemini-cli", lambda job, of: Reply(text="So far: a calendar.")).done
    assert compact(session, "codex", lambda job, of: inflated).done, "codex accepts any summary"
