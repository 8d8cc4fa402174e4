"""A harness's own setting for a policy's: an environment variable, a line of its configuration, an option.

A setting is written only if the harness has a name for it and can have exactly that value; the others are
listed. Source: the versions of the policies.
"""

from __future__ import annotations

import json
from ast import literal_eval
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


class HarnessSetting(NamedTuple):
    """The text to paste, where it belongs, and the settings that the harness has no name for."""

    text: str
    where: str
    unnamed: tuple[str, ...] = ()


def _same(value: Any) -> Any:
    return value


CLAUDE_CODE = "claude-code"
CLAUDE_REPLY, CLAUDE_REST = 20_000, 13_000
"""Tokens that Claude Code keeps free for a reply at most, and besides (`builtin/claude_code.py`)."""


def _write_reserve(tokens: int) -> int | None:
    reply = tokens - CLAUDE_REST
    return reply if 0 < reply <= CLAUDE_REPLY else None


def _write_percent(share: float) -> int | None:
    percent = round(100 * share, 6)
    return int(percent) if percent.is_integer() else None


def _write_window(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """Claude Code's percentage is of its window less 20,000. The window is known if the budget is set."""
    share, budget = settings.get("trigger.ratio"), settings.get("trigger.budget")
    if share is None or budget is None or _write_percent(share) is None:
        return {**settings, "trigger.ratio": None}
    return {**settings, "trigger.budget": budget + CLAUDE_REPLY}


Option = tuple[str, Callable[[Any], Any]]
_ENVIRONMENT, _TOML, _JSON, _OPTIONS = "environment", "config.toml", "opencode.json", "options"
OPTIONS: dict[str, tuple[str, dict[str, Option]]] = {
    CLAUDE_CODE: (
        _ENVIRONMENT,
        {
            "trigger.budget": ("CLAUDE_CODE_AUTO_COMPACT_WINDOW", _same),
            "trigger.ratio": ("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", _write_percent),
            "trigger.reserve_tokens": ("CLAUDE_CODE_MAX_OUTPUT_TOKENS", _write_reserve),
            "trigger.enabled": ("DISABLE_AUTO_COMPACT", lambda enabled: None if enabled else "1"),
        },
    ),
    "codex": (_TOML, {"trigger.tokens": ("model_auto_compact_token_limit", _same)}),
    "opencode": (
        _JSON,
        {
            "trigger.enabled": ("auto", _same),
            "trigger.reserve_tokens": ("reserved", _same),
            "keep-recent-share.amount": ("preserve_recent_tokens", _same),
            "keep-recent-share.turns": ("tail_turns", _same),
            "drop-old-outputs.enabled": ("prune", _same),
        },
    ),
    "cline": (_OPTIONS, {"keep-recent-share.amount": ("compaction.preserveRecentTokens", _same)}),
    "langchain-summarization": (
        _OPTIONS,
        {
            "trigger.tokens": ("trigger", lambda tokens: ("tokens", tokens)),
            "trigger.ratio": ("trigger", lambda share: ("fraction", share)),
            "keep-recent-share.amount": ("keep", lambda messages: ("messages", messages)),
        },
    ),
    "langchain-clear": (
        _OPTIONS,
        {
            "trigger.tokens": ("trigger", _same),
            "drop-old-outputs.keep": ("keep", _same),
            "drop-old-outputs.enough": ("clear_at_least", _same),
        },
    ),
    "openai-agents-trimmer": (
        _OPTIONS,
        {
            "truncate-outputs.turns": ("recent_turns", _same),
            "truncate-outputs.limit": ("max_output_chars", _same),
            "truncate-outputs.preview": ("preview_chars", _same),
        },
    ),
    "adk-tokens": (
        _OPTIONS,
        {
            "trigger.tokens": ("token_threshold", _same),
            "keep-recent-share.amount": ("event_retention_size", _same),
        },
    ),
    "adk-window": (_OPTIONS, {"trigger.tokens": ("compaction_interval", _same)}),
    "strands-sliding-window": (_OPTIONS, {"keep-recent-share.amount": ("window_size", _same)}),
    "strands-summarizing": (
        _OPTIONS,
        {
            "keep-recent-share.share": ("summary_ratio", lambda share: round(1 - share, 6)),
            "keep-recent-share.lowest": ("preserve_recent_messages", _same),
        },
    ),
    "agent-framework": (
        _OPTIONS,
        {
            "trigger.ratio": ("tool_eviction_threshold", _same),
            "drop-groups.ratio": ("truncation_threshold", _same),
            "fold-calls.keep": ("keep_last_tool_call_groups", _same),
        },
    ),
    "agno-compaction": (
        _OPTIONS,
        {
            "trigger.tokens": ("compact_at_tokens", _same),
            "keep-recent-share.turns": ("uncompacted_runs", _same),
            "keep-recent-share.amount": ("uncompacted_tokens", _same),
        },
    ),
    "mastra-token-limiter": (
        _OPTIONS,
        {"drop-groups.amount": ("limit", _same), "drop-groups.order": ("trimMode", _same)},
    ),
    "deepseek-harness": (
        _OPTIONS,
        {
            "trigger.ratio": ("thresholdRatio", _same),
            "keep-recent-share.share": ("retainRatio", _same),
        },
    ),
}
"""For each policy the place of its harness's settings, and the harness's name and value of each setting. If
two have one name, the first decides in the policy too."""


def write_setting(policy: str, settings: Mapping[str, Any]) -> HarnessSetting | None:
    """Return the harness's own setting for some of a policy's; None if it has a name for none of them.

    >>> write_setting("claude-code", {"trigger.budget": 120_000}).text
    'export CLAUDE_CODE_AUTO_COMPACT_WINDOW=120000'
    >>> write_setting("opencode", {"keep-recent-share.amount": 8000, "trigger.measure": "usage"})
    HarnessSetting(text='{"compaction": {"preserve_recent_tokens": 8000}}', where='opencode.json',
    unnamed=('trigger.measure',))
    """
    where, options = OPTIONS.get(policy, ("", {}))
    values = _write_window(settings) if policy == CLAUDE_CODE else settings
    named: dict[str, Any] = {}
    unnamed = [key for key in settings if key not in options]
    for key, (name, convert) in options.items():
        if key not in settings:
            continue
        own = None if values[key] is None or name in named else convert(values[key])
        if own is None:
            unnamed.append(key)
        else:
            named[name] = own
    if not named:
        return None
    if where == _ENVIRONMENT:
        text = "\n".join(f"export {name}={value}" for name, value in named.items())
    elif where == _JSON:
        text = json.dumps({"compaction": named})
    elif where == _TOML:
        text = "\n".join(f"{name} = {json.dumps(value)}" for name, value in named.items())
    else:
        text = ", ".join(f"{name}={value!r}" for name, value in named.items())
    return HarnessSetting(text, where, tuple(unnamed))


def read_swept(name: str) -> tuple[str, dict[str, Any]]:
    """Return the policy and the settings in a name that a sweep made; other names have no settings.

    >>> read_swept("flue[keep-recent-tokens.tokens=8000,trigger.enabled=False]")
    ('flue', {'keep-recent-tokens.tokens': 8000, 'trigger.enabled': False})
    >>> read_swept("flue")
    ('flue', {})
    """
    policy, bracket, settings_text = name.removesuffix("]").partition("[")
    if not bracket or not name.endswith("]"):
        return name, {}
    pairs = (pair.partition("=") for pair in settings_text.split(","))
    return policy, {key: _read_value(value) for key, _, value in pairs}


def _read_value(text: str) -> Any:
    try:
        return literal_eval(text)
    except (ValueError, SyntaxError):
        return text
