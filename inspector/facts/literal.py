"""Words that are no fact, looked up all the same: where a session's path says them to the letter.

In go a session and any text, out comes a `Fact` of that text alone, or nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..redaction.cut import cut_text
from ..session.blocks import Block, ToolCall
from ..session.entries import Entry
from ..session.queries import readable_text
from ..session.session import Session
from ..session.speakers import Speaker, find_speaker, find_speech, who_speaks
from ..session.toolcalls.arguments import Named
from ..session.toolcalls.call_paths import LONGEST, names
from ..session.toolcalls.core_command import core_command, name_command
from ..session.toolcalls.path_syntax import ROOTS, looks_like_path
from ..session.toolcalls.tool_names import is_shell
from ..session.tree import BRANCH_SUMMARY, COMPACTION, MICRO, NOTE
from ..text import brief, has_words
from .extract.collect import FactOccurrences
from .extract.segments import CALLED, REPORT, SORT_OF, TextSegment
from .facts import Fact, Facts
from .line_search import LineMatch
from .mentions import WORD, find_runs, spell_issue, spell_number


def find_literal(session: Session, text: str) -> Fact | None:
    """Return any words as a fact, if the session's path or what stands before its messages says them to the
    letter.

    Its kind is what it looks like: an address, a command, or a file where a path names it; else "text".

    >>> from inspector.demo import open_demo
    >>> find_literal(open_demo(), "nobody has said this") is None
    True
    """
    wording = " ".join(text.split())
    if not 0 < len(wording) <= LONGEST:
        return None
    holding = [block for block in _find_blocks(session) if _says(block.text, wording)]
    kind = _look_like(wording)
    if not holding:
        head = (*session.system, *session.provided)
        said = any(_says(given.text, wording) for given in head)
        return _make_fact(session, kind, wording, []) if said else None
    if kind == "file":
        named = [block for block in holding if _is_named(block.text, wording)]
        holding, kind = (named, "file") if named else (holding, "text")
    # "tools -> core/tools" is a command only if a tool was given it.
    if kind == "command" and (wording.split()[0] in _WORDS_TOO or not name_command(wording)):
        kind = kind if any(block.block.kind == "tool_call" for block in holding) else "text"
    return _make_fact(session, kind, wording, [_find_mention(one, text, wording, kind) for one in holding])


def make_asked(session: Session, text: str, lines: Sequence[LineMatch], kind: str = "text") -> Fact:
    """Return words that nobody says to the letter as a fact, with the lines that say it.

    Args:
        session: The session.
        text: The words.
        lines: The lines that say them; without any, nobody does.
        kind: The kind of the fact.
    """
    mentions = []
    for line in lines:
        at = session.index[line.ref.entry]
        speaker = find_speaker(session.entries[at], session.block(line.ref), line.start)
        mentions.append(_Mention(at, line.ref.block, line.start, line.end, speaker))
    return _make_fact(session, kind, " ".join(text.split())[:LONGEST], mentions)


class _Mention(NamedTuple):
    """Where some words are said: entry and block by number, the span, the speaker, and what was done."""

    entry: int
    block: int
    start: int
    end: int
    speaker: Speaker
    operation: str | None = None


def _make_fact(session: Session, kind: str, wording: str, mentions: Iterable[_Mention]) -> Fact:
    """Return words that are no fact of the session as one."""
    found, own = FactOccurrences(), "symbol" if kind == "text" else kind
    found.name(own, wording)
    for entry, block, start, end, speaker, operation in mentions:
        called = session.entries[entry].blocks[block].kind == "tool_call"
        segment = TextSegment(entry, block, 0, CALLED if called else _SORTS[speaker], "")
        found.add(segment, [Named(own, wording, start, end, operation)])
    return Fact(kind, wording, 0, Facts(session, found))


def _find_mention(holding: _PathBlock, text: str, wording: str, kind: str) -> _Mention:
    """Return where a block says some words: all of it, if they are not there to the letter."""
    block, words = holding.block, holding.block.text
    spans = list(find_speech(holding.owner, block))
    mine = (span for span in spans if _says(words[span.start : span.end], wording))
    speaker = next(mine, spans[0] if spans else who_speaks(holding.owner)).speaker
    start = max(words.find(text), 0)
    end = start + len(text) if words.startswith(text, start) else len(words)
    done = "ran" if kind == "command" and _runs(block, wording) else None
    return _Mention(holding.entry, holding.number, start, end, speaker, done)


class _PathBlock(NamedTuple):
    """A block on the path: its entry's index, its own number there, and its readable text."""

    entry: int
    number: int
    owner: Entry
    block: Block
    text: str


def _find_blocks(session: Session) -> Iterator[_PathBlock]:
    """Yield the blocks on the path that no compaction wrote."""
    for at in session.path:
        if session.tree.sort[at] not in (NOTE, MICRO, COMPACTION, BRANCH_SUMMARY):
            entry = session.entries[at]
            for number, block in enumerate(entry.blocks):
                yield _PathBlock(at, number, entry, block, readable_text(block))


def _says(text: str, wording: str) -> bool:
    """Whether a text says some words in a row, whatever the blanks between them."""
    return wording.split(" ", 1)[0] in text and has_words(" ".join(text.split()), wording)


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
    pattern = _make_loose(text) if len(text) <= LONGEST else None
    longest = max(_LETTERS.findall(text), key=len, default="").casefold()
    if pattern is None or max(map(len, WORD.findall(text))) < _LEAST:
        return None
    said = (one.text for one in _find_blocks(session) if longest in one.text.casefold())
    matches = filter(None, map(pattern.search, said))
    return next((match[0] for match in matches), None)


def _find_spelled(session: Session, spellings: Sequence[str]) -> str | None:
    """The first of some spellings that the path says; all are looked for at once."""
    best = len(spellings)
    for one in _find_blocks(session) if spellings else ():
        best = next((at for at, spelled in enumerate(spellings[:best]) if _says(one.text, spelled)), best)
    return spellings[best] if best < len(spellings) else None


def _make_loose(text: str) -> re.Pattern[str] | None:
    """Return a pattern for the words of a text in any case, with other marks between them, or without the
    blank before a unit; None if it has no words."""
    words = [_PIECES.findall(word) for word in WORD.findall(text)]
    joined = _BETWEEN.join(r"[ \u00a0-]?".join(map(re.escape, each)) for each in words)
    return re.compile(rf"(?<!\w){joined}(?!\w)", re.IGNORECASE) if words else None


_LETTERS = re.compile(r"\d+|[^\W\d_]+")
_PIECES = re.compile(r"\d+|[^\W\d]+")
_BETWEEN = r"(?:[^\w\n]{1,12}|[^\w\n]{0,6}\n[^\w\n]{0,6})"
"""What stands between two words, read in one way: with several, a near miss of many words takes for ever."""
_LEAST = 3
_TELLING = 6
"""Characters of a word from which on it is no accident that a longer one holds it."""


def _is_named(text: str, path: str) -> bool:
    """Whether a text names a file or folder, and not just a longer name that ends like it."""
    name = path.replace("\\", "/").removeprefix("./").strip("/")
    return any(f"/{name}/" in f"/{run.removeprefix('@')}/" for run in find_runs(text, both=True))


_SORTS = {**SORT_OF, "tool": REPORT}
"""The sort of the texts of each speaker."""
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
        if any(_says(readable_text(block), wording) for block in entry.blocks):
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
    for one in _find_blocks(session):
        if wording in one.text and (match := longer.search(one.text)) is not None:
            return f"it is only a part of {cut_text(match[0], 120)} ({brief(one.owner.id)})"
    return ""


def _tell_place(session: Session, at: int) -> str:
    """Describe the relation of an entry to a path that does not contain it."""
    if session.tree.sort[at] in (COMPACTION, BRANCH_SUMMARY):
        return "only a summary says it"
    if session.entries[at].sidechain is not None:
        return "only a sub-agent's own conversation says it"
    return "it is first said later" if at > max(session.path, default=-1) else "only another branch says it"
