"""The tree of a recovery: the leaf that was removed, the compaction and the retry, recorded and replayed."""

from __future__ import annotations

from typing import Any

from inspector import Checkpoint, compact, export_session, read_session
from inspector.session.blocks import Text
from inspector.session.entries import Entry, Usage
from inspector.session.session import Session
from inspector.summaries.recovery import append_retry
from inspector.workbench.payloads.base_payload import to_json
from inspector.workbench.payloads.recovery import describe_recovery

TOLD = "prompt is too long: 213462 tokens > 200000 maximum"
SECRET = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"


def talk(*turns: int, usage: bool = True) -> list[Entry]:
    """Turns of so many words, each a child of the one before; the last question has no reply."""
    entries: list[Entry] = []
    for n, words in enumerate(turns):
        parent = entries[-1].id if entries else None
        entries.append(Entry(id=f"u{n}", parent=parent, blocks=(Text(text=f"Month {n}? " + "tide " * 20),)))
        reply = Text(text=f"Month {n}: " + "high water " * words)
        spent = Usage(input=4_000 * (n + 1), output=2 * words) if usage else None
        replied = {"role": "assistant", "stop_reason": "stop", "blocks": (reply,), "usage": spent}
        entries.append(Entry(id=f"a{n}", parent=f"u{n}", **replied))
    return [*entries, Entry(id="last", parent=entries[-1].id, blocks=(Text(text="And the fish market?"),))]


def fail(entries: list[Entry], error: str = TOLD, **more: Any) -> Session:
    refused = {"role": "assistant", "stop_reason": "error", "error": error} | more
    return Session(format="flue", entries=(*entries, Entry(id="f", parent="last", **refused)), leaf="f")


def recover(session: Session, usage: Usage | None = None) -> Any:
    summary = Checkpoint(text="So far: six months.", usage=usage)
    settings = {"settings": {"keep-recent-tokens.tokens": 200}}
    done = compact(session, "flue", summary, reason="overflow", failed="f", edits=settings)
    assert done.done, done.why
    return done


def test_S4_64_a_retry_is_still_one_in_a_file_that_flue_reads() -> None:
    done = recover(fail(talk(300, 500, 900)))
    reply = Entry(
        id="again", role="assistant", stop_reason="stop", blocks=(Text(text="The market is open."),)
    )
    session = read_session(export_session(append_retry(done, [reply]).after, "flue"))
    marked = [entry.text for entry in session.entries if entry.extra.get("source") == "retry"]
    assert marked == ["The market is open."]
    # A word of another harness is none of Flue's.
    other = reply.model_copy(update={"extra": {"source": "vscode"}})
    bare = Session(
        format="copilot", entries=(*talk(3)[:1], other.model_copy(update={"parent": "u0"})), leaf="again"
    )
    assert b"vscode" not in export_session(bare, "flue")


def test_a_secret_in_a_long_error_is_not_shown() -> None:
    done = recover(fail(talk(300, 500, 900), f"{TOLD} key {SECRET} " + "and so on " * 20))
    tree = describe_recovery(done.after, done.entry)
    assert tree is not None
    assert SECRET not in str(to_json(tree)) and "redacted" in str(to_json(tree))
