"""Assign whole requests to conversations.

A request continues the conversation with the same name with which it shares most messages; otherwise one
with a last reply that its first messages repeat. A log may contain requests of many conversations, so
conversations are found by lookups and never compared in pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...session.entries import Source, Tool, Usage
from ..recording import Json
from .chat_messages import ChatMessage

TELLING = 40
"""Minimum number of characters of a reply that identify it in the next request."""


@dataclass
class WholeRequest:
    """A request as it was sent, with its reply.

    Attributes:
        key: Name of the conversation, or "".
        loose: Whether the name belongs to a trace, which may contain several conversations.
        apart: Whether the request is known to be a sub-agent's or a judge's.
        compaction: Fields of a boundary, if the log records a compaction before the request.
        compacted_at: The record of that compaction.
        flagged: Whether the request says that its conversation was compacted.
    """

    source: Source | None
    messages: list[ChatMessage]
    reply: list[ChatMessage] = field(default_factory=list)
    usage: Usage | None = None
    model: str | None = None
    provider: str | None = None
    system: list[ChatMessage] = field(default_factory=list)
    tools: tuple[Tool, ...] = ()
    time: str | None = None
    key: str = ""
    loose: bool = False
    apart: bool = False
    compaction: Json | None = None
    compacted_at: Source | None = None
    flagged: bool = False
    extra: Json = field(default_factory=dict)

    @property
    def instructions(self) -> str:
        """The text of the system prompt."""
        return "\n".join(message.text for message in self.system)


@dataclass
class Thread:
    """A conversation.

    Attributes:
        line: The prints and entries of the messages with which the next request should begin.
        prints: The prints of the line.
        whole: One number for all prints of the line.
        system: The text of the last system prompt.
        words: The text of the last reply, if it is long enough to identify it.
    """

    number: int
    key: str
    loose: bool
    apart: bool = False
    line: list[tuple[str, str]] = field(default_factory=list)
    requests: int = 0
    last: WholeRequest | None = None
    end: str | None = None
    prints: frozenset[str] = frozenset()
    whole: int = 0
    system: str = ""
    words: str = ""


class Threads:
    """The conversations of a log, with indices to find them by content."""

    def __init__(self) -> None:
        self.all: list[Thread] = []
        self._named: dict[str, list[Thread]] = {}
        self._holding: dict[tuple[str, str], set[int]] = {}  # numbers by conversation name and print
        self._whole: dict[int, set[int]] = {}
        self._replied: dict[str, dict[str, set[int]]] = {}  # numbers by name and beginning of the last reply

    def find(self, request: WholeRequest, prints: Sequence[str], messages: Sequence[ChatMessage]) -> Thread:
        """Return the conversation that a request continues, or a new one."""
        shared = Counter(
            number for print_ in prints for number in self._holding.get((request.key, print_), ())
        )
        near = {
            number: (count_equal(self.all[number].line, prints), count) for number, count in shared.items()
        }
        for thread in self._find_extended(prints) if request.loose else ():
            near[thread.number] = len(thread.line), sum(print_ in thread.prints for print_ in prints)
        if near:
            return self.all[max(near, key=lambda number: (near[number], number))]
        now = request.instructions
        named = (request.key != "" and not request.loose) or request.compaction is not None
        latest = reversed(self._named.get(request.key, ()))
        for thread in latest if named else self._find_summarised(request.key, messages):
            if not _is_other(thread.system, now):
                return thread
        thread = Thread(len(self.all), request.key, request.loose, request.apart)
        self.all.append(thread)
        self._named.setdefault(request.key, []).append(thread)
        return thread

    def keep(self, thread: Thread, request: WholeRequest) -> None:
        """Update the indices of a conversation after a request was added to it."""
        number, now = thread.number, frozenset(print_ for print_, _ in thread.line)
        for print_ in thread.prints - now:
            _discard(self._holding, (thread.key, print_), number)
        for print_ in now - thread.prints:
            self._holding.setdefault((thread.key, print_), set()).add(number)
        if thread.loose:
            _discard(self._whole, thread.whole, number)
            *_, thread.whole = _number_all(print_ for print_, _ in thread.line)
            self._whole.setdefault(thread.whole, set()).add(number)
        replied = self._replied.setdefault(thread.key, {})
        _discard(replied, thread.words[:TELLING], number)
        words = "\n".join(message.text for message in request.reply).strip()
        thread.words = words if len(words) >= TELLING else ""
        if thread.words:
            replied.setdefault(words[:TELLING], set()).add(number)
        thread.prints, thread.system, thread.last = now, request.instructions, request
        thread.requests += 1

    def _find_extended(self, prints: Sequence[str]) -> Iterator[Thread]:
        """Yield conversations of any name whose whole line these prints begin with; if equal, the latest."""
        for length, whole in enumerate(_number_all(prints)):
            if length > 1 and whole in self._whole:
                thread = self.all[max(self._whole[whole])]
                if len(thread.line) == count_equal(thread.line, prints) == length:
                    yield thread

    def _find_summarised(self, key: str, messages: Sequence[ChatMessage]) -> Iterator[Thread]:
        """Yield conversations whose last reply is repeated in the first messages, as a summary is."""
        replied = self._replied.get(key, {})
        texts = [message.text for message in messages[:2]] if replied else []
        pieces = {
            text[offset : offset + TELLING] for text in texts for offset in range(len(text) - TELLING + 1)
        }
        numbers = {number for piece in pieces & replied.keys() for number in replied[piece]}
        for number in sorted(numbers, reverse=True):
            if any(self.all[number].words in text for text in texts):
                yield self.all[number]


def count_equal(line: Sequence[tuple[str, str]], prints: Sequence[str]) -> int:
    """Return how many of the prints the line begins with."""
    for count, ((line_print, _), print_) in enumerate(zip(line, prints, strict=False)):
        if line_print != print_:
            return count
    return min(len(line), len(prints))


def _discard(index: dict[Any, set[int]], key: Any, number: int) -> None:
    numbers = index.get(key, set())
    numbers.discard(number)
    if not numbers:
        index.pop(key, None)


def _number_all(prints: Iterable[str]) -> Iterator[int]:
    """Yield a number for each prefix of a line, the empty one first. Equal prefixes have equal numbers."""
    number = 0
    yield number
    for print_ in prints:
        number = hash((number, print_))
        yield number


def _is_other(before: str, now: str) -> bool:
    """Return whether two system prompts are of different agents. A changed date or list does not count."""
    if not before or not now:
        return False
    start = _count_same(before, now)
    end = _count_same(before[start:][::-1], now[start:][::-1])
    return start + end < min(len(before), len(now)) * 2 / 3


def _count_same(text: str, other: str) -> int:
    """Return the length of the common prefix of two texts."""
    same, most = 0, min(len(text), len(other))
    while same < most:
        middle = (same + most + 1) // 2
        if text[same:middle] == other[same:middle]:
            same = middle
        else:
            most = middle - 1
    return same
