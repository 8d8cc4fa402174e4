"""Find the rows that a Codex rollout copied: a fork from its origin, or a sub-agent from its parent.

After the header of the rollout comes the header of the other session with a copy of its rows. These have the
original times or the time of the fork (FORMATS §1). Their requests are in the bill of the other session.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ....text import plural
from ...json_document import Fields
from ...other_sessions import read_time
from ...recording import Json
from .agents import find_parent
from .parts import read_id

GAP = 1.0
"""The maximum number of seconds between two copied rows. A copy is written quickly; a reply takes longer."""


class CopiedHistory:
    """The copied rows of a rollout, and the session that they were copied from.

    Attributes:
        origin: Id of that session; "" if nothing was copied.
        end: The number of the first row after the copies; 0 if there are no copies, or if they cannot be
            distinguished from the rollout's own rows.
        rows: The number of copied rows without headers.
    """

    def __init__(self, rows: Sequence[Json]) -> None:
        metas = {index: Fields(row.get("payload")) for index, row in enumerate(rows) if _is_header(row)}
        own = next(iter(metas.values()), Fields({}))
        self.forked = own.text("forked_from_id")
        self.origin = self.forked or find_parent(list(rows)) or ""
        others = [index for index, meta in metas.items() if read_id(meta.rest) != read_id(own.rest)]
        self.end = 0
        if (first := own.number("subagent_history_start_ordinal")) is not None:
            self.end = _find_ordinal(rows, first)
        elif self.origin:
            again = [index for index in metas if others and index > others[-1]]
            self.end = again[0] if again else _find_gap(rows, own.text("timestamp"), others)
        self.rows = sum(index not in metas for index in range(self.end))

    def holds(self, index: int) -> bool:
        """Whether the row with this number is a copy."""
        return index < self.end

    def warnings(self) -> Iterator[str]:
        """Yield warnings about the copies."""
        if self.rows:
            by = f"session {self.origin:.60}" if self.forked else "the session that started it"
            copied = f"its first {plural(self.rows, 'row')} are a copy of {by}"
            yield f"{copied}: they are in its context, and their requests are charged there"
        elif self.forked:
            unknown = "copied rows cannot be distinguished from its own, so all are charged"
            yield f"it was forked from session {self.forked:.60}: {unknown}"


def _is_header(row: Json) -> bool:
    return row.get("type") == "session_meta" and isinstance(row.get("payload"), dict)


def _find_ordinal(rows: Sequence[Json], first: float) -> int:
    """Return the index of the first row with this number or a higher one, if lower ones come before it."""
    numbers = [None if _is_header(row) else Fields(row).number("ordinal") for row in rows]
    if not any(number is not None and number < first for number in numbers):
        return 0
    lower = max(index for index, number in enumerate(numbers) if number is not None and number < first)
    return next((index for index, n in enumerate(numbers) if n is not None and n >= first), lower + 1)


def _find_gap(rows: Sequence[Json], began: str | None, others: list[int]) -> int:
    """Return the index of the first row whose time shows that it is not a copy; 0 if the times are unclear.

    Rows from before the fork are copies. So are rows written directly after the header of the other session,
    in quick succession.
    """
    start = read_time(began)
    if start is None:
        return 0
    end, last, at_once = 0, start, False
    for index, row in enumerate(rows):
        time = read_time(Fields(row).text("timestamp"))
        if time is None or _is_header(row):
            continue
        if time >= start:
            if not others or index < others[0] or time - last > GAP:
                return end
            at_once = True
        end, last = index + 1, max(time, last)
    return 0 if at_once else end
