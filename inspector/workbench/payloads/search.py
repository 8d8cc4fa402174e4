"""Search for words in everything on a session's main path, and for the closest lines if nothing holds them.

Letters match whatever their case, as Unicode folds them. A tool's input is searched as compact JSON. What is
found says where the words stand, so that whoever draws it matches nothing.
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
"""Characters of a preview: so many before the first match, and so many in all."""
_BLANK = re.compile(r"\s+")


class SearchHit(Payload, frozen=True):
    """A block that holds the words; `row` is -1 where it is not in this moment's context, `turn` 0-based.

    `at` is the moment that has it in its context. `spans` say where in `preview` the words stand: start and
    end, alternating, in UTF-16 units, as JavaScript counts.
    """

    ref: str
    row: int
    at: str
    turn: int
    label: str
    preview: str
    spans: list[int]


class FactHit(Payload, frozen=True):
    """A fact whose form holds the words. `outcome` is its label on screen, `turn` its last turn, 0-based."""

    number: int
    kind: str
    form: str
    outcome: str
    turn: int


class SearchReply(Payload, frozen=True):
    """The blocks that hold the words; `total` are all there are, of which `hits` may be the first.

    The others are for a list of a dozen rows: facts, turns (by number, or by what the user said at their
    beginning), and which of the keys that came with the question say the words. `rows` says how many of each
    belong into it: facts, blocks, turns, keys.
    """

    finished: ClassVar[bool] = True
    query: str
    hits: list[SearchHit]
    total: int
    facts: list[FactHit] = field(default_factory=list)
    turns: list[SearchHit] = field(default_factory=list)
    keys: list[int] = field(default_factory=list)
    rows: list[int] = field(default_factory=lambda: [0, 0, 0, 0])


MOST_ROWS = 12
"""Rows of the list under the field, and of each group as many as this at least, if it has them."""
FAIR = 3


def share_rows(counts: Sequence[int], most: int = MOST_ROWS) -> list[int]:
    """How many rows of each group are shown, together no more than `most`; blocks take what is left.

    >>> share_rows((10, 100, 0, 1)), share_rows((1, 2, 0, 0)), share_rows((50, 50, 50, 50))
    ([3, 8, 0, 1], [1, 2, 0, 0], [3, 3, 3, 3])
    """
    shown = [min(count, FAIR) for count in counts]
    for group in (1, 0, 2, 3):
        shown[group] += min(counts[group] - shown[group], most - sum(shown))
    return shown


def find_keys(words: Sequence[object], query: str) -> list[int]:
    """Which of the keys' own words hold the query."""
    needle = query.strip().casefold()
    return [at for at, text in enumerate(words) if needle and needle in str(text).casefold()]


def find_turns(history: History, session: Session, hits: Sequence[SearchHit], query: str) -> list[SearchHit]:
    """Turns by their number ("turn 12", "12"), else those whose first words are among the hits."""
    told = _NUMBER.fullmatch(query.strip().casefold())
    begins: dict[int, int] = {}
    for at, step in enumerate(history.step.tolist()):
        turn = int(history.turn[step]) if step >= 0 else -1
        entry = session.entries[int(history.path[at])]
        if turn >= 0 and turn not in begins and entry.role == "user" and entry.kind != "compaction":
            begins[turn] = int(history.path[at])
    names = {session.entries[i].id: turn for turn, i in begins.items()}
    if told is None:
        return [hit for hit in hits if hit.ref.rpartition("/")[0] in names]
    entry_at = begins.get(int(told[1]) - 1)
    if entry_at is None:
        return []
    entry = session.entries[entry_at]
    return find_text(session, history, entry.id, limit=1).hits


_NUMBER = re.compile(r"(?:turn )?(\d{1,6})")


class _Found(NamedTuple):
    at: int
    block: int
    text: str
    folded: str | None
    call: ToolCall | None
    line: LineMatch | None = None


_CLOSE = "close: "
"""What a row begins with whose words are not those that were searched for."""
_LEAST, _MOST_LINES = 0.34, 6
"""The least share of a question's weight that a close line has, and how many lines are shown."""


def _find_close(
    session: Session, query: str, path: Sequence[int], position: Mapping[int, int]
) -> list[_Found]:
    """Find the lines of the context that come closest to words that nothing holds."""
    lines = find_lines(stand_live(session), query, _MOST_LINES)
    found = []
    for line in lines:
        if line.share >= _LEAST and line.words[0] > 1 and session.index.get(line.ref.entry) in position:
            block = session.entries[session.index[line.ref.entry]].blocks[line.ref.block]
            call = block if block.kind == "tool_call" else None
            place = path.index(session.index[line.ref.entry])
            found.append(_Found(place, line.ref.block, block.text, "", call, line))
    return found


def _preview_line(line: LineMatch, query: str) -> tuple[str, list[int]]:
    """A close line, and where in it the words of the query stand."""
    text = _clean(line.text)[:PREVIEW]
    wanted = [term for term in read_terms(query) if is_subject(term)]
    spans = []
    for term in read_terms(text):
        if any(is_same(term, other) for other in wanted):
            spans += [utf16_length(text[: term.start]), utf16_length(text[: term.end])]
    return text, spans


def find_text(session: Session, history: History, query: str, limit: int = 200) -> SearchReply:
    """Every block on the main path that holds `query`.

    `session` is the moment that is planned, which may stand on another branch and is searched too; `history`
    is the whole file's life. The first `limit` hits are given: those of the moment, then the others, each in
    their order. A query that names a block ("e12/0") or an entry finds it too, first of all. Nothing is found
    for blanks.

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
    known = set(main)
    path = [*main, *(entry for entry in position if entry not in known)]
    named: list[_Found] = []
    here: list[_Found] = []
    elsewhere: list[_Found] = []
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


def _search(session: Session, path: list[int], needle: str, name: str) -> Iterator[_Found]:
    """Blocks that hold the words, in their order; `folded` is None for one that is found by its name."""
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
                yield _Found(at, number, text, None, call)
            elif text.isascii():
                # Case folding is costly beside this, and the same here.
                if ascii_only and needle in (folded := text.lower()):
                    yield _Found(at, number, text, folded, call)
            elif needle in (folded := text.casefold()):
                yield _Found(at, number, text, folded, call)


def _preview(found: _Found, needle: str) -> tuple[str, list[int]]:
    """Some of the text around the first match in one line, and where in it every match stands."""
    text, folded = found.text, found.folded
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
    found, at = [], first
    while at >= 0 and at < first + PREVIEW:
        found.append((at, at + len(needle)))
        at = folded.find(needle, at + len(needle))
    if len(folded) == len(text):
        return found  # no letter folds to nothing, so each has folded to one
    ends = list(accumulate(len(char.casefold()) for char in text))
    return [(bisect_right(ends, a), bisect_right(ends, b - 1) + 1) for a, b in found]


def _clean(text: str) -> str:
    return printable(_BLANK.sub(" ", text))


def _label(entry: Entry, found: _Found, cwd: str | None) -> str:
    block: Block = entry.blocks[found.block]
    if found.call is not None:
        failed = block.kind == "tool_output" and block.is_error
        return ("failed: " if failed else "") + title_call(found.call, cwd)
    if block.kind == "text":
        return "summary" if entry.kind == "compaction" else describe_words(entry, block)
    if block.kind == "tool_output":
        return block.name or "output of an unknown call"
    return block.kind
