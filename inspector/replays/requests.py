"""Requests in a replay: composed, let through or not, accepted or refused by the provider."""

from __future__ import annotations

from typing import Literal, NamedTuple

from ..policies.harness import LEVELS, State, find_actions
from ..session.entries import Usage
from ..session.overflow import is_overflow, read_stop
from .context_actions import ContextActions
from .run import Stop
from .scenario import Scenario
from .timeline import Overflow

STATUS: dict[Overflow, int] = {"token_overflow": 400, "byte_overflow": 413}
"""What the API's documentation says of each; seed 002 says 413 of both (CLAUDE §1.3)."""


class SentRequest(NamedTuple):
    """Tokens of a request, and of its prefix that is as in the request before."""

    size: int
    prefix: int


Trouble = Overflow | Literal["max_output", "overran"]
"""What becomes of a request that gets no reply which is taken."""


class RequestGate:
    """`refusals` wait for the next request; `composed` counts all requests, those that are refused too;
    `above_window` those that were larger than the window, sent or refused as the scenario has it, from
    `first_above` on: a step and its turn."""

    def __init__(self, actions: ContextActions, scenario: Scenario, by_provider: bool) -> None:
        self.actions, self.scenario, self.by_provider = actions, scenario, by_provider
        self.harness_state, self.context, self.log = actions.harness_state, actions.context, actions.log
        self.harness = actions.harness_state.harness
        self.refusals: list[Trouble] = []
        self.composed = self.above_window = 0
        self.first_above: tuple[int, int] | None = None

    def send(self) -> SentRequest:
        """A request goes out, to be answered by the entry that comes now. Raises `Stop` when it cannot."""
        self.actions.prepare()
        self.harness_state.measure()
        if self.harness_state.trigger.check == "request":
            self.actions.check(refused=self._refused_next())
        self._pass_gate()
        sent = self._compose()
        while (refusal := self._refusal(sent.size)) is not None:
            before, held = sent.size, self.context.size
            if refusal == "max_output":
                self._ask_again()
            else:
                self.refuse(refusal)
            sent = self._compose()
            if refusal != "overran" and (sent.size >= before or self.context.size >= held):
                # What was refused at this size is refused again.
                self.refusals.insert(0, refusal)
        if self.harness_state.state not in LEVELS:
            # A compaction failed, and the provider took the request all the same.
            self.harness_state.finish()
        if 0 < self.context.window < sent.size:
            self._count_above()
        self.actions.ran, self.actions.prefix = 0, sent.size
        # An override is for one request, whether it was needed or not.
        self.harness_state.override = False
        return sent

    def _compose(self) -> SentRequest:
        self.composed += 1
        size, wire_edits = self.context.asked, self.actions.wire_edits
        if wire_edits is not None:
            saved, unchanged = wire_edits.edit()
            if unchanged is not None:
                self.actions.prefix = min(self.actions.prefix, unchanged)
            if saved and self.actions.ran and not self.by_provider:
                self.log.record("double_ran", core=self.actions.ran, wire=saved)
            self.actions.ran = 0
            size = max(size - saved, 0)
        return SentRequest(size, min(self.actions.prefix, size))

    def _refused_next(self) -> bool:
        """Whether the next request is refused, unless a compaction makes it smaller first."""
        return bool(self.refusals) or self._is_too_large(self.context.asked)

    def _is_too_large(self, size: int) -> bool:
        return self.scenario.provider != "accepts" and 0 < self.context.window < size

    def _refusal(self, size: int) -> Trouble | None:
        if self.refusals:
            return self.refusals.pop(0)
        if self._is_too_large(size):
            self._count_above()
            return "token_overflow"
        return "overran" if self._overruns(size) else None

    def _count_above(self) -> None:
        self.above_window += 1
        self.first_above = self.first_above or (self.log.step, self.log.turn)

    def _overruns(self, size: int) -> bool:
        """Whether the harness takes the reply that comes now for an overflow, once (FLUE §11, §12).

        Its measure is the usage of the reply, or the size of the request if the context was changed.
        """
        context, life, counts = self.context, self.context.life, self.harness_state.counts
        able = counts.may_compact(self.harness, "overflow", self.harness.mode != "auto")
        if not self.harness.silent_overflow or counts.recoveries or not able:
            return False
        reply, prompt = life.entry(context.position), life.prompt[context.position].item()
        usage = reply.usage or Usage(output=life.output[context.position].item())
        # What is read from the cache or sent anew, and not what is written to the cache (FLUE §12).
        read = usage.input + usage.cache_read
        read = size if context.changed or prompt < 0 else min(read or prompt, prompt)
        usage = Usage(input=read, output=usage.output)
        stopped = "toolUse" if life.open[context.position + 1] else read_stop(reply)
        return is_overflow(stopped, None, usage, context.window)

    def _pass_gate(self) -> None:
        """A request that is not composed waits for the user."""
        for _ in range(2):
            leave = self.harness_state.may_send()
            if leave.allowed:
                if leave.overridden:
                    self.log.record("overridden", ratio=self.context.ratio)
                    self.harness_state.override = False
                return
            self.log.record("refused", ratio=self.context.ratio, actions=self._offer())
            if self.scenario.user == "overrides" and self.harness.refuses:
                self.harness_state.override = True
            elif not self._ask_user():
                raise Stop("paused", leave.sentence)
        leave = self.harness_state.may_send()
        if not leave.allowed:
            raise Stop("paused", leave.sentence)

    def _offer(self, state: State | None = None) -> list[str]:
        """What the user is offered, in the state of now or in that of a request that nothing lets through."""
        return list(find_actions(self.harness, state or self.harness_state.state))

    def _ask_user(self) -> bool:
        """What the user does about a request that does not get through; whether it is anything."""
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
        self, kind: Overflow | Literal["overran"], *, recorded: bool = False, status: int | None = None
    ) -> None:
        """The provider refuses, or the harness takes its reply for an overflow. In mode auto the harness
        recovers from it; else the user is asked, or informed and offered the actions there are (S1-30).

        A second refusal in a row surfaces (S4-59). One that the file records ends no life: the file tells how
        it went on. `status` is the one in the file, by default the documented one. Raises `Stop` otherwise.
        """
        context, harness_state, counts = self.context, self.harness_state, self.harness_state.counts
        data = {} if kind == "overran" else {"status": status or STATUS[kind]}
        self._take_off(kind, **data)
        why = "the recovery did not help" if counts.recoveries else "nothing recovers from that here"
        if counts.may_compact(self.harness, "overflow", self._consents_to_recover()):
            harness_state.deferred, harness_state.counts = False, counts.recover()
            pictures = self._count_pictures()
            if self.actions.compact("overflow"):
                if kind == "byte_overflow" and pictures and self._count_pictures() == pictures:
                    self.log.note_once(
                        "bytes_stay",
                        "No picture or document left the context: compacting does not make its bytes fewer.",
                    )
                return
            why = "the recovery failed"
        elif self.harness.mode != "auto" and not counts.recoveries:
            harness_state.counts, before = counts.recover(), context.size
            self.log.record("refused", ratio=context.ratio, actions=self._offer("blocking"))
            acts = self._ask_user()
            if acts and context.size < before:
                return
            if not acts and not recorded:
                raise Stop("paused", "The provider refused the request; the session waits for its user.")
        self.log.record("surfaced", error="ContextOverflow")
        if not recorded:
            what = "reply took more than the window" if kind == "overran" else "provider refused the request"
            raise Stop("failed", f"The {what}, and {why}.")

    def _take_off(self, kind: Trouble, **data: int) -> None:
        """Remove the failed reply from the path; a compaction that failed before it ends here (S2-36)."""
        self.log.record(kind, before=self.context.size, **data)
        self.log.record("leaf_removed")
        if self.harness_state.state not in LEVELS:
            self.harness_state.finish(refused=True)

    def _consents_to_recover(self) -> bool:
        """The user's answer, where the harness asks before it recovers from a refusal."""
        return (
            self.harness_state.counts.may_compact(self.harness, "overflow", authorised=True)
            and self._agrees()
        )

    def _agrees(self) -> bool:
        """The user's answer in mode ask, which is recorded; in any other nobody is asked."""
        if self.harness.mode != "ask":
            return False
        self.log.record("asked", before=self.context.size, reason="overflow")
        return self.scenario.consents

    def _ask_again(self) -> None:
        """A reply that ran into its own limit is withheld, and asked for again after a compaction.

        Outside mode auto the user is asked first, or told and offered what there is to do (S1-30). Raises
        `Stop` when it was tried already, nothing can be compacted, or the session waits for its user.
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
        self.log.record("surfaced", error="MaxOutput")
        raise Stop("failed", f"The reply ran into its limit of tokens, and {why}.")

    def _count_pictures(self) -> int:
        session, _ = self.context.look()
        blocks = (block for i in session.live.entries.tolist() for block in session.entries[i].blocks)
        return sum(block.kind in ("image", "document") for block in blocks)
