"""Find the rules that a person takes back later: "forget the ram thing", "never mind the word limit".

A sentence takes a rule back if it opens with words for that and names its subject, and if exactly one earlier
rule has all the words of the subject. In any other case the rule still holds: a rule that is repeated
although it was taken back costs less than a rule that is lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from ..session.toolcalls.canonical_path import names
from .extract.statements import CHOICE, CONSTRAINT, fold, mark_sentence
from .vocabulary import SMALL, is_general, stem

_LEAD = (
    r"\W*(?:(?:ok(?:ay)?|actually|no|and|so|btw|by the way|oh|hm+|sorry|well|yes|you can|we can|you may|let's"
    r"|please|just|also|now)\b[,\s]*)*"
)
_FORGETS = r"(?:forget|never ?mind|disregard|ignore|scratch|scrap|drop|lift)"
_NAMED = r"(?:thing|rule|limit|requirement|restriction|ban|constraint|cap|policy|stuff|business)s?"
_END = r"(?: any\s?more| again| now)?(?=\W*$|\s*[,.;:!—–])"
"""Nothing follows that makes it another thing, such as "the limit table"."""
_TAKES_BACK = (
    re.compile(
        rf"{_LEAD}{_FORGETS} (?:about )?(?:what|everything|all(?: that)?) (?:i|we) (?:just |once )?"
        r"(?:said|told you|wrote|asked)(?: \w+)? (?:about|on) (?P<what>[^,.;:!?]+)"
    ),
    re.compile(
        rf"{_LEAD}{_FORGETS} (?:about )?(?:the|my|our|that|this) (?P<what>(?:[\w'/.-]+ ){{1,4}}?){_NAMED}"
        rf"{_END}"
    ),
    re.compile(
        rf"{_LEAD}(?:the|my|our|that) (?P<what>(?:[\w'/.-]+ ){{1,4}}?){_NAMED} "
        r"(?:(?:is|are) (?:off|gone|lifted|history|void|obsolete|cancell?ed)\b"
        r"|no longer (?:appl|hold|count|matter)\w*|do(?:es)?n't (?:apply|hold|count|matter) any\s?more)"
        rf"{_END}"
    ),
    re.compile(
        rf"{_LEAD}(?:forget|never ?mind) (?:about )?(?:the|my|our) (?P<what>(?:[\w'/-]+ ?){{1,3}})\W*$"
    ),
)
_FOR_NOW = re.compile(
    r"\b(?:for (?:now|this|a|the)|this (?:time|once|one|file)|(?:just|only) (?:this|here|for|now)|here|today"
    r"|until|except|unless|if|when|when(?:ever)?|don't|do not|never (?!mind))\b"
)
"""Words of what is left alone for a while, or in one place."""
_NO_SUBJECT = names("no not never always only thing rule anymore more again about")
_JOINTS = re.compile(r"[;,]\s+(?:(?:and|but|then)\s+)?|\s+(?:and|but)\s+")
_WORD = re.compile(r"[^\W_]+")


@lru_cache(1 << 12)
def read_taken_back(form: str) -> frozenset[str]:
    """Return the stems of what a sentence takes back; none for any other sentence.

    >>> read_taken_back("forget the ram thing, we have 64k now"), read_taken_back("Never mind the test.")
    (frozenset({'ram'}), frozenset())
    >>> read_taken_back("ignore the tabs rule in this file for now")
    frozenset()
    """
    low = fold(form)
    match = next(filter(None, (pattern.match(low) for pattern in _TAKES_BACK)), None)
    if match is None or low.endswith("?") or _FOR_NOW.search(low):
        return frozenset()
    stems = _read_stems(match["what"])
    # Without a word such as "rule", a general word may mean the work at hand: "never mind the test".
    return frozenset() if match.re is _TAKES_BACK[-1] and any(map(is_general, stems)) else stems


@lru_cache(1 << 12)
def _read_stems(text: str) -> frozenset[str]:
    words = _WORD.findall(fold(text).replace("n't", ""))
    return frozenset(stem(word) for word in words if word not in SMALL and word not in _NO_SUBJECT)


def find_withdrawn(sentences: Sequence[tuple[str, str]]) -> dict[int, int]:
    """Return the rules among a person's sentences that they take back, each with the sentence that does so.

    Args:
        sentences: The kinds and the forms of sentences, in the order in which they were typed.

    >>> said = [("constraint", "keep ram under 20k"), ("constraint", "never push to main")]
    >>> find_withdrawn([*said, ("statement", "forget the ram thing")])
    {0: 2}
    >>> find_withdrawn([*said, ("statement", "forget the ram thing"), said[0]])
    {}
    """
    result = dict[int, int]()
    live = dict[str, list[int]]()
    holders = dict[str, set[str]]()
    """The live rules that have a stem."""
    for at, (kind, form) in enumerate(sentences):
        what = read_taken_back(form)
        if what:
            fitting = list(set.intersection(*(holders.get(part, set()) for part in what)) & live.keys())
            if len(fitting) == 1 and _is_one_rule(sentences[live[fitting[0]][0]][1], what):
                result.update(dict.fromkeys(live.pop(fitting[0]), at))
        elif kind in (CONSTRAINT, CHOICE):
            for before in live.setdefault(form.casefold(), []):
                result.pop(before, None)
            live[form.casefold()].append(at)
            for part in _read_stems(form.casefold()):
                holders.setdefault(part, set()).add(form.casefold())
    again = {sentences[at][1].casefold() for places in live.values() for at in places}
    return {at: by for at, by in result.items() if sentences[at][1].casefold() not in again}


def _is_one_rule(form: str, what: Iterable[str]) -> bool:
    """Whether no part of a sentence is a rule about something else."""
    others = (part for part in _JOINTS.split(form) if not _read_stems(part) & set(what))
    return all(mark_sentence(part)[0] != CONSTRAINT for part in others if part)
