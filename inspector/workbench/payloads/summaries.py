"""The recorded summary and the planned one side by side, with the same facts counted over both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from ...facts.lint.check import CHANGED, known
from ...facts.mentions import make_pattern
from ...facts.traced import Trace, TracedFact
from ...planning.plan import Plan
from ...redaction.cut import cut_text
from ...session.entries import Entry
from ...text import plural, printable
from ..model import WorkbenchModel
from .base_payload import Payload
from .block import describe_summary
from .context_after import PLACEHOLDER
from .fact_list import UNLESS_NAMED, find_listing
from .sections import format_tokens

MOST_TEXT = 40_000
"""Characters of a summary that are sent."""
SEALED = "The file holds this summary sealed: nobody can read it."
NO_SUMMARY = "The file records this compaction without a summary."
NO_RECORDED = "The file records no compaction right after this moment."
CLEARED = "The file records that outputs were cleared here; nothing was summarised."
NONE_PLANNED = "This plan writes no summary."
SAME = "The same text so far: drag the cut, or choose a policy."


class SummaryCount(Payload, frozen=True):
    """How many facts of a sort that stood before a summary names in full: "names 10 of 12 changed files".

    Of a summary that is not written yet `named` are those that are safe without it.
    """

    sort: str
    named: int
    of: int
    words: str


class SummarySide(Payload, frozen=True):
    """One summary: what it is called, its size and who wrote it, its text, and what of the facts it leaves.

    `note` says what limits it, "" for nothing; `sentence` stands where there is no text.
    """

    title: str
    size: str
    text: str
    total: int
    note: str
    counts: list[SummaryCount]
    sentence: str


class SummariesReply(Payload, frozen=True):
    """Both sides; `recorded` is None where the file records no compaction after the moment, or one that
    emptied outputs alone: `sentence` says which."""

    recorded: SummarySide | None
    planned: SummarySide
    sentence: str


def compare_summaries(model: WorkbenchModel, query: Mapping[str, Any]) -> SummariesReply:
    """The summaries of this moment: what the file records, and the plan's with its cut at `place`.

    >>> from inspector import open_demo
    >>> model = WorkbenchModel(open_demo(), "flue")
    >>> _ = model.answer({})
    >>> reply = compare_summaries(model, {"place": model.plan.place})
    >>> [(one.sort, one.named, one.of) for one in reply.recorded.counts][0]
    ('changed files', 10, 12)
    """
    recorded = model.recorded
    side, sentence = None, NO_RECORDED
    if recorded is not None:
        title = f"{recorded.mark.sign} recorded"
        if recorded.plan is not None:
            side = _describe(recorded.plan, recorded.plan.trace, title)
        if recorded.mark.kind == "micro":
            sentence = CLEARED
        elif side is None or not side.text:
            side = _read_recorded(model.session[recorded.mark.entry], recorded.sealed, title)
    # The plan's own place where the recorded side is looked at: the query's is that of what is seen.
    plan = model.plan
    place = int(query["place"]) if model.looked_at is None else plan.place or 0
    listing = find_listing(model, place)
    planned = _describe(listing.plan, listing.trace, "Planned")
    if side is not None and planned.text and planned.text == side.text:
        # One text is read once.
        planned = replace(planned, text="", total=0, note="", sentence=SAME)
    return SummariesReply(side, planned, "" if side is not None else sentence)


def _read_recorded(entry: Entry, sealed: bool, title: str) -> SummarySide:
    """The side of a compaction that no plan tells: its text as the file holds it, or why there is none."""
    text = "" if sealed else "\n\n".join(block.text for block in entry.blocks if block.text)
    sentence = "" if text else SEALED if sealed else NO_SUMMARY
    return SummarySide(title, "", printable(text, MOST_TEXT), len(text), "", [], sentence)


def _describe(plan: Plan, trace: Trace, title: str) -> SummarySide:
    text = describe_summary(plan, plan.place or 0).text if plan.summarises else ""
    written = plan.checkpoint
    note = f"Not written yet: a placeholder. {PLACEHOLDER}" if text and plan.is_unwritten else ""
    # Which entry of the file it is says nothing to a reader.
    by = "" if written is None else cut_text(written.by, 60)
    by = f" · by {'the file' if by.startswith('the file (') else by}" if by else ""
    size = f"{format_tokens(plan.summary_tokens)}{by}" if text else ""
    return SummarySide(
        title=title,
        size=size,
        text=printable(text, MOST_TEXT),
        total=len(text),
        note=note,
        counts=_count(trace, plan.is_unwritten) if text else [],
        sentence="" if text else NONE_PLANNED,
    )


def _count(trace: Trace, unwritten: bool) -> list[SummaryCount]:
    """Of what could be read before, how much the summary says, whatever is kept beside it; of one that is not
    written yet, how much is not lost even if it says nothing."""
    sorts: dict[str, list[TracedFact]] = {"changed files": [], "rules of yours": [], "errors": []}
    for one in trace:
        if not one.stood:
            continue
        if _is_changed(one):
            sorts["changed files"].append(one)
        elif one.fact.kind == "constraint" and any(said.by == "user" for said in known(one)):
            sorts["rules of yours"].append(one)
        elif one.fact.kind == "error":
            sorts["errors"].append(one)
    counts = []
    for sort, found in sorts.items():
        named = sum(one.outcome != "absent" if unwritten else _is_named(one) for one in found)
        counts += [_make_count(sort, named, len(found), unwritten)] if found else []
    if unwritten and counts:
        # Said once, before all.
        counts[0] = replace(counts[0], words=f"{UNLESS_NAMED}: {counts[0].words}")
    return counts


def _is_changed(traced: TracedFact) -> bool:
    return traced.fact.kind == "file" and any(said.operation in CHANGED for said in known(traced))


def _is_named(traced: TracedFact) -> bool:
    """Whether a summary that stands afterwards says all of it."""
    after = traced.scene.after
    pattern = make_pattern(traced.fact, traced.scene.session)
    found = (after.texts[number].find(pattern) for number in after.summaries)
    return any(mention is not None and mention.full for mention in found)


def _make_count(sort: str, named: int, of: int, unwritten: bool) -> SummaryCount:
    one = "rule of yours" if sort == "rules of yours" else sort.removesuffix("s")
    words = f"names {named} of {plural(of, one, sort)}"
    if unwritten:
        words = f"{of - named} of {plural(of, one, sort)}"
    return SummaryCount(sort, named, of, words)
