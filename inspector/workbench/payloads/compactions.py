"""The table of a session's compactions: summarised content, missing facts, and cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...facts.compactions import CompactionRow
from ...facts.kind_words import NOUNS
from ...facts.lint.check import LOSSES, find_losses
from ...facts.regret import sum_regret
from ...session.queries import find_move
from ...session.session import Session
from ...text import join_words, plural
from ..model import WorkbenchModel
from ..opening import find_worst, list_marks
from .base_payload import Payload
from .fact_list import find_listing
from .findings import find_again
from .sections import format_tokens

_NOUNS = {
    "rules": NOUNS["constraint"],
    "files": NOUNS["file"],
    "errors": NOUNS["error"],
    "links": NOUNS["url"],
    "todos": NOUNS["todo"],
}
"""The columns of what is missing, the most serious first, and what one of it is called."""


class CompactionCounts(Payload, frozen=True, kw_only=True):
    """The counts of one row; the boundary of the scene with the same `look` has the same turn and sizes.

    Attributes:
        look: The row's name in `wb.look`, such as "recorded:1"; "plan" for the plan.
        turn: Its turn, from 1; 0 before the first.
        time: The time of day, "14:02"; "" if the file has none.
        taken: Blocks that were summarised, dropped or cleared.
        kept: Blocks that stayed in the context.
        files, rules, errors, links, todos: Facts missing, by kind; links are addresses and ids.
        changed: Facts that the summary gives with another value, or contradicts.
        known: Whether the losses are known: not if the summary is encrypted, missing, or not written yet.
        again: Facts needed again afterwards, each counted once.
        again_tokens: Their tokens.
        again_price: Their price in words; "" if it is not known.
        summary: The size of the summary, "encrypted", "missing", or "".
        losses: The counts of facts in words.
    """

    look: str
    turn: int
    time: str
    taken: int
    kept: int
    files: int
    rules: int
    errors: int
    links: int
    todos: int
    changed: int
    known: bool
    again: int
    again_tokens: int
    again_price: str
    summary: str
    losses: str


class CompactionsReply(Payload, frozen=True):
    """The rows of the recorded compactions in order, the plan's row, and the row with the most harm.

    `worst` is "" if no recorded compaction does harm. If `go` is True, the screen should show it: the user
    has not chosen a view yet.
    """

    rows: list[CompactionCounts]
    plan: CompactionCounts
    worst: str
    go: bool


def list_compactions(model: WorkbenchModel, query: Mapping[str, Any]) -> CompactionsReply:
    """Count what each recorded compaction, and the plan with its cut at `place`, leaves out.

    >>> from inspector import open_demo
    >>> model = WorkbenchModel(open_demo(), "auto")
    >>> _ = model.answer({})
    >>> reply = list_compactions(model, {"place": model.shown.place})
    >>> [row.look for row in reply.rows], reply.worst
    (['recorded:1', 'cleared:1'], 'recorded:1')
    """
    listing = find_listing(model, int(query["place"]), planned=True)
    again: dict[str, list[Any]] = {}
    for regret in find_again(model, listing):
        again.setdefault(regret.entry, []).append(regret)
    rows_by_entry = {row.entry: row for row in model.session.compactions}
    marks = [mark for mark in list_marks(model.session, model.history) if mark.entry in rows_by_entry]
    rows = [
        _describe(model.session, mark.look, rows_by_entry[mark.entry], again.get(mark.entry, []))
        for mark in marks
    ]
    found = find_worst(model.session, marks)
    worst = "" if found is None else found.look
    untouched = model.take_start()
    go = untouched and worst not in ("", model.inputs["look"])
    return CompactionsReply(rows, _describe_plan(model, query), worst, go)


def _describe(session: Session, look: str, row: CompactionRow, again: list[Any]) -> CompactionCounts:
    before, after, _ = find_move(session, session[row.entry])
    was, now = (set(map(str, session.at(leaf).live_refs())) if leaf else set() for leaf in (before, after))
    kept_blocks = len(was & now)
    removed_blocks = len(was) - kept_blocks
    if row.kind == "micro":
        old, new = (int(session.at(leaf).live.cleared.sum()) if leaf else 0 for leaf in (before, after))
        removed_blocks = new - old
        kept_blocks -= removed_blocks
    tokens, price = sum_regret(again)
    counts: dict[str, int] = {name: getattr(row, name) for name in LOSSES}
    return CompactionCounts(
        look=look,
        turn=row.turn,
        time=_read_time(row.time),
        taken=removed_blocks,
        kept=kept_blocks,
        **counts,
        known=row.known,
        again=len(again),
        again_tokens=tokens,
        again_price="" if price is None else str(price),
        summary=format_tokens(row.summary) if row.summary else row.why_unread,
        losses=_say_losses(counts, is_known=row.known),
    )


def _describe_plan(model: WorkbenchModel, query: Mapping[str, Any]) -> CompactionCounts:
    listing = find_listing(model, int(query["place"]), planned=True)
    plan = listing.plan
    losses = find_losses(listing.trace, model.session, plan)
    counts = {name: len(traced) for name, traced in losses.items()}
    changed_blocks = int(plan.outcome.changed.sum())
    return CompactionCounts(
        look="plan",
        turn=0,
        time="",
        taken=changed_blocks,
        kept=len(plan.fate) - changed_blocks,
        **counts,
        known=not plan.is_unwritten,
        again=0,
        again_tokens=0,
        again_price="",
        summary=format_tokens(plan.summary_tokens) if plan.summarises else "",
        losses=_say_losses(counts, is_known=not plan.is_unwritten),
    )


def _say_losses(counts: Mapping[str, int], *, is_known: bool) -> str:
    """Say how many facts are missing or changed, by the names of the columns that count them.

    >>> _say_losses({"changed": 1, "rules": 2, "todos": 1, "errors": 0, "files": 0}, is_known=True)
    'Missing: 2 rules and 1 to-do. Changed: 1 fact.'
    >>> _say_losses({}, is_known=False)
    'Missing facts: unknown.'
    """
    missing = [plural(counts[name], noun) for name, noun in _NOUNS.items() if counts.get(name)]
    parts = [f"Missing: {join_words(missing)}."] if missing else []
    if changed := counts.get("changed"):
        parts.append(f"Changed: {plural(changed, 'fact')}.")
    if parts:
        return " ".join(parts)
    return "No essential fact is missing." if is_known else "Missing facts: unknown."


def _read_time(timestamp: str | None) -> str:
    """Return the time of day of an ISO timestamp, "" if it has none.

    >>> _read_time("2026-03-31T14:02:11.000Z")
    '14:02'
    """
    day, _, time = (timestamp or "").partition("T")
    return time[:5] if len(day) == 10 and len(time) >= 5 else ""
