"""I/O: write the summary of a plan on a screen: preview of the requests, progress, and result.

One summary is written at a time. A model is called only for previewed requests: their digest is the
permission. The result is delivered as a `Checkpoint`; a failure is reported in a sentence and
keeps nothing.
"""

from __future__ import annotations

import importlib.util
import os
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from ..errors import EditError, InspectorError, Stopped, SummaryError
from ..planning.plan import Plan
from ..planning.summary_jobs import Checkpoint
from ..redaction.cut import cut_text
from ..replays.engine import OnProgress
from ..summaries.check import check_summary
from ..summaries.claude.anthropic_api import KEYS
from ..summaries.claude.summariser import ClaudeSummariser, Progress
from ..summaries.extractive.summariser import TOKENS, ExtractiveSummariser
from ..summaries.write import checkpoint_from_text, summarise
from ..text import printable
from .model import WorkbenchModel
from .payloads.summary import (
    cut_payload,
    describe_faults,
    describe_usage,
    describe_written,
    list_models,
    offline_payload,
    sending_payload,
)
from .tasks import TaskQueue, describe_error
from .written_summaries import MOST, WritingState

ADDRESS = "https://api.anthropic.com"
"""Default host of the `anthropic` package, if ANTHROPIC_BASE_URL is not set."""
Check = Callable[[], None]
CHANGED = "The request has changed since the preview; nothing was sent. Open the preview again."


class ApprovedPreview(NamedTuple):
    """A preview: the requests of a plan, by their digest, and their host."""

    plan: Plan
    claude: ClaudeSummariser
    digest: str
    address: str

    def is_of(self, plan: Plan, digest: str) -> bool:
        """Whether it is this plan that would be sent, and to the same place."""
        same = (self.plan.session.leaf, self.plan.jobs) == (plan.session.leaf, plan.jobs)
        return same and digest == self.digest and find_address() == self.address

    def write(self, plan: Plan, check: Check) -> Checkpoint:
        """Have the summary written.

        Raises, and sends nothing, if the request is not the previewed one to the byte, or if `check` raises.
        """
        if self.claude.preview(plan).digest != self.digest:
            raise InspectorError(CHANGED)
        # The preview was made again, which can take long; the user may have stopped it.
        check()
        return summarise(plan, self.claude)


def find_address() -> str:
    """Where requests go, as the `anthropic` package reads it from the environment."""
    return os.environ.get("ANTHROPIC_BASE_URL", "").strip() or ADDRESS


def find_host(address: str) -> str:
    """Return the host of an address, without a name and a password.

    >>> find_host(ADDRESS), find_host("http://me:secret@127.0.0.1:8080/v1")
    ('api.anthropic.com', '127.0.0.1:8080')
    """
    bare = address.partition("://")[2] or address
    return cut_text(re.split(r"[/?#]", bare, maxsplit=1)[0].rpartition("@")[2], 100)


def explain_no_provider() -> str:
    """Why no model can be asked from here, "" when one can. The key itself is not looked at."""
    if importlib.util.find_spec("anthropic") is None:
        return "The anthropic package is not installed: pip install 'compaction-inspector[claude]'."
    if not any(os.environ.get(name, "").strip() for name in KEYS):
        return f"There is no key for the provider: set {KEYS[0]} in the environment before Jupyter starts."
    return ""


MOST_AT_ONCE = 20_000
"""Characters of a text that one answer carries."""
MOST_PASTED = 2_000_000
PROVIDER = "context provider"
"""Key of the text that was typed for context providers."""
KEY = "summary"
WHAT = "Writing the summary"
STOPPED = "Stopped; nothing was saved."

WRITERS = ("extractive", "model", "pasted")
"""The writers of a summary. Only "model" calls a provider."""

Adopt = Callable[[Plan, Checkpoint | None], None]


class SummaryWriter:
    """Writes the summaries of one document, as one of its `tasks`. `adopt` is called with a plan and its
    summary.

    All requests are answered at once except "sending", which searches the session; send that from another
    thread.
    """

    def __init__(self, tasks: TaskQueue, adopt: Adopt) -> None:
        self._tasks, self._adopt = tasks, adopt
        # The document's: what `_state` is changes with its task and its plan.
        self._lock = tasks.lock
        self._state = WritingState()
        self._finished: list[WritingState] = []
        self._preview: ApprovedPreview | None = None
        self._summariser: ClaudeSummariser | None = None

    def close(self) -> None:
        """Deliver no further results."""
        self._adopt = lambda plan, checkpoint: None
        self._preview = self._summariser = None

    def answer(self, model: WorkbenchModel, query: Mapping[str, Any]) -> dict[str, Any]:
        """The reply to one of its questions. Raises `InspectorError`, or whatever an unknown question raises.

        `model` is the document's own, no copy: a summary that is done must be found on its plan.
        """
        kind = query["type"]
        if kind == "sending":
            return self.preview(model.plan, query)
        if kind == "summarise":
            self.write(model.plan, query)
        elif kind == "unsummarise":
            with self._lock:
                self._replace(WritingState())
                self._adopt(model.plan, None)
        return self.describe(model, int(query.get("from", 0)))

    def preview(self, plan: Plan, query: Mapping[str, Any]) -> dict[str, Any]:
        """Describe the requests to the provider. Nothing is sent."""
        if find_writer(query) != "model":
            return offline_payload(plan, _limit(plan), _explain_nothing(plan))
        plan, address = plan.with_summary(None), find_address()
        claude = self._make_summariser(plan, query, address)
        try:
            sending = claude.preview(plan)
        except EditError:
            # A name in `keep` no longer occurs in the request.
            sending = self._make_summariser(plan, {**query, "keep": ()}, address).preview(plan)
            there = {finding.name for finding in sending.redacted}
            keep = [name for name in query.get("keep", ()) if name in there]
            claude = self._make_summariser(plan, {**query, "keep": keep}, address)
            sending = claude.preview(plan)
        self._preview = ApprovedPreview(plan, claude, sending.digest, address)
        return sending_payload(sending, find_host(address), _explain_nothing(plan) or explain_no_provider())

    def write(self, plan: Plan, query: Mapping[str, Any]) -> None:
        """Start writing a summary; one that is still being written is cancelled.

        Raises `EditError` if `by` is not one of `WRITERS`.
        """
        plan, by, approved = plan.with_summary(None), find_writer(query), self._preview
        if trouble := _explain_nothing(plan):
            self._fail(plan, by, trouble)
        elif by == "pasted":
            text = str(query["text"])
            self._start(plan, by, lambda plan, _: _take_text(text, plan))
        elif by == "extractive":
            self._start(plan, by, lambda plan, _: summarise(plan, ExtractiveSummariser(plan.ledger)))
        elif approved is None or not approved.is_of(plan, str(query.get("digest", ""))):
            self._fail(plan, str(query.get("model", "")), CHANGED)
        else:
            self._start(plan, approved.claude.by, approved.write, approved.claude)

    def describe(self, model: WorkbenchModel, first: int = 0) -> dict[str, Any]:
        """How far it is: its text from character `first` on."""
        first = max(first, 0)
        with self._lock:
            now, plan = self._state, model.plan
            other = now.state in ("none", "done") and now.checkpoint is not plan.checkpoint
            if plan.checkpoint is not None and other:
                # The state belongs to another cut; this plan has its own summary.
                written = (writing for writing in self._finished if writing.checkpoint is plan.checkpoint)
                now = next(written, WritingState())
            text, share = now.text, now.share
        here = now.state == "done" and plan.checkpoint is now.checkpoint
        usage, price = describe_usage(now.by, now.used)
        models = list_models(plan)
        return {
            "state": now.state,
            "by": cut_text(now.by, 80),
            # Counts may have become exact since.
            "sentence": describe_written(plan) if here else now.sentence,
            "text": printable(text[first : first + MOST_AT_ONCE]),
            "from": first,
            "total": len(text),
            "share": share,
            "tries": now.tries,
            "tokens": plan.summary_tokens if here else 0,
            "usage": usage,
            "price": price,
            "findings": now.findings,
            "here": here,
            **cut_payload(now.plan),
            "models": models,
            "model": models[0],
            "limit": _limit(plan),
        }

    def _make_summariser(self, plan: Plan, query: Mapping[str, Any], address: str) -> ClaudeSummariser:
        model = str(query["model"]).strip() or list_models(plan)[0]
        keep = [str(name) for name in query.get("keep", ())]
        focus, added = str(query.get("focus", "")).strip(), str(query.get("additions", "")).strip()
        claude = ClaudeSummariser(
            model,
            focus=focus,
            additions={PROVIDER: added} if added else {},
            keep=keep,
            base_url=address,
        )
        if self._preview is not None:
            claude.remember(self._preview.claude)
        return claude

    def _start(
        self,
        plan: Plan,
        by: str,
        make: Callable[[Plan, Check], Checkpoint],
        claude: ClaudeSummariser | None = None,
    ) -> None:
        writing = WritingState("writing", by=by, plan=plan)

        def work(on_progress: OnProgress) -> WritingState:
            if claude is not None:
                claude.tell = lambda progress: self._on_progress(writing, progress, on_progress)
            checkpoint = make(plan, lambda: on_progress(0.0))
            if checkpoint.error is not None:
                raise EditError("summary by", checkpoint.by, checkpoint.error)
            return replace(
                writing,
                state="done",
                sentence=describe_written(plan.with_summary(checkpoint)),
                findings=describe_faults(check_summary(checkpoint, plan)),
                checkpoint=checkpoint,
                used=checkpoint.usage,
            )

        def take(done: WritingState) -> None:
            self._adopt(plan, done.checkpoint)
            self._state, self._finished = done, [*self._finished, done][-MOST:]

        def fail(error: BaseException) -> None:
            if claude is not None:
                claude.stop()
            if isinstance(error, Stopped):
                self._state = WritingState("stopped", by=by, sentence=STOPPED)
                return
            # The result is not kept, but it was paid for.
            used = error.used if isinstance(error, SummaryError) else None
            sentence = describe_error(error)
            self._state = WritingState(
                "failed", by=by, sentence=sentence, plan=plan, tries=writing.tries, used=used
            )

        with self._lock:
            self._replace(writing)
            self._summariser = claude
            self._tasks.submit("summary", work, take, fail, KEY, WHAT)

    def _fail(self, plan: Plan, by: str, sentence: str) -> None:
        self._replace(WritingState("failed", by=by, sentence=sentence, plan=plan))

    def _replace(self, state: WritingState) -> None:
        """Cancel the summary that is being written, and its running and future calls."""
        with self._lock:
            self._tasks.cancel(KEY)
            if self._summariser is not None:
                self._summariser.stop()
            self._state = state

    def _on_progress(self, writing: WritingState, progress: Progress, on_progress: OnProgress) -> None:
        with self._lock:
            part = progress.kind, threading.get_ident()
            writing.parts[part], writing.shares[part] = progress.text, progress.share
            writing.tries = max(writing.tries, progress.tries)
            share = writing.share
        on_progress(share or 0.0)


def find_writer(query: Mapping[str, Any]) -> str:
    """Return the writer that a query names. Raises `EditError` if it is not one of `WRITERS`."""
    by = query.get("by")
    if not isinstance(by, str) or by not in WRITERS:
        raise EditError("summary by", f"{by!r:.60}", f"must be one of {', '.join(WRITERS)}")
    return by


def _explain_nothing(plan: Plan) -> str:
    if plan.jobs:
        return ""
    return cut_text(plan.why, 400) or "This plan summarises nothing, so there is nothing to write."


def _limit(plan: Plan) -> int:
    """Tokens an extractive summary may have."""
    return sum(min(TOKENS, TOKENS if job.max_tokens is None else job.max_tokens) for job in plan.jobs)


def _take_text(text: str, plan: Plan) -> Checkpoint:
    if len(text) > MOST_PASTED:
        raise EditError(
            "summary by", "pasted", f"it has {len(text):,} characters; at most {MOST_PASTED:,} are accepted"
        )
    return checkpoint_from_text(text, plan)
