"""Long work beside a screen: estimates first, then exact counts; progress, a stop, a file that grows."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import inspector.facts.facts as facts
from inspector.demo import open_demo, read_demo
from inspector.errors import EditError, Stopped
from inspector.files import FollowedFile, open_session
from inspector.formats.readers import read_session
from inspector.jupyter.widget import Workbench
from inspector.planning.plan import Plan
from inspector.replays.engine import ReplayTask
from inspector.session.session import Session
from inspector.session.tree import Ints
from inspector.tokens.counter import Counter
from inspector.tokens.counters import ESTIMATE
from inspector.tokens.ledger import count_tokens
from inspector.workbench import controller as controllers
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


def test_a_question_that_breaks_is_answered_and_the_next_one_too() -> None:
    replies = Replies()
    controller = Controller(open_demo(), nothing)
    controller.start({})
    controller.begin()
    controller.ask({"type": "story", "id": "a"}, replies)
    controller.ask({"type": "rules", "id": "b"}, replies)
    first, second = replies.wait_for(2)
    assert (first["type"], first["id"], second["type"]) == ("error", "a", "rules")
    controller.close()


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


@pytest.mark.parametrize("end", [Controller.close, Controller.stop])
def test_facts_that_nobody_waits_for_any_more_are_looked_for_no_further(
    long_session: Session, monkeypatch: pytest.MonkeyPatch, end: Callable[[Controller], None]
) -> None:
    session = long_session.at(long_session.leaf)
    begun, released, read = threading.Event(), threading.Event(), facts.read_path

    def read_for_ever(*args: Any) -> Iterator[Any]:
        first = next(read(*args))
        for _ in range(60_000):
            yield first
            begun.set()
            time.sleep(0.01)
        released.set()

    monkeypatch.setattr(facts, "read_path", read_for_ever)
    replies = Replies()
    controller = Controller(session, nothing, counter="chars4_utf16")
    controller.start({})
    controller.begin()
    question = {"type": "facts", "id": 1, "place": controller.model.plan.place or 0, "from": 0, "to": 5}
    controller.ask(question, replies)
    assert begun.wait(120)
    end(controller)
    wait_until(lambda: all(thread.name != "compaction-inspector-work" for thread in threading.enumerate()))
    assert not released.is_set()
    assert replies.heard[0]["type"] == "error" and "facts" not in vars(session)
    monkeypatch.undo()
    # What was begun is not taken for the whole: who asks next gets all of them.
    assert len(session.facts) == len(long_session.facts) > 10
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


def test_a_small_question_shows_nothing() -> None:
    screen, replies = Screen(), Replies()
    controller = Controller(open_demo(), screen)
    controller.start({})
    controller.begin()
    controller.ask({"type": "facts", "id": 1, "place": controller.model.plan.place or 0}, replies)
    (reply,) = replies.wait_for(1)
    assert reply["total"] > 100 and threading.get_ident() not in replies.threads and not screen.heard
    controller.close()


def test_the_facts_of_a_session_that_has_grown_are_found_anew() -> None:
    lines = read_demo().splitlines(keepends=True)
    stories = [read_session(b"".join(lines[:end]), "story", "claude-code") for end in (200, 280)]
    replies = Replies()
    controller = Controller(stories[0], nothing)
    controller.start({"at": stories[0].leaf})
    controller.begin()
    for number, story in enumerate(stories, 1):
        controller.grow(story)
        controller.ask({"type": "facts", "id": number, "place": controller.model.plan.place or 0}, replies)
        assert replies.wait_for(number)[-1]["total"] == len(controller.model.plan.trace)
    assert replies.heard[0]["total"] < replies.heard[1]["total"]
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


def test_what_the_hand_sets_while_it_is_counted_stays(long_session: Session) -> None:
    screen = Screen()
    controller = Controller(long_session, screen)
    controller.start({})
    with controller.lock:  # nothing is handed over before the hand sets this
        controller.begin()
        answer = controller.set_inputs({"cut": "end", "versus": {"policy": "pi"}}, seq=4)
    assert answer["_plan"]["seq"] == 4
    controller.wait(120)
    assert controller.model.inputs["cut"] == "end" and screen.traits["_other"]["policy"] == "pi"
    assert screen.traits["_plan"]["seq"] == 4
    assert "cut" not in screen.traits, "only what changed is handed over"


def test_counting_that_is_stopped_leaves_estimates_that_grow(tmp_path: Path) -> None:
    # Texts that no test counted before: counts are remembered, and would be there at once.
    session = open_session(write_long(tmp_path / "other.jsonl", first=2 * 10**9))
    screen = Screen()
    controller = Controller(session, screen)
    controller.start({})
    with controller.lock:  # nothing is handed over before it is stopped
        controller.begin()
        controller.reply({"type": "stop"})
    controller.wait(120)
    assert "stay estimates" in screen.traits["_error"] and not screen.traits.get("_work")
    controller.grow(session.at(session.leaf))
    controller.wait(120)
    assert controller.model.ledger.source.startswith("fitted to the provider: chars4")


def test_a_long_replay_is_lived_in_the_background(long_session: Session) -> None:
    screen = Screen()
    controller = Controller(long_session, screen, counter="chars4_utf16")
    controller.start({})
    with controller.lock:  # nothing is handed over before the policy is another one
        controller.begin()
        assert "_run" not in controller.set_inputs({}, replay=True)
        controller.set_inputs({"policy": "claude-code"})
    controller.wait(120)
    assert screen.traits["_run"]["policy"] == "claude-code"
    assert [heard["_run"]["policy"] for heard in screen.heard if heard.get("_run")] == ["claude-code"]


def test_a_replay_that_is_stopped_puts_its_switch_back(long_session: Session) -> None:
    screen = Screen()
    controller = Controller(long_session, screen)
    controller.start({}, replay=True)
    with controller.lock:  # nothing is handed over before it is stopped
        controller.begin()
        controller.stop()
    controller.wait(120)
    assert screen.traits["replay"] is False and controller.model.run is None


def test_exact_counts_that_come_while_the_file_is_counted_are_kept(
    long_session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An estimate of the grown file was being made when the exact counts of the shorter one came in."""
    controller = Controller(long_session, nothing)
    controller.start({})
    grown, count = long_session.model_copy(update={"title": "grown"}), controllers.count_tokens

    def count_slowly(session: Session, *args: Any, **options: Any) -> Any:
        ledger = count(session, *args, **options)
        if session is grown:
            controller.begin()
            controller.wait(120)
        return ledger

    monkeypatch.setattr(controllers, "count_tokens", count_slowly)
    controller.grow(grown)
    assert controller.model.session is grown and controller.model.ledger.base is not ESTIMATE


@pytest.mark.parametrize("kind", ["count", "replay"])
def test_what_is_done_in_the_moment_it_is_stopped_is_not_taken(
    long_session: Session, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen, done, go = Screen(), threading.Event(), threading.Event()
    controller = Controller(long_session, screen, counter="calibrated" if kind == "count" else "chars4_utf16")
    whose, name = (controllers, "count_tokens") if kind == "count" else (ReplayTask, "live")
    work = getattr(whose, name)

    def end_later(*args: Any) -> Any:
        result = work(*args)
        done.set()
        go.wait(120)
        return result

    monkeypatch.setattr(whose, name, end_later)
    controller.start({}, replay=kind == "replay")
    controller.begin()
    assert done.wait(120)
    before = controller.model.ledger
    with controller.lock:
        go.set()
        time.sleep(0.1)  # it is about to hand over what it has
        controller.stop()
    controller.wait(120)
    assert (
        controller.model.ledger is before and controller.model.run is None and not screen.traits.get("_run")
    )


def test_a_setting_put_back_ends_the_replay_of_the_other(long_session: Session) -> None:
    controller = Controller(long_session, nothing, "keep-recent-turns", counter="chars4_utf16")
    controller.start({}, replay=True)
    controller.begin()
    controller.wait(120)
    lived = controller.model.run
    with controller.lock:
        controller.set_inputs({"settings": {"keep-recent-turns.turns": 2}}, 1)
        controller.set_inputs({"settings": {}}, 2)
    controller.wait(120)
    assert lived is not None and controller.model.run is lived


def test_a_wish_refused_leaves_the_switch_of_the_replay_as_it_was() -> None:
    controller = Controller(open_demo(), nothing)
    controller.start({})
    told = controller.set_inputs({"cut": "nowhere"}, 1, True)
    assert told["replay"] is False and not controller.replaying and "nowhere" in told["_error"]


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


def test_a_small_session_is_exact_and_lived_at_once() -> None:
    screen = Screen()
    controller = Controller(open_demo(), screen)
    first = controller.start({}, replay=True)
    assert first["_run"] and first["_scene"]["unit"]["short"].startswith("o200k")
    controller.begin()
    controller.wait(0)
    assert not screen.heard


def test_a_closed_controller_hands_nothing_over(long_session: Session) -> None:
    screen = Screen()
    controller = Controller(long_session, screen)
    controller.start({})
    controller.begin()
    controller.close()
    heard = len(screen.heard)
    controller.wait(120)
    assert len(screen.heard) == heard


def test_closing_waits_for_nobody_and_nothing_is_begun_after_it(long_session: Session) -> None:
    controller = Controller(long_session, nothing)
    controller.start({})
    with ThreadPoolExecutor(1) as pool, controller.lock:
        pool.submit(controller.close).result(120)
    controller.begin()
    controller.set_inputs({}, 1, True)
    controller.wait(0)
    assert controller.model.run is None and controller.model.ledger.base is ESTIMATE


def test_whatever_goes_wrong_with_a_look_the_next_one_is_made(tmp_path: Path) -> None:
    place = tmp_path / "story.jsonl"
    lines = read_demo().splitlines(keepends=True)
    place.write_bytes(b"".join(lines[:200]))
    screen, tail = Screen(), FollowedFile(place)
    controller = Controller(tail.session, screen)
    controller.start({"at": tail.session.leaf})
    adopt = controller._adopt
    controller._adopt = lambda *_: 1 / 0  # type: ignore[method-assign, return-value, assignment]
    place.write_bytes(b"".join(lines[:220]))
    controller.check_file(tail)
    assert screen.traits["_error"] == "What the file holds now cannot be shown: division by zero"
    controller._adopt = adopt  # type: ignore[method-assign]
    controller.check_file(tail)
    assert controller.model.session is tail.session and screen.traits["_error"] == ""


@pytest.mark.usefixtures("no_threads")
def test_where_no_thread_can_be_had_following_is_refused_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "story.jsonl").write_bytes(read_demo())
    screen, tail = Screen(), FollowedFile(tmp_path / "story.jsonl")
    controller = Controller(tail.session, screen)
    controller.start({})
    controller.follow(tail)
    assert screen.traits["_error"] == "The file is not followed: this Python has no threads."


@pytest.mark.usefixtures("no_threads")
def test_where_no_thread_can_be_had_everything_is_done_at_once(long_session: Session, exact: int) -> None:
    screen, replies = Screen(), Replies()
    controller = Controller(long_session, screen, "claude-code")
    controller.start({"cut": "end", "at": ""})
    assert controller.model.ledger.base is ESTIMATE
    controller.begin()
    assert controller.model.ledger.total == exact and screen.traits["_work"] == {}
    controller.ask({"type": "rules", "id": 1}, replies)
    controller.ask({"type": "summarise", "id": 2, "by": "pasted", "text": "All is well."}, replies)
    assert replies.heard[0]["rules"] and replies.heard[1]["state"] == "done"
    assert replies.threads == {threading.get_ident()}


def test_a_file_that_is_gone_and_comes_back_is_told_once_each(tmp_path: Path) -> None:
    place = tmp_path / "story.jsonl"
    place.write_bytes(read_demo())
    screen, tail = Screen(), FollowedFile(place)
    controller = Controller(tail.session, screen)
    controller.start({})
    place.unlink()
    controller.check_file(tail), controller.check_file(tail)
    assert [heard["_error"] for heard in screen.heard] == [
        "The file cannot be read any more: No such file or directory."
    ]
    place.write_bytes(read_demo())
    controller.check_file(tail), controller.check_file(tail)
    assert screen.traits["_error"] == "" and len(screen.heard) == 2


# -- the widget -------------------------------------------------------------------------------------


def test_a_workbench_on_a_long_file_waits_for_exact_numbers(long_file: Path, exact: int) -> None:
    workbench = Workbench(long_file)
    workbench.cut = "end"
    workbench.wait(120)
    assert workbench.ledger.total == exact and workbench.plan.ledger is workbench.ledger
    assert (workbench.cut, workbench._work) == ("end", {})
    workbench.replay = True
    workbench.wait(120)
    assert workbench.run is not None and workbench._run["steps"] == len(workbench.run)
    workbench.close()


def test_waiting_takes_no_longer_than_allowed(tmp_path: Path) -> None:
    # Texts that no test counted before: counts are remembered, and would be there at once.
    workbench = Workbench(write_long(tmp_path / "other.jsonl", first=10**9))
    with workbench._controller.lock:  # nothing is handed over meanwhile
        with pytest.raises(TimeoutError):
            workbench.wait(0)
        workbench.stop()
    workbench.wait(120)
    assert "stay estimates" in workbench._error
    workbench.close()


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


def test_errors_raise_in_python_while_it_is_counted(long_file: Path) -> None:
    workbench = Workbench(long_file)
    with pytest.raises(EditError):
        workbench.cut = "nowhere"
    assert workbench.cut == ""
    workbench.close()


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


def test_a_workbench_answers_about_facts_from_behind() -> None:
    workbench, replies = Workbench(open_demo()), Replies()
    workbench.send = lambda content, buffers=None: replies(content)
    workbench._reply(workbench, {"type": "facts", "id": 1, "place": workbench.plan.place or 0}, [])
    assert replies.wait_for(1)[0]["total"] == len(workbench.plan.trace)
    assert threading.get_ident() not in replies.threads
    workbench.close()
    workbench._reply(workbench, {"type": "regret", "id": 2}, [])
    assert len(replies.heard) == 1, "closed, it says nothing more"


def test_stopped_is_an_error_with_a_sentence() -> None:
    assert str(Stopped()) == "Stopped before it was finished."


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
