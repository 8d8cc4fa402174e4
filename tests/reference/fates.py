"""What becomes of each block, told slowly: block by block and claim by claim, without a column.

Only the claims are those of the rules. Fates by number are those of `FATES`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from inspector.planning.plan import Plan
from inspector.policies.table import Claim
from inspector.session.blocks import Block

VERBATIM, SUMMARISED, DROPPED, CLEARED = 0, 3, 4, 5
NOBODY, PIN, PAIR, BOUND, WITHHELD, END = -1, -2, -3, -4, -5, -6


@dataclass
class Fate:
    """One block: its fate, its tokens, who decided, and whether something else stands in its place."""

    fate: int
    tokens: int
    by: int
    changed: bool = False
    now: Block | None = None

    @property
    def stands(self) -> bool:
        return self.fate not in (SUMMARISED, DROPPED)

    def take(self, fate: int, by: int) -> None:
        """Nothing of it is left for this reason."""
        self.fate, self.tokens, self.by, self.changed, self.now = fate, 0, by, False, None


Side = list[Fate]


def list_stages(plan: Plan, depth: int) -> list[list[int]]:
    """The rules asked, by number: those of no stage and those of the provider's, then stage by stage."""
    rules = plan.policy.rules
    named = {kind for stage in plan.policy.stages for kind in stage.rules}
    always = [code for code, rule in enumerate(rules) if rule.kind not in named or rule.wire]
    ran = [stage for stage in plan.policy.stages if plan.reason in stage.reasons][:depth]
    return [
        always,
        *([code for kind in stage.rules for code, r in enumerate(rules) if r.kind == kind] for stage in ran),
    ]


def decide_side(plan: Plan, name: str, depth: int) -> Side:
    """What a side becomes, pairs and ends not looked at yet."""
    table = plan.table
    pinned = plan.tiers.pinned.tolist()
    kinds = [table.block(row).kind for row in range(len(pinned))]
    side = [
        Fate(VERBATIM, int(tokens), PIN if pin else NOBODY)
        for tokens, pin in zip(table.tokens, pinned, strict=True)
    ]
    if not plan.policy.harness.send_reasoning:
        for one, kind in zip(side, kinds, strict=True):
            if kind == "reasoning":
                one.take(DROPPED, WITHHELD)
    free = {row for row, pin in enumerate(pinned) if not pin}
    for number, codes in enumerate(list_stages(plan, depth)):
        undecided = {row for row in free if side[row].stands}
        for code in codes:
            claims = getattr(plan.tiers[depth].decisions[code], name)
            for claim in claims if isinstance(claims, tuple) else [claims] if claims is not None else []:
                undecided -= _claim(plan, side, claim, code, undecided)
        if number == 0:
            free = undecided
    return side


def _claim(plan: Plan, side: Side, claim: Claim, code: int, undecided: Iterable[int]) -> set[int]:
    """The blocks that a claim decides."""
    taken = set()
    for row in sorted(undecided):
        one = side[row]
        if not claim.rows[row]:
            continue
        if claim.rewrite is not None:
            if one.changed and (not claim.again or one.now is None):
                continue
            was = one.now if one.now is not None else plan.table.block(row)
            made = claim.rewrite.make(was, row)
            if made is was:
                continue
            one.now, one.changed = made, True
            one.tokens = 0 if made is None else int(plan.ledger.count_blocks([made])[0])
        elif claim.tokens is not None:
            one.tokens = int(claim.tokens[row])
        taken.add(row)
        if claim.fate in (SUMMARISED, DROPPED):
            one.take(claim.fate, code)
        elif claim.fate != VERBATIM or one.by < 0:
            # What is left as it is keeps what an earlier stage made of it.
            one.fate, one.by = claim.fate, code
    return taken


def close_pairs(plan: Plan, side: Side) -> None:
    """A half that would stand alone shares the other's fate, and one that always did goes."""
    live = plan.session.live
    before = [one.stands for one in side]
    for call, output in live.pairs.tolist():
        for row, other in ((call, output), (output, call)):
            if before[row] and not before[other]:
                side[row].take(side[other].fate, PAIR)
    for row in (*live.orphans.tolist(), *live.pending.tolist()):
        if before[row]:
            side[row].take(DROPPED, PAIR)


def close_ends(plan: Plan, side: Side) -> None:
    """Reasoning that would end the assistant's message goes, if something followed it there before."""
    table, live = plan.table, plan.session.live
    blocks = [table.block(row) for row in range(len(side))]
    entries = [plan.session.entries[live.entries[position]] for position in live.position.tolist()]
    ours = [e.role == "assistant" and b.kind != "tool_output" for e, b in zip(entries, blocks, strict=True)]
    sent = [
        not (row and blocks[row - 1].kind == "reasoning" and side[row - 1].stands)
        or block.kind != "text"
        or bool(block.text.strip())
        for row, block in enumerate(blocks)
    ]
    standing = {row for row, one in enumerate(side) if one.stands and sent[row]}

    def leads(row: int, rows: set[int]) -> bool:
        following = min((other for other in rows if other > row), default=None)
        return following is not None and ours[following]

    every = {row for row in range(len(side)) if sent[row]}
    thoughts = {
        row
        for row, one in enumerate(side)
        if one.stands and blocks[row].kind == "reasoning" and leads(row, every)
    }
    ending: set[int] = set()
    while found := {row for row in thoughts - ending if not leads(row, standing)}:
        ending |= found
        standing -= found
    for row in ending:
        if side[row].by != PIN:
            side[row].take(DROPPED, END)


def unbind(plan: Plan, side: Side) -> None:
    """Behind the client's first edit no reasoning stands, for a model that binds it to what came before."""
    edited = False
    for row, one in enumerate(side):
        own = one.by < 0 or not plan.policy.rules[one.by].by_provider
        edited = edited or (own and one.fate not in (VERBATIM, CLEARED) and one.by != WITHHELD)
        if edited and one.stands and plan.table.block(row).kind == "reasoning":
            one.take(DROPPED, BOUND)


def tell_fates(plan: Plan, place: int | None, depth: int) -> Side:
    """Every block's fate with the cut at a place, or without one."""
    older, kept = decide_side(plan, "older", depth), decide_side(plan, "kept", depth)
    paired = not any(decision.unpaired for decision in plan.tiers[depth].decisions)
    for side in (older, kept) if paired else ():
        close_pairs(plan, side)
        close_ends(plan, side)
    position = plan.session.live.position.tolist()
    side = [older[row] if place is not None and at < place else kept[row] for row, at in enumerate(position)]
    if paired and place is not None:
        close_pairs(plan, side)
    if plan.tiers.bound:
        unbind(plan, side)
    return side
