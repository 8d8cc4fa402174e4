"""I/O: a summariser that asks a Claude model: `(SummaryJob, Session) -> Reply`.

`preview` shows the requests: their redacted text, their tokens and their price. Only calling the summariser
and `compact` send anything. The `anthropic` package retries by itself; further attempts are listed in
`events`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

from ...errors import AnswerRefused, RequestRefused, Stopped, SummaryError, expect
from ...planning.plan import Plan
from ...planning.summary_jobs import TIGHTER, Checkpoint, Oversize, Reply, SummaryJob
from ...policies.events import AuditEvent
from ...redaction.cut import cut_line
from ...redaction.redact import Redactor, keep_names
from ...session.entries import Usage
from ...session.session import Session
from ...tokens.counter import Counter
from ...tokens.prices import PRICES, TTL, Price, find_price
from ..material import job_text
from ..prompts import find_prompt
from ..write import covered
from .allowance import NOTHING, Allowance, SpendingLimit, find_limit
from .anthropic_api import ApiCall, read_secrets
from .request import (
    LONGEST,
    NAME,
    Json,
    PreviewedRequest,
    RequestOptions,
    RequestPreview,
    RequestRedactor,
    choose_prompt,
    count_body,
    look_at,
    price_requests,
    read_texts,
    write_body,
)
from .server_side import ask_provider, read_compacted, tell_binding
from .shorten import MARGIN, Shortened, find_share, shorten_job

MOST_SHORTENED = 5
"""How often a request is shortened before the provider's refusal is reported."""
_OVERFLOWS = frozenset({"token_overflow", "byte_overflow"})


class JobRunner:
    """One job, sent until there is a valid answer or a reason to give up."""

    def __init__(self, claude: ClaudeSummariser, job: SummaryJob, session: Session) -> None:
        self.claude, self.job, self.session = claude, job, session
        self.stops = claude.stops
        self.cleaner = claude.cleaner(session)
        self.budget = LONGEST if job.max_tokens is None else job.max_tokens
        self.limit: int | None = None
        self.short: Shortened | None = None
        self.used: Usage | None = None
        self.oversize: list[Oversize] = []
        self.shortened = self.tightened = self.size = 0
        self.body = self._write()
        self.allowance = Allowance(limit_job([self.body]))

    def run(self) -> Reply:
        while True:
            try:
                call = self._ask()
            except SummaryError as error:
                self._pay(error.used)
                error.used = self.used
                if not (self._shorten(error.kind, str(error)) and self._may_ask()):
                    raise
                continue
            self._pay(call.usage)
            if (kind := find_fault(call)) is None:
                return self._answer(call)
            if kind == "token_overflow" and self._shorten(kind, "") and self._may_ask():
                continue
            if kind == "cut_off" and self._tighten(call) and self._may_ask():
                continue
            if kind == "cut_off" and call.text.strip() and not self.job.strict:
                return self._truncate(call)
            raise _refuse(kind, call, self.budget, self.tightened, self.used)

    def _answer(self, call: ApiCall) -> Reply:
        """Build the reply, with its provider, model and prompt (S0-64, S0-65)."""
        asking = self.claude.asking
        return Reply(
            text=call.text.strip(),
            usage=self.used,
            provider=self.claude.provider,
            model=call.model or asking.model,
            prompt=choose_prompt(asking.prompt, self.limit),
            oversize=tuple(self.oversize),
        )

    def _truncate(self, call: ApiCall) -> Reply:
        """Keep the summary that the budget cut off, after asking for a shorter one `TIGHTER` times."""
        size = int(call.usage.output)
        self.oversize.append(Oversize(size=size, budget=self.budget))
        self.claude.note("summary_oversize", size=size, budget=self.budget, attempt=self.tightened + 1)
        self.claude.note("summary_truncated", size=size, budget=self.budget)
        return self._answer(call).model_copy(update={"truncated": True})

    def _may_ask(self) -> bool:
        """Write the next request; return whether it fits the limit of the preview."""
        self.body = self._write()
        return self.allowance.allows(self.body)

    def _write(self) -> Json:
        asking, job, session = self.claude.asking, self.job, self.session
        if self.short is not None:
            job, session = self.short.job, self.short.session
            asking = replace(
                asking, additions={**asking.additions, "compaction-inspector": self.short.notice}
            )
        return write_body(job, session, asking, self.cleaner, limit=self.limit)

    def _ask(self) -> ApiCall:
        self.size = sum(map(len, read_texts(self.body)))
        return self.claude.follow(self.cleaner, self.job.kind, self.body, stops=self.stops)

    def _pay(self, used: Usage | None) -> None:
        """Count the usage of an answer, including one that is rejected."""
        self.allowance.pay(self.body, used)
        if used is not None and used.tokens:
            self.used = used if self.used is None else self.used + used

    def _shorten(self, kind: str, message: str) -> bool:
        """Shorten the request. Return False if that does not help or nothing is left to omit."""
        if kind not in _OVERFLOWS or self.shortened >= MOST_SHORTENED:
            return False
        before = self.short.characters if self.short is not None else len(job_text(self.session, self.job))
        share = find_share(message) if kind == "token_overflow" else None
        # Only the conversation is shortened, not the instructions and the earlier summary.
        over = self.size * (1 - share * MARGIN) if share is not None else before / 2
        most = int(before - over)
        short = shorten_job(self.job, self.session, most)
        if short is None:
            return False
        self.short, self.shortened = short, self.shortened + 1
        self.claude.note(kind, surface="summary")
        data = {"step": short.step, "characters": short.characters, "left_out": short.left_out}
        self.claude.note("retried", error=kind, attempt=self.shortened, **data)
        return True

    def _tighten(self, call: ApiCall) -> bool:
        """Halve the length to ask for, as a replay does. Return False after `TIGHTER` times (S0-104)."""
        if self.tightened >= TIGHTER:
            return False
        self.tightened += 1
        self.limit = max((self.limit or self.budget) // 2, 1)
        size = int(call.usage.output)
        data = {"size": size, "budget": self.budget, "attempt": self.tightened, "limit": self.limit}
        self.claude.note("summary_oversize", **data)
        self.oversize.append(Oversize(size=size, budget=self.budget, limit=self.limit))
        return True


limit_job = partial(find_limit, again=TIGHTER + MOST_SHORTENED)
"""The limit of one job, which is repeated if its answer or its request is too long."""


def find_fault(call: ApiCall) -> str | None:
    """Return why an answer is not a usable summary; None if it is one."""
    reasons = {
        "max_tokens": "cut_off",
        "model_context_window_exceeded": "token_overflow",
        "refusal": "refusal",
        "tool_use": "tool",
    }
    if fault := reasons.get(call.stop_reason):
        return fault
    if call.stop_reason not in ("end_turn", "stop_sequence"):
        return "unknown"
    return None if call.text.strip() else "empty"


MOST_NAMED = 60
"""Characters shown of a reason that the provider states."""


def _refuse(kind: str, call: ApiCall, budget: int, tightened: int, used: Usage | None) -> SummaryError:
    again = f", also when asked for less {tightened} times" if tightened else ""
    category = call.details.get("category")
    named = cut_line(call.scrub(category), MOST_NAMED) if isinstance(category, str) else ""
    why = f" (it names the reason {named})" if named else ""
    if kind == "token_overflow":
        return RequestRefused(kind, "The request fills the model's window, so the answer was cut off.", used)
    says = {
        "cut_off": f"The summary was cut off at its {budget:,} tokens{again}; none of it was kept.",
        "empty": "The model's answer is empty, so there is no summary.",
        "refusal": f"The model refused to write the summary{why}.",
        "tool": "The model called a tool instead of writing the summary.",
        "unknown": "The model stopped for a reason that is not known here, so its answer was not kept.",
    }
    return AnswerRefused(kind, says[kind], used)


TICK = 0.05
"""Seconds between two reports of progress, and the longest time that stopping takes."""
_UNITS_PER_TOKEN = 4


class Progress(NamedTuple):
    """How far an answer is: the job's kind, its text so far, the share of the longest it may be, 0 to 1.

    `tries` counts requests: more than one when the provider refused or failed and was asked again.

    >>> def tell(progress):
    ...     print(f"{progress.kind}: {progress.share:.0%}")
    >>> claude = ClaudeSummariser("claude-opus-4-5", tell=tell)
    >>> tell(Progress("initial", "The user asked for", share=0.25, tries=1))  # as the summariser does
    initial: 25%
    """

    kind: str
    text: str
    share: float
    tries: int


OnSummaryProgress = Callable[[Progress], None]


class ClaudeClient:
    """Base of the Claude clients: it redacts and sends requests, reports their progress, and cancels them."""

    provider = "anthropic"

    def __init__(
        self,
        asking: RequestOptions,
        max_retries: int,
        base_url: str | None,
        timeout: float,
        prices: Mapping[str, Price],
        tell: OnSummaryProgress | None,
    ) -> None:
        self.asking, self.prices, self.tell = asking, prices, tell
        self.max_retries, self.base_url, self.timeout = max_retries, base_url, timeout
        self.events: list[AuditEvent] = []
        self._calls: set[ApiCall] = set()
        self.stops = 0
        self._last_redactor: tuple[Session, Redactor] | None = None
        self._lock = threading.Lock()

    @property
    def model(self) -> str:
        """The model that is asked."""
        return self.asking.model

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r})"

    def __reduce__(self) -> Any:
        raise TypeError(
            "a summariser that asks a model cannot be pickled; create it in the process that uses it"
        )

    def remember(self, other: ClaudeClient) -> None:
        """Know what another found in a session, so that it is not looked through again."""
        self._last_redactor = other._last_redactor

    def stop(self) -> None:
        """Give up all that is under way: each call raises `Stopped` at once, and sends nothing more."""
        self.stops += 1
        for call in tuple(self._calls):
            call.give_up()

    def cleaner(self, session: Session) -> RequestRedactor:
        """Return the redactor for a session's requests; the session is searched for secrets once."""
        with self._lock:
            if self._last_redactor is None or self._last_redactor[0] is not session:
                self._last_redactor = session, look_at(session)
            # The environment is read now, and forgotten with the cleaner.
            return RequestRedactor(
                session, replace(self.asking, secrets=read_secrets()), self._last_redactor[1]
            )

    def follow(
        self,
        cleaner: RequestRedactor,
        kind: str,
        body: Json,
        betas: tuple[str, ...] = (),
        stops: int | None = None,
    ) -> ApiCall:
        """Make a call and report its progress. The call is not started if there was a stop since `stops`."""
        call = ApiCall(cleaner.scrub, self.base_url, self.max_retries, self.timeout)
        self._calls.add(call)
        try:
            if stops is not None and self.stops != stops:
                raise Stopped
            call.start(body, betas)
            over = False
            while not over:
                over = call.wait(TICK)
                if self.tell is not None:
                    most = max(body["max_tokens"], 1) * _UNITS_PER_TOKEN
                    share = min(1.0, len(call.text) / most)
                    self.tell(Progress(kind, call.text, 1.0 if over else share, call.tries))
            return call
        finally:
            call.give_up()
            self._calls.discard(call)
            again = max(call.tries - 1, 0)
            for status, wait in zip(call.statuses[:again], call.waits[:again], strict=True):
                waited = {"wait": round(wait)} if wait >= 1 else {}
                self.note("retried", error=f"http-{status}", **waited)

    def note(self, kind: str, **data: Any) -> None:
        """Record an event for the caller."""
        self.events.append(AuditEvent(kind, provider="anthropic", model=self.model, data=data))

    def sum_up(
        self,
        requests: list[PreviewedRequest],
        counter: Counter,
        cleaner: RequestRedactor,
        notes: tuple[str, ...],
        limit: SpendingLimit,
    ) -> RequestPreview:
        """Build the preview of requests that a run may repeat within a limit."""
        price, price_note = find_price(self.model, self.prices)
        bodies = [request.body for request in requests]
        return RequestPreview(
            self.model,
            tuple(requests),
            counter.name,
            counter.source,
            price_requests(requests, price, self.asking.cache),
            price_note,
            *cleaner.findings(bodies),
            notes,
            limit,
            limit.price(price, self.asking.cache),
        )


class ClaudeSummariser(ClaudeClient):
    """A summariser that asks `model` by the Anthropic API.

    `focus` is what to keep above all, `additions` what context providers add, by their names. `cache`
    is the lifetime of the prompt in the provider's cache, so that another wording costs less; None turns
    caching off.
    `effort` is passed on as `output_config.effort` when given: a job's own effort is not, since not every
    model knows it. Secrets are redacted, except those named in `keep`; `personal` redacts e-mail addresses
    and users' names too. `prices` is the price table. `provider_side` has the provider compact instead of
    answering jobs (`compact`), which keeps reasoning that a model binds to the messages before it; `preview`
    names those models.

    `tell` is called with a `Progress` every 50 ms, in the calling thread, and may raise `Stopped`. `events`
    lists the requests that were sent again and the reasons. Raises `KeyMissing`, `RequestRefused`,
    `AnswerRefused`, `RedactionError` and `Stopped`. Several calls may run in parallel.

    >>> ClaudeSummariser("claude-opus-4-5", focus="the failing test")
    ClaudeSummariser('claude-opus-4-5')
    """

    side_by_side = keeps_limit = True
    deterministic = False

    def __init__(
        self,
        model: str,
        *,
        focus: str = "",
        additions: Mapping[str, str] = MappingProxyType({}),
        max_retries: int = 2,
        base_url: str | None = None,
        timeout: float = 600.0,
        cache: TTL | None = "5m",
        effort: str | None = None,
        prompt: str = NAME,
        keep: Collection[str] = (),
        personal: bool = False,
        provider_side: bool = False,
        prices: Mapping[str, Price] = PRICES,
        tell: OnSummaryProgress | None = None,
    ) -> None:
        expect("ClaudeSummariser", prompt=(prompt, str), additions=(additions, Mapping))
        find_prompt(prompt)
        options = model, focus, dict(additions), cache, effort, prompt, keep_names(keep), personal
        super().__init__(RequestOptions(*options), max_retries, base_url, timeout, prices, tell)
        self.provider_side = provider_side

    @property
    def by(self) -> str:
        """Who writes: the model."""
        return self.model

    @property
    def prompt(self) -> str:
        """The name of the prompt."""
        return self.asking.prompt

    def __call__(self, job: SummaryJob, session: Session) -> Reply:
        """Ask for one job's summary."""
        return JobRunner(self, job, session).run()

    def preview(self, plan: Plan) -> RequestPreview:
        """Return the requests for a plan: redacted, counted by the plan's own counter, priced. Sends nothing.

        Raises `RedactionError` if the search for secrets fails, `EditError` for a name in `keep` that no
        secret has.
        """
        counter = plan.ledger.counter
        cleaner = self.cleaner(plan.session)
        if self.provider_side:
            side = ask_provider(plan, self.asking, cleaner)
            requests, notes = [PreviewedRequest("compaction", side.body, side.tokens, 0)], side.notes
        else:
            bodies = [write_body(job, plan.session, self.asking, cleaner) for job in plan.jobs]
            requests = [
                count_body(job.kind, body, counter) for job, body in zip(plan.jobs, bodies, strict=True)
            ]
            notes = tell_binding(self.model)
        cleaner.check_keep()
        # The limit of one run for each request.
        find = partial(find_limit, asks=1) if self.provider_side else limit_job
        limit = sum((find([request.body]) for request in requests), start=NOTHING)
        return self.sum_up(requests, counter, cleaner, notes, limit)

    def write_plan(self, plan: Plan) -> Checkpoint | None:
        """Return the checkpoint compacted by the provider; None if the plan's jobs are to be answered
        instead. Raises the exceptions of `compact`."""
        return self.compact(plan) if self.provider_side else None

    def compact(self, plan: Plan) -> Checkpoint:
        """Have the provider compact the messages before the plan's cut.

        For models that refuse thinking whose prefix was edited. The checkpoint has no list of files after the
        summary: the provider's block is returned unchanged. Raises the exceptions of a call, and
        `PolicyError` for a plan without a cut.
        """
        cleaner = self.cleaner(plan.session)
        side = ask_provider(plan, self.asking, cleaner)
        call = self.follow(cleaner, "initial", side.body, side.betas)
        sealed = read_compacted(side, call.blocks, call.stop_reason, call.usage)
        own = {"by": self.by, "provider": self.provider, "model": self.model}
        covers = tuple(map(str, covered(plan)))
        return Checkpoint(text=sealed.block["content"], usage=call.usage, covers=covers, sealed=sealed, **own)
