"""How long a scan takes: the shared sessions under twelve policies, by one worker and by two.

Goals: two workers are nearly twice as fast as one; a second scan does no work. The estimate for a million
sessions on 200 cores is the measured processor time of a MB, facts included, times their size, with the mean
size of these sessions; it is an estimate on paper, nothing of that size was run.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from outside import Missing

from inspector.corpus.scanning import scan
from inspector.policies.registry import POLICIES
from tests.bench.benchmark import SESSIONS, find_sources

MANY, CORES = 1_000_000, 200


def run() -> Iterator[tuple[str, object]]:
    if not SESSIONS.exists():
        raise Missing("the shared transcripts are not beside this checkout")
    paths = find_sources()
    chosen = POLICIES[:12]
    size = sum(path.stat().st_size for path in paths) / 1e6
    took = {}
    with TemporaryDirectory() as folder:
        for workers in (1, 2):
            into = Path(folder, f"{workers}.jsonl")
            start = time.perf_counter()
            rows = len(scan(paths, chosen, into=into, workers=workers))
            took[workers] = time.perf_counter() - start
            told = (
                f"{took[workers]:.1f} s, {rows / took[workers]:.0f} rows/s, {size / took[workers]:.1f} MB/s"
            )
            yield f"scan {len(paths)} files ({size:.0f} MB), {workers} worker(s)", told
        start = time.perf_counter()
        scan(paths, chosen, into=into, workers=2)
        yield "the same again, nothing to do", time.perf_counter() - start
    yield "one worker / two", f"{took[1] / took[2]:.2f} x"
    hours = took[1] / len(paths) * MANY / CORES / 3600
    yield f"on paper: {MANY:,} sessions of {size / len(paths):.1f} MB on {CORES} cores", f"{hours:.1f} h"


if __name__ == "__main__":
    for label, value in run():
        print(f"{label:<70} {value}")
