"""Session manifests: a `Session` as JSON, written and read without loss.

The form is `Session.model_dump` in ASCII-only JSON, so halves of surrogate pairs survive. It is closed:
a field this package does not know is an error that names the field.
"""

from __future__ import annotations

import re
from typing import Any

from pydantic import ValidationError

from ..errors import ManifestVersion
from ..session.blocks import KINDS
from ..session.json_text import dump_lossless
from ..session.session import MANIFEST, Session
from .json_document import FILE, load, refuse, sniff_document
from .json_lines import Data, Reader

NAME = "session-manifest"
_REFUSAL = "it has no field `manifest` that names a session manifest"
_MARK = re.compile(rb'"manifest"\s*:\s*"session-manifest/')
_SAYINGS = {
    "missing": "is missing",
    "extra_forbidden": "is not a field of this form",
    "is_instance_of": "must be a string",
    "string_type": "must be a string",
    "string_unicode": "must be valid Unicode",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "tuple_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "union_tag_not_found": "has no `kind`",
}


def dump_manifest(session: Session) -> str:
    """Return the session as JSON.

    >>> from inspector.session.entries import Entry
    >>> session = Session(format="demo", entries=(Entry(id="\\ud83d"),))
    >>> read(dump_manifest(session).encode()) == session
    True
    """
    fields = session.model_dump()
    # Earlier versions refuse fields that they do not know.
    for name in ("labels", "judgements", "totals"):
        if not fields[name]:
            del fields[name]
    replies = [
        *fields["entries"],
        *(r for agent in fields["subagents"] for r in (*agent["replies"], *agent["results"])),
    ]
    for usage in (entry["usage"] for entry in replies):
        if usage is not None and usage["terms"] is None:
            del usage["terms"]
    return dump_lossless(fields)


def session_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of the session manifest."""
    schema = Session.model_json_schema(mode="serialization")
    for part in (schema, *schema["$defs"].values()):
        # The schema is for readers in any language: remove the Python examples from the descriptions.
        if "description" in part:
            part["description"] = part["description"].partition("\n\n>>> ")[0]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        # A name, not an address: nothing is fetched to check a manifest.
        "$id": "urn:compaction-inspector:" + MANIFEST.replace("/", ":"),
        **schema,
    }


def sniff(data: Data) -> str | None:
    """Return None for an object whose field `manifest` names this format, in any version."""
    return sniff_document(data, lambda value: _judge(value, data))


def _judge(value: Any, data: Data) -> str | None:
    if not isinstance(value, dict):
        return "not a JSON object"
    if _is_ours(value.get("manifest")):
        return None
    # Another tool may have sorted the fields, so that megabytes of entries come before `manifest`.
    if "manifest" not in value and "entries" in value and _MARK.search(data):
        return None
    return _REFUSAL


def _is_ours(version: Any) -> bool:
    return isinstance(version, str) and version.startswith("session-manifest/")


def read(data: Data) -> Session:
    """Read the session. Raises `ReadError`, or `ManifestVersion` for another version."""
    value = load(data)
    version = value.get("manifest") if isinstance(value, dict) else None
    if not _is_ours(version):
        raise refuse(_REFUSAL)
    if version != MANIFEST:
        raise ManifestVersion(FILE, detail=f"{version}, and this package knows {MANIFEST}")
    try:
        return Session.model_validate(value)
    except ValidationError as error:
        raise refuse(_explain(error)) from None


def _explain(error: ValidationError) -> str:
    """Return a sentence about the first validation error, and the number of errors."""
    faults = {_path(fault["loc"]): fault for fault in reversed(error.errors(include_url=False))}
    path, first = list(faults.items())[-1]
    kind, more = first["type"], f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    if first["loc"] and first["loc"][-1] in _NUMBERS:
        saying = "must be a number"
    elif kind in ("union_tag_invalid", "literal_error"):
        saying = f"must be one of {first['ctx'].get('expected_tags') or first['ctx'].get('expected')}"
    else:
        saying = _SAYINGS.get(kind) or first["msg"].lower()
    return f"{path} {saying}{more}"


def _path(location: tuple[int | str, ...]) -> str:
    """Format a path like `entries[3].blocks[0].text`, without pydantic's names of union members."""
    words: list[str] = []
    before: int | str = ""
    for step in location:
        if isinstance(step, int):
            words.append(f"[{step}]")
        elif not (isinstance(before, int) and step in KINDS) and step not in _NUMBERS:
            words.append(f".{step}")
        before = step
    return "".join(words).lstrip(".") or "it"


_NUMBERS = ("int", "float")

READER = Reader(NAME, "session manifest", sniff, read)
