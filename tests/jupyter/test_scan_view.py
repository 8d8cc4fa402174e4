"""The figure of a scan opens the session and the policy that a row was measured under."""

from __future__ import annotations

from pathlib import Path

from inspector.corpus import sweep
from inspector.demo import read_demo
from inspector.jupyter import ScanView


def test_a_row_of_a_sweep_opens_under_its_settings(tmp_path: Path) -> None:
    file = tmp_path / "a session.jsonl"
    file.write_bytes(read_demo())
    tokens = [8000, 40000]
    view = ScanView(sweep(file, ["flue", "codex"], {"keep-recent-tokens.tokens": tokens}, workers=0))
    opened = {}
    for row in view.table:
        if row["evidence"] == "planned":
            workbench = view.open_row(row)
            assert workbench is not None and workbench.plan.after == row["after"]
            opened[row["policy"]] = (workbench.plan.policy.name, workbench.settings)
    name = "flue[keep-recent-tokens.tokens={}]".format
    keys = "keep-recent-tokens.tokens"
    assert opened == {**{name(count): ("flue", {keys: count}) for count in tokens}, "codex": ("codex", {})}
