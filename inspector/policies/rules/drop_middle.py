"""Drop the middle: remove everything between the first and the last messages, and add a notice."""

from __future__ import annotations

from typing import ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field

from ...session.tree import SYSTEM, Bools
from ..base_rule import Rule
from ..notices import is_notice, write_notice
from ..part import Count
from ..shorten import Form
from ..table import DROPPED, Claim, Decision, Notice, Table


class DropMiddle(Rule):
    """Drop the messages between the first `first` and the last `last`; a notice counts them.

    A number that is not set is the number of the policy's rule that keeps a root or recent messages, else 1
    and 6. The fixed form keeps more messages instead of separating a call from its output. The compat form
    separates them; in an automatic compaction it prefers the numbers of the other rules to its own, if there
    are more messages than these keep; and if nothing is kept at the end it repeats everything (TIERED §3
    step 2, §4).
    """

    title: ClassVar[str] = "Drop the middle"
    phrase: ClassVar[str] = "drop the messages between the first {first} and the last {last}"
    source: ClassVar[str] = "mini-claude-code 60a3bef, legacy compaction (TIERED §4)"
    cuts: ClassVar[bool] = True
    last_resort: ClassVar[bool] = True

    kind: Literal["drop-middle"] = "drop-middle"
    first: Count | None = Field(
        None, description="Messages kept at the beginning; none: as many as keep-root, or 1"
    )
    last: Count | None = Field(
        None, description="Messages kept at the end; none: as many as keep-recent-messages, or 6"
    )
    form: Form = Field("fixed", description="Keep pairs whole, or exactly as published")

    @property
    def template(self) -> str:
        if self.first is None and self.last is None:
            return "drop the middle, between the messages that other rules keep"
        others, of = "the messages that other rules keep", " messages" if self.last is None else ""
        first = f"{others} at the beginning" if self.first is None else f"the first {{first}}{of}"
        last = f"{others} at the end" if self.last is None else "the last {last} messages"
        more = "" if self.form == "fixed" else f"; in automatic compactions between {others}"
        return f"drop everything between {first} and {last}{more}"

    def decide(self, table: Table) -> Decision:
        """Claim the middle, and propose its end as the cut."""
        compat, n = self.form == "compat", len(table.live)
        windows = find_windows(self, table)
        nothing = Decision(why="There are no messages between the first and the last.", unpaired=compat)
        if n <= sum(windows):
            return nothing
        begin, end = windows.first, n - windows.last
        if not compat:
            borders = _mend_borders(table, max(begin, table.start), end)
            if borders is None:
                return nothing
            begin, end = borders
            entries = table.session.entries
            if all(is_notice(entries[i]) for i in table.live.entries[begin:end].tolist()):
                return nothing
        middle: Bools = np.arange(n) >= begin
        if not compat:
            middle &= table.live.role != SYSTEM
        return Decision(
            cut=end,
            older=Claim(middle[table.live.position], DROPPED),
            notice=Notice("assistant" if compat else "user", middle, write_notice, echo=compat),
            unpaired=compat,
        )


FIRST, LAST = 1, 6
"""Messages kept where neither the rule nor another says (TIERED §4)."""


class Windows(NamedTuple):
    """How many messages are kept at the beginning and at the end."""

    first: int
    last: int


def find_windows(rule: DropMiddle, table: Table) -> Windows:
    """Return the rule's own windows, or the windows of the policy's other rules.

    Messages that the root keeps never count as dropped.
    """
    own = Windows(
        FIRST if rule.first is None else rule.first,
        LAST if rule.last is None else rule.last,
    )
    others = Windows(
        max(getattr(table.sibling("keep-root"), "messages", own.first), 0),
        max(getattr(table.sibling("keep-recent-messages"), "messages", own.last), 0),
    )
    if rule.form == "compat":
        return own if table.reason != "auto" or len(table.live) <= sum(others) else others
    first = others.first if rule.first is None else max(rule.first, others.first)
    return Windows(first, others.last if rule.last is None else rule.last)


def _mend_borders(table: Table, begin: int, end: int) -> tuple[int, int] | None:
    """Return the largest part of the middle that separates no call from its output, or None."""
    whole = table.cuts.legal.copy()
    before = np.flatnonzero(whole[: end + 1])
    # No pair can be split between the beginning and the blocks before it.
    whole[table.start] = True
    after = np.flatnonzero(whole[begin:]) + begin
    if not (len(before) and len(after)) or after[0] >= before[-1]:
        return None
    return int(after[0]), int(before[-1])
