"""What a row of a scan is: its columns in order, and how a row is filled in and told apart from others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..facts.outcomes import IN_FULL, OUTCOMES, read_outcome

Row = dict[str, Any]
"""One session × one policy × one moment: every column of COLUMNS, None where it was not measured or is not
known."""

COLUMNS: dict[str, str] = {
    "file": "where the session lies",
    "part": "which session of an archive; empty for a file that is one session",
    "digest": "SHA-256 of the file, in 32 hexadecimal digits",
    "bytes": "size of the file",
    "format": "the reader that took it, which is its harness",
    "version": "the harness's version, by the file",
    "session": "the session's own id",
    "model": "the model that answers at this moment",
    "policy": "the policy; `recorded` is what the file says was done",
    "policy_hash": "the policy's content in 16 hexadecimal digits",
    "moment": "1 is right before the first recorded compaction; 0 the fullest moment of a file without one",
    "copied_from": "the session that a fork copied this compaction from",
    "at": "the last entry of this moment",
    "turn": "turns so far",
    "trigger": "what set the recorded compaction off, by the file",
    "evidence": "recorded, planned, or inferred where the recorded summary cannot be read",
    "window": "the model's window in tokens",
    "before": "tokens of the request before, on the provider's scale",
    "after": "the same after",
    "after_low": "the least that `after` may be",
    "after_high": "the most that `after` may be",
    "floor": "the least that the policy leaves at any legal cut: above its trigger it fires for ever",
    "fires": "whether the policy's own trigger would have fired here",
    "again": "whether it would fire again at once on what is left",
    "acts": "whether anything is taken away or rewritten",
    "summaries": "summaries that a model would have to write",
    "rewritten": "tokens of `after` that stand in no unchanged prefix",
    "pays_after": "requests until the rewritten cache has paid for itself; None for never",
    "cost_before": "one request as the context stands, all of it read from the cache, in `currency`",
    "cost_first": "the first request after: the prefix read, the rest written to the cache for 5 minutes",
    "cost_next": "each request after that",
    "currency": "of the costs",
    "stood": "facts that could be read before",
    "kept": "of these, verbatim, quoted or paraphrased after",
    "pointed": "of these, only a pointer to them",
    "unknown": "of these, what a summary that nobody can read may hold or not",
    "superseded": "values that the user had replaced before, told by a summary all the same",
    "regrets": "facts that a recorded compaction took away and that were needed again",
    "regret_tokens": "tokens paid for them once more",
    "regret_cost": "what these cost at least, in `currency`",
    "read_again": "of the facts needed again, files that were read once more",
    "run_again": "commands that were run once more, with the same answer",
    "met_again": "errors that were met once more",
    "said_again": "rules that the user had to repeat",
    "edit_replies": "replies of the model after a recorded compaction until it changed a file",
    "edit_tokens": "tokens that came between, by the ledger's counter",
    "cache_rebuilds": "{cause: [times, tokens sent again, cost above reading them]} of the whole file",
    "sections": "{section: [tokens before, after]}; the parts that are not in the file among them",
    "facts": "{kind/speaker: [facts of each outcome in COUNTED, which are all but superseded]}",
    "findings": "{code of lint: findings}",
    "error": "why nothing, or not all, was measured",
    "seconds": "time the file took; the one column in which two scans of the same may differ",
    "method": "what measured it: version, counter and measures",
    "rows": "rows of this file under this policy",
}
"""Every column of a row in order, and what stands in it."""
COUNTED = tuple(name for name in OUTCOMES if name != "superseded")
"""The outcomes that the column `facts` counts, in order."""
_FIRST_COUNTED = ("verbatim", "restated", "pointed to", "weakened", "lost", "unknown")
"""The same in files of versions that knew six."""

Key = tuple[str, str, str]


def fill_row(row: Row) -> Row:
    """A row with every column in its place."""
    return {name: row.get(name) for name in COLUMNS}


def sum_kept(counts: Sequence[int]) -> int:
    """Sum the facts that can be read whole.

    Args:
        counts: Facts of each outcome in COUNTED, as a value of the column `facts` has them.
    """
    return sum(count for name, count in zip(COUNTED, counts, strict=True) if name in IN_FULL)


def read_row(row: Row) -> Row:
    """Return a row of a saved scan with the present names of columns and outcomes.

    Args:
        row: A row as this version or an older one wrote it.

    >>> read_row({"stale": 1, "facts": {"file/user": [1, 2, 0, 0, 4, 0]}})
    {'superseded': 1, 'facts': {'file/user': [1, 2, 0, 0, 0, 0, 0, 0, 4, 0]}}
    """
    row = {read_outcome(name): value for name, value in row.items() if name != "rules_broken"}  # in old scans
    if isinstance(facts := row.get("facts"), dict):
        row["facts"] = {name: _read_counts(counts) for name, counts in facts.items()}
    return row


def _read_counts(counts: Any) -> Any:
    if not isinstance(counts, list) or len(counts) != len(_FIRST_COUNTED):
        return counts
    told = {read_outcome(name): count for name, count in zip(_FIRST_COUNTED, counts, strict=True)}
    return [told.get(name, 0) for name in COUNTED]


def complete_keys(rows: Iterable[Row]) -> set[Key]:
    """(digest, method, hash of the policy) of which every row is there. A file that failed as a whole has
    the policy ""."""
    there: dict[Key, set[tuple[Any, Any]]] = {}
    many: dict[Key, int] = {}
    for row in rows:
        key = (row["digest"] or "", row["method"] or "", row["policy_hash"] or "")
        there.setdefault(key, set()).add((row["part"], row["moment"]))
        many[key] = row["rows"] or 1
    return {key for key, places in there.items() if len(places) >= many[key]}


def count_rows(rows: list[Row]) -> list[Row]:
    """The rows of one file, each with the number of those that share its policy."""
    many: dict[str, int] = {}
    for row in rows:
        name = row.get("policy_hash") or ""
        many[name] = many.get(name, 0) + 1
    return [fill_row(row | {"rows": many[row.get("policy_hash") or ""]}) for row in rows]
