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
    find_cuts,
    live_context,
    make_plan,
    open_session,
    read_session,
    render_request,
)
from inspector.planning.assemble import build_context
from inspector.redaction.clean import clean_session, look_through
from inspector.redaction.redact import Redactor
from inspector.session.session import Session
from tests.summaries.test_server_side import BOUND

Json = dict[str, Any]

WORDS = {"type": "text", "text": "Let me look."}
DONE = {"type": "text", "text": "That is all."}


def served(kind: str, name: str, content: Any, **more: Any) -> tuple[Json, Json]:
    """Return a call of a server tool and its result."""
    use = {"type": "server_tool_use", "id": f"srvtoolu_{name}", "name": name, "input": {"query": "tides"}}
    result = {"type": kind, "tool_use_id": f"srvtoolu_{name}", "content": content}
    return use | more, result | more


HIT = {
    "type": "web_search_result",
    "url": "https://example.org/t",
    "title": "Tides",
    "encrypted_content": "E" * 60,
}
PAGE = {
    "type": "web_fetch_result",
    "url": "https://example.org/t",
    "content": {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "High"}},
}
RAN = {"stdout": "42", "stderr": "", "return_code": 0, "content": []}
CALLER = {"caller": {"type": "code_execution_20250825", "tool_id": "srvtoolu_code_execution"}}
PAIRS = {
    "advisor": served("advisor_tool_result", "advisor", {"type": "advisor_result", "text": "use sqlite"}),
    "advisor redacted": served(
        "advisor_tool_result", "advisor", {"type": "advisor_redacted_result", "encrypted_content": "x"}
    ),
    "web search": served("web_search_tool_result", "web_search", [HIT, HIT]),
    "web search, one": served("web_search_tool_result", "web_search", [HIT]),
    "web search, none": served("web_search_tool_result", "web_search", []),
    "web search, error": served(
        "web_search_tool_result",
        "web_search",
        {"type": "web_search_tool_result_error", "error_code": "unavailable"},
    ),
    "web search by code": served("web_search_tool_result", "web_search", [HIT], **CALLER),
    "web fetch": served("web_fetch_tool_result", "web_fetch", PAGE),
    "code": served("code_execution_tool_result", "code_execution", {"type": "code_execution_result", **RAN}),
    "bash": served(
        "bash_code_execution_tool_result",
        "bash_code_execution",
        {"type": "bash_code_execution_result", **RAN},
    ),
    "text editor": served(
        "text_editor_code_execution_tool_result",
        "text_editor_code_execution",
        {"type": "text_editor_code_execution_create_result", "is_file_update": False},
    ),
    "tool search": served(
        "tool_search_tool_result",
        "tool_search_tool_regex",
        {
            "type": "tool_search_tool_search_result",
            "tool_references": [{"type": "tool_reference", "tool_name": "f"}],
        },
    ),
    "mcp": (
        {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "query", "server_name": "db", "input": {}},
        {
            "type": "mcp_tool_result",
            "tool_use_id": "mcptoolu_1",
            "is_error": True,
            "content": [{"type": "text", "text": "no such table"}],
        },
    ),
    "mcp, plain": (
        {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "query", "server_name": "db", "input": {}},
        {"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "is_error": False, "content": "7 rows"},
    ),
    "a tool of tomorrow": served("song_tool_result", "song", [{"type": "verse", "text": "la"}]),
}
"""A call and its result, of every kind."""


def client(name: str = "t1", **more: Any) -> Json:
    return {"type": "tool_use", "id": name, "name": "Read", "input": {"path": "a.py"}, **more}


def output(name: str = "t1") -> Json:
    return {"type": "tool_result", "tool_use_id": name, "content": [{"type": "text", "text": "a"}]}


def user(*blocks: Json | str) -> Json:
    return {"role": "user", "content": [_block(block) for block in blocks]}


def assistant(*blocks: Json | str) -> Json:
    return {"role": "assistant", "content": [_block(block) for block in blocks]}


def _block(block: Json | str) -> Json:
    return {"type": "text", "text": block} if isinstance(block, str) else block


def body(*messages: Json, **more: Any) -> Json:
    return {"model": "claude-opus-4-6", "max_tokens": 100, "messages": list(messages), **more}


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


@pytest.mark.parametrize("kind", PAIRS)
def test_a_server_tool_is_written_to_a_file_as_it_was_read(kind: str, tmp_path: Path) -> None:
    """Claude Code sends the blocks of the file, so a block of another type would be refused."""
    messages = [user("Go."), assistant(WORDS, *PAIRS[kind], DONE), user("Thanks.")]
    session = open_session(write_rows(tmp_path, *messages))
    rendered = render_request(live_context(session, count_tokens(session)))
    assert rendered.request["messages"] == messages
    exported = export_session(session, "claude-code")
    written = read_rows(exported)
    assert check_request(body(*written)) == ()
    assert written[1] == messages[1]
    assert exported.losses == ()


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


def test_what_a_harness_adds_to_a_call_is_not_sent() -> None:
    """No provider accepts a field of Claude.ai's export; it stays in the entry's extra fields."""
    noted = client(start_timestamp="2026-09-01T10:00:00Z", integration_name="x")
    session = read(body(user("Go."), assistant(noted), user(output())))
    rendered = render_request(live_context(session, count_tokens(session)))
    assert rendered.request["messages"][1] == assistant(client())
    assert session.entries[1].extra["blocks"]["0"]["integration_name"] == "x"


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


@pytest.mark.parametrize(
    "talk",
    [
        (user("Go."), assistant(SEARCH), user("And?")),
        (user("Go."), assistant(CODE, CALLED), user(output(), "And?"), assistant(RESULT, DONE), user("Ok.")),
        (user("Go."), assistant(CODE, CALLED), user(output()), assistant(DONE), user("Ok.")),
        (user("Go."), assistant(RESULTS, DONE), user("Ok.")),
        (user("Go."), assistant(SEARCH, RESULTS, RESULTS, DONE), user("Ok.")),
    ],
)
def test_where_the_user_speaks_a_server_tool_has_its_result(talk: tuple[Json, ...]) -> None:
    body_faults, context_faults = judge(body(*talk))
    assert set(body_faults) == set(context_faults) == {"unpaired_server_tool"}


def test_no_cut_parts_a_server_tool_from_a_result_that_waits() -> None:
    """Nor does a cut separate them from the client's output in between."""
    session = read(body(*TALK[-1]))
    assert [cut.entry for cut in find_cuts(session) if cut.legal] == ["m2", "m7", "end"]


def test_a_plan_leaves_a_paused_turn_as_it_is() -> None:
    """A plan leaves out a client's open call, but keeps the provider's open call in its position."""
    session = read(body(user("One."), assistant("Yes."), user("Go."), assistant(WORDS, SEARCH)))
    plan = make_plan(session, count_tokens(session), "keep-recent-turns", {"cut": "m3"})
    context = build_context(session, plan)
    assert render_request(context).request["messages"][-1] == assistant(WORDS, SEARCH)
    assert check_context(context) == ()


def test_definitions_of_tools_go_back_whole() -> None:
    """For models that bind reasoning to the tools, a changed definition is a changed prefix."""
    tools: list[Json] = [
        {"name": "web_search", "type": "web_search_20250305", "max_uses": 3},
        {"name": "f", "description": "F", "input_schema": {"type": "object"}, "strict": True},
        {"name": "g", "type": "custom", "input_schema": {"type": "object"}, "defer_loading": True},
        {"name": "h", "input_schema": {"type": "object"}, "allowed_callers": ["code_execution_20250825"]},
    ]
    session = read(body(user("Go."), tools=tools, model=BOUND))
    rendered = render_request(live_context(session, count_tokens(session)))
    assert rendered.request["tools"] == tools
    assert check_request(rendered.request) == ()


@pytest.mark.parametrize("kind", [kind for kind in PAIRS if kind != "web search, none"])
def test_a_result_whose_words_were_replaced_is_sent_as_its_type_has_it_or_not_at_all(kind: str) -> None:
    """A placeholder is not a valid search result, but any text is a valid result of an MCP server."""
    session = read(body(user("Go."), assistant(WORDS, *PAIRS[kind], DONE), user("Thanks.")))
    policy = {"name": "mine", "rules": [{"kind": "drop-old-outputs"}]}
    plan = make_plan(session, count_tokens(session), policy, {"cut": "m3"})
    context = build_context(session, plan)
    rendered = render_request(context)
    assert check_context(context) == ()
    sent = [block["type"] for block in rendered.request["messages"][1]["content"]]
    if kind.startswith("mcp"):
        assert sent == ["text", "mcp_tool_use", "mcp_tool_result", "text"]
        assert rendered.left_out == ()
    else:
        assert sent == ["text", "text"]
        assert [omitted.where for omitted in rendered.left_out] == ["pieces.2", "pieces.3"]


def test_an_emptied_result_is_counted_where_a_file_cannot_hold_it(tmp_path: Path) -> None:
    path = write_rows(tmp_path, user("Go."), assistant(SEARCH, RESULTS), user("Go on."))
    row = {
        "type": "system",
        "subtype": "microcompact_boundary",
        "uuid": "m",
        "parentUuid": "u3",
        "sessionId": "s",
        "timestamp": "2026-09-01T11:00:00.000Z",
        "microcompactMetadata": {"compactedToolIds": [SEARCH["id"]]},
    }
    path.write_text(path.read_text() + f"{json.dumps(row)}\n")
    session = open_session(path).at("m")
    assert session.live.cleared.any()
    exported = export_session(session, "claude-code")
    losses = {loss.name: loss.times for loss in exported.losses}
    assert (losses["tool_call"], losses["tool_output"], losses["emptied"]) == (1, 1, 1)
    assert check_request(body(*read_rows(exported))) == ()


def test_no_secret_of_a_server_tool_passes_redaction() -> None:
    """This includes the stored fields of the provider's block."""
    secret = "ghp_" + "abcdEFGH1234" * 3
    advice = {"type": "advisor_result", "text": f"TOKEN={secret}"}
    pair = served("advisor_tool_result", "advisor", advice, note=f"TOKEN={secret}")
    session = read(body(user("Go."), assistant(*pair, DONE)))
    redactor = Redactor()
    look_through(session, session.path, redactor)
    assert secret not in clean_session(session, session.path, redactor).model_dump_json()


def test_a_log_of_requests_knows_the_provider_s_tools() -> None:
    """Lines of requests contain the same blocks and definitions."""
    tools = [{"type": "web_search_20250305", "name": "web_search", "max_uses": 3}]
    talk = [user("Go."), assistant(WORDS, SEARCH, RESULTS, DONE), user("Thanks.")]
    lines = [
        {"request": body(*messages, tools=tools), "response": assistant("Yes.") | {"type": "message"}}
        for messages in (talk, [*talk, assistant("Yes."), user("Again.")])
    ]
    session = read_session("".join(f"{json.dumps(line)}\n" for line in lines).encode())
    rendered = render_request(live_context(session, count_tokens(session)))
    assert rendered.request["messages"][:3] == talk
    assert rendered.request["tools"] == [tools[0]]
