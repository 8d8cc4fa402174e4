"""What Python sends the front end is what the front end is tested with: tests/cases/wire, byte by byte."""

from __future__ import annotations

import json

import pytest

from inspector.policies import registry as policies
from inspector.workbench.payloads.columns import unpack
from tests.golden_wire import FOLDER, NAMES, draw_all

CHANGED = "the wire changed; if that is meant, run `python -m tests.golden_wire` and read the difference"


@pytest.fixture(autouse=True)
def only_published(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scene lists the policies there are; a doctest that ran before may have added one."""
    monkeypatch.setattr(policies, "_own", {})


@pytest.mark.parametrize("name", NAMES)
def test_python_sends_exactly_the_golden_pair(name: str) -> None:
    picture, data = draw_all()[name]
    golden = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    assert json.loads(json.dumps(picture)) == golden, CHANGED
    assert data == (FOLDER / f"{name}.bin").read_bytes(), CHANGED


@pytest.mark.parametrize("name", NAMES)
def test_columns_fill_the_bytes_without_gap_or_overlap(name: str) -> None:
    columns = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))["columns"]
    at = 0
    for column in columns:
        assert column["offset"] == at
        size = column["length"] * {"i32": 4, "u8": 1}[column["dtype"]]
        at += size + -size % 4
    assert at == (FOLDER / f"{name}.bin").stat().st_size


def test_what_stands_after_each_cut_adds_up_from_the_sessions_own_figures() -> None:
    """103 counted and 6 unexplained before; a pinned text of 12 stays wherever the cut is."""
    wire = json.loads((FOLDER / "plan.json").read_text("utf-8"))
    columns = unpack(wire["columns"], (FOLDER / "plan.bin").read_bytes())
    assert wire["before"]["total"] == 15 + 10 + (8 + 12) + 6 + 5 + 40 + 7 + 6
    kept = {2: 8 + 12 + 6 + 5 + 40 + 7, 3: 12 + 6 + 5 + 40 + 7, 4: 12 + 5 + 40 + 7, 6: 12 + 7, 7: 12}
    illegal = {0: -1, 1: -1, 5: -1}
    expected = illegal | {place: tokens + 6 for place, tokens in kept.items()}
    assert dict(enumerate(columns["after_total"].tolist())) == expected
