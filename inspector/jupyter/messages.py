"""The messages that the server's routes accept: the fields of each, their types, and the permission needed.

A message is a JSON object {"type", "id", ...}. `QUESTIONS` is the table behind `documents/ID/ask`,
`FILES` the one behind `documents/ID/save`. Types that are in neither are refused, so every message has a
permission.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypedDict

import msgspec

from ..workbench.summary_writer import WRITERS
from .threads import ServerRefusal

READ, WRITE, EXECUTE = ("read", "contents"), ("write", "contents"), ("execute", "kernels")
"""Action and resource as Jupyter's authorizer expects them."""
MOST_NESTED = 500_000
"""Bytes of a field that is not text."""
MOST_SHOWN = 120
"""Characters of an error that quotes a message."""

Fields = dict[str, Any]
"""The types of the fields of a message. A field whose name ends in "?" may be missing."""
MessageType = tuple[tuple[str, str], Any]
"""The permission that a type of message needs, and the type of its fields, as msgspec checks it."""
_typed_dict: Any = TypedDict


def _fields(fields: Fields) -> Any:
    types = {
        name.removesuffix("?"): NotRequired[kind] if name.endswith("?") else kind
        for name, kind in fields.items()
    }
    return _typed_dict("Message", types)


def _message(permission: tuple[str, str], fields: Fields | None = None) -> MessageType:
    return permission, _fields(fields or {})


_PLACE: Fields = {"place": int}
_PAGE: Fields = {"from?": int, "to?": int}
_ROWS: Fields = {"rowFrom?": int, "rowTo?": int}
_SUMMARY: Fields = {
    "by": Literal[WRITERS],
    "model?": str,
    "focus?": str,
    "additions?": str,
    "keep?": list[str],
}
_FACT: Fields = {"number": int, "kind?": str, "form?": str}

QUESTIONS: dict[str, MessageType] = {
    "rows": _message(READ, {"from": int, "to": int}),
    "body": _message(READ, {"row": int, "place?": int}),
    "summary": _message(READ, {"place?": int, "versus?": bool}),
    "search": _message(READ, {"query": str, "keys?": list[str]}),
    "lesson": _message(READ, _PLACE),
    "compactions": _message(READ, _PLACE),
    "context": _message(READ, {"pair?": str, "row?": int, "most?": int, **_PLACE, **_PAGE}),
    "context_facts": _message(READ, {"pair?": str, **_PLACE}),
    "summaries": _message(READ, _PLACE),
    "facts": _message(READ, {"query?": str, "kind?": str, "outcome?": str, **_ROWS, **_PLACE, **_PAGE}),
    "findings": _message(READ, {"look?": str, **_ROWS, **_PLACE}),
    "story": _message(READ, {"pick?": str, **_FACT, **_PLACE}),
    "regret": _message(READ),
    "grounding": _message(READ, {"row": int}),
    "losses": _message(READ, _PLACE),
    "selection": _message(READ, {"look?": str, "from": int, "to": int, **_PLACE}),
    "rules": _message(READ),
    "settings_file": _message(READ, {"name": str, "text": str}),
    "policies": _message(READ),
    "policy_results": _message(READ, {"from": int, "to": int}),
    "review": _message(READ),
    "export": _message(READ, {"keep?": list[str], "policies?": list[str]}),
    "plans": _message(READ),
    "open_plan": _message(READ, {"name": str}),
    "preview_file": _message(READ, {"kind": Literal["compacted", "reopened"], "at?": str}),
    "sending": _message(READ, _SUMMARY),
    "writing": _message(READ, {"from?": int}),
    "stop": _message(READ, {"what?": str}),
    # A written summary is kept for the next time the session is opened.
    "summarise": _message(WRITE, {"digest?": str, "text?": str, "from?": int, **_SUMMARY}),
    "judge": _message(
        WRITE, {"verdict": Literal["right", "lost", "not lost", "withdrawn"], "pick?": str, **_FACT, **_PLACE}
    ),
    "unsummarise": _message(WRITE, {"from?": int}),
}
FILES: dict[str, MessageType] = {
    "save": _message(WRITE),
    "write_file": _message(WRITE, {"name": str}),
}
OPEN = _fields({"path?": str, "bundled?": bool, "wanted?": dict})
"""`known` has no type here: it is looked up in a list of paths."""
CHANGE = _fields({"wanted?": dict})
STOP = _fields({"what?": str})
INPUTS = _fields(
    {
        "tab?": str,
        "block?": str,
        "dock?": int,
        "_seq?": int,
        "replay?": bool,
        "scenario?": dict,
    }
)
"""The inputs of a document that its controller does not validate."""


_TYPES = [OPEN, CHANGE, STOP, *(fields for _, fields in (*QUESTIONS.values(), *FILES.values()))]
_NAMES = sorted({"type", "id", "known"}.union(*(fields.__annotations__ for fields in _TYPES)))
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
        ServerRefusal: The body is not a JSON object, or a field is too large.
    """
    try:
        message = _parse_large(body) if len(body) > MOST_NESTED else json.loads(body, parse_constant=_refuse)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise ServerRefusal(400, "The request's body is not a JSON object.") from None
    if not isinstance(message, dict):
        raise ServerRefusal(400, "The request's body is not a JSON object.")
    return message


def _parse_large(body: bytes) -> dict[str, Any]:
    raw = msgspec.structs.astuple(msgspec.json.decode(body, type=_Body))
    fields = {name: bytes(value) for name, value in zip(_NAMES, raw, strict=True) if bytes(value)}
    for name, value in fields.items():
        if len(value) > MOST_NESTED and not value.startswith(b'"'):
            raise ServerRefusal(
                400, f"{name} has {len(value):,} bytes; at most {MOST_NESTED:,} are accepted."
            )
    return {name: json.loads(value) for name, value in fields.items()}


def check_message(message: Mapping[str, Any], table: Mapping[str, MessageType]) -> list[tuple[str, str]]:
    """Validate a message by a table; return the permissions that it needs, the strongest first.

    Raises `ServerRefusal` for an unknown type, and for a missing field or one of the wrong type.

    >>> check_message({"type": "rows", "from": 0, "to": 9}, QUESTIONS)
    [('read', 'contents')]
    >>> check_message({"type": "summarise", "by": "model"}, QUESTIONS)
    [('execute', 'kernels'), ('write', 'contents')]
    """
    kind = message.get("type")
    if not isinstance(kind, str) or kind not in table:
        raise ServerRefusal(400, f"Unknown message type {str(kind)[:MOST_SHOWN]}.")
    if not isinstance(message.get("id", ""), str | int):
        raise ServerRefusal(400, f"{kind}: id must be text or a number.")
    permission, fields = table[kind]
    check_fields(message, fields, kind)
    # A model is called with the key in the server's environment.
    calls = kind == "summarise" and message["by"] == "model"
    return [EXECUTE, permission] if calls else [permission]


def check_fields(message: Mapping[str, Any], fields: Any, of: str) -> None:
    """Raise `ServerRefusal` if a field is missing or has another type than `fields` says."""
    try:
        msgspec.convert(dict(message), fields)
    except msgspec.ValidationError as error:
        raise ServerRefusal(400, f"{of}: {str(error)[:MOST_SHOWN]}.") from None


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")
