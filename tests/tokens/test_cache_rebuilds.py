"""Why a cache was rebuilt: each cause in a made session, and a recount from raw rows of real ones."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from inspector import open_session, price_session
from inspector.session.entries import Entry, Usage
from inspector.session.session import Session
from inspector.tokens import find_cache_rebuilds, sum_cache_rebuilds
from tests.shared import SHARED

OPUS = "claude-opus-4-5"


def make(*steps: tuple[int, int, int, str], life: str = "5m", between: str = "") -> Session:
    """Replies as (minute, read, written, model), each asked for half a minute before."""
    entries: list[Entry] = []
    for number, (minute, read, written, model) in enumerate(steps):
        if between and number == len(steps) - 1:
            entries.append(Entry(id="cut", parent=entries[-1].id, kind=between))
        parent = entries[-1].id if entries else None
        asked = f"2026-01-01T{10 + minute // 60}:{minute % 60:02}:00Z"
        told = f"2026-01-01T{10 + minute // 60}:{minute % 60:02}:30Z"
        entries.append(Entry(id=f"q{number}", parent=parent, role="user", timestamp=asked))
        hour = written if life == "1h" else 0
        usage = Usage(input=5, cache_read=read, cache_write=written, cache_write_1h=hour, output=9)
        answer = {"id": f"a{number}", "parent": f"q{number}", "role": "assistant"}
        entries.append(Entry(**answer, timestamp=told, model=model, usage=usage))
    return Session(format="claude-code", entries=tuple(entries), leaf=entries[-1].id)


FIRST = (0, 0, 50_000, OPUS)


@pytest.mark.parametrize(
    ("session", "cause"),
    [
        (make(FIRST, (6, 0, 51_000, OPUS)), "expired"),
        (make(FIRST, (4, 0, 51_000, OPUS)), "prefix"),
        (make(FIRST, (6, 0, 51_000, OPUS), life="1h"), "prefix"),
        (make(FIRST, (61, 0, 51_000, OPUS), life="1h"), "expired"),
        (make(FIRST, (61, 0, 51_000, "claude-sonnet-4-5")), "model"),
        (make(FIRST, (61, 9_000, 12_000, OPUS), between="compaction"), "compaction"),
        (make((0, 0, 50_000, "gpt-5"), (9, 0, 51_000, "gpt-5")), "untold"),
    ],
)
def test_each_rebuild_has_its_cause(session: Session, cause: str) -> None:
    (found,) = find_cache_rebuilds(session)
    assert (found.entry, found.cause, found.left) == ("a1", cause, 50_000)
    assert found.again == min(50_000 - found.read, 12_005 if cause == "compaction" else 51_005)
    assert any("The cache was rebuilt 1 time" in note for note in price_session(session).notes)


def test_what_it_cost_is_the_write_above_the_read() -> None:
    """Opus 4.5: 5 USD a million, 1.25 times that to write and a tenth to read."""
    (found,) = find_cache_rebuilds(make(FIRST, (6, 0, 50_000, OPUS)))
    share = (5 + 50_000 * 1.25) / 50_005 - 0.1
    assert found.cost == pytest.approx(50_000 * 5e-6 * share, rel=1e-4)
    assert sum_cache_rebuilds([found, found])["expired"] == (2, 100_000, pytest.approx(2 * found.cost))


SESSIONS = SHARED / "sessions"
RECOUNTED = (
    "claude-code--entireio-cli/cc-2auto-1519l.jsonl",
    "claude-code--entireio-cli/cc-3auto-compactions-893l.jsonl",
    "claude-code--entireio-cli/cc-auto+manual-1161l.jsonl",
    "growth-series--entireio-cli/step08-1350l.jsonl",
)


def recount(path: Path) -> list[tuple[int, str]]:
    """(tokens that were cached and are not read, why), from raw rows in file order."""
    replies: dict[str, tuple[dict[str, Any], str, float, bool]] = {}
    compacted, asked = False, 0.0
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        message = row.get("message") or {}
        time = datetime.fromisoformat(row.get("timestamp") or "1970-01-01T00:00:00Z").timestamp()
        compacted = compacted or row.get("subtype") == "compact_boundary"
        if row.get("isSidechain"):
            continue
        if row.get("type") == "user":
            asked = time
        if row.get("type") != "assistant" or not message.get("usage") or message["model"] == "<synthetic>":
            continue
        if message["id"] not in replies:
            replies[message["id"]] = message["usage"], message["model"], asked, compacted
            compacted = False
    missing, left, life, before, last = [], 0, 300, "", 0.0
    for usage, model, asked, compacted in replies.values():
        read = usage.get("cache_read_input_tokens", 0)
        if left - read > max(1_024, 0.05 * left):
            cause = "expired" if asked - last >= life else "prefix"
            cause = "model" if model != before else cause
            missing.append((left - read, "compaction" if compacted else cause))
        written = usage.get("cache_creation_input_tokens", 0)
        hours = (usage.get("cache_creation") or {}).get("ephemeral_1h_input_tokens", 0)
        left, life, before, last = read + written, 3_600 if hours else 300, model, asked
    return sorted(missing)


@pytest.mark.skipif(not SESSIONS.exists(), reason="the shared transcripts are not beside this checkout")
@pytest.mark.parametrize("name", RECOUNTED)
def test_rebuilds_are_those_of_a_recount_from_raw_rows(name: str) -> None:
    session = open_session(SESSIONS / name)
    found = find_cache_rebuilds(session)
    assert sorted((one.left - one.read, one.cause) for one in found) == recount(SESSIONS / name)
