"""Hold our planner to the golden vectors of a published system.

    python -m tests.conformance flue PATH
    python -m tests.conformance tiered PATH
    python -m tests.conformance traces PATH
    python -m tests.conformance harnesses PATH

prints every mismatch, how many vectors could not be checked and why, for harnesses a table by folder, and a
last line `N passed, N failed`;
the exit code says whether all passed.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from . import flue, harnesses, tiered, traces

SYSTEMS = {"flue": flue.run, "tiered": tiered.run, "traces": traces.run, "harnesses": harnesses.run}


def main(arguments: list[str]) -> int:
    if len(arguments) != 2 or arguments[0] not in SYSTEMS:
        print(f"usage: python -m tests.conformance {{{','.join(SYSTEMS)}}} PATH", file=sys.stderr)
        return 2
    path = Path(arguments[1])
    if not path.is_dir():
        print(f"{path} is not a folder of vectors", file=sys.stderr)
        return 2
    passed = failed = absent = 0
    unchecked: Counter[str] = Counter()
    folders: dict[str, Counter[str]] = {}
    for name, mismatches in SYSTEMS[arguments[0]](path):
        if mismatches is None:
            absent += 1
            continue
        if isinstance(mismatches, str):
            unchecked[mismatches] += 1
            continue
        passed, failed = passed + (not mismatches), failed + bool(mismatches)
        folder = folders.setdefault(name.partition("/")[0], Counter())
        folder["failed" if mismatches else "passed"] += 1
        if mismatches == [harnesses.NO_POLICY]:
            folder["no policy"] += 1
            continue
        for mismatch in mismatches:
            print(f"{name}: {mismatch}")
    if absent:
        print(f"{absent} vectors name a session that is not in this folder and could not be checked")
    for reason, count in unchecked.items():
        print(f"{count} facts could not be checked: {reason}")
    if arguments[0] == "harnesses":
        print(harnesses.format_table(folders))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
