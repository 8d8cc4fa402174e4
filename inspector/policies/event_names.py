"""Each published system's own names for the moments of a compaction, and its own records of them.

Tables only. Sources: STUD §9 (S0, S1 and the code), CLAUDE §1-2 (the states of S2, hooks, stream messages
and errors of the public documentation), TIERED §5 and §7, FLUE §9, §11 and §13.
"""

from __future__ import annotations

from collections.abc import Mapping

from .harness import Dialect

Fields = Mapping[str, "str | Mapping[str, str]"]
"""Fields of a record by their names there: where each is found, or the same for a record within it."""

_STUD_WIKI = {
    "threshold_hit": "CompactionThresholdHit",
    "started": "CompactionStarted",
    "completed": "CompactionCompleted",
    "failed": "CompactionFailed",
    "reasoning_downgraded": "CompactionReasoningDowngraded",
    "double_ran": "CompactionDoubleRan",
    "double_configured": "DoubleCompactionConfigured",
    "summary_oversize": "CompactionSummaryOversize",
    "no_progress": "CompactionNoProgress",
    "token_overflow": "ContextOverflow",
    "surfaced": "ContextOverflow",
}
_STUD_WARNING = {
    "warned": "CompactionWarning",
    "required": "CompactionRequired",
    "overridden": "CompactionOverridden",
    "applied": "CompactionApplied",
}
_FLUE = {"started": "compaction_start", "completed": "compaction"}
TRANSITION = "{from} → {to}"
"""The name of a transition between states, for sources that name states but no events."""
NAMES: dict[Dialect, dict[str, str]] = {
    "stud-wiki": _STUD_WIKI,
    "stud-warning": _STUD_WARNING,
    "stud-merged": _STUD_WIKI | _STUD_WARNING,
    "stud-code": {"started": "CompactionInvoked", "completed": "CompactionPerformed"},
    "claude-code": {
        **dict.fromkeys(("warned", "required", "blocked", "recovered", "state_changed"), TRANSITION),
        "stage": "{stage}",
        "started": "PreCompact",
        "completed": "compact_boundary",
        "applied": "PostCompact",
        "token_overflow": "prompt_too_long",
        "byte_overflow": "request_too_large",
        "refused": "Context limit reached",
        "failed": "Error during compaction",
        "no_progress": "Autocompact is thrashing",
        "breaker_opened": "circuit breaker",
    },
    "mini-claude-code": {"prefix_reset": "query.cache_prefix_reset", "completed": "compaction"},
    "flue": _FLUE,
    "flue-2": _FLUE | {"failed": "compaction", "discarded": "compaction"},
    "pi": {
        "started": "compaction_start",
        "completed": "compaction_end",
        "applied": "session_compact",
        "failed": "session_compact_failed",
    },
}
"""Per system the moments it has a name for. `{…}` is filled from the event; without it there is no name.

S2 names the states of S1 but not its events, so a crossing has the name of the transition.
"""

LOGGED: tuple[Dialect, ...] = ("mini-claude-code",)
"""Systems whose command line prints a line for a compaction, tagged with the event's name (TIERED §5)."""

REASONS: dict[Dialect, dict[str, str]] = {
    "stud-wiki": {
        "auto": "threshold",
        "manual": "explicit",
        "overflow": "post-failure",
        "machine": "forced",
    },
    "claude-code": {"auto": "auto", "manual": "manual", "overflow": "auto"},
    "mini-claude-code": {"auto": "proactive", "manual": "manual", "overflow": "reactive"},
    "flue": {"auto": "threshold", "manual": "manual", "overflow": "overflow"},
}
REASONS |= {"stud-merged": REASONS["stud-wiki"], "flue-2": REASONS["flue"], "pi": REASONS["flue"]}
"""Each system's names of the reasons auto, manual and overflow, and of a state machine that forces one."""

RETENTION_NAMES: dict[Dialect, dict[str, str]] = {
    "stud-wiki": {"summarised": "summarized", "cleared": "cleared-by-provider"}
}
RETENTION_NAMES["stud-merged"] = RETENTION_NAMES["stud-wiki"]
"""Keys of a record's retention breakdown that are spelled in a way of their own (S0-97, STUD §9)."""

BY_REASON: dict[tuple[str, str, str], str | None] = {
    ("mini-claude-code", "completed", "manual"): "compact",
    ("mini-claude-code", "completed", "overflow"): None,
    ("mini-claude-code", "prefix_reset", "manual"): None,
    ("mini-claude-code", "prefix_reset", "overflow"): None,
}
"""Names that depend on the reason: /compact has another name there, and the recovery from a refusal has none
(TIERED §5, §7, vector 077)."""

_MINI = {"beforeTokens": "estimated", "afterTokens": "estimated_after", "turn": "loop_turn"}
_FLUE_START = {"reason": "reason", "estimatedTokens": "estimated"}
_FLUE_END: Fields = {
    "messagesBefore": "messages_before",
    "messagesAfter": "messages_after",
    "usage": {"input": "usage_input", "output": "usage_output"},
}
_PI_START = {**_FLUE_START, "willRetry": "willRetry"}
_PI_END = {"reason": "reason", "willRetry": "willRetry"}
_STUD = {"beforeTokens": "before", "afterTokens": "after", "correlationId": "correlation"}
_S0 = {"provider": "provider", **_STUD}
_S0_MORE = {
    "threshold_hit": {"limit": "limit"},
    "started": {"trigger": "reason", "writer": "writer"},
    "completed": {
        "trigger": "reason",
        "writer": "writer",
        "deterministic": "deterministic",
        "retention": "retention",
    },
    "failed": {
        "trigger": "reason",
        "writer": "writer",
        "error": "error",
        "cause": "cause",
        "attempts": "calls",
        "limit": "limit",
    },
    "reasoning_downgraded": {"blocks": "blocks"},
    "summary_oversize": {"size": "size", "budget": "budget"},
    "no_progress": {"passes": "passes", "limit": "limit"},
    "surfaced": {"cause": "cause", "recoveries": "recoveries", "limit": "limit"},
    "double_ran": {"core": "core", "wire": "wire"},
}
_S1 = {"ratio": "ratio", "limit": "limit", **_STUD}
_STUD_FIELDS: dict[tuple[Dialect, str], Fields] = {
    **{("stud-wiki", kind): {**_S0, **_S0_MORE.get(kind, {})} for kind in _STUD_WIKI},
    **{("stud-warning", kind): {"tool": "tool", **_S1} for kind in _STUD_WARNING},
    ("stud-wiki", "double_configured"): {"providerEntry": "provider_entry", "precedence": "precedence"},
}
FIELDS: dict[tuple[Dialect, str], Fields] = {
    **_STUD_FIELDS,
    **{("stud-merged", kind): fields for (_, kind), fields in _STUD_FIELDS.items()},
    ("mini-claude-code", "completed"): {"reason": "reason", **_MINI},
    ("mini-claude-code", "prefix_reset"): {"reason": "{reason}_compaction", **_MINI},
    ("stud-code", "completed"): {"originalTokens": "before", "compactedTokens": "after"},
    ("claude-code", "started"): {"trigger": "reason"},
    ("claude-code", "completed"): {"trigger": "reason", "pre_tokens": "before"},
    ("flue", "started"): _FLUE_START,
    ("flue", "completed"): _FLUE_END,
    ("flue-2", "started"): _FLUE_START,
    ("flue-2", "completed"): _FLUE_END,
    ("flue-2", "failed"): {"error": "error"},
    ("pi", "started"): _PI_START,
    ("pi", "completed"): _PI_END,
}
"""The fields of a system's own record, each mapped to a field of the event or a key of its data.

Fields that a replay cannot know are left out, such as Flue's duration (FLUE §9). The usage in a replay is the
counted tokens of the summariser's request and answer; pi's `willRetry` is the flag that S4 passes to the
compaction.
"""
