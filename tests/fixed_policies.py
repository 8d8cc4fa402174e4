"""Policies drawn from a seed: any rules in any order, with any settings that small sessions notice."""

from __future__ import annotations

import random
from functools import cache
from typing import Any, get_args

from pydantic import ValidationError

from inspector.policies.base_rule import Rule
from inspector.policies.policy import Policy, Stage
from inspector.policies.rules import RULES, kind_of
from inspector.policies.trigger import Measure, Target, Trigger
from tests.strategies import TOOLS

SIZES = (0, 1, 2, 3, 5, 12, 40, 150, 600, 2_500)


@cache
def _read_schema(model: type[Rule]) -> dict[str, Any]:
    properties: dict[str, Any] = model.model_json_schema()["properties"]
    return {name: schema for name, schema in properties.items() if name not in ("kind", "enabled")}


def _draw_value(chance: random.Random, schema: dict[str, Any]) -> Any:
    one = chance.choice(schema.get("anyOf", [schema]))
    if "enum" in one:
        return chance.choice(one["enum"])
    match one.get("type"):
        case "null":
            return None
        case "boolean":
            return chance.random() < 0.5
        case "integer":
            return chance.choice(SIZES)
        case "number":
            return chance.choice((0.1, 0.3, 0.5, 1, *SIZES))
        case "array" if one.get("items", {}).get("type") == "string":
            return tuple(chance.sample(TOOLS, chance.randrange(3)))
        case _:
            return schema.get("default")


def draw_rule(chance: random.Random, model: type[Rule]) -> Rule:
    """A rule with any settings; where its model refuses them together, as it is by default."""
    knobs = {
        name: _draw_value(chance, schema)
        for name, schema in _read_schema(model).items()
        if chance.random() < 0.7
    }
    try:
        return model.model_validate(knobs)
    except ValidationError:
        return model.model_validate({})


def draw_policy(chance: random.Random) -> Policy:
    """Up to six rules, some of them perhaps in stages, under any measure."""
    kinds = chance.sample(list(RULES), chance.randrange(1, 7))
    rules = tuple(draw_rule(chance, kind) for kind in kinds)
    names = [kind_of(kind) for kind in kinds]
    ends = sorted(chance.sample(range(len(names) + 1), chance.choice((0, 0, 2, 3)) % (len(names) + 1)))
    stages = tuple(
        Stage(name=f"stage {number}", rules=tuple(names[first:end]))
        for number, (first, end) in enumerate(zip(ends, ends[1:], strict=False))
    )
    target = Target(tokens=chance.choice(SIZES)) if stages and chance.random() < 0.7 else None
    trigger = Trigger(measure=chance.choice(get_args(Measure)), reserve_tokens=chance.choice(SIZES))
    return Policy(name="drawn", trigger=trigger, rules=rules, stages=stages, target=target)
