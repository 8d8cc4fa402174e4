"""The recorded compaction, drawn over the scene of a plan, with the retention of every live block.

The input is a plan for its point in time and the whole session; the result is a payload like a plan's, whose
only cut is the recorded one. Nothing is planned here: the context after is the recorded one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from msgspec import UNSET

from ...cuts import END
from ...errors import InspectorError
from ...planning.fates import BY_NONE
from ...planning.plan import Plan
from ...policies.table import CLEARED, SUMMARISED, TRUNCATED, VERBATIM, Bytes
from ...session.entries import Boundary, Entry
from ...session.live import Live
from ...session.queries import find_end, is_summary, why_unread
from ...session.session import Session
from ...session.tree import Bools, Ints
from ...text import plural
from ...tokens.counter import Longs
from ...tokens.history import History
from ...tokens.moment import find_moment
from ...tokens.not_in_file import NotInFile, PartName
from ...tokens.recorded_sizes import ContextSize, find_recorded_sizes
from ...tokens.reported import context_tokens, is_snapshot, whole_tokens
from ...tokens.rows import SECTIONS
from ..words import say_plainly
from .boundary import say_sizes
from .columns import ColumnPacker
from .figures import list_provided
from .gauge import GaugeWords, say_where
from .recovery import describe_recovery, find_reason
from .scene import CutPayload, DrawnPlan, PlanPayload, SectionSums, Unread
from .sections import ALL_SECTIONS, even_out, sum_before
from .sentence import SentencePayload, add_up, pack_left, say_left

OFF_PATH = "This moment is not on the session's main path, so no recorded compaction follows it."
NONE_LEFT = "The file records no compaction after this moment: the session ends there without one."


@dataclass(frozen=True, eq=False)
class RecordedCompaction:
    """The first recorded compaction after a plan's point in time, and its effect on m live blocks.

    entry     the entry that records it, at path position `at`
    fate      uint8[m]   index into FATES: verbatim, truncated, summarised or cleared
    tokens    int64[m]   tokens left of each block
    place     int | None the first kept entry, n if none is kept; None if there is no cut (micro)
    summary   int        tokens of the recorded summary, and of other texts that it added
    returned  int64[s]   by section: blocks that an earlier compaction had removed and this one restored
    skipped   int64[s]   by section: kept content between the point in time and the compaction
    outside   NotInFile    content of the next request that is not in the file, before a reply reports it
    size      ContextSize       the request after it, including what is not in the file
    left_by   Session    the session right after it
    unread    str        why its summary cannot be read: "encrypted" or "missing"; "" if it can
    """

    plan: Plan
    entry: Entry
    at: int
    fate: Bytes
    tokens: Longs
    place: int | None
    summary: int
    returned: Longs
    skipped: Longs
    outside: NotInFile
    size: ContextSize
    left_by: Session
    unread: Unread

    @property
    def boundary(self) -> Boundary:
        assert self.entry.boundary is not None
        return self.entry.boundary

    @property
    def after(self) -> int:
        """Tokens of the request that it left, what is not in the file included."""
        return self.size.tokens


def find_recorded(plan: Plan, history: History) -> RecordedCompaction:
    """Return the first recorded compaction after the plan's point in time. Raises `InspectorError` if
    none."""
    session, ledger = plan.session, plan.ledger
    if not history.passes(session):
        raise InspectorError(OFF_PATH)
    tree, last = session.tree, len(session.path) - 1
    later = np.flatnonzero(np.isin(history.path[last + 1 :], tree.bounded))
    if not len(later):
        raise InspectorError(NONE_LEFT)
    at = last + 1 + int(later[0])
    entry = session.entries[history.path[at]]
    assert entry.boundary is not None
    entry_indexes = _find_made(session, history, entry)
    left_by = session.at(session.entries[entry_indexes[-1]].id)
    before, after = session.live, left_by.live
    was, now, origin = _file_rows(session), _file_rows(left_by), _file_rows(left_by)
    again = _find_sources(session, entry_indexes[1:])
    copied = np.isin(now, [*again])
    origin[copied] = [again[row][0] for row in now[copied].tolist()]
    in_before, in_after, emptied, cut = (np.zeros(int(tree.start[-1]), bool) for _ in range(4))
    in_before[was], in_after[origin], emptied[origin] = True, True, after.cleared
    cut[origin[copied]] = [not again[row][1] for row in now[copied].tolist()]
    tokens = np.where(in_after[was], plan.table.tokens, 0).astype(np.int64)
    cleared = emptied[was] & ~before.cleared
    live_after = ledger.live_tokens(left_by)
    tokens_after = np.zeros(int(tree.start[-1]), np.int64)
    tokens_after[origin] = live_after
    changed = cleared | cut[was]
    tokens[changed] = tokens_after[was[changed]]
    is_read = entry.boundary.kind == "micro" or any(is_summary(session.entries[i]) for i in entry_indexes)
    fate = np.where(in_after[was], VERBATIM, SUMMARISED).astype(np.uint8)
    fate[cut[was]] = TRUNCATED
    fate[cleared] = CLEARED
    own = np.isin(after.entries[after.position], entry_indexes) & ~copied
    owner = np.searchsorted(tree.start, origin, side="right") - 1
    where = np.zeros(len(session.entries), np.int64)
    where[history.path] = np.arange(len(history.path))
    new = ~in_before[origin] & ~own
    between = new & (where[owner] > last)
    sections = ledger.section[ledger.live_rows(left_by)]
    back = new & ~between
    return RecordedCompaction(
        plan=plan,
        entry=entry,
        at=at,
        fate=fate,
        tokens=tokens,
        place=_find_place(entry.boundary, before, in_after[was], plan.table.tokens),
        summary=int(live_after[own].sum()),
        returned=np.bincount(sections[back], live_after[back], len(SECTIONS)).astype(np.int64),
        skipped=np.bincount(sections[between], live_after[between], len(SECTIONS)).astype(np.int64),
        outside=find_moment(left_by, ledger).outside,
        size=find_recorded_sizes(left_by, ledger, entry.id).after,
        left_by=left_by,
        unread="" if is_read else why_unread(entry),
    )


def draw_recorded(plan: Plan, history: History) -> DrawnPlan:
    """Draw the recorded compaction over the scene of a plan, in the shape of `draw_plan`.

    A block has the same retention for every cut; the totals exist only for the recorded cut, and are -1 and 0
    elsewhere. `told` lists the sizes before and after that the provider and the file report, with the source.
    Raises `InspectorError` if no recorded compaction follows.

    >>> from inspector import count_tokens, make_plan, open_demo
    >>> from inspector.tokens.history import trace_history
    >>> session = open_demo()
    >>> ledger = count_tokens(session)
    >>> history = trace_history(session, ledger)
    >>> payload, _ = draw_recorded(make_plan(session.at(history.fullest.at), ledger), history)
    >>> payload.label, payload.cut.id
    ('recorded', 'end')
    """
    recorded = find_recorded(plan, history)
    live = plan.session.live
    n, place = len(live), recorded.place or 0
    rule = np.full(len(recorded.fate), BY_NONE, np.int32)
    sections = np.zeros((n + 1, len(ALL_SECTIONS)), np.int64)
    sections[place] = _sum_sections(recorded)
    total, summary = np.full(n + 1, -1, np.int64), np.zeros(n + 1, np.int64)
    summary[place] = recorded.summary
    if recorded.place is not None:
        total[place] = recorded.after
    pack = ColumnPacker()
    for side in ("older", "kept"):
        pack.add(f"fate_{side}", recorded.fate, "u8")
        pack.add(f"tokens_{side}", recorded.tokens)
        pack.add(f"rule_{side}", rule)
    pack.add("after_total", total)
    pack.add("after_sections", sections.ravel())
    pack.add("summary_tokens", summary)
    micro = recorded.boundary.kind == "micro"
    size, sums = recorded.size, add_up(plan.table, recorded.fate, CLEARED if micro else SUMMARISED)
    if recorded.place is None:
        sums.blocks[0], sums.tokens[0] = sums.blocks[n], sums.tokens[n]
    pack_left(pack, sums)
    what, did = ("clearing of outputs", "cleared") if micro else ("compaction", "compacted")
    recovery = describe_recovery(
        plan.ledger.session, recorded.entry.id, say_sizes(plan.before, recorded.size)
    )
    reason = find_reason(plan.ledger.session, recorded.entry, recovery is not None)
    payload = PlanPayload(
        seq=0,
        policy="recorded",
        policy_title=f"The recorded {what}",
        policy_source=f"{_name(recorded.entry)} of the file.",
        label="recorded",
        entry=recorded.entry.id,
        untold=True,
        unread=recorded.unread,
        gauge=GaugeWords(
            f"The recorded {what}", say_where(plan, did, reason), plan.before, size.low, size.high
        ),
        source=size.source,
        cut=_cut(recorded, plan.session),
        sentence=SentencePayload(
            "recorded",
            say_left(sums, recorded.place, recorded.summary, in_past=True, unread=recorded.unread),
            [],
            True,
            "",
        ),
        rules=[],
        stages=[],
        before=SectionSums(plan.before, sum_before(plan)),
        after=SectionSums(recorded.after, sections[place].tolist()),
        thresholds=[],
        trigger="",
        told=_list_sizes(recorded, history),
        recovery=recovery or UNSET,
        figures=list_provided(plan.session, plan.ledger),
        notes=_notes(recorded),
        recipe=f"session.at({recorded.entry.id!r}).live",
        pins=[],
        columns=pack.columns,
    )
    return DrawnPlan(payload, pack.data)


def _find_made(session: Session, history: History, entry: Entry) -> list[int]:
    """Positions of the entries that a compaction made: itself, and the entries that it repeats after it."""
    session_after = session.at(session.entries[int(history.path[-1])].id)
    path = list(session_after.path)
    first, last = (path.index(session.index[name]) for name in (entry.id, find_end(session_after, entry.id)))
    return path[first : last + 1]


def _find_sources(session: Session, copies: list[int]) -> dict[int, tuple[int, bool]]:
    """Map the row of a copied block to the row of its original, and whether the copy is complete.

    New text in a copy has no source.
    """
    start, sources = session.tree.start, dict[int, tuple[int, bool]]()
    for i in copies:
        name = session.entries[i].extra.get("copy_of")
        at = session.index.get(name) if isinstance(name, str) else None
        if at is None:
            continue
        waiting = list(enumerate(session.entries[at].blocks))
        for number, block in enumerate(session.entries[i].blocks):
            same = next((pair for pair in waiting if pair[1] == block), None)
            like = same or next((pair for pair in waiting if pair[1].kind == block.kind), None)
            if like is not None:
                waiting.remove(like)
                sources[int(start[i]) + number] = int(start[at]) + like[0], same is not None
    return sources


def _file_rows(session: Session) -> Longs:
    """int64[m]: the row of each live block among all blocks of the file."""
    live = session.live
    return session.tree.start[live.entries[live.position]].astype(np.int64) + live.block


def _find_place(boundary: Boundary, live: Live, in_after: Bools, tokens: Ints) -> int | None:
    """Return the live position that best separates removed from kept tokens; None for outputs that were
    cleared in place.

    Most compactions keep everything from one entry on, which is the cut. Codex keeps messages between the
    calls that it drops; the cut is then after the last dropped one. It is at the end if nothing
    was kept, or if the kept content comes before the summary.
    """
    n, weight = len(live), tokens.astype(np.int64) + 1
    if boundary.kind == "micro":
        return None
    if boundary.summary_last or not in_after.any():
        return n
    kept_tokens = np.bincount(live.position, weight * in_after, n)
    gone = np.bincount(live.position, weight * ~in_after, n)
    wrong = np.append(0, np.cumsum(kept_tokens)) + gone.sum() - np.append(0, np.cumsum(gone))
    return int(np.argmin(wrong))


def _sum_sections(recorded: RecordedCompaction) -> list[int]:
    """Sum tokens by section: system prompt, remaining and restored blocks, and the summary as compacted
    history; then by part the tokens that are not in the file, as the next request reports them."""
    plan = recorded.plan
    sums = np.bincount(plan.table.section, recorded.tokens, len(SECTIONS)).astype(np.int64)
    sums += plan.ledger.head_sections + recorded.returned + recorded.skipped
    sums[SECTIONS.index("compacted")] += recorded.summary
    parts = {name: part.tokens for name, part in recorded.outside.parts.items()}
    more = recorded.after - int(sums.sum()) - sum(parts.values())
    # Reattached or encrypted content is an estimate until it is reported.
    guessed: PartName = "hidden_reasoning" if recorded.outside.reattached.certain else "reattached"
    parts[guessed] += more
    out: list[int] = even_out(np.append(sums, [*parts.values()])).tolist()
    return out


def _cut(recorded: RecordedCompaction, session: Session) -> CutPayload:
    place = recorded.place
    if place is None:
        return CutPayload(0, "", "file")
    n = len(session.live)
    name = session.entries[session.live.entries[place]].id if place < n else END
    return CutPayload(place, name, "file")


def _measure_reply(recorded: RecordedCompaction, at: int) -> int:
    """Return the tokens of the context after a reply, by its usage, with its text counted if needed."""
    session = recorded.plan.session
    entry = session.entries[at]
    words = int(recorded.plan.ledger.entry_tokens[at]) if is_snapshot(session, entry) else 0
    return context_tokens(entry.usage, words)


def _list_sizes(recorded: RecordedCompaction, history: History) -> list[tuple[str, str, str]]:
    """List the recorded and counted sizes before and after, each with its source."""
    session = recorded.plan.session
    sizes: list[tuple[str, str, str]] = []
    before, after = recorded.boundary.tokens_before, recorded.boundary.left
    if before is not None:
        sizes.append(("recorded before", f"{whole_tokens(before):,}", "the harness's own figure"))
    last = [i for i in history.path[: recorded.at].tolist() if session.entries[i].usage is not None]
    if last and (reply := _measure_reply(recorded, last[-1])):
        source = "request and reply by its usage"
        if (rest := recorded.plan.before - reply) > 0:
            source += f"; {plural(rest, 'token')} added since"
        sizes.append(("last reply before it", f"{reply:,}", source))
    if after is not None:
        alone = " of the conversation alone" if recorded.boundary.tokens_after is None else ""
        sizes.append(("recorded after", f"{whole_tokens(after):,}", f"the harness's own figure{alone}"))
    size = recorded.size
    if size.reply is not None:
        added = f"by its usage, with {plural(size.added, 'token')} added since"
        sizes.append(("next request", f"{size.request:,}", added))
    if recorded.boundary.tokens_saved is not None:
        sizes.append(("saved", f"{whole_tokens(recorded.boundary.tokens_saved):,}", "as the file records it"))
    if recorded.summary and not recorded.unread:
        counted = say_plainly(f"counted ({recorded.plan.ledger.counter.title})")
        sizes.append(("summary", f"{recorded.summary:,}", counted))
    return sizes


def _notes(recorded: RecordedCompaction) -> list[str]:
    low, high = recorded.size.low, recorded.size.high
    notes = [] if recorded.size.reply is not None else list(recorded.outside.warnings)
    if low != high:
        notes.append(
            "Until the next request, the size after this compaction is known only as a range: "
            f"{low:,} to {high:,} tokens."
        )
    between = recorded.at - len(recorded.plan.session.path)
    if between:
        more = (
            f" {skipped_tokens:,} tokens of these entries were kept."
            if (skipped_tokens := int(recorded.skipped.sum()))
            else ""
        )
        entries = plural(between, "entry later", "entries later")
        notes.append(
            f"The file records the compaction {entries}; the entries between are not in this context.{more}"
        )
    if recorded.returned.any():
        count = int(recorded.returned.sum())
        notes.append(f"This compaction restored {count:,} tokens that an earlier one had removed.")
    return notes


def _name(entry: Entry) -> str:
    return f"Record {entry.sources[0].line:,}" if entry.sources else f"Entry {entry.id}"
