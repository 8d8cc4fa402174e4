"""Data for the history of one fact: its outcome after each compaction, and names for its blocks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from operator import itemgetter
from typing import NamedTuple

from ...facts.facts import Fact
from ...facts.regret import Regret
from ...facts.trace import trace_moves
from ...facts.traced import TracedFact
from ...redaction.cut import cut_text
from ...session.blocks import BlockRef
from ...session.entries import Entry
from ...session.queries import MarkName, find_move, number_compactions, pair_calls
from ...session.session import Session
from ...session.speakers import who_speaks
from ...session.toolcalls.core_command import core_command, name_command, split_core
from ...tokens.memo import Memo
from ..model import WorkbenchModel
from .fact_list import FactListing
from .findings import Recorded, find_again, find_next, find_recorded

MOST_CLEARED = 24
"""Clearings of outputs that a story looks at: of more, the last."""
_ROUNDS: Memo[tuple[TracedFact, ...]] = Memo()
_DOING = (("created", "writing"), ("edited", "edit"), ("read", "reading"))


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
        self.planned = next((regret for regret in listing.trace if regret.fact.number == fact.number), None)
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
        if pick in self.again:
            again = self.again[pick]
            recorded = find_recorded(self.listing, self.session[again.entry])
            return HistoryRow(self._whole(recorded), recorded, again)
        if pick in self.rounds:
            entry = self.rounds[pick].scene.entry
            assert entry is not None
            recorded = find_recorded(self.listing, entry)
            return HistoryRow(self._whole(recorded), recorded)
        return HistoryRow(self.planned)

    def _whole(self, recorded: Recorded) -> TracedFact | None:
        """The fact as that compaction left it, from the trace of all facts."""
        key = self.fact.kind, self.fact.form
        if key not in recorded.trace:
            return None
        return recorded.trace[key]

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
        session = self.session
        if ref.entry not in session.index:
            return "the head"
        entry, block = session[ref.entry], session.block(ref)
        if block.kind == "tool_call":
            tool = cut_text(block.name, 40)
            ran = _name_run(block.input)
            if ran:
                return f"the call {ran}"
            done = {mention.operation for mention in self.fact.said if mention.ref == ref}
            words = (word for way, word in _DOING if way in done)
            word = next(words, "")
            if not word:
                return f"the call {tool}"
            return f"the {word}" if tool in ("Edit", "Write", "Read") else f"the {word} by {tool}"
        if block.kind == "tool_output":
            call = self.calls.get(ref)
            source = session.block(call) if call is not None else None
            tool = ""
            if source is not None and source.kind == "tool_call":
                tool = _name_run(source.input) or cut_text(source.name, 40)
            return f"the output of {tool}" if tool else "a tool's output"
        if block.kind == "reasoning":
            return "the thinking"
        speaker = who_speaks(entry).speaker
        return {"user": "your words", "model": "the answer", "agent": "a sub-agent's words"}.get(
            speaker, "a message"
        )

    @cached_property
    def calls(self) -> dict[BlockRef, BlockRef]:
        """The call of every output."""
        return {output: call for call, output in pair_calls(self.session).items()}

    def label(self, ref: BlockRef) -> str:
        """ "the answer in turn 2"."""
        turn = self.turn(ref)
        return f"{self.name(ref)} in turn {turn}" if turn else self.name(ref)


def _name_run(arguments: object) -> str:
    """Return the program and subcommand that a call runs; "" if it runs none."""
    if not isinstance(arguments, dict):
        return ""
    command = arguments.get("command", arguments.get("cmd"))
    if isinstance(command, list) and len(command) == 3:
        # A shell and its command: ["bash", "-lc", "git diff"].
        command = command[2]
    if not isinstance(command, str) or not command.strip():
        return ""
    clause = split_core(core_command(command))[0]
    return cut_text(name_command(clause) or clause.split()[0], 40)
