"""Requests in a replay: composed, let through or not, accepted or refused by the provider."""

from __future__ import annotations

from typing import Literal

from ..policies.harness import LEVELS, State, find_actions
from ..session.entries import Usage
from ..session.overflow import STATUS, Overflow, is_overflow, read_stop
from ..summaries.audit import run_twice
from .context_actions import ContextActions
from .run import Stop
from .scenario import Scenario, ScenarioEvent

Trouble = Overflow | Literal["max_output", "overran"]
"""Reasons why a request gets no accepted reply."""


class RequestGate:
    """`refusals` wait for the next request; `composed` counts all requests, those that are refused too;
    `above_window` those that were larger than the window, sent or refused as the scenario has it, from
    `first_above` on: a step and its turn. `override` is the user's override of this turn, True if it is
    no event of the scenario; `used` are the ids of those that let a request through."""

    def __init__(self, actions: ContextActions, scenario: Scenario, by_provider: bool) -> None:
        self.actions, self.scenario, self.by_provider = actions, scenario, by_provider
        self.harness_state, self.context, self.log = actions.harness_state, actions.context, actions.log
        self.harness = actions.harness_state.harness
        self.refusals: list[Trouble] = []
        self.composed = self.above_window = 0
        self.first_above: tuple[int, int] | None = None
        self.override: ScenarioEvent | bool = False
        self.used: set[int] = set()
        self._overridden = False

    def begin_turn(self) -> None:
        """End the override of the turn before: it holds for one turn (S1-28, S1-29)."""
        self.override = self._overridden = False

    def send(self) -> tuple[int, int]:
        """Send a request, to be answered by the next entry. Raises `Stop` if it cannot be sent.

        Returns:
            The tokens of the request, and of its start that is as in the request before.
        """
        self.actions.prepare()
        self.harness_state.measure()
        if self.harness_state.trigger.check == "request":
            # The next request is refused, unless a compaction makes it smaller first.
            refused = bool(self.refusals) or self._is_too_large(self.context.request_size)
            self.actions.check(refused=refused)
        self._pass_gate()
        sent, prefix = self._compose()
        while (refusal := self._refusal(sent)) is not None:
            before, size = sent, self.context.size
            if refusal == "max_output":
                self._ask_again()
            else:
                self.refuse(refusal, status=STATUS.get(refusal))
            sent, prefix = self._compose()
            if refusal != "overran" and (sent >= before or self.context.size >= size):
                # A request that is no smaller is refused again.
                self.refusals.insert(0, refusal)
        if self.harness_state.state not in LEVELS:
            # A compaction failed, but the provider accepted the request.
            self.harness_state.finish("failed")
        self.actions.ran, self.actions.prefix = 0, sent
        return sent, prefix

    def _compose(self) -> tuple[int, int]:
        self.composed += 1
        size, wire_edits = self.context.request_size, self.actions.wire_edits
        if wire_edits is not None:
            saved, unchanged = wire_edits.edit()
            if unchanged is not None:
                self.actions.prefix = min(self.actions.prefix, unchanged)
            if saved and self.actions.ran and wire_edits.by_provider and not self.by_provider:
                ran = self.actions.ran
                twice = run_twice(size + ran, ran, saved)
                self.log.record(twice.kind, twice.before, twice.after, **twice.data)
            self.actions.ran = 0
            size = max(size - saved, 0)
        if 0 < self.context.window < size:
            self.above_window += 1
            self.first_above = self.first_above or (self.log.step, self.log.turn)
        return size, min(self.actions.prefix, size)

    def _is_too_large(self, size: int) -> bool:
        return self.scenario.provider != "accepts" and 0 < self.context.window < size

    def _refusal(self, size: int) -> Trouble | None:
        if self.refusals:
            return self.refusals.pop(0)
        if self._is_too_large(size):
            return "token_overflow"
        return "overran" if self._overruns(size) else None

    def _overruns(self, size: int) -> bool:
        """Whether the harness takes the reply that comes now for an overflow, once (FLUE §11, §12).

        Its measure is the usage of the reply, or the size of the request if the context was changed.
        """
        context, timeline, counts = self.context, self.context.timeline, self.harness_state.counts
        able = counts.may_compact(self.harness, "overflow", self.harness.mode != "auto")
        if not self.harness.overruns("length") or counts.recoveries or not able:
            return False
        reply, prompt = timeline.entry(context.position), timeline.prompt[context.position].item()
        if reply.usage is None and not context.changed:
            return False
        stopped = "toolUse" if timeline.open[context.position + 1] else read_stop(reply)
        usage = reply.usage or Usage(output=timeline.output[context.position].item())
        # Tokens read from the cache or sent uncached, without those written to the cache (FLUE §12).
        read = usage.input + usage.cache_read
        read = size if context.changed or prompt < 0 else min(read or prompt, prompt)
        usage = Usage(input=read, output=usage.output)
        return self.harness.overruns(stopped) and is_overflow(stopped, None, usage, context.window)

    def _pass_gate(self) -> None:
        """Wait for the user if the harness does not let a request be composed."""
        for _ in range(2):
            leave = self.harness_state.may_send(bool(self.override))
            if leave.allowed:
                if leave.overridden and not self._overridden:
                    self.log.record("overridden", before=self.context.size, ratio=self.context.ratio)
                    self.used.add(id(self.override))
                    self._overridden = True
                return
            self.log.record("refused", ratio=self.context.ratio, actions=self._offer())
            if self.scenario.user == "overrides" and self.harness.refuses:
                self.override = True
            elif not self._ask_user():
                raise Stop("paused", leave.sentence)
        leave = self.harness_state.may_send(bool(self.override))
        if not leave.allowed:
            raise Stop("paused", leave.sentence)

    def _offer(self, state: State | None = None) -> list[str]:
        """The actions offered to the user in `state`, by default the present one."""
        return list(find_actions(self.harness, state or self.harness_state.state))

    def _ask_user(self) -> bool:
        """Let the scenario's user act on a blocked request. Return whether the user did anything."""
        if self.scenario.user == "compacts" and self.harness.engine != "none":
            self.actions.act("manual")
            self.harness_state.measure()
        elif self.scenario.user == "resets" and self.harness.reset:
            self.log.record("reset_asked", before=self.context.size)
            if not self.scenario.consents:
                return False
            self.actions.reset()
        else:
            return False
        return True

    def refuse(
        self, kind: Overflow | Literal["overran"], *, continues: bool = False, status: int | None = None
    ) -> None:
        """Handle a refusal by the provider, or a reply that the harness takes for an overflow.

        In mode auto the harness recovers from it; else the user is asked, or informed of the available
        actions (S1-30). A second refusal in a row surfaces (S4-59), and so does one that nothing recovers
        from: it raises `Stop`, unless the file `continues` after it. A refusal that the file records has a
        `status` only if it is in the file.
        """
        context, harness_state, counts = self.context, self.harness_state, self.harness_state.counts
        self._take_off(kind, **({} if status is None else {"status": status}))
        off = self.harness.why_off("overflow") if self.harness.mode == "auto" else ""
        why = "nothing recovers from that here" + (f": {off[:1].lower()}{off[1:]}" if off else "")
        why = "the recovery did not help." if counts.recoveries else f"{why}."
        if counts.may_compact(self.harness, "overflow", self._consents_to_recover()):
            harness_state.deferred, harness_state.counts = False, counts.recover()
            pictures = self._count_pictures()
            if self.actions.compact("overflow"):
                if kind == "byte_overflow" and pictures and self._count_pictures() == pictures:
                    self.log.note_once(
                        "bytes_stay",
                        "No picture or document left the context, and they are most of its bytes: "
                        "the request may be refused again.",
                    )
                return
            why = f"the recovery failed. {self.actions.compactor.why}"
        elif self.harness.mode != "auto" and not counts.recoveries:
            harness_state.counts, before = counts.recover(), context.size
            self.log.record("refused", ratio=context.ratio, actions=self._offer("blocking"))
            acts = self._ask_user()
            if acts and context.size < before:
                return
            if not acts and not continues:
                raise Stop("paused", "The provider refused the request; the session waits for its user.")
        most = self.harness.recoveries if self.harness.recover else 0
        counted = {"recoveries": harness_state.counts.recoveries, "limit": most}
        self.log.record("surfaced", before=context.size, error="ContextOverflow", **counted)
        what = "reply took more than the window" if kind == "overran" else "provider refused the request"
        if not continues:
            raise Stop("failed", f"The {what}, and {why}")
        turn = f"In turn {self.log.turn + 1} the {what}"
        self.log.note_once("not_recovered", f"{turn}, as recorded, and {why} The file continues after it.")

    def _take_off(self, kind: Trouble, **data: int) -> None:
        """Remove the failed reply from the path; a compaction that failed before it ends here (S2-36)."""
        self.log.record(kind, before=self.context.size, **data)
        self.log.record("leaf_removed")
        if self.harness_state.state not in LEVELS:
            self.harness_state.finish("failed", refused=True)

    def _consents_to_recover(self) -> bool:
        """The user's answer if the harness asks before it recovers from a refusal."""
        return (
            self.harness_state.counts.may_compact(self.harness, "overflow", authorised=True)
            and self._agrees()
        )

    def _agrees(self) -> bool:
        """The user's answer in mode ask, which is recorded; False in other modes."""
        if self.harness.mode != "ask":
            return False
        self.log.record("asked", before=self.context.size, reason="overflow")
        return self.scenario.consents

    def _ask_again(self) -> None:
        """Discard a reply that ran into its own limit, compact, and ask for it again.

        Outside mode auto the user is asked first, or informed of the available actions (S1-30). Raises `Stop`
        if it was tried already, nothing can be compacted, or the session waits for its user.
        """
        harness_state, counts = self.harness_state, self.harness_state.counts
        self._take_off("max_output")
        why, able = "asking again did not help", counts.may_repeat(self.harness)
        if self.harness.mode != "auto" and not (able and self._agrees()):
            self.log.record("refused", ratio=self.context.ratio, actions=self._offer("blocking"))
            raise Stop("paused", "The reply ran into its limit of tokens; the session waits for its user.")
        if able:
            harness_state.counts = counts.repeat()
            if self.actions.compact("overflow"):
                return
            why = "nothing could be compacted"
        repeated = {"recoveries": harness_state.counts.repeats, "limit": self.harness.recoveries}
        self.log.record("surfaced", before=self.context.size, error="MaxOutput", **repeated)
        raise Stop("failed", f"The reply ran into its limit of tokens, and {why}.")

    def _count_pictures(self) -> int:
        session, _ = self.context.look()
        blocks = (block for i in session.live.entries.tolist() for block in session.entries[i].blocks)
        return sum(block.kind in ("image", "document") for block in blocks)
