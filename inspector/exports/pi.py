"""A session as pi's file: a header line, then one entry per line (FLUE §13.2).

The words that pi puts around summaries are ours here as they are in the reader, so both agree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..session.json_text import dump_lossless
from ..session.session import Session
from ..summary import PI_INTRODUCTION
from .pi_ai import Words, write_records
from .trunk import Json, Twig, find_dropped, take_line

SUMMARY = Words(f"{PI_INTRODUCTION}\n\n<summary>\n", "\n</summary>")
BRANCH = Words("A branch of this conversation was left; what happened there:\n\n<summary>\n", "\n</summary>")
VERSION = 3
NEVER = "1970-01-01T00:00:00.000Z"


def write(session: Session, twigs: Sequence[Twig] = ()) -> tuple[bytes, Counter[str]]:
    """The lines, and a count of what they do not hold."""
    whole = take_line(session)
    line = whole.begin_anew(ranges=True)
    twigs = [*find_dropped(whole, line), *twigs]
    losses = Counter(line.losses)
    header: Json = {
        "type": "session",
        "version": VERSION,
        "id": session.id,
        "timestamp": session.created or NEVER,
        "cwd": session.cwd or "",
    }
    stamp = {"timestamp": session.updated or session.created or NEVER}
    records = [stamp | record for record in write_records(line, twigs, SUMMARY, BRANCH, losses)]
    return "".join(f"{dump_lossless(record)}\n" for record in (header, *records)).encode("ascii"), losses
