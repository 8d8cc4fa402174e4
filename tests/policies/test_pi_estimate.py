"""pi's estimate of a shell command: its text and its output, whatever the reader says after them."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.policies.pi_estimate import weigh_message
from inspector.session.blocks import Document, Image, Reasoning, Text, Unknown
from inspector.session.entries import Entry
from inspector.tokens.counters.chars4_utf16 import IMAGE_CHARS
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


@pytest.mark.parametrize(
    ("role", "raw", "chars"),
    [
        ("bashExecution", {"command": "ls -l", "output": "one.txt", "summary": "no"}, 12),
        ("branchSummary", {"summary": "went there", "output": "no"}, 10),
        ("compactionSummary", {"summary": "did this\N{GRINNING FACE}", "command": "no"}, 10),
        ("bashExecution", {"command": "ls", "output": None}, 2),
        ("custom", {"command": "no", "output": "no", "summary": "no"}, 0),
    ],
)
def test_a_role_of_pi_s_in_another_format_counts_the_words_that_pi_would_send(
    role: str, raw: dict[str, Any], chars: int
) -> None:
    """A quarter of the UTF-16 units, rounded up; the words of another role's fields are none of its own."""
    entry = Entry(id="a", role=role, blocks=(Unknown(kind="unknown", type=role, raw=raw),))
    assert weigh_message(entry, "pi-1.5.2") == weigh_message(entry, "pi-0.73.1") == -(-chars // 4)


@pytest.mark.parametrize("pictures", [0, 1, 2])
def test_an_extension_s_message_counts_its_texts_and_each_of_its_pictures(pictures: int) -> None:
    """Texts of 5 and of 2 units; a picture is 4,800 characters, anything else nothing (FLUE §13.2)."""
    assert IMAGE_CHARS == 4800
    texts = (Text(text="hello"), Text(text="\N{GRINNING FACE}"))
    others = (Reasoning(text="r" * 40), Document(text="d" * 40))
    blocks = (*texts, *others, *(Image(media_type="image/png"),) * pictures)
    entry = Entry(id="a", role="custom", blocks=blocks)
    assert weigh_message(entry, "pi-1.5.2") == 1200 * pictures + 2
