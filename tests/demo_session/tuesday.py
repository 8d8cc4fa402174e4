"""Tuesday, turns 17 to 21: two equal hours get their letters, and all ends well."""

from __future__ import annotations

from . import edits, printouts
from .checkout import Checkout
from .recorder import Recorder


def record_tuesday(recorder: Recorder, tree: Checkout) -> None:
    for turn in (_mark_the_hours, _check_the_feed, _test_everything, _write_the_notes, _thank):
        turn(recorder, tree)


def _mark_the_hours(recorder: Recorder, tree: Checkout) -> None:
    recorder.user(
        "Good morning! The boards are right and Pascoe has apologised to the clock. Could the paper table "
        "say which of the two hours it means that night, 01:47 A or 01:47 B, as the almanac office does?",
        wait=15.6 * 3600,
    )
    recorder.reply(
        "",
        tree.grep("clock_face|print_day"),
        tree.read(edits.TEST_TABLE),
        think="On the night of 25 October the hour from one to two comes twice. The almanac office writes "
        "A for the first and B for the second. clock_face makes every time on paper, and as far as I "
        "remember nothing else calls it, but that is worth a search: a letter must not slip into a text of "
        "seventy characters or into the API.",
    )
    recorder.reply(
        "",
        tree.edit(*edits.TEST_MARK),
        tree.edit(*edits.MARK_HOUR),
        tree.edit(*edits.MARK_IMPORTS),
        think="fold tells which of the two it is. A letter only where a time comes twice, or every board "
        "in the world grows a letter.",
    )
    red = f"{edits.TEST_TABLE}::test_the_hour_that_comes_twice_has_a_letter"
    report = printouts.failure(
        red,
        '>       lines.append(f"{clock_face(row.moment, harbour):>6} {name} {row.height:4.1f} m")',
        "E       AssertionError: a line of 19 characters for paper of 18",
    )
    recorder.reply("", tree.test(edits.TEST_TABLE, failed={red: report}, seconds=0.8))
    recorder.reply(
        "The letter makes the line one character too wide for the paper. There is a blank to spare.",
        tree.edit(*edits.MARK_WIDTH),
        think="The column is six wide and right-aligned: a blank, five for the time. With a letter it is "
        "six and the blank before HIGH is the one too many. Left-aligned in six, the letter takes the "
        "place of that blank, and lines without a letter look as they did, but for one step to the left.",
    )
    recorder.reply("", tree.test("tests/render", seconds=2.2))
    recorder.reply(
        "", tree.run(printouts.PRINT_WEEK, printouts.printed_week({"6.0": "01:47A"}), "Print the week again")
    )
    recorder.reply(
        "", tree.diff(edits.TABLE), tree.commit("Paper table: say which of two equal hours is meant")
    )
    recorder.reply(
        "It prints 01:47A. The letter stands only where a time comes twice, so you will see it one night a "
        "year."
    )


def _check_the_feed(recorder: Recorder, tree: Checkout) -> None:
    recorder.user(
        "And the calendar feed, does it survive October too? The school plans its autumn from it.", wait=500
    )
    recorder.reply(
        "",
        tree.run(
            "curl -s localhost:8400/feeds/lowen-cove.ics", printouts.year_feed(190), "Fetch the whole feed"
        ),
        tree.read(edits.FEED),
        think="The feed writes local time with the name of the zone and leaves the rest to the calendar. "
        "That is fine for every hour but one. I look at the feed as the school's telephones see it, and at "
        "how it is written.",
    )
    recorder.reply(
        "",
        tree.run(
            "curl -s localhost:8400/feeds/lowen-cove.ics | grep 'DTSTART.*20261025'",
            "DTSTART;TZID=Europe/London:20261025T005100\nDTSTART;TZID=Europe/London:20261025T131400",
            "The night of the change",
        ),
        tree.read(edits.TEST_FEED),
        think="Local time with a TZID cannot say which of two hours it means: calendars take the first. "
        "None of the school's high waters lies in that hour this year, but Penmor's does. A moment in UTC "
        "has no hour twice.",
    )
    recorder.reply(
        "A calendar cannot tell A from B: with a zone it always takes the first. It is luck that no tide "
        "at Lowen Cove lies in that hour. A moment in UTC is never ambiguous, and every calendar turns it "
        "into local time by itself.",
        tree.edit(*edits.FEED_IN_UTC),
        tree.edit(*edits.FEED_DESCRIBES),
        tree.edit(*edits.FEED_DROPS_ZONE),
        tree.edit(*edits.FEED_TAKES_NONE),
        tree.edit(*edits.FEED_FORGETS),
    )
    recorder.reply(
        "",
        tree.diff(),
        think="stamp needs no harbour any more, so the parameter goes, and with it the import of to_local. "
        "Subscribers get the same events with the same UIDs, so nothing is doubled in their calendars; "
        "only the notation changes.",
    )
    recorder.reply("", tree.commit("Calendar: moments in UTC, telephones know their own clocks"), sealed=True)
    recorder.reply(
        "It does now. The feed gives moments in UTC, and the telephones turn them into the right hour, this "
        "October and every other."
    )


def _test_everything(recorder: Recorder, tree: Checkout) -> None:
    recorder.user("Lovely. Before I tag it: one full run of the quick tests, please, with names.", wait=900)
    suites = ("tests/api", "tests/calendar", "tests/render")
    red = f"{edits.TEST_FEED}::test_the_feed_and_the_board_agree_today"
    report = printouts.failure(
        red,
        '>   assert stamp(row.moment, harbour) == f"{to_local(row.moment, harbour.zone):%Y%m%dT%H%M%S}"',
        "E   TypeError: stamp() takes 1 positional argument but 2 were given",
    )
    command = f".venv/bin/pytest -v {' '.join(suites)}"
    log = tree.report(suites, {red: report}, 18.3, names=True)
    recorder.reply("", tree.run(command, log, "Run the quick tests", failed=True), sealed=True)
    recorder.clear(least=3800, keep=2)
    recorder.reply(
        "One failure, and it is mine: I changed the feed and ran no test of it. It still expects local time.",
        tree.edit(*edits.TEST_IN_UTC),
        tree.edit(*edits.TEST_NAME),
        think="I committed the feed without running its tests. Say so plainly, mend the test, run all again.",
    )
    recorder.reply("", tree.test(edits.TEST_FEED, seconds=0.8))
    recorder.reply("", tree.run(command, tree.report(suites, {}, 17.9, names=True), "Run the quick tests"))
    others = [
        tree.run(
            f".venv/bin/pytest -v {suite}",
            tree.report((suite,), {}, seconds, names=True),
            f"Run {suite} too",
        )
        for suite, seconds in (("tests/almanac", 0.9), ("tests/jobs", 1.3), ("tests/predict", 14.9))
    ]
    recorder.reply("", *others, tree.test("tests/stations", seconds=7.4))
    recorder.reply("", tree.commit("Test of the feed: the almanac's own moment"))
    recorder.reply(
        "Everything is green, after one failure of my own: I had changed the feed without running its test, "
        "which still asked for local time. It asks for the almanac's own moment now. The battery test "
        "behaved today."
    )


def _write_the_notes(recorder: Recorder, tree: Checkout) -> None:
    recorder.user("Then the change log for 4.7.1, please. Be honest about the texts.", wait=380)
    recorder.reply(
        "",
        tree.read(edits.CHANGES),
        tree.log(),
        think="The change log is read by harbour masters. Earlier entries are one sentence each, about "
        "what somebody sees. So the cache gets half a sentence and the texts a whole one, with an apology: "
        "people set out by them.",
    )
    since = tree.run(
        "git log --format='%h %ad %s' --date=short -3 -- src/tidepool/render/sms.py",
        _TEXTS_AGE,
        "For how long the texts were wrong",
    )
    recorder.reply("", tree.read(edits.TEXTS), tree.read(edits.OUTBOX), since, tree.diff(since=4))
    recorder.reply(
        "",
        tree.edit(*edits.NOTE_CHANGES),
        think="Honest about the texts: they began in November 2022, so it was three summers, and in Norway "
        "two hours. And no word that needs a programmer.",
    )
    recorder.reply("", tree.commit("Change log for 4.7.1"))
    recorder.reply(
        "",
        tree.run(
            "git status --short; .venv/bin/python -m tidepool almanac --verify",
            "signature good, edition 2026, 40 harbours",
            "Once more: the almanac is untouched",
        ),
    )
    recorder.reply(
        "The change log is written, and it says of the texts what happened and that we are sorry. "
        "data/almanac.json is untouched, its signature good. The branch is ready for your tag."
    )


_TEXTS_AGE = """\
4239fbc 2026-03-30 Texts: ask the helper for local time
73ab0c4 2026-01-05 sms: cut at 70 characters
0b51e77 2022-11-02 sms: first texts"""


def _thank(recorder: Recorder, tree: Checkout) -> None:
    recorder.user(
        "Tagged and out. High water this morning was 06:51 by the board and 06:51 by Pascoe. He has left a "
        "bucket of mackerel at the door for you. I have told him that you do not eat.",
        wait=5200,
    )
    recorder.reply(
        "Then they are yours, and my best wishes to Mr Pascoe: may the clock and he stay friends until 25 "
        "October, when he gains an hour. The paper will say which one."
    )
