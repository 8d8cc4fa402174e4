"""Mutants tried against the tests that reach them, each in a fork of a process that has collected all tests.

A mutant inside a function is put into the functions that are already there, by their code object; nothing is
imported for it. One that changes what an import does is written to its file, and its tests are collected
anew in a fork of a process that has imported what does not change. Which tests reach which lines is measured
by coverage, a test file when it is first asked, and kept in `.pytest_cache` for as long as nothing has
changed. Whatever is changed is a copy of the tree; this needs a POSIX system.
"""

from __future__ import annotations

import ast
import gc
import hashlib
import importlib
import os
import re
import resource
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import coverage
import msgspec
import pytest

ROOMS = ("policies", "planning", "replays", "wire", "summaries")
"""Rooms of which every line may change what is planned, replayed, sent or stored."""
TOGETHER = (
    "tests/test_laws.py",
    "tests/test_cuts.py",
    "tests/test_checklist_s0.py",
    "tests/test_checklist_s1.py",
    "tests/test_checklist_s4.py",
    "tests/test_conformance.py",
)
"""Tests of what all of these rooms do together: asked about every mutant, after those of its room."""
DECLARED = ("tests/policies/test_published_settings.py",)
"""Tests of what classes and policies declare: asked about every mutant of their room outside functions."""
OTHERS = (
    *("tests/tokens", "tests/facts", "tests/workbench", "tests/corpus", "tests/test_predictions.py"),
    *("tests/test_checklist_ui.py", "tests/test_html_tables.py", "tests/test_wrong_arguments.py"),
)
"""Tests of rooms that draw, count or trace what is decided; those that name a file are asked about it."""
UNCHANGED = ("numpy", "pydantic", "msgspec", "hypothesis.strategies", "jsonschema", "tiktoken", "traitlets")
"""What is imported once for all mutants."""
QUIET = (
    *("-q", "-s", "--tb=no", "-p", "no:nbval", "-p", "no:cacheprovider", "-p", "no:xdist"),
    *("-p", "no:randomly"),
)
SLOWER, SECONDS = 4, 15
"""A mutant whose tests take so many times the processor's time, and so many seconds more, runs for ever."""
WAITING = 40
"""Seconds on the clock for one of the processor's, after which a process is taken to wait for ever."""
LONGEST = 120
"""Seconds of the processor for which the tests of one file are measured. Those after it are taken to reach
every line and to take `UNKNOWN` seconds, so that they are tried where nothing quicker notices a mutant."""
UNKNOWN = 10.0
QUICK = 0.3
"""Seconds of a test up to which it is asked before the slower ones of any file."""
ANYWHERE = "*"
"""The name of a file that stands for all of them."""
MEMORY = 8 << 30
"""Bytes of address space after which a mutant is taken to grow for ever."""


class Seen(msgspec.Struct):
    """A test that passes without a mutation: its seconds, and the lines reached, as bits, of each file."""

    seconds: float
    lines: dict[str, str]


class Place(NamedTuple):
    """Where a mutant stands: the outermost function around it, if any, and the lines of its statement.

    `names` are what the statement binds when it runs during an import. A function that was `called` while
    tests were collected has left its results with them, so its tests are collected anew.
    """

    function: tuple[str, int] | None
    lines: frozenset[int]
    names: tuple[str, ...]
    called: bool = False


NOWHERE = Place(None, frozenset(), ())


def find_place(source: str, line: int, column: int) -> Place:
    """The place of a mutant by its line (from 1) and column (from 0).

    >>> find_place("class A:\\n    def f(self, n=1):\\n        return (\\n            n)\\n", 4, 12)
    Place(function=('A.f', 2), lines=frozenset({3, 4}), names=())
    >>> find_place("class A:\\n    def f(self, n=1):\\n        return n\\n", 2, 18).names
    ('f',)
    """
    qualname: list[str] = []
    function = None
    inner: ast.stmt | None = None
    body: Sequence[ast.AST] = ast.parse(source).body
    while True:
        for node in body:
            first = min([node.lineno, *(part.lineno for part in getattr(node, "decorator_list", ()))])  # type: ignore[attr-defined]
            start = (first, 0 if first < node.lineno else node.col_offset)  # type: ignore[attr-defined]
            if start <= (line, column) <= (node.end_lineno, node.end_col_offset):  # type: ignore[attr-defined]
                break
        else:
            break
        inner = node if isinstance(node, ast.stmt) else inner
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            held = node.body[0]
            if (line, column) < (held.lineno, held.col_offset):
                break
            if function is None:
                qualname.append(node.name)
                if not isinstance(node, ast.ClassDef):
                    function = (".".join(qualname), first)
        body = [
            child
            for child in ast.iter_child_nodes(node)
            if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case)
        ]
        body = [
            stmt for child in body for stmt in (child.body if isinstance(child, ast.match_case) else [child])
        ]
    if inner is None:
        return Place(None, frozenset({line}), ())
    compound = hasattr(inner, "body") or hasattr(inner, "cases")
    last = inner.lineno if compound else inner.end_lineno or inner.lineno
    lines = frozenset({line, *range(inner.lineno, last + 1)})
    return Place(function, lines, () if function else tuple(_bound(inner)))


def _bound(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name
        return
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def find_code(code: CodeType, name: tuple[str, int]) -> CodeType | None:
    """The code of a function in a module's, by its qualified name and first line."""
    for part in code.co_consts:
        if isinstance(part, CodeType):
            if (part.co_qualname, part.co_firstlineno) == name:
                return part
            if found := find_code(part, name):
                return found
    return None


def to_bits(lines: Iterable[int]) -> str:
    """Line numbers as one number in hexadecimal."""
    return format(sum(1 << line for line in lines), "x")


class Forked(NamedTuple):
    """How a fork ended: its exit code, None when it took too long, and what it sent."""

    code: int | None
    sent: Any


def run_forked(work: Callable[[Connection], int], seconds: float) -> Forked:
    """Run `work` in a fork of this process, for so many seconds of the processor.

    Whatever it started is ended with it.
    """
    here, there = Pipe(duplex=False)
    child = os.fork()
    if child == 0:
        code = 3
        try:
            os.setsid()
            resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 1))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            silence = os.open(os.devnull, os.O_WRONLY)
            os.dup2(silence, 1)
            os.dup2(silence, 2)
            code = work(there)
        finally:
            os._exit(code)
    there.close()
    sent, until = None, time.monotonic() + WAITING * seconds
    try:
        # The end of the child closes its end of the pipe, unless something that it started holds on to it.
        while time.monotonic() < until:
            if here.poll(0.2):
                try:
                    sent = here.recv()
                except EOFError:
                    return Forked(_read_status(os.waitpid(child, 0)[1]), sent)
            elif (ended := os.waitpid(child, os.WNOHANG))[0]:
                return Forked(_read_status(ended[1]), sent)
        return Forked(None, sent)
    finally:
        here.close()
        try:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
        except (ProcessLookupError, ChildProcessError):
            pass


def _read_status(status: int) -> int | None:
    code = os.waitstatus_to_exitcode(status)
    # The hard limit of the processor's time ends a process by SIGKILL, the soft one by SIGXCPU.
    return None if code in (-signal.SIGXCPU, -signal.SIGKILL) else code


class _Runner:
    """A pytest plugin that runs chosen tests in a given order, up to the first that fails."""

    def __init__(self, chosen: Sequence[str] = ()) -> None:
        self.chosen = {name: at for at, name in enumerate(chosen)}
        self.failed = False
        self.passed = False

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self.chosen:
            items[:] = [item for item in items if item.nodeid in self.chosen]
            items.sort(key=lambda item: self.chosen[item.nodeid])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed |= report.failed
        self.passed |= report.when == "call" and report.passed

    def run(self, items: Sequence[pytest.Item]) -> Iterator[tuple[pytest.Item, bool, float]]:
        """Each test, whether it failed, and its seconds."""
        for item, after in zip(items, [*items[1:], None], strict=True):
            self.failed = self.passed = False
            began = time.process_time()
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            yield item, self.failed, time.process_time() - began


class _Collected(_Runner):
    """The plugin of the process that has collected all tests and answers what is sent to it."""

    def __init__(self, pipe: Connection, root: Path, kept: Path, measured: coverage.Coverage) -> None:
        super().__init__()
        self.pipe, self.root, self.kept, self.measured = pipe, root, kept, measured
        self.measuring = False

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        if self.measuring:
            self.measured.switch_context(nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        at_import = self.read_lines().get("", {})
        items: dict[str, list[pytest.Item]] = defaultdict(list)
        for item in session.items:
            items[str(item.path.relative_to(self.root))].append(item)
        functions = self.find_functions()
        by_name = {item.nodeid: item for item in session.items}
        sys.dont_write_bytecode = True
        self.pipe.send((at_import, list(items)))
        while (asked := self.pipe.recv()) is not None:
            if isinstance(asked, str):
                self.pipe.send(self.measure(asked, items[asked]))
                continue
            file, function, source, chosen, seconds = asked
            targets = functions.get((file, function), [])
            if source is not None and not targets:
                self.pipe.send(None)
                continue
            tests = [by_name[name] for name in chosen]
            work = partial(self.try_one, tests, targets, str(self.root / file), function, source)
            self.pipe.send(run_forked(work, seconds))
        return True

    def read_lines(self) -> dict[str, dict[str, str]]:
        """By context (a test's name, or nothing while importing): the lines reached of each file."""
        data = self.measured.get_data()
        found: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
        for file in data.measured_files():
            for line, contexts in data.contexts_by_lineno(file).items():
                for context in contexts:
                    found[context][str(Path(file).relative_to(self.root))].add(line)
        return {
            context: {file: to_bits(lines) for file, lines in files.items()}
            for context, files in found.items()
        }

    def measure(self, file: str, items: Sequence[pytest.Item]) -> dict[str, Seen]:
        """The tests of a file that pass, run in a process of their own, or as they were last time."""
        digest = digest_files([self.root / file, *list_sources(self.root)])
        path = self.kept / f"{digest}-{LONGEST}.msgpack"
        if path.exists():
            return msgspec.msgpack.decode(path.read_bytes(), type=dict[str, Seen])

        def work(pipe: Connection) -> int:
            self.measuring = True
            took = {}
            for item, failed, seconds in self.run(items):
                if self.passed and not failed:
                    took[item.nodeid] = seconds
                if sum(took.values()) > LONGEST:
                    break
            later = {one.nodeid: (UNKNOWN, {ANYWHERE: "1"}) for one in items[items.index(item) + 1 :]}
            self.measured.stop()
            lines = self.read_lines()
            pipe.send({name: (seconds, lines.get(name, {})) for name, seconds in took.items()} | later)
            return 0

        sent = run_forked(work, 10 * LONGEST).sent
        seen = {name: Seen(seconds, lines) for name, (seconds, lines) in (sent or {}).items()}
        path.write_bytes(msgspec.msgpack.encode(seen))
        return seen

    def find_functions(self) -> dict[tuple[str, tuple[str, int]], list[FunctionType]]:
        """The functions of the rooms, by their file, qualified name and first line."""
        gc.unfreeze()
        found = defaultdict(list)
        for one in gc.get_objects():
            if type(one) is FunctionType and one.__code__.co_filename.startswith(f"{self.root}/inspector/"):
                code = one.__code__
                file = str(Path(code.co_filename).relative_to(self.root))
                found[file, (code.co_qualname, code.co_firstlineno)].append(one)
        gc.freeze()
        return dict(found)

    def try_one(
        self,
        tests: Sequence[pytest.Item],
        targets: Sequence[FunctionType],
        path: str,
        function: tuple[str, int],
        source: str | None,
        pipe: Connection,
    ) -> int:
        """Run tests with one function's code taken from `source`, in this process; 0 when all pass."""
        if source is not None:
            code = find_code(compile(source, path, "exec", dont_inherit=True), function)
            assert code is not None, f"{path} keeps its functions where they are"
            for target in targets:
                target.__code__ = code
        self.measured.stop()
        for item, failed, _ in self.run(tests):
            if failed:
                pipe.send(item.nodeid)
                return 1
        return 0


def list_sources(root: Path) -> list[Path]:
    """The files that are mutated."""
    return [path for room in ROOMS for path in sorted((root / "inspector" / room).rglob("*.py"))]


def digest_files(paths: Sequence[Path]) -> str:
    """One text for the contents of these files."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.read_bytes())
    return digest.hexdigest()


class Trial:
    """Tries mutants in the copy of the tree at `root`, which is the current folder and first on the path.

    `budget` are the seconds of tests that a mutant is tried against at most.
    """

    def __init__(self, root: Path, temporary: Path, kept: Path, budget: float) -> None:
        self.root, self.temporary, self.budget = root, temporary, budget
        self.known: dict[tuple[str, ...], bool] = {}
        self.pipe, there = Pipe()
        os.environ |= {"PYTHONPATH": str(root), "HYPOTHESIS_PROFILE": "once"}
        kept.mkdir(parents=True, exist_ok=True)
        for name in UNCHANGED:
            importlib.import_module(name)
        self.child = os.fork()
        if self.child == 0:
            try:
                self.pipe.close()
                self.collect(there, kept)
            finally:
                os._exit(0)
        there.close()
        at_import, self.files = self.pipe.recv()
        self.at_import = {file: int(bits, 16) for file, bits in at_import.items()}
        self.seen: dict[str, dict[str, tuple[float, dict[str, int]]]] = {}
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        sys.dont_write_bytecode = True

    def collect(self, pipe: Connection, kept: Path) -> None:
        """Be the process that has collected all tests."""
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        rooms = [f"{self.root}/inspector/{room}/*" for room in ROOMS]
        measured = coverage.Coverage(data_file=None, include=rooms, messages=False, config_file=False)
        measured.start()
        tests = [f"{above}/{room}" for room in ROOMS for above in ("tests", "inspector")]
        plugin = _Collected(pipe, self.root, kept, measured)
        pytest.main([*QUIET, f"--basetemp={self.temporary}", *tests, *TOGETHER, *OTHERS], plugins=[plugin])

    def close(self) -> None:
        self.pipe.send(None)
        os.waitpid(self.child, 0)

    @cached_property
    def sources(self) -> dict[str, list[str]]:
        return {
            str(path.relative_to(self.root)): path.read_text("utf-8").splitlines()
            for path in list_sources(self.root)
        }

    def measure(self, tests: str) -> dict[str, tuple[float, dict[str, int]]]:
        """By test of this file: its seconds, and the lines that it reaches, as bits, of each file."""
        if tests not in self.seen:
            self.pipe.send(tests)
            self.seen[tests] = {
                name: (one.seconds, {file: int(bits, 16) for file, bits in one.lines.items()})
                for name, one in self.pipe.recv().items()
            }
        return self.seen[tests]

    def sort_files(self, file: str) -> list[str]:
        """The files with tests, in the order in which they are asked about a file: what is nearest first.

        That is the file itself for its examples, then the tests called after it or its folder, then those of
        its room, then others that name it or what it defines. Whoever names it the most often comes first.
        """
        room, stems = Path(file).parts[1], {Path(file).stem, *Path(file).parts[2:-1]}
        tree = ast.parse("\n".join(self.sources[file]))
        defined = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        # A rule is named by its kind too, which is its file's name with hyphens.
        names = [Path(file).stem, Path(file).stem.replace("_", "-"), *defined]
        words = re.compile(rf"\b(?:{'|'.join(names)})\b")

        named = {
            tests: len(words.findall((self.root / tests).read_text("utf-8")))
            for tests in self.files
            if tests == file or tests.startswith("tests/")
        }

        def order(tests: str) -> tuple[bool, bool, bool, int]:
            mirror = Path(tests).stem.removeprefix("test_") in stems
            return tests != file, not mirror, tests.split("/")[1] != room, -named[tests]

        near = [
            tests
            for tests, times in named.items()
            if times or tests.split("/")[1] == room or tests in TOGETHER
        ]
        return sorted(near, key=order)

    def choose_tests(self, file: str, place: Place) -> Iterator[list[str]]:
        """The tests that reach the place, file by file, up to the budget: its room's quick ones first.

        Then, up to the same budget, the others that are near: what an earlier test had worked out and kept
        was not reached again while it was measured, and a test that is run alone may reach it all the same.
        Those of the file called after it are all chosen, whatever they take.

        A place that an import runs is reached by whoever reaches a line with a name that it binds.
        """
        wanted: Mapping[str, int] = {file: sum(1 << line for line in place.lines)}
        if place.function is None:
            word = re.compile(rf"\b(?:{'|'.join(map(re.escape, place.names))})\b") if place.names else None
            wanted = {
                name: sum(1 << at for at, text in enumerate(lines, 1) if word and word.search(text))
                for name, lines in self.sources.items()
            }
        left = self.budget
        files = self.sort_files(file)
        found = False
        asked: set[str] = set()
        # What only other imports read is in no test's lines: then whatever is near may notice it.
        near = [tests for tests in files if not tests.startswith(OTHERS)]
        order = [
            *((False, QUICK, tests) for tests in near),
            *((every, float("inf"), tests) for every in (False, True) for tests in files),
        ]
        for every, longest, tests in order:
            if every and found and place.function is None:
                return
            seen = self.measure(tests)
            # What a class declares, its own tests may notice without a line of it being run again.
            mirror = Path(tests).stem.removeprefix("test_") == Path(file).stem
            own = (mirror or tests in DECLARED) and place.function is None
            chosen: list[str] = []
            for name in sorted(seen.keys() - asked, key=lambda name: seen[name][0]):
                seconds, lines = seen[name]
                if seconds > longest:
                    break
                reaches = any(lines.get(other, 0) & bits for other, bits in wanted.items())
                if every or own or reaches or ANYWHERE in lines:
                    left -= seconds
                    if left < 0 and chosen and not mirror:
                        break
                    chosen.append(name)
            asked.update(chosen)
            if chosen:
                found = found or not every
                yield chosen
            if left < 0:
                return

    def try_mutant(self, file: str, line: int, column: int, changed: str) -> tuple[str, str]:
        """Whether it was killed, killed by time or survived, and by or after what."""
        place = find_place((self.root / file).read_text("utf-8"), line, column)
        if self.at_import.get(file, 0) & sum(1 << one for one in place.lines):
            place = place._replace(called=True)
        code = compile(changed, file, "exec", dont_inherit=True)
        if place.function and find_code(code, place.function) is None:
            place = place._replace(function=None)
        tried = 0
        batches: Iterable[list[str]] = self.choose_tests(file, place)
        if place.function is None or place.called:
            # What an import does is tried in a process that imports all anew: not file by file.
            first, *rest = [*batches] or [[]]
            batches = [first, [name for chosen in rest for name in chosen]]
        for chosen in filter(None, batches):
            tried += len(chosen)
            if by := self.try_tests(file, place, changed, chosen):
                return by
        return "survived", f"{tried} tests"

    def try_tests(self, file: str, place: Place, changed: str, chosen: list[str]) -> tuple[str, str] | None:
        """How these tests killed it, if they did."""
        path = self.root / file
        source, stat = path.read_text("utf-8"), path.stat()
        while chosen:
            took = (self.seen[name.partition("::")[0]][name][0] for name in chosen)
            seconds = SLOWER * sum(took) + SECONDS
            path.write_text(changed, "utf-8")
            try:
                done = self.run(file, place, changed, chosen, seconds)
            finally:
                path.write_text(source, "utf-8")
                os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
            if done.code is None:
                return "killed by time", f"{len(chosen)} tests"
            if done.code in (0, 5):
                return None
            if done.sent is None:
                return "killed", f"no test could run, {done.code}"
            if self.passes(tuple(chosen[: chosen.index(done.sent) + 1])):
                return "killed", done.sent
            print(f"   left out, it fails by itself: {done.sent}", file=sys.stderr, flush=True)
            chosen.remove(done.sent)
            del self.seen[done.sent.partition("::")[0]][done.sent]
        return None

    def passes(self, tests: tuple[str, ...]) -> bool:
        """Whether these tests pass in this order without any mutation."""
        if tests not in self.known:
            self.known[tests] = self.run("", NOWHERE, None, tests, 10 * LONGEST).code == 0
        return self.known[tests]

    def run(
        self, file: str, place: Place, changed: str | None, chosen: Sequence[str], seconds: float
    ) -> Forked:
        if (place.function and not place.called) or changed is None:
            self.pipe.send((file, place.function, changed, list(chosen), seconds))
            if (done := self.pipe.recv()) is not None:
                assert isinstance(done, Forked)
                return done
        return run_forked(lambda pipe: self.run_anew(pipe, chosen), seconds + SECONDS)

    def run_anew(self, pipe: Connection, chosen: Sequence[str]) -> int:
        """Collect and run these tests in this process, which has not imported the package yet."""
        plugin = _Runner(chosen)

        class Stop:
            def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
                if report.failed:
                    pipe.send(report.nodeid)

        files = list(dict.fromkeys(name.partition("::")[0] for name in chosen))
        return int(
            pytest.main([*QUIET, "-x", f"--basetemp={self.temporary}", *files], plugins=[plugin, Stop()])
        )
