"""Write notebooks/course/: one notebook for each lesson, ready for otter-grader and for nbgrader.

    python -m tests.course_notebooks

A question is the one of the lesson's check, on sessions that no page of the course uses.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from inspector.workbench.lessons.bundled import list_lessons
from inspector.workbench.lessons.lesson import Lesson

FOLDER = Path(__file__).parents[1] / "notebooks" / "course"
SEEDS = (1001, 1002)
"""Numbers beyond those of the pages."""
KERNEL = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
CONFIG = """# ASSIGNMENT CONFIG
name: {name}
requirements: [compaction-inspector]
files: []
export_cell: false
init_cell: true
generate: true
tests: {{files: false, ok_format: true}}"""
INTRO = """# {title}

**Goal.** {goal}

Run the first two cells and play the lesson: predict, do, and answer its check. The questions below ask the
same about two more sessions. You may use everything that the library offers: `question_1.session` is the
session, and `inspector.Workbench(question_1.session, counter="chars4_utf16")` shows it."""
OPEN = """from inspector import open_lesson
from inspector.testing import open_check

lesson = open_lesson("{name}")"""
QUESTION = """question_{n} = open_check("{task}", {seed})
print(question_{n}.question)
for title, text in question_{n}.texts:
    print(title, "|", text)
print("Answers:", ", ".join(option.key for option in question_{n}.options))"""
# Both tools know these two lines.
SOLUTION = """answer_{n} = ""
# BEGIN SOLUTION
answer_{n} = next(option.key for option in question_{n}.options if option.right)
# END SOLUTION"""
VISIBLE = """\"\"\" # BEGIN TEST CONFIG
points: 1
\"\"\"  # END TEST CONFIG
assert any(option.key == answer_{n} for option in question_{n}.options), "This is not one of the answers." """
HIDDEN = """\"\"\" # BEGIN TEST CONFIG
hidden: true
points: 2
\"\"\"  # END TEST CONFIG
### BEGIN HIDDEN TESTS
assert open_check("{task}", {seed}).judge(answer_{n})
### END HIDDEN TESTS"""


def build_notebook(lesson: Lesson) -> dict[str, Any]:
    """The notebook of a lesson."""
    cells: list[dict[str, Any]] = []

    def add(kind: str, text: str, **metadata: Any) -> None:
        cell: dict[str, Any] = {
            "cell_type": kind,
            "id": f"cell-{len(cells):02}",
            "metadata": metadata,
            "source": text.strip().splitlines(keepends=True),
        }
        if kind == "code":
            cell |= {"execution_count": None, "outputs": []}
        cells.append(cell)

    def grader(**own: Any) -> dict[str, Any]:
        return {"grade": False, "locked": False, "schema_version": 3, "solution": False, "task": False} | own

    (task,) = (step.title for step in lesson.steps if step.kind == "check")
    ignored = ["nbval-ignore-output"]
    add("raw", CONFIG.format(name=lesson.name))
    add("markdown", INTRO.format(title=lesson.title, goal=lesson.goal))
    add("code", OPEN.format(name=lesson.name))
    add("code", "lesson", tags=ignored)
    for n, seed in enumerate(SEEDS, 1):
        values = {"n": n, "task": task, "seed": seed}
        add("raw", f"# BEGIN QUESTION\nname: q{n}")
        add("markdown", f"## Question {n}\n\nRun the cell, and assign the answer to `answer_{n}`, in quotes.")
        add("code", QUESTION.format(**values), tags=ignored)
        # otter-grader does not mind the case here; nbgrader would take capitals for its own mark.
        add("raw", "# Begin solution")
        cell_id = f"answer-{n}"
        add("code", SOLUTION.format(**values), nbgrader=grader(grade_id=cell_id, solution=True))
        add("raw", "# End solution")
        add("raw", "# BEGIN TESTS")
        for name, text, points in (("possible", VISIBLE, 1), ("right", HIDDEN, 2)):
            marks = grader(grade=True, locked=True, points=points, grade_id=f"{name}-{n}")
            add("code", text.format(**values), nbgrader=marks)
        add("raw", "# END TESTS")
        add("raw", "# END QUESTION")
    return {"cells": cells, "metadata": KERNEL, "nbformat": 4, "nbformat_minor": 5}


def list_notebooks() -> dict[str, str]:
    """The texts of all notebooks by file name."""
    return {
        f"{number}-{lesson.name}.ipynb": json.dumps(build_notebook(lesson), indent=1, ensure_ascii=False)
        + "\n"
        for number, lesson in enumerate(list_lessons(), 1)
    }


def main() -> int:
    FOLDER.mkdir(exist_ok=True)
    for name, text in list_notebooks().items():
        (FOLDER / name).write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
