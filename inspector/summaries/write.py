"""Plan + summariser -> Checkpoint: the jobs of a plan are answered, and the answers put together.

A summariser is anything that answers a job: `ExtractiveSummariser`, a model behind a door, a function of
your own. What
another harness wrote comes in by `checkpoint_from_text`.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentError, EditError, Stopped, expect
from ..planning.plan import Plan
from ..planning.summary_jobs import TURN_CONTEXT, Checkpoint, Reply, SummaryJob
from ..policies.rules.carry_file_operations import CarryFileOperations, FileOperations, collect
from ..policies.table import SUMMARISED
from ..session.blocks import BlockRef
from ..session.entries import Usage
from ..session.session import Session
from ..session.toolcalls.call_paths import canonical_path
from .extractive.summariser import ExtractiveSummariser
from .limit import Count, ask_within

Summariser = Callable[[SummaryJob, Session], Reply | str]
"""Answers one job with a reply, or with nothing but its text.

What it may have beside: `by` (a name), `provider`, `model` and `prompt` (names that are recorded),
`deterministic`, `side_by_side` (its calls may run in threads of their own), `keeps_limit` (what it answers is
never too long, so that it is not counted again), `stop()` (gives up calls that are under way),
`without(files)` (itself, leaving out files that are listed elsewhere), `write_plan(plan)` (writes the whole
checkpoint itself, or gives None).
"""

NAMED = ("provider", "model", "prompt")
"""What is recorded of who wrote a summary, where that is known (S0-64, S0-65)."""
_WRAPPED = re.compile(r"<summary>(.*?)</summary>", re.DOTALL)


def summarise(plan: Plan, summariser: Summariser | None = None) -> Checkpoint:
    """Have a plan's jobs answered and put the answers together (FLUE §10.3); without one, by
    `ExtractiveSummariser`.

    A split turn takes two answers, anything else one (S4-47, S4-48); the lists of files that the policy
    carries end the text (S4-45). An answer over its job's limit is asked for again, and cut in the end, which
    the checkpoint tells (`limit.py`). A reply that stopped in error makes a checkpoint with an `error`; what
    the summariser raises is raised. Raises `EditError` for a plan that summarises nothing.

    >>> from inspector import count_tokens, make_plan, open_demo
    >>> session = open_demo()
    >>> plan = make_plan(session, count_tokens(session), "claude-code", reason="manual")
    >>> summarise(plan).by, summarise(plan, lambda job, session: "All is well.").text
    ('extractive', 'All is well.')
    """
    expect("summarise", plan=(plan, Plan))
    if summariser is not None and not callable(summariser):
        raise ArgumentError("summarise", "summariser", summariser, "a function of a job and its session")
    if not plan.jobs:
        raise EditError("summary", plan.policy.name, plan.why or "the plan summarises nothing")
    summariser = ExtractiveSummariser(plan.ledger) if summariser is None else summariser
    whole = getattr(summariser, "write_plan", None)
    if whole is not None and (made := whole(plan)) is not None:
        return Checkpoint.model_validate(made)
    files = carried_files(plan)
    asked = summariser
    if files is not None and (without := getattr(summariser, "without", None)) is not None:
        paths = [*files.read_files, *files.modified_files]
        asked = without(frozenset(canonical_path(path, plan.session.cwd) for path in paths))
    replies = _ask_all(plan.jobs, plan.session, asked, lambda text: int(plan.ledger.count_texts([text])[0]))
    checkpoint = write_checkpoint(plan.jobs, replies, "" if files is None else files.text())
    told: dict[str, Any] = {
        "by": name_of(summariser),
        "covers": tuple(map(str, covered(plan))),
        "deterministic": bool(getattr(summariser, "deterministic", False)),
    }
    for name in NAMED:
        value = getattr(checkpoint, name) or getattr(summariser, name, None)
        told[name] = None if value is None else str(value)
    return checkpoint.model_copy(update=told)


def checkpoint_from_text(text: str, plan: Plan | None = None, *, by: str = "pasted") -> Checkpoint:
    """A checkpoint of text that somebody else wrote, such as another harness; `plan` says what it covers.

    Where one part of it is marked as the summary, that part is taken and what the writer thought before it is
    not. Of a `plan` it also takes the lists of files that its policy adds to any summary (S4-45), unless the
    text ends with them already. Raises `EditError` for text without words.

    >>> checkpoint_from_text("<analysis>hm</analysis>\\n<summary>\\nAll is well.\\n</summary>").text
    'All is well.'
    """
    expect("checkpoint_from_text", text=(text, str), plan=(plan, Plan, None), by=(by, str))
    marked = _WRAPPED.findall(text)
    words = (marked[0] if len(marked) == 1 else text).replace("\r\n", "\n").strip()
    if not words:
        raise EditError("summary by", by, "there are no words in it")
    if plan is None:
        return Checkpoint(text=words, by=by)
    return with_files(plan, Checkpoint(text=words, by=by, covers=tuple(map(str, covered(plan)))))


def name_of(summariser: Summariser) -> str:
    """Who writes: what the summariser calls itself, else the name of the function or its type."""
    told = getattr(summariser, "by", None) or getattr(summariser, "__name__", None)
    return str(told or type(summariser).__name__)


def carried_files(plan: Plan) -> FileOperations | None:
    """The files that the policy lists after the summary; None where it lists none."""
    if not any(isinstance(rule, CarryFileOperations) and rule.enabled for rule in plan.policy.rules):
        return None
    return collect(plan.table, plan.place or 0)


def with_files(plan: Plan, checkpoint: Checkpoint) -> Checkpoint:
    """The checkpoint with the policy's lists of files at the end of its text, whoever wrote it (S4-45).

    One that failed stays as it is, and so does one that the provider sealed: its block goes back as it came.
    """
    files = carried_files(plan)
    if files is None or checkpoint.error is not None or checkpoint.sealed is not None:
        return checkpoint
    lists = files.text()
    if checkpoint.text.rstrip().endswith(lists.strip()):
        return checkpoint
    return checkpoint.model_copy(update={"text": checkpoint.text + lists})


def covered(plan: Plan) -> list[BlockRef]:
    """The blocks that the summary stands for, in context order."""
    return plan.session.live_refs(np.flatnonzero(plan.fate == SUMMARISED))


def _ask_all(
    jobs: Sequence[SummaryJob], session: Session, summariser: Summariser, count: Count
) -> list[Reply]:
    """An answer to each job, in their order; side by side where the summariser says that it can."""

    def ask(job: SummaryJob) -> Reply:
        return _ask(summariser, job, session)

    def answer(job: SummaryJob) -> Reply:
        return ask(job) if getattr(summariser, "keeps_limit", False) else ask_within(ask, job, count)

    if len(jobs) < 2 or not getattr(summariser, "side_by_side", False):
        return [answer(job) for job in jobs]
    replies: list[Reply | None] = [None] * len(jobs)
    faults: list[BaseException | None] = [None] * len(jobs)

    def work(at: int) -> None:
        try:
            replies[at] = answer(jobs[at])
        except BaseException as fault:
            faults[at] = fault
            _stop(summariser)

    threads = [threading.Thread(target=work, args=(at,), daemon=True) for at in range(1, len(jobs))]
    for thread in threads:
        thread.start()
    # The first is asked here, so that an interrupt reaches it.
    work(0)
    for thread in threads:
        thread.join()
    if told := [fault for fault in faults if fault is not None]:
        # The others were only given up because of the first that failed by itself.
        raise next((fault for fault in told if not isinstance(fault, Stopped)), told[0])
    return [reply for reply in replies if reply is not None]


def _ask(summariser: Summariser, job: SummaryJob, session: Session) -> Reply:
    reply = summariser(job, session)
    if isinstance(reply, str):
        return Reply(text=reply)
    if not isinstance(reply, Reply):
        raise ArgumentError("summarise", f"what {name_of(summariser)} returns", reply, "a text or a Reply")
    return reply


def _stop(summariser: Summariser) -> None:
    stop = getattr(summariser, "stop", None)
    if stop is not None:
        stop()


def write_checkpoint(jobs: Sequence[SummaryJob], replies: Sequence[Reply], appendix: str = "") -> Checkpoint:
    """Put the replies together as Flue does (FLUE §10.3).

    A reply that stopped in error fails the whole; a split turn without history says so in its place, or
    keeps the summary before, whichever its job says. Replies for several turns are the checkpoint's `turns`,
    and follow each other in its text, set off by a blank line.
    """
    texts: dict[str, str] = {}
    turns: list[str] = []
    history = ""
    used: list[Usage] = []
    for job, reply in zip(jobs, replies, strict=True):
        prefix = job.kind == "turn_prefix"
        if fault := _fault(job, reply):
            what = "Turn prefix summarization" if prefix else "Summarization"
            return Checkpoint(error=f"{what} failed: {fault}")
        if prefix:
            history = job.history
        name = "prefix" if prefix else "history"
        if not prefix:
            turns.append(reply.text)
        texts[name] = f"{texts[name]}\n\n{reply.text}" if name in texts else reply.text
        if reply.usage is not None:
            used.append(reply.usage)
    text = texts.get("history", history)
    if "prefix" in texts:
        text += TURN_CONTEXT + texts["prefix"]
    usage = None
    for item in used:
        usage = item if usage is None else usage + item
    several = (*turns[:-1], turns[-1] + appendix) if len(turns) > 1 else ()
    told: dict[str, Any] = {}
    for name in NAMED:
        values = dict.fromkeys(value for reply in replies if (value := getattr(reply, name)) is not None)
        told[name] = ", ".join(values) or None
    told["truncated"] = any(reply.truncated for reply in replies)
    told["oversize"] = tuple(one for reply in replies for one in reply.oversize)
    told["calls"] = len(replies) + sum(one.limit is not None for one in told["oversize"])
    return Checkpoint(text=text + appendix, usage=usage, turns=several, **told)


def _fault(job: SummaryJob, reply: Reply) -> str | None:
    if reply.stop_reason == "error":
        return reply.error or "Unknown error"
    if job.strict and reply.stop_reason == "length":
        return "the reply was cut off before its end"
    if job.strict and reply.stop_reason == "toolUse":
        return "the reply calls a tool"
    return None
