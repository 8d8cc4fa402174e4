"""Read a pi session's other records: edits of messages, and usage that is not in a message.

`context_edit` names an earlier record as its target, and the content that replaces it in later requests:
other content, or nothing (null). The target counts unchanged at every point in time before the edit. An
edited tool output is read as cleared, whatever its new content is; consecutive edits become one entry. Edits
of other messages, such as a prompt that is left out, are ignored with a warning.

`usage` is the usage of a request without a message, for example one that keeps the cache warm: it is charged
but not part of the context. A record with a contribution id counts once. Source: pi's documentation of its
session format, read in November 2026.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....session.entries import Boundary, Entry, Source
from ....text import plural
from ...json_document import Fields
from .messages import read_usage

EDIT = "context_edit"
Json = dict[str, Any]


class SideRecords:
    """These records of a file, by index.

    Attributes:
        runs: Consecutive edits, by the index of the first.
        joined: The indices of the other edits of a run.
        spent: The indices of usage records.
    """

    def __init__(self, records: Sequence[tuple[Source, Json]], names: Sequence[str]) -> None:
        self.records = records
        self.called = _read_calls(records, names)
        self.runs = _find_runs(records, names, self.called)
        self.joined = {position for first, run in self.runs.items() for position in run if position != first}
        self.spent = _find_spent(records)

    def is_entry(self, position: int) -> bool:
        """Return whether the record is a separate entry."""
        return position in self.runs or position in self.spent

    def make(self, position: int, identity: Json) -> Entry:
        """Build the entry of a record; `identity` contains its id, its parent and its aliases."""
        source, item = self.records[position]
        fields = Fields(item, "type", "id", "parentId")
        if position in self.spent:
            details = {name: fields.text(name) for name in ("model", "provider", "timestamp")}
            usage = read_usage(fields)
            rest = fields.rest
            return Entry(
                **identity, **details, role="system", kind="note", usage=usage, sources=(source,), extra=rest
            )
        run = [self.records[index] for index in self.runs[position]]
        cleared = dict.fromkeys(self.called[edit["targetId"]] for _, edit in run)
        return Entry(
            **identity,
            role="system",
            kind="micro",
            boundary=Boundary(kind="micro", cleared=tuple(cleared)),
            timestamp=fields.text("timestamp"),
            sources=tuple(index for index, _ in run),
            extra={"edits": [edit.get("replacement") for _, edit in run]},
        )

    def warnings(self) -> tuple[str, ...]:
        """Return a warning if edits are ignored."""
        edits = sum(item["type"] == EDIT for _, item in self.records)
        ignored = edits - len(self.runs) - len(self.joined)
        if not ignored:
            return ()
        verb = "is" if ignored == 1 else "are"
        return (f"{plural(ignored, 'later edit')} of messages {verb} ignored: the original text counts",)


def _read_calls(records: Sequence[tuple[Source, Json]], names: Sequence[str]) -> dict[str, str]:
    """Return the call of each output, by the output's id; empty if the file contains no edit."""
    if all(item["type"] != EDIT for _, item in records):
        return {}
    outputs = (
        (name, item["message"].get("toolCallId"))
        for name, (_, item) in zip(names, records, strict=True)
        if item["type"] == "message" and item["message"].get("role") == "toolResult"
    )
    return {name: call for name, call in outputs if isinstance(call, str)}


def _find_runs(
    records: Sequence[tuple[Source, Json]], names: Sequence[str], called: dict[str, str]
) -> dict[int, list[int]]:
    """Return the edits of outputs. Each joins the edit directly before it if that is its parent."""
    runs: dict[int, list[int]] = {}
    run: list[int] = []
    for position, (_, item) in enumerate(records):
        target = item.get("targetId")
        if item["type"] != EDIT or not isinstance(target, str) or target not in called:
            run = []
        elif run and item.get("parentId") == names[position - 1]:
            run.append(position)
        else:
            run = runs[position] = [position]
    return runs


def _find_spent(records: Sequence[tuple[Source, Json]]) -> set[int]:
    indices: set[int] = set()
    named: set[str] = set()
    for position, (_, item) in enumerate(records):
        if item["type"] != "usage" or not isinstance(item.get("usage"), dict):
            continue
        name = item.get("contributionId")
        if isinstance(name, str):
            if name in named:
                continue
            named.add(name)
        indices.add(position)
    return indices
