"""Sessions of a few words, for tests of what is found in them."""

from __future__ import annotations

from typing import Any

from inspector.facts.facts import Facts, find_facts
from inspector.session.blocks import Block, Text, ToolCall, ToolOutput
from inspector.session.entries import Boundary, Entry
from inspector.session.session import Session

CWD = "/home/ann/app"


def talk(*said: tuple[str, Block], cwd: str | None = CWD) -> Session:
    """A session of one block per entry: (role, block)."""
    entries = tuple(
        Entry(id=f"e{n}", parent=f"e{n - 1}" if n else None, role=role, blocks=(block,))
        for n, (role, block) in enumerate(said)
    )
    return Session(format="demo", cwd=cwd, entries=entries, leaf=entries[-1].id if entries else None)


def tell(text: str, role: str = "user") -> Facts:
    return find_facts(talk((role, Text(text=text))))


def call(name: str, **given: Any) -> Facts:
    return find_facts(talk(("assistant", ToolCall(id="c", name=name, input=given))))


def answer(text: str, command: str = "make", failed: bool = False) -> Facts:
    return find_facts(
        talk(
            ("assistant", ToolCall(id="c", name="Bash", input={"command": command})),
            ("tool", ToolOutput(call_id="c", parts=(Text(text=text),), is_error=failed)),
        )
    )


def use(
    number: int, name: str, output: str = "ok", failed: bool = False, **given: Any
) -> tuple[Entry, Entry]:
    """A call and its answer, for `tests.test_cuts.build`."""
    call = ToolCall(id=f"c{number}", name=name, input=given)
    answer = ToolOutput(call_id=call.id, name=name, parts=(Text(text=output),), is_error=failed)
    return Entry(id="", role="assistant", blocks=(call,)), Entry(id="", role="tool", blocks=(answer,))


def compact(summary: str = "", **boundary: Any) -> Entry:
    """A recorded compaction; without a text, one whose summary is missing."""
    blocks = (Text(text=summary),) if summary else ()
    told = Boundary(summary=summary, **boundary)
    return Entry(id="", kind="compaction", blocks=blocks, boundary=told)


def forms(facts: Facts, kind: str) -> list[str]:
    return [fact.form for fact in facts.by_kind(kind)]
