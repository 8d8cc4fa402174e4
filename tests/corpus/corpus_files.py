"""A folder of small sessions for the tests of scans."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from inspector.demo import read_demo
from tests.claude_rows import Claude, dump

WORDS = "Read src/tide/harbour.py and never touch fixtures/raw.csv. "


def write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def talk(number: int, turns: int = 3) -> list[dict[str, Any]]:
    """A session of Claude Code's: a person asks, the model answers, `turns` times."""
    rows: list[dict[str, Any]] = []
    last = None
    for turn in range(turns):
        for role in ("user", "assistant"):
            name = f"{number}-{turn}-{role}"
            content: Any = f"{WORDS}Also src/part_{number}/step_{turn}.py, please. " * 3
            if role == "assistant":
                content = [
                    {"type": "text", "text": f"I read src/part_{number}/step_{turn}.py: 4{turn} lines."}
                ]
            message = {"role": role, "content": content}
            if role == "assistant":
                usage = {"input_tokens": 900 + 400 * turn, "output_tokens": 20}
                message |= {"model": "claude-opus-4-5", "id": name, "usage": usage}
            row = {"type": role, "uuid": name, "parentUuid": last, "sessionId": f"s{number}"}
            rows.append(row | {"timestamp": f"2026-03-01T10:{turn:02}:00Z", "message": message})
            last = name
    return rows


def compacted() -> Claude:
    """A person asks, the model reads two files and answers, and a compaction loses one of them."""
    rows = Claude().say(WORDS).use("c1", "tide = 1\n" * 40, 900, "Read", {"file_path": "/w/src/tide.py"})
    rows.use("c2", "never touch it", 1_200, "Read", {"file_path": "/w/src/moon.py"}).reply("Done.", 1_400)
    rows.compact("The user wants src/tide/harbour.py read. /w/src/moon.py was read.")
    return rows.say("Go on.").reply("Done.", 700)


def make_folder(folder: Path, sessions: int = 3, *, demo: bool = False) -> Path:
    """A session that records a compaction, some short ones, a file that is none and a hidden session.

    The first is the demo where that is asked for: it takes as long as all tests with a short one.
    """
    folder.mkdir(exist_ok=True)
    (folder / "a demo.jsonl").write_bytes(read_demo() if demo else dump(compacted().rows))
    inner = folder / "inner"
    inner.mkdir()
    for number in range(sessions):
        write_rows(inner / f"s{number}.jsonl", talk(number))
    (folder / "notes.json").write_text('{"nothing": 1}', "utf-8")
    (folder / ".hidden.jsonl").write_bytes(read_demo())
    (folder / "picture.png").write_bytes(b"\x89PNG")
    return folder
