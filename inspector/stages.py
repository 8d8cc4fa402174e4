"""What each stage of a policy did: tokens in and out, and why a stage did not run."""

from __future__ import annotations

from typing import NamedTuple

from .policies.policy import Policy
from .tiers import Tiers


class StageReport(NamedTuple):
    """One stage. Tokens are by the policy's own measure; before and after are equal where it did not run."""

    name: str
    ran: bool
    before: int
    after: int
    sentence: str


def report_stages(policy: Policy, tiers: Tiers, depth: int) -> tuple[StageReport, ...]:
    """Every stage in the policy's order; none for a policy without stages."""
    out = []
    place = tiers[depth].place
    at, ran = tiers[0].size(tiers[0].place), 0
    reached = {stage.name for stage in tiers.stages[:depth]}
    reasons = {stage.name for stage in tiers.stages}
    switched_on = {rule.kind for rule in policy.rules if rule.enabled}
    for stage in policy.stages:
        if not switched_on & {*stage.rules}:
            ran += stage.name in reached
            out.append(StageReport(stage.name, False, at, at, "It is switched off."))
        elif stage.name in reached:
            ran += 1
            # A stage of its own leaves its own cut; the last one stands for the whole plan.
            tier = tiers[ran]
            after = tier.size(place if ran == depth else tier.place)
            said = "" if after != at else "It found nothing to do."
            out.append(StageReport(stage.name, True, at, after, said))
            at = after
        elif stage.name in reasons:
            out.append(StageReport(stage.name, False, at, at, "Not needed: the target was met."))
        else:
            runs = " or ".join(stage.reasons)
            out.append(StageReport(stage.name, False, at, at, f"It runs only when the reason is {runs}."))
    return tuple(out)
