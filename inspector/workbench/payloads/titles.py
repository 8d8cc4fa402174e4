"""Titles: one line for a call or a file.

Paths are relative to the project. A long path is shortened in its middle, because its folder and
its name are at the two ends.
"""

from __future__ import annotations

import re

from ...redaction.cut import cut_line
from ...session.blocks import ToolCall
from ...session.json_text import stringify
from ...session.toolcalls.canonical_path import canonical_path
from ...text import printable

MOST_PATH = 44
"""Characters of a path in a list, so that the narrowest screen has room for a kind and a size."""
MOST_WORDS = 72
"""Characters of another argument; on narrow screens its last words are not visible."""
_PATHS = ("file_path", "notebook_path", "path", "filePath", "absolute_path", "dir_path")
_COMMANDS = ("command", "cmd")
_WORDS = (*_COMMANDS, "pattern", "query", "url", "prompt", "description")


def title_call(call: ToolCall, cwd: str | None = None) -> str:
    """Format a call by its name and its most telling argument; a search by its pattern rather than its path.

    >>> title_call(ToolCall(id="1", name="Read", input={"file_path": "/srv/app/src/a.py"}), "/srv/app")
    'Read(src/a.py)'
    >>> title_call(ToolCall(id="2", name="shell", input={"command": ["git", "status"]}))
    'shell(git status)'
    >>> title_call(ToolCall(id="3", name="Bash", input={"command": "cd /app && ls /app/src"}), "/app")
    'Bash(ls src)'
    """
    name, value = _find_telling(call)
    if name in _COMMANDS:
        value = _name_within(value, cwd)
    argument = title_path(value, cwd) if name in _PATHS else cut_line(value, MOST_WORDS)
    return printable(f"{call.name}({argument})")


def preview_call(call: ToolCall) -> str:
    """List a call's other arguments, besides its title.

    >>> preview_call(ToolCall(id="1", name="Bash", input={"command": "ls", "description": "Look around"}))
    'description: Look around'
    """
    if not isinstance(call.input, dict):
        return call.text.removeprefix(call.name)
    telling, _ = _find_telling(call)
    rest = ((name, value) for name, value in call.input.items() if name != telling)
    return " · ".join(
        f"{name}: {value if isinstance(value, str) else stringify(value)}" for name, value in rest
    )


def _find_telling(call: ToolCall) -> tuple[str, str]:
    """Return the name and the text of the most specific argument, or two empty strings."""
    arguments = call.input if isinstance(call.input, dict) else {}
    for name in (*_PATHS[:2], *_WORDS, *_PATHS[2:]):
        value = arguments.get(name)
        if isinstance(value, list) and all(isinstance(part, str) for part in value):
            value = " ".join(value)
        if isinstance(value, str) and value.strip():
            return name, value
    return "", ""


def _name_within(words: str, cwd: str | None) -> str:
    """Return a command with paths relative to the project and without a leading `cd` to it."""
    folder = (cwd or "").rstrip("/\\")
    if not folder:
        return words
    whole = rf"(?<![\w./~-]){re.escape(folder)}(?:/|(?![\w.-]))"
    return re.sub(whole, lambda match: "" if match[0].endswith("/") else ".", words).removeprefix("cd . && ")


def title_path(path: str, cwd: str | None = None) -> str:
    """Make a path relative to the project, and cut its middle if it has more than `MOST_PATH` characters.

    >>> title_path("/srv/app/src/a.py", "/srv/app")
    'src/a.py'
    >>> title_path("/home/ann/work/app/apps/cli/src/commands/grade/index.ts", "/srv/app")
    '/home/…/apps/cli/src/commands/grade/index.ts'
    """
    words = " ".join(canonical_path(path, cwd).split())
    if len(words) <= MOST_PATH:
        return words
    lead = "/" if words[0] == "/" else ""
    first, *rest = words.removeprefix("/").split("/")
    head, tail = f"{lead}{first}/…", ""
    while rest and len(head) + len(tail) + len(rest[-1]) + 1 <= MOST_PATH:
        tail = f"/{rest.pop()}{tail}"
    if tail:
        return head + tail
    # A name that is too long by itself keeps both of its ends.
    half = (MOST_PATH - 1) // 2
    return f"{words[:half]}…{words[-half:]}"
