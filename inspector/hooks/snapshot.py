"""Say before a compaction what matters, and write it for the summariser and for the session after it.

Texts state facts. They quote the user's rules, and order nothing: a model may take an order in such a place
for an attack, or execute it a second time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ..facts.extract.statements import CONSTRAINT, find_statements
from ..redaction.cut import cut_line
from ..session.speakers import typed_words
from ..text import printable
from .conversation import Conversation, TypedMessage
from .payload import HookPayload

if TYPE_CHECKING:  # a hook reads no session
    from ..session.session import Session

MOST_FOCUS, MOST_GIVEN_BACK, MOST_LOSSES = 4_000, 3_000, 1_500
"""Bytes of the texts. Claude Code cuts at 10,000 characters and Codex at about 2,500 tokens."""
MOST_RULES, MOST_FILES = 60, 40
_CLEAR = 3
"""The rank of a sentence that is clearly a rule."""
_FOCUS = (
    "Facts of this session, as the user and the tools stated them. The work after the summary relies on them."
)
_GIVEN_BACK = "Before the compaction the user had stated these rules and pinned these facts, word for word:"


def find_rules(conversation: Conversation) -> list[str]:
    """Return the clear rules that the user typed, oldest first."""
    rules = dict[str, str]()
    for message in conversation.recent_typed():
        for sentence in find_statements(message.text):
            if sentence.kind == CONSTRAINT and sentence.rank >= _CLEAR:
                rules.setdefault(sentence.form.casefold(), sentence.form)
    return list(rules.values())[-MOST_RULES:]


def make_snapshot(
    payload: HookPayload, conversation: Conversation, path: str, pins: Iterable[str], now: float
) -> dict[str, Any]:
    """Return what is remembered of a session, in the file `path`, before a compaction, without secrets."""
    tidy, root = clean_line, payload.cwd.rstrip("/") + "/" if payload.cwd else ""
    return {
        "harness": payload.harness,
        "session": payload.session,
        "path": path,
        "cwd": payload.cwd,
        "time": now,
        "size": conversation.size,
        "pins": [tidy(pin) for pin in pins],
        "rules": [tidy(rule) for rule in find_rules(conversation)],
        "errors": [tidy(line) for line in list(dict.fromkeys(conversation.errors.values()))[-2:]],
        "todos": [tidy(todo) for todo in conversation.todos.values() if todo][:20],
        "files": [tidy(name.removeprefix(root)) for name in list(conversation.edited)[-MOST_FILES:]],
    }


def write_focus_text(snapshot: dict[str, Any], typed: str = "") -> str:
    """Write the facts of a snapshot for a summariser, without those that the user `typed`; "" for none."""
    folded = typed.casefold()
    rules = [f'the user stated: "{rule}"' for rule in _new(snapshot["pins"] + snapshot["rules"], folded)]
    errors = [f"the last error: {line}" for line in _new(snapshot["errors"], folded)]
    todos = [f"an open to-do: {todo}" for todo in _new(snapshot["todos"], folded)]
    files = [f"an edited file: {name}" for name in reversed(list(_new(snapshot["files"], folded)))]
    return write_lines(_FOCUS, [*rules, *errors, *todos, *files], MOST_FOCUS)


def write_given_back(snapshot: dict[str, Any], limit: int = MOST_GIVEN_BACK) -> str:
    """Write the pins and rules of a snapshot for the session after a compaction; "" for none.

    If the limit leaves rules out, these are the oldest.
    """
    pins = [f"pinned: {pin}" for pin in snapshot["pins"]]
    rules = [f'rule: "{rule}"' for rule in snapshot["rules"]]
    while rules and len(write_lines(_GIVEN_BACK, [*pins, *rules], 10**9).encode()) > limit - 60:
        rules = rules[1:]
    left_out = len(snapshot["rules"]) - len(rules)
    more = [f"{left_out} older rules are not repeated here"] if left_out else []
    return write_lines(_GIVEN_BACK, [*pins, *rules, *more], limit)


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


def clean_line(text: str) -> str:
    """Return a text as one line, without secrets and control characters, of at most 400 characters."""
    from ..redaction.cut import redact_text

    return cut_line(printable(redact_text(text)), 400)


def _new(items: Iterable[str], folded: str) -> Iterator[str]:
    """Yield the items that a text does not name: by their words, or as a path by its end."""
    words = [word.strip("`\"'.,;:()") for word in folded.split()]
    paths = tuple(word for word in words if "/" in word or "." in word)
    for item in items:
        low = item.casefold()
        if low not in folded and not (paths and any(path and path in low for path in paths)):
            yield item
