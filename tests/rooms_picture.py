"""The guide's picture of the rooms, drawn from the tree: `make rooms`, or `python -m tests.rooms_picture`.

A room stands above all that it imports, and right below the lowest room that imports it. Of the arrows only
those are drawn that follow from no others: where a room imports another by way of a third, two arrows say so.
"""

from __future__ import annotations

import ast
import textwrap
from html import escape
from pathlib import Path
from typing import NamedTuple

from tests.test_floors import IO_MODULES, MAY_IMPORT, PACKAGE, ROOT

PICTURES = {name: ROOT / "notebooks" / "images" / f"rooms-{name}.svg" for name in ("light", "dark")}

# The first and the last of three columns, for rooms that do not take all of them.
COLUMNS = {
    "redaction": (0, 0),
    "wire": (1, 1),
    "facts": (2, 2),
    "planning": (1, 2),
    "formats": (1, 1),
    "policies": (2, 2),
    "tokens": (1, 2),
    "replays": (0, 1),
    "hooks": (2, 2),
}
WIDTH, GAP, BETWEEN, PAD = 920, 16, 26, 14
LINE, NAME, SMALL = 17, 15, 12.5
MEAN = 6.9
"""The mean width of a character of the small text, in pixels: as in the widest of the fonts named below."""
COLOURS = {
    "light": {"ink": "#1f2328", "soft": "#59636e", "box": "#f6f8fa", "edge": "#d1d9e0", "io": "#9a6700"},
    "dark": {"ink": "#e6edf3", "soft": "#9ea7b3", "box": "#161b22", "edge": "#3d444d", "io": "#d29922"},
}


class Room(NamedTuple):
    """A room as the tree has it: its files without facades, how many do I/O, and its first sentence."""

    name: str
    files: int
    io_modules: int
    sentence: str


class Box(NamedTuple):
    """Where a room is drawn, in pixels, and its sentence in lines."""

    x: float
    y: float
    width: float
    height: float
    lines: list[str]


def read_rooms() -> dict[str, Room]:
    """The folders among the rooms, from the ground up."""
    rooms = {}
    for name in MAY_IMPORT:
        folder = PACKAGE / name
        if not folder.is_dir():
            continue
        files = [path for path in folder.rglob("*.py") if path.name != "__init__.py"]
        dotted = {".".join(path.relative_to(PACKAGE).with_suffix("").parts) for path in files}
        io_modules = len(files) if name in IO_MODULES else len(dotted & IO_MODULES)
        docstring = ast.get_docstring(ast.parse((folder / "__init__.py").read_text("utf-8"))) or ""
        sentence = docstring.partition("\n\n")[0].replace("\n", " ").partition(". ")[0].rstrip(".")
        rooms[name] = Room(name, len(files), io_modules, sentence)
    return rooms


def find_arrows(rooms: dict[str, Room]) -> list[tuple[str, str]]:
    """Which room imports which, without what follows from others; by way of a loose module is direct."""
    below: dict[str, set[str]] = {}
    for here, there in MAY_IMPORT.items():
        below[here] = set(there).union(*(below[name] for name in there))
    arrows = []
    for here in rooms:
        reached = below[here] & rooms.keys()
        implied = {far for near in reached for far in below[near]}
        arrows += [(here, there) for there in rooms if there in reached - implied]
    return arrows


def find_floors(rooms: dict[str, Room], arrows: list[tuple[str, str]]) -> dict[str, int]:
    """How far each room stands below the top."""
    floors: dict[str, int] = {}
    for name in reversed(rooms):
        floors[name] = max((floors[here] + 1 for here, there in arrows if there == name), default=0)
    return floors


def place(rooms: dict[str, Room], floors: dict[str, int]) -> dict[str, Box]:
    """The box of each room, floor by floor."""
    column = (WIDTH - 2 * GAP) / 3
    boxes: dict[str, Box] = {}
    y = 1.0
    for floor in range(max(floors.values()) + 1):
        row: dict[str, Box] = {}
        for name in rooms:
            if floors[name] != floor:
                continue
            first, last = COLUMNS.get(name, (0, 2))
            width = (last - first + 1) * (column + GAP) - GAP
            lines = textwrap.wrap(rooms[name].sentence, int((width - 2 * PAD) / MEAN))
            row[name] = Box(first * (column + GAP), y, width, 0, lines)
        taken = [
            n for name in row for n in range(COLUMNS.get(name, (0, 2))[0], COLUMNS.get(name, (0, 2))[1] + 1)
        ]
        if len(taken) != len(set(taken)):
            raise ValueError(f"{', '.join(row)} stand on one floor: give them COLUMNS of their own")
        height = 2 * PAD + NAME + 5 + LINE * max(len(box.lines) for box in row.values()) - 6
        boxes |= {name: box._replace(height=height) for name, box in row.items()}
        y += height + BETWEEN
    return boxes


def draw(colours: dict[str, str]) -> str:
    """The picture as SVG, without a script, a font or a picture of another's."""
    rooms = read_rooms()
    arrows = find_arrows(rooms)
    floors = find_floors(rooms, arrows)
    boxes, ground = place(rooms, floors), max(floors.values())
    loose = [name for name in MAY_IMPORT if name not in rooms]
    height = max(box.y + box.height for box in boxes.values()) + 34
    sans = "-apple-system, BlinkMacSystemFont, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif"
    mono = "ui-monospace, SFMono-Regular, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace"
    size = f'width="{WIDTH}" height="{height:g}" viewBox="0 0 {WIDTH} {height:g}"'
    style = (
        f"text{{font:{SMALL}px {sans};fill:{colours['soft']}}}"
        f".name{{font:600 {NAME}px {mono};fill:{colours['ink']}}}.says{{fill:{colours['ink']}}}"
        f".io{{fill:{colours['io']}}}.end{{text-anchor:end}}"
        f"rect{{fill:{colours['box']};stroke:{colours['edge']}}}"
        f".arrow{{stroke:{colours['soft']};stroke-width:1.4;fill:none}}.tip{{fill:{colours['soft']}}}"
    )
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="title">',
        f'<title id="title">The {len(rooms)} rooms of the package; each imports only rooms below it</title>',
        f"<style>{style}</style>",
    ]
    for here, there in arrows:
        upper, lower = boxes[here], boxes[there]
        left = max(upper.x, lower.x)
        right = min(upper.x + upper.width, lower.x + lower.width)
        x, top, end = (left + right) / 2, upper.y + upper.height, lower.y
        out.append(f'<path class="arrow" d="M{x:g} {top:g}V{end - 6:g}"/>')
        out.append(f'<path class="tip" d="M{x - 4:g} {end - 8:g}h8l-4 7z"/>')
    for name, box in boxes.items():
        room, left, right = rooms[name], box.x + PAD, box.x + box.width - PAD
        base = box.y + PAD + NAME - 3
        frame = f'x="{box.x + 0.5:g}" y="{box.y:g}" width="{box.width - 1:g}" height="{box.height:g}"'
        out.append(f'<rect {frame} rx="6"/>')
        out.append(f'<text class="name" x="{left:g}" y="{base:g}">{name}/</text>')
        words = f'<tspan class="io">I/O in {room.io_modules}</tspan> of ' if room.io_modules else ""
        if room.io_modules == room.files:
            words = '<tspan class="io">I/O in all</tspan> '
        tag = f"floor {ground - floors[name]} · {words}{room.files} files"
        out.append(f'<text class="end" x="{right:g}" y="{base:g}">{tag}</text>')
        for number, line in enumerate(box.lines, 1):
            y = base + 4 + number * LINE
            out.append(f'<text class="says" x="{left:g}" y="{y:g}">{escape(line)}</text>')
    beside = f"Beside them, a file each: {', '.join(loose)}. What follows from two arrows is not drawn."
    out.append(f'<text x="0" y="{height - 8:g}">{escape(beside)}</text>')
    return "\n".join([*out, "</svg>\n"])


def main() -> None:
    for name, path in PICTURES.items():
        path.write_text(draw(COLOURS[name]), "utf-8")
        print(f"wrote {Path(path).relative_to(ROOT)}")


if __name__ == "__main__":
    main()
