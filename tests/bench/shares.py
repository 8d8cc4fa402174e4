"""Shares that are pooled over sessions, as the benchmark tells them: with an interval, in tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from inspector.corpus.resample import Interval, resample_share

FEW = 20
"""Fewer facts than that tell no share."""


def pool(counts: Iterable[tuple[str, int, int]], few: int = FEW) -> Interval:
    """The share kept of all, with its interval by session; none of fewer than `few` facts.

    `counts` are (session, stood, kept), several of a session in any order.
    """
    sums: dict[str, list[int]] = {}
    for session, stood, kept in counts:
        mine = sums.setdefault(session, [0, 0])
        mine[0] += stood
        mine[1] += kept
    pairs = [sums[name] for name in sorted(sums)]
    if sum(stood for stood, _ in pairs) < few:
        return Interval(None, None, None)
    return resample_share([kept for _, kept in pairs], [stood for stood, _ in pairs])


def shorten(found: Interval) -> list[float | None]:
    """The share and its bounds to four places, for the leaderboard."""
    return [None if x is None else round(x, 4) for x in found]


def tell_share(found: Interval) -> str:
    return str(found) or "–"


def tabulate(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table in Markdown, numbers to the right of the first column."""
    rule = ["---", *("---:" for _ in head[1:])]
    return ["", *(f"| {' | '.join(row)} |" for row in (head, rule, *rows)), ""]
