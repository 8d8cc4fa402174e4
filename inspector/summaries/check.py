"""Check a written summary: list its faults, each with a sentence.

Takes a `Checkpoint` and the plan it was written for, and returns a `SummaryCheck`. A summary is always
untrusted text: no finding changes that, and none prevents its use. No model is called: grounding is string
presence, and sections are recognised by their headings.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

from ..facts.grounding import UngroundedLine, ground_plan
from ..planning.plan import Plan
from ..planning.summary_jobs import TURN_CONTEXT, Checkpoint, SummaryJob
from ..redaction.cut import cut_text
from ..text import printed
from .prompts import SECTIONS, TURN_SECTIONS
from .write import carried_files

Kind = Literal["error", "empty", "size", "sections", "reasoning", "marks", "grounding"]
TRUST = "untrusted"
"""The trust level of every summary (S0-115)."""

_HEADING = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]+|\*\*|\d{1,2}\.[ \t]+)(.{2,80}?)(?:\*\*)?:?[ \t]*$", re.MULTILINE
)
_MESSAGES = {
    "Goal": "goal|request|intent|objective",
    "Constraints": "constraint|preference|rule",
    "Progress": "progress|done|completed",
    "Decisions": "decision",
    "Next steps": r"next|pending|remaining",
    "Critical context": "context",
    "Request": "request|goal",
    "Progress so far": "progress|done",
    "Context for the rest": "context",
}
"""Words of a heading by which a section is recognised."""
_THOUGHTS = re.compile(
    r"</?(?:antml:)?(?:think|thinking|reasoning|redacted_thinking|analysis|scratchpad)\b[^>\n]{0,80}>", re.I
)
_MARKS = re.compile(
    r"</?(?:antml:)?(?:system-reminder|system|function_calls|function_results|invoke|tool_use|tool_result"
    r"|conversation|previous-summary|summary)\b[^>\n]{0,80}>",
    re.I,
)
_TAGS: tuple[tuple[Kind, re.Pattern[str], str], ...] = (
    ("reasoning", _THOUGHTS, "marks reasoning, which no summary may carry on"),
    ("marks", _MARKS, "is a tag by which a harness marks its own words"),
)
_SHOWN = 3
"""The number of places listed for each fault."""


class SummaryFault(NamedTuple):
    """One thing that is wrong: its kind, a sentence, and the line of the text (from 1), 0 for the whole."""

    kind: Kind
    sentence: str
    line: int = 0


@dataclass(frozen=True, eq=False, repr=False)
class SummaryCheck:
    """A checkpoint and what is wrong with it.

    `tokens` are those of its text by the plan's counter, `budget` what it may have, None without a limit.
    `unfounded` are the lines that name what nothing before them does.
    """

    checkpoint: Checkpoint
    faults: tuple[SummaryFault, ...]
    tokens: int
    budget: int | None
    unfounded: tuple[UngroundedLine, ...] = ()

    @property
    def passes(self) -> bool:
        return not self.faults

    @property
    def trust(self) -> str:
        """How far its text may be trusted: never, it may carry an injection (S0-115)."""
        return TRUST

    @printed
    def __repr__(self) -> str:
        kinds = ", ".join(dict.fromkeys(fault.kind for fault in self.faults))
        size = f"{self.tokens:,} tokens" + (f" of {self.budget:,}" if self.budget is not None else "")
        return f"Checked(by {cut_text(self.checkpoint.by, 40)}, {size}, {self.trust}: {kinds or 'no faults'})"


def check_summary(checkpoint: Checkpoint, plan: Plan) -> SummaryCheck:
    """Hold a written summary against what the plan asked for and what was said before.

    It must be there, no longer than its jobs allow and the file lists after it, have the sections that were
    asked for (S4-5, S4-43), hold no reasoning and none of the tags by which harnesses mark words as their
    own, and name nothing that the context before does not name.

    >>> from inspector import Checkpoint, count_tokens, make_plan, open_demo
    >>> session = open_demo()
    >>> plan = make_plan(session, count_tokens(session), "flue")
    >>> checked = check_summary(Checkpoint(text="<think>hm. All is well in src/nowhere.py."), plan)
    >>> [fault.kind for fault in checked.faults]
    ['sections', 'reasoning', 'grounding']
    """
    text, ledger = checkpoint.text, plan.ledger
    appendix = files.text() if (files := carried_files(plan)) is not None else ""
    tokens, more = ledger.count_texts([text, appendix]).tolist()
    budget = find_budget(plan.jobs)
    budget = None if budget is None else budget + more
    faults = list[SummaryFault]()
    if checkpoint.error is not None:
        faults.append(SummaryFault("error", f"It was not written: {checkpoint.error}"))
    elif not text.strip():
        faults.append(SummaryFault("empty", "There are no words in it."))
    if faults:
        return SummaryCheck(checkpoint, tuple(faults), tokens, budget)
    if budget is not None and tokens > budget:
        faults.append(SummaryFault("size", f"It has {tokens:,} tokens; {budget:,} are allowed."))
    if missing := find_missing(text, plan.jobs):
        subject = "Sections are" if len(missing) > 1 else "A section is"
        faults.append(SummaryFault("sections", f"{subject} missing: {', '.join(missing)}."))
    for kind, pattern, what in _TAGS:
        for match in list(pattern.finditer(text))[:_SHOWN]:
            line = text.count("\n", 0, match.start()) + 1
            faults.append(SummaryFault(kind, f"Line {line}: {cut_text(match[0], 60)} {what}.", line))
    unfounded = ground_plan(plan, text)
    faults += [SummaryFault("grounding", entry.sentence, entry.line) for entry in unfounded]
    return SummaryCheck(checkpoint, tuple(faults), tokens, budget, unfounded)


def find_missing(text: str, jobs: tuple[SummaryJob, ...]) -> tuple[str, ...]:
    """The requested sections that no heading names, in their order."""
    history, _, beginning = text.partition(TURN_CONTEXT)
    expected: list[tuple[str, tuple[str, ...]]] = (
        [(history, SECTIONS)] if any(job.kind != "turn_prefix" for job in jobs) else []
    )
    expected += [(beginning, TURN_SECTIONS)] if any(job.kind == "turn_prefix" for job in jobs) else []
    missing: list[str] = []
    for part, names in expected:
        headings = [match[1] for match in _HEADING.finditer(part)]
        missing += (name for name in names if not any(re.search(_MESSAGES[name], h, re.I) for h in headings))
    return tuple(dict.fromkeys(missing))


def find_budget(jobs: tuple[SummaryJob, ...]) -> int | None:
    """Tokens that the answers to all jobs may have together; None when one has no limit."""
    limits = [job.max_tokens for job in jobs if job.max_tokens is not None]
    return sum(limits) if len(limits) == len(jobs) else None
