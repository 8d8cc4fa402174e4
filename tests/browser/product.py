"""All that the browser tests use of the package itself, in one place."""

from __future__ import annotations

import inspector
from inspector import (
    Edits,
    Plan,
    Session,
    Workbench,
    export_html,
    make_plan,
    open_demo,
    open_plan,
    open_session,
    save_session,
    write_focus,
)
from inspector.demo import LOST_PATH, read_demo
from inspector.errors import EditError
from inspector.facts import find_facts, trace_facts
from inspector.policies.table import FATES, VERBATIM
from inspector.replays import replay as replay_session
from inspector.session.blocks import Text
from inspector.session.entries import Entry
from inspector.tokens.history import trace_history
from inspector.workbench import Snapshot, WorkbenchModel
from inspector.workbench.inputs import TABS
from inspector.workbench.payloads.block import describe_body
from inspector.workbench.payloads.recorded import find_recorded
from inspector.workbench.payloads.sections import format_tokens
from inspector.workbench.words import FORBIDDEN, label_of

__all__ = [
    "FATES",
    "FORBIDDEN",
    "LOST_PATH",
    "TABS",
    "VERBATIM",
    "EditError",
    "Session",
    "Snapshot",
    "Workbench",
    "WorkbenchModel",
    "describe_body",
    "export_html",
    "find_facts",
    "find_recorded",
    "format_tokens",
    "label_of",
    "make_again",
    "make_plan",
    "make_small_session",
    "open_demo",
    "open_plan",
    "open_session",
    "read_demo",
    "replay_session",
    "save_session",
    "trace_facts",
    "trace_history",
    "write_focus",
]


def make_again(recipe: str, workbench: Workbench) -> Plan:
    """The plan that the line of Python shown under a workbench makes, typed in as a reader would."""
    names = {name: getattr(inspector, name) for name in inspector.__all__}
    names |= {"Edits": Edits, "session": workbench.session, "ledger": workbench.ledger}
    plan: Plan = eval(recipe, names)
    return plan


def make_small_session() -> Session:
    """A question and its answer: nothing was compacted, and nothing has to be."""
    said = [("user", "What does src/a.py do?"), ("assistant", "It adds.")]
    entries = [
        Entry(id=f"e{n}", parent=f"e{n - 1}" if n else None, role=role, blocks=(Text(text=text),))
        for n, (role, text) in enumerate(said)
    ]
    return Session(format="demo", entries=tuple(entries), leaf="e1")
