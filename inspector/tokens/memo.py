"""Values worked out once and kept with what they were worked out of.

Several threads plan on one ledger at a time: the user's questions, the summary that is being written, the
main thread. Every `Memory` has one lock, held while a value is looked up or stored and never while one is
worked out: so a slow column stops no other, and columns may ask for one another in any order. Where two
threads work out the same value at once, the first one stored is what both of them get.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, Protocol, Self, TypeVar, cast, overload

T = TypeVar("T")


class Memory:
    """The place in a ledger or a moment where its memos keep their values.

    A copy begins empty, for what was worked out belongs to the original.
    """

    __slots__ = ("_values", "lock")

    def __init__(self) -> None:
        self.lock = Lock()
        self._values: dict[object, dict[Hashable, object]] = {}

    def values_of(self, memo: object) -> dict[Hashable, object]:
        """What one memo keeps here, by key. Only for who holds the lock."""
        return self._values.setdefault(memo, {})

    def clear(self) -> None:
        """Forget all of it. What is asked for again is worked out again."""
        with self.lock:
            self._values = {}

    def __reduce__(self) -> tuple[type[Memory], tuple[()]]:
        return Memory, ()


class Same:
    """A value as a key: this very one, whatever it equals. It lives as long as the key does."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


class Owner(Protocol):
    """What values can be kept with: a `Ledger` or a `Moment`."""

    @property
    def memory(self) -> Memory: ...


class Memo(Generic[T]):
    """One kind of value, kept with its owner by key: a slot that nobody can reach without the memo itself.

    A room that comes later makes a memo of its own for what lower rooms know nothing of. Of one owner at most
    `limit` values are kept, those that were asked for last; all of them without a limit.

    >>> from inspector import count_tokens, open_demo
    >>> lengths: Memo[int] = Memo()
    >>> ledger = count_tokens(open_demo())
    >>> lengths.of(ledger, lambda: len(ledger)) == lengths.of(ledger, lambda: 0)
    True
    """

    __slots__ = ("_limit",)

    def __init__(self, limit: int | None = None) -> None:
        self._limit = limit

    def of(self, owner: Owner, make: Callable[[], T], *key: Hashable) -> T:
        """The value kept with `owner` under a key; `make` works it out where there is none yet."""
        memory = owner.memory
        with memory.lock:
            values = memory.values_of(self)
            if key in values:
                if self._limit is None:
                    return cast("T", values[key])
                values[key] = values.pop(key)  # the last one asked for is the last one dropped
                return cast("T", values[key])
        value = make()
        with memory.lock:
            stored = values.setdefault(key, value)
            while self._limit is not None and len(values) > self._limit:
                del values[next(iter(values))]
        return cast("T", stored)


OwnerT = TypeVar("OwnerT", bound=Owner)


class column(Generic[OwnerT, T]):  # noqa: N801 - used as a decorator, like property
    """A property worked out once, like `functools.cached_property`, but of two threads the first one stores.

    `cached_property` holds one lock for all instances up to Python 3.11, and none at all from 3.12 on.
    """

    def __init__(self, make: Callable[[OwnerT], T]) -> None:
        self._make = make
        self._name = make.__name__
        self.__doc__ = make.__doc__

    @overload
    def __get__(self, owner: None, kind: type[OwnerT]) -> Self: ...

    @overload
    def __get__(self, owner: OwnerT, kind: type[OwnerT]) -> T: ...

    def __get__(self, owner: OwnerT | None, kind: type[OwnerT]) -> Self | T:
        if owner is None:
            return self
        value = self._make(owner)
        with owner.memory.lock:
            return cast("T", vars(owner).setdefault(self._name, value))
