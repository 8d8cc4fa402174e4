"""Find the parent of each entry in a Claude Code file.

The input is drafts in file order and the links of bookkeeping rows. Three things make this more than a
look-up. The chain has rows that are not messages. The rows of one reply are one draft, and the outputs of
its parallel calls have different rows of it as parents: they are chained in file order, and an entry after
any of them follows the last. A compaction starts a new chain: it is linked to the entry before it, and the
entry after the last message that it kept follows the compaction. A compaction by `/rewind` names the row
before the chosen prompt as its parent, although it summarised the messages after that ("from here") or kept
them ("up to here"): it is linked to the last of those messages. Source: CLAUDE §3.

Names of the metadata of a compaction: CLAUDE §3.
"""

from __future__ import annotations

from bisect import bisect, bisect_left
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from msgspec.structs import asdict

from ....session.blocks import Number, assemble
from ....session.entries import Boundary, Entry, Usage, is_tokens
from ....text import plural
from ...json_document import Fields
from ...recording import make_cost
from ...requests.anthropic_blocks import read_usage
from .draft import Draft, ReplyFields
from .rows import Row, UsageFields


class LineChain:
    """The links of a file.

    `home` holds the draft of a row, `via` the parent of a row that has none. `last` is the last output of
    a reply, `answered` the calls its outputs answer, `tails` the compactions that kept up to this draft,
    `inserted` the queued words that were delivered behind a draft or the outputs of a reply, `queued` these
    words by their rows.
    """

    def __init__(self) -> None:
        self.home: dict[str, Draft] = {}
        self.via: dict[str, str | None] = {}
        self.tails: dict[Draft, list[Draft]] = {}
        self.last: dict[Draft, Draft] = {}
        self.answered: dict[Draft, set[str]] = {}
        self.inserted: dict[Draft, list[Draft]] = {}
        self.queued: dict[str, Draft] = {}
        self.bridged = 0

    def fork(self) -> LineChain:
        """Return a copy to be linked now, so that this chain can take more rows."""
        other = LineChain()
        other.home, other.via = self.home, dict(self.via)
        other.tails = {draft: list(later) for draft, later in self.tails.items()}
        return other

    def find(self, row: str | None) -> tuple[Draft | None, bool]:
        """The draft that row belongs to or hangs off, and whether the way there is broken."""
        if row is not None and (own := self.home.get(row)) is not None:
            return own, False
        visited: list[str] = []
        while row is not None and row not in self.home and row in self.via:
            visited.append(row)
            row = self.via[row]
            if len(visited) > len(self.via):
                return None, False
        for link in visited:
            self.via[link] = row
        draft = self.home.get(row) if row is not None else None
        return draft, row is not None and draft is None

    def link(self, drafts: list[Draft]) -> None:
        """Set `up`, `above`, `owner` and `side` of all drafts."""
        for draft in drafts:
            draft.above, draft.owner, draft.side = draft.parent, None, None
            if draft.kind == "compaction":
                for tail in self.find_all(_read_kept(draft).tails[:1]):
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
        self.queued = {draft.id: draft for draft in drafts if draft.queued}
        if self.queued:
            self._deliver(list(self.queued.values()), drafts)
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
                # Queued words before the first message are sent with it.
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
        """Return the draft that a child of `draft` follows: the last output of its reply.

        Queued words that were delivered there before the draft number `order` come first.
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
            candidates = (draft.logical, draft.parent, *_read_kept(draft).tails)
            for row in candidates:
                parent, _ = self.find(row)
                if parent is not None and parent.order < draft.order:
                    return self._continue(self._find_later(draft, parent, previous), draft)
            self.bridged += previous is not None and any(candidates)
            missing = (
                row for row in (draft.logical, draft.parent) if row is not None and row not in self.home
            )
            draft.above = next(missing, None)
            return previous
        row, broken = draft.parent, False
        parent = self.home.get(row) if row is not None else None
        if parent is None and row is not None:
            parent, broken = self.find(row)
        if parent is draft:
            return None
        if parent is not None and parent.lane[0] and not draft.lane[0]:
            # The main conversation never runs through a sub-agent's.
            return previous
        if parent is None:
            self.bridged += broken and previous is not None
            draft.above = draft.parent if broken else None
            return previous if broken else None
        return self._continue(parent, draft)

    def _find_later(self, draft: Draft, named: Draft, previous: Draft | None) -> Draft:
        """Return the last message after the draft that a compaction names, or that draft.

        It is the last message before the compaction if the summary follows the kept messages, else the last
        kept message.
        """
        later = previous
        if not stands_behind(draft):
            later = self.find(next(iter(_read_kept(draft).tails), None))[0]
        at = later
        while at is not None and named.order < at.order < draft.order:
            at = at.up
        return later if later is not None and at is named else named

    def _continue(self, parent: Draft, draft: Draft) -> Draft:
        """Return `parent`, or the compaction that kept `parent` as its last message."""
        tails = self.tails.get(parent)
        if tails is None:
            return parent
        # If the last kept message is after the compaction in the file, it is chained to the summary.
        later = [tail for tail in tails if parent.order < tail.order < draft.order]
        return max(later, key=lambda tail: tail.order) if later else parent

    def find_all(self, rows: Iterable[str]) -> list[Draft]:
        """Return the drafts of these rows without duplicates."""
        drafts = (self.queued.get(row) or self.find(row)[0] for row in rows)
        return list(dict.fromkeys(draft for draft in drafts if draft is not None))

    def find_kept(self, draft: Draft, drafts: list[Draft]) -> list[Draft]:
        """Return the drafts that a compaction kept, in file order."""
        kept = _read_kept(draft)
        if kept.named:
            before = (other for other in self.find_all(kept.named) if other.order < draft.order)
            return sorted(before, key=lambda other: other.order)
        head, tail = self.find(kept.head)[0], self.find(kept.tail)[0]
        if tail is not None and tail.order > draft.order:
            tail = draft.up
        if head is None or tail is None:
            return []
        kept_drafts: list[Draft] = []
        at: Draft | None = tail
        while at is not None and len(kept_drafts) <= tail.order:
            kept_drafts.append(at)
            if at is head:
                return kept_drafts[::-1]
            at = at.up
        return [other for other in drafts[head.order : tail.order + 1] if other.side == draft.side]


def _order(draft: Draft) -> int:
    return draft.order


def _is_told(draft: Draft) -> bool:
    """Whether the speaker is known: a row of a sidechain may not name its sub-agent."""
    return not draft.aside or draft.agent is not None


class _Kept(NamedTuple):
    """The rows that a compaction kept, as its metadata names them.

    `named` are single rows, `head` and `tail` the ends of a run, and `anchors` the rows before the kept ones.
    """

    named: list[str]
    head: str | None
    tail: str | None
    anchors: list[Any]

    @property
    def tails(self) -> list[str]:
        """The rows that the compaction may follow when it does not say: the kept ones, the latest first."""
        rows = (self.tail, *reversed(self.named), self.head)
        return list(dict.fromkeys(row for row in rows if row is not None))


def _read_kept(draft: Draft) -> _Kept:
    metadata = Fields(draft.metadata).rest
    run, messages = (Fields(metadata.get(f"preserved{name}")) for name in ("Segment", "Messages"))
    anchors = [fields.rest["anchorUuid"] for fields in (run, messages) if fields.rest.get("anchorUuid")]
    listed = messages.rest.get("uuids") or messages.rest.get("allUuids")
    named = [row for row in listed if isinstance(row, str)] if isinstance(listed, list) else []
    return _Kept(named, run.text("headUuid"), run.text("tailUuid"), anchors)


def announces(draft: Draft, row: Row) -> bool:
    """Whether the row of a summary belongs to this compaction."""
    return row.uuid in _read_kept(draft).anchors or draft.id == row.parent_uuid


def stands_behind(draft: Draft) -> bool:
    """Whether the summary of a compaction follows the kept messages, as after `/rewind` "from here".

    The kept messages then follow the row of the compaction itself.
    """
    return draft.id in _read_kept(draft).anchors


def warn_of_links(entries: Sequence[Entry], bridged: int) -> tuple[str, ...]:
    """What is to be said of links that lead out of the file; `bridged` of them were mended."""
    warnings = [_BEGINS] if _begins_late(entries) else []
    if bridged:
        follow = plural(bridged, "entry follows", "entries follow")
        was = "it was" if bridged == 1 else "each was"
        warnings.append(f"{follow} a record that is not in the file; {was} placed after the entry before it")
    return tuple(warnings)


_BEGINS = "it begins in the middle of its session: the parent of its first entry is not in the file"


def _begins_late(entries: Sequence[Entry]) -> bool:
    """Whether the first entry of the session's own follows one that the file does not hold."""
    first = next((entry for entry in entries if entry.sidechain is None), None)
    if first is None or first.parent is None:
        return False
    return all(first.parent != entry.id and first.parent not in entry.aliases for entry in entries)


SYNTHETIC = "<synthetic>"
"""The model named in messages that Claude Code writes itself. No provider reported their usage."""


def make_entry(draft: Draft, boundary: Boundary | None) -> Entry:
    """Return the entry of a linked draft: the same object as before if nothing changed."""
    cached = draft.cached_entry
    parent = draft.above if draft.up is None else draft.up.id
    if cached is not None and cached.parent == parent and cached.sidechain == draft.side:
        return cached
    kind, reply = draft.kind, draft.reply or _NO_REPLY
    blocks, aliases, sources = draft.contents
    entry = assemble(
        Entry,
        {
            "id": draft.id,
            "parent": parent,
            "role": draft.role,
            "kind": kind,
            "blocks": blocks,
            "usage": None if reply.usage is None else _read_usage(reply.usage, draft, reply),
            "model": reply.model,
            "provider": None,
            "stop_reason": reply.stop_reason,
            "error": reply.error,
            "timestamp": draft.timestamp,
            "meta": draft.meta,
            "sidechain": draft.side,
            "copied_from": draft.copied_from if reply is not _NO_REPLY or kind == "compaction" else None,
            "boundary": boundary,
            "aliases": aliases,
            "sources": sources,
            "extra": draft.extra or {},
        },
    )
    # The kept messages of a compaction depend on the rows around it.
    draft.cached_entry = entry if kind == "message" else None
    return entry


_NO_REPLY = ReplyFields()


def _read_usage(usage: UsageFields, draft: Draft, reply: ReplyFields) -> Usage | None:
    """Return the usage of a reply, once, with the cost that versions until mid-2025 wrote (`costUSD`).

    Messages that Claude Code itself wrote have no usage.
    """
    if draft.again or reply.model == SYNTHETIC or reply.error is not None:
        return None
    read = read_usage(asdict(usage))
    if read is None or not reply.cost:
        return read
    return read.model_copy(update={"cost": make_cost(reply.cost)})


def make_boundaries(chain: LineChain, drafts: list[Draft]) -> dict[int, Boundary]:
    """The boundaries of the compactions among all drafts of a file, which are linked, by their order."""
    return {
        draft.order: _make_boundary(draft, chain, drafts)
        for draft in drafts
        if draft.kind not in ("message", "note")
    }


def _make_boundary(draft: Draft, chain: LineChain, drafts: list[Draft]) -> Boundary:
    """Make the boundary of a compaction.

    `postTokens` remains in the metadata: it counts the conversation without system prompt and tools, so it is
    no size of a request (anthropics/claude-code issue 87602, read in November 2026).
    """
    fields = Fields(draft.metadata)
    metadata = fields.rest
    kept_drafts = chain.find_kept(draft, drafts)
    if kept_drafts:
        for name in ("preservedMessages", "preservedSegment"):
            metadata.pop(name, None)
    trigger = metadata.pop("trigger") if isinstance(metadata.get("trigger"), str) else None
    return Boundary(
        kind="micro" if draft.kind == "micro" else "compact",
        trigger=trigger,
        tokens_before=_pop_number(metadata, "preTokens"),
        tokens_saved=_pop_number(metadata, "tokensSaved"),
        kept=tuple(kept_draft.id for kept_draft in kept_drafts),
        summary_last=bool(kept_drafts) and stands_behind(draft),
        cleared=fields.strings("compactedToolIds"),
        extra=metadata,
    )


def _pop_number(metadata: dict[str, Any], name: str) -> Number | None:
    value = metadata.get(name)
    if isinstance(value, int | float) and not isinstance(value, bool) and is_tokens(value):
        del metadata[name]
        return value
    return None
