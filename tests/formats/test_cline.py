"""Cline's three kinds of file: messages, the sidecar of a compaction, and the manifest."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from inspector import open_session, read_session
from inspector.errors import ReadError
from inspector.session.blocks import Document, Reasoning, ToolOutput
from inspector.session.entries import Cost, Usage
from inspector.session.session import Session
from tests.rows import CASES
from tests.shared import SHARED, needs_shared

REAL = SHARED / "sessions" / "cline"
TIME = "2026-01-01T00:00:00.000Z"
KINDS = ("cline.messages.json", "cline.compaction.json", "cline.json")


def cline(*messages: Any, **more: Any) -> bytes:
    document = {"version": 1, "updated_at": TIME, "agent": "lead", "sessionId": "s", "messages": messages}
    return json.dumps(document | more).encode()


def user(text: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text}], **more}


def reply(text: str, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "text", "text": text}], **more}


def test_what_cline_writes_beside_a_reply_is_its_usage() -> None:
    """What was read from the cache is among what was sent."""
    told = {"inputTokens": 100, "outputTokens": 7, "cacheReadTokens": 60, "cacheWriteTokens": 5, "cost": 0.5}
    session = read_session(cline(user("So?"), reply("Yes.", modelInfo={"id": "opus"}, metrics=told)))
    assert session.entries[1].model == "opus"
    assert session.entries[1].usage == Usage(
        input=35, output=7, cache_read=60, cache_write=5, cost=Cost(total=0.5)
    )
    for odd in (None, 7, {}, {"inputTokens": "many", "outputTokens": 7}):
        assert read_session(cline(user("So?"), reply("Yes.", metrics=odd))).entries[1].usage is None


@pytest.mark.parametrize("name", KINDS)
def test_whichever_file_is_opened_the_others_are_found(name: str) -> None:
    session = open_session(CASES / name)
    assert session == open_session(CASES / KINDS[0])
    assert (session.id, session.title, session.cwd) == ("1_abc", "Teal", "/w")
    assert [entry.id for entry in session.entries if entry.kind == "message"] == [f"m_{x}" for x in "abcdef"]
    ((name, boundary),) = session.boundaries
    assert boundary.summary == "## Goal\nTeal paint; src/legacy.ts stays."
    assert (boundary.tokens_before, boundary.files_modified) == (1308, ("/w/src/paint.ts",))
    assert session.live_names == [name, "m_d", "m_e", "m_f"]
    attached = session["m_a"].blocks[1]
    assert isinstance(attached, Document) and attached.title == "/w/src/paint.ts"


def test_a_sidecar_alone_is_a_context_that_begins_with_its_summary() -> None:
    session = read_session((CASES / "cline.compaction.json").read_bytes())
    assert [entry.kind for entry in session.entries] == ["compaction", "message"]
    assert session.boundaries[0][1].summary == "## Goal\nTeal paint; src/legacy.ts stays."


def test_a_manifest_alone_names_the_file_to_open() -> None:
    with pytest.raises(ReadError, match=r"its messages are in cline\.messages\.json"):
        read_session((CASES / "cline.json").read_bytes())


def test_a_sidecar_that_is_a_link_out_of_the_folder_is_left_alone(tmp_path: Path) -> None:
    """Who opens a file is not shown what lies elsewhere; a link inside the folder is one more name."""
    here, outside = tmp_path / "here", tmp_path / "outside.json"
    here.mkdir()
    shutil.copy(CASES / "cline.messages.json", here)
    shutil.copy(CASES / "cline.compaction.json", outside)
    sidecar = here / "cline.compaction.json"
    sidecar.symlink_to(outside)
    assert not open_session(here / "cline.messages.json").boundaries
    sidecar.unlink()
    shutil.copy(outside, here / "mine.json")
    sidecar.symlink_to("mine.json")
    assert len(open_session(here / "cline.messages.json").boundaries) == 1


@needs_shared
def test_what_stands_after_a_real_compaction_is_its_sidecar() -> None:
    for name in ("agentic.compaction.json", "basic.compaction.json"):
        after = json.loads((REAL / name).read_text("utf-8"))["messages"]
        session = open_session(REAL / name)
        texts = sorted(part["text"] for message in after for part in message["content"])
        live = [b.text for at in session.live.entries for b in session.entries[at].blocks]
        assert sorted(live) == texts


@pytest.mark.parametrize(("role", "kept"), [("user", ()), ("assistant", ("m1",))])
def test_a_summary_of_roo_codes_is_a_compaction(role: str, kept: tuple[str, ...]) -> None:
    """Roo keeps what was summed up in the file; its first builds wrote the summary as the model's."""
    history = [
        user("Paint it teal.", ts=1),
        reply("I paint.", ts=2, condenseParent="k"),
        {**user("Teal paint; legacy stays."), "role": role, "ts": 3, "isSummary": True, "condenseId": "k"},
        user("And the door?", ts=4),
    ]
    session = read_session(history)
    ((name, boundary),) = session.boundaries
    assert (name, boundary.summary, boundary.kept) == ("m3", "Teal paint; legacy stays.", kept)
    assert session.live_names == ["m3", *kept, "m4"]
    assert session.records == 4


TASK = CASES / "cline.task.json"


def test_a_task_of_an_extension_is_read_and_its_turns_are_what_a_person_typed() -> None:
    session = open_session(TASK)
    assert (session.format, session.source.harness, session.model) == ("cline", "Cline", "demo-1")
    assert [session.entries[turn.first].id for turn in session.turns] == ["m1", "m5", "m11"]
    usage = [entry.usage for entry in session.entries if entry.usage is not None]
    assert (usage[1].input, usage[1].cache_read, usage[1].output) == (200, 1_000, 20)
    assert usage[0].cost is not None and usage[0].cost.total == 0.01
    assert session.entries[0].timestamp == "2026-01-01T00:00:01.000Z"


BEGAN = 1_767_261_600_000
SONNET = "claude-sonnet-4-5-20250929"


def screened(
    *figures: tuple[int, int, int, int], indexes: tuple[int, ...] | None = None
) -> list[dict[str, Any]]:
    """The rows of a screen: a request for each four of tokens sent, replied, read and written."""
    rows: list[dict[str, Any]] = [{"ts": BEGAN, "type": "say", "say": "task", "text": "Mend it"}]
    for number, used in enumerate(figures):
        told = dict(zip(("tokensIn", "tokensOut", "cacheReads", "cacheWrites"), used, strict=True))
        row = {"ts": BEGAN + 1_000 + number, "type": "say", "say": "api_req_started"}
        row["text"] = json.dumps({"request": "…", **told, "cost": 0.25})
        row["modelInfo"] = {"providerId": "anthropic", "modelId": SONNET, "mode": "act"}
        rows.append(row | ({} if indexes is None else {"conversationHistoryIndex": indexes[number]}))
    return rows


def details(text: str) -> dict[str, str]:
    return {"type": "text", "text": f"<environment_details>\n{text}\n</environment_details>"}


def write_task(folder: Path, screen: list[dict[str, Any]], messages: Any = None) -> Path:
    """A task's folder; its messages are a prompt, a call and its answer, unless others are given."""
    asked = user("<task>\nMend it\n</task>")
    asked["content"].append(details("# Current Working Directory (/w/app) Files\na.py"))
    usual = [asked, reply("I look."), user("[read_file for 'a.py'] Result:\n1 line"), reply("Done.")]
    (folder / "ui_messages.json").write_text(json.dumps(screen), "utf-8")
    path = folder / "api_conversation_history.json"
    path.write_text(json.dumps(messages or usual), "utf-8")
    return path


def change_task(path: Path, *changes: dict[str, Any]) -> Session:
    """The task with these fields in its messages."""
    messages = json.loads(path.read_text("utf-8"))
    changed = [message | more for message, more in zip(messages, changes, strict=True)]
    path.write_text(json.dumps(changed), "utf-8")
    return open_session(path)


def test_a_task_s_folder_opens_as_its_messages(tmp_path: Path) -> None:
    path = write_task(tmp_path, [])
    assert open_session(tmp_path) == open_session(path)


@pytest.mark.parametrize("indexes", [None, (-1, 1)])
def test_figures_that_stand_on_a_task_s_screen_are_its_replies(
    tmp_path: Path, indexes: tuple[int, ...] | None
) -> None:
    path = write_task(tmp_path, screened((12, 30, 0, 900), (8, 40, 900, 100), indexes=indexes))
    session = open_session(path)
    used = [entry.usage for entry in session.entries if entry.role == "assistant"]
    assert used == [
        Usage(input=12, output=30, cache_write=900, cost=Cost(total=0.25)),
        Usage(input=8, output=40, cache_read=900, cache_write=100, cost=Cost(total=0.25)),
    ]
    assert (session.cwd, session.model, len(session.turns)) == ("/w/app", SONNET, 1)
    assert session.entries[1].timestamp == "2026-01-01T10:00:01.000Z"


def test_figures_that_belong_to_no_reply_are_told(tmp_path: Path) -> None:
    """A request that failed has no reply: which of three is which reply's nothing tells."""
    path = write_task(tmp_path, screened((9, 1, 0, 0), (9, 1, 0, 0), (9, 1, 0, 0)))
    session = open_session(path)
    assert not any(entry.usage for entry in session.entries)
    told = "the usage of 3 requests on the task's screen fits no reply: not counted"
    assert told in session.warnings
    placed = open_session(write_task(tmp_path, screened((9, 1, 0, 0), (9, 2, 0, 0), indexes=(1, 1))))
    assert [entry.usage.output for entry in placed.entries if entry.usage] == [2]
    assert [each for each in placed.warnings if "1 request on the task's screen" in each]
    (tmp_path / "ui_messages.json").write_text("[{", "utf-8")
    assert open_session(path).warnings == ()


def test_a_request_s_reply_is_told_by_its_time_where_some_have_none(tmp_path: Path) -> None:
    """Roo Code's screen keeps the requests of messages that were deleted, and of replies that failed."""
    path = write_task(tmp_path, screened((9, 1, 0, 0), (9, 2, 0, 0), (9, 3, 0, 0)))
    session = change_task(path, *({"ts": BEGAN + after} for after in (0, 1_001, 1_001, 1_500)))
    assert [entry.usage.output for entry in session.entries if entry.usage] == [2, 3]
    assert [each for each in session.warnings if "1 request on the task's screen" in each]


def test_a_task_in_the_form_of_2026_is_read(tmp_path: Path) -> None:
    """Messages in the AI SDK's words within a version; a sealed thought beside them is of the next reply."""
    picture = {"type": "image", "image": "data:image/png;base64,iVBORw0KGgo=", "mediaType": "image/png"}
    read = {"toolCallId": "c1", "toolName": "read_file"}
    result = {"type": "tool-result", **read, "output": {"type": "text", "value": "1 line"}}
    thought = {"type": "reasoning", "text": "Hm.", "providerOptions": {"anthropic": {"signature": "sg"}}}
    said = [
        ("user", [*user("<task>\nMend a.py, never b.py\n</task>")["content"], picture]),
        ("assistant", [thought, {"type": "tool-call", **read, "input": {"path": "a.py"}}]),
        ("tool", [result]),
        ("user", [details("")]),
        ("assistant", "Done."),
    ]
    messages = [{"role": role, "content": content, "ts": BEGAN} for role, content in said]
    sealed = {"type": "reasoning", "encrypted_content": "gAAA", "summary": [{"text": "a.py."}], "ts": 1}
    messages.insert(1, sealed)
    session = open_session(write_task(tmp_path, [], {"version": 2, "messages": messages}))
    assert (session.format, session.records, session.unknown, len(session.turns)) == ("cline", 6, 0, 1)
    assert [entry.role for entry in session.entries] == [role for role, _ in said]
    thoughts = [block for block in session.entries[1].blocks if isinstance(block, Reasoning)]
    told = [(b.text, b.encrypted, b.signature) for b in thoughts]
    assert told == [("a.py.", "gAAA", None), ("Hm.", None, "sg")]
    (output,) = session.entries[2].blocks
    assert isinstance(output, ToolOutput) and (output.name, output.text) == ("read_file", "1 line")


@pytest.mark.parametrize(
    "head",
    ["[switch_mode to 'ask' because: done]", "[new_task in Code mode: 'Mend it\nnow']", "[update_todo_list]"],
)
def test_results_of_roo_s_tools_are_told_by_their_heads_and_its_details_tell_the_model(
    head: str, tmp_path: Path
) -> None:
    mode = f"# Current Mode\n<slug>code</slug>\n<name>Code</name>\n<model>{SONNET}</model>"
    given = [*user(f"{head} Result:")["content"], *user("Switched.")["content"], details(mode)]
    session = change_task(write_task(tmp_path, []), {}, {}, {"content": given}, {})
    assert len(session.turns) == 1
    models = [entry.model for entry in session.entries if entry.role == "assistant"]
    assert models == [None, SONNET]
