"""The threshold at which a policy compacts, and the target size."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from itertools import accumulate
from math import ceil, floor
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field

from ..session.blocks import Number
from ..session.entries import Entry
from ..session.session import Session
from ..session.tree import ASSISTANT
from ..tokens.counters import chars4_utf16
from ..tokens.counters.measures import COUNTS
from .part import LARGE, Count, PolicyPart

Measure = Literal[
    "usage",
    "assembled",
    "chars4_utf16",
    "tiered",
    "langchain",
    "cline",
    "deepseek",
    "strands",
    "agent-framework",
    "agno",
    "haystack",
    "mastra",
    "messages",
    "joined",
    "said",
    "outputs",
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
    """A threshold, and the measure that is compared with it. The first of these that is given decides.

    `tokens`: above this number (or of messages, by that measure). `ratio`: from this share of the window on
    (S0-12), or with `strict` only above it. Otherwise above `window - reserve_tokens` (FLUE §5). `budget`
    replaces the window. With `at_least` a fixed size or a reserve fires at the threshold itself.

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
        description="Tokens of the window reserved for the reply",
        ge=-LARGE,
        le=LARGE,
        allow_inf_nan=False,
    )
    ratio: float | None = Field(None, description="Share of the window that triggers instead", gt=0, le=1)
    strict: bool = Field(False, description="The share itself does not trigger")
    whole: bool = Field(False, description="The share is rounded down to whole tokens")
    tokens: Count | None = Field(None, description="Fixed size that triggers instead of the share")
    budget: Count | None = Field(None, description="Tokens that count as the window")
    unknown_window: Count | None = Field(None, description="Tokens of the window if it is unknown")
    at_least: bool = Field(False, description="A fixed size or reserve also fires exactly at the threshold")
    measure: Measure = Field("usage", description="The size that is compared with the threshold")

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
        """The unit of the threshold, in words."""
        return {
            "outputs": "outputs of tools",
            "candidates": "items other than a user's",
            "invocations": "turns of the user",
        }.get(self.measure, "messages" if self.measure in ("messages", "joined", "said") else "tokens")

    @property
    def above(self) -> bool:
        """Whether only more than the threshold fires."""
        return self.strict if self.tokens is None and self.ratio is not None else not self.at_least

    def base(self, window: Number) -> Number:
        """The budget, if there is one, else the window; 0 if neither is known."""
        return (window or self.unknown_window or 0) if self.budget is None else self.budget

    def threshold(self, window: Number) -> Number:
        """The size at which it fires, or above which it does (`above`)."""
        if self.tokens is not None:
            return self.tokens
        base = self.base(window)
        if self.ratio is None:
            return base - self.reserve_tokens
        return int(base * self.ratio) if self.whole else base * self.ratio

    def reserved(self, window: Number) -> Number:
        """Tokens kept free for the reply: the reserve, or what the share leaves of a known window if less.

        >>> Trigger(ratio=0.75).reserved(8_000), Trigger(ratio=0.75).reserved(200_000)
        (2000.0, 16384)
        """
        base = self.base(window)
        if self.tokens is not None or self.ratio is None or base <= 0:
            return self.reserve_tokens
        return min(self.reserve_tokens, base - base * self.ratio)

    def shown(self, window: Number) -> int:
        """The threshold in whole tokens, as it is shown: the size from which it fires, or above which.

        >>> Trigger(ratio=0.8).shown(1_003), Trigger(ratio=0.8, strict=True).shown(1_003)
        (803, 802)
        """
        threshold = self.threshold(window)
        return floor(threshold) if self.above else ceil(threshold)

    def knows(self, window: Number) -> bool:
        """Whether its threshold is known: a fixed size, or a share of a known window or budget."""
        return self.tokens is not None or self.base(window) > 0

    def fires(self, tokens: Number, window: Number) -> bool:
        """Whether a size of `tokens` meets it; never when the window is unknown (0)."""
        if not self.enabled or not self.knows(window):
            return False
        threshold = self.threshold(window)
        return tokens > threshold if self.above else tokens >= threshold


class Trigger(Condition):
    """When a policy compacts: its own threshold, and with `also` the thresholds of more conditions.

    With `join` any, one that is met is enough; with all, every one has to be. Switched off, it never fires,
    whatever is in `also`; a condition of `also` that is switched off takes no part.

    >>> half = Condition(ratio=0.5)
    >>> Trigger(tokens=50, measure="messages", at_least=True, join="all", also=(half,)).sentence
    'compact when the context holds at least 50 messages and when the context fills 0.5 of the window'
    """

    check: Check = Field("reply", description="When the condition is checked")
    join: Literal["any", "all"] = Field("any", description="Whether one of several conditions is enough")
    also: tuple[Condition, ...] = Field((), description="More conditions, each with a measure of its own")
    never_for: tuple[str, ...] = Field(
        (), description="Models, by the beginning of their names, for which it never fires"
    )

    @property
    def template(self) -> str:
        joined = " and " if self.join == "all" else " or "
        return joined.join(
            (super().template, *(condition.sentence.removeprefix("compact ") for condition in self.also))
        )

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """All that take part: its own, and those of `also` that are switched on."""
        return (self, *(condition for condition in self.also if condition.enabled))

    def for_model(self, model: str | None) -> Trigger:
        """The trigger for a model: switched off if it never fires for it.

        >>> Trigger(never_for=("claude-haiku-4-5",)).for_model("claude-haiku-4-5-20251001").enabled
        False
        """
        never = model is not None and model.startswith(self.never_for)
        return self.model_copy(update={"enabled": False}) if never else self

    def decide(
        self, sizes: Callable[[Measure], Measured], window: Number, reason: Reason = "auto", off: str = ""
    ) -> Verdict:
        """Decide whether the policy compacts now. Plan, replay, gauge, `compact` and `judge_reply` ask here.

        Args:
            sizes: Gives the size of the context by a measure, as the harness would send it.
            window: Tokens of the model's window; 0 if it is unknown.
            reason: The cause of the compaction.
            off: Why the harness does not compact for that reason (`Harness.why_off`); "" if it does.

        >>> trigger = Trigger(tokens=9, measure="messages", join="all", also=(Condition(ratio=0.5),))
        >>> verdict = trigger.decide(lambda measure: whole_size(40), 100)
        >>> verdict.fires, [one.condition.ratio for one in verdict.decided]
        (False, [0.5])
        """
        sized = [SizedCondition(condition, sizes(condition.measure), window) for condition in self.conditions]
        answers = [condition.met for condition in sized]
        decisive = self.join == "any"
        reached = decisive if decisive in answers else None if None in answers else not decisive
        decided = tuple(condition for condition, met in zip(sized, answers, strict=True) if met is reached)
        if not self.enabled:
            reached, decided = False, (sized[0],)
        return Verdict(self, reached, decided, reason, off)


LEAST_RECOVERED = 1_000
"""Tokens under which a recovery has no need to come (TIERED §5)."""


class Target(PolicyPart):
    """The size at which a policy of several stages stops: after the first stage that reaches it.

    `tokens` decides if given, else `ratio` of the trigger's window or budget. After a refusal it is
    `recovery`, if given: a share of the context, or of the window if that is smaller, and never below 1,000
    tokens (TIERED §5).

    >>> Target(ratio=0.25).limit(200_000), Target(tokens=30_000).limit(200_000)
    (50000, 30000)
    """

    title: ClassVar[str] = "Target"
    phrase: ClassVar[str] = "stop at the first stage that leaves at most {ratio} of the window or budget"

    kind: Literal["target"] = "target"
    ratio: float = Field(0.5, description="Target share of the window", gt=0, le=1)
    tokens: Count | None = Field(None, description="Target size instead of a share")
    below: bool = Field(False, description="The share itself does not meet the target")
    recovery: float | None = Field(
        None, description="Target share after a refusal: of the context, at most of the window", gt=0, le=1
    )

    @property
    def template(self) -> str:
        if self.tokens is not None:
            return "stop at the first stage that leaves at most {tokens} tokens"
        return self.phrase

    def limit(self, base: Number) -> int | None:
        """Return the target in tokens, rounded down, for a window of `base`; None if that is 0."""
        if self.tokens is not None:
            return self.tokens
        return int(base * self.ratio) - self.below if base > 0 else None

    def limit_after(self, refused: Number, base: Number) -> int | None:
        """Return the target after the provider refused a context of `refused` tokens.

        >>> [Target(recovery=0.7).limit_after(tokens, 24_000) for tokens in (40_000, 5_000, 800)]
        [16800, 3500, 1000]
        """
        if self.tokens is not None or self.recovery is None:
            return self.limit(base)
        return max(LEAST_RECOVERED, int(self.recovery * (min(refused, base) if base > 0 else refused)))


class TailWeight:
    """Sums over the last entries in a context, computed only as far back as needed.

    A plan that keeps 20,000 tokens reads only the last few hundred entries of a long session.
    """

    def __init__(self, session: Session, weigh: Callable[[Entry], int]) -> None:
        self._weigh = weigh
        self._session = session
        self._sums = [0]

    def weigh(self, count: int) -> int:
        """Return the size of the last `count` entries."""
        return self._extend(count)[count]

    def reach(self, enough: Number) -> int | None:
        """Return the smallest number of last entries (at least 1) that have `enough` size, or None."""
        sums = self._sums
        while sums[-1] < enough or len(sums) == 1:
            if len(sums) > len(self._session.live):
                return None
            sums = self._extend(2 * len(sums))
        return bisect_left(sums, enough, lo=1)

    def _extend(self, count: int) -> list[int]:
        """Return the sums of at least the last `count` entries, or of all if there are fewer.

        A returned list is never changed: several threads may read it at a time.
        """
        session, sums = self._session, self._sums
        last = len(session.live) - len(sums) + 1
        first = max(len(session.live) - count, 0)
        if first < last:
            more = [self._weigh(session.entries[i]) for i in session.live.entries[first:last][::-1].tolist()]
            self._sums = sums = [*sums[:-1], *accumulate(more, initial=sums[-1])]
        return sums


class Measured(NamedTuple):
    """Tokens in the context: the last usable usage, plus the estimate of later messages.

    `last` is the live position that usage came from, or None when everything is estimated. `instead` is the
    measure that was taken because no reply reports usage; "" for the one that was asked for.

    >>> from inspector import read_session
    >>> session = read_session([{"role": "user", "content": "Name a prime."}])
    >>> measure_usage(session) == Measured(tokens=4, usage_tokens=0, trailing_tokens=4, last=None)
    True
    """

    tokens: Number
    usage_tokens: Number
    trailing_tokens: Number
    last: int | None
    instead: Literal["", "assembled"] = ""


def whole_size(tokens: Number, instead: Literal["", "assembled"] = "") -> Measured:
    """A size of which no part is by the provider's usage.

    >>> whole_size(4)
    Measured(tokens=4, usage_tokens=0, trailing_tokens=4, last=None, instead='')
    """
    return Measured(tokens, 0, tokens, None, instead)


def read_usage(entry: Entry, *, empty: bool = True) -> Number | None:
    """Return the tokens that a reply reports of the context; None if it was cut short or has no usage.

    Usage that is all zero counts if `empty`.
    """
    if entry.role != "assistant" or entry.kind != "message" or entry.usage is None or entry.cut_short:
        return None
    return entry.usage.tokens if entry.usage.tokens or empty else None


def measure_usage(
    session: Session,
    tail: TailWeight | None = None,
    *,
    since: int = 0,
    empty: bool = True,
    forget: bool = False,
) -> Measured:
    """Measure the context at the leaf: the latest usage, and an estimate of what came after it.

    A reply that was aborted or failed is skipped, and without `empty` one whose usage is all zero (FLUE §4,
    §13.3). `tail` estimates the messages after it, by default by characters / 4 (FLUE §2). Usage from before
    the live position `since` does not hold. `forget` leaves out what the last compaction kept (pi 0.58.3).

    >>> from inspector import open_demo
    >>> measured = measure_usage(open_demo())
    >>> measured.tokens == measured.usage_tokens + measured.trailing_tokens
    True
    """
    if tail is None:
        tail = TailWeight(session, chars4_utf16.weigh)
    live = session.live
    for position in np.flatnonzero(live.role == ASSISTANT)[::-1].tolist():
        usage = read_usage(session.entries[live.entries[position]], empty=empty)
        if position >= since and usage is not None:
            trailing = tail.weigh(len(live) - 1 - position)
            return Measured(usage + trailing, usage, trailing, position)
    total = tail.weigh(len(live))
    if forget and since:
        total += tail.weigh(len(live) - since) - tail.weigh(len(live) - 1)
    return Measured(total, 0, total, None)


class SizedCondition(NamedTuple):
    """A condition, and the size that is compared with its threshold in a window (0: unknown).

    A condition on the provider's usage ignores the estimate of later messages (S4-29).
    """

    condition: Condition
    size: Measured
    window: Number

    @property
    def by_usage(self) -> bool:
        """Whether the provider reported the size."""
        return self.condition.measure == "usage" and self.size.last is not None

    @property
    def measure(self) -> Measure:
        """The measure that the size was taken by."""
        return self.size.instead or self.condition.measure

    @property
    def tokens(self) -> Number:
        """The size that is held against the threshold."""
        return self.size.usage_tokens if self.by_usage else self.size.tokens

    @property
    def threshold(self) -> Number | None:
        """The threshold; None if the window is unknown."""
        return self.condition.threshold(self.window) if self.condition.knows(self.window) else None

    @property
    def shown(self) -> int:
        """The threshold in whole tokens (`Condition.shown`)."""
        return self.condition.shown(self.window)

    @property
    def met(self) -> bool | None:
        """Whether the condition is met; None if the window is unknown."""
        has_threshold = self.condition.knows(self.window)
        return self.condition.fires(self.tokens, self.window) if has_threshold else None

    @property
    def description(self) -> str:
        """The size in words, and its source."""
        size = self.size
        if size.last is None:
            source = _SOURCES.get(self.measure, "all estimated (characters / 4)")
            source += ", as no reply reports usage" if size.instead else ""
        elif self.by_usage or not size.trailing_tokens:
            source = "by provider usage"
            if size.trailing_tokens:
                source += f"; {size.trailing_tokens:,.0f} estimated since do not count"
        else:
            source = (
                f"{size.usage_tokens:,.0f} by provider usage, {size.trailing_tokens:,.0f} estimated since"
            )
        return f"{self.tokens:,.0f} {self.condition.unit} ({source})"

    @property
    def limit(self) -> str:
        """The threshold of the condition, in words."""
        if self.threshold is None:
            return "a share of a window that is not known"
        return f"{'above' if self.condition.above else 'at'} {self.shown:,}"


_SOURCES: dict[str, str] = {
    **dict.fromkeys(COUNTS, "counted"),
    "langchain": "by its own estimate, characters / 4 and 3 a message",
    "cline": "by its own estimate, characters of JSON / 3",
    "deepseek": "by its own estimate, characters / 4, 4 a block and 4 a message",
    "strands": "by its own estimate, characters / 4, of JSON / 2",
    "agent-framework": "by its own estimate, characters of JSON / 4",
    "agno": "by its own estimate, characters / 4",
    "haystack": "by its own estimate, characters / 4",
    "mastra": "by its own estimate, words and signs",
    "assembled": "the request as counted",
    "tiered": "by its own estimate, characters / 4",
    "chars4_utf16": "by its own estimate, characters / 4",
}


class Verdict(NamedTuple):
    """Whether a policy compacts now, and why.

    `reached` says whether the conditions of the trigger are met, None while no window is known; `decided` are
    the conditions that decided: those that are met, or those that are not. `off` says why the harness still
    does not compact. After a refusal (`reason` "overflow") no condition has to be met. `level` says how full
    the window is, where the harness warns of it. With `asks` it compacts only if its user agrees.

    >>> verdict: Verdict = judge_trigger(Trigger(ratio=0.8), Measured(170_000, 170_000, 0, 5), 200_000)
    >>> verdict.fires, verdict.sentence
    (True, 'Fires: 170,000 tokens (by provider usage); it fires at 160,000.')
    """

    trigger: Trigger
    reached: bool | None
    decided: tuple[SizedCondition, ...]
    reason: Reason = "auto"
    off: str = ""
    level: str = ""
    asks: bool = False

    @property
    def fires(self) -> bool | None:
        """Whether it compacts; None if the threshold is unknown."""
        if self.reason == "overflow":
            return not self.off
        return self.reached and not self.off

    @property
    def lead(self) -> SizedCondition:
        """The condition to report: the first that is met. If none is, the nearest to its threshold if one is
        enough, and the farthest from it if all are needed."""
        if self.reached is not False or len(self.decided) == 1:
            return self.decided[0]
        choose = max if self.trigger.join == "any" else min
        return choose(self.decided, key=lambda condition: condition.tokens / max(condition.threshold or 0, 1))

    @property
    def tokens(self) -> Number:
        """The size that is held against `threshold`."""
        return self.lead.tokens

    @property
    def threshold(self) -> Number | None:
        """The threshold of the condition to look at; None while no window is known."""
        return self.lead.threshold

    @property
    def missing(self) -> int | None:
        """How much the size lacks for its threshold, 0 if nothing; None while the threshold is unknown.

        >>> [judge_trigger(Trigger(ratio=0.8, strict=strict), Measured(79, 79, 0, 5), 100).missing
        ...  for strict in (False, True)]
        [1, 2]
        """
        if self.threshold is None:
            return None
        least = floor(self.threshold) + 1 if self.lead.condition.above else ceil(self.threshold)
        return max(least - int(self.tokens), 0)

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        asked = ", and the user is asked first" if self.asks else ""
        if self.reason == "overflow":
            return f"{self.off or f'Compacts{asked}'}: the provider refused the request."
        if self.off:
            return f"{self.off}: {self.level or self.lead.description}."
        if not self.trigger.enabled:
            return "The trigger is switched off."
        if self.reached is None:
            return "The model's window is not known, so nothing triggers."
        several = len(self.trigger.conditions)
        sizes = "; ".join(
            f"{sized.description} are "
            f"{sized.limit if sized.condition.above else sized.limit.replace('at', 'at least', 1)}"
            for sized in self.decided
        )
        verb = f"Fires{asked}" if self.reached else "Does not fire"
        if several == 1:
            return f"{verb}: {self.lead.description}; it fires {self.lead.limit}."
        many = f"{len(self.decided)} of its {several} conditions"
        if self.reached:
            return f"{verb}, {many} met: {sizes}."
        missing = "; ".join(f"{sized.description}, met {sized.limit}" for sized in self.decided)
        return f"Does not fire, {many} not met: {missing}."

    def describe(self) -> str:
        """Return the sentence, and how much is left if the trigger does not fire."""
        if (
            not self.missing
            or self.reached is not False
            or not self.trigger.enabled
            or self.off
            or self.reason == "overflow"
        ):
            return self.sentence
        return f"{self.sentence} {self.missing:,} to go."


def judge_trigger(trigger: Trigger, measured: Measured, window: Number) -> Verdict:
    """Decide whether the trigger fires if every measure gives the measured size, in a window of `window`
    tokens (0: unknown).

    >>> judge_trigger(Trigger(reserve_tokens=2_000), Measured(8_500, 8_001, 499, 3), 10_000).fires
    True
    """
    return trigger.decide(lambda _: measured, window)
