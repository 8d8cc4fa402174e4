"""What a reader of a plan should not miss, in sentences.

In goes a plan, out come its notes; nothing is decided here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .fates import BY_BOUND, BY_PAIR, STANDS
from .policies.table import VERBATIM
from .provenance import NOT_DETERMINISTIC, tell_lost
from .session.tree import SYSTEM, USER

if TYPE_CHECKING:
    from .plan import Plan

PAIRS = ("orphan-output", "inside-batch", "lone-output")
"""Cut rules that are about a call and its output."""


def tell_plan(plan: Plan) -> list[str]:
    """What is missed, lost, refused or left alone, a sentence each."""
    live, notes = plan.table.live, []
    cut = plan.cut
    if cut is None and plan.why:
        notes.append(plan.why)
    # Where pairs are kept whole, a cut through one is no fault of what is left.
    torn = plan.tier.unpaired or (cut is not None and cut.rule not in PAIRS)
    if cut is not None and not cut.legal and torn and not STANDS[plan.fate[plan.is_older]].all():
        notes.append(f"{plan.policy.title or plan.policy.name} cuts where a provider refuses: {cut.sentence}")
    bound = int((plan.outcome.rule == BY_BOUND).sum())
    if bound:
        notes.append(
            f"{_some(bound, 'reasoning block is', 'reasoning blocks are')} left out: "
            f"{plan.session.model or 'this model'} refuses reasoning whose prefix was edited. "
            "Edits by the provider itself would keep them."
        )
        pinned = int((plan.tiers.pinned & (plan.outcome.rule == BY_BOUND)).sum())
        if pinned:
            notes.append(
                f"{_some(pinned, 'of them is pinned', 'of them are pinned')}; no pin can keep those."
            )
    if cut is not None and plan.edits.cut is not None and not (plan.fate != VERBATIM).any():
        whys = dict.fromkeys(decision.why for decision in plan.decisions if decision.why)
        notes.append(" ".join(["This policy changes nothing at this cut.", *whys]))
    if fault := _beginning(plan):
        notes.append(fault)
    changed = plan.outcome.rule == BY_PAIR
    lone = np.concatenate([live.orphans, live.pending])
    lost = int(changed[lone].sum())
    if lost:
        notes.append(
            f"{_some(lost, 'call or output is', 'calls or outputs are')} left out, without their other half; "
            "no request may carry such."
        )
    moved = int(changed.sum()) - lost
    if moved:
        some = _some(moved, "block shares", "blocks share")
        notes.append(f"{some} the fate of the other half of {'its' if moved == 1 else 'their'} call.")
    if plan.under_target is False:
        limit = plan.tiers.limit
        left = f"{plan.left:,} are left by the policy's own measure"
        notes.append(f"The target of {limit:,} is missed: {left}.")
    if not plan.fits:
        notes.append("What is left would trigger the policy again.")
    if not plan.deterministic:
        notes.append(NOT_DETERMINISTIC)
    if lossy := tell_lost(plan.fate):
        notes.append(lossy)
    for decision in plan.decisions:
        notes.extend(decision.notes)
    return notes


def _beginning(plan: Plan) -> str:
    """What a provider would refuse about how the context begins, if the plan made it so."""
    if plan.summarises and plan.summary_at == 0:
        return ""
    live, stands = plan.table.live, STANDS[plan.fate]
    emptied = [row for row, block in plan.outcome.blocks.items() if block is None]
    stands[emptied] = False
    rows = np.flatnonzero(stands)
    if len(live.position) and not len(rows) and plan.notice is None and not plan.summarises:
        return "Nothing is left to send: a request needs at least one message."
    first = live.position[rows[:1]]
    began = len(live) and live.role[0] in (USER, SYSTEM)
    if began and len(first) and live.role[first[0]] not in (USER, SYSTEM):
        return "The context would not begin with the user's words, as providers ask for."
    return ""


def _some(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"
