"""Sidechains at a point in time: the steps at which each sub-agent ran, and its tokens there.

The input is a session at the point in time and its ledger; the result is columns over (sidechain, step).
Sidechains are not in the context. An entry of a sub-agent ran at the last earlier entry of the main
conversation: by time if both have one, else by the order of the file, and never before the call that started
it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...redaction.cut import cut_text
from ...session.blocks import ToolCall
from ...session.live import Live
from ...session.session import Session
from ...session.tree import MICRO, NOTE, Ints
from ...tokens.counter import Longs
from ...tokens.ledger import Ledger
from .base_payload import Payload

Times = NDArray[np.float64]


class SidePayload(Payload, frozen=True):
    """A sub-agent that ran in this context; `end` is the name of its last entry."""

    label: str
    task: str
    tokens: int
    end: str


class Sidechains(NamedTuple):
    """Columns over the k pairs of a sidechain and a step at which it ran, in order.

    lane    int32[k]  index into `named`
    step    int32[k]  step of the context, as in `Live.step`
    tokens  int64[k]  tokens of its entries there
    """

    lane: Ints
    step: Ints
    tokens: Longs
    named: list[SidePayload]


def place_sides(session: Session, ledger: Ledger) -> Sidechains:
    """Find the positions of a session's sidechains in the context at its leaf; skip those outside it.

    Takes linear time in the entries. A session without sidechains has no lanes.
    """
    members: dict[str, list[int]] = {}
    for i, entry in enumerate(session.entries):
        if entry.sidechain is not None:
            members.setdefault(entry.sidechain, []).append(i)
    live = session.live
    lanes, steps, tokens = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)], [np.zeros(0, np.int64)]
    named: list[SidePayload] = []
    if not members or not len(live):
        return Sidechains(lanes[0], steps[0], tokens[0], named)
    clock, calls = _Clock(session), _Calls(session, live)
    for number, entries in enumerate(members.values(), 1):
        rows = np.array(entries, np.int32)
        task = next((text for i in entries if (text := session.entries[i].text.strip())), "")
        call = calls.take(task)
        task = _describe_goal(session.extra.get("agents"), session.entries[entries[0]].sidechain, task)
        step = clock.place(rows, live.step[live.position[call]] if call >= 0 else -1)
        here = step >= 0
        if not here.any():
            continue
        sums = np.bincount(step[here], ledger.entry_tokens[rows[here]]).astype(np.int64)
        beside = np.flatnonzero(sums).astype(np.int32)
        lanes.append(np.full(len(beside), len(named), np.int32))
        steps.append(beside)
        tokens.append(sums[beside])
        brief = cut_text(" ".join(task.split()), 120)
        end = session.entries[entries[-1]].id
        named.append(SidePayload(f"sub-agent {number}", brief, int(sums.sum()), end))
    return Sidechains(np.concatenate(lanes), np.concatenate(steps), np.concatenate(tokens), named)


def _describe_goal(agents: object, name: str | None, task: str) -> str:
    """Return a sub-agent's kind and goal, or the first words of its task if the file has no goal."""
    about = agents.get(name) if isinstance(agents, dict) else None
    kind, goal = (about.get(key) if isinstance(about, dict) else None for key in ("agentType", "description"))
    text = goal if isinstance(goal, str) and goal.strip() else task
    return f"{kind}: {text}" if isinstance(kind, str) and kind.strip() else text


class _Clock:
    """The main conversation in its order, and the step of the context that each of its entries is in."""

    def __init__(self, session: Session) -> None:
        entries, live = session.entries, session.live
        self._time = _read_times(entry.timestamp for entry in entries)
        counts = ~np.isin(session.tree.sort, (MICRO, NOTE))
        counts &= np.array([entry.sidechain is None for entry in entries], bool)
        self._main = np.flatnonzero(counts)
        self._leaf = int(np.searchsorted(self._main, live.entries.max()))
        # An entry without a time happened no earlier than the entry before it.
        times = np.fmax.accumulate(self._time[self._main])
        self._timed = bool((times == times).any())
        self._times = np.where(np.isnan(times), -np.inf, times)
        self._step = np.full(len(entries), -1, np.int32)
        self._step[live.entries] = live.step

    def place(self, rows: Ints, start: int) -> Ints:
        """int32: the step at which each entry ran, no earlier than `start` (-1: unknown); else -1."""
        if not len(self._main):
            return np.full(len(rows), -1, np.int32)
        before = np.searchsorted(self._main, rows) - 1
        if self._timed:
            at = self._time[rows]
            by_time = np.searchsorted(self._times, at, "right") - 1
            before = np.where(np.isnan(at), before, by_time)
        step = np.where(before < 0, -1, self._step[self._main[np.maximum(before, 0)]])
        # Later entries had not happened yet at this point in time.
        return np.where(before > self._leaf, -1, np.maximum(step, start)).astype(np.int32)


class _Calls:
    """The calls in a context, to be found by a text that they were given; each starts one sidechain."""

    def __init__(self, session: Session, live: Live) -> None:
        self._rows: dict[str, list[int]] = {}
        for row in np.flatnonzero(session.tree.call[_file_rows(session, live)] >= 0)[::-1].tolist():
            entry = session.entries[live.entries[live.position[row]]]
            for text in _list_texts(entry.blocks[live.block[row]]):
                self._rows.setdefault(text, []).append(row)

    def take(self, task: str) -> int:
        """Return the row of the first unused call with this text, or -1."""
        rows = self._rows.get(task)
        return rows.pop() if task and rows else -1


def _file_rows(session: Session, live: Live) -> Ints:
    return (session.tree.start[live.entries[live.position]] + live.block).astype(np.int32)


def _list_texts(block: object) -> Iterator[str]:
    if isinstance(block, ToolCall) and isinstance(block.input, dict):
        yield from {value.strip() for value in block.input.values() if isinstance(value, str)}


def _read_times(stamps: Iterable[str | None]) -> Times:
    return np.array([_read_time(stamp) for stamp in stamps], np.float64)


def _read_time(stamp: str | None) -> float:
    """Return the seconds of an ISO time, in UTC if it names no zone; NaN for other texts."""
    if stamp is None:
        return float("nan")
    try:
        time = datetime.fromisoformat(stamp)
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return float("nan")
