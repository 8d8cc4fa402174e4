"""What one run may spend: a ceiling on requests and tokens, stated by the preview and enforced by the run.

A run may ask again: for a shorter summary, with less text, for fewer texts at a time. The ceiling follows
from the first requests alone, so it is known before anything is sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from math import ceil
from typing import Any, NamedTuple

from ...session.entries import Usage
from ...session.json_text import stringify
from ...tokens.prices import MILLION, TTL, Money, Price
from ...tokens.reported import whole_tokens

Json = dict[str, Any]
ASKS = 3
"""A run may use as many tokens as asking this often for everything takes."""
BYTE = 1.25
"""Tokens that a run may send for each byte of its first requests: no tokenizer makes more of them than one,
so each is sent; at four bytes a token, and up to half as many, it is enough for `ASKS`."""
_LARGEST_IMAGE = 5_000


class SpendingLimit(NamedTuple):
    """The most that a run may use: answered requests, tokens sent, and tokens of answers."""

    requests: int = 0
    sent: int = 0
    output: int = 0

    def __add__(self, other: SpendingLimit) -> SpendingLimit:  # type: ignore[override]
        """The limit of two runs together."""
        return SpendingLimit(*(one + two for one, two in zip(self, other, strict=True)))

    def price(self, price: Price | None, ttl: TTL | None) -> Money | None:
        """What that costs at most, with all that is sent written to the cache if one is used."""
        if price is None:
            return None
        written = 1.0 if ttl is None else max(price.write(ttl), 1.0)
        sent = max(price.input, price.long_input or 0.0) * written * self.sent
        output = max(price.output, price.long_output or 0.0) * self.output
        return Money(Decimal(repr(round((sent + output) / MILLION, 9))), price.currency, price.note)


NOTHING = SpendingLimit()


def find_limit(
    bodies: Iterable[Json], again: int = 0, asks: int = ASKS, fixed: Json | None = None
) -> SpendingLimit:
    """The ceiling of a run that begins with these requests.

    Args:
        bodies: the first requests.
        again: how many more requests may be answered.
        asks: how often everything may be answered, by the tokens of the answers.
        fixed: what each further request holds beside the material.
    """
    first = list(bodies)
    if not first:
        return NOTHING
    size = sum(map(measure_body, first)) + (0 if fixed is None else again * measure_body(fixed) // 2)
    output = sum(asks * int(body["max_tokens"]) for body in first)
    return SpendingLimit(len(first) + again, ceil(BYTE * size), output)


def measure_body(body: Json) -> int:
    """The most tokens that a request can have: its bytes, with images at their largest size in tokens."""
    size = len(stringify(body).encode("utf-8", "surrogatepass"))
    return size - sum(max(len(data) - _LARGEST_IMAGE, 0) for data in _find_images(body.get("messages")))


def _find_images(value: Any) -> Iterator[str]:
    """The encoded bytes of each image below a value."""
    match value:
        case {"type": "image", "source": {"data": str(data)}}:
            yield data
        case {"content": content}:
            yield from _find_images(content)
        case [*items]:
            for item in items:
                yield from _find_images(item)


@dataclass
class Allowance:
    """What a run has used of its limit. `ratio`: the most tokens per byte that an answer reported."""

    limit: SpendingLimit
    requests: int = 0
    sent: int = 0
    output: int = 0
    ratio: float = 0.0

    def allows(self, body: Json) -> bool:
        """Whether a request fits, even if its answer is as long as it may be."""
        size = ceil(measure_body(body) * (self.ratio or 1.0))
        return (
            self.requests < self.limit.requests
            and self.sent + size <= self.limit.sent
            and self.output + int(body["max_tokens"]) <= self.limit.output
        )

    def pay(self, body: Json, usage: Usage | None) -> None:
        """Count an answered request by the usage that it reports; nothing for one that was refused."""
        sent = whole_tokens(usage.prompt) if usage is not None else 0
        output = whole_tokens(usage.output) if usage is not None else 0
        if not (sent or output):
            return
        self.requests, self.sent, self.output = self.requests + 1, self.sent + sent, self.output + output
        self.ratio = max(self.ratio, min(sent / measure_body(body), 1.0))
