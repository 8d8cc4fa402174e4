"""Inspect's logs, as JSON and as archives, beside counts of their events that share no code with it."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from inspector import open_session, read_session
from inspector.session.blocks import Document, Reasoning, ToolCall, ToolOutput
from inspector.session.session import Session
from tests.recount.__main__ import compare
from tests.shared import SHARED
from tests.work import count_calls, limit_work

CASE = Path(__file__).parents[1] / "cases" / "formats" / "inspect.json"
REAL = sorted(
    [*(SHARED / "sessions").glob("inspect--*/*.eval"), *(SHARED / "sessions").glob("inspect--*/log_*.json")]
)


def first_sample(path: Path) -> tuple[dict[str, Any], int]:
    if path.suffix == ".json":
        samples = json.loads(path.read_text("utf-8"))["samples"]
        return samples[0], len(samples)
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name.startswith("samples/")]
        return json.loads(archive.read(names[0])), len(names)


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


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
def test_a_real_log_holds_what_its_events_hold(path: Path) -> None:
    sample, count = first_sample(path)
    session = open_session(path)
    assert session.format == "inspect"
    assert session.records == len(sample["events"])
    assert bool(session.warnings) == (count > 1)
    calls = [event for event in sample["events"] if event["event"] == "model"]
    assert sum(entry.role == "assistant" for entry in session.entries) >= len(calls)
    told = [event["output"]["usage"] for event in calls if event["output"].get("usage")]
    usage = [entry.usage for entry in session.entries if entry.usage]
    assert sum(each.input for each in usage) == sum(each["input_tokens"] for each in told)
    assert sum(each.output for each in usage) == sum(each["output_tokens"] for each in told)
    assert session.unknown == 0
    spoken = [message for message in sample["messages"] if message["role"] != "system"]
    assert len(session.live) == len(spoken)


def test_a_sample_without_events_is_its_messages_and_the_usage_of_its_output() -> None:
    said = [{"role": "user", "content": "High tide?"}, {"role": "assistant", "content": "At six."}]
    output = {
        "model": "demo-1",
        "choices": [{"message": said[1], "stop_reason": "stop"}],
        "usage": {"input_tokens": 9, "output_tokens": 4, "total_tokens": 13},
    }
    sample = {"id": 1, "epoch": 1, "input": "High tide?", "messages": said, "output": output}
    session = read_session({"version": 2, "status": "success", "eval": {"task": "t"}, "samples": [sample]})
    assert [(entry.role, entry.text) for entry in session.entries] == [
        ("user", "High tide?"),
        ("assistant", "At six."),
    ]
    usage = session.entries[1].usage
    assert usage is not None and (usage.prompt, usage.output) == (9, 4)
    assert session.model == "demo-1"


def test_an_output_tells_its_tool_and_that_it_failed() -> None:
    failed = {"role": "tool", "tool_call_id": "c1", "function": "bash", "content": "late"}
    messages = [
        {"role": "user", "content": "Go."},
        failed | {"error": {"type": "timeout", "message": "late"}},
        failed | {"tool_call_id": "c2"},
    ]
    sample = {"id": 1, "epoch": 1, "messages": messages}
    session = read_session({"version": 2, "status": "success", "eval": {"task": "t"}, "samples": [sample]})
    outputs = [block for entry in session.entries for block in entry.blocks if isinstance(block, ToolOutput)]
    assert [(block.name, block.is_error) for block in outputs] == [("bash", True), ("bash", False)]


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
SUMMARY = "The question is when high tide is; the table says at six."


def test_the_call_that_wrote_a_summary_is_the_compactions_own() -> None:
    """What asks for it is no turn, its reply no answer, and what it took is the compaction's."""
    prompt = say("user", "Summarise the conversation so far, in every detail.")
    written = say("assistant", f"<analysis>\nShort.\n</analysis>\n<summary>\n{SUMMARY}\n</summary>")
    shown = say(
        "user", f"So far:\n<previous_summary>\n{SUMMARY}\n</previous_summary>", metadata={"summary": True}
    )
    told = {"event": "compaction", "type": "summary", "tokens_before": 900, "tokens_after": 90}
    done = say("assistant", "At six.")
    session = read_log(
        [
            call([ASKED], LOOKED),
            call([ASKED, LOOKED, FOUND, prompt], written, used=800),
            told,
            call([ASKED, shown], done, used=95),
        ]
    )
    assert len(session.turns) == 1
    ((name, boundary),) = session.boundaries
    assert (boundary.trigger, boundary.tokens_before, boundary.summary) == ("summary", 900, shown["content"])
    assert session[name].usage is not None and session[name].usage.prompt == 800
    assert session[name].sources[0].line == 3
    assert [entry.text for entry in (session.entries[at] for at in session.live.entries)] == [
        shown["content"],
        ASKED["content"],
        "At six.",
    ]
    apart = [entry.text for entry in session.entries if entry.sidechain]
    assert apart == [prompt["content"], written["content"]]
    assert sum(entry.usage.output for entry in session.entries if entry.usage) == 15
    assert session.records == 4


def test_outputs_that_an_edit_removed_were_cleared_though_what_stands_there_is_longer() -> None:
    short = say("tool", "ok", tool_call_id="c0", function="bash")
    first = say("assistant", "", tool_calls=[{"id": "c0", "function": "bash", "arguments": {}}])
    gone = [{**each, "content": "(Tool result removed)"} for each in (short, FOUND)]
    before = [ASKED, first, short, LOOKED, FOUND]
    events = [
        call(before, say("assistant", "More.")),
        {"event": "compaction", "type": "edit", "tokens_before": 60, "tokens_after": 30},
        call(
            [ASKED, first, gone[0], LOOKED, gone[1], say("assistant", "More.")], say("assistant", "At six.")
        ),
    ]
    ((_, boundary),) = read_log(events).boundaries
    assert (boundary.kind, boundary.cleared, boundary.trigger) == ("micro", ("c0", "c1"), "edit")
    assert boundary.tokens_before == 60
    del events[1]
    ((_, unsaid),) = read_log(events).boundaries
    assert (unsaid.kind, unsaid.cleared) == ("micro", ("c0", "c1"))


def test_an_edit_that_left_out_thoughts_alone_is_in_the_file_too() -> None:
    thought = {"type": "reasoning", "reasoning": "Long. " * 20, "signature": "s"}
    words = {"type": "text", "text": "I look."}
    session = read_log(
        [
            call([ASKED], say("assistant", [thought, words])),
            {"event": "compaction", "type": "edit", "tokens_before": 60, "tokens_after": 30},
            call([ASKED, say("assistant", [words]), say("user", "And?")], say("assistant", "At six.")),
        ]
    )
    ((name, boundary),) = session.boundaries
    assert (boundary.kind, boundary.tokens_before) == ("micro", 60)
    assert name in [session.entries[at].id for at in session.path]


def test_a_compaction_after_which_nothing_is_as_before_is_the_same_conversation() -> None:
    sealed = {"type": "data", "data": {"compaction_metadata": {"encrypted_content": "gAAA"}}}
    after = [say("user", "High tide?"), say("assistant", [sealed])]
    session = read_log(
        [
            call([ASKED], LOOKED),
            {"event": "compaction", "type": "native"},
            call(after, say("assistant", "Six.")),
        ]
    )
    assert len(session.boundaries) == 1
    assert not [entry for entry in session.entries if entry.sidechain]
    (thought,) = [block for entry in session.entries for block in entry.blocks if block.kind == "reasoning"]
    assert isinstance(thought, Reasoning) and (thought.text, thought.encrypted) == ("", "gAAA")


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


def test_older_logs_keep_calls_within_a_tools_event_and_judge_within_a_step() -> None:
    inner = {
        "event": "subtask",
        "name": "z",
        "events": [call([say("user", "z?")], say("assistant", "z."), 7)],
    }
    step = {"event": "step", "action": "begin", "type": "scorer", "name": "match"}
    events = [
        call([ASKED], LOOKED),
        {
            "event": "tool",
            "id": "c1",
            "events": [call([say("user", "sub?")], say("assistant", "s."), 3), inner],
        },
        call([ASKED, LOOKED, FOUND], say("assistant", "At six.")),
        step,
        call([say("user", "Right?")], say("assistant", "C"), 2),
    ]
    session = read_log([], transcript={"events": events, "content": {}})
    assert sum(entry.usage.input for entry in session.entries if entry.usage) == 10 + 3 + 7 + 10 + 2
    assert [entry.text for entry in session.entries if not entry.sidechain][-1] == "At six."
    assert len({entry.sidechain for entry in session.entries if entry.sidechain}) == 3


def test_texts_that_stand_elsewhere_are_found_under_their_older_name_too() -> None:
    asked = say("user", "tc://h1", source="input")
    assert read_log([call([asked], None)], attachments={"h1": "High tide?"}).entries[0].text == "High tide?"
    old = {"events": [call([asked], None)], "content": {"h1": "High tide?"}}
    assert read_log([], transcript=old).entries[0].text == "High tide?"


def test_input_that_holds_what_the_cache_gave_is_told_by_its_sum() -> None:
    usage = {"input_tokens": 1000, "output_tokens": 50, "input_tokens_cache_read": 800}
    first, second = call([ASKED], LOOKED), call([ASKED], LOOKED)
    first["output"]["usage"] = usage | {"total_tokens": 1050}
    second["output"]["usage"] = usage | {"total_tokens": 1850}
    read = [read_log([event]).entries[1].usage for event in (first, second)]
    assert [(each.input, each.cache_read) for each in read if each] == [(200, 800), (1000, 800)]


def test_parts_of_a_reply_are_what_they_are() -> None:
    """Sealed thoughts are no words; a tool that the provider ran is a call and its output."""
    parts = [
        {"type": "reasoning", "reasoning": "gAAAsealed", "redacted": True, "summary": "On tides."},
        {
            "type": "tool_use",
            "id": "w1",
            "name": "web_search",
            "arguments": '{"q": "tide"}',
            "result": "Six.",
        },
    ]
    given = [
        {
            "type": "document",
            "document": "data:application/pdf;base64,JVBERi0=",
            "mime_type": "application/pdf",
        },
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
    assert (asked.name, asked.input, answer.name, answer.text) == (
        "web_search",
        {"q": "tide"},
        "web_search",
        "Six.",
    )
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


def test_what_came_since_the_call_before_is_behind_it() -> None:
    session = read_log(
        [
            call([ASKED], LOOKED),
            call([LOOKED, FOUND], say("assistant", "At six."), input_delta=True),
        ]
    )
    assert [entry.role for entry in session.entries] == ["user", "assistant", "tool", "assistant"]


def test_what_came_since_is_behind_the_same_conversation_s_call(tmp_path: Path) -> None:
    """A sub-agent's calls stand between two of the session's; it begins behind what the session sent."""
    inner = {"input_delta": True, "span_id": "t"}
    events = [
        call([ASKED], LOOKED),
        span("t", "tool"),
        call([say("user", "Find the table.")], say("assistant", "Where?"), span_id="t"),
        call([say("assistant", "Where?"), say("user", "Here.")], say("assistant", "Found."), **inner),
        call([LOOKED, FOUND], say("assistant", "At six."), input_delta=True),
    ]
    file = tmp_path / "log.json"
    file.write_text(json.dumps(make_log(events)), "utf-8")
    session = open_session(file)
    assert session.boundaries == ()
    assert [session.entries[at].role for at in session.path] == ["user", "assistant", "tool", "assistant"]
    assert [str(figure) for figure in compare(file, session) if not figure.same] == []


def test_a_pool_s_messages_are_read_once_however_often_they_are_sent() -> None:
    """Each request sends all messages before it. The work grows with the messages, not with their square."""

    def read(requests: int) -> None:
        pool, events = [ASKED], []
        for number in range(requests):
            tool_call = {"id": f"c{number}", "function": "bash", "arguments": {"cmd": "ls"}}
            reply = say("assistant", f"Step {number}.", tool_calls=[tool_call])
            events.append(call([], reply, input_refs=[[0, len(pool)]]))
            pool += [reply, say("tool", "a.py " * 20, tool_call_id=f"c{number}", function="bash")]
        session = read_log(events, events_data={"messages": pool, "calls": []})
        assert len(session.entries) == 2 * requests

    with limit_work():
        # Listing the messages of each request takes few calls; reading them all again would be 16 times.
        assert count_calls(lambda: read(500)) < 10 * count_calls(lambda: read(125))


def test_places_of_other_types_are_no_places_and_a_span_may_stand_in_itself(tmp_path: Path) -> None:
    """The other count of the same file holds too: it had run without an end, or into an error."""
    refs = [[0, 1], [0.0, 1.0], ["0", 1], 7, None, [-5, 0]]
    begin = {"event": "span_begin", "id": "s", "type": "agent", "parent_id": "s"}
    events = [begin, call([], say("assistant", "At six."), input_refs=refs, span_id="s")]
    file = tmp_path / "log.json"
    file.write_text(json.dumps(make_log(events, message_pool=[ASKED])), "utf-8")
    session = open_session(file)
    assert [entry.role for entry in session.entries] == ["user", "assistant"]
    assert [str(figure) for figure in compare(file, session) if not figure.same] == []
