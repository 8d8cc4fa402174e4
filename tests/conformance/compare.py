"""Two values compared by path, where the expected one may be condensed: a count, its ends, a hash."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

Found = list[str] | str | None
"""Mismatches; the reason why a fact could not be checked; None when what it needs is not there."""
Outcome = tuple[str, Found]
"""A vector's name and what came of it."""


def digest(text: str) -> dict[str, Any]:
    units = text.encode("utf-16-le", "surrogatepass")
    return {"utf16Length": len(units) // 2, "sha256_utf16le": hashlib.sha256(units).hexdigest(), "text": text}


def compare(actual: Any, expected: Any, at: str = "") -> Iterator[str]:
    """What differs, by path. Condensed expectations (counts, ends, hashes) are read as such."""
    if isinstance(expected, dict) and isinstance(actual, list):
        yield from _compare_condensed(actual, expected, at)
    elif isinstance(expected, dict) and isinstance(actual, str):
        found = digest(actual)
        yield from compare({key: found.get(key) for key in expected}, expected, at)
    elif isinstance(expected, dict) and isinstance(actual, dict):
        for key, value in expected.items():
            if key in ("response", "text") and key not in actual:
                continue
            if key not in actual:
                yield f"{at}.{key}: missing"
            else:
                yield from compare(actual[key], value, f"{at}.{key}")
    elif isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            yield f"{at}: {len(actual)} items, expected {len(expected)}"
        for i, (mine, theirs) in enumerate(zip(actual, expected, strict=False)):
            yield from compare(mine, theirs, f"{at}[{i}]")
    elif isinstance(expected, int) and isinstance(actual, list):
        yield from compare(len(actual), expected, f"{at}.count")
    elif actual != expected or isinstance(actual, bool) != isinstance(expected, bool):
        yield f"{at}: {actual!r}, expected {expected!r}"


def _compare_condensed(actual: list[Any], expected: dict[str, Any], at: str) -> Iterator[str]:
    def name(item: Any) -> Any:
        return item["entryId"] if isinstance(item, dict) else item

    ends = {
        "count": len(actual),
        "first": name(actual[0]) if actual else None,
        "firstId": name(actual[0]) if actual else None,
        "secondEntryId": name(actual[1]) if len(actual) > 1 else None,
        "last": name(actual[-1]) if actual else None,
        "lastId": name(actual[-1]) if actual else None,
        "lastEntryId": name(actual[-1]) if actual else None,
    }
    for key, value in expected.items():
        if key not in ends:
            yield f"{at}.{key}: not a condensed value we know"
        elif ends[key] != value:
            yield f"{at}.{key}: {ends[key]!r}, expected {value!r}"
