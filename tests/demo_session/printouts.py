"""What the commands of the story print: logs, boards, profiles, reports of failed tests."""

from __future__ import annotations

from .chance import Chance
from .coast import CONSTITUENTS, HARBOURS

HISTORY = """a41c7d0 Paper boards: number the pages
9be0213 Kelp Ness: be silent for two days before waking anybody
5d2f8aa Merge branch 'berths'
c07e551 Visitor berths: fees for multihulls
18c3b6e almanac: edition 2026
f96d02b offsets: remember what zoneinfo said, the Pi at Wick Sound needs 40 ms a look
73ab0c4 sms: cut at 70 characters
e5509d1 sms: say "fair winds" again, people missed it
2b7f6e8 ical: drop alarms
0c9d3f3 lock at Oyster Hythe: 2.4 m draught
b8e1742 nightly: warm up before drawing
61fa9c5 routes: keep offsets in the state of the app
d3970be Merge branch 'slate-boards'
44e8c10 board.js: keep the last answer when the line is down"""


TIMEDATE = """               Local time: Mon 2026-03-30 07:41:31 UTC
           Universal time: Mon 2026-03-30 07:41:31 UTC
                 RTC time: Mon 2026-03-30 07:41:31
                Time zone: Etc/UTC (UTC, +0000)"""

TODAY_COMMAND = 'grep -o \'2026-03-30T0[0-9]:[0-9]*Z", "high", [0-9.]*\' data/almanac.json | head -3'
TODAY = "\n".join(
    f'2026-03-30T{at}Z", "high", {m}' for at, m in (("05:12", 4.41), ("05:40", 5.02), ("04:58", 3.77))
)

HEADERS = """HTTP/1.1 200 OK
date: Mon, 30 Mar 2026 14:50:12 GMT
server: uvicorn
content-length: 312
content-type: application/json
cache-control: no-store"""

GAUGE_HISTORY = """e71c0aa 2026-03-11 gauges: give the simulator five seconds
90d4be1 2025-12-02 gauges: batteries
3f8a6d2 2025-11-19 gauges: first tests"""

NO_NAME = """==================================== ERRORS ====================================
_________________ ERROR collecting tests/calendar/test_offsets.py _________________
ImportError while importing test module '/home/marit/tidepool/tests/calendar/test_offsets.py'.
tests/calendar/test_offsets.py:9: in <module>
    from tidepool.calendar.offsets import forget_offsets, offset_minutes, to_local
E   ImportError: cannot import name 'forget_offsets' from 'tidepool.calendar.offsets'
=========================== short test summary info ============================
ERROR tests/calendar/test_offsets.py
1 error in 0.22s"""

FIVE_PLACES = """Five places turn UTC into local time without the shared helper:

| file | function | how it does it |
|---|---|---|
| `src/tidepool/render/table.py` | `clock_face` | offset of the first of the month |
| `src/tidepool/render/ical.py` | `stamp` | summer is 31 March to 31 October, always |
| `src/tidepool/render/sms.py` | `text_for` | the machine's own zone |
| `src/tidepool/api/routes.py` | `today` | offsets kept when the app starts |
| `src/tidepool/stations/windows.py` | `lock_opens` | winter minutes plus today's summer |

`almanac/` and `predict/` stay in UTC throughout."""

NORTH = """gull-haven    Europe/London          60    60     0
anner-bay     Europe/Dublin          60    60     0
port-ormer    Europe/Jersey          60    60     0
tindholm      Atlantic/Faroe         60    60     0
vestervag     Atlantic/Faroe         60    60     0
sundsker      Atlantic/Faroe         60    60     0
svartavik     Atlantic/Reykjavik      0     0     0
kria-bank     Atlantic/Reykjavik      0     0     0
lundahofn     Atlantic/Reykjavik      0     0     0
skarvik       Europe/Oslo           120   120    60
nordeskjer    Europe/Oslo           120   120    60
svanevag      Europe/Oslo           120   120    60
torskholm     Europe/Oslo           120   120    60"""

MAY = """DTSTART;TZID=Europe/London:20260511T073100
DTSTART;TZID=Europe/London:20260512T082900
DTSTART;TZID=Europe/London:20260513T092500
DTSTART;TZID=Europe/London:20260514T101900
DTSTART;TZID=Europe/London:20260515T111100
DTSTART;TZID=Europe/London:20260516T120200
DTSTART;TZID=Europe/London:20260517T125200
DTSTART;TZID=Europe/London:20260518T134300"""


def ask_twice(first: str, second: str) -> str:
    """A one-liner that asks for two days in one process."""
    return (
        '.venv/bin/python -c "\nfrom datetime import date\n'
        "from tidepool.calendar.offsets import offset_minutes as minutes\n"
        f"print(*(minutes('Europe/London', day) for day in (date({first}), date({second}))))\""
    )


def journal(day: str, hour: int, count: int) -> str:
    """Lines of the service's log from an hour on."""
    chance, lines, second = Chance(f"journal {day} {hour}"), [], hour * 3600
    for _ in range(count):
        second += 3 + chance.below(70)
        harbour = chance.pick(HARBOURS)
        slug = harbour.slug
        what = chance.pick(
            (
                f"INFO api GET /boards/{slug}/today 200 {1 + chance.below(40)} ms",
                f"INFO api GET /boards/{slug}/today 304 {1 + chance.below(6)} ms",
                f"INFO render.table drew {slug}, {6 + chance.below(5)} rows, offset of {harbour.zone} known",
                f"INFO stations.gauges {slug} {chance.between(0.2, 6.1):.2f} m, {120 + chance.below(11)} dV",
                f"WARNING stations.gauges {slug} silent for {20 + chance.below(200)} minutes",
                f"INFO jobs.outbox {slug}: {chance.below(19)} texts wait for the exchange",
            )
        )
        clock = f"{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}"
        lines.append(f"{day} {clock} wall-clock tidepool[412]: {what}")
    return "\n".join(lines)


def board(harbour: str, *times: str) -> str:
    """The API's answer for a harbour's day: high, low, high, low."""
    heights = (4.4, 1.0, 4.2, 0.9)
    rows = ",\n".join(
        f'    {{"at": "{at}", "kind": "{("high", "low")[n % 2]}", "m": {heights[n % 4]}}}'
        for n, at in enumerate(times)
    )
    return f'{{\n  "harbour": "{harbour}",\n  "clock": "Europe/London",\n  "rows": [\n{rows}\n  ]\n}}'


PRINT_WEEK = ".venv/bin/python -m tidepool print penmor --week 2026-10-19"


def printed_week(late: dict[str, str]) -> str:
    """The week in October as the paper table; `late` has times that come out differently, by day and tide."""
    chance, lines = Chance("october"), [f"PENMOR, October 2026{'':14}by the clock on the wall", ""]
    for n, name in enumerate(("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")):
        minute = 47 + (n - 6) * 49 + (0 if n == 6 else 60)
        day = []
        for k in range(4):
            at = (minute + k * 372 + 2880) % 1440
            clock = late.get(f"{n}.{k}", f"{at // 60:02d}:{at % 60:02d}")
            height = chance.between(0.4, 1.2) if k % 2 else chance.between(4.6, 5.6)
            day.append(f"{clock:>6} {'low ' if k % 2 else 'HIGH'} {height:.1f} m")
        lines.append(f"{name} {19 + n}  " + "  ".join(day))
    return "\n".join(lines)


OCTOBER_COMMAND = "grep -o '\\[\"2026-10-2[45][^]]*\\]' data/almanac.json | head -60"
NIGHT_COMMAND = "grep -o '\\[\"2026-10-25[^]]*\\]' data/almanac.json | head -30"


def october(count: int) -> str:
    """Rows of the almanac around the night when the clocks go back; Penmor's is the first."""
    chance, lines = Chance("rows of october"), ['["2026-10-25T00:47Z", "high", 5.21]']
    while len(lines) < count:
        minute, high = chance.below(1440), chance.below(2)
        height = chance.between(3.1, 6.0) if high else chance.between(0.3, 1.3)
        kind = "high" if high else "low"
        lines.append(f'["2026-10-25T{minute // 60:02d}:{minute % 60:02d}Z", "{kind}", {height:.2f}]')
    return "\n".join(lines)


def profile() -> str:
    """Where the time goes in the slow tests."""
    lines = [
        "         186437201 function calls (186425846 primitive calls) in 231.408 seconds",
        "",
        "   Ordered by: cumulative time",
        "",
        "   ncalls  tottime  percall  cumtime  percall filename:lineno(function)",
        "    10640   19.442    0.002  226.871    0.021 extremes.py:104(find_extremes)",
        "  2575121   61.208    0.000  207.429    0.000 harmonics.py:131(height)",
        " 90129235   98.774    0.000  121.650    0.000 harmonics.py:166(node_factor)",
        " 90129235   20.119    0.000   22.876    0.000 harmonics.py:171(equilibrium)",
    ]
    chance = Chance("profile")
    for name, _, words in CONSTITUENTS[:26]:
        calls, spent = 2000 + chance.below(90000), chance.between(0.002, 1.4)
        place = f"tables.py:{20 + chance.below(400)}({name.lower()}_{words.split()[-1]})"
        lines.append(f"{calls:>9} {spent:>8.3f}    0.000 {spent * 1.3:>8.3f}    0.000 {place}")
    return "\n".join(lines)


def failure(test: str, *lines: str) -> str:
    """pytest's report of one failed test."""
    name = test.rpartition("::")[2]
    return "\n".join([f"{'_' * 10} {name} {'_' * 10}", "", *lines, ""])


def _wrong(what: str, was: int, wanted: int) -> tuple[str, ...]:
    return (
        f">   assert {what} == {wanted}",
        f"E   assert {was} == {wanted}",
        f"E    +  where {was} = {what}",
    )


def three_seasons(tests: str) -> dict[str, str]:
    """How the new tests fail while offsets are still kept by year."""
    january = f"{tests}::test_a_day_in_january_says_nothing_about_july[Europe/London]"
    july = f"{tests}::test_nor_does_july_about_january[Europe/London]"
    pascoe = f"{tests}::test_the_morning_pascoe_sat_on_the_bar"
    return {
        january: failure(january, *_wrong("offset_minutes('Europe/London', SUMMER)", 0, 60)),
        july: failure(july, *_wrong("offset_minutes('Europe/London', WINTER)", 60, 0)),
        pascoe: failure(pascoe, *_wrong("to_local(moment, 'Europe/London').hour", 5, 6)),
    }


NIGHT = "tests/jobs/test_nightly.py::test_every_zone_is_warm_for_the_day_that_is_drawn"
FEED = "tests/render/test_ical.py::test_the_feed_and_the_board_agree_today"
BATTERY = "tests/stations/test_gauges.py::test_the_battery_of_a_silent_gauge_is_asked_for"
RED = {
    NIGHT: failure(
        NIGHT,
        '>   assert ("Europe/London", date(2026, 3, 30)) in offsets_known()',
        "E   AssertionError: assert ('Europe/London', 2026-03-30) in {('Europe/London', 2026-01-01): 0, ...}",
    ),
    FEED: failure(
        FEED,
        '>   assert stamp(row.moment, harbour) == f"{to_local(row.moment, harbour.zone):%Y%m%dT%H%M%S}"',
        "E   AssertionError: assert '20260330T051200' == '20260330T061200'",
    ),
    BATTERY: failure(
        BATTERY,
        '>   found = simulator.ask("kelp-ness", timeout=5)',
        "E   TimeoutError: the gauge simulator did not answer in 5 s",
    ),
}


PACKAGES = (
    "anyio==4.9.0",
    "fastapi==0.120.1",
    "icalendar==6.3.1",
    "pydantic==2.12.4",
    "pytest==8.4.2",
    "starlette==0.49.1",
    "tzdata==2025.3",
    "uvicorn==0.38.0",
)


def ci_log(run: int, report: str) -> str:
    """A whole run of the build server."""
    head = [
        f"run {run} on branch clock-change, image python:3.12-slim, 4 cores",
        *(f"  + {package}" for package in PACKAGES),
        "TZ=UTC PYTHONHASHSEED=0 .venv/bin/pytest -v -o console_output_style=classic",
        "============================= test session starts ==============================",
    ]
    return "\n".join([*head, report])


def outbox(seed: str) -> str:
    """Texts that wait for the exchange."""
    chance = Chance(f"outbox {seed}")
    rows = []
    for harbour in HARBOURS[:28]:
        clock = f"{chance.below(24):02d}:{chance.below(60):02d}"
        text = f"{harbour.name} Tue {clock} high water {harbour.high:.1f} m. Fair winds."
        rows.append(f"{harbour.slug:<16} for 2026-03-31, queued 2026-03-29 22:00: {text}")
    return "\n".join(rows)


def year_feed(count: int) -> str:
    """The calendar of a harbour, as boats fetch it: the first events of a year."""
    chance, lines = Chance("feed"), ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//tidepool//tides//EN"]
    for n in range(count):
        minute = 312 + n * 745 + chance.below(9)
        day, rest = divmod(minute, 1440)
        month, date = 5 + day // 31, 1 + day % 31
        at = f"2026{month:02d}{date:02d}T{rest // 60:02d}{rest % 60:02d}"
        lines += [
            "BEGIN:VEVENT",
            f"UID:lowen-cove-{at.replace('T', '')}@tidepool",
            f"DTSTART;TZID=Europe/London:{at}00",
            f"SUMMARY:High water {chance.between(3.6, 5.1):.1f} m",
            "END:VEVENT",
        ]
    return "\n".join([*lines, "END:VCALENDAR"])
