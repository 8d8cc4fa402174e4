"""Mutants are found, drawn and written as they should be; running them is `make mutants`."""

from __future__ import annotations

from collections import Counter
from multiprocessing.connection import Connection
from pathlib import Path
from types import FunctionType

import pytest

from tests.mutation import ROOT, Mutant, draw_sample, find_idle, list_mutants, mutate, read_explained

pytest.importorskip("cosmic_ray", reason="cosmic-ray comes with the extra `mutants` alone")
pytest.importorskip("coverage", reason="coverage comes with the extra `mutants` alone")

from tests.mutation_trial import MEMORY, Place, find_code, find_place, run_forked

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
    assert [start for start, _ in find_idle(SOURCE)] == [(3, 16), (3, 35), (3, 47), (4, 11)]
    changed = [mutate(SOURCE, mutant) for mutant in mutants]
    assert {mutant.line for mutant in mutants} == {3, 4, 5}, "defaults and values, and the last line"
    assert all(text is None or "one: int | None, other: int" in text for text in changed)
    assert any(text is not None and "one >= other" in text for text in changed)


def test_a_sample_is_the_same_for_a_seed(mutants: list[Mutant]) -> None:
    assert draw_sample(mutants, 5, 1) == draw_sample(mutants, 5, 1) != draw_sample(mutants, 5, 2)
    assert len(draw_sample(mutants, 10**6, 1)) == len(mutants)


IDLE = """from functools import cache

@cache
def pair(one, other):
    return list(zip(one, other, strict=True)) if one != "none" else one == other

if TYPE_CHECKING:
    assert 1 + 1 == 2
"""


def test_what_changes_no_behaviour_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "idle.py").write_text(IDLE, "utf-8")
    mutants = list(list_mutants(tmp_path, ["idle.py"]))
    assert {mutant.line for mutant in mutants} == {5}, "not the cache, and not what a type checker reads"
    operators = Counter(mutant.operator.rpartition("/")[2] for mutant in mutants)
    assert not any("True" in name for name in operators), "zip's strict"
    assert operators["ReplaceComparisonOperator_Eq_Is"] == 1, "two variables may be equal and not the same"
    assert not operators["ReplaceComparisonOperator_NotEq_IsNot"], "a literal is one object"


def test_what_no_value_can_tell_apart_is_left_out(tmp_path: Path) -> None:
    """How much a `Memo` keeps, and what is more than the least of all fates."""
    source = "_KEPT: Memo[int] = Memo(64)\n\ndef changed(plan):\n    return plan.fate != VERBATIM\n"
    (tmp_path / "least.py").write_text(source, "utf-8")
    operators = {(mutant.line, mutant.operator[-6:]) for mutant in list_mutants(tmp_path, ["least.py"])}
    assert {line for line, _ in operators} == {4}
    assert (4, "tEq_Gt") not in operators and (4, "tEq_Lt") in operators and (4, "Eq_GtE") in operators


def test_a_mutant_is_put_into_the_function_that_holds_it() -> None:
    lines = SOURCE.splitlines()
    place = find_place(SOURCE, 5, lines[4].index(">"))
    assert place.function == ("larger", 3) and place.lines == {5}
    changed = compile(SOURCE.replace("one > other", "one < other"), "larger.py", "exec")
    code = find_code(changed, ("larger", 3))
    names: dict[str, object] = {}
    exec(SOURCE, names)
    larger = names["larger"]
    assert isinstance(larger, FunctionType) and code is not None and larger(9) == 9
    larger.__code__ = code
    assert larger(9) == 5, "the same function, with the code of the mutant"


def test_a_default_is_a_matter_of_the_import() -> None:
    column = SOURCE.splitlines()[2].index("= 2") + 2
    assert find_place(SOURCE, 3, column) == Place(None, frozenset({3}), ("larger",))


def test_a_fork_that_fails_hangs_or_grows_is_told_from_one_that_passes() -> None:
    def hang(pipe: Connection) -> int:
        while True:
            pass

    def tell(pipe: Connection) -> int:
        pipe.send("a test")
        return 1

    assert run_forked(lambda pipe: 0, 5) == (0, None)
    assert run_forked(tell, 5) == (1, "a test")
    assert run_forked(hang, 0.5) == (None, None)
    assert run_forked(lambda pipe: len(bytes(MEMORY)), 5).code not in (0, None)


def test_an_explained_mutant_still_fits_its_file() -> None:
    """What is explained stands in the file, so that a change of the line asks for a new look."""
    for file, old, _ in read_explained():
        stripped = [line.strip() for line in (ROOT / file).read_text("utf-8").splitlines()]
        assert set(old.splitlines()) <= set(stripped), f"{file}: {old}"
