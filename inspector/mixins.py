"""Base classes of values (figures, data frames, HTML for notebooks), and verbs that a file above answers."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from .errors import FrameError
from .text import html_text

HOOKS = {
    "answer": "inspector.facts.asking:ask_facts",
    "answer why": "inspector.facts.asking:explain_question",
    "compactions": "inspector.facts.compactions:list_compactions",
    "context": "inspector.planning.assemble:build_context",
    "diff": "inspector.planning.diff.contexts:diff_plan",
    "explanation": "inspector.facts.explain:find_explanation",
    "facts": "inspector.facts.facts:find_facts",
    "fixes": "inspector.facts.fixes:find_fixes",
    "figure": "inspector.workbench.charts.figures:draw_figure",
    "line": "inspector.planning.plan_words:write_line",
    "notes": "inspector.planning.plan_words:describe_plan",
    "part": "inspector.formats.parts:unpack_part",
    "outside": "inspector.tokens.prediction:find_not_in_file",
    "recipe": "inspector.planning.plan_words:write_recipe",
    "sarif": "inspector.facts.lint.report:write_sarif",
    "spec": "inspector.planning.plan_words:write_spec",
    "trace": "inspector.facts.trace:trace_plan",
    "verdict": "inspector.planning.decision:decide",
    "written": "inspector.summaries.write:checkpoint_from_text",
}
"""Methods of values that functions of higher modules implement, by name: they are imported at the first call.
There are no other imports of higher modules. The annotation of the method has the type of the result."""


def ask(name: str, *arguments: Any, **options: Any) -> Any:
    """Call a function of a higher module by name; the module is imported at the first call."""
    module, _, function = HOOKS[name].partition(":")
    return getattr(import_module(module), function)(*arguments, **options)


_LINK = re.compile(r"://|\bwww\.|\bdata:")


class Printable:
    """Base of values whose `repr` contains transcript text."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        """Return the `repr` as HTML if a notebook would make links of it; None to show it as plain text.

        >>> from inspector.session.blocks import Text
        >>> Text(text="See https://example.org")._repr_html_()
        '<pre>Text(kind=&#x27;text&#x27;, text=&#x27;See https://example.org&#x27;)</pre>'
        >>> Text(text="See a.py")._repr_html_() is None
        True
        """
        text = repr(self)
        return f"<pre>{html_text(text)}</pre>" if _LINK.search(text) else None


class Drawable(Printable):
    """Base of `Ledger`, `Plan`, `Run` and `Decay`."""

    def figure(self, kind: str = "", *, dark: bool = False) -> Any:
        """Draw a plotly figure as in the workbench: "sections" of a ledger, "sections" (before and after) or
        the "flow" of a plan, the "sawtooth" of a run, the "decay" of a decay. The default is the first kind.

        The tooltips have exact numbers and their sources. Raises `FigureError` for another kind, or if plotly
        is not installed.

        >>> from inspector import count_tokens, make_plan, open_demo
        >>> session = open_demo()
        >>> make_plan(session, count_tokens(session)).figure("flow").data[0].type
        'sankey'
        """
        return ask("figure", self, kind, dark=dark)


class Framed(Printable, ABC):
    """Base of everything that is a table: a class writes `to_columns`, the rest follows from it.

    >>> from inspector import open_demo
    >>> open_demo().find_facts("offsets.py", most=1).to_dicts()[0]["kind"]
    'file'
    """

    __slots__ = ()

    @abstractmethod
    def to_columns(self) -> Mapping[str, Sequence[Any]]:
        """Return the table as plain columns of one length, for a data frame of any kind."""

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return the table as a list of rows, each a dict by column name."""
        columns = self.to_columns()
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def to_pandas(self) -> Any:
        """Return the table as a pandas data frame. Raises `FrameError` if pandas is not installed."""
        try:
            pandas = import_module("pandas")
        except ImportError as error:
            raise FrameError(type(self).__name__) from error
        return pandas.DataFrame(dict(self.to_columns()))

    def to_frame(self) -> Any:
        """Return `to_pandas()`, under its earlier name."""
        return self.to_pandas()
