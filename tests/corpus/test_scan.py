"""Scans: the same rows whoever measures them, nothing measured twice or lost, a bad file costs a row."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector import open_demo, scan
from inspector.corpus import Limits, ScanTable, expand_grid, open_scan, save_scan, sweep
from inspector.corpus.columns import COLUMNS
from inspector.corpus.measure import MEASURES, hash_policy
from inspector.corpus.scanning import read_swept
from inspector.corpus.worker import measure_task
from inspector.errors import ArgumentError, EditError, PolicyError, Stopped
from inspector.library import FoundSession
from inspector.policies.registry import POLICIES, find_policy
from tests.corpus.corpus_files import make_folder, talk, write_rows
from tests.shared import SHARED

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
    folder = make_folder(tmp_path / "corpus")
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


def test_a_stop_waits_for_no_file_in_work(tmp_path: Path) -> None:
    """Its processes are ended with the scan, so that an interrupt does not wait for the longest file."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    write_rows(folder / "long.jsonl", talk(1, 20_000))
    write_rows(folder / "short.jsonl", talk(2))
    into = tmp_path / "rows.jsonl"
    seen: list[float] = []

    def stop(share: float) -> None:
        seen.append(share)
        raise Stopped

    with pytest.raises(Stopped):
        scan(folder, POLICIES, into=into, measures=MEASURES, workers=2, tell=stop)
    assert seen == [0.5]
    command = ["pgrep", "-P", str(os.getpid()), "-f", "inspector.corpus.worker"]
    left = subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()
    assert left == []
    assert {Path(row["file"]).name for row in open_scan(into)} == {"short.jsonl"}


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


def test_a_file_of_something_else_is_not_added_to(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "corpus", 1)
    for content in (b'{"a": 1}\n', b"hello\n", b"[1]\n"):
        into = tmp_path / "mine.jsonl"
        into.write_bytes(content)
        with pytest.raises(EditError, match=r"mine\.jsonl"):
            scan(folder, TWO, into=into, workers=0)
        assert into.read_bytes() == content
    with pytest.raises(FileNotFoundError):
        open_scan(tmp_path / "none.jsonl")


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
    expected = timeless(scan(folder, POLICIES, workers=0))
    (tmp_path / "sitecustomize.py").write_text(KILLED_WHILE_READING)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("KILLED", str(tmp_path / "killed"))
    table = scan(folder, POLICIES, workers=1)
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


def test_the_same_content_is_measured_once(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "corpus", 1)
    (folder / "copy.jsonl").write_bytes((folder / "inner" / "s0.jsonl").read_bytes())
    table = scan(folder, TWO, workers=0)
    assert sum(row["session"] == "s0" for row in table) == 2


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


def test_a_policy_that_no_other_process_knows_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    write_rows(folder / "short.jsonl", talk(1))
    script = f"""
from inspector import scan, rule, find_policy
@rule
def keep_short(block):
    return "verbatim" if block.tokens < 20 else None
policy = find_policy("flue").add("keep-short")
print(len(scan({str(folder)!r}, [policy], workers=0)))
table = scan({str(folder)!r}, workers=1)
print(table.left_out, "keep-short" in repr(table), "keep-short" in {{row["policy"] for row in table}})
scan({str(folder)!r}, [policy], workers=1)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "scan with workers=0" in done.stderr, done.stderr
    assert done.stdout.splitlines() == ["1", "('keep-short',) True False"]


def test_wrong_arguments_are_told(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="nonsense"):
        scan(tmp_path, ["nonsense"])
    with pytest.raises(ArgumentError, match="measures"):
        scan(tmp_path, TWO, measures=["money"])  # type: ignore[list-item]
    with pytest.raises(PolicyError, match="two policies have this name"):
        scan(tmp_path, ["flue", "flue"])
    with pytest.raises(FileNotFoundError):
        scan(tmp_path / "none", TWO)
    empty = scan(tmp_path, TWO, workers=0)
    assert (len(empty), empty.by_policy()) == (0, [])
    assert repr(empty).startswith("Scan of 0 files: 0 sessions")
    assert empty._repr_html_()


def test_a_sweep_plans_every_value(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "corpus", 0)
    table = sweep(folder, "flue", {"keep-recent-tokens.tokens": [8000, 60000]}, workers=0)
    small, large = (f"flue[keep-recent-tokens.tokens={tokens}]" for tokens in (8000, 60000))
    after = {row["policy"]: row["after"] for row in table if row["policy"]}
    assert after[small] < after[large]
    made = expand_grid("flue", {"keep-recent-tokens.tokens": [2000], "trigger.enabled": [True, False]})
    assert [one.trigger.enabled for one in made] == [True, False]
    assert len({hash_policy(one) for one in made}) == 2


def test_a_sweep_of_several_policies_changes_in_each_what_it_has(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "corpus", 0)
    grid = {"keep-recent-tokens.tokens": [8000, 60000], "keep-recent-turns.turns": [1]}
    table = sweep(folder, ["flue", "codex", "keep-recent-turns"], grid, workers=0)
    after = {row["policy"]: row["after"] for row in table if row["evidence"] == "planned"}
    small, large = (f"flue[keep-recent-tokens.tokens={tokens}]" for tokens in (8000, 60000))
    assert set(after) == {small, large, "codex", "keep-recent-turns[keep-recent-turns.turns=1]"}
    assert after[small] < after[large]
    # Each row is what the policy with those settings plans by itself.
    alone = {row["policy"]: row["after"] for row in scan(folder, ["codex"], workers=0)}
    assert after["codex"] == alone["codex"]


def test_a_setting_that_none_of_the_policies_has_is_refused() -> None:
    with pytest.raises(PolicyError, match="it has no rule 'nonsense'"):
        expand_grid(["flue", "codex"], {"nonsense.tokens": [1]})
    with pytest.raises(PolicyError, match="tokens"):
        expand_grid(["codex", "flue"], {"keep-recent-tokens.tokens": ["many"]})
    with pytest.raises(PolicyError, match="a sweep needs a policy"):
        expand_grid([], {"keep-recent-tokens.tokens": [1]})


@given(tokens=st.lists(st.integers(1, 10**6), min_size=1, max_size=3, unique=True), on=st.booleans())
def test_the_name_of_a_swept_policy_tells_how_to_make_it_again(tokens: list[int], on: bool) -> None:
    for made in expand_grid("flue", {"keep-recent-tokens.tokens": tokens, "trigger.enabled": [on]}):
        name, settings = read_swept(made.name)
        again = find_policy(name).configured(settings)
        assert again.model_copy(update={"name": made.name}) == made


@pytest.mark.parametrize("name", ["flue", "own[1]", "a[b", "[x=1]", ""])
def test_any_other_name_is_read_without_a_stack_trace(name: str) -> None:
    assert isinstance(read_swept(name)[1], dict)


def test_a_policy_read_from_json_is_the_same_policy() -> None:
    for policy in POLICIES:
        assert hash_policy(find_policy(_carried(policy.name))) == hash_policy(policy)


def test_a_table_is_saved_once_and_opened(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "corpus", 1)
    table = scan(folder, TWO, workers=0)
    target = tmp_path / "out.jsonl"
    save_scan(table, target)
    assert [*open_scan(target)] == [*table]
    with pytest.raises(FileExistsError):
        save_scan(table, target)


def test_a_table_is_saved_as_parquet(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="compaction-inspector[scout] brings pyarrow")
    table = scan(make_folder(tmp_path / "corpus", 1), TWO, workers=0)
    save_scan(table, tmp_path / "out.parquet")
    assert parquet.read_table(tmp_path / "out.parquet").to_pydict() == table.to_columns()


class RefusingPool(Executor):
    """An executor that cannot do what it is asked."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_exception(RuntimeError("no worker is left"))
        return future


def test_an_executor_that_fails_is_told_for_each_file(tmp_path: Path) -> None:
    table = scan(make_folder(tmp_path / "corpus", 2), TWO, executor=RefusingPool())
    assert [row["error"] for row in table] == ["RuntimeError: no worker is left"] * 4


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


@pytest.mark.skipif(not SHARED.exists(), reason="the shared transcripts are not beside this checkout")
def test_real_sessions_are_the_same_in_this_process_and_in_others(tmp_path: Path) -> None:
    found = (SHARED / "sessions").rglob("*.jsonl")
    some = sorted(path for path in found if path.stat().st_size < 700_000)[:20]
    assert len(some) == 20
    assert timeless(scan(some, ["flue", "claude-code"], workers=0)) == timeless(
        scan(some, ["flue", "claude-code"], workers=2)
    )


def test_the_demo_is_told_as_a_workbench_tells_it(tmp_path: Path) -> None:
    """The scan's figures are the plan's own: what a person sees after opening that session there."""
    from inspector import count_tokens, make_plan, trace_recorded

    session = open_demo()
    ledger = count_tokens(session, "calibrated")
    (trace,) = trace_recorded(session, session.facts)
    (tmp_path / "demo.jsonl").write_bytes((make_folder(tmp_path / "corpus", 0) / "a demo.jsonl").read_bytes())
    recorded, flue = scan(tmp_path / "demo.jsonl", ["flue"], workers=0)
    plan = make_plan(trace.scene.session, ledger, "flue", reason="manual")
    assert (flue["before"], flue["after"]) == (plan.before, plan.after)
    stood = [one for one in plan.trace if one.stood]
    assert flue["stood"] == len(stood)
    assert flue["kept"] == sum(one.outcome in ("verbatim", "quoted") for one in stood)
    said = [one for one in trace if one.stood and one.fact.said[0].by == "user"]
    by_user = [counts for name, counts in recorded["facts"].items() if name.endswith("/user")]
    assert sum(map(sum, by_user)) == len(said)
    assert sum(sum(counts[:3]) for counts in by_user) == sum(
        one.outcome in ("verbatim", "quoted") for one in said
    )
