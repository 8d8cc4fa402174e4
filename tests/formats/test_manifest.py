"""The session manifest: our own JSON form loses nothing, and says what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given

import inspector
from inspector.errors import ManifestVersion, ReadError
from inspector.files import session_schema
from inspector.formats import manifest
from inspector.session.blocks import Text, ToolCall, Unknown
from inspector.session.entries import Entry, Source
from inspector.session.session import Session
from tests.strategies import sessions

SMALL = Session(
    format="demo", entries=(Entry(id="e0", blocks=(Text(text="hi"),), sources=(Source(1, 0, 2),)),), leaf="e0"
)


def dumped(**changes: Any) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(manifest.dump_manifest(SMALL))
    return value | changes


def refusal(value: Any) -> str:
    with pytest.raises(ReadError) as caught:
        manifest.read(json.dumps(value).encode())
    return caught.value.detail


@given(sessions())
def test_any_session_comes_back_as_it_was(session: Session) -> None:
    text = manifest.dump_manifest(session)
    assert text.isascii()
    assert manifest.sniff(text.encode()) is None
    again = manifest.read(text.encode())
    assert again == session
    assert again.path == session.path
    assert again.live.entries.tolist() == session.live.entries.tolist()


_PUBLISHED = json.loads(
    Path(inspector.__file__).with_name("session-manifest-1.schema.json").read_text("utf-8")
)
_SCHEMA = jsonschema.Draft202012Validator(_PUBLISHED)


@given(sessions())
def test_the_published_schema_describes_what_is_written(session: Session) -> None:
    _SCHEMA.validate(json.loads(manifest.dump_manifest(session)))


def test_the_published_schema_is_a_schema_and_refuses_a_stranger() -> None:
    jsonschema.Draft202012Validator.check_schema(_PUBLISHED)
    assert not _SCHEMA.is_valid(dumped(surprise=1))


def test_halves_of_surrogate_pairs_survive_in_texts_names_and_keys() -> None:
    blocks = (
        Text(text="a\ud83d"),
        ToolCall(id="\udc00", name="x", input={"\ud800": "\udfff"}),
        Unknown(raw=["\ud83d"]),
    )
    session = Session(
        format="demo", entries=(Entry(id="\ud800", blocks=blocks, extra={"\ud800": 1}),), leaf="\ud800"
    )
    assert manifest.read(manifest.dump_manifest(session).encode()) == session


def test_a_newer_version_is_named() -> None:
    with pytest.raises(
        ManifestVersion, match=r"session-manifest/2, and this package knows session-manifest/1"
    ):
        manifest.read(json.dumps(dumped(manifest="session-manifest/2")).encode())
    assert manifest.sniff(json.dumps(dumped(manifest="session-manifest/2")).encode()) is None


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"surprise": 1}, "surprise is not a field of this form"),
        ({"format": 7}, "format must be a string"),
        ({"format": None}, "format must be a string"),
        ({"entries": {}}, "entries must be a list"),
        ({"entries": [{}]}, "entries[0].id is missing"),
        ({"entries": [{"id": "a", "blocks": [{"kind": "text"}]}]}, "entries[0].blocks[0].text is missing"),
        ({"entries": [{"id": "a", "blocks": [{"text": "x"}]}]}, "entries[0].blocks[0] has no `kind`"),
        (
            {"entries": [{"id": "a", "blocks": [{"kind": "song"}]}]},
            "entries[0].blocks[0] must be one of 'text', ",
        ),
        ({"entries": [{"id": "a", "kind": "song"}]}, "entries[0].kind must be one of 'message', "),
        ({"entries": [{"id": "a", "usage": {"input": "many"}}]}, "entries[0].usage.input must be a number"),
        ({"entries": [{"id": "a", "meta": "perhaps"}]}, "entries[0].meta must be true or false"),
        ({"window": 1.5}, "window must be a whole number"),
        ({"entries": [{"id": "a", "sources": [[1, 2]]}]}, "entries[0].sources[0]"),
        ({"format": 7, "surprise": 1}, "(and 1 more)"),
    ],
)
def test_a_broken_manifest_is_refused_with_its_place_and_a_sentence(
    changes: dict[str, Any], sentence: str
) -> None:
    detail = refusal(dumped(**changes))
    assert sentence in detail
    assert "pydantic" not in detail
    assert "\n" not in detail


@pytest.mark.parametrize(
    "value", [[], 7, None, {}, {"manifest": 1}, {"manifest": "other/1"}, {"format": "demo"}]
)
def test_what_is_no_manifest_is_refused(value: Any) -> None:
    assert manifest.sniff(json.dumps(value).encode()) is not None
    assert "manifest" in refusal(value)


def test_the_published_schema_names_the_fields_the_code_has() -> None:
    def fields(schema: dict[str, Any]) -> dict[str, list[str]]:
        values = {"Session": schema, **schema["$defs"]}
        return {name: sorted(value.get("properties", ())) for name, value in values.items()}

    assert fields(_PUBLISHED) == fields(session_schema())
