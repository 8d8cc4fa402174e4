"""One workbench without a screen: the user's inputs go in, the values to show come out.

The widget, the server, the kernel's comm and the export all stand on a `WorkbenchModel`. It touches no file,
clock or thread; who calls it from several threads holds a lock. What a screen asks about it is answered by
`queries`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from ..errors import EditError, InspectorError
from ..planning.plan import Plan, make_plan
from ..planning.summary_jobs import Checkpoint
from ..policies.policy import Edits, Policy
from ..policies.registry import add_policy, configure_policy, find_policy, names_of_policies
from ..replays.engine import OnProgress, ReplayTask
from ..replays.run import Run
from ..replays.scenario import Scenario, read_scenario
from ..session.session import Session
from ..text import printable
from ..tokens.history import History, trace_history
from ..tokens.ledger import Ledger, count_tokens
from .inputs import INPUTS, carry_over, check_inputs, describe_dropped, drop_edit
from .payloads.base_payload import Payload, to_json
from .payloads.recorded import draw_recorded
from .payloads.replay import draw_run
from .payloads.scene import DrawnPlan, draw_plan, draw_scene
from .written_summaries import WrittenSummary, fill_in, keep

MOST_WORDS = 2_000


class WorkbenchModel:
    """A session, the user's inputs, and the plans that answer.

    `inputs` holds the values of `INPUTS` that were answered last; at first the fullest moment under
    `policy`. `plan` is theirs. `other` is plan B: a `Plan`, the picture of a recorded compaction, or None.
    `refused` says why there is none where the inputs ask for one. `last_run` is the last replay. `written`
    are the summaries that were written here.

    >>> from inspector import open_demo
    >>> model = WorkbenchModel(open_demo(), "keep-recent-turns")
    >>> sorted(model.answer({"versus": {"policy": "claude-code"}}))
    ['_error', '_other', '_other_data', '_plan', '_plan_data', '_scene', '_scene_data']
    >>> model.plan.policy.name, model.other.policy.name
    ('keep-recent-turns', 'claude-code')
    """

    INPUTS = INPUTS

    def __init__(
        self,
        session: Session,
        policy: str | Policy | dict[str, Any] = "flue",
        *,
        counter: str = "calibrated",
        window: int | None = None,
        scenario: Scenario | dict[str, Any] | None = None,
        ledger: Ledger | None = None,
    ) -> None:
        self.session, self.window = session, window
        self.ledger = count_tokens(session, counter) if ledger is None else ledger
        self.history: History = trace_history(session, self.ledger)
        self.scenario = read_scenario(scenario)
        self.plan: Plan
        self.other: Plan | DrawnPlan | None = None
        self.refused: InspectorError | None = None
        self.last_run: Run | None = None
        self.written: tuple[WrittenSummary, ...] = ()
        name = policy if isinstance(policy, str) else add_policy(policy).name
        fullest = self.history.fullest
        self.inputs: dict[str, Any] = {
            "cut": "",
            "policy": name,
            "settings": {},
            "pins": [],
            "at": fullest.at if fullest is not None else "",
            "versus": {},
        }
        # What payloads worked out, such as the session's facts; copies of the model share it.
        self.cache: dict[str, Any] = {}
        self._answered = self._grew = False
        self._drawn: tuple[str, list[str]] | None = None
        self._compared: dict[str, Any] | None = None
        self._picture: dict[str, Any] = {}

    @property
    def moment(self) -> Session:
        """The session as it stood at the moment that is planned."""
        return self._moment(self.inputs["at"])

    @property
    def run(self) -> Run | None:
        """The last replay; None where the inputs have another policy or other settings now."""
        return self.last_run if self._answers(self.inputs) else None

    def answer(self, inputs: Mapping[str, Any], seq: int = 0) -> dict[str, Any]:
        """Plan under these inputs and keep them; the traits to set, those of the wire only.

        `inputs` may hold some of `INPUTS`; the others stay, but what belonged to another moment or policy
        goes with it, so read `self.inputs` afterwards. Raises what `make_plan` raises, and then everything
        is as it was. Where plan B cannot be made "_error" says why and there is none; it also names a cut or
        a pin that the session has grown past, which is dropped.
        """
        inputs = self._settle(inputs)
        moment = self._moment(inputs["at"])
        plan, gone = self._plan_on(moment, inputs) if self._grew else (self._plan(moment, inputs), "")
        answer: dict[str, Any] = {"_error": gone}
        # The scene names the policies there are, and one may have been added since.
        scene = inputs["at"], names_of_policies()
        if scene != self._drawn:
            answer |= _traits("_scene", *draw_scene(plan, self.history))
        answer |= _traits("_plan", *draw_plan(plan, seq))
        messages = self._compare(plan, inputs)
        if self.refused is not None:
            inputs["versus"] = {}
        # Remembered last: a plan that could not be drawn leaves everything as it was.
        if inputs["policy"] != self.inputs["policy"]:
            # A run under another policy is no answer any more.
            self.last_run = None
        self.plan, self.inputs, self._drawn = plan, inputs, scene
        self._picture, self._answered, self._grew = answer["_plan"], True, False
        return answer | messages

    def confirm(self, seq: int, error: str = "") -> dict[str, Any]:
        """The plan as it stands, as the answer to another question; with why nothing came of that one."""
        answer: dict[str, Any] = {"_plan": {**self._picture, "seq": seq}}
        return {**answer, "_error": printable(error, MOST_WORDS)} if error else answer

    def run_replay(
        self, inputs: Mapping[str, Any] | None = None, tell: OnProgress | None = None
    ) -> dict[str, Any]:
        """Replay the whole session under the policy; the traits to set, none where that was done.

        `tell` is called with the share that is done and may raise `Stopped`. Raises what `replay` raises.
        """
        task = self.prepare_replay(inputs)
        return {} if task is None else self.adopt_run(task.live(tell))

    def prepare_replay(self, inputs: Mapping[str, Any] | None = None) -> ReplayTask | None:
        """The same as a task to be run elsewhere; None where it was done."""
        inputs = {**self.inputs, **(inputs or {})}
        if self._answers(inputs):
            return None
        policy = _configure(inputs)
        return ReplayTask(self.session, self.ledger, self.history, policy, self.scenario, self.window)

    def adopt_run(self, run: Run) -> dict[str, Any]:
        """Take over a replay that was run elsewhere; the traits to set. One of another ledger is dropped."""
        if run.ledger is not self.ledger:
            return {}
        self.last_run = run
        return _traits("_run", *draw_run(run))

    def fill_in(self, plan: Plan) -> Plan:
        """The plan with the summary that was written for it, if one was."""
        return fill_in(plan, self.written)

    def adopt_summary(self, plan: Plan, checkpoint: Checkpoint | None, seq: int = 0) -> dict[str, Any]:
        """Take over a summary that was written for a plan, None for the stand-in again; the traits to set."""
        self.written = keep(self.written, plan, checkpoint)
        # Plan B may be the one that it was written for.
        self._compared = None
        return self.answer({}, seq)

    def follow(self, session: Session, ledger: Ledger | None = None) -> None:
        """The session grew, or was counted better: the next answer draws a new scene.

        The moment stays where it is; at the live end, or where it is gone, it is the end. `ledger` is by
        default counted as the last one was.
        """
        if ledger is None:
            ledger = count_tokens(session, self.ledger.base, known=self.ledger)
        ledger.check(session)
        history = trace_history(session, ledger)
        at = self.inputs["at"]
        if at and (at == _end(self.session) or at not in session.index):
            at = _end(session)
        self.session, self.ledger, self.history, self.cache = session, ledger, history, {}
        self.inputs = {**self.inputs, "at": at}
        self._grew, self._drawn, self._compared = True, None, None
        self.last_run = None

    def _answers(self, inputs: Mapping[str, Any]) -> bool:
        """Whether the last replay is under these inputs."""
        last_run = self.last_run
        return last_run is not None and (last_run.policy, last_run.scenario) == (
            _configure(inputs),
            self.scenario,
        )

    def _moment(self, at: str) -> Session:
        return self.session.at(at) if at else self.session

    def _plan(self, moment: Session, inputs: Mapping[str, Any]) -> Plan:
        edits = Edits(
            cut=inputs.get("cut") or None,
            pins=tuple(inputs.get("pins", ())),
            settings=dict(inputs.get("settings", {})),
        )
        policy = find_policy(inputs["policy"])
        return self.fill_in(make_plan(moment, self.ledger, policy, edits, window=self.window))

    def _plan_on(self, moment: Session, inputs: dict[str, Any]) -> tuple[Plan, str]:
        """The same once the session has grown: without what it has grown past, and a sentence about that."""
        before = dict(inputs)
        while True:
            try:
                return self._plan(moment, inputs), describe_dropped(before, inputs)
            except EditError as error:
                if not drop_edit(inputs, error):
                    raise

    def _settle(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """All of `INPUTS`, each of its type, without what no longer belongs."""
        whole = {name: inputs.get(name, self.inputs[name]) for name in INPUTS}
        check_inputs(whole)
        return carry_over(whole, self.inputs) if self._answered else whole

    def _compare(self, plan: Plan, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Plan B where it has changed; one that cannot be made is `refused`, and plan A stands."""
        compared: dict[str, Any] = {"at": inputs["at"], "versus": inputs["versus"]}
        self.refused = None
        if compared == self._compared or not (inputs["versus"] or self.other):
            return {}
        other: Plan | DrawnPlan | None = None
        traits: dict[str, Any] = {"_other": {}, "_other_data": b""}
        try:
            if inputs["versus"]:
                other, drawn = self._draw_other(plan, inputs["versus"])
                traits = _traits("_other", *drawn)
        except InspectorError as error:
            self.refused, compared = error, {}
            traits["_error"] = printable(f"There is no plan B. {error}")
        self.other, self._compared = other, compared
        return traits

    def _draw_other(self, plan: Plan, versus: Mapping[str, Any]) -> tuple[Plan | DrawnPlan, DrawnPlan]:
        if versus.get("recorded"):
            recorded = draw_recorded(plan, self.history)
            return recorded, recorded
        check_inputs({f"versus.{name}": value for name, value in versus.items()})
        if not versus.get("policy"):
            raise EditError("versus", f"{dict(versus)!r:.60}", "plan B has a policy, or is what was recorded")
        other = self._plan(plan.session, versus)
        payload, data = draw_plan(other)
        label = printable(other.policy.title or other.policy.name, 120)
        return other, DrawnPlan(replace(payload, label=label), data)


def _traits(name: str, payload: Payload, data: bytes) -> dict[str, Any]:
    """A payload and its columns as the traits that carry them."""
    return {name: to_json(payload), f"{name}_data": data}


def _configure(inputs: Mapping[str, Any]) -> Policy:
    """The policy wanted, with its settings."""
    return configure_policy(inputs["policy"], dict(inputs["settings"]))


def _end(session: Session) -> str:
    """The last entry of the path, "" where there is none."""
    return session.entries[session.path[-1]].id if session.path else ""
