"""The spending limit of a run: the most requests and tokens, shown by the preview and enforced by the run.

A run may repeat a request for a shorter summary, with less text, or for fewer texts at a time. The limit is
computed from the first requests, so it is known before anything is sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import ceil
from typing import Any, NamedTuple

from ...session.entries import Usage
from ...session.json_text import stringify
from ...tokens.prices import MILLION, TTL, Money, Price
from ...tokens.reported import whole_tokens

Json = dict[str, Any]
ASKS = 3
"""A run may use the tokens of this many complete runs."""
BYTE = 1.25
"""Tokens that a run may send per byte of its first requests.

A byte is at most one token, so the first requests always fit. At the usual four bytes per token, and down to
two, this is enough for `ASKS` runs.
"""
_LARGEST_IMAGE = 5_000


class SpendingLimit(NamedTuple):
    """The most that a run may use: answered requests, tokens sent, and tokens of answers."""

    requests: int = 0
    sent: int = 0
    output: int = 0

    def __add__(self, other: SpendingLimit) -> SpendingLimit:  # type: ignore[override]
        """The limit of two runs together."""
        return SpendingLimit(*(a + b for a, b in zip(self, other, strict=True)))

    def price(self, price: Price | None, ttl: TTL | None) -> Money | None:
        """Return the highest cost, as if everything sent were written to the cache, if there is one."""
        if price is None:
            return None
        written = 1.0 if ttl is None else max(price.write(ttl), 1.0)
        sent = max(price.input, price.long_input or 0.0) * written * self.sent
        output = max(price.output, price.long_output or 0.0) * self.output
        return price.amount((sent + output) / MILLION)


NOTHING = SpendingLimit()


def find_limit(
    bodies: Iterable[Json], again: int = 0, asks: int = ASKS, fixed: Json | None = None
) -> SpendingLimit:
    """Compute the limit of a run from its first requests.

    Args:
        bodies: The first requests.
        again: The number of further requests that may be answered.
        asks: The number of complete runs whose answers fit the limit.
        fixed: The part of each further request that does not depend on the text to read.
    """
    first = list(bodies)
    if not first:
        return NOTHING
    size = sum(map(measure_body, first)) + (0 if fixed is None else again * measure_body(fixed) // 2)
    output = sum(asks * int(body["max_tokens"]) for body in first)
    return SpendingLimit(len(first) + again, ceil(BYTE * size), output)


def measure_body(body: Json) -> int:
    """Return the most tokens that a request can have: its bytes, and the largest token count per image."""
    size = len(stringify(body).encode("utf-8", "surrogatepass"))
    return size - sum(max(len(data) - _LARGEST_IMAGE, 0) for data in _find_images(body.get("messages")))


def _find_images(value: Any) -> Iterator[str]:
    """Yield the base64 data of each image in a value."""
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
    """The part of a limit that a run has used. `ratio` is the most tokens per byte that a reply reported."""

    limit: SpendingLimit
    used: SpendingLimit = NOTHING
    ratio: float = 0.0

    def allows(self, body: Json) -> bool:
        """Whether a request with the longest possible answer fits the limit."""
        size = ceil(measure_body(body) * (self.ratio or 1.0))
        after = self.used + SpendingLimit(1, size, int(body["max_tokens"]))
        return all(used <= most for used, most in zip(after, self.limit, strict=True))

    def pay(self, body: Json, usage: Usage | None) -> None:
        """Count a request by the usage in its reply. A refused request without usage is free."""
        sent, output = (0, 0) if usage is None else (whole_tokens(usage.prompt), whole_tokens(usage.output))
        if sent or output:
            self.used += SpendingLimit(1, sent, output)
            self.ratio = max(self.ratio, min(sent / measure_body(body), 1.0))
