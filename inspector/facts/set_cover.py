"""The cheapest units that between them cover every bit: an exact search, with a bound when it is cut short.

In go units, each with a price and the bits it covers; out comes a `Cover`. With a bit for each fact and a
unit for each pin this says what keeping the facts costs at least.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from math import ceil
from typing import NamedTuple

STEPS = 20_000
"""Sets of covered bits looked at before the search settles for a good answer and the bound it has proved."""


class Unit(NamedTuple):
    """Something to choose: its price (not negative), the bits it covers, and a number that names it."""

    price: int
    covers: int
    number: int


class Cover(NamedTuple):
    """Numbers of the units chosen, what they cost, and what any cover costs at least."""

    chosen: tuple[int, ...]
    price: int
    bound: int


def find_cover(units: Sequence[Unit], bits: int, steps: int = STEPS) -> Cover | None:
    """The cheapest cover of bits 0 … `bits`-1; None where some bit is in no unit.

    `bound` is the price when the search came to its end, else what it had proved by then.

    >>> find_cover([Unit(5, 0b01, 0), Unit(5, 0b10, 1), Unit(7, 0b11, 2)], 2)
    Cover(chosen=(2,), price=7, bound=7)
    >>> find_cover([Unit(5, 0b01, 0)], 2) is None
    True
    """
    full = (1 << bits) - 1
    units = _undominated([unit._replace(covers=unit.covers & full) for unit in units])
    by_bit = [sorted(unit for unit in units if unit.covers >> bit & 1) for bit in range(bits)]
    if any(not those for those in by_bit):
        return None
    cheapest = [those[0].price for those in by_bit]
    # A unit's price shared out evenly over its bits: what a bit costs at least, whoever covers it.
    share = [min(unit.price / unit.covers.bit_count() for unit in those) for those in by_bit]
    order = sorted(range(bits), key=lambda bit: (len(by_bit[bit]), -cheapest[bit]))

    def least(covered: int) -> float:
        open_bits = [bit for bit in range(bits) if not covered >> bit & 1]
        if not open_bits:
            return 0.0
        return max(max(cheapest[bit] for bit in open_bits), sum(share[bit] for bit in open_bits))

    best, best_price = _greedy(units, full)
    paid: dict[int, int] = {0: 0}
    came: dict[int, tuple[int, Unit]] = {}
    heap = [(least(0), 0, 0)]
    looked = 0
    while heap:
        estimate, price, covered = heappop(heap)
        if price > paid[covered]:
            continue
        bound = min(ceil(estimate - 1e-6), best_price)
        if covered == full:
            return Cover(_walk_back(came, covered), price, price)
        if looked >= steps or bound >= best_price:
            return Cover(best, best_price, bound)
        looked += 1
        bit = next(bit for bit in order if not covered >> bit & 1)
        for unit in by_bit[bit]:
            after, total = covered | unit.covers, price + unit.price
            if total < paid.get(after, best_price + 1):
                paid[after], came[after] = total, (covered, unit)
                heappush(heap, (total + least(after), total, after))
    return Cover(best, best_price, best_price)


def _undominated(units: Sequence[Unit]) -> list[Unit]:
    """Without units that another covers as much as, for no more."""
    kept: list[Unit] = []
    for unit in sorted(units, key=lambda unit: (unit.price, -unit.covers.bit_count(), unit.number)):
        if unit.covers and not any(unit.covers & ~other.covers == 0 for other in kept):
            kept.append(unit)
    return kept


def _greedy(units: Sequence[Unit], full: int) -> tuple[tuple[int, ...], int]:
    covered, chosen = 0, []
    while covered != full:
        unit = min(
            (unit for unit in units if unit.covers & ~covered),
            key=lambda unit: (unit.price / (unit.covers & ~covered).bit_count(), unit.number),
        )
        chosen.append(unit)
        covered |= unit.covers
    return tuple(unit.number for unit in chosen), sum(unit.price for unit in chosen)


def _walk_back(came: dict[int, tuple[int, Unit]], covered: int) -> tuple[int, ...]:
    chosen = []
    while covered:
        covered, unit = came[covered]
        chosen.append(unit.number)
    return tuple(reversed(chosen))
