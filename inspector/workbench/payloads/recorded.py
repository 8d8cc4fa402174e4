"""The compaction that the file records, drawn over the scene of a plan: what it left of every live block.

In go a plan, for its moment, and the session's whole life; out comes a payload like a plan's, whose only cut
is the recorded one. Nothing is planned here: what stands after is what is live after it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from msgspec import UNSET

from ...cuts import END
from ...errors import InspectorError
from ...planning.fates import BY_NONE
from ...planning.plan import Plan
from ...policies.table import CLEARED, DROPPED, SUMMARISED, TRUNCATED, VERBATIM, Bytes
from ...redaction.cut import cut_text
from ...session.entries import Boundary, Entry
from ...session.live import Live
from ...session.queries import find_end, is_sealed, is_summary
from ...session.session import Session
from ...session.tree import Bools, Ints
from ...text import plural
from ...tokens.counter import Longs
from ...tokens.history import History
from ...tokens.moment import find_moment
from ...tokens.outside import Outside, PartName
from ...tokens.recorded_sizes import ContextSize, find_recorded_sizes
from ...tokens.reported import context_tokens, is_snapshot, whole_tokens
from ...tokens.rows import SECTIONS
from ..words import say_plainly
from .boundary import say_sizes
from .columns import ColumnPacker
from .gauge import GaugeWords, say_where
from .recovery import describe_recovery, find_reason
from .scene import CutPayload, DrawnPlan, PlanPayload, SectionSums, TriggerVerdict
from .sections import ALL_SECTIONS, sum_before
from .sentence import SentencePayload, add_up, pack_left, say_left

OFF_PATH = "This moment is not on the session's main path, so no recorded compaction follows it."
NONE_LEFT = "The file records no compaction after this moment: the session ends there without one."


@dataclass(frozen=True, eq=False)
class RecordedCompaction:
    """The first compaction recorded after a plan's moment, and what it left: m live blocks.

    entry     the entry that records it, at path position `at`
    fate      uint8[m]   index into FATES: verbatim, truncated, summarised, dropped or cleared
    tokens    int64[m]   what stands of each block
    place     int | None the first kept entry, n where none is; None where there is no cut (micro)
    summary   int        tokens of the recorded summary, and of other words that it put there
    returned  int64[s]   by section: blocks that an earlier compaction had taken and this one gave back
    skipped   int64[s]   by section: what it kept of what was said between the moment and itself
    outside   Outside    what the request after it holds that is not in the file, before a reply tells it
    size      ContextSize       the request that it left, what is not in the file included
    left_by   Session    the session as it left it
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
    outside: Outside
    size: ContextSize
    left_by: Session

    @property
    def boundary(self) -> Boundary:
        assert self.entry.boundary is not None
        return self.entry.boundary

    @property
    def after(self) -> int:
        """Tokens of the request that it left, what is not in the file included."""
        return self.size.tokens


def find_recorded(plan: Plan, history: History) -> RecordedCompaction:
    """The first compaction recorded after the plan's moment. Raises `InspectorError` when there is none."""
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
    made = _find_made(session, history, entry)
    left_by = session.at(session.entries[made[-1]].id)
    before, after = session.live, left_by.live
    was, now, origin = _file_rows(session), _file_rows(left_by), _file_rows(left_by)
    again = _find_sources(session, made[1:])
    copied = np.isin(now, [*again])
    origin[copied] = [again[row][0] for row in now[copied].tolist()]
    stood, stands, emptied, cut = (np.zeros(int(tree.start[-1]), bool) for _ in range(4))
    stood[was], stands[origin], emptied[origin] = True, True, after.cleared
    cut[origin[copied]] = [not again[row][1] for row in now[copied].tolist()]
    tokens = np.where(stands[was], plan.table.tokens, 0).astype(np.int64)
    cleared = emptied[was] & ~before.cleared
    live_after = ledger.live_tokens(left_by)
    left = np.zeros(int(tree.start[-1]), np.int64)
    left[origin] = live_after
    changed = cleared | cut[was]
    tokens[changed] = left[was[changed]]
    summarised = is_sealed(entry) or any(is_summary(session.entries[i]) for i in made)
    gone = SUMMARISED if summarised else DROPPED
    fate = np.where(stands[was], VERBATIM, gone).astype(np.uint8)
    fate[cut[was]] = TRUNCATED
    fate[cleared] = CLEARED
    own = np.isin(after.entries[after.position], made) & ~copied
    owner = np.searchsorted(tree.start, origin, side="right") - 1
    where = np.zeros(len(session.entries), np.int64)
    where[history.path] = np.arange(len(history.path))
    new = ~stood[origin] & ~own
    between = new & (where[owner] > last)
    sections = ledger.section[ledger.live_rows(left_by)]
    back = new & ~between
    return RecordedCompaction(
        plan=plan,
        entry=entry,
        at=at,
        fate=fate,
        tokens=tokens,
        place=None if entry.boundary.kind == "micro" else _find_place(before, stands[was], plan.table.tokens),
        summary=int(live_after[own].sum()),
        returned=np.bincount(sections[back], live_after[back], len(SECTIONS)).astype(np.int64),
        skipped=np.bincount(sections[between], live_after[between], len(SECTIONS)).astype(np.int64),
        outside=find_moment(left_by, ledger).outside,
        size=find_recorded_sizes(left_by, ledger, entry.id).after,
        left_by=left_by,
    )


def draw_recorded(plan: Plan, history: History, seq: int = 0) -> DrawnPlan:
    """The recorded compaction over the scene of a plan's moment, in the shape of `draw_plan`.

    A block has its fate wherever a cut may stand; the totals are those of the recorded place alone, -1 and 0
    elsewhere. `told` says what the provider and the file report of before and after, each with its source.
    Raises `InspectorError` with a sentence where the moment ends in no recorded compaction.

    >>> from inspector import count_tokens, make_plan, open_demo
    >>> from inspector.tokens.history import trace_history
    >>> session = open_demo()
    >>> ledger = count_tokens(session)
    >>> history = trace_history(session, ledger)
    >>> payload, _ = draw_recorded(make_plan(session.at(history.fullest.at), ledger), history)
    >>> payload.label, payload.cut.id
    ('recorded', 'end')
    """
    found = find_recorded(plan, history)
    live = plan.session.live
    n, place = len(live), found.place or 0
    rule = np.full(len(found.fate), BY_NONE, np.int32)
    sections = np.zeros((n + 1, len(ALL_SECTIONS)), np.int64)
    sections[place] = _sum_sections(found)
    total, summary = np.full(n + 1, -1, np.int64), np.zeros(n + 1, np.int64)
    summary[place] = found.summary
    if found.place is not None:
        total[place] = found.after
    pack = ColumnPacker()
    for side in ("older", "kept"):
        pack.add(f"fate_{side}", found.fate, "u8")
        pack.add(f"tokens_{side}", found.tokens)
        pack.add(f"rule_{side}", rule)
    pack.add("after_total", total)
    pack.add("after_sections", sections.ravel())
    pack.add("summary_tokens", summary)
    size, left = found.size, add_up(plan.table, found.fate, _taken(found))
    if found.place is None:
        left.blocks[0], left.tokens[0] = left.blocks[n], left.tokens[n]
    pack_left(pack, left)
    micro = found.boundary.kind == "micro"
    what, did = ("clearing of outputs", "cleared") if micro else ("compaction", "compacted")
    recovery = describe_recovery(plan.ledger.session, found.entry.id, say_sizes(plan.before, found.size))
    reason = find_reason(plan.ledger.session, found.entry, recovery is not None)
    payload = PlanPayload(
        seq=seq,
        policy="recorded",
        policy_title=f"The recorded {what}",
        policy_source=f"{_name(found.entry)} of the file.",
        label="recorded",
        entry=found.entry.id,
        untold=True,
        sealed=is_sealed(found.entry),
        gauge=GaugeWords(
            f"The recorded {what}", say_where(plan, did, reason), plan.before, size.low, size.high
        ),
        source=size.source,
        cut=_cut(found, plan.session),
        sentence=SentencePayload(
            "recorded",
            say_left(left, found.place, found.summary, past=True, sealed=is_sealed(found.entry)),
            [],
            True,
            "",
            _notes(found),
        ),
        rules=[],
        stages=[],
        before=SectionSums(plan.before, sum_before(plan)),
        after=SectionSums(found.after, sections[place].tolist()),
        thresholds=[],
        reserve=0,
        trigger=TriggerVerdict(False, ""),
        told=_tell(found, history),
        recovery=recovery or UNSET,
        notes=_notes(found),
        recipe=f"session.at({found.entry.id!r}).live",
        pins=[],
        columns=pack.columns,
    )
    return DrawnPlan(payload, pack.data)


def _taken(found: RecordedCompaction) -> int:
    """The fate of what the compaction took."""
    if found.boundary.kind == "micro":
        return CLEARED
    return SUMMARISED if (found.fate == SUMMARISED).any() else DROPPED


def _find_made(session: Session, history: History, entry: Entry) -> list[int]:
    """Positions of the entries that a compaction made: itself, and those that stand again behind it."""
    life = session.at(session.entries[int(history.path[-1])].id)
    path = list(life.path)
    first, last = (path.index(session.index[name]) for name in (entry.id, find_end(life, entry.id)))
    return path[first : last + 1]


def _find_sources(session: Session, copies: list[int]) -> dict[int, tuple[int, bool]]:
    """By its row in the file, the row of the block that a copied one repeats, and whether it does so whole.

    What a copy says that its entry did not is new, and has no source.
    """
    start, found = session.tree.start, dict[int, tuple[int, bool]]()
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
                found[int(start[i]) + number] = int(start[at]) + like[0], same is not None
    return found


def _file_rows(session: Session) -> Longs:
    """int64[m]: the row of each live block among all blocks of the file."""
    live = session.live
    return session.tree.start[live.entries[live.position]].astype(np.int64) + live.block


def _find_place(live: Live, stands: Bools, tokens: Ints) -> int:
    """The live position that best parts what went from what was kept, by tokens; the number of entries where
    nothing was kept.

    Most compactions keep all from some entry on, and there it is. Codex keeps messages among the calls that
    it drops: nothing parts those, and the cut stands behind all that went.
    """
    n, weight = len(live), tokens.astype(np.int64) + 1
    if not stands.any():
        return n
    kept = np.bincount(live.position, weight * stands, n)
    gone = np.bincount(live.position, weight * ~stands, n)
    wrong = np.append(0, np.cumsum(kept)) + gone.sum() - np.append(0, np.cumsum(gone))
    return int(np.argmin(wrong))


def _sum_sections(found: RecordedCompaction) -> list[int]:
    """By section: the head, what stands, what came back, the summary as compacted history; then by part what
    is not in the file, as the next request reports it."""
    plan = found.plan
    sums = np.bincount(plan.table.section, found.tokens, len(SECTIONS)).astype(np.int64)
    sums += plan.ledger.head_sections + found.returned + found.skipped
    sums[SECTIONS.index("compacted")] += found.summary
    parts = {name: part.tokens for name, part in found.outside.parts.items()}
    more = found.after - int(sums.sum()) - sum(parts.values())
    # What is attached again, or sealed, is a guess until it is reported.
    guessed: PartName = "withheld" if found.outside.attached.certain else "attached"
    taken = max(more, -parts[guessed])
    parts[guessed] += taken
    parts["withheld"] += more - taken
    out: list[int] = [*sums.tolist(), *parts.values()]
    return out


def _cut(found: RecordedCompaction, session: Session) -> CutPayload:
    place = found.place
    if place is None:
        outputs = plural(int((found.fate == CLEARED).sum()), "tool output")
        sentence = (
            f"The file records here that outputs were cleared: {outputs} emptied in place, nothing cut."
        )
        return CutPayload(0, "", "file", sentence)
    n = len(session.live)
    name = session.entries[session.live.entries[place]].id if place < n else END
    rest = found.fate[session.live.position >= place]
    kept = "the rest was kept as it was"
    if place >= n:
        among = int((found.fate == VERBATIM).sum())
        blocks = plural(among, "block of it was kept as it was", "blocks of it were kept as they were")
        kept = blocks if among else "nothing before it was kept"
    elif (rest != VERBATIM).any():
        kept = f"{int((rest == VERBATIM).sum()):,} of the {len(rest):,} blocks since were kept as they were"
    left = "summarised" if _taken(found) == SUMMARISED else "dropped"
    trigger = f" ({cut_text(found.boundary.trigger, 40)})" if found.boundary.trigger else ""
    what = f"The file records a compaction here{trigger}: what is older was {left}, {kept}."
    return CutPayload(place, name, "file", what)


def _measure_reply(found: RecordedCompaction, at: int) -> int:
    """Return the tokens of the context after a reply, by its usage, with its text counted if needed."""
    session = found.plan.session
    entry = session.entries[at]
    words = int(found.plan.ledger.entry_tokens[at]) if is_snapshot(session, entry) else 0
    return context_tokens(entry.usage, words)


def _tell(found: RecordedCompaction, history: History) -> list[tuple[str, str, str]]:
    """List the recorded and counted sizes before and after, each with its source."""
    session = found.plan.session
    sizes: list[tuple[str, str, str]] = []
    before, after = found.boundary.tokens_before, found.boundary.tokens_after
    if before is not None:
        sizes.append(("recorded before", f"{whole_tokens(before):,}", "the harness's own figure"))
    last = [i for i in history.path[: found.at].tolist() if session.entries[i].usage is not None]
    if last and (reply := _measure_reply(found, last[-1])):
        sizes.append(("last reply before it", f"{reply:,}", "request and reply by its usage"))
    if after is not None:
        sizes.append(("recorded after", f"{whole_tokens(after):,}", "the harness's own figure"))
    size = found.size
    if size.reply is not None:
        added = f"by its usage, with {plural(size.added, 'token')} added since"
        sizes.append(("next request", f"{size.request:,}", added))
    if found.boundary.tokens_saved is not None:
        sizes.append(("saved", f"{whole_tokens(found.boundary.tokens_saved):,}", "as the file records it"))
    if found.summary:
        counted = say_plainly(f"counted ({found.plan.ledger.counter.title})")
        sizes.append(("summary", f"{found.summary:,}", counted))
    return sizes


def _notes(found: RecordedCompaction) -> list[str]:
    low, high = found.size.low, found.size.high
    notes = [] if found.size.reply is not None else list(found.outside.warnings)
    if low != high:
        notes.append(f"What it left is {low:,} to {high:,} tokens, as known before the next request.")
    between = found.at - len(found.plan.session.path)
    if between:
        more = f" {kept:,} tokens of it were kept." if (kept := int(found.skipped.sum())) else ""
        entries = plural(between, "entry later", "entries later")
        notes.append(f"The file records it {entries}; what came between is not in this moment.{more}")
    if found.returned.any():
        count = int(found.returned.sum())
        notes.append(f"It brought back {count:,} tokens that an earlier compaction had taken.")
    return notes


def _name(entry: Entry) -> str:
    return f"Record {entry.sources[0].line:,}" if entry.sources else f"Entry {entry.id}"
