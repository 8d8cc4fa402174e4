"""Every change the agent makes to the project's files: (path, what stood there, what stands there after)."""

from __future__ import annotations

from inspector.demo import LOST_PATH

from . import fragments

Edit = tuple[str, str, str]

TABLE, FEED, TEXTS = (f"src/tidepool/render/{name}.py" for name in ("table", "ical", "sms"))
ROUTES, WINDOWS = "src/tidepool/api/routes.py", "src/tidepool/stations/windows.py"
NIGHTLY, OUTBOX = (f"src/tidepool/jobs/{name}.py" for name in ("nightly", "outbox"))
HARMONICS, SCRIPT = "src/tidepool/predict/harmonics.py", "src/tidepool/static/board.js"
RUNBOOK, CHANGES = "docs/runbook.md", "CHANGELOG.md"
TEST_OFFSETS, TEST_TABLE = "tests/calendar/test_offsets.py", "tests/render/test_table.py"
TEST_FEED = "tests/render/test_ical.py"

_HELPER = "from tidepool.calendar.offsets import"
_ROW = "from tidepool.almanac.model import Row\n"

ADD_HELPER = (LOST_PATH, fragments.HELPER_BEFORE, fragments.HELPER_AFTER)
KNOW_DAYS = (LOST_PATH, "_known: dict[tuple[str, int], int] = {}", "_known: dict[tuple[str, date], int] = {}")
KEY_BY_DAY = (LOST_PATH, "    key = (zone, day.year)\n", "    key = (zone, day)\n")
USE_MOMENT = (LOST_PATH, fragments.LOCAL_BEFORE, fragments.LOCAL_AFTER)

WARM_TODAY = (
    NIGHTLY,
    """def warm_up(registry: Registry, year: int) -> int:
    \"""Ask for every zone's offset once, so that the first visitor of the morning does not wait.\"""
    for zone in registry.zones():
        offset_minutes(zone, date(year, 1, 1))
""",
    """def warm_up(registry: Registry, day: date) -> int:
    \"""Ask for every zone's offset of a day, so that the first visitor of the morning does not wait.\"""
    for zone in registry.zones():
        offset_minutes(zone, day)
""",
)
TELL_TODAY = (NIGHTLY, "warm_up(registry, now.year)", "warm_up(registry, now.date())")

TABLE_ASKS = (
    TABLE,
    """    minutes = offset_minutes(harbour.zone, date(moment.year, moment.month, 1))
    return (moment + timedelta(minutes=minutes)).strftime("%H:%M")""",
    """    return to_local(moment, harbour.zone).strftime("%H:%M")""",
)
TABLE_IMPORTS = (TABLE, f"{_HELPER} offset_minutes\n", f"{_HELPER} to_local\n")
FEED_ASKS = (
    FEED,
    """    ahead = date(moment.year, 3, 31) <= moment.date() <= date(moment.year, 10, 31)
    shift = timedelta(hours=1 if ahead and harbour.has_summer else 0)
    return (moment + shift + harbour.winter).strftime("%Y%m%dT%H%M%S")""",
    """    return to_local(moment, harbour.zone).strftime("%Y%m%dT%H%M%S")""",
)
FEED_IMPORTS = (FEED, _ROW, f"{_ROW}{_HELPER} to_local\n")
TEXTS_ASK = (
    TEXTS,
    "row.moment + timedelta(seconds=-altzone if daylight and localtime().tm_isdst else -timezone)",
    "to_local(row.moment, harbour.zone)",
)
TEXTS_IMPORT = (TEXTS, _ROW, f"{_ROW}{_HELPER} to_local\n")
ROUTES_FORGET = (ROUTES, "    shift = timedelta(minutes=state.offsets[harbour.zone])\n", "")
ROUTES_ASK = (ROUTES, "{row.moment + shift:%H:%M}", "{to_local(row.moment, harbour.zone):%H:%M}")
ROUTES_IMPORT = (ROUTES, f"{_HELPER} utc_today\n", f"{_HELPER} to_local, utc_today\n")
WINDOWS_ASK = (
    WINDOWS,
    """    minutes = harbour.zone_minutes + (60 if is_summer(harbour.zone, date.today()) else 0)
    middle = row.moment + timedelta(minutes=minutes)
""",
    "    middle = to_local(row.moment, harbour.zone)\n",
)
WINDOWS_IMPORT = (WINDOWS, f"{_HELPER} is_summer\n", f"{_HELPER} to_local\n")

DROP_FIRST = (
    OUTBOX,
    "    written = 0\n    for harbour in registry:\n",
    "    self.drop(day)\n    written = 0\n    for harbour in registry:\n",
)
USE_PARTS = (
    HARMONICS,
    """    for part in station.constituents:
        factor, argument = node_factor(part.name, moment.year), equilibrium(part.name, moment.year)
""",
    "    for part, factor, argument in parts_of(station, moment.year):\n",
)
MAKE_PARTS = (
    HARMONICS,
    "def height(station: Station, moment: datetime) -> float:\n",
    '''@lru_cache(maxsize=256)
def parts_of(station: Station, year: int) -> tuple[tuple[Part, float, float], ...]:
    """Every constituent of a station with its node factor and argument.

    The year is the right key here: both are defined for the middle of a year and do not change within it.
    """
    return tuple(
        (part, node_factor(part.name, year), equilibrium(part.name, year)) for part in station.constituents
    )


def height(station: Station, moment: datetime) -> float:
''',
)
ASK_FIRST = (
    SCRIPT,
    """  const kept = read(slug);
  if (kept && Date.now() - kept.at < KEEP) return kept.rows;
  const answer = await fetch(`/boards/${slug}/today`);
  if (!answer.ok) return kept ? kept.rows : [];
""",
    """  const answer = await fetch(`/boards/${slug}/today`).catch(() => null);
  if (!answer?.ok) return remembered(slug);
""",
)
REMEMBER = (
    SCRIPT,
    "function read(slug) {\n",
    """function remembered(slug) {
  const kept = read(slug);
  return kept && Date.now() - kept.at < KEEP ? kept.rows : [];
}

function read(slug) {
""",
)
EXPLAIN_TIMES = (
    RUNBOOK,
    "(nobody has written this yet)\n",
    """1. Is it one hour, or two in Norway? Then it is the clock change and not the tide.
2. Compare the board with `python -m tidepool predict SLUG DAY --utc`. Add the harbour's hour by hand.
3. If board, text and calendar disagree with each other, one of them does not ask the helper for local
   time. Nothing but the helper may add minutes to a moment.
4. If they agree and are all wrong, restart the service once and write down whether that helped.
5. If a single screen is wrong, reload it.

Tell the harbour master before you tell the computer. A chalked board beats a wrong one.
""",
)

TEST_IMPORTS = (TEST_OFFSETS, f"{_HELPER} forget", f"{_HELPER} comes_twice, forget")
TEST_AUTUMN = (
    TEST_OFFSETS,
    "== datetime(2026, 3, 30, 6, 12)\n",
    "== datetime(2026, 3, 30, 6, 12)\n" + fragments.TEST_AUTUMN,
)
MARK_HOUR = (
    TABLE,
    '    return to_local(moment, harbour.zone).strftime("%H:%M")',
    """    local = to_local(moment, harbour.zone)
    which = "AB"[local.fold] if comes_twice(local, harbour.zone) else ""
    return f"{local:%H:%M}{which}\"""",
)
MARK_IMPORTS = (TABLE, f"{_HELPER} to_local\n", f"{_HELPER} comes_twice, to_local\n")
MARK_WIDTH = (
    TABLE,
    "{clock_face(row.moment, harbour):>6} {name}",
    "{clock_face(row.moment, harbour):<6}{name}",
)
TEST_MARK = (
    TEST_TABLE,
    "NOON = datetime(2026, 6, 21, 12)\n",
    """NOON = datetime(2026, 6, 21, 12)


def test_the_hour_that_comes_twice_has_a_letter(penmor: Harbour) -> None:
    assert clock_face(datetime(2026, 10, 25, 0, 47), penmor) == "01:47A"
    assert clock_face(datetime(2026, 10, 25, 1, 47), penmor) == "01:47B"
    assert clock_face(datetime(2026, 10, 25, 2, 47), penmor) == "02:47"
""",
)
FEED_IN_UTC = (
    FEED,
    '    return to_local(moment, harbour.zone).strftime("%Y%m%dT%H%M%S")',
    '    return moment.strftime("%Y%m%dT%H%M%SZ")',
)
FEED_DESCRIBES = (
    FEED,
    '"""A moment as calendars write it, on the harbour\'s clock."""',
    '"""A moment as calendars write it: in UTC, so that no hour comes twice."""',
)
FEED_DROPS_ZONE = (
    FEED,
    'f"DTSTART;TZID={harbour.zone}:{stamp(row.moment, harbour)}"',
    'f"DTSTART:{stamp(row.moment)}"',
)
FEED_TAKES_NONE = (FEED, "def stamp(moment: datetime, harbour: Harbour)", "def stamp(moment: datetime)")
FEED_FORGETS = (FEED, f"{_HELPER} to_local\n", "")
TEST_IN_UTC = (
    TEST_FEED,
    'assert stamp(row.moment, harbour) == f"{to_local(row.moment, harbour.zone):%Y%m%dT%H%M%S}"',
    'assert stamp(row.moment) == f"{row.moment:%Y%m%dT%H%M%SZ}"',
)
TEST_NAME = (
    TEST_FEED,
    "def test_the_feed_and_the_board_agree_today(",
    "def test_the_feed_says_the_almanacs_own_moment(",
)
NOTE_CHANGES = (
    CHANGES,
    "# Changes\n",
    """# Changes

## 4.7.1 - 2026-03-31

- Times are right again after a clock change. An offset was remembered for a whole year; every harbour that
  changes its clock was an hour early from 29 March on.
- Texts were an hour early in every summer so far, in Norway two. They are right now. We are sorry.
- On the two days a year when clocks change, the hours before the change keep the old time.
- The paper table says which of two equal hours it means: 01:47A is before the clocks go back, 01:47B after.
- The calendar feed gives moments in UTC. Telephones turn them into local time by themselves.
- A screen asks for its board first and falls back on the last answer only when the line is down.
- The prediction is fifteen times as fast.
""",
)
