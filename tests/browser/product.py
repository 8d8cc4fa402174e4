"""All that the browser tests use of the package itself, in one place."""

from __future__ import annotations

from inspector import Workbench, find_facts, open_bundled, open_plan, save_session, trace_facts, write_focus
from inspector.bundled import LOST_PATH, write_story
from inspector.closeup import describe_body
from inspector.desk import Desk
from inspector.disk import open_session
from inspector.export import export_html
from inspector.history import trace_history
from inspector.recorded import find_recorded
from inspector.session import Session
from inspector.still import Snapshot
from inspector.table import FATES

__all__ = [
    "FATES",
    "LOST_PATH",
    "Desk",
    "Session",
    "Snapshot",
    "Workbench",
    "describe_body",
    "export_html",
    "find_facts",
    "find_recorded",
    "open_bundled",
    "open_plan",
    "open_session",
    "save_session",
    "trace_facts",
    "trace_history",
    "write_focus",
    "write_story",
]
