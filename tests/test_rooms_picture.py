"""The picture of the rooms in the guide is that of the tree."""

from __future__ import annotations

import pytest

from tests.rooms_picture import COLOURS, PICTURES, draw
from tests.test_floors import ROOT


@pytest.mark.parametrize("theme", PICTURES)
def test_the_stored_picture_is_what_the_script_draws(theme: str) -> None:
    stored = PICTURES[theme].read_text("utf-8")
    assert stored == draw(COLOURS[theme]), "the rooms have changed: `make rooms` draws them anew"


def test_the_guide_shows_both() -> None:
    page = (ROOT / "notebooks" / "guide" / "architecture.md").read_text("utf-8")
    for path in PICTURES.values():
        assert page.count(f"../images/{path.name}") == 1
