"""What was lost and then needed: the same file read again, a command re-run, a rule repeated.

Find one `Regret`, with its price in tokens of the ledger, for each time that something removed by a recorded
compaction had to be sent again. Text that could still be read is never listed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
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
from .kind_words import NOUNS
from .needed_again import has_not_started, same_answer, shows_file, strip_number
from .outcomes import IN_FULL, RETAINED
from .remaining import Remaining
from .terms import read_terms
from .trace import trace_recorded
from .traced import Trace, TracedFact, find_verdict

_RUN = 3
"""Lines in a row that have to be the same, so that they are the same place of a file."""
_CHANGES = ("created", "edited", "deleted")
_CLAUSES = re.compile(r"[,:;()]\s")


MEANS = {"file": "read again", "command": "run again", "constraint": "said again"}
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
            gone = "the blocks that said it were compacted away"
        return (
            f"The {NOUNS[fact.kind]} {form} was {MEANS[fact.kind]} {when} "
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
    search = _Search(session, facts, ledger)
    regrets = [
        regret
        for trace in trace_recorded(session, facts)
        for regret in search.find(trace)
        if find_verdict(session, regret.traced) != "not lost"
    ]
    return tuple(sorted(regrets, key=lambda regret: (search.at[regret.again.entry], regret.again.block)))


def sum_regret(regrets: Iterable[Regret]) -> tuple[int, Money | None]:
    """Sum the tokens and costs of several regrets. A block or sentence that two of them share counts once.

    >>> sum_regret([])
    (0, None)
    """
    listed = expect_items("sum_regret", "regrets", regrets, Regret)
    parts = {(part.ref, part.span): part for regret in listed for part in regret.parts}
    return sum(part.tokens for part in parts.values()), add_money([part.money for part in parts.values()])


class _Search:
    """The path of a session, the answers to its calls, and the facts that may have been needed again."""

    def __init__(self, session: Session, facts: Facts, ledger: Ledger) -> None:
        self.session, self.facts, self.ledger = session, facts, ledger
        self.at = {session.entries[i].id: at for at, i in enumerate(session.path)}
        self.ends = [at for at, i in enumerate(session.path) if session.tree.sort[i] == COMPACTION]
        self.answers, self.model = pair_calls(session), model_of(session)
        place, kind, by_model = session.path_index, facts.kind[facts.fact], facts.by == BY.index("model")
        read = (kind == KINDS.index("file")) & (facts.operation == OPERATIONS.index("read"))
        counts = (read | (kind == KINDS.index("command"))) & by_model
        self._fact, self._place = facts.fact[counts], place[facts.entry[counts]]
        changes = np.isin(facts.operation, [OPERATIONS.index(done) for done in _CHANGES]) & by_model
        self._changes = np.unique(place[facts.entry[changes]])

    def _find_end(self, start: int) -> int:
        """The place of the next compaction on the path, or the end of the path."""
        return next((end for end in self.ends if end > start), len(self.at))

    def _list_candidates(self, trace: Trace, start: int) -> list[TracedFact]:
        """The rules, and the facts said both before a compaction and between it and the next."""
        later = (self._place > start) & (self._place < self._find_end(start))
        both = set(np.intersect1d(self._fact[self._place < start], self._fact[later]).tolist())
        every = chain.from_iterable(trace.select(kind=kind) for kind in MEANS)
        candidates = (one for one in every if one.fact.kind == "constraint" or one.fact.number in both)
        return sorted(candidates, key=lambda one: one.fact.number)

    def find(self, trace: Trace) -> Iterator[Regret]:
        """Yield what was needed again between the compaction of a trace and the next."""
        entry = trace.scene.entry
        assert entry is not None
        start = self.at[entry.id]
        end = self._find_end(start)
        rules = [
            (mention, IndexedText(self.session.block(mention.ref).text[mention.start : mention.end]))
            for fact in self.facts.by_kind("constraint")
            for mention in fact.said
            if mention.by == "user" and start < self.at.get(mention.ref.entry, -1) < end
        ]
        for traced in self._list_candidates(trace, start):
            if traced.fact.kind == "constraint":
                times = list(self._find_said(traced, rules))
            else:
                times = list(self._find_called(traced, start, end))
            if times:
                first = times[0]
                parts = tuple(part for time in times for part in time.parts)
                same, turn = all(time.same for time in times), self.session.turn_of[first.again.entry]
                yield Regret(traced, entry.id, first.before, first.again, parts, same, turn, len(times))

    def _find_said(
        self, traced: TracedFact, later: list[tuple[Occurrence, IndexedText]]
    ) -> Iterator[_PaidTime]:
        """Yield the first time that a rule is said again."""
        typed = [said.ref for said in traced.fact.said if said.by == "user" and said.ref in traced.said]
        lost = traced.outcome not in (*RETAINED, "superseded")
        for mention, words in later if typed and lost else ():
            if _repeats(traced.fact.form, words):
                # The sentence alone: its message says other things for other reasons.
                part = self._price_text(mention.ref, words.text)
                yield _PaidTime(
                    typed[-1], mention.ref, (part._replace(span=(mention.start, mention.end)),), False
                )
                return

    def _find_called(self, traced: TracedFact, start: int, end: int) -> Iterator[_PaidTime]:
        """Yield each time that a file shows lines which no output showed since; or the first time that a
        command is run again."""
        is_file, scene = traced.fact.kind == "file", traced.scene
        calls = [ref for ref in self._list_calls(traced.fact) if ref.entry in self.at]
        # A loss by an earlier compaction is not charged to this one.
        before = [
            ref
            for ref in calls
            if self.at[ref.entry] < start and _holds(scene.before, self.answers.get(ref) if is_file else ref)
        ]
        after = [ref for ref in calls if start < self.at[ref.entry] < end]
        if not before or not after:
            return
        if not is_file:
            if traced.outcome != "verbatim" and (time := self._price_command(before[-1], after[0])):
                yield time
            return
        if any(_holds(scene.after, self.answers.get(ref)) for ref in before):
            return
        shown = set[BlockRef]()
        for ref in after:
            answer = self.answers[ref]
            lines = [] if answer in shown else self._find_repeated(traced, answer, start)
            shown.add(answer)
            if lines:
                text = self.session.block(answer).text
                whole = len(lines) == len(text.splitlines())
                part = self._price(answer) if whole else self._price_text(answer, "\n".join(lines))
                same = whole and any(self._answers_alike(first, answer) for first in before)
                yield _PaidTime(before[-1], ref, (self._price(ref), part), same)

    def _answers_alike(self, call: BlockRef, answer: BlockRef) -> bool:
        """Whether the answer to a call shows the same lines as another answer."""
        texts = (self.session.block(ref).text for ref in (self.answers[call], answer))
        first, second = map(_list_bare, texts)
        return first == second

    def _list_calls(self, fact: Fact) -> Iterator[BlockRef]:
        """Yield the model's calls that run a command, or that show a file: one that failed showed nothing."""
        for mention in fact.said:
            block, answer = self.session.block(mention.ref), self.answers.get(mention.ref)
            if mention.by != "model":
                continue
            if fact.kind == "command":
                if block.kind == "tool_call":
                    yield mention.ref
            elif mention.operation == "read" and answer is not None and shows_file(block, fact.form):
                if not getattr(self.session.block(answer), "is_error", False):
                    yield mention.ref

    def _price_command(self, before: BlockRef, again: BlockRef) -> _PaidTime | None:
        """Return what it cost to run a command again; None if that is not to be regretted.

        A command that checks a state is no loss if the state differs, or may differ after a change.
        """
        first, answer = self.answers.get(before), self.answers.get(again)
        if first is None or answer is None:
            return None
        output, between = self.session.block(answer), (self.at[before.entry], self.at[again.entry])
        low, high = np.searchsorted(self._changes, [between[0] + 1, between[1]]).tolist()
        if not same_answer(self.session.block(first).text, output.text) or (
            high > low and not has_not_started(output)
        ):
            return None
        return _PaidTime(before, again, (self._price(again), self._price(answer)), True)

    def _find_repeated(self, traced: TracedFact, answer: BlockRef, start: int) -> list[str]:
        """Return the lines of an output that an output right before the compaction had shown as well.

        Lines that another output brought back in between are left out. Three lines in a row have to be the
        same, because a brace alone is in every file.
        """
        lines = self.session.block(answer).text.splitlines()
        rows = [at for at, line in enumerate(lines) if strip_number(line)]
        reads = (said.ref for said in traced.fact.said if said.by == "model" and said.operation == "read")
        outputs = (self.answers[ref] for ref in reads if ref in self.answers)
        earlier = [self.session.block(ref).text for ref in outputs if _holds(traced.scene.before, ref)]
        back = [_list_bare(text) for text in self._find_back(traced, answer, start)]
        back_runs: dict[int, set[tuple[str, ...]]] = {}
        bare = [strip_number(lines[at]) for at in rows]
        counted = set[int]()
        for text in earlier:
            shown = _list_bare(text)
            length = min(_RUN, len(bare), len(shown))
            if length not in back_runs:
                back_runs[length] = {run for other in back for run in _list_runs(other, length)}
            runs = set(_list_runs(shown, length)) - back_runs[length]
            for first, run in enumerate(_list_runs(bare, length)):
                if run in runs:
                    counted.update(
                        range(rows[first], rows[first + length - 1] + 1)
                    )  # with blank lines between
        if rows and counted.issuperset(rows):
            return lines
        return [line for at, line in enumerate(lines) if at in counted]

    def _find_back(self, traced: TracedFact, answer: BlockRef, start: int) -> Iterator[str]:
        """Yield the outputs between a compaction and an answer that name the file, or whose call does."""
        end = self.at[answer.entry]
        between = (said.ref for said in traced.fact.said if start < self.at.get(said.ref.entry, -1) < end)
        for ref in {self.answers.get(ref, ref) for ref in between}:
            if self.at[ref.entry] < end and isinstance(block := self.session.block(ref), ToolOutput):
                yield block.text

    def _price(self, ref: BlockRef, tokens: int | None = None) -> Paid:
        """Return a block with its tokens and their cost, as it was first written or sent."""
        tokens = int(self.ledger.tokens[self.ledger.row(ref)]) if tokens is None else tokens
        written = self.session[ref.entry].role == "assistant"
        reply: Entry | None = self.session[ref.entry]
        if not written:  # the first reply after it
            later = (self.session.entries[i] for i in self.session.path[self.at[ref.entry] + 1 :])
            replies = (entry for entry in later if entry.role == "assistant" and entry.model != SYNTHETIC)
            reply = next(replies, None)
        model = self.model if reply is None or not reply.model else reply.model
        request = 0 if reply is None or reply.usage is None else int(reply.usage.request)
        share = (0, tokens) if written else (tokens, 0)
        return Paid(ref, tokens, price_tokens(model, *share, request=request))

    def _price_text(self, ref: BlockRef, text: str) -> Paid:
        """Return a part of a block, which costs no more than the block."""
        counted, whole = int(self.ledger.count_texts([text])[0]), self.ledger.tokens[self.ledger.row(ref)]
        return self._price(ref, min(counted, int(whole)))


class _PaidTime(NamedTuple):
    """One time that a fact was needed again: the last block before and the first after that says it, the
    blocks that were sent again, and whether the output was the same."""

    before: BlockRef
    again: BlockRef
    parts: tuple[Paid, ...]
    same: bool


def _holds(context: Remaining, ref: BlockRef | None) -> bool:
    return ref is not None and bool(context.rows[context.session.block_row(ref)])


def _list_bare(text: str) -> list[str]:
    """Return the lines of a text that are not blank, without their numbers."""
    return [line for row in text.splitlines() if (line := strip_number(row))]


def _list_runs(lines: list[str], length: int) -> Iterator[tuple[str, ...]]:
    """Yield every run of `length` consecutive lines; none if the length is 0."""
    return zip(*(lines[at:] for at in range(length)), strict=False)


def _repeats(rule: str, words: IndexedText) -> bool:
    """Return whether a sentence says a rule or a clause of it again, perhaps with another negation.

    >>> _repeats("Never edit the migrations.", IndexedText("don't you edit migrations, I said"))
    True
    >>> _repeats("Never edit the migrations.", IndexedText("Always edit the migrations first."))
    False
    """
    result = compare_fact("constraint", rule, words)
    # Who says it again may add words of his own: "I said it this morning: …".
    if result.outcome in (*IN_FULL, "partial") or result.reason in ("subject", "structure"):
        return True
    clauses = [clause for clause in _CLAUSES.split(rule) if sum(map(is_subject, read_terms(clause))) > 1]
    said = (compare_fact("constraint", clause, words) for clause in clauses)
    return any(one.outcome in IN_FULL or one.reason == "structure" for one in said)
