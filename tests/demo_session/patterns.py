"""Shapes of code, with slots: what the project's ordinary modules and tests are cut from.

Slots: $words (a thing in plain words), $thing, $things, $Thing (the same as names), $field, $unit, $low,
$high, $number, $harbour.
"""

from __future__ import annotations

from string import Template

_TYPES = '''
@dataclass(frozen=True, slots=True)
class $Thing:
    """One $words, as the coast's own books have it."""

    slug: str
    moment: datetime
    $field: float
    source: str = "$harbour"
    note: str = ""

    @property
    def is_plausible(self) -> bool:
        """A $words of more than $high $unit has never been seen on this coast."""
        return $low <= self.$field <= $high
---
class Unknown$Thing(LookupError):
    """Nobody has told this service about such a $words."""

    def __init__(self, slug: str, known: Sequence[str] = ()) -> None:
        self.slug, self.known = slug, tuple(known)
        near = get_close_matches(slug, self.known, n=3)
        hint = f"; did you mean {', '.join(near)}?" if near else ""
        super().__init__(f"no $words called {slug!r}{hint}")
---
class $Thing:
    """A $words and the $field it was given, in $unit."""

    __slots__ = ("_$field", "changed", "slug")

    def __init__(self, slug: str, $field: float = $low) -> None:
        self.slug = slug
        self._$field = $field
        self.changed: datetime | None = None

    def set_$field(self, value: float, at: datetime) -> bool:
        """Take a new $field; False when it is what it was before."""
        if abs(value - self._$field) < 0.0005:
            return False
        self._$field, self.changed = value, at
        return True
'''

_FUNCTIONS = '''
def group_$things(rows: Iterable[$Thing], by: str = "$field") -> dict[str, list[$Thing]]:
    """Every $words under its $field, in the order they came.

    A $words without one goes under "unknown", so that nothing is lost on its way to the board.
    """
    found: dict[str, list[$Thing]] = {}
    for row in rows:
        found.setdefault(str(getattr(row, by, None) or "unknown"), []).append(row)
    return found
---
def parse_$thing(line: str, number: int = 0) -> $Thing | None:
    """One line of the $words list: slug, moment, $unit, and a remark that may be missing.

    Lines that start with a hash are remarks of the clerk's. Raises ValueError with the line's number.
    """
    if not line.strip() or line.startswith("#"):
        return None
    slug, moment, value, *rest = (part.strip() for part in line.split(";"))
    try:
        return $Thing(slug, datetime.fromisoformat(moment), float(value), note=" ".join(rest))
    except ValueError as error:
        raise ValueError(f"line {number}: {error} in the $words list") from error
---
def clip_$field(value: float, low: float = $low, high: float = $high) -> float:
    """Keep a $field between $low and $high $unit.

    What lies outside is a broken gauge and not a tide, so it is said once and then cut.
    """
    if value < low or value > high:
        log.warning("$words outside %.2f..%.2f $unit: %.2f", low, high, value)
    return min(max(value, low), high)
---
def nearest_$thing(rows: Sequence[$Thing], moment: datetime) -> $Thing:
    """The $words closest in time; of two that are equally near, the earlier."""
    if not rows:
        raise LookupError("no $words to choose from")
    at = bisect_left(rows, moment, key=attrgetter("moment"))
    around = rows[max(at - 1, 0) : at + 1]
    return min(around, key=lambda row: abs(row.moment - moment))
---
def smooth_$things(values: Sequence[float], width: int = $number) -> list[float]:
    """A running mean over `width` values, so that one wave does not make a $words.

    The ends are averaged over what is there. The result is as long as the input.
    """
    half = width // 2
    sums = [0.0, *accumulate(values)]
    means = []
    for at in range(len(values)):
        first, last = max(at - half, 0), min(at + half + 1, len(values))
        means.append((sums[last] - sums[first]) / (last - first))
    return means
---
def merge_$things(old: Sequence[$Thing], new: Sequence[$Thing]) -> list[$Thing]:
    """Two lists as one, by moment; where both have a $words for the same moment the new one counts."""
    latest = {(row.slug, row.moment): row for row in old}
    replaced = 0
    for row in new:
        replaced += (row.slug, row.moment) in latest
        latest[row.slug, row.moment] = row
    if replaced:
        log.info("%d of %d $words rows replaced", replaced, len(new))
    return sorted(latest.values(), key=attrgetter("moment", "slug"))
---
def ${thing}_to_json(row: $Thing) -> dict[str, object]:
    """A $words as the API shows it; numbers in $unit with two places."""
    shown: dict[str, object] = {"slug": row.slug, "at": row.moment.isoformat(timespec="minutes")}
    shown["$field"] = round(row.$field, 2)
    if row.note:
        shown["note"] = row.note
    return shown
---
def load_$things(connection: Connection, slug: str, since: date) -> list[$Thing]:
    """Every $words of a harbour from a day on, oldest first.

    The index on (slug, moment) makes this one range scan; a year of $harbour takes $number ms.
    """
    query = "select slug, moment, $field, source, note from $things where slug = ? and moment >= ?"
    rows = connection.execute(query + " order by moment", (slug, since.isoformat()))
    return [$Thing(name, datetime.fromisoformat(at), *rest) for name, at, *rest in rows]
---
def count_$things(rows: Iterable[$Thing], day: date) -> int:
    """How many there are on one day. On most days there are two high waters and so two of everything."""
    return sum(row.moment.date() == day for row in rows)
---
def describe_$thing(row: $Thing, places: int = 1) -> str:
    """A $words in the words of the harbour office: "$harbour, $number $unit"."""
    amount = f"{row.$field:.{places}f} $unit"
    parts = [row.slug.replace("-", " ").title(), amount]
    if row.note:
        parts.append(f"({row.note})")
    return ", ".join(parts)
---
def between_$things(before: $Thing, after: $Thing, share: float) -> float:
    """The $field part of the way from one $words to the next, by the rule of twelfths.

    `share` goes from 0 to 1. A third of the way in time the water has done a quarter of its work.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share must lie between 0 and 1, not {share}")
    rise = after.$field - before.$field
    return before.$field + rise * (1 - cos(pi * share)) / 2
---
def check_$things(rows: Sequence[$Thing]) -> list[str]:
    """What is wrong with a list of $words rows, one sentence each; an empty list is good news."""
    wrong = []
    for before, after in pairwise(rows):
        if after.moment <= before.moment:
            wrong.append(f"{after.slug}: {after.moment:%d %b %H:%M} does not come after the row before it")
        elif after.moment - before.moment > timedelta(hours=$number):
            wrong.append(f"{after.slug}: no $words for more than $number hours before {after.moment:%d %b}")
    if rows and not any($low <= row.$field <= $high for row in rows):
        wrong.append(f"{rows[0].slug}: no $field at all lies between $low and $high $unit")
    return wrong
---
def split_$things(rows: Iterable[$Thing], size: int = $number) -> Iterator[tuple[$Thing, ...]]:
    """The rows in batches, because the modem at $harbour gives up on anything longer."""
    batch: list[$Thing] = []
    for row in rows:
        batch.append(row)
        if len(batch) == size:
            yield tuple(batch)
            batch.clear()
    if batch:
        yield tuple(batch)
---
def mean_$field(rows: Sequence[$Thing], weights: Mapping[str, float] | None = None) -> float:
    """The mean $field in $unit; a harbour without a weight counts once.

    >>> mean_$field([])
    0.0
    """
    if not rows:
        return 0.0
    shares = [(weights or {}).get(row.slug, 1.0) for row in rows]
    return fsum(share * row.$field for share, row in zip(shares, rows, strict=True)) / fsum(shares)
---
def latest_$thing(rows: Iterable[$Thing], slug: str, until: datetime) -> $Thing | None:
    """The last $words of a harbour up to a moment, None before there was any."""
    mine = (row for row in rows if row.slug == slug and row.moment <= until)
    return max(mine, key=attrgetter("moment"), default=None)
---
def retry_$things(fetch: Callable[[], list[$Thing]], times: int = 3) -> list[$Thing]:
    """Ask again when the line is bad. The pause doubles; the last refusal is passed on as it is."""
    pause = 0.25
    for attempt in range(times):
        try:
            return fetch()
        except TimeoutError:
            log.info("$words: attempt %d of %d timed out", attempt + 1, times)
            if attempt + 1 == times:
                raise
            sleep(pause)
            pause *= 2
    return []
'''

_TESTS = '''
@pytest.mark.parametrize("slug", SLUGS)
def test_${thing}_${field}_is_plausible(slug: str) -> None:
    """$high $unit is the most this coast has ever seen."""
    row = $Thing(slug, NOON, $low)
    assert clip_$field(row.$field) == row.$field
    assert $low <= clip_$field($high * 2) <= $high
---
@pytest.mark.parametrize("slug", SLUGS)
def test_${things}_keep_their_order(slug: str) -> None:
    rows = [$Thing(slug, NOON + timedelta(hours=hour), $low + hour) for hour in range($number)]
    assert merge_$things(rows[::2], rows[1::2]) == rows
    assert check_$things(rows) == []
---
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("gull-haven; 2026-01-04T06:12; $low", $low),
        ("penmor; 2026-02-11T18:40; $high; by hand", $high),
        ("skarvik; 2026-03-28T23:59; $mid", $mid),
    ],
)
def test_${thing}_is_read_from_its_line(line: str, expected: float) -> None:
    assert parse_$thing(line).$field == pytest.approx(expected)
---
def test_no_${thing}_is_lost_in_batches() -> None:
    rows = [$Thing("$slug", NOON + timedelta(minutes=n), $low) for n in range(3 * $number + 1)]
    batches = list(split_$things(rows))
    assert [len(batch) for batch in batches] == [$number, $number, $number, 1]
    assert [row for batch in batches for row in batch] == rows
---
def test_nearest_${thing}_of_two_is_the_earlier() -> None:
    early, late = ($Thing("$slug", NOON + timedelta(hours=h), $low) for h in (0, 2))
    assert nearest_$thing([early, late], NOON + timedelta(hours=1)) is early
    with pytest.raises(LookupError, match="$words"):
        nearest_$thing([], NOON)
---
def test_${thing}_says_so_when_a_line_is_broken() -> None:
    with pytest.raises(ValueError, match="line $number"):
        parse_$thing("$slug; yesterday; a lot", $number)
    assert parse_$thing("# the clerk was on leave") is None
'''


def _split(text: str) -> tuple[Template, ...]:
    return tuple(Template(part.strip("\n")) for part in text.split("\n---\n"))


TYPES, FUNCTIONS, TESTS = _split(_TYPES), _split(_FUNCTIONS), _split(_TESTS)

IMPORTS = """
import logging
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from difflib import get_close_matches
from itertools import accumulate, pairwise
from math import cos, fsum, pi
from operator import attrgetter
from sqlite3 import Connection
from time import sleep

from tidepool.almanac.model import Almanac, Row
from tidepool.calendar.offsets import is_summer, offset_minutes, utc_today
from tidepool.predict.station import Extreme, Station
from tidepool.stations.harbour import Harbour, Registry
"""
