"""What a session says that may have to be remembered: its facts, each with every place it is said.

In goes a `Session`, out come `Facts`: file paths, commands, errors, symbols, addresses, ids, numbers with a
name, the user's rules, decisions and open todos. What tools are given is read first, by tables of tools and
by reading shell commands; then the text. Text of recorded compaction summaries is kept apart in
`Facts.summaries`: a summary repeats facts, it is not where they come from.

The texts are joined into stretches of about a million characters, so that every search runs over few
long texts; occurrences are columns, and a `Said` is made when someone looks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .blocks import BlockRef, ToolCall
from .factpaths import LONGEST, PathFinder, canonical_path
from .factshell import directory_after, output_of
from .facttools import is_shell, operation_of, read_call, restore, unescape
from .factwords import (
    find_commands,
    find_decisions,
    find_errors,
    find_exit_codes,
    find_failure,
    find_hashes,
    find_issues,
    find_numbers,
    find_rules,
    find_symbols,
    find_ticked_symbols,
    find_todos,
    find_urls,
)  # fmt: skip
from .printable import printable
from .session import Session
from .tree import ASSISTANT, BRANCH_SUMMARY, COMPACTION, MICRO, NOTE, USER

KINDS = ("file", "command", "error", "symbol", "url", "id", "number", "constraint", "decision", "todo")
BY = ("user", "model", "tool", "summary")
OPERATIONS = ("read", "created", "edited", "deleted", "listed", "ran")
_KIND = {kind: code for code, kind in enumerate(KINDS)}
_OPERATION: dict[str | None, int] = {None: -1, **{name: code for code, name in enumerate(OPERATIONS)}}
_STRETCH = 1_000_000
_REMINDER, _REMINDED = "<system-reminder>", "</system-reminder>"

Ints = NDArray[np.int32]
# What a text is, which settles what is looked for in it and who says it.
_USER, _MODEL, _CALL, _REPORT, _FAILED, _CONTENT, _LISTING, _HARNESS, _SUMMARY = range(9)
_SPEAKER = np.array([0, 1, 1, 2, 2, 2, 2, 2, 3], np.uint8)


class Said(NamedTuple):
    """One place where a fact is said: characters `start` to `end` of the block's text, by whom
    (user, model, tool, summary), and for files and commands what was done."""

    ref: BlockRef
    start: int
    end: int
    by: str
    operation: str | None


@dataclass(frozen=True, eq=False)
class Fact:
    """A thing said. `kind` is one of KINDS, `form` its one way of being written, at most 400 characters."""

    kind: str
    form: str
    number: int
    facts: Facts

    @cached_property
    def said(self) -> tuple[Said, ...]:
        """Every place, in the order of the path; never a compaction's summary."""
        start, end = self.facts.offset[self.number : self.number + 2].tolist()
        return tuple(self.facts.said(at) for at in range(start, end))

    @property
    def operations(self) -> tuple[str, ...]:
        """What was done to it, each once, in the order first done."""
        return tuple(dict.fromkeys(said.operation for said in self.said if said.operation))

    def __len__(self) -> int:
        start, end = self.facts.offset[self.number : self.number + 2].tolist()
        return int(end - start)

    def __repr__(self) -> str:
        did = f", {', '.join(self.operations)}" if self.operations else ""
        return f"Fact({self.kind} {printable(self.form, 80)!r}, said {len(self)}×{did})"


class Facts(Mapping[tuple[str, str], Fact]):
    """The facts of a session, by (kind, form) or by form alone, in the order they are first said.

    Columns over the k occurrences, by fact and then in the order of the path:

    fact       int32[k]    number of the fact
    entry      int32[k]    position in `session.entries`
    block      int32[k]    index of the block in its entry
    start, end int32[k]    characters of the block's text
    by         uint8[k]    index into BY
    operation  int8[k]     index into OPERATIONS, -1 for none
    offset     int32[f+1]  occurrences of fact i are offset[i] … offset[i+1]
    kind       uint8[f]    index into KINDS
    """

    def __init__(self, session: Session, found: _Found, summaries: Facts | None = None) -> None:
        self._session, self._summaries = session, summaries
        self.cwd = session.cwd
        keys, columns = found.finish()
        self._keys: tuple[tuple[str, str], ...] = tuple(keys)
        self._numbers = {key: number for number, key in enumerate(self._keys)}
        self.fact, self.entry, self.block, self.start, self.end = (columns[:, at].copy() for at in range(5))
        self.by, self.operation = columns[:, 5].astype(np.uint8), columns[:, 6].astype(np.int8)
        self.kind = np.array([_KIND[kind] for kind, _ in self._keys], np.uint8)
        self.offset = np.searchsorted(self.fact, np.arange(len(self._keys) + 1)).astype(np.int32)

    @property
    def summaries(self) -> Facts:
        """The facts that the texts of recorded summaries state, with `by` "summary"; empty without one."""
        return self if self._summaries is None else self._summaries

    def __getitem__(self, key: str | tuple[str, str]) -> Fact:
        if isinstance(key, tuple):
            return self._fact(self._numbers[key])
        forms = (key, canonical_path(key, self.cwd)) if key else (key,)
        for kind, form in ((kind, form) for form in forms for kind in KINDS):
            if (kind, form) in self._numbers:
                return self._fact(self._numbers[kind, form])
        raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, str):
            return key in self._numbers
        try:
            self[key]
        except KeyError:
            return False
        return True

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def by_kind(self, kind: str) -> tuple[Fact, ...]:
        """All facts of one kind, in the order they are first said."""
        return tuple(self._fact(number) for number in np.flatnonzero(self.kind == _KIND[kind]).tolist())

    def said(self, at: int) -> Said:
        """One occurrence, by its place in the columns."""
        entry = self._session.entries[self.entry[at]]
        did = int(self.operation[at])
        return Said(
            BlockRef(entry.id, int(self.block[at])),
            int(self.start[at]),
            int(self.end[at]),
            BY[self.by[at]],
            OPERATIONS[did] if did >= 0 else None,
        )

    @property
    def counts(self) -> dict[str, int]:
        """How many facts there are of each kind."""
        numbers = np.bincount(self.kind, minlength=len(KINDS)).tolist()
        return dict(zip(KINDS, numbers, strict=True))

    def _fact(self, number: int) -> Fact:
        return Fact(*self._keys[number], number, self)

    def __repr__(self) -> str:
        words = [f"{n} {kind}{'s' if n > 1 else ''}" for kind, n in self.counts.items() if n]
        return f"Facts({', '.join(words) or 'none'}; said {len(self.fact)}×)"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))


def find_facts(session: Session) -> Facts:
    """The facts on the session's path, from its root to its leaf: linear in the length of its text.

    What the harness puts in the user's mouth counts as said by a tool. A file that is written counts as
    created, or as edited when a tool had it in hand before. A relative path after `cd` is relative to
    there, within one command. Sidechains and notes are left out.

    >>> from inspector.bundled import open_bundled
    >>> facts = find_facts(open_bundled())
    >>> facts.counts["file"] > 0
    True
    """
    finder = PathFinder(session.cwd)
    life, told = _Found(), _Found()
    for segment, named in _read_path(session, finder):
        (told if segment.sort == _SUMMARY else life).add(segment, named)
    for found in (life, told):
        found.search(finder)
    return Facts(session, life, Facts(session, told))


class _Segment(NamedTuple):
    """A text to search: where it stands, how far into its block it starts, what it is, and the directory
    its relative paths start from (None: the session's)."""

    entry: int
    block: int
    at: int
    sort: int
    text: str
    base: str | None = None


Named = tuple[str, str, int, int, str | None]


def _read_path(session: Session, finder: PathFinder) -> Iterator[tuple[_Segment, list[Named]]]:
    """Every text on the path, in order, with what its tool's arguments name."""
    tree, entries = session.tree, session.entries
    answers: dict[str, tuple[int, str | None]] = {}
    known: set[str] = set()
    for position in session.path:
        sort, role, entry = int(tree.sort[position]), int(tree.role[position]), entries[position]
        if sort in (NOTE, MICRO):
            continue
        words = _MODEL if role == ASSISTANT else _USER if role == USER and not entry.meta else _HARNESS
        if sort in (COMPACTION, BRANCH_SUMMARY):
            words = _SUMMARY
        for at, block in enumerate(entry.blocks):
            if block.kind == "tool_call":
                answers[block.id] = _answer(block, session.cwd)
                yield _read_tool(session, finder, block, (position, at), known)
            elif block.kind == "tool_output":
                sort, base = answers.get(block.call_id, (_REPORT if block.name else _CONTENT, None))
                sort = _SUMMARY if words == _SUMMARY else _FAILED if block.is_error else sort
                yield _Segment(position, at, 0, sort, block.text, base), []
            elif block.kind == "text" and words == _USER and _REMINDER in block.text:
                for start, sort, text in _unmix(block.text):
                    yield _Segment(position, at, start, sort, text), []
            elif block.kind in ("text", "reasoning", "document") and block.text:
                kept = _CONTENT if block.kind == "document" and words == _USER else words
                yield _Segment(position, at, 0, kept, block.text), []


def _read_tool(
    session: Session, finder: PathFinder, call: ToolCall, place: tuple[int, int], known: set[str]
) -> tuple[_Segment, list[Named]]:
    text = call.text
    named: list[Named] = []
    blank: list[tuple[int, int]] = []
    for kind, form, start, end, operation in read_call(call, text, session.cwd):
        if kind == "file":
            finder.learn(form)
            if operation == "created" and form in known:
                operation = "edited"
            if operation == "deleted":
                known.discard(form)
            elif operation in ("created", "edited", "read"):
                known.add(form)
        if kind in ("file", "url"):
            blank.append((start, end))
        named.append((kind, form, start, end, operation))
    pieces, last = [], 0
    text = unescape(text)
    for start, end in sorted(blank):
        if start >= last:
            pieces += [text[last:start], " " * (end - start)]
            last = end
    rest = "".join([*pieces, text[last:]]) if pieces else text
    return _Segment(*place, 0, _CALL, rest), named


def _answer(call: ToolCall, cwd: str | None) -> tuple[int, str | None]:
    """What the output of a call is made of, and the directory its relative paths start from."""
    if is_shell(call.name):
        given = call.input if isinstance(call.input, dict) else {}
        command = given.get("command") or given.get("cmd")
        if isinstance(command, str):
            sort = {"content": _CONTENT, "listing": _LISTING}.get(output_of(command[:4000]), _REPORT)
            return sort, directory_after(command[:4000], cwd)
        return _REPORT, None
    operation = operation_of(call.name, call.input)
    return (_LISTING if operation == "listed" else _CONTENT if operation else _REPORT), None


def _unmix(text: str) -> Iterator[tuple[int, int, str]]:
    """(start, sort, text): a user's words apart from the reminders that the harness puts among them."""
    at = 0
    while at < len(text):
        start = text.find(_REMINDER, at)
        if start < 0:
            yield at, _USER, text[at:]
            return
        if start > at:
            yield at, _USER, text[at:start]
        end = text.find(_REMINDED, start)
        end = len(text) if end < 0 else end + len(_REMINDED)
        yield start, _HARNESS, text[start:end]
        at = end


_WORDS = (_USER, _MODEL, _HARNESS, _SUMMARY)
_REPORTS = (_REPORT, _FAILED)


class _Found:
    """Collects occurrences, and numbers the facts."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, str], int] = {}
        self._segments: list[_Segment] = []
        self._rows: list[NDArray[np.int64]] = []
        self._named: list[int] = []

    def add(self, segment: _Segment, named: Iterable[Named]) -> None:
        """Take a text to search later, and what is already known to be named in it."""
        number = len(self._segments)
        self._segments.append(segment)
        for kind, form, start, end, operation in named:
            if 0 < len(form) <= LONGEST:
                fact = self._numbers.setdefault((kind, form), len(self._numbers))
                self._named += (fact, number, start, end, _OPERATION[operation])

    def search(self, finder: PathFinder) -> None:
        """Search all texts, those of one sort and one directory together."""
        groups: dict[tuple[int, str], list[int]] = {}
        for number, segment in enumerate(self._segments):
            groups.setdefault((segment.sort, segment.base or ""), []).append(number)
        for group in sorted(groups):
            stretch: list[int] = []
            size = 0
            for number in groups[group]:
                stretch.append(number)
                size += len(self._segments[number].text)
                if size > _STRETCH:
                    self._search(stretch, group, finder)
                    stretch, size = [], 0
            self._search(stretch, group, finder)
        self._add_failures([at for at, segment in enumerate(self._segments) if segment.sort == _FAILED])

    def _search(self, numbers: list[int], group: tuple[int, str], finder: PathFinder) -> None:
        sort, base = group
        if not numbers:
            return
        texts = [self._segments[number].text for number in numbers]
        text = "\n".join(texts)
        if not text:
            return
        begins = np.zeros(len(texts), np.int64)
        np.cumsum([len(item) + 1 for item in texts[:-1]], out=begins[1:])
        rows: list[int] = []
        urls = list(find_urls(text)) if "://" in text else []
        self._note(rows, "url", urls)
        bare = _without(text, urls)
        listed = _OPERATION["listed"] if sort == _LISTING else -1
        self._note(rows, "file", finder.find(bare, base or None), listed)
        for kind, hits in _searches(bare, sort):
            self._note(rows, kind, hits)
        found = np.array(rows, np.int64).reshape(-1, 4)
        which = np.searchsorted(begins, found[:, 1], "right") - 1
        whole = found[:, 2] <= begins[which] + np.array([len(item) for item in texts])[which]
        ahead = np.array([self._segments[number].at for number in numbers], np.int64)[which] - begins[which]
        places = np.column_stack(
            (found[:, 0], np.array(numbers)[which], found[:, 1] + ahead, found[:, 2] + ahead, found[:, 3])
        )
        self._rows.append(places[whole])

    def _note(
        self, rows: list[int], kind: str, hits: Iterable[tuple[int, int, str]], operation: int = -1
    ) -> None:
        numbers = self._numbers
        for start, end, form in hits:
            key = (kind, form)
            fact = numbers.get(key)
            if fact is None:
                if not form or len(form) > LONGEST:
                    continue
                fact = numbers[key] = len(numbers)
            rows += (fact, start, end, operation)

    def _add_failures(self, numbers: list[int]) -> None:
        """A failed output in which no line reports an error says in its first words what went wrong."""
        errors = {
            number
            for (kind, form), number in self._numbers.items()
            if kind == "error" and form[:9] != "exit code"
        }
        found = np.concatenate(self._rows) if self._rows else np.zeros((0, 5), np.int64)
        reported = set(found[np.isin(found[:, 0], list(errors)), 1].tolist())
        rows: list[int] = []
        for number in numbers:
            if number not in reported:
                for start, end, form in find_failure(self._segments[number].text, 0):
                    fact = self._numbers.setdefault(("error", form), len(self._numbers))
                    rows += (fact, number, start, end, -1)
        self._rows.append(np.array(rows, np.int64).reshape(-1, 5))

    def finish(self) -> tuple[list[tuple[str, str]], Ints]:
        """The facts in the order they are first said, and int32[k,7]: the columns of their occurrences."""
        found = np.concatenate([np.array(self._named, np.int64).reshape(-1, 5), *self._rows])
        order = np.lexsort((-found[:, 4], found[:, 3], found[:, 2], found[:, 1], found[:, 0]))
        found = found[order]
        fresh = np.ones(len(found), bool)
        fresh[1:] = (found[1:, :4] != found[:-1, :4]).any(axis=1)
        found = found[fresh]
        first = np.full((len(self._numbers), 2), np.iinfo(np.int64).max)
        opens = np.flatnonzero(np.diff(found[:, 0], prepend=-1))
        first[found[opens, 0]] = found[opens, 1:3]
        keys = list(self._numbers)
        kinds = np.array([_KIND[kind] for kind, _ in keys], np.int64)
        ranked = np.lexsort((kinds, first[:, 1], first[:, 0])) if keys else np.zeros(0, np.int64)
        ranked = ranked[first[ranked, 0] < np.iinfo(np.int64).max]
        rank = np.full(len(keys), -1, np.int64)
        rank[ranked] = np.arange(len(ranked))
        places = np.array([(s.entry, s.block, _SPEAKER[s.sort]) for s in self._segments], np.int64).reshape(
            -1, 3
        )
        said = places[found[:, 1]]
        columns = np.column_stack((rank[found[:, 0]], said[:, :2], found[:, 2:4], said[:, 2], found[:, 4]))
        columns = columns[np.argsort(columns[:, 0], kind="stable")]
        return [keys[at] for at in ranked.tolist()], columns.astype(np.int32)


def _searches(text: str, sort: int) -> Iterator[tuple[str, Iterable[tuple[int, int, str]]]]:
    """What is looked for in a text of that sort, beside addresses and paths."""
    if sort != _LISTING:
        yield "symbol", find_symbols(text)
    yield "id", find_hashes(text)
    if sort in _WORDS or sort in _REPORTS:
        yield "id", find_issues(text)
        yield "number", find_numbers(text)
    if sort in _REPORTS or sort in (_USER, _SUMMARY):
        yield "error", find_errors(text)
    if sort in _REPORTS:
        yield "error", find_exit_codes(text)
    if sort in _WORDS:
        yield "symbol", find_ticked_symbols(text)
        yield "command", find_commands(text)
    if sort in _WORDS:
        yield "todo", find_todos(text)
    if sort == _CALL:
        hits = find_todos(text)
        yield "todo", ((start, end, restore(text[start:end])) for start, end, _ in hits)
    if sort in (_USER, _SUMMARY):
        yield "constraint", find_rules(text)
    if sort in (_USER, _MODEL, _SUMMARY):
        yield "decision", find_decisions(text)


def _without(text: str, spans: list[tuple[int, int, str]]) -> str:
    """The text with blanks in those places, so that nothing is found twice."""
    pieces, last = [], 0
    for start, end, _ in spans:
        pieces += [text[last:start], " " * (end - start)]
        last = end
    return "".join([*pieces, text[last:]]) if pieces else text
