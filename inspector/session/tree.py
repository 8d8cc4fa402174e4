"""A session's entries as columns, the same at every leaf. Structure only, no tokens.

The input is the entries, the output a `Tree`. It is built in one pass over the entries, because most of the
time is spent reading them from memory; every live view is derived from its columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .blocks import fields_of, is_run_by_provider
from .entries import CUT_SHORT, SYNTHETIC

if TYPE_CHECKING:
    from .entries import Entry

Ints = NDArray[np.int32]
Bools = NDArray[np.bool_]
Figures = NDArray[np.float64]
ROLES = ("user", "assistant", "tool", "system", "other")
USER, ASSISTANT, TOOL, SYSTEM, OTHER = range(len(ROLES))
SORTS = ("message", "compaction", "branch_summary", "micro", "note")
MESSAGE, COMPACTION, BRANCH_SUMMARY, MICRO, NOTE = range(len(SORTS))
FIGURES = ("input", "cache_read", "cache_write", "output")
_FIGURES = itemgetter(*FIGURES)
_ROLE = {role: code for code, role in enumerate(ROLES)}
_SORT = {sort: code for code, sort in enumerate(SORTS)}


@dataclass(frozen=True, eq=False)
class Tree:
    """Columns over the n entries and r blocks of a file, in file order.

    index   dict         position of an entry by its id or alias; if an id occurs twice, the last one counts
    parent  list         position of each entry's parent, None if it is not in the file
    role    int32[n]     index into ROLES
    sort    int32[n]     index into SORTS: the entry's kind
    opens   bool[n]      the entry is a prompt and opens a turn
    bounded int32[·]     entries that record a compaction, whole or micro
    model   int32[n]     index into `models` of the model that wrote the entry, -1 if none is named
    reports int32[k]     entries with the provider's usage
    usages  float64[k,4] of each the figures of `FIGURES`, as reported; NaN if a value is not a float
    totals  float64[k]   … and the total, 0 if it is not reported
    short   bool[k]      … and whether the reply was aborted, or failed
    chain   int32[n]     the first of the entries before this one that are each the parent of the next
    start   int32[n+1]   blocks of entry i are rows start[i] … start[i+1]
    calls   dict         the id of a tool call to its number
    call    int32[r]     number of the call that a block makes or answers, -1 for other blocks
    answers bool[r]      the block is a tool's output
    failed  bool[r]      … that reports an error
    server  bool[r]      the block is a call or an output of a tool that the provider runs itself
    unknown int          number of unknown blocks
    models  tuple        the models that entries name

    >>> from inspector import read_session
    >>> call = {"type": "tool_use", "id": "t1", "name": "ls", "input": {}}
    >>> answer = {"type": "tool_result", "tool_use_id": "t1", "content": "no such folder", "is_error": True}
    >>> tree: Tree = read_session([{"role": "assistant", "content": [call]},
    ...                            {"role": "user", "content": [answer]}]).tree
    >>> tree.index, tree.parent
    ({'m1': 0, 'm2': 1}, [None, 0])
    >>> tree.call.tolist(), tree.answers.tolist(), tree.failed.tolist()
    ([0, 0], [False, True], [False, True])
    """

    index: dict[str, int]
    parent: list[int | None]
    role: Ints
    sort: Ints
    opens: Bools
    bounded: Ints
    model: Ints
    reports: Ints
    usages: Figures
    totals: Figures
    short: Bools
    chain: Ints
    start: Ints
    calls: dict[str, int]
    call: Ints
    answers: Bools
    failed: Bools
    server: Bools
    unknown: int
    models: tuple[str, ...]


def grow_tree(entries: tuple[Entry, ...]) -> Tree:
    """The columns of these entries."""
    aliases: dict[str, int] = {}
    ids: list[str] = []
    parents: list[str | None] = []
    role: list[int] = []
    sort: list[int] = []
    opens: list[bool] = []
    bounded: list[int] = []
    wrote: list[int] = []
    models: dict[str, int] = {}
    reports: list[int] = []
    figures: list[float] = []
    totals: list[float] = []
    short: list[bool] = []
    start = [0]
    calls: dict[str, int] = {}
    call: list[int] = []
    answers: list[bool] = []
    failed: list[int] = []
    served: list[int] = []
    unknown = 0
    for i, entry in enumerate(entries):
        fields = fields_of(entry)
        ids.append(fields["id"])
        for alias in fields["aliases"]:
            aliases[alias] = i
        parents.append(fields["parent"])
        code, model, usage = _ROLE.get(fields["role"], OTHER), fields["model"], fields["usage"]
        role.append(code)
        # A message that no model wrote is shown to the user only.
        unsent = model == SYNTHETIC and code == ASSISTANT and fields["kind"] == "message"
        sort.append(NOTE if unsent else _SORT[fields["kind"]])
        opens.append(code == USER and entry.opens_turn)
        if fields["boundary"] is not None:
            bounded.append(i)
        wrote.append(models.setdefault(model, len(models)) if model else -1)
        if usage is not None:
            reports.append(i)
            figures += _FIGURES(fields_of(usage))
            totals.append(fields_of(usage)["total"] or 0)
            short.append(fields["stop_reason"] in CUT_SHORT)
        for block in fields["blocks"]:
            number, values = -1, fields_of(block)
            answered = False
            if values["kind"] == "tool_call":
                number = calls.setdefault(values["id"], len(calls))
                if values["provider_fields"] is not None and is_run_by_provider(block):
                    served.append(len(call))
            elif values["kind"] == "tool_output":
                answered = True
                number = calls.setdefault(values["call_id"], len(calls))
                if values["is_error"]:
                    failed.append(len(call))
                if values["provider_fields"] is not None:
                    served.append(len(call))
            elif values["kind"] == "unknown":
                unknown += 1
            call.append(number)
            answers.append(answered)
        start.append(len(call))
    index = aliases | {name: i for i, name in enumerate(ids)}
    parent = [None if name is None else index.get(name) for name in parents]
    return Tree(
        index=index,
        parent=parent,
        role=np.array(role, np.int32),
        sort=np.array(sort, np.int32),
        opens=np.array(opens, bool),
        bounded=np.array(bounded, np.int32),
        model=np.array(wrote, np.int32),
        reports=np.array(reports, np.int32),
        usages=_read_figures(figures).reshape(-1, len(FIGURES)),
        totals=_read_figures(totals),
        short=np.array(short, bool),
        chain=_chain(parent),
        start=np.array(start, np.int32),
        calls=calls,
        call=np.array(call, np.int32),
        answers=np.array(answers, bool),
        failed=np.isin(np.arange(len(call)), failed),
        server=np.isin(np.arange(len(call)), served),
        unknown=unknown,
        models=tuple(models),
    )


def _read_figures(figures: list[float]) -> Figures:
    try:
        return np.array(figures, np.float64)
    except OverflowError:
        return np.array(list(map(_to_float, figures)), np.float64)


def _to_float(figure: float) -> float:
    """NaN for a whole number that is larger than any float."""
    try:
        return float(figure)
    except OverflowError:
        return nan


def _chain(parent: list[int | None]) -> Ints:
    """Where each stretch of entries begins that follow one another without a branch."""
    at = np.arange(len(parent), dtype=np.int32)
    above = np.array([-1 if i is None else i for i in parent], np.int32)
    begins = above != at - 1
    begins[:1] = True
    chain: Ints = np.maximum.accumulate(np.where(begins, at, 0), dtype=np.int32)
    return chain
