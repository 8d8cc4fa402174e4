"""What is said of recorded compactions, counted once more by hand: raw texts and `str.find`, nothing else.

Of every compaction of every shared session, and every path, command, address, id and error: which blocks on
the path say it literally, whether the summary does, whether what was kept does.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest

from inspector.errors import InspectorError
from inspector.facts.trace import trace_recorded
from inspector.facts.traced import Trace
from inspector.session.blocks import BlockRef
from inspector.session.queries import find_end
from inspector.session.session import Session
from tests.shared import SHARED, needs_shared, open_shared

KINDS = ("file", "command", "url", "id", "error")


def words_of(block: Any) -> str:
    """The text of a block on one line; of a call what it was given, value by value."""
    if block.kind != "tool_call":
        return " ".join(block.text.split())
    out, todo = [block.name], [block.input]
    while todo:
        value = todo.pop()
        todo += (
            value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
        )
        out += [value] if isinstance(value, str) else []
    return " ".join(" ".join(out).split())


def holds(text: str, form: str) -> bool:
    """Whether a text says a form, not as a part of a longer word."""
    at = text.find(form)
    while at >= 0:
        before, after = text[at - 1 : at] if at else "", text[at + len(form) :][:1]
        inside = (form[0].isalnum() and (before.isalnum() or before == "_")) or (
            form[-1].isalnum() and (after.isalnum() or after == "_")
        )
        if not inside:
            return True
        at = text.find(form, at + 1)
    return False


def live_texts(session: Session, without: str) -> list[str]:
    live = session.live
    places = zip(
        live.entries[live.position].tolist(), live.block.tolist(), live.cleared.tolist(), strict=True
    )
    entries = session.entries
    blocks = [entries[i].blocks[at] for i, at, cleared in places if not cleared and entries[i].id != without]
    return [words_of(block) for block in blocks]


@cache
def traced() -> list[tuple[Session, tuple[Trace, ...]]]:
    """The shared sessions with a recorded compaction on the path, each with the traces of all of them."""
    found = []
    for path in sorted((SHARED / "sessions").rglob("*.json*")):
        try:
            session = open_shared(path)
        except InspectorError:
            continue
        if any(session.entries[i].kind == "compaction" for i in session.path):
            found.append((session, trace_recorded(session, session.facts)))
    return found


def recount(session: Session, trace: Trace) -> tuple[int, list[tuple[str, str, str, str]]]:
    """How many facts were counted, and those told otherwise: kind, form, what is counted, what is told."""
    entry = trace.scene.entry
    assert entry is not None
    whole = " ".join(" ".join(block.text for block in entry.blocks).split())
    summary = whole.partition("If you need specific details from before compaction")[0]  # the harness's words
    kept = live_texts(session.at(find_end(session, entry.id)), entry.id)
    kept += [" ".join(block.text.split()) for block in (*session.system, *session.provided)]
    counted, wrong = 0, []
    for one in trace:
        form = " ".join(one.fact.form.split())
        # The name of a file in the working directory ends many a path, and a chain stands by its commands.
        if one.fact.kind not in KINDS or (one.fact.kind == "file" and "/" not in form):
            continue
        counted += 1
        here = "verbatim" if any(holds(text, form) for text in kept) else ""
        literal = here or ("quoted" if holds(summary, form) else "gone")
        told = one.outcome if one.outcome in ("verbatim", "quoted") else "gone"
        if literal != told:
            wrong.append((one.fact.kind, form, literal, told))
    return counted, wrong


@needs_shared
def test_every_outcome_agrees_with_a_literal_recount() -> None:
    """What is not told is never there; what is told though it is not there to the letter stands under another
    name: a path relative to another folder, a command in a longer line, an exit code in other words, an issue
    by its address."""
    counted, other, wrong = 0, 0, []
    for session, traces in traced():
        for trace in traces:
            number, different = recount(session, trace)
            counted += number
            for kind, form, literal, told in different:
                if literal == "gone" and told == "verbatim":
                    stands = [words_of(session.block(ref)) for ref in trace[kind, form].stands]
                    parts = (
                        form.replace(" && ", "; ").split("; ") if kind == "command" else [form.split("/")[-1]]
                    )
                    if kind == "id":  # "#12" by its address, whose last part is the number
                        parts = [form.lstrip("#")]
                    assert kind == "error" or any(
                        all(part[:30] in text for part in parts) for text in stands
                    ), form
                    other += 1
                elif not (literal == "quoted" and told == "verbatim"):
                    wrong.append((kind, form, literal, told))
    assert counted > 3000
    assert len(wrong) <= 0.001 * counted, wrong
    assert other <= 0.05 * counted


@needs_shared
def test_first_and_last_mention_agree_with_a_literal_recount() -> None:
    """Every block that says an id, an address or a path to the letter is named, in the order of the path."""
    compared = 0
    for _, traces in traced():
        for trace in traces:
            before = trace.scene.session
            texts = [
                (BlockRef(before.entries[i].id, at), words_of(block))
                for i in before.path
                if before.entries[i].kind not in ("compaction", "branch_summary")
                for at, block in enumerate(before.entries[i].blocks)
            ]
            for one in [one for one in trace if one.fact.kind in ("file", "url", "id")][::11]:
                form = " ".join(one.fact.form.split())
                if one.fact.kind == "file" and ("/" not in form or "." not in form.split("/")[-1]):
                    continue
                literal = [ref for ref, text in texts if holds(text, form)]
                assert set(literal) <= set(one.named), (form, set(literal) - set(one.named))
                assert list(one.named) == [ref for ref, _ in texts if ref in set(one.named)]
                compared += 1
    assert compared > 100


@needs_shared
@pytest.mark.parametrize("name", ["cc-3auto-compactions-893l.jsonl", "cc-2auto-1519l.jsonl"])
def test_a_fact_is_found_by_its_text_whatever_its_kind(name: str) -> None:
    session = open_shared(SHARED / "sessions" / "claude-code--entireio-cli" / name)
    for trace in trace_recorded(session, session.facts):
        for one in trace:
            if one.fact.kind in KINDS:
                assert trace[one.fact.kind, one.fact.form] is one
                assert trace[one.fact.form].fact.form == one.fact.form


@needs_shared
def test_any_words_are_traced_by_what_the_texts_say() -> None:
    """Words that are no fact of any kind: stretches of what was said, looked up as they stand."""
    session = open_shared(SHARED / "sessions" / "claude-code--entireio-cli" / "cc-auto+manual-1161l.jsonl")
    for trace in trace_recorded(session, session.facts):
        entry = trace.scene.entry
        assert entry is not None
        summary = " ".join(" ".join(block.text for block in entry.blocks).split())
        kept = live_texts(session.at(find_end(session, entry.id)), entry.id)
        before = trace.scene.session
        blocks = [block for i in before.path for block in before.entries[i].blocks]
        texts = [words_of(block) for block in blocks]
        # The words of two values of a call stand beside each other here alone.
        whole = [text for block, text in zip(blocks, texts, strict=True) if block.kind != "tool_call"]
        said = [text for text in whole if 60 < len(text) < 2000]
        for text in said[::40]:
            words = " ".join(text.split(" ")[2:7])
            if len(words) < 12 or not any(holds(one, words) for one in texts):
                continue
            told = trace[words]
            if told.fact.form == words:
                if any(holds(one, words) for one in kept):
                    assert told.outcome == "verbatim", words
                elif holds(summary, words):
                    assert told.outcome == "quoted", words
                elif not any(word in f"{summary} {' '.join(kept)}" for word in re.findall(r"\w{3,}", words)):
                    assert told.outcome == "absent", words
                else:  # some of its words are there, at least
                    assert told.outcome != "verbatim", words
                assert told.why()
