"""What Claude Code attaches beside the conversation: in the context where it stands, or in every request."""

from __future__ import annotations

from typing import Any

import pytest

from inspector import read_session, trace_recorded
from inspector.formats.exports.writers import export_session
from inspector.formats.harnesses.claude_code.attached import read_attachment
from inspector.session.blocks import Document
from inspector.session.session import Session
from inspector.session.speakers import who_speaks
from tests.claude_rows import Claude

SKILLS = "- deploy: how to roll out\n- audit: read the ledger"


class Rows(Claude):
    """With replies whose requests may report no usage, and with what is attached."""

    def call(self, call: str, tokens: int = 0) -> Rows:
        block = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": "ls"}}
        return self._answer([block], tokens)

    def answer(self, text: str, tokens: int = 0) -> Rows:
        return self._answer([{"type": "text", "text": text}], tokens)

    def _answer(self, content: list[Any], tokens: int) -> Rows:
        usage = {"usage": {"input_tokens": tokens, "output_tokens": 1}} if tokens else {}
        message = {"id": f"m{len(self.rows)}", "role": "assistant", "content": content, **usage}
        return self.add("assistant", message=message)

    def result(self, call: str, text: str) -> Rows:
        block = {"type": "tool_result", "tool_use_id": call, "content": text}
        return self.add("user", message={"role": "user", "content": [block]})

    def attach(self, kind: str, rendered: Any = None, **fields: Any) -> Rows:
        more = {} if rendered is None else {"rendered": rendered}
        return self.add("attachment", attachment={"type": kind, **fields}, **more)


def file_of(name: str, text: str) -> dict[str, Any]:
    return {"filename": name, "content": {"type": "text", "file": {"filePath": name, "content": text}}}


def texts(session: Session) -> list[str]:
    return ["|".join(getattr(b, "text", "") for b in session.entries[i].blocks) for i in session.path]


@pytest.mark.parametrize(
    ("attachment", "text"),
    [
        ({"type": "edited_text_file", "filename": "a.go", "snippet": "1\tpackage a"}, "a.go\n1\tpackage a"),
        ({"type": "hook_additional_context", "content": ["one", "two"]}, "one\ntwo"),
        ({"type": "hook_success", "content": "out", "stdout": "more"}, "out"),
        (
            {"type": "hook_success", "hookEvent": "UserPromptSubmit", "content": "the branch is main"},
            "the branch is main",
        ),
        (
            {
                "type": "async_hook_response",
                "response": {
                    "systemMessage": "CI is red",
                    "hookSpecificOutput": {"additionalContext": "2 tests"},
                },
            },
            "CI is red\n2 tests",
        ),
        (
            {"type": "nested_memory", "path": "/a/b/CLAUDE.md", "content": {"content": "No."}},
            "Contents of /a/b/CLAUDE.md:\n\nNo.",
        ),
        ({"type": "invoked_skills", "skills": [{"name": "x", "content": "Do."}, {"name": "y"}]}, "x\n\nDo."),
        ({"type": "compact_file_reference", "filename": "/a/big.py"}, "/a/big.py"),
        ({"type": "plan_file_reference", "planFilePath": "p.md", "planContent": "Step 1"}, "p.md\nStep 1"),
        (
            {"type": "task_reminder", "content": [{"subject": "Mend", "status": "in_progress"}]},
            "[in_progress] Mend",
        ),
        ({"type": "hook_blocking_error", "blockingError": {"blockingError": "no push"}}, "no push"),
        (
            {"type": "diagnostics", "files": [{"uri": "a.ts", "diagnostics": [{"message": "bad"}]}]},
            "a.ts\nbad",
        ),
        (
            {"type": "relevant_memories", "memories": [{"path": "/m.md", "content": "Use tabs."}, {}]},
            "Contents of /m.md:\n\nUse tabs.",
        ),
        ({"type": "sandbox_instructions", "content": "No network."}, "No network."),
    ],
)
def test_the_words_of_every_type_are_read(attachment: dict[str, Any], text: str) -> None:
    assert [block.text for block in read_attachment(attachment)] == [text]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "attachment",
    [
        {"type": "hook_system_message", "content": "for the screen"},
        {"type": "hook_success", "content": "", "stdout": "for nobody"},
        {"type": "hook_success", "hookEvent": "PostToolUse", "content": "formatted 2 files"},
        {"type": "async_hook_response", "stdout": "for nobody", "response": {"decision": "approve"}},
        {"type": "async_hook_response", "response": ["odd"]},
        {"type": "task_reminder", "content": []},
        {"type": "of a later version", "content": "?"},
        {"type": ["a"], "content": 3},
        {"type": "file", "filename": 3, "content": {"file": None}},
        {"type": "invoked_skills", "skills": "x"},
        {"type": "relevant_memories", "memories": {"path": "x"}},
        {},
    ],
)
def test_what_is_not_for_the_model_is_not_read(attachment: dict[str, Any]) -> None:
    assert read_attachment(attachment) == []


def test_attached_words_stand_where_they_were_delivered_and_part_no_call_from_its_output() -> None:
    rows = Rows().attach("hook_success", content="welcome").say("go")
    rows.call("c1").attach("hook_additional_context", content=["mind the gap"]).result("c1", "a.py")
    rows.attach("file", **file_of("/home/me/app/a.py", "x = 1")).answer("done")
    session = rows.open()
    assert texts(session) == ["go", "welcome", texts(session)[2], "a.py", "mind the gap", "x = 1", "done"]
    attached = [session.entries[i] for i in session.path if who_speaks(session.entries[i]).way == "attached"]
    assert [who_speaks(entry).speaker for entry in attached] == ["harness"] * 3
    assert isinstance(attached[2].blocks[0], Document) and attached[2].blocks[0].title == "/home/me/app/a.py"
    assert len(session.turns) == 1


def test_lists_and_instructions_are_provided_with_every_request_once() -> None:
    rows = Rows().say("go").attach("skill_listing", content=SKILLS)
    rows.attach("agent_listing_delta", addedLines=["- scout: looks around"])
    rows.attach("instructions", files=[{"path": "/home/me/app/CLAUDE.md", "content": "Never log a token."}])
    rows.answer("ok").compact("All is well.")
    rows.attach("skill_listing", content=SKILLS).attach(
        "agent_listing_delta", addedLines=["- scout: looks around", "- b: c"]
    )
    rows.say("on").answer("ok")
    session = rows.open()
    assert [(one.name, one.origin, one.text) for one in session.provided] == [
        ("skills", "", SKILLS),
        ("agents", "", "- scout: looks around\n- b: c"),
        ("instructions", "/home/me/app/CLAUDE.md", "Never log a token."),
    ]
    assert not any("scout" in text for text in texts(session))
    why = trace_recorded(session)[0]["Never log a token"].why()
    assert why.endswith("It stays as it is, in what the harness provides (/home/me/app/CLAUDE.md).")


def test_what_is_attached_after_a_compaction_stands_and_what_is_not_is_lost() -> None:
    rows = (
        Rows().say("read both").call("c1").result("c1", "the lamp is amber and the door is oak").answer("ok")
    )
    rows.compact("All is well.").attach("file", **file_of("a.py", "# the lamp is amber")).answer("on it")
    session = rows.open()
    trace = trace_recorded(session)[0]
    assert (trace["the lamp is amber"].outcome, trace["the door is oak"].outcome) == ("verbatim", "absent")
    assert "in what the harness attached after it (" in trace["the lamp is amber"].why()


def test_a_written_file_has_it_all_again() -> None:
    rows = Rows().say("go").attach("skill_listing", content=SKILLS).attach("hook_success", content="welcome")
    rows.attach("instructions", files=[{"path": "/a/CLAUDE.md", "content": "No."}])
    session = rows.attach("file", **file_of("a.py", "x = 1")).answer("ok").open()
    exported = export_session(session, "claude-code")
    again = read_session(bytes(exported))
    assert again.provided == session.provided
    assert texts(again) == texts(session)
    assert [who_speaks(e).way for e in again.entries] == [who_speaks(e).way for e in session.entries]
    assert "provided" not in [loss.name for loss in exported.losses]


def test_the_prompt_and_the_tools_that_newer_versions_keep_are_the_session_s() -> None:
    tools = [
        {"name": "Read", "description": "Read a file.", "schema": {"type": "object"}},
        {"name": "Later", "description": "Waits.", "schema": {}, "defer_loading": True},
    ]
    waiting = [
        {"name": name, "description": "Long.", "input_schema": {}, "defer_loading": True}
        for name in ("WebFetch", "CronCreate")
    ]
    rows = Rows().say("Hello").attach("prompt_snapshot", systemPrompt=["An early part"])
    rows.attach(
        "prompt_snapshot", cliPrefix="You are an agent.", systemPrompt=["Mend.", 7, "Be brief."], tools=tools
    )
    rows.attach("deferred_tools_record", entries=waiting, toolInputCopies=[]).call("t1", 900)
    assert [block.text for block in rows.open().system] == ["You are an agent.", "Mend.", "Be brief."]
    assert [tool.name for tool in rows.open().tools] == ["Read"], "what waits is in no request"
    found = [{"type": "tool_reference", "tool_name": "WebFetch"}]
    rows.add("user", message={"content": [{"type": "tool_result", "tool_use_id": "t1", "content": found}]})
    session = (
        rows.compact("They greeted.").attach("prompt_snapshot", systemPrompt=["Mend docs."]).say("On").open()
    )
    assert [block.text for block in session.system] == ["Mend docs."], "the last one counts"
    assert [tool.name for tool in session.tools] == ["Read", "WebFetch"]
    assert [session.entries[at].text for at in session.live.entries] == ["They greeted.", "On"]
    assert session.unknown == 0
