"""Rollouts of sub-agents beside the one that started them -> what stands apart in its session (FORMATS §1).

An event of the main rollout names the thread of each sub-agent that it starts, and the sub-agent's rollout,
whose name ends with that thread, names the thread that started it. Some begin with a copy of rows of the
main rollout, under new times: those are left out here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from ....session.entries import Source
from ....session.json_text import stringify
from ....session.session import Session
from ....text import plural
from ...json_document import Fields
from ...json_lines import Data
from ...recording import Json
from ...set_apart import set_apart

_PARENT = re.compile(rb'"parent_thread_id"\s*:\s*"([0-9A-Za-z_-]{4,64})"')
_STARTED = re.compile(rb'"(?:new_thread_id|agent_thread_id)"\s*:\s*"([0-9A-Za-z_-]{4,64})"')


def find_beside(data: Data, name: str) -> tuple[str, ...]:
    """Patterns of the rollouts of all sub-agents that this one names; none where it is one of those."""
    threads = dict.fromkeys(found[1].decode("ascii") for found in _STARTED.finditer(memoryview(data)))
    packed = (
        f"rollout-*{thread}.jsonl{end}" for thread in threads if thread not in name for end in ("", ".zst")
    )
    return tuple(packed)


def name_holders(name: str, head: bytes) -> tuple[str, ...]:
    """Patterns of the rollout that started the sub-agent whose rollout begins so; () for any other file."""
    parent = _PARENT.search(head) if name.startswith("rollout-") else None
    file = f"rollout-*{parent[1].decode('ascii')}.jsonl" if parent else ""
    return (file, f"{file}.zst") if file else ()


def started_agent(event: Json) -> str | None:
    """The thread of the sub-agent that an event says was started; None for any other event.

    >>> started_agent({"type": "collab_agent_spawn_end", "new_thread_id": "t2"})
    't2'
    """
    told, item = Fields(event), Fields(event.get("item"))
    if event.get("type") == "collab_agent_spawn_end":
        return told.text("new_thread_id")
    if event.get("type") == "item_completed" and item.rest.get("type") == "SubAgentActivity":
        told = item
    elif event.get("type") != "sub_agent_activity":
        return None
    return told.text("agent_thread_id") if told.rest.get("kind") == "started" else None


def find_parent(rows: list[Json]) -> str | None:
    """The thread that started the sub-agent of a rollout; None where it is no sub-agent's."""
    meta = next((Fields(row.get("payload")) for row in rows if row.get("type") == "session_meta"), None)
    if meta is None:
        return None
    source = Fields(meta.rest.get("source"))
    agent = Fields(next((source.rest[key] for key in ("subagent", "sub_agent") if key in source.rest), None))
    spawned = Fields(agent.rest.get("thread_spawn"))
    return spawned.text("parent_thread_id") or meta.text("parent_thread_id")


class CopiedRows:
    """The rows of a rollout, as a sub-agent's may repeat them at its beginning."""

    def __init__(self, rows: Iterable[Json]) -> None:
        payloads = [row.get("payload") for row in rows]
        self.known = {stringify(payload) for payload in payloads}
        self.turns = {turn for payload in payloads if (turn := _find_turn(payload)) is not None}

    def leave_out(self, rows: Iterable[tuple[Source, Json]]) -> Iterator[tuple[Source, Json]]:
        """The header of a sub-agent's rollout, and its rows from the first that is no copy on."""
        own = headed = False
        for source, row in rows:
            if row.get("type") == "session_meta":
                # The second header is a copy too.
                if not headed:
                    yield source, row
                headed = True
                continue
            payload = row.get("payload")
            own = own or not (stringify(payload) in self.known or _find_turn(payload) in self.turns)
            if own:
                yield source, row


def _find_turn(payload: Any) -> str | None:
    return Fields(payload).text("turn_id")


def join_agents(main: Session, agents: Iterable[Session]) -> Session:
    """The session with its sub-agents' entries behind its own, each on a sidechain by its thread."""
    entries = list(main.entries)
    heard = {}
    for agent in agents:
        entries += set_apart(agent, agent.id)
        heard[agent.id] = agent
    if not heard:
        return main
    silent = [each for each in main.subagents if each.id not in heard]
    silent += [each for agent in heard.values() for each in agent.subagents if each.id not in heard]
    told = f"rollouts of {plural(len(heard), 'sub-agent')} lie beside it: they are read, and stand apart"
    return main.model_copy(
        update={
            "entries": tuple(entries),
            "subagents": tuple(silent),
            "warnings": (*main.warnings, told),
        }
    )
