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
_PIECES = ("reasoning", "function_call", "custom_tool_call")


def recount(path: Path) -> Figures:
    """Every figure of a file of messages."""
    told = (row | row["message"] if isinstance(row.get("message"), dict) else row for row in read_rows(path))
    rows = [row for row in told if _who(row)]
    last = {row["id"]: at for at, row in enumerate(rows) if isinstance(row.get("id"), str) and "usage" in row}
    tally, turns, before = Tally(), 0, ""
    for at, row in enumerate(rows):
        who = _who(row)
        # Pieces of a reply follow each other; what was thought begins the next.
        begins = before not in ("piece", "said") if who == "piece" else before != "piece"
        begins |= who == "piece" and before == "said" and row["type"] == "reasoning"
        if who == "piece" and begins:
            tally.reply()
        elif who == "said":
            used = row.get("usage") if last.get(row.get("id"), at) == at else None
            total = used.get("total_tokens") if isinstance(used, dict) else None
            charge = tally.reply if begins else tally.charge
            charge(split_usage(used), row.get("model", row.get("model_id")), total=total)
        elif who == "asked":
            turns += _is_prompt(row)
        before = who
    return tally.close(turns)


def _who(row: Row) -> str:
    """What a row is: "asked", "said", a "piece" of a reply or "else"; "" for no message."""
    kind = row.get("role", row.get("type"))
    if kind in _REPLIES:
        return "said"
    if kind in ("user", "human"):
        return "asked"
    if "role" not in row and kind in _PIECES:
        return "piece"
    return "else" if "role" in row or "output" in row or "content" in row else ""


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
