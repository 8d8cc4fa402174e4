"""What was done in a session and what came of it: files changed, commands run, tasks set and taken off.

In go a session and its facts, out come facts sorted by what came of them. Nothing is concluded: a call whose
output is an error failed, a task that the last list holds is open.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ...facts.extract.collect import BY, OPERATIONS
from ...facts.extract.errors import tidy_error
from ...facts.facts import Fact, Facts
from ...session.blocks import Block, ToolCall
from ...session.session import Session
from ...session.toolcalls.arguments import read_call
from ...session.toolcalls.shell import output_of
from ...session.toolcalls.tool_names import bare_name, is_shell
from .budget import Item
from .quotes import WORDS, clip, last_line

_WAYS = ("created", "edited", "deleted")
_CHANGES = frozenset(map(OPERATIONS.index, _WAYS))
_TODO_TOOL = re.compile(r"todo|plan|task")
_TOOL = BY.index("tool")

Place = tuple[int, int]
"""An entry and a block of it."""


class SessionOutcomes:
    """What was done in a session whose facts these are."""

    def __init__(self, session: Session, facts: Facts) -> None:
        self.session, self.facts = session, facts

    def changes(self) -> tuple[list[Fact], list[Fact]]:
        """Files that were changed, and those that every call to change them left as they were."""
        failed = {place: self._find_aims(place) for place in _failed_calls(self.session)}
        changed: list[Fact] = []
        tried: list[Fact] = []
        facts = self.facts
        for fact in facts.by_kind("file"):
            start, end = facts.offset[fact.number : fact.number + 2].tolist()
            places = [(int(facts.entry[at]), int(facts.block[at])) for at in range(start, end)]
            done = (
                place for place, op in zip(places, facts.operation[start:end], strict=True) if op in _CHANGES
            )
            if any(place not in failed for place in done):
                changed.append(fact)
            elif any(fact.form in failed.get(place, ()) for place in places):
                tried.append(fact)
        return changed, tried

    def _find_aims(self, place: Place) -> frozenset[str]:
        """The files that a call was to change: of one that failed the facts only say that it names them."""
        call = self.session.entries[place[0]].blocks[place[1]]
        assert isinstance(call, ToolCall)
        named = read_call(call, call.text, self.session.cwd)
        return frozenset(form for kind, form, _, _, way in named if kind == "file" and way in _WAYS)

    def sort_tasks(
        self, tasks: Iterable[Fact], last_request: int
    ) -> tuple[list[Fact], list[Fact], list[Fact]]:
        """Tasks open in the last list that a tool was given; those that only earlier lists held; others.

        Without a list in a tool, the open tasks are those said since `last_request`, the user's last message.
        A task that occurs only in text that was read is someone else's.
        """
        entries = self.session.entries
        lists = [at for at, entry in enumerate(entries) if any(map(_keeps_tasks, entry.blocks))]
        since = lists[-1] if lists else last_request
        sorted_out: tuple[list[Fact], list[Fact], list[Fact]] = [], [], []
        for fact in tasks:
            at = int(self.facts.offset[fact.number + 1]) - 1
            entry, block = int(self.facts.entry[at]), int(self.facts.block[at])
            listed = _keeps_tasks(entries[entry].blocks[block])
            open_ = entry >= since and (listed or not self.is_read(fact))
            sorted_out[0 if open_ else 1 if listed else 2].append(fact)
        return sorted_out

    def is_read(self, fact: Fact) -> bool:
        """Whether the fact occurs only in text that was read."""
        start, end = self.facts.offset[fact.number : fact.number + 2].tolist()
        return bool((self.facts.by[start:end] == _TOOL).all())

    def runs(self) -> Iterator[Item]:
        """The result of each command's last run, the latest first; commands that only show are left out."""
        codes, errors = self._reports()
        calls: dict[str, tuple[int, str]] = {}
        ends: dict[str, tuple[int, Item]] = {}
        for at, entry in enumerate(self.session.entries):
            for number, block in enumerate(entry.blocks):
                if block.kind == "tool_call" and (command := _command_of(block)):
                    calls[block.id] = at, command
                elif block.kind == "tool_output" and block.call_id in calls:
                    call_at, command = calls.pop(block.call_id)
                    place, end = (at, number), last_line(block.text)
                    bad = block.is_error or place in codes or tidy_error(end) in errors.get(place, ())
                    why = errors[place][0] if place in errors else end
                    result = f"failed: {why}" if bad else end or "no output"
                    text = f"`{clip(command, WORDS // 3)}`: {clip(result, WORDS // 3)}"
                    ends[command] = at, Item("outcome", "blocked" if bad else "done", text, call_at)
        for _, run in sorted(ends.values(), key=lambda end: -end[0]):
            yield run

    def _reports(self) -> tuple[set[Place], dict[Place, list[str]]]:
        """Outputs with an exit code other than zero, and the errors in each output."""
        facts, codes, errors = self.facts, set[Place](), dict[Place, list[str]]()
        for fact in facts.by_kind("error"):
            start, end = facts.offset[fact.number : fact.number + 2].tolist()
            for place in zip(facts.entry[start:end].tolist(), facts.block[start:end].tolist(), strict=True):
                if fact.form.startswith("exit code"):
                    codes.add(place)
                else:
                    errors.setdefault(place, []).append(fact.form)
        return codes, errors


def _keeps_tasks(block: Block) -> bool:
    return block.kind == "tool_call" and bool(block.input) and bool(_TODO_TOOL.search(bare_name(block.name)))


def _failed_calls(session: Session) -> set[Place]:
    """Calls whose output is an error. A shell's call may have had effects before it failed."""
    calls: dict[str, Place] = {}
    failed: set[Place] = set()
    for at, entry in enumerate(session.entries):
        for number, block in enumerate(entry.blocks):
            if block.kind == "tool_call" and not is_shell(block.name):
                calls[block.id] = at, number
            elif block.kind == "tool_output" and block.is_error and block.call_id in calls:
                failed.add(calls[block.call_id])
    return failed


def _command_of(call: ToolCall) -> str:
    """The command of a shell call, on one line; empty for other tools and for commands that only show."""
    if not is_shell(call.name) or not isinstance(call.input, dict):
        return ""
    command = call.input.get("command") or call.input.get("cmd")
    if not isinstance(command, str) or output_of(command[:4000]) != "report":
        return ""
    return " ".join(command[: 4 * WORDS].split())
