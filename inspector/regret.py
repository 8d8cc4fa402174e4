"""What was lost and then needed: the same file read again, a command re-run, an error met, a rule repeated.

In go a session and its facts, out comes one `Regret` for each time that something a recorded compaction took
away was paid for once more, in tokens of the ledger. What could still be read is never regretted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from .blocks import BlockRef
from .facts import Facts, Said
from .ledger import Ledger
from .mentions import long_words
from .printable import printable
from .session import Session
from .trace import Trace, Traced, trace_recorded

MEANS = {
    "file": "read again",
    "command": "run again",
    "error": "met again",
    "constraint": "said again",
}
"""What counts as needing a fact once more, by its kind."""
SAME_RULE, SAME_LEAST = 0.5, 3
"""Share and number of the longer words of an instruction that one has which repeats it; choices of ours."""
_FIGURES = re.compile(r"\d+")


@dataclass(frozen=True, eq=False, repr=False)
class Regret:
    """One thing needed again after the compaction `entry` took it away.

    `before` says it last before, `again` is where it came again, `paid` the blocks that cost `tokens`. `same`
    tells, for files and commands, whether the answer was the same as before, figures aside.
    """

    traced: Traced
    entry: str
    before: BlockRef
    again: BlockRef
    paid: tuple[BlockRef, ...]
    tokens: int
    same: bool

    @property
    def sentence(self) -> str:
        """What happened and what it cost."""
        form = printable(" ".join(self.traced.fact.form.split()), 80)
        answer = ", with the same answer" if self.same else ""
        return (
            f"The {self.traced.fact.kind} {form} was {MEANS[self.traced.fact.kind]} in "
            f"{printable(str(self.again))} after it was {self.traced.fate}{answer}: {self.tokens:,} tokens."
        )

    def __repr__(self) -> str:
        form = printable(" ".join(self.traced.fact.form.split()), 60)
        fact = self.traced.fact
        return f"Regret({fact.kind} {form!r} {MEANS[fact.kind]} in {self.again}: {self.tokens:,} tokens)"


def find_regret(session: Session, facts: Facts, ledger: Ledger) -> tuple[Regret, ...]:
    """Everything on the path that a recorded compaction made necessary once more, in the order it came.

    A file is regretted when no output that showed it still stood, a command or an error when it did not stand
    verbatim, an instruction when nothing or only a part of it stood. Each is counted once for a compaction.

    >>> from inspector.bundled import LOST_PATH, open_bundled
    >>> from inspector.facts import find_facts
    >>> from inspector.ledger import count_tokens
    >>> session = open_bundled()
    >>> found = find_regret(session, find_facts(session), count_tokens(session))
    >>> any(regret.traced.fact.form == LOST_PATH for regret in found)
    True
    """
    traces = trace_recorded(session, facts)
    walk = _Walk(session)
    found: list[Regret] = []
    for number, trace in enumerate(traces):
        end = walk.place(traces[number + 1]) if number + 1 < len(traces) else len(walk.names)
        found += _regret_one(walk, trace, end, ledger, facts)
    order = walk.at
    return tuple(sorted(found, key=lambda regret: (order[regret.again.entry], regret.again.block)))


class _Walk:
    """The path with the answers to its calls."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.names = [session.entries[i].id for i in session.path]
        self.at = {name: at for at, name in enumerate(self.names)}

    @cached_property
    def answers(self) -> dict[BlockRef, BlockRef]:
        """Call to output, as a provider pairs them: the next output of the call's id."""
        open_calls: dict[str, BlockRef] = {}
        out: dict[BlockRef, BlockRef] = {}
        for i in self.session.path:
            entry = self.session.entries[i]
            for number, block in enumerate(entry.blocks):
                if block.kind == "tool_call":
                    open_calls[block.id] = BlockRef(entry.id, number)
                elif block.kind == "tool_output" and block.call_id in open_calls:
                    out[open_calls.pop(block.call_id)] = BlockRef(entry.id, number)
        return out

    def place(self, trace: Trace) -> int:
        entry = trace.scene.entry
        return self.at[entry.id] if entry is not None else len(self.names)

    def text(self, ref: BlockRef | None) -> str | None:
        return None if ref is None else self.session.block(ref).text


def _regret_one(walk: _Walk, trace: Trace, end: int, ledger: Ledger, facts: Facts) -> Iterator[Regret]:
    start, entry = walk.place(trace), trace.scene.entry
    if entry is None:
        return
    rules = [
        said
        for fact in facts.by_kind("constraint")
        for said in fact.said
        if said.by == "user" and start < walk.at.get(said.ref.entry, -1) < end
    ]
    for traced in trace:
        if traced.fact.kind not in MEANS or not traced.stood:
            continue
        if traced.fact.kind == "constraint":
            pair = _said_again(walk, traced, rules)
        else:
            pair = _met_again(walk, traced, start, end)
        if pair is None:
            continue
        before, again = pair
        answer = walk.answers.get(again.ref)
        paid = (again.ref,) if answer is None else (again.ref, answer)
        tokens = sum(int(ledger.tokens[ledger.row(ref)]) for ref in paid)
        same = _same(walk.text(walk.answers.get(before.ref)), walk.text(answer))
        yield Regret(traced, entry.id, before.ref, again.ref, paid, tokens, same)


def _met_again(walk: _Walk, traced: Traced, start: int, end: int) -> tuple[Said, Said] | None:
    """The last time before the compaction and the first time after it, where that is to be regretted."""
    kind = traced.fact.kind
    if kind != "file" and traced.fate == "verbatim":
        return None
    every = [said for said in traced.fact.said if said.ref.entry in walk.at and _counts(kind, said)]
    if kind != "error":
        every = [said for said in every if walk.session.block(said.ref).kind == "tool_call"]
    before = [said for said in every if walk.at[said.ref.entry] < start]
    after = [said for said in every if start < walk.at[said.ref.entry] < end]
    if not before or not after:
        return None
    if kind == "file":
        answers = [walk.answers.get(said.ref) for said in before]
        rows, tree = traced.scene.after.rows, walk.session.tree
        if any(ref and rows[tree.start[tree.index[ref.entry]] + ref.block] for ref in answers):
            return None
    return before[-1], after[0]


def _counts(kind: str, said: Said) -> bool:
    if kind == "file":
        return said.operation == "read" and said.by == "model"
    return said.by == "model" if kind == "command" else said.by == "tool"


def _said_again(walk: _Walk, traced: Traced, later: list[Said]) -> tuple[Said, Said] | None:
    if traced.fate not in ("lost", "weakened"):
        return None
    mine = [s for s in traced.fact.said if s.by == "user" and s.ref in traced.said]
    words = long_words(traced.fact.form)
    for said in later if mine else ():
        others = long_words(walk.session.block(said.ref).text[said.start : said.end])
        if len(words & others) >= max(SAME_RULE * min(len(words), len(others)), SAME_LEAST):
            return mine[-1], said
    return None


def _same(before: str | None, after: str | None) -> bool:
    if before is None or after is None:
        return False
    return _FIGURES.sub("0", before) == _FIGURES.sub("0", after)
