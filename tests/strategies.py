"""Hypothesis strategies: arbitrary sessions, and what they are made of.

Every choice that Hypothesis draws costs as much as a whole plan of a short session, and a session is made of
hundreds, so a move is drawn as a run of bytes, and its choices are read off them (`Dice`). Bytes shrink to
zeros, and zero picks the first of several, so that what stands first is what a failure shrinks to.

`sessions()` draws a list of moves (a user speaks, a tool loop runs, a compaction happens, …) and plays it,
so that a failing session shrinks to the few moves that matter. `orderly=True` leaves out what no provider
accepts: unanswered calls, outputs without a call, outputs that come late, inputs that are no objects, tools
that share a name or have no schema of an object; at the leaf every call in the context is answered right
after it.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from hypothesis import strategies as st

from inspector.session.blocks import (
    Block,
    Document,
    Image,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolOutput,
    Unknown,
)
from inspector.session.entries import Boundary, Corrupt, Cost, Entry, Note, Provided, Source, Tool, Usage
from inspector.session.session import Session

SAYINGS = (
    "",
    "ok",
    "read src/auth.py and fix the test",
    "line one\nline two\r\nline three",
    "naïve café — ½",
    "日本語のテスト",
    "👩‍💻🚀😀",
    "half \ud83d a pair",
    "\udc00",
    "\x00\x1b[31mred\x1b[0m\u2028\u2029\x7f",
    "<script>alert(1)</script> [a](javascript:x)",
    "x" * 700,
)
TOOLS = ("read", "write", "edit", "bash", "Grep", "mcp__db__query")
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

chars = st.one_of(st.sampled_from(SAYINGS), st.text(st.sampled_from('ab é😀\ud800\n"\\'), max_size=12))
"""Text as transcripts hold it: empty, long, controls, emoji, halves of surrogate pairs."""

_leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False),
    st.sampled_from(SAYINGS),
)
json_values = st.one_of(
    _leaves,
    st.lists(_leaves, max_size=2),
    st.dictionaries(st.sampled_from(("path", "command", "2", "10", "\ud800", "é")), _leaves, max_size=3),
)
"""Any JSON value, not deep."""


class Dice:
    """Choices read off bytes, one for each. Past the end of them every choice is the first."""

    def __init__(self, read: bytes) -> None:
        self.read, self.at = read, 0

    def number(self, below: int, width: int = 1) -> int:
        """From 0 to `below` - 1, off `width` bytes."""
        self.at += width
        return int.from_bytes(self.read[self.at - width : self.at], "big") % below

    def pick(self, options: Sequence[Any]) -> Any:
        return options[self.number(len(options))]

    def one_of(self, *makers: Callable[[Dice], Any]) -> Any:
        return self.pick(makers)(self)

    def some(self, make: Callable[[Dice], Any], least: int = 0, most: int = 3) -> tuple[Any, ...]:
        return tuple(make(self) for _ in range(least + self.number(most - least + 1)))


NUMBERS = (0, 1, -1, 9, 2**31, 2**53 + 1, -(2**63), 2**70)
FLOATS = (0.5, -0.0, 0.1, 1e16, 1e-7, 5e-324, sys.float_info.max, float("inf"), float("-inf"))


def make_saying(dice: Dice) -> str:
    return str(dice.pick(SAYINGS))


def make_chars(dice: Dice) -> str:
    if dice.number(2):
        return "".join(dice.pick('ab é😀\ud800\n"\\') for _ in range(dice.number(13)))
    return make_saying(dice)


def make_float(dice: Dice) -> float:
    found: float = struct.unpack(">d", dice.number(2**64, 8).to_bytes(8, "big"))[0]
    return 0.0 if found != found else found


def make_leaf(dice: Dice) -> Any:
    return dice.one_of(
        lambda _: None,
        lambda dice: dice.pick((False, True)),
        lambda dice: dice.pick(NUMBERS),
        lambda dice: dice.number(2**71 + 1, 9) - 2**70,
        lambda dice: dice.pick(FLOATS),
        make_float,
        make_saying,
        make_saying,
    )


def make_json(dice: Dice) -> Any:
    keys = ("path", "command", "2", "10", "\ud800", "é")
    kind = dice.number(7)
    if kind == 5:
        return list(dice.some(make_leaf, 0, 2))
    return make_members(dice, keys, make_leaf) if kind == 6 else make_leaf(dice)


def make_members(dice: Dice, keys: Sequence[str], make: Callable[[Dice], Any]) -> dict[str, Any]:
    return {dice.pick(keys): make(dice) for _ in range(dice.number(4))}


def make_object(dice: Dice) -> dict[str, Any]:
    """What providers ask for as a call's input."""
    kind = dice.number(3)
    if kind == 0:
        return {"path": dice.pick(("src/auth.py", "tests/test_auth.py", "README.md"))}
    if kind == 1:
        return {"command": make_chars(dice), "timeout": dice.number(10)}
    return make_members(dice, ("path", "pattern", "query", "1"), make_json)


def make_input(dice: Dice) -> Any:
    """What transcripts hold as a call's input."""
    return dice.one_of(make_object, make_json)


def make_text(dice: Dice) -> Text:
    return Text(text=make_chars(dice))


def make_reasoning(dice: Dice) -> Reasoning:
    if dice.number(2):
        return Reasoning(encrypted="ZW5jcnlwdGVk")
    return Reasoning(text=make_chars(dice), signature=dice.pick((None, "c2ln")))


def make_image(dice: Dice) -> Image:
    if dice.number(2):
        return Image(url="https://example.org/a.png")
    return Image(media_type="image/png", width=1, height=1, data=PNG)


def make_document(dice: Dice) -> Document:
    title = make_chars(dice) if dice.number(2) else None
    return Document(title=title, text=make_chars(dice), media_type="text/plain")


def make_unknown(dice: Dice) -> Unknown:
    return Unknown(type=dice.pick(("", "search_result")), raw=make_json(dice))


def make_part(dice: Dice) -> Part:
    part: Part = dice.one_of(make_text, make_text, make_image, make_document, make_unknown)
    return part


def make_said(dice: Dice) -> Block:
    """A block of a user's message."""
    block: Block = dice.one_of(make_text, make_text, make_text, make_image, make_document, make_unknown)
    return block


def make_count(dice: Dice) -> int:
    return dice.number(200_001, 3)


def make_usage(dice: Dice) -> Usage | None:
    if not dice.number(2):
        return None
    cost = Cost(input=dice.pick((0, 0.1, 0.25)), total=dice.pick((0, 0.35))) if dice.number(2) else None
    return Usage(
        input=make_count(dice),
        output=make_count(dice),
        cache_read=make_count(dice),
        cache_write=make_count(dice),
        total=make_count(dice) if dice.number(2) else None,
        cost=cost,
    )


@dataclass(frozen=True)
class Say:
    """Somebody who is not the model speaks."""

    blocks: tuple[Block, ...]
    role: str = "user"
    meta: bool = False


@dataclass(frozen=True)
class Answer:
    """What a tool says to one call. `delay` pushes it behind the next moves."""

    parts: tuple[Part, ...]
    is_error: bool = False
    artifact: str | None = None
    missing: bool = False
    delay: bool = False


@dataclass(frozen=True)
class Loop:
    """The model speaks, calls tools in parallel, and is answered, in one message or in one for each call.

    `aside` are words of the user in the same message as the outputs.
    """

    before: tuple[Block, ...]
    calls: tuple[tuple[str, Any, Answer], ...]
    after: tuple[Block, ...] = ()
    usage: Usage | None = None
    stop: str | None = None
    together: bool = True
    aside: tuple[Block, ...] = ()


@dataclass(frozen=True)
class Stray:
    """An output nobody asked for."""

    answer: Answer


@dataclass(frozen=True)
class Compact:
    """A recorded compaction that keeps from `back` entries before it, and the entries at `kept` before it."""

    summary: str
    back: int | None = None
    kept: tuple[int, ...] = ()
    trigger: str | None = None
    usage: Usage | None = None


@dataclass(frozen=True)
class Micro:
    """Recorded clearing of earlier outputs, the `picks`-th of those there are."""

    picks: tuple[int, ...]


@dataclass(frozen=True)
class Branch:
    """The conversation goes on from `back` entries before, with a summary of the branch or without."""

    back: int
    summary: str | None = None


@dataclass(frozen=True)
class Aside:
    """A sub-agent works; nothing of it is on the main path."""

    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Remark:
    """A record that stands in the chain of parents and that the model never sees."""

    type: str


Move = Say | Loop | Stray | Compact | Micro | Branch | Aside | Remark


@dataclass
class Play:
    """Moves become entries here."""

    entries: list[Entry] = field(default_factory=list)
    orderly: bool = False
    head: str | None = None
    ends: set[str | None] = field(default_factory=set)
    calls: int = 0
    answered: list[str] = field(default_factory=list)
    late: list[ToolOutput] = field(default_factory=list)

    def add(self, **given: Any) -> str:
        number = len(self.entries)
        source = Source(number + 1, number * 10, 9)
        values = {
            "id": f"e{number}",
            "parent": self.head,
            "sources": (source,),
            "timestamp": "2026-01-01T00:00:00Z",
        }
        self.entries.append(Entry(**(values | given)))
        return f"e{number}"

    def path(self) -> list[str]:
        parents = {entry.id: entry.parent for entry in self.entries}
        found, at = [], self.head
        while at is not None:
            found.append(at)
            at = parents[at]
        return found[::-1]

    def play(self, move: Move) -> None:
        match move:
            case Say():
                self.head = self.add(role=move.role, blocks=move.blocks, meta=move.meta)
            case Loop():
                self._loop(move)
            case Stray():
                self.calls += 1
                output = ToolOutput(call_id=f"lost{self.calls}", parts=move.answer.parts)
                self.head = self.add(role="tool", blocks=(output,))
            case Compact():
                self._compact(move)
            case Micro():
                names = tuple(
                    self.answered[pick % len(self.answered)] for pick in move.picks if self.answered
                )
                boundary = Boundary(kind="micro", cleared=names, tokens_saved=1000)
                self.head = self.add(role="system", kind="micro", boundary=boundary)
            case Branch():
                path = [name for name in self.path() if name in self.ends or not self.orderly]
                self.head = path[max(len(path) - 1 - move.back, 0)] if path else None
                if move.summary is not None:
                    text = Text(text="[Branch Summary]\n\n" + move.summary)
                    self.head = self.add(kind="branch_summary", blocks=(text,))
            case Remark():
                raw = Unknown(type=move.type, raw={"to": "a model"})
                self.head = self.add(role="other", kind="note", blocks=(raw,))
            case Aside():
                self.add(role="assistant", blocks=move.blocks, sidechain="agent-1", parent=None)
        if self.late and not isinstance(move, Loop):
            self.head = self.add(role="tool", blocks=tuple(self.late))
            self.late.clear()
        self.ends.add(self.head)

    def _loop(self, loop: Loop) -> None:
        calls: list[ToolCall] = []
        outputs: list[ToolOutput] = []
        for name, given, answer in loop.calls:
            self.calls += 1
            call = ToolCall(id=f"c{self.calls}", name=name, input=given)
            calls.append(call)
            if answer.missing:
                continue
            output = ToolOutput(
                call_id=call.id,
                name=name,
                parts=answer.parts,
                is_error=answer.is_error,
                status="error" if answer.is_error else None,
                artifact=answer.artifact,
            )
            self.answered.append(call.id)
            (self.late if answer.delay else outputs).append(output)
        self.head = self.add(
            role="assistant",
            blocks=(*loop.before, *calls, *loop.after),
            usage=loop.usage,
            model="demo-1",
            provider="anthropic",
            stop_reason=loop.stop or ("toolUse" if calls else "stop"),
            error="prompt is too long" if loop.stop == "error" else None,
        )
        if loop.together and outputs:
            self.head = self.add(role="user" if loop.aside else "tool", blocks=(*outputs, *loop.aside))
        elif not loop.together:
            for output in outputs:
                self.head = self.add(role="tool", blocks=(output,))

    def _compact(self, move: Compact) -> None:
        path = self.path()
        if self.orderly:
            answers = {
                entry.id for entry in self.entries if any(b.kind == "tool_output" for b in entry.blocks)
            }
            path = [name for name in path if name not in answers]
        first_kept = None if move.back is None or not path else path[max(len(path) - 1 - move.back, 0)]
        boundary = Boundary(
            trigger=move.trigger,
            tokens_before=1000,
            first_kept=first_kept,
            kept=tuple(dict.fromkeys(path[len(path) - 1 - back] for back in move.kept if back < len(path))),
            summary=move.summary,
            files_read=("a.py",),
        )
        text = Text(text="[Context Summary]\n\n" + move.summary)
        self.head = self.add(kind="compaction", blocks=(text,), boundary=boundary, usage=move.usage)


def make_answer(dice: Dice, orderly: bool) -> Answer:
    rarely = (False,) if orderly else (False,) * 7 + (True,)
    return Answer(
        missing=dice.pick(rarely),
        delay=dice.pick(rarely),
        is_error=dice.pick((False, True)),
        artifact=dice.pick((None, "/tmp/out.txt")),
        parts=dice.some(make_part, 0, 2),
    )


def make_call(dice: Dice, orderly: bool) -> tuple[str, Any, Answer]:
    answer = make_answer(dice, orderly)
    return dice.pick(TOOLS), make_object(dice) if orderly else make_input(dice), answer


def make_say(dice: Dice, orderly: bool) -> Say:
    meta = dice.pick((False, False, False, True))
    return Say(dice.some(make_said, 1 if orderly else 0, 2), meta=meta)


def make_loop(dice: Dice, orderly: bool) -> Loop:
    if orderly:  # a provider's messages think before they speak
        before = (*dice.some(make_reasoning, 0, 1), *dice.some(make_text, 0, 1))
    else:
        before = dice.some(lambda dice: dice.one_of(make_text, make_reasoning), 0, 2)
    return Loop(
        before=before,
        after=() if orderly else dice.some(make_text, 0, 1),
        usage=make_usage(dice),
        stop=None if orderly else dice.pick((None, None, None, "aborted", "error", "length")),
        together=dice.pick((False, True)),
        aside=dice.pick(((), (), (), (Text(text="and be quick"),))),
        calls=dice.some(lambda dice: make_call(dice, orderly)),
    )


def make_compaction(dice: Dice, orderly: bool) -> Compact:
    return Compact(
        summary=make_chars(dice),
        back=dice.number(13) if dice.number(2) else None,
        kept=() if orderly else dice.some(lambda dice: dice.number(13), 0, 2),
        trigger=dice.pick((None, "auto", "manual")),
        usage=make_usage(dice),
    )


def make_micro(dice: Dice, orderly: bool) -> Micro:
    return Micro(dice.some(lambda dice: dice.number(21), 1))


def make_branch(dice: Dice, orderly: bool) -> Branch:
    return Branch(dice.number(13), make_chars(dice) if dice.number(2) else None)


def make_aside(dice: Dice, orderly: bool) -> Aside:
    return Aside(dice.some(make_text, 0, 2))


def make_remark(dice: Dice, orderly: bool) -> Remark:
    return Remark(dice.pick(("model_change", "song")))


def make_stray(dice: Dice, orderly: bool) -> Stray:
    return Stray(Answer(parts=dice.some(make_part, 0, 2)))


def make_system(dice: Dice, orderly: bool) -> Say:
    return Say(dice.some(make_text, 0, 2), role=dice.pick(("system", "developer")))


_USUAL = (make_say, make_loop, make_compaction, make_micro, make_branch, make_aside, make_remark)
_ODD = (make_stray, make_system)


def make_move(dice: Dice, orderly: bool) -> Move:
    """One move. Tool loops are what transcripts are made of."""
    kinds = _USUAL if orderly else (*_USUAL, *_ODD)
    move: Move = dice.pick((make_say,) * 2 + (make_loop,) * 4 + kinds)(dice, orderly)
    return move


def make_tool(dice: Dice) -> Tool:
    return Tool(name=dice.pick(TOOLS), description=make_chars(dice), input_schema=make_input(dice))


def make_head(dice: Dice, orderly: bool = False) -> dict[str, Any]:
    tools = dice.some(make_tool, 0, 2)
    if orderly:
        schema = {"type": "object"}
        named = {tool.name: tool.model_copy(update={"input_schema": schema}) for tool in tools}
        tools = tuple(named.values())
    return {
        "title": dice.pick((None, *SAYINGS)),
        "model": dice.pick((None, "demo-1")),
        "window": dice.pick((None, 8_000, 200_000)),
        "extra": {"left over": make_json(dice)} if dice.number(2) else {},
        "system": dice.some(make_text, 0, 2),
        "tools": tools,
        "provided": dice.some(lambda dice: Provided(name="memory", text=make_chars(dice)), 0, 1),
    }


# Few moves and heads need as many bytes; those that do end in the simplest choices.
_MOVE = st.binary(min_size=100, max_size=100)
_HEAD = st.binary(min_size=60, max_size=60)


@cache
def _moves(least: int, most: int) -> st.SearchStrategy[list[bytes]]:
    return st.lists(_MOVE, min_size=least, max_size=most)


@cache
@st.composite
def sessions(draw: st.DrawFn, *, least: int = 0, most: int = 10, orderly: bool = False) -> Session:
    """A session of `least` to `most` moves (a tool loop is one move and makes up to four entries)."""
    play = Play(orderly=orderly)
    for drawn in draw(_moves(least, most)):
        play.play(make_move(Dice(drawn), orderly))
    dice = Dice(draw(_HEAD))
    names = [entry.id for entry in play.entries if entry.sidechain is None]
    leaves = {"head": play.head, "earlier": names[len(names) // 2] if names else None, "nowhere": "nowhere"}
    size = len(play.entries)
    leaf = dice.pick(("head",) * 8 + ("earlier", "none", "nowhere"))
    records = dice.some(lambda dice: (make_chars(dice), dice.pick((False, True))), 0, 1)
    return Session(
        format="demo",
        id="s1",
        entries=tuple(play.entries),
        leaf=leaves.get("head" if orderly else leaf),
        notes=tuple(
            Note(type=name, known=known, source=Source(size + at, size * 10, 9))
            for at, (name, known) in enumerate(records, 1)
        ),
        corrupt=tuple(Corrupt(line=size + 9, offset=0, reason="not JSON") for _ in records),
        **make_head(dice, orderly),
    )


def paths_of(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every value in a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(way for key, inner in items for way in paths_of(inner, (*path, key)))]


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy: Any = list(value) if isinstance(value, list) else dict(value)
    if new is REMOVED and len(path) == 1:
        del copy[path[0]]
    else:
        copy[path[0]] = replaced(copy[path[0]], path[1:], new)
    return copy


REMOVED = object()
JUNK = json_values | st.just(REMOVED) | st.sampled_from([["role"], {"type": "text"}, -1])
