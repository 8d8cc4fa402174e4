"""A file that grows is read as it grows: the session is always the one that all of the file would give."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import inspector.files
from inspector.errors import EmptySession
from inspector.files import FollowedFile, open_session
from inspector.formats.incremental import IncrementalReader
from inspector.formats.readers import READERS, read_session
from inspector.session.session import Session

from shared import SHARED, needs_shared

Row = dict[str, Any]
CLAUDE, PI = "claude-code", "pi"
READER = {reader.name: reader for reader in READERS}
SERIES = SHARED / "sessions" / "growth-series--entireio-cli"

# -- transcripts: any rows, in any order, with parents that may be there or not -----------------------------

names = st.sampled_from([f"u{i}" for i in range(8)])
parents = st.none() | names
calls = st.sampled_from(["c1", "c2", "c3"])
words = st.sampled_from(["Hello", "日本語の説明 😀", 'a\\b "c" \u2028', "", "x" * 300])
links = st.fixed_dictionaries({"uuid": names, "parentUuid": parents})
lanes = st.sampled_from([{}, {}, {}, {"isSidechain": True}, {"isSidechain": True, "agentId": "g"}])
extent = st.fixed_dictionaries({"headUuid": names, "tailUuid": names, "anchorUuid": names})
metadata = st.fixed_dictionaries(
    {"trigger": st.just("auto"), "preTokens": st.just(1000)},
    optional={
        "preservedSegment": extent,
        "preservedMessages": st.fixed_dictionaries(
            {"uuids": st.lists(names, max_size=3), "anchorUuid": names}
        ),
    },
)


def _talk(
    kind: str, content: st.SearchStrategy[Any], **more: st.SearchStrategy[Any]
) -> st.SearchStrategy[Row]:
    message = st.fixed_dictionaries({"content": content, **more})
    row = st.fixed_dictionaries({"type": st.just(kind), "message": message})
    return st.builds(lambda *parts: {k: v for part in parts for k, v in part.items()}, row, links, lanes)


usage = st.fixed_dictionaries({"input_tokens": st.integers(-1, 9), "output_tokens": st.integers(0, 9)})
claude_rows = st.one_of(
    _talk("user", words),
    _talk(
        "user",
        st.lists(
            st.builds(
                lambda name, text: {"type": "tool_result", "tool_use_id": name, "content": text}, calls, words
            ),
            min_size=1,
            max_size=2,
        ),
    ),
    _talk(
        "assistant",
        st.lists(
            st.builds(lambda name: {"type": "tool_use", "id": name, "name": "Read", "input": {}}, calls)
            | st.builds(lambda text: {"type": "text", "text": text}, words),
            max_size=2,
        ),
        id=st.sampled_from(["m1", "m2", "m3"]),
        usage=usage,
    ),
    st.builds(
        lambda link, told, above: {
            "type": "system",
            "subtype": "compact_boundary",
            "compactMetadata": told,
            "logicalParentUuid": above,
            **link,
        },
        links,
        metadata,
        parents,
    ),
    st.builds(lambda row: row | {"isCompactSummary": True}, _talk("user", words)),
    st.builds(
        lambda link, ids: {
            "type": "system",
            "subtype": "microcompact_boundary",
            "microcompactMetadata": {"compactedToolIds": ids},
            **link,
        },
        links,
        st.lists(calls, max_size=2),
    ),
    st.builds(lambda link: {"type": "progress", **link}, links),
    st.builds(lambda name: {"type": "summary", "summary": "A title", "leafUuid": name}, names),
    st.just({"type": "user"}),
)
pi_links = st.fixed_dictionaries({}, optional={"id": names, "parentId": parents})
pi_rows = st.one_of(
    st.builds(lambda link, role, text: {"type": "message", "message": {"role": role, "content": text}} | link,
              pi_links, st.sampled_from(["user", "assistant", "toolResult"]), words),
    st.builds(lambda link, text, kept: {"type": "compaction", "summary": text, "firstKeptEntryId": kept}
              | link, pi_links, words, names),
    st.builds(lambda link, name: {"type": "label", "label": name, **link}, pi_links, names),
    st.builds(lambda link: {"type": "model_change", "modelId": "m", **link}, pi_links),
    st.just({"type": "session", "id": "s", "timestamp": "2026-01-01T00:00:00Z"}),
    st.just({"message": {}}),
)  # fmt: skip
junk = st.sampled_from([b"", b"   ", b"{", b"17", b"null", b"\xff\xfe", b'{"type": "user"} {}', b"[1, 2]"])


@st.composite
def files(draw: st.DrawFn, rows: st.SearchStrategy[Row]) -> bytes:
    """A file of lines, with or without a byte order mark and a last line end."""
    lines = []
    for row in draw(st.lists(st.one_of(rows, rows, rows, rows, junk), min_size=4, max_size=20)):
        plain = draw(st.booleans())
        line = (
            row if isinstance(row, bytes) else json.dumps(row, ensure_ascii=plain).encode("utf-8", "replace")
        )
        lines.append(line + draw(st.sampled_from([b"\n", b"\n", b"\r\n"])))
    data = draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf"])) + b"".join(lines)
    return data.rstrip() if draw(st.booleans()) else data


def pieces(draw: st.DrawFn, data: bytes) -> list[int]:
    """Where a file stood at each look: anywhere, in the middle of a character too."""
    return [*sorted(draw(st.lists(st.integers(0, len(data)), min_size=2, max_size=8))), len(data)]


def whole(data: bytes, format: str) -> Session | str:
    """The session in all of it, or why there is none."""
    return attempt(lambda: read_session(data, "data", format))


def attempt(make: Callable[[], Session]) -> Session | str:
    try:
        return make()
    except EmptySession:
        return "nobody says anything"


@pytest.mark.parametrize(("format", "rows"), [(CLAUDE, claude_rows), (PI, pi_rows)])
@given(data=st.data())
def test_a_growing_file_of_lines_gives_what_reading_it_anew_gives(
    format: str, rows: st.SearchStrategy[Row], data: st.DataObject
) -> None:
    content = data.draw(files(rows))
    growth, before = IncrementalReader(READER[format]), None
    for end in data.draw(st.composite(pieces)(content)):
        seen = content[:end]
        if not growth.continues(seen[growth.offset :]):
            growth = IncrementalReader(READER[format])
            before = None
        changed = growth.feed(seen[growth.offset :])
        after = attempt(growth.make_session)
        assert after == whole(seen, format)
        assert changed or before in (None, after)
        assert growth.offset <= len(seen)
        before = after


# -- files -------------------------------------------------------------------------------------------------


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small files are followed like large ones."""
    monkeypatch.setattr(inspector.files, "HEAD", 0)
    monkeypatch.setattr(inspector.files, "LINES", 0)


def say(uuid: str, parent: str | None, text: str = "Hello") -> bytes:
    row = {"type": "user", "uuid": uuid, "parentUuid": parent, "message": {"content": text}}
    return json.dumps(row, ensure_ascii=False).encode() + b"\n"


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Bytes that were decoded, look by look."""
    taken: list[int] = []
    feed = IncrementalReader.feed

    def note(growth: IncrementalReader, data: bytes) -> bool:
        taken.append(len(data))
        return feed(growth, data)

    monkeypatch.setattr(IncrementalReader, "feed", note)
    return taken


@pytest.mark.usefixtures("settled")
def test_only_what_is_new_is_read(tmp_path: Path, reads: list[int]) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(say("a", None) + say("b", "a"))
    tail = FollowedFile(path)
    assert tail.poll() is None
    more = say("c", "b", "日本語")
    append(path, more[:-7])
    half = tail.poll()
    assert half is not None and [each.reason for each in half.corrupt] == ["the last line is not finished"]
    assert tail.poll() is None
    append(path, more[-7:-5])
    assert tail.poll() is None
    append(path, more[-5:])
    done = tail.poll()
    assert done is not None and done == open_session(path)
    assert [entry.text for entry in done.entries] == ["Hello", "Hello", "日本語"]
    assert reads == [len(say("a", None) + say("b", "a")), len(more) - 7, len(more) - 5, len(more)]
    # Nothing of what was there before is made again.
    assert done.entries[0] is half.entries[0]


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("keeps", [True, False])
def test_a_file_cut_short_or_put_in_its_place_is_read_anew(tmp_path: Path, keeps: bool) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(say("a", None) + say("b", "a"))
    tail = FollowedFile(path)
    long = b"".join(say(f"x{i}", f"x{i - 1}" if i else None) for i in range(30))
    for content in (say("a", None), long, long.replace(b"Hello", b"Howdy"), say("z", None)):
        if keeps:
            path.write_bytes(content)
        else:
            (tmp_path / "new").write_bytes(content)
            (tmp_path / "new").replace(path)
        os.utime(path, ns=(1, int.from_bytes(os.urandom(6), "big")))
        assert tail.poll() == open_session(path) == tail.session
        assert tail.poll() is None


@needs_shared
def test_a_real_session_is_followed_through_its_growth(tmp_path: Path, reads: list[int]) -> None:
    stages = [path.read_bytes() for path in sorted(SERIES.glob("*.jsonl"))]
    assert len(stages) == 3 and all(not stage.endswith(b"\n") for stage in stages)
    path = tmp_path / "session.jsonl"
    path.write_bytes(stages[0])
    tail, size = FollowedFile(path), len(stages[0])
    for stage in stages[1:]:
        for end in looks(stage, size, 6):
            append(path, stage[size:end])
            size = end
            tail.poll()
            assert tail.session == open_session(path)
        assert path.read_bytes() == stage
        assert tail.session.corrupt == ()
    # Once its size settles the format, it is not read from the beginning again.
    assert len(reads) == 15 and max(reads[-7:]) < len(stages[2]) - len(stages[1])


def looks(data: bytes, start: int, count: int) -> list[int]:
    """Sizes a file had at each look, in the middle of lines most of them, and at its end."""
    return [*sorted(random.Random(4).sample(range(start, len(data)), count)), len(data)]
