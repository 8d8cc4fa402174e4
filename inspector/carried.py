"""What a plan leaves, as entries that a session goes on from, and as a ledger that counts nothing twice.

Unlike `append_checkpoint`, which records a compaction as the published formats do, this is the context
itself: rewritten blocks are rewritten, and what was left out is gone. What only the request shows (fate
"cleared") stays as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .assembly import carried_files
from .blocks import Block, Text, build
from .fates import STANDS
from .ledger import Ledger
from .plan import Plan
from .rows import gather_rows
from .session import Boundary, Entry, Session
from .table import CLEARED, VERBATIM


def change(entry: Entry, **fields: Any) -> Entry:
    """The entry with some fields changed, unchecked."""
    return build(Entry, **(entry.__dict__ | fields))


def chain(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """The entries as one line, each the parent of the next; those that are already are left as they are."""
    out: list[Entry] = []
    parent: str | None = None
    for entry in entries:
        out.append(entry if entry.parent == parent else change(entry, parent=parent))
        parent = entry.id
    return tuple(out)


def carry_entries(plan: Plan, name: str) -> list[Entry]:
    """The entries of the context a plan leaves, a summary or notice among them named after `name`."""
    session, live, side = plan.session, plan.session.live, plan.outcome
    entries = [session.entries[i] for i in live.entries.tolist()]
    left = STANDS[side.fate]
    touched = np.zeros(len(entries), bool)
    touched[live.position[(side.fate != VERBATIM) & (side.fate != CLEARED)]] = True
    out: list[tuple[int, Entry]] = []
    start = live.start.tolist()
    for at, entry in enumerate(entries):
        if not touched[at]:
            out.append((at, entry))
            continue
        blocks = tuple(_block(plan, row) for row in range(start[at], start[at + 1]) if left[row])
        if blocks:
            out.append((at, change(entry, blocks=blocks)))
    place = plan.place
    if place is None:
        return _in_line([entry for _, entry in out])
    extra: list[tuple[int, Entry]] = []
    if plan.notice is not None:
        text = Text(text=plan.notice.text(place))
        said = Entry(id=f"{name}-notice", role=plan.notice.role, blocks=(text,), meta=True)
        extra.append((place, said))
    spec = plan.spec
    if not plan.summarises or spec is None:
        return _in_line(_merge(out, extra))
    if spec.at == 0 and not spec.per_turn:
        return [*_settled(_merge(out, extra)), _boundary(plan, place, name)]
    for number, (words, begin, _) in enumerate(plan.stand_in.texts(place)):
        entry = Entry(id=f"{name}-{number}", kind="branch_summary", blocks=(Text(text=words),))
        extra.append((max(spec.at, begin), entry))
    return _in_line(_merge(out, extra))


def _in_line(entries: list[Entry]) -> list[Entry]:
    """An earlier summary stands first in a context, and last among the entries that it goes before."""
    if entries and entries[0].kind == "compaction":
        first = entries[1].id if len(entries) > 1 else None
        told = entries[0].boundary or Boundary()
        boundary = told.model_copy(update={"first_kept": first, "kept": ()})
        return [*entries[1:], change(entries[0], boundary=boundary)]
    return entries


def _settled(entries: list[Entry]) -> list[Entry]:
    """An earlier summary that stays beside a new one is from now on a message like any other."""
    if entries and entries[0].kind == "compaction":
        return [change(entries[0], kind="branch_summary", boundary=None), *entries[1:]]
    return entries


def _merge(standing: list[tuple[int, Entry]], extra: list[tuple[int, Entry]]) -> list[Entry]:
    """Entries in context order; what was added stands before what it names."""
    marked = [(at, 1, entry) for at, entry in standing] + [(at, 0, entry) for at, entry in extra]
    return [entry for _, _, entry in sorted(marked, key=lambda item: item[:2])]


def _block(plan: Plan, row: int) -> Block:
    side = plan.outcome
    made = side.blocks.get(row)
    return made if made is not None and side.fate[row] != CLEARED else plan.table.block(row)


def _boundary(plan: Plan, place: int, name: str) -> Entry:
    """The summary, as a recorded compaction that keeps everything before it in the line."""
    text = plan.stand_in.text(place)
    kept = np.unique(plan.table.live.position[STANDS[plan.fate]]).tolist()
    live = plan.session.live
    first = plan.session.entries[live.entries[kept[0]]].id if kept else None
    told = Boundary(trigger="plan", first_kept=first, summary=text, **carried_files(plan, place))
    return Entry(id=name, kind="compaction", blocks=(Text(text=text),), boundary=told)


def carry_ledger(session: Session, *ledgers: Ledger) -> Ledger:
    """A ledger of a session whose entries mostly stand in sessions that were counted already.

    An entry is looked up by its id; it counts as the same when its blocks are. The rest is counted.
    """
    first = ledgers[0]
    tokens, kinds, sections = (
        [first.tokens[: first.head]],
        [first.kind[: first.head]],
        [first.section[: first.head]],
    )
    sizes: list[int] = []
    new: list[Entry] = []
    spans: list[tuple[int, int]] = []
    for entry in session.entries:
        for number, ledger in enumerate(ledgers):
            at = ledger.session.index.get(entry.id)
            if at is not None and ledger.session.entries[at].blocks is entry.blocks:
                spans.append((number, at))
                break
        else:
            spans.append((-1, len(new)))
            new.append(entry)
        sizes.append(len(entry.blocks))
    own = gather_rows(Session.model_construct(format="", entries=tuple(new)), None, first.counter.image)
    counted = first.count_blocks([block for entry in new for block in entry.blocks])
    for number, at in spans:
        if number < 0:
            a, b = own.start[at], own.start[at + 1]
            tokens.append(counted[a:b])
            kinds.append(own.kind[a:b])
            sections.append(own.section[a:b])
        else:
            ledger = ledgers[number]
            a, b = ledger.start[at], ledger.start[at + 1]
            tokens.append(ledger.tokens[a:b])
            kinds.append(ledger.kind[a:b])
            sections.append(ledger.section[a:b])
    start = np.zeros(len(sizes) + 1, np.int32)
    np.cumsum(sizes, out=start[1:])
    entry_of = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    block_of = np.arange(start[-1], dtype=np.int32) - start[entry_of]
    return Ledger(
        session=session,
        counter=first.counter,
        calibration=first.calibration,
        entry=np.concatenate([first.entry[: first.head], entry_of]).astype(np.int32),
        block=np.concatenate([first.block[: first.head], block_of]).astype(np.int32),
        kind=np.concatenate(kinds),
        section=np.concatenate(sections),
        tokens=np.concatenate(tokens).astype(np.int32),
        start=(start + first.head).astype(np.int32),
        head=first.head,
        uncounted_rows=np.zeros(0, np.int32),
        missing=first.missing,
    )
