"""Session + policy + scenario -> Run: the whole session lived again under a policy, event by event.

The session's own entries arrive one after another. Where the policy looks, its own measure is held against
its trigger; when it fires, an ordinary plan is made of the replayed context, and life goes on from what that
plan leaves. What the model would have said in the new context nobody knows: the replies are those of the
file. The parts: `life` is what arrives, `context` what stands, `harness_state` its states and counters,
`actions` what changes the context, `compactor` one compaction, `gate` the requests, `wire_edits` the
provider's own edits of them, `log` the events, `versus_recorded` what was recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..errors import expect
from ..policies.events import write_word
from ..policies.harness import STATES, lint
from ..policies.policy import Policy, check_window
from ..policies.registry import configure_policy
from ..session.queries import without_reasoning
from ..session.session import Session
from ..text import plural
from ..tokens.history import History, trace_history
from ..tokens.ledger import Ledger, count_tokens
from ..tokens.models import name_entry, published_window, window_of
from ..tokens.recorded_sizes import find_recorded_sizes
from .act_positions import place_acts
from .compactor import ALWAYS, Compactor
from .context_actions import ContextActions
from .early_rules import EarlyRules
from .event_log import EventLog
from .harness_state import HarnessState
from .replayed_context import ReplayedContext
from .requests import RequestGate
from .run import Run, Status, Stop
from .scenario import Scenario, ScenarioEvent, read_scenario
from .timeline import find_life, take_out
from .versus_recorded import compare_recorded, find_moments, name_check
from .wire_edits import WireEdits, split_off_edits


def replay(
    session: Session,
    policy: str | Policy | dict[str, Any] = "flue",
    scenario: Scenario | dict[str, Any] | None = None,
    *,
    ledger: Ledger | None = None,
    settings: dict[str, Any] | None = None,
    window: int | None = None,
    history: History | None = None,
    tell: Callable[[float], None] | None = None,
) -> Run:
    """Live the session on the path to its leaf again under a policy. Pure: nothing is changed or asked.

    `ledger` is by default the counter fitted to what the session's provider reported. `window` (tokens)
    replaces the one the session or its model tells. A request above the window is refused, as a provider
    does, unless the scenario has a provider that accepts it. Raises `PolicyError` for a policy or setting
    that does not exist, `EditError` for an act at an entry that is not on the path.

    `tell` is called with the share that is done, from 0 to 1, some hundred times at most; what it raises
    (`Stopped`) ends the replay.

    >>> from inspector import open_demo
    >>> run = replay(open_demo(), "keep-recent-turns")
    >>> [(item.turn + 1, item.reason, item.before, item.after) for item in run.compactions]
    [(15, 'auto', 161994, 52817)]
    >>> [event.kind for event in run.events if event.channel == "audit"]
    ['threshold_hit', 'started', 'completed']
    """
    expect("replay", session=(session, Session), ledger=(ledger, Ledger, None))
    expect("replay", settings=(settings, dict, None), tell=(tell, Callable, None))
    expect("replay", history=(history, History, None))
    check_window(window)
    parts = 2 if ledger is None else 1
    if ledger is None:
        ledger = count_tokens(session, "calibrated", tell_part(tell, 0, parts))
    ledger.check(session)
    chosen = configure_policy(policy, settings or {})
    history = trace_history(session, ledger) if history is None else history
    known = window if window is not None else window_of(session).tokens or 0
    lives = _Replay(session, ledger, chosen, read_scenario(scenario), known, history)
    return lives.run(tell_part(tell, parts - 1, parts))


def tell_part(tell: Callable[[float], None] | None, done: int, parts: int) -> Callable[[float], None] | None:
    """What tells the progress of one of several parts of a work, `done` of which are done.

    >>> tell_part(print, 1, 4)(0.5)
    0.375
    """
    return None if tell is None else lambda share: tell((done + share) / parts)


WORDS = 100
"""How often progress is told while a life is lived."""
LASTING = ("compact", "reset", "force")
"""Acts that change the context itself."""
SHOWN = 5
"""Acts a finding names one by one."""


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
        self.session, self.ledger, self.policy, self.history = session, ledger, policy, history
        self.scenario, self.window = scenario, window
        self.harness = harness = scenario.equip(policy.running)
        core, on_wire = split_off_edits(policy)
        # What the provider itself writes up is no second surface.
        self.by_provider = any(getattr(rule, "by", "") == "provider" for rule in core.rules if rule.enabled)
        self.life = find_life(session, ledger, history, policy.trigger.measure)
        self.context = ReplayedContext(session, ledger, self.life, policy.trigger.measure, window)
        if not harness.send_reasoning and (bare := without_reasoning(session)).entries != session.entries:
            # What was reported is of requests that held it, so from the start it is another context.
            ledger, before = count_tokens(bare, ledger.counter), self.life.before
            self.life = take_out(self.life, bare, ledger, policy.trigger.measure)
            self.context = ReplayedContext(bare, ledger, self.life, policy.trigger.measure, window)
            self.context.begin_changed(before)
        self.log = EventLog(session, self.life)
        self.harness_state = HarnessState(harness, policy.trigger, self.context, self.log)
        self.wire_edits = WireEdits(on_wire, self.context, self.log) if on_wire is not None else None
        self.compactor = Compactor(
            core, scenario.writer, self.context, self.harness_state, self.log, self.wire_edits
        )
        early = EarlyRules(core, self.context, self.log)
        self.actions = ContextActions(
            self.context,
            self.log,
            self.harness_state,
            self.compactor,
            early,
            self.wire_edits,
            scenario.consents,
        )
        self.gate = RequestGate(self.actions, scenario, self.by_provider)
        self.idle = {id(act): act for act in scenario.acts}
        self.acts = place_acts(scenario, session, history, self.life.at)
        self.waiting: list[ScenarioEvent] = []
        self.refusing: list[ScenarioEvent] = []
        self.overriding: ScenarioEvent | None = None
        names = ("entry", "context", "measured", "requests", "sent", "cached", "output", "state")
        self.columns = {name: [0] * len(history.turn) for name in names}
        self.booked = self.answered = 0
        self.lived = np.zeros(len(history.turn), bool)
        # Lists, because they are looked at one by one.
        life = self.life
        self.step, self.requests, self.open = life.step.tolist(), life.requests.tolist(), life.open.tolist()
        self.output = life.output.tolist()
        self.looks = find_moments(life, policy.trigger.check).tolist()

    # -- the life ---------------------------------------------------------------------------------

    def run(self, tell: Callable[[float], None] | None = None) -> Run:
        status: Status = "finished"
        why = ""
        whole = len(self.life)
        every = max(-(-whole // WORDS), 1)
        first = (self.context.size, self.context.value)
        try:
            self._lint()
            for number in range(whole):
                if tell is not None and number % every == 0:
                    tell(number / whole)
                self._live(number)
            self._end()
        except Stop as stop:
            status, why = stop.status, stop.why
            # What stopped it stands in the step that did not come to be.
            self._record(self.step[self.context.position], self.context.position - 1)
        run = self._finish(status, why, first)
        if tell is not None:
            tell(1.0)
        return run

    def _live(self, number: int) -> None:
        """What happens before an entry, its arrival, and what follows from it."""
        at = self.step[number]
        self._happens(number)
        if self.requests[number]:
            self._check_cap()
            sent = self.gate.send()
            self.columns["sent"][at] += sent.size
            self.columns["cached"][at] += sent.prefix
        self.context.arrive()
        self.log.stand(number, arrived=True)
        self.columns["output"][at] += self.output[number]
        if self.requests[number]:
            self.harness_state.counts = self.harness_state.counts.accept()
        if self.looks[number]:
            self.actions.check()
        self._record(at, number)

    def _check_cap(self) -> None:
        """Count a request. Raises `Stop` where the stage has made all that its cap allows."""
        cap = self.scenario.turn_cap
        if cap is not None and self.answered >= cap:
            raise Stop("capped", f"The turn cap of {cap:,} was reached: the stage ends (capHit).")
        self.answered += 1

    def _happens(self, number: int) -> None:
        """Refusals of the file, and what the scenario does, before the life's entry `number`."""
        for refusal in self.life.refusals.get(number, ()):
            self.log.stand_at(refusal)
            # Where compactions made the context smaller than the one that was refused, it is not refused.
            if not self.context.changed or self.context.size >= refusal.tokens:
                self.gate.refuse(refusal.kind, recorded=True, status=refusal.status)
        if number == len(self.life):
            return
        self.log.stand(number, arrived=False)
        for act in self.acts.get(number, ()):
            if act.do in LASTING:
                self.waiting.append(act)
            else:
                self._arrange(act)
        if self.waiting and not self.open[number]:
            self._do_waiting()

    def _do_waiting(self) -> None:
        waiting, self.waiting = self.waiting, []
        for act in waiting:
            self._do(act)

    def _end(self) -> None:
        if len(self.life):
            self._happens(len(self.life))
            late = self.acts.get(len(self.life), ())
            self.waiting += [act for act in late if act.do in LASTING]
            self._do_waiting()
            self._record(self.step[-1], len(self.life) - 1)

    def _record(self, at: int, number: int) -> None:
        c, self.lived[at] = self.columns, True
        c["requests"][at] += self.gate.composed - self.booked
        self.booked = self.gate.composed
        c["entry"][at], c["context"][at] = number, self.context.size
        c["measured"][at], c["state"][at] = self.context.value, STATES.index(self.harness_state.state)

    # -- what happens from outside ----------------------------------------------------------------

    def _arrange(self, act: ScenarioEvent) -> None:
        """What only sets something for later."""
        self.idle.pop(id(act), None)
        match act.do:
            case "token_overflow" | "byte_overflow":
                self.gate.refusals.append(act.do)
                self.refusing.append(act)
            case "max_output" if not self.harness.recover_output:
                self.log.note_once(
                    "cut_off", "This harness takes a reply that ran into its limit of tokens as it is."
                )
                self.idle[id(act)] = act
            case "max_output":
                self.gate.refusals.append(act.do)
                self.refusing.append(act)
            case "fail_once":
                self.compactor.fails = max(self.compactor.fails, 1)
            case "fail_always":
                self.compactor.fails = ALWAYS
            case "override":
                self.harness_state.override, self.overriding = True, act
            case "defer" if self.harness.machine == "none":
                self._say_no("defer")
            case "defer":
                self.harness_state.deferred = True
            case "release":
                self.harness_state.deferred = False
            case "switch":
                told = published_window(act.model) if act.window is None else act.window
                self.actions.switch(act.model, told, act.provider)

    def _do(self, act: ScenarioEvent) -> None:
        """What changes the context; never while a call waits for its output."""
        if act.do == "reset":
            if not self.harness.reset:
                return
            if not act.confirmed:
                self.log.record("reset_asked", before=self.context.size)
                return
            self.actions.reset()
        elif act.do == "force" and self.harness.machine != "force":
            self._say_no("force")
        elif self.harness.engine == "none":
            self.log.record("suggested", before=self.context.size)
        elif act.do == "force":
            self.log.record("forced")
            if not self._consents_to_force():
                return
            self.actions.act("auto", by="machine")
        else:
            tried = len(self.compactor.compactions)
            self.actions.act("manual")
            if len(self.compactor.compactions) == tried:
                return
        self.idle.pop(id(act), None)

    def _consents_to_force(self) -> bool:
        """Whether what a state machine asks for may start: its word is not the user's (S1-30)."""
        if self.harness.mode == "manual":
            self.log.note_once(
                "needs_user",
                "A state machine asked for a compaction; here only the user's /compact starts one.",
            )
            return False
        if self.harness.mode == "ask":
            self.log.record("asked", before=self.context.size)
            return self.scenario.consents
        return True

    def _say_no(self, deed: str) -> None:
        self.log.note_once(
            f"no_{deed}", f"A state machine wanted to {deed} a compaction; this harness does not let it."
        )

    # -- the end ----------------------------------------------------------------------------------

    def _lint(self) -> None:
        trigger = self.policy.trigger
        share = trigger.ratio if trigger.tokens is None and trigger.budget is None else None
        share = share if trigger.enabled else None
        entry = name_entry(self.session)
        for notice in lint(self.policy.name, self.harness, share, self.policy.is_double, entry):
            named: dict[str, Any] = {}
            if notice.entry is not None:
                named["provider_entry"] = write_word(notice.entry)
            self.log.record(notice.kind, **named)
            self.log.note(notice.kind, notice.sentence)
        if self.policy.running.recover != self.policy.harness.recover:
            self.log.note(
                "one_switch",
                "The trigger is switched off, and in this harness that ends recovery from refusals too.",
            )
        by_window = trigger.enabled and trigger.tokens is None and self.harness.engine != "none"
        if by_window and not trigger.base(self.window):
            self.log.note(
                "no_window", "No context window is known, so the policy never fires. Set the context window."
            )
        elif (self.harness.warn or self.harness.require) and not self.window:
            self.log.note(
                "no_window", "No context window is known, so the harness never warns. Set the context window."
            )

    def _add_up(self) -> None:
        """What is known only at the end."""
        self._tell_idle()
        self._tell_unseen()
        self._report_failed()
        self._report_written()
        if self.wire_edits is not None and self.wire_edits.edited:
            self.log.note(
                "wire",
                f"{self.wire_edits.edited:,} requests were edited in flight, "
                f"{self.wire_edits.saved:,} tokens of them in all; the history itself was not.",
            )
        if self.gate.first_above is not None:
            above = plural(self.gate.above_window, "request was", "requests were")
            step, turn = self.gate.first_above
            done, other = (
                ("accepts", "refuses") if self.scenario.provider == "accepts" else ("refuses", "accepts")
            )
            self.log.note(
                "above_window",
                f"{above} larger than the window, first in turn {turn + 1}, which this provider "
                f'{done}. The scenario {{"provider": "{other}"}} has it otherwise.',
                step,
            )

    def _tell_unseen(self) -> None:
        """Tell of a context that was large enough at a moment when the policy does not look."""
        trigger, seen = self.policy.trigger, {event.kind for event in self.log.events}
        sizes = [size for at, size in enumerate(self.columns["measured"]) if self.lived[at]]
        most = max(sizes, default=0)
        if self.harness.engine == "none" or "threshold_hit" in seen or not trigger.fires(most, self.window):
            return
        than, limit = "above" if trigger.above else "at", trigger.threshold(self.window)
        self.log.note(
            "never_looked",
            f"The context reached {most:,} {trigger.unit}, and the policy fires {than} {limit:,.0f}; "
            f"it looks only at {name_check(trigger.check)}, and never did so then.",
        )

    def _report_failed(self) -> None:
        """Report compactions that failed for good."""
        failed = [event for event in self.log.events if event.kind == "failed"]
        if not failed:
            return
        first, calls = failed[0], sum(event.data["calls"] for event in failed)
        many = plural(len(failed), "compaction failed", "compactions failed")
        self.log.note(
            "failed",
            f"{many}, first in turn {(first.turn or 0) + 1}: the summariser failed "
            f"{plural(calls, 'time')}, and the context stayed as it was.",
            first.step,
        )

    def _report_written(self) -> None:
        """Report the first step that depends on what a model writes (S0-70, S0-71)."""
        written = (item for item in self.compactor.compactions if item.adopted)
        first = next((item for item in written if not item.plan.deterministic), None)
        if first is not None:
            self.log.note(
                "downstream",
                f"From turn {first.turn + 1} on everything follows a summary that a model writes. Another "
                "run may get another summary from the same history, and other turns after it.",
                first.step,
            )

    def _tell_idle(self) -> None:
        """Acts that nothing came of: not possible, nothing to do, or no request left for them."""
        left = len(self.gate.refusals)
        unmet = self.refusing[len(self.refusing) - left :]
        if self.harness_state.override and self.overriding is not None:
            unmet = [*unmet, self.overriding]
        missing = {id(act) for act in unmet} | set(self.idle)
        idle = [act for act in self.scenario.acts if id(act) in missing]
        if not idle:
            return
        named = ", ".join(f"{act.do} at {act.at}" for act in idle[:SHOWN])
        more = f" and {len(idle) - SHOWN:,} more" if len(idle) > SHOWN else ""
        self.log.note("idle_acts", f"{plural(len(idle), 'act')} never took place: {named}{more}.")

    def _finish(self, status: Status, why: str, first: tuple[int, int]) -> Run:
        history, k = self.history, len(self.history.turn)
        c = {name: np.array(values, np.int64) for name, values in self.columns.items()}
        last = np.maximum.accumulate(np.where(self.lived, np.arange(k), -1)) if k else np.zeros(0, int)
        start = {"entry": -1, "context": first[0], "measured": first[1], "state": 0}
        for name, value in start.items():
            c[name] = np.where(last >= 0, c[name][last], value)
        entry = np.where(c["entry"] >= 0, self.life.at[c["entry"]], -1) if len(self.life) else c["entry"]
        self._add_up()
        trigger = self.policy.trigger
        known = trigger.enabled and (trigger.tokens is not None or trigger.base(self.window) > 0)
        return Run(
            session=self.session,
            policy=self.policy,
            scenario=self.scenario,
            ledger=self.ledger,
            window=int(self.window),
            threshold=int(trigger.threshold(self.window)) if known and trigger.measure != "messages" else 0,
            entry=entry.astype(np.int32),
            turn=history.turn,
            recorded=self.life.recorded,
            context=c["context"],
            measured=c["measured"],
            requests=c["requests"],
            sent=c["sent"],
            cached=c["cached"],
            output=c["output"],
            state=c["state"].astype(np.uint8),
            events=tuple(self.log.events),
            compactions=tuple(self.compactor.compactions),
            findings=tuple(sorted(self.log.findings, key=lambda finding: finding.step)),
            against=tuple(compare_recorded(self.life, history, self.policy, self.window, self._sizes())),
            status=status,
            why=why,
            source=self.ledger.source + (f"; {_COUNTED_ALONE}" if self.life.exceeds else ""),
        )

    def _sizes(self) -> dict[str, int]:
        """Tokens before each recorded compaction, by its entry."""
        names = [mark.entry for mark in self.history.marks]
        sizes = {name: find_recorded_sizes(self.session, self.ledger, name).before for name in names}
        return {name: size.tokens for name, size in sizes.items() if size is not None}


_COUNTED_ALONE = "every size is counted, as some reply reports less than is counted of its request"
OnProgress = Callable[[float], None]


class ReplayTask(NamedTuple):
    """A session and all that a replay of it depends on."""

    session: Session
    ledger: Ledger
    history: History
    policy: Policy
    scenario: Scenario
    window: int | None

    def live(self, tell: OnProgress | None = None) -> Run:
        return replay(
            self.session,
            self.policy,
            self.scenario,
            ledger=self.ledger,
            window=self.window,
            history=self.history,
            tell=tell,
        )
