"""When a policy compacts, and how far down it then goes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field

from ..session.blocks import Number
from ..session.entries import Entry
from ..session.session import Session
from ..session.tree import ASSISTANT
from ..tokens.counters import chars4_utf16
from ..tokens.counters.measures import COUNTS
from .part import LARGE, PolicyPart

Measure = Literal[
    "usage",
    "assembled",
    "chars4_utf16",
    "tiered",
    "langchain",
    "cline",
    "deepseek",
    "messages",
    "candidates",
    "invocations",
]
"""What is held against a threshold: the size that the provider reported last ("usage"), the whole request as
counted ("assembled"), a published estimate of whole messages, or how many messages, items other than a user's
("candidates") or turns that a user opened ("invocations") there are."""
Check = Literal["reply", "outputs", "request"]
"""When it is looked at: after a reply that leaves no call open, after the outputs of calls, or before every
request."""

Reason = Literal["auto", "manual", "overflow"]
"""Why a compaction is planned: the harness' own check, the user's /compact, or a provider's refusal."""


class Condition(PolicyPart):
    """A threshold, and what is held against it. The first of these that is given decides.

    `tokens`: above so many (or messages, by that measure). `ratio`: from a share of the window on (S0-12),
    or with `strict` only above it. Otherwise above `window - reserve_tokens` (FLUE §5). `budget` stands in
    the window's place. With `at_least` a fixed size or a reserve fires at the threshold itself.

    >>> Trigger(reserve_tokens=20_000).threshold(200_000), Trigger(tokens=50_000).threshold(200_000)
    (180000, 50000)
    >>> Trigger(ratio=0.75).fires(150_000, 200_000), Trigger(ratio=0.75, strict=True).fires(150_000, 200_000)
    (True, False)
    """

    title: ClassVar[str] = "Trigger"
    phrase: ClassVar[str] = "compact when the context leaves less than {reserve_tokens} tokens free"

    kind: Literal["trigger"] = "trigger"
    reserve_tokens: Number = Field(
        16384,
        description="Tokens of the window kept free for the reply",
        ge=-LARGE,
        le=LARGE,
        allow_inf_nan=False,
    )
    ratio: float | None = Field(None, description="Share of the window that triggers instead", gt=0, le=1)
    strict: bool = Field(False, description="Only more than the share triggers, not the share itself")
    whole: bool = Field(False, description="The share is rounded down to whole tokens")
    tokens: int | None = Field(
        None, description="A fixed size above which it triggers instead", ge=0, le=LARGE
    )
    budget: int | None = Field(None, description="Tokens that count as the window", ge=0, le=LARGE)
    unknown_window: int | None = Field(
        None, ge=0, le=LARGE, description="Tokens that count as the window if it is not known"
    )
    at_least: bool = Field(False, description="A fixed size or reserve fires at the threshold itself too")
    measure: Measure = Field("usage", description="What is held against the threshold")

    @property
    def template(self) -> str:
        whole = "the window" if self.budget is None else "{budget} tokens"
        if self.tokens is not None:
            bound = "at least" if self.at_least else "more than"
            return f"compact when the context holds {bound} {{tokens}} {self.unit}"
        if self.ratio is not None:
            return f"compact when the context fills {'more than ' if self.strict else ''}{{ratio}} of {whole}"
        return self.phrase

    @property
    def unit(self) -> str:
        """What the threshold counts, in words."""
        return {"candidates": "items other than a user's", "invocations": "turns of the user"}.get(
            self.measure, "messages" if self.measure == "messages" else "tokens"
        )

    @property
    def above(self) -> bool:
        """Whether only more than the threshold fires."""
        return self.strict if self.tokens is None and self.ratio is not None else not self.at_least

    def base(self, window: Number) -> Number:
        """What counts as the window: the budget, if there is one. 0 when nothing tells."""
        return (window or self.unknown_window or 0) if self.budget is None else self.budget

    def threshold(self, window: Number) -> Number:
        """The size at which it fires, or above which it does (`above`)."""
        if self.tokens is not None:
            return self.tokens
        base = self.base(window)
        if self.ratio is None:
            return base - self.reserve_tokens
        return int(base * self.ratio) if self.whole else base * self.ratio

    def fires(self, tokens: Number, window: Number) -> bool:
        """Whether a context of `tokens` triggers a compaction; never when the window is unknown (0)."""
        if not self.enabled or not (self.tokens is not None or self.base(window) > 0):
            return False
        threshold = self.threshold(window)
        return tokens > threshold if self.above else tokens >= threshold


class Trigger(Condition):
    """When a policy compacts: its own threshold, and with `also` the thresholds of more conditions.

    With `join` any, one that is met is enough; with all, every one has to be.

    >>> half = Condition(ratio=0.5)
    >>> Trigger(tokens=50, measure="messages", at_least=True, join="all", also=(half,)).sentence
    'compact when the context holds at least 50 messages and when the context fills 0.5 of the window'
    """

    check: Check = Field("reply", description="When it is looked at")
    join: Literal["any", "all"] = Field("any", description="Whether one of several conditions is enough")
    also: tuple[Condition, ...] = Field((), description="More conditions, each with a measure of its own")

    @property
    def template(self) -> str:
        joined = " and " if self.join == "all" else " or "
        return joined.join(
            (super().template, *(condition.sentence.removeprefix("compact ") for condition in self.also))
        )


LEAST_RECOVERED = 1_000
"""Tokens under which a recovery has no need to come (TIERED §5)."""


class Target(PolicyPart):
    """How far down a policy of several stages goes: it stops after the first stage that gets there.

    `tokens` decides if given, else `ratio` of what the trigger counts as the window. After a refusal it is
    `recovery`, where that is given: of the context, or of the window where that is less, and never under
    1,000 tokens (TIERED §5).

    >>> Target(ratio=0.25).limit(200_000), Target(tokens=30_000).limit(200_000)
    (50000, 30000)
    """

    title: ClassVar[str] = "Target"
    phrase: ClassVar[str] = "stop at the first stage that leaves at most {ratio} of the window or budget"

    kind: Literal["target"] = "target"
    ratio: float = Field(0.5, description="Share of the window that is low enough", gt=0, le=1)
    tokens: int | None = Field(None, description="A size that is low enough instead", ge=0, le=LARGE)
    below: bool = Field(False, description="Only less than the share is low enough, not the share itself")
    recovery: float | None = Field(
        None,
        description="Share that is low enough after a refusal: of the context, at most of the window",
        gt=0,
        le=1,
    )

    @property
    def template(self) -> str:
        if self.tokens is not None:
            return "stop at the first stage that leaves at most {tokens} tokens"
        return self.phrase

    def limit(self, base: Number) -> int | None:
        """Tokens that are low enough, rounded down, where `base` counts as the window; None if that is 0."""
        if self.tokens is not None:
            return self.tokens
        return int(base * self.ratio) - self.below if base > 0 else None

    def limit_after(self, refused: Number, base: Number) -> int | None:
        """The same after the provider refused a context of so many tokens.

        >>> [Target(recovery=0.7).limit_after(tokens, 24_000) for tokens in (40_000, 5_000, 800)]
        [16800, 3500, 1000]
        """
        if self.tokens is not None or self.recovery is None:
            return self.limit(base)
        return max(LEAST_RECOVERED, int(self.recovery * (min(refused, base) if base > 0 else refused)))


class Verdict(NamedTuple):
    """Whether a trigger fires now. `fires` is None when nothing tells the size of the context.

    >>> verdict: Verdict = judge_trigger(Trigger(ratio=0.8), Measured(170_000, 170_000, 0, 5), 200_000)
    >>> verdict.fires, verdict.sentence
    (True, 'Fires: 170,000 tokens (by provider usage); it fires at 160,000.')
    """

    fires: bool | None
    tokens: Number | None
    threshold: Number | None
    sentence: str


class TailWeight:
    """What the last entries in a context weigh together, worked out only as far back as somebody asks.

    A plan that keeps 20,000 tokens looks at the last few hundred entries, however many there are.
    """

    def __init__(self, session: Session, weigh: Callable[[Entry], int]) -> None:
        self._weigh = weigh
        self._session = session
        self._sums = [0]

    def weigh(self, count: int) -> int:
        """The weight of the last `count` entries."""
        return self._extend(count)[count]

    def reach(self, enough: Number) -> int | None:
        """How few of the last entries, but at least one, weigh `enough`; None when all of them do not."""
        sums = self._sums
        while sums[-1] < enough or len(sums) == 1:
            if len(sums) > len(self._session.live):
                return None
            sums = self._extend(2 * len(sums))
        return bisect_left(sums, enough, lo=1)

    def _extend(self, count: int) -> list[int]:
        """The sums of at least the last `count` entries, as far as there are so many.

        A list that was given out is never changed: several threads may ask at a time.
        """
        session, sums = self._session, self._sums
        last = len(session.live) - len(sums) + 1
        first = max(len(session.live) - count, 0)
        if first < last:
            more = [self._weigh(session.entries[i]) for i in session.live.entries[first:last][::-1].tolist()]
            self._sums = sums = [*sums[:-1], *accumulate(more, initial=sums[-1])]
        return sums


class Measured(NamedTuple):
    """Tokens in the context: what the last usable usage says, plus the estimate of what follows it.

    `last` is the live position that usage came from, or None when everything is estimated.

    >>> from inspector import read_session
    >>> session = read_session([{"role": "user", "content": "Name a prime."}])
    >>> measure_usage(session) == Measured(tokens=4, usage_tokens=0, trailing_tokens=4, last=None)
    True
    """

    tokens: Number
    usage_tokens: Number
    trailing_tokens: Number
    last: int | None


def measure_usage(session: Session, tail: TailWeight | None = None) -> Measured:
    """Measure the context at the leaf: the latest usage, and an estimate of what came after it.

    A reply that was aborted or failed is passed over; one whose usage is all zero is not (FLUE §4). `tail`
    weighs the messages after it, by default by characters / 4 (FLUE §2).

    >>> from inspector import open_demo
    >>> measured = measure_usage(open_demo())
    >>> measured.tokens == measured.usage_tokens + measured.trailing_tokens
    True
    """
    if tail is None:
        tail = TailWeight(session, chars4_utf16.weigh)
    live = session.live
    for position in np.flatnonzero(live.role == ASSISTANT)[::-1].tolist():
        entry = session.entries[live.entries[position]]
        if entry.kind != "message" or entry.usage is None:
            continue
        if entry.cut_short:
            continue
        trailing = tail.weigh(len(live) - 1 - position)
        return Measured(entry.usage.tokens + trailing, entry.usage.tokens, trailing, position)
    total = tail.weigh(len(live))
    return Measured(total, 0, total, None)


def judge_trigger(trigger: Condition, measured: Measured, window: Number, reason: Reason = "auto") -> Verdict:
    """Whether the trigger fires for what was measured, in a window of so many tokens (0: unknown).

    A trigger that goes by provider usage looks at that alone: what is estimated of later messages does not
    fire it (S4-29). With the `reason` "manual" only the user starts a compaction, and it never fires.

    >>> judge_trigger(Trigger(reserve_tokens=2_000), Measured(8_500, 8_001, 499, 3), 10_000).fires
    True
    """
    if trigger.tokens is None and not trigger.base(window):
        return Verdict(None, measured.tokens, None, "The model's window is not known, so nothing triggers.")
    threshold = trigger.threshold(window)
    by_usage = trigger.measure == "usage" and measured.last is not None
    tokens = measured.usage_tokens if by_usage else measured.tokens
    if not trigger.enabled:
        return Verdict(False, tokens, threshold, "The trigger is switched off.")
    fires = trigger.fires(tokens, window)
    unit = trigger.unit
    if measured.last is None:
        source = {
            **dict.fromkeys(COUNTS, "counted"),
            "langchain": "by its own estimate, characters / 4 and 3 a message",
            "cline": "by its own estimate, characters of JSON / 3",
            "deepseek": "by its own estimate, characters / 4, 4 a block and 4 a message",
            "assembled": "the request as counted",
            "tiered": "by its own estimate, characters / 4",
            "chars4_utf16": "by its own estimate, characters / 4",
        }.get(trigger.measure, "all estimated (characters / 4)")
    elif by_usage or not measured.trailing_tokens:
        source = "by provider usage"
        if measured.trailing_tokens:
            source += f"; {measured.trailing_tokens:,.0f} estimated since do not count"
    else:
        source = (
            f"{measured.usage_tokens:,.0f} by provider usage, {measured.trailing_tokens:,.0f} estimated since"
        )
    than = "above" if trigger.above else "at"
    if fires and reason == "manual":
        size = f"{tokens:,.0f} {unit} ({source}) are {than} {threshold:,.0f}"
        return Verdict(False, tokens, threshold, f"Waits for the user's /compact: {size}.")
    sentence = (
        f"{'Fires' if fires else 'Does not fire'}: {tokens:,.0f} {unit} ({source}); "
        f"it fires {than} {threshold:,.0f}."
    )
    return Verdict(fires, tokens, threshold, sentence)


def join_verdicts(join: Literal["any", "all"], verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict of several triggers: the first, with what they say together. Nothing is known as long as
    one that decides is not.

    >>> rests, fires = (Verdict(fires, 8, 10, "…") for fires in (False, True))
    >>> [join_verdicts(join, [rests, fires]).fires for join in ("any", "all")]
    [True, False]
    """
    if len(verdicts) == 1:
        return verdicts[0]
    answers = [verdict.fires for verdict in verdicts]
    decisive = join == "any"
    fires = decisive if decisive in answers else None if None in answers else not decisive
    return verdicts[0]._replace(fires=fires, sentence=" ".join(verdict.sentence for verdict in verdicts))
