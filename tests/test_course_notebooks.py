"""The notebooks of the course: as their generator writes them, and marked by otter-grader and by nbgrader."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from inspector.testing import open_check
from tests.course_notebooks import FOLDER, SEEDS, list_notebooks

NAME, TASK = "2-legal-cut.ipynb", "last-cut-in-turn"
TOOLS = os.environ.get("GRADERS", str(Path(sys.executable).parent))
"""The folder of the programs of otter-grader and nbgrader: an environment of its own, with this package."""
LONGEST = 400  # seconds


def find_tool(name: str) -> str:
    path = shutil.which(name, path=TOOLS)
    if path is None:
        pytest.skip(
            f"{name} is not installed here: install it beside this package and name its folder by GRADERS"
        )
    return path


def run(*command: str, folder: Path) -> None:
    environment = {**os.environ, "PATH": f"{TOOLS}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=LONGEST, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


def test_the_notebooks_are_those_that_the_lessons_give() -> None:
    written = {path.name: path.read_text("utf-8") for path in FOLDER.glob("*.ipynb")}
    assert written == list_notebooks(), "run: python -m tests.course_notebooks"


def answer(source: Path, target: Path, right: tuple[bool, ...]) -> None:
    """Write a student's notebook: these answers right, the others wrong."""
    notebook = json.loads(source.read_text("utf-8"))
    for n, (seed, is_right) in enumerate(zip(SEEDS, right, strict=True), 1):
        question = open_check(TASK, seed)
        key = next(option.key for option in question.options if option.right == is_right)
        (cell,) = (
            cell for cell in notebook["cells"] if "".join(cell["source"]).startswith(f'answer_{n} = ""')
        )
        cell["source"] = [f'answer_{n} = "{key}"']
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(notebook), "utf-8")


CASES = {"right": ((True, True), 6), "wrong": ((False, False), 2), "half": ((True, False), 4)}
"""A possible answer gets one point, a right one two more."""


def test_otter_grader_marks_right_and_wrong_notebooks(tmp_path: Path) -> None:
    otter = find_tool("otter")
    shutil.copy(FOLDER / NAME, tmp_path)
    run(otter, "assign", NAME, "dist", "--no-run-tests", folder=tmp_path)
    student = (tmp_path / "dist" / "student" / NAME).read_text("utf-8")
    assert "option.right" not in student and ".judge(" not in student
    (tests,) = (tmp_path / "dist" / "autograder").glob("*.zip")
    for name, (right, points) in CASES.items():
        answer(tmp_path / "dist" / "student" / NAME, tmp_path / f"{name}.ipynb", right)
        (tmp_path / name).mkdir()
        run(otter, "run", "--no-logo", "-a", str(tests), "-o", name, f"{name}.ipynb", folder=tmp_path)
        results = json.loads((tmp_path / name / "results.json").read_text("utf-8"))
        assert sum(test.get("score", 0) for test in results["tests"]) == points


def test_nbgrader_marks_right_and_wrong_notebooks(tmp_path: Path) -> None:
    nbgrader = find_tool("nbgrader")
    source = tmp_path / "source" / "course"
    source.mkdir(parents=True)
    shutil.copy(FOLDER / NAME, source)
    run(nbgrader, "generate_assignment", "course", "--create", folder=tmp_path)
    released = tmp_path / "release" / "course" / NAME
    assert "option.right" not in released.read_text("utf-8") and ".judge(" not in released.read_text("utf-8")
    for name, (right, _) in CASES.items():
        answer(released, tmp_path / "submitted" / name / "course" / NAME, right)
    run(nbgrader, "autograde", "course", "--create", folder=tmp_path)
    run(nbgrader, "export", "--to", "marks.csv", folder=tmp_path)
    lines = [line.split(",") for line in (tmp_path / "marks.csv").read_text("utf-8").splitlines()]
    student, score = lines[0].index("student_id"), lines[0].index("score")
    assert {line[student]: float(line[score]) for line in lines[1:]} == {
        name: points for name, (_, points) in CASES.items()
    }
