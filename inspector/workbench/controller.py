"""DOOR: who works at a desk for a screen: one change at a time, long work in the background, a growing file.

The widget, the server and the kernel's comm each have a clerk for each document. What they ask for is
answered at once; what is found out later is handed over, in another thread, while the clerk's lock is held.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from copy import copy
from pathlib import Path, PurePath
from typing import Any

from ..errors import InspectorError
from ..files import FollowedFile
from ..planning.plan import Plan
from ..planning.summary_jobs import Checkpoint
from ..policies.policy import Policy
from ..replays.engine import OnProgress
from ..replays.run import Run
from ..replays.scenario import Scenario
from ..session.session import Session
from ..text import printable
from ..tokens.counter import Counter
from ..tokens.counters import ESTIMATE
from ..tokens.ledger import Ledger, count_tokens
from .model import WorkbenchModel
from .queries import answer_query, reply_to
from .summary_writer import SummaryWriter
from .tasks import Answer, QueryQueue, TaskQueue, Ticker, tell_error

Traits = dict[str, Any]

LONG = 5_000_000
"""Characters of text above which a session is estimated first, and counted and replayed in the background."""
QUICK = ("chars4_utf16", "tiered")
"""Counters that need no estimate: they are one."""
SECONDS = 1.0
"""Between two looks at a file that is followed."""
FACTS = "Finding facts"
SLOW = {
    **dict.fromkeys(("facts", "fact", "regret", "grounding"), FACTS),
    "rules": "Trying rules",
    "review": "Looking for secrets",
    "export": "Making the page",
    "save": "Saving the plan",
    "sending": "Looking for secrets",
}
"""Questions that may take seconds, and what is shown meanwhile."""
WRITTEN = ("sending", "summarise", "writing", "unsummarise")
"""Questions for the scribe."""


class Controller:
    """A session's `WorkbenchModel`, kept for a screen.

    `hand_over` gets traits that were found out in the background. It is called in the thread that found
    them, with `lock` held; nothing is found out before `begin`. `trouble` is the error behind the last
    sentence that `want` answered with, or None. `keep` saves a plan and tells where, None where nobody may.
    Once it is `closed` nobody hears anything.
    """

    def __init__(
        self,
        session: Session,
        hand_over: Callable[[Traits], None],
        policy: str | Policy | dict[str, Any] = "flue",
        *,
        counter: str = "calibrated",
        window: int | None = None,
        scenario: Scenario | dict[str, Any] | None = None,
    ) -> None:
        self.lock = threading.RLock()
        self.trouble: InspectorError | None = None
        self.replaying = False
        self._hand_over, self._seq, self._complaint = hand_over, 0, ""
        self._counter: str | Counter = counter
        self._works: dict[str, Traits] = {}
        self._errands = TaskQueue(lambda work: self._show("long", work))
        # Apart: a question does not wait until a long session is counted.
        self._questions = QueryQueue(lambda work: self._show("question", work), self.lock)
        self._scribe = SummaryWriter(lambda work: self._show("summary", work), self.adopt_summary)
        self.keep: Callable[[Plan], Path] | None = None
        self.closed = False
        self._pulse: Ticker | None = None
        self._living: object = None
        self._behind = False
        self._long = _is_long(session)
        self._counted = not self._long or counter in QUICK
        ledger = None if self._counted else count_tokens(session, ESTIMATE)
        self.desk = WorkbenchModel(
            session, policy, counter=counter, window=window, scenario=scenario, ledger=ledger
        )
        if not self._counted:
            self._count()

    def start(self, wanted: Mapping[str, Any], replay: bool = False) -> Traits:
        """The first answer: every trait that there is to set. Raises what cannot be planned."""
        traits = self.desk.answer(wanted)
        self.trouble, self.replaying = self.desk.refused, replay
        if replay:
            traits |= self._live()
        return {**self.desk.wanted, "replay": replay, **traits}

    def begin(self) -> None:
        """From now on there is somebody to hand over to."""
        self._errands.begin()
        self._questions.begin()
        self._scribe.begin()

    def want(self, wanted: Mapping[str, Any], seq: int = 0, replay: bool | None = None) -> Traits:
        """The traits to set for what is wanted now; all of `desk.wanted` among them where that changed.

        What cannot be done is told in "_error", and `trouble` is why; plan A then stays what it was.
        """
        with self.lock:
            desk, had, before = self.desk, self.desk.lived, self.desk.wanted
            self.trouble, self._seq = None, seq
            changed = any(wanted.get(name, value) != value for name, value in before.items())
            traits = desk.confirm(seq)
            if changed:
                try:
                    traits = {**desk.answer(wanted, seq), **desk.wanted}
                except InspectorError as error:
                    self.trouble = error
                    return {**before, "replay": self.replaying, **desk.confirm(seq, str(error))}
                self.trouble = desk.refused
            turned = replay is not None and replay != self.replaying
            if turned:
                self.replaying = not self.replaying
                self._errands.stop("replay")
            if self.replaying and (changed or turned):
                traits |= self._live()
            return traits | self._drop_run(had, traits)

    def ask(self, asked: object, answer: Answer) -> bool:
        """Have a message answered, at once or in the background; whether it needs an answer at all.

        `answer` gets the reply once, in the thread that found it.
        """
        if isinstance(asked, dict) and asked.get("type") in SLOW:
            with self.lock:
                desk = copy(self.desk)
                words = SLOW[asked["type"]]
                known = words == FACTS and "facts" in desk.ledger.session.__dict__
                shown = words if self._long and not known else ""
                self._questions.ask(asked, answer, lambda asked: self._find(desk, asked), shown)
            return True
        reply = self.reply(asked)
        if reply is not None:
            answer(reply)
        return reply is not None

    def reply(self, asked: object) -> Traits | None:
        """The reply to a message, None where it needs none."""
        if isinstance(asked, dict) and asked.get("type") == "stop":
            self.stop("" if asked.get("what") != "summary" else "summary")
            return None
        with self.lock:
            # A desk never changes what it holds, it holds something else: this one stays as it is.
            desk = copy(self.desk)
        return self._find(desk, asked)

    def adopt_summary(self, plan: Plan, checkpoint: Checkpoint | None) -> None:
        """A summary was written for a plan: it stands for the stand-in from now on; None takes it away."""
        with self.lock:
            before = self.desk.wanted
            self._tell(self._spare(self.desk.adopt_summary(plan, checkpoint, self._seq), before))

    def stop(self, what: str = "") -> None:
        """Stop what is done in the background; estimates stay estimates, and nothing is replayed.

        With "summary" only the summary that is being written is given up.
        """
        self._scribe.stop()
        if what == "summary":
            return
        with self.lock:
            stopped, refused = self._errands.stop(), self._questions.stop()
            self._works = {}
            traits: Traits = {"_work": {}}
            if "count" in stopped:
                self._counter, self._counted = ESTIMATE, True
                traits["_error"] = "Counting was stopped: the numbers stay estimates."
            if "replay" in stopped:
                self.replaying = traits["replay"] = False
            if stopped or refused:
                self._tell(traits)

    def wait(self, timeout: float | None = None) -> None:
        """Wait for what is done in the background. Raises TimeoutError after so many seconds."""
        if not self._errands.wait(timeout):
            raise TimeoutError("the work in the background is not finished")

    def wait_for_summary(self, timeout: float | None = None) -> None:
        """Wait for the summary that is being written. Raises TimeoutError after so many seconds."""
        if not self._scribe.wait(timeout):
            raise TimeoutError("the summary is not finished")

    def follow(self, tail: FollowedFile) -> None:
        """Look at the file about once a second, and hand over what it has grown to."""
        if self._pulse is None:
            try:
                self._pulse = Ticker(lambda: self.look(tail), SECONDS)
            except RuntimeError:
                self._tell({"_error": "The file is not followed: this Python has no threads."})

    def look(self, tail: FollowedFile) -> None:
        """Look at the file now. What cannot be read is told once; what was read last stays."""
        sentence = ""
        try:
            self._behind = tail.poll() is not None or self._behind
        except Exception as error:
            # Whatever it is: nobody else would hear of it, and the next look may do better.
            sentence = f"The file cannot be read any more: {tell_error(error)}"
        try:
            if self._behind:
                self.grow(tail.session)
            self._behind = False
        except Exception as error:
            sentence = f"What the file holds now cannot be shown: {tell_error(error)}"
        with self.lock:
            if sentence != self._complaint:
                self._complaint = sentence
                self._tell({"_error": sentence})

    def grow(self, session: Session) -> None:
        """The session has grown, or is another one now."""
        self._long = _is_long(session)
        done = False
        while not done:
            with self.lock:
                counter, known = self._counter_now, self.desk.ledger
            ledger = count_tokens(session, counter, known=known)
            with self.lock:
                # Exact counts may have come meanwhile, or been given up.
                done = counter is self._counter_now
                if done:
                    self._adopt(session, ledger)
                    if not self._counted and not self._errands.is_on("count"):
                        self._count()

    def close(self) -> None:
        """Stop all work, and hand nothing over any more. Waits for nobody, not even for the lock."""
        self.closed = True
        self._hand_over = lambda traits: None
        self._errands.close()
        self._questions.close()
        self._scribe.close()
        if self._pulse is not None:
            self._pulse.stop()

    @property
    def _counter_now(self) -> str | Counter:
        return self._counter if self._counted else ESTIMATE

    def _tell(self, traits: Traits) -> None:
        with self.lock:
            self._hand_over(traits)

    def _show(self, whose: str, work: Traits) -> None:
        """What is being done, the long work before questions."""
        with self.lock:
            self._works[whose] = work
            works = (self._works.get(name) for name in ("long", "summary", "question"))
            self._tell({"_work": next((work for work in works if work), {})})

    def _find(self, desk: WorkbenchModel, asked: object) -> Traits:
        if isinstance(asked, dict) and asked.get("type") in WRITTEN:
            return reply_to(asked, lambda asked: self._scribe.find(self.desk, asked))
        if isinstance(asked, dict) and asked.get("type") == "save" and self.keep is not None:
            keep = self.keep
            return reply_to(asked, lambda _: tell_place(keep(desk.plan)))
        return answer_query(desk, asked)

    def _count(self) -> None:
        """Count exactly what was only estimated."""
        session, counter = self.desk.session, self._counter

        def take(ledger: Ledger) -> None:
            with self.lock:
                if self._counted:
                    return  # stopped in the very moment it was done
                if self.desk.session is session:
                    self._counted = True
                    self._adopt(session, ledger)
                else:
                    # It has grown meanwhile. What was counted is remembered by its text.
                    self._count()

        def work(tell: OnProgress) -> Ledger:
            return count_tokens(session, counter, tell)

        self._errands.send("count", "Counting tokens", work, take, self._regret)

    def _adopt(self, session: Session, ledger: Ledger) -> None:
        """Plan anew what is wanted, and hand that over."""
        desk, had, before = self.desk, self.desk.lived, self.desk.wanted
        desk.follow(session, ledger)
        traits = self._spare(desk.answer({}, self._seq), before)
        if self.replaying:
            traits |= self._live()
        self._tell(traits | self._drop_run(had, traits))

    def _spare(self, traits: Traits, before: Traits) -> Traits:
        """What nobody's hand asked for, with what is wanted now where that is not as `before`."""
        if not traits["_error"]:
            # What was said to the user's hand is not taken back for this.
            del traits["_error"]
        return traits | {name: value for name, value in self.desk.wanted.items() if value != before[name]}

    def _live(self) -> Traits:
        """Live the session again; a long one in the background. What cannot be lived is put away."""
        try:
            if not self._long:
                return self.desk.live_again()
            life = self.desk.prepare_life()
        except InspectorError as error:
            self.trouble, self.replaying = error, False
            return {"_error": printable(str(error)), "replay": False}
        if life is None:
            # What is wanted was lived; what is being lived is wanted no more.
            self._errands.stop("replay")
            return {}
        living = (life.ledger, life.policy, life.scenario)
        if living != self._living or not self._errands.is_on("replay"):
            self._living = living
            self._errands.send(
                "replay", "Living the session again", life.live, self._take_run, self._regret_run
            )
        return {}

    def _drop_run(self, had: Run | None, traits: Traits) -> Traits:
        dropped = had is not None and self.desk.lived is None and "_run" not in traits
        return {"_run": {}, "_run_data": b""} if dropped else {}

    def _take_run(self, run: Run) -> None:
        with self.lock:
            # It may have been stopped, or asked for otherwise, in the very moment it was done.
            if self.replaying and self._living == (run.ledger, run.policy, run.scenario):
                self._tell(self.desk.adopt_run(run))

    def _regret_run(self, error: Exception) -> None:
        with self.lock:
            self.replaying = False
            self._tell({"_error": tell_error(error), "replay": False})

    def _regret(self, error: Exception) -> None:
        self._tell({"_error": tell_error(error)})


def tell_place(path: PurePath) -> Traits:
    """Where a plan was saved, as the reply to that wish."""
    return {"name": printable(path.name), "path": printable(str(path))}


def _is_long(session: Session) -> bool:
    """Whether counting or replaying it takes long enough to be noticed."""
    length = 0
    for entry in session.entries:
        length += sum(len(block.text) for block in entry.blocks)
        if length > LONG:
            return True
    return False
