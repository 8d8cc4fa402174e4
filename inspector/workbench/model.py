"""One workbench without a screen: the user's inputs go in, the values to show come out.

The widget, the server, the kernel's comm and the export all stand on a `WorkbenchModel`. It touches no file,
clock or thread; who calls it from several threads holds a lock. What a screen asks about it is answered by
`queries`.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from msgspec.structs import replace

from ..errors import EditError, InspectorError, PolicyError
from ..planning.plan import Plan
from ..planning.planner import make_plan
from ..planning.summary_jobs import Checkpoint
from ..policies.builtin.recorded import RECORDED
from ..policies.own_policy import find_own_policy
from ..policies.policy import Edits, Policy
from ..policies.registry import add_policy, configure_policy, find_policy, names_of_policies
from ..redaction.cut import cut_text
from ..replays.act_positions import check_acts
from ..replays.engine import OnProgress, ReplayTask
from ..replays.run import Run
from ..replays.scenario import Scenario, read_scenario
from ..session.session import Session
from ..text import printable
from ..tokens.history import History, trace_history
from ..tokens.ledger import Ledger, count_tokens
from .inputs import (
    INPUTS,
    carry_over,
    check_inputs,
    describe_dropped,
    drop_edit,
)
from .lessons.lesson import Lesson
from .opening import (
    AUTO,
    FALLBACK,
    Choice,
    RecordedMark,
    choose,
    find_start,
    list_marks,
    plan_recorded,
)
from .payloads.base_payload import Payload, to_json
from .payloads.recorded import draw_recorded
from .payloads.replay import draw_run
from .payloads.scene import DrawnPlan, draw_plan, draw_scene
from .written_summaries import WrittenSummary, fill_in, keep

MOST_WORDS = 2_000


class RecordedSide(NamedTuple):
    """What the file records right after a moment: as a plan, or None where no plan tells it, and drawn."""

    mark: RecordedMark
    plan: Plan | None
    drawn: DrawnPlan

    @property
    def sealed(self) -> bool:
        """Whether only its provider can read its summary."""
        return self.drawn.payload.sealed


class WorkbenchModel:
    """A session, the user's inputs, and the plans that answer.

    `inputs` holds the values of `INPUTS` that were answered last; at first the fullest moment under
    `policy`, or what `opening` chooses for "auto". `plan` is theirs. `choice` says how it was chosen where
    nobody did. `recorded` is what the file records right after the moment, `shown` the plan that is looked
    at: that one or `plan`. `other` is plan B: a `Plan`, the picture of a recorded compaction, or None.
    `refused` says why there is none where the inputs ask for one. `last_run` is the last replay, `scenario`
    that of the next: unless told otherwise, its provider refuses what exceeds the window. `replayed` are the
    session and the history of a replay. `written` are the summaries that were written here, `file` is the
    name of the session's file, "" where it has none; `lessons` are those that were opened with it, where
    they are not the package's own.

    >>> from inspector import open_demo
    >>> model = WorkbenchModel(open_demo(), "keep-recent-turns")
    >>> sorted(model.answer({"versus": {"policy": "claude-code"}}))
    ['_error', '_other', '_other_data', '_plan', '_plan_data', '_recorded', '_recorded_data', '_scene', \
'_scene_data']
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
        self.file = ""
        self.ledger = count_tokens(session, counter) if ledger is None else ledger
        self.history: History = trace_history(session, self.ledger)
        self.replayed = self.session, self.history
        self._path: str | None = None
        self.scenario = read_scenario(scenario)
        self.plan: Plan
        self.other: Plan | DrawnPlan | None = None
        self.refused: InspectorError | None = None
        self.last_run: Run | None = None
        self.written: tuple[WrittenSummary, ...] = ()
        self.lessons: tuple[Lesson, ...] = ()
        name = policy if isinstance(policy, str) else add_policy(policy).name
        fullest = self.history.fullest
        at = fullest.at if fullest is not None else ""
        self.inputs: dict[str, Any] = {
            "cut": "",
            "policy": name,
            "settings": {},
            "pins": [],
            "at": find_start(session, self.history, self.ledger) if name == AUTO else at,
            "versus": {},
            "look": "",
        }
        self.choice: Choice | None = None
        self.recorded: RecordedSide | None = None
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
    def looked_at(self) -> RecordedSide | None:
        """What the file records right after the moment, where that is looked at and not the plan."""
        recorded = self.recorded
        return recorded if recorded is not None and self.inputs["look"] == recorded.mark.look else None

    @property
    def shown(self) -> Plan:
        """The plan that is looked at."""
        recorded = self.looked_at
        return self.plan if recorded is None or recorded.plan is None else recorded.plan

    @property
    def tab(self) -> str:
        """The tab to open on: what was lost, or the blocks where nothing has to go yet."""
        return "blocks" if self.choice is None or not self.choice.acts else "findings"

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
        asked = self.inputs["look"]
        inputs = self._settle(inputs)
        moment = self._moment(inputs["at"])
        (plan, choice), gone = (
            self._plan_on(moment, inputs) if self._grew else (self._choose(moment, inputs), "")
        )
        answer: dict[str, Any] = {"_error": gone}
        # The scene names the policies there are, and one may have been added since.
        scene = inputs["at"], names_of_policies()
        recorded = self.recorded
        if scene != self._drawn:
            recorded = self._draw_recorded(plan)
            answer |= _traits("_scene", *draw_scene(plan, self.history, self.file))
            none: dict[str, Any] = {"_recorded": {}, "_recorded_data": b""}
            answer |= none if recorded is None else _traits("_recorded", *recorded.drawn)
        inputs["look"] = _find_look(inputs, asked, plan, choice, recorded)
        answer |= _traits("_plan", *draw_plan(plan, seq, choice))
        messages = self._compare(plan, inputs)
        if self.refused is not None:
            inputs["versus"] = {}
        # Remembered last: a plan that could not be drawn leaves everything as it was.
        if inputs["policy"] != self.inputs["policy"]:
            # A run under another policy is no answer any more.
            self.last_run = None
        self.plan, self.inputs, self._drawn = plan, inputs, scene
        self._follow_path(moment)
        self.choice, self.recorded = choice, recorded
        self._picture, self._answered, self._grew = answer["_plan"], True, False
        return answer | messages

    def confirm(self, seq: int, error: str = "") -> dict[str, Any]:
        """The plan as it stands, as the answer to another question; with why nothing came of that one."""
        answer: dict[str, Any] = {"_plan": {**self._picture, "seq": seq}}
        return {**answer, "_error": cut_text(error, MOST_WORDS)} if error else answer

    def choose_scenario(self, scenario: Scenario | dict[str, Any]) -> None:
        """Set what happens from outside in the next replay; the last one stays until then.

        Raises `EditError` for a scenario that cannot be replayed.
        """
        scenario = read_scenario(scenario)
        check_acts(scenario, *self.replayed)
        self.scenario = scenario

    def _follow_path(self, moment: Session) -> None:
        """Replay the whole session, or off its path, as in a sub-agent, the moment's own path. What happens
        at a step of one path happens on no other."""
        path = None if self.history.passes(moment) or not moment.path else moment.leaf
        if path is None:
            self.replayed = self.session, self.history
        elif path != self._path or self.replayed[0].entries is not moment.entries:
            self.replayed = moment, trace_history(moment, self.ledger)
        if path != self._path:
            self.scenario = self.scenario.model_copy(update={"acts": ()})
        self._path = path

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
        policy = self._configure(inputs)
        session, history = self.replayed
        return ReplayTask(session, self.ledger, history, policy, self.scenario, self.window)

    def adopt_run(self, run: Run) -> dict[str, Any]:
        """Take over a replay that was run elsewhere; the traits to set. One of another ledger, or of another
        path, is dropped."""
        if run.ledger is not self.ledger or run.session.leaf != self.replayed[0].leaf:
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

    def keep_labels(self, session: Session) -> Session:
        """A session that takes this one's place, with what readers marked in texts that people typed."""
        labels = self.session.labels
        return session if session.labels == labels else session.with_labels((*labels, *session.labels))

    def follow(self, session: Session, ledger: Ledger | None = None) -> None:
        """The session grew, or was counted better: the next answer draws a new scene.

        The moment stays where it is; at the live end, or where it is gone, it is the end. `ledger` is by
        default counted as the last one was.
        """
        if ledger is None:
            session = self.keep_labels(session)
            ledger = count_tokens(session, self.ledger.base, known=self.ledger)
        ledger.check(session)
        history = trace_history(session, ledger)
        at = self.inputs["at"]
        if at and (at == _end(self.session) or at not in session.index):
            at = _end(session)
        self.cache = {}
        self.session, self.ledger, self.history = session, ledger, history
        self.inputs = {**self.inputs, "at": at}
        self._grew, self._drawn, self._compared = True, None, None
        self.last_run = None

    def _answers(self, inputs: Mapping[str, Any]) -> bool:
        """Whether the last replay is under these inputs."""
        last_run = self.last_run
        return last_run is not None and (last_run.policy, last_run.scenario, last_run.session.leaf) == (
            self._configure(inputs),
            self.scenario,
            self.replayed[0].leaf,
        )

    def _moment(self, at: str) -> Session:
        return self.session.at(at) if at else self.session

    def _configure(self, inputs: Mapping[str, Any]) -> Policy:
        """The policy to replay under, with its settings: what the file records is no policy for all of it."""
        name, settings = inputs["policy"], dict(inputs["settings"])
        if name in (AUTO, RECORDED.name):
            own = find_own_policy(self.session)
            return find_policy(FALLBACK[0]) if own is None else own
        return configure_policy(name, settings)

    def _choose(self, moment: Session, inputs: dict[str, Any]) -> tuple[Plan, Choice | None]:
        """The plan of these inputs, and how it was chosen where nobody did."""
        if inputs["policy"] != AUTO:
            return self._plan(moment, inputs), None
        choice = choose(moment, self.ledger, _edits(inputs), self.window)
        choice = choice._replace(plan=self.fill_in(choice.plan))
        if inputs["settings"]:
            # They are those of a policy: with them it is chosen.
            inputs["policy"] = choice.plan.policy.name
            return choice.plan, None
        return choice.plan, choice

    def _plan(self, moment: Session, inputs: Mapping[str, Any]) -> Plan:
        policy = find_policy(inputs["policy"])
        return self.fill_in(make_plan(moment, self.ledger, policy, _edits(inputs), window=self.window))

    def _draw_recorded(self, plan: Plan) -> RecordedSide | None:
        """What the file records right after a plan's moment, None where nothing is."""
        moment = plan.session
        marks = list_marks(self.session, self.history)
        mark = next((mark for mark in marks if mark.at == moment.leaf), None)
        if mark is None or not self.history.passes(moment):
            return None
        whole = mark.kind == "compact"
        then = plan_recorded(moment, self.ledger, window=self.window) if whole else None
        if then is not None and then.checkpoint is not None:
            return RecordedSide(mark, then, draw_plan(then, mark=mark))
        try:
            drawn = draw_recorded(plan, self.history)
        except InspectorError:
            return None
        payload = replace(drawn.payload, label=f"{mark.sign} recorded", look=mark.look)
        return RecordedSide(mark, None, DrawnPlan(payload, drawn.data))

    def _plan_on(self, moment: Session, inputs: dict[str, Any]) -> tuple[tuple[Plan, Choice | None], str]:
        """The same once the session has grown: without what it has grown past, and a sentence about that."""
        before = dict(inputs)
        while True:
            try:
                return self._choose(moment, inputs), describe_dropped(before, inputs)
            except EditError as error:
                if not drop_edit(inputs, error):
                    raise

    def _settle(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """All of `INPUTS`, each of its type, without what no longer belongs."""
        whole = {name: inputs.get(name, self.inputs[name]) for name in INPUTS}
        check_inputs(whole)
        whole = self._follow_look(whole)
        if not self._answered:
            return whole
        settled = carry_over(whole, self.inputs)
        if settled["policy"] == AUTO and settled["settings"]:
            # Who changes a rule has chosen the policy that it is one of.
            with suppress(PolicyError):
                settled["policy"] = configure_policy(self.plan.policy, settled["settings"]).name
        return settled

    def _follow_look(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """To look at a recorded compaction is to go to the moment right before it."""
        look, at = inputs["look"], inputs["at"]
        if look in ("", "plan", self.inputs["look"]):
            return inputs
        mark = next((mark for mark in list_marks(self.session, self.history) if mark.look == look), None)
        if mark is None:
            raise EditError(
                "look", look[:60], 'it is "plan", or the name of a compaction that the file records'
            )
        return {**inputs, "at": mark.at if at == self.inputs["at"] else at}

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
        label = cut_text(other.policy.title or other.policy.name, 120)
        return other, DrawnPlan(replace(payload, label=label), data)


def _traits(name: str, payload: Payload, data: bytes) -> dict[str, Any]:
    """A payload and its columns as the traits that carry them."""
    return {name: to_json(payload), f"{name}_data": data}


def _edits(inputs: Mapping[str, Any]) -> Edits:
    """The hand's edits among some inputs."""
    return Edits(
        cut=inputs.get("cut") or None,
        pins=tuple(inputs.get("pins", ())),
        settings=dict(inputs.get("settings", {})),
    )


def _find_look(
    inputs: Mapping[str, Any], asked: str, plan: Plan, choice: Choice | None, recorded: RecordedSide | None
) -> str:
    """Whose after is shown. Raises `EditError` for a recorded side that this moment has not."""
    look: str = inputs["look"]
    if recorded is not None and look == recorded.mark.look:
        return look
    if look == "":
        unedited = choice is not None and plan.policy.name == RECORDED.name and plan.edits == Edits()
        return recorded.mark.look if unedited and recorded is not None else "plan"
    if look not in ("plan", asked):
        raise EditError("look", look[:60], "the file records no such compaction right after this moment")
    return "plan"


def _end(session: Session) -> str:
    """The last entry of the path, "" where there is none."""
    return session.entries[session.path[-1]].id if session.path else ""
