"""The demo session: it is read without a gap, and the story in it happens."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from inspector.demo import CONSTRAINT, LOST_PATH, open_demo, read_demo
from inspector.planning.assemble import live_context
from inspector.session.blocks import ToolCall, ToolOutput
from inspector.session.entries import Entry
from inspector.session.session import Session
from inspector.tokens.ledger import count_tokens
from inspector.tokens.models import window_of
from inspector.wire.checks import check_request
from inspector.wire.render import render_request

SESSION = open_demo()
ROWS = [json.loads(line) for line in read_demo().splitlines()]
COMPACTION = next(entry for entry in SESSION.entries if entry.kind == "compaction")
FIRST = SESSION.at(COMPACTION.parent)


def words(entry: Entry) -> str:
    return "\n".join(block.text for block in entry.blocks)


def main_path(session: Session) -> list[Entry]:
    return [session.entries[at] for at in session.path]


BEFORE = main_path(FIRST)
AFTER = main_path(SESSION)[len(BEFORE) + 1 :]


def calls(name: str) -> list[ToolCall]:
    blocks = (block for entry in SESSION.entries for block in entry.blocks)
    return [block for block in blocks if block.kind == "tool_call" and block.name == name]


def test_every_row_is_read_and_none_is_unknown() -> None:
    assert SESSION.records == len(ROWS)
    assert (SESSION.unknown, SESSION.corrupt, SESSION.warnings) == (0, (), ())
    lines = [source.line for entry in SESSION.entries for source in entry.sources]
    lines += [note.source.line for note in SESSION.notes]
    assert sorted(lines) == list(range(1, len(ROWS) + 1))


def test_a_python_without_lzma_is_told_what_is_missing_and_only_when_the_session_is_asked_for() -> None:
    """None in `sys.modules` makes the import fail, as it does where lzma was left out of Python."""
    script = """
import sys
sys.modules["lzma"] = None
import inspector, inspector.demo, inspector.errors
print(inspector.demo.LOST_PATH)
try:
    inspector.open_demo()
except inspector.errors.ReadError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    path, message = done.stdout.splitlines()
    assert path == LOST_PATH
    assert message.endswith("this Python was built without the module lzma, which unpacks that")


def test_one_compaction_is_recorded_and_one_micro_compaction_after_it() -> None:
    assert [boundary.kind for _, boundary in SESSION.boundaries] == ["compact", "micro"]
    boundary = COMPACTION.boundary
    assert boundary is not None
    assert boundary.trigger == "auto"
    assert 150_000 <= (boundary.tokens_before or 0) <= 160_000
    assert 1 < int(SESSION.live.cleared.sum()) < 6


def test_the_path_is_found_and_edited_early_and_never_named_again_before_the_compaction() -> None:
    told = [at for at, entry in enumerate(BEFORE) if LOST_PATH in words(entry)]
    turn_of = np.cumsum([entry.opens_turn for entry in BEFORE])
    assert told
    assert turn_of[told[-1]] <= 3
    edits = [call for call in calls("Edit") if call.input["file_path"].endswith(LOST_PATH)]
    assert any(call in entry.blocks for entry in BEFORE for call in edits)


def test_the_summary_loses_the_path_and_the_rule() -> None:
    summary = words(COMPACTION)
    assert "offsets helper" in summary
    for lost in (LOST_PATH, "calendar/offsets", "offsets.py", CONSTRAINT, "almanac.json", "signed"):
        assert lost not in summary


def test_the_path_is_won_back_by_reading_the_file_again() -> None:
    reads = [call for call in calls("Read") if call.input["file_path"].endswith(LOST_PATH)]
    assert len(reads) == 2
    assert any(reads[0] in entry.blocks for entry in BEFORE)
    again = next(at for at, entry in enumerate(AFTER) if reads[1] in entry.blocks)
    searched = [block.name for entry in AFTER[:again] for block in entry.blocks if block.kind == "tool_call"]
    assert searched == ["Glob", "Read", "Grep"]


def test_the_user_states_the_rule_and_has_to_state_it_again() -> None:
    said = [entry for entry in main_path(SESSION) if entry.opens_turn and CONSTRAINT in entry.text]
    assert len(said) == 2
    assert said[0] in BEFORE
    at = AFTER.index(said[1])
    declined = AFTER[at - 1].blocks[0]
    assert isinstance(declined, ToolOutput)
    assert declined.is_error
    assert not any("data/almanac.json" in json.dumps(call.input) for call in calls("Write"))


def test_the_window_fills_up_twice() -> None:
    prompts = [int(entry.usage.prompt) for entry in BEFORE if entry.role == "assistant" and entry.usage]
    assert prompts == sorted(prompts)
    assert 17_000 < prompts[0] < 18_500
    assert 150_000 < prompts[-1] < 160_000
    last = [int(entry.usage.prompt) for entry in AFTER if entry.role == "assistant" and entry.usage]
    assert last[0] < 25_000
    assert 80_000 < last[-1] < 95_000
    assert window_of(SESSION).tokens == 200_000


@pytest.mark.parametrize("session", [FIRST, SESSION], ids=["before the compaction", "at the end"])
def test_the_context_as_it_stands_can_be_sent(session: Session) -> None:
    request = render_request(live_context(session, count_tokens(SESSION))).request
    assert check_request(request) == ()
