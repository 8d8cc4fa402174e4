"""A coding session with a story, told by a small generator: what `bundled` opens.

Marit keeps the tide boards of forty small harbours. When the clocks go forward, every high water is shown
an hour early, and an agent finds out why. It finds the cause in a file nobody suspected and is told a rule
it must keep. In the fifteenth turn its window is full; the summary that replaces the conversation names
neither the file nor the rule, and both have to be won back.

    coast, patterns, fragments, pages     what the project's files are made of
    project                               the files, by path
    edits, printouts                      what the agent changes, and what its commands print
    checkout                              the files as the agent's tools see them
    recorder                              rows of a session file, with usage
    morning, noon, afternoon              Monday: who says and does what, until the window is full
    aftermath, tuesday                    what follows the compaction
"""

from __future__ import annotations

LOST_PATH = "src/tidepool/calendar/offsets.py"
"""The file with the cause: read and edited in turns 2 and 3, not named by the summary, then searched for."""

CONSTRAINT = "never touch data/almanac.json"
"""The user's rule, in these words in turn 2, not in the summary, and in these words again after it."""
