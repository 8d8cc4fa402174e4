"""Search for words in everything on a session's main path, and for the closest lines if there is no match.

Case is ignored, by Unicode case folding. A tool's input is searched as compact JSON. A match
includes the positions of the words, so that the browser does not search again.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import ClassVar, NamedTuple

from msgspec import field

from ...facts.indexed_text import is_same, is_subject
from ...facts.line_search import LineMatch, find_lines
from ...facts.remaining import stand_live
from ...facts.terms import read_terms
from ...redaction.cut import cut_text
from ...session.blocks import Block, BlockRef, ToolCall
from ...session.entries import Entry
from ...session.live import UNSEEN
from ...session.queries import describe_words
from ...session.session import Session
from ...text import printable, utf16_length
from ...tokens.history import History
from .base_payload import Payload
from .titles import title_call

BEFORE, PREVIEW = 18, 180
"""Characters of a preview: the number before the first match, and the total."""
_BLANK = re.compile(r"\s+")


class SearchHit(Payload, frozen=True):
    """A block that holds the words; `row` is -1 outside this context, `turn` is 0-based.

    `at` is a point in time with the block in its context. `spans` are the positions of the words in
    `preview`: start and end, alternating, in UTF-16 units as in JavaScript.
    """

    ref: str
    row: int
    at: str
    turn: int
    label: str
    preview: str
    spans: list[int]


class FactHit(Payload, frozen=True):
    """A fact whose form holds the words. `outcome` is its label on screen, `turn` its last turn, 0-based.

    `sort` is the kind under which it is listed (`sort_of`).
    """

    number: int
    kind: str
    sort: str
    form: str
    outcome: str
    turn: int


class SearchReply(Payload, frozen=True):
    """The blocks that contain the words: `total` is their number, `hits` the first of them.

    The list shows facts too, and turns: by number, or by the beginning of the user's message.
    """

    finished: ClassVar[bool] = True
    query: str
    hits: list[SearchHit]
    total: int
    facts: list[FactHit] = field(default_factory=list)
    turns: list[SearchHit] = field(default_factory=list)


MOST_ROWS = 12
"""Facts, and turns, that an answer lists at most."""


def find_turns(history: History, session: Session, hits: Sequence[SearchHit], query: str) -> list[SearchHit]:
    """Turns by their number ("turn 12", "12"), else those whose first words are among the hits."""
    number_match = _NUMBER.fullmatch(query.strip().casefold())
    begins: dict[int, int] = {}
    for at, step in enumerate(history.step.tolist()):
        turn = int(history.turn[step]) if step >= 0 else -1
        entry = session.entries[int(history.path[at])]
        if turn >= 0 and turn not in begins and entry.role == "user" and entry.kind != "compaction":
            begins[turn] = int(history.path[at])
    names = {session.entries[i].id: turn for turn, i in begins.items()}
    if number_match is None:
        return [hit for hit in hits if hit.ref.rpartition("/")[0] in names]
    entry_at = begins.get(int(number_match[1]) - 1)
    if entry_at is None:
        return []
    entry = session.entries[entry_at]
    return find_text(session, history, entry.id, limit=1).hits


_NUMBER = re.compile(r"(?:turn )?(\d{1,6})")


class _Match(NamedTuple):
    at: int
    block: int
    text: str
    folded: str | None
    call: ToolCall | None
    line: LineMatch | None = None


_CLOSE = "close: "
"""Prefix of a row whose words differ from the query."""
_LEAST, _MOST_LINES = 0.34, 6
"""The least share of a question's weight that a close line has, and how many lines are shown."""


def _find_close(
    session: Session, query: str, path: Sequence[int], position: Mapping[int, int]
) -> list[_Match]:
    """Find the lines of the context that come closest to words that nothing holds."""
    lines = find_lines(stand_live(session), query, _MOST_LINES)
    matches = []
    for line in lines:
        if line.share >= _LEAST and line.words[0] > 1 and session.index.get(line.ref.entry) in position:
            block = session.entries[session.index[line.ref.entry]].blocks[line.ref.block]
            call = block if block.kind == "tool_call" else None
            place = path.index(session.index[line.ref.entry])
            matches.append(_Match(place, line.ref.block, block.text, "", call, line))
    return matches


def _preview_line(line: LineMatch, query: str) -> tuple[str, list[int]]:
    """A close line, and the positions of the query's words in it."""
    text = _clean(line.text)[:PREVIEW]
    terms = [term for term in read_terms(query) if is_subject(term)]
    spans = []
    for term in read_terms(text):
        if any(is_same(term, other) for other in terms):
            spans += [utf16_length(text[: term.start]), utf16_length(text[: term.end])]
    return text, spans


def find_text(session: Session, history: History, query: str, limit: int = 200) -> SearchReply:
    """Find every block on the main path that holds `query`.

    `session` is the planned point in time; it may be on another branch and is searched too. `history` is that
    of the whole file. Returns the first `limit` matches: those in the context, then the others, each in
    order. A query that names a block ("e12/0") or an entry finds it too, as the first match. Blank queries
    find nothing.

    >>> from inspector import open_demo
    >>> from inspector.tokens.ledger import count_tokens
    >>> from inspector.tokens.history import trace_history
    >>> session = open_demo()
    >>> found = find_text(session, trace_history(session, count_tokens(session)), "TIDE", limit=1)
    >>> found.total > 1, [hit.label for hit in found.hits]
    (True, ['summary'])
    """
    needle = query.strip().casefold()
    if not needle:
        return SearchReply(query, [], 0)
    live = session.live
    position = {entry: at for at, entry in enumerate(live.entries.tolist())}
    main = history.path.tolist()
    listed = set(main)
    path = [*main, *(entry for entry in position if entry not in listed)]
    named: list[_Match] = []
    here: list[_Match] = []
    elsewhere: list[_Match] = []
    total = 0
    for match in _search(session, path, needle, query.strip()):
        total += 1
        group = named if match.folded is None else here if path[match.at] in position else elsewhere
        if len(group) < limit:  # each holds its whole text
            group.append(match)
    if not total:
        here = _find_close(session, query, path, position)
        total = len(here)
    ends = [segment.last_step for segment in history.segments]
    hits = []
    for match in (named + here + elsewhere)[:limit]:
        entry = session.entries[path[match.at]]
        live_at = position.get(path[match.at])
        step = int(history.step[match.at]) if match.at < len(main) else -1
        turn = history.turn[step] if step >= 0 else live.turn[position[path[match.at]]]
        preview, spans = _preview(match, needle) if match.line is None else _preview_line(match.line, query)
        hits.append(
            SearchHit(
                ref=str(BlockRef(entry.id, match.block)),
                row=-1 if live_at is None else int(live.start[live_at]) + match.block,
                at=history.segments[bisect_left(ends, step)].at if live_at is None else session.leaf or "",
                turn=int(turn),
                label=cut_text(_CLOSE * (match.line is not None) + _label(entry, match, session.cwd), 100),
                preview=preview,
                spans=spans,
            )
        )
    return SearchReply(query, hits, total)


def _search(session: Session, path: list[int], needle: str, name: str) -> Iterator[_Match]:
    """Return the blocks that contain the words, in order. A block found by its name has no `folded` text."""
    ascii_only = needle.isascii()
    sort, entries = session.tree.sort, session.entries
    calls: dict[str, ToolCall] = {}
    for at, i in enumerate(path):
        if sort[i] in UNSEEN[1:]:
            continue  # the model never sees these
        entry = entries[i]
        for number, block in enumerate(entry.blocks):
            call = None
            if block.kind == "tool_call":
                call = calls[block.id] = block
            elif block.kind == "tool_output":
                call = calls.get(block.call_id)
            text = block.text
            if name in (entry.id, f"{entry.id}/{number}"):
                yield _Match(at, number, text, None, call)
            elif text.isascii():
                # Case folding dominates the cost, and its result does not change.
                if ascii_only and needle in (folded := text.lower()):
                    yield _Match(at, number, text, folded, call)
            elif needle in (folded := text.casefold()):
                yield _Match(at, number, text, folded, call)


def _preview(match: _Match, needle: str) -> tuple[str, list[int]]:
    """Return the text around the first match in one line, with the positions of all matches."""
    text, folded = match.text, match.folded
    if folded is None:
        return _clean(text[:PREVIEW]).strip(), []
    matches = _matches(text, folded, needle)
    first = matches[0][0]
    start = max(0, first - BEFORE)
    end = min(len(text), start + PREVIEW)
    out, spans, at, size = [], [], start, 0
    if start > 0:
        out.append("…")
        size = 1
    for a, b in [*((a, b) for a, b in matches if b <= end or a == first), (end, end)]:
        a = max(a, at)  # two matches may share a letter that folds to several
        for piece, marked in ((text[at:a], False), (text[a : min(b, end)], True)):
            clean = _clean(piece)
            width = utf16_length(clean)
            if marked and width:
                spans += [size, size + width]
            out.append(clean)
            size += width
        at = max(at, min(b, end))
    return "".join(out) + ("…" if end < len(text) else ""), spans


def _matches(text: str, folded: str, needle: str) -> list[tuple[int, int]]:
    """(start, end) in `text` of the matches in its folded form that a preview may show."""
    first = folded.index(needle)
    offsets, at = [], first
    while at >= 0 and at < first + PREVIEW:
        offsets.append((at, at + len(needle)))
        at = folded.find(needle, at + len(needle))
    if len(folded) == len(text):
        return offsets  # no letter folds to nothing, so each has folded to one
    ends = list(accumulate(len(char.casefold()) for char in text))
    return [(bisect_right(ends, a), bisect_right(ends, b - 1) + 1) for a, b in offsets]


def _clean(text: str) -> str:
    return printable(_BLANK.sub(" ", text))


def _label(entry: Entry, match: _Match, cwd: str | None) -> str:
    block: Block = entry.blocks[match.block]
    if match.call is not None:
        failed = block.kind == "tool_output" and block.is_error
        return ("failed: " if failed else "") + title_call(match.call, cwd)
    if block.kind == "text":
        return "summary" if entry.kind == "compaction" else describe_words(entry, block)
    if block.kind == "tool_output":
        return block.name or "output of an unknown call"
    return block.kind
