"""A `WorkbenchModel` -> one HTML page that works by itself: no server, no network, no kernel, no secrets.

The page holds the workbench's own front end, the plans of some policies at every cut, and the texts of the
blocks after secrets were taken out of them. Nothing in it may ask for anything: its policy of content allows
its own script and style, by their hashes, and nothing else.
"""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64encode, b85encode
from collections import Counter
from collections.abc import Collection, Sequence
from copy import copy
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import ClassVar, NamedTuple

import numpy as np

from ...errors import RedactionError
from ...faults import Fault
from ...redaction.clean import clean_session, look_through
from ...redaction.cut import cut_text
from ...redaction.patterns import Grade
from ...redaction.redact import Redactor, SecretFinding, keep_names
from ...text import join_words, plural, printable
from ..model import WorkbenchModel
from ..payloads.base_payload import Payload
from ..payloads.header import find_title
from ..snapshot import draw_still, tabulate
from ..svg import STYLE
from .contents import Answers

LARGEST = 1_500_000
"""Bytes of a page at most; the texts of blocks are shortened to stay within it."""
CAPS = (20_000, 8_000, 3_000, 1_000, 300, 0)
TOO_DEEP = "a value of the session is nested too deeply to be looked through"
MOST_KINDS = 3
"""Kinds of redacted passages that a page names."""
NO_SCRIPT = "This page works with scripts, which are off here: this is the plan as it was when it was saved."
MARK = "compaction-inspector"
"""The generator every page of ours names."""


class Page(NamedTuple):
    """A page, the name of a file for it, and the secrets that were redacted or kept."""

    html: str
    name: str
    findings: tuple[SecretFinding, ...]
    kept: tuple[str, ...]
    notes: tuple[str, ...]
    faults: tuple[Fault, ...] = ()


class Secret(Payload, frozen=True):
    """A secret that would be redacted on a page, by its name, without its text."""

    name: str
    grade: Grade
    count: int
    where: list[str]
    hint: str


class ReviewReply(Payload, frozen=True):
    """All that would be redacted in a page."""

    findings: list[Secret]
    sentence: str


class ExportReply(Payload, frozen=True):
    """A whole page; `size` in bytes, `name` for its file."""

    finished: ClassVar[bool] = True
    html: str
    size: int
    name: str


def review(model: WorkbenchModel) -> ReviewReply:
    """Find everything that would be redacted on a page of this model, without showing it.

    Raises `RedactionError` if a text cannot be checked.
    """
    try:
        findings = _look(model, ()).findings
    except RecursionError as error:
        raise RedactionError(TOO_DEEP) from error
    secrets = [
        Secret(item.name, item.grade, item.times, [cut_text(place, 120) for place in item.where], item.hint)
        for item in findings
    ]
    return ReviewReply(secrets, describe_findings(findings))


def make(model: WorkbenchModel, keep: Collection[str] = ()) -> Page:
    """Make the page of a model. Secrets are redacted, except the names in `keep`.

    Raises `EditError` for names that do not exist, and `RedactionError` rather than make a page that may hold
    a secret.
    """
    if not hasattr(model, "plan"):
        model.answer({})
    model = copy(model)
    model.show_worst()
    try:
        return _make(model, keep)
    except RecursionError as error:
        raise RedactionError(TOO_DEEP) from error


def _make(model: WorkbenchModel, keep: Collection[str]) -> Page:
    redactor = _look(model, keep)
    redactor.check_keep()
    shown = _shown(model)
    # The title may be the first prompt, even if the page does not include that message.
    title = redactor.clean(find_title(model.session, model.file))
    clean = clean_session(model.session, shown, redactor).model_copy(update={"title": title})
    answers = Answers(model, redactor, clean)
    findings = redactor.findings
    hidden = tuple(item for item in findings if item.name not in redactor.keep)
    for cap in CAPS:
        notes = [
            *_describe_faults(answers.faults),
            *_describe_shortened(answers, cap),
            *_describe_redacted(hidden),
        ]
        html = _write(answers, redactor, cap, notes)
        if len(html.encode()) <= LARGEST:
            break
    name = re.sub(r"[^\w.-]+", "-", redactor.clean(model.session.title or model.session.id or "session"))
    name = re.sub(r"\.(jsonl?|html?)$", "", name.strip("-.") or "session")[:60]
    keep_names = tuple(sorted(redactor.keep))
    return Page(html, f"{name}.html", hidden, keep_names, tuple(notes), tuple(answers.faults))


def describe_findings(findings: Sequence[SecretFinding]) -> str:
    """How many secrets there are, as a sentence."""
    secret = sum(item.grade == "secret" for item in findings)
    personal = len(findings) - secret
    if not findings:
        return "Nothing that looks like a secret was found; a detector can miss one, so look yourself too."
    parts = [plural(secret, "secret")] if secret else []
    parts += [plural(personal, "personal name")] if personal else []
    return (
        f"{' and '.join(parts)} found; all are redacted except those kept by name. A detector can miss one."
    )


def _shown(model: WorkbenchModel) -> set[int]:
    """Return the entries whose words a page can hold: the session's own, and the tasks of sub-agents.

    Blocks are those of the planned context; a finding quotes what was said at any time.
    """
    begins: dict[str, int] = {}
    own: list[int] = []
    for at, entry in enumerate(model.session.entries):
        if entry.sidechain is None:
            own.append(at)
        else:
            begins.setdefault(entry.sidechain, at)
    return {*own, *begins.values()}


def _look(model: WorkbenchModel, keep: Collection[str]) -> Redactor:
    redactor = Redactor(keep_names(keep))
    look_through(model.session, _shown(model), redactor)
    redactor.look("file", model.file)
    redactor.look("title", find_title(model.session, model.file))
    redactor.look("what is wanted", {name: model.inputs[name] for name in ("settings", "pins", "versus")})
    redactor.look(
        "a summary", [text for plan in model.written for text in (plan.checkpoint.text, plan.checkpoint.by)]
    )
    return redactor


def _describe_shortened(answers: Answers, cap: int) -> list[str]:
    cut = answers.count_cut(cap)
    if not cut or cap == CAPS[0]:
        return []
    size = f"{LARGEST / 1e6:.1f} MB"
    if cap == 0:
        return [
            f"The texts of all {len(answers.bodies):,} blocks were left out: with any, it would pass {size}."
        ]
    texts = plural(cut, "text is", "texts are")
    return [f"{texts} cut at {cap:,} characters to keep this page under {size}."]


def _describe_faults(faults: Sequence[Fault]) -> list[str]:
    names = ", ".join(dict.fromkeys(fault.part for fault in faults))
    return [f"Left out, because of a fault of {MARK}: {names}."] if faults else []


def _describe_redacted(hidden: Sequence[SecretFinding]) -> list[str]:
    if not hidden:
        return []
    passages = plural(sum(item.times for item in hidden), "passage was", "passages were")
    times: Counter[str] = Counter()
    for item in hidden:
        times[item.hint] += item.times
    kinds = [f"{hint} ({number:,}×)" if len(times) > 1 else hint for hint, number in times.most_common()]
    more = [plural(len(kinds) - MOST_KINDS, "more kind")] if kinds[MOST_KINDS:] else []
    named = join_words([*kinds[:MOST_KINDS], *more])
    return [f"{passages} redacted: {named}. Figures count the texts as they were."]


def _write(answers: Answers, redactor: Redactor, cap: int, notes: Sequence[str]) -> str:
    packed = answers.pack(cap)
    packed["scene"] = redactor.clean_tree(packed["scene"])
    packed["scene"]["notices"] = [*notes, *packed["scene"]["notices"]]
    # The last look: what was found must be nowhere, however it came here.
    redactor.check([packed, answers.shown[0]])
    header = json.dumps(packed, ensure_ascii=False, separators=(",", ":"))
    head = header.encode("utf-8")
    head += b" " * (-(4 + len(head)) % 4)
    # The first bytes of all numbers, then the second ones and so on: half as large once it is packed.
    planes = np.frombuffer(answers.buffers.data, np.uint8).reshape(-1, 4).T.tobytes()
    frame = len(head).to_bytes(4, "little") + head + planes
    data = _pack(frame)
    script, style = read_static("boot.js"), read_static("page.css")
    (code, runs), (look, applies) = _pack_static("page.js"), _pack_static("widget.css")
    policy = (
        f"default-src 'none'; script-src '{hash_source(script)}' '{runs}'; "
        f"style-src '{hash_source(style)}' '{hash_source(STYLE)}' '{applies}'; "
        "base-uri 'none'; form-action 'none'"
    )
    title = escape(cut_text(packed["scene"]["header"]["title"], 120))
    notes_html = "".join(f"<p>{escape(printable(note))}</p>" for note in notes)
    still = f"<h1>{title}</h1><p>{NO_SCRIPT}</p>{_draw_image(answers)}{notes_html}"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
        f'<meta name="generator" content="{MARK}">\n<meta name="referrer" content="no-referrer">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title} · compaction</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f'<main id="workbench"></main>\n<noscript>{still}</noscript>\n'
        f'<script type="application/octet-stream" id="data">{data}</script>\n'
        f'<script type="application/octet-stream" id="look">{look}</script>\n'
        f'<script type="application/octet-stream" id="code">{code}</script>\n<script>{script}</script>\n'
        "</body>\n</html>\n"
    )


def _draw_image(answers: Answers) -> str:
    """Draw the content for pages without scripts: the model's plan as a picture, and its numbers."""
    wire, number = answers.shown
    scene = (answers.scene, answers.buffers.data_at(answers.scene_data))
    plan = (wire, answers.buffers.data_at(number))
    return f"{draw_still(scene, plan)}{tabulate(scene, plan)}"


def _pack(data: bytes) -> str:
    """Five letters for four bytes; "<" could begin a tag, and a comma is not used."""
    return b85encode(gzip.compress(data, 9, mtime=0)).decode("ascii").replace("<", ",")


@cache
def _pack_static(name: str) -> tuple[str, str]:
    """A built file of the front end, packed, and the hash by which the policy of content allows it."""
    text = (files("inspector") / "static" / name).read_text("utf-8")
    return _pack(text.encode("utf-8")), hash_source(text)


@cache
def read_static(name: str) -> str:
    """A built file of the front end, with nothing in it that would end its element."""
    text = (files("inspector") / "static" / name).read_text("utf-8")
    return re.sub(r"</(script|style)", r"<\\/\1", text, flags=re.I).replace("<!--", "<\\!--")


def hash_source(text: str) -> str:
    """The hash by which a page's policy of content allows a script or a style."""
    return f"sha256-{b64encode(sha256(text.encode('utf-8')).digest()).decode('ascii')}"
