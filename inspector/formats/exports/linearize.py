"""Convert a session to a list of records that other formats can store: shared by all exports.

A session becomes a `LinearSession`: the entries of the path in order, with cleared outputs as cleared; the
entries that the last compaction keeps; and a count of losses. Entries of other branches become
`BranchEntry`s, whose parent is on the path or on another branch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...session.blocks import Block, ToolOutput
from ...session.entries import Entry
from ...session.json_text import dump_lossless
from ...session.session import Session
from ..sealed import read_sealed

Json = dict[str, Any]
NEVER = "1970-01-01T00:00:00.000Z"
"""The time of a record in a session without times."""


class Loss(NamedTuple):
    """A loss of an export: its name, how often it occurs, and a sentence about it."""

    name: str
    times: int
    sentence: str


SENTENCES = {
    "branches": "entries on other branches come back elsewhere, otherwise or not at all",
    "sidechains": "entries of sub-agents are not written",
    "history": "entries before the last compaction are not written",
    "records": "records that the model never sees are not written",
    "system": "blocks of the system prompt have no place in the format",
    "tools": "definitions of tools have no place in the format",
    "provided": "contributions of context providers have no place in the format",
    "fields": "entries hold fields of their records that are not written",
    "emptied": "outputs are written as an earlier compaction left them, their text is not",
    "copies": "kept entries are written again after the compaction, which can only keep a range",
    "unsummarised": "compactions without a summary, or with one behind what was kept, become a new beginning",
    "meta": "messages of the harness are written as the user's",
    "sealed": "compactions by a provider are written as their words, without its own block",
    "branch_summaries": "summaries of branches are written as messages",
    "usage": "usages come back with other figures, or without costs or how long cache writes live",
    "marked": "typed texts lose the rules and choices that were marked in them",
    "labels": "outputs lose the name, status or artifact they had",
    "role": "blocks come back in a message of another role",
    "text": "texts come back changed or not at all",
    "summary": "summaries are shown in the format's own words",
    "reasoning": "blocks of reasoning come back changed or not at all",
    "tool_call": "tool calls come back changed or not at all",
    "tool_output": "tool outputs come back changed or not at all",
    "image": "images are in no form that the format knows",
    "document": "documents are in no form that the format knows",
    "unknown": "blocks of unknown kind come back as another kind",
    "added": "blocks come back that were not there",
}


def list_losses(counts: Counter[str]) -> tuple[Loss, ...]:
    """Return the losses in the order of `SENTENCES`."""
    return tuple(
        Loss(name, counts[name], f"{counts[name]:,} {sentence}")
        for name, sentence in SENTENCES.items()
        if counts[name]
    )


class BranchEntry(NamedTuple):
    """An entry of another branch, and its parent; None for the first entry of a branch."""

    entry: Entry
    parent: str | None


@dataclass(frozen=True)
class LinearSession:
    """The entries to write, in order. The compaction `last` keeps the entries `kept_ids`."""

    entries: tuple[Entry, ...]
    kept_ids: tuple[str, ...]
    last: str | None
    losses: Counter[str]

    def is_range(self) -> bool:
        """Return whether the kept entries are all entries from the first kept one to the compaction."""
        names = [e.id for e in self.entries if e.kind in ("message", "branch_summary") or e.id == self.last]
        if not self.kept_ids or self.kept_ids[0] not in names:
            return not self.kept_ids
        first = names.index(self.kept_ids[0])
        return tuple(names[first : names.index(self.last or "")]) == self.kept_ids

    def restart_at_compaction(self, *, ranges: bool) -> LinearSession:
        """Convert the last compaction to one with a summary and, with `ranges`, a kept range.

        A compaction without a summary, or with its summary behind what it keeps, becomes a new beginning.
        Kept entries that are not a range are repeated, an earlier summary as a message.
        """
        index = next((i for i, entry in enumerate(self.entries) if entry.id == self.last), -1)
        if index < 0:
            return self
        losses, copies, boundary = Counter(self.losses), self._copies(index), self.entries[index].boundary
        behind = boundary is not None and boundary.summary_last
        if behind or not self.entries[index].text:
            losses["unsummarised"] += 1
            words = [_as_message(self.entries[index])] if behind else []
            return LinearSession((*copies, *words, *self.entries[index + 1 :]), (), None, losses)
        if ranges and self.is_range():
            return self
        losses["copies"] += len(copies)
        before, after = self.entries[: index + 1], self.entries[index + 1 :]
        return LinearSession((*before, *copies, *after), (), self.last, losses)

    def _copies(self, index: int) -> tuple[Entry, ...]:
        by_name = {entry.id: entry for entry in self.entries[:index]}
        used_ids = {entry.id for entry in self.entries}
        copies = []
        for name in self.kept_ids:
            new = name + "+"
            while new in used_ids:
                new += "+"
            used_ids.add(new)
            copies.append(_as_message(by_name[name]).model_copy(update={"id": new, "usage": None}))
        return tuple(copies)


def _as_message(entry: Entry) -> Entry:
    """A summary as words of the user; another entry as it is."""
    if entry.kind != "compaction":
        return entry
    return entry.model_copy(update={"kind": "message", "boundary": None})


def take_line(session: Session, *, keep_micro: bool = False) -> LinearSession:
    """Convert the path of a session. With `keep_micro`, compactions that clear outputs stay records."""
    live, path = session.live, session.path
    losses = Counter[str](
        system=len(session.system),
        tools=len(session.tools),
        provided=len(session.provided),
        records=len(session.notes),
    )
    on_path = set(path)
    for index, entry in enumerate(session.entries):
        losses["sidechains"] += index not in on_path and entry.sidechain is not None
    losses["sidechains"] += sum(len(agent.replies) + len(agent.results) for agent in session.subagents)
    from ...tokens.ledger import clear_output

    emptied = _find_emptied(session) if not keep_micro else {}
    entries: list[Entry] = []
    for index in path:
        entry = session.entries[index]
        if entry.kind == "note" or (entry.kind == "micro" and not keep_micro):
            losses["records"] += 1
            continue
        if rows := emptied.get(index):
            losses["emptied"] += len(rows)
            blocks = tuple(clear_output(b) if n in rows else b for n, b in enumerate(entry.blocks))
            entry = entry.model_copy(update={"blocks": blocks})
        losses["fields"] += bool(entry.extra)
        losses["sealed"] += read_sealed(entry.boundary) is not None
        entries.append(entry)
    last = session.entries[live.entries[live.summary]].id if live.summary >= 0 else None
    kept_ids = _find_kept(session) if last is not None else ()
    return LinearSession(tuple(entries), kept_ids, last, losses)


def find_twigs(session: Session) -> list[BranchEntry]:
    """Return the entries of other branches, parents first, except records that the model never sees.

    Children of such a record get the entry above it as their parent.
    """
    path, tree = set(session.path), session.tree
    below: dict[int | None, list[int]] = {}
    for index, entry in enumerate(session.entries):
        if index not in path and entry.sidechain is None and tree.index[entry.id] == index:
            below.setdefault(tree.parent[index], []).append(index)
    roots: list[int | None] = [None, *session.path]
    waiting = [(index, parent) for parent in reversed(roots) for index in reversed(below.get(parent, ()))]
    hangs: dict[int | None, str | None] = {None: None}
    above: str | None = None
    for index in session.path:
        above = above if session.entries[index].kind == "note" else session.entries[index].id
        hangs[index] = above
    twigs: list[BranchEntry] = []
    while waiting:
        index, parent = waiting.pop()
        entry = session.entries[index]
        if is_written(entry):
            twigs.append(BranchEntry(entry, hangs[parent]))
            hangs[index] = entry.id
        else:
            hangs[index] = hangs[parent]
        waiting += [(child, index) for child in reversed(below.get(index, ()))]
    return twigs


def find_dropped(before: LinearSession, after: LinearSession) -> list[BranchEntry]:
    """Return the entries that a new beginning drops, as a separate branch."""
    names, twigs = {entry.id for entry in after.entries}, list[BranchEntry]()
    for entry in before.entries:
        if entry.id not in names and is_written(entry):
            twigs.append(BranchEntry(entry, twigs[-1].entry.id if twigs else None))
    return twigs


def leave_out(twigs: Sequence[BranchEntry], name: str | None) -> list[BranchEntry]:
    """Return the twigs except those that descend from an entry."""
    gone, remaining = {name}, []
    for twig in twigs:
        if twig.parent in gone:
            gone.add(twig.entry.id)
        else:
            remaining.append(twig)
    return remaining


def is_written(entry: Entry) -> bool:
    """Return whether an entry of another branch gets its own record. Empty entries may have none."""
    if entry.kind == "compaction":
        return bool(entry.text)
    return entry.kind in ("message", "branch_summary") and bool(split_runs(entry))


def _find_emptied(session: Session) -> dict[int, set[int]]:
    live = session.live
    cleared_rows: dict[int, set[int]] = {}
    for row in live.cleared.nonzero()[0].tolist():
        cleared_rows.setdefault(int(live.entries[live.position[row]]), set()).add(int(live.block[row]))
    return cleared_rows


def _find_kept(session: Session) -> tuple[str, ...]:
    where = {at: number for number, at in enumerate(session.path)}
    live = session.live.entries.tolist()
    last = where[live[session.live.summary]]
    return tuple(session.entries[at].id for at in live if where[at] < last)


def dump_rows(rows: Iterable[Json]) -> bytes:
    """Return the rows of a file of JSON lines."""
    return "".join(f"{dump_lossless(row)}\n" for row in rows).encode("ascii")


def split_runs(entry: Entry) -> list[tuple[Block, ...]]:
    """Split an entry's blocks into messages with at most one tool output; empty if there is no content."""
    runs: list[list[Block]] = []
    for block in entry.blocks:
        if isinstance(block, ToolOutput) or not runs or isinstance(runs[-1][-1], ToolOutput):
            runs.append([block])
        else:
            runs[-1].append(block)
    if not runs and entry.role != "tool":
        runs.append([])
    return [tuple(run) for run in runs]
