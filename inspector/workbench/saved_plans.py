"""Plans saved next to a session: a short description of each, and the inputs that restore it.

The input is texts of files and a model; the output is plain values. Other code reads the files.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import PlanError
from ..planning.planner import make_plan
from ..planning.saved_plan import SavedPlan, count_added, read_plan
from ..policies.registry import name_policy
from ..redaction.cut import cut_text
from ..session.session import Session
from ..text import plural, printable
from .model import WorkbenchModel

SUFFIX = ".plan.json"


def list_saved(texts: Mapping[str, bytes], session: Session) -> dict[str, Any]:
    """List the plans of a session among the files next to it, as the reply to the query `plans`.

    Skips plans of other sessions, and files that hold no plan.
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
    """Describe a saved plan in a few words."""
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
    policy, settings = name_policy(saved.policy)
    return {
        "at": saved.at or "",
        "policy": policy,
        "settings": settings,
        "pins": list(saved.edits.pins),
        "cut": saved.edits.cut or "",
        "since": saved.edits.since or "",
        "look": "plan",
    }


def open_saved(model: WorkbenchModel, text: bytes, name: str) -> dict[str, Any]:
    """Return the inputs of the workbench for a saved plan, and a message about it."""
    saved = read_plan(text, name)
    choices = choose_saved(saved, model.session, name)
    return {"choices": choices, "sentence": tell_saved(model, saved, choices, name)}


def tell_saved(model: WorkbenchModel, saved: SavedPlan, choices: Mapping[str, Any], name: str) -> str:
    """Return whether the session has grown since, and whether the plan still has the same result.

    Raises what `make_plan` raises.
    """
    added = count_added(saved, model.session, name)
    moment = model.session.at(saved.at)
    edits = saved.edits.model_copy(update={"settings": choices["settings"]})
    sentences = [f"{printable(name)} is open."]
    plan = make_plan(moment, model.ledger, choices["policy"], edits, window=saved.window, reason=saved.reason)
    if added:
        cut_sentence = "The cut is kept." if edits.cut or plan.place is not None else "The plan is kept."
        sentences = [
            f"{plural(added, 'record was', 'records were')} added since this plan was saved. {cut_sentence}"
        ]
    if plan.after != saved.outcome.after:
        sentences.append(f"It leaves {plan.after:,} tokens now, {saved.outcome.after:,} when it was saved.")
    return " ".join(sentences)
