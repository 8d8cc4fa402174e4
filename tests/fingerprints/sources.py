"""Where sessions are from: files that are some, files that hold some, and the demo."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from .names import api

INSIDE = (("input", "session"), ("finalSession",), ("input",), ("input", "initialMessages"))
"""Members of a JSON document that may hold a session."""


class Source(NamedTuple):
    """Where a session is from: a file, and the members of it that lead there; no file for the demo."""

    name: str
    file: Path | None
    row: int = -1
    inside: tuple[str, ...] = ()


def list_files(paths: Iterable[Path]) -> Iterator[tuple[str, Path]]:
    """Every file below the paths by a name that does not depend on where the paths are."""
    for path in paths:
        for file in sorted([path] if path.is_file() else path.rglob("*")):
            if file.is_file():
                name = path.name if file == path else f"{path.name}/{file.relative_to(path).as_posix()}"
                yield name, file


def look_into(name: str, file: Path) -> Iterator[Source]:
    """The sessions inside a file that is none."""
    if file.suffix not in (".json", ".jsonl"):
        return
    lines = file.read_bytes().splitlines() if file.suffix == ".jsonl" else [file.read_bytes()]
    for row, line in enumerate(lines):
        for inside in INSIDE:
            number = f"#{row}" if file.suffix == ".jsonl" else ""
            source = Source(f"{name}{number}#{'.'.join(inside)}", file, row, inside)
            try:
                open_source(source, line)
            except (api.InspectorError, ValueError, KeyError, TypeError):
                continue
            yield source
            break


def open_source(source: Source, line: bytes | None = None) -> Any:
    """Its session. Raises as the readers do, and KeyError or ValueError where there is nothing to read."""
    if source.file is None:
        return api.open_demo()
    if not source.inside:
        return api.open_session(source.file)
    if line is None:
        content = source.file.read_bytes()
        line = content.splitlines()[source.row] if source.file.suffix == ".jsonl" else content
    value = json.loads(line)
    for member in source.inside:
        value = value[member]
    return api.read_session(json.dumps(value).encode("utf-8", "surrogatepass"), source.name)


def find_sources(paths: Iterable[Path], every: int) -> tuple[list[Source], list[tuple[str, str]]]:
    """The sessions, one of so many where they are inside other files, and why a file is none itself."""
    sources, refused, inside = [Source("demo", None)], [], list[Source]()
    for name, file in list_files(paths):
        try:
            api.open_session(file)
        except api.InspectorError as error:
            inside += look_into(name, file)
            refused.append((name, str(error).replace(str(file), name)))
        else:
            sources.append(Source(name, file))
    return sources + inside[::every], refused
