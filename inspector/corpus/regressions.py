"""Compare two scans: regressions in the same sessions under the same policies."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..errors import expect
from ..text import plural
from .columns import Row
from .scan_table import ScanTable

Place = tuple[str, str, str, int]
MOST_DROP, MOST_RISE = 0.02, 0.05


class Regression(NamedTuple):
    """A regression: `what` is "facts kept", "tokens left", "fires again" or "errors", with its values `was`
    and `now`, over the number of `moments` that both scans measured.

    >>> Regression("flue", "facts kept", was=0.8, now=0.6, moments=12).sentence
    'flue: facts kept 80.0% → 60.0% over 12 moments'
    """

    policy: str
    what: str
    was: float
    now: float
    moments: int

    @property
    def sentence(self) -> str:
        """A sentence about the regression."""
        form = ".1%" if self.what in ("facts kept", "tokens left") else ",.0f"
        over = plural(self.moments, "moment")
        return f"{self.policy}: {self.what} {self.was:{form}} → {self.now:{form}} over {over}"


def compare_scans(
    old: ScanTable, new: ScanTable, *, kept: float = MOST_DROP, left: float = MOST_RISE
) -> tuple[Regression, ...]:
    """Return what the new scan does worse than the old one at the points that both measured.

    A policy that now fires again on its own result, or cannot be planned, is always a regression. Policies
    are matched by name, sessions by content. The share of facts kept may fall by `kept`, and that of tokens
    left may rise by `left`.

    >>> from inspector.corpus.columns import fill_row
    >>> def table(kept):
    ...     row = {"digest": "a", "policy": "flue", "moment": 1, "before": 100, "after": 20, "stood": 10}
    ...     return ScanTable(lambda: [fill_row(row | {"kept": kept, "evidence": "planned"})], 1)
    >>> [one.sentence for one in compare_scans(table(8), table(6))]
    ['flue: facts kept 80.0% → 60.0% over 1 moment']
    """
    expect("compare_scans", old=(old, ScanTable), new=(new, ScanTable))
    before, after = _index(old), _index(new)
    policies: dict[str, list[Place]] = {}
    for place in before.keys() & after.keys():
        policies.setdefault(place[2], []).append(place)
    regressions: list[Regression] = []
    for policy, places in sorted(policies.items()):
        pairs = [(before[place], after[place]) for place in places]
        regressions += _compare(policy, pairs, kept, left)
    return tuple(regressions)


def count_common(old: ScanTable, new: ScanTable) -> int:
    """Return the number of points under a policy that both scans measured."""
    return len(_index(old).keys() & _index(new).keys())


def _index(table: ScanTable) -> dict[Place, Row]:
    return {
        (row["digest"], row["part"] or "", row["policy"], row["moment"]): row
        for row in table
        if row["policy"]
    }


def _compare(
    policy: str, pairs: list[tuple[Row, Row]], most_drop: float, most_rise: float
) -> Iterable[Regression]:
    failed = [sum(bool(pair[at]["error"]) for pair in pairs) for at in (0, 1)]
    if any(new["error"] and not old["error"] for old, new in pairs):
        yield Regression(policy, "errors", failed[0], failed[1], len(pairs))
    good = [pair for pair in pairs if not pair[0]["error"] and not pair[1]["error"]]
    for what, part, whole, worse, most in (
        ("facts kept", "kept", "stood", -1, most_drop),
        ("tokens left", "after", "before", 1, most_rise),
    ):
        measured = [pair for pair in good if None not in (pair[0][whole], pair[1][whole])]
        was, now = (_share(measured, at, part, whole) for at in (0, 1))
        if measured and worse * (now - was) > most:
            yield Regression(policy, what, was, now, len(measured))
    if any(new["again"] and old["again"] is False for old, new in good):
        again = [sum(bool(pair[at]["again"]) for pair in good) for at in (0, 1)]
        yield Regression(policy, "fires again", again[0], again[1], len(good))


def _share(pairs: list[tuple[Row, Row]], at: int, part: str, whole: str) -> float:
    total = sum(pair[at][whole] for pair in pairs)
    return sum(pair[at][part] for pair in pairs) / total if total else 0.0
