"""Records of a pi session beside its messages: edits of what was said, and usage that no message tells.

`context_edit` names an earlier record, its target, and what later requests hold in its place: other content,
or nothing (null). The target stays as it was said, and counts so at every moment before the edit. An output
of a tool is read as emptied, whatever stands in its place; edits that follow each other are one entry. An
edit of any other message, such as a prompt that is left out, is not followed, and that is told.

`usage` is what a request of no message took, such as one that keeps the cache warm: it is paid, and in no
context. One that names its contribution counts once, wherever it stands again. Source: pi's documentation of
its session format, read in November 2026.
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


class RecordsBeside:
    """Those of a file, by their places in it.

    `runs` are edits that follow each other, by the place of the first, `joined` the others of a run, `spent`
    usage that no message tells.
    """

    def __init__(self, records: Sequence[tuple[Source, Json]], names: Sequence[str]) -> None:
        self.records = records
        self.called = _read_calls(records, names)
        self.runs = _find_runs(records, names, self.called)
        self.joined = {at for first, run in self.runs.items() for at in run if at != first}
        self.spent = _find_spent(records)

    def is_entry(self, at: int) -> bool:
        """Whether the record is an entry of its own."""
        return at in self.runs or at in self.spent

    def make(self, at: int, stand: Json) -> Entry:
        """The entry of a record; `stand` says where it stands."""
        source, item = self.records[at]
        fields = Fields(item, "type", "id", "parentId")
        if at in self.spent:
            told = {name: fields.text(name) for name in ("model", "provider", "timestamp")}
            usage = read_usage(fields)
            rest = fields.rest
            return Entry(
                **stand, **told, role="system", kind="note", usage=usage, sources=(source,), extra=rest
            )
        run = [self.records[each] for each in self.runs[at]]
        cleared = dict.fromkeys(self.called[edit["targetId"]] for _, edit in run)
        return Entry(
            **stand,
            role="system",
            kind="micro",
            boundary=Boundary(kind="micro", cleared=tuple(cleared)),
            timestamp=fields.text("timestamp"),
            sources=tuple(each for each, _ in run),
            extra={"edits": [edit.get("replacement") for _, edit in run]},
        )

    def warnings(self) -> tuple[str, ...]:
        """A sentence where edits are not followed."""
        edits = sum(item["type"] == EDIT for _, item in self.records)
        left = edits - len(self.runs) - len(self.joined)
        if not left:
            return ()
        told = "that is not followed" if left == 1 else "that are not followed"
        return (
            f"it holds {plural(left, 'later edit')} of messages {told}: what was said counts as it was said",
        )


def _read_calls(records: Sequence[tuple[Source, Json]], names: Sequence[str]) -> dict[str, str]:
    """The call that each output answers, by the output's name; nothing where the file holds no edit."""
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
    """Edits of outputs: each joins the one right before it, where that is its parent."""
    runs: dict[int, list[int]] = {}
    run: list[int] = []
    for at, (_, item) in enumerate(records):
        target = item.get("targetId")
        if item["type"] != EDIT or not isinstance(target, str) or target not in called:
            run = []
        elif run and item.get("parentId") == names[at - 1]:
            run.append(at)
        else:
            run = runs[at] = [at]
    return runs


def _find_spent(records: Sequence[tuple[Source, Json]]) -> set[int]:
    found: set[int] = set()
    named: set[str] = set()
    for at, (_, item) in enumerate(records):
        if item["type"] != "usage" or not isinstance(item.get("usage"), dict):
            continue
        name = item.get("contributionId")
        if isinstance(name, str):
            if name in named:
                continue
            named.add(name)
        found.add(at)
    return found
