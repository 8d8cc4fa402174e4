"""System verbatim, the last N turns verbatim, everything older summarised: the recent-window policy."""

from __future__ import annotations

from ..policy import Policy
from ..rules.keep_recent_turns import KeepRecentTurns
from ..rules.keep_system import KeepSystem
from ..rules.summarise_older import SummariseOlder
from ..trigger import Trigger

KEEP_RECENT_TURNS = Policy(
    name="keep-recent-turns",
    title="Keep recent turns",
    source="the recent window of the stud-cli wiki, Compaction and Memory 1.1.0: 80 % trigger, last 4 turns",
    trigger=Trigger(ratio=0.8, measure="assembled", check="request"),
    rules=(KeepSystem(), KeepRecentTurns(turns=4), SummariseOlder(split_turns=False)),
)
