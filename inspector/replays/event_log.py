"""What is told of a replay: events as they happen, and findings a reader should know."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

from ..policies.events import AuditEvent
from ..policies.harness import StateChange
from ..session.session import Session
from ..tokens.models import SYNTHETIC, name_maker
from .run import RunNote
from .timeline import Refusal, Timeline

UNKNOWN = "unknown"
"""The provider of a reply that the file does not name and the model's name does not give away."""


class EventLog:
    """Events and findings, each told at the moment that `stand` or `stand_at` has set last.

    `model` and `provider` are those of the moment where they were switched by hand.
    """

    def __init__(self, session: Session, life: Timeline) -> None:
        self.session, self.life = session, life
        self.events: list[AuditEvent] = []
        self.findings: list[RunNote] = []
        self.model: str | None = None
        self.provider: str | None = None
        self._number = 0
        self._moment: tuple[int, bool] | Refusal | None = None
        """None is the start of the session, before anything was said or refused."""
        self._told: set[str] = set()

    def stand(self, number: int, arrived: bool) -> None:
        """From now on it is the moment before the life's entry `number`, or with `arrived` after it."""
        self._moment, self._number = (number, arrived), number

    def stand_at(self, refusal: Refusal) -> None:
        """From now on it is the moment of a refusal in the file."""
        self._moment = refusal

    @property
    def step(self) -> int:
        """The step of the moment."""
        if isinstance(self._moment, Refusal):
            return self._moment.step
        return int(self.life.step[self._moment[0]]) if self._moment and len(self.life) else 0

    @property
    def turn(self) -> int:
        """The turn of the moment."""
        if isinstance(self._moment, Refusal):
            return self._moment.turn
        return int(self.life.turn[self._moment[0]]) if self._moment and len(self.life) else 0

    @property
    def entry(self) -> str | None:
        """The id of the entry after which the moment is; None before the first."""
        if isinstance(self._moment, Refusal):
            return self.session.entries[self._moment.entry].id
        number, arrived = self._moment or (0, False)
        return self.life.entry(number - (not arrived)).id if number or arrived else None

    @cached_property
    def _speakers(self) -> list[tuple[str | None, str | None]]:
        """The provider and the model that answer, at each entry of the life: those of the last reply."""
        speakers: list[tuple[str | None, str | None]] = []
        provider = model = None
        for number in range(len(self.life)):
            entry = self.life.entry(number)
            if entry.model != SYNTHETIC:
                provider, model = entry.provider or provider, entry.model or model
            speakers.append((provider, model))
        return speakers

    def _find_speaker(self) -> tuple[str, str | None]:
        """The provider and the model of the moment: switched to, else told by a reply, else by the file."""
        provider, model = self._speakers[self._number] if self._speakers else (None, None)
        if isinstance(self._moment, Refusal):
            refused = self.session.entries[self._moment.entry]
            provider, model = refused.provider or provider, refused.model or model
        model = self.model or model or self.session.model
        return self.provider or provider or name_maker(model) or UNKNOWN, model

    def record(
        self,
        kind: str,
        before: int | None = None,
        after: int | None = None,
        **data: Any,
    ) -> None:
        """Record an event.

        Args:
            kind: The kind of the event.
            before: Tokens of the context before it.
            after: Tokens of the context after it.
            data: The rest of the event; `provider` replaces the one that answers at this moment.
        """
        self._told.add(kind)
        provider, model = self._find_speaker()
        if "provider" in data:
            provider, model = data.pop("provider"), None
        self.events.append(
            AuditEvent(
                kind,
                step=self.step,
                turn=self.turn,
                entry=self.entry,
                correlation=f"turn-{self.turn + 1}",
                provider=provider,
                model=model,
                before=before,
                after=after,
                data=data,
            )
        )

    def record_once(
        self, kind: str, before: int | None = None, after: int | None = None, **data: Any
    ) -> None:
        """An event that is told once in a run."""
        if kind not in self._told:
            self.record(kind, before, after, **data)

    def record_moves(self, moves: Iterable[StateChange]) -> None:
        """Moves of the state machine."""
        for move in moves:
            self.record(move.kind, None, None, **move.data)

    def note(self, kind: str, sentence: str, step: int | None = None) -> None:
        """A finding; `step` is where it stands if not at the moment."""
        self.findings.append(RunNote(kind, self.step if step is None else step, sentence))

    def note_once(self, kind: str, sentence: str) -> None:
        """A finding that is made once in a run."""
        if all(finding.kind != kind for finding in self.findings):
            self.note(kind, sentence)
