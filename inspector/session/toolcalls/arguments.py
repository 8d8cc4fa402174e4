"""Find facts in tool calls: the files, commands, to-dos and URLs in their arguments.

Tools name their arguments differently, so the names are looked up in tables too.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..blocks import ToolCall
from ..json_text import stringify
from .canonical_path import LONGEST, canonical_path, names
from .core_command import core_command
from .looks_like_path import SUFFIX
from .positions import fold, locate, place
from .shell import read_command
from .tool_names import FROM, PATH_KEYS, TO, bare_name, is_shell, operation_of

_COMMAND_KEYS = names("command cmd commands script CommandLine command_line")
_TODO_KEYS = names("todos plan items tasks todoList todo_list task_list todoItems")
_TODO_TEXTS = ("content", "step", "subject", "title", "text", "description", "task")
_PATCH_KEYS = names("input patch patch_text patchText patchContent")
# Arguments that list or wrap arguments of other tools: an edit's files, a server's own tool.
_NESTED = names("operations replacements edits changes requests reads arguments args parameters tool_input")
_MOST = 1000  # maximum number of items of one call; each is searched for in its text
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
    """Return every fact in the call's arguments. `text` is `call.text`, to which the positions refer."""
    args = call.input
    if isinstance(args, str):
        return _patched(args, text, cwd)
    return _read(call.name, args, text, cwd) if isinstance(args, dict) else []


def _read(name: str, args: dict[str, Any], text: str, cwd: str | None, deep: bool = True) -> list[Named]:
    facts: list[Named] = []
    base = next((args[key] for key in ("workdir", "cwd", "Cwd") if isinstance(args.get(key), str)), None)
    base = canonical_path(base, None, cwd) if base else cwd
    shell = is_shell(name)
    operation = operation_of(name, args)
    for key, value in args.items():
        if key in _COMMAND_KEYS and (shell or operation is None):
            for command in _commands(key, value):
                facts += _commanded(command, text, cwd, base)
        elif key in PATH_KEYS:
            done = "deleted" if key in FROM else "created" if key in TO else operation
            for path in _paths(value):
                if done == "listed" and SUFFIX.search(path):
                    done = "read"  # searching in a single file counts as reading it
                if _may_be_path(path, done):
                    facts += _locate_fact("file", canonical_path(path, cwd, base), path, text, key, done)
        elif key == "url" and isinstance(value, str):
            facts += _locate_fact("url", value, value, text, key, None)
        elif key in _TODO_KEYS:
            if isinstance(value, str):
                facts += _boxes(value, text, key)
            elif "todo" in key.lower() or re.search("(?i)todo|task|plan", name):
                facts += _todos(value, text)
        elif key in _PATCH_KEYS and isinstance(value, str):
            facts += _patched(value, text, cwd)
        elif key in _NESTED and deep:
            inner = next((args[key] for key in ("tool_name", "tool") if isinstance(args.get(key), str)), name)
            for item in (value if isinstance(value, list) else [value])[:_MOST]:
                facts += _read(inner, item, text, cwd, False) if isinstance(item, dict) else []
    if bare_name(name) in ("taskcreate", "taskupdate"):
        facts += _todos([args], text)
    return facts


def _commands(key: str, value: Any) -> Iterator[str | list[str]]:
    """Yield the commands of an argument: a string, the words of one command, or several commands."""
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
    """Read a command that is a list of words. Its position is the list's."""
    quoted = stringify(words)
    at = text.find(quoted)
    command = shlex.join(words[:_MOST])
    if at < 0 or not fold(command):
        return []
    facts = [Named("command", core_command(command), at + 1, at + len(quoted) - 1, "ran")]
    for file in read_command(command, base):
        start = text.find(stringify(file.path), at)
        if start >= 0:
            form = canonical_path(file.path, cwd, file.base or base)
            facts.append(
                Named("file", form, start + 1, start + len(stringify(file.path)) - 1, file.operation)
            )
    return facts + [file for word in words if "\n" in word for file in _patched(word, text, cwd, base)]


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
    facts: list[Named] = []
    for item in items[:_MOST] if isinstance(items, list) else ():
        if isinstance(item, dict) and str(item.get("status", "")).lower() not in DONE:
            todo_text = next((item[key] for key in _TODO_TEXTS if isinstance(item.get(key), str)), "")
            if todo_text.strip():
                facts += _locate_fact("todo", fold(todo_text), todo_text, text, "content", None)
    return facts


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


def _locate_fact(kind: str, form: str, value: str, text: str, key: str, operation: str | None) -> list[Named]:
    at = locate(text, key, value)
    if at is None or not form:
        return []
    return [Named(kind, form[:LONGEST], at, at + len(stringify(value)) - 2, operation)]
