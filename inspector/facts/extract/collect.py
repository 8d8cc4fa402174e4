"""Find the facts in texts, as columns. Every fact is numbered once.

Texts of one sort are joined into texts of about a million characters, so that each pattern runs only a few
times.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import cache, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import check_stopped
from ...faults import Fault, Faults
from ...session.blocks import BlockRef
from ...session.labels import TextLabels, hash_text
from ...session.toolcalls.arguments import Named
from ...session.toolcalls.canonical_path import LONGEST
from ...session.toolcalls.core_command import core_command
from ...session.toolcalls.positions import blank_escapes, restore
from . import segments as sorts
from .commands import find_commands
from .decisions import DECISION_WORDS, find_decisions
from .errors import (
    ERROR_WORDS,
    EXIT_WORDS,
    find_errors,
    find_exit_codes,
    find_failure,
)
from .ids import find_hashes, find_issues, find_urls
from .numbers import find_flags, find_numbers
from .paths import PATH_WORDS, PathFinder
from .segments import TextSegment
from .statements import CHOICE, CONSTRAINT, STATEMENT, MarkedSentence, find_rules, find_statements
from .symbols import SYMBOL_WORDS, find_calls, find_symbols, find_ticked_symbols
from .todos import TODO_MARKS, find_tasks, find_todos
from .typed import Hit
from .word_places import Places, WordTable

KINDS = (
    *("file", "command", "error", "symbol", "url", "id", "number"),
    *("constraint", "choice", "decision", "todo", "statement"),
)
BY = ("user", "model", "tool", "summary", "harness", "agent")
OPERATIONS = ("read", "created", "edited", "deleted", "listed", "ran")
KIND = {kind: code for code, kind in enumerate(KINDS)}
OTHER_NAMES = {"rule": "constraint", "message": "statement"}
"""Names of kinds on the screen, and in older scripts."""
_OPERATION: dict[str | None, int] = {None: -1, **{name: code for code, name in enumerate(OPERATIONS)}}
_BATCH = 1_000_000
_BREAK = "\n\x1f\n"  # between two joined texts: no match spans it

Ints = NDArray[np.int32]
Isolate = Callable[[str], AbstractContextManager[None, bool | None]]
"""Return the context manager for a search of one kind of fact, such as `Faults.isolate`."""
_SPEAKER = (0, 1, 1, 2, 2, 2, 2, 4, 3, 5, 2)
_NEVER = np.iinfo(np.int64).max


_END = 500_000
"""Characters at each end of a typed text of more than twice as many that are searched for sentences."""
_PROSE = ("constraint", "decision", "todo")
_LEAD = re.compile(r"^[\s,;:.)\]|>~]+(?=[\w\"'`*(\[])")
_CLOSES = re.compile(r"(?<=[^\s*`])(?:\*\*|`)(?=[\s.,;:)!?]|$)")
_WORDS = (sorts.TYPED, sorts.ANSWERED, sorts.HARNESS, sorts.SUMMARY, sorts.AGENT)
_REPORTS = (sorts.REPORT, sorts.FAILED)


@cache
def _table() -> WordTable:
    return WordTable((*SYMBOL_WORDS, *PATH_WORDS, *TODO_MARKS, *ERROR_WORDS, *EXIT_WORDS, *DECISION_WORDS))


class OccurrenceColumns(NamedTuple):
    """The occurrences of facts, by fact and then in the order of the path: see `Facts`."""

    fact: Ints
    start: Ints
    end: Ints
    entry: Ints
    block: Ints
    by: NDArray[np.uint8]
    operation: NDArray[np.int8]


class _Numbers(dict[str, int]):
    """The numbers of one kind's facts, by form. A new form gets the next number of all kinds."""

    def __init__(self, kind: str, keys: list[tuple[str, str]]) -> None:
        self._kind, self._keys = kind, keys

    def __missing__(self, form: str) -> int:
        number = self[form] = len(self._keys)
        self._keys.append((self._kind, form))
        return number


class FactOccurrences:
    """Collect the occurrences of facts and number the facts.

    Args:
        labels: Rules and choices that a reader marked in typed texts, by the hash of the text.
        entry_ids: Entry ids by position, to name the block of a fault.
        faults: Records the blocks whose facts of one kind cannot be read.
    """

    def __init__(
        self,
        labels: Mapping[str, TextLabels] | None = None,
        entry_ids: Callable[[int], str] = str,
        faults: Faults | None = None,
    ) -> None:
        self._labels = labels or {}
        self._entry_ids = entry_ids
        self._faults = Faults() if faults is None else faults
        self._ranks: dict[int, int] = {}
        self._keys: list[tuple[str, str]] = []
        self._numbers = {kind: _Numbers(kind, self._keys) for kind in KINDS}
        self._segments: list[TextSegment] = []
        self._rows: list[Ints] = []
        self._named = array("i")
        self._unsaid: list[int] = []

    def add(self, segment: TextSegment, named: Iterable[Named]) -> None:
        """Add a text to search later, and the names already found in it."""
        number = len(self._segments)
        self._segments.append(segment)
        typed = bool(self._labels) and segment.sort == sorts.TYPED
        labelled = typed and hash_text(segment.text) in self._labels
        for kind, form, start, end, operation in named:
            if 0 < len(form) <= LONGEST:
                # An answer is a choice as a whole, unless labels name the choices in it.
                fact = self._numbers[STATEMENT if labelled and kind == CHOICE else kind][form]
                self._named.extend((fact, number, start, end, _OPERATION[operation]))

    def _add_statements(self) -> None:
        """Add every sentence that a person typed. Labels of a text replace the marks of its sentences."""
        rows: list[int] = []
        for number, segment in enumerate(self._segments):
            if segment.sort != sorts.TYPED or segment.way == "shell":
                continue
            check_stopped()
            labels = self._labels.get(hash_text(segment.text)) if self._labels else None
            if len(segment.text) > 2 * _END:
                limit = f"its first and last {_END:,} of {len(segment.text):,} characters are read"
                self._faults.append(Fault("statement", self._name_block(number), limit))
            with self._faults.isolate("statement", self._name_block(number)):
                for start, end, form, kind, rank in _find_marked(segment, labels):
                    fact = self._numbers[kind][form]
                    self._ranks[fact] = max(rank, self._ranks.get(fact, 0))
                    rows += (fact, number, segment.at + start, segment.at + end, -1)
        self._rows.append(np.array(rows, np.int32).reshape(-1, 5))

    def name(self, kind: str, form: str) -> None:
        """Add a fact that occurs in no text."""
        self._unsaid.append(self._numbers[kind][form])

    def search(self, finder: PathFinder) -> None:
        """Search all texts. Texts of the same sort and directory are joined."""
        groups: dict[tuple[int, str], list[int]] = {}
        for number, segment in enumerate(self._segments):
            groups.setdefault((segment.sort, segment.base or ""), []).append(number)
        for group in sorted(groups):
            batch: list[int] = []
            size = 0
            for number in groups[group]:
                batch.append(number)
                size += len(self._segments[number].text)
                if size > _BATCH:
                    self._search(batch, group, finder)
                    batch, size = [], 0
            self._search(batch, group, finder)
        self._add_statements()
        self._add_failures([at for at, segment in enumerate(self._segments) if segment.sort == sorts.FAILED])

    def _search(self, numbers: list[int], group: tuple[int, str], finder: PathFinder) -> None:
        """Search some texts of one sort. If that fails, search each half, down to one kind in one text."""
        if not numbers:
            return
        with Faults().isolate("facts"):
            self._rows.append(self._find_rows(numbers, group, finder, lambda _: nullcontext()))
            return
        if len(numbers) > 1:
            middle = len(numbers) // 2
            self._search(numbers[:middle], group, finder)
            self._search(numbers[middle:], group, finder)
        else:
            place = self._name_block(numbers[0])
            isolate = partial(self._faults.isolate, place=place)
            self._rows.append(self._find_rows(numbers, group, finder, isolate))

    def _name_block(self, number: int) -> str:
        segment = self._segments[number]
        return str(BlockRef(self._entry_ids(segment.entry), segment.block))

    def _find_rows(
        self, numbers: list[int], group: tuple[int, str], finder: PathFinder, isolate: Isolate
    ) -> Ints:
        """Join some texts and return the rows (fact, text, start, end, operation) found in them."""
        sort, base = group
        texts = [self._segments[number].text for number in numbers]
        text = _BREAK.join(texts)
        begins = np.zeros(len(texts), np.int64)
        np.cumsum([len(item) + len(_BREAK) for item in texts[:-1]], out=begins[1:])
        rows = [np.zeros((4, 0), np.int64)]
        with isolate("facts"):
            self._look(rows, text, sort, base, finder, isolate)
        fact, start, end, operation = np.concatenate(rows, 1)
        which = np.searchsorted(begins, start, "right") - 1
        whole = end <= begins[which] + np.array([len(item) for item in texts])[which]
        ahead = np.array([self._segments[number].at for number in numbers], np.int64)[which] - begins[which]
        places = np.column_stack((fact, np.array(numbers)[which], start + ahead, end + ahead, operation))
        rows_found: Ints = places[whole].astype(np.int32)
        return rows_found

    def _look(
        self,
        rows: list[NDArray[np.int64]],
        text: str,
        sort: int,
        base: str,
        finder: PathFinder,
        isolate: Isolate,
    ) -> None:
        """Search a text for every kind of fact that its sort may hold, except what a person states."""
        urls: list[Hit] = []
        with isolate("url"):
            urls = list(find_urls(text))
            self._note(rows, "url", urls)
        bare = _without(text, urls)
        bare = bare if finder.windows else blank_escapes(bare)
        listed = _OPERATION["listed"] if sort == sorts.LISTING else -1
        places = _table().find(bare)
        with isolate("file"):
            if sort != sorts.PAGE:
                self._note(rows, "file", finder.find(bare, base or None, places), listed)
        with isolate("symbol"):
            self._note(rows, "symbol", find_symbols(bare, places))
        for kind, hits in _searches(text, bare, places, sort, finder):
            check_stopped()
            with isolate(kind):
                self._note(rows, kind, hits)

    def _note(
        self, rows: list[NDArray[np.int64]], kind: str, hits: Iterable[Hit], operation: int = -1
    ) -> None:
        if kind in _PROSE:
            hits = ((start, end, _whole(form)) for start, end, form in hits)
        if valid := [hit for hit in hits if 0 < len(hit[2]) <= LONGEST]:
            starts, ends, forms = zip(*valid, strict=True)
            facts = [*map(self._numbers[kind].__getitem__, forms)]
            rows.append(np.array((facts, starts, ends, [operation] * len(valid)), np.int64))

    def _add_failures(self, numbers: list[int]) -> None:
        """Add the first words of failed outputs in which no error was found as their errors."""
        is_error = np.zeros(len(self._keys), bool)
        is_error[[at for form, at in self._numbers["error"].items() if form[:9] != "exit code"]] = True
        found_rows = np.concatenate(self._rows) if self._rows else np.zeros((0, 5), np.int32)
        reported = set(found_rows[is_error[found_rows[:, 0]], 1].tolist())
        rows: list[int] = []
        for number in numbers:
            if number not in reported:
                with self._faults.isolate("error", self._name_block(number)):
                    for start, end, form in find_failure(self._segments[number].text, 0):
                        rows += (self._numbers["error"][form], number, start, end, -1)
        self._rows.append(np.array(rows, np.int32).reshape(-1, 5))

    def finish(self) -> tuple[list[tuple[str, str]], NDArray[np.uint8], OccurrenceColumns]:
        """Return the facts in the order of their first occurrence, their ranks, and all occurrences."""
        rows = [np.array(self._named, np.int32).reshape(-1, 5), *self._rows]
        table = np.concatenate([part.T for part in rows], 1)
        fact, segment, start = table[:3]
        first = np.full(len(self._keys), _NEVER)
        np.minimum.at(first, fact, segment.astype(np.int64) << 32 | start)
        kinds = np.array([KIND[kind] for kind, _ in self._keys], np.uint8)
        used = first != _NEVER
        used[self._unsaid] = True
        ranked = np.lexsort((kinds, first))
        ranked = ranked[used[ranked]]
        numbers = np.empty(len(first), np.int32)
        numbers[ranked] = np.arange(len(ranked))
        table[0] = numbers[fact]
        table = np.take(table, _order(table), 1)
        fresh = np.ones(table.shape[1], bool)
        fresh[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in table[:4]])
        table = table if fresh.all() else np.take(table, np.flatnonzero(fresh), 1)
        fact, segment, start, end, operation = table
        count = len(self._segments)
        entry, block = (
            np.fromiter((place[at] for place in self._segments), np.int32, count)[segment] for at in range(2)
        )
        by = np.fromiter((_SPEAKER[sort] for _, _, _, sort, *_ in self._segments), np.uint8, count)[segment]
        keys = [self._keys[at] for at in ranked.tolist()]
        columns = OccurrenceColumns(
            fact.copy(), start.copy(), end.copy(), entry, block, by, operation.astype(np.int8)
        )
        ranks = np.ones(len(self._keys), np.uint8)
        ranks[list(self._ranks)] = list(self._ranks.values())
        return keys, ranks[ranked], columns


def _order(table: Ints) -> NDArray[np.int64]:
    """Return the order by fact, text and offset; at the same offset an operation comes first."""
    fact, segment, start, end, operation = table
    bits = [int(column.max(initial=0)).bit_length() for column in (segment, start)]
    if int(fact.max(initial=0)).bit_length() + sum(bits) > 63:
        return np.lexsort((-operation, end, start, segment, fact))
    # One number sorts several times as fast.
    keys = (fact.astype(np.int64) << bits[0] | segment) << bits[1] | start
    order = np.argsort(keys)
    same = np.diff(keys[order]) == 0
    tied = np.flatnonzero(np.append(same, False) | np.insert(same, 0, False))
    rows = order[tied]
    order[tied] = rows[np.lexsort((-operation[rows], end[rows], keys[rows]))]
    return order


def _searches(
    whole: str, text: str, places: Places, sort: int, finder: PathFinder
) -> Iterator[tuple[str, Iterable[tuple[int, int, str]]]]:
    """Yield the searches for a text of that sort, except addresses and paths.

    In `text` addresses are blanked; `whole` is the same text with them.
    """
    yield "symbol", find_calls(text)
    if sort not in (sorts.LISTING, sorts.PAGE):
        yield "todo", _restored(text, find_todos(text, places), sort)
    yield "id", find_hashes(text, uuids=sort in _WORDS or sort == sorts.CALLED)
    if sort in _WORDS or sort in _REPORTS:
        yield "id", find_issues(text)
    yield "number", find_numbers(text)
    if sort in _WORDS or sort in _REPORTS or sort in (sorts.CALLED, sorts.PAGE):
        yield "number", find_flags(text)
        yield "symbol", find_ticked_symbols(text)
    if sort in _REPORTS or sort in (sorts.TYPED, sorts.SUMMARY):
        yield "error", find_errors(text, places)
    if sort in _REPORTS:
        yield "error", find_exit_codes(text, places)
    if sort in _WORDS or sort == sorts.CALLED:
        named = _restored(whole, find_commands(whole, finder.programs), sort)
        yield "command", ((start, end, core_command(form)) for start, end, form in named)
    if sort in (sorts.HARNESS, sorts.SUMMARY):
        yield CONSTRAINT, find_rules(text)
    if sort in (sorts.ANSWERED, sorts.SUMMARY):
        yield "decision", find_decisions(text, places)
    if sort in (sorts.TYPED, sorts.ANSWERED, sorts.SUMMARY):
        yield "todo", find_tasks(text)


def _find_marked(segment: TextSegment, labels: TextLabels | None) -> Iterator[MarkedSentence]:
    """Yield the sentences of a typed text, and the rules and choices that labels name in it."""
    text, spans = segment.text, {} if labels is None else {CONSTRAINT: labels.rules, CHOICE: labels.choices}
    marked = [(kind, start, end) for kind in spans for start, end in spans[kind]]
    for kind, start, end in marked:
        form = _whole(" ".join(text[start:end].split()))[:LONGEST].rstrip()
        if form and end <= len(text):  # a span that ends behind the text belongs to another one
            yield MarkedSentence(start, end, form, kind, 2)
    for statement in _find_at_ends(text) if segment.way != "answer" else ():
        form = _whole(statement.form)
        if form and not any(start < statement.end and statement.start < end for _, start, end in marked):
            yield statement._replace(form=form, kind=statement.kind if labels is None else STATEMENT)


def _find_at_ends(text: str) -> Iterator[MarkedSentence]:
    """Yield the sentences of a text; of a very long one, which no person typed, those at its two ends."""
    if len(text) <= 2 * _END:
        yield from find_statements(text)
        return
    yield from find_statements(text[:_END].rpartition("\n")[0] or text[:_END])
    begin = text.find("\n", len(text) - _END) + 1 or len(text) - _END
    for statement in find_statements(text[begin:]):
        yield statement._replace(start=statement.start + begin, end=statement.end + begin)


def _whole(form: str) -> str:
    """Strip a leading comma and unpaired Markdown marks from a sentence.

    >>> _whole(", keep it"), _whole("Fix**: remove `a`"), _whole("instead of `")
    ('keep it', 'Fix: remove `a`', 'instead of')
    """
    form = _LEAD.sub("", form)
    for mark in ("**", "`"):
        at = form.find(mark)
        if at >= 0 and _CLOSES.match(form, at):  # the first mark closes one before the sentence
            form = form[:at] + form[at + len(mark) :]
        if form.count(mark) % 2:
            at = form.rfind(mark)
            form = (form[:at] + form[at + len(mark) :]).rstrip()
    return form


def _restored(text: str, hits: Iterable[Hit], sort: int) -> Iterable[Hit]:
    """Undo the escapes of matches in the text of a call."""
    return (
        ((start, end, restore(text[start:end])) for start, end, _ in hits) if sort == sorts.CALLED else hits
    )


def _without(text: str, spans: list[tuple[int, int, str]]) -> str:
    """Replace the spans by blanks, so that no other search matches in them."""
    pieces, last = [], 0
    for start, end, _ in sorted(spans):
        if start < last:
            continue
        pieces += [text[last:start], " " * (end - start)]
        last = end
    return "".join([*pieces, text[last:]]) if pieces else text
