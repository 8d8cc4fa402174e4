"""An answer that comes out longer than its job allows: asked for again with half the limit, cut in the end.

Source: S0-103 to S0-105. A summariser that holds the limit itself, as a provider does, is taken at its word.
"""

from __future__ import annotations

from collections.abc import Callable

from ..planning.summary_jobs import TIGHTER, Oversize, Reply, SummaryJob

Count = Callable[[str], int]
"""Tokens of a text."""


def ask_within(ask: Callable[[SummaryJob], Reply], job: SummaryJob, count: Count) -> Reply:
    """The answer to a job within the tokens that the job allows, and what every answer on the way there cost.

    One that is too long is reported in `oversize`; after `TIGHTER` more tries it is `truncated`.

    >>> job = SummaryJob(kind="initial", entries=(), max_tokens=2)
    >>> words = lambda text: len(text.split())
    >>> reply = ask_within(lambda job: Reply(text="far too many words"), job, words)
    >>> reply.text, reply.truncated, [one.limit for one in reply.oversize]
    ('far too', True, [1, 1, None])
    """
    reply = ask(job)
    if job.max_tokens is None or job.max_tokens <= 0:
        return reply
    budget = limit = job.max_tokens
    oversizes: list[Oversize] = []
    used = reply.usage
    while reply.stop_reason != "error" and (size := count(reply.text)) > budget:
        cut = len(oversizes) == TIGHTER
        limit = max(limit // 2, 1)
        oversizes.append(Oversize(size=size, budget=budget, limit=None if cut else limit))
        if cut:
            reply = reply.model_copy(update={"text": cut_text(reply.text, budget, count), "truncated": True})
            break
        reply = ask(job.model_copy(update={"max_tokens": limit}))
        if reply.usage is not None:
            used = reply.usage if used is None else used + reply.usage
    return reply.model_copy(update={"usage": used, "oversize": tuple(oversizes)}) if oversizes else reply


def cut_text(text: str, budget: int, count: Count) -> str:
    """Return the beginning of a text with at most `budget` tokens, if possible ending between words.

    >>> cut_text("one two three", 2, lambda text: len(text.split()))
    'one two'
    """
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count(text[:middle]) <= budget else (low, middle - 1)
    whole = low == len(text) or text[low].isspace() or text[:low][-1:].isspace()
    short = text[:low].rstrip()
    if not whole and (words := short.rsplit(None, 1)) and len(words) == 2:
        short = words[0].rstrip()
    # Fewer characters have no more tokens but by a quirk of a counter.
    while short and count(short) > budget:
        short = short[:-1].rstrip()
    return short
