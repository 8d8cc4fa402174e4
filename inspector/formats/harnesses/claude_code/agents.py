"""Files of sub-agents beside a Claude Code session's -> what stands apart in the session (CLAUDE §3).

They lie in `<session>/subagents/`, those of a workflow in `workflows/<run>/` below that, in older versions
beside the session, as `agent-<id>.jsonl`; `agent-<id>.meta.json` beside it says what it was started as. Each
row names the session it belongs to and is a sidechain's. What they say is whole: what the session's own file
repeats of it, in rows of progress and in results, is not told again, and what the session itself said is
charged there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from ....errors import ReadError
from ....session.entries import Entry, SubAgent
from ....session.session import Session
from ....text import plural
from ...json_document import load
from ...json_lines import Data, Reader, escape_name, read_lines, take_all
from ...set_apart import set_apart
from .read import NAME, ClaudeCodeLines, read, sniff
from .subagents import Spoken

_SESSION = rb'"sessionId"\s*:\s*"([^"\\]{1,200})"'
_FILE = re.compile(r"agent-([^/]+)\.jsonl$")
_APART = re.compile(rb'"isSidechain"\s*:\s*true')
TAIL = 1 << 16
MOST = 1000
"""Files of sub-agents that are looked at: in older versions those of all sessions lie in one folder."""
ABOUT = ".meta.json"
"""How the file ends that tells of a sub-agent what it was started as: its type and what for."""


def find_beside(data: Data, name: str) -> tuple[str, ...]:
    """Patterns of the files of this session's sub-agents; none for the file of one of them."""
    if _FILE.match(name):
        return ()
    folder = escape_name(name.partition(".jsonl")[0])
    folders = f"{folder}/subagents/", f"{folder}/subagents/workflows/*/"
    inside = tuple(f"{each}agent-*.jsonl" for each in folders)
    about = tuple(f"{each}agent-*{ABOUT}" for each in (*folders, ""))
    return (*inside, "agent-*.jsonl", *about)


def name_holders(name: str, head: bytes) -> tuple[str, ...]:
    """Patterns of where the session lies whose sub-agent a file is that is called and begins so; () for any
    other file.

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
    found = re.search(_SESSION, data)
    return None if found is None else found[1]


def start_all(beside: Mapping[str, Data]) -> ClaudeCodeLines:
    """Begin to read a session with the files of its sub-agents beside it."""
    return _JoinedLines(beside)


def read_all(data: Data, beside: Mapping[str, Data]) -> Session:
    """The session with its sub-agents, which stand apart. Raises `EmptySession` as `read` does."""
    return read_lines(start_all(beside), data)


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
    """The rows of a session's own file, and those beside it, which are read once they are known to be its."""

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
        told = {agent.id: about for agent in agents if (about := self._read_about(agent.name))}
        return main.model_copy(
            update={
                "extra": main.extra | ({"agents": told} if told else {}),
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
        """Those of these files in which a sub-agent speaks, and nobody else."""
        charged = set(self.said.messages)
        for name in names:
            found = _FILE.search(name)
            file = name if found is None else found[1]
            lines = self.others.get(name)
            if lines is None:
                lines = self.others[name] = ClaudeCodeLines(file)
                take_all(lines, self.beside[name])
            lines.charged = frozenset(charged)
            # What is not marked as a sub-agent's may be anybody's.
            if lines.spoken and False not in lines.spoken:
                session = lines.make_session()
                charged |= lines.said.messages
                yield _Agent(name, session.extra.get("agent_id") or file, lines, session)

    def _read_about(self, name: str) -> dict[str, Any]:
        """What stands beside the file of a sub-agent about it; nothing where that is none or broken."""
        with suppress(ReadError):
            about = load(self.about.get(name.removesuffix(".jsonl"), b"{}"))
            return about if isinstance(about, dict) else {}
        return {}

    def _list_subagents(self, agents: Sequence[_Agent]) -> Iterator[SubAgent]:
        """Those that are told by rows of progress and results, of any file, and in no file whole."""
        messages, heard = (
            set(self.said.messages),
            {name: list(said) for name, said in self.said.heard.items()},
        )
        for agent in agents:
            messages |= agent.lines.said.messages
            for name, said in agent.lines.said.heard.items():
                heard.setdefault(name or agent.id, []).extend(said)
        whole = frozenset(agent.id for agent in agents if agent.is_whole)
        spoken, seen = Spoken(frozenset(messages), heard, whole), set[str]()
        for lines in (self, *(agent.lines for agent in agents)):
            for each in lines.subagents.make(spoken):
                if each.id not in seen:
                    seen.add(each.id)
                    yield each


def _list_entries(main: Session, agents: Iterable[_Agent]) -> Iterator[Entry]:
    """The entries of all sub-agents. A row that stands in two files is told where it stands first."""
    told = set(_name_all(main.entries))
    prefixes = set[str]()
    for agent in agents:
        prefix = agent.id
        while prefix in prefixes:
            prefix += "'"
        prefixes.add(prefix)
        yield from set_apart(agent.session, agent.id, prefix, told)
        told.update(_name_all(agent.session.entries))


def _name_all(entries: Iterable[Entry]) -> Iterator[str]:
    return (name for entry in entries for name in (entry.id, *entry.aliases) if not name.startswith("line-"))


def _warn(agents: Sequence[_Agent], odd: int) -> Iterator[str]:
    if agents:
        yield f"what {plural(len(agents), 'sub-agent')} said is read from files beside it, and stands apart"
    if corrupt := sum(len(agent.lines.corrupt) for agent in agents):
        yield f"{plural(corrupt, 'line')} in files of its sub-agents cannot be read"
    if strange := sum(not note.known for agent in agents for note in agent.lines.notes):
        yield f"{plural(strange, 'row')} of unknown types in files of its sub-agents: passed over"
    if odd:
        yield f"in {plural(odd, 'file')} beside it no sub-agent speaks, or others do too: not read"


READER = Reader(
    name=NAME,
    title="Claude Code JSONL",
    sniff=sniff,
    read=read,
    start=ClaudeCodeLines,
    find_beside=find_beside,
    read_all=read_all,
    is_foreign=is_foreign,
    start_all=start_all,
    name_holders=name_holders,
    most_beside=MOST,
)
