"""Threads for the server's routes. Each document and each file has a limited number of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from ..errors import stopping

T = TypeVar("T")

MOST = 4
"""The most threads that work for one document, or open one file, at the same time."""
GONE = "The server closed this session to make room for others, or was restarted. Open it again."
BUSY = 60.0
"""Seconds that a request waits for a free thread."""


class ServerRefusal(Exception):
    """A request that is answered with a status and a sentence."""

    def __init__(self, status: int, sentence: str, reason: str = "") -> None:
        super().__init__(sentence)
        self.status, self.sentence, self.reason = status, sentence, reason


def settle(future: asyncio.Future[T], work: Callable[[], T]) -> None:
    """Run `work` in the current thread; set its result or error on a future of the event loop."""

    def set_done(set_outcome: Callable[[Any], None], outcome: Any) -> None:
        if not future.done():
            set_outcome(outcome)

    try:
        done: tuple[Callable[[Any], None], Any] = (future.set_result, work())
    except BaseException as error:
        done = (future.set_exception, error)
    with suppress(RuntimeError):  # the loop is closed
        future.get_loop().call_soon_threadsafe(set_done, *done)


def run_in_thread(work: Callable[..., T], *args: Any) -> asyncio.Future[T]:
    """Run `work` in a thread of its own, which does not keep the process alive."""
    future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
    run = partial(settle, future, partial(work, *args))
    threading.Thread(target=run, name="compaction-inspector-server", daemon=True).start()
    return future


class Workers:
    """Threads for one document or one file, `MOST` at a time. Belongs to the event loop.

    A thread cannot be killed. One that hangs occupies one of these threads until it ends, and does not affect
    other documents. `name` is the name of the document or the file that users know.
    """

    def __init__(self, name: str) -> None:
        self._name, self._free = name, asyncio.Semaphore(MOST)

    async def run(
        self,
        work: Callable[[], T],
        ended: asyncio.Event,
        seconds: float | None = None,
        late: Callable[[T], None] | None = None,
        why: str = "The client closed the connection.",
    ) -> T:
        """Run `work` in a thread and return its result.

        Args:
            work: Runs under `stopping`, so that `check_stopped` ends it once its result is not needed.
            ended: Once this event is set, the result is not needed.
            seconds: After this time the result is not needed either.
            late: Called with a result that comes too late.
            why: The sentence of the refusal if `ended` is set.

        Raises:
            ServerRefusal: `ended` is set, the time is up, or no thread was free for `BUSY` seconds.
        """
        turn = asyncio.ensure_future(self._free.acquire())
        if not await _wait(turn, ended, BUSY):
            turn.cancel()
            raise ServerRefusal(404, why) if ended.is_set() else ServerRefusal(409, self._describe_busy())
        cancelled = threading.Event()

        def run() -> T:
            with stopping(cancelled.is_set):
                return work()

        def finish(done: asyncio.Future[T]) -> None:
            self._free.release()
            if done.exception() is None and cancelled.is_set() and late is not None:
                late(done.result())

        running = run_in_thread(run)
        running.add_done_callback(finish)
        if not await _wait(running, ended, seconds):
            cancelled.set()
            slow = f"{self._name} took more than {seconds:.0f} seconds." if seconds else ""
            raise ServerRefusal(404, why) if ended.is_set() else ServerRefusal(422, slow, "TimeoutError")
        return running.result()

    def _describe_busy(self) -> str:
        return f"The server is still busy with {MOST} earlier requests for {self._name}. Try again later."


async def _wait(future: asyncio.Future[Any], ended: asyncio.Event, seconds: float | None) -> bool:
    """Wait for a future. Return False if the event is set first, or after `seconds`."""
    end = asyncio.ensure_future(ended.wait())
    await asyncio.wait({future, end}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    end.cancel()
    return future.done()
