"""Read the folder in which OpenHands' SDK stores a conversation: `base_state.json` and a file for each event.

The events are files `event-<number>-<id>.json` in `events/`. The state contains the conversation's id, the
working directory and the usage. Sources: FORMATS §11, and the SDK's guide to persistence. The other fields of
the state (settings of the agent, names of secrets) are not read.
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
"""Maximum number of events read from a folder."""
_EVENT = re.compile(r"(?:^|/)event-(\d{1,9})-[^/]+\.json$")


def is_state(value: Any) -> bool:
    """Return whether a document is the state of a conversation."""
    fields = Fields(value).rest
    return isinstance(fields.get("agent"), dict) and {"id", "persistence_dir", "execution_status"} <= set(
        fields
    )


def find_beside(data: Data, name: str) -> tuple[str, ...]:
    """Return the pattern of the events if the file is a conversation's state."""
    return ("events/event-*.json",) if name == STATE else ()


def name_holders(name: str, head: bytes) -> tuple[str, ...]:
    """Return the path of the state from a file with an event; () for any other file.

    >>> name_holders("event-00003-ab1.json", b'{"kind": "MessageEvent"}')
    ('../base_state.json',)
    """
    return (f"../{STATE}",) if _EVENT.match(name) and b'"kind"' in head else ()


def list_events(other_files: Mapping[str, Data]) -> Iterator[tuple[int, Json | None]]:
    """Yield the events of a folder by number, which may occur twice; None for an unreadable file."""
    for number, name in sorted(
        (int(match[1]), name) for name in other_files if (match := _EVENT.search(name))
    ):
        try:
            event = load(other_files[name])
        except ReadError:
            event = None
        yield number, event if isinstance(event, dict) else None


class State:
    """The fields of a conversation's state: its id, its working directory, the model, and usage."""

    def __init__(self, value: Json) -> None:
        fields = Fields(value)
        self.id = fields.text("id") or ""
        self.cwd = Fields(fields.rest.get("workspace")).text("working_dir")
        self.model = Fields(Fields(fields.rest.get("agent")).rest.get("llm")).text("model")
        self.used: dict[str, Json] = {}  # by the id of the response
        for metrics in Fields(Fields(fields.rest.get("stats")).rest.get("usage_to_metrics")).rest.values():
            for request in Fields(metrics).items("token_usages") or ():
                if isinstance(request, dict) and isinstance(request.get("response_id"), str):
                    self.used[request["response_id"]] = request
