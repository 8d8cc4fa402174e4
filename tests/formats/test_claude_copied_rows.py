"""Rows that Claude Code appends a second time change nothing: the session is the same without them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import inspector
from inspector.errors import EmptySession
from inspector.formats.harnesses.claude_code.agents import READER
from inspector.formats.incremental import IncrementalReader
from inspector.session.session import Session
from tests.formats.test_claude_code import (
    boundary,
    call,
    live,
    output,
    path,
    read,
    reply,
    summary,
    system,
    text,
    user,
)

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


@given(
    st.integers(2, 4),
    st.booleans(),
    st.integers(0, 6),
    st.booleans(),
    st.booleans(),
)
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


@pytest.mark.parametrize("next_row", ["user", "attachment", "queued command", "reply"])
def test_a_row_that_hangs_on_the_last_copy_follows_what_stood_before(next_row: str) -> None:
    """After a sub-agent's compaction the parent of the next prompt is the last copied row (issue 92089)."""
    begun = [*turn(1, None), *turn(2, "a1"), *compact(1, "a2", "a2", "a2"), *turn(3, "s1")]
    copies = begun[:3]
    if next_row == "reply":
        new = [reply("x", "u2", text("It is done."))]
    elif next_row == "attachment":
        shown = {"type": "attachment", "uuid": "x", "parentUuid": "u2", "attachment": {"type": "date"}}
        new = [shown, *turn(4, "x")]
    elif next_row == "queued command":
        queued = {"type": "queued_command", "prompt": "Also the tests.", "commandMode": "prompt"}
        new = [
            {"type": "attachment", "uuid": "x", "parentUuid": "u2", "attachment": queued},
            *turn(4, "x"),
        ]
    else:
        new = turn(4, "u2")
    session = read(*begun, *copies, *new)
    control = read(*begun, *(row | {"parentUuid": "a3"} if row["parentUuid"] == "u2" else row for row in new))
    assert outline(session) == outline(control)
    assert path(session)[:7] == ["u1", "a1", "u2", "a2", "b1", "u3", "a3"]
    assert live(session)[:4] == ["b1", "a2", "u3", "a3"]


def test_copies_at_the_end_leave_the_conversation_where_it_stands() -> None:
    begun = [*turn(1, None), *turn(2, "a1"), *compact(1, "a2", "a2", "a2"), *turn(3, "s1")]
    assert outline(read(*begun, *begun[:3])) == outline(read(*begun))
    # After a resume the compaction and all later rows are written again.
    assert outline(read(*begun, *begun[4:], *turn(4, "a3"))) == outline(read(*begun, *turn(4, "a3")))


def test_a_prompt_that_is_sent_again_after_copies_is_a_branch_beside_the_first() -> None:
    begun = [*turn(1, None), *turn(2, "a1"), *compact(1, "a2", "a2", "a2"), *turn(3, "s1")]
    session = read(*begun, *begun[:3], *turn(4, "u2"), user("u5", "u2", "Rather this."))
    assert path(session) == ["u1", "a1", "u2", "a2", "b1", "u3", "a3", "u5"]


def test_copies_of_outputs_are_no_second_answer() -> None:
    begun = [
        user("u1", None, "Read both."),
        reply("a1", "u1", call("t1"), call("t2")),
        user("r1", "a1", [output("t1")]),
        user("r2", "a1", [output("t2")]),
        reply("a2", "r2", text("Read.")),
        *compact(1, "a2", "a2", "a2"),
        *turn(3, "s1"),
    ]
    copied = read(*begun, *begun[:4], hook("h", "r2"), *compact(2, "h", "h", "a3"), *turn(4, "s2"))
    control = read(*begun, hook("h", "a3"), *compact(2, "h", "h", "a3"), *turn(4, "s2"))
    assert outline(copied) == outline(control)
    assert copied.boundaries[1][1].kept == ("a3",)


def test_copies_in_the_lane_of_a_sub_agent_leave_it_whole() -> None:
    side = {"isSidechain": True, "agentId": "g1"}
    begun = [*turn(1, None), *turn(11, None, **side), *turn(12, "a11", **side)]
    session = read(*begun, *begun[2:4], *turn(13, "a11", **side), *turn(2, "a1"))
    control = read(*begun, *turn(13, "a12", **side), *turn(2, "a1"))
    assert outline(session) == outline(control)
    assert session["u13"].parent == "a12"
    assert path(session) == ["u1", "a1", "u2", "a2"]


def test_a_queued_prompt_is_not_taken_by_the_copy_of_another_with_its_words() -> None:
    again = "Change src/file_1.py."
    begun = [*turn(1, None), *turn(2, "a1"), *compact(1, "a2", "a2", "a2"), *turn(3, "s1")]
    queued = {"type": "queue-operation", "operation": "enqueue", "content": again, "sessionId": "s"}
    dequeued = {"type": "queue-operation", "operation": "dequeue", "sessionId": "s"}
    new = [queued, *begun[:3], dequeued, user("u4", "u2", again), reply("a4", "u4", text("Again."))]
    session = read(*begun, *new)
    assert path(session)[-3:] == ["a3", "u4", "a4"]
    assert session["u4"].extra == {"way": "queued"}


def test_a_file_that_grows_is_read_the_same() -> None:
    rows = play(3, copies=True, hooks=True)
    data = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    growing = IncrementalReader(READER)
    for end in range(700, len(data) + 700, 700):
        if growing.feed(data[growing.offset : end]):
            with suppress(EmptySession):
                session = growing.make_session()
    assert outline(session) == outline(read(*rows))
