"""What a policy leaves of a vector's messages, and what differs from what the real system left.

Our wording is our own, so of a rewritten text the spans of the input are compared, and the words only where
the vector gives them. Pairs are left as they fall, as the real systems leave them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from inspector.planning.assemble import build_context
from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.policies.trigger import Reason
from inspector.session.blocks import Block, Text, ToolOutput
from inspector.session.entries import Boundary, Entry
from inspector.session.session import Session
from inspector.summaries.write import checkpoint_from_text
from inspector.tokens.ledger import count_tokens

from .harness_messages import Json

AS_THEY_FALL = {"keep-pairs.enabled": True, "keep-pairs.form": "compat"}
SUMMARY = "SUMMARY"


def summarised(session: Session, cutoff: int, text: str = SUMMARY) -> Session:
    """The session with an earlier summary in the place of the first `cutoff` messages."""
    first, last = session.entries[:cutoff], session.entries[cutoff:]
    boundary = Boundary(kind="compact", summary=text)
    summary = Entry(id="summary", parent=first[-1].id, kind="compaction", boundary=boundary)
    summary = summary.model_copy(update={"blocks": (Text(text=text),)})
    moved = last[0].model_copy(update={"parent": summary.id})
    return session.model_copy(update={"entries": (*first, summary, moved, *last[1:])})


@dataclass(frozen=True)
class Left:
    """A message that the model would see next: the number of the input's, None for a new one, and its
    parts."""

    source: int | None
    role: str
    parts: Mapping[int, Block]


def plan_case(
    session: Session,
    policy: str,
    settings: Json,
    *,
    window: int | None = 0,
    reason: Reason = "auto",
    fires: bool | None = None,
) -> tuple[bool, list[Left]]:
    """Whether anything is done, and what is left. `fires` says so instead of the policy's trigger."""
    edits = {"settings": {**AS_THEY_FALL, **settings}}
    plan = make_plan(
        session, count_tokens(session, "chars4_utf16"), policy, edits, window=window, reason=reason
    )
    triggered = bool(plan.verdict.fires) if fires is None else fires
    if not triggered or not plan.outcome.changed.any():
        return False, [find_whole(session, int(index)) for index in session.live.entries]
    return True, list(_read_left(session, plan))


def find_whole(session: Session, number: int) -> Left:
    entry = session.entries[number]
    return Left(_number(entry.id), entry.role, dict(enumerate(entry.blocks)))


def _number(name: str) -> int | None:
    """The number of the input's message; a summary that was there before is none of them."""
    return int(name[1:]) if name[1:].isdigit() else None


def _read_left(session: Session, plan: Plan) -> Iterator[Left]:
    if plan.summarises:
        plan = plan.with_summary(checkpoint_from_text(SUMMARY))
    pieces = build_context(session, plan).pieces
    messages: dict[float, list[Any]] = {}
    for piece in pieces:
        messages.setdefault(piece.message, []).append(piece)
    found: list[Left] = []
    for several in messages.values():
        first = several[0]
        if first.summary or len(first.origin) != 1:
            found.append(Left(None, first.role, {0: first.block}))
            continue
        number = _number(first.origin[0].entry)
        parts = {piece.origin[0].block: piece.block for piece in several}
        found.append(Left(number, first.role, parts))
    yield from found


def compare(
    session: Session,
    done: tuple[bool, list[Left]],
    output: Json,
    expected: list[Json] | None = None,
    *,
    utf16: bool = False,
) -> Iterator[str]:
    """What differs between what we leave and the vector's output. Spans are of code points, or UTF-16
    units."""
    fired, left = done
    if fired != output["fired"]:
        yield f".fired: {fired}, expected {output['fired']}"
    messages = output["messages"] if expected is None else expected
    ours, real = [_name(one) for one in left], [_told(one) for one in messages]
    if ours != real:
        yield f".messages: {_list(ours)}, expected {_list(real)}"
        return
    for one, record in zip(left, messages, strict=True):
        if one.source is not None:
            yield from (f".{one.source}{line}" for line in _compare_message(session, one, record, utf16))
    if "summary_at" in output and fired:
        places = [index for index, one in enumerate(left) if one.source is None]
        if output["summary_at"] not in (None, *places):
            yield f".summary_at: {places}, expected {output['summary_at']}"


def _name(one: Left) -> str:
    return "new" if one.source is None else str(one.source)


def _told(one: Json) -> str:
    return str(one["from"]) if "from" in one else "new"


def _list(names: list[str]) -> str:
    return " ".join(names)


def _compare_message(session: Session, one: Left, record: Json, utf16: bool = False) -> Iterator[str]:
    assert one.source is not None
    before = dict(enumerate(session[f"m{one.source}"].blocks))
    if record.get("same"):
        if dict(one.parts) != before:
            yield f": changed, expected the same ({sorted(one.parts)} of {len(before)} parts)"
    elif "parts" in record:
        if sorted(one.parts) != record["parts"]:
            yield f".parts: {sorted(one.parts)}, expected {record['parts']}"
        elif any(before[index] != block for index, block in one.parts.items()):
            yield ".parts: rewritten, expected unchanged"
    elif "tool_calls" in record:
        was_calls = [block for block in before.values() if block.kind == "tool_call"]
        calls = [block for block in one.parts.values() if block.kind == "tool_call"]
        for was_call, call, real in zip(was_calls, calls, record["tool_calls"], strict=True):
            yield from _compare_input(was_call.input, call.input, real["args"])
    elif "content" in record:
        # What is words beside the calls: the reasoning is gone, the words are as they were.
        ours = [block.text for block in one.parts.values() if block.kind in ("text", "reasoning")]
        texts = [part["text"] for part in record["content"]]
        if ours != texts:
            yield f".content: {ours}, expected {texts}"
    elif "starts" in record:
        # The words of a prompt, with or without a notice behind them.
        was, after = _words(before), _words(one.parts)
        segments = record["starts"].get("text")
        kept = was if segments is None else was[slice(*segments[0]["input"])]
        if not after.startswith(kept):
            yield f".text: it does not begin with the first {len(kept)} characters"
    elif "folded" in record:
        # Calls and results as one text: the spans of the results, in order.
        [after] = one.parts.values()
        for segment in record["folded"]:
            number, (start, end) = record["ids"][segment["of"]], segment["chars"]
            was = _words(dict(enumerate(session[f"m{number}"].blocks)))
            yield from compare_text(was, after.text, [{"input": [start, end]}])
    elif "text" in record:
        was, after = _words(before), _words(one.parts)
        if utf16:
            was, after = _to_units(was), _to_units(after)
        if was == after and record["text"] == [{"input": [0, len(was)]}] and dict(one.parts) != before:
            return  # a picture beside the words went
        yield from compare_text(was, after, record["text"])
    elif dict(one.parts) == before and record.get("same") is False and set(record) - {"from", "same"}:
        yield f": the same, expected a change ({sorted(record)})"


def _compare_input(was: Json, after: Json, record: Json) -> Iterator[str]:
    if set(after) != set(record):
        yield f".input: {sorted(after)}, expected {sorted(record)}"
        return
    for name, value in record.items():
        if isinstance(value, list) and value and isinstance(value[0], dict) and "input" in value[0]:
            yield from compare_text(was[name], after[name], value)
        elif after[name] != value:
            yield f".input.{name}: {after[name]!r}, expected {value!r}"


def _words(parts: Mapping[int, Block]) -> str:
    blocks = parts.values()
    return "".join(
        "".join(p.text for p in b.parts if p.kind == "text") if isinstance(b, ToolOutput) else b.text
        for b in blocks
        if b.kind in ("text", "tool_output")
    )


def _to_units(text: str) -> str:
    """The text with a character for each UTF-16 unit."""
    data = text.encode("utf-16-le", "surrogatepass")
    return "".join(chr(data[at] | data[at + 1] << 8) for at in range(0, len(data), 2))


def compare_text(was: str, after: str, segments: list[Json]) -> Iterator[str]:
    """Hold a rewritten text to the segments of a vector: the spans of the input, in order and no longer."""
    at = 0
    if after == was:
        yield ".text: as it was, expected rewritten"
        return
    for segment in segments:
        if "input" not in segment:
            continue
        start, end = segment["input"]
        found = after.find(was[start:end], at)
        if found < 0:
            yield f".text: the span {start}-{end} is not in it"
            return
        at = found + (end - start)
        longer = end < len(was) and after[at : at + 1] == was[end]
        # One equal character may be ours; the next but one tells.
        if longer and after[at : at + 4] == was[end : end + 4]:
            yield f".text: it goes on after {end}"
    kept = [segment for segment in segments if "input" in segment]
    opaque = any("fixed" in segment for segment in segments)
    if not kept and not opaque and was.strip() and was[:20] in after:
        yield ".text: it holds the beginning, expected nothing of it"
