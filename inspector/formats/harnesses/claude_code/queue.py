"""Read the messages that a user queues while the model works.

Rows of type `queue-operation` have the text of a message that is queued, and seldom the text of one that is
taken out. After `dequeue`, the message follows as a row of its own. After `remove`, it was delivered while
the model worked: newer versions write a row for that (`attachment`, `queued_command`), older ones none, so
only the queue has its text. `popAll` returns all messages to the user. A `remove` without a text takes the
first message that a person typed; reports of background tasks in the queue come as rows of their own. A slash
command that is dequeued is executed, and a row names it. One that is removed was delivered as typed (a model
of 2.1.17 reports that it received `/skills`): it is in the context and asks the model nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ....session.blocks import Block
from ....session.entries import Source
from ....session.speakers import TYPED, judge
from .draft import Draft
from .rows import Row

QUEUE = "queue-operation"
_STARTED = '{"task_id"'


class PromptQueue:
    """The queue as the file records it.

    `queued` are all messages with their lines, `waiting` those still in the queue, `inserted` the drafts of
    those that were delivered without a row of their own, by their text.
    """

    def __init__(self) -> None:
        self.queued: list[dict[str, Any]] = []
        self.waiting: list[str] = []
        self.inserted: dict[str, Draft] = {}

    def take(self, row: Row, source: Source) -> str:
        """Read a row. Return the text of the user's message that it delivers to the model, or ""."""
        words = _words_in(row.content)
        if row.operation in (None, "enqueue"):
            if words:
                self.queued.append({"line": source.line, "text": words})
                self.waiting.append(words)
        elif row.operation == "popAll":
            self.waiting.clear()
        elif row.operation == "remove":
            return self._remove(words)
        return ""

    def _remove(self, words: str) -> str:
        """Remove and return a message: the row's, else the first that a person typed, else the first."""
        typed = [text for text in self.waiting if is_typed(text)]
        if words:
            removed = words if words in self.waiting else ""
        else:
            removed = next(iter([*typed, *self.waiting]), "")
        if removed:
            self.waiting.remove(removed)
        return removed if is_typed(removed) or is_command(removed) else ""

    def hand_over(self, text: str) -> bool:
        """Remove the messages of a text from the queue. Return whether there were any."""
        delivered = [
            words
            for words in self.waiting
            if words == text or (is_typed(words) and words in text) or _names(text, words)
        ]
        for words in delivered:
            self.waiting.remove(words)
        return bool(delivered)


def is_typed(text: str) -> bool:
    """Return whether a person typed a queued text for the model: it is not a report, task note or command."""
    return bool(text) and not is_command(text) and not text.startswith(_STARTED) and judge(text) == TYPED


def is_command(text: str) -> bool:
    """Return whether a queued text is a slash command and not a path, which begins with "/" too.

    >>> is_command("/compact"), is_command("/review a.py"), is_command("/home/me/a.py is wrong")
    (True, True, False)
    """
    return text.startswith("/") and "/" not in text.split(maxsplit=1)[0][1:]


def _names(text: str, words: str) -> bool:
    """Return whether a row names a command."""
    return is_command(words) and f"<command-name>{words.split(maxsplit=1)[0]}<" in text


def words_of(blocks: Iterable[Block]) -> str:
    """Return the text of a message, without its pictures and outputs."""
    return "\n".join(block.text for block in blocks if block.kind == "text")


def _words_in(content: Any) -> str:
    """Return the text of a queued message, which may have pictures too."""
    if isinstance(content, list):
        texts = (part.get("text") for part in content if isinstance(part, dict))
        return "\n".join(text for text in texts if isinstance(text, str))
    return content if isinstance(content, str) else ""
