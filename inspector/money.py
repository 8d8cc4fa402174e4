"""Money for tokens: an exact decimal with the source of its price, never a guess.

In go tokens and a model's name, out comes a `Money`, or None where no price is published here.
"""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple

from .prices import MILLION, find_price
from .session.session import Usage


class Money(NamedTuple):
    """An amount in a currency, and the sentence that says where its price comes from."""

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
    """What so many tokens cost once, sent fresh or written by the model; None where no price is known.

    No cache is assumed. `request` is the size of the request in tokens, for prices that depend on it.

    >>> str(price_tokens("claude-opus-4-5", 2_000, 200))
    '$0.015'
    >>> price_tokens("gpt-5.5", 2_000) is None
    True
    """
    price = find_price(model).price
    if price is None:
        return None
    rates = price.input, price.output
    if price.long_above is not None and request > price.long_above:
        rates = price.long_input or 0, price.long_output or 0
    # The published figures are decimal; a float's own digits give them back exactly.
    sent, written = (Decimal(repr(rate)) * count for rate, count in zip(rates, (fresh, output), strict=True))
    return Money((sent + written) / MILLION, price.currency, price.note)


def price_usage(model: str | None, usage: Usage) -> Money | None:
    """What a reply cost by its reported usage, cache writes at the price of five minutes; None if unknown.

    >>> from inspector.session.session import Usage
    >>> str(price_usage("claude-opus-4-5", Usage(input=1000, output=400, cache_write=2000)))
    '$0.028'
    """
    price = find_price(model).price
    if price is None:
        return None
    charges = price.charge(usage.input, usage.cache_read, usage.cache_write, usage.output)
    return Money(Decimal(repr(round(float(charges.total), 9))), price.currency, price.note)


def add_money(amounts: list[Money | None]) -> Money | None:
    """All of them together; None where one is not known, or their currencies differ.

    >>> add_money([None]) is None
    True
    """
    known = [amount for amount in amounts if amount is not None]
    if not known or len(known) < len(amounts) or len({amount.currency for amount in known}) > 1:
        return None
    sources = " ".join(dict.fromkeys(amount.source for amount in known))
    return Money(sum((amount.amount for amount in known), Decimal(0)), known[0].currency, sources)
