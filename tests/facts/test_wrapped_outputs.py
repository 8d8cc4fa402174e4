"""Outputs that a harness wraps in JSON: facts are those of what the command printed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inspector import read_session


def rollout(output: str) -> str:
    """A Codex rollout with one command and its output."""
    items: list[dict[str, Any]] = [
        {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "Apply the manifest."}],
        },
        {
            "type": "function_call",
            "name": "shell",
            "arguments": json.dumps({"command": ["kubectl", "apply", "-f", "k8s/node.yaml"]}),
            "call_id": "c1",
        },
        {"type": "function_call_output", "call_id": "c1", "output": output},
    ]
    rows = [
        {"timestamp": "2026-03-01T10:00:00Z", "type": "session_meta", "payload": {"id": "s", "cwd": "/w"}}
    ]
    rows += [
        {"timestamp": "2026-03-01T10:00:01Z", "type": "response_item", "payload": item} for item in items
    ]
    return "\n".join(map(json.dumps, rows))


PRINTED = '\u2502 Error: no matches for kind "Node" in version "v1"\nworkers = 12\n'


@pytest.mark.parametrize("spaces", [(",", ":"), (", ", ": ")])
def test_facts_of_a_wrapped_output_are_those_of_what_was_printed(spaces: tuple[str, str]) -> None:
    wrapped = json.dumps(
        {"output": PRINTED, "metadata": {"exit_code": 1, "duration_seconds": 0.4}}, separators=spaces
    )
    facts = read_session(rollout(wrapped)).facts.to_dicts()
    found = {(fact["kind"], fact["form"]) for fact in facts if fact["kind"] in ("error", "number")}
    assert found == {
        ("error", 'Error: no matches for kind "Node" in version "v1"'),
        ("number", "workers = 12"),
    }


def test_the_text_of_a_wrapped_output_stays_what_the_model_was_sent() -> None:
    wrapped = json.dumps({"output": PRINTED, "metadata": {"exit_code": 1}})
    session = read_session(rollout(wrapped))
    assert [block.text for entry in session.entries for block in entry.blocks][-1] == wrapped


@pytest.mark.parametrize(
    "printed", ["Error: \U0001f600 no bell here\n", "Error: \x00 no bell\n", "Error: \ud83d alone\n"]
)
def test_odd_letters_of_a_wrapped_output_give_no_fact_that_cannot_be_printed(printed: str) -> None:
    wrapped = json.dumps({"output": printed, "metadata": {"exit_code": 1}})
    errors = [
        fact["form"] for fact in read_session(rollout(wrapped)).facts.to_dicts() if fact["kind"] == "error"
    ]
    assert len(errors) == 1
    assert errors[0].encode() and "\x00" not in errors[0]


def test_an_output_that_is_json_of_its_own_is_read_whole() -> None:
    printed = json.dumps({"output": "dist", "main": "src/index.ts"})
    facts = read_session(rollout(printed)).facts.to_dicts()
    assert "src/index.ts" in [fact["form"] for fact in facts if fact["kind"] == "file"]
