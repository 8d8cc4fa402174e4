"""The same session and policy give the same bytes in any process, under any locale and hash seed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import hashlib, json, locale
try:
    locale.setlocale(locale.LC_ALL, "")
except locale.Error:
    pass
from inspector import POLICIES, build_context, count_tokens, make_plan, open_demo
from inspector.workbench.payloads.base_payload import to_json
from inspector.workbench.payloads.scene import draw_plan
session = open_demo()
ledger = count_tokens(session)
for policy in POLICIES:
    for reason in ("auto", "manual", "overflow"):
        plan = make_plan(session, ledger, policy, window=150_000, reason=reason)
        picture, data = draw_plan(plan)
        words = [piece.block.model_dump_json() for piece in build_context(session, plan).pieces]
        whole = json.dumps([to_json(picture), words]).encode() + data
        print(policy.name, reason, hashlib.sha256(whole).hexdigest())
"""


def run(**env: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[1],
        check=True,
    )
    return done.stdout


def test_S0_75_S3_15_S3_16_plans_are_the_same_bytes_in_two_processes_under_two_locales() -> None:
    plain = run(LC_ALL="C", PYTHONHASHSEED="1")
    turkish = run(LC_ALL="tr_TR.UTF-8", LANGUAGE="tr", PYTHONHASHSEED="2", TZ="Asia/Kathmandu")
    assert plain.splitlines() == turkish.splitlines()
    assert len(plain.splitlines()) >= 3
