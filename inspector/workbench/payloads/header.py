"""The header of the screen: the session's title, the data of its file, and its bill."""

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
from ...tokens.bill import Bill
from ...tokens.cost import price_spent
from ...tokens.counters import ESTIMATE, find_counter
from ...tokens.history import History
from ...tokens.ledger import Ledger
from ...tokens.memo import Memo
from ...tokens.spent import SNAPSHOTS, find_spent
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
QUICK = "chars4_utf16"
"""Name for the counter of streamed replies while the ledger is an estimate."""
UNKNOWN = "?"
_BILLS: Memo[Bill] = Memo()


class HeaderPayload(Payload, frozen=True):
    """The title of the session, and data about the whole file.

    `about` is the tooltip of the title: the origin of the session. `harness`, `model`, `size` (turns and
    steps) and `compactions` are each a few words. `unknown` lists the kinds of records and blocks that no
    reader knows, with their numbers.
    """

    title: str
    about: str
    harness: str
    model: str
    size: str
    compactions: str
    unknown: list[str]


class BillPayload(Payload, frozen=True):
    """The cost of the session by the usage in its file.

    `cost` is a few words, "" if there are no replies; `sentence` is the same with its source. The last of the
    `columns` is the currency. A row has a name, the number of requests, their tokens and their cost, "?" if
    it is unknown. `notes` are about prices and assumptions.
    """

    cost: str
    sentence: str
    columns: list[str]
    rows: list[list[str]]
    notes: str


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


def describe_bill(ledger: Ledger) -> BillPayload:
    """Return the bill of the ledger's session, computed once.

    >>> from inspector import count_tokens, open_demo
    >>> bill = describe_bill(count_tokens(open_demo()))
    >>> bill.cost, bill.sentence
    ('at least $11.91', "Cost by the file's usage: at least USD 11.91; the price of some requests is unknown")
    """
    bill = find_bill(ledger)
    rows = [
        [
            name,
            f"{calls:,}",
            UNKNOWN if tokens is None else f"{tokens:,}",
            UNKNOWN if money is None else f"{money:.4f}",
        ]
        for name, calls, tokens, money in bill.lines
    ]
    cost, total = "cost not known", "not known"
    if bill.cost is not None:
        amount = f"{bill.cost.total:.2f}"
        cost = f"{'$' if bill.currency == 'USD' else f'{bill.currency} '}{amount}"
        total = f"{bill.currency} {amount}"
        if bill.has_unknown:
            cost, total = f"at least {cost}", f"at least {total}; the price of some requests is unknown"
    sentence = f"Cost by the file's usage: {total}"
    columns = ["", "requests", "tokens", bill.currency]
    notes = " ".join(bill.notes) if rows else ""
    return BillPayload(cost if rows else "", sentence, columns, rows, notes)


def find_bill(ledger: Ledger) -> Bill:
    """Return the bill of the ledger's session with a row for each request, computed once."""
    return _BILLS.of(ledger, lambda: _price(ledger))


def _price(ledger: Ledger) -> Bill:
    # With an estimated ledger the bill is an estimate too: exact counts need the tokenizer's tables.
    counter = QUICK if ledger.base is ESTIMATE else SNAPSHOTS
    return price_spent(
        ledger.session,
        find_spent(ledger.session, "5m", counter, counts=ledger.words_by(find_counter(counter))),
    )
