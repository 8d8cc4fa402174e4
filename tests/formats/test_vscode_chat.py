"""VS Code's chats: a document, and a log of changes that makes the same one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector import open_session, read_session
from inspector.session.blocks import Reasoning, ToolCall
from tests.recount.__main__ import compare

CASES = Path(__file__).parents[1] / "cases" / "formats"
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


def test_each_request_tells_the_context_of_its_last_call() -> None:
    told = {entry.id: entry.usage for entry in open_session(CASE).entries if entry.usage is not None}
    assert {name: (usage.prompt, usage.output) for name, usage in told.items()} == {
        "q1/2": (900, 40),
        "q2/reply": (700, 25),
        "q3/1": (300, 6),
    }


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


def test_an_append_with_a_place_drops_what_stood_from_there_on() -> None:
    request = {"requestId": "q", "message": {"text": "Hi"}, "response": [{"value": "a"}, {"value": "b"}]}
    rows = [
        {"kind": 0, "v": {"sessionId": "s", "version": 3, "requests": [request]}},
        {"kind": 2, "k": ["requests", 0, "response"], "i": 1, "v": [{"value": "c"}, {"value": "d"}]},
    ]
    session = read_session("\n".join(json.dumps(row) for row in rows))
    assert session["q/reply"].text == "acd"


@pytest.mark.parametrize("way", [["requests", 9, "response"], [], ["requests", "x", "y"], [7]])
def test_a_change_of_what_is_not_there_is_counted_as_broken(way: list[Any]) -> None:
    broken = json.dumps({"kind": 2, "k": way, "v": [1]}).encode() + b"\n"
    session = read_session(LOG.read_bytes() + broken)
    assert [each.reason for each in session.corrupt] == ["a change (append) of what is not there"]
    assert session.entries == open_session(LOG).entries


def test_a_chat_of_before_requests_had_ids_opens() -> None:
    asked = {"message": {"text": "High tide?", "parts": []}, "response": [{"value": "At six."}]}
    names = {"requesterUsername": "ada", "responderUsername": "GitHub Copilot"}
    session = read_session({**names, "requests": [{**asked, "result": {"timings": {}}}]})
    assert (session.format, session.unknown) == ("vscode-chat", 0)
    assert [(entry.role, entry.text) for entry in session.entries] == [
        ("user", "High tide?"),
        ("assistant", "At six."),
    ]


def test_a_chat_since_version_1_130_tells_figures_beside_its_requests_and_who_asked() -> None:
    """A task of the background asks by itself; a summary tells how large the context was."""
    calls = [{"id": "c1", "name": "read_file", "arguments": "{}"}]
    rounds = [{"id": "round-1", "response": "I read.", "toolCalls": calls}]
    summary = {"toolCallRoundId": "round-1", "text": "It read.", "contextLengthBefore": 98_000}
    metadata = {"toolCallRounds": rounds, "summaries": [summary], "toolCallResults": {"c1": "x = 1"}}
    asked = {"requestId": "r1", "message": {"text": "Fix it."}, "response": [{"value": "Fixed."}]}
    rows: list[dict[str, Any]] = [
        {"kind": 0, "v": {"version": 3, "sessionId": "s", "requests": [], "responderUsername": ""}},
        {"kind": 2, "k": ["requests"], "v": [asked | {"result": {"metadata": metadata}}]},
        {"kind": 1, "k": ["requests", 0, "promptTokens"], "v": 24_000},
        {"kind": 1, "k": ["requests", 0, "completionTokens"], "v": 1_700},
        {
            "kind": 2,
            "k": ["requests"],
            "v": [
                {
                    "requestId": "r2",
                    "message": {"text": "`npm test` completed"},
                    "isSystemInitiated": True,
                    "response": [{"value": "It passed."}],
                }
            ],
        },
    ]
    session = read_session("\n".join(map(json.dumps, rows)).encode())
    assert [entry.meta for entry in session.entries if entry.role == "user" and entry.kind == "message"] == [
        False,
        True,
    ]
    assert len(session.turns) == 1
    usage = session["r1/reply"].usage
    assert usage is not None and (usage.prompt, usage.output) == (24_000, 1_700)
    ((_, boundary),) = session.boundaries
    assert boundary.tokens_before == 98_000


@pytest.mark.parametrize("content", ["of the cache.", {"value": "of the cache.", "isTrusted": False}])
def test_words_of_the_screen_are_read_wherever_they_stand(content: Any) -> None:
    response = [
        {"kind": "thinking", "value": ["Which one?", "The first."]},
        {"value": "Because "},
        {"kind": "markdownContent", "content": content},
    ]
    chat = {"sessionId": "s", "requests": [{"message": {"text": "Why?"}, "response": response}]}
    session = read_session(chat)
    assert session.format == "vscode-chat"
    assert session.entries[1].blocks[0] == Reasoning(text="Which one?\nThe first.")
    assert session.entries[1].text.endswith("Because of the cache.")


def test_a_request_that_was_broken_off_tells_its_calls_and_no_context(tmp_path: Path) -> None:
    call = {"kind": "toolInvocationSerialized", "toolCallId": "c-1", "toolId": "manage_todo_list"}
    call |= {"invocationMessage": {"value": "Created 1 todo"}, "toolSpecificData": {"kind": "todoList"}}
    shown = [{"kind": "thinking", "value": "Plan first."}, {"value": "I plan."}, call]
    shown += [{"kind": "toolInvocationSerialized", "invocationMessage": "No name"}]
    request = {
        "requestId": "r-1",
        "message": {"text": "Move it."},
        "response": shown,
        "completionTokens": 699,
    }
    request["result"] = {"errorDetails": {"message": "Canceled"}}
    path = tmp_path / "chat.json"
    path.write_text(json.dumps({"version": 3, "sessionId": "s-1", "requests": [request]}))
    session = open_session(path)
    reply = session["r-1/reply"]
    assert [block.kind for block in reply.blocks] == ["reasoning", "text", "tool_call", "unknown"]
    assert reply.blocks[2] == ToolCall(id="c-1", name="manage_todo_list", input={"kind": "todoList"})
    assert (reply.error, reply.usage) == ("Canceled", None)
    assert session["r-1"].extra["completionTokens"] == 699
    assert session.warnings == ("1 call has no result in the file: VS Code does not save all of them",)
    assert [str(each) for each in compare(path, session) if not each.same] == []
