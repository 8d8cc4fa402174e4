"""DOOR: a workbench as one HTML file that opens anywhere, with no network and no kernel.

`html` makes the page and redacts it; here it is only written, in one step.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
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
from .html import MARK, Page, make

_HEAD = 4_000


class HasModel(Protocol):
    """A workbench, as far as a page needs one; its model changes no more."""

    @property
    def model(self) -> WorkbenchModel: ...


@dataclass(frozen=True)
class ExportedPage:
    """What was written: the file, its size in bytes, what was redacted, what was kept by name.

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
        told = f"{plural(count, 'passage')} redacted" if count else "nothing redacted"
        if self.kept:
            told += f", {len(self.kept)} kept by name"
        lines = [f"ExportedPage({self.path.name}, {self.size / 1000:,.0f} kB: {told})"]
        lines += [f"  {item.name:<34} ×{item.times:<5,} {item.hint}" for item in self.redacted]
        lines += [f"  left out: {printable(str(fault))}" for fault in self.faults]
        return "\n".join(lines)


def export_html(
    what: Session | WorkbenchModel | HasModel | StrPath,
    path: StrPath,
    *,
    policies: Sequence[str] | None = None,
    keep: Collection[str] = (),
    replace: bool = False,
    **options: Any,
) -> ExportedPage:
    """Write a session, a file of one, or a workbench as it stands, as one HTML page.

    The result lists what was redacted. In the page the cut can be dragged, the plans of `policies` switched
    and compared, and blocks opened; to change a rule needs a kernel. All that looks like a secret is taken
    out but the names in `keep`, which the result of an earlier export lists. `options` are those of
    `WorkbenchModel` for a session: window, counter, and the policy, by default "auto" as in a workbench.

    Raises `FileExistsError` rather than write over a file that is no such page, unless `replace`, and always
    rather than over the session itself; `RedactionError` when secrets could not be looked for; `PolicyError`
    and `EditError` for names that do not exist; `OSError` when the place cannot be written. Whatever stood
    there then still does.

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
        raise FileExistsError(f"{target} is no exported page, so it is not written over; replace=True does")
    if isinstance(what, str | os.PathLike) and target.exists() and target.samefile(Path(what).expanduser()):
        raise FileExistsError(f"{target} is the session itself, which is only ever read")
    model = _find_model(what, options)
    made = make(model, keep, policies)
    content = made.html.encode("utf-8")
    write_whole(target, content, file_mode_of(model.session))
    return _report(made, target, len(content))


def _report(made: Page, target: Path, size: int) -> ExportedPage:
    return ExportedPage(target, size, made.findings, made.kept, made.notes, made.faults)


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
