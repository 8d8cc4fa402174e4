"""Every error this package raises on purpose. Each class takes values and writes its own sentence.

    InspectorError
    ├── ReadError              the bytes are no session any reader understands
    │   ├── EmptySession       a transcript was recognised, but it holds no turn
    │   └── ManifestVersion    a session manifest newer than this package
    ├── CounterError           a token counter that does not exist, or whose ranks are missing or altered
    ├── PolicyError            a policy that does not exist, or settings it does not accept
    ├── EditError              an edit that points at nothing in this session
    ├── PatchError             a diff that does not belong to the context it is applied to
    ├── RedactionError         whether a text holds a secret could not be told, so it is not handed on
    ├── FigureError            a figure that nothing draws, or no plotly to draw it with
    └── Stopped                long work was told to stop before it was finished

An outcome is not an error: a plan that cannot reach its target is a `Plan` with `fits=False`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class InspectorError(Exception):
    """Base of all errors of this package."""


class ReadError(InspectorError):
    """No reader understood the bytes.

    `tried` holds (reader name, reason it refused) in the order they were asked.
    """

    def __init__(self, name: str, tried: Sequence[tuple[str, str]] = (), detail: str = "") -> None:
        self.name, self.tried, self.detail = name, tuple(tried), detail
        super().__init__(name, self.tried, detail)

    def __str__(self) -> str:
        asked = "; ".join(f"{reader}: {reason}" for reader, reason in self.tried)
        parts = [f"{self.name} is not a session this package can read", self.detail, asked]
        return " — ".join(part for part in parts if part)


class EmptySession(ReadError):
    """The format was recognised, but nobody says anything in it."""

    def __str__(self) -> str:
        asked = ", ".join(reader for reader, _ in self.tried)
        more = f" ({self.detail})" if self.detail else ""
        return f"{self.name} was recognised as {asked}, but it holds no turn{more}"


class ManifestVersion(ReadError):
    """A session manifest written by a newer package."""

    def __str__(self) -> str:
        return f"{self.name} is a session manifest of a version this package does not know: {self.detail}"


class CounterError(InspectorError):
    """A token counter cannot be had."""

    def __init__(self, name: str, reason: str, known: Iterable[str] = ()) -> None:
        self.name, self.reason, self.known = name, reason, tuple(known)
        super().__init__(name, reason, self.known)

    def __str__(self) -> str:
        hint = f"; known counters: {', '.join(self.known)}" if self.known else ""
        return f"token counter {self.name!r}: {self.reason}{hint}"


class PolicyError(InspectorError):
    """A policy, or a setting of one of its rules, cannot be used."""

    def __init__(self, name: str, reason: str, known: Iterable[str] = ()) -> None:
        self.name, self.reason, self.known = name, reason, tuple(known)
        super().__init__(name, reason, self.known)

    def __str__(self) -> str:
        hint = f"; known: {', '.join(self.known)}" if self.known else ""
        return f"policy {self.name!r}: {self.reason}{hint}"


class EditError(InspectorError):
    """An edit names an entry, a block or a place that is not in the context being planned."""

    def __init__(self, edit: str, target: str, reason: str) -> None:
        self.edit, self.target, self.reason = edit, target, reason
        super().__init__(edit, target, reason)

    def __str__(self) -> str:
        return f"{self.edit} {self.target!r}: {self.reason}"


class PatchError(InspectorError):
    """A diff was applied to a context it was not made from."""

    def __init__(self, row: int, reason: str) -> None:
        self.row, self.reason = row, reason
        super().__init__(row, reason)

    def __str__(self) -> str:
        return f"row {self.row} of the diff does not fit this context: {self.reason}"


class RedactionError(InspectorError):
    """Secrets could not be looked for, or one was found where none may be: nothing is written."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)

    def __str__(self) -> str:
        return f"Nothing was written, because it may hold secrets: {self.reason}."


class FigureError(InspectorError):
    """A figure cannot be drawn."""

    def __init__(self, kind: str, reason: str, known: Iterable[str] = ()) -> None:
        self.kind, self.reason, self.known = kind, reason, tuple(known)
        super().__init__(kind, reason, self.known)

    def __str__(self) -> str:
        hint = f"; known: {', '.join(self.known)}" if self.known else ""
        return f"figure {self.kind!r}: {self.reason}{hint}"


class Stopped(InspectorError):
    """Long work was told to stop. Raise it from the `tell` of `count_tokens`, `replay` or `compare_policies`:
    nothing is left half done.

    >>> str(Stopped())
    'Stopped before it was finished.'
    """

    def __str__(self) -> str:
        return "Stopped before it was finished."
