"""What a user types while the model works, and when it reaches the model.

Rows of type `queue-operation` say what is put into the queue and that something is taken out, seldom what.
Taken out by `dequeue`, it comes as a row of its own right after. Taken out by `remove`, it was handed over
amid the model's work: newer versions write a row for that (`attachment`, `queued_command`), older ones none,
and then its words stand nowhere but in the queue. `popAll` gives all of it back to the user. Where a `remove`
does not say what it takes, it is the first words that a person typed; reports of background tasks that wait
beside them come as rows of their own. A slash command that is dequeued is carried out: a row names it. One
that is removed was handed over as it was typed (a model of 2.1.17 says that it was sent `/skills`): it stands
in the context, and asks the model nothing.
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
    """The queue as the file tells of it.

    `queued` is everything put into it, with its line; `waiting` what was not taken out yet; `inserted` the
    drafts of words that were handed over without a row of their own, as far as is known, by their words.
    """

    def __init__(self) -> None:
        self.queued: list[dict[str, Any]] = []
        self.waiting: list[str] = []
        self.inserted: dict[str, Draft] = {}

    def take(self, row: Row, source: Source) -> str:
        """Take a row; the words of a person that it hands to the model, "" for none."""
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
        """What is taken out: the words the row tells, else the first that a person typed, else the first."""
        typed = [text for text in self.waiting if is_typed(text)]
        if words:
            taken = words if words in self.waiting else ""
        else:
            taken = next(iter([*typed, *self.waiting]), "")
        if taken:
            self.waiting.remove(taken)
        return taken if is_typed(taken) or is_command(taken) else ""

    def hand_over(self, text: str) -> bool:
        """Whether a message was waiting in the queue; it no longer is. Several may be sent as one."""
        taken = [
            words
            for words in self.waiting
            if words == text or (is_typed(words) and words in text) or _names(text, words)
        ]
        for words in taken:
            self.waiting.remove(words)
        return bool(taken)


def is_typed(text: str) -> bool:
    """Whether queued words are a person's to the model: no report, no note of a task, no command."""
    return bool(text) and not is_command(text) and not text.startswith(_STARTED) and judge(text) == TYPED


def is_command(text: str) -> bool:
    """Whether queued words are a slash command: a path further down begins with "/" too.

    >>> is_command("/compact"), is_command("/review a.py"), is_command("/home/me/a.py is wrong")
    (True, True, False)
    """
    return text.startswith("/") and "/" not in text.split(maxsplit=1)[0][1:]


def _names(text: str, words: str) -> bool:
    """Whether a row is that of a command."""
    return is_command(words) and f"<command-name>{words.split(maxsplit=1)[0]}<" in text


def words_of(blocks: Iterable[Block]) -> str:
    """The words of a message, without its pictures and outputs."""
    return "\n".join(block.text for block in blocks if block.kind == "text")


def _words_in(content: Any) -> str:
    """The words of a queued message, which may hold pictures too."""
    if isinstance(content, list):
        texts = (part.get("text") for part in content if isinstance(part, dict))
        return "\n".join(text for text in texts if isinstance(text, str))
    return content if isinstance(content, str) else ""
