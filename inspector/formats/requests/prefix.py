"""Whole requests, one after the other -> the session they are: each begins with what the one before held.

In go requests with their replies, out comes a `Session`. Where a request begins with all that was said, the
rest of it is new. Where it begins otherwise, the history was changed before it was sent: a compaction, or an
edit, and both sides of it are known exactly: the request before, and this one. What stands in both was kept;
what is new and stands before or among that are the words of the compaction. Requests that share nothing with
a conversation, or nothing but its name, under other instructions, are another one's, such as a sub-agent's,
and stand apart. Source: FORMATS §13.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from ...session.blocks import Text, ToolOutput
from ...session.session import Session
from ...text import plural
from ..recording import Json, Recording
from .chat_messages import INSTRUCTIONS, ChatMessage, take_told
from .threads import TELLING, Thread, Threads, WholeRequest, count_equal


def join_requests(format: str, requests: Sequence[WholeRequest], made: Recording, **about: object) -> Session:
    """The session of these requests in their order. Raises `EmptySession` when nobody says anything."""
    joining = _Joining(made)
    for request in requests:
        joining.take(request)
    threads = joining.threads.all
    main = max(threads, key=lambda thread: (not thread.apart, thread.requests), default=None)
    last = main.last if main is not None else None
    told = {
        "model": last.model if last else None,
        "system": tuple(_read_system(last)) if last else (),
        "tools": last.tools if last else (),
        "created": next((request.time for request in requests if request.time), None),
        "updated": next((request.time for request in reversed(requests) if request.time), None),
        "leaf": main.end if main else None,
    }
    if len(threads) > 1:
        others = len(threads) - 1
        stand = plural(others, "other conversation stands", "other conversations stand")
        share = "it shares" if others == 1 else "each shares"
        made.warnings.append(f"{stand} apart: {share} no message with the session's, or has another name")
    for thread in threads:
        if thread is not main:
            joining.set_apart(thread)
    return made.make_session(**{**told, **about})


def _read_system(request: WholeRequest) -> list[Text]:
    return [Text(text=message.text) for message in request.system if message.text]


class _Joining:
    def __init__(self, made: Recording) -> None:
        self.made = made
        self.threads = Threads()
        self.entries: dict[int, list[str]] = {}  # by the number of their conversation

    def take(self, request: WholeRequest) -> None:
        """One request: its new messages, then its reply."""
        lead = 0
        while lead < len(request.messages) and request.messages[lead].role in INSTRUCTIONS:
            lead += 1
        # Some tell the system prompt in a field, and once more among the messages.
        told = {message.text.strip() for message in request.system}
        request.system += [each for each in request.messages[:lead] if each.text.strip() not in told]
        said = request.messages[lead:]
        prints = [message.print for message in said]
        thread = self.threads.find(request, prints, said)
        first = len(self.made.entries)
        self._match(thread, said, prints, request)
        brought = self.made.entries[first:]
        if request.compacted_at is not None and not any(entry.boundary for entry in brought):
            self.made.note("compaction", request.compacted_at)  # of a conversation that begins with it
        for message in request.reply:
            usage = request.usage if message is request.reply[-1] else None
            name = self._add(thread, message, request, reply=True)
            self.made.change(name, usage=usage)
        self.threads.keep(thread, request)
        if request.source is not None:
            # The request itself is in the last entry that it brought, or in the last one that it repeats.
            brought = self.made.entries[first:]
            carrier = brought[-1].id if brought else thread.end
            if carrier is None:
                self.made.note("request without a message", request.source)
            else:
                self.made.also(carrier, request.source)

    def _match(
        self, thread: Thread, said: list[ChatMessage], prints: list[str], request: WholeRequest
    ) -> None:
        line = thread.line
        same = count_equal(line, prints)
        told = request.compaction is not None and same < len(line)
        if not told and (same == len(line) or (same == len(prints) and same)):
            # It grew; or it was sent again, or cut back to an earlier moment.
            del line[same:]
            thread.end = line[-1][1] if line else thread.end if not prints else None
            if request.compaction is not None and line:
                # Nothing but thoughts was left out: they are no part of what is compared.
                self._close(thread, request, {"kind": "micro", **_find_told(request)}, [])
            for message in said[same:]:
                self._add(thread, message, request)
            return
        cleared = _find_cleared(self.made, line[same:], said[same:])
        if cleared is not None:
            boundary = {"kind": "micro", "cleared": tuple(cleared), **_find_told(request)}
            self._close(thread, request, boundary, [])
            for at, message in enumerate(said[same : len(line)], same):
                line[at] = message.print, line[at][1]
            for message in said[len(line) :]:
                self._add(thread, message, request)
            return
        self._compact(thread, said, prints, request)

    def _compact(
        self, thread: Thread, said: list[ChatMessage], prints: list[str], request: WholeRequest
    ) -> None:
        """The request begins otherwise: what stands in both was kept, what is new before is the summary."""
        known: dict[str, deque[str]] = {}
        for print_, name in thread.line:
            known.setdefault(print_, deque()).append(name)
        names = [known[print_].popleft() if known.get(print_) else None for print_ in prints]
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
        asked = _asked_for(thread, prints, summary)
        if asked:
            self._set_aside(thread, asked)
        boundary: Json = {
            "tokens_before": None if before is None else before.prompt if asked else before.tokens,
            "tokens_after": request.usage.request if request.usage is not None else None,
            "kept": kept,
            "summary": summary or None,
            "extra": {} if summary or not words else {"unreadable": True},
        }
        boundary |= _find_told(request)
        self._close(thread, request, boundary, found)
        compaction = thread.end or ""
        if asked and thread.last is not None:
            self.made.change(compaction, usage=before, model=thread.last.model)
        thread.line[:] = [
            (print_, name if name is not None else compaction)
            for print_, name in zip(prints[: last + 1], names, strict=False)
        ]
        for message in said[last + 1 :]:
            self._add(thread, message, request)

    def _set_aside(self, thread: Thread, count: int) -> None:
        """Put the last messages of a conversation aside: they asked for its summary, and were it."""
        for _, name in thread.line[-count:]:
            self.made.change(name, sidechain=f"summary-{thread.line[-1][1]}", usage=None)
        del thread.line[-count:]
        thread.end = thread.line[-1][1]

    def _close(self, thread: Thread, request: WholeRequest, boundary: Json, found: list) -> None:  # type: ignore[type-arg]
        number = f"compaction-{len(self.made.entries) + 1}"
        entry = self.made.compact(
            number, None, None, boundary, found=found, parent=thread.end, timestamp=request.time
        )
        if boundary.get("kind") == "micro":
            self.made.change(entry.id, kind="micro")
        if request.compacted_at is not None:
            self.made.also(entry.id, request.compacted_at)
        self.entries.setdefault(thread.number, []).append(entry.id)
        thread.end = entry.id

    def _add(
        self, thread: Thread, message: ChatMessage, request: WholeRequest, *, reply: bool = False
    ) -> str:
        role = message.role
        more: Json = {"timestamp": request.time} if reply else take_told(message)
        extra = message.extra | (request.extra if reply else {})
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
        entry = self.made.add(name, role, message.found, None, extra, parent=thread.end, **more)
        thread.end = entry.id
        thread.line.append((message.print, entry.id))
        self.entries.setdefault(thread.number, []).append(entry.id)
        return entry.id

    def set_apart(self, thread: Thread) -> None:
        """Put the entries of a conversation aside."""
        for name in self.entries.get(thread.number, ()):
            self.made.change(name, sidechain=f"conversation-{thread.number + 1}")


def _find_told(request: WholeRequest) -> Json:
    """What the log tells of the compaction before a request."""
    return {key: value for key, value in (request.compaction or {}).items() if value is not None}


def _asked_for(thread: Thread, prints: Sequence[str], summary: str) -> int:
    """How many messages at the end of a conversation asked for a summary and gave it; 0 where none did.

    The last request was the compaction's own where its reply stands in the summary, and neither this nor what
    asked for it is sent again.
    """
    last = thread.last
    if last is None or not thread.words or len(last.reply) != 1 or len(thread.line) < 3:
        return 0
    asking = last.messages[-1] if last.messages else None
    if asking is None or asking.role != "user" or asking.print in prints or last.reply[0].print in prints:
        return 0
    # Some ask for thoughts first, and take only the summary of the reply.
    told = thread.words.partition("<summary>")[2].rpartition("</summary>")[0].strip()
    words = told or thread.words
    return 2 if len(words) >= TELLING and words in summary else 0


def _find_cleared(
    made: Recording, line: Sequence[tuple[str, str]], said: Sequence[ChatMessage]
) -> list[str] | None:
    """The calls whose outputs became shorter, where nothing else changed in what was said; else None."""
    if len(said) < len(line):
        return None
    cleared: list[str] = []
    instead: set[str] = set()  # what stands in place of those that became shorter
    longer: set[str] = set()
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
            (instead if len(new.text) < len(old.text) else longer).add(new.text)
            cleared.append(old.call_id)
    return cleared if cleared and longer <= instead else None
