"""DOOR: the workbench as a Jupyter widget. Traits in, a plan out; all thinking is done below.

The browser moves the cut at once and tells Python, which plans and answers with the `_seq` it answers.
Only small values are synced; columns go as bytes and bodies on demand.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import anywidget
import traitlets as t

from .assembly import build_context
from .closeup import describe_body, describe_rows, describe_summary
from .context import Context
from .disk import open_session
from .errors import EditError, InspectorError
from .history import trace_history
from .ledger import Ledger, count_tokens
from .plan import Plan, make_plan
from .policies import add_policy, find_policy
from .policy import Edits, Policy
from .printable import printable
from .replays import replay
from .run import Run
from .runview import draw_run
from .scenario import Scenario, read_scenario
from .session import Session
from .view import draw_plan, draw_scene

_STATIC = Path(__file__).parent / "static"
if not (_STATIC / "widget.js").exists():
    raise ImportError("the workbench's bundle is not built; `make build` in the checkout builds it")
_NAMES = ("cut", "policy", "settings", "pins", "at")
_MOST_ROWS = 500


class Workbench(anywidget.AnyWidget):
    """A session under the hand: see its tokens, drag the cut, change rules, compare before and after.

    `session` is a `Session` or a path. `at` is the entry whose moment is planned; by default the fullest
    moment of the session, the end of the stretch between compactions that grew largest. `cut` is the
    first entry kept ("end" keeps none, "" lets the policy decide). All of them can be set from Python:

        wb = Workbench("session.jsonl")
        wb.cut = wb.plan.cuts.ids[12]
        wb.policy = "keep-recent-turns"
        wb.settings = {"keep-recent-turns.turns": 2}
        wb.replay = True    # live the whole session again under the policy; wb.run is the result

    A value that cannot be planned raises (`EditError`, `PolicyError`), and the old one stays.
    """

    _esm = _STATIC / "widget.js"
    _css = _STATIC / "widget.css"

    # what a user sets
    cut = t.Unicode("").tag(sync=True)
    policy = t.Unicode("flue").tag(sync=True)
    settings = t.Dict().tag(sync=True)
    pins = t.List(t.Unicode()).tag(sync=True)
    at = t.Unicode("").tag(sync=True)
    replay = t.Bool(False).tag(sync=True)

    # what Python answers
    _seq = t.Int(0).tag(sync=True)
    _error = t.Unicode("").tag(sync=True)
    _scene = t.Dict().tag(sync=True)
    _scene_data = t.Bytes().tag(sync=True)
    _plan = t.Dict().tag(sync=True)
    _plan_data = t.Bytes().tag(sync=True)
    _run = t.Dict().tag(sync=True)
    _run_data = t.Bytes().tag(sync=True)

    def __init__(
        self,
        session: Session | str | os.PathLike[str],
        policy: str | Policy | dict[str, Any] = "flue",
        *,
        counter: str = "calibrated",
        window: int | None = None,
        cut: str = "",
        pins: Sequence[str] = (),
        at: str | None = None,
        settings: Mapping[str, Any] | None = None,
        replay: bool = False,
        scenario: Scenario | dict[str, Any] | None = None,
    ) -> None:
        self.session = session if isinstance(session, Session) else open_session(session)
        self.window = window
        self.ledger: Ledger = count_tokens(self.session, counter)
        self._history = trace_history(self.session, self.ledger)
        self._drawn: str | None = None
        self._setting = False
        self._state: dict[str, Any] = {}
        self.plan: Plan
        if at is None:
            fullest = self._history.fullest
            at = fullest.at if fullest is not None else ""
        if not isinstance(policy, str):
            policy = add_policy(policy).name
        settings = dict(settings or {})
        self.scenario = read_scenario(scenario)
        self._replayed: tuple[Policy, Scenario] | None = None
        self.run: Run | None = None
        wanted = {"cut": cut, "policy": policy, "settings": settings, "pins": list(pins), "at": at}
        first = self._answer(wanted)
        if replay:
            first |= self._live_again(wanted)
        super().__init__(**wanted, **first, replay=replay)
        self.observe(self._replan, names=[*_NAMES, "_seq"])
        self.observe(self._start_replay, names=["replay"])
        self.on_msg(self._reply)

    @property
    def moment(self) -> Session:
        """The session as it stood at `at`."""
        return self.session.at(self.at) if self.at else self.session

    @property
    def context(self) -> Context:
        """The context that the plan leaves, a stand-in where a model's summary would stand."""
        return build_context(self.moment, self.plan)

    def __repr__(self) -> str:
        return f"Workbench({self.session!r}, {self.plan!r})"

    def _answer(self, wanted: dict[str, Any], seq: int = 0) -> dict[str, Any]:
        """Plan what is wanted and remember it; the traits to send. Raises what `make_plan` raises."""
        at = wanted["at"]
        if at and at not in self.session.index:
            raise EditError("at", at, "no such entry in this session")
        moment = self.session.at(at) if at else self.session
        policy = find_policy(wanted["policy"])
        edits = Edits(
            cut=wanted["cut"] or None, pins=tuple(wanted["pins"]), settings=dict(wanted["settings"])
        )
        plan = make_plan(moment, self.ledger, policy, edits, window=self.window)
        answer: dict[str, Any] = {"_error": ""}
        if at != self._drawn:
            answer["_scene"], answer["_scene_data"] = draw_scene(plan, self._history)
        answer["_plan"], answer["_plan_data"] = draw_plan(plan, seq)
        # Remembered last: a plan that could not be drawn leaves everything as it was.
        self.plan, self._state, self._drawn = plan, dict(wanted), at
        return answer

    def _replan(self, change: dict[str, Any]) -> None:
        wanted = {name: getattr(self, name) for name in _NAMES}
        if self._setting:
            return
        if wanted == self._state:
            if self._plan.get("seq") != self._seq:
                self._plan = {**self._plan, "seq": self._seq}  # every question gets its answer
            return
        previous = self._state
        wanted = _follow(wanted, previous)
        try:
            answer = self._answer(wanted, self._seq)
        except InspectorError as error:
            # The hand in the browser reads a sentence; whoever set the trait in Python gets the error.
            picture, data = draw_plan(self.plan, self._seq)
            self._set({**previous, "_error": printable(str(error)), "_plan": picture, "_plan_data": data})
            if self._property_lock:
                return
            raise
        self._set({**wanted, **answer})
        if self.replay:
            self._replay_or_tell(wanted)
        elif self.run is not None and wanted["policy"] != previous["policy"]:
            # A run under another policy is no answer any more.
            self.run, self._replayed = None, None
            self._set({"_run": {}, "_run_data": b""})

    def _start_replay(self, _: dict[str, Any]) -> None:
        if self.replay and not self._setting:
            self._replay_or_tell(self._state)

    def _replay_or_tell(self, wanted: dict[str, Any]) -> None:
        """Send the replay; one that cannot be made is put away, with a sentence or an error."""
        try:
            self._set(self._live_again(wanted))
        except InspectorError as error:
            self._set({"_error": printable(str(error)), "replay": False})
            if not self._property_lock:
                raise

    def _live_again(self, wanted: dict[str, Any]) -> dict[str, Any]:
        """Live the whole session again under the policy wanted, unless that was done; the traits to send."""
        policy = find_policy(wanted["policy"]).configured(dict(wanted["settings"]))
        scenario = read_scenario(self.scenario)
        if self._replayed == (policy, scenario):
            return {}
        self.run = replay(
            self.session,
            policy,
            scenario,
            ledger=self.ledger,
            window=self.window,
            history=self._history,
        )
        self._replayed = (policy, scenario)
        picture, data = draw_run(self.run)
        return {"_run": picture, "_run_data": data}

    def _set(self, values: dict[str, Any]) -> None:
        """Set traits in one message, without planning again for each."""
        self._setting = True
        try:
            with self.hold_sync():
                for name, value in values.items():
                    setattr(self, name, value)
        finally:
            self._setting = False

    def _reply(self, _: Any, content: Any, buffers: Any) -> None:
        """Answer a question of the browser: rows, a body, the summary. An error goes back as a sentence."""
        if not isinstance(content, dict):
            return
        answer = {"type": content.get("type"), "id": content.get("id")}
        try:
            answer.update(self._look_up(content))
        except (InspectorError, LookupError, TypeError, ValueError) as error:
            sentence = printable(f"This question has no answer: {error}")
            answer = {"type": "error", "id": content.get("id"), "sentence": sentence}
        self.send(answer)

    def _look_up(self, asked: dict[str, Any]) -> dict[str, Any]:
        kind = asked.get("type")
        if kind == "rows":
            first = int(asked["from"])
            last = min(int(asked["to"]), first + _MOST_ROWS)
            return {"from": first, "rows": describe_rows(self.plan, first, last)}
        if kind == "body":
            return {"row": int(asked["row"]), **describe_body(self.plan, int(asked["row"]))}
        if kind == "summary":
            return {"place": int(asked["place"]), **describe_summary(self.plan, int(asked["place"]))}
        raise ValueError(f"the workbench does not know the question {kind!r}")


def _follow(wanted: dict[str, Any], previous: dict[str, Any]) -> dict[str, Any]:
    """What belonged to the moment or the policy before goes with it, unless it was set anew together.

    Another moment has no cut and no pins yet; another policy places its own cut, with its own settings.
    """
    if not previous:
        return wanted
    out = dict(wanted)
    if wanted["at"] != previous["at"]:
        if wanted["cut"] == previous["cut"]:
            out["cut"] = ""
        if wanted["pins"] == previous["pins"]:
            out["pins"] = []
    if wanted["policy"] != previous["policy"]:
        if wanted["settings"] == previous["settings"]:
            out["settings"] = {}
        if wanted["cut"] == previous["cut"]:
            out["cut"] = ""
    return out
