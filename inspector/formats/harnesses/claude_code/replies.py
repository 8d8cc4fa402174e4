"""Group the rows of a Claude Code file into replies, and find replies to the same request.

The rows of a reply share its `message.id`, and outputs of its calls may come between them. An id alone does
not identify a reply: gateways give all replies the same one, and the API did so for a time
(anthropics/claude-code issue 64880). So a reply also ends when another request begins: if a row names
another request, reports other tokens of its prompt, or comes after a prompt or a compaction. If a file
reports neither requests nor tokens, a reply with a stop reason ends before the outputs of its calls.

Before the second compaction of one process, Claude Code appends copies of earlier rows, and the next new row
names the last copy as its parent instead of the row that it follows (anthropics/claude-code issues 92089,
92849).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .draft import Draft, Lane
from .rows import Message, Row, UsageFields

Prompt = tuple[float, float, float]
"""Tokens of a request: uncached input, cache reads and cache writes."""
ReplyName = tuple[str, Prompt]
"""The id of a reply's message, and the tokens of its request."""


class RepeatedRows:
    """The last copied row of each lane, and the end of that lane before the copies.

    A new row that names the last copied row as its parent follows that end.
    """

    def __init__(self) -> None:
        self._last: dict[Lane, tuple[str, str]] = {}
        self._parents: dict[str, str] = {}

    def add(self, row: Row, draft: Draft | None, end: Draft | None) -> None:
        """Add a row whose uuid is in the file: in `draft`, if it is a message. `end` ends its lane."""
        if row.uuid is None or end is None:
            return
        if draft is not None and draft.lines[0].row == row.uuid:
            if row.parent_uuid != self._parents.get(row.uuid, draft.parent):
                return  # moved, not copied
            row.parent_uuid = draft.parent
        self._last[row.lane] = row.uuid, end.id

    def mend(self, row: Row) -> None:
        """Change the parent of a new row from the last copied row to the end before the copies."""
        last, end = self._last.get(row.lane, ("", ""))
        if not last:
            return
        if row.parent_uuid == last:
            row.parent_uuid = end
            if row.uuid is not None:
                self._parents[row.uuid] = last
        if row.logical_parent_uuid == last:
            row.logical_parent_uuid = end
        row.compact_metadata = _rename_tail(row.compact_metadata, last, end)


def _rename_tail(metadata: Any, last: str, end: str) -> Any:
    """Return the metadata of a compaction with a new id for the last preserved row."""
    segment = metadata.get("preservedSegment") if isinstance(metadata, dict) else None
    if not isinstance(segment, dict) or segment.get("tailUuid") != last:
        return metadata
    return {**metadata, "preservedSegment": {**segment, "tailUuid": end}}


class ReplyIndex:
    """The replies of a file whose rows are being read."""

    def __init__(self) -> None:
        self._latest: dict[tuple[str, Lane], Draft] = {}
        self._ends: dict[Lane, int] = {}
        self._drafts: dict[str, list[Draft]] = {}

    def find(self, row: Row, message: Message, above: Draft | None) -> Draft | None:
        """Find the draft of the reply that a row continues; None if a new reply begins.

        `above` is the draft of its parent row.
        """
        draft = None if message.id is None else self._latest.get((message.id, row.lane))
        if draft is None or draft.order < self._ends.get(row.lane, -1):
            return None
        reply = draft.reply
        if reply is not None and _differ(reply.request, row.request_id):
            return None
        # While a reply streams, later rows may report more tokens of the prompt.
        usage = None if reply is None or above is draft else reply.usage
        if reply is not None and above is not draft and reply.stop_reason is not None:
            # It had ended. Its id alone does not say that the row belongs to it.
            if reply.request is None and find_prompt(usage) is None:
                return None
        return None if _differ(find_prompt(usage), find_prompt(message.usage)) else draft

    def add(self, draft: Draft, message: Message, lane: Lane) -> None:
        """Add a new reply."""
        if message.id is not None:
            self._latest[message.id, lane] = draft
            self._drafts.setdefault(message.id, []).append(draft)

    def end(self, lane: Lane, order: int) -> None:
        """End all replies of a lane before the draft with this number, a prompt or a compaction."""
        self._ends[lane] = order

    def names(self) -> frozenset[ReplyName]:
        """Return the names of all replies."""
        return frozenset(_name(draft) for drafts in self._drafts.values() for draft in drafts)

    def charge_once(self, charged: frozenset[ReplyName], *, is_agent: bool) -> None:
        """Mark the replies that are charged elsewhere.

        The context of a sub-agent may include earlier replies. They are charged in the conversation, or at
        their first occurrence. The replies of `charged` are in another file of the session.
        """
        for drafts in self._drafts.values():
            if len(drafts) > 1 or is_agent:
                for copies in _group(drafts):
                    first = next((draft for draft in copies if draft.side is None), copies[0])
                    payer = None if _name(first) in charged else first
                    for draft in copies:
                        if draft.again != (draft is not payer):
                            draft.again, draft.cached_entry = draft is not payer, None

    def clear(self) -> None:
        """Remove all drafts."""
        self._latest.clear()
        self._drafts.clear()


def name_reply(name: str, usage: Any) -> ReplyName:
    """Return the name of a reply for the id of its message and its usage as the API reports it."""
    return name, find_prompt(usage) or (0, 0, 0)


def find_prompt(usage: Any) -> Prompt | None:
    """Return the tokens of the request that a usage reports; None if it reports none."""
    if isinstance(usage, dict):
        values = tuple(usage.get(name) for name in _PROMPT)
    elif type(usage) is UsageFields:
        values = usage.input_tokens, usage.cache_read_input_tokens, usage.cache_creation_input_tokens
    else:
        return None
    fresh, read, written = (value if isinstance(value, int | float) else 0 for value in values)
    return (fresh, read, written) if fresh or read or written else None


def find_output(usage: UsageFields) -> float:
    """Return the output tokens that a row reports; -1 without a number. They grow while a reply streams."""
    value = usage.output_tokens
    return value if isinstance(value, int | float) else -1


_PROMPT = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


def _name(draft: Draft) -> ReplyName:
    return name_reply(draft.message or "", None if draft.reply is None else draft.reply.usage)


def _differ(first: Any, second: Any) -> bool:
    """Whether both values are known and differ."""
    return first is not None and second is not None and first != second


def _group(drafts: list[Draft]) -> Iterator[list[Draft]]:
    """Group the drafts of the same reply in several lanes. Drafts in one lane are different replies."""
    groups: dict[tuple[ReplyName, int], list[Draft]] = {}
    counts: dict[tuple[ReplyName, Lane], int] = {}
    for draft in drafts:
        name = _name(draft)
        number = counts[name, draft.lane] = counts.get((name, draft.lane), 0) + 1
        groups.setdefault((name, number), []).append(draft)
    yield from groups.values()
