"""Write the texts that a hook gives: to the summariser, and to the session after a compaction.

Texts state facts. They quote the user's rules, and order nothing: a model may take an order in such a place
for an attack, or execute it a second time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ..session.speakers import typed_words
from .conversation import Conversation, TypedMessage
from .payload import HookPayload
from .snapshot import make_snapshot

if TYPE_CHECKING:  # a hook reads no session
    from ..session.session import Session

MOST_FOCUS, MOST_GIVEN_BACK, MOST_LOSSES = 4_000, 3_000, 1_500
"""Bytes of the texts. Claude Code cuts at 10,000 characters and Codex at about 2,500 tokens."""
_FOCUS = (
    "Facts of this session, as the user and the tools stated them. The work after the summary relies on them."
)
_GIVEN_BACK = "Before the compaction the user had stated these rules and pinned these facts, word for word:"


def write_focus_text(snapshot: dict[str, Any], typed: str = "") -> str:
    """Write the facts of a snapshot for a summariser, without those that the user `typed`; "" for none."""
    folded = typed.casefold()
    rules = [f'the user stated: "{rule}"' for rule in _new(snapshot["pins"] + snapshot["rules"], folded)]
    errors = [f"the last error: {line}" for line in _new(snapshot["errors"], folded)]
    todos = [f"an open to-do: {todo}" for todo in _new(snapshot["todos"], folded)]
    files = [f"an edited file: {name}" for name in reversed(list(_new(snapshot["files"], folded)))]
    return write_lines(_FOCUS, [*rules, *errors, *todos, *files], MOST_FOCUS)


def write_given_back(snapshot: dict[str, Any]) -> str:
    """Write the pins and rules of a snapshot for the session after a compaction; "" for none.

    If the limit leaves rules out, these are the oldest.
    """
    pins = [f"pinned: {pin}" for pin in snapshot["pins"]]
    rules = [f'rule: "{rule}"' for rule in snapshot["rules"]]
    while rules and len(write_lines(_GIVEN_BACK, [*pins, *rules], 10**9).encode()) > MOST_GIVEN_BACK - 60:
        rules = rules[1:]
    left_out = len(snapshot["rules"]) - len(rules)
    more = [f"{left_out} older rules are not repeated here"] if left_out else []
    return write_lines(_GIVEN_BACK, [*pins, *rules, *more], MOST_GIVEN_BACK)


def write_words_back(session: Session, pins: Iterable[str]) -> str:
    """Write what a hook would give back after a compaction at the end of a session; "" for nothing."""
    entries = session.entries[: session.index.get(session.leaf or "", -1) + 1]
    texts = [typed_words(entry) for entry in entries if entry.sidechain is None]
    talk = Conversation([TypedMessage(0, text) for text in texts if text.strip()])
    return write_given_back(make_snapshot(HookPayload("", "", "", "", "", {}), talk, "", pins, 0.0))


def write_lines(head: str, lines: list[str], limit: int) -> str:
    """Write a head and a line for each fact, as many as `limit` bytes allow; "" without any."""
    room, shown = limit - len(head.encode()), list[str]()
    for line in lines:
        if (room := room - len(line.encode()) - 3) < 0:
            break
        shown.append(f"- {line}")
    return "\n".join([head, *shown]) if shown else ""


def _new(items: Iterable[str], folded: str) -> Iterator[str]:
    """Yield the items that a text does not name: by their words, or as a path by its end."""
    words = [word.strip("`\"'.,;:()") for word in folded.split()]
    paths = tuple(word for word in words if "/" in word or "." in word)
    for item in items:
        low = item.casefold()
        if low not in folded and not (paths and any(path and path in low for path in paths)):
            yield item
