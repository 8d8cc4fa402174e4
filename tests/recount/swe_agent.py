"""The figures of SWE-agent's and mini-swe-agent's trajectories: FORMATS §11.

SWE-agent: the agent with most messages is the conversation; a prompt before its first reply that is no
demonstration is a turn, what follows is its environment's. Only sums of tokens are told. A step tells what
was sent: where an output that answers a call is shorter there than in the history, it was emptied; all that
are first seen so in one step are one emptying. mini-swe-agent keeps the provider's answer beside each reply.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from .chat import split_usage
from .figures import Figures
from .tally import Row, Tally, held, is_typed, listed, read_document, say


def recount(path: Path) -> Figures:
    """Every figure of SWE-agent's."""
    document = read_document(path)
    history = [each for each in listed(document.get("history")) if isinstance(each, dict)]
    steps = [step for step in listed(document.get("trajectory")) if isinstance(step, dict)]
    if not history and steps:
        history = [*listed(steps[-1].get("query") or steps[-1].get("messages"))]
        for step in steps[-1:] if history else steps:
            # What a run begins with, where nothing tells what was asked, is its own first words.
            said = (("assistant", step.get("response")), ("user", step.get("observation")))
            history += [{"role": role, "content": words} for role, words in said if words]
    spoken = Counter(str(each.get("agent") or "") for each in history)
    main = spoken.most_common(1)[0][0] if spoken else ""
    tally = Tally()
    turns, replied = 0, False
    for each in history:
        if each.get("role") == "assistant":
            replied = True
            if str(each.get("agent") or "") == main:
                tally.reply()
        elif each.get("role") == "user" and str(each.get("agent") or "") == main:
            turns += not replied and not each.get("is_demo") and is_typed(say(each.get("content")))
    own = [each for each in history if str(each.get("agent") or "") == main]
    tally.figures.emptied = _count_emptied(own, listed(document.get("trajectory")))
    return tally.close(turns)


def _count_emptied(history: list[Row], steps: list[Any]) -> int:
    sent: dict[int, list[Any]] = {}
    for step in steps:
        query = next((q for name in ("query", "messages") if (q := held({"s": step}, "s").get(name))), None)
        if isinstance(query, list):
            sent[len(query)] = query
    known: set[int] = set()
    count = 0
    for length in range(len(history)):
        query = sent.get(length)
        if query is None:
            continue
        fresh = False
        for at, (before, after) in enumerate(zip(history, query, strict=False)):
            if at in known or not isinstance(after, dict):
                continue
            if len(say(after.get("content")).strip()) < len(say(before.get("content")).strip()):
                known.add(at)
                fresh |= before.get("role") == "tool" and bool(
                    before.get("tool_call_ids") or before.get("tool_call_id")
                )
        count += fresh
    return count


def recount_mini(path: Path) -> Figures:
    """Every figure of mini-swe-agent's."""
    document = read_document(path)
    if isinstance(document, list):
        document = {"messages": document}
    tally = Tally()
    turns, replied = 0, False
    named = held(document, "info", "config", "model").get("model_name")
    for each in listed(document.get("messages")):
        if not isinstance(each, dict):
            continue
        about = held(each, "extra")
        whole_reply = each.get("object") == "response" and isinstance(each.get("output"), list)
        if each.get("role") == "assistant" or whole_reply:
            answer = about.get("response") if isinstance(about.get("response"), dict) else each
            tally.reply(split_usage(answer.get("usage")), answer.get("model") or named, about.get("cost"))
            replied = True
        elif each.get("role") == "user":
            turns += not replied and is_typed(say(each.get("content")))
    return tally.close(turns)
