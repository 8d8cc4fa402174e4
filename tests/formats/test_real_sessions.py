"""Real public transcripts: each file holds what its index says, and no record of it is lost.

The files lie beside the checkout and are never part of it (`tests/shared.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from inspector.files import open_session
from inspector.session.blocks import Block
from inspector.session.session import Session
from tests.shared import SHARED, needs_shared, open_shared

SESSIONS = SHARED / "sessions"

pytestmark = needs_shared


class Sample(NamedTuple):
    """A file, and what the index or a look into it says about it. None where it says nothing.

    `aside` counts rows of sub-agents, `largest` is the largest prompt by the provider's own word, and
    `branches` counts entries of the main conversation that are not on the path to the leaf.
    """

    file: str
    format: str
    records: int
    compactions: int = 0
    micro: int = 0
    thinking: int | None = None
    images: int = 0
    aside: int = 0
    largest: int | None = None
    branches: int = 0

    def __str__(self) -> str:
        return self.file.rpartition("/")[2]


CODE = "claude-code"
ENTIRE, EVALUATOR = "claude-code--entireio-cli/", "claude-code--context-evaluator/"
VIEWER, GROWTH = "claude-code-sidechains--claude-code-viewer/", "growth-series--entireio-cli/"
SCOUT = "inspect--inspect_scout/"

CLAUDE_CODE = (
    Sample(EVALUATOR + "cc-1compact-2img.jsonl", CODE, 489, 1, thinking=9, images=2, largest=177400),
    Sample(EVALUATOR + "cc-1compact-417l.jsonl", CODE, 417, 1, thinking=11, largest=166488),
    Sample(ENTIRE + "cc-1auto-1micro.jsonl", CODE, 953, 1, 1, thinking=142, largest=153945),
    Sample(ENTIRE + "cc-2auto-1519l.jsonl", CODE, 1519, 2, thinking=52, largest=166919, branches=2),
    Sample(ENTIRE + "cc-3auto-compactions-893l.jsonl", CODE, 893, 3, thinking=225, largest=155023),
    Sample(ENTIRE + "cc-auto+manual-1161l.jsonl", CODE, 1161, 2, thinking=223, largest=155538),
    Sample(ENTIRE + "cc-cjk159.jsonl", CODE, 142, thinking=35, largest=79500),
    Sample(ENTIRE + "cc-image+compaction.jsonl", CODE, 747, 1, thinking=28, images=1, largest=166548),
    Sample(ENTIRE + "cc-micro-only.jsonl", CODE, 636, 0, 1, thinking=80, largest=155808),
    Sample(ENTIRE + "cc-small-no-compaction.jsonl", CODE, 153, thinking=43, largest=76273),
    Sample("claude-code--git-sync/cc-426k-ctx-1142l.jsonl", CODE, 1142, thinking=134, largest=425822),
    Sample(VIEWER + "agent-test-hash-123.jsonl", CODE, 2, thinking=0, largest=100),
    Sample(VIEWER + "cc-1af7fc5e.jsonl", CODE, 29, thinking=0, largest=17437),
    Sample(VIEWER + "cc-sidechain-438l.jsonl", CODE, 438, thinking=0, aside=405, largest=42726),
    Sample(GROWTH + "step00-158l.jsonl", CODE, 158, thinking=16, largest=52300),
    Sample(GROWTH + "step04-689l.jsonl", CODE, 689, thinking=116, largest=128835),
    Sample(GROWTH + "step08-1350l.jsonl", CODE, 1350, 1, thinking=255, largest=148687),
    Sample(SCOUT + "cc-clear_split_session.jsonl", CODE, 5, thinking=0, largest=60),
    Sample(SCOUT + "cc-compaction_session.jsonl", CODE, 6, 1, thinking=0, largest=100),
)

OTHERS = (
    Sample("pi--pi-mono/pi-before-compaction.jsonl", "pi", 1003, 2, thinking=49),
    Sample("flue/before-compaction.session.json", "flue", 1002, 2, thinking=49),
)
SAMPLES = (*CLAUDE_CODE, *OTHERS)
every_sample = pytest.mark.parametrize("sample", SAMPLES, ids=str)
every_claude_code = pytest.mark.parametrize("sample", CLAUDE_CODE, ids=str)


def blocks_of(session: Session) -> Iterator[Block]:
    for entry in session.entries:
        for block in entry.blocks:
            yield block
            if block.kind == "tool_output":
                yield from block.parts


@every_sample
def test_a_file_holds_what_its_index_says(sample: Sample) -> None:
    session = open_shared(SESSIONS / sample.file)
    kinds = [block.kind for block in blocks_of(session)]
    recorded = [boundary.kind for _, boundary in session.boundaries]
    largest = max((entry.usage.prompt for entry in session.entries if entry.usage), default=None)
    assert session.format == sample.format
    assert session.records == sample.records
    assert (recorded.count("compact"), recorded.count("micro")) == (sample.compactions, sample.micro)
    assert kinds.count("image") == sample.images
    if sample.thinking is not None:
        assert kinds.count("reasoning") == sample.thinking
    if sample.largest is not None:
        assert largest == sample.largest
    aside = sum(len(entry.sources) for entry in session.entries if entry.sidechain is not None)
    assert aside == sample.aside
    assert session.unknown == (13 if sample.format == "flue" else 0) and not session.corrupt
    main = sum(entry.sidechain is None for entry in session.entries)
    assert main - len(session.path) == sample.branches


@every_claude_code
def test_every_line_is_in_one_place(sample: Sample) -> None:
    """Each line that is not blank is a source of one entry, or a note, or corrupt: zero silent loss."""
    content = (SESSIONS / sample.file).read_bytes()
    session = open_shared(SESSIONS / sample.file)
    sources = [source for entry in session.entries for source in entry.sources]
    sources += [note.source for note in session.notes]
    lines = content.split(b"\n")
    assert sorted(source.line for source in sources) == [n for n, line in enumerate(lines, 1) if line.strip()]
    for source in sources:
        assert content[source.offset :][: source.size] == lines[source.line - 1]


@every_claude_code
def test_the_conversation_hangs_together(sample: Sample) -> None:
    """Every output on the path follows its call, and pictures have pixels."""
    session = open_shared(SESSIONS / sample.file)
    assert not len(session.live.orphans)
    # The one file that ends while a tool is at work.
    assert len(session.live.pending) == (1 if "step00" in sample.file else 0)
    assert all(block.width and block.height for block in blocks_of(session) if block.kind == "image")
    positions = {entry.id: at for at, entry in enumerate(session.entries)}
    assert all(
        positions[entry.parent] < at
        for entry, at in zip(session.entries, positions.values(), strict=True)
        if entry.parent in positions
    )


@every_claude_code
def test_each_compaction_makes_the_next_prompt_smaller(sample: Sample) -> None:
    """By the provider's own word: the first reply after it was asked with less than the last before it."""
    session = open_shared(SESSIONS / sample.file)
    path = [session.entries[i] for i in session.path]
    for at, entry in enumerate(path):
        if entry.kind == "compaction" and sample.records > 10:
            before = [each.usage.prompt for each in path[:at] if each.usage]
            after = [each.usage.prompt for each in path[at:] if each.usage]
            assert after[0] < 0.6 * before[-1]
            assert entry.text.startswith("This session is being continued")
            assert [session.entries[i].id for i in session.at(entry.id).live.entries] == [entry.id]


# Rows, turns, compactions, and tokens sent and replied, added up from the raw files.
COUNTED: dict[str, tuple[int, int, int, int, int]] = {
    "atif--inspect_scout/openhands_hello-world.trajectory.json": (6, 1, 0, 220, 80),
    "atif--inspect_scout/terminus_2-context-summarization.cont-1.json": (13, 1, 1, 6_502, 690),
    "atif--inspect_scout/terminus_2-context-summarization.trajectory.json": (13, 1, 1, 6_502, 690),
    "cline/agentic.compaction.json": (32, 5, 1, 630_254, 4_395),
    "cline/basic.compaction.json": (32, 5, 1, 630_254, 4_395),
    "cline/session.json": (32, 5, 0, 630_254, 4_395),
    "cline/session.messages.json": (32, 5, 0, 630_254, 4_395),
    "inspect--inspect_ai/log_formats.eval": (11, 1, 0, 66, 2),
    "inspect--inspect_ai/log_images.json": (11, 1, 0, 323, 3),
    "inspect--inspect_ai/log_message_deduplication.eval": (42, 1, 0, 0, 0),
    "inspect--inspect_ai/log_streaming.eval": (11, 1, 0, 60, 1),
    "inspect--inspect_scout/popularity.eval": (17, 1, 0, 67, 1),
    "swe-agent/ctf-crypto-katy.traj": (37, 1, 0, 0, 0),
    "swe-agent/marshmallow-1867-function_calling_replace_from_source.traj": (28, 1, 0, 0, 0),
}


@pytest.mark.parametrize("name", COUNTED)
def test_a_file_that_is_not_recounted_holds_what_was_counted(name: str) -> None:
    session = open_session(SESSIONS / name)
    used = [entry.usage for entry in session.entries if entry.usage]
    kinds = [boundary.kind for _, boundary in session.boundaries]
    sums = sum(each.prompt for each in used), sum(each.output for each in used)
    assert (session.records, len(session.turns), kinds.count("compact"), *sums) == COUNTED[name]
    assert (session.unknown, session.corrupt, len(session.live.orphans)) == (0, (), 0)
