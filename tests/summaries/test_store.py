"""A transition on disk: a folder that holds the manifest, the ones before it, and all that left."""

from __future__ import annotations

import json
import os
import threading
from hashlib import sha256
from pathlib import Path

import pytest

from inspector.errors import EscapeError, InspectorError, ReadError, WriteConflict
from inspector.files import open_session
from inspector.policies.policy import Policy
from inspector.policies.rules.spill_outputs import SpillOutputs, find_spills
from inspector.session.blocks import Text, ToolOutput
from inspector.session.entries import Entry
from inspector.session.session import Session
from inspector.summaries.compaction import CompactionResult, compact
from inspector.summaries.store import ARCHIVE, CURRENT, EARLIER, Saved, hold, open_earlier, save_compaction
from tests.summaries.test_compaction import SMALL, turns, write
from tests.test_cuts import build, call, say, user

KEY = "sk-ant-api03-" + "aB3dE5gH7jK9mN1pQ3sT5vX7zA2cE4gH6jK8mN0pR2tV4xZ6" * 2


def done(session: Session | None = None) -> CompactionResult:
    return compact(session or turns("one", "two", "three"), "flue", write, edits=SMALL)


def save(tmp_path: Path, transition: CompactionResult | None = None) -> Saved:
    return save_compaction(transition or done(), tmp_path / "s")


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} - {".lock"}


def test_what_goes_on_is_the_manifest_and_what_was_before_is_named_in_it(tmp_path: Path) -> None:
    transition = done()
    saved = save(tmp_path, transition)
    after = open_session(saved.manifest)
    assert after.entries == transition.after.entries
    assert after.leaf == transition.after.leaf
    assert after.extra == {"previous": saved.earlier.name}
    assert open_earlier(saved.manifest) == transition.session
    assert saved.earlier.stem == sha256(saved.earlier.read_bytes()).hexdigest()
    with pytest.raises(ReadError, match="names no earlier"):
        open_earlier(saved.earlier)


def test_S3_34_what_left_is_archived_once_under_its_hash(tmp_path: Path) -> None:
    transition = done()
    saved = save(tmp_path, transition)
    assert saved.archive is not None
    record = json.loads(saved.archive.read_bytes())
    assert tuple(entry["id"] for entry in record["omitted"]) == transition.archived
    assert saved.archive.stem == sha256(saved.archive.read_bytes()).hexdigest()
    stood = saved.archive.stat().st_mtime_ns
    saved.manifest.write_bytes(saved.earlier.read_bytes())
    assert save(tmp_path, transition).archive == saved.archive
    assert saved.archive.stat().st_mtime_ns == stood
    assert len(list(saved.archive.parent.iterdir())) == 1


def test_the_earlier_manifest_is_kept_and_opened(tmp_path: Path) -> None:
    one = save(tmp_path, done())
    two = save(tmp_path, compact(open_session(one.manifest), "claude-code-analysis", write))
    assert open_earlier(two.manifest) == open_session(one.earlier.parent / two.earlier.name)
    with pytest.raises(ReadError, match="names no earlier"):
        open_earlier(one.earlier)


def test_a_second_writer_is_told_so_and_writes_nothing(tmp_path: Path) -> None:
    save(tmp_path)
    before = {name: (tmp_path / "s" / name).read_bytes() for name in files(tmp_path / "s")}
    # Another session, or the same gone on otherwise, is not what stands there.
    for other in (done(turns("other", "words", "here")), done()):
        with pytest.raises(WriteConflict, match="not the session that was compacted"):
            save(tmp_path, other)
    with hold(tmp_path / "s"), pytest.raises(WriteConflict, match="another writer is at work"):
        save(tmp_path)
    assert {name: (tmp_path / "s" / name).read_bytes() for name in files(tmp_path / "s")} == before


def test_of_two_writers_at_once_one_writes_and_the_other_is_told(tmp_path: Path) -> None:
    for number in range(5):
        folder, outcomes, gate = tmp_path / str(number), [], threading.Barrier(2)

        def work(
            folder: Path = folder, outcomes: list[str] = outcomes, gate: threading.Barrier = gate
        ) -> None:
            transition = done()
            gate.wait()
            try:
                save_compaction(transition, folder)
                outcomes.append("saved")
            except InspectorError as error:
                outcomes.append(type(error).__name__)

        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(outcomes) == ["WriteConflict", "saved"]
        assert open_earlier(folder / CURRENT) == done().session


def spilling(folder: str, call_id: str = "c1") -> CompactionResult:
    big = ToolOutput(call_id=call_id, parts=(Text(text="line\n" * 2000),))
    session = build(user("go"), call(call_id), Entry(id="", role="tool", blocks=(big,)), say("ok"))
    rule = SpillOutputs(budget=1000, preview=10, exempt_tools=(), folder=folder)
    return compact(session, Policy(name="spill", rules=(rule,)))


def test_S2_49_a_spilled_output_is_a_file_beside_the_manifest_that_names_it(tmp_path: Path) -> None:
    done = spilling("tool-results", "../../up")
    saved = save(tmp_path, done)
    (place,) = saved.outputs
    assert place.read_bytes() == b"line\n" * 2000
    assert place.parent == tmp_path / "s" / "tool-results"
    (rule,) = done.plan.policy.rules
    assert isinstance(rule, SpillOutputs)
    (spill,) = find_spills(rule, done.plan.table)
    assert sha256(place.read_bytes()).hexdigest() == spill.sha256
    # The message names the file, and shows how it begins.
    (output,) = [b for b in open_session(saved.manifest).entries[-2].blocks if isinstance(b, ToolOutput)]
    named = place.relative_to(tmp_path / "s").as_posix()
    assert output.text == f"[10,000 characters of output are in {named}; they begin:]\nline\nline\n"


@pytest.mark.parametrize(
    "folder",
    [
        "..",
        "../up",
        "a/../../up",
        "/tmp/up",
        "a\\..\\..\\up",
        "C:/up",
        EARLIER,
        ARCHIVE,
        "Earlier/x",
        ".lock",
        CURRENT,
    ],
)
def test_a_spilled_output_cannot_leave_the_folder(tmp_path: Path, folder: str) -> None:
    with pytest.raises(EscapeError, match="is not inside"):
        save(tmp_path, spilling(folder))
    assert files(tmp_path) == {"s/.lock"}


def test_a_spilled_output_follows_no_link_out_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "tool-results").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(EscapeError):
        save(tmp_path, spilling("tool-results"))
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_no_file_holds_a_secret_and_what_was_taken_out_is_told(tmp_path: Path) -> None:
    words = [f"export ANTHROPIC_API_KEY={KEY}", "two", "three"]
    session = build(*(part for word in words for part in (user(word), say(f"{word} " + "x" * 200))))
    transition = compact(session, "flue", lambda job, session: f"the key is {KEY}", edits=SMALL)
    saved = save(tmp_path, transition)
    assert [item.grade for item in saved.redacted] == ["secret"]
    for name in files(tmp_path / "s"):
        assert KEY.encode() not in (tmp_path / "s" / name).read_bytes(), name
    again = compact(open_session(saved.manifest), "claude-code-analysis", write)
    assert save(tmp_path, again).redacted == ()
    kept = save_compaction(transition, tmp_path / "k", keep_secrets=True)
    assert KEY.encode() in kept.manifest.read_bytes()


def test_a_lock_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / ".lock").symlink_to(tmp_path / "victim")
    with pytest.raises(OSError, match=r"\.lock"):
        save(tmp_path)
    assert not os.path.lexists(tmp_path / "victim")
