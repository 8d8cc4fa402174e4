"""How well facts are found: precision and recall per kind against `tests/cases/facts/labels.jsonl`.

How a match is decided, per window and kind, each label with at most one occurrence and each occurrence with
at most one label, the pairs of greatest overlap first:

- An occurrence counts when it lies wholly inside the window. What crosses the window's edge is neither right
  nor wrong.
- file, url, id: the two spans share a character and the canonical forms are equal. Paths are compared as
  what they point at from the session's working directory, URLs without a `:line:column` behind a script's
  name and without a closing slash, ids without case and without what stands before `#`.
- the other kinds: intersection over union of the two spans is at least one half. Their form is not judged.

Precision is matched / found, recall matched / labelled. The operation of a file is judged apart: of the
matched files whose label names one, how many have the same.

`python -m tests.labelled [dev|held] [-v]` prints the table; with -v what was missed and what was extra too,
in the half for development: of the other no words are kept.
"""

from __future__ import annotations

import json
import posixpath
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from inspector import Session
from inspector.facts import Fact
from tests.shared import SHARED, open_shared

LABELS = Path(__file__).parent / "cases" / "facts" / "labels.jsonl"
HALVES = ("dev", "held")
KINDS = ("file", "command", "error", "url", "symbol", "id", "number", "constraint", "decision", "todo")
BY_FORM = ("file", "url", "id")
AS_LABELLED = {"choice": "decision"}
"""Kinds that were one when these labels were made."""


class Mark(NamedTuple):
    """One labelled fact, or one found occurrence: a span of a block's text."""

    kind: str
    start: int
    end: int
    form: str = ""
    operation: str | None = None


class Window(NamedTuple):
    """A stretch of one block in which everything is labelled."""

    file: str
    entry: str
    block: int
    start: int
    end: int
    half: str
    facts: tuple[Mark, ...]


class Slip(NamedTuple):
    """A label that nothing matched, or an occurrence that matched nothing, for reading."""

    where: str
    mark: Mark
    text: str


@dataclass
class Score:
    """The tally of one kind."""

    labelled: int = 0
    found: int = 0
    matched: int = 0
    operations: int = 0
    operations_right: int = 0
    misses: list[Slip] = field(default_factory=list)
    extras: list[Slip] = field(default_factory=list)

    @property
    def precision(self) -> float:
        return self.matched / self.found if self.found else float("nan")

    @property
    def recall(self) -> float:
        return self.matched / self.labelled if self.labelled else float("nan")


def read_labels(half: str | None = None) -> list[Window]:
    """The windows of one half, or of both."""
    rows = (json.loads(line) for line in LABELS.read_text("utf-8").splitlines())
    windows = [Window(**{**row, "facts": tuple(Mark(**fact) for fact in row["facts"])}) for row in rows]
    return [window for window in windows if half in (None, window.half)]


def score(find: Callable[[Session], Iterable[Any]], half: str | None = None) -> dict[str, Score]:
    """One tally per kind.

    `find` gives facts, or a mapping of them, with `kind`, `form` and `said` (ref, start, end, operation).
    A test that calls this carries `needs_shared`: the transcripts lie beside the checkout.
    """
    scores = {kind: Score() for kind in KINDS}
    grouped: dict[str, list[Window]] = {}
    for window in read_labels(half):
        grouped.setdefault(window.file, []).append(window)
    for file, windows in grouped.items():
        session = _open(file)
        found = dict(_by_block(find(session)))
        for window in windows:
            here = [
                mark
                for mark in found.get(f"{window.entry}/{window.block}", ())
                if window.start <= mark.start and mark.end <= window.end
            ]
            text = session[window.entry].blocks[window.block].text
            for kind, tally in scores.items():
                _tally(tally, kind, window, here, text, session.cwd)
    return scores


def _open(file: str) -> Session:
    return open_shared(SHARED / "sessions" / file)


def _by_block(facts: Iterable[Any]) -> Iterator[tuple[str, list[Mark]]]:
    blocks: dict[str, list[Mark]] = {}
    for fact in facts.values() if isinstance(facts, Mapping) else facts:
        for said in fact.said:
            mark = Mark(
                AS_LABELLED.get(fact.kind, str(fact.kind)), said.start, said.end, fact.form, said.operation
            )
            blocks.setdefault(str(said.ref), []).append(mark)
    yield from blocks.items()


def _tally(tally: Score, kind: str, window: Window, here: list[Mark], text: str, cwd: str | None) -> None:
    labels = [mark for mark in window.facts if mark.kind == kind]
    found = [mark for mark in here if mark.kind == kind]
    pairs = sorted(
        ((_overlap(label, mark), -a, -b) for a, label in enumerate(labels) for b, mark in enumerate(found)),
        reverse=True,
    )
    taken_labels: set[int] = set()
    taken_found: set[int] = set()
    for overlap, a, b in pairs:
        label, mark = labels[-a], found[-b]
        if -a in taken_labels or -b in taken_found or not _matches(label, mark, overlap, cwd):
            continue
        taken_labels.add(-a)
        taken_found.add(-b)
        if label.operation:
            tally.operations += 1
            tally.operations_right += label.operation == mark.operation
    tally.labelled += len(labels)
    tally.found += len(found)
    tally.matched += len(taken_labels)
    if window.half != "dev":
        return
    where = f"{window.file} {window.entry}/{window.block}"
    for marks, taken, slips in (
        (labels, taken_labels, tally.misses),
        (found, taken_found, tally.extras),
    ):
        slips += [
            Slip(where, mark, text[mark.start : mark.end]) for n, mark in enumerate(marks) if n not in taken
        ]


def _overlap(one: Mark, other: Mark) -> float:
    """Intersection over union of the two spans."""
    shared = min(one.end, other.end) - max(one.start, other.start)
    return max(0, shared) / (max(one.end, other.end) - min(one.start, other.start) or 1)


def _matches(label: Mark, mark: Mark, overlap: float, cwd: str | None) -> bool:
    if label.kind not in BY_FORM:
        return overlap >= 0.5
    return overlap > 0 and _plain(label, cwd) == _plain(mark, cwd)


def _plain(mark: Mark, cwd: str | None) -> str:
    if mark.kind == "id":
        return mark.form.rpartition("#")[2].casefold()
    if mark.kind == "url":
        return re.sub(r"(\.\w+)(?::\d+){1,2}$", r"\1", mark.form).rstrip("/")
    form = mark.form if mark.form.startswith("~") else posixpath.join(cwd or "", mark.form)
    return posixpath.normpath(form)


def print_table(scores: dict[str, Score], slips: bool = False) -> None:
    """The tallies as text, a line per kind."""
    print(f"{'':10} {'labelled':>8} {'found':>6} {'matched':>8} {'precision':>10} {'recall':>7}")
    for kind, tally in scores.items():
        figures = f"{tally.labelled:8} {tally.found:6} {tally.matched:8}"
        print(f"{kind:10} {figures} {tally.precision:10.3f} {tally.recall:7.3f}")
    files = scores["file"]
    print(f"operations of files: {files.operations_right} of {files.operations} right")
    for kind, tally in scores.items() if slips else ():
        for name, several in (("missed", tally.misses), ("extra", tally.extras)):
            for slip in several:
                mark = slip.mark
                print(f"{kind} {name}: {slip.where} {mark.start}-{mark.end} {slip.text[:100]!r} {mark.form}")


def find_all(session: Session) -> list[Fact]:
    """Every fact of a session, of its recorded summaries too: windows lie in both."""
    facts = session.facts
    return [*facts.values(), *facts.summaries.values()]


def main(words: list[str]) -> None:
    halves = [word for word in words if word in HALVES]
    for half in halves or HALVES:
        print(half)
        print_table(score(find_all, half), slips="-v" in words)


if __name__ == "__main__":
    if not SHARED.exists():
        sys.exit("The shared transcripts are not beside this checkout.")
    main(sys.argv[1:])
