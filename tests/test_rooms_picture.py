"""The picture of the rooms in the guide is that of the tree."""

from __future__ import annotations

import re

import pytest

from tests.rooms_picture import COLOURS, PICTURES, draw, find_arrows, find_floors, place, read_rooms
from tests.test_floors import MAY_IMPORT, ROOT


@pytest.mark.parametrize("theme", PICTURES)
def test_the_stored_picture_is_what_the_script_draws(theme: str) -> None:
    stored = PICTURES[theme].read_text("utf-8")
    assert stored == draw(COLOURS[theme]), "the rooms have changed: `make rooms` draws them anew"


def test_the_guide_shows_both() -> None:
    page = (ROOT / "notebooks" / "guide" / "architecture.md").read_text("utf-8")
    for path in PICTURES.values():
        assert page.count(f"../images/{path.name}") == 1


def test_every_import_between_rooms_follows_from_the_arrows() -> None:
    rooms = read_rooms()
    assert len(rooms) == 13
    reached = {name: {name} for name in rooms}
    arrows = find_arrows(rooms)
    for name in rooms:
        for here, there in arrows:
            if here == name:
                reached[name] |= reached[there]
    for name in rooms:
        assert MAY_IMPORT[name] & rooms.keys() <= reached[name]


def test_arrows_point_down_and_no_two_boxes_meet() -> None:
    rooms = read_rooms()
    arrows = find_arrows(rooms)
    boxes = place(rooms, find_floors(rooms, arrows))
    for here, there in arrows:
        assert boxes[here].y + boxes[here].height < boxes[there].y
    for one in boxes.values():
        for other in boxes.values():
            beside = one.x + one.width <= other.x or other.x + other.width <= one.x
            above = one.y + one.height <= other.y or other.y + other.height <= one.y
            assert one is other or beside or above


def test_the_picture_loads_nothing() -> None:
    for path in PICTURES.values():
        picture = path.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?:|href|url\(|@import|<script|<image", picture)
