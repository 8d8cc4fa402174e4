"""Whether a written summary may stand: what is wrong with it, each thing with a sentence.

In go a `Checkpoint` and the plan it was written for, out comes a `SummaryCheck`. Whoever wrote it, a summary
is
untrusted text: no finding here changes that, and none stops anybody from using it. Nothing is asked of a
model: grounding is string presence, sections are told by their headings.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

from ..facts.grounding import UngroundedLine, check_grounding, gather_sources
from ..planning.plan import Plan
from ..planning.summary_jobs import TURN_CONTEXT, Checkpoint, SummaryJob
from ..redaction.cut import cut_text
from ..session.toolcalls.call_paths import canonical_path
from ..text import printed
from .prompts import SECTIONS, TURN_SECTIONS
from .write import carried_files

Kind = Literal["error", "empty", "size", "sections", "reasoning", "marks", "grounding"]
TRUST = "untrusted"
"""What a summary is, always (S0-115)."""

_HEADING = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]+|\*\*|\d{1,2}\.[ \t]+)(.{2,80}?)(?:\*\*)?:?[ \t]*$", re.MULTILINE
)
_TELLS = {
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
"""Words of a heading by which a section is known, whoever chose them."""
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
"""Places that are told of each."""


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
    if checkpoint.error is not None:
        return SummaryCheck(
            checkpoint, (SummaryFault("error", f"It was not written: {checkpoint.error}"),), tokens, budget
        )
    if not text.strip():
        return SummaryCheck(checkpoint, (SummaryFault("empty", "There are no words in it."),), tokens, budget)
    faults = []
    if budget is not None and tokens > budget:
        faults.append(SummaryFault("size", f"It has {tokens:,} tokens; {budget:,} are allowed."))
    if missing := find_missing(text, plan.jobs):
        names = ", ".join(missing)
        faults.append(
            SummaryFault(
                "sections", f"{'Sections are' if len(missing) > 1 else 'A section is'} missing: {names}."
            )
        )
    for kind, pattern, what in _TAGS:
        for match in list(pattern.finditer(text))[:_SHOWN]:
            line = text.count("\n", 0, match.start()) + 1
            faults.append(SummaryFault(kind, f"Line {line}: {cut_text(match[0], 60)} {what}.", line))
    unfounded = _drop_known(check_grounding(text, gather_sources(plan.session)), plan)
    faults += [SummaryFault("grounding", one.sentence, one.line) for one in unfounded]
    return SummaryCheck(checkpoint, tuple(faults), tokens, budget, unfounded)


def _drop_known(found: tuple[UngroundedLine, ...], plan: Plan) -> tuple[UngroundedLine, ...]:
    """Without files that are known under this very name, though nobody wrote it out: `cd a && cat b.py`."""
    if not any(one.what == "path" for one in found):
        return found
    cwd = plan.session.cwd
    files = {canonical_path(one.fact.form, cwd) for one in plan.trace if one.fact.kind == "file"}
    return tuple(one for one in found if one.what != "path" or canonical_path(one.words, cwd) not in files)


def find_missing(text: str, jobs: tuple[SummaryJob, ...]) -> tuple[str, ...]:
    """The sections that were asked for and that no heading tells of, in their order."""
    history, _, beginning = text.partition(TURN_CONTEXT)
    wanted: list[tuple[str, tuple[str, ...]]] = []
    if any(job.kind != "turn_prefix" for job in jobs):
        wanted.append((history, SECTIONS))
    if any(job.kind == "turn_prefix" for job in jobs):
        wanted.append((beginning, TURN_SECTIONS))
    missing: list[str] = []
    for part, names in wanted:
        headings = [match[1] for match in _HEADING.finditer(part)]
        missing += [
            name for name in names if not any(re.search(_TELLS[name], heading, re.I) for heading in headings)
        ]
    return tuple(dict.fromkeys(missing))


def find_budget(jobs: tuple[SummaryJob, ...]) -> int | None:
    """Tokens that the answers to all jobs may have together; None when one has no limit."""
    limits = [job.max_tokens for job in jobs]
    known = [limit for limit in limits if limit is not None]
    return sum(known) if len(known) == len(limits) else None
