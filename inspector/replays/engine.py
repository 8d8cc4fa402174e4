"""Session + policy + scenario -> Run: replay the whole session under a policy, event by event.

The session's own entries arrive one after another. At each check of the policy, its measure is compared with
its trigger. If it fires, an ordinary plan is made of the replayed context, and the replay continues from the
result. The replies are those in the file: the model's replies to the new context are unknown. The parts:
`timeline` holds the arriving entries, `context` the present context, `harness_state` states and counters,
`actions` the changes of the context, `compactor` one compaction, `gate` the requests, `wire_edits` the
provider's own edits of them, `log` the events, `versus_recorded` the comparison with the recording.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..errors import expect
from ..planning.decision import MOMENTS
from ..policies.events import write_word
from ..policies.harness import (
    LEVELS,
    STATES,
    UNKNOWN,
    State,
    check_thresholds,
    describe_double,
    has_thresholds,
    suggest,
)
from ..policies.own_policy import find_own_policy
from ..policies.policy import Policy, check_window
from ..policies.registry import configure_policy
from ..policies.trigger import Verdict
from ..progress import show_progress
from ..session.queries import with_tools, without_reasoning
from ..session.session import Session
from ..text import plural
from ..tokens.history import History, trace_history
from ..tokens.ledger import Ledger, count_tokens
from ..tokens.models import model_of, name_entry, published_window, refuse_context_editing, window_of
from ..tokens.recorded_sizes import find_recorded_sizes
from .act_positions import place_acts
from .compactor import ALWAYS, Compactor
from .context_actions import ContextActions
from .event_log import EventLog
from .harness_state import HarnessState
from .replayed_context import ReplayedContext
from .requests import RequestGate
from .run import Run, Status, Stop
from .scenario import Scenario, ScenarioEvent, read_scenario
from .timeline import find_life, take_out
from .versus_recorded import compare_recorded, find_moments
from .wire_edits import WireEdits, split_off_edits


def replay(
    session: Session,
    policy: str | Policy | dict[str, Any] | None = None,
    scenario: Scenario | dict[str, Any] | None = None,
    *,
    ledger: Ledger | None = None,
    settings: dict[str, Any] | None = None,
    window: int | None = None,
    history: History | None = None,
    tell: Callable[[float], None] | None = None,
) -> Run:
    """Replay the session on the path to its leaf under a policy. The session is not changed.

    A request above the window is refused, as by a provider, unless the scenario's provider accepts it.

    Args:
        session: The session to replay.
        policy: A policy, its name or its JSON form; by default the policy of the harness that wrote the
            session, or "flue" if it has none.
        scenario: Events during the replay; none by default.
        ledger: By default counted and calibrated to the sizes that the session's provider reported.
        settings: Settings of the policy, "<kind>.<knob>".
        window: Tokens; replaces the window of the session or its model.
        history: The result of `trace_history`, if it is known already.
        tell: Called about a hundred times with the finished share, from 0 to 1; by default a notebook or
            a terminal shows a bar. An error that it raises (`Stopped`) ends the replay.

    Raises:
        PolicyError: If a policy or setting does not exist.
        EditError: If an event is at an entry that is not on the path.

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
    with show_progress("replay", tell) as tell:
        if ledger is None:
            ledger = count_tokens(session, "calibrated", tell_part(tell, 0, parts))
        ledger.check(session)
        own = find_own_policy(session) or "flue" if policy is None else policy
        chosen = configure_policy(own, settings or {})
        history = trace_history(session, ledger) if history is None else history
        known_window = window if window is not None else window_of(session).tokens or 0
        engine = _Replay(session, ledger, chosen, read_scenario(scenario), known_window, history)
        return engine.run(tell_part(tell, parts - 1, parts))


def tell_part(
    on_progress: Callable[[float], None] | None, done: int, parts: int
) -> Callable[[float], None] | None:
    """Return a callback that reports the progress of one of several `parts`, of which `done` are done.

    >>> tell_part(print, 1, 4)(0.5)
    0.375
    """
    return None if on_progress is None else lambda share: on_progress((done + share) / parts)


WORDS = 100
"""How often a replay reports progress."""
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
        # A summary by the provider itself is not a second surface.
        self.by_provider = any(getattr(rule, "by", "") == "provider" for rule in core.rules if rule.enabled)
        self.timeline = find_life(session, ledger, history)
        self.context = ReplayedContext(session, ledger, self.timeline, policy, window)
        bare = session if harness.send_reasoning else without_reasoning(session)
        if scenario.allowed_tools is not None:
            bare = with_tools(bare, scenario.allowed_tools)
        if bare.entries != session.entries or bare.tools != session.tools:
            # What was reported is of requests that held more, so from the start it is another context.
            ledger, before = count_tokens(bare, ledger.counter), self.timeline.before
            self.timeline = take_out(self.timeline, bare, ledger)
            self.context = ReplayedContext(bare, ledger, self.timeline, policy, window)
            self.context.begin_changed(before)
        self.log = EventLog(session, self.timeline)
        trigger = policy.trigger.for_model(model_of(session))
        if policy.own_reason == "manual":
            trigger = trigger.model_copy(update={"enabled": False})
        self.harness_state = HarnessState(harness, trigger, self.context, self.log)
        self.wire_edits = WireEdits(on_wire, self.context, self.log) if on_wire is not None else None
        self.compactor = Compactor(core, scenario.writer, self.harness_state, self.wire_edits)
        self.actions = ContextActions(self.compactor, scenario.consents)
        self.gate = RequestGate(self.actions, scenario, self.by_provider)
        self.idle = {id(act): act for act in scenario.acts}
        self.acts = place_acts(scenario, session, history, self.timeline.at)
        self.waiting: list[ScenarioEvent] = []
        self.refusing: list[ScenarioEvent] = []
        self.unseen: Verdict | None = None
        names = ("entry", "context", "measured", "requests", "sent", "cached", "output", "state")
        self.columns = {name: [0] * len(history.turn) for name in names}
        self.booked = self.answered = 0
        self.turn = -1
        self.replayed = np.zeros(len(history.turn), bool)
        # Lists, because they are looked at one by one.
        timeline = self.timeline
        self.step, self.requests = timeline.step.tolist(), timeline.requests.tolist()
        self.open, self.output = timeline.open.tolist(), timeline.output.tolist()
        self.looks = find_moments(timeline, policy.trigger.check).tolist()

    # -- the timeline -----------------------------------------------------------------------------

    def run(self, on_progress: Callable[[float], None] | None = None) -> Run:
        status: Status = "finished"
        why, whole = "", len(self.timeline)
        every = max(-(-whole // WORDS), 1)
        first = (self.context.size, self.context.value)
        try:
            self._lint()
            for number in range(whole):
                if on_progress is not None and number % every == 0:
                    on_progress(number / whole)
                self._live(number)
            self._end()
        except Stop as stop:
            status, why = stop.status, stop.why
            # The reason for the stop belongs to the step that was not completed.
            position = self.context.position
            self._record(self.step[min(position, whole - 1)], position - 1)
        run = self._finish(status, why, first)
        if on_progress is not None:
            on_progress(1.0)
        return run

    def _live(self, number: int) -> None:
        """Replay one entry: the events before it, its arrival, and the check after it."""
        at = self.step[number]
        if self.timeline.turn[number] != self.turn:
            self.turn, self.answered = int(self.timeline.turn[number]), 0
            self.gate.begin_turn()
        self._happens(number)
        if self.requests[number]:
            self._check_cap()
            sent, prefix = self.gate.send()
            self.columns["sent"][at] += sent
            self.columns["cached"][at] += prefix
        self.context.arrive()
        self.log.stand(number, arrived=True)
        self.columns["output"][at] += self.output[number]
        if self.requests[number]:
            self.harness_state.counts = self.harness_state.counts.accept()
        if self.looks[number]:
            self.actions.check()
        self._record(at, number)

    def _check_cap(self) -> None:
        """Count a request of this turn. Raises `Stop` if the turn cap of the scenario is reached."""
        cap = self.scenario.turn_cap
        if cap is not None and self.answered >= cap:
            self.log.record("capped", before=self.context.size, requests=self.answered, limit=cap)
            raise Stop(
                "capped", f"The turn cap of {plural(cap, 'request')} was reached: the stage ends (capHit)."
            )
        self.answered += 1

    def _happens(self, number: int) -> None:
        """Apply recorded refusals and the scenario's events before the entry `number` of the timeline."""
        refusals = self.timeline.refusals.get(number, [])
        for refusal in refusals:
            self.log.stand_at(refusal)
            # A context that compactions made smaller than the refused one is not refused.
            if not self.context.changed or self.context.size >= refusal.tokens:
                continues = number < len(self.timeline) or refusal is not refusals[-1]
                self.gate.refuse(refusal.kind, continues=continues, status=refusal.status)
        if number == len(self.timeline):
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
        if len(self.timeline):
            self._happens(len(self.timeline))
            late = self.acts.get(len(self.timeline), ())
            self.waiting += [act for act in late if act.do in LASTING]
            self._do_waiting()
            self._record(self.step[-1], len(self.timeline) - 1)

    def _record(self, at: int, number: int) -> None:
        c, self.replayed[at] = self.columns, True
        c["requests"][at] += self.gate.composed - self.booked
        self.booked = self.gate.composed
        c["entry"][at], c["context"][at] = number, self.context.size
        c["measured"][at], c["state"][at] = self.context.value, self._code(self.harness_state.state)
        if not self.harness_state.crossed and self.harness.engine != "none":
            verdict = self.harness_state.decide()
            if verdict.reached and (self.unseen is None or verdict.tokens > self.unseen.tokens):
                self.unseen = verdict

    def _code(self, state: State) -> int:
        """The code of a state; a level by shares of a window that is not known is unknown."""
        unknown = not self.context.window and state in LEVELS and has_thresholds(self.harness)
        return UNKNOWN if unknown else STATES.index(state)

    # -- events of the scenario -------------------------------------------------------------------

    def _arrange(self, act: ScenarioEvent) -> None:
        """Apply an event that only takes effect later."""
        if act.do != "override":
            self.idle.pop(id(act), None)
        match act.do:
            case "token_overflow" | "byte_overflow":
                self.gate.refusals.append(act.do)
                self.refusing.append(act)
            case "max_output" if not self.harness.recover_output:
                self.log.note_once("cut_off", "This harness accepts replies that reached their token limit.")
                self.idle[id(act)] = act
            case "max_output":
                self.gate.refusals.append(act.do)
                self.refusing.append(act)
            case "fail_once":
                self.compactor.fails = max(self.compactor.fails, 1)
            case "fail_always":
                self.compactor.fails = ALWAYS
            case "override":
                self.gate.override = act
            case "defer" if self.harness.machine == "none":
                self._say_no("defer")
            case "defer":
                self.harness_state.deferred = True
            case "release":
                self.harness_state.deferred = False
            case "switch":
                window = published_window(act.model) if act.window is None else act.window
                self.actions.switch(act.model, window, act.provider)

    def _do(self, act: ScenarioEvent) -> None:
        """Apply an event that changes the context; never while a call waits for its output."""
        if act.do == "reset":
            if not self.harness.reset:
                return
            self.idle.pop(id(act), None)
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
        """Whether a compaction that a state machine asked for may start, without the user (S1-30)."""
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

    def _say_no(self, action: str) -> None:
        self.log.note_once(
            f"no_{action}",
            f"A state machine wanted to {action} a compaction; this harness does not let it. The setting "
            f'harness.machine = "{action}" does.',
        )

    # -- the end ----------------------------------------------------------------------------------

    def _lint(self) -> None:
        trigger = self.policy.trigger
        share = trigger.ratio if trigger.tokens is None and trigger.budget is None else None
        share = share if trigger.enabled else None
        entry = name_entry(self.session)
        refusal = refuse_context_editing(self.session)
        if self.wire_edits is not None and self.wire_edits.by_provider and refusal:
            self.log.note("no_edits", refusal)
        check_thresholds(self.policy.name, self.harness, share)
        if self.policy.is_double and not refusal and self.harness.engine != "none":
            kind = "double_configured"
            self.log.record(kind, provider_entry=write_word(entry), precedence="core")
            self.log.note(kind, describe_double(entry))
        if self.harness.engine == "none" and self.harness.require is not None:
            self.log.record("suggested")
            self.log.note("suggested", suggest(self.harness))
        if self.harness.one_switch and self.policy.running.recover != self.policy.harness.recover:
            self.log.note(
                "one_switch",
                "The trigger is switched off, and in this harness that ends recovery from refusals too.",
            )
        if self.harness.engine != "none" and self.harness_state.decide().reached is None:
            self.log.note(
                "no_window", "No context window is known, so the policy never fires. Set the context window."
            )
        elif (self.harness.warn or self.harness.require) and not self.window:
            self.log.note(
                "no_window", "No context window is known, so the harness never warns. Set the context window."
            )

    def _add_up(self) -> None:
        """Report findings that are known only at the end."""
        self._tell_idle()
        self._tell_disallowed()
        self._tell_unseen()
        self._report_failed()
        self._report_written()
        if self.wire_edits is not None and self.wire_edits.edited:
            how = "edited in flight" if self.wire_edits.by_provider else "sent with older turns folded"
            self.log.note(
                "wire",
                f"{plural(self.wire_edits.edited, 'request was', 'requests were')} {how}, "
                f"which saved {self.wire_edits.saved:,} tokens in all; the history itself was not changed.",
            )
        if self.gate.first_above is not None:
            above = plural(self.gate.above_window, "request was", "requests were")
            step, turn = self.gate.first_above
            done, other = (
                ("accepts", "refuses") if self.scenario.provider == "accepts" else ("refuses", "accepts")
            )
            self.log.note(
                "above_window",
                f"{above} larger than the window, first in turn {turn + 1}. This provider {done} such "
                f'requests; replay with {{"provider": "{other}"}} for the opposite.',
                step,
            )

    def _tell_unseen(self) -> None:
        """Report a context that reached the trigger at a point at which the policy does not check."""
        if self.unseen is None or self.harness_state.crossed:
            return
        lead = self.unseen.lead
        reached = f"{lead.tokens:,.0f} {lead.condition.unit}"
        self.log.note(
            "never_looked",
            f"The context reached {reached}, and the policy fires {lead.limit}; "
            f"it looks only at {MOMENTS[self.policy.trigger.check]}, and never did so then.",
        )

    def _tell_disallowed(self) -> None:
        """Report replayed calls of tools that the stage does not have."""
        allowed = self.scenario.allowed_tools
        if allowed is None:
            return
        calls = [
            (number, block.name)
            for number in range(self.context.position)
            for block in self.timeline.entry(number).blocks
            if block.kind == "tool_call" and block.name not in allowed
        ]
        if not calls:
            return
        names = list(dict.fromkeys(name for _, name in calls))
        named = ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN:,} more" if names[SHOWN:] else "")
        first = calls[0][0]
        self.log.note(
            "not_allowed",
            f"{plural(len(calls), 'recorded call is', 'recorded calls are')} of tools the stage does not "
            f"have ({named}), first in turn {int(self.timeline.turn[first]) + 1}; they stay as recorded.",
            int(self.timeline.step[first]),
        )

    def _report_failed(self) -> None:
        """Report compactions that failed for good."""
        failed = [event for event in self.log.events if event.kind == "failed"]
        if not failed:
            return
        first = failed[0]
        many = plural(len(failed), "compaction failed", "compactions failed")
        rest = "the context stayed as it was"
        if any(event.after != event.before for event in failed):
            rest = "only the changes of the other stages apply"
        self.log.note(
            "failed",
            f"{many}, first in turn {(first.turn or 0) + 1}: the summariser failed "
            f"{plural(self.compactor.failed, 'time')}, and {rest}.",
            first.step,
        )

    def _report_written(self) -> None:
        """Report the first step that depends on what a model writes (S0-70, S0-71)."""
        written = (item for item in self.compactor.compactions if item.adopted)
        first = next((item for item in written if not item.plan.deterministic), None)
        name, step = self._find_recorded()
        if name and (first is None or step < first.step):
            self.log.note(
                "downstream",
                f"From turn {int(self.history.turn[step]) + 1} on the recorded replies follow the summary of "
                f"compaction {name}, which a model wrote: those turns are not guaranteed to be reproduced.",
                step,
            )
        elif first is not None:
            self.log.note(
                "downstream",
                f"From turn {first.turn + 1} on everything follows a summary that a model writes. Another "
                "run may get another summary from the same history, and other turns after it.",
                first.step,
            )

    def _find_recorded(self) -> tuple[str, int]:
        """The first recorded compaction whose summary a model wrote, and the step of the first reply after
        it; "" without one."""
        history, name = self.history, ""
        for step, at in (
            zip(history.step.tolist(), history.path.tolist(), strict=True) if history.marks else ()
        ):
            entry = self.session.entries[at]
            if entry.boundary is None:
                if name and entry.role == "assistant" and "copy_of" not in entry.extra:
                    return name, step
            elif entry.boundary.kind == "compact" and not entry.boundary.extra.get("deterministic"):
                name = name or (entry.id if entry.boundary.summary or entry.blocks else "")
        return "", 0

    def _tell_idle(self) -> None:
        """Report events without effect: not possible, nothing to do, or no request left for them."""
        refusals_left = len(self.gate.refusals)
        unmet = self.refusing[len(self.refusing) - refusals_left :]
        missing = {id(act) for act in unmet} | (set(self.idle) - self.gate.used)
        idle = [act for act in self.scenario.acts if id(act) in missing]
        if not idle:
            return
        named = ", ".join(f"{act.do} at {act.at}" for act in idle[:SHOWN])
        more = f" and {len(idle) - SHOWN:,} more" if len(idle) > SHOWN else ""
        self.log.note("idle_acts", f"{plural(len(idle), 'act')} never took place: {named}{more}.")

    def _finish(self, status: Status, why: str, first: tuple[int, int]) -> Run:
        history, k = self.history, len(self.history.turn)
        c = {name: np.array(values, np.int64) for name, values in self.columns.items()}
        last = np.maximum.accumulate(np.where(self.replayed, np.arange(k), -1)) if k else np.zeros(0, int)
        start = {"entry": -1, "context": first[0], "measured": first[1], "state": self._code("normal")}
        for name, value in start.items():
            c[name] = np.where(last >= 0, c[name][last], value)
        entry = (
            np.where(c["entry"] >= 0, self.timeline.at[c["entry"]], -1) if len(self.timeline) else c["entry"]
        )
        self._add_up()
        trigger = self.policy.trigger
        has_threshold = self.policy.acts_alone and (
            trigger.tokens is not None or trigger.base(self.window) > 0
        )
        return Run(
            session=self.session,
            policy=self.policy,
            scenario=self.scenario,
            ledger=self.ledger,
            window=int(self.window),
            threshold=trigger.shown(self.window) if has_threshold and trigger.measure != "messages" else 0,
            entry=entry.astype(np.int32),
            turn=history.turn,
            recorded=self.timeline.recorded,
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
            against=tuple(compare_recorded(self.timeline, history, self.policy, self.window, self._sizes())),
            status=status,
            why=why,
            source=self.ledger.source + (f"; {_COUNTED_ALONE}" if self.timeline.exceeds else ""),
            above_window=self.gate.above_window,
        )

    def _sizes(self) -> dict[str, int]:
        """Tokens before each recorded compaction, by its entry."""
        names = [mark.entry for mark in self.history.marks]
        sizes = {name: find_recorded_sizes(self.session, self.ledger, name).before for name in names}
        return {name: size.tokens for name, size in sizes.items() if size is not None}


_COUNTED_ALONE = "every size is counted, as some reply reports less than is counted of its request"
OnProgress = Callable[[float], None]


class ReplayTask(NamedTuple):
    """A session and the other inputs of its replay."""

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
