"""The recorded compactions of a session, as the overview shows them."""

from __future__ import annotations

from typing import Literal

from ...planning.plan import Plan
from ...tokens.history import History
from ..opening import list_marks
from .base_payload import Payload
from .sections import format_tokens, label_mark


class BoundaryPayload(Payload, frozen=True):
    """A recorded compaction; `before` and `after` are tokens, null where nobody tells.

    `look` is what `wb.look` is set to for it, `at` the moment right before it, `name` what its button says:
    "◆1 · turn 15 · 158.3k → 17.8k", and `sign` the shortest of that.
    """

    step: int
    kind: Literal["compact", "micro"]
    before: int | None
    after: int | None
    trigger: str
    label: str
    look: str
    at: str
    name: str
    sign: str


def list_boundaries(plan: Plan, history: History, recorded: int | None) -> list[BoundaryPayload]:
    """The recorded compactions: that of the plan's moment by the plan's own figures, the others as reported.

    `recorded` is what that of the moment left, in tokens.
    """
    marks = {mark.entry: mark for mark in list_marks(plan.ledger.session, history)}
    out: list[BoundaryPayload] = []
    for told in history.marks:
        mark = marks.get(told.entry)
        here = mark is not None and mark.at == plan.session.leaf
        before, after = told.before, told.after
        name = label_mark(told.kind, before, after)
        if mark is not None:
            turn = int(history.turn[max(told.step - 1, 0)]) + 1
            size = plan.before if here else mark.tokens
            left = (
                recorded
                if here and recorded is not None
                else after
                if after is not None
                else _next(history, told.step)
            )
            if told.kind == "micro":
                # Who empties outputs tells what stood before; what is left is told with the next request.
                size, left = told.before or size, None
            arrow = "" if left is None else f" → {format_tokens(left)}"
            name = f"{mark.sign} · turn {turn} · {format_tokens(size)}{arrow}"
        out.append(
            BoundaryPayload(
                told.step,
                told.kind,
                before,
                after,
                told.trigger or "",
                label_mark(told.kind, before, after),
                "" if mark is None else mark.look,
                "" if mark is None else mark.at,
                name,
                "" if mark is None else mark.sign,
            )
        )
    return out


def _next(history: History, step: int) -> int | None:
    """What the first request from a step on is reported to hold, None where none is."""
    later = history.reported[step:]
    told = later[later >= 0]
    return int(told[0]) if len(told) else None
