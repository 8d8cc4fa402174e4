"""A rule that is added to a policy: by a setting, by hand, from the workbench; its place, what is refused."""

from __future__ import annotations

import json
import re
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import inspector
from inspector import build_context, count_tokens, live_context, make_plan, open_demo
from inspector.errors import PolicyError
from inspector.planning.diff.contexts import diff_contexts, patch_context
from inspector.planning.plan import Plan
from inspector.policies.custom_rule import rule
from inspector.policies.policy import Edits, Policy
from inspector.policies.registry import POLICIES, find_policy
from inspector.policies.rules import RULES, kind_of
from inspector.policies.rules.dedupe_reads import DedupeReads
from inspector.session.session import Session
from inspector.workbench.model import WorkbenchModel
from inspector.workbench.page.export import export_html
from inspector.workbench.payloads.base_payload import to_json
from inspector.workbench.payloads.rules import find_added, offer_rules
from inspector.workbench.payloads.scene import draw_plan
from tests.refusals import check_adds_none
from tests.strategies import sessions

KINDS = [kind_of(rule) for rule in RULES if not rule.locked]
PAIRS = [
    (policy, kind) for policy in POLICIES for kind in KINDS if kind not in {r.kind for r in policy.rules}
]


def plan_bundled(policy: Any = "flue", **edits: Any) -> Plan:
    session = open_demo()
    return make_plan(session, count_tokens(session), policy, edits)


def kinds(policy: Policy) -> list[str]:
    return [rule.kind for rule in policy.rules]


def test_the_switch_of_a_rule_that_a_policy_lacks_adds_it() -> None:
    plan = plan_bundled(settings={"clear-tool-outputs.enabled": True, "clear-tool-outputs.keep": 5})
    assert kinds(plan.policy) == [*kinds(find_policy("flue")), "clear-tool-outputs"]
    assert plan.policy.rules[-1].keep == 5  # type: ignore[attr-defined]
    assert plan.after < plan_bundled().after
    off = plan_bundled(settings={"clear-tool-outputs.enabled": False})
    assert kinds(off.policy) == kinds(plan.policy)
    assert off.after == plan_bundled().after


def test_by_hand_it_is_a_policy_of_its_own_that_plans_the_same() -> None:
    policy = find_policy("flue").add("clear-tool-outputs", keep=5)
    assert (policy.name, policy.title) == (
        "flue-and-clear-tool-outputs",
        "Flue (May 2026) and clear tool outputs in the request",
    )
    assert find_policy("flue").add(DedupeReads()).rules == find_policy("flue").add("dedupe-reads").rules
    by_setting = plan_bundled(settings={"clear-tool-outputs.enabled": True, "clear-tool-outputs.keep": 5})
    by_hand = plan_bundled(policy)
    assert by_hand.policy.rules == by_setting.policy.rules
    assert by_hand.fate.tolist() == by_setting.fate.tolist()
    assert (by_hand.place, by_hand.after) == (by_setting.place, by_setting.after)


def test_the_particular_stands_before_the_general_and_what_the_provider_does_comes_last() -> None:
    inputs = ("clear-thinking", "drop-reasoning", "keep-root", "dedupe-reads")
    settings = {f"{kind}.enabled": True for kind in inputs}
    assert kinds(find_policy("flue").configured(settings)) == [
        "keep-system",
        "keep-root",
        "keep-recent-tokens",
        "carry-file-operations",
        "dedupe-reads",
        "drop-reasoning",
        "summarise-older",
        "clear-thinking",
    ]


def test_the_order_in_which_rules_were_added_makes_no_difference() -> None:
    inputs = ("clear-thinking", "drop-reasoning", "keep-root", "dedupe-reads")
    made = {
        tuple(kinds(find_policy("codex").configured({f"{kind}.enabled": True for kind in order})))
        for order in permutations(inputs)
    }
    assert len(made) == 1


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            {"keep-recent-turns.enabled": True},
            "keep-recent-turns and keep-recent-tokens both say where the cut",
        ),
        (
            {"drop-older.enabled": True},
            r"both take everything before the cut; .* \(summarise-older.enabled\)",
        ),
        ({"dedupe-read.enabled": True}, "it has no rule 'dedupe-read'; known: "),
        (
            {"dedupe-reads.tools": ["Read"]},
            "it has no rule 'dedupe-reads', and dedupe-reads.enabled, which would",
        ),
        ({"dedupe-reads.enabled": 5}, "dedupe-reads.enabled = 5: "),
        ({"dedupe-reads.enabled": True, "dedupe-reads.size": 1}, "rule 'dedupe-reads' has no setting 'size'"),
        ({"target.enabled": True}, "it has no rule 'target'"),
        ({".enabled": True}, "it has no rule ''"),
    ],
)
def test_what_cannot_be_added_is_told_in_a_sentence(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(PolicyError, match=f"policy 'flue': .*{said}"):
        plan_bundled(settings=settings)


def test_by_hand_the_same_is_told() -> None:
    flue = find_policy("flue")
    with pytest.raises(PolicyError, match="it has a rule 'keep-system'"):
        flue.add("keep-system")
    with pytest.raises(PolicyError, match=r"there is no kind of rule 'dedupe-red'; known: .*dedupe-reads"):
        flue.add("dedupe-red")
    with pytest.raises(PolicyError, match="both say where the cut stands"):
        flue.add("keep-recent-turns", turns=2)
    with pytest.raises(PolicyError, match="has no setting 'colour'"):
        flue.add("dedupe-reads", colour=1)


def test_a_rule_may_take_the_place_of_one_that_is_switched_off() -> None:
    settings = {"keep-recent-turns.enabled": True, "keep-recent-tokens.enabled": False}
    plan = plan_bundled(settings={**settings, "keep-recent-turns.turns": 2})
    other = make_plan(
        plan.session, plan.ledger, "keep-recent-turns", {"settings": {"keep-recent-turns.turns": 2}}
    )
    assert plan.place == other.place
    with pytest.raises(PolicyError, match="both say where the cut stands"):
        plan_bundled(settings={**settings, "keep-recent-tokens.enabled": True})


@given(sessions(orderly=True), st.sampled_from(PAIRS))
def test_a_policy_with_one_more_rule_obeys_the_laws(session: Session, pair: tuple[Policy, str]) -> None:
    policy, kind = pair
    ledger = count_tokens(session, "chars4_utf16")
    offer = next(
        o for o in offer_rules(make_plan(session, ledger, policy, window=10_000)).rules if o.kind == kind
    )
    assert offer.refused == ""
    plan = make_plan(session, ledger, policy, {"settings": offer.changes}, window=10_000)
    assert plan.after - make_plan(session, ledger, policy, window=10_000).after == offer.delta
    before, after = live_context(session, ledger), build_context(session, plan)
    assert after.tokens == plan.after
    assert patch_context(before, diff_contexts(before, after)) == after
    if not any(decision.unpaired for decision in plan.decisions):
        check_adds_none(before, after, plan, "loop_without_thinking")
    recipe = eval(plan.recipe, {"make_plan": make_plan, "session": session, "ledger": ledger, "Edits": Edits})
    assert recipe.policy == plan.policy and recipe.fate.tolist() == plan.fate.tolist()


def test_every_rule_that_could_be_added_is_offered_with_its_price() -> None:
    plan = plan_bundled()
    offers = {offer.kind: offer for offer in offer_rules(plan).rules}
    assert {*offers} == {*KINDS} - {*kinds(plan.policy)} | {own for own in offers if own not in KINDS}
    assert offers["keep-recent-turns"].instead == "Keep recent tokens"
    assert offers["summarise-all"].instead == "Keep recent tokens and Summarise older"
    for offer in offers.values():
        assert offer.title and offer.sentence and offer.source
        again = make_plan(plan.session, plan.ledger, "flue", {"settings": offer.changes})
        assert again.after - plan.after == offer.delta


def test_a_rule_of_ones_own_is_offered_and_one_that_fails_says_why() -> None:
    rule(lambda block: ("truncated", "x") if block.is_tool_output else None, name="shorten-all")
    rule(lambda block: 1 / 0, name="broken")
    offers = {offer.kind: offer for offer in offer_rules(plan_bundled()).rules}
    assert offers["shorten-all"].delta < 0
    assert "ZeroDivisionError" in offers["broken"].refused
    assert offers["broken"].changes == {}


def test_only_what_an_edit_has_added_can_be_removed() -> None:
    settings = {
        "dedupe-reads.enabled": True,
        "dedupe-reads.tools": ["Read"],
        "summarise-older.enabled": False,
        "summarise-older.cap": 5_000,
        "carry-file-operations.enabled": False,
        "drop-older.enabled": True,
    }
    plan = plan_bundled(settings=settings)
    picture, _ = draw_plan(plan)
    added = {rule.kind: rule.added for rule in picture.rules if rule.added}
    assert added == {
        "dedupe-reads": ["dedupe-reads.enabled", "dedupe-reads.tools"],
        "drop-older": ["drop-older.enabled", "summarise-older.enabled"],
    }, "what a rule took the place of comes back when it goes"
    assert json.loads(json.dumps(to_json(picture))) == to_json(picture)


def test_the_desk_keeps_cut_pins_and_plan_b_and_the_picker_keeps_its_policies() -> None:
    model = WorkbenchModel(open_demo())
    model.answer({})
    cut = model.plan.cuts.ids[int(model.plan.cuts.legal.nonzero()[0][4])]
    pin = model.plan.session.entries[model.plan.table.live.entries[1]].id
    model.answer(
        {"cut": cut, "pins": [pin], "settings": {"trigger.reserve_tokens": 9_000}, "versus": {"policy": "pi"}}
    )
    answer = model.answer({"settings": {**model.inputs["settings"], "dedupe-reads.enabled": True}})
    assert (model.inputs["cut"], model.inputs["pins"], model.inputs["policy"]) == (cut, [pin], "flue")
    assert model.other is not None and model.other.policy.name == "pi"  # type: ignore[union-attr]
    assert "_scene" not in answer
    held = {"policy": "flue", "settings": dict(model.inputs["settings"]), "cut": cut}
    model.answer({"versus": held, "settings": {}})
    assert "dedupe-reads" in kinds(model.other.policy)  # type: ignore[union-attr]
    with pytest.raises(PolicyError, match="both say"):
        model.answer({"settings": {"keep-recent-turns.enabled": True}})
    assert model.inputs["settings"] == {}


def test_what_was_wanted_opens_again_in_another_process() -> None:
    first = WorkbenchModel(open_demo())
    first.answer({"settings": {"dedupe-reads.enabled": True, "dedupe-reads.tools": ["Read"]}})
    second = WorkbenchModel(open_demo())
    second.answer(json.loads(json.dumps(first.inputs)))
    assert second.plan.policy == first.plan.policy
    assert second.plan.recipe == first.plan.recipe


def test_a_replay_lives_with_the_added_rule() -> None:
    model = WorkbenchModel(open_demo())
    model.answer({"settings": {"clear-tool-outputs.enabled": True}})
    model.run_replay()
    assert model.run is not None
    assert "clear-tool-outputs" in kinds(model.run.policy)


def test_an_exported_page_holds_the_plan_with_the_added_rule(tmp_path: Path) -> None:
    model = WorkbenchModel(open_demo())
    model.answer({"settings": {"clear-tool-outputs.enabled": True}})
    from inspector.redaction.clean import clean_session
    from inspector.redaction.redact import Redactor
    from inspector.workbench.page.precomputed import Answers

    page = export_html(model, tmp_path / "a.html", policies=[])
    assert page.size > 0
    redactor = Redactor()
    answers = Answers(model, redactor, clean_session(model.session, set(), redactor), ["flue"])
    own = answers.plans["flue"]["own"][0]
    assert [rule["kind"] for rule in own["rules"] if rule.get("added")] == ["clear-tool-outputs"]
    assert re.search(r"settings=\{'clear-tool-outputs\.enabled': True\}", own["recipe"])


def test_the_public_way_is_on_the_policy() -> None:
    assert inspector.Policy.add is Policy.add


def test_a_rule_whose_place_another_took_is_removed_alone() -> None:
    """What it took the place of first stays off as long as the other does that work."""
    first = plan_bundled(settings={"drop-older.enabled": True, "summarise-older.enabled": False})
    offer = next(offer for offer in offer_rules(first).rules if offer.kind == "summarise-all")
    plan = plan_bundled(settings={**first.edits.settings, **offer.changes})
    added = find_added(plan)
    assert added["drop-older"] == ["drop-older.enabled"]
    for kind, switches in added.items():
        left = {key: value for key, value in plan.edits.settings.items() if key not in switches}
        assert kind not in kinds(plan_bundled(settings=left).policy)
    back = {key: value for key, value in plan.edits.settings.items() if key not in added["summarise-all"]}
    assert back == {"drop-older.enabled": False}, "what the policy has of its own takes part again"


def test_a_rule_added_to_what_the_file_records_is_priced_against_it_and_can_be_removed() -> None:
    """The recorded summary stands on both sides of the difference, and the rule is known as an added one."""
    model = WorkbenchModel(open_demo(), "recorded")
    model.answer({})
    before = model.plan.after
    offers = {offer.kind: offer for offer in offer_rules(model.plan).rules}
    for kind in ("carry-file-operations", "clear-tool-outputs", "truncate-outputs"):
        model.answer({"settings": offers[kind].changes})
        assert offers[kind].delta == model.plan.after - before
        assert find_added(model.plan) == {kind: [f"{kind}.enabled"]}
        model.answer({"settings": {}})
    assert offers["clear-tool-outputs"].delta == 0


@pytest.mark.parametrize(("name", "meant"), [("fleu", "flue"), ("claud-code", "claude-code"), ("PI", None)])
def test_a_policy_that_is_misspelt_is_told_its_neighbour(name: str, meant: str | None) -> None:
    with pytest.raises(PolicyError) as raised:
        find_policy(name)
    told = str(raised.value)
    assert told.startswith(f"policy {name!r}: no such policy")
    assert ("did you mean" in told) is (meant is not None)
    if meant is not None:
        assert f" (did you mean {meant!r}?); known: " in told
        assert find_policy(meant).name == meant
