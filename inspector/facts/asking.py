"""Answer a question about a session in a person's own words: where it was said, and its outcome."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from ..errors import expect
from ..mixins import Framed
from ..redaction.cut import cut_text
from ..session.blocks import BlockRef
from ..session.queries import readable_text
from ..session.session import Session
from ..session.speakers import find_speaker
from ..session.tree import BRANCH_SUMMARY, COMPACTION, MICRO, NOTE
from ..text import plural, printable, printed
from ..tokens.memo import Memo, Same
from .facts import SENTENCE_KINDS, Fact, spell_fact
from .indexed_text import WORDS
from .line_search import LineMatch, find_lines
from .outcomes import WORST_FIRST
from .remaining import Remaining
from .terms import read_terms
from .trace import trace_recorded
from .traced import TracedFact

_PLAIN = 0.9
"""The share that is left of a line without negation if the question has one."""
_LEAST = 0.34
"""The least share of a question's weight that makes a line an answer."""
_MOST_OUTPUT = 16_000_000
"""Characters of the latest tool outputs that are searched; the text of people and models is searched
whole."""
_WORDS = ("text", "number")
"""Kinds of which the sentence that has them says more than they do."""
_SEARCHED: Memo[Remaining] = Memo(2)


@dataclass(frozen=True)
class FactMatch:
    """One answer to a question.

    Attributes:
        fact: The fact that was matched; None for a line that states no fact of its own.
        ref: The block that says it last, or has the line.
        turn: Its turn, from 1.
        by: Who says it: user, model, tool, harness, agent or file.
        text: The fact's form, or the line.
        share: How much of the question it has, from 0 to 1; 1 for a fact that is named.
    """

    fact: Fact | None
    ref: BlockRef
    turn: int
    by: str
    text: str
    share: float


@dataclass(frozen=True, repr=False)
class FactMatches(Framed, Sequence[FactMatch]):
    """The answers to a question, the closest first.

    If nothing says what was asked for (`said` is False), they are the nearest lines.

    >>> from inspector import open_demo
    >>> found = open_demo().find_facts("the chart worker must never be the harbour")
    >>> found.said, found.question
    (False, 'the chart worker must never be the harbour')
    """

    question: str
    matches: tuple[FactMatch, ...]

    @overload
    def __getitem__(self, index: int) -> FactMatch: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[FactMatch, ...]: ...

    def __getitem__(self, index: int | slice) -> FactMatch | tuple[FactMatch, ...]:
        return self.matches[index]

    def __len__(self) -> int:
        return len(self.matches)

    @property
    def said(self) -> bool:
        """Whether the session says what was asked for."""
        return bool(self) and self[0].share >= _MIN_SHARE

    def to_columns(self) -> dict[str, list[Any]]:
        """Return a row per match: kind, text, turn, speaker, share and block."""
        return {
            "kind": ["line" if item.fact is None else item.fact.kind for item in self],
            "text": [item.text for item in self],
            "turn": [item.turn for item in self],
            "by": [item.by for item in self],
            "share": [round(item.share, 2) for item in self],
            "ref": [str(item.ref) for item in self],
        }

    @printed
    def __repr__(self) -> str:
        head = plural(len(self), "match", "matches") if self.said else "not said in this session"
        lines = [
            f"  {item.share:.0%} turn {item.turn}, {item.by} ({item.ref}): "
            + printable(cut_text(" ".join(item.text.split()), 100))
            for item in self
        ]
        nearest = [] if self.said or not lines else ["nearest lines:"]
        return "\n".join(
            [f"FactMatches({printable(cut_text(self.question, 80))!r}: {head})", *nearest, *lines]
        )


_MIN_SHARE, _NEAREST = 0.6, 3


def ask_facts(session: Session, question: str, most: int = 5) -> FactMatches:
    """Find the facts and lines of a session that a question means.

    A fact that the question names comes first: by its form, or written otherwise. Then the lines that have
    most of its words, rare words before frequent ones.

    Args:
        session: The session; its path is searched.
        question: Words of a person, such as half of a rule or the end of a path.
        most: How many answers to return.

    >>> from inspector import open_demo
    >>> [(one.fact.kind, one.share) for one in ask_facts(open_demo(), "calendar/offsets.py")[:1]]
    [('file', 1.0)]
    """
    expect("find_facts", session=(session, Session), question=(question, str), most=(most, int))
    result = [_match_fact(session, fact) for fact in _find_named(session, question)][:most]
    seen_refs = {item.ref for item in result}
    lines = [line for line in find_lines(_everything(session), question, most) if line.ref not in seen_refs]
    if _negates(question):
        shares = [line.share * (1 if _negates(line.text) else _PLAIN) for line in lines]
        lines = [line._replace(share=share) for line, share in zip(lines, shares, strict=True)]
        lines.sort(key=lambda line: -line.share)
    close = [line for line in lines if line.share >= _LEAST]
    nearest = close if close or result else lines[:_NEAREST]
    result += [_match_line(session, line) for line in nearest[: most - len(result)]]
    return FactMatches(question, tuple(result))


def _negates(words: str) -> bool:
    return any(term.sort == "negation" for term in read_terms(words))


def _find_named(session: Session, question: str) -> Iterator[Fact]:
    """The facts that a question names: its form, a path by its end."""
    numbers = set[int]()
    for form in spell_fact(question, session.cwd):
        for fact in session.facts.every:
            named = fact.form == form or (
                fact.kind == "file" and "." in form and fact.form.endswith("/" + form)
            )
            if named and fact.number not in numbers and len(fact):
                numbers.add(fact.number)
                yield fact


def _match_fact(session: Session, fact: Fact) -> FactMatch:
    last = fact.said[-1]
    return FactMatch(fact, last.ref, session.turn_of.get(last.ref.entry, 0), last.by, fact.form, 1.0)


def _match_line(session: Session, line: LineMatch) -> FactMatch:
    facts = session.facts
    entry = session.index.get(line.ref.entry, -1)
    inside = facts.find_inside(entry, line.ref.block, line.start, line.end)
    spans = sorted(inside.tolist(), key=lambda at: int(facts.start[at] - facts.end[at]))
    fact = facts.every[int(facts.fact[spans[0]])] if spans else None
    owner, block = session[line.ref.entry], session.block(line.ref)
    by = facts.said(spans[0]).by if spans else find_speaker(owner, block, line.start)
    turn = session.turn_of.get(line.ref.entry, 0)
    return FactMatch(fact, line.ref, turn, by, line.text, line.share)


def _everything(session: Session) -> Remaining:
    """All that the path says, without the texts that compactions wrote, ready to be searched."""

    def make() -> Remaining:
        tree = session.tree
        rows = np.zeros(int(tree.start[-1]) + 1, bool)
        output = 0
        for i in reversed(session.path):
            if tree.sort[i] in (NOTE, MICRO, COMPACTION, BRANCH_SUMMARY):
                continue
            for at, block in enumerate(session.entries[i].blocks):
                if block.kind == "tool_output":
                    output += len(readable_text(block))
                rows[int(tree.start[i]) + at] = block.kind != "tool_output" or output <= _MOST_OUTPUT
        return Remaining(session, rows, ())

    return _SEARCHED.of(session.facts, make, Same(session.tree), session.leaf)


def explain_question(session: Session, question: str) -> str:
    """Explain the outcome of the subject of a question, in the recorded compaction that harmed it most.

    Args:
        session: The session.
        question: Words of a person.

    >>> from inspector import open_demo
    >>> explain_question(open_demo(), "offsets.py").partition(" was ")[0]
    'The file offsets.py'
    """
    traces = trace_recorded(session)
    traced = [trace[question] for trace in traces]
    matches = ask_facts(session, question)
    if traced:
        if traced[0].fact.kind in _WORDS and (sentences := _find_sentences(session, matches)):
            traced = [trace[fact.form] for trace in traces for fact in sentences]
        return max(_reached(traced, matches), key=_harm).why()
    where = f" It was last said in turn {matches[0].turn}." if matches.said else ""
    return f"This session records no compaction.{where}" if where else f"{matches!r}"


def _find_sentences(session: Session, matches: FactMatches) -> list[Fact]:
    """Return the user's sentences that have all the words of a question: what became of the words alone,
    such as "p-values", says little about "no p-values"."""
    typed = [_flatten(match.text) for match in matches if match.by == "user" and match.share == 1]
    facts = (fact for fact in session.facts.every if typed and fact.kind in SENTENCE_KINDS)
    flat = ((fact, _flatten(fact.form)) for fact in facts)
    return [fact for fact, words in flat if any(words in text or text in words for text in typed)]


def _flatten(text: str) -> str:
    """Return the words of a text between blanks, so that only whole words are found in it."""
    return f" {' '.join(WORDS.findall(text.casefold()))} "


def _reached(traced: Sequence[TracedFact], matches: FactMatches) -> Sequence[TracedFact]:
    """Leave out compactions before the words were said; their nearest lines are about something else."""
    closest = [match for match in matches if match.share == matches[0].share]
    if not matches.said:
        return traced
    entry = next((match for match in closest if match.by == "user"), closest[0]).ref.entry
    after = [one for one in traced if one.fact.kind != "text" or _has(one.scene.session, entry)]
    return after or traced


def _has(session: Session, entry: str) -> bool:
    """Whether an entry is on the path of a session."""
    index = session.index.get(entry)
    return index is not None and int(session.path_index[index]) >= 0


def _harm(traced: TracedFact) -> tuple[bool, bool, int]:
    return bool(traced.said), traced.stood, -WORST_FIRST.index(traced.outcome)
