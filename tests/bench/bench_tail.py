"""How fast a session that grows by a line is shown again, beside opening and counting all of it anew.

Gate: 0.3 s for a look at a 100 MB Claude Code session after a line was added to it. The looks and the
openings take turns in one process, with all texts counted before, so that the ratio is of one run. A pi
session of a fifth of that size is made here.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from bench_count import clock
from long_session import make_messages, make_pi
from outside import Missing, claude_session

from inspector.files import FollowedFile, open_session
from inspector.tokens.ledger import count_tokens

MEGABYTES, PI_MESSAGES, ROUNDS = 100, 30_000, 7


def claude_line(number: int) -> bytes:
    said = {"role": "user", "content": f"And now something else, for the {number}th time."}
    row = {"type": "user", "uuid": f"added-{number}", "parentUuid": None, "message": said}
    return json.dumps(row).encode() + b"\n"


def pi_line(number: int) -> bytes:
    said = {"role": "user", "content": f"And now something else, for the {number}th time."}
    row = {"type": "message", "id": f"a{number}", "parentId": None, "timestamp": "", "message": said}
    return json.dumps(row).encode() + b"\n"


def run() -> Iterator[tuple[str, str]]:
    with TemporaryDirectory() as folder:
        path = Path(folder, "claude.jsonl")
        try:
            path.write_bytes(claude_session(MEGABYTES).read_bytes())
        except Missing as reason:
            yield f"a Claude Code session of {MEGABYTES} MB", f"not measured: {reason}"
        else:
            yield from time_looks(path, claude_line)
            path.unlink()
        path = Path(folder, "pi.jsonl")
        with path.open("w") as file:
            file.write('{"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00Z"}\n')
            rows = make_pi(make_messages(PI_MESSAGES))
            file.writelines(json.dumps(row | {"timestamp": ""}) + "\n" for row in rows)
        yield from time_looks(path, pi_line)


def time_looks(path: Path, line: Callable[[int], bytes]) -> Iterator[tuple[str, str]]:
    """A line more, looked at and counted; and the same by opening the file."""
    tail = FollowedFile(path)
    ledger = count_tokens(tail.session, "calibrated")
    yield f"{tail.session.format}, {tail.session.records:,} records", f"{path.stat().st_size / 1e6:.1f} MB"
    rows = []
    for number in range(ROUNDS):
        nothing = clock(tail.poll)
        with path.open("ab") as file:
            file.write(line(number))
        looked = clock(tail.poll)
        session = tail.session
        counted = clock(partial(count_tokens, session, "calibrated", known=ledger))
        opened = clock(partial(open_session, path))
        rows.append((nothing, looked, counted, opened, clock(partial(count_tokens, session, "calibrated"))))
    nothing, looked, counted, opened, anew = map(statistics.median, zip(*rows, strict=True))
    yield "  a look, nothing new", f"{nothing * 1000:.2f} ms"
    yield "  a look, a line new", f"{looked * 1000:.0f} ms, opening anew {opened / looked:.1f}x"
    yield "  and its tokens, calibrated", f"{counted * 1000:.0f} ms, counting anew {anew / counted:.1f}x"


if __name__ == "__main__":
    for label, value in run():
        print(f"{label:<64} {value:>22}")
