"""mini-claude-code's query loop with a scripted model and scripted tools, driving our plans (TIERED §5)."""

from __future__ import annotations

import math
from copy import deepcopy
from typing import Any

from inspector.policies.builtin.mini_claude_code import BUDGET
from inspector.policies.registry import find_policy
from inspector.policies.trigger import Target, Trigger

from .mini import POLICY, Json, Messages, estimate, recover, tiered

LIMITS = {"prompt_too_long": 1, "max_output": 1, "stream_error": 1}
"""Retries of each recoverable kind, by default."""
TROUBLES = {
    "max_output": ("max_output", "max_tokens"),
    "stream_error": ("stream",),
    "prompt_too_long": ("too_long", "prompt", "context_length"),
}
"""How a vector that has no `error_kind` names each of them."""


def run_query(case: Json) -> tuple[Json, Json]:
    """A run that no provider refuses. What the tools say is taken from the vector's own events."""
    given, options = case["input"], case["input"]["options"]
    trigger, target = _read_options(options)
    answers = _tool_outputs(case["output"]["events"])
    messages: Messages = deepcopy(given["initialMessages"])
    events: Messages = []
    marks: Messages = []
    requests: list[Messages] = []
    script = list(given["script"])
    state: Json = {"status": "max_turns"}
    for turn in range(options.get("maxTurns", 10)):
        requests.append(deepcopy(messages))
        said, calls, script = _speak(script)
        messages.append(said)
        events.append({"type": "assistant_message", "message": said})
        if not calls:
            state = {"status": "completed"}
            break
        events += [{"type": "tool_use", "toolUse": call} for call in calls]
        results = [answers[call["id"]].pop(0) for call in calls]
        events += [{"type": "tool_result", "result": result} for result in results]
        messages.append(
            {"role": "tool", "content": [{"type": "tool_result", "result": result} for result in results]}
        )
        before = estimate(messages)
        if not trigger.fires(before, 0):
            continue
        done = tiered(messages, {"targetTokens": target.limit(trigger.base(0)) or 0})
        after = done.tokens[1]
        if after < before:
            messages = done.messages
            told = {"turn": turn, "beforeTokens": before, "afterTokens": after}
            marks.append({**told, "reason": "proactive_compaction"})
            events.append({"type": "compaction", "reason": "proactive", **told})
    events.append({"type": "terminal_state", "state": state})
    compactions = [event for event in events if event["type"] == "compaction"]
    flags = {
        "soft_limit": math.floor(trigger.threshold(0)) if trigger.enabled else 0,
        "target": target.limit(trigger.base(0)) or 0,
        "compaction_count": len(compactions),
    }
    output = {
        "events": events,
        "compactions": compactions,
        "cache_prefix_reset_marks": marks,
        "request_messages": requests,
        "request_tokens": [estimate(request) for request in requests],
    }
    return output, flags


def run_reactive(case: Json) -> tuple[Json, Json]:
    """A run whose first request is not answered as it should be; the next one is, in the vector's words."""
    given, options = case["input"], case["input"].get("options") or {}
    kind, budget = find_trouble(case), options.get("contextBudgetTokens", BUDGET)
    left = (LIMITS | (options.get("retryLimits") or {})).get(kind, 0)
    messages: Messages = deepcopy(given["initialMessages"])
    requests = [messages]
    told = case["output"]["events"]
    if left > 0:
        if kind != "stream_error":
            messages = recover(messages, budget).messages
        requests.append(messages)
        # What the model says, and how it stopped, is the vector's word.
        events = [deepcopy(event) for event in told if event["type"] == "assistant_message"][-1:]
        state: Json = {"status": "completed"}
    else:
        # The provider's error is what surfaces, word by word.
        errors = (event["state"].get("error") for event in told if event["type"] == "terminal_state")
        events, state = [], {"status": "error", "error": next(errors, None)}
    events.append({"type": "terminal_state", "state": state})
    output = {
        "events": events,
        "request_messages": requests,
        "request_message_counts": [len(request) for request in requests],
        "request_tokens": [estimate(request) for request in requests],
    }
    emits = any(event["type"] == "compaction" for event in events)
    return output, {"model_calls": len(requests), "emits_compaction_event": emits}


def find_trouble(case: Json) -> str:
    """What happens to the first request: as the vector says, or as its name does."""
    named = case["input"].get("error_kind")
    if named is not None:
        return str(named)
    words = f"{case.get('id', '')} {case.get('note', '')}".lower().replace("-", "_").replace(" ", "_")
    for kind, marks in TROUBLES.items():
        if any(mark in words for mark in marks):
            return kind
    raise ValueError("the vector does not say what happens to its first request")


def _read_options(options: Json) -> tuple[Trigger, Target]:
    """Our trigger and target as the loop's options set them; a soft ratio of 0 switches the check off."""
    policy = find_policy(POLICY)
    ratio = options.get("proactiveCompactionSoftLimitRatio", policy.trigger.ratio)
    settings: Json = {
        "trigger.budget": options.get("contextBudgetTokens", BUDGET),
        "trigger.enabled": ratio > 0,
        "target.ratio": options.get("proactiveCompactionTargetRatio", 0.5),
    }
    policy = policy.configured(settings | ({"trigger.ratio": ratio} if ratio > 0 else {}))
    assert policy.target is not None
    return policy.trigger, policy.target


def _speak(script: Messages) -> tuple[Json, Messages, Messages]:
    """The scripted reply up to the next break: its message, its calls, and what is left of the script."""
    at = next((i for i, item in enumerate(script) if item["type"] == "turn_break"), len(script))
    words = [item["content"] for item in script[:at] if item["type"] == "assistant_message"]
    calls = [item["toolUse"] for item in script[:at] if item["type"] == "tool_use"]
    content: Any = [{"type": "tool_use", "toolUse": call} for call in calls]
    if words and calls:
        content = [{"type": "text", "text": words[0]}, *content]
    elif words:
        content = words[0]
    return {"role": "assistant", "content": content}, calls, script[at + 1 :]


def _tool_outputs(events: Messages) -> dict[str, Messages]:
    out: dict[str, Messages] = {}
    for event in events:
        if event["type"] == "tool_result":
            out.setdefault(event["result"]["toolUseId"], []).append(event["result"])
    return out
