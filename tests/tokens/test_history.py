"""The session's life: what stood in the context at every step, and where the workbench opens."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from inspector.files import open_session
from inspector.session.blocks import Text, ToolCall, ToolOutput
from inspector.session.entries import Boundary, Entry, Usage
from inspector.session.session import Session
from inspector.tokens.history import trace_history
from inspector.tokens.ledger import count_tokens
from tests.shared import SHARED, needs_shared
from tests.strategies import sessions

CLAUDE = SHARED / "sessions" / "claude-code--entireio-cli"


def chain(*entries: dict[str, Any], **more: Any) -> Session:
    """Entries e0, e1, … that follow each other, unless they name another parent."""
    made = tuple(
        Entry(**({"id": f"e{at}", "parent": f"e{at - 1}" if at else None} | given))
        for at, given in enumerate(entries)
    )
    return Session(format="demo", entries=made, **({"leaf": made[-1].id} | more))


def say(words: str, **more: Any) -> dict[str, Any]:
    return {"blocks": (Text(text=words),)} | more


def reply(words: str, **more: Any) -> dict[str, Any]:
    return say(words, role="assistant") | more


def call(name: str) -> dict[str, Any]:
    return {"role": "assistant", "blocks": (ToolCall(id=name, name="bash", input={"command": "ls"}),)}


def output(name: str, words: str) -> dict[str, Any]:
    return {"role": "tool", "blocks": (ToolOutput(call_id=name, parts=(Text(text=words),)),)}


def compaction(**boundary: Any) -> dict[str, Any]:
    return say("what was", kind="compaction", boundary=Boundary(**boundary))


def micro(*cleared: str) -> dict[str, Any]:
    return {"role": "system", "kind": "micro", "boundary": Boundary(kind="micro", cleared=cleared)}


def check_law(session: Session) -> None:
    """Every step holds what the ledger counts for the context at its last entry."""
    ledger = count_tokens(session, "chars4_utf16")
    history = trace_history(session, ledger)
    last = {int(step): int(at) for step, at in zip(history.step, history.path, strict=True)}
    for step, at in last.items():
        moment = session.at(session.entries[at].id)
        assert history.estimated[step] == ledger.count_context(moment), (step, moment.leaf)
    for segment in history.segments:
        assert history.estimated[segment.last_step] == ledger.count_context(session.at(segment.at))


@given(sessions())
def test_every_step_holds_what_the_ledger_counts_for_it(session: Session) -> None:
    check_law(session)


def test_an_emptied_output_counts_its_placeholder_before_and_after_a_compaction_that_keeps_it() -> None:
    begun = (say("list"), call("c1"), output("c1", "long " * 400), call("c2"), output("c2", "wide " * 300))
    first = (micro("c1"), reply("done"), compaction(first_kept="e3", kept=("e2", "e4", "nowhere")))
    again = (say("more"), micro("c2", "c1"), call("c1"), output("c1", "again " * 200))
    check_law(chain(*begun, *first, *again, compaction(first_kept="e6"), reply("end")))


@pytest.mark.parametrize(
    ("entries", "tokens"),
    [
        ((reply("a", usage=Usage(input=900, output=100)), say("x" * 400)), 1100),
        ((reply("a", usage=Usage(input=900, output=100)), reply("b" * 400, usage=Usage())), 1100),
        ((reply("a", usage=Usage(input=9), stop_reason="aborted"), say("x" * 399)), 101),
        ((say("x" * 400),), 100),
    ],
)
def test_a_stretch_ends_with_its_last_usage_and_what_is_counted_after_it(
    entries: tuple[dict[str, Any], ...], tokens: int
) -> None:
    session = chain(*entries)
    ledger = count_tokens(session, "chars4_utf16")
    (segment,) = trace_history(session, ledger).segments
    assert segment.tokens == tokens


def test_a_usage_before_a_compaction_says_nothing_of_the_stretch_after_it() -> None:
    session = chain(reply("a", usage=Usage(input=90_000)), compaction(), say("x" * 4000))
    first, second = trace_history(session, count_tokens(session, "chars4_utf16")).segments
    assert first.tokens == 90_000
    assert second.tokens == 1002


@needs_shared
def test_a_stretch_of_a_real_session_that_ends_with_a_user_is_as_full_as_was_reported() -> None:
    session = open_session(CLAUDE / "cc-3auto-compactions-893l.jsonl")
    segments = trace_history(session, count_tokens(session)).segments
    assert segments[1].tokens == pytest.approx(155_000, rel=0.01)
