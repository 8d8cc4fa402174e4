"""New session files: what is shown is what is written, and no file that exists is touched."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector import Session, Workbench, compact, open_session, read_session, reopen_session
from inspector.formats.exports.writers import compare_contexts
from tests.shared import SHARED, needs_shared

PI = SHARED / "sessions" / "pi--pi-mono" / "pi-before-compaction.jsonl"
CODEX = SHARED / "sessions" / "codex--agentv" / "codex-3compacted-2302l.jsonl"


def ask(workbench: Workbench, question: str, **query: Any) -> dict[str, Any]:
    """As the browser asks, through the controller's own door."""
    replies: list[dict[str, Any]] = []
    controller = workbench._controller
    controller.begin()
    assert controller.ask({"type": question, "id": "1", **query}, replies.append)
    controller._tasks.wait("query", 120)
    (reply,) = replies
    return reply


def tell(preview: dict[str, Any]) -> dict[str, str]:
    return {line["id"]: line["label"] for line in preview["lines"]}


def write(workbench: Workbench, preview: dict[str, Any]) -> Path:
    reply = ask(workbench, "write_file", name=preview["name"])
    assert reply["type"] == "write_file", reply
    return Path(reply["path"])


def test_the_session_that_the_plan_leaves_is_written_as_shown_beside_its_own(file: Path) -> None:
    original = file.read_bytes()
    workbench = Workbench(file, "flue")
    preview = ask(workbench, "preview_file", kind="compacted", at="")
    assert sorted(path.name for path in file.parent.iterdir()) == [file.name], "nothing is written yet"
    told = tell(preview)
    plan = workbench.plan
    assert told["next request"] == f"{plan.before:,} tokens before, {plan.after:,} after"
    assert "no model wrote" in told["summary"]

    place = write(workbench, preview)
    assert (place.parent, place.name) == (file.parent, preview["name"])
    assert told["size"] == f"{place.stat().st_size:,} bytes"
    assert file.read_bytes() == original
    written, session = open_session(place), open_session(file)
    done = compact(plan.session, "flue", ledger=plan.ledger)
    assert not compare_contexts(done.after, written)
    assert (written.id, written.format) == (place.stem, session.format) != (session.id, session.format)
    ids = {row.get("uuid") for row in map(json.loads, original.splitlines())} - {None}
    assert not ids & {row.get("uuid") for row in map(json.loads, place.read_bytes().splitlines())}
    assert written.title == f"{session.title}, compacted by flue"


def test_a_session_is_reopened_after_any_turn_and_around_a_compaction(file: Path) -> None:
    original = file.read_bytes()
    workbench = Workbench(file)
    session = open_session(file)
    first = ask(workbench, "preview_file", kind="reopened", at="")
    assert first["at"] == workbench.moment.leaf
    labels = {place["label"]: place["id"] for place in first["places"]}
    assert {f"after turn {n}" for n in range(1, 22)} <= labels.keys()
    for label in ("after turn 3", "before ◆1, in turn 15", "after ◆1, in turn 15"):
        preview = ask(workbench, "preview_file", kind="reopened", at=labels[label])
        place = write(workbench, preview)
        again, moment = open_session(place), session.at(labels[label])
        assert not compare_contexts(moment, again)
        assert len(again.turns) == len(moment.turns)
        assert again.id == place.stem != session.id
        assert tell(preview)["holds"].startswith(f"{len(moment.turns)} turns, ")
        # The same as what Python writes, but for the ids that are new each time.
        other = open_session(reopen_session(file, labels[label]))
        assert (other.title, len(other.entries)) == (again.title, len(again.entries))
    ((compaction, _), *_) = session.boundaries
    assert labels["after ◆1, in turn 15"] == compaction
    assert labels["before ◆1, in turn 15"] == session[compaction].parent
    assert file.read_bytes() == original


def test_what_cannot_be_written_says_why(file: Path) -> None:
    session: Session = open_session(file)
    loose = Workbench(session, "flue")
    preview = ask(loose, "preview_file", kind="reopened", at="")
    assert preview["problem"] == "This session has no file whose records could be copied."
    assert preview["name"] == ""
    assert ask(loose, "write_file", name="")["type"] == "error"
    gone = Workbench(file, "flue")
    away = file.rename(file.with_name("away.jsonl"))
    preview = ask(gone, "preview_file", kind="reopened", at="")
    assert preview["problem"] == "Its file can no longer be read: No such file or directory."
    assert not ask(gone, "preview_file", kind="compacted", at="")["problem"]
    away.rename(file)
    idle = Workbench(file, "claude-code-analysis", at=session.entries[session.path[5]].id)
    assert ask(idle, "preview_file", kind="compacted", at="")["problem"]
    assert ask(idle, "preview_file", kind="nonsense", at="")["type"] == "error"


@needs_shared
@pytest.mark.parametrize("path", [PI, CODEX], ids=["pi", "codex"])
def test_other_harnesses(tmp_path: Path, path: Path) -> None:
    file = tmp_path / path.name
    file.write_bytes(path.read_bytes())
    workbench = Workbench(file, "flue", cut="end")
    preview = ask(workbench, "preview_file", kind="compacted", at="")
    assert preview["problem"] == "", preview
    written = read_session(write(workbench, preview).read_bytes())
    plan = workbench.plan
    done = compact(plan.session, plan.policy, ledger=plan.ledger, edits=plan.edits)
    lost = compare_contexts(done.after, written)
    told = " ".join(line["label"] for line in preview["lines"] if line["id"] == "not in it")
    assert not lost or told, lost
    assert written.format == open_session(file).format
