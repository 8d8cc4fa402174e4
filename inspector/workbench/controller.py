"""I/O: one document on a screen: one change at a time, long work in the background, a growing file.

The widget, the server and the kernel's comm each have a controller for each document. New inputs are answered
at once; results of background work are published later, in another thread, with the controller's lock held.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

from ..errors import EditError, InspectorError, PlanError, Stopped
from ..files import FollowedFile
from ..hooks.state import read_pins
from ..planning.plan import Plan
from ..planning.summary_jobs import Checkpoint
from ..policies.policy import Policy
from ..replays.run import Run
from ..replays.scenario import Scenario
from ..session.garbage import paused_gc
from ..session.labels import FindingJudgement
from ..session.session import Session
from ..text import printable
from ..tokens.counter import Counter
from ..tokens.counters import ESTIMATE
from ..tokens.ledger import Ledger, count_tokens
from .model import WorkbenchModel
from .opening import AUTO
from .payloads.base_payload import to_json
from .payloads.new_file import NewFile, NewFileReply
from .payloads.story import judge_story
from .queries import answer_query, refuse, reply_to
from .saved_plans import list_saved, open_saved
from .summary_writer import SummaryWriter
from .tasks import TaskQueue, Ticker, describe_error

Traits = dict[str, Any]
Answer = Callable[[Traits], None]

LONG = 5_000_000
"""Characters of text above which a session is estimated first, and counted and replayed in the background."""
QUICK = ("chars4_utf16", "tiered")
"""Counters that need no estimate: they are one."""
SECONDS = 1.0
"""Between two looks at a file that is followed."""
FACTS = "Finding facts"
SLOW = {
    **dict.fromkeys(
        (
            "facts",
            "findings",
            "story",
            "context_facts",
            "summaries",
            "regret",
            "grounding",
            "losses",
            "selection",
        ),
        FACTS,
    ),
    "rules": "Trying rules",
    "policy_results": "Trying policies",
    "review": "Looking for secrets",
    "export": "Making the page",
    "save": "Saving the plan",
    "open_plan": "Opening the plan",
    "preview_file": "Preparing the file",
    "sending": "Looking for secrets",
}
"""Queries that may take seconds, and what is shown meanwhile."""
WRITTEN = ("sending", "summarise", "writing", "unsummarise")
"""Questions for the summary writer."""


class Controller:
    """Controls a session's `WorkbenchModel` for a screen.

    `publish` is called with traits that background work has changed, in the thread that did the work and
    with `lock` held; no work starts before `begin`. `last_error` is the error behind the last sentence that
    `set_inputs` returned, or None. `save` writes a plan to a file and returns its path, `offer` builds a new
    session file, `write` writes one; each is None if the host does not allow it or writes files itself.
    `keep_summary(plan, checkpoint)` stores the summary written for a plan; without a checkpoint it removes
    the stored one. `keep_judgement` stores a reader's judgement in the same way. A `closed` controller
    publishes nothing.
    """

    def __init__(
        self,
        session: Session,
        publish: Callable[[Traits], None],
        policy: str | Policy | dict[str, Any] = AUTO,
        *,
        counter: str = "calibrated",
        window: int | None = None,
        scenario: Scenario | dict[str, Any] | None = None,
    ) -> None:
        self.lock = threading.RLock()
        self.last_error: InspectorError | None = None
        self.replaying = False
        self._send, self._seq, self._file_error = publish, 0, ""
        self._counter: str | Counter = counter
        self._tasks = TaskQueue(self.lock, lambda work: self._publish({"_work": work}))
        self._summary_writer = SummaryWriter(self._tasks, self.adopt_summary)
        self.save: Callable[[Plan], Path] | None = None
        self.plans: Callable[[], Mapping[str, bytes]] = dict
        self.offer: Callable[[WorkbenchModel, Mapping[str, Any]], NewFile] | None = None
        self.write: Callable[[str, bytes], Path] | None = None
        self._offered: NewFile | None = None
        self.keep_summary: Callable[[Plan, Checkpoint | None], None] | None = None
        self.keep_judgement: Callable[[Session, FindingJudgement], None] | None = None
        self.closed = False
        self._ticker: Ticker | None = None
        self._replaying_of: object = None
        self._behind = False
        self._long = _is_long(session)
        self._counted = not self._long or counter in QUICK
        # Do not wait for a garbage collection of everything that was just read; see `start`.
        with paused_gc():
            ledger = None if self._counted else count_tokens(session, ESTIMATE)
            self.model = WorkbenchModel(
                session, policy, counter=counter, window=window, scenario=scenario, ledger=ledger
            )
        self.model.read_pins = read_pins
        if not self._counted:
            self._count()

    def start(
        self, inputs: Mapping[str, Any], replay: bool = False, scenario: dict[str, Any] | None = None
    ) -> Traits:
        """Return all traits for the first answer. Raises the errors of planning."""
        with paused_gc():
            traits = self.model.answer(inputs)
            if not inputs.get("at") and not inputs.get("look"):
                traits |= self.model.show_worst(known=True)
            else:
                self.model.take_start()  # a moment was chosen
        self.last_error, self.replaying = self.model.refused, replay
        if scenario is not None:
            self.model.choose_scenario(scenario)
        if replay:
            traits |= self._replay()
        return {**self.model.inputs, "replay": replay, "scenario": self._scenario, **traits}

    def begin(self, after: float = 0.0) -> None:
        """Start background work: from now on traits may be published. Waits `after` seconds, or until the
        first query: the screen is drawn by then."""
        self._tasks.begin(after)

    def set_inputs(
        self,
        inputs: Mapping[str, Any],
        seq: int = 0,
        replay: bool | None = None,
        scenario: dict[str, Any] | None = None,
    ) -> Traits:
        """Return the traits to set for these inputs; includes all of `model.inputs` if they changed.

        "_error" reports inputs that cannot be planned, with `last_error` as the cause; plan A is then
        unchanged.
        """
        with self.lock:
            model, had, before = self.model, self.model.last_run, self.model.inputs
            self.last_error, self._seq = None, seq
            changed = any(inputs.get(name, value) != value for name, value in before.items())
            was, traits = model.scenario, model.confirm(seq)
            if changed or scenario not in (None, self._scenario):
                try:
                    if scenario is not None:
                        model.choose_scenario(scenario)
                    if changed:
                        traits = {**model.answer(inputs, seq), **model.inputs}
                except InspectorError as error:
                    self.last_error, model.scenario = error, was
                    unchanged = {**before, "replay": self.replaying, "scenario": self._scenario}
                    return {**unchanged, **model.confirm(seq, str(error))}
                self.last_error = model.refused if changed else None
                traits["scenario"] = self._scenario
            if was != model.scenario:
                traits["scenario"] = self._scenario
            turned = replay is not None and replay != self.replaying
            if turned:
                self.replaying = not self.replaying
                self._tasks.cancel("replay")
            if self.replaying and (changed or turned or was != model.scenario):
                traits |= self._replay()
            return traits | self._drop_run(had, traits)

    def ask(self, query: object, answer: Answer) -> bool:
        """Answer a message, at once or in the background. Return False if it needs no answer.

        `answer` is called once with the reply, in the thread that computed it.
        """
        self._tasks.hurry()
        if isinstance(query, dict) and query.get("type") in SLOW:
            with self.lock:
                model = copy(self.model)
                words = SLOW[query["type"]]
                has_facts = words == FACTS and "facts" in model.ledger.session.__dict__
                self._tasks.submit(
                    "query",
                    lambda _: self._answer(model, query),
                    answer,
                    lambda error: answer(refuse(query, describe_error(error))),
                    what=words if self._long and not has_facts else "",
                )
            return True
        reply = self.reply(query)
        if reply is not None:
            answer(reply)
        return reply is not None

    def reply(self, query: object) -> Traits | None:
        """Return the reply to a message, or None if it needs none."""
        if isinstance(query, dict) and query.get("type") == "stop":
            self.stop("" if query.get("what") != "summary" else "summary")
            return None
        with self.lock:
            # A model replaces what it holds and never changes it in place: the copy stays as it is.
            model = copy(self.model)
        return self._answer(model, query)

    def adopt_summary(self, plan: Plan, checkpoint: Checkpoint | None) -> None:
        """Show the summary written for a plan in place of its placeholder; None removes it."""
        with self.lock:
            before = self.model.inputs
            self._publish(self._keep_error(self.model.adopt_summary(plan, checkpoint, self._seq), before))
            if self.keep_summary is not None:
                self.keep_summary(plan, checkpoint)

    def stop(self, what: str = "") -> None:
        """Stop background work: estimates stay estimates, and replays end.

        With "summary" only the writing of the summary is cancelled.
        """
        self._tasks.stop(what)

    def wait(self, timeout: float | None = None) -> None:
        """Wait for the background work. Raises TimeoutError after `timeout` seconds."""
        if not self._tasks.wait("long", timeout):
            raise TimeoutError("the work in the background is not finished")

    def wait_for_summary(self, timeout: float | None = None) -> None:
        """Wait for the summary that is being written. Raises TimeoutError after `timeout` seconds."""
        if not self._tasks.wait("summary", timeout):
            raise TimeoutError("the summary is not finished")

    def follow(self, file: FollowedFile) -> None:
        """Check the file about once a second, and publish the session if it has grown."""
        if self._ticker is None:
            try:
                self._ticker = Ticker(lambda: self.check_file(file), SECONDS)
            except RuntimeError:
                self._publish({"_error": "The file is not followed: this Python has no threads."})

    def check_file(self, file: FollowedFile) -> None:
        """Check the file now. An error is published once; the session read last stays."""
        sentence = ""
        try:
            self._behind = file.poll() is not None or self._behind
        except Exception as error:
            # Catch everything: no caller would see the error, and the next check may succeed.
            sentence = f"The file can no longer be read: {describe_error(error)}"
        try:
            if self._behind:
                self.grow(file.session)
            self._behind = False
        except Exception as error:
            sentence = f"The file's new content cannot be shown: {describe_error(error)}"
        with self.lock:
            if sentence != self._file_error:
                self._file_error = sentence
                self._publish({"_error": sentence})

    def grow(self, session: Session) -> None:
        """The session has grown, or is another one now."""
        self._long = _is_long(session)
        session = self.model.keep_labels(session)
        done = False
        while not done:
            with self.lock:
                counter, current_ledger = self._counter_now, self.model.ledger
            ledger = count_tokens(session, counter, known=current_ledger)
            with self.lock:
                # Exact counts may have come meanwhile, or been given up.
                done = counter is self._counter_now
                if done:
                    self._adopt(session, ledger)
                    if not self._counted and not self._tasks.is_on("count"):
                        self._count()

    def close(self) -> None:
        """Stop all work and publish nothing more. Does not wait, not even for the lock.

        Drops all references from here, so that the memory of a large session is freed at once: a run of the
        garbage collector would pause everything else.
        """
        self.closed = True
        self._send = lambda traits: None
        self._tasks.close()
        self._summary_writer.close()
        self.model.ledger.memory.clear()
        if self._ticker is not None:
            self._ticker.stop()

    @property
    def _scenario(self) -> dict[str, Any]:
        scenario: dict[str, Any] = self.model.scenario.model_dump(mode="json")
        return scenario

    @property
    def _counter_now(self) -> str | Counter:
        return self._counter if self._counted else ESTIMATE

    def _publish(self, traits: Traits) -> None:
        if not self.closed:
            with self.lock:
                self._send(traits)

    def _answer(self, model: WorkbenchModel, query: object) -> Traits:
        if isinstance(query, dict) and query.get("type") in WRITTEN:
            return reply_to(query, lambda query: self._summary_writer.answer(self.model, query))
        if isinstance(query, dict) and query.get("type") == "save" and self.save is not None:
            save = self.save
            return reply_to(query, lambda _: describe_place(save(model.plan)))
        if isinstance(query, dict) and query.get("type") == "judge":
            return reply_to(query, lambda query: self._judge(judge_story(model, query)))
        if isinstance(query, dict) and query.get("type") == "plans":
            return reply_to(query, lambda _: list_saved(self.plans(), model.session))
        if isinstance(query, dict) and query.get("type") == "open_plan":
            return reply_to(query, lambda query: self._open_plan(model, str(query["name"])))
        if isinstance(query, dict) and query.get("type") == "preview_file":
            return reply_to(query, lambda query: self._preview_file(model, query))
        if isinstance(query, dict) and query.get("type") == "write_file" and self.write is not None:
            write = self.write
            return reply_to(query, lambda query: self.write_offered(query, write))
        return answer_query(model, query)

    def _judge(self, judgement: FindingJudgement) -> Traits:
        """Take over a reader's judgement of a finding, publish what it changes, and store it."""
        with self.lock:
            session = self.model.session.with_judgements([judgement])
            self._adopt(session, replace(self.model.ledger, session=session))
            if self.keep_judgement is not None:
                self.keep_judgement(session, judgement)
        return {}

    def _preview_file(self, model: WorkbenchModel, query: Mapping[str, Any]) -> Traits:
        if self.offer is None:
            raise EditError("write", str(query.get("kind")), "no file is written from here")
        offered = self.offer(model, query)
        with self.lock:
            self._offered = offered
        return to_json(offered.preview)

    def take_offered(self, query: Mapping[str, Any]) -> NewFile:
        """The file that was shown last, which is what is written. Raises `EditError` for any other."""
        with self.lock:
            offered = self._offered
        if offered is None or offered.preview.name != query.get("name") or not offered.content:
            raise EditError(
                "write",
                str(query.get("name"))[:80],
                "this is not the file that was previewed: preview it again",
            )
        return offered

    def write_offered(self, query: Mapping[str, Any], write: Callable[[str, bytes], PurePath]) -> Traits:
        """Write the file that was shown, and return its path."""
        offered = self.take_offered(query)
        place = write(offered.preview.name, offered.content)
        return to_json(NewFileReply(str(place), offered.sentence))

    def _open_plan(self, model: WorkbenchModel, name: str) -> Traits:
        texts = self.plans()
        if name not in texts:
            raise PlanError(name, "there is no such file next to the session")
        return open_saved(model, texts[name], name)

    def _count(self) -> None:
        """Replace estimated tokens by exact counts."""
        session, counter = self.model.session, self._counter

        def take(ledger: Ledger) -> None:
            if self.model.session is session:
                self._counted = True
                self._adopt(session, ledger)
            else:
                # It has grown meanwhile. What was counted is remembered by its text.
                self._count()

        def fail(error: BaseException) -> None:
            sentence = describe_error(error)
            if isinstance(error, Stopped):
                self._counter, self._counted = ESTIMATE, True
                sentence = "Counting was stopped: the numbers stay estimates."
            self._publish({"_error": sentence})

        self._tasks.submit(
            "long",
            lambda on_progress: count_tokens(session, counter, on_progress),
            take,
            fail,
            "count",
            "Counting tokens",
        )

    def _adopt(self, session: Session, ledger: Ledger) -> None:
        """Plan again under the same inputs, and publish that."""
        model, had, before = self.model, self.model.last_run, self.model.inputs
        model.follow(session, ledger)
        traits = self._keep_error(model.answer({}, self._seq), before)
        if self.replaying:
            traits |= self._replay()
        self._publish(traits | self._drop_run(had, traits))

    def _keep_error(self, traits: Traits, before: Traits) -> Traits:
        """Traits that no user action asked for, with the inputs that differ from `before`."""
        if not traits["_error"]:
            # A sentence about the user's last action is not cleared by background work.
            del traits["_error"]
        return traits | {name: value for name, value in self.model.inputs.items() if value != before[name]}

    def _replay(self) -> Traits:
        """Replay the session, a long one in the background. If that fails, switch the replay off."""
        try:
            if not self._long:
                return self.model.run_replay()
            task = self.model.prepare_replay()
        except InspectorError as error:
            self._tasks.cancel("replay")
            self.last_error, self.replaying = error, False
            return {"_error": printable(str(error)), "replay": False}
        if task is None:
            # The run is there already; the one that is under way is not needed any more.
            self._tasks.cancel("replay")
            return {}
        replay_args = (task.ledger, task.policy, task.scenario)
        if replay_args != self._replaying_of or not self._tasks.is_on("replay"):
            self._replaying_of = replay_args
            self._tasks.submit(
                "long", task.live, self._take_run, self._fail_replay, "replay", "Replaying the session"
            )
        return {}

    def _drop_run(self, had: Run | None, traits: Traits) -> Traits:
        dropped = had is not None and self.model.last_run is None and "_run" not in traits
        return {"_run": {}, "_run_data": b""} if dropped else {}

    def _take_run(self, run: Run) -> None:
        self._publish(self.model.adopt_run(run))

    def _fail_replay(self, error: BaseException) -> None:
        self.replaying = False
        sentence = {} if isinstance(error, Stopped) else {"_error": describe_error(error)}
        self._publish({"replay": False, **sentence})


def describe_place(path: PurePath) -> Traits:
    """Return the reply with the path of a saved plan."""
    return {"name": printable(path.name), "path": printable(str(path))}


def _is_long(session: Session) -> bool:
    """Whether counting or replaying it takes long enough to be noticed."""
    length = 0
    for entry in session.entries:
        length += sum(len(block.text) for block in entry.blocks)
        if length > LONG:
            return True
    return False
