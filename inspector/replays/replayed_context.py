"""The context of a replay: the entries that compactions carried over, and the entries since.

It is kept as figures, step by step, and is built as a session only when a plan needs it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..planning.plan import Plan, plan_moment
from ..policies.pi_estimate import Estimate, weigh_message
from ..policies.policy import Edits, Policy
from ..policies.rules.keep_recent_tokens import PIN, KeepRecentTokens, find_walk, measure_context
from ..policies.table import COUNTED
from ..policies.trigger import Measure, Measured, Reason, TailWeight, read_usage, whole_size
from ..session.blocks import Number
from ..session.entries import Entry
from ..session.session import Session
from ..tokens.counter import Longs
from ..tokens.counters import chars4_utf16
from ..tokens.ledger import Ledger
from ..tokens.models import strips_thinking
from ..tokens.moment import Moment, find_moment
from ..tokens.not_in_file import NotInFile, Part, share_tokens, spread_entries
from .carry import CarriedEntry, EntryColumns, chain, change, count_carried, join_ledger, take_columns
from .timeline import Timeline

MOST = 2**62
"""Tokens that a column holds at most, whatever a reply reports."""
AHEAD = 64
"""Minimum number of entries of the timeline that are prepared in advance."""


class ReplayedContext:
    """`position` entries of the timeline have arrived; `carried` replaces all before `first`."""

    def __init__(
        self, session: Session, ledger: Ledger, timeline: Timeline, policy: Policy, window: int
    ) -> None:
        self.session, self.timeline, self.window = session, timeline, window
        self.measure, self._counts = policy.trigger.measure, policy.is_own
        self.position = self.first = 0
        self.changed = False
        self.carried: tuple[Entry, ...] = ()
        self._file = ledger
        self._columns = take_columns(ledger, np.zeros(0, np.int64))
        # Lists, because they are looked at one by one.
        self._tokens = timeline.tokens.tolist()
        self._hidden, self._prompt = timeline.hidden.tolist() or [0], timeline.prompt.tolist()
        self._hidden_reasoning = timeline.hidden_reasoning.tolist()
        walk = next(
            (rule for rule in policy.rules if isinstance(rule, KeepRecentTokens) and rule.enabled), PIN
        )
        self._estimate, entries = walk.estimate, (timeline.entry(number) for number in range(len(timeline)))
        self._opens, self._reasoning = timeline.opens.tolist(), timeline.reasoning.tolist()
        self._strips = timeline.strips.tolist()
        self._reported = [read_usage(entry, empty=not walk.fresh_usage) for entry in entries]
        self._foreign = {timeline.entry(number).id for number in np.flatnonzero(~timeline.same).tolist()}
        # All tokens of the present entries, and the reasoning before and since the last turn began.
        self._every, self._earlier_reasoning, self._newer_reasoning = ledger.head_tokens, 0, 0
        # By measure: the cumulative size of the timeline, and the size of the carried entries.
        self._sums: dict[Measure, list[int]] = {}
        self._carried: dict[Measure, int] = {}
        # From the first change on: tokens before all messages, and hidden reasoning of the present messages.
        self._before, self._stays = 0, 0
        self._carried_hidden: tuple[int, ...] = ()
        # Entries of the history that a view leaves out of each request.
        self.unsent: tuple[Entry, ...] = ()
        self._unsent_hidden: list[int] = []
        self._stored: Session | None = None
        self._forget_unsent()
        self._passing = False
        self._last: Number | None = None
        self._bare = False
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
        self.changed = self._bare = True
        self._go_on(before, self.timeline.earlier > 0, ())

    def arrive(self) -> None:
        """Add the timeline's next entry."""
        number = self.position
        self._every += self._tokens[number]
        self._reason(self._opens[number], self._reasoning[number])
        self._stays += self._hidden_reasoning[number]
        self.position += 1
        reported = self._reported[number]
        if reported is not None:
            # The provider would report the present size of a context that is not the recorded one.
            self._last = self.size if self.differs and reported else reported
            self._reported_at = self.position

    def _reason(self, opens: bool, tokens: int) -> None:
        """Add an entry's reasoning; where a turn opens, all before it is of earlier turns."""
        if opens:
            self._earlier_reasoning, self._newer_reasoning = (
                self._earlier_reasoning + self._newer_reasoning,
                0,
            )
        self._newer_reasoning += tokens

    @property
    def _counted(self) -> int:
        """Tokens of the context by the ledger, without reasoning that the model is not shown again."""
        strips = self._strips[self.position] if self._model is None else strips_thinking(self._model)
        return self._every - (self._earlier_reasoning if strips else 0)

    @property
    def differs(self) -> bool:
        """Whether it is not the recorded context: the replay changed it, or left out a recorded change."""
        return self.changed or not self.timeline.same[: self.position][-1:].all()

    @property
    def hidden(self) -> int:
        """Tokens that are not in the file: as the provider reported until the context is changed."""
        if self.changed:
            return self._before + self._stays
        hidden: int = self._hidden[max(self.position - 1, 0)]
        return hidden

    @property
    def size(self) -> int:
        """Tokens in the context, as the provider would report them."""
        return max(self._counted + self.hidden, 0)

    @property
    def most(self) -> int:
        """Tokens that a request of it has at most: all that is counted, and what is not in the file."""
        return self._counted + max(self.hidden, 0)

    @property
    def request_size(self) -> int:
        """Tokens of the request that the next entry answers: reported for it, as long as nothing changed."""
        if self.changed:
            return self.size
        reported: int = self._prompt[self.position]
        return reported if reported >= 0 else max(self._counted + self._hidden[self.position], 0)

    @property
    def head(self) -> int:
        """Tokens in front of the messages: the file's head, and what is not in the file but no step's."""
        return self._file.head_tokens + (self._before if self.changed else max(self.hidden - self._stays, 0))

    @property
    def value(self) -> int:
        """The context by the measure of the policy's trigger."""
        return int(min(self.size_sent(self.measure).tokens, MOST))

    def size_sent(self, measure: Measure) -> Measured:
        """The context by a measure, as `Plan.size_sent` returns it.

        By provider usage, messages after the last reply do not count (S4-29). Before the first reply with
        usage it is an estimate (FLUE §4), for a changed context or a policy of one's own the present size.
        """
        if measure == "usage" and self._counts and self._last is None:
            return whole_size(self.size, "assembled")
        if measure == "usage" and not self._bare:
            if self._last is not None:
                return whole_size(self._last)
            return whole_size(self.size if self.differs else self._weigh(measure))
        return whole_size(self.size if measure in COUNTED else self._weigh(measure))

    def _weigh(self, measure: Measure) -> int:
        """The size of the present entries by a measure of messages alone."""
        if measure not in self._sums:
            weights = weigh_entries(self.session, self._file, measure, self._estimate)[self.timeline.at]
            self._sums[measure] = [0, *np.cumsum(weights).tolist()]
        if measure not in self._carried:
            session = self._session(self.carried)
            ledger = join_ledger(session, self._file, self._columns)
            self._carried[measure] = int(weigh_entries(session, ledger, measure, self._estimate).sum())
        sums = self._sums[measure]
        return self._carried[measure] + sums[self.position] - sums[self.first]

    @property
    def estimated(self) -> int:
        """Tokens in the context by the policy's own measure; by the ledger if that counts messages."""
        return self.size if self.measure == "messages" else self.value

    def estimate(self, plan: Plan) -> int:
        """Tokens in the context before a plan, as its harness estimates them.

        By usage that is the last report, which of a changed context is what the provider would say of it, and
        characters / 4 of what came since; of everything, if nothing was reported (FLUE §4).
        """
        if self.measure != "usage" or (self._counts and self._last is None):
            return self.estimated
        if not self.differs:
            return int(measure_context(plan.table, find_walk(plan.table)).tokens)
        since = self.entries if self._last is None else self.position - self._reported_at
        tail = TailWeight(plan.session, chars4_utf16.weigh)
        return int(self._last or 0) + tail.weigh(min(since, len(plan.session.live)))

    @property
    def loop_turn(self) -> int:
        """The number of the last request in its turn, from 0; mini-claude-code calls it a turn."""
        turn = self.timeline.turn[: self.position]
        return max(int(self.timeline.requests[: self.position][turn == turn[-1:]].sum()) - 1, 0)

    @property
    def ratio(self) -> float | None:
        """The share of the window that is filled; None when the window is not known."""
        return self.size / self.window if self.window else None

    @property
    def entries(self) -> int:
        """How many entries are in the context."""
        return len(self.carried) + self.position - self.first

    # -- the context itself -----------------------------------------------------------------------

    def plan(self, policy: Policy, reason: Reason = "auto", fires: bool = False) -> Plan:
        """Plan on the present context, with the replay's figures instead of a file's. `fires` is True if the
        harness has decided to compact."""
        session, ledger = self.look()
        moment = self._planned
        if moment is None or moment.ledger is not ledger or moment.session.leaf != session.leaf:
            moment = self._planned = find_moment(session, ledger, self._outside(session, ledger))
        return plan_moment(moment, policy, Edits(), window=self.window, reason=reason, fires=fires)

    def plan_stored(self, policy: Policy, plan: Plan) -> Plan:
        """The same plan, made by the harness for a compaction, on the stored history: the present context and
        what a view leaves out of it."""
        if not self.unsent:
            return plan
        first, position = self.unsent[0].id, self.position
        carried = [
            change(entry, boundary=entry.boundary.model_copy(update={"first_kept": first, "kept": ()}))
            if entry.kind == "compaction" and entry.boundary is not None
            else entry
            for entry in self.carried
        ]
        coming = self.timeline.at[self.first : position]
        whole = self._build([*self.unsent, *carried, *(self.session.entries[i] for i in coming.tolist())])
        session = whole.at(whole.entries[-1].id)
        columns = self._unsent_columns + self._columns + take_columns(self._file, coming.astype(np.int64))
        ledger = join_ledger(session, self._file, columns)
        self._stored = session
        moment = find_moment(session, ledger, self._outside(session, ledger, self._unsent_hidden))
        return plan_moment(moment, policy, Edits(), window=self.window, reason=plan.reason, fires=True)

    def _outside(self, session: Session, ledger: Ledger, unsent: Sequence[int] = ()) -> NotInFile:
        """Parts of the present context that are not in the file, carried over from the recorded session.
        `unsent` are tokens of hidden reasoning of the entries before it, that no request holds."""
        arrived = self.timeline.hidden_reasoning[self.first : self.position]
        hidden = np.concatenate([np.array([*unsent, *self._carried_hidden], np.int64), arrived])
        whole = max(self.hidden + sum(unsent), 0)
        counted = ledger.head_tokens + int(ledger.live_tokens(session).sum()) if unsent else self._counted
        if (sums := int(hidden.sum())) > whole:
            hidden, sums = share_tokens(hidden, whole), whole
        live = session.live
        spread = spread_entries(hidden[live.entries], live, ledger.live_tokens(session))
        earlier = 0 if self.changed and not self._passing else min(self.timeline.earlier, whole - sums)
        note = "carried over from the recorded session"
        fixed, more, earlier_part = (
            Part(tokens, tokens, tokens, (), note) for tokens in (whole - sums - earlier, sums, earlier)
        )
        return NotInFile(
            fixed,
            more,
            earlier_part,
            spread=spread,
            reported=max(counted + whole, 0) if unsent else self.size,
            counted=counted,
            scale=self.timeline.scale,
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
        """Build a session of the present entries and of as many coming entries as have arrived.

        So a session is built rarely, and each is at most twice as long as necessary.
        """
        self._end = min(self.first + max(2 * (self.position - self.first), AHEAD), len(self.timeline))
        coming = self.timeline.at[self.first : self._end]
        session = self._build([*self.carried, *(self.session.entries[i] for i in coming.tolist())])
        columns = self._columns + take_columns(self._file, coming.astype(np.int64))
        self._moment = session, join_ledger(session, self._file, columns)

    def _build(self, arrived: Sequence[Entry]) -> Session:
        """A session of these entries, each the parent of the next."""
        entries = chain(arrived)
        # The recorded usage may belong to another context.
        entries = tuple(
            change(e, usage=None) if e.usage is not None and (self.changed or e.id in self._foreign) else e
            for e in entries
        )
        if self._model is not None:
            entries = tuple(
                change(e, model=self._model, provider=None) if e.role == "assistant" else e for e in entries
            )
        return self._session(entries)

    def _session(self, entries: Sequence[Entry]) -> Session:
        changes: dict[str, Any] = {"notes": (), "corrupt": ()}
        if self.window:
            changes["window"] = self.window
        if self._model is not None:
            changes["model"] = self._model
        return self.session.with_entries(entries, None, **changes)

    def carry(self, plan: Plan, items: Sequence[CarriedEntry], unsent: Sequence[CarriedEntry] = ()) -> None:
        """Continue with these entries, the result of a plan on the present context or on the stored history;
        `unsent` are those that it leaves out of the request alone."""
        parts, ledger = plan.parts_after, plan.ledger
        if plan.session is self._stored:
            self._forget_unsent()
        if unsent:
            self.unsent += tuple(item.entry for item in unsent)
            self._unsent_columns += count_carried(ledger, unsent)
            self._unsent_hidden += [item.hidden_reasoning for item in unsent]
        self._set(chain(item.entry for item in items), count_carried(ledger, items))
        self._go_on(sum(parts.values()) - parts["hidden_reasoning"], parts["before_file"] > 0, items)

    def _go_on(self, before: int, passing: bool, items: Sequence[CarriedEntry]) -> None:
        self._carried_hidden = tuple(item.hidden_reasoning for item in items)
        self._before, self._passing, self._stays = before, passing, sum(self._carried_hidden)

    def _forget_unsent(self) -> None:
        self.unsent, self._unsent_hidden, self._stored = (), [], None
        self._unsent_columns = take_columns(self._file, np.zeros(0, np.int64))

    def clear(self, entries: Sequence[Entry]) -> None:
        """Continue with only these entries of the file."""
        self._forget_unsent()
        before = max(self.hidden - self._stays, 0) if not self.changed else self._before
        hidden = dict(zip(self.timeline.at.tolist(), self._hidden_reasoning, strict=True))
        origins = [self.session.index[entry.id] for entry in entries]
        items = [
            CarriedEntry(entry, at, hidden_reasoning=hidden.get(at, 0))
            for entry, at in zip(entries, origins, strict=True)
        ]
        before -= min(self.timeline.earlier, before) if not self.changed or self._passing else 0
        whole = [item for item in items if self.session.entries[item.origin].blocks is item.entry.blocks]
        if len(whole) == len(items):
            self._set(chain(entries), count_carried(self._file, items))
            self._go_on(before, False, items)
            return
        counted = [self._file.count_blocks(entry.blocks).tolist() for entry in entries]
        new = [CarriedEntry(e, tokens=tuple(n)) for e, n in zip(entries, counted, strict=True)]
        self._set(chain(entries), count_carried(self._file, new))
        self._go_on(before, False, items)

    def _set(self, entries: tuple[Entry, ...], columns: EntryColumns) -> None:
        self.carried, self._columns, self.first = entries, columns, self.position
        self._carried = {}
        self._moment, self._last, self.changed = None, None, True
        self._every = self._file.head_tokens + int(columns.tokens.sum())
        self._earlier_reasoning = self._newer_reasoning = 0
        for entry, tokens in zip(entries, columns.reasoning.tolist(), strict=True):
            self._reason(entry.opens_turn, tokens)

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
            timeline = self.timeline
            names = (timeline.entry(number).id for number in range(len(timeline)))
            self._turns = dict(zip(names, timeline.turn.tolist(), strict=True))
        return self._turns.get(entry)

    def free_name(self, name: str) -> str:
        """The name, or with a stroke before it as often as the file knows it already."""
        while any(existing == name or existing.startswith(f"{name}-") for existing in self.session.index):
            name = f"_{name}"
        return name


def weigh_entries(session: Session, ledger: Ledger, measure: Measure, estimate: Estimate = "flue") -> Longs:
    """int64, one per entry of the file: its size by a measure of messages alone; by "usage" it is the
    policy's `estimate`, as for contexts without a report."""
    if measure == "messages":
        return np.ones(len(session.entries), np.int64)
    if measure == "usage" and estimate != "flue":
        return np.array([weigh_message(entry, estimate) for entry in session.entries], np.int64)
    return ledger.weights("chars4_utf16" if measure == "usage" else measure).astype(np.int64)
