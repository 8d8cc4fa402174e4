"""What Python sends the browser, as a JSON schema, from which the front end makes its types.

    python -m tests.payload_types && (cd js && npm run --silent types)

writes `tests/cases/wire/payloads.schema.json` anew, then `js/src/payloads/types.ts` from it.
`tests/workbench/test_payloads.py` holds the schema to the payloads, `js/test/payloads.test.ts` the types to
the schema.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_type_hints

import msgspec
from msgspec.structs import fields

from inspector.facts import outcomes
from inspector.facts.kind_words import NOUNS, name_kind
from inspector.planning.fates import DECIDED_BY
from inspector.workbench.payloads.base_payload import Payload
from inspector.workbench.payloads.new_file import NewFilePreview, NewFileReply
from inspector.workbench.payloads.replay import RunPayload
from inspector.workbench.payloads.scene import PlanPayload, ScenePayload
from inspector.workbench.payloads.summary import SendingReply
from inspector.workbench.queries import QUERIES

FILE = Path(__file__).parent / "cases" / "wire" / "payloads.schema.json"
SHOWN = ("name", "label", "sentence", "colour", "sign")
"""What the front end needs of an outcome; sentences about a fact are written in Python."""
TRAITS: dict[str, type[Payload]] = {"scene": ScenePayload, "plan": PlanPayload, "run": RunPayload}


def list_replies() -> dict[str, type[Payload]]:
    """What each question is answered with."""
    replies = {kind: get_type_hints(answer)["return"] for kind, answer in QUERIES.items()}
    files = {"preview_file": NewFilePreview, "write_file": NewFileReply}
    return {**replies, **files, "sending": SendingReply}


def make_schema() -> dict[str, Any]:
    """The schema of every payload: an object of traits, and one of replies, by their names.

    In the older form of the standard, which the front end's generator reads. `outcomes` is the table of the
    outcomes of facts, `kinds` what a fact of a kind is called, `deciders` what decided blocks but rules.
    """
    replies = list_replies()
    kinds = [*TRAITS.values(), *replies.values()]
    (_, parts) = msgspec.json.schema_components(kinds, ref_template="#/definitions/{name}")
    for part in parts.values():
        part["additionalProperties"] = False
        part["description"] = "\n".join(line.strip() for line in part["description"].splitlines())
    for kind in all_kinds(Payload):
        if kind.__name__ in parts:
            # msgspec requires what has no default; here what is always sent.
            always = [field.encode_name for field in fields(kind) if field.default is not msgspec.UNSET]
            parts[kind.__name__]["required"] = always
    roots = {"traits": _map("Traits", TRAITS), "replies": _map("Replies", replies)}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        **_object("Payloads", roots),
        "outcomes": [
            {name: getattr(outcomes.TRAITS[outcome], name) for name in SHOWN}
            for outcome in outcomes.WORST_FIRST
        ],
        "kinds": {kind: name_kind(kind) for kind in NOUNS},
        "deciders": {code: f"by {words}" for code, words in DECIDED_BY.items()},
        "definitions": _spell_tuples(parts),
    }


def all_kinds(kind: type[Payload]) -> set[type[Payload]]:
    """A kind of payload and those made from it."""
    return {kind}.union(*(all_kinds(one) for one in kind.__subclasses__()))


def _map(title: str, kinds: dict[str, type[Payload]]) -> dict[str, Any]:
    return _object(title, {name: {"$ref": f"#/definitions/{kind.__name__}"} for name, kind in kinds.items()})


def _object(title: str, properties: dict[str, Any]) -> dict[str, Any]:
    required = [*properties]
    return {
        "title": title,
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _spell_tuples(value: Any) -> Any:
    """Tuples as the older form has them."""
    if isinstance(value, list):
        return [_spell_tuples(item) for item in value]
    if not isinstance(value, dict):
        return value
    out = {key: _spell_tuples(item) for key, item in value.items()}
    if "prefixItems" in out:
        out["items"] = out.pop("prefixItems")
    return out


def to_text(schema: dict[str, Any]) -> str:
    """As the file holds it: a payload a line."""
    parts = [
        f"{json.dumps(name)}: {json.dumps(part)}" for name, part in sorted(schema["definitions"].items())
    ]
    rest = json.dumps({key: value for key, value in schema.items() if key != "definitions"})
    return ",\n".join([rest[:-1], '"definitions": {' + parts[0], *parts[1:]]) + "}}\n"


if __name__ == "__main__":
    FILE.write_text(to_text(make_schema()), "utf-8")
