"""DOOR: long work beside a screen, in threads of its own, with progress and a stop."""

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
"""What is done side by side: a question waits neither until a session is counted nor until a model answers.
Of several the first is shown."""
PUT_OFF = 1.0
"""Seconds at most for which work leaves the processor to those who draw the screen."""
OFTEN = 0.2
"""Seconds between two words about progress, at least."""
LARGE = 2.0
"""Seconds of work that take so much memory for a while that what is free again is handed back."""
GONE = "The workbench was closed before this was found out."


@dataclass(eq=False)
class Task:
    """What is to be done, and to whom its result or its failure goes: see `TaskQueue.submit`."""

    lane: str
    key: str
    what: str
    work: Callable[[OnProgress], Any]
    then: Callable[[Any], None]
    fail: Callable[[BaseException], None]
    begun: bool = False
    ended: bool = False


class TaskQueue:
    """The work of one document that its screen does not wait for: in each lane one thing after another.
    What is given up ends where it next asks `check_stopped`, or tells of its progress.

    `lock` is the document's, which results are handed over under. `show` hears what is being done, as the
    trait `_work`: {} for nothing. Nothing is begun before `begin`. A lane has a thread only while there is
    work; where threads cannot be had (a browser's Python), the work is done on the spot. No executor does
    this: a process that ends would wait for what its threads still count.
    """

    def __init__(self, lock: threading.RLock, show: Callable[[dict[str, Any]], None]) -> None:
        self.lock, self._show = lock, show
        # Guards the tasks, and is held while nobody is called: who holds the document's lock may want it.
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
        """Have something done; what has the same `key` is given up for it. `what` is shown meanwhile.

        `then` gets the result with the lock held, in the thread that did it; so what is cancelled under the
        lock is not handed over after it. `fail` gets the error of either in the same way, `Stopped` where the
        task is stopped, and a sentence where the document is closed, then without the lock.
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
        """Start with what waits, and from now on with whatever comes, as soon as it comes.

        `after` so many seconds, or once somebody waits for it: the screen is drawn sooner when nothing else
        wants the processor.
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
        """Begin now, where that was put off."""
        timer, self._timer = self._timer, None
        if timer is not None and not self._begun:
            timer.cancel()
            self.begin()

    def is_on(self, key: str) -> bool:
        """Whether something of this key is being done or waits."""
        with self._change:
            return any(task.key == key for task in self._tasks)

    def cancel(self, key: str) -> None:
        """Give up what has this key. Nobody hears of it."""
        with self._change:
            for task in [task for task in self._tasks if task.key == key]:
                self._claim(task)

    def stop(self, lane: str = "") -> bool:
        """Give up what is being done and what waits, in all lanes or one; whether there was anything."""
        with self.lock:
            stopped = [task for task in [*self._tasks] if lane in ("", task.lane) and self._claim(task)]
            for task in stopped:
                self._tell(task.lane, {})
                task.fail(Stopped())
        return bool(stopped)

    def close(self) -> None:
        """Give up everything, and whatever comes from now on. Waits for nobody, not even for the lock."""
        self._show = _show_nobody
        if self._timer is not None:
            self._timer.cancel()
        with self._change:
            self._closed = True
            left = [task for task in [*self._tasks] if self._claim(task)]
        for task in left:
            task.fail(InspectorError(GONE))

    def wait(self, lane: str, timeout: float | None = None) -> bool:
        """Wait until nothing is left to do; False when that took longer than `timeout` seconds."""
        self.hurry()
        with self._change:
            return self._change.wait_for(lambda: lane not in self._busy, timeout)

    def _claim(self, task: Task) -> bool:
        """Take the right to say how a task ended, which there is once."""
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
                # Nobody to talk to any more; what waits is done all the same.
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
        told = 0.0

        def tell(done: float | None) -> None:
            nonlocal told
            if task.what and time.monotonic() - told >= OFTEN:
                told = time.monotonic()
                share = None if done is None else round(done, 3)
                with self.lock:
                    if not task.ended:
                        self._tell(task.lane, {"what": task.what, "done": share, "stoppable": True})
            if task.ended:
                raise Stopped

        result, failure = None, None
        try:
            tell(None)
            with stopping(lambda: task.ended):
                result = task.work(tell)
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
            self._tell(task.lane, {})

    def _tell(self, lane: str, work: dict[str, Any]) -> None:
        with self.lock:
            if work != self._shown.get(lane, {}):
                self._shown[lane] = work
                self._show(next((self._shown[lane] for lane in LANES if self._shown.get(lane)), {}))


def _show_nobody(work: dict[str, Any]) -> None:
    """Where progress goes once nobody looks."""


class Ticker:
    """Does something again and again, in a thread of its own, until it is stopped.

    Raises RuntimeError where there are no threads.
    """

    def __init__(self, beat: Callable[[], None], seconds: float) -> None:
        self._beat, self._seconds = beat, seconds
        self._end = threading.Event()
        start_thread(self._run, "follow")

    def stop(self) -> None:
        """No beat begins after this."""
        self._end.set()

    def _run(self) -> None:
        while not self._end.wait(self._seconds):
            self._beat()


def begin_early(work: Callable[[], object]) -> None:
    """Do in a thread what is going to be needed soon. A failure is left to whoever needs it."""

    def run() -> None:
        with suppress(Exception):
            work()

    with suppress(RuntimeError):  # no threads here: it is done when it is needed
        start_thread(run, "early")


def hand_back_memory() -> None:
    """Hand free memory back to the system: glibc keeps what was freed until it is told not to."""
    with suppress(AttributeError, OSError, TypeError):  # another system's C library
        ctypes.CDLL(None).malloc_trim(0)


def start_thread(work: Callable[[], object], name: str = "work") -> None:
    """Do something in a thread that keeps no process alive. Raises RuntimeError where there are none."""
    threading.Thread(target=work, name=f"compaction-inspector-{name}", daemon=True).start()


def describe_error(error: BaseException) -> str:
    """A sentence for whoever looks at a screen."""
    sentence = error_sentence(error, file=False)
    if isinstance(error, OSError) and error.strerror:
        return f"{sentence}."
    return printable(sentence or type(error).__name__)
