"""Drop the middle: between the first messages and the last, everything goes, and a notice says so."""

from __future__ import annotations

import re
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field

from ...session.entries import Entry
from ...session.tree import ROLES, Bools
from ..base_rule import Rule
from ..part import LARGE
from ..shorten import Form
from ..table import DROPPED, Claim, Decision, Notice, Table

SYSTEM = ROLES.index("system")
_NOTICE = re.compile(r"\[context compacted: \d+ messages omitted, about \d+ estimated tokens removed\]")


class DropMiddle(Rule):
    """Messages between the first `first` and the last `last` are dropped; a notice counts them.

    Where a number is not set, the policy's rule that keeps a root or recent messages says how many, and
    without one it is 1 and 6. The fixed form keeps more where the middle's borders would part a call from its
    output. The compat form parts them; in an automatic compaction the other rules' numbers go before its own,
    if there are more messages than they keep; and when nothing is kept at the end it says everything twice
    (TIERED §3 step 2, §4).
    """

    title: ClassVar[str] = "Drop the middle"
    phrase: ClassVar[str] = "drop what stands between the first {first} and the last {last} messages"
    source: ClassVar[str] = "mini-claude-code 60a3bef, legacy compaction (TIERED §4)"
    cuts: ClassVar[bool] = True
    last_resort: ClassVar[bool] = True

    kind: Literal["drop-middle"] = "drop-middle"
    first: int | None = Field(
        None, ge=0, le=LARGE, description="Messages kept at the beginning; none: as many as keep-root, or 1"
    )
    last: int | None = Field(
        None,
        ge=0,
        le=LARGE,
        description="Messages kept at the end; none: as many as keep-recent-messages, or 6",
    )
    form: Form = Field("fixed", description="Pairs stay whole, or exactly as published")

    @property
    def template(self) -> str:
        if self.first is None and self.last is None:
            return "the middle is dropped, between what the other rules keep"
        of = " messages" if self.last is None else ""
        first = "what the other rules keep" if self.first is None else f"the first {{first}}{of}"
        last = "what the other rules keep" if self.last is None else "the last {last} messages"
        more = "" if self.form == "fixed" else "; automatically, between what the other rules keep"
        return f"drop what stands between {first} and {last}{more}"

    def decide(self, table: Table) -> Decision:
        """Claim the middle, and propose its end as the cut."""
        compat, n = self.form == "compat", len(table.live)
        windows = find_windows(self, table)
        nothing = Decision(why="No messages stand between the first and the last.", unpaired=compat)
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
    """The rule's own windows, or those of the policy's other rules.

    What the root keeps is never counted as dropped.
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


def write_notice(messages: int, tokens: int) -> str:
    """The notice's words (TIERED §4)."""
    return f"[context compacted: {messages} messages omitted, about {tokens} estimated tokens removed]"


def is_notice(entry: Entry) -> bool:
    """Whether an entry says nothing but such a notice."""
    return len(entry.blocks) == 1 and _NOTICE.fullmatch(entry.blocks[0].text) is not None


def _mend_borders(table: Table, begin: int, end: int) -> tuple[int, int] | None:
    """The smaller middle whose borders part no call from its output; None when nothing is left of it."""
    whole = table.cuts.legal.copy()
    before = np.flatnonzero(whole[: end + 1])
    # Nothing that stands before the beginning can be parted from it.
    whole[table.start] = True
    after = np.flatnonzero(whole[begin:]) + begin
    if not (len(before) and len(after)) or after[0] >= before[-1]:
        return None
    return int(after[0]), int(before[-1])
