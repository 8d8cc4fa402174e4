"""One check for each folder of vectors: its settings as settings of our policy, and its output compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from inspector.policies.registry import find_policy
from inspector.policies.trigger import Reason
from inspector.session.session import Session
from inspector.tokens.counters import find_counter

from .claude_checks import check_claude_code
from .framework_checks import FRAMEWORK_CHECKS
from .harness_left import Left, compare, find_whole, plan_case, summarised
from .harness_messages import Json, read_messages

Check = Callable[[Json], Iterator[str]]


def check_ai_sdk(case: Json) -> Iterator[str]:
    """`pruneMessages` is called by the user, so nothing triggers."""
    options, session = case["settings"], read_messages(case["input"])
    newest = {"none": None, "all": 0, "before-last-message": 1}
    rules = options["toolCalls"]
    listed = [] if rules == "none" else [{"type": rules}] if isinstance(rules, str) else rules
    calls = [{"newest": _newest(rule["type"]), "tools": rule.get("tools") or ()} for rule in listed]
    settings = {
        "prune-parts.reasoning": newest[options["reasoning"]],
        "prune-parts.calls": calls,
    }
    # A message without parts is sent to nobody, and no context of ours holds one.
    expected = [record for record in case["output"]["messages"] if record.get("parts") != []]
    done = plan_case(session, "ai-sdk-prune", settings, fires=True)
    yield from compare(session, done, case["output"], expected)


def _newest(kind: str) -> int:
    if kind == "all":
        return 0
    return int(kind.split("-")[2]) if kind.endswith("messages") else 1


def check_mastra_filter(case: Json) -> Iterator[str]:
    options, session = case["settings"], read_messages(case["input"])
    calls = {"newest": options.get("filterAfterToolSteps", 0), "tools": options.get("exclude", ())}
    done = plan_case(session, "mastra-tool-call-filter", {"prune-parts.calls": [calls]})
    yield from compare(session, done, case["output"])


def check_langchain_summary(case: Json) -> Iterator[str]:
    options, session = case["settings"], read_messages(case["input"])
    settings = _keeps(options["keep"]) | _triggers(options["trigger"])
    window = options.get("model_max_input_tokens") or 0
    done = plan_case(session, "langchain-summarization", settings, window=window)
    yield from compare(session, done, case["output"])


def _keeps(pair: list[Any]) -> Json:
    kind, amount = pair
    keep = {
        "share": amount if kind == "fraction" else 0.3,
        "amount": None if kind == "fraction" else amount,
        "of": "window",
        "measure": "messages" if kind == "messages" else "langchain",
    }
    return {f"keep-recent-share.{knob}": value for knob, value in keep.items()}


def _triggers(options: Any) -> Json:
    """LangChain's trigger: a pair, a dict of which all have to hold, or a list of which one is enough."""
    if options is None:
        return {"trigger.enabled": False}
    join = "all" if isinstance(options, dict) else "any"
    if isinstance(options, dict):
        several = [_condition(*pair) for pair in options.items()]
    else:
        listed = [options] if isinstance(options[0], str) else options
        # A dict in a list is a condition of its own, which only a list of one can hold here.
        pairs = [pair for one in listed for pair in (one.items() if isinstance(one, dict) else [one])]
        join = "all" if len(listed) == 1 and isinstance(listed[0], dict) else join
        several = [_condition(*pair) for pair in pairs]
    first, *rest = several
    return {**{f"trigger.{k}": v for k, v in first.items()}, "trigger.join": join, "trigger.also": rest}


def _condition(kind: str, value: Any) -> Json:
    measure = "messages" if kind == "messages" else "langchain"
    size = {"ratio": value} if kind == "fraction" else {"tokens": value, "at_least": True}
    return {"measure": measure, **size}


def check_deepagents(case: Json) -> Iterator[str]:
    """The last request of the call: state keeps every message, and an earlier summary stands in a request."""
    options, output, event = case["settings"], case["output"], case["input"].get("earlier_event")
    messages = case["input"]["messages"]
    bound = "bound" in str(case["case"])
    session = read_messages(messages, model="claude-opus-5-5" if bound else None)
    if event:
        session = summarised(session, event["cutoff_index"])
    settings = {} if options["factory"] else _triggers(options["trigger"]) | _keeps(options["keep"])
    own = options.get("truncate_args_settings") or {}
    if own:
        settings["shorten-inputs.trigger_messages"] = own["trigger"][1]
        settings["shorten-inputs.newest"] = own["keep"][1]
        settings["shorten-inputs.limit"] = own.get("max_length", 2_000)
    else:
        settings["shorten-inputs.enabled"] = False
    reason: Reason = "overflow" if options["handler_overflows_first"] else "auto"
    window = options.get("model_max_input_tokens") or 0
    fires = True if reason == "overflow" else None
    done = plan_case(session, "deepagents", settings, window=window, reason=reason, fires=fires)
    if done[0] != (output["fired"] or len(output["requests"]) > 1):
        yield f".fired: {done[0]}, expected {output['fired']}"
    if not done[0]:
        # The inputs of calls are shortened before every request, whatever fires.
        only = {f"{kind}.enabled": False for kind in ("keep-recent-share", "summarise-older")}
        _, left = plan_case(session, "deepagents", settings | only, window=window, fires=True)
        done = (done[0], left)
    yield from compare(session, done, output | {"fired": done[0]}, output["requests"][-1])


def check_langchain_clear(case: Json) -> Iterator[str]:
    options, session = case["settings"], read_messages(case["input"])
    settings = {
        "trigger.tokens": options["trigger"],
        "trigger.measure": "langchain",
        "drop-old-outputs.keep": options["keep"],
        "drop-old-outputs.enough": options.get("clear_at_least") or None,
        "drop-old-outputs.clear_inputs": options.get("clear_tool_inputs", False),
        "drop-old-outputs.exclude_tools": options["exclude_tools"],
        "drop-old-outputs.only_longer": False,
    }
    yield from compare(session, plan_case(session, "langchain-clear", settings), case["output"])


def check_openai_trimmer(case: Json) -> Iterator[str]:
    options, session = case["settings"], read_messages(case["input"])
    settings = {
        "truncate-outputs.turns": options["recent_turns"],
        "truncate-outputs.limit": options["max_output_chars"],
        "truncate-outputs.preview": options["preview_chars"],
        "truncate-outputs.tools": options["trimmable_tools"] or (),
    }
    yield from compare(session, plan_case(session, "openai-agents-trimmer", settings), case["output"])


def check_openai_compaction(case: Json) -> Iterator[str]:
    """What the service answers is a fake's: the user messages of the items it was sent, and one sealed
    item."""
    options, session = case["settings"], read_messages(case["input"])
    arguments = options["args"] or {}
    settings: Json = {}
    if options["should_trigger"] == "ours":
        settings |= {"trigger.measure": "messages", "trigger.tokens": int(case["note"].split()[-2])}
    if any(request["mode"] == "previous_response_id" for request in case["output"]["compact_requests"]):
        settings["keep-user-words.tokens"] = 0  # nothing is sent, so the fake returns no user message
    fires = True if arguments.get("force") else None
    # The service that fails, and the history too long to restore: an error before anything is changed.
    if options["service_fails"] or options.get("max_rollback_items", options["items"]) < options["items"]:
        fires = False
    done = plan_case(session, "openai-agents-compaction", settings, fires=fires)
    # The fake's second item has the words of its first, so the vector takes the one for the other.
    sealed = {index for index, item in enumerate(case["input"]) if item.get("type") == "compaction"}
    record = case["output"]["messages"]
    expected = [{"new": True} if fires is not False and t.get("from") in sealed else t for t in record]
    yield from compare(session, done, case["output"], expected)


WINDOWS = {"gpt-5.5": 1_047_576, "gpt-5.1-codex": 400_000, "o3": 200_000, "openai/gpt-4o": 128_000}
"""What the package knows of the models in the vectors."""


def check_openai_server(case: Json) -> Iterator[str]:
    """The threshold that is sent; and what a compacted item leaves of the items before it, on our side."""
    options, session = case["settings"], read_messages(case["input"], compacted=True)
    own = options["policy"] or {}
    trigger = find_policy("openai-agents-server").trigger
    if own.get("type") == "dynamic":
        trigger = trigger.model_copy(update={"ratio": own["threshold"]})
    if own.get("type") == "static":
        trigger = trigger.model_copy(update={"tokens": own["threshold"]})
    window = (own.get("model_info") or {}).get("context_window") or WINDOWS.get(options["model"] or "", 0)
    record = case["output"]["request"]["context_management"][0]["compact_threshold"]
    if trigger.threshold(window) != record:
        yield f".compact_threshold: {trigger.threshold(window)}, expected {record}"
    if not case["output"]["messages"]:
        return
    left = [find_whole(session, index) for index in session.live.entries.tolist()]
    yield from compare(session, (len(left) < len(session.entries), left), case["output"])


def check_opencode(case: Json) -> Iterator[str]:
    """What the first request after the (last) compaction holds of the input, and which outputs were
    pruned."""
    options, output = case["settings"], case["output"]
    own = options["compaction"]
    asked = [options["prompt"], "and once more"] if options["again"] == "ask" else []
    session = read_messages([*case["input"], *({"role": "user", "content": text} for text in asked)])
    settings: Json = {
        "trigger.enabled": own.get("auto", True),
        "trigger.reserve_tokens": options["output"],
        "keep-recent-share.amount": own.get("preserve_recent_tokens"),
        "keep-recent-share.turns": own.get("tail_turns"),
    }
    window = options["context"]
    if options["input_limit"]:
        window = options["input_limit"]
        settings["trigger.reserve_tokens"] = own.get("reserved", min(20_000, options["output"]))
    if own.get("prune"):
        settings |= {"drop-old-outputs.enabled": True, "keep-recent-share.enabled": False}
        settings["summarise-older.enabled"] = False
        _, left = plan_case(session, "opencode", settings, window=window, fires=True)
        ours = [one.source for one in left if one.source is not None and _is_cleared(session, one)]
        real = [cleared["from"] for cleared in output["outputs_cleared"]]
        if ours != real:
            yield f".outputs_cleared: {ours}, expected {real}"
        return
    # Asked for by the user, or because the provider refused: the trigger has no say.
    refused = "REFUSE" in options["prompt"]
    fires = True if options["how"].startswith("summarize") or refused else None
    done = plan_case(session, "opencode", settings, window=window, fires=fires)
    if done[0] != output["fired"]:
        yield f".fired: {done[0]}, expected {output['fired']}"
    record = output["compactions"][0]["tail_start"] if output["compactions"] else 0
    tail = [one.source for one in done[1] if one.source is not None]
    expected = [] if record is None else list(range(record, len(session.entries)))
    if tail != expected:
        yield f".tail: {tail}, expected {expected}"
    sent = [r["messages"] for r in output["requests"] if r["kind"] == "model"]
    numbers = list(dict.fromkeys(m["from"] for m in sent[refused] if "from" in m))
    if tail != numbers:
        yield f".messages: {tail}, expected {numbers}"
    shown = [r["shown"] for r in output["requests"] if r["kind"] == "summariser"][:1]
    older = [number for number in range(len(session.entries)) if number not in tail]
    if shown != ([older] if output["fired"] else []):
        yield f".shown: {older}, expected {shown}"


def _is_cleared(session: Session, one: Left) -> bool:
    assert one.source is not None
    before = session.entries[one.source].blocks
    return any(b.kind == "tool_output" and b != before[at] for at, b in one.parts.items())


def check_cline(case: Json) -> Iterator[str]:
    """The agentic strategy, and the basic one where it is set or stands in for it."""
    options, session = case["settings"], read_messages(case["input"])
    known = options["model_info"]
    limit = min(known.get(name, 10**9) for name in ("maxInputTokens", "contextWindow"))
    limit = 0.9 * limit if "maxInputTokens" not in known and known else limit if known else 0
    trigger = find_policy("cline").trigger
    size = options["estimate_of_request"]
    ours = sum(map(find_counter("cline").weigh or len, session.entries))
    # The system prompt and the frame of the request are 17 tokens, and each message is rounded here.
    plain = all(set(message) <= {"id", "role", "content"} for message in case["input"])
    if plain and abs(ours + 17 - size) > len(session.entries) + 2:
        yield f".estimate_of_request: {ours + 17}, expected {size}"
    fires = trigger.fires(size, limit) or options["mode"] != "auto"
    if (
        options["strategy"] == "basic"
        or options["mode"] == "overflow_recovery"
        or options["summariser_fails"]
    ):
        yield from _check_cline_basic(case, session, limit, fires)
        return
    settings = {"keep-recent-share.amount": options.get("preserveRecentTokens")}
    if options["summariser_empty"]:
        fires = False  # an empty answer is no summary
    window = int(limit)
    done = plan_case(session, "cline", settings, window=window, fires=fires)
    yield from compare(session, done, case["output"])


CLINE_FRAME = 18
"""Tokens of the system prompt and the frame of a request in the vectors."""


def _check_cline_basic(case: Json, session: Session, limit: float, fires: bool) -> Iterator[str]:
    options, size = case["settings"], case["settings"]["estimate_of_request"]
    settings: Json = {"keep-prompts.overhead": CLINE_FRAME}
    pairs = sum(message["role"] == "assistant" for message in case["input"])
    if options["mode"] == "overflow_recovery":
        settings["keep-prompts.amount"] = size // 2
    elif options["mode"] == "manual":
        settings["keep-prompts.amount"] = int(size * options["manualTargetRatio"])
    elif pairs >= 5 and options["model_info"].get("maxTokens", limit) < limit:
        settings["keep-prompts.amount"] = int(limit / 2)
    survived = [n for n, m in enumerate(case["input"]) if (m.get("metadata") or {}).get("compaction")]
    settings["keep-prompts.frozen"] = survived[-1] + 1 if survived else 0
    done = plan_case(session, "cline-basic", settings, window=int(limit), fires=fires)
    prompts = [n for n, entry in enumerate(session.entries) if entry.opens_turn]
    expected: list[Json] = []
    for one in case["output"]["messages"]:
        texts = one.get("content") or []
        if one.get("same") or not texts:
            expected.append({"from": one["from"], "same": True} if one.get("same") else one)
            continue
        # Adjacent prompts are one message there. A text that is not a prompt's is a notice.
        place = prompts.index(one["from"])
        own = [text for text in texts if "fixed" not in str(text.get("text"))]
        for number, text in zip(prompts[place : place + len(own)], own, strict=True):
            expected.append({"from": number, "starts": text})
    yield from compare(session, done, case["output"] | {"messages": expected})


def check_crewai(case: Json) -> Iterator[str]:
    """The window that is options already is 0.85 of the model's."""
    options, session = case["settings"], read_messages(case["input"])
    trigger = find_policy("crewai").trigger.model_copy(update={"ratio": 1.0})
    fires = trigger.fires(options["estimate_of_input"], options["usable_window"])
    refused = bool(options.get("forced_by_refusal"))
    # A model that fails, or whose window is too small for the request, leaves everything as it was.
    failed = options.get("model_fails") or case["output"].get("error") is not None
    done = plan_case(
        session,
        "crewai",
        {},
        window=options["usable_window"],
        reason="overflow" if refused else "auto",
        fires=(fires or refused) and not failed,
    )
    yield from compare(session, done, case["output"])


def check_strands_summarizing(case: Json) -> Iterator[str]:
    """Only a refusal, or the user's own threshold, asks for a summary; a failing one leaves all as it was."""
    options, session = case["settings"], read_messages(_list_of(case["input"]))
    # A tenth of twenty is two: 1 - 0.9 in floating point is a little less than that.
    share = 1 - min(max(options["summary_ratio"], 0.1), 0.8) - 1e-12
    settings = {
        "keep-recent-share.share": share,
        "keep-recent-share.lowest": options["preserve_recent_messages"],
    }
    fires = not options.get("summariser_fails")
    done = plan_case(session, "strands-summarizing", settings, reason="overflow", fires=fires)
    yield from compare(session, done, case["output"])


def _list_of(options: Any) -> list[Json]:
    messages: list[Json] = options["messages"] if isinstance(options, dict) else options
    return messages


def check_deepseek(case: Json) -> Iterator[str]:
    """The surface after the call. What is refused because it does not shrink is the harness's to refuse."""
    options, session, output = case["settings"], read_messages(_list_of(case["input"])), case["output"]
    weigh = find_counter("deepseek").weigh
    assert weigh is not None
    if "node_tokens" in options and (ours := [weigh(e) for e in session.entries]) != options["node_tokens"]:
        yield f".node_tokens: {ours}, expected {options['node_tokens']}"
    pruner = options.get("pruner")
    policy = "deepseek-harness-pruner" if pruner else "deepseek-harness"
    settings: Json = {
        "trigger.ratio": options["thresholdRatio"],
        "trigger.measure": "deepseek",  # the vectors report no usage
        "keep-recent-share.share": options["retainRatio"],
    }
    if pruner:
        settings |= {
            "target.ratio": options["thresholdRatio"],
            "truncate-outputs.limit": pruner["thresholdChars"],
            "truncate-outputs.preview": pruner["headChars"],
            "truncate-outputs.tail": pruner["tailChars"],
        }
    refused = options["trigger"] == "context-overflow"
    window = options["context_window"]
    trigger = find_policy(policy).trigger.model_copy(update={"ratio": options["thresholdRatio"]})
    fires = refused or (window is not None and trigger.fires(options["estimate_before"], window))
    same = all(record.get("same") for record in output["messages"])
    if output.get("error") and same:
        if find_policy(policy).harness.adopt != "smaller":
            yield ".adopt: a result that is not smaller would be adopted"
        fires = False
    done = plan_case(
        session,
        policy,
        settings,
        window=window or 0,
        reason="overflow" if refused else "auto",
        fires=fires,
    )
    fired = output["fired"] and not (output.get("error") and same)
    yield from compare(session, done, output | {"fired": fired}, utf16=True)


CHECKS: dict[str, Check] = {
    **FRAMEWORK_CHECKS,
    "claude-code": check_claude_code,
    "strands-summarizing": check_strands_summarizing,
    "deepseek-harness": check_deepseek,
    "crewai": check_crewai,
    "cline": check_cline,
    "deepagents-summarization": check_deepagents,
    "opencode": check_opencode,
    "openai-agents-compaction": check_openai_compaction,
    "openai-agents-server-side": check_openai_server,
    "openai-agents-trimmer": check_openai_trimmer,
    "langchain-clear": check_langchain_clear,
    "langchain-summarization": check_langchain_summary,
    "mastra-tool-call-filter": check_mastra_filter,
    "ai-sdk-prune": check_ai_sdk,
}
"""The folders that a policy is held to."""
