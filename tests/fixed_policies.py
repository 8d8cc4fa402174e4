"""Policies and plans drawn from a seed: any rules in any order, with settings that small sessions notice."""

from __future__ import annotations

import random
from functools import cache
from itertools import pairwise
from typing import Any, get_args

import numpy as np
from pydantic import ValidationError

from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.policies.base_rule import Rule
from inspector.policies.policy import Policy, Stage
from inspector.policies.rules import RULES, kind_of
from inspector.policies.trigger import Measure, Target, Trigger
from inspector.tokens.ledger import count_tokens
from tests.fixed_sessions import LENGTH, fixed_ledger, fixed_session
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
        for number, (first, end) in enumerate(pairwise(ends))
    )
    target = Target(tokens=chance.choice(SIZES)) if stages and chance.random() < 0.7 else None
    trigger = Trigger(measure=chance.choice(get_args(Measure)), reserve_tokens=chance.choice(SIZES))
    return Policy(name="drawn", trigger=trigger, rules=rules, stages=stages, target=target)


@cache
def fixed_plan(seed: int) -> Plan:
    """A plan of any policy over the session of a seed, perhaps with pins, perhaps for a model that binds
    reasoning to what stands before it."""
    chance = random.Random(seed)
    session, ledger = fixed_session(seed), fixed_ledger(seed)
    if seed % 3 == 0:
        session = session.model_copy(update={"model": "claude-fable-5-1"})
        ledger = count_tokens(session, LENGTH)
    policy = draw_policy(chance)
    if seed % 7 == 0:
        policy = policy.configured({"harness.send_reasoning": False})
    names = [session.entries[i].id for i in session.live.entries.tolist()]
    blocks = [str(ref) for ref in session.live_refs(np.arange(len(session.live.position)))]
    pins = tuple(chance.sample([*names, *blocks], min(chance.choice((0, 0, 1, 3)), len(names))))
    reason = chance.choice(("auto", "manual", "overflow"))
    return make_plan(session, ledger, policy, {"pins": pins}, window=chance.choice((0, 2_000)), reason=reason)
