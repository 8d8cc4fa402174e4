"""The project's checkout as the agent's tools see it: files that can be read, searched, edited and tested.

Nothing is run. Reading, searching, editing and comparing work on the texts; what a command prints is told
by whoever writes the story.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import unified_diff
from typing import Any, NamedTuple

from .chance import Chance
from .coast import HARBOURS
from .project import ROOT, make_project


class Call(NamedTuple):
    """A tool called, and what it answered."""

    name: str
    input: dict[str, Any]
    output: str
    is_error: bool = False


def number(lines: Sequence[str], first: int = 1) -> str:
    """Lines with their numbers in front."""
    return "\n".join(f"{at:>6}→{line}" for at, line in enumerate(lines, first))


_TEST = re.compile(r"(?:@pytest\.mark\.parametrize\(((?:(?!\ndef ).)*?)\)\n)?def (test_\w+)", re.DOTALL)


class Checkout:
    """The working tree."""

    def __init__(self) -> None:
        self.files = dict(make_project())
        self._committed = [dict(self.files)]
        self._subjects: list[str] = []

    def read(self, path: str, first: int | None = None, count: int | None = None) -> Call:
        """A file, or `count` lines of it from line `first`."""
        asked: dict[str, Any] = {"file_path": f"{ROOT}/{path}"}
        if first is not None:
            asked |= {"offset": first, "limit": count}
        start = (first or 1) - 1
        lines = self.files[path].splitlines()[start : None if count is None else start + count]
        return Call("Read", asked, number(lines, start + 1))

    def find(self, pattern: str) -> Call:
        """Files by the end of their path, `**/` for any folder."""
        ending = re.compile(re.escape(pattern.replace("**/", "")).replace(r"\*", "[^/]*") + "$")
        found = [f"{ROOT}/{path}" for path in sorted(self.files) if ending.search(path)]
        return Call("Glob", {"pattern": pattern}, "\n".join(found) or "No files found")

    def grep(self, pattern: str, under: str = "src", most: int = 200) -> Call:
        """Every line that matches."""
        wanted = re.compile(pattern)
        hits = [
            f"{path}:{at}:{line}"
            for path in sorted(self.files)
            if path.startswith(under)
            for at, line in enumerate(self.files[path].splitlines(), 1)
            if wanted.search(line)
        ]
        asked = {"pattern": pattern, "path": f"{ROOT}/{under}", "output_mode": "content", "-n": True}
        return Call("Grep", asked, "\n".join(hits[:most]) or "No matches found")

    def edit(self, path: str, old: str, new: str) -> Call:
        """Put `new` in the place of `old`, which stands in the file exactly once."""
        text = self.files[path]
        if text.count(old) != 1:
            raise ValueError(f"{path} holds {old[:40]!r} {text.count(old)} times")
        self.files[path] = text.replace(old, new)
        first = text[: text.index(old)].count("\n")
        lines = self.files[path].splitlines()
        around = lines[max(first - 3, 0) : first + new.count("\n") + 4]
        shown = number(around, max(first - 3, 0) + 1)
        asked = {"file_path": f"{ROOT}/{path}", "old_string": old, "new_string": new}
        return Call("Edit", asked, f"{ROOT}/{path} was changed. It now reads:\n{shown}")

    def write(self, path: str, text: str) -> Call:
        """A new file."""
        self.files[path] = text
        asked = {"file_path": f"{ROOT}/{path}", "content": text}
        return Call("Write", asked, f"{ROOT}/{path} was written, {text.count(chr(10))} lines.")

    def run(self, command: str, output: str, why: str, *, failed: bool = False) -> Call:
        """A command, and what it printed."""
        return Call("Bash", {"command": command, "description": why}, output, failed)

    def test(self, *paths: str, failed: dict[str, str] | None = None, seconds: float = 1.9) -> Call:
        """Run the tests of some files; `failed` holds a report for each test that fails."""
        log = self.report(paths, failed or {}, seconds, names=False)
        return self.run(f".venv/bin/pytest -q {' '.join(paths)}", log, "Run the tests", failed=bool(failed))

    def report(self, paths: Sequence[str], failed: dict[str, str], seconds: float, *, names: bool) -> str:
        """What pytest prints: a line for each test, or a dot."""
        tests = self.names(*paths)
        if not failed.keys() <= set(tests):
            raise ValueError(f"no such test: {failed.keys() - set(tests)}")
        total = len(tests)
        lines = []
        if names:
            lines += [f"{test} {'FAILED' if test in failed else 'PASSED'}" for test in tests]
        else:
            marks = "".join("F" if test in failed else "." for test in tests)
            for at in range(0, total, 72):
                done = min(at + 72, total)
                lines.append(f"{marks[at:done]:<72} [{100 * done // total:>3}%]")
        if failed:
            lines.append("=================================== FAILURES ===================================")
            lines += failed.values()
            lines.append("=========================== short test summary info ============================")
            lines += [f"FAILED {test}" for test in failed]
        told = f"{len(failed)} failed, " if failed else ""
        return "\n".join([*lines, f"{told}{total - len(failed)} passed in {seconds:.2f}s"])

    def names(self, *paths: str) -> list[str]:
        """Every test in some files, parameters spelt out."""
        return [test for path in sorted(self.files) if path.startswith(paths) for test in self._tests(path)]

    def _tests(self, path: str) -> Iterator[str]:
        if not path.startswith("tests/"):
            return
        for given, name in _TEST.findall(self.files[path]):
            if "SLUGS" in given:
                values = [harbour.slug for harbour in HARBOURS]
            elif pairs := re.findall(r'\("([^"]*)", ([\d.]+)\)', given):
                values = ["-".join(pair) for pair in pairs]
            else:
                values = re.findall(r'"([^"]+)"', given)[1:]
            yield from (f"{path}::{name}[{value}]" for value in values) if given else (f"{path}::{name}",)

    def changes(self) -> list[str]:
        """Paths that differ from the last commit."""
        return self._changes(self._committed[-1])

    def _changes(self, old: dict[str, str]) -> list[str]:
        different = (path for path, text in self.files.items() if old.get(path) != text)
        return [path for path in different if not path.startswith("build/")]

    def diff(self, *paths: str, since: int = 0) -> Call:
        """What differs from the last commit, or from one before it, in some files or in all."""
        before = self._committed[-1 - since]
        parts = []
        for path in paths or self._changes(before):
            old, new = before.get(path, "").splitlines(True), self.files[path].splitlines(True)
            parts += [f"diff --git a/{path} b/{path}\n", *unified_diff(old, new, f"a/{path}", f"b/{path}")]
        command = ["git diff", f"HEAD~{since}"] if since else ["git diff"]
        return self.run(" ".join([*command, *paths]), "".join(parts).rstrip("\n"), "Show what has changed")

    def log(self) -> Call:
        """The branch's commits, the newest first."""
        lines = [f"{_name(at)} {subject}" for at, subject in enumerate(self._subjects, 1)]
        return self.run("git log --oneline main..", "\n".join(reversed(lines)), "The branch")

    def commit(self, subject: str) -> Call:
        """Commit everything."""
        changed = self.changes()
        plus = minus = 0
        for path in changed:
            old, new = self._committed[-1].get(path, "").splitlines(), self.files[path].splitlines()
            for line in unified_diff(old, new, n=0, lineterm=""):
                plus += line[0] == "+" and not line.startswith("+++")
                minus += line[0] == "-" and not line.startswith("---")
        self._committed.append(dict(self.files))
        self._subjects.append(subject)
        name = _name(len(self._subjects))
        files = "1 file" if len(changed) == 1 else f"{len(changed)} files"
        lines = [
            f"{count} {what}" for count, what in ((plus, "insertions(+)"), (minus, "deletions(-)")) if count
        ]
        told = f"[clock-change {name}] {subject}\n {', '.join([f'{files} changed', *lines])}"
        return self.run(f'git add -A && git commit -m "{subject}"', told, "Commit")


def _name(commit: int) -> str:
    return Chance(f"commit {commit}").hexes(7)


def todo(*items: str, done: int = 0) -> Call:
    """The agent's own list; the first `done` items are finished and the next is under way."""
    states = ["completed"] * done + ["in_progress"] + ["pending"] * len(items)
    told = [{"content": item, "status": state} for item, state in zip(items, states, strict=False)]
    return Call("TodoWrite", {"todos": told}, "The list was updated.")
