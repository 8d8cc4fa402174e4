"""A session's path as the search for what was needed again goes over it.

In go a session and its facts, out come the answers to its calls, who read what first, and which facts may
have been needed again after a compaction.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from .facts import Facts
from .facts.columns import BY, KINDS, OPERATIONS
from .needs import pair_calls
from .session.blocks import BlockRef
from .session.session import Entry, Session
from .session.tree import COMPACTION
from .tokens.models import SYNTHETIC, model_of
from .traced import Trace

_CHANGES = ("created", "edited", "deleted")


class Walk:
    """The path with the answers to its calls."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.names = [session.entries[i].id for i in session.path]
        self.at = {name: at for at, name in enumerate(self.names)}

    @cached_property
    def answers(self) -> dict[BlockRef, BlockRef]:
        """The output of every call that has one."""
        return pair_calls(self.session)

    @cached_property
    def model(self) -> str | None:
        """The session's model, for what no reply names one."""
        return model_of(self.session)

    def reader(self, name: str) -> Entry | None:
        """The first reply after an entry: the one that its words were first sent for."""
        later = (self.session.entries[i] for i in self.session.path[self.at[name] + 1 :])
        return next(
            (entry for entry in later if entry.role == "assistant" and entry.model != SYNTHETIC), None
        )

    def place(self, trace: Trace) -> int:
        """Where a trace's compaction stands on the path; behind it for one that is only planned."""
        entry = trace.scene.entry
        return self.at[entry.id] if entry is not None else len(self.names)

    def text(self, ref: BlockRef | None) -> str | None:
        """What a block says; None of none."""
        return None if ref is None else self.session.block(ref).text


class Needed:
    """Which facts may have been needed again after a compaction: the others need not be traced."""

    def __init__(self, walk: Walk, facts: Facts) -> None:
        session, self.at = walk.session, walk.at
        self.ends = [at for at, i in enumerate(session.path) if session.tree.sort[i] == COMPACTION]
        place = np.full(len(session.entries), -1, np.int64)
        place[list(session.path)] = np.arange(len(session.path))
        kind, by = facts.kind[facts.fact], facts.by
        model, read = by == BY.index("model"), facts.operation == OPERATIONS.index("read")
        counts = (kind == KINDS.index("file")) & model & read
        counts |= (kind == KINDS.index("command")) & model
        counts |= (kind == KINDS.index("error")) & (by == BY.index("tool"))
        self.fact, self.place = facts.fact[counts], place[facts.entry[counts]]
        changes = np.isin(facts.operation, [OPERATIONS.index(done) for done in _CHANGES]) & model
        self.changes = np.unique(place[facts.entry[changes]])
        self.rules = np.flatnonzero(facts.kind == KINDS.index("constraint")).tolist()

    def end(self, entry: Entry) -> int:
        """Where the next compaction stands on the path, or its end."""
        return next((end for end in self.ends if end > self.at[entry.id]), len(self.at))

    def changed(self, start: int, end: int) -> bool:
        """Whether the model changed a file between two places on the path."""
        return bool(np.searchsorted(self.changes, end) > np.searchsorted(self.changes, start, "right"))

    def after(self, entry: Entry) -> list[int]:
        """Numbers of the facts said before a compaction and between it and the next."""
        start = self.at[entry.id]
        later = (self.place > start) & (self.place < self.end(entry))
        both = np.intersect1d(self.fact[self.place < start], self.fact[later])
        return sorted([*both.tolist(), *self.rules])
