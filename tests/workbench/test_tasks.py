"""The work that a screen does not wait for: its order, its newest, its end; with threads and without."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from inspector.errors import Stopped
from inspector.replays.engine import OnProgress
from inspector.workbench import tasks
from inspector.workbench.tasks import GONE, LANES, TaskQueue
from tests.work import wait_until


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


@pytest.mark.parametrize("by", ["time", "waiting", "a question"])
def test_work_may_be_put_off_until_the_screen_is_drawn(by: str) -> None:
    queue, slow, done = TaskQueue(threading.RLock(), nothing), Slow(), list[str]()
    slow.go.set()
    queue.submit("long", slow, done.append, nothing)
    queue.begin(0.1 if by == "time" else 1000.0)
    if by != "time":
        assert not slow.begun.wait(0.1)
    if by == "a question":
        queue.hurry()
    assert queue.wait("long", 120) if by == "waiting" else slow.begun.wait(120)
    assert queue.wait("long", 120) and done == ["slow"]


def test_what_was_put_off_is_not_begun_once_the_screen_is_closed() -> None:
    queue, slow = TaskQueue(threading.RLock(), nothing), Slow()
    queue.submit("long", slow, nothing, nothing)
    queue.begin(1000.0)
    queue.close()
    queue.begin()  # as the timer would
    assert queue.wait("long", 120) and not slow.begun.is_set()


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


def test_what_is_cancelled_under_the_lock_is_not_handed_over_after_it() -> None:
    outcomes: list[object] = []
    queue, worked = begin(), threading.Event()
    with queue.lock:
        queue.submit("long", lambda tell: worked.set(), outcomes.append, outcomes.append, "count")
        assert worked.wait(120)
        time.sleep(0.1)  # it is done, and waits for the lock
        queue.cancel("count")
    assert queue.wait("long", 120) and not outcomes


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


def test_a_result_that_cannot_be_taken_is_a_failure() -> None:
    outcomes: list[object] = []
    queue = begin()
    queue.submit("long", lambda tell: 0, lambda number: 1 // number, outcomes.append)
    assert queue.wait("long", 120) and [type(error) for error in outcomes] == [ZeroDivisionError]


def test_a_screen_that_is_gone_keeps_nobody_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "excepthook", nothing)

    def fail(_: object) -> None:
        raise ConnectionError("the screen is gone")

    done: list[str] = []
    queue, slow = begin(), Slow()
    queue.submit("long", slow, fail, fail)
    slow.begun.wait(120)
    queue.submit("long", lambda tell: "b", done.append, fail)
    slow.go.set()
    assert queue.wait("long", 120)
    queue.submit("long", lambda tell: "c", done.append, fail)
    assert queue.wait("long", 120) and done == ["b", "c"]


@pytest.mark.usefixtures("no_threads")
def test_where_no_thread_can_be_had_the_work_is_done_at_once() -> None:
    """As in a browser's Python."""
    done: list[str] = []
    queue = begin()
    queue.submit("long", lambda tell: "a", done.append, nothing)
    assert done == ["a"] and queue.wait("long", 0)


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


def test_what_long_work_took_is_handed_back_when_its_lane_is_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    handed: list[str] = []
    monkeypatch.setattr(tasks, "hand_back_memory", lambda: handed.append("back"))
    for least, times in ((1e9, 0), (0.0, 1)):
        monkeypatch.setattr(tasks, "LARGE", least)
        queue = begin()
        for number in range(2):
            queue.submit("long", lambda _, number=number: number, nothing, nothing)
        assert queue.wait("long", 120)
        wait_until(lambda times=times: len(handed) >= times)
        assert bool(handed) == bool(times)
    tasks.hand_back_memory()
