"""A demo session that comes with the package: fictional, nothing in it is anybody's, and always the same.

It is a Claude Code session about a project that publishes tide tables, recorded with one automatic compaction
that loses two things which have to be won back afterwards: `LOST_PATH` and `CONSTRAINT`.
"""

from __future__ import annotations

from functools import cache

from .errors import ReadError
from .formats.readers import read_session
from .session.session import Session

FILE = "demo.jsonl.xz"
"""The session's file inside this package."""

LOST_PATH = "src/tidepool/calendar/offsets.py"
"""The file with the cause: read and edited in turns 2 and 3, not named by the summary, then searched for."""

CONSTRAINT = "never touch data/almanac.json"
"""The user's rule, in these words in turn 2, not in the summary, and in these words again after it."""


@cache
def read_demo() -> bytes:
    """Return the session as a Claude Code file (about 1 MB of JSON lines), for example to write it to disk.

    Raises `ReadError` if Python was built without lzma.

    >>> read_demo().count(b"\\n")
    560
    """
    # Few who import this package want the session.
    from importlib import resources

    try:
        import lzma
    except ImportError as error:
        reason = "it is packed as .xz, and this Python was built without the module lzma, which unpacks that"
        raise ReadError("the demo session", detail=reason) from error
    return lzma.decompress((resources.files(__package__) / FILE).read_bytes())


@cache
def open_demo() -> Session:
    """The demo session. It takes about a tenth of a second the first time.

    >>> open_demo()
    Session(claude-code, 560 records, 21 turns, 1 compaction, 1 clearing, 0 unknown)
    """
    return read_session(read_demo(), "the bundled session", "claude-code")
