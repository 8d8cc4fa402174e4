"""The text beside a story, with the words in it that come nearest to the fact marked."""

from __future__ import annotations

import re

from ...facts.facts import Fact
from ...facts.lint.check import CHANGED, known
from ...facts.nearest import NearSpan, find_spans
from ...facts.outcomes import TRAITS
from ...facts.traced import TracedFact
from ...redaction.cut import cut_text
from ...session.entries import Entry
from ...session.queries import is_sealed, readable_text
from ...text import printable, utf16_length
from ..model import WorkbenchModel
from .base_payload import Payload
from .fact_teller import Teller, Told
from .findings import Recorded
from .sections import format_tokens
from .summaries import count_changed_files

MOST_LINES = 240
SEALED = "The summary cannot be read; guessed from what follows."
MISSING = "The file records no summary of it; guessed from what follows."
FAR = TRAITS["absent"].sentence
_DEFINED = re.compile(r"\b(?:def|class|function|func|fn|struct|interface|enum|trait)\s+([A-Za-z_]\w{4,60})")
MOST_DEFINED = 40_000
"""Characters of a block that are searched for what it defines."""


class StoryMark(Payload, frozen=True):
    """Characters of a line that come near, in UTF-16 units; `near` is their place in the list of these."""

    start: int
    end: int
    near: int


class StoryLine(Payload, frozen=True):
    """A line of a text, with what is marked in it."""

    text: str
    head: bool
    marks: list[StoryMark]


class StoryNear(Payload, frozen=True):
    """What comes near: the words, what they are of the fact, and the line they stand in."""

    words: str
    how: str
    line: int


class StoryText(Payload, frozen=True):
    """A text beside the story; `sentence` is said below it, `more` lines are not here."""

    title: str
    note: str
    lines: list[StoryLine]
    near: list[StoryNear]
    sentence: str
    more: int


def describe_text(teller: Teller, told: Told) -> StoryText | None:
    """The summary at the words that come nearest; of what was needed again, what was sent once more; where
    outputs were cleared, the last of those that named it."""
    fact, traced = teller.fact, told.traced
    if told.again is not None:
        ref = told.again.paid[-1]
        text = readable_text(teller.session.block(ref))
        note = f"turn {teller.turn(ref)} · {format_tokens(told.again.tokens)}"
        return _lay_out("What was sent once more", note, text, find_spans(fact.kind, fact.form, text), "")
    if traced is None:
        return None
    if told.recorded is not None and told.recorded.clears:
        return _show_emptied(teller, told.recorded, traced)
    scene = traced.scene
    texts = [stand.text for stand in scene.after.others if stand.how == "summary"]
    text = "\n\n".join(text for text in texts if text)
    if told.recorded is not None:
        title = f"Recorded summary {told.recorded.sign}"
        own = told.recorded.entry.text.strip()
        if not own:
            return StoryText(title, "", [], [], tell_unread(told.recorded.entry), 0)
        text = own
        tokens = _weigh(teller.model, told.recorded.entry.id)
        named, every = count_changed_files(told.recorded.trace)
        note = format_tokens(tokens) + (f" · names {named:,} of {every:,} changed files" if every else "")
    else:
        plan = scene.plan
        if plan is None or not text:
            return None
        written = plan.checkpoint is not None
        title = "Summary of this plan" if written else "Placeholder summary"
        note = format_tokens(plan.summary_tokens)
    spans = find_spans(fact.kind, fact.form, text, _find_symbols(teller, traced))
    return _lay_out(title, note, text, spans, _tell_near(fact, spans))


def tell_unread(entry: Entry) -> str:
    """Why nothing is told by a compaction's summary."""
    return SEALED if is_sealed(entry) else MISSING


def _show_emptied(teller: Teller, recorded: Recorded, traced: TracedFact) -> StoryText | None:
    refs = teller.emptied(traced)
    if not refs:
        return None
    fact, text = teller.fact, readable_text(teller.session.block(refs[-1]))
    title, note = f"Cleared at {recorded.sign}", teller.label(refs[-1])
    return _lay_out(title, note, text, find_spans(fact.kind, fact.form, text), "")


def _weigh(model: WorkbenchModel, entry: str) -> int:
    """Tokens of a recorded summary, those of its plan where that is looked at."""
    side, ledger = model.recorded, model.ledger
    if side is not None and side.plan is not None and side.mark.entry == entry:
        return side.plan.summary_tokens
    return int(ledger.entry_tokens[ledger.session.index[entry]])


def _find_symbols(teller: Teller, traced: TracedFact) -> list[str]:
    """What a file defines, by the blocks that change it and the outputs that show it."""
    if teller.fact.kind != "file":
        return []
    answers = {call: output for output, call in teller.calls.items()}
    refs = [said.ref for said in known(traced) if said.operation in (*CHANGED, "read")]
    found: dict[str, None] = {}
    for ref in refs[:20]:
        for one in filter(None, (ref, answers.get(ref))):
            found.update(
                dict.fromkeys(_DEFINED.findall(readable_text(teller.session.block(one))[:MOST_DEFINED]))
            )
    return list(found)[:200]


def _tell_near(fact: Fact, spans: tuple[NearSpan, ...]) -> str:
    """What is said below a summary."""
    if not spans:
        return FAR
    hows = {span.how for span in spans}
    if hows & {"the whole path", "all of it"}:
        return ""
    if fact.kind != "file":
        return "The words themselves are nowhere in the text."
    name = fact.form.replace("\\", "/").rpartition("/")[2]
    if "its name" in hows:
        return "The path is nowhere in the text."
    return f"The path and the name {cut_text(name, 80)} are nowhere in the text."


def _lay_out(title: str, note: str, text: str, spans: tuple[NearSpan, ...], sentence: str) -> StoryText:
    """A text by lines; of a long one those around the nearest words."""
    lines: list[tuple[int, str]] = []
    at = 0
    for line in text.split("\n"):
        if line.strip():
            lines.append((at, line))
        at += len(line) + 1
    near = spans[0].start if spans else 0
    middle = max((n for n, (start, _) in enumerate(lines) if start <= near), default=0)
    first = 0 if len(lines) <= MOST_LINES else max(0, min(middle - MOST_LINES // 2, len(lines) - MOST_LINES))
    shown = lines[first : first + MOST_LINES]
    told: list[StoryLine] = []
    nears: dict[int, StoryNear] = {}
    for number, (start, line) in enumerate(shown):
        cut = len(line) - len(line.lstrip("# ")) if line.startswith("#") else 0
        body, marks = line[cut : cut + 4_000], []
        for order, span in enumerate(spans):
            low, high = span.start - start - cut, span.end - start - cut
            if 0 <= low < high <= len(body):
                before, words = body[:low], body[low:high]
                begin = utf16_length(printable(before))
                marks.append(StoryMark(begin, begin + utf16_length(printable(words)), order))
                nears[order] = StoryNear(cut_text(words, 80), span.how, number)
        told.append(StoryLine(printable(body), cut > 0, sorted(marks, key=lambda mark: mark.start)))
    order_of = {old: new for new, old in enumerate(sorted(nears))}
    told = [
        StoryLine(
            line.text,
            line.head,
            [StoryMark(one.start, one.end, order_of[one.near]) for one in line.marks],
        )
        for line in told
    ]
    listed = [nears[old] for old in sorted(nears)]
    return StoryText(title, note, told, listed, sentence, len(lines) - len(shown))
