"""Policies by name, and compaction tools by theirs: what a harness names is what compacts."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from inspector.errors import PolicyError
from inspector.planning.assemble import build_context
from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.policies.builtin.stud import STUD_WARNING
from inspector.policies.families import FAMILIES
from inspector.policies.policy import Policy
from inspector.policies.registry import POLICIES, find_policy, find_tool, list_policies
from inspector.policies.table import FATES
from inspector.replays.engine import replay
from tests.policies.test_part import knob
from tests.test_checklist_s0 import count, talk

WINDOW = 2_000


def plan_with(engine: str | None, policy: str | Policy | dict[str, Any] = "stud-warning") -> Plan:
    session = talk(8)
    edits = {"settings": {"harness.engine": engine}} if engine else None
    return make_plan(session, count(session), policy, edits, window=WINDOW, reason="manual")


def fates(plan: Plan) -> list[str]:
    return [FATES[code] for code in plan.fate]


def test_S1_35_the_bundled_tool_is_the_default_engine_of_the_warning_profile() -> None:
    assert find_policy("stud-warning").harness.engine == "tool:context-compaction"
    assert find_tool("tool:context-compaction").rules == STUD_WARNING.rules
    # A policy that names the tool and has no rules of its own compacts by the tool's.
    named = {"name": "mine", "harness": {"engine": "tool:context-compaction", "mode": "manual"}}
    plan = plan_with(None, named)
    assert plan.summarises and fates(plan) == fates(plan_with(None))
    assert build_context(plan.session, plan) == build_context(plan.session, plan_with(None))
    # Policies that were written down before tools had names.
    assert find_policy(named | {"harness": {"engine": "tool"}}).harness.tool == "context-compaction"


@pytest.mark.parametrize("engine", ["tool:no-such-tool", "tools", "tool:", "Core"])
def test_S1_36_a_tool_that_nobody_registered_is_named(engine: str) -> None:
    with pytest.raises(PolicyError, match=engine):
        plan_with(engine)


def test_S1_5_without_its_tool_a_harness_has_nothing_that_compacts() -> None:
    session = talk(8)
    acts = {"acts": [{"at": session.entries[-2].id, "do": "compact"}]}
    found = []
    for tool in (True, False):
        run = replay(session, "stud-warning", acts | {"tool": tool}, ledger=count(session), window=9_000)
        found.append((len(run.adopted), "suggested" in {event.kind for event in run.events}))
    assert found == [(1, False), (0, True)]


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        # PEERS §1, by the versions that each policy names.
        ("langchain-summarization", {"trigger.ratio": 0.85, "keep-recent-share.amount": 20}),
        ("langchain-trim", {"trigger.tokens": 20_000, "keep-recent-share.amount": 20_000}),
        ("langchain-clear", {"trigger.tokens": 100_000, "drop-old-outputs.keep": 3}),
        (
            "inspect-edit",
            {"trigger.ratio": 0.9, "keep-newest-reasoning.replies": 1, "drop-old-outputs.keep": 3},
        ),
        ("inspect-trim", {"trigger.ratio": 0.9, "drop-last-replies.most": 1, "keep-recent-share.share": 0.8}),
        ("openhands", {"trigger.tokens": 240, "condense-middle.events": 240, "condense-middle.first": 2}),
        ("codex", {"trigger.ratio": 0.9, "keep-user-words.tokens": 20_000}),
        (
            "gemini-cli",
            {
                "trigger.ratio": 0.5,
                "keep-recent-share.share": 0.3,
                "budget-outputs.tokens": 50_000,
                "budget-outputs.characters": 40_000,
            },
        ),
        ("flue", {"trigger.reserve_tokens": 16_384, "keep-recent-tokens.tokens": 20_000}),  # FLUE §5
        ("flue-2", {"trigger.reserve_tokens": 20_000, "keep-recent-tokens.tokens": 8_000}),  # FLUE §13.1
        ("pi", {"trigger.reserve_tokens": 16_384, "keep-recent-tokens.tokens": 20_000}),  # FLUE §13.2
        (
            "mini-claude-code-compat",  # TIERED §3 to §5
            {
                "trigger.budget": 24_000,
                "trigger.ratio": 0.75,
                "target.ratio": 0.5,
                "target.recovery": 0.7,
                "keep-root.messages": 1,
                "keep-recent-messages.messages": 6,
                "point-large-outputs.characters": 600,
                "snip-long-text.characters": 2_000,
                "snip-everything.characters": 2_000,
                "drop-middle.first": 1,
                "drop-middle.last": 6,
                "harness.recoveries": 1,
                "harness.retries": 0,
            },
        ),
        ("stud-wiki-1.1", {"trigger.ratio": 0.8, "keep-recent-turns.turns": 4}),  # S0-12, S0-24
        ("stud-warning", {"harness.warn": 0.8, "harness.require": 0.95}),  # S1-4
        ("stud-merged", {"trigger.ratio": 0.8, "harness.warn": 0.8, "harness.require": 0.95}),  # STUD §12
        (
            "claude-code-analysis",  # CLAUDE §1, §2.5; the turns are not told there, and ours
            {
                "trigger.ratio": 0.95,
                "harness.warn": 0.8,
                "harness.require": 0.95,
                "harness.breaker": 3,
                "truncate-outputs.limit": 30_000,
                "spill-outputs.budget": 50_000,
                "drop-oldest-turns.turns": 10,
                "collapse.turns": 4,
            },
        ),
        (
            "anthropic-context-editing",  # CLAUDE §4, §5.1
            {
                "trigger.tokens": 150_000,
                "summarise-all.above": 150_000,
                "clear-tool-outputs.keep": 3,
                "clear-tool-outputs.trigger_tokens": 100_000,
            },
        ),
    ],
)
def test_the_figures_of_a_policy_are_those_that_its_source_publishes(
    name: str, figures: dict[str, float]
) -> None:
    policy = find_policy(name)
    found = {setting: knob(policy, *setting.split(".")) for setting in figures}
    assert found == figures


@pytest.mark.parametrize("policy", list_policies(), ids=lambda policy: policy.name)
@pytest.mark.parametrize("mode", ["python", "json"])
def test_a_policy_is_read_again_from_what_it_dumps(policy: Policy, mode: Literal["python", "json"]) -> None:
    again = Policy.model_validate(policy.model_dump(mode=mode))
    assert again == policy and [type(rule) for rule in again.rules] == [type(rule) for rule in policy.rules]
    changed = policy.model_copy(update={"name": "mine", "title": "", "rules": policy.rules[::-1]})
    assert Policy.model_validate(changed.model_dump(mode=mode)).rules == policy.rules[::-1]


def test_every_built_in_policy_is_listed_once() -> None:
    listed = [name for family in FAMILIES for name in family.policies]
    assert sorted(listed) == sorted(policy.name for policy in POLICIES)
