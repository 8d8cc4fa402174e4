"""Claude Code as the program does it: what stays, what is attached again, and when it rests."""

from __future__ import annotations

from typing import Any

import pytest

from inspector import build_context, count_tokens, make_plan, read_session
from inspector.session.session import Session

READ = {"type": "tool_use", "name": "Read"}


def read_file(number: int, path: str, text: str) -> list[dict[str, Any]]:
    call = {**READ, "id": f"c{number}", "input": {"file_path": path}}
    result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": text}
    return [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]


def talk(*middle: dict[str, Any], model: str = "claude-sonnet-4-6") -> Session:
    messages = [
        {"role": "user", "content": "List the readers."},
        *middle,
        {"role": "assistant", "content": "Two readers."},
        {"role": "user", "content": "Mend pi."},
        {"role": "assistant", "content": "It is mended."},
    ]
    return read_session([*messages]).model_copy(update={"model": model})


def sent(session: Session, **more: Any) -> list[str]:
    plan = make_plan(session, count_tokens(session), "claude-code", reason="manual", **more)
    return [piece.block.text for piece in build_context(session, plan).pieces]


def test_the_newest_reply_stays_and_the_file_that_was_edited_last_comes_first() -> None:
    edit = {"type": "tool_use", "name": "Edit", "id": "e1"}
    edit["input"] = {"file_path": "a.py", "old_string": "one", "new_string": "three"}
    done = {"type": "tool_result", "tool_use_id": "e1", "content": "ok"}
    middle = [*read_file(1, "a.py", "one"), *read_file(2, "b.py", "two")]
    middle += [{"role": "assistant", "content": [edit]}, {"role": "user", "content": [done]}]
    _, reply, attached = sent(talk(*middle))
    assert reply == "It is mended."
    assert attached.index("three") < attached.index("two")
    assert "one" not in attached


def test_a_large_file_takes_a_place_by_its_path_alone() -> None:
    middle = [*read_file(1, "large.py", "x" * 30_000), *read_file(2, "b.py", "two")]
    *_, attached = sent(talk(*middle), edits={"settings": {"re-attach.files": 1, "re-attach.modified": {}}})
    assert "two" in attached
    assert "xxx" not in attached
    *_, attached = sent(talk(*middle))
    assert ("large.py" in attached, "xxx" in attached) == (True, False)


@pytest.mark.parametrize("edits", [5, True, "ab", {"old_string": "one"}, [7, None], [["one"]]])
def test_edits_of_another_shape_leave_the_file_as_it_was(edits: Any) -> None:
    """A transcript may hold anything in the input of a call."""
    call = {
        "type": "tool_use",
        "name": "MultiEdit",
        "id": "e1",
        "input": {"file_path": "a.py", "edits": edits},
    }
    done = {"type": "tool_result", "tool_use_id": "e1", "content": "ok"}
    middle = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [done]}]
    *_, attached = sent(talk(*read_file(1, "a.py", "one"), *middle))
    assert attached == "[attached again: a.py]\none"


@pytest.mark.parametrize(("model", "fires"), [("claude-sonnet-4-6", True), ("claude-haiku-4-5", False)])
def test_some_models_compact_only_after_a_refusal(model: str, fires: bool) -> None:
    session = talk({"role": "assistant", "content": "word " * 5_000}, model=model)
    for reason, expected in (("auto", fires), ("overflow", True)):
        plan = make_plan(session, count_tokens(session), "claude-code", window=35_000, reason=reason)
        assert plan.verdict.fires is expected
