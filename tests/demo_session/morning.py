"""Monday morning, turns 1 to 6: the boards are an hour early, and the cause is found."""

from __future__ import annotations

from inspector.demo import CONSTRAINT, LOST_PATH

from . import edits, fragments, printouts
from .checkout import Checkout
from .recorder import Recorder


def record_morning(recorder: Recorder, tree: Checkout) -> None:
    for turn in (
        _complain,
        _state_the_rule,
        _mend_the_cache,
        _read_the_ci_log,
        _mend_the_night,
        _count_copies,
    ):
        turn(recorder, tree)


def _complain(recorder: Recorder, tree: Checkout) -> None:
    recorder.user(
        "Good morning. Since the clocks went forward on Sunday the board at Gull Haven shows every high "
        "water an hour early. Old Pascoe crossed the bar by it today and sat there until the real tide "
        "took him off. He is fine and very cross. Can you find out why?",
        wait=0,
    )
    recorder.reply(
        "An hour is the size of a clock change, so I start where times become local. First a look at the "
        "project and at what was changed lately.",
        tree.read("README.md"),
        tree.run("git log --oneline -14", printouts.HISTORY, "Show recent commits"),
        tree.find("**/*.py"),
        think="High waters are an hour early since Sunday 29 March, the day the clocks went forward. So "
        "somewhere the winter offset is still in use. It could be the data, the conversion, or a cache in "
        "front of either. I want to see one wrong answer myself before I read code.",
    )
    recorder.reply(
        "",
        tree.run(
            "curl -s localhost:8400/boards/gull-haven/today",
            printouts.board("Gull Haven", "05:12", "11:20", "17:36", "23:41"),
            "Ask the service for today's board",
        ),
        think="The commits are quiet: page numbers, gauges, an edition of the almanac in January. Nothing "
        "was deployed over the weekend, so nobody broke this on Sunday; the calendar did. One commit "
        "catches my eye, f96d02b, which remembers what zoneinfo said. First the wrong answer itself: if "
        "the API is right and the board is wrong, I can spare myself half of the project.",
    )
    recorder.reply(
        "The service itself answers 05:12, and Pascoe's tide came at 06:12. So the board only draws what "
        "it is told. I follow the answer inwards: the route, and the table.",
        tree.read(edits.ROUTES),
        tree.read(edits.TABLE),
        sealed=True,
    )
    recorder.reply(
        "",
        tree.read("src/tidepool/stations/registry.py"),
        think="Two ways to the minutes already: the route takes them from the state of the app, the table "
        "asks a function for the first of the month. Neither looks right to me, but I do not yet know "
        "which of them spoke to Pascoe. The zone itself could be wrong too; somebody may have typed UTC "
        "into the registry.",
    )
    recorder.reply(
        "",
        tree.grep(r"timedelta\(minutes|utcoffset|localtime|astimezone"),
        tree.run("timedatectl | head -4", printouts.TIMEDATE, "Check the machine's own clock"),
        tree.run(
            "journalctl -u tidepool --since 05:00 -n 40 -o short-iso",
            printouts.journal("2026-03-30", 5, 40),
            "Read this morning's log",
        ),
        think="Gull Haven is Europe/London in the registry, and the machine runs on UTC, so neither is to "
        "blame. The route adds state.offsets[zone], which is filled when the app starts.",
    )
    recorder.reply(
        "What I know so far:\n\n"
        "- The registry has the right zone for Gull Haven, and the machine's clock is right.\n"
        "- The answer of the API is already an hour early, so the drawing is not to blame.\n"
        "- The shift comes from an offset that is kept somewhere between the almanac and the route.\n\n"
        "Next I want to look at the almanac, to be sure that its own times are right."
    )


def _state_the_rule(recorder: Recorder, tree: Checkout) -> None:
    recorder.user(
        f"Look at the almanac as much as you like, but {CONSTRAINT}: it is signed by the Hydrographic "
        "Office, and if a single byte changes, every board on the coast goes blank."
    )
    recorder.reply(
        "Understood: data/almanac.json stays exactly as it is, whatever I find. I will only read it.",
        tree.run(
            "head -c 6400 data/almanac.json", tree.files["data/almanac.json"][:6400], "Read its first lines"
        ),
        tree.read("src/tidepool/almanac/loader.py"),
        think="A firm rule: the almanac is signed. Reading is fine, writing is not, and that goes for "
        "tools that rewrite it in passing, formatters too.",
    )
    recorder.reply(
        "",
        tree.run(printouts.TODAY_COMMAND, printouts.TODAY, "Today's high waters in the almanac"),
        think="The loader says that every moment is UTC, and the file says so in its head. One row settles "
        "it: if Gull Haven's high water stands there as 05:12, the almanac is right and we subtract, or "
        "fail to add, the hour.",
    )
    recorder.reply(
        "The almanac says 05:12 UTC for Gull Haven, which is 06:12 by the clock on the wall: it is right. "
        "The hour gets lost on the way out. One file is left that turns a zone into minutes.",
        tree.read(LOST_PATH),
    )
    recorder.reply(
        "",
        tree.run(printouts.ask_twice("2026, 1, 12", "2026, 7, 1"), "0 0", "Ask for January, then for July"),
        tree.run(printouts.ask_twice("2026, 7, 1", "2026, 1, 12"), "60 60", "Ask for July, then for January"),
        think="There it is. The key of the cache is (zone, year). Whoever asks first in a year decides for "
        "all of it. The service has been up since January, so it kept winter. A restart today would cure "
        "the boards and break every winter date instead, and the tests never ask for two seasons in one "
        "process, which is why nobody saw it. Two runs will prove it.",
    )
    recorder.reply(
        f"Found it. `{LOST_PATH}` remembers one offset per zone and *year*. Whoever asks first decides: the "
        "service was started in January, so London has had its winter offset ever since. Ask for July first, "
        "and January is wrong instead.\n\n"
        "Every test starts fresh, so none of them could see it. A restart would hide it until October."
    )


def _mend_the_cache(recorder: Recorder, tree: Checkout) -> None:
    recorder.user(
        "A cache. Of course it is a cache. Please mend it, and with a test that would have caught it."
    )
    tests = edits.TEST_OFFSETS
    recorder.reply(
        "The test first, so that I see it fail.",
        tree.write(tests, fragments.TEST_OFFSETS),
        think="What would have caught it: two seasons in one process, in both orders, because the first "
        "one asked wins. A zone without summer time as a control, so that a test that adds an hour to "
        "everything fails too. And the morning itself, with the service's winter behind it, as a case "
        "anybody in the office can read. Between tests the memory has to be emptied, or they decide for "
        "each other just as callers do. I keep the cache, it was put there for a reason; only its key is "
        "wrong.",
    )
    recorder.reply(
        "", tree.run(f".venv/bin/pytest -q {tests}", printouts.NO_NAME, "Run the new tests", failed=True)
    )
    recorder.reply(
        "It asks for two names that do not exist yet: `to_local`, which is what every caller really wants, "
        "and `forget_offsets` for the tests. I add both, and leave the key wrong for one more run.",
        tree.edit(*edits.ADD_HELPER),
    )
    recorder.reply("", tree.test(tests, failed=printouts.three_seasons(tests), seconds=0.41))
    recorder.reply(
        "Three failures, all for the right reason. Now the key.",
        tree.edit(*edits.KNOW_DAYS),
        tree.edit(*edits.KEY_BY_DAY),
        sealed=True,
    )
    recorder.reply("", tree.test(tests, seconds=0.38), tree.test("tests/render", "tests/api", seconds=2.7))
    recorder.reply(
        "",
        tree.diff(LOST_PATH),
        think="Green, here and in the renderers. Before I commit I look at the change as she will see it. "
        "The cache now grows by six entries a day, two thousand a year: small enough to leave alone.",
    )
    recorder.reply("", tree.commit("Remember offsets by day, not by year"))
    recorder.reply(
        "Mended and committed. The offset is now remembered per zone and day, and the test named after Mr "
        "Pascoe's morning failed before and passes now. The branch is `clock-change`; I have pushed nothing."
    )


def _read_the_ci_log(recorder: Recorder, tree: Checkout) -> None:
    recorder.user(
        "I pushed it, and the build server is red. The log is in build/ci-4127.log, all of it. Is that us?",
        wait=1500,
    )
    suites = ("tests/almanac", "tests/api", "tests/calendar", "tests/jobs", "tests/render", "tests/stations")
    log = tree.report(suites, printouts.RED, 143.2, names=True)
    tree.files["build/ci-4127.log"] = printouts.ci_log(4127, log)
    recorder.reply(
        "I read the whole log before I guess.",
        tree.read("build/ci-4127.log"),
        think="A red build after a change of mine is mine until shown otherwise. The build server sets "
        "TZ=UTC and runs the suites in one process, which is closer to the service than my runs here were.",
    )
    recorder.reply(
        "",
        tree.read("tests/jobs/test_nightly.py"),
        tree.read(edits.TEST_FEED),
        tree.run(
            "git log -3 --format='%h %ad %s' --date=short -- tests/stations/test_gauges.py",
            printouts.GAUGE_HISTORY,
            "See whether the gauge tests were touched",
        ),
        tree.read("tests/stations/test_gauges.py"),
        think="Three failures. The nightly job has warmed up 1 January and nothing else, which was enough "
        "while one answer served a whole year. The calendar test takes today's date: green all winter, red "
        "since Sunday. And the battery test timed out, which smells of the simulator and not of us.",
    )
    recorder.reply(
        "Of three failures two are ours:\n\n1. `test_nightly`: the job asks for the offset of 1 January, "
        "whatever day it is. That was enough as long as one answer served a whole year.\n2. `test_ical`: "
        "the calendar says 05:12 and the board 06:12. The calendar has an offset of its own and never asked "
        "ours. Its test takes today's date, so it was green all winter.\n3. `test_gauges` timed out in the "
        "simulator, as it did on 11 March. Not ours."
    )


def _mend_the_night(recorder: Recorder, tree: Checkout) -> None:
    recorder.user("Then the nightly job first, please. It runs at half past two and I would like to sleep.")
    recorder.reply(
        "",
        tree.read(edits.NIGHTLY),
        tree.read(edits.OUTBOX),
        think="The job itself, and the outbox it fills: whatever the job believes about the day, "
        "tomorrow's texts believe it too.",
    )
    recorder.reply(
        "`warm_up` asks for 1 January, whatever day it is. That one line is how winter got into the cache "
        "every New Year. It should ask for the day the boards are drawn for.",
        tree.edit(*edits.WARM_TODAY),
        tree.edit(*edits.TELL_TODAY),
        think="The order in run_nightly is offsets, boards, texts for tomorrow. Boards are drawn for "
        "now.date(), texts for the day after. Warming up today's offsets serves the boards; the texts will "
        "look up six zones more, which is nothing at half past two in the morning. The parameter becomes a "
        "day, and both places that name it change together.",
    )
    recorder.reply("", tree.test("tests/jobs", "tests/calendar", seconds=1.2))
    recorder.reply("", tree.commit("Nightly job: warm up the day that is drawn"), sealed=True)
    recorder.reply(
        "The nightly job asks for its own day now, and its tests pass. You can sleep through half past two."
    )


def _count_copies(recorder: Recorder, tree: Checkout) -> None:
    recorder.user(
        "The calendar had an offset of its own, you say. I have a bad feeling. How many places turn UTC into "
        "local time by themselves?",
        wait=1800,
    )

    def search() -> str:
        own, clock = r"\.moment \+|shift|zone_minutes", r"tm_isdst|altzone|\(\w+\.year, 3, 31\)"
        recorder.reply("", tree.grep(own), tree.grep(clock))
        names = tree.grep(r"def clock_face|def stamp|def text_for|def lock_opens|def today")
        recorder.reply("", tree.read(edits.WINDOWS), names)
        recorder.reply("", tree.read(edits.TEXTS, 80, 60))
        return printouts.FIVE_PLACES

    recorder.delegate(
        "That is a search through the whole package, so I send a helper for it.",
        "Find local time conversions",
        "Find every function under src/tidepool that turns a UTC moment into a harbour's local time without "
        "calling the shared helper in tidepool.calendar. For each give file, function and how it does it. "
        "Change nothing.",
        search,
        think="A search by hand would fill my window with files I need only once. A helper can read them "
        "all and bring back a list. It must change nothing, and it must tell how each place does it, or I "
        "read them again.",
    )
    recorder.reply(
        "Five, each wrong in its own way:\n\n"
        "- the table takes the offset of the first of the month,\n"
        "- the calendar believes that summer is always 31 March to 31 October,\n"
        "- the text messages use the machine's zone, which is UTC,\n"
        "- the API keeps offsets from when it was started,\n"
        "- the lock windows add *today's* summer to any date.\n\n"
        "All five could be one call of `to_local`. Shall I?",
        think="Five copies of one idea. The right thing is one call each. Five files is more than I was "
        "asked for, so I ask first.",
    )
