"""The package's figures are those that other code counts from the raw file: made-up cases and real ones."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from inspector import open_session, price_session
from tests.recount import __main__ as recount
from tests.shared import SHARED, needs_shared, open_shared

CASES = Path(__file__).parent / "cases" / "money"
FORMATS = Path(__file__).parent / "cases" / "formats"
M = 1_000_000
# Worked out by hand from the rows: dollars for a million tokens are 5 in and 25 out for Opus 4.5 and 4.6,
# 1 and 5 for Haiku 4.5; a tenth when read from the cache, 1.25 and 2 times when written to it.
BILLS: dict[str, dict[str, tuple[int, int | None, float | None]]] = {
    "cache-writes.jsonl": {
        "input": (2, 20, 20 * 5 / M),
        "cache read": (1, 8_000, 8_000 * 0.5 / M),
        "cache write 5m": (2, 3_000 + 700, 3_700 * 6.25 / M),  # 700 of a row that does not tell
        "cache write 1h": (1, 5_000, 5_000 * 10 / M),
        "output": (2, 100, 100 * 25 / M),
    },
    "streamed.jsonl": {
        "input": (2, 10, 10 * 5 / M),
        "cache read": (2, 200, 200 * 0.5 / M),
        "cache write 5m": (0, 0, 0.0),
        "cache write 1h": (0, 0, 0.0),
        # "word " and "often " are a token each, and the space at the end is one more: 51 and 31. The second
        # reply ended, so its 3 tokens are believed.
        "output": (2, 51 + 31 + 3, 85 * 25 / M),
    },
    "sub-agents.jsonl": {
        "input": (3, 30, 30 * 5 / M),
        "cache read": (2, 4_100, 4_100 * 0.5 / M),
        "cache write 5m": (0, 0, 0.0),
        "cache write 1h": (3, 2_150, 2_150 * 10 / M),
        "output": (3, 90, 90 * 25 / M),
        # One in rows of progress, one in the sidechain; the reply shown again counts for the conversation.
        "sub-agents": (2, 1_024 + 16, (4 + 1_000 * 1.25 + 20 * 5 + 6 + 10 * 5) / M),
        "sub-agents' last replies": (1, 1_110, (2 + 1_000 * 0.1 + 90 * 1.25 + 18 * 5) / M),
        "unknown: no price": (1, 900, None),
        "unknown: sub-agents": (2, None, None),
    },
    "iterations.jsonl": {
        "input": (2, 23_000 + 2_000 + 500 + 30, (23_530 * 5 + 2_000 * 1) / M),
        "cache read": (2, 46_900, 46_900 * 0.5 / M),
        "cache write 5m": (0, 0, 0.0),
        "cache write 1h": (1, 400, 400 * 10 / M),
        "output": (2, 400 + 50 + 600 + 8, (1_008 * 25 + 50 * 5) / M),
        "compaction": (1, 183_500, (180_000 * 5 + 3_500 * 25) / M),
    },
    "unknown.jsonl": {
        "input": (2, 1_500, 1_500 * 5 / M),
        "cache read": (0, 0, 0.0),
        "cache write 5m": (0, 0, 0.0),
        "cache write 1h": (0, 0, 0.0),
        "output": (2, 150, 150 * 25 / M),
        "unknown: no price": (1, 2_200, None),
        "unknown: compactions": (1, None, None),
    },
    "pi-costs.jsonl": {
        "input": (3, 1_150, 0.25 + 1_000 * 5 / M),
        "cache read": (0, 0, 0.0),
        "cache write": (0, 0, 0.0),
        "output": (3, 115, 0.5 + 100 * 25 / M),
        "cost stated as a whole": (1, None, 0.125),
        "unknown: no price": (1, 44, None),
    },
    "request.json": {
        "input": (1, 300, 300 * 5 / M),
        "cache read": (0, 0, 0.0),
        "cache write 5m": (0, 0, 0.0),
        "cache write 1h": (1, 200, 200 * 10 / M),
        "output": (1, 20, 20 * 25 / M),
        "compaction": (1, 60_700, (60_000 * 5 + 700 * 25) / M),
        "unknown: compactions": (1, None, None),
    },
}


def see_lines(figures: dict[str, tuple[int, int | None, float | None]]) -> dict[str, Any]:
    return {
        name: (calls, tokens, None if money is None else pytest.approx(money, abs=1e-9))
        for name, (calls, tokens, money) in figures.items()
    }


@pytest.mark.parametrize("name", BILLS)
def test_the_bill_of_a_case_is_the_one_worked_out_by_hand(name: str) -> None:
    bill = price_session(open_session(CASES / name))
    assert {line.name: (line.calls, line.tokens, line.money) for line in bill.lines} == see_lines(BILLS[name])
    known = [line.money for line in bill.lines if line.money is not None]
    assert bill.cost is not None
    assert bill.cost.total == pytest.approx(sum(known))


@pytest.mark.parametrize("name", [name for name in BILLS if name != "request.json"])
def test_every_figure_of_a_case_is_the_one_recounted(name: str) -> None:
    path = CASES / name
    figures = recount.compare(path, open_session(path))
    assert [str(figure) for figure in figures if not figure.same] == []
    assert len(figures) > 20


# Worked out by hand from the rows: turns, replies, compactions, and tokens of the conversation's requests
# (fresh, from the cache, written): Codex's are the last totals, the others' the figures of each reply added.
COUNTS: dict[str, tuple[int, int, int, int, int, int]] = {
    "ai-sdk.json": (2, 4, 0, 0, 0, 0),
    "atif.json": (1, 4, 1, 40, 60, 10),
    "chatgpt.json": (2, 5, 0, 0, 0, 0),
    "claude-ai.json": (2, 4, 0, 0, 0, 0),
    "claude-stream-json.jsonl": (2, 5, 1, 290, 4_100, 53),
    "cline.task.json": (3, 6, 0, 8_000 - 6_400, 6_400, 100),
    "codex.jsonl": (2, 5, 1, 4_700 - 2_400, 2_400, 110),
    "copilot-cli.jsonl": (2, 4, 1, 0, 0, 0),
    "data-set.json": (2, 3, 0, 0, 0, 0),
    "gemini-cli.json": (2, 2, 0, 600, 1_500, 38),
    "gemini-cli.log.jsonl": (3, 5, 1, 100 + 100 + 100 + 300 + 300, 3_500, 39),
    "inspect.json": (1, 3, 1, 190, 90, 19),
    "kimi.jsonl": (2, 3, 1, 310 + 60 + 120, 1_024 + 1_334, 22 + 14 + 5),
    "langgraph.json": (2, 3, 1, 30 + 70 + 30, 20, 12),
    "message-lines.jsonl": (2, 4, 0, 164 + 54 + 40 + 30, 256 + 416 + 480 + 520, 18 + 21 + 25 + 9),
    "mini-swe-agent.json": (1, 2, 0, 82, 48, 17),
    "opencode.json": (3, 5, 1, 300, 300, 29),
    "openhands.jsonl": (2, 3, 1, 210, 90, 15),
    "pydantic-ai.json": (2, 4, 2, 30 + 30 + 60, 150, 29),
    "qwen.jsonl": (2, 4, 1, 710, 1_400, 20),
    "request-log.jsonl": (3, 4, 1, 500, 130, 24),
    "swe-agent.traj.json": (1, 3, 0, 0, 0, 0),
    "traces.jsonl": (2, 3, 1, 100 + 210 + 90, 90, 20),
    "vscode-chat.json": (3, 6, 2, 900 + 700 + 300, 0, 71),
}


@pytest.mark.parametrize("name", COUNTS)
def test_what_was_counted_by_hand_is_what_the_package_and_a_recount_count(name: str) -> None:
    session = open_session(FORMATS / name)
    counted = [recount.read_figures(session)]
    if session.format in recount.RECOUNTS:
        counted.append(recount.RECOUNTS[session.format](FORMATS / name))
    for figures in counted:
        tokens = [figures.lines.get(kind, (0, 0, None))[1] for kind in ("input", "cache read", "output")]
        assert (figures.turns, figures.replies, figures.compactions, *tokens) == COUNTS[name]


RECOUNTED = [name for name in COUNTS if name.partition(".")[0] in recount.RECOUNTS]


@pytest.mark.parametrize("name", [name for name in RECOUNTED if COUNTS[name][3]])
def test_usage_that_the_package_left_out_is_told_for_every_format(name: str) -> None:
    session = open_session(FORMATS / name)
    entries = list(session.entries)
    last = max(at for at, entry in enumerate(entries) if entry.usage and entry.sidechain is None)
    entries[last] = entries[last].model_copy(update={"usage": None})
    less = session.with_entries(entries, session.leaf)
    assert [figure.name for figure in recount.compare(FORMATS / name, less) if not figure.same]


def test_a_figure_that_is_another_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    path = CASES / "cache-writes.jsonl"
    session = open_session(path)
    less = session.with_entries(
        (entry.model_copy(update={"usage": None}) for entry in session.entries[:2]), session.leaf
    )
    wrong = {figure.name for figure in recount.compare(path, less) if not figure.same}
    assert {"replies", "output: tokens", "cache write 1h: money", "money of all that is known"} <= wrong
    assert recount.main([str(path)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "23 passed, 0 failed"
    assert recount.main([str(CASES / "none.jsonl")]) == 1
    assert recount.main([]) == 2


def test_what_recounts_shares_no_code_with_the_package() -> None:
    folder = Path(recount.__file__).parent
    plain = [path for path in folder.glob("*.py") if path.name != "__main__.py"]
    assert len(plain) >= 4
    for path in plain:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            assert not [name for name in names if name.split(".")[0] in ("inspector", "tests")]


FOLDERS = (
    *("claude-code*/*.jsonl", "growth-series*/*.jsonl", "inspect--inspect_scout/cc-*/*.jsonl"),
    *("inspect--inspect_scout/cc-*.jsonl", "agentsview*/*/session*.jsonl", "pi--*/*.jsonl", "flue/*.json"),
    *("codex*/*.jsonl", "copilot-cli*/*.jsonl", "gemini-cli*/*.json", "opencode*/*.json"),
    "openhands*/events.jsonl",
    *("agentsview*/codex/*.jsonl", "agentsview*/gemini/[!s]*.json"),
)
REAL = sorted(path for folder in FOLDERS for path in (SHARED / "sessions").glob(folder))

UNKNOWN = {"flue/before-compaction.session.json": 13, "pi/session.jsonl": 1}
"""Blocks of bookkeeping entries, and a record of an unknown type."""


@needs_shared
@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
def test_every_figure_of_a_real_session_is_the_one_recounted(path: Path) -> None:
    session = open_shared(path)
    figures = recount.compare(path, session)
    assert [str(figure) for figure in figures if not figure.same] == []
    assert session.unknown == UNKNOWN.get(f"{path.parent.name}/{path.name}", 0)
