"""Counting what is new in a session that grew gives what counting all of it gives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import sessions

from inspector import Session, count_tokens, open_session, read_session
from inspector.files import FollowedFile
from inspector.session.blocks import Text
from inspector.session.entries import Tool
from inspector.tokens.counter import Counter
from inspector.tokens.counters import COUNTERS
from inspector.tokens.ledger import Ledger

from shared import SHARED, needs_shared

COLUMNS = ("entry", "block", "kind", "section", "tokens", "start", "uncounted_rows")
SERIES = SHARED / "sessions" / "growth-series--entireio-cli"


def assert_same(one: Ledger, other: Ledger) -> None:
    for name in COLUMNS:
        a, b = getattr(one, name), getattr(other, name)
        assert a.dtype == b.dtype and np.array_equal(a, b), name
    assert (one.head, one.missing, one.calibration) == (other.head, other.missing, other.calibration)
    assert one.source == other.source
    assert one.session is other.session
    assert one.by_section() == other.by_section()


def change(session: Session, **changes: Any) -> Session:
    """The session with other fields, and nothing derived from those it had."""
    return Session.model_construct(
        **{name: getattr(session, name) for name in Session.model_fields} | changes
    )


def shorter(session: Session, size: int) -> Session:
    entries = session.entries[:size]
    return change(session, entries=entries, leaf=entries[-1].id if entries else None)


@pytest.mark.parametrize("counter", COUNTERS, ids=lambda counter: counter.name)
@given(session=sessions(), data=st.data())
def test_a_ledger_from_an_older_one_is_the_ledger(
    counter: Counter, session: Session, data: st.DataObject
) -> None:
    known = count_tokens(shorter(session, data.draw(st.integers(0, len(session.entries)))), counter)
    grown = count_tokens(session, counter, known=known)
    assert_same(grown, count_tokens(session, counter))
    # And so is one from that.
    changed = change(session, system=(*session.system, Text(text="More")), tools=(Tool(name="x"),))
    assert_same(count_tokens(changed, counter, known=grown), count_tokens(changed, counter))


@given(session=sessions(least=1), data=st.data())
def test_an_entry_that_changed_is_counted_again_and_all_after_it(
    session: Session, data: st.DataObject
) -> None:
    assume(session.entries)
    known = count_tokens(session)
    at = data.draw(st.integers(0, len(session.entries) - 1))
    entry = session.entries[at]
    added = entry.model_copy(update={"blocks": (*entry.blocks, Text(text="and one more thing"))})
    changed = change(session, entries=(*session.entries[:at], added, *session.entries[at + 1 :]))
    assert_same(count_tokens(changed, known=known), count_tokens(changed))


def test_only_what_is_new_is_counted() -> None:
    asked: list[str] = []

    def count(texts: list[str]) -> np.ndarray:
        asked.extend(texts)
        return np.ones(len(texts), np.int32)

    counter = Counter("words", "Words", count)  # type: ignore[arg-type]
    lines = [
        json.dumps({"type": "user", "uuid": name, "parentUuid": None, "message": {"content": f"I am {name}"}})
        for name in "abc"
    ]
    short, long = (read_session("\n".join(some).encode()) for some in (lines[:2], lines))
    known = count_tokens(short, counter)
    asked.clear()
    # Not the same objects: the file was read twice.
    assert count_tokens(long, counter, known=known).total == 3
    assert asked == ["I am c"]


@needs_shared
@pytest.mark.parametrize("counter", ["o200k_base", "calibrated", "chars4_utf16"])
def test_a_growing_session_counts_as_a_whole_one(tmp_path: Path, counter: str) -> None:
    stages = sorted(SERIES.glob("*.jsonl"))
    path = tmp_path / "session.jsonl"
    path.write_bytes(stages[0].read_bytes())
    tail = FollowedFile(path, "claude-code")
    ledger = count_tokens(tail.session, counter)
    for stage in stages[1:]:
        path.write_bytes(stage.read_bytes())
        assert tail.poll() is not None
        ledger = count_tokens(tail.session, counter, known=ledger)
        anew = count_tokens(open_session(stage), counter)
        assert anew.tokens.tolist() == ledger.tokens.tolist()
        assert (anew.calibration, anew.missing) == (ledger.calibration, ledger.missing)
