"""The pieces of the project that the story turns on, written by hand: as they were, and as they become."""

from __future__ import annotations

OFFSETS = '''"""Minutes between UTC and the clock on the harbour wall.

The almanac speaks UTC. Boards, text messages and calendars speak the clock that hangs in the harbour
office. Whatever crosses from the one to the other should cross here.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from tidepool.errors import UnknownZone

NOON = time(12)
"""Noon is never skipped and never comes twice, wherever clocks change at night."""

_known: dict[tuple[str, int], int] = {}


def offset_minutes(zone: str, day: date) -> int:
    """Minutes to add to UTC for the wall clock of `zone` on `day`; west of Greenwich they are negative.

    Asking zoneinfo costs a look into a file on the small machines in the harbour offices, so an answer
    is remembered.
    """
    key = (zone, day.year)
    if key not in _known:
        noon = datetime.combine(day, NOON, tzinfo=find_zone(zone))
        _known[key] = minutes_of(noon.utcoffset())
    return _known[key]


def find_zone(zone: str) -> ZoneInfo:
    """The zone by its name in the tz database. Raises `UnknownZone`, which names the harbour's own file."""
    try:
        return ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise UnknownZone(zone) from error


def minutes_of(offset: timedelta | None) -> int:
    """Whole minutes of an offset. Local mean time before 1900 has seconds, which no board can show."""
    return 0 if offset is None else int(offset.total_seconds() // 60)


def change_days(zone: str, year: int) -> list[date]:
    """The days of a year on which the wall clock of `zone` is put forward or back; none for Svartavik."""
    place = find_zone(zone)
    days = []
    day, before = date(year, 1, 1), None
    while day.year == year:
        now = datetime.combine(day, NOON, tzinfo=place).utcoffset()
        if before is not None and now != before:
            days.append(day)
        day, before = day + timedelta(days=1), now
    return days


def describe_offset(minutes: int) -> str:
    """An offset as calendars write it.

    >>> describe_offset(60), describe_offset(-210)
    ('+0100', '-0330')
    """
    sign = "-" if minutes < 0 else "+"
    hours, rest = divmod(abs(minutes), 60)
    return f"{sign}{hours:02d}{rest:02d}"


def parse_offset(text: str) -> int:
    """The minutes that `describe_offset` wrote. Raises ValueError for anything else."""
    if len(text) != 5 or text[0] not in "+-" or not text[1:].isdigit():
        raise ValueError(f"not an offset: {text!r}")
    minutes = int(text[1:3]) * 60 + int(text[3:])
    return -minutes if text[0] == "-" else minutes


def is_summer(zone: str, day: date) -> bool:
    """Whether the wall clock of `zone` runs ahead of its own winter on `day`."""
    winter = datetime(day.year, 1, 15, 12, tzinfo=find_zone(zone)).utcoffset()
    return offset_minutes(zone, day) > minutes_of(winter)


def utc_today(now: datetime | None = None) -> date:
    """The day it is in Greenwich, which is the day the almanac's rows are filed under."""
    return (now or datetime.now(UTC)).astimezone(UTC).date()
'''

HELPER_BEFORE = "def find_zone(zone: str) -> ZoneInfo:\n"
HELPER_AFTER = '''def to_local(moment: datetime, zone: str) -> datetime:
    """A moment of the almanac, in UTC, as the wall clock of `zone` shows it."""
    return moment + timedelta(minutes=offset_minutes(zone, moment.date()))


def forget_offsets() -> None:
    """Forget every offset, as a restart does. For tests."""
    _known.clear()


def find_zone(zone: str) -> ZoneInfo:
'''
LOCAL_BEFORE = HELPER_AFTER.split("\n\n\n")[0]
LOCAL_AFTER = '''def to_local(moment: datetime, zone: str) -> datetime:
    """A moment of the almanac, in UTC, as the wall clock of `zone` shows it.

    The offset is that of the moment and not of its day: on the two days a year when clocks change, the
    hours before the change still have the old one. In the hour that comes twice, `fold` is 1 the second
    time.
    """
    return moment.replace(tzinfo=UTC).astimezone(find_zone(zone)).replace(tzinfo=None)


def comes_twice(local: datetime, zone: str) -> bool:
    """Whether the wall clock of `zone` shows this time twice on that night."""
    first, second = (local.replace(tzinfo=find_zone(zone), fold=fold).utcoffset() for fold in (0, 1))
    return first is not None and second is not None and first > second'''

TEST_OFFSETS = '''\
"""Clock changes, from the wrong side: whoever asks first must not decide for the rest of the year."""

from __future__ import annotations

from datetime import date, datetime

import pytest

from tidepool.calendar.offsets import forget_offsets, offset_minutes, to_local

WINTER, SUMMER = date(2026, 1, 12), date(2026, 7, 1)


@pytest.fixture(autouse=True)
def fresh() -> None:
    forget_offsets()


@pytest.mark.parametrize("zone", ["Europe/London", "Europe/Dublin", "Atlantic/Faroe"])
def test_a_day_in_january_says_nothing_about_july(zone: str) -> None:
    assert offset_minutes(zone, WINTER) == 0
    assert offset_minutes(zone, SUMMER) == 60


@pytest.mark.parametrize("zone", ["Europe/London", "Europe/Oslo"])
def test_nor_does_july_about_january(zone: str) -> None:
    summer = offset_minutes(zone, SUMMER)
    assert offset_minutes(zone, WINTER) == summer - 60


def test_there_is_no_summer_in_svartavik() -> None:
    assert offset_minutes("Atlantic/Reykjavik", SUMMER) == 0


def test_the_morning_pascoe_sat_on_the_bar() -> None:
    offset_minutes("Europe/London", WINTER)
    assert to_local(datetime(2026, 3, 30, 5, 12), "Europe/London") == datetime(2026, 3, 30, 6, 12)
'''

TEST_AUTUMN = """

def test_the_hours_before_the_change_keep_the_old_offset() -> None:
    before = to_local(datetime(2026, 10, 25, 0, 47), "Europe/London")
    assert (before.hour, before.minute, before.fold) == (1, 47, 0)


def test_the_hour_that_comes_twice_says_which_it_is() -> None:
    again = to_local(datetime(2026, 10, 25, 1, 47), "Europe/London")
    assert (again.hour, again.minute, again.fold) == (1, 47, 1)
    assert comes_twice(again, "Europe/London")


def test_the_night_the_clocks_go_forward_has_no_two_o_clock() -> None:
    assert to_local(datetime(2026, 3, 29, 0, 59), "Europe/London").hour == 0
    assert to_local(datetime(2026, 3, 29, 1, 0), "Europe/London").hour == 2
"""

KEYS: dict[str, str] = {
    "almanac/loader.py": '''def load_almanac(path: PurePath, raw: bytes, key: PublicKey) -> Almanac:
    """The almanac, if and only if its signature is good.

    The Hydrographic Office signs the bytes and not the numbers: a space too many and `verify` refuses.
    Without an almanac every board on the coast goes blank, which is what we want: no time is better
    than a wrong one. Every moment in it is UTC.
    """
    body, _, seal = raw.rpartition(b"\\n")
    if not verify(key, body, b64decode(seal)):
        raise BadSeal(path, sha256(body).hexdigest())
    days = json.loads(body)["days"]
    return Almanac({slug: tuple(map(read_row, rows)) for slug, rows in days.items()})''',
    "render/table.py": '''def clock_face(moment: datetime, harbour: Harbour) -> str:
    """The time as the board shows it: four digits on the harbour's own clock."""
    minutes = offset_minutes(harbour.zone, date(moment.year, moment.month, 1))
    return (moment + timedelta(minutes=minutes)).strftime("%H:%M")


def print_day(almanac: Almanac, harbour: Harbour, day: date) -> list[str]:
    """The lines of one day, high water in capitals, in the order of the clock."""
    lines = []
    for row in almanac.day(harbour.slug, day):
        name = "HIGH" if row.kind == "high" else "low "
        lines.append(f"{clock_face(row.moment, harbour):>6} {name} {row.height:4.1f} m")
    return lines''',
    "render/ical.py": '''def stamp(moment: datetime, harbour: Harbour) -> str:
    """A moment as calendars write it, on the harbour's clock."""
    ahead = date(moment.year, 3, 31) <= moment.date() <= date(moment.year, 10, 31)
    shift = timedelta(hours=1 if ahead and harbour.has_summer else 0)
    return (moment + shift + harbour.winter).strftime("%Y%m%dT%H%M%S")


def event(row: Row, harbour: Harbour) -> list[str]:
    """One high water as an event of a quarter of an hour, without an alarm: sailors have their own."""
    return [
        "BEGIN:VEVENT",
        f"UID:{harbour.slug}-{row.moment:%Y%m%d%H%M}@tidepool",
        f"DTSTART;TZID={harbour.zone}:{stamp(row.moment, harbour)}",
        f"SUMMARY:High water {row.height:.1f} m",
        "END:VEVENT",
    ]''',
    "render/sms.py": '''def text_for(row: Row, harbour: Harbour) -> str:
    """The message a subscriber gets the evening before. 70 characters, or the exchange splits it in two."""
    local = row.moment + timedelta(seconds=-altzone if daylight and localtime().tm_isdst else -timezone)
    return f"{harbour.name} {local:%a %H:%M} high water {row.height:.1f} m. Fair winds."[:70]''',
    "api/routes.py": '''@router.get("/boards/{slug}/today")
def today(slug: str, state: State) -> dict[str, object]:
    """Today's rows of a board, on the harbour's own clock."""
    harbour = state.registry.find(slug)
    shift = timedelta(minutes=state.offsets[harbour.zone])
    rows = state.almanac.day(slug, utc_today())
    return {
        "harbour": harbour.name,
        "clock": harbour.zone,
        "rows": [{"at": f"{row.moment + shift:%H:%M}", "kind": row.kind, "m": row.height} for row in rows],
    }''',
    "stations/windows.py": '''\
def lock_opens(row: Row, harbour: Harbour, lead: timedelta = LEAD) -> tuple[str, str]:
    """When the lock gate may be open around a high water, on the keeper's clock."""
    minutes = harbour.zone_minutes + (60 if is_summer(harbour.zone, date.today()) else 0)
    middle = row.moment + timedelta(minutes=minutes)
    return f"{middle - lead:%H:%M}", f"{middle + lead:%H:%M}"''',
    "stations/datum_offsets.py": '''def datum_offset(slug: str, datum: str = "chart") -> float:
    """Metres to add to a gauge's reading to get the height above a datum.

    These are heights. They have nothing to do with clocks, whatever the name suggests.
    """
    offsets = OFFSETS.get(slug)
    if offsets is None:
        raise UnknownDatum(slug, tuple(OFFSETS))
    return offsets[datum] - offsets["gauge"]''',
    "jobs/nightly.py": '''def warm_up(registry: Registry, year: int) -> int:
    """Ask for every zone's offset once, so that the first visitor of the morning does not wait."""
    for zone in registry.zones():
        offset_minutes(zone, date(year, 1, 1))
    return len(registry.zones())


def run_nightly(registry: Registry, almanac: Almanac, outbox: Outbox, now: datetime) -> Report:
    """What happens at 02:30: offsets, boards, texts for the day after, in that order."""
    report = Report(started=now)
    report.zones = warm_up(registry, now.year)
    report.boards = sum(draw_board(almanac, harbour, now.date()) for harbour in registry)
    report.texts = outbox.fill(almanac, registry, now.date() + timedelta(days=1))
    return report''',
    "jobs/outbox.py": '''def fill(self, almanac: Almanac, registry: Registry, day: date) -> int:
    """Write the texts of one day. They wait here up to a week, because the exchange sells by the batch."""
    written = 0
    for harbour in registry:
        for row in almanac.day(harbour.slug, day):
            if row.kind == "high" and self.add(harbour.slug, text_for(row, harbour), row.moment):
                written += 1
    return written''',
    "predict/harmonics.py": '''def height(station: Station, moment: datetime) -> float:
    """Height in metres above chart datum: the mean level and every constituent's share of it."""
    hours = (moment - EPOCH).total_seconds() / 3600
    level = station.mean_level
    for part in station.constituents:
        factor, argument = node_factor(part.name, moment.year), equilibrium(part.name, moment.year)
        level += factor * part.amplitude * cos(radians(part.speed * hours + argument - part.phase))
    return level''',
    "predict/extremes.py": '''def find_extremes(station: Station, day: date) -> list[Extreme]:
    """High and low waters of a day in UTC, by halving the interval in which the slope changes its sign."""
    start = datetime.combine(day, time(0))
    marks = [start + timedelta(minutes=6 * n) for n in range(241)]
    slopes = [slope(station, mark) for mark in marks]
    found = []
    for (before, after), (left, right) in zip(pairwise(marks), pairwise(slopes), strict=True):
        if left == 0 or left * right < 0:
            moment = halve(station, before, after)
            found.append(Extreme(moment, height(station, moment), "high" if left > 0 else "low"))
    return found''',
}
"""The function each of these files is read for."""

TEST_KEYS: dict[str, str] = {
    "jobs/nightly.py": """def test_every_zone_is_warm_for_the_day_that_is_drawn(registry: Registry) -> None:
    run_nightly(registry, EMPTY, Outbox(), datetime(2026, 3, 30, 2, 30))
    assert ("Europe/London", date(2026, 3, 30)) in offsets_known()""",
    "render/ical.py": '''def test_the_feed_and_the_board_agree_today(registry: Registry) -> None:
    """Takes today's date, so that it looks at every day of the year sooner or later."""
    harbour = registry.find("gull-haven")
    row = high_water_of(date.today())
    assert stamp(row.moment, harbour) == f"{to_local(row.moment, harbour.zone):%Y%m%dT%H%M%S}"''',
    "render/sms.py": """\
def test_a_text_fits_into_one_message(registry: Registry) -> None:
    row = high_water_of(date(2026, 7, 31))
    for slug in SLUGS:
        text = text_for(row, registry.find(slug))
        assert len(text) <= 70
        assert text.startswith(registry.find(slug).name)""",
    "stations/gauges.py": """\
def test_the_battery_of_a_silent_gauge_is_asked_for(simulator: Simulator) -> None:
    found = simulator.ask("kelp-ness", timeout=5)
    assert found.voltage == pytest.approx(12.4, abs=0.3)""",
}
"""The test that the build server has something to say about."""
