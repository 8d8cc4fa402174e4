"""Values as JSON data that does not know the names of their classes, and its hash."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from decimal import Decimal
from enum import Enum
from hashlib import sha256
from typing import Any

import numpy as np
from pydantic import BaseModel

SAME = {"conduct": "harness"}
"""Words of data that are renamed, and what they are called then."""


class Plain:
    """Values as JSON data without the names of their classes; `whole` spells out what is else a hash.

    >>> from collections import namedtuple
    >>> Plain()(namedtuple("Old", "b a")(1, "x")) == Plain()(namedtuple("New", "a b")("x", 1))
    True
    >>> Plain()({"conduct": {1, 2}, "sum": Decimal("0.10")})
    {'harness': [1, 2], 'sum': '0.10'}
    """

    def __init__(self, whole: bool = False) -> None:
        self.whole = whole
        self.known: dict[int, tuple[BaseModel, Any]] = {}

    def __call__(self, value: Any) -> Any:
        if isinstance(value, Enum):
            return self(value.value)
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, np.ndarray):
            data = value.tolist() if self.whole else hash_bytes(np.ascontiguousarray(value).tobytes())
            return [str(value.dtype), list(value.shape), data]
        if isinstance(value, Decimal):
            return str(value)
        if isinstance(value, bytes):
            return [len(value), hash_bytes(value)]
        if isinstance(value, Mapping):
            return self._map(value)
        if isinstance(value, BaseModel):
            return self._model(value)
        names = _field_names(value)
        if names is not None:
            return {SAME.get(name, name): self(getattr(value, name)) for name in sorted(names)}
        if isinstance(value, set | frozenset):
            return sorted(map(self, value), key=dump)
        if isinstance(value, Iterable):
            return [self(item) for item in value]
        raise TypeError(f"nobody says what of a {type(value).__name__} is to be looked at")

    def _map(self, value: Mapping[Any, Any]) -> Any:
        if not all(isinstance(key, str) for key in value):
            return [[self(key), self(item)] for key, item in value.items()]
        return _rename_kind({_rename(key): self(item) for key, item in value.items()})

    def _model(self, value: BaseModel) -> Any:
        """The value itself is kept beside its form, so that nobody else gets its id meanwhile."""
        known = self.known.get(id(value))
        if known is None:
            names = sorted(type(value).model_fields)
            data = _rename_kind({SAME.get(name, name): self(getattr(value, name)) for name in names})
            known = self.known[id(value)] = value, data if self.whole else hash_bytes(dump(data).encode())
        return known[1]


def _rename(word: str) -> str:
    head, dot, rest = word.partition(".")
    return f"{SAME.get(head, head)}{dot}{rest}"


def _rename_kind(data: dict[str, Any]) -> dict[str, Any]:
    kind = data.get("kind")
    return {**data, "kind": _rename(kind)} if isinstance(kind, str) else data


def _field_names(value: Any) -> list[str] | None:
    """The public fields of a value that has some."""
    if isinstance(value, tuple):
        return list(value._fields) if hasattr(value, "_fields") else None
    if is_dataclass(value):
        return [field.name for field in fields(value) if not field.name.startswith("_")]
    names = getattr(type(value), "__struct_fields__", None)
    return None if names is None else [name for name in names if not name.startswith("_")]


def dump(data: Any) -> str:
    return json.dumps(data, separators=(",", ":"))


def hash_bytes(data: bytes) -> str:
    return sha256(data).hexdigest()


def take(value: Any, names: str) -> dict[str, Any]:
    """Some attributes of a value by their names; of "one|other" the one that it has, under the first name.

    So an attribute that is renamed is written "old|new", and hashes made before stay good.

    >>> take(Decimal("1.5"), "whole|real")
    {'whole': Decimal('1.5')}
    """
    if value is None:
        return {}
    out = {}
    for name in names.split():
        known = name.split("|")
        out[known[0]] = getattr(value, next((each for each in known if hasattr(value, each)), known[0]))
    return out
