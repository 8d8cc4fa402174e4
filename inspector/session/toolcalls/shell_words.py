"""A shell command in words, split like a shell would and never run: simple commands and their redirections.

Everything is one walk from left to right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

READ, CREATED, EDITED, DELETED, LISTED, RAN = "read", "created", "edited", "deleted", "listed", "ran"


class Word(NamedTuple):
    """A word of a command with its quotes taken off. `fixed`: no shell is needed to know its value."""

    start: int
    end: int
    text: str
    fixed: bool


SimpleCommand = tuple[list[Word], list[tuple[Word, str]]]
"""The words of a command, and the files it is redirected from and to."""

_LITERAL = re.compile(r"[^\s'\"\\;&|<>()`$*?\[\]{}#~]+")
_DRIVE = re.compile(r"[A-Za-z]:")
_WINDOWS = re.compile(r"[\w.\\@+-]+")
_HEREDOC = re.compile(r"<<-?\s*(['\"]?)([A-Za-z_]\w*)\1")
_STOPS = ("&&", "||", ";;", ";", "|", "&", "\n", "(", ")")


@lru_cache(4)
def split_command(command: str) -> tuple[SimpleCommand, ...]:
    """The simple commands of a command. They are kept for a moment, to be read and not changed: its files,
    its core and what its output is made of are asked for one right after the other."""
    return tuple(_walk(command))


def _walk(command: str) -> Iterator[SimpleCommand]:
    words: list[Word] = []
    redirected: list[tuple[Word, str]] = []
    into: str | None = None
    heredocs: list[str] = []
    at, size = 0, len(command)
    while at < size:
        char = command[at]
        if char in " \t":
            at += 1
        elif char == "\n" and heredocs:
            at = _skip_heredocs(command, at, heredocs)
            heredocs = []
        elif command.startswith("\\\n", at):
            at += 2
        elif char == "#" and (at == 0 or command[at - 1] in " \t\n;"):
            end = command.find("\n", at)
            at = size if end < 0 else end
        elif stop := next((stop for stop in _STOPS if command.startswith(stop, at)), None):
            if stop == "&" and command[at + 1 : at + 2] == ">":
                into, at = CREATED, at + 2
                continue
            if words or redirected:
                yield words, redirected
            words, redirected, into = [], [], None
            at += len(stop)
        elif char == "<":
            heredoc = _HEREDOC.match(command, at)
            if heredoc:
                heredocs.append(heredoc[2])
                at = heredoc.end()
            else:
                step = len(command[at : at + 3]) - len(command[at : at + 3].lstrip("<"))
                into, at = (READ if step == 1 else "text"), at + step
        elif char == ">" or (
            char.isdigit() and command[at + 1 : at + 2] == ">" and (at == 0 or command[at - 1] in " \t")
        ):
            at += char != ">"
            double = command.startswith(">>", at)
            at += 2 if double else 1
            if command[at : at + 1] == "&":
                into, at = None, at + 2
            else:
                into = EDITED if double else CREATED
        else:
            word, after = _read_word(command, at)
            at = max(after, at + 1)
            if into is None:
                words.append(word)
            elif into != "text":
                redirected.append((word, into))
            into = None if into else into
    if words or redirected:
        yield words, redirected


def _skip_heredocs(command: str, at: int, names: list[str]) -> int:
    """The end of the last line of the bodies that start after the newline at `at`."""
    for name in names:
        end = re.compile(rf"\n\t*{name}(?=\n|$|\))").search(command, at)
        if end is None:
            return len(command)
        at = end.end()
    return at


def _read_word(command: str, at: int) -> tuple[Word, int]:
    """Return the word that starts here, and its end. The word's own span excludes quotes around it."""
    start, size = at, len(command)
    pieces: list[str] = []
    fixed = True
    quotes = 0
    while at < size:
        char = command[at]
        plain = _LITERAL.match(command, at)
        if plain:
            pieces.append(plain.group())
            at = plain.end()
        elif char == "'" or char == '"':
            end = _close(command, at)
            inner = command[at + 1 : end]
            if char == '"' and ("$" in inner or "`" in inner):
                fixed = False
            pieces.append(re.sub(r'\\(["\\$`])', r"\1", inner) if char == '"' else inner)
            quotes += 1
            at = end + 1
        elif char == "\\" and _DRIVE.fullmatch(command, start, at):
            pieces.append(command[at])  # a path as Windows writes it
            at += 1
            drive = _WINDOWS.match(command, at)
            if drive:
                pieces.append(drive.group())
                at = drive.end()
        elif char == "\\":
            pieces.append(command[at + 1 : at + 2])
            at += 2
        elif char in "$`":
            fixed = False
            at = _skip_substitution(command, at)
        elif char in "*?[]{}":
            fixed = False
            at += 1
        elif char in "~#":
            pieces.append(char)
            at += 1
        else:
            break
    at = min(at, size)
    if quotes == 1 and command[start] in "'\"" and at - start >= 2 and command[at - 1] == command[start]:
        return Word(start + 1, at - 1, "".join(pieces), fixed), at
    return Word(start, at, "".join(pieces), fixed), at


def _close(command: str, at: int) -> int:
    """Return the offset of the quote that closes the quote at `at`, or else the end of the command."""
    if command[at] == "'":
        end = command.find("'", at + 1)
        return len(command) if end < 0 else end
    match = re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*', re.DOTALL).match(command, at + 1)
    return match.end() if match else len(command)


def _skip_substitution(command: str, at: int) -> int:
    """Past `$NAME`, `${…}`, `$(…)` or a pair of backquotes."""
    if command[at] == "`":
        end = command.find("`", at + 1)
        return len(command) if end < 0 else end + 1
    opened = command[at + 1 : at + 2]
    if opened not in ("(", "{"):
        return at + 1
    closing = ")" if opened == "(" else "}"
    depth, here = 0, at + 1
    for match in re.compile(rf"[\{opened}\{closing}]").finditer(command, at + 1):
        depth += 1 if match.group() == opened else -1
        here = match.end()
        if depth == 0:
            return here
    return len(command)
