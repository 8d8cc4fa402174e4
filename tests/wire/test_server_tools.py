"""Tools that the provider runs: their calls and results are read, sent and written unchanged.

The blocks are from `anthropic` 2.14.0 (`Beta…ToolResultBlockParam`). The documentation of server tools and of
programmatic tool calling says which results may come later.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector import (
    check_context,
    check_request,
    count_tokens,
    export_session,
    live_context,
    open_session,
    read_session,
    render_request,
)
from inspector.redaction.clean import clean_session, look_through
from inspector.redaction.redact import Redactor
from inspector.session.session import Session
from tests.wire.test_checks import Json, assistant, body, user

WORDS = {"type": "text", "text": "Let me look."}
DONE = {"type": "text", "text": "That is all."}


def served(name: str, content: Any, kind: str = "", **more: Any) -> tuple[Json, Json]:
    """Return a call of a server tool and its result."""
    use = {"type": "server_tool_use", "id": f"srvtoolu_{name}", "name": name, "input": {"query": "tides"}}
    result = {"type": f"{kind or name}_tool_result", "tool_use_id": f"srvtoolu_{name}", "content": content}
    return use | more, result | more


def mcp_call(content: Any, failed: bool) -> tuple[Json, Json]:
    """Return a call of an MCP server's tool and its result."""
    use = {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "query", "server_name": "db", "input": {}}
    result = {"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "is_error": failed, "content": content}
    return use, result


SITE = {"url": "https://example.org/t"}
HIT = {"type": "web_search_result", **SITE, "title": "Tides", "encrypted_content": "E" * 60}
SOURCE = {"type": "text", "media_type": "text/plain", "data": "High"}
PAGE = {"type": "web_fetch_result", **SITE, "content": {"type": "document", "source": SOURCE}}
RAN = {"stdout": "42", "stderr": "", "return_code": 0, "content": []}
CALLER = {"caller": {"type": "code_execution_20250825", "tool_id": "srvtoolu_code_execution"}}
ADVICE = {"type": "advisor_redacted_result", "encrypted_content": "x"}
REFUSED = {"type": "web_search_tool_result_error", "error_code": "unavailable"}
CREATED = {"type": "text_editor_code_execution_create_result", "is_file_update": False}
TOOLS_FOUND = {"tool_references": [{"type": "tool_reference", "tool_name": "f"}]}
FOUND = {"type": "tool_search_tool_search_result", **TOOLS_FOUND}
PAIRS = {
    "advisor": served("advisor", {"type": "advisor_result", "text": "use sqlite"}),
    "advisor redacted": served("advisor", ADVICE),
    "web search": served("web_search", [HIT, HIT]),
    "web search, one": served("web_search", [HIT]),
    "web search, none": served("web_search", []),
    "web search, error": served("web_search", REFUSED),
    "web search by code": served("web_search", [HIT], **CALLER),
    "web fetch": served("web_fetch", PAGE),
    "code": served("code_execution", {"type": "code_execution_result", **RAN}),
    "bash": served("bash_code_execution", {"type": "bash_code_execution_result", **RAN}),
    "text editor": served("text_editor_code_execution", CREATED),
    "tool search": served("tool_search_tool_regex", FOUND, "tool_search"),
    "mcp": mcp_call([{"type": "text", "text": "no such table"}], failed=True),
    "mcp, plain": mcp_call("7 rows", failed=False),
    "a tool of tomorrow": served("song", [{"type": "verse", "text": "la"}]),
}
"""A call and its result, of every kind."""


def client(name: str = "t1", **more: Any) -> Json:
    return {"type": "tool_use", "id": name, "name": "Read", "input": {"path": "a.py"}, **more}


def output(name: str = "t1") -> Json:
    return {"type": "tool_result", "tool_use_id": name, "content": [{"type": "text", "text": "a"}]}


def read(request: Json) -> Session:
    return read_session(json.dumps(request).encode())


def judge(request: Json) -> tuple[list[str], list[str]]:
    """Return the rules that a request body breaks, and the rules that the context read from it breaks."""
    session = read(request)
    context = live_context(session, count_tokens(session))
    return (
        [fault.rule for fault in check_request(request)],
        [fault.rule for fault in check_context(context)],
    )


@pytest.mark.parametrize("kind", PAIRS)
def test_a_server_tool_goes_back_as_it_came(kind: str) -> None:
    """All blocks are sent in their order, and nothing is left out."""
    request = body(user("Go."), assistant(WORDS, *PAIRS[kind], DONE), user("Thanks."))
    session = read(request)
    rendered = render_request(live_context(session, count_tokens(session)))
    assert rendered.request["messages"] == request["messages"]
    assert rendered.left_out == ()
    assert judge(request) == ([], [])


def write_rows(folder: Path, *messages: Json) -> Path:
    """Write a Claude Code file with a row for each block of an assistant message."""
    rows: list[Json] = []
    for number, message in enumerate(messages):
        runs = [[block] for block in message["content"]]
        for run in runs if message["role"] == "assistant" else [message["content"]]:
            sent: Json = {"role": message["role"], "content": run}
            if message["role"] == "assistant":
                sent |= {"id": f"msg_{number}", "type": "message", "model": "claude-opus-4-6"}
            rows.append(
                {
                    "type": message["role"],
                    "uuid": f"u{len(rows)}",
                    "parentUuid": f"u{len(rows) - 1}" if rows else None,
                    "sessionId": "s",
                    "isSidechain": False,
                    "timestamp": f"2026-09-01T10:00:{len(rows):02d}.000Z",
                    "message": sent,
                }
            )
    path = folder / "session.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def read_rows(content: bytes) -> list[Json]:
    """Return the messages of a Claude Code file."""
    rows = [row for row in map(json.loads, content.splitlines()) if row["type"] in ("user", "assistant")]
    return [{"role": row["message"]["role"], "content": row["message"]["content"]} for row in rows]


@pytest.mark.parametrize("caller", ["direct", "code_execution_20250825"])
def test_who_called_a_client_s_tool_is_kept(caller: str, tmp_path: Path) -> None:
    origin = {"type": caller} if caller == "direct" else {"type": caller, "tool_id": "srvtoolu_1"}
    messages = [user("Go."), assistant(client(caller=origin)), user(output())]
    for session in (read(body(*messages)), open_session(write_rows(tmp_path, *messages))):
        rendered = render_request(live_context(session, count_tokens(session)))
        assert rendered.request["messages"] == messages
        exported = export_session(session, "claude-code")
        assert read_rows(exported)[1] == messages[1]
        elsewhere = {loss.name for loss in export_session(session, "pi").losses}
        assert ("tool_call" in elsewhere) == (caller != "direct")


CODE, RESULT = PAIRS["code"]
SEARCH, RESULTS = PAIRS["web search"]
MCP, ROWS = PAIRS["mcp"]
CALLED = client("t1", **CALLER)
TALK = (
    (user("Go."), assistant(WORDS, SEARCH)),
    (user("Go."), assistant(SEARCH, MCP)),
    (user("Go."), assistant(MCP)),
    (user("Go."), assistant(SEARCH), assistant(RESULTS, DONE), user("Thanks.")),
    (user("Go."), assistant(SEARCH, client(), RESULTS, DONE), user(output())),
    (user("Go."), assistant(SEARCH, client()), user(output()), assistant(RESULTS, DONE)),
    (user("Go."), assistant(CODE, CALLED), user(output()), assistant(RESULT, DONE), user("Thanks.")),
    (user("Go."), assistant(CODE, CALLED), user(output())),
    (
        user("Go."),
        assistant(CODE, CALLED),
        user(output()),
        assistant(client("t2", **CALLER), client("t3", **CALLER)),
        user(output("t2"), output("t3")),
        assistant(RESULT, DONE),
        user("Thanks."),
    ),
)
"""Paused turns and late results, with the results of server tools in the provider's positions."""


@pytest.mark.parametrize("number", range(len(TALK)))
def test_a_paused_turn_and_a_result_that_waits_are_taken(number: int) -> None:
    """Only a request that ends with the assistant's text is refused, as prefill."""
    talk = TALK[number]
    prefill = ["prefill"] if talk[-1]["content"][-1] == DONE and talk[-1]["role"] == "assistant" else []
    assert judge(body(*talk)) == (prefill, prefill)


def test_no_secret_of_a_server_tool_passes_redaction() -> None:
    """This includes the stored fields of the provider's block."""
    secret = "ghp_" + "abcdEFGH1234" * 3
    advice = {"type": "advisor_result", "text": f"TOKEN={secret}"}
    pair = served("advisor", advice, note=f"TOKEN={secret}")
    session = read(body(user("Go."), assistant(*pair, DONE)))
    redactor = Redactor()
    look_through(session, session.path, redactor)
    assert secret not in clean_session(session, session.path, redactor).model_dump_json()
