"""A defect in one extractor, lint check or section of a page is isolated, counted and shown.

Each test imports the package with one function changed so that it raises (`tests.mutated_import`), and calls
the public functions in that process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.claude_rows import Claude, dump

ROOT = Path(__file__).parents[1]

SESSION = """
import json, os, sys
import tests.mutated_import
import inspector
from inspector import read_session
rows = [
    {"role": "user", "content": "Read src/first.py and never push to main."},
    {"role": "assistant", "content": "Done in commit 1a2b3c4d."},
    {"role": "user", "content": "FAULTY: read src/second.py at commit 5e6f7a8b."},
    {"role": "assistant", "content": "src/third.py is fixed in commit 9c0d1e2f."},
    {"role": "user", "content": "Now the docs."},
]
session = read_session(rows)
"""
HASHES = (
    "inspector/facts/extract/ids.py",
    "    codes = code_points(text)\n    starts, ends = _find_hex(codes)\n",
    (
        "    if 'FAULTY' in text:\n        raise ValueError('defect')\n    codes = code_points(text)\n"
        "    starts, ends = _find_hex(codes)\n"
    ),
)


def run(
    change: tuple[str, str, str], script: str, *, strict: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run a script with the package changed; `change` is the file, the text and what replaces it."""
    environment = {name: value for name, value in os.environ.items() if name != "INSPECTOR_STRICT"}
    environment |= {"MUTANT": json.dumps(dict(zip(("file", "old", "new"), change, strict=True)))}
    environment |= {"PYTHONPATH": str(ROOT)} | ({"INSPECTOR_STRICT": "1"} if strict else {})
    command = [sys.executable, "-c", SESSION + script]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def answer(change: tuple[str, str, str], script: str) -> Any:
    """Run a script, and return the JSON value that it prints."""
    done = run(change, script)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_kind_that_cannot_be_read_in_one_block_leaves_all_other_facts() -> None:
    script = """
facts = session.facts
print(json.dumps([[list(key) for key in facts], [list(fault) for fault in facts.faults], repr(facts)]))
"""
    keys, faults, words = answer(HASHES, script)
    files = {form for kind, form in keys if kind == "file"}
    assert files == {"src/first.py", "src/second.py", "src/third.py"}
    assert {form for kind, form in keys if kind == "id"} == {"1a2b3c4d", "9c0d1e2f"}
    assert ["constraint", "Read src/first.py and never push to main."] in keys
    ((part, place, error),) = faults
    assert (part, place) == ("id", "m3/0") and error.startswith("ValueError (ids.py:")
    assert "facts of 1 block could not be read" in words


def test_the_exception_is_raised_in_strict_mode() -> None:
    done = run(HASHES, "session.facts", strict=True)
    assert done.returncode == 1 and done.stderr.endswith("ValueError: defect\n")


JUDGE = (
    "inspector/facts/lint/check.py",
    '        return code, traced.said[-1] if kind == "todo" else typed[-1], {}\n',
    '        raise KeyError("defect")\n',
)
CHECKS = """
from inspector import lint
policy = {"name": "drop all", "rules": [{"kind": "keep-recent-turns", "turns": 1}, {"kind": "drop-older"}]}
report = lint(session, policy, "ALL")
"""


def test_a_lint_check_that_raises_leaves_the_other_checks_and_makes_the_report_incomplete() -> None:
    script = f"{CHECKS}\nprint(json.dumps([report.counts, len(report.faults), repr(report)]))"
    counts, faults, words = answer(JUDGE, script)
    harmless = (JUDGE[0], JUDGE[1], JUDGE[1] + "        pass\n")
    all_counts, none, all_words = answer(harmless, script)
    assert none == 0 and "incomplete" not in all_words
    assert all_counts.pop("CI002") == faults == 1
    assert counts == all_counts and "incomplete: 1 fault" in words


def test_a_report_that_is_incomplete_does_not_pass(tmp_path: Path) -> None:
    talk = Claude().say("Fix it. Never push to main.").reply("Yes.", 9_000).compact("We went on.")
    path = tmp_path / "talk.jsonl"
    path.write_bytes(dump(talk.say("Go on.").reply("Done.", 800).rows))
    script = f"""
from contextlib import redirect_stdout
from io import StringIO
from inspector.cli import main
told = []
for form in ("text", "json", "github", "sarif"):
    with redirect_stdout(StringIO()) as out:
        code = main(["check", {str(path)!r}, "--select", "CI002", "--format", form])
    told.append([code, "check of a constraint" in out.getvalue()])
print(json.dumps(told))
"""
    assert answer(JUDGE, script) == [[2, True]] * 4
    harmless = (JUDGE[0], JUDGE[1], JUDGE[1] + "        pass\n")
    assert answer(harmless, script) == [[1, False]] * 4
