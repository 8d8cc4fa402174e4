"""A rule that is added to a policy: by a setting, by hand, from the workbench; its place, what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector import build_context, count_tokens, live_context, make_plan, open_demo
from inspector.errors import PolicyError
from inspector.planning.diff.contexts import diff_contexts
from inspector.planning.plan import Plan
from inspector.policies.policy import Edits, Policy
from inspector.policies.registry import POLICIES, find_policy
from inspector.policies.rules import RULES, kind_of
from inspector.policies.rules.dedupe_reads import DedupeReads
from inspector.session.session import Session
from inspector.workbench.model import WorkbenchModel
from inspector.workbench.payloads.rules import offer_rules
from tests.reference.patched import patch_context
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
        assert offer.title and offer.sentence
        again = make_plan(plan.session, plan.ledger, "flue", {"settings": offer.changes})
        assert again.after - plan.after == offer.delta


def test_what_was_wanted_opens_again_in_another_process() -> None:
    first = WorkbenchModel(open_demo())
    first.answer({"settings": {"dedupe-reads.enabled": True, "dedupe-reads.tools": ["Read"]}})
    second = WorkbenchModel(open_demo())
    second.answer(json.loads(json.dumps(first.inputs)))
    assert second.plan.policy == first.plan.policy
    assert second.plan.recipe == first.plan.recipe


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
