"""What each setting may be, what it is by default, and what each built-in policy sets otherwise.

Written down from what is published: FLUE §2–8 and §13, TIERED §2–5, PEERS §1, STUD §4–12, CLAUDE §1, §2, §4.
A figure that changes in a policy, or a bound that moves, has to change here too.
"""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from inspector.errors import PolicyError
from inspector.policies.builtin.recorded import RECORDED
from inspector.policies.harness import Harness
from inspector.policies.part import PolicyPart
from inspector.policies.policy import Policy
from inspector.policies.registry import POLICIES, find_policy
from inspector.policies.rules import RULES, kind_of
from inspector.policies.rules.prune_parts import PrunedCalls
from inspector.policies.trigger import Target, Trigger

MOST = 10**12
"""No count of tokens, characters or messages is larger."""
LEAST: dict[str, tuple[float, float]] = {
    "keep-root.messages": (-MOST, MOST),
    "keep-recent-messages.messages": (-MOST, MOST),
    "keep-recent-tokens.tokens": (-MOST, MOST),
    "trigger.reserve_tokens": (-MOST, MOST),
    "condense-middle.events": (1, MOST),
    "condense-middle.tokens": (1, MOST),
    "drop-oldest-turns.turns": (1, MOST),
    "collapse.turns": (1, MOST),
    "clear-thinking.keep": (1, MOST),
    "summarise-older.share": (0, 100),
    "summarise-older.prefix_share": (0, 100),
    "condense-middle.progress": (0, 1),
    "keep-recent-share.share": (0, 1),
    "harness.recoveries": (0, 100),
    "harness.retries": (0, 100),
    "harness.breaker": (0, 100),
    "harness.growth": (0, 100),
}
"""The least and the most of each number; of a count that is not here, none and `MOST`."""
UNBOUNDED: tuple[str, ...] = ("summarise-older.cap",)
"""Counts that only must not be less than none."""
SHARES = (
    "trigger.ratio",
    "target.ratio",
    "target.recovery",
    "harness.warn",
    "harness.require",
    "harness.block",
)
"""Shares of which none at all makes no sense: more than 0, and at most 1."""
DEFAULTS: dict[str, Any] = {
    "keep-recent-turns.turns": 4,
    "keep-recent-tokens.tokens": 20000,
    "keep-recent-tokens.estimate": "flue",
    "keep-recent-tokens.fresh_usage": False,
    "keep-recent-tokens.skip_empty": False,
    "keep-recent-tokens.fallback": "first",
    "keep-recent-tokens.summaries": False,
    "keep-recent-tokens.step_back": False,
    "keep-recent-tokens.start": "kept",
    "keep-recent-tokens.again": True,
    "keep-recent-tokens.always": False,
    "carry-file-operations.nested": False,
    "carry-file-operations.every_tool": False,
    "summarise-older.per": "session",
    "summarise-older.split_turns": True,
    "summarise-older.share": 0.8,
    "summarise-older.prefix_share": 0.5,
    "summarise-older.cap": 16000,
    "summarise-older.limited": True,
    "summarise-older.effort": "high",
    "summarise-older.thinking": True,
    "summarise-older.whole_characters": False,
    "summarise-older.keep_previous": False,
    "summarise-older.strict": False,
    "keep-pairs.form": "fixed",
    "keep-root.messages": 1,
    "keep-recent-messages.messages": 6,
    "keep-recent-messages.loops": False,
    "keep-recent-messages.form": "fixed",
    "point-large-outputs.characters": 600,
    "point-large-outputs.recent": False,
    "point-large-outputs.form": "fixed",
    "snip-long-text.characters": 2000,
    "snip-long-text.form": "fixed",
    "snip-everything.characters": 2000,
    "snip-everything.form": "fixed",
    "drop-middle.form": "fixed",
    "budget-outputs.tokens": 50000,
    "budget-outputs.characters": 40000,
    "condense-middle.events": 240,
    "condense-middle.first": 2,
    "condense-middle.progress": 0.1,
    "keep-newest-reasoning.replies": 1,
    "keep-newest-reasoning.loop": True,
    "keep-recent-share.share": 0.3,
    "keep-recent-share.measure": "tokens",
    "keep-recent-share.of": "history",
    "keep-recent-share.least": False,
    "keep-recent-share.keep_last": True,
    "keep-recent-share.snap": "forwards",
    "keep-recent-share.empty": True,
    "keep-recent-share.first_words": False,
    "keep-recent-share.with_system": False,
    "keep-recent-share.newest_prompt": False,
    "keep-recent-share.not_all": False,
    "keep-user-words.tokens": 20000,
    "drop-old-outputs.clear_inputs": False,
    "drop-old-outputs.turns": 0,
    "drop-old-outputs.only_longer": True,
    "drop-old-outputs.nearest_call": False,
    "prune-parts.unit": "messages",
    "shorten-inputs.limit": 2000,
    "shorten-inputs.preview": 20,
    "shorten-inputs.tools": ("write_file", "edit_file"),
    "shorten-inputs.newest": 20,
    "shorten-inputs.trigger_messages": 20,
    "dedupe-reads.tools": ("read", "Read", "FileRead", "read_file", "view"),
    "spill-outputs.budget": 50000,
    "spill-outputs.preview": 2000,
    "spill-outputs.exempt_tools": ("Read", "FileRead"),
    "spill-outputs.folder": "tool-results",
    "drop-oldest-turns.turns": 10,
    "truncate-outputs.limit": 30000,
    "truncate-outputs.form": "head",
    "truncate-outputs.tail": 0,
    "truncate-outputs.turns": 0,
    "truncate-outputs.trailing": False,
    "summarise-all.behind": False,
    "summarise-all.max_tokens": 16000,
    "summarise-all.by": "harness",
    "collapse.turns": 4,
    "collapse.shown": 200,
    "clear-tool-outputs.clear_inputs": False,
    "clear-tool-outputs.keep": 3,
    "trigger.reserve_tokens": 16384,
    "trigger.strict": False,
    "trigger.measure": "usage",
    "trigger.check": "reply",
    "trigger.whole": False,
    "trigger.at_least": False,
    "trigger.join": "any",
    "target.below": False,
    "target.ratio": 0.5,
    "harness.mode": "auto",
    "harness.engine": "core",
    "harness.strict": False,
    "harness.machine": "none",
    "harness.recover": True,
    "harness.recover_output": False,
    "harness.recoveries": 1,
    "harness.retries": 2,
    "harness.breaker": 0,
    "harness.fatal": False,
    "harness.growth": 0,
    "harness.silent_overflow": False,
    "harness.one_switch": False,
    "harness.reset": True,
    "harness.adopt": "always",
    "harness.send_reasoning": True,
    "harness.dialect": "neutral",
}
"""What is not None, nothing or switched on by default."""
PUBLISHED: dict[str, dict[str, Any]] = {
    "keep-recent-turns": {
        "trigger.ratio": 0.8,
        "trigger.measure": "assembled",
        "trigger.check": "request",
        "summarise-older.split_turns": False,
        "rules": "keep-system keep-recent-turns summarise-older",
    },
    "flue": {
        "harness.retries": 0,
        "harness.silent_overflow": True,
        "harness.one_switch": True,
        "harness.reset": False,
        "harness.dialect": "flue",
        "rules": "keep-system keep-recent-tokens carry-file-operations summarise-older",
    },
    "flue-2": {
        "trigger.reserve_tokens": 20000,
        "harness.retries": 0,
        "harness.silent_overflow": True,
        "harness.reset": False,
        "harness.dialect": "flue-2",
        "keep-recent-tokens.tokens": 8000,
        "rules": "keep-system keep-recent-tokens carry-file-operations summarise-older",
    },
    "pi": {
        "trigger.check": "outputs",
        "harness.reset": False,
        "harness.dialect": "pi",
        "keep-recent-tokens.estimate": "pi-1.5.2",
        "keep-recent-tokens.fresh_usage": True,
        "keep-recent-tokens.skip_empty": True,
        "keep-recent-tokens.fallback": "last",
        "keep-recent-tokens.summaries": True,
        "keep-recent-tokens.again": False,
        "carry-file-operations.nested": True,
        "summarise-older.limited": False,
        "summarise-older.effort": "session",
        "summarise-older.thinking": False,
        "summarise-older.whole_characters": True,
        "summarise-older.keep_previous": True,
        "summarise-older.strict": True,
        "rules": "keep-system keep-recent-tokens carry-file-operations summarise-older",
    },
    "mini-claude-code": {
        "trigger.ratio": 0.75,
        "trigger.strict": True,
        "trigger.budget": 24000,
        "trigger.measure": "assembled",
        "trigger.check": "outputs",
        "target.recovery": 0.7,
        "harness.recover_output": True,
        "harness.retries": 0,
        "harness.reset": False,
        "harness.dialect": "mini-claude-code",
        "keep-recent-messages.loops": True,
        "point-large-outputs.recent": True,
        "rules": "keep-system keep-root keep-recent-messages "
        "point-large-outputs snip-long-text snip-everything drop-middle",
        "stages": [
            ("shrink", "keep-recent-messages point-large-outputs snip-long-text", "auto"),
            ("snip everything", "point-large-outputs snip-everything", "auto manual overflow"),
            ("drop the middle", "drop-middle", "auto manual overflow"),
        ],
    },
    "mini-claude-code-compat": {
        "trigger.ratio": 0.75,
        "trigger.strict": True,
        "trigger.budget": 24000,
        "trigger.measure": "tiered",
        "trigger.check": "outputs",
        "target.recovery": 0.7,
        "harness.recover_output": True,
        "harness.retries": 0,
        "harness.reset": False,
        "harness.dialect": "mini-claude-code",
        "keep-pairs.form": "compat",
        "keep-recent-messages.form": "compat",
        "point-large-outputs.form": "compat",
        "snip-long-text.form": "compat",
        "snip-everything.form": "compat",
        "drop-middle.first": 1,
        "drop-middle.last": 6,
        "drop-middle.form": "compat",
        "rules": "keep-system keep-pairs keep-root keep-recent-messages "
        "point-large-outputs snip-long-text snip-everything drop-middle",
        "stages": [
            ("shrink", "keep-root keep-recent-messages point-large-outputs snip-long-text", "auto"),
            ("snip everything", "snip-everything", "auto manual overflow"),
            ("drop the middle", "drop-middle", "auto manual overflow"),
        ],
    },
    "langchain-summarization": {
        "trigger.measure": "assembled",
        "trigger.ratio": 0.85,
        "trigger.check": "request",
        "harness.recover": False,
        "harness.reset": False,
        "keep-recent-share.amount": 20,
        "keep-recent-share.measure": "messages",
        "keep-recent-share.snap": "call",
        "summarise-older.split_turns": False,
        "summarise-older.limited": False,
        "rules": "keep-system keep-recent-share summarise-older",
    },
    "langchain-trim": {
        "trigger.tokens": 20000,
        "trigger.measure": "chars4_utf16",
        "trigger.check": "request",
        "harness.recover": False,
        "harness.reset": False,
        "keep-recent-share.amount": 20000,
        "keep-recent-share.keep_last": False,
        "keep-recent-share.snap": "words",
        "keep-recent-share.empty": False,
        "keep-recent-share.with_system": True,
        "rules": "keep-system keep-recent-share drop-older",
    },
    "langchain-clear": {
        "trigger.tokens": 100000,
        "trigger.measure": "chars4_utf16",
        "trigger.check": "request",
        "harness.recover": False,
        "harness.reset": False,
        "drop-old-outputs.keep": 3,
        "drop-old-outputs.nearest_call": True,
        "rules": "keep-system drop-old-outputs",
    },
    "inspect-edit": {
        "trigger.measure": "assembled",
        "trigger.ratio": 0.9,
        "trigger.strict": True,
        "trigger.check": "request",
        "harness.recover": False,
        "harness.reset": False,
        "drop-old-outputs.exclude_tools": ("tool_search",),
        "drop-old-outputs.keep": 3,
        "rules": "keep-system drop-last-replies keep-newest-reasoning drop-old-outputs",
    },
    "inspect-trim": {
        "trigger.measure": "assembled",
        "trigger.ratio": 0.9,
        "trigger.strict": True,
        "trigger.check": "request",
        "harness.recover": False,
        "harness.reset": False,
        "drop-last-replies.most": 1,
        "keep-recent-share.share": 0.8,
        "keep-recent-share.measure": "messages",
        "keep-recent-share.least": True,
        "keep-recent-share.keep_last": False,
        "keep-recent-share.snap": "none",
        "keep-recent-share.first_words": True,
        "rules": "keep-system drop-last-replies keep-recent-share drop-older",
    },
    "openhands": {
        "trigger.tokens": 240,
        "trigger.measure": "messages",
        "trigger.check": "request",
        "harness.retries": 0,
        "harness.reset": False,
        "summarise-older.split_turns": False,
        "summarise-older.limited": False,
        "rules": "keep-system condense-middle summarise-older",
    },
    "codex": {
        "trigger.ratio": 0.9,
        "trigger.check": "outputs",
        "harness.recover": False,
        "harness.reset": False,
        "summarise-older.split_turns": False,
        "summarise-older.limited": False,
        "rules": "keep-system keep-user-words shorten-user-words summarise-older",
    },
    "gemini-cli": {
        "trigger.ratio": 0.5,
        "trigger.check": "request",
        "harness.recover": False,
        "harness.retries": 0,
        "harness.reset": False,
        "harness.adopt": "smaller",
        "keep-recent-share.measure": "characters",
        "keep-recent-share.keep_last": False,
        "keep-recent-share.snap": "turn",
        "summarise-older.split_turns": False,
        "summarise-older.limited": False,
        "rules": "keep-system budget-outputs keep-recent-share summarise-older",
    },
    "stud-wiki-1.1": {
        "trigger.ratio": 0.8,
        "trigger.measure": "assembled",
        "trigger.check": "request",
        "harness.reset": False,
        "harness.fatal": True,
        "harness.growth": 2,
        "harness.dialect": "stud-wiki",
        "drop-reasoning.enabled": False,
        "drop-old-outputs.enabled": False,
        "summarise-older.split_turns": False,
        "rules": "keep-system keep-recent-turns drop-reasoning drop-old-outputs summarise-older",
        "mode": "summarise",
        "contract": "Compaction and Memory 1.1.0",
    },
    "stud-wiki-deterministic": {
        "trigger.ratio": 0.8,
        "trigger.measure": "assembled",
        "trigger.check": "request",
        "harness.reset": False,
        "harness.fatal": True,
        "harness.growth": 2,
        "harness.dialect": "stud-wiki",
        "drop-reasoning.enabled": False,
        "summarise-older.enabled": False,
        "summarise-older.split_turns": False,
        "rules": "keep-system keep-recent-turns drop-reasoning drop-old-outputs summarise-older",
        "mode": "drop-old-outputs",
        "contract": "Compaction and Memory 1.1.0",
    },
    "stud-warning": {
        "trigger.enabled": False,
        "trigger.ratio": 0.8,
        "trigger.measure": "assembled",
        "trigger.check": "request",
        "harness.mode": "manual",
        "harness.engine": "tool:context-compaction",
        "harness.warn": 0.8,
        "harness.require": 0.95,
        "harness.recover": False,
        "harness.dialect": "stud-warning",
        "keep-recent-turns.turns": 2,
        "drop-reasoning.enabled": False,
        "drop-old-outputs.enabled": False,
        "summarise-older.split_turns": False,
        "rules": "keep-system keep-recent-turns drop-reasoning drop-old-outputs summarise-older",
        "mode": "summarise",
    },
    "stud-merged": {
        "trigger.ratio": 0.8,
        "trigger.measure": "assembled",
        "trigger.check": "request",
        "harness.mode": "ask",
        "harness.warn": 0.8,
        "harness.require": 0.95,
        "harness.recover": False,
        "harness.fatal": True,
        "harness.growth": 2,
        "harness.dialect": "stud-merged",
        "drop-reasoning.enabled": False,
        "drop-old-outputs.enabled": False,
        "summarise-older.split_turns": False,
        "rules": "keep-system keep-recent-turns drop-reasoning drop-old-outputs summarise-older",
        "mode": "summarise",
    },
    "claude-code": {
        "trigger.measure": "assembled",
        "trigger.ratio": 0.95,
        "trigger.strict": True,
        "trigger.check": "request",
        "target.ratio": 0.8,
        "harness.warn": 0.8,
        "harness.require": 0.95,
        "harness.block": 0.98,
        "harness.strict": True,
        "harness.breaker": 3,
        "harness.reset": False,
        "harness.dialect": "claude-code",
        "rules": "keep-system spill-outputs drop-oldest-turns truncate-outputs summarise-all collapse",
        "stages": [
            ("budget", "spill-outputs", "auto manual overflow"),
            ("snip", "drop-oldest-turns", "auto"),
            ("micro", "truncate-outputs", "auto"),
            ("auto", "summarise-all", "auto manual"),
            ("collapse", "collapse", "auto"),
            ("reactive", "summarise-all", "overflow"),
        ],
    },
    "anthropic-context-editing": {
        "trigger.measure": "assembled",
        "trigger.tokens": 150000,
        "trigger.check": "request",
        "harness.reset": False,
        "summarise-all.above": 150000,
        "summarise-all.by": "provider",
        "clear-tool-outputs.trigger_tokens": 100000,
        "rules": "keep-system summarise-all clear-thinking clear-tool-outputs",
    },
    "recorded": {
        "trigger.reserve_tokens": 0,
        "trigger.measure": "assembled",
        "trigger.check": "request",
        "summarise-older.split_turns": False,
        "summarise-older.limited": False,
        "rules": "keep-system keep-listed summarise-older",
    },
    "ai-sdk-prune": {
        "trigger.tokens": 100000,
        "trigger.measure": "assembled",
        "trigger.check": "request",
        "harness.mode": "manual",
        "harness.recover": False,
        "harness.reset": False,
        "prune-parts.reasoning": 1,
        "prune-parts.calls": (PrunedCalls(newest=2, tools=()),),
        "rules": "keep-system prune-parts",
    },
    "opencode": {
        "trigger.reserve_tokens": 20000,
        "trigger.at_least": True,
        "trigger.check": "outputs",
        "harness.reset": False,
        "keep-recent-share.share": 0.25,
        "keep-recent-share.measure": "ai-sdk",
        "keep-recent-share.of": "threshold",
        "keep-recent-share.lowest": 2000,
        "keep-recent-share.highest": 15000,
        "keep-recent-share.not_all": True,
        "keep-recent-share.keep_last": False,
        "drop-old-outputs.enabled": False,
        "drop-old-outputs.exclude_tools": ("skill",),
        "drop-old-outputs.clear_at_least": 20001,
        "drop-old-outputs.keep_tokens": 40000,
        "drop-old-outputs.turns": 2,
        "summarise-older.split_turns": False,
        "summarise-older.limited": False,
        "rules": "keep-system keep-recent-share drop-old-outputs summarise-older",
    },
    "openai-agents-trimmer": {
        "trigger.tokens": 0,
        "trigger.measure": "assembled",
        "trigger.check": "request",
        "harness.recover": False,
        "harness.reset": False,
        "truncate-outputs.limit": 500,
        "truncate-outputs.preview": 200,
        "truncate-outputs.turns": 2,
        "rules": "keep-system truncate-outputs",
    },
    "openai-agents-compaction": {
        "trigger.tokens": 10,
        "trigger.at_least": True,
        "trigger.measure": "candidates",
        "harness.recover": False,
        "harness.reset": False,
        "keep-user-words.tokens": 1000000000000,
        "summarise-older.split_turns": False,
        "summarise-older.limited": False,
        "rules": "keep-user-words summarise-older",
    },
    "openai-agents-server": {
        "trigger.ratio": 0.9,
        "trigger.whole": True,
        "trigger.unknown_window": 266667,
        "trigger.check": "request",
        "harness.recover": False,
        "harness.reset": False,
        "summarise-all.by": "provider",
        "rules": "summarise-all",
    },
    "deepagents": {
        "trigger.ratio": 0.85,
        "trigger.unknown_window": 200000,
        "trigger.measure": "assembled",
        "trigger.check": "request",
        "harness.reset": False,
        "keep-recent-share.share": 0.1,
        "keep-recent-share.measure": "langchain",
        "keep-recent-share.of": "window",
        "keep-recent-share.snap": "call",
        "summarise-older.split_turns": False,
        "summarise-older.limited": False,
        "truncate-outputs.limit": 4000,
        "truncate-outputs.trailing": True,
        "rules": "keep-system shorten-inputs keep-recent-share summarise-older truncate-outputs",
        "stages": [
            ("inputs", "shorten-inputs", "auto manual overflow"),
            ("summary", "keep-recent-share summarise-older", "auto manual overflow"),
            ("outputs at the end", "truncate-outputs", "overflow"),
        ],
    },
    "cline": {
        "trigger.ratio": 0.9,
        "trigger.unknown_window": 128000,
        "trigger.measure": "cline",
        "trigger.check": "request",
        "harness.recover": False,
        "harness.retries": 0,
        "harness.reset": False,
        "keep-recent-share.share": 0.7,
        "keep-recent-share.measure": "cline",
        "keep-recent-share.of": "threshold",
        "keep-recent-share.highest": 20000,
        "keep-recent-share.newest_prompt": True,
        "keep-recent-share.least": True,
        "keep-recent-share.snap": "backwards",
        "summarise-older.split_turns": False,
        "summarise-older.limited": False,
        "rules": "keep-system keep-recent-share summarise-older",
    },
    "strands-summarizing": {
        "trigger.enabled": False,
        "trigger.ratio": 0.7,
        "trigger.measure": "assembled",
        "trigger.check": "request",
        "harness.retries": 0,
        "harness.reset": False,
        "keep-recent-share.share": 0.7,
        "keep-recent-share.measure": "messages",
        "keep-recent-share.lowest": 10,
        "keep-recent-share.least": True,
        "keep-recent-share.keep_last": False,
        "summarise-older.split_turns": False,
        "summarise-older.limited": False,
        "rules": "keep-system keep-recent-share summarise-older",
    },
    "deepseek-harness": {
        "trigger.ratio": 0.8,
        "trigger.whole": True,
        "trigger.measure": "assembled",
        "trigger.check": "request",
        "harness.retries": 0,
        "harness.reset": False,
        "harness.adopt": "smaller",
        "keep-recent-share.share": 0.16,
        "keep-recent-share.measure": "deepseek",
        "keep-recent-share.of": "window",
        "keep-recent-share.least": True,
        "keep-recent-share.snap": "backwards",
        "keep-recent-messages.messages": 1,
        "summarise-older.split_turns": False,
        "summarise-older.limited": False,
        "rules": "keep-system keep-recent-share keep-recent-messages summarise-older",
        "stages": [
            ("summary", "keep-recent-share summarise-older", "auto manual"),
            ("summary of all but the last", "keep-recent-messages summarise-older", "overflow"),
        ],
    },
    "deepseek-harness-pruner": {
        "trigger.ratio": 0.8,
        "trigger.whole": True,
        "trigger.measure": "assembled",
        "trigger.check": "request",
        "target.ratio": 0.8,
        "target.below": True,
        "harness.retries": 0,
        "harness.reset": False,
        "harness.adopt": "smaller",
        "truncate-outputs.limit": 8192,
        "truncate-outputs.preview": 4096,
        "truncate-outputs.tail": 1024,
        "keep-recent-share.share": 0.16,
        "keep-recent-share.measure": "deepseek",
        "keep-recent-share.of": "window",
        "keep-recent-share.least": True,
        "keep-recent-share.snap": "backwards",
        "keep-recent-messages.messages": 1,
        "summarise-older.split_turns": False,
        "summarise-older.limited": False,
        "rules": "keep-system truncate-outputs keep-recent-share keep-recent-messages summarise-older",
        "stages": [
            ("outputs", "truncate-outputs", "auto"),
            ("summary", "keep-recent-share summarise-older", "auto manual"),
            (
                "summary of all but the last",
                "summarise-older truncate-outputs keep-recent-messages",
                "overflow",
            ),
        ],
    },
    "crewai": {
        "trigger.ratio": 0.85,
        "trigger.strict": True,
        "trigger.measure": "chars4_utf16",
        "trigger.check": "request",
        "harness.retries": 0,
        "harness.reset": False,
        "summarise-all.behind": True,
        "rules": "keep-system summarise-all",
    },
    "mastra-tool-call-filter": {
        "trigger.tokens": 0,
        "trigger.measure": "assembled",
        "trigger.check": "request",
        "harness.recover": False,
        "harness.reset": False,
        "prune-parts.calls": (PrunedCalls(newest=0, tools=()),),
        "prune-parts.unit": "steps",
        "rules": "keep-system prune-parts",
    },
}
"""By policy: its rules, its stages and each setting that is not as it is by default."""

PARTS: tuple[type[PolicyPart], ...] = (*RULES, Trigger, Target, Harness)
"""Whatever has settings."""


def kind_of_part(model: type[PolicyPart]) -> str:
    return str(model.model_fields["kind"].default)


def list_numbers() -> list[tuple[type[PolicyPart], str]]:
    """Every setting that takes a number."""
    out = []
    for model in PARTS:
        for name, schema in model.model_json_schema()["properties"].items():
            kinds = {one.get("type") for one in schema.get("anyOf", [schema])}
            if kinds & {"integer", "number"}:
                out.append((model, name))
    return out


def is_taken(model: type[PolicyPart], name: str, value: float) -> bool:
    try:
        model.model_validate({name: value})
    except (ValidationError, PolicyError):
        return False
    return True


@pytest.mark.parametrize(("model", "name"), list_numbers(), ids=lambda one: getattr(one, "__name__", one))
def test_the_least_and_the_most_are_taken_and_nothing_beyond(model: type[PolicyPart], name: str) -> None:
    key = f"{kind_of_part(model)}.{name}"
    if key in SHARES:
        taken, refused = (5e-324, 1), (0, -0.1, 1.0000001)
    elif key in UNBOUNDED:
        taken, refused = (0, MOST), (-1,)
    else:
        least, most = LEAST.get(key, (0, MOST))
        taken, refused = (least, most), (least - 1, most + 1)
    assert [is_taken(model, name, value) for value in taken] == [True] * len(taken)
    assert [is_taken(model, name, value) for value in refused] == [False] * len(refused)


@pytest.mark.parametrize("model", PARTS, ids=lambda model: model.__name__)
def test_what_is_not_set_is_as_it_is_published(model: type[PolicyPart]) -> None:
    kind, part = kind_of_part(model), model()
    told = {f"{kind}.{name}": getattr(part, name) for name in model.model_fields if name != "kind"}
    assert part.enabled
    own = {key: value for key, value in DEFAULTS.items() if key.startswith(f"{kind}.")}
    empty = {key: value for key, value in told.items() if key not in own and not key.endswith(".enabled")}
    assert {key: told[key] for key in own} == own
    assert all(value in (None, (), {}) for value in empty.values()), empty


def tell_settings(policy: Policy) -> dict[str, Any]:
    """What a policy sets otherwise than its parts do by themselves."""
    parts = [policy.trigger, *([policy.target] if policy.target else []), policy.harness, *policy.rules]
    told: dict[str, Any] = {}
    for part in parts:
        for name in type(part).model_fields:
            key = f"{part.kind}.{name}"
            usual = True if name == "enabled" else DEFAULTS.get(key)
            value = getattr(part, name)
            if name != "kind" and value != usual and not (usual is None and value in (None, (), {})):
                told[key] = value
    told["rules"] = " ".join(rule.kind for rule in policy.rules)
    if policy.stages:
        told["stages"] = [(one.name, " ".join(one.rules), " ".join(one.reasons)) for one in policy.stages]
    return (
        told
        | ({"mode": policy.mode} if policy.mode else {})
        | ({"contract": policy.contract} if policy.contract else {})
    )


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_built_in_policy_sets_what_its_source_publishes(name: str) -> None:
    policy = RECORDED if name == "recorded" else find_policy(name)
    assert tell_settings(policy) == PUBLISHED[name]


def test_every_built_in_policy_is_in_the_table() -> None:
    assert {policy.name for policy in POLICIES} | {"recorded"} == PUBLISHED.keys()
    assert {kind_of(rule) for rule in RULES} >= {key.partition(".")[0] for key in DEFAULTS} - {
        "trigger",
        "target",
        "harness",
    }
