"""A pytest plugin that changes one text of the package as it is imported: `-p tests.mutated_import`.

The environment says what, as JSON in `MUTANT`: `file` (from the root), `old`, which the file holds once,
`new`, and `row`, the statements whose tests are to notice; other tests are left out. No file is changed.
"""

from __future__ import annotations

import builtins
import io
import json
import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import pytest

from tests.checklist import ROOT, find_ids

_MUTANT: dict[str, str] = json.loads(os.environ.get("MUTANT", "{}"))


def replace_once(text: str, old: str, new: str) -> str:
    """The text with `new` in place of `old`. Raises ValueError where `old` does not stand there once."""
    if (times := text.count(old)) != 1:
        raise ValueError(f"what is to be replaced stands {times} times in the file: {old!r}")
    return text.replace(old, new)


class _Loader(SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType | None:
        source = Path(self.path).read_text("utf-8")
        code = replace_once(source, _MUTANT["old"], _MUTANT["new"])
        return compile(code, self.path, "exec", dont_inherit=True)


class _Finder(MetaPathFinder):
    def __init__(self, file: Path) -> None:
        self.file = file
        self.name = ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self.name:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None:
            spec.loader = _Loader(fullname, str(self.file))
        return spec


def _change_text(file: Path) -> None:
    """Let whoever reads this file, a page of prose or a table of contents, read it changed."""
    read, opened = Path.read_text, builtins.open

    def read_changed(path: Path, *args: Any, **options: Any) -> str:
        text = read(path, *args, **options)
        return replace_once(text, _MUTANT["old"], _MUTANT["new"]) if path.resolve() == file else text

    def open_changed(path: Any, *args: Any, **options: Any) -> Any:
        if isinstance(path, str | Path) and Path(path).resolve() == file:
            return io.StringIO(read_changed(Path(path), "utf-8"))
        return opened(path, *args, **options)

    setattr(Path, "read_text", read_changed)  # noqa: B010 - a method is not assigned to otherwise
    setattr(builtins, "open", open_changed)  # noqa: B010


if _MUTANT and _MUTANT["file"].endswith((".md", ".pyi")):
    _change_text(ROOT / _MUTANT["file"])
if _MUTANT and _MUTANT["file"].endswith(".py"):
    finder = _Finder(ROOT / _MUTANT["file"])
    if early := [name for name in sys.modules if name.partition(".")[0] == "inspector"]:
        raise RuntimeError(f"the package was imported before it could be changed: {', '.join(early)}")
    sys.meta_path.insert(0, finder)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave only the tests that carry the row, or one of the rows, of `MUTANT`."""
    if rows := set(_MUTANT.get("row", "").split()):
        others = [item for item in items if not rows & set(find_ids(item.name.partition("[")[0]))]
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if item not in others]
