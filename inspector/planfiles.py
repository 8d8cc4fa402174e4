"""DOOR: saved plans. A plan is written to a new file, never over another, and made again from it."""

from __future__ import annotations

import os
from pathlib import Path

from .disk import StrPath, find_place, open_session, write_new
from .planning.plan import Plan
from .planning.saved_plan import make_again, name_plan, number_name, read_plan, write_plan
from .session.session import Session
from .tokens.ledger import Ledger


def save_plan(plan: Plan, path: StrPath) -> Path:
    """Write a plan to a new file: policy, settings, cut and pins, the session's hash, and what came of it.

    No text of the transcript goes into it. Raises `FileExistsError` where anything stands already, and
    `OSError` when the place cannot be written.

    >>> from tempfile import TemporaryDirectory
    >>> from inspector import count_tokens, make_plan, open_bundled
    >>> session = open_bundled()
    >>> plan = make_plan(session, count_tokens(session), "pi", {"cut": "end"})
    >>> with TemporaryDirectory() as folder:
    ...     again = open_plan(save_plan(plan, f"{folder}/mine.plan.json"), session)
    >>> again.recipe == plan.recipe, again.after == plan.after
    (True, True)
    """
    target = Path(os.path.realpath(Path(path).expanduser()))
    write_new(target, write_plan(plan).encode("ascii"))
    return target


def open_plan(path: StrPath, session: Session | StrPath, *, ledger: Ledger | None = None) -> Plan:
    """The plan that a file keeps, made again of its session; a file that has grown since is taken as it was.

    Raises `OtherSession` for another session than the one it was saved of, `PlanError` for a file that holds
    no plan or one that does not come out equal any more, `PolicyError` for a rule that is not known here.
    """
    place = find_place(path)
    saved = read_plan(place.read_bytes(), str(place))
    if not isinstance(session, Session):
        session = open_session(session)
    return make_again(saved, session, str(place), ledger)


def save_beside(plan: Plan, home: str = "") -> Path:
    """The same in the first free "<session>.plan.json" beside the session's file `home`, or in this folder.

    A plan that was saved there already is not written twice.
    """
    folder = Path(home).expanduser().parent if home else Path()
    name, content = name_plan(plan.ledger.session, home), write_plan(plan).encode("ascii")
    number = 1
    while True:
        target = folder / number_name(name, number)
        try:
            write_new(target, content)
        except FileExistsError:
            if target.is_file() and target.read_bytes() == content:
                return target
            number += 1
        else:
            return target
