"""After the compaction: the rest of turn 15, and turn 16. What the summary left out has its price."""

from __future__ import annotations

from inspector.demo import CONSTRAINT, LOST_PATH

from . import edits, printouts
from .checkout import Call, Checkout
from .project import ROOT
from .recorder import Recorder

SUMMARY = """\
This session continues an earlier one that filled its window. What follows is a summary of it.

## What was asked

Marit keeps the tide boards of forty small harbours (project tidepool, branch clock-change). Since the \
clocks went forward on Sunday 29 March 2026 every high water was shown an hour early; a boat of Mr Pascoe's \
sat on the bar at Gull Haven because of it. She asked for the cause, for a fix with a test, and then for \
everything around it: the build server, the nightly job, the text messages, the calendar feed, slow tests, \
the screen in the fish market, a page for Tove who is on call. The last question is about October.

## What was found and done

1. The cause was a cache: the offsets helper remembered one offset per zone and year, so whoever asked \
first decided for the whole year. The service had been started in January and kept winter. The helper \
remembers by day now and has a function `to_local`, which every caller should use. A test named after Mr \
Pascoe's morning covers it, with two seasons asked for in both orders.
2. The build server had three failures. Two were ours and are mended; `tests/stations/test_gauges.py` times \
out in the simulator now and then and is not.
3. `src/tidepool/jobs/nightly.py` warmed the cache up for 1 January; it asks for the day that is drawn.
4. Five places had an offset of their own and call `to_local` now, one commit each:
   - `src/tidepool/render/table.py`, `clock_face`: took the offset of the first of the month
   - `src/tidepool/render/ical.py`, `stamp`: had summer from 31 March to 31 October in every year
   - `src/tidepool/render/sms.py`, `text_for`: used the machine's zone; texts had been an hour early every \
summer, in Norway two
   - `src/tidepool/api/routes.py`, `today`: kept offsets from when the app was started
   - `src/tidepool/stations/windows.py`, `lock_opens`: added today's summer to any date
5. The northern harbours were checked and are right: Iceland has no summer time, the Faroes go with London, \
Norway is one hour ahead. The gauges log in UTC.
6. Wick Sound: drawing all boards takes 1.53 s there, as before. Nothing to do.
7. `src/tidepool/jobs/outbox.py`: a day's texts are dropped before they are written again. Tomorrow's 74 \
texts were rewritten.
8. The regatta of 16 May at Lowen Cove: high water at 12:02 is right, checked against our own prediction.
9. `src/tidepool/predict/harmonics.py`: node factors are computed once a year, the tests take 15 s and not \
231.
10. `src/tidepool/static/board.js` asks the service first and falls back on what it kept, for 26 hours at \
most.
11. `docs/runbook.md` has a page "Times are wrong".

## Mistakes on the way

An import was forgotten in `src/tidepool/render/sms.py`; the tests said so at once.

## Where it stands

All tests were green after each step, everything is committed on clock-change. The pilots want the printed \
table for the week of 25 October, when the clocks go back. At Penmor the table says 00:47 for the first \
high water on that Sunday, the pilots' sheet says 01:47. The almanac has 00:47 for it, and so has our own \
prediction. `python -m tidepool print penmor --week 2026-10-19` prints the week.

## Next

Make the printed table agree with the pilots' sheet, probably in the offsets helper, and print the week \
again. Marit writes short messages and likes a plain answer, small commits, and a test for everything."""


def record_aftermath(recorder: Recorder, tree: Checkout) -> None:
    recorder.compact(SUMMARY)
    for turn in (_search_again, _repeat_the_rule):
        turn(recorder, tree)


def _search_again(recorder: Recorder, tree: Checkout) -> None:
    recorder.reply(
        "The hour of a clock change belongs into the offsets helper. My notes do not say which file that is, "
        "so I look for it. Zones belong to harbours, so I begin in stations.",
        tree.find("src/tidepool/stations/*.py"),
        think="The summary speaks of an offsets helper and of to_local, but not of where they are.",
    )
    recorder.reply(
        "This one has the name.",
        tree.read("src/tidepool/stations/datum_offsets.py"),
        think="datum_offsets is the only file here with offsets in its name. I read it whole rather than "
        "guess from its first lines.",
    )
    recorder.reply(
        "Those are heights of gauges, not minutes of clocks. I search the whole package.", tree.grep("offset")
    )
    recorder.reply(
        "Here it is, and its tests beside it. I have to read both again from the start.",
        tree.read(LOST_PATH),
        tree.read(edits.TEST_OFFSETS),
        sealed=True,
    )
    recorder.reply(
        "",
        tree.read(edits.TABLE),
        tree.run(printouts.NIGHT_COMMAND, printouts.october(30), "The almanac's rows of that night"),
        think="The almanac says 00:47 and the pilots say 01:47. If the almanac goes by the harbour's "
        "clock, then that row is an hour off, and the smallest change is to correct the row.",
    )
    wrong = {
        "file_path": f"{ROOT}/data/almanac.json",
        "old_string": '["2026-10-25T00:47Z", "high", 5.21]',
        "new_string": '["2026-10-25T01:47Z", "high", 5.21]',
    }
    recorder.reply(
        "The almanac's row of that night is an hour before the pilots' sheet. I correct it there.",
        Call("Edit", wrong, "The user declined this edit.", is_error=True),
    )


def _repeat_the_rule(recorder: Recorder, tree: Checkout) -> None:
    recorder.user(
        f"Stop! I said it this morning: {CONSTRAINT}. It is signed by the Hydrographic Office. One byte, "
        "and every board on the coast goes blank. And the row is right, it is UTC.",
        wait=25,
    )
    recorder.reply(
        "You are right, and I am sorry. That rule was not among my notes after the conversation was "
        "compacted, and I should have asked before I touched data. I make sure that the file is as it was.",
        tree.run(
            "git status --short; .venv/bin/python -m tidepool almanac --verify",
            "signature good, edition 2026, 40 harbours",
            "Verify the almanac's signature",
        ),
        tree.read("src/tidepool/almanac/loader.py"),
        think="The rule was said this morning, and the summary dropped it. The edit was declined, so "
        "nothing has happened, but I verify. And I read the loader's words on UTC before I touch the "
        "helper.",
    )
    recorder.reply(
        "Untouched, and its times are UTC, as the loader says. So 00:47 is before the change at 01:00 UTC, "
        "and the wall still shows summer time: 01:47. The helper takes one offset for the whole day. It "
        "must take that of the moment. The tests first.",
        tree.edit(*edits.TEST_IMPORTS),
        tree.edit(*edits.TEST_AUTUMN),
    )
    recorder.reply(
        "",
        tree.edit(*edits.USE_MOMENT),
        think="With the moment itself zoneinfo does the whole work: attach UTC, convert, drop the zone. "
        "fold survives the conversion, which tells the two equal hours apart. offset_minutes stays as it "
        "is for callers that mean a day. comes_twice asks whether the offset before is larger than the one "
        "after: then the clock went back and the time stands on it twice.",
    )
    recorder.reply("", tree.test("tests/calendar", seconds=0.5))
    recorder.reply("", tree.test("tests/render", "tests/stations", seconds=4.1))
    recorder.reply(
        "", tree.run(printouts.PRINT_WEEK, printouts.printed_week({"6.0": "01:47"}), "Print the week again")
    )
    recorder.reply("", tree.diff(), tree.commit("Local time belongs to the moment, not to its day"))
    recorder.reply(
        f"The Sunday says 01:47 now, as the pilots' sheet does. The change is in `{LOST_PATH}`, with three "
        "tests for the two nights a year when it matters. data/almanac.json was not touched and its "
        "signature is good.\n\nI keep the rule in mind: nothing writes to that file."
    )
