"""Base of the payloads: values whose fields, in camel case, are the keys of a JSON object.

The browser's types are generated from them (`python -m tests.payload_types`).
"""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from ...text import printable_tree


class Payload(msgspec.Struct, rename="camel", frozen=True):
    """Base class of the payloads. Every field is sent, except one that is `UNSET`.

    `finished` is set if the texts are already redacted, or are identifiers for queries.
    """

    finished: ClassVar[bool] = False


class Labelled(Payload, frozen=True):
    """A name in the columns, and what people are shown for it."""

    id: str
    label: str


def to_json(payload: Payload) -> dict[str, Any]:
    """The payload as JSON values, each text safe to show.

    >>> to_json(Labelled("tool_call", "tool\\x07call"))
    {'id': 'tool_call', 'label': 'tool␇call'}
    """
    values: dict[str, Any] = msgspec.to_builtins(payload)
    return values if payload.finished else dict(printable_tree(values))
