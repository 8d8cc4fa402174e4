"""Lone surrogates: transcripts hold them, JSON for the provider may not (CLAUDE §7.8)."""

from __future__ import annotations

import re
from typing import Any

_LONE = re.compile("[\ud800-\udfff]")


def has_lone_surrogate(value: Any) -> bool:
    """Whether any string or key of a JSON value is not valid Unicode. Linear, at any depth."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            if not item.isascii() and _LONE.search(item):
                return True
        elif isinstance(item, dict):
            stack += item.keys()
            stack += item.values()
        elif isinstance(item, list | tuple):
            stack += item
    return False


def replace_lone_surrogates(box: Any, key: Any, path: str) -> list[str]:
    """Put U+FFFD for every lone surrogate in a copy of `box[key]`, in place of it; paths of changed texts."""
    changed: list[str] = []
    stack: list[tuple[Any, Any, str]] = [(box, key, path)]
    while stack:
        box, key, where = stack.pop()
        item = box[key]
        if isinstance(item, str):
            if _LONE.search(item):
                changed.append(where)
                box[key] = _LONE.sub("\ufffd", item)
        elif isinstance(item, dict):
            box[key] = fresh = {_LONE.sub("\ufffd", str(name)): child for name, child in item.items()}
            changed += [f"{where}.{name}" for name in fresh if name not in item]
            stack += [(fresh, name, f"{where}.{name}") for name in reversed(fresh)]
        elif isinstance(item, list | tuple):
            box[key] = rows = list(item)
            stack += [(rows, index, f"{where}.{index}") for index in reversed(range(len(rows)))]
    return changed
