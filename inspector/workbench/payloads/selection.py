"""The content of a range of blocks on the timeline: its cost, changed files and missing facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from ...facts.extract.collect import OPERATIONS
from ...facts.lint.files import CHANGED
from ...planning.plan import Plan
from ...policies.table import FATES
from ...session.tree import Bools
from ...text import join_words, plural
from ...tokens.prices import Money
from ..model import WorkbenchModel
from ..words import label_of
from .base_payload import Payload
from .fact_list import FactListing, find_listing, find_mentions, plan_at
from .findings import FindingRow, leaves_open, list_findings, title_form
from .header import find_bill
from .sentence import SentencePart

MOST_FILES = 50


class ChangedFile(Payload, frozen=True):
    """A file that was created, edited or deleted in the range; `row` is the last block that did so."""

    title: str
    operation: str
    row: int


class SelectionReply(Payload, frozen=True, kw_only=True):
    """The content of a range of blocks.

    `parts` are the rest of the sentence about it: its cost, the files changed, the retention of the blocks,
    and the missing facts. Requests are the replies recorded in the range; `cost` is their price in words, or
    "" if unknown. `facts` counts the facts stated in the range, `missing` lists the facts among them that the
    compaction or plan on the screen lost. `known` is False if the summary may lose others: it cannot be read,
    or is not written yet.
    """

    parts: list[SentencePart]
    requests: int
    sent: int
    cached: int
    cost: str
    facts: int
    missing: list[FindingRow]
    known: bool
    files: list[ChangedFile]
    changed: int


class _Cost(NamedTuple):
    """The requests of a range: number, input tokens, cached input tokens, and price in words."""

    requests: int
    sent: int
    cached: int
    words: str


def describe_selection(model: WorkbenchModel, query: Mapping[str, Any]) -> SelectionReply:
    """Describe the blocks from row `from` up to but not including `to`, with the cut at `place`.

    >>> from inspector import open_demo
    >>> model = WorkbenchModel(open_demo(), "keep-recent-turns")
    >>> _ = model.answer({})
    >>> reply = describe_selection(model, {"place": model.shown.place, "look": "plan", "from": 0, "to": 40})
    >>> reply.requests > 0, reply.facts >= len(reply.missing)
    (True, True)
    """
    place, first, last = int(query["place"]), max(int(query["from"]), 0), int(query["to"])
    listing = find_listing(model, place, planned=True)
    inside = find_mentions(listing, first, last)
    trace = listing.trace
    stated = trace.stood & np.isin(trace.number, listing.facts.fact[inside])
    reply = list_findings(model, {**query, "rowFrom": first, "rowTo": last})
    missing = [row for group in reply.groups for row in group.rows]
    live = listing.plan.session.live
    entries = live.entries[np.unique(live.position[first:last])]
    cost = _price(model, set(entries.tolist()))
    files = list(_list_files(listing, inside))
    shown = plan_at(model, place)
    parts = [
        *_say_cost(cost, len(files)),
        SentencePart(_say_retention(shown, reply.label, first, last), "", ""),
        *_say_missing(len(missing), planned=reply.look == "plan"),
    ]
    return SelectionReply(
        parts=parts,
        requests=cost.requests,
        sent=cost.sent,
        cached=cost.cached,
        cost=cost.words,
        facts=int(stated.sum()),
        missing=missing,
        known=reply.known and not (reply.look == "plan" and leaves_open(listing)),
        files=files[:MOST_FILES],
        changed=len(files),
    )


def _price(model: WorkbenchModel, entries: set[int]) -> _Cost:
    bill = find_bill(model.ledger)
    selected = np.array([at in entries for at in ([] if bill.entry is None else bill.entry.tolist())], bool)
    tokens, money = bill.requests.tokens[selected], bill.requests.money[selected, -1]
    prices = money[np.isfinite(money)]
    words = str(Money(Decimal(float(prices.sum())), bill.currency, "")) if len(prices) else ""
    return _Cost(len(tokens), int(tokens[:, :4].sum()), int(tokens[:, 1].sum()), words)


def _list_files(listing: FactListing, inside: Bools) -> Iterator[ChangedFile]:
    """Yield each file that was changed in the range once, with its last change."""
    facts, session = listing.facts, listing.plan.session
    codes = [OPERATIONS.index(name) for name in CHANGED]
    rows = listing.live_row[session.tree.start[facts.entry] + facts.block]
    changed: dict[int, int] = {}
    for at in np.flatnonzero(inside & np.isin(facts.operation, codes)).tolist():
        changed[int(facts.fact[at])] = at
    for number, at in changed.items():
        fact = facts.every[number]
        if fact.kind == "file":
            title = title_form("file", fact.form, session.cwd)
            yield ChangedFile(title, OPERATIONS[facts.operation[at]], int(rows[at]))


def _say_cost(cost: _Cost, files: int) -> Iterator[SentencePart]:
    parts = [*([cost.words] if cost.words else []), *([f"{plural(files, 'file')} changed"] if files else [])]
    yield SentencePart("".join(f", {words}" for words in parts) + ". ", "", "")


def _say_retention(plan: Plan, label: str, first: int, last: int) -> str:
    """Describe the retention of the blocks of the range: "Under ◆2 all of it is summarised. "."""
    fates = plan.fate[first:last]
    counts = [(label_of(FATES[code]), int((fates == code).sum())) for code in np.unique(fates).tolist()]
    if len(counts) == 1:
        return f"Under {label} all of it is {counts[0][0]}. "
    words = join_words([f"{count:,} {name}" for name, count in counts])
    return f"Under {label}: {words}. " if counts else ""


def _say_missing(count: int, *, planned: bool) -> Iterator[SentencePart]:
    if count == 0:
        return
    verb = "would be" if planned else "is" if count == 1 else "are"
    yield SentencePart(f"{plural(count, 'fact')} of this range {verb} missing or changed.", "bad", "")
