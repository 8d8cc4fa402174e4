"""Files with long first rows, or with many blank lines at the beginning, open like any other."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inspector import open_session, read_session
from inspector.errors import ReadError, SeveralSessions
from tests.work import limit_work

Row = dict[str, Any]
TIME = "2026-09-01T10:00:00.000Z"


def image(length: int) -> Row:
    return {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * length}}


def request(content: Any) -> list[Row]:
    body = {
        "model": "gpt-5.5",
        "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": content}],
    }
    return [
        {"request": body, "response": {"choices": [{"message": {"role": "assistant", "content": "Ho"}}]}}
    ] * 2


def span(content: str) -> list[Row]:
    attributes = {
        "openinference.span.kind": "LLM",
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": content,
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "Ho",
    }
    context = {"trace_id": "t", "span_id": "s"}
    return [{"name": "chat", "context": context, "start_time": TIME, "attributes": attributes}] * 2


def event(number: int, source: str, content: str) -> Row:
    about = {"id": number, "source": source, "action": "message", "timestamp": TIME}
    return {**about, "message": "", "args": {"content": content}}


def pi_row(name: str, role: str, content: str) -> Row:
    return {"type": "message", "id": name, "timestamp": TIME, "message": {"role": role, "content": content}}


def files(n: int) -> dict[str, list[Row]]:
    """Return rows of each format, with a prompt of `n` characters."""
    text = "y" * n
    output = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Ho"}]}]
    reply = {"id": "m", "role": "assistant", "content": [{"type": "text", "text": "Ho"}]}
    anthropic = {
        "request": {"messages": [{"role": "user", "content": text}], "model": "claude-x"},
        "response": reply,
    }
    user, assistant = {"role": "user", "content": text}, {"role": "assistant", "content": "Ho"}
    return {
        "request-log": request(text),
        "request-log with a picture": request([image(n)]),
        "request-log of Responses": [{"model": "gpt-5.5", "input": [user], "output": output}] * 2,
        "request-log of Anthropic's": [anthropic] * 2,
        "message-lines": [user, assistant],
        "message-lines with the role last": [{"content": text, "role": "user"}, assistant],
        "message-lines with a picture": [{"role": "user", "content": [image(n)]}, assistant],
        "message-lines with a header": [{"session": "s", "about": text}, user, assistant],
        "traces": span(text),
        "gemini-cli": [{"id": "1", "type": "user", "content": text},
            {"id": "2", "type": "gemini", "content": "Ho"},
        ],
        "copilot-cli": [
            {"type": f"{role}.message", "id": role, "parentId": None, "timestamp": TIME}
            | {"data": {"content": content}}
            for role, content in (("user", text), ("assistant", "Ho"))
        ],
        "pi": [pi_row("a", "user", text), pi_row("b", "assistant", "Ho")],
        "ai-sdk": [
            {"id": role, "role": role, "parts": [{"type": "text", "text": content}]}
            for role, content in (("user", text), ("assistant", "Ho"))
        ],
        "openhands-trajectory": [event(0, "user", text), event(1, "agent", "Ho")],
    }  # fmt: skip


@pytest.mark.parametrize("end", ["", "\n"])
@pytest.mark.parametrize("length", [1_000, 1_100_000, 5_000_000])
@pytest.mark.parametrize("name", files(1))
def test_a_file_opens_whatever_the_length_of_its_first_rows(name: str, length: int, end: str) -> None:
    rows = files(length)[name]
    session = read_session(("\n".join(map(json.dumps, rows)) + end).encode())
    assert session.format == name.partition(" ")[0]
    assert [entry.role for entry in session.entries[:2]] == ["user", "assistant"]
    block = session.entries[0].blocks[0]
    assert len(block.text) == length or length <= len(getattr(block, "data", "")) <= length + 30


def test_long_conversations_one_a_line_are_several_sessions() -> None:
    reply = {"role": "assistant", "content": "Ho"}
    talks = [[{"role": "user", "content": word * 1_500_000}, reply] for word in "abc"]
    with pytest.raises(SeveralSessions):
        read_session("\n".join(json.dumps({"messages": talk}) for talk in talks).encode())


def test_a_long_document_with_a_line_break_late_in_it_is_one_document() -> None:
    system = {"role": "system", "content": "s"}
    messages = [system, {"role": "user", "content": "y" * 1_500_000}, {"role": "assistant", "content": "Ho"}]
    body = json.dumps({"messages": messages, "tools": []}).encode()
    for data in (body.replace(b'"}, ', b'"},\n'), body.replace(b'], "tools"', b']\n,\n"tools"')):
        assert [entry.role for entry in read_session(data).entries] == ["user", "assistant"]


@pytest.mark.parametrize("blank", [b"\n", b" \n", b"\r\n", b"\t \n\n"])
def test_a_million_blank_lines_are_passed_over(blank: bytes, tmp_path: Any) -> None:
    """Every reader examines the first lines; examining all blank lines one by one would take minutes."""
    rows = [json.dumps(row).encode() for row in files(3)["pi"]]
    many = blank * 2_000_000
    with limit_work():
        session = read_session(many + rows[0] + b"\n" + many + rows[1] + many)
    assert [entry.text for entry in session.entries] == ["yyy", "Ho"]
    lines = 2_000_000 * blank.count(b"\n")
    assert [entry.sources[0].line for entry in session.entries] == [lines + 1, 2 * lines + 2]
    assert session.entries[0].sources[0].offset == len(many)
    path = tmp_path / "s.jsonl"
    path.write_bytes(many + rows[0] + b"\n" + rows[1] + b"\n")
    assert open_session(path).entries[0].sources == session.entries[0].sources
    with pytest.raises(ReadError, match="nothing but white space"):
        read_session(many)


def test_a_file_of_one_line_opens_whatever_its_length() -> None:
    message = {"role": "user", "content": "y" * (70 << 20)}
    row = {
        "type": "user",
        "uuid": "u",
        "parentUuid": None,
        "sessionId": "s",
        "timestamp": TIME,
        "message": message,
    }
    session = read_session(json.dumps(row).encode())
    assert (session.format, len(session.entries[0].text)) == ("claude-code", 70 << 20)
