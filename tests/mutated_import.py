"""Change one text of the package as it is imported.

The environment says what, as JSON in `MUTANT`: `file` (from the root), `old`, which the file holds once, and
`new`. No file is changed.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

ROOT = Path(__file__).resolve().parents[1]
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


if _MUTANT:
    finder = _Finder(ROOT / _MUTANT["file"])
    if early := [name for name in sys.modules if name.partition(".")[0] == "inspector"]:
        raise RuntimeError(f"the package was imported before it could be changed: {', '.join(early)}")
    sys.meta_path.insert(0, finder)
