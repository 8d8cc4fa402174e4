"""A session as Flue's SessionData: one JSON document (FLUE §1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..session.json_text import dump_lossless
from ..session.session import Session
from ..summary import CONTEXT_MARKER
from .pi_ai import Words, write_records
from .trunk import Json, Twig, find_dropped, take_line

SUMMARY = Words(f"{CONTEXT_MARKER}\n\n", marks=CONTEXT_MARKER)
BRANCH = Words("[Branch Summary]\n\n")
VERSION = 3
NEVER = "1970-01-01T00:00:00.000Z"


def write(session: Session, twigs: Sequence[Twig] = ()) -> tuple[bytes, Counter[str]]:
    """The document, and a count of what it does not hold."""
    whole = take_line(session)
    line = whole.begin_anew(ranges=True)
    twigs = [*find_dropped(whole, line), *twigs]
    losses = Counter(line.losses)
    entries = list(write_records(line, twigs, SUMMARY, BRANCH, losses))
    document: Json = {
        "version": VERSION,
        "entries": entries,
        "leafId": entries[-1]["id"] if entries else None,
        "metadata": {},
        "createdAt": session.created or NEVER,
        "updatedAt": session.updated or session.created or NEVER,
    }
    return dump_lossless(document).encode("ascii"), losses
