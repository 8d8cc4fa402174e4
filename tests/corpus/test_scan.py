"""Scans: the same rows whoever measures them, nothing measured twice or lost, a bad file costs a row."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from inspector import scan
from inspector.corpus import Limits, ScanTable, expand_grid, open_scan, sweep
from inspector.corpus.columns import COLUMNS
from inspector.corpus.measure import MEASURES, hash_policy
from inspector.corpus.worker import measure_task
from inspector.errors import Stopped
from inspector.library import FoundSession
from inspector.policies.registry import find_policy
from tests.corpus.corpus_files import make_folder, talk, write_rows

TWO = ["flue", "codex"]


def timeless(table: ScanTable) -> list[str]:
    """The rows without the one column in which two scans may differ, in one order."""
    return sorted(
        json.dumps({k: v for k, v in row.items() if k != "seconds"}, sort_keys=True) for row in table
    )


class CountingPool(ThreadPoolExecutor):
    """An executor that tells how many files it was handed."""

    handed = 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.handed += 1
        return super().submit(fn, *args, **kwargs)


def test_a_row_for_each_session_policy_and_compaction(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "corpus", demo=True)
    table = scan(folder, TWO, workers=0)
    rows = [row for row in table if not row["error"]]
    assert all(list(row) == list(COLUMNS) for row in table)
    demo = [row for row in rows if row["file"].endswith("a demo.jsonl")]
    assert [(row["policy"], row["moment"]) for row in demo] == [("recorded", 1), ("flue", 1), ("codex", 1)]
    # A session without a compaction is measured where it was fullest, and has no row of what was recorded.
    short = [(row["session"], row["policy"], row["moment"]) for row in rows if row not in demo]
    assert sorted(short) == sorted((f"s{n}", policy, 0) for n in range(3) for policy in TWO)
    bad = [row for row in table if row["error"]]
    assert [Path(row["file"]).name for row in bad] == ["notes.json"]
    assert "notes.json" in bad[0]["error"]
    assert table.files == 5


def test_every_executor_gives_the_same_rows(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "corpus")
    here = timeless(scan(folder, TWO, workers=0, measures=MEASURES))
    assert here == timeless(scan(folder, TWO, workers=2, measures=MEASURES))
    with ThreadPoolExecutor(1) as one:
        assert here == timeless(scan(folder, TWO, executor=one, measures=MEASURES))


def test_a_second_scan_does_no_work(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "corpus")
    into = tmp_path / "rows.jsonl"
    with CountingPool(1) as pool:
        first = timeless(scan(folder, TWO, into=into, executor=pool))
        assert pool.handed == 5
        written = into.read_bytes()
        assert timeless(scan(folder, TWO, into=into, executor=pool)) == first
        assert pool.handed == 5
        assert into.read_bytes() == written
        # One more policy: what is known of the others is not measured again, the bad file not tried again.
        more = scan(folder, [*TWO, "pi"], into=into, executor=pool)
        assert pool.handed == 9
        assert timeless(more) == timeless(scan(folder, [*TWO, "pi"], workers=0))
        # A file whose content has changed is another one.
        write_rows(folder / "inner" / "s0.jsonl", talk(0, 5))
        changed = scan(folder, TWO, into=into, executor=pool)
        assert pool.handed == 10
        assert timeless(changed) == timeless(scan(folder, TWO, workers=0))
        # Other measures are another method: nothing of it is known yet.
        assert timeless(scan(folder, TWO, into=into, executor=pool, measures=())) != first
        assert pool.handed == 15


def test_what_was_done_before_a_stop_is_kept(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "corpus", 5)
    into = tmp_path / "rows.jsonl"

    def stop(share: float) -> None:
        if share >= 0.4:
            raise Stopped

    with pytest.raises(Stopped):
        scan(folder, TWO, into=into, workers=1, tell=stop)
    kept = timeless(open_scan(into))
    assert 0 < len(kept) < 14
    seen: list[float] = []
    with CountingPool(1) as pool:
        whole = timeless(scan(folder, TWO, into=into, executor=pool, tell=seen.append))
        assert pool.handed < 7
    # What was done before counts as done: the share goes on from there, and never by more than two files.
    assert seen[0] > 0.4 and seen[-1] == 1.0
    assert all(0 <= after - before < 2.1 / 7 for before, after in pairwise(seen))
    assert {*kept} < {*whole}
    assert whole == timeless(scan(folder, TWO, workers=0))


def test_files_that_are_gone_have_a_row_each(tmp_path: Path) -> None:
    """Listed a while ago, and removed since."""
    folder = make_folder(tmp_path / "corpus", 0)
    gone = [FoundSession("claude-code", folder / name, 0.0, 5) for name in ("one.jsonl", "two.jsonl")]
    into = tmp_path / "rows.jsonl"
    for _ in range(2):
        table = scan([folder / "a demo.jsonl", *gone], TWO, into=into, workers=1)
        assert sorted(Path(row["file"]).name for row in table.errors) == ["one.jsonl", "two.jsonl"]
        assert len(table) == 5
    with pytest.raises(FileNotFoundError, match="no such folder"):
        scan(folder, TWO, into=tmp_path / "none" / "rows.jsonl")


def test_a_line_that_was_torn_is_measured_again(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "corpus")
    into = tmp_path / "rows.jsonl"
    whole = timeless(scan(folder, TWO, into=into, workers=0))
    content = into.read_bytes()
    for size in (len(content) - 1, len(content) // 2, 10):
        into.write_bytes(content[:size])
        assert timeless(scan(folder, TWO, into=into, workers=0)) == whole


def test_a_file_that_takes_too_long_costs_one_row(tmp_path: Path) -> None:
    write_rows(tmp_path / "short.jsonl", talk(1))
    write_rows(tmp_path / "long.jsonl", talk(2, 20_000))
    task = {"file": str(tmp_path / "long.jsonl"), "digest": "d", "bytes": 0, "method": "m"}
    task |= {
        "policies": [_carried("flue")],
        "recorded": True,
        "measures": [*MEASURES],
        "counter": "calibrated",
    }
    (row,) = measure_task(task, Limits(seconds=0.2))
    assert row["error"] == "Timeout: it took longer than 0.2 s"
    # The same thread measures the next file as if nothing had been.
    good = measure_task(task | {"file": str(tmp_path / "short.jsonl")})
    assert [(row["policy"], row["error"]) for row in good] == [("flue", None)]


def _carried(name: str) -> dict[str, Any]:
    return json.loads(find_policy(name).model_dump_json())  # type: ignore[no-any-return]


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of memory is Linux's and macOS's")
def test_a_file_that_takes_too_much_memory_costs_one_row(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    write_rows(folder / "small.jsonl", talk(1))
    large = folder / "large.jsonl"
    rows = talk(2)
    rows[0]["message"]["content"] = "src/a.py 12 tests failed. " * 2_000_000
    write_rows(large, rows)
    table = scan(folder, ["flue"], workers=1, limits=Limits(1200, 1 << 29))
    told = {Path(row["file"]).name: row["error"] for row in table}
    assert told["small.jsonl"] is None
    assert told["large.jsonl"].split(":")[0] in ("MemoryError", "WorkerDied")


# Loaded by every Python process with its folder on the path; kills the first worker that opens the session.
KILLED_WHILE_READING = """
import os, signal, sys

def strike(event, arguments):
    if event == "open" and str(arguments[0]).endswith("s3.jsonl"):
        try:
            os.close(os.open(os.environ["KILLED"], os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        os.kill(os.getpid(), signal.SIGKILL)

if "inspector.corpus.worker" in sys.orig_argv:
    sys.addaudithook(strike)
"""


def test_a_worker_that_is_killed_in_the_middle_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_folder(tmp_path / "corpus", 6)
    expected = timeless(scan(folder, TWO, workers=0))
    (tmp_path / "sitecustomize.py").write_text(KILLED_WHILE_READING)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("KILLED", str(tmp_path / "killed"))
    table = scan(folder, TWO, workers=1)
    assert (tmp_path / "killed").exists()
    assert timeless(table) == expected


def test_dask_gives_the_same_rows_though_a_worker_dies(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="compaction-inspector[cluster] brings it")
    folder = make_folder(tmp_path / "corpus", 4)
    into = tmp_path / "rows.jsonl"
    expected = timeless(scan(folder, TWO, workers=0))
    with (
        distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        seen: list[float] = []

        def kill(share: float) -> None:
            if not seen:
                seen.append(share)
                os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)

        table = scan(folder, TWO, into=into, executor=client.get_executor(), tell=kill)
        assert timeless(table) == expected
        assert seen


def test_every_session_of_an_archive_is_measured(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "corpus")
    packed = tmp_path / "both.zip"
    with ZipFile(packed, "w") as archive:
        for number in range(3):
            archive.write(folder / "inner" / f"s{number}.jsonl", f"deep/s{number}.jsonl")
    rows = [*scan(packed, TWO, workers=0)]
    assert [row["part"] for row in rows] == [f"deep/s{n}.jsonl" for n in range(3) for _ in TWO]
    assert {row["rows"] for row in rows} == {3}
    assert len(scan(packed, TWO, workers=0).by_policy()) == 2
    assert scan(packed, TWO, workers=0).by_policy()[0].sessions == 3


def test_addresses_are_read_by_fsspec(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec", reason="compaction-inspector[cluster] brings it")
    folder = make_folder(tmp_path / "corpus", 1)
    memory = fsspec.filesystem("memory")
    memory.pipe("/far/s0.jsonl", (folder / "inner" / "s0.jsonl").read_bytes())
    far = [*scan("memory://far/s0.jsonl", TWO, workers=0)]
    near = [*scan(folder / "inner", TWO, workers=0)]
    same = ("policy", "before", "after", "facts", "sections")
    assert [[row[name] for name in same] for row in far] == [[row[name] for name in same] for row in near]


def test_a_sweep_plans_every_value(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "corpus", 0, demo=True)
    table = sweep(folder, "flue", {"keep-recent-tokens.tokens": [8000, 60000]}, workers=0)
    small, large = (f"flue[keep-recent-tokens.tokens={tokens}]" for tokens in (8000, 60000))
    after = {row["policy"]: row["after"] for row in table if row["policy"]}
    assert after[small] < after[large]
    made = expand_grid("flue", {"keep-recent-tokens.tokens": [2000], "trigger.enabled": [True, False]})
    assert [one.trigger.enabled for one in made] == [True, False]
    assert len({hash_policy(one) for one in made}) == 2


# An executor whose rows are large, so that those which are kept cannot be overlooked.
MANY = """
import re, resource, sys
from concurrent.futures import Executor, Future
from pathlib import Path
from inspector import scan

class Done(Future):
    # Many are out at a time, each with a row that is made when it is taken.
    def result(self, timeout=None):
        return [super().result() | {"session": self.digest * 6_000}]

class LargeRows(Executor):
    row = None
    def submit(self, run, task):
        self.row = self.row or run(task)[0]
        done = Done()
        done.digest = task["digest"]
        done.set_result(self.row | {name: task[name] for name in ("file", "digest", "bytes", "method")})
        return done

folder, into = sys.argv[1:]
files = sorted(map(str, Path(folder).iterdir()))
for many in (40, 400):
    table = scan(files[:many], ["flue"], into=f"{into}/{many}.jsonl", executor=LargeRows())
    sessions = table.by_policy()[0].sessions
    # What getrusage tells of Linux counts the process that started this one too.
    status = Path("/proc/self/status")
    most = re.search(r"VmHWM:\\s+(\\d+)", status.read_text() if status.exists() else "")
    peak = int(most[1]) if most else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(sessions, peak)
"""


def test_memory_stays_flat_over_many_sessions(tmp_path: Path) -> None:
    """Rows go into the file and the table reads them there: four hundred sessions take what forty do."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    for number in range(400):
        write_rows(folder / f"s{number}.jsonl", talk(number, 1))
    command = [sys.executable, "-c", MANY, str(folder), str(tmp_path)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    (few, first), (many, last) = (map(int, line.split()) for line in told)
    assert (few, many) == (40, 400)
    # The rows alone have 77 MB.
    assert (tmp_path / "400.jsonl").stat().st_size > 70_000_000
    assert last < 1.2 * first
