"""What a screen is sent: values whose fields, in camel case, are the keys of a JSON object.

The types of the browser's side are made from them (`python -m tests.payload_types`).
"""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from ...text import printable_tree


class Payload(msgspec.Struct, rename="camel", frozen=True):
    """The base of all. A field is always sent, but for one that is `UNSET`.

    `finished` is set where its texts are safe to show already, or are names to ask by.
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
