"""Facts: that they are what their places say, found once, in order, at what cost."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from hypothesis import given

from inspector.errors import ReadError
from inspector.facts.extract.collect import KINDS
from inspector.facts.extract.errors import tidy_error
from inspector.facts.facts import Facts, find_facts
from inspector.formats.readers import read_session
from inspector.session.blocks import Text, ToolCall
from inspector.session.entries import Boundary, Entry
from inspector.session.session import Session
from inspector.session.toolcalls.canonical_path import canonical_path
from inspector.session.toolcalls.core_command import core_command
from inspector.session.toolcalls.positions import fold, unescape
from tests.shared import SHARED, list_few, needs_shared, open_shared
from tests.strategies import sessions
from tests.telling import CWD, talk, tell
from tests.work import count_calls, limit_work


def test_text_of_a_recorded_summary_is_kept_apart() -> None:
    summary = Entry(
        id="s",
        parent="a",
        role="user",
        kind="compaction",
        boundary=Boundary(),
        blocks=(Text(text="did src/b.py"),),
    )
    first = Entry(id="a", role="user", blocks=(Text(text="read src/a.py"),))
    facts = find_facts(Session(format="demo", cwd=CWD, entries=(first, summary), leaf="s"))
    assert list(facts) == [("statement", "read src/a.py"), ("file", "src/a.py")]
    assert list(facts.summaries) == [("file", "src/b.py")]
    assert facts.summaries["src/b.py"].said[0].by == "summary"


def test_a_fact_is_found_by_form_by_kind_and_form_and_by_any_way_to_write_its_path() -> None:
    facts = tell("see src/a.py and src/b.py, again src/a.py")
    fact = facts[f"{CWD}/src/a.py"]
    assert fact.form == facts["src/a.py"].form == facts["file", "src/a.py"].form == "src/a.py"
    assert [said.start for said in fact.said] == [4, 33]
    assert "nowhere.py" not in facts and ("url", "src/a.py") not in facts
    assert repr(facts) == "Facts(2 files, 1 statement; said 4×)"


def check_laws(session: Session) -> Facts:
    facts = find_facts(session)
    order = {position: n for n, position in enumerate(session.path)}
    for told in (facts, facts.summaries):
        assert sum(told.counts.values()) == len(told)
        for fact in told.values():
            assert fact.kind in KINDS and 0 < len(fact.form) <= 400
            assert len(fact.said) == len(fact) > 0
            places = [
                (order[session.index[said.ref.entry]], said.ref.block, said.start) for said in fact.said
            ]
            assert places == sorted(places)
            for said in fact.said:
                block = session.block(said.ref)
                assert 0 <= said.start < said.end <= len(block.text)
                text = block.text[said.start : said.end]
                assert reads_as(fact.kind, decode(text) if block.kind == "tool_call" else text, fact.form)
    return facts


def decode(text: str) -> str:
    """Part of a call's JSON as the characters it stands for."""
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        return unescape(text)


def reads_as(kind: str, text: str, form: str) -> bool:
    """Whether the text at a span is the fact, as far as the span alone can tell."""
    if kind == "file":
        return canonical_path(text).rsplit("/", 1)[-1] == form.rsplit("/", 1)[-1] or form == "."
    if kind == "error":
        return tidy_error(text) == form or form in fold(text) or form.rsplit(" ", 1)[-1] in text
    if kind == "symbol":
        return text.startswith(form)
    if kind == "number":
        return text.endswith(form.rsplit(" ", 1)[-1])
    if kind == "command":
        return core_command(text)[:60] == form[:60] or form.split(None, 1)[0] in text
    if kind in ("constraint", "decision", "todo"):
        # Half a mark is left out of the form.
        text, form = (re.sub(r"[*`,]+", "", one).strip() for one in (text, form))
    return fold(text)[:60] == form[:60]


@given(sessions())
def test_every_span_reads_as_its_fact_and_stands_in_path_order(session: Session) -> None:
    unique = len({entry.id for entry in session.entries}) == len(session.entries)
    if unique:
        check_laws(session)


@given(sessions())
def test_facts_are_the_same_every_time(session: Session) -> None:
    one, two = find_facts(session), find_facts(session)
    assert list(one) == list(two)
    for name in ("fact", "entry", "block", "start", "end", "by", "operation", "offset"):
        assert np.array_equal(getattr(one, name), getattr(two, name))


HOSTILE = (
    *("a/", '"/ ', "'", "must ", "error ", "://", "a1", "#1", "`a b", "func (", "=1", "$("),
    *("cat <<A\n", "exit code ", "12345678-1234-", ": 1", "()", "**a", "`a.log", "I need to "),
    *("next:\n- ", "```sh\n'", "<<EOF\n", "because a, ", "Error in ", "[a] ", "C:\\", "https://a.js:1"),
)


@pytest.mark.parametrize("piece", HOSTILE)
def test_no_text_is_slow(piece: str) -> None:
    """Four times the text takes about four times the calls, and no expression backtracks without bound."""

    def find(size: int) -> None:
        text = piece * (size // len(piece))
        session = talk(
            ("user", Text(text=text)), ("assistant", ToolCall(id="c", name="bash", input={"command": text}))
        )
        find_facts(session)

    with limit_work(30):
        assert count_calls(lambda: find(4_000)) < 8 * count_calls(lambda: find(1_000))
        find(50_000)


@needs_shared
def test_every_path_that_arguments_name_is_found_in_real_sessions() -> None:
    named = 0
    for path in list_few():
        try:
            session = open_shared(path)
        except ReadError:
            continue
        facts = session.facts
        for position in session.path:
            for at, block in enumerate(session.entries[position].blocks):
                if block.kind != "tool_call" or not isinstance(block.input, dict):
                    continue
                for key in ("file_path", "path", "notebook_path"):
                    path = block.input.get(key)
                    if isinstance(path, str) and path:
                        fact = facts["file", canonical_path(path, session.cwd)]
                        ref = (session.entries[position].id, at)
                        assert any(tuple(said.ref) == ref and said.by == "model" for said in fact.said)
                        named += 1
    assert named > 1000


@needs_shared
def test_the_laws_hold_on_real_sessions() -> None:
    names = ("cc-3auto-compactions-893l.jsonl", "pi-before-compaction.jsonl", "cc-cjk159.jsonl")
    for name in names:
        path = next((SHARED / "sessions").rglob(name))
        assert len(check_laws(open_shared(path))) > 100


def test_sentences_of_a_very_long_prompt_are_read_at_its_two_ends() -> None:
    """A prompt has a rule at its beginning, in its middle and at its end.

    It has 38,000 lines of 31 characters, and 89 more in the three rules: 1,178,089.
    """
    filler = "The log says nothing about it.\n" * 19_000
    first, middle, last = (f"Never touch the {name} folder.\n" for name in ("north", "east", "south"))
    prompt = first + filler + middle + filler + last
    facts = read_session([{"role": "user", "content": prompt}, {"role": "assistant", "content": "ok"}]).facts
    rules = [form for kind, form in facts if kind == "constraint"]
    assert rules == [first.strip(), last.strip()]
    (place,) = facts[("constraint", last.strip())].said
    assert prompt[place.start : place.end] == last.strip()
    (fault,) = facts.faults
    assert str(fault).startswith("statement of m1/0: its first and last 500,000 of 1,178,089")
