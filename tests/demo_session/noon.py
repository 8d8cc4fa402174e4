"""Monday around noon, turns 7 to 11: five copies become one, and the coast asks questions."""

from __future__ import annotations

from . import edits, printouts
from .checkout import Checkout, todo
from .recorder import Recorder

PARTS = ("the table", "the calendar", "the texts", "the API", "the locks")
FIVE = tuple(f"Let {part} ask the helper for local time" for part in PARTS)


def record_noon(recorder: Recorder, tree: Checkout) -> None:
    for turn in (
        _move_all_five,
        _check_the_north,
        _time_the_small_machine,
        _rewrite_texts,
        _settle_the_regatta,
    ):
        turn(recorder, tree)


def _move_all_five(recorder: Recorder, tree: Checkout) -> None:
    recorder.user("Yes, all five, please. One commit each, so that I can read them over lunch.", wait=150)
    recorder.reply("", todo(*FIVE), sealed=True)
    recorder.reply(
        "The table first; I have it in front of me.",
        tree.edit(*edits.TABLE_ASKS),
        tree.edit(*edits.TABLE_IMPORTS),
        think="Order: table, calendar, texts, API, locks, from what most people see to what fewest do. "
        "After each one its own tests, then a commit, so that she can read five small changes over lunch "
        "and take back any of them. The table asks for the offset of the first of the month. In March that "
        "is winter, so until tomorrow it would be wrong even with the new key.",
    )
    recorder.reply("", tree.test(edits.TEST_TABLE, seconds=0.9))
    recorder.reply("", tree.commit("Table: ask the helper for local time"), todo(*FIVE, done=1))
    recorder.reply("", tree.read(edits.FEED))
    recorder.reply(
        "The calendar has summer written into it as 31 March to 31 October. That is right in one year out "
        "of seven.",
        tree.edit(*edits.FEED_ASKS),
        tree.edit(*edits.FEED_IMPORTS),
        think="Harbour has two fields here, has_summer and winter, which exist only for this function. "
        "With to_local they are not needed any more. I leave them in place: taking fields out of the "
        "registry is a change of its own and not what I was asked for.",
    )
    recorder.reply("", tree.test(edits.TEST_FEED, seconds=0.8))
    recorder.reply("", tree.commit("Calendar: ask the helper for local time"), todo(*FIVE, done=2))
    recorder.reply("", tree.read(edits.TEXTS), tree.read("tests/render/test_sms.py"))
    recorder.reply(
        "",
        tree.edit(*edits.TEXTS_ASK),
        think="The texts use the machine's own zone. The machine is on UTC, so every text of every summer "
        "has been an hour early, and two hours for Oslo. Nobody noticed because people look at the board. "
        "Worth telling.",
    )
    fits = "tests/render/test_sms.py::test_a_text_fits_into_one_message"
    why = "E   src/tidepool/render/sms.py: NameError: name 'to_local' is not defined"
    red = {fits: printouts.failure(fits, ">   text = text_for(row, registry.find(slug))", why)}
    recorder.reply("", tree.test("tests/render/test_sms.py", failed=red, seconds=0.7))
    recorder.reply("I forgot the import.", tree.edit(*edits.TEXTS_IMPORT))
    recorder.reply("", tree.test("tests/render/test_sms.py", seconds=0.7))
    recorder.reply("", tree.commit("Texts: ask the helper for local time"), todo(*FIVE, done=3))
    recorder.reply(
        "",
        tree.read("tests/api/test_routes.py"),
        tree.edit(*edits.ROUTES_FORGET),
        tree.edit(*edits.ROUTES_ASK),
        tree.edit(*edits.ROUTES_IMPORT),
    )
    recorder.reply("", tree.test("tests/api", seconds=1.6))
    recorder.reply("", tree.commit("API: ask the helper for local time"), todo(*FIVE, done=4))
    recorder.reply("", tree.read(edits.WINDOWS), tree.read("tests/stations/test_windows.py"))
    recorder.reply(
        "The last one, and the boldest: it adds today's summer to whatever date it is asked for.",
        tree.edit(*edits.WINDOWS_ASK),
        tree.edit(*edits.WINDOWS_IMPORT),
        think="is_summer(zone, date.today()) decides for a row of any date. A keeper who prints July in "
        "March gets winter. It calls the helper's own is_summer, which is why the sub-agent nearly passed "
        "it over.",
    )
    recorder.reply(
        "", tree.test("tests/stations/test_windows.py", seconds=0.9), tree.test("tests/render", seconds=2.4)
    )
    recorder.reply("", tree.commit("Locks: ask the helper for local time"), todo(*FIVE, done=5))
    recorder.reply(
        "All five together, once more with fresh eyes.",
        tree.diff(since=5),
        think="Five commits. Before I report I read them as one change: does any place still add minutes "
        "to a moment, did any import stay behind, does a test know the old behaviour by heart?",
    )
    recorder.reply(
        "All five ask the helper now, one commit each, tests green after every one.\n\nOne thing you should "
        "know: the text messages used the machine's zone, which is UTC. So *every* summer text so far was "
        "an hour early, and those for the Norwegian harbours two."
    )


def _check_the_north(recorder: Recorder, tree: Checkout) -> None:
    recorder.user(
        "Two hours! Poor Skarvik. And Iceland has no summer time at all: are the northern harbours right "
        "now?",
        wait=7200,
    )
    days = "2026-03-30 2026-07-01 2026-12-01"
    recorder.reply(
        "",
        tree.run(f".venv/bin/python -m tidepool offsets {days}", printouts.NORTH, "Print offsets by harbour"),
        tree.grep("Atlantic/|Oslo", "src/tidepool/stations"),
        think="Iceland stays on UTC all year, the Faroes change with London, Oslo is one hour ahead of it.",
    )
    recorder.reply(
        "",
        tree.run(
            "journalctl -u tidepool --since 'yesterday 00:00' -n 40 -o short-iso",
            printouts.journal("2026-03-29", 0, 40),
            "The night of the change",
        ),
        tree.read("src/tidepool/stations/gauges.py"),
        think="The table of offsets is right for all six zones. What remains is whether anything in the "
        "north was written with a wrong hour that night and stays wrong: gauges log their readings, and a "
        "reading with a wrong hour would bend the prediction for weeks. If they log in UTC there is "
        "nothing to repair.",
    )
    recorder.reply(
        "They are right. Svartavik, Kria Bank and Lundahofn stay at UTC all year, the Faroes go with "
        "London, and Skarvik has +60 in winter and +120 in summer. The gauges log in UTC and were never "
        "wrong."
    )


def _time_the_small_machine(recorder: Recorder, tree: Checkout) -> None:
    recorder.user(
        "The cache was there for the little machine at Wick Sound, it needs forever to look up a zone. Is it "
        "slow again now that we ask for every day?",
        wait=2400,
    )
    draw = ".venv/bin/python -m tidepool draw --all --time"
    recorder.reply(
        "I measure it there and not here, before the change and after it.",
        tree.run(
            f"ssh wick-sound 'cd tidepool && git checkout -q 4.7.0 && {draw}'",
            "40 boards in 1.52 s (offsets 0.21 s, rows 0.90 s, ink 0.41 s)",
            "Draw all boards on the small machine, as on Friday",
        ),
        tree.run(
            f"ssh wick-sound 'cd tidepool && git checkout -q clock-change && {draw}'",
            "40 boards in 1.53 s (offsets 0.24 s, rows 0.88 s, ink 0.41 s)",
            "Draw them with the change",
        ),
        think="Forty harbours in six zones, and a board is drawn once a day: with the new key that is six "
        "look-ups a day where it was six a year. At 40 ms each, a quarter of a second every night. I "
        "expect no difference that anybody could feel, but the remark in the log says 40 ms, so I want the "
        "number from that machine.",
    )
    recorder.reply(
        "It is not: 1.53 seconds for all forty boards, and 1.52 on Friday. The key by day costs six "
        "look-ups a night instead of six a year, a quarter of a second in all. Only a whole year drawn in "
        "one go would feel it."
    )


def _rewrite_texts(recorder: Recorder, tree: Checkout) -> None:
    recorder.user(
        "Pascoe has just shown me his telephone. Tomorrow's text still has the old time in it.", wait=3600
    )
    recorder.reply(
        "Texts are written a day ahead and wait for the exchange, so tomorrow's was written before the "
        "change. I look at what waits.",
        tree.run(".venv/bin/python -m tidepool outbox --list", printouts.outbox("early"), "List what waits"),
        tree.read("tests/jobs/test_outbox.py"),
        think="The texts ask the helper since this morning, so new ones are right. His is from the batch "
        "that was written last night. If the outbox never writes a day twice, all of tomorrow is still "
        "wrong.",
    )
    recorder.reply(
        "",
        tree.edit(*edits.DROP_FIRST),
        think="fill() adds and never replaces, so a text that waits is never written again. Dropping the "
        "day first makes it safe to run twice. Texts already handed to the exchange are out of reach.",
    )
    recorder.reply("", tree.test("tests/jobs", seconds=1.3))
    recorder.reply(
        "",
        tree.run(
            ".venv/bin/python -m tidepool outbox --fill 2026-03-31",
            "dropped 74 texts, wrote 74 texts for 2026-03-31",
            "Write tomorrow's texts again",
        ),
        tree.commit("Outbox: write a day's texts anew, not beside the old ones"),
    )
    recorder.reply(
        "Tomorrow's 74 texts are written anew with the right times, and `fill` can now be run twice without "
        "harm. What was sent this morning cannot be called back."
    )


def _settle_the_regatta(recorder: Recorder, tree: Checkout) -> None:
    recorder.user(
        "The sailing school says that their May regatta has moved by an hour in everybody's calendar since "
        "you changed the feed. They are glad, they only want to know which of the two is true.",
        wait=3000,
    )
    feed = "curl -s localhost:8400/feeds/lowen-cove.ics | sed -n '/202605/p' | head -12"
    recorder.reply(
        "",
        tree.run(feed, printouts.MAY, "The school's feed for May"),
        think="One of the two is an hour off, and I changed the feed today, so I do not take my own side. "
        "I want a third witness that shares no code with either.",
    )
    recorder.reply(
        "",
        tree.run(
            ".venv/bin/python -m tidepool print lowen-cove 2026-05-16",
            "LOWEN COVE, Saturday 16 May 2026\n 05:54 low   0.7 m\n 12:02 HIGH  4.9 m\n 18:15 low   0.8 m",
            "The board for the day of the regatta",
        ),
        tree.read("src/tidepool/predict/extremes.py"),
        think="Feed and board agree on 12:02, but they share one helper. As a check that does not use it "
        "at all, our own prediction gives UTC. I expect 11:02.",
    )
    recorder.reply(
        "",
        tree.run(
            ".venv/bin/python -m tidepool predict lowen-cove 2026-05-16 --utc",
            "04:54 low  0.71\n11:02 high 4.88\n17:15 low  0.83",
            "Predict it independently, in UTC",
        ),
    )
    recorder.reply(
        "The new one is true: high water at Lowen Cove on 16 May is 12:02 by the clock. Our own prediction, "
        "which knows nothing of the almanac or of clocks, says 11:02 UTC. The start gun may stay where the "
        "school first wanted it."
    )
