"""Read the files of a Claude Code session's sub-agents into sidechains of the session (CLAUDE §3).

A file is `<session>/subagents/agent-<id>.jsonl`. A workflow's files are in `workflows/<run>/` below that, and
older versions write them next to the session. `agent-<id>.meta.json` has the type and the task of the
sub-agent. Each row names its session and is marked as a sidechain's. These files are complete, so their
repetitions in the session's own file (rows of progress, results) are skipped. A reply that is also in the
session's own file is charged there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ....session.entries import Entry, SubAgent
from ....session.session import Session
from ....text import plural
from ...json_document import Fields, load_other
from ...json_lines import Data, Reader, escape_name, read_lines, take_all
from ...other_sessions import set_apart
from .read import NAME, ClaudeCodeLines, read, sniff
from .subagents import RecordedReplies

_SESSION = rb'"sessionId"\s*:\s*"([^"\\]{1,200})"'
_FILE = re.compile(r"agent-([^/]+)\.jsonl$")
_APART = re.compile(rb'"isSidechain"\s*:\s*true')
TAIL = 1 << 16
MOST = 1000
"""Maximum number of sub-agents' files to read: older versions keep those of all sessions in one folder."""
ABOUT = ".meta.json"
"""The end of the name of a file with a sub-agent's type and task."""


def find_beside(data: Data, name: str) -> tuple[str, ...]:
    """Return patterns of the files of this session's sub-agents; () for the file of a sub-agent."""
    if _FILE.match(name):
        return ()
    folder = escape_name(name.partition(".jsonl")[0])
    folders = f"{folder}/subagents/", f"{folder}/subagents/workflows/*/"
    inside = tuple(f"{prefix}agent-*.jsonl" for prefix in folders)
    about = tuple(f"{prefix}agent-*{ABOUT}" for prefix in (*folders, ""))
    return (*inside, "agent-*.jsonl", *about)


def name_holders(name: str, head: bytes) -> tuple[str, ...]:
    """Return patterns of the session's place for a sub-agent's file with this name and beginning, else ().

    >>> name_holders("agent-a1.jsonl", b'{"isSidechain":true,"sessionId":"s1","type":"user"}')
    ('s1.jsonl', '../../s1.jsonl', '../../../../s1.jsonl')
    """
    session = _find_session(head) if _FILE.match(name) and _APART.search(head) else None
    if session is None or b"/" in session:
        return ()
    file = f"{escape_name(session.decode('utf-8', 'replace'))}.jsonl"
    return file, f"../../{file}", f"../../../../{file}"


def is_foreign(data: Data, head: bytes) -> bool:
    """Whether a file that begins so names another session than this one."""
    named, own = _find_session(head), re.findall(_SESSION, bytes(data[-TAIL:]))
    return named is not None and bool(own) and named != own[-1]


def _find_session(data: Data) -> bytes | None:
    """The session that the first row names which names any. Inside a text the marks would be escaped."""
    match = re.search(_SESSION, data)
    return None if match is None else match[1]


def read_all(data: Data, beside: Mapping[str, Data]) -> Session:
    """Return the session with its sub-agents as sidechains.

    Raises:
        EmptySession: As `read` does.
    """
    return read_lines(_JoinedLines(beside), data)


class _Agent(NamedTuple):
    """What was read of the file of one sub-agent."""

    name: str
    id: str
    lines: ClaudeCodeLines
    session: Session

    @property
    def is_whole(self) -> bool:
        """Whether nothing of it is missing: all lines were read, and a reply that calls nothing ends it."""
        last = self.session.entries[-1]
        calls = any(block.kind == "tool_call" for block in last.blocks)
        return not self.lines.corrupt and last.role == "assistant" and not calls


class _JoinedLines(ClaudeCodeLines):
    """The rows of a session's own file, and of its sub-agents' files once they are known to belong to it."""

    def __init__(self, beside: Mapping[str, Data]) -> None:
        super().__init__()
        self.beside = {name: data for name, data in beside.items() if not name.endswith(ABOUT)}
        self.about = {name.removesuffix(ABOUT): data for name, data in beside.items() if name.endswith(ABOUT)}
        self.others: dict[str, ClaudeCodeLines] = {}

    def make_session(self) -> Session:
        """The session with its sub-agents' entries behind its own."""
        main = super().make_session()
        names = list(self._find_own(main.id))
        agents = list(self._read_agents(names))
        if not names:
            return main
        entries = list(_list_entries(main, agents))
        descriptions = {agent.id: about for agent in agents if (about := self._read_about(agent.name))}
        return main.model_copy(
            update={
                "extra": main.extra | ({"agents": descriptions} if descriptions else {}),
                "entries": (*main.entries, *entries),
                "subagents": tuple(self._list_subagents(agents)),
                "warnings": (*main.warnings, *_warn(agents, len(names) - len(agents))),
            }
        )

    def _find_own(self, session: str) -> Iterator[str]:
        """The files whose rows name this session, and those of its own folder that name none."""
        own = session.encode("utf-8", "surrogatepass")
        for name, data in self.beside.items():
            named = _find_session(data)
            if named == own or (named is None and "/" in name):
                yield name

    def _read_agents(self, names: Iterable[str]) -> Iterator[_Agent]:
        """Yield the agents of the files that hold messages of one sub-agent only."""
        charged = set(self.recorded_replies.messages)
        for name in names:
            match = _FILE.search(name)
            file = name if match is None else match[1]
            lines = self.others.get(name)
            if lines is None:
                lines = self.others[name] = ClaudeCodeLines(file)
                take_all(lines, self.beside[name])
            lines.charged = frozenset(charged)
            # A row without the mark of a sidechain may belong to another session.
            if lines.last_message and False not in lines.last_message:
                session = lines.make_session()
                charged |= lines.recorded_replies.messages
                yield _Agent(name, session.extra.get("agent_id") or file, lines, session)

    def _read_about(self, name: str) -> dict[str, Any]:
        """Read the sub-agent's `.meta.json`; {} if it is missing or broken."""
        return Fields(load_other(self.about.get(name.removesuffix(".jsonl"), b"{}"))).rest

    def _list_subagents(self, agents: Sequence[_Agent]) -> Iterator[SubAgent]:
        """Yield sub-agents that have no file of their own, read from rows of progress and results."""
        messages, replies = (
            set(self.recorded_replies.messages),
            {name: list(summaries) for name, summaries in self.recorded_replies.by_agent.items()},
        )
        for agent in agents:
            messages |= agent.lines.recorded_replies.messages
            for name, summaries in agent.lines.recorded_replies.by_agent.items():
                replies.setdefault(name or agent.id, []).extend(summaries)
        whole = frozenset(agent.id for agent in agents if agent.is_whole)
        recorded, ids = RecordedReplies(frozenset(messages), replies, whole), set[str]()
        for lines in (self, *(agent.lines for agent in agents)):
            for subagent in lines.subagents.make(recorded):
                if subagent.id not in ids:
                    ids.add(subagent.id)
                    yield subagent


def _list_entries(main: Session, agents: Iterable[_Agent]) -> Iterator[Entry]:
    """Yield the entries of all sub-agents. A row in two files counts in the first."""
    names = set(_name_all(main.entries))
    prefixes = set[str]()
    for agent in agents:
        prefix = agent.id
        while prefix in prefixes:
            prefix += "'"
        prefixes.add(prefix)
        yield from set_apart(agent.session, agent.id, prefix, names)
        names.update(_name_all(agent.session.entries))


def _name_all(entries: Iterable[Entry]) -> Iterator[str]:
    return (name for entry in entries for name in (entry.id, *entry.aliases) if not name.startswith("line-"))


def _warn(agents: Sequence[_Agent], odd: int) -> Iterator[str]:
    if agents:
        count = plural(len(agents), "sub-agent is", "sub-agents are")
        yield f"{count} read from files next to it, as sidechains"
    if corrupt := sum(len(agent.lines.corrupt) for agent in agents):
        yield f"{plural(corrupt, 'line')} in files of its sub-agents cannot be read"
    if strange := sum(not note.known for agent in agents for note in agent.lines.notes):
        yield f"{plural(strange, 'row')} of unknown types in files of its sub-agents: passed over"
    if odd:
        yield f"not read: {plural(odd, 'file')} next to it without a sub-agent's messages, or with others too"


READER = Reader(
    name=NAME,
    title="Claude Code JSONL",
    sniff=sniff,
    read=read,
    start=ClaudeCodeLines,
    find_beside=find_beside,
    read_all=read_all,
    is_foreign=is_foreign,
    start_all=_JoinedLines,
    name_holders=name_holders,
    most_beside=MOST,
)
