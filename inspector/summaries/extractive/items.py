"""Collect the content of entries that a summary must hold, as items, the most important first.

From the entries of a session, yield `Item`s: rules that forbid something, the first and last words, files
changed, the user's other rules, open to-dos, the last errors and outcomes of commands, decisions, then all
other facts, and in the end every sentence. Everything is copied; nothing is concluded, and nothing is taken
from the model's reasoning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from ...facts.extract.collect import BY, OPERATIONS
from ...facts.extract.errors import tidy_error
from ...facts.facts import Fact, Facts, find_facts
from ...facts.replaced import find_replacements, read_statement
from ...session.blocks import Block, Text, ToolCall, build
from ...session.entries import Entry
from ...session.session import Session
from ...session.toolcalls.arguments import read_call
from ...session.toolcalls.shell import output_of
from ...session.toolcalls.tool_names import bare_name, is_shell
from ...text import printable
from .budget import FIRST, Item
from .quotes import (
    VALUE,
    WORDS,
    clip,
    find_answers,
    find_bans,
    find_findings,
    find_requests,
    find_rest,
    find_sentence,
    find_statements,
    forbids,
    last_line,
    quote,
)

NEWEST = 12
"""The number of last errors, outcomes and decisions that precede all others of their kinds."""
MANY = 100
"""Facts of one of the lesser kinds that are considered at all, those that people and models name first."""

LONG_ERROR = 300
"""Characters of an error line beyond which it is rather a dump than a message."""

ASKED_FIRST, LAST, BETWEEN = "Asked first:", "Asked last:", "Asked then:"
"""The labels before a user's words."""
NAMED_BEFORE = "Files named before"
READ = "In what was read: "
"""The label before a task that was only read, not set by the user."""

_LABEL = re.compile(r"^[A-Z]{3,}(?: [A-Z]{3,}){0,2}: (?=\w)")
"""A label in capitals that names the kind of the sentence."""
_IS = re.compile(r"\w (?:is|are|was|were) (?:now )?|\w ?[:=] ?")
_BRIEF = {FIRST: 0, "modified": 1, "rule": 2, "stated": 2, "goal": 3}
"""The order of kinds if a line is a large part of the room: the beginning of a request says little."""
_SHORTER = (FIRST, "rule", "stated")
"""Kinds of which shorter lines come first there, because more of them fit."""
_WAYS = ("created", "edited", "deleted")
_CHANGES = frozenset(map(OPERATIONS.index, _WAYS))
_TODO_TOOL = re.compile(r"todo|plan|task")
_TOOL = BY.index("tool")

Place = tuple[int, int]
"""An entry and a block of it."""
_LESSER = ("id", "url", "number", "symbol")
_LABELS = {"id": "Ids", "url": "Addresses", "number": "Values", "symbol": "Names", "file": "Files named"}


def gather_entries(session: Session, entries: Sequence[Entry], previous: str | None = None) -> Session:
    """The entries as a session of their own, in one line, without the model's reasoning.

    The previous summary, if any, comes first, as a compaction entry.
    """
    if previous:
        previous_entry = build(Entry, id="", kind="compaction", blocks=(Text(text=previous),))
        entries = [previous_entry, *entries]
    chained = tuple(
        build(
            Entry,
            **entry.__dict__
            | {
                "id": str(number),
                "parent": str(number - 1) if number else None,
                "aliases": (),
                "sidechain": None,
                "blocks": tuple(block for block in entry.blocks if block.kind != "reasoning"),
            },
        )
        for number, entry in enumerate(entries)
    )
    return session.with_entries(chained, chained[-1].id if chained else None, extra={})


def collect_items(session: Session, *, brief: bool = False) -> list[Item]:
    """Items of a session that `gather_entries` made.

    `brief` is for when a line is a large part of the room: quotes are shorter and come later, a label in
    capitals before a sentence goes, and shorter rules come first.
    """
    reader = _ItemCollector(session, WORDS // 15 if brief else WORDS)
    items = list(reader.items())
    items += reader.rest(sum(map(len, {item.text for item in items})))
    if not brief:
        return items
    items = [
        item._replace(text=_LABEL.sub("", item.text), key=_LABEL.sub("", item.key))  # the key is in the text
        for item in items
    ]

    def rank(item: Item) -> tuple[int, int]:
        return _BRIEF.get(item.kind, len(_BRIEF)), len(item.text) if item.kind in _SHORTER else 0

    return sorted(items, key=rank)


class _ItemCollector:
    def __init__(self, session: Session, words: int) -> None:
        self.session, self.words = session, words
        self.facts = find_facts(session)
        self.replaced = find_replacements(self.facts)
        self.first, self.last = _places(self.facts)
        self.requests = find_requests(session)
        self.answers = find_answers(session)
        self.statements = find_statements(session)
        self.outcomes = SessionOutcomes(session, self.facts)
        self.changed, self.tried = (
            sorted(facts, key=lambda fact: -self.last[fact.number]) for facts in self.outcomes.changes()
        )

    def items(self) -> Iterator[Item]:
        runs = list(self.outcomes.runs())
        # A sentence that the harness wrote in the user's message is not a rule.
        rules = [fact for fact in self._latest("constraint") if not self._by_harness(fact)]
        typed = [fact for fact in rules if self._by_user(fact)]
        yield from self._safety(typed)
        yield from self._goal()
        yield from self._files("modified", self.changed)
        # A rule is listed in its own section even if a quoted request also holds it.
        for item in self._lines("rule", "constraints", [fact for fact in typed if not forbids(fact.form)]):
            yield item._replace(key="")
        yield from self._stated()
        last_asked = self.requests[-1][0] >> 32 if self.requests else 0
        tasks, off, others = self.outcomes.sort_tasks(self._latest("todo"), last_asked)
        yield from self._lines("todo", "next", tasks, "[ ] ")
        errors = self._latest("error")
        telling = [fact for fact in errors if _is_telling(fact)]
        yield from self._lines("error", "context", telling[:NEWEST], "Error: ")
        yield from self._lines("error", "context", self.tried, "Not changed, every call failed: ")
        yield from runs[:NEWEST]
        decisions = [*self._latest("choice"), *self._latest("decision")]
        yield from self._lines("decision", "decisions", decisions[:NEWEST])
        yield from self._last_words()
        # Sentences of the model's own with a figure, the latest first.
        for at, words in reversed(find_findings(self.answers)):
            yield Item("finding", "context", printable(words), at, printable(words))
        yield from self._named_before()
        yield from self._collect_requests()
        yield from self._lines("error", "context", telling[NEWEST:], "Error: ")
        read = [fact for fact in self._latest("file") if "read" in fact.operations]
        changed = {fact.number for fact in self.changed}
        yield from self._files("read", [fact for fact in read if fact.number not in changed])
        yield from runs[NEWEST:]
        yield from self._lines("decision", "decisions", decisions[NEWEST:])
        yield from self._lines("rule", "constraints", [fact for fact in rules if not self._by_user(fact)])
        is_read = self.outcomes.is_read
        yield from self._lines("todo", "next", (fact for fact in others if not is_read(fact)), after=1)
        yield from self._lines("todo", "next", filter(is_read, others), READ, after=2)
        yield from self._lines("todo", "done", off, "Off the list of tasks: ")
        commands = [fact for fact in self._latest("command") if "ran" in fact.operations]
        commands.sort(key=lambda fact: output_of(fact.form) != "report")
        yield from self._lines("command", "context", commands[:MANY], "Ran: ")
        for kind in _LESSER:
            yield from self._packed(kind)
        yield from self._lines(
            "error", "context", [fact for fact in errors if not _is_telling(fact)], "Error: "
        )
        yield from self._packed("file")

    def _safety(self, rules: list[Fact]) -> Iterator[Item]:
        """Yield the user's rules that forbid something, the latest first, without replaced ones."""
        for item in self._lines(FIRST, "constraints", [fact for fact in rules if forbids(fact.form)]):
            yield item._replace(key="", at=item.at + SAFETY)
        forms = [" ".join(fact.form.split()) for fact in self.facts.by_kind("constraint")]
        for at, words in reversed(find_bans(self.session)):
            line = printable(" ".join(words.split()))
            if not any(line.rstrip(" .!") in form for form in forms):
                forms.append(line)
                yield Item(FIRST, "constraints", line, at + SAFETY)

    def rest(self, length: int) -> Iterator[Item]:
        """All other sentences, if the lines before them have `length` characters.

        Sentences with a value are among those lines, unless another value replaced theirs.
        """
        listed = {at for at, _ in self.statements}
        replaced = [fact.form for fact in self.facts.by_kind("constraint") if fact.number in self.replaced]
        for at, words in find_rest(self.session, length):
            if at not in listed and not any(words in form or form in words for form in replaced):
                yield Item("said", "said", clip(words, WORDS), at, printable(words))

    def _goal(self) -> Iterator[Item]:
        """The first thing asked and the last, quoted."""
        if self.requests:
            at, text = self.requests[0]
            yield Item("goal", "goal", f"{ASKED_FIRST} {quote(text, self.words)}", at)
        if len(self.requests) > 1:
            at, text = self.requests[-1]
            yield Item("goal", "goal", f"{LAST} {quote(text, self.words)}", at)

    def _stated(self) -> Iterator[Item]:
        """Sentences of the user's that state a value, the latest first.

        Of two that differ only in the value, the earlier one is left out as replaced. Rules are not included.
        """
        stated: set[str | tuple[str, ...]] = {fact.form for fact in self.facts.by_kind("constraint")}
        for at, words in reversed(self.statements[-MANY:]):
            # "Fix a.py" replaces no "Fix b.py": only what is said to be something has one value at a time.
            frame = _replaceable(words)
            if words not in stated and frame not in stated:
                stated.add(frame)
                yield Item("stated", "context", printable(words), at, printable(words))

    def _collect_requests(self) -> Iterator[Item]:
        """What was asked between, the latest first."""
        for at, text in reversed(self.requests[1:-1]):
            words = quote(text, self.words // 3)
            yield Item("asked", "goal", f"{BETWEEN} {words}", at, words)

    def _last_words(self) -> Iterator[Item]:
        """The model's last words, and what it said last in each turn before."""
        if not self.answers:
            return
        at, text = self.answers[-1]
        yield Item("words", "doing", clip(text, self.words // 2), at)
        bounds = [at for at, _ in self.requests]
        closing: dict[int, tuple[int, str]] = {}
        for at, text in self.answers[:-1]:
            closing[int(np.searchsorted(bounds, at))] = at, text
        for at, text in reversed(closing.values()):
            if sentence := find_sentence(text):
                yield Item("words", "done", sentence, at, sentence)

    def _files(self, slot: str, facts: Iterable[Fact]) -> Iterator[Item]:
        for fact in facts:
            if "\n" not in fact.form and not fact.form.startswith("<"):
                yield Item(slot, slot, printable(fact.form), self.first[fact.number])

    def _named_before(self) -> Iterator[Item]:
        """Files that the previous summary names, for summaries of all harnesses."""
        for number, fact in enumerate(self.facts.summaries.by_kind("file")):
            form = printable(" ".join(fact.form.split()))
            if "/" in form:
                yield Item("before", "context", form, _AFTER - MANY + number, form, NAMED_BEFORE)

    def _lines(
        self, kind: str, slot: str, facts: Iterable[Fact], lead: str = "", *, after: int = 0
    ) -> Iterator[Item]:
        for fact in facts:
            form = printable(" ".join(fact.form.split()))
            # "Error: error: no such file" says it twice.
            line = form if form.lower().startswith(lead.lower().rstrip()) else lead + form
            yield Item(kind, slot, line, self.first[fact.number] + after * _AFTER, form)

    def _packed(self, kind: str) -> Iterator[Item]:
        """The facts that people and models name, then the others, the most frequent first."""

        def rank(fact: Fact) -> tuple[bool, int, int]:
            return self.outcomes.is_read(fact), -len(fact), -self.last[fact.number]

        facts = sorted(self._latest(kind), key=rank)
        for number, fact in enumerate(facts[:MANY]):
            form = printable(" ".join(fact.form.split()))
            yield Item(kind, "context", form, _AFTER + number, form, _LABELS[kind])

    def _latest(self, kind: str) -> list[Fact]:
        """The facts of a kind but what the user has replaced, those that were said last before the others."""
        facts = [fact for fact in self.facts.by_kind(kind) if fact.number not in self.replaced]
        return sorted(facts, key=lambda fact: -self.last[fact.number])

    def _by_harness(self, fact: Fact) -> bool:
        rows = _find_rows(self.facts, fact)
        return all(self.session.entries[at].meta for at in self.facts.entry[rows].tolist())

    def _by_user(self, fact: Fact) -> bool:
        return bool((self.facts.by[_find_rows(self.facts, fact)] == BY.index("user")).any())


def _replaceable(words: str) -> str | tuple[str, ...]:
    """Return a sentence without its value if a later sentence may replace it; else the sentence."""
    if (statement := read_statement(words)) is not None:
        return statement[0]
    stated = _IS.search(words)
    return words if stated is None else f"{words[: stated.end()]}\0{VALUE.sub('', words[stated.end() :])}"


_AFTER = 1 << 70
"""Packed items follow the lines of their section."""
SAFETY = -_AFTER
"""Rules that forbid something are placed before the other lines of their section."""


def _is_telling(error: Fact) -> bool:
    """Whether an error says more than that there was one: no "FAIL", no "exit code 1", no dump."""
    return 9 < len(error.form) <= LONG_ERROR and not error.form.startswith("exit code")


def _places(facts: Facts) -> tuple[list[int], list[int]]:
    """Where each fact is first and last said, as a number that grows along the path."""
    where = facts.entry.astype(np.int64) << 32 | facts.start
    if not len(where):
        return [], []
    return where[facts.offset[:-1]].tolist(), where[facts.offset[1:] - 1].tolist()


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
            places = _find_places(facts, fact)
            done = zip(places, facts.operation[_find_rows(facts, fact)], strict=True)
            if any(place not in failed for place, operation in done if operation in _CHANGES):
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
        return bool((self.facts.by[_find_rows(self.facts, fact)] == _TOOL).all())

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
            for place in _find_places(facts, fact):
                if fact.form.startswith("exit code"):
                    codes.add(place)
                else:
                    errors.setdefault(place, []).append(fact.form)
        return codes, errors


def _find_rows(facts: Facts, fact: Fact) -> slice:
    return slice(*facts.offset[fact.number : fact.number + 2].tolist())


def _find_places(facts: Facts, fact: Fact) -> list[Place]:
    rows = _find_rows(facts, fact)
    return list(zip(facts.entry[rows].tolist(), facts.block[rows].tolist(), strict=True))


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
