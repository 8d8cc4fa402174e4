"""Find the facts of a session that a compaction should preserve, with every occurrence.

`find_facts` returns the `Facts` of a `Session`: file paths, commands, errors, symbols, addresses, ids,
numbers with a name, the user's rules, decisions and open to-dos. Arguments of tools and shell commands are
parsed first, then the text. Facts in recorded compaction summaries are separate, in `Facts.summaries`: a
summary repeats facts, and is not their source.

Occurrences are stored as columns; an `Occurrence` is built on access.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import EditError, check_stopped, expect
from ..faults import Fault, Faults
from ..mixins import Framed, Printable
from ..redaction.cut import cut_text, redact_long
from ..session.blocks import BlockRef
from ..session.garbage import paused_gc
from ..session.queries import is_earlier
from ..session.session import Session
from ..session.toolcalls.canonical_path import canonical_path
from ..session.toolcalls.core_command import core_command
from ..text import name_known, plural, printable, printed
from ..tokens.memo import Memory
from .essential import REASONS, Failure, find_essential, find_failures
from .extract.collect import BY, KIND, KINDS, OPERATIONS, OTHER_NAMES, FactOccurrences
from .extract.errors import tidy_error
from .extract.paths import PathFinder
from .extract.segments import SUMMARY, read_path
from .settled import CallsOfPath


class Occurrence(NamedTuple):
    """An occurrence of a fact.

    Attributes:
        ref: The block.
        start, end: The span in the block's text.
        by: The speaker: user, model, tool, summary, harness or agent.
        operation: What was done to a file or a command; None if it is only named.
    """

    ref: BlockRef
    start: int
    end: int
    by: str
    operation: str | None


@dataclass(frozen=True, eq=False)
class Fact(Printable):
    """A fact. `kind` is one of KINDS, `form` its normalised text of at most 400 characters.

    >>> from inspector import read_session
    >>> answer = {"role": "assistant", "content": "I read src/a.py."}
    >>> fact: Fact = read_session([{"role": "user", "content": "Read src/a.py."}, answer]).facts["src/a.py"]
    >>> fact, [(str(said.ref), said.by) for said in fact.said]
    (Fact(file 'src/a.py', said 2×), [('m1/0', 'user'), ('m2/0', 'model')])
    """

    kind: str
    form: str
    number: int
    facts: Facts

    @cached_property
    def said(self) -> tuple[Occurrence, ...]:
        """The occurrences in the order of the path, without those in compaction summaries."""
        start, end = self.facts.offset[self.number : self.number + 2].tolist()
        return tuple(self.facts.said(at) for at in range(start, end))

    @property
    def essential(self) -> str:
        """Why a person would miss it in the work that follows, such as "rule"; "" if not."""
        return REASONS[self.facts.reasons[self.number]]

    @property
    def operations(self) -> tuple[str, ...]:
        """The distinct operations on it, in the order of their first occurrence."""
        return tuple(dict.fromkeys(mention.operation for mention in self.said if mention.operation))

    def __len__(self) -> int:
        start, end = self.facts.offset[self.number : self.number + 2].tolist()
        return int(end - start)

    @printed
    def __repr__(self) -> str:
        did = f", {', '.join(self.operations)}" if self.operations else ""
        return f"Fact({self.kind} {cut_text(self.form, 80)!r}, said {len(self)}×{did})"


class Facts(Mapping[tuple[str, str], Fact], Framed):
    """The facts of a session, by (kind, form) or by form alone, in the order of their first occurrence.

    Columns over the k occurrences, by fact and then in the order of the path:

    fact       int32[k]    number of the fact
    entry      int32[k]    position in `session.entries`
    block      int32[k]    index of the block in its entry
    start, end int32[k]    characters of the block's text
    by         uint8[k]    index into BY
    operation  int8[k]     index into OPERATIONS, -1 for none
    offset     int32[f+1]  occurrences of fact i are offset[i] … offset[i+1]
    kind       uint8[f]    index into KINDS
    rank       uint8[f]    of a statement 0 for a bare "ok", 1 for any other, 2 and 3 for rules and choices

    `faults` lists the blocks and kinds of facts that an unexpected exception left out (`Fault`); it is empty
    unless this package has a defect.

    >>> from inspector import read_session
    >>> facts: Facts = read_session([{"role": "user", "content": "Never touch main.py."}]).facts
    >>> facts
    Facts(1 file, 1 constraint; said 2×)
    >>> facts["main.py"].kind, [fact.form for fact in facts.by_kind("constraint")]
    ('file', ['Never touch main.py.'])
    """

    def __init__(
        self,
        session: Session,
        occurrences: FactOccurrences,
        summaries: Facts | None = None,
        faults: Sequence[Fault] = (),
    ) -> None:
        expect("Facts", session=(session, Session), occurrences=(occurrences, FactOccurrences))
        self.session, self._summaries = session, summaries
        self.faults = tuple(faults)
        self.memory = Memory()
        self.cwd = session.cwd
        keys, self.rank, self.columns = occurrences.finish()
        self._keys: tuple[tuple[str, str], ...] = tuple(keys)
        self._numbers = {key: number for number, key in enumerate(self._keys)}
        self.fact, self.start, self.end, self.entry, self.block, self.by, self.operation = self.columns
        self.kind = np.array([KIND[kind] for kind, _ in self._keys], np.uint8)
        self.offset = np.searchsorted(self.fact, np.arange(len(self._keys) + 1)).astype(np.int32)

    @property
    def faults_note(self) -> str:
        """The number of blocks whose facts could not be read, in words; "" if there are no faults."""
        blocks = len({fault.place for fault in self.faults if fault.place})
        some = f"some facts of {plural(blocks, 'block')}" if blocks else "some facts"
        return f"{some} could not be read" if self.faults else ""

    @property
    def summaries(self) -> Facts:
        """The facts that the texts of recorded summaries state, with `by` "summary"; empty without one."""
        return self if self._summaries is None else self._summaries

    def __getitem__(self, key: str | tuple[str, str]) -> Fact:
        if isinstance(key, tuple):
            return self._fact(self._numbers[key])
        for form in spell_fact(key, self.cwd):
            for kind in KINDS:
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

    @cached_property
    def every(self) -> tuple[Fact, ...]:
        """Every fact, in the order in which they are first said."""
        return tuple(Fact(*key, number, self) for number, key in enumerate(self._keys))

    def by_kind(self, kind: str) -> tuple[Fact, ...]:
        """Return all facts of one kind, in the order they are first said. Raises `EditError` for another
        name than those of `KINDS`, or "rule" for a constraint."""
        every, code = self.every, find_kind(kind)
        return tuple(every[number] for number in np.flatnonzero(self.kind == code).tolist())

    def said(self, at: int) -> Occurrence:
        """One occurrence, by its place in the columns."""
        entry = self.session.entries[self.entry[at]]
        did = int(self.operation[at])
        return Occurrence(
            BlockRef(entry.id, int(self.block[at])),
            int(self.start[at]),
            int(self.end[at]),
            BY[self.by[at]],
            OPERATIONS[did] if did >= 0 else None,
        )

    def find_inside(self, entry: int, block: int, start: int, end: int) -> NDArray[np.intp]:
        """Return the places in the columns of the occurrences in a span of a block's text."""
        is_there = (self.entry == entry) & (self.block == block)
        return np.flatnonzero(is_there & (self.start >= start) & (self.end <= end))

    @cached_property
    def reasons(self) -> NDArray[np.uint8]:
        """uint8[f]: why each fact is essential at the end of the path, as an index into REASONS."""
        return self.find_reasons(self.session)

    def find_reasons(self, session: Session) -> NDArray[np.uint8]:
        """Return the same at another point in time of the file."""
        calls, failures = self.calls.at(session), self.find_failures(session)
        return find_essential(calls, self._keys, self.kind, self.columns, failures)

    @cached_property
    def calls(self) -> CallsOfPath:
        """The calls on the session's path."""
        return CallsOfPath(self.session)

    @cached_property
    def _failures(self) -> list[tuple[Failure, int]]:
        return find_failures(self.session, self.kind, self.columns)

    def find_failures(self, session: Session) -> list[Failure]:
        """Return the failing outputs on a path of the file whose calls did not succeed after them."""
        end, is_own = len(session.trail), is_earlier(session, self.session)
        failures = self._failures if is_own else find_failures(session, self.kind, self.columns)
        return [failure for failure, settled in failures if failure.at < end <= settled]

    @property
    def essential(self) -> NDArray[np.bool_]:
        """bool[f]: marks the facts needed for the following work; `Fact.essential` says why.

        >>> from inspector import read_session
        >>> facts = read_session([{"role": "user", "content": "Never touch main.py. It is old."}]).facts
        >>> [(fact.form, fact.essential) for fact in facts.values() if facts.essential[fact.number]]
        [('Never touch main.py.', 'rule')]
        """
        return self.reasons > 0

    @property
    def counts(self) -> dict[str, int]:
        """How many facts there are of each kind."""
        numbers = np.bincount(self.kind, minlength=len(KINDS)).tolist()
        return dict(zip(KINDS, numbers, strict=True))

    def to_columns(self) -> dict[str, list[Any]]:
        """Return a row per fact: kind, form, occurrences, first speaker and block, operations, and why it is
        essential, "" if it is not."""
        facts = list(self.values())
        firsts = [self.said(at) for at in self.offset[:-1].tolist()]
        return {
            "kind": [fact.kind for fact in facts],
            "form": [fact.form for fact in facts],
            "said": np.diff(self.offset).tolist(),
            "by": [first.by for first in firsts],
            "first": [str(first.ref) for first in firsts],
            "operations": [", ".join(fact.operations) for fact in facts],
            "essential": [REASONS[reason] for reason in self.reasons.tolist()],
        }

    def _fact(self, number: int) -> Fact:
        return Fact(*self._keys[number], number, self)

    def __repr__(self) -> str:
        words = [plural(n, kind) for kind, n in self.counts.items() if n]
        unread = f"; {note}" if (note := self.faults_note) else ""
        return f"Facts({', '.join(words) or 'none'}; said {len(self.fact)}×{unread})"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))


_PLACE = re.compile(r"(?<=\w)(?:\(\d+(?:, ?\d+)?\)|,? (?:at )?lines? \d+(?: ?[-–] ?\d+)?)$")
_ISSUE = re.compile(r"^(?:issue|pull request|PR|MR|ticket) #?(\d{1,7})$", re.IGNORECASE)


def spell_fact(text: str, cwd: str | None) -> tuple[str, ...]:
    """Return the forms that a text may have as a fact: as a path, a command's core, an error's line.

    >>> spell_fact("/app/a.py", "/app"), spell_fact("cd x && make 2>&1 | tail", None)
    (('/app/a.py', 'a.py'), ('cd x && make 2>&1 | tail', 'make'))
    >>> spell_fact("#12", "/app"), spell_fact("--depth", "/app")
    (('#12',), ('--depth',))
    >>> spell_fact("issue 12", None)[-1], spell_fact("`run()`", None)[-1]
    ('#12', 'run')
    """
    folded = " ".join(text.split())
    if not folded:
        return (text,)
    forms = [text, folded]
    # A form such as "#12" or "--depth" is not a path.
    if not folded.startswith(("#", "--")):
        forms[1:1] = [canonical_path(text, cwd)]
    if " " in folded:
        forms += [core_command(text), tidy_error(text)]
        forms += [f"#{match[1]}" for match in _ISSUE.finditer(folded)]
    # "`make_plan()`" asks for make_plan.
    if bare := folded.strip("`'\"*“”‘’").removesuffix("()"):
        forms.append(bare)
    return tuple(dict.fromkeys(forms))


def strip_place(text: str) -> str:
    """Remove a line number from the text of a query.

    >>> strip_place("cuts.py(12)"), strip_place("cuts.py, lines 3-9"), strip_place("line 9")
    ('cuts.py', 'cuts.py', 'line 9')
    """
    return _PLACE.sub("", text)


def find_kind(kind: str) -> int:
    """Return the code of a kind of facts by its name, which may be the screen's. Raises `EditError`.

    >>> find_kind("rule") == find_kind("constraint")
    True
    """
    name = OTHER_NAMES.get(kind, kind)
    if name not in KIND:
        raise EditError("kind", kind, f"no such kind of fact; {name_known(name, KINDS)}")
    return KIND[name]


SENTENCE_KINDS = ("constraint", "choice", "decision", "todo", "statement")
"""Kinds whose form is a sentence."""


def quote_form(kind: str, form: str, most: int) -> str:
    """Format a fact for a sentence about it, on one line of about `most` characters at the most.

    A form that is a sentence itself is put in quotation marks.

    >>> quote_form("constraint", "Never push\\nto main.", 40), quote_form("command", "git push origin", 12)
    ('“Never push to main.”', 'git push …')
    """
    words = " ".join(form.split())
    if len(words) > most:
        words = redact_long(words, most)
        words = (words[:most].rpartition(" ")[0].rstrip(",;:") or words[:most]) + " …"
    return printable(f"“{words}”" if kind in SENTENCE_KINDS else words)


def find_facts(session: Session) -> Facts:
    """Find the facts on the session's path, from its root to its leaf, in time linear in its text.

    The speaker of a fact is the author of the words (`session.speakers`): text of the harness or a sub-agent
    in a user message is theirs, and words with which a user refuses or answers a tool are the user's. A
    written file counts as created, or as edited if a tool used it before. A relative path after `cd` is
    relative to that directory, within one command. Sidechains and notes are excluded. If a typed text has
    labels (`Session.with_labels`), they replace the rules and choices found in it.

    >>> from inspector.demo import open_demo
    >>> facts = find_facts(open_demo())
    >>> facts.counts["file"] > 0
    True
    """
    finder = PathFinder(session.cwd)
    labels = {label.text: label for label in session.labels}
    faults = Faults()
    stated, restated = (
        FactOccurrences(labels if own else None, lambda i: session.entries[i].id, faults)
        for own in (True, False)
    )
    with paused_gc():  # many small objects, none of them garbage
        for segment, named in read_path(session, finder, faults):
            check_stopped()
            (restated if segment.sort == SUMMARY else stated).add(segment, named)
        for occurrences in (stated, restated):
            occurrences.search(finder)
        return Facts(session, stated, Facts(session, restated), faults)
