"""Messages as frameworks save them: pydantic-ai's, and those of the AI SDK's screen and model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector import open_session, read_session
from inspector.formats.readers import READERS
from inspector.session.blocks import Image, Reasoning, ToolCall, ToolOutput, Unknown
from tests.recount.__main__ import compare

CASES = Path(__file__).parents[1] / "cases" / "formats"
PYDANTIC, SCREEN, MODEL = (CASES / f"{name}.json" for name in ("pydantic-ai", "ai-sdk", "ai-sdk.model"))


def test_pydantic_ais_parts_become_entries() -> None:
    session = open_session(PYDANTIC)
    assert (session.id, session.model) == ("conv-1", "demo-1")
    assert [block.text for block in session.system] == ["You know the tides.", "Be brief."]
    assert session["m1"].blocks[1] == Image(url="https://example.org/sea.png")
    assert session["m2"].blocks[0] == Reasoning(text="A table.", signature="s")
    calls = [block for block in session["m2"].blocks if isinstance(block, ToolCall)]
    assert [call.input for call in calls] == [{"port": "Brest"}, {"port": 7}]
    outputs = [block for block in session["m3"].blocks if isinstance(block, ToolOutput)]
    assert [(block.call_id, block.text, block.is_error) for block in outputs] == [
        ("c1", '{"high":"06:12"}', False),
        ("c2", "port must be a string", True),
    ]
    assert session["m7"].meta and len(session.turns) == 2


@pytest.mark.parametrize(
    "details",
    [{"cached_tokens": 60}, {"cache_read_input_tokens": 60, "cache_creation_input_tokens": 30}],
)
def test_older_pydantic_ai_tells_what_the_cache_gave_in_details(
    tmp_path: Path, details: dict[str, int]
) -> None:
    asked = {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "Hi"}]}
    usage = {
        "requests": 1,
        "request_tokens": 100,
        "response_tokens": 7,
        "total_tokens": 107,
        "details": details,
    }
    said = {"kind": "response", "parts": [{"part_kind": "text", "content": "Yes"}], "usage": usage}
    file = tmp_path / "messages.json"
    file.write_text(json.dumps([asked, said]))
    session = open_session(file)
    told = session.entries[1].usage
    assert told is not None
    assert (told.prompt, told.cache_read) == (100, 60)
    assert told.cache_write == details.get("cache_creation_input_tokens", 0)
    assert all(each.same for each in compare(file, session))


def test_pydantic_ais_input_holds_what_the_cache_gave() -> None:
    usages = [entry.usage for entry in open_session(PYDANTIC).entries if entry.usage is not None]
    assert [(each.input, each.cache_read, each.cache_write, each.output) for each in usages] == [
        (30, 50, 10, 12),
        (30, 100, 0, 8),
        (60, 0, 0, 9),
    ]


def test_a_compaction_part_is_the_harnesss_in_a_request_and_the_providers_in_a_response() -> None:
    session = open_session(PYDANTIC)
    (mine, told), (sealed, shut) = session.boundaries
    assert session[mine].text == "High water at Brest: 06:12." and "unreadable" not in told.extra
    assert (sealed, shut.extra["unreadable"], session[sealed].text) == ("m6", True, "")
    assert session.live_names == ["m6", "m6/2", "m7", "m8"]
    whole = json.loads(PYDANTIC.read_text("utf-8"))
    assert read_session(whole[:5]).live_names == ["m5", "m5/2"]


def test_a_reply_of_the_screen_is_a_reply_per_step() -> None:
    session = open_session(SCREEN)
    assert (session.id, session.title) == ("chat-7", "Weather")
    assert session["u1"].blocks[1] == Image(media_type="image/png", data="iVBORw0KGgo=")
    assert [entry.id for entry in session.entries] == [
        *("u1", "a1", "a1/results", "a1/2", "u2", "a2", "a2/results", "a2/2"),
    ]
    outputs = [block for entry in session.entries for block in entry.blocks if isinstance(block, ToolOutput)]
    assert [(block.name, block.text, block.is_error) for block in outputs] == [
        ("weather", '{"rain":true}', False),
        ("radar", "radar is off", True),
        ("close", "not now", True),
    ]
    assert session["a1/2"].extra["parts"][0]["url"] == "https://example.org"
    assert session["a1"].extra["metadata"] == {"totalUsage": {"inputTokens": 90}}
    assert all(entry.usage is None for entry in session.entries)


def test_what_an_app_keeps_of_the_sdks_own_usage_is_a_replys_of_one_step(tmp_path: Path) -> None:
    new = {"inputTokens": 100, "outputTokens": 7, "totalTokens": 107}
    new["inputTokenDetails"] = {"noCacheTokens": 30, "cacheReadTokens": 60, "cacheWriteTokens": 10}  # type: ignore[assignment]
    told: list[dict[str, Any]] = [
        {"usage": new, "model": "claude-opus-4-5"},
        {"totalUsage": {"inputTokens": 20, "outputTokens": 3, "cachedInputTokens": 0}, "model": "gpt-5"},
        {"usage": {"inputTokens": 20, "outputTokens": 3, "cachedInputTokens": 15}},  # in it, or beside it?
        {"totalUsage": new, "steps": 2},
        {"usage": {"inputTokens": 20}},
        {"usage": "cheap", "totalTokens": 9},
    ]
    messages: list[dict[str, Any]] = []
    for number, metadata in enumerate(told):
        say = {"type": "text", "text": f"words {number}"}
        steps = [{"type": "step-start"}, say] * metadata.pop("steps", 1)
        messages.append({"id": f"u{number}", "role": "user", "parts": [say]})
        messages.append({"id": f"a{number}", "role": "assistant", "parts": steps, "metadata": metadata})
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(messages))
    session = open_session(path)
    used = {entry.id: entry.usage for entry in session.entries if entry.usage is not None}
    assert {name: (u.input, u.cache_read, u.cache_write, u.output) for name, u in used.items()} == {
        "a0": (30, 60, 10, 7),
        "a1": (20, 0, 0, 3),
    }
    assert session["a0"].model == "claude-opus-4-5"
    assert session.warnings == (
        "what 2 replies took is told as a sum of requests, or without the cache's share: not counted",
    )
    assert session["a3"].extra["metadata"] == {"totalUsage": new}
    assert [str(figure) for figure in compare(path, session) if not figure.same] == []


def test_the_models_messages_open_too() -> None:
    session = open_session(MODEL)
    assert [entry.role for entry in session.entries] == [
        *("user", "assistant", "tool", "assistant", "user", "assistant", "tool"),
    ]
    failed = session["m8"].blocks[0]
    assert isinstance(failed, ToolOutput) and failed.is_error and failed.text == "no city"


LOOKALIKES: list[Any] = [
    [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}],
    [{"role": "user", "parts": [{"type": "text", "content": "OpenTelemetry's"}]}],
    [{"role": "user", "parts": [{"text": "Gemini's"}]}],
    [{"kind": "request", "parts": [{"text": "no part_kind"}]}],
    [{"kind": "response"}],
]


@pytest.mark.parametrize("value", LOOKALIKES)
def test_what_looks_like_them_is_not_taken(value: Any) -> None:
    known = [reader.name for reader in READERS if reader.sniff(json.dumps(value).encode()) is None]
    assert not {"ai-sdk", "pydantic-ai"} & set(known)


OLD_CALL = {
    "toolCallId": "w",
    "toolName": "weather",
    "args": {"city": "Bergen"},
    "state": "result",
    "result": 7,
}
ASK = {"id": "a", "role": "user", "content": "Rain?"}
WAITS = {**{k: v for k, v in OLD_CALL.items() if k != "result"}, "toolCallId": "v", "state": "call"}


@pytest.mark.parametrize(
    "messages",
    [
        [
            {**ASK, "parts": [{"type": "text", "text": "Rain?"}]},
            {
                "id": "b",
                "role": "assistant",
                "content": "Seven.",
                "parts": [
                    {"type": "step-start"},
                    {"type": "reasoning", "reasoning": "Ask.", "details": []},
                    {"type": "tool-invocation", "toolInvocation": {**OLD_CALL, "step": 0}},
                    {"type": "tool-invocation", **WAITS},
                    {"type": "step-start"},
                    {"type": "text", "text": "Seven."},
                ],
            },
        ],
        [ASK, {"id": "b", "role": "assistant", "content": "Seven.", "toolInvocations": [OLD_CALL, WAITS]}],
    ],
    ids=["version 4", "version 3"],
)
def test_calls_of_earlier_versions_of_the_sdk_are_read(messages: list[Any]) -> None:
    session = read_session({"id": "chat", "messages": messages})
    assert (session.format, session.id, session.records) == ("ai-sdk", "chat", 2)
    assert [entry.role for entry in session.entries] == ["user", "assistant", "tool", "assistant"]
    calls = [block for block in session.entries[1].blocks if isinstance(block, ToolCall)]
    assert [(call.id, call.name, call.input) for call in calls] == [
        ("w", "weather", {"city": "Bergen"}),
        ("v", "weather", {"city": "Bergen"}),
    ]
    (output,) = session.entries[2].blocks
    assert isinstance(output, ToolOutput) and (output.call_id, output.text) == ("w", "7")
    assert session.entries[3].text == "Seven."


def test_messages_of_the_model_of_version_4_are_read() -> None:
    held = {"toolCallId": "w", "toolName": "weather"}
    session = read_session(
        [
            {"role": "user", "content": "Rain?"},
            {"role": "assistant", "content": [{"type": "tool-call", **held, "args": {"city": "Bergen"}}]},
            {"role": "tool", "content": [{"type": "tool-result", **held, "result": {"mm": 7}}]},
        ]
    )
    assert session.format == "ai-sdk"
    assert [entry.role for entry in session.entries] == ["user", "assistant", "tool"]
    assert session.entries[1].blocks[0] == ToolCall(id="w", name="weather", input={"city": "Bergen"})
    assert json.loads(session.entries[2].blocks[0].text) == {"mm": 7}


def test_messages_in_lines_and_those_of_a_request_without_ids_open() -> None:
    call = {"type": "dynamic-tool", "toolCallId": "c1", "toolName": "ask", "state": "output-available"}
    call |= {"input": {"question": "Your name?"}, "output": {"answer": "Ada"}}
    said = [
        {"role": "user", "parts": [{"type": "text", "text": "Greet me by name."}]},
        {
            "role": "assistant",
            "parts": [call, {"type": "step-start"}, {"type": "text", "text": "Hello Ada."}],
        },
    ]
    lines = "\n".join(json.dumps({"id": f"m{n}", **each}) for n, each in enumerate(said, 1))
    for data in (lines.encode(), {"messages": said}):
        session = read_session(data)
        assert (session.format, len(session.turns)) == ("ai-sdk", 1)
        assert [entry.role for entry in session.entries] == ["user", "assistant", "tool", "assistant"]
    words = [{"role": each["role"], "parts": [{"type": "text", "text": "a"}]} for each in said]
    assert next(reader for reader in READERS if reader.name == "ai-sdk").sniff(json.dumps(words).encode())


def test_messages_of_the_model_within_an_object_are_the_sdks_and_not_studs() -> None:
    """Parts of calls alone make no manifest of stud's: they are what every app of the SDK saves."""
    messages = json.loads(MODEL.read_text("utf-8"))
    session = read_session({"id": "c", "title": "Tides", "messages": messages})
    assert (session.format, session.unknown, session.warnings) == ("ai-sdk", 0, ())
    assert session.entries == open_session(MODEL).entries
    manifest = {"mode": "ask", "messages": [each for each in messages if each["role"] != "system"]}
    assert read_session(manifest).format == "stud"


def test_what_a_message_tells_besides_its_parts_is_kept() -> None:
    """When it was said, the model, the seal of a thought, and pictures attached beside the words."""
    attached = [{"name": "a.png", "contentType": "image/png", "url": "data:image/png;base64,iVBORw0KGgo="}]
    thought = {"type": "reasoning", "text": "Hm."}
    thought["providerMetadata"] = {"openai": {"reasoningEncryptedContent": "gAAA"}}
    messages = [
        {"id": "a", "role": "user", "content": "See?", "createdAt": "2026-01-01T10:00:00.000Z"},
        {"id": "b", "role": "assistant", "parts": [thought, {"type": "text", "text": "Yes."}]},
    ]
    messages[0]["experimental_attachments"] = [*attached, "https://example.org/b.png"]
    messages[1]["metadata"] = {"createdAt": 1_767_261_601_000, "model": "demo-1"}
    asked, answered = read_session(messages).entries
    assert asked.timestamp == "2026-01-01T10:00:00.000Z"
    assert asked.blocks[1] == Image(media_type="image/png", data="iVBORw0KGgo=")
    assert asked.blocks[2] == Unknown(type="", raw="https://example.org/b.png")
    assert (answered.timestamp, answered.model) == ("2026-01-01T10:00:01.000Z", "demo-1")
    assert answered.blocks[0] == Reasoning(text="Hm.", encrypted="gAAA")
