"""Two contexts -> aligned rows; `patch` replays them. Lines of one text likewise.

The law, for any two contexts: `patch(a, diff_contexts(a, b)) == b`. The idea of a diff as frozen values is
sqlglot's, the law is nbdime's (STYLE §2.1, §2.6).
"""

from __future__ import annotations

from .contexts import Change, Diff, HeadChange, Insert, Keep, Remove, Row, diff_contexts, patch
from .lines import Line, TextDiff, diff_text
from .runs import KINDS, Run, find_runs, fold_runs

__all__ = [
    "KINDS",
    "Change",
    "Diff",
    "HeadChange",
    "Insert",
    "Keep",
    "Line",
    "Remove",
    "Row",
    "Run",
    "TextDiff",
    "diff_contexts",
    "diff_text",
    "find_runs",
    "fold_runs",
    "patch",
]
