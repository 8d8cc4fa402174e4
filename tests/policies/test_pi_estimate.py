"""pi's estimate of a shell command: its text and its output, whatever the reader says after them."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.policies.pi_estimate import weigh_message
from tests.formats.test_readers import HEADER, pi_row, read_pi


@pytest.mark.parametrize("estimate", ["pi-0.73.1", "pi-1.5.2"])
@pytest.mark.parametrize(
    "more",
    [
        {"exitCode": 0},
        {"exitCode": 0, "cancelled": False},
        {"exitCode": 2},
        {"cancelled": True},
        {"exitCode": 0, "fullOutputPath": "/tmp/all"},
        {"exitCode": 2, "fullOutputPath": "/tmp/all"},
    ],
    ids=str,
)
def test_a_shell_command_counts_its_text_and_its_output(more: dict[str, Any], estimate: Any) -> None:
    """2 and 15 characters, the last of them a line feed: a quarter of 17, rounded up (FLUE §13.2)."""
    told = {"role": "bashExecution", "command": "ls", "output": "one.txt\ntwo.md\n", **more}
    (entry,) = read_pi(HEADER, pi_row("message", "a", None, message=told)).entries
    assert weigh_message(entry, estimate) == 5


@pytest.mark.parametrize(("estimate", "tokens"), [("flue", 0), ("pi-0.73.1", 0), ("pi-1.5.2", 2)])
def test_a_system_message_counts_since_1_5_2(estimate: Any, tokens: int) -> None:
    """Five characters of it and two of a section."""
    told = {"role": "system", "content": "Be me", "sections": {"more": "ok"}}
    (entry,) = read_pi(HEADER, pi_row("message", "a", None, message=told)).entries
    assert weigh_message(entry, estimate) == tokens
