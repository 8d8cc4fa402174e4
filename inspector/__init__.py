"""compaction-inspector: see, move and compare the cut of a context compaction.

session = open_session("session.jsonl")
ledger  = count_tokens(session)
cuts    = find_cuts(session)
plan    = make_plan(session, ledger, "flue")
context = build_context(session, plan)
rows    = diff_contexts(live_context(session, ledger), context)
Workbench(session)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .assembly import append_checkpoint, build_context, live_context
from .blocks import Block, BlockRef
from .bundled import open_bundled
from .context import Context, Piece
from .counter import Counter
from .counters import COUNTERS, find_counter
from .cuts import CutPoint, CutPoints, find_cuts
from .diff import Diff, diff_contexts, patch
from .disk import open_session, save_session, session_schema
from .errors import (
    CounterError,
    EditError,
    EmptySession,
    InspectorError,
    ManifestVersion,
    PatchError,
    PolicyError,
    ReadError,
)
from .ledger import Ledger, count_tokens
from .plan import Plan, make_plan
from .policies import POLICIES, find_policy
from .policy import Edits, Policy, Rule, Trigger
from .readers import READERS, read_session
from .session import Boundary, Entry, Session, Turn, Usage
from .summary import Checkpoint, SummaryJob
from .wire import check_request, render_request

if TYPE_CHECKING:
    from .widgets import Workbench

__all__ = [
    "COUNTERS",
    "POLICIES",
    "READERS",
    "Block",
    "BlockRef",
    "Boundary",
    "Checkpoint",
    "Context",
    "Counter",
    "CounterError",
    "CutPoint",
    "CutPoints",
    "Diff",
    "EditError",
    "Edits",
    "EmptySession",
    "Entry",
    "InspectorError",
    "Ledger",
    "ManifestVersion",
    "PatchError",
    "Piece",
    "Plan",
    "Policy",
    "PolicyError",
    "ReadError",
    "Rule",
    "Session",
    "SummaryJob",
    "Trigger",
    "Turn",
    "Usage",
    "Workbench",
    "append_checkpoint",
    "build_context",
    "check_request",
    "count_tokens",
    "diff_contexts",
    "find_counter",
    "find_cuts",
    "find_policy",
    "live_context",
    "make_plan",
    "open_bundled",
    "open_session",
    "patch",
    "read_session",
    "render_request",
    "save_session",
    "session_schema",
]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    # Jupyter is imported when a workbench is made, not before.
    if name == "Workbench":
        from .widgets import Workbench

        return Workbench
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
