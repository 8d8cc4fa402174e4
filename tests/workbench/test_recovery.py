"""The tree of a recovery: the leaf that was removed, the compaction and the retry, recorded and replayed."""

from __future__ import annotations

from typing import Any

import pytest

from inspector import Checkpoint, compact, open_demo, open_session, replay, save_session
from inspector.session.blocks import Text
from inspector.session.entries import Boundary, Entry, Usage
from inspector.session.session import Session
from inspector.summaries.recovery import append_retry
from inspector.workbench.model import WorkbenchModel
from inspector.workbench.payloads.base_payload import to_json
from inspector.workbench.payloads.recovery import describe_recovery, find_refused
from inspector.workbench.payloads.replay import draw_run

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


@pytest.mark.parametrize("usage", [None, Usage(input=9_000, output=210)])
def test_S4_65_the_failed_leaf_stays_in_the_payload_after_a_recorded_recovery(usage: Usage | None) -> None:
    done = recover(fail(talk(300, 500, 900)), usage)
    tree = describe_recovery(done.after, done.entry, "9k → 1k, counted")
    assert tree is not None
    assert [node.kind for node in tree.nodes] == ["leaf", "removed", "compaction"]
    leaf, removed, made = tree.nodes
    assert leaf.title == "user last" and leaf.text == "And the fish market?"
    assert (removed.title, removed.text, removed.usage) == ("failed reply f", TOLD, "no usage reported")
    assert made.text == "9k → 1k, counted"
    expected = "no usage reported" if usage is None else "9k read, 210 written, reported"
    assert made.usage == f"summariser: {expected}"
    reply = Entry(id="again", role="assistant", blocks=(Text(text="Fresh cod."),), usage=Usage(input=800))
    retried = describe_recovery(append_retry(done, [reply]).after, done.entry)
    assert retried is not None
    assert (retried.nodes[-1].title, retried.nodes[-1].text) == ("retry again", "Fresh cod.")
    assert retried.nodes[-1].usage == "request 800, reply 0 reported"


def test_a_file_that_names_no_reason_tells_of_a_recovery_by_the_reply_beside_it() -> None:
    """Flue's own files record no reason: the failed reply is a child of the compaction's parent."""
    entries = fail(talk(200, 300)).entries
    text = (Text(text="[Context Summary]\n\nSo far."),)
    made = {
        "kind": "compaction",
        "blocks": text,
        "boundary": Boundary(first_kept="last", tokens_before=9_000),
    }
    after = Entry(id="c", parent="last", **made)
    session = Session(format="flue", entries=(*entries, after), leaf="c")
    assert {name: found.id for name, found in find_refused(session).items()} == {"c": "f"}
    tree = describe_recovery(session, "c")
    assert tree is not None and [node.kind for node in tree.nodes] == ["leaf", "removed", "compaction"]


@pytest.mark.parametrize("error", ["overloaded_error: try again", "429 rate limit: too many tokens a minute"])
def test_another_failure_beside_a_compaction_is_no_recovery(error: str) -> None:
    entries = fail(talk(200, 300), error).entries
    made = Entry(id="c", parent="last", kind="compaction", boundary=Boundary(first_kept="last"))
    session = Session(format="flue", entries=(*entries, made), leaf="c")
    assert describe_recovery(session, "c") is None
    threshold = Session(format="flue", entries=(*talk(200), made), leaf="c")
    assert describe_recovery(threshold, "c") is None


def test_S4_65_the_screen_is_sent_the_tree_and_the_reason_of_the_recorded_compaction(tmp_path: Any) -> None:
    done = recover(fail(talk(900, 1_500, 1_800, usage=False)))
    reply = Entry(id="again", role="assistant", blocks=(Text(text="Fresh cod."),), usage=Usage(input=4_000))
    save_session(append_retry(done, [reply]).after, tmp_path / "tides.jsonl")
    model = WorkbenchModel(open_session(tmp_path / "tides.jsonl"))
    picture = model.answer({"at": "last"})
    (mark,) = picture["_scene"]["boundaries"]
    assert mark["trigger"] == "overflow" and " · overflow · " in mark["name"]
    drawn = picture["_recorded"]
    assert [node["kind"] for node in drawn["recovery"]["nodes"]][:3] == ["leaf", "removed", "compaction"]
    assert "(overflow)" in drawn["gauge"]["words"]
    # One number for one size: the row of the compaction and its button say the same.
    assert drawn["recovery"]["nodes"][2]["text"].split(",")[0] == mark["name"].split(" · ")[-1]


def test_a_secret_in_a_long_error_is_not_shown() -> None:
    done = recover(fail(talk(300, 500, 900), f"{TOLD} key {SECRET} " + "and so on " * 20))
    tree = describe_recovery(done.after, done.entry)
    assert tree is not None
    assert SECRET not in str(to_json(tree)) and "redacted" in str(to_json(tree))


@pytest.mark.parametrize("kind", ["token_overflow", "byte_overflow"])
def test_S4_65_a_replayed_recovery_has_its_tree_at_each_of_its_events(kind: str) -> None:
    session = Session(format="flue", entries=tuple(talk(300, 500, 900, 40)), leaf="last")
    acts = {"acts": [{"at": "a3", "do": kind}]}
    run = replay(session, "flue", acts, settings={"keep-recent-tokens.tokens": 200})
    payload = draw_run(run).payload
    (tree,) = payload.recoveries
    assert [node.kind for node in tree.nodes] == ["leaf", "removed", "compaction", "retry"]
    assert tree.nodes[0].title == "user u3"
    assert tree.nodes[1].text.startswith("400: " if kind == "token_overflow" else "413: ")
    (made,) = run.compactions
    assert tree.nodes[2].usage.startswith(f"{made.calls} summariser call")
    kinds = [event.kind for event in payload.events[tree.first : tree.last + 1]]
    assert kinds[0] == kind and "leaf_removed" in kinds and "completed" in kinds


def test_a_recovery_that_fails_or_is_refused_again_says_so() -> None:
    session = Session(format="flue", entries=tuple(talk(300, 500, 900, 40)), leaf="last")
    small = {"keep-recent-tokens.tokens": 200}
    twice = replay(session, "flue", {"acts": [{"at": "a3", "do": "token_overflow"}] * 2}, settings=small)
    first, second = draw_run(twice).payload.recoveries
    assert [node.text for node in first.nodes][-1] == "Refused again."
    assert [node.title for node in second.nodes][-1] == "the error surfaces"
    fails = {"acts": [{"at": "a3", "do": "token_overflow"}], "writer": {"fails": 99}}
    (failed,) = draw_run(replay(session, "flue", fails, settings=small)).payload.recoveries
    assert [node.kind for node in failed.nodes] == ["leaf", "removed", "failed", "failed"]
    assert draw_run(replay(session, "flue", settings=small)).payload.recoveries == []


def test_the_demo_has_no_recovery() -> None:
    session = open_demo()
    names = [entry.id for entry in session.entries if entry.boundary is not None]
    assert names and all(describe_recovery(session, name) is None for name in names)
