"""The demo session: it is read without a gap, and the story in it happens."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from inspector.cuts import find_cuts
from inspector.demo import CONSTRAINT, LOST_PATH, open_demo, read_demo
from inspector.planning.assemble import live_context
from inspector.session.blocks import ToolCall, ToolOutput
from inspector.session.entries import Entry
from inspector.session.session import Session
from inspector.tokens.ledger import count_tokens
from inspector.tokens.models import window_of
from inspector.wire.checks import check_request
from inspector.wire.render import render_request
from tests.demo_session import generate
from tests.demo_session.project import make_project

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


def test_the_session_that_is_shipped_is_the_one_that_is_generated() -> None:
    """If not: `python -m tests.demo_session` writes the file anew."""
    assert generate() == read_demo()
    assert len(read_demo()) < 1_050_000


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
    assert message == (
        "the demo session is not a session this package can read — it is packed as .xz, "
        "and this Python was built without the module lzma, which unpacks that"
    )


def test_it_is_as_long_as_a_real_session() -> None:
    replies = [entry for entry in SESSION.entries if entry.role == "assistant"]
    assert 120 <= len(replies) <= 200
    assert len(FIRST.turns) == 15
    assert len(SESSION.turns) == 21
    assert {"Read", "Grep", "Glob", "Bash", "Edit", "Write", "TodoWrite", "Task"} == {
        block.name for entry in replies for block in entry.blocks if block.kind == "tool_call"
    }


def test_one_compaction_is_recorded_and_one_micro_compaction_after_it() -> None:
    assert [boundary.kind for _, boundary in SESSION.boundaries] == ["compact", "micro"]
    boundary = COMPACTION.boundary
    assert boundary is not None
    assert boundary.trigger == "auto"
    assert 150_000 <= (boundary.tokens_before or 0) <= 160_000
    assert 1 < int(SESSION.live.cleared.sum()) < 6


def test_a_sub_agent_works_aside() -> None:
    aside = [entry for entry in SESSION.entries if entry.sidechain]
    assert len({entry.sidechain for entry in aside}) == 1
    assert not {entry.id for entry in aside} & {entry.id for entry in main_path(SESSION)}
    (task,) = calls("Task")
    (answer,) = (b for e in BEFORE for b in e.blocks if isinstance(b, ToolOutput) and b.call_id == task.id)
    assert answer.text == aside[-1].text


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


@pytest.mark.parametrize("session", [FIRST, SESSION], ids=["before the compaction", "at the end"])
def test_every_call_is_answered(session: Session) -> None:
    assert len(session.live.orphans) == len(session.live.pending) == 0


def test_calls_are_made_side_by_side_and_their_outputs_hang_off_different_rows() -> None:
    side_by_side = [e for e in SESSION.entries if sum(b.kind == "tool_call" for b in e.blocks) > 1]
    assert len(side_by_side) > 20
    answered = Counter(row["sourceToolAssistantUUID"] for row in ROWS if "sourceToolAssistantUUID" in row)
    assert set(answered.values()) == {1}
    messages = Counter(row["message"]["id"] for row in ROWS if row["type"] == "assistant")
    assert max(messages.values()) > 3


def test_thinking_is_spoken_or_sealed() -> None:
    thoughts = [block for entry in SESSION.entries for block in entry.blocks if block.kind == "reasoning"]
    assert all(thought.signature for thought in thoughts)
    assert sum(not thought.text for thought in thoughts) > 3
    assert sum(bool(thought.text) for thought in thoughts) > 30


def test_one_output_is_a_log_of_nearly_a_thousand_lines_and_some_commands_fail() -> None:
    outputs = [block for entry in BEFORE for block in entry.blocks if isinstance(block, ToolOutput)]
    assert max(block.text.count("\n") for block in outputs) > 850
    assert sum(block.is_error for block in outputs) >= 3


@pytest.mark.parametrize("session", [FIRST, SESSION], ids=["before the compaction", "at the end"])
def test_many_cuts_are_legal(session: Session) -> None:
    cuts = find_cuts(session)
    assert int(cuts.legal.sum()) > 40
    assert sum(cut.legal and not cut.splits_turn for cut in cuts) >= 5


def test_the_reported_usage_is_what_a_provider_with_another_tokenizer_would_report() -> None:
    ledger = count_tokens(SESSION, "calibrated")
    assert ledger.calibration is not None
    assert 1.15 < ledger.calibration.factor < 1.25
    assert 1.05 < ledger.calibration.low < ledger.calibration.high < 1.4


def test_the_window_fills_up_twice() -> None:
    prompts = [int(entry.usage.prompt) for entry in BEFORE if entry.role == "assistant" and entry.usage]
    assert prompts == sorted(prompts)
    assert 17_000 < prompts[0] < 18_500
    assert 150_000 < prompts[-1] < 160_000
    last = [int(entry.usage.prompt) for entry in AFTER if entry.role == "assistant" and entry.usage]
    assert last[0] < 25_000
    assert 80_000 < last[-1] < 95_000
    assert window_of(SESSION).tokens == 200_000


def test_usage_adds_up_from_request_to_request() -> None:
    """What one request wrote to the cache the next one reads, unless the cache went cold meanwhile."""
    usages = [entry.usage for entry in BEFORE if entry.role == "assistant" and entry.usage]
    warm = [after.cache_read for before, after in pairwise(usages) if after.cache_read]
    held = [before.cache_read + before.cache_write for before in usages]
    assert set(warm) <= set(held)
    assert len(usages) - len(warm) < 8
    assert all(0 < usage.input < 20 and usage.output > 0 for usage in usages)


def test_the_projects_python_is_python() -> None:
    for path, text in make_project().items():
        if path.endswith(".py"):
            ast.parse(text, path)


def test_only_files_that_were_read_are_edited() -> None:
    """In the same stretch: after the compaction they must be read again. The almanac's edit is declined."""
    for stretch in (BEFORE, AFTER):
        known: set[str] = set()
        for entry in stretch:
            for block in entry.blocks:
                if block.kind == "tool_call" and block.name in ("Read", "Write"):
                    known.add(block.input["file_path"])
                if (
                    block.kind == "tool_call"
                    and block.name == "Edit"
                    and "almanac" not in block.input["file_path"]
                ):
                    assert block.input["file_path"] in known


def test_a_turn_that_calls_tools_begins_by_thinking() -> None:
    """As the provider wants it of a loop that is still open when thinking is on (CLAUDE §8)."""
    path = main_path(SESSION)
    for asked, answer in pairwise(path):
        if asked.opens_turn and any(block.kind == "tool_call" for block in answer.blocks):
            assert answer.blocks[0].kind == "reasoning"


@pytest.mark.parametrize("session", [FIRST, SESSION], ids=["before the compaction", "at the end"])
def test_the_context_as_it_stands_can_be_sent(session: Session) -> None:
    request = render_request(live_context(session, count_tokens(SESSION))).request
    assert check_request(request) == ()
