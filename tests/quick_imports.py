"""What tests need not wait for: NumPy's threads, and jsonschema's check of internationalised addresses.

jsonschema does without `rfc3987_syntax` where it is missing. With it every process that reads a schema builds
a grammar for two seconds, for names of a kind that no schema here has.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

GRAMMAR = "rfc3987_syntax"


def skip_grammar() -> None:
    """In this process."""
    sys.modules.setdefault(GRAMMAR, None)  # type: ignore[arg-type]


def path_without_grammar(folder: Path, environment: Mapping[str, str] = os.environ) -> str:
    """PYTHONPATH for another process, with a module in `folder` that says the package is missing."""
    (folder / f"{GRAMMAR}.py").write_text(f"raise ImportError('{GRAMMAR} is left out of tests')\n")
    return os.pathsep.join(filter(None, [str(folder), environment.get("PYTHONPATH")]))


def lean_environment(folder: Path) -> dict[str, str]:
    """This process's environment, for tests: what it starts imports and compiles no more than is needed."""
    lean = dict(os.environ, PYTHONPATH=path_without_grammar(folder))
    # Else NumPy starts a thread for every further core, which waits for work with its core busy.
    lean["OPENBLAS_NUM_THREADS"] = "1"
    # The tests start a hundred processes, and each would compile the package anew.
    lean.pop("PYTHONDONTWRITEBYTECODE", None)
    return lean
