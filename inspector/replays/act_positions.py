"""Find the entry of a session at which an event of a scenario happens: by its id, "turn 5" or "step 23"."""

from __future__ import annotations

import re
from collections import defaultdict

import numpy as np

from ..errors import EditError
from ..session.session import Session
from ..session.tree import Ints
from ..tokens.history import History
from .scenario import Scenario, ScenarioEvent

_SAY = 'name an entry, or say "turn 5" or "step 23"'
_COUNTED = re.compile(r"(turn|step) ([1-9]\d{0,8})")


def place_acts(
    scenario: Scenario, session: Session, history: History, at: Ints
) -> dict[int, list[ScenarioEvent]]:
    """Events by the index of the replayed entry that they come before, `at` in `session.entries`.

    An event at an entry that is not replayed comes before the next one that is. Raises `EditError` for an
    event at a position that is not on the path.
    """
    replayed = {i: number for number, i in enumerate(at.tolist())}
    where, coming = {}, 0
    for i in history.path.tolist():
        where[i] = replayed.get(i, coming)
        coming = where[i] + (i in replayed)
    events_by_index: dict[int, list[ScenarioEvent]] = defaultdict(list)
    for act in scenario.acts:
        number = where.get(find_act(act, session, history), -1)
        if number < 0:
            raise EditError(act.do, act.at, f"no such entry on the path that is replayed; {_SAY}")
        events_by_index[number].append(act)
    return events_by_index


def find_act(act: ScenarioEvent, session: Session, history: History) -> int:
    """The position in `session.entries` of the entry that an event comes before, -1 for an unknown name.

    Raises `EditError` for a turn or a step that the session does not have.
    """
    counted = _COUNTED.fullmatch(act.at) if act.at not in session.index else None
    if counted is None:
        return session.index.get(act.at, -1)
    step = find_step(act.at, history.turn)
    if step is None:
        turns, steps = len(set(history.turn.tolist())), len(history.turn)
        raise EditError(act.do, act.at, f"the session has {turns:,} turns and {steps:,} steps")
    return int(history.path[np.searchsorted(history.step, step)])


def find_step(at: str, turn: Ints) -> int | None:
    """The step (from 0) of "turn 5" or "step 23", if `turn` of each step has it; None for anything else.

    >>> find_step("turn 2", np.array([0, 0, 1, 1])), find_step("step 4", np.array([0, 0, 1]))
    (2, None)
    """
    counted = _COUNTED.fullmatch(at)
    if counted is None:
        return None
    number = int(counted[2]) - 1
    if counted[1] == "step":
        return number if number < len(turn) else None
    steps = np.flatnonzero(turn == number)
    return int(steps[0]) if len(steps) else None


def check_acts(scenario: Scenario, session: Session, history: History) -> None:
    """Raise `EditError` for an event at a position that is not on the path."""
    place_acts(scenario, session, history, history.path)
