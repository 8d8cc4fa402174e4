"""I/O: the commands `course`, which writes the lessons as web pages, and `grade`, which marks answers."""

from __future__ import annotations

import csv
import io
import json
from argparse import Namespace
from pathlib import Path
from typing import Any

from ...errors import LessonError
from ...files import write_whole

LARGEST = 2_000_000
"""Bytes of an answers file at most; a real one has some kilobytes."""


def add_commands(commands: Any) -> None:
    """Add both commands to the command line."""
    course = commands.add_parser("course", help="the lessons as web pages, in a folder")
    course.add_argument("folder", help="the folder to write; created if it does not exist")
    course.add_argument(
        "--single", action="store_true", help="lessons that link to no other file, for a learning platform"
    )
    course.set_defaults(do=_course, code=0, unreadable=1, window=None)
    grade = commands.add_parser("grade", help="marks for a folder of answers.json files, as a table")
    grade.add_argument("folder", help="the folder of the files, one for each student, in subfolders or not")
    grade.add_argument("--csv", metavar="PATH", help="also write the table as CSV")
    grade.set_defaults(do=_grade, code=0, unreadable=1, window=None)


def write_course(folder: Path, workbench: str = "demo.html", alone: bool = False) -> list[Path]:
    """Write all pages of the course into a folder, and return them."""
    from .pages import build_pages

    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, text in build_pages(workbench, alone):
        write_whole(folder / name, text.encode("utf-8"))
        written.append(folder / name)
    return written


def _course(args: Namespace) -> list[str]:
    from ...demo import open_demo
    from ..page.export import export_html

    folder = Path(args.folder).expanduser()
    pages = write_course(folder, alone=args.single)
    if args.single:
        return [f"{len(pages)} files in {folder}; each page can be used without the others"]
    export_html(open_demo(), folder / "demo.html")
    return [
        f"{len(pages) + 1} files in {folder}; begin with {folder / 'index.html'}",
        f"To serve them: python -m http.server --directory {folder}",
    ]


def _grade(args: Namespace) -> list[str]:
    from .grading import describe_wrong, grade_all, list_columns

    rows = grade_all(read_answers(Path(args.folder).expanduser()))
    table = list(list_columns(rows))
    if args.csv:
        text = io.StringIO()
        rows_as_text = [[as_text(cell) for cell in row] for row in table]
        csv.writer(text, lineterminator="\n").writerows(rows_as_text)
        write_whole(Path(args.csv).expanduser(), text.getvalue().encode("utf-8"))
    widths = [max(len(row[at]) for row in table) for at in range(len(table[0]) - 1)]
    lines = [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]]).rstrip()
        for row in table
    ]
    wrong = describe_wrong(rows)
    return [*lines, *(["", "Most frequent wrong answers", *wrong] if wrong else [])]


def as_text(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula.

    >>> as_text("=1+1"), as_text("3/9")
    ("'=1+1", '3/9')
    """
    return f"'{cell}" if cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell


def read_answers(folder: Path) -> dict[str, str]:
    """The texts of a folder's JSON files, by their paths in it; "" for one that cannot be read as text.

    Raises `LessonError` if there is none.
    """
    texts = {}
    for path in sorted(folder.rglob("*.json")):
        if path.is_file() and not path.is_symlink():
            data = path.read_bytes() if path.stat().st_size <= LARGEST else b""
            # A file that an editor saved may begin with a byte order mark, or be UTF-16.
            texts[path.relative_to(folder).as_posix()] = data.decode(json.detect_encoding(data), "replace")
    if not texts:
        raise LessonError(f"there is no answers file in {folder}")
    return texts
