"""Checks of the folders of agent frameworks, as `harness_checks.py` has them for harnesses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from inspector.policies.registry import find_policy
from inspector.tokens.counters import find_counter

from .harness_left import compare, plan_case, summarised
from .harness_messages import Json, read_messages

Check = Callable[[Json], Iterator[str]]


def check_codex(case: Json) -> Iterator[str]:
    """The list that replaced the history the first time; what the file holds of the context is left aside."""
    options, output = case["settings"], case["output"]
    session = read_messages(case["input"])
    trigger = find_policy("codex").trigger
    limit, window = options["model_auto_compact_token_limit"], options["model_context_window"]
    if limit is not None:
        # The limit is bounded by the share of the window.
        limit = min(limit, trigger.threshold(window))
        trigger = trigger.model_copy(update={"tokens": int(limit), "at_least": True})
    reported = [options["last_usage_total_tokens"]]
    if len(options["prompts"]) > 1:
        reported.append(options["plan"]["default"])  # by the first reply, looked at before the next prompt
    fires = any(trigger.fires(tokens, window) for tokens in reported)
    expected = [{"from": n} for n in range(len(session.entries))]
    if output.get("compactions"):
        replaced = output["compactions"][0]["replacement_history"]
        expected = [
            one if "from" in one else {"new": True} for one in replaced if "from" in one or _is_summary(one)
        ]
    done = plan_case(session, "codex", {}, window=window, fires=fires)
    yield from compare(session, done, output | {"messages": expected})


def _is_summary(one: Json) -> bool:
    return any("SUMMARY" in segment.get("ours", "") for segment in one.get("text", ()))


def check_strands_sliding(case: Json) -> Iterator[str]:
    options, session = case["settings"], read_messages(_list_of(case["input"]))
    settings: Json = {
        "trigger.tokens": options["window_size"],
        "keep-recent-share.amount": options["window_size"],
        "truncate-outputs.enabled": options["should_truncate_results"],
    }
    refused = options["called"].startswith("reduce_context")
    for _ in range(options["times"] - 1):
        # The first of two calls: the second runs on what it left.
        _, left = plan_case(session, "strands-sliding-window", settings, reason="overflow")
        session = session.model_copy(
            update={
                "entries": _relink([session.entries[one.source] for one in left if one.source is not None])
            }
        )
    done = plan_case(session, "strands-sliding-window", settings, reason="overflow" if refused else "auto")
    messages = [one for record in case["output"]["messages"] for one in _split_joined(case, record)]
    yield from compare(session, done, case["output"] | {"messages": messages})


def _relink(entries: list[Any]) -> tuple[Any, ...]:
    parents = [None, *(entry.id for entry in entries)]
    return tuple(
        entry.model_copy(update={"parent": parent}) for entry, parent in zip(entries, parents, strict=False)
    )


def _list_of(options: Any) -> list[Json]:
    messages: list[Json] = options["messages"] if isinstance(options, dict) else options
    return messages


def check_strands_context(case: Json) -> Iterator[str]:
    options, session = case["settings"], read_messages(_list_of(case["input"]))
    weigh = find_counter("strands").weigh
    assert weigh is not None
    if (ours := sum(map(weigh, session.entries))) != options["estimate_of_input"]:
        yield f".estimate_of_input: {ours}, expected {options['estimate_of_input']}"
    no_summary = {"keep-recent-share.enabled": False, "summarise-older.enabled": False}
    dropped = {"summarise-older.enabled": False, "drop-older.enabled": True}
    presets: dict[str, Json] = {
        "auto": {},
        "agentic": {"truncate-outputs.limit": 32_000, "target.ratio": 1.0},
        "proactive_summarization": {
            "truncate-outputs.enabled": False,
            "target.ratio": 0.7,
            "keep-recent-share.amount": None,
            "keep-recent-share.share": 0.7,
        },
        "large_tool_offloading": {
            "truncate-outputs.limit": 10_000,
            "truncate-outputs.preview": 2_400,
            "truncate-outputs.tail": 1_600,
        }
        | no_summary,
        "overflow_protection": {"truncate-outputs.enabled": False, "target.ratio": 1.0} | dropped,
        "stale_tool_cleanup": no_summary
        | {"truncate-outputs.enabled": False, "drop-old-outputs.enabled": True},
    }
    named = options["preset"] or options["strategies"][0]
    settings = presets[named]
    if options["summariser_fails"]:
        # Without a summary the oldest fifth goes, the first message excepted.
        left = len(session.entries) - 1 - len(session.entries) // 5
        settings = settings | dropped | {"keep-recent-share.amount": left}
    done = plan_case(
        session,
        "strands-context-manager",
        settings,
        window=options["context_window_limit"],
        reason="overflow" if options["overflow"] else "auto",
    )
    messages = [one for record in case["output"]["messages"] for one in _split_joined(case, record)]
    yield from compare(session, done, case["output"] | {"messages": messages})


def _split_joined(case: Json, record: Json) -> Iterator[Json]:
    """A message into which the mark of what was left out is joined, as the mark and the message."""
    if not record.get("new_or_changed"):
        yield record
        return
    inputs, parts = _list_of(case["input"]), record["content"]
    results = [part["toolResult"] for part in parts if "toolResult" in part]
    if results:
        ids = {result["toolUseId"] for result in results}
        texts = [segment for result in results for part in result["content"] for segment in part["text"]]
        number = next((segment["of"] for segment in texts if "of" in segment), None)
        if number is None:
            number = next(
                at
                for at, message in enumerate(inputs)
                if at not in case.setdefault("seen", set())
                and any(part.get("toolResult", {}).get("toolUseId") in ids for part in message["content"])
                and any(part.get("toolResult", {}).get("status") == "success" for part in message["content"])
            )
            case["seen"].add(number)
        kept = [segment for segment in texts if "input" in segment]
        yield {"from": number, "same": False, "text": kept or [{"fixed": {}}]}
        return
    yield {"new": True, "role": record["role"]}
    own = [part for part in parts if not _is_mark(part)]
    if own:
        yield {"from": _find_source(inputs, own), "same": True}


def _is_mark(part: Json) -> bool:
    segments = part.get("text")
    return isinstance(segments, list) and not any("input_of" in segment for segment in segments)


def _find_source(inputs: list[Json], parts: list[Json]) -> int:
    for part in parts:
        if "text" in part and isinstance(part["text"], list):
            return int(part["text"][0]["input_of"])
    for number, message in enumerate(inputs):
        if all(part in message["content"] for part in parts):
            return number
    raise ValueError("no message of the input has these parts")


def check_adk(case: Json) -> Iterator[str]:
    """Tokens first, the turns only if they rest. A summary appended before stands where its range began."""
    options, output = case["settings"], case["output"]
    events = case["input"]
    session = read_messages([event for event in events if event.get("content")])
    numbers = [n for n, event in enumerate(events) if event.get("content")]
    earlier = [event["compaction"] for event in events if not event.get("content")]
    end = 0
    for record in earlier:
        end = sum(
            1 for event in events if event.get("content") and event["timestamp"] <= record["end_timestamp"]
        )
        text = record["text"]
        session = summarised(session, end, text)
    measured, limit = options["measured_prompt_tokens"], options.get("token_threshold")
    waits = {i for event in events for i in event.get("long_running_tool_ids") or ()}
    tools = {
        block.name
        for entry in session.entries
        for block in entry.blocks
        if block.kind == "tool_call" and block.id in waits
    }
    by_tokens = limit is not None and find_policy("adk-tokens").trigger.model_copy(
        update={"tokens": limit}
    ).fires(measured, 0)
    if by_tokens:
        settings: Json = {"keep-recent-share.amount": options["event_retention_size"]}
        policy, fires = "adk-tokens", True
    else:
        settings = {"trigger.tokens": options.get("compaction_interval", 10**9)}
        policy, fires = "adk-window", None
    settings["keep-recent-share.awaited"] = sorted(tools)
    if options["summariser_fails"]:
        fires = False
    done = plan_case(session, policy, settings, fires=fires)
    names = {number: at for at, number in enumerate(numbers)}
    expected = [
        {**one, "from": names[one["from"]]} if "from" in one else {"new": True} for one in output["messages"]
    ]
    yield from compare(session, done, output | {"messages": expected})


def check_agno(case: Json) -> Iterator[str]:
    options, session = case["settings"], read_messages(_list_of(case["input"]))
    limit = options["compact_at_tokens"]
    settings: Json = {"keep-recent-share.turns": options.get("uncompacted_runs")}
    fires: bool | None = None
    if limit is None:
        # Only the user asks for it, and no half of a threshold bounds what stays.
        fires, limit = True, 2 * options["estimate_of_input"]
    else:
        trigger = find_policy("agno-compaction").trigger.model_copy(update={"tokens": limit})
        fires = trigger.fires(options["estimate_of_input"], 0)
    settings["trigger.tokens"] = limit
    if options.get("enforce_min_fold_ratio"):
        settings["keep-recent-share.share"] = 1 / 3  # what goes has to be twice what stays
    if options.get("uncompacted_tokens") is not None:
        settings["keep-recent-share.amount"] = min(options["uncompacted_tokens"], limit // 2)
    if options["summariser_fails"]:
        fires = False
    done = plan_case(session, "agno-compaction", settings, fires=fires)
    yield from compare(session, done, case["output"])


def check_agent_framework(case: Json) -> Iterator[str]:
    options, session = case["settings"], read_messages(_list_of(case["input"]))
    weigh = find_counter("agent-framework").weigh
    assert weigh is not None
    named = [
        entry.model_copy(update={"id": message["id"]})
        for entry, message in zip(session.entries, _list_of(case["input"]), strict=True)
    ]
    if (ours := sum(map(weigh, named))) != options["estimate_of_input"]:
        yield f".estimate_of_input: {ours}, expected {options['estimate_of_input']}"
    policy, settings, fires = "agent-framework", {}, None
    window = options.get("max_context_window_tokens", 0) - options.get("max_output_tokens", 0)
    if options["strategy"] == "SummarizationStrategy":
        policy = "agent-framework-summary"
        settings = {
            "trigger.tokens": options["target_count"] + options["threshold"],
            "keep-recent-share.amount": options["target_count"],
            "summarise-older.shown": options["max_summary_input_tokens"],
        }
        # A summariser that fails or answers with nothing leaves all as it was.
        if options["summariser_calls"] and not case["output"]["fired"]:
            fires = False
    else:
        settings = _strategy(options)
    if "Summar" not in options["strategy"] and "ContextWindow" not in options["strategy"]:
        fires = None if "trigger.tokens" in settings else True
    done = plan_case(session, policy, settings, window=window, fires=fires)
    numbers = {message["id"]: at for at, message in enumerate(_list_of(case["input"]))}
    messages = []
    for one in case["output"]["messages"]:
        if str(one.get("id", "")).startswith("tool_summary_group_"):
            number = numbers[one["stands_for"][0]]
            one = {"from": number, "folded": [s for s in one["text"] if "of" in s], "ids": numbers}
        messages.append(one)
    yield from compare(session, done, case["output"] | {"messages": messages})


def _strategy(options: Json) -> Json:
    name, keep = options["strategy"], options.get("keep_last_tool_call_groups")
    system = {True: "stay", False: "go"}[options.get("preserve_system", True)]
    only = {
        "fold-calls.enabled": False,
        "drop-groups.share": None,
        "drop-groups.ratio": None,
        "drop-groups.system": system,
    }
    match name:
        case "ContextWindowCompactionStrategy":
            return {
                "trigger.ratio": options["tool_eviction_threshold"],
                "drop-groups.ratio": options["truncation_threshold"],
                "fold-calls.keep": keep,
                "drop-groups.share": options["tool_eviction_threshold"],
                "drop-groups.first_prompt": options["preserve_first_user_group"],
            }
        case "TruncationStrategy":
            return only | {
                "trigger.ratio": None,
                "trigger.tokens": options["max_n"],
                "trigger.measure": "messages",
                "drop-groups.amount": options["compact_to"],
                "drop-groups.measure": "messages",
            }
        case "SlidingWindowStrategy":
            amounts = {"drop-groups.amount": options["keep_last_groups"], "drop-groups.measure": "groups"}
            return only | amounts
        case "SelectiveToolCallCompactionStrategy":
            return only | {
                "drop-groups.amount": keep,
                "drop-groups.measure": "groups",
                "drop-groups.calls_only": True,
                "drop-groups.newest": 0,
            }
        case "ToolResultCompactionStrategy":
            return {"fold-calls.keep": keep, "drop-groups.enabled": False}
        case "TokenBudgetComposedStrategy":
            inner = " ".join(options["strategies"])
            groups = int(inner.partition("'keep_last_groups': ")[2].partition(",")[0] or 0)
            folds = int(inner.partition("'keep_last_tool_call_groups': ")[2].partition("}")[0] or -1)
            return {
                "fold-calls.enabled": folds >= 0,
                "fold-calls.keep": max(folds, 0),
                "drop-groups.share": None,
                "drop-groups.ratio": None,
                "drop-groups.amount": options["token_budget"],
                "drop-groups.most": groups or None,
                "drop-groups.system": "last",
            }
    raise ValueError(f"no strategy {name}")


def check_mastra_limiter(case: Json) -> Iterator[str]:
    options, session = case["settings"], read_messages(case["input"])
    settings = {"drop-groups.order": options["trimMode"], "drop-groups.amount": options["limit"]}
    done = plan_case(session, "mastra-token-limiter", settings)
    output = case["output"]
    if output.get("error"):
        # The real processor raises; nothing of a request is left to compare.
        if done[0]:
            yield ".fired: True, expected an error"
        return
    yield from compare(session, done, output)


def check_agno_compression(case: Json) -> Iterator[str]:
    """Each output so far, by a model of its own; what the model writes is a fake's."""
    options, session = case["settings"], read_messages(_list_of(case["input"]))
    limit = options["compress_tool_results_limit"]
    settings: Json = {"trigger.enabled": limit is not None and options["compress_tool_results"]}
    settings["trigger.tokens"] = limit or 0
    yield from compare(session, plan_case(session, "agno-compression", settings), case["output"])


def check_haystack(case: Json) -> Iterator[str]:
    """One of three compactors. The window is less what stands besides the messages."""
    options, session = case["settings"], read_messages(_list_of(case["input"]))
    policy = {
        "SlidingWindowCompactor": "haystack-window",
        "ToolResultPruningCompactor": "haystack-pruning",
        "SummarizationCompactor": "haystack-summary",
    }.get(options["compactor"])
    if policy is None:
        yield f"no policy for {options['compactor']}"
        return
    window, extra = options["context_window"], options.get("context_tokens") or 0
    target, summarises = options["compact_to"], policy == "haystack-summary"
    settings: Json = {"trigger.ratio": options["compact_at"]}
    if policy == "haystack-pruning":
        settings |= {
            "drop-old-outputs.share": target,
            "drop-old-outputs.keep_steps": options["min_keep_steps"],
            "drop-old-outputs.longer": options["min_tokens"],
        }
    else:
        settings |= {"drop-groups.share": target, "drop-groups.newest": options["min_keep_steps"]}
        settings["drop-groups.overhead"] = options.get("approximate_summary_tokens", 0)
    size = max(options["estimate_of_input"], extra)
    trigger = find_policy(policy).trigger.model_copy(update={"ratio": options["compact_at"]})
    fires = trigger.fires(size, window)
    # A summariser that fails, or whose summary does not shrink, leaves all as it was.
    if summarises and case["output"]["summariser_calls"] and not case["output"]["fired"]:
        fires = False
    done = plan_case(session, policy, settings, window=window, fires=fires)
    yield from compare(session, done, case["output"])


FRAMEWORK_CHECKS: dict[str, Check] = {
    "codex": check_codex,
    "strands-sliding-window": check_strands_sliding,
    "strands-context-manager": check_strands_context,
    "adk": check_adk,
    "agno-compaction": check_agno,
    "agno-compression": check_agno_compression,
    "haystack": check_haystack,
    "agent-framework": check_agent_framework,
    "mastra-token-limiter": check_mastra_limiter,
}
"""The folders that these checks are for."""
