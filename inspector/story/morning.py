"""Monday morning, turns 1 to 6: the boards are an hour early, and the cause is found."""

from __future__ import annotations

from .checkout import Checkout
from .fragments import DAY_AFTER, DAY_BEFORE, HELPER_AFTER, HELPER_BEFORE, KEY_AFTER, KEY_BEFORE, TEST_OFFSETS
from .printouts import HISTORY, board, ci_log, failure, journal
from .project import LOST_PATH
from .recorder import Recorder

CONSTRAINT = "never touch data/almanac.json"
TESTS = "tests/calendar/test_offsets.py"
NOON = "src/tidepool/render/table.py"


def tell_morning(desk: Recorder, tree: Checkout) -> None:
    for turn in (
        _complain,
        _state_the_rule,
        _mend_the_cache,
        _read_the_ci_log,
        _mend_the_night,
        _count_copies,
    ):
        turn(desk, tree)


def _complain(desk: Recorder, tree: Checkout) -> None:
    desk.user(
        "Good morning. Since the clocks went forward on Sunday the board at Gull Haven shows every high water an "
        "hour early. Old Pascoe crossed the bar by it today and sat there until the real tide took him off. He is "
        "fine and very cross. Can you find out why?",
        wait=0,
    )
    desk.reply(
        "An hour is the size of a clock change, so I start where times become local. First a look at the project "
        "and at what was changed lately.",
        tree.read("README.md"),
        tree.run("git log --oneline -14", HISTORY, "Show recent commits"),
        tree.find("**/*.py"),
        think="High waters are an hour early since Sunday 29 March, the day the clocks went forward. So somewhere "
        "the winter offset is still in use. It could be the data, the conversion, or a cache in front of either. "
        "I should see one wrong answer myself before I read code.",
    )
    desk.reply(
        "",
        tree.run(
            "curl -s localhost:8400/boards/gull-haven/today",
            board("Gull Haven", "05:12", "11:20", "17:36", "23:41"),
            "Ask the service for today's board",
        ),
        tree.run(
            "journalctl -u tidepool --since 05:00 -n 60 -o cat",
            journal("2026-03-30", 5, 60),
            "Read this morning's log",
        ),
    )
    desk.reply(
        "The service itself answers 05:12, and Pascoe's tide came at 06:12. So the board only draws what it is told. "
        "I follow the answer inwards: the route, the table, the list of harbours.",
        tree.read("src/tidepool/api/routes.py"),
        tree.read("src/tidepool/render/table.py"),
        sealed=True,
    )
    desk.reply("", tree.read("src/tidepool/stations/registry.py"))
    desk.reply(
        "",
        tree.grep(r"timedelta\(minutes|utcoffset|localtime|astimezone"),
        tree.run("timedatectl | head -4", _TIMEDATE, "Check the machine's own clock"),
        think="Gull Haven is Europe/London in the registry, and the machine runs on UTC, so neither is to blame. "
        "The route adds state.offsets[zone], which is filled when the app starts.",
    )
    desk.reply(
        "What I know so far:\n\n"
        "- The registry has the right zone for Gull Haven, and the machine's clock is right.\n"
        "- The answer of the API is already an hour early, so the drawing is not to blame.\n"
        "- The shift comes from an offset that is kept somewhere between the almanac and the route.\n\n"
        "Next I want to compare with the almanac, to be sure that its own times are right."
    )


_TIMEDATE = """               Local time: Mon 2026-03-30 07:43:40 UTC
           Universal time: Mon 2026-03-30 07:43:40 UTC
                 RTC time: Mon 2026-03-30 07:43:40
                Time zone: Etc/UTC (UTC, +0000)"""


def _state_the_rule(desk: Recorder, tree: Checkout) -> None:
    desk.user(
        f"Look at the almanac as much as you like, but {CONSTRAINT}: it is signed by the Hydrographic Office, and "
        "if a single byte changes, every board on the coast goes blank."
    )
    almanac = tree.files["data/almanac.json"]
    desk.reply(
        "Understood: data/almanac.json stays exactly as it is, whatever I find. I will only read it.",
        tree.run("head -c 5200 data/almanac.json", almanac[:5200], "Look at the almanac's first lines"),
        tree.read("src/tidepool/almanac/loader.py"),
        think="A firm rule: the almanac is signed. Reading is fine, writing is not, and that goes for tools that "
        "rewrite it in passing, formatters too.",
    )
    desk.reply(
        "",
        tree.run(
            'grep -o \'2026-03-30T0[0-9]:[0-9]*Z", "high", [0-9.]*\' data/almanac.json | head -3',
            '2026-03-30T05:12Z", "high", 4.41\n2026-03-30T05:40Z", "high", 5.02\n2026-03-30T04:58Z", "high", 3.77',
            "Today's high waters in the almanac",
        ),
    )
    desk.reply(
        "The almanac says 05:12 UTC for Gull Haven, which is 06:12 by the clock on the wall: it is right. The hour "
        "gets lost on the way out. One file is left that turns a zone into minutes.",
        tree.read(LOST_PATH),
    )
    desk.reply(
        "",
        tree.run(
            '.venv/bin/python -c "\nfrom datetime import date\nfrom tidepool.calendar.offsets import offset_minutes as o\n'
            "z = 'Europe/London'\nprint(o(z, date(2026, 1, 12)), o(z, date(2026, 7, 1)))\"",
            "0 0",
            "Ask for January first, then for July",
        ),
        tree.run(
            '.venv/bin/python -c "\nfrom datetime import date\nfrom tidepool.calendar.offsets import offset_minutes as o\n'
            "z = 'Europe/London'\nprint(o(z, date(2026, 7, 1)), o(z, date(2026, 1, 12)))\"",
            "60 60",
            "Ask for July first, then for January",
        ),
        think="There it is. The key of the cache is (zone, year). Whoever asks first in a year decides for all of "
        "it. The service has been up since January, so it kept winter. A restart today would cure the boards "
        "and break every winter date instead, which is why nobody sees it in the tests. Two runs will prove it.",
    )
    desk.reply(
        f"Found it. `{LOST_PATH}` remembers one offset per zone and *year*. Whoever asks first decides: the service "
        "was started in January, so London has had its winter offset ever since. Ask for July first and January "
        "is wrong instead.\n\nIt looks harmless because each test starts fresh. A restart would hide it until October."
    )


def _mend_the_cache(desk: Recorder, tree: Checkout) -> None:
    desk.user("A cache. Of course it is a cache. Please mend it, and with a test that would have caught it.")
    desk.reply("The test first, so that I see it fail.", tree.write(TESTS, TEST_OFFSETS))
    desk.reply(
        "",
        tree.run(f".venv/bin/pytest -q {TESTS}", _NO_NAME, "Run the new tests", failed=True),
    )
    desk.reply(
        "It asks for two names that do not exist yet: `to_local`, which is what every caller really wants, and "
        "`forget_offsets` for the tests. I add both, and leave the key wrong for one more run.",
        tree.edit(LOST_PATH, HELPER_BEFORE, HELPER_AFTER),
    )
    january = f"{TESTS}::test_a_day_in_january_says_nothing_about_july[Europe/London]"
    july = f"{TESTS}::test_nor_does_july_about_january[Europe/London]"
    pascoe = f"{TESTS}::test_the_morning_pascoe_sat_on_the_bar"
    failed = {
        january: failure(
            january,
            "    assert offset_minutes(zone, WINTER) == 0",
            *_compare("offset_minutes(zone, SUMMER)", 0, 60),
        ),
        july: failure(
            july,
            "    summer = offset_minutes(zone, SUMMER)",
            *_compare("offset_minutes(zone, WINTER)", 60, 0),
        ),
        pascoe: failure(
            pascoe, "    offset_minutes('Europe/London', WINTER)", *_compare("to_local(...).hour", 5, 6)
        ),
    }
    desk.reply("", tree.test(TESTS, failed=failed, seconds=0.41))
    desk.reply(
        "Three failures, all for the right reason. Now the key.",
        tree.edit(LOST_PATH, KEY_BEFORE, KEY_AFTER),
        tree.edit(LOST_PATH, DAY_BEFORE, DAY_AFTER),
        sealed=True,
    )
    desk.reply("", tree.test(TESTS, seconds=0.38), tree.test("tests/render", "tests/api", seconds=2.7))
    desk.reply("", tree.diff(LOST_PATH), tree.commit("Remember offsets by day, not by year"))
    desk.reply(
        "Mended and committed. The offset is now remembered per zone and day, and the test named after Mr Pascoe's "
        "morning failed before and passes now. The branch is `clock-change`; I have pushed nothing."
    )


_NO_NAME = """==================================== ERRORS ====================================
_________________ ERROR collecting tests/calendar/test_offsets.py _________________
ImportError while importing test module '/home/marit/tidepool/tests/calendar/test_offsets.py'.
tests/calendar/test_offsets.py:9: in <module>
    from tidepool.calendar.offsets import forget_offsets, offset_minutes, to_local
E   ImportError: cannot import name 'forget_offsets' from 'tidepool.calendar.offsets'
=========================== short test summary info ============================
ERROR tests/calendar/test_offsets.py
1 error in 0.22s"""


def _compare(what: str, was: int, wanted: int) -> tuple[str, ...]:
    return (
        f">   assert {what} == {wanted}",
        f"E   assert {was} == {wanted}",
        f"E    +  where {was} = {what}",
    )


NIGHT = "tests/jobs/test_nightly.py::test_every_zone_is_warm_for_the_day_that_is_drawn"
FEED = "tests/render/test_ical.py::test_the_feed_and_the_board_agree_today"
BATTERY = "tests/stations/test_gauges.py::test_the_battery_of_a_silent_gauge_is_asked_for"
_RED = {
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


def _read_the_ci_log(desk: Recorder, tree: Checkout) -> None:
    desk.user(
        "I pushed it, and the build server is red. The log is in build/ci-4127.log, all of it. Is that us?",
        wait=780,
    )
    suites = ("tests/calendar", "tests/jobs", "tests/predict", "tests/render", "tests/stations")
    tree.files["build/ci-4127.log"] = ci_log(4127, tree.report(suites, _RED, 143.2, names=True))
    desk.reply("I read the whole log before I guess.", tree.read("build/ci-4127.log"))
    desk.reply(
        "",
        tree.read("tests/jobs/test_nightly.py"),
        tree.read("tests/render/test_ical.py"),
        tree.run(
            "git log -3 --format='%h %ad %s' --date=short -- tests/stations/test_gauges.py",
            _FLAKY,
            "See whether the gauge tests were touched",
        ),
        think="Three failures. The nightly job has warmed up 1 January and nothing else, which was enough while "
        "one answer served a whole year. The calendar test takes today's date: green all winter, red "
        "since Sunday. And the battery test timed out, which smells of the simulator and not of us.",
    )
    desk.reply(
        "Of three failures two are ours:\n\n"
        "1. `test_nightly`: the job asks for the offset of 1 January, whatever day it is. That was enough as long "
        "as one answer served a whole year.\n"
        "2. `test_ical`: the calendar says 05:12 and the board 06:12. The calendar has an offset of its own and "
        "never asked ours. Its test takes today's date, so it was green all winter.\n"
        "3. `test_gauges` timed out in the simulator, as it did on 11 March. Not ours."
    )


_FLAKY = """e71c0aa 2026-03-11 gauges: give the simulator five seconds
90d4be1 2025-12-02 gauges: batteries
3f8a6d2 2025-11-19 gauges: first tests"""


def _mend_the_night(desk: Recorder, tree: Checkout) -> None:
    desk.user("Then the nightly job first, please. It runs at half past two and I would like to sleep.")
    desk.reply("", tree.read("src/tidepool/jobs/nightly.py"), tree.read("src/tidepool/jobs/outbox.py"))
    desk.reply(
        "`warm_up` asks for 1 January, whatever day it is. That one line is how winter got into the cache every "
        "New Year. It should ask for the day the boards are drawn for.",
        tree.edit(
            "src/tidepool/jobs/nightly.py",
            'def warm_up(registry: Registry, year: int) -> int:\n    """Ask for every zone\'s offset once, so that the first visitor of the morning does not wait."""\n'
            "    for zone in registry.zones():\n        offset_minutes(zone, date(year, 1, 1))\n",
            'def warm_up(registry: Registry, day: date) -> int:\n    """Ask for every zone\'s offset of a day, so that the first visitor of the morning does not wait."""\n'
            "    for zone in registry.zones():\n        offset_minutes(zone, day)\n",
        ),
        tree.edit(
            "src/tidepool/jobs/nightly.py", "warm_up(registry, now.year)", "warm_up(registry, now.date())"
        ),
    )
    desk.reply("", tree.test("tests/jobs", "tests/calendar", seconds=1.2))
    desk.reply("", tree.commit("Nightly job: warm up the day that is drawn"), sealed=True)
    desk.reply(
        "The nightly job asks for its own day now, and its tests pass. You can sleep through half past two."
    )


def _count_copies(desk: Recorder, tree: Checkout) -> None:
    desk.user(
        "The calendar had an offset of its own, you say. I have a bad feeling. How many places turn UTC into local "
        "time by themselves?",
        wait=420,
    )

    def search() -> str:
        desk.reply(
            "",
            tree.grep(r"\.moment \+|shift|zone_minutes"),
            tree.grep(r"tm_isdst|altzone|\(\w+\.year, 3, 31\)"),
        )
        desk.reply(
            "",
            tree.read("src/tidepool/stations/windows.py"),
            tree.grep(r"def clock_face|def stamp|def text_for|def lock_opens|def today"),
        )
        desk.reply("", tree.read("src/tidepool/render/sms.py", 90, 80))
        return (
            "Five places turn UTC into local time without the shared helper:\n\n"
            "| file | function | how it does it |\n|---|---|---|\n"
            "| `src/tidepool/render/table.py` | `clock_face` | offset of the first of the month |\n"
            "| `src/tidepool/render/ical.py` | `stamp` | summer is 31 March to 31 October, always |\n"
            "| `src/tidepool/render/sms.py` | `text_for` | the machine's own zone |\n"
            "| `src/tidepool/api/routes.py` | `today` | offsets kept when the app starts |\n"
            "| `src/tidepool/stations/windows.py` | `lock_opens` | winter minutes plus today's summer |\n\n"
            "`almanac/` and `predict/` stay in UTC throughout."
        )

    desk.delegate(
        "That is a search through the whole package, so I send a helper for it.",
        "Find local time conversions",
        "Find every function under src/tidepool that turns a UTC moment into a harbour's local time without calling "
        "the shared helper in tidepool.calendar. For each give file, function and how it does it. Change nothing.",
        search,
    )
    desk.reply(
        "Five, each wrong in its own way:\n\n"
        "- the table takes the offset of the first of the month,\n"
        "- the calendar believes that summer is always 31 March to 31 October,\n"
        "- the text messages use the machine's zone, which is UTC,\n"
        "- the API keeps offsets from when it was started,\n"
        "- the lock windows add *today's* summer to any date.\n\n"
        "All five could be one call of `to_local`. Shall I?",
        think="Five copies of one idea. The right thing is one call each. I should ask before I touch five files.",
    )
