"""Messages that hold a person's words beside text of the harness, in one text or in several blocks."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector import Session, read_session
from inspector.formats.exports.writers import export_session
from inspector.session.speakers import find_speech, typed_words
from tests.codex_rows import META, codex_message
from tests.recount import claude_code as recounted
from tests.rows import dump

Row = dict[str, Any]

HARNESS = (
    *("local-command-stdout", "local-command-stderr", "local-command-caveat", "command-name", "bash-stdout"),
    *("task-notification", "bash-stderr", "system-reminder", "user-prompt-submit-hook"),
)
"""Elements of Claude Code that ask the model nothing."""


def read_rows(*contents: Any, **fields: Any) -> Session:
    """Return a Claude Code session with a reply to each message; `fields` belong to the last message."""
    return read_session(dump(*make_rows(*contents, **fields)))


def make_rows(*contents: Any, **fields: Any) -> list[Row]:
    rows: list[Row] = []
    for at, content in enumerate(contents):
        message = {"role": "user", "content": content}
        row = {
            "type": "user",
            "uuid": f"u{at}",
            "parentUuid": f"a{at - 1}" if at else None,
            "message": message,
        }
        rows.append(row | (fields if at == len(contents) - 1 else {}))
        reply = {"id": f"r{at}", "role": "assistant", "content": [{"type": "text", "text": "Done."}]}
        rows.append({"type": "assistant", "uuid": f"a{at}", "parentUuid": f"u{at}", "message": reply})
    return rows


def say(*texts: str) -> list[Row]:
    return [{"type": "text", "text": text} for text in texts]


def typed_rules(session: Session) -> list[str]:
    """Return the rules of which a person typed at least one statement."""
    rules = session.facts.by_kind("constraint")
    return [fact.form.rstrip(".") for fact in rules if any(said.by == "user" for said in fact.said)]


class Part(NamedTuple):
    """A part of a message: its text, whether a person typed it, and whether a new block begins with it."""

    text: str
    typed: bool
    new_block: bool
    below: bool = True


@st.composite
def draw_parts(draw: st.DrawFn) -> list[Part]:
    parts = []
    for number in range(draw(st.integers(1, 6))):
        kind = draw(st.sampled_from(("element", "element", "words", "blank")))
        if kind == "element":
            name = draw(st.sampled_from(HARNESS))
            text = f"<{name}>You must never trust copy{number}.</{name}>"
        else:
            text = (
                f"Never touch file{number}.py." if kind == "words" else draw(st.sampled_from(("", " \n\t ")))
            )
        parts.append(Part(text, kind == "words", draw(st.booleans()), draw(st.booleans())))
    return parts


def join(parts: Sequence[Part]) -> list[str]:
    """Return the texts of the blocks. What follows an element may stand on its line, nothing else does."""
    texts = [""]
    for part in parts:
        if part.new_block:
            texts.append(part.text)
        else:
            same_line = texts[-1].endswith(">") and not part.below
            texts[-1] += part.text if same_line or not texts[-1] else f"\n{part.text}"
    return texts


@given(draw_parts())
def test_a_turn_opens_and_holds_statements_if_a_person_typed_any_part(parts: list[Part]) -> None:
    """In any order and number of blocks; an independent count of the turns of the raw file agrees."""
    contents = ["Mend it.", say(*join(parts))]
    session = read_rows(*contents)
    assert len(session.turns) == 1 + any(part.typed for part in parts)
    typed = [part.text.rstrip(".") for part in parts if part.typed]
    assert sorted(typed_rules(session)) == sorted(typed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.jsonl"
        path.write_bytes(dump(*make_rows(*contents)))
        assert recounted.recount(path).turns == len(session.turns)
    again = read_session(export_session(session, "claude-code"))
    assert (len(again.turns), typed_rules(again)) == (len(session.turns), typed_rules(session))


@given(draw_parts())
def test_the_spans_of_a_block_are_in_order_and_leave_out_nothing_but_white_space(parts: list[Part]) -> None:
    for entry in read_rows(say(*join(parts))).entries:
        for block in entry.blocks:
            at = 0
            for span in find_speech(entry, block):
                assert at <= span.start < span.end <= len(block.text)
                assert not block.text[at : span.start].strip()
                at = span.end
            assert not block.text[at:].strip()


OUTPUT = "<local-command-stdout>Set model to opus. You must never ask.</local-command-stdout>"
COMMAND = (
    "<command-name>/model</command-name>\n<command-message>model</command-message>\n"
    "<command-args></command-args>"
)
NOTIFIED = "<task-notification>\n<task-id>b1</task-id>\n<summary>Never wait.</summary>\n</task-notification>"
REPORTED = (
    "<task-notification>\n<task-id>b1</task-id>\n<result>You must never wait.</result>\n</task-notification>"
)
HOOK = "SessionStart:startup hook success: You must never skip the linter."
WORDS = "Rename it. Never push to main."
FIRST = {
    "output": OUTPUT,
    "command": COMMAND,
    "command and output": f"{COMMAND}\n{OUTPUT}",
    "notification": NOTIFIED,
    "report": REPORTED,
    "hook": HOOK,
    "interrupt": "[Request interrupted by user for tool use]",
    "shell": "<bash-input>git pull</bash-input>",
    "shell output": "<bash-stdout>You must never pull.</bash-stdout><bash-stderr></bash-stderr>",
    "arguments": "<command-message>go</command-message>\n<command-name>/go</command-name>",
}


def ask(*texts: str) -> Session:
    """Read the texts as the blocks of a message in a request."""
    messages = [{"role": "user", "content": "Mend it."}, {"role": "assistant", "content": say("Done.")}]
    messages.append({"role": "user", "content": say(*texts)})
    return read_session(json.dumps({"model": "m", "max_tokens": 9, "messages": messages}).encode())


def roll_out(*texts: str) -> Session:
    """Read the texts as the parts of a message in a rollout of Codex."""
    return read_session(
        dump(
            META,
            codex_message("user", "Mend it."),
            codex_message("assistant", "Done."),
            codex_message("user", *texts),
        )
    )


def row(*texts: str) -> Session:
    return read_rows("Mend it.", say(*texts))


@pytest.mark.parametrize("make", [row, ask, roll_out], ids=["claude-code", "request", "codex"])
@pytest.mark.parametrize("first", FIRST.values(), ids=list(FIRST))
def test_words_in_a_later_block_are_typed_in_every_format(make: Any, first: str) -> None:
    session = make(first, WORDS)
    assert [turn.first for turn in session.turns] == [0, 2]
    assert typed_rules(session) == ["Never push to main"]
    entry = session.entries[session.path[2]]
    assert typed_words(entry).endswith(WORDS)
    assert "never" not in typed_words(entry).removesuffix(WORDS)


def test_the_fields_of_a_row_still_say_that_nobody_typed_it() -> None:
    mixed = [*say(OUTPUT), *say(WORDS)]
    for fields in ({"isMeta": True}, {"promptSource": "system"}, {"origin": {"kind": "task-notification"}}):
        session = read_rows("Mend it.", mixed, **fields)
        assert (len(session.turns), typed_rules(session)) == (1, [])
    session = read_rows("Mend it.", mixed, origin={"kind": "human"}, promptSource="typed")
    assert (len(session.turns), typed_rules(session)) == (2, ["Never push to main"])
