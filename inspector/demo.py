"""A demo session that comes with the package: made in memory, always the same, nothing in it is anybody's.

It is a Claude Code session about a fictional project, recorded with one automatic compaction that loses two
things the story then has to win back: `LOST_PATH` and `CONSTRAINT`. See `story` for what happens in it.
"""

from __future__ import annotations

from functools import cache

from .formats.readers import read_session
from .session.session import Session
from .story import CONSTRAINT as CONSTRAINT
from .story import LOST_PATH as LOST_PATH

TITLE = "Every high water an hour early"


@cache
def write_story() -> bytes:
    """The session as a Claude Code file (about 1 MB of JSON lines), for those who want it on disk.

    Its usage figures are those of a provider that counts 1.2 tokens for each token of o200k_base.
    """
    # The story takes longer to import than most of this package, and few who import that want it.
    from .story import aftermath, afternoon, morning, noon, tuesday
    from .story.checkout import Checkout
    from .story.recorder import Recorder

    desk, tree = Recorder(), Checkout()
    morning.tell_morning(desk, tree)
    noon.tell_noon(desk, tree)
    afternoon.tell_afternoon(desk, tree)
    aftermath.tell_aftermath(desk, tree)
    tuesday.tell_tuesday(desk, tree)
    return desk.finish(TITLE)


@cache
def open_demo() -> Session:
    """The demo session. It takes about a tenth of a second the first time.

    >>> open_demo()
    Session(claude-code, 560 records, 21 turns, 1 compaction, 0 unknown)
    """
    return read_session(write_story(), "the bundled session", "claude-code")
