"""The figures of bare messages, one a line, and of the rows of data sets: FORMATS §9.

Each line of a reply tells what it took, in OpenAI's shape or in Anthropic's. Lines of one `id` are one reply,
whose last line counts. The instructions at the beginning are no message of the conversation.
"""

from __future__ import annotations

import json
from pathlib import Path

from .chat import say_all, split_usage
from .figures import Figures
from .tally import Row, Tally, is_typed, listed, read_document, read_rows

_REPLIES = ("assistant", "ai", "model")


def recount(path: Path) -> Figures:
    """Every figure of a file of messages."""
    rows = [row for row in read_rows(path) if isinstance(row.get("role"), str)]
    last = {row["id"]: at for at, row in enumerate(rows) if isinstance(row.get("id"), str) and "usage" in row}
    tally, turns = Tally(), 0
    for at, row in enumerate(rows):
        if row["role"] in _REPLIES:
            counts = last.get(row.get("id"), at) == at
            used = row.get("usage") if counts else None
            total = used.get("total_tokens") if isinstance(used, dict) else None
            tally.reply(split_usage(used), row.get("model"), total=total)
        elif row["role"] in ("user", "human"):
            turns += _is_prompt(row)
    return tally.close(turns)


def _is_prompt(row: Row) -> bool:
    parts = [part for part in listed(row.get("content")) if isinstance(part, dict)]
    own = [part for part in parts if part.get("type") != "tool_result"]
    return any(part.get("type") not in ("text", "input_text", None) for part in own) or is_typed(
        say_all({"content": own} if parts else row)
    )


def recount_row(path: Path) -> Figures:
    """Every figure of a row of a data set, whose turns tell of no tokens."""
    row = read_document(path)
    names = ("conversations", "conversation", "trajectory", "traj", "messages")
    held = next(row[name] for name in names if row.get(name))
    tally, turns = Tally(), 0
    for turn in json.loads(held) if isinstance(held, str) else held:
        who = turn.get("from", turn.get("role"))
        words = turn.get("value", turn.get("content", turn.get("text")))
        if who in ("gpt", "assistant", "ai", "model", "function_call"):
            tally.reply()
        elif who in ("human", "user"):
            turns += _is_prompt({"content": words})
    return tally.close(turns)
