"""Rebuild the requests that newer versions of Claude Code record with the conversation.

`api-request-shape` holds system prompt and tools, `api-request-blob` a message under its hash, `api-request`
the messages of a request: the first `keep` of those of `base`, then `tail`, by their hashes. A hash is
SHA-256 of the message as JSON with sorted keys, without spaces and without `cache_control`. A reply has no
blob: it is the rows of its message id joined; a plain prompt may have none either. A request is the exact
context that the model saw; that for a summary is not recorded. Source: files of 2.1.332, compared with the
wire.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from ....session.blocks import build
from ....session.entries import Entry, Provided
from ...json_lines import Data, iter_line_values
from .attached import MAIN, WAY
from .rows import Row

Json = dict[str, Any]
_REMINDER = "<system-reminder>"
RECORDED = "recorded request"
"""The origin of a text that only a recorded request holds."""


class RecordedRequest(NamedTuple):
    """One request: its messages in order, None for a message whose hash is not in the file.

    `shape` holds `system` and `tools`, `params` the other fields of the request; `source` says who asked.
    """

    id: str
    base: str | None
    keep: int
    messages: tuple[Json | None, ...]
    shape: Json
    params: Json
    source: str
    line: int

    @property
    def is_whole(self) -> bool:
        """Whether every message is known."""
        return None not in self.messages


def read_requests(data: Data) -> tuple[RecordedRequest, ...]:
    """Return the requests that a Claude Code file records, in order, with the exact messages sent.

    Versions from about 2.1.300 on record them; () for other files.

    >>> read_requests(b'{"type": "user", "uuid": "u1", "message": {"role": "user", "content": "Hello"}}')
    ()
    """
    rows = [(source.line, row) for values in iter_line_values(data, []) for source, row in values]
    messages_by_hash = dict(_list_messages(row for _, row in rows))
    shapes: dict[str, Json] = {}
    requests: dict[str, RecordedRequest] = {}
    for line, row in rows:
        if not isinstance(row, dict):
            continue
        if row.get("type") == "api-request-shape" and isinstance(row.get("shape"), dict):
            shapes[str(row.get("shapeHash"))] = row["shape"]
        if row.get("type") != "api-request":
            continue
        base, keep, tail = row.get("base"), row.get("keep"), row.get("tail")
        before = requests[base].messages if base in requests else ()
        repeated = before[: keep if isinstance(keep, int) and keep > 0 else 0]
        # The messages of a missing base are unknown.
        lost = (None,) * max((keep if isinstance(keep, int) else 0) - len(repeated), 0)
        names = tail if isinstance(tail, list) else []
        request = RecordedRequest(
            str(row.get("id")),
            base if isinstance(base, str) else None,
            len(repeated),
            (*repeated, *lost, *(messages_by_hash.get(str(name)) for name in names)),
            shapes.get(str(row.get("shapeHash")), {}),
            row["params"] if isinstance(row.get("params"), dict) else {},
            str(row.get("querySource") or ""),
            line,
        )
        requests[request.id] = request
    return tuple(requests.values())


class Reminders:
    """Texts that the program adds to the first request of a context, such as the rules of CLAUDE.md.

    The rows of the conversation do not hold these texts; the recorded requests do.
    """

    def __init__(self) -> None:
        self._texts: dict[str, list[str]] = {}
        self._requests: dict[str, tuple[str | None, list[str]]] = {}
        self._last: str | None = None

    def take(self, row: Row) -> None:
        """Take a row of a recorded request."""
        content = row.message.content if row.type == "api-request-blob" and row.message else None
        if isinstance(row.hash, str) and isinstance(content, list):
            texts = [part.get("text") for part in content if isinstance(part, dict)]
            reminders = [text for text in texts if isinstance(text, str) and text.startswith(_REMINDER)]
            if reminders:
                self._texts[row.hash] = reminders
        if row.type == "api-request" and isinstance(row.id, str) and row.query_source in MAIN:
            base = row.base if isinstance(row.base, str) and row.keep else None
            self._requests[row.id] = base, row.tail if isinstance(row.tail, list) else []
            self._last = row.id

    def make(self, entries: Iterable[Entry], announced: Iterable[Provided]) -> tuple[Provided, ...]:
        """Return the texts that are in the current context's first request and nowhere else in the file.

        A text is elsewhere if it contains an attachment, if half of its lines are in `announced`, or if it is
        a part of a message of `entries`.
        """
        first, visited = self._last, set[str]()
        while first in self._requests and (base := self._requests[first][0]) and first not in visited:
            visited.add(first)
            first = base
        names = self._requests[first][1] if first in self._requests else []
        texts = [text for name in names for text in self._texts.get(str(name), ())]
        if not texts:
            return ()
        parts = [(entry.extra.get("way") == WAY, block.text) for entry in entries for block in entry.blocks]
        lines = {line for provided in announced for line in provided.text.splitlines() if line.strip()}
        return tuple(
            build(Provided, name="reminder", text=text, origin=RECORDED)
            for text in dict.fromkeys(texts)
            if not any(
                text in part or (attached and part.strip() and part in text) for attached, part in parts
            )
            and sum(line in lines for line in text.splitlines()) * 2 <= text.count("\n")
        )


def _list_messages(rows: Iterable[Any]) -> Iterator[tuple[str, Json]]:
    """Messages with their hashes: blobs, prompts in both forms, and replies of which each row adds a part."""
    replies: dict[str, list[Any]] = {}
    for row in rows:
        message = row.get("message") if isinstance(row, dict) else None
        if not isinstance(message, dict):
            continue
        role, content = message.get("role"), message.get("content")
        if row.get("type") == "api-request-blob":
            yield str(row.get("hash")), message
        elif row.get("type") == "assistant":
            parts = replies.setdefault(str(message.get("id")), [])
            parts += content if isinstance(content, list) else []
            reply = {"role": role, "content": list(parts)}
            yield hash_message(reply), reply
        elif row.get("type") == "user":
            yield hash_message({"role": role, "content": content}), {"role": role, "content": content}
            if isinstance(content, str):
                plain = {"role": role, "content": [{"type": "text", "text": content}]}
                yield hash_message(plain), plain


def hash_message(message: Mapping[str, Any]) -> str:
    """The hash of a message, as the rows have it.

    >>> hash_message({"role": "user", "content": "SUMMARY 1: one reader was found."})[:8]
    '5752a053'
    """
    plain = _without_marks(dict(message))
    written = json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return sha256(written.encode("utf-8", "surrogatepass")).hexdigest()


def _without_marks(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_marks(part) for key, part in value.items() if key != "cache_control"}
    return [_without_marks(part) for part in value] if isinstance(value, list) else value
