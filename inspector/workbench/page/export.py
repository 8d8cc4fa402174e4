"""I/O: a workbench as one HTML file that opens anywhere, with no network and no kernel.

`html` makes the page, redacts it and names its file; this module writes it in one step.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from ...errors import ArgumentError
from ...faults import Fault
from ...files import StrPath, open_session, resolve_place, write_whole
from ...redaction.redact import SecretFinding
from ...session.provenance import file_mode_of
from ...session.session import Session
from ...text import plural, printable, printed
from ..model import WorkbenchModel
from ..opening import AUTO
from .html import MARK, make

_HEAD = 4_000


class HasModel(Protocol):
    """A workbench, as far as a page needs one; its model changes no more."""

    @property
    def model(self) -> WorkbenchModel: ...


@dataclass(frozen=True)
class ExportedPage:
    """An exported page: its file, its size in bytes, what was redacted, and what was kept by name.

    `faults` lists the sections that were left out because of an unexpected exception (`Fault`).

    >>> found = SecretFinding("email 0a1b2c3d", "email", "personal", times=2, where=("m1/0",))
    >>> ExportedPage(Path("talk.html"), 196_400, redacted=(found,), kept=(), notes=())
    ExportedPage(talk.html, 196 kB: 2 passages redacted)
      email 0a1b2c3d                     ×2     an e-mail address
    """

    path: Path
    size: int
    redacted: tuple[SecretFinding, ...]
    kept: tuple[str, ...]
    notes: tuple[str, ...]
    faults: tuple[Fault, ...] = ()

    def __fspath__(self) -> str:
        return str(self.path)

    @printed
    def __repr__(self) -> str:
        count = sum(item.times for item in self.redacted)
        redacted = f"{plural(count, 'passage')} redacted" if count else "nothing redacted"
        if self.kept:
            redacted += f", {len(self.kept)} kept by name"
        lines = [f"ExportedPage({self.path.name}, {self.size / 1000:,.0f} kB: {redacted})"]
        lines += [f"  {item.name:<34} ×{item.times:<5,} {item.hint}" for item in self.redacted]
        lines += [f"  left out: {printable(str(fault))}" for fault in self.faults]
        return "\n".join(lines)


def export_html(
    what: Session | WorkbenchModel | HasModel | StrPath,
    path: StrPath,
    *,
    keep: Collection[str] = (),
    replace: bool = False,
    **options: Any,
) -> ExportedPage:
    """Write a session, a session file, or the current state of a workbench as one HTML page.

    In the page users can drag the cut, open blocks, and read what every policy would leave; another policy's
    plan and changing a rule need a kernel. Secrets are redacted. The result lists them.

    Args:
        what: A session, the path of one, or a workbench.
        path: The file to write.
        keep: Names of secrets that are not redacted, from the result of an earlier export.
        replace: Whether to overwrite a file that is not an exported page.
        options: Arguments of `WorkbenchModel` for a session: window, counter, and the policy, by default
            "auto" as in a workbench.

    Raises `FileExistsError` if the file exists and is not an exported page, unless `replace` is set, and
    always if it is the session itself; `RedactionError` if the search for secrets failed; `PolicyError` and
    `EditError` for unknown names; `OSError` if the file cannot be written. An existing file then stays.

    >>> from tempfile import TemporaryDirectory
    >>> from inspector import read_session
    >>> session = read_session([{"role": "user", "content": "TOKEN=hf_abcdefghijklmnopqrstuvwxyzABCDEFGH"}])
    >>> with TemporaryDirectory() as folder:
    ...     page = export_html(session, Path(folder, "talk.html"))
    ...     print([found.kind for found in page.redacted], "hf_abc" in page.path.read_text("utf-8"))
    ['huggingface-token'] False
    """
    target = resolve_place(path, "export_html")
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder")
    if target.exists() and not replace and not _is_ours(target):
        raise FileExistsError(
            f"{target} is not an exported page, so it is not overwritten without replace=True"
        )
    if isinstance(what, str | os.PathLike) and target.exists() and target.samefile(Path(what).expanduser()):
        raise FileExistsError(f"{target} is the session itself, which is only ever read")
    model = _find_model(what, options)
    page = make(model, keep)
    content = page.html.encode("utf-8")
    write_whole(target, content, file_mode_of(model.session))
    return ExportedPage(target, len(content), page.findings, page.kept, page.notes, page.faults)


def _find_model(
    what: Session | WorkbenchModel | HasModel | StrPath, options: dict[str, Any]
) -> WorkbenchModel:
    if isinstance(what, str | os.PathLike):
        what = open_session(what)
    if isinstance(what, Session):
        return WorkbenchModel(what, **{"policy": AUTO, **options})
    if options:
        raise TypeError(f"these belong to a session, not to a workbench: {', '.join(sorted(options))}")
    if not isinstance(what, WorkbenchModel) and not hasattr(what, "model"):
        raise ArgumentError("export_html", "what", what, "a session, the path of one or a workbench")
    # A model replaces what it holds and never changes it in place: the copy stays as it is.
    return copy(what) if isinstance(what, WorkbenchModel) else what.model


def _is_ours(target: Path) -> bool:
    if not target.is_file():
        return False
    with target.open("rb") as file:
        head = file.read(_HEAD)
    return not head or f'<meta name="generator" content="{MARK}">'.encode() in head
