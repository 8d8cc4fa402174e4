"""What opening a Claude Code session of 1 GB takes: `python tests/bench/huge_session.py [MEGABYTES]`.

One file is a recorded session, over and over: each copy has ids of its own, and goes on from the end of the
one before. The other is made up, with less beside the words in each row, so that more of it is kept. Each is
opened once, in a process of its own, on Linux alone: there the peak of that process is told without what it
was forked from. MB are 1,000,000 bytes. The figures of `notebooks/guide/limits.md` are of it.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from outside import SHARED, run_command

sys.path.insert(0, str(Path(__file__).parents[2]))
from bench_open import run_fresh

RECORDED = SHARED / "sessions" / "claude-code--git-sync" / "cc-426k-ctx-1142l.jsonl"
MAKER = SHARED / "tools" / "make_claude_session.py"
_IDS = re.compile(rb'"(uuid|parentUuid|logicalParentUuid|leafUuid|id|tool_use_id)":"([^"\\]+)"')
OPEN = """
import json, sys, time
from inspector import open_session
begin = time.process_time()
session = open_session(sys.argv[1])
seconds = time.process_time() - begin
with open("/proc/self/status") as status:
    peak = int(status.read().split("VmHWM:")[1].split()[0]) * 1024
counts = {"entries": len(session.entries), "path": len(session.path)}
print(json.dumps({"seconds": seconds, "peak": peak, **counts}))
"""


def write_huge(path: Path, size: int) -> int:
    """Write copies of the recorded session until the file is this large; how many there are."""
    rows = RECORDED.read_bytes()
    ends = [
        row["uuid"] for row in map(json.loads, rows.splitlines()) if row.get("type") in ("user", "assistant")
    ]
    copies = written = 0
    with path.open("wb") as file:
        while written < size:
            mark = b"-%d" % copies
            copy = _IDS.sub(lambda found, mark=mark: b'"%s":"%s%s"' % (found[1], found[2], mark), rows)
            if copies:
                before = f'"parentUuid":"{ends[-1]}-{copies - 1}"'.encode()
                copy = copy.replace(b'"parentUuid":null', before, 1)
            written += file.write(copy)
            copies += 1
    return copies


def show(path: Path, name: str) -> None:
    told = run_fresh(OPEN, path)
    print(f"{path.stat().st_size / 1e9:.2f} GB, {name}: {told['entries']:,} entries")
    print(f"opened in {told['seconds']:.1f} s of processor time, with a peak of {told['peak'] / 1e9:.2f} GB")
    print(f"{told['path']:,} entries lead to its end")


def main(megabytes: int) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "huge.jsonl")
        copies = write_huge(path, megabytes * 1_000_000)
        show(path, f"{copies} times {RECORDED.name}")
        path.unlink()
        run_command([sys.executable, str(MAKER), str(path), str(megabytes)])
        show(path, f"made by {MAKER.name}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 1000)
