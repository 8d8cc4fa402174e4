"""Some four hundred damaged files, of every reader's format: cut short, shuffled, with flipped bits, with
values of another type. None breaks a reader, keeps it busy, is taken for another harness's, or loses a row.

They are made of the small sessions of `tests/cases/formats` and of `test_readers`, by chances that are the
same in every run.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from inspector.errors import ReadError
from inspector.formats.manifest import dump_manifest
from inspector.formats.readers import READERS, read_session
from inspector.session.session import Session
from tests.formats.test_every_format import FILES, at_way, check_shape, reader_of
from tests.formats.test_readers import SAMPLES, paths_of, replaced
from tests.work import limit_work

ROUNDS = 3
JUNK: tuple[Any, ...] = (None, True, -1, 1e300, "", "x", [], ["role"], {}, {"type": "text"}, [[["deep"]]])

CORPUS = {name: (name, data) for name, data in SAMPLES.items()} | {
    path.name: (reader_of(path).name, path.read_bytes()) for path in FILES
}


def is_log(data: bytes) -> bool:
    rows = data.split(b"\n")
    return len(rows) > 2 and all(row[:1] == b"{" and row[-1:] == b"}" for row in rows if row)


def cut(data: bytes, chance: Random) -> bytes:
    return data[: chance.randrange(1, len(data))]


def flip(data: bytes, chance: Random) -> bytes:
    """A bit of some bytes is another one."""
    flipped = bytearray(data)
    for _ in range(chance.randrange(1, 6)):
        flipped[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(flipped)


def shuffle(data: bytes, chance: Random) -> bytes:
    """Rows of a log, or the elements of some list of a document, in another order."""
    if is_log(data):
        rows = [row for row in data.split(b"\n") if row]
        chance.shuffle(rows)
        return b"\n".join(rows) + b"\n"
    document = json.loads(data)
    ways = [way for way in paths_of(document) if isinstance(at_way(document, way), list)]
    if not ways:
        return json.dumps(dict(sorted(document.items(), key=lambda _: chance.random()))).encode()
    way = chance.choice(ways)
    items = list(at_way(document, way))
    chance.shuffle(items)
    return json.dumps(replaced(document, way, items)).encode()


def swap(data: bytes, chance: Random) -> bytes:
    """Some values are of another type."""
    log = is_log(data)
    value: Any = [json.loads(row) for row in data.split(b"\n") if row] if log else json.loads(data)
    for _ in range(chance.randrange(1, 4)):
        ways = [way for way in paths_of(value) if way]
        value = replaced(value, chance.choice(ways), chance.choice(JUNK)) if ways else value
    return b"".join(json.dumps(row).encode() + b"\n" for row in value) if log else json.dumps(value).encode()


DAMAGES: tuple[Callable[[bytes, Random], bytes], ...] = (cut, flip, shuffle, swap)


def read_or_refuse(data: bytes, format: str | None) -> Session | None:
    with limit_work():
        try:
            return read_session(data, format=format)
        except ReadError:
            return None


def test_there_are_some_four_hundred() -> None:
    assert {name for name, _ in CORPUS.values()} == {reader.name for reader in READERS}
    assert len(CORPUS) * len(DAMAGES) * ROUNDS >= 400


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
@pytest.mark.parametrize("label", CORPUS)
def test_a_damaged_file_opens_as_what_it_is_or_is_refused(
    label: str, damage: Callable[[bytes, Random], bytes]
) -> None:
    name, data = CORPUS[label]
    for number in range(ROUNDS):
        damaged = damage(data, Random(f"{label} {damage.__name__} {number}"))
        claimed = [reader.name for reader in READERS if reader.sniff(damaged) is None]
        assert set(claimed) <= {name}, damaged[:200]
        recognised, session = read_or_refuse(damaged, None), read_or_refuse(damaged, name)
        assert recognised is None or recognised == session
        # A manifest states the format of the original session.
        assert recognised is None or name == "session-manifest" or recognised.format == name
        if session is None:
            continue
        check_shape(session)
        assert read_session(dump_manifest(session).encode("ascii")) == session
        # A log's rows are each in an entry, a note or among the corrupt ones.
        if is_log(data):
            rows = [number for number, row in enumerate(damaged.split(b"\n"), 1) if row.strip()]
            lines = [source.line for entry in session.entries for source in entry.sources]
            lines += [note.source.line for note in session.notes] + [bad.line for bad in session.corrupt]
            assert sorted(lines) == rows


@pytest.mark.parametrize("label", [label for label, (_, data) in CORPUS.items() if not is_log(data)])
def test_a_document_in_another_order_holds_as_much(label: str) -> None:
    """However its elements stand, each is counted: in an entry, a note or among the corrupt ones."""
    name, data = CORPUS[label]
    whole = read_or_refuse(data, name)
    if whole is None:
        assert label == "cline.json", "it names a session whose messages lie beside it, and holds none"
        return
    for number in range(ROUNDS):
        session = read_or_refuse(shuffle(data, Random(f"{label} order {number}")), name)
        assert session is None or session.records == whole.records


@pytest.mark.parametrize(
    ("label", "way", "junk"),
    [
        ("opencode.json", ("messages", 0, "parts"), 7),
        ("opencode.json", ("messages", 1, "parts"), True),
        ("atif.json", ("steps", 0, "message"), [["deep"]]),
        ("cline.messages.json", ("messages",), 7),
        ("vscode-chat.log.jsonl", (0, "v"), 7),
    ],
)
def test_what_a_longer_run_found_stays_found(label: str, way: tuple[Any, ...], junk: Any) -> None:
    name, data = CORPUS[label]
    log = is_log(data)
    value: Any = [json.loads(row) for row in data.split(b"\n") if row] if log else json.loads(data)
    at_way(value, way)
    changed = replaced(value, way, junk)
    raw = b"\n".join(json.dumps(row).encode() for row in (changed if log else [changed]))
    for requested in (None, name):
        session = read_or_refuse(raw, requested)
        if session is not None:
            check_shape(session)


@pytest.mark.parametrize(
    ("label", "old", "new"),
    [
        ("cline.messages.json", b'"sessionId"', b'"sessiOnId"'),
        ("cline.compaction.json", b'"version"', b'"ve"'),
        ("qwen.jsonl", b'"sessionId"', b'"sess"'),
        ("ai-sdk.model.json", b'"toolName": "weather"', b'"toolName": []'),
    ],
)
def test_a_file_that_lost_a_mark_is_no_one_elses(label: str, old: bytes, new: bytes) -> None:
    name, data = CORPUS[label]
    assert old in data
    claimed = [reader.name for reader in READERS if reader.sniff(data.replace(old, new)) is None]
    assert set(claimed) <= {name}


def test_a_chat_of_qwens_that_begins_with_many_other_rows_is_still_qwens() -> None:
    data = CORPUS["qwen.jsonl"][1]
    about = {"parentUuid": None, "sessionId": "q-1", "type": "system", "subtype": "ui_telemetry"}
    rows = [json.dumps({"uuid": f"t{n}", **about}).encode() + b"\n" for n in range(9)]
    session = read_session(b"".join(rows) + data)
    assert session.format == "qwen"
    assert session.records == read_session(data).records + 9
