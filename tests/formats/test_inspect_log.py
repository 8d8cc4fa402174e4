"""Inspect's logs, as JSON and as archives, beside counts of their events that share no code with it."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from inspector import open_session, read_session
from inspector.session.blocks import ToolOutput
from tests.shared import SHARED

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
