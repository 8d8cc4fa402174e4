"""Whole requests and the conversations they are of: which of those that are known goes a request on with.

The one it shares most messages with, of those under its name; else one whose last reply its first messages
repeat. Requests of many conversations come in one log, so that what a conversation holds is looked up and
no two are laid beside each other.
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
"""So many characters of a reply, found again in the next request, tell that it was written for that one."""


@dataclass
class WholeRequest:
    """A request as it was sent, with its reply. `key` names its conversation, "" where nothing does.

    Where it is `loose` it names what ran together, as a trace does, and not what was said to one another.
    One `apart` is known not to be the session's own, but a sub-agent's or a judge's. `compaction` are fields
    of a boundary where the log tells, at `compacted_at`, that the history was compacted before it.
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
    extra: Json = field(default_factory=dict)

    @property
    def instructions(self) -> str:
        """The words of its system prompt."""
        return "\n".join(message.text for message in self.system)


@dataclass
class Thread:
    """A conversation: what the next request is expected to begin with, by its prints and entries.

    `prints`, `whole`, `system` and `words` are what it is looked up by: the prints of its line, all of them
    as one number, the words of its last system prompt and those of its last reply.
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
    """The conversations of a log, each found by what it holds."""

    def __init__(self) -> None:
        self.all: list[Thread] = []
        self._named: dict[str, list[Thread]] = {}
        self._holding: dict[tuple[str, str], set[int]] = {}  # by a name and a print, their numbers
        self._whole: dict[int, set[int]] = {}
        self._replied: dict[str, dict[str, set[int]]] = {}  # by a name and how their last reply begins

    def find(self, request: WholeRequest, prints: Sequence[str], said: Sequence[ChatMessage]) -> Thread:
        """The conversation that a request goes on with, a new one where there is none."""
        shared = Counter(
            number for print_ in prints for number in self._holding.get((request.key, print_), ())
        )
        near = {
            number: (count_equal(self.all[number].line, prints), count) for number, count in shared.items()
        }
        for thread in self._find_begun(prints) if request.loose else ():
            near[thread.number] = len(thread.line), sum(print_ in thread.prints for print_ in prints)
        if near:
            return self.all[max(near, key=lambda number: (near[number], number))]
        now = request.instructions
        named = (request.key != "" and not request.loose) or request.compaction is not None
        latest = reversed(self._named.get(request.key, ()))
        for thread in latest if named else self._find_summed_up(request.key, said):
            if not _is_other(thread.system, now):
                return thread
        thread = Thread(len(self.all), request.key, request.loose, request.apart)
        self.all.append(thread)
        self._named.setdefault(request.key, []).append(thread)
        return thread

    def keep(self, thread: Thread, request: WholeRequest) -> None:
        """Take down what a conversation holds now that this request is a part of it."""
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

    def _find_begun(self, prints: Sequence[str]) -> Iterator[Thread]:
        """Those under any name whose whole line these prints begin with; of equal ones the latest."""
        for length, whole in enumerate(_number_all(prints)):
            if length > 1 and whole in self._whole:
                thread = self.all[max(self._whole[whole])]
                if len(thread.line) == count_equal(thread.line, prints) == length:
                    yield thread

    def _find_summed_up(self, key: str, said: Sequence[ChatMessage]) -> Iterator[Thread]:
        """Those whose last reply the first messages repeat, as a summary is put into the next request."""
        replied = self._replied.get(key, {})
        texts = [message.text for message in said[:2]] if replied else []
        pieces = {text[at : at + TELLING] for text in texts for at in range(len(text) - TELLING + 1)}
        found = {number for piece in pieces & replied.keys() for number in replied[piece]}
        for number in sorted(found, reverse=True):
            if any(self.all[number].words in text for text in texts):
                yield self.all[number]


def count_equal(line: Sequence[tuple[str, str]], prints: Sequence[str]) -> int:
    """How many prints a line begins with."""
    for count, ((told, _), print_) in enumerate(zip(line, prints, strict=False)):
        if told != print_:
            return count
    return min(len(line), len(prints))


def _discard(held: dict[Any, set[int]], key: Any, number: int) -> None:
    numbers = held.get(key, set())
    numbers.discard(number)
    if not numbers:
        held.pop(key, None)


def _number_all(prints: Iterable[str]) -> Iterator[int]:
    """A number for each beginning of a line, the empty one first: lines that are equal have the same."""
    number = 0
    yield number
    for print_ in prints:
        number = hash((number, print_))
        yield number


def _is_other(before: str, now: str) -> bool:
    """Whether two system prompts are those of two agents: a date or a list that changed makes no other."""
    if not before or not now:
        return False
    start = _count_same(before, now)
    end = _count_same(before[start:][::-1], now[start:][::-1])
    return start + end < min(len(before), len(now)) * 2 / 3


def _count_same(one: str, other: str) -> int:
    """How many characters two texts begin with in common."""
    same, most = 0, min(len(one), len(other))
    while same < most:
        middle = (same + most + 1) // 2
        if one[same:middle] == other[same:middle]:
            same = middle
        else:
            most = middle - 1
    return same
