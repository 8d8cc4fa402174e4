"""Rows that Claude Code appends a second time change nothing: the session is the same without them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import inspector
from inspector.session.session import Session
from tests.formats.test_claude_code import boundary, live, path, read, reply, summary, system, text, user

Row = dict[str, Any]


def turn(number: int, parent: str | None, **more: Any) -> list[Row]:
    usage = {"input_tokens": 1_000 * number, "output_tokens": 20}
    return [
        user(f"u{number}", parent, f"Change src/file_{number}.py.", **more),
        reply(f"a{number}", f"u{number}", text(f"Changed {number}."), usage=usage, **more),
    ]


def compact(number: int, last: str, tail: str, head: str) -> list[Row]:
    """Return a compaction that keeps one message."""
    segment = {"headUuid": head, "anchorUuid": f"s{number}", "tailUuid": tail}
    words = f"Summary {number}."
    return [
        boundary(f"b{number}", last, preservedSegment=segment),
        summary(f"s{number}", f"b{number}", words),
    ]


def hook(name: str, parent: str) -> Row:
    return system(name, parent, "stop_hook_summary", hookCount=1)


def outline(session: Session) -> Any:
    """Return all content of a session without the positions of its rows."""
    entries = [entry.model_copy(update={"sources": ()}) for entry in session.entries]
    bill = inspector.price_session(session)
    return entries, path(session), live(session), session.turns, session.warnings, bill.tokens, bill.notes


def play(rounds: int, *, copies: bool, hooks: bool, start: int = 0, notes: bool = False) -> list[Row]:
    """Return turns with a compaction after every second one, as one process of Claude Code writes them.

    Before the second compaction and each later one, rows are appended again: from the row `start` up to the
    row before the message that the previous compaction keeps. The next new row names the last copy as parent.
    """
    rows: list[Row] = []
    last: str | None = None
    until = 0  # copies end before this row
    for number in range(1, rounds + 1):
        for turn_number in (2 * number - 1, 2 * number):
            rows += turn(turn_number, last)
            last = f"a{turn_number}"
            if notes:
                rows.append(
                    {"type": "attachment", "uuid": f"n{turn_number}", "parentUuid": last, "attachment": {}}
                )
                last = f"n{turn_number}"
        end = last
        if copies and until > start:
            rows += rows[start:until]
            end = rows[-1]["uuid"]
        if hooks:
            rows.append(hook(f"h{number}", str(end)))
            end = f"h{number}"
        until = next(at for at, row in enumerate(rows) if row["uuid"] == f"a{2 * number}")
        rows += compact(number, str(end), str(end), f"a{2 * number}")
        last = f"s{number}"
    return rows + turn(2 * rounds + 1, last)


@given(st.integers(2, 4), st.booleans(), st.integers(0, 6), st.booleans(), st.booleans())
def test_copies_before_a_compaction_change_nothing(
    rounds: int, hooks: bool, start: int, notes: bool, ends: bool
) -> None:
    rows = [play(rounds, copies=copies, hooks=hooks, start=start, notes=notes) for copies in (True, False)]
    with_copies, without = (read(*(file[:-2] if ends else file)) for file in rows)
    assert with_copies.records > without.records or start > 2
    assert outline(with_copies) == outline(without)
    turns = 2 * rounds + (not ends)
    assert len(with_copies.turns) == turns
    every = (name for n in range(1, rounds + 1) for name in _names(n))
    assert path(with_copies) == [*every, *([] if ends else [f"u{turns}", f"a{turns}"])]
    assert [bound.kept for _, bound in with_copies.boundaries] == [
        (f"a{2 * n}",) for n in range(1, rounds + 1)
    ]
    traces = inspector.trace_recorded(with_copies)
    assert [trace.scene.session.leaf for trace in traces] == [f"a{2 * n}" for n in range(1, rounds + 1)]


def _names(number: int) -> Iterator[str]:
    for turn_number in (2 * number - 1, 2 * number):
        yield from (f"u{turn_number}", f"a{turn_number}")
    yield f"b{number}"


def test_copies_at_the_end_leave_the_conversation_where_it_stands() -> None:
    begun = [*turn(1, None), *turn(2, "a1"), *compact(1, "a2", "a2", "a2"), *turn(3, "s1")]
    assert outline(read(*begun, *begun[:3])) == outline(read(*begun))
    # After a resume the compaction and all later rows are written again.
    assert outline(read(*begun, *begun[4:], *turn(4, "a3"))) == outline(read(*begun, *turn(4, "a3")))
