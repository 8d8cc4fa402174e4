"""Gemini CLI's chats, as documents and as lines, and Qwen Code's, beside counts of their rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector import open_session, read_session
from inspector.errors import EmptySession
from inspector.session.blocks import Image, Reasoning, Text, ToolOutput
from inspector.session.session import Session
from tests.recount.__main__ import compare
from tests.shared import SHARED, needs_shared

CASES = Path(__file__).parents[1] / "cases" / "formats"
LOG = [json.loads(line) for line in (CASES / "gemini-cli.log.jsonl").read_text("utf-8").splitlines()]
REAL = sorted((SHARED / "sessions").glob("gemini-cli--*/*.json"))
SMALL = sorted((SHARED / "sessions" / "agentsview--testdata" / "gemini").glob("*.json"))


def dump(*rows: Any) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def test_a_document_becomes_a_session() -> None:
    session = open_session(CASES / "gemini-cli.json")
    assert (session.id, session.model, session.created) == (
        "g-1",
        "gemini-2.5-pro",
        "2026-01-01T00:00:00.000Z",
    )
    assert [entry.role for entry in session.entries] == ["user", "assistant", "tool", "assistant", "user"]
    reply, results = session.entries[1:3]
    assert reply.blocks[0] == Reasoning(text="Reading\nOne file.")
    assert [block.kind for block in reply.blocks] == ["reasoning", "text", "tool_call"]
    (output,) = results.blocks
    assert output == ToolOutput(
        call_id="read-1", name="read_file", parts=(Text(text="hello"),), status="success"
    )
    picture = session.entries[4].blocks[1]
    assert isinstance(picture, Image) and (picture.width, picture.height) == (1, 1)
    assert [note.type for note in session.notes] == ["info"]


def test_thoughts_are_output_and_the_cache_is_part_of_the_input() -> None:
    usage = open_session(CASES / "gemini-cli.json").entries[1].usage
    assert usage is not None
    assert (usage.input, usage.cache_read, usage.output, usage.total) == (400, 600, 30, 1030)
    assert usage.prompt + usage.output == usage.total


def test_a_row_with_a_known_id_replaces_the_earlier_one() -> None:
    session = open_session(CASES / "gemini-cli.log.jsonl")
    assert [source.line for source in session["m2"].sources] == [3, 4]
    assert session["m2"].usage is not None


def test_what_was_rewound_is_recorded_and_gone_from_the_line() -> None:
    session = read_session(dump(*LOG[:10]))
    assert [entry.id for entry in session.entries][-3:] == ["m4", "m5", "m6"]
    assert session.live_names == ["m1", "m2", "m2/results", "m6"]
    unknown = read_session(dump(*LOG[:7], {"$rewindTo": "nowhere"}, LOG[9]))
    assert unknown.live_names == ["m6"]


def test_messages_that_a_patch_removes_are_recorded_and_gone_from_the_line(tmp_path: Path) -> None:
    about = {"sessionId": "s", "projectHash": "h", "startTime": "2026-08-01T10:00:00Z"}
    asked = [
        {"id": f"{kind[0]}{n}", "timestamp": "t", "type": kind, "content": f"{kind} {n}"}
        for n in (1, 2)
        for kind in ("user", "gemini")
    ]
    last = {"id": "u3", "timestamp": "t", "type": "user", "content": "user 3"}
    (path := tmp_path / "session-a.jsonl").write_bytes(
        dump(about, *asked, {"$patch": {"removeIds": ["u2", "g1"]}}, last)
    )
    session = open_session(path)
    assert [entry.text for entry in session.entries] == [row["content"] for row in [*asked, last]]
    assert [session.entries[at].id for at in session.path] == ["u1", "g2", "u3"]
    assert session.unknown == 0
    assert [each for each in compare(path, session) if not each.same] == []
    strange = read_session(dump(about, *asked, {"$patch": {"title": "x"}}))
    assert (len(strange.path), strange.unknown) == (4, 1)


def test_outputs_that_became_shorter_are_a_micro_compaction() -> None:
    session = read_session(dump(*LOG[:12]))
    ((name, boundary),) = session.boundaries
    assert (boundary.kind, boundary.cleared) == ("micro", ("read-1",))
    assert session["m2/results"].blocks[0].text == "hello " * 200
    assert session.live.cleared.sum() == 1
    assert session[name].sources[0].line == 11


def test_a_state_snapshot_is_a_compaction_that_keeps_what_it_repeats() -> None:
    session = open_session(CASES / "gemini-cli.log.jsonl")
    name, boundary = session.boundaries[-1]
    assert boundary.kind == "compact" and boundary.kept == ("m7",)
    assert session.live_names == [name, "m7", "c2", "m8", "m9"]
    assert len(session.turns) == 3
    assert [entry.id for entry in session.entries if not entry.sources] == ["m2/results", "c2"]


SUMMARY = {"id": "s", "type": "user", "content": "<state_snapshot>Two files.</state_snapshot>"}


def call_of(name: str, result: str) -> dict[str, Any]:
    answer = {"functionResponse": {"id": name, "name": "read_file", "response": {"output": result}}}
    call = {"id": name, "name": "read_file", "args": {}, "result": [answer], "status": "success"}
    return {"id": f"g-{name}", "type": "gemini", "content": "", "toolCalls": [call]}


@pytest.mark.parametrize("number", [None, "fc-7"])
def test_a_call_of_the_content_by_another_id_is_the_one_that_ran(number: str | None) -> None:
    reply = call_of("one", "long")
    asked = {"name": "read_file", "args": {}} | ({"id": number} if number else {})
    reply["content"] = [{"text": "I look."}, {"functionCall": asked}]
    session = read_session(dump(LOG[0], {"id": "u", "type": "user", "content": "Read."}, reply))
    calls = [block.id for entry in session.entries for block in entry.blocks if block.kind == "tool_call"]
    assert calls == ["one"]
    assert session.warnings == ()


def test_outputs_emptied_after_a_compression_are_no_second_compression() -> None:
    ask = {"id": "u", "type": "user", "content": "Read both."}
    kept, later = call_of("one", "long " * 90), call_of("two", "longer " * 90)
    compressed = {"$set": {"messages": [SUMMARY, kept]}}
    masked = {"$set": {"messages": [SUMMARY, kept, call_of("two", "short")]}}
    again = {"$set": {"messages": [SUMMARY, call_of("one", "short"), call_of("two", "short")]}}
    session = read_session(dump(LOG[0], ask, kept, compressed, later, masked, again))
    assert [(b.kind, b.cleared) for _, b in session.boundaries] == [
        ("compact", ()),
        ("micro", ("two",)),
        ("micro", ("one",)),
    ]
    assert [name for name in session.live_names if name.startswith(("compression", "g-"))] == [
        "compression-4",
        "g-one",
        "g-one/results",
        "g-two",
        "g-two/results",
    ]
    assert session["g-one/results"].blocks[0].text == "long " * 90
    # The same summary under another id is still that summary.
    renamed = {"$set": {"messages": [{**SUMMARY, "id": "t"}, kept, later, {**ask, "id": "v"}]}}
    other = read_session(dump(LOG[0], ask, kept, compressed, later, renamed))
    assert [boundary.kind for _, boundary in other.boundaries] == ["compact"]
    assert other.live_names[-1] == "v"
    assert other.live_names[0] == "compression-4"


def test_a_history_cut_after_a_compression_keeps_its_summary() -> None:
    ask = {"id": "u", "type": "user", "content": "Read both."}
    kept, later = call_of("one", "long"), call_of("two", "longer")
    compressed = {"$set": {"messages": [SUMMARY, kept]}}
    less = {"$set": {"messages": [SUMMARY]}}
    session = read_session(dump(LOG[0], ask, kept, compressed, later, less))
    assert session.live_names == ["compression-4"]
    assert "g-two" in session.index


def test_a_new_summary_after_a_compression_is_a_second_one() -> None:
    ask = {"id": "u", "type": "user", "content": "Read both."}
    second = {**SUMMARY, "id": "s2", "content": "<state_snapshot>Three files.</state_snapshot>"}
    rows = [{"$set": {"messages": [SUMMARY]}}, ask, {"$set": {"messages": [second]}}]
    session = read_session(dump(LOG[0], {**ask, "id": "w"}, *rows))
    assert [boundary.kind for _, boundary in session.boundaries] == ["compact", "compact"]
    assert session.live_names == ["compression-5"]


def test_a_history_that_became_another_goes_on_from_what_they_share() -> None:
    other = {"$set": {"messages": [LOG[1], {"id": "n", "type": "user", "content": "Another way."}]}}
    session = read_session(dump(*LOG[:4], other))
    assert session.live_names == ["m1", "n"]
    assert "m2" in session.index


def test_a_call_in_the_content_and_among_the_calls_counts_once() -> None:
    call = {"functionCall": {"id": "read-1", "name": "read_file", "args": {}}}
    answer = {
        "functionResponse": {"id": "read-1", "name": "read_file", "response": {"error": "no such file"}}
    }
    reply = {
        "id": "a",
        "type": "gemini",
        "content": [call],
        "toolCalls": [
            {"id": "read-1", "name": "read_file", "args": {}, "result": [answer], "status": "error"}
        ],
    }
    session = read_session(dump(LOG[0], LOG[1], reply))
    assert [block.kind for block in session["a"].blocks] == ["tool_call"]
    output = session["a/results"].blocks[0]
    assert isinstance(output, ToolOutput) and output.is_error and output.text == "no such file"
    assert len(session.live.pairs) == 1


@needs_shared
@pytest.mark.parametrize("path", [*REAL, *SMALL], ids=lambda path: path.name)
def test_a_real_chat_holds_what_its_messages_hold(path: Path) -> None:
    messages = json.loads(path.read_text("utf-8"))["messages"]
    spoken = [message for message in messages if message["type"] in ("user", "gemini")]
    if not spoken:
        with pytest.raises(EmptySession, match="recognised as gemini-cli"):
            open_session(path)
        return
    session = open_session(path)
    assert (session.format, session.records, session.unknown) == ("gemini-cli", len(messages), 0)
    assert len(session.turns) == sum(message["type"] == "user" for message in messages)
    calls = [call for message in messages for call in message.get("toolCalls") or ()]
    blocks = [block for entry in session.entries for block in entry.blocks]
    assert sum(block.kind == "tool_call" for block in blocks) == len(calls)
    assert sum(block.kind == "tool_output" for block in blocks) == sum("result" in call for call in calls)
    told = [message["tokens"] for message in messages if any((message.get("tokens") or {}).values())]
    usage = [entry.usage for entry in session.entries if entry.usage]
    assert sum(each.tokens for each in usage) == sum(tokens["total"] for tokens in told)
    assert sum(each.prompt for each in usage) == sum(tokens["input"] + tokens["tool"] for tokens in told)
    assert sum(each.cache_read for each in usage) == sum(tokens["cached"] for tokens in told)


# Qwen Code


def test_qwens_lines_hold_googles_parts() -> None:
    session = open_session(CASES / "qwen.jsonl")
    assert (session.id, session.cwd, session.extra["version"]) == ("q-1", "/w", "0.5.0")
    assert [entry.role for entry in session.entries[:4]] == ["user", "assistant", "tool", "assistant"]
    assert session["q2"].blocks[0] == Reasoning(text="thinking of it")
    assert session["q5"].parent == "q3" and session["q3"].aliases == ()
    assert sum(entry.usage.tokens for entry in session.entries if entry.usage) == 915 + 953 + 262


def test_what_qwen_compressed_is_a_compaction_where_its_line_holds_the_result() -> None:
    session = open_session(CASES / "qwen.jsonl")
    ((name, boundary),) = session.boundaries
    assert (boundary.tokens_before, boundary.tokens_after) == (953, 200)
    assert session.live_names == [name, "q6.1", "q7", "q8"]
    rows = [json.loads(line) for line in (CASES / "qwen.jsonl").read_text("utf-8").splitlines()]
    del rows[5]["systemPayload"]
    without = read_session(dump(*rows))
    ((name, boundary),) = without.boundaries
    assert boundary.summary is None and boundary.extra == {"unreadable": True}
    assert without.live_names == ["q6", "q7", "q8"] and without.records == len(rows)
    rows[5]["systemPayload"] = {"info": {"compressionStatus": 1, "triggerReason": "manual"}}
    assert read_session(dump(*rows)).boundaries[0][1].trigger == "manual" and boundary.trigger is None
    rows[5]["systemPayload"] = {"info": {"compressionStatus": 3}}
    assert not read_session(dump(*rows)).boundaries


def test_what_qwen_s_compression_repeats_was_kept_and_opens_no_turn_a_second_time() -> None:
    rows = [json.loads(line) for line in (CASES / "qwen.jsonl").read_text("utf-8").splitlines()]
    history = rows[5]["systemPayload"]["compressedHistory"]
    history += [{"role": "user", "parts": rows[0]["message"]["parts"]}]
    history += [{"role": "user", "parts": [{"text": "Put in other words."}]}]
    session = read_session(dump(*rows))
    ((_, boundary),) = session.boundaries
    assert boundary.kept == ("q1",) and len(session.turns) == 2
    added = [entry for entry in session.entries if entry.id.startswith("q6.") and entry.role == "user"]
    assert [(entry.text, entry.meta) for entry in added] == [("Put in other words.", True)]


def test_the_context_that_a_chat_begins_with_since_version_0_46_is_the_harness_s() -> None:
    words = "<session_context>\nThis is the Gemini CLI.\n</session_context>"
    context = {"id": "ctx", "type": "user", "content": [{"text": words}]}
    asked = {"id": "u1", "type": "user", "content": [{"text": "Add a column."}]}
    answered = {"id": "g1", "type": "gemini", "content": "Added."}
    session = read_session(dump(LOG[0], {"$set": {"messages": [context]}}, asked, answered))
    assert [entry.meta for entry in session.entries] == [True, False, False]
    assert len(session.turns) == 1 and len(session.path) == 3 and not session.boundaries


def test_a_chat_that_does_not_say_whose_it_is_is_known_by_its_replies() -> None:
    said = [{"type": "user", "content": "first"}, {"type": "gemini", "content": "ok"}]
    rows = [{"session_id": "s", "start_time": "t"}, *({"id": f"m{n}", **each} for n, each in enumerate(said))]
    for data in (json.dumps({"messages": said}).encode(), dump(*rows)):
        session = read_session(data)
        assert (session.format, len(session.turns)) == ("gemini-cli", 1)
        assert [(entry.role, entry.text) for entry in session.entries] == [
            ("user", "first"),
            ("assistant", "ok"),
        ]


def masked_chat() -> list[dict[str, Any]]:
    """A chat of 2026 whose histories hold turns: words as parts, calls among them, answers apart."""
    answer = {"functionResponse": {"id": "c1", "name": "read_file", "response": {"output": "line " * 100}}}
    call = {"id": "c1", "name": "read_file", "args": {"path": "a"}, "status": "success", "result": [answer]}
    asked = {"functionCall": {"id": "c1", "name": "read_file", "args": {"path": "a"}}}
    used = {"input": 100, "output": 5, "cached": 0, "thoughts": 0, "tool": 0, "total": 105}
    said = [
        {"id": "u1", "type": "user", "content": [{"text": "Read a, never b."}]},
        {"id": "g1", "type": "gemini", "content": "", "toolCalls": [call], "tokens": used, "model": "demo-1"},
        {"id": "g2", "type": "gemini", "content": "It is long.", "tokens": used, "model": "demo-1"},
    ]
    turns = [
        said[0],
        {**said[1], "content": [asked]},
        {"id": "f1", "type": "user", "content": [answer]},
        {**said[2], "content": [{"text": "It is long."}]},
    ]
    about = {"sessionId": "s", "projectHash": "p"}
    return [about, *said, {"$set": {"messages": turns}}]


def read_rows(rows: list[dict[str, Any]], path: Path) -> Session:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    session = open_session(path)
    assert [str(figure) for figure in compare(path, session) if not figure.same] == []
    return session


def test_a_history_of_turns_says_nothing_twice(tmp_path: Path) -> None:
    session = read_rows(masked_chat(), tmp_path / "chat.jsonl")
    assert [entry.id for entry in session.entries] == ["u1", "g1", "g1/results", "g2"]
    assert [entry.usage.output for entry in session.entries if entry.usage] == [5, 5]


def test_outputs_that_a_history_of_turns_masks_are_cleared(tmp_path: Path) -> None:
    rows = masked_chat()
    masked = json.loads(json.dumps(rows[-1]).replace("line " * 100, "in a file"))
    session = read_rows([*rows[:-1], masked], tmp_path / "chat.jsonl")
    ((_, boundary),) = session.boundaries
    assert (boundary.kind, boundary.cleared) == ("micro", ("c1",))
    assert session["g1/results"].blocks[0].text == "line " * 100


def test_turns_that_a_compression_keeps_are_kept_and_not_said_again(tmp_path: Path) -> None:
    rows = masked_chat()
    history = rows.pop()["$set"]["messages"]
    snapshot = {
        "id": "s1",
        "type": "user",
        "content": [{"text": "<state_snapshot>Never b.</state_snapshot>"}],
    }
    again = {**history[3], "content": [{"text": "It is very long."}]}
    rows += [
        {"$set": {"messages": [snapshot, *history[1:3], again]}},
        {"id": "u2", "type": "user", "content": "Go"},
    ]
    session = read_rows(rows, tmp_path / "chat.jsonl")
    ((_, boundary),) = session.boundaries
    assert boundary.kept == ("g1", "g1/results")
    # One in other words is another message, and was no request of its own.
    assert [entry.usage for entry in session.entries if entry.text == "It is very long."] == [None]


def test_what_a_reply_took_may_be_told_by_a_later_history_alone(tmp_path: Path) -> None:
    about, *said = masked_chat()[:-1]
    took = said[-1].pop("tokens")
    told = {**said[-1], "tokens": took}
    session = read_rows([about, *said, {"$set": {"messages": [*said[:-1], told]}}], tmp_path / "a.jsonl")
    assert [entry.usage.output for entry in session.entries if entry.usage] == [5, 5]
    # And where the history is another one: the first line of the chat was said anew.
    other = [{**said[0], "id": "u9"}, *said[1:-1], told]
    session = read_rows([about, *said, {"$set": {"messages": other}}], tmp_path / "b.jsonl")
    assert [entry.usage.output for entry in session.entries if entry.usage] == [5, 5]


def test_answers_that_were_said_as_messages_are_so_in_a_history_too(tmp_path: Path) -> None:
    about, *said = masked_chat()[:-1]
    answer = {"functionResponse": {"id": "c1", "name": "f", "response": {"output": "line"}}}
    said.insert(2, {"id": "u2", "type": "user", "content": [answer]})
    session = read_rows([about, *said, {"$set": {"messages": said}}], tmp_path / "chat.jsonl")
    assert [entry.id for entry in session.entries] == ["u1", "g1", "g1/results", "u2", "g2"]
    assert len(session.path) == 5


@pytest.mark.parametrize("number", [["c1"], {"id": 1}, 7, None])
def test_an_answer_whose_id_is_no_text_repeats_nothing(number: Any, tmp_path: Path) -> None:
    about, *said = masked_chat()[:-1]
    odd = {"id": "u2", "type": "user", "content": [{"functionResponse": {"id": number, "response": {}}}]}
    session = read_rows([about, {"$set": {"messages": [*said, odd]}}], tmp_path / "chat.jsonl")
    assert session.entries[-1].id == "u2"


def test_the_chat_ends_with_its_own_message_and_not_with_a_sub_agent_s(tmp_path: Path) -> None:
    """A line without a message or an agent may begin the chat of a sub-agent, or stand in one."""

    def line(name: str, above: str | None, kind: str, **more: Any) -> dict[str, Any]:
        message = {"role": "model" if kind == "assistant" else "user", "parts": [{"text": f"I say {name}."}]}
        own = {} if kind == "system" else {"message": message}
        return {"uuid": name, "parentUuid": above, "sessionId": "s", "type": kind, **own, **more}

    own = [line("a", None, "user"), line("b", "a", "assistant")]
    agent = [line("c", "b", "user", agentId="x"), line("d", "c", "assistant", agentId="x")]
    note = line("e", "d", "system", subtype="ui_telemetry")
    session = read_rows([*own, *agent, note], tmp_path / "chat.jsonl")
    assert session.leaf == "b"
    assert [entry.sidechain for entry in session.entries] == [None, None, "x", "x"]
    first = line("b", None, "system", subtype="session_start")
    alone = read_rows([first, *agent, note], tmp_path / "agent.jsonl")
    assert alone.leaf == "d"
    assert [entry.sidechain for entry in alone.entries] == [None, None]


def test_what_qwen_code_writes_in_a_user_s_place_is_no_prompt(tmp_path: Path) -> None:
    """Notifications and what goals run are told by their lines; what was typed meanwhile is a prompt."""

    def line(number: int, above: int | None, kind: str, text: str, **more: Any) -> dict[str, Any]:
        role = "model" if kind == "assistant" else "user"
        parent = None if above is None else f"a{above}"
        message = {"role": role, "parts": [{"text": text}]}
        return {
            "uuid": f"a{number}",
            "parentUuid": parent,
            "sessionId": "s",
            "type": kind,
            "message": message,
            **more,
        }

    used = {"promptTokenCount": 9, "candidatesTokenCount": 2, "totalTokenCount": 11}
    title = {"uuid": "a9", "parentUuid": "a6", "sessionId": "s", "type": "system", "subtype": "custom_title"}
    rows = [
        line(1, None, "user", "Mend a.py", provenance="real_user"),
        line(2, 1, "assistant", "I do.", usageMetadata=used),
        line(3, 2, "user", "And b.py", subtype="mid_turn_user_message"),
        line(4, 3, "user", "A task has ended.", subtype="notification", provenance="system"),
        line(5, 4, "user", "On with the goal.", provenance="goal_runtime"),
        line(6, 5, "assistant", "Done.", usageMetadata=used),
        line(7, 2, "user", "Look around.", agentId="explore-1", isSidechain=True),
        line(8, 7, "assistant", "Looked.", agentId="explore-1", isSidechain=True, usageMetadata=used),
        title | {"systemPayload": {"customTitle": "Mending"}},
    ]
    session = read_rows(rows, tmp_path / "chat.jsonl")
    assert (session.format, session.title, len(session.turns)) == ("qwen", "Mending", 2)
    assert [entry.id for entry in session.entries if entry.meta] == ["a4", "a5"]
    assert [entry.sidechain for entry in session.entries if entry.sidechain] == ["explore-1"] * 2
    assert [session.entries[at].text for at in session.live.entries][-1] == "Done."
    alone = read_rows(
        [{**row, "parentUuid": None} for row in rows[6:7]] + rows[7:8], tmp_path / "agent.jsonl"
    )
    assert [entry.sidechain for entry in alone.entries] == [None, None]
