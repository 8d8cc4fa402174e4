"""DOOR: many files measured side by side, the rows written as they come.

The unit is one file: its address and the policies go to a worker, a few rows come back. What was measured is
known by the file's content, the policy's content and this package's version, so a scan that was ended, or
done before, goes on where it stopped.
"""

from __future__ import annotations

import json
import os
from ast import literal_eval
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import ArgumentError, PolicyError, expect, expect_items
from ..paths import spell_out
from ..policies.builtin.recorded import RECORDED
from ..policies.policy import Policy, rename_settings
from ..policies.registry import find_policy, list_policies
from ..policies.rules import is_own
from .columns import Key, Row
from .measure import MEASURES, USUAL, USUAL_LIMITS, Limits, Measure, hash_policy
from .row_store import RowStore
from .scan_table import ScanTable
from .sources import Sources, list_files
from .worker import Helpers, digest_file, measure_here, measure_task, tell_failure

AHEAD = 2
"""Tasks for each worker that are handed out before the first is back."""

LEAST = 16
"""Workers that another executor is taken to have, at least."""

Tell = Callable[[float], None]


class FileTask(NamedTuple):
    """A file to measure."""

    address: str
    size: int
    digest: str
    policies: tuple[Policy, ...]
    recorded: bool


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
    tell: Tell | None = None,
) -> ScanTable:
    """Measure many sessions under many policies: one row per session × policy × compaction.

    `sources` are files, folders (searched to the bottom; links are not followed), what `sessions()` lists, or
    addresses that fsspec reads ("s3://…"); None takes the sessions of this machine. `policies` are by default
    all that are known, but those whose rules another process cannot know, which the table names. `measures`
    are of "facts" (what survives, by kind and speaker), "regret" (what a recorded compaction made necessary
    again) and "findings" (lint; slow); `recorded` adds the rows of what the files say was done. The columns
    are those of `columns.py`.

    `into` is a file of JSON lines that rows are added to as they come, and read from: a second scan measures
    only what is not there yet, and a scan that was ended loses at most the files in work. Without it the rows
    are kept in memory. `workers` are processes, by default one for each processor; 0 measures in this
    process, without limits and with policies of rules that are written in the notebook. `executor` is any of
    `concurrent.futures`, such as Dask's `client.get_executor()`: addresses and policies travel, never
    sessions. `limits` are for one file, and cost it its row. `tell` gets the share that is done, from 0 to 1;
    what it raises (`Stopped`) ends the scan, as an interrupt does.

    Raises `PolicyError` for a policy that does not exist, or whose rules another process cannot know.

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
        raise ArgumentError("scan", "measures", wrong[0], f"of {', '.join(MEASURES)}")
    method = " ".join(
        [version("compaction-inspector"), counter, *sorted({*named, "recorded"} if recorded else named)]
    )
    store = None if into is None else RowStore(spell_out(into, "scan", "into"))
    own = None if into is None else os.path.realpath(into)
    found = [one for one in list_files(sources) if os.path.realpath(one[0]) != own]
    here = workers == 0 and executor is None
    left_out: tuple[str, ...] = ()
    if not here and policies is None:
        left_out = tuple(one.name for one in chosen if not is_portable(one))
        chosen = tuple(one for one in chosen if one.name not in left_out)
    elif not here:
        check_portable(chosen)
    kept: list[Row] = []
    known = set[Key]() if store is None else store.complete()
    digests: dict[str, str] = {}
    units = _find_units(found, chosen, recorded, known, method, digests)
    pool = executor
    many = max(workers or os.cpu_count() or 1, 1)
    if pool is None:
        pool = _InPlace() if here else ThreadPoolExecutor(many)
    ahead = 1 if here else AHEAD * max(many, 1 if executor is None else LEAST)
    task = partial(_task, measures=named, counter=counter, method=method)
    helpers = Helpers() if executor is None else None
    run = (
        partial(_run_here, policies=chosen) if here else partial(measure_task, limits=limits, helpers=helpers)
    )
    try:
        for rows in _hand_out(units, pool, run, task, ahead, len(found), tell):
            if store is None:
                kept += rows
            else:
                store.add(rows)
    finally:
        if helpers is not None:
            helpers.stop()
            pool.shutdown(cancel_futures=True)
    mine = {hash_policy(one) for one in chosen} | ({hash_policy(RECORDED)} if recorded else set()) | {""}
    if store is None:
        order = {one.name: at for at, one in enumerate((RECORDED, *chosen))}
        kept.sort(
            key=lambda row: (row["file"], row["part"] or "", order.get(row["policy"], 0), row["moment"] or 0)
        )
        return ScanTable(lambda: kept, len(found), left_out)
    wanted = set(digests.values())
    return ScanTable(partial(store.select, wanted, mine, method), len(found), left_out)


def sweep(
    sources: Sources | None,
    policies: str | Policy | Sequence[str | Policy],
    grid: Mapping[str, Sequence[Any]],
    **scanning: Any,
) -> ScanTable:
    """`scan` of policies under every combination of settings; `scanning` is what `scan` takes.

    Of several policies each is planned with the settings that it has; one that has none of them stands as it
    is, to be compared with.

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
    """Each policy once for every combination of those settings that it has, named by them.

    Raises `PolicyError` for a setting that no policy has, and for a value that cannot be.

    >>> made = expand_grid(["codex", "flue"], {"keep-recent-tokens.tokens": [8000]})
    >>> [one.name for one in made]
    ['codex', 'flue[keep-recent-tokens.tokens=8000]']
    """
    named = [policies] if isinstance(policies, str | Policy) else [*policies]
    if not named:
        raise PolicyError("", "a sweep needs a policy")
    bases = [find_policy(one) for one in named]
    own = {base.name: [key for key in grid if _has_part(base, key, grid)] for base in bases}
    made = []
    for base in bases:
        # A setting of no policy is told by the first, with what it has.
        keys = [key for key in grid if key in own[base.name] or not any(key in keys for keys in own.values())]
        for values in product(*(grid[key] for key in keys)):
            settings = dict(zip(keys, values, strict=True))
            told = ",".join(f"{key}={value}" for key, value in settings.items())
            name = f"{base.name}[{told}]" if told else base.name
            made.append(base.configured(settings).model_copy(update={"name": name}))
    return made


def read_swept(name: str) -> tuple[str, dict[str, Any]]:
    """The policy and the settings that a name made by `expand_grid` tells; any other name has none.

    >>> read_swept("flue[keep-recent-tokens.tokens=8000,trigger.enabled=False]")
    ('flue', {'keep-recent-tokens.tokens': 8000, 'trigger.enabled': False})
    >>> read_swept("flue")
    ('flue', {})
    """
    policy, bracket, told = name.removesuffix("]").partition("[")
    if not bracket or not name.endswith("]"):
        return name, {}
    pairs = (pair.partition("=") for pair in told.split(","))
    return policy, {key: _read_setting(value) for key, _, value in pairs}


def _read_setting(text: str) -> Any:
    try:
        return literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _has_part(policy: Policy, key: str, grid: Mapping[str, Sequence[Any]]) -> bool:
    """Whether a setting is about a rule or another part of a policy, or about a rule that the grid adds."""
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
    names = [policy.name for policy in chosen]
    for name in names:
        if names.count(name) > 1:
            raise PolicyError(name, "two policies have this name, and the table could not distinguish them")
    return chosen


def check_portable(policies: Iterable[Policy]) -> None:
    """Raise `PolicyError` for a policy that another process could not read from its JSON."""
    for policy in policies:
        if not is_portable(policy):
            own = [rule.kind for rule in policy.rules if is_own(type(rule))]
            what = f"its rule {own[0]!r} is" if own else "it is"
            raise PolicyError(policy.name, f"{what} known to this process alone: scan with workers=0")


def is_portable(policy: Policy) -> bool:
    """Whether another process reads the same policy from its JSON: no rule of it is known here alone."""
    own = any(is_own(type(rule)) for rule in policy.rules)
    return not own and find_policy(_carry(policy)) == policy.settled()


def _carry(policy: Policy) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(policy.model_dump_json())
    return data


def _find_units(
    files: Sequence[tuple[str, int]],
    policies: Sequence[Policy],
    recorded: bool,
    measured: set[Key],
    method: str,
    digests: dict[str, str],
) -> Iterator[FileTask | None]:
    """Yield a task for each file, or None if nothing is left to measure. Equal files are measured once."""
    hashes = {hash_policy(policy): policy for policy in policies}
    planned = set[str]()
    for address, size in files:
        digest = digests[address] = _digest(address)
        if digest in planned or (digest, method, "") in measured:
            yield None
            continue
        planned.add(digest)
        missing = [policy for name, policy in hashes.items() if (digest, method, name) not in measured]
        # Recorded compactions are measured together with the first policies.
        first = len(missing) == len(hashes)
        if missing or not hashes:
            yield FileTask(address, size, digest, tuple(missing), recorded and first)
        else:
            yield None


def _digest(address: str) -> str:
    """Hash a file's content, or its address if it is remote, unreadable or not a regular file.

    Reading a named pipe or a device might never end.
    """
    with suppress(OSError):
        if "://" not in address and Path(address).is_file():
            return digest_file(address)
    return sha256(address.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _task(unit: FileTask, measures: Sequence[str], counter: str, method: str) -> dict[str, Any]:
    return {
        "file": unit.address,
        "digest": unit.digest,
        "bytes": unit.size,
        "method": method,
        "policies": [_carry(one) for one in unit.policies],
        "recorded": unit.recorded,
        "measures": list(measures),
        "counter": counter,
    }


def _run_here(task: dict[str, Any], policies: Sequence[Policy]) -> list[Row]:
    names = {one["name"] for one in task["policies"]}
    return measure_here(task, [one for one in policies if one.name in names])


def _hand_out(
    units: Iterator[FileTask | None],
    pool: Executor,
    run: Callable[[dict[str, Any]], list[Row]],
    task: Callable[[FileTask], dict[str, Any]],
    ahead: int,
    total: int,
    tell: Tell | None,
) -> Iterator[list[Row]]:
    """Rows file by file as they are ready; never more than a few tasks are out at once. A file without a task
    is done."""
    out: dict[Future[list[Row]], dict[str, Any]] = {}
    done = 0
    more = True
    try:
        while more or out:
            while more and len(out) < ahead:
                try:
                    unit = next(units)
                except StopIteration:
                    more = False
                    break
                if unit is None:
                    done += 1
                    continue
                asked = task(unit)
                out[pool.submit(run, asked)] = asked
            ready, _ = wait(out, return_when=FIRST_COMPLETED) if out else (set(), None)
            for future in ready:
                asked = out.pop(future)
                try:
                    rows = future.result()
                except Exception as error:  # an executor's own failure: the file's row says so
                    rows = tell_failure(asked, f"{type(error).__name__}: {error}")
                yield rows
                done += 1
                if tell is not None:
                    tell(min(done / max(total, 1), 1.0))
        if tell is not None:
            tell(1.0)
    finally:
        for future in out:
            future.cancel()


class _InPlace(Executor):
    """Does what is submitted at once, in this thread."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future
