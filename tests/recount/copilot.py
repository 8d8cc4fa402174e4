"""The figures of a Copilot CLI log, from its events: FORMATS §3.

What a request took stands in a `session.usage_record` of the same `apiCallId` as its reply; the first reply
of a call is charged. Logs before 1.0.9x have none: there
`session.shutdown` states sums by model (`modelMetrics`) since the previous one. A sum counts as far as it
exceeds the requests of that model that are reported one by one, and those of compactions if they fit.
Compactions report their own usage (`compactionTokensUsed`). Both
inputs hold the cache's; older versions call a compaction's figures input, output and cachedInput.
`session.snapshot_rewind` takes an event and all after it off the way, or the events it names;
`session.context_cleared` takes all before it. Events with an `agentId`, or whose data names the call above
them, are a sub-agent's, those marked `ephemeral` are not in the conversation.
"""

from __future__ import annotations

from pathlib import Path

from .figures import Figures, Request
from .tally import Row, Tally, dig, is_typed, listed, read_rows, split_inclusive, whole


def recount(path: Path) -> Figures:
    """Every figure of the file."""
    tally = Tally()
    model = None
    way: list[bool] = []  # whether each message on the way opens a turn
    stood: dict[str, int] = {}
    calls = _read_calls(path)
    reported: list[tuple[str, bool, list[int]]] = []  # model, is compaction, tokens; since a shutdown
    for row in read_rows(path):
        data, kind = dig(row, "data"), row.get("type")
        stood[str(row.get("id"))] = len(way)
        if kind == "session.snapshot_rewind":
            if gone := [str(each) for each in listed(data.get("eventIds"))]:
                starts = {stood[each] for each in gone if each in stood}
                way = [each for at, each in enumerate(way) if at not in starts]
            else:
                del way[stood.get(str(data.get("upToEventId")), len(way)) :]
            continue
        if row.get("ephemeral") is True:
            continue
        paid = calls.pop(str(data.get("apiCallId")), None) if kind == "assistant.message" else None
        if row.get("agentId") or data.get("parentToolCallId"):
            tally.aside(paid, data.get("model") or model)
            reported += [(str(data.get("model") or model), False, paid)] if paid else []
            continue
        if kind == "session.context_cleared":
            way.clear()
        elif kind in ("session.start", "session.resume"):
            model = data.get("selectedModel") or model
        elif kind == "session.model_change":
            model = data.get("newModel") or model
        elif kind == "user.message":
            way.append(_opens(data))
        elif kind == "assistant.message":
            way.append(False)
            model = data.get("model") or model
            tally.reply(paid, model)
            reported += [(str(model), False, paid)] if paid else []
        elif kind == "session.compaction_complete" and data.get("success") is not False:
            way.append(False)
            took = _split(dig(data, "compactionTokensUsed"))
            tally.compact(took, model)
            reported += [(str(model), True, took)] if took else []
        elif kind == "session.shutdown":
            model = model or data.get("currentModel")
            for name, metrics in dig(data, "modelMetrics").items():
                tally.summed = tally.figures.replies
                rest, count = _beyond(metrics, [request for request in reported if request[0] == name])
                calls_before, request = tally.sums.get(name, (0, Request(name, [0] * 5)))
                if any(rest):
                    added = [a + b for a, b in zip(request.tokens, rest, strict=True)]
                    tally.sums[name] = calls_before + max(count, 1), Request(name, added)
            reported.clear()
        elif kind == "session.truncation" and whole(data.get("messagesRemovedDuringTruncation")):
            way.append(False)
            tally.compact()
        elif kind == "tool.execution_complete" or (kind == "system.notification" and data.get("content")):
            way.append(False)
    return tally.close(sum(way))


def _beyond(metrics: Row, reported: list[tuple[str, bool, list[int]]]) -> tuple[list[int], int]:
    """Return the tokens and the number of requests of a sum beyond the requests that are reported."""
    rest = _split(dig(metrics, "usage")) or [0] * 5
    count = whole(dig(metrics, "requests").get("count"))
    for compaction in (False, True):
        rows = [tokens for _, kind, tokens in reported if kind == compaction]
        less = [have - sum(row[at] for row in rows) for at, have in enumerate(rest)]
        if not compaction or min(less) >= 0:
            rest, count = [max(value, 0) for value in less], count - len(rows)
    return rest, count


def _opens(data: Row) -> bool:
    sent, typed = data.get("transformedContent"), data.get("content")
    source = data.get("source") or ""
    if source not in ("", "user") and not str(source).startswith("command-"):
        return False
    if isinstance(typed, str) and typed.lstrip().startswith("<system_notification>"):
        return False
    words = sent if isinstance(sent, str) else typed
    return isinstance(words, str) and is_typed(words)


def _read_calls(path: Path) -> dict[str, list[int]]:
    """What each call took, as the first record of it tells."""
    calls: dict[str, list[int]] = {}
    for row in read_rows(path):
        used = dig(row, "data", "usage")
        if row.get("type") == "session.usage_record" and row.get("ephemeral") is not True:
            tokens = _split(used)
            if tokens is not None and sum(tokens) and isinstance(used.get("apiCallId"), str):
                calls.setdefault(used["apiCallId"], tokens)
    return calls


def _split(used: Row) -> list[int] | None:
    if not used:
        return None
    sent, replied, read, written = (
        used.get(new, used.get(old))
        for new, old in (
            ("inputTokens", "input"),
            ("outputTokens", "output"),
            ("cacheReadTokens", "cachedInput"),
            ("cacheWriteTokens", "cacheWrite"),
        )
    )
    return split_inclusive(sent, replied, read, written)
