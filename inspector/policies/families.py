"""The built-in policies by the system that they belong to, as the list of policies shows them."""

from __future__ import annotations

from typing import NamedTuple

AGENTS, LIBRARIES = "agents", "libraries"


class Family(NamedTuple):
    """Policies of one system, the simplest first; `formats` are the formats of the files that it writes."""

    group: str
    policies: tuple[str, ...]
    formats: tuple[str, ...] = ()


FAMILIES = (
    Family(AGENTS, ("claude-code", "claude-code-analysis"), ("claude-code",)),
    Family(AGENTS, ("flue",), ("flue",)),
    Family(AGENTS, ("flue-2",), ("flue",)),
    Family(AGENTS, ("pi",), ("pi",)),
    Family(AGENTS, ("codex",), ("codex",)),
    Family(AGENTS, ("opencode",), ("opencode",)),
    Family(AGENTS, ("cline", "cline-basic"), ("cline",)),
    Family(AGENTS, ("gemini-cli",), ("gemini-cli",)),
    Family(AGENTS, ("deepseek-harness", "deepseek-harness-pruner")),
    Family(AGENTS, ("openhands",), ("openhands",)),
    Family(AGENTS, ("mini-claude-code", "mini-claude-code-compat"), ("mini-claude-code",)),
    Family(
        AGENTS,
        ("stud-wiki-1.1", "stud-wiki-deterministic", "stud-warning", "stud-merged"),
        ("stud", "stud-cli"),
    ),
    Family(LIBRARIES, ("anthropic-context-editing",)),
    Family(LIBRARIES, ("ai-sdk-prune",)),
    Family(LIBRARIES, ("openai-agents-compaction", "openai-agents-server", "openai-agents-trimmer")),
    Family(LIBRARIES, ("langchain-summarization", "langchain-trim", "langchain-clear"), ("langchain",)),
    Family(LIBRARIES, ("deepagents",)),
    Family(LIBRARIES, ("strands-sliding-window", "strands-summarizing", "strands-context-manager")),
    Family(LIBRARIES, ("adk-tokens", "adk-window")),
    Family(LIBRARIES, ("agent-framework", "agent-framework-summary")),
    Family(LIBRARIES, ("agno-compaction", "agno-compression")),
    Family(LIBRARIES, ("haystack-window", "haystack-pruning", "haystack-summary")),
    Family(LIBRARIES, ("crewai",)),
    Family(LIBRARIES, ("mastra-token-limiter", "mastra-tool-call-filter")),
    Family(LIBRARIES, ("inspect-edit", "inspect-trim"), ("inspect",)),
    Family(LIBRARIES, ("keep-recent-turns",)),
)
"""In the order of the screen; `POLICIES` has its own, the plainest first. A policy in no family is
listed as the user's own."""
