"""Session + policy + scenario -> Run: the whole session lived again under a policy, event by event.

The session's own entries arrive one after another. Where the policy looks, its own measure is held against
its trigger; when it fires, an ordinary plan is made of the replayed context, and life goes on from what
that plan leaves. What the model would have said differently in the new context nobody knows: the replies are
those of the file. Linear in the session as long as the policy bounds its context.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np

from .audit import AuditEvent, count_retention
from .blocks import KINDS
from .carried import carry_entries, carry_ledger, chain, change
from .conduct import STATES, Latch, State, begin, finish, may_send, step
from .counter import Longs
from .errors import EditError
from .history import History, trace_history
from .ledger import Ledger, count_tokens
from .life import Life, find_life, weigh_entries
from .lint import lint
from .models import published_window, window_of
from .plan import Plan, make_plan
from .policies import find_policy
from .policy import Policy, Reason
from .reported import Unexplained
from .run import Compaction, Finding, Recorded, Run, Status
from .scenario import Act, Scenario, read_scenario
from .session import Entry, Session
from .table import CLEARED, COUNTED, FATES, SUMMARISED, VERBATIM
from .tally import Pass, Tally, no_progress
from .usage import Measured

__all__ = ["STATES", "Compaction", "Finding", "Recorded", "Run", "Scenario", "replay"]

REASONING = KINDS.index("reasoning")
ATTEMPTS = 2
"""How often a summary that is too large is asked for again before it is cut."""


def replay(
    session: Session,
    policy: str | Policy | dict[str, Any] = "flue",
    scenario: Scenario | dict[str, Any] | None = None,
    *,
    ledger: Ledger | None = None,
    settings: dict[str, Any] | None = None,
    window: int | None = None,
    history: History | None = None,
) -> Run:
    """Live the session on the path to its leaf again under a policy. Pure: nothing is changed or asked.

    `ledger` is by default the counter fitted to what the session's provider reported. `window` (tokens)
    replaces the one the session or its model tells. Raises `PolicyError` for a policy or setting that does
    not exist, `EditError` for an act at an entry that is not on the path.
    """
    ledger = count_tokens(session, "calibrated") if ledger is None else ledger
    ledger.check(session)
    chosen = find_policy(policy).configured(settings or {})
    history = trace_history(session, ledger) if history is None else history
    known = window if window is not None else window_of(session).tokens or 0
    return _Replay(session, ledger, chosen, read_scenario(scenario), known, history).run()


class _Stop(Exception):
    """The life ends here."""

    def __init__(self, status: Status, why: str) -> None:
        self.status, self.why = status, why


class _Replay:
    def __init__(
        self,
        session: Session,
        ledger: Ledger,
        policy: Policy,
        scenario: Scenario,
        window: int,
        history: History,
    ) -> None:
        self.session, self.policy, self.scenario = session, policy, scenario
        self.conduct = policy.conduct
        if not scenario.tool and self.conduct.engine == "tool":
            self.conduct = self.conduct.model_copy(update={"engine": "none"})
        self.window, self.history, self.base_ledger = window, history, ledger
        self.life: Life = find_life(session, ledger, history, policy.trigger.measure)
        self.acts = self._place_acts(scenario.acts)
        k = len(history.turn)
        self.columns: dict[str, Longs] = {
            name: np.zeros(k, np.int64)
            for name in ("entry", "context", "measured", "sent", "cached", "output", "state")
        }
        self.events: list[AuditEvent] = []
        self.compactions: list[Compaction] = []
        self.findings: list[Finding] = []
        # where life is
        self.now = 0
        self.counted = ledger.head_tokens
        self.own = 0
        self.changed = False
        self.wire = 0
        self.edited: tuple[int, Any] | None = None
        self.wired = [0, 0]
        self.prefix = 0
        self.state: State = "normal"
        self.latch, self.tally = Latch(), Tally()
        self.pass_before: Pass | None = None
        self.fails = scenario.writer.fails
        self.deferred = self.forced = self.override = False
        self.model: str | None = None
        # the context as a session of its own: entries carried over, then the life from `first` on
        self.carried: list[Entry] = []
        self.first = 0
        self.world: Session | None = None
        self.end = 0
        self.ledger = ledger
        wire = tuple(r for r in policy.rules if getattr(type(r), "wire", False) and r.enabled)
        core = any(not getattr(type(r), "wire", False) and not r.locked for r in policy.rules)
        self.on_wire = policy.model_copy(update={"rules": wire, "stages": ()}) if wire else None
        self.has_core = core

    def _place_acts(self, acts: Iterable[Act]) -> dict[int, list[Act]]:
        where = {self.session.entries[i].id: number for number, i in enumerate(self.life.at.tolist())}
        found: dict[int, list[Act]] = defaultdict(list)
        for act in acts:
            if act.at not in where:
                raise EditError(act.do, act.at, "no such entry on the path that is lived again")
            found[where[act.at]].append(act)
        return found

    # -- the life ---------------------------------------------------------------------------------

    def run(self) -> Run:
        status: Status = "finished"
        why = ""
        self._lint()
        replies, asks = self.life.replies.tolist(), self.life.asks.tolist()
        steps, tokens = self.life.step.tolist(), self.life.tokens.tolist()
        weights = self.life.weight.tolist()
        check = self.policy.trigger.check
        try:
            for number in range(len(self.life)):
                self.now = number
                if number in self.acts:
                    self._act(self.acts[number])
                if replies[number]:
                    self._request()
                self.counted += tokens[number]
                self.own += weights[number]
                at = steps[number]
                if replies[number]:
                    self.columns["output"][at] += tokens[number]
                    self.tally = self.tally.accept()
                    if check == "reply":
                        self._check(number + 1)
                elif check == "outputs" and asks[number] and self._answers(number):
                    self._check(number + 1)
                self._record(at, number)
        except _Stop as stop:
            status, why = stop.status, stop.why
        return self._finish(status, why)

    def _answers(self, number: int) -> bool:
        return any(block.kind == "tool_output" for block in self.life.entry(number).blocks)

    @property
    def hidden(self) -> int:
        """What the provider reports beyond what is counted: its very word until the context is changed."""
        beyond = int(self.life.hidden[min(self.now, len(self.life) - 1)])
        return max(beyond, 0) if self.changed else beyond

    @property
    def size(self) -> int:
        """Tokens in the context, as the provider would report them; what the wire clears is still in it."""
        return max(self.counted + self.hidden, 0)

    @property
    def value(self) -> int:
        """The size by the policy's own measure."""
        return self.size if self.policy.trigger.measure in COUNTED else self.own

    @property
    def ratio(self) -> float | None:
        return self.size / self.window if self.window else None

    def _record(self, at: int, number: int) -> None:
        c = self.columns
        c["entry"][at], c["context"][at] = self.life.at[number], self.size - self.wire
        c["measured"][at], c["state"][at] = self.value, STATES.index(self.state)

    def _request(self) -> None:
        """A request goes out, to be answered by the entry that comes now."""
        self._step()
        if self.policy.trigger.check == "request":
            self._check(self.now)
        if self.on_wire is not None:
            self._edit_at_wire()
        self._pass_gate()
        at, size = int(self.life.step[self.now]), self.size - self.wire
        self.columns["sent"][at] += size
        self.columns["cached"][at] += min(self.prefix, size)
        self.prefix = size

    def _step(self) -> None:
        self.state, moves = step(self.conduct, self.state, self.ratio)
        self._tell_moves(moves)

    def _pass_gate(self) -> None:
        """A refused request waits for the user."""
        for _ in range(2):
            leave = may_send(self.conduct, self.state, self.override)
            if leave.allowed:
                if leave.overridden:
                    self._tell("overridden", ratio=self.ratio)
                    self.override = False
                return
            self._tell("refused", ratio=self.ratio)
            user = self.scenario.user
            if user == "overrides" and self.conduct.refuses:
                self.override = True
            elif user == "compacts" and self.conduct.engine != "none":
                self.tally = self.tally.act()
                self._compact("manual", self.now)
                self._step()
            elif user == "resets" and self.conduct.reset:
                self._reset()
                self._step()
            else:
                raise _Stop("paused", leave.sentence)
        if not may_send(self.conduct, self.state, self.override).allowed:
            raise _Stop("paused", may_send(self.conduct, self.state).sentence)

    # -- what happens from outside ----------------------------------------------------------------

    def _act(self, acts: list[Act]) -> None:
        for act in acts:
            match act.do:
                case "token_overflow" | "byte_overflow":
                    self._overflow(act.do)
                case "compact":
                    self.tally = self.tally.act()
                    if self.conduct.engine == "none":
                        self._tell("suggested")
                    else:
                        self._compact("manual", self.now)
                case "reset":
                    if act.confirmed and self.conduct.reset:
                        self._reset()
                case "override":
                    self.override = True
                case "force":
                    self._force()
                case "defer":
                    self.deferred = self.conduct.machine != "none"
                case "release":
                    self.deferred = False
                case "switch":
                    self._switch(act)

    def _force(self) -> None:
        if self.conduct.machine != "force":
            self._find(
                "not_forced", "A state machine asked for a compaction; this harness lets none force it."
            )
            return
        self._tell("forced")
        self._compact("auto", self.now)

    def _switch(self, act: Act) -> None:
        self.model = act.model or self.model
        if act.window is not None:
            self.window = act.window
        elif act.model is not None:
            self.window = published_window(act.model) or self.window
        self.world = None

    def _overflow(self, kind: str) -> None:
        """The provider refused the request that the entry of now answers in the file."""
        self._tell(kind, before=self.size, status=400 if kind == "token_overflow" else 413)
        self._tell("leaf_removed")
        if not self.tally.may_compact(self.conduct, "overflow"):
            self._tell("surfaced", error="ContextOverflow")
            raise _Stop("failed", "The provider refused the request, and nothing recovers from that here.")
        self.tally = self.tally.recover()
        images = self._pictures()
        if not self._compact("overflow", self.now):
            self._tell("surfaced", error="ContextOverflow")
            raise _Stop("failed", "The provider refused the request, and the recovery failed too.")
        if kind == "byte_overflow" and images and self._pictures() == images:
            self._find(
                "bytes_stay", "No picture or document left the context: compacting does not lower its bytes."
            )

    def _pictures(self) -> int:
        live = self._context(self.now).live
        entries = self._context(self.now).entries
        return sum(
            block.kind in ("image", "document") for i in live.entries.tolist() for block in entries[i].blocks
        )

    def _reset(self) -> None:
        """Only the current user's words stay."""
        before = self.size
        number = self.now
        while number > 0 and not self.life.entry(number).opens_turn:
            number -= 1
        asked = self.life.entry(number)
        self._carry([asked] if number < self.now else [], self.now)
        self.latch, self.state, self.tally = Latch(), "normal", self.tally.act()
        self._tell("reset", before=before, after=self.size)

    # -- compaction -------------------------------------------------------------------------------

    def _check(self, number: int) -> None:
        """Hold the policy's own measure against its trigger; `number` is the entry that comes next."""
        above = self.policy.trigger.fires(self.value, self.window)
        self.latch, crossed = self.latch.look(above)
        if crossed is not None:
            self._tell(crossed, before=self.size)
        if not above or not self.has_core:
            return
        if self.deferred:
            self._tell("deferred", before=self.size)
            return
        if self.conduct.mode == "ask":
            self._tell("asked", before=self.size)
        if self.tally.may_compact(self.conduct, "auto", self.scenario.consents):
            self._compact("auto", number)

    def _context(self, number: int) -> Session:
        """The replayed context before life entry `number`, as a session of its own."""
        if self.world is None or number > self.end:
            ahead = max(2 * (number - self.first), 64)
            end = min(self.first + ahead, len(self.life))
            later = [self.life.entry(i) for i in range(self.first, end)]
            entries: Iterable[Entry] = [*self.carried, *later]
            if self.model is not None:
                entries = [change(e, model=self.model) if e.role == "assistant" else e for e in entries]
            values = {name: getattr(self.session, name) for name in Session.model_fields}
            values |= {"entries": chain(list(entries)), "leaf": None, "notes": (), "corrupt": ()}
            previous = self.ledger
            self.world = Session.model_construct(**values)
            self.ledger = carry_ledger(self.world, previous, self.base_ledger)
            self.end = end
        index = len(self.carried) + number - self.first - 1
        return self.world.at(self.world.entries[index].id if index >= 0 else None)

    def _plan(self, policy: Policy, reason: Reason, number: int) -> Plan:
        moment = self._context(number)
        beyond = max(self.hidden, 0)
        note = (
            f"{beyond:,} tokens are reported beyond what is counted, carried over from the recorded session."
        )
        told = Unexplained(beyond, self.size, self.counted, None, note)
        self.ledger.remember(("unexplained", moment.leaf), lambda: told)
        measured = Measured(self.size, self.size, 0, None)
        self.ledger.remember(("measured", moment.leaf), lambda: measured)
        return make_plan(moment, self.ledger, policy, window=self.window, reason=reason)

    def _edit_at_wire(self) -> None:
        assert self.on_wire is not None
        self._project(self._plan(self.on_wire, "auto", self.now))

    def _project(self, plan: Plan) -> None:
        """The request shows less than the context holds; the context stays as it is."""
        saved = plan.before - plan.after
        state = (self.first, plan.outcome)
        rows = plan.outcome.fate
        if self.edited is not None and self.edited[0] == self.first:
            old = self.edited[1].fate
            both = min(len(old), len(rows))
            differs = np.flatnonzero(old[:both] != rows[:both])
        else:
            differs = np.flatnonzero(rows != VERBATIM)
        if len(differs):
            first = int(differs[0])
            self.prefix = min(
                self.prefix,
                int(plan.outcome.tokens[:first].sum()) + plan.ledger.head_tokens + max(self.hidden, 0),
            )
            self._tell(
                "stage",
                stage="wire",
                ran=True,
                before=plan.before + self.hidden,
                after=plan.after + self.hidden,
            )
        self.edited, self.wire = state, saved
        if saved:
            self.wired[0] += 1
            self.wired[1] += saved

    def _compact(self, reason: Reason, number: int) -> bool:
        """Compact the context before life entry `number`. Whether the result was adopted."""
        plan = self._plan(self.policy, reason, number)
        fate = plan.fate
        lasting = plan.summarises or bool(((fate != VERBATIM) & (fate != CLEARED)).any())
        if not lasting:
            if (fate == CLEARED).any():
                self._project(plan)
            elif reason == "auto":
                self._once("nothing", plan.why or "The policy finds nothing to compact.")
            return False
        before = self.size
        self.state, moves = begin(self.conduct, self.state, reason, self.ratio)
        self._tell_moves(moves)
        self._tell("started", before=before, reason=reason, retry=reason == "overflow")
        calls, asked = self._write(plan)
        done = Compaction(
            step=self._at,
            turn=self._turn,
            entry=self._entry,
            reason=reason,
            plan=plan,
            before=before,
            after=plan.after + max(self.hidden, 0),
            prefix=self._unchanged(plan),
            calls=abs(calls),
            asked=asked,
            written=plan.summary_tokens if calls > 0 else 0,
        )
        if calls < 0:
            return self._fail(done)
        if self.conduct.adopt == "smaller" and plan.after >= plan.before:
            return self._discard(done)
        return self._adopt(done)

    def _write(self, plan: Plan) -> tuple[int, int]:
        """Ask the summariser for what the plan needs: calls (negative when it failed) and tokens asked."""
        if not plan.summarises:
            return 0, 0
        self.tally = self.tally.start()
        jobs = max(len(plan.jobs), 1)
        calls = 0
        while self.fails > 0:
            self.fails -= 1
            calls += 1
            self.tally = self.tally.miss()
            if not self.tally.may_retry(self.conduct):
                return -calls, calls * plan.before
            self._tell("retried", error="SummarizeFailed", attempt=calls)
        budget = plan.spec.max_tokens if plan.spec is not None else 0
        size = int(budget * self.scenario.writer.oversize)
        for attempt in range(1, ATTEMPTS + 1):
            if size <= budget:
                break
            self._tell("summary_oversize", size=size, budget=budget, attempt=attempt, limit=budget >> attempt)
            calls += 1
        if size > budget:
            self._tell("summary_truncated", budget=budget)
        return calls + jobs, plan.before * (calls + jobs)

    def _unchanged(self, plan: Plan) -> int:
        """Tokens before the first block that changes, the head among them."""
        head = plan.ledger.head_tokens + max(self.hidden, 0)
        changed = np.flatnonzero(plan.fate != VERBATIM)
        if plan.summarises and plan.spec is not None:
            upto = int(plan.table.live.start[min(plan.spec.at, len(plan.table.live))])
            changed = np.append(changed, upto)
        if not len(changed):
            return self.size
        return head + int(plan.table.tokens[: int(changed.min())].sum())

    def _fail(self, done: Compaction) -> bool:
        self._keep(done, adopted=False)
        self.tally = self.tally.fail(done.reason)
        self._tell(
            "failed", before=done.before, after=done.before, error="ContextOverflow", cause="SummarizeFailed"
        )
        self.state, moves = finish(self.conduct, self.state, self.ratio)
        self._tell_moves(moves)
        if self.tally.is_open(self.conduct):
            self._once_told("breaker_opened", failures=self.tally.failures)
        return False

    def _discard(self, done: Compaction) -> bool:
        self._keep(done, adopted=False)
        self._tell("discarded", before=done.before, after=done.after, reason=done.reason)
        self.state, moves = finish(self.conduct, self.state, self.ratio)
        self._tell_moves(moves)
        return False

    def _adopt(self, done: Compaction) -> bool:
        plan = done.plan
        for stage in plan.stages:
            self._tell("stage", stage=stage.name, ran=stage.ran, before=stage.before, after=stage.after)
        reasoning = plan.table.kind == REASONING
        if (reasoning & (plan.fate == SUMMARISED)).any():
            self._tell("reasoning_downgraded", blocks=int((reasoning & (plan.fate == SUMMARISED)).sum()))
        self.changed = True
        self._carry(carry_entries(plan, f"summary-{len(self.compactions) + 1}"), self._next(done))
        self.prefix = min(self.prefix, done.prefix)
        self._tell(
            "prefix_reset", before=done.before, after=done.after, reason="compaction", prefix=done.prefix
        )
        data: dict[str, Any] = {"reason": done.reason, "calls": done.calls, "asked": done.asked}
        if reasoning.any():
            live = plan.table.live
            turns = live.turn[live.position[reasoning]].tolist()
            fates = [FATES[code] for code in plan.fate[reasoning].tolist()]
            data["retention"] = {
                str(t): row for t, row in count_retention(zip(turns, fates, strict=True)).items()
            }
        self._keep(done, adopted=True)
        self._tell("completed", before=done.before, after=self.size, **data)
        if self.conduct.engine == "tool":
            self._tell("applied", after=self.size)
        if self.on_wire is not None and self.wire:
            self._tell("double_ran", core=done.before - done.after, wire=self.wire)
        self.edited, self.wire = None, 0
        self.state, moves = finish(self.conduct, self.state, self.ratio)
        self._tell_moves(moves)
        now = Pass(plan.summary_tokens, done.before, done.after)
        stalled = no_progress(self.pass_before, now)
        self.pass_before = now
        self.tally = self.tally.succeed(stalled)
        if stalled:
            self._tell("no_progress", before=done.before, after=done.after)
            self._find(
                "no_progress",
                "Compactions came to nothing twice in a row; automatic ones stop until someone acts.",
            )
        above = self.policy.trigger.fires(self.value, self.window)
        self.latch, crossed = self.latch.look(above)
        if crossed is not None:
            self._tell(crossed, before=self.size)
        if above:
            self._floor(plan)
        return True

    def _floor(self, plan: Plan) -> None:
        """Whether any cut at all would have got below the trigger."""
        totals = plan.cut_table.total
        legal = totals[totals >= 0]
        least = int(legal.min()) + max(self.hidden, 0) if len(legal) else self.size
        threshold = self.policy.trigger.threshold(self.window)
        if self.policy.trigger.measure in COUNTED and least >= threshold:
            self._once_told("irreducible", before=self.size, after=least)
            self._once(
                "irreducible",
                f"No cut leaves less than {least:,} tokens here, and the policy fires above "
                f"{threshold:,.0f}: with these settings it can never get under its own trigger.",
            )

    def _next(self, done: Compaction) -> int:
        """The life entry that comes after the context that was compacted."""
        return self.first + len(done.plan.session.path) - len(self.carried)

    def _carry(self, entries: list[Entry], first: int) -> None:
        """Go on from these entries, and the life from `first` on."""
        old = self.ledger
        self.carried, self.first, self.world = list(chain(entries)), first, None
        values = {name: getattr(self.session, name) for name in Session.model_fields}
        base = Session.model_construct(**(values | {"entries": tuple(self.carried), "leaf": None}))
        self.ledger = carry_ledger(base, old, self.base_ledger)
        self.counted = self.ledger.total
        self.own = int(weigh_entries(base, self.ledger, self.policy.trigger.measure).sum())
        # What arrived meanwhile is part of the carried entries: `first` is never behind now.

    # -- telling ----------------------------------------------------------------------------------

    @property
    def _at(self) -> int:
        return int(self.life.step[self.now]) if len(self.life) else 0

    @property
    def _turn(self) -> int:
        return int(self.life.turn[self.now]) if len(self.life) else 0

    @property
    def _entry(self) -> str:
        return self.life.entry(self.now).id

    def _tell(self, kind: str, before: int | None = None, after: int | None = None, **data: Any) -> None:
        entry = self.life.entry(self.now) if len(self.life) else None
        event = AuditEvent(
            kind,
            step=self._at,
            turn=self._turn,
            entry=entry.id if entry is not None else None,
            correlation=f"turn-{self._turn + 1}",
            provider=(entry.provider if entry is not None else None) or self.session.format,
            model=self.model or (entry.model if entry is not None else None) or self.session.model,
            before=before,
            after=after,
            data=data,
        )
        self.events.append(event)

    def _tell_moves(self, moves: Iterable[Any]) -> None:
        for move in moves:
            self._tell(move.kind, **move.data)

    def _once_told(self, kind: str, **data: Any) -> None:
        if not any(event.kind == kind for event in self.events):
            self._tell(kind, **data)

    def _find(self, kind: str, sentence: str) -> None:
        self.findings.append(Finding(kind, self._at, sentence))

    def _once(self, kind: str, sentence: str) -> None:
        if not any(finding.kind == kind for finding in self.findings):
            self._find(kind, sentence)

    def _keep(self, done: Compaction, *, adopted: bool) -> None:
        fields = {name: getattr(done, name) for name in Compaction.__dataclass_fields__}
        self.compactions.append(Compaction(**(fields | {"adopted": adopted})))

    def _lint(self) -> None:
        trigger = self.policy.trigger
        ratio = trigger.ratio if trigger.tokens is None else None
        core = self.has_core and any(d.enabled for d in self.policy.rules)
        wire = self.on_wire is not None and core
        for notice in lint(self.policy.name, self.conduct, ratio, wire):
            self._tell(notice.kind)
            self._find(notice.kind, notice.sentence)

    def _finish(self, status: Status, why: str) -> Run:
        c, history = self.columns, self.history
        k = len(history.turn)
        lived = np.zeros(k, bool)
        last = int(self.life.step[self.now]) if len(self.life) else -1
        lived[self.life.step[self.life.step <= last]] = True
        carry = np.maximum.accumulate(np.where(lived, np.arange(k), 0)) if k else np.zeros(0, int)
        for name in ("entry", "context", "measured", "state"):
            c[name] = c[name][carry]
        if self.wired[0]:
            self._find(
                "wire", f"{self.wired[0]:,} requests were edited at the wire; the context itself was not."
            )
        threshold = self.policy.trigger.threshold(self.window)
        known = self.policy.trigger.enabled and (self.policy.trigger.tokens is not None or self.window)
        return Run(
            session=self.session,
            policy=self.policy,
            scenario=self.scenario,
            ledger=self.base_ledger,
            window=int(self.window),
            threshold=int(threshold) if known else 0,
            entry=c["entry"].astype(np.int32),
            turn=history.turn,
            recorded=np.where(history.reported >= 0, history.reported, history.estimated),
            context=c["context"],
            measured=c["measured"],
            sent=c["sent"],
            cached=c["cached"],
            output=c["output"],
            state=c["state"].astype(np.uint8),
            events=tuple(self.events),
            compactions=tuple(self.compactions),
            findings=tuple(self.findings),
            against=tuple(_compare(self.session, history, self.policy, self.window)),
            status=status,
            why=why,
            source=self.base_ledger.source,
        )


def _compare(session: Session, history: History, policy: Policy, window: int) -> Iterable[Recorded]:
    """Where the policy fires in each recorded stretch, were the context as it was recorded."""
    trigger = policy.trigger
    size = np.where(history.reported >= 0, history.reported, history.estimated)
    begin_at = 0
    for mark in history.marks:
        if mark.kind != "compact":
            continue
        stretch = size[begin_at : mark.step]
        tokens = mark.before or (int(stretch[-1]) if len(stretch) else 0)
        turn = int(history.turn[max(mark.step - 1, 0)])
        if trigger.measure not in COUNTED or not (window or trigger.tokens):
            why = "the policy looks at another measure" if window else "the model's window is not known"
            yield Recorded(mark.entry, mark.step, turn, tokens, None, f"Not comparable: {why}.")
        else:
            yield _beside(mark.entry, mark.step, turn, tokens, begin_at, stretch, history, policy, window)
        begin_at = mark.step


def _beside(
    entry: str,
    at: int,
    turn: int,
    tokens: int,
    begin_at: int,
    stretch: Longs,
    history: History,
    policy: Policy,
    window: int,
) -> Recorded:
    trigger = policy.trigger
    threshold = trigger.threshold(window)
    fires = np.flatnonzero([trigger.fires(int(value), window) for value in stretch.tolist()])
    share = f" ({100 * tokens / window:.1f} % of the window)" if window else ""
    told = f"Recorded in turn {turn + 1} at {tokens:,} tokens{share}"
    if not len(fires):
        most = max(int(stretch.max()) if len(stretch) else 0, 0)
        short = f"{threshold - most:,.0f} more than were reached"
        sentence = f"{told}; the policy fires above {threshold:,.0f}, {short}."
        return Recorded(entry, at, turn, tokens, None, sentence)
    fired = int(history.turn[begin_at + int(fires[0])])
    early = turn - fired
    where = "in the same turn" if early == 0 else f"{early} turn{'' if early == 1 else 's'} earlier"
    return Recorded(
        entry, at, turn, tokens, fired, f"{told}; the policy fires {where}, above {threshold:,.0f}."
    )
