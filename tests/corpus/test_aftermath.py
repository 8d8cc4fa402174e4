"""What followed recorded compactions, by harness: counted from raw rows, and summed as the rows say."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from inspector import find_regret, open_demo, scan
from inspector.demo import read_demo
from inspector.tokens.ledger import count_tokens
from tests.corpus.corpus_files import write_rows


def compacted(after: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A session of Claude Code's: a message, a compaction, and calls after it."""
    rows: list[dict[str, Any]] = []

    def add(kind: str, content: Any, **more: Any) -> None:
        name, last = f"e{len(rows)}", rows[-1]["uuid"] if rows else None
        message = {"role": kind, "content": content}
        if kind == "assistant":
            message |= {"id": f"m{name}", "model": "claude-opus-4-5"}
            message["usage"] = {"input_tokens": 1000, "output_tokens": 9}
        row = {"type": kind, "uuid": name, "parentUuid": last, "sessionId": "s", "version": "2.1.9"}
        rows.append(row | {"message": message} | more)

    add("user", "Look at /w/data/raw.csv.")
    add("assistant", [{"type": "text", "text": "Yes."}])
    told = {"trigger": "auto", "preTokens": 1000}
    rows.append(
        {"type": "system", "subtype": "compact_boundary", "uuid": "b", "parentUuid": None, "sessionId": "s"}
        | {"logicalParentUuid": "e1", "compactMetadata": told, "content": "compacted", "version": "2.1.9"}
    )
    add("user", "They talked.", isCompactSummary=True)
    for number, given in enumerate(after):
        add("assistant", [{"type": "tool_use", "id": f"t{number}", "name": "Edit", "input": given}])
        add("user", [{"type": "tool_result", "tool_use_id": f"t{number}", "content": "done"}])
    return rows


def test_what_followed_a_compaction_is_summed_over_sessions(tmp_path: Path) -> None:
    edit = {"file_path": "/w/data/raw.csv", "old_string": "1", "new_string": "2"}
    other = edit | {"file_path": "/w/src/a.py"}
    write_rows(tmp_path / "one.jsonl", compacted([other, edit, edit]))
    write_rows(tmp_path / "two.jsonl", compacted([other]))
    table = scan(tmp_path, [], workers=0)
    (row,) = table.aftermath()
    assert (row.harness, row.version, row.trigger) == ("claude-code", "2.1.9", "auto")
    assert (row.sessions, row.compactions, row.unedited) == (2, 2, 0)
    assert (row.edit_replies, row.read_again) == (0, 0)
    assert "After the recorded compactions, until the next" in repr(table)


def test_what_was_needed_again_is_counted_by_kind(tmp_path: Path) -> None:
    """The demo's files read again after its compaction, from raw rows: those that `Read` had shown before."""
    (tmp_path / "demo.jsonl").write_bytes(read_demo())
    (row,) = (row for row in scan(tmp_path, [], workers=0) if row["policy"] == "recorded")
    session = open_demo()
    kinds = Counter(one.fact.kind for one in find_regret(session, session.facts, count_tokens(session)))
    assert row["regrets"] == sum(kinds.values())
    assert (row["read_again"], row["run_again"]) == (kinds["file"], kinds["command"])
    assert (row["met_again"], row["said_again"]) == (kinds["error"], kinds["constraint"])
    lines = [json.loads(line) for line in read_demo().decode().splitlines()]
    at = next(n for n, line in enumerate(lines) if line.get("subtype") == "compact_boundary")
    shown: tuple[set[str], set[str]] = (set(), set())
    for number, line in enumerate(lines):
        content = line.get("message", {}).get("content")
        for block in content if isinstance(content, list) and not line.get("isSidechain") else []:
            if block.get("type") == "tool_use" and block["name"] == "Read":
                shown[number > at].add(block["input"]["file_path"])
    assert row["read_again"] >= len(shown[0] & shown[1]) > 0
