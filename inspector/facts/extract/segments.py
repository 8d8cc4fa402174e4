"""Split a session into texts to search, each with its position, its sort, and the names in tool arguments."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ...faults import Faults
from ...session.blocks import BlockRef, ToolCall
from ...session.session import Session
from ...session.speakers import Speaker, find_speech, is_refusal
from ...session.toolcalls.arguments import Named, read_call
from ...session.toolcalls.canonical_path import LONGEST, names
from ...session.toolcalls.positions import unescape
from ...session.toolcalls.shell import directory_after, output_of
from ...session.toolcalls.tool_names import TOOLS, bare_name, is_shell, operation_of
from ...session.tree import ASSISTANT, BRANCH_SUMMARY, COMPACTION, MICRO, NOTE, USER
from .paths import PathFinder

_WEB = re.compile(
    r"(?:fetch|(?:fetch|read|open|search|google)?(?:web|url)(?:fetch|search|page|site|content)*)$"
)
"""The bare names of tools that get a page of the web or search it."""
_STARTS = re.compile(r"(?:^|[|&;] )([a-z][\w.-]+) ")  # the programs of a command

# The sort of a text, which decides what is searched for in it and who the speaker is. PAGE is a web page.
TYPED, ANSWERED, CALLED, REPORT, FAILED, CONTENT, LISTING, HARNESS, SUMMARY, AGENT, PAGE = range(11)
SORT_OF: dict[Speaker, int] = {
    "user": TYPED,
    "model": ANSWERED,
    "harness": HARNESS,
    "agent": AGENT,
    "summary": SUMMARY,
}
"""The sort of the words of each speaker."""


class TextSegment(NamedTuple):
    """A text to search.

    Attributes:
        entry: The position of its entry in the session.
        block: The index of its block in the entry.
        at: The offset in the block's text.
        sort: One of the constants above, such as TYPED.
        text: The text, of which names found in arguments may be blanked.
        base: The directory that relative paths start from; None for the session's.
        way: How the text reached the session (`SpeechSpan.way`).
    """

    entry: int
    block: int
    at: int
    sort: int
    text: str
    base: str | None = None
    way: str = ""


def read_path(
    session: Session, finder: PathFinder, faults: Faults | None = None
) -> Iterator[tuple[TextSegment, list[Named]]]:
    """Yield every text on the path in order, split at changes of the speaker, with the names in it.

    Args:
        session: The session whose path is read.
        finder: Learns the paths and programs that tool arguments name.
        faults: Records blocks that cannot be read. Their text is yielded whole, without names.
    """
    faults = Faults() if faults is None else faults
    undone: dict[tuple[int, int], frozenset[str]] = {}
    with faults.isolate("tool results"):
        undone = _find_undone(session)
    reader = _BlockReader(session, finder, undone, {}, set())
    tree, entries = session.tree, session.entries
    for position in session.path:
        sort, role, entry = int(tree.sort[position]), int(tree.role[position]), entries[position]
        if sort in (NOTE, MICRO):
            continue
        words = ANSWERED if role == ASSISTANT else TYPED if role == USER and not entry.meta else HARNESS
        if sort in (COMPACTION, BRANCH_SUMMARY):
            words = SUMMARY
        for at, block in enumerate(entry.blocks):
            texts: list[tuple[TextSegment, list[Named]]] | None = None
            with faults.isolate(block.kind, BlockRef(entry.id, at)):
                texts = list(reader.read(position, at, words, role == USER))
            if texts is None:
                texts = []
                with faults.isolate(block.kind, BlockRef(entry.id, at)):
                    whole = {"tool_call": CALLED, "tool_output": REPORT}.get(block.kind, words)
                    texts = [(TextSegment(position, at, 0, whole, str(block.text)), [])]
            yield from texts


class _BlockReader(NamedTuple):
    """Reads the blocks of a path in order.

    `answers` collects the tools of the calls so far, `paths` the files that exist according to them.
    """

    session: Session
    finder: PathFinder
    undone: Mapping[tuple[int, int], frozenset[str]]
    answers: dict[str, _Answered]
    paths: set[str]

    def read(
        self, position: int, at: int, words: int, is_user: bool
    ) -> Iterator[tuple[TextSegment, list[Named]]]:
        """Yield the texts of one block. `words` is the sort of text that its entry holds."""
        session, entry = self.session, self.session.entries[position]
        block = entry.blocks[at]
        if block.kind == "tool_call":
            lost = self.undone.get((position, at), frozenset())
            segment, named = _read_tool(session, self.finder, block, (position, at), self.paths, lost)
            self.answers[block.id] = _Answered(block.name, *_answer(block, session.cwd, named))
            yield segment, named
        elif block.kind == "tool_output":
            unknown = _Answered("", REPORT if block.name else CONTENT, None)
            tool, sort, base = self.answers.get(block.call_id, unknown)
            sort = SUMMARY if words == SUMMARY else FAILED if block.is_error else sort
            for start, end, speaker, way in find_speech(entry, block, tool):
                own = speaker == "tool" or (sort == FAILED and speaker == "agent")
                own_sort = sort if own else SORT_OF.get(speaker, sort)
                if speaker == "harness" and is_refusal(block.text):
                    own_sort = CONTENT  # a fixed sentence: "The user doesn't want to proceed …"
                text = block.text[start:end]
                named = _read_words(text, start, way) if own_sort == TYPED else []
                for inner, part in (_read_streams(text) if own else []) or [(0, text)]:
                    where = position, at, start + inner
                    yield TextSegment(*where, own_sort, part, base if own else None, way), named
        elif block.kind == "text" and is_user and words != SUMMARY:
            for start, end, speaker, way in find_speech(entry, block):
                text = block.text[start:end]
                named = _read_words(text, start, way) if speaker == "user" else []
                sort = CONTENT if way == "context" else SORT_OF[speaker]  # files and pages state no rules
                yield TextSegment(position, at, start, sort, text, None, way), named
        elif block.kind in ("text", "reasoning", "document") and block.text:
            sort = CONTENT if block.kind == "document" and words in (TYPED, HARNESS) else words
            yield TextSegment(position, at, 0, sort, block.text), []


_STREAM = re.compile(r'"(?:output|stdout|stderr)":\s*"((?:[^"\\]|\\.)*)"', re.DOTALL)
_WRAPPER = names("output stdout stderr metadata exit_code duration_seconds interrupted isImage")
"""The fields of such a wrapper; JSON with others is what the command printed."""
_ESCAPE = re.compile(r"\\(?:u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w|u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {"\\n": " \n", "\\r": " \r", "\\t": " \t", "\\/": " /"}


def _read_streams(text: str) -> list[tuple[int, str]]:
    """Return the streams of an output that a harness wraps in JSON, with their offsets; [] for other text.

    Escapes are undone at the same length, so that offsets stay what they are.

    >>> _read_streams('{"output": "ok\\\\n", "metadata": {"exit_code": 0}}')
    [(12, 'ok \\n')]
    >>> _read_streams('{"output": "dist", "name": "harbour"}')
    []
    """
    if not text.startswith("{") or not text.rstrip().endswith("}"):
        return []
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return []
    if not value.keys() <= _WRAPPER:
        return []
    return [(match.start(1), _ESCAPE.sub(_undo, match[1])) for match in _STREAM.finditer(text)]


def _undo(match: re.Match[str]) -> str:
    """Return the character of an escape, and blanks on the side where no word is."""
    escape, before = match[0], match.string[max(0, match.start() - 1) : match.start()]
    if escape == '\\"':
        return ' "' if not before or before.isspace() or before in "([{=:" else '" '
    if escape[1] == "u" and len(escape) > 2:
        try:
            letter = json.loads(f'"{escape}"')
        except ValueError:
            return escape
        return letter.rjust(len(escape)) if letter.isprintable() else escape
    return _ESCAPED.get(escape, escape)


def _read_words(text: str, start: int, way: str) -> list[Named]:
    """Return a user's answer to a question of a tool, which is a choice as a whole."""
    words = text.strip()
    if way != "answer" or not words:
        return []
    start += text.find(words)
    return [Named("choice", " ".join(words.split())[:LONGEST].rstrip(), start, start + len(words), None)]


class _Answered(NamedTuple):
    """How to read the output of a call: the tool, the sort of text, and the base of its relative paths."""

    tool: str
    sort: int
    base: str | None


def _read_tool(
    session: Session,
    finder: PathFinder,
    call: ToolCall,
    place: tuple[int, int],
    paths: set[str],
    undone: frozenset[str],
) -> tuple[TextSegment, list[Named]]:
    """Return the text of a call and the names in it, without the operations in `undone`."""
    text = call.text
    named: list[Named] = []
    blank: list[tuple[int, int]] = []
    for kind, form, start, end, operation in read_call(call, text, session.cwd):
        operation = None if operation in undone else operation
        if kind == "file":
            finder.learn(form)
            if operation == "created" and form in paths:
                operation = "edited"
            if operation == "deleted":
                paths.discard(form)
            elif operation in ("created", "edited", "read", "ran"):
                paths.add(form)
        elif kind == "command":
            finder.programs.update(_STARTS.findall(text[start:end]))
        if kind in ("file", "url"):
            blank.append((start, end))
        named.append(Named(kind, form, start, end, operation))
    pieces, last = [], 0
    text = unescape(text)
    for start, end in sorted(blank):
        if start >= last:
            pieces += [text[last:start], " " * (end - start)]
            last = end
    rest = "".join([*pieces, text[last:]]) if pieces else text
    return TextSegment(*place, 0, CALLED, rest), named


_CHANGES = frozenset({"created", "edited", "deleted"})
_ALL = _CHANGES | {"read", "listed", "ran"}


def _find_undone(session: Session) -> dict[tuple[int, int], frozenset[str]]:
    """Find the operations that calls on the path, as (entry, block), did not carry out.

    A call that the user refused carried out none. A failed call of a tool changed nothing, except for shell
    commands: a failed one was run, and may have changed some files.
    """
    open_calls: dict[str, tuple[int, int, str]] = {}
    undone: dict[tuple[int, int], frozenset[str]] = {}
    for position in session.path:
        for at, block in enumerate(session.entries[position].blocks):
            if block.kind == "tool_call":
                open_calls[block.id] = position, at, block.name
            elif block.kind == "tool_output" and (call := open_calls.pop(block.call_id, None)) is not None:
                if block.is_error and is_refusal(block.text):
                    undone[call[:2]] = _ALL
                elif block.is_error and not is_shell(call[2]):
                    undone[call[:2]] = _CHANGES
    return undone


def _answer(call: ToolCall, cwd: str | None, named: list[Named]) -> tuple[int, str | None]:
    """Return the sort of text of a call's output, and the directory that its relative paths start from."""
    if is_shell(call.name):
        args = call.input if isinstance(call.input, dict) else {}
        command = args.get("command") or args.get("cmd")
        if isinstance(command, str):
            sort = {"content": CONTENT, "listing": LISTING}.get(output_of(command[:4000]), REPORT)
            return sort, directory_after(command[:4000], cwd)
        return REPORT, None
    operation = operation_of(call.name, call.input)
    if _WEB.match(bare_name(call.name)):
        return PAGE, None
    if bare_name(call.name) not in TOOLS and not any(kind == "file" for kind, *_ in named):
        return REPORT, None  # a server's tool that gets or lists something else
    return (LISTING if operation == "listed" else CONTENT if operation else REPORT), None
