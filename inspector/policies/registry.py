"""Published strategies, one file each: data built from rules, citing their source."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from ..errors import PolicyError, expect
from ..text import html_table
from .builtin.ai_sdk import AI_SDK_PRUNE, MASTRA_TOOL_CALL_FILTER
from .builtin.anthropic_context_editing import ANTHROPIC_CONTEXT_EDITING
from .builtin.claude_code import CLAUDE_CODE
from .builtin.cline import CLINE
from .builtin.codex import CODEX
from .builtin.crewai import CREWAI
from .builtin.deepagents import DEEPAGENTS
from .builtin.deepseek_harness import DEEPSEEK_HARNESS, DEEPSEEK_HARNESS_PRUNER
from .builtin.flue import FLUE
from .builtin.flue_2 import FLUE_2
from .builtin.gemini_cli import GEMINI_CLI
from .builtin.inspect_ai import INSPECT_EDIT, INSPECT_TRIM
from .builtin.keep_recent_turns import KEEP_RECENT_TURNS
from .builtin.langchain import LANGCHAIN_CLEAR, LANGCHAIN_SUMMARIZATION, LANGCHAIN_TRIM
from .builtin.mini_claude_code import MINI_CLAUDE_CODE, MINI_CLAUDE_CODE_COMPAT
from .builtin.openai_agents import OPENAI_AGENTS_COMPACTION, OPENAI_AGENTS_SERVER, OPENAI_AGENTS_TRIMMER
from .builtin.opencode import OPENCODE
from .builtin.openhands import OPENHANDS
from .builtin.pi import PI
from .builtin.recorded import RECORDED
from .builtin.strands import STRANDS_SUMMARIZING
from .builtin.stud import STUD_DETERMINISTIC, STUD_MERGED, STUD_WARNING, STUD_WIKI
from .core import SWITCHES
from .harness import BUNDLED, TOOL
from .policy import Policy, read_policy, rename_settings
from .settings_file import read_settings

POLICIES: tuple[Policy, ...] = (
    KEEP_RECENT_TURNS,
    FLUE,
    FLUE_2,
    PI,
    MINI_CLAUDE_CODE,
    MINI_CLAUDE_CODE_COMPAT,
    LANGCHAIN_SUMMARIZATION,
    LANGCHAIN_TRIM,
    LANGCHAIN_CLEAR,
    INSPECT_EDIT,
    INSPECT_TRIM,
    OPENHANDS,
    CODEX,
    GEMINI_CLI,
    STUD_WIKI,
    STUD_DETERMINISTIC,
    STUD_WARNING,
    STUD_MERGED,
    CLAUDE_CODE,
    ANTHROPIC_CONTEXT_EDITING,
    AI_SDK_PRUNE,
    OPENCODE,
    OPENAI_AGENTS_TRIMMER,
    OPENAI_AGENTS_COMPACTION,
    OPENAI_AGENTS_SERVER,
    DEEPAGENTS,
    CLINE,
    STRANDS_SUMMARIZING,
    DEEPSEEK_HARNESS,
    DEEPSEEK_HARNESS_PRUNER,
    CREWAI,
    MASTRA_TOOL_CALL_FILTER,
)
"""Every built-in policy, the plainest first."""


GROUP = "inspector.policies"
_own: dict[str, Policy] = {}


@cache
def _from_packages() -> tuple[Policy, ...]:
    """What other packages bring; a package that cannot be loaded, or brings no policy, is left out."""
    policies = []
    for point in entry_points(group=GROUP):
        try:
            policy = point.load()
        except Exception:
            continue
        if isinstance(policy, Policy):
            policies.append(policy)
    return tuple(policies)


class PolicyList(tuple[Policy, ...]):
    """Policies in order. A notebook shows them as a table with the version and the source of each."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        rows = [(policy.name, policy.version, policy.source) for policy in self]
        return html_table(("policy", "version", "source"), rows)


def list_policies() -> PolicyList:
    """Every policy: the built-in ones, those of other packages, and those of one's own.

    >>> [policy.version for policy in list_policies() if policy.name in ("opencode", "deepagents")]
    ['1.18.33', '0.7.32']
    """
    return PolicyList((*POLICIES, *_from_packages(), *_own.values()))


def add_policy(policy: Policy | dict[str, Any]) -> Policy:
    """Make a policy known by its name for as long as this process runs; its own earlier form is replaced.

    Then it can be named wherever a policy is, and stands in the workbench's picker. Raises `PolicyError`
    for a policy that cannot be read or has the name of a built-in one.

    >>> mine = find_policy("keep-recent-turns").configured({"keep-recent-turns.turns": 2})
    >>> added = add_policy(mine.model_copy(update={"name": "keep-two-turns", "title": "Keep two turns"}))
    >>> find_policy("keep-two-turns") == added
    True
    """
    added = find_policy(policy)
    if any(added.name == known.name for known in (*POLICIES, RECORDED)):
        raise PolicyError(added.name, "a built-in policy has this name")
    _own[added.name] = added
    return added


def names_of_policies() -> list[str]:
    """All policies' names, in order."""
    return [policy.name for policy in list_policies()]


def find_policy(
    policy: str | Policy | dict[str, Any], *, settings: str | Mapping[str, str] | None = None
) -> Policy:
    """A policy by name, as it is, or from its JSON form: the parsed object, not its text.

    `settings` is the text of a settings.json, or several by their names, the one that stands over the others
    last: the thresholds in them are set on top. Raises `PolicyError` when there is no such policy, with the
    name that is nearest, and naming a bad value in a settings file.

    >>> find_policy("flue").trigger.reserve_tokens, find_policy({"name": "mine", "rules": []}).rules
    (16384, ())
    >>> find_policy("stud-warning", settings='{"compaction": {"warn": 0.7}}').harness.warn
    0.7
    """
    if settings is not None:
        texts = {"settings": settings} if isinstance(settings, str) else settings
        return find_policy(policy).configured(read_settings(texts)).settled()
    if isinstance(policy, Policy):
        return policy.settled()
    if not isinstance(policy, str):
        expect("find_policy", policy=(policy, str, Policy, Mapping))
        return _take_rules(read_policy(policy))
    every: tuple[Policy, ...] = (*list_policies(), RECORDED)
    for known in every:
        if known.name == policy:
            return known
    if policy.lstrip()[:1] in ("{", "["):
        return read_policy(policy)  # which says that this is text
    names = names_of_policies()
    near = "".join(f" (did you mean {name!r}?)" for name in get_close_matches(policy, names, 1))
    raise PolicyError(f"{policy:.60}", f"no such policy{near}", names)


def configure_policy(policy: str | Policy | dict[str, Any], settings: dict[str, Any]) -> Policy:
    """A policy, found, with settings "<kind>.<knob>" applied.

    A setting "harness.engine" that names another tool brings that tool's rules along. Raises `PolicyError` as
    `find_policy`, `Policy.configured` and `swap_tool` do.

    >>> one = configure_policy("stud-warning", {"harness.engine": "tool:flue"})
    >>> one.harness.engine, one.rules == find_policy("flue").rules
    ('tool:flue', True)
    """
    found, settings = find_policy(policy), rename_settings(settings)
    if "harness.engine" in settings:
        wanted = found.configured({"harness.engine": settings["harness.engine"]}).harness
        if wanted.tool is not None and wanted.engine != found.harness.engine:
            found = swap_tool(found, wanted.engine)
    return found.configured(settings)


def find_tool(engine: str) -> Policy:
    """The policy whose rules the tool that an engine names compacts by (S1-35, S1-36).

    "tool:context-compaction" is the one that is bundled; every other tool has the name of a policy. Raises
    `PolicyError` for an engine that is no tool, and a tool that is not known.

    >>> find_tool("tool:context-compaction").name, find_tool("tool:flue").name
    ('stud-warning', 'flue')
    """
    if engine == BUNDLED:
        return STUD_WARNING
    known = {f"{TOOL}{policy.name}": policy for policy in list_policies()}
    if engine not in known:
        raise PolicyError(f"{engine:.60}", "no such tool", [BUNDLED, *known])
    return known[engine]


def swap_tool(policy: Policy, engine: str) -> Policy:
    """The policy with another compaction tool in its own tool's place: how it compacts, not when (S1-36).

    Raises `PolicyError` where core compacts, which nothing replaces (S0-4, S0-68), and as `find_tool` does.

    >>> swap_tool(find_policy("stud-warning"), "tool:claude-code").trigger.enabled
    False
    """
    if policy.harness.engine == "core":
        raise PolicyError(policy.name, "core compaction cannot be replaced; its modes can be set", SWITCHES)
    tool = find_tool(engine)
    harness = policy.harness.model_copy(update={"engine": engine})
    update = {"harness": harness, "rules": tool.rules, "stages": tool.stages, "target": tool.target}
    return policy.model_copy(update={**update, "source": f"{policy.source}; {engine}".lstrip("; ")})


def _take_rules(policy: Policy) -> Policy:
    """A policy that names a tool and no rules of its own compacts by the tool's."""
    return policy if policy.rules or policy.harness.tool is None else swap_tool(policy, policy.harness.engine)
