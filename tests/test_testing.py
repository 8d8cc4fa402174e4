"""`check_reader` passes good readers, our own among them, and says of each fault what it is."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from inspector import open_session
from inspector.formats.harnesses.codex import read as codex
from inspector.formats.harnesses.pi import flue
from inspector.formats.json_lines import Reader, read_lines
from inspector.formats.recording import ReplayedRows
from inspector.testing import check_reader
from tests.formats.test_every_format import FILES

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / ".github" / "CONTRIBUTING.md").read_text("utf-8")
SECTION = PAGE.partition("## A reader in 40 lines\n")[2].partition("\n## ")[0]
CODEX = next(path for path in FILES if path.name == "codex.jsonl")


def test_the_reader_of_the_page_runs_as_printed_and_is_found_by_its_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, test = re.findall(r"^```python\n(.*?)^```$", SECTION, re.DOTALL | re.MULTILINE)
    body = module.partition('NAME = "tidelog"\n')[2]
    assert sum(bool(line.strip()) for line in body.splitlines()) <= 40
    (tmp_path / "tidelog_reader.py").write_text(module)
    about = tmp_path / "tidelog-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: tidelog\nVersion: 1.0\n")
    group, line = re.findall(r"`(\[project\.entry-points.*?\])` with `(.*?)`", SECTION)[0]
    assert group == '[project.entry-points."inspector.readers"]'
    (about / "entry_points.txt").write_text(f"[inspector.readers]\n{line.replace(chr(34), '')}\n")
    monkeypatch.syspath_prepend(tmp_path)
    names: dict[str, Any] = {"__name__": "tidelog_reader"}
    exec(module + test, names)
    path = tmp_path / "tide.log"
    path.write_bytes(names["LOG"])
    session = open_session(path)
    assert repr(session.source) == "Tidelog 2.1, deep-3"
    assert (len(session.turns), len(session.boundaries), session.records) == (2, 1, 5)
    assert session.entries[1].usage.input == 20, "what was read from the cache is no input"  # type: ignore[union-attr]


def tell(reader: Reader, *files: Any, **more: Any) -> str:
    with pytest.raises(AssertionError) as caught:
        check_reader(reader, files, **more)
    return str(caught.value)


class CodexRows(ReplayedRows):
    """What Codex's reader starts."""

    def __init__(self) -> None:
        super().__init__(codex.Rollout)


class Forgetful(CodexRows):
    """Loses the last row."""

    def make_session(self) -> Any:
        rows, self.rows = self.rows, self.rows[:-1]
        try:
            return super().make_session()
        finally:
            self.rows = rows


class Generous(CodexRows):
    """Counts a reply's usage with the entry after it too."""

    def make_session(self) -> Any:
        session = super().make_session()
        at = next(at for at, entry in enumerate(session.entries) if entry.usage is not None)
        entries = list(session.entries)
        usage, model = entries[at].usage, entries[at].model
        entries[at + 1] = entries[at + 1].model_copy(update={"usage": usage, "model": model})
        return session.model_copy(update={"entries": tuple(entries)})


class Brittle(CodexRows):
    """Cannot do with a line that is not whole."""

    def make_session(self) -> Any:
        if self.corrupt:
            raise KeyError("payload")
        return super().make_session()


def remade(lines: Any) -> Reader:
    return replace(codex.READER, start=lines, read=lambda data: read_lines(lines(), data))


def test_each_fault_is_told() -> None:
    data = CODEX.read_bytes()
    assert "are in no entry and no note" in tell(remade(Forgetful), CODEX)
    assert "the same usage: a reply is counted twice" in tell(remade(Generous), CODEX)
    assert "it fails: KeyError" in tell(remade(Brittle), CODEX)
    assert "it does not know it: none of its first lines" in tell(codex.READER, b"{}")
    assert "there is no file" in tell(codex.READER)
    greedy = tell(replace(codex.READER, sniff=lambda _: None), CODEX)
    assert "it takes a picture for a session of its own" in greedy
    assert "it looks at no field" in greedy
    assert "the reader codex takes it too" in tell(replace(codex.READER, name="mine"), data)
    other = replace(flue.READER, sniff=codex.sniff, start=None)
    assert "it cannot be read: ReadError" in tell(other, data)
