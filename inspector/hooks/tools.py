"""DOOR: four questions about a running session, as plain functions that an agent can call.

The MCP server offers them, and Jupyter AI finds them by the entry point `jupyter_server_mcp.tools`. Each
takes the id of a session; without one it takes the newest session of the folder. Nothing is written.
"""

from __future__ import annotations

from typing import Any

from .answers import RunningSession


def context_status(session: str = "") -> dict[str, Any]:
    """The size of the context, and in how many turns it is compacted."""
    return RunningSession(session).context_status()


def what_was_lost(session: str = "") -> dict[str, Any]:
    """The facts that the summary of the last compaction left out or changed."""
    return RunningSession(session).what_was_lost()


def pinned(session: str = "") -> dict[str, list[str]]:
    """The user's pins, and the rules that the user stated, word for word."""
    return RunningSession(session).pinned()


def find_in_history(question: str, most: int = 5, session: str = "") -> dict[str, Any]:
    """Find words in the part of the conversation that compactions replaced."""
    excerpts = RunningSession(session).find_in_history(question, most)
    note = "" if excerpts else "Nothing that was compacted away has these words."
    return {"excerpts": excerpts, "note": note}


TOOLS = (context_status, what_was_lost, pinned, find_in_history)


def list_tools() -> list[str]:
    """List the functions as `module:name`, as Jupyter's MCP server takes them.

    >>> list_tools()[0]
    'inspector.hooks.tools:context_status'
    """
    return [f"{tool.__module__}:{tool.__name__}" for tool in TOOLS]
