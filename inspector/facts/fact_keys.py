"""Find the facts that a text may name, without looking for each fact in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

import numpy as np

from ..session.session import Session
from .commits import is_commit
from .comparing import STATEMENTS, StatementIndex, find_codes, index_text
from .extract.collect import KIND, KINDS
from .indexed_text import SaidBefore, fold, similar_keys
from .language import OTHER_OF, find_language
from .mentions import longest_word
from .occurrences import Occurrences
from .questions import read_names
from .remaining import Remaining, TextIndex
from .things import find_near_keys, find_part_keys, read_telling_value

Table = dict[str, list[int]]
"""Numbers of facts by a word or another key."""
_NAME_WORDS = re.compile(r"[\w-]+")
_MAY_NAME = re.compile(r"[/\\@#_\d]|[:.-]\w|[a-z][A-Z]|[A-Z][A-Z][a-z]")
"""What a word has that is a path, an address, an id or an identifier of several parts."""
_LONGEST_NAME = 3
"""Words of the name of a number."""
_NUMBER, _SYMBOL, _STATEMENT = KIND["number"], KIND["symbol"], KIND["statement"]
_LETTERS = re.compile(r"[\W\d_]+")


class FactKeys:
    """Facts by what a text that names them holds: a word, the last part of a path, a folder.

    Args:
        occurrences: The facts.
        session: Their session, to read how each is written.
    """

    def __init__(self, result: Occurrences, session: Session) -> None:
        self.occurrences, self.session = result, session
        self._words, self._runs, self._folders, self._commits = Table(), Table(), Table(), Table()
        for number, kind in enumerate(result.kind.tolist()):
            self._add(number, kind)

    def _add(self, number: int, kind: int) -> None:
        form = self.occurrences.facts[number].form
        if kind == _SYMBOL and form.isidentifier() and form.isascii():
            self._words.setdefault(form, []).append(number)
            if is_commit(form):
                self._add_pattern(number)
            return
        if kind == _NUMBER:
            self._words.setdefault(longest_word(_LETTERS.sub(" ", form)), []).append(number)
        self._add_pattern(number)

    def _add_pattern(self, number: int) -> None:
        pattern = self.occurrences.pattern(number, self.session)
        if pattern.parts:
            self._runs.setdefault(pattern.parts[-1], []).append(number)
            if not pattern.is_file:
                self._folders.setdefault(pattern.parts[-1], []).append(number)
            return
        table = self._commits if pattern.commit else self._words
        for word in pattern.keys:
            table.setdefault(word, []).append(number)

    @cached_property
    def _statements(self) -> StatementIndex:
        facts, kinds = self.occurrences.facts, self.occurrences.kind.tolist()
        return StatementIndex({n: facts[n].form for n, kind in enumerate(kinds) if KINDS[kind] in STATEMENTS})

    @cached_property
    def _languages(self) -> dict[str, list[int]]:
        """Statements by language, as `find_language` tells it."""
        result: dict[str, list[int]] = {}
        for number in self._statements.numbers.tolist():
            result.setdefault(find_language(self.occurrences.facts[number].form), []).append(number)
        return result

    def _table(self, kinds: Iterable[str], find_keys: Callable[[str], Iterable[str]]) -> Table:
        """Return the facts of some kinds by the keys of their forms."""
        table: Table = {}
        for number in np.flatnonzero(np.isin(self.occurrences.kind, [KIND[kind] for kind in kinds])).tolist():
            for key in find_keys(self.occurrences.facts[number].form):
                table.setdefault(key, []).append(number)
        return table

    @cached_property
    def _near(self) -> Table:
        """Facts by name with one part left out: names that differ in that part share the key."""
        return self._table(("file", "url", "id", "symbol"), find_near_keys)

    @cached_property
    def _parts(self) -> Table:
        """Addresses, files and tests by each word that names a part of them."""
        return self._table(("file", "url", "symbol"), find_part_keys)

    @cached_property
    def _names(self) -> Table:
        """Statements by the names and codes in them, in a form that all spellings of a name share."""

        def find_keys(form: str) -> Iterator[str]:
            # No name has a blank, and most words cannot be one: their terms need not be read.
            names = (name for word in form.split() if _MAY_NAME.search(word) for name in read_names(word))
            found = (*names, *(f"w:{code}" for code in find_codes(form)))
            return (key for name in dict.fromkeys(found) for key in similar_keys(name))

        return self._table(STATEMENTS, find_keys)

    @cached_property
    def _slots(self) -> Table:
        """Named numbers by their name without separators."""

        def find_keys(form: str) -> list[str]:
            name, equals, _ = form.partition(" = ")
            return [fold(name.replace(" ", ""))] if equals else []

        return self._table(("number",), find_keys)

    @cached_property
    def _figures(self) -> Table:
        """Named numbers by their value, if the value alone identifies them."""
        return self._table(
            ("number",), lambda form: similar_keys(figure) if (figure := read_telling_value(form)) else ()
        )

    def held_by(self, index: TextIndex) -> set[int]:
        """Return the facts that these texts may name: a word that every mention of them has is in a text.

        `TextIndex.may_name` is the reverse: the texts that may name a fact.
        """
        matching = set(self._words.get("", ()))
        for facts, texts in (
            (self._words, index.words),
            (self._runs, index.runs),
            (self._folders, index.folder_names),
            (self._commits, index.commits),
        ):
            few, many = (facts, texts) if len(facts) < len(texts) else (texts, facts)
            matching.update(number for key in few if key in many for number in facts[key])
        return matching

    def find_readable(self, before: Remaining) -> set[int]:
        """Return the facts that a replacing text or prose may have in full; of plain sentences its words."""
        result = self.held_by(before.prose) | self.held_by(before.other_index)
        for stand in before.others:
            if stand.how == "summary":
                near = {*self._statements.find_near(index_text(stand.text)), *self._find_foreign(stand.text)}
                result.update(number for number in near if self.occurrences.kind[number] != _STATEMENT)
        return result

    def find_candidates(self, after: Remaining, is_said: SaidBefore) -> set[int]:
        """Return the facts that a replacing text, such as a summary, may name, in part too, or change."""
        result = self.held_by(after.other_index)
        for stand in after.others:
            if stand.how in ("summary", "notice"):
                result.update(self._statements.find_near(index_text(stand.text)))
                result.update(self._find_foreign(stand.text))
                result.update(self._find_paths(stand.text))
                result.update(self._find_parts(stand.text))
                if not stand.placeholder:
                    result.update(self._find_near(is_said.find_unsaid(index_text(stand.text))))
        return result

    def _find_foreign(self, text: str) -> Iterable[int]:
        """The statements of which a text is in another language."""
        return self._languages.get(OTHER_OF.get(find_language(text), ""), ())

    def _find_paths(self, text: str) -> Iterator[int]:
        """The files with the last part of a path in a text, whatever marks are around it."""
        for value in index_text(text).values:
            if value[:2] == "p:":
                yield from self._runs.get(value.rpartition("/")[2].removeprefix("p:"), ())

    def _find_parts(self, text: str) -> Iterator[int]:
        """The things of which a text names a part, and the statements of which it holds a name."""
        words = _NAME_WORDS.findall(text)
        for word in dict.fromkeys(words):
            yield from self._parts.get(word, ())
        for run in range(1, _LONGEST_NAME + 1):
            for parts in zip(*(words[at:] for at in range(run)), strict=False):
                yield from self._slots.get(fold("".join(parts)), ())
        for value in index_text(text).values:
            for key in similar_keys(value):
                yield from self._names.get(key, ())
                yield from self._figures.get(key, ())

    def _find_near(self, values: Iterable[str]) -> Iterator[int]:
        keys = {key for value in values for key in find_near_keys(value[2:])}
        return (number for key in keys for number in self._near.get(key, ()))
