"""Drop groups: whole steps go, the oldest first or those that do not fit.

A group is a call with all its results and the reasoning before it; any other message is a group of its own.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from ...session.tree import SYSTEM, USER, Bools, Ints
from ..base_rule import Rule
from ..groups import COUNTED, find_calling, find_groups, in_open_loop, measure_entries
from ..notices import write_notice
from ..part import LARGE, Count, Share
from ..table import DROPPED, SUMMARISED, Claim, Decision, Notice, Summary, Table

GroupMeasure = Literal["groups", "messages", "tokens", "agent-framework", "haystack", "mastra", "strands"]


class DropGroups(Rule):
    """Groups go until what remains is at most `amount`, or `share` of the window.

    `oldest` drops the oldest groups first. `best-fit` keeps the newest that fit and passes over those that do
    not, so that older ones may stay; `contiguous` stops at the first that does not fit. It needs no cut.
    """

    title: ClassVar[str] = "Drop groups"
    source: ClassVar[str] = (
        "Mastra core 1.71.0, TokenLimiter; agent-framework-core 1.23.0, its truncation, window and budget"
    )

    kind: Literal["drop-groups"] = "drop-groups"
    order: Literal["oldest", "turns", "best-fit", "contiguous"] = Field(
        "oldest",
        description="The oldest go first, or whole older turns and then steps of the newest, or those that "
        "do not fit with the newest",
    )
    instead: Literal["nothing", "notice", "summary"] = Field(
        "nothing", description="The replacement of the groups that went"
    )
    amount: float | None = Field(None, ge=0, le=LARGE, description="The most that may remain")
    share: Share | None = Field(None, description="The same as a share of the window")
    ratio: Share | None = Field(
        None, description="Groups go only above this share of the window; none goes above the limit"
    )
    measure: GroupMeasure = Field("groups", description="The unit of the amount")
    overhead: float = Field(0, ge=0, le=LARGE, description="Tokens that count besides the messages")
    most: Count | None = Field(None, description="Groups that may remain at most, besides")
    newest: Count = Field(1, description="Groups, the newest, that always stay")
    calls_only: bool = Field(False, description="Only groups that call a tool count and go")
    first_prompt: bool = Field(False, description="The first message of the user stays")
    system: Literal["stay", "last", "go"] = Field(
        "stay", description="System messages stay, go when all else went, or go like others"
    )

    @property
    def template(self) -> str:
        if self.share is not None:
            limit = "{share} of the window"
        elif self.amount is not None:
            limit = f"{self.amount:.0f} {self.measure if self.measure in COUNTED else 'tokens'}"
        else:
            limit = f"{self.most or 0} groups"
        what = "calls with their results" if self.calls_only else "groups"
        above = "" if self.ratio is None else "above {ratio} of the window, "
        endings = {
            "nothing": "",
            "notice": "; a notice replaces them",
            "summary": "; one summary replaces them",
        }
        end = endings[self.instead]
        if self.order in ("oldest", "turns"):
            first = f"{what} go" if self.order == "oldest" else "turns go, then steps of the newest,"
            are = "are" if self.share is None else "is"
            return f"{above}the oldest {first} until no more than {limit} {are} left{end}"
        passed = "; one that does not fit is skipped" if self.order == "best-fit" else ""
        return f"{above}keep the newest {what} that fit in {limit}{passed}{end}"

    def decide(self, table: Table) -> Decision:
        """Claim the groups that go, on both sides of the cut."""
        n = len(table.live)
        limit = self._limit(table)
        if limit is None:
            return Decision(why="The model's window is not known, so no share of it is.")
        groups = find_groups(table)
        system = table.live.role == SYSTEM
        sizes = measure_entries(table, self.measure)
        if self.measure == "groups":
            sizes = np.where(np.r_[True, groups[1:] != groups[:-1]] if n else system, 1.0, 0.0)
            sizes[system & (self.system != "go")] = 0
        counted = find_calling(table, groups) if self.calls_only else np.ones(n, bool)
        sizes[~counted] = 0
        base = table.trigger.base(table.window)
        if self.ratio is not None and sizes.sum() + self.overhead <= self.ratio * base:
            return Decision(why="What is there is not above the share of the window at which groups go.")
        gone = self._choose(table, groups, counted, sizes, limit - self.overhead)
        if gone is None:
            return Decision(why="The system messages alone are more than what may remain.")
        if gone.all() and n:
            return Decision(why="Nothing would remain.")
        if not gone.any():
            return Decision(why="There is nothing to drop.")
        rows = gone[table.live.position]
        claim = Claim(rows, SUMMARISED if self.instead == "summary" else DROPPED)
        if self.instead == "nothing":
            return Decision(older=claim, kept=claim)
        cut, first = int(np.flatnonzero(gone)[-1]) + 1, int(gone.argmax())
        if self.instead == "summary":
            return Decision(cut=cut, older=claim, summary=Summary(LARGE, at=first, limited=False))
        return Decision(cut=cut, older=claim, notice=Notice("user", gone, write_notice))

    def _limit(self, table: Table) -> float | None:
        if self.share is not None:
            base = table.trigger.base(table.window)
            return base * self.share if base else None
        return LARGE if self.amount is None else self.amount

    def _choose(
        self, table: Table, groups: Ints, counted: Bools, sizes: np.ndarray, limit: float
    ) -> Bools | None:
        if self.order == "turns":
            return self._choose_turns(table, groups, sizes, limit)
        system = table.live.role == SYSTEM
        movable = counted & (~system | (self.system == "go")) & ~in_open_loop(table)
        names = list(dict.fromkeys(groups[movable].tolist()))
        weight = {name: float(sizes[groups == name].sum()) for name in names}
        fixed = float(sizes[~movable].sum())
        gone: set[int] = set()
        spared = {*names[len(names) - self.newest :]} if self.newest else set()
        if self.first_prompt:
            users = groups[movable & (table.live.role == USER)]
            spared |= {int(users[0])} if len(users) else set()
        if self.order != "oldest":
            room = limit - fixed
            if room < 0:
                return None
            for name in reversed(names):
                if weight[name] <= room + _ROUNDING:
                    room -= weight[name]
                    continue
                gone.add(name)
                if self.order == "contiguous":
                    gone |= {*names[: names.index(name)]}
                    break
            passed: Bools = np.isin(groups, list(gone)) & movable
            return passed
        total, remaining = fixed + sum(weight.values()), len(names)
        if self.amount is not None and total <= limit + _ROUNDING:
            return np.zeros(len(groups), bool)
        for name in names:
            enough = self.most is None or remaining <= self.most
            if total <= limit + _ROUNDING and enough:
                break
            if name not in spared:
                gone.add(name)
                total, remaining = total - weight[name], remaining - 1
        out: Bools = np.isin(groups, list(gone)) & movable
        if self.system == "last":
            for position in np.flatnonzero(system).tolist():
                if total > limit + _ROUNDING:
                    out[position], total = True, total - sizes[position]
        return out

    def _choose_turns(self, table: Table, groups: Ints, sizes: np.ndarray, limit: float) -> Bools:
        """bool[n]: older turns, then steps of the newest but for its prompt, until the limit is met."""
        live, n = table.live, len(table.live)
        spared = np.logical_and.accumulate(live.role == SYSTEM) | in_open_loop(table)
        newest = table.recent_turns(1)
        turns = [(live.turn == turn) & (np.arange(n) < newest) for turn in np.unique(live.turn[:newest])]
        steps = list(dict.fromkeys(groups[newest:][~live.opens[newest:]].tolist()))
        units = [*turns, *(groups == step for step in steps[: max(len(steps) - self.newest, 0)])]
        gone, total = np.zeros(n, bool), float(sizes.sum())
        for unit in units:
            if total <= limit + _ROUNDING:
                break
            members = unit & ~spared & ~gone
            gone, total = gone | members, total - float(sizes[members].sum())
        return gone


_ROUNDING = 1e-6
"""Sums of fractions that differ by less are equal."""
