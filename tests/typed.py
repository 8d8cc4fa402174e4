"""How well what people type is read: rules and choices against `tests/cases/facts/typed.jsonl`.

The labels are of typed messages, answers and refusals alone, of 17 transcripts of four harnesses. One line of
the file is one label: the first 16 digits of the SHA-256 of the transcript, the line of the row, which of the
stretches a person typed there (`part`), start and end in characters of that stretch, the half, the kind
(`rule` or `choice`), and how many of two annotators marked it (`marked`). The words stay in the transcripts.
Every message of these files was labelled whole, pasted logs too; `FILES` says which half a transcript is in.
A session is in one half only.

Two annotators read each half by the definition below, without the product, its patterns or each other's
labels. In the half for development they marked 79 and 83 rules, 74 of them both (agreement .94 / .89), and 54
and 63 choices, 50 of them both (.93 / .79); in the clean half 39 and 38 rules, 36 of them both, and the same
10 choices. Of what both marked the first one's span is the label. What one alone marked is kept, and counts
neither as missed nor, where it is found, as extra. Weak: whether a pick is also a rule, and whether a thought
aloud ("I would have thought that it …") is one, both read widely; the files of the half for development are
mostly of one team, whose words the patterns were made on.

**rule**: what a person wants always, never, or only so, and how a thing is to be; an order that says in what
manner or order it is to be carried out, or what is not to be done with it. A plain task is none, nor is a
question, a report of a fault, or what was pasted.
**choice**: what a person settles on, among options or on their own, with a reason or without; the answer to a
question. A bare "yes" is none, nor is a task.
One sentence may be both. The product gives a sentence one kind: a label of a sentence that is labelled as
both and found as the other kind does not count as missed.

A match: spans of one kind with an intersection over union of at least one half, each used once.

`typed_read.jsonl` is what a model marked that was asked as `ClaudeLabeller` asks: on 26 November 2026 a
Claude model was given the bodies of its requests for these transcripts, and its answers came back through the
product (they were handed over, as there was no key to call the API with). `score(half, read=True)` is the
score of a session with these labels. The annotators were such models too, and read the same definition: what
is measured is how far one agrees with two others, and whether the product loses any of it.

`python -m tests.typed [dev|clean] [-v]` prints the table per kind and per speaker; with -v what was missed
and what was extra in the half for development. The clean half is for the end: no words of it are kept, so
that neither this table nor a test that fails shows what is missed in it.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from inspector import Session
from inspector.errors import ReadError
from inspector.facts.facts import find_facts
from inspector.session.blocks import Text
from inspector.session.entries import Entry
from inspector.session.labels import TextLabels, hash_text
from inspector.session.speakers import find_speech
from tests.shared import SHARED, open_shared

LABELS = Path(__file__).parent / "cases" / "facts" / "typed.jsonl"
READ = LABELS.with_name("typed_read.jsonl")
HALVES = ("dev", "clean")
KINDS = {"rule": "constraint", "choice": "choice"}
_ENTIRE, _SYNC = "claude-code--entireio-cli/", "claude-code--git-sync/"
FILES = {
    "dev": (
        _ENTIRE + "cc-2auto-1519l.jsonl",
        _ENTIRE + "cc-3auto-compactions-893l.jsonl",
        _ENTIRE + "cc-auto+manual-1161l.jsonl",
        _ENTIRE + "cc-1auto-1micro.jsonl",
        "claude-code--context-evaluator/cc-1compact-2img.jsonl",
        "claude-code--context-evaluator/cc-1compact-417l.jsonl",
        "pi--pi-mono/pi-before-compaction.jsonl",
        "codex--agentv/codex-0compacted-b9.jsonl",
        # Four that were in the clean half until a first score of it was read.
        "growth-series--entireio-cli/step08-1350l.jsonl",
        _ENTIRE + "cc-image+compaction.jsonl",
        _ENTIRE + "cc-micro-only.jsonl",
        _ENTIRE + "cc-small-no-compaction.jsonl",
    ),
    "clean": (
        _SYNC + "cc-426k-ctx-1142l.jsonl",
        _SYNC + "cc-2.1.183-648l.jsonl",
        "claude-code--entire-sem/cc-2.1.210-1404l.jsonl",
        "codex--agentv/codex-3compacted-2302l.jsonl",
        "copilot-cli--agentv/copilot-b4.jsonl",
    ),
}


class Typed(NamedTuple):
    """A stretch a person typed: the line of its row, which stretch of that row, how it came, its words."""

    line: int
    part: int
    way: str
    text: str


class Label(NamedTuple):
    """A labelled stretch of typed words."""

    file: str
    line: int
    part: int
    start: int
    end: int
    kind: str
    half: str
    marked: int = 2
    """How many of the two annotators marked it."""


class Tally(NamedTuple):
    """Labelled, found and matched; for reading, in the half for development, what was missed and extra."""

    labelled: int
    found: int
    matched: int
    missed: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()

    @property
    def precision(self) -> float:
        return self.matched / self.found if self.found else float("nan")

    @property
    def recall(self) -> float:
        return self.matched / self.labelled if self.labelled else float("nan")


def hash_file(file: str) -> str:
    """What a label calls a transcript."""
    return sha256((SHARED / "sessions" / file).read_bytes()).hexdigest()[:16]


def read_labels(half: str | None = None, path: Path = LABELS) -> list[Label]:
    rows = (json.loads(line) for line in path.read_text("utf-8").splitlines())
    return [label for label in (Label(**row) for row in rows) if half in (None, label.half)]


@lru_cache
def read_typed(file: str) -> tuple[Typed, ...]:
    """What people typed in a transcript: by the rows for Codex and Copilot, else by the product's own reader.

    The labels of those two name the row of the prompt, beside which stands the one of what was sent. Raises
    `AssertionError` where the product takes other words for typed than the rows do.
    """
    session = open_shared(SHARED / "sessions" / file)
    rows = tuple(_read_rows((SHARED / "sessions" / file).read_text("utf-8")))
    found: list[Typed] = []
    for entry in session.entries:
        parts = [
            (span.way, block.text[span.start : span.end])
            for block in entry.blocks
            if entry.kind == "message" and entry.role in ("user", "tool") and hasattr(block, "text")
            for span in find_speech(entry, block)
            if span.speaker == "user" and span.way != "shell"
        ]
        found += [Typed(entry.sources[0].line, at, *part) for at, part in enumerate(parts)]
    if not rows:
        return tuple(found)
    assert [item.text.strip() for item in found] == [item.text.strip() for item in rows], file
    return rows


def _read_rows(text: str) -> Iterator[Typed]:
    """Prompts of Codex and of Copilot."""
    for number, line in enumerate(text.split("\n"), 1):
        try:
            row: Any = json.loads(line)
        except ValueError:
            continue
        payload = row.get("payload") or {}
        if row.get("type") == "event_msg" and payload.get("type") == "user_message":
            yield Typed(number, 0, "", payload.get("message") or "")
        elif row.get("type") == "user.message":
            yield Typed(number, 0, "", row["data"].get("content") or "")


def read_by_model(file: str) -> list[TextLabels]:
    """What a model that was asked marked in every text that a person typed in a transcript."""
    name = hash_file(file)
    mine = [label for label in read_labels(path=READ) if label.file == name]
    return [
        TextLabels(
            text=hash_text(item.text),
            by="claude",
            **{
                f"{kind}s": tuple(
                    (label.start, label.end)
                    for label in mine
                    if (label.line, label.part, label.kind) == (item.line, item.part, kind)
                )
                for kind in KINDS
            },
        )
        for item in read_typed(file)
    ]


def find_marks(file: str, read: bool = False) -> dict[str, list[tuple[int, int, int, int, str]]]:
    """By kind what the product finds a person to say: line, part, start, end, words. With `read`, in a
    session with the labels of a model that was asked."""
    typed = read_typed(file)
    entries = tuple(Entry(id=str(at), blocks=(Text(text=item.text),)) for at, item in enumerate(typed))
    chained = tuple(e.model_copy(update={"parent": str(at - 1)}) for at, e in enumerate(entries) if at)
    session = Session(format="typed", entries=(*entries[:1], *chained), leaf=str(len(entries) - 1))
    facts = find_facts(session.with_labels(read_by_model(file) if read else ()))
    return {
        name: [
            (item.line, item.part, said.start, said.end, item.text[said.start : said.end])
            for fact in facts.by_kind(kind)
            for said in fact.said
            if said.by == "user"
            for item in (typed[int(said.ref.entry)],)
        ]
        for name, kind in KINDS.items()
    }


def score(half: str, read: bool = False) -> dict[str, Tally]:
    """One tally per kind, over all transcripts of a half; with `read`, with the labels of a model.

    What one annotator alone marked counts neither as missed nor, where it is found, as extra.
    """
    labels = read_labels(half)
    tallies = {kind: Tally(0, 0, 0) for kind in KINDS}
    for file in FILES[half]:
        name, marks = hash_file(file), find_marks(file, read)
        words = {(item.line, item.part): item.text for item in read_typed(file)}
        for kind in KINDS:
            mine = [label for label in labels if label.file == name and label.kind == kind]
            agreed = [label for label in mine if label.marked > 1]
            pairs = _match(agreed, marks[kind])
            left = [mark for at, mark in enumerate(marks[kind]) if at not in pairs.values()]
            doubtful = _match([label for label in mine if label.marked < 2], left).values()
            extra = [mark for at, mark in enumerate(left) if at not in doubtful]
            missed = [label for at, label in enumerate(agreed) if at not in pairs]
            other = [label for label in labels if label.file == name and label.kind != kind and not read]
            others = [mark for each in KINDS if each != kind for mark in marks[each]]
            as_other = [label for label in missed if _is_both(label, other) and _match([label], others)]
            missed = [label for label in missed if label not in as_other]
            shown = half == "dev"
            old = tallies[kind]
            tallies[kind] = Tally(
                old.labelled + len(agreed) - len(as_other),
                old.found + len(pairs) + len(extra),
                old.matched + len(pairs),
                (
                    *old.missed,
                    *(
                        f"{file}:{label.line} {words[label.line, label.part][label.start : label.end]}"
                        for label in missed
                        if shown
                    ),
                ),
                (*old.extra, *(f"{file}:{mark[0]} {mark[4]}" for mark in extra if shown)),
            )
    return tallies


def _is_both(label: Label, others: list[Label]) -> bool:
    """Whether a sentence is labelled as the other kind too."""
    return any(_overlap(label, (o.line, o.part, o.start, o.end, "")) >= 0.5 for o in others)


def _match(labels: list[Label], marks: list[tuple[int, int, int, int, str]]) -> dict[int, int]:
    """By label the mark that is the same, each used once, those that share most first."""
    pairs = sorted(
        ((_overlap(label, mark), a, b) for a, label in enumerate(labels) for b, mark in enumerate(marks)),
        reverse=True,
    )
    found: dict[int, int] = {}
    for overlap, a, b in pairs:
        if overlap >= 0.5 and a not in found and b not in found.values():
            found[a] = b
    return found


def _overlap(label: Label, mark: tuple[int, int, int, int, str]) -> float:
    """Intersection over union of the two spans; 0 in different stretches."""
    line, part, start, end, _ = mark
    if (label.line, label.part) != (line, part):
        return 0.0
    shared = min(label.end, end) - max(label.start, start)
    return max(0, shared) / (max(label.end, end) - min(label.start, start))


def count_speakers(kind: str) -> Counter[str]:
    """Who says the facts of a kind in the Claude Code and pi files of both halves."""
    counts = Counter[str]()
    for file in (*FILES["dev"], *FILES["clean"]):
        try:
            facts = open_shared(SHARED / "sessions" / file).facts
        except ReadError:
            continue
        counts.update(said.by for fact in facts.by_kind(kind) for said in fact.said)
    return counts


def print_table(half: str, tallies: dict[str, Tally], slips: bool = False) -> None:
    print(f"{half}: {'said by the user':20} {'labelled':>8} {'found':>6} {'precision':>10} {'recall':>7}")
    for kind, tally in tallies.items():
        figures = f"{tally.labelled:8} {tally.found:6} {tally.precision:10.2f} {tally.recall:7.2f}"
        print(f"{'':{len(half) + 1}} {kind:20} {figures}")
        for name, several in (("missed", tally.missed), ("extra", tally.extra)) if slips else ():
            for slip in several:
                print(f"    {name}: {slip[:260]!r}")


def main(words: list[str]) -> None:
    for half in [word for word in words if word in HALVES] or HALVES:
        print_table(half, score(half), slips="-v" in words)
        print_table(f"{half}, read by a model", score(half, read=True), slips="-v" in words)
    for kind in ("constraint", "choice", "decision"):
        print(f"{kind}, said by: {dict(count_speakers(kind).most_common())}")


if __name__ == "__main__":
    if not SHARED.exists():
        sys.exit("The shared transcripts are not beside this checkout.")
    main(sys.argv[1:])
