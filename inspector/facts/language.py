"""Decide whether one of two texts is in English and the other is not, by small words and scripts."""

from __future__ import annotations

import re
from functools import lru_cache

from .vocabulary import split_words

_ENGLISH = frozenset(
    split_words(
        """
        a an and are as at be but by do don't for from has have i if in is it me my never no not of on or our
        out please should that the them then there these this to use was we what when where will with you
        your
        """
    )
)
_OTHER = (
    frozenset(
        split_words(
            """
            aber auf aus bei bitte das dem den der die ein eine einen es für ich ist kein keine mit nach nicht
            nichts nie niemals noch nur oder soll sollen sind und unter vom von vor war wenn werden wir wird
            zu zum zur
            al con cuando del el en es esta las los nunca para pero por que siempre sin solo son una y ya
            au aux avec ce ces dans des du elle en est et il jamais la le les mais ne nous ou par pas que
            qui sans sont sur toujours tu un une vous
            al che con del della di è gli il la le mai ma nel non più quando sempre senza si sono una
            aan alleen altijd dat de die een en er geen het ik is je maar met naar niet nog nooit of om ook op
            te van voor wel wij
            as da das do dos é em não na nas no nos nunca ou para pelo por que se sem sempre só uma
            """
        )
    )
    - _ENGLISH
)
"""Small words of German, Spanish, French, Italian, Dutch and Portuguese that are none in English."""
OTHER_OF = {"en": "other", "other": "en"}
_WORDS = re.compile(r"(?<![\w.@/-])[^\W\d_]+(?:['’][^\W\d_]+)?(?![\w@/-]|\.\w)")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")
_LEAST, _MOST = 2, 20_000
"""Small words that tell a language, and the characters that are read of a text."""


@lru_cache(4_096)
def find_language(text: str) -> str:
    """Return "en" for English, "other" for a language that is recognised as another, else "".

    >>> find_language("Bitte nie auf die Datenbank schreiben."), find_language("Use tabs in the parser.")
    ('other', 'en')
    >>> find_language("永远不要推送到主分支"), find_language("npm test")
    ('other', '')
    """
    words = [word.casefold().replace("’", "'") for word in _WORDS.findall(text[:_MOST])]
    letters = sum(map(len, words))
    if letters and 2 * len(_LATIN.findall(text[:_MOST])) < letters:
        return "other"
    english, other = (len(known.intersection(words)) for known in (_ENGLISH, _OTHER))
    if other >= _LEAST and other > english:
        return "other"
    return "en" if english >= _LEAST and english > other else ""


def is_other_language(text: str, than: str) -> bool:
    """Return whether one of two texts is in English and the other is not."""
    return OTHER_OF.get(find_language(text), "") == find_language(than) != ""
