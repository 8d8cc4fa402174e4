"""How a fact's outcome is found: what of it stands in the texts that a compaction left, one fact at a time.

In go facts as columns and a scene, out comes a `FactOutcome` for each that someone looks at. What stands as
it was said goes before what quotes it, that before a pointer, that before a part of a name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice

import numpy as np

from ..errors import check_stopped
from ..session.blocks import BlockRef
from ..session.queries import readable_text
from ..session.session import Session
from ..session.tree import BRANCH_SUMMARY, COMPACTION, Bools
from .comparing import STATEMENTS, compare_fact, index_text
from .fact_keys import FactKeys
from .facts import Fact, Facts, Said
from .indexed_text import ALL_SAID, SaidBefore, find_whole
from .line_search import LineMatch, find_lines
from .literal import find_in_head, find_literal, make_asked, respell, tell_absence
from .mentions import FactPattern, SearchText, read_words
from .occurrences import Occurrences, is_only_named, refer
from .outcomes import CODE, IN_FULL, KEPT, Outcome
from .outdated import find_outdated
from .questions import compare_question
from .remaining import How, Remaining, RemainingText, TextIndex
from .replaced import Replacement, find_replaced
from .statements import ABSENT, FactComparison, quote_statement
from .traced import Codes, Evidence, FactOutcome, TracedFact, TraceScope, is_word

_READ = (*STATEMENTS, "command")
"""Kinds that are read in a summary: its words in a row can say something else there."""
SAID = 0.6
"""The share of a question's weight from which on a line says it."""
_WAYS: dict[How, Outcome] = {
    "head": "verbatim",
    "shortened": "verbatim",
    "summary": "quoted",
    "notice": "quoted",
    "pointer": "pointer",
}
"""The outcome of a fact that a text has in full."""
_BEST: tuple[Outcome, ...] = (
    *("absent", "unknown", "unclear", "partial", "changed", "contradicted", "pointer", "paraphrased"),
    *("quoted", "verbatim", "superseded"),
)
_RANK = {outcome: rank for rank, outcome in enumerate(_BEST)}
"""A fact that several texts have has the highest outcome."""


def find_known(found: Occurrences, session: Session) -> tuple[Bools, Bools]:
    """The blocks on a session's path (bool per block, a last False), and the facts said there (bool each).

    Of a file that is known by two names only the longer is a fact.
    """
    on_path = np.zeros(len(session.entries), bool)
    on_path[list(session.path)] = True
    said: Bools = np.append(np.repeat(on_path, np.diff(session.tree.start)), False)
    known = found.any(said)
    known[list(found.aliases(known))] = False
    return said, known


def find_stood(found: Occurrences, known: Bools, before: Remaining, keys: FactKeys | None = None) -> Bools:
    """Return which of the known facts can be read in a context: in a block that says them, or in a summary or
    another text that stands for blocks.

    Args:
        found: The facts.
        known: Which of them were said.
        before: The context.
        keys: The facts by what a text that names them holds; without it each is looked for.
    """
    stood: Bools = found.any(before.rows) & known
    sought = known & ~stood
    if keys is not None:
        held = np.zeros(len(sought), bool)
        held[list(keys.held_by(before.prose))] = True
        if before.others:
            held[list(keys.find_candidates(before, ALL_SAID))] = True
        sought &= held
    for number in np.flatnonzero(sought).tolist():
        check_stopped()
        stood[number] = is_read(found, number, before)
    return stood


def is_read(found: Occurrences, number: int, before: Remaining) -> bool:
    """Whether a text that stands for blocks has the whole of a fact, or prose that is not known to say it."""
    fact, pattern = found.facts[number], found.pattern(number, before.session)
    for stand, text in zip(before.others, before.texts, strict=True):
        mention = text.find(pattern)
        if mention is not None and mention.full:
            return True
        # Of plain sentences, of which there can be thousands, only the words count here.
        if stand.how == "summary" and fact.kind in STATEMENTS and fact.kind != "statement":
            if compare_fact(fact.kind, fact.form, index_text(stand.text)).outcome in IN_FULL:
                return True
    return before.is_named_in_prose(pattern)


class OutcomeFinder:
    """The facts of a scene, each told when asked for. `said` and `known` are those of `find_known`."""

    def __init__(
        self,
        found: Occurrences,
        scene: TraceScope,
        said: Bools,
        known: Bools,
        replaced: Mapping[int, Replacement] | None = None,
        longer: tuple[Fact, ...] | None = None,
        meant: str = "",
        named_in: Facts | None = None,
    ) -> None:
        self.found, self.scene, self.on_path, self.known = found, scene, said, known
        self._meant = meant  # the line that a question asks about
        self._longer = longer
        self.replaced = find_replaced(found, said) if replaced is None else replaced
        self._named_in = named_in

    @cached_property
    def outdated(self) -> dict[int, Replacement]:
        """What took the place of facts in later work (`find_outdated`), by their places in the columns.

        Words that someone asks for are out of date if a commit that they name is.
        """
        asked, session = self._named_in, self.scene.session
        if asked is not None:
            found = find_outdated(asked, session).items()
            mine = (each for number, each in found if self._names(asked.every[number], each))
            return dict(enumerate(islice(mine, 1)))
        by_facts = {id(fact.facts): fact.facts for fact in self.found.facts}
        every = {key: find_outdated(facts, session) for key, facts in by_facts.items()}
        return {
            place: every[id(fact.facts)][fact.number]
            for place, fact in enumerate(self.found.facts)
            if fact.number in every[id(fact.facts)]
        }

    def _names(self, fact: Fact, later: Replacement) -> bool:
        """Whether the words that someone asks for name a commit that was rewritten."""
        return later.how == "rewritten" and find_whole(fact.form, self.found.facts[0].form) >= 0

    def fact(self, number: int) -> Fact:
        """A fact by its place in the columns."""
        return self.found.facts[number]

    def said(self, number: int) -> tuple[BlockRef, ...]:
        """The blocks on the path that say it."""
        rows = self.found.rows[self.found.first[number] : self.found.first[number + 1]]
        return refer(self.scene.session, rows[self.on_path[rows]].tolist())

    def longer(self, number: int) -> tuple[Fact, ...]:
        """The files said so far that a file's name is the end of: of one it is another name."""
        if self._longer is not None:
            return self._longer
        return self._ending_in(self.found.facts[number])

    def _ending_in(self, fact: Fact) -> tuple[Fact, ...]:
        if fact.kind != "file" or not is_only_named(fact):  # what a tool was given is a file of its own
            return ()
        form = fact.form.replace("\\", "/").removeprefix("./").strip("/")
        ending = self.found.find_ending(form)
        mine = [one for one in ending if self.known[one.number] and one.form != fact.form]
        return tuple(one for one in mine if one.form.endswith("/" + form))

    def share_tail(self, number: int, tail: str) -> tuple[str, ...]:
        """The other files said so far that an end of its path may mean."""
        return self.found.share_tail(self.found.facts[number], tail, self.known)

    def sayings(self, number: int) -> tuple[Said, ...]:
        """Every place that says it, in the order of the path, under another name of the same thing too."""
        facts = [self.fact(number), *(self.fact(short) for short in self._aliases.get(number, ()))]
        longer = self.longer(number)
        facts += longer if len(longer) == 1 else ()
        every = {said: None for fact in facts for said in fact.said}
        order, index, last = self._order, self.scene.session.index, len(self._order)
        return tuple(sorted(every, key=lambda said: (order.get(index[said.ref.entry], last), said.ref.block)))

    @cached_property
    def _order(self) -> dict[int, int]:
        """Where every entry of the path stands in it, by its place in the file."""
        return {i: at for at, i in enumerate(self.scene.session.path)}

    @cached_property
    def _texts(self) -> list[tuple[int, str]]:
        """The row and the text of every block on the path that no compaction wrote."""
        session, tree = self.scene.session, self.scene.session.tree
        return [
            (int(tree.start[i]) + at, text)
            for i in session.path
            if tree.sort[i] not in (COMPACTION, BRANCH_SUMMARY)
            for at, block in enumerate(session.entries[i].blocks)
            if (text := readable_text(block))
        ]

    @cached_property
    def _aliases(self) -> dict[int, list[int]]:
        """The shorter names of every file that has some."""
        shorter: dict[int, list[int]] = {}
        for short, whole in self.found.aliases(self.found.any(self.on_path)).items():
            shorter.setdefault(whole, []).append(short)
        return shorter

    def look_up(self, form: str | tuple[str, str]) -> TracedFact | None:
        """What was said on the path though it has no row: a file by its shorter name, any words at all."""
        facts: Facts | None = self.found.facts[0].facts if self.found.facts else None
        if facts is None or form not in facts or len(facts) != len(self.found.facts):
            return None if isinstance(form, tuple) else self._look_up_literal(form)
        number = facts[form].number
        if isinstance(form, str) and is_word(facts[form], form):
            return self._look_up_literal(form)
        rows = self.found.rows[self.found.first[number] : self.found.first[number + 1]]
        rows = rows[self.on_path[rows]]
        if not len(rows):
            return None if isinstance(form, tuple) else self._look_up_literal(form)
        before = self.scene.before
        stood = bool(before.rows[rows].any()) or before.names(self.found.pattern(number, self.scene.session))
        return TracedFact(self, number, stood)

    def respell(self, form: str) -> str | None:
        """How the path writes words that nothing there says to the letter, if it does."""
        return respell(self.scene.session, form)

    def tell_absence(self, form: str | tuple[str, str]) -> str:
        """Why there is no such fact: what else in the file says it, if anything."""
        return tell_absence(self.scene.session, form if isinstance(form, str) else form[1])

    def _look_up_literal(self, text: str) -> TracedFact | None:
        """Words that are no fact, where the path says them to the letter."""
        fact = find_literal(self.scene.session, text) or find_in_head(self.scene.session, text)
        return None if fact is None else self._trace(fact)

    def ask(self, text: str, kind: str = "text") -> TracedFact:
        """Return what became of words that nobody says to the letter, with the lines that come closest.

        Args:
            text: The words.
            kind: "text" for a question, or the kind of statement to compare the words as.
        """
        lines = tuple(find_lines(self.scene.before, text))
        session = self.scene.session
        said = [line for line in lines[:1] if line.share >= SAID and line.ref.entry in session.index]
        traced = self._trace(make_asked(session, text, said, kind), lines, said[0].text if said else "")
        traced.stood = bool(said)
        return traced

    def _trace(self, fact: Fact, nearest: tuple[LineMatch, ...] = (), meant: str = "") -> TracedFact:
        start, facts = self.scene.session.tree.start, fact.facts
        rows = (start[facts.entry] + facts.block).astype(np.int32)
        found = Occurrences((fact,), rows, np.array([0, len(rows)], np.int32))
        said, known = find_known(found, self.scene.session)
        stood = not len(rows) or bool(find_stood(found, known, self.scene.before)[0])
        look = OutcomeFinder(
            *(found, self.scene, said, known),
            longer=self._ending_in(fact),
            meant=meant,
            named_in=self.found.facts[0].facts if self.found.facts else None,
        )
        return TracedFact(look, 0, stood, nearest=nearest)

    def named(self, number: int) -> tuple[BlockRef, ...]:
        """The blocks on the path that name it: those known to say it, and every other that does literally."""
        session, shorter = self.scene.session, self._aliases.get(number, ())
        pattern = self.found.pattern(number, session)
        names = {self.found.facts[short].form for short in shorter}
        rows = {
            int(row)
            for one in (number, *shorter)
            for row in self.found.rows[self.found.first[one] : self.found.first[one + 1]]
            if self.on_path[row]
        }
        keys = {pattern.parts[-1]} if pattern.parts else set(pattern.keys)
        for row, text in self._texts:
            if row not in rows and any(key in text for key in keys):
                mention = SearchText(text).find(pattern)
                if mention is not None and (mention.full or mention.words in names):
                    rows.add(row)
        entries = np.searchsorted(session.tree.start, sorted(rows), side="right") - 1
        ranked = sorted(zip((self._order[i] for i in entries.tolist()), sorted(rows), strict=True))
        return refer(session, [row for _, row in ranked])

    def find(self, number: int) -> FactOutcome:
        """What became of it."""
        outcome = self._find(number)
        if number not in self.replaced:
            outdated = outcome.outcome not in IN_FULL and number in self.outdated
            return outcome._replace(outcome="superseded", stands=()) if outdated else outcome
        carried = outcome.outcome in IN_FULL
        stands = outcome.stands if carried else ()
        return outcome._replace(outcome="superseded", carried=carried, stands=stands)

    def _find(self, number: int) -> FactOutcome:
        found, scene = self.found, self.scene
        rows = found.rows[found.first[number] : found.first[number + 1]]
        rows = rows[self.on_path[rows] & scene.after.rows[rows]]
        if len(rows):
            return FactOutcome("verbatim", _whole_tier(scene), refer(scene.session, rows.tolist()))
        return self._search(number)

    def judge(self, codes: Codes, stood: Bools, keys: FactKeys) -> Bools:
        """Set the outcomes that need no search, and return which facts must be looked up.

        Args:
            codes: An outcome for every fact (int8), to be set for those that stood.
            stood: Which facts stood before.
            keys: The facts by what a text that names them holds.
        """
        after = self.scene.after
        whole = stood & self.found.any(after.rows & self.on_path)
        codes[stood] = CODE[self._nothing]
        codes[whole] = CODE["verbatim"]
        candidates = keys.find_candidates(after, self._said_before)
        if after.rows.any():
            candidates |= keys.held_by(after.index)
        maybe = np.zeros(len(codes), bool)
        maybe[list(candidates)] = True
        for stand in after.others:
            for ref in stand.of if stand.how == "pointer" else ():
                maybe |= self.found.any(self._mark(ref))
        return stood & ~whole & maybe

    def _mark(self, ref: BlockRef) -> Bools:
        """One block, as a mask over the rows of the file."""
        tree = self.scene.session.tree
        mask = np.zeros(len(self.on_path), bool)
        mask[tree.start[tree.index[ref.entry]] + ref.block] = True
        return mask

    def _search(self, number: int) -> FactOutcome:
        """The outcome of a fact none of whose blocks stands as it was said."""
        found, scene = self.found, self.scene
        pattern = found.pattern(number, scene.session)
        # A plan's moment is read once for all plans; of a recorded compaction the little that it left.
        index = scene.after.index if scene.plan is None else scene.before.index
        hit = index.find(pattern, scene.after.rows)
        blocks = (
            [] if hit is None else [RemainingText(ref, "", "head") for ref in refer(scene.session, hit[0])]
        )
        if hit is not None and hit[1].full:
            return self._make("verbatim", blocks, FactComparison("verbatim", hit[1].words))
        places = [
            (stand, self._compare(number, pattern, stand, text)) for stand, text in self._others(pattern)
        ]
        if pointers := scene.after.pointers(self.said(number)):
            places.append((pointers[0], FactComparison("pointer")))
        if hit is not None:
            places += [(stand, FactComparison("partial", hit[1].words, reason="part")) for stand in blocks]
        if self.fact(number).kind == "text":
            places += self._compare_lines(number)
        if not places:
            return self._make(self._nothing, [], ABSENT)
        best = max((one for _, one in places), key=lambda one: (_RANK[one.outcome], len(one.words)))
        if best.outcome == "absent":
            return self._make(self._nothing, [], ABSENT)
        return self._make(best.outcome, [stand for stand, one in places if one.outcome == best.outcome], best)

    def _compare_lines(self, number: int) -> list[tuple[RemainingText, FactComparison]]:
        """Compare a question with the blocks that stand: each line of them that comes close."""
        asked, after = self.fact(number).form, self.scene.after
        lines = find_lines(after, asked, summaries=False)
        return [
            (
                RemainingText(line.ref, line.text, "head"),
                compare_question(asked, index_text(line.text), self._said_before)._replace(start=line.start),
            )
            for line in lines
        ]

    @cached_property
    def _said_before(self) -> SaidBefore:
        return self.found.make_said(self.scene.before.says)

    @property
    def _nothing(self) -> Outcome:
        """The outcome of a fact of which nothing is found."""
        return "unknown" if self.scene.is_unreadable else "absent"

    def _others(self, pattern: FactPattern) -> Iterator[tuple[RemainingText, SearchText]]:
        """The texts in others' place that may name a fact; every summary may say it in other words."""
        after = self.scene.after
        numbers = after.other_index.may_name(pattern).union(after.summaries)
        return ((after.others[number], after.texts[number]) for number in sorted(numbers))

    def _compare(
        self, number: int, pattern: FactPattern, stand: RemainingText, text: SearchText
    ) -> FactComparison:
        """Compare a fact with a text that stands in others' place."""
        fact, mention = self.fact(number), text.find(pattern)
        if mention is not None and mention.full and (stand.how != "summary" or fact.kind not in _READ):
            return FactComparison(_WAYS[stand.how], mention.words, stand.text.find(mention.words))
        part = (
            ABSENT
            if mention is None or pattern.parts
            else FactComparison("partial", mention.words, reason="part")
        )
        if stand.how not in ("summary", "notice"):
            return part
        if stand.placeholder and fact.kind in STATEMENTS:
            return quote_statement(fact.form, index_text(stand.text))
        if fact.kind == "text" and mention is not None and mention.full:
            return FactComparison(_WAYS[stand.how], mention.words, stand.text.find(mention.words))
        latest = fact.kind != "number" or self.found.is_latest(fact)
        best = compare_fact(fact.kind, fact.form, index_text(stand.text), self._said_before, latest)
        if self._meant and best.outcome in IN_FULL:
            # "Which port is it?" has no value of its own that could be another one.
            answer = compare_fact("statement", self._meant, index_text(stand.text), self._said_before)
            best = answer if answer.outcome in ("changed", "contradicted") else best
        if fact.kind == "file" and best.outcome == "quoted" and self.share_tail(number, best.words):
            best = best._replace(outcome="partial", reason="end of several paths")
        if pattern.commit and best.outcome == "quoted":  # every length of a commit's id is found above
            best = ABSENT
        if stand.placeholder and best.outcome not in (*KEPT, "partial"):
            best = ABSENT  # a placeholder only quotes
        return max(best, part, key=lambda one: _RANK[one.outcome])

    def _make(
        self, outcome: Outcome, places: Sequence[RemainingText], comparison: FactComparison
    ) -> FactOutcome:
        # A summary that the file holds says so itself; a block that stands in it needs nobody's word.
        # That no more than a file's tail stands is no surer than that nothing does.
        stands = outcome in KEPT
        sure = stands and all(stand.recorded or stand.how == "head" for stand in places)
        scene = self.scene
        tier: Evidence = _whole_tier(scene) if outcome == "verbatim" else "recorded" if sure else scene.tier
        refs = tuple(dict.fromkeys(stand.ref for stand in places))
        return FactOutcome(outcome, tier, refs, comparison.words, comparison=comparison)


def _whole_tier(scene: TraceScope) -> Evidence:
    """What stands in the file needs nobody's word."""
    return "planned" if scene.plan is not None else "recorded"


class PointInTimeOutcomes:
    """The facts said so far at a moment. `known` were said, `stood` can be read (bool per fact).

    A fact that a block names without being known to say it is a pair of fact and block: in full, or by a tail
    of a file's name.
    """

    def __init__(self, found: Occurrences, before: Remaining, keys: FactKeys) -> None:
        session = before.session
        self.found, self.before, self.keys = found, before, keys
        self.said, self.known = find_known(found, session)
        self.stood = find_stood(found, self.known, before, keys)
        self.replaced = find_replaced(found, self.said)
        self.patterns = {at: found.pattern(at, session) for at in np.flatnonzero(self.stood).tolist()}
        self.full = _pair(self.patterns, before.index.find_all)
        self.tail = _pair(self.patterns, before.index.find_tails)
        heads = [other.text for other in before.others if other.how == "head"]
        self.safe = np.zeros(len(found.facts), bool)
        self.safe[[number for text in heads for number in self._named_in(text)]] = True
        # No text is searched for a value that has been replaced.
        self.safe[list(self.replaced)] = True

    def _named_in(self, text: str) -> list[int]:
        """The facts that stood and that a text names in full."""
        words, index = read_words(text), TextIndex()
        index.add(0, words, words.words, words.runs)
        mentions = (
            (number, words.find(self.patterns[number]))
            for number in sorted(self.keys.held_by(index))
            if self.stood[number]
        )
        return [number for number, hit in mentions if hit is not None and hit.full]

    def judge(self, after: Remaining, nothing: Outcome = "absent") -> tuple[Codes, Bools]:
        """Return an outcome for every fact that stood (int8, -1 for others), and which must be looked up.

        Args:
            after: What the compaction left.
            nothing: The outcome of a fact of which nothing is left.
        """
        found, rows = self.found, after.rows
        whole = self.safe | found.any(rows & self.said)
        whole[self._standing(self.full, after)] = True
        code = np.full(len(found.facts), -1, np.int8)
        code[self.stood] = CODE[nothing]
        tails = np.zeros(len(code), bool)
        tails[self._standing(self.tail, after)] = True
        code[self.stood & tails] = CODE["partial"]
        code[self.stood & found.any(self._pointed(after))] = CODE["pointer"]
        code[self.stood & whole] = CODE["verbatim"]
        maybe = np.zeros(len(code), bool)
        maybe[list(self.keys.find_candidates(after, self.found.make_said(self.before.says)))] = True
        return code, self.stood & ~whole & maybe

    def _standing(self, pairs: Codes, after: Remaining) -> Codes:
        """The facts of the pairs whose block stands."""
        mine: Codes = pairs[after.rows[pairs[:, 1]], 0]
        return mine

    def _pointed(self, after: Remaining) -> Bools:
        """The blocks on the path that a pointer stands for."""
        tree = after.session.tree
        out = np.zeros(len(after.rows), bool)
        for stand in after.others:
            for ref in stand.of if stand.how == "pointer" else ():
                out[tree.start[tree.index[ref.entry]] + ref.block] = True
        return out & self.said


def _pair(patterns: dict[int, FactPattern], find: Callable[[FactPattern], set[int]]) -> Codes:
    """int64[k,2]: a fact and a row where it is found."""
    pairs = []
    for at, pattern in patterns.items():
        check_stopped()
        pairs += [(at, row) for row in sorted(find(pattern))]
    return np.array(pairs, np.int64).reshape(-1, 2)
