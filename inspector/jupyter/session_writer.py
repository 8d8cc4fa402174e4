"""Write the sessions that a workbench offers as new files: compacted by the plan, or reopened at an entry.

The input is a model and the bytes of the session's file; the output is the whole content and a preview. The
caller, which shows the workbench, writes it to a new file next to the session's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any, cast
from uuid import uuid4

import numpy as np
from msgspec.structs import replace

from ..errors import EditError, InspectorError
from ..formats.exports.fork import FORKS, fork_session, name_fork
from ..formats.exports.writers import ALL_FORMATS, Format, export_session
from ..formats.manifest import dump_manifest
from ..formats.readers import read_session
from ..planning.plan import Plan
from ..policies.table import POINTER
from ..session.blocks import ToolOutput
from ..session.provenance import HARNESSES
from ..session.session import Session
from ..summaries.compaction import carry_out
from ..summaries.record import stored_part
from ..text import plural, printable
from ..workbench.model import WorkbenchModel
from ..workbench.opening import list_marks
from ..workbench.payloads.base_payload import Labelled
from ..workbench.payloads.new_file import NewFile, NewFilePreview

GO_ON = {
    "claude-code": "To continue it, run `claude --resume {id}` in its project.",
    "pi": "To continue it, run `pi --session {name}`.",
}
"""How to continue a new session in each harness."""
MANIFEST = "This package reads it: open_session({name!r})."
PLACEHOLDER = "a placeholder that no model wrote: write one first, in the tab Summary"
MOST_PLACES = 200
"""Maximum number of turns at which reopening is offered; the last ones if there are more."""


def offer_file(
    model: WorkbenchModel,
    query: Mapping[str, Any],
    read: Callable[[], bytes | None],
    file: str,
    folder: str,
) -> NewFile:
    """Build a new file and its preview.

    The query's `kind` is "compacted" for the session after the plan, or "reopened" for a copy up to the entry
    `at`. `read` returns the unpacked bytes of the session's file, or None; `folder` is the folder of the new
    file, for the preview. If it cannot be built, the preview's `problem` says why.
    """
    kind = str(query.get("kind"))
    if kind not in ("compacted", "reopened"):
        raise EditError("kind", kind[:60], 'must be "compacted" or "reopened"')
    reopened = kind == "reopened"
    places = list_places(model) if reopened else []
    at = str(query.get("at") or model.moment.leaf or "") if reopened else ""
    try:
        new_file = _reopen(model, places, at, read) if reopened else _compact(model, file)
        lines = [Labelled("folder", printable(folder)), *new_file.preview.lines]
        return new_file._replace(preview=replace(new_file.preview, lines=lines))
    except InspectorError as error:
        why = error.reason if isinstance(error, EditError) else str(error)
        return NewFile(NewFilePreview("", [], places, at, _sentence(why)), b"", "")


def list_places(model: WorkbenchModel) -> list[Labelled]:
    """List the points at which the session can be reopened: each turn's end and around each compaction.

    >>> from inspector import open_demo
    >>> model = WorkbenchModel(open_demo())
    >>> _ = model.answer({})
    >>> [place.label for place in list_places(model)][13:17]
    ['after turn 14', 'before ◆1, in turn 15', 'after ◆1, in turn 15', 'after turn 15']
    """
    session = model.session
    starts = {turn.first: turn.number + 1 for turn in session.turns}
    ends = {turn.last: turn.number + 1 for turn in session.turns}
    marks = [mark for mark in list_marks(session, model.history) if mark.kind == "compact"]
    before, after = {mark.at: mark.sign for mark in marks}, {mark.entry: mark.sign for mark in marks}
    places: list[Labelled] = []
    turn = 0
    for at, number in enumerate(session.path):
        name, turn = session.entries[number].id, starts.get(at, turn)
        if name in before:
            places.append(Labelled(name, f"before {before[name]}, in turn {turn}"))
        elif name in after:
            places.append(Labelled(name, f"after {after[name]}, in turn {turn}"))
        elif at in ends:
            places.append(Labelled(name, f"after turn {ends[at]}"))
    return places[-MOST_PLACES:]


def _reopen(
    model: WorkbenchModel, places: list[Labelled], at: str, read: Callable[[], bytes | None]
) -> NewFile:
    session = model.session
    try:
        data = read()
    except OSError as error:
        raise EditError("reopen", session.id, f"its file can no longer be read: {error.strerror}") from None
    if data is None:
        raise EditError("reopen", session.id, "this session has no file whose records could be copied")
    moment = session.at(at)
    leaf = moment.leaf or ""
    title, name = name_fork(session, leaf), str(uuid4())
    content = fork_session(session, data, leaf, name, lambda: str(uuid4()), title)
    if leaf not in {place.id for place in places}:
        places = [Labelled(leaf, f"at the shown entry, in turn {len(moment.turns)}"), *places]
    lines = [
        Labelled("title", title),
        Labelled(
            "holds", f"{plural(len(moment.turns), 'turn')}, {plural(len(moment.path), 'entry', 'entries')}"
        ),
        *_tell_session(session.format, name, content),
        Labelled("forked from", f"{session.id}, entry {leaf}"),
    ]
    preview = NewFilePreview(f"{name}.jsonl", lines, places, leaf, "")
    return NewFile(preview, content, _go_on(session.format, name, preview.name))


def _compact(model: WorkbenchModel, file: str) -> NewFile:
    plan = model.plan
    done = carry_out(plan)
    if not done.done:
        raise EditError("save", plan.policy.name, done.why)
    session = model.session
    lines = [
        Labelled("compacted by", printable(plan.policy.title or plan.policy.name)),
        Labelled("next request", f"{plan.before:,} tokens before, {plan.after:,} after"),
        Labelled("holds", plural(len(done.after.path), "entry", "entries")),
        *_tell_summary(plan),
    ]
    missing = _tell_missing(plan, file)
    lines += missing
    if session.format in FORKS:
        written = export_session(done.after, cast(Format, session.format))
        again = read_session(bytes(written), "the compacted session", session.format)
        name = str(uuid4())
        title = f"{session.title or session.id}, compacted by {plan.policy.name}"
        content = fork_session(again, bytes(written), again.leaf or "", name, lambda: str(uuid4()), title)
        lines += [*_tell_session(session.format, name, content), Labelled("title", title)]
        lines += [Labelled("not in it", loss.sentence) for loss in written.losses]
        target, sentence = f"{name}.jsonl", _go_on(session.format, name, f"{name}.jsonl")
    else:
        content, losses, suffix = _write(done.after)
        stem = PurePath(file or session.id).name.partition(".")[0] or "session"
        target = f"{stem}.compacted{suffix}"
        lines.append(Labelled("size", f"{len(content):,} bytes"))
        lines += [Labelled("not in it", loss) for loss in losses]
        sentence = MANIFEST.format(name=target)
    sentence = " ".join([sentence, *(f"{_sentence(line.label)}" for line in missing)])
    return NewFile(NewFilePreview(target, lines, [], "", ""), content, sentence)


def _write(session: Session) -> tuple[bytes, list[str], str]:
    """Return the session in its own format, if it can be written, with the losses; else as a manifest."""
    if session.format in ALL_FORMATS:
        written = export_session(session, cast(Format, session.format))
        suffix = ".jsonl" if session.format == "codex" else ".json"
        return bytes(written), [loss.sentence for loss in written.losses], suffix
    return dump_manifest(session).encode("ascii"), [], ".session.json"


def _tell_session(format: str, name: str, content: bytes) -> list[Labelled]:
    return [
        Labelled("as", f"a new session of {HARNESSES.get(format, format)}'s, {name}"),
        Labelled("size", f"{len(content):,} bytes"),
    ]


def _tell_summary(plan: Plan) -> list[Labelled]:
    if not plan.summary_tokens:
        return []
    return [Labelled("summary", PLACEHOLDER if plan.checkpoint is None else "the one that was written")]


def _tell_missing(plan: Plan, file: str) -> list[Labelled]:
    """Return a line about outputs whose pointers name files: these files are not part of the session."""
    core = stored_part(plan)
    codes = [code for code, rule in enumerate(core.policy.rules) if rule.names_files]
    rows = np.flatnonzero((core.fate == POINTER) & np.isin(core.outcome.rule, codes))
    outputs = [block for row in rows.tolist() if isinstance(block := core.table.block(row), ToolOutput)]
    lacking = sum(output.artifact is None for output in outputs)
    if not lacking:
        return []
    were, they = ("output is", "its") if lacking == 1 else ("outputs are", "their")
    where = printable(PurePath(file).name) or "the session that was compacted"
    words = (
        f"{lacking} {were} replaced by the path of a file that is not written; {they} text stays in {where}"
    )
    return [Labelled("files", words)]


def _go_on(format: str, id: str, name: str) -> str:
    return GO_ON[format].format(id=id, name=name)


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}".rstrip(".") + "."
