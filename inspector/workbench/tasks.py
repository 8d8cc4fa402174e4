"""DOOR: long work in a thread of its own, one thing after another, with progress and a stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from ..errors import Stopped
from ..replays.engine import OnProgress
from ..text import printable

T = TypeVar("T")

Reply = dict[str, Any]
Answer = Callable[[Reply], None]

OFTEN = 0.2
"""Seconds between two words about progress, at least."""
GONE = "The workbench was closed before this was found out."


@dataclass(eq=False)
class Task:
    """What is to be done, and to whom its result or its failure goes.

    Neither is told once it is stopped; one that is stopped in that very moment may still be. `what` is shown
    while it is done; nothing is for "".
    """

    kind: str
    what: str
    work: Callable[[OnProgress], Any]
    then: Callable[[Any], None]
    sorry: Callable[[Exception], None]
    stopped: bool = False


class TaskQueue:
    """The long work of one document. There is a thread only while there is work.

    A newer errand of a kind takes the place of an older one. `say` hears what is being done, as the trait
    `_work`: {} for nothing. Nothing is begun before `begin`. Where threads cannot be had (a browser's
    Python), the work is done on the spot.
    """

    def __init__(self, say: Callable[[dict[str, Any]], None]) -> None:
        self._say = say
        self._change = threading.Condition()
        self._waiting: list[Task] = []
        self._now: Task | None = None
        self._begun = self._running = self._closed = self._shown = False

    def send(
        self,
        kind: str,
        what: str,
        work: Callable[[OnProgress], T],
        then: Callable[[T], None],
        sorry: Callable[[Exception], None],
    ) -> None:
        """Have something done. `then` gets the result, `sorry` the error, both in the thread that did it."""
        with self._change:
            self.stop(kind)
            if self._closed:
                return
            self._waiting.append(Task(kind, what, work, then, sorry))
        if self._begun:
            self.begin()

    def begin(self) -> None:
        """Start with what waits, and from now on with whatever comes, as soon as it comes."""
        with self._change:
            self._begun = True
            if self._running or not self._waiting:
                return
            self._running = True
        try:
            threading.Thread(target=self._run, name="compaction-inspector", daemon=True).start()
        except RuntimeError:
            self._run()

    def is_on(self, kind: str) -> bool:
        """Whether something of this kind is being done or waits."""
        with self._change:
            return any(errand.kind == kind and not errand.stopped for errand in self._all())

    def stop(self, kind: str = "") -> list[str]:
        """Stop what is being done and what waits, all or of one kind; the kinds that were stopped."""
        with self._change:
            found = [errand for errand in self._all() if not errand.stopped and kind in ("", errand.kind)]
            for errand in found:
                errand.stopped = True
            self._waiting = [errand for errand in self._waiting if not errand.stopped]
            return [errand.kind for errand in found]

    def close(self) -> None:
        """Stop everything; nothing that is sent from now on is done."""
        with self._change:
            self._closed = True
            self.stop()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until nothing is left to do; False when that took longer than `timeout` seconds."""
        with self._change:
            return self._change.wait_for(lambda: not self._running, timeout)

    def _all(self) -> list[Task]:
        return [*([self._now] if self._now is not None else []), *self._waiting]

    def _run(self) -> None:
        try:
            self._work_off()
        except BaseException:
            # Nobody to talk to any more; who waits shall not wait for ever, and what comes is done.
            with self._change:
                self._now, self._running = None, False
                self._change.notify_all()
            raise

    def _work_off(self) -> None:
        while True:
            with self._change:
                self._now = self._waiting.pop(0) if self._waiting else None
                if self._now is None:
                    self._running = False
                    self._change.notify_all()
                    return
            self._do(self._now)
            with self._change:
                more = bool(self._waiting)
            if not more and self._shown:
                self._shown = False
                self._say({})

    def _do(self, errand: Task) -> None:
        told = 0.0

        def tell(done: float | None) -> None:
            nonlocal told
            if errand.stopped:
                raise Stopped
            if errand.what and time.monotonic() - told >= OFTEN:
                told, self._shown = time.monotonic(), True
                share = None if done is None else round(done, 3)
                self._say({"what": errand.what, "done": share, "stoppable": True})

        try:
            tell(None)
            result = errand.work(tell)
            if not errand.stopped:
                errand.then(result)
        except Stopped:
            return
        except Exception as error:
            # Nobody else would hear of it.
            if not errand.stopped:
                errand.sorry(error)


class QueryQueue:
    """Questions that may take long, answered one after another.

    Each gets one answer, in the thread that found it and with `lock` held: a sentence where it is stopped, or
    where the document is closed, and then without the lock.
    """

    def __init__(self, say: Callable[[dict[str, Any]], None], lock: threading.RLock) -> None:
        self._lock, self._errands, self._closed = lock, TaskQueue(say), False
        self._open: dict[str, tuple[Reply, Answer]] = {}
        self._number = 0
        self.begin, self.wait = self._errands.begin, self._errands.wait

    def ask(self, asked: Reply, answer: Answer, find: Callable[[Reply], Reply], what: str = "") -> None:
        """Have a question answered by what `find` makes of it; `what` is shown meanwhile."""
        with self._lock:
            self._number += 1
            name = f"question {self._number}"
            self._open[name] = asked, answer

        def take(reply: Reply) -> None:
            with self._lock:
                # It may have been stopped in the very moment it was done.
                if self._open.pop(name, None) is not None:
                    answer(reply)

        self._errands.send(
            name, what, lambda _: find(asked), take, lambda error: self._refuse([name], describe_error(error))
        )
        if self._closed:
            self._refuse([name], GONE)

    def stop(self) -> bool:
        """Answer all by a sentence; whether there was any."""
        names = self._errands.stop()
        self._refuse(names, str(Stopped()))
        return bool(names)

    def close(self) -> None:
        """The same once and for all. Waits for nobody."""
        self._closed = True
        self._errands.close()
        self._refuse([*self._open], GONE)

    def _refuse(self, names: Iterable[str], sentence: str) -> None:
        for name in names:
            if (found := self._open.pop(name, None)) is not None:
                asked, answer = found
                answer({"type": "error", "id": asked.get("id"), "sentence": printable(sentence)})


class Ticker:
    """Does something again and again, in a thread of its own, until it is stopped."""

    def __init__(self, beat: Callable[[], None], seconds: float) -> None:
        self._beat, self._seconds = beat, seconds
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="compaction-inspector-follow", daemon=True)
        self._thread.start()

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
        threading.Thread(target=run, name="compaction-inspector-early", daemon=True).start()


def describe_error(error: Exception) -> str:
    """A sentence for whoever looks at a screen."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}."
    return printable(str(error) or type(error).__name__)
