"""Insert hooks into the text of a settings file, and take them out: the rest of the text stays as it is."""

from __future__ import annotations

import json
import re
from typing import Any

from .payload import HookError

NAME = "compaction-inspector"
_INDENT = re.compile(r"\n([ \t]+)\S")
_BLANK = re.compile(r"[ \t\r\n]*")


def parse_settings(text: str, path: str) -> dict[str, Any]:
    """Parse settings strictly, as the harness does: no comments, no trailing commas, no double keys.

    Raises:
        HookError: The text is something else, or its hooks have an unknown shape.
    """
    try:
        settings = json.loads(text, object_pairs_hook=_refuse_double, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise HookError(f"{path}: it is not strict JSON ({error})") from error
    hooks = settings.get("hooks", {}) if isinstance(settings, dict) else None
    if not isinstance(hooks, dict) or not all(map(_is_groups, hooks.values())):
        raise HookError(f"{path}: its hooks have an unknown shape")
    return settings  # type: ignore[no-any-return]


def is_own(handler: dict[str, Any]) -> bool:
    """Return whether a handler is this package's, under any path.

    >>> is_own({"command": "/old/compaction-inspector", "args": ["hook"]}), is_own({"command": "lint hook"})
    (True, False)
    """
    command, args = str(handler.get("command", "")).replace("\\", "/"), handler.get("args")
    program, _, rest = command.partition(" ") if args is None else (command, "", "")
    own = program.strip("\"'").rpartition("/")[2].removesuffix(".exe") == NAME
    return own and (args == ["hook"] or rest == "hook")


def add_hooks(text: str, groups: dict[str, dict[str, Any]]) -> str:
    """Return a settings text with a group for each event, behind those that are there."""
    newline = "\r\n" if "\r\n" in text else "\n"
    match = _INDENT.search(text)
    indent = match[1] if match else "  "

    def spell(value: Any, depth: int) -> str:
        return json.dumps(value, indent=indent, ensure_ascii=False).replace("\n", newline + indent * depth)

    def insert(into: str, start: int, end: int, item: str, depth: int) -> str:
        """Insert an item at the end of the object or list between two offsets, brackets included."""
        body = into[start + 1 : end - 1].rstrip(" \t\r\n")
        at = start + 1 + len(body)
        lead = f"{',' if body.strip() else ''}{newline}{indent * depth}"
        tail = "" if body.strip() else newline + indent * (depth - 1)
        return f"{into[:at]}{lead}{item}{tail}{into[at:]}"

    for event, group in groups.items():
        top, end = _find_members(text, text.index("{"))
        if "hooks" not in top:
            item = f'"hooks": {spell({event: [group]}, 1)}'
            text = insert(text, text.index("{"), end, item, 1)
            continue
        events, end = _find_members(text, top["hooks"][0])
        if event in events:
            text = insert(text, *events[event], spell(group, 3), 3)
        else:
            text = insert(text, top["hooks"][0], end, f'"{event}": {spell([group], 2)}', 2)
    return text


def remove_hooks(text: str, before: dict[str, Any]) -> str:
    """Return a settings text without the hooks of this package, written again in the same style.

    A list or object that was empty in the settings `before` the installation stays.
    """
    settings = json.loads(text)
    hooks, old = settings.get("hooks", {}), before.get("hooks", {})
    for event, groups in list(hooks.items()):
        for group in groups:
            group["hooks"] = [handler for handler in group["hooks"] if not is_own(handler)]
        hooks[event] = [group for group in groups if group["hooks"]]
        if not hooks[event] and event not in old:
            del hooks[event]
    if not hooks and "hooks" not in before:
        settings.pop("hooks", None)
    match = _INDENT.search(text)
    dumped = json.dumps(settings, indent=match[1] if match else None, ensure_ascii=False)
    tail = text[len(text.rstrip()) :]
    return (dumped.replace("\n", "\r\n") if "\r\n" in text else dumped) + tail


def _find_members(text: str, start: int) -> tuple[dict[str, tuple[int, int]], int]:
    """Return the spans of an object's values by their keys, and the offset behind the object."""
    decoder, spans = json.JSONDecoder(), dict[str, tuple[int, int]]()
    at = _skip(text, start + 1)
    while text[at] != "}":
        key, at = decoder.raw_decode(text, at)
        at = _skip(text, _skip(text, at) + 1)
        _, end = decoder.raw_decode(text, at)
        spans[key] = at, end
        at = _skip(text, end)
        at = _skip(text, at + 1) if text[at] == "," else at
    return spans, at + 1


def _skip(text: str, at: int) -> int:
    return _BLANK.match(text, at).end()  # type: ignore[union-attr]


def _is_groups(value: Any) -> bool:
    """Return whether a value is a list of groups of handlers."""
    return isinstance(value, list) and all(
        isinstance(group, dict)
        and isinstance(group.get("hooks"), list)
        and all(isinstance(handler, dict) for handler in group["hooks"])
        for group in value
    )


def _refuse_double(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key is there twice")
    return dict(pairs)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")
