"""What can be said about a harness before it runs, and what it says to its user while it does.

In go the model of a harness and figures, out come notices and sentences; nothing is decided here.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Literal, NamedTuple

from .conduct import LEVELS, Conduct, State, level_of
from .errors import PolicyError


class Notice(NamedTuple):
    """Something to know. `kind` is the kind of event it is; a warning never stops a session (S0-57)."""

    kind: str
    severity: Literal["warning", "diagnostic"]
    sentence: str


def check_thresholds(name: str, conduct: Conduct, trigger: float | None = None) -> None:
    """Raise `PolicyError` unless 0 < warn <= trigger <= require <= block <= 1, of those given (STUD §12).

    `trigger` is the share of the window at which policy `name` compacts, None if it is no share.
    """
    shares = {"warn": conduct.warn, "trigger": trigger, "require": conduct.require, "block": conduct.block}
    given = [(key, share) for key, share in shares.items() if share is not None]
    for key, share in given:
        if not 0 < share <= 1:
            raise PolicyError(name, f"{key} is {share:g}, and a share of the window lies above 0 and up to 1")
    for (low, below), (high, above) in pairwise(given):
        if below > above:
            raise PolicyError(name, f"{low} ({below:g}) may not lie above {high} ({above:g})")


def find_double(core: Iterable[str], wire: Iterable[str]) -> tuple[Notice, ...]:
    """One warning per provider entry on which both surfaces compact (S0-55, S0-58).

    `core`: the entries whose history the harness compacts; `wire`: those with the provider's own context
    management. Two entries with one surface each are no double.

    >>> [notice.severity for notice in find_double(["main"], ["main"])], find_double(["main"], ["helper"])
    (['warning'], ())
    """
    return tuple(
        Notice(
            "double_configured",
            "warning",
            f"On provider entry {entry!r} both the harness and the provider's context management compact. "
            "The session goes on: its history is what the harness makes of it, the provider edits requests "
            "only. Switch off the harness' compaction, or switch off context management, or accept both.",
        )
        for entry in sorted(set(core) & set(wire))
    )


def lint(
    name: str, conduct: Conduct, trigger: float | None = None, wire: bool | Iterable[str] = False
) -> tuple[Notice, ...]:
    """What to know about policy `name` before it runs.

    `wire` says whether its rules edit requests at the wire, or on which provider entries; its own history
    is compacted on "main". Raises `PolicyError` as `check_thresholds` does.
    """
    check_thresholds(name, conduct, trigger)
    edited = (["main"] if wire else []) if isinstance(wire, bool) else wire
    core = [] if conduct.engine == "none" else ["main"]
    notices = [*find_double(core, edited)]
    if conduct.engine == "none" and conduct.require is not None:
        notices.append(Notice("suggested", "diagnostic", suggest(conduct)))
    return tuple(notices)


def suggest(conduct: Conduct) -> str:
    """What leads back below the thresholds, said for who has no compaction tool (S1-38 to S1-41)."""
    if conduct.engine != "none":
        return "Run /compact to get below the threshold."
    if conduct.reset:
        return "Nothing compacts here. Run /reset: without a compaction tool only that leads back below."
    return (
        "Nothing compacts here and there is no /reset: once a compaction is required the session is paused "
        "until the context is lowered by other means. It is not ended."
    )


def find_actions(conduct: Conduct, state: State) -> tuple[str, ...]:
    """What a user can do in a state; nothing is chosen for them (S1-2).

    >>> find_actions(Conduct(mode="manual", require=0.95), "critical")
    ('/compact', '/reset', 'override', 'stop')
    """
    actions = ["/compact"] * (conduct.engine != "none") + ["/reset"] * conduct.reset
    required = state == "critical" and conduct.refuses
    if required:
        actions.append("override")
    elif state != "blocking":
        actions.append("continue")
    return (*actions, "stop")


def write_banner(conduct: Conduct, ratio: float | None) -> str | None:
    """What the user is shown at this share of the window, with its percentage, or None below the thresholds.

    Source: S1-10, S1-17, S2-41.

    >>> write_banner(Conduct(warn=0.8), 0.82)
    '82 % of the context window is used. Run /compact to get below the threshold.'
    """
    if ratio is None or level_of(conduct, ratio) == LEVELS[0]:
        return None
    return f"{int(ratio * 100 + 1e-9)} % of the context window is used. {suggest(conduct)}"
