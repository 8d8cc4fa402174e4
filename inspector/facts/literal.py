"""Words that are no fact, looked up all the same: where a session's path says them to the letter.

In go a session and any text, out comes a `Fact` of that text alone, or nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ..redaction.cut import cut_text
from ..session.blocks import Block, ToolCall
from ..session.queries import readable_text
from ..session.session import Session
from ..session.speakers import find_speech, who_speaks
from ..session.toolcalls.arguments import Named
from ..session.toolcalls.call_paths import LONGEST, names
from ..session.toolcalls.core_command import core_command, name_command
from ..session.toolcalls.path_syntax import ROOTS, looks_like_path
from ..session.toolcalls.tool_names import is_shell
from ..session.tree import BRANCH_SUMMARY, COMPACTION, MICRO, NOTE
from ..text import brief, has_words
from .extract.collect import FactOccurrences
from .extract.segments import AGENT, ANSWERED, CALLED, HARNESS, REPORT, SUMMARY, TYPED, TextSegment
from .facts import Fact, Facts
from .line_search import LineMatch
from .loose_words import find_loose_words
from .mentions import WORD, find_runs, spell_issue, spell_number


def find_literal(session: Session, text: str) -> Fact | None:
    """Any words as a fact, wherever the session's path says them to the letter; None where it does not.

    Its kind is what it looks like: an address, a command, or a file where a path names it; else "text".

    >>> from inspector.demo import open_demo
    >>> find_literal(open_demo(), "nobody has said this") is None
    True
    """
    wording = " ".join(text.split())
    if not 0 < len(wording) <= LONGEST:
        return None
    places = list(_find_places(session, wording))
    kind = _look_like(wording)
    if kind == "file":
        named = [place for place in places if _is_named(readable_text(place[2]), wording)]
        places, kind = (named, "file") if named else (places, "text")
    # "tools -> core/tools" is a command only if a tool was given it.
    if kind == "command" and (wording.split()[0] in _WORDS_TOO or not name_command(wording)):
        kind = kind if any(block.kind == "tool_call" for _, _, block in places) else "text"
    found = FactOccurrences()
    for position, at, block in places:
        spans = list(find_speech(session.entries[position], block))
        mine = (
            span for span in spans if has_words(" ".join(block.text[span.start : span.end].split()), wording)
        )
        speaker = next(mine, spans[0] if spans else who_speaks(session.entries[position])).speaker
        start = max(block.text.find(text), 0)
        end = start + len(text) if block.text.startswith(text, start) else len(block.text)
        sort = CALLED if block.kind == "tool_call" else _SORTS[speaker]
        segment = TextSegment(position, at, 0, sort, block.text)
        done = "ran" if kind == "command" and _runs(block, wording) else None
        found.add(segment, [Named("symbol" if kind == "text" else kind, wording, start, end, done)])
    facts = Facts(session, found)
    return Fact(kind, wording, 0, facts) if len(facts) else None


def find_in_head(session: Session, text: str) -> Fact | None:
    """Any words as a fact that nobody says on the path, where what stands before the messages says them.

    >>> from inspector.demo import open_demo
    >>> find_in_head(open_demo(), "nobody has said this") is None
    True
    """
    wording = " ".join(text.split())
    head = (*session.system, *session.provided)
    if not 0 < len(wording) <= LONGEST:
        return None
    if not any(has_words(" ".join(given.text.split()), wording) for given in head):
        return None
    found = FactOccurrences()
    kind = _look_like(wording)
    found.name("symbol" if kind == "text" else kind, wording)
    return Fact(kind, wording, 0, Facts(session, found))


def make_asked(session: Session, text: str, lines: Sequence[LineMatch], kind: str = "text") -> Fact:
    """Return words that nobody says to the letter as a fact, with the lines that say it.

    Args:
        session: The session.
        text: The words.
        lines: The lines that say them; without any, nobody does.
        kind: The kind of the fact.
    """
    wording = " ".join(text.split())[:LONGEST]
    found, own = FactOccurrences(), "symbol" if kind == "text" else kind
    found.name(own, wording)
    for line in lines:
        position = session.index[line.ref.entry]
        block = session.entries[position].blocks[line.ref.block]
        speaker = next(
            (span.speaker for span in find_speech(session.entries[position], block) if span.end > line.start),
            who_speaks(session.entries[position]).speaker,
        )
        sort = CALLED if block.kind == "tool_call" else _SORTS[speaker]
        segment = TextSegment(position, line.ref.block, 0, sort, readable_text(block))
        found.add(segment, [Named(own, wording, line.start, line.end, None)])
    return Fact(kind, wording, 0, Facts(session, found))


def _find_places(session: Session, wording: str) -> Iterator[tuple[int, int, Block]]:
    """The blocks on the path that say a wording, each behind its entry's place and its own number there."""
    first = wording.split(" ", 1)[0]
    for position in session.path:
        if session.tree.sort[position] in _UNSAID:
            continue
        for at, block in enumerate(session.entries[position].blocks):
            words = readable_text(block)
            if first in words and has_words(" ".join(words.split()), wording):
                yield position, at, block


def _runs(block: Block, wording: str) -> bool:
    """Whether a call runs a command, with whatever else it is told."""
    given = block.input if isinstance(block, ToolCall) and is_shell(block.name) else None
    command = (given.get("command") or given.get("cmd")) if isinstance(given, Mapping) else None
    if not isinstance(command, str):
        return False
    return (
        re.search(rf"(?:^|[;&|(\n])[^\S\n]*(?:\w+=\S+ )*{re.escape(wording)}(?![\w-])", command) is not None
    )


def respell(session: Session, text: str) -> str | None:
    """How a session's path writes words that nothing there says to the letter: in other letters' case, with
    other marks between the words (backticks, asterisks, quotation marks) or without a blank before a unit.
    None where it does not write them at all.

    >>> from inspector.demo import open_demo
    >>> session = open_demo()
    >>> said = " ".join(session.entries[session.path[0]].blocks[0].text.split()[:4])
    >>> respell(session, f"*{said.upper()}*") == said
    True
    """
    wording = " ".join(text.split())
    asked = re.sub(r"(?i)^(?:issue|pull request|PR|MR) #?(?=\d+$)", "#", wording)
    if (spelled := _find_spelled(session, [*spell_number(wording), *spell_issue(asked)])) is not None:
        return spelled
    pattern = find_loose_words(text) if len(text) <= LONGEST else None
    longest = max(_PIECES.findall(text), key=len, default="").casefold()
    if pattern is None or max(map(len, WORD.findall(text))) < _LEAST:
        return None
    for position in session.path:
        if session.tree.sort[position] in _UNSAID:
            continue
        for block in session.entries[position].blocks:
            said = readable_text(block)
            if longest in said.casefold() and (match := pattern.search(said)) is not None:
                return match[0]
    return None


def _find_spelled(session: Session, spellings: Sequence[str]) -> str | None:
    """The first of some spellings that the path says; all are looked for at once."""
    best = len(spellings)
    for position in session.path if spellings else ():
        if session.tree.sort[position] in _UNSAID:
            continue
        for block in session.entries[position].blocks:
            words = readable_text(block)
            for at, spelled in enumerate(spellings[:best]):
                if spelled.split(" ", 1)[0] in words and has_words(" ".join(words.split()), spelled):
                    best = at
                    break
    return spellings[best] if best < len(spellings) else None


_PIECES = re.compile(r"\d+|[^\W\d_]+")
_LEAST = 3
_TELLING = 6
"""Characters of a word from which on it is no accident that a longer one holds it."""
_UNSAID = (NOTE, MICRO, COMPACTION, BRANCH_SUMMARY)


def _is_named(text: str, path: str) -> bool:
    """Whether a text names a file or folder, and not just a longer name that ends like it."""
    name = path.replace("\\", "/").removeprefix("./").strip("/")
    return any(f"/{name}/" in f"/{run.removeprefix('@')}/" for run in find_runs(text, both=True))


_SORTS: dict[str, int] = {
    "user": TYPED,
    "model": ANSWERED,
    "tool": REPORT,
    "harness": HARNESS,
    "agent": AGENT,
    "summary": SUMMARY,
}
_ENGLISH = names("the a an it this that these those to of and with for please sure is are be your my our")
"""Words of a sentence that begins as a command does."""
_WORDS_TOO = names(
    "make time timeout test find sort watch cut split join go open touch head tail which date wait"
)
"""Programs that are words as well: "timeout 30 seconds" is a command where a tool was given it."""
_PROGRAM = re.compile(r"(?:[.~]{0,2}/)?[a-z][\w.+-]*(?:/[\w.+-]+)*$")


def _look_like(wording: str) -> str:
    program, blank, _ = wording.partition(" ")
    if "://" in wording and not blank:
        return "url"
    if not blank:
        return "file" if looks_like_path(wording, ROOTS) else "text"
    if _ENGLISH & set(wording.split()[1:]):
        return "text"  # "make it smaller"
    runs = name_command(wording) or (core_command(wording) != wording and _PROGRAM.match(program))
    return "command" if runs else "text"


def tell_absence(session: Session, text: str) -> str:
    """Why nothing on a session's path says a text: what else in the file does, if anything.

    >>> from inspector.demo import open_demo
    >>> session = open_demo()
    >>> start = session.at(session.entries[session.path[0]].id)
    >>> tell_absence(start, session.entries[session.path[-1]].blocks[0].text[:20]).partition(" (")[0]
    'it is first said later'
    >>> tell_absence(start, "nobody has said this")
    'nothing said so far holds it'
    """
    wording, path = " ".join(text.split()), set(session.path)
    found: dict[str, str] = {}
    for at, entry in enumerate(session.entries) if wording else ():
        if at in path and session.tree.sort[at] not in (COMPACTION, BRANCH_SUMMARY):
            continue
        if any(has_words(" ".join(readable_text(block).split()), wording) for block in entry.blocks):
            found.setdefault(_tell_place(session, at), entry.id)
    for place in ("it is first said later", "only a summary says it", "only another branch says it"):
        if place in found:
            return f"{place} ({brief(found[place])})"
    for place, name in found.items():
        return f"{place} ({brief(name)})"
    root = session.entries[session.path[0]] if session.path else None
    # If the first row belongs to one that is missing, the text may have been in the missing part.
    if root is None:
        return "nothing before it is in the file"
    cut = root.role == "tool" or (root.parent or root.id) not in session.index
    middle = "; the file begins in the middle of its session" if cut else ""
    return _find_inside(session, wording) or f"nothing said so far holds it{middle}"


def _find_inside(session: Session, wording: str) -> str:
    """Return a sentence with a longer word on the path that contains the wording; "" if there is none."""
    if len(wording) < _TELLING or " " in wording:
        return ""
    longer = re.compile(rf"[\w-]{{0,80}}{re.escape(wording)}[\w-]{{0,80}}")
    for position in session.path:
        for block in session.entries[position].blocks if session.tree.sort[position] not in _UNSAID else ():
            text = readable_text(block)
            if wording in text and (match := longer.search(text)) is not None:
                return (
                    f"it is only a part of {cut_text(match[0], 120)} ({brief(session.entries[position].id)})"
                )
    return ""


def _tell_place(session: Session, at: int) -> str:
    """Describe the relation of an entry to a path that does not contain it."""
    if session.tree.sort[at] in (COMPACTION, BRANCH_SUMMARY):
        return "only a summary says it"
    if session.entries[at].sidechain is not None:
        return "only a sub-agent's own conversation says it"
    return "it is first said later" if at > max(session.path, default=-1) else "only another branch says it"
