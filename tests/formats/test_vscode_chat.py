"""VS Code's chats: a document, and a log of changes that makes the same one."""

from __future__ import annotations

import json
from typing import Any

from inspector import open_session, read_session
from inspector.session.blocks import Reasoning
from tests.rows import CASES

CASE, LOG = CASES / "vscode-chat.json", CASES / "vscode-chat.log.jsonl"


def test_a_log_of_changes_is_the_chat_that_it_makes() -> None:
    chat, log = open_session(CASE), open_session(LOG)
    bare = [entry.model_copy(update={"sources": ()}) for entry in chat.entries]
    assert list(log.entries) == bare
    assert (chat.id, chat.title, log.id, log.title) == ("chat-1", "Clock", "chat-1", "Clock")
    assert [note.type for note in log.notes].count("append") == 4
    assert "draft" not in log.extra


def test_what_the_model_was_sent_is_taken_and_not_what_the_screen_repeats() -> None:
    session = open_session(CASE)
    assert session["q1/1"].blocks[0] == Reasoning(text="grep will do")
    assert session["q1/1/results"].blocks[0].text == "clock.py:3"
    texts = [entry.text for entry in session.entries]
    assert texts.count("I search.") == texts.count("It is set in clock.py.") == 1
    # The last reply of the second request stands in no round: only the screen showed it.
    assert session["q2/reply"].text == "Done: it is UTC now."
    assert session.warnings == ("1 call has no result in the file: VS Code does not save all of them",)


def test_a_summary_stands_for_all_up_to_the_round_that_it_names() -> None:
    session = open_session(CASE)
    (first, _), (second, later) = session.boundaries
    assert (first, second, later.first_kept) == ("q2/1/summary", "q3/summary", "q2/reply")
    assert session[second].text == "clock.py is UTC; tests were run."
    assert session.live_names == ["q3/summary", "q2/reply", "q3", "q3/1"]
    document: dict[str, Any] = json.loads(CASE.read_text("utf-8"))
    metadata = document["requests"][1]["result"]["metadata"]
    told = metadata.pop("summary")["text"]
    metadata["toolCallRounds"][0]["summary"] = told
    assert read_session(document)["q2/1/summary"].text == told
