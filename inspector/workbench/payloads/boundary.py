"""The recorded compactions of a session, as the overview shows them."""

from __future__ import annotations

from typing import Literal

from ...tokens.history import History
from ...tokens.ledger import Ledger
from ...tokens.recorded_sizes import ContextSize, find_recorded_sizes
from ..opening import list_marks
from .base_payload import Payload
from .recovery import find_reason, find_refused
from .sections import format_tokens, label_mark


class BoundaryPayload(Payload, frozen=True):
    """A recorded compaction; `before` and `after` are tokens of the context, `before` is null at the
    beginning of a file. `source` is the source of `after`: "reported", or "predicted, 41k to 63k".

    `look` is its value of `wb.look`, `at` the point in time right before it, `name` the text of its button,
    "◆1 · turn 15 · 158.3k → 18.6k", and `sign` the shortest form of that.
    """

    step: int
    kind: Literal["compact", "micro"]
    before: int | None
    after: int
    source: str
    trigger: str
    label: str
    look: str
    at: str
    name: str
    sign: str


def list_boundaries(ledger: Ledger, history: History) -> list[BoundaryPayload]:
    """The recorded compactions of the session that the ledger counted, with the sizes before and after."""
    session = ledger.session
    marks = {mark.entry: mark for mark in list_marks(session, history)}
    refused = find_refused(session)
    out: list[BoundaryPayload] = []
    for boundary_mark in history.marks:
        mark = marks.get(boundary_mark.entry)
        size, size_after = find_recorded_sizes(session, ledger, boundary_mark.entry)
        before = None if size is None else size.tokens
        name = label_mark(boundary_mark.kind, before, size_after.tokens)
        label = f"{name}, {say_source(size_after)}"
        if size is not None and say_source(size) != say_source(size_after):
            after = f"{format_tokens(size_after.tokens)} {say_source(size_after)}"
            label = f"{label_mark(boundary_mark.kind, size.tokens, None)} {say_source(size)} → {after}"
        reason = find_reason(session, session[boundary_mark.entry], boundary_mark.entry in refused)
        if mark is not None and before is not None:
            turn = int(history.turn[max(boundary_mark.step - 1, 0)]) + 1
            sizes = f"{format_tokens(before)} → {format_tokens(size_after.tokens)}"
            name = " · ".join(filter(None, (mark.sign, f"turn {turn}", reason, sizes)))
        out.append(
            BoundaryPayload(
                boundary_mark.step,
                boundary_mark.kind,
                before,
                size_after.tokens,
                say_source(size_after),
                reason,
                label,
                "" if mark is None else mark.look,
                "" if mark is None else mark.at,
                name,
                "" if mark is None else mark.sign,
            )
        )
    return out


def say_sizes(before: int, after: ContextSize | None) -> str:
    """ "158.3k → 18.6k, reported", as its button and its row have it."""
    if after is None:
        return f"{format_tokens(before)} before"
    return f"{format_tokens(before)} → {format_tokens(after.tokens)}, {say_source(after)}"


def say_source(size: ContextSize) -> str:
    """Name the source of a size in a word, with its range if it is not certain.

    >>> say_source(ContextSize(50_000, "predicted", 41_000, 63_000))
    'predicted, 41k to 63k'
    """
    if size.low == size.high:
        return size.source
    return f"{size.source}, {format_tokens(size.low)} to {format_tokens(size.high)}"
