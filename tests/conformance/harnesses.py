"""Vectors of today's agent harnesses, held to our policies: what fired, what stays, what was rewritten and how,
and where the summary stands.

A folder is a function or a program. Our wording is our own, so of a rewritten text the spans of the input are
compared, and the words only where the vector gives them. Pairs are left as they fall, as the real ones do.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inspector.planning.assemble import build_context
from inspector.planning.plan import Plan, make_plan
from inspector.policies.registry import find_policy
from inspector.policies.trigger import Reason
from inspector.session.blocks import Block, Text, ToolOutput
from inspector.session.entries import Boundary, Entry
from inspector.session.session import Session
from inspector.summaries.write import checkpoint_from_text
from inspector.tokens.counters import find_counter
from inspector.tokens.ledger import count_tokens

from .compare import Found, Outcome
from .harness_messages import Json, read_messages

AS_THEY_FALL = {"keep-pairs.enabled": True, "keep-pairs.form": "compat"}
NO_POLICY = "no policy for this folder"
SUMMARY = "SUMMARY"


def run(path: Path) -> Iterator[Outcome]:
    """Every vector under `path`, as ("folder/number", mismatches)."""
    files = path.glob("*/[0-9]*.json") if any(path.glob("*/[0-9]*.json")) else path.glob("[0-9]*.json")
    for file in sorted(files):
        if file.parent.name != "cases":
            yield f"{file.parent.name}/{file.stem}", check_file(file)


def check_file(file: Path) -> Found:
    """One vector. A check that breaks on it is a mismatch of this vector and of no other."""
    check = CHECKS.get(file.parent.name)
    if check is None:
        return [NO_POLICY]
    try:
        return list(check(json.loads(file.read_text("utf-8"))))
    except Exception as error:
        return [f"the check broke: {type(error).__name__}: {error}"]


def format_table(folders: Mapping[str, Counter[str]]) -> str:
    """Passed and failed by folder. A folder without a policy failed as a whole, and the table says so."""
    lines = [f"{'folder':<28}{'passed':>8}{'failed':>8}"]
    for name, counts in folders.items():
        said = f"  {NO_POLICY}" if counts["no policy"] else ""
        lines.append(f"{name:<28}{counts['passed']:>8}{counts['failed']:>8}{said}")
    return "\n".join(lines)


@dataclass(frozen=True)
class Left:
    """A message that the model would see next: the number of the input's, None for a new one, and its parts."""

    source: int | None
    role: str
    parts: Mapping[int, Block]


def plan_case(
    session: Session,
    policy: str,
    settings: Json,
    *,
    window: int | None = 0,
    reason: Reason = "auto",
    fires: bool | None = None,
) -> tuple[bool, list[Left]]:
    """Whether anything is done, and what is left. `fires` says so instead of the policy's trigger."""
    edits = {"settings": {**AS_THEY_FALL, **settings}}
    plan = make_plan(session, count_tokens(session, "chars4_utf16"), policy, edits, window=window, reason=reason)
    triggered = bool(plan.verdict.fires) if fires is None else fires
    if not triggered or not (plan.place is not None or plan.outcome.changed.any()):
        return False, [_whole(session, int(index)) for index in session.live.entries]
    return True, list(_read_left(session, plan))


def _whole(session: Session, number: int) -> Left:
    entry = session.entries[number]
    return Left(_number(entry.id), entry.role, dict(enumerate(entry.blocks)))


def _number(name: str) -> int | None:
    """The number of the input's message; a summary that was there before is none of them."""
    return int(name[1:]) if name[1:].isdigit() else None


def _read_left(session: Session, plan: Plan) -> Iterator[Left]:
    if plan.summarises:
        plan = plan.with_summary(checkpoint_from_text(SUMMARY))
    pieces = build_context(session, plan).pieces
    messages: dict[int, list[Any]] = {}
    for piece in pieces:
        messages.setdefault(piece.message, []).append(piece)
    found: list[Left] = []
    for several in messages.values():
        first = several[0]
        if first.summary or len(first.origin) != 1:
            found.append(Left(None, first.role, {0: first.block}))
            continue
        number = _number(first.origin[0].entry)
        parts = {piece.origin[0].block: piece.block for piece in several}
        found.append(Left(number, first.role, parts))
    yield from found


def compare(
    session: Session,
    done: tuple[bool, list[Left]],
    output: Json,
    expected: list[Json] | None = None,
) -> Iterator[str]:
    """What differs between what we leave and the vector's output."""
    fired, left = done
    if fired != output["fired"]:
        yield f".fired: {fired}, expected {output['fired']}"
    messages = output["messages"] if expected is None else expected
    mine, theirs = [_name(one) for one in left], [_told(one) for one in messages]
    if mine != theirs:
        yield f".messages: {_list(mine)}, expected {_list(theirs)}"
        return
    for one, told in zip(left, messages, strict=True):
        if one.source is not None:
            yield from (f".{one.source}{line}" for line in _compare_message(session, one, told))
    if "summary_at" in output and fired:
        places = [index for index, one in enumerate(left) if one.source is None]
        if output["summary_at"] not in (None, *places):
            yield f".summary_at: {places}, expected {output['summary_at']}"


def _name(one: Left) -> str:
    return "new" if one.source is None else str(one.source)


def _told(one: Json) -> str:
    return str(one["from"]) if "from" in one else "new"


def _list(names: list[str]) -> str:
    return " ".join(names)


def _compare_message(session: Session, one: Left, told: Json) -> Iterator[str]:
    assert one.source is not None
    before = dict(enumerate(session[f"m{one.source}"].blocks))
    if told.get("same"):
        if dict(one.parts) != before:
            yield f": changed, expected the same ({sorted(one.parts)} of {len(before)} parts)"
    elif "parts" in told:
        if sorted(one.parts) != told["parts"]:
            yield f".parts: {sorted(one.parts)}, expected {told['parts']}"
        elif any(before[index] != block for index, block in one.parts.items()):
            yield ".parts: rewritten, expected unchanged"
    elif "tool_calls" in told:
        was_calls = [block for block in before.values() if block.kind == "tool_call"]
        calls = [block for block in one.parts.values() if block.kind == "tool_call"]
        for was_call, call, theirs in zip(was_calls, calls, told["tool_calls"], strict=True):
            yield from _compare_input(was_call.input, call.input, theirs["args"])
    elif "content" in told:
        # What is said beside the calls: the reasoning is gone, the words are as they were.
        mine = [block.text for block in one.parts.values() if block.kind in ("text", "reasoning")]
        texts = [part["text"] for part in told["content"]]
        if mine != texts:
            yield f".content: {mine}, expected {texts}"
    elif "text" in told:
        was, now = _words(before), _words(one.parts)
        yield from compare_text(was, now, told["text"])
    elif dict(one.parts) == before and told.get("same") is False and set(told) - {"from", "same"}:
        yield f": the same, expected a change ({sorted(told)})"


def _compare_input(was: Json, now: Json, told: Json) -> Iterator[str]:
    if set(now) != set(told):
        yield f".input: {sorted(now)}, expected {sorted(told)}"
        return
    for name, value in told.items():
        if isinstance(value, list) and value and isinstance(value[0], dict) and "input" in value[0]:
            yield from compare_text(was[name], now[name], value)
        elif now[name] != value:
            yield f".input.{name}: {now[name]!r}, expected {value!r}"


def _words(parts: Mapping[int, Block]) -> str:
    blocks = parts.values()
    return "".join(
        "".join(p.text for p in b.parts if p.kind == "text") if isinstance(b, ToolOutput) else b.text
        for b in blocks
        if b.kind in ("text", "tool_output")
    )


def compare_text(was: str, now: str, segments: list[Json]) -> Iterator[str]:
    """Hold a rewritten text to the segments of a vector: the spans of the input, in order and no longer."""
    at = 0
    if now == was:
        yield ".text: as it was, expected rewritten"
        return
    for segment in segments:
        if "input" not in segment:
            continue
        start, end = segment["input"]
        found = now.find(was[start:end], at)
        if found < 0:
            yield f".text: the span {start}-{end} is not in it"
            return
        at = found + (end - start)
        longer = end < len(was) and now[at : at + 1] == was[end]
        # One equal character may be ours; the next but one tells.
        if longer and now[at : at + 4] == was[end : end + 4]:
            yield f".text: it goes on after {end}"
    kept = [segment for segment in segments if "input" in segment]
    opaque = any("fixed" in segment for segment in segments)
    if not kept and not opaque and was.strip() and was[:20] in now:
        yield ".text: it holds the beginning, expected nothing of it"


Check = Callable[[Json], Iterator[str]]


def check_ai_sdk(case: Json) -> Iterator[str]:
    """`pruneMessages` is called by the user, so nothing triggers."""
    given, session = case["settings"], read_messages(case["input"])
    newest = {"none": None, "all": 0, "before-last-message": 1}
    rules = given["toolCalls"]
    listed = [] if rules == "none" else [{"type": rules}] if isinstance(rules, str) else rules
    calls = [{"newest": _newest(rule["type"]), "tools": rule.get("tools") or ()} for rule in listed]
    settings = {
        "prune-parts.reasoning": newest[given["reasoning"]],
        "prune-parts.calls": calls,
    }
    # A message without parts is sent to nobody, and no context of ours holds one.
    expected = [told for told in case["output"]["messages"] if told.get("parts") != []]
    done = plan_case(session, "ai-sdk-prune", settings, fires=True)
    yield from compare(session, done, case["output"], expected)


def _newest(kind: str) -> int:
    if kind == "all":
        return 0
    return int(kind.split("-")[2]) if kind.endswith("messages") else 1


def check_mastra_filter(case: Json) -> Iterator[str]:
    given, session = case["settings"], read_messages(case["input"])
    calls = {"newest": given.get("filterAfterToolSteps", 0), "tools": given.get("exclude", ())}
    done = plan_case(session, "mastra-tool-call-filter", {"prune-parts.calls": [calls]})
    yield from compare(session, done, case["output"])


def check_langchain_summary(case: Json) -> Iterator[str]:
    given, session = case["settings"], read_messages(case["input"])
    settings = _keeps(given["keep"]) | _triggers(given["trigger"])
    window = given.get("model_max_input_tokens") or 0
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


def _triggers(given: Any) -> Json:
    """LangChain's trigger: a pair, a dict of which all have to hold, or a list of which one is enough."""
    if given is None:
        return {"trigger.enabled": False}
    join = "all" if isinstance(given, dict) else "any"
    if isinstance(given, dict):
        several = [_condition(*pair) for pair in given.items()]
    else:
        listed = [given] if isinstance(given[0], str) else given
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
    given, output, event = case["settings"], case["output"], case["input"].get("earlier_event")
    messages = case["input"]["messages"]
    bound = "bound" in str(case["case"])
    session = read_messages(messages, model="claude-opus-5-5" if bound else None)
    if event:
        session = _summarised(session, event["cutoff_index"])
    settings = {} if given["factory"] else _triggers(given["trigger"]) | _keeps(given["keep"])
    own = given.get("truncate_args_settings") or {}
    if own:
        settings["shorten-inputs.trigger_messages"] = own["trigger"][1]
        settings["shorten-inputs.newest"] = own["keep"][1]
        settings["shorten-inputs.limit"] = own.get("max_length", 2_000)
    else:
        settings["shorten-inputs.enabled"] = False
    reason: Reason = "overflow" if given["handler_overflows_first"] else "auto"
    window = given.get("model_max_input_tokens") or 0
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


def _summarised(session: Session, cutoff: int) -> Session:
    """The session with an earlier summary in the place of what is before `cutoff`."""
    first, last = session.entries[:cutoff], session.entries[cutoff:]
    boundary = Boundary(kind="compact", summary=SUMMARY)
    summary = Entry(id="summary", parent=first[-1].id, kind="compaction", boundary=boundary)
    summary = summary.model_copy(update={"blocks": (Text(text=SUMMARY),)})
    moved = last[0].model_copy(update={"parent": summary.id})
    return session.model_copy(update={"entries": (*first, summary, moved, *last[1:])})


def check_langchain_clear(case: Json) -> Iterator[str]:
    given, session = case["settings"], read_messages(case["input"])
    settings = {
        "trigger.tokens": given["trigger"],
        "trigger.measure": "langchain",
        "drop-old-outputs.keep": given["keep"],
        "drop-old-outputs.enough": given.get("clear_at_least") or None,
        "drop-old-outputs.clear_inputs": given.get("clear_tool_inputs", False),
        "drop-old-outputs.exclude_tools": given["exclude_tools"],
        "drop-old-outputs.only_longer": False,
    }
    yield from compare(session, plan_case(session, "langchain-clear", settings), case["output"])


def check_openai_trimmer(case: Json) -> Iterator[str]:
    given, session = case["settings"], read_messages(case["input"])
    settings = {
        "truncate-outputs.turns": given["recent_turns"],
        "truncate-outputs.limit": given["max_output_chars"],
        "truncate-outputs.preview": given["preview_chars"],
        "truncate-outputs.tools": given["trimmable_tools"] or (),
    }
    yield from compare(session, plan_case(session, "openai-agents-trimmer", settings), case["output"])


def check_openai_compaction(case: Json) -> Iterator[str]:
    """What the service answers is a fake's: the user messages of the items it was sent, and one sealed item."""
    given, session = case["settings"], read_messages(case["input"])
    arguments = given["args"] or {}
    settings: Json = {}
    if given["should_trigger"] == "ours":
        settings |= {"trigger.measure": "messages", "trigger.tokens": int(case["note"].split()[-2])}
    if any(request["mode"] == "previous_response_id" for request in case["output"]["compact_requests"]):
        settings["keep-user-words.tokens"] = 0  # nothing is sent, so the fake returns no user message
    fires = True if arguments.get("force") else None
    # The service that fails, and the history too long to restore: an error before anything is changed.
    if given["service_fails"] or given.get("max_rollback_items", given["items"]) < given["items"]:
        fires = False
    done = plan_case(session, "openai-agents-compaction", settings, fires=fires)
    # The fake's second item has the words of its first, so the vector takes the one for the other.
    sealed = {index for index, item in enumerate(case["input"]) if item.get("type") == "compaction"}
    told = case["output"]["messages"]
    expected = [{"new": True} if fires is not False and t.get("from") in sealed else t for t in told]
    yield from compare(session, done, case["output"], expected)


WINDOWS = {"gpt-5.5": 1_047_576, "gpt-5.1-codex": 400_000, "o3": 200_000, "openai/gpt-4o": 128_000}
"""What the package knows of the models in the vectors."""


def check_openai_server(case: Json) -> Iterator[str]:
    """The threshold that is sent; and what a compacted item leaves of the items before it, on our side."""
    given, session = case["settings"], read_messages(case["input"], compacted=True)
    own = given["policy"] or {}
    trigger = find_policy("openai-agents-server").trigger
    if own.get("type") == "dynamic":
        trigger = trigger.model_copy(update={"ratio": own["threshold"]})
    if own.get("type") == "static":
        trigger = trigger.model_copy(update={"tokens": own["threshold"]})
    window = (own.get("model_info") or {}).get("context_window") or WINDOWS.get(given["model"] or "", 0)
    told = case["output"]["request"]["context_management"][0]["compact_threshold"]
    if int(trigger.threshold(window)) != told:
        yield f".compact_threshold: {trigger.threshold(window)}, expected {told}"
    if not case["output"]["messages"]:
        return
    left = [_whole(session, index) for index in session.live.entries.tolist()]
    yield from compare(session, (len(left) < len(session.entries), left), case["output"])


def check_opencode(case: Json) -> Iterator[str]:
    """What the first request after the (last) compaction holds of the input, and which outputs were pruned."""
    given, output = case["settings"], case["output"]
    own = given["compaction"]
    asked = [given["prompt"], "and once more"] if given["again"] == "ask" else []
    session = read_messages([*case["input"], *({"role": "user", "content": text} for text in asked)])
    settings: Json = {
        "trigger.enabled": own.get("auto", True),
        "trigger.reserve_tokens": given["output"],
        "keep-recent-share.amount": own.get("preserve_recent_tokens"),
        "keep-recent-share.turns": own.get("tail_turns"),
    }
    window = given["context"]
    if given["input_limit"]:
        window = given["input_limit"]
        settings["trigger.reserve_tokens"] = own.get("reserved", min(20_000, given["output"]))
    if own.get("prune"):
        settings |= {"drop-old-outputs.enabled": True, "keep-recent-share.enabled": False}
        settings["summarise-older.enabled"] = False
        _, left = plan_case(session, "opencode", settings, window=window, fires=True)
        mine = [one.source for one in left if one.source is not None and _is_cleared(session, one)]
        theirs = [cleared["from"] for cleared in output["outputs_cleared"]]
        if mine != theirs:
            yield f".outputs_cleared: {mine}, expected {theirs}"
        return
    # Asked for by the user, or because the provider refused: the trigger has no say.
    refused = "REFUSE" in given["prompt"]
    fires = True if given["how"].startswith("summarize") or refused else None
    done = plan_case(session, "opencode", settings, window=window, fires=fires)
    if done[0] != output["fired"]:
        yield f".fired: {done[0]}, expected {output['fired']}"
    told = output["compactions"][0]["tail_start"] if output["compactions"] else 0
    tail = [one.source for one in done[1] if one.source is not None]
    expected = [] if told is None else list(range(told, len(session.entries)))
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
    """The agentic strategy. The basic one, which needs no model, has no policy."""
    given, session = case["settings"], read_messages(case["input"])
    if given["strategy"] == "basic" or given["mode"] == "overflow_recovery" or given["summariser_fails"]:
        yield "no policy for the basic strategy"
        return
    known = given["model_info"]
    limit = min(known.get(name, 10**9) for name in ("maxInputTokens", "contextWindow"))
    limit = 0.9 * limit if "maxInputTokens" not in known and known else limit if known else 0
    trigger = find_policy("cline").trigger
    size = given["estimate_of_request"]
    mine = sum(map(find_counter("cline").weigh or len, session.entries))
    # The system prompt and the frame of the request are 17 tokens, and each message is rounded here.
    plain = all(set(message) <= {"id", "role", "content"} for message in case["input"])
    if plain and abs(mine + 17 - size) > len(session.entries) + 2:
        yield f".estimate_of_request: {mine + 17}, expected {size}"
    fires = trigger.fires(size, limit) or given["mode"] == "manual"
    settings = {"keep-recent-share.amount": given.get("preserveRecentTokens")}
    if given["summariser_empty"]:
        fires = False  # an empty answer is no summary
    window = int(limit)
    done = plan_case(session, "cline", settings, window=window, fires=fires)
    yield from compare(session, done, case["output"])


def check_crewai(case: Json) -> Iterator[str]:
    """The window that is given already is 0.85 of the model's."""
    given, session = case["settings"], read_messages(case["input"])
    trigger = find_policy("crewai").trigger.model_copy(update={"ratio": 1.0})
    fires = trigger.fires(given["estimate_of_input"], given["usable_window"])
    refused = bool(given.get("forced_by_refusal"))
    # A model that fails, or whose window is too small for the request, leaves everything as it was.
    failed = given.get("model_fails") or case["output"].get("error") is not None
    done = plan_case(
        session,
        "crewai",
        {},
        window=given["usable_window"],
        reason="overflow" if refused else "auto",
        fires=(fires or refused) and not failed,
    )
    yield from compare(session, done, case["output"])


CHECKS: dict[str, Check] = {
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
