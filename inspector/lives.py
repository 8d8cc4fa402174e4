"""A replay as work to be done elsewhere: a session and all that living it again depends on."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from .policies.policy import Policy
from .replays import replay
from .run import Run
from .scenario import Scenario
from .session.session import Session
from .tokens.history import History
from .tokens.ledger import Ledger

Tell = Callable[[float], None]


class Life(NamedTuple):
    """A session and all that a replay of it depends on."""

    session: Session
    ledger: Ledger
    history: History
    policy: Policy
    scenario: Scenario
    window: int | None

    def live(self, tell: Tell | None = None) -> Run:
        return replay(
            self.session,
            self.policy,
            self.scenario,
            ledger=self.ledger,
            window=self.window,
            history=self.history,
            tell=tell,
        )
