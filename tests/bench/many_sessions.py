"""A scan of 10,000 small sessions: is memory flat, and does a stop keep what is done?

Run by hand: `python tests/bench/many_sessions.py` (minutes). The sessions are pieces of the shared ones, of
10 to 40 rows from anywhere in a file, each with a session id of its own. The scan is stopped once, when a
third is done, and then begun again into the same file.
"""

from __future__ import annotations

import json
import os
import random
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

sys.path.insert(0, str(Path(__file__).parents[2]))

from inspector.corpus.scanning import scan
from inspector.errors import Stopped
from tests.bench.benchmark import find_sources, tell_commit

FILES, ROWS, SEED = 10_000, (10, 40), 7
POLICIES = ["flue", "codex"]
STOP = 1 / 3


def write_pieces(folder: Path, files: int) -> None:
    """Pieces of the shared Claude Code sessions, in folders of 500."""
    chance = random.Random(SEED)
    sources = [
        lines
        for path in find_sources()
        if path.suffix == ".jsonl" and "claude-code" in path.parent.name
        if len(lines := path.read_text("utf-8").splitlines()) > ROWS[1]
    ]
    for number in range(files):
        lines = chance.choice(sources)
        begin = chance.randrange(len(lines) - ROWS[0])
        rows = [json.loads(line) for line in lines[begin : begin + chance.randint(*ROWS)]]
        for row in rows:
            if "sessionId" in row:
                row["sessionId"] = f"piece-{number}"
        path = folder / f"{number // 500:02}" / f"piece-{number:05}.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")


class Watch(threading.Thread):
    """The memory of this process and of those it started, by how much of the scan is done."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.done, self.ended = 0.0, threading.Event()
        self.seen: list[tuple[float, int, int]] = []

    def tell(self, share: float) -> None:
        self.done = share

    def run(self) -> None:
        me = psutil.Process()
        while not self.ended.wait(0.5):
            workers = 0
            for one in me.children(recursive=True):
                try:
                    workers = max(workers, one.memory_info().rss)
                except psutil.NoSuchProcess:
                    continue
            self.seen.append((self.done, me.memory_info().rss, workers))

    def most(self, first: float, last: float) -> tuple[int, int]:
        """MB at most of this process and of one worker, between two shares done."""
        mine = [row for row in self.seen if first <= row[0] < last]
        return round(max(row[1] for row in mine) / 1e6), round(max(row[2] for row in mine) / 1e6)


class StopOnce:
    """Ends the scan when a third is done."""

    def __call__(self, share: float) -> None:
        if share >= STOP:
            raise Stopped


def main(files: int) -> None:
    with TemporaryDirectory() as folder:
        write_pieces(Path(folder), files)
        size = sum(path.stat().st_size for path in Path(folder).rglob("*.jsonl")) / 1e6
        into = Path(folder, "rows.jsonl")
        workers = os.cpu_count() or 1
        begin = time.perf_counter()
        with suppress(Stopped):
            scan(folder, POLICIES, into=into, workers=workers, tell=StopOnce())
        stopped, kept = time.perf_counter() - begin, len(into.read_text("utf-8").splitlines())
        watch = Watch()
        watch.start()
        begin = time.perf_counter()
        table = scan(folder, POLICIES, into=into, workers=workers, tell=watch.tell)
        rest = time.perf_counter() - begin
        watch.ended.set()
        begin = time.perf_counter()
        again = scan(folder, POLICIES, into=into, workers=workers)
        nothing = time.perf_counter() - begin
        early, late = watch.most(0.4, 0.55), watch.most(0.85, 1.01)
        commit, day = tell_commit()
        figures = {
            "commit": commit,
            "date": day,
            "files": files,
            "megabytes": round(size),
            "workers": workers,
            "rows": len(table),
            "errors": sum(bool(row["error"]) for row in table),
            "seconds": round(stopped + rest),
            "rows kept by the stop": kept,
            "again, seconds": round(nothing, 1),
            "rows again": len(again),
            "MB of the process, halfway": early[0],
            "MB of the process, at the end": late[0],
            "MB of a worker, halfway": early[1],
            "MB of a worker, at the end": late[1],
        }
    for name, value in figures.items():
        print(f"{name:<30} {value}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else FILES)
