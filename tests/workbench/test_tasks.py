"""The work that a screen does not wait for: its order, its newest, its end; with threads and without."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

from inspector.errors import Stopped
from inspector.replays.engine import OnProgress
from inspector.workbench.tasks import GONE, LANES, TaskQueue


def nothing(_: object) -> None:
    pass


def begin(show: Callable[[dict[str, Any]], None] = nothing) -> TaskQueue:
    queue = TaskQueue(threading.RLock(), show)
    queue.begin()
    return queue


class Slow:
    """Work that ends when it may, and looks then whether it was stopped."""

    def __init__(self) -> None:
        self.begun, self.go = threading.Event(), threading.Event()

    def __call__(self, tell: OnProgress) -> str:
        self.begun.set()
        assert self.go.wait(120)
        tell(0.5)
        return "slow"


def test_work_is_done_one_after_another_and_the_end_is_told() -> None:
    done, progress = [], []
    queue = TaskQueue(threading.RLock(), progress.append)
    for name in ("a", "b"):
        queue.submit("long", lambda tell, name=name: name, done.append, nothing, name, name)
    assert not done, "nothing is begun before somebody listens"
    queue.begin()
    assert (
        queue.wait("long", 120) and done == ["a", "b"] and progress[0]["what"] == "a" and progress[-1] == {}
    )


def test_the_newest_of_a_key_wins_and_the_older_hears_nothing() -> None:
    done: list[object] = []
    queue, slow = begin(), Slow()
    queue.submit("long", slow, done.append, done.append, "count")
    slow.begun.wait(120)
    for name in ("newer", "newest"):
        queue.submit("long", lambda tell, name=name: name, done.append, done.append, "count")
    queue.submit("long", lambda tell: "other", done.append, done.append)
    queue.submit("long", lambda tell: "another", done.append, done.append)
    slow.go.set()
    assert queue.wait("long", 120) and done == ["newest", "other", "another"]


def test_no_lane_waits_for_another_and_the_first_is_shown() -> None:
    progress: list[dict[str, Any]] = []
    queue, slow, done = begin(progress.append), [Slow() for _ in LANES], threading.Semaphore(0)
    for lane, work in zip(LANES, slow, strict=True):
        queue.submit(lane, work, lambda _: done.release(), nothing, what=lane)
    assert all(work.begun.wait(120) for work in slow)
    assert progress[-1] == {"what": LANES[0], "done": None, "stoppable": True}
    slow[0].go.set()
    assert queue.wait(LANES[0], 120) and progress[-1]["what"] == LANES[1]
    for work in slow:
        work.go.set()
    assert all(queue.wait(lane, 120) for lane in LANES) and progress[-1] == {}


def test_what_is_stopped_hears_so_once_and_what_is_cancelled_hears_nothing() -> None:
    outcomes: list[Any] = []
    queue, slow = begin(), Slow()
    queue.submit("long", slow, outcomes.append, outcomes.append, "count")
    queue.submit("long", lambda tell: "b", outcomes.append, outcomes.append, "replay")
    slow.begun.wait(120)
    queue.cancel("replay")
    assert queue.is_on("count") and not queue.is_on("replay")
    assert not queue.stop("query") and queue.stop("long") and not queue.stop()
    assert not queue.is_on("count")
    slow.go.set()
    assert queue.wait("long", 120) and [type(outcome) for outcome in outcomes] == [Stopped]


def test_what_is_closed_is_answered_at_once_and_nothing_is_done_after_it() -> None:
    outcomes: list[Any] = []
    queue, slow = begin(), Slow()
    queue.submit("query", slow, outcomes.append, outcomes.append)
    slow.begun.wait(120)
    with queue.lock:
        closing = threading.Thread(target=queue.close)
        closing.start()
        closing.join(120)
        assert not closing.is_alive(), "it waits for nobody, not even for the lock"
    queue.submit("query", lambda tell: "more", outcomes.append, outcomes.append)
    slow.go.set()
    assert queue.wait("query", 120) and [str(error) for error in outcomes] == [GONE, GONE]


def test_an_error_is_told_and_the_next_is_done_all_the_same() -> None:
    outcomes: list[object] = []
    queue = begin()
    queue.submit("long", lambda tell: 1 / 0, outcomes.append, outcomes.append)
    queue.submit("long", lambda tell: "b", outcomes.append, outcomes.append)
    assert queue.wait("long", 120) and isinstance(outcomes[0], ZeroDivisionError) and outcomes[1:] == ["b"]


def test_a_process_that_ends_does_not_wait_for_its_work() -> None:
    code = """
import threading, time
from inspector.workbench.tasks import TaskQueue
queue, begun = TaskQueue(threading.RLock(), print), threading.Event()
queue.begin()
queue.submit("long", lambda tell: (begun.set(), time.sleep(600)), print, print)
assert begun.wait(120)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)
