"""Session files that the package has no reader for, as session manifests: Codex, opencode, Cline.

In go the bytes of a file, out comes the `Session` that the package reads from the manifest made here. Only
what a compaction needs is taken: who said what, in which order, what stood after, and in whose words.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from inspector.formats.readers import read_session
from inspector.session.session import Session

Row = dict[str, Any]
HARNESS = ("# AGENTS.md", "<environment_context>", "<permissions instructions>", "<user_instructions>")


def text(words: str) -> Row:
    return {"kind": "text", "text": words}


def call(name: str, number: str, given: Any) -> Row:
    return {"kind": "tool_call", "id": number, "name": name, "input": given}


def output(number: str, words: str, name: str | None = None, failed: bool = False) -> Row:
    parts = [text(words)] if words else []
    return {"kind": "tool_output", "call_id": number, "name": name, "parts": parts, "is_error": failed}


class Manifest:
    """Entries one after the other, and the session they make."""

    def __init__(self, format: str, **told: Any) -> None:
        self.told = {"manifest": "session-manifest/1", "format": format, **told}
        self.entries: list[Row] = []
        self.warnings: list[str] = []

    def add(self, name: str, role: str, blocks: list[Row], **more: Any) -> None:
        parent = self.entries[-1]["id"] if self.entries else None
        self.entries.append({"id": name, "parent": parent, "role": role, "blocks": blocks, **more})

    def compact(self, name: str, words: list[str], **boundary: Any) -> None:
        told = {"kind": "compact", **boundary}
        self.add(name, "user", [text(item) for item in words], kind="compaction", boundary=told)

    def read(self) -> Session:
        leaf = self.entries[-1]["id"]
        made = {**self.told, "entries": self.entries, "leaf": leaf, "warnings": self.warnings}
        return read_session(json.dumps(made).encode(), str(self.told["format"]))


def read_codex(data: bytes) -> list[Session]:
    """A rollout: one session. A compaction lists the messages that stay; its summary is empty, or sealed.

    Messages that stay are those of the same role and the same words. One that was never said before would
    be told in `warnings`.
    """
    rows = [json.loads(line) for line in data.splitlines() if line.strip()]
    meta = next(row["payload"] for row in rows if row["type"] == "session_meta")
    base = (meta.get("base_instructions") or {}).get("text")
    made = Manifest("codex", id=meta["id"], cwd=meta["cwd"], system=[text(base)] if base else [])
    known: dict[tuple[str, str], str] = {}
    names: dict[str, str] = {}
    for line, row in enumerate(rows, 1):
        payload, name = row["payload"], f"line-{line}"
        if row["type"] == "compacted":
            said = [_codex_words(item) for item in payload.get("replacement_history") or []]
            kept = [known[item] for item in said if item in known]
            if len(kept) < len(said):
                made.warnings.append(f"{name}: {len(said) - len(kept)} kept messages were never said before")
            made.compact(name, [payload["message"]] if payload["message"] else [], kept=kept)
        elif row["type"] == "response_item":
            if payload["type"] == "message":
                role, words = _codex_words(payload)
                known[role, words] = name
                meta_words = role == "developer" or words.startswith(HARNESS)
                speaker = "assistant" if role == "assistant" else "user"
                made.add(name, speaker, [text(words)], meta=meta_words)
            elif payload["type"] == "reasoning":
                made.add(name, "assistant", [{"kind": "reasoning", "encrypted": "sealed"}])
            elif payload["type"].endswith("_output"):
                number = payload["call_id"]
                made.add(name, "tool", [output(number, _plain(payload.get("output")), names.get(number))])
            elif payload["type"].endswith("_call"):
                number = names_call(payload, names)
                made.add(name, "assistant", [call(names[number], number, _codex_given(payload))])
    return [made.read()]


def names_call(payload: Row, names: dict[str, str]) -> str:
    number = str(payload["call_id"])
    names[number] = payload.get("name") or payload["type"].removesuffix("_call")
    return number


def _codex_words(item: Row) -> tuple[str, str]:
    return item["role"], "\n".join(part.get("text", "") for part in item.get("content") or [])


def _codex_given(payload: Row) -> Any:
    given = payload.get("arguments", payload.get("input"))
    try:
        return json.loads(given) if isinstance(given, str) else given
    except ValueError:
        # A custom tool is given text, such as a patch.
        return {"input": given}


def _plain(given: Any) -> str:
    """A tool's answer as text: as it is, its parts' texts, or its JSON."""
    if given is None or isinstance(given, str):
        return given or ""
    if isinstance(given, list) and all(isinstance(part, dict) and "text" in part for part in given):
        return "\n".join(str(part["text"]) for part in given)
    return json.dumps(given, ensure_ascii=False)


def read_opencode(data: bytes) -> list[Session]:
    """An export: one session. A user's part `compaction` names the first kept message; the reply after it
    with `summary: true` is the summary."""
    file = json.loads(data)
    info = file["info"]
    made = Manifest("opencode", id=info["id"], cwd=info["directory"])
    tail = None
    for message in file["messages"]:
        told, parts = message["info"], message["parts"]
        words = [text(part["text"]) for part in parts if part["type"] == "text" and part["text"]]
        mark = next((part for part in parts if part["type"] == "compaction"), None)
        if mark is not None:
            tail = mark.get("tail_start_id")
        elif told["role"] == "assistant" and told.get("summary") is True:
            made.compact(told["id"], [block["text"] for block in words], first_kept=tail)
        else:
            tools = [part for part in parts if part["type"] == "tool"]
            calls = [call(part["tool"], part["callID"], part["state"].get("input")) for part in tools]
            made.add(told["id"], told["role"], [*words, *calls])
            for part in tools:
                state = part["state"]
                failed = state["status"] == "error"
                answer = output(part["callID"], _plain(state.get("output")), part["tool"], failed)
                made.add(part["id"], "tool", [answer])
    return [made.read()]


def read_cline(before: bytes, after: bytes, cwd: str) -> Session:
    """A session and what a compaction made of it. Every block is an entry: Cline drops single blocks.

    What stands after word by word was kept; every other text of the result is the compaction's own.
    """
    made = Manifest("cline", cwd=cwd)
    known: dict[str, str] = {}
    for message in json.loads(before)["messages"]:
        for number, block in enumerate(_parts(message)):
            name = f"{message['id']}/{number}"
            known[_print(message, block)] = name
            role = "tool" if block["type"] == "tool_result" else message["role"]
            made.add(name, role, [_cline_block(block)])
    kept, own = [], []
    for message in json.loads(after)["messages"]:
        for block in _parts(message):
            same = known.get(_print(message, block))
            if same is not None:
                kept.append(same)
            elif block["type"] == "text":
                own.append(block["text"])
            else:
                made.warnings.append(f"a new {block['type']} stands after the compaction")
    made.compact("compaction", own, kept=kept)
    return made.read()


def _parts(message: Row) -> list[Row]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _print(message: Row, block: Row) -> str:
    return json.dumps([message.get("id"), block], sort_keys=True)


def _cline_block(block: Row) -> Row:
    if block["type"] == "tool_use":
        return call(block["name"], block["id"], block["input"])
    if block["type"] == "tool_result":
        return output(block["tool_use_id"], _plain(block["content"]), block.get("name"))
    if block["type"] == "file":
        return {"kind": "document", "title": block["path"], "text": block["content"]}
    return text(block["text"]) if block["type"] == "text" else {"kind": "unknown", "raw": block}


def read_others(sessions: Any) -> Iterator[tuple[str, str, Session]]:
    """(format, name, session) of every such file in a folder of transcripts."""
    for path in sorted(sessions.glob("codex*/*.jsonl")):
        yield from (("Codex", path.name, session) for session in read_codex(path.read_bytes()))
    for path in sorted(sessions.glob("opencode*/*.json")):
        yield from (("opencode", path.name, session) for session in read_opencode(path.read_bytes()))
    folder = sessions / "cline"
    if (folder / "session.messages.json").exists():
        before = (folder / "session.messages.json").read_bytes()
        cwd = json.loads((folder / "session.json").read_text("utf-8"))["cwd"]
        for path in sorted(folder.glob("*.compaction.json")):
            yield "Cline", path.name, read_cline(before, path.read_bytes(), cwd)
