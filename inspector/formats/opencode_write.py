"""A session's path as `opencode export` writes it, which `opencode import` takes: its info, its messages.

In go entries, out comes one document. A call and its answer are one part of the reply; a compaction is a mark
in a user's message and the finished summary that answers it, and keeps what stands from one message on. What
was emptied later is marked as cleared. System prompts, tools and the parts of a price have no place. Source:
FORMATS §7.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from ..session.blocks import Block, Document, Image, Reasoning, ToolCall, ToolOutput
from ..session.entries import Boundary, Entry, Usage
from ..session.json_text import dump_lossless
from ..session.session import Session
from .linearize import AnsweredEntry, BranchEntry, LinearSession, find_kept, join_answers, take_line
from .opencode import NAME

Json = dict[str, Any]
UNKNOWN = "unknown"
"""What an export names as model or provider where nothing is known of it; it cannot do without."""
_LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def write_opencode(session: Session, twigs: Sequence[BranchEntry] = ()) -> tuple[bytes, Counter[str]]:
    """The document, and a count of what it does not hold. `twigs` have no place in it."""
    whole = take_line(session, keep_micro=True)
    line = whole.begin_anew(ranges=True)
    messages = _ExportWriting(session, line).write()
    if messages is None:
        line = whole.begin_anew(ranges=False)
        messages = _ExportWriting(session, line).write() or []
    losses = Counter(line.losses)
    names = {entry.id for entry in line.entries}
    losses["history"] = sum(entry.id not in names for entry in whole.entries)
    losses["branch_summaries"] = sum(entry.kind == "branch_summary" for entry in line.entries)
    begin = _read_time(session.created) or _first_time(line)
    info: Json = {
        "id": _name_session(session),
        "slug": "imported",
        "projectID": "global",
        "directory": session.cwd or "",
        "title": session.title or "",
        "version": session.source.version if session.format == NAME else "0.0.0",
        "time": {"created": begin, "updated": _read_time(session.updated) or begin},
    }
    return f"{dump_lossless({'info': info, 'messages': messages}, indent=1)}\n".encode("ascii"), losses


def _name_session(session: Session) -> str:
    return session.id if session.id.startswith("ses_") else f"ses_{_sign(session.id, 26)}"


def _sign(name: str, length: int) -> str:
    """Letters and digits made of a name, the same each time."""
    number = int.from_bytes(sha256(name.encode("utf-8", "surrogatepass")).digest(), "big")
    out = ""
    while len(out) < length:
        number, at = divmod(number, len(_LETTERS))
        out += _LETTERS[at]
    return out


def _read_time(stamp: str | None) -> int | None:
    """Milliseconds since 1970; None for what is no time."""
    try:
        time = datetime.fromisoformat(stamp or "")
        return round((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None


def _first_time(line: LinearSession) -> int:
    return next((time for entry in line.entries if (time := _read_time(entry.timestamp)) is not None), 0)


class _ExportWriting:
    """The messages of an export as they are written, in the order of their times and of their names."""

    def __init__(self, session: Session, line: LinearSession) -> None:
        self.session, self.line = session, line
        self.out: list[Json] = []
        self.named: dict[str, str] = {}
        self.asked = ""
        self.time = 0
        self.parts = 0
        self.thread = _name_session(session)
        own = [entry.id for entry in line.entries if _is_own(entry)]
        # Names sort as they were given; where the session's own do not, all are made anew.
        whole = session.format == NAME and own == sorted(set(own))
        self.keep = frozenset(own) if whole else frozenset()

    def write(self) -> list[Json] | None:
        """All of them; None where the last compaction keeps what begins in the middle of a message."""
        said = join_answers([entry for entry in self.line.entries if entry.kind != "micro"])
        cleared = self._find_cleared()
        for each in said:
            entry = each.entry
            if entry.id in cleared:
                self._tick(entry)
            if entry.kind == "compaction":
                if not self._compact(entry):
                    return None
            elif entry.role == "assistant":
                self._reply(each)
            else:
                self._prompt(entry)
        self._mark_cleared(cleared)
        return self.out

    def _find_cleared(self) -> dict[str, Entry]:
        """By the entry that follows it, "" at the end, the record of calls whose answers were emptied."""
        found: dict[str, Entry] = {}
        waiting: Entry | None = None
        for entry in self.line.entries:
            if entry.kind == "micro":
                calls = (*_cleared(waiting), *_cleared(entry))
                waiting = entry.model_copy(update={"boundary": Boundary(kind="micro", cleared=calls)})
            elif waiting is not None:
                found[entry.id], waiting = waiting, None
        return found | ({"": waiting} if waiting is not None else {})

    def _mark_cleared(self, cleared: dict[str, Entry]) -> None:
        times = {each["info"]["id"]: each["info"]["time"]["created"] for each in self.out}
        for follower, record in cleared.items():
            end = times.get(self.named.get(follower, ""), self.time + 1)
            before = max((time for time in times.values() if time < end), default=0)
            moment = _read_time(record.timestamp) or end
            if not before < moment <= end and not (follower == "" and before < moment):
                moment = end
            calls = _cleared(record)
            for message in self.out:
                for part in message["parts"]:
                    # Before this moment, and not cleared earlier.
                    if part.get("callID") in calls and message["info"]["time"]["created"] < moment:
                        part["state"].setdefault("time", {}).setdefault("compacted", moment)

    def _tick(self, entry: Entry, least: int = 1) -> int:
        self.time = max(self.time + least, _read_time(entry.timestamp) or 0)
        return self.time

    def _name(self, wanted: str, new: str) -> str:
        """The entry's own name, or one that sorts behind those before it."""
        if wanted in self.keep:
            return wanted
        return f"msg_{(self.time * 0x1000 + len(self.out)) & 0xFFFFFFFFFFFF:012x}{_sign(new, 14)}"

    def _open(self, entry: Entry, role: str, name: str = "") -> Json:
        time = self._tick(entry, 0)
        info: Json = {"role": role, "time": {"created": time}, "agent": "build"}
        info["id"] = self._name(name or entry.id, f"{entry.id}/{name}")
        info["sessionID"] = self.thread
        message: Json = {"info": info, "parts": []}
        if not name:
            self.named[entry.id] = info["id"]
        self.out.append(message)
        return message

    def _add(self, message: Json, part: Json) -> None:
        self.parts += 1
        about = {"id": f"prt_{self.parts:012x}{_sign(message['info']['id'], 14)}"}
        message["parts"].append(part | about | {"sessionID": self.thread, "messageID": message["info"]["id"]})

    def _continues(self, entry: Entry) -> bool:
        """Whether an entry stood in the message before it: the reader gives each step, and what the harness
        adds to a prompt, an entry of its own, named after the message."""
        before = self.out[-1]["info"]["id"] if self.out else None
        return before in self.keep and re.fullmatch(rf"{before}/(\d+|added)", entry.id) is not None

    def _prompt(self, entry: Entry) -> None:
        message = self.out[-1] if self._continues(entry) else self._open(entry, "user")
        self.asked = message["info"]["id"]
        message["info"]["model"] = self._find_model()
        for block in entry.blocks:
            part = _write_part(block)
            if entry.meta and part["type"] in ("text", "file"):
                part["synthetic"] = True
            self._add(message, part)

    def _find_model(self) -> Json:
        provider = next((e.provider for e in reversed(self.session.entries) if e.provider), None)
        return {"providerID": provider or UNKNOWN, "modelID": self.session.model or UNKNOWN}

    def _answer(self, entry: Entry) -> Json:
        """The message of a reply, or of a summary, with what each of them tells."""
        message = self._open(entry, "assistant")
        folder = self.session.cwd or ""
        model = self._find_model()
        message["info"] |= {
            "parentID": self.asked,
            "mode": "build",
            "path": {"cwd": folder, "root": folder},
            "cost": _write_cost(entry.usage),
            "tokens": _write_tokens(entry.usage or Usage()),
            "modelID": entry.model or model["modelID"],
            "providerID": entry.provider or model["providerID"],
        }
        message["info"]["time"]["completed"] = self.time
        return message

    def _reply(self, said: AnsweredEntry) -> None:
        entry = said.entry
        if self._continues(entry):
            message = self.out[-1]
            _add_figures(message["info"], entry.usage)
        else:
            message = self._answer(entry)
        calls = any(isinstance(block, ToolCall) for block in entry.blocks)
        reason = entry.stop_reason or ("tool-calls" if calls else "stop")
        if entry.cut_short:
            told = {"message": entry.error or reason}
            message["info"]["error"] = {"name": "UnknownError", "data": told}
        else:
            message["info"]["finish"] = reason
        self._add(message, {"type": "step-start"})
        for block in entry.blocks:
            if isinstance(block, ToolCall):
                self._add(message, _write_call(block, said.answers.get(block.id), self.time))
            else:
                self._add(message, _write_part(block))
        end: Json = {"type": "step-finish", "reason": reason, "cost": _write_cost(entry.usage)}
        # A step without figures is one of which none are known; the message cannot do without.
        end["tokens"] = None if entry.usage is None else _write_tokens(entry.usage)
        self._add(message, end)

    def _compact(self, entry: Entry) -> bool:
        """The mark and its summary. Whether what is kept can be told: it begins with a message."""
        boundary = entry.boundary
        last = entry.id == self.line.last
        kept = self.line.kept if last else find_kept(self.session, entry.id)
        tail = self.named.get(kept[0]) if kept else None
        if last and kept and tail is None:
            return False
        mark = self._open(entry, "user", f"{entry.id}/mark")
        mark["info"]["model"] = self._find_model()
        part: Json = {"type": "compaction", "auto": boundary is not None and boundary.trigger == "auto"}
        if tail is not None:
            part["tail_start_id"] = tail
        if self.session.format == NAME and boundary is not None:
            part = boundary.extra | part
        self._add(mark, part)
        before, self.asked = self.asked, mark["info"]["id"]
        message = self._answer(entry)
        message["info"] |= {"summary": True, "finish": "stop", "mode": "compaction", "agent": "compaction"}
        self.asked = before
        self._add(message, {"type": "text", "text": entry.text})
        return True


def _add_figures(info: Json, usage: Usage | None) -> None:
    """Those of another step: a message tells the sum of its steps."""
    if usage is None:
        return
    own, more = info["tokens"], _write_tokens(usage)
    own["cache"] = {name: count + more["cache"][name] for name, count in own["cache"].items()}
    for name in ("input", "output", *({"total"} & own.keys() & more.keys())):
        own[name] += more[name]
    info["cost"] += _write_cost(usage)


def _cleared(entry: Entry | None) -> tuple[str, ...]:
    return entry.boundary.cleared if entry is not None and entry.boundary is not None else ()


def _is_own(entry: Entry) -> bool:
    """Whether an entry bears the name of a message."""
    return entry.id.startswith("msg_") and "/" not in entry.id and entry.kind != "micro"


def _write_call(call: ToolCall, answer: ToolOutput | None, time: int) -> Json:
    state: Json = {"status": "pending", "input": call.input}
    if answer is not None:
        output = {"output": answer.text, "title": "", "metadata": {}}
        told = {"error": answer.text} if answer.is_error else output
        status = "error" if answer.is_error else "completed"
        state = {"status": status, "input": call.input, **told, "time": {"start": time, "end": time}}
    return {"type": "tool", "callID": call.id, "tool": call.name, "state": state}


def _write_part(block: Block) -> Json:
    if isinstance(block, Reasoning):
        return {"type": "reasoning", "text": block.text}
    if isinstance(block, Image | Document) and (block.data is not None or block.url is not None):
        held = f"data:{block.media_type or ''};base64,{block.data}" if block.data is not None else block.url
        title = {"filename": block.title} if isinstance(block, Document) and block.title is not None else {}
        return {"type": "file", "mime": block.media_type, "url": held, **title}
    return {"type": "text", "text": block.text}


def _write_tokens(usage: Usage) -> Json:
    told: Json = {"input": usage.input, "output": usage.output, "reasoning": 0}
    told["cache"] = {"read": usage.cache_read, "write": usage.cache_write}
    return told if usage.total is None else told | {"total": usage.total}


def _write_cost(usage: Usage | None) -> Any:
    return 0 if usage is None or usage.cost is None else usage.cost.total
