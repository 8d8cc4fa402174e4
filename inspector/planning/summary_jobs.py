"""What a summariser is asked to write for a cut: the history, and a split turn's beginning apart.

The order and the limits are Flue's (FLUE §7, §10.3): a turn's beginning gets no previous summary, and a
history that is empty is not asked for. `Writing` holds what pi's versions do otherwise (FLUE §13.2-3).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from ..policies.pi_estimate import since_compaction
from ..policies.table import Summary, Table
from ..session.blocks import BlockRef, Chars, ToolCall, Value
from ..session.json_text import stringify
from ..session.session import Boundary, Entry, Session, Usage
from ..session.tree import Bools
from ..tokens.models import is_same

MARKER = "[Stand-in summary: no model was asked; these lines were copied from the session]"
OMITTED = "[… earlier lines left out to stay within the summary's length]"
SPLIT = "Earlier in the turn that the cut splits:"
NO_HISTORY = "No prior history."
TURN_CONTEXT = "\n\n---\n\n**Turn Context (split turn):**\n\n"
CONTEXT_MARKER = "[Context Summary]"
"""What Flue puts before a summary in the rebuilt context, unless it starts with it (FLUE §1.2)."""
PI_INTRODUCTION = "What was said before this point was summarised:"
"""Words of ours for the sentence that pi puts before a summary (FLUE §13.2), the same as its reader's."""
OUTPUT_UNITS = 2000
"""UTF-16 units of a tool's output that the summariser is shown (FLUE §10.1)."""

_SALIENT = ("path", "file_path", "command", "pattern", "query", "url", "notebook_path", "prompt")
_PREVIOUS_CHARS = 4000


class SummaryJob(Value):
    """One thing to be written up: entries in order, the blocks left out, and the length allowed.

    `max_tokens` None leaves the length to the model. `previous` is the text of the summary before, to be
    brought up to date; a turn's prefix gets none, and its `history` stands where no history is written.
    `reasoning` is the effort asked of a model that reasons, "session" for that of the session (FLUE §10.3).
    `thinking` shows the model's reasoning to the summariser; `whole_characters` never cuts inside one;
    `strict` takes a reply that was cut off, or that calls a tool, for a failure (FLUE §13.3).
    """

    kind: Literal["initial", "update", "turn_prefix"]
    entries: tuple[Chars, ...]
    leave_out: tuple[Chars, ...] = ()
    max_tokens: int | None
    previous: Chars | None = None
    history: Chars = NO_HISTORY
    reasoning: str = "high"
    thinking: bool = True
    whole_characters: bool = False
    strict: bool = False


class Reply(Value):
    """A summariser's answer to one job."""

    text: Chars = ""
    stop_reason: str = "stop"
    error: Chars | None = None
    usage: Usage | None = None


class Sealed(Value):
    """A compaction as its provider wrote it: it goes back first, unchanged, with `betas` (CLAUDE).

    Only so do models that bind reasoning to what stands before it take what was kept after it (§5, §8).
    `model` wrote it: any other is told its words alone.
    """

    block: dict[str, Any]
    betas: tuple[str, ...] = ()
    model: Chars | None = None

    @property
    def digest(self) -> str:
        """SHA-256 of the block; one in which anything was changed is not the provider's any more."""
        return sha256(stringify(self.block).encode("utf-8", "surrogatepass")).hexdigest()

    def told(self) -> dict[str, Any]:
        """What a boundary's `extra` holds of it."""
        told = {"block": self.block, "betas": list(self.betas), "sha256": self.digest}
        return {SEALED: told if self.model is None else {**told, "model": self.model}}

    def suits(self, model: str | None) -> bool:
        """Whether it can be sent to a model."""
        return self.model is None or model is None or is_same(self.model, model)


SEALED = "sealed"
"""Where a boundary's `extra` holds the provider's own block."""


def read_sealed(boundary: Boundary | None) -> Sealed | None:
    """The provider's own block of a recorded compaction; None where there is none, or it was changed."""
    told = boundary.extra.get(SEALED) if boundary is not None else None
    if not isinstance(told, dict) or not isinstance(told.get("block"), dict):
        return None
    betas, model = told.get("betas"), told.get("model")
    sealed = Sealed(
        block=told["block"],
        betas=tuple(filter(_is_text, betas)) if isinstance(betas, list) else (),
        model=model if _is_text(model) else None,
    )
    return sealed if sealed.digest == told.get("sha256") else None


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


class Checkpoint(Value):
    """A written summary. `error` tells why there is none. `by` names who wrote it.

    `covers` are the blocks it was written from, as references; `deterministic` says that the same blocks give
    the same text again. `sealed` is the provider's block, where the provider compacted. Whoever wrote it, it
    is untrusted text.
    """

    text: Chars = ""
    by: str = "model"
    usage: Usage | None = None
    error: Chars | None = None
    covers: tuple[Chars, ...] = ()
    deterministic: bool = False
    sealed: Sealed | None = None


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
    items = []
    thoughts = [block.text for block in entry.blocks if block.kind == "reasoning"]
    words = [block.text for block in entry.blocks if block.kind == "text"]
    calls = [block for block in entry.blocks if block.kind == "tool_call"]
    if thoughts and thinking:
        items.append("[Assistant thinking]: " + "\n".join(thoughts))
    if words:
        items.append("[Assistant]: " + "\n".join(words))
    if calls:
        items.append("[Assistant tool calls]: " + "; ".join(_call(call) for call in calls))
    return items


def _call(call: ToolCall) -> str:
    arguments = call.input.items() if isinstance(call.input, dict) else ()
    return f"{call.name}({', '.join(f'{key}={stringify(value)}' for key, value in arguments)})"


def _cut(text: str, whole: bool) -> str:
    if len(text) <= OUTPUT_UNITS // 2:
        return text
    units = text.encode("utf-16-le", "surrogatepass")
    excess = len(units) // 2 - OUTPUT_UNITS
    if excess <= 0:
        return text
    end = OUTPUT_UNITS * 2
    if whole and _is_half(units[end - 2 : end], 0xD8) and _is_half(units[end : end + 2], 0xDC):
        end -= 2
    head = units[:end].decode("utf-16-le", "surrogatepass")
    return f"{head}\n\n[... {excess} more characters truncated]"


def _is_half(unit: bytes, first: int) -> bool:
    """Whether a little-endian UTF-16 unit is the high (0xD8) or the low (0xDC) half of a pair."""
    return first <= unit[1] < first + 4


def request_text(session: Session, job: SummaryJob) -> str:
    """What the summariser is shown before its instructions (FLUE §10.2)."""
    text = f"<conversation>\n{job_text(session, job)}\n</conversation>\n\n"
    if job.previous:
        text += f"<previous-summary>\n{job.previous}\n</previous-summary>\n\n"
    return text


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


def write_checkpoint(jobs: Sequence[SummaryJob], replies: Sequence[Reply], appendix: str = "") -> Checkpoint:
    """Put the replies together as Flue does (FLUE §10.3).

    A reply that stopped in error fails the whole; a split turn without history says so in its place, or
    keeps the summary before, whichever its job says. Replies for several turns follow each other, set off by
    a blank line.
    """
    texts: dict[str, str] = {}
    history = ""
    used: list[Usage] = []
    for job, reply in zip(jobs, replies, strict=True):
        prefix = job.kind == "turn_prefix"
        if fault := _fault(job, reply):
            what = "Turn prefix summarization" if prefix else "Summarization"
            return Checkpoint(error=f"{what} failed: {fault}")
        if prefix:
            history = job.history
        name = "prefix" if prefix else "history"
        texts[name] = f"{texts[name]}\n\n{reply.text}" if name in texts else reply.text
        if reply.usage is not None:
            used.append(reply.usage)
    text = texts.get("history", history)
    if "prefix" in texts:
        text += TURN_CONTEXT + texts["prefix"]
    usage = None
    for item in used:
        usage = item if usage is None else usage + item
    return Checkpoint(text=text + appendix, usage=usage)


def _fault(job: SummaryJob, reply: Reply) -> str | None:
    if reply.stop_reason == "error":
        return reply.error or "Unknown error"
    if job.strict and reply.stop_reason == "length":
        return "the reply was cut off before its end"
    if job.strict and reply.stop_reason == "toolUse":
        return "the reply calls a tool"
    return None


def shown_summary(format: str, summary: str) -> str:
    """A written summary as the model is shown it in a session of that format."""
    if format == "pi":
        return f"{PI_INTRODUCTION}\n\n<summary>\n{summary}\n</summary>"
    if format == "flue" and not summary.startswith(CONTEXT_MARKER):
        return f"{CONTEXT_MARKER}\n\n{summary}"
    return summary


def extract_line(entry: Entry) -> str:
    """One line that stands for an entry in a stand-in summary; empty when it says nothing of its own.

    Users' and the model's words are cut short, calls keep their most telling argument, outputs only speak
    when they are errors, reasoning never does.
    """
    if entry.kind == "compaction":
        text = entry.text
        more = (
            f" [… {len(text) - _PREVIOUS_CHARS} characters left out]" if len(text) > _PREVIOUS_CHARS else ""
        )
        return _one_line("summary so far: " + text[:_PREVIOUS_CHARS] + more, _PREVIOUS_CHARS + 80)
    parts = []
    for block in entry.blocks:
        if block.kind == "text" and block.text.strip():
            parts.append(_one_line(block.text, 200 if entry.role == "user" else 120))
        elif block.kind == "tool_call":
            parts.append(f"called {describe_call(block)}")
        elif block.kind == "tool_output" and block.is_error:
            parts.append("failed: " + _one_line(block.text, 100))
    if not parts:
        return ""
    who = entry.role if entry.role in ("user", "assistant", "system") else "tool"
    return f"{who}: " + " · ".join(parts)


def describe_call(call: ToolCall) -> str:
    """A call in a few words: its name and its most telling argument.

    >>> describe_call(ToolCall(id="1", name="Read", input={"file_path": "src/a.py"}))
    'Read(src/a.py)'
    """
    if isinstance(call.input, dict):
        for name in _SALIENT:
            value = call.input.get(name)
            if isinstance(value, str) and value:
                return f"{call.name}({_one_line(value, 80)})"
    return f"{call.name}()"


def _one_line(text: str, limit: int) -> str:
    line = " ".join(text[: limit * 4].split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


Kind = Literal["initial", "update", "turn_prefix"]
Effort = Literal["high", "history", "session"]
"""How hard a summariser is to think: `high`, only for the history, or as in the session."""


@dataclass(frozen=True, eq=False)
class Writing(Summary):
    """A summary with what its jobs are told: the knobs of `rules/summarise_older.py`, named as there."""

    limited: bool = True
    effort: Effort = "high"
    thinking: bool = True
    whole_characters: bool = False
    keep_previous: bool = False
    strict: bool = False


def find_start(table: Table, rule: Any = None) -> int:
    """The first live position that is written up or kept.

    That is where the context begins after a recorded summary, unless the policy begins only after the last
    compaction (FLUE §13.2). `rule` is its walk; None asks the table for it.
    """
    how = getattr(rule if rule is not None else table.sibling("keep-recent-tokens"), "start", "kept")
    return since_compaction(table.session) if how == "compaction" else table.start


def list_jobs(
    table: Table, spec: Summary, place: int, split: int, summarised: Bools
) -> tuple[SummaryJob, ...]:
    """The jobs of a cut at `place`.

    `split` is where the turn begins that the cut splits, or -1. `summarised` (bool[m]) tells the blocks to
    be written up; older ones that are not, such as pins, are left out of their entry's text.

    Per turn there is one job for each older turn with anything to write up, and the first brings a summary
    before up to date; `write_checkpoint` puts their replies into one text, for one message.
    """
    session, live = table.session, table.live
    how = spec if isinstance(spec, Writing) else Writing(spec.max_tokens, spec.prefix_max_tokens)
    start = find_start(table)
    split = split if split >= start else -1
    names = [session.entries[i].id for i in live.entries.tolist()]
    left = np.flatnonzero((live.position < place) & ~summarised)
    by_entry: dict[int, list[str]] = {}
    for row, position in zip(left.tolist(), live.position[left].tolist(), strict=True):
        by_entry.setdefault(position, []).append(str(BlockRef(names[position], int(live.block[row]))))

    def job(kind: Kind, first: int, last: int, limit: int, previous: str | None) -> SummaryJob:
        effort = "session" if how.effort == "session" else "high"
        leave_out = tuple(ref for position in range(first, last) for ref in by_entry.get(position, ()))
        return SummaryJob(
            kind=kind,
            entries=tuple(names[first:last]),
            leave_out=leave_out,
            max_tokens=limit if how.limited else None,
            previous=previous,
            reasoning="" if how.effort == "history" and kind == "turn_prefix" else effort,
            thinking=how.thinking,
            whole_characters=how.whole_characters,
            strict=how.strict,
        )

    previous = _previous(session.entries[live.entries[0]]) if live.summary == 0 else None
    if spec.per_turn:
        told = [previous]
        spans = _find_turns(table, start, place, summarised) or [(start, place)]
        told += [None] * (len(spans) - 1)
        return tuple(
            job("update" if before else "initial", first, last, spec.max_tokens, before)
            for (first, last), before in zip(spans, told, strict=True)
        )
    history_end = place if split < 0 else split
    jobs = []
    if split < 0 or history_end > start:
        kind: Kind = "update" if previous else "initial"
        jobs.append(job(kind, start, history_end, spec.max_tokens, previous))
    if split >= 0:
        prefix = job("turn_prefix", split, place, spec.prefix_max_tokens, None)
        history = previous if how.keep_previous and previous is not None else NO_HISTORY
        jobs.append(prefix.model_copy(update={"history": history}))
    return tuple(jobs)


def _find_turns(table: Table, start: int, place: int, summarised: Bools) -> list[tuple[int, int]]:
    """Live positions (first, end) of each turn before `place` of which anything is written up."""
    turn = table.live.turn[start:place]
    bounds = [start, *(np.flatnonzero(np.diff(turn)) + start + 1).tolist(), place]
    written = set(table.live.position[summarised].tolist())
    return [(a, b) for a, b in pairwise(bounds) if any(at in written for at in range(a, b))]


def _previous(entry: Entry) -> str:
    told = entry.boundary.summary if entry.boundary is not None else None
    return told if told is not None else entry.text
