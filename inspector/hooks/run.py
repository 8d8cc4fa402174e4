"""I/O: answer one event of a harness: stdin in, at most one text out, and exit code 0 whatever happens.

Any error, odd input or late answer ends with exit code 0, both streams empty and one line in the log.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from .payload import CLAUDE, CODEX, MOST_BYTES, HookPayload, parse_payload
from .state import HookState, find_state_folder, log_failure, prune, read_pins

DEADLINE = "COMPACTION_INSPECTOR_DEADLINE"
"""The environment variable that sets another number of seconds."""
_SECONDS = {"PreCompact": 8.0, "SessionStart": 5.0, "PostCompact": 15.0, "UserPromptSubmit": 5.0}
"""Below the times that `install.py` asks the host for."""
_READING = 5.0
"""Seconds in which stdin must end."""
FRESH = 900.0
"""Seconds after which a snapshot belongs to an earlier compaction."""


def _set_deadline(event: str, seconds: float) -> None:
    """End the process in silence after these seconds, even in the middle of a search; 0: never."""

    def end(number: int, frame: FrameType | None) -> None:
        log_failure(event, "ended by SIGTERM" if number == signal.SIGTERM else "took too long")
        os._exit(0)

    signal.signal(signal.SIGTERM, end)
    if hasattr(signal, "setitimer"):  # Windows has no alarm: there the host's own time ends it
        signal.signal(signal.SIGALRM, end)
        signal.setitimer(signal.ITIMER_REAL, seconds and float(os.environ.get(DEADLINE) or seconds))


def run_hook() -> None:
    """Answer the event on stdin, and end the process."""
    event = "start"
    output = ""
    try:
        os.umask(0o077)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        _set_deadline("stdin", _READING)
        payload = parse_payload(_read_input(), os.environ)
        if payload is not None and payload.event in _ANSWERS:
            event = payload.event
            _set_deadline(event, _SECONDS[event])
            state = HookState(find_state_folder(), payload.session)
            if not payload.harness:  # an event without marks of its harness: the session may have been seen
                payload = payload._replace(harness=str(state.read("snapshot.json").get("harness", "")))
            if payload.harness in (CLAUDE, CODEX):
                output = _ANSWERS[event](payload, state)
        _set_deadline(event, 0)
        if output:
            os.write(1, output.encode("utf-8", "replace"))
    except BaseException as error:
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        where = f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace else ""
        log_failure(event, f"{type(error).__name__} {where}")
    os._exit(0)


def _read_input() -> bytes:
    """Read stdin to its end, so that the harness can write it, and keep what may be an event."""
    parts, size = list[bytes](), 0
    while part := os.read(0, 1 << 16):
        size += len(part)
        if size <= MOST_BYTES + (1 << 16):
            parts.append(part)
    return b"".join(parts)


def _before_compaction(payload: HookPayload, state: HookState) -> str:
    """Take the snapshot, and return the focus text for Claude Code, whose summariser may read it."""
    from .given_back import write_focus_text
    from .snapshot import make_snapshot
    from .transcript import find_transcript, read_conversation

    path = find_transcript(payload.transcript, payload.session, payload.harness)
    if path is None:
        raise FileNotFoundError("no session file")
    talk = read_conversation(path, payload.harness)
    snapshot = make_snapshot(payload, talk, str(path), read_pins(payload.cwd), time.time())
    try:
        with state.lock():
            if not state.is_new_event(f"PreCompact {talk.size}"):
                return ""
            state.write("snapshot.json", snapshot)
        prune(state.root)
    except OSError as error:  # a state that cannot be written takes nothing from the focus text
        log_failure(payload.event, type(error).__name__)
    text = write_focus_text(snapshot, payload.text("custom_instructions"))
    return text if payload.harness == CLAUDE else ""


def _after_compaction(payload: HookPayload, state: HookState) -> str:
    """Give pins and rules back at the start of the session after a compaction."""
    snapshot = _read_fresh(state) if payload.text("source") == "compact" else {}
    if not snapshot:
        return ""
    from .given_back import write_given_back

    text = write_given_back(snapshot)
    with state.lock():
        is_new = bool(text) and state.is_new_event(f"SessionStart {snapshot['time']}")
    return _in_envelope(payload.event, text) if is_new else ""


def _read_fresh(state: HookState) -> dict[str, Any]:
    """Return the snapshot of the compaction that runs; {} if the last one is of an earlier compaction."""
    snapshot = state.read("snapshot.json")
    return snapshot if snapshot and 0 <= time.time() - float(snapshot["time"]) <= FRESH else {}


def _summarised(payload: HookPayload, state: HookState) -> str:
    """Write the report. The summary is the event's; Codex gives none, so its file is read."""
    snapshot, summary = _read_fresh(state), payload.text("compact_summary")
    if snapshot or summary:
        _report(payload, state, snapshot, summary)
    return ""


def _report(payload: HookPayload, state: HookState, snapshot: dict[str, Any], summary: str) -> None:
    """Write the report of the compaction after a snapshot; without one, it is taken now."""
    from .conversation import Conversation
    from .report import make_report, write_page
    from .snapshot import make_snapshot
    from .transcript import find_transcript, read_conversation

    path = find_transcript(payload.transcript, payload.session, payload.harness)
    talk = read_conversation(path, payload.harness) if path is not None else Conversation()
    if not snapshot:
        snapshot = make_snapshot(payload, talk, str(path or ""), read_pins(payload.cwd), time.time())
        state.write("snapshot.json", snapshot)
    is_newer = talk.boundary >= int(snapshot["size"]) > 0
    if not summary and not is_newer:
        return
    summary = summary or talk.summary
    retained = talk.retained if is_newer else ""
    report = make_report(snapshot, summary, retained, talk.has_typed, sealed=is_newer and talk.sealed)
    with state.lock():
        old = state.read("report.json")
        report["reported"] = old.get("snapshot") == report["snapshot"] and old.get("reported") is True
        state.write("report.md", write_page(report))
        state.write("report.json", report)


def _prompted(payload: HookPayload, state: HookState) -> str:
    """Report the losses of the last compaction once, with the next prompt."""
    if not state.folder.is_dir():
        return ""
    from .transcript import was_compacted

    snapshot, report = state.read("snapshot.json"), state.read("report.json")
    if snapshot and float(report.get("snapshot", -1)) != float(snapshot["time"]):
        size = int(snapshot["size"])
        if not size or not was_compacted(Path(snapshot["path"]), payload.harness, size):
            return ""
        _report(payload, state, snapshot, "")
        report = state.read("report.json")
    if not report or report.get("reported"):
        return ""
    from .report import write_losses

    with state.lock():
        report = state.read("report.json")
        text = "" if report.get("reported") else write_losses(report, str(state.folder / "report.md"))
        state.write("report.json", {**report, "reported": True})
    return _in_envelope(payload.event, text) if text else ""


def _in_envelope(event: str, text: str) -> str:
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}})


_ANSWERS: dict[str, Callable[[HookPayload, HookState], str]] = {
    "PreCompact": _before_compaction,
    "SessionStart": _after_compaction,
    "PostCompact": _summarised,
    "UserPromptSubmit": _prompted,
}
