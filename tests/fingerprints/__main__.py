"""Whether a change of the package's inside changed anything: what it works out of real sessions, as hashes.

    python -m tests.fingerprints ~/sessions --out after.jsonl
    python -m tests.fingerprints ~/sessions --out before.jsonl --package ~/the-older-checkout
    python -m tests.fingerprints --compare before.jsonl after.jsonl

Every file below the paths that the package opens is a session, and so are the demo session, the files in
`tests/cases`, and sessions inside JSON files that are none themselves (`sources.INSIDE`). For each session,
and for each session under each policy, parts are worked out (`SESSION_PARTS`, `POLICY_PARTS`) and hashed one
by one, so that what differs says where to look; `--text FOLDER` writes what was hashed, for a diff.

Plans are made in the fullest moment (the leaf, or right before a recorded compaction): by the policy itself
for the three reasons there are, and with the cut by hand at the legal place nearest to 25, 50 and 75 % of the
context. Where that moment is not the leaf, the policy's own plan at the leaf comes first. The main plan, from
which facts, findings and summaries follow, is that of a /compact in the fullest moment.

Names of classes and modules never go into a hash, public names are looked up by their new or their old home
(`names`), and "conduct", which is called "harness" later, counts as the same word (`plain.SAME`).

What is left out to keep it quick: a replay lives at most the first `LONGEST` entries of a path, and at most
`SQUEEZED` in a window that they fill twice; `why()` is asked of `WHYS` facts of a trace, evenly spread, and
fixes of the first findings alone; what asks most (a written summary, facts to be kept) is asked under the
policies of `ASKED`, and `rounds` and `compare` are made of sessions with at most `SHORT` entries on the path.
Of the sessions inside other files one of `EVERY` is taken (`--every 1` takes all).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

from .run import EVERY, Line, Wanted, run


def compare(one: Path, other: Path) -> int:
    """List what differs between two runs; the exit code is 1 where anything does."""
    before, after = read_lines(one), read_lines(other)
    same, parts = 0, Counter[str]()
    for key in dict.fromkeys([*before, *after]):
        here, there = before.get(key), after.get(key)
        if here is None or there is None:
            print(f"only in {one if there is None else other}: {'  '.join(key)}")
        elif here["hash"] != there["hash"] or "failed" in there:
            print(f"differs: {'  '.join(key)}  {there.get('failed', '')}".rstrip())
        else:
            same += 1
            continue
        parts[key[2]] += 1
    for part, number in parts.most_common():
        print(f"{number:>6} of part {part}")
    print(f"{same} equal, {parts.total()} different")
    return int(bool(parts))


def read_lines(path: Path) -> dict[tuple[str, str, str], Line]:
    lines = map(json.loads, path.read_text("utf-8").splitlines())
    return {(line["session"], line["policy"], line["part"]): line for line in lines}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("paths", nargs="*", type=Path, help="files, or folders to look through")
    parser.add_argument("--jobs", type=int, default=2, help="sessions looked at side by side")
    parser.add_argument("--out", type=Path, help="a file for the lines as JSON")
    parser.add_argument("--every", type=int, default=EVERY, help="one of so many sessions inside other files")
    parser.add_argument(
        "--package", type=Path, help="the checkout whose package is asked, by default this one"
    )
    parser.add_argument("--compare", nargs=2, type=Path, metavar=("BEFORE", "AFTER"))
    parser.add_argument("--session", default="", help="only sessions whose name contains this")
    parser.add_argument("--policy", default="", help='only policies whose name contains this, "-" for none')
    parser.add_argument("--part", default="", help="only parts whose name contains this")
    parser.add_argument("--text", default="", metavar="FOLDER", help="write what is hashed there, as JSON")
    given = parser.parse_args(arguments)
    if given.compare:
        return compare(*given.compare)
    if given.text:
        Path(given.text).mkdir(parents=True, exist_ok=True)
    if given.package:
        # Nothing has asked for the package yet.
        sys.path.insert(0, str(given.package.resolve()))
    wanted = Wanted(given.session, given.policy, given.part, given.text)
    return run(given.paths, given.jobs, given.out, wanted, given.every)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
