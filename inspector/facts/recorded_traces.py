"""The traces of all recorded compactions of a session, as `trace_recorded` returns them."""

from __future__ import annotations

from typing import Any, SupportsIndex, overload

from ..errors import EditError
from ..mixins import Framed
from ..text import html_text, printed
from .traced import Trace, TracedFact


class RecordedTraces(tuple[Trace, ...], Framed):
    """A tuple of traces, one per recorded compaction, that can also be indexed by a fact's form.

    >>> from inspector import open_demo, trace_recorded
    >>> traces = trace_recorded(open_demo())
    >>> [traced.outcome for traced in traces["offsets.py"]], len(traces)
    (['absent'], 1)
    >>> [row["kind"] for row in traces.to_dicts() if row["form"].endswith("offsets.py")][:1]
    ['file']
    """

    __slots__ = ()

    @overload
    def __getitem__(self, key: SupportsIndex) -> Trace: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Trace, ...]: ...
    @overload
    def __getitem__(self, key: str | tuple[str, str]) -> tuple[TracedFact, ...]: ...
    def __getitem__(
        self, key: SupportsIndex | slice | str | tuple[str, str]
    ) -> Trace | tuple[Trace, ...] | tuple[TracedFact, ...]:
        """Return a trace by its number; for a form, the fact in each trace that knows it.

        Raises:
            EditError: No trace knows the fact.
        """
        if isinstance(key, str | tuple):
            traces = []
            for trace in self:
                try:
                    traces.append(trace[key])
                except EditError as error:
                    unknown = error
            if not traces and self:
                raise unknown
            return tuple(traces)
        return super().__getitem__(key)

    def to_columns(self) -> dict[str, list[Any]]:
        """Return the columns of all traces, after the number of the compaction from 1."""
        columns = [trace.to_columns() for trace in self]
        numbers = [number for number, part in enumerate(columns, 1) for _ in part["kind"]]
        names = columns[0] if columns else ()
        return {
            "compaction": numbers,
            **{name: [x for part in columns for x in part[name]] for name in names},
        }

    @printed
    def __repr__(self) -> str:
        if not self:
            return "This session records no compaction."
        return "\n".join(f"{number}  {trace!r}" for number, trace in enumerate(self, 1))

    def _repr_html_(self) -> str:
        return f"<pre>{html_text(repr(self))}</pre>"
