"""Prices of a million tokens: a dated table of published prices, and the type for a price of your own.

Look up a model's name to get a `Price`, or None with a sentence; prices are never guessed. The figures are
the prices of Anthropic's API. Batches, fast mode, data residency and web searches are charged if the usage
reports them (`find_factor`, `SEARCH`). Regional endpoints and cloud platforms are not, since no usage names
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field, model_validator

from ..errors import InspectorError
from ..session.blocks import Value
from ..session.entries import Request, Terms, Usage
from ..text import printable
from .counter import Doubles
from .models import ClaudeName, find_claude

TTL = Literal["5m", "1h"]
MILLION = 1_000_000


def check_ttl(ttl: TTL) -> TTL:
    """The same. Raises `InspectorError` for a time to live that no cache entry has (CLAUDE §9)."""
    if ttl not in get_args(TTL):
        raise InspectorError(f'a cache entry lives "5m" or "1h", not {printable(repr(ttl), 40)}')
    return ttl


_PAGE = "platform.claude.com/docs/en/about-claude/pricing"


class Price(Value):
    """Money per million tokens, and the cost of a cached token relative to a fresh one.

    `write_5m`, `write_1h` and `read` multiply `input`. `minimum` is the shortest prefix, in tokens, that is
    cached at all; None counts as 0. A request of more than `long_above` tokens pays
    `long_input` and `long_output`. `date` is the day, or month, `source` was read.

    >>> Price(model="mine", input=2, output=8, read=0.5, source="my contract").write("1h")
    2.0
    """

    model: str
    input: float = Field(ge=0, allow_inf_nan=False)
    output: float = Field(ge=0, allow_inf_nan=False)
    write_5m: float = Field(1.25, ge=0, allow_inf_nan=False)
    write_1h: float = Field(2.0, ge=0, allow_inf_nan=False)
    read: float = Field(0.1, ge=0, allow_inf_nan=False)
    minimum: int | None = Field(None, ge=0)
    long_above: int | None = Field(None, ge=0)
    long_input: float | None = Field(None, ge=0, allow_inf_nan=False)
    long_output: float | None = Field(None, ge=0, allow_inf_nan=False)
    currency: str = "USD"
    date: str = ""
    source: str = ""

    @model_validator(mode="after")
    def _check_long(self) -> Price:
        if len({value is None for value in (self.long_above, self.long_input, self.long_output)}) > 1:
            raise ValueError("long_above, long_input and long_output go together")
        return self

    def write(self, ttl: TTL = "5m") -> float:
        """Return the cost of a token written to the cache, relative to a fresh one. Raises `InspectorError`
        for a time to live that no cache entry has."""
        return self.write_5m if check_ttl(ttl) == "5m" else self.write_1h

    def rates(self, sent: ArrayLike) -> tuple[Doubles, Doubles]:
        """Return the prices of a million fresh tokens and of a million reply tokens, by the requests'
        sizes."""
        sent = np.asarray(sent, np.float64)
        if self.long_above is None or self.long_input is None or self.long_output is None:
            return np.full_like(sent, self.input), np.full_like(sent, self.output)
        long = sent > self.long_above
        return np.where(long, self.long_input, self.input), np.where(long, self.long_output, self.output)

    def charge(
        self, fresh: ArrayLike, read: ArrayLike, written: ArrayLike, output: ArrayLike, ttl: TTL = "5m"
    ) -> Doubles:
        """Return the money for requests by their tokens: fresh, read from the cache, written to it, reply.

        >>> opus = Price(model="mine", input=5, output=25)
        >>> round(float(opus.charge(1000, 100_000, 2000, 400)), 6)
        0.0775
        """
        sizes = (fresh, read, written, output)
        fresh, read, written, output = (np.asarray(amounts, np.float64) for amounts in sizes)
        base, reply = self.rates(fresh + read + written)
        money = fresh * base / MILLION + read * base * self.read / MILLION
        money = money + written * base * self.write(ttl) / MILLION + output * reply / MILLION
        return np.asarray(money, np.float64)

    def worth(self, money: float) -> float:
        """Return the number of fresh tokens that an amount buys; infinite if they cost nothing."""
        return money * MILLION / self.input if self.input else float("inf")

    def amount(self, total: float) -> Money:
        """Return a total in this price's currency, rounded to nine decimals."""
        return Money(Decimal(repr(round(total, 9))), self.currency, self.note)

    @property
    def note(self) -> str:
        """The price as a sentence, with its source and date."""
        figures = f"{self.model}: {self.currency} {self.input:g} in, {self.output:g} out per million tokens"
        cache = f"cache read x{self.read:g}, write x{self.write_5m:g} (5m) or x{self.write_1h:g} (1h)"
        read = f"read {self.date}" if self.date else ""
        details = ", ".join(part for part in (self.source or "source not told", read) if part)
        return printable(f"{figures}, {cache} ({details})")


class Priced(NamedTuple):
    """A price, None if unknown, and a sentence with its source or the reason why it is missing."""

    price: Price | None
    note: str


def _publish(model: str, input: float, output: float, minimum: int, read: float = 0.1, **more: Any) -> Price:
    details = {"date": "2026-09", "source": _PAGE, "minimum": minimum, "read": read, **more}
    return Price(model=model, input=input, output=output, **details)


_OCTOBER = "2026-10-09"
_OLD = "2025-08"
_LONG = {"long_above": 100_000, "long_input": 0.50, "long_output": 2.50}
_ROWS = (
    _publish("claude-fable-5-1", 10, 50, 512, 0.025),
    _publish("claude-mythos-5-1", 10, 50, 512, 0.025),
    _publish("claude-fable-5", 10, 50, 512),
    _publish("claude-mythos-5", 10, 50, 512),
    _publish("claude-opus-5-5", 4, 20, 512, 0.05, date=_OCTOBER),
    _publish("claude-opus-5", 5, 25, 512),
    _publish("claude-opus-4-8", 5, 25, 1024),
    _publish("claude-opus-4-7", 5, 25, 2048),
    _publish("claude-opus-4-6", 5, 25, 4096),
    _publish("claude-opus-4-5", 5, 25, 4096),
    _publish("claude-opus-4-1", 15, 75, 1024),
    _publish("claude-opus-4", 15, 75, 1024),
    _publish("claude-opus-3", 15, 75, 1024, date=_OLD),
    _publish("claude-sonnet-5-5", 2, 10, 512, 0.05, date=_OCTOBER),
    _publish("claude-sonnet-5", 2, 10, 1024),
    _publish("claude-sonnet-4-6", 3, 15, 1024),
    _publish("claude-sonnet-4-5", 3, 15, 1024),
    _publish("claude-sonnet-4", 3, 15, 1024),
    _publish("claude-sonnet-3-7", 3, 15, 1024, date=_OLD),
    _publish("claude-sonnet-3-5", 3, 15, 1024, date=_OLD),
    _publish("claude-haiku-5-5", 0.10, 0.50, 512, date=_OCTOBER, **_LONG),
    _publish("claude-haiku-4-5", 1, 5, 4096),
    _publish("claude-haiku-3-5", 0.80, 4, 2048),
    # This one's cached tokens are published rounded to the cent: 0.30, 0.50 and 0.03.
    _publish("claude-haiku-3", 0.25, 1.25, 2048, 0.12, write_5m=1.2, date=_OLD),
)
PRICES: Mapping[str, Price] = MappingProxyType({price.model: price for price in _ROWS})
"""Published prices by family and version, in US dollars.

Source: the pricing page of Anthropic's platform documentation of September 2026, on 9 October
2026 (the 5.5 models) and in August 2025 (models it no longer lists). Shortest cached prefixes: its page on
prompt caching (CLAUDE §9). With prices of your own: `{**PRICES, "my-model": Price(…)}`.
"""


def find_price(model: str | None, table: Mapping[str, Price] = PRICES) -> Priced:
    """The price of a model: under its exact name, else under its Claude family and version.

    A version that is not in the table has no price: the one before it is not taken instead.

    >>> find_price("us.anthropic.claude-opus-4-5-20251101-v1:0").price.input
    5.0
    >>> find_price("gpt-5.5")
    Priced(price=None, note='No price is known here for gpt-5.5; give one as price=Price(…).')
    """
    claude = find_claude(model)
    price = table.get(model or "") or (table.get(_name(claude)) if claude else None)
    if price is not None:
        return Priced(price, price.note)
    label = printable(model, 80) if model else "an unnamed model"
    return Priced(None, f"No price is known here for {label}; give one as price=Price(…).")


SEARCH = 0.01
"""US dollars for one web search: $10 per 1,000 (pricing page, 2026-09)."""
_BATCH = 0.5
_US, _US_SINCE = 1.1, (4, 6)
_FAST = {"claude-opus-4-6": 6.0, "claude-opus-4-7": 6.0, "claude-opus-4-8": 2.0, "claude-opus-5": 2.0}


def find_factor(model: str | None, terms: Terms) -> tuple[float, tuple[str, ...]]:
    """Return the multiplier of a request's token prices, cached tokens included, for its reported terms, and
    the terms without a published price.

    Batches cost half. Inference in the US costs 1.1 times as much from the 4.6 models on. Fast mode costs 6
    times as much for Opus 4.6 and 4.7 ($30 in, $150 out) and twice for Opus 4.8 and 5 ($10 in, $50 out).
    Source: Anthropic's pricing page as of September 2026, sections batch processing, data residency and
    fast mode.

    >>> find_factor("claude-opus-4-8", Terms(speed="fast"))
    (2.0, ())
    >>> find_factor("claude-haiku-4-5", Terms(speed="fast"))
    (1.0, ('speed fast',))
    """
    claude, times, unknown = find_claude(model), 1.0, []
    if terms.speed is not None:
        fast = _FAST.get(_name(claude)) if claude is not None and terms.speed == "fast" else None
        times *= fast or 1.0
        unknown += [] if fast else [f"speed {terms.speed}"]
    if terms.service_tier == "batch" and claude is not None:
        times *= _BATCH
    elif terms.service_tier is not None:
        unknown.append(f"service_tier {terms.service_tier}")
    if terms.inference_geo == "us" and claude is not None:
        times *= _US if claude.version >= _US_SINCE else 1.0
    elif terms.inference_geo is not None:
        unknown.append(f"inference_geo {terms.inference_geo}")
    return times, tuple(unknown)


def _name(claude: ClaudeName) -> str:
    major, minor = claude.version
    return f"claude-{claude.family}-{major}" + (f"-{minor}" if minor else "")


class Money(NamedTuple):
    """An amount in a currency, and a sentence with the source of its price.

    >>> each = Money(Decimal("0.0123456"), "USD", "an example")
    >>> f"{each}, and a hundred times as much: {each._replace(amount=100 * each.amount)}"
    '$0.012, and a hundred times as much: $1.23'
    """

    amount: Decimal
    currency: str
    source: str

    def __str__(self) -> str:
        """Two digits that count; whole cents from one on.

        >>> str(Money(Decimal("0.0123456"), "USD", "")), str(Money(Decimal("-1234.5"), "EUR", ""))
        ('$0.012', '-EUR 1,234.50')
        """
        size = abs(self.amount)
        digits = 2 if size >= 1 or not size else max(2, 1 - size.adjusted())
        sign = "-" if self.amount < 0 else ""
        return f"{sign}{'$' if self.currency == 'USD' else f'{self.currency} '}{size:,.{digits}f}"


def price_tokens(model: str | None, fresh: int, output: int = 0, *, request: int = 0) -> Money | None:
    """Return the cost of tokens sent fresh, or written by the model, once; None if no price is known.

    No cache is assumed. `request` is the size of the request in tokens, for prices that depend on it.

    >>> str(price_tokens("claude-opus-4-5", 2_000, 200))
    '$0.015'
    >>> price_tokens("gpt-5.5", 2_000) is None
    True
    """
    price = find_price(model).price
    if price is None:
        return None
    rates = map(float, price.rates(request))
    # The published figures are decimal; a float's own digits give them back exactly.
    sent, written = (Decimal(repr(rate)) * count for rate, count in zip(rates, (fresh, output), strict=True))
    return Money((sent + written) / MILLION, price.currency, price.note)


def price_usage(model: str | None, usage: Usage) -> Money | None:
    """Return the cost of a reply by its reported usage, with all its requests; None if a price is unknown.

    Cache writes without a reported time to live are charged for five minutes.

    >>> from inspector.session.entries import Usage
    >>> str(price_usage("claude-opus-4-5", Usage(input=1000, output=400, cache_write=2000)))
    '$0.028'
    >>> str(price_usage("claude-opus-4-5", Usage(cache_write=2000, cache_write_1h=2000)))
    '$0.020'
    """
    names = "input", "output", "cache_read", "cache_write", "cache_write_1h"
    whole = Request.model_construct(**{name: getattr(usage, name) for name in names})
    requests = usage.requests or (whole,)
    amounts: list[Money | None] = []
    for request in requests:
        if (price := find_price(request.model or model).price) is None:
            return None
        prompt = request.input, request.cache_read, request.cache_write
        charges, (base, _) = price.charge(*prompt, request.output), price.rates(sum(prompt))
        longer = float(base) * (request.cache_write_1h or 0) * (price.write_1h - price.write_5m) / MILLION
        amounts.append(price.amount(float(charges) + longer))
    return add_money(amounts)


def add_money(amounts: list[Money | None]) -> Money | None:
    """Return the sum of amounts; None if one is unknown or the currencies differ.

    >>> add_money([None]) is None
    True
    """
    present = [amount for amount in amounts if amount is not None]
    if not present or len(present) < len(amounts) or len({amount.currency for amount in present}) > 1:
        return None
    sources = " ".join(dict.fromkeys(amount.source for amount in present))
    return Money(sum((amount.amount for amount in present), Decimal(0)), present[0].currency, sources)
