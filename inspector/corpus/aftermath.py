"""Sum what followed recorded compactions, by the harness's version and the trigger.

The input is the rows of a scan. The sums count what was re-read, re-run, repeated or restated, and the
distance to the next changed file. They describe what happened after a compaction, not because of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median
from typing import NamedTuple

from .columns import Row

HEADINGS = (
    *("harness", "version", "trigger", "compactions", "read again", "run again", "errors again"),
    *("rules said again", "tokens again", "replies to an edit", "tokens to an edit"),
)


class AftermathRow(NamedTuple):
    """The recorded compactions of one version of a harness with one trigger; "" if they are unknown.

    `read_again` counts files, `run_again` commands, `met_again` errors and `said_again` rules of the user;
    `tokens` were paid for facts that were needed again. `edit_replies` and `edit_tokens` are the medians
    until the model next changed a file, None if it never did: after `unedited` of the compactions.

    >>> needed = {"read_again": 9, "run_again": 1, "met_again": 0, "said_again": 1}
    >>> edits = {"edit_replies": 3.0, "edit_tokens": 5_200, "unedited": 0}
    >>> row = AftermathRow("claude-code", "2.1.3", "auto", 1, 2, **needed, tokens=14_000, **edits)
    >>> dict(zip(HEADINGS, row.cells))["tokens again"], row.read_again / row.compactions
    ('14,000', 4.5)
    """

    harness: str
    version: str
    trigger: str
    sessions: int
    compactions: int
    read_again: int
    run_again: int
    met_again: int
    said_again: int
    tokens: int
    edit_replies: float | None
    edit_tokens: float | None
    unedited: int

    @property
    def cells(self) -> tuple[str, ...]:
        """The row as text, one cell for each of HEADINGS."""
        shares = (self.read_again, self.run_again, self.met_again, self.said_again)
        edit = ("–" if value is None else f"{value:,.0f}" for value in (self.edit_replies, self.edit_tokens))
        return (
            self.harness,
            self.version or "?",
            self.trigger or "?",
            f"{self.compactions:,}",
            *(f"{count:,}" for count in shares),
            f"{self.tokens:,}",
            *edit,
        )


def sum_aftermath(rows: Iterable[Row]) -> list[AftermathRow]:
    """Return a row for each harness, version and trigger, in that order. Rows without a count of facts needed
    again are ignored.

    >>> from inspector import open_demo
    >>> from inspector.corpus.columns import fill_row
    >>> from inspector.corpus.measure import measure_session
    >>> rows = [fill_row(row) for row in measure_session(open_demo(), [])]
    >>> [(row.compactions, row.read_again, row.said_again) for row in sum_aftermath(rows)]
    [(1, 9, 1)]
    """
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        if row["policy"] == "recorded" and row.get("read_again") is not None:
            key = (row["format"] or "", row["version"] or "", row["trigger"] or "")
            groups.setdefault(key, []).append(row)
    return [_sum_up(key, groups[key]) for key in sorted(groups)]


def _sum_up(key: tuple[str, str, str], rows: list[Row]) -> AftermathRow:
    edits = [row for row in rows if row["edit_replies"] is not None]
    return AftermathRow(
        *key,
        sessions=len({(row["digest"], row["part"]) for row in rows}),
        compactions=len(rows),
        read_again=sum(row["read_again"] for row in rows),
        run_again=sum(row["run_again"] for row in rows),
        met_again=sum(row["met_again"] for row in rows),
        said_again=sum(row["said_again"] for row in rows),
        tokens=sum(row["regret_tokens"] for row in rows),
        edit_replies=median(row["edit_replies"] for row in edits) if edits else None,
        edit_tokens=median(row["edit_tokens"] for row in edits) if edits else None,
        unedited=len(rows) - len(edits),
    )
