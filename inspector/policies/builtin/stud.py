"""The compaction of the stud-cli wiki: a policy for each of its two pages, and one that satisfies both.

`STUD_WIKI`: Compaction and Memory, contractVersion 1.1.0: core compacts by itself at 80 % of the window.
Satisfies S0-1, S0-4, S0-12, S0-16 to S0-24, S0-29 to S0-44, S0-75 to S0-78.
`STUD_WARNING`: Compaction Warning: warns at 80 %, refuses at 95 %, and only the user starts the tool.
Satisfies S1-4, S1-30, S1-35 to S1-37. `STUD_MERGED`: asks at 80 %, refuses at 95 % (STUD §12).
`STUD_DETERMINISTIC`: `STUD_WIKI` in its deterministic mode.

A state machine may put a compaction off. The wiki says both that it may force one and that it does not, so
`harness.machine` "force" is a choice.

The wiki does not define the size of the recent window on the warning page; two turns are the tool's default.
"""

from __future__ import annotations

from ..core import AT_80, CONTRACT, core_rules
from ..harness import BUNDLED, Harness
from ..policy import Policy

_SOURCE = "stud-cli wiki, Compaction and Memory, contractVersion 1.1.0"
_WARNING = "stud-cli wiki, Compaction Warning"


STUD_WIKI = Policy(
    name="stud-wiki-1.1",
    title="stud-cli wiki 1.1.0",
    version="1.1.0",
    source=_SOURCE,
    contract=CONTRACT,
    trigger=AT_80,
    harness=Harness(
        mode="auto", engine="core", machine="defer", fatal=True, growth=2, reset=False, dialect="stud-wiki"
    ),
    mode="summarise",
    rules=core_rules(4),
)
STUD_WARNING = Policy(
    name="stud-warning",
    title="stud-cli compaction warning",
    source=_WARNING,
    trigger=AT_80.model_copy(update={"enabled": False}),
    harness=Harness(
        mode="manual", engine=BUNDLED, warn=0.8, require=0.95, recover=False, dialect="stud-warning"
    ),
    mode="summarise",
    rules=core_rules(2),
)
STUD_MERGED = Policy(
    name="stud-merged",
    title="stud-cli, both pages",
    source=f"{_SOURCE}; Compaction Warning; merged as in STUD §12",
    trigger=AT_80,
    harness=Harness(
        mode="ask",
        engine="core",
        machine="defer",
        warn=0.8,
        require=0.95,
        recover=False,
        fatal=True,
        growth=2,
        dialect="stud-merged",
    ),
    mode="summarise",
    rules=core_rules(4),
)

STUD_DETERMINISTIC = STUD_WIKI.in_mode("drop-old-outputs").model_copy(
    update={"name": "stud-wiki-deterministic", "title": "stud-cli wiki 1.1.0, deterministic"}
)
