"""Inspect's logs, as JSON and as archives, beside counts of their events that share no code with it."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

from inspector import open_session, read_session
from inspector.session.blocks import Document, Reasoning, ToolCall, ToolOutput
from inspector.session.session import Session
from tests.rows import CASES

CASE = CASES / "inspect.json"


def test_a_sample_is_read_from_its_model_events() -> None:
    session = open_session(CASE)
    assert (session.id, session.title, session.model) == ("smp1", "listing", "demo-1")
    assert [entry.role for entry in session.entries[:4]] == ["user", "assistant", "tool", "assistant"]
    assert session.entries[0].text == "List the files; b.py must not be touched."
    assert [block.kind for block in session.entries[1].blocks] == ["reasoning", "text", "tool_call"]
    usage = [entry.usage for entry in session.entries if entry.usage]
    assert [(each.input, each.cache_read, each.output) for each in usage] == [
        (100, 0, 10),
        (30, 90, 5),
        (60, 0, 4),
    ]


def test_a_compaction_event_tells_of_what_the_next_request_begins_with() -> None:
    session = open_session(CASE)
    ((name, boundary),) = session.boundaries
    assert (boundary.trigger, boundary.tokens_before, boundary.tokens_after) == ("summary", 125, 60)
    live = [session.entries[at].text for at in session.live.entries]
    assert live == [
        "Summary: there is a.py; b.py must not be touched.",
        "List the files; b.py must not be touched.",
        "a.py it is.",
    ]
    assert session[name].kind == "compaction"


def test_a_history_that_was_only_cut_back_is_a_compaction_where_the_log_says_so() -> None:
    log = json.loads(CASE.read_text("utf-8"))
    events = log["samples"][0]["events"]
    events[5]["input"] = events[1]["input"]
    assert len(read_session(json.dumps(log).encode()).boundaries) == 1
    del events[4]
    assert not read_session(json.dumps(log).encode()).boundaries


def test_an_archive_is_the_log_of_its_first_sample() -> None:
    log = json.loads(CASE.read_text("utf-8"))
    (sample,) = log.pop("samples")
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("samples/1_epoch_1.json", json.dumps(sample))
        archive.writestr("samples/2_epoch_1.json", json.dumps(sample))
        archive.writestr("header.json", json.dumps(log))
    session = read_session(file.getvalue())
    assert session.entries == open_session(CASE).entries
    assert session.warnings == ("this is sample 1 (epoch 1); 1 other sample is in the file and not read",)


def say(role: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


def call(sent: list[Any], reply: dict[str, Any] | None, used: int = 10, **more: Any) -> dict[str, Any]:
    """A model's call as an event: what it was sent, the reply, and how many tokens it was sent."""
    choices = [{"message": reply, "stop_reason": "stop"}] if reply else []
    usage = {"input_tokens": used, "output_tokens": 5, "total_tokens": used + 5}
    output = {"model": "demo-1", "choices": choices, **({"usage": usage} if reply else {})}
    return {"event": "model", "model": "demo/demo-1", "input": sent, "output": output, **more}


def make_log(events: list[Any], **more: Any) -> dict[str, Any]:
    sample = {"id": "tide", "epoch": 1, "uuid": "u1", "messages": [], "events": events, **more}
    return {"version": 2, "status": "success", "eval": {"task": "t"}, "samples": [sample]}


def read_log(events: list[Any], **more: Any) -> Session:
    return read_session(make_log(events, **more))


ASKED = say("user", "When is high tide? Never read /srv/prod.", source="input")
LOOKED = say(
    "assistant", "I look.", tool_calls=[{"id": "c1", "function": "bash", "arguments": {"cmd": "tide"}}]
)
FOUND = say("tool", "low at noon, high at six " + "." * 80, tool_call_id="c1", function="bash")


def span(name: str, kind: str, parent: str | None = None) -> dict[str, Any]:
    return {"event": "span_begin", "id": name, "span_id": name, "parent_id": parent, "type": kind}


def test_what_runs_inside_a_tools_call_or_judges_stands_apart_however_long_it_is() -> None:
    task = say("user", "Read the notes.")
    notes, more = say("assistant", "Notes read."), say("user", "And?")
    events = [
        span("main", "agent"),
        call([ASKED], LOOKED, span_id="main"),
        span("t1", "tool", "main"),
        span("helper", "agent", "t1"),
        call([ASKED, LOOKED, task], notes, span_id="helper"),
        call([ASKED, LOOKED, task, notes, more], notes, span_id="helper"),
        call([ASKED, LOOKED, task, notes, more, notes, more], notes, span_id="helper"),
        call([ASKED, LOOKED, FOUND], say("assistant", "At six."), span_id="main"),
        span("s1", "scorer"),
        call([say("user", "Is six right?")], say("assistant", "GRADE: C"), span_id="s1"),
    ]
    session = read_log(events)
    main = [entry.text for entry in session.entries if not entry.sidechain]
    assert main == [ASKED["content"], "I look.", "", "At six."]
    assert len(session.turns) == 1 and not session.boundaries
    assert len({entry.sidechain for entry in session.entries if entry.sidechain}) == 2
    assert session.records == len(events)


def test_parts_of_a_reply_are_what_they_are() -> None:
    """Sealed thoughts are no words; a tool that the provider ran is a call and its output."""
    searched = {"id": "w1", "name": "web_search"}
    parts = [
        {"type": "reasoning", "reasoning": "gAAAsealed", "redacted": True, "summary": "On tides."},
        {"type": "tool_use", **searched, "arguments": '{"q": "tide"}', "result": "Six."},
    ]
    pdf = {"document": "data:application/pdf;base64,JVBERi0=", "mime_type": "application/pdf"}
    given = [
        {"type": "document", **pdf},
        {"type": "audio", "audio": "data:audio/wav;base64,UklGRg==", "format": "wav"},
        {"type": "video", "video": "clip.mp4", "format": "mp4"},
    ]
    session = read_log([call([say("user", given)], say("assistant", parts))])
    files, reply = session.entries
    assert [(b.media_type, b.url) for b in files.blocks if isinstance(b, Document)] == [
        ("application/pdf", None),
        ("audio/wav", None),
        ("video/mp4", "clip.mp4"),
    ]
    thought, asked, answer = reply.blocks
    assert isinstance(thought, Reasoning) and isinstance(asked, ToolCall) and isinstance(answer, ToolOutput)
    assert (thought.text, thought.encrypted) == ("On tides.", "gAAAsealed")
    assert (asked.name, asked.input) == ("web_search", {"q": "tide"})
    assert (answer.name, answer.text) == ("web_search", "Six.")
    assert session.unknown == 0


def test_a_log_of_several_samples_opens_each(tmp_path: Path) -> None:
    log = make_log([call([ASKED], LOOKED)])
    log["samples"].append(log["samples"][0] | {"epoch": 2, "events": [call([FOUND], LOOKED)]})
    file = tmp_path / "log.json"
    file.write_text(json.dumps(log), "utf-8")
    assert open_session(file).warnings == (
        "this is sample tide (epoch 1); 1 other sample is in the file and not read",
    )
    second = open_session(file, part="tide_epoch_2.json")
    assert second.warnings == () and second.entries[0].role == "tool"
