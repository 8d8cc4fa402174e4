"""Split a text into terms: values in one normal form, words as stems, and words that set a sentence's force.

Two texts are compared by their terms. A value (a number with its unit, an amount, a date, a path, an address,
an id, a flag, an identifier) has the same form however it is written. Other words are reduced to a stem, and
the words that negate, permit, cancel, bind or soften a sentence are distinguished from those that carry its
subject. English only; words of other scripts are compared as they are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Literal, NamedTuple

from .vocabulary import (
    CURRENCIES,
    DAYS,
    ENDINGS_OF_FILES,
    FORCE,
    MONTHS,
    NUMERALS,
    ONES,
    SCALES,
    SMALL,
    TENS,
    UNITS,
    split_words,
    stem,
)

Sort = Literal["value", "word", "small", "negation", "permission", "cancel", "strict", "soft", "over", "mark"]
"""`small` is a word without a subject, `mark` a punctuation mark that ends a clause."""


class Term(NamedTuple):
    """One term of a text: its normal form, its sort, and its span in the text.

    The form of a value starts with a letter for its type and a colon: `n` number, `d` date, `p` path,
    `u` address, `i` id, `o` option, `f` flag, `w` identifier.
    """

    form: str
    sort: Sort
    start: int
    end: int


_UNIT = "|".join(sorted(map(re.escape, UNITS), key=len, reverse=True))
_LONG_UNIT = "|".join(sorted((unit for unit in UNITS if len(unit) > 2), key=len, reverse=True))
_SPELLED = (
    rf"(?:{'|'.join(TENS)})[- ](?:{'|'.join(ONES[1:10])})"
    r"|(?:one|a|two|three|four|five)\s(?:hundred|thousand|million)"
    rf"|{'|'.join(NUMERALS)}|one(?=[*_`]{{0,2}}[ -](?:{_LONG_UNIT})\b)"
)
_NEGATED = "do|does|did|wo|ca|should|must|need|is|are|was|were|would|could|has|have"
_NOT = rf"(?P<nt>(?:{_NEGATED})n['’]?t)"
_MONTH = "|".join(f"{name[:3]}(?:{name[3:]})?" if name[3:] else name for name in MONTHS)
_CAPITAL_MONTH = "|".join(name.title() for name in MONTHS)
_ORDINAL = r"\d{1,2}(?:st|nd|rd|th)?"
_BETWEEN = r"[*_`]{0,2}\s?"  # "**20** minutes"
_FORCE = "|".join(f"(?P<{sort}>{words})" for sort, words in FORCE.items()).replace(" ", "[ ]")
_STRESSED = (
    "all any each every some both the this that these those and then with when are was were will should"
)
_EMPHASISED = "|".join((*FORCE.values(), *_STRESSED.split())).replace(" ", "[ ]")
"""Words that capitals stress, so that they are no acronym: "do NOT", "ALL files"."""
_LETTERS = "぀-ヿ㐀-鿿豈-﫿가-힣"
LETTER = re.compile(f"[{_LETTERS}]")
"""A letter of a script without blanks between words: each is a term."""
_AMOUNT = r"(?=\s?[$€£]?\d)"
_OPERATORS: dict[str, tuple[str, Sort]] = {
    "least": ("at least", "strict"),
    "most": ("at most", "strict"),
    "more": ("more than", "over"),
}
"""The words that an operator before an amount stands for."""
_DOMAINS = "com|org|net|io|dev|ai|app"
_NOT_PLAIN = r"(?![a-z]+[\s,])"
"""What most words are not: the alternatives behind it match no letters alone."""


def _list_beginnings() -> str:
    """Return a pattern for the words that may begin a term other than a plain word, and for a few others."""
    parts = re.findall(r"([a-z]+)([?(\[]?)", "|".join(FORCE.values()))
    open_ended = {word[: len(word) - (more == "?")] for word, more in parts if more}
    open_ended.update(name[:3] for name in MONTHS)
    whole = {word for word, more in parts if not more} | {*NUMERALS, "one", "a"}
    whole.update(f"{word}nt" for word in _NEGATED.split("|"))
    whole.update(f"{day}{end}" for day in DAYS.split("|") for end in ("", "s"))
    return "|".join(sorted({*open_ended, *(rf"{word}\b" for word in whole)}))


_TERM = re.compile(
    rf"""(?=[\S\n])(?:(?P<plain>(?!{_list_beginnings()})[a-z]+(?=[\s,]))
    |{_NOT_PLAIN}(?:(?P<url>(?!(?i:file):)\b[A-Za-z][\w+.-]{{0,20}}://[^\s<>"'`)\]]+|(?<![\w/@.-])(?:[\w-]{{1,64}}\.){{1,8}}(?:{_DOMAINS})/[^\s<>"'`)\]]+)
    |(?P<mail>[\w.+-]{{1,64}}@[\w-]{{1,64}}(?:\.[\w-]{{1,64}}){{1,8}})
    |(?P<path>(?:file://)?[~.\w-]{{0,100}}(?:[/\\][\w@.+-]{{1,255}})+[/\\]?|[\w.-]{{0,100}}\w\.(?:{ENDINGS_OF_FILES})(?![\w-]|\.\w))
      (?::(?P<line>\d+(?::\d+)?))?
    |(?P<money>(?:[$€£]\s?|\b(?:USD|EUR|GBP)\s)\d+(?:,\d{{3}})*(?:\.\d+)?(?:\s?[kKmM]\b)?))
    |(?P<date>\d{{4}}-\d\d-\d\d(?!\w)|\b{_ORDINAL}\s(?i:{_MONTH})\b(?:\s\d{{4}})?
      |\b(?i:{_MONTH})\.?\s{_ORDINAL}\b(?:,?\s\d{{4}})?)
    |(?P<day>\b(?i:(?:{DAYS})s?)\b|(?<!^)\b(?:{_CAPITAL_MONTH})\b|(?:(?<=until\s)|(?<=since\s)|(?<=till\s)
      |(?<=\bby\s)|(?<=\bin\s))(?i:{_MONTH})\b)
    |{_NOT_PLAIN}(?:(?P<time>\b\d{{1,2}}(?::\d\d(?!:|\d))?\s?(?i:[ap]\.?m)\b\.?|\b\d{{1,2}}:\d\d\b(?!:))
    |(?P<id>\#\d+|\b[A-Za-z]{{2,10}}-\d{{1,6}}\b(?![.-]\w)
      |\b(?=[0-9a-f-]{{0,60}}\d)(?=[0-9a-f-]{{0,60}}[a-f])[0-9a-f]{{7,40}}(?:-[0-9a-f]{{4}}){{0,3}}(?:-[0-9a-f]{{12}})?\b)
    |(?P<number>(?<![\w.])v?\d++(?:,\d{{3}})*(?:\.\d++)*(?:{_BETWEEN}(?P<unit>(?i:{_UNIT}))(?!\w)|(?!\d*[A-Za-z]{{4}})))
    |(?P<option>(?:(?<=\bdo\s)|(?<=\boption\s)|(?<=\bplan\s)|(?<=\bchoose\s)|(?<=\bpick\s)|(?<=\bapproach\s))
      [A-H]\b|\b[A-H](?=\))|(?<=[a-z]\s)[A-HJ-Z]\b(?![-'’.&]\w)))
    |(?P<spelled>\b(?i:{_SPELLED})\b(?:[*_`]{{0,2}}[\s-](?P<spelled_unit>(?i:{_LONG_UNIT}))\b)?)
    |{_NOT_PLAIN}(?:(?P<flag>(?<!\S)--?[A-Za-z][\w-]*)
    |(?P<name>(?!@[\w.-]{{1,100}}\.(?:{ENDINGS_OF_FILES})(?![\w-]|\.\w))@?[A-Za-z_]\w*(?:(?:\.|::|-)\w+)+|[A-Za-z_]*[a-z0-9_][A-Z]\w*|[A-Za-z]\w*[_\d]\w*|(?<!\d)\d++[A-Za-z]{{4}}\w*
      |[A-Z]{{2,}}[a-z]\w*)(?:\(\))?
    |(?P<caps>\b(?=[A-Z]{{2}})(?!(?i:{_EMPHASISED})\b)
      [A-Z]{{2,6}}\b(?!\s+[A-Z]{{2}})(?<![A-Z]{{2}}\s[A-Z]{{2}})(?<![A-Z]{{2}}\s[A-Z]{{3}})
      (?<![A-Z]{{2}}\s[A-Z]{{4}}))
    |(?P<least>(?:>=|≥){_AMOUNT})|(?P<most>(?:<=|≤){_AMOUNT})|(?P<more>(?<=\w\s)>{_AMOUNT}))
    |(?i:\b(?:{_FORCE}|{_NOT})\b)
    |(?P<letter>[{_LETTERS}])
    |(?P<word>[^\W\d_{_LETTERS}]+(?:['’][a-z]+)?)
    |(?P<mark>&&|\|\||[.;:!?,()\n—–|&…·•。、，；：！？]|->|→))""".replace(r"[ ]", r"\s+"),
    re.VERBOSE,
)
_ASSIGNS = re.compile(r"(?:[=:<>]|\bset to|\bat (?:most|least))\s*\Z")
"""What comes before a quantity, and before no version."""
_ACRONYMS = re.compile(r"^([A-Z]{2,6})s$")
"""The plural of an acronym: "TODOs", "APIs"."""
_WHOLE = re.compile(r"^(\d+)\.0+$")
_NEAR = 12
"""Characters before a number in which that is looked for."""
_PARTICLES = frozenset(split_words("""on off up down in out"""))
_LINE = stem("line")
_JOINS = frozenset(split_words("""and or but then when if while"""))
_VALUES = frozenset(
    split_words("""url mail path money date day time id number spelled flag name option caps""")
)


@lru_cache(4096)
def read_terms(text: str) -> tuple[Term, ...]:
    """Split a text into terms, in order.

    >>> [(term.form, term.sort) for term in read_terms("Never spend more than $1.5k")]
    [('never', 'negation'), ('spend', 'word'), ('more than', 'over'), ('n:1500 usd', 'value')]
    """
    terms: list[Term] = []
    for match in _TERM.finditer(text):
        sort, whole = match.lastgroup or "", match[0]
        start, end = match.span()
        if sort == "plain":  # most words, read without a look at all that they may be
            terms.append(_word(whole, start))
            continue
        sort = {"line": "path", "unit": "number", "spelled_unit": "spelled"}.get(sort, sort)
        if sort == "path" and match["line"]:
            terms.append(Term(_normalise(sort, match), "value", *match.span("path")))
            # A line number is no part of what a sentence says.
            terms += [Term(f"n:{part}", "small", *match.span("line")) for part in match["line"].split(":")]
        elif sort == "name" and "-" in whole and not re.search(r"[\d_.]", whole):
            terms += [_word(part[0], start + part.start()) for part in re.finditer(r"[^\W_]+", whole)]
        elif sort in _VALUES:
            terms.append(Term(_normalise(sort, match), "value", start, end))
        elif sort == "word":
            terms.append(_word(whole, start))
        elif sort == "letter":
            terms.append(Term(whole, "word", start, end))
        elif sort in _OPERATORS:
            terms.append(Term(*_OPERATORS[sort], start, end))
        elif sort == "nt":
            terms.append(Term("not", "negation", start, end))
        elif sort == "mark":
            terms.append(Term(whole, "mark", start, end))
        else:
            force: Sort = "strict" if sort == "limit" else sort  # type: ignore[assignment]
            terms.append(Term(" ".join(whole.lower().split()), force, start, end))
    terms = [
        _read_line_number(term, terms[max(0, at - 2) : at]) if term.form[:2] == "n:" else term
        for at, term in enumerate(terms)
    ]
    return tuple(map(_read_particle, terms, [*terms[1:], None]))


def _read_line_number(term: Term, before: Sequence[Term]) -> Term:
    """Return a line number as a small word: like the one behind a path, it is no part of what is said."""
    after_line = any(item.form == _LINE for item in before[-1:]) or (
        [item.form[:2] for item in before[1:]] == ["n:"] and before[0].form == _LINE
    )
    return term._replace(sort="small") if after_line else term


def _read_particle(term: Term, follower: Term | None) -> Term:
    """Return "on" or "off" as a word if it tells a state, as at the end of a clause: "fan on, heater off"."""
    if term.form not in _PARTICLES or (term.form != "off" and not _ends_clause(follower)):
        return term
    return term._replace(sort="word")


def _ends_clause(follower: Term | None) -> bool:
    return follower is None or follower.sort == "mark" or follower.form in _JOINS


def _word(text: str, start: int) -> Term:
    low = text.lower()
    sort: Sort
    is_operator = text in ("AND", "OR")  # "AND binds tighter than OR"
    form, sort = (low, "small") if low in SMALL and not is_operator else (stem(text), "word")
    return Term(form, sort, start, start + len(text))


def _normalise(sort: str, match: re.Match[str]) -> str:
    """Return the normal form of a value."""
    text = match[0]
    if sort == "number":
        unit = match["unit"]
        figure = re.sub(r"[^\d.]", "", text[: match.start("unit") - match.start()] if unit else text)
        if unit or _ASSIGNS.search(match.string, max(0, match.start() - _NEAR), match.start()):
            figure = _WHOLE.sub(r"\1", figure)  # "= 30.0" is 30, but the version 3.0 is not 3
        return f"n:{normalise_measure(figure, UNITS[unit.casefold()])}" if unit else f"n:{figure}"
    if sort == "spelled":
        unit = match["spelled_unit"]
        words = re.findall(r"[a-z]+", text.lower())[: -1 if unit else None]
        total = sum(NUMERALS.get(word, 1 if word in ("one", "a") else 0) for word in words)
        total *= SCALES.get(words[-1], 1)
        return f"n:{normalise_measure(str(total), UNITS[unit.casefold()])}" if unit else f"n:{total}"
    if sort == "money":
        unit = CURRENCIES.get(text[0]) or text[:3].lower()
        return f"n:{_read_amount(text.lstrip('$€£USDERGBP '))} {unit}"
    if sort == "day":
        return f"d:{text.lower()[:3]}"
    if sort == "time":
        return f"d:{normalise_clock(text)}"
    if sort == "date":
        return f"d:{_read_date(text)}"
    if sort == "path":
        path = re.sub(r"^([_*]+)(.*)\1$", r"\2", match["path"]).replace("\\", "/").removeprefix("file://")
        return "p:" + re.sub(r"^(?:\.{1,3}/)+", "", path).rstrip("/.")
    if sort == "url":
        rest = text.rstrip("/.,;:").rpartition("://")[2]
        host, slash, tail = rest.partition("/")
        return f"u:{host.lower().removeprefix('www.')}{slash}{tail}"
    if sort == "id":
        return "i:" + text.lower()
    name = _ACRONYMS.sub(r"\1", text.removesuffix("()"))
    return {"option": "o:", "flag": "f:"}.get(sort, "w:") + name


def _read_amount(text: str) -> str:
    figure = text.strip().replace(",", "")
    scale = {"k": 1000, "m": 10**6}.get(figure[-1:].lower())
    if scale is None:
        return figure.removesuffix(".00")
    return f"{float(figure[:-1]) * scale:.2f}".removesuffix(".00")


def _read_date(text: str) -> str:
    if text[:4].isdigit():
        return text
    words = re.findall(r"[a-z]{3,}|\d+", text.lower())
    month = next(number for number, name in enumerate(MONTHS, 1) for word in words if name.startswith(word))
    day = next(word for word in words if word.isdigit() and len(word) < 3)
    year = next((f"{word}-" for word in words if word.isdigit() and len(word) == 4), "")
    return f"{year}{month:02}-{int(day):02}"


_BASES = {
    **dict.fromkeys(("ms", "s", "min", "h", "day", "week"), "s"),
    **dict.fromkeys(("byte", "kb", "mb", "gb", "tb"), "byte"),
}
_FACTORS = {
    unit: Decimal(factor)
    for unit, factor in (
        *(("ms", "0.001"), ("s", 1), ("min", 60), ("h", 3600), ("day", 86_400), ("week", 604_800)),
        *(("byte", 1), ("kb", 2**10), ("mb", 2**20), ("gb", 2**30), ("tb", 2**40)),
    )
}
_MOST_DIGITS = 28
"""Digits that a product has exactly."""
_CLOCK = re.compile(r"(\d{1,2})(?::(\d\d))?\s?([ap])?", re.IGNORECASE)


def normalise_measure(figure: str, unit: str) -> str:
    """Return an amount in the base of its unit: seconds, bytes, or the unit itself.

    >>> normalise_measure("1.5", "min"), normalise_measure("90", "s"), normalise_measure("500", "usd")
    ('90 s', '90 s', '500 usd')
    """
    if unit not in _BASES or figure.count(".") > 1 or len(figure) > _MOST_DIGITS:
        return f"{figure} {unit}"
    amount = Decimal(figure) * _FACTORS[unit]
    return f"{amount.normalize():f} {_BASES[unit]}"


@lru_cache(maxsize=256)
def list_figures(measure: str) -> frozenset[str]:
    """Return the figures of a normal form in every unit of its base.

    >>> sorted(list_figures("7200 s") & {"2", "120", "7200", "3"})
    ['120', '2', '7200']
    """
    figure, _, base = measure.partition(" ")
    if base not in _BASES.values() or figure.count(".") > 1 or len(figure) > _MOST_DIGITS:
        return frozenset((figure,))
    factors = (factor for unit, factor in _FACTORS.items() if _BASES[unit] == base)
    return frozenset(f"{(Decimal(figure) / factor).normalize():f}" for factor in factors)


def normalise_clock(text: str) -> str:
    """Return a time of a day with 24 hours.

    >>> [normalise_clock(text) for text in ("7:30 pm", "19:30", "12 a.m.", "9:05")]
    ['19:30', '19:30', '00:00', '09:05']
    """
    hour, minute, half = _CLOCK.findall(text)[0]
    number = int(hour) % 12 + 12 * (half.lower() == "p") if half else int(hour)
    return f"{number:02}:{minute or '00'}"
