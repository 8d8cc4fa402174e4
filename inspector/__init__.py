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

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .assembly import append_checkpoint, build_context, live_context
    from .blocks import Block, BlockRef
    from .bundled import open_bundled
    from .context import Context, Piece
    from .counter import Counter
    from .counters import COUNTERS, find_counter
    from .cuts import CutPoint, CutPoints, find_cuts
    from .diff import Diff, diff_contexts, diff_text, patch
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
    from .widgets import Workbench
    from .wire import check_context, check_request, render_request

__version__ = "0.1.0"

# A name's module is imported when the name is first asked for, so that importing the package costs nothing.
_HOMES = {
    "assembly": "append_checkpoint build_context live_context",
    "blocks": "Block BlockRef",
    "bundled": "open_bundled",
    "context": "Context Piece",
    "counter": "Counter",
    "counters": "COUNTERS find_counter",
    "cuts": "CutPoint CutPoints find_cuts",
    "diff": "Diff diff_contexts diff_text patch",
    "disk": "open_session save_session session_schema",
    "errors": "CounterError EditError EmptySession InspectorError ManifestVersion PatchError "
    "PolicyError ReadError",
    "ledger": "Ledger count_tokens",
    "plan": "Plan make_plan",
    "policies": "POLICIES find_policy",
    "policy": "Edits Policy Rule Trigger",
    "readers": "READERS read_session",
    "session": "Boundary Entry Session Turn Usage",
    "summary": "Checkpoint SummaryJob",
    "widgets": "Workbench",
    "wire": "check_context check_request render_request",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}

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
    "check_context",
    "check_request",
    "count_tokens",
    "diff_contexts",
    "diff_text",
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


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
