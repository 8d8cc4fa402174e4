"""The exercises of the notebooks: what is right is told so, what is wrong is told why it is not."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import nbformat
import pytest

from inspector.cuts import END

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
ANSWERS: dict[str, tuple[str, list[str], str]] = {
    # By the beginning of its name: the line to fill in, what is wrong, and what is right.
    "00": ("outside = None", ["21", "5"], "17"),
    "01": ('my_cut = ""', ['"4703f6f3-8a6e-4f06-a382-6f9a521ae02a"'], f'"{END}"'),
    "02": ('fewest, keeps_most = "", None', ['"flue", False', '"codex", True'], '"codex", False'),
    "03": ("price = None", ["0", "51", "53"], "52"),
    "04": ('best = ""', ['"codex"', '"pi"'], '"claude-code"'),
    "05": ("most = None", ["1", "7"], "8"),
    "06": ('cheapest = ""', ['"flue"', '"nobody"'], '"mini-claude-code"'),
    "07": ('code = ""', ['"CI001"', '"CI999"'], '"CI006"'),
    "08": ("requests = None", ["2", "4"], "3"),
    "09": ('answer = "flue"', ['"flue"', '"nobody"'], '"codex"'),
}
"""Read off what each notebook shows above its exercise: tables, figures, and the text."""


def test_every_numbered_notebook_has_an_exercise_with_its_answer() -> None:
    assert sorted(path.name[:2] for path in NOTEBOOKS.glob("0*.ipynb")) == sorted(ANSWERS)


@pytest.mark.parametrize("number", ANSWERS)
def test_an_exercise_accepts_what_is_right_and_explains_what_is_wrong(
    number: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (path,) = NOTEBOOKS.glob(f"{number}-*.ipynb")
    monkeypatch.chdir(NOTEBOOKS)
    notebook = nbformat.read(path, 4)
    codes = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    line, wrong, right = ANSWERS[number]
    (exercise,) = (code for code in codes if line in code)
    names: dict[str, Any] = {"__name__": "__main__"}
    for code in codes[: codes.index(exercise)]:
        exec(compile(code, str(path), "exec"), names)

    def say(answer: str) -> str:
        capsys.readouterr()
        exec(
            compile(exercise.replace(line, f"{line.partition(' = ')[0]} = {answer}"), str(path), "exec"),
            names,
        )
        return capsys.readouterr().out.strip().lower()

    assert say(right).startswith("right")
    for answer in wrong:
        assert say(answer).startswith("not yet"), answer
    capsys.readouterr()
    exec(compile(exercise, str(path), "exec"), names)
    assert not capsys.readouterr().out.lower().startswith("right")
    assert os.getcwd() == str(NOTEBOOKS)
