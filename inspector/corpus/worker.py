"""DOOR: one file measured in a process of its own, which a limit can end without harm to anything else.

A task is a dict that JSON can carry: an address, policies and what to measure, never a session. Whoever calls
`measure_task` has a helper process for its thread, kept for the tasks that follow; one that takes longer than
its limit is killed, and one that dies is started again once. So a file that hangs or takes all the memory
costs one row, under any executor.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

from ..errors import InspectorError, SeveralSessions, Stopped
from ..files import open_session, open_sessions
from ..formats.readers import read_session
from ..policies.policy import Policy
from ..policies.registry import find_policy
from ..redaction.cut import redact_text
from ..session.session import Session
from ..tokens.cache_rebuilds import find_cache_rebuilds, sum_cache_rebuilds
from .columns import Row, count_rows
from .measure import USUAL_LIMITS, Limits, measure_session

_own = threading.local()
TRIES = 2


class Helpers:
    """The helper processes of one scan, to be ended with it: what they have in work is of no use then."""

    def __init__(self) -> None:
        self.stopped = False
        self._lock = threading.Lock()
        self._all: list[Helper] = []

    def add(self, helper: Helper) -> None:
        """Take one more, which ends at once where all have ended."""
        with self._lock:
            self._all.append(helper)
            if self.stopped:
                helper.close()

    def stop(self) -> None:
        """End all of them, and those to come."""
        with self._lock:
            self.stopped = True
            for helper in self._all:
                helper.close()


def measure_task(
    task: dict[str, Any], limits: Limits = USUAL_LIMITS, helpers: Helpers | None = None
) -> list[Row]:
    """The rows of the file that a task names, measured in this thread's helper process.

    What goes wrong with the file is its row's `error`; nothing is raised for it. `helpers` is told of the
    process.
    """
    died = ""
    for _ in range(TRIES):
        if helpers is not None and helpers.stopped:
            return tell_failure(task, str(Stopped()))
        helper = _find_helper(limits, helpers)
        try:
            rows = helper.ask(task, limits.seconds)
        except EOFError:
            died = helper.tell_end()
            _own.helper = None
            continue
        if rows is None:
            _own.helper = None
            return tell_failure(task, f"Timeout: it took longer than {limits.seconds:g} s")
        return rows
    return tell_failure(task, died)


def measure_here(task: dict[str, Any], policies: Sequence[Policy] | None = None) -> list[Row]:
    """The same in this process, without limits: the rows of a file, or one row that says what went wrong."""
    start = time.perf_counter()
    try:
        found = [find_policy(one) for one in task["policies"]] if policies is None else policies
        rows = [row for part, session in _open(task) for row in _measure(part, session, task, found)]
    except (InspectorError, OSError, MemoryError) as error:
        return tell_failure(task, f"{type(error).__name__}: {str(error) or 'out of memory'}")
    except Exception as error:  # one bad file must not take the scan with it
        return tell_failure(task, f"{type(error).__name__}: {error}")
    seconds = round(time.perf_counter() - start, 3)
    return count_rows([_address(task) | row | {"seconds": seconds} for row in rows])


def tell_failure(task: dict[str, Any], error: str) -> list[Row]:
    """Build the row of a file that could not be measured."""
    return count_rows([_address(task) | {"error": redact_text(error)[:1000]}])


def _address(task: dict[str, Any]) -> Row:
    return {name: task[name] for name in ("file", "digest", "bytes", "method")}


def _measure(part: str, session: Session, task: dict[str, Any], policies: Sequence[Policy]) -> list[Row]:
    rebuilds = sum_cache_rebuilds(find_cache_rebuilds(session))
    fields = {
        "part": part,
        "format": session.format,
        "version": find_version(session),
        "session": session.id,
        "model": session.model,
        "cache_rebuilds": {name: [*sums] for name, sums in rebuilds.items()},
    }
    measured = measure_session(
        session, policies, recorded=task["recorded"], measures=task["measures"], counter=task["counter"]
    )
    return [_redact(fields | row) for row in measured]


def _redact(row: Row) -> Row:
    """Redact the texts in a row that come from the transcript: names, models, versions."""
    return {name: redact_text(value) if isinstance(value, str) else value for name, value in row.items()}


def find_version(session: Session) -> str | None:
    """The harness's version as the file tells it."""
    told = session.extra.get("version")
    return str(told) if isinstance(told, str | int | float) else None


def _open(task: dict[str, Any]) -> list[tuple[str, Session]]:
    """Every session of a file with its name there, "" for a file that is one session."""
    address = task["file"]
    if "://" in address:
        return [("", read_session(read_address(address), address.rsplit("/", 1)[-1]))]
    try:
        return [("", open_session(address))]
    except SeveralSessions:
        return [(one.name, one.open()) for one in open_sessions(address)]


def read_address(address: str) -> bytes:
    """The bytes at an address of fsspec's, such as "s3://bucket/a.jsonl". Raises `InspectorError` without
    fsspec."""
    try:
        import fsspec  # type: ignore[import-untyped]
    except ImportError as error:
        raise InspectorError(
            f"{address}: addresses are read by fsspec (pip install 'compaction-inspector[cluster]')"
        ) from error
    with fsspec.open(address, "rb") as file:
        return bytes(file.read())


def digest_file(path: str) -> str:
    """SHA-256 of a file's content, in 32 hexadecimal digits."""
    found = sha256()
    with Path(path).open("rb") as file:
        while chunk := file.read(1 << 20):
            found.update(chunk)
    return found.hexdigest()[:32]


class Helper:
    """A process that measures one file after another, asked by lines of JSON."""

    def __init__(self, memory: int) -> None:
        self.memory = memory
        command = [sys.executable, "-m", "inspector.corpus.worker", str(memory)]
        # One of many processes needs no thread of NumPy's for every core, each with its share of the memory.
        environment = {"OPENBLAS_NUM_THREADS": "1", **os.environ}
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )

    def ask(self, task: dict[str, Any], seconds: float) -> list[Row] | None:
        """The rows; None when the time was up. Raises `EOFError` when the process ended."""
        timer = threading.Timer(seconds, self._process.kill) if seconds else None
        start = time.monotonic()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        if timer is not None:
            timer.daemon = True
            timer.start()
        try:
            with suppress(BrokenPipeError):
                self._process.stdin.write(json.dumps(task).encode() + b"\n")
                self._process.stdin.flush()
            answer = self._process.stdout.readline()
        finally:
            if timer is not None:
                timer.cancel()
        if answer.endswith(b"\n"):
            rows: list[Row] = json.loads(answer)
            return rows
        if seconds and time.monotonic() - start >= seconds:
            self._process.wait()
            return None
        raise EOFError

    def tell_end(self) -> str:
        """How the process ended."""
        code = self._process.wait()
        why = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        return f"WorkerDied: the process that measured it ended {why}, {TRIES} times"

    def is_alive(self) -> bool:
        """Whether it can be asked again."""
        return self._process.poll() is None

    def close(self) -> None:
        """End it: it has nothing to lose."""
        self._process.kill()
        self._process.wait()

    def __del__(self) -> None:
        with suppress(Exception):
            self.close()
            # Not in `close`: another thread may be reading there until the process has ended.
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    pipe.close()


def _find_helper(limits: Limits, helpers: Helpers | None) -> Helper:
    helper: Helper | None = getattr(_own, "helper", None)
    if helper is None or helper.memory != limits.memory or not helper.is_alive():
        helper = _own.helper = Helper(limits.memory)
        if helpers is not None:
            helpers.add(helper)
    return helper


def serve(tasks: BinaryIO, answers: BinaryIO, memory: int) -> None:
    """Answer tasks, a line each, until there are no more."""
    if memory:
        with suppress(ImportError, ValueError, OSError):
            import resource

            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    for line in tasks:
        rows = measure_here(json.loads(line))
        answers.write(json.dumps(rows).encode() + b"\n")
        answers.flush()


if __name__ == "__main__":
    # Whatever a library prints must not stand between the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    serve(sys.stdin.buffer, answers, int(sys.argv[1]))
