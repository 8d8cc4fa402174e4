"""What stands in the context at the leaf of a session, as columns. Structure only, no tokens.

In goes a session (a tree of entries with a leaf), out come the path from its root and the `Live` view:
the path as the last compaction on it left it. The rule is Flue's (FLUE §1.2), which the other formats
fit into: `[summary] + path[first kept … compaction) + path(after the compaction …]`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .session import Session

Ints = NDArray[np.int32]
Bools = NDArray[np.bool_]
_UNSEEN = ("compaction", "micro", "note")
ROLES = ("user", "assistant", "tool", "system", "other")


@dataclass(frozen=True, eq=False)
class Live:
    """Columns over the n entries, m blocks and k call/output pairs in the context at the leaf.

    entries   int32[n]    position in `session.entries`
    role      int32[n]    index into ROLES
    turn      int32[n]    turn number, 0-based, counted along the whole path
    step      int32[n]    step number, 0-based, dense in this view: one request with its tool outputs
    opens     bool[n]     a user's words start here
    start     int32[n+1]  blocks of live entry p are rows start[p] … start[p+1]
    position  int32[m]    row -> live entry
    block     int32[m]    row -> index of the block in its entry
    cleared   bool[m]     a recorded micro-compaction emptied this tool output
    pairs     int32[k,2]  rows of a call and of the output that answers it
    orphans   int32[·]    rows of outputs whose call is not in the context
    pending   int32[·]    rows of calls that nothing in the context answers
    summary   int         live position of the recorded summary (0), or -1 when there is none
    """

    entries: Ints
    role: Ints
    turn: Ints
    step: Ints
    opens: Bools
    start: Ints
    position: Ints
    block: Ints
    cleared: Bools
    pairs: Ints
    orphans: Ints
    pending: Ints
    summary: int

    def __len__(self) -> int:
        return len(self.entries)


def find_path(session: Session) -> tuple[int, ...]:
    """Follow `parent` from the leaf while it resolves; a dangling parent ends the walk, a cycle too."""
    entries, index = session.entries, session.index
    at = index.get(session.leaf) if session.leaf is not None else None
    found: list[int] = []
    seen: set[int] = set()
    while at is not None and at not in seen:
        seen.add(at)
        found.append(at)
        parent = entries[at].parent
        at = index.get(parent) if parent is not None else None
    return tuple(reversed(found))


def find_live(session: Session) -> Live:
    """The live view at the session's leaf."""
    entries, path = session.entries, session.path
    turn_of_path = np.maximum(np.cumsum([entries[i].opens_turn for i in path], dtype=np.int32), 1) - 1
    order, summary = _surviving(session)
    kept = [path[at] for at in order]
    cleared = {
        call
        for i in path
        if (boundary := entries[i].boundary) is not None and boundary.kind == "micro"
        for call in boundary.cleared
    }
    start = np.zeros(len(kept) + 1, np.int32)
    np.cumsum([len(entries[i].blocks) for i in kept], out=start[1:])
    opens = np.fromiter((entries[i].opens_turn for i in kept), bool, len(kept))
    role = np.fromiter((_role(entries[i].role) for i in kept), np.int32, len(kept))
    pairs, orphans, pending, emptied = _pairs(session, kept, start, cleared)
    return Live(
        entries=np.array(kept, np.int32),
        role=role,
        turn=turn_of_path[order] if len(path) else np.zeros(0, np.int32),
        step=_steps(role, opens, summary),
        opens=opens,
        start=start,
        position=np.repeat(np.arange(len(kept), dtype=np.int32), np.diff(start)),
        block=(np.arange(start[-1], dtype=np.int32) - np.repeat(start[:-1], np.diff(start))).astype(np.int32),
        cleared=emptied,
        pairs=pairs,
        orphans=orphans,
        pending=pending,
        summary=summary,
    )


def _surviving(session: Session) -> tuple[list[int], int]:
    """Positions on the path that are in the context, in context order, and where the summary stands."""
    entries, path = session.entries, session.path
    compactions = [at for at, i in enumerate(path) if entries[i].kind == "compaction"]
    if not compactions:
        return [at for at, i in enumerate(path) if entries[i].kind not in _UNSEEN], -1
    last = compactions[-1]
    boundary = entries[path[last]].boundary
    where = {path[at]: at for at in range(len(path))}
    first_kept, kept_ids = last + 1, set()
    if boundary is not None:
        if boundary.first_kept is not None:
            first_kept = where.get(session.index.get(boundary.first_kept, -1), last + 1)
        kept_ids = {where[i] for name in boundary.kept if (i := session.index.get(name, -1)) in where}
    tail = sorted(
        {*(at for at in kept_ids if at < last), *range(first_kept, last), *range(last + 1, len(path))}
    )
    return [last, *(at for at in tail if entries[path[at]].kind not in _UNSEEN)], 0


def _role(role: str) -> int:
    return ROLES.index(role) if role in ROLES else len(ROLES) - 1


def _steps(role: Ints, opens: Bools, summary: int) -> Ints:
    """A step begins at a user's words, at an assistant's message and after the recorded summary."""
    begins = opens | (role == ROLES.index("assistant"))
    if len(begins):
        begins[0] = True
        if summary == 0 and len(begins) > 1:
            begins[1] = True
    return (np.cumsum(begins) - 1).astype(np.int32)


def _pairs(
    session: Session, kept: list[int], start: Ints, cleared: set[str]
) -> tuple[Ints, Ints, Ints, Bools]:
    """Match outputs to calls as a provider does.

    An output answers the one open call of its id, before the assistant speaks again (adjacent assistant
    messages are one to a provider). A second answer, or one that comes later, is an orphan.
    """
    emptied = np.zeros(int(start[-1]), bool)
    open_calls: dict[str, int] = {}
    pairs: list[tuple[int, int]] = []
    orphans: list[int] = []
    pending: list[int] = []
    speaking = False
    for position, i in enumerate(kept):
        entry = session.entries[i]
        if entry.role == "assistant" and not speaking:
            pending.extend(open_calls.values())
            open_calls = {}
        speaking = entry.role == "assistant"
        row = int(start[position]) - 1
        for block in entry.blocks:
            row += 1
            if block.kind == "tool_call":
                if block.id in open_calls:
                    pending.append(open_calls[block.id])
                open_calls[block.id] = row
            elif block.kind == "tool_output":
                call = open_calls.pop(block.call_id, None)
                if call is None:
                    orphans.append(row)
                else:
                    pairs.append((call, row))
                emptied[row] = block.call_id in cleared
    pending.extend(open_calls.values())
    return (
        np.array(pairs, np.int32).reshape(-1, 2),
        np.array(orphans, np.int32),
        np.array(sorted(pending), np.int32),
        emptied,
    )
