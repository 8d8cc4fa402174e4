"""The figures of a session of pi's or Flue's, from its records: both store messages as pi-ai has them.

FLUE §1 and §13.2: `usage` is input, output, cacheRead, cacheWrite and totalTokens, with `cost` in dollars. A
reply's cost is taken as the file tells it; all of it 0 for tokens is what is written where no price is known.
The way to the leaf goes by `parentId`; a record of version 1 follows the one before. What a record of type
`usage` tells is a request of no message: it is paid, one of a `contributionId` once. Summaries of branches
are paid as compactions are. Edits of outputs (`context_edit`) that follow each other empty them at once.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .figures import Figures, Request, whole, write_bill

Record = dict[str, Any]
_PARTS = ("input", "output", "cacheRead", "cacheWrite")


def recount(path: Path) -> Figures:
    """Every figure of the file."""
    records, leaf = _read(path)
    names = [str(record.get("id") or f"#{at}") for at, record in enumerate(records)]
    figures = Figures()
    replies: list[list[Request]] = []
    summaries: list[Request] = []
    model = next((name for record in reversed(records) if (name := _model(record))), None)
    silent = 0
    contributed: set[Any] = set()
    for record in records:
        if record.get("type") in ("usage", "branch_summary"):
            name = record.get("contributionId")
            request = _request(record, model) if name is None or name not in contributed else None
            contributed.add(name)
            if request and record["type"] == "usage":
                replies.append([request])
            elif request:
                summaries.append(request)
        message = record["message"] if record.get("type") == "message" else record
        if record.get("type") not in ("message", "compaction") or message.get("excludeFromContext") is True:
            continue
        request = _request(message, model)
        if record["type"] == "compaction":
            figures.compactions += 1
            silent += not isinstance(message.get("usage"), dict)
            summaries += [request] if request else []
        elif message.get("role") == "assistant":
            figures.replies += 1
            replies += [[request]] if request else []
            sent = request.tokens if request else [0] * 5
            figures.largest_request = max(figures.largest_request, sum(sent[:4]))
    write_bill(figures, replies, {"compaction": summaries}, {"compactions": silent}, figures.replies)
    figures.emptied = _count_edits(records)
    way = _walk(records, names, leaf)
    figures.turns = max(sum(_opens(record, leaf is None) for record in way), 1)
    sizes = [
        whole(usage.get("totalTokens")) or sum(whole(usage.get(name)) for name in _PARTS)
        for record in way
        if record.get("type") == "message" and record["message"].get("role") == "assistant"
        if isinstance(usage := record["message"].get("usage"), dict)
    ]
    figures.largest_context = max(sizes, default=0)
    return figures


def _read(path: Path) -> tuple[list[Record], str | None]:
    """The records, and the leaf where the file names one: pi's is the last record."""
    data = path.read_bytes().decode("utf-8", "surrogatepass")
    try:
        document = json.loads(data)
        records, leaf = document.get("entries"), document.get("leafId")
    except ValueError:
        records, leaf = [], None
        for line in data.splitlines():
            try:
                records.append(json.loads(line))
            except ValueError:
                continue
    dig = [
        record
        for record in records
        if isinstance(record, dict)
        and (record.get("type") != "message" or isinstance(record.get("message"), dict))
    ]
    return dig, leaf


def _count_edits(records: list[Record]) -> int:
    """Edits of outputs, those that follow each other as one."""
    outputs = {
        record.get("id")
        for record in records
        if record.get("type") == "message" and record["message"].get("role") == "toolResult"
    }
    count, before = 0, None
    for record in records:
        edit = record.get("type") == "context_edit" and record.get("targetId") in outputs
        count += edit and record.get("parentId") != before
        before = record.get("id") if edit else None
    return count


def _model(record: Record) -> str | None:
    holder = record["message"] if record.get("type") == "message" else record
    name = holder.get("model") if record.get("type") == "message" else holder.get("modelId")
    return name if isinstance(name, str) else None


def _request(message: Record, model: str | None) -> Request | None:
    """What a message took; None where nothing is told."""
    usage = message.get("usage")
    if not isinstance(usage, dict):
        return None
    fresh, reply, read, written = (whole(usage.get(name)) for name in _PARTS)
    if not fresh + read + written:
        fresh = max(whole(usage.get("totalTokens")) - reply, 0)
    tokens = [fresh, read, written, 0, reply]
    cost = usage.get("cost")
    told = None
    if isinstance(cost, dict):
        told = {name: float(cost.get(name) or 0) for name in (*_PARTS, "total")}
        told["total"] = told["total"] or sum(told[name] for name in _PARTS)
        told = told if told["total"] or not sum(tokens) else None
    if not sum(tokens) and not (told and told["total"]):
        return None
    return Request(message.get("model") or model, tokens, told)


def _walk(records: list[Record], names: list[str], leaf: str | None) -> list[Record]:
    """The records from the first one to the leaf."""
    where = {name: at for at, name in enumerate(names)}
    at = where.get(leaf) if leaf is not None else len(records) - 1
    way: list[Record] = []
    seen: set[int] = set()
    while at is not None and at >= 0 and at not in seen:
        seen.add(at)
        way.append(records[at])
        if "parentId" in records[at]:
            at = where.get(records[at]["parentId"])
        else:
            at = at - 1
    return way[::-1]


def _opens(record: Record, shell: bool) -> bool:
    """Whether a person opens a turn here: by pi's own rule with a shell command too (FLUE §13.2).

    Flue knows no such message.
    """
    if record.get("type") != "message" or record["message"].get("excludeFromContext") is True:
        return False
    return record["message"].get("role") in ("user", "bashExecution")[: 1 + shell]
