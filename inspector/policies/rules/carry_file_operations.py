"""Carry file operations forward: the summary ends with the files that were read and modified."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from ...session.blocks import ToolCall
from ...session.toolcalls.arguments import read_call
from ...session.tree import ASSISTANT, Ints
from ...tokens.memo import Memo
from ..base_rule import Rule
from ..table import Appendix, Decision, Table, find_start

OPERATIONS = {"read": "read", "write": "written", "edit": "edited"}
"""Tool names that count, exactly so spelt, and what they do to the file in their `path` (FLUE §8)."""
_OPERATION_NAMES = {"read": "read", "created": "written", "edited": "edited", "deleted": "edited"}
"""The list for each operation of a call on a file, as facts name it; files only listed go to none."""


class CarryFileOperations(Rule):
    """Add two lists to the summary: files that were only read, and files that were written or edited.

    Only tools named read, write and edit with a `path` argument are recognised; failed calls count; the lists
    of the previous compaction are carried over (FLUE §8). With `every_tool` the lists include the files of
    all known tools and of shell commands, with paths relative to the working directory; no published system
    does that.
    """

    title: ClassVar[str] = "Carry file operations"
    phrase: ClassVar[str] = "the summary lists the files read and modified"
    source: ClassVar[str] = "Flue dbaa9eff and pi, file operations (FLUE §8)"
    removes: ClassVar[bool] = False

    kind: Literal["carry-file-operations"] = "carry-file-operations"
    nested: bool = Field(
        False, description="Include calls made inside a tool, as its output records them (pi 1.5.2)"
    )
    every_tool: bool = Field(
        False, description="Include files named by other tools, other arguments and shell commands (our own)"
    )

    def decide(self, table: Table) -> Decision:
        """Add the lists to whatever summary is written."""
        return Decision(appendix=Appendix(lambda: _price(table), lambda place: collect(table, place).lines()))


@dataclass(frozen=True)
class FileOperations:
    """Paths in the order they were first met."""

    read: tuple[str, ...]
    written: tuple[str, ...]
    edited: tuple[str, ...]

    @property
    def modified_files(self) -> list[str]:
        return _sort({*self.edited, *self.written})

    @property
    def read_files(self) -> list[str]:
        return _sort(set(self.read) - {*self.edited, *self.written})

    def lists(self) -> list[list[str]]:
        """The lists that hold anything, as text lines between their tags."""
        named = (("read-files", self.read_files), ("modified-files", self.modified_files))
        return [[f"<{tag}>", *files, f"</{tag}>"] for tag, files in named if files]

    def lines(self) -> list[str]:
        """All their lines, without the blank lines that set them off."""
        return [line for lines in self.lists() for line in lines]

    def text(self) -> str:
        """The lists as Flue appends them: each set off by a blank line; empty when there are none."""
        return "".join("\n\n" + "\n".join(lines) for lines in self.lists())


Event = tuple[int, str, str]

_EVENTS: Memo[list[Event]] = Memo()
_LIST_TOKENS: Memo[Ints] = Memo()


def _sort(paths: set[str]) -> list[str]:
    """In the order of UTF-16 units, as JavaScript sorts; of ASCII that is Python's own."""
    plain = all(map(str.isascii, paths))
    return sorted(paths, key=None if plain else lambda path: path.encode("utf-16-be", "surrogatepass"))


def collect(table: Table, place: int) -> FileOperations:
    """File operations of what a cut at `place` summarises, with those carried from before."""
    paths: dict[str, dict[str, None]] = {"read": {}, "written": {}, "edited": {}}
    for position, operation, path in _events(table):
        if position < place:
            paths[operation].setdefault(path)
    return FileOperations(*(tuple(paths[name]) for name in ("read", "written", "edited")))


def _events(table: Table) -> list[Event]:
    """Yield (live position, operation, path) in order; a recorded compaction's lists are at its summary."""
    nested, every, start = _settings(table)
    key = (nested, every, start, table.since)
    return _EVENTS.of(table.moment, lambda: _find_events(table, nested, every, start), *key)


def _settings(table: Table) -> tuple[bool, bool, int]:
    rule = table.sibling("carry-file-operations")
    if not isinstance(rule, CarryFileOperations):
        return False, False, find_start(table)
    return rule.nested, rule.every_tool, find_start(table)


def _find_events(table: Table, nested: bool, every: bool, start: int) -> list[Event]:
    entries, live = table.session.entries, table.live
    events: list[Event] = []
    # An earlier summary that stays keeps its lists.
    boundary = entries[live.entries[0]].boundary if live.summary == 0 and not table.since else None
    if boundary is not None:
        events += [(0, "read", path) for path in boundary.files_read]
        events += [(0, "edited", path) for path in boundary.files_modified]
    operations_of = partial(_known_operations, table.session.cwd) if every else _operation
    calls = np.sort(np.concatenate([live.pairs[:, 0], live.pending]))
    position = live.position[calls]
    calls = calls[(live.role[position] == ASSISTANT) & (position >= start)]
    position, offset = live.position[calls], live.block[calls]
    places = zip(position.tolist(), live.entries[position].tolist(), offset.tolist(), strict=True)
    for row_position, entry, block in places:
        call = entries[entry].blocks[block]
        # Most calls are of tools that touch no file.
        if call.kind == "tool_call" and (every or call.name in OPERATIONS):
            events += operations_of(row_position, call.name, call.input)
    if nested:
        for row_position in range(start, len(live)):
            for call in _nested_calls(entries[live.entries[row_position]].extra.get("nestedCalls")):
                events += operations_of(row_position, call.get("name"), call.get("arguments"))
        events.sort(key=lambda event: event[0])
    return events


def _operation(position: int, name: Any, arguments: Any) -> list[Event]:
    operation = OPERATIONS.get(name) if isinstance(name, str) else None
    if operation is None or not isinstance(arguments, dict):
        return []
    path = arguments.get("path")
    return [(position, operation, path)] if path and isinstance(path, str) else []


def _known_operations(cwd: str | None, position: int, name: Any, arguments: Any) -> list[Event]:
    if not isinstance(name, str):
        return []
    call = ToolCall(id="", name=name, input=arguments)
    named = read_call(call, call.text, cwd)
    return [
        (position, _OPERATION_NAMES[item.operation], item.form)
        for item in named
        if item.kind == "file" and item.operation in _OPERATION_NAMES
    ]


def _nested_calls(nested: Any) -> list[dict[str, Any]]:
    calls = nested.get("calls") if isinstance(nested, dict) else None
    return [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []


def _price(table: Table) -> Ints:
    """int32[n+1]: tokens of the two lists at every place, counted line by line."""
    return _LIST_TOKENS.of(table.moment, lambda: _count_lists(table), *_settings(table), table.since)


def _count_lists(table: Table) -> Ints:
    n = len(table.live)
    first: dict[str, int] = {}
    modified: dict[str, int] = {}
    for position, operation, path in _events(table):
        first.setdefault(path, position)
        if operation != "read":
            modified.setdefault(path, position)
    if not first:
        return np.zeros(n + 1, np.int32)
    tags = table.ledger.count_lines(
        ["<read-files>", "</read-files>", "<modified-files>", "</modified-files>"]
    )
    # A path is listed from the place behind its first mention on, as modified from its first change on.
    listed, tokens = np.array([*first.values()]) + 1, table.ledger.count_lines([*first])
    changed = np.array([modified.get(path, n) for path in first]) + 1
    cost = np.cumsum(np.bincount(listed, tokens, n + 1).astype(np.int64))
    writes = np.cumsum(np.bincount(changed, minlength=n + 2)[: n + 1])
    reads = np.cumsum(np.bincount(listed, minlength=n + 1)) - writes
    cost += np.where(reads > 0, tags[0] + tags[1], 0) + np.where(writes > 0, tags[2] + tags[3], 0)
    return cost.astype(np.int32)
