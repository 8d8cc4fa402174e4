"""What the counts of all formats share: rows and documents of a file, and replies as they are met."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from .figures import Figures, Request, whole, write_bill

Row = dict[str, Any]
GZIP, ZSTD = b"\x1f\x8b", b"(\xb5/\xfd"
# What harnesses write in the user's name, up to its end tag if there is one (CLAUDE §3; FORMATS §1).
_HARNESS = re.compile(
    r"\s*(?:<(task-notification|local-command-(?:stdout|stderr|caveat)|bash-(?:input|stdout|stderr)"
    r"|command-(?:name|args|contents)|system[-_]reminder|user-prompt-submit-hook|session_context"
    r"|environment_(?:context|details)|user_instructions|turn_aborted|subagent_notification|teammate-message"
    r"|agent-message|session-start-hook|post-tool-use-hook)[\s>](?:.*?</\1>|.*)"
    r"|\[Request interrupted by user[^\]\n]{0,40}\]|Read the output file to retrieve the result: [^\n]*)",
    re.DOTALL,
)


class NotRecounted(Exception):
    """A file of a known format whose packing, or whose kind within the format, is not read here."""


def read_bytes(path: Path) -> bytes:
    """The content of a file, unpacked where gzip or zstd packed it."""
    data = path.read_bytes()
    if data.startswith(GZIP):
        return gzip.decompress(data)
    if data.startswith(ZSTD):
        return unpack_zstd(data)
    if data.startswith(b"PK\3\4"):
        raise NotRecounted("an archive: unpack it first")
    return data


def unpack_zstd(data: bytes) -> bytes:
    """The content of zstd frames. Raises `NotRecounted` where nothing here unpacks them."""
    with suppress(ImportError):
        return bytes(import_module("compression.zstd").decompress(data))
    with suppress(ImportError):
        file = import_module("zstandard").ZstdDecompressor().stream_reader(data, read_across_frames=True)
        return bytes(file.read())
    raise NotRecounted("nothing here unpacks zstd")


def load(data: bytes) -> Any:
    """One JSON value. Raises `ValueError`."""
    return json.loads(data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogatepass"), strict=False)


def read_rows(path: Path) -> Iterator[Row]:
    """The rows that are JSON objects, those of an array on one line among them."""
    for line in read_bytes(path).split(b"\n"):
        try:
            value = load(line)
        except ValueError:
            continue
        yield from (row for row in (value if isinstance(value, list) else [value]) if isinstance(row, dict))


def read_document(path: Path) -> Any:
    """The one JSON value that a file is. Raises `ValueError`."""
    return load(read_bytes(path))


def dig(value: Any, *names: str) -> Row:
    """The object that stands below these names; an empty one where none does."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def listed(value: Any) -> list[Any]:
    """A list as it is; an empty one for anything else."""
    return value if isinstance(value, list) else []


def say(content: Any) -> str:
    """The words of a message's content: a text, or the texts of its parts, one below the other."""
    if isinstance(content, str):
        return content
    return "\n".join(
        part if isinstance(part, str) else str(part.get("text") or "")
        for part in listed(content)
        if isinstance(part, str) or (isinstance(part, dict) and isinstance(part.get("text"), str))
    )


def is_typed(text: str) -> bool:
    """Whether a person may have typed a text: something is left behind what a harness began it with."""
    while found := _HARNESS.match(text):
        text = text[found.end() :]
    return bool(text.strip())


def split_inclusive(sent: Any, replied: Any, read: Any = 0, written: Any = 0) -> list[int]:
    """Tokens in the order of the bill, of figures whose input holds what the cache gave and took."""
    read, written = whole(read), whole(written)
    return [max(whole(sent) - read - written, 0), read, written, 0, whole(replied)]


class Tally:
    """Replies and compactions as they are met. A reply is on the way to the leaf unless it says otherwise."""

    def __init__(self) -> None:
        self.figures = Figures()
        self.replies: list[list[Request]] = []
        self.agents: list[Request] = []
        self.compactions: list[Request] = []
        self.silent = self.silent_agents = self.summed = 0
        self.sums: dict[str, tuple[int, Request]] = {}
        self.stated: float | None = None

    def reply(
        self,
        tokens: list[int] | None = None,
        model: Any = None,
        cost: Any = None,
        *,
        total: Any = None,
        on_way: bool = True,
    ) -> None:
        """A reply of the conversation, with what its request took where that is told."""
        self.figures.replies += 1
        self.charge(tokens, model, cost, total=total, on_way=on_way)

    def charge(
        self,
        tokens: list[int] | None,
        model: Any = None,
        cost: Any = None,
        *,
        total: Any = None,
        on_way: bool = True,
    ) -> None:
        """What a request of the conversation took. `total` is the context after it as the file adds it up."""
        request = _make(tokens, model, cost)
        if request is None:
            return
        self.replies.append([request])
        sent = sum(request.tokens[:4])
        self.figures.largest_request = max(self.figures.largest_request, sent)
        if on_way:
            self.figures.largest_context = max(
                self.figures.largest_context, whole(total) or sum(request.tokens)
            )

    def aside(self, tokens: list[int] | None, model: Any = None, cost: Any = None) -> None:
        """A reply of a sub-agent's."""
        request = _make(tokens, model, cost)
        self.agents += [request] if request else []

    def compact(self, tokens: list[int] | None = None, model: Any = None, cost: Any = None) -> None:
        """A compaction, with what the summary took where that is told."""
        self.figures.compactions += 1
        request = _make(tokens, model, cost)
        self.compactions += [request] if request else []
        self.silent += tokens is None

    def close(self, turns: int) -> Figures:
        """All figures. Whoever speaks has one turn at least."""
        self.figures.turns = max(turns, 1)
        apart = {"sub-agents": self.agents, "compaction": self.compactions}
        unknown = {"sub-agents": self.silent_agents, "compactions": self.silent}
        reply_count = self.figures.replies - self.summed
        write_bill(self.figures, self.replies, apart, unknown, reply_count, self.sums, self.stated)
        return self.figures


def _make(tokens: list[int] | None, model: Any, cost: Any) -> Request | None:
    money = float(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) and cost > 0 else 0.0
    if tokens is None or not (sum(tokens) or money):
        return None
    told = dict.fromkeys(("input", "cacheRead", "cacheWrite", "output"), 0.0) | {"total": money}
    return Request(model if isinstance(model, str) else None, tokens, told if money else None)
