"""How much of a request is the request before, unchanged: what a provider's prompt cache is keyed on.

In go two requests, as columns or as messages, out comes their longest common prefix, or which of their parts
differ. A hash of the whole list of messages answers another question: it changes with every message that is
added, so it never tells a cache miss from a turn (TIERED §8).
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from inspector.errors import InspectorError
from inspector.session.json_text import stringify


def common_prefix(
    before_ids: ArrayLike, before_tokens: ArrayLike, after_ids: ArrayLike, after_tokens: ArrayLike
) -> int:
    """Tokens of `after` up to the first block that is not the same block of `before`, O(n).

    `*_ids` int[n]: whose block stands there; one that was rewritten gets an id of its own, or other tokens.
    `*_tokens` int[n]. Raises `InspectorError` when ids and tokens differ in length.

    >>> common_prefix([1, 2, 3], [10, 20, 30], [1, 2, 3, 4], [10, 20, 30, 40])
    60
    >>> common_prefix([1, 2, 3], [10, 20, 30], [1, 2, 3, 4], [10, 5, 30, 40])
    10
    """
    ids, tokens = np.asarray(before_ids), np.asarray(before_tokens)
    later, weights = np.asarray(after_ids), np.asarray(after_tokens)
    if ids.shape != tokens.shape or later.shape != weights.shape:
        sizes = ", ".join(str(each.size) for each in (ids, tokens, later, weights))
        raise InspectorError(f"a prefix needs one token count per block: lengths are {sizes}")
    size = min(len(ids), len(later))
    other = (ids[:size] != later[:size]) | (tokens[:size] != weights[:size])
    return int(weights[: int(other.argmax()) if other.any() else size].sum())


class Fingerprint(NamedTuple):
    """Hashes of the parts of a request, and the model it went to; None for a part it does not have."""

    system_prompt: str | None = None
    tools: str | None = None
    message_prefix: str | None = None
    child_directive: str | None = None
    model: str | None = None


def take_fingerprint(
    system: Any = None,
    tools: Any = None,
    messages: Sequence[Any] | None = None,
    directive: Any = None,
    model: str | None = None,
) -> Fingerprint:
    """The fingerprint of a request, every part a JSON-like value."""
    parts = [None if part is None else hash_json(part) for part in (system, tools, messages, directive)]
    return Fingerprint._make([*parts, model])


def find_changes(before: Fingerprint, after: Fingerprint) -> tuple[str, ...]:
    """Names of the parts that differ, always in the order of `Fingerprint` (TIERED §8).

    >>> old = take_fingerprint(system="You help.", messages=[], model="a")
    >>> find_changes(old, take_fingerprint(system="You help!", messages=[], model="b"))
    ('system_prompt', 'model')
    """
    pairs = zip(Fingerprint._fields, before, after, strict=True)
    return tuple(name for name, was, now in pairs if was != now)


def hash_json(value: Any) -> str:
    """SHA-256, as hex, of a JSON-like value whose keys are sorted by code point at every depth.

    The published one sorts by the rules of whatever language the machine speaks; this one is the same on
    every machine (TIERED §8). Numbers and escapes are JavaScript's.

    >>> hash_json([{"b": 1, "a": 2.0}]) == sha256(b'[{"a":2,"b":1}]').hexdigest()
    True
    """
    return sha256(_write(value).encode()).hexdigest()


class _Mark(str):
    """Punctuation on the way out, told apart from text that is still to be written."""

    __slots__ = ()


def _write(value: Any) -> str:
    """By a stack of our own: a transcript may nest deeper than Python recurses."""
    out: list[str] = []
    stack: list[Any] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, _Mark):
            out.append(item)
        elif isinstance(item, dict):
            parts: list[Any] = [_Mark("{")]
            for at, key in enumerate(sorted(item, key=str)):
                parts += [_Mark(("," if at else "") + stringify(str(key)) + ":"), item[key]]
            stack += [_Mark("}"), *reversed(parts)]
        elif isinstance(item, list | tuple):
            parts = [_Mark("[")]
            for at, child in enumerate(item):
                parts += [_Mark(","), child] if at else [child]
            stack += [_Mark("]"), *reversed(parts)]
        else:
            out.append(stringify(item))
    return "".join(out)
