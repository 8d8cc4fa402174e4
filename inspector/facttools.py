"""Tool calls as facts: which files, commands, todos and addresses their arguments name.

Tools differ in name and in how they call their arguments, so both are looked up in tables: the tools of the
known harnesses by name, any other (a server's, by its last name) by the verb in its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from .blocks import ToolCall
from .compactjson import stringify
from .factpaths import LONGEST, canonical_path, names
from .factshell import read_command

TOOLS: dict[str, str] = {
    **dict.fromkeys(sorted(names("read view cat readfile readfiles viewfile openfile notebookread "
                    "readmanyfiles")), "read"),
    **dict.fromkeys(sorted(names("write writefile createfile create savefile writetofile")), "created"),
    **dict.fromkeys(sorted(names("edit multiedit notebookedit editfile replace replaceinfile strreplace "
                    "applydiff editor "
                    "insert searchreplace patch applypatch update")), "edited"),
    **dict.fromkeys(sorted(names("delete deletefile remove removefile")), "deleted"),
    **dict.fromkeys(sorted(names("ls list glob grep find search listdir listdirectory listfiles "
                    "searchfiles findfiles "
                    "codesearch filesearch")), "listed"),
}  # fmt: skip
"""What a tool does to the file it names, by its name in lower case without marks."""

_VERBS = (
    ("read", "read view open cat show get load"),
    ("created", "write create save new"),
    ("edited", "edit replace patch update insert append modify"),
    ("deleted", "delete remove unlink"),
    ("listed", "list ls glob grep search find tree"),
)
_VERB = {verb: operation for operation, verbs in _VERBS for verb in verbs.split()}
_SUBCOMMANDS = {
    "view": "read",
    "create": "created",
    "str_replace": "edited",
    "insert": "edited",
    "delete": "deleted",
}
PATH_KEYS = names(
    "file_path path filepath filePath file filename notebook_path target_file absolute_path relative_path "
    "files paths file_paths directory dir dir_path old_path new_path source destination dst src "
    "absolutePath relativePath notebookPath targetFile TargetFile AbsolutePath"
)
_FROM, _TO = frozenset({"old_path", "source", "src"}), frozenset({"new_path", "destination", "dst"})
_SHELLS = names(
    "bash shell exec execcommand localshell localshellcall run runcommand runcommands runinterminal terminal "
    "executebash runshellcommand executecommand shellcommand containerexec powershell"
)
_COMMAND_KEYS = ("command", "cmd", "commands", "script")
_TODO_KEYS = ("todos", "plan", "items", "tasks", "todoList")
_TODO_TEXTS = ("content", "step", "subject", "title", "text", "description", "task")
_MOST = 1000  # things one call may list; each is looked up in its text
_DONE = frozenset({"completed", "done", "cancelled", "canceled", "deleted"})
_PATCH = re.compile(r"^\*\*\* (Add File|Update File|Delete File|Move to): (.{1,400})$", re.MULTILINE)
_PATCHED = {"Add File": "created", "Update File": "edited", "Delete File": "deleted", "Move to": "created"}


class Named(NamedTuple):
    """A fact in a call's arguments: its kind and form, its place in the call's text, and the operation."""

    kind: str
    form: str
    start: int
    end: int
    operation: str | None


def bare_name(name: str) -> str:
    """A tool's own name in lower case without marks: `mcp__fs__read_file` is `readfile`."""
    name = name.rsplit("__", 1)[-1].rsplit(".", 1)[-1].rsplit("/", 1)[-1]
    return re.sub(r"[^a-z0-9]", "", name.lower()[:100])


def is_shell(name: str) -> bool:
    """Whether a tool of that name runs commands."""
    return bare_name(name) in _SHELLS


def operation_of(name: str, given: Any = None) -> str | None:
    """What a tool of that name does to the file it names; None when the name does not tell.

    >>> operation_of("MultiEdit"), operation_of("mcp__fs__read_file"), operation_of("browser_click")
    ('edited', 'read', None)
    """
    if isinstance(given, dict) and isinstance(given.get("command"), str) and given["command"] in _SUBCOMMANDS:
        return _SUBCOMMANDS[given["command"]]
    bare = bare_name(name)
    if bare in TOOLS:
        return TOOLS[bare]
    last = re.sub(r"([a-z])([A-Z])", r"\1_\2", name[-100:].rsplit("__", 1)[-1])
    verbs = (_VERB.get(word) for word in re.split(r"[^a-z]+", last.lower()))
    return next((verb for verb in verbs if verb), None)


def read_call(call: ToolCall, text: str, cwd: str | None) -> list[Named]:
    """Every fact the call's arguments name. `text` is `call.text`: places are places in it."""
    given = call.input
    if isinstance(given, str):
        return _patched(given, text, cwd)
    if not isinstance(given, dict):
        return []
    found: list[Named] = []
    base = next((given[key] for key in ("workdir", "cwd") if isinstance(given.get(key), str)), None)
    base = canonical_path(base, None, cwd) if base else cwd
    shell = is_shell(call.name)
    operation = operation_of(call.name, given)
    for key, value in given.items():
        if key in _COMMAND_KEYS and (shell or operation is None):
            for command in _commands(value):
                found += _commanded(command, text, cwd, base)
        elif key in PATH_KEYS:
            done = "deleted" if key in _FROM else "created" if key in _TO else operation
            for path in _paths(value):
                if _may_be_path(path, done):
                    found += _one("file", canonical_path(path, cwd, base), path, text, key, done)
        elif key == "url" and isinstance(value, str):
            found += _one("url", value, value, text, key, None)
        elif key in _TODO_KEYS and isinstance(value, list):
            found += _todos(value, text)
        elif key in ("input", "patch", "patch_text") and isinstance(value, str):
            found += _patched(value, text, cwd)
    if bare_name(call.name) == "taskcreate":
        found += _todos([given], text)
    return found


def _commands(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        if value[0].rsplit("/", 1)[-1] in ("bash", "sh", "zsh") and len(value) > 2 and "c" in value[1][:4]:
            yield value[2]
        else:
            yield from value if any(" " in item for item in value) else [" ".join(value)]
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
                next((item[key] for key in ("path", "file_path", "file") if key in item), None)
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


def _commanded(command: str, text: str, cwd: str | None, base: str | None) -> list[Named]:
    form = fold(command)
    if not form:
        return []
    at = _locate(text, "command", command)
    if at is None:
        return []
    found = [Named("command", form, *_place(command, at, [(0, len(command))])[0], "ran")]
    touched = sorted(read_command(command, base))
    places = _place(command, at, [(one.start, one.end) for one in touched])
    for one, (start, end) in zip(touched, places, strict=True):
        form = canonical_path(one.path, cwd, one.base or base)
        found.append(Named("file", form, start, end, one.operation))
    return found


def _patched(patch: str, text: str, cwd: str | None) -> list[Named]:
    if "*** " not in patch:
        return []
    at = _locate(text, "input", patch)
    matches = list(_PATCH.finditer(patch))
    if at is None or not matches:
        return []
    places = _place(patch, at, [match.span(2) for match in matches])
    return [
        Named("file", canonical_path(match[2], cwd), start, end, _PATCHED[match[1]])
        for match, (start, end) in zip(matches, places, strict=True)
    ]


def _todos(items: list[Any], text: str) -> list[Named]:
    found: list[Named] = []
    for item in items[:_MOST]:
        if isinstance(item, dict) and str(item.get("status", "pending")).lower() not in _DONE:
            said = next((item[key] for key in _TODO_TEXTS if isinstance(item.get(key), str)), "")
            if said.strip():
                found += _one("todo", fold(said), said, text, "content", None)
    return found


def _one(kind: str, form: str, value: str, text: str, key: str, operation: str | None) -> list[Named]:
    at = _locate(text, key, value)
    if at is None or not form:
        return []
    return [Named(kind, form[:LONGEST], at, at + len(stringify(value)) - 2, operation)]


def fold(text: str) -> str:
    """Text as a form: on one line, single spaces, at most 400 characters.

    >>> fold("  go  test \\n ./... ")
    'go test ./...'
    """
    return " ".join(text[: 4 * LONGEST].split())[:LONGEST].rstrip()


def _locate(text: str, key: str, value: str) -> int | None:
    """Where a string's characters start in the call's text; under its own key when it stands there."""
    quoted = stringify(value)
    at = text.find(f'"{key}":{quoted}')
    at = at + len(key) + 3 if at >= 0 else text.find(quoted)
    return at + 1 if at >= 0 else None


def _place(value: str, at: int, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans of a string as places in a text that holds it escaped from `at` on. Linear in both."""
    marks = sorted({mark for span in spans for mark in span})
    where, last, reached = {}, 0, at
    for mark in marks:
        reached += len(stringify(value[last:mark])) - 2
        where[mark], last = reached, mark
    return [(where[start], where[end]) for start, end in spans]


def unescape(text: str) -> str:
    """A call's text with its JSON escapes undone at the same length, so that places stay what they are.

    >>> unescape('Write{"content":"a\\\\nb"}')
    'Write{"content":"a \\nb"}'
    """
    if "\\" not in text:
        return text
    text = text.replace("\\\\", "\x01\x01").replace("\\n", " \n").replace("\\t", " \t")
    return text.replace("\\r", " \r").replace('\\"', ' "').replace("\x01\x01", "\\\\")


def restore(text: str) -> str:
    """A piece of `unescape`d text as the form of what its call was given."""
    return fold(text.replace(' "', '"').replace("\\\\", "\\"))
