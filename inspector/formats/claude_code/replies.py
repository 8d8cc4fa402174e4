"""Which rows of a Claude Code file make up one reply, and which replies are one request.

The rows of a reply share its `message.id`, and outputs of its calls may stand between them. An id alone does
not tell replies apart: gateways give all of them the same one, and the API did so for a time
(anthropics/claude-code issue 64880). So a reply also ends where another request begins: where a row names
another request, reports other tokens of its prompt, or comes after a prompt or a compaction.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .draft import Draft, Lane
from .rows import Message, Row, UsageFields

Prompt = tuple[float, float, float]
"""Tokens of a request: fresh ones, those read from the cache, and those written to it."""
ReplyName = tuple[str, Prompt]
"""The id of a reply's message, and the tokens of its request."""


class ReplyIndex:
    """The replies of a file, while its rows are read."""

    def __init__(self) -> None:
        self._latest: dict[tuple[str, Lane], Draft] = {}
        self._asked: dict[Lane, int] = {}
        self._drafts: dict[str, list[Draft]] = {}

    def find(self, row: Row, message: Message, above: Draft | None) -> Draft | None:
        """The draft of the reply that a row goes on with; None if a new reply begins.

        Args:
            row: A row of an assistant's.
            message: Its message.
            above: The draft of the row that it names as its parent.
        """
        draft = None if message.id is None else self._latest.get((message.id, row.lane))
        if draft is None or draft.order < self._asked.get(row.lane, -1):
            return None
        reply = draft.reply
        if reply is not None and _differ(reply.request, row.request_id):
            return None
        # What a reply reports of its prompt may be completed while it streams, with nothing in between.
        told = None if reply is None or above is draft else reply.usage
        return None if _differ(find_prompt(told), find_prompt(message.usage)) else draft

    def add(self, draft: Draft, message: Message, lane: Lane) -> None:
        """A new reply."""
        if message.id is not None:
            self._latest[message.id, lane] = draft
            self._drafts.setdefault(message.id, []).append(draft)

    def end(self, lane: Lane, order: int) -> None:
        """End all replies of a lane before the draft with this number, a prompt or a compaction."""
        self._asked[lane] = order

    def names(self) -> frozenset[ReplyName]:
        """The names of all replies."""
        return frozenset(_name(draft) for drafts in self._drafts.values() for draft in drafts)

    def charge_once(self, charged: frozenset[ReplyName], *, is_agent: bool) -> None:
        """Mark the replies that are charged elsewhere.

        A sub-agent may be shown what was said before. That is charged in the conversation, or where it
        stands first; the replies of `charged` are in another file of the session.
        """
        for drafts in self._drafts.values():
            if len(drafts) > 1 or is_agent:
                for same in _group(drafts):
                    first = next((draft for draft in same if draft.side is None), same[0])
                    said = None if _name(first) in charged else first
                    for draft in same:
                        if draft.again != (draft is not said):
                            draft.again, draft.made = draft is not said, None

    def clear(self) -> None:
        """Keep no draft."""
        self._latest.clear()
        self._drafts.clear()


def name_reply(name: str, usage: Any) -> ReplyName:
    """The name of a reply by the usage that is told of it, in the API's terms."""
    return name, find_prompt(usage) or (0, 0, 0)


def find_prompt(usage: Any) -> Prompt | None:
    """The tokens of the request that a usage tells; None if it tells none."""
    if isinstance(usage, dict):
        told = tuple(usage.get(name) for name in _PROMPT)
    elif type(usage) is UsageFields:
        told = usage.input_tokens, usage.cache_read_input_tokens, usage.cache_creation_input_tokens
    else:
        return None
    fresh, read, written = (each if isinstance(each, int | float) else 0 for each in told)
    return (fresh, read, written) if fresh or read or written else None


_PROMPT = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


def _name(draft: Draft) -> ReplyName:
    return name_reply(draft.message or "", None if draft.reply is None else draft.reply.usage)


def _differ(one: Any, other: Any) -> bool:
    """Whether both are told and differ."""
    return one is not None and other is not None and one != other


def _group(drafts: list[Draft]) -> Iterator[list[Draft]]:
    """Those of the drafts that are the same reply, shown in several lanes; of one lane each is another."""
    same: dict[tuple[ReplyName, int], list[Draft]] = {}
    count: dict[tuple[ReplyName, Lane], int] = {}
    for draft in drafts:
        name = _name(draft)
        number = count[name, draft.lane] = count.get((name, draft.lane), 0) + 1
        same.setdefault((name, number), []).append(draft)
    yield from same.values()
