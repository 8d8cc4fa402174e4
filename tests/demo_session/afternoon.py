"""Monday afternoon, turns 12 to 15, up to the moment when the window is full."""

from __future__ import annotations

from . import edits, printouts
from .checkout import Checkout
from .recorder import Recorder


def record_afternoon(recorder: Recorder, tree: Checkout) -> None:
    for turn in (_speed_up, _ask_first, _write_the_runbook, _look_at_autumn):
        turn(recorder, tree)


def _speed_up(recorder: Recorder, tree: Checkout) -> None:
    recorder.user(
        "The tests take four minutes today. They took two on Friday. Is that the cache we lost?", wait=3000
    )
    recorder.reply(
        "",
        tree.run(
            ".venv/bin/python -m cProfile -s cumtime -m pytest -q tests/predict | head -36",
            printouts.profile(),
            "Profile the slow tests",
        ),
        tree.read(edits.HARMONICS),
        think="It would be easy to say yes, it is the cache. But an offset per day is a few hundred "
        "look-ups in all the tests together, and two minutes are a great deal more than that. I profile "
        "before I believe it.",
    )
    recorder.reply(
        "It is not the cache. Offsets do not even appear in the profile. The prediction asks for each node "
        "factor again every six minutes of a year, ninety million times, though it changes once a year.",
        tree.read("src/tidepool/predict/constituents.py"),
        tree.read("tests/predict/test_harmonics.py"),
        tree.run(
            "nproc; uptime",
            "4\n 14:37:58 up 81 days,  3:40,  2 users,  load average: 3.87, 3.91, 3.60",
            "See how busy the machine is",
        ),
    )
    recorder.reply(
        "",
        tree.edit(*edits.USE_PARTS),
        tree.edit(*edits.MAKE_PARTS),
        think="A cache again, and keyed by year. This time the year is right: node factors are defined for "
        "the middle of a year. I say so in the docstring, after what happened this morning.",
    )
    recorder.reply("", tree.test("tests/predict", seconds=14.8))
    recorder.reply(
        "", tree.diff(edits.HARMONICS), tree.commit("Prediction: node factors once a year, as defined")
    )
    recorder.reply(
        "The tests of the prediction take 15 seconds now; they took 231. It was not the cache we mended: "
        "the build machine is busy today, and that loop was the first to feel it. And yes, it is a cache "
        "keyed by year. Here the year is the right key, and the docstring says why."
    )


def _ask_first(recorder: Recorder, tree: Checkout) -> None:
    recorder.user(
        "The screen in the fish market still shows the old times. I have reloaded it twice.", wait=650
    )
    recorder.reply(
        "",
        tree.read(edits.SCRIPT),
        tree.read("src/tidepool/templates/board.html"),
        think="Reloading does not help, so it is not the browser's ordinary cache, or the page asks it not "
        "to be. There is one script and one template.",
    )
    recorder.reply(
        "",
        tree.run(
            "journalctl -u tidepool --since 14:00 -n 45 -o short-iso",
            printouts.journal("2026-03-30", 14, 45),
            "See whether the market's screen asks at all",
        ),
        tree.run(
            "curl -sI localhost:8400/boards/gull-haven/today",
            printouts.HEADERS,
            "What the answer says of keeping",
        ),
        think="The service answers 06:12 now, so an old answer must live in the page itself. The headers "
        "allow no keeping, which leaves the script.",
    )
    recorder.reply(
        "The page keeps an answer for 26 hours and does not ask again meanwhile. It was meant for nights "
        "when the line is down, but it keeps a wrong board on a good day too. I turn it round: ask first, "
        "fall back on what was kept.",
        tree.edit(*edits.ASK_FIRST),
        tree.edit(*edits.REMEMBER),
        think="Turned round it must still do what it was written for. Line down: fetch throws, so catch it "
        "and fall back. Service answers with an error: fall back too. Kept answer older than 26 hours: an "
        "empty board, as before, because no time is better than a wrong one. That sentence stands in the "
        "loader, and it holds here as well.",
    )
    check = tree.run(f"node --check {edits.SCRIPT} && echo fine", "fine", "Check the syntax")
    recorder.reply("", check, tree.diff(edits.SCRIPT))
    recorder.reply("", tree.commit("Board: ask first, remember second"), sealed=True)
    recorder.reply(
        "The market's screen will be right after one more reload, and no board holds on to an old answer "
        "while the line is up."
    )


def _write_the_runbook(recorder: Recorder, tree: Checkout) -> None:
    recorder.user(
        'Tove is on call this week. Please write the page "Times are wrong" for her, in plain words.',
        wait=1500,
    )
    recorder.reply(
        "",
        tree.read(edits.RUNBOOK),
        think="First how the other pages sound, so that this one reads as if the same person had written it.",
    )
    recorder.reply(
        "",
        tree.edit(*edits.EXPLAIN_TIMES),
        think="Tove is no programmer and it will be night. Short steps, in the order in which she can do "
        "them, and what she can do without a computer at the end. First the question that today would have "
        "settled in a minute: is it exactly one hour?",
    )
    recorder.reply("", tree.commit("Runbook: when times are wrong"))
    recorder.reply("Done: five steps for Tove, and a sentence on chalk.")


def _look_at_autumn(recorder: Recorder, tree: Checkout) -> None:
    recorder.user(
        "Last thing for today. The pilots want the printed table for the week of 25 October, when the "
        "clocks go back. Please print Penmor and look hard at the Sunday: their own sheet says high water "
        "01:47 that night.",
        wait=2400,
    )
    recorder.reply(
        "",
        tree.run(printouts.PRINT_WEEK, printouts.printed_week({}), "Print the week"),
        tree.read(edits.TEST_TABLE),
        think="Print it first, as the pilots would get it. The tests of the table know no autumn as far as "
        "I have seen; I look at them again for a case around a change.",
    )
    recorder.reply(
        "Sunday is wrong: the table says 00:47 and the pilots say 01:47. I look at what the almanac has "
        "for that night, and at whether our own prediction agrees.",
        tree.run(printouts.OCTOBER_COMMAND, printouts.october(60), "The almanac around the change"),
        tree.run(
            ".venv/bin/python -m tidepool predict penmor 2026-10-25 --utc",
            "00:47 high 5.21\n06:58 low  0.66\n13:09 high 5.30\n19:22 low  0.58",
            "Predict it independently, in UTC",
        ),
        sealed=True,
    )
    recorder.reply(
        "Almanac and prediction agree, so the hour is lost by us again. Before I change anything I look at "
        "how the service lived through last October, and at the rest of the prediction.",
        tree.run(
            "journalctl -u tidepool --since '2025-10-26 00:00' -n 60 -o short-iso",
            printouts.journal("2025-10-26", 0, 60),
            "What the service did last autumn",
        ),
        tree.read("src/tidepool/predict/surge.py"),
    )
    recorder.reply(
        "",
        tree.read("tests/predict/test_extremes.py"),
        tree.read("tests/predict/test_surge.py"),
        think="00:47 UTC is before the change, which comes at 01:00 UTC, so the clock on the wall still "
        "shows summer time: 01:47. We print 00:47 because the helper takes one offset for the whole day, "
        "probed at noon, when winter time has begun. The helper must look at the moment and not at the "
        "day.",
    )
