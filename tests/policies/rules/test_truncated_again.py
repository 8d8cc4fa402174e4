"""Micro's decisions live on in a file: what a session was truncated to is not truncated again (S2-16)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from inspector import compact, export_session, make_plan, open_session, read_session, save_session
from inspector.session.session import Session
from tests.replays.test_one_answer import by, with_outputs

FORMATS = ("manifest", "claude-code", "codex", "pi", "flue", "openai")


def write(session: Session, format: Any, folder: Path) -> Session:
    """The session, written to a file of a format and read again."""
    path = folder / "written.json"
    if format == "manifest":
        save_session(session, path)
    else:
        path.write_bytes(export_session(session, format))
    return open_session(path)


def lengths(session: Session) -> list[int]:
    live = session.live.entries.tolist()
    blocks = (block for i in live for block in session.entries[i].blocks)
    return [len(block.text) for block in blocks if block.kind == "tool_output"]


@pytest.mark.parametrize("form", ["head", "head+tail"])
@pytest.mark.parametrize("format", FORMATS)
def test_S2_16_what_was_truncated_stays_as_it_was_cut_whatever_the_limit_is_after_an_export(
    format: str, form: str, tmp_path: Path
) -> None:
    off = {"summarise-all__enabled": False, "collapse__enabled": False}
    limits = {"truncate-outputs__form": form, **off}
    session = with_outputs(6, {1: 300, 3: 500, 4: 90})
    policy = by("claude-code-analysis", **limits, **{"truncate-outputs__limit": 900})
    # The summary is off, and /compact with it; what runs before a request still does.
    done = compact(session, policy, None, window=600, reason="auto")
    assert done.done and sorted(lengths(done.after))[-2:] == [900, 900]
    again = write(done.after, format, tmp_path)
    assert lengths(again) == lengths(done.after)
    tight = make_plan(
        again, by("claude-code-analysis", **limits, **{"truncate-outputs__limit": 600}), window=2_000
    )
    cut = [len(block.text) for block in tight.outcome.blocks.values() if block is not None]
    # Only the output of 720 characters, of which nothing was decided yet, is over the new limit.
    assert cut == [600]


def test_S2_16_a_mark_that_no_truncation_left_there_is_words_like_others() -> None:
    mark = "\n[… 50 characters left out …]\n"
    rows = [
        {"role": "user", "content": "Go."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "type": "function", "function": {"name": "cat", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c", "content": mark + "word " * 400},
    ]
    plan = make_plan(
        read_session(rows), by("claude-code-analysis", **{"truncate-outputs__limit": 600}), window=9_000
    )
    assert [len(block.text) for block in plan.outcome.blocks.values() if block is not None] == [600]
