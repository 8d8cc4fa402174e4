"""Hypothesis strategies: arbitrary sessions, and what they are made of.

`sessions()` draws a list of moves (a user speaks, a tool loop runs, a compaction happens, …) and plays it,
so that a failing session shrinks to the few moves that matter. `orderly=True` leaves out what no provider
accepts: unanswered calls, outputs without a call, outputs that come late, inputs that are no objects; at the
leaf every call in the context is answered right after it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
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

objects = st.one_of(
    st.fixed_dictionaries({"path": st.sampled_from(("src/auth.py", "tests/test_auth.py", "README.md"))}),
    st.fixed_dictionaries({"command": chars, "timeout": st.integers(0, 9)}),
    st.dictionaries(st.sampled_from(("path", "pattern", "query", "1")), json_values, max_size=3),
)
inputs = st.one_of(objects, json_values)
"""Inputs of tool calls: providers ask for objects, transcripts hold anything."""

texts = st.builds(Text, text=chars)
reasonings = st.one_of(
    st.builds(Reasoning, text=chars, signature=st.none() | st.just("c2ln")),
    st.builds(Reasoning, encrypted=st.just("ZW5jcnlwdGVk")),
)
images = st.one_of(
    st.just(Image(media_type="image/png", width=1, height=1, data=PNG)),
    st.builds(Image, url=st.just("https://example.org/a.png")),
)
documents = st.builds(Document, title=st.none() | chars, text=chars, media_type=st.just("text/plain"))
unknowns = st.builds(Unknown, type=st.sampled_from(("", "search_result")), raw=json_values)
parts: st.SearchStrategy[Part] = st.one_of(texts, texts, images, documents, unknowns)
said: st.SearchStrategy[Block] = st.one_of(texts, texts, texts, images, documents, unknowns)
"""Blocks of a user's message."""

counts = st.integers(0, 200_000)
costs = st.builds(Cost, input=st.sampled_from((0, 0.1, 0.25)), total=st.sampled_from((0, 0.35)))
usages = st.builds(
    Usage,
    input=counts,
    output=counts,
    cache_read=counts,
    cache_write=counts,
    total=st.none() | counts,
    cost=st.none() | costs,
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
            provider="demo",
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


def tuples(
    items: st.SearchStrategy[Any], least: int = 0, most: int = 3
) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(items, min_size=least, max_size=most).map(tuple)


def make_moves(*, orderly: bool) -> st.SearchStrategy[Move]:
    """One move; what stands first is what a failure shrinks to."""
    rare = st.just(False) if orderly else st.sampled_from((False,) * 7 + (True,))
    answers = st.builds(
        Answer,
        parts=tuples(parts, 0, 2),
        is_error=st.booleans(),
        artifact=st.sampled_from((None, "/tmp/out.txt")),
        missing=rare,
        delay=rare,
    )
    says = st.builds(
        Say, tuples(said, 1 if orderly else 0, 2), meta=st.sampled_from((False, False, False, True))
    )
    # A provider's messages think before they speak.
    thinking_first = st.builds(lambda a, b: a + b, tuples(reasonings, 0, 1), tuples(texts, 0, 1))
    loops = st.builds(
        Loop,
        before=thinking_first if orderly else tuples(st.one_of(texts, reasonings), 0, 2),
        calls=tuples(st.tuples(st.sampled_from(TOOLS), objects if orderly else inputs, answers)),
        after=st.just(()) if orderly else tuples(texts, 0, 1),
        usage=st.none() | usages,
        stop=st.none() if orderly else st.sampled_from((None, None, None, "aborted", "error", "length")),
        together=st.booleans(),
        aside=st.sampled_from(((), (), (), (Text(text="and be quick"),))),
    )
    compactions = st.builds(
        Compact,
        summary=chars,
        back=st.none() | st.integers(0, 12),
        kept=st.just(()) if orderly else tuples(st.integers(0, 12), 0, 2),
        trigger=st.sampled_from((None, "auto", "manual")),
        usage=st.none() | usages,
    )
    micros = st.builds(Micro, tuples(st.integers(0, 20), 1))
    branches = st.builds(Branch, st.integers(0, 12), st.none() | chars)
    asides = st.builds(Aside, tuples(texts, 0, 2))
    remarks = st.builds(Remark, st.sampled_from(("model_change", "song")))
    odd = (
        st.builds(Stray, st.builds(Answer, parts=tuples(parts, 0, 2))),
        st.builds(Say, tuples(texts, 0, 2), role=st.sampled_from(("system", "developer"))),
    )
    usual = (says, loops, compactions, micros, branches, asides, remarks)
    kinds = usual if orderly else (*usual, *odd)
    # Tool loops are what transcripts are made of. Drawing the kind first is three times faster than one_of.
    return st.sampled_from((0, 0, 1, 1, 1, 1, *range(len(kinds)))).flatmap(kinds.__getitem__)


tools = st.builds(Tool, name=st.sampled_from(TOOLS), description=chars, input_schema=inputs)
_moves = {orderly: make_moves(orderly=orderly) for orderly in (False, True)}
_heads = st.fixed_dictionaries(
    {
        "title": st.none() | st.sampled_from(SAYINGS),
        "model": st.sampled_from((None, "demo-1")),
        "window": st.sampled_from((None, 8_000, 200_000)),
        "system": tuples(texts, 0, 2),
        "tools": tuples(tools, 0, 2),
        "provided": tuples(st.builds(Provided, name=st.just("memory"), text=chars), 0, 1),
        "extra": st.just({}) | st.fixed_dictionaries({"left over": json_values}),
    }
)
_leaf = st.sampled_from(("head",) * 8 + ("earlier", "none", "nowhere"))
_bookkeeping = tuples(st.tuples(chars, st.booleans()), 0, 1)


@st.composite
def sessions(draw: st.DrawFn, *, least: int = 0, most: int = 10, orderly: bool = False) -> Session:
    """A session of `least` to `most` moves (a tool loop is one move and makes up to four entries)."""
    play = Play(orderly=orderly)
    for move in draw(st.lists(_moves[orderly], min_size=least, max_size=most)):
        play.play(move)
    names = [entry.id for entry in play.entries if entry.sidechain is None]
    leaves = {"head": play.head, "earlier": names[len(names) // 2] if names else None, "nowhere": "nowhere"}
    size = len(play.entries)
    records = draw(_bookkeeping)
    return Session(
        format="demo",
        id="s1",
        entries=tuple(play.entries),
        leaf=leaves.get("head" if orderly else draw(_leaf)),
        notes=tuple(
            Note(type=name, known=known, source=Source(size + at, size * 10, 9))
            for at, (name, known) in enumerate(records, 1)
        ),
        corrupt=tuple(Corrupt(line=size + 9, offset=0, reason="not JSON") for _ in records),
        **draw(_heads),
    )
