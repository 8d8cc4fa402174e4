"""Find the essential facts: a person would miss them in the work that follows a point of the path.

Essential are the files that were changed and are not settled (`settled.py`), typed rules and choices, what a
person tried before, what was asked last, open to-dos, and the errors of the last failing outputs. Scratch
files, directories, requests that were answered, and what only a harness says are not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..session.blocks import BlockRef, ToolCall, ToolOutput
from ..session.session import Session
from ..session.speakers import is_refusal
from ..session.toolcalls.canonical_path import rooted
from ..session.toolcalls.core_command import core_command, name_command, split_core
from ..session.toolcalls.tool_names import bare_name, is_shell
from .extract.collect import BY, KIND, OPERATIONS, OccurrenceColumns
from .extract.statements import opens_order
from .results import is_check, is_part_of
from .settled import CallsOfPath, is_request
from .terms import read_terms
from .withdrawn import find_withdrawn

REASONS = (
    *("", "file changed and still there", "rule", "choice", "open to-do", "last error", "failing test"),
    *("asked last", "tried before"),
)
_FILE, _RULE, _CHOICE, _TODO, _ERROR, _TEST, _ASKED, _TRIED = range(1, len(REASONS))
SCRATCH = re.compile(
    r"^(?:/private)?/(?:tmp|var/tmp|var/folders|dev)/|^\$\{?TE?MP|[/\\]AppData[/\\]Local[/\\]Temp[/\\]"
    r"|(?:^|/)\.(?:claude|codex|gemini|cursor|pi|flue)/(?:plans?|tmp|todos|projects)/"
)
"""Temporary files, and a harness's own working files."""
_FAILED_TEST = re.compile(r"(?:--- )?FAIL(?:ED)?:?\s+\S|\(fail\) \S|[×✗✖✘] \S|not ok \d")
_TRIED_BEFORE = re.compile(
    r"(?i)\b(?:i|we)\b(?:['’]ve| have| had)?(?: already| once| also)? (?:tried|attempted)\b"
    r"|\b(?:i|we)(?:['’]ve| have)? already \w+ed\b"
)
_PRAISES = re.compile(
    r"(?i)\W*(?:great|nice|perfect|awesome|excellent|brilliant|thanks?|thank you|well done"
    r"|good (?:job|work|\w+(?=\W*$))"
    r"|(?:that |this |it )?looks? (?:good|great|fine)|(?:i )?love (?:it|this|that))\b"
    r"(?!.*(?:\b(?:but|next|please|then|let's|still|though|except|can|could)\b|[,.;] ?now\b|\?))"
)
"""A sentence that begins with praise, and has no word of a request."""
_VERDICT = re.compile(r"exit code -?\d+$|FAIL(?:ED)?$|Found \d+ errors?")
"""An error that says only that something failed."""
_LAST = 3
"""Failing outputs whose errors are essential, the last ones, and errors of each; of failing tests all."""


class Failure(NamedTuple):
    """A failing output: its place on the path, what ran ("" for a tool that is no shell), the output, and the
    numbers of the errors reported in it."""

    at: int
    command: str
    output: BlockRef
    errors: tuple[int, ...]


def find_essential(
    calls: CallsOfPath,
    keys: Sequence[tuple[str, str]],
    kinds: NDArray[np.uint8],
    columns: OccurrenceColumns,
    failures: Sequence[Failure],
) -> NDArray[np.uint8]:
    """Return for each fact its index in REASONS, as it is at the end of the path of `calls`.

    `keys` are the kind and the form of each fact, `kinds` and `columns` are those of `Facts`."""
    session = calls.session
    here = session.path_index[columns.entry] >= 0
    reasons = np.zeros(len(keys), np.uint8)
    typed = here & (columns.by == BY.index("user"))
    sentences = [KIND[kind] for kind in ("constraint", "choice", "statement", "todo")]
    rows = np.flatnonzero(typed & np.isin(kinds[columns.fact], sentences))
    turns = np.flatnonzero(session.tree.opens[session.trail])
    begin = turns[-1] if len(turns) > 1 else 0  # the first turn begins with the path
    last = set(columns.fact[rows[session.path_index[columns.entry[rows]] >= begin]].tolist())
    if _ends_with_answer(session):
        last = {fact for fact in last if keys[fact][1][-1:] != "?" or is_request(keys[fact][1])}
    for fact in np.unique(columns.fact[rows]).tolist():
        reasons[fact] = _find_reason(*keys[fact], fact in last)
    rows = rows[np.lexsort((columns.start[rows], columns.block[rows], columns.entry[rows]))]
    typed_facts = columns.fact[rows].tolist()
    for at in find_withdrawn([keys[fact] for fact in typed_facts]):
        reasons[typed_facts[at]] = 0
    for fact in _find_changed(calls, keys, kinds, columns, here):
        reasons[fact] = _FILE
    todos = calls.find_open_todos()
    if todos is not None:
        for fact in np.flatnonzero(kinds == KIND["todo"]).tolist():
            reasons[fact] = _TODO if keys[fact][1] in todos else 0
    for number, failure in enumerate(failures):
        tests = [fact for fact in failure.errors if _FAILED_TEST.match(keys[fact][1])]
        telling = [fact for fact in failure.errors if not _VERDICT.match(keys[fact][1])]
        if number >= len(failures) - _LAST:
            reasons[(telling or list(failure.errors))[:_LAST]] = _ERROR
        reasons[tests] = _TEST
    return reasons


def _ends_with_answer(session: Session) -> bool:
    """Whether the last message of the path is an answer in words, without a call."""
    for at in reversed(session.path):
        entry = session.entries[at]
        if entry.role in ("user", "assistant", "tool") and entry.blocks and not entry.meta:
            kinds = {block.kind for block in entry.blocks}
            return entry.role == "assistant" and "text" in kinds and "tool_call" not in kinds
    return False


@lru_cache(1 << 14)
def _find_reason(kind: str, form: str, is_last: bool) -> int:
    """Return why a sentence that a person typed is essential, 0 if it is not; `is_last` if in the last turn.

    A request is answered when the person goes on to another turn."""
    if kind == "todo":
        return _TODO
    if kind != "statement":
        is_answered = not is_last and is_request(form)
        return 0 if is_answered else _CHOICE if kind == "choice" else _RULE
    if is_last and not _is_praise(form) and sum(term.sort == "word" for term in read_terms(form)) > 1:
        return _ASKED
    return _TRIED if _TRIED_BEFORE.search(form) else 0


def _is_praise(form: str) -> bool:
    """Whether a sentence praises and asks for nothing: "Great, it works", but not "Nice, go on"."""
    clauses = form.lower().split(", ")
    return _PRAISES.match(form) is not None and not any(map(opens_order, clauses[1:]))


def _find_changed(
    calls: CallsOfPath,
    keys: Sequence[tuple[str, str]],
    kinds: NDArray[np.uint8],
    columns: OccurrenceColumns,
    here: NDArray[np.bool_],
) -> Iterator[int]:
    """Yield the files that were created or edited and are not settled since, without scratch files."""
    codes = [OPERATIONS.index(name) for name in ("created", "edited", "deleted")]
    rows = np.flatnonzero(here & np.isin(columns.operation, codes) & (kinds[columns.fact] == KIND["file"]))
    changed: dict[int, list[int]] = {}
    session = calls.session
    for row in rows.tolist():
        changed.setdefault(int(columns.fact[row]), []).append(row)
    for fact, changes in changed.items():
        form = keys[fact][1]
        if columns.operation[changes[-1]] == codes[2] or SCRATCH.search(form):
            continue
        outside = form[:1] == "~" or (session.cwd is not None and (rooted(form) or form[:3] == "../"))
        if outside and all(_is_shell_call(session, columns, row) for row in changes):
            continue  # such as `echo x > ~/note`
        refs = [BlockRef(session.entries[columns.entry[row]].id, int(columns.block[row])) for row in changes]
        if not calls.settle(form, refs):
            yield fact


def _is_shell_call(session: Session, columns: OccurrenceColumns, row: int) -> bool:
    block = session.entries[columns.entry[row]].blocks[columns.block[row]]
    return isinstance(block, ToolCall) and is_shell(block.name)


def find_failures(
    session: Session, kinds: NDArray[np.uint8], columns: OccurrenceColumns
) -> list[tuple[Failure, int]]:
    """Return the failing outputs on the path in order, each with the index on the path of the output by which
    its call succeeded later: the length of the path if it did not. See `find_essential` for the columns."""
    errors = (kinds[columns.fact] == KIND["error"]) & (columns.by == BY.index("tool"))
    reported: dict[tuple[int, int], list[int]] = {}
    for row in np.flatnonzero(errors).tolist():
        spot = int(columns.entry[row]), int(columns.block[row])
        reported.setdefault(spot, []).append(int(columns.fact[row]))
    calls: dict[str, tuple[str, str]] = {}
    failures, ends = list[Failure](), list[int]()
    unsettled: dict[str, list[tuple[int, _Command]]] = {}  # by the name of the call
    for at, position in enumerate(session.path):
        for number, block in enumerate(session.entries[position].blocks):
            if isinstance(block, ToolCall):
                calls[block.id] = _name_call(block)
            elif isinstance(block, ToolOutput) and block.call_id in calls:
                name, command = calls.pop(block.call_id)
                if block.is_error and is_refusal(block.text):
                    continue  # it never ran
                errors_here = tuple(dict.fromkeys(reported.get((position, number), ())))
                failed = bool(errors_here) or block.is_error
                ran = _read_command(command)
                for other in (name,) if failed or not command else [*unsettled]:
                    staying = []
                    for failure, before in unsettled.get(other, ()):
                        if (other != name or before.differs(ran)) and (failed or not ran.covers(before)):
                            staying.append((failure, before))
                        else:
                            ends[failure] = at
                    unsettled[other] = staying
                if failed:
                    unsettled.setdefault(name, []).append((len(failures), ran))
                    ref = BlockRef(session.entries[position].id, number)
                    failures.append(Failure(at, command, ref, errors_here))
                    ends.append(len(session.path))
    return list(zip(failures, ends, strict=True))


class _Command(NamedTuple):
    """A command: its clauses, those of them that check something, and what it is run on.

    `target` is its last path, or its last word if that is an argument; "" if there is none.
    """

    form: str
    clauses: frozenset[str]
    checks: frozenset[str]
    target: str

    def differs(self, other: _Command) -> bool:
        """Whether two runs of a program are of different things: one may pass and the other fail."""
        return bool(self.target and other.target) and self.target != other.target

    def covers(self, failed: _Command) -> bool:
        """Whether it runs what failed: all of its checks, a check of the same path, or of more."""
        clauses = failed.checks or failed.clauses  # "build && test" is repaired once "test" passes
        return bool(self.form) and (
            clauses <= self.clauses
            or bool(self.checks and failed.target and failed.target == self.target)
            or is_part_of(failed.form, self.form)
        )


@lru_cache(maxsize=1024)
def _read_command(form: str) -> _Command:
    clauses = frozenset(split_core(form))
    words = form.split()
    names = {word for clause in clauses for word in (name_command(clause) or clause).split()[:3]}
    last = "" if not words or words[-1] in names or words[-1][0] == "-" else words[-1]
    target = next((word for word in reversed(words) if "/" in word), last)
    target = "" if target == "./..." else target
    return _Command(form, clauses, frozenset(filter(is_check, clauses)), target)


def _name_call(call: ToolCall) -> tuple[str, str]:
    """Return what a call is known by when it is made again, its command's short name or its tool, and the
    command."""
    if not is_shell(call.name):
        return bare_name(call.name), ""
    arguments = call.input if isinstance(call.input, dict) else {}
    command = next((arguments[key] for key in ("command", "cmd", "script") if key in arguments), "")
    form = core_command(command if isinstance(command, str) else " ".join(map(str, command)))
    return " && ".join(filter(None, map(name_command, split_core(form)))) or form, form
