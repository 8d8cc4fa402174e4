"""Vectors of today's harnesses: a few of each folder wherever the tests run, all of them where they are
beside this checkout; and that the comparison sees what it is for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conformance import harness_checks, harnesses
from tests.conformance.__main__ import main
from tests.shared import SHARED, needs_shared

CASES = Path(__file__).parent / "cases" / "harnesses"
VECTORS = sorted(CASES.glob("*/*.json"))
COMPARED = {
    file.parent: file for file in VECTORS if json.loads(file.read_text("utf-8"))["output"].get("messages")
}
"""A vector with messages of each folder."""
PARTLY = {
    "cline": "prompts that alone are too large are shortened there (27)",
    "haystack": "a sum rounds differently (03), and steps have a summary of their own (17)",
}
"""Folders of which some vectors fail, and why."""


@pytest.mark.parametrize("file", VECTORS, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_a_policy_does_what_the_real_function_did(file: Path) -> None:
    assert harnesses.check_file(file) == []


@pytest.mark.parametrize("file", COMPARED.values(), ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_another_output_than_the_real_one_is_a_mismatch(file: Path, tmp_path: Path) -> None:
    case = json.loads(file.read_text("utf-8"))
    output = case["output"]
    (tmp_path / file.parent.name).mkdir()
    other = tmp_path / file.parent.name / "01.json"
    for wrong in ({"messages": output["messages"][:-1]}, {"fired": not output["fired"]}):
        other.write_text(json.dumps(case | {"output": output | wrong}), "utf-8")
        assert harnesses.check_file(other)


def test_every_folder_that_is_checked_has_vectors_here() -> None:
    assert {file.parent.name for file in VECTORS} == harness_checks.CHECKS.keys()


@needs_shared
def test_all_vectors_of_the_folders_with_a_policy_pass(capsys: pytest.CaptureFixture[str]) -> None:
    main(["harnesses", str(SHARED / "vectors" / "harnesses")])
    lines = capsys.readouterr().out.splitlines()
    table = {
        line.split()[0]: line for line in lines[lines.index(next(x for x in lines if "folder " in x)) + 1 :]
    }
    for folder in harness_checks.CHECKS.keys() - PARTLY.keys():
        assert table[folder].split()[2:] == ["0"], table[folder]
    passed, said, failed, _ = lines[-1].split()
    assert (int(passed) >= 391, said) == (True, "passed,")
    assert int(failed) == sum(int(line.split()[2]) for name, line in table.items() if name != passed)
