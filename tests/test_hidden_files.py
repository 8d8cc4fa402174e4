"""A plan opens no hidden file next to it, and no file behind a link out of its folder."""

from __future__ import annotations

from pathlib import Path

import pytest

import inspector
from inspector.demo import read_demo
from inspector.errors import PlanError
from inspector.files import find_planned


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a plan of the demo session, without the session."""
    folder = tmp_path / "work"
    folder.mkdir()
    (tmp_path / "elsewhere.jsonl").write_bytes(read_demo())
    session = inspector.open_session(tmp_path / "elsewhere.jsonl")
    plan = inspector.make_plan(session, inspector.count_tokens(session), "flue")
    inspector.save_plan(plan, folder / "talk.plan.json")
    return folder


def put_hidden(folder: Path) -> None:
    (folder / ".talk.jsonl").write_bytes(read_demo())


def put_link(folder: Path) -> None:
    (folder / "talk.jsonl").symlink_to(folder.parent / "elsewhere.jsonl")


def put_link_to_hidden(folder: Path) -> None:
    (folder / ".secrets").mkdir()
    (folder / ".secrets" / "talk.jsonl").write_bytes(read_demo())
    (folder / "talk.jsonl").symlink_to(folder / ".secrets" / "talk.jsonl")


@pytest.mark.parametrize("put", [put_hidden, put_link, put_link_to_hidden])
def test_a_plan_opens_no_file_that_is_hidden_or_elsewhere(put: object, folder: Path) -> None:
    assert callable(put)
    put(folder)
    with pytest.raises(PlanError, match="is not in the same folder"):
        find_planned(folder / "talk.plan.json")
    with pytest.raises(PlanError, match="is not in the same folder"):
        inspector.Workbench(folder / "talk.plan.json")
    (folder / "other.jsonl").write_bytes(read_demo())
    assert find_planned(folder / "talk.plan.json")[0] == folder / "other.jsonl"
