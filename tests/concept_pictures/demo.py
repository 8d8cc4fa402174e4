"""The values of the demo session that are drawn, each by the package's own doors."""

from __future__ import annotations

from functools import cached_property

from inspector import (
    Plan,
    Session,
    count_tokens,
    find_cuts,
    find_regret,
    make_plan,
    open_demo,
    replay,
)
from inspector.cuts import CutPoints
from inspector.demo import LOST_PATH
from inspector.facts.regret import Regret
from inspector.replays.run import Run
from inspector.session.blocks import BlockRef
from inspector.tokens.history import trace_history
from inspector.tokens.rows import SECTIONS

POLICY = "flue"
"""Whose rules and plan are shown."""
REPLAYED = "gemini-cli"
"""Under whose policy the session is lived again: it fires more than once, and always within the window."""
TURN = 8
"""The turn that is shown block by block, 0-based: five entries, and two calls side by side."""


class Demo:
    """The demo session, counted as the workbench counts it, and the moment before its recorded compaction."""

    def __init__(self) -> None:
        self.session = open_demo()
        self.ledger = count_tokens(self.session, "calibrated")
        self.history = trace_history(self.session, self.ledger)
        self.facts = self.session.facts

    @cached_property
    def compaction(self) -> str:
        """The entry that is the recorded compaction."""
        return next(name for name, boundary in self.session.boundaries if boundary.kind == "compact")

    @cached_property
    def moment(self) -> Session:
        """The session right before it."""
        return self.session.at(self.session[self.compaction].parent)

    @cached_property
    def recorded(self) -> Plan:
        """What the file records there."""
        return make_plan(self.moment, self.ledger, "recorded")

    @cached_property
    def plan(self) -> Plan:
        """What the policy would do there."""
        return make_plan(self.moment, self.ledger, POLICY)

    @cached_property
    def cuts(self) -> CutPoints:
        """The verdict on every place of the moment."""
        return find_cuts(self.moment)

    @cached_property
    def run(self) -> Run:
        """The session under another policy."""
        return replay(self.session, REPLAYED)

    def section(self, ref: BlockRef) -> str:
        """The section that a block belongs to."""
        return SECTIONS[self.ledger.section[self.ledger.row(ref)]]

    def tokens(self, ref: BlockRef) -> int:
        """Tokens of a block."""
        return int(self.ledger.tokens[self.ledger.row(ref)])

    @cached_property
    def dots(self) -> list[tuple[int, BlockRef]]:
        """The step of each block that names the lost path, and the block, in order."""
        at = {self.session.entries[i].id: place for place, i in enumerate(self.session.path)}
        refs = dict.fromkeys(said.ref for said in self.facts[LOST_PATH].said)
        return [(int(self.history.step[at[ref.entry]]), ref) for ref in refs]

    @cached_property
    def regret(self) -> Regret:
        """When that path was needed again."""
        found = find_regret(self.session, self.facts, self.ledger)
        return next(one for one in found if one.fact.form == LOST_PATH)
