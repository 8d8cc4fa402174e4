"""Flue's vectors, value by value, against our reader, counters, rules and plan.

The same vectors carry what Flue 2 and three versions of pi make of a session; `pi.py` checks the latter.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from inspector.errors import EmptySession
from inspector.formats.readers import read_session
from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.planning.summary_jobs import Reply, SummaryJob
from inspector.policies.builtin.flue import FLUE
from inspector.policies.builtin.flue_2 import FLUE_2
from inspector.policies.builtin.pi import PI
from inspector.policies.builtin.pi import VERSIONS as VERSIONS_OF_PI
from inspector.policies.policy import Edits
from inspector.policies.rules.carry_file_operations import collect
from inspector.policies.rules.keep_recent_tokens import valid_places, walk_back
from inspector.policies.trigger import Trigger
from inspector.session.entries import Cost, Usage
from inspector.session.overflow import VERSIONS, is_overflow
from inspector.session.session import Session
from inspector.summaries.material import conversation_text, job_entries
from inspector.summaries.record import append_checkpoint
from inspector.summaries.write import write_checkpoint
from inspector.tokens.counters import chars4_utf16
from inspector.tokens.ledger import Ledger, count_tokens
from tests.reference.flue_2 import derive_defaults
from tests.reference.flue_steps import request_text

from . import leaf_scan, pi
from .compare import Found, Outcome, compare, digest

_COST = {"cacheRead": "cache_read", "cacheWrite": "cache_write"}
# What the vectors' default model stub answers and charges (MANIFEST.md).
DEFAULT_REPLIES = {
    False: Reply(
        text="HISTORY-SUMMARY",
        usage=Usage(
            input=100,
            output=20,
            cache_read=5,
            cache_write=1,
            total=126,
            cost=Cost(input=0.1, output=0.04, total=0.14),
        ),
    ),
    True: Reply(
        text="PREFIX-SUMMARY",
        usage=Usage(input=30, output=4, total=34, cost=Cost(input=0.03, output=0.008, total=0.038)),
    ),
}


def run(path: Path) -> Iterator[Outcome]:
    """Every vector under `path`: (name, mismatches)."""
    cases = {
        f"handcrafted/{f.stem}": json.loads(f.read_text("utf-8"))
        for f in sorted(path.glob("handcrafted/*.json"))
    }
    words = pi.learn_words(
        (pi.active_path(session, session["leafId"]), facts)
        for case in cases.values()
        for session in [case["input"]["session"]]
        for impl, facts in (case.get("otherImpls") or {}).items()
        if impl.startswith("pi-") and facts
    )
    for name in sorted(path.glob("fuzz*.jsonl")):
        cases |= {case["id"]: case for case in map(json.loads, name.read_text("utf-8").splitlines())}
    for name, case in cases.items():
        raw = case["input"]["session"]
        ledger = count_tokens(parse(raw))
        yield name, check_case(case, ledger)
        yield from check_others(name, case, ledger, pi.active_path(raw, raw["leafId"]), words)
    for file in sorted(path.glob("real/*.json")):
        yield from _real(path, file, words)
    for file in sorted(path.glob("table-*.json")):
        table = json.loads(file.read_text("utf-8"))
        check = TABLES.get(table["schema"])
        if check is None:
            yield file.stem, [f"no check for {table['schema']}"]
        else:
            yield from ((f"{file.stem}[{i}]", found) for i, found in enumerate(check(table, path)))


def parse(session: dict[str, Any]) -> Session:
    try:
        return read_session(json.dumps(session).encode(), "vector", format="flue")
    except EmptySession:  # Flue plans an empty session too, and so must we
        return Session(format="flue")


def parse_usage(usage: dict[str, Any] | None) -> Usage | None:
    if usage is None:
        return None
    cost = usage.get("cost")
    return Usage(
        input=usage.get("input") or 0,
        output=usage.get("output") or 0,
        cache_read=usage.get("cacheRead") or 0,
        cache_write=usage.get("cacheWrite") or 0,
        total=usage.get("totalTokens"),
        cost=Cost(**{_COST.get(k, k): v for k, v in cost.items()}) if cost else None,
    )


def dump_usage(usage: Usage | None) -> dict[str, Any] | None:
    if usage is None:
        return None
    cost = usage.cost or Cost()
    named = {"input": "input", "output": "output", "cacheRead": "cache_read", "cacheWrite": "cache_write"}
    out: dict[str, Any] = {name: getattr(usage, field) for name, field in named.items()}
    out["totalTokens"] = usage.total or 0
    out["cost"] = {name: getattr(cost, field) for name, field in {**named, "total": "total"}.items()}
    return out


def check_case(case: dict[str, Any], ledger: Ledger) -> list[str]:
    """Compare one case; `ledger` is that of its session, which others are asked about too."""
    given, expected = case["input"], case["expected"]
    actual = describe(ledger, given, expected)
    return list(compare(actual, expected))


def check_others(
    name: str, case: dict[str, Any], ledger: Ledger, path: list[dict[str, Any]], words: dict[str, pi.Words]
) -> Iterator[Outcome]:
    """What other implementations make of the same session, one outcome for every fact the case carries."""
    given, others = case["input"], case.get("otherImpls") or {}
    as_pi = count_tokens(pi.parse(path)) if any(impl.startswith("pi-") for impl in others) else None
    for impl, facts in others.items():
        if impl.startswith("flue-head-"):
            mine = describe(ledger, given, {}, policy="flue-2")["preparation"]
            if facts is None or mine is None:
                yield f"{name} {impl}", list(compare(mine, facts))
                continue
            for fact, value in facts.items():
                found = list(compare(mine[fact], value)) if fact in mine else "we know no such fact"
                yield f"{name} {impl} {fact}", found
        elif as_pi is not None and impl.startswith("pi-"):
            for fact, found in pi.check_facts(impl, facts, path, as_pi, given, words):
                yield f"{name} {impl} {fact}", found
        else:
            yield f"{name} {impl}", f"we have no policy for {impl}"


def describe(
    ledger: Ledger, given: dict[str, Any], expected: dict[str, Any], policy: str = "flue"
) -> dict[str, Any]:
    """Our planner's answers, in the vectors' words."""
    session, settings, window = ledger.session, given["settings"], given["contextWindow"] or 0
    edits = Edits(
        settings={
            "trigger.enabled": settings["enabled"],
            "trigger.reserve_tokens": settings["reserveTokens"],
            "keep-recent-tokens.tokens": settings["keepRecentTokens"],
        }
    )
    plan = make_plan(session, ledger, policy, edits, window=window)
    table, entries, live = plan.table, session.entries, session.live
    weights = table.weights("chars4_utf16")
    walk = walk_back(table, settings["keepRecentTokens"])
    context = []
    for position, index in enumerate(live.entries):
        entry = entries[index]
        row = {
            "i": position,
            "entryId": entry.id,
            "entryType": entry.kind,
            "role": "toolResult" if entry.role == "tool" else entry.role,
            "tokens": int(weights[position]),
        }
        if entry.kind != "message":
            row["injectedText"] = entry.text
        context.append(row)
    out: dict[str, Any] = {
        "activePathIds": [entries[i].id for i in session.path],
        "context": context,
        "estimate": {
            "tokens": plan.measured.tokens,
            "usageTokens": plan.measured.usage_tokens,
            "trailingTokens": plan.measured.trailing_tokens,
            "lastUsageIndex": plan.measured.last,
        },
        "boundaryStart": table.start,
        "validCutPoints": valid_places(table).tolist(),
        "cut": {
            "firstKeptIndex": walk.first_kept,
            "turnStartIndex": walk.turn_start,
            "isSplitTurn": walk.turn_start >= 0,
        },
        "threshold": _threshold(plan, window),
        "preparation": None,
        "outcome": "nothing-to-compact:no-valid-cut-point",
    }
    if walk.first_kept <= table.start:
        return out
    if plan.place is None:
        out["outcome"] = "nothing-to-compact:first-kept-not-a-message-entry"
        edits = edits.model_copy(update={"cut": entries[live.entries[walk.first_kept]].id})
        plan = make_plan(session, ledger, policy, edits, window=window)
    else:
        out["outcome"] = "compact"
    out["preparation"] = _preparation(plan)
    if expected.get("compact"):
        out |= _compact(plan, given, expected["compact"])
    return out


def _threshold(plan: Plan, window: int) -> dict[str, Any]:
    live, trigger = plan.session.live, plan.policy.trigger
    last = plan.session.entries[live.entries[-1]] if len(live) else None
    is_assistant = last is not None and last.role == "assistant"
    usage = last.usage if last is not None and is_assistant else None
    overflow = None
    if last is not None and usage is not None:
        overflow = is_overflow(last.stop_reason, last.error, usage, window, provider=last.provider)
    return {
        "lastMessageIsAssistant": is_assistant,
        "triggerTokens": usage.tokens if usage else None,
        "shouldCompactOnTrigger": trigger.fires(usage.tokens, window) if usage else None,
        "isContextOverflow": overflow,
        "shouldCompactOnEstimate": trigger.fires(plan.measured.tokens, window),
    }


def _job(plan: Plan, prefix: bool) -> SummaryJob | None:
    return next((job for job in plan.jobs if (job.kind == "turn_prefix") == prefix), None)


def _preparation(plan: Plan) -> dict[str, Any]:
    session, place = plan.session, plan.place
    assert place is not None
    entry = session.entries[session.live.entries[place]]
    history, prefix = _job(plan, False), _job(plan, True)
    files = collect(plan.table, place)
    previous = next((job.previous for job in plan.jobs if job.kind != "turn_prefix"), None)
    if history is None and session.live.summary == 0:
        summary = session.entries[session.live.entries[0]]
        previous = summary.boundary.summary if summary.boundary else None
    return {
        "firstKeptIndex": place,
        "firstKeptEntryId": entry.id,
        "firstKeptEntryType": entry.kind,
        "isSplitTurn": plan.splits >= 0,
        "turnStartIndex": plan.splits,
        "messagesToSummarize": list(history.entries) if history else [],
        "turnPrefixMessages": list(prefix.entries) if prefix else [],
        "keptCount": len(session.live) - place,
        "tokensBefore": plan.measured.tokens,
        "previousSummary": previous,
        "fileOps": {"read": list(files.read), "written": list(files.written), "edited": list(files.edited)},
        "fileLists": {"readFiles": files.read_files, "modifiedFiles": files.modified_files},
        "fileListsText": files.text(),
        "historyConversation": digest(conversation_text(job_entries(session, history)) if history else ""),
        "prefixConversation": digest(conversation_text(job_entries(session, prefix)) if prefix else ""),
    }


def _reply(job: SummaryJob, call: dict[str, Any]) -> Reply:
    response = call.get("response")
    if response is None:
        return DEFAULT_REPLIES[job.kind == "turn_prefix"]
    text = "\n".join(block["text"] for block in response["content"] if block["type"] == "text")
    return Reply(
        text=text,
        stop_reason=response["stopReason"],
        error=response["errorMessage"],
        usage=parse_usage(response["usage"]),
    )


def _compact(plan: Plan, given: dict[str, Any], expected: dict[str, Any]) -> dict[str, Any]:
    stub = given.get("stubModel") or {}
    calls = expected["modelCalls"]
    files = collect(plan.table, plan.place or 0)
    made = []
    for job in plan.jobs:
        prompt = request_text(plan.session, job)
        made.append(
            {
                "kind": job.kind,
                "maxTokens": job.max_tokens,
                "reasoning": job.reasoning if stub.get("reasoning") else None,
                "apiKey": stub.get("apiKey") or None,
                "userMessageCount": 1,
                "promptBeforeInstructions": prompt,
                "promptBeforeInstructionsLength": len(prompt.encode("utf-16-le", "surrogatepass")) // 2,
            }
        )
    if len(calls) != len(plan.jobs):
        return {"compact": {"modelCalls": made}}
    replies = [_reply(job, call) for job, call in zip(plan.jobs, calls, strict=True)]
    checkpoint = write_checkpoint(plan.jobs, replies, files.text())
    if checkpoint.error is not None:
        return {"compact": {"modelCalls": made, "result": None, "error": checkpoint.error}}
    result = {
        "summary": checkpoint.text,
        "firstKeptIndex": plan.place,
        "tokensBefore": plan.measured.tokens,
        "details": {"readFiles": files.read_files, "modifiedFiles": files.modified_files},
        "usage": dump_usage(checkpoint.usage),
    }
    after = append_checkpoint(plan, checkpoint, "<new-compaction>")
    kept = [after.entries[i] for i in after.live.entries]
    return {
        "compact": {"modelCalls": made, "result": result, "error": None},
        "contextAfter": [
            {"entryId": entry.id, "role": "toolResult" if entry.role == "tool" else entry.role}
            for entry in kept
        ],
        "contextAfterFirstText": kept[0].text,
    }


def _place(path: Path, session: str) -> Path | None:
    """Where a session lies that a vector names, beside the vectors or beside this checkout."""
    parents = (*path.resolve().parents, Path(__file__).parents[3] / "shared")
    places = (parent / folder / session for parent in parents for folder in ("", "sessions", "sessions/flue"))
    return next((place for place in places if place.is_file()), None)


def _open(path: Path, session: str) -> Session | None:
    found = _place(path, session)
    return None if found is None else read_session(found.read_bytes(), found.name, format="flue")


def _real(path: Path, file: Path, words: dict[str, pi.Words]) -> Iterator[Outcome]:
    data = json.loads(file.read_text("utf-8"))
    if leaf_scan.is_scan(data):
        yield from leaf_scan.check(f"real/{file.stem}", data, partial(_open, path))
        return
    if "session" not in data:
        yield f"real/{file.stem}", [f"no check for {data.get('schema', 'this file')}"]
        return
    found = _place(path, data["session"])
    if found is None:
        yield f"real/{file.stem}: its session {data['session']}", None
        return
    session = read_session(found.read_bytes(), found.name, format="flue")
    if data["schema"].startswith("real-session-message-tokens/"):
        for column, impl in list(enumerate(data["columns"]))[2:]:
            weights = pi.weigh_all(session, impl)
            for row in data["rows"]:
                mine = weights[session.index[row[0]]]
                yield f"real/{file.stem}@{row[0]} {impl}", list(compare(mine, row[column]))
        return
    raw = json.loads(found.read_bytes())
    for case in data["cases"]:
        leaf = case["input"]["leafId"]
        ledger = count_tokens(session.at(leaf))
        yield case["id"], check_case(case, ledger)
        yield from check_others(case["id"], case, ledger, pi.active_path(raw, leaf), words)


def _estimate_tokens(table: dict[str, Any], path: Path) -> Iterator[Found]:
    for row in table["rows"]:
        entry = {"type": "message", "id": "m", "parentId": None, "timestamp": "1970-01-01T00:00:00.000Z"}
        session = parse({"version": 3, "entries": [{**entry, "message": row["message"]}], "leafId": "m"})
        mine = int(chars4_utf16.CHARS4_UTF16.entry_weights(session)[0])
        for impl in ("flue-pin", *(name for name in row["tokens"] if name.startswith("flue-head-"))):
            yield list(compare(mine, row["tokens"][impl], f".{impl}"))
        yield from (found for _, found in pi.check_weights(row["message"], row["tokens"]))


def _context_tokens(table: dict[str, Any], path: Path) -> Iterator[list[str]]:
    for row in table["rows"]:
        usage = parse_usage(row["usage"])
        assert usage is not None
        yield list(compare(usage.tokens, row["tokens"], ".tokens"))


def _should_compact(table: dict[str, Any], path: Path) -> Iterator[Found]:
    for row in table["rows"]:
        settings = row["settings"]
        trigger = Trigger(enabled=settings["enabled"], reserve_tokens=settings["reserveTokens"])
        mine = trigger.fires(row["contextTokens"], row["contextWindow"])
        for impl, fires in row["shouldCompact"].items():
            if impl.startswith("pi-") and row["contextWindow"] <= 0 and fires:
                yield "pi's trigger fires without a known window; ours never does (FLUE §13.2)"
            else:
                yield list(compare(mine, fires, f".{impl}"))


def _overflow(table: dict[str, Any], path: Path) -> Iterator[list[str]]:
    names = ("flue-pin(pi-ai 0.73.0)", "flue-head(pi-ai 0.83.0)", "pi-1.5.2")
    for row in table["rows"]:
        usage, window = parse_usage(row["usage"]), row["contextWindow"] or 0
        mine = {
            name: is_overflow(
                row["stopReason"],
                row["errorMessage"],
                usage,
                window,
                provider=row.get("provider"),
                version=version,
            )
            for name, version in zip(names, VERSIONS, strict=True)
        }
        yield list(compare(mine, row["overflow"], ".overflow"))


def _derived(table: dict[str, Any], path: Path) -> Iterator[Found]:
    policies = {"flue-pin": FLUE, "flue-head-2.0.3": FLUE_2, "pi-0.73.1": PI, "pi-1.5.2": PI}
    for impl, defaults in table["staticDefaults"].items():
        if impl not in policies:
            yield f"we have no policy for {impl}"
            continue
        policy = policies[impl].configured(VERSIONS_OF_PI.get(impl.removeprefix("pi-"), {}))
        keep_recent = next(rule for rule in policy.rules if rule.kind == "keep-recent-tokens")
        mine = {
            "enabled": policy.trigger.enabled,
            "reserveTokens": policy.trigger.reserve_tokens,
            "keepRecentTokens": keep_recent.model_dump()["tokens"],
        }
        yield list(compare(mine, defaults, f".staticDefaults.{impl}"))
    for row in table["rows"]:
        reserve, keep = derive_defaults(row["contextWindow"], row["maxTokens"])
        expected = row["settings"]
        yield list(compare({"enabled": True, "reserveTokens": reserve, "keepRecentTokens": keep}, expected))


def _usage_addition(table: dict[str, Any], path: Path) -> Iterator[list[str]]:
    total = parse_usage(table["start"])
    for added, running in zip(table["add"], table["running"], strict=True):
        usage = parse_usage(added)
        assert total is not None
        assert usage is not None
        total = total + usage
        yield list(compare(dump_usage(total), running))


def _usage_since(table: dict[str, Any], path: Path) -> Iterator[list[str] | None]:
    for row in table["rows"]:
        if not (path / row["session"]).exists():
            yield None
            continue
        case = json.loads((path / row["session"]).read_text("utf-8"))
        session = parse(case["input"]["session"])
        since = session.path_since(row["beforeLeafId"])
        zero = Usage(total=0, cost=Cost())
        total = sum((e.usage for e in since if e.usage is not None and _charged(e)), start=zero)
        mine = {"pathSince": [entry.id for entry in since], "usage": dump_usage(total)}
        yield list(compare(mine, {"pathSince": row["pathSince"], "usage": row["usage"]}))


def _charged(entry: Any) -> bool:
    return entry.role == "assistant" or entry.kind == "compaction"


TABLES = {
    "table/estimate-tokens/1": _estimate_tokens,
    "table/calculate-context-tokens/1": _context_tokens,
    "table/should-compact/1": _should_compact,
    "table/context-overflow/1": _overflow,
    "table/derive-defaults/1": _derived,
    "table/usage-addition/1": _usage_addition,
    "table/usage-since/1": _usage_since,
}
