"""A run over many sessions: every part worked out and hashed, one line for each."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from .moments import Tried, Work
from .names import api
from .of_policies import PACKAGE_PARTS, POLICY_PARTS
from .of_sessions import SESSION_PARTS
from .plain import Plain, dump, hash_bytes
from .sources import Source, find_sources, open_source

EVERY = 6
"""Of the sessions inside other files one of so many is taken."""
EVERYTHING = "-"
"""In the place of a policy: a part that is of the session alone."""


class Wanted(NamedTuple):
    """What is to be worked out: parts of names that contain these words, and a folder for their texts."""

    session: str = ""
    policy: str = ""
    part: str = ""
    text: str = ""


Line = dict[str, Any]


def hash_part(names: tuple[str, str, str], plain: Plain, text: str, work: Callable[[], Any]) -> Line:
    """One line: the hash of a part, or how it failed."""
    start = time.process_time()
    line: Line = dict(zip(("session", "policy", "part"), names, strict=True))
    try:
        value = work()
        line["hash"] = hash_bytes(dump(plain(value)).encode())
    except Exception as error:
        line |= {"hash": "", "failed": f"{type(error).__name__}: {error}"[:300]}
    else:
        if text:
            place = Path(text) / ("_".join(names).replace("/", "_") + ".json")
            place.write_text(json.dumps(Plain(whole=True)(value), indent=1), "utf-8")
    line["seconds"] = round(time.process_time() - start, 3)
    return line


def hash_session(source: Source, wanted: Wanted) -> list[Line]:
    """Every line of a session that is wanted."""
    work, plain = Work(open_source(source)), Plain()
    lines = []
    for part, of_session in SESSION_PARTS.items():
        if wanted.part in part and wanted.policy in EVERYTHING:
            names = (source.name, EVERYTHING, part)
            lines.append(hash_part(names, plain, wanted.text, partial(of_session, work)))
    parts = [part for part in POLICY_PARTS if wanted.part in part]
    for policy in api.POLICIES if parts and wanted.policy != EVERYTHING else ():
        if wanted.policy not in policy.name:
            continue
        tried, plain = Tried(work, policy.name), Plain()
        for part in parts:
            names = (source.name, policy.name, part)
            lines.append(hash_part(names, plain, wanted.text, partial(POLICY_PARTS[part], tried)))
    return lines


def hash_package(refused: list[tuple[str, str]], wanted: Wanted) -> list[Line]:
    """What is of no session: the package's tables, and why files are refused."""
    if wanted.session not in "package" or wanted.policy not in EVERYTHING:
        return []
    parts = {**PACKAGE_PARTS, "refused": lambda: refused}
    return [
        hash_part(("package", EVERYTHING, part), Plain(), wanted.text, work)
        for part, work in parts.items()
        if wanted.part in part
    ]


def show(line: Line) -> str:
    named = f"{line['session']}  {line['policy']}  {line['part']}"
    return f"{named}  {line.get('failed') or line['hash'][:16]}  {line['seconds']:.2f} s"


def digest(lines: Iterable[Line]) -> str:
    """One hash of all, whatever order they came in."""
    rows = sorted([line["session"], line["policy"], line["part"], line["hash"]] for line in lines)
    return hash_bytes(dump(rows).encode())


def run(paths: list[Path], jobs: int, out: Path | None, wanted: Wanted, every: int = EVERY) -> int:
    """Work everything out; the exit code is 1 where a part failed."""
    home = import_module("inspector").__file__
    print(f"package: {home}", file=sys.stderr)
    sources, refused = find_sources([*paths, Path(__file__).parents[1] / "cases"], every)
    sources = [source for source in sources if wanted.session in source.name]
    lines = hash_package(refused, wanted)
    for line in lines:
        print(show(line), flush=True)
    work = partial(hash_session, wanted=wanted)
    pool = ProcessPoolExecutor(jobs) if jobs > 1 else None
    for found in map(work, sources) if pool is None else pool.map(work, sources):
        lines += found
        for line in found:
            print(show(line), flush=True)
    if pool is not None:
        pool.shutdown()
    if out is not None:
        out.write_text("".join(f"{dump(line)}\n" for line in lines), "utf-8")
    failed = [line for line in lines if "failed" in line]
    if failed:
        print(f"{len(failed)} failed")
    print(f"{len(lines)} hashes, {len(sources)} sessions, digest {digest(lines)}")
    return int(bool(failed))
