"""The recorded compactions of a session, as the overview shows them."""

from __future__ import annotations

from typing import Literal

from ...tokens.history import History
from ...tokens.ledger import Ledger
from ...tokens.recorded_sizes import ContextSize, find_recorded_sizes
from ..opening import list_marks
from .base_payload import Payload
from .sections import format_tokens, label_mark


class BoundaryPayload(Payload, frozen=True):
    """A recorded compaction; `before` and `after` are tokens of the context, `before` null at the beginning
    of a file. `source` says where the number after it is from: "reported", or "predicted, 41k to 63k".

    `look` is what `wb.look` is set to for it, `at` the moment right before it, `name` what its button says:
    "◆1 · turn 15 · 158.3k → 18.6k", and `sign` the shortest of that.
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
    out: list[BoundaryPayload] = []
    for told in history.marks:
        mark = marks.get(told.entry)
        size, left = find_recorded_sizes(session, ledger, told.entry)
        before = None if size is None else size.tokens
        name = label_mark(told.kind, before, left.tokens)
        label = f"{name}, {say_source(left)}"
        if mark is not None and before is not None:
            turn = int(history.turn[max(told.step - 1, 0)]) + 1
            name = f"{mark.sign} · turn {turn} · {format_tokens(before)} → {format_tokens(left.tokens)}"
        out.append(
            BoundaryPayload(
                told.step,
                told.kind,
                before,
                left.tokens,
                say_source(left),
                told.trigger or "",
                label,
                "" if mark is None else mark.look,
                "" if mark is None else mark.at,
                name,
                "" if mark is None else mark.sign,
            )
        )
    return out


def say_source(size: ContextSize) -> str:
    """Where a size is from, in a word, with its range if it is not certain.

    >>> say_source(ContextSize(50_000, "predicted", 41_000, 63_000))
    'predicted, 41k to 63k'
    """
    if size.low == size.high:
        return size.source
    return f"{size.source}, {format_tokens(size.low)} to {format_tokens(size.high)}"
