"""Whether a policy compacts the context of a plan now: its trigger, and what holds its harness back.

The trigger alone is decided in `policies/trigger.py`. What a replay counts as it goes is read from the path
here: compactions of the same policy that made no progress, and whether it looks at this point at all.
"""

from __future__ import annotations

import numpy as np

from ..policies.failures import FailureCounts, frees_little
from ..policies.harness import describe_level
from ..policies.policy import Policy
from ..policies.trigger import Check, Reason, Verdict
from ..session.session import Session
from ..session.tree import ASSISTANT
from ..tokens.ledger import Ledger
from .plan import Plan

MOMENTS: dict[Check, str] = {
    "reply": "the end of a turn",
    "outputs": "a tool's outputs",
    "request": "the next request",
}
"""When a policy looks, in words."""


def decide(plan: Plan) -> Verdict:
    """Decide as `Plan.verdict` says."""
    reason: Reason = "overflow" if plan.reason == "overflow" else "auto"
    off = plan.policy.why_off(reason)
    if reason == "auto" and not off and not plan.policy.trigger.enabled:
        also = "" if plan.policy.why_off("overflow") else ", or a refusal by the provider"
        off = f"Waits for the user's /compact{also}"
    elif reason == "auto" and not off:
        off = _find_nothing_to_see(plan) or _find_stop(plan)
    verdict = plan.table.trigger.decide(plan.size_sent, plan.table.window, plan.reason, off)
    window = plan.table.window
    ratio = plan.size_sent("assembled").tokens / window if window else None
    harness = plan.policy.running
    return verdict._replace(level=describe_level(harness, ratio), asks=harness.mode == "ask")


def _find_nothing_to_see(plan: Plan) -> str:
    """Why the policy does not look here: it looks after outputs of tools, and the context does not end with
    them, or another call still waits for its own."""
    check, session = plan.policy.trigger.check, plan.session
    if check != "outputs":
        return ""
    tree, live = session.tree, session.live
    last = live.position == len(live) - 1
    rows = np.repeat(tree.start[live.entries] - live.start[:-1], np.diff(live.start)) + np.arange(len(last))
    if not tree.answers[rows[last]].any():
        return f"It looks only at {MOMENTS[check]}, and the context does not end with one"
    speaks = live.role == ASSISTANT
    begins = np.flatnonzero(speaks & ~np.append(False, speaks[:-1]))[-1:]
    waits = np.intersect1d(live.pending, live.lone)
    if (live.position[waits] >= begins).any():
        return f"It looks only at {MOMENTS[check]}, and a call still waits for its output"
    return ""


def _find_stop(plan: Plan) -> str:
    """Why automatic compactions stopped: the last ones on the path made no progress (S0-106)."""
    counts, _, summary = count_passes(plan.session, plan.ledger, plan.policy)
    if not counts.stalled:
        return ""
    stopped = "Stopped, as the last compactions made no progress, until"
    if counts.is_growing(plan.policy.running):
        return f"{stopped} the user acts"
    longer = max(summary - plan.summary_tokens, 0) if plan.summarises else 0
    frees = not plan.why and not frees_little(plan.before, plan.after + longer)
    return "" if frees else f"{stopped} more can be freed or the user acts"


def count_passes(session: Session, ledger: Ledger, policy: Policy) -> tuple[FailureCounts, int, int]:
    """The counts of the policy's own compactions on the path, as a replay counts them, and the tokens of the
    last two summaries. Freed tokens are compared only if both sizes were counted."""
    counts, last, summary = FailureCounts(), 0, 0
    where = session.path_index
    bounded = [at for at in session.tree.bounded.tolist() if where[at] >= 0]
    for at in sorted(bounded, key=lambda at: int(where[at])):
        boundary = session.entries[at].boundary
        if boundary is None or boundary.kind != "compact" or boundary.extra.get("policy") != policy.name:
            continue
        acts = boundary.trigger == "manual"
        last, summary = summary, int(ledger.count_texts([boundary.summary or ""])[0])
        before, after = boundary.tokens_before, boundary.tokens_after
        counted = summary > 0 and boundary.extra.get("measure") == "assembled"
        idle = counted and before is not None and after is not None and frees_little(int(before), int(after))
        counts = counts.act() if acts else counts
        grew = 0 < last < summary
        counts = counts.succeed(idle=idle, grew=grew, growth=policy.running.growth, acts=acts)
    return counts, last, summary
