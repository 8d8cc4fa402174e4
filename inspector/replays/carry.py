"""Build the result of a plan as entries from which a session continues, and as columns of counted tokens.

Unlike `append_checkpoint`, which records a compaction as the published formats do, this is the context
itself: rewritten blocks are rewritten, and removed blocks are missing. Edits of requests alone are not part
of the plan (`Rule.wire`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..planning.fates import SideFates
from ..planning.left_outside import leave_outside, weigh_more
from ..planning.plan import Plan
from ..policies.table import DROPPED, VERBATIM
from ..session.blocks import REASONING, Text, build
from ..session.entries import Boundary, Entry
from ..session.live import join_stretches
from ..session.session import Session
from ..session.tree import Ints
from ..summaries.record import file_fields
from ..tokens.counter import Longs, running_sums
from ..tokens.ledger import Ledger
from ..tokens.rows import Bytes, gather_rows


class CarriedEntry(NamedTuple):
    """An entry of the context after a plan. `origin` is its position in the planned session if it is
    unchanged, else -1; `tokens` then has one figure per block. `hidden_reasoning` are tokens beyond these."""

    entry: Entry
    origin: int = -1
    tokens: tuple[int, ...] = ()
    hidden_reasoning: int = 0


def change(entry: Entry, **fields: Any) -> Entry:
    """The entry with some fields changed, unchecked."""
    return build(Entry, **(entry.__dict__ | fields))


def chain(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """The entries as one line, each the parent of the next; those that are already are left as they are."""
    out: list[Entry] = []
    parent: str | None = None
    for entry in entries:
        out.append(entry if entry.parent == parent else change(entry, parent=parent))
        parent = entry.id
    return tuple(out)


def carry_entries(plan: Plan, name: str, written: int | None = None) -> list[CarriedEntry]:
    """The context a plan leaves, in the order of `build_context`, what is new in it named after `name`.

    `written` is the length of the summary (tokens), if it differs from the placeholder's.
    """
    standing = _standing(plan, plan.outcome)
    place = plan.place
    if place is None:
        return _in_line([item for _, item in standing])
    if plan.notice is not None:
        notice = Entry(
            id=f"{name}-notice", role=plan.notice.role, blocks=(Text(text=plan.notice.text(place)),)
        )
        cost = int(plan.notice.cost[place])
        more = weigh_more(plan.outside, cost)
        extra = [CarriedEntry(change(notice, meta=True), tokens=(cost,), hidden_reasoning=more)]
        if plan.notice.echoes(place):
            for at, item in _standing(plan, plan.notice.before):
                extra.append(_renamed(plan, item, f"{name}-again-{at}"))
        standing = _insert(standing, place, extra)
    if not plan.summarises or plan.spec is None:
        return _in_line([item for _, item in standing])
    at = plan.summary_at
    if at == 0 and not plan.spec.per_turn:
        return [*_settled([item for _, item in standing]), _boundary(plan, place, name, standing, written)]
    texts = [text for text, _, _ in plan.stand_in.texts(place)]
    costs = _share(plan, texts, plan.summary_tokens if written is None else written)
    new = [
        CarriedEntry(
            Entry(id=f"{name}-{number}", kind="branch_summary", blocks=(Text(text=text),)),
            tokens=(tokens,),
            hidden_reasoning=weigh_more(plan.outside, tokens),
        )
        for number, (text, tokens) in enumerate(zip(texts, costs, strict=True))
    ]
    return _in_line([item for _, item in _insert(standing, at, new)])


def list_unsent(plan: Plan) -> list[CarriedEntry]:
    """The entries that a view leaves out of the request, in their order: the history still holds them."""
    views = [code for code, rule in enumerate(plan.policy.rules) if rule.projection and not rule.wire]
    outcome = plan.outcome
    unsent = (outcome.fate == DROPPED) & np.isin(outcome.rule, views)
    if not unsent.any():
        return []
    fate = np.where(unsent, np.uint8(VERBATIM), np.uint8(DROPPED))
    side = SideFates(fate, np.where(unsent, plan.table.tokens, 0), outcome.rule)
    return [item for _, item in _standing(plan, side)]


Standing = list[tuple[int, CarriedEntry]]
NEW = 2**31
"""The live position of new entries, which have none."""


def _standing(plan: Plan, side: SideFates) -> Standing:
    """Yield every live entry with remaining blocks, and its live position."""
    live, session = plan.session.live, plan.session
    remains = side.standing
    touched = np.zeros(len(live), bool)
    touched[live.position[side.fate != VERBATIM]] = True
    start, entries = live.start.tolist(), live.entries.tolist()
    hidden_left = np.bincount(live.position, leave_outside(plan.table, side), len(live)).astype(int).tolist()
    out: Standing = []
    for at, i in enumerate(entries):
        if not touched[at] and not live.cleared[start[at] : start[at + 1]].any():
            out.append((at, CarriedEntry(session.entries[i], i, hidden_reasoning=hidden_left[at])))
            continue
        rows = [row for row in range(start[at], start[at + 1]) if remains[row]]
        if rows:
            blocks = tuple(side.blocks.get(row) or plan.table.block(row) for row in rows)
            tokens = tuple(side.tokens[rows].tolist())
            entry = change(session.entries[i], blocks=blocks)
            out.append((at, CarriedEntry(entry, tokens=tokens, hidden_reasoning=hidden_left[at])))
    return out


def _insert(standing: Standing, place: int, new: list[CarriedEntry]) -> Standing:
    """The entries with new ones before the first that is at `place` or later, or is new itself."""
    at = next((i for i, (position, _) in enumerate(standing) if position >= place), len(standing))
    return [*standing[:at], *((NEW, item) for item in new), *standing[at:]]


def _renamed(plan: Plan, item: CarriedEntry, name: str) -> CarriedEntry:
    """The same under another name, counted as it was."""
    tokens = item.tokens
    if item.origin >= 0:
        ledger = plan.ledger
        tokens = tuple(ledger.tokens[ledger.start[item.origin] : ledger.start[item.origin + 1]].tolist())
    return CarriedEntry(
        _settle(change(item.entry, id=name)), tokens=tokens, hidden_reasoning=item.hidden_reasoning
    )


def _in_line(items: list[CarriedEntry]) -> list[CarriedEntry]:
    """Move an earlier summary from the start of a context behind the entries that it precedes."""
    if items and items[0].entry.kind == "compaction":
        first, rest = items[0], _settled(items[1:])
        recorded = first.entry.boundary or Boundary()
        first_kept = rest[0].entry.id if rest else None
        boundary = recorded.model_copy(update={"first_kept": first_kept, "kept": ()})
        return [*rest, first._replace(entry=change(first.entry, boundary=boundary))]
    return _settled(items)


def _settled(items: list[CarriedEntry]) -> list[CarriedEntry]:
    """Turn an earlier summary that remains next to new entries into an ordinary message."""
    return [item._replace(entry=_settle(item.entry)) for item in items]


def _settle(entry: Entry) -> Entry:
    return entry if entry.kind != "compaction" else change(entry, kind="branch_summary", boundary=None)


def _boundary(plan: Plan, place: int, name: str, standing: Standing, written: int | None) -> CarriedEntry:
    """The summary, as a recorded compaction that keeps everything before it in the line."""
    text = plan.stand_in.text(place)
    first = standing[0][1].entry.id if standing else None
    boundary = Boundary(trigger="plan", first_kept=first, summary=text, **file_fields(plan))
    entry = Entry(id=name, kind="compaction", blocks=(Text(text=text),), boundary=boundary)
    tokens = plan.summary_tokens if written is None else written
    return CarriedEntry(entry, tokens=(tokens,), hidden_reasoning=weigh_more(plan.outside, tokens))


def _share(plan: Plan, texts: list[str], total: int) -> list[int]:
    """Tokens of the messages of a summary, in all `total`, each by its length."""
    costs = [sum(plan.ledger.count_lines(text.split("\n")).tolist()) for text in texts]
    whole = max(sum(costs), 1)
    shares = [cost * total // whole for cost in costs]
    return [*shares[:-1], total - sum(shares[:-1])] if shares else []


@dataclass(frozen=True, eq=False)
class EntryColumns:
    """A stretch of a ledger: blocks of each entry, and by block its kind, section and tokens."""

    sizes: Ints
    kind: Bytes
    section: Bytes
    tokens: Ints

    @property
    def reasoning(self) -> Longs:
        """int64, one per entry: tokens of its reasoning."""
        sums = running_sums(np.where(self.kind == REASONING, self.tokens, 0))
        return np.diff(sums[running_sums(self.sizes)])

    def __add__(self, other: EntryColumns) -> EntryColumns:
        pairs = ((getattr(self, name), getattr(other, name)) for name in EntryColumns.__annotations__)
        return EntryColumns(*(np.concatenate(pair) for pair in pairs))


def take_columns(ledger: Ledger, entries: Ints) -> EntryColumns:
    """The columns of some entries of a ledger, by their positions."""
    start, end = ledger.start[entries], ledger.start[entries + 1]
    rows = join_stretches(start, end)
    return EntryColumns(end - start, ledger.kind[rows], ledger.section[rows], ledger.tokens[rows])


def count_carried(ledger: Ledger, items: Sequence[CarriedEntry]) -> EntryColumns:
    """The columns of what a plan over this ledger's session left. What is unchanged is not counted again."""
    new = [item for item in items if item.origin < 0]
    new_tokens = np.array([tokens for item in new for tokens in item.tokens], np.int32)
    rows = gather_rows(
        Session.model_construct(format="", entries=tuple(item.entry for item in new)), None, lambda *_: 0
    )
    fresh = EntryColumns(np.diff(rows.start).astype(np.int32), rows.kind, rows.section, new_tokens)
    old = take_columns(ledger, np.array([item.origin for item in items if item.origin >= 0], np.int64))
    both = old + fresh
    # First the unchanged ones, then the new: bring them back into their order.
    stays = np.array([item.origin >= 0 for item in items], bool)
    at = np.where(stays, np.cumsum(stays), len(old.sizes) + np.cumsum(~stays)) - 1
    start = running_sums(both.sizes)
    index = join_stretches(start[at], start[at + 1])
    return EntryColumns(both.sizes[at], both.kind[index], both.section[index], both.tokens[index])


def join_ledger(session: Session, base: Ledger, columns: EntryColumns) -> Ledger:
    """A ledger of a session with the head of `base` and these columns for its entries."""
    start = running_sums(columns.sizes)
    entry = np.repeat(np.arange(len(columns.sizes)), columns.sizes)
    block = np.arange(len(entry)) - start[entry]
    head = base.head
    return Ledger(
        session=session,
        counter=base.counter,
        calibration=base.calibration,
        entry=np.concatenate([base.entry[:head], entry]).astype(np.int32),
        block=np.concatenate([base.block[:head], block]).astype(np.int32),
        kind=np.concatenate([base.kind[:head], columns.kind]),
        section=np.concatenate([base.section[:head], columns.section]),
        tokens=np.concatenate([base.tokens[:head], columns.tokens]).astype(np.int32),
        start=(start + head).astype(np.int32),
        head=head,
        uncounted_rows=np.zeros(0, np.int32),
        missing=base.missing,
    )
