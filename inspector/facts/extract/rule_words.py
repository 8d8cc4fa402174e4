"""Words of rules in other languages than English, and how much they speak for a rule."""

from __future__ import annotations

import re
from typing import NamedTuple


class RuleWords(NamedTuple):
    """The words of one language, as parts of a pattern that are separated by "|".

    Attributes:
        always: Words for always and never, and for who alone may.
        must: Words of duties and bans, and of what holds from now on.
        only: Words for only, and for limits.
        asks: Words for please.
        bars: Words for no and not that forbid where a sentence begins with them.
        orders: Verbs that open an order.
        tells: Words of reports.
    """

    always: str
    must: str
    only: str
    asks: str
    bars: str
    orders: str
    tells: str


LANGUAGES = (
    RuleWords(
        "nie|niemals|immer(?! noch| wieder| mehr)|stets|grundsätzlich|ausnahmslos"
        "|(?:macht|machen) nur(?! noch)",
        "(?<!ich )(?<!wir )(?:muss|müssen|darf|dürfen|soll|sollen)(?! (?:ich|wir|noch))"
        "|verboten|ab (?:jetzt|sofort)",
        "ausschließlich|höchstens|maximal|mindestens|länger als",
        "bitte",
        "keine?n?(?! (?:ahnung|problem|idee|fehler|sorgen?|zeit|lust))|nicht",
        "verwende|nutze|benutze|halte|lass|schreibe?|ändere|lösche|antworte",
        "ist|war|waren|hat|habe|haben|hatte|wurde|wurden|gestern|ich|kommt",
    ),
    RuleWords(
        "toujours|jamais",
        "doit|doivent|interdit|à partir de maintenant|désormais",
        "seulement|uniquement|au (?:plus|moins|maximum)",
        "s'il (?:te|vous) plaît|stp|svp|merci de",
        "pas de|aucune?",
        "utilise[rz]?|garde[rz]?|laisse[rz]?|écri(?:s|re|vez)|change[rz]?|supprime[rz]?|réponds",
        "est|était|a|ont|avait|n'a|n'est|j'ai|je|hier",
    ),
    RuleWords(
        "siempre|nunca|jamás",
        "debe|deben|prohibido|desde ahora|a partir de ahora",
        "solo|sólo|solamente|únicamente|como (?:máximo|mínimo)",
        "por favor",
        "ningún|ninguna|nada de",
        "usa|usar|use|utiliza|mantén|deja|escribe|cambies?|borres?|responde",
        "es|está|estaba|era|fue|ha|han|había|ayer|me",
    ),
    RuleWords(
        "sempre|nunca|jamais",
        "deve|devem|proibido|a partir de agora|de agora em diante",
        "só|somente|apenas|no (?:máximo|mínimo)",
        "por favor",
        "não(?= (?:use|usar|mude|altere|apague|mexa|toque)\\b)|nenhuma?|nada de",
        "usa|usar|use|utilize|mantenha|deixe|escreva|mude|apague|responda",
        "é|è|está|estava|era|foi|tem|tinha|ha|ontem|me",
    ),
    RuleWords(
        "sempre|(?:non|né) \\w+ mai",
        "deve|devono|vietato|d'ora in poi|da ora in poi",
        "solo|soltanto|solamente|al (?:massimo|minimo)",
        "per favore|per piacere",
        "non(?= \\w+(?:are|ere|ire)\\b)|nessuna?|niente",
        "usa|usare|utilizza|mantieni|lascia|scrivi|cambia|cancella|rispondi",
        "è|é|era|erano|ha|hanno|aveva|foi|tem|ieri|mi",
    ),
    RuleWords(
        "altijd|nooit",
        "(?<!ik )(?<!we )(?:moet|moeten)(?! (?:ik|we|nog))|mag niet|mogen niet|verboden|vanaf nu|voortaan",
        "alleen|enkel|uitsluitend|hoogstens|maximaal|minstens",
        "graag|alsjeblieft|alstublieft",
        "geen(?! (?:idee|probleem|fouten?|zorgen))",
        "gebruik|houd|laat|schrijf|wijzig|verwijder|antwoord",
        "is|was|waren|heeft|hebben|had|werd|gisteren|ik",
    ),
)
_TELLING = 3
"""The points that a word of a report takes away from what no duty is."""


class _Patterns(NamedTuple):
    worth: tuple[tuple[re.Pattern[str], int], ...]
    must: re.Pattern[str]
    tells: re.Pattern[str]


def _find_word(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w'-])(?:{words})(?![\w'-])")


def _find_first(words: str, asks: str) -> re.Pattern[str]:
    return re.compile(rf"\A\W*(?:(?:{asks})\b\W*)?(?:{words})(?![\w'-])")


def _compile(words: RuleWords) -> _Patterns:
    return _Patterns(
        (
            (_find_word(words.always), 2),
            (_find_word(words.only), 1),
            (_find_word(words.asks), 1),
            (_find_first(words.bars, words.asks), 2),
            (_find_first(words.orders, words.asks), 1),
        ),
        _find_word(words.must),
        _find_word(words.tells),
    )


_OF_LANGUAGES = tuple(map(_compile, LANGUAGES))
_ANY = _find_word(
    "|".join(part for words in LANGUAGES for part in (words.always, words.must, words.only, words.bars))
)
_FEWEST_WORDS = 4
_JOINTS = re.compile(r"[,;:] ")
"""What parts a rule from its reason: "bitte nie direkt schreiben, das ist Produktion"."""


def count_foreign(low: str) -> int:
    """Return the points with which a sentence in lower case is a rule in another language, or 0.

    >>> count_foreign("usa siempre comillas simples"), count_foreign("das war immer schon so")
    (3, 0)
    >>> count_foreign("die nummer darf nie im log stehen"), count_foreign("never push to main")
    (5, 0)
    """
    if _ANY.search(low) is None or low.count(" ") + 1 < _FEWEST_WORDS:
        return 0
    clauses = dict.fromkeys((low, *_JOINTS.split(low)))
    return max(_count_points(clause, patterns) for patterns in _OF_LANGUAGES for clause in clauses)


def _count_points(low: str, patterns: _Patterns) -> int:
    points = sum(worth for pattern, worth in patterns.worth if pattern.search(low))
    if patterns.must.search(low):
        return points + 3
    return max(0, points - _TELLING * (patterns.tells.search(low) is not None))
