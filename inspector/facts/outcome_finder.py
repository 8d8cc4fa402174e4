"""Find the outcome of one fact at a time in the texts that a compaction left.

Takes facts as columns and a scene, and returns a `FactOutcome` on demand. An unchanged block takes precedence
over a quotation, a quotation over a pointer, and a pointer over a part of a name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..planning.plan import Plan
from ..session.blocks import BlockRef
from ..session.entries import Entry
from ..session.queries import readable_text
from ..session.session import Session
from ..session.tree import Bools, Ints
from .comparing import STATEMENTS, compare_fact, index_text
from .extract.statements import mark_sentence
from .facts import Fact, Facts, Occurrence
from .indexed_text import WORDS, IndexedText, SaidBefore, find_whole
from .line_search import LineMatch, find_lines, find_spelling
from .literal import PathBlock, find_blocks, find_literal, make_asked
from .mentions import FactPattern
from .occurrences import Occurrences, is_only_named, refer
from .outcomes import ABSENT, CODE, IN_FULL, RANK, RETAINED, FactComparison, Outcome
from .outdated import find_outdated
from .point_in_time import PointInTime
from .questions import compare_question
from .quoted_words import quote_message, quote_statement
from .remaining import How, Remaining, RemainingText, find_mention
from .replaced import Replacement

Evidence = Literal["recorded", "planned", "inferred"]
TIERS: tuple[Evidence, ...] = ("recorded", "planned", "inferred")
Codes = NDArray[Any]
_WORD = re.compile(r"[a-z][\w-]*")
_SOME_WORDS = 3
"""Words of a statement, at least."""
_READ = (*STATEMENTS, "command")
"""Kinds that are read in a summary: its words in a row can say something else there."""
MIN_SHARE = 0.6
"""The share of a question's weight from which on a line says it."""
_WAYS: dict[How, Outcome] = {
    "head": "verbatim",
    "shortened": "verbatim",
    "summary": "quoted",
    "notice": "quoted",
    "pointer": "pointer",
}
"""The outcome of a fact that a text has in full."""


def is_word(fact: Fact, text: str) -> bool:
    """Whether a text is hardly asked for as the folder that it names: a lower-case word is a word."""
    return fact.kind == "file" and _WORD.fullmatch(text) is not None


class FactOutcome(NamedTuple):
    """The outcome of a fact; see `TracedFact`."""

    outcome: Outcome
    tier: Evidence
    stands: tuple[BlockRef, ...] = ()
    carried: bool = False
    comparison: FactComparison = ABSENT


@dataclass(frozen=True, eq=False)
class TraceScope:
    """The context before a compaction, the context after it, and the compaction.

    `session` is the session before. The compaction is a `plan`, or a recorded one (`entry`). Without
    `placeholder`, a summary that is not written yet counts as empty.
    """

    session: Session
    before: Remaining
    after: Remaining
    plan: Plan | None = None
    entry: Entry | None = None
    placeholder: bool = True

    @property
    def clears(self) -> bool:
        """Whether outputs were emptied here, and nothing else was done."""
        boundary = None if self.entry is None else self.entry.boundary
        return boundary is not None and boundary.kind == "micro"

    @property
    def is_known(self) -> bool:
        """Whether the losses are known: from a plan, a readable summary, or a list of cleared outputs."""
        boundary = self.entry.boundary if self.entry is not None and self.clears else None
        return self.tier != "inferred" and (boundary is None or bool(boundary.cleared))

    @property
    def own_tier(self) -> Evidence:
        """The evidence for a block that is unchanged."""
        return "planned" if self.plan is not None else "recorded"

    @property
    def tier(self) -> Evidence:
        """The evidence for a fact that is gone; a clearing is recorded for each output."""
        if self.plan is not None or self.clears:
            return self.own_tier
        written = (stand for stand in self.after.others if stand not in self.before.others)
        return "recorded" if any(stand.recorded and stand.text for stand in written) else "inferred"


class FoundFact(NamedTuple):
    """A fact that was looked up: its finder, its number there, whether it could be read before, and the lines
    closest to words that no block says exactly."""

    finder: OutcomeFinder
    number: int
    stood: bool
    nearest: tuple[LineMatch, ...] = ()


def _flatten(text: str) -> str:
    """ " let s take 2 " for "Let's take 2."."""
    return f" {' '.join(WORDS.findall(text.casefold()))} "


class OutcomeFinder:
    """Finds the outcomes of the facts at a point in time in one scene, each on demand.

    Args:
        scene: The contexts before and after.
        point: The facts.
        longer: For a text that is looked up, the files whose paths end with it.
        meant: The line that the text is about.
        named_in: The facts of the session in which the text is looked up.
    """

    def __init__(
        self,
        scene: TraceScope,
        point: PointInTime,
        longer: tuple[Fact, ...] | None = None,
        meant: str = "",
        named_in: Facts | None = None,
    ) -> None:
        self.scene, self.point, self.occurrences = scene, point, point.occurrences
        self._longer, self._meant, self._named_in = longer, meant, named_in

    @property
    def replaced(self) -> Mapping[int, Replacement]:
        """The facts that the user replaced, by their places in the columns."""
        return self.point.replaced

    @cached_property
    def outdated(self) -> dict[int, Replacement]:
        """The facts that later work replaced (`find_outdated`), by their places in the columns.

        A text that is looked up is out of date if a commit that it names is.
        """
        single, session = self._named_in, self.scene.session
        if single is not None:
            items = find_outdated(single, session).items()
            matches = (item for number, item in items if self._names(single.every[number], item))
            return dict(enumerate(islice(matches, 1)))
        return self.occurrences.by_place(lambda facts: find_outdated(facts, session))

    def _names(self, fact: Fact, later: Replacement) -> bool:
        """Whether the words that someone asks for name a commit that was rewritten."""
        return later.how == "rewritten" and find_whole(fact.form, self.occurrences.facts[0].form) >= 0

    def fact(self, number: int) -> Fact:
        """A fact by its place in the columns."""
        return self.occurrences.facts[number]

    def said(self, number: int) -> tuple[BlockRef, ...]:
        """The blocks on the path that say it."""
        return refer(self.scene.session, self._rows(number).tolist())

    def _rows(self, number: int) -> Ints:
        """The rows of the blocks on the path that say a fact."""
        rows: Ints = self.occurrences.rows_of(number)
        return rows[self.point.on_path[rows]]

    def longer(self, number: int) -> tuple[Fact, ...]:
        """The files said so far that a file's name is the end of: of one it is another name."""
        if self._longer is not None:
            return self._longer
        return self._ending_in(self.occurrences.facts[number])

    def _ending_in(self, fact: Fact) -> tuple[Fact, ...]:
        if fact.kind != "file" or not is_only_named(fact):  # a path passed to a tool is a file of its own
            return ()
        form = fact.form.replace("\\", "/").removeprefix("./").strip("/")
        ending = self.occurrences.find_ending(form)
        matches = [
            candidate
            for candidate in ending
            if self.point.mentioned[candidate.number] and candidate.form != fact.form
        ]
        return tuple(candidate for candidate in matches if candidate.form.endswith("/" + form))

    def share_tail(self, number: int, tail: str) -> tuple[str, ...]:
        """The other files said so far that an end of its path may mean."""
        return self.occurrences.share_tail(self.occurrences.facts[number], tail, self.point.mentioned)

    def sayings(self, number: int) -> tuple[Occurrence, ...]:
        """Every place that says it, in the order of the path, under another name of the same thing too."""
        facts = [self.fact(number), *(self.fact(short) for short in self.point.shorter.get(number, ()))]
        longer = self.longer(number)
        facts += longer if len(longer) == 1 else ()
        every = {mention: None for fact in facts for mention in fact.said}
        order, index = self.scene.session.path_index, self.scene.session.index
        ranked = ((int(order[index[mention.ref.entry]]), mention) for mention in every)
        return tuple(
            mention
            for _, mention in sorted(ranked, key=lambda pair: (pair[0] < 0, pair[0], pair[1].ref.block))
        )

    @cached_property
    def _texts(self) -> list[PathBlock]:
        return list(find_blocks(self.scene.session))

    def look_up(self, form: str | tuple[str, str]) -> FoundFact | None:
        """What was said on the path though it has no row: a file by its shorter name, any words at all."""
        facts: Facts | None = self.occurrences.facts[0].facts if self.occurrences.facts else None
        if facts is None or form not in facts or len(facts) != len(self.occurrences.facts):
            return None if isinstance(form, tuple) else self._look_up_literal(form)
        number = facts[form].number
        if isinstance(form, str) and is_word(facts[form], form):
            return self._look_up_literal(form)
        rows = self._rows(number)
        if not len(rows):
            return None if isinstance(form, tuple) else self._look_up_literal(form)
        before = self.scene.before
        was_readable = bool(before.rows[rows].any()) or before.names(
            self.occurrences.pattern(number, self.scene.session)
        )
        return FoundFact(self, number, was_readable)

    def _look_up_literal(self, text: str) -> FoundFact | None:
        """Look up words that are not a fact but occur exactly on the path.

        A rule, a choice or most of a statement is compared as such: its words can be there and say something
        else.
        """
        fact = find_literal(self.scene.session, text)
        if fact is not None and fact.kind == "text":
            fact = replace(fact, kind=self._find_kind(text))
        return None if fact is None else self._trace(fact)

    def _find_kind(self, text: str) -> str:
        """Return the kind of statement that words are or are most of; "text" if none."""
        words = _flatten(text)
        if len(text.split()) < _SOME_WORDS:
            return "text"
        if (kind := mark_sentence(text)[0]) != "statement":
            return kind
        for fact in self.occurrences.facts:
            if fact.kind in STATEMENTS and fact.kind != "error" and words in (form := _flatten(fact.form)):
                if len(words) > len(form) / 2:
                    return fact.kind
        return "text"

    def ask(self, text: str, kind: str = "text") -> FoundFact:
        """Return the outcome of words that no block says exactly, with the closest lines.

        If the closest line writes them in another way, the words of the line are looked up.

        Args:
            text: The words.
            kind: "text" for a question, or the kind of statement to compare the words as.
        """
        lines = tuple(find_lines(self.scene.before, text))
        session = self.scene.session
        spelled = find_spelling(text, lines[0].text) if kind == "text" and lines else ""
        if spelled not in ("", text) and (found := self.look_up(spelled)) is not None:
            return found
        matches = [line for line in lines[:1] if line.share >= MIN_SHARE and line.ref.entry in session.index]
        meant = matches[0].text if matches else ""
        found = self._trace(make_asked(session, text, matches, kind), lines, meant)
        return found._replace(stood=bool(matches))

    def _trace(self, fact: Fact, nearest: tuple[LineMatch, ...] = (), meant: str = "") -> FoundFact:
        start, facts = self.scene.session.tree.start, fact.facts
        rows = (start[facts.entry] + facts.block).astype(np.int32)
        occurrences = Occurrences((fact,), rows, np.array([0, len(rows)], np.int32))
        point = PointInTime(occurrences, self.scene.session, self.scene.before)
        was_readable = not len(rows) or bool(point.readable[0])
        session_facts = self.occurrences.facts[0].facts if self.occurrences.facts else None
        look = OutcomeFinder(self.scene, point, self._ending_in(fact), meant, session_facts)
        return FoundFact(look, 0, was_readable, nearest)

    def named(self, number: int) -> tuple[BlockRef, ...]:
        """The blocks on the path that name it: those known to say it, and every other that does literally."""
        session, shorter = self.scene.session, self.point.shorter.get(number, ())
        pattern = self.occurrences.pattern(number, session)
        names = {self.occurrences.facts[short].form for short in shorter}
        rows = {row for fact_number in (number, *shorter) for row in self._rows(fact_number).tolist()}
        keys = {pattern.parts[-1]} if pattern.parts else set(pattern.keys)
        for at, number, text in self._texts:
            row = int(session.tree.start[at]) + number
            if row not in rows and any(key in text for key in keys):
                mention = find_mention(text, pattern)
                if mention is not None and (mention.full or mention.words in names):
                    rows.add(row)
        entries = np.searchsorted(session.tree.start, sorted(rows), side="right") - 1
        ranked = sorted(zip(session.path_index[entries].tolist(), sorted(rows), strict=True))
        return refer(session, [row for _, row in ranked])

    def find(self, number: int) -> FactOutcome:
        """Find the outcome of a fact by its number."""
        later = self.replaced.get(number)
        if later is not None and later.rest:
            left = self._find(number, later.rest)
            if left.outcome not in IN_FULL:
                return left
        outcome = self._find(number)
        if later is None:
            outdated = outcome.outcome not in IN_FULL and number in self.outdated
            return outcome._replace(outcome="superseded", stands=()) if outdated else outcome
        carried = outcome.outcome in IN_FULL
        carriers = outcome.stands if carried else ()
        return outcome._replace(outcome="superseded", carried=carried, stands=carriers)

    def _find(self, number: int, form: str = "") -> FactOutcome:
        """Find the outcome of a fact, or of a part of it (`form`) that a summary says."""
        scene, rows = self.scene, self._rows(number)
        stays = rows[scene.after.rows[rows]].tolist()
        if stays:
            return FactOutcome("verbatim", scene.own_tier, refer(scene.session, stays))
        return self._search(number, form)

    def judge(self) -> tuple[Codes, Bools]:
        """Return an outcome for every readable fact (int8, -1 for others), and which must be looked up."""
        point, after, keys = self.point, self.scene.after, self.point.keys
        was_readable, codes = point.readable, np.full(len(point.mentioned), -1, np.int8)
        if keys is None:
            return codes, was_readable
        whole = self.occurrences.any(after.rows & point.on_path)
        pointed = self.occurrences.any(after.pointed_rows & point.on_path)
        codes[was_readable] = CODE[self._nothing]
        maybe = np.zeros(len(codes), bool)
        maybe[list(keys.find_candidates(after, self._said_before))] = True
        if self.scene.plan is not None:
            named = point.find_named(after)
            whole |= named == CODE["verbatim"]
            codes[was_readable & (named == CODE["partial"])] = CODE["partial"]
            codes[was_readable & pointed] = CODE["pointer"]
        else:
            maybe |= pointed
            if after.rows.any():
                maybe[list(keys.held_by(after.index))] = True
        codes[was_readable & whole] = CODE["verbatim"]
        return codes, was_readable & ~whole & maybe

    def _search(self, number: int, form: str) -> FactOutcome:
        """Find the outcome of a fact without an unchanged block."""
        occurrences, scene = self.occurrences, self.scene
        pattern = occurrences.pattern(number, scene.session)
        # A plan's moment is read once for all plans; of a recorded compaction the little that it left.
        index = scene.after.index if scene.plan is None else scene.before.index
        hit = index.find(pattern, scene.after.rows)
        blocks = (
            [] if hit is None else [RemainingText(ref, "", "head") for ref in refer(scene.session, hit[0])]
        )
        if hit is not None and hit[1].full:
            return self._make("verbatim", blocks, FactComparison("verbatim", hit[1].words))
        others = scene.after.others
        places = [(others[at], self._compare(number, pattern, at, form)) for at in self._others(pattern)]
        if pointers := scene.after.pointers(self.said(number)):
            places.append((pointers[0], FactComparison("pointer")))
        if hit is not None:
            places += [(stand, FactComparison("partial", hit[1].words, reason="part")) for stand in blocks]
        if self.fact(number).kind == "text":
            places += self._compare_lines(number)
        if not places:
            return self._make(self._nothing, [], ABSENT)
        best = max(
            (result for _, result in places), key=lambda result: (RANK[result.outcome], len(result.words))
        )
        if best.outcome == "absent":
            return self._make(self._nothing, [], ABSENT)
        return self._make(
            best.outcome, [stand for stand, result in places if result.outcome == best.outcome], best
        )

    def _compare_lines(self, number: int) -> list[tuple[RemainingText, FactComparison]]:
        """Compare a question with each close line of the unchanged blocks."""
        question, after = self.fact(number).form, self.scene.after
        lines = find_lines(after, question, summaries=False)
        return [
            (
                RemainingText(line.ref, line.text, "head"),
                compare_question(question, index_text(line.text), self._said_before)._replace(
                    start=line.start
                ),
            )
            for line in lines
        ]

    @cached_property
    def _said_before(self) -> SaidBefore:
        return self.occurrences.make_said(self.scene.before.says)

    @property
    def _nothing(self) -> Outcome:
        """The outcome of a fact of which nothing is found."""
        return "absent" if self.scene.is_known else "unknown"

    def _others(self, pattern: FactPattern) -> list[int]:
        """The texts in others' place that may name a fact; every summary may say it in other words."""
        after = self.scene.after
        return sorted(after.other_index.may_name(pattern).union(after.summaries))

    def _compare(self, number: int, pattern: FactPattern, at: int, form: str) -> FactComparison:
        """Compare a fact with the replacing text of this number."""
        fact, after = self.fact(number), self.scene.after
        stand, mention = after.others[at], after.other_index.find_in(at, pattern)
        if mention is not None and mention.full and (stand.how != "summary" or fact.kind not in _READ):
            return FactComparison(_WAYS[stand.how], mention.words, stand.text.find(mention.words))
        part = ABSENT
        if mention is not None and not pattern.parts:
            # All of its words in a row that do not say it may still stand for it.
            whole = mention.full and fact.kind in STATEMENTS
            outcome: tuple[Outcome, str] = ("unclear", "structure") if whole else ("partial", "part")
            part = FactComparison(outcome[0], mention.words, reason=outcome[1])
        if stand.how not in ("summary", "notice"):
            return part
        if stand.placeholder and fact.kind in STATEMENTS:
            return quote_statement(form or fact.form, index_text(stand.text))
        latest = fact.kind != "number" or (self.occurrences.is_latest(fact) and self._is_stated(number))
        best = compare_fact(fact.kind, form or fact.form, index_text(stand.text), self._said_before, latest)
        if self._meant and best.outcome in IN_FULL:
            # "Which port is it?" has no value of its own that could be another one.
            answer = compare_fact("statement", self._meant, index_text(stand.text), self._said_before)
            best = answer if answer.outcome in ("changed", "contradicted") else best
        if fact.kind in STATEMENTS and best.outcome not in IN_FULL:
            best = self._find_message(number, index_text(stand.text)) or best
        if fact.kind == "file" and best.outcome == "quoted" and self.share_tail(number, best.words):
            best = best._replace(outcome="partial", reason="end of several paths")
        if pattern.commit and best.outcome == "quoted":  # every length of a commit's id is found above
            best = ABSENT
        if stand.placeholder and best.outcome not in (*RETAINED, "partial"):
            best = ABSENT  # a placeholder only quotes
        return max(best, part, key=lambda result: RANK[result.outcome])

    def _is_stated(self, number: int) -> bool:
        """Whether more than the arguments of a call says a fact: the "limit" of one call does not hold for
        the next."""
        return any(self.scene.session.block(ref).kind != "tool_call" for ref in self.said(number))

    def _find_message(self, number: int, text: IndexedText) -> FactComparison | None:
        """Find a statement in a text that quotes more of the message with it."""
        session, form = self.scene.session, self.fact(number).form
        if _flatten(form) not in text.flat:
            return None
        messages = (readable_text(session.block(ref)) for ref in self.said(number))
        comparisons = (quote_message(form, message, text) for message in messages)
        return next(filter(None, comparisons), None)

    def _make(
        self, outcome: Outcome, places: Sequence[RemainingText], comparison: FactComparison
    ) -> FactOutcome:
        # A recorded summary and an unchanged block are evidence themselves.
        # A remaining tail of a path is no better evidence than nothing at all.
        is_kept = outcome in RETAINED
        sure = is_kept and all(stand.recorded or stand.how == "head" for stand in places)
        scene = self.scene
        tier: Evidence = scene.own_tier if outcome == "verbatim" else "recorded" if sure else scene.tier
        refs = tuple(dict.fromkeys(stand.ref for stand in places))
        return FactOutcome(outcome, tier, refs, comparison=comparison)
