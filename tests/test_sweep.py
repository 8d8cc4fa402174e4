"""Every public function answers on every session: real ones, and rows assembled from real shapes.

Opening may refuse a session, and an export an empty context; no function raises anything else. The suite sets
`INSPECTOR_STRICT`, so exceptions that the product isolates are raised here. The file is never changed.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import inspector as i
from inspector.cli import main
from inspector.errors import EditError, EmptySession, InspectorError, ReadError, SeveralSessions
from inspector.formats.readers import READERS
from inspector.tokens.bill import Bill
from tests.odd_sessions import FILES, NAMES, Written
from tests.shared import SHARED

POLICIES = ("claude-code-analysis", "flue", "codex", "mini-claude-code")
EXPORTS = ("claude-code", "codex", "pi", "openai")
REAL = sorted(
    path
    for folder in ("sessions", "samples")
    for path in (SHARED / folder).rglob("*")
    if path.is_file() and path.suffix not in (".md", ".py")
)


def export_or_refuse(session: i.Session, ledger: i.Ledger, form: str) -> None:
    """Export a session; an empty context is refused."""
    try:
        i.export_session(session, form)
    except EditError:
        if any(piece.role == "user" for piece in i.live_context(session, ledger).pieces):
            raise


def doors(session: i.Session, path: Path, *, page: bool) -> Iterator[Callable[[], object]]:
    """Yield calls of the public functions that take a session."""
    ledger = i.count_tokens(session)
    yield lambda: (repr(session), session.turns, session.boundaries, session.source)
    yield lambda: (repr(session.facts), session.facts.to_columns(), session.facts.summaries)
    yield lambda: [repr(trace) for trace in i.trace_recorded(session)]
    yield lambda: repr(i.lint(session))
    yield lambda: (repr(i.price_session(session)), i.count_tokens(session, "calibrated"))
    yield lambda: i.check_context(i.live_context(session, ledger))
    yield lambda: i.find_cuts(session)
    for policy in POLICIES:
        yield lambda policy=policy: repr(i.make_plan(session, ledger, policy).trace)
        yield lambda policy=policy: repr(i.replay(session, policy))
    yield lambda: i.lint(session, "flue").counts
    for form in EXPORTS:
        yield lambda form=form: export_or_refuse(session, ledger, form)
    if page:
        # One policy is a fifth of the work; the demo's page and test_export.py's real one have all.
        page_path = path.parent / "page.html"
        yield lambda: i.export_html(session, page_path, replace=True)


def open_or_refuse(path: Path) -> i.Session | InspectorError:
    """Open a session; return the error if the package refuses it."""
    try:
        return i.open_session(path)
    except InspectorError as refused:
        return refused


def check_doors(session: i.Session, path: Path, *, page: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for door in doors(session, path, page=page):
            door()


@pytest.mark.skipif(not REAL, reason="the shared transcripts are not next to this checkout")
@pytest.mark.parametrize("path", REAL, ids=[str(path.relative_to(SHARED)) for path in REAL])
def test_every_door_answers_on_a_real_session(path: Path, tmp_path: Path) -> None:
    before = hashlib.sha256(path.read_bytes()).digest()
    if isinstance(opened := open_or_refuse(path), i.Session):
        assert opened.records
        check_doors(opened, tmp_path / "x", page=True)
    else:
        assert path.name in str(opened)
        if not isinstance(opened, EmptySession | SeveralSessions):  # no reader took it, and each says why
            assert isinstance(opened, ReadError)
            assert [name for name, _ in opened.tried] == [reader.name for reader in READERS]
            assert all(0 < len(reason) < 200 for _, reason in opened.tried)
    assert hashlib.sha256(path.read_bytes()).digest() == before


KINDS = ("input", "cache read", "cache write", "output")


def check_bill(bill: Bill, billed: list[tuple[int, int, int, int]]) -> None:
    """Compare a bill with the requests that were written into the file."""
    assert sum(line.tokens or 0 for line in bill.lines) == sum(map(sum, billed))
    if not any(line.name.endswith("stated as a sum") for line in bill.lines):
        sums = dict.fromkeys(KINDS, 0)
        for line in bill.lines:
            name = line.name.removesuffix(" 5m").removesuffix(" 1h")
            if name in sums:
                sums[name] += line.tokens or 0
        assert list(sums.values()) == [sum(request[at] for request in billed) for at in range(4)]


def check_written(written: Written, form: str, name: str, *, page: bool) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(written.data)
        session = open_or_refuse(path)
        if not isinstance(session, i.Session):
            assert name in str(session) and not written.has_messages
            return
        assert session.format == form or not written.is_exact
        check_doors(session, path, page=page)
        assert path.read_bytes() == written.data
        if written.billed is None:
            assert "?" in repr(i.price_session(session))
        else:
            check_bill(i.price_session(session), written.billed)


@pytest.mark.parametrize("form", FILES)
@given(data=st.data(), name=st.sampled_from(NAMES))
def test_every_door_answers_on_odd_rows_and_the_bill_is_right(
    form: str, data: st.DataObject, name: str
) -> None:
    check_written(data.draw(FILES[form]), form, name, page=False)


@pytest.mark.parametrize("form", FILES)
@given(data=st.data())
@settings(max_examples=4)
def test_a_page_of_odd_rows_is_written(form: str, data: st.DataObject) -> None:
    check_written(data.draw(FILES[form]), form, "talk.jsonl", page=True)


@pytest.mark.parametrize("form", FILES)
@given(data=st.data(), name=st.sampled_from(NAMES))
@settings(max_examples=8)
def test_the_command_line_answers_on_odd_rows(form: str, data: st.DataObject, name: str) -> None:
    written = data.draw(FILES[form])
    with TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(written.data)
        assert main(["show", str(path)]) in (0, 1)
        for report in ("text", "sarif", "github", "json"):
            assert main(["check", str(path), "--format", report]) in (0, 1, 2)
