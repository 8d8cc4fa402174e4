"""compaction-inspector: see, move and compare the cut of a context compaction.

session = open_session("session.jsonl")
ledger  = count_tokens(session)
cuts    = find_cuts(session)
plan    = make_plan(session, ledger, "flue")
context = build_context(session, plan)
rows    = diff_contexts(live_context(session, ledger), context)
run     = replay(session, "claude-code")
trace   = trace_facts(find_facts(session), plan)
table   = compare_policies(session)
Workbench(session)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .drawable import drawers as _drawers

if TYPE_CHECKING:
    from .assembly import append_checkpoint, build_context, live_context
    from .audit import AuditEvent
    from .bill import Bill
    from .blocks import Block, BlockRef
    from .bundled import open_bundled
    from .comparison import Comparison, compare_policies
    from .conduct import Conduct
    from .context import Context, Piece
    from .cost import break_even, price_session, price_steps
    from .counter import Counter
    from .counters import COUNTERS, find_counter
    from .cuts import CutPoint, CutPoints, find_cuts
    from .decay import measure_decay
    from .diff import Diff, diff_contexts, diff_text, patch
    from .disk import open_session, save_session, session_schema
    from .editing import context_management
    from .errors import (
        CounterError,
        EditError,
        EmptySession,
        FigureError,
        InspectorError,
        ManifestVersion,
        PatchError,
        PolicyError,
        ReadError,
        RedactionError,
        Stopped,
    )
    from .export import Exported, export_html
    from .facts import Facts, find_facts
    from .fixes import find_fixes, write_focus
    from .grounding import ground_recorded
    from .ledger import Ledger, count_tokens
    from .manifest_view import manifest_context
    from .ownrules import rule
    from .plan import Plan, make_plan
    from .policies import POLICIES, add_policy, find_policy
    from .policy import Edits, Policy, Rule, Stage, Target, Trigger
    from .prices import Price, find_price
    from .readers import READERS, read_session
    from .regret import find_regret
    from .replays import replay
    from .rules import add_rule, list_rules
    from .run import Run
    from .scenario import Act, Scenario, Writer
    from .session import Boundary, Entry, Session, Turn, Usage
    from .still import Snapshot
    from .summary import Checkpoint, SummaryJob
    from .trace import Trace, trace_facts, trace_recorded
    from .widgets import Workbench
    from .wire import check_context, check_request, render_request

__version__ = "0.1.0"

# A name's module is imported when the name is first asked for, so that importing the package costs nothing.
_HOMES = {
    "assembly": "append_checkpoint build_context live_context",
    "audit": "AuditEvent",
    "bill": "Bill",
    "blocks": "Block BlockRef",
    "bundled": "open_bundled",
    "comparison": "Comparison compare_policies",
    "conduct": "Conduct",
    "context": "Context Piece",
    "cost": "break_even price_session price_steps",
    "counter": "Counter",
    "counters": "COUNTERS find_counter",
    "cuts": "CutPoint CutPoints find_cuts",
    "decay": "measure_decay",
    "diff": "Diff diff_contexts diff_text patch",
    "disk": "open_session save_session session_schema",
    "editing": "context_management",
    "errors": "CounterError EditError EmptySession FigureError InspectorError ManifestVersion PatchError "
    "PolicyError ReadError RedactionError Stopped",
    "export": "Exported export_html",
    "facts": "Facts find_facts",
    "fixes": "find_fixes write_focus",
    "grounding": "ground_recorded",
    "ledger": "Ledger count_tokens",
    "magic": "load_ipython_extension unload_ipython_extension",
    "manifest_view": "manifest_context",
    "ownrules": "rule",
    "plan": "Plan make_plan",
    "policies": "POLICIES add_policy find_policy",
    "policy": "Edits Policy Rule Stage Target Trigger",
    "prices": "Price find_price",
    "readers": "READERS read_session",
    "regret": "find_regret",
    "replays": "replay",
    "rules": "add_rule list_rules",
    "run": "Run",
    "scenario": "Act Scenario Writer",
    "session": "Boundary Entry Session Turn Usage",
    "still": "Snapshot",
    "summary": "Checkpoint SummaryJob",
    "trace": "Trace trace_facts trace_recorded",
    "widgets": "Workbench",
    "wire": "check_context check_request render_request",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = [
    "COUNTERS",
    "POLICIES",
    "READERS",
    "Act",
    "AuditEvent",
    "Bill",
    "Block",
    "BlockRef",
    "Boundary",
    "Checkpoint",
    "Comparison",
    "Conduct",
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
    "Exported",
    "Facts",
    "FigureError",
    "InspectorError",
    "Ledger",
    "ManifestVersion",
    "PatchError",
    "Piece",
    "Plan",
    "Policy",
    "PolicyError",
    "Price",
    "ReadError",
    "RedactionError",
    "Rule",
    "Run",
    "Scenario",
    "Session",
    "Snapshot",
    "Stage",
    "Stopped",
    "SummaryJob",
    "Target",
    "Trace",
    "Trigger",
    "Turn",
    "Usage",
    "Workbench",
    "Writer",
    "add_policy",
    "add_rule",
    "append_checkpoint",
    "break_even",
    "build_context",
    "check_context",
    "check_request",
    "compare_policies",
    "context_management",
    "count_tokens",
    "diff_contexts",
    "diff_text",
    "export_html",
    "find_counter",
    "find_cuts",
    "find_facts",
    "find_fixes",
    "find_policy",
    "find_price",
    "find_regret",
    "ground_recorded",
    "list_rules",
    "live_context",
    "make_plan",
    "manifest_context",
    "measure_decay",
    "open_bundled",
    "open_session",
    "patch",
    "price_session",
    "price_steps",
    "read_session",
    "render_request",
    "replay",
    "rule",
    "save_session",
    "session_schema",
    "trace_facts",
    "trace_recorded",
    "write_focus",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    return value


def _draw(value: Any, kind: str, *, dark: bool) -> Any:
    return import_module(f"{__name__}.figures").draw_figure(value, kind, dark=dark)


_drawers.append(_draw)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    """Where a Jupyter server finds our routes."""
    return [{"module": "inspector.server"}]


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    """Where JupyterLab finds our front end while it is developed."""
    return [{"src": "labextension", "dest": "context-inspector"}]
