"""Edits at the wire as a request says them, held to the documented defaults and the SDK's own types."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.errors import PolicyError
from inspector.policies.base_rule import Rule
from inspector.policies.builtin.anthropic_context_editing import ANTHROPIC_CONTEXT_EDITING as EDITING
from inspector.policies.builtin.claude_code_analysis import CLAUDE_CODE_ANALYSIS
from inspector.policies.builtin.stud import STUD_WIKI
from inspector.policies.policy import Policy
from inspector.policies.rules.clear_thinking import ClearThinking
from inspector.policies.rules.clear_tool_outputs import ClearToolOutputs
from inspector.policies.rules.summarise_all import SummariseAll
from inspector.wire.context_management import BETAS, context_management, list_betas
from tests.reference.context_management import read_context_management
from tests.reference.context_management import with_context_management as beside

TOOL_DEFAULTS = {
    "type": "clear_tool_uses_20250919",
    "trigger": {"type": "input_tokens", "value": 100_000},
    "keep": {"type": "tool_uses", "value": 3},
    "clear_tool_inputs": False,
}
COMPACT_DEFAULTS = {"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": 150_000}}


@pytest.mark.parametrize(
    ("model", "keep"),
    [
        ("claude-opus-4-1", {"type": "thinking_turns", "value": 1}),
        ("claude-haiku-4-5", {"type": "thinking_turns", "value": 1}),
        ("claude-sonnet-4-5", {"type": "thinking_turns", "value": 1}),
        ("claude-opus-4-5", {"type": "all"}),
        ("claude-sonnet-4-6", {"type": "all"}),
        ("claude-fable-5-1", {"type": "all"}),
        (None, None),
    ],
)
def test_the_policy_is_exported_with_the_documented_defaults_of_the_model(model: Any, keep: Any) -> None:
    thinking = {"type": "clear_thinking_20251015", **({"keep": keep} if keep else {})}
    assert context_management(EDITING, model) == {"edits": [thinking, TOOL_DEFAULTS, COMPACT_DEFAULTS]}


def test_thinking_is_listed_first_and_what_is_switched_off_is_not_listed() -> None:
    rules = (
        ClearToolOutputs(trigger_uses=9),
        ClearThinking(keep=2),
        SummariseAll(by="provider", above=50_000),
    )
    management = context_management(Policy(name="mine", rules=rules))
    assert management is not None
    assert [edit["type"] for edit in management["edits"]] == list(BETAS)
    assert [edit.get("trigger", {}).get("value") for edit in management["edits"]] == [None, 9, 50_000]
    off = EDITING.configured({"clear-thinking.enabled": False, "summarise-all.enabled": False})
    assert context_management(off) == {"edits": [TOOL_DEFAULTS]}


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (ClearToolOutputs(), "clear-tool-outputs.trigger_tokens .* not set.* the least is 0"),
        (ClearToolOutputs(trigger_tokens=1, trigger_uses=1), "trigger_uses are both set"),
        (SummariseAll(by="provider"), "summarise-all.above is not set.* 50,000"),
        (SummariseAll(by="provider", above=49_999), "summarise-all.above is 49,999.* 50,000"),
    ],
)
def test_what_no_request_can_say_is_refused_by_the_setting_s_name(rule: Rule, said: str) -> None:
    with pytest.raises(PolicyError, match=f"mine.*{said}"):
        context_management(Policy(name="mine", rules=(rule,)))


def test_every_edit_names_its_beta_header() -> None:
    assert list_betas(context_management(EDITING)) == ["context-management-2025-06-27", "compact-2026-01-12"]


@pytest.mark.parametrize(
    "given_config",
    [
        {"clear_thinking": True, "clear_tool_uses": True, "compact": True},
        {
            "edits": [
                {"type": "clear_thinking_20251015"},
                {"type": "clear_tool_uses_20250919"},
                {"type": "compact_20260112"},
            ]
        },
        {"clear_tool_uses": {"keep": {"type": "tool_uses", "value": 3}}, "compact": {}, "clear_thinking": {}},
    ],
)
def test_S0_45_a_provider_entry_s_settings_are_read_with_the_documented_defaults(given_config: Any) -> None:
    rules = read_context_management(given_config)
    assert context_management(Policy(name="mine", rules=rules)) == context_management(EDITING)


wire_rules: st.SearchStrategy[Rule] = st.one_of(
    st.builds(ClearThinking, keep=st.integers(1, 9) | st.just("all")),
    st.builds(
        ClearToolOutputs,
        keep=st.integers(0, 9),
        exclude_tools=st.sampled_from([(), ("a",), ("a", "b")]),
        clear_inputs=st.booleans() | st.just(("a",)),
        clear_at_least=st.none() | st.integers(0, 9_000),
        trigger_uses=st.integers(1, 50),
    ),
    st.builds(SummariseAll, by=st.just("provider"), above=st.integers(50_000, 10**6)),
)


@given(st.lists(wire_rules, unique_by=lambda rule: rule.kind))
def test_S0_45_reading_what_was_exported_gives_the_same_rules(rules: list[Rule]) -> None:
    management = context_management(Policy(name="mine", rules=tuple(rules)))
    read = () if management is None else read_context_management(management)
    assert {rule.kind: rule for rule in read} == {rule.kind: rule for rule in rules}


def test_a_provider_s_compaction_never_takes_the_place_of_the_policy_s_own() -> None:
    compact = read_context_management({"compact": True})
    with pytest.raises(PolicyError, match=r"'summarise-all' is done by the harness.*summarise-all\.enabled"):
        beside(CLAUDE_CODE_ANALYSIS, compact)
    off = beside(CLAUDE_CODE_ANALYSIS.configured({"summarise-all.enabled": False}), compact)
    assert [rule for rule in off.rules if rule.kind == "summarise-all"] == list(compact)
    assert not [stage.name for stage in off.stages if "summarise-all" in stage.rules]
    sooner = (SummariseAll(by="provider", above=90_000),)
    assert [rule for rule in beside(EDITING, sooner).rules if rule.kind == "summarise-all"] == list(sooner)
    with pytest.raises(PolicyError, match="a kind is listed twice"):
        beside(STUD_WIKI, [*sooner, *compact])
