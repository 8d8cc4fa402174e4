"""A summary that is empty or longer than the replaced messages is refused if its harness refuses it."""

from __future__ import annotations

from typing import Any

import pytest

from inspector import compact, find_policy, make_plan, open_demo, read_session
from inspector.planning.summary_jobs import Checkpoint, Reply
from inspector.policies.events import AuditEvent
from inspector.session.session import Session
from inspector.summaries.write import summarise


@pytest.fixture(scope="module")
def session() -> Session:
    whole = open_demo()
    return whole.at(whole.entries[300].id)


@pytest.mark.parametrize("text", ["", " \n\t"])
@pytest.mark.parametrize(
    "policy", ["claude-code-analysis", "gemini-cli", "codex", "openhands", "flue", "flue-2", "pi"]
)
def test_an_empty_summary_compacts_nothing(session: Session, policy: str, text: str) -> None:
    events: list[AuditEvent] = []
    done = compact(session, policy, lambda job, of: Reply(text=text), on_event=events.append)
    assert not done.done and done.why == "The summary is empty."
    assert done.after is session and done.entry is None
    assert [event.kind for event in events] == ["started", "failed"]


@pytest.mark.parametrize("policy", ["claude-code-analysis", "flue", "pi"])
def test_an_empty_checkpoint_is_no_better_than_an_empty_reply(session: Session, policy: str) -> None:
    assert not compact(session, policy, Checkpoint(text="", by="me")).done


def test_S4_50_lists_of_files_and_headings_are_no_summary() -> None:
    """Flue adds lists of files to any reply, and a heading to that for a split turn."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Hello. " * 90}]
    messages += [{"role": "assistant", "content": "Yes. " * 90}, {"role": "user", "content": "Read all."}]
    for n in range(8):
        call = {"type": "tool_use", "id": f"c{n}", "name": "read", "input": {"path": f"{n}.py"}}
        result = {"type": "tool_result", "tool_use_id": f"c{n}", "content": "line " * 200}
        messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    session = read_session(messages)
    policy = find_policy("flue").configured({"keep-recent-tokens.tokens": 500})
    plan = make_plan(session, policy, reason="manual")
    assert len(plan.jobs) == 2 and "turn_prefix" in {job.kind for job in plan.jobs}
    assert "-files>" in summarise(plan, lambda job, of: "So far.").text
    assert summarise(plan, lambda job, of: " ").text == ""
    done = compact(session, policy, lambda job, of: "", reason="manual")
    assert (done.done, done.why) == (False, "The summary is empty.")
    part = compact(session, policy, lambda job, of: "So far." if job.kind == "turn_prefix" else "")
    assert part.done and part.checkpoint is not None and "So far." in part.checkpoint.text


def test_gemini_throws_away_what_is_not_smaller(session: Session) -> None:
    inflated: Any = Reply(text="word " * 200_000)
    done = compact(session, "gemini-cli", lambda job, of: inflated)
    assert not done.done and done.why.startswith("The context would not become smaller: ")
    assert compact(session, "gemini-cli", lambda job, of: Reply(text="So far: a calendar.")).done
    assert compact(session, "codex", lambda job, of: inflated).done, "codex accepts any summary"
