"""I/O: measure each file in a separate process, which a limit can end without affecting others.

A task is a dict for JSON: an address, policies and measures, never a session. Each thread that calls
`measure_task` has a helper process, which is reused for later tasks. A helper that exceeds its time limit is
killed, and one that dies is restarted once. So a file that hangs or uses all memory costs one row, under any
executor.
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
from threading import Event
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


def measure_task(
    task: dict[str, Any],
    limits: Limits = USUAL_LIMITS,
    helpers: list[Helper] | None = None,
    stopped: Event | None = None,
) -> list[Row]:
    """Measure the file of a task in this thread's helper process, and return its rows.

    Failures become the `error` of the file's row; nothing is raised. A new process is added to `helpers`, and
    ended immediately once `stopped` is set.
    """
    died = ""
    for _ in range(TRIES):
        helper = _find_helper(limits, helpers)
        if stopped is not None and stopped.is_set():
            helper.close()
            return tell_failure(task, str(Stopped()))
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
    """Measure the file of a task in this process, without limits: its rows, or one row with the error."""
    start = time.perf_counter()
    try:
        chosen = [find_policy(policy) for policy in task["policies"]] if policies is None else policies
        rows = [row for part, session in _open(task) for row in _measure(part, session, task, chosen)]
    except (InspectorError, OSError, MemoryError) as error:
        return tell_failure(task, f"{type(error).__name__}: {str(error) or 'out of memory'}")
    except Exception as error:  # a faulty file must not end the scan
        return tell_failure(task, f"{type(error).__name__}: {error}")
    seconds = round(time.perf_counter() - start, 3)
    return count_rows([_address(task) | row | {"seconds": seconds} for row in rows])


def tell_failure(task: dict[str, Any], error: str) -> list[Row]:
    """Build the row of a file that could not be measured."""
    return count_rows([_address(task) | {"error": redact_text(error)[:1000]}])


def _address(task: dict[str, Any]) -> Row:
    return {name: task[name] for name in ("file", "digest", "bytes", "method")}


def _measure(part: str, session: Session, task: dict[str, Any], policies: Sequence[Policy]) -> list[Row]:
    rebuilds, label = sum_cache_rebuilds(find_cache_rebuilds(session)), session.extra.get("version")
    fields = {
        "part": part,
        "format": session.format,
        "version": str(label) if isinstance(label, str | int | float) else None,
        "session": session.id,
        "model": session.model,
        "cache_rebuilds": {name: [*sums] for name, sums in rebuilds.items()},
    }
    measured = measure_session(
        session, policies, recorded=task["recorded"], measures=task["measures"], counter=task["counter"]
    )
    # Some texts in a row come from the transcript: names, models, versions.
    return [
        {
            name: redact_text(value) if isinstance(value, str) else value
            for name, value in (fields | row).items()
        }
        for row in measured
    ]


def _open(task: dict[str, Any]) -> list[tuple[str, Session]]:
    """Return every session of a file with its name, "" if the file is one session."""
    address = task["file"]
    if "://" in address:
        return [("", read_session(read_address(address), address.rsplit("/", 1)[-1]))]
    try:
        return [("", open_session(address))]
    except SeveralSessions:
        return [(stored.name, stored.open()) for stored in open_sessions(address)]


def read_address(address: str) -> bytes:
    """Read the bytes at an address of fsspec, such as "s3://bucket/a.jsonl". Raises `InspectorError` without
    fsspec."""
    try:
        import fsspec  # type: ignore[import-untyped]
    except ImportError as error:
        raise InspectorError(
            f"{address}: addresses are read by fsspec (pip install 'compaction-inspector[cluster]')"
        ) from error
    with fsspec.open(address, "rb") as file:
        return bytes(file.read())


class Helper:
    """A process that measures files one by one; requests are lines of JSON."""

    def __init__(self, memory: int) -> None:
        self.memory = memory
        command = [sys.executable, "-m", "inspector.corpus.worker", str(memory)]
        # Several processes share the processors and memory: NumPy gets one thread in each.
        environment = {"OPENBLAS_NUM_THREADS": "1", **os.environ}
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )

    def ask(self, task: dict[str, Any], seconds: float) -> list[Row] | None:
        """Return the rows; None if the time was up. Raises `EOFError` if the process ended."""
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
        """Return a sentence that says how the process ended."""
        code = self._process.wait()
        why = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        return f"WorkerDied: the process that measured it ended {why}, {TRIES} times"

    def is_alive(self) -> bool:
        """Return whether the process is running."""
        return self._process.poll() is None

    def close(self) -> None:
        """End the process. It has no state to save."""
        self._process.kill()
        self._process.wait()

    def __del__(self) -> None:
        with suppress(Exception):
            self.close()
            # Not in `close`: another thread may be reading from the pipe until the process has ended.
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    pipe.close()


def _find_helper(limits: Limits, helpers: list[Helper] | None) -> Helper:
    helper: Helper | None = getattr(_own, "helper", None)
    if helper is None or helper.memory != limits.memory or not helper.is_alive():
        helper = _own.helper = Helper(limits.memory)
        if helpers is not None:
            helpers.append(helper)
    return helper


def serve(tasks: BinaryIO, answers: BinaryIO, memory: int) -> None:
    """Answer tasks, one per line, until the input ends."""
    if memory:
        with suppress(ImportError, ValueError, OSError):
            import resource

            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    for line in tasks:
        rows = measure_here(json.loads(line))
        answers.write(json.dumps(rows).encode() + b"\n")
        answers.flush()


if __name__ == "__main__":
    # Output that a library prints must not be mixed with the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    serve(sys.stdin.buffer, answers, int(sys.argv[1]))
