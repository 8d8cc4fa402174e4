"""Why a cache was built anew: each cause in a made session, and a recount from raw rows of real ones."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

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
        entries.append(
            Entry(
                id=f"a{number}",
                parent=f"q{number}",
                role="assistant",
                timestamp=told,
                model=model,
                usage=usage,
            )
        )
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
    assert any("The cache was built anew 1 time" in note for note in price_session(session).notes)


def test_a_cache_that_is_read_is_no_rebuild_and_neither_is_a_short_one() -> None:
    assert find_cache_rebuilds(make(FIRST, (30, 50_000, 1_000, OPUS))) == []
    assert find_cache_rebuilds(make(FIRST, (1, 49_000, 2_000, OPUS))) == []
    assert find_cache_rebuilds(make((0, 0, 900, OPUS), (9, 0, 1_000, OPUS))) == []
    assert not any("built anew" in note for note in price_session(make(FIRST)).notes)


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


def recount(path: Path) -> dict[str, int]:
    """{id of the reply's message: tokens that were cached and are not read}, from raw rows in file order."""
    usages: dict[str, tuple[dict[str, int], float]] = {}
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        message = row.get("message") or {}
        if row.get("type") != "assistant" or row.get("isSidechain") or not message.get("usage"):
            continue
        if message.get("model") != "<synthetic>":
            time = datetime.fromisoformat(row["timestamp"]).timestamp()
            usages.setdefault(message["id"], (message["usage"], time))
    missing, left = {}, 0
    for name, (usage, _) in usages.items():
        read = usage.get("cache_read_input_tokens", 0)
        if left - read > max(1_024, 0.05 * left):
            missing[name] = left - read
        left = read + usage.get("cache_creation_input_tokens", 0)
    return missing


@pytest.mark.skipif(not SESSIONS.exists(), reason="the shared transcripts are not beside this checkout")
@pytest.mark.parametrize("name", RECOUNTED)
def test_rebuilds_are_those_of_a_recount_from_raw_rows(name: str) -> None:
    session = open_session(SESSIONS / name)
    found = find_cache_rebuilds(session)
    assert sorted(one.left - one.read for one in found) == sorted(recount(SESSIONS / name).values())
    boundaries = sum(entry.kind == "compaction" for entry in session.entries)
    assert sum(one.cause == "compaction" for one in found) <= boundaries
