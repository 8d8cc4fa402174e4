"""Edits at the wire as a request says them, held to the documented defaults and the SDK's own types."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from inspector.errors import PolicyError
from inspector.planning.assemble import build_context
from inspector.planning.planner import make_plan
from inspector.policies.base_rule import Rule
from inspector.policies.builtin.anthropic_context_editing import ANTHROPIC_CONTEXT_EDITING as EDITING
from inspector.policies.builtin.claude_code import CLAUDE_CODE
from inspector.policies.builtin.stud import STUD_WIKI
from inspector.policies.policy import Policy, Stage
from inspector.policies.rules.clear_thinking import ClearThinking
from inspector.policies.rules.clear_tool_outputs import ClearToolOutputs, DropOldOutputs
from inspector.policies.rules.summarise_all import SummariseAll
from inspector.policies.table import FATES
from inspector.session.session import Session
from inspector.wire.checks import check_context
from inspector.wire.context_management import BETAS, context_management, list_betas
from tests.reference.context_management import read_context_management
from tests.reference.context_management import with_context_management as beside
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


def test_a_policy_is_exported_by_its_name_too() -> None:
    assert context_management("anthropic-context-editing") == context_management(EDITING)
    with pytest.raises(PolicyError, match="no such policy"):
        context_management("nobody's")


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


TOOLS, COMPACTION, THOUGHTS = "clear_tool_uses_20250919", "compact_20260112", "clear_thinking_20251015"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"edits": [{"type": TOOLS}, {"type": TOOLS, "keep": None}]}, f"{TOOLS}: two edits"),
        ({"compact": True, COMPACTION: True}, f"{COMPACTION}: two edits"),
        ({"edits": [], "keeep": 3}, "'keeep'"),
        ({"clear_tool_uses": {"keeep": {"type": "tool_uses", "value": 3}}}, "'keeep'.*exclude_tools"),
        ({"clear_tool_uses": {"trigger": {"type": "minutes", "value": 3}}}, "trigger: type: 'minutes'"),
        ({"compact": {"trigger": {"type": "tool_uses", "value": 60_000}}}, "trigger: type: 'tool_uses'"),
        ({"compact": {"trigger": {"type": "input_tokens", "value": 49_999}}}, "trigger: .*50,000"),
        ({"compact": {"type": TOOLS}}, f"{COMPACTION}: its type"),
        ({"compact": {"instructions": 5}}, "instructions"),
        ({"compact": {"pause_after_compaction": "yes"}}, "pause_after_compaction"),
        ({"compact": 5}, "compact: an object"),
        ({"edits": [5]}, r"edits\[0\]"),
        ({"edits": [{"type": ["x"]}]}, "no edit"),
        ({"clear_tool_uses": {"keep": 3}}, "keep: an object"),
        ({"clear_tool_uses": {"keep": {"type": "tool_uses", "value": "3"}}}, "keep: value"),
        ({"clear_tool_uses": {"keep": {"type": "tool_uses", "value": True}}}, "keep: value"),
        ({"clear_tool_uses": {"keep": {"type": "tool_uses", "value": -1}}}, "keep: "),
        ({"clear_tool_uses": {"keep": {"type": "tool_uses", "valeu": 3}}}, "'valeu'"),
        ({"clear_tool_uses": {"exclude_tools": "bash"}}, "exclude_tools"),
        ({"clear_tool_uses": {"clear_tool_inputs": [5]}}, "clear_tool_inputs"),
        ({"clear_thinking": {"keep": {"type": "thinking_turns", "value": 0}}}, f"{THOUGHTS}: keep: "),
        ({"clear_thinking": {"keep": "none"}}, f"{THOUGHTS}: keep: "),
    ],
)
def test_S0_45_what_the_api_would_refuse_is_one_line_that_names_the_field(wrong: Any, said: str) -> None:
    with pytest.raises(PolicyError, match=said) as caught:
        read_context_management(wrong)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 240


def test_S0_45_a_compaction_s_words_to_the_provider_change_no_rule() -> None:
    told = {"instructions": "Keep names.", "pause_after_compaction": True, "trigger": None}
    assert read_context_management({"compact": told}) == read_context_management({"compact": True})
    assert read_context_management({"clear_thinking": {"keep": "all"}}) == (ClearThinking(keep="all"),)


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


def test_S0_52_edits_beside_a_policy_of_stages_stand_in_none_and_are_made_at_every_request() -> None:
    added = beside(CLAUDE_CODE, read_context_management({"clear_thinking": True}))
    assert added.stages == CLAUDE_CODE.stages
    assert added.rules == (*CLAUDE_CODE.rules, ClearThinking())
    plain = beside("stud-wiki-1.1", read_context_management({"clear_thinking": True}))
    assert plain.rules == (*STUD_WIKI.rules, ClearThinking())
    assert plain.stages == ()
    staged = added.model_copy(
        update={"stages": (*added.stages, Stage(name="wire", rules=("clear-thinking",)))}
    )
    assert beside(staged, [ClearThinking(keep=2)]).stages == CLAUDE_CODE.stages


def test_a_provider_s_compaction_never_takes_the_place_of_the_policy_s_own() -> None:
    compact = read_context_management({"compact": True})
    with pytest.raises(PolicyError, match=r"'summarise-all' is done by the harness.*summarise-all\.enabled"):
        beside(CLAUDE_CODE, compact)
    off = beside(CLAUDE_CODE.configured({"summarise-all.enabled": False}), compact)
    assert [rule for rule in off.rules if rule.kind == "summarise-all"] == list(compact)
    assert not [stage.name for stage in off.stages if "summarise-all" in stage.rules]
    sooner = (SummariseAll(by="provider", above=90_000),)
    assert [rule for rule in beside(EDITING, sooner).rules if rule.kind == "summarise-all"] == list(sooner)
    with pytest.raises(PolicyError, match="two of one kind"):
        beside(STUD_WIKI, [*sooner, *compact])


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
