"""The workbench's Summarise flow without a browser: a controller, its writer, and a provider on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from inspector import Edits, Workbench, checkpoint_from_text, count_tokens, make_plan, open_demo
from inspector.demo import LOST_PATH
from inspector.planning.assemble import build_context
from inspector.planning.diff.contexts import diff_contexts
from inspector.planning.plan import Plan
from inspector.planning.summary_jobs import Checkpoint
from inspector.session.session import Session
from inspector.session.tree import Ints
from inspector.text import printable
from inspector.tokens.counter import Counter
from inspector.workbench.controller import Controller
from inspector.workbench.model import WorkbenchModel
from inspector.workbench.page.html import make
from inspector.workbench.summary_writer import SummaryWriter
from inspector.workbench.tasks import TaskQueue
from inspector.workbench.written_summaries import WritingState
from tests.exported import read_at, unpack_page
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
    controller = Controller(session, screen, "claude-code")
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


def test_facts_and_the_diff_read_the_summary_that_was_written(opened: tuple[Controller, Screen]) -> None:
    controller, _ = opened
    before = controller.model.plan
    assert before.trace[LOST_PATH].outcome == "quoted"
    lost = next(one.fact.form for one in before.trace if one.stood and one.outcome == "absent")
    ask(controller, "summarise", by="pasted", text=f"All that matters is `{lost}`.")
    assert await_end(controller)["state"] == "done"
    plan = controller.model.plan
    assert (plan.trace[lost].outcome, plan.trace[lost].tier) == ("quoted", "planned")
    assert plan.trace[LOST_PATH].outcome == "absent"
    assert "The summary by pasted" in plan.trace[LOST_PATH].why()
    contexts = [build_context(each.session, each) for each in (before, plan)]
    assert any(lost in piece.block.text for piece in contexts[1].pieces if piece.summary)
    assert "All that matters" in repr(diff_contexts(*contexts).rows)


def test_a_summary_goes_with_its_cut_and_comes_back_with_it(opened: tuple[Controller, Screen]) -> None:
    controller, screen = opened
    ask(controller, "summarise", by="pasted", text="All is well.")
    assert await_end(controller)["here"]
    controller.set_inputs({"pins": [f"{controller.model.plan.jobs[-1].entries[0]}/0"]}, 1)
    told = ask(controller, "writing", **{"from": 0})
    assert controller.model.plan.checkpoint is None and not told["here"] and told["cut"] == "end"
    controller.set_inputs({"pins": []}, 2)
    assert controller.model.plan.checkpoint is not None and ask(controller, "writing")["here"]
    ask(controller, "unsummarise")
    assert controller.model.plan.checkpoint is None and screen.traits["_plan"]["summary"] is None


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
        assert told["state"] == "failed" and "Look again" in told["sentence"]
        assert not server.received


@pytest.mark.parametrize("by", ["Model", "MODEL", " model", "claude", "", None, 7, ["model"]])
def test_only_one_of_the_writers_by_its_exact_name_writes(
    monkeypatch: pytest.MonkeyPatch, by: object
) -> None:
    """An unknown name never selects a model, whatever the host."""
    with Loopback() as provider:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", provider.url)
        for controller, _ in _open(open_demo()):
            digest = ask(controller, "sending")["digest"]
            for kind in ("sending", "summarise"):
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
        assert told["state"] == "stopped" and "nothing of it was kept" in told["sentence"]
        assert controller.model.plan.checkpoint is None and screen.traits["_work"] == {}


def test_a_planted_secret_is_in_nothing_sent_or_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    session = open_demo()
    jobs = make_plan(session, count_tokens(session), "claude-code", {"cut": "end"}).jobs
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


def test_a_plan_with_a_summary_is_a_plan_like_any_other() -> None:
    session = open_demo()
    plan = make_plan(session, count_tokens(session), "flue", {"cut": "end"})
    filled = plan.with_summary(checkpoint_from_text("All is well.", plan))
    assert plan.place is not None
    table = filled.cut_table
    assert int(table.total[plan.place]) == filled.after
    parts = int(table.sections[plan.place].sum()) + int(table.outside[plan.place].sum())
    assert parts == filled.after
    assert (table.total != plan.cut_table.total).sum() == 1
    assert filled.with_summary(None) != filled and filled.with_summary(None).after == plan.after
    names = {"session": session, "ledger": plan.ledger, "checkpoint": filled.checkpoint}
    made = eval(filled.recipe, {**names, "make_plan": make_plan, "Edits": Edits})
    assert (made.after, made.recipe) == (filled.after, filled.recipe)


def test_an_exported_page_shows_the_summary_that_was_written(opened: tuple[Controller, Screen]) -> None:
    controller, _ = opened
    words = f"All that matters is the token {SECRET}."
    ask(controller, "summarise", by="pasted", text=words)
    assert await_end(controller)["here"]
    page = make(controller.model, policies=[])
    assert SECRET not in page.html
    held, _ = unpack_page(page.html)
    place, policy = str(controller.model.plan.place), held["plans"]["claude-code"]
    total, *runs = policy["summaries"][place]
    spans = zip(runs[::2], runs[1::2], strict=True)
    text = "\n".join(line for first, n in spans for line in held["lines"][first : first + n])
    assert text.startswith("All that matters is the token [redacted") and total > 0
    assert ["written by", "pasted"] in policy["written"][place]
    drawn = read_at(policy, policy["at"]["places"].index(int(place)))
    assert drawn["summary"]["by"] == "pasted"


def test_what_is_done_cannot_be_stopped_any_more() -> None:
    model, stopped = WorkbenchModel(open_demo(), "claude-code"), list[bool]()
    model.answer({"cut": "end", "at": ""})

    def adopt(plan: Plan, checkpoint: Checkpoint | None) -> None:
        stopped.append(tasks.stop("summary"))
        # Not done before it stands.
        assert summary_writer.describe(model)["state"] == "writing"
        model.adopt_summary(plan, checkpoint)

    tasks = begin()
    summary_writer = SummaryWriter(tasks, adopt)
    summary_writer.write(model.plan, {"by": "pasted", "text": "All is well."})
    assert tasks.wait("summary", 120)
    told = summary_writer.describe(model)
    assert (told["state"], told["here"], told["text"], stopped) == ("done", True, "All is well.", [False])


def test_of_many_that_begin_at_once_one_is_done() -> None:
    model = WorkbenchModel(open_demo(), "claude-code")
    model.answer({"cut": "end", "at": ""})

    def adopt(plan: Plan, checkpoint: Checkpoint | None) -> None:
        model.adopt_summary(plan, checkpoint)

    tasks = begin()
    summary_writer = SummaryWriter(tasks, adopt)
    for _ in range(5):
        asked = [{"by": "pasted", "text": f"Text {number}."} for number in range(8)]
        threads = [threading.Thread(target=summary_writer.write, args=(model.plan, one)) for one in asked]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert tasks.wait("summary", 120)
        told = summary_writer.describe(model)
        assert (told["state"], told["here"]) == ("done", True)


def test_a_wish_that_is_refused_ends_what_is_being_written(
    opened: tuple[Controller, Screen], monkeypatch: pytest.MonkeyPatch
) -> None:
    controller, _ = opened
    with Loopback(Cue(fault="hangs", after=5)) as server:
        serve(server, monkeypatch)
        ask(controller, "summarise", digest=ask(controller, "sending")["digest"])
        assert server.hanging.wait(120)
        assert ask(controller, "summarise", digest="0" * 64)["state"] == "failed"
        controller.wait_for_summary(10)
        assert ask(controller, "unsummarise")["state"] == "none"


def test_nothing_goes_where_it_was_not_seen_to_go(
    opened: tuple[Controller, Screen], monkeypatch: pytest.MonkeyPatch
) -> None:
    controller, _ = opened
    with Loopback() as server, Loopback() as other:
        serve(server, monkeypatch)
        seen = ask(controller, "sending")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", other.url)
        told = ask(controller, "summarise", digest=seen["digest"])
        assert told["state"] == "failed" and "Look again" in told["sentence"]
        assert not server.received and not other.received


def test_an_address_is_shown_without_the_password_in_it(
    opened: tuple[Controller, Screen], monkeypatch: pytest.MonkeyPatch
) -> None:
    controller, _ = opened
    for address, host in (
        ("https://me:hunter22@proxy.example:8443/v1?key=hunter22", "proxy.example:8443"),
        ("me:hunter22@proxy.example:8443", "proxy.example:8443"),
        ("http://[::1:hunter22", "[::1:hunter22"),
        (" ", "api.anthropic.com"),
    ):
        monkeypatch.setenv("ANTHROPIC_BASE_URL", address)
        seen = ask(controller, "sending")
        assert seen["host"] == host
        assert "me:hunter22" not in repr(seen)


def test_a_file_that_was_written_anew_is_not_sent_unseen(monkeypatch: pytest.MonkeyPatch) -> None:
    session = open_demo()
    model = WorkbenchModel(session, "claude-code")
    model.answer({"cut": "end", "at": ""})
    tasks = begin()
    summary_writer = SummaryWriter(tasks, lambda plan, checkpoint: None)
    asked = {"by": "model", "model": MODEL, "focus": "", "keep": []}
    with Loopback() as server:
        serve(server, monkeypatch)
        seen = summary_writer.preview(model.plan, asked)
        read = map(session.__getitem__, model.plan.jobs[0].entries)
        first = next(entry for entry in read if entry.role == "user" and len(entry.blocks) == 1)
        block = first.blocks[0].model_copy(update={"text": "Never seen."})
        said = first.model_copy(update={"blocks": (block,)})
        entries = tuple(said if entry is first else entry for entry in session.entries)
        model.follow(session.model_copy(update={"entries": entries}))
        model.answer({})
        summary_writer.write(model.plan, {**asked, "digest": seen["digest"]})
        assert tasks.wait("summary", 120)
        told = summary_writer.describe(model)
        assert told["state"] == "failed" and "Look again" in told["sentence"]
        assert not server.received


def test_of_names_to_be_left_in_those_that_are_gone_take_no_other_along() -> None:
    session = open_demo()
    plan = make_plan(session, count_tokens(session), "claude-code", {"cut": "end"})
    first = next(entry for entry in map(session.__getitem__, plan.jobs[0].entries) if entry.role == "user")
    spoken = first.model_copy(
        update={"blocks": (first.blocks[0].model_copy(update={"text": f"The token is {SECRET}."}),)}
    )
    entries = tuple(spoken if entry is first else entry for entry in session.entries)
    for controller, _ in _open(session.model_copy(update={"entries": entries})):
        (found,) = ask(controller, "sending")["redacted"]
        told = ask(controller, "sending", keep=[found["name"], "password-77"])
        assert (told["kept"], told["redacted"]) == ([found["name"]], [])


def test_each_cut_tells_of_its_own_summary(opened: tuple[Controller, Screen]) -> None:
    controller, _ = opened
    legal = [point.entry for point in controller.model.plan.cuts if point.legal and point.place > 4]
    texts = {"end": "Of the end.", legal[0]: "Of the beginning."}
    for cut, text in texts.items():
        controller.set_inputs({"cut": cut}, 1)
        ask(controller, "summarise", by="pasted", text=text)
        assert await_end(controller)["here"]
    for cut, text in texts.items():
        controller.set_inputs({"cut": cut}, 2)
        told = ask(controller, "writing")
        assert (told["text"], told["here"], told["cut"]) == (text, True, cut)
        assert f"{controller.model.plan.summary_tokens:,} tokens" in told["sentence"] and told["findings"]
    made = checkpoint_from_text("By hand.", controller.model.plan)
    controller.adopt_summary(controller.model.plan, made)
    told = ask(controller, "writing")
    # Nobody asked the writer for this one.
    assert (told["state"], told["text"]) == ("none", "")


def test_a_summary_that_is_done_takes_no_sentence_back(opened: tuple[Controller, Screen]) -> None:
    controller, screen = opened
    screen(controller.set_inputs({"cut": "nowhere"}, 1))
    assert "nowhere" in screen.traits["_error"]
    ask(controller, "summarise", by="pasted", text="All is well.")
    assert await_end(controller)["here"]
    assert "nowhere" in screen.traits["_error"]


@pytest.mark.parametrize(("text", "words"), [(" \n", "no words"), ("x" * 2_000_001, "2,000,000")])
def test_a_text_that_cannot_be_taken_gets_a_sentence(
    opened: tuple[Controller, Screen], text: str, words: str
) -> None:
    controller, _ = opened
    ask(controller, "summarise", by="pasted", text=text)
    told = await_end(controller)
    assert told["state"] == "failed" and words in told["sentence"]


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
    assert "alert(1)" not in make(controller.model, policies=[]).html


def test_nobody_waits_for_ever_where_a_counter_breaks_down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "excepthook", lambda args: None)

    class Panic(BaseException):
        pass

    def count(texts: Sequence[str]) -> Ints:
        if "break" in texts:
            raise Panic("a stack overflow")
        return LENGTH.count(texts)

    session = open_demo()
    model = WorkbenchModel(
        session, "claude-code", ledger=count_tokens(session, Counter("breaking", "Breaking", count))
    )
    model.answer({"cut": "end", "at": ""})
    tasks = begin()
    summary_writer = SummaryWriter(tasks, lambda plan, checkpoint: None)
    summary_writer.write(model.plan, {"by": "pasted", "text": "break"})
    assert tasks.wait("summary", 120)
    told = summary_writer.describe(model)
    assert told["state"] == "failed" and "a stack overflow" in told["sentence"]


def test_a_models_name_that_acts_is_not_offered() -> None:
    session = open_demo().model_copy(update={"model": "claude-opus-4-5\u202e\x1b[31m"})
    for controller, _ in _open(session):
        told = ask(controller, "writing")
        assert all(printable(name) == name for name in told["models"])
        assert told["model"] == told["models"][0]


def test_a_plan_with_a_summary_is_shown_with_it() -> None:
    session = open_demo()
    plan = make_plan(session, count_tokens(session), "flue", {"cut": "end"})
    filled = plan.with_summary(checkpoint_from_text("All is well.", plan))
    wb = Workbench(filled)
    assert (wb.plan.after, wb.plan.checkpoint) == (filled.after, filled.checkpoint)
    assert wb._plan["summary"]["by"] == "pasted"
    wb.close()


def test_what_was_stopped_before_it_was_sent_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    gate, waits = threading.Event(), threading.Event()
    gate.set()

    def count(texts: Sequence[str]) -> Ints:
        waits.set()
        assert gate.wait(120)
        return LENGTH.count(texts)

    session = open_demo()
    model = WorkbenchModel(
        session, "claude-code", ledger=count_tokens(session, Counter("gated", "Gated", count))
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


def test_answers_of_one_kind_that_come_side_by_side_are_all_shown() -> None:
    plan = make_plan(open_demo(), count_tokens(open_demo()), "claude-code", {"cut": "end"})
    kind = plan.jobs[0].kind
    parts = {("turn_prefix", 3): "The turn.", (kind, 1): "One.", (kind, 2): "Two.", (kind, 4): ""}
    assert WritingState("writing", plan=plan, parts=parts).text == "One.\n\nTwo.\n\nThe turn."
