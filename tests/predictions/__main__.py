"""`python -m tests.predictions PATH`: each recorded compaction below a path, and all errors.

With `--stated` before the path: what the files state of their compactions' sizes, beside ours.
"""

from __future__ import annotations

import sys
from pathlib import Path

from .measure import find_predictions, write_rows
from .stated import find_stated, write_stated


def main(arguments: list[str]) -> int:
    """Print the table of every session below a path."""
    stated = arguments[:1] == ["--stated"]
    arguments = arguments[stated:]
    if len(arguments) != 1:
        print("usage: python -m tests.predictions [--stated] PATH", file=sys.stderr)
        return 2
    path = Path(arguments[0])
    if not path.exists():
        print(f"no such file or folder: {path}", file=sys.stderr)
        return 2
    for line in write_stated(find_stated(path)) if stated else write_rows(list(find_predictions(path))):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
