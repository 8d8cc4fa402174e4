"""The figures of OpenHands' events: FORMATS §11.

Actions of one `llm_response_id` that follow each other are one reply. What its request took stands in
`stats.usage_to_metrics`: in `token_usages` by the id of the response, else as what the sums of the agent's
own use grew by. A condensation is a compaction; nothing tells which request wrote its summary. Of a folder
the events are its files in the order of their numbers, and `token_usages` of its state are the last word.
"""

from __future__ import annotations

from pathlib import Path

from .figures import Figures
from .tally import Row, Tally, dig, is_typed, listed, read_document, read_rows, say, split_inclusive, whole

_SUMS = ("prompt_tokens", "completion_tokens", "cache_read_tokens", "cache_write_tokens")


def recount(path: Path) -> Figures:
    """Every figure of the file."""
    tally = Tally()
    rows = _read_events(path)
    way = _walk(rows)
    turns = 0
    replies: list[tuple[str | None, bool]] = []  # the response of each reply, and whether it is on the way
    models: list[object] = []
    told: dict[str, Row] = {}
    state = _read_state(path)
    before, grown, model = [0] * 4, None, dig(state, "agent", "llm").get("model")
    last: object = ""
    for at, row in enumerate(rows):
        kind, number = row.get("kind"), row.get("llm_response_id")
        if kind == "MessageEvent":
            message = dig(row, "llm_message")
            if message.get("role") == "assistant":
                replies.append((number if isinstance(number, str) else None, at in way))
                models.append(model)
            elif at in way:
                turns += message.get("role") == "user" and is_typed(say(message.get("content")))
            last = number if message.get("role") == "assistant" else ""
        elif kind == "ActionEvent":
            if not isinstance(number, str) or last != number:
                replies.append((number if isinstance(number, str) else None, at in way))
                models.append(model)
            last = number
        elif kind in ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation", "Condensation"):
            last = ""
        if kind == "Condensation":
            tally.compact()
        if kind in ("MessageEvent", "ActionEvent") and isinstance(number, str) and grown is not None:
            told.setdefault(number, grown)
            grown = None
        if kind == "ConversationStateUpdateEvent" and row.get("key") == "stats":
            for role, metrics in dig(row, "value", "usage_to_metrics").items():
                if role in ("default", "agent"):
                    model = dig({"m": metrics}, "m").get("model_name") or model
                    sums = dig(metrics, "accumulated_token_usage")
                    now = [whole(sums.get(name)) for name in _SUMS]
                    more = [new - old for new, old in zip(now, before, strict=True)]
                    if any(more):
                        grown = dict(zip(_SUMS, more if min(more) >= 0 else now, strict=True))
                    before = now
                for each in listed(dig({"m": metrics}, "m").get("token_usages")):
                    told[str(each.get("response_id"))] = each
    for metrics in dig(state, "stats", "usage_to_metrics").values():
        for each in listed(dig({"m": metrics}, "m").get("token_usages")):
            told.setdefault(str(each.get("response_id")), each)
    for (number, on_way), by in zip(replies, models, strict=True):
        used = told.get(number) if number is not None else None
        tokens = split_inclusive(*(used.get(name) for name in _SUMS)) if used else None
        tally.reply(tokens, by, on_way=on_way)
    return tally.close(turns)


def _read_events(path: Path) -> list[Row]:
    """The events of lines, of a list, of an object around one, or of the folder beside a state."""
    if path.name == "base_state.json":
        files = sorted((path.parent / "events").iterdir(), key=lambda each: int(each.name.split("-")[1]))
        return [event for event in map(read_document, files) if isinstance(event, dict)]
    rows = list(read_rows(path))
    if any("kind" in row for row in rows):
        return rows
    document = read_document(path)
    names = ("items", "events", "history")
    dig = next((document[n] for n in names if n in document), []) if isinstance(document, dict) else document
    return [row for row in listed(dig) if isinstance(row, dict)]


def _read_state(path: Path) -> Row:
    return dig({"s": read_document(path)}, "s") if path.name == "base_state.json" else {}


def _walk(rows: list[Row]) -> set[int]:
    """The rows from the last one to the first: behind its parent where a row names one, else behind the one
    before."""
    where: dict[str, int] = {}
    above: list[int] = []
    for at, row in enumerate(rows):
        parent = row.get("parent_id", "")
        above.append(where.get(parent, at - 1) if isinstance(parent, str) and parent != "__root__" else -1)
        where[str(row.get("id"))] = at
    way: set[int] = set()
    at = len(rows) - 1
    while at >= 0:
        way.add(at)
        at = above[at]
    return way
