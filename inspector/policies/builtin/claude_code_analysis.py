"""Claude Code's compaction pipeline after a published analysis: a budget, Snip, Micro, Auto, Collapse.

The pipeline runs before every request, and each stage has its own condition: the budget and Micro depend on
the size of outputs, Snip on the number of turns, Auto on the trigger, Collapse on the target. Snip and
Collapse are views of the request: the stored messages stay. The trigger compares 95 % of the window with the
context after the budget, Snip and Micro. Auto, /compact and Reactive summarise the full conversation, so a
summariser reads the stored history, with the turns that Snip does not send.

Source: seed 002, CLAUDE §1. Satisfies S2-1 to S2-9, S2-13 to S2-16, S2-19, S2-20, S2-46 to S2-50; the
states and the breaker are the harness' (S2-24 to S2-45).

The seed leaves these values open; the choices made here: Snip keeps 10 turns and Collapse leaves 4 unfolded;
Micro applies above 30,000 characters (as much as Claude Code shows of a command's output), the budget is
50,000 (above it a result is written to a file, both CLAUDE §2.5); Collapse folds above 80 % of the window,
the end of the normal state, or always if there is no target; 3 failures open the breaker (changelog 2.1.76).
Without a summary, because Auto does not fire, failed or is stopped by the breaker, the results of Snip and
Micro remain, and Collapse folds a request that is still above the target.

Gates are the rules' own switches: Snip's is `drop-oldest-turns.enabled` (HISTORY_SNIP), Reactive's is the
harness' `harness.recover` (REACTIVE_COMPACT), automatic compaction's `harness.mode` or `trigger.enabled`.
Calls are blocked above 98 % without it; `harness.block` 0.95 is the other reading (K8).
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

CLAUDE_CODE_ANALYSIS = Policy(
    name="claude-code-analysis",
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
        Stage(name="snip", rules=("drop-oldest-turns",), early=True),
        Stage(name="micro", rules=("truncate-outputs",), early=True),
        Stage(name="auto", rules=("summarise-all",), reasons=("auto", "manual"), always=True),
        Stage(name="collapse", rules=("collapse",), reasons=("auto",), early=True),
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
