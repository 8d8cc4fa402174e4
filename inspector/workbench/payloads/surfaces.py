"""The two surfaces of a plan: what is stored, and what the provider edits in each request beside it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...planning.plan import Plan
from ...policies.table import CLEARED
from ...summaries.record import changes_stored, edits_request, stored_part

IN_FLIGHT = "in-flight edit"
"""What is said of what is cleared at the wire: nothing of it is saved anywhere (S0-54)."""


def describe_surfaces(plan: Plan) -> dict[str, Any] | None:
    """The manifest and the request of a plan, apart (S0-46); None where no rule of it edits requests.

    `manifest`: tokens stored after it, and whether anything stored changes. `wire`: tokens of the request,
    how many blocks are cleared in it, the tokens this spares it, and what that is called.
    """
    if not any(rule.enabled and edits_request(rule) for rule in plan.policy.rules):
        return None
    stored = stored_part(plan)
    changes = changes_stored(stored)
    kept = stored.after if changes else plan.before
    return {
        "manifest": {"after": kept + plan.hidden, "changed": changes},
        "wire": {
            "after": plan.after + plan.hidden,
            "cleared": int(np.count_nonzero(plan.fate == CLEARED)),
            "spared": kept - plan.after,
            "label": IN_FLIGHT,
        },
    }
