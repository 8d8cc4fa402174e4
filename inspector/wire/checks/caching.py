"""Rules about cache marks: their number, the order of their lifetimes, and their allowed positions.

Paragraphs (§) refer to CLAUDE.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..parsed import ParsedRequest, WireFault

MOST_MARKS = 4
"""Maximum number of cache marks in a request, including the automatic one."""
LONG, SHORT = "1h", "5m"


def find_too_many_marks(sent: ParsedRequest) -> Iterator[WireFault]:
    """A request has at most four cache marks; an automatic one at its top is one of them (§9)."""
    marks = list(_marks(sent))
    automatic = isinstance(sent.body.get("cache_control"), dict)
    count = len(marks) + automatic
    if count > MOST_MARKS:
        path = marks[min(MOST_MARKS, len(marks) - 1)][0]
        error = f"A maximum of {MOST_MARKS} blocks with cache_control may be provided. Found {count}."
        yield WireFault(path, f"{count} cache marks are more than the {MOST_MARKS} of one request", error)


def find_late_long_mark(sent: ParsedRequest) -> Iterator[WireFault]:
    """Content cached for an hour comes before content cached for five minutes (§9).

    Tools come first, then the system prompt, then the messages. The automatic mark has the life of the last
    block's own.
    """
    short = False
    last: tuple[str, str] | None = None
    for path, lifetime in _marks(sent):
        if lifetime == LONG and short:
            error = (
                f"{path}.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' "
                "cache_control block. Note that blocks are processed in the following order: `tools`, "
                "`system`, `messages`."
            )
            yield WireFault(path, "a cache mark of one hour follows one of five minutes", error)
        short |= lifetime == SHORT
        last = path, lifetime
    automatic = sent.body.get("cache_control")
    end = sent.spots[-1].path if sent.spots else None
    if isinstance(automatic, dict) and last is not None:
        lifetime = _lifetime(automatic)
        if (last[0] == end and last[1] != lifetime) or (last[0] != end and short and lifetime == LONG):
            error = "cache_control.ttl: the last block has a cache_control of another ttl"
            yield WireFault("cache_control", "the automatic cache mark and the last differ in ttl", error)


def find_marked_thinking(sent: ParsedRequest) -> Iterator[WireFault]:
    """Thinking carries no cache mark (widely reported 400, e.g. sub2api#225)."""
    for spot in sent.spots:
        if spot.type in ("thinking", "redacted_thinking") and spot.block.get("cache_control") is not None:
            error = f"{spot.path}.{spot.type}.cache_control: Extra inputs are not permitted"
            yield WireFault(spot.path, "reasoning carries a cache mark, which none may", error)


def find_unknown_cache_life(sent: ParsedRequest) -> Iterator[WireFault]:
    """A cache mark lasts five minutes or an hour (§9). The error's wording is our own."""
    automatic = sent.body.get("cache_control")
    top = [("", automatic)] if isinstance(automatic, dict) else []
    for path, mark in [*top, *_mark_bodies(sent)]:
        if mark.get("ttl", SHORT) not in (SHORT, LONG):
            where = f"{path}.cache_control.ttl" if path else "cache_control.ttl"
            sentence = f"a cache mark lives {SHORT} or {LONG}, and this one says {str(mark['ttl'])[:20]!r}"
            yield WireFault(
                path or "cache_control", sentence, f"{where}: Input should be '{SHORT}' or '{LONG}'"
            )


def _marks(sent: ParsedRequest) -> Iterator[tuple[str, str]]:
    """Return the path and the lifetime of every mark, in the order in which the provider reads them."""
    return ((path, _lifetime(mark)) for path, mark in _mark_bodies(sent))


def _mark_bodies(sent: ParsedRequest) -> Iterator[tuple[str, dict[str, Any]]]:
    for part in ("tools", "system"):
        items = sent.body.get(part)
        for index, item in enumerate(items if isinstance(items, list | tuple) else ()):
            if isinstance(item, dict) and isinstance(item.get("cache_control"), dict):
                yield f"{part}.{index}", item["cache_control"]
    for spot in sent.spots:
        for path, block in spot.parts():
            if isinstance(block.get("cache_control"), dict):
                yield path, block["cache_control"]


def _lifetime(mark: dict[str, Any]) -> str:
    return LONG if mark.get("ttl") == LONG else SHORT
