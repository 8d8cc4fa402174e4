"""Values that can be drawn as a chart to take away.

What draws them stands on a floor above them, so it is handed in from above: `inspector` itself sets
`drawers`. The chart library is imported when the first chart is asked for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from .errors import FrameError

drawers: list[Callable[..., Any]] = []
"""What draws a value; the last one counts."""


class Drawable:
    """Base of `Ledger`, `Plan`, `Run` and `Decay`."""

    def figure(self, kind: str = "", *, dark: bool = False) -> Any:
        """A plotly figure, drawn as the workbench draws: "sections" of a ledger, "sections" (before and
        after) or the "flow" of a plan, the "sawtooth" of a run, the "decay" of a decay. The first named is
        what "" gives.

        Hovering tells exact numbers and where they come from. Raises `FigureError` for another kind, and
        when plotly is not installed.

        >>> from inspector import count_tokens, make_plan, open_bundled
        >>> session = open_bundled()
        >>> make_plan(session, count_tokens(session)).figure("flow").data[0].type
        'sankey'
        """
        return drawers[-1](self, kind, dark=dark)


answers: dict[str, Callable[[Any], Any]] = {}
"""What answers, by the name of what is asked."""


def ask(name: str, value: Any) -> Any:
    """What is known above of a value."""
    return answers[name](value)


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
