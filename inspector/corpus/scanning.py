"""I/O: find the files of a scan, measure them in parallel, and write their rows as they are ready.

The unit of work is a file: its address and the policies are sent to a worker, which returns a few rows.
Results are identified by the content of the file and of the policy, and the version of this package, so a
scan that was interrupted or done before is continued.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import partial
from hashlib import file_digest, sha256
from importlib.metadata import version
from itertools import product
from pathlib import Path
from threading import Event
from typing import Any

from ..errors import ArgumentError, PolicyError, expect, expect_items
from ..library import FoundSession, HolderSearch, sessions
from ..paths import spell_out
from ..policies.builtin.recorded import RECORDED
from ..policies.policy import Policy, rename_settings
from ..policies.registry import find_policy, list_policies
from ..policies.rules import is_own
from ..progress import show_progress
from .columns import Key, Row
from .measure import MEASURES, USUAL, USUAL_LIMITS, Limits, Measure, hash_policy
from .row_store import RowStore
from .scan_table import ScanTable
from .worker import Helper, measure_here, measure_task, tell_failure

SUFFIXES = frozenset(
    {".jsonl", ".json", ".eval", ".zip", ".db", ".sqlite", ".vscdb", ".trajectory", ".traj", ".parquet"}
)
PACKED = frozenset({".gz", ".zst", ".xz", ".bz2"})
"""Suffixes of files in a folder that are tried as sessions."""

Sources = str | os.PathLike[str] | FoundSession | Iterable[str | os.PathLike[str] | FoundSession]
AHEAD = 2
"""Tasks submitted for each worker before the first one is finished."""

LEAST = 16
"""Assumed minimum number of workers of another executor."""

Report = Callable[[float], None]


Task = dict[str, Any]
"""The description of a file for a worker, as JSON: its address, the policies and the measures."""


def scan(
    sources: Sources | None = None,
    policies: Sequence[str | Policy | dict[str, Any]] | str | Policy | None = None,
    *,
    into: str | os.PathLike[str] | None = None,
    measures: Iterable[Measure] = USUAL,
    recorded: bool = True,
    counter: str = "calibrated",
    workers: int | None = None,
    executor: Executor | None = None,
    limits: Limits = USUAL_LIMITS,
    tell: Report | None = None,
) -> ScanTable:
    """Measure many sessions under many policies: one row per session × policy × compaction.

    The columns are described in `columns.py`.

    Args:
        sources: Files, folders (searched recursively; links are not followed), results of `sessions()`, or
            addresses for fsspec ("s3://…"). None for the sessions of this machine.
        policies: By default all known policies, except those whose rules another process cannot know; the
            table names these.
        into: A file of JSON lines to which rows are added, and from which they are read: a second scan
            measures only what is missing, and an interrupted one loses at most the files in progress.
            Without it, rows are kept in memory.
        measures: Of "facts" (what survives, by kind and speaker), "regret" (what was needed again after a
            recorded compaction) and "findings" (lint; slow).
        recorded: Whether to add rows for the compactions that the files record.
        counter: The token counter.
        workers: The number of processes, by default one per processor. 0 measures in this process, without
            limits, and allows policies with rules defined in a notebook.
        executor: An executor of `concurrent.futures`, such as Dask's `client.get_executor()`. It is sent
            addresses and policies, never sessions.
        limits: Limits for one file. A file that exceeds them gets a row with the error.
        tell: Called with the finished share, from 0 to 1; by default a notebook or a terminal shows a
            bar. An exception it raises (`Stopped`) ends the scan, like an interrupt.

    Raises:
        PolicyError: A policy does not exist, or another process cannot know its rules.

    >>> from tempfile import TemporaryDirectory
    >>> from pathlib import Path
    >>> from inspector.demo import read_demo
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "demo.jsonl").write_bytes(read_demo())
    ...     table = scan(folder, ["flue", "codex"], workers=0)
    >>> [(row.policy, row.compactions) for row in table.by_policy()]
    [('recorded', 1), ('flue', 1), ('codex', 1)]
    """
    expect("scan", workers=(workers, int, None), limits=(limits, Limits), counter=(counter, str))
    expect("scan", tell=(tell, Callable, None), executor=(executor, Executor, None))
    chosen = _find_policies(policies)
    named = tuple(expect_items("scan", "measures", measures, str))
    if wrong := [measure for measure in named if measure not in MEASURES]:
        raise ArgumentError("scan", "measures", wrong[0], f"one of {', '.join(MEASURES)}")
    method = " ".join(
        [version("compaction-inspector"), counter, *sorted({*named, "recorded"} if recorded else named)]
    )
    store = None if into is None else RowStore(spell_out(into, "scan", "into"))
    own = None if into is None else os.path.realpath(into)
    files = [item for item in list_files(sources) if os.path.realpath(item[0]) != own]
    here = workers == 0 and executor is None
    left_out: tuple[str, ...] = ()
    if not here and policies is None:
        left_out = tuple(item.name for item in chosen if not is_portable(item))
        chosen = tuple(item for item in chosen if item.name not in left_out)
    elif not here and (strange := [policy for policy in chosen if not is_portable(policy)]):
        kinds = [rule.kind for rule in strange[0].rules if is_own(type(rule))]
        what = f"its rule {kinds[0]!r} is" if kinds else "it is"
        raise PolicyError(strange[0].name, f"{what} known only to this process: scan with workers=0")
    memory_rows: list[Row] = []
    complete = set[Key]() if store is None else store.complete()
    digests: dict[str, str] = {}
    common = {"method": method, "measures": list(named), "counter": counter}
    tasks = _find_tasks(files, chosen, recorded, complete, common, digests)
    many = max(workers or os.cpu_count() or 1, 1)
    helpers, stopped = list[Helper](), Event()
    pool = executor
    with show_progress("scan", tell) as shown:
        report = shown or (lambda share: None)
        if here:
            rows_of_files = _measure_in_turn(tasks, chosen, len(files), report)
        else:
            pool = pool or ThreadPoolExecutor(many)
            run = partial(measure_task, limits=limits)
            if executor is None:
                run = partial(run, helpers=helpers, stopped=stopped)
            ahead = AHEAD * max(many, 1 if executor is None else LEAST)
            rows_of_files = _hand_out(tasks, pool, run, ahead, len(files), report)
        try:
            for rows in rows_of_files:
                if store is None:
                    memory_rows += rows
                else:
                    store.add(rows)
        finally:
            stopped.set()
            for helper in helpers:
                helper.close()
            if executor is None and pool is not None:
                pool.shutdown(cancel_futures=True)
    if store is None:
        order = {item.name: at for at, item in enumerate((RECORDED, *chosen))}
        memory_rows.sort(
            key=lambda row: (row["file"], row["part"] or "", order.get(row["policy"], 0), row["moment"] or 0)
        )
        return ScanTable(lambda: memory_rows, len(files), left_out)
    hashes = {"", *map(hash_policy, chosen), *([hash_policy(RECORDED)] if recorded else ())}
    return ScanTable(partial(store.select, set(digests.values()), hashes, method), len(files), left_out)


def sweep(
    sources: Sources | None,
    policies: str | Policy | Sequence[str | Policy],
    grid: Mapping[str, Sequence[Any]],
    **scanning: Any,
) -> ScanTable:
    """Scan policies with every combination of settings; `scanning` is passed to `scan`.

    Each policy gets the settings that it has. A policy without any of them is included unchanged, for
    comparison.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "talk.json").write_text('[{"role": "user", "content": "Ship it."}]')
    ...     table = sweep(folder, "flue", {"keep-recent-tokens.tokens": [8000, 20000]}, workers=0)
    >>> sorted((row.policy for row in table.by_policy()), key=len)
    ['flue[keep-recent-tokens.tokens=8000]', 'flue[keep-recent-tokens.tokens=20000]']
    """
    return scan(sources, expand_grid(policies, grid), **scanning)


def expand_grid(
    policies: str | Policy | Sequence[str | Policy], grid: Mapping[str, Sequence[Any]]
) -> list[Policy]:
    """Return each policy with every combination of the settings that it has, named by them.

    Raises `PolicyError` for a setting that no policy has, and for invalid values.

    >>> made = expand_grid(["codex", "flue"], {"keep-recent-tokens.tokens": [8000]})
    >>> [one.name for one in made]
    ['codex', 'flue[keep-recent-tokens.tokens=8000]']
    """
    named = [policies] if isinstance(policies, str | Policy) else [*policies]
    if not named:
        raise PolicyError("", "a sweep needs a policy")
    bases = [find_policy(policy) for policy in named]
    own = {base.name: [key for key in grid if _has_part(base, key, grid)] for base in bases}
    expanded = []
    for base in bases:
        # The first policy raises the error for a setting that none has.
        keys = [key for key in grid if key in own[base.name] or not any(key in keys for keys in own.values())]
        for values in product(*(grid[key] for key in keys)):
            settings = dict(zip(keys, values, strict=True))
            suffix = ",".join(f"{key}={value}" for key, value in settings.items())
            name = f"{base.name}[{suffix}]" if suffix else base.name
            expanded.append(base.configured(settings).model_copy(update={"name": name}))
    return expanded


def _has_part(policy: Policy, key: str, grid: Mapping[str, Sequence[Any]]) -> bool:
    """Return whether a setting concerns a rule or part of the policy, or a rule that the grid adds."""
    (key,) = rename_settings({key: None})
    kind = key.partition(".")[0]
    has = {part.kind for part in (*policy.fixed_parts, *policy.rules)}
    return kind in has or f"{kind}.enabled" in grid


def _find_policies(policies: Any) -> tuple[Policy, ...]:
    if policies is None:
        return list_policies()
    if isinstance(policies, str | Policy | dict):
        policies = [policies]
    named = expect_items("scan", "policies", policies, str, Policy, dict)
    chosen = tuple(find_policy(policy) for policy in named if policy != RECORDED.name)
    for name, times in Counter(policy.name for policy in chosen).items():
        if times > 1:
            raise PolicyError(name, "two policies have this name, and the table could not distinguish them")
    return chosen


def is_portable(policy: Policy) -> bool:
    """Return whether another process reads the same policy from its JSON: no rule is defined only here."""
    own = any(is_own(type(rule)) for rule in policy.rules)
    return not own and find_policy(_carry(policy)) == policy.settled()


def _carry(policy: Policy) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(policy.model_dump_json())
    return data


def _find_tasks(
    files: Sequence[tuple[str, int]],
    policies: Sequence[Policy],
    recorded: bool,
    measured: set[Key],
    common: Task,
    digests: dict[str, str],
) -> Iterator[Task | None]:
    """Yield a task for each file, or None if nothing is left to measure. Equal files are measured once."""
    hashes = {hash_policy(policy): policy for policy in policies}
    planned, method = set[str](), common["method"]
    for address, size in files:
        digest = digests[address] = _digest(address)
        if digest in planned or (digest, method, "") in measured:
            yield None
            continue
        planned.add(digest)
        missing = [policy for name, policy in hashes.items() if (digest, method, name) not in measured]
        # Recorded compactions are measured together with the first policies.
        first = len(missing) == len(hashes)
        own = {"file": address, "digest": digest, "bytes": size, "recorded": recorded and first}
        task = {**own, "policies": list(map(_carry, missing)), **common}
        yield task if missing or not hashes else None


def _digest(address: str) -> str:
    """Hash a file's content, or its address if it is remote, unreadable or not a regular file.

    Reading a named pipe or a device might never end.
    """
    with suppress(OSError):
        if "://" not in address and Path(address).is_file():
            with Path(address).open("rb") as file:
                return file_digest(file, "sha256").hexdigest()[:32]
    return sha256(address.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _measure_in_turn(
    tasks: Iterator[Task | None], policies: Sequence[Policy], total: int, report: Report
) -> Iterator[list[Row]]:
    """Measure each file in this process, by the policies themselves, and yield its rows."""
    for done, task in enumerate(tasks, 1):
        if task is not None:
            names = {policy["name"] for policy in task["policies"]}
            yield measure_here(task, [policy for policy in policies if policy.name in names])
        report(done / total)
    report(1.0)


def _hand_out(
    tasks: Iterator[Task | None],
    pool: Executor,
    run: Callable[[Task], list[Row]],
    ahead: int,
    total: int,
    report: Report,
) -> Iterator[list[Row]]:
    """Yield the rows of each file when they are ready, with a few submitted tasks at a time. A file without a
    task counts as done."""
    out: dict[Future[list[Row]], Task] = {}
    done, more = 0, True
    try:
        while more or out:
            while more and len(out) < ahead:
                task = next(tasks, {})
                if task:
                    out[pool.submit(run, task)] = task
                elif task is None:
                    done += 1
                else:
                    more = False
            ready, _ = wait(out, return_when=FIRST_COMPLETED) if out else (set(), None)
            for future in ready:
                task = out.pop(future)
                try:
                    rows = future.result()
                except Exception as error:  # a failure of the executor becomes the file's error
                    rows = tell_failure(task, f"{type(error).__name__}: {error}")
                yield rows
                done += 1
                report(min(done / max(total, 1), 1.0))
        report(1.0)
    finally:
        for future in out:
            future.cancel()


def list_files(sources: Sources | None) -> list[tuple[str, int]]:
    """Return every file with its size, the largest first, so that long tasks do not start last."""
    if sources is None:
        # A file that is not in the index yet may belong to a sub-agent.
        return _sort(_leave_out_held({str(file.path): file.size for file in sessions(seconds=0)}))
    if isinstance(sources, str | os.PathLike | FoundSession):
        sources = [sources]
    sizes: dict[str, int] = {}
    for source in expect_items("scan", "sources", sources, str, os.PathLike, FoundSession):
        if isinstance(source, FoundSession):
            sizes[str(source.path)] = source.size
        elif isinstance(source, str) and "://" in source:
            sizes[source] = 0
        else:
            sizes |= _list_path(spell_out(source, "scan", "sources"))
    return _sort(sizes)


def _sort(sizes: dict[str, int]) -> list[tuple[str, int]]:
    return sorted(sizes.items(), key=lambda item: (-item[1], item[0]))


def _list_path(path: Path) -> dict[str, int]:
    """Find the files below a folder, or return the file itself, with their sizes.

    Files that hold no session are included; their rows report the error.
    """
    if not path.is_dir():
        return {str(path): path.stat().st_size}
    sizes = {}
    for folder, inner, names in os.walk(path):
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        for name in sorted(names):
            place = Path(folder, name)
            suffixes = [suffix.lower() for suffix in place.suffixes[-2:]]
            if suffixes and suffixes[-1] in PACKED:
                suffixes.pop()
            if name[0] != "." and suffixes and suffixes[-1] in SUFFIXES and not place.is_symlink():
                sizes[str(place)] = 0
                with suppress(OSError):  # gone since the folder was read
                    sizes[str(place)] = place.stat().st_size
    return _leave_out_held(sizes)


def _leave_out_held(sizes: dict[str, int]) -> dict[str, int]:
    """Remove files of sub-agents that are read with another of these files."""
    search, paths = HolderSearch(), set(map(os.path.realpath, sizes))
    return {
        name: size
        for name, size in sizes.items()
        if (holder := search.find(Path(name))) is None or str(holder) not in paths
    }
