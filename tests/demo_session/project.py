"""The project the agent works on: "tidepool", tide tables for forty small harbours. Made up throughout.

Out comes a tree of files, path to text, always the same.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from inspector.demo import LOST_PATH

from . import pages
from .chance import Chance
from .coast import CONSTITUENTS, HARBOURS
from .fragments import KEYS, OFFSETS, TEST_KEYS
from .patterns import FUNCTIONS, IMPORTS, TESTS, TYPES

ROOT = "/home/marit/tidepool"


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
    "almanac/loader.py": (
        "The signed almanac: read, checked, never written",
        "almanac row/height/metres, seal/age/days, almanac year/share/percent",
    ),
    "render/table.py": (
        "The table on the board",
        "table row/height/metres, board column/width/millimetres, heading/depth/points",
    ),
    "render/ical.py": (
        "The calendar that sailors subscribe to",
        "calendar event/length/minutes, feed/size/kilobytes, alarm/lead/minutes",
    ),
    "render/sms.py": (
        "Text messages for those without a screen",
        "text message/length/characters, subscriber/patience/days, quiet hour/start/hours",
    ),
    "api/routes.py": (
        "What boards and telephones ask for",
        "board request/latency/milliseconds, answer/size/kilobytes, visitor/rate/per-minute",
    ),
    "stations/windows.py": (
        "When lock gates may be open",
        "lock window/lead/minutes, gate/draught/metres, passage/width/metres",
    ),
    "stations/datum_offsets.py": (
        "Heights of gauges above their datum",
        "datum offset/height/metres, levelling/error/millimetres, benchmark/drift/millimetres",
    ),
    "stations/gauges.py": (
        "Readings of the gauges, as they come in by radio",
        "gauge reading/level/metres, battery report/voltage/volts, radio frame/strength/decibels",
    ),
    "jobs/nightly.py": (
        "What happens while the harbour sleeps",
        "nightly run/duration/seconds, night report/weight/grams, board picture/width/pixels",
    ),
    "jobs/outbox.py": (
        "Texts that wait for the exchange",
        "waiting text/delay/hours, batch price/amount/pence, receipt/age/hours",
    ),
    "predict/harmonics.py": (
        "Heights out of constituents",
        "constituent/amplitude/metres, node factor/ratio/parts, phase lag/angle/degrees",
    ),
    "predict/extremes.py": (
        "High and low water",
        "extreme/height/metres, turning point/slope/metres-per-hour, stand of tide/length/minutes",
    ),
    "predict/surge.py": (
        "What wind and pressure add",
        "surge/height/metres, pressure reading/pressure/hectopascals, wind report/speed/knots",
    ),
    "stations/moorings.py": (
        "Who lies where, and how deep",
        "mooring/depth/metres, swing circle/radius/metres, visitor berth/fee/pounds",
    ),
}
"""By path inside the package: what the module is about, and its things as words/field/unit."""


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
    parts = [_TEST_HEAD.format(title=title, module=dotted)]
    wide, narrow = TESTS[:2], TESTS[2:]
    parts += [pattern.substitute(things[0].slots(chance)) for pattern in wide[chance.below(3) % 2 :]]
    for thing in things:
        slot = thing.slots(chance)
        parts += [pattern.substitute(slot) for pattern in chance.take(narrow, 3)]
    parts += [TEST_KEYS[path]] if path in TEST_KEYS else []
    return "\n\n\n".join(parts) + "\n"


_TEST_HEAD = '''"""{title}: what must hold."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from tidepool.{module} import *
from tests.coast import SLUGS

NOON = datetime(2026, 6, 21, 12)'''


def _registry() -> str:
    head = '''\
"""Every harbour with a board. The clerk in Gull Haven keeps this list; ask before you sort it."""

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
    head = '"""Speeds of the tidal constituents in degrees per hour."""\n'
    return "\n".join([head, "from tidepool.predict.speed import Speed\n", "SPEEDS = (", *rows, ")\n"])


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


@cache
def make_project() -> dict[str, str]:
    """Every file of the project by its path. Take a copy before you change anything."""
    tree = {
        "CHANGELOG.md": pages.CHANGELOG,
        "README.md": pages.README,
        "data/almanac.json": _almanac(),
        "docs/runbook.md": pages.RUNBOOK,
        LOST_PATH: OFFSETS,
        "src/tidepool/predict/constituents.py": _constituents(),
        "src/tidepool/static/board.js": pages.SCRIPT,
        "src/tidepool/stations/registry.py": _registry(),
        "src/tidepool/templates/board.html": pages.BOARD,
    }
    for path in _SUBJECTS:
        folder, _, name = path.partition("/")
        tree[f"src/tidepool/{path}"] = make_module(path)
        tree[f"tests/{folder}/test_{name}"] = make_tests(path)
    return dict(sorted(tree.items()))
