"""The package's public names, wherever they live: under the new name and home, else under the old one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any


def find(*places: str) -> Any:
    """The first public name that is there, each given as "module:name" below the package, the newest first.

    >>> find("tokens:count_tokens", ":count_tokens").__name__
    'count_tokens'
    """
    for place in places:
        room, _, name = place.partition(":")
        try:
            value = getattr(import_module(f"inspector.{room}" if room else "inspector"), name)
        except (ImportError, AttributeError):
            continue
        # A module that has the name of a function in it is not what was asked for.
        if not isinstance(value, ModuleType):
            return value
    raise ImportError(f"no such public name: {' or '.join(places)}")


class Names:
    """The package's public names, each looked up when it is first asked for."""

    HOMES: Mapping[str, tuple[str, ...]] = {
        "InspectorError": (":InspectorError",),
        "POLICIES": ("policies:POLICIES", ":POLICIES"),
        "PROMPTS": ("summaries:PROMPTS", ":PROMPTS"),
        "READERS": ("formats:READERS", ":READERS"),
        "LINT_CODES": (":LINT_CODES", "facts.lint:LINT_CODES", ":CHECKS"),
        "append_checkpoint": ("summaries:append_checkpoint", ":append_checkpoint"),
        "break_even": ("tokens:break_even", ":break_even"),
        "build_context": (":build_context",),
        "check_context": (":check_context",),
        "check_summary": ("summaries:check_summary", "summaries:check_checkpoint", ":check_checkpoint"),
        "checkpoint_from_text": (":checkpoint_from_text", ":from_text"),
        "compact": (":compact", "summaries.compact:compact"),
        "compact_rounds": (":compact_rounds",),
        "compare_policies": (":compare_policies",),
        "context_management": (":context_management",),
        "count_tokens": (":count_tokens",),
        "diff_contexts": (":diff_contexts",),
        "diff_text": ("planning:diff_text", ":diff_text"),
        "export_session": (":export_session",),
        "find_counter": ("tokens:find_counter", ":find_counter"),
        "find_cuts": (":find_cuts",),
        "find_facts": ("facts:find_facts", ":find_facts"),
        "find_fixes": ("facts:find_fixes", ":find_fixes"),
        "find_price": ("tokens:find_price", ":find_price"),
        "find_regret": (":find_regret",),
        "ground_recorded": ("facts:ground_recorded", ":ground_recorded"),
        "keep_facts": (":keep_facts",),
        "lint": (":lint", "facts.lint.check:lint", ":check"),
        "list_rules": ("policies:list_rules", ":list_rules"),
        "live_context": (":live_context",),
        "make_plan": (":make_plan",),
        "measure_decay": ("replay:measure_decay", ":measure_decay"),
        "open_demo": (":open_demo", ":open_bundled"),
        "open_plan": (":open_plan",),
        "open_session": (":open_session",),
        "patch_context": (":patch_context", ":patch"),
        "price_session": (":price_session",),
        "price_steps": ("tokens:price_steps", ":price_steps"),
        "read_session": (":read_session",),
        "render_request": (":render_request",),
        "replay": (":replay", "replay.engine:replay"),
        "save_plan": (":save_plan",),
        "save_session": (":save_session",),
        "session_schema": ("files:session_schema", ":session_schema"),
        "stored_context": ("summaries:stored_context", ":stored_context", ":manifest_context"),
        "sum_regret": (":sum_regret",),
        "summarise": (":summarise", ":write_up"),
        # No facade has it, but every session has a history.
        "trace_history": ("tokens:trace_history", "tokens.history:trace_history", "history:trace_history"),
        "trace_recorded": (":trace_recorded",),
        "write_focus": (":write_focus",),
        "write_prompt": ("summaries:write_prompt", ":write_prompt"),
    }

    def __getattr__(self, name: str) -> Any:
        if name not in self.HOMES:
            raise AttributeError(name)
        value = self.__dict__[name] = find(*self.HOMES[name], f":{name}")
        return value


api = Names()


def attempt(work: Callable[[], Any]) -> Any:
    """What comes of it, or the sentence with which the package refuses it."""
    try:
        return work()
    except api.InspectorError as error:
        return {"refused": str(error)}
