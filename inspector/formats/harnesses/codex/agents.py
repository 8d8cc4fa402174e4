"""Join the rollouts of sub-agents with the session that started them (FORMATS §1).

An event of the main rollout names the thread of each sub-agent that it starts. The sub-agent's rollout has a
file name that ends with that thread, and names the thread that started it. Some of these rollouts begin with
a copy of rows of the main rollout, with new timestamps: the copies are left out.

A fork copies rows too: after the header of the rollout comes the header of the other session with a copy of
its rows. These have the original times or the time of the fork. Their requests are in the bill of the other
session.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ....session.entries import Source
from ....session.json_text import stringify
from ....session.session import Session
from ....text import plural
from ...json_document import Fields
from ...json_lines import Data
from ...other_sessions import read_time, set_apart
from ...recording import Json
from .parts import read_id

GAP = 1.0
"""The maximum number of seconds between two copied rows. A copy is written quickly; a reply takes longer."""
_PARENT = re.compile(rb'"parent_thread_id"\s*:\s*"([0-9A-Za-z_-]{4,64})"')
_STARTED = re.compile(rb'"(?:new_thread_id|agent_thread_id)"\s*:\s*"([0-9A-Za-z_-]{4,64})"')


class CopiedHistory:
    """The copied rows of a rollout, and the session that they were copied from.

    Attributes:
        origin: Id of that session; "" if nothing was copied.
        end: The number of the first row after the copies; 0 if there are no copies, or if they cannot be
            distinguished from the rollout's own rows.
        rows: The number of copied rows without headers.
    """

    def __init__(self, rows: Sequence[Json]) -> None:
        metas = {index: Fields(row.get("payload")) for index, row in enumerate(rows) if _is_header(row)}
        own = next(iter(metas.values()), Fields({}))
        self.forked = own.text("forked_from_id")
        self.origin = self.forked or find_parent(list(rows)) or ""
        others = [index for index, meta in metas.items() if read_id(meta.rest) != read_id(own.rest)]
        self.end = 0
        if (first := own.number("subagent_history_start_ordinal")) is not None:
            self.end = _find_ordinal(rows, first)
        elif self.origin:
            again = [index for index in metas if others and index > others[-1]]
            self.end = again[0] if again else _find_gap(rows, own.text("timestamp"), others)
        self.rows = sum(index not in metas for index in range(self.end))

    def holds(self, index: int) -> bool:
        """Whether the row with this number is a copy."""
        return index < self.end

    def warnings(self) -> Iterator[str]:
        """Yield warnings about the copies."""
        if self.rows:
            by = f"session {self.origin:.60}" if self.forked else "the session that started it"
            copied = f"its first {plural(self.rows, 'row')} are a copy of {by}"
            yield f"{copied}: they are in its context, and their requests are charged there"
        elif self.forked:
            unknown = "copied rows cannot be distinguished from its own, so all are charged"
            yield f"it was forked from session {self.forked:.60}: {unknown}"


def _is_header(row: Json) -> bool:
    return row.get("type") == "session_meta" and isinstance(row.get("payload"), dict)


def _find_ordinal(rows: Sequence[Json], first: float) -> int:
    """Return the index of the first row with this number or a higher one, if lower ones come before it."""
    numbers = [None if _is_header(row) else Fields(row).number("ordinal") for row in rows]
    if not any(number is not None and number < first for number in numbers):
        return 0
    lower = max(index for index, number in enumerate(numbers) if number is not None and number < first)
    return next((index for index, n in enumerate(numbers) if n is not None and n >= first), lower + 1)


def _find_gap(rows: Sequence[Json], began: str | None, others: list[int]) -> int:
    """Return the index of the first row whose time shows that it is not a copy; 0 if the times are unclear.

    Rows from before the fork are copies. So are rows written directly after the header of the other session,
    in quick succession.
    """
    start = read_time(began)
    if start is None:
        return 0
    end, last, at_once = 0, start, False
    for index, row in enumerate(rows):
        time = read_time(Fields(row).text("timestamp"))
        if time is None or _is_header(row):
            continue
        if time >= start:
            if not others or index < others[0] or time - last > GAP:
                return end
            at_once = True
        end, last = index + 1, max(time, last)
    return 0 if at_once else end


def find_beside(data: Data, name: str) -> tuple[str, ...]:
    """Return file name patterns of the rollouts of all sub-agents that this one names, except itself."""
    threads = dict.fromkeys(match[1].decode("ascii") for match in _STARTED.finditer(memoryview(data)))
    packed = (
        f"rollout-*{thread}.jsonl{end}" for thread in threads if thread not in name for end in ("", ".zst")
    )
    return tuple(packed)


def name_holders(name: str, head: bytes) -> tuple[str, ...]:
    """Return file name patterns of the rollout that started this sub-agent; () if it is not a sub-agent's."""
    parent = _PARENT.search(head) if name.startswith("rollout-") else None
    file = f"rollout-*{parent[1].decode('ascii')}.jsonl" if parent else ""
    return (file, f"{file}.zst") if file else ()


def started_agent(event: Json) -> str | None:
    """Return the thread of the sub-agent that an event started; None for any other event.

    >>> started_agent({"type": "collab_agent_spawn_end", "new_thread_id": "t2"})
    't2'
    """
    fields, item = Fields(event), Fields(event.get("item"))
    if event.get("type") == "collab_agent_spawn_end":
        return fields.text("new_thread_id")
    if event.get("type") == "item_completed" and item.rest.get("type") == "SubAgentActivity":
        fields = item
    elif event.get("type") != "sub_agent_activity":
        return None
    return fields.text("agent_thread_id") if fields.rest.get("kind") == "started" else None


def find_parent(rows: list[Json]) -> str | None:
    """Return the thread that started this sub-agent; None if the rollout is not a sub-agent's."""
    meta = next((Fields(row.get("payload")) for row in rows if row.get("type") == "session_meta"), None)
    if meta is None:
        return None
    source = Fields(meta.rest.get("source"))
    agent = Fields(next((source.rest[key] for key in ("subagent", "sub_agent") if key in source.rest), None))
    spawned = Fields(agent.rest.get("thread_spawn"))
    return spawned.text("parent_thread_id") or meta.text("parent_thread_id")


class CopiedRows:
    """The rows of a rollout, to recognise copies of them at the beginning of a sub-agent's rollout."""

    def __init__(self, rows: Iterable[Json]) -> None:
        payloads = [row.get("payload") for row in rows]
        self.payloads_seen = {stringify(payload) for payload in payloads}
        self.turns = {turn for payload in payloads if (turn := _find_turn(payload)) is not None}

    def leave_out(self, rows: Iterable[tuple[Source, Json]]) -> Iterator[tuple[Source, Json]]:
        """Yield the header of a sub-agent's rollout, and its rows from the first that is not a copy."""
        own = headed = False
        for source, row in rows:
            if row.get("type") == "session_meta":
                # The second header is a copy too.
                if not headed:
                    yield source, row
                headed = True
                continue
            payload = row.get("payload")
            own = own or not (stringify(payload) in self.payloads_seen or _find_turn(payload) in self.turns)
            if own:
                yield source, row


def _find_turn(payload: Any) -> str | None:
    return Fields(payload).text("turn_id")


def join_agents(main: Session, agents: Iterable[Session]) -> Session:
    """Append the sub-agents' entries to the session, each on a sidechain named by its thread."""
    entries = list(main.entries)
    agents_by_id = {}
    for agent in agents:
        entries += set_apart(agent, agent.id)
        agents_by_id[agent.id] = agent
    if not agents_by_id:
        return main
    silent = [subagent for subagent in main.subagents if subagent.id not in agents_by_id]
    silent += [
        subagent
        for agent in agents_by_id.values()
        for subagent in agent.subagents
        if subagent.id not in agents_by_id
    ]
    warning = f"{plural(len(agents_by_id), 'rollout')} of sub-agents in the same folder: read as sidechains"
    return main.model_copy(
        update={
            "entries": tuple(entries),
            "subagents": tuple(silent),
            "warnings": (*main.warnings, warning),
        }
    )
