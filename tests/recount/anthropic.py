"""The figures of a request to Anthropic's Messages API, with or without its reply.

CLAUDE §5.1: the reply's `usage` may list several `iterations`; the last message among them is the context,
all are paid. A compaction block with a summary is a compaction; one without is one that failed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .chat import split_usage
from .claude_code import Reply
from .figures import Figures, Request, whole, write_bill

_WITHIN = ("request", "body", "params")


def recount(path: Path) -> Figures:
    """Every figure of the file."""
    document = json.loads(path.read_bytes().decode("utf-8", "surrogatepass"))
    messages, model = _find_messages(document)
    figures = Figures()
    replies: list[list[Request]] = []
    apart: dict[str, list[Request]] = {"compaction": []}
    silent = 0
    for number, message in enumerate(messages):
        content = message.get("content")
        about = message.get("metadata")
        if isinstance(about, dict) and about.get("kind") in ("compaction", "compaction_summary"):
            # Cline marks the message that stands for what it compacted; nobody typed it.
            figures.compactions += 1
            silent += 1
            continue
        blocks = [each for each in content if isinstance(each, dict)] if isinstance(content, list) else []
        made = [
            each
            for each in blocks
            if each.get("type") == "compaction" and isinstance(each.get("content"), str)
        ]
        figures.compactions += len(made)
        silent += len(made)
        others = [each for each in blocks if each.get("type") != "tool_result" and each not in made]
        figures.turns += message.get("role") == "user" and (
            bool(content) if isinstance(content, str) else bool(others)
        )
        figures.replies += message.get("role") == "assistant"
        told = message.get("metrics")
        if isinstance(told, dict) and "usage" not in message:
            # Cline's: what was read from the cache is among what was sent.
            cached = [whole(told.get(f"cache{name}Tokens")) for name in ("Read", "Write")]
            sent, output = whole(told.get("inputTokens")), whole(told.get("outputTokens"))
            cost = {
                "input": 0.0,
                "cacheRead": 0.0,
                "cacheWrite": 0.0,
                "output": 0.0,
                "total": told.get("cost") or 0.0,
            }
            tokens = [sent - sum(cached), *cached, 0, output]
            name = (message.get("modelInfo") or {}).get("id")
            replies.append([Request(name or model, tokens, cost if cost["total"] else None)])
            figures.largest_request = max(figures.largest_request, sent)
            figures.largest_context = max(figures.largest_context, sent + output)
        used = message.get("usage")
        if isinstance(used, dict) and {"prompt_tokens", "completion_tokens"} & set(used):
            # A list of messages may be anybody's: OpenAI's figures hold what the cache gave.
            tokens = split_usage(used) or []
            replies.append([Request(message.get("model") or model, tokens, None)])
            figures.largest_request = max(figures.largest_request, sum(tokens[:4]))
            figures.largest_context = max(
                figures.largest_context, whole(used.get("total_tokens")) or sum(tokens)
            )
        elif isinstance(used, dict):
            reply = Reply()
            reply.take({}, message, number)
            reply.ended = True
            own, compactions = reply.bill(model, figures)
            replies.append(own)
            apart["compaction"] += compactions
            sizes = reply.last
            sent = sum(
                int(sizes.get(f"{name}_tokens") or 0)
                for name in ("input", "cache_read_input", "cache_creation_input")
            )
            figures.largest_request = max(figures.largest_request, sent)
            figures.largest_context = max(
                figures.largest_context, sent + int(sizes.get("output_tokens") or 0)
            )
    figures.turns = max(figures.turns, 1)
    write_bill(
        figures, replies, apart, {"compactions": max(silent - len(apart["compaction"]), 0)}, figures.replies
    )
    return figures


def _find_messages(value: Any) -> tuple[list[Any], str | None]:
    """The messages, the reply's behind them, and the model that is asked."""
    around: list[dict[str, Any]] = []
    while isinstance(value, dict) and not isinstance(value.get("messages"), list):
        around.append(value)
        value = next((value[name] for name in _WITHIN if isinstance(value.get(name), dict)), None)
    if isinstance(value, list):
        return [each for each in value if isinstance(each, dict)], None
    if value is None:
        return [], None
    messages = [each for each in value["messages"] if isinstance(each, dict)]
    for holder in (*around, value):
        reply = holder.get("response")
        if isinstance(reply, dict):
            inner = reply.get("body")
            messages.append({"role": "assistant", **(inner if isinstance(inner, dict) else reply)})
            break
    else:
        if value.get("role") == "assistant" and isinstance(value.get("content"), list):
            messages.append({name: value[name] for name in value if name != "messages"})
    return messages, value.get("model") if isinstance(value.get("model"), str) else None
