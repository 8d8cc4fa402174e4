"""Strategies that assemble the rows of session files from shapes of real files.

Each strategy draws a `Written`: the bytes of a file and its billed requests, known by construction. A file is
built by a list of moves, so that a failing example shrinks to the moves that matter.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any, NamedTuple

from hypothesis import strategies as st

Row = dict[str, Any]

TEXTS = (
    "Fix the clock.",
    "Never push to main. Use tabs, not spaces.",
    "Contents of /app/.claude/rules/markdown.md:\n\nUse one sentence a line.",
    "Contents of the folder are below.",
    "Contents of /app/api/CLAUDE.md (project instructions):\n\nNever log a token.",
    "<system-reminder>\nContents of /root/memory/MEMORY.md:\n\n- [a](a.md)\n</system-reminder>",
    "<command-name>/compact</command-name>\n<command-args></command-args>",
    "<local-command-stdout>Compacted</local-command-stdout>",
    "<user_query>Rename `total_due`.</user_query>",
    '<div class="a">What does this do?</div>',
    "# Context from my IDE setup:\n## Open tabs:\n- a.py: src/a.py\n\n## My request for Codex:\nGo on.",
    "[Request interrupted by user]",
    'Traceback (most recent call last):\n  File "src/a.py", line 3\nValueError: bad value\nexit code 1',
    "FAILED tests/test_a.py::test_one - AssertionError: 1 != 2\n1 failed in 0.1s",
    "- [ ] write the docs\n- [x] run it\nTODO: later",
    "see https://example.org/a?b=c#d and commit 0123abcd, issue #12, v1.2.3, port 8080",
    "`",
    "**`a` - ```b",
    "half \ud83d a pair",
    "\x00\x1b[31mred\x1b[0m\u2028",
    "日本語 👩\u200d💻 é\u0301\u0301\u0301",
    "[][][](){}\\\\ $x^2$ \\href{a}{b}",
    " ",
    "word " * 3_000,
)
COMMANDS = (
    "python -m pytest tests/ -v",
    "uv run python -m mypy src/a.py",
    "python -m json.tool a.json > b.json",
    "python -c 'print(1)' a.py",
    "cd /app && ls -la | head; cat <<'EOF' > 'odd name.txt'\nx\nEOF",
    "git mv a.py b.py && rm -rf build",
    "sed -i 's/a/b/' a.py b.py; for f in *.py; do echo $f; done",
    "'",
    "if [ -f a ]; then source a; fi >",
    "",
)
INPUTS: tuple[Callable[[str], Row], ...] = (
    lambda text: {"command": text},
    lambda text: {"file_path": f"/app/{text[:40]}", "content": text},
    lambda text: {"file_path": "/app/a.py", "old_string": text, "new_string": "b"},
    lambda text: {"todos": [{"content": text, "status": "pending"}, {"content": "b"}, 3]},
    lambda text: {"subject": text, "taskId": "1", "status": "completed"},
    lambda text: {"": text, "path": None, "paths": [text, 1]},
    lambda _: {},
)
TOOLS = ("Bash", "Write", "Edit", "TodoWrite", "TaskUpdate", "mcp__odd server__näme", "")
NAMES = ("talk.jsonl", "odd näme %20 #1.jsonl", "日本.jsonl", "-v.jsonl", "a b'c\".jsonl")

_texts = st.one_of(st.sampled_from(TEXTS), st.text(max_size=40))
_lines = st.one_of(st.sampled_from(COMMANDS), st.text(max_size=20))


class Written(NamedTuple):
    """A session file.

    Attributes:
        data: Its bytes.
        billed: Fresh input, cache read, cache write and output in tokens of each request; None if the file
            reports no usage.
        has_messages: Whether it contains messages.
        is_exact: Whether its rows belong to one format only.
    """

    data: bytes
    billed: list[tuple[int, int, int, int]] | None
    has_messages: bool = True
    is_exact: bool = True


class _Writer:
    """Collects rows and requests, and draws the texts and arguments in them."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.rows: list[Row] = []
        self.billed: list[tuple[int, int, int, int]] = []
        self.dice = random.Random(draw(st.integers(0, 2**16)))
        self.last: str | None = None
        self.count = 0
        self.has_messages = False

    def text(self) -> str:
        return self.draw(_texts)

    def number(self) -> int:
        self.count += 1
        return self.count

    def stamp(self) -> str:
        return f"2026-09-01T10:{self.count // 60 % 60:02d}:{self.count % 60:02d}.000Z"

    def arguments(self) -> tuple[str, Row]:
        """Draw a tool's name and its input."""
        make = self.dice.choice(INPUTS)
        return self.dice.choice(TOOLS), make(self.draw(_lines))

    def bill(self) -> tuple[int, int, int, int]:
        tokens = (
            10 + self.number(),
            self.dice.choice((0, 20_000)),
            self.dice.choice((0, 500)),
            40 + self.count,
        )
        self.billed.append(tokens)
        return tokens

    def finish(self) -> Written:
        lines = [json.dumps(row, ensure_ascii=self.dice.random() < 0.5) for row in self.rows]
        data = "\n".join(lines).encode("utf-8", "surrogatepass") + b"\n" * self.dice.choice((0, 1, 3))
        return Written(data, self.billed, self.has_messages)


class _ClaudeCode(_Writer):
    def row(self, kind: str, **more: Any) -> Row:
        name = f"{self.number():08x}-0000-4000-8000-000000000000"
        row: Row = {"type": kind, "uuid": name, "parentUuid": self.last, "sessionId": "s", "cwd": "/app"}
        row |= {"timestamp": self.stamp(), "version": "2.1.300", "isSidechain": False, **more}
        self.rows.append(row)
        self.last = name
        return row

    def say(self) -> None:
        self.row("user", message={"role": "user", "content": self.text()})

    def say_parts(self) -> None:
        parts = [{"type": "text", "text": self.text()}, {"type": "text", "text": self.text()}]
        self.row("user", message={"role": "user", "content": parts})

    def reply(self, name: str | None = None) -> None:
        """Add a reply of one to three rows with tool results between them."""
        fresh, read, written, output = self.bill()
        usage = {"input_tokens": fresh, "cache_read_input_tokens": read, "output_tokens": output}
        usage["cache_creation_input_tokens"] = written
        message = {"id": name or f"msg_{self.number()}", "role": "assistant", "type": "message"}
        message |= {"model": "claude-opus-4-8", "usage": usage, "stop_reason": "end_turn"}
        request = f"req_{self.number()}"
        for _ in range(self.dice.randint(1, 3)):
            tool, arguments = self.arguments()
            call = {"type": "tool_use", "id": f"toolu_{self.number()}", "name": tool, "input": arguments}
            block = call if self.dice.random() < 0.6 else {"type": "text", "text": self.text()}
            self.row("assistant", requestId=request, message={**message, "content": [block]})
            if block is call:
                self.answer(call["id"])

    def answer(self, call: str) -> None:
        text = "x" * 1_100_000 if self.dice.random() < 0.01 else self.text()
        result = {"type": "tool_result", "tool_use_id": call, "content": text}
        result |= {"is_error": True} if self.dice.random() < 0.2 else {}
        self.row("user", message={"role": "user", "content": [result]})

    def repeat_name(self) -> None:
        """Add two prompts and replies with the same message id, as some gateways write."""
        for _ in range(2):
            self.say()
            self.reply("msg_proxy_stream")

    def compact(self) -> None:
        above = self.dice.choice((self.last, "ffffffff-0000-4000-8000-000000000000", None))
        self.row(
            "system", subtype="compact_boundary", content="Conversation compacted", logicalParentUuid=above,
            compactMetadata={"trigger": "auto", "preTokens": 160_000},
        )  # fmt: skip
        self.rows[-1]["parentUuid"] = None
        self.row("user", isCompactSummary=True, message={"role": "user", "content": self.text()})

    def attach(self) -> None:
        kind = self.dice.choice(("nested_memory", "todo_reminder", "queued_command", "file", "of tomorrow"))
        content: Any = self.dice.choice(
            (self.text(), {"path": "/app/.claude/rules/a.md", "content": self.text()})
        )
        self.row("attachment", attachment={"type": kind, "content": content, "prompt": self.text()})

    def copy_rows(self) -> None:
        """Add copies of earlier rows."""
        chained = [row for row in self.rows if "uuid" in row]
        self.rows += [dict(row) for row in chained[-self.dice.randint(1, 4) :]]

    def note(self) -> None:
        kind = self.dice.choice(("file-history-snapshot", "summary", "queue-operation", "of tomorrow"))
        self.rows.append(
            {"type": kind, "content": self.text(), "operation": "enqueue", "summary": self.text()}
        )


class _Codex(_Writer):
    def item(self, kind: str, payload: Row) -> None:
        self.rows.append({"timestamp": self.stamp(), "type": kind, "payload": payload})

    def begin(self) -> None:
        meta = {"id": "s", "timestamp": self.stamp(), "cwd": "/app", "originator": "codex_cli_rs"}
        self.item("session_meta", meta | {"cli_version": "0.143.0"})
        self.item("turn_context", {"cwd": "/app", "model": "gpt-5.5"})
        self.total = [0, 0, 0]

    def message(self, role: str) -> None:
        self.number()
        kind = "output_text" if role == "assistant" else "input_text"
        content = [{"type": kind, "text": self.text()}]
        self.item("response_item", {"type": "message", "role": role, "content": content})

    def say(self) -> None:
        self.message("user")

    def reply(self) -> None:
        self.message("assistant")
        fresh, read, _, output = self.bill()
        self.billed[-1] = fresh, read, 0, output
        used = [fresh + read, read, output]
        self.total = [a + b for a, b in zip(self.total, used, strict=True)]
        names = ("input_tokens", "cached_input_tokens", "output_tokens")
        info = {
            "last_token_usage": dict(zip(names, used, strict=True)) | {"total_tokens": used[0] + used[2]},
            "total_token_usage": dict(zip(names, self.total, strict=True))
            | {"total_tokens": self.total[0] + self.total[2]},
            "model_context_window": 272_000,
        }
        self.item("event_msg", {"type": "token_count", "info": info})

    def call(self) -> None:
        tool, arguments = self.arguments()
        name = f"call_{self.number()}"
        arguments = self.dice.choice((json.dumps(arguments), "not JSON", ""))
        call = {"type": "function_call", "name": tool, "arguments": arguments, "call_id": name}
        self.item("response_item", call)
        output = {"type": "function_call_output", "call_id": name, "output": self.text()}
        if self.dice.random() < 0.9:
            self.item("response_item", output)

    def compact(self) -> None:
        self.item("compacted", {"message": self.text()})

    def note(self) -> None:
        self.item(
            "event_msg", {"type": self.dice.choice(("of tomorrow", "agent_reasoning")), "text": self.text()}
        )


class _Pi(_Writer):
    def begin(self) -> None:
        head = {"type": "session", "version": 3, "id": "s", "timestamp": self.stamp(), "cwd": "/app"}
        self.rows.append(head)

    def add(self, kind: str, **more: Any) -> None:
        name = f"{self.number():08x}"
        row = {"type": kind, "id": name, "parentId": self.last, "timestamp": self.stamp(), **more}
        self.rows.append(row)
        self.last = name

    def say(self) -> None:
        self.add("message", message={"role": "user", "content": self.text(), "timestamp": 1})

    def reply(self) -> None:
        fresh, read, written, output = self.bill()
        usage = {"input": fresh, "output": output, "cacheRead": read, "cacheWrite": written}
        usage["totalTokens"] = self.dice.choice((0, fresh + output + read + written, 12_345))
        tool, arguments = self.arguments()
        call = {"type": "toolCall", "id": f"t{self.number()}", "name": tool, "arguments": arguments}
        content = [{"type": "text", "text": self.text()}, call]
        message: Row = {"role": "assistant", "content": content, "provider": "anthropic"}
        message |= {"model": "claude-opus-4-8", "usage": usage, "stopReason": "toolUse", "timestamp": 1}
        self.add("message", message=message)
        result: Row = {"role": "toolResult", "toolCallId": call["id"], "toolName": tool, "isError": False}
        self.add(
            "message", message=result | {"content": [{"type": "text", "text": self.text()}], "timestamp": 1}
        )

    def compact(self) -> None:
        first = self.dice.choice([row.get("id", "") for row in self.rows] + ["ffffffff"])
        self.add("compaction", summary=self.text(), firstKeptEntryId=first, tokensBefore=1_000)

    def branch(self) -> None:
        ids = [row["id"] for row in self.rows[1:]]
        self.last = self.dice.choice([*ids, None])
        self.add("branch_summary", fromId=self.dice.choice([*ids, "root"]), summary=self.text())

    def note(self) -> None:
        self.add(
            self.dice.choice(("of tomorrow", "custom", "label", "model_change")), data={"a": self.text()}
        )


class _StreamJson(_Writer):
    """The output of `claude -p --output-format stream-json`, tool results between the rows of one reply."""

    def add(self, kind: str, **more: Any) -> None:
        head = {"parent_tool_use_id": None, "session_id": "s", "uuid": f"u{self.number()}"}
        self.rows.append({"type": kind, **head, **more})

    def begin(self) -> None:
        self.add("system", subtype="init", cwd="/app", tools=["Bash"], model="claude-opus-4-8")

    def say(self) -> None:
        self.add("user", message={"role": "user", "content": [{"type": "text", "text": self.text()}]})

    def reply(self) -> None:
        fresh, read, written, output = self.bill()
        usage = {"input_tokens": fresh, "cache_read_input_tokens": read, "output_tokens": output}
        usage["cache_creation_input_tokens"] = written
        message: Row = {"id": f"msg_{self.number()}", "role": "assistant", "type": "message"}
        message |= {"model": "claude-opus-4-8", "stop_reason": "end_turn", "usage": usage}
        for _ in range(self.dice.randint(1, 3)):
            tool, arguments = self.arguments()
            call = {"type": "tool_use", "id": f"toolu_{self.number()}", "name": tool, "input": arguments}
            self.add("assistant", message={**message, "content": [call]})
            result = {"type": "tool_result", "tool_use_id": call["id"], "content": self.text()}
            self.add("user", message={"role": "user", "content": [result]})

    def compact(self) -> None:
        data = {"trigger": "auto", "pre_tokens": 160_000}
        self.add("system", subtype="compact_boundary", compact_metadata=data)

    def note(self) -> None:
        self.add(self.dice.choice(("rate_limit_event", "of tomorrow")), text=self.text())


class _Copilot(_Writer):
    """A log of Copilot CLI, which states the usage of all requests when it shuts down."""

    def add(self, kind: str, **data: Any) -> None:
        name = f"e{self.number()}"
        row = {"type": kind, "data": data, "id": name, "timestamp": self.stamp(), "parentId": self.last}
        self.rows.append(row)
        self.last = name

    def begin(self) -> None:
        self.add(
            "session.start", sessionId="s", version=1, producer="copilot-agent", copilotVersion="1.0.24",
            startTime=self.stamp(), context={"cwd": "/app"},
        )  # fmt: skip

    def say(self) -> None:
        self.add("user.message", content=self.text(), attachments=[])

    def reply(self) -> None:
        tool, arguments = self.arguments()
        name = f"c{self.number()}"
        call = {"toolCallId": name, "name": tool, "arguments": arguments, "type": "function"}
        self.add("assistant.message", messageId=f"a{self.count}", content=self.text(), toolRequests=[call])
        result = {"content": self.text(), "detailedContent": ""}
        self.add("tool.execution_complete", toolCallId=name, success=True, model="gpt-5.5", result=result)

    def shut_down(self) -> None:
        fresh, read, _, output = self.bill()
        self.billed[-1] = fresh, read, 0, output
        usage = {"inputTokens": fresh + read, "outputTokens": output, "cacheReadTokens": read}
        metrics = {"gpt-5.5": {"requests": {"count": 2, "cost": 1}, "usage": usage | {"cacheWriteTokens": 0}}}
        self.add("session.shutdown", shutdownType="routine", modelMetrics=metrics, currentModel="gpt-5.5")

    def compact(self) -> None:
        self.add("session.compaction_start")
        self.add(
            "session.compaction_complete", success=True, preCompactionTokens=90_000,
            summaryContent=self.text(), checkpointNumber=1,
        )  # fmt: skip

    def note(self) -> None:
        self.add(self.dice.choice(("session.info", "of.tomorrow")), message=self.text())


class _Chat(_Writer):
    """A list of OpenAI Chat Completions messages, without usage."""

    def say(self) -> None:
        self.rows.append({"role": "user", "content": self.text()})

    def reply(self) -> None:
        tool, arguments = self.arguments()
        name = f"call_{self.number()}"
        function = {"name": tool, "arguments": self.dice.choice((json.dumps(arguments), "not JSON"))}
        calls = [{"id": name, "type": "function", "function": function}]
        self.rows.append({"role": "assistant", "content": self.text(), "tool_calls": calls})
        self.rows.append({"role": "tool", "tool_call_id": name, "content": self.text()})

    def show(self) -> None:
        picture = {
            "type": "image_url",
            "image_url": {"url": "data:image/png;base64," + "iVBORw0KGgo" * 9_000},
        }
        self.rows.append({"role": "user", "content": [picture, {"type": "text", "text": self.text()}]})

    def finish(self) -> Written:
        text = json.dumps(self.rows, ensure_ascii=self.dice.random() < 0.5)
        is_exact = any("tool_calls" in row or not isinstance(row["content"], str) for row in self.rows)
        return Written(text.encode("utf-8", "surrogatepass"), None, is_exact=is_exact)


def _files(writer: type[_Writer], *moves: str) -> st.SearchStrategy[Written]:
    @st.composite
    def files(draw: st.DrawFn) -> Written:
        file = writer(draw)
        if begin := getattr(file, "begin", None):
            begin()
        for move in draw(st.lists(st.sampled_from(moves), min_size=1, max_size=9)):
            getattr(writer, move)(file)
            file.has_messages |= move not in ("note", "shut_down", "compact", "attach", "copy_rows", "branch")
        return file.finish()

    return files()


FILES = {
    "claude-code": _files(
        _ClaudeCode, "say", "reply", "say_parts", "repeat_name", "compact", "attach", "copy_rows", "note"
    ),
    "codex": _files(_Codex, "say", "reply", "call", "compact", "note"),
    "pi": _files(_Pi, "say", "reply", "compact", "branch", "note"),
    "claude-stream-json": _files(_StreamJson, "say", "reply", "compact", "note"),
    "copilot-cli": _files(_Copilot, "say", "reply", "shut_down", "compact", "note"),
    "request-log": _files(_Chat, "say", "reply", "show"),
}
"""A strategy of files for each format."""
