"""Edits at the wire as a request says them, held to the documented defaults and the SDK's own types."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from inspector.assembly import build_context
from inspector.editing import BETAS, context_management, list_betas, read_context_management
from inspector.editing import with_context_management as beside
from inspector.errors import PolicyError
from inspector.plan import make_plan
from inspector.policies.anthropic_context_editing import ANTHROPIC_CONTEXT_EDITING as EDITING
from inspector.policies.claude_code import CLAUDE_CODE
from inspector.policies.stud import STUD_WIKI
from inspector.policy import Policy, Rule
from inspector.rules.clear_thinking import ClearThinking
from inspector.rules.clear_tool_outputs import ClearToolOutputs, DropOldOutputs
from inspector.rules.summarise_all import SummariseAll
from inspector.session import Session
from inspector.table import FATES
from inspector.wire import check_context
from tests.test_checklist_s0 import chain, count, talk, turn

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
    rules = (ClearToolOutputs(), ClearThinking(keep=2), SummariseAll(by="provider", above=1_000))
    management = context_management(Policy(name="mine", rules=rules))
    assert management is not None
    assert [edit["type"] for edit in management["edits"]] == list(BETAS)
    assert management["edits"][2]["trigger"]["value"] == 50_000  # the API takes no less
    off = EDITING.configured({"clear-thinking.enabled": False, "summarise-all.enabled": False})
    assert context_management(off) == {"edits": [TOOL_DEFAULTS]}


def test_what_a_client_does_by_itself_is_no_context_management() -> None:
    rules = (DropOldOutputs(), SummariseAll())
    assert context_management(Policy(name="mine", rules=rules)) is None
    assert context_management(CLAUDE_CODE) is None
    assert list_betas(None) == []


def test_every_edit_names_its_beta_header() -> None:
    assert list_betas(context_management(EDITING)) == [
        "context-management-2025-06-27",
        "compact-2026-01-12",
    ]


def test_names_and_shapes_are_the_sdk_s_own() -> None:
    types = pytest.importorskip("anthropic.types.beta", reason="the anthropic package is not installed")
    config = getattr(types, "BetaContextManagementConfigParam", None)
    if config is None:
        pytest.skip("this version of the anthropic package has no context management")
    full = ClearToolOutputs(
        keep=5, exclude_tools=("memory",), clear_inputs=("bash",), clear_at_least=5_000, trigger_uses=20
    )
    adapter = TypeAdapter(config)
    for policy in (EDITING, Policy(name="mine", rules=(full, ClearThinking(keep="all")))):
        for model in ("claude-haiku-4-5", "claude-opus-4-6", None):
            management = context_management(policy, model)
            assert management is not None
            adapter.validate_python(management)
            for edit in management["edits"]:
                name = "".join(part.title() for part in edit["type"].rpartition("_")[0].split("_"))
                param = getattr(types, f"Beta{name}{edit['type'].rpartition('_')[2]}EditParam")
                assert set(edit) <= set(param.__annotations__)


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


def test_S0_45_an_edit_that_is_off_is_none_and_an_unknown_one_is_named() -> None:
    assert read_context_management({"clear_thinking": False}) == ()
    for wrong in ({"clear_everything": True}, {"edits": [{"type": "compact_20990101"}]}, {"edits": 5}, [1]):
        with pytest.raises(PolicyError, match="context_management"):
            read_context_management(wrong)
    with pytest.raises(PolicyError, match="clear_thinking"):
        read_context_management({"clear_thinking": {"keep": {"type": "thinking_turns", "value": 0}}})


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


def test_edits_beside_a_policy_of_stages_come_after_all_of_them() -> None:
    added = beside(CLAUDE_CODE, read_context_management({"clear_thinking": True}))
    assert (added.stages[-1].name, added.stages[-1].rules) == ("wire", ("clear-thinking",))
    plain = beside(STUD_WIKI, read_context_management({"clear_thinking": True}))
    assert plain.rules[-1].kind == "clear-thinking"
    assert plain.stages == ()


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        (90_000, {"verbatim"}),
        (120_000, {"verbatim", "cleared"}),
        (160_000, {"summarised"}),
    ],
)
def test_clearing_begins_above_100_000_tokens_and_compaction_above_150_000(
    tokens: int, expected: set[str]
) -> None:
    each = (tokens - 60) // 6
    session = talk_with(each)
    plan = make_plan(session, count(session), EDITING)
    assert {FATES[code] for code in plan.fate} == expected
    assert check_context(build_context(session, plan), awaits_user=True) == ()
    if expected == {"verbatim", "cleared"}:
        outputs = [
            FATES[code] for code, section in zip(plan.fate, plan.table.kind, strict=True) if section == 3
        ]
        assert outputs == ["cleared"] * 3 + ["verbatim"] * 3


def talk_with(words: int) -> Session:
    return chain(*(entry for n in range(6) for entry in turn(n, output="word " * words)))


def test_a_compact_by_hand_is_not_held_to_the_threshold() -> None:
    session = talk(3)
    plan = make_plan(session, count(session), EDITING, reason="manual")
    assert {FATES[code] for code in plan.fate} == {"summarised"}
