"""A document over a kernel's comm: opened by one message, answered by others, with no server in between."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

import comm
import pytest
from comm.base_comm import BaseComm

from inspector.demo import read_demo
from inspector.files import open_plan
from inspector.jupyter.comm import TARGET, open_document
from inspector.workbench.payloads.columns import unpack
from tests.longer import write_long


class Recorder(BaseComm):  # type: ignore[misc]
    """A comm that keeps what is sent instead of sending it."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        super().__init__(target_name=TARGET)

    def publish_msg(
        self, msg_type: str, data: Any = None, metadata: Any = None, buffers: Any = None, **_: Any
    ) -> None:
        if msg_type == "comm_msg":
            self.sent.append({**data, "buffers": buffers or []})

    def says(self, **data: Any) -> dict[str, Any]:
        """What the front end says, and the last answer to it."""
        self.handle_msg({"content": {"data": data}})
        return self.sent[-1]

    def traits(self) -> dict[str, Any]:
        """All traits sent so far."""
        known: dict[str, Any] = {}
        for message in self.sent:
            buffers = zip(message.get("data", []), message["buffers"], strict=True)
            known |= {**message.get("traits", {}), **dict(buffers)}
        return known


def opened(**data: Any) -> Recorder:
    recorder = Recorder()
    open_document(recorder, {"content": {"data": data}})
    return recorder


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("root")
    (root / "story.jsonl").write_bytes(read_demo())
    return root


def test_the_target_is_known_once_the_module_is_imported() -> None:
    assert comm.get_comm_manager().targets[TARGET] is open_document


def test_a_document_opens_with_all_its_traits(root: Path) -> None:
    document = opened(path="story.jsonl", root=str(root), wanted={"policy": "pi"})
    (first,) = document.sent
    assert first["traits"]["policy"] == "pi" and first["data"] == ["_scene_data", "_plan_data"]
    traits = document.traits()
    columns = unpack(traits["_scene"]["columns"], traits["_scene_data"])
    assert len(columns["entry_step"]) == len(traits["_scene"]["entryIds"])


def test_every_wish_is_answered_with_its_seq(root: Path) -> None:
    document = opened(path="story.jsonl", root=str(root))
    moved = document.says(wanted={"cut": "end", "_seq": 3})
    assert moved["traits"]["_plan"]["seq"] == 3 and moved["traits"]["cut"] == "end"
    again = document.says(wanted={"mode": "teach", "_seq": 4})
    assert again["traits"] == {"_plan": {**moved["traits"]["_plan"], "seq": 4}}
    refused = document.says(wanted={"cut": "nowhere", "_seq": 5})
    assert "nowhere" in refused["traits"]["_error"] and refused["traits"]["cut"] == "end"
    lived = document.says(wanted={"replay": True, "_seq": 6})
    assert lived["traits"]["_run"]["policy"] == "flue" and lived["data"] == ["_run_data"]


def test_questions_are_answered_by_replies(root: Path) -> None:
    document = opened(path="story.jsonl", root=str(root))
    reply = document.says(ask={"type": "body", "id": "7", "row": 0})["reply"]
    assert (reply["type"], reply["id"]) == ("body", "7") and reply["before"]["text"]
    assert document.says(ask={"type": "dance", "id": "8"})["reply"]["type"] == "error"


def test_questions_about_facts_are_answered_from_behind(root: Path) -> None:
    document = opened(path="story.jsonl", root=str(root), wanted={"cut": "end"})
    place = document.traits()["_plan"]["cut"]["place"]
    document.says(ask={"type": "facts", "id": "9", "place": place, "query": "tide"})
    end = time.monotonic() + 60
    while "reply" not in document.sent[-1] and time.monotonic() < end:
        time.sleep(0.01)
    reply = document.sent[-1]["reply"]
    assert (reply["type"], reply["id"]) == ("facts", "9")
    assert reply["rows"] and all("tide" in row["form"].casefold() for row in reply["rows"])
    document.handle_close({"content": {"data": {}}})
    said = len(document.sent)
    document.says(ask={"type": "regret", "id": "10"})
    assert len(document.sent) == said


def test_a_plan_is_saved_beside_its_session(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "story.jsonl").write_bytes(read_demo())
    document = opened(path="in/story.jsonl", root=str(tmp_path), wanted={"cut": "end"})
    document.says(ask={"type": "save", "id": "11"})
    end = time.monotonic() + 60
    while "reply" not in document.sent[-1] and time.monotonic() < end:
        time.sleep(0.01)
    reply = document.sent[-1]["reply"]
    assert (reply["type"], reply["name"]) == ("save", "story.plan.json")
    plan = open_plan(tmp_path / "in" / "story.plan.json", tmp_path / "in" / "story.jsonl")
    assert plan.edits.cut == "end"
    document.handle_close({"content": {"data": {}}})


def test_an_absolute_path_is_one_below_the_root(root: Path) -> None:
    recorder = opened(root=str(root), path="/story.jsonl")
    assert recorder.sent[0]["traits"]["_error"] == ""
    recorder.handle_close({"content": {"data": {}}})


def test_what_is_no_session_is_told(root: Path) -> None:
    (root / "diary.jsonl").write_text("Dear diary,\n")
    assert "not a session" in opened(path="diary.jsonl", root=str(root)).sent[-1]["error"]
    assert "No such file" in opened(path="nothing.jsonl", root=str(root)).sent[-1]["error"]


@pytest.mark.parametrize("asked", [{"path": 5}, {"path": "story.jsonl", "wanted": [1]}])
def test_what_makes_no_sense_is_told_too(root: Path, asked: dict[str, Any]) -> None:
    assert [list(message) for message in opened(root=str(root), **asked).sent] == [["error", "buffers"]]


def test_wishes_that_no_longer_fit_are_told_and_the_document_opens(root: Path) -> None:
    document = opened(path="story.jsonl", root=str(root), wanted={"cut": "nowhere"})
    traits = document.traits()
    assert "nowhere" in traits["_error"] and traits["_plan"]["policy"] == "flue"


def test_the_bundled_session_needs_no_file() -> None:
    assert "high water" in opened(bundled=True).traits()["_scene"]["title"]


def test_a_closed_document_says_nothing_more(tmp_path: Path) -> None:
    write_long(tmp_path / "long.jsonl", 760)
    document = opened(path="long.jsonl", root=str(tmp_path))
    document.handle_close({"content": {"data": {}}})
    said = len(document.sent)
    document.says(ask={"type": "rows", "id": "1", "from": 0, "to": 1})
    assert all("traits" not in message for message in document.sent[said:])
    shutil.rmtree(tmp_path)
