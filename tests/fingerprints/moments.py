"""A session, the moments it is looked at in, and the plans that are made there."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import numpy as np

from .names import api, attempt

LONGEST, SQUEEZED = 400, 120
"""Entries of a path that are replayed, and those that are in half the window."""
SHARES = (25, 50, 75)
"""Where a hand cuts, in per cent of the context."""


class Work:
    """A session to look at, and what several parts need of it."""

    def __init__(self, session: Any) -> None:
        self.session = session

    @cached_property
    def ledger(self) -> Any:
        return api.count_tokens(self.session, "calibrated")

    @cached_property
    def moments(self) -> dict[str, Any]:
        """The leaf, and the moment before a recorded compaction when that is fuller."""
        session = self.session
        on_path = {session.entries[i].id for i in session.path}
        ends = [session.leaf]
        for name, boundary in session.boundaries:
            parent = session[name].parent
            if boundary.kind == "compact" and name in on_path and parent in on_path:
                ends.append(parent)
        sizes = [self.ledger.count_context(session.at(end)) for end in ends]
        fullest = ends[int(np.argmax(sizes))]
        moments = {"leaf": session}
        return moments if fullest == session.leaf else {**moments, "full": session.at(fullest)}

    @property
    def fullest(self) -> Any:
        return [*self.moments.values()][-1]

    @cached_property
    def half(self) -> int:
        """A window that the fullest moment, or the beginning that is replayed in it, fills twice."""
        most = min(self.ledger.count_context(each) for each in (self.fullest, self.begun(SQUEEZED)))
        return max(int(most) // 2, 1)

    def begun(self, most: int) -> Any:
        """The session up to so many entries of its path."""
        path = self.session.path
        return self.session if len(path) <= most else self.session.at(self.session.entries[path[most - 1]].id)

    @cached_property
    def places(self) -> list[tuple[str, Any, dict[str, Any]]]:
        """(name, moment, arguments of make_plan) of every plan."""
        moment = self.fullest
        out: list[tuple[str, Any, dict[str, Any]]] = []
        if moment is not self.session:
            out.append(("leaf", self.session, {}))
        out += [(reason, moment, {"reason": reason}) for reason in ("auto", "manual", "overflow")]
        cuts = api.find_cuts(moment)
        for share in SHARES:
            place = cuts.nearest(share * (len(cuts) - 1) // 100)
            if place is not None:
                out.append((f"{share} %", moment, {"edits": {"cut": cuts[place].entry}}))
        return out


class Tried:
    """A session under a policy: its plans by place, those that are refused as the sentence that says so."""

    def __init__(self, work: Work, policy: Any) -> None:
        self.work, self.policy = work, policy

    @cached_property
    def plans(self) -> dict[str, Any]:
        return {
            name: attempt(partial(api.make_plan, moment, self.work.ledger, self.policy, **options))
            for name, moment, options in self.work.places
        }

    def place(self, plan: Any) -> str:
        return next(name for name, each in self.plans.items() if each is plan)

    def each(self, see: Callable[[Any], Any]) -> dict[str, Any]:
        """Something of every plan."""
        return {
            name: plan if isinstance(plan, dict) else attempt(partial(see, plan))
            for name, plan in self.plans.items()
        }

    @property
    def main(self) -> Any:
        """The plan of a /compact in the fullest moment."""
        return self.plans["manual"]
