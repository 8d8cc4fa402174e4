"""The messages that the server's routes accept: the fields of each, their types, and the permission needed.

A message is a JSON object {"type", "id", ...}. `QUESTIONS` is the table behind `desks/ID/ask`, `FILES` that
behind `desks/ID/save`. Types that a table does not hold are refused: a new message needs a permission first.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..replays.scenario import PROVIDERS
from ..workbench.summary_writer import WRITERS

READ, WRITE, EXECUTE = ("read", "contents"), ("write", "contents"), ("execute", "kernels")
"""Jupyter's action and resource, as its authorizer expects them."""
TEXTS = "list of texts"
"""The type of a list whose items are all texts."""
MOST_NAMED = 60
"""Characters of a wrong value that an error repeats."""

Field = type | str | tuple[str, ...]
"""A Python type, `TEXTS`, or the values allowed."""


class Message(NamedTuple):
    """One type of message. A field whose name ends in "?" may be missing."""

    permission: tuple[str, str]
    fields: Mapping[str, Field] = {}


_PLACE: dict[str, Field] = {"place": int}
_PAGE: dict[str, Field] = {"from?": int, "to?": int}
_WISH: dict[str, Field] = {"by": WRITERS, "model?": str, "focus?": str, "keep?": TEXTS}
_FACT: dict[str, Field] = {"number": int, "kind?": str, "form?": str}

QUESTIONS: dict[str, Message] = {
    "rows": Message(READ, {"from": int, "to": int}),
    "body": Message(READ, {"row": int, "place?": int}),
    "summary": Message(READ, {"place?": int, "versus?": bool}),
    "search": Message(READ, {"query": str, "keys?": TEXTS}),
    "lesson": Message(READ, _PLACE),
    "lessons": Message(READ),
    "lesson_step": Message(READ, {"link": str}),
    "lesson_check": Message(READ, {"link": str, "answer": str, **_PLACE}),
    "context": Message(READ, {"most?": int, **_PLACE, **_PAGE}),
    "summaries": Message(READ, _PLACE),
    "facts": Message(READ, {"query?": str, "kind?": str, "fate?": str, **_PLACE, **_PAGE}),
    "findings": Message(READ, {"look?": str, **_PLACE}),
    "story": Message(READ, {"pick?": str, **_FACT, **_PLACE}),
    "regret": Message(READ),
    "grounding": Message(READ, {"row": int}),
    "losses": Message(READ, _PLACE),
    "rules": Message(READ),
    "policies": Message(READ),
    "policy_results": Message(READ, {"from": int, "to": int}),
    "review": Message(READ),
    "export": Message(READ, {"keep?": TEXTS, "policies?": TEXTS}),
    "plans": Message(READ),
    "open_plan": Message(READ, {"name": str}),
    "preview_file": Message(READ, {"kind": ("compacted", "reopened"), "at?": str}),
    "sending": Message(READ, _WISH),
    "writing": Message(READ, {"from?": int}),
    "stop": Message(READ, {"what?": str}),
    # A written summary is kept for the next time the session is opened.
    "summarise": Message(WRITE, {"digest?": str, "text?": str, "from?": int, **_WISH}),
    "unsummarise": Message(WRITE, {"from?": int}),
}
FILES: dict[str, Message] = {
    "save": Message(WRITE),
    "write_file": Message(WRITE, {"name": str}),
}
OPEN: dict[str, Field] = {"path?": str, "bundled?": bool, "wanted?": dict}
"""A `known` path is looked up in a list: a value of another type is not found there."""
CHANGE: dict[str, Field] = {"wanted?": dict}
STOP: dict[str, Field] = {"what?": str}
INPUTS: dict[str, Field] = {
    "tab?": str,
    "block?": str,
    "dock?": int,
    "_seq?": int,
    "replay?": bool,
    "provider?": PROVIDERS,
}
"""The inputs of a document that its controller does not check."""


class BadMessage(Exception):
    """A message with an unknown type, or a field of the wrong type. Its text says which."""


def parse_body(body: bytes) -> dict[str, Any]:
    """Parse a request's body, which is a JSON object. Raises `BadMessage` for anything else."""
    try:
        message = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise BadMessage("The request's body is not JSON.") from None
    if not isinstance(message, dict):
        raise BadMessage("The request's body is not a JSON object.")
    return message


def check_message(message: Mapping[str, Any], table: Mapping[str, Message]) -> list[tuple[str, str]]:
    """Validate a message by a table; return the permissions that it needs, the strongest first.

    Raises `BadMessage` for a type that the table does not hold and for a field of the wrong type.

    >>> check_message({"type": "rows", "from": 0, "to": 9}, QUESTIONS)
    [('read', 'contents')]
    >>> check_message({"type": "summarise", "by": "model"}, QUESTIONS)
    [('execute', 'kernels'), ('write', 'contents')]
    """
    kind = message.get("type")
    if not isinstance(kind, str) or kind not in table:
        raise BadMessage(f"Unknown message type {_shorten(kind)}.")
    if not isinstance(message.get("id", ""), str | int):
        raise BadMessage(f"{kind}: id must be text or a number.")
    asked = table[kind]
    check_fields(message, asked.fields, kind)
    # A model is called with the key in the server's environment.
    calls = kind == "summarise" and message["by"] == "model"
    return [EXECUTE, asked.permission] if calls else [asked.permission]


def check_fields(message: Mapping[str, Any], fields: Mapping[str, Field], of: str) -> None:
    """Raise `BadMessage` if a field is missing or has another type than `fields` says."""
    for name, field in fields.items():
        key = name.removesuffix("?")
        if key in message:
            if not _fits(message[key], field):
                raise BadMessage(f"{of}: {key} must be {_describe(field)}, not {_shorten(message[key])}.")
        elif key == name:
            raise BadMessage(f"{of}: {key} is missing.")


def _fits(value: Any, field: Field) -> bool:
    if isinstance(field, tuple):
        return isinstance(value, str) and value in field
    if field == TEXTS:
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    return type(value) is field  # True is an int, and is not one here


def _describe(field: Field) -> str:
    if isinstance(field, tuple):
        return f"one of {', '.join(field)}"
    names = {int: "a whole number", str: "text", bool: "true or false", dict: "an object"}
    return f"a {field}" if isinstance(field, str) else names[field]


def _shorten(value: Any) -> str:
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    text = json.dumps(value)
    return text if len(text) <= MOST_NAMED else f"{text[:MOST_NAMED]}…"


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
