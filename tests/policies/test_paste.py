"""Settings to paste: every name belongs to a setting that the policy has, and the values mean the same."""

from __future__ import annotations

import pytest

from inspector.corpus.advice import Advice
from inspector.policies.paste import OPTIONS, HarnessSetting, write_setting
from inspector.policies.registry import find_policy


@pytest.mark.parametrize("name", OPTIONS)
def test_a_policy_has_every_setting_that_its_harness_names(name: str) -> None:
    policy = find_policy(name)
    parts = {part.kind: part for part in (*policy.fixed_parts, *policy.rules)}
    for key in OPTIONS[name][1]:
        kind, _, knob = key.partition(".")
        assert knob in type(parts[kind]).model_fields, key


def read_threshold(written: HarnessSetting | None, window: int) -> int | float:
    """Where Claude Code fires, as its run vectors have it: a share of its window less 20,000, or what a reply
    and 13,000 more leave of it."""
    lines = [] if written is None else written.text.split("\n")
    given = {name: int(value) for name, _, value in (line.partition("=") for line in lines)}
    given = {name.removeprefix("export "): value for name, value in given.items()}
    whole = given.get("CLAUDE_CODE_AUTO_COMPACT_WINDOW", window)
    if "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE" in given:
        return (whole - 20_000) * given["CLAUDE_AUTOCOMPACT_PCT_OVERRIDE"] / 100
    return whole - min(given.get("CLAUDE_CODE_MAX_OUTPUT_TOKENS", 20_000), 20_000) - 13_000


@pytest.mark.parametrize(
    "settings",
    [
        {"trigger.budget": 100_000},
        {"trigger.ratio": 0.5, "trigger.budget": 100_000},
        {"trigger.reserve_tokens": 21_000},
        {"trigger.reserve_tokens": 33_000, "trigger.budget": 150_000},
    ],
)
def test_claude_code_fires_with_the_pasted_setting_where_the_policy_does(settings: dict[str, float]) -> None:
    written = write_setting("claude-code", settings)
    assert written is not None and written.unnamed == ()
    policy = find_policy("claude-code").configured(settings)
    assert read_threshold(written, 200_000) == policy.trigger.threshold(200_000)


@pytest.mark.parametrize(
    "settings",
    [
        {"trigger.ratio": 0.5},  # a share of another whole
        {"trigger.reserve_tokens": 5_000},
        {"trigger.reserve_tokens": 13_000},
        {"trigger.reserve_tokens": 40_000},
        {"trigger.enabled": True},
    ],
)
def test_a_value_that_the_harness_cannot_have_is_not_written(settings: dict[str, float]) -> None:
    assert write_setting("claude-code", settings) is None
    written = write_setting("claude-code", settings | {"trigger.budget": 90_000, "trigger.ratio": 0.505})
    assert written is not None and {*written.unnamed} == {*settings, "trigger.ratio"}
    assert written.text == "export CLAUDE_CODE_AUTO_COMPACT_WINDOW=90000"


def test_of_two_settings_with_one_name_the_one_that_decides_is_written() -> None:
    both = {"trigger.ratio": 0.5, "trigger.tokens": 9_000}
    written = write_setting("langchain-summarization", both)
    assert written == HarnessSetting("trigger=('tokens', 9000)", "options", ("trigger.ratio",))
    assert find_policy("langchain-summarization").configured(both).trigger.threshold(200_000) == 9_000
    assert write_setting("flue", {"trigger.ratio": 0.5}) is None


def test_advice_for_a_swept_policy_ends_with_the_setting() -> None:
    advice = Advice("adk-tokens[trigger.tokens=90000]", 0.25, 0.2, 0.8, 12, {}, {})
    assert str(advice).endswith("As the harness's setting (options): token_threshold=90000.")
    assert advice._replace(policy="adk-tokens").setting is None
