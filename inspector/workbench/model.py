"""One workbench without a screen: the user's inputs go in, the values to show come out.

The widget, the server, the kernel's comm and the export are built on a `WorkbenchModel`. It uses no file,
clock or thread; a caller with several threads holds a lock. Queries from a screen are answered by
`queries`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import copy
from typing import Any, NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from ..errors import EditError, InspectorError, PolicyError
from ..planning.plan import Plan
from ..planning.plan_words import is_rewritten
from ..planning.planner import make_plan
from ..planning.summary_jobs import Checkpoint
from ..policies.builtin.recorded import RECORDED
from ..policies.own_policy import find_own_policy
from ..policies.policy import Edits, Policy
from ..policies.registry import configure_policy, find_policy, name_policy, names_of_policies
from ..redaction.cut import cut_text
from ..replays.act_positions import check_acts
from ..replays.engine import ReplayTask
from ..replays.run import Run
from ..replays.scenario import Scenario, read_scenario
from ..session.queries import find_moment_before, find_next_compaction
from ..session.session import Session
from ..text import join_words, printable
from ..tokens.history import History, trace_history
from ..tokens.ledger import Ledger, count_tokens
from .inputs import (
    INPUTS,
    carry_over,
    check_inputs,
    describe_dropped,
    drop_edit,
)
from .opening import (
    AUTO,
    FALLBACK,
    Choice,
    RecordedMark,
    acts,
    choose,
    find_known_worst,
    find_start,
    find_worst,
    list_marks,
    plan_recorded,
)
from .payloads.base_payload import Payload, to_json
from .payloads.gauge import describe_due
from .payloads.recorded import draw_recorded
from .payloads.replay import draw_run
from .payloads.scene import DrawnPlan, Unread, draw_plan, draw_scene
from .written_summaries import WrittenSummary, fill_in, keep

MOST_WORDS = 2_000
MOST_NAMES = 6
"""Names of compactions that an error lists."""


class RecordedSide(NamedTuple):
    """The recorded compaction right after a point in time: its plan, if one can express it, and its
    drawing."""

    mark: RecordedMark
    plan: Plan | None
    drawn: DrawnPlan

    @property
    def unread(self) -> Unread:
        """Why its summary cannot be read: "encrypted" or "missing"; "" if it can."""
        return self.drawn.payload.unread


class HeldPlan(NamedTuple):
    """The plan that was shown when the file grew by a compaction.

    It stays until the user selects another point in time: policy and side do not change by themselves.
    """

    at: str
    policy: Policy
    has_recorded: bool


class WorkbenchModel:
    """A session, the user's inputs, and the plans that answer.

    `inputs` holds the last answered values of `INPUTS`; at first the fullest point in time under `policy`, or
    the choice of `opening` for "auto". `plan` belongs to these inputs, and `choice` explains a policy or cut
    that the user did not choose. `recorded` is the recorded compaction right after the point in time. `shown`
    is the plan on the screen: the recorded one or `plan`. `other` is plan B: a `Plan`, the drawing of a
    recorded compaction, or None; `refused` explains why a requested plan B is missing. `last_run` is the last
    replay and `scenario` the scenario of the next one; by default its provider refuses requests above the
    window. `replayed` holds the session and the history of a replay. `written` lists the summaries written
    here, `file` is the name of the session's file ("" if it has none), and `read_pins` returns the pins that
    hooks keep for a folder.

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
        self.read_pins: Callable[[str], list[str]] = lambda folder: []
        name, settings = (policy, {}) if isinstance(policy, str) else name_policy(policy)
        fullest = self.history.fullest
        at = fullest.at if fullest is not None else ""
        self.inputs: dict[str, Any] = {
            "cut": "",
            "since": "",
            "policy": name,
            "settings": settings,
            "pins": [],
            "at": find_start(session, self.history, self.ledger) if name == AUTO else at,
            "versus": {},
            "look": "",
        }
        # The initial point in time until the user chooses one, in a list that copies of the model share.
        self._start: list[str] = [self.inputs["at"]] if name == AUTO else []
        self.choice: Choice | None = None
        self.recorded: RecordedSide | None = None
        # Results that payloads computed, such as the session's facts; copies of the model share them.
        self.cache: dict[str, Any] = {}
        self._answered = self._grew = self._live = False
        self._held_plan: HeldPlan | None = None
        self._drawn: tuple[str, list[str], bool] | None = None
        self._compared: dict[str, Any] | None = None
        self._plan_payload: dict[str, Any] = {}

    @property
    def moment(self) -> Session:
        """The session at the planned point in time."""
        return self._moment(self.inputs["at"])

    @property
    def looked_at(self) -> RecordedSide | None:
        """The recorded compaction right after the point in time, if it is shown instead of the plan."""
        recorded = self.recorded
        return recorded if recorded is not None and self.inputs["look"] == recorded.mark.look else None

    @property
    def shown(self) -> Plan:
        """The plan on the screen."""
        recorded = self.looked_at
        return self.plan if recorded is None or recorded.plan is None else recorded.plan

    @property
    def tab(self) -> str:
        """The tab to open on: the losses, or the blocks if nothing has to be removed yet."""
        return "blocks" if self.choice is None or not self.choice.acts else "compactions"

    def copy_for(self, look: str) -> WorkbenchModel:
        """Return a copy that shows another view; the copy is past its opening."""
        other = copy(self)
        other.inputs, other.cache, other._start = {**self.inputs, "look": look}, {}, []
        return other

    def take_start(self) -> bool:
        """Return whether the point in time is still the one that the workbench opened on; True once."""
        untouched = self._is_untouched
        self._start.clear()
        return untouched

    def describe_opening(self) -> list[str]:
        """Say which of several recorded compactions is shown if the user chose none: the losses, which take
        seconds, have not decided it."""
        marks = [mark for mark in list_marks(self.session, self.history) if mark.kind == "compact"]
        shown = self.looked_at
        if len(marks) < 2 or shown is None or not self._is_untouched:
            return []
        which = f"This is {shown.mark.sign} of {len(marks)} recorded compactions, the fullest;"
        return [f"{which} another may do more harm: `lint` lists their losses, `export` opens on the worst."]

    @property
    def _is_untouched(self) -> bool:
        chosen = [[self.inputs[name] for name in ("at", "policy", "cut", "since", "pins")]]
        return chosen == [[at, AUTO, "", "", []] for at in self._start] and self.looked_at is not None

    def show_worst(self, *, known: bool = False) -> dict[str, Any]:
        """Show the recorded compaction with the most harm, unless something was chosen or changed before.

        Return the traits to set. With `known`, show it only if the losses have been computed already.
        """
        if self._is_untouched:
            find = find_known_worst if known else find_worst
            worst = find(self.session, list_marks(self.session, self.history))
            if worst is not None and worst.look != self.inputs["look"]:
                return self.answer({"look": worst.look})
        return {}

    @property
    def run(self) -> Run | None:
        """The last replay; None if the inputs now have another policy or other settings."""
        last_run = self.last_run
        now = (self._configure(), self.scenario, self.replayed[0].leaf)
        if last_run is None or (last_run.policy, last_run.scenario, last_run.session.leaf) != now:
            return None
        return last_run

    def answer(self, inputs: Mapping[str, Any], seq: int = 0) -> dict[str, Any]:
        """Plan under these inputs and keep them. Return the traits to set, only those that are sent.

        `inputs` may hold some of `INPUTS`; the others stay, except those that belong to another point in time
        or policy, so read `self.inputs` afterwards. Raises the errors of `make_plan`; the model is then
        unchanged. If plan B cannot be made, it is None and "_error" says why. "_error" also names a cut or
        a pin that no longer exists because the session has grown; it is dropped.
        """
        requested_look = self.inputs["look"]
        if inputs.get("look", requested_look) != requested_look and self.looked_at is not None:
            self._start = []  # a view was chosen; copies keep theirs
        inputs = self._settle(inputs)
        moment = self._moment(inputs["at"])
        goes = any(inputs[name] != self.inputs[name] for name in ("at", "policy", "look"))
        held_plan = (
            None if goes or self._held_plan is None or self._held_plan.at != moment.leaf else self._held_plan
        )
        (plan, choice), gone = (
            self._plan_on(moment, inputs, held_plan)
            if self._grew
            else (self._choose(moment, inputs, held_plan), "")
        )
        answer: dict[str, Any] = {"_error": gone}
        # The scene lists the available policies, and one may have been added since.
        scene = inputs["at"], names_of_policies(), held_plan is not None
        recorded = self.recorded
        if scene != self._drawn:
            recorded = self._draw_recorded(plan) if held_plan is None or held_plan.has_recorded else None
            due = describe_due(self.session, self.ledger, self.window) if self._live else UNSET
            drawn, data = draw_scene(plan, self.history, self.file)
            answer |= _traits("_scene", replace(drawn, due=due), data)
            none: dict[str, Any] = {"_recorded": {}, "_recorded_data": b""}
            answer |= none if recorded is None else _traits("_recorded", *recorded.drawn)
        inputs["look"] = _find_look(inputs, requested_look, plan, choice, recorded)
        answer |= _traits("_plan", *draw_plan(plan, seq, choice))
        messages = self._compare(plan, inputs)
        if self.refused is not None:
            inputs["versus"] = {}
        # Saved last: a plan that could not be drawn leaves the model unchanged.
        if inputs["policy"] != self.inputs["policy"]:
            # A run under another policy no longer answers these inputs.
            self.last_run = None
        self.plan, self.inputs, self._drawn = plan, inputs, scene
        self._follow_path(moment)
        self.choice, self.recorded, self._held_plan = choice, recorded, held_plan
        self._plan_payload, self._answered, self._grew = answer["_plan"], True, False
        return answer | messages

    def confirm(self, seq: int, error: str = "") -> dict[str, Any]:
        """Return the current plan as the answer to another request, with the error of that request."""
        answer: dict[str, Any] = {"_plan": {**self._plan_payload, "seq": seq}}
        return {**answer, "_error": cut_text(error, MOST_WORDS)} if error else answer

    def choose_scenario(self, scenario: Scenario | dict[str, Any]) -> None:
        """Set the scenario of the next replay; the last replay stays until then.

        Raises `EditError` for a scenario that cannot be replayed.
        """
        scenario = read_scenario(scenario)
        check_acts(scenario, *self.replayed)
        self.scenario = scenario

    def _follow_path(self, moment: Session) -> None:
        """Replay the whole session, or the path of `moment` if it is off the main path (in a sub-agent).
        Events at a step of one path do not happen on another."""
        path = None if self.history.passes(moment) or not moment.path else moment.leaf
        if path is None:
            self.replayed = self.session, self.history
        elif path != self._path or self.replayed[0].entries is not moment.entries:
            self.replayed = moment, trace_history(moment, self.ledger)
        if path != self._path:
            self.scenario = self.scenario.model_copy(update={"acts": ()})
        self._path = path

    def run_replay(self) -> dict[str, Any]:
        """Replay the whole session under the policy. Return the traits to set, empty if it was already
        replayed. Raises the errors of `replay`."""
        task = self.prepare_replay()
        return {} if task is None else self.adopt_run(task.live())

    def prepare_replay(self) -> ReplayTask | None:
        """Return the replay as a task to be run elsewhere; None if it was already replayed."""
        if self.run is not None:
            return None
        policy = self._configure()
        session, history = self.replayed
        return ReplayTask(session, self.ledger, history, policy, self.scenario, self.window)

    def adopt_run(self, run: Run) -> dict[str, Any]:
        """Take over a replay that was run elsewhere and return the traits to set. Drops a replay of another
        ledger or another path."""
        if run.ledger is not self.ledger or run.session.leaf != self.replayed[0].leaf:
            return {}
        self.last_run = run
        return _traits("_run", *draw_run(run))

    def fill_in(self, plan: Plan) -> Plan:
        """Return the plan with the summary that was written for it, if any."""
        return fill_in(plan, self.written)

    def adopt_summary(self, plan: Plan, checkpoint: Checkpoint | None, seq: int = 0) -> dict[str, Any]:
        """Use a summary written for a plan, or the placeholder again if None. Return the traits to set."""
        self.written = keep(self.written, plan, checkpoint)
        # The summary may have been written for plan B.
        self._compared = None
        return self.answer({}, seq)

    def keep_labels(self, session: Session) -> Session:
        """Return a session that takes this one's place, with the labels and judgements of this one."""
        labels, judgements = self.session.labels, self.session.judgements
        if session.labels != labels:
            session = session.with_labels((*labels, *session.labels))
        return session.with_judgements(judgements) if judgements else session

    def follow(self, session: Session, ledger: Ledger | None = None) -> None:
        """Take over a session that grew or was counted better: the next answer draws a new scene.

        The point in time stays, or moves to the end if it was the live end or is no longer there. If the
        growth contains a compaction, the live end stays what it was, and so do policy and side, until the
        user goes elsewhere. By default `ledger` is counted with the counter of the last one.
        """
        if ledger is None:
            session = self.keep_labels(session)
            ledger = count_tokens(session, self.ledger.base, known=self.ledger)
        ledger.check(session)
        history = trace_history(session, ledger)
        at, end = self.inputs["at"], _end(self.session)
        compacted = _count_compactions(history) > _count_compactions(self.history)
        if compacted and (at or end) in session.index:
            at = at or end
            self._start.clear()
            if self._answered and self._held_plan is None:
                self._held_plan = HeldPlan(at, self.plan.policy, self.recorded is not None)
        elif at and (at == end or at not in session.index):
            at = _end(session)
        self._live |= len(session.entries) > len(self.session.entries)
        self.cache = {}
        self.session, self.ledger, self.history = session, ledger, history
        self.inputs = {**self.inputs, "at": at}
        self._grew, self._drawn, self._compared = True, None, None
        self.last_run = None

    def _moment(self, at: str) -> Session:
        return self.session.at(at) if at else self.session

    def _configure(self) -> Policy:
        """The policy to replay under, with its settings. A recorded plan is not a policy for a whole
        session."""
        name, settings = self.inputs["policy"], dict(self.inputs["settings"])
        if name in (AUTO, RECORDED.name):
            own = find_own_policy(self.session)
            return find_policy(FALLBACK[0]) if own is None else own
        return configure_policy(name, settings)

    def _choose(
        self, moment: Session, inputs: dict[str, Any], held_plan: HeldPlan | None
    ) -> tuple[Plan, Choice | None]:
        """Return the plan of these inputs, and how it was chosen if the user did not choose it."""
        if inputs["policy"] != AUTO:
            return self._plan(moment, inputs), None
        if held_plan is not None and self.choice is not None and not inputs["settings"]:
            plan = make_plan(moment, self.ledger, held_plan.policy, _edits(inputs), window=self.window)
            plan = self.fill_in(plan)
            return plan, self.choice._replace(plan=plan, acts=acts(plan))
        choice = choose(moment, self.ledger, _edits(inputs), self.window)
        choice = choice._replace(plan=self.fill_in(choice.plan))
        if is_rewritten(choice.plan):
            choice = choice._replace(
                reason="The recorded compaction's cut, with a summary that was written here."
            )
        if inputs["settings"]:
            # The settings belong to a policy: setting one chooses it.
            inputs["policy"] = choice.plan.policy.name
            return choice.plan, None
        return choice.plan, choice

    def _plan(self, moment: Session, inputs: Mapping[str, Any]) -> Plan:
        policy = find_policy(inputs["policy"])
        return self.fill_in(make_plan(moment, self.ledger, policy, _edits(inputs), window=self.window))

    def _draw_recorded(self, plan: Plan) -> RecordedSide | None:
        """Draw the recorded compaction right after a plan's point in time, or return None."""
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

    def _plan_on(
        self, moment: Session, inputs: dict[str, Any], held_plan: HeldPlan | None
    ) -> tuple[tuple[Plan, Choice | None], str]:
        """Plan again after the session grew. Drops a cut or pin that no longer exists; returns a message
        about it."""
        before = dict(inputs)
        while True:
            try:
                return self._choose(moment, inputs, held_plan), describe_dropped(before, inputs)
            except EditError as error:
                if not drop_edit(inputs, error):
                    raise

    def _settle(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Return all of `INPUTS`, each with its type, without those that no longer apply."""
        whole = {name: inputs.get(name, self.inputs[name]) for name in INPUTS}
        check_inputs(whole)
        whole = self._step_before(self._follow_look(whole))
        if not self._answered:
            return whole
        settled = carry_over(whole, self.inputs)
        if settled["policy"] == AUTO and settled["settings"]:
            # Changing a rule chooses the policy that the rule belongs to.
            with suppress(PolicyError):
                settled["policy"] = configure_policy(self.plan.policy, settled["settings"]).name
        return settled

    def _follow_look(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Move to the point in time right before the recorded compaction that is shown."""
        look, at = inputs["look"], inputs["at"]
        if look in ("", "plan", self.inputs["look"]):
            return inputs
        marks = list_marks(self.session, self.history)
        mark = next((mark for mark in marks if mark.look == look), None)
        if mark is None:
            names = ['"plan"', *(f'"{other.look}"' for other in marks[:MOST_NAMES])]
            more = len(marks) - MOST_NAMES
            rest = [f"another of the {len(marks):,} that the file records"] if more > 0 else []
            raise EditError("look", look[:60], f"must be {join_words([*names, *rest], 'or')}")
        return {**inputs, "at": mark.at if at == self.inputs["at"] else at}

    def _step_before(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Move to the point in time right before a recorded compaction, if that compaction is to be planned
        as recorded and its own entry, as in a row of `session.compactions`, is the point in time."""
        if inputs["policy"] != RECORDED.name or not inputs["at"]:
            return inputs
        moment = self._moment(inputs["at"])
        before = None if find_next_compaction(moment) is not None else find_moment_before(moment)
        return inputs if before is None else {**inputs, "at": before}

    def _compare(self, plan: Plan, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Return plan B if it changed. If it cannot be made, `refused` says why and plan A stays."""
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
            raise EditError("versus", f"{dict(versus)!r:.60}", 'plan B needs a policy, or {"recorded": True}')
        other = self._plan(plan.session, versus)
        payload, data = draw_plan(other)
        label = cut_text(other.policy.title or other.policy.name, 120)
        return other, DrawnPlan(replace(payload, label=label), data)


def _traits(name: str, payload: Payload, data: bytes) -> dict[str, Any]:
    """A payload and its columns as the traits that carry them."""
    return {name: to_json(payload), f"{name}_data": data}


def _edits(inputs: Mapping[str, Any]) -> Edits:
    """The user's edits among the inputs."""
    return Edits(
        cut=inputs.get("cut") or None,
        since=inputs.get("since") or None,
        pins=tuple(inputs.get("pins", ())),
        settings=dict(inputs.get("settings", {})),
    )


def _find_look(
    inputs: Mapping[str, Any],
    requested_look: str,
    plan: Plan,
    choice: Choice | None,
    recorded: RecordedSide | None,
) -> str:
    """Return which side is shown after. Raises `EditError` for a recorded side that does not exist here."""
    look: str = inputs["look"]
    if recorded is not None and look == recorded.mark.look:
        return look
    if look == "":
        unedited = choice is not None and plan.policy.name == RECORDED.name and plan.edits == Edits()
        return recorded.mark.look if unedited and recorded is not None else "plan"
    if look not in ("plan", requested_look):
        raise EditError("look", look[:60], "the file records no such compaction right after this moment")
    return "plan"


def _count_compactions(history: History) -> int:
    return sum(mark.kind == "compact" for mark in history.marks)


def _end(session: Session) -> str:
    """The id of the last entry of the path, or "" if the path is empty."""
    return session.entries[session.path[-1]].id if session.path else ""
