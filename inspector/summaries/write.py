"""Plan + summariser -> Checkpoint: the jobs of a plan are answered, and the answers put together.

A summariser is anything that answers a job: `ExtractiveSummariser`, a model, a function of your own. What
another harness wrote comes in by `checkpoint_from_text`.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from ..errors import ArgumentError, EditError, InspectorError, Stopped, expect
from ..planning.plan import Plan
from ..planning.summary_jobs import TIGHTER, TURN_CONTEXT, Checkpoint, Oversize, Reply, SummaryJob
from ..policies.harness import Harness
from ..policies.rules.carry_file_operations import CarryFileOperations, FileOperations, collect
from ..policies.table import SUMMARISED
from ..session.blocks import REASONING, BlockRef
from ..session.entries import Usage
from ..session.session import Session
from ..session.toolcalls.canonical_path import canonical_path
from .extractive.summariser import ExtractiveSummariser

Count = Callable[[str], int]
"""Tokens of a text."""
Summariser = Callable[[SummaryJob, Session], Reply | str]
"""Answers one job with a reply, or with its text alone.

Optional attributes: `by` (a name), `provider`, `model` and `prompt` (names that are recorded),
`deterministic`, `reads_reasoning` (False for one that leaves it out), `side_by_side` (its calls may run in
threads of their own), `keeps_limit` (its answers are never too long, so they are not counted again), `stop()`
(cancels running calls), `without(files)` (a copy that leaves out files listed elsewhere), `write_plan(plan)`
(writes the whole checkpoint itself, or returns None).
"""

NAMED = ("provider", "model", "prompt")
"""The recorded fields about the writer of a summary, if known (S0-64, S0-65)."""
_WRAPPED = re.compile(r"<summary>(.*?)</summary>", re.DOTALL)


def summarise(plan: Plan, summariser: Summariser | None = None) -> Checkpoint:
    """Have a plan's jobs answered and join the answers; without a summariser, by `ExtractiveSummariser`.

    A split turn takes two answers, anything else one (S4-47, S4-48). The policy's lists of files end the text
    (S4-45). An answer over its job's limit is requested again and finally cut; the checkpoint records this
    (`ask_within`). A call that fails is repeated as often as the policy's harness does (`Calls`). After that,
    a reply that stopped in error makes a checkpoint with an `error`, and an exception of the summariser is
    raised. Raises `EditError` for a plan that summarises nothing.

    >>> from inspector import count_tokens, make_plan, open_demo
    >>> session = open_demo()
    >>> plan = make_plan(session, count_tokens(session), "claude-code", reason="manual")
    >>> summarise(plan).by, summarise(plan, lambda job, session: "All is well.").text
    ('extractive', 'All is well.')
    """
    expect("summarise", plan=(plan, Plan))
    return ask_for_summary(plan, summariser, Calls(plan.policy.running))


class Calls:
    """The calls of a summariser for one plan: their `count`, how many `failed`, and how many were `repeated`.

    A call fails whose reply cannot stand for what was asked, or that raises anything but an error of this
    package, which knows by itself what is worth another call. It is made again at once, as often as the
    harness does for one compaction (S0-101).
    """

    def __init__(self, harness: Harness) -> None:
        self.harness, self.count, self.failed, self.repeated = harness, 0, 0, 0
        self._lock = threading.Lock()

    def ask(self, summariser: Summariser, job: SummaryJob, session: Session) -> Reply:
        """The answer to a job, and what every answer on the way there cost."""
        used: Usage | None = None
        while True:
            with self._lock:
                self.count += 1
            try:
                reply = _ask(summariser, job, session)
            except InspectorError:
                raise
            except Exception:
                if not self._fail():
                    raise
                continue
            if reply.usage is not None:
                used = reply.usage if used is None else used + reply.usage
            if _fault(job, reply) is None or not self._fail():
                return reply.model_copy(update={"usage": used})

    def _fail(self) -> bool:
        """Count a call that failed; whether it is made again."""
        with self._lock:
            self.failed += 1
            again = self.harness.may_retry(self.failed)
            self.repeated += again
            return again


def ask_for_summary(plan: Plan, summariser: Summariser | None, calls: Calls) -> Checkpoint:
    """`summarise`, with the calls counted."""
    if summariser is not None and not callable(summariser):
        raise ArgumentError("summarise", "summariser", summariser, "a function of a job and its session")
    if not plan.jobs:
        raise EditError("summary", plan.policy.name, plan.why or "the plan summarises nothing")
    summariser = ExtractiveSummariser(plan.ledger) if summariser is None else summariser
    whole = getattr(summariser, "write_plan", None)
    if whole is not None and (checkpoint_data := whole(plan)) is not None:
        return Checkpoint.model_validate(checkpoint_data)
    files = carried_files(plan)
    wrapped = summariser
    if files is not None and (without := getattr(summariser, "without", None)) is not None:
        paths = [*files.read_files, *files.modified_files]
        wrapped = without(frozenset(canonical_path(path, plan.session.cwd) for path in paths))
    replies = _ask_all(plan, wrapped, calls)
    checkpoint = write_checkpoint(plan.jobs, replies, "" if files is None else files.text())
    fields: dict[str, Any] = {
        "by": name_of(summariser),
        "calls": calls.count,
        "covers": tuple(map(str, covered(plan, getattr(summariser, "reads_reasoning", True)))),
        "deterministic": bool(getattr(summariser, "deterministic", False)),
    }
    for name in NAMED:
        value = getattr(checkpoint, name) or getattr(summariser, name, None)
        fields[name] = None if value is None else str(value)
    return checkpoint.model_copy(update=fields)


def checkpoint_from_text(text: str, plan: Plan | None = None, *, by: str = "pasted") -> Checkpoint:
    """Make a checkpoint of an existing text, such as another harness's summary; `plan` says what it covers.

    If a part of the text is marked as the summary, only that part is used, without the writer's thoughts
    before it. With a `plan`, the lists of files that its policy adds to any summary (S4-45) are appended
    unless the text ends with them. Raises `EditError` for text without words.

    >>> checkpoint_from_text("<analysis>hm</analysis>\\n<summary>\\nAll is well.\\n</summary>").text
    'All is well.'
    """
    expect("checkpoint_from_text", text=(text, str), plan=(plan, Plan, None), by=(by, str))
    marked = _WRAPPED.findall(text)
    words = (marked[0] if len(marked) == 1 else text).replace("\r\n", "\n").strip()
    if not any(map(str.isalnum, words)):
        raise EditError("summary by", by, "there are no words in it")
    if plan is None:
        return Checkpoint(text=words, by=by)
    return with_files(plan, Checkpoint(text=words, by=by, covers=tuple(map(str, covered(plan)))))


def name_of(summariser: Summariser) -> str:
    """Return the summariser's own name, else the name of the function or its type."""
    label = getattr(summariser, "by", None) or getattr(summariser, "__name__", None)
    return str(label or type(summariser).__name__)


def carried_files(plan: Plan) -> FileOperations | None:
    """The files that the policy lists after the summary; None if it lists none."""
    if not any(isinstance(rule, CarryFileOperations) and rule.enabled for rule in plan.policy.rules):
        return None
    return collect(plan.table, plan.place or 0)


def with_files(plan: Plan, checkpoint: Checkpoint) -> Checkpoint:
    """Return the checkpoint with the policy's lists of files at the end of its text (S4-45).

    A failed or empty checkpoint is unchanged, and so is an encrypted one: the provider's block is sent back
    unchanged.
    """
    files = carried_files(plan)
    if files is None or checkpoint.error is not None or checkpoint.sealed is not None:
        return checkpoint
    lists = files.text()
    if not checkpoint.text.strip() or checkpoint.text.rstrip().endswith(lists.strip()):
        return checkpoint
    return checkpoint.model_copy(update={"text": checkpoint.text + lists})


def covered(plan: Plan, reasoning: bool = True) -> list[BlockRef]:
    """The blocks that the summary is written from, in context order, with their `reasoning` or without."""
    rows = (plan.fate == SUMMARISED) & (reasoning | (plan.table.kind != REASONING))
    return plan.session.live_refs(np.flatnonzero(rows))


def _ask_all(plan: Plan, summariser: Summariser, calls: Calls) -> list[Reply]:
    """Return an answer to each job in order; calls run in parallel if the summariser supports it."""
    jobs = plan.jobs

    def ask(job: SummaryJob) -> Reply:
        return calls.ask(summariser, job, plan.session)

    def answer(job: SummaryJob) -> Reply:
        if getattr(summariser, "keeps_limit", False):
            return ask(job)
        return ask_within(ask, job, lambda text: int(plan.ledger.count_texts([text])[0]))

    if len(jobs) < 2 or not getattr(summariser, "side_by_side", False):
        return list(map(answer, jobs))
    replies: list[Reply | None] = [None] * len(jobs)
    faults: list[BaseException | None] = [None] * len(jobs)

    def work(at: int) -> None:
        try:
            replies[at] = answer(jobs[at])
        except BaseException as fault:
            faults[at] = fault
            if (stop := getattr(summariser, "stop", None)) is not None:
                stop()

    threads = [threading.Thread(target=work, args=(at,), daemon=True) for at in range(1, len(jobs))]
    for thread in threads:
        thread.start()
    # The first is asked here, so that an interrupt reaches it.
    work(0)
    for thread in threads:
        thread.join()
    if failures := [fault for fault in faults if fault is not None]:
        # The others were only given up because of the first that failed by itself.
        raise next((fault for fault in failures if not isinstance(fault, Stopped)), failures[0])
    return [reply for reply in replies if reply is not None]


def ask_within(ask: Callable[[SummaryJob], Reply], job: SummaryJob, count: Count) -> Reply:
    """The answer to a job within the tokens that the job allows, and what every answer on the way there cost.

    One that is too long is reported in `oversize` and asked for again with half the limit; after `TIGHTER`
    more tries it is `truncated` (S0-103 to S0-105).

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


def _ask(summariser: Summariser, job: SummaryJob, session: Session) -> Reply:
    reply = summariser(job, session)
    if isinstance(reply, str):
        return Reply(text=reply)
    if not isinstance(reply, Reply):
        raise ArgumentError("summarise", f"what {name_of(summariser)} returns", reply, "a string or a Reply")
    return reply


def write_checkpoint(jobs: Sequence[SummaryJob], replies: Sequence[Reply], appendix: str = "") -> Checkpoint:
    """Join the replies as Flue does.

    A reply that stopped in error fails the whole checkpoint. A split turn without history says so instead, or
    keeps the previous summary, as its job says. If no reply has words, neither has the checkpoint. Replies
    for several turns are the checkpoint's `turns`, and follow each other in its text, separated by a blank
    line.
    """
    for job, reply in zip(jobs, replies, strict=True):
        if fault := _fault(job, reply):
            what = "Turn prefix summarization" if job.kind == "turn_prefix" else "Summarization"
            return Checkpoint(error=f"{what} failed: {fault}")
    pairs = list(zip(jobs, replies, strict=True))
    turns = [reply.text for job, reply in pairs if job.kind != "turn_prefix"]
    prefixes = [reply.text for job, reply in pairs if job.kind == "turn_prefix"]
    text = "\n\n".join(turns) if turns else jobs[-1].history if jobs else ""
    if prefixes:
        text += TURN_CONTEXT + "\n\n".join(prefixes)
    if not any(reply.text.strip() for reply in replies):
        text = appendix = ""
    usages = [reply.usage for reply in replies if reply.usage is not None]
    usage = reduce(add, usages) if usages else None
    several = (*turns[:-1], turns[-1] + appendix) if len(turns) > 1 else ()
    fields: dict[str, Any] = {}
    for name in NAMED:
        values = dict.fromkeys(value for reply in replies if (value := getattr(reply, name)) is not None)
        fields[name] = ", ".join(values) or None
    fields["truncated"] = any(reply.truncated for reply in replies)
    fields["oversize"] = tuple(oversize for reply in replies for oversize in reply.oversize)
    return Checkpoint(text=text + appendix, usage=usage, turns=several, **fields)


def _fault(job: SummaryJob, reply: Reply) -> str | None:
    if reply.stop_reason == "error":
        return reply.error or "Unknown error"
    if job.strict and reply.stop_reason == "length":
        return "the reply was cut off before its end"
    if job.strict and reply.stop_reason == "toolUse":
        return "the reply calls a tool"
    return None
