"""Rows of another session that a Codex rollout begins with: a fork's, or those of a sub-agent's parent.

What follows the rollout's own header is then the header of the other session and a copy of its rows, with
their own times or with the time of the fork (FORMATS §1). Their requests are in the bill of that session.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..text import plural
from .codex_agents import find_parent
from .codex_parts import read_id
from .copied_entries import read_time
from .json_document import Fields
from .recording import Json

GAP = 1.0
"""Seconds between two rows of a copy at most: it is written at once, and a reply takes longer."""


class CopiedHistory:
    """Which rows of a rollout are copies, and of which session.

    Attributes:
        origin: The session that they are copied from; "" if there is none.
        end: The number of the first row behind the copies; 0 if there are none, or if nothing tells them
            from the rollout's own rows.
        rows: How many rows are copies, headers aside.
    """

    def __init__(self, rows: Sequence[Json]) -> None:
        metas = {at: Fields(row.get("payload")) for at, row in enumerate(rows) if _is_header(row)}
        own = next(iter(metas.values()), Fields({}))
        self.forked = own.text("forked_from_id")
        self.origin = self.forked or find_parent(list(rows)) or ""
        others = [at for at, meta in metas.items() if read_id(meta.rest) != read_id(own.rest)]
        self.end = 0
        if (first := own.number("subagent_history_start_ordinal")) is not None:
            self.end = _find_ordinal(rows, first)
        elif self.origin:
            again = [at for at in metas if others and at > others[-1]]
            self.end = again[0] if again else _find_gap(rows, own.text("timestamp"), others)
        self.rows = sum(at not in metas for at in range(self.end))

    def holds(self, at: int) -> bool:
        """Whether the row with this number is a copy."""
        return at < self.end

    def warnings(self) -> Iterator[str]:
        """What is to be known of the copies."""
        if self.rows:
            by = f"session {self.origin:.60}" if self.forked else "the session that started it"
            copied = f"its first {plural(self.rows, 'row')} are a copy of {by}"
            yield f"{copied}: they stand in its context, and their requests are charged there"
        elif self.forked:
            unknown = "copied rows cannot be told from its own, so all requests are charged"
            yield f"it was forked from session {self.forked:.60}: {unknown}"


def _is_header(row: Json) -> bool:
    return row.get("type") == "session_meta" and isinstance(row.get("payload"), dict)


def _find_ordinal(rows: Sequence[Json], first: float) -> int:
    """The first row numbered so or higher, if rows with lower numbers stand before it."""
    numbers = [None if _is_header(row) else Fields(row).number("ordinal") for row in rows]
    if not any(number is not None and number < first for number in numbers):
        return 0
    lower = max(at for at, number in enumerate(numbers) if number is not None and number < first)
    return next((at for at, n in enumerate(numbers) if n is not None and n >= first), lower + 1)


def _find_gap(rows: Sequence[Json], began: str | None, others: list[int]) -> int:
    """The first row that is no copy by its time; 0 if the times do not tell.

    A row from before the fork is a copy. So are rows that were written with the header of the other session,
    one right after another.
    """
    start = read_time(began)
    if start is None:
        return 0
    end, last, at_once = 0, start, False
    for at, row in enumerate(rows):
        time = read_time(Fields(row).text("timestamp"))
        if time is None or _is_header(row):
            continue
        if time >= start:
            if not others or at < others[0] or time - last > GAP:
                return end
            at_once = True
        end, last = at + 1, max(time, last)
    return 0 if at_once else end
