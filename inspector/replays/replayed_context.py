"""The context a replay lives in: what compactions carried over, and the life that came since.

It is kept as figures, step by step, and as a session of its own only when somebody plans on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..planning.plan import Plan, plan_moment
from ..policies.policy import Edits, Policy
from ..policies.table import COUNTED
from ..policies.trigger import Measure, Reason, TailWeight
from ..session.entries import Entry
from ..session.session import Session
from ..tokens.counters import chars4_utf16
from ..tokens.ledger import Ledger
from ..tokens.moment import Moment, find_moment
from ..tokens.outside import Outside, Part
from ..tokens.weighed_path import share_tokens, spread_entries
from .carry import CarriedEntry, Columns, chain, change, count_carried, join_ledger, take_columns
from .timeline import Timeline, weigh_entries

AHEAD = 64
"""Entries of the life that are made ready beyond those that have arrived, at least."""


class ReplayedContext:
    """`position` entries of the life have arrived; `carried` stands for all before `first`."""

    def __init__(
        self, session: Session, ledger: Ledger, life: Timeline, measure: Measure, window: int
    ) -> None:
        self.session, self.life, self.measure, self.window = session, life, measure, window
        self.position = self.first = 0
        self.changed = False
        self.carried: tuple[Entry, ...] = ()
        self._file = ledger
        self._columns = take_columns(ledger, np.zeros(0, np.int64))
        # Lists, because they are looked at one by one.
        self._tokens, self._weight = life.tokens.tolist(), life.weight.tolist()
        self._hidden, self._prompt = life.hidden.tolist() or [0], life.prompt.tolist()
        self._reports, self._withheld = life.reports.tolist(), life.withheld.tolist()
        self._counted, self._own = ledger.head_tokens, 0
        # From the first change on: what stands before all messages, and what is withheld of those that stand.
        self._before, self._stays = 0, 0
        self._carried_withheld: tuple[int, ...] = ()
        self._passing = False
        self._last: int | None = None
        self._reported_at = 0
        self._model: str | None = None
        self._moment: tuple[Session, Ledger] | None = None
        self._planned: Moment | None = None
        self._end = 0
        self._turns: dict[str, int] | None = None

    # -- figures ----------------------------------------------------------------------------------

    def begin_changed(self, before: int) -> None:
        """From its start on it is another context than was reported; `before` are tokens that every request
        holds and no entry."""
        self.changed = True
        self._go_on(before, self.life.earlier > 0, ())

    def arrive(self) -> None:
        """The life's next entry arrives."""
        number = self.position
        self._counted += self._tokens[number]
        self._own += self._weight[number]
        self._stays += self._withheld[number]
        self.position += 1
        if self._reports[number]:
            self._last, self._reported_at = self.size, self.position

    @property
    def hidden(self) -> int:
        """What is not in the file: by the provider's very word until the context is changed."""
        if self.changed:
            return self._before + self._stays
        told: int = self._hidden[max(self.position - 1, 0)]
        return told

    @property
    def size(self) -> int:
        """Tokens in the context, as the provider would report them."""
        return max(self._counted + self.hidden, 0)

    @property
    def most(self) -> int:
        """Tokens that a request of it has at most: all that is counted, and what is not in the file."""
        return self._counted + max(self.hidden, 0)

    @property
    def asked(self) -> int:
        """Tokens of the request that the next entry answers: reported for it, as long as nothing changed."""
        if self.changed:
            return self.size
        told: int = self._prompt[self.position]
        return told if told >= 0 else max(self._counted + self._hidden[self.position], 0)

    @property
    def head(self) -> int:
        """Tokens in front of the messages: the file's head, and what is not in the file but no step's."""
        return self._file.head_tokens + (self._before if self.changed else max(self.hidden - self._stays, 0))

    @property
    def value(self) -> int:
        """The context by the policy's own measure.

        Where that is the provider's word, what came after the last reply does not count (S4-29); when none
        was given since the context changed, all of it is estimated.
        """
        if self.measure not in COUNTED:
            return self._own
        return self._last if self.measure == "usage" and self._last is not None else self.size

    @property
    def estimated(self) -> int:
        """Tokens in the context by the policy's own measure; by the ledger where that counts messages."""
        return self.size if self.measure == "messages" else self.value

    def estimate(self, plan: Plan) -> int:
        """Tokens in the context before a plan, as its harness estimates them.

        By usage that is the last report, which of a changed context is what the provider would say of it, and
        characters / 4 of what came since; of everything, if nothing was reported (FLUE §4).
        """
        if self.measure != "usage":
            return self.estimated
        since = self.entries if self._last is None else self.position - self._reported_at
        tail = TailWeight(plan.session, chars4_utf16.weigh)
        return (self._last or 0) + tail.weigh(min(since, len(plan.session.live)))

    @property
    def loop_turn(self) -> int:
        """The number of the last request in its turn, from 0: what mini-claude-code calls a turn."""
        turn = self.life.turn[: self.position]
        return max(int(self.life.requests[: self.position][turn == turn[-1:]].sum()) - 1, 0)

    @property
    def ratio(self) -> float | None:
        """The share of the window that is filled; None when the window is not known."""
        return self.size / self.window if self.window else None

    @property
    def entries(self) -> int:
        """How many entries stand in the context."""
        return len(self.carried) + self.position - self.first

    # -- the context itself -----------------------------------------------------------------------

    def plan(self, policy: Policy, reason: Reason = "auto") -> Plan:
        """Plan on the context as it stands, with the replay's figures in place of what a file would say."""
        session, ledger = self.look()
        moment = self._planned
        if moment is None or moment.ledger is not ledger or moment.session.leaf != session.leaf:
            moment = self._planned = find_moment(session, ledger, self._outside(session, ledger))
        return plan_moment(moment, policy, Edits(), window=self.window, reason=reason)

    def _outside(self, session: Session, ledger: Ledger) -> Outside:
        """What is not in the file, of the context as it stands; carried over from the recorded session."""
        arrived = self.life.withheld[self.first : self.position]
        withheld = np.concatenate([np.array(self._carried_withheld, np.int64), arrived])
        whole = max(self.hidden, 0)
        if (sums := int(withheld.sum())) > whole:
            withheld, sums = share_tokens(withheld, whole), whole
        live = session.live
        spread = spread_entries(withheld[live.entries], live, ledger.live_tokens(session))
        earlier = 0 if self.changed and not self._passing else min(self.life.earlier, whole - sums)
        note = "carried over from the recorded session"
        fixed, more, past = (
            Part(tokens, tokens, tokens, (), note) for tokens in (whole - sums - earlier, sums, earlier)
        )
        return Outside(
            fixed, more, past, spread=spread, reported=self.size, counted=self._counted, scale=self.life.scale
        )

    def look(self) -> tuple[Session, Ledger]:
        """The context as a session of its own, and its ledger."""
        if self._moment is None or self.position > self._end:
            self._make_ready()
        assert self._moment is not None
        session, ledger = self._moment
        last = self.entries - 1
        return session.at(session.entries[last].id if last >= 0 else None), ledger

    def _make_ready(self) -> None:
        """Everything that stands, and as much of the life to come as has come already: so that a session is
        made seldom, and each at most twice as long as it needs to be."""
        self._end = min(self.first + max(2 * (self.position - self.first), AHEAD), len(self.life))
        coming = self.life.at[self.first : self._end]
        entries = chain([*self.carried, *(self.session.entries[i] for i in coming.tolist())])
        if self.changed:
            # What a provider once reported was reported of another context.
            entries = tuple(e if e.usage is None else change(e, usage=None) for e in entries)
        if self._model is not None:
            entries = tuple(change(e, model=self._model) if e.role == "assistant" else e for e in entries)
        session = self._session(entries)
        columns = self._columns + take_columns(self._file, coming.astype(np.int64))
        self._moment = session, join_ledger(session, self._file, columns)

    def _session(self, entries: Sequence[Entry]) -> Session:
        changes: dict[str, Any] = {"notes": (), "corrupt": ()}
        if self.window:
            changes["window"] = self.window
        if self._model is not None:
            changes["model"] = self._model
        return self.session.with_entries(entries, None, **changes)

    def carry(self, plan: Plan, items: Sequence[CarriedEntry]) -> None:
        """Go on from these entries, made by a plan on the context as it stands."""
        _, ledger = self.look()
        parts = plan.parts_after
        self._set(chain(item.entry for item in items), count_carried(ledger, items))
        self._go_on(sum(parts.values()) - parts["withheld"], parts["earlier"] > 0, items)

    def _go_on(self, before: int, passing: bool, items: Sequence[CarriedEntry]) -> None:
        self._carried_withheld = tuple(item.withheld for item in items)
        self._before, self._passing, self._stays = before, passing, sum(self._carried_withheld)

    def clear(self, entries: Sequence[Entry]) -> None:
        """Go on from these entries of the file, and nothing else."""
        before = max(self.hidden - self._stays, 0) if not self.changed else self._before
        withheld = dict(zip(self.life.at.tolist(), self._withheld, strict=True))
        origins = [self.session.index[entry.id] for entry in entries]
        items = [
            CarriedEntry(entry, at, withheld=withheld.get(at, 0))
            for entry, at in zip(entries, origins, strict=True)
        ]
        before -= min(self.life.earlier, before) if not self.changed or self._passing else 0
        whole = [item for item in items if self.session.entries[item.origin].blocks is item.entry.blocks]
        if len(whole) == len(items):
            self._set(chain(entries), count_carried(self._file, items))
            self._go_on(before, False, items)
            return
        counted = [self._file.count_blocks(entry.blocks).tolist() for entry in entries]
        new = [CarriedEntry(e, tokens=tuple(n)) for e, n in zip(entries, counted, strict=True)]
        self._set(chain(entries), count_carried(self._file, new))
        self._go_on(before, False, items)

    def _set(self, entries: tuple[Entry, ...], columns: Columns) -> None:
        self.carried, self._columns, self.first = entries, columns, self.position
        self._moment, self._last, self.changed = None, None, True
        self._counted = self._file.head_tokens + int(columns.tokens.sum())
        if self.measure in COUNTED:
            self._own = 0
        else:
            session = self._session(entries)
            own = weigh_entries(session, join_ledger(session, self._file, columns), self.measure)
            self._own = int(own.sum())

    def switch(self, model: str | None, window: int | None) -> None:
        """Another model reads the context from now on, or another window."""
        self._moment = None
        if model is not None:
            self._model = model
        if window is not None:
            self.window = window

    def turn_of(self, entry: str) -> int | None:
        """The turn of the recorded session that an entry belongs to; None for one that is new."""
        if self._turns is None:
            life = self.life
            names = (life.entry(number).id for number in range(len(life)))
            self._turns = dict(zip(names, life.turn.tolist(), strict=True))
        return self._turns.get(entry)

    def free_name(self, name: str) -> str:
        """The name, or with a stroke before it as often as the file knows it already."""
        while any(known == name or known.startswith(f"{name}-") for known in self.session.index):
            name = f"_{name}"
        return name
