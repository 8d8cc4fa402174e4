"""The workbench's Summarise flow without a browser: a controller, its writer, and a provider on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import pytest

from inspector import count_tokens, make_plan, open_demo
from inspector.planning.assemble import build_context
from inspector.session.session import Session
from inspector.session.tree import Ints
from inspector.tokens.counter import Counter
from inspector.workbench.controller import Controller
from inspector.workbench.model import WorkbenchModel
from inspector.workbench.page.html import make
from inspector.workbench.summary_writer import SummaryWriter
from inspector.workbench.tasks import TaskQueue
from tests.loopback import KEY, SUMMARY, Cue, Loopback, fail
from tests.test_laws import LENGTH

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
MODEL = "claude-opus-4-5"


class Screen:
    """Keeps the traits that are handed over."""

    def __init__(self) -> None:
        self.traits: dict[str, Any] = {}

    def __call__(self, traits: dict[str, Any]) -> None:
        self.traits |= traits


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Controller, Screen]]:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.delenv("ANTHROPIC_AUTH_TOKEN", raising=False)
    yield from _open(open_demo())


def _open(session: Session) -> Iterator[tuple[Controller, Screen]]:
    screen = Screen()
    controller = Controller(session, screen, "claude-code-analysis")
    screen(controller.start({"cut": "end", "at": ""}))
    controller.begin()
    yield controller, screen
    controller.close()


def ask(controller: Controller, kind: str, **more: Any) -> dict[str, Any]:
    found: list[dict[str, Any]] = []
    heard = threading.Event()

    def answer(reply: dict[str, Any]) -> None:
        found.append(reply)
        heard.set()

    wished = {"by": "model", "model": MODEL, "focus": "", "keep": [], "digest": "", "text": ""}
    controller.ask({"type": kind, "id": "1", **wished, **more}, answer)
    assert heard.wait(120)
    assert found[0]["type"] == kind, found[0]
    return found[0]


def begin() -> TaskQueue:
    tasks = TaskQueue(threading.RLock(), lambda work: None)
    tasks.begin()
    return tasks


def await_end(controller: Controller) -> dict[str, Any]:
    """What came of it."""
    controller.wait_for_summary(30)
    return ask(controller, "writing", **{"from": 0})


def serve(server: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)


def test_an_extractive_summary_stands_in_the_stand_ins_place(opened: tuple[Controller, Screen]) -> None:
    controller, screen = opened
    before = screen.traits["_plan"]
    assert before["summary"] is None
    offer = ask(controller, "sending", by="extractive")
    assert offer["ready"] and "nothing is sent" in offer["sentence"] and offer["requests"] == []
    ask(controller, "summarise", by="extractive")
    done = await_end(controller)
    assert (done["state"], done["by"], done["here"]) == ("done", "extractive", True)
    after, plan = screen.traits["_plan"], controller.model.plan
    assert {"by": "extractive", "tokens": done["tokens"]}.items() <= after["summary"].items()
    assert plan.checkpoint is not None and plan.checkpoint.text == done["text"]
    bare = plan.with_summary(None)
    assert after["after"]["total"] - before["after"]["total"] == plan.summary_tokens - bare.summary_tokens
    assert build_context(plan.session, plan).tokens == plan.after
    told = controller.reply({"type": "summary", "id": "2", "place": plan.place})
    assert told is not None and told["text"] == done["text"]
    assert ["written by", "extractive"] in told["facts"]


def test_a_model_is_sent_what_was_seen_and_nothing_before(
    opened: tuple[Controller, Screen], monkeypatch: pytest.MonkeyPatch
) -> None:
    controller, screen = opened
    with Loopback() as server:
        serve(server, monkeypatch)
        seen = ask(controller, "sending")
        assert seen["ready"] and seen["host"] == server.url.removeprefix("http://")
        assert seen["price"].startswith("at most $") and seen["tokens"] > 1000 and not server.received
        ask(controller, "summarise", digest=seen["digest"])
        done = await_end(controller)
        assert done["state"] == "done", done["sentence"]
        assert (done["by"], done["text"]) == (MODEL, SUMMARY) and "provider usage" in done["usage"]
        assert done["price"].startswith("$")
        assert [len(one.text) for one in server.asked] == [one["total"] for one in seen["requests"]]
        assert server.asked[0].text.startswith(seen["requests"][0]["text"][:500])
        assert screen.traits["_plan"]["summary"]["by"] == MODEL


def test_nothing_is_sent_that_was_not_looked_at(
    opened: tuple[Controller, Screen], monkeypatch: pytest.MonkeyPatch
) -> None:
    controller, _ = opened
    with Loopback() as server:
        serve(server, monkeypatch)
        assert ask(controller, "summarise", digest="")["state"] == "failed"
        seen = ask(controller, "sending")
        assert ask(controller, "summarise", digest="0" * 64)["state"] == "failed"
        controller.set_inputs({"pins": [f"{controller.model.plan.jobs[-1].entries[0]}/0"]}, 1)
        told = ask(controller, "summarise", digest=seen["digest"])
        assert told["state"] == "failed" and told["sentence"]
        assert not server.received


def test_only_one_of_the_writers_by_its_exact_name_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    """An unknown name never selects a model, whatever the host."""
    with Loopback() as provider:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", provider.url)
        for controller, _ in _open(open_demo()):
            digest = ask(controller, "sending")["digest"]
            names = ("Model", "MODEL", " model", "claude", "", None, 7, ["model"])
            for kind, by in product(("sending", "summarise"), names):
                query = {"type": kind, "id": 1, "by": by, "model": MODEL, "digest": digest, "text": "a"}
                reply = controller.reply(query)
                assert reply is not None and reply["type"] == "error"
                assert "extractive, model, pasted" in reply["sentence"]
            assert ask(controller, "writing")["state"] == "none"
        assert provider.received == []


def test_without_a_key_nothing_can_be_sent(opened: tuple[Controller, Screen]) -> None:
    controller, _ = opened
    seen = ask(controller, "sending")
    assert not seen["ready"] and "ANTHROPIC_API_KEY" in seen["sentence"] and seen["tokens"] > 1000


@pytest.mark.parametrize(
    ("cue", "words"),
    [
        (fail(400, "messages: text content blocks must be non-empty"), "does not accept the request (400)"),
        (fail(401), "does not accept the key"),
        (Cue(stop_reason="refusal", text="no"), "refused to write the summary"),
        (Cue(text=""), "empty"),
    ],
)
def test_an_error_reads_like_a_sentence_and_keeps_nothing(
    opened: tuple[Controller, Screen], monkeypatch: pytest.MonkeyPatch, cue: Cue, words: str
) -> None:
    controller, _ = opened
    with Loopback(cue) as server:
        serve(server, monkeypatch)
        ask(controller, "summarise", digest=ask(controller, "sending")["digest"])
        told = await_end(controller)
        assert told["state"] == "failed" and words in told["sentence"], told["sentence"]
        assert told["text"] == "" and controller.model.plan.checkpoint is None
        # An answer that cannot stand was paid all the same.
        assert ("provider usage" in told["usage"]) == told["price"].startswith("$") == (cue.status == 200)


def test_a_summary_can_be_stopped_in_the_middle(
    opened: tuple[Controller, Screen], monkeypatch: pytest.MonkeyPatch
) -> None:
    controller, screen = opened
    with Loopback(Cue(fault="hangs", after=5)) as server:
        serve(server, monkeypatch)
        ask(controller, "summarise", digest=ask(controller, "sending")["digest"])
        assert server.hanging.wait(120)
        while ask(controller, "writing")["total"] == 0:
            pass
        told = ask(controller, "writing")
        assert told["state"] == "writing" and SUMMARY.startswith(told["text"])
        controller.ask({"type": "stop", "what": "summary"}, lambda reply: None)
        told = await_end(controller)
        assert told["state"] == "stopped" and told["sentence"]
        assert controller.model.plan.checkpoint is None and screen.traits["_work"] == {}


def test_a_planted_secret_is_in_nothing_sent_or_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    session = open_demo()
    jobs = make_plan(session, count_tokens(session), "claude-code-analysis", {"cut": "end"}).jobs
    first = next(entry for entry in map(session.__getitem__, jobs[0].entries) if entry.role == "user")
    spoken = first.model_copy(
        update={"blocks": (first.blocks[0].model_copy(update={"text": f"The token is {SECRET}."}),)}
    )
    entries = tuple(spoken if entry is first else entry for entry in session.entries)
    planted = session.model_copy(update={"entries": entries})
    for controller, screen in _open(planted):
        with Loopback() as server:
            serve(server, monkeypatch)
            seen = ask(controller, "sending")
            assert SECRET not in repr(seen) and seen["redacted"]
            ask(controller, "summarise", digest=seen["digest"])
            assert await_end(controller)["state"] == "done"
            assert SECRET.encode() not in server.bytes and KEY.encode() not in server.bytes
            assert SECRET not in repr(screen.traits) and KEY not in repr(screen.traits)


def test_nothing_goes_where_it_was_not_seen_to_go(
    opened: tuple[Controller, Screen], monkeypatch: pytest.MonkeyPatch
) -> None:
    controller, _ = opened
    with Loopback() as server, Loopback() as other:
        serve(server, monkeypatch)
        seen = ask(controller, "sending")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", other.url)
        told = ask(controller, "summarise", digest=seen["digest"])
        assert told["state"] == "failed" and told["sentence"]
        assert not server.received and not other.received


def test_hostile_text_is_shown_and_counted_but_never_acts(opened: tuple[Controller, Screen]) -> None:
    controller, screen = opened
    text = "<script>alert(1)</script>\x1b[31m\u202e\ud83d\x00" + "word " * 9_000
    ask(controller, "summarise", by="pasted", text=text)
    told = await_end(controller)
    assert told["state"] == "done" and told["total"] == len(text.strip())
    first = 0
    while first < told["total"]:
        part = ask(controller, "writing", **{"from": first})
        assert not set("\x1b\u202e\ud83d\x00") & set(part["text"])
        first += 20_000
    for value in (told, screen.traits["_plan"], controller.reply({"type": "summary", "id": "2", "place": 0})):
        json.dumps(value, ensure_ascii=False).encode()
    assert "alert(1)" not in make(controller.model).html


def test_what_was_stopped_before_it_was_sent_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    gate, waits = threading.Event(), threading.Event()
    gate.set()

    def count(texts: Sequence[str]) -> Ints:
        waits.set()
        assert gate.wait(120)
        return LENGTH.count(texts)

    session = open_demo()
    model = WorkbenchModel(
        session, "claude-code-analysis", ledger=count_tokens(session, Counter("gated", "Gated", count))
    )
    model.answer({"cut": "end", "at": ""})
    tasks = begin()
    summary_writer = SummaryWriter(tasks, lambda plan, checkpoint: None)
    asked = {"by": "model", "model": MODEL, "focus": "", "keep": []}
    with Loopback() as server:
        serve(server, monkeypatch)
        seen = summary_writer.preview(model.plan, asked)
        gate.clear()
        waits.clear()
        summary_writer.write(model.plan, {**asked, "digest": seen["digest"]})
        assert waits.wait(120)
        assert tasks.stop("summary")
        gate.set()
        assert tasks.wait("summary", 120)
        assert summary_writer.describe(model)["state"] == "stopped"
        assert not server.received
