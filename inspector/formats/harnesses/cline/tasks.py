"""Read tasks of the extensions Cline and Roo Code: `api_conversation_history.json`.

Source: FORMATS §6, and tasks of 2025 and 2026. Messages have Anthropic's form and a time, and since 2026 the
model and the usage of each reply; the input includes cached tokens. Earlier, the usage is on the task's
screen. In older tasks, results of tools are text in user messages, and the harness writes its
details into all of them. A message is therefore the user's only if a part of it is: a task, an answer to a
finished one, a message in plan mode, or text without marks of the harness.

Roo Code compacts into a message with `isSummary`. Replaced messages name it as `condenseParent`; the messages
after it were kept or came later. A message with `isTruncationMarker` hides those that name it. Truncations by
Cline are recorded only on its screen.

Until 2026 only the screen has the usage of a request: in a row `api_req_started` whose text is JSON. A row
with the index of its messages (`conversationHistoryIndex`) belongs to the next reply. If rows have no index
and there are as many requests as replies, they are paired in order. Otherwise a reply gets the last request
before it, by time, if no other reply came between. Whether `tokensIn` includes cached tokens depends on the
provider: if it is smaller than the cached tokens in one request of the task, it does not. Interrupted rows
and requests without a reply have no figures and are not counted.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ....session.blocks import Reasoning, ToolOutput
from ....session.entries import Entry, Source, Usage
from ....session.session import Session
from ...json_document import Fields, ParsedBlock, find_blocks, iso_time, join_texts, placed
from ...json_lines import decode
from ...recording import Json, Reading, make_cost, read_inclusive
from ...requests.anthropic_blocks import Names, read_with_rest
from ...requests.chat_messages import read_part

STARTED = "api_req_started"
_USED = ("tokensIn", "tokensOut", "cacheReads", "cacheWrites")
NAME = "cline"
ROO = frozenset({"isSummary", "condenseId", "condenseParent", "isTruncationMarker", "truncationParent"})
PARENTS = ("condenseParent", "truncationParent")
"""Fields that name the summary or the marker by which a message is hidden."""
MARKS = ROO | {"modelInfo", "metrics", "apiProtocol", "isProtected", "conversationHistoryIndex"}
ANSWERED = ("attempt_completion", "plan_mode_respond")
"""Tools that end a turn: the answer to them is the next prompt."""
_TYPED = re.compile(r"<(task|feedback|user_message)>\s*\S")
"""Tags that both harnesses put around text that the user typed."""
_CWD = re.compile(r"# Current (?:Working|Workspace) Directory \(([^\n]{1,400}?)\) Files")
_REQUEST = re.compile(r"\s*New (?:instructions|message) ")
_MODEL = re.compile(r"<slug>[^<\n]{0,80}</slug>\s*<name>[^<\n]{0,80}</name>\s*<model>([^<\s]{1,100})</model>")
"""The requested model in the details of Roo Code."""
_RESULT = re.compile(r"\s*\[([a-z_]+)(?: (?:for|in|to) .{0,2000}?)?\] Result:", re.DOTALL)
_HARNESS = re.compile(
    r"\s*(?:<(?:environment_details|explicit_instructions|file_content|system-reminder)\b|\[ERROR\]"
    r"|\[TASK RESUMPTION\]|# task_progress|# TODO LIST|Files attached by the user:|<answer>"
    r"|The user denied this operation|\(This is an automated message|New (?:instructions|message) )"
)


class ScreenRequest(NamedTuple):
    """A request on the screen, and the number of messages before it; -1 if unknown."""

    before: int
    counts: Json
    model: str | None
    provider: str | None
    time: str | None


def read_requests(rows: Any) -> list[ScreenRequest]:
    """Return the requests on a screen that have figures."""
    return list(_find_requests(rows)) if isinstance(rows, list) else []


def _find_requests(rows: list[Any]) -> Iterator[ScreenRequest]:
    for row in rows:
        fields = Fields(row)
        if fields.rest.get("say") != STARTED:
            continue
        try:
            figures = Fields(decode((fields.text("text") or "").encode("utf-8", "surrogatepass")))
        except ValueError:
            continue
        if not any(figures.rest.get(name) for name in _USED[:2]):
            continue
        about, index = Fields(fields.rest.get("modelInfo")), fields.number("conversationHistoryIndex")
        yield ScreenRequest(
            -1 if index is None else int(index) + 1,
            figures.rest,
            about.text("modelId"),
            about.text("providerId"),
            iso_time(fields.number("ts")),
        )


def place_requests(
    requests: Sequence[ScreenRequest], replies: Sequence[int], times: Sequence[str | None]
) -> dict[int, ScreenRequest]:
    """Assign requests, in the order of the screen, to replies, whose indices ascend.

    Returns them by the reply's index; {} if that is not possible.
    """
    if requests and all(request.before >= 0 for request in requests):
        placed: dict[int, ScreenRequest] = {}
        for request in requests:
            index = bisect_left(replies, request.before)
            if index < len(replies):
                placed[replies[index]] = request
        return placed
    if len(requests) == len(replies):
        return dict(zip(replies, requests, strict=True))
    request_times = [request.time for request in requests]
    if None in request_times or None in times or request_times != sorted(filter(None, request_times)):
        return {}
    placed = {}
    used_requests: set[int] = set()
    for index, time in zip(replies, times, strict=True):
        last = bisect_right(request_times, time) - 1  # type: ignore[type-var]
        if last >= 0 and last not in used_requests:
            placed[index] = requests[last]
            used_requests.add(last)
    return placed


def read_screen_usage(requests: Sequence[ScreenRequest]) -> list[Usage]:
    """Return the usage of each request."""
    figures = [[_count(request.counts, name) for name in _USED] for request in requests]
    inclusive = all(sent >= read + written for sent, _, read, written in figures)
    return [
        Usage(
            input=sent - read - written if inclusive else sent,
            output=replied,
            cache_read=read,
            cache_write=written,
            cost=make_cost(request.counts.get("cost")),
        )
        for request, (sent, replied, read, written) in zip(requests, figures, strict=True)
    ]


def _count(figures: Json, name: str) -> float:
    value = Fields(figures).number(name)
    return value if value is not None and value >= 0 else 0


class Condensed:
    """The compactions on the screen of a Roo Code task: sizes before and after, and the cost."""

    def __init__(self, rows: Any) -> None:
        self._compactions: list[Json] = []
        for row in rows if isinstance(rows, list) else ():
            fields = Fields(row)
            self._compactions += [
                sizes.rest
                for name in ("contextCondense", "contextTruncation")
                if (sizes := Fields(fields.rest.get(name))).rest
            ]

    def find(self, key: str, name: Any, summary: str | None, entry: Json) -> Json:
        """Find a compaction by its id or summary. Returns sizes for a boundary; adds the cost to `entry`."""
        for index, record in enumerate(self._compactions):
            if (name is None or record.get(key) != name) and (
                not summary or record.get("summary") != summary
            ):
                continue
            del self._compactions[index]  # count a compaction only once, even if its summary is repeated
            fields = Fields(record)
            cost = make_cost(fields.number("cost"))
            if cost is not None:
                entry["usage"] = Usage(cost=cost)
            return {
                "tokens_before": fields.number("prevContextTokens"),
                "tokens_after": fields.number("newContextTokens"),
            }
        return {}


def read_ranges(rows: Any) -> dict[int, tuple[int, int]]:
    """Return the ranges of messages that Cline removed, by the index of the message after which it did so.

    Each row contains the range that is valid from then on. A larger range is a truncation; a smaller one
    restores messages.

    >>> row = {"conversationHistoryIndex": 6, "conversationHistoryDeletedRange": [2, 3]}
    >>> read_ranges([row, row, {**row, "conversationHistoryIndex": 9}])
    {6: (2, 3)}
    """
    ranges: dict[int, tuple[int, int]] = {}
    end = -1
    for row in rows if isinstance(rows, list) else ():
        fields = Fields(row)
        pair, index = (
            fields.rest.get("conversationHistoryDeletedRange"),
            fields.number("conversationHistoryIndex"),
        )
        if not (isinstance(pair, list) and len(pair) == 2 and all(type(number) is int for number in pair)):
            continue
        if pair[1] > end and index is not None and 0 <= pair[0] <= pair[1] <= index:
            ranges[int(index)] = pair[0], pair[1]
            end = pair[1]
    return ranges


def is_task(value: Any) -> bool:
    """Return whether a list of messages is a task: times and marks, or text that only the harnesses write."""
    if not isinstance(value, list) or not value:
        return False
    first = value[:4]
    for message in first:
        if not isinstance(message, dict) or "sessionId" in message:
            return False
        if _is_thought(message):
            continue
        if message.get("role") not in ("user", "assistant", "tool"):
            return False
        if not isinstance(message.get("content"), str | list):
            return False
    timed = any(_is_time(message.get("ts")) for message in first)
    if timed and any(MARKS & set(message) for message in first):
        return True
    texts = [text for message in first for text in _find_texts(message.get("content"))]
    details = any(text.lstrip().startswith("<environment_details>") for text in texts)
    tasks = any(text.lstrip().startswith(("<task>", "<user_message>")) for text in texts[:2])
    return (details or timed) and (tasks or details)


def is_wrapped(value: Json) -> bool:
    """Return whether an object is a task of Roo Code since 2026, with messages in the AI SDK's form."""
    return value.get("version") == 2 and is_task(value.get("messages"))


def _is_thought(message: Json) -> bool:
    """Return whether a message is encrypted reasoning, which belongs to the next reply."""
    return message.get("type") == "reasoning" and not message.get("content")


def _is_time(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 1e11


def _find_texts(content: Any) -> list[str]:
    parts = [content] if isinstance(content, str) else content if isinstance(content, list) else []
    texts = (part if isinstance(part, str) else Fields(part).text("text") for part in parts)
    return [text for text in texts if text is not None]


def is_typed(texts: Sequence[str]) -> bool:
    """Return whether the texts of a user message contain text that the user typed.

    >>> is_typed(["<task>\\nCount a.py\\n</task>", "<environment_details>\\n</environment_details>"])
    True
    >>> is_typed(["[read_file for 'a.py'] Result:", "12 lines"])
    False
    """
    waiting: str | None = None  # the tool whose result is the next text
    for text in texts:
        if match := _RESULT.match(text):
            answer = text[match.end() :]
            if match[1] in ANSWERED and _TYPED.search(answer):
                return True
            waiting = None if answer.strip() else match[1]
        elif waiting is not None:
            if waiting in ANSWERED and _TYPED.search(text):
                return True
            waiting = None
        elif _HARNESS.match(text):
            if _REQUEST.match(text) and _TYPED.search(text):
                return True
        elif text.strip():
            return True
    return False


def read_task(messages: list[Any], screen: Any = None) -> Session:
    """Read a whole task with the rows of its `screen`. Raises `EmptySession` if there are no messages."""
    return _TaskReading(screen).read(placed(messages))


class _TaskReading(Reading):
    """The state of a task while its messages are read. `line` is the current context."""

    format = NAME

    def __init__(self, screen: Any) -> None:
        super().__init__()
        self.screen = screen
        self.condensed, self.cuts = Condensed(screen), read_ranges(screen)
        self.cwd: str | None = None
        self.is_roo = False
        self.asked_model: str | None = None
        self.models: dict[str, str | None] = {}  # the requested model, by the id of its reply
        self.thoughts: list[tuple[Source, ParsedBlock]] = []  # reasoning of the next reply
        self.hidden: dict[str, list[str]] = {}  # entries by what replaces them: a summary or a marker

    def take(self, source: Source, raw: Any) -> None:
        fields, line = Fields(raw), source.line
        if isinstance(raw, dict) and _is_thought(raw):
            self.thoughts.append((source, self._read_block(raw)))
            return
        role = fields.text("role")
        if role is None:
            self.spoil("a message without a role")
            return
        self.time = iso_time(fields.number("ts"))
        blocks = find_blocks(fields.any("content"), self._read_block)
        self.is_roo = self.is_roo or bool(ROO & set(fields.rest))
        if raw.get("isSummary") is True:
            entry = self._condense(source, fields, role, blocks)
        elif raw.get("isTruncationMarker") is True:
            entry = self._truncate(source, fields, blocks)
        else:
            entry = self._add_message(source, fields, role, blocks)
            if (cut := self.cuts.get(line - 1)) is not None:
                self._cut(line, *cut)
        for key in PARENTS:
            if isinstance(parent := raw.get(key), str):
                self.hidden.setdefault(parent, []).append(entry.id)

    def _read_block(self, raw: Any) -> ParsedBlock:
        return _read_block(raw, self.names)

    def _condense(self, source: Source, fields: Fields, role: str, blocks: list[ParsedBlock]) -> Entry:
        """Add a summary. If no message names it, it replaces everything but the task itself."""
        number = fields.rest.get("condenseId")
        rest = self.line[1:] if role == "assistant" else self.line
        kept_ids = self._without(self.hidden.get(str(number), rest))
        words = join_texts(blocks)
        more: Json = {}
        boundary: Json = {"summary": words, "kept": tuple(kept_ids)}
        boundary |= self.condensed.find("condenseId", number, words, more)
        return self._compact(source, boundary, blocks, fields.rest, more)

    def _truncate(self, source: Source, fields: Fields, blocks: list[ParsedBlock]) -> Entry:
        """Add a marker of messages that were hidden."""
        number = fields.rest.get("truncationId")
        kept_ids = self._without(self.hidden.get(str(number), []))
        more: Json = {}
        boundary: Json = {"trigger": "truncation", "kept": tuple(kept_ids)}
        boundary |= self.condensed.find("truncationId", number, None, more)
        # A summary that is kept is part of the context after the truncation.
        before = [self[name] for name in kept_ids]
        summaries: list[ParsedBlock] = [
            (b, {}) for kept_entry in before if kept_entry.boundary for b in kept_entry.blocks
        ]
        return self._compact(source, boundary, summaries + blocks, fields.rest, more)

    def _cut(self, line: int, first: int, last: int) -> None:
        """Add the range of messages that Cline left out of its requests, according to the screen."""
        removed = {f"m{number + 1}" for number in range(first, last + 1)}
        kept_ids = [name for name in self._without(removed) if not name.startswith("cut")]
        boundary: Json = {"trigger": "truncation", "kept": tuple(kept_ids)}
        self.line = [self.compact(f"cut{line}", None, boundary, timestamp=None).id, *kept_ids]

    def _without(self, names: Iterable[str]) -> list[str]:
        removed = set(names)
        return [name for name in self.line if name not in removed]

    def _compact(
        self, source: Source, boundary: Json, blocks: list[ParsedBlock], extra: Json, more: Json
    ) -> Entry:
        name = f"m{source.line}"
        entry = self.compact(name, None, boundary, parsed_blocks=blocks, extra=extra, **more)
        self.line = [entry.id, *boundary["kept"]]
        return entry

    def _add_message(self, source: Source, fields: Fields, role: str, blocks: list[ParsedBlock]) -> Entry:
        more: Json = {}
        if role == "assistant":
            blocks = [*(thought for _, thought in self.thoughts), *blocks]
            about = Fields(fields.rest.get("modelInfo"))
            model = about.text("modelId") or about.text("id")
            more |= {"model": model, "provider": about.text("providerId")}
            more["usage"] = _read_metrics(fields.rest.get("metrics"))
        elif role != "tool":
            more["meta"] = self._is_meta(blocks)
        entry = self.add(f"m{source.line}", role, blocks, fields.rest, **more)
        if role == "assistant":
            self.models[entry.id] = self.asked_model
            for thought_source, _ in self.thoughts:
                self.also(entry.id, thought_source)
            self.thoughts = []
        return entry

    def _is_meta(self, blocks: list[ParsedBlock]) -> bool:
        """Return whether a user message has no typed text. Sets model and folder from the details."""
        texts = [block.text for block, _ in blocks if block.kind == "text"]
        models = (match[1] for text in texts if (match := _MODEL.search(text)))
        self.asked_model = next(models, self.asked_model)
        self.cwd = self.cwd or next((match[1] for text in texts if (match := _CWD.search(text))), None)
        answers = [b for b, _ in blocks if isinstance(b, ToolOutput)]
        texts += [f"[{b.name or 'tool'}] Result:\n{b.text}" for b in answers]
        other = any(block.kind in ("image", "document") for block, _ in blocks)
        return not is_typed(texts) and not (other and not texts)

    def finish(self) -> Session:
        for thought_source, _ in self.thoughts:
            self.note("reasoning", thought_source)
        _add_figures(self, self.screen)
        for name, model in self.models.items():
            if model is not None and self[name].model is None:
                self.change(name, model=model)
        self.times = [entry.timestamp for entry in self.entries if entry.timestamp]
        return self.make_session(cwd=self.cwd, extra={"harness": "Roo Code"} if self.is_roo else {})


def _add_figures(recording: Reading, screen: Any) -> None:
    """Add the usage on the task's screen to the replies that have none."""
    requests = read_requests(screen)
    if not requests:
        return
    places = {int(entry.id[1:]) - 1: entry for entry in recording.entries if entry.kind == "message"}
    replies = [index for index, entry in places.items() if entry.role == "assistant"]
    by_reply = place_requests(requests, replies, [places[index].timestamp for index in replies])
    used = dict(zip(map(id, requests), read_screen_usage(requests), strict=True))
    for index, request in by_reply.items():
        entry = places[index]
        more = {"usage": used[id(request)], "model": request.model, "provider": request.provider}
        more = {key: value for key, value in more.items() if getattr(entry, key) is None}
        recording.change(entry.id, **more, timestamp=entry.timestamp or request.time)
    lost = "the usage of {} on the task's screen fits no reply: not counted"
    recording.warn(len(requests) - len(by_reply), lost, "request")


def _read_block(raw: Any, names: Names) -> ParsedBlock:
    """Convert a block of Anthropic's API, a part of the AI SDK, or reasoning in Roo Code's form."""
    if not isinstance(raw, dict):
        return read_with_rest(raw, names)
    kind = raw.get("type")
    if kind == "reasoning":
        fields = Fields(raw, "type")
        parts = [Fields(part).text("text") or "" for part in fields.items("summary") or ()]
        text, sealed = fields.text("text") or "\n".join(parts), fields.text("encrypted_content")
        about = Fields(Fields(fields.rest.get("providerOptions")).rest.get("anthropic"))
        sealed = sealed or about.text("redactedData")
        return Reasoning(text=text, encrypted=sealed, signature=about.text("signature")), fields.rest
    if kind == "image" and isinstance(image := raw.get("image"), str):
        return read_part({"type": "image_url", "image_url": image}, names)
    return read_part(raw, names) if kind in ("tool-call", "tool-result") else read_with_rest(raw, names)


def _read_metrics(raw: Any) -> Usage | None:
    """Return the usage and cost of a reply (since 2026); the input includes cached tokens."""
    fields = Fields(raw).rest
    return read_inclusive(fields.get("tokens"), "prompt", "completion", "cached", cost=fields.get("cost"))
