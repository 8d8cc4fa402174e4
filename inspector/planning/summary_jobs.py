"""Build the requests to a summariser for a cut: the history, and a split turn's beginning separately.

The order and the limits are Flue's (FLUE §7, §10.3): a turn's beginning gets no previous summary, and a
history that is empty is not asked for. `Summary` holds what pi's versions do otherwise (FLUE §13.2-3).
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from ..formats.sealed import Sealed
from ..policies.table import Summary, Table, find_start
from ..session.blocks import REASONING, Chars, Reasoning, Value
from ..session.entries import Entry, Usage
from ..session.queries import NO_HISTORY
from ..session.queries import TURN_CONTEXT as TURN_CONTEXT
from ..session.tree import Bools


class SummaryJob(Value):
    """One thing to be written up: entries in order, the blocks left out, and the length allowed.

    `max_tokens` None leaves the length to the model. `previous` is the text of the summary before, to be
    brought up to date. A job for a turn's prefix has no `previous`; its `history` is used if no history is
    written.
    `reasoning` is the effort asked of a model that reasons, "session" for the session's own (FLUE §10.3).
    `thinking` shows the model's reasoning to the summariser; `whole_characters` never cuts inside one;
    `strict` takes a reply that was cut off, or that calls a tool, for a failure (FLUE §13.3).

    >>> from inspector import count_tokens, make_plan, read_session
    >>> session = read_session([{"role": role, "content": "…"} for role in ("user", "assistant", "user")])
    >>> plan = make_plan(session, count_tokens(session), "keep-recent-turns", {"cut": "m3"})
    >>> job: SummaryJob = plan.jobs[0]
    >>> job.kind, job.entries, job.previous
    ('initial', ('m1', 'm2'), None)
    """

    kind: Literal["initial", "update", "turn_prefix"]
    entries: tuple[Chars, ...]
    leave_out: tuple[Chars, ...] = ()
    max_tokens: int | None
    previous: Chars | None = None
    history: Chars = NO_HISTORY
    reasoning: str = "high"
    thinking: bool = True
    whole_characters: bool = False
    strict: bool = False


class Oversize(Value):
    """An answer that was longer than its budget, in tokens, and the limit of the next try; None if it was cut
    instead (S0-103 to S0-105)."""

    size: int
    budget: int
    limit: int | None = None


class Reply(Value):
    """A summariser's answer to one job.

    `provider` and `model` answered, and `prompt` is the name of the prompt, if known. `truncated` is True if
    the text was cut to its budget, `oversize` is its length before that.
    """

    text: Chars = ""
    stop_reason: str = "stop"
    error: Chars | None = None
    usage: Usage | None = None
    provider: Chars | None = None
    model: Chars | None = None
    prompt: Chars | None = None
    truncated: bool = False
    oversize: tuple[Oversize, ...] = ()


class Checkpoint(Value):
    """A written summary. `by` names its author; `error` is the reason if it could not be written.

    `covers` are references to the blocks it was written from; `deterministic` is True if the same blocks
    always give the same text. `turns` are the parts of `text` in order, if one was written for each older
    turn. `calls` is the number of calls of the summariser, 0 if unknown. `sealed` is the provider's block, if
    the provider compacted. `provider`, `model`, `prompt`, `truncated` and `oversize` are taken from the
    summariser's replies. The text is always untrusted.

    >>> Checkpoint(text="All tests pass.", by="me").provenance()
    {'by': 'me', 'deterministic': False}
    """

    text: Chars = ""
    by: str = "model"
    usage: Usage | None = None
    error: Chars | None = None
    covers: tuple[Chars, ...] = ()
    deterministic: bool = False
    turns: tuple[Chars, ...] = ()
    calls: int = 0
    sealed: Sealed | None = None
    provider: Chars | None = None
    model: Chars | None = None
    prompt: Chars | None = None
    truncated: bool = False
    oversize: tuple[Oversize, ...] = ()

    def provenance(self) -> dict[str, Any]:
        """Return the origin of the summary as a recorded compaction states it, without unknown values."""
        names = ("provider", "model", "prompt")
        fields: dict[str, Any] = {"by": self.by, "deterministic": self.deterministic}
        fields |= {name: value for name in names if (value := getattr(self, name)) is not None}
        if self.calls > 1:
            fields["calls"] = self.calls
        if self.oversize:
            fields["oversize"] = [answer.model_dump() for answer in self.oversize]
        return fields | ({"truncated": True} if self.truncated else {})


Kind = Literal["initial", "update", "turn_prefix"]


def find_mute(table: Table) -> Bools:
    """bool[m]: reasoning without words, such as the provider's sealed one."""
    mute: Bools = table.kind == REASONING
    rows = np.flatnonzero(mute)
    blocks = (table.block(row) for row in rows.tolist())
    mute[rows] = [isinstance(block, Reasoning) and not block.text.strip() for block in blocks]
    return mute


def list_jobs(
    table: Table, spec: Summary, place: int, split: int, summarised: Bools
) -> tuple[SummaryJob, ...]:
    """The jobs of a cut at `place`.

    `split` is the first position of the turn that the cut splits, or -1. `summarised` (bool[m]) marks the
    blocks to summarise; other older ones, such as pins, are left out of their entry's text.

    Per turn there is one job for each older turn with anything to write up, and the first brings a summary
    before up to date; `divide_summary` makes their replies a message each.
    """
    session, live = table.session, table.live
    start = find_start(table)
    split = split if split >= start else -1
    names = session.live_names
    # Of sealed or empty reasoning there are no words to send; Flue and pi send an empty line (FLUE §10.1).
    mute = np.zeros(len(summarised), bool) if spec.split_turns else find_mute(table)
    left_out = np.flatnonzero((live.position < place) & (~summarised | mute))
    by_entry: dict[int, list[str]] = {}
    for ref, position in zip(session.live_refs(left_out), live.position[left_out].tolist(), strict=True):
        by_entry.setdefault(position, []).append(str(ref))

    def job(kind: Kind, first: int, last: int, limit: int, previous: str | None) -> SummaryJob:
        effort = "session" if spec.effort == "session" else "high"
        leave_out = tuple(ref for position in range(first, last) for ref in by_entry.get(position, ()))
        return SummaryJob(
            kind=kind,
            entries=tuple(names[first:last]),
            leave_out=leave_out,
            max_tokens=limit if spec.limited else None,
            previous=previous,
            reasoning="" if spec.effort == "history" and kind == "turn_prefix" else effort,
            thinking=spec.thinking,
            whole_characters=spec.whole_characters,
            strict=spec.strict,
        )

    updates = live.summary == 0 and not table.since
    previous = _previous(session.entries[live.entries[0]]) if updates else None
    if spec.per_turn:
        previous_texts = [previous]
        spans = find_turns(table, place, summarised) or [(start, place)]
        previous_texts += [None] * (len(spans) - 1)
        return tuple(
            job("update" if before else "initial", first, last, spec.max_tokens, before)
            for (first, last), before in zip(spans, previous_texts, strict=True)
        )
    history_end = place if split < 0 else split
    jobs = []
    if split < 0 or history_end > start:
        kind: Kind = "update" if previous else "initial"
        jobs.append(job(kind, start, history_end, spec.max_tokens, previous))
    if split >= 0:
        prefix = job("turn_prefix", split, place, spec.prefix_max_tokens, None)
        history = previous if spec.keep_previous and previous is not None else NO_HISTORY
        jobs.append(prefix.model_copy(update={"history": history}))
    return tuple(jobs)


def divide_summary(
    table: Table, spec: Summary, place: int, summarised: Bools, checkpoint: Checkpoint
) -> list[tuple[str, int, int]]:
    """The messages of a written summary: the text of each, and the live positions it stands for (first, end).

    With a summary per turn there is one message for each older turn (S0-30). A text without parts, such as
    pasted text, is divided at its blank lines if that gives one part for each turn; else it covers all turns.
    """
    spans = find_turns(table, place, summarised) if spec.per_turn else []
    if len(spans) < 2:
        return [(checkpoint.text, table.since, place)]
    texts = checkpoint.turns or tuple(_BLANK.split(checkpoint.text.strip()))
    if len(texts) != len(spans):
        return [(checkpoint.text, table.since, place)]
    # The first message also covers the blocks of an earlier summary.
    starts = [table.since, *(first for first, _ in spans[1:])]
    return [(text, first, end) for text, first, (_, end) in zip(texts, starts, spans, strict=True)]


CAME_WHOLE = (
    "The summary has no parts, so all older turns have one message. To get one message per turn, write one "
    "part for each turn, separated by blank lines."
)
_BLANK = re.compile(r"\n\s*\n")


def find_turns(table: Table, place: int, summarised: Bools) -> list[tuple[int, int]]:
    """Live positions (first, end) of each turn before `place` of which anything is written up."""
    start = find_start(table)
    turn = table.live.turn[start:place]
    bounds = [start, *(np.flatnonzero(np.diff(turn)) + start + 1).tolist(), place]
    written = set(table.live.position[summarised].tolist())
    return [(a, b) for a, b in pairwise(bounds) if any(position in written for position in range(a, b))]


def _previous(entry: Entry) -> str:
    recorded = entry.boundary.summary if entry.boundary is not None else None
    return recorded if recorded is not None else entry.text


TIGHTER = 2
"""How often a summary that is too long is asked for again, at half the limit each time, before it is cut."""
