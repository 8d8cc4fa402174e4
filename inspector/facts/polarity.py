"""Whether two sentences ask for the same thing or for opposite things: their words, each wanted or refused.

In goes a sentence, out come sets of its longer words: those it asks for, those it refuses, and those it only
is about. A negation turns everything up to the end of its clause, and a second one turns it back: "never push
without a review" wants the review. What stands before it in its clause is what it is about ("the migrations
must not be edited"). It is a reading of words, not of sense; the words and limits are choices of ours.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from ..session.toolcalls.call_paths import names

SAME_SHARE, SAME_LEAST = 0.5, 3
"""Share of the words of the shorter of two instructions that the other has if it repeats it, and how many
there are at least; of an instruction with fewer words it has them all."""

_PART = re.compile(
    r"(?P<turn>\b(?P<verb>never|not|don['’]?t|doesn['’]?t|didn['’]?t|won['’]?t|can['’]?t|cannot|shouldn['’]?t"
    r"|mustn['’]?t|needn['’]?t|isn['’]?t|aren['’]?t)\b|\b(?:avoid\w*|without|unless|no|nor|neither|stop|skip\w*"
    r"|refrain|forbid\w*|prohibit\w*|instead of|rather than)\b)"
    r"|(?P<back>\b(?:forget|fail|omit|neglect|hesitate)\b)"
    r"|(?P<end>[;:!?,\n|()—–]|\.(?!\S)|\b(?:but|instead|except|then|however)\b)"
    r"|(?P<word>\w+)"
)
# Words of every instruction, which tell nothing of what it asks for.
_COMMON = names(
    "the and for not you are use was has had can any all its our out own get let may per did see say said "
    "too now how why who yes okay always must should shall please make sure ensure have need want will would "
    "could only ever this that these those with from when then than they them there their what which while "
    "where your yours also just into about some such very really again still more most every each other "
    "using used doing done does"
)


class Leaning(NamedTuple):
    """The longer words of a sentence that it asks for, those that it refuses, and those it is about."""

    wanted: frozenset[str]
    refused: frozenset[str]
    about: frozenset[str]

    @property
    def words(self) -> frozenset[str]:
        """All of them."""
        return self.wanted | self.refused | self.about


# Every rule is held against every later one, so each would be read as often as there are others.
@lru_cache(maxsize=8192)
def read_leaning(text: str) -> Leaning:
    """What a sentence asks for and what it refuses.

    >>> read_leaning("Never push without a review, please.")
    Leaning(wanted=frozenset({'review'}), refused=frozenset({'push'}), about=frozenset())
    """
    sides: tuple[set[str], set[str]] = (set(), set())
    about: set[str] = set()
    clause: set[str] = set()
    turned = False
    for part in _PART.finditer(text.casefold()):
        if part["end"]:
            sides[0].update(clause)
            clause, turned = set(), False
        elif part["back"] and turned:
            turned = False
        elif part["turn"]:
            if not turned:
                (about if part["verb"] else sides[0]).update(clause)
                clause = set()
            turned = not turned
        elif len(word := part["word"] or part["back"]) > 2 and word not in _COMMON:
            # Where nothing is turned yet there is nothing to turn back: "fail" is a word like any other.
            plain = word if word.endswith("ss") else word.rstrip("s")
            (sides[1] if turned else clause).add(plain)
    wanted, refused = sides[0] | clause, sides[1]
    return Leaning(
        frozenset(wanted - refused - about),
        frozenset(refused - wanted - about),
        frozenset(about | (wanted & refused)),
    )


def is_same_rule(one: str, other: str) -> bool:
    """Whether an instruction repeats another: most words of the shorter, and asked or refused alike.

    >>> is_same_rule("Never edit the migrations.", "don't you edit migrations, I said")
    True
    >>> is_same_rule("Never edit the migrations.", "Always edit the migrations first.")
    False
    """
    if " ".join(one.casefold().split()) == " ".join(other.casefold().split()):
        return True
    mine, theirs = read_leaning(one), read_leaning(other)
    agreed, opposed = _compare(mine, theirs)
    fewer = min(len(mine.words), len(theirs.words))
    return fewer > 1 and agreed > opposed and agreed >= max(SAME_SHARE * fewer, min(SAME_LEAST, fewer))


def _compare(one: Leaning, other: Leaning) -> tuple[int, int]:
    """How many words of both do not lean apart, and how many do."""
    opposed = len(one.wanted & other.refused) + len(one.refused & other.wanted)
    return len(one.words & other.words) - opposed, opposed
