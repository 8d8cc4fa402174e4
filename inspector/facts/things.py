"""Find a thing in a text: a file, a command, an address, an id, an identifier or a number.

A thing is there if the text holds the same value, however it is written. It is `changed` only if the text
holds a near value of the same kind that nothing in the session says, and `partial` if only a part is there:
a file's name without its folder, a command without its options.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from difflib import SequenceMatcher
from functools import lru_cache

from .indexed_text import NOTHING_SAID, IndexedText, SaidBefore, find_held, find_whole, is_hex
from .outcomes import ABSENT, FactComparison
from .terms import read_terms
from .vocabulary import NUMERALS, stem

_CODE = re.compile(
    r"`([^`\n]{2,300})`|^\s*\$ (.+)$"
    r"|(?i:\b\w{0,40}?(?:bash|shell|exec|command|terminal)\w{0,40}\((?:([^\n()]{2,300})\)|([^\n]{2,300}?)\)(?=\s*(?:·|$))))",
    re.MULTILINE,
)
"""A command in a text: in backquotes, after a prompt, or as the argument of a shell tool."""
_CONTINUED = re.compile(r"\\\s*\n\s*")
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_FIGURE = (
    rf"[$€£]?\d[\d,.]*\d%?|\d|(?:{'|'.join(NUMERALS)})"
    r"(?:[- ](?:one|two|three|four|five|six|seven|eight|nine))?"
)
_JOINT = r"""(?P<joint>[ =:"'`*_#]{1,5}(?:(?:is|of|to|at|was|set to|is set to|is now)[ `"'*]{1,3})?)"""
_NAMED = re.compile(r"(?P<name>[^=]{1,80}?)\s*=+\s*(?P<value>\S+)")
_COUNTED = re.compile(rf"(?P<value>{_FIGURE})\+?(?P<rest>\W?[^\d]*)")
_SIZE = re.compile(r"([kKMGT]i?B)\b(.*)")
_ISSUE = re.compile(r"(?:u:.*/(?:pull|issues|merge_requests)/|i:#)(?P<number>\d+)(?P<rest>.*)")
_MOST_PARTS = 6
"""Words of an identifier in the name of a test."""
_TEST_NAME = re.compile(r"(?:[Tt]est|Benchmark)_?(\w+)")
_SHORTEST_NAME = 4
_TICKET = re.compile(r"(?<=/)[A-Z]{2,10}-\d+(?=/|$)")
_FOLDER = re.compile(r"[A-Za-z0-9][\w-]{0,99}")
"""The first folder of a path whose normal form begins with it."""
_LOWER = re.compile(r"[a-z_-]+")
_FLAGS = {
    "--all": "-A",
    "--staged": "--cached",
    "--message": "-m",
    "--quiet": "-q",
    "--verbose": "-v",
    "--force": "-f",
}
_JOINS = ("&&", "||", ";", "|")
"""Operators that join two commands on a line."""


def compare_thing(
    kind: str,
    form: str,
    text: IndexedText,
    is_said: SaidBefore = NOTHING_SAID,
    latest: bool = True,
) -> FactComparison:
    """Compare a thing with a text.

    Args:
        kind: The kind of the fact, such as "file".
        form: Its form, as in `Fact.form`.
        text: The text to search, such as a summary.
        is_said: Whether the session said some words.
        latest: Whether a number is the last of its name or unit (`find_slot`): only that one can be changed.

    >>> text = IndexedText("Edited a.ts; see `make test` and #12.")
    >>> compare_thing("file", "src/b/a.ts", text).outcome, compare_thing("command", "make test", text).outcome
    ('partial', 'quoted')
    >>> compare_thing("url", "https://github.com/o/r/pull/12", text).outcome
    'partial'
    """
    if kind == "command":
        return _compare_command(form, text, is_said)
    if kind == "number" and (result := _compare_number(form, text, is_said, latest)):
        return result if result.outcome != "absent" else _find_value_alone(form, text)
    # A lower-case word alone is a word, and no folder; "." is the working directory only by its whole name.
    is_word = kind == "file" and (_LOWER.fullmatch(form) is not None or form == ".")
    if not is_word and (at := find_whole(form, text.text)) >= 0:
        return FactComparison("quoted", form, at)
    value = _normalise(kind, form)
    if kind == "symbol" and value[0] == "n":  # a class named "Two" is no 2
        value = "w:" + form
    same = [item for item in text.values if item == value] if kind == "symbol" else text.find_same(value)
    if issue := _ISSUE.match(value):
        result = _find_issue(issue, value, text)
        if result:
            return result
    # The first digits of a UUID are a part of it; those of a commit's id name it.
    short = [item for item in same if "-" in value and is_hex(value[2:]) and "-" not in item]
    if len(same) > len(short):
        return _make("quoted", same[0], text)
    near = [
        item for item in is_said.find_unsaid(text) if item[:2] == value[:2] and _is_near(value[2:], item[2:])
    ]
    if near:
        best = max(near, key=lambda item: (SequenceMatcher(None, item, value).ratio(), item))
        span = text.find_value(best) or (0, 0)
        words = text.text[slice(*span)].rstrip(".,;:/") or best[2:]  # as the text spells it
        return FactComparison("changed", words, span[0], form, words, "value")
    if short:
        return _make("partial", short[0], text)
    return _find_part(value, text) or (_find_value_alone(form, text) if kind == "number" else ABSENT)


def _normalise(kind: str, form: str) -> str:
    """Return the normal form of a thing: that of its only value, if it has one."""
    term = next((term for term in read_terms(form) if term.sort == "value"), None)
    whole = term is not None and term.end - term.start >= len(form.rstrip("/.)(")) - 2
    value = term.form if term is not None and whole else "w:" + form
    if kind == "file" and not value.startswith("p:"):
        return "p:" + form.replace("\\", "/").removeprefix("./").rstrip("/")
    return value


def _make(outcome: str, value: str, text: IndexedText) -> FactComparison:
    words = value[2:]
    return FactComparison(outcome, words, text.text.find(words))  # type: ignore[arg-type]


def _find_issue(issue: re.Match[str], value: str, text: IndexedText) -> FactComparison | None:
    """Find an issue or a pull request by its number."""
    number = issue["number"]
    named = rf"(?i)(?<!\w)(?:#|(?:pull request|pr|issue|mr) #?|(?:pull|issues|merge_requests)/){number}(?!\d)"
    hit = re.search(named, text.text)
    if hit is None:
        return None
    whole = value.startswith("i:") or f"/{number}" in text.text
    whole = whole or re.search(rf"\w/[\w.-]+#{number}\b", text.text) is not None
    if whole and not issue["rest"]:
        return FactComparison("quoted", hit[0], hit.start())
    return FactComparison("partial", hit[0], hit.start(), reason="number")


def _find_part(value: str, text: IndexedText) -> FactComparison | None:
    """Find a part that names a thing: the end of a path, a ticket in an address, a test without its case."""
    if value.startswith("u:") and (ticket := _TICKET.search(value)) and find_whole(ticket[0], text.text) >= 0:
        return FactComparison("partial", ticket[0], find_whole(ticket[0], text.text), reason="number")
    if value.startswith("w:"):
        return _find_tested(value[2:], text)
    if not value.startswith("p:"):
        return None
    similar = text.find_similar(value)
    tails = [item for item in similar if value.endswith("/" + item[2:])]
    base = value.rpartition("/")[2]  # a file's own name tells what ending it has
    if "/" in value and _is_file_name(base) and find_whole(base, text.text) >= 0:
        tails.append("p:" + base)
    # A bare name belongs to the longer path with that name, if the text has one.
    if tails and not any("/" in item for item in similar if item not in tails):
        return _make("partial", max(tails, key=len), text)._replace(reason="end of the path")
    head = value[2:].partition("/")[0]
    if len(_PART.findall(head)) > 1 and "." not in head and (at := find_whole(head, text.text)) >= 0:
        return FactComparison("partial", head, at, reason="start of the name")
    return None


def _is_file_name(base: str) -> bool:
    """Whether the last part of a path is no common word: it has an ending, or a capital as Snakefile has."""
    return "." in base or (len(base) > _SHORTEST_NAME and base[:1].isupper())


def _find_tested(form: str, text: IndexedText) -> FactComparison | None:
    """Find an identifier in the name of a test in a sentence about tests: `unclear` if there is one."""
    for name in sorted(_split_test(form), key=len, reverse=True):
        for sentence in text.sentences if f"w:{name}" in text.values else ():
            forms = {term.form for term in sentence.terms}
            if f"w:{name}" in forms and stem("test") in forms:
                return FactComparison("unclear", name, text.text.find(name, sentence.start), reason="name")
    return None


def _split_test(form: str) -> set[str]:
    """Return the identifiers in the name of a test, which have two words or more.

    >>> sorted(_split_test("TestSave_WithEndedAt")), sorted(_split_test("test_old_cache"))
    (['EndedAt', 'WithEnded', 'WithEndedAt'], ['old_cache'])
    """
    test = _TEST_NAME.fullmatch(form)
    if test is None:
        return set()
    parts, is_camel = test[1].split("_"), test[1][:1].isupper()
    words, joint = ([_PART.findall(part) for part in parts], "") if is_camel else ([parts], "_")
    return {
        joint.join(part[low:high])
        for part in words[:_MOST_PARTS]
        for low in range(len(part))
        for high in range(low + 2, min(low + _MOST_PARTS, len(part)) + 1)
    }


def find_part_keys(form: str) -> set[str]:
    """Return words that identify part of a file, an address or a test: an issue's number, a ticket, the first
    folder, what is tested.

    >>> find_part_keys("https://github.com/o/r/pull/12#issuecomment-7"), find_part_keys("deploy/Justfile")
    ({'12'}, {'Justfile'})
    """
    if names := _split_test(form):
        return names
    head, slash, rest = form.partition("/")
    base = rest.rpartition("/")[2]
    if _is_file_name(base) and "." not in base and "://" not in form:
        return {base}
    if (slash or "\\" in form) and _FOLDER.fullmatch(head) is None:
        value = _normalise("url" if "://" in form else "file", form)
        if issue := _ISSUE.match(value):
            return {issue["number"]}
        if value.startswith("u:"):
            return {ticket[0] for ticket in [_TICKET.search(value)] if ticket}
        head = value[2:].partition("/")[0]
    return {head} if "." not in head and len(_PART.findall(head)) > 1 else set()


def find_near_keys(form: str) -> set[str]:
    """Return keys of which two names share one if they may differ in one part or one letter.

    >>> sorted(find_near_keys("src/parse_row.py") & find_near_keys("lib/parse_line.py"))
    ['<pars']
    """
    base = form.replace("\\", "/").rstrip("/").rpartition("/")[2]
    stem, dot, _ = base.rpartition(".")
    parts = _PART.findall(stem if dot and stem else base) or [base]
    return {"<" + parts[0].lower()[:4], ">" + parts[-1].lower()[-4:]}


def _is_near(item: str, other: str) -> bool:
    """Whether two names differ in one part, in the order of their parts, or in a letter of their only one."""
    if item.casefold() == other.casefold():
        return False
    if "/" in item and "/" in other:  # from the last folder on that both name
        depth = min(item.count("/"), other.count("/")) + 1
        item, other = ("/".join(path.split("/")[-depth:]) for path in (item, other))
    if is_hex(item):
        groups = [pair for pair in zip(item.split("-"), other.split("-"), strict=False) if pair[0] != pair[1]]
        return (
            is_hex(other)
            and item.count("-") == other.count("-")
            and len(groups) == 1
            and _is_one_letter_off(*groups[0])
        )
    parts, other_parts = ([part.lower() for part in _PART.findall(name)] for name in (item, other))
    # Folders and endings that two paths share do not make their names alike.
    base = item.rpartition("/")[2].partition(".")[0]
    is_long = len(parts) >= 4 and ("/" not in item or len(_PART.findall(base)) >= 4)
    if len(parts) < 2 or len(other_parts) < 2:
        return len(item) > 4 and _is_one_letter_off(item.lower(), other.lower())
    if sorted(parts) == sorted(other_parts):
        return True
    if len(parts) == len(other_parts):
        differing = [pair for pair in zip(parts, other_parts, strict=True) if pair[0] != pair[1]]
        return len(differing) == 1 and (is_long or SequenceMatcher(None, *differing[0]).ratio() >= 0.5)
    short, long = sorted((parts, other_parts), key=len)
    return len(short) >= 3 and _is_one_more(short, long)


def _is_one_more(short: list[str], long: list[str], first: int = 0) -> bool:
    """Whether a list is another with one item more, at `first` or after it."""
    return len(long) - len(short) == 1 and any(
        long[:at] + long[at + 1 :] == short for at in range(first, len(long))
    )


def _is_one_letter_off(item: str, other: str) -> bool:
    """Whether one letter is another, is missing, or two neighbours changed places."""
    if len(item) != len(other):
        short, long = sorted((item, other), key=len)
        return _is_one_more(list(short), list(long))
    wrong = [at for at in range(len(item)) if item[at] != other[at]]
    swapped = len(wrong) == 2 and item[wrong[0]] == other[wrong[1]] and item[wrong[1]] == other[wrong[0]]
    return len(wrong) == 1 or swapped


# Commands


def _split_command(text: str) -> list[str]:
    words = re.findall(r"[^\s`\"'*]+", _CONTINUED.sub(" ", text))
    return [_FLAGS.get(word, word.removeprefix("./")) for word in words]


@lru_cache(32)
def _read_commands(text: IndexedText) -> tuple[list[str], list[list[str]], list[str]]:
    """Return what may be a command in a text, the words of each, and all words of the text."""
    spans = [next(filter(None, match.groups())) for match in _CODE.finditer(_CONTINUED.sub(" ", text.text))]
    return spans, [_split_command(span) for span in spans], _split_command(text.text)


def _compare_command(form: str, text: IndexedText, is_said: SaidBefore) -> FactComparison:
    own_words = _split_command(form)
    if not own_words or own_words[0].rpartition("/")[2] not in text.text:
        return ABSENT
    spans, commands, every = _read_commands(text)
    for span, command in zip(spans, commands, strict=True):
        if _holds(command, own_words):
            return FactComparison("quoted", span, text.text.find(span))
    plain = [word.rstrip(".,;:") for word in every]
    if (
        len(own_words) > 1
        and _holds(plain, own_words, prose=True)
        and not any(set(own_words) <= set(item) for item in commands)
    ):
        return FactComparison("quoted", form, text.text.find(form))
    for span, command in zip(spans, commands, strict=True):
        if command[:1] == own_words[:1] and _is_changed(own_words, command, is_said) and not is_said(span):
            return FactComparison("changed", span, text.text.find(span), form, span, "value")
    starts = [
        span
        for span, command in zip(spans, commands, strict=True)
        if len(command) > 1 and command == own_words[: len(command)]
    ]
    if starts:
        best = max(starts, key=len)
        return FactComparison("partial", best, text.text.find(best), reason="start of the command")
    return ABSENT


def _holds(words: list[str], command: list[str], *, prose: bool = False) -> bool:
    """Whether words contain a whole command: alone, next to such an operator, or in prose."""
    for at in range(len(words) - len(command) + 1):
        if words[at : at + len(command)] != command:
            continue
        end = at + len(command)
        begins = prose or at == 0 or words[at - 1] in (*_JOINS, "$", "then")
        ends = end == len(words) or words[end] in (*_JOINS, ">", "2>&1")
        if begins and (ends or (len(command) > 1 and not words[end].startswith("-"))):
            return True
    return False


def _is_changed(own_words: list[str], command: list[str], is_said: SaidBefore) -> bool:
    """Whether two commands differ in one word, and it is no subcommand that the session says as well."""
    if len(own_words) != len(command):
        short, long = sorted((own_words, command), key=len)
        return len(short) > 1 and _is_one_more(short, long, 1)
    differing = [at for at, word in enumerate(command) if word != own_words[at]]
    if len(differing) != 1:
        return False
    word = command[differing[0]]
    return not (differing == [1] and _LOWER.fullmatch(word) and word[0] != "-" and is_said(word))


# Numbers


def _compare_number(form: str, text: IndexedText, is_said: SaidBefore, latest: bool) -> FactComparison | None:
    """Compare a number with its name or unit; None if the form has neither."""
    longest = max(re.findall(r"[A-Za-z][a-z]+|[A-Z]{2,}", form), key=len, default="").casefold()
    if longest and longest not in text.folded:
        return _find_measure(form, text) or ABSENT
    rest = ""
    if named := _NAMED.fullmatch(form):
        parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+|\d+", named["name"])
        name, value = r"[\s_-]*".join(map(re.escape, parts)), named["value"]
        pattern = rf"(?i)(?<!\w){name}{_JOINT}(?P<value>{_FIGURE})(?![\w])"
    elif (counted := _COUNTED.fullmatch(form)) and (rest := counted["rest"].strip()):
        value, parts = counted["value"], rest.split()
        words = r"[^\w\n]{1,3}".join(map(re.escape, parts))
        pattern = rf"(?i)(?<![\w.,:])(?P<value>{_FIGURE})\+?\s?{words}(?!\w)"
    else:
        return _find_measure(form, text)
    has_all = all(part.casefold() in text.folded for part in parts)
    hits = list(re.finditer(pattern, text.text)) if has_all else []
    figure = _read_figure(value)
    for hit in hits:
        if _read_figure(hit["value"]) == figure:
            return FactComparison("quoted", hit[0], hit.start())
    if measure := _find_measure(form, text, [hit.start("value") for hit in hits]):
        return measure
    misread = [
        hit
        for hit in hits
        if len(hit["value"]) > 2 and _is_one_letter_off(value, hit["value"]) and not is_said(hit["value"])
    ]
    # "lines 364" is no value of "lines", but "port 8913" is one for "port 8931".
    hits = [
        hit
        for hit in hits
        if not named or hit["joint"].strip(" `\"'*_") or (hit in misread and len(hit["value"]) > 3)
    ]
    hits = [hit for hit in hits if not _has_figure(text, hit.start(), figure)]  # "was 0 but expected 1"
    near = [
        hit
        for hit in hits
        if not is_said(hit[0])
        and (len(hit["value"]) < 2 or not is_said(hit["value"]))  # "208 passed", "208 tests"
        and (latest or hit in misread)
    ]
    if not near and (unit := _SIZE.fullmatch(rest)):
        other = re.search(
            rf"(?i)(?<![\w.,]){re.escape(value)}\s?[kKMGT]i?B{re.escape(unit[2])}(?!\w)", text.text
        )
        near = [other] if other and not is_said(other[0]) else []
    if near:
        best = min(near, key=lambda hit: (not _is_near(value, hit[0][: len(value)]), hit.start()))
        return FactComparison("changed", best[0], best.start(), form, best[0], "value")
    # The text has another value that the session said as well, or none next to the name.
    if named and len(parts) > 1:
        place = hits[0] if hits else re.search(rf"(?i)(?<!\w){name}(?!\w)", text.text)
        if place is not None:
            return FactComparison("unclear", place[0], place.start(), reason="another value")
    return ABSENT


def _has_figure(text: IndexedText, at: int, figure: str) -> bool:
    """Whether the sentence at a place has a figure as well."""
    sentences = (part for part in text.sentences if part.start <= at < part.end)
    return any(term.form == figure for part in sentences for term in part.terms)


def read_telling_value(form: str) -> str:
    """Return the normal form of the value of a named number; "" for a value that does not tell by itself.

    >>> read_telling_value("timeout = 20 seconds"), read_telling_value("n = 5")
    ('n:20 s', '')
    """
    terms = [term for term in read_terms(form.partition(" = ")[2]) if term.sort == "value"]
    return terms[0].form if terms and len(terms[0].form) > 3 else ""


def _find_value_alone(form: str, text: IndexedText) -> FactComparison:
    """Find the value of a named number without its name: `unclear` if it is there."""
    figure = read_telling_value(form)
    span = text.find_value(figure) if figure else None
    if span is None:
        return ABSENT
    return FactComparison("unclear", text.text[slice(*span)], span[0], reason="name missing")


def _find_measure(form: str, text: IndexedText, places: Collection[int] = ()) -> FactComparison | None:
    """Find an amount with a unit, in another unit too: at one of the places beside its name, or in a sentence
    with all words of its name and no other amount of such a unit."""
    terms = read_terms(form)
    value = next((term.form for term in terms if term.form[:2] == "n:" and " " in term.form), "")
    words = [term for term in terms if term.sort in ("word", "value") and term.form != value]
    unit = value.partition(" ")[2]
    for sentence in text.sentences if value in text.values else ():
        amounts = [
            term for term in sentence.terms if term.form[:2] == "n:" and term.form.endswith(f" {unit}")
        ]
        is_about = (
            len(amounts) == 1 and len(find_held(words, sentence)) == len(words)
            if words
            else " = " not in form
        )
        for held in (term for term in amounts if term.form == value):
            start = sentence.start + held.start
            if is_about or start in places:
                return FactComparison("quoted", text.text[start : sentence.start + held.end], start)
    return None


def find_slot(form: str) -> str:
    """Return what a number belongs to: its name, or what is counted.

    >>> find_slot("limit = 20"), find_slot("12 files")
    ('limit', 'files')
    """
    name, equals, _ = form.partition(" = ")
    return name.casefold() if equals else re.sub(rf"^(?:{_FIGURE})\+?\W?", "", form).casefold()


def _read_figure(text: str) -> str:
    terms = read_terms(f"= {text.rstrip('.')}")
    return terms[0].form if terms else text
