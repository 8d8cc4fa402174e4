"""Mutants are found, drawn and written as they should be; running them is `make mutants`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutation import ROOT, Mutant, choose_tests, draw_sample, find_annotations, list_mutants, mutate

pytest.importorskip("cosmic_ray", reason="cosmic-ray comes with the extra `mutants` alone")

SOURCE = """from __future__ import annotations

def larger(one: int | None, other: int = 2) -> int | str:
    limit: int | None = 3
    return one if one > other else other + limit
"""


@pytest.fixture
def mutants(tmp_path: Path) -> list[Mutant]:
    (tmp_path / "larger.py").write_text(SOURCE, "utf-8")
    return list(list_mutants(tmp_path, ["larger.py"]))


def test_what_nobody_runs_is_not_mutated(mutants: list[Mutant]) -> None:
    assert [start for start, _ in find_annotations(SOURCE)] == [(3, 16), (3, 35), (3, 47), (4, 11)]
    changed = [mutate(SOURCE, mutant) for mutant in mutants]
    assert {mutant.line for mutant in mutants} == {3, 4, 5}, "defaults and values, and the last line"
    assert all(text is None or "one: int | None, other: int" in text for text in changed)
    assert any(text is not None and "one >= other" in text for text in changed)


def test_a_sample_is_the_same_for_a_seed(mutants: list[Mutant]) -> None:
    assert draw_sample(mutants, 5, 1) == draw_sample(mutants, 5, 1) != draw_sample(mutants, 5, 2)
    assert len(draw_sample(mutants, 10**6, 1)) == len(mutants)


def test_the_tests_of_the_room_come_first_and_the_file_s_own_before_them() -> None:
    first, room, after = choose_tests(ROOT, "inspector/policies/harness.py")
    assert [Path(name).name for name in first] == ["test_harness.py"]
    assert len(room) > 5 and all("/tests/policies/" in name for name in room)
    assert [Path(name).name for name in after] == ["test_laws.py", "replays"]
