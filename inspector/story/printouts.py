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


def journal(day: str, hour: int, count: int) -> str:
    """Lines of the service's log from an hour on."""
    chance, lines, second = Chance(f"journal {day} {hour}"), [], hour * 3600
    for _ in range(count):
        second += 3 + chance.below(70)
        harbour = chance.pick(HARBOURS)
        what = chance.pick(
            (
                f"INFO api GET /boards/{harbour.slug}/today 200 {1 + chance.below(40)} ms",
                f"INFO api GET /boards/{harbour.slug}/today 304 {1 + chance.below(6)} ms",
                f"INFO render.table drew {harbour.slug}, {6 + chance.below(5)} rows, first offset of {harbour.zone} kept",
                f"INFO stations.gauges {harbour.slug} {chance.between(0.2, 6.1):.2f} m, battery {chance.between(11.6, 13.1):.1f} V",
                f"WARNING stations.gauges {harbour.slug} silent for {20 + chance.below(200)} minutes",
                f"INFO jobs.outbox {harbour.slug}: {chance.below(19)} texts wait for the exchange",
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


def printed_week(first: int, names: str, late: dict[str, str]) -> str:
    """A week of October as the paper table; `late` replaces times that come out differently."""
    chance, lines = Chance("october"), [f"PENMOR, October 2026{'':14}by the clock on the wall", ""]
    for n, name in enumerate(names.split()):
        minute = 47 + (n - 6) * 49 + (0 if n == 6 else 60)
        day = []
        for k in range(4):
            at = (minute + k * 372 + 2880) % 1440
            clock = f"{at // 60:02d}:{at % 60:02d}"
            height = chance.between(4.6, 5.6) if k % 2 == 0 else chance.between(0.4, 1.2)
            day.append(f"{late.get(f'{n}.{k}', clock):>7} {'HIGH' if k % 2 == 0 else 'low '} {height:.1f} m")
        lines.append(f"{name} {first + n:>2}  " + "  ".join(day))
    return "\n".join(lines)


def profile() -> str:
    """Where the time goes in the slow tests."""
    lines = [
        "         48201377 function calls (48190022 primitive calls) in 231.408 seconds",
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


def ci_log(run: int, report: str) -> str:
    """A whole run of the build server."""
    packages = (
        "anyio fastapi httptools icalendar pydantic pytest pytest-randomly starlette tzdata uvicorn".split()
    )
    chance = Chance(f"run {run}")
    head = [
        f"run {run} on branch clock-change, image python:3.12-slim, 4 cores",
        *(f"  + {each}=={chance.below(4)}.{chance.below(30)}.{chance.below(9)}" for each in packages),
        "TZ=UTC PYTHONHASHSEED=0 .venv/bin/pytest -v -o console_output_style=classic",
        "============================= test session starts ==============================",
    ]
    return "\n".join([*head, report])


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
