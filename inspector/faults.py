"""Isolate unexpected exceptions, so that one defect does not take a whole session down.

An extractor of facts, a lint check and a section of an exported page each run inside `Faults.isolate`. An
exception there is a defect of this package: it is recorded with the part and the block it happened in, shown
to the user, and the rest of the work continues. If the environment variable INSPECTOR_STRICT is set, the
exception is raised.
"""

from __future__ import annotations

import os
import traceback
from pathlib import PurePath
from types import TracebackType
from typing import NamedTuple

from .errors import Stopped

STRICT = "INSPECTOR_STRICT"
"""Environment variable: if set and not empty, exceptions are raised and not isolated."""


class Fault(NamedTuple):
    """An unexpected exception that was isolated, or a text that was too long to be read whole.

    Attributes:
        part: What is missing: a kind of fact or of block, a lint code, a section of a page.
        place: The block that was read, such as "m3/0"; "" if the exception belongs to no block.
        error: The exception's class and the file and line that raised it. Its message is left out, because it
            may quote the session. For a long text, which part of it was read.
    """

    part: str
    place: str
    error: str

    def __str__(self) -> str:
        return f"{self.part}{' of ' + self.place if self.place else ''}: {self.error}"


class Faults(list[Fault]):
    """The faults of one piece of work, in the order they happened, each once."""

    def isolate(self, part: str, place: object = "") -> Isolation:
        """Return a context manager that records an exception of its body and continues after it.

        Args:
            part: The name of the result that the body computes.
            place: The block that it reads, if any.

        >>> import os
        >>> strict, faults = os.environ.pop("INSPECTOR_STRICT", ""), Faults()
        >>> with faults.isolate("file", "m1/0"):
        ...     [][0]
        >>> faults[0].part, faults[0].place, faults[0].error.partition(" ")[0]
        ('file', 'm1/0', 'IndexError')
        >>> os.environ["INSPECTOR_STRICT"] = strict
        """
        return Isolation(self, part, place)


class Isolation(NamedTuple):
    """The context manager of `Faults.isolate`.

    `Stopped` is raised, and any exception is if INSPECTOR_STRICT is set.
    """

    faults: Faults
    part: str
    place: object

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(error, Exception) or isinstance(error, Stopped) or os.environ.get(STRICT):
            return False
        frame = traceback.extract_tb(trace)[-1]
        where = f"{PurePath(frame.filename).name}:{frame.lineno}"
        fault = Fault(self.part, str(self.place), f"{type(error).__name__} ({where})")
        if fault not in self.faults:
            self.faults.append(fault)
        return True
