"""I/O: background work for a screen, in its own threads, with progress and a stop."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from ..errors import InspectorError, Stopped, stopping
from ..replays.engine import OnProgress
from ..text import error_sentence, printable

T = TypeVar("T")

LANES = ("long", "summary", "query")
"""Lanes that run in parallel: a query waits neither for token counting nor for a model's answer. If several
are active, the first is shown."""
PUT_OFF = 1.0
"""Maximum seconds for which work yields the processor to the threads that draw the screen."""
OFTEN = 0.2
"""Minimum seconds between two progress reports."""
LARGE = 2.0
"""Work that takes this many seconds uses much memory; free memory is then returned to the system."""
GONE = "The workbench was closed before this was found out."


@dataclass(eq=False)
class Task:
    """A piece of work, and the receivers of its result or failure; see `TaskQueue.submit`."""

    lane: str
    key: str
    what: str
    work: Callable[[OnProgress], Any]
    then: Callable[[Any], None]
    fail: Callable[[BaseException], None]
    begun: bool = False
    ended: bool = False


class TaskQueue:
    """The background work of one document: each lane runs one task after another. A cancelled task ends when
    it next calls `check_stopped` or reports its progress.

    `lock` is the document's lock and is held while results are delivered. `show` gets the running task as the
    value of the trait `_work`, {} for none. No task starts before `begin`. A lane has a thread only while
    there is work; if threads are unavailable (Python in a browser), the work runs in the caller's thread. An
    executor does not fit: a process that ends would wait for its threads.
    """

    def __init__(self, lock: threading.RLock, show: Callable[[dict[str, Any]], None]) -> None:
        self.lock, self._show = lock, show
        # Guards the tasks. Never call out while holding it: the callee may want the document's lock.
        self._change = threading.Condition()
        self._tasks: list[Task] = []
        self._busy: set[str] = set()
        self._shown: dict[str, dict[str, Any]] = {}
        self._begun = self._closed = False
        self._timer: threading.Timer | None = None

    def submit(
        self,
        lane: str,
        work: Callable[[OnProgress], T],
        then: Callable[[T], None],
        fail: Callable[[BaseException], None],
        key: str = "",
        what: str = "",
    ) -> None:
        """Queue work and cancel the task with the same `key`. `what` is shown while it runs.

        `then` gets the result in the worker thread, with the lock held; so a task that is cancelled under the
        lock delivers nothing afterwards. `fail` gets the error of the work or of `then` in the same way:
        `Stopped` if the task is stopped. If the document is closed, it gets a sentence, without the lock.
        """
        task = Task(lane, key, what, work, then, fail)
        with self._change:
            if key:
                self.cancel(key)
            if not self._closed:
                self._tasks.append(task)
        if self._closed and self._claim(task):
            fail(InspectorError(GONE))
        self._start(lane)

    def begin(self, after: float = 0.0) -> None:
        """Start the waiting tasks; from now on, start new tasks as they come.

        Wait `after` seconds, or until a caller waits for a result: the screen is drawn sooner if nothing else
        uses the processor.
        """
        if after and self._tasks:
            self._timer = threading.Timer(after, self.begin)
            self._timer.daemon = True
            try:
                self._timer.start()
                return
            except RuntimeError:  # no threads here
                self._timer = None
        self._begun = True
        for lane in LANES:
            self._start(lane)

    def hurry(self) -> None:
        """Start now if `begin` was delayed."""
        timer, self._timer = self._timer, None
        if timer is not None and not self._begun:
            timer.cancel()
            self.begin()

    def is_on(self, key: str) -> bool:
        """Whether a task with this key is running or waiting."""
        with self._change:
            return any(task.key == key for task in self._tasks)

    def cancel(self, key: str) -> None:
        """Cancel the task with this key without calling its receivers."""
        with self._change:
            for task in [task for task in self._tasks if task.key == key]:
                self._claim(task)

    def stop(self, lane: str = "") -> bool:
        """Cancel running and waiting tasks, in all lanes or one. Return whether there were any."""
        with self.lock:
            stopped = [task for task in [*self._tasks] if lane in ("", task.lane) and self._claim(task)]
            for task in stopped:
                self._report(task.lane, {})
                task.fail(Stopped())
        return bool(stopped)

    def close(self) -> None:
        """Cancel all tasks and refuse later ones. Does not wait, not even for the lock."""
        self._show = _show_nobody
        if self._timer is not None:
            self._timer.cancel()
        with self._change:
            self._closed = True
            unstarted = [task for task in [*self._tasks] if self._claim(task)]
        for task in unstarted:
            task.fail(InspectorError(GONE))

    def wait(self, lane: str, timeout: float | None = None) -> bool:
        """Wait until nothing is left to do; False when that took longer than `timeout` seconds."""
        self.hurry()
        with self._change:
            return self._change.wait_for(lambda: lane not in self._busy, timeout)

    def _claim(self, task: Task) -> bool:
        """Take the right to report how a task ended; only one caller gets it."""
        with self._change:
            ended, task.ended = task.ended, True
            self._tasks = [other for other in self._tasks if other is not task]
            return not ended

    def _start(self, lane: str) -> None:
        with self._change:
            if not self._begun or lane in self._busy or all(task.lane != lane for task in self._tasks):
                return
            self._busy.add(lane)
        try:
            start_thread(partial(self._run, lane))
        except RuntimeError:
            self._run(lane)

    def _run(self, lane: str) -> None:
        start = time.monotonic()
        self._do_all(lane)
        if time.monotonic() - start >= LARGE:
            hand_back_memory()

    def _do_all(self, lane: str) -> None:
        while (task := self._next(lane)) is not None:
            try:
                self._do(task)
            except BaseException:
                # The document has no readers any more; waiting tasks still run.
                with self._change:
                    self._busy.discard(lane)
                    self._change.notify_all()
                self._start(lane)
                raise

    def _next(self, lane: str) -> Task | None:
        with self._change:
            task = next((task for task in self._tasks if task.lane == lane and not task.begun), None)
            if task is not None:
                task.begun = True
            else:
                self._busy.discard(lane)
                self._change.notify_all()
            return task

    def _do(self, task: Task) -> None:
        reported_at = 0.0

        def report(done: float | None) -> None:
            nonlocal reported_at
            if task.what and time.monotonic() - reported_at >= OFTEN:
                reported_at = time.monotonic()
                share = None if done is None else round(done, 3)
                with self.lock:
                    if not task.ended:
                        self._report(task.lane, {"what": task.what, "done": share, "stoppable": True})
            if task.ended:
                raise Stopped

        result, failure = None, None
        try:
            report(None)
            with stopping(lambda: task.ended):
                result = task.work(report)
        except BaseException as error:
            failure = error
        with self.lock:
            if self._claim(task):
                try:
                    if failure is not None:
                        raise failure
                    task.then(result)
                except BaseException as error:
                    task.fail(error)
                    if not isinstance(error, Exception):
                        raise
        with self._change:
            more = any(other.lane == task.lane for other in self._tasks)
        if not more:
            self._report(task.lane, {})

    def _report(self, lane: str, work: dict[str, Any]) -> None:
        with self.lock:
            if work != self._shown.get(lane, {}):
                self._shown[lane] = work
                self._show(next((self._shown[lane] for lane in LANES if self._shown.get(lane)), {}))


def _show_nobody(work: dict[str, Any]) -> None:
    """Discard progress after the document is closed."""


class Ticker:
    """Call a function repeatedly, in its own thread, until stopped.

    Raises RuntimeError if there are no threads.
    """

    def __init__(self, beat: Callable[[], None], seconds: float) -> None:
        self._beat, self._seconds = beat, seconds
        self._end = threading.Event()
        start_thread(self._run, "follow")

    def stop(self) -> None:
        """Begin no further call."""
        self._end.set()

    def _run(self) -> None:
        while not self._end.wait(self._seconds):
            self._beat()


def begin_early(work: Callable[[], object]) -> None:
    """Do work in a thread that is needed soon. Ignore failures; the later caller meets them."""

    def run() -> None:
        with suppress(Exception):
            work()

    with suppress(RuntimeError):  # no threads here: it is done when it is needed
        start_thread(run, "early")


def hand_back_memory() -> None:
    """Return free memory to the system; glibc keeps freed memory until `malloc_trim` is called."""
    with suppress(AttributeError, OSError, TypeError):  # another system's C library
        ctypes.CDLL(None).malloc_trim(0)


def start_thread(work: Callable[[], object], name: str = "work") -> None:
    """Run work in a daemon thread. Raises RuntimeError if there are no threads."""
    threading.Thread(target=work, name=f"compaction-inspector-{name}", daemon=True).start()


def describe_error(error: BaseException) -> str:
    """Describe an error in a sentence for the screen."""
    sentence = error_sentence(error, file=False)
    if isinstance(error, OSError) and error.strerror:
        return f"{sentence}."
    return printable(sentence or type(error).__name__)
