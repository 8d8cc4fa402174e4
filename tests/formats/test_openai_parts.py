"""OpenAI messages with pictures, audio and files are recognised by their parts; their data is not counted."""

from __future__ import annotations

import base64
import json
import random
from typing import Any

import pytest

from inspector import count_tokens, live_context, read_session
from inspector.session.blocks import Image, Text, Unknown
from inspector.session.session import Session

Json = dict[str, Any]

DATA = base64.b64encode(random.Random(7).randbytes(60_000)).decode()
WORDS: Json = {"type": "text", "text": "What is on this picture?"}
QUESTION = "What is on this picture?"
PICTURE: Json = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{DATA}"}}
PARTS: dict[str, Json] = {
    "image_url": PICTURE,
    "image_url, not yet typed": {"image_url": PICTURE["image_url"], "type": "image_url"},
    "input_image": {"type": "input_image", "image_url": f"data:image/png;base64,{DATA}"},
    "input_audio": {"type": "input_audio", "input_audio": {"data": DATA, "format": "wav"}},
    "file": {
        "type": "file",
        "file": {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{DATA}"},
    },
    "file by id": {"type": "file", "file": {"file_id": "file-1"}},
    "input_file": {
        "type": "input_file",
        "filename": "a.pdf",
        "file_data": f"data:application/pdf;base64,{DATA}",
    },
}


def read(value: Any) -> Session:
    return read_session(json.dumps(value).encode())


def count(session: Session) -> int:
    """Return the tokens of the context."""
    return live_context(session, count_tokens(session)).tokens


@pytest.mark.parametrize("kind", PARTS)
@pytest.mark.parametrize("form", ["body", "settings", "answered", "bare list"])
def test_parts_tell_that_a_conversation_is_openai_s(kind: str, form: str) -> None:
    """Anthropic messages have no such parts. The data of a part does not count as text."""
    message = {"role": "user", "content": [PARTS[kind], WORDS]}
    answer = {"role": "assistant", "content": "A cat."}
    value: Any = {"model": "gpt-5.5", "messages": [message]}
    if form == "settings":
        value |= {"temperature": 0.2, "max_tokens": 100}
    if form == "answered":
        value["messages"] = [message, answer, {"role": "user", "content": "Sure?"}]
    if form == "bare list":
        value = [message, answer]
    session = read(value)
    assert session.format == "request-log"
    assert not any(isinstance(block, Unknown) for block in session.entries[0].blocks)
    assert count(session) < 40
    assert session.entries[0].text == QUESTION


def test_a_request_of_the_responses_needs_no_reply_to_be_known() -> None:
    content = [{"type": "input_text", "text": QUESTION}, PARTS["input_image"]]
    session = read({"model": "gpt-5.5", "input": [{"role": "user", "content": content}]})
    assert session.format == "request-log"
    assert session.entries[0].blocks == (Text(text=QUESTION), Image(media_type="image/png", data=DATA))


@pytest.mark.parametrize(
    "data",
    [
        DATA,
        f"data:image/png;base64,{DATA}",
        "data:image/png;base64,iVBORw0KGgo=",
        DATA.replace("+", "-").replace("/", "_"),
        "\n".join(DATA[at : at + 76] for at in range(0, len(DATA), 76)),
        base64.b64encode(random.Random(1).randbytes(70)).decode(),
        {"deep": [{"bytes": DATA}]},
    ],
)
def test_data_in_a_block_of_unknown_type_is_not_counted_as_text(data: Any) -> None:
    """This holds in a message and in a tool's output; the ledger reports the blocks that are not counted."""
    song = {"type": "song", "title": "Tides", "data": data}
    call = {"type": "tool_use", "id": "t1", "name": "sing", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [song]}
    talk = [
        {"role": "user", "content": [song]},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [result]},
    ]
    session = read({"model": "claude-opus-4-6", "max_tokens": 9, "messages": talk})
    assert count(session) < 150
    assert "2 blocks of unknown type that hold data" in repr(count_tokens(session))
    assert session.entries[0].blocks == (Unknown(type="song", raw=song),)
