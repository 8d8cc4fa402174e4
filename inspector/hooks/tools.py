"""I/O: four questions about a running session, as plain functions that an agent can call.

The MCP server offers them, and Jupyter AI finds them by the entry point `jupyter_server_mcp.tools`. Each
takes a session's id, or the newest session of the folder. Nothing is written; secrets are redacted.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from ..text import printable
from .context_status import estimate_status
from .report import find_lost
from .running_session import RunningSession
from .snapshot import clean_line, find_rules
from .state import read_pins

_AROUND, _MOST_EXCERPT, _MOST_FOUND = 20_000, 500, 10


def context_status(session: str = "") -> dict[str, Any]:
    """The size of the context, and in how many turns it is compacted."""
    running = RunningSession(session)
    status = estimate_status(running.read(), os.environ)
    return {"session": running.session, **status._asdict(), "line": status.line()}


def what_was_lost(session: str = "") -> dict[str, Any]:
    """The facts that the summary of the last compaction left out or changed."""
    running = RunningSession(session)
    if report := running.state.read("report.json"):
        return {"session": running.session, "lost": find_lost(report), "items": report["items"]}
    lost = list(_trace_last(running.path)) if running.read().boundary >= 0 else None
    note = "The session has no compaction." if lost is None else "No hook ran; read from the file."
    return {"session": running.session, "note": note, "lost": lost or [], "items": lost or []}


def pinned(session: str = "") -> dict[str, list[str]]:
    """The user's pins, and the rules that the user stated, word for word."""
    running = RunningSession(session)
    rules = map(clean_line, find_rules(running.read()))
    return {"pins": read_pins(str(running.snapshot.get("cwd") or running.folder)), "rules": list(rules)}


def find_in_history(question: str, most: int = 5, session: str = "") -> dict[str, Any]:
    """Find words in the part of the conversation that compactions replaced.

    A text with all words next to each other comes first; at most 10 excerpts, each with its line of the file.
    """
    from ..files import open_session

    history = open_session(RunningSession(session).path)
    words = list(dict.fromkeys(re.findall(r"[\w./-]+", question.casefold())))
    ends = [history.index[name] for name, boundary in history.boundaries if boundary.kind == "compact"]
    live, end = set(history.live.entries.tolist()), max(ends, default=0) if words else 0
    folded, matches = question.casefold().strip(), list[tuple[float, int, int, str]]()
    for number, entry in enumerate(history.entries[:end]):
        for index, block in enumerate(() if number in live or entry.boundary else entry.blocks):
            text = block.text.casefold()
            share = sum(word in text for word in words) / len(words)
            if share >= 0.5:
                matches.append((share + (folded in text), number, index, block.text))
    excerpts = dict[str, dict[str, Any]]()
    for share, number, index, text in sorted(matches, key=lambda match: (-match[0], -match[1])):
        if len(excerpts) < min(max(most, 1), _MOST_FOUND) and (part := _cut_excerpt(text, folded, words)):
            entry = history.entries[number]
            # A message may have several rows. The last blocks have one each.
            rows = entry.sources[max(0, len(entry.sources) - len(entry.blocks) + index) :]
            line, time = rows[0].line if rows else None, entry.timestamp or ""
            about = {"line": line, "role": entry.role, "time": time, "share": min(share, 1.0)}
            excerpts.setdefault(part, {**about, "excerpt": part})
    note = "" if excerpts else "Nothing that was compacted away has these words."
    return {"excerpts": list(excerpts.values()), "note": note}


TOOLS = (context_status, what_was_lost, pinned, find_in_history)


def list_tools() -> list[str]:
    """List the functions as `module:name`, as Jupyter's MCP server takes them.

    >>> list_tools()[0]
    'inspector.hooks.tools:context_status'
    """
    return [f"{tool.__module__}:{tool.__name__}" for tool in TOOLS]


def _trace_last(path: Path) -> Iterator[dict[str, str]]:
    """Yield what the last recorded compaction of a file lost, in the form of a report's items."""
    from ..facts.lint.check import find_losses
    from ..facts.trace import trace_recorded
    from ..files import open_session

    session = open_session(path)
    for trace in trace_recorded(session)[-1:]:
        for traced in chain(*find_losses(trace, session).values()):
            kind = "rule" if traced.fact.kind == "constraint" else traced.fact.kind
            text, words = clean_line(traced.fact.form), clean_line(traced.words)
            yield {"kind": kind, "text": text, "outcome": traced.outcome, "words": words}


def _cut_excerpt(text: str, question: str, words: list[str]) -> str:
    """Return the part of a text around the words, redacted first; "" if they are in a secret."""
    from ..redaction.cut import redact_text

    folded = text.casefold()
    at = max(folded.find(question), min((at for word in words if (at := folded.find(word)) >= 0), default=0))
    start = max(0, at - _AROUND)
    text = redact_text(text[start : at + _AROUND])
    folded = text.casefold()
    places = [at for word in (question, *words) if (at := folded.find(word)) >= 0]
    if not places:
        return ""
    start = max(0, places[0] - _MOST_EXCERPT // 3)
    part = text[start : start + _MOST_EXCERPT]
    return printable(f"{'…' * (start > 0)}{part.strip()}{'…' * (start + len(part) < len(text))}")
