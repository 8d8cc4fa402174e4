"""compaction-inspector: see, move and compare the cut of a context compaction.

session = open_session("session.jsonl")
ledger  = count_tokens(session)
cuts    = find_cuts(session)
plan    = make_plan(session, ledger, "flue")
context = build_context(session, plan)
rows    = diff_contexts(live_context(session, ledger), context)
run     = replay(session, "claude-code")
trace   = plan.trace
findings = check(session, "flue")
table   = compare_policies(session)
Workbench(session)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .mixins import answers as _answers
from .mixins import drawers as _drawers

if TYPE_CHECKING:
    from .bundled import open_bundled
    from .cuts import CutPoint, CutPoints, find_cuts
    from .errors import (
        AnswerRefused,
        CounterError,
        EditError,
        EmptySession,
        EscapeError,
        FigureError,
        FrameError,
        InspectorError,
        KeyMissing,
        ManifestVersion,
        OtherSession,
        PatchError,
        PlanError,
        PolicyError,
        PromptMissing,
        ReadError,
        RedactionError,
        RequestRefused,
        Stopped,
        SummaryError,
        WriteConflict,
    )
    from .facts.facts import Fact, Facts, find_facts
    from .facts.fixes import Fix, find_fixes
    from .facts.focus import write_focus
    from .facts.grounding import ground_recorded
    from .facts.keep import Keeping, keep_facts
    from .facts.lint.check import check
    from .facts.lint.findings import CHECKS, Finding, Findings
    from .facts.regret import Regret, find_regret, sum_regret
    from .facts.trace import trace_facts, trace_recorded
    from .facts.traced import Trace, Traced
    from .files import open_plan, open_session, save_plan, save_session, session_schema
    from .formats.readers import READERS, read_session
    from .formats.writers import export_session
    from .jupyter.widget import Workbench
    from .planning.assemble import build_context, live_context
    from .planning.context import Context, Piece
    from .planning.diff.contexts import Diff, diff_contexts, patch
    from .planning.diff.lines import diff_text
    from .planning.plan import Plan, make_plan
    from .planning.summary_jobs import Checkpoint, SummaryJob
    from .policies.custom_rule import rule
    from .policies.events import AuditEvent
    from .policies.harness import Conduct
    from .policies.policy import Edits, Policy, Stage
    from .policies.registry import POLICIES, add_policy, find_policy
    from .policies.rule import Rule
    from .policies.rules import add_rule, list_rules
    from .policies.trigger import Target, Trigger
    from .replays.comparison import Comparison, compare_policies
    from .replays.decay import Decay, Fading, compact_rounds, measure_decay
    from .replays.engine import replay
    from .replays.run import Run
    from .replays.scenario import Act, Scenario, Writer
    from .session.blocks import Block, BlockRef
    from .session.entries import Boundary, Entry, Turn, Usage
    from .session.session import Session
    from .summaries.check import check_checkpoint
    from .summaries.claude.summariser import Claude, Progress
    from .summaries.compaction import Transition, compact
    from .summaries.extractive.summariser import Extractive
    from .summaries.prompts import PROMPTS, write_prompt
    from .summaries.record import append_checkpoint, manifest_context
    from .summaries.store import open_earlier, save_transition
    from .summaries.write import from_text, write_up
    from .tokens.cost import Bill, break_even, price_session, price_steps
    from .tokens.counter import Counter
    from .tokens.counters import COUNTERS, find_counter
    from .tokens.ledger import Ledger, count_tokens
    from .tokens.prices import Money, Price, find_price
    from .wire.checks import check_context, check_request
    from .wire.context_management import context_management
    from .wire.render import render_request
    from .workbench.charts.decay import draw_decay
    from .workbench.page.export import Exported, export_html
    from .workbench.snapshot import Snapshot

__version__ = "0.1.0"

# A name's module is imported when the name is first asked for, so that importing the package costs nothing.
_HOMES = {
    "bundled": "open_bundled",
    "cuts": "CutPoint CutPoints find_cuts",
    "errors": (
        "AnswerRefused CounterError EditError EmptySession EscapeError FigureError FrameError InspectorError KeyMissing ManifestVersion OtherSession PatchError PlanError PolicyError PromptMissing ReadError RedactionError RequestRefused Stopped SummaryError WriteConflict"
    ),
    "facts.facts": "Fact Facts find_facts",
    "facts.fixes": "Fix find_fixes",
    "facts.focus": "write_focus",
    "facts.grounding": "ground_recorded",
    "facts.keep": "Keeping keep_facts",
    "facts.lint.check": "check",
    "facts.lint.findings": "CHECKS Finding Findings",
    "facts.regret": "Regret find_regret sum_regret",
    "facts.trace": "Trace Traced trace_facts trace_recorded",
    "files": "open_session save_session session_schema open_plan save_plan",
    "formats.readers": "READERS read_session",
    "formats.writers": "export_session",
    "jupyter.magic": "load_ipython_extension unload_ipython_extension",
    "jupyter.widget": "Workbench",
    "planning.assemble": "build_context live_context",
    "planning.context": "Context Piece",
    "planning.diff": "Diff diff_contexts diff_text patch",
    "planning.plan": "Plan make_plan",
    "planning.summary_jobs": "Checkpoint SummaryJob",
    "policies.custom_rule": "rule",
    "policies.events": "AuditEvent",
    "policies.harness": "Conduct",
    "policies.policy": "Edits Policy Rule Stage Target Trigger",
    "policies.registry": "POLICIES add_policy find_policy",
    "policies.rules": "add_rule list_rules",
    "replays.comparison": "Comparison compare_policies",
    "replays.decay": "Decay Fading compact_rounds measure_decay",
    "replays.engine": "replay",
    "replays.run": "Run",
    "replays.scenario": "Act Scenario Writer",
    "session.blocks": "Block BlockRef",
    "session.entries": "Boundary Entry Turn Usage",
    "session.session": "Session",
    "summaries.check": "check_checkpoint",
    "summaries.claude.summariser": "Claude Progress",
    "summaries.compaction": "Transition compact",
    "summaries.extractive.summariser": "Extractive",
    "summaries.prompts": "PROMPTS write_prompt",
    "summaries.record": "manifest_context append_checkpoint",
    "summaries.store": "open_earlier save_transition",
    "summaries.write": "from_text write_up",
    "tokens.cost": "Bill break_even price_session price_steps",
    "tokens.counter": "Counter",
    "tokens.counters": "COUNTERS find_counter",
    "tokens.ledger": "Ledger count_tokens",
    "tokens.prices": "Money Price find_price",
    "wire.checks": "check_context check_request render_request",
    "wire.context_management": "context_management",
    "workbench.charts.decay": "draw_decay",
    "workbench.page.export": "Exported export_html",
    "workbench.snapshot": "Snapshot",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = [
    "CHECKS",
    "COUNTERS",
    "POLICIES",
    "PROMPTS",
    "READERS",
    "Act",
    "AnswerRefused",
    "AuditEvent",
    "Bill",
    "Block",
    "BlockRef",
    "Boundary",
    "Checkpoint",
    "Claude",
    "Comparison",
    "Conduct",
    "Context",
    "Counter",
    "CounterError",
    "CutPoint",
    "CutPoints",
    "Decay",
    "Diff",
    "EditError",
    "Edits",
    "EmptySession",
    "Entry",
    "EscapeError",
    "Exported",
    "Extractive",
    "Fact",
    "Facts",
    "Fading",
    "FigureError",
    "Finding",
    "Findings",
    "Fix",
    "FrameError",
    "InspectorError",
    "Keeping",
    "KeyMissing",
    "Ledger",
    "ManifestVersion",
    "Money",
    "OtherSession",
    "PatchError",
    "Piece",
    "Plan",
    "PlanError",
    "Policy",
    "PolicyError",
    "Price",
    "Progress",
    "PromptMissing",
    "ReadError",
    "RedactionError",
    "Regret",
    "RequestRefused",
    "Rule",
    "Run",
    "Scenario",
    "Session",
    "Snapshot",
    "Stage",
    "Stopped",
    "SummaryError",
    "SummaryJob",
    "Target",
    "Trace",
    "Traced",
    "Transition",
    "Trigger",
    "Turn",
    "Usage",
    "Workbench",
    "WriteConflict",
    "Writer",
    "add_policy",
    "add_rule",
    "append_checkpoint",
    "break_even",
    "build_context",
    "check",
    "check_checkpoint",
    "check_context",
    "check_request",
    "compact",
    "compact_rounds",
    "compare_policies",
    "context_management",
    "count_tokens",
    "diff_contexts",
    "diff_text",
    "draw_decay",
    "export_html",
    "export_session",
    "find_counter",
    "find_cuts",
    "find_facts",
    "find_fixes",
    "find_policy",
    "find_price",
    "find_regret",
    "from_text",
    "ground_recorded",
    "keep_facts",
    "list_rules",
    "live_context",
    "make_plan",
    "manifest_context",
    "measure_decay",
    "open_bundled",
    "open_earlier",
    "open_plan",
    "open_session",
    "patch",
    "price_session",
    "price_steps",
    "read_session",
    "render_request",
    "replay",
    "rule",
    "save_plan",
    "save_session",
    "save_transition",
    "session_schema",
    "sum_regret",
    "trace_facts",
    "trace_recorded",
    "write_focus",
    "write_prompt",
    "write_up",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    return value


def _draw(value: Any, kind: str, *, dark: bool) -> Any:
    return import_module(f"{__name__}.workbench.charts.figures").draw_figure(value, kind, dark=dark)


def _find_facts(session: Any) -> Any:
    return import_module(f"{__name__}.facts.facts").find_facts(session)


def _trace_plan(plan: Any) -> Any:
    return import_module(f"{__name__}.facts.trace").trace_plan(plan)


_drawers.append(_draw)
_answers.update(facts=_find_facts, trace=_trace_plan)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    """Where a Jupyter server finds our routes."""
    return [{"module": "inspector.jupyter.server"}]


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    """Where JupyterLab finds our front end while it is developed."""
    return [{"src": "labextension", "dest": "context-inspector"}]
