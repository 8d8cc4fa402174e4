"""What an archive must hold for a plan, so that nothing the plan takes away is lost.

Entries as the session holds them, never as a stage left them, each once (TIERED §3 step 4, §11 g; S3-34).
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from ..planning.plan import Plan
from ..policies.table import VERBATIM
from ..session.tree import Bools
from .record import edits_request

Scope = Literal["changed", "slice"]
"""Only entries that lose something, or all between what is kept at the beginning and the cut."""


def list_archived(plan: Plan, scope: Scope = "changed") -> tuple[str, ...]:
    """Ids of the live entries to archive, in context order; none when nothing is lost.

    What a provider clears in a request is not lost: the session still holds it. With scope "slice" it is
    the published archive: everything between root and cut, changed or not (TIERED §3 step 4), and nothing
    of what is cut after it.
    """
    live = plan.table.live
    wanted = _find_slice(plan) if scope == "slice" else np.zeros(len(live), bool)
    if scope == "changed":
        wire = [code for code, rule in enumerate(plan.policy.rules) if edits_request(rule)]
        wanted[live.position[(plan.fate != VERBATIM) & ~np.isin(plan.outcome.rule, wire)]] = True
    entries = plan.session.entries
    return tuple(entries[i].id for i in live.entries[wanted].tolist())


def _find_slice(plan: Plan) -> Bools:
    position = np.arange(len(plan.table.live))
    if plan.place is None:
        return np.zeros(len(position), bool)
    root = plan.table.sibling("keep-root")
    begin: Bools = position >= max(getattr(root, "messages", 0), plan.table.start)
    # Where the middle is dropped, the rule that drops it says where it begins.
    notice = next((d.notice for d in plan.decisions if d.notice is not None), None)
    out: Bools = (begin if notice is None else notice.entries) & (position < plan.place)
    return out


def make_record(plan: Plan, at: str, scope: Scope = "changed") -> dict[str, Any] | None:
    """The archive of one compaction at a moment (ISO 8601), as JSON data; None when nothing is lost.

    The published record's fields, its entries in the form of the session manifest (TIERED §7).
    """
    omitted = [plan.session[name].model_dump(mode="json") for name in list_archived(plan, scope)]
    if not omitted:
        return None
    return {"version": 1, "sessionId": plan.session.id, "at": at, "omitted": omitted}
