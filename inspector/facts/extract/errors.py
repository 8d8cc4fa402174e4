"""Errors in what tools print: the lines that report one, exit codes, and what a failed call says first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import numpy as np

from ...session.toolcalls.canonical_path import LONGEST
from ...session.toolcalls.positions import find_each
from .code_points import code_points, find_letters
from .typed import Hit, holds_any
from .word_places import Places, WordTable

_ESCAPES = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]")
_TOOK = re.compile(r" \(?\d{1,9}(?:\.\d{1,9})?m?s\)?$")  # how long a test took


def tidy_error(line: str) -> str:
    """The line of an error as a form: no colours, no marks in front, no duration.

    >>> tidy_error("E   AssertionError:  1 != 2")
    'AssertionError: 1 != 2'
    """
    line = " ".join(_ESCAPES.sub("", line).replace("\x1b", "").split())
    line = re.sub(r"^(?:E |[>│|×✖✗✘❌•*-] ?)+", "", line)[:LONGEST].strip()
    return _TOOK.sub("", line)


ERROR_WORDS = (
    "rror", "ERROR ", "xception", "FAIL", "fatal: ", "panic: ", "panicked at", "not found",
    "No such file", "denied", "refused", ".go:", "annot find", "timed out", "CONFLICT (", "merge failed",
    "(fail) ", "Failed to ", "(HTTP ", ": *** ", "curl: (", "ERR!",
)  # fmt: skip
_MARKS = ("× ", "✖ ", "✗ ", "✘ ")
# The prefix of a log line: the part of the program, and the time.
_LEAD = re.compile(r"(?:\[[^\]\n]{1,60}\] ?|\d{4}[-/]\d\d[-/]\d\d[T ]|\d\d:\d\d:\d\d[\d.,Z+:]* ?)+")
_MARK = re.compile(r"^E\s{1,8}")
_ERROR = re.compile(
    r"(?:Uncaught (?:\(in promise\) )?|Unhandled |Caused by: )?"
    r"(?:[A-Za-z_][\w.$]{0,80}\.)?[A-Z]\w{0,60}(?:Error|Exception|Failure)(?:\s?\[\w{1,40}\])?(?::\s*\S|$)"
    r"|(?i:uncaught error|error|fatal|panic|fatal error)(?:\[\w{1,20}\])?(?: TS\d+)?:\s*\S"
    r"|(?i:npm (?:error|err!)) \S"
    r"|Error (?:in|at|on|while|when|during|response|(?!handling|reporting|checking|logging)\w+ing)"
    r" [^:]{1,100}: \S"
    r"|ERROR\s+\S|Failed to \S"
    r"|(?:FAILED|--- FAIL:|FAIL:?)\s+\S|FAIL$|\(fail\) \S|[×✖✗✘] \S"
    r"|(?:[\w./@-]{1,120})\.go:\d+:\d+: \S"
    r"|[\w.-]{1,80}_test\.go:\d+: (?:\w{1,20}: \S|.*\b(?:[Ee]xpected|got|want|[Uu]nexpected|[Ss]hould|must"
    r"|[Ff]ail|[Ee]rror|[Mm]ismatch|[Mm]issing|[Ii]nvalid|not ))"
    r"|CONFLICT \(|Automatic merge failed|thread '[^']{1,60}' (?:\(\d+\) )?panicked at"
    r"|g?make(?:\[\d+\])?: \*\*\* |curl: \(\d+\) \S|Found [1-9]\d{0,5} errors?\b|\d+:\d+\s{1,8}error\s{1,8}\S"
)
_ERROR_INSIDE = re.compile(
    r"[\w)]: (?:fatal )?error(?: \w{1,12})?: \S|: command not found|: No such file or directory"
    r"|[Pp]ermission denied"
    r"|[Cc]onnection refused|Cannot find (?:module|package|name)\b|: not found$|\berror TS\d+: "
    r"|: timed out"
    r"|: (?:syntax|parse|compile|runtime|internal|type) error\b|\(HTTP [45]\d\d\)$"
)
_INSIDE = (": ", "ermission denied", "onnection refused", "Cannot find ", "(HTTP ")
"""A line with none of these has no error inside, which takes less long to see."""
_QUALIFIED = re.compile(r"[a-z_]\w*(?:\.\w+)+(?:Error|Exception): \S")
_NO_ERROR = re.compile(
    r"(?:\d+\s*(?:[\t→|-]|:(?!\d))|[+<]|//|#|\*|(?:raise|except|return|import|from|if|throw|catch|func|def"
    r"|class|case|assert)\b)"
    r"|Error Trace:"
)
_NO_ERRORS = re.compile(r"\b(?:0|no) errors?\b")
_EXIT = re.compile(r"(?i:\bexit(?:ed)?(?: with)?(?: (?:code|status))|\breturn ?code)[ :=]{1,3}(-?\d{1,5})\b")
_TAGS = re.compile(r"</?tool_use_error>|</?error>|</?stderr>")


def find_errors(text: str, places: Places | None = None) -> Iterator[Hit]:
    """Lines of a command's output that report an error; `places` are those of ERROR_WORDS, where known."""
    for start, end in _find_lines(text, _table().find(text) if places is None else places):
        line = text[start:end]
        bare = (_ESCAPES.sub("", line) if "\x1b" in line else line).strip()
        bare = _MARK.sub("", bare) if bare[:1] == "E" else bare
        lead = _LEAD.match(bare)
        logged = bool(lead and _ERROR.match(bare, lead.end()))
        if logged or (not _tells_none(bare) and (_ERROR.match(bare) or _tells_error(bare))):
            yield from _trimmed(line, start)


def _tells_none(line: str) -> bool:
    """Whether a line is code or a list's, or says that there was no error."""
    if _NO_ERROR.match(line) or line[-1:] in (";", "{"):
        return True
    return ("0 error" in line or "no error" in line) and _NO_ERRORS.search(line) is not None


def _tells_error(line: str) -> bool:
    """Whether a line has an error in its middle; a class by its full name takes longest to look for."""
    if not holds_any(line, _INSIDE):
        return False
    named = "Error: " in line or "Exception: " in line
    return _ERROR_INSIDE.search(line) is not None or (named and _QUALIFIED.search(line) is not None)


EXIT_WORDS = ("xit", "eturncode", "eturn code")


def find_exit_codes(text: str, places: Places) -> Iterator[Hit]:
    """Exit codes other than zero, at the places of EXIT_WORDS; those in a line that reports an error are part
    of it."""
    for word in EXIT_WORDS:
        for at in places[word].tolist() if word in places else ():
            match = _EXIT.match(text, max(0, at - 1))
            if match and int(match[1]) and not _within_error(text, match.start()):
                yield match.start(), match.end(), f"exit code {int(match[1])}"


def _within_error(text: str, at: int) -> bool:
    start = text.rfind("\n", max(0, at - LONGEST), at) + 1
    return start > 0 and bool(_ERROR.match(text[start:at].lstrip()))


_PLACE = re.compile(r"^[\w./\\@+~-]*\.\w{1,5}(?:[(:]\d+(?:[,:]\d+)?\)?)?[:\s-]+\s*")
_NAMED = re.compile(r"[A-Za-z_][\w.]*(?:Error|Exception): (?=\S)")  # a class, before what it says
_CLAUSE_END = re.compile(r"(?:[;,.]|\s[-–—(]|:)(?=\s|$|\()|\s\(")
_FEWEST = 14  # characters that a part of an error has at least: less says nothing of its own


def shorten_error(form: str) -> Iterator[str]:
    """Yield short forms of an error: without the place or the class before it, its first clause.

    >>> list(shorten_error("src/a.go:12:3: undefined: makeThing, did you mean madeThing?"))
    ['undefined: makeThing, did you mean madeThing?', 'undefined: makeThing']
    >>> list(shorten_error("exit code 1"))
    []
    """
    place = _PLACE.match(form)
    rest = form[place.end() :] if place else form
    if rest != form and len(rest) >= _FEWEST:
        yield rest
    named = _NAMED.match(rest)
    if named is not None and len(rest) - named.end() >= _FEWEST:
        yield rest[named.end() :]
    for end in _CLAUSE_END.finditer(rest):
        clause = rest[: end.start()]
        if len(clause) >= _FEWEST and " " in clause:
            if clause != rest:
                yield clause
            return


def find_failure(text: str, start: int) -> Iterator[Hit]:
    """Yield the first words of a failed tool's output if no line reports an error by itself.

    A long output is the command's ordinary output before it failed; only a short one describes the failure.
    """
    if _EXIT.search(text) and len(text.split("\n", 6)) > 4:
        return
    for line in re.finditer(r"[^\n]{1,400}", text[: 8 * LONGEST]):
        bare = _TAGS.sub("", line.group())
        if bare.strip() and not _EXIT.search(bare[:60]):
            at = line.group().find(bare.strip()[:20])
            yield from _trimmed(_TAGS.sub("", line.group()[at:]), start + line.start() + max(at, 0))
            return


def _trimmed(line: str, start: int) -> Iterator[Hit]:
    form = tidy_error(line)
    if len(form) > 3:
        lead = len(line) - len(line.lstrip())
        yield start + lead, start + len(line.rstrip()), form


@cache
def _table() -> WordTable:
    return WordTable(ERROR_WORDS)


def _find_lines(text: str, places: Places) -> list[tuple[int, int]]:
    """Return the spans of lines with a word or a mark of an error, cut to 400 characters."""
    breaks = np.append(find_letters(code_points(text), "\n"), len(text))
    words = [(len(word), places[word]) for word in ERROR_WORDS if word in places]
    marks = [(len(mark), np.fromiter(find_each(text, mark), np.int64)) for mark in _MARKS]
    whole: set[int] = set()
    spans: set[tuple[int, int]] = set()
    for size, starts in (*words, *marks):
        line = np.searchsorted(breaks, starts)
        short = breaks[line] - np.where(line > 0, breaks[line - 1] + 1, 0) <= LONGEST // 2
        whole.update(line[short].tolist())
        after = 0
        for at in starts[~short].tolist():
            if at < after:
                continue
            low = max(0, at - LONGEST // 2)
            start = text.rfind("\n", low, at) + 1 or low
            end = text.find("\n", at, start + LONGEST)
            end = min(len(text), start + LONGEST) if end < 0 else end
            spans.add((start, end))
            after = max(end, at + size)
    lines = np.array(sorted(whole), np.int64)
    starts = np.where(lines > 0, breaks[lines - 1] + 1, 0)
    return sorted(spans.union(zip(starts.tolist(), breaks[lines].tolist(), strict=True)))
