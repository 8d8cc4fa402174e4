"""Rules about thinking: signed by the provider, sent back whole, and on some models bound to its prefix.

CLAUDE §8. Models fall in three classes: `strip` ignores the thinking of earlier turns, `keep` reads it,
`bound` (preserved thinking) refuses it once anything before it has changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from ...session.json_text import stringify
from ..parsed import ParsedRequest, Spot, WireFault, WireTurn
from ..render import Json

THINKING = ("thinking", "redacted_thinking")
LEAST_BUDGET = 1_024


def find_misplaced_thinking(sent: ParsedRequest) -> Iterator[WireFault]:
    """Thinking occurs only in messages of the assistant (§8)."""
    for spot in sent.spots:
        if spot.type in THINKING and spot.role != "assistant":
            error = f"messages.{spot.message}: `{spot.type}` blocks can only be in `assistant` messages"
            yield WireFault(spot.path, f"reasoning is in a message of the {spot.role}", error)


def find_unsealed_thinking(sent: ParsedRequest) -> Iterator[WireFault]:
    """Thinking carries its signature, redacted thinking its data; the text itself may be empty (§8).

    A `strip` model never looks at the seals of earlier turns, only at their shape.
    """
    latest = _latest_turn(sent) if sent.model_class == "strip" else 0
    for spot in sent.spots:
        if spot.type not in THINKING:
            continue
        fields = ("thinking", "signature") if spot.type == "thinking" else ("data",)
        missing = [field for field in fields if not isinstance(spot.block.get(field), str)]
        if missing:
            error = f"{spot.path}.{spot.type}.{missing[0]}: Field required"
            yield WireFault(spot.path, f"the reasoning has no {missing[0]}", error)
        elif not spot.block[fields[-1]] and spot.message >= latest:
            error = f"{spot.path}: Invalid `{fields[-1]}` in `{spot.type}` block"
            yield WireFault(spot.path, f"the reasoning's {fields[-1]} is empty", error)


def find_final_thinking(sent: ParsedRequest) -> Iterator[WireFault]:
    """Thinking never ends the assistant's message (widely reported, forgecode#2107).

    Neighbouring messages of the assistant are one, as the provider merges them.
    """
    for turn in sent.turns:
        if turn.role == "assistant" and turn.spots and turn.spots[-1].type in THINKING:
            last = turn.spots[-1]
            error = f"The final block in an assistant message cannot be `{last.type}`."
            sentence = "the assistant's message ends with its reasoning"
            yield WireFault(last.path, sentence, f"messages.{last.message}: {error}")


def find_large_budget(sent: ParsedRequest) -> Iterator[WireFault]:
    """The budget of thinking is part of max_tokens: smaller than that, and at least 1,024 (§8, thinking)."""
    settings = sent.body.get("thinking")
    if not isinstance(settings, dict) or settings.get("type") != "enabled":
        return
    budget, most = settings.get("budget_tokens"), sent.body.get("max_tokens")
    if not isinstance(budget, int) or isinstance(budget, bool) or budget < LEAST_BUDGET:
        path = "thinking.enabled.budget_tokens"
        error = f"{path}: Input should be greater than or equal to {LEAST_BUDGET}"
        yield WireFault("thinking", f"thinking has no budget of {LEAST_BUDGET:,} tokens or more", error)
    elif isinstance(most, int) and budget >= most:
        error = "`max_tokens` must be greater than `thinking.budget_tokens`"
        sentence = f"a budget of {budget:,} tokens for thinking leaves nothing of the {most:,} of a reply"
        yield WireFault("thinking", sentence, error)


def find_forced_tool_with_thinking(sent: ParsedRequest) -> Iterator[WireFault]:
    """A request that forces a tool call has no thinking (widely reported 400, e.g. mastra#7507)."""
    choice, settings = sent.body.get("tool_choice"), sent.body.get("thinking")
    forced = isinstance(choice, dict) and choice.get("type") in ("any", "tool")
    if forced and isinstance(settings, dict) and settings.get("type") in ("enabled", "adaptive"):
        error = "Thinking may not be enabled when tool_choice forces tool use."
        yield WireFault("tool_choice", "a tool is forced, and thinking is on", error)


def find_loop_without_thinking(sent: ParsedRequest) -> Iterator[WireFault]:
    """While a tool loop is open, the assistant's turn begins with thinking if the loop contains any (§8).

    Only where thinking is set by hand: adaptive thinking (Claude 4.6 and later, unless the request says
    `enabled`) may begin with a call.
    """
    loop = _open_loop(sent)
    settings = sent.body.get("thinking")
    mode = settings.get("type") if isinstance(settings, dict) else None
    by_hand = mode == "enabled" or (mode is None and (sent.claude is None or sent.is_before((4, 6))))
    thinks = mode == "enabled" or any(spot.type in THINKING for turn in loop for spot in turn.spots)
    if loop and by_hand and thinks and loop[0].spots and loop[0].spots[0].type not in THINKING:
        first = loop[0].spots[0]
        sentence = "a tool loop is open and no longer begins with its reasoning"
        error = (
            f"{first.path}.type: Expected `thinking` or `redacted_thinking`, but found `{first.type}`. "
            "When `thinking` is enabled, a final `assistant` message must start with a thinking block"
        )
        yield WireFault(first.path, sentence, error)


def find_altered_thinking(sent: ParsedRequest) -> Iterator[WireFault]:
    """The latest assistant message of an open tool loop has its thinking unchanged (§8).

    Needs `previous`; a message that was not in it is taken as it is.
    """
    loop = _open_loop(sent)
    if not loop or sent.previous is None:
        return
    calls = {spot.name("id") for spot in loop[-1].of("tool_use")}
    for turn in reversed(sent.previous.turns):
        if turn.role == "assistant" and any(spot.name("id") in calls for spot in turn.of("tool_use")):
            if _thoughts(turn) != _thoughts(loop[-1]):
                path = f"messages.{loop[-1].message}"
                sentence = "the reasoning of the latest message was changed or removed"
                error = "blocks in the latest assistant message cannot be modified"
                yield WireFault(path, sentence, f"{path}: `thinking` or `redacted_thinking` {error}")
            return


def find_unbound_thinking(sent: ParsedRequest) -> Iterator[WireFault]:
    """On `bound` models, thinking has the same prefix for which it was signed (§8, preserved thinking).

    The prefix is the system prompt, the set of tools and all earlier messages; cache marks do not count.
    Needs `previous`. After a compaction block that is new, what follows it is compared from the first
    kept block on: the server keeps the binding across its own compaction.
    """
    if sent.model_class != "bound" or sent.previous is None:
        return
    start, reason = _first_change(sent.spots, sent.previous.spots)
    if head := _changed_head(sent.body, sent.previous.body):
        start, reason = _after_compaction(sent.spots), f"{head} changed"
    for spot in sent.spots[start:]:
        if spot.type in THINKING:
            sentence = f"the reasoning is bound to its prefix, and {reason}"
            error = f"{spot.path}: Invalid `signature` in `{spot.type}` block (prefix_binding_mismatch)"
            yield WireFault(spot.path, sentence, error)


def _latest_turn(sent: ParsedRequest) -> int:
    """Return the index of the message that begins the latest turn: the last user text, not a result."""
    for turn in reversed(sent.turns):
        if turn.role == "user" and not turn.of("tool_result"):
            return turn.message
    return 0


def _open_loop(sent: ParsedRequest) -> list[WireTurn]:
    """Return the assistant's turns of the tool loop that the request continues; empty without a loop."""
    loop: list[WireTurn] = []
    for turn in reversed(sent.turns):
        if turn.role == "user" and not turn.of("tool_result"):
            break
        if turn.role == "assistant":
            if not loop and turn is sent.turns[-1]:
                return []
            loop.append(turn)
    return loop[::-1]


def _thoughts(turn: WireTurn) -> list[tuple[Any, ...]]:
    return [
        tuple(spot.block.get(field) for field in ("type", "thinking", "signature", "data"))
        for spot in turn.spots
        if spot.type in THINKING
    ]


def _changed_head(body: Json, previous: Json) -> str:
    """Return what changed before the messages: the system prompt (compared in order) or the set of tools."""
    if _lines(body.get("system")) != _lines(previous.get("system")):
        return "the system prompt"
    tools = (Counter(map(_canonical, _items(sent.get("tools")))) for sent in (body, previous))
    return "" if next(tools) == next(tools) else "the set of tools"


def _after_compaction(spots: tuple[Spot, ...]) -> int:
    """Return the row after the last compaction block; the server ignores the blocks before it (§5.1)."""
    return max((row for row, spot in enumerate(spots) if spot.type == "compaction"), default=-1) + 1


def _first_change(now: tuple[Spot, ...], before: tuple[Spot, ...]) -> tuple[int, str]:
    """Return the first row of `now` with a different prefix, and the reason; past the end if none differs."""
    first = _after_compaction(now)
    shift = 0
    if first:
        for anchor in (first - 1, first):
            there = anchor < len(now)
            matches = [row for row, spot in enumerate(before) if there and _same(spot, now[anchor])]
            if matches:
                shift = matches[-1] - anchor
                break
        else:
            return len(now), ""
    for row in range(first, min(len(now), len(before) - shift)):
        if not _same(now[row], before[row + shift]):
            return row, f"at {now[row].path} it is no longer what was sent"
    return len(now), ""


def _same(first: Spot, other: Spot) -> bool:
    """Whether two blocks are the same to the model."""
    if first.role != other.role or first.type != other.type:
        return False
    try:
        if first.block == other.block:
            return True
    except RecursionError:
        pass
    return _canonical(first.block) == _canonical(other.block)


def _canonical(value: Any) -> str:
    """Return JSON without cache marks, with a text as the one block that it abbreviates."""
    if not isinstance(value, dict):
        return stringify(value)
    plain = {key: child for key, child in sorted(value.items()) if key != "cache_control"}
    if plain.get("type") == "tool_result":
        plain["content"] = [_canonical(part) for part in _items(plain.get("content"))]
    return stringify(plain)


def _lines(system: Any) -> list[str]:
    return [_canonical(item) for item in _items(system)]


def _items(value: Any) -> list[Any]:
    """Return a list of blocks, from a list, a text or None."""
    if isinstance(value, str):
        return [{"type": "text", "text": value}] if value else []
    return list(value) if isinstance(value, list | tuple) else []
