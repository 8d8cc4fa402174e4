"""Values computed once and cached with the object they were computed from.

Several threads plan on one ledger at a time: the user's questions, the summary that is being written, the
main thread. Every `Memory` has one lock, held while a value is looked up or stored and never while one is
computed: so a slow column stops no other, and columns may ask for one another in any order. If two threads
compute the same value at once, both get the first one stored.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, Generic, TypeVar, cast

T = TypeVar("T")


class Memory:
    """The cache of a ledger or a moment for the values of memos, by memo and key.

    A copy begins empty: the values belong to the original.
    """

    __slots__ = ("lock", "values")

    def __init__(self) -> None:
        self.lock = Lock()
        self.values: dict[object, dict[Hashable, Any]] = {}

    def clear(self) -> None:
        """Forget all values. They are computed again when they are asked for."""
        with self.lock:
            self.values = {}

    def __reduce__(self) -> tuple[type[Memory], tuple[()]]:
        return Memory, ()


class Same:
    """A value as a key, compared by identity. The key keeps the value alive."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


class Memo(Generic[T]):
    """One kind of value, cached with its owner by key; only this memo can access it.

    Modules of higher layers make memos of their own for values that lower layers do not know. At most `limit`
    values per owner are kept, the last used ones; all without a limit.

    >>> from inspector import count_tokens, open_demo
    >>> lengths: Memo[int] = Memo()
    >>> ledger = count_tokens(open_demo())
    >>> lengths.of(ledger, lambda: len(ledger)) == lengths.of(ledger, lambda: 0)
    True
    """

    __slots__ = ("_limit",)

    def __init__(self, limit: int | None = None) -> None:
        self._limit = limit

    def of(self, owner: Any, make: Callable[[], T], *key: Hashable) -> T:
        """Return the value cached with `owner` under a key; `make` computes it if there is none yet."""
        memory: Memory = owner.memory
        with memory.lock:
            values = memory.values.setdefault(self, {})
            if key in values:
                if self._limit is not None:
                    values[key] = values.pop(key)  # the last one asked for is the last one dropped
                return cast("T", values[key])
        value = make()
        with memory.lock:
            stored = values.setdefault(key, value)
            while self._limit is not None and len(values) > self._limit:
                del values[next(iter(values))]
        return cast("T", stored)

    def known(self, owner: Any, *key: Hashable) -> T | None:
        """Return the value cached with `owner` under a key, None if it is not computed yet."""
        memory: Memory = owner.memory
        with memory.lock:
            return memory.values.get(self, {}).get(key)


class column(Generic[T]):  # noqa: N801 - used as a decorator, like property
    """A property computed once, like `functools.cached_property`, but of two threads the first one stores.

    `cached_property` holds one lock for all instances up to Python 3.11, and none at all from 3.12 on.
    """

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make, self._name, self.__doc__ = make, make.__name__, make.__doc__

    def __get__(self, owner: Any, kind: type) -> T:
        if owner is None:  # looked up on the class
            return cast("T", self)
        value = self._make(owner)
        with owner.memory.lock:
            return cast("T", vars(owner).setdefault(self._name, value))
