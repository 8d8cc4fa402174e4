"""The stud-cli wiki's compaction, as its two pages tell it and as one that holds wherever they agree.

`STUD_WIKI`: Compaction and Memory, contractVersion 1.1.0: core compacts by itself at 80 % of the window.
Satisfies S0-1, S0-4, S0-12, S0-16 to S0-24, S0-29 to S0-44, S0-75 to S0-78.
`STUD_WARNING`: Compaction Warning: warns at 80 %, refuses at 95 %, and only the user starts the tool.
Satisfies S1-4, S1-30, S1-35 to S1-37. `STUD_MERGED`: asks at 80 %, refuses at 95 % (STUD §12).
`STUD_DETERMINISTIC`: the first in its deterministic mode.

The wiki leaves open how the recent window of the warning page is sized; two turns are its tool's default.
"""

from __future__ import annotations

from ...errors import PolicyError
from ..harness import BUNDLED, Harness
from ..policy import Policy, Stage
from ..rules.clear_tool_outputs import DropOldOutputs
from ..rules.drop_reasoning import DropReasoning
from ..rules.keep_recent_turns import KeepRecentTurns
from ..rules.keep_system import KeepSystem
from ..rules.summarise_older import SummariseOlder
from ..trigger import Target, Trigger

_SOURCE = "stud-cli wiki, Compaction and Memory, contractVersion 1.1.0"
_WARNING = "stud-cli wiki, Compaction Warning"
_AT_80 = Trigger(ratio=0.8, measure="assembled", check="request")


def _rules(turns: int) -> tuple[KeepSystem, KeepRecentTurns, DropReasoning, DropOldOutputs, SummariseOlder]:
    """What every profile is made of; the switched-off ones are modes."""
    return (
        KeepSystem(),
        KeepRecentTurns(turns=turns),
        DropReasoning(enabled=False),
        DropOldOutputs(enabled=False),
        SummariseOlder(split_turns=False),
    )


STUD_WIKI = Policy(
    name="stud-wiki-1.1",
    title="stud-cli wiki 1.1.0",
    source=_SOURCE,
    trigger=_AT_80,
    harness=Harness(mode="auto", engine="core", reset=False, dialect="stud-wiki"),
    rules=_rules(4),
)
STUD_WARNING = Policy(
    name="stud-warning",
    title="stud-cli compaction warning",
    source=_WARNING,
    trigger=_AT_80.model_copy(update={"enabled": False}),
    harness=Harness(
        mode="manual", engine=BUNDLED, warn=0.8, require=0.95, recover=False, dialect="stud-warning"
    ),
    rules=_rules(2),
)
STUD_MERGED = Policy(
    name="stud-merged",
    title="stud-cli, both pages",
    source=f"{_SOURCE}; Compaction Warning; merged as in STUD §12",
    trigger=_AT_80,
    harness=Harness(mode="ask", engine="core", warn=0.8, require=0.95, recover=False, dialect="stud-merged"),
    rules=_rules(4),
)

MODES: dict[str, dict[str, bool]] = {
    "summarise": {},
    "drop-reasoning": {"drop-reasoning.enabled": True},
    "outputs-first": {"drop-old-outputs.enabled": True},
    "drop-old-outputs": {"drop-old-outputs.enabled": True, "summarise-older.enabled": False},
}
"""Compaction modes of core and the switches they set (S0-76). The last calls no model (S0-75)."""


def set_mode(policy: Policy, mode: str) -> Policy:
    """A stud policy in another mode, all else as it is. Raises `PolicyError` for an unknown one.

    "outputs-first" drops old outputs and summarises only if that leaves more than half the window (S0-19).

    >>> [rule.kind for rule in set_mode(STUD_WIKI, "drop-old-outputs").rules if rule.enabled]
    ['keep-system', 'keep-recent-turns', 'drop-old-outputs']
    """
    if mode not in MODES:
        raise PolicyError(policy.name, f"there is no compaction mode {mode!r}", MODES)
    switches = dict.fromkeys(("drop-reasoning.enabled", "drop-old-outputs.enabled"), False)
    changed = policy.configured({**switches, "summarise-older.enabled": True, **MODES[mode]})
    stages: tuple[Stage, ...] = ()
    if mode == "outputs-first":
        stages = (
            Stage(name="outputs", rules=("drop-old-outputs",)),
            Stage(name="summary", rules=("summarise-older",)),
        )
    return changed.model_copy(update={"stages": stages, "target": Target() if stages else None})


STUD_DETERMINISTIC = set_mode(STUD_WIKI, "drop-old-outputs").model_copy(
    update={"name": "stud-wiki-deterministic", "title": "stud-cli wiki 1.1.0, deterministic"}
)
