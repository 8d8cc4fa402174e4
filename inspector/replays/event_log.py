"""The log of a replay: events as they happen, and findings for the user."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from ..policies.events import UNKNOWN, AuditEvent
from ..session.entries import Entry
from ..session.session import Session
from ..tokens.models import SYNTHETIC, name_maker
from .run import RunNote
from .timeline import Refusal, Timeline


class EventLog:
    """Events and findings, recorded at the point in time that the last call of `stand` or `stand_at` set.

    `step` and `turn` are of that point; `entry` is the id of the last entry before it, None before the first.
    `model` and `provider` are the present ones if they were switched by the scenario.
    """

    def __init__(self, session: Session, timeline: Timeline) -> None:
        self.session, self.timeline = session, timeline
        self.events: list[AuditEvent] = []
        self.findings: list[RunNote] = []
        self.model: str | None = None
        self.provider: str | None = None
        self.step = self.turn = self._number = 0
        self.entry: str | None = None
        self._refused: Entry | None = None

    def stand(self, number: int, arrived: bool) -> None:
        """Set the point in time before the timeline's entry `number`, or with `arrived` after it."""
        self.step, self.turn = int(self.timeline.step[number]), int(self.timeline.turn[number])
        self.entry = self.timeline.entry(number - (not arrived)).id if number or arrived else None
        self._number, self._refused = number, None

    def stand_at(self, refusal: Refusal) -> None:
        """Set the point in time to a recorded refusal."""
        self._refused = self.session.entries[refusal.entry]
        self.step, self.turn, self.entry = refusal.step, refusal.turn, self._refused.id

    @cached_property
    def _speakers(self) -> list[tuple[str | None, str | None]]:
        """The provider and the model of the last reply, at each entry of the timeline."""
        speakers: list[tuple[str | None, str | None]] = []
        provider = model = None
        for number in range(len(self.timeline)):
            entry = self.timeline.entry(number)
            if entry.model != SYNTHETIC:
                provider, model = entry.provider or provider, entry.model or model
            speakers.append((provider, model))
        return speakers

    def _find_speaker(self) -> tuple[str, str | None]:
        """The present provider and model: as switched by the scenario, else of a reply, else of the file."""
        provider, model = self._speakers[self._number] if self._speakers else (None, None)
        if self._refused is not None:
            provider, model = self._refused.provider or provider, self._refused.model or model
        model = self.model or model or self.session.model
        return self.provider or provider or name_maker(model) or UNKNOWN, model

    def record(self, kind: str, before: int | None = None, after: int | None = None, **data: Any) -> None:
        """Record an event.

        Args:
            kind: The kind of the event.
            before: Tokens of the context before it.
            after: Tokens of the context after it.
            data: The rest of the event; `provider` replaces the one that answers at this moment.
        """
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

    def is_last(self, kind: str) -> bool:
        """Return whether the last event has this kind and the present point in time."""
        last = self.events[-1] if self.events else None
        return last is not None and (last.kind, last.step, last.entry) == (kind, self.step, self.entry)

    def note(self, kind: str, sentence: str, step: int | None = None) -> None:
        """Add a finding at `step`, by default the present one."""
        self.findings.append(RunNote(kind, self.step if step is None else step, sentence))

    def note_once(self, kind: str, sentence: str) -> None:
        """Add a finding unless its kind was added before."""
        if all(finding.kind != kind for finding in self.findings):
            self.note(kind, sentence)
