"""A session as a line of records that other formats can hold: what all exports share.

A session becomes a `LinearSession`: the entries of the path in order with emptied outputs as emptied, the
entries that the last compaction keeps, and a count of what no record holds. Entries of other branches become
`BranchEntry`s that hang off the path or off each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...session.blocks import Block, ToolOutput
from ...session.entries import Entry
from ...session.session import Session
from ..sealed import read_sealed

Json = dict[str, Any]
NEVER = "1970-01-01T00:00:00.000Z"
"""The time of a record in a session that tells none."""


class Loss(NamedTuple):
    """What an export does not hold as the session does: its name, how often, and what became of it."""

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
    "unsummarised": "compactions without a summary are written as a new beginning",
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


def tell(counts: Counter[str]) -> tuple[Loss, ...]:
    """The losses by name, in the order in which they are listed here."""
    return tuple(
        Loss(name, counts[name], f"{counts[name]:,} {sentence}")
        for name, sentence in SENTENCES.items()
        if counts[name]
    )


class BranchEntry(NamedTuple):
    """An entry of another branch, and the entry that it hangs off; None for one that begins anew."""

    entry: Entry
    parent: str | None


@dataclass(frozen=True)
class LinearSession:
    """Entries to be written, in order, and by id the entries that a compaction keeps of those before it.

    `last` is the compaction that counts, None where there is none.
    """

    entries: tuple[Entry, ...]
    kept: tuple[str, ...]
    last: str | None
    losses: Counter[str]

    def is_range(self) -> bool:
        """Whether what is kept is all that stands between its first entry and the compaction."""
        names = [e.id for e in self.entries if e.kind in ("message", "branch_summary") or e.id == self.last]
        if not self.kept:
            return True
        first = names.index(self.kept[0])
        return tuple(names[first : names.index(self.last or "")]) == self.kept

    def begin_anew(self, *, ranges: bool) -> LinearSession:
        """The same where a compaction is a summary and, with `ranges`, a range that it keeps.

        One without a summary becomes a new beginning. What is kept out of order is written again.
        """
        at = next((i for i, entry in enumerate(self.entries) if entry.id == self.last), -1)
        if at < 0:
            return self
        losses, copies = Counter(self.losses), self._copies(at)
        if not self.entries[at].text:
            losses["unsummarised"] += 1
            return LinearSession((*copies, *self.entries[at + 1 :]), (), None, losses)
        if ranges and self.is_range():
            return self
        losses["copies"] += len(copies)
        before, after = self.entries[: at + 1], self.entries[at + 1 :]
        return LinearSession((*before, *copies, *after), (), self.last, losses)

    def _copies(self, at: int) -> tuple[Entry, ...]:
        by_name = {entry.id: entry for entry in self.entries[:at]}
        taken = {entry.id for entry in self.entries}
        copies = []
        for name in self.kept:
            new = name + "+"
            while new in taken:
                new += "+"
            taken.add(new)
            copies.append(by_name[name].model_copy(update={"id": new, "usage": None}))
        return tuple(copies)


def take_line(session: Session, *, keep_micro: bool = False) -> LinearSession:
    """The line of a session's path. With `keep_micro` compactions that empty outputs stay records."""
    live, path = session.live, session.path
    losses = Counter[str](
        system=len(session.system),
        tools=len(session.tools),
        provided=len(session.provided),
        records=len(session.notes),
    )
    on_path = set(path)
    for at, entry in enumerate(session.entries):
        losses["sidechains"] += at not in on_path and entry.sidechain is not None
    losses["sidechains"] += sum(len(agent.replies) + len(agent.results) for agent in session.subagents)
    from ...tokens.ledger import clear_output

    emptied = _find_emptied(session) if not keep_micro else {}
    entries: list[Entry] = []
    for at in path:
        entry = session.entries[at]
        if entry.kind == "note" or (entry.kind == "micro" and not keep_micro):
            losses["records"] += 1
            continue
        if rows := emptied.get(at):
            losses["emptied"] += len(rows)
            blocks = tuple(clear_output(b) if n in rows else b for n, b in enumerate(entry.blocks))
            entry = entry.model_copy(update={"blocks": blocks})
        losses["fields"] += bool(entry.extra)
        losses["sealed"] += read_sealed(entry.boundary) is not None
        entries.append(entry)
    last = session.entries[live.entries[0]].id if live.summary == 0 else None
    kept = _find_kept(session) if last is not None else ()
    return LinearSession(tuple(entries), kept, last, losses)


def find_twigs(session: Session) -> list[BranchEntry]:
    """What stands on other branches, parents before what hangs off them; records nobody sees are left out.

    What hung off such a record hangs off the entry above it.
    """
    path, tree = set(session.path), session.tree
    below: dict[int | None, list[int]] = {}
    for at, entry in enumerate(session.entries):
        if at not in path and entry.sidechain is None and tree.index[entry.id] == at:
            below.setdefault(tree.parent[at], []).append(at)
    roots: list[int | None] = [None, *session.path]
    waiting = [(at, parent) for parent in reversed(roots) for at in reversed(below.get(parent, ()))]
    hangs: dict[int | None, str | None] = {None: None}
    above: str | None = None
    for at in session.path:
        above = above if session.entries[at].kind == "note" else session.entries[at].id
        hangs[at] = above
    twigs: list[BranchEntry] = []
    while waiting:
        at, parent = waiting.pop()
        entry = session.entries[at]
        if is_written(entry):
            twigs.append(BranchEntry(entry, hangs[parent]))
            hangs[at] = entry.id
        else:
            hangs[at] = hangs[parent]
        waiting += [(child, at) for child in reversed(below.get(at, ()))]
    return twigs


def find_dropped(before: LinearSession, after: LinearSession) -> list[BranchEntry]:
    """What a new beginning leaves behind, as a branch of its own."""
    names, twigs = {entry.id for entry in after.entries}, list[BranchEntry]()
    for entry in before.entries:
        if entry.id not in names and is_written(entry):
            twigs.append(BranchEntry(entry, twigs[-1].entry.id if twigs else None))
    return twigs


def leave_out(twigs: Sequence[BranchEntry], name: str | None) -> list[BranchEntry]:
    """The twigs without those that hang off an entry, or off each other there."""
    gone, kept = {name}, []
    for twig in twigs:
        if twig.parent in gone:
            gone.add(twig.entry.id)
        else:
            kept.append(twig)
    return kept


def is_written(entry: Entry) -> bool:
    """Whether an entry of another branch has a record of its own; one that says nothing may have none."""
    if entry.kind == "compaction":
        return bool(entry.text)
    return entry.kind in ("message", "branch_summary") and bool(split_runs(entry))


def _find_emptied(session: Session) -> dict[int, set[int]]:
    live = session.live
    found: dict[int, set[int]] = {}
    for row in live.cleared.nonzero()[0].tolist():
        found.setdefault(int(live.entries[live.position[row]]), set()).add(int(live.block[row]))
    return found


def _find_kept(session: Session) -> tuple[str, ...]:
    where = {at: number for number, at in enumerate(session.path)}
    first, *rest = session.live.entries.tolist()
    return tuple(session.entries[at].id for at in rest if where[at] < where[first])


def split_runs(entry: Entry) -> list[tuple[Block, ...]]:
    """The blocks of an entry as messages that hold one tool output or none; empty for nothing to say."""
    runs: list[list[Block]] = []
    for block in entry.blocks:
        if isinstance(block, ToolOutput) or not runs or isinstance(runs[-1][-1], ToolOutput):
            runs.append([block])
        else:
            runs[-1].append(block)
    if not runs and entry.role != "tool":
        runs.append([])
    return [tuple(run) for run in runs]
