"""What was needed again after recorded compactions, counted from raw rows."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from inspector import find_regret, open_demo, scan
from inspector.demo import read_demo
from inspector.tokens.ledger import count_tokens


def test_what_was_needed_again_is_counted_by_kind(tmp_path: Path) -> None:
    """The demo's files read again after its compaction, from raw rows: those that `Read` had shown before."""
    (tmp_path / "demo.jsonl").write_bytes(read_demo())
    (row,) = (row for row in scan(tmp_path, [], workers=0) if row["policy"] == "recorded")
    session = open_demo()
    kinds = Counter(one.fact.kind for one in find_regret(session, session.facts, count_tokens(session)))
    assert row["regrets"] == sum(kinds.values())
    assert (row["read_again"], row["run_again"]) == (kinds["file"], kinds["command"])
    assert row["said_again"] == kinds["constraint"]
    lines = [json.loads(line) for line in read_demo().decode().splitlines()]
    at = next(n for n, line in enumerate(lines) if line.get("subtype") == "compact_boundary")
    shown: tuple[set[str], set[str]] = (set(), set())
    for number, line in enumerate(lines):
        content = line.get("message", {}).get("content")
        for block in content if isinstance(content, list) and not line.get("isSidechain") else []:
            if block.get("type") == "tool_use" and block["name"] == "Read":
                shown[number > at].add(block["input"]["file_path"])
    assert row["read_again"] >= len(shown[0] & shown[1]) > 0
