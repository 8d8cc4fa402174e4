"""The messages that the server's routes accept: the fields of each, their types, and the permission needed.

A message is a JSON object {"type", "id", ...}. `QUESTIONS` is the table behind `desks/ID/ask`, `FILES` the
one behind `desks/ID/save`. Types that are not in the table are refused, so every message has a permission.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from ..workbench.summary_writer import WRITERS

READ, WRITE, EXECUTE = ("read", "contents"), ("write", "contents"), ("execute", "kernels")
"""Action and resource as Jupyter's authorizer expects them."""
TEXTS = "list of texts"
"""The type of a list whose items are all texts."""
MOST_NESTED = 500_000
"""Bytes of a field that is not text."""
MOST_NAMED = 60
"""Characters of a wrong value that an error repeats."""

Field = type | str | tuple[str, ...]
"""A Python type, `TEXTS`, or the values allowed."""


class MessageType(NamedTuple):
    """One type of message. A field whose name ends in "?" may be missing."""

    permission: tuple[str, str]
    fields: Mapping[str, Field] = {}


_PLACE: dict[str, Field] = {"place": int}
_PAGE: dict[str, Field] = {"from?": int, "to?": int}
_SUMMARY: dict[str, Field] = {"by": WRITERS, "model?": str, "focus?": str, "additions?": str, "keep?": TEXTS}
_FACT: dict[str, Field] = {"number": int, "kind?": str, "form?": str}

QUESTIONS: dict[str, MessageType] = {
    "rows": MessageType(READ, {"from": int, "to": int}),
    "body": MessageType(READ, {"row": int, "place?": int}),
    "summary": MessageType(READ, {"place?": int, "versus?": bool}),
    "search": MessageType(READ, {"query": str, "keys?": TEXTS}),
    "lesson": MessageType(READ, _PLACE),
    "lessons": MessageType(READ),
    "lesson_step": MessageType(READ, {"link": str}),
    "lesson_check": MessageType(READ, {"link": str, "answer": str, **_PLACE}),
    "context": MessageType(READ, {"most?": int, **_PLACE, **_PAGE}),
    "summaries": MessageType(READ, _PLACE),
    "facts": MessageType(READ, {"query?": str, "kind?": str, "outcome?": str, **_PLACE, **_PAGE}),
    "findings": MessageType(READ, {"look?": str, **_PLACE}),
    "story": MessageType(READ, {"pick?": str, **_FACT, **_PLACE}),
    "regret": MessageType(READ),
    "grounding": MessageType(READ, {"row": int}),
    "losses": MessageType(READ, _PLACE),
    "rules": MessageType(READ),
    "settings_file": MessageType(READ, {"name": str, "text": str}),
    "policies": MessageType(READ),
    "policy_results": MessageType(READ, {"from": int, "to": int}),
    "review": MessageType(READ),
    "export": MessageType(READ, {"keep?": TEXTS, "policies?": TEXTS}),
    "plans": MessageType(READ),
    "open_plan": MessageType(READ, {"name": str}),
    "preview_file": MessageType(READ, {"kind": ("compacted", "reopened"), "at?": str}),
    "sending": MessageType(READ, _SUMMARY),
    "writing": MessageType(READ, {"from?": int}),
    "stop": MessageType(READ, {"what?": str}),
    # A written summary is kept for the next time the session is opened.
    "summarise": MessageType(WRITE, {"digest?": str, "text?": str, "from?": int, **_SUMMARY}),
    "unsummarise": MessageType(WRITE, {"from?": int}),
}
FILES: dict[str, MessageType] = {
    "save": MessageType(WRITE),
    "write_file": MessageType(WRITE, {"name": str}),
}
OPEN: dict[str, Field] = {"path?": str, "bundled?": bool, "wanted?": dict}
"""`known` has no type here: it is looked up in a list of paths."""
CHANGE: dict[str, Field] = {"wanted?": dict}
STOP: dict[str, Field] = {"what?": str}
INPUTS: dict[str, Field] = {
    "tab?": str,
    "block?": str,
    "dock?": int,
    "_seq?": int,
    "replay?": bool,
    "scenario?": dict,
}
"""The inputs of a document that its controller does not validate."""


class BadMessage(Exception):
    """A message with an unknown type, or a field of the wrong type. Its text says which."""


def _list_names() -> list[str]:
    tables = [expected.fields for expected in (*QUESTIONS.values(), *FILES.values())]
    names = {name.removesuffix("?") for fields in (*tables, OPEN, CHANGE, STOP) for name in fields}
    return sorted({"type", "id", "known"} | names)


_NAMES = _list_names()
_Body = msgspec.defstruct(
    "_Body",
    [
        (f"field{number}", msgspec.Raw, msgspec.field(default=msgspec.Raw(b""), name=name))
        for number, name in enumerate(_NAMES)
    ],
)


def parse_body(body: bytes) -> dict[str, Any]:
    """Parse a request's body, which is a JSON object.

    Building a million lists blocks the event loop for seconds, even from another thread. If a body has more
    than `MOST_NESTED` bytes, only known fields are parsed, and lists and objects above that size are refused.

    Raises:
        BadMessage: The body is not a JSON object, or a field is too large.
    """
    try:
        message = _parse_large(body) if len(body) > MOST_NESTED else json.loads(body, parse_constant=_refuse)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise BadMessage("The request's body is not a JSON object.") from None
    if not isinstance(message, dict):
        raise BadMessage("The request's body is not a JSON object.")
    return message


def _parse_large(body: bytes) -> dict[str, Any]:
    raw = msgspec.structs.astuple(msgspec.json.decode(body, type=_Body))
    fields = {name: bytes(value) for name, value in zip(_NAMES, raw, strict=True) if bytes(value)}
    for name, value in fields.items():
        if len(value) > MOST_NESTED and not value.startswith(b'"'):
            raise BadMessage(f"{name} has {len(value):,} bytes; at most {MOST_NESTED:,} are accepted.")
    return {name: json.loads(value) for name, value in fields.items()}


def check_message(message: Mapping[str, Any], table: Mapping[str, MessageType]) -> list[tuple[str, str]]:
    """Validate a message by a table; return the permissions that it needs, the strongest first.

    Raises `BadMessage` for an unknown type, and for a missing field or one of the wrong type.

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
    expected = table[kind]
    check_fields(message, expected.fields, kind)
    # A model is called with the key in the server's environment.
    calls = kind == "summarise" and message["by"] == "model"
    return [EXECUTE, expected.permission] if calls else [expected.permission]


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
    return type(value) is field  # not isinstance: True is not accepted as an int


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


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")
