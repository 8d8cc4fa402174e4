"""What is told of a replay: events as they happen, and findings a reader should know."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .audit import AuditEvent
from .conduct import Transition
from .life import Life, Refusal
from .run import Finding
from .session import Session


class Chronicle:
    """Events and findings, each told at the moment that `stand` or `stand_at` has set last.

    `model` is the model of the moment where it was switched by hand.
    """

    def __init__(self, session: Session, life: Life) -> None:
        self.session, self.life = session, life
        self.events: list[AuditEvent] = []
        self.findings: list[Finding] = []
        self.step = self.turn = 0
        self.entry: str | None = None
        self.model: str | None = None
        self._provider: str | None = None
        self._model: str | None = None
        self._told: set[str] = set()

    def stand(self, number: int, arrived: bool) -> None:
        """From now on it is the moment before the life's entry `number`, or with `arrived` after it."""
        here = self.life.entry(number)
        self.step, self.turn = int(self.life.step[number]), int(self.life.turn[number])
        after = number if arrived else number - 1
        self.entry = self.life.entry(after).id if after >= 0 else None
        self._provider, self._model = here.provider, here.model

    def stand_at(self, refusal: Refusal) -> None:
        """From now on it is the moment of a refusal in the file."""
        here = self.session.entries[refusal.entry]
        self.step, self.turn, self.entry = refusal.step, refusal.turn, here.id
        self._provider, self._model = here.provider, here.model

    def tell(self, kind: str, before: int | None = None, after: int | None = None, **data: Any) -> None:
        """An event."""
        self._told.add(kind)
        self.events.append(
            AuditEvent(
                kind,
                step=self.step,
                turn=self.turn,
                entry=self.entry,
                correlation=f"turn-{self.turn + 1}",
                provider=self._provider or self.session.format,
                model=self.model or self._model or self.session.model,
                before=before,
                after=after,
                data=data,
            )
        )

    def tell_once(self, kind: str, before: int | None = None, after: int | None = None, **data: Any) -> None:
        """An event that is told once in a run."""
        if kind not in self._told:
            self.tell(kind, before, after, **data)

    def tell_moves(self, moves: Iterable[Transition]) -> None:
        """Moves of the state machine."""
        for move in moves:
            self.tell(move.kind, **move.data)

    def find(self, kind: str, sentence: str) -> None:
        """A finding."""
        self.findings.append(Finding(kind, self.step, sentence))

    def find_once(self, kind: str, sentence: str) -> None:
        """A finding that is made once in a run."""
        if all(finding.kind != kind for finding in self.findings):
            self.find(kind, sentence)
