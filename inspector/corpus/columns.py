"""The columns of a row of a scan, in order; filling, reading and counting rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ..facts.outcomes import IN_FULL, OUTCOMES

Row = dict[str, Any]
"""One session × one policy × one point in time: every column of COLUMNS, None if it was not measured or is
unknown."""

COLUMNS: dict[str, str] = {
    "file": "path or address of the file",
    "part": "name of the session in an archive; empty for a file that is one session",
    "digest": "SHA-256 of the file, in 32 hexadecimal digits",
    "bytes": "size of the file",
    "format": "the reader, which names the harness",
    "version": "the harness's version, from the file",
    "session": "the session's own id",
    "model": "the model that answers at this point",
    "policy": "the policy; `recorded` for what the file records",
    "policy_hash": "the policy's content in 16 hexadecimal digits",
    "moment": "number of the recorded compaction that follows; 0 for the fullest point of a file without one",
    "copied_from": "the session that a fork copied this compaction from",
    "at": "the last entry of the context",
    "turn": "turns so far",
    "trigger": "what triggered the recorded compaction, from the file",
    "evidence": "recorded, planned, or inferred if the recorded summary is encrypted",
    "window": "the model's window in tokens",
    "before": "tokens of the request before, on the provider's scale",
    "after": "the same after the compaction",
    "after_low": "lowest possible value of `after`",
    "after_high": "highest possible value of `after`",
    "floor": "smallest result over all valid cuts; above its trigger, the policy would always fire",
    "fires": "whether the policy's own trigger would have fired here",
    "again": "whether it would fire again immediately on the result",
    "acts": "whether anything is removed or rewritten",
    "summaries": "summaries that a model would have to write",
    "rewritten": "tokens of `after` outside of the unchanged prefix",
    "pays_after": "requests until the rewritten cache has paid for itself; None for never",
    "cost_before": "one request with the context before, all of it read from the cache, in `currency`",
    "cost_first": "the first request after: the prefix read, the rest written to the cache for 5 minutes",
    "cost_next": "each request after that",
    "currency": "of the costs",
    "stood": "facts that could be read before",
    "kept": "of these, verbatim, quoted or paraphrased after",
    "pointed": "of these, only a pointer to them",
    "unknown": "of these, facts that an encrypted summary may contain",
    "superseded": "values that the user replaced earlier, but that a summary still contains",
    "regrets": "facts that a recorded compaction removed and that were needed again",
    "regret_tokens": "tokens paid for them again",
    "regret_cost": "lower bound of their cost, in `currency`",
    "read_again": "of the facts needed again, files that were re-read",
    "run_again": "commands that were re-run, with the same output",
    "said_again": "rules that the user had to repeat",
    "cache_rebuilds": "{cause: [times, tokens sent again, cost above reading them]} of the whole file",
    "sections": "{section: [tokens before, after]}; including the parts that are not in the file",
    "facts": "{kind/speaker: [facts of each outcome in COUNTED, which are all but superseded]}",
    "findings": "{code of lint: findings}",
    "error": "why nothing, or not everything, was measured",
    "seconds": "time for the file; the only column that may differ in a second scan of the same file",
    "method": "version, counter and measures",
    "rows": "rows of this file under this policy",
}
"""Every column of a row in order, with its meaning."""
COUNTED = tuple(name for name in OUTCOMES if name != "superseded")
"""The outcomes that the column `facts` counts, in order."""

Key = tuple[str, str, str]


def fill_row(row: Row) -> Row:
    """Return a row with every column, in order."""
    return {name: row.get(name) for name in COLUMNS}


def sum_kept(counts: Sequence[int]) -> int:
    """Sum the facts that can be read whole, of `counts` by outcome, as the column `facts` has them."""
    return sum(count for name, count in zip(COUNTED, counts, strict=True) if name in IN_FULL)


def count_rows(rows: list[Row]) -> list[Row]:
    """Return the rows of one file, each with the number of rows of its policy."""
    many = Counter(row.get("policy_hash") or "" for row in rows)
    return [fill_row(row | {"rows": many[row.get("policy_hash") or ""]}) for row in rows]
