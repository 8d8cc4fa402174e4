"""A replay beside a second bookkeeping: entries are counted one by one as they arrive, and every compaction
is carried out on what stands here, not on what the replay says that it holds."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pytest

from inspector.planning.assemble import live_context
from inspector.planning.planner import make_plan
from inspector.replays.carry import CarriedEntry, carry_entries, chain
from inspector.replays.engine import replay
from inspector.replays.run import Compaction, Run
from inspector.session.blocks import Block
from inspector.session.entries import Entry
from inspector.session.session import Session
from inspector.summaries.record import changes_stored
from inspector.tokens.counters import chars4_utf16
from inspector.tokens.history import trace_history
from inspector.tokens.ledger import Ledger, count_tokens
from tests.fixed_sessions import LENGTH, fixed_session

SEEDS = range(3, 160, 2)


def live_again(seed: int) -> Session:
    """A session without compactions, refusals and reports: what is counted is all there is."""
    session = fixed_session(seed)
    path = [session.entries[i] for i in session.path]
    fields = {"usage": None, "error": None, "stop_reason": None}
    entries = chain(
        entry.model_copy(update=fields) for entry in path if entry.kind not in ("compaction", "micro")
    )
    return session.with_entries(entries, entries[-1].id if entries else None)


def draw_given(seed: int) -> dict[str, Any]:
    chance = random.Random(seed)
    cutter = chance.choice(
        (
            {"kind": "keep-recent-turns", "turns": chance.choice((0, 1, 2))},
            {"kind": "keep-recent-messages", "messages": chance.choice((1, 3, 6))},
        )
    )
    measure = chance.choice(("usage", "assembled", "messages", "chars4_utf16"))
    most = {"messages": (3, 6, 12), "chars4_utf16": (20, 60, 200)}.get(measure, (100, 300, 900))
    return {
        "name": "mine",
        "version": "1.0" if seed % 4 == 1 else "",
        "trigger": {
            "tokens": chance.choice(most),
            "measure": measure,
            "check": chance.choice(("reply", "outputs", "request")),
        },
        "rules": [cutter, {"kind": "summarise-older", "split_turns": chance.choice((True, False))}],
    }


@dataclass
class Book:
    """What stands, counted anew, and what is still to come of the run's compactions."""

    session: Session
    ledger: Ledger
    run: Run
    stand: list[CarriedEntry] = field(default_factory=list)
    arrived: list[tuple[Entry, int]] = field(default_factory=list)
    coming: list[Compaction] = field(default_factory=list)
    prefix: int = 0

    @property
    def entries(self) -> list[Entry]:
        return [*(item.entry for item in self.stand), *(entry for entry, _ in self.arrived)]

    @property
    def size(self) -> int:
        carried = sum(sum(self.tokens_of(item)) for item in self.stand)
        return self.ledger.head_tokens + carried + sum(tokens for _, tokens in self.arrived)

    def tokens_of(self, item: CarriedEntry) -> tuple[int, ...]:
        if item.origin < 0:
            return item.tokens
        return tuple(self.ledger.count_blocks(item.entry.blocks).tolist())

    @property
    def value(self) -> int:
        measure = self.run.policy.trigger.measure
        if measure == "messages":
            return len(self.entries)
        # By usage it is Flue's estimate for a policy of a system as long as nothing is reported (FLUE §4) and
        # nothing was compacted.
        whole = len(self.coming) == len(self.run.compactions) and self.run.policy.version
        if measure == "chars4_utf16" or (measure == "usage" and whole):
            return sum(chars4_utf16.weigh(entry) for entry in self.entries)  # type: ignore[misc]
        return self.size

    @property
    def blocks(self) -> list[Block]:
        """What the model is shown: a summary stands first."""
        session = self.as_session()
        return [piece.block for piece in live_context(session, count_tokens(session, LENGTH)).pieces]

    def as_session(self) -> Session:
        entries = chain(self.entries)
        return self.session.with_entries(entries, entries[-1].id if entries else None)

    def look(self, entry: str) -> None:
        """The moment at which the policy looks, right after an entry."""
        fires = self.value > (self.run.policy.trigger.tokens or 0)
        if not self.coming or self.coming[0].entry != entry or not fires:
            assert not fires or self.may_rest(), f"it should fire after {entry}"
            return
        item = self.coming.pop(0)
        assert item.before == self.size and item.adopted
        held = item.plan.session
        assert [piece.block for piece in live_context(held, item.plan.ledger).pieces] == self.blocks
        self.stand, self.arrived = carry_entries(item.plan, "new"), []
        # What stays as it was in the planned session is counted there.
        self.stand = [one._replace(origin=-1, tokens=self._counted(one, item)) for one in self.stand]
        assert item.after == self.size
        self.prefix = min(self.prefix, item.prefix)

    def _counted(self, one: CarriedEntry, item: Compaction) -> tuple[int, ...]:
        if one.origin < 0:
            return one.tokens
        start = item.plan.ledger.start
        return tuple(item.plan.ledger.tokens[start[one.origin] : start[one.origin + 1]].tolist())

    def may_rest(self) -> bool:
        """Whether there is nothing to compact, or it was given up because nothing came of it."""
        if any(event.kind == "no_progress" for event in self.run.events):
            return True
        session = self.as_session()
        return not changes_stored(
            make_plan(session, count_tokens(session, LENGTH), self.run.policy, window=0)
        )


def find_open(entries: list[Entry]) -> list[bool]:
    """Before which entries, and at the end, a call waits for an output that comes."""
    spans: list[tuple[int, int]] = []
    made: dict[str, int] = {}
    for number, entry in enumerate(entries):
        if entry.role == "assistant" and not (number and entries[number - 1].role == "assistant"):
            made.clear()
        for block in entry.blocks:
            if block.kind == "tool_call":
                made[block.id] = number
            elif block.kind == "tool_output" and block.call_id in made:
                spans.append((made.pop(block.call_id), number))
    return [any(asked < at <= got for asked, got in spans) for at in range(len(entries) + 1)]


@cache
def replay_fixed(seed: int) -> tuple[Session, Ledger, Run]:
    session = live_again(seed)
    ledger = count_tokens(session, LENGTH)
    return session, ledger, replay(session, draw_given(seed), ledger=ledger, window=0)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_figure_of_a_replay_is_what_counting_one_by_one_gives(seed: int) -> None:
    session, ledger, run = replay_fixed(seed)
    history = trace_history(session, ledger)
    lived = [
        (session.entries[i], int(history.step[at]), int(ledger.entry_tokens[i]))
        for at, i in enumerate(session.path)
        if session.entries[i].kind != "note"
    ]
    entries = [entry for entry, _, _ in lived]
    still, check = find_open(entries), run.policy.trigger.check
    requests = [entry.role == "assistant" and not still[n] for n, entry in enumerate(entries)]
    book = Book(session, ledger, run, coming=list(run.compactions))
    sent, cached, output = ([0] * len(run) for _ in range(3))
    ends: dict[int, tuple[int, int]] = {}
    for number, (entry, step, tokens) in enumerate(lived):
        if requests[number]:
            if check == "request":
                book.look(entries[number - 1].id if number else "")
            sent[step] += book.size
            cached[step] += min(book.prefix, book.size)
            book.prefix = book.size
        book.arrived.append((entry, tokens))
        output[step] += tokens if entry.role == "assistant" else 0
        answers = any(block.kind == "tool_output" for block in entry.blocks)
        follows = number + 1 < len(entries) and requests[number + 1]
        if (check == "reply" and entry.role == "assistant" and not still[number + 1]) or (
            check == "outputs" and answers and follows
        ):
            book.look(entry.id)
        ends[step] = (book.size, book.value)
    assert not book.coming, "compactions at moments at which the policy does not look"
    assert run.sent.tolist() == sent and run.cached.tolist() == cached and run.output.tolist() == output
    assert {step: (int(run.context[step]), int(run.measured[step])) for step in ends} == ends
    assert run.requests.sum() == sum(requests)


def test_enough_of_these_replays_compact() -> None:
    assert sum(len(replay_fixed(seed)[2].compactions) for seed in SEEDS) > 40
