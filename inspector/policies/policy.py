"""Policies as data: a trigger and an ordered tuple of rules, stored as JSON and edited in the widget.

A `Rule` subclass in `rules/` adds its settings as pydantic fields; the rule panel shows their descriptions
and bounds. `Edits` are the user's changes on top of a policy: the cut, pins, settings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import dropwhile, takewhile
from typing import Any, Self, TypeVar, get_args

from pydantic import BaseModel, Field, SerializeAsAny, ValidationError, field_validator, model_validator

from ..errors import EditError, PolicyError
from ..session.blocks import Value
from ..text import name_known
from .base_rule import Rule
from .core import AT_80, SWITCHED, SWITCHES, Mode, core_rules, keeps_contract
from .harness import Harness, check_thresholds
from .part import PolicyPart
from .rules import kind_of, list_rules
from .trigger import Reason, Target, Trigger

NO_CONTRACT = "a policy of your own; it no longer keeps the contract"
"""The beginning of `source` for a policy made from a profile whose contract it no longer keeps (S0-4)."""
SEND = "sendReasoning"
FORMER = "conduct"
"""The name of the harness in JSON and in settings before 0.2. Both are read, "harness" is written."""


class Stage(Value):
    """A stage of a policy: the kinds of rules that take part from it on, and for which reasons it runs.

    With `always` it runs in every automatic compaction, even if the stages before it met the target. With
    `early` it runs before every request, whether the trigger fires or not: each time if it is listed before
    the stages that wait for the trigger; after them, as a view of the request, if the target is not met.
    With `enough`, no later stage runs if this one changed anything.

    >>> from inspector import find_policy
    >>> tried = Stage(name="outputs", rules=("drop-old-outputs",))
    >>> tried.reasons, find_policy("stud-wiki-1.1").in_mode("outputs-first").stages[0] == tried
    (('auto', 'manual', 'overflow'), True)
    """

    name: str
    rules: tuple[str, ...]
    reasons: tuple[Reason, ...] = ("auto", "manual", "overflow")
    always: bool = False
    early: bool = False
    enough: bool = False


class Policy(Value):
    """A named trigger with its rules. The first rule that claims a block decides its fate.

    With `stages` the rules named in one take part only from that stage on, and a later stage overrides the
    decisions of an earlier one. A `target` ends the stages as soon as it is met. Rules in no stage always
    take part and come first. `version` is the version of the system it was compared with. `mode` is the mode
    of core that it is in, if one was chosen; `contract` the published contract that it keeps, if known here.

    >>> from inspector import find_policy
    >>> mine = Policy(name="mine", trigger=Trigger(ratio=0.7), rules=find_policy("keep-recent-turns").rules)
    >>> mine.trigger.threshold(200_000)
    140000.0
    >>> mine.configured({"trigger.ratio": 0.5, "keep-recent-turns.turns": 2}).trigger.threshold(200_000)
    100000.0
    """

    name: str
    title: str = ""
    version: str = ""
    source: str = ""
    contract: str = ""
    mode: Mode | None = None
    trigger: Trigger = Trigger()
    target: Target | None = None
    harness: Harness = Harness()
    stages: tuple[Stage, ...] = ()
    rules: tuple[SerializeAsAny[Rule], ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _rename(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        data = _read_reasoning(_rename_harness(data) if FORMER in data else data)
        if "rules" not in data:
            return data
        return {**data, "rules": _read_rules(f"{data.get('name', 'policy')!s:.60}", data["rules"])}

    @model_validator(mode="after")
    def _check(self) -> Self:
        kinds = [rule.kind for rule in self.rules]
        if len(set(kinds)) < len(kinds):
            raise PolicyError(self.name, "rules: a kind is listed twice, so its settings would be ambiguous")
        names = [stage.name for stage in self.stages]
        if len(set(names)) < len(names):
            raise PolicyError(self.name, "stages: a name is used twice")
        for stage in self.stages:
            if unknown := [kind for kind in stage.rules if kind not in kinds]:
                raise PolicyError(
                    self.name,
                    f"stage {stage.name!r} names {unknown[0]!r}, which is not one of its rules",
                    kinds,
                )
            if not stage.reasons:
                raise PolicyError(self.name, f"stage {stage.name!r} runs for no reason", get_args(Reason))
        return self

    @property
    def is_own(self) -> bool:
        """Whether no system has this policy: it names no `version` that it was compared with.

        Until a reply reports usage, the size of the context is then counted, not estimated as by a system.
        """
        return not self.version

    @property
    def fixed_parts(self) -> tuple[PolicyPart, ...]:
        """The parts with settings that are not rules: the trigger, the target, if any, and the harness."""
        target = () if self.target is None else (self.target,)
        return (self.trigger, *target, self.harness)

    @property
    def running(self) -> Harness:
        """The harness as it runs: with one switch for both, a trigger that is off ends recovery too, and so
        do the rules of its stages.

        A harness that blocks where nothing compacts by itself then waits for the user's /compact (S2-34).

        >>> from inspector import find_policy
        >>> [find_policy(name).configured({"trigger.enabled": False}).running.recover
        ...  for name in ("flue", "flue-2")]
        [False, True]
        >>> find_policy("claude-code-analysis").configured({"trigger.enabled": False}).running.mode
        'manual'
        """
        if self.harness.block is not None and self.harness.mode == "auto" and not self.trigger.enabled:
            return self.harness.model_copy(update={"mode": "manual"})
        if (self.harness.one_switch and not self.trigger.enabled) or self._has_off("overflow"):
            return self.harness.model_copy(update={"recover": False})
        return self.harness

    def why_off(self, reason: Reason) -> str:
        """Why this policy never compacts for a reason, as `Harness.why_off` returns it; "" if it may.

        >>> from inspector import find_policy
        >>> find_policy("flue").configured({"trigger.enabled": False}).why_off("overflow")
        'Recovery is switched off with the trigger'
        >>> find_policy("claude-code-analysis").configured({"summarise-all.enabled": False}).why_off("manual")
        '/compact is switched off with its rules'
        """
        off = self.running.why_off(reason)
        if self._has_off(reason) and not self.harness.why_off(reason):
            return f"{'Recovery' if reason == 'overflow' else '/compact'} is switched off with its rules"
        if not off or self.harness.why_off(reason):
            return off
        return (
            f"{off}, as the trigger is off"
            if self.running.mode != self.harness.mode
            else f"{off} with the trigger"
        )

    def _has_off(self, reason: Reason) -> bool:
        """Whether the stages of the user's /compact, or of a recovery, hold only rules that are off: what
        runs before every request is not part of it (S2-9)."""
        behind = [stage for stage in self.stages if reason in stage.reasons and not self.is_early(stage)]
        named = {kind for stage in self.stages for kind in stage.rules}
        asked = {kind for stage in behind for kind in stage.rules}
        able = (rule for rule in self.rules if rule.kind in asked or rule.kind not in named)
        off = not any((rule.enabled or rule.wire) and not rule.locked for rule in able)
        return reason != "auto" and bool(behind) and off

    def with_rules(self, chosen: Callable[[Rule], bool]) -> Self:
        """This policy with the rules that are not chosen switched off, so that settings and stages still find
        them; rules that cannot be switched off stay as they are."""
        rules = tuple(
            rule if rule.locked or chosen(rule) else rule.model_copy(update={"enabled": False})
            for rule in self.rules
        )
        return self.model_copy(update={"rules": rules})

    def is_early(self, stage: Stage) -> bool:
        """Whether a stage runs before every request: it is said of the stage, or of all its rules."""
        return stage.early or {rule.kind for rule in self.rules if rule.early}.issuperset(stage.rules)

    @property
    def early(self) -> Self | None:
        """The rules that run before every request, ahead of the trigger, as a policy (S2-48); None if there
        are none."""
        stages = tuple(takewhile(self.is_early, self.stages))
        kinds = {kind for stage in stages for kind in stage.rules}
        kinds |= {rule.kind for rule in self.rules if rule.early}
        if not any(rule.enabled and rule.kind in kinds for rule in self.rules):
            return None
        rest = {"stages": stages, "target": None}
        return self.with_rules(lambda rule: rule.kind in kinds).model_copy(update=rest)

    @property
    def late(self) -> tuple[Stage, ...]:
        """The stages that run for every request behind the trigger: views of it, and nothing of them is
        stored."""
        return tuple(stage for stage in dropwhile(self.is_early, self.stages) if stage.early)

    @property
    def is_double(self) -> bool:
        """Whether the harness compacts its history and the provider edits its requests besides (S0-55).

        With its trigger off, or no rule left that removes anything, only the provider does.
        """
        on = [rule for rule in self.rules if rule.enabled]
        core = [rule for rule in on if not rule.locked and not rule.wire and rule.removes]
        starts = self.trigger.enabled or self.running.mode == "manual"
        # A summary by the provider itself is not a second surface.
        own = starts and self.harness.engine != "none" and not any(rule.by_provider for rule in core)
        return own and bool(core) and any(rule.wire for rule in on)

    @property
    def own_reason(self) -> Reason:
        """The default reason of a compaction: automatic, or the user's /compact if only that starts one."""
        return "manual" if self.running.mode == "manual" else "auto"

    @property
    def acts_alone(self) -> bool:
        """Whether its trigger is in force: switched on, in a harness that compacts by itself or asks first.

        >>> from inspector import find_policy
        >>> [find_policy("claude-code-analysis").configured(off).acts_alone
        ...  for off in ({}, {"harness.mode": "manual"}, {"trigger.enabled": False})]
        [True, False, False]
        """
        return self.trigger.enabled and not self.why_off("auto")

    @property
    def parts(self) -> tuple[PolicyPart, ...]:
        """Everything that has settings: the fixed parts, then the rules."""
        return (*self.fixed_parts, *self.rules)

    def configured(self, settings: dict[str, Any]) -> Self:
        """This policy with settings "<kind>.<knob>" applied.

        "<kind>.enabled" of a rule that it does not have adds that rule, in its place. Raises `PolicyError`
        naming what is wrong.
        """
        if not settings:
            return self
        settings = rename_settings(settings)
        parts = {part.kind: part for part in self.fixed_parts}
        rules = {rule.kind: rule for rule in self.rules}
        added = _find_added(self.name, settings, {**parts, **rules})
        rules |= added
        for key, value in settings.items():
            kind, _, knob = key.partition(".")
            if kind in rules:
                rules[kind] = _set(self.name, rules[kind], knob, value)
            elif kind in parts:
                parts[kind] = _set(self.name, parts[kind], knob, value)
            else:
                adds = f", and {kind}.enabled, which would add it, is not set" if kind in _models() else ""
                raise PolicyError(self.name, f"it has no rule {kind!r}{adds}", [*parts, *rules])
        placed = place_rules((rules[rule.kind] for rule in self.rules), (rules[kind] for kind in added))
        changed = self.model_copy(update={**parts, "rules": placed})
        trigger = changed.trigger
        share = trigger.ratio if trigger.tokens is None and trigger.enabled else None
        check_thresholds(self.name, changed.harness, share)
        _check_together(self.name, placed, added)
        if self.contract and changed.harness.engine != self.harness.engine:
            raise PolicyError(self.name, f"core compaction cannot be replaced under {self.contract}")
        on = {rule.kind for rule in placed if rule.enabled and rule.kind in SWITCHED}
        if changed.mode is not None and on != {*SWITCHES[changed.mode]}:
            changed = changed.model_copy(update={"mode": None})
        return changed.settled()

    def in_mode(self, mode: Mode) -> Self:
        """This policy with core in another mode (S0-76), all else as it is; rules it lacks are added.

        Raises `PolicyError` for a mode that does not exist.

        >>> from inspector import find_policy
        >>> changed = find_policy("stud-wiki-1.1").in_mode("drop-old-outputs")
        >>> [rule.kind for rule in changed.rules if rule.enabled]
        ['keep-system', 'keep-recent-turns', 'drop-old-outputs']
        """
        if mode not in SWITCHES:
            raise PolicyError(self.name, f"there is no compaction mode {mode!r:.60}", SWITCHES, meant=mode)
        has = {rule.kind for rule in self.rules}
        on = SWITCHES[mode]
        changed = self.configured(
            {f"{kind}.enabled": kind in on for kind in SWITCHED if kind in has or kind in on}
        )
        staged = self.mode == "outputs-first"
        stages, target = ((), None) if staged else (self.stages, self.target)
        if mode == "outputs-first":
            target = self.target or Target()
            stages = (
                Stage(name="outputs", rules=("drop-old-outputs",)),
                Stage(name="summary", rules=("summarise-older",)),
            )
        return changed.model_copy(update={"mode": mode, "stages": stages, "target": target})

    def settled(self) -> Self:
        """This policy, without the claim to a contract that it does not keep (S0-4, S0-68).

        A copy of a profile in which something else compacts is a policy of its own, whatever its name.
        """
        if not self.contract or keeps_contract(self.contract, self.harness.engine, self.rules):
            return self
        source = f"{NO_CONTRACT} {self.contract}"
        return self.model_copy(update={"contract": "", "title": self.name, "source": source})

    def add(self, rule: Rule | str, **knobs: Any) -> Self:
        """Return a copy of this policy with one more rule in its usual position, named "<name>-and-<kind>".

        To add the rule by an edit of a plan, set "<kind>.enabled" instead. Raises `PolicyError` if the kind
        does not exist, if the policy has it already, or if it conflicts with another rule.

        >>> from inspector import find_policy
        >>> mine = find_policy("flue").add("dedupe-reads", tools=("Read",))
        >>> mine.name, [rule.kind for rule in mine.rules][-2:]
        ('flue-and-dedupe-reads', ['dedupe-reads', 'summarise-older'])
        """
        kind = rule if isinstance(rule, str) else rule.kind
        if any(own.kind == kind for own in self.parts):
            raise PolicyError(self.name, f"it has a rule {kind!r}; its settings can be changed")
        new = _make(self.name, kind) if isinstance(rule, str) else rule
        for knob, value in knobs.items():
            new = _set(self.name, new, knob, value)
        rules = place_rules(self.rules, [new])
        _check_together(self.name, rules, [kind])
        title = f"{self.title or self.name} and {new.title[:1].lower()}{new.title[1:]}" if new.title else ""
        named = {"name": f"{self.name}-and-{kind}", "title": title, "rules": rules}
        return self.model_copy(update=named).settled()


def rename_settings(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings under the names they have now. Raises `PolicyError` for one that is set under both names.

    >>> rename_settings({"conduct.warn": 0.7, "keep-recent-turns.turns": 2})
    {'harness.warn': 0.7, 'keep-recent-turns.turns': 2}
    """
    former = {key: f"harness{key.removeprefix(FORMER)}" for key in settings if key.startswith(f"{FORMER}.")}
    former |= {key: "harness.send_reasoning" for key in settings if key == f"harness.{SEND}"}
    for key, now in former.items():
        if now in settings:
            raise PolicyError("", f"settings: {key} is called {now} now, and both are set")
    return {former.get(key, key): value for key, value in settings.items()} if former else settings


def _rename_harness(data: dict[str, Any]) -> dict[str, Any]:
    if "harness" in data:
        raise PolicyError(
            f"{data.get('name')!s:.60}", f"{FORMER} is the former name of harness; give only one of them"
        )
    harness = data[FORMER]
    if isinstance(harness, dict) and harness.get("kind") == FORMER:
        harness = {**harness, "kind": "harness"}
    return {**{key: value for key, value in data.items() if key != FORMER}, "harness": harness}


def _read_reasoning(data: dict[str, Any]) -> dict[str, Any]:
    """Move `sendReasoning`, the name in stud's profiles, to the settings of the harness (S0-25). It may be
    there already."""
    if SEND not in data:
        return data
    harness = data.get("harness", {})
    fields = harness.model_dump() if isinstance(harness, Harness) else harness
    if not isinstance(fields, dict):
        return data
    if fields.get(SEND, data[SEND]) != data[SEND]:
        raise PolicyError(f"{data.get('name')!s:.60}", f"{SEND} is given twice, with different values")
    rest = {key: value for key, value in data.items() if key != SEND}
    others = {key: value for key, value in fields.items() if key != "send_reasoning"}
    return {**rest, "harness": {**others, SEND: data[SEND]}}


def _models() -> dict[str, type[Rule]]:
    """Return every rule class by its kind. A policy needs the class of a rule that is added."""
    return {kind_of(rule): rule for rule in list_rules()}


def place_rules(rules: Iterable[Rule], added: Iterable[Rule]) -> tuple[Rule, ...]:
    """The rules with some more, each before the first that is more general than itself.

    The order in which they were added makes no difference.
    """
    out = list(rules)
    for rule in sorted(added, key=lambda rule: (rule.rank, rule.kind)):
        index = next((index for index, other in enumerate(out) if other.rank > rule.rank), len(out))
        out.insert(index, rule)
    return tuple(out)


def _find_added(policy: str, settings: dict[str, Any], owners: Mapping[str, PolicyPart]) -> dict[str, Rule]:
    """The rules that settings bring along, as they are by default."""
    kinds = [key.removesuffix(".enabled") for key in settings if key.endswith(".enabled")]
    missing = [kind for kind in kinds if kind not in owners]
    if not missing:
        return {}
    models = _models()
    return {kind: _make(policy, kind) for kind in missing if kind in models}


def _make(policy: str, kind: str) -> Rule:
    """A rule of that kind as it is by default."""
    models = _models()
    if kind not in models:
        raise PolicyError(policy, f"there is no kind of rule {kind!r:.60}", models, meant=kind)
    try:
        return models[kind]()  # type: ignore[call-arg]
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, (kind, *first["loc"])))
        raise PolicyError(policy, f"{where}: {first['msg']}") from None


def _check_together(policy: str, rules: Iterable[Rule], added: Iterable[str]) -> None:
    """Raise `PolicyError` if a rule was added to a policy that has one with the same task."""
    on, new = [rule for rule in rules if rule.enabled], {*added}
    for rule in on:
        for other in on if rule.kind in new else ():
            why = rule.rivals(other) if other is not rule else ""
            if why:
                switch = f"switch one of them off ({other.kind}.enabled)"
                raise PolicyError(policy, f"{rule.kind} and {other.kind} {why}; {switch}")


S = TypeVar("S", bound=PolicyPart)


def _set(policy: str, part: S, knob: str, value: Any) -> S:
    knobs = [name for name in type(part).model_fields if name != "kind"]
    if knob not in knobs:
        raise PolicyError(policy, f"rule {part.kind!r} has no setting {knob!r}", knobs)
    if knob == "enabled" and not value and part.locked:
        raise PolicyError(policy, f"rule {part.kind!r} cannot be switched off")
    try:
        return type(part).model_validate({**part.model_dump(), knob: value})
    except ValidationError as error:
        why = error.errors()[0]["msg"]
        raise PolicyError(policy, f"{part.kind}.{knob} = {value!r:.120}: {why}") from None


class Edits(Value):
    """The user's changes on top of a policy.

    `cut` is the first entry to keep, or "end"; None lets the policy decide. `since` is the first entry that
    is compacted: what is before it stays too, and without a cut everything from it on is compacted. `pins`
    are entries ("e40") or blocks ("e40/1") that stay verbatim wherever the cut is. `settings` are knobs,
    "<kind>.<knob>".

    >>> from inspector import count_tokens, make_plan, read_session
    >>> session = read_session([{"role": role, "content": "…"} for role in ("user", "assistant", "user")])
    >>> edits = Edits(cut="m3", pins=("m1",))
    >>> [str(ref) for ref in make_plan(session, count_tokens(session), "keep-recent-turns", edits).lost]
    ['m2/0']
    """

    cut: str | None = None
    since: str | None = None
    pins: tuple[str, ...] = ()
    settings: dict[str, Any] = Field(default_factory=dict)

    @field_validator("settings")
    @classmethod
    def _rename(cls, settings: dict[str, Any]) -> dict[str, Any]:
        return rename_settings(settings)

    def __repr__(self) -> str:
        parts = [
            f"{name}={value!r}"
            for name in ("cut", "since", "pins", "settings")
            if (value := getattr(self, name))
        ]
        return f"Edits({', '.join(parts)})"


def check_window(window: object) -> None:
    """Raise `PolicyError` unless it is a number of tokens, or None for the session's own window."""
    if window is not None and (not isinstance(window, int) or isinstance(window, bool) or window < 0):
        raise PolicyError("", f"window: {window!r} is not a number of tokens; 0 means unknown")


def check_reason(reason: str | None) -> None:
    """Raise `PolicyError` unless it is one of those a compaction is planned for, or none is given."""
    if reason is not None and reason not in get_args(Reason):
        raise PolicyError("", f"reason: {reason!r} is not a reason to compact", get_args(Reason))


def read_edits(edits: Edits | dict[str, Any] | None) -> Edits:
    """Edits as they are or from their JSON form. Raises `EditError` naming what is wrong."""
    if isinstance(edits, Edits):
        return edits
    try:
        return Edits.model_validate(edits or {})
    except ValidationError as error:
        first = error.errors()[0]
        raise EditError("edit", ".".join(map(str, first["loc"])), first["msg"]) from None


def read_policy(data: Any) -> Policy:
    """A policy from its JSON form. One that names no rules has core's own, and its trigger (S0-56).

    `mode` puts core into one of its modes, whatever the rules say. Raises `PolicyError` naming the field that
    is wrong.

    >>> try:
    ...     read_policy({"name": "mine", "trigger": {"ration": 0.7}})
    ... except PolicyError as error:
    ...     print(error)
    policy 'mine': trigger.ration: no such field; did you mean 'ratio'? known: ...
    """
    if not isinstance(data, dict):
        text = isinstance(data, str | bytes)
        problem = "this is its JSON as text; pass the parsed object" if text else "an object is needed"
        raise PolicyError(f"{data!s:.60}", problem)
    name = f"{data.get('name', 'policy')!s:.60}"
    rules = data["rules"] if "rules" in data else _default_rules(data)
    usual: dict[str, Any] = {} if "rules" in data or not rules else AT_80.model_dump()
    trigger = _read_part(name, "trigger", Trigger, data.get("trigger", usual))
    policy = _read_part(name, "", Policy, {**data, "rules": rules, "trigger": trigger})
    return (policy if policy.mode is None else policy.in_mode(policy.mode)).settled()


def _default_rules(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Core's own rules (S0-56); none for a policy of a tool, which has the tool's (S1-35)."""
    harness = data.get("harness", data.get(FORMER))
    engine = harness.get("engine") if isinstance(harness, dict) else getattr(harness, "engine", None)
    by_tool = isinstance(engine, str) and engine.startswith("tool")
    return [] if by_tool else [rule.model_dump() for rule in core_rules()]


def _read_rules(policy: str, rules: Any) -> tuple[Rule, ...]:
    """Rules, each as it is or from its JSON form. Raises `PolicyError` naming the field that is wrong."""
    if not isinstance(rules, list | tuple) or not all(isinstance(item, dict | Rule) for item in rules):
        raise PolicyError(policy, "rules: a list of objects is needed")
    return tuple(
        item
        if isinstance(item, Rule)
        else _read_part(policy, f"rules[{index}]", _find_model(policy, index, item), item)
        for index, item in enumerate(rules)
    )


def _find_model(policy: str, index: int, item: dict[str, Any]) -> type[Rule]:
    models = _models()
    kind = item.get("kind")
    if kind is None:
        raise PolicyError(policy, f"rule {index + 1} has no kind", models)
    if not isinstance(kind, str) or kind not in models:
        problem = f"rule {index + 1}: no such kind of rule {kind!r:.60}"
        raise PolicyError(policy, problem, models, meant=str(kind))
    return models[kind]


P = TypeVar("P", bound=BaseModel)


def _read_part(policy: str, path: str, model: type[P], data: Any) -> P:
    """A part of a policy. An error in it names the whole way there, as in "rules[1].turns"."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        for step in first["loc"]:
            path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else step
        if first["type"] == "extra_forbidden":
            raise PolicyError(policy, f"{path}: no such field; {_name_fields(model, first['loc'])}") from None
        problem = f"{path}: {first['msg']}" if path else first["msg"]
        raise PolicyError(policy, problem) from None


def _name_fields(model: type[BaseModel], loc: tuple[int | str, ...]) -> str:
    """Name the fields of the part that a wrong one, the last of `loc`, was given for."""
    for step in loc[:-1]:
        kinds = model.model_fields[step].annotation if step in model.model_fields else model
        inner = (kind for kind in (kinds, *get_args(kinds)) if isinstance(kind, type))
        model = next((kind for kind in inner if issubclass(kind, BaseModel)), model)
    return name_known(str(loc[-1]), [field for field in model.model_fields if field != "kind"])
