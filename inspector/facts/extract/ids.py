"""Addresses and ids in text: URLs, commit ids, checksums, UUIDs, issue numbers and tickets.

Each finder walks one text and gives (start, end, form).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ...session.toolcalls.canonical_path import LONGEST, names
from .code_points import WORD, Codes, code_points, find_letters
from .typed import Hit

# An address ends at the end of a Markdown link's words ("](") and at Chinese punctuation.
_URL = re.compile(
    r"://(?:[^\s\"'<>`\\|{}^\]\x00-\x1f\u2026\u3001\u3002\u300a-\u3011\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f]"
    r"|\](?!\()){3,2000}"
)
_SCHEMES = re.compile(r"(?:https?|ftp|sftp|ssh|wss?|git|postgres(?:ql)?|redis|mysql|mongodb|s3|gs)$")

_TEMPLATE = re.compile(r"(?:\{[+#./;?&]?[\w,*]{1,60}\})+")  # RFC 6570: https://host/users{/name}
_LINE = re.compile(r"(\.(?:[cm]?[jt]sx?|html?|css|py|vue|svelte))(?::\d+){1,2}\)?$")  # a place in a script
_GIT = re.compile(r"git@[\w.-]{3,80}:[\w./~-]{2,200}")


def find_urls(text: str) -> Iterator[Hit]:
    """Addresses with a scheme, and Git's own form (`git@host:owner/name`), without the punctuation of the
    surrounding sentence and without the line numbers of a stack trace."""
    codes = code_points(text)
    for git in _GIT.finditer(text) if len(find_letters(codes, "git@")) else ():
        form = git.group().rstrip(".")
        if text[git.start() - 1 : git.start()] not in ("/", "."):
            yield git.start(), git.start() + len(form), form
    until = 0
    for at in find_letters(codes, "://").tolist():
        if at < until or (match := _URL.match(text, at)) is None:
            continue
        until = match.end()
        scheme = _SCHEMES.search(text[max(0, at - 12) : at])
        if scheme is None:
            continue
        url = match.group()
        template = _TEMPLATE.match(text, match.end())
        url += template.group() if template else ""
        url = _LINE.sub(r"\1", url)
        while url and url[-1] in ".,;:!?()[]*":
            if url[-1] in ")]" and url.count("(" if url[-1] == ")" else "[") >= url.count(url[-1]):
                break
            url = url[:-1]
        start = match.start() - len(scheme.group())
        if len(url) > 5 and len(url) + 12 <= LONGEST:
            yield start, match.start() + len(url), scheme.group() + url


_BLOB = re.compile(r"(?:\bindex (?:[0-9a-f]{7,40}\.\.)?|sha256:|agentId: )$")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![\w-])")


def find_hashes(text: str, uuids: bool = True) -> Iterator[Hit]:
    """Commit ids: 7 to 40 hex digits with letters among them; with `uuids`, UUIDs too. Neither the blobs of
    a diff's index line nor what a log gives a UUID as `session_id=`."""
    codes = code_points(text)
    starts, ends = _find_hex(codes)
    if not len(starts):
        return
    size, digits = ends - starts, _count((codes >= 0x30) & (codes <= 0x39), starts, ends)
    hashes = (digits > 0) & ((digits < size) & ((size <= 12) | (size == 40)) | (size == 8))
    until = 0
    for start, end in zip(starts[hashes].tolist(), ends[hashes].tolist(), strict=True):
        if start < until:
            continue
        uuid = _UUID.match(text, start) if end - start == 8 and text[end : end + 1] == "-" else None
        if uuid:
            until = uuid.end()
            if uuids and text[start - 1 : start] not in ("=", '"'):
                yield start, until, uuid.group()
        elif _BLOB.search(text, max(0, start - 48), start):
            continue
        elif not text[start:end].isdigit() and text[start - 1 : start] not in ("#", ".", "\\", "&"):
            if re.search(r"[0-9a-f]{4}-$", text[max(0, start - 5) : start]):
                continue  # the tail of a UUID of another layout
            yield start, end, text[start:end]


def _find_hex(codes: Codes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the starts and ends of words of 7 to 40 hex digits."""
    inside = (codes - codes.dtype.type(ord("0")) < 10) | (codes - codes.dtype.type(ord("a")) < 6)
    two = inside[1:] & inside[:-1]
    four = two[2:] & two[:-2]
    seven = four[3:] & four[:-3]  # seven hex digits from here on: few places, where edges of words are many
    edges = np.flatnonzero(np.diff(seven, prepend=False, append=False))
    starts, ends = edges[::2], edges[1::2] + 6
    alone = ends - starts <= 40
    alone &= (starts == 0) | ~WORD[codes[starts - 1]]
    alone &= (ends == len(codes)) | ~WORD[codes[ends - len(codes)]]
    return starts[alone], ends[alone]


def _count(mask: NDArray[np.bool_], starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    sums = np.zeros(len(mask) + 1, np.int64)
    np.cumsum(mask, out=sums[1:])
    out: NDArray[np.int64] = sums[ends] - sums[starts]
    return out


_ISSUE = re.compile(r"#\d{1,6}(?![\w%]|[.-]\w)")
_TICKET = re.compile(r"-\d{1,6}(?!\w|[.-]\w)")
_PREFIX = re.compile(r"(?<![\w/.-])[A-Z][A-Z0-9]{1,9}$")
_COUNTED = re.compile(r"(?i)\b(?:task|step|option|item|point|test|phase|part|question|case|rule|bug) $")
_NO_PROJECT = names(
    "UTF SHA ISO GPT ES RFC HTTP BASE MD AES RSA TLS SSL ANSI CP LATIN UCS PEP TOP STEP PHASE PART ID F1 "
    "A1 EOF HEAD MAX MIN VT UTC GMT COVID"
)


def find_issues(text: str) -> Iterator[Hit]:
    """Issue numbers (`#123`, `owner/repo#123`) and tickets of a tracker (`ENT-109`)."""
    for match in _ISSUE.finditer(text):
        start = match.start()
        if (
            start == 0
            or not (text[start - 1].isalnum() or text[start - 1] in "&_/#")
            or text[start - 2 : start] == "\\n"
        ):
            if not _COUNTED.search(text, max(0, start - 12), start):
                yield start, match.end(), match.group()
        elif repository := re.search(
            r"(?<![\w./-])[\w.-]{1,40}/[\w.-]{1,60}$", text[max(0, start - 102) : start]
        ):
            yield start - len(repository.group()), match.end(), repository.group() + match.group()
    for match in _TICKET.finditer(text):
        project = _PREFIX.search(text, max(0, match.start() - 11), match.start())
        if project and project.group() not in _NO_PROJECT:
            yield project.start(), match.end(), project.group() + match.group()
