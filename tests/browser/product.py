"""All that the browser tests use of the package itself, in one place."""

from __future__ import annotations

import inspector
from inspector import (
    Plan,
    Workbench,
    find_facts,
    open_bundled,
    open_plan,
    save_session,
    trace_facts,
    write_focus,
)
from inspector.bundled import LOST_PATH, write_story
from inspector.closeup import describe_body
from inspector.desk import Desk
from inspector.disk import open_session
from inspector.errors import EditError
from inspector.export import export_html
from inspector.history import trace_history
from inspector.policy import Edits
from inspector.recorded import find_recorded
from inspector.session import Session
from inspector.still import Snapshot
from inspector.table import FATES

__all__ = [
    "FATES",
    "LOST_PATH",
    "Desk",
    "EditError",
    "Session",
    "Snapshot",
    "Workbench",
    "describe_body",
    "export_html",
    "find_facts",
    "find_recorded",
    "make_again",
    "open_bundled",
    "open_plan",
    "open_session",
    "save_session",
    "trace_facts",
    "trace_history",
    "write_focus",
    "write_story",
]


def make_again(recipe: str, workbench: Workbench) -> Plan:
    """The plan that the line of Python shown under a workbench makes, typed in as a reader would."""
    names = {name: getattr(inspector, name) for name in inspector.__all__}
    names |= {"Edits": Edits, "session": workbench.session, "ledger": workbench.ledger}
    plan: Plan = eval(recipe, names)
    return plan
