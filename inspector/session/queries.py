"""Queries on entries and blocks that several rooms use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container
from typing import Any, Literal, NamedTuple

import numpy as np

from .blocks import Block, BlockRef, Reasoning, ToolCall
from .entries import Entry
from .json_text import js_number
from .live import UNSEEN
from .session import Session
from .speakers import Speech, find_speech, who_speaks
from .tree import COMPACTION

_WRITTEN = ("compaction", "branch_summary")
NO_HISTORY = "No prior history."
TURN_CONTEXT = "\n\n---\n\n**Turn Context (split turn):**\n\n"
"""Texts of Flue and pi for an empty history, and before the beginning of a split turn."""


class MarkName(NamedTuple):
    """The name of a recorded compaction: `number` counts the compactions of its kind on a path, from 1.

    `look` is what `wb.look` calls it: "recorded:1" for the first compaction, "cleared:1" for the first time
    that only outputs were emptied. `sign` is how the screen does: "◆1", "◇1".
    """

    kind: Literal["compact", "micro"]
    number: int

    @property
    def look(self) -> str:
        return f"{'recorded' if self.kind == 'compact' else 'cleared'}:{self.number}"

    @property
    def sign(self) -> str:
        return f"{'◆' if self.kind == 'compact' else '◇'}{self.number or ''}"


def is_earlier(session: Session, other: Session) -> bool:
    """Return whether the path of a session begins, or is, that of another session of the same file."""
    return np.array_equal(session.trail, other.trail[: len(session.trail)])


def number_compactions(session: Session) -> dict[str, MarkName]:
    """Name the recorded compactions on a session's path, by their entries and in order. A compaction with
    nothing before it has no name.

    >>> from inspector import open_demo
    >>> [name.sign for name in number_compactions(open_demo()).values()]
    ['◆1', '◇1']
    """
    names: dict[str, MarkName] = {}
    counts: Counter[str] = Counter()
    later = session.trail[1:]
    for i in later[np.isin(later, session.tree.bounded)].tolist():
        entry = session.entries[i]
        if entry.boundary is not None:
            counts[entry.boundary.kind] += 1
            names[entry.id] = MarkName(entry.boundary.kind, counts[entry.boundary.kind])
    return names


def is_summary(entry: Entry) -> bool:
    """Return whether an entry is a summary that a model wrote."""
    return entry.kind in _WRITTEN and any(block.text for block in entry.blocks)


def count_calls(entry: Entry) -> int:
    """Return how many summariser calls a recorded compaction made: as recorded, else two for a split turn.

    >>> from inspector.session.entries import Boundary
    >>> split = Boundary(summary=f"So far.{TURN_CONTEXT}This turn began with a question.")
    >>> count_calls(Entry(id="c1", kind="compaction", boundary=split))
    2
    """
    if entry.boundary is None:
        return 1
    calls = entry.boundary.extra.get("calls")
    if isinstance(calls, int) and not isinstance(calls, bool) and calls > 0:
        return calls
    history, mark, _ = (entry.boundary.summary or "").partition(TURN_CONTEXT)
    return 2 if mark and history.strip() != NO_HISTORY else 1


def is_sealed(entry: Entry) -> bool:
    """Return whether an entry records an encrypted summary: the file contains no text of it."""
    if entry.boundary is None or entry.text:
        return False
    is_unreadable = entry.boundary.extra.get("unreadable") is True
    return is_unreadable or any(isinstance(block, Reasoning) and block.encrypted for block in entry.blocks)


def why_unread(entry: Entry) -> Literal["encrypted", "missing"]:
    """Return why a recorded compaction has no summary to read."""
    return "encrypted" if is_sealed(entry) else "missing"


def without_reasoning(session: Session) -> Session:
    """Return the session as if its history had never contained reasoning (S0-44)."""
    entries = tuple(
        entry.model_copy(update={"blocks": tuple(b for b in entry.blocks if b.kind != "reasoning")})
        if any(block.kind == "reasoning" for block in entry.blocks)
        else entry
        for entry in session.entries
    )
    return session.with_entries(entries, session.leaf)


def with_tools(session: Session, names: Container[str]) -> Session:
    """Return the session with only the definitions of the tools of these names."""
    kept = tuple(tool for tool in session.tools if tool.name in names)
    return session.with_entries(session.entries, session.leaf, tools=kept)


def find_parent(session: Session, entry: Entry) -> str | None:
    """Return the id of the parent entry; None if the file does not contain it.

    `entry.parent` may name a record that is not in the file, for instance if the file begins with a
    compaction.
    """
    at = None if entry.parent is None else session.index.get(entry.parent)
    return None if at is None else session.entries[at].id


def find_end(session: Session, entry_id: str) -> str:
    """Return the last entry of a compaction: itself, or the last repeated or attached entry.

    Only with these entries is the context what the compaction left. Repeated entries are recognised by id,
    attached ones by their way, up to the first message that is not the harness's. Both are on the path.
    """
    at = np.flatnonzero(session.trail == session.index.get(entry_id, -1))
    after = session.trail[int(at[0]) + 1 :].tolist() if len(at) else []
    last = entry_id
    for i in after:
        entry = session.entries[i]
        again = entry.id.startswith(f"{entry_id}.")
        if not (again or who_speaks(entry).speaker == "harness"):
            break
        if again or who_speaks(entry).way == "attached":
            last = entry.id
    return last


def find_move(session: Session, entry: Entry) -> tuple[str | None, str, str]:
    """Return the leaf before a recorded compaction, the leaf after it, and its entry."""
    return find_parent(session, entry), find_end(session, entry.id), entry.id


def find_next_compaction(session: Session) -> Entry | None:
    """Return the first compaction that follows the session's leaf in the file; None without such a one."""
    leaf = None if session.leaf is None else session.index.get(session.leaf)
    for i in np.flatnonzero(session.tree.sort == COMPACTION).tolist():
        if session.tree.parent[i] == leaf:
            return session.entries[i]
    return None


def find_moment_before(session: Session) -> str | None:
    """Return the leaf right before the recorded compaction that the session's leaf is; None for any other.

    >>> from inspector import open_demo
    >>> session = open_demo()
    >>> row = session.compactions[0]
    >>> find_moment_before(session.at(row.entry)) == session[row.entry].parent
    True
    """
    entry = None if session.leaf is None else session[session.leaf]
    is_compaction = entry is not None and session.tree.sort[session.index[entry.id]] == COMPACTION
    return find_parent(session, entry) if entry is not None and is_compaction else None


def since_compaction(session: Session) -> int:
    """Return the first live position after the last compaction; 0 if there was none."""
    live, after = session.live, 0
    if live.summary != 0:
        return 0
    for entry in reversed(session.path):
        if entry == live.entries[0]:
            break
        after += session.tree.sort[entry] not in UNSEEN
    return len(live) - after


def count_loop_turns(session: Session) -> int:
    """Return the index of the last reply in its turn, which mini-claude-code calls a turn.

    >>> from inspector import read_session
    >>> roles = ("user", "assistant", "user", "assistant", "assistant")
    >>> count_loop_turns(read_session([{"role": role, "content": "…"} for role in roles]))
    1
    """
    replies = 0
    for position in reversed(session.path):
        entry = session.entries[position]
        if entry.opens_turn:
            break
        replies += entry.role == "assistant" and entry.kind == "message"
    return max(replies - 1, 0)


def pair_calls(session: Session) -> dict[BlockRef, BlockRef]:
    """Map calls to outputs on a session's path, as a provider does: the next output with the call's id."""
    open_calls: dict[str, BlockRef] = {}
    out: dict[BlockRef, BlockRef] = {}
    for i in session.path:
        entry = session.entries[i]
        for number, block in enumerate(entry.blocks):
            if block.kind == "tool_call":
                open_calls[block.id] = BlockRef(entry.id, number)
            elif block.kind == "tool_output" and block.call_id in open_calls:
                out[open_calls.pop(block.call_id)] = BlockRef(entry.id, number)
    return out


def readable_text(block: Block) -> str:
    """Return the text of a block in readable form: arguments of a call as text, one per line. In JSON, a
    tab is two characters and a line break joins two words.

    >>> print(readable_text(ToolCall(id="1", name="Edit", input={"path": "a.py", "new": "x\\ny"})))
    Edit
    path: a.py
    new: x
    y
    """
    if block.kind == "tool_call":
        return "\n".join([block.name, *_values(block.input)])
    return "\n".join(_values(block.raw)) if block.kind == "unknown" else block.text


def _values(value: Any) -> list[str]:
    """The scalars of a JSON value in their order, behind their keys, by an explicit stack."""
    out: list[str] = []
    stack: list[tuple[str, Any]] = [("", value)]
    while stack:
        lead, item = stack.pop()
        if isinstance(item, dict):
            stack += [(f"{key}: ", child) for key, child in reversed(item.items())]
        elif isinstance(item, list | tuple):
            stack += [(lead, child) for child in reversed(item)]
        elif isinstance(item, str):
            out.append(lead + item)
        elif item is not None:
            out.append(lead + (str(item).lower() if isinstance(item, bool) else js_number(item)))
    return out


_SALIENT = ("path", "file_path", "command", "cmd", "pattern", "query", "url", "notebook_path", "prompt")


def telling_argument(call: ToolCall) -> str:
    """Return the most important argument of a call, such as its file; "" if none is known.

    >>> telling_argument(ToolCall(id="1", name="Read", input={"limit": 5, "file_path": "src/a.py"}))
    'src/a.py'
    """
    args = call.input
    if isinstance(args, dict):
        for name in _SALIENT:
            value = args.get(name)
            if value and isinstance(value, str):
                return value
    return ""


_VOICES = {"agent": "sub-agent", "model": "model", "harness": "harness"}
_WAYS = {
    "queued": "queued",
    "shell": "shell command",
    "notification": "notification",
    "interrupt": "interrupt",
}


def describe_words(entry: Entry, block: Block | None = None) -> str:
    """Describe the speaker of an entry's text, or of one block, in two or three words.

    >>> describe_words(Entry(id="a")), describe_words(Entry(id="b", extra={"way": "queued"}))
    ('user text', 'user text, queued')
    """
    speech = who_speaks(entry)
    if entry.role != "user" or speech.speaker == "summary":
        return f"{entry.role} text"
    if block is not None and speech.speaker == "user":
        spans = list(find_speech(entry, block))
        if spans and all(span.speaker != "user" for span in spans):
            speech = Speech(spans[0].speaker, spans[0].way)
    way = _WAYS.get(speech.way)
    return f"{_VOICES.get(speech.speaker, 'user')} text{f', {way}' if way else ''}"


def find_kept_place(session: Session, entry: Entry) -> int:
    """Return the beginning of the kept part: the entry that the file names, or its last listed run."""
    live, index, boundary = session.live, session.tree.index, entry.boundary
    if boundary is None or boundary.summary_last:
        return len(live)
    if boundary.first_kept in index:
        at = np.flatnonzero(live.entries == index[boundary.first_kept])
        return int(at[0]) if len(at) else len(live)
    listed = {index[name] for name in boundary.kept if name in index}
    place = len(live)
    while place and int(live.entries[place - 1]) in listed:
        place -= 1
    return place
