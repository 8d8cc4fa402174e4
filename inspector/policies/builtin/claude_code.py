"""Claude Code's compaction pipeline as an analysis of it tells: a budget, then Snip, Micro, Auto, Collapse.

Source: seed 002, CLAUDE §1. Satisfies S2-1 to S2-9, S2-13 to S2-16, S2-19, S2-20, S2-46 to S2-50; the
states and the breaker are the harness' (S2-24 to S2-45).

What the seed leaves open, and the choice made here: how many turns Snip keeps (10) and Collapse leaves
unfolded (4); Micro's size (30,000 characters, what Claude Code shows of a command's output) and the budget
(50,000, from when on it writes a result to a file, both CLAUDE §2.5); when the stages stop (at 80 % of the
window, where the state is normal again, but never before Auto has asked for its summary, S2-43); failures
that open the breaker (3, changelog 2.1.76). Gates are the rules' own switches: Snip's is
`drop-oldest-turns.enabled` (HISTORY_SNIP), Reactive's is the harness' `harness.recover` (REACTIVE_COMPACT),
automatic compaction's `harness.mode`. Calls are blocked above 98 % without it; `harness.block` 0.95 is the
other reading (K8).
"""

from __future__ import annotations

from ..harness import Harness
from ..policy import Policy, Stage
from ..rules.collapse import Collapse
from ..rules.drop_oldest_turns import DropOldestTurns
from ..rules.keep_system import KeepSystem
from ..rules.spill_outputs import SpillOutputs
from ..rules.summarise_all import SummariseAll
from ..rules.truncate_outputs import TruncateOutputs
from ..trigger import Target, Trigger

CLAUDE_CODE = Policy(
    name="claude-code",
    title="Claude Code pipeline",
    source="seed 002, the compaction pipeline; figures of code.claude.com and the changelog (CLAUDE §1, §2)",
    trigger=Trigger(ratio=0.95, strict=True, measure="assembled", check="request"),
    target=Target(ratio=0.8),
    harness=Harness(
        mode="auto",
        warn=0.8,
        require=0.95,
        block=0.98,
        strict=True,
        breaker=3,
        reset=False,
        dialect="claude-code",
    ),
    stages=(
        Stage(name="budget", rules=("spill-outputs",)),
        Stage(name="snip", rules=("drop-oldest-turns",), reasons=("auto",)),
        Stage(name="micro", rules=("truncate-outputs",), reasons=("auto",)),
        Stage(name="auto", rules=("summarise-all",), reasons=("auto", "manual"), always=True),
        Stage(name="collapse", rules=("collapse",), reasons=("auto",)),
        Stage(name="reactive", rules=("summarise-all",), reasons=("overflow",)),
    ),
    rules=(
        KeepSystem(),
        SpillOutputs(),
        DropOldestTurns(),
        TruncateOutputs(),
        SummariseAll(),
        Collapse(),
    ),
)
