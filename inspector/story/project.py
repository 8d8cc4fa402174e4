"""The project the agent works on: "tidepool", tide tables for forty small harbours. Made up throughout.

Out comes a tree of files, path to text, always the same.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from .chance import Chance
from .coast import CONSTITUENTS, HARBOURS
from .fragments import KEYS, OFFSETS, TEST_KEYS
from .patterns import FUNCTIONS, IMPORTS, TESTS, TYPES

ROOT = "/home/marit/tidepool"
LOST_PATH = "src/tidepool/calendar/offsets.py"


class Thing(NamedTuple):
    """Something a module is about: in plain words, what is measured of it, and in what."""

    words: str
    field: str
    unit: str

    def slots(self, chance: Chance) -> dict[str, str]:
        name = self.words.replace(" ", "_")
        most = 8 if self.unit.startswith("metres") else 60
        low, high = round(chance.between(0.05, 0.9), 2), round(chance.between(4, most), 1)
        return {
            "words": self.words,
            "thing": name,
            "things": name + "s",
            "Thing": self.words.title().replace(" ", ""),
            "field": self.field,
            "unit": self.unit,
            "low": f"{low}",
            "high": f"{high}",
            "mid": f"{round((low + high) / 2, 2)}",
            "number": str(3 + chance.below(22)),
            "harbour": chance.pick(HARBOURS).name,
            "slug": chance.pick(HARBOURS).slug,
        }


_SUBJECTS = {
    "almanac/loader.py": ("The signed almanac: read, checked, never written", "almanac row/height/metres, seal/age/days, almanac year/share/percent"),
    "render/table.py": ("The table on the board", "table row/height/metres, board column/width/millimetres, heading/depth/points"),
    "render/ical.py": ("The calendar that sailors subscribe to", "calendar event/length/minutes, feed/size/kilobytes, alarm/lead/minutes"),
    "render/sms.py": ("Text messages for those without a screen", "text message/length/characters, subscriber/patience/days, quiet hour/start/hours"),
    "api/routes.py": ("What boards and telephones ask for", "board request/latency/milliseconds, answer/size/kilobytes, visitor/rate/per-minute"),
    "stations/windows.py": ("When lock gates may be open", "lock window/lead/minutes, gate/draught/metres, passage/width/metres"),
    "stations/datum_offsets.py": ("Heights of gauges above their datum", "datum offset/height/metres, levelling/error/millimetres, benchmark/drift/millimetres"),
    "stations/gauges.py": ("Readings of the gauges, as they come in by radio", "gauge reading/level/metres, battery report/voltage/volts, radio frame/strength/decibels"),
    "jobs/nightly.py": ("What happens while the harbour sleeps", "nightly run/duration/seconds, night report/weight/grams, board picture/width/pixels"),
    "jobs/outbox.py": ("Texts that wait for the exchange", "waiting text/delay/hours, batch price/amount/pence, receipt/age/hours"),
    "predict/harmonics.py": ("Heights out of constituents", "constituent/amplitude/metres, node factor/ratio/parts, phase lag/angle/degrees"),
    "predict/extremes.py": ("High and low water", "extreme/height/metres, turning point/slope/metres-per-hour, stand of tide/length/minutes"),
    "predict/surge.py": ("What wind and pressure add", "surge/height/metres, pressure reading/pressure/hectopascals, wind report/speed/knots"),
    "stations/moorings.py": ("Who lies where, and how deep", "mooring/depth/metres, swing circle/radius/metres, visitor berth/fee/pounds"),
}  # fmt: skip


def make_module(path: str) -> str:
    """A module of the package: its types, its ordinary functions, and the one the story needs."""
    chance = Chance(path)
    title, list_of = _SUBJECTS[path]
    things = [Thing(*each.split("/")) for each in list_of.split(", ")]
    slots = [thing.slots(chance) for thing in things]
    parts = []
    parts.append(f'log = logging.getLogger("tidepool.{path[:-3].replace("/", ".")}")')
    parts += [chance.pick(TYPES[:1] if at == 0 else TYPES).substitute(slot) for at, slot in enumerate(slots)]
    chosen = chance.take(
        [(pattern, slot) for pattern in FUNCTIONS for slot in slots[:2]], 10 + chance.below(5)
    )
    parts += [pattern.substitute(slot) for pattern, slot in chosen]
    if path in KEYS:
        parts.insert(len(slots) + 2 + chance.below(6), KEYS[path])
    body = "\n\n\n".join(parts)
    return f'"""{title}."""\n\n{_imports_for(body)}\n{body}\n'


def _imports_for(body: str) -> str:
    """Only what the body names."""
    lines = []
    for line in IMPORTS.splitlines():
        source, imported, names = line.partition(" import ")
        used = [name for name in names.split(", ") if re.search(rf"\b{name}\b", body)]
        if used and imported:
            lines.append(f"{source} import {', '.join(used)}")
        elif line.startswith("import ") or not line:
            lines.append(line)
    return "\n".join(["from __future__ import annotations", *lines]).rstrip("\n") + "\n"


def make_tests(path: str) -> str:
    """The tests of a module of the package."""
    chance = Chance(f"tests of {path}")
    title, list_of = _SUBJECTS[path]
    things = [Thing(*each.split("/")) for each in list_of.split(", ")]
    dotted = path[:-3].replace("/", ".")
    parts = [
        f'"""{title}: what must hold."""\n\nfrom __future__ import annotations\n\n'
        f"from datetime import datetime, timedelta\n\nimport pytest\n\nfrom tidepool.{dotted} import *\n"
        f"from tests.coast import SLUGS\n\nNOON = datetime(2026, 6, 21, 12)"
    ]
    wide, narrow = TESTS[:2], TESTS[2:]
    parts += [pattern.substitute(things[0].slots(chance)) for pattern in wide[chance.below(3) % 2 :]]
    for thing in things:
        slot = thing.slots(chance)
        parts += [pattern.substitute(slot) for pattern in chance.take(narrow, 3)]
    parts += [TEST_KEYS[path]] if path in TEST_KEYS else []
    return "\n\n\n".join(parts) + "\n"


def _registry() -> str:
    head = '''"""Every harbour with a board. The clerk in Gull Haven keeps this list; ask before you sort it."""

from __future__ import annotations

from tidepool.stations.harbour import Harbour

REGISTRY: tuple[Harbour, ...] = ('''
    rows = [
        f'''    Harbour(
        slug="{harbour.slug}",
        name="{harbour.name}",
        zone="{harbour.zone}",
        position=({harbour.lat}, {harbour.lon}),
        mean_high={harbour.high},
        board="{Chance(harbour.slug).pick(("enamel", "slate", "screen", "paper"))}",
    ),'''
        for harbour in HARBOURS
    ]
    return "\n".join([head, *rows, ")\n"])


def _constituents() -> str:
    rows = [f'    Speed("{name}", {speed}, "{words}"),' for name, speed, words in CONSTITUENTS]
    head = '"""Speeds of the tidal constituents in degrees per hour."""\n\nfrom tidepool.predict.speed import Speed\n'
    return "\n".join([head, "SPEEDS = (", *rows, ")\n"])


def _almanac() -> str:
    """The first days of the year for every harbour, as the Hydrographic Office lays them out."""
    lines = ['{"edition": "2026", "datum": "chart", "clock": "UTC", "days": {']
    for harbour in HARBOURS:
        chance, minute = Chance(f"almanac {harbour.slug}"), Chance(harbour.name).below(600)
        rows = []
        for n in range(8):
            day, hour = divmod(minute + n * 372 + chance.below(9), 1440)
            height = harbour.high + chance.between(-0.6, 0.6) if n % 2 else chance.between(0.2, 1.1)
            kind = "high" if n % 2 else "low"
            rows.append(
                f'["2026-01-{day + 1:02d}T{hour // 60:02d}:{hour % 60:02d}Z", "{kind}", {height:.2f}]'
            )
        lines.append(f'  "{harbour.slug}": [{", ".join(rows)}],')
    return "\n".join([*lines, "}}", Chance("seal").letters(86) + "==\n"])


_README = """# tidepool

Tide tables for forty small harbours, on boards, telephones and paper.

The Hydrographic Office sends a signed almanac once a year. This service reads it, turns its moments into
the clock on each harbour's wall, and shows them where people look: the board by the steps, a text message
the evening before, a calendar that boats subscribe to.

    make serve          the boards, on port 8400
    make test           all tests
    python -m tidepool print gull-haven 2026-06-21

Times inside are UTC and have no zone attached. Heights are metres above chart datum.

## Where things are

| folder | is |
|---|---|
| `almanac/` | reading the almanac and checking its seal |
| `predict/` | our own prediction, for harbours the almanac leaves out |
| `stations/` | harbours, gauges, datums, locks |
| `render/` | table, text message, calendar |
| `jobs/` | what happens at night |
| `api/` | what boards ask for |
"""

_RUNBOOK = """# When a board is wrong

Whoever is on call has this page and a telephone. Write down what you did and when.

## The board is blank

The almanac was refused. Look for `BadSeal` in the log; the line has the digest it found. Do not try to
mend the file. Ring the Hydrographic Office between eight and four; they send a fresh one within the hour.

## Heights are wrong

1. Compare with the gauge by the steps, not with memory.
2. `python -m tidepool gauge SLUG` prints the last six readings.
3. A constant difference is a datum, a growing one is a gauge that has come loose.

## Texts do not arrive

The exchange takes batches at six and at ten in the evening. `python -m tidepool outbox` shows what waits.

## Times are wrong

(nobody has written this yet)
"""

_CHANGELOG = """# Changes

## 4.7.0 - 2026-02-16

- Boards on paper have page numbers.
- The gauge at Kelp Ness may be silent for two days before anybody is woken.

## 4.6.2 - 2026-01-05

- New almanac. Harbours it leaves out are predicted as before.
- Texts are cut at 70 characters and no longer at 160.

## 4.6.1 - 2025-11-30

- The lock at Oyster Hythe opens for boats of up to 2.4 m draught.
"""

_BOARD = """<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>{{ harbour.name }}: tides today</title>
    <link rel="stylesheet" href="/static/board.css">
    <script type="module" src="/static/board.js"></script>
  </head>
  <body data-slug="{{ harbour.slug }}">
    <h1>{{ harbour.name }}</h1>
    <p class="clock">Times by the clock on the wall ({{ harbour.zone }})</p>
    <table id="tides"><caption>{{ day }}</caption></table>
    <footer>Not for navigation. Ask the harbour master.</footer>
  </body>
</html>
"""

_SCRIPT = """// Fills the board, and keeps the last answer for the nights when the line is down.
const KEEP = 26 * 60 * 60 * 1000;

export async function load(slug) {
  const kept = read(slug);
  if (kept && Date.now() - kept.at < KEEP) return kept.rows;
  const answer = await fetch(`/boards/${slug}/today`);
  if (!answer.ok) return kept ? kept.rows : [];
  const { rows } = await answer.json();
  localStorage.setItem(`tides:${slug}`, JSON.stringify({ at: Date.now(), rows }));
  return rows;
}

function read(slug) {
  try {
    return JSON.parse(localStorage.getItem(`tides:${slug}`));
  } catch {
    return null;
  }
}

export function draw(table, rows) {
  for (const row of rows) {
    const line = table.insertRow();
    line.className = row.kind;
    for (const words of [row.at, row.kind === "high" ? "HIGH" : "low", `${row.m.toFixed(1)} m`]) {
      line.insertCell().textContent = words;
    }
  }
}

const slug = document.body.dataset.slug;
load(slug).then((rows) => draw(document.querySelector("#tides"), rows));
"""


@cache
def make_project() -> dict[str, str]:
    """Every file of the project by its path. Take a copy before you change anything."""
    tree = {
        "CHANGELOG.md": _CHANGELOG,
        "README.md": _README,
        "data/almanac.json": _almanac(),
        "docs/runbook.md": _RUNBOOK,
        LOST_PATH: OFFSETS,
        "src/tidepool/predict/constituents.py": _constituents(),
        "src/tidepool/static/board.js": _SCRIPT,
        "src/tidepool/stations/registry.py": _registry(),
        "src/tidepool/templates/board.html": _BOARD,
    }
    for path in _SUBJECTS:
        folder, _, name = path.partition("/")
        tree[f"src/tidepool/{path}"] = make_module(path)
        tree[f"tests/{folder}/test_{name}"] = make_tests(path)
    return dict(sorted(tree.items()))
