"""Monday afternoon, turns 7 to 14, up to the moment when the window is full."""

from __future__ import annotations

from .checkout import Checkout, todo
from .printouts import failure, journal, printed_week, profile
from .recorder import Recorder

TABLE, FEED, TEXTS = (f"src/tidepool/render/{name}.py" for name in ("table", "ical", "sms"))
ROUTES, WINDOWS = "src/tidepool/api/routes.py", "src/tidepool/stations/windows.py"
OUTBOX, HARMONICS = "src/tidepool/jobs/outbox.py", "src/tidepool/predict/harmonics.py"
SCRIPT, PAGE, RUNBOOK = "src/tidepool/static/board.js", "src/tidepool/templates/board.html", "docs/runbook.md"
OLD_IMPORT = "from tidepool.calendar.offsets import offset_minutes\n"
NEW_IMPORT = "from tidepool.calendar.offsets import to_local\n"
FIVE = tuple(
    f"Move {name} to the helper"
    for name in ("the table", "the calendar", "the texts", "the API", "the locks")
)


def tell_afternoon(desk: Recorder, tree: Checkout) -> None:
    for turn in (
        _move_all_five,
        _check_the_north,
        _rewrite_waiting_texts,
        _free_the_regatta,
        _speed_up,
        _ask_before_keeping,
        _write_the_runbook,
        _look_at_autumn,
    ):
        turn(desk, tree)


def _move_all_five(desk: Recorder, tree: Checkout) -> None:
    desk.user("Yes, all five, please. One commit each, so that I can read them over lunch.", wait=150)
    desk.reply("", todo(*FIVE), sealed=True)
    desk.reply(
        "The table first; I have it in front of me.",
        tree.edit(
            TABLE,
            "    minutes = offset_minutes(harbour.zone, date(moment.year, moment.month, 1))\n"
            '    return (moment + timedelta(minutes=minutes)).strftime("%H:%M")',
            '    return to_local(moment, harbour.zone).strftime("%H:%M")',
        ),
        tree.edit(TABLE, OLD_IMPORT, NEW_IMPORT),
    )
    desk.reply("", tree.test("tests/render/test_table.py", seconds=0.9))
    desk.reply("", tree.commit("Table: ask the helper for local time"), todo(*FIVE, done=1))
    desk.reply("", tree.read(FEED))
    desk.reply(
        "The calendar has summer written into it as 31 March to 31 October. That is right in one year out of seven.",
        tree.edit(
            FEED,
            "    ahead = date(moment.year, 3, 31) <= moment.date() <= date(moment.year, 10, 31)\n"
            "    shift = timedelta(hours=1 if ahead and harbour.has_summer else 0)\n"
            '    return (moment + shift + harbour.winter).strftime("%Y%m%dT%H%M%S")',
            '    return to_local(moment, harbour.zone).strftime("%Y%m%dT%H%M%S")',
        ),
        tree.edit(
            FEED,
            "from tidepool.almanac.model import Row\n",
            "from tidepool.almanac.model import Row\n" + NEW_IMPORT,
        ),
    )
    desk.reply("", tree.test("tests/render/test_ical.py", seconds=0.8))
    desk.reply("", tree.commit("Calendar: ask the helper for local time"), todo(*FIVE, done=2))
    desk.reply("", tree.read(TEXTS), tree.read("tests/render/test_sms.py"))
    desk.reply(
        "",
        tree.edit(
            TEXTS,
            "    local = row.moment + timedelta(seconds=-altzone if daylight and localtime().tm_isdst else -timezone)\n",
            "    local = to_local(row.moment, harbour.zone)\n",
        ),
        tree.edit(
            TEXTS,
            "from tidepool.almanac.model import Row\n",
            "from tidepool.almanac.model import Row\n" + NEW_IMPORT,
        ),
        think="The texts use the machine's own zone. The machine is on UTC, so every text of every summer has been "
        "an hour early, and two hours for Oslo. Nobody noticed because people look at the board. Worth telling.",
    )
    length = "tests/render/test_sms.py::test_no_text_message_is_lost_in_batches"
    red = {
        length: failure(
            length,
            ">   batches = list(split_text_messages(rows))",
            "E   NameError: name 'to_local' is not defined",
        )
    }
    desk.reply("", tree.test("tests/render/test_sms.py", failed=red, seconds=0.7))
    desk.reply(
        "The import landed below the logger, where an older one had been moved. I put it where it belongs.",
        tree.run(
            ".venv/bin/ruff check --select I --fix src/tidepool/render/sms.py",
            "Found 1 error (1 fixed, 0 remaining).",
            "Sort the imports",
        ),
        tree.test("tests/render/test_sms.py", seconds=0.7),
    )
    desk.reply("", tree.commit("Texts: ask the helper for local time"), todo(*FIVE, done=3))
    desk.reply(
        "",
        tree.edit(
            ROUTES,
            "    shift = timedelta(minutes=state.offsets[harbour.zone])\n",
            "",
        ),
        tree.edit(
            ROUTES,
            '{"at": f"{row.moment + shift:%H:%M}", "kind"',
            '{"at": f"{to_local(row.moment, harbour.zone):%H:%M}", "kind"',
        ),
        tree.read("tests/api/test_routes.py"),
    )
    desk.reply("", tree.test("tests/api", seconds=1.6))
    desk.reply("", tree.commit("API: ask the helper for local time"), todo(*FIVE, done=4))
    desk.reply("", tree.read(WINDOWS), tree.read("tests/stations/test_windows.py"))
    desk.reply(
        "",
        tree.edit(
            WINDOWS,
            "    minutes = harbour.zone_minutes + (60 if is_summer(harbour.zone, date.today()) else 0)\n"
            "    middle = row.moment + timedelta(minutes=minutes)\n",
            "    middle = to_local(row.moment, harbour.zone)\n",
        ),
    )
    desk.reply(
        "",
        tree.test("tests/stations/test_windows.py", seconds=0.9),
        tree.test("tests/render", "tests/api", seconds=2.9),
    )
    desk.reply("", tree.commit("Locks: ask the helper for local time"), todo(*FIVE, done=5))
    desk.reply(
        "All five ask the helper now, one commit each, tests green after every one.\n\n"
        "One thing for you to know: the text messages used the machine's zone, which is UTC. So *every* summer text so "
        "far was an hour early, and those for the Norwegian harbours two."
    )


def _check_the_north(desk: Recorder, tree: Checkout) -> None:
    desk.user(
        "Two hours! Poor Skarvik. And Iceland has no summer time at all: are the northern harbours right now?",
        wait=2400,
    )
    desk.reply(
        "",
        tree.run(
            ".venv/bin/python -m tidepool offsets 2026-03-30 2026-07-01 2026-12-01",
            _NORTH,
            "Print offsets by harbour",
        ),
        tree.grep("Atlantic/|Oslo", "src/tidepool/stations"),
        think="Iceland stays on UTC all year, the Faroes change with London, Oslo is one hour ahead of it.",
    )
    desk.reply(
        "",
        tree.run(
            "journalctl -u tidepool --since 'yesterday 00:00' -n 70 -o cat",
            journal("2026-03-29", 0, 70),
            "The night of the change",
        ),
        tree.read("src/tidepool/stations/gauges.py"),
    )
    desk.reply(
        "They are right. Svartavik, Kria Bank and Lundahofn stay at UTC all year, the Faroes go with London, and Skarvik "
        "has +60 in winter and +120 in summer. The gauges log in UTC and were never wrong."
    )


_NORTH = "\n".join(
    f"{name:<14}{zone:<22}{a:>6}{b:>6}{c:>6}"
    for name, zone, a, b, c in (
        ("gull-haven", "Europe/London", 60, 60, 0),
        ("anner-bay", "Europe/Dublin", 60, 60, 0),
        ("port-ormer", "Europe/Jersey", 60, 60, 0),
        ("tindholm", "Atlantic/Faroe", 60, 60, 0),
        ("vestervag", "Atlantic/Faroe", 60, 60, 0),
        ("svartavik", "Atlantic/Reykjavik", 0, 0, 0),
        ("kria-bank", "Atlantic/Reykjavik", 0, 0, 0),
        ("lundahofn", "Atlantic/Reykjavik", 0, 0, 0),
        ("skarvik", "Europe/Oslo", 120, 120, 60),
        ("nordeskjer", "Europe/Oslo", 120, 120, 60),
    )
)


def _rewrite_waiting_texts(desk: Recorder, tree: Checkout) -> None:
    desk.user(
        "Pascoe has just shown me his telephone. Tomorrow's text still has the old time in it.", wait=1500
    )
    desk.reply(
        "Texts are written a day ahead and wait for the exchange, so tomorrow's was written before the change. I look at "
        "what waits.",
        tree.run(".venv/bin/python -m tidepool outbox --list", _waiting(tree), "List the texts that wait"),
        tree.read("tests/jobs/test_outbox.py"),
    )
    desk.reply(
        "",
        tree.edit(
            OUTBOX,
            "    written = 0\n    for harbour in registry:\n",
            "    self.drop(day)\n    written = 0\n    for harbour in registry:\n",
        ),
        think="fill() adds and never replaces, so a text that waits is never written again. Dropping the day first "
        "makes it safe to run twice. Texts already handed to the exchange are out of reach.",
    )
    desk.reply("", tree.test("tests/jobs", seconds=1.3))
    desk.reply(
        "",
        tree.run(
            ".venv/bin/python -m tidepool outbox --fill 2026-03-31",
            "dropped 74 texts, wrote 74 texts for 2026-03-31",
            "Write tomorrow's texts again",
        ),
        tree.commit("Outbox: write a day's texts anew, not beside the old ones"),
    )
    desk.reply(
        "Tomorrow's 74 texts are written anew with the right times, and `fill` can now be run twice without harm. What "
        "was sent this morning cannot be called back."
    )


def _waiting(tree: Checkout) -> str:
    lines = [line for line in tree.files["data/almanac.json"].splitlines() if '"high"' in line][:34]
    rows = []
    for line in lines:
        slug, _, rest = line.strip().partition(": ")
        name = slug.strip('"').replace("-", " ").title()
        hour = rest.split('"high"')[0].rsplit("T", 1)[1][:5]
        rows.append(
            f"{slug.strip(chr(34)):<18} 2026-03-31  queued 2026-03-29 22:00  {name} Tue {hour} high water. Fair winds."
        )
    return "\n".join(rows)


def _free_the_regatta(desk: Recorder, tree: Checkout) -> None:
    desk.user(
        "The sailing school says that their May regatta has moved by an hour in everybody's calendar since you changed the "
        "feed. They are glad, they only want to know which of the two is true.",
        wait=900,
    )
    desk.reply(
        "",
        tree.run(
            "curl -s localhost:8400/feeds/lowen-cove.ics | sed -n '/202605/p' | head -24",
            _MAY,
            "The school's feed for May",
        ),
        tree.run("git diff HEAD~6 HEAD~5 --stat", _STAT, "What the change to the feed touched"),
    )
    desk.reply(
        "",
        tree.run(
            ".venv/bin/python -m tidepool print lowen-cove 2026-05-16",
            "LOWEN COVE, Saturday 16 May 2026\n 05:54 low   0.7 m\n 12:02 HIGH  4.9 m\n 18:15 low   0.8 m",
            "The board for the day of the regatta",
        ),
        tree.read("src/tidepool/predict/extremes.py"),
        think="Feed and board agree on 12:02. As a check that does not use our conversion at all, our own prediction "
        "gives UTC. 11:02 UTC is 12:02 summer time.",
    )
    desk.reply(
        "",
        tree.run(
            ".venv/bin/python -m tidepool predict lowen-cove 2026-05-16 --utc",
            "04:54 low 0.71\n11:02 high 4.88\n17:15 low 0.83",
            "Predict it independently, in UTC",
        ),
    )
    desk.reply(
        "The new one is true: high water at Lowen Cove on 16 May is 12:02 by the clock. Our own prediction, which knows "
        "nothing of the almanac or of clocks, says 11:02 UTC. The start gun may stay where the school first wanted it."
    )


_MAY = "\n".join(
    f"DTSTART;TZID=Europe/London:202605{day:02d}T{at}00"
    for day, at in zip(
        range(10, 22), "0634 0731 0829 0925 1019 1111 1202 1252 1343 1436 1533 1634".split(), strict=True
    )
)
_STAT = """ src/tidepool/render/ical.py | 5 ++---
 1 file changed, 2 insertions(+), 3 deletions(-)"""


def _speed_up(desk: Recorder, tree: Checkout) -> None:
    desk.user(
        "The tests take four minutes today. They took two on Friday. Is that the cache we lost?", wait=600
    )
    desk.reply(
        "",
        tree.run(
            ".venv/bin/python -m cProfile -s cumtime -m pytest -q tests/predict | head -40",
            profile(),
            "Profile the slow tests",
        ),
        tree.read(HARMONICS),
    )
    desk.reply(
        "It is not the cache. Offsets do not even appear in the profile. The prediction asks for each node factor again at "
        "every six minutes, ninety million times, though it changes once a year.",
        tree.read("src/tidepool/predict/constituents.py"),
        tree.run(
            "nproc; uptime",
            "4\n 14:22:08 up 81 days,  3:40,  2 users,  load average: 3.87, 3.91, 3.60",
            "See how busy the machine is",
        ),
    )
    desk.reply(
        "",
        tree.edit(
            HARMONICS,
            "    for part in station.constituents:\n"
            "        factor, argument = node_factor(part.name, moment.year), equilibrium(part.name, moment.year)\n",
            "    for part, factor, argument in parts_of(station, moment.year):\n",
        ),
        tree.edit(
            HARMONICS,
            "def height(station: Station, moment: datetime) -> float:\n",
            "@lru_cache(maxsize=256)\ndef parts_of(station: Station, year: int) -> tuple[tuple[Part, float, float], ...]:\n"
            '    """Every constituent of a station with its node factor and argument, which belong to the year."""\n'
            "    return tuple(\n        (part, node_factor(part.name, year), equilibrium(part.name, year))\n"
            "        for part in station.constituents\n    )\n\n\n"
            "def height(station: Station, moment: datetime) -> float:\n",
        ),
        think="A cache again, and keyed by year. This time the year is right: node factors are defined for the middle of "
        "a year. I say so in the docstring, after what happened this morning.",
    )
    desk.reply("", tree.test("tests/predict", seconds=14.8), tree.diff(HARMONICS))
    desk.reply("", tree.commit("Prediction: node factors once a year, as they are defined"))
    desk.reply(
        "The tests of the prediction take 15 seconds now; they took 231. It was not the cache we mended: the build machine "
        "is busy today and that loop was simply the first to feel it. And yes, it is a cache keyed by year. Here the year "
        "is the right key, and the docstring says why."
    )


def _ask_before_keeping(desk: Recorder, tree: Checkout) -> None:
    desk.user("The screen in the fish market still shows the old times. I have reloaded it twice.", wait=1100)
    desk.reply("", tree.read(SCRIPT), tree.read(PAGE))
    desk.reply(
        "The page keeps an answer for 26 hours and does not ask again meanwhile. It was meant for nights when the line is "
        "down, but it also keeps a wrong board on a good day. I turn it round: ask first, fall back on what was kept.",
        tree.edit(
            SCRIPT,
            "  const kept = read(slug);\n  if (kept && Date.now() - kept.at < KEEP) return kept.rows;\n"
            "  const answer = await fetch(`/boards/${slug}/today`);\n  if (!answer.ok) return kept ? kept.rows : [];\n",
            "  const answer = await fetch(`/boards/${slug}/today`).catch(() => null);\n  if (!answer?.ok) return remembered(slug);\n",
        ),
        tree.edit(
            SCRIPT,
            "function read(slug) {\n",
            "function remembered(slug) {\n  const kept = read(slug);\n"
            "  return kept && Date.now() - kept.at < KEEP ? kept.rows : [];\n}\n\nfunction read(slug) {\n",
        ),
    )
    desk.reply(
        "",
        tree.run("node --check src/tidepool/static/board.js && echo fine", "fine", "Check the syntax"),
        tree.diff(SCRIPT),
    )
    desk.reply("", tree.commit("Board: ask first, remember second"), sealed=True)
    desk.reply(
        "The market's screen will be right after one more reload, and no board will hold on to an old answer while the line is up."
    )


def _write_the_runbook(desk: Recorder, tree: Checkout) -> None:
    desk.user(
        'Tove is on call this week. Please write the page "Times are wrong" for her, in plain words.',
        wait=700,
    )
    desk.reply("", tree.read(RUNBOOK))
    desk.reply(
        "",
        tree.edit(
            RUNBOOK,
            "(nobody has written this yet)\n",
            "1. Is it one hour, or two in Norway? Then it is the clock change and not the tide.\n"
            "2. Compare the board with `python -m tidepool predict SLUG DAY --utc`. Add the harbour's hour by hand.\n"
            "3. If board, text and calendar disagree with each other, one of them does not ask the helper for local\n"
            "   time. Find it: nothing but the helper should add minutes to a moment.\n"
            "4. If they agree and are all wrong, restart the service once and write down whether that helped.\n"
            "5. If a screen alone is wrong, reload it.\n\n"
            "Tell the harbour master before you tell the computer. A chalked board beats a wrong one.\n",
        ),
    )
    desk.reply("", tree.commit("Runbook: when times are wrong"))
    desk.reply("Done: five steps for Tove, and a sentence on chalk.")


def _look_at_autumn(desk: Recorder, tree: Checkout) -> None:
    desk.user(
        "Last thing for today. The pilots want the printed table for the week of 25 October, when the clocks go back. Please "
        "print Penmor and look hard at the Sunday: their own sheet says high water 01:47 that night.",
        wait=1300,
    )
    desk.reply(
        "",
        tree.run(
            ".venv/bin/python -m tidepool print penmor --week 2026-10-19",
            printed_week(19, WEEK, {}),
            "Print the week of the change",
        ),
        tree.read("tests/render/test_table.py"),
    )
    desk.reply(
        "Sunday is wrong: the table says 00:47 and the pilots say 01:47. I look at what the almanac has for that night, and "
        "at whether our own prediction agrees.",
        tree.run(
            'grep -o \'2026-10-2[456]T[0-9:]*Z", "[a-z]*", [0-9.]*\' data/almanac.json | sort | uniq -c | head -60',
            _october(),
            "The almanac around the change",
        ),
        tree.run(
            ".venv/bin/python -m tidepool predict penmor 2026-10-25 --utc",
            "00:47 high 5.21\n06:58 low 0.66\n13:09 high 5.30\n19:22 low 0.58",
            "Predict it independently, in UTC",
        ),
        sealed=True,
    )
    desk.reply(
        "",
        tree.read("src/tidepool/predict/surge.py"),
        tree.read("tests/predict/test_extremes.py"),
        tree.run(
            "journalctl -u tidepool --since '2025-10-26 00:00' -n 80 -o cat",
            journal("2025-10-26", 0, 80),
            "What the service did last autumn",
        ),
        think="00:47 UTC is before the change, which comes at 01:00 UTC. So the clock on the wall still shows summer time: "
        "01:47. We print 00:47 because the helper takes one offset for the whole day, probed at noon, when winter time has "
        "begun. So the helper must look at the moment and not at the day.",
    )


WEEK = "Mon Tue Wed Thu Fri Sat Sun"


def _october() -> str:
    rows = []
    for n in range(44):
        minute = 47 + n * 31
        rows.append(
            f'      1 2026-10-{24 + minute // 700}T{minute // 60 % 24:02d}:{minute % 60:02d}Z", "{("high", "low")[n % 2]}", {3.1 + n * 0.05:.2f}'
        )
    return "\n".join(rows)
