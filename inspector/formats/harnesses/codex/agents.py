"""Join the rollouts of sub-agents with the session that started them (FORMATS §1).

An event of the main rollout names the thread of each sub-agent that it starts. The sub-agent's rollout has a
file name that ends with that thread, and names the thread that started it. Some of these rollouts begin with
a copy of rows of the main rollout, with new timestamps: the copies are left out.
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
from ...other_sessions import set_apart
from ...recording import Json

_PARENT = re.compile(rb'"parent_thread_id"\s*:\s*"([0-9A-Za-z_-]{4,64})"')
_STARTED = re.compile(rb'"(?:new_thread_id|agent_thread_id)"\s*:\s*"([0-9A-Za-z_-]{4,64})"')


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
