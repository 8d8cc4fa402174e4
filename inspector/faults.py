"""Isolate unexpected exceptions, so that one defect does not take a whole session down.

An extractor of facts, a lint check and a section of an exported page each run inside `Faults.isolate`. An
exception there is a defect of this package: it is recorded with the part and the block it happened in, shown
to the user, and the rest of the work continues. If the environment variable INSPECTOR_STRICT is set, the
exception is raised.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import NamedTuple

from .errors import Stopped

STRICT = "INSPECTOR_STRICT"
"""Environment variable: if set and not empty, exceptions are raised and not isolated."""


class Fault(NamedTuple):
    """An unexpected exception that was isolated.

    Attributes:
        part: What is missing: a kind of fact or of block, a lint code, a section of a page.
        place: The block that was read, such as "m3/0"; "" if the exception belongs to no block.
        error: The exception's class and the file and line that raised it. Its message is left out, because it
            may quote the session.
    """

    part: str
    place: str
    error: str

    def __str__(self) -> str:
        return f"{self.part}{' of ' + self.place if self.place else ''}: {self.error}"


class Faults(list[Fault]):
    """The faults of one piece of work, in the order they happened, each once."""

    @contextmanager
    def isolate(self, part: str, place: object = "") -> Iterator[None]:
        """Record an exception of the body and continue after it.

        Args:
            part: What the body works out.
            place: The block it reads, if it is about one.

        Raises:
            Stopped: If the work was stopped.
            Exception: Any exception of the body, if INSPECTOR_STRICT is set.

        >>> import os
        >>> strict, faults = os.environ.pop("INSPECTOR_STRICT", ""), Faults()
        >>> with faults.isolate("file", "m1/0"):
        ...     [][0]
        >>> faults[0].part, faults[0].place, faults[0].error.partition(" ")[0]
        ('file', 'm1/0', 'IndexError')
        >>> os.environ["INSPECTOR_STRICT"] = strict
        """
        try:
            yield
        except Stopped:
            raise
        except Exception as error:
            if os.environ.get(STRICT):
                raise
            frame = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{PurePath(frame.filename).name}:{frame.lineno}"
            fault = Fault(part, str(place), f"{type(error).__name__} ({where})")
            if fault not in self:
                self.append(fault)
