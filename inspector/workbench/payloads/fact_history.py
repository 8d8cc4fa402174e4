"""Data for the history of one fact: its outcome after each compaction, and names for its blocks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from operator import itemgetter
from typing import NamedTuple

from ...facts.block_names import name_block
from ...facts.facts import Fact
from ...facts.regret import Regret
from ...facts.trace import trace_moves
from ...facts.traced import Trace, TracedFact
from ...session.blocks import BlockRef
from ...session.entries import Entry
from ...session.queries import MarkName, find_move, number_compactions
from ...session.session import Session
from ...tokens.memo import Memo
from ..model import WorkbenchModel
from .fact_list import FactListing
from .findings import Recorded, find_again, find_next, find_recorded

MOST_CLEARED = 24
"""Clearings of outputs that a story looks at: of more, the last."""
_ROUNDS: Memo[tuple[TracedFact, ...]] = Memo()


class HistoryRow(NamedTuple):
    """Data behind one row of a fact's history: the traced fact, and the compaction or the later re-read."""

    traced: TracedFact | None
    recorded: Recorded | None = None
    again: Regret | None = None


class FactHistory:
    """One fact of a listing, with the data for its history."""

    def __init__(self, model: WorkbenchModel, listing: FactListing, fact: Fact) -> None:
        self.model, self.listing, self.fact = model, listing, fact
        self.session: Session = listing.whole
        every = find_again(model, listing)
        self.again = {
            f"again:{at}": regret for at, regret in enumerate(every) if regret.fact.number == fact.number
        }
        self.planned = next((traced for traced in listing.trace if traced.fact.number == fact.number), None)
        self.names = number_compactions(self.session)
        looked_at = model.looked_at
        self.looked_entry = "" if looked_at is None else looked_at.mark.entry
        self.rounds = {name.look: traced for name, traced in self._pick_rounds()}
        self.signs = {name.look: name.sign for name in self.names.values()}
        self._clearings = {name.look for name in self.names.values() if name.kind == "micro"}

    def _pick_rounds(self) -> Iterator[tuple[MarkName, TracedFact]]:
        """Yield the outcome after each recorded compaction on the path, with the name of its row. Of
        successive clearings of outputs that left the fact unchanged, yield only the last, and the one that is
        shown."""
        passed: tuple[MarkName, TracedFact] | None = None
        for traced in _ROUNDS.of(self.listing.facts, self._trace_rounds, self.fact.number, self.looked_entry):
            assert traced.scene.entry is not None
            name, is_looked_at = self.names[traced.scene.entry.id], traced.scene.entry.id == self.looked_entry
            is_kept = name.kind == "micro" and traced.outcome == "verbatim"
            if name.kind == "micro" and not is_looked_at and not self.emptied(traced):
                continue
            if passed is not None and not is_kept:
                yield passed
            passed = (name, traced) if is_kept and not is_looked_at else None
            if passed is None:
                yield name, traced
        if passed is not None:
            yield passed

    def _trace_rounds(self) -> tuple[TracedFact, ...]:
        """Trace the fact through each compaction, and through the last clearings of outputs that name it."""
        session, number = self.session, self.fact.number
        clearing = [entry for entry, name in self.names.items() if name.kind == "micro"]
        concerned = {
            self.looked_entry,
            *[entry for entry in clearing if self._concerns(session[entry])][-MOST_CLEARED:],
        }
        entries = [e for e, name in self.names.items() if name.kind == "compact" or e in concerned]
        moves = [find_move(session, session[entry]) for entry in entries]
        traces = trace_moves(session, self.listing.facts, moves, (number,))
        return tuple(traced for trace in traces for traced in trace)

    @cached_property
    def _refs(self) -> dict[BlockRef, int]:
        """The blocks of the file that are known to name it, with their rows, in the order of the file."""
        named = {mention.ref for mention in self.fact.said}
        if self.planned is not None:
            named |= set(self.planned.named)
        rows = {ref: self.session.block_row(ref) for ref in named}
        return dict(sorted(rows.items(), key=itemgetter(1)))

    @cached_property
    def _calls(self) -> set[int]:
        """The numbers of the calls whose outputs name it."""
        tree, rows = self.session.tree, list(self._refs.values())
        return {int(tree.call[row]) for row in rows if tree.answers[row]}

    def _concerns(self, entry: Entry) -> bool:
        """Whether a clearing names the output of such a call."""
        calls, cleared = self.session.tree.calls, entry.boundary.cleared if entry.boundary else ()
        return any(calls.get(call) in self._calls for call in cleared)

    def clears(self, pick: str) -> bool:
        """Whether a row is a clearing of outputs."""
        return pick in self._clearings

    def emptied(self, traced: TracedFact) -> list[BlockRef]:
        """List the blocks that named the fact before a recorded compaction and are gone after it."""
        before, after = traced.scene.before.rows, traced.scene.after.rows
        return [ref for ref, row in self._refs.items() if before[row] and not after[row]]

    def row(self, pick: str) -> HistoryRow:
        """Return the data behind a row."""
        again = self.again.get(pick)
        entry = self.session[again.entry] if again is not None else None
        if pick in self.rounds:
            entry = self.rounds[pick].scene.entry
        if entry is None:
            return HistoryRow(self.planned)
        recorded = find_recorded(self.listing, entry)
        return HistoryRow(self._look_up(recorded.trace), recorded, again)

    def _look_up(self, trace: Trace) -> TracedFact | None:
        key = self.fact.kind, self.fact.form
        if key not in trace:
            return None
        return trace[key]

    def choose(self, requested: str) -> str:
        """Choose the row to show: the requested one, else the recorded loss at this point, else the plan."""
        rows = [*self.rounds, *self.again, "plan"]
        if requested in rows:
            return requested
        if requested != "plan":
            upcoming = find_next(self.listing)
            if upcoming is not None and upcoming.look in self.rounds:
                return upcoming.look
            looked_at = self.model.looked_at
            if looked_at is not None and looked_at.mark.look in self.rounds:
                return looked_at.mark.look
            absent = [
                name for name, traced in self.rounds.items() if traced.stood and traced.outcome == "absent"
            ]
            if absent and self.planned is None:
                return absent[0]
        return "plan" if self.planned is not None or not self.rounds else next(iter(self.rounds))

    def turn(self, ref: BlockRef) -> int:
        """Return the turn of a block in the whole file, from 1; 0 if it has none."""
        return self.session.turn_of.get(ref.entry, 0)

    def name(self, ref: BlockRef) -> str:
        """Name a block in words: "the answer", "the edit", "the output of git diff"."""
        done = {mention.operation for mention in self.fact.said if mention.ref == ref}
        return name_block(self.session, ref, done)

    def label(self, ref: BlockRef) -> str:
        """ "the answer in turn 2"."""
        turn = self.turn(ref)
        return f"{self.name(ref)} in turn {turn}" if turn else self.name(ref)
