"""The recorded summary and the planned one side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from ...hooks.given_back import write_words_back
from ...planning.plan import Plan
from ...redaction.cut import cut_text
from ...session.entries import Entry
from ...text import plural, printable
from ..model import WorkbenchModel
from .base_payload import Payload
from .block import describe_summary
from .context import PLACEHOLDER
from .fact_list import find_listing
from .sections import format_tokens

MOST_TEXT = 40_000
"""Characters of a summary that are sent."""
ENCRYPTED = "The summary is encrypted: only its provider can read it."
NO_SUMMARY = "The summary is missing: the file records this compaction without one."
NO_RECORDED = "The file records no compaction right after this moment."
CLEARED = "The file records that outputs were cleared here; nothing was summarised."
NONE_PLANNED = "This plan writes no summary."
SAME = "The same text so far: drag the cut to change it."
GIVEN_BACK = "What the hook would give back"
HOOKED = "Rules that you typed, and pins, word for word. Without the hook, paste them after a compaction."
NOTHING_BACK = "Nothing: no clear rule was typed before this point, and the folder has no pins."


class SummarySide(Payload, frozen=True):
    """One summary: its name, size and author, and its text.

    `note` says what limits it, or is ""; `sentence` replaces a missing text.
    """

    title: str
    size: str
    text: str
    total: int
    note: str
    sentence: str


class SummariesReply(Payload, frozen=True):
    """Both sides. There is no `recorded` side if no recorded compaction follows, or if it only cleared
    outputs; `sentence` gives the reason. `given_back` is the text of hooks after a compaction here."""

    recorded: SummarySide | None
    planned: SummarySide
    sentence: str
    given_back: SummarySide


def compare_summaries(model: WorkbenchModel, query: Mapping[str, Any]) -> SummariesReply:
    """Return the summaries at this point in time: the recorded one, and the plan's with its cut at `place`.

    >>> from inspector import open_demo
    >>> model = WorkbenchModel(open_demo(), "flue")
    >>> _ = model.answer({})
    >>> reply = compare_summaries(model, {"place": model.plan.place})
    >>> reply.recorded.title, reply.planned.title
    ('◆1 recorded', 'Planned')
    """
    recorded = model.recorded
    side, sentence = None, NO_RECORDED
    if recorded is not None:
        title = f"{recorded.mark.sign} recorded"
        if recorded.plan is not None:
            side = _describe(recorded.plan, title)
        if recorded.mark.kind == "micro":
            sentence = CLEARED
        elif side is None or not side.text:
            side = _read_recorded(model.session[recorded.mark.entry], recorded.unread, title)
    # The query's place belongs to the recorded side if that is shown; use the plan's own place.
    plan = model.plan
    place = int(query["place"]) if model.looked_at is None else plan.place or 0
    planned = _describe(find_listing(model, place, planned=True).plan, "Planned")
    if side is not None and planned.text and planned.text == side.text:
        # One text is read once.
        planned = replace(planned, text="", total=0, note="", sentence=SAME)
    return SummariesReply(side, planned, "" if side is not None else sentence, _give_back(model))


def _give_back(model: WorkbenchModel) -> SummarySide:
    """Describe what the hook would give back after a compaction at this point in time."""
    text = write_words_back(model.moment, model.read_pins(model.session.source.cwd or ""))
    size = plural(int(model.ledger.count_texts([text])[0]), "token") if text else ""
    return SummarySide(GIVEN_BACK, size, text, len(text), HOOKED, "" if text else NOTHING_BACK)


def _read_recorded(entry: Entry, unread: str, title: str) -> SummarySide:
    """Describe a compaction that has no plan: its text from the file, or the reason for its absence."""
    text = "" if unread else "\n\n".join(block.text for block in entry.blocks if block.text)
    sentence = "" if text else ENCRYPTED if unread == "encrypted" else NO_SUMMARY
    return SummarySide(title, "", printable(text, MOST_TEXT), len(text), "", sentence)


def _describe(plan: Plan, title: str) -> SummarySide:
    text = describe_summary(plan, plan.place or 0).text if plan.summarises else ""
    written = plan.checkpoint
    note = f"Not written yet: a placeholder. {PLACEHOLDER}" if text and plan.is_unwritten else ""
    # The entry's id in the file means nothing to a reader.
    by = "" if written is None else cut_text(written.by, 60)
    by = f" · by {'the file' if by.startswith('the file (') else by}" if by else ""
    size = f"{format_tokens(plan.summary_tokens)}{by}" if text else ""
    return SummarySide(
        title=title,
        size=size,
        text=printable(text, MOST_TEXT),
        total=len(text),
        note=note,
        sentence="" if text else NONE_PLANNED,
    )
