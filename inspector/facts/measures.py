"""Amounts with a unit and times of a day in one normal form, so that equal ones are the same value."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache

_BASES = {
    **dict.fromkeys(("ms", "s", "min", "h", "day", "week"), "s"),
    **dict.fromkeys(("byte", "kb", "mb", "gb", "tb"), "byte"),
}
_FACTORS = {
    unit: Decimal(factor)
    for unit, factor in (
        *(("ms", "0.001"), ("s", 1), ("min", 60), ("h", 3600), ("day", 86_400), ("week", 604_800)),
        *(("byte", 1), ("kb", 2**10), ("mb", 2**20), ("gb", 2**30), ("tb", 2**40)),
    )
}
_MOST_DIGITS = 28
"""Digits that a product has exactly."""
_CLOCK = re.compile(r"(\d{1,2})(?::(\d\d))?\s?([ap])?", re.IGNORECASE)


def normalise_measure(figure: str, unit: str) -> str:
    """Return an amount in the base of its unit: seconds, bytes, or the unit itself.

    >>> normalise_measure("1.5", "min"), normalise_measure("90", "s"), normalise_measure("500", "usd")
    ('90 s', '90 s', '500 usd')
    """
    if unit not in _BASES or figure.count(".") > 1 or len(figure) > _MOST_DIGITS:
        return f"{figure} {unit}"
    amount = Decimal(figure) * _FACTORS[unit]
    return f"{amount.normalize():f} {_BASES[unit]}"


@lru_cache(maxsize=256)
def list_figures(measure: str) -> frozenset[str]:
    """Return the figures of a normal form in every unit of its base.

    >>> sorted(list_figures("7200 s") & {"2", "120", "7200", "3"})
    ['120', '2', '7200']
    """
    figure, _, base = measure.partition(" ")
    if base not in _BASES.values() or figure.count(".") > 1 or len(figure) > _MOST_DIGITS:
        return frozenset((figure,))
    factors = (factor for unit, factor in _FACTORS.items() if _BASES[unit] == base)
    return frozenset(f"{(Decimal(figure) / factor).normalize():f}" for factor in factors)


def normalise_clock(text: str) -> str:
    """Return a time of a day with 24 hours.

    >>> [normalise_clock(text) for text in ("7:30 pm", "19:30", "12 a.m.", "9:05")]
    ['19:30', '19:30', '00:00', '09:05']
    """
    hour, minute, half = _CLOCK.findall(text)[0]
    number = int(hour) % 12 + 12 * (half.lower() == "p") if half else int(hour)
    return f"{number:02}:{minute or '00'}"
