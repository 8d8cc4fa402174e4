"""Find the messages of a request in the messages that were sent before it, in order.

A message that occurs once in both is certain; the ids of calls distinguish messages. Between certain ones,
the longest equal runs are taken, the last of equally long ones: a compaction keeps a run of messages, usually
the end of the conversation.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ...session.blocks import Block, ToolCall

Key = tuple[str, tuple[str, ...]]
"""A message: its content without ids, and the ids of its calls."""


def list_call_ids(blocks: Iterable[Block]) -> tuple[str, ...]:
    """Return the ids of the calls; the tool's name does not count."""
    calls = (block for block in blocks if isinstance(block, ToolCall))
    return tuple(call.id for call in calls if call.id not in ("", call.name))


def align(old: Sequence[Key], new: Sequence[Key]) -> list[int | None]:
    """Return for each new message the index of the old message that it repeats. The indices ascend.

    >>> align([("a", ()), ("ok", ()), ("b", ()), ("ok", ())], [("summary", ()), ("ok", ()), ("c", ())])
    [None, 3, None]
    >>> align([("run", ("1",)), ("run", ("2",))], [("run", ("2",)), ("run", ("3",))])
    [1, None]
    """
    indices: list[int | None] = [None] * len(new)
    start_old = start_new = 0
    for index, position in [*_find_certain(old, new), (len(old), len(new))]:
        if position < len(new):
            indices[position] = index
        gaps = [(start_old, index, start_new, position)]
        while gaps:
            low, high, first, end = gaps.pop()
            at_old, at_new, length = _find_run(old, new, low, high, first, end)
            if length:
                indices[at_new : at_new + length] = range(at_old, at_old + length)
                gaps += [(low, at_old, first, at_new), (at_old + length, high, at_new + length, end)]
        start_old, start_new = index + 1, position + 1
    return indices


def _find_certain(old: Sequence[Key], new: Sequence[Key]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of messages that occur once on each side: the most that are in the same order.

    Of several equally long chains, that with the last old messages, so both sides are read from the end.
    """
    old_counts, new_counts = Counter(old), Counter(new)
    where = {key: index for index, key in enumerate(old) if old_counts[key] == new_counts[key] == 1}
    ends: list[int] = []  # by length of a chain, the index of its last pair, negative
    tails: list[int] = []  # by length of a chain, the number of its last pair
    chains: list[tuple[int, int, int]] = []  # the pair, and the number of the pair before
    for position in reversed(range(len(new))):
        if (index := where.get(new[position])) is not None:
            length = bisect_left(ends, -index)
            ends[length : length + 1] = [-index]
            tails[length : length + 1] = [len(chains)]
            chains.append((index, position, tails[length - 1] if length else -1))
    number = tails[-1] if tails else -1
    while number >= 0:
        index, position, number = chains[number]
        yield index, position


def _find_run(
    old: Sequence[Key], new: Sequence[Key], low: int, high: int, first: int, end: int
) -> tuple[int, int, int]:
    """Return the longest equal run within bounds: its start on both sides and its length, which may be 0."""
    places: dict[str, list[int]] = {}
    for index in range(low, high) if first < end else ():
        places.setdefault(old[index][0], []).append(index)
    best = (low, first, 0)
    lengths: dict[int, int] = {}
    for position in range(first, end) if places else ():
        content, ids = new[position]
        now: dict[int, int] = {}
        for index in places.get(content, ()):
            if ids and old[index][1] and ids != old[index][1]:
                continue  # another call with the same content
            length = now[index] = lengths.get(index - 1, 0) + 1
            start = (index - length + 1, position - length + 1, length)
            if length > best[2] or (length == best[2] and start[1] == best[1]):
                best = start
        lengths = now
    return best
