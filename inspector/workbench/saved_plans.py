"""Plans that were saved beside a session: what each is in a few words, and what to choose to have it again.

In go texts of files and a model, out come plain values; the files themselves are read elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import PlanError, PolicyError
from ..planning.planner import make_plan
from ..planning.saved_plan import SavedPlan, count_added, read_plan
from ..policies.registry import POLICIES, add_policy, configure_policy, find_policy
from ..redaction.cut import cut_text
from ..session.session import Session
from ..text import plural, printable
from .model import WorkbenchModel

SUFFIX = ".plan.json"


def list_saved(texts: Mapping[str, bytes], session: Session) -> dict[str, Any]:
    """The plans of a session among the files beside it, as the reply to the query `plans`.

    Plans of other sessions are left out, and files that hold none.
    """
    plans = []
    for name, text in sorted(texts.items()):
        try:
            saved = read_plan(text, name)
        except PlanError:
            continue
        if (saved.session.format, saved.session.id) == (session.format, session.id):
            plans.append({"name": printable(name), "words": describe_saved(saved)})
    return {"plans": plans}


def describe_saved(saved: SavedPlan) -> str:
    """What a saved plan is, in a few words."""
    outcome, edits = saved.outcome, saved.edits
    added = [plural(len(edits.settings), "setting")] if edits.settings else []
    added += [plural(len(edits.pins), "pin")] if edits.pins else []
    title = " + ".join([outcome.title, *added])
    return cut_text(f"{title}: {outcome.before:,} → {outcome.after:,} tokens", 200)


def choose_saved(saved: SavedPlan, session: Session, name: str) -> dict[str, Any]:
    """The inputs of a workbench that make a saved plan again on its session, also once that has grown.

    Raises `OtherSession` for another session. A policy that is known by no name is made known by one.
    """
    count_added(saved, session, name)
    policy, settings = find_policy(saved.policy), dict(saved.edits.settings)
    try:
        known = configure_policy(policy.name, settings) == policy
    except PolicyError:
        known = False
    if not known:
        if any(policy.name == built_in.name for built_in in POLICIES):
            policy = policy.model_copy(update={"name": f"{policy.name}-saved"})
        policy, settings = add_policy(policy), {}
    return {
        "at": saved.at or "",
        "policy": policy.name,
        "settings": settings,
        "pins": list(saved.edits.pins),
        "cut": saved.edits.cut or "",
        "look": "plan",
    }


def open_saved(model: WorkbenchModel, text: bytes, name: str) -> dict[str, Any]:
    """The choices that a saved plan comes to in a workbench, and what to know of it."""
    saved = read_plan(text, name)
    choices = choose_saved(saved, model.session, name)
    return {"choices": choices, "sentence": tell_saved(model, saved, choices, name)}


def tell_saved(model: WorkbenchModel, saved: SavedPlan, choices: Mapping[str, Any], name: str) -> str:
    """Whether the session has grown since, and whether the plan still comes to the same.

    Raises what `make_plan` raises.
    """
    added = count_added(saved, model.session, name)
    moment = model.session.at(saved.at)
    edits = saved.edits.model_copy(update={"settings": choices["settings"]})
    said = [f"{printable(name)} is open."]
    plan = make_plan(moment, model.ledger, choices["policy"], edits, window=saved.window, reason=saved.reason)
    if added:
        stands = "The cut still stands." if edits.cut or plan.place is not None else "It still stands."
        said = [f"{plural(added, 'record was', 'records were')} added since this plan was saved. {stands}"]
    if plan.after != saved.outcome.after:
        said.append(f"It leaves {plan.after:,} tokens now, {saved.outcome.after:,} when it was saved.")
    return " ".join(said)
