"""I/O: checks of readers and of lessons, one call each, for the tests of their authors.

`check_lesson` and `check_reader` also check this package's own lessons and readers. The page "A reader in 40
lines" shows a whole reader and its test.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

from .errors import EmptySession, InspectorError, ReadError
from .files import open_session, read_with_others
from .formats.incremental import IncrementalReader
from .formats.json_lines import Reader, iter_lines
from .formats.manifest import READER, dump_manifest
from .formats.readers import READERS
from .session.session import Session
from .workbench.lessons.bundled import make_session
from .workbench.lessons.exercise import SILENT, Charts, Exercise, LessonStage
from .workbench.lessons.lesson import SESSIONS, Lesson, read_lesson
from .workbench.lessons.tasks import build_check

CUTS = 40
"""The number of offsets at which each file is cut short."""
MOST = 12
"""Maximum number of faults in an error message."""
_MESSAGE = {"role": "user", "content": "Hello"}
LOOK_ALIKES: tuple[tuple[str, bytes], ...] = (
    ("nothing", b""),
    ("blank lines", b"\n \n\t\n"),
    ("plain text", b"Dear diary,\nnothing happened.\n"),
    ("a picture", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
    ("a number", b"7"),
    ("null", b"null"),
    ("an empty object", b"{}"),
    ("an empty list", b"[]"),
    ("a list of numbers", b"[1, 2, 3]"),
    ("broken JSON", b'{"messages": [{"role": '),
    ("a package's description", b'{"name": "x", "version": "1", "messages": 7, "entries": 7, "type": 7}'),
    (
        "lines of a server's log",
        b'{"level": "info", "message": "up"}\n{"level": "warn", "message": "down"}\n',
    ),
)
"""Contents that no reader may accept."""


def check_reader(
    reader: Reader, files: Iterable[str | os.PathLike[str] | bytes], tokens: Mapping[str, int] | None = None
) -> None:
    """Raise `AssertionError` with all faults of a reader. Check for each file:

    - The reader accepts the file, no reader of this package does too, and it refuses similar contents.
    - The session is unchanged after it was written to a manifest and read again. In a file of lines, each
      row is in one entry, one note or among the corrupt. No two entries have the same id.
    - A file that is cut short anywhere opens as far as it goes or is refused with `ReadError`. A growing file
      of lines always gives the same session as a new reading.
    - No row's usage counts twice. `tokens` are the sums by name of the file, counted by hand.

    A file is a path, or its bytes. Raises `AssertionError` too if there is no file.

    >>> from inspector.demo import read_demo
    >>> from inspector.formats.readers import find_reader
    >>> check_reader(find_reader(read_demo()), [read_demo()[:20_000]])
    """
    faults: list[str] = []
    count = 0
    for count, file in enumerate(files, 1):
        place = Path(f"file {count}" if isinstance(file, bytes) else file)
        name, data = place.name, file if isinstance(file, bytes) else place.read_bytes()
        messages = _check_file(reader, data, place, (tokens or {}).get(name))
        faults += [f"{name}: {fault}" for fault in messages]
    faults += [
        f"it takes {name} for a session of its own"
        for name, data in LOOK_ALIKES
        if _sniff(reader, data) is None
    ]
    if not count:
        faults.append("there is no file to check it with")
    if faults:
        more = [f"and {len(faults) - MOST:,} more"] if len(faults) > MOST else []
        raise AssertionError("\n".join([f"reader {reader.name}:", *faults[:MOST], *more]))


def _sniff(reader: Reader, data: bytes) -> str | None:
    """Return the reader's reason to refuse the data; an exception is a reason too."""
    try:
        return reader.sniff(data)
    except Exception as error:
        return f"FAILS: {type(error).__name__}: {error}"


def _check_file(reader: Reader, data: bytes, place: Path, tokens: int | None) -> Iterator[str]:
    reason = _sniff(reader, data)
    if reason is not None:
        yield f"it does not know it: {reason}"
        return
    for other in READERS:
        if other.name != reader.name and other.sniff(data) is None:
            yield f"the reader {other.name} takes it too"
    if (renamed := _rename_keys(data)) is not None and _sniff(reader, renamed) is None:
        yield "it takes it with every field under another name too: it looks at no field"
    try:
        session = read_with_others(reader, data, place)
    except Exception as error:
        yield f"it cannot be read: {type(error).__name__}: {error}"
        return
    yield from _check_session(session, data, reader.start is not None)
    yield from _check_usage(session, tokens)
    yield from _check_cuts(reader, data, place)


def _check_session(session: Session, data: bytes, lines: bool) -> Iterator[str]:
    if READER.read(dump_manifest(session).encode("ascii")) != session:
        yield "its session changes when it is written to a manifest and read again"
    twice = [name for name, times in Counter(e.id for e in session.entries).items() if times > 1]
    if twice:
        yield f"{len(twice):,} entries have the name of another, such as {twice[0]!r}"
    for entry in session.entries:
        if entry.role == "tool" and any(block.kind != "tool_output" for block in entry.blocks):
            yield f"entry {entry.id!r} has the role tool and holds more than outputs"
    if session.leaf is not None and session.leaf not in session.index:
        yield f"its leaf {session.leaf!r} is not an entry"
    if lines:
        read = Counter(source for entry in session.entries for source in entry.sources)
        read.update(note.source for note in session.notes)
        named = {source.line for source in read} | {corrupt.line for corrupt in session.corrupt}
        there = {source.line for source, _ in iter_lines(data)}
        for source in read:  # line breaks in a string
            there -= {source.line + 1 + n for n in range(data.count(b"\n", source.offset, sum(source[1:])))}
        if missing := sorted(there - named):
            yield f"row {missing[0]:,} and {len(missing) - 1:,} others are in no entry and no note"
        if wrong := sorted(named - there):
            yield f"row {wrong[0]:,} is named and does not exist"
        if often := sorted((source.line, times) for source, times in read.items() if times > 1):
            yield f"row {often[0][0]:,} counts {often[0][1]} times"


def _check_usage(session: Session, tokens: int | None) -> Iterator[str]:
    paid = [entry for entry in session.entries if entry.usage is not None and entry.usage.tokens]
    for entry, next_ in pairwise(paid):
        shared = {s.line for s in entry.sources} & {s.line for s in next_.sources}
        if entry.usage == next_.usage and (shared or entry.model == next_.model):
            yield f"entries {entry.id!r} and {next_.id!r} have the same usage: a reply is counted twice"
    total = sum(entry.usage.tokens for entry in paid if entry.usage is not None)
    if tokens is not None and total != tokens:
        yield f"its usages add up to {total:,} tokens, not to {tokens:,}"


def _check_cuts(reader: Reader, data: bytes, place: Path) -> Iterator[str]:
    """Yield faults of reading the file cut short, and of following it while it grows."""
    growing = None if reader.start is None else IncrementalReader(reader)
    for end in sorted({*range(0, len(data), max(1, len(data) // CUTS)), len(data)}):
        anew: Session | None = None
        try:
            with suppress(ReadError):
                anew = read_with_others(reader, data[:end], place)
        except Exception as error:
            yield f"cut at byte {end:,} it fails: {type(error).__name__}: {error}"
            return
        if growing is not None:
            growing.feed(data[growing.offset : end])
            with suppress(EmptySession):
                if growing.make_session() != anew:
                    yield f"grown to byte {end:,} it differs from the session of the whole file"
                    return


def _rename_keys(data: bytes) -> bytes | None:
    """Return the file with another name for every field; None if it is not JSON."""

    def rename(value: Any) -> Any:
        if isinstance(value, dict):
            return {f"their_{key}": rename(item) for key, item in value.items()}
        return [rename(item) for item in value] if isinstance(value, list) else value

    with suppress(ValueError, RecursionError):
        return json.dumps(rename(json.loads(data))).encode()
    with suppress(ValueError, RecursionError):
        return b"".join(
            json.dumps(rename(json.loads(bytes(line)))).encode() + b"\n" for _, line in iter_lines(data)
        )
    return None


def check_lesson(lesson: str | os.PathLike[str], session: Session | None = None) -> None:
    """Raise `AssertionError` with all faults of a lesson. Check:

    - It can be read, its texts have their values, and its checks are known.
    - The solution of each question is right, and at least one other answer is wrong.
    - Every wrong answer has feedback of its own.

    `lesson` is a path or the text itself. `session` is by default the session that it names; a path is
    relative to the lesson.

    >>> check_lesson("---\\ntitle: Short\\ngoal: Look.\\n---\\n# reveal: One\\nThe plan sends {after:k}.\\n")
    """
    text, folder = str(lesson), Path()
    if isinstance(lesson, os.PathLike) or "\n" not in text:
        folder, text = Path(lesson).parent, Path(lesson).read_text("utf-8")
    try:
        read = read_lesson(text)
        if session is None:
            inside = read.session in SESSIONS
            session = make_session(read.session) if inside else open_session(folder / read.session)
    except (InspectorError, OSError) as error:
        raise AssertionError(f"the lesson cannot be played: {error}") from error
    faults = list(_check_steps(read, session))
    if faults:
        raise AssertionError("\n".join([f"lesson {read.title}:", *faults[:MOST]]))


def open_check(name: str, seed: int) -> Exercise:
    """Build the question of a lesson's check on the session that a number generates, as the course asks it.

    >>> question = open_check("most-turns", 1)
    >>> question.judge(question.options[question.solution].key)
    True
    """
    return build_check(name, seed, Charts())


def _check_steps(lesson: Lesson, session: Session) -> Iterator[str]:
    stage = LessonStage(lesson, session)
    for number, step in enumerate(lesson.steps, 1):
        where = f"step {number}, line {step.line}:"
        try:
            if step.kind == "check":
                build_check(step.title, 0, Charts())
            exercise = stage.build_step(step).get("exercise")
        except InspectorError as error:
            yield f"{where} {error}"
            continue
        if exercise is None:
            continue
        solution = exercise.options[exercise.solution]
        if not solution.right:
            yield f"{where} its solution is refused: {solution.says}"
        if all(option.right for option in exercise.options):
            yield f"{where} every answer is right"
        silent = [option.label for option in exercise.options if not option.right and option.says == SILENT]
        if silent:
            yield f"{where} nothing is said about {', '.join(silent[:3])}"
