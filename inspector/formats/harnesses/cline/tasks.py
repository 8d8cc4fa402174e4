"""Cline's and Roo Code's tasks as their editors' extensions keep them: `api_conversation_history.json`.

In goes the list of messages, out comes a `Session`. Source: FORMATS §6, and tasks of 2025 and 2026. Messages
are Anthropic's, with a time, and since 2026 with the model and the figures of each reply; what the cache gave
is among what was sent. Before that the figures stand on the task's screen (`screen`). Results of tools
stand as text in the user's messages in older tasks, and the harness writes its details into every one of
them, so a message is a person's where something in it is: a task, an answer to a finished one, a message in
plan mode, or words that nothing tells from a person's.

Roo Code condenses into a message that `isSummary`; those it stands for name it as `condenseParent`, and what
follows it was kept or came later. A message that `isTruncationMarker` hides those that name it. What Cline
leaves out of its requests is told by its screen alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from ....session.blocks import Reasoning, ToolOutput
from ....session.entries import Entry, Source, Usage
from ....session.session import Session
from ....text import plural
from ...json_document import Fields, Found, find_blocks, iso_time, place
from ...recording import Json, Recording, make_cost, read_inclusive
from ...requests.anthropic_blocks import Names, read_with_rest
from ...requests.chat_messages import read_part
from .screen import Condensed, place_requests, read_ranges, read_requests, read_screen_usage

NAME = "cline"
ROO = frozenset({"isSummary", "condenseId", "condenseParent", "isTruncationMarker", "truncationParent"})
PARENTS = ("condenseParent", "truncationParent")
"""What names the summary or the marker that a message is hidden by."""
MARKS = ROO | {"modelInfo", "metrics", "apiProtocol", "isProtected", "conversationHistoryIndex"}
ANSWERED = ("attempt_completion", "plan_mode_respond")
"""Tools that end a turn: what is answered to them is the next prompt."""
_SAID = re.compile(r"<(task|feedback|user_message)>\s*\S")
"""Tags that both put around what a person typed."""
_CWD = re.compile(r"# Current (?:Working|Workspace) Directory \(([^\n]{1,400}?)\) Files")
_ASKED = re.compile(r"\s*New (?:instructions|message) ")
_MODEL = re.compile(r"<slug>[^<\n]{0,80}</slug>\s*<name>[^<\n]{0,80}</name>\s*<model>([^<\s]{1,100})</model>")
"""Where Roo Code tells in its details which model is asked."""
_RESULT = re.compile(r"\s*\[([a-z_]+)(?: (?:for|in|to) .{0,2000}?)?\] Result:", re.DOTALL)
_HARNESS = re.compile(
    r"\s*(?:<(?:environment_details|explicit_instructions|file_content|system-reminder)\b|\[ERROR\]"
    r"|\[TASK RESUMPTION\]|# task_progress|# TODO LIST|Files attached by the user:|<answer>"
    r"|The user denied this operation|\(This is an automated message|New (?:instructions|message) )"
)


def is_task(value: Any) -> bool:
    """Whether a list of messages is a task's: they have times and marks, or hold what only these harnesses
    write."""
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
    said = [text for message in first for text in _find_texts(message.get("content"))]
    details = any(text.lstrip().startswith("<environment_details>") for text in said)
    tasks = any(text.lstrip().startswith(("<task>", "<user_message>")) for text in said[:2])
    return (details or timed) and (tasks or details)


def is_wrapped(value: Json) -> bool:
    """Whether an object holds a task as Roo Code keeps it since 2026, in messages of the AI SDK's form."""
    return value.get("version") == 2 and is_task(value.get("messages"))


def _is_thought(message: Json) -> bool:
    """Whether it is a sealed thought that stands beside the messages; it is of the reply that follows."""
    return message.get("type") == "reasoning" and not message.get("content")


def _is_time(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 1e11


def _find_texts(content: Any) -> list[str]:
    parts = [content] if isinstance(content, str) else content if isinstance(content, list) else []
    texts = (part if isinstance(part, str) else Fields(part).text("text") for part in parts)
    return [text for text in texts if text is not None]


def is_typed(texts: Sequence[str]) -> bool:
    """Whether a person says something in the texts of a user's message.

    >>> is_typed(["<task>\\nCount a.py\\n</task>", "<environment_details>\\n</environment_details>"])
    True
    >>> is_typed(["[read_file for 'a.py'] Result:", "12 lines"])
    False
    """
    waiting: str | None = None  # the tool whose result the next text is
    for text in texts:
        if found := _RESULT.match(text):
            answer = text[found.end() :]
            if found[1] in ANSWERED and _SAID.search(answer):
                return True
            waiting = None if answer.strip() else found[1]
        elif waiting is not None:
            if waiting in ANSWERED and _SAID.search(text):
                return True
            waiting = None
        elif _HARNESS.match(text):
            if _ASKED.match(text) and _SAID.search(text):
                return True
        elif text.strip():
            return True
    return False


def read_task(messages: list[Any], screen: Any = None) -> Session:
    """Read a whole task with the rows of its `screen`. Raises `EmptySession` if nobody says anything."""
    task = _TaskReading(screen)
    for line, raw in enumerate(messages, 1):
        task.take(line, raw)
    return task.make_session()


class _TaskReading:
    """The state of a task while its messages are read."""

    def __init__(self, screen: Any) -> None:
        self.recording = Recording(NAME)
        self.screen = screen
        self.condensed, self.cuts = Condensed(screen), read_ranges(screen)
        self.names: Names = {}
        self.cwd: str | None = None
        self.is_roo = False
        self.asked_model: str | None = None
        self.models: dict[str, str | None] = {}  # the requested model, by the id of its reply
        self.thoughts: list[tuple[Source, Found]] = []  # reasoning of the next reply
        self.hidden: dict[str, list[str]] = {}  # entries by what replaces them: a summary or a marker
        self.context: list[str] = []  # ids of entries

    def take(self, line: int, raw: Any) -> None:
        """Read one message."""
        source, fields = place(line), Fields(raw)
        if isinstance(raw, dict) and _is_thought(raw):
            self.thoughts.append((source, self._read_block(raw)))
            return
        role = fields.text("role")
        if role is None:
            self.recording.spoil(source, "a message without a role")
            return
        time = fields.number("ts")
        stamp = None if time is None else iso_time(time)
        blocks = find_blocks(fields.any("content"), self._read_block)
        self.is_roo = self.is_roo or bool(ROO & set(fields.rest))
        if raw.get("isSummary") is True:
            entry = self._condense(source, fields, role, blocks, stamp)
        elif raw.get("isTruncationMarker") is True:
            entry = self._truncate(source, fields, blocks, stamp)
        else:
            entry = self._add_message(source, fields, role, blocks, stamp)
            if (cut := self.cuts.get(line - 1)) is not None:
                self._cut(line, *cut)
        for key in PARENTS:
            if isinstance(parent := raw.get(key), str):
                self.hidden.setdefault(parent, []).append(entry.id)

    def _read_block(self, raw: Any) -> Found:
        return _read_block(raw, self.names)

    def _condense(
        self, source: Source, fields: Fields, role: str, blocks: list[Found], stamp: str | None
    ) -> Entry:
        """Add a summary. If no message names it, it replaces everything but the task itself."""
        number = fields.rest.get("condenseId")
        rest = self.context[1:] if role == "assistant" else self.context
        kept = self._without(self.hidden.get(str(number), rest))
        words = "\n".join(block.text for block, _ in blocks if block.kind == "text")
        more: Json = {"timestamp": stamp}
        boundary: Json = {"summary": words, "kept": tuple(kept)}
        boundary |= self.condensed.find("condenseId", number, words, more)
        return self._compact(source, boundary, blocks, fields.rest, more)

    def _truncate(self, source: Source, fields: Fields, blocks: list[Found], stamp: str | None) -> Entry:
        """Add a marker of messages that were hidden."""
        number = fields.rest.get("truncationId")
        kept = self._without(self.hidden.get(str(number), []))
        more: Json = {"timestamp": stamp}
        boundary: Json = {"trigger": "truncation", "kept": tuple(kept)}
        boundary |= self.condensed.find("truncationId", number, None, more)
        # A summary that is kept is part of the context after the truncation.
        before = [self.recording.entries[self.recording.where[name]] for name in kept]
        summaries: list[Found] = [(b, {}) for each in before if each.boundary for b in each.blocks]
        return self._compact(source, boundary, summaries + blocks, fields.rest, more)

    def _cut(self, line: int, first: int, last: int) -> None:
        """Add the range of messages that Cline left out of its requests, according to the screen."""
        removed = {f"m{number + 1}" for number in range(first, last + 1)}
        kept = [name for name in self._without(removed) if not name.startswith("cut")]
        boundary: Json = {"trigger": "truncation", "kept": tuple(kept)}
        self.context = [self.recording.compact(f"cut{line}", None, None, boundary).id, *kept]

    def _without(self, names: Iterable[str]) -> list[str]:
        removed = set(names)
        return [name for name in self.context if name not in removed]

    def _compact(self, source: Source, boundary: Json, blocks: list[Found], extra: Json, more: Json) -> Entry:
        name = f"m{source.line}"
        entry = self.recording.compact(name, None, source, boundary, found=blocks, extra=extra, **more)
        self.context = [entry.id, *boundary["kept"]]
        return entry

    def _add_message(
        self, source: Source, fields: Fields, role: str, blocks: list[Found], stamp: str | None
    ) -> Entry:
        more: Json = {"timestamp": stamp}
        if role == "assistant":
            blocks = [*(thought for _, thought in self.thoughts), *blocks]
            about = Fields(fields.rest.get("modelInfo"))
            model = about.text("modelId") or about.text("id")
            more |= {"model": model, "provider": about.text("providerId")}
            more["usage"] = _read_metrics(fields.rest.get("metrics"))
        elif role != "tool":
            more["meta"] = self._is_meta(blocks)
        entry = self.recording.add(f"m{source.line}", role, blocks, source, fields.rest, **more)
        self.context.append(entry.id)
        if role == "assistant":
            self.models[entry.id] = self.asked_model
            for thought_source, _ in self.thoughts:
                self.recording.also(entry.id, thought_source)
            self.thoughts = []
        return entry

    def _is_meta(self, blocks: list[Found]) -> bool:
        """Whether a user's message has no text of a person; set model and folder from the details."""
        texts = [block.text for block, _ in blocks if block.kind == "text"]
        models = (match[1] for text in texts if (match := _MODEL.search(text)))
        self.asked_model = next(models, self.asked_model)
        self.cwd = self.cwd or next((match[1] for text in texts if (match := _CWD.search(text))), None)
        answers = [b for b, _ in blocks if isinstance(b, ToolOutput)]
        texts += [f"[{b.name or 'tool'}] Result:\n{b.text}" for b in answers]
        other = any(block.kind in ("image", "document") for block, _ in blocks)
        return not is_typed(texts) and not (other and not texts)

    def make_session(self) -> Session:
        """Build the session. Raises `EmptySession` if nobody says anything."""
        recording = self.recording
        for thought_source, _ in self.thoughts:
            recording.note("reasoning", thought_source)
        _add_figures(recording, self.screen)
        for name, model in self.models.items():
            if model is not None and recording.entries[recording.where[name]].model is None:
                recording.change(name, model=model)
        recording.times = [entry.timestamp for entry in recording.entries if entry.timestamp]
        return recording.make_session(cwd=self.cwd, extra={"harness": "Roo Code"} if self.is_roo else {})


def _add_figures(made: Recording, screen: Any) -> None:
    """What each reply took, where the task's screen tells it and the reply itself does not."""
    requests = read_requests(screen)
    if not requests:
        return
    places = {int(entry.id[1:]) - 1: entry for entry in made.entries if entry.kind == "message"}
    replies = [at for at, entry in places.items() if entry.role == "assistant"]
    placed = place_requests(requests, replies, [places[at].timestamp for at in replies])
    used = dict(zip(map(id, requests), read_screen_usage(requests), strict=True))
    for at, request in placed.items():
        entry = places[at]
        more = {"usage": used[id(request)], "model": request.model, "provider": request.provider}
        more = {key: value for key, value in more.items() if getattr(entry, key) is None}
        made.change(entry.id, **more, timestamp=entry.timestamp or request.time)
    if rest := len(requests) - len(placed):
        told = plural(rest, "request", "requests")
        made.warnings.append(f"the figures of {told} on the task's screen belong to no reply: not counted")


def _read_block(raw: Any, names: Names) -> Found:
    """A block of Anthropic's, a part of the AI SDK's, or a thought as Roo Code keeps it."""
    if not isinstance(raw, dict):
        return read_with_rest(raw, names)
    kind = raw.get("type")
    if kind == "reasoning":
        fields = Fields(raw, "type")
        parts = [Fields(part).text("text") or "" for part in fields.items("summary") or ()]
        said, sealed = fields.text("text") or "\n".join(parts), fields.text("encrypted_content")
        about = Fields(Fields(fields.rest.get("providerOptions")).rest.get("anthropic"))
        sealed = sealed or about.text("redactedData")
        return Reasoning(text=said, encrypted=sealed, signature=about.text("signature")), fields.rest
    if kind == "image" and isinstance(image := raw.get("image"), str):
        return read_part({"type": "image_url", "image_url": image}, names)
    return read_part(raw, names) if kind in ("tool-call", "tool-result") else read_with_rest(raw, names)


def _read_metrics(raw: Any) -> Usage | None:
    """What stands beside a reply since 2026: tokens, those of the cache among what was sent, and the cost."""
    usage = read_inclusive(Fields(raw).rest.get("tokens"), "prompt", "completion", "cached")
    return (
        None if usage is None else usage.model_copy(update={"cost": make_cost(Fields(raw).rest.get("cost"))})
    )
