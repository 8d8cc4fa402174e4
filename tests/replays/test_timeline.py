"""A session's life in columns, on sessions of one character a token."""

from __future__ import annotations

from inspector.replays.timeline import Timeline, find_life
from inspector.session.entries import Boundary, Entry
from inspector.session.session import Session
from inspector.tokens.history import trace_history
from inspector.tokens.ledger import count_tokens
from tests.tokens.test_prediction import LENGTH, reply, say

ASKED = say("u1", None, "u" * 100)
SECOND = (say("u2", "a1", "u" * 100), reply("a2", "u2", 1_250, "a" * 50, output=50))
WHOLE = (ASKED, reply("a1", "u1", 1_100, "a" * 50, output=50), *SECOND)
"""1,000 tokens are in every request and not in the file."""


def session_of(*entries: Entry, form: str = "demo") -> Session:
    return Session(format=form, entries=entries, leaf=entries[-1].id)


def life_of(*entries: Entry, form: str = "demo") -> Timeline:
    session = session_of(*entries, form=form)
    ledger = count_tokens(session, LENGTH)
    return find_life(session, ledger, trace_history(session, ledger))


def test_where_less_is_reported_than_is_counted_every_size_is_a_counted_one() -> None:
    """The first reply tells of a request of 10 tokens, and 100 are counted."""
    life = life_of(ASKED, reply("a1", "u1", 10, "a" * 50, output=50), *SECOND)
    assert life.exceeds and life.earlier == 0 and life.scale == 1.0
    assert life.hidden.tolist() == [0] * 4 and life.prompt.tolist() == [-1] * 4
    assert life.recorded.tolist() == [100, 150, 250, 300] and not life.reports.any()
    assert life.output.tolist() == [0, 50, 0, 50], "the reply is counted, where it is not reported"


def test_a_recorded_compaction_is_no_part_of_the_life_but_of_what_was_recorded() -> None:
    """After it 150 tokens of summary stand in the place of 150: prompts since are of another context."""
    told = say("s1", "a1", "s" * 150, kind="compaction", boundary=Boundary())
    life = life_of(
        *WHOLE[:2], told, say("u2", "s1", "u" * 100), reply("a2", "u2", 1_350, "a" * 50, output=50)
    )
    assert life.at.tolist() == [0, 1, 3, 4] and life.prompt.tolist() == [-1, 1_100, -1, -1]
    assert life.recorded.tolist() == [1_100, 1_150, 1_150, 1_250, 1_400]
    assert life.hidden.tolist() == [1_000] * 4 and life.output.tolist() == [0, 50, 0, 50]
