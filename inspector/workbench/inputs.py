"""The inputs of a workbench: a few JSON values, their types, and what each of them resets when it changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import EditError
from ..policies.base_rule import Rule
from ..policies.policy import Policy
from ..policies.registry import find_policy, names_of_policies
from ..text import plural
from .opening import AUTO

_TYPES: dict[str, type[Any]] = {
    "cut": str,
    "since": str,
    "policy": str,
    "settings": dict,
    "pins": list,
    "at": str,
    "versus": dict,
    "look": str,
}
INPUTS = tuple(_TYPES)
"""`cut` is the first kept entry ("" lets the policy decide), `since` the first compacted one ("" compacts all
before the cut), `at` the point in time, `versus` plan B, `look` the side that is shown after: "plan", or
"recorded:1" for the first recorded compaction."""
TABS = ("compactions", "findings", "facts", "blocks", "context", "summary", "replay", "rules", "lesson")
"""The tabs of the dock, in reading order."""
_WORDS: dict[type, str] = {str: "string", dict: "object", list: "list"}


def pick_inputs(values: Mapping[str, Any]) -> dict[str, Any]:
    """Those of `INPUTS` that are there."""
    return {name: values[name] for name in INPUTS if name in values}


def check_inputs(inputs: Mapping[str, Any]) -> None:
    """Raise `EditError` for a value of another type than its name has."""
    for name, value in inputs.items():
        kind: type[Any] = _TYPES.get(name.removeprefix("versus."), object)
        if not isinstance(value, kind):
            raise EditError(name, f"{value!r:.60}", f"must be of type {_WORDS[kind]}")
        if kind is dict and not all(isinstance(key, str) for key in value):
            raise EditError(name, f"{value!r:.60}", "all keys must be strings")
        if kind is list and not all(isinstance(item, str) for item in value):
            raise EditError(name, f"{value!r:.60}", "all items must be names of entries or blocks")


def carry_over(inputs: dict[str, Any], previous: Mapping[str, Any]) -> dict[str, Any]:
    """Remove inputs of the previous point in time or policy, unless they were set in the same change.

    Another point in time has no cut and no pins yet; another policy places its own cut, with its own
    settings, unless it differs only in the files it carries.
    """
    out = dict(inputs)
    places = {name: "" for name in ("cut", "since") if inputs[name] == previous[name]}
    if inputs["at"] != previous["at"]:
        out |= places
        if inputs["pins"] == previous["pins"]:
            out["pins"] = []
        if inputs["versus"] == previous["versus"]:
            out["versus"] = {k: v for k, v in inputs["versus"].items() if k not in ("cut", "pins")}
    if not are_kin(inputs["policy"], previous["policy"]):
        if inputs["settings"] == previous["settings"]:
            out["settings"] = {}
        out |= places
    if inputs["look"] == previous["look"]:
        # Who edits the plan wants to see it; another moment has another recorded side.
        edited = any(out[name] != previous[name] for name in ("cut", "since", "policy", "settings", "pins"))
        if inputs["at"] != previous["at"] or (inputs["policy"] == AUTO != previous["policy"]):
            out["look"] = ""
        elif edited:
            out["look"] = "plan"
    return out


def are_kin(name: str, other: str) -> bool:
    """Whether two policies differ in nothing but the files they carry, so that edits of one fit the other."""
    if name == other or not {name, other} <= {*names_of_policies()}:
        return name == other
    first, second = (find_policy(policy) for policy in (name, other))
    bare = first.model_copy(update={"name": second.name, "title": second.title, "rules": _bare(first)})
    return bare == second.model_copy(update={"rules": _bare(second)})


def _bare(policy: Policy) -> tuple[Rule, ...]:
    return tuple(rule for rule in policy.rules if rule.kind != "carry-file-operations")


def drop_edit(inputs: dict[str, Any], error: EditError) -> bool:
    """Take out of `inputs` the cut, beginning or pin that an error is about. Whether there was one."""
    if error.edit in ("cut", "since") and inputs[error.edit]:
        inputs[error.edit] = ""
        return True
    remaining_pins = [pin for pin in inputs["pins"] if error.edit != "pin" or pin != error.target]
    fewer = len(remaining_pins) < len(inputs["pins"])
    inputs["pins"] = remaining_pins
    return fewer


def describe_dropped(before: Mapping[str, Any], inputs: Mapping[str, Any]) -> str:
    """Return a sentence about the dropped edits, or "".

    >>> before = {"cut": "e4", "since": "", "pins": ["e1", "e2"]}
    >>> describe_dropped(before, {"cut": "", "since": "", "pins": ["e2"]})
    'The session has grown past the cut and 1 pin that were set.'
    """
    fewer = len(before["pins"]) - len(inputs["pins"])
    words = {"since": "the beginning", "cut": "the cut"}
    parts = [word for name, word in words.items() if before[name] != inputs[name]]
    parts += [plural(fewer, "pin")] if fewer else []
    verb = "were" if len(parts) > 1 or fewer > 1 else "was"
    return f"The session has grown past {' and '.join(parts)} that {verb} set." if parts else ""
