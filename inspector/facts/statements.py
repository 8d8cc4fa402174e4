"""Read a statement against a text: does the text say the same, less, something else, or the opposite?

Each candidate place is read twice. A near copy has most of the statement's terms in order; its edits are
judged. Other places are compared in this order: values, force, negation, then the remaining words. A
statement is `quoted` or `paraphrased` only if every value, negation and limit of it is there. Undecided cases
are `unclear`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from .added_words import FRAME, is_changed
from .force import (
    CONDITIONS,
    ENDED,
    EXCEPTIONS,
    ORDER_WORDS,
    RULES_OUT,
    Force,
    find_asides,
    find_clauses,
    find_lost_negation,
    find_opposed,
    has_negation,
    is_excepted,
    is_negation,
    keeps_refusals,
    read_force,
)
from .function_words import agrees, find_limit, find_other_state, find_unlike
from .indexed_text import NOTHING_SAID, IndexedText, SaidBefore, Sentence, is_part, is_same, is_subject
from .near_copies import NEAR, Edit, find_edits
from .other_values import find_frame, find_near_values, find_other_number, find_same_value
from .outcomes import ABSENT, RANK, FactComparison, Outcome
from .quoted_words import find_words
from .structure import find_other_structure, read_negations, split_relative
from .terms import Term, read_terms
from .vocabulary import LIGHT, LIMITS, LOWER_LIMITS, is_general, stem
from .word_order import (
    JOINS,
    RELATIONS,
    find_exchange,
    find_reversed,
    find_value_swap,
    is_alike_name,
    is_misspelt,
    is_same_kind,
    pair_terms,
)

COPY, SAME, TOPIC, SURE = 0.75, 0.9, 0.5, 0.6
"""Shares of a statement: terms in order of a copy that may be quoted, and of the same sentence; weight that
makes a place one about the same subject, and one that can contradict."""
ENOUGH = 2.5
"""The least shared weight that identifies a statement of several words."""


def compare_statement(
    statement: str,
    text: IndexedText,
    is_said: SaidBefore = NOTHING_SAID,
    *,
    asks: bool = True,
    exact: bool = False,
) -> FactComparison:
    """Compare a statement with a text.

    Args:
        statement: A sentence that someone said.
        text: The text to search, such as a summary.
        is_said: Whether the session said some words: what was said itself is no change of this statement.
        asks: Whether the statement asks for something, as rules and choices do. Only such a statement can be
            softened or contradicted in other words.
        exact: Whether every word counts, as in an error message.

    >>> text = IndexedText("Spend at most $600 per run. Pushing to main is fine.")
    >>> compare_statement("Spend at most $500 per run.", text)[:2]
    ('changed', 'Spend at most $600 per run')
    >>> compare_statement("Never push to main.", text).outcome
    'contradicted'
    """
    terms = read_terms(statement)
    best = find_words(statement, terms, text, exact) or ABSENT
    if best.outcome not in ("absent", "unclear", "quoted") or not any(map(is_subject, terms)):
        return best
    force = read_force(terms)
    weights = {at: text.weigh(term) for at, term in enumerate(terms) if is_subject(term)}
    own = _Statement(
        statement, terms, force, find_asides(terms, force), find_frame(terms), weights, asks, exact
    )
    for sentence in text.find_candidates(terms) if best.outcome != "quoted" else ():
        place = _Place(own, sentence, text, is_said)
        result = place.compare()
        if result.reason == "negated" and keeps_refusals(place.pairs, place.here, place.there):
            result = result._replace(outcome="unclear", reason="negation")
        if RANK[result.outcome] > RANK[best.outcome] or best is ABSENT:
            best = result
        if best.outcome == "quoted":
            break
    if asks and best.outcome in ("quoted", "paraphrased"):
        return _find_cancelled(own, text, best, is_said) or best
    return find_same_value(terms, text, best)


def _find_cancelled(
    own: _Statement, text: IndexedText, earlier: FactComparison, is_said: SaidBefore
) -> FactComparison | None:
    """Find a sentence behind the one that has a statement which permits or cancels what it asks for.

    >>> text = IndexedText("Never touch the parser. From now on you may touch the parser.")
    >>> compare_statement("Never touch the parser.", text)[:2]
    ('unclear', 'touch the parser')
    """
    for sentence in text.find_candidates(own.terms):
        if sentence.start >= earlier.start + len(earlier.words):
            place = _Place(own, sentence, text, is_said)
            result = place.compare()
            if result.outcome == "contradicted" and {"permission", "cancel"} & place.there.sorts:
                return result._replace(outcome="unclear", reason="structure")
    return None


_ENDS = re.compile(r"[.!?](?!\w)")
_OPERATORS = re.compile(r"&&|\|\||[<>!=]=|(?<![-=])>|<(?!-)|[≤≥≠]")
_SIGNS = {"≤": "<=", "≥": ">=", "≠": "!=", "−": "-"}
"""Other characters of operators and of a minus."""


class _Statement(NamedTuple):
    """A statement as it is compared with each place: its terms, and the weights of those of its subject."""

    words: str
    terms: tuple[Term, ...]
    force: Force
    asides: set[int]
    frame: set[int]
    weights: dict[int, float]
    asks: bool
    exact: bool


class _Place:
    """A statement and one place of a text."""

    def __init__(
        self, statement: _Statement, sentence: Sentence, text: IndexedText, is_said: SaidBefore
    ) -> None:
        self.statement, self.own, self.other = statement.words, statement.terms, sentence.terms
        self.is_said, self.asks, self.exact = is_said, statement.asks, statement.exact
        self.start = sentence.start
        self.source, self.text = text.text, text.text[sentence.start : sentence.end]
        self.pairs = pair_terms(self.own, self.other)
        self.met = dict(self.pairs)
        self.near = {there for _, there in self.pairs if is_subject(self.other[there])}
        self.here = statement.force
        self.aside, weights = statement.asides, statement.weights
        self.required = [at for at in weights if at in self.met or at not in self.aside] or list(weights)
        self.missing = [at for at in self.required if at not in self.met]
        whole = sum(weights[at] for at in self.required)
        self.share = 1 - sum(weights[at] for at in self.missing) / whole
        words = [at for at in self.required if self.own[at].sort == "word"]
        if self.met.keys() >= (told := {at for at in words if at in self.met or at not in statement.frame}):
            words = sorted(told)
        matched_weight = sum(weights[at] for at in words if at in self.met)
        self.topic = matched_weight / sum(weights[at] for at in words) if words else self.share
        self.weight = sum(
            {self.own[at].form: weights[at] if at in self.met else 1 for at in weights}.values()
        )

    @cached_property
    def there(self) -> Force:
        """How the clauses of the place bind that have a term of the statement."""
        return read_force(self.other, self.near)

    @cached_property
    def is_bounded(self) -> bool:
        """Whether both sides have the same bounds, and nothing else that negates."""
        same = agrees(self.own, self.other, self.pairs)
        return same and not (read_negations(self.own) or read_negations(self.other))

    def compare(self) -> FactComparison:
        """Compare as a near copy if it is one, else in other words."""
        edits = self._align()
        differs = edits is not None and has_negation(self.own) != has_negation(self.other)
        copied = None if edits is None or (differs and self.is_bounded) else self._read_edits(edits)
        result = copied or self._compare_words()
        if result.outcome in ("quoted", "paraphrased"):
            result = self._check(result, copied is not None)
        if result.outcome == "quoted" and not all(self._is_same_word(*pair) for pair in self.pairs):
            return result._replace(outcome="paraphrased")
        return result

    def _check(self, result: FactComparison, is_copy: bool) -> FactComparison:
        """Return what two texts with the same words still do not share: limits, order, exceptions."""
        if limit := find_limit(self.own, self.other, self.pairs):
            return self._differ("changed" if limit[0] else "unclear", *limit[1], "limit")
        if opposite := find_unlike(self.pairs, self.here, self.there):
            return self._differ("unclear", *opposite, "another word")
        if state := find_other_state(self.own, self.other, self.pairs):
            return self._differ("changed", *state, "value")
        lost = find_lost_negation(self.own, self.pairs, self.here, self.there)
        if (
            lost >= 0
            and (lost not in self.aside or lost in self.met)
            and not {"limit", "condition"} & self.there.sorts
        ):
            return self._differ("unclear", lost, None, "negation")
        if operators := self._find_operators():
            return self._make("changed" if operators[1] else "unclear", "operator", *operators)
        for find in (find_reversed, find_exchange):
            if swapped := find(self.pairs, self.own, self.other):
                return self._differ("changed", *swapped, "order")
        for at, to in self.pairs:
            if self._is_negative(self.statement, self.own[at]) != self._is_negative(
                self.text, self.other[to]
            ):
                return self._differ("changed", at, to, "value")
        own_forms = {term.form for term in self.own}
        last = max(self.near, default=-1)
        for clause in find_clauses(self.other):
            if clause[-1] <= last:
                continue
            begin = next((at for at in clause if at > last and self.other[at].form in EXCEPTIONS), -1)
            words = self.text[self.other[max(begin, clause[0])].start : self.other[clause[-1]].end]
            if begin >= 0 and not own_forms & EXCEPTIONS:
                return self._make("partial", "exception", instead=words)
            if clause[0] > last and "permission" not in self.here.sorts and self._find_cancels(clause):
                about = [
                    at for at in clause if is_subject(self.other[at]) and self.other[at].form not in ENDED
                ]
                is_other = any(self.other[at].form not in own_forms | FRAME for at in about)
                if is_other or any(is_negation(self.other[at]) for at in clause):
                    return self._make("unclear", "structure")  # "(the old limit was removed)"
                return self._make("contradicted", "revoked", instead=words)
        paired = set(self.met.values())
        place = self.start + self.other[min(paired)].start
        if self.asks and is_changed(self.source, place, self.other, paired, self.own, is_copy):
            return self._make("unclear", "structure")
        if unlike := find_other_structure(self.pairs, self.here, self.there, self.aside):
            return self._differ("unclear", *unlike, "structure")
        return result

    def _find_operators(self) -> tuple[str, str] | None:
        """Return an operator of the statement and what the place has for it; None if they agree.

        "At least" agrees with ">=", and "at most" with "<=".
        """
        own, other = (
            {_SIGNS.get(sign, sign) for sign in _OPERATORS.findall(text)}
            for text in (self.statement, self.text)
        )
        if not own - other:
            return ("", "!=") if "!=" in other - own else None
        sign = min(own - other)
        forms = {term.form for term in self.other}
        if (sign == ">=" and forms & LOWER_LIMITS) or (sign == "<=" and forms & LIMITS):
            return None
        return sign, min(other - own, default="")

    @staticmethod
    def _is_negative(text: str, term: Term) -> bool:
        """Whether a number has a minus: "-5", but not the bar of "3-5" or of "UTC-5"."""
        before = text[max(0, term.start - 2) : term.start]
        return term.form[:2] == "n:" and before[-1:] in ("-", "−") and not before[:-1].isalnum()

    @cached_property
    def is_question(self) -> bool:
        """Whether what matches is asked: "?" is the first mark behind it that ends a sentence."""
        end = _ENDS.search(self.text, max(0, self.span[1] - 1))
        return end is not None and end[0] == "?"

    @cached_property
    def span(self) -> tuple[int, int]:
        """The span, in the place, of the words that match."""
        terms = [self.other[at] for at in self.near]
        if not terms:
            return 0, len(self.text)
        return min(term.start for term in terms), max(term.end for term in terms)

    def _make(
        self,
        outcome: Outcome,
        reason: str = "",
        own_words: str = "",
        instead: str = "",
        at: Term | None = None,
    ) -> FactComparison:
        """Return a comparison with the words that match, and the term `at` that differs."""
        start, end = self.span
        if at is not None:
            start, end = min(start, at.start), max(end, at.end)
        return FactComparison(outcome, self.text[start:end], self.start + start, own_words, instead, reason)

    def _differ(self, outcome: Outcome, own: int, other: int | None, reason: str) -> FactComparison:
        own_words = self.statement[self.own[own].start : self.own[own].end]
        if other is None:
            return self._make(outcome, reason, own_words)
        at = self.other[other]
        return self._make(outcome, reason, own_words, self.text[at.start : at.end], at)

    # In other words

    def _compare_words(self) -> FactComparison:
        here, own, other = self.here.sorts, self.own, self.other
        is_question = self.is_question
        bound = here & {"strict", "negation"}
        negations = {at for at, term in enumerate(own) if term.sort == "negation"}
        # "45 seconds, not 30" refuses nothing that a text can permit.
        binding = bound - {"negation"} if negations and negations <= self.aside else bound
        if self.asks and not is_question and self.share < TOPIC and self._has_main_clause():
            return self._compare_force(binding, []) or self._make("unclear", "subject")
        # All that a statement has besides one value, as in "Deadline 12 June", is enough to see another one.
        few = len(self.own) > 3 or not self.near or is_general(self.own[self.pairs[0][0]].form)
        few = few and not self._is_measure()
        if self.asks and self.topic == 1 and not is_question and (len(self.near) > 1 or not few):
            result = self._compare_force(binding, [])
            if result is not None and result.reason == "value":
                return result
        is_short = self.weight < ENOUGH and not (self.share == 1 and self._is_alone())
        if is_short or self.topic < 0.4 or self.share < TOPIC or not self.near or is_question:
            refused = any(at in self.here.refused and to in self.there.refused for at, to in self.pairs)
            is_close = self.share == 1 and (self.weight >= 2 or refused) and self.near
            if is_close or not self.asks or is_question:
                return self._make("unclear", "subject") if is_close else ABSENT
            number = find_other_number(own, other, self.missing, self.near, self.topic == 1)
            return self._differ("unclear", *number, "value missing") if number else ABSENT
        there = self.there.sorts
        against, sure = find_opposed(self.pairs, self.here, self.there, own)
        if against and self.is_bounded:  # "not longer than 5" negates what "at most 5" does not
            against, sure = [], False
        sure = sure and not self._is_negated_aside()
        if self.asks and (result := self._compare_force(binding, against if sure else [])):
            return result
        gone = [at for at in self.missing if own[at].sort == "value"]
        if gone:
            is_topic = self.asks and self.topic >= COPY
            return self._differ("partial" if is_topic else "unclear", gone[0], None, "value missing")
        one_sided = ("negation" in bound) != ("negation" in there) and not self.is_bounded
        one_sided = one_sided and not ("negation" in bound and self.here.refused <= self.aside)
        if against or (one_sided and not {"limit", "condition"} & (here | there)):
            return self._make("unclear", "negation")
        heavy = [at for at in self.missing if own[at].form not in LIGHT]
        most = int(len(self.required) >= 5 and not self.exact)
        if len(heavy) > most or (heavy and heavy[0] == self.required[0]):
            return self._make("unclear", "words missing") if self.share >= NEAR else ABSENT
        if any(own[at].form in ORDER_WORDS for at in heavy):
            return self._make("partial" if self.asks else "unclear", "words missing")
        if any(map(self._begins_part, heavy)) or (heavy and self._has_other_words()):
            return self._make("unclear", "words missing")
        if self.asks and "strict" in here and not (there & {"strict", "negation"} or self.is_bounded):
            return self._make("partial", "force missing")
        # What a report says of the subject of a to-do is not the to-do.
        if not self.asks and any(at > to for (_, at), (_, to) in pairwise(self.pairs)):
            return self._make("unclear", "subject")
        complete = len(self.met) == sum(term.sort not in ("mark", "small") for term in own)
        return self._make("quoted" if complete and not self.missing else "paraphrased", "words")

    def _is_measure(self) -> bool:
        """Whether both sides are a name and a number: "the upload limit is 25 MB", "upload limit: 25 GB"."""
        return bool(self.near) and all(
            sum(term.sort not in ("mark", "small") for term in side) <= 3
            and all(term.form[0] in "nd" for term in side if term.sort == "value")
            and sum(term.sort == "word" for term in side) == 1
            for side in (self.own, self.other)
        )

    def _is_alone(self) -> bool:
        """Whether a sentence binds and has no subject but the statement's: "tabs must be used"."""
        binds = "strict" in self.there.sorts or (self.here.soft and self.there.soft)
        return bool(binds) and all(
            at in self.near or term.form in FRAME for at, term in enumerate(self.other) if is_subject(term)
        )

    def _is_same_word(self, at: int, to: int) -> bool:
        """Whether two words are the same, and not just forms of one."""
        item, other = self.own[at], self.other[to]
        words = self.statement[item.start : item.end], self.text[other.start : other.end]
        return item.sort != "word" or words[0].casefold() == words[1].casefold()

    def _has_main_clause(self) -> bool:
        """Whether all that is bound matches, and only the condition is missing: "… without a review"."""
        own = self.own
        end = next((at for at, term in enumerate(own) if at and term.form in CONDITIONS), 0)
        main = [at for at in range(end) if is_subject(own[at])]
        return len(main) > 1 and all(at in self.met for at in main)

    def _begins_part(self, at: int) -> bool:
        """Whether a word is the first of the subject in a part: "drop" in "encode it and drop the titles"."""
        parts = (is_subject(term) or term.sort == "mark" or term.form in JOINS for term in self.own[:at])
        before = [term for term, counts in zip(self.own, parts, strict=False) if counts]
        return bool(before) and not is_subject(before[-1]) and at not in self.here.refused

    def _has_other_words(self) -> bool:
        """Whether other words than the statement's are among those that match."""
        paired = set(self.met.values())
        extra = range(min(self.near), max(self.near) + 1)
        return any(
            is_subject(self.other[at]) and self.other[at].form not in LIGHT | RELATIONS and at not in paired
            for at in extra
        )

    def _compare_force(self, bound: set[str], against: list[int]) -> FactComparison | None:
        """Compare what another value, a permission, a softer word or a negation makes of a rule."""
        here, there, own, other = self.here, self.there, self.own, self.other
        if "cancel" in there.sorts - here.sorts and self._is_cancelled():
            return self._make("contradicted", "revoked")
        permits = "permission" in there.sorts - here.sorts and not there.sorts & {"strict", "negation"}
        if permits and bound:
            return self._make("contradicted", "permitted")
        extra = find_near_values(self.other, self.near, set(self.met.values()) | self.there.mentioned)
        for at in self.missing:
            if own[at - 1].form in RULES_OUT:  # "384 MB, not 512"
                continue
            value = next(
                (to for to in extra if own[at].sort == "value" and is_same_kind(own[at], other[to])), None
            )
            # Another name is another thing, unless the same is asked of it.
            first = self.required[0]
            is_other = own[at].form[0] in "wp" and first != at and first not in self.met
            if value is not None and self.topic >= NEAR and not is_other:
                around = slice(other[max(0, value - 2)].start, other[min(len(other), value + 3) - 1].end)
                if self.is_said(self.text[around]):
                    return self._make("absent", "said of another")
                name = other[value]
                if own[at].form[:2] == "w:" and self.is_said(self.text[name.start : name.end]):
                    return self._make("unclear", "words missing")  # the user may have renamed it
                return self._differ("changed", at, value, "value")
        had = set(map(stem, here.soft))
        if softer := {form for form in there.soft if stem(form) not in had}:
            return self._make("partial", "softened", instead=min(softer))
        if against and self.share >= SURE:
            return self._differ("contradicted", against[0], self.met[against[0]], "negated")
        return None

    def _is_cancelled(self) -> bool:
        """Whether a word that cancels stands beside what the text has of the statement: "the cap was
        lifted"; in "an optional cap was set on the load", something else is optional."""
        names_missing = any(
            self.own[at].sort == "value" and self.own[at].form[:2] != "n:" for at in self.missing
        )
        if self.share < TOPIC or names_missing or "permission" in self.here.sorts:
            return False
        every = range(len(self.other))
        cancels = self._find_cancels(every)
        for part in split_relative(self.other):
            for place, at in enumerate(part):
                following = next((item for item in part[place + 1 :] if is_subject(self.other[item])), -1)
                # "The keys are no longer in the old folder" says nothing of where they are.
                is_adverb = following >= 0 and self.other[at].form == "no longer"
                is_adverb = is_adverb and all(
                    self.other[item].sort == "small" for item in range(at + 1, following)
                )
                before = [] if is_adverb else part[:place]
                if at in cancels and not self.near.isdisjoint({following, *before}):
                    return True
        return not cancels and not any(self.other[at].sort == "cancel" for at in every)

    def _find_cancels(self, places: Iterable[int]) -> list[int]:
        """Return the places whose words cancel something, and are not the statement's own: "cancel"."""
        own = tuple(term.form for term in self.own if term.sort == "word" and len(term.form) > 3)
        terms = ((at, self.other[at]) for at in places)
        return [
            at
            for at, term in terms
            if (term.sort == "cancel" or term.form in ENDED) and not stem(term.form).startswith(own)
        ]

    def _is_negated_aside(self) -> bool:
        """Whether the text negates only what the statement does not have, as in "the not so old files", or
        asks for what the statement forbids to do without: "never deploy without a review"."""
        negations = read_negations(self.other)
        if negations:
            return all(head >= 0 and head not in self.near for head, _ in negations)
        return "condition" in self.here.sorts and not self.missing

    # A near copy

    def _align(self) -> list[Edit] | None:
        """Return the edits from the statement to the place, or None if it is no near copy."""
        found = find_edits(self.own, self.other)
        if found is None:
            return None
        edits, self.matched = found
        return edits

    def _read_edits(self, edits: Sequence[Edit]) -> FactComparison | None:
        """Return what the edits of a near copy do, or None if they decide nothing."""
        own = [term for term in self.own if term.sort != "mark"]
        other = [term for term in self.other if term.sort != "mark"]
        asides = {self.own[at] for at in self.aside}  # "45 seconds, not 30": what is ruled out in passing
        every_gone = [term for edit in edits for term in own[edit.a : edit.a_end] if term not in asides]
        every_new = [term for edit in edits for term in other[edit.b : edit.b_end]]
        moved = not any(
            has_negation(own[edit.a : edit.a_end]) and has_negation(other[edit.b : edit.b_end])
            for edit in edits
        )
        if has_negation(every_gone) and has_negation(every_new) and moved:
            return None
        is_question = self.is_question and "?" not in self.statement
        # "Not more than 5" is no negation of "at most 5".
        over = any(term.sort == "over" for term in (*every_gone, *every_new))
        outcome: Outcome | None = "quoted" if self.matched >= COPY and not is_question else None
        inner = [edit for edit in edits if edit.a < edit.a_end or 0 < edit.a < len(own)]
        for edit in edits:
            gone = _without([term for term in own[edit.a : edit.a_end] if term not in asides], every_new)
            new = _without(other[edit.b : edit.b_end], every_gone)
            sorts, had = {term.sort for term in new}, {term.sort for term in gone}
            own_words, instead = _cut(gone, self.statement), _cut(new, self.text)
            if "cancel" in sorts - had and self._is_cancelled():
                return self._make("contradicted", "revoked", own_words, instead)
            limited = any(item.form in LIMITS for item in gone)
            if "over" in sorts - had and limited and not has_negation(every_new):
                return self._make("contradicted", "negated", own_words, instead)
            if "soft" in sorts - had:
                return self._make("partial", "softened", own_words, instead)
            if has_negation(gone) != has_negation(new):
                if keeps_refusals(self.pairs, self.here, self.there) or self._is_negated_aside():
                    return None
                sure = not any(map(is_subject, gone)) and (
                    (not ("strict" in sorts | had or over) or {item.form for item in new} == {"always"})
                    and not is_question
                    and (self.asks or self.matched >= SAME)
                    and not is_excepted(self.own, self.other)
                )
                return self._make("contradicted", "negated", own_words, instead) if sure else None
            words = [term for term in gone if is_subject(term) and term.form not in LIGHT]
            put = [term for term in new if is_subject(term)]
            swap = find_value_swap(words, put)
            is_alike = swap is None or is_alike_name(*swap)
            # A path and another name are two values only if they are spelled alike.
            if swap and not is_alike:
                if self.exact and not edit.a:  # the class of an error, and the test that it breaks
                    outcome = "partial" if outcome else outcome
                    continue
                if swap[0].form[0] != swap[1].form[0] or not (self.asks or self.exact):
                    return None
            is_name = not f"{own_words}{instead}".islower()  # "Lena", "Lina"
            if swap is None and len(words) == len(put) == 1 and not is_name and is_misspelt(words[0], put[0]):
                return self._make("unclear", "another word", own_words, instead)
            one_word = len(words) == len(put) in (1, 2) and words[0].sort == put[0].sort
            one_word = one_word and edit.a > 0 and edit.a_end - edit.a <= 3 and len(inner) == 1
            if swap is None and one_word and (self.asks or self.exact) and self.matched >= 2 / 3:
                swap = words[0], put[0]
            if swap is not None and is_part(*swap):
                return self._make(
                    "partial", "end of the path", _cut(swap[:1], self.statement), _cut(swap[1:], self.text)
                )
            if swap is not None:
                around = other[max(0, edit.b - 2) : min(len(other), edit.b_end + 2)]
                if self.is_said(_cut(around, self.text)):
                    return self._make("absent", "said of another")
                kinds = {term.form[0] for term in swap if term.sort == "value"}
                if len(kinds) == 2 and self.is_said(_cut(swap[1:], self.text)):
                    return self._make("unclear", "another value")  # "session.State", "session/state.go"
                return self._make(
                    "changed", "value", _cut(swap[:1], self.statement), _cut(swap[1:], self.text), swap[1]
                )
            if words and put:
                return None
            if outcome and (words or "strict" in had - sorts):
                outcome = "partial"
        if outcome == "partial" and not self.asks:
            outcome = "unclear"
        return self._make(outcome, "words missing" if outcome != "quoted" else "words") if outcome else None


def _without(terms: Sequence[Term], others: Sequence[Term]) -> list[Term]:
    return [term for term in terms if not any(is_same(term, other) for other in others)]


def _cut(terms: Sequence[Term], text: str) -> str:
    return text[terms[0].start : terms[-1].end] if terms else ""
