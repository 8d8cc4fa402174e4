"""Instruction files that apply to a folder of a project: AGENTS.md, CLAUDE.md, GEMINI.md.

Their rules apply to work below that folder while the context contains them. Excluded are the files in the
working directory and above it, which harnesses send with every request, and files of tests, templates and
dependencies, which are read like any file. If the working directory is unknown, no rules are found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import zip_longest

from ...session.toolcalls.arguments import Named
from ...session.toolcalls.call_paths import names

_NAME = r"(?:CLAUDE|AGENTS|GEMINI)\.md"
_BELOW = re.compile(rf"(?P<folder>[^/~.][^/]*(?:/[^/]+)*)/{_NAME}$")
_ATTACHED = re.compile(rf"(?m)^Contents of (?P<path>[^\n:]{{1,400}}?{_NAME})(?: \([^\n]{{0,200}}\))?:[ \t]*$")
# The heads under which harnesses send such files: Claude Code's, and Codex's.
_HEADED = re.compile(
    rf"(?m)^Contents of (?P<path>[^\n:]{{1,400}}?{_NAME})(?: \([^\n]{{0,200}}\))?:[ \t]*$"
    rf"|\A# (?P<name>{_NAME}) instructions(?: for [^\n]{{1,400}})?$"
)
_CLOSED = re.compile(r"</(?:INSTRUCTIONS|system-reminder)>")
_NO_FOLDERS = names(
    "test tests testdata fixtures templates template examples example node_modules vendor third_party"
)
_NUMBERED = re.compile(r"(?m)^[ \t]*\d{1,6}(?:→|\t|: ?)")


def reads_instructions(named: Iterable[Named]) -> bool:
    """Whether a call reads a single file, which is an instruction file below the working directory.

    >>> reads_instructions([Named("file", "packages/api/AGENTS.md", 0, 1, "read")])
    True
    >>> reads_instructions([Named("file", "AGENTS.md", 0, 1, "read")])
    False
    """
    files = {(form, operation) for kind, form, _, _, operation in named if kind == "file"}
    return len(files) == 1 and all(done == "read" and is_below(form) for form, done in files)


def is_below(path: str) -> bool:
    """Whether a path, relative to the working directory, is an instruction file of a folder below it."""
    match = _BELOW.match(path.replace("\\", "/"))
    return match is not None and not _NO_FOLDERS & set(match["folder"].lower().split("/"))


def find_attached(text: str, cwd: str | None) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each attached instruction file of a folder below the working directory.

    >>> text = "Contents of /app/api/CLAUDE.md:\\n\\nNever log a token."
    >>> [text[start:end].strip() for start, end in find_attached(text, "/app")]
    ['Never log a token.']
    >>> list(find_attached(text, "/app/api"))
    []
    """
    if cwd is None or "Contents of " not in text:
        return
    heads = list(_ATTACHED.finditer(text))
    folder = cwd.rstrip("/") + "/"
    for head, following in zip_longest(heads, heads[1:]):
        path = head["path"]
        if path.startswith(folder) and is_below(path[len(folder) :]):
            yield head.end(), len(text) if following is None else following.start()


def find_instruction_file(text: str, at: int) -> str | None:
    """Return the instruction file, in force in a folder or everywhere, whose words are at a place of a
    harness text; None if the words are the harness's own.

    >>> find_instruction_file("# AGENTS.md instructions for /app\\n\\n<INSTRUCTIONS>\\nNever push.", 60)
    'AGENTS.md'
    >>> find_instruction_file("Contents of /app/CLAUDE.md (project):\\n\\nNever push.", 42)
    '/app/CLAUDE.md'
    """
    heads = [head for head in _HEADED.finditer(text, 0, max(at, 0)) if head.end() <= at]
    if not heads or _CLOSED.search(text, heads[-1].end(), at):
        return None
    return heads[-1]["path"] or heads[-1]["name"]


def blank_numbers(text: str) -> str:
    """The text with blanks for the numbers that a tool puts before lines, so that places stay.

    >>> blank_numbers("    1→# API\\n    2→Never log.")
    '      # API\\n      Never log.'
    """
    return _NUMBERED.sub(lambda match: " " * len(match[0]), text)
