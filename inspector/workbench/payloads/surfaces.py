"""The two surfaces of a plan: the stored context, and the provider's edits of each request."""

from __future__ import annotations

import numpy as np

from ...planning.plan import Plan
from ...policies.table import CLEARED
from ...summaries.record import changes_stored, edits_request, stored_part
from .base_payload import Payload

IN_FLIGHT = "in-flight edit"
"""What is said of what is cleared at the wire: nothing of it is saved anywhere (S0-54)."""


class ManifestPayload(Payload, frozen=True):
    """The stored context after a plan: its tokens, and whether it changes."""

    after: int
    changed: bool


class WirePayload(Payload, frozen=True):
    """The request: its tokens, the blocks cleared in it, what this spares, and what that is called."""

    after: int
    cleared: int
    spared: int
    label: str


class SurfacesPayload(Payload, frozen=True):
    """The stored manifest and the request of a plan, apart (S0-46)."""

    manifest: ManifestPayload
    wire: WirePayload


def describe_surfaces(plan: Plan) -> SurfacesPayload | None:
    """Return the manifest and the request of a plan; None if no rule edits requests."""
    if not any(rule.enabled and edits_request(rule) for rule in plan.policy.rules):
        return None
    stored = stored_part(plan)
    changes = changes_stored(stored)
    tokens_after = stored.after if changes else plan.before
    wire = [code for code, rule in enumerate(plan.policy.rules) if edits_request(rule)]
    cleared = int(np.count_nonzero((plan.fate == CLEARED) & np.isin(plan.outcome.rule, wire)))
    return SurfacesPayload(
        ManifestPayload(tokens_after, changes),
        WirePayload(plan.after, cleared, tokens_after - plan.after, IN_FLIGHT),
    )
