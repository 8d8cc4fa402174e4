"""What was lost and then needed: the same file read again, a command re-run, an error met, a rule repeated.

Find one `Regret`, with its price in tokens of the ledger, for each time that something removed by a recorded
compaction had to be sent again. Text that could still be read is never listed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..errors import expect, expect_items
from ..mixins import Printable
from ..redaction.cut import cut_text
from ..session.blocks import BlockRef, ToolOutput
from ..session.entries import Entry
from ..session.queries import pair_calls
from ..session.session import Session
from ..session.tree import COMPACTION
from ..text import brief, printed
from ..tokens.ledger import Ledger
from ..tokens.models import SYNTHETIC, model_of
from ..tokens.prices import Money, add_money, price_tokens
from .comparing import compare_fact
from .extract.collect import BY, KINDS, OPERATIONS
from .facts import Fact, Facts, Occurrence, quote_form
from .indexed_text import IndexedText, is_subject
from .needed_again import has_failed, has_not_started, is_specific, same_answer, shows_file, strip_number
from .outcomes import IN_FULL, RETAINED
from .remaining import Remaining
from .terms import read_terms
from .trace import trace_rounds
from .traced import Trace, TracedFact, find_verdict

_RUN = 3
"""Lines in a row that have to be the same, so that they are the same place of a file."""
_CHANGES = ("created", "edited", "deleted")
_CLAUSES = re.compile(r"[,:;()]\s")


class PathAnswers:
    """The path with the answers to its calls."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.at = {session.entries[i].id: at for at, i in enumerate(session.path)}

    @cached_property
    def answers(self) -> dict[BlockRef, BlockRef]:
        """The output of every call that has one."""
        return pair_calls(self.session)

    @cached_property
    def model(self) -> str | None:
        """The session's model, for what no reply names one."""
        return model_of(self.session)

    def reader(self, name: str) -> Entry | None:
        """The first reply after an entry: the one that its words were first sent for."""
        later = (self.session.entries[i] for i in self.session.path[self.at[name] + 1 :])
        return next(
            (entry for entry in later if entry.role == "assistant" and entry.model != SYNTHETIC), None
        )

    def place(self, trace: Trace) -> int:
        """The place on the path of a trace's compaction."""
        assert trace.scene.entry is not None
        return self.at[trace.scene.entry.id]

    def text(self, ref: BlockRef | None) -> str | None:
        """The text of a block; None if there is no block."""
        return None if ref is None else self.session.block(ref).text


class Needed:
    """The facts that may have been needed again after a compaction; the others need not be traced."""

    def __init__(self, walk: PathAnswers, facts: Facts) -> None:
        session, self.at = walk.session, walk.at
        self.ends = [at for at, i in enumerate(session.path) if session.tree.sort[i] == COMPACTION]
        place = session.path_index
        kind, by = facts.kind[facts.fact], facts.by
        model, read = by == BY.index("model"), facts.operation == OPERATIONS.index("read")
        counts = (kind == KINDS.index("file")) & model & read
        counts |= (kind == KINDS.index("command")) & model
        counts |= (kind == KINDS.index("error")) & (by == BY.index("tool"))
        self.fact, self.place = facts.fact[counts], place[facts.entry[counts]]
        changes = np.isin(facts.operation, [OPERATIONS.index(done) for done in _CHANGES]) & model
        self.changes = np.unique(place[facts.entry[changes]])
        self.rules = np.flatnonzero(facts.kind == KINDS.index("constraint")).tolist()

    def end(self, entry: Entry) -> int:
        """The place of the next compaction on the path, or the end of the path."""
        return next((end for end in self.ends if end > self.at[entry.id]), len(self.at))

    def changed(self, start: int, end: int) -> bool:
        """Whether the model changed a file between two places on the path."""
        return bool(np.searchsorted(self.changes, end) > np.searchsorted(self.changes, start, "right"))

    def after(self, entry: Entry) -> list[int]:
        """Numbers of the facts said before a compaction and between it and the next."""
        start = self.at[entry.id]
        later = (self.place > start) & (self.place < self.end(entry))
        both = np.intersect1d(self.fact[self.place < start], self.fact[later])
        return sorted([*both.tolist(), *self.rules])


MEANS = {
    "file": "read again",
    "command": "run again",
    "error": "met again",
    "constraint": "said again",
}
"""The event that counts as needing a fact again, by its kind."""


class Paid(NamedTuple):
    """A block that had to be sent again, its tokens (by the ledger's counter), and its minimum cost.

    It is a whole block, or with a `span` (start, end) the sentence of it that repeats an instruction. A call
    is priced as written by its model, anything else as sent fresh to the model that read it, once; None where
    no price is known.
    """

    ref: BlockRef
    tokens: int
    money: Money | None
    span: tuple[int, int] | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Regret(Printable):
    """One thing needed again after the compaction `entry` took it away.

    `before` is the last block before that says it, `again` the block that repeats it, and `parts` are the
    blocks that were paid for. `same` is, for files and commands, whether the output was the same as before,
    ignoring figures.
    `turn` is that of `again`, from 1. `times` is how often a file was read again, each time for lines that no
    output had shown since; `again` is the first time.

    >>> from inspector import Checkpoint, compact, count_tokens, read_session
    >>> from inspector.session.blocks import Text
    >>> rule = "Never touch main.py."
    >>> session = read_session([{"role": "user", "content": rule}])
    >>> after = compact(session, "claude-code", Checkpoint(text="So far, nothing.")).after
    >>> again = Entry(id="again", parent=after.leaf, role="user", blocks=(Text(text=rule),))
    >>> after = after.with_entries((*after.entries, again), "again")
    >>> regret: Regret = find_regret(after, after.facts, count_tokens(after))[0]
    >>> regret.fact.form, regret.entry, str(regret.again)
    ('Never touch main.py.', 'compaction-1', 'again/0')
    """

    traced: TracedFact
    entry: str
    before: BlockRef
    again: BlockRef
    parts: tuple[Paid, ...]
    same: bool
    turn: int = 0
    times: int = 1

    @property
    def fact(self) -> Fact:
        """What was needed again."""
        return self.traced.fact

    @property
    def paid(self) -> tuple[BlockRef, ...]:
        """The blocks that had to be paid for."""
        return tuple(part.ref for part in self.parts)

    @property
    def tokens(self) -> int:
        """Their tokens."""
        return sum(part.tokens for part in self.parts)

    @property
    def money(self) -> Money | None:
        """The minimum cost of all parts, with the source of the price."""
        return add_money([part.money for part in self.parts])

    @property
    def price(self) -> str:
        """The money as text, such as "$0.012"; empty if no price is known."""
        return "" if self.money is None else str(self.money)

    @property
    def sentence(self) -> str:
        """A sentence with the event and its cost."""
        fact, price = self.traced.fact, f", {self.price}" if self.price else ""
        form = quote_form(fact.kind, fact.form, 80)
        place = f"turn {self.turn}" if self.turn else brief(self.again)
        when = f"in {place}" if self.times == 1 else f"{self.times} times from {place} on,"
        answer = ", with the same answer" if self.same else ""
        # A file's name may remain although its content was compacted away.
        shown = fact.kind == "file" and self.traced.outcome != "absent"
        gone = "what it had shown was compacted away" if shown else "it was lost"
        if not shown and self.traced.outcome == "partial":
            gone = "only a part of it was left"
        elif not shown and self.traced.outcome in RETAINED:
            gone = "what said it was compacted away"
        return (
            f"The {fact.kind} {form} was {MEANS[fact.kind]} {when} "
            f"after {gone}{answer}: {self.tokens:,} tokens{price}."
        )

    @printed
    def __repr__(self) -> str:
        form = cut_text(" ".join(self.traced.fact.form.split()), 60)
        fact = self.traced.fact
        return f"Regret({fact.kind} {form!r} {MEANS[fact.kind]} in {self.again}: {self.tokens:,} tokens)"


def find_regret(session: Session, facts: Facts, ledger: Ledger) -> tuple[Regret, ...]:
    """Everything on the path that a recorded compaction made necessary once more, in the order it came.

    - A file is listed if an output shows lines again that were in the context right before the compaction and
      in no output after it. Only those lines are charged; counting a file's lines shows none.
    - A command is listed if it was not kept verbatim, and it gave the same output again although no file had
      been changed, or failed to start again.
    - An error is listed if it was not kept verbatim, is specific (`needed_again.is_specific`), and
      both runs failed.
    - An instruction is listed if at most a part of it was kept and the user repeated it
      (`compare_fact`), perhaps in part. Only that sentence is charged.

    Each is listed once for a compaction, a file with all later times that show other lines. A loss is charged
    to the earliest compaction only. Facts that a reader judged "not lost" (`Session.with_judgements`) are
    left out. Raises `OtherSession` for a ledger of another session.

    >>> from inspector.demo import LOST_PATH, open_demo
    >>> from inspector.facts.facts import find_facts
    >>> from inspector.tokens.ledger import count_tokens
    >>> session = open_demo()
    >>> found = find_regret(session, find_facts(session), count_tokens(session))
    >>> any(regret.traced.fact.form == LOST_PATH for regret in found)
    True
    """
    expect("find_regret", session=(session, Session), facts=(facts, Facts), ledger=(ledger, Ledger))
    ledger.check(session)
    walk = PathAnswers(session)
    needed = Needed(walk, facts)
    regrets: list[Regret] = []
    for trace in trace_rounds(session, facts, needed.after):
        regrets += _regret_one(walk, trace, needed, ledger, facts)
    order = walk.at
    regrets = [regret for regret in regrets if find_verdict(session, regret.traced) != "not lost"]
    return tuple(sorted(regrets, key=lambda regret: (order[regret.again.entry], regret.again.block)))


def sum_regret(regrets: Iterable[Regret]) -> tuple[int, Money | None]:
    """Sum the tokens and costs of several regrets. A block or sentence that two of them share counts once.

    >>> sum_regret([])
    (0, None)
    """
    listed = expect_items("sum_regret", "regrets", regrets, Regret)
    parts = {(part.ref, part.span): part for regret in listed for part in regret.parts}
    return sum(part.tokens for part in parts.values()), add_money([part.money for part in parts.values()])


def _regret_one(
    walk: PathAnswers, trace: Trace, needed: Needed, ledger: Ledger, facts: Facts
) -> Iterator[Regret]:
    start, entry = walk.place(trace), trace.scene.entry
    if entry is None:
        return
    end = needed.end(entry)
    rules = [
        (mention, IndexedText(walk.session.block(mention.ref).text[mention.start : mention.end]))
        for fact in facts.by_kind("constraint")
        for mention in fact.said
        if mention.by == "user" and start < walk.at.get(mention.ref.entry, -1) < end
    ]
    for traced in trace:
        if traced.fact.kind not in MEANS or not traced.stood:
            continue
        if traced.fact.kind == "constraint":
            pairs: Iterable[tuple[Occurrence, Occurrence]] = _said_again(traced, rules)
        elif traced.fact.kind == "file":
            pairs = _shown_again(walk, trace, traced, start, end)
        else:
            pairs = _met_again(walk, traced, start, end)
        times = [
            (before, again, paid)
            for before, again in pairs
            if (paid := _price_time(walk, trace, traced, needed, ledger, before, again)) is not None
        ]
        if times:
            before, again, _ = times[0]
            parts = tuple(part for _, _, paid in times for part in paid.parts)
            same = all(paid.same for _, _, paid in times)
            turn = walk.session.turn_of[again.ref.entry]
            yield Regret(traced, entry.id, before.ref, again.ref, parts, same, turn, len(times))


class _PaidTime(NamedTuple):
    """The blocks that were sent again one time, and whether the output was the same as before."""

    parts: tuple[Paid, ...]
    same: bool


def _price_time(
    walk: PathAnswers,
    trace: Trace,
    traced: TracedFact,
    needed: Needed,
    ledger: Ledger,
    before: Occurrence,
    again: Occurrence,
) -> _PaidTime | None:
    """Return what one time cost that a fact was needed again; None if it is not to be regretted."""
    answer, kind = walk.answers.get(again.ref), traced.fact.kind
    if kind == "constraint":
        return _PaidTime((_price_words(walk, again, ledger),), False)
    same = same_answer(walk.text(walk.answers.get(before.ref)), walk.text(answer))
    # A command that checks a state is no loss if the state differs, or may differ after a change.
    if kind == "command":
        changed = needed.changed(walk.at[before.ref.entry], walk.at[again.ref.entry])
        starts = answer is None or not has_not_started(walk.session.block(answer))
        if not same or (changed and starts):
            return None
    paid = (again.ref,) if answer is None else (again.ref, answer)
    parts = tuple(_price(walk, ref, int(ledger.tokens[ledger.row(ref)])) for ref in paid)
    if kind == "file" and answer is not None:
        text, lines = walk.text(answer) or "", _find_repeated(walk, trace, traced, answer)
        same = len(lines) == len(text.splitlines())
        if not same:
            counted = int(ledger.count_texts(["\n".join(lines)])[0])
            parts = parts[0], _price(walk, answer, min(counted, parts[1].tokens))
    return _PaidTime(parts, same)


def _find_repeated(walk: PathAnswers, trace: Trace, traced: TracedFact, answer: BlockRef) -> list[str]:
    """Return the lines of an output that an output right before the compaction had shown as well.

    Lines that another output brought back in between are left out. Three lines in a row have to be the same,
    because a brace alone is in every file.
    """
    lines = (walk.text(answer) or "").splitlines()
    rows = [at for at, line in enumerate(lines) if strip_number(line)]
    outputs = (_shown_by(walk, "file", mention) for mention in traced.fact.said if _counts("file", mention))
    earlier = [walk.text(ref) or "" for ref in outputs if _is_in_context(walk, trace.scene.before, ref)]
    back = list(_find_back(walk, trace, traced, answer))
    bare = [strip_number(lines[at]) for at in rows]
    counted = set[int]()
    for text in earlier:
        shown = _list_bare(text)
        length = min(_RUN, len(bare), len(shown))
        runs = set(_list_runs(shown, length))
        runs.difference_update(run for other in back for run in _list_runs(_list_bare(other), length))
        for first, run in enumerate(_list_runs(bare, length)):
            if run in runs:
                counted.update(range(rows[first], rows[first + length - 1] + 1))  # with blank lines between
    if rows and counted.issuperset(rows):
        return lines
    return [line for at, line in enumerate(lines) if at in counted]


def _find_back(walk: PathAnswers, trace: Trace, traced: TracedFact, answer: BlockRef) -> Iterator[str]:
    """Yield the outputs between a compaction and an answer that name the file, or whose call does."""
    start, end = walk.place(trace), walk.at[answer.entry]
    between = (
        mention.ref for mention in traced.fact.said if start < walk.at.get(mention.ref.entry, -1) < end
    )
    for ref in {walk.answers.get(ref, ref) for ref in between}:
        if walk.at[ref.entry] < end and isinstance(block := walk.session.block(ref), ToolOutput):
            yield block.text


def _list_bare(text: str) -> list[str]:
    """Return the lines of a text that are not blank, without their numbers."""
    return [line for row in text.splitlines() if (line := strip_number(row))]


def _list_runs(lines: list[str], length: int) -> Iterator[tuple[str, ...]]:
    """Yield every run of `length` consecutive lines; none if the length is 0."""
    return zip(*(lines[at:] for at in range(length)), strict=False)


def _price(walk: PathAnswers, ref: BlockRef, tokens: int) -> Paid:
    entry = walk.session[ref.entry]
    written = entry.role == "assistant"
    reply = entry if written else walk.reader(ref.entry)
    model = walk.model if reply is None or not reply.model else reply.model
    request = 0 if reply is None or reply.usage is None else int(reply.usage.request)
    share = (0, tokens) if written else (tokens, 0)
    return Paid(ref, tokens, price_tokens(model, *share, request=request))


def _price_words(walk: PathAnswers, mention: Occurrence, ledger: Ledger) -> Paid:
    """The sentence alone: whatever else its message says was not said for the instruction's sake."""
    words = walk.session.block(mention.ref).text[mention.start : mention.end]
    tokens = min(int(ledger.count_texts([words])[0]), int(ledger.tokens[ledger.row(mention.ref)]))
    return _price(walk, mention.ref, tokens)._replace(span=(mention.start, mention.end))


def _met_again(
    walk: PathAnswers, traced: TracedFact, start: int, end: int
) -> list[tuple[Occurrence, Occurrence]]:
    """Return the last time before the compaction and the first time after it, if that is to be regretted."""
    kind = traced.fact.kind
    if traced.outcome == "verbatim" or (kind == "error" and not is_specific(traced.fact.form)):
        return []
    before, after = _find_times(walk, traced, start, end)
    return [(before[-1], after[0])] if before and after else []


def _shown_again(
    walk: PathAnswers, trace: Trace, traced: TracedFact, start: int, end: int
) -> Iterator[tuple[Occurrence, Occurrence]]:
    """Yield the same of a file, for each time that lines of it are shown which no output showed since."""
    before, after = _find_times(walk, traced, start, end)
    outputs = [_shown_by(walk, "file", mention) for mention in before]
    if not before or any(_is_in_context(walk, traced.scene.after, ref) for ref in outputs):
        return
    shown = set[BlockRef]()
    for mention in after:
        answer = walk.answers.get(mention.ref)
        if answer in shown or answer is None:
            continue
        shown.add(answer)
        if _find_repeated(walk, trace, traced, answer):
            yield before[-1], mention


def _find_times(
    walk: PathAnswers, traced: TracedFact, start: int, end: int
) -> tuple[list[Occurrence], list[Occurrence]]:
    """Return the mentions that needed a fact: before a compaction, if readable right before it, and after."""
    kind = traced.fact.kind
    every = [
        mention
        for mention in traced.fact.said
        if mention.ref.entry in walk.at and _counts(kind, mention) and _needs(walk, traced.fact, mention)
    ]
    # A loss by an earlier compaction is not charged to this one.
    before = [
        mention
        for mention in every
        if walk.at[mention.ref.entry] < start
        and _is_in_context(walk, traced.scene.before, _shown_by(walk, kind, mention))
    ]
    return before, [mention for mention in every if start < walk.at[mention.ref.entry] < end]


def _shown_by(walk: PathAnswers, kind: str, mention: Occurrence) -> BlockRef | None:
    """The block that shows it: the output of a call that reads a file, else the block that says it."""
    return walk.answers.get(mention.ref) if kind == "file" else mention.ref


def _is_in_context(walk: PathAnswers, context: Remaining, ref: BlockRef | None) -> bool:
    return ref is not None and bool(context.rows[walk.session.block_row(ref)])


def _counts(kind: str, mention: Occurrence) -> bool:
    if kind == "file":
        return mention.operation == "read" and mention.by == "model"
    return mention.by == "model" if kind == "command" else mention.by == "tool"


def _needs(walk: PathAnswers, fact: Fact, mention: Occurrence) -> bool:
    """Whether the block is one that asks for it: a call for a file or a command, a failing output."""
    block = walk.session.block(mention.ref)
    if fact.kind == "file":
        # A call that failed, or has no result, showed nothing.
        answer = walk.answers.get(mention.ref)
        shown = answer is not None and not getattr(walk.session.block(answer), "is_error", False)
        return shown and shows_file(block, fact.form)
    return block.kind == "tool_call" if fact.kind == "command" else has_failed(block)


def _said_again(
    traced: TracedFact, later: list[tuple[Occurrence, IndexedText]]
) -> list[tuple[Occurrence, Occurrence]]:
    if traced.outcome in (*RETAINED, "superseded"):
        return []
    typed = [s for s in traced.fact.said if s.by == "user" and s.ref in traced.said]
    for mention, words in later if typed else ():
        if _repeats(traced.fact.form, words):
            return [(typed[-1], mention)]
    return []


def _repeats(rule: str, words: IndexedText) -> bool:
    """Return whether a sentence says a rule or a clause of it again, perhaps with another negation.

    >>> _repeats("Never edit the migrations.", IndexedText("don't you edit migrations, I said"))
    True
    >>> _repeats("Never edit the migrations.", IndexedText("Always edit the migrations first."))
    False
    """
    result = compare_fact("constraint", rule, words)
    if result.outcome in (*IN_FULL, "partial") or result.reason == "subject":
        return True
    clauses = [clause for clause in _CLAUSES.split(rule) if sum(map(is_subject, read_terms(clause))) > 1]
    return any(compare_fact("constraint", clause, words).outcome in IN_FULL for clause in clauses)
