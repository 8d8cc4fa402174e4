"""Generates the demo session that the package ships: `python -m tests.demo_session` writes it anew.

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

The usage figures are those of a provider that counts 1.2 tokens for each token of o200k_base.
"""

from __future__ import annotations

from . import aftermath, afternoon, morning, noon, tuesday
from .checkout import Checkout
from .recorder import Recorder

TITLE = "Every high water an hour early"


def generate() -> bytes:
    """The session as a Claude Code file, about 1 MB of JSON lines: the same bytes every time."""
    recorder, tree = Recorder(), Checkout()
    morning.record_morning(recorder, tree)
    noon.record_noon(recorder, tree)
    afternoon.record_afternoon(recorder, tree)
    aftermath.record_aftermath(recorder, tree)
    tuesday.record_tuesday(recorder, tree)
    return recorder.finish(TITLE)
