"""Requests in a replay: composed, let through or not, accepted or refused by the provider."""

from __future__ import annotations

from typing import NamedTuple

from .context_actions import ContextActions
from .run import Status
from .scenario import Scenario
from .timeline import Overflow


class Stop(Exception):
    """The life ends here: paused until somebody acts, or failed."""

    def __init__(self, status: Status, why: str) -> None:
        self.status, self.why = status, why


class SentRequest(NamedTuple):
    """Tokens of a request, and of its prefix that is as in the request before."""

    size: int
    prefix: int


class RequestGate:
    """`refusals` wait for the next request; `above_window` counts what was sent although it was too large."""

    def __init__(self, keeper: ContextActions, scenario: Scenario, by_provider: bool) -> None:
        self.keeper, self.scenario, self.by_provider = keeper, scenario, by_provider
        self.harness, self.world, self.chronicle = keeper.harness, keeper.world, keeper.chronicle
        self.conduct = keeper.harness.conduct
        self.refusals: list[Overflow] = []
        self.above_window = 0

    def send(self) -> SentRequest:
        """A request goes out, to be answered by the entry that comes now. Raises `Stop` when it cannot."""
        self.harness.measure()
        if self.harness.trigger.check == "request":
            self.keeper.check(refused=bool(self.refusals))
        self._pass_gate()
        sent = self._compose()
        while (refusal := self._refusal(sent.size)) is not None:
            before, held = sent.size, self.world.size
            self.refuse(refusal)
            sent = self._compose()
            if sent.size >= before or self.world.size >= held:
                # What was refused at this size is refused again.
                self.refusals.insert(0, refusal)
        if 0 < self.world.window < sent.size:
            self.above_window += 1
        self.keeper.ran, self.keeper.prefix = 0, sent.size
        # An override is for one request, whether it was needed or not.
        self.harness.override = False
        return sent

    def _compose(self) -> SentRequest:
        size, inflight = self.world.asked, self.keeper.inflight
        if inflight is not None:
            saved, unchanged = inflight.edit()
            if unchanged is not None:
                self.keeper.prefix = min(self.keeper.prefix, unchanged)
            if saved and self.keeper.ran and not self.by_provider:
                self.chronicle.tell("double_ran", core=self.keeper.ran, wire=saved)
            self.keeper.ran = 0
            size = max(size - saved, 0)
        return SentRequest(size, min(self.keeper.prefix, size))

    def _refusal(self, size: int) -> Overflow | None:
        if self.refusals:
            return self.refusals.pop(0)
        refuses = self.scenario.provider == "refuses" and 0 < self.world.window < size
        return "token_overflow" if refuses else None

    def _pass_gate(self) -> None:
        """A request that is not composed waits for the user."""
        for _ in range(2):
            leave = self.harness.may_send()
            if leave.allowed:
                if leave.overridden:
                    self.chronicle.tell("overridden", ratio=self.world.ratio)
                    self.harness.override = False
                return
            self.chronicle.tell("refused", ratio=self.world.ratio)
            if self.scenario.user == "overrides" and self.conduct.refuses:
                self.harness.override = True
            elif not self._ask_user():
                raise Stop("paused", leave.sentence)
        leave = self.harness.may_send()
        if not leave.allowed:
            raise Stop("paused", leave.sentence)

    def _ask_user(self) -> bool:
        """What the user does about a request that does not get through; whether it is anything."""
        if self.scenario.user == "compacts" and self.conduct.engine != "none":
            self.keeper.act("manual")
            self.harness.measure()
        elif self.scenario.user == "resets" and self.conduct.reset:
            self.keeper.reset()
        else:
            return False
        return True

    def refuse(self, kind: Overflow, *, recorded: bool = False) -> None:
        """The provider refuses. The harness recovers from it, or the user where it leaves that to them.

        A second refusal in a row surfaces (S4-59). One that the file records ends no life: the file tells how
        it went on. Raises `Stop` otherwise.
        """
        world, harness, tally = self.world, self.harness, self.harness.tally
        self.chronicle.tell(kind, before=world.size, status=400 if kind == "token_overflow" else 413)
        self.chronicle.tell("leaf_removed")
        why = "the recovery did not help" if tally.recoveries else "nothing recovers from that here"
        consents = self.conduct.mode == "ask" and self.scenario.consents
        if tally.may_compact(self.conduct, "overflow", consents):
            harness.deferred, harness.tally = False, tally.recover()
            pictures = self._count_pictures()
            if self.keeper.compact("overflow"):
                if kind == "byte_overflow" and pictures and self._count_pictures() == pictures:
                    self.chronicle.find_once(
                        "bytes_stay",
                        "No picture or document left the context: compacting does not make its bytes fewer.",
                    )
                return
            why = "the recovery failed"
        elif self.conduct.mode != "auto" and not self.conduct.recover and not tally.recoveries:
            harness.tally, before = tally.recover(), world.size
            self.chronicle.tell("refused", ratio=world.ratio)
            acts = self._ask_user()
            if acts and world.size < before:
                return
            if not acts and not recorded:
                raise Stop("paused", "The provider refused the request; the session waits for its user.")
        self.chronicle.tell("surfaced", error="ContextOverflow")
        if not recorded:
            raise Stop("failed", f"The provider refused the request, and {why}.")

    def _count_pictures(self) -> int:
        session, _ = self.world.look()
        blocks = (block for i in session.live.entries.tolist() for block in session.entries[i].blocks)
        return sum(block.kind in ("image", "document") for block in blocks)
