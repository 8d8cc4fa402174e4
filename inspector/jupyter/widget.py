"""I/O: the workbench as a Jupyter widget. Traits in, a plan out; `Controller` does the work.

The browser moves the cut at once and sends it to Python, which plans and answers with the `_seq` of the
change. Only small values are synced; columns go as bytes and bodies on demand.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets as t

from ..files import (
    FollowedFile,
    StrPath,
    find_place,
    find_planned,
    open_session,
    read_beside,
    read_plans_beside,
    save_beside,
    write_beside,
)
from ..kept_files import keep_judgement, recall_judgements
from ..planning.assemble import build_context
from ..planning.context import Context
from ..planning.plan import Plan
from ..planning.summary_jobs import Checkpoint
from ..policies.policy import Policy
from ..replays.run import Run
from ..replays.scenario import PROVIDERS, Scenario, read_scenario
from ..session.session import Session
from ..summaries.write import Summariser, checkpoint_from_text, summarise, with_files
from ..text import printable
from ..tokens.counters import find_counter
from ..tokens.history import History
from ..tokens.ledger import Ledger
from ..workbench.controller import Controller
from ..workbench.inputs import INPUTS, TABS
from ..workbench.model import WorkbenchModel
from ..workbench.opening import AUTO
from ..workbench.payloads.scene import DrawnPlan
from ..workbench.saved_plans import SUFFIX, choose_saved
from ..workbench.snapshot import Snapshot
from ..workbench.tasks import PUT_OFF, begin_early
from ..workbench.written_summaries import keep
from .session_writer import offer_file

if TYPE_CHECKING:
    from ..workbench.page.export import ExportedPage

_STATIC = Path(str(files("inspector"))) / "static"
if not (_STATIC / "widget.js").exists():
    raise ImportError("the workbench's bundle is not built; `make build` in the checkout builds it")


# Code of the tabs and dialogs that the first picture does not need; the browser requests it afterwards.
_LATER = {part: (_STATIC / f"{part}.js").read_text("utf-8") for part in ("later", "dialogs")}


# Shown below the picture that is stored in a notebook; with a kernel, the widget replaces both.
HINT = "<p>A picture: run this cell (⇧⏎) to move the cut.</p>"


class EntryName(t.Unicode):  # type: ignore[type-arg]
    """The trait of a cut: an entry of the context, by its name."""

    info_text = 'the id of an entry, "turn 5", "end", or "" for the policy\'s own'


class Workbench(anywidget.AnyWidget):
    """Interactive workbench for a session: its tokens, the cut, the rules, and before and after.

    Args:
        session: A `Session`, a path, or a `Plan`, which is shown as it was made.
        at: The last entry of the context that is planned; by default the one before the fullest recorded
            compaction, else the fullest context.
        policy: The policy. "auto" is the recorded one at a recorded compaction, else the one of the session's
            harness, or the first that changes anything; `plan.policy` is the chosen one.
        cut: The first entry kept; "end" keeps none, "" resets to the policy's cut.
        since: The first entry compacted; "" compacts everything before the cut.
        follow: Whether to follow a file that is still being written: it is checked about once a second until
            `close`. The entry `at` stays the same, unless it is the end: that moves with the file until a
            compaction comes, which a banner offers to show. A `Session` cannot be followed (ValueError).

    All of them can be set from Python:

        wb = Workbench("session.jsonl")
        wb.cut = wb.plan.cuts.ids[12]
        wb.policy = "keep-recent-turns"
        wb.settings = {"keep-recent-turns.turns": 2}
        wb.versus = {"policy": "claude-code"}  # compare with this plan; {"recorded": True} is the file's own
        wb.look = "recorded:1"  # the result of the first recorded compaction; "plan" is the plan's own
        wb.replay = True  # replay the whole session under the policy; wb.run is the result
        wb.scenario = {"acts": [{"at": "turn 9", "do": "compact"}]}  # events during the replay
        wb.provider = "accepts"  # as if it accepted requests above the window; by default it refuses them

    A value that cannot be planned raises an error (`EditError`, `PolicyError`), and the old value stays. An
    invalid plan to compare with raises an error too, and is then removed.

    >>> from inspector import read_session
    >>> wb = Workbench(read_session([{"role": "user", "content": "Read src/a.py."}]), "flue", cut="end")
    >>> wb.plan.trace["src/a.py"].outcome
    'quoted'
    >>> wb.close()
    """

    # Texts instead of paths: with a path, anywidget never frees widgets and their sessions.
    _esm = (_STATIC / "widget.js").read_text("utf-8")
    _css = (_STATIC / "widget.css").read_text("utf-8")

    # set by the user
    cut = EntryName("").tag(sync=True)
    since = EntryName("").tag(sync=True)
    policy = t.Unicode(AUTO).tag(sync=True)
    settings = t.Dict().tag(sync=True)
    pins = t.List(t.Unicode()).tag(sync=True)
    at = t.Unicode("").tag(sync=True)
    versus = t.Dict().tag(sync=True)
    replay = t.Bool(False).tag(sync=True)
    # Events from outside during the replay: a `Scenario` as JSON.
    scenario = t.Dict().tag(sync=True)
    # The context after that is shown: "plan", or "recorded:1" for the first recorded compaction.
    look = t.Unicode("").tag(sync=True)
    # The tab of the dock that is open.
    tab = t.Enum(TABS, "blocks").tag(sync=True)
    # The selected block, "" for none.
    block = t.Unicode("").tag(sync=True)
    # Height in pixels of the element in a notebook; its lower edge can be dragged.
    height = t.Int(720, min=480, max=1200).tag(sync=True)
    # Height in pixels of the dock: 0 for the available height, -1 if it is folded to its tabs.
    dock = t.Int(0, min=-1, max=4000).tag(sync=True)
    # Whether printable keys are shortcuts while the focus is inside.
    letter_keys = t.Bool(True).tag(sync=True)

    # answered by Python
    _seq = t.Int(0).tag(sync=True)
    _error = t.Unicode("").tag(sync=True)
    _scene = t.Dict().tag(sync=True)
    _scene_data = t.Bytes().tag(sync=True)
    _plan = t.Dict().tag(sync=True)
    _plan_data = t.Bytes().tag(sync=True)
    _recorded = t.Dict().tag(sync=True)
    _recorded_data = t.Bytes().tag(sync=True)
    _other = t.Dict().tag(sync=True)
    _other_data = t.Bytes().tag(sync=True)
    _run = t.Dict().tag(sync=True)
    _run_data = t.Bytes().tag(sync=True)
    _work = t.Dict().tag(sync=True)

    _setting = False

    def __init__(
        self,
        session: Session | Plan | str | os.PathLike[str],
        policy: str | Policy | dict[str, Any] = AUTO,
        *,
        counter: str = "calibrated",
        window: int | None = None,
        cut: str = "",
        since: str = "",
        pins: Sequence[str] = (),
        at: str | None = None,
        settings: Mapping[str, Any] | None = None,
        versus: Mapping[str, Any] | None = None,
        replay: bool = False,
        scenario: Scenario | dict[str, Any] | None = None,
        look: str = "",
        tab: str | None = None,
        mode: str | None = None,
        follow: bool = False,
        height: int = 720,
        letter_keys: bool = True,
    ) -> None:
        # The browser loads its code while the file is read here.
        super().__init__(height=height, letter_keys=letter_keys)
        try:
            shown = session if isinstance(session, Plan) else None
            if isinstance(session, Plan):
                # The plan contains all inputs; the other arguments are ignored.
                plan, edits = session, session.edits
                session, policy, window = (
                    plan.ledger.session,
                    plan.spec_json["policy"],
                    plan.table.given_window,
                )
                counter, at = plan.ledger.base.name, plan.session.leaf
                cut, since, pins, settings = edits.cut or "", edits.since or "", edits.pins, edits.settings
            if follow and isinstance(session, Session):
                raise ValueError("only a file can be followed; a Session is a value and never grows")
            if not isinstance(session, Session) and os.fspath(session).endswith(SUFFIX):
                # A saved plan contains all inputs, for the session in the same folder.
                name = Path(session).name
                session, saved = find_planned(session)
                chosen = choose_saved(saved, open_session(session), name)
                policy, settings, cut = chosen["policy"], chosen["settings"], chosen["cut"]
                since = chosen["since"]
                at, pins, look, window = chosen["at"], chosen["pins"], chosen["look"], saved.window
            home = "" if isinstance(session, Session) else os.fspath(session)
            file = FollowedFile(session) if follow and not isinstance(session, Session) else None
            if file is not None:
                session = recall_judgements(file.session, file.path)
            elif not isinstance(session, Session):
                session = open_session(session)
            self._controller = Controller(
                session, self._receive, policy, counter=counter, window=window, scenario=scenario
            )
            self._controller.model.file = printable(Path(home).name)
            self._controller.save = lambda plan: save_beside(plan, home)
            self._controller.plans = lambda: read_plans_beside(home)
            self._controller.offer = lambda model, query: offer_file(
                *(model, query, lambda: read_beside(home), home),
                str(Path(home or "here").expanduser().absolute().parent),
            )
            self._controller.write = lambda name, content: write_beside(name, content, home)
            if home:
                self._controller.keep_judgement = partial(keep_judgement, find_place(home))
            if shown is not None and shown.checkpoint is not None:
                self._controller.model.written = keep((), shown, shown.checkpoint)
            own_settings = self._controller.model.inputs["settings"]
            inputs = {"cut": cut, "since": since, "settings": own_settings | dict(settings or {})}
            inputs["pins"] = list(pins)
            if at is not None:
                inputs["at"] = at
            first = self._controller.start({**inputs, "versus": dict(versus or {}), "look": look}, replay)
            if self._controller.last_error is not None:
                raise self._controller.last_error
            opened = tab or self._controller.model.tab
            self._set({**first, "tab": opened if mode is None else _tab_of(mode)})
            self.observe(self._replan, names=[*INPUTS, "_seq", "replay", "scenario"])
            self.on_msg(self._reply)
            if self.comm is not None:
                # The browser has put the widget away; `close` does not hear of that.
                self.comm.on_close(lambda _: self._controller.close())
            self._controller.begin(PUT_OFF)
            if file is not None:
                self._controller.follow(file)
        except BaseException:
            self.close()
            raise

    @property
    def mode(self) -> str:
        """The word of 0.1 for the tab that is open; use `tab`."""
        return next((mode for mode, tab in _MODES.items() if tab == self.tab), "explore")

    @mode.setter
    def mode(self, mode: str) -> None:
        self.tab = _tab_of(mode)

    @property
    def provider(self) -> str:
        """How the provider of a replay treats a request above the window: `scenario["provider"]`."""
        return str(self.scenario["provider"])

    @provider.setter
    def provider(self, provider: str) -> None:
        if provider not in PROVIDERS:
            raise t.TraitError(f"provider: {provider!r} is neither of {' and '.join(PROVIDERS)}")
        self.scenario = {**self.scenario, "provider": provider}

    @property
    def session(self) -> Session:
        """The whole session, at the end of its path."""
        return self._controller.model.session

    @property
    def ledger(self) -> Ledger:
        """The token counts of the session's blocks."""
        return self._controller.model.ledger

    @property
    def history(self) -> History:
        """The size of the context over the whole session."""
        return self._controller.model.history

    @property
    def plan(self) -> Plan:
        """The plan on the screen."""
        return self._controller.model.plan

    @property
    def other(self) -> Plan | DrawnPlan | None:
        """The plan to compare with: a plan, the drawing of a recorded compaction, or None."""
        return self._controller.model.other

    @property
    def run(self) -> Run | None:
        """The replay under these inputs; None without one, or if it has another policy or settings."""
        return self._controller.model.run

    @property
    def moment(self) -> Session:
        """The session as it was at the entry `at`."""
        return self._controller.model.moment

    @property
    def context(self) -> Context:
        """The context that the plan leaves, with a placeholder for a missing summary."""
        plan = self.plan
        return build_context(plan.session, plan)

    @property
    def model(self) -> WorkbenchModel:
        """The session, the inputs and the current plans: a copy that does not change later."""
        with self._controller.lock:
            return copy(self._controller.model)

    def summarise(self, summariser: Summariser | Checkpoint | str | None = None) -> Checkpoint:
        """Write the summary of the plan on the screen, and show it in place of the placeholder.

        By default `ExtractiveSummariser` writes it. A `Checkpoint`, or your own text, is used as it is,
        with the lists of files added if the policy adds them. The summary is used wherever the same entries
        are summarised. Raises the same errors as `summarise`.
        """
        plan = self.plan.with_summary(None)
        if isinstance(summariser, str):
            summariser = checkpoint_from_text(summariser, plan)
        if isinstance(summariser, Checkpoint):
            checkpoint = with_files(plan, summariser)
        else:
            checkpoint = summarise(plan, summariser)
        plan.with_summary(checkpoint)
        self._controller.adopt_summary(plan, checkpoint)
        return checkpoint

    def export_html(self, path: StrPath, **options: Any) -> ExportedPage:
        """Write the workbench as one file that needs neither network nor kernel; see `export.export_html`."""
        from ..workbench.page.export import export_html

        return export_html(self, path, **options)

    def snapshot(self) -> Snapshot:
        """Return what is on the screen as a picture and a table that stay in a notebook without a widget."""
        with self._controller.lock:
            return Snapshot((self._scene, self._scene_data), (self._plan, self._plan_data))

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """Return the widget, and a picture for viewers without widgets."""
        bundle: Any = super()._repr_mimebundle_(**kwargs)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        still = self.snapshot()._repr_mimebundle_()
        still["text/html"] += HINT
        return {**still, **data}, metadata

    def wait(self, timeout: float | None = None) -> None:
        """Wait for exact counts and a requested replay. Raises TimeoutError after `timeout` seconds.

        A session of more than 5 million characters is shown with estimates first, and counted and replayed in
        the background; any other is exact from the beginning.
        """
        self._controller.wait(timeout)

    def stop(self) -> None:
        """Stop counting, replaying and writing in the background."""
        self._controller.stop()

    def close(self) -> None:
        """End the workbench, and all counting, replaying and following."""
        if "_controller" not in self.__dict__:
            super().close()
        else:
            self._controller.close()
            # With the lock, no message is being sent.
            with self._controller.lock:
                super().close()

    def __repr__(self) -> str:
        return f"Workbench({self.session!r}, {self.plan!r})"

    def _replan(self, _: Any) -> None:
        """Answer a change. The browser gets a sentence, Python an exception."""
        with self._controller.lock:
            if self._setting:
                return
            inputs = {name: getattr(self, name) for name in INPUTS}
            self._set(self._controller.set_inputs(inputs, self._seq, self.replay, self.scenario))
            if self._controller.last_error is not None and not self._property_lock:
                raise self._controller.last_error

    @t.validate("scenario")
    def _complete_scenario(self, proposal: Any) -> dict[str, Any]:
        return read_scenario(proposal["value"]).model_dump(mode="json")

    def _receive(self, traits: dict[str, Any]) -> None:
        """Take the traits that background work has changed."""
        if self.comm is not None:
            self._set(traits)

    def _set(self, values: dict[str, Any]) -> None:
        """Set traits in one message, without planning again for each."""
        self._setting = True
        try:
            with self.hold_sync():
                for name, value in values.items():
                    setattr(self, name, value)
        finally:
            self._setting = False

    # Two threads may send or answer at the same time, so they hold the lock.

    def notify_change(self, change: Any) -> None:
        with self._lock:
            super().notify_change(change)

    def set_state(self, sync_data: dict[str, Any]) -> None:
        with self._lock:
            super().set_state(sync_data)

    @property
    def _lock(self) -> AbstractContextManager[Any]:
        """The controller's lock; before there is a controller, no other thread knows this object."""
        return self._controller.lock if "_controller" in self.__dict__ else nullcontext()

    def _reply(self, _: Any, content: Any, buffers: Any) -> None:
        """Answer a question of the browser: rows, a body, the summary. An error goes back as a sentence."""
        if not isinstance(content, dict):
            return
        if content.get("type") == "code":
            part = "dialogs" if content.get("part") == "dialogs" else "later"
            self._answer({"type": "code", "id": content.get("id"), "code": _LATER[part]})
        else:
            self._controller.ask(content, self._answer)

    def _answer(self, reply: dict[str, Any]) -> None:
        # After closing, no answer is expected.
        if self.comm is not None and not self._controller.closed:
            with self._controller.lock:
                self.send(reply)


_MODES = {"explore": "blocks", "teach": "lesson", "debug": "compactions"}


def _tab_of(mode: str) -> str:
    """Return the tab for a mode of version 0.1, with a warning."""
    if mode not in _MODES:
        raise t.TraitError(f"there is no mode {mode!r:.40}; the tabs are {', '.join(TABS)}")
    tab = _MODES[mode]
    warnings.warn(f'mode="{mode}" is now tab="{tab}"', DeprecationWarning, stacklevel=3)
    return tab


# Users who import this open a session next, and loading the token tables takes about 0.3 s, once.
begin_early(lambda: find_counter("o200k_base").count(["early"]))
