"""Rules and policies of one's own: a function in a cell, a policy as JSON, both known by name."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import Any, ClassVar, Literal

import numpy as np
import pytest
from hypothesis import given, settings

import inspector
from inspector import build_context, count_tokens, make_plan, open_demo
from inspector.errors import ArgumentError, PolicyError
from inspector.planning.assemble import live_context
from inspector.planning.diff.contexts import diff_contexts, patch_context
from inspector.policies import rules as rule_registry
from inspector.policies.base_rule import Rule
from inspector.policies.custom_rule import rule
from inspector.policies.policy import Policy, read_edits
from inspector.policies.registry import add_policy, find_policy, names_of_policies
from inspector.policies.rules import add_rule, find_rule
from inspector.policies.table import Decision, Table
from inspector.policies.trigger import Trigger
from inspector.session.blocks import Text, ToolCall, ToolOutput
from inspector.session.entries import Entry
from inspector.session.session import Session
from inspector.tokens.counter import Counter
from inspector.tokens.history import trace_history
from inspector.workbench.payloads.scene import draw_plan, draw_scene
from tests.refusals import check_adds_none
from tests.strategies import sessions
from tests.test_cuts import build, say, user

CAREFUL = {
    "name": "careful",
    "trigger": {"ratio": 0.7},
    "rules": [
        {"kind": "keep-system"},
        {"kind": "shorten-outputs"},
        {"kind": "keep-recent-turns", "turns": 2},
        {"kind": "summarise-older"},
    ],
}
LENGTH = Counter("length", "Characters", lambda texts: np.array([len(t) for t in texts], np.int32))


def shorten_outputs(block):  # type: ignore[no-untyped-def]
    """Outputs of {any} tool are cut to their beginning."""
    if block.is_tool_output and len(block.text) > 40:
        return "truncated", block.text[:40]
    return "dropped" if block.is_reasoning else None


def test_a_rule_and_a_policy_as_json_stand_in_the_picker_and_are_planned() -> None:
    rule(shorten_outputs)
    add_policy(CAREFUL)
    assert {"shorten-outputs", "careful"} <= set(names_of_policies())
    session = open_demo()
    ledger = count_tokens(session)
    plan = make_plan(session, ledger, "careful")
    scene, _ = draw_scene(plan, trace_history(session, ledger))
    assert {"shorten-outputs", "careful"} <= {item.name for item in scene.policies}
    picture, _ = draw_plan(plan)
    mine = next(item for item in picture.rules if item.kind == "shorten-outputs")
    assert mine.sentence == "Outputs of {{any}} tool are cut to their beginning"
    assert {"truncated", "summarised"} & {piece.fate for piece in build_context(session, plan).pieces}


@settings(max_examples=60)
@given(sessions(orderly=True))
def test_a_rule_of_ones_own_obeys_the_laws(session: Session) -> None:
    rule(shorten_outputs)
    ledger = count_tokens(session, LENGTH)
    plan = make_plan(session, ledger, add_policy(CAREFUL), window=10_000)
    before, after = live_context(session, ledger), build_context(session, plan)
    assert after.tokens == plan.after
    assert patch_context(before, diff_contexts(before, after)) == after
    blocks = [block for entry in session.entries for block in entry.blocks]
    for piece in after.pieces:
        assert piece.block.kind != "reasoning" or any(piece.block is block for block in blocks)
    check_adds_none(before, after, plan, "loop_without_thinking")


def test_a_rule_may_look_at_older_blocks_alone() -> None:
    @rule(where="older", name="no-old-calls")
    def function(block):  # type: ignore[no-untyped-def]
        return "dropped" if block.is_tool_call else None

    session = open_demo()
    policy = {
        "name": "mine",
        "rules": [{"kind": "no-old-calls"}, {"kind": "keep-recent-turns", "turns": 5}],
    }
    plan = make_plan(session, count_tokens(session), policy)
    assert plan.place is not None
    calls = [p for p in build_context(session, plan).pieces if p.block.kind in ("tool_call", "tool_output")]
    assert calls and all(
        session.index[p.origin[0].entry] >= plan.table.live.entries[plan.place] for p in calls
    )


def test_what_a_function_may_not_do_is_told_by_name() -> None:
    session = open_demo()
    ledger = count_tokens(session)

    def broken(block):  # type: ignore[no-untyped-def]
        return 1 / 0

    def odd(block):  # type: ignore[no-untyped-def]
        return "vanished"

    def rewriting(block):  # type: ignore[no-untyped-def]
        return ("truncated", "I thought so.") if block.is_reasoning or block.is_tool_call else None

    for function, said in (
        (broken, "ZeroDivisionError"),
        (odd, "'vanished'"),
        (rewriting, "kept or dropped"),
    ):
        rule(function)
        with pytest.raises(PolicyError, match=said):
            make_plan(session, ledger, function.__name__)


def test_built_in_names_cannot_be_taken() -> None:
    with pytest.raises(PolicyError, match="built-in"):
        rule(shorten_outputs, name="keep-system")
    with pytest.raises(PolicyError, match="built-in"):
        add_policy({**CAREFUL, "name": "flue", "rules": []})
    with pytest.raises(PolicyError, match="no such kind"):
        add_policy({"name": "x", "rules": [{"kind": "nobody-knows"}]})


@pytest.mark.parametrize("name", ["trigger", "target", "harness", "conduct", "a.b", "a b", "", "\n", 5])
def test_no_rule_has_a_name_that_settings_could_not_say(name: Any) -> None:
    known = names_of_policies()
    with pytest.raises(PolicyError):
        rule(shorten_outputs, name=name)
    assert names_of_policies() == known


def test_what_the_harness_was_called_before_is_read() -> None:
    former = {"name": "mine", "conduct": {"kind": "conduct", "warn": 0.7}}
    policy = find_policy(former)
    assert policy == find_policy({"name": "mine", "harness": {"warn": 0.7}})
    written = policy.model_dump(mode="json")
    assert (written["harness"]["kind"], "conduct" in written) == ("harness", False)
    assert find_policy(written) == policy
    assert policy.configured({"conduct.warn": 0.8}) == policy.configured({"harness.warn": 0.8})
    assert read_edits({"settings": {"conduct.warn": 0.8}}).settings == {"harness.warn": 0.8}
    for refused in (policy.configured, lambda settings: read_edits({"settings": settings})):
        with pytest.raises(PolicyError, match=r"conduct\.warn is called harness\.warn now, and both are set"):
            refused({"conduct.warn": 0.8, "harness.warn": 0.8})


class Bare(Rule):
    """A rule that does not say what it decides."""

    kind: Literal["bare"] = "bare"


class CutsAtTheEnd(Bare):
    """A rule as a package brings it: a class with a kind and a decision."""

    title: ClassVar[str] = "Cut at the end"
    phrase: ClassVar[str] = "the cut stands at the end"
    cuts: ClassVar[bool] = True

    kind: Literal["cut-at-the-end"] = "cut-at-the-end"  # type: ignore[assignment]

    def decide(self, table: Table) -> Decision:
        return Decision(cut=len(table.live))


class Nameless(Rule):
    """A rule whose kind has no default."""

    def decide(self, table: Table) -> Decision:
        return Decision()


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (5, "a subclass of Rule is needed, not 5"),
        (CutsAtTheEnd(), "a subclass of Rule is needed, not"),
        (Trigger, "a subclass of Rule is needed, not"),
        (Bare, "policy 'bare': it needs a method decide"),
        (Nameless, "policy 'Nameless': its field `kind` needs a default"),
    ],
)
def test_what_is_no_class_of_rules_is_refused(value: Any, said: str) -> None:
    with pytest.raises(PolicyError, match=said):
        add_rule(value)


def test_a_rule_without_a_decision_fails_with_its_name() -> None:
    session = open_demo()
    with pytest.raises(PolicyError, match="policy 'bare': this rule has no method decide"):
        make_plan(session, count_tokens(session), Policy(name="mine", rules=(Bare(),)))


def test_a_class_of_rules_is_known_by_its_kind() -> None:
    add_rule(CutsAtTheEnd)
    assert find_rule("cut-at-the-end") is CutsAtTheEnd
    session = open_demo()
    plan = make_plan(session, count_tokens(session), {"name": "mine", "rules": [{"kind": "cut-at-the-end"}]})
    assert plan.place == len(plan.table.live)


def test_a_package_names_a_class_of_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    here = [f"{__name__}:{name}" for name in ("CutsAtTheEnd", "Bare", "CAREFUL", "nothing_of_that_name")]
    points = [EntryPoint("any", value, "inspector.rules") for value in here]
    monkeypatch.setattr(rule_registry, "entry_points", lambda group: points)
    rule_registry._from_packages.cache_clear()
    try:
        assert rule_registry._from_packages() == (CutsAtTheEnd,)
    finally:
        rule_registry._from_packages.cache_clear()


def test_what_is_no_rule_is_refused_at_once() -> None:
    with pytest.raises(PolicyError, match="a function is needed, not 5"):
        rule(5)  # type: ignore[arg-type]
    for where in ("wherever", None):
        with pytest.raises(PolicyError, match=r"where: .*everywhere, older"):
            rule(where=where)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "answer",
    [
        ("truncated", 5),
        ("truncated", None),
        ["dropped", "x"],
        ["truncated"],
        [["truncated"], "x"],
        {},
        5,
        True,
    ],
)
def test_an_answer_that_is_none_is_refused(answer: Any) -> None:
    rule(lambda block: answer, name="odd")
    session = open_demo()
    with pytest.raises(PolicyError, match="it answered"):
        make_plan(session, count_tokens(session), "odd")


def test_a_list_answers_like_a_tuple() -> None:
    session = open_demo()
    ledger = count_tokens(session)
    left = []
    for kind in (tuple, list):
        rule(
            lambda block, kind=kind: kind(["truncated", "x"]) if block.is_tool_output else None, name="short"
        )
        left.append(make_plan(session, ledger, "short"))
    assert left[0].after == left[1].after < left[0].before


@pytest.mark.parametrize(
    ("given_policy", "said"),
    [
        ({"name": "x", "rules": [{"turns": 2}]}, "policy 'x': rule 1 has no kind"),
        ({"name": "x", "rules": [{"kind": "keep-system"}, {"turns": 2}]}, "policy 'x': rule 2 has no kind"),
        (
            {"name": "x", "rules": [{"kind": "nope"}]},
            "policy 'x': rule 1: no such kind of rule 'nope'; known: ",
        ),
        ({"name": "x", "rules": [{"kind": ["nope"]}]}, "policy 'x': rule 1: no such kind of rule"),
        ({"name": "x", "trigger": {"ration": 1}}, "policy 'x': trigger.ration: "),
        ({"name": "x", "trigger": 5}, "policy 'x': trigger: "),
        ({"name": "x", "target": {"ratio": 7}}, "policy 'x': target.ratio: "),
        ({"name": "x", "harness": {"mood": 7}}, "policy 'x': harness.mood: "),
        ({"name": "x", "conduct": {"mood": 7}}, "policy 'x': harness.mood: "),
        ({"name": "x", "conduct": 5}, "policy 'x': harness: "),
        (
            {"name": "x", "harness": {}, "conduct": {}},
            "policy 'x': conduct is called harness now, and both are given",
        ),
        ({"name": "x", "stages": [{"name": "a", "rules": 5}]}, "policy 'x': stages[0].rules: "),
        (
            {"name": "x", "rules": [{"kind": "keep-system"}, {"kind": "keep-recent-turns", "turns": -1}]},
            "policy 'x': rules[1].turns: ",
        ),
        ('{"name": "x", "rules": []}' + " " * 99, "pass the parsed object"),
        ("[1, 2]", "pass the parsed object"),
    ],
)
def test_what_is_wrong_in_a_policy_is_told_with_the_way_there(given_policy: Any, said: str) -> None:
    with pytest.raises(PolicyError) as caught:
        find_policy(given_policy)
    assert said in str(caught.value)
    if not isinstance(given_policy, dict):
        assert len(str(caught.value)) < 150


def test_what_is_no_policy_at_all_is_refused_at_the_door() -> None:
    with pytest.raises(ArgumentError, match="policy must be a text or a Policy or a dict, not 5"):
        find_policy(5)  # type: ignore[arg-type]


def test_a_rule_can_be_written_again() -> None:
    rule(shorten_outputs)

    @rule(name="shorten-outputs")
    def second(block):  # type: ignore[no-untyped-def]
        """Nothing is done."""

    session = open_demo()
    plan = make_plan(session, count_tokens(session), "shorten-outputs")
    assert plan.after == plan.before


def test_the_public_name_is_the_decorator() -> None:
    assert inspector.rule is rule


def test_a_block_knows_how_many_turns_came_after_its_own() -> None:
    seen: dict[str, int] = {}

    @rule(name="look-at-turns")
    def look(block):  # type: ignore[no-untyped-def]
        seen[block.text] = block.turns_ago

    session = build(
        user("3 first"),
        say("3"),
        user("2 next"),
        say("2"),
        user("1 again"),
        say("1"),
        user("0"),
        say("0 end"),
    )
    make_plan(session, count_tokens(session, LENGTH), "look-at-turns", reason="manual")
    assert len(seen) == len(session.entries)
    assert seen == {text: int(text[0]) for text in seen}


def test_a_rule_sees_the_call_of_an_output_also_where_the_context_begins_with_it() -> None:
    asked = ToolCall(id="c", name="Grep", input={"pattern": "tide"})
    session = build(
        Entry(id="", role="assistant", blocks=(asked,)),
        Entry(id="", role="tool", blocks=(ToolOutput(call_id="c", parts=(Text(text="none"),)),)),
        user("go on"),
    )
    seen = {}

    @rule(name="look-at-calls")
    def function(block):  # type: ignore[no-untyped-def]
        seen[block.kind] = block.tool, block.input

    make_plan(session, count_tokens(session, LENGTH), "look-at-calls", window=10_000)
    called = ("Grep", {"pattern": "tide"})
    assert seen == {"tool_call": called, "tool_output": called, "text": (None, None)}
