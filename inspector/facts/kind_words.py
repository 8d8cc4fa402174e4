"""The nouns for kinds of facts that a person reads: on the screen, in `why()` and in lint."""

from __future__ import annotations

NOUNS = {
    "file": "file",
    "command": "command",
    "error": "error",
    "symbol": "symbol",
    "url": "link",
    "id": "id",
    "number": "number",
    "constraint": "rule",
    "given": "rule",
    "choice": "choice",
    "decision": "decision",
    "todo": "to-do",
    "statement": "statement",
    "text": "words",
}
"""By kind. `given` are rules that no user said: of a harness, or in an output. `text` are words that are no
fact."""
_OWN = ("constraint", "choice", "statement")
"""Kinds that only the user says."""


def name_kind(kind: str) -> str:
    """Return what one fact of a kind is called on the screen.

    >>> name_kind("constraint"), name_kind("given"), name_kind("todo")
    ('your rule', 'rule', 'to-do')
    """
    return f"your {NOUNS[kind]}" if kind in _OWN else NOUNS[kind]


def name_kinds(kind: str) -> str:
    """Return what the facts of a kind are called in a list of all kinds.

    >>> name_kinds("constraint"), name_kinds("given"), name_kinds("todo")
    ('your rules', 'other rules', 'to-dos')
    """
    return "other rules" if kind == "given" else f"{name_kind(kind)}s"
