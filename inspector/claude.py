"""DOOR: a summariser that asks a Claude model: `(SummaryJob, Session) -> Reply`.

What would be sent can be seen before (`preview`): its words, without secrets, its tokens and its price.
Nothing is sent but by calling the summariser, and by `count`, `count_edited` and `compact`. Retries are those
of the `anthropic` package; what `asker` does beyond them is told in `events`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

from .apicall import ApiCall, read_secrets
from .asker import Asker
from .errors import Stopped
from .planning.plan import Plan
from .planning.summary_jobs import Checkpoint, Reply, Sealed, SummaryJob
from .policies.events import AuditEvent
from .prompts import find_prompt
from .providerside import Compacted, ProviderSide, ask_edits, ask_provider, read_compacted, tell_binding
from .redaction.redact import Redactor, keep_names
from .sending import (
    NAME,
    Asked,
    Asking,
    Cleaner,
    Json,
    Sending,
    count_body,
    look_at,
    price_requests,
    write_body,
)
from .session.session import Session
from .tokens.counters import ESTIMATE
from .tokens.prices import PRICES, TTL, Price, find_price
from .writing import covered

TICK = 0.05
"""Seconds between two words about progress, and the longest that giving up takes."""
_UNITS_PER_TOKEN = 4
_COUNTED = frozenset({"model", "system", "messages", "tools"})
"""Parts of a request that have tokens."""


class Progress(NamedTuple):
    """How far an answer is: the job's kind, its text so far, the share of the longest it may be, 0 to 1.

    `tries` counts requests: more than one when the provider refused or failed and was asked again.
    """

    kind: str
    text: str
    share: float
    tries: int


Tell = Callable[[Progress], None]
Work = Callable[[ApiCall], None]


class Claude:
    """A summariser that asks `model` by the Anthropic API.

    `focus` is what the user wants kept most, `additions` what context providers add, by their names. `cache`
    is how long the provider keeps what was sent for an answer in other words; None asks for no caching.
    `effort` is passed on as `output_config.effort` when given: a job's own effort is not, since not every
    model knows it. Secrets are taken out of all that is sent but those named in `keep`; `personal` takes out
    e-mail addresses and users' names too. `prices` is the table to price by. `provider_side` has the provider
    compact instead of answering jobs (`compact`), which keeps reasoning that a model binds to what stands
    before it; `preview` says of which models that is.

    `tell` hears `Progress` every 50 ms, in the thread that called, and may raise `Stopped`. `events` tells of
    what was asked again and why. Raises `KeyMissing`, `RequestRefused`, `AnswerRefused`, `RedactionError` and
    `Stopped`. Several calls may run side by side.

    >>> Claude("claude-opus-4-5", focus="the failing test")
    Claude('claude-opus-4-5')
    """

    side_by_side = True
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
        tell: Tell | None = None,
    ) -> None:
        find_prompt(prompt)
        self.asking = Asking(model, focus, dict(additions), cache, effort, prompt, keep_names(keep), personal)
        self.max_retries, self.base_url, self.timeout = max_retries, base_url, timeout
        self.prices, self.tell, self.provider_side = prices, tell, provider_side
        self.events: list[AuditEvent] = []
        self._calls: set[ApiCall] = set()
        self.stops = 0
        self._seen: tuple[Session, Redactor] | None = None
        self._lock = threading.Lock()

    @property
    def model(self) -> str:
        return self.asking.model

    @property
    def by(self) -> str:
        """Who wrote what comes of it."""
        return self.model

    def __repr__(self) -> str:
        return f"Claude({self.model!r})"

    def __reduce__(self) -> Any:
        raise TypeError("a summariser that asks a model is not written down; make it where it is used")

    def __call__(self, job: SummaryJob, session: Session) -> Reply:
        """Ask for one job's summary."""
        return Asker(self, job, session).run()

    def preview(self, plan: Plan) -> Sending:
        """What would be sent for a plan: redacted, counted by the plan's own counter, priced. Sends nothing.

        Raises `RedactionError` when secrets cannot be looked for, `EditError` for a name in `keep` that none
        has.
        """
        counter = plan.ledger.counter
        if self.provider_side:
            side, cleaner = self._side(plan)
            asked = [Asked("compaction", side.body, side.tokens, 0)]
            return self._sending(asked, counter.name, counter.source, cleaner, side.notes)
        cleaner, bodies = self._bodies(plan)
        asked = [count_body(job.kind, body, counter) for job, body in zip(plan.jobs, bodies, strict=True)]
        return self._sending(asked, counter.name, counter.source, cleaner, tell_binding(self.model))

    def count(self, plan: Plan) -> Sending:
        """The same, its tokens counted by the provider: what would be sent goes there, without secrets.

        The count is free and no answer is written; the provider calls it an estimate (CLAUDE §6).
        """
        if self.provider_side:
            side, cleaner = self._side(plan)
            shapes = [Asked("compaction", side.body, side.tokens, 0)]
            notes, betas = side.notes, side.betas
        else:
            cleaner, bodies = self._bodies(plan)
            shapes = [
                count_body(job.kind, body, ESTIMATE) for job, body in zip(plan.jobs, bodies, strict=True)
            ]
            notes, betas = tell_binding(self.model), ()
        asked = []
        for rough in shapes:
            plain = {key: value for key, value in rough.body.items() if key in _COUNTED}
            call = self.follow(cleaner, rough.kind, 0, partial(ApiCall.count, body=plain, betas=betas))
            exact = int(call.counted["input_tokens"])
            share = rough.cached / rough.tokens if rough.tokens else 0.0
            asked.append(rough._replace(tokens=exact, cached=round(exact * share)))
        source = "Counted by the provider for this very request"
        return self._sending(asked, "count_tokens", source, cleaner, notes)

    def write_plan(self, plan: Plan) -> Checkpoint | None:
        """The whole checkpoint, compacted by the provider; None where the plan's jobs are to be answered.

        Raises what `compact` raises. Files that a policy lists after its summary are not in it: the
        provider's block goes back as it came.
        """
        if not self.provider_side:
            return None
        made = self.compact(plan)
        sealed = Sealed(block=made.block, betas=made.betas, model=self.model)
        covers = tuple(map(str, covered(plan)))
        return Checkpoint(
            text=made.reply.text, by=self.by, usage=made.reply.usage, covers=covers, sealed=sealed
        )

    def compact(self, plan: Plan) -> Compacted:
        """Have the provider compact what stands before the plan's cut (CLAUDE §5).

        For models that refuse thinking whose prefix was edited (§8). `preview_compact` shows what is sent.
        Raises what a call raises, and `PolicyError` for a plan without a cut.
        """
        side = self.preview_compact(plan)
        cleaner = self.cleaner(plan.session)
        call = self.follow(cleaner, "initial", side.limit, lambda call: call.listen(side.body, side.betas))
        return read_compacted(side, call.blocks, call.stop_reason, call.usage)

    def preview_compact(self, plan: Plan) -> ProviderSide:
        """What `compact` would send. Sends nothing."""
        return ask_provider(plan, self.asking, self.cleaner(plan.session))

    def count_edited(self, plan: Plan) -> tuple[int, int]:
        """Input tokens of the context before and after the policy's edits at the wire, by the provider (§4).

        Sends the context there, without secrets. Raises `PolicyError` for a policy without such edits.
        """
        cleaner = self.cleaner(plan.session)
        body, betas = ask_edits(plan, self.asking, cleaner)
        call = self.follow(cleaner, "initial", 0, lambda call: call.count(body, betas))
        before = (call.counted.get("context_management") or {}).get("original_input_tokens")
        after = int(call.counted["input_tokens"])
        return int(before) if before is not None else after, after

    def remember(self, other: Claude) -> None:
        """Know what another found in a session, so that it is not looked through again."""
        self._seen = other._seen

    def stop(self) -> None:
        """Give up all that is under way: each call raises `Stopped` at once, and sends nothing more."""
        self.stops += 1
        for call in tuple(self._calls):
            call.give_up()

    def cleaner(self, session: Session) -> Cleaner:
        """What takes secrets out of what is sent for a session; the session is looked through once."""
        with self._lock:
            if self._seen is None or self._seen[0] is not session:
                self._seen = session, look_at(session)
            # The environment is read now, and forgotten with the cleaner.
            return Cleaner(session, replace(self.asking, known=read_secrets()), self._seen[1])

    def follow(
        self,
        cleaner: Cleaner,
        kind: str,
        limit: int,
        work: Work,
        stops: int | None = None,
    ) -> ApiCall:
        """Make a call and tell of it until it is over. It is not begun if there was a stop since `stops`."""
        call = ApiCall(cleaner.scrub, self.base_url, self.max_retries, self.timeout)
        self._calls.add(call)
        try:
            if stops is not None and self.stops != stops:
                raise Stopped
            call.start(work)
            over = False
            while not over:
                over = call.wait(TICK)
                if self.tell is not None:
                    share = min(1.0, len(call.text) / (limit * _UNITS_PER_TOKEN)) if limit else 0.0
                    self.tell(Progress(kind, call.text, 1.0 if over else share, call.tries))
            return call
        finally:
            call.give_up()
            self._calls.discard(call)
            for status in call.statuses[: max(call.tries - 1, 0)]:
                self.note("retried", error=f"http-{status}")

    def note(self, kind: str, **data: Any) -> None:
        """Put down a moment that whoever asked should hear of."""
        self.events.append(AuditEvent(kind, provider="anthropic", model=self.model, data=data))

    def _bodies(self, plan: Plan) -> tuple[Cleaner, list[Json]]:
        cleaner = self.cleaner(plan.session)
        bodies = [write_body(job, plan.session, self.asking, cleaner) for job in plan.jobs]
        cleaner.check_keep()
        return cleaner, bodies

    def _side(self, plan: Plan) -> tuple[ProviderSide, Cleaner]:
        cleaner = self.cleaner(plan.session)
        side = ask_provider(plan, self.asking, cleaner)
        cleaner.check_keep()
        return side, cleaner

    def _sending(
        self, asked: list[Asked], counter: str, note: str, cleaner: Cleaner, notes: tuple[str, ...]
    ) -> Sending:
        price, told = find_price(self.model, self.prices)
        money = price_requests(asked, price, self.asking.cache)
        found = cleaner.findings([one.body for one in asked])
        return Sending(self.model, tuple(asked), counter, note, money, told, *found, notes)
