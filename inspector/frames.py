"""Columns as a data frame, for those who have pandas; nothing here needs it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from .errors import FrameError


class Framed(ABC):
    """Base of what is a table: `to_columns` is written by its class, `to_frame` follows from it."""

    @abstractmethod
    def to_columns(self) -> Mapping[str, Sequence[Any]]:
        """The table as plain columns of one length, for a data frame of any kind."""

    def to_frame(self) -> Any:
        """The same as a pandas data frame. Raises `FrameError` where pandas is not installed."""
        try:
            pandas = import_module("pandas")
        except ImportError as error:
            raise FrameError(type(self).__name__) from error
        return pandas.DataFrame(dict(self.to_columns()))
