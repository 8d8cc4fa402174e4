"""Marks of content that was lost and then needed, and of statements in a summary without a source."""

from __future__ import annotations

import re

import numpy as np

from ...facts.grounding import Sources, check_grounding, gather_sources, is_whole
from ...session.blocks import BlockRef
from ...session.queries import find_parent
from ...text import printable, utf16_length
from ...tokens.cache_rebuilds import describe_rebuild, find_cache_rebuilds
from ..model import WorkbenchModel
from .base_payload import Payload
from .block import BODY_CHARS
from .fact_list import find_listing
from .findings import find_again

WRITTEN = ("compaction", "branch_summary")
"""Kinds of entries in which a model summarised earlier content."""


class RegretMark(Payload, frozen=True):
    """A fact that was needed again; `step` is -1 off the main path."""

    step: int
    number: int
    sentence: str


class RebuildMark(Payload, frozen=True):
    """A request that had to write its cache again; `step` is -1 off the main path."""

    step: int
    sentence: str


class RegretReply(Payload, frozen=True):
    """All content that a recorded compaction removed and that was paid for again.

    `rebuilds` are the requests that paid again for cached content, for any reason.
    """

    marks: list[RegretMark]
    rebuilds: list[RebuildMark]


class GroundingMark(Payload, frozen=True):
    """Words of a recorded summary that nothing it summarises says; the offsets in its text are UTF-16."""

    start: int
    end: int
    sentence: str


class GroundingReply(Payload, frozen=True):
    """The marks of a summary; `hidden` more are in the part of the text that is not shown.

    `read` is False if the summary has no text; `whole` is False if the file does not contain everything that
    was summarised. In both cases there are no marks.
    """

    marks: list[GroundingMark]
    hidden: int
    read: bool
    whole: bool


def describe_regret(model: WorkbenchModel) -> RegretReply:
    """Everything on the path that was lost in a recorded compaction and then paid for again."""
    regrets = find_again(model, find_listing(model, model.plan.place or 0))
    marks = [
        RegretMark(_step_of(model, regret.again.entry), regret.traced.fact.number, regret.sentence)
        for regret in regrets
    ]
    return RegretReply(marks, _find_rebuilds(model))


def _find_rebuilds(model: WorkbenchModel) -> list[RebuildMark]:
    cached: list[RebuildMark] | None = model.cache.get("cache rebuilds")
    if cached is None:
        rebuilds = find_cache_rebuilds(model.session)
        cached = [
            RebuildMark(_step_of(model, rebuild.entry), describe_rebuild(rebuild)) for rebuild in rebuilds
        ]
        model.cache["cache rebuilds"] = cached
    return cached


def _step_of(model: WorkbenchModel, entry: str) -> int:
    """The step of the session's life in which an entry came, -1 off the main path."""
    at = model.session.path_index[model.session.index[entry]]
    return int(model.history.step[at]) if at >= 0 else -1


def describe_grounding(model: WorkbenchModel, row: int) -> GroundingReply:
    """Mark the words of a recorded summary that do not occur before it, as spans of the text of "body".

    Raises:
        IndexError: The context has no such row.
        LookupError: The row is not a recorded summary.
    """
    table = model.plan.table
    if not 0 <= row < len(table.tokens):
        raise IndexError(f"no block {row} in this context")
    live, session = table.live, table.session
    entry = session.entries[live.entries[live.position[row]]]
    if entry.kind not in WRITTEN:
        raise LookupError(f"block {row} is not a recorded summary")
    cached: dict[BlockRef, GroundingReply] = model.cache.setdefault("grounding", {})
    ref = BlockRef(entry.id, int(live.block[row]))
    if ref not in cached:
        text = entry.blocks[ref.block].text
        before = session.at(find_parent(session, entry))
        whole = is_whole(before)
        sources = gather_sources(before, session.index[entry.id]) if whole else None
        marks, hidden = ([], 0) if sources is None else _mark_words(text, sources)
        cached[ref] = GroundingReply(marks, hidden, bool(text), whole)
    return cached[ref]


def _mark_words(text: str, sources: Sources) -> tuple[list[GroundingMark], int]:
    """Return the marks of a summary's text, by line, and the number of those beyond the text shown."""
    marks: list[GroundingMark] = []
    hidden = 0
    starts = np.cumsum([0, *(len(line) + 1 for line in text.split("\n"))]).tolist()
    for line in check_grounding(text, sources):
        first = starts[line.line - 1]
        # One more character than is shown, to see whether a word ends there.
        sight = line.text[: max(BODY_CHARS + 1 - first, 0)]
        if sight != line.text and not _may_hold(sight, line.words):
            hidden += 1
            continue
        start, end = (first + at for at in find_words(sight, line.words))
        if end > BODY_CHARS:
            hidden += 1
            continue
        marks.append(
            GroundingMark(
                start=utf16_length(printable(text[:start])),
                end=utf16_length(printable(text[:end])),
                sentence=line.sentence,
            )
        )
    return marks, hidden


def _may_hold(line: str, words: str) -> bool:
    """Whether the first word occurs at all, which is much faster than finding its position."""
    return words.split()[0].partition("/")[0] in line


def find_words(line: str, words: str) -> tuple[int, int]:
    """Find words in a line, ignoring blanks and slashes between them; the whole line if they do not occur.

    >>> find_words("12 of 312, then 12", "12"), find_words("src\\\\a.py:3", "src/a.py")
    ((0, 2), (0, 8))
    """
    parts = (re.escape(part).replace("/", r"(?:/|\\{1,2})") for part in words.split())
    # A number of its own goes before one within a longer word.
    pattern = r"\s+".join(parts)
    for guarded in (rf"(?<![\w./-]){pattern}(?![\w/-])", rf"(?<!\w){pattern}(?!\w)", pattern):
        if pattern and (match := re.search(guarded, line)):
            return match.span()
    bare = line.strip()
    start = line.find(bare)
    return start, start + len(bare)
