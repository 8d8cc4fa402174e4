"""What Flue itself would have told of a compaction: `AuditEvent.record_in("flue")` beside real records."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inspector.formats.readers import read_session
from inspector.planning.summary_jobs import Reply, SummaryJob
from inspector.policies.events import AuditEvent
from inspector.replays.engine import replay
from inspector.session.entries import Usage
from inspector.session.session import Session
from inspector.summaries.compaction import compact
from inspector.tokens.ledger import count_tokens
from tests.shared import SHARED, needs_shared

TRACES = SHARED / "vectors" / "flue" / "traces"
RUNS = [
    *("mid-turn-tools", "parallel-tools", "result-compaction-cursor", "shell"),
    *("threshold-twice", "overflow-twice"),
]
WINDOW = 10_000
SETTINGS = {"trigger.reserve_tokens": 1_000, "keep-recent-tokens.tokens": 60}


def records(events: Any) -> list[dict[str, Any]]:
    return [record for event in events if (record := event.record_in("flue")) is not None]


def talk(sizes: list[int], usage: bool = True) -> Session:
    """A prompt and a reply of 200 characters for each size, which the reply's usage reports."""
    rows: list[dict[str, Any]] = []
    for size in sizes:
        rows.append({"role": "user", "content": "u" * 200})
        rows.append({"role": "assistant", "content": "a" * 200})
        if usage:
            rows[-1]["usage"] = {"input_tokens": size - 50, "output_tokens": 50}
    return read_session(rows)


@needs_shared
@pytest.mark.parametrize("name", RUNS)
def test_the_first_compaction_of_a_real_run_has_the_record_that_flue_wrote(name: str) -> None:
    """All but the usage, which a scripted model made up."""
    trace = json.loads((TRACES / f"t-{name}.json").read_text("utf-8"))
    real = [event for event in trace["events"] if event["type"].startswith("compaction")][:2]
    entries, config = trace["finalSession"]["entries"], trace["config"]
    stored = {"version": 3, "metadata": {}, "leafId": entries[-1]["id"], "entries": entries}
    session = read_session(json.dumps(stored).encode(), name, format="flue")
    settings = SETTINGS | {"keep-recent-tokens.tokens": config["compaction"]["keepRecentTokens"]}
    ours = records(replay(session, "flue", window=config["contextWindow"], settings=settings).events)[:2]
    calls = real[1].pop("usage")["input"] // 50
    usage = ours[1].pop("usage")
    assert ours == real
    assert usage.keys() == {"input", "output"} and calls in (1, 2)


@pytest.mark.parametrize("more", [0, 3])
def test_a_later_compaction_tells_what_the_provider_would_report_of_the_replayed_context(more: int) -> None:
    """The file's own usage is of another context by then; the estimate of characters would be far less."""
    sizes = [2_000 + 900 * n for n in range(30)]
    session = talk(sizes)
    run = replay(session, "flue", window=WINDOW + more, settings=SETTINGS)
    first, second = (item for item in run.adopted[:2])
    starts = [record for record in records(run.events) if record["type"] == "compaction_start"]
    assert [one["estimatedTokens"] for one in starts[:2]] == [first.before, second.before]
    assert first.before in sizes and second.before > WINDOW + more - 1_000
    for record, item in zip(starts, run.adopted, strict=True):
        assert record == {"type": "compaction_start", "reason": "threshold", "estimatedTokens": item.before}


@pytest.mark.parametrize("reported", [True, False])
def test_a_real_compaction_tells_counts_and_the_usage_that_its_replies_report(reported: bool) -> None:
    session, told = talk([2_000, 4_000, 8_000]), list[AuditEvent]()
    usage = Usage(input=700, cache_read=20, output=90) if reported else None

    def write(job: SummaryJob, session: Session) -> Reply:
        return Reply(text="So far: three questions.", usage=usage)

    done = compact(
        session, "flue", write, ledger=count_tokens(session), edits={"cut": "m4"}, on_event=told.append
    )
    start, end = records(told)
    assert start == {"type": "compaction_start", "reason": "manual", "estimatedTokens": 8_000}
    # A cut inside a turn is written up in two calls: the history, and the turn's beginning.
    expected = {"usage": {"input": 1_440, "output": 180}} if reported else {}
    assert end == {"type": "compaction", "messagesBefore": 6, "messagesAfter": 4, **expected}
    assert len(done.after.live) == 4
