"""`python -m tests.predictions PATH`: each recorded compaction below a path, and all errors."""

from __future__ import annotations

import sys
from pathlib import Path

from .measure import find_predictions, write_rows


def main(arguments: list[str]) -> int:
    """Print the table of every session below a path."""
    if len(arguments) != 1:
        print("usage: python -m tests.predictions PATH", file=sys.stderr)
        return 2
    path = Path(arguments[0])
    if not path.exists():
        print(f"no such file or folder: {path}", file=sys.stderr)
        return 2
    for line in write_rows(list(find_predictions(path))):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
