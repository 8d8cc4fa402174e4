"""Logs of whole requests: what is new in each, what a broken beginning tells, and real logs by own count."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector import open_session, read_session
from inspector.errors import ReadError
from inspector.formats.requests.request_log import READER
from inspector.session.blocks import Reasoning, ToolCall
from tests.recount.__main__ import compare
from tests.shared import SHARED, needs_shared

CASES = Path(__file__).parents[1] / "cases" / "formats"
LOG = CASES / "request-log.jsonl"
OPENHANDS = SHARED / "sessions" / "openhands--sdk" / "llm-logs"
CHAT = SHARED / "sessions" / "openai-chat--context-viewer" / "completions-ask_github.json"


def dump(*rows: Any) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def request(*messages: Any, reply: str = "", **more: Any) -> dict[str, Any]:
    said = [{"role": role, "content": text} for role, text in messages]
    answer = {"choices": [{"message": {"role": "assistant", "content": reply}}]}
    return {"request": {"model": "m", "messages": said}, "response": answer, **more}


def test_requests_that_grow_are_one_session() -> None:
    session = open_session(LOG)
    assert (session.model, session.records) == ("gpt-5-2025-08-07", 5)
    assert [block.text for block in session.system] == ["You are terse."]
    assert [tool.name for tool in session.tools] == ["read"]
    main = [entry for entry in session.entries if entry.sidechain is None]
    assert [(entry.role, entry.kind) for entry in main] == [
        ("user", "message"),
        ("assistant", "message"),
        ("tool", "message"),
        ("assistant", "message"),
        ("user", "micro"),
        ("user", "message"),
        ("assistant", "message"),
        ("user", "compaction"),
        ("user", "message"),
        ("assistant", "message"),
    ]
    assert main[1].blocks[0] == ToolCall(id="c1", name="read", input={"path": "a.py"})
    usage = [entry.usage for entry in main if entry.usage]
    assert [(each.input, each.cache_read, each.output) for each in usage] == [
        (100, 0, 10),
        (210, 90, 5),
        (100, 40, 4),
        (90, 0, 5),
    ]


def test_an_output_that_was_emptied_is_a_micro_compaction_and_a_broken_beginning_a_compaction() -> None:
    session = open_session(LOG)
    (_, micro), (_, whole) = session.boundaries
    assert (micro.kind, micro.cleared) == ("micro", ("c1",))
    assert (whole.tokens_before, whole.tokens_after) == (144, 90)
    assert whole.summary is not None and whole.summary.startswith("Summary of the work so far")
    assert [session[kept].text[:9] for kept in whole.kept] == ["Read a.py"]
    assert [session.entries[at].text[:14] for at in session.live.entries] == [
        "Summary of the",
        "Read a.py and ",
        "Thanks. Now c.",
        "There is none.",
    ]


def test_what_shares_nothing_with_a_conversation_stands_apart() -> None:
    session = open_session(LOG)
    aside = [entry.text for entry in session.entries if entry.sidechain]
    assert aside == ["A title for: counting.", "Counting"]
    assert len(session.warnings) == 1


def test_a_beginning_that_was_cut_off_is_a_compaction_without_words() -> None:
    long = [("user", "one"), ("assistant", "1"), ("user", "two"), ("assistant", "2")]
    rows = [request(*long[:1], reply="1"), request(*long[:3], reply="2")]
    session = read_session(dump(*rows, request(*long[2:], ("user", "three"), reply="3")))
    ((name, boundary),) = session.boundaries
    assert (boundary.summary, session[name].blocks) == (None, ())
    assert [session.entries[at].text for at in session.live.entries] == ["", "two", "2", "three", "3"]
    assert len(session.turns) == 3


def test_a_request_sent_again_or_from_an_earlier_moment_is_another_branch() -> None:
    again = read_session(dump(*[request(("user", "one"), reply=reply) for reply in ("1", "uno")]))
    assert [again.entries[at].text for at in again.path] == ["one", "uno"]
    assert not again.boundaries


def test_a_summary_that_shares_no_message_is_known_by_the_reply_that_wrote_it() -> None:
    words = "The user wants the counting of lines in a.py, and nothing else at all."
    rows = [request(("user", "one"), reply=words), request(("user", f"Go on from: {words}"), reply="2")]
    assert len(read_session(dump(*rows)).boundaries) == 1
    rows[0]["response"]["choices"][0]["message"]["content"] = (
        "Something else, which nobody repeats in the end."
    )
    assert not read_session(dump(*rows)).boundaries


def test_one_conversation_by_its_name_is_never_two() -> None:
    rows = [request((("user", text)), reply="yes", session_id="s") for text in ("one", "two")]
    session = read_session(dump(*rows))
    assert len(session.boundaries) == 1 and not session.warnings


@pytest.mark.parametrize("name", ["instance_id", "traj_id", "custom_id"])
def test_rows_of_two_tasks_are_two_conversations_though_they_begin_with_the_same_example(name: str) -> None:
    """As data sets and batches hold them: no summary stands between one task and the next."""
    example = ("user", "So it was done once: the weir was mended.")
    rows = [
        request(("system", "Mend what you are told."), example, ("user", text), reply="yes", **{name: text})
        for text in ("the sluice", "the quay")
    ]
    session = read_session(dump(*rows))
    assert not session.boundaries and len(session.warnings) == 1
    assert [entry.text for entry in session.entries if entry.sidechain][-2:] == ["the quay", "yes"]


def test_responses_are_joined_by_the_reply_they_go_on_from() -> None:
    session = open_session(CASES / "request-log.responses.json")
    assert [entry.role for entry in session.entries] == ["user", "assistant", "tool", "assistant"]
    assert session.entries[1].blocks[0] == Reasoning(text="Look.", encrypted="seal")
    assert [entry.usage.prompt for entry in session.entries if entry.usage] == [50, 90]
    second = json.loads((CASES / "request-log.responses.json").read_text("utf-8"))[1]
    middle = read_session(dump(second))
    assert middle.warnings == (
        "1 request goes on from a reply that is not here: what stood before it is missing",
    )


def test_requests_to_anthropic_are_read_in_a_log_of_many() -> None:
    call = {"type": "tool_use", "id": "t", "name": "read", "input": {}}
    first = {"role": "user", "content": "go"}
    body = {"model": "claude-demo", "max_tokens": 9, "system": "Be kind.", "messages": [first]}
    reply = {
        "role": "assistant",
        "content": [call],
        "usage": {"input_tokens": 3, "cache_read_input_tokens": 4},
    }
    answer = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]}
    later = {**body, "messages": [first, {"role": "assistant", "content": [call]}, answer]}
    session = read_session(dump({"request": body, "response": reply}, {"request": later, "response": reply}))
    assert (session.format, [entry.role for entry in session.entries]) == (
        "request-log",
        ["user", "assistant", "tool", "assistant"],
    )
    assert session.entries[1].usage is not None and session.entries[1].usage.prompt == 7
    assert READER.sniff(json.dumps({"request": body, "response": reply}).encode()) is not None


def test_plain_messages_that_may_be_anybodys_are_left_to_others() -> None:
    talk = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]
    assert READER.sniff(json.dumps(talk).encode()) == "its messages may be any system's: name one by format="
    bare = read_session(json.dumps(talk).encode(), format="request-log")
    assert bare.warnings == ("it is a bare list of messages: read as OpenAI's, it may be another system's",)
    mini = [{"role": "system", "content": "x", "extra": {}}, *talk]
    with pytest.raises(ReadError):
        read_session(json.dumps({"messages": mini, "info": {}}).encode())


@needs_shared
def test_a_real_completion_holds_what_it_sent() -> None:
    raw = json.loads(CHAT.read_text("utf-8"))
    session = open_session(CHAT)
    sent = [message for message in raw["messages"] if message["role"] != "system"]
    assert len(session.entries) == len(sent) + 1
    calls = [call for message in sent for call in message.get("tool_calls") or ()]
    blocks = [block.kind for entry in session.entries for block in entry.blocks]
    assert blocks.count("tool_call") == len(calls) == blocks.count("tool_output")
    (usage,) = [entry.usage for entry in session.entries if entry.usage]
    assert (usage.prompt, usage.output) == (raw["usage"]["prompt_tokens"], raw["usage"]["completion_tokens"])
    assert session.unknown == 0 and len(session.live.pairs) == len(calls)


@needs_shared
def test_real_requests_that_grow_are_one_conversation() -> None:
    rows = [json.loads(path.read_text("utf-8")) for path in sorted(OPENHANDS.glob("*.json"))]
    session = read_session(dump(*rows))
    assert (session.records, len(session.turns), session.boundaries) == (len(rows), 1, ())
    spoken = [message for message in rows[-1]["messages"] if message["role"] != "system"]
    assert len(session.live) == len(spoken) + 1
    prompts = [row["response"]["usage"]["prompt_tokens"] for row in rows]
    assert [entry.usage.prompt for entry in session.entries if entry.usage] == prompts


def items(*more: dict[str, Any], **around: Any) -> dict[str, Any]:
    """A request to OpenAI's Responses, a person's question first."""
    return {
        "model": "gpt-5.5",
        "input": [{"role": "user", "content": "Which tide is next?"}, *more],
        **around,
    }


def test_a_request_whose_items_can_only_be_openai_s_opens_alone() -> None:
    call = {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"}
    answer = {"type": "function_call_output", "call_id": "c", "output": "High."}
    session = read_session(dump(items(call, answer)))
    assert [entry.role for entry in session.entries] == ["user", "assistant", "tool"]
    with pytest.raises(ReadError):
        read_session(dump(items()))


def test_what_the_provider_s_own_tools_answered_stands_in_the_context() -> None:
    ran = {
        "type": "mcp_call",
        "id": "m",
        "name": "look",
        "server_label": "s",
        "arguments": "{}",
        "output": "High.",
    }
    failed = {**ran, "id": "n", "output": None, "error": "Down."}
    code = {
        "type": "code_interpreter_call",
        "id": "ci",
        "code": "1 + 1",
        "outputs": [{"type": "logs", "logs": "2"}],
    }
    patch = {"type": "apply_patch_call", "call_id": "p", "operation": {"type": "update_file", "path": "a"}}
    patched = {"type": "apply_patch_call_output", "call_id": "p", "status": "completed", "output": "ok"}
    found = {"type": "tool_search_output", "call_id": "t", "tools": [{"name": "look"}]}
    reply, *rest = read_session(dump(items(ran, failed, code, patch, patched, found))).entries[1:]
    told = [
        (block.name, block.input)
        if isinstance(block, ToolCall)
        else (block.text, getattr(block, "is_error", False))
        for block in reply.blocks
    ]
    assert told == [
        ("look", {}),
        ("High.", False),
        ("look", {}),
        ("Down.", True),
        ("code_interpreter", {"input": "1 + 1"}),
        ('[{"type":"logs","logs":"2"}]', False),
        ("apply_patch", {"type": "update_file", "path": "a"}),
    ]
    assert [block.text for entry in rest for block in entry.blocks] == ["ok", '[{"name":"look"}]']


def test_a_call_of_a_tool_that_takes_plain_text_is_a_call() -> None:
    call = {"id": "c", "type": "custom", "custom": {"name": "shell", "input": "ls -l"}}
    said = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Look"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "a.md"},
    ]
    session = read_session(json.dumps({"messages": said}).encode())
    assert session.entries[1].blocks == (ToolCall(id="c", name="shell", input={"input": "ls -l"}),)
    assert (len(session.live.pairs), session.unknown) == (1, 0)


@pytest.mark.parametrize("prompt", [True, False], ids=["with a prompt", "plain"])
@pytest.mark.parametrize("wrapped", [True, False], ids=["an object", "a list"])
def test_what_a_list_of_messages_tells_of_each_is_read(prompt: bool, wrapped: bool, tmp_path: Path) -> None:
    """Chats that scripts save: a time beside each message, and OpenAI's figures beside each reply."""
    used = {"prompt_tokens": 90, "completion_tokens": 4, "total_tokens": 94}
    used["prompt_tokens_details"] = {"cached_tokens": 64}  # type: ignore[assignment]
    asked = {"role": "user", "content": "Is the weir shut?", "timestamp": "2026-05-01T08:00:00"}
    said = {"role": "assistant", "content": "It is.", "timestamp": "2026-05-01T08:00:02", "usage": used}
    lead = [{"role": "system", "content": "Watch the weir."}] if prompt else []
    messages = [*lead, asked, said]
    (path := tmp_path / "chat.json").write_text(json.dumps({"messages": messages} if wrapped else messages))
    session = open_session(path)
    assert [entry.timestamp for entry in session.entries] == ["2026-05-01T08:00:00", "2026-05-01T08:00:02"]
    (usage,) = [entry.usage for entry in session.entries if entry.usage]
    assert (usage.input, usage.cache_read, usage.output) == (26, 64, 4)
    assert [each for each in compare(path, session) if not each.same] == []


def test_a_tool_s_message_that_names_the_tool_alone_is_its_output() -> None:
    call = {"function": {"name": "look", "arguments": {"at": "weir"}}}
    asked = {"role": "user", "content": "Is the weir shut?"}
    wants, found = (
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": "yes"},
    )
    for key in ("name", "tool_name"):
        session = read_session({"messages": [asked, wants, {**found, key: "look"}]})
        assert [entry.role for entry in session.entries] == ["user", "assistant", "tool"]
        assert len(session.live.pairs) == 1


def test_requests_of_a_log_that_names_its_spans_are_read() -> None:
    """Opik's spans have an `input`; a log of one's own may tell a trace and a type as well."""
    about = {"trace_id": "t", "type": "llm", "start_time": "2026-05-01T08:00:00Z"}
    said = [{"role": role, "content": role} for role in ("user", "assistant", "user")]
    session = read_session(dump({**about, "messages": said[:1]}, {**about, "messages": said}))
    assert (session.format, len(session.turns)) == ("request-log", 2)
