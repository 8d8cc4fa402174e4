"""Facts in running text: addresses, ids, errors, symbols, numbers, rules, decisions and open tasks.

Each finder walks one text and gives (start, end, form). None backtracks without bound: a cheap literal is
looked for first, and what stands around it is read at most 400 characters far. An automaton over all
literals at once (Aho-Corasick) was not taken: the literals are few, each `str.find` runs at memory
speed, and most of the time goes into the hits, not into the search.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from .factpaths import LONGEST, code_points, names

Hit = tuple[int, int, str]
_ESCAPES = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]")

_URL = re.compile(r"://[^\s\"'<>`\\|{}^\x00-\x1f]{3,2000}")
_SCHEMES = re.compile(r"(?:https?|ftp|sftp|ssh|wss?|git|postgres(?:ql)?|redis|mysql|mongodb|s3|gs)$")


def find_urls(text: str) -> Iterator[Hit]:
    """Addresses with a scheme, without the punctuation of the sentence they stand in."""
    for match in _URL.finditer(text):
        scheme = _SCHEMES.search(text[max(0, match.start() - 12) : match.start()])
        if scheme is None:
            continue
        url = match.group()
        while url and url[-1] in ".,;:!?)]*":
            if url[-1] in ")]" and url.count("(" if url[-1] == ")" else "[") >= url.count(url[-1]):
                break
            url = url[:-1]
        start = match.start() - len(scheme.group())
        if len(url) > 5 and len(url) + 12 <= LONGEST:
            yield start, match.start() + len(url), scheme.group() + url


_HEX = np.zeros(0x10000, np.uint8)  # 0 no word · 1 hex letter · 2 digit · 3 another word character
for _code in range(0x80, 0x10000):
    _HEX[_code] = 3 * chr(_code).isalnum()
for _char in "_ghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ":
    _HEX[ord(_char)] = 3
for _char in "abcdef":
    _HEX[ord(_char)] = 1
for _char in "0123456789":
    _HEX[ord(_char)] = 2
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![\w-])")


def find_hashes(text: str) -> Iterator[Hit]:
    """Commit ids (7 to 40 hex digits with letters among them), SHA-256 sums and UUIDs."""
    sorts = _HEX[code_points(text)]
    edges = np.flatnonzero(np.diff(sorts != 0, prepend=False, append=False))
    starts, ends = edges[::2], edges[1::2]
    long = (ends - starts >= 7) & (ends - starts <= 64)
    starts, ends = starts[long], ends[long]
    if not len(starts):
        return
    strange, letters, digits = (_count(sorts == sort, starts, ends) for sort in (3, 1, 2))
    size = ends - starts
    hashes = (
        (strange == 0)
        & (digits > 0)
        & ((letters > 0) & ((size <= 12) | (size == 40) | (size == 64)) | (size == 8))
    )
    until = 0
    for start, end in zip(starts[hashes].tolist(), ends[hashes].tolist(), strict=True):
        if start < until:
            continue
        uuid = _UUID.match(text, start) if end - start == 8 and text[end : end + 1] == "-" else None
        if uuid:
            until = uuid.end()
            yield start, until, uuid.group()
        elif not text[start:end].isdigit() and text[start - 1 : start] not in ("#", ".", "\\", "&"):
            if re.search(r"[0-9a-f]{4}-$", text[max(0, start - 5) : start]):
                continue  # the tail of a UUID of another layout
            yield start, end, text[start:end]


def _count(mask: NDArray[np.bool_], starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    sums = np.zeros(len(mask) + 1, np.int64)
    np.cumsum(mask, out=sums[1:])
    out: NDArray[np.int64] = sums[ends] - sums[starts]
    return out


_ISSUE = re.compile(r"#\d{1,6}(?![\w%]|[.-]\w)")
_TICKET = re.compile(r"-\d{1,6}(?!\w|[.-]\w)")
_PREFIX = re.compile(r"(?<![\w/.-])[A-Z][A-Z0-9]{1,9}$")
_NO_PROJECT = names(
    "UTF SHA ISO GPT ES RFC HTTP BASE MD AES RSA TLS SSL ANSI CP LATIN UCS PEP TOP STEP PHASE PART ID F1 "
    "A1 EOF HEAD MAX MIN VT UTC GMT COVID"
)


def find_issues(text: str) -> Iterator[Hit]:
    """Issue numbers (`#123`, `owner/repo#123`) and tickets of a tracker (`ENT-109`)."""
    for match in _ISSUE.finditer(text):
        start = match.start()
        if start == 0 or not (text[start - 1].isalnum() or text[start - 1] in "&_/#"):
            yield start, match.end(), match.group()
        elif repository := re.search(
            r"(?<![\w./-])[\w.-]{1,40}/[\w.-]{1,60}$", text[max(0, start - 102) : start]
        ):
            yield start - len(repository.group()), match.end(), repository.group() + match.group()
    for match in _TICKET.finditer(text):
        project = _PREFIX.search(text, max(0, match.start() - 11), match.start())
        if project and project.group() not in _NO_PROJECT:
            yield project.start(), match.end(), project.group() + match.group()


_TOOK = re.compile(r" \(?\d{1,9}(?:\.\d{1,9})?m?s\)?$")  # how long a test took


def tidy_error(line: str) -> str:
    """The line of an error as a form: no colours, no marks in front, no duration.

    >>> tidy_error("E   AssertionError:  1 != 2")
    'AssertionError: 1 != 2'
    """
    line = " ".join(_ESCAPES.sub("", line).replace("\x1b", "").split())
    line = re.sub(r"^(?:E |[>│|✗✘❌•*-] ?)+", "", line)[:LONGEST].strip()
    return _TOOK.sub("", line)


_ERROR_WORDS = (
    "rror", "xception", "FAIL", "fatal: ", "panic: ", "not found", "No such file", "denied", "refused",
    ".go:", "annot find", "timed out",
)  # fmt: skip
_ERROR = re.compile(
    r"(?:[A-Za-z_][\w.$]{0,80}\.)?[A-Z]\w{0,60}(?:Error|Exception|Failure)(?:\s?\[\w{1,40}\])?(?::\s*\S|$)"
    r"|(?i:error|fatal|panic|npm err!|fatal error)(?:\[\w{1,20}\])?:? ?(?:TS\d+)?[: ] *\S"
    r"|(?:FAILED|--- FAIL:|FAIL:?)\s+\S|ERROR\s+\S"
    r"|(?:[\w./@-]{1,120})\.go:\d+:\d+: \S"
)
_ERROR_INSIDE = re.compile(
    r"[\w)]: (?:fatal )?error(?: \w{1,12})?: \S|: command not found|: No such file or directory"
    r"|[Pp]ermission denied"
    r"|[Cc]onnection refused|Cannot find (?:module|package|name)\b|: not found$|\berror TS\d+: "
    r"|[a-z_]\w*(?:\.\w+)+(?:Error|Exception): \S|: timed out"
)
_NO_ERROR = re.compile(
    r"^(?:\d+\s*[:\t→|-]|[+<]|//|#|\*|(?:raise|except|return|import|from|if|throw|catch|func|def|class"
    r"|case|assert)\b)"
    r"|^Error Trace:|\b0 errors?\b|\bno errors?\b|[;{]$"
)
_EXIT = re.compile(r"(?i:\bexit(?:ed)?(?: with)?(?: (?:code|status))|\breturn ?code)[ :=]{1,3}(-?\d{1,5})\b")
_TAGS = re.compile(r"</?tool_use_error>|</?error>|</?stderr>")


def find_errors(text: str) -> Iterator[Hit]:
    """Lines of a command's output that report an error."""
    for start, end in _lines_with(text, _ERROR_WORDS):
        line = text[start:end]
        bare = _ESCAPES.sub("", line).strip()
        bare = re.sub(r"^E\s{1,8}", "", bare)
        if not (_ERROR.match(bare) or _ERROR_INSIDE.search(bare)) or _NO_ERROR.search(bare):
            continue
        yield from _trimmed(line, start)


def find_exit_codes(text: str) -> Iterator[Hit]:
    """Exit codes other than zero."""
    for word in ("xit", "eturncode", "eturn code"):
        for at in _positions(text, word):
            match = _EXIT.match(text, max(0, at - 1))
            if match and int(match[1]):
                yield match.start(), match.end(), f"exit code {int(match[1])}"


def find_failure(text: str, start: int) -> Iterator[Hit]:
    """The first words of a failed tool's output, where no line reports an error by itself."""
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


def _positions(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + len(word))


def _lines_with(text: str, words: Iterable[str]) -> list[tuple[int, int]]:
    """Where the lines stand that hold any of the words, cut to 400 characters."""
    found: set[tuple[int, int]] = set()
    for word in words:
        at = text.find(word)
        while at >= 0:
            low = max(0, at - LONGEST // 2)
            start = text.rfind("\n", low, at) + 1 or low
            end = text.find("\n", at, start + LONGEST)
            end = min(len(text), start + LONGEST) if end < 0 else end
            found.add((start, end))
            at = text.find(word, max(end, at + len(word)))
    return sorted(found)


_SYMBOLS = tuple(
    re.compile(pattern)
    for pattern in (
        r"def ([A-Za-z_]\w{1,99})(?=\()",
        r"class ([A-Z_]\w{1,99})(?= ?[:({<]| extends| implements|$)",
        r"func ([A-Za-z_]\w{1,99})(?=[(\[])",
        r"func \([^()\n]{1,80}\) ([A-Za-z_]\w{1,99})(?=\()",
        r"function ([A-Za-z_$][\w$]{1,99})(?= ?[(<])",
        r"fn ([A-Za-z_]\w{1,99})(?=[(<])",
        r"interface ([A-Z]\w{1,99})(?= ?[{<]| extends)",
        r"struct ([A-Z]\w{1,99})(?= ?[{<(;])",
        r"enum ([A-Z]\w{1,99})(?= ?[{:])",
        r"trait ([A-Z]\w{1,99})(?= ?[{<:])",
        r"type ([A-Za-z]\w{1,99})(?= (?:struct|interface|func|=)\b| =|\[)",
        r"const ([A-Za-z_$][\w$]{1,99})(?= = (?:async )?(?:function|\())",
        r"--- FAIL: (Test\w{1,120})",
        r"=== RUN   (Test\w{1,120})",
        r"::(test_\w{1,120})",
    )
)
_TICKED = re.compile(r"`([A-Za-z_]\w{1,80}(?:(?:\.|::)\w{1,60}){0,4}+)(\(\))?`")
_CASED = re.compile(r"_|[a-z][A-Z]|^[A-Z][a-z]+[A-Z]")


def find_symbols(text: str) -> Iterator[Hit]:
    """Names that code defines, and tests that a runner reports."""
    for pattern in _SYMBOLS:
        for match in pattern.finditer(text):
            start = match.start()
            if start == 0 or not (text[start - 1].isalnum() or text[start - 1] in "_$"):
                yield match.start(1), match.end(1), match[1]


def find_ticked_symbols(text: str) -> Iterator[Hit]:
    """Names in backquotes that look like code: called, or in snake or camel case."""
    for match in _TICKED.finditer(text):
        if match[2] or (_CASED.search(match[1]) and not re.search(r"\.[a-z]{1,5}$", match[1])):
            yield match.start(1), match.end(1), match[1]


_VALUE = re.compile(
    r"(?:: |=|= )(-?\d[\d_,]*(?:\.\d+)?)( ?(?:%|ms|s|[kKMG]i?B|tokens|x)(?!\w))?(?!\w|[./:-]\w)"
)
_LABEL = re.compile(r"(?<![\w.])([A-Za-z_][\w.-]{0,60}(?: [A-Za-z][\w-]{1,30})?)[\"'`*]{0,3} ?$")
_COUNTED = re.compile(
    r"(?<![\w.,-])\d{1,9}+ (?:passed|failed|skipped|errors?|warnings?|tests?|tokens|files?|insertions"
    r"|deletions)\b"
)


def find_numbers(text: str) -> Iterator[Hit]:
    """Numbers that have a name: `timeout = 30`, `coverage: 87 %`, `12 passed`."""
    for match in _VALUE.finditer(text):
        label = _LABEL.search(text[max(0, match.start() - 60) : match.start()])
        if label:
            value = (match[1] + (match[2] or "")).strip(", ")
            yield match.start() - len(label.group()), match.start(1) + len(value), f"{label[1]} = {value}"
    for match in _COUNTED.finditer(text):
        yield match.start(), match.end(), match.group()


_RULE = re.compile(
    r"(?i)\b(?:never|always|must(?: not|n't)?|do not|don't|don’t|should not|shouldn't|make sure|be sure to|"
    r"only use|avoid|no need to|without (?:changing|touching|breaking|using|adding))\b"
)
_DECISION = re.compile(
    r"(?i)\b(?:we|i|let's|let’s)(?:'ll|'ve|’ll|’ve| will| have| are| am)? ?(?:chose|choose|decided"
    r"|picked|opted|settled"
    r"|going with|go with|went with)\b|\bdecided (?:to|on|against|not)\b|\bdecision: |\bgoing with\b"
    r"|\blet's (?:use|keep|skip|drop|stick with)\b|\bi'll (?:use|keep) \S{1,60} instead\b"
)
_STOP = re.compile(r"[.!?](?=[\s\"')]|$)|\n")


def find_rules(text: str) -> Iterator[Hit]:
    """Sentences that tell what must, must not, or must always be done."""
    return (hit for hit in _sentences(text, _RULE) if hit[2][-1] != "?")


def find_decisions(text: str) -> Iterator[Hit]:
    """Sentences that say what was chosen."""
    return _sentences(text, _DECISION)


def _sentences(text: str, pattern: re.Pattern[str]) -> Iterator[Hit]:
    until = -1
    for match in pattern.finditer(text):
        if match.start() < until:
            continue
        low = max(0, match.start() - LONGEST // 2, until)
        start = low
        for stop in _STOP.finditer(text, low, match.start()):
            start = stop.end()
        stop_after = _STOP.search(text, match.end(), start + LONGEST)
        until = stop_after.end() if stop_after else min(len(text), start + LONGEST)
        sentence = text[start:until]
        lead = len(sentence) - len(sentence.lstrip(" \t\r\n-*>•#0123456789."))
        form = " ".join(sentence[lead:].split())
        if len(form) > 8:
            yield start + lead, start + len(sentence.rstrip()), form


_TODO = re.compile(r"(?:- \[ \]|\bTODO(?:\([\w@.-]{1,40}\))?:)[ \t]+(\S[^\n]{2,400})")


def find_todos(text: str) -> Iterator[Hit]:
    """Tasks still open: `- [ ] …` and `TODO: …`."""
    if "- [ ]" in text or "TODO" in text:
        for match in _TODO.finditer(text):
            task = match[1]
            for end in ('",', '"}'):  # in a call's text its string ends there
                task = task.partition(end)[0]
            task = task.rstrip()
            if len(task) > 2:
                yield match.start(1), match.start(1) + len(task), " ".join(task.split())


_PROGRAMS = names(
    "npm npx yarn pnpm bun node deno python python3 pip uv pytest ruff mypy tox make cmake cargo go git "
    "gh docker "
    "kubectl curl wget cd ls cat grep rg sed rm mv cp mkdir mise just poetry brew apt apt-get ssh "
    "terraform ./gradlew "
    "gradle mvn java bundle rake tsc eslint prettier vitest jest helm aws gcloud sudo bash sh"
)
_INLINE = re.compile(r"`([^`\n]{1,300})`")
_FENCED = re.compile(r"```(?:bash|sh|shell|console|zsh)[ \t]*\n")


def find_commands(text: str) -> Iterator[Hit]:
    """Commands that words quote: in backquotes, in a fenced block of shell, after a `$ ` prompt."""
    fences = []
    for fence in _FENCED.finditer(text):
        close = text.find("```", fence.end())
        fences.append((fence.end(), len(text) if close < 0 else close))
    until = 0
    for start, end in fences:
        if start < until:
            continue
        until = end
        for line in re.finditer(r"[^\n]{3,400}", text[start:end]):
            yield from _command(line.group().rstrip("\\"), start + line.start())
    for match in _INLINE.finditer(text) if "`" in text else ():
        if " " in match[1]:
            yield from _command(match[1], match.start(1))


def _command(line: str, start: int) -> Iterator[Hit]:
    lead = len(line) - len(line.lstrip(" \t"))
    lead += 2 * line.startswith("$ ", lead)
    form = " ".join(line[lead:].split())
    if form.split(" ", 1)[0] in _PROGRAMS:
        yield start + lead, start + len(line.rstrip()), form
