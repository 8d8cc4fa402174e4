"""The figures of a VS Code chat, from its document or from the changes that make it: FORMATS §4.

A round of a request is a reply, and what the screen showed after the last call is one where no round says it.
`promptTokens` and `outputTokens` are those of the last call, so of the last reply. Summaries stand in the
metadata of a request or in a round.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .figures import Figures
from .tally import Row, Tally, held, is_typed, listed, read_document, read_rows, split_inclusive


def recount(path: Path) -> Figures:
    """Every figure of the chat."""
    try:
        state = read_document(path)
    except ValueError:
        state = None
    if not isinstance(state, dict) or "kind" in state:
        state = _replay(list(read_rows(path)))
    tally, turns, rounds_before = Tally(), 0, set[str]()
    for request in listed(state.get("requests")):
        if not isinstance(request, dict):
            continue
        message = request.get("message")
        words = message if isinstance(message, str) else held(request, "message").get("text")
        turns += request.get("isSystemInitiated") is not True and is_typed(str(words or ""))
        told = held(request, "result", "metadata")
        rounds = [each for each in listed(told.get("toolCallRounds")) if isinstance(each, dict)]
        shown = _show(listed(request.get("response")), rounds)
        replies = len(rounds)
        replies += bool(shown) and (not rounds or bool(rounds[-1].get("toolCalls")))
        model = told.get("resolvedModel") or request.get("modelId")
        tokens = None
        for holder, sent, replied in (
            (told, "promptTokens", "outputTokens"),
            (request, "promptTokens", "completionTokens"),
        ):
            if tokens is None and isinstance(holder.get(sent), int | float):
                tokens = split_inclusive(holder.get(sent), holder.get(replied))
        for number in range(replies):
            tally.reply(tokens if number == replies - 1 else None, model)
        known = {str(each.get("id")) for each in rounds} | rounds_before
        for _ in _summaries(told, rounds) & known:
            tally.compact()
        rounds_before = known
    return tally.close(turns)


def _replay(rows: list[Row]) -> Row:
    """The state that the changes make."""
    state: Any = {}
    for row in rows:
        kind, path, value = row.get("kind"), listed(row.get("k")), row.get("v")
        if kind == 0:
            state = value
            continue
        if not path:
            continue
        holder = state
        try:
            for key in path[:-1]:
                holder = holder[key]
            if kind == 1:
                holder[path[-1]] = value
            elif kind == 3:
                del holder[path[-1]]
            elif kind == 2:
                if isinstance(holder, dict):
                    holder.setdefault(path[-1], [])
                target = holder[path[-1]]
                if isinstance(row.get("i"), int):
                    del target[row["i"] :]
                target.extend(listed(value))
        except (KeyError, IndexError, TypeError):
            continue
    return state if isinstance(state, dict) else {}


def _show(parts: list[Any], rounds: list[Row]) -> list[str]:
    """What the screen shows of the last reply and no round says."""
    shown: list[str] = []
    words = ""
    for part in parts:
        kind = part.get("kind") if isinstance(part, dict) else ""
        value = (
            part.get("value", part.get("content") if kind == "markdownContent" else None)
            if kind != ""
            else None
        )
        value = value.get("value") if isinstance(value, dict) else value
        if kind in (None, "markdownContent") and isinstance(value, str):
            words += value
        elif kind == "toolInvocationSerialized":
            shown = [] if rounds else [*shown, words, "a call"]
            words = ""
        elif kind == "thinking" and not rounds and isinstance(value, str | list):
            shown, words = [*shown, words, "a thought"], ""
    said = {str(each.get("response")) for each in rounds}
    return [text for each in (*shown, words) if (text := each.strip()) and text not in said]


def _summaries(told: Row, rounds: list[Row]) -> set[str]:
    """The rounds up to which something was summed up."""
    found = {str(each.get("id")) for each in rounds if isinstance(each.get("summary"), str)}
    for each in [told.get("summary"), *listed(told.get("summaries"))]:
        if isinstance(each, dict) and isinstance(each.get("text"), str):
            found.add(str(each.get("toolCallRoundId")))
    return found
