"""Who follows whom in a Claude Code file.

In go drafts in file order and the links of bookkeeping rows, out comes each draft's parent among drafts.
Three things make this more than a look-up. Rows that are no messages stand in the chain. The rows of one
reply are one draft, and the outputs of its parallel calls hang off different rows of it: they are chained
in file order, and what followed any of them follows the last. And a compaction starts a new chain: it is
tied to what stood before it, and what follows the last message it kept follows the compaction.
Source: CLAUDE §3.
"""

from __future__ import annotations

from bisect import bisect, bisect_left
from collections.abc import Iterable, Sequence
from typing import Any

from ....session.entries import Entry
from ....text import plural
from .draft import Draft
from .rows import Row


class LineChain:
    """The links of a file.

    `home` holds the draft of a row, `via` the parent of a row that has none. `last` is the last output of
    a reply, `answered` the calls its outputs answer, `tails` the compactions that kept up to this draft,
    `inserted` the queued words that were delivered behind a draft or the outputs of a reply.
    """

    def __init__(self) -> None:
        self.home: dict[str, Draft] = {}
        self.via: dict[str, str | None] = {}
        self.tails: dict[Draft, list[Draft]] = {}
        self.last: dict[Draft, Draft] = {}
        self.answered: dict[Draft, set[str]] = {}
        self.inserted: dict[Draft, list[Draft]] = {}
        self.bridged = 0

    def fork(self) -> LineChain:
        """This chain, to be linked as it stands now; more rows may then come to this one."""
        other = LineChain()
        other.home, other.via = self.home, dict(self.via)
        other.tails = {draft: list(later) for draft, later in self.tails.items()}
        return other

    def find(self, row: str | None) -> tuple[Draft | None, bool]:
        """The draft that row belongs to or hangs off, and whether the way there is broken."""
        if row is not None and (own := self.home.get(row)) is not None:
            return own, False
        seen: list[str] = []
        while row is not None and row not in self.home and row in self.via:
            seen.append(row)
            row = self.via[row]
            if len(seen) > len(self.via):
                return None, False
        for link in seen:
            self.via[link] = row
        draft = self.home.get(row) if row is not None else None
        return draft, row is not None and draft is None

    def link(self, drafts: list[Draft]) -> None:
        """Set `up`, `above`, `owner` and `side` of all drafts."""
        for draft in drafts:
            draft.above, draft.owner, draft.side = draft.parent, None, None
            if draft.kind == "compaction":
                for tail in self.find_all(tails_of(draft.metadata)[:1]):
                    self.tails.setdefault(tail, []).append(draft)
        before: dict[str | None, Draft] = {}
        for draft in drafts:
            aside, agent = draft.lane
            if aside and agent is None:
                draft.up = self._follow(draft, None)
            else:
                draft.up = self._follow(draft, before.get(agent))
                before[agent] = draft
        for draft in drafts:
            if draft.answers:
                self._queue(draft)
        queued = [draft for draft in drafts if draft.queued]
        if queued:
            self._deliver(queued, drafts)
        for draft in drafts:
            if not draft.answers and not draft.queued and draft.up is not None:
                draft.up = self.find_end(draft.up, draft.order)
            if draft.lane[0]:
                above = draft.up.side if draft.up is not None and draft.up.aside else None
                draft.side = draft.agent or above or draft.id

    def _queue(self, draft: Draft) -> None:
        """Put a tool output behind the outputs before it that answer the same reply."""
        up = draft.up
        owner = None if up is None else up if up.role == "assistant" else up.owner
        if owner is None:
            return
        answered = self.answered.setdefault(owner, set())
        # The same calls answered again is another branch.
        if not answered.issuperset(draft.answers):
            answered.update(draft.answers)
            draft.owner, draft.up = owner, self.last.get(owner, owner)
            self.last[owner] = draft

    def _deliver(self, queued: list[Draft], drafts: list[Draft]) -> None:
        """Put all queued words in their places."""
        roots: dict[str | None, list[Draft]] = {}
        for draft in drafts:
            if draft.up is None and not draft.queued and _is_told(draft):
                roots.setdefault(draft.agent if draft.aside else None, []).append(draft)
        for draft in queued:
            if draft.up is None and _is_told(draft):
                # What comes before the first words is sent with them.
                later = roots.get(draft.agent if draft.aside else None, [])
                at = bisect(later, draft.order, key=_order)
                draft.up = later[at] if at < len(later) else None
            if draft.up is not None:
                self._insert(draft, draft.up)

    def _insert(self, draft: Draft, up: Draft) -> None:
        """Put queued words behind what they were delivered with: no row names them as its parent."""
        owner = up.owner or up
        draft.owner, draft.up = owner, self.find_end(up, draft.order)
        self.inserted.setdefault(owner, []).append(draft)

    def find_end(self, draft: Draft, order: int | None = None) -> Draft:
        """Where a row that hangs off this draft stands: behind all outputs of the reply it belongs to.

        And behind what was queued and delivered there before the draft number `order`.
        """
        owner = draft.owner or draft
        end = self.last.get(owner, draft)
        queued = self.inserted.get(owner)
        if queued is None:
            return end
        before = len(queued) if order is None else bisect_left(queued, order, key=_order)
        return queued[before - 1] if before else end

    def _follow(self, draft: Draft, previous: Draft | None) -> Draft | None:
        if draft.kind == "compaction":
            logical = None if draft.compaction is None else draft.compaction.logical
            wanted = (logical, draft.parent, *tails_of(draft.metadata))
            for row in wanted:
                found, _ = self.find(row)
                if found is not None and found.order < draft.order:
                    return self._continue(found, draft)
            self.bridged += previous is not None and any(wanted)
            missing = (row for row in (logical, draft.parent) if row is not None and row not in self.home)
            draft.above = next(missing, None)
            return previous
        row, broken = draft.parent, False
        found = self.home.get(row) if row is not None else None
        if found is None and row is not None:
            found, broken = self.find(row)
        if found is draft:
            return None
        if found is not None and found.lane[0] and not draft.lane[0]:
            # The main conversation never runs through a sub-agent's.
            return previous
        if found is None:
            self.bridged += broken and previous is not None
            draft.above = draft.parent if broken else None
            return previous if broken else None
        return self._continue(found, draft)

    def _continue(self, found: Draft, draft: Draft) -> Draft:
        """`found`, or the compaction that made it the end of what it kept."""
        tails = self.tails.get(found)
        if tails is None:
            return found
        # The end of what was kept may stand behind the compaction: it is chained to the summary then.
        later = [each for each in tails if found.order < each.order < draft.order]
        return max(later, key=lambda each: each.order) if later else found

    def find_all(self, rows: Iterable[str]) -> list[Draft]:
        """The drafts of these rows, each once."""
        found = (self.find(row)[0] for row in rows)
        return list(dict.fromkeys(draft for draft in found if draft is not None))

    def find_kept(self, draft: Draft, drafts: list[Draft]) -> list[Draft]:
        """The drafts a compaction kept, in file order."""
        named = preserved(draft.metadata)
        if named:
            before = (each for each in self.find_all(named) if each.order < draft.order)
            return sorted(before, key=lambda each: each.order)
        head, tail = (self.find(row)[0] for row in segment(draft.metadata))
        if tail is not None and tail.order > draft.order:
            tail = draft.up
        if head is None or tail is None:
            return []
        kept: list[Draft] = []
        at: Draft | None = tail
        while at is not None and len(kept) <= tail.order:
            kept.append(at)
            if at is head:
                return kept[::-1]
            at = at.up
        return [each for each in drafts[head.order : tail.order + 1] if each.side == draft.side]


def _order(draft: Draft) -> int:
    return draft.order


def _is_told(draft: Draft) -> bool:
    """Whether the file tells whose words these are: those of a sidechain may be any sub-agent's."""
    return not draft.aside or draft.agent is not None


def preserved(metadata: Any) -> list[str]:
    """Rows a compaction kept by name."""
    named = metadata.get("preservedMessages") if isinstance(metadata, dict) else None
    if not isinstance(named, dict):
        return []
    rows = named.get("uuids") or named.get("allUuids")
    return [row for row in rows if isinstance(row, str)] if isinstance(rows, list) else []


def segment(metadata: Any) -> tuple[str | None, str | None]:
    """First and last row of the run a compaction kept."""
    run = metadata.get("preservedSegment") if isinstance(metadata, dict) else None
    if not isinstance(run, dict):
        return None, None
    head, tail = run.get("headUuid"), run.get("tailUuid")
    return head if isinstance(head, str) else None, tail if isinstance(tail, str) else None


def tails_of(metadata: Any) -> list[str]:
    """Rows a compaction may follow when it does not say: the kept ones, the latest first."""
    head, tail = segment(metadata)
    rows = (tail, *reversed(preserved(metadata)), head)
    return list(dict.fromkeys(row for row in rows if row is not None))


def announces(draft: Draft, row: Row) -> bool:
    """Whether the row of a summary belongs to this compaction."""
    for name in ("preservedSegment", "preservedMessages"):
        preserved = draft.metadata.get(name) if isinstance(draft.metadata, dict) else None
        if row.uuid is not None and isinstance(preserved, dict) and preserved.get("anchorUuid") == row.uuid:
            return True
    return draft.id == row.parent_uuid


def warn_of_links(entries: Sequence[Entry], bridged: int) -> tuple[str, ...]:
    """What is to be said of links that lead out of the file; `bridged` of them were mended."""
    warnings = [_BEGINS] if _begins_late(entries) else []
    if bridged:
        follow = plural(bridged, "entry follows", "entries follow")
        was = "it was" if bridged == 1 else "each was"
        warnings.append(f"{follow} a record that is not in the file; {was} placed after the entry before it")
    return tuple(warnings)


_BEGINS = "it begins in the middle of its session: what its first entry follows is not in the file"


def _begins_late(entries: Sequence[Entry]) -> bool:
    """Whether the first entry of the session's own follows one that the file does not hold."""
    first = next((entry for entry in entries if entry.sidechain is None), None)
    if first is None or first.parent is None:
        return False
    return all(first.parent != entry.id and first.parent not in entry.aliases for entry in entries)
