"""The header of the screen: the session's title and the data of its file."""

from __future__ import annotations

import re
from collections import Counter
from itertools import chain
from textwrap import shorten

from ...redaction.cut import cut_text, redact_long
from ...session.blocks import fields_of
from ...session.entries import count_recorded
from ...session.session import Session
from ...session.speakers import judge, typed_words, who_speaks
from ...text import plural
from ...tokens.history import History
from .base_payload import Payload

MOST_TITLE = 60
"""Maximum length of a title that is made from the first prompt."""
LEAST_TITLE = 24
"""Minimum length of a title that ends at a word; otherwise it is cut inside the word."""
MOST_CHARS = 120
_MARK = re.compile(r"</?[a-z][a-z-]*>")
# The parts of a command in a harness's message that repeat its name and describe it.
_COMMAND = re.compile(r"<command-(?:message|contents)>.*?</command-(?:message|contents)>", re.DOTALL)
_DATED = re.compile(r"-20\d{6}$")


class HeaderPayload(Payload, frozen=True):
    """The title and the unique id of the session, and data about the whole file.

    `about` is the tooltip of the title: the origin of the session. `harness`, `model`, `size` (turns and
    steps) and `compactions` are each a few words. `unknown` lists the kinds of records and blocks that no
    reader knows, with their numbers.
    """

    title: str
    id: str
    about: str
    harness: str
    model: str
    size: str
    compactions: str
    unknown: list[str]


def describe_header(session: Session, history: History, file: str = "") -> HeaderPayload:
    """Describe the whole file. `file` is its name, or "".

    >>> from inspector import count_tokens, open_demo
    >>> from inspector.tokens.history import trace_history
    >>> session = open_demo()
    >>> header = describe_header(session, trace_history(session, count_tokens(session)))
    >>> header.title, header.model, header.size, header.unknown
    ('Every high water an hour early', 'claude-opus-4-5', '21 turns, 151 steps', [])
    """
    source, title = session.source, find_title(session, file)
    name = " ".join(part for part in (source.harness or session.format, source.version) if part)
    about = dict.fromkeys(part for part in (title, session.id, repr(source)) if part)
    turns = int(history.turn[-1]) + 1 if len(history.turn) else 0
    return HeaderPayload(
        title=cut_text(title, MOST_CHARS),
        id=cut_text(session.id, MOST_CHARS),
        about=" · ".join(cut_text(part, MOST_CHARS) for part in about),
        harness=cut_text(name, MOST_CHARS),
        model=cut_text(_DATED.sub("", session.model or "model unknown"), MOST_CHARS),
        size=f"{plural(turns, 'turn')}, {plural(len(history.turn), 'step')}",
        compactions=count_recorded(boundary for _, boundary in session.boundaries),
        unknown=_list_unknown(session),
    )


def find_title(session: Session, file: str = "") -> str:
    """Return the session's own title, else its first prompt, cut at a word, else the name of its file.

    Text that a harness adds to the user's message is not part of the prompt.

    >>> from inspector.session.session import Session
    >>> find_title(Session(format="pi", id="a1"), "first.jsonl"), find_title(Session(format="pi", id="a1"))
    ('first.jsonl', 'a1')
    """
    if session.title and session.title.strip():
        return session.title.strip()
    if words := redact_long(_find_prompt(session), MOST_TITLE):
        brief = shorten(words, MOST_TITLE, placeholder="…") if len(words) > MOST_TITLE else words
        return brief if len(brief) > LEAST_TITLE or brief == words else f"{words[: MOST_TITLE - 1]}…"
    return file or session.id or "session"


def _find_prompt(session: Session) -> str:
    """Return what the user typed in the first turn, or else its first message: a plan, a task, a command."""
    for turn in session.turns[:1]:
        entries = [session.entries[i] for i in session.path[turn.first : turn.last + 1]]
        entries = [entry for entry in entries if entry.role == "user"]
        for entry in entries:
            if (way := who_speaks(entry).way or judge(entry.blocks).way) == "command":
                return _one_line(entry.text)
            if way in ("local command", "shell"):
                continue  # not addressed to the model
            if words := _one_line(typed_words(entry)):
                return words
        for entry in entries[:1]:
            return _one_line(entry.text)
    return ""


def _one_line(text: str) -> str:
    return " ".join(_MARK.sub(" ", _COMMAND.sub(" ", text)).split())


def _list_unknown(session: Session) -> list[str]:
    if not session.unknown:
        return []
    blocks = map(fields_of, chain.from_iterable(fields_of(entry)["blocks"] for entry in session.entries))
    kinds = (block["type"] for block in blocks if block["kind"] == "unknown")
    counts = Counter(f"block {kind or 'without a type'}" for kind in kinds)
    counts.update(f"record {note.type or 'without a type'}" for note in session.notes if not note.known)
    return [cut_text(f"{what}: {number:,}", MOST_CHARS) for what, number in counts.most_common()]
