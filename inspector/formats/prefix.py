"""Whole requests, one after the other -> the session they are: each begins with what the one before held.

In go requests with their replies, out comes a `Session`. Where a request begins with all that was said, the
rest of it is new. Where it begins otherwise, the history was changed before it was sent: a compaction, or an
edit, and both sides of it are known exactly: the request before, and this one. What stands in both was kept;
what is new and stands before or among that are the words of the compaction. Requests that share nothing with
a conversation, or nothing but its name, under other instructions, are another one's, such as a sub-agent's,
and stand apart. Source: FORMATS §13.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..session.blocks import Text, ToolOutput
from ..session.entries import Source, Tool, Usage
from ..session.session import Session
from ..text import plural
from .chat_messages import INSTRUCTIONS, ChatMessage
from .recording import Json, Recording

TELLING = 40
"""So many characters of a reply, found again in the next request, tell that it was written for that one."""


@dataclass
class WholeRequest:
    """A request as it was sent, with its reply. `key` names its conversation, "" where nothing does.

    Where it is `loose` it names what ran together, as a trace does, and not what was said to one another.
    `compaction` are fields of a boundary where the log tells that the history was compacted before it.
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
    compaction: Json | None = None
    extra: Json = field(default_factory=dict)


@dataclass
class _Thread:
    """A conversation: what the next request is expected to begin with, by its prints and entries."""

    number: int
    key: str
    loose: bool
    line: list[tuple[str, str]] = field(default_factory=list)
    requests: int = 0
    last: WholeRequest | None = None
    end: str | None = None


def join_requests(format: str, requests: Sequence[WholeRequest], made: Recording, **about: object) -> Session:
    """The session of these requests in their order. Raises `EmptySession` when nobody says anything."""
    joining = _Joining(made)
    for request in requests:
        joining.take(request)
    main = max(joining.threads, key=lambda thread: thread.requests, default=None)
    last = main.last if main is not None else None
    told = {
        "model": last.model if last else None,
        "system": tuple(_read_system(last)) if last else (),
        "tools": last.tools if last else (),
        "created": next((request.time for request in requests if request.time), None),
        "updated": next((request.time for request in reversed(requests) if request.time), None),
        "leaf": main.end if main else None,
    }
    if len(joining.threads) > 1:
        others = plural(len(joining.threads) - 1, "other conversation stands", "other conversations stand")
        made.warnings.append(
            f"{others} apart: they share no message with the longest one, or have another name"
        )
    for thread in joining.threads:
        if thread is not main:
            joining.set_apart(thread)
    return made.make_session(**{**told, **about})


def _read_system(request: WholeRequest) -> list[Text]:
    return [Text(text=message.text) for message in request.system if message.text]


class _Joining:
    def __init__(self, made: Recording) -> None:
        self.made = made
        self.threads: list[_Thread] = []
        self.of: dict[str, int] = {}

    def take(self, request: WholeRequest) -> None:
        """One request: its new messages, then its reply."""
        lead = 0
        while lead < len(request.messages) and request.messages[lead].role in INSTRUCTIONS:
            lead += 1
        request.system += request.messages[:lead]
        said = request.messages[lead:]
        prints = [message.print for message in said]
        thread = self._find(request, prints, said)
        first = len(self.made.entries)
        self._match(thread, said, prints, request)
        for message in request.reply:
            usage = request.usage if message is request.reply[-1] else None
            name = self._add(thread, message, request, reply=True)
            self.made.change(name, usage=usage)
        thread.requests += 1
        thread.last = request
        if request.source is not None:
            # The request itself is in the last entry that it brought, or in the last one that it repeats.
            brought = self.made.entries[first:]
            carrier = brought[-1].id if brought else thread.end
            if carrier is None:
                self.made.note("request without a message", request.source)
            else:
                self.made.also(carrier, request.source)

    def _find(self, request: WholeRequest, prints: list[str], said: list[ChatMessage]) -> _Thread:
        """The conversation that a request goes on with: the one it shares most with."""
        best: tuple[int, int, _Thread] | None = None
        for thread in self.threads:
            grown = _count_equal(thread.line, prints)
            goes_on = thread.loose and request.loose and 1 < len(thread.line) == grown
            if thread.key != request.key and not goes_on:
                continue
            known = {print_ for print_, _ in thread.line}
            shared = grown, sum(print_ in known for print_ in prints)
            if not any(shared) and _has_other_system(thread.last, request):
                continue
            named = request.key != "" and not request.loose
            near = any(shared) or named or _is_summed_up(thread.last, said)
            if near and (best is None or shared >= best[:2]):
                best = (*shared, thread)
        if best is None:
            self.threads.append(_Thread(len(self.threads) + 1, request.key, request.loose))
            return self.threads[-1]
        return best[2]

    def _match(
        self, thread: _Thread, said: list[ChatMessage], prints: list[str], request: WholeRequest
    ) -> None:
        line = thread.line
        same = _count_equal(line, prints)
        told = request.compaction is not None and same < len(line)
        if not told and (same == len(line) or (same == len(prints) and same)):
            # It grew; or it was sent again, or cut back to an earlier moment.
            del line[same:]
            thread.end = line[-1][1] if line else thread.end if not prints else None
            for message in said[same:]:
                self._add(thread, message, request)
            return
        cleared = _find_cleared(self.made, line[same:], said[same:])
        if cleared is not None and not told:
            self._close(thread, request, {"kind": "micro", "cleared": tuple(cleared)}, [])
            for at, message in enumerate(said[same : len(line)], same):
                line[at] = message.print, line[at][1]
            for message in said[len(line) :]:
                self._add(thread, message, request)
            return
        self._compact(thread, said, prints, request)

    def _compact(
        self, thread: _Thread, said: list[ChatMessage], prints: list[str], request: WholeRequest
    ) -> None:
        """The request begins otherwise: what stands in both was kept, what is new before is the summary."""
        known: dict[str, list[str]] = {}
        for print_, name in thread.line:
            known.setdefault(print_, []).append(name)
        names = [known[print_].pop(0) if known.get(print_) else None for print_ in prints]
        last = max((at for at, name in enumerate(names) if name is not None), default=-1)
        # What was said last is kept where only the beginning was cut off; else a summary follows.
        cut = thread.line[-1][1] in names if thread.line else True
        if not cut and None not in names[: last + 1]:
            last = min(last + 1, len(said) - 1)
        words = [message for message, name in zip(said[: last + 1], names, strict=False) if name is None]
        kept = tuple(name for name in names if name is not None)
        found = [pair for message in words for pair in message.found]
        summary = "\n\n".join(message.text for message in words if message.text)
        before = thread.last.usage if thread.last is not None else None
        boundary: Json = {
            "tokens_before": before.tokens if before is not None else None,
            "tokens_after": request.usage.prompt if request.usage is not None else None,
            "kept": kept,
            "summary": summary or None,
            "extra": {} if summary or not words else {"unreadable": True},
        }
        recorded = request.compaction or {}
        boundary |= {key: value for key, value in recorded.items() if value is not None}
        self._close(thread, request, boundary, found)
        compaction = thread.end or ""
        thread.line[:] = [
            (print_, name if name is not None else compaction)
            for print_, name in zip(prints[: last + 1], names, strict=False)
        ]
        for message in said[last + 1 :]:
            self._add(thread, message, request)

    def _close(self, thread: _Thread, request: WholeRequest, boundary: Json, found: list) -> None:  # type: ignore[type-arg]
        number = f"compaction-{len(self.made.entries) + 1}"
        entry = self.made.compact(
            number, None, None, boundary, found=found, parent=thread.end, timestamp=request.time
        )
        if boundary.get("kind") == "micro":
            self.made.change(entry.id, kind="micro")
        self.of[entry.id] = thread.number
        thread.end = entry.id

    def _add(
        self, thread: _Thread, message: ChatMessage, request: WholeRequest, *, reply: bool = False
    ) -> str:
        role = message.role
        more: Json = {"timestamp": request.time} if reply else {}
        if role == "assistant":
            more |= {"model": request.model, "provider": request.provider} if reply else {}
        elif role in INSTRUCTIONS:
            role, more = "user", {**more, "meta": True}
        elif role == "compaction":
            role = "assistant"
        if role == "tool" and not all(isinstance(block, ToolOutput) for block, _ in message.found):
            role = "user"
            more["meta"] = True
        name = f"m{len(self.made.entries) + 1}"
        extra = message.extra | (request.extra if reply else {})
        entry = self.made.add(name, role, message.found, None, extra, parent=thread.end, **more)
        thread.end = entry.id
        thread.line.append((message.print, entry.id))
        self.of[entry.id] = thread.number
        return entry.id

    def set_apart(self, thread: _Thread) -> None:
        """Put the entries of a conversation aside."""
        for name, number in self.of.items():
            if number == thread.number:
                self.made.change(name, sidechain=f"conversation-{thread.number}")


def _count_equal(line: Sequence[tuple[str, str]], prints: Sequence[str]) -> int:
    count = 0
    while count < min(len(line), len(prints)) and line[count][0] == prints[count]:
        count += 1
    return count


def _is_summed_up(last: WholeRequest | None, said: list[ChatMessage]) -> bool:
    """Whether the first messages repeat the last reply, as a summary is put into the next request."""
    words = "\n".join(message.text for message in last.reply).strip() if last is not None else ""
    return len(words) >= TELLING and any(words in message.text for message in said[:2])


def _has_other_system(last: WholeRequest | None, request: WholeRequest) -> bool:
    """Whether both have instructions, and these are another agent's: a date or a list that changed is not."""
    told = [
        "\n".join(message.text for message in each.system) for each in (last, request) if each is not None
    ]
    before, now = told if len(told) == 2 else ("", "")
    if not before or not now:
        return False
    start = _count_same(before, now)
    end = _count_same(before[start:][::-1], now[start:][::-1])
    return start + end < min(len(before), len(now)) * 2 / 3


def _count_same(one: str, other: str) -> int:
    """How many characters two texts begin with in common."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _find_cleared(
    made: Recording, line: Sequence[tuple[str, str]], said: Sequence[ChatMessage]
) -> list[str] | None:
    """The calls whose outputs became shorter, where nothing else changed in what was said; else None."""
    if len(said) < len(line):
        return None
    cleared: list[str] = []
    for (print_, name), message in zip(line, said, strict=False):
        if message.print == print_:
            continue
        before = made.entries[made.where[name]].blocks
        after = [block for block, _ in message.found]
        if len(before) != len(after):
            return None
        for old, new in zip(before, after, strict=True):
            if old == new:
                continue
            if not (
                isinstance(old, ToolOutput) and isinstance(new, ToolOutput) and old.call_id == new.call_id
            ):
                return None
            if len(new.text) >= len(old.text):
                return None
            cleared.append(old.call_id)
    return cleared or None
