"""A stored picture, read again: what a test compares."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from . import find_place

SVG = "{http://www.w3.org/2000/svg}"


class Shown:
    """A stored picture, read: its texts, and its shapes by colour."""

    def __init__(self, name: str, theme: str = "light") -> None:
        self.source = find_place(name, theme).read_text("utf-8")
        self.root = ET.fromstring(self.source)
        self.texts = ["".join(text.itertext()) for text in self.root.iter(f"{SVG}text")]

    @property
    def words(self) -> str:
        return "\n".join(self.texts)

    def figures(self, pattern: str) -> list[int]:
        """The figures of the first text of that form."""
        found = re.search(pattern.replace("#", r"([\d,]*\d)"), self.words)
        assert found, f"{pattern} is not in the picture"
        return [int(figure.replace(",", "")) for figure in found.groups()]

    def bars(self, y: float) -> list[tuple[float, str]]:
        """Width and colour of the filled boxes at that height, in their order."""
        boxes = [box for box in self.root.findall(f"{SVG}rect") if box.get("fill") != "none"]
        return [
            (float(box.attrib["width"]), box.attrib["fill"]) for box in boxes if float(box.attrib["y"]) == y
        ]

    def line(self, colour: str) -> list[tuple[float, float]]:
        """The points of the longest line of that colour."""
        paths = [p.attrib["d"] for p in self.root.findall(f"{SVG}path") if p.get("stroke") == colour]
        points = max((re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", path) for path in paths), key=len)
        return [(float(x), float(y)) for x, y in points]

    @property
    def key(self) -> list[int]:
        """The figures that are alone in their texts: of sections, or of blocks."""
        return [int(text.replace(",", "")) for text in self.texts if re.fullmatch(r"[\d,]*\d", text)]
