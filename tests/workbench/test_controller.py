"""Long work beside a screen: estimates first, then exact counts; progress, a stop, a file that grows."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inspector.demo import read_demo
from inspector.files import open_session
from inspector.formats.readers import read_session
from inspector.jupyter.widget import Workbench
from inspector.planning.plan import Plan
from inspector.session.session import Session
from inspector.session.tree import Ints
from inspector.tokens.counter import Counter
from inspector.tokens.counters import ESTIMATE
from inspector.tokens.ledger import count_tokens
from inspector.workbench.controller import Controller
from inspector.workbench.tasks import GONE
from tests.kernels import OwnKernelManager
from tests.longer import write_long
from tests.work import PATIENCE, wait_until


@pytest.fixture(scope="module")
def long_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_long(tmp_path_factory.mktemp("long") / "long.jsonl")


@pytest.fixture(scope="module")
def long_session(long_file: Path) -> Session:
    return open_session(long_file)


@pytest.fixture(scope="module")
def exact(long_session: Session) -> int:
    return count_tokens(long_session, "calibrated").total


class Screen:
    """What a screen hears: every message, and the traits as they then are."""

    def __init__(self) -> None:
        self.heard: list[dict[str, Any]] = []
        self.traits: dict[str, Any] = {}
        self.change = threading.Condition()

    def __call__(self, traits: dict[str, Any]) -> None:
        with self.change:
            self.heard.append(traits)
            self.traits |= traits
            self.change.notify_all()

    def wait_for(self, is_so: Callable[[], object]) -> None:
        with self.change:
            assert self.change.wait_for(is_so, 120)


def nothing(_: object) -> None:
    pass


# -- questions --------------------------------------------------------------------------------------


class Replies:
    """What came back, in its order, and in which threads."""

    def __init__(self) -> None:
        self.heard: list[dict[str, Any]] = []
        self.threads: set[int] = set()
        self.change = threading.Condition()

    def __call__(self, reply: dict[str, Any]) -> None:
        with self.change:
            self.heard.append(reply)
            self.threads.add(threading.get_ident())
            self.change.notify_all()

    def wait_for(self, number: int) -> list[dict[str, Any]]:
        with self.change:
            assert self.change.wait_for(lambda: len(self.heard) >= number, 120)
            return self.heard


def test_a_question_that_is_stopped_or_closed_is_answered_once_and_by_a_sentence(
    long_session: Session, tmp_path: Path
) -> None:
    replies, screen = Replies(), Screen()
    begun, go = threading.Event(), threading.Event()

    def save(plan: Plan) -> Path:
        begun.set()
        go.wait(120)
        return tmp_path / "plan.json"

    controller = Controller(long_session, screen, counter="chars4_utf16")
    controller.save = save
    controller.start({})
    controller.begin()
    for name in "ab":
        controller.ask({"type": "save", "id": name}, replies)
    begun.wait(120)
    assert screen.traits["_work"]["what"] == "Saving the plan"
    controller.stop()
    controller.stop()
    assert [(reply["type"], reply["id"]) for reply in replies.heard] == [("error", "a"), ("error", "b")]
    assert replies.heard[0]["sentence"] == "Stopped before it was finished." and not screen.traits["_work"]
    go.set()
    controller.ask({"type": "save", "id": "c"}, replies)
    assert [reply["id"] for reply in replies.wait_for(3)] == ["a", "b", "c"], "what was found is not told"
    assert replies.heard[2]["name"] == "plan.json"
    go.clear()
    begun.clear()
    controller.ask({"type": "save", "id": "d"}, replies)
    begun.wait(120)
    controller.close()
    controller.ask({"type": "save", "id": "e"}, replies)
    go.set()
    assert [reply["sentence"] for reply in replies.heard[3:]] == [GONE, GONE]


def test_facts_are_found_in_the_background_and_said_so(long_session: Session) -> None:
    session = long_session.at(long_session.leaf)  # nobody has asked this one yet
    screen, replies = Screen(), Replies()
    controller = Controller(session, screen, counter="chars4_utf16")
    screen.traits |= controller.start({})
    controller.begin()
    place = controller.model.plan.place or 0
    assert controller.ask({"type": "facts", "id": 1, "place": place, "from": 0, "to": 5}, replies)
    assert controller.ask({"type": "rows", "id": 2, "from": 0, "to": 1}, replies)
    assert not controller.ask({"type": "stop"}, replies), "which needs no answer"
    assert controller.ask({"type": "facts", "id": 3, "place": place, "from": 0, "to": 5}, replies)
    heard = {reply["id"]: reply for reply in replies.wait_for(3)}
    assert heard[3]["rows"] and heard[2]["rows"]
    assert heard[1]["type"] == "error" or heard[1]["rows"] == heard[3]["rows"]
    assert len(replies.threads) == 2, "the facts came from another thread"
    screen.wait_for(lambda: screen.traits["_work"] == {})
    works = [traits["_work"] for traits in screen.heard if "_work" in traits]
    assert {"what": "Finding facts", "done": None, "stoppable": True} in works
    controller.close()


class Gate:
    """A counter that counts by length, and not before it may. `begun` says that it was asked."""

    def __init__(self) -> None:
        self.begun, self.go = threading.Event(), threading.Event()
        self.counter = Counter("gated", "Gated", self.count)

    def count(self, texts: Sequence[str]) -> Ints:
        self.begun.set()
        assert self.go.wait(120)
        return np.array([len(text) for text in texts], np.int32)


def test_a_question_does_not_wait_until_a_long_session_is_counted(long_session: Session) -> None:
    screen, replies, gate = Screen(), Replies(), Gate()
    controller = Controller(long_session, screen, counter=gate.counter)
    controller.start({})
    controller.begin()
    assert gate.begun.wait(120)
    controller.ask({"type": "rules", "id": 1}, replies)
    (reply,) = replies.wait_for(1)
    assert reply["rules"] and not gate.go.is_set()
    controller.ask({"type": "summarise", "id": 2, "by": "pasted", "text": "All is well."}, replies)
    controller.wait_for_summary(30)
    assert controller.model.ledger.base is ESTIMATE and not gate.go.is_set()
    whats = [traits["_work"].get("what") for traits in screen.heard if "_work" in traits]
    assert set(whats) == {"Counting tokens"}, "the long work is shown before questions"
    gate.go.set()
    controller.wait(120)
    assert controller.model.ledger.base is gate.counter and screen.traits["_work"] == {}
    controller.close()


# -- controllers -----------------------------------------------------------------------------------------


def test_a_long_session_is_estimated_first_and_says_so(long_session: Session, exact: int) -> None:
    screen = Screen()
    controller = Controller(long_session, screen)
    first = controller.start({})
    rough = controller.model.ledger
    assert first["_scene"]["unit"]["short"].startswith("chars4") and "chars4" in rough.source
    assert 0.5 < rough.total / exact < 2
    controller.begin()
    controller.wait(120)
    assert controller.model.ledger.total == exact
    assert screen.traits["_scene"]["unit"]["short"].startswith("o200k") and screen.traits["_work"] == {}
    works = [heard["_work"] for heard in screen.heard if heard.get("_work")]
    assert works[0]["what"] == "Counting tokens" and all(work["stoppable"] for work in works)
    shares = [work["done"] for work in works if work["done"] is not None]
    assert shares == sorted(shares) and all(0 <= share <= 1 for share in shares)


def test_a_long_replay_is_lived_in_the_background(long_session: Session) -> None:
    screen = Screen()
    controller = Controller(long_session, screen, counter="chars4_utf16")
    controller.start({})
    with controller.lock:  # nothing is handed over before the policy is another one
        controller.begin()
        assert "_run" not in controller.set_inputs({}, replay=True)
        controller.set_inputs({"policy": "claude-code-analysis"})
    controller.wait(120)
    assert screen.traits["_run"]["policy"] == "claude-code-analysis"
    assert [heard["_run"]["policy"] for heard in screen.heard if heard.get("_run")] == [
        "claude-code-analysis"
    ]


def test_questions_are_answered_from_one_state_while_the_file_grows() -> None:
    lines = read_demo().splitlines(keepends=True)
    stories = [read_session(b"".join(lines[:end]), "story", "claude-code") for end in (250, len(lines))]
    controller = Controller(stories[0], nothing, counter="chars4_utf16")
    controller.start({"at": stories[0].leaf})
    with ThreadPoolExecutor(1) as pool:
        growing = pool.submit(lambda: [controller.grow(stories[turn % 2]) for turn in range(40)])
        while not growing.done():
            found = controller.reply({"type": "search", "id": "1", "query": "harbour"})
            assert found is not None and found["type"] == "search", found
        growing.result()


def test_closing_waits_for_nobody_and_nothing_is_begun_after_it(long_session: Session) -> None:
    controller = Controller(long_session, nothing)
    controller.start({})
    with ThreadPoolExecutor(1) as pool, controller.lock:
        pool.submit(controller.close).result(120)
    controller.begin()
    controller.set_inputs({}, 1, True)
    controller.wait(0)
    assert controller.model.run is None and controller.model.ledger.base is ESTIMATE


@pytest.mark.usefixtures("no_threads")
def test_where_no_thread_can_be_had_everything_is_done_at_once(long_session: Session, exact: int) -> None:
    screen, replies = Screen(), Replies()
    controller = Controller(long_session, screen, "claude-code-analysis")
    controller.start({"cut": "end", "at": ""})
    assert controller.model.ledger.base is ESTIMATE
    controller.begin()
    assert controller.model.ledger.total == exact and screen.traits["_work"] == {}
    controller.ask({"type": "rules", "id": 1}, replies)
    controller.ask({"type": "summarise", "id": 2, "by": "pasted", "text": "All is well."}, replies)
    assert replies.heard[0]["rules"] and replies.heard[1]["state"] == "done"
    assert replies.threads == {threading.get_ident()}


# -- the widget -------------------------------------------------------------------------------------


def test_a_workbench_follows_a_file_at_its_live_end(tmp_path: Path) -> None:
    lines = read_demo().splitlines(keepends=True)
    place = tmp_path / "growing.jsonl"
    place.write_bytes(b"".join(lines[:200]))
    workbench = Workbench(place, follow=True)
    workbench.at = workbench.session.leaf or ""
    with place.open("ab") as file:
        file.write(b"".join(lines[200:280]))
    wait_until(lambda: workbench.at == open_session(place).leaf)
    with workbench._controller.lock:
        pass  # what is being handed over is whole
    assert workbench.at == workbench.moment.leaf == open_session(place).leaf
    assert workbench._scene["entryIds"][-1] == workbench.at
    workbench.close()
    with place.open("ab") as file:
        file.write(b"".join(lines[280:]))
    time.sleep(1.5)
    assert workbench.at == workbench.moment.leaf != open_session(place).leaf, "closed, it follows no more"


def test_a_growing_file_and_a_hand_do_not_disturb_each_other() -> None:
    """Every value the hand sets is planned, whatever another thread finds out at the same time."""
    lines = read_demo().splitlines(keepends=True)
    stories = [read_session(b"".join(lines[:end]), "story", "claude-code") for end in (230, 250)]
    workbench = Workbench(stories[0])
    workbench.at = stories[0].entries[90].id
    legal = [point.entry for point in workbench.plan.cuts if point.legal][:8]
    with ThreadPoolExecutor(1) as pool:
        growing = pool.submit(lambda: [workbench._controller.grow(stories[turn % 2]) for turn in range(30)])
        for turn in range(60):
            cut = legal[turn % len(legal)]
            if turn % 2:
                workbench.cut = cut
            else:
                data = {"method": "update", "state": {"cut": cut, "_seq": turn}, "buffer_paths": []}
                workbench._handle_msg({"content": {"data": data}, "buffers": []})
            assert workbench.plan.cut is not None
            assert workbench.cut == workbench.plan.cut.entry == workbench._plan["cut"]["id"] == cut
        growing.result(120)
    workbench.close()


# -- a real kernel ----------------------------------------------------------------------------------


def _unit(state: dict[str, Any]) -> str:
    """What a picture's tokens are counted by; "" without one."""
    return str(state.get("_scene", {}).get("unit", {}).get("short", ""))


def test_a_kernel_hears_of_progress_and_exact_counts_while_it_is_idle(long_file: Path) -> None:
    """What a thread sets reaches the browser, and a hand in the browser is answered meanwhile."""
    manager = OwnKernelManager()
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=120)
        code = f"import inspector\nwb = inspector.Workbench({str(long_file)!r})\nprint(wb.comm.comm_id)"
        heard: list[dict[str, Any]] = []
        reply = client.execute_interactive(code, timeout=120, output_hook=heard.append)
        assert reply["content"]["status"] == "ok", reply
        comm = next(m["content"]["text"].strip() for m in heard if m["msg_type"] == "stream")
        state = {"cut": "end", "_seq": 9}
        data = {"method": "update", "state": state, "buffer_paths": []}
        client.shell_channel.send(client.session.msg("comm_msg", {"comm_id": comm, "data": data}))
        # What is told while the cell still runs comes with what it prints.
        told = [m["content"] for m in heard if m["msg_type"] == "comm_msg"]
        updates = [content["data"].get("state", {}) for content in told if content["comm_id"] == comm]
        end = time.monotonic() + PATIENCE
        # Exact counts and the answer to the hand come from two threads, in either order.
        while time.monotonic() < end and not (
            any(_unit(update).startswith("o200k") for update in updates)
            and any(update.get("_plan", {}).get("seq") == 9 for update in updates)
        ):
            message = client.get_iopub_msg(timeout=120)
            if message["msg_type"] == "comm_msg" and message["content"]["comm_id"] == comm:
                updates.append(message["content"]["data"].get("state", {}))
        known = {name: value for update in updates for name, value in update.items()}
        assert _unit(known).startswith("o200k")
        assert any(update.get("_work", {}).get("what") == "Counting tokens" for update in updates)
        assert any(update.get("_plan", {}).get("seq") == 9 for update in updates)
        assert known["_plan"]["seq"] == 9 and known["_plan"]["cut"]["by"] == "you"
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
