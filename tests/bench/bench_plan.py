"""How long a plan of 100,000 messages takes: the first, and the next after an edit, beside LangChain's.

Both get the same messages, in their own classes, and keep the last 20,000 tokens. Our ledger is counted
beforehand, and the session's columns are made then; LangChain weighs characters as it goes. Rows
that include that work say so. Ratios are to `trim_messages` with its own approximate counter. Goals: a
first plan 5 times as fast, a plan after an edit in 10 ms, another cut looked up in 10 µs. How either grows is
told over a session of a tenth of the messages; ten times is in a line with it.
"""

from __future__ import annotations

import dataclasses
import gc
import statistics
import time
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from bench_count import clock
from langchain_core.messages import trim_messages
from long_session import SIZE, make_langchain, make_messages, make_session

from inspector.planning.assemble import build_context, live_context
from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.session.garbage import paused_gc
from inspector.session.session import Session
from inspector.tokens.counters import openai
from inspector.tokens.history import trace_history
from inspector.tokens.ledger import Ledger, count_tokens
from inspector.workbench.payloads.base_payload import to_json
from inspector.workbench.payloads.scene import draw_plan, draw_scene

NAME, KEEP, ROUNDS, LOOKS = "o200k_base", 20_000, 5, 10_000
PEER = "langchain-core trim_messages, its approximate counter"


def length_4(messages: list[Any]) -> int:
    """The cheapest counter there is."""
    return sum(len(message.content) for message in messages) // 4


def trim(messages: list[Any], counter: Any) -> list[Any]:
    kept: list[Any] = trim_messages(messages, max_tokens=KEEP, strategy="last", token_counter=counter)
    return kept


class Bench:
    """One session, and everything that is done with it."""

    def __init__(self) -> None:
        with paused_gc():
            self.messages = make_messages()
            self.session = make_session(self.messages)
            self.theirs = make_langchain(self.messages)
        self.counting = clock(lambda: setattr(self, "ledger", count_tokens(self.session, NAME)))
        self.ledger: Ledger
        self.plan = make_plan(self.session, self.ledger, "flue")
        self.keep = KEEP
        self.cuts = np.flatnonzero(self.plan.cuts.legal)
        gc.collect()
        gc.freeze()

    def fresh(self) -> tuple[Session, Ledger]:
        """The session at its leaf and its counts, with nothing else worked out yet."""
        openai._cached_counts(NAME).clear()
        return self.session.at(self.session.leaf), dataclasses.replace(self.ledger)

    def untouched(self) -> Session:
        """The same entries as a session whose columns are not made."""
        fields = {name: getattr(self.session, name) for name in Session.model_fields}
        return Session.model_construct(**fields)

    def next_setting(self) -> Plan:
        self.keep += 97
        edits = {"settings": {"keep-recent-tokens.tokens": self.keep}}
        return make_plan(self.session, self.ledger, "flue", edits)

    def next_cut(self) -> Plan:
        self.keep += 97
        name = self.plan.cuts[int(self.cuts[self.keep % len(self.cuts)])].entry
        return make_plan(self.session, self.ledger, "flue", {"cut": name})

    def works(self) -> Iterator[tuple[str, Callable[[], object]]]:
        """One round: what to time, and what it is called. What is between two of them is not timed."""
        yield PEER, lambda: trim(self.theirs, "approximate")
        yield "trim_messages, len / 4 as counter", lambda: trim(self.theirs, length_4)
        session, ledger = self.fresh()
        yield "first plan: the cut, a fate for every block", lambda: make_plan(session, ledger, "flue")
        plan = make_plan(session, ledger, "flue")
        yield "… then every cut's outcome: stand-in summaries, cut table", lambda: plan.cut_table
        earlier = session.at(session.entries[-9].id)
        yield (
            "… then the same at another leaf: every line is counted",
            lambda: make_plan(earlier, ledger, "flue").cut_table,
        )
        yield "… then the workbench's picture of the plan", lambda: to_json(draw_plan(plan).payload)
        _, again = self.fresh()
        new = self.untouched()
        yield "first plan, the session's columns made too", lambda: make_plan(new, again, "flue")
        bare = self.untouched()
        yield (
            "first plan, columns and counting by chars4_utf16 too",
            lambda: make_plan(bare, count_tokens(bare, "chars4_utf16"), "flue"),
        )
        yield "plan after another setting", self.next_setting
        yield "plan after another cut", self.next_cut
        yield "plan after another setting, with cut table", lambda: self.next_setting().cut_table
        yield (
            "plan after another setting, with its picture",
            lambda: to_json(draw_plan(self.next_setting()).payload),
        )
        yield "history of the session", lambda: trace_history(self.session, self.ledger)
        history = trace_history(self.session, self.ledger)
        yield "the workbench's scene", lambda: to_json(draw_scene(plan, history).payload)
        yield "live_context, all of it", lambda: live_context(self.session, self.ledger)
        yield "build_context, what the plan leaves", lambda: build_context(self.session, self.plan)

    def look_up(self) -> float:
        """Seconds to read another cut's total from the table."""
        total = self.plan.cut_table.total
        places = self.cuts.tolist()
        start = time.perf_counter()
        for at in range(LOOKS):
            total[places[at % len(places)]]
        return (time.perf_counter() - start) / LOOKS


def peak(work: Callable[[], object]) -> float:
    """Megabytes that Python and numpy allocate on the way, at most."""
    tracemalloc.start()
    work()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / 1e6


def run() -> Iterator[tuple[str, str]]:
    bench = Bench()
    size = sum(len(message.text) for message in bench.messages) / 1e6
    yield f"{SIZE:,} messages", f"{size:.0f} MB, {bench.ledger.total / 1e6:.1f} M tokens"
    yield f"count the ledger, {NAME}, made beforehand", show(bench.counting)

    seconds: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        for name, work in bench.works():
            seconds.setdefault(name, []).append(clock(work))
    seconds["look up another cut in the table"] = [bench.look_up() for _ in range(ROUNDS)]
    medians = {name: statistics.median(times) for name, times in seconds.items()}
    slow = medians[PEER]
    yield from ((name, f"{show(took)}, {slow / took:,.3g}x") for name, took in medians.items())
    yield from _grow(bench)
    session, ledger = bench.fresh()
    yield "memory, first plan with cut table", f"{peak(lambda: _whole(session, ledger)):.0f} MB"
    yield "memory, trim_messages", f"{peak(lambda: trim(bench.theirs, 'approximate')):.0f} MB"


def _whole(session: Session, ledger: Ledger) -> object:
    return make_plan(session, ledger, "flue").cut_table


def _grow(bench: Bench) -> Iterator[tuple[str, str]]:
    """Plans of the session over plans of its first tenth, in turns, so that both meet the same machine."""
    few = make_session(bench.messages[: SIZE // 10])
    sessions = {"all": (bench.session, bench.ledger), "few": (few, count_tokens(few, NAME))}
    first: dict[str, list[float]] = {name: [] for name in sessions}
    again: dict[str, list[float]] = {name: [] for name in sessions}
    for number in range(4 * ROUNDS):
        for name, (session, ledger) in sessions.items():
            moment, bare = session.at(session.leaf), dataclasses.replace(ledger)
            edits = {"settings": {"keep-recent-tokens.tokens": KEEP + 97 * (number + 1)}}
            first[name].append(clock(partial(make_plan, moment, bare, "flue")))
            again[name].append(clock(partial(make_plan, moment, bare, "flue", edits)))
    for name, seconds in (("first plan", first), ("plan after another setting", again)):
        times = statistics.median(seconds["all"]) / statistics.median(seconds["few"])
        yield f"{name}, over that of {SIZE // 10:,} messages", f"{times:.1f}x"


def show(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{seconds * 1e3:,.1f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:,.2f} µs"


if __name__ == "__main__":
    for label, value in run():
        print(f"{label:<64} {value:>22}")
