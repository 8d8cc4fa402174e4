"""Without the extra `fast`: tiktoken counts, every number is the same, and the command line works."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TEXTS = (
    *(
        "",
        "hello world",
        "naïve Ærøskøbing ǅİı",
        "日本語の説明 한국어 ไทย हिन्दी العربية עברית",
        "😀🇩🇪🏽 ½²Ⅷ٣",
    ),
    *("it'\u017f, 's, 'S, 'LL and We'VE", "lone \ud83d and \ude00, joined \ud83d\ude00", "\ufeff\x00\ufffd"),
    *("def f(x):\n\treturn {\r\n\r\n  x: [1, 23, 12345, 3.14e-10]\n}", "<|endoftext|> <|im_start|>"),
    *(" \u3000\u2003\u00a0\n" * 500, "a" * 5000, "=" * 3000, "0123456789" * 400),
)
DOORS = """
import json, sys
from inspector import count_tokens, lint, make_plan, open_session, price_session, replay
from inspector.tokens.counters import find_counter

texts = json.load(sys.stdin)
session = open_session(sys.argv[1])
ledger = count_tokens(session, "o200k_base")
plan = make_plan(session, ledger, "flue")
print(json.dumps({
    "source": find_counter("o200k_base").source,
    "texts": {name: find_counter(name).count(texts).tolist() for name in ("o200k_base", "cl100k_base")},
    # More short texts than are remembered: the fast engine counts these in one batch.
    "many": find_counter("o200k_base").count([f"line {i} of {texts[i % 4]}" for i in range(12_000)]).tolist(),
    "tokens": ledger.tokens.tolist(),
    "plan": [plan.before, plan.after],
    "bill": repr(price_session(session)),
    "replay": repr(replay(session, "claude-code-analysis")),
    "lint": lint(session).counts,
}))
"""


@pytest.fixture
def without_toktok(tmp_path: Path) -> dict[str, str]:
    """An environment in which no process can import toktok."""
    folder = tmp_path / "hidden"
    folder.mkdir()
    (folder / "toktok.py").write_text("raise ModuleNotFoundError('toktok')\n")
    (temporary := tmp_path / "temporary").mkdir()
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH", "")))),
        "TMPDIR": str(temporary),
    }


def ask_doors(path: Path, environment: dict[str, str]) -> dict[str, Any]:
    """Return the results of all public functions that count, for a session, in a separate process."""
    done = subprocess.run(
        [sys.executable, "-c", DOORS, str(path)],
        input=json.dumps(TEXTS),
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answers: dict[str, Any] = json.loads(done.stdout)
    return answers


def test_every_number_is_the_same_without_toktok(file: Path, without_toktok: dict[str, str]) -> None:
    pytest.importorskip("toktok", reason="the extra `fast` is not installed: there is nothing to compare")
    fast = ask_doors(file, dict(os.environ))
    plain = ask_doors(file, without_toktok)
    assert "counted by toktok" in fast.pop("source")
    assert "counted by tiktoken" in plain.pop("source")
    assert plain == fast
    assert plain["texts"]["o200k_base"][:2] == [0, 2]
