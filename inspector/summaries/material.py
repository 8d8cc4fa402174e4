"""The text of the entries that a summariser is given."""

from __future__ import annotations

from collections.abc import Iterable

from ..planning.summary_jobs import SummaryJob
from ..session.blocks import ToolCall
from ..session.entries import Entry
from ..session.json_text import stringify
from ..session.session import Session
from ..text import utf16_length, utf16_slice

OUTPUT_UNITS = 2000
"""UTF-16 units of a tool's output that the summariser is shown (FLUE §10.1)."""


def conversation_text(
    entries: Iterable[Entry], *, thinking: bool = True, whole_characters: bool = False
) -> str:
    """Entries as the summariser reads them (FLUE §10.1): items set off by a blank line.

    Images vanish; a tool's output over 2,000 UTF-16 units is cut there, even inside a surrogate pair unless
    characters are to stay whole; reasoning can be left out (FLUE §13.3).
    """
    return "\n\n".join(item for entry in entries for item in _items(entry, thinking, whole_characters))


def _items(entry: Entry, thinking: bool, whole: bool) -> list[str]:
    if entry.role == "user":
        text = "".join(block.text for block in entry.blocks if block.kind == "text")
        return [f"[User]: {text}"] if text else []
    if entry.role == "assistant":
        return _assistant_items(entry, thinking)
    if entry.role == "tool":
        text = "".join(block.text for block in entry.blocks if block.kind == "tool_output")
        return [f"[Tool result]: {_cut(text, whole)}"] if text else []
    return []


def _assistant_items(entry: Entry, thinking: bool) -> list[str]:
    thoughts = [block.text for block in entry.blocks if block.kind == "reasoning" and thinking]
    words = [block.text for block in entry.blocks if block.kind == "text"]
    calls = [_call(block) for block in entry.blocks if block.kind == "tool_call"]
    labels = "[Assistant thinking]: ", "[Assistant]: ", "[Assistant tool calls]: "
    items = zip(labels, ("\n", "\n", "; "), (thoughts, words, calls), strict=True)
    return [label + between.join(texts) for label, between, texts in items if texts]


def _call(call: ToolCall) -> str:
    arguments = call.input.items() if isinstance(call.input, dict) else ()
    return f"{call.name}({', '.join(f'{key}={stringify(value)}' for key, value in arguments)})"


def _cut(text: str, whole: bool) -> str:
    if len(text) <= OUTPUT_UNITS // 2:
        return text
    excess = utf16_length(text) - OUTPUT_UNITS
    if excess <= 0:
        return text
    head = utf16_slice(text, 0, OUTPUT_UNITS, whole)
    return f"{head}\n\n[... {excess} more characters truncated]"


def job_text(session: Session, job: SummaryJob) -> str:
    """The conversation a job is to write up."""
    entries = job_entries(session, job)
    return conversation_text(entries, thinking=job.thinking, whole_characters=job.whole_characters)


def job_entries(session: Session, job: SummaryJob) -> list[Entry]:
    """The entries of a job, without the blocks it leaves out."""
    left_out = set(job.leave_out)
    entries = []
    for name in job.entries:
        entry = session[name]
        if left_out:
            blocks = tuple(b for i, b in enumerate(entry.blocks) if f"{entry.id}/{i}" not in left_out)
            entry = entry.model_copy(update={"blocks": blocks})
        entries.append(entry)
    return entries
