"""A summary without a model: facts and words copied from the entries, under the headings of a checkpoint.

Takes a `SummaryJob` and its session, and returns a `Reply` that never has more tokens than the job allows.
All of it is copied from the session or the previous summary; the same entries give the same bytes on
every machine. The budget goes to the user's rules that forbid something, the first and last request, files
changed, the user's other rules, open to-dos, the last errors and outcomes, decisions, then to the rest as
room allows, in the end sentences. The text begins with the rules that forbid something.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import dropwhile, groupby, takewhile

from ...planning.summary_jobs import Reply, SummaryJob
from ...redaction.redact import Redactor
from ...session.session import Session
from ...text import printable
from ...tokens.counter import Counter
from ...tokens.counters import find_counter
from ...tokens.ledger import Ledger
from ..material import job_entries
from ..prompts import PROGRESS, SECTIONS, TURN_SECTIONS
from .budget import FIRST, NOTE_SHARES, SHARES, Item, Layout, Slot, fit
from .items import ASKED_FIRST, BETWEEN, LAST, NAMED_BEFORE, SAFETY, collect_items, gather_entries
from .previous import SummaryLine, read_summary
from .quotes import forbids

TOKENS = 4_000
"""Tokens of a summary whose job sets no lower limit; those that harnesses record have 1,000 to 4,200."""
TITLE = "[Extracted: copied from the session, no model was asked]"
BRIEF_TITLE = "[Extracted]"
_TITLES = (TITLE, BRIEF_TITLE)
SENTENCES = "Other sentences"
"""The heading of sentences that filled the room left: the next summary drops them first."""

_LISTS = (Slot("read", tag="read-files"), Slot("modified", tag="modified-files"))
_HEADINGS = [f"## {name}" for name in SECTIONS]
_UNDER = [f"### {name}" for name in PROGRESS]
CHECKPOINT = Layout(
    TITLE,
    (
        Slot("goal", _HEADINGS[0]),
        Slot("constraints", _HEADINGS[1]),
        Slot("progress", _HEADINGS[2]),
        Slot("done", _UNDER[0]),
        Slot("doing", _UNDER[1]),
        Slot("blocked", _UNDER[2]),
        Slot("decisions", _HEADINGS[3]),
        Slot("next", _HEADINGS[4]),
        Slot("context", _HEADINGS[5]),
        Slot("said", f"### {SENTENCES}"),
        *_LISTS,
    ),
)
TURN = Layout(
    TITLE,
    (
        Slot("goal", f"## {TURN_SECTIONS[0]}"),
        Slot("constraints"),
        Slot("done", f"## {TURN_SECTIONS[1]}"),
        Slot("doing"),
        Slot("blocked"),
        Slot("context", f"## {TURN_SECTIONS[2]}"),
        Slot("decisions"),
        Slot("next"),
        Slot("said", f"### {SENTENCES}"),
        *_LISTS,
    ),
)
NOTES = Layout(BRIEF_TITLE, tuple(Slot(slot.name) for slot in CHECKPOINT.slots))
_EARLIER = (
    ("goal", "goal"),
    ("modified", "modified"),
    ("rule", "constraints"),
    ("todo", "next"),
    ("outcome", "blocked"),
    ("decision", "decisions"),
    ("words", "doing"),
    ("words", "done"),
    ("read", "read"),
    ("earlier", "context"),
    ("said", "said"),
)
_ALWAYS = frozenset({"constraints", "read", "modified"})


@dataclass(frozen=True)
class ExtractiveSummariser:
    """A summariser without a model: call it with a job and its session.

    Tokens are counted by `counter` (a ledger counts by its own). `tokens` is the most that any summary may
    have, unless a job's own limit is lower. `listed` are files that another list will name.
    Without `headings` it is a list of lines, shorter ones first: of 400 tokens, headings and the words that
    lead up to a fact would take a fifth.

    >>> from inspector import count_tokens, make_plan, open_demo
    >>> session = open_demo()
    >>> ledger = count_tokens(session)
    >>> plan = make_plan(session, ledger, "flue")
    >>> text = ExtractiveSummariser(ledger, tokens=500)(plan.jobs[0], session).text
    >>> int(ledger.count_texts([text])[0]) <= 500, "## Next steps" in text
    (True, True)
    """

    counter: str | Counter | Ledger = "o200k_base"
    tokens: int = TOKENS
    listed: frozenset[str] = frozenset()
    headings: bool = True
    # The items of the last job of each kind, with headings or without: a job that differs only in the limit
    # of tokens is not read again. Copies by `replace` share them.
    _read: dict[tuple[str, bool], tuple[Session, SummaryJob, list[Item]]] = field(
        default_factory=dict, repr=False, compare=False
    )

    by = "extractive"
    deterministic = True
    reads_reasoning = False

    @cached_property
    def _counter(self) -> Counter:
        if isinstance(self.counter, Ledger):
            return self.counter.counter
        return find_counter(self.counter) if isinstance(self.counter, str) else self.counter

    def without(self, files: frozenset[str]) -> ExtractiveSummariser:
        """The same that leaves these files out of its lists, by their canonical paths."""
        return replace(self, listed=files)

    def __call__(self, job: SummaryJob, session: Session) -> Reply:
        budget = self.tokens if job.max_tokens is None else min(job.max_tokens, self.tokens)
        items = [
            item
            for item in self._collect(job, session)
            if item.slot not in ("read", "modified") or item.text not in self.listed
        ]
        layout = TURN if job.kind == "turn_prefix" else CHECKPOINT
        shares = SHARES
        if not self.headings:
            layout, shares = NOTES, NOTE_SHARES
        if any(item.kind == FIRST for item in items):
            layout = layout.begin_with("constraints")
        return Reply(text=fit(_redact(items), layout, max(budget, 0), self._counter, shares))

    def _collect(self, job: SummaryJob, session: Session) -> list[Item]:
        cached = self._read.get((job.kind, self.headings))
        if cached is not None and cached[0] is session and cached[1] == job:
            return cached[2]
        entries = job_entries(session, job)
        items = collect_items(gather_entries(session, entries, job.previous), brief=not self.headings)
        # The previous summary may be an entry too, if a policy shows it as a message.
        summaries = [entry.text for entry in entries if entry.kind in ("compaction", "branch_summary")]
        if lines := [line for text in (job.previous or "", *summaries) for line in _read_lines(text)]:
            items = _merge(items, lines)
        self._read[job.kind, self.headings] = session, job, items
        return items


def _read_lines(text: str) -> list[SummaryLine]:
    """The lines of a summary before. One by this package without headings begins with what is forbidden."""
    lines = read_summary(text)
    if not text.startswith(tuple(f"{title}\n" for title in _TITLES)):
        return lines
    rules = takewhile(_is_rule, lines[1:])
    return [
        *lines[:1],
        *(line._replace(slot="constraints") for line in rules),
        *dropwhile(_is_rule, lines[1:]),
    ]


def _is_rule(line: SummaryLine) -> bool:
    is_request = line.text.startswith((ASKED_FIRST, LAST, BETWEEN))
    return line.slot == "context" and not is_request and forbids(line.text)


def _merge(items: list[Item], summary_lines: list[SummaryLine]) -> list[Item]:
    """The items with the lines of the summary before, each kind's after the first that are new.

    A file changed since is no file only read; a command that ran again has its new outcome.
    """
    changed = {item.text for item in items if item.slot == "modified"}
    changed |= {line.text for line in summary_lines if line.slot == "modified"}
    items = [item for item in items if item.slot != "read" or item.text not in changed]
    if any(line.slot == "goal" for line in summary_lines):
        items = [item._replace(text=item.text.replace(ASKED_FIRST, BETWEEN, 1)) for item in items]
    old = _carry(items, summary_lines, changed)
    first = [item for item in items if item.kind == FIRST] + old.pop(FIRST, [])
    last = old.pop("said", [])
    items = [item for item in items if item.kind != FIRST]
    kinds = dict.fromkeys(item.kind for item in items)
    # Lines only in the previous summary follow the goal: they matter as much as the new ones.
    alone = [
        item
        for kind in dict.fromkeys(kind for kind, _ in _EARLIER)
        if kind not in kinds
        for item in old.pop(kind, ())
    ]
    out: list[Item] = []
    for kind, group in groupby(items, key=lambda item: item.kind):
        out += [*group, *old.pop(kind, ())]
        if kind == "goal":
            out += alone
            alone = []
    return first + alone + out + last


def _carry(items: list[Item], summary_lines: list[SummaryLine], changed: set[str]) -> dict[str, list[Item]]:
    """Lines of the summary before that still hold, as items by kind."""
    again = {item.text.partition("`: ")[0] for item in items if item.kind == "outcome"}
    listed = {(item.slot, item.text) for item in items if not item.label}
    kinds = {slot: kind for kind, slot in _EARLIER}
    old: dict[str, list[Item]] = {}
    for number, line in enumerate(summary_lines):
        text = printable(line.text)
        if line.slot == "goal":
            text = text.replace(LAST, BETWEEN, 1)
        stale = text.partition("`: ")[0] in again or (line.slot == "read" and text in changed)
        # Files that the previous summary names are found in it again.
        if stale or text in _TITLES or (line.slot, text) in listed or text.startswith(f"{NAMED_BEFORE}:"):
            continue
        listed.add((line.slot, text))
        # Rules and files are always listed in their own section.
        key = "" if line.slot in _ALWAYS else text
        # Earlier lines precede later ones.
        safety = line.slot == "constraints" and forbids(text)
        at = (SAFETY if safety else 0) + number - len(summary_lines)
        item = Item(FIRST if safety else kinds[line.slot], line.slot, text, at, key)
        old.setdefault(item.kind, []).append(item)
    return old


def _redact(items: list[Item]) -> list[Item]:
    """The items without secrets; what is only personal, such as the name in a path, stays."""
    redactor = Redactor()
    for item in items:
        redactor.look(item.slot, item.text)
    secret = [finding.name for finding in redactor.findings if finding.grade == "secret"]
    if not secret:
        return items
    personal = frozenset(finding.name for finding in redactor.findings if finding.grade != "secret")
    cleaner = Redactor(keep=personal)
    for item in items:
        cleaner.look(item.slot, item.text)
    return [item._replace(text=cleaner.clean(item.text), key=cleaner.clean(item.key)) for item in items]
