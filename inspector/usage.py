"""How full the context is by the provider's own word, with an estimate for what came after (FLUE §4).

In goes a session and a published estimate of what an entry weighs, out comes one measurement.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .session.blocks import Number
from .session.session import Entry, Session
from .session.tree import ASSISTANT
from .trigger import Trigger, Verdict


class Tail:
    """What the last entries in a context weigh together, worked out only as far back as somebody asks.

    A plan that keeps 20,000 tokens looks at the last few hundred entries, however many there are.
    """

    def __init__(self, session: Session, weigh: Callable[[Entry], int]) -> None:
        self._weigh = weigh
        self._session = session
        self._sums = [0]

    def weigh(self, count: int) -> int:
        """The weight of the last `count` entries."""
        self._extend(count)
        return self._sums[count]

    def reach(self, enough: Number) -> int | None:
        """How few of the last entries, but at least one, weigh `enough`; None when all of them do not."""
        while self._sums[-1] < enough or len(self._sums) == 1:
            if len(self._sums) > len(self._session.live):
                return None
            self._extend(2 * len(self._sums))
        return bisect_left(self._sums, enough, lo=1)

    def _extend(self, count: int) -> None:
        session = self._session
        last = len(session.live) - len(self._sums) + 1
        first = max(len(session.live) - count, 0)
        for i in reversed(session.live.entries[first:last].tolist()):
            self._sums.append(self._sums[-1] + self._weigh(session.entries[i]))


class Measured(NamedTuple):
    """Tokens in the context: what the last usable usage says, plus the estimate of what follows it.

    `last` is the live position that usage came from, or None when everything is estimated.
    """

    tokens: Number
    usage_tokens: Number
    trailing_tokens: Number
    last: int | None


def measure_usage(session: Session, tail: Tail) -> Measured:
    """Measure the context at the leaf.

    A reply that was aborted or failed is passed over; one whose usage is all zero is not (FLUE §4).
    """
    live = session.live
    for position in np.flatnonzero(live.role == ASSISTANT)[::-1].tolist():
        entry = session.entries[live.entries[position]]
        if entry.kind != "message" or entry.usage is None:
            continue
        if entry.stop_reason in ("aborted", "error"):
            continue
        trailing = tail.weigh(len(live) - 1 - position)
        return Measured(entry.usage.tokens + trailing, entry.usage.tokens, trailing, position)
    total = tail.weigh(len(live))
    return Measured(total, 0, total, None)


def judge_trigger(trigger: Trigger, measured: Measured, window: Number) -> Verdict:
    """Whether the trigger fires for what was measured, in a window of so many tokens (0: unknown).

    A trigger that goes by provider usage looks at that alone: what is estimated of later messages does not
    fire it (S4-29).
    """
    if trigger.tokens is None and not trigger.base(window):
        return Verdict(None, measured.tokens, None, "The model's window is not known, so nothing triggers.")
    threshold = trigger.threshold(window)
    by_usage = trigger.measure == "usage" and measured.last is not None
    tokens = measured.usage_tokens if by_usage else measured.tokens
    if not trigger.enabled:
        return Verdict(False, tokens, threshold, "The trigger is switched off.")
    fires = trigger.fires(tokens, window)
    unit = "messages" if trigger.measure == "messages" else "tokens"
    if measured.last is None:
        source = {"messages": "counted", "tiered": "by its own estimate, characters / 4"}.get(
            trigger.measure, "all estimated (characters / 4)"
        )
    elif by_usage or not measured.trailing_tokens:
        source = "by provider usage"
        if measured.trailing_tokens:
            source += f"; {measured.trailing_tokens:,.0f} estimated since do not count"
    else:
        source = (
            f"{measured.usage_tokens:,.0f} by provider usage, {measured.trailing_tokens:,.0f} estimated since"
        )
    than = "above" if trigger.above else "at"
    sentence = (
        f"{'Fires' if fires else 'Does not fire'}: {tokens:,.0f} {unit} ({source}); "
        f"it fires {than} {threshold:,.0f}."
    )
    return Verdict(fires, tokens, threshold, sentence)
