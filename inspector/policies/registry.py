"""Published strategies, one file each: data built from rules, citing their source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from difflib import get_close_matches
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from ..errors import PolicyError, expect
from ..mixins import Framed
from ..text import html_table, printed
from .builtin import (
    ai_sdk,
    anthropic_context_editing,
    claude_code,
    claude_code_analysis,
    cline,
    codex,
    crewai,
    deepagents,
    deepseek_harness,
    flue,
    flue_2,
    frameworks,
    gemini_cli,
    inspect_ai,
    keep_recent_turns,
    langchain,
    mini_claude_code,
    openai_agents,
    opencode,
    openhands,
    pi,
    recorded,
    strands,
    stud,
)
from .core import SWITCHES
from .harness import BUNDLED, TOOL
from .policy import Policy, read_policy, rename_settings
from .settings_file import read_settings

POLICIES: tuple[Policy, ...] = (
    keep_recent_turns.KEEP_RECENT_TURNS,
    flue.FLUE,
    flue_2.FLUE_2,
    pi.PI,
    mini_claude_code.MINI_CLAUDE_CODE,
    mini_claude_code.MINI_CLAUDE_CODE_COMPAT,
    langchain.LANGCHAIN_SUMMARIZATION,
    langchain.LANGCHAIN_TRIM,
    langchain.LANGCHAIN_CLEAR,
    inspect_ai.INSPECT_EDIT,
    inspect_ai.INSPECT_TRIM,
    openhands.OPENHANDS,
    codex.CODEX,
    gemini_cli.GEMINI_CLI,
    stud.STUD_WIKI,
    stud.STUD_DETERMINISTIC,
    stud.STUD_WARNING,
    stud.STUD_MERGED,
    claude_code.CLAUDE_CODE,
    claude_code_analysis.CLAUDE_CODE_ANALYSIS,
    anthropic_context_editing.ANTHROPIC_CONTEXT_EDITING,
    ai_sdk.AI_SDK_PRUNE,
    opencode.OPENCODE,
    openai_agents.OPENAI_AGENTS_TRIMMER,
    openai_agents.OPENAI_AGENTS_COMPACTION,
    openai_agents.OPENAI_AGENTS_SERVER,
    deepagents.DEEPAGENTS,
    cline.CLINE,
    cline.CLINE_BASIC,
    strands.STRANDS_SUMMARIZING,
    strands.STRANDS_SLIDING_WINDOW,
    strands.STRANDS_CONTEXT_MANAGER,
    deepseek_harness.DEEPSEEK_HARNESS,
    deepseek_harness.DEEPSEEK_HARNESS_PRUNER,
    crewai.CREWAI,
    ai_sdk.MASTRA_TOOL_CALL_FILTER,
    frameworks.MASTRA_TOKEN_LIMITER,
    frameworks.ADK_TOKENS,
    frameworks.ADK_WINDOW,
    frameworks.AGNO_COMPACTION,
    frameworks.AGNO_COMPRESSION,
    frameworks.HAYSTACK_WINDOW,
    frameworks.HAYSTACK_PRUNING,
    frameworks.HAYSTACK_SUMMARY,
    frameworks.AGENT_FRAMEWORK,
    frameworks.AGENT_FRAMEWORK_SUMMARY,
)
"""Every built-in policy, the plainest first."""


GROUP = "inspector.policies"
_own: dict[str, Policy] = {}


@cache
def _from_packages() -> tuple[Policy, ...]:
    """The policies of other packages; a package that cannot be loaded, or has no policy, is left out."""
    policies = []
    for point in entry_points(group=GROUP):
        try:
            policy = point.load()
        except Exception:
            continue
        if isinstance(policy, Policy):
            policies.append(policy)
    return tuple(policies)


class PolicyList(tuple[Policy, ...], Framed):
    """Policies in order, shown by harness with the version and the source of each.

    >>> [row["version"] for row in list_policies().to_dicts() if row["policy"] == "opencode"]
    ['1.18.33']
    """

    __slots__ = ()

    def to_columns(self) -> dict[str, list[str]]:
        """Return harness, policy, version and source as columns."""
        rows = [
            (harness, policy.name, policy.version, policy.source)
            for harness, policies in self.by_harness().items()
            for policy in policies
        ]
        return {
            name: [row[at] for row in rows]
            for at, name in enumerate(("harness", "policy", "version", "source"))
        }

    @printed
    def __repr__(self) -> str:
        rows = [
            *zip(*(column for name, column in self.to_columns().items() if name != "source"), strict=True)
        ]
        return "\n".join(f"{harness:28}  {name:36}  {version}".rstrip() for harness, name, version in rows)

    def by_harness(self) -> dict[str, tuple[Policy, ...]]:
        """Group the policies by harness: its name is the beginning of its policies' titles.

        >>> [(policy.name, policy.version) for policy in list_policies().by_harness()["Cline"]]
        [('cline', '0.0.86'), ('cline-basic', '0.0.86')]
        """
        groups: dict[str, list[Policy]] = {}
        for policy in self:
            groups.setdefault((policy.title or policy.name).partition(",")[0], []).append(policy)
        return {harness: tuple(policies) for harness, policies in groups.items()}

    def _repr_html_(self) -> str:
        columns = self.to_columns()
        return html_table(tuple(columns), [*zip(*columns.values(), strict=True)])


def list_policies() -> PolicyList:
    """Every policy: the built-in ones, those of other packages, and the user's own.

    >>> [policy.version for policy in list_policies() if policy.name in ("opencode", "deepagents")]
    ['1.18.33', '0.7.32']
    """
    return PolicyList((*POLICIES, *_from_packages(), *_own.values()))


def add_policy(policy: Policy | dict[str, Any]) -> Policy:
    """Make a policy known by its name for as long as this process runs; its own earlier form is replaced.

    Then its name is accepted for a policy everywhere, and the workbench lists it. Raises `PolicyError` for a
    policy that cannot be read or has the name of a built-in one.

    >>> mine = find_policy("keep-recent-turns").configured({"keep-recent-turns.turns": 2})
    >>> added = add_policy(mine.model_copy(update={"name": "keep-two-turns", "title": "Keep two turns"}))
    >>> find_policy("keep-two-turns") == added
    True
    """
    added = find_policy(policy)
    if any(added.name == builtin.name for builtin in (*POLICIES, recorded.RECORDED)):
        raise PolicyError(added.name, "a built-in policy has this name")
    _own[added.name] = added
    return added


def name_policy(policy: Policy | dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """A name and settings that stand for a policy: those that it differs by from the published one of its
    name.

    If no settings make it, as for one with other stages, it is made known by a name of its own.

    >>> name_policy(find_policy("flue").configured({"trigger.reserve_tokens": 9_000}))
    ('flue', {'trigger.reserve_tokens': 9000})
    """
    given = find_policy(policy)
    published = (*POLICIES, *_from_packages(), recorded.RECORDED)
    settings = find_settings(given, published)
    if settings is not None:
        return given.name, settings
    if any(known.name == given.name for known in published):
        given = given.model_copy(update={"name": f"{given.name}-edited"})
    return add_policy(given).name, {}


def find_settings(changed: Policy, policies: Iterable[Policy]) -> dict[str, Any] | None:
    """Return the settings that make a policy of the one among `policies` with its name; None if none do."""
    published = next((policy for policy in policies if policy.name == changed.name), None)
    if published is None:
        return None
    former = {part.kind: part.model_dump(mode="json") for part in published.parts}
    settings: dict[str, Any] = {}
    for part in changed.parts:
        before = former.get(part.kind, {})
        fields = part.model_dump(mode="json", exclude={"kind"})
        settings |= {
            f"{part.kind}.{name}": value
            for name, value in fields.items()
            if name not in before or before[name] != value
        }
    with suppress(PolicyError):
        return settings if configure_policy(published, settings) == changed else None
    return None


def names_of_policies() -> list[str]:
    """All policies' names, in order."""
    return [policy.name for policy in list_policies()]


def find_policy(
    policy: str | Policy | dict[str, Any], *, settings: str | Mapping[str, str] | None = None
) -> Policy:
    """A policy by name, as it is, or from its JSON form: the parsed object, not its text.

    `settings` is the text of a settings.json, or several by their names in ascending priority: their
    thresholds are set on top. Raises `PolicyError` if there is no such policy, with the nearest name, and for
    a bad value in a settings file.

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
        custom = read_policy(policy)
        # A policy that names a tool and has no rules itself has the rules of its tool.
        bare = not custom.rules and custom.harness.tool is not None
        return swap_tool(custom, custom.harness.engine) if bare else custom
    every: tuple[Policy, ...] = (*list_policies(), recorded.RECORDED)
    for candidate in every:
        if candidate.name == policy:
            return candidate
    if policy.lstrip()[:1] in ("{", "["):
        return read_policy(policy)  # raises an error about text
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
    base, settings = find_policy(policy), rename_settings(settings)
    if "harness.engine" in settings:
        requested = base.configured({"harness.engine": settings["harness.engine"]}).harness
        if requested.tool is not None and requested.engine != base.harness.engine:
            base = swap_tool(base, requested.engine)
    return base.configured(settings)


def find_tool(engine: str) -> Policy:
    """Return the policy with the rules of the compaction tool that an engine names (S1-35, S1-36).

    "tool:context-compaction" is the bundled tool; every other tool has the name of a policy. How a summary
    is written, by a model or by extraction, is not a tool: it is the summariser of `compact`. Raises
    `PolicyError`, which lists the tools, if the engine is not a tool, or if the tool is unknown.

    >>> find_tool("tool:context-compaction").name, find_tool("tool:flue").name
    ('stud-warning', 'flue')
    """
    if engine == BUNDLED:
        return stud.STUD_WARNING
    tools = {f"{TOOL}{policy.name}": policy for policy in list_policies()}
    if engine not in tools:
        raise PolicyError(f"{engine:.60}", "no such tool", [BUNDLED, *tools])
    return tools[engine]


def swap_tool(policy: str | Policy | dict[str, Any], engine: str) -> Policy:
    """The policy with another compaction tool in its own tool's place: how it compacts, not when (S1-36).

    `engine` is "tool:" and the name of a policy, or that name.

    Raises `PolicyError` where core compacts, which nothing replaces (S0-4, S0-68), and as `find_tool` does.

    >>> swap_tool("stud-warning", "claude-code").harness.engine
    'tool:claude-code'
    """
    policy = policy if isinstance(policy, Policy) else find_policy(policy)
    engine = engine if engine.startswith(TOOL) else f"{TOOL}{engine}"
    if policy.harness.engine == "core":
        raise PolicyError(policy.name, "core compaction cannot be replaced; its modes can be set", SWITCHES)
    tool = find_tool(engine)
    harness = policy.harness.model_copy(update={"engine": engine})
    update = {"harness": harness, "rules": tool.rules, "stages": tool.stages, "target": tool.target}
    return policy.model_copy(update={**update, "source": f"{policy.source}; {engine}".lstrip("; ")})
