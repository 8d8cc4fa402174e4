"""Condense the middle: the first events and the newest stay, between them a summary; loops stay whole."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ...session.blocks import REASONING
from ...session.tree import USER, Bools
from ...text import plural
from ...tokens.counter import Longs, running_sums
from ..base_rule import Rule
from ..part import LARGE, Count, Share
from ..table import VERBATIM, Claim, Decision, Summary, Table


class CondenseMiddle(Rule):
    """Condense a range of events so that about half of the measure that triggered it remains.

    An event is a message, one call or one output; the system prompt is the first. A range neither separates
    a call from its output nor breaks a loop that begins with reasoning: its ends move to the next valid
    place. A range with less than the share `progress` of all events is not condensed. If there is no range
    and the request could not be sent, everything after the system prompt is condensed.
    """

    title: ClassVar[str] = "Condense the middle"
    phrase: ClassVar[str] = (
        "keep the first {first} events and, of more than {events}, the newest half; condense what is between"
    )
    source: ClassVar[str] = "openhands-sdk 1.58.0, LLMSummarizingCondenser (PEERS §1)"
    cuts: ClassVar[bool] = True

    kind: Literal["condense-middle"] = "condense-middle"
    events: int = Field(240, ge=1, le=LARGE, description="More events than this are condensed to half of it")
    tokens: int | None = Field(
        None, ge=1, le=LARGE, description="More tokens than this, or the window, are condensed to half of it"
    )
    first: Count = Field(2, description="Events at the beginning that stay, the system prompt one")
    progress: Share = Field(
        0.1, description="Minimum share of events to remove; otherwise nothing is removed"
    )

    def decide(self, table: Table) -> Decision:
        """Propose the end of the range; blocks before its beginning stay verbatim."""
        events = count_events(table)
        n = len(table.live)
        first = events.next(max(self.first, int(bool(table.session.system))))
        head = n if first is None else first
        claim = Claim(table.live.position < head, VERBATIM)
        summary = Summary(LARGE, at=head, limited=False)
        keep, must = _find_tail(self, table, events)
        if keep is None:
            some = plural(events.total, "event is", "events are")
            why = f"There is nothing to condense: {some} no more than {self.events:,}."
            return Decision(why=why, older=claim, summary=summary)
        end = events.next(events.total - keep)
        gone = 0 if end is None or end <= head else int(events.before[end] - events.before[head])
        if end is not None and gone and gone >= events.total * self.progress:
            return Decision(cut=end, older=claim, summary=summary)
        if must and n > table.start:
            note = "No range could be condensed, so everything was."
            return Decision(cut=n, summary=Summary(LARGE, limited=False), notes=(note,))
        why = f"Nothing is condensed: {gone:,} of the {events.total:,} would be too few events."
        return Decision(why=why, older=claim, summary=summary)


class Events(NamedTuple):
    """int64[n+1]: events before each place, with the system prompt; bool[n+1]: ends of valid ranges."""

    before: Longs
    valid: Bools

    @property
    def total(self) -> int:
        return int(self.before[-1])

    def next(self, event: int) -> int | None:
        """The first valid place with enough events before it."""
        places = np.flatnonzero(self.valid & (self.before >= event))
        return int(places[0]) if len(places) else None


def count_events(table: Table) -> Events:
    """Events of the live view. Calls without results and results without calls are not events."""
    live = table.live
    n = len(live)
    paired = np.bincount(live.position[live.pairs.ravel()], minlength=n)
    lone = np.bincount(live.position[live.lone], minlength=n)
    blocks = np.diff(live.start)
    # The user's words next to outputs are a separate message; the model's words next to calls are not.
    aside = (live.role == USER) & (blocks > paired + lone)
    events = np.where(paired > 0, paired + aside, blocks > lone)
    return Events(running_sums(events) + bool(table.session.system), _find_valid(table, paired))


def _find_valid(table: Table, paired: NDArray[np.integer[Any]]) -> Bools:
    """bool[n+1]: no call before it is answered after it, and it breaks no loop that reasoning opened."""
    live = table.live
    n = len(live)
    calls, outputs = live.position[live.pairs].T
    steps = np.bincount(calls + 1, minlength=n + 2) - np.bincount(outputs + 1, minlength=n + 2)
    valid: Bools = np.cumsum(steps[: n + 1]) == 0
    acts = np.zeros(n, bool)
    acts[calls] = True
    reasons = np.zeros(n, bool)
    reasons[live.position[table.kind == REASONING]] = True
    opens, busy = acts & reasons, paired > 0
    # True if the last entry that opens a loop is after the last one without tool calls or outputs.
    positions = np.arange(n)
    opened = np.maximum.accumulate(np.where(opens, positions, -1))
    idle = np.maximum.accumulate(np.where(~busy, positions, -1))
    valid[:n] &= ~(busy & ~opens & (opened > idle))
    return valid


def _find_tail(rule: CondenseMiddle, table: Table, events: Events) -> tuple[int | None, bool]:
    """How many of the newest events stay, None when nothing asks for less; and whether something must go."""
    sizes: list[int] = []
    must = table.reason != "auto"
    if must:
        sizes.append(events.total // 2 - rule.first - 1)
    if events.total > rule.events:
        sizes.append(rule.events // 2 - rule.first - 1)
    limit = min((size for size in (rule.tokens, table.window or None) if size is not None), default=None)
    tokens = running_sums(np.bincount(table.live.position, table.tokens, len(table.live)))
    total = table.ledger.head_tokens + int(tokens[-1])
    if limit is not None and total > limit:
        must = True
        start = int(np.searchsorted(events.before, rule.first))
        base = int(tokens[min(start, len(tokens) - 1)])
        if not rule.first:
            base -= table.ledger.head_tokens
        beyond = np.flatnonzero(tokens - base > total - limit // 2)
        sizes.append(events.total - int(events.before[beyond[0]]) if len(beyond) else 0)
    return (min(sizes), must) if sizes else (None, must)
