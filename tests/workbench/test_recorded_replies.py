"""What Python sends the front end is what the front end is tested with: tests/cases/wire, byte by byte."""

from __future__ import annotations

import json

import pytest

from inspector.policies import registry as policies
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
