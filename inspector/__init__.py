"""compaction-inspector: see, move and compare the cut of a context compaction.

session  = open_session("session.jsonl")
ledger   = count_tokens(session)
cuts     = find_cuts(session)
plan     = make_plan(session, ledger, "flue")
context  = build_context(session, plan)
rows     = diff_contexts(live_context(session, ledger), context)
run      = replay(session, "claude-code")
trace    = plan.trace
findings = lint(session, "flue")
table    = compare_policies(session)
Workbench(session)

Each package answers one question; `__init__.pyi` in this folder lists all names.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any
from warnings import warn

from lazy_loader import attach_stub

__version__ = "0.2.0"

# A name's module is imported when the name is first asked for, so that importing the package costs nothing.
_load, __dir__, __all__ = attach_stub(__name__, __file__)

# Names of 0.1 that were moved to a package or renamed. They are removed in 0.3.
_MOVED = {
    "cuts": "CutPoint CutPoints",
    "errors": "AnswerRefused CounterError EditError EmptySession EscapeError FigureError FrameError "
    "KeyMissing ManifestVersion OtherSession PlanError PolicyError PromptMissing ReadError "
    "RedactionError RequestRefused Stopped SummaryError WriteConflict",
    "facts": "Fact Fix Regret find_facts find_fixes ground_recorded trace_facts",
    "files": "session_schema",
    "formats": "READERS",
    "planning": "Diff",
    "policies": "AuditEvent POLICIES Stage Target add_rule list_rules",
    "replays": "Comparison Decay measure_decay",
    "session": "Boundary Turn",
    "summaries": "PROMPTS Progress append_checkpoint write_prompt",
    "tokens": "Bill COUNTERS Counter Money Price break_even find_counter find_price price_steps",
    "workbench": "Snapshot",
}
_RENAMED = {
    "Act": "replays.ScenarioEvent",
    "CHECKS": "LINT_CODES",
    "Claude": "ClaudeSummariser",
    "Conduct": "policies.Harness",
    "Exported": "workbench.ExportedPage",
    "Extractive": "ExtractiveSummariser",
    "Fading": "DecayLine",
    "Finding": "facts.lint.LintFinding",
    "Findings": "facts.lint.LintReport",
    "Keeping": "facts.KeepResult",
    "Traced": "facts.TracedFact",
    "Transition": "summaries.CompactionResult",
    "Writer": "replays.SimulatedSummariser",
    "check": "lint",
    "check_checkpoint": "summaries.check_summary",
    "from_text": "checkpoint_from_text",
    "open_bundled": "open_demo",
    "save_transition": "save_compaction",
    "write_up": "summarise",
}
_OLD = {name: f"{room}.{name}" for room, names in _MOVED.items() for name in names.split()} | _RENAMED


def __getattr__(name: str) -> Any:
    if name in __all__:
        return _load(name)
    if name not in _OLD:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warn(f"inspector.{name} is inspector.{_OLD[name]} from 0.2 on", DeprecationWarning, stacklevel=2)
    room, _, new = _OLD[name].rpartition(".")
    return getattr(import_module(f"{__name__}.{room}" if room else __name__), new)


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    """Return the server extension of this package, for Jupyter's discovery."""
    return [{"module": "inspector.jupyter.server"}]


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    """Where JupyterLab finds our front end while it is developed."""
    return [{"src": "labextension", "dest": "compaction-inspector"}]
