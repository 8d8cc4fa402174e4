"""A conversation of OpenHands as its SDK keeps it: a folder with `base_state.json` and a file for each event.

The events lie in `events/`, as `event-<number>-<id>.json`; the state tells whose they are, where the agent
worked and what its requests took. Sources: FORMATS §11, and the SDK's guide to persistence. What else the
state holds (settings of the agent, its secrets by name) is left where it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ....errors import ReadError
from ...json_document import Fields, load
from ...json_lines import Data
from ...recording import Json

STATE = "base_state.json"
MOST = 10_000
"""So many events of a folder are read at most."""
_EVENT = re.compile(r"(?:^|/)event-(\d{1,9})-[^/]+\.json$")


def is_state(value: Any) -> bool:
    """Whether a document is the state of a conversation."""
    fields = Fields(value).rest
    return isinstance(fields.get("agent"), dict) and {"id", "persistence_dir", "execution_status"} <= set(
        fields
    )


def find_beside(data: Data, name: str) -> tuple[str, ...]:
    """The events of the conversation whose state this is; none of any other file's."""
    return ("events/event-*.json",) if name == STATE else ()


def name_holders(name: str, head: bytes) -> tuple[str, ...]:
    """Where the state lies of a conversation that this file is an event of; () for any other file.

    >>> name_holders("event-00003-ab1.json", b'{"kind": "MessageEvent"}')
    ('../base_state.json',)
    """
    return (f"../{STATE}",) if _EVENT.match(name) and b'"kind"' in head else ()


def list_events(beside: Mapping[str, Data]) -> Iterator[tuple[int, Json | None]]:
    """The events of a folder in the order of their numbers, which two may share; None for a file that holds
    none."""
    for number, name in sorted((int(found[1]), name) for name in beside if (found := _EVENT.search(name))):
        try:
            event = load(beside[name])
        except ReadError:
            event = None
        yield number, event if isinstance(event, dict) else None


class State:
    """What the state of a conversation tells of it: its id, the folder it worked in, a model, and usage."""

    def __init__(self, value: Json) -> None:
        fields = Fields(value)
        self.id = fields.text("id") or ""
        self.cwd = Fields(fields.rest.get("workspace")).text("working_dir")
        self.model = Fields(Fields(fields.rest.get("agent")).rest.get("llm")).text("model")
        self.used: dict[str, Json] = {}  # by the id of the response
        for metrics in Fields(Fields(fields.rest.get("stats")).rest.get("usage_to_metrics")).rest.values():
            for each in Fields(metrics).items("token_usages") or ():
                if isinstance(each, dict) and isinstance(each.get("response_id"), str):
                    self.used[each["response_id"]] = each
