"""Tool calls as facts: which files, commands, todos and addresses their arguments name.

Tools differ in how they call their arguments, so those are looked up in tables too.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..blocks import ToolCall
from ..json_text import stringify
from .call_paths import LONGEST, canonical_path, names
from .core_command import core_command
from .path_syntax import SUFFIX
from .positions import fold, locate, place
from .shell import read_command
from .tool_names import FROM, PATH_KEYS, TO, bare_name, is_shell, operation_of

_COMMAND_KEYS = names("command cmd commands script CommandLine command_line")
_TODO_KEYS = names("todos plan items tasks todoList todo_list task_list todoItems")
_TODO_TEXTS = ("content", "step", "subject", "title", "text", "description", "task")
_PATCH_KEYS = names("input patch patch_text patchText patchContent")
# Arguments that list or wrap what other tools are given one by one: an edit's files, a server's own tool.
_NESTED = names("operations replacements edits changes requests reads arguments args parameters tool_input")
_MOST = 1000  # things one call may list; each is looked up in its text
DONE = frozenset({"completed", "complete", "done", "resolved", "cancelled", "canceled", "deleted"})
_PATCH = re.compile(r"^\*\*\* (Add File|Update File|Delete File|Move to): (.{1,400})$", re.MULTILINE)
_PATCHED = {"Add File": "created", "Update File": "edited", "Delete File": "deleted", "Move to": "created"}
BOX = re.compile(r"^[ \t]*(?:[-*+] |\d+\. )?\[([ x~/-])\] (\S.{0,600})$", re.MULTILINE | re.IGNORECASE)


class Named(NamedTuple):
    """A fact in a call's arguments: its kind and form, its place in the call's text, and the operation."""

    kind: str
    form: str
    start: int
    end: int
    operation: str | None


def read_call(call: ToolCall, text: str, cwd: str | None) -> list[Named]:
    """Every fact the call's arguments name. `text` is `call.text`: places are places in it."""
    given = call.input
    if isinstance(given, str):
        return _patched(given, text, cwd)
    return _read(call.name, given, text, cwd) if isinstance(given, dict) else []


def _read(name: str, given: dict[str, Any], text: str, cwd: str | None, deep: bool = True) -> list[Named]:
    found: list[Named] = []
    base = next((given[key] for key in ("workdir", "cwd", "Cwd") if isinstance(given.get(key), str)), None)
    base = canonical_path(base, None, cwd) if base else cwd
    shell = is_shell(name)
    operation = operation_of(name, given)
    for key, value in given.items():
        if key in _COMMAND_KEYS and (shell or operation is None):
            for command in _commands(key, value):
                found += _commanded(command, text, cwd, base)
        elif key in PATH_KEYS:
            done = "deleted" if key in FROM else "created" if key in TO else operation
            for path in _paths(value):
                if done == "listed" and SUFFIX.search(path):
                    done = "read"  # to search one file is to read in it
                if _may_be_path(path, done):
                    found += _one("file", canonical_path(path, cwd, base), path, text, key, done)
        elif key == "url" and isinstance(value, str):
            found += _one("url", value, value, text, key, None)
        elif key in _TODO_KEYS:
            if isinstance(value, str):
                found += _boxes(value, text, key)
            elif "todo" in key.lower() or re.search("(?i)todo|task|plan", name):
                found += _todos(value, text)
        elif key in _PATCH_KEYS and isinstance(value, str):
            found += _patched(value, text, cwd)
        elif key in _NESTED and deep:
            inner = next(
                (given[key] for key in ("tool_name", "tool") if isinstance(given.get(key), str)), name
            )
            for item in (value if isinstance(value, list) else [value])[:_MOST]:
                found += _read(inner, item, text, cwd, False) if isinstance(item, dict) else []
    if bare_name(name) in ("taskcreate", "taskupdate"):
        found += _todos([given], text)
    return found


def _commands(key: str, value: Any) -> Iterator[str | list[str]]:
    """The commands of an argument: a string, the words of one command, or several commands."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        if value[0].rsplit("/", 1)[-1] in ("bash", "sh", "zsh") and len(value) > 2 and "c" in value[1][:4]:
            yield value[2]
        elif key == "commands":
            yield from value[:_MOST]
        else:
            yield value
    elif isinstance(value, list):
        for item in value[:_MOST]:
            if isinstance(item, dict) and isinstance(item.get("command"), str):
                yield item["command"]


def _paths(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value[:_MOST]:
            inner = (
                next((item[key] for key in ("path", "file_path", "filePath", "file") if key in item), None)
                if isinstance(item, dict)
                else item
            )
            if isinstance(inner, str):
                yield inner


def _may_be_path(path: str, operation: str | None) -> bool:
    if not path.strip() or len(path) > LONGEST or "\n" in path or "\0" in path or "://" in path:
        return False
    return (
        operation is not None or "/" in path or "\\" in path or bool(re.search(r"\.[A-Za-z]\w{0,9}$", path))
    )


def _commanded(command: str | list[str], text: str, cwd: str | None, base: str | None) -> list[Named]:
    if isinstance(command, list):
        return _worded(command, text, cwd, base)
    form = core_command(command)
    at = locate(text, "command", command) if form else None
    if at is None:
        return []
    commanded = [Named("command", form, *place(command, at, [(0, len(command))])[0], "ran")]
    touched = sorted(read_command(command, base), key=lambda part: (part.start, part.end))
    places = place(command, at, [(part.start, part.end) for part in touched])
    for part, (start, end) in zip(touched, places, strict=True):
        form = canonical_path(part.path, cwd, part.base or base)
        commanded.append(Named("file", form, start, end, part.operation))
    return commanded + _patched(command, text, cwd, base)


def _worded(words: list[str], text: str, cwd: str | None, base: str | None) -> list[Named]:
    """A command given word by word, as a program gets it: its place is that of the list."""
    quoted = stringify(words)
    at = text.find(quoted)
    command = shlex.join(words[:_MOST])
    if at < 0 or not fold(command):
        return []
    found = [Named("command", core_command(command), at + 1, at + len(quoted) - 1, "ran")]
    for one in read_command(command, base):
        start = text.find(stringify(one.path), at)
        if start >= 0:
            form = canonical_path(one.path, cwd, one.base or base)
            found.append(Named("file", form, start + 1, start + len(stringify(one.path)) - 1, one.operation))
    return found + [one for word in words if "\n" in word for one in _patched(word, text, cwd, base)]


def _patched(patch: str, text: str, cwd: str | None, base: str | None = None) -> list[Named]:
    if "*** Begin Patch" not in patch:
        return []
    at = locate(text, "input", patch)
    matches = list(_PATCH.finditer(patch))
    if at is None or not matches:
        return []
    places = place(patch, at, [match.span(2) for match in matches])
    return [
        Named("file", canonical_path(match[2], cwd, base), start, end, _PATCHED[match[1]])
        for match, (start, end) in zip(matches, places, strict=True)
    ]


def _todos(items: Any, text: str) -> list[Named]:
    found: list[Named] = []
    for item in items[:_MOST] if isinstance(items, list) else ():
        if isinstance(item, dict) and str(item.get("status", "")).lower() not in DONE:
            said = next((item[key] for key in _TODO_TEXTS if isinstance(item.get(key), str)), "")
            if said.strip():
                found += _one("todo", fold(said), said, text, "content", None)
    return found


def _boxes(value: str, text: str, key: str) -> list[Named]:
    """A list of tasks written as text, one a line, a box before each."""
    at = locate(text, key, value)
    if at is None:
        return []
    still = [box for box in list(BOX.finditer(value))[:_MOST] if box[1] not in "xX"]
    places = place(value, at, [box.span(2) for box in still])
    return [
        Named("todo", fold(box[2]), start, end, None) for box, (start, end) in zip(still, places, strict=True)
    ]


def _one(kind: str, form: str, value: str, text: str, key: str, operation: str | None) -> list[Named]:
    at = locate(text, key, value)
    if at is None or not form:
        return []
    return [Named(kind, form[:LONGEST], at, at + len(stringify(value)) - 2, operation)]
