"""A process that is killed while it saves leaves the old manifest or the new one, whole.

Run as a program, it forks a writer for every kill, since starting Python takes longer than saving. The kills
are spread evenly over the calls of a save, so a busy machine does not move them.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import pytest

from inspector.formats.manifest import dump_manifest
from inspector.planning.summary_jobs import Reply
from inspector.session.session import Session
from inspector.summaries.compaction import CompactionResult, compact
from inspector.summaries.store import ARCHIVE, CURRENT, EARLIER, open_earlier, save_compaction
from inspector.tokens.counters import ESTIMATE
from inspector.tokens.ledger import count_tokens
from tests.test_cuts import answer, build, call, say, user
from tests.work import count_calls

KILLS = 100


def small() -> Session:
    loops = [
        part
        for n in range(6)
        for part in (user(f"task {n}"), call(f"c{n}"), answer(f"c{n}"), say(f"done {n} " * 40))
    ]
    return build(*loops)


def transition() -> CompactionResult:
    session = small()
    return compact(
        session,
        "flue",
        lambda job, session: Reply(text="what was done " * 20),
        # By an estimate: every fork would copy the tables of an exact counter, most of what it does.
        ledger=count_tokens(session, ESTIMATE),
        edits={"settings": {"keep-recent-tokens.tokens": 60}},
    )


def write_old(folder: Path, done: CompactionResult) -> bytes:
    old = dump_manifest(done.session).encode("ascii")
    folder.mkdir()
    (folder / CURRENT).write_bytes(old)
    return old


def save_and_count(root: Path, done: CompactionResult) -> tuple[bytes, int]:
    """Return the manifest of a writer that is not killed, and its number of calls."""
    for number in range(2):  # the first one fills caches, so it calls more
        folder = root / f"whole-{number}"
        write_old(folder, done)
        calls = count_calls(partial(save_compaction, done, folder, keep_secrets=True))
    return (folder / CURRENT).read_bytes(), calls


def kill_writer(folder: Path, done: CompactionResult, calls: int) -> None:
    """Fork a writer and kill it after `calls` calls, or when it has saved."""
    child = os.fork()
    if child == 0:
        remaining = calls

        def strike(frame: object, event: str, argument: object) -> None:
            nonlocal remaining
            remaining -= event in ("call", "c_call")
            if remaining < 0:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.setprofile(strike)
        try:
            save_compaction(done, folder, keep_secrets=True)
            os.kill(os.getpid(), signal.SIGKILL)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL


def main(root: Path) -> None:
    """Kill writers, check what they leave, let another writer save; print the counts as JSON."""
    done = transition()
    new, calls = save_and_count(root, done)
    counts = {"old": 0, "new": 0, "midway": 0, "torn": 0, "blocked": 0}
    for number in range(KILLS):
        folder = root / f"k{number}"
        old = write_old(folder, done)
        kill_writer(folder, done, round(number * calls / (KILLS - 1)))
        manifest = (folder / CURRENT).read_bytes()
        kind = "old" if manifest == old else "new" if manifest == new else "torn"
        counts[kind] += 1
        # Something of the new one is there already, and the manifest is still the old one.
        counts["midway"] += kind == "old" and (folder / EARLIER).exists()
        if kind == "new":
            # Everything that the new manifest speaks of is there.
            whole = open_earlier(folder / CURRENT) == done.session
            counts["torn"] += not whole or len(list((folder / ARCHIVE).glob("[0-9a-f]*.json"))) != 1
        elif number % 5 == 0:
            save_compaction(done, folder, keep_secrets=True)
            again = (folder / CURRENT).read_bytes() == new and not any(folder.rglob(".*.tmp"))
            counts["blocked"] += not again
    print(json.dumps(counts))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no kill -9 here")
def test_a_writer_killed_at_100_random_points_leaves_the_old_manifest_or_the_new_one(tmp_path: Path) -> None:
    # A kill loses nothing that the system was told to write, so memory will do, and takes no turns at a disk.
    memory = Path("/dev/shm")
    where = memory if os.access(memory, os.W_OK) else tmp_path
    with tempfile.TemporaryDirectory(dir=where) as root:
        done = subprocess.run(
            [sys.executable, "-m", "tests.summaries.test_kill", root],
            capture_output=True,
            text=True,
            cwd=Path(__file__).parents[2],
            timeout=1200,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout)
    assert counts["old"] + counts["new"] == KILLS, counts
    assert (counts["torn"], counts["blocked"]) == (0, 0), counts
    # The kills fell before, within and after the writing.
    assert min(counts["old"], counts["new"], counts["midway"]) > 0, counts


if __name__ == "__main__":
    main(Path(sys.argv[1]))
