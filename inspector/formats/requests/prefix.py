"""Join whole requests to a session: each request begins with the content of the one before.

Source: FORMATS §13. If a request begins with all earlier messages, the rest of it is new. If not, the history
was changed before it was sent, by a compaction or an edit, and both versions are known exactly: the previous
request and this one. Messages in both are kept. New messages before or between the kept ones are the text of
the compaction. Requests belong to another conversation, such as a sub-agent's, if they share no message with
a known one, or only its name under different instructions; these conversations become sidechains.

A request continues the conversation with the same name with which it shares most messages; otherwise one with
a last reply that its first messages repeat. A log may contain requests of many conversations, so
conversations are found by lookups and never compared in pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...session.blocks import Text, ToolCall, ToolOutput
from ...session.entries import Source, Tool, Usage
from ...session.session import Session
from ...text import plural
from ..json_document import ParsedBlock
from ..recording import COMPACTION, Json, Reading
from ..summary_wording import begins_as_summary
from .alignment import align, list_call_ids
from .chat_messages import INSTRUCTIONS, ChatMessage, take_entry_fields
from .open_calls import OpenCalls

TELLING = 40
"""Minimum number of characters of a reply that identify it in the next request."""

_JOIN = "Rows of one session are joined by an equal `session_id`"


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
        open: The calls of the last reply without results.
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
    open: OpenCalls = field(default_factory=OpenCalls)


class Threads:
    """The conversations of a log, with indices to find them by content."""

    def __init__(self) -> None:
        self.all: list[Thread] = []
        self.guessed = 0  # conversations found by the first words of a summary alone
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
        if (replaced := self._find_replaced(request, messages)) is not None:
            self.guessed += 1
            return replaced
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

    def _find_replaced(self, request: WholeRequest, messages: Sequence[ChatMessage]) -> Thread | None:
        """Return the last longer conversation with equal instructions if the first message is a summary."""
        if request.apart or request.loose or not messages or not begins_as_summary(messages[0].text):
            return None
        for thread in reversed(self._named.get(request.key, ())):
            if thread.system == request.instructions and len(thread.line) > len(messages):
                return thread
        return None

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


def join_requests(
    format: str, requests: Sequence[WholeRequest], recording: Reading, **about: object
) -> Session:
    """Build the session of these requests, in order. Raises `EmptySession` if there are no messages."""
    joining = _Joining(recording)
    for request in requests:
        joining.take(request)
    threads = joining.threads.all
    main = max(threads, key=lambda thread: (not thread.apart, thread.requests), default=None)
    last = main.last if main is not None else None
    session_fields = {
        "model": last.model if last else None,
        "system": tuple(Text(text=part.text) for part in last.system if part.text) if last else (),
        "tools": last.tools if last else (),
        "created": next((request.time for request in requests if request.time), None),
        "updated": next((request.time for request in reversed(requests) if request.time), None),
        "leaf": main.end if main else None,
    }
    if len(threads) > 1:
        others = len(threads) - 1
        verb = plural(others, "other conversation is", "other conversations are")
        share = "it shares" if others == 1 else "each shares"
        recording.warnings.append(
            f"{verb} separate: {share} no message with the session's, or has another name"
            + (f". {_JOIN}" if format == "request-log" and not any(thread.key for thread in threads) else "")
        )
    guessed = "{} no message: its summary is recognised by its first words"
    recording.warn(joining.threads.guessed, guessed, "compaction keeps", "compactions keep")
    for thread in threads:
        if thread is not main:
            joining.set_apart(thread)
    return recording.make_session(**{**session_fields, **about})


class _Joining:
    def __init__(self, recording: Reading) -> None:
        self.recording = recording
        self.threads = Threads()
        self.entries: dict[int, list[str]] = {}  # by the number of their conversation

    def take(self, request: WholeRequest) -> None:
        """Add a request: its new messages, then its reply."""
        lead = 0
        while lead < len(request.messages) and request.messages[lead].role in INSTRUCTIONS:
            lead += 1
        # Some logs store the system prompt in a field and repeat it among the messages.
        system_texts = {message.text.strip() for message in request.system}
        request.system += [head for head in request.messages[:lead] if head.text.strip() not in system_texts]
        messages = request.messages[lead:]
        prints = [message.print for message in messages]
        thread = self.threads.find(request, prints, messages)
        first = len(self.recording.entries)
        if request.flagged and not thread.line and not self.recording.entries:
            # The log begins after the compaction, so the replaced messages and the summary are unknown.
            self._close(thread, request, {"extra": {"unreadable": True}}, [])
        self._match(thread, messages, prints, request)
        brought = self.recording.entries[first:]
        if request.compacted_at is not None and not any(entry.boundary for entry in brought):
            self.recording.note("compaction", request.compacted_at)  # the conversation begins after it
        for message in request.reply:
            usage = request.usage if message is request.reply[-1] else None
            name = self._add(thread, message, request, reply=True)
            self.recording.change(name, usage=usage)
        self.threads.keep(thread, request)
        if request.source is not None:
            # The request is a source of the last entry that it added or, if it added none, repeated.
            brought = self.recording.entries[first:]
            carrier = brought[-1].id if brought else thread.end
            if carrier is None:
                self.recording.note("request without a message", request.source)
            else:
                self.recording.also(carrier, request.source)

    def _match(
        self, thread: Thread, messages: list[ChatMessage], prints: list[str], request: WholeRequest
    ) -> None:
        line = thread.line
        same = count_equal(line, prints)
        is_recorded = request.compaction is not None and same < len(line)
        if not is_recorded and (same == len(line) or (same == len(prints) and same)):
            # The conversation continued, was sent again, or was cut back to an earlier point.
            del line[same:]
            thread.end = line[-1][1] if line else thread.end if not prints else None
            if request.compaction is not None and line:
                # Only reasoning was removed, which is not compared.
                self._close(thread, request, {"kind": "micro", **_find_recorded_fields(request)}, [])
            for message in messages[same:]:
                self._add(thread, message, request)
            return
        cleared = _find_cleared(self.recording, line[same:], messages[same:])
        if cleared is not None:
            boundary = {"kind": "micro", "cleared": tuple(cleared), **_find_recorded_fields(request)}
            self._close(thread, request, boundary, [])
            for index, message in enumerate(messages[same : len(line)], same):
                line[index] = message.print, line[index][1]
            for message in messages[len(line) :]:
                self._add(thread, message, request)
            return
        self._compact(thread, messages, prints, request)

    def _compact(
        self, thread: Thread, messages: list[ChatMessage], prints: list[str], request: WholeRequest
    ) -> None:
        """Add a compaction: messages in both requests are kept, new ones before them are the summary."""
        before_keys = [(print_, list_call_ids(self.recording[name].blocks)) for print_, name in thread.line]
        now_keys = [
            (print_, list_call_ids(block for block, _ in message.parsed_blocks))
            for print_, message in zip(prints, messages, strict=True)
        ]
        indices = align(before_keys, now_keys)
        names = [None if index is None else thread.line[index][1] for index in indices]
        last = max((index for index, name in enumerate(names) if name is not None), default=-1)
        # If only the beginning was cut off, the last message is kept; otherwise a summary follows.
        cut = thread.line[-1][1] in names if thread.line else True
        if not cut and None not in names[: last + 1]:
            last = min(last + 1, len(messages) - 1)
        words = [message for message, name in zip(messages[: last + 1], names, strict=False) if name is None]
        kept_ids = tuple(name for name in names if name is not None)
        pairs = [pair for message in words for pair in message.parsed_blocks]
        parsed_blocks = [pair for pair in pairs if not self._is_sealed(pair)]
        summary = "\n\n".join(message.text for message in words if message.text)
        if len(parsed_blocks) < len(pairs):
            summary = "\n\n".join(block.text for block, _ in parsed_blocks if block.text)
        before = thread.last.usage if thread.last is not None else None
        summary_messages = _count_summary_messages(thread, prints, summary)
        if summary_messages:
            self._set_aside(thread, summary_messages)
        boundary: Json = {
            "tokens_before": None if before is None else before.prompt if summary_messages else before.tokens,
            "tokens_after": request.usage.request if request.usage is not None else None,
            "kept": kept_ids,
            "summary": summary or None,
            "extra": {} if summary or not words else {"unreadable": True},
        }
        boundary |= _find_recorded_fields(request)
        self._close(thread, request, boundary, parsed_blocks)
        compaction = thread.end or ""
        if summary_messages and thread.last is not None:
            self.recording.change(compaction, usage=before, model=thread.last.model)
        thread.line[:] = [
            (print_, name if name is not None else compaction)
            for print_, name in zip(prints[: last + 1], names, strict=False)
        ]
        for message in messages[last + 1 :]:
            self._add(thread, message, request)

    def _is_sealed(self, pair: ParsedBlock) -> bool:
        """Whether a part of a span is a compaction that only the provider reads: its content is not text."""
        return self.recording.format == "traces" and pair[1].get("type") == COMPACTION

    def _set_aside(self, thread: Thread, count: int) -> None:
        """Move the request for a summary, and its reply, from the end of a conversation to a sidechain."""
        for _, name in thread.line[-count:]:
            self.recording.change(name, sidechain=f"summary-{thread.line[-1][1]}", usage=None)
        del thread.line[-count:]
        thread.end = thread.line[-1][1]

    def _close(self, thread: Thread, request: WholeRequest, boundary: Json, parsed_blocks: list) -> None:  # type: ignore[type-arg]
        number = f"compaction-{len(self.recording.entries) + 1}"
        entry = self.recording.compact(
            number,
            None,
            boundary,
            parsed_blocks=parsed_blocks,
            parent=thread.end,
            timestamp=request.time,
        )
        if request.compacted_at is not None:
            self.recording.also(entry.id, request.compacted_at)
        self.entries.setdefault(thread.number, []).append(entry.id)
        thread.end = entry.id

    def _add(
        self, thread: Thread, message: ChatMessage, request: WholeRequest, *, reply: bool = False
    ) -> str:
        role = message.role
        more: Json = {"timestamp": request.time} if reply else take_entry_fields(message)
        extra = message.extra | (request.extra if reply else {})
        if role == "assistant":
            more |= {"model": request.model, "provider": request.provider} if reply else {}
        elif role in INSTRUCTIONS:
            role, more = "user", {**more, "meta": True}
        elif role == "compaction":
            role = "assistant"
        if role == "tool" and not all(isinstance(block, ToolOutput) for block, _ in message.parsed_blocks):
            role = "user"
            more["meta"] = True
        name = f"m{len(self.recording.entries) + 1}"
        message_blocks = list(message.parsed_blocks)
        if role == "tool":
            message_blocks = [thread.open.answer(pair) for pair in message_blocks]
        elif any(isinstance(block, ToolCall) for block, _ in message_blocks):
            thread.open = OpenCalls()  # results follow their calls at once
            thread.open.name_calls(message_blocks, name)
            thread.open.add_all(block for block, _ in message_blocks)
        entry = self.recording.add(name, role, message_blocks, extra, parent=thread.end, **more)
        thread.end = entry.id
        thread.line.append((message.print, entry.id))
        self.entries.setdefault(thread.number, []).append(entry.id)
        return entry.id

    def set_apart(self, thread: Thread) -> None:
        """Move the entries of a conversation to a sidechain."""
        for name in self.entries.get(thread.number, ()):
            self.recording.change(name, sidechain=f"conversation-{thread.number + 1}")


def _find_recorded_fields(request: WholeRequest) -> Json:
    """Return what the log records about the compaction before a request."""
    return {key: value for key, value in (request.compaction or {}).items() if value is not None}


def _count_summary_messages(thread: Thread, prints: Sequence[str], summary: str) -> int:
    """Return how many messages at the end of a conversation requested and gave a summary; 0 for none.

    The last request belongs to the compaction if its reply is in the summary, and neither the reply nor the
    message that requested it is sent again.
    """
    last = thread.last
    if last is None or not thread.words or len(last.reply) != 1 or len(thread.line) < 3:
        return 0
    asking = last.messages[-1] if last.messages else None
    if asking is None or asking.role != "user" or asking.print in prints or last.reply[0].print in prints:
        return 0
    # Some prompts request reasoning first, and use only the summary in the reply.
    inner_summary = thread.words.partition("<summary>")[2].rpartition("</summary>")[0].strip()
    words = inner_summary or thread.words
    return 2 if len(words) >= TELLING and words in summary else 0


def _find_cleared(
    recording: Reading, line: Sequence[tuple[str, str]], messages: Sequence[ChatMessage]
) -> list[str] | None:
    """Return the calls whose outputs became shorter, if nothing else changed; else None."""
    if len(messages) < len(line):
        return None
    cleared: list[str] = []
    instead: set[str] = set()  # texts that replaced longer outputs
    longer: set[str] = set()
    for (print_, name), message in zip(line, messages, strict=False):
        if message.print == print_:
            continue
        before = recording[name].blocks
        after = [block for block, _ in message.parsed_blocks]
        if len(before) != len(after):
            return None
        for old, new in zip(before, after, strict=True):
            if isinstance(old, ToolOutput) and isinstance(new, ToolOutput) and not new.call_id:
                new = new.model_copy(update={"call_id": old.call_id, "name": old.name})
            if old == new:
                continue
            if not (
                isinstance(old, ToolOutput) and isinstance(new, ToolOutput) and old.call_id == new.call_id
            ):
                return None
            (instead if len(new.text) < len(old.text) else longer).add(new.text)
            cleared.append(old.call_id)
    return cleared if cleared and longer <= instead else None
