"""Find the values that the user has replaced by stating another value later.

Takes a session's facts and the blocks on a path, and returns the facts that no longer hold, each
with the sentence that says so. Two sentences that a person typed are about the same thing when both say of
the same words what they are ("the cap is $481", "actually, the cap is now $710", "raise the cap to $900"), or
when they are one sentence with another limit ("never spend more than $481"), or when a sentence takes a value
and names the old one, or the sentence before it does ("make it $710 instead of $481", "12 MB is too small.
Make it 20 MB"). A fact is replaced if only such earlier sentences of the user say it, and no tool output
does: output shows the actual state, regardless of later sentences.

A rule that the user takes back is replaced by nothing (`withdrawn.py`).

Not found are replacements in other words, and values that only the model gave: a model
counts again often, and its "12 tests" does not replace its "10 tests".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..session.blocks import BlockRef
from ..session.session import Session
from ..session.speakers import find_speech
from ..session.toolcalls.canonical_path import names
from ..session.tree import Bools
from ..tokens.memo import Memo
from .extract.collect import BY, KIND
from .extract.typed import blank_pasted, typed_sentences
from .facts import Facts
from .terms import read_terms
from .withdrawn import find_withdrawn

_UNIT = (
    r"(?:%|ms|s|m|h|[kKMG]i?B|px|x|usd|eur|(?:seconds?|secs?|minutes?|mins?|hours?|days?|weeks?|months?|years?"
    r"|tokens?|words?|lines?|characters?|chars|bytes|dollars?|euros?))(?!\w)"
)
_VALUE = (
    rf"(?P<value>`[^`\n]+`|[$€£]?[\w.@/:-]*\d(?:[\w.@/:,-]*[\w%])?(?:\s?{_UNIT})?|[\w.-]+/[\w./-]*\w)(?![\w])"
)
_VALUES = re.compile(f"(?i){_VALUE}")
_FILLED = r"(?:(?:now|still|about|exactly|at|set to|only|actually|just|going to be|not \S+ but)\s+){0,3}"
_REST = r"(?P<rest>[^,;(\n]*)(?:[,;(].*)?"
_STATES = re.compile(
    r"(?i)^(?:[^:=\n]{0,40}:\s+(?=(?:the|our|my|your)\b))?(?P<subject>[^.?!:=\n]{2,60}?)\s*(?:\b(?:is|are|was|were|becomes?"
    rf"|(?:should|will|must) (?:now )?be|has to be|stays? at)\b|=|:\s)\s*{_FILLED}{_VALUE}{_REST}$"
)
_CHANGES = re.compile(
    r"(?i)\b(?:set|change|raise|lower|increase|decrease|reduce|extend|bump|update|move|switch|make|put|limit|cap)\s+"
    rf"(?P<subject>[^.?!:=\n]{{2,60}}?)\s+(?:from \S+ )?(?:to|=)\s+{_FILLED}{_VALUE}{_REST}$"
)
_TAKES = re.compile(
    r"(?i)\b(?:use|take|go with|(?:make|set|keep) (?:it|that|this|them|(?:the|its) \w+(?: \w+)?)(?: to| at)?"
    r"|(?:it|that|this) (?:should|must) be)"
    rf"\s+{_VALUE}(?:,?\s(?:instead|now|please|then))*\W*$"
)
_CORRECTS = re.compile(r"(?i)^(?:correction|actually|sorry|no|wait)\b|\binstead\b")
"""A sentence that may be about the user's message before it: "no, make that 45 seconds instead"."""
_NAMES_THING = re.compile(r"(?i)\b(?:make|set|keep) (?:the|its) ")
"""A sentence that names what it sets, which an earlier message may not be about."""
_OLD = _VALUE.replace("value", "old")
_NOT_THE_OLD = re.compile(
    rf"(?i){_VALUE}(?P<of>(?: [a-z]+){{0,2}}),? (?:instead of|rather than|(?:and )?not)"
    rf" (?:(?:the|on|at|in|from) )*{_OLD}(?P<other>(?: [a-z]+)?)"
)
_RULES_OUT = re.compile(r"(?i)\b(?:instead of|rather than|not) ")
"""Words of a sentence that names an old value: without them none is searched for."""
_JOINTS = re.compile(r"[;,]\s+(?:(?:and|but|then)\s+)?|\s+(?:and|but|then)\s+")
_LEAD = re.compile(r"(?i)^(?:correction|update|actually|note|sorry|no|ok(?:ay)?|wait|ps)\b[:,.!\s]*")
_FIGURE = re.compile(r"\s+(?P<value>[$€£]?\d[\d.,:]*\d?\s?%?)")
_LIMITS = re.compile(
    r"(?i)\b(?:at (?:most|least)|(?:more|less|fewer|longer|larger|higher|lower|later|earlier) than"
    r"|under|over|below|above|beyond|up to|within|exceed(?:s|ing)?"
    r"|(?:max(?:imum)?|min(?:imum)?|limit|cap)(?: of| at)?)\Z"
)
_LONGEST_LIMIT = 20
_WORD = re.compile(r"[\w$€£%'-]+")
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
_EMPTY = names("""
a an the this that these those our my your its new current currently actual actually now then so ok okay no
yes sorry correction update instead please also and but just still should be for us me i want let let's need
we again from today on in fact wait hm per all of them everything everywhere""")
"""Words that say nothing of what a sentence is about."""
_TOLD_APART = names("""
it they he she here there what which who one issue issues pr prs ticket tickets step task phase item version
line lines page chapter day round attempt test tests run question point part commit error errors result
results output number id""")
"""Words for things that have several numbers at once, or that mean something else each time."""
_MOST_WORDS = 6
_KINDS = [
    KIND[kind] for kind in ("number", "constraint", "choice", "url", "id", "file", "symbol", "statement")
]
_NAMES = [KIND[kind] for kind in ("number", "url", "id", "file", "symbol")]
"""Kinds that are a name or a value of their own, and no whole sentence."""
_USER, _TOOL = BY.index("user"), BY.index("tool")
_MOST = 400
_MARGIN = 2  # characters: a fact's sentence may hold the mark around it


class Statement(NamedTuple):
    """A sentence that states a value: its span, its subject (`key`) and the value."""

    entry: int
    block: int
    start: int
    end: int
    words: str
    key: tuple[str, ...]
    value: str


class Replacement(NamedTuple):
    """The statement or edit that replaced a fact.

    Attributes:
        ref: The block.
        words: The words of the block: the sentence that the user said later, or what a tool was given.
        value: The value that holds now.
        how: "said" or "withdrawn" by the user, or done by a tool: "rewritten" or "edited".
        rest: The parts of a sentence that bind on their own and still hold: "max 8 MB, PNG only".
    """

    ref: BlockRef
    words: str
    value: str
    how: str = "said"
    rest: str = ""


def read_statement(words: str) -> tuple[tuple[str, ...], str] | None:
    """Return the subject of a sentence and the value that it states; None if it states no value.

    >>> read_statement("Actually, the monthly cap is now $710.")
    (('monthly', 'cap'), '$710')
    >>> read_statement("Please raise the monthly cap to $900")
    (('monthly', 'cap'), '$900')
    >>> read_statement("Never spend more than $481 a month."), read_statement("Look at issue 12.")
    ((('never', 'spend', 'more', 'than', '…', 'month'), '$481'), None)
    """
    if len(words) > _MOST or words.endswith("?"):
        return None
    words = _LEAD.sub("", words)
    if _RULES_OUT.search(words) and (match := _NOT_THE_OLD.search(words)):
        words = words[: match.end("value")] + words[match.end("old") :]
    changes = not {"to", "="}.isdisjoint(words.lower().split())
    for pattern in (_CHANGES, _STATES) if changes else (_STATES,):
        match = pattern.search(words)
        if match is None or not any(char.isdigit() or char in "/`" for char in match["value"]):
            continue
        subject = _tell_words(match["subject"].rpartition(",")[2])
        if 0 < len(subject) <= _MOST_WORDS and not _TOLD_APART & set(subject):
            return (*subject, *_tell_words(match["rest"])), _tidy(match["value"])
    limits = [figure for figure in _FIGURE.finditer(words) if _LIMITS.search(words, *_before(figure))]
    if len(limits) == 1 and len(re.findall(r"\d+", words)) == len(re.findall(r"\d+", limits[0]["value"])):
        match = limits[0]
        before, after = words[: match.start("value")], words[match.end("value") :]
        return (*_tell_words(before), "…", *_tell_words(after)), _tidy(match["value"])
    return None


def _before(figure: re.Match[str]) -> tuple[int, int]:
    """The span before a figure that may hold the words of a limit."""
    return max(0, figure.start() - _LONGEST_LIMIT), figure.start()


def read_taken(words: str, before: str) -> tuple[str, str] | None:
    """Return the old value and the new one if a sentence takes a value, and it or the one before it names
    another of the same unit; else None.

    >>> read_taken("Make it 12 MB.", "8 MB is too small."), read_taken("Make it 12 MB.", "8 files is enough.")
    (('8 mb', '12 mb'), None)
    >>> read_taken("Correction: it starts on 2021-04-01, not 2021-01-01.", "")
    ('2021-01-01', '2021-04-01')
    >>> read_taken("Make it 7 retries instead of 5.", ""), read_taken("Add 3 menus instead of 5 files.", "")
    (('5', '7'), None)
    """
    if words.endswith("?"):
        return None
    if _RULES_OUT.search(words) and (match := _NOT_THE_OLD.search(words)):
        new, gone = _tidy(match["value"]), _tidy(match["old"])
        if match["other"] and any(map(str.isalpha, new)) and match["other"].strip() not in new:
            return None  # "45 seconds, not 30 files"
        if _DIGITS.fullmatch(gone):  # "45 seconds, not 30"
            gone = _DIGITS.sub(gone, new, count=1)
        alike = _DIGITS.sub("", new) == _DIGITS.sub("", gone) and any(map(str.isdigit, new))
        if match["of"] and match["other"] not in ("", match["of"]):
            return None  # "3 buttons instead of 2 menus"
        return (gone, new) if alike and new != gone else None
    match = _TAKES.search(words)
    before = "" if before.endswith("?") else before
    unit = _DIGITS.sub("", _tidy(match["value"])).strip() if match else ""
    values = _list_values(before) if unit else []
    old = [value for value in values if _DIGITS.sub("", value).strip() == unit]
    if match is None or len(old) != 1 or old[0] == _tidy(match["value"]):
        return None
    return old[0], _tidy(match["value"])


def _list_values(words: str) -> list[str]:
    return [_tidy(value[0]) for value in _VALUES.finditer(words)]


def _tell_words(text: str) -> tuple[str, ...]:
    words = (word.strip("'-").casefold() for word in _WORD.findall(text))
    return tuple(word for word in words if word and word not in _EMPTY)


def _tidy(value: str) -> str:
    return value.strip(" .,:;`").casefold()


def find_typed(session: Session) -> Iterator[tuple[int, int, int, int, str]]:
    """(entry, block, start, end, words) of the sentences that a person typed on a session's path, in order:
    places in `session.entries`, characters of the block's text, nothing that they pasted.

    >>> from inspector.demo import open_demo
    >>> len(next(find_typed(open_demo())))
    5
    """
    for at in session.path:
        entry = session.entries[at]
        if entry.role != "user":
            continue
        for number, block in enumerate(entry.blocks):
            for start, end, speaker, _ in find_speech(entry, block):
                if speaker == "user":
                    for first, last, words in typed_sentences(blank_pasted(block.text[start:end])):
                        yield at, number, start + first, start + last, words


_MAY_TELL = re.compile(r"[\d/`]")
"""A character that every value holds."""
_STATEMENTS: Memo[tuple[tuple[Statement, ...], ...]] = Memo(1)


def _gather(facts: Facts) -> tuple[tuple[Statement, ...], ...]:
    """Return the groups of statements about one subject with more than one value; cached with the facts."""
    groups: dict[tuple[str, ...], list[Statement]] = {}
    holders: dict[str, list[tuple[str, ...]]] = {}  # a figure, and the subjects that had it
    named: dict[str, list[Statement]] = {}  # figure -> the sentences with it
    last, before = (-1, -1), ""
    for entry, block, start, end, words in find_typed(facts.session):
        corrects = _CORRECTS.search(words) is not None and _NAMES_THING.search(words) is None
        previous = before if last == (entry, block) or corrects else ""
        last, before = (entry, block), words
        if _MAY_TELL.search(words) is None:
            continue
        parts = read_statement(words)
        if parts is None and (taken := read_taken(words, previous)) is not None:
            figure = _DIGITS.findall(taken[0])
            held = dict.fromkeys(holders.get("".join(figure), ()))
            keys = [key for key in held if _DIGITS.findall(groups[key][-1].value) == figure]
            others = [item for item in named.get(figure[0], ()) if (item.entry, item.block) != last]
            if not keys and len(others) == 1 and taken[0] in _list_values(others[0].words):
                keys = [others[0].key]
                groups[keys[0]] = [others[0]._replace(value=taken[0])]
            parts = (keys[0], taken[1]) if len(keys) == 1 else None
        item = Statement(entry, block, start, end, words, (words.casefold(),), "")
        for number in dict.fromkeys(_DIGITS.findall(words)):
            named.setdefault(number, []).append(item)
        if parts is not None:
            groups.setdefault(parts[0], []).append(Statement(entry, block, start, end, words, *parts))
            holders.setdefault("".join(_DIGITS.findall(parts[1])), []).append(parts[0])
    return tuple(
        tuple(members) for members in groups.values() if len({member.value for member in members}) > 1
    )


def find_replacements(facts: Facts, is_counted: Bools | None = None) -> dict[int, Replacement]:
    """Return what the user replaced, by the numbers of a session's facts.

    Args:
        facts: The facts.
        is_counted: Whether each block counts (bool per block, a last False); all by default.

    >>> from inspector.demo import open_demo
    >>> find_replacements(open_demo().facts)
    {}
    """
    if not len(facts.entry):
        return {}
    session, start = facts.session, facts.session.tree.start
    is_counted = np.ones(int(start[-1]) + 1, bool) if is_counted is None else is_counted
    old: list[tuple[Statement, Statement]] = []
    for group in _STATEMENTS.of(facts, lambda: _gather(facts)):
        statements = [current for current in group if is_counted[start[current.entry] + current.block]]
        old += [(current, statements[-1]) for current in statements if current.value != statements[-1].value]
    out = dict(_find_withdrawn(facts, is_counted))
    if not old:
        return out
    inside = {
        item: facts.find_inside(item.entry, item.block, item.start - _MARGIN, item.end + _MARGIN)
        for pair in old
        for item in pair
    }
    elsewhere: Bools = is_counted[start[facts.entry] + facts.block]
    for rows in inside.values():  # "$5 instead of $4" does not say $4
        elsewhere[rows] = False
    for earlier, later in old:
        rows = inside[earlier]
        for number in np.unique(facts.fact[rows]).tolist():
            own_rows = slice(*facts.offset[number : number + 2].tolist())
            others = facts.by[own_rows][elsewhere[own_rows]]
            kind = int(facts.kind[number])
            if kind in _NAMES and not _has_value(facts.every[number].form, earlier.value):
                continue  # "$481 for 1,200 requests": another amount does not replace the requests
            if kind in _KINDS and not np.isin(others, (_USER, _TOOL)).any():
                ref = BlockRef(session.entries[later.entry].id, later.block)
                rest = "" if kind in _NAMES else _find_rest(earlier, later)
                out[number] = Replacement(ref, later.words, later.value, rest=rest)
    return out


def _find_withdrawn(facts: Facts, is_counted: Bools) -> Iterator[tuple[int, Replacement]]:
    """Yield the rules that the user took back, each with the sentence that says so."""
    session = facts.session
    kinds = [KIND[kind] for kind in ("constraint", "choice", "statement")]
    is_typed = (facts.by == _USER) & np.isin(facts.kind[facts.fact], kinds)
    rows = np.flatnonzero(is_typed & is_counted[session.tree.start[facts.entry] + facts.block])
    rows = rows[np.lexsort((facts.start[rows], facts.block[rows], facts.entry[rows]))]
    sentences = [facts.every[number] for number in facts.fact[rows].tolist()]
    for at, by in find_withdrawn([(fact.kind, fact.form) for fact in sentences]).items():
        row = rows[by]
        ref = BlockRef(session.entries[int(facts.entry[row])].id, int(facts.block[row]))
        yield (
            int(facts.fact[rows[at]]),
            Replacement(ref, sentences[by].form, f"“{sentences[by].form}”", "withdrawn"),
        )


def _find_rest(earlier: Statement, later: Statement) -> str:
    """Return the parts of a sentence, without the replaced value, that bind on their own."""
    parts = [part.strip(" .") for part in _JOINTS.split(earlier.words)]
    return ", ".join(
        part
        for part in parts
        if part.casefold() not in later.words.casefold()
        and not _has_value(part, earlier.value)
        and any(term.sort in ("strict", "negation") for term in read_terms(part))
    )


def _has_value(form: str, value: str) -> bool:
    """Whether a name or a value is the value of a statement, or holds it."""
    digits = set(_DIGITS.findall(value))
    low = form.casefold()
    return bool(digits & set(_DIGITS.findall(form))) if digits else value in low or low in value
