"""A session file long enough to be counted in the background; the same bytes every time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

WORDS = "tide gauge harbour buoy ledger column offset because therefore between several against".split()


def long_rows(replies: int, words: int = 600, first: int = 0) -> Iterator[dict[str, Any]]:
    """A question, then `replies` calls, each with an output of so many words; no two outputs are the same.

    Another `first` makes other outputs: what is known of one file's texts is of no use for the next.
    """
    common = {"sessionId": "long", "isSidechain": False, "cwd": "/harbour", "version": "2.1.7"}
    yield {
        **common,
        "type": "user",
        "uuid": "u",
        "parentUuid": None,
        "message": {"role": "user", "content": "Go."},
    }
    parent, size = "u", 3000
    for number in range(replies):
        call = {
            "type": "tool_use",
            "id": f"t{number}",
            "name": "Read",
            "input": {"file_path": f"{number}.txt"},
        }
        usage = {"input_tokens": size, "output_tokens": 20}
        said = {
            "id": f"m{number}",
            "role": "assistant",
            "model": "claude-opus-4-6",
            "content": [call],
            "usage": usage,
        }
        yield {**common, "type": "assistant", "uuid": f"a{number}", "parentUuid": parent, "message": said}
        text = " ".join(
            f"{WORDS[(number + at) % len(WORDS)]}{first + number * words + at}" for at in range(words)
        )
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": text}
        heard = {"role": "user", "content": [result]}
        yield {**common, "type": "user", "uuid": f"r{number}", "parentUuid": f"a{number}", "message": heard}
        parent, size = f"r{number}", size + words * 3


def write_long(place: Path, replies: int = 750, first: int = 0) -> Path:
    """About 7 MB in a file of that many replies."""
    with place.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in long_rows(replies, first=first))
    return place
