"""A summary job whose text is too long for the provider -> the same job over less text, by one stated rule.

First the text is made tighter: no reasoning of the model, and of a tool's output its beginning and its end.
If that is not enough, entries are left out: the oldest first, users' words last. The user's first words
and the newest entry stay. Nothing here asks a model.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from ...planning.summary_jobs import SummaryJob
from ...session.blocks import Block, Text, ToolOutput, build
from ...session.entries import Entry
from ...session.session import Session
from ..material import conversation_text, job_entries

HEAD, TAIL = 350, 150
"""Characters of a tool's output that stay, from its beginning and from its end."""
MARGIN = 0.9
"""Of what the provider says it takes, the share that is used: characters are no exact measure of tokens."""
_FIGURES = re.compile(r"([\d,]{4,})\s*tokens?\D{1,40}?([\d,]{4,})")

Step = Literal["tighter", "truncated"]


class Shortened(NamedTuple):
    """A job and a session that holds just its entries; `characters` of conversation, entries `left_out`."""

    job: SummaryJob
    session: Session
    step: Step
    characters: int
    left_out: int

    @property
    def notice(self) -> str:
        """The note to the summariser about it."""
        notice = "Long outputs of tools are shown by their beginning and end, and reasoning is not shown."
        if self.left_out:
            many = f"{self.left_out:,} entries were" if self.left_out > 1 else "One entry was"
            notice += f" {many} left out of the conversation, the oldest first."
        return notice


def take_part(session: Session, job: SummaryJob) -> tuple[SummaryJob, Session]:
    """The job over a session that holds nothing but its entries, without what the job leaves out."""
    part = _hold(session, job_entries(session, job))
    return job.model_copy(update={"leave_out": ()}), part


def _hold(session: Session, entries: list[Entry]) -> Session:
    return build(Session, format=session.format, model=session.model, entries=tuple(entries))


def shorten_job(job: SummaryJob, session: Session, most: int) -> Shortened | None:
    """The job with at most `most` characters of conversation; None when what must stay is longer.

    >>> from inspector import count_tokens, make_plan, open_demo
    >>> session = open_demo()
    >>> job = make_plan(session, count_tokens(session), "flue").jobs[0]
    >>> short = shorten_job(job, session, 3_000)
    >>> short.step, short.characters <= 3_000, short.job.entries[-1] == job.entries[-1]
    ('truncated', True, True)
    """
    job, session = take_part(session, job)
    entries = [_tighten(entry) for entry in session.entries]
    sizes = [len(text) + 2 if (text := _text(entry, job)) else 0 for entry in entries]
    total, gone = max(sum(sizes) - 2, 0), set[int]()
    users = [at for at, entry in enumerate(entries) if entry.role == "user"]
    others = [at for at, entry in enumerate(entries) if entry.role != "user"]
    stay = {len(entries) - 1, *users[:1]}
    for at in (at for at in (*others, *users) if at not in stay):
        if total <= most:
            break
        gone.add(at)
        total -= sizes[at]
    if total > most:
        return None
    retained = [at for at in range(len(entries)) if at not in gone]
    omitted = sum(1 for at in gone if sizes[at])
    return Shortened(
        job.model_copy(update={"entries": tuple(job.entries[at] for at in retained), "thinking": False}),
        _hold(session, [entries[at] for at in retained]),
        "truncated" if omitted else "tighter",
        total,
        omitted,
    )


def find_share(message: str) -> float | None:
    """Return the share of the request that the provider would accept, by its own figures, or None.

    >>> find_share("prompt is too long: 250000 tokens > 200000 maximum")
    0.8
    """
    match = _FIGURES.search(message)
    if match is None:
        return None
    requested, limit = (int(figure.replace(",", "")) for figure in match.groups())
    return limit / requested if 0 < limit < requested else None


def _text(entry: Entry, job: SummaryJob) -> str:
    return conversation_text([entry], thinking=False, whole_characters=job.whole_characters)


def _tighten(entry: Entry) -> Entry:
    blocks = tuple(_cut(block) for block in entry.blocks)
    same = all(new is old for new, old in zip(blocks, entry.blocks, strict=True))
    return entry if same else entry.model_copy(update={"blocks": blocks})


def _cut(block: Block) -> Block:
    if not isinstance(block, ToolOutput) or len(text := block.text) <= HEAD + TAIL + 60:
        return block
    gap = f"\n\n[... {len(text) - HEAD - TAIL} more characters left out]\n\n"
    return block.model_copy(update={"parts": (build(Text, text=text[:HEAD] + gap + text[-TAIL:]),)})
