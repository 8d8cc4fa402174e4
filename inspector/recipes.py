"""A plan written down: as data, as the Python that makes it again, and as one line."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from .policies.policy import Edits, Policy
from .policies.registry import POLICIES
from .policies.table import FATES
from .session.session import Session

if TYPE_CHECKING:
    from .plan import Plan


def write_spec(plan: Plan) -> dict[str, Any]:
    """The arguments of `make_plan` as JSON, but for the session and its ledger."""
    spec: dict[str, Any] = {
        "policy": plan.policy.name if _is_known(plan) else plan.policy.model_dump(mode="json"),
        "edits": plan.edits.model_dump(mode="json", exclude_defaults=True),
    }
    if plan.table.given_window is not None:
        spec["window"] = plan.table.given_window
    if plan.reason != "auto":
        spec["reason"] = plan.reason
    return spec


def write_recipe(plan: Plan) -> str:
    """An expression over the names `session`, `ledger` and, for a written summary, `checkpoint`."""
    policy = plan.policy.name if _is_known(plan) else _shorten(plan.policy)
    parts = ["session", f"ledger, {policy!r}"]
    if plan.session.leaf != _last_leaf(plan.session):
        parts[0] = f"session.at({plan.session.leaf!r})"
    if plan.edits != Edits():
        parts.append(repr(plan.edits))
    if plan.table.given_window is not None:
        parts.append(f"window={plan.table.given_window}")
    if plan.reason != "auto":
        parts.append(f"reason={plan.reason!r}")
    written = "" if plan.checkpoint is None else ".with_summary(checkpoint)"
    return f"make_plan({', '.join(parts)}){written}"


def write_line(plan: Plan) -> str:
    """What a reader of a notebook sees of a plan."""
    counts = Counter(plan.fate.tolist())
    fates = ", ".join(f"{counts[code]} {fate}" for code, fate in enumerate(FATES) if counts[code])
    if plan.cut is None:
        left = f"{plan.after:,} counted tokens stay"
        if plan.after != plan.before:
            left = f"{plan.before:,} -> {plan.after:,} counted tokens; blocks: {fates}"
        return f"Plan({plan.policy.name}: {plan.why or 'no cut,'} {left})"
    turn = ""
    if plan.place is not None and plan.place < len(plan.table.live):
        turn = f" (turn {int(plan.table.live.turn[plan.place]) + 1})"
    written = "" if plan.checkpoint is None else f"; summary by {plan.checkpoint.by}"
    return (
        f"Plan({plan.policy.name}: cut at {plan.cut.entry}{turn}, {plan.before:,} -> {plan.after:,} "
        f"counted tokens; blocks: {fates or 'none'}{written}{'' if plan.fits else '; does not fit'})"
    )


def _is_known(plan: Plan) -> bool:
    """Whether the policy's name is enough to find it in any process."""
    built_in = next((known for known in POLICIES if known.name == plan.policy.name), None)
    return built_in is not None and built_in.configured(plan.edits.settings) == plan.policy


def _shorten(policy: Policy) -> dict[str, Any]:
    """The policy as JSON without what is so by default."""
    rules = [
        {"kind": rule.kind, **rule.model_dump(mode="json", exclude_defaults=True)} for rule in policy.rules
    ]
    return {**policy.model_dump(mode="json", exclude_defaults=True), "rules": rules}


def _last_leaf(session: Session) -> str | None:
    """The leaf a reader would set: the last entry of the file that is on no sidechain."""
    for entry in reversed(session.entries):
        if entry.sidechain is None and entry.kind != "micro":
            return entry.id
    return None
