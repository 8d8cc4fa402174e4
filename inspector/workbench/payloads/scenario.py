"""The scenario of a replay as a screen shows and changes it: the current choices and the other options.

Each option is sent as the part of the scenario that it replaces. So the browser knows only one field, `acts`:
it adds an event at the turn that the user clicks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...policies.harness import Harness
from ...replays.act_positions import find_step
from ...replays.run import Run
from ...replays.scenario import Scenario, ScenarioEvent
from ...replays.simulated_summariser import SimulatedSummariser
from ...text import plural
from .base_payload import Payload

Part = dict[str, Any]
"""Fields of a scenario, as JSON."""
NORMAL = Scenario(provider="refuses")
"""The scenario that a workbench replays by default."""
CAPS = (1, 2, 5, 10, 20, 50, 100, 200)


class ActOffer(Payload, frozen=True):
    """An event that can happen at a turn; `act` is the event without its turn."""

    group: str
    label: str
    act: Part


class ScenarioOption(Payload, frozen=True):
    """A value of a setting, and the part of the scenario that it is."""

    label: str
    part: Part


class ScenarioControl(Payload, frozen=True):
    """A setting of the scenario."""

    name: str
    label: str
    options: list[ScenarioOption]


class ChosenItem(Payload, frozen=True):
    """Something that was chosen, and the part of the scenario that takes it back; `step` is -1 for none."""

    label: str
    step: int
    without: Part


class ScenarioPayload(Payload, frozen=True):
    """The scenario of a replay: all of it as `values`, and as Python in `code`; `hint` says what cannot be
    chosen under this policy."""

    values: Part
    chosen: list[ChosenItem]
    offers: list[ActOffer]
    controls: list[ScenarioControl]
    hint: str
    code: str


ACTS: dict[str, list[tuple[str, Mapping[str, Any]]]] = {
    "The user": [
        ("Compact (/compact)", {"do": "compact"}),
        ("Reset (/reset)", {"do": "reset", "confirmed": True}),
        ("Ask for a reset, then decline", {"do": "reset"}),
        ("Override the refusal for this turn", {"do": "override"}),
    ],
    "The provider": [
        ("Refuse: too many tokens (400)", {"do": "token_overflow"}),
        ("Refuse: body too large (413)", {"do": "byte_overflow"}),
        ("Cut the reply off at its limit", {"do": "max_output"}),
    ],
    "The summariser": [
        ("Fail once", {"do": "fail_once"}),
        ("Fail from here on", {"do": "fail_always"}),
    ],
    "A state machine": [
        ("Force a compaction", {"do": "force"}),
        ("Defer compactions from here on", {"do": "defer"}),
        ("Stop deferring", {"do": "release"}),
    ],
}
"""Possible events at a turn, by who causes them: the label on the screen, and the event."""
SETTINGS: dict[str, tuple[str, dict[str, Part]]] = {
    "writer": (
        "Summariser",
        {
            "works": {},
            "fails once": {"fails": 1},
            "always fails": {"fails": "always"},
            "3 × its budget": {"oversize": 3},
            "2 × longer each time": {"grows": 2},
        },
    ),
    "provider": (
        "Above the window",
        {"refused": {"provider": "refuses"}, "accepted": {"provider": "accepts"}},
    ),
    "user": (
        "When refused, the user",
        {
            "compacts": {"user": "compacts"},
            "waits": {"user": "waits"},
            "overrides": {"user": "overrides"},
            "resets": {"user": "resets"},
        },
    ),
    "consents": ("When asked, the user", {"agrees": {"consents": True}, "declines": {"consents": False}}),
    "tool": ("Compaction tool", {"on": {"tool": True}, "off": {"tool": False}}),
}
"""Settings of the whole scenario: their label, and a part of the scenario by each value's label."""


def describe_scenario(run: Run) -> ScenarioPayload:
    """The scenario of a run, shown next to it."""
    scenario, harness = run.scenario, run.policy.harness
    values = scenario.model_dump(mode="json")
    asks = harness.mode != "auto" or (harness.refuses and harness.require is not None)
    usable = {"user": asks, "consents": asks, "tool": harness.tool is not None}
    shown = [name for name in SETTINGS if usable.get(name, True) or values[name] != _dump(NORMAL)[name]]
    controls = [_control(name, *SETTINGS[name], values) for name in shown]
    controls += [_cap(run), _list_tools(run)]
    return ScenarioPayload(
        values=values,
        chosen=_list_chosen(run, controls),
        offers=_list_offers(harness),
        controls=controls,
        hint=_say_unusable(run, {name for name, can in usable.items() if not can}),
        code=run.recipe,
    )


def _dump(value: Scenario | SimulatedSummariser | ScenarioEvent) -> Part:
    return value.model_dump(mode="json")


def _control(name: str, label: str, parts: dict[str, Part], values: Part) -> ScenarioControl:
    """A setting; a value set from Python is an option too."""
    if name == "writer":
        parts = {word: {"writer": _dump(SimulatedSummariser(**part))} for word, part in parts.items()}
    options = [ScenarioOption(word, part) for word, part in parts.items()]
    now = {name: values[name]}
    if now not in parts.values():
        changed_values = SimulatedSummariser(**values[name]).model_dump(exclude_defaults=True)
        words = ", ".join(f"{key} {value}" for key, value in changed_values.items())
        options.append(ScenarioOption(words, now))
    return ScenarioControl(name, label, options)


def _cap(run: Run) -> ScenarioControl:
    """The turn cap: a few numbers of requests that the session exceeds."""
    cap, sent_turns = run.scenario.turn_cap, int((run.sent > 0).sum())
    caps = sorted({*(count for count in CAPS if count < sent_turns), *([cap] if cap else [])})
    options = [ScenarioOption("none", {"turn_cap": None})]
    options += [ScenarioOption(plural(count, "request"), {"turn_cap": count}) for count in caps]
    return ScenarioControl("turn_cap", "Turn cap", options)


def _list_tools(run: Run) -> ScenarioControl:
    """The tools of the stage: all, none, or those that were named from Python."""
    allowed = run.scenario.allowed_tools
    options = [ScenarioOption("all", {"allowed_tools": None}), ScenarioOption("none", {"allowed_tools": []})]
    if allowed:
        options.append(ScenarioOption(", ".join(allowed), {"allowed_tools": [*allowed]}))
    return ScenarioControl("allowed_tools", "Allowed tools", options)


def _list_offers(harness: Harness) -> list[ActOffer]:
    useless = set() if harness.reset else {"reset"}
    useless |= set() if harness.warn or harness.require or harness.block else {"override"}
    useless |= {"none": {"force", "defer", "release"}, "defer": {"force"}, "force": set[str]()}[
        harness.machine
    ]
    return [
        ActOffer(group, label, {k: v for k, v in _dump(ScenarioEvent(at="", **act)).items() if k != "at"})
        for group, acts in ACTS.items()
        for label, act in acts
        if act["do"] not in useless
    ]


def _list_chosen(run: Run, controls: list[ScenarioControl]) -> list[ChosenItem]:
    acts = [_dump(act) for act in run.scenario.acts]
    chosen = [
        ChosenItem(_say_act(run, act), _find_step(run, act), {"acts": acts[:i] + acts[i + 1 :]})
        for i, act in enumerate(run.scenario.acts)
    ]
    normal, values = _dump(NORMAL), _dump(run.scenario)
    for control in controls:
        part, without = {control.name: values[control.name]}, {control.name: normal[control.name]}
        if part != without:
            words = next(option.label for option in control.options if option.part == part)
            chosen.append(ChosenItem(f"{control.label}: {words}", -1, without))
    return chosen


def _say_act(run: Run, act: ScenarioEvent) -> str:
    """Return the choices at a turn, with the labels of their options."""
    fields = act.model_dump(mode="json", exclude_defaults=True, exclude={"at"})
    words = next((word for acts in ACTS.values() for word, event in acts if event == fields), "")
    words = words or " ".join(map(str, fields.values()))
    step = _find_step(run, act)
    return words if step < 0 else f"turn {int(run.turn[step]) + 1}, step {step + 1}: {words}"


def _find_step(run: Run, act: ScenarioEvent) -> int:
    """The step of an event, -1 if the run does not have it."""
    if (step := find_step(act.at, run.turn)) is not None:
        return step
    i = run.session.index.get(act.at, -1)
    step = int(np.searchsorted(run.entry, i))
    return step if i >= 0 and step < len(run) else -1


def _say_unusable(run: Run, names: set[str]) -> str:
    title = run.policy.title or run.policy.name
    if {"user", "tool"} <= names:
        return f"{title} compacts without asking the user, and has no compaction tool to switch off."
    if "tool" in names:
        return f"{title} has no compaction tool to switch off."
    return f"{title} compacts without asking the user." if "user" in names else ""
