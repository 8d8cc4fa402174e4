"""How long facts take: finding them in sessions of 10, 30 and 100 MB, tracing plans, on a real session too.

Goals: facts of 100 MB under 10 s cold, the trace of a new plan under 100 ms, linear growth.

Cold is a fresh process for each size, the session read beforehand, nothing else worked out yet. A new plan
is one after another setting: the cut stands elsewhere, and every fact's fate is worked out anew. The first
trace also makes what all later ones share. CPU is told too, for machines that do other work meanwhile. MB
are 1,000,000 bytes of the file.
"""

from __future__ import annotations

import json
import math
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from outside import REAL, Missing, claude_session

SIZES = (10, 30, 100)
ROUNDS = 9
GROWING = {
    "worked": "facts",
    "opened": "first trace",
    "recorded": "traces of the recorded compactions",
    "linted": "lint after them",
}
"""Work of which a row states how it grows."""

COLD = """
import json, sys, time
from inspector import open_session
import inspector.facts.facts
from inspector.tokens.history import trace_history
from inspector.tokens.ledger import count_tokens
from inspector.planning.planner import make_plan
from inspector.facts.trace import trace_facts, trace_recorded
from inspector import lint
session = open_session(sys.argv[1])
session.path, session.tree
start, begin = time.perf_counter(), time.process_time()
facts = session.facts
found, worked = time.perf_counter() - start, time.process_time() - begin
ledger = count_tokens(session, "o200k_base")
moment = session.at(trace_history(session, ledger).fullest.at)
plan = make_plan(moment, ledger, sys.argv[2])
start, begin = time.perf_counter(), time.process_time()
trace = trace_facts(facts, plan)
first, opened = time.perf_counter() - start, time.process_time() - begin
traces, works = [], []
for number in range(int(sys.argv[3])):
    edits = {"settings": {"keep-recent-tokens.tokens": 8_000 + 1_700 * number}}
    plan = make_plan(moment, ledger, sys.argv[2], edits)
    start, begin = time.perf_counter(), time.process_time()
    trace = trace_facts(facts, plan)
    traces.append(time.perf_counter() - start)
    works.append(time.process_time() - begin)
begin = time.process_time()
recorded = trace_recorded(session)
traced = time.process_time()
lint(session)
linted = time.process_time()
stood = sum(traced.stood for traced in trace)
print(json.dumps({
    "found": found, "worked": worked, "first": first, "opened": opened, "traces": traces, "works": works,
    "facts": len(facts), "said": len(facts.fact), "traced": len(trace), "stood": stood,
    "live": len(moment.live.position), "compactions": len(recorded),
    "recorded": traced - begin, "linted": linted - traced,
}))
"""


def measure(path: Path, policy: str = "flue") -> dict[str, Any]:
    """The seconds of one session, in a process of its own."""
    command = [sys.executable, "-c", COLD, str(path), policy, str(ROUNDS)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    timed: dict[str, Any] = json.loads(done.stdout)
    return timed


def show(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:,.0f} ms"


def tell(label: str, timed: dict[str, Any]) -> Iterator[tuple[str, str]]:
    counts = f"{timed['facts']:,} facts, said {timed['said']:,} times"
    yield f"{label}: {counts}", f"{show(timed['found'])}, of CPU {show(timed['worked'])}"
    what = f"{timed['traced']:,} facts, {timed['live']:,} blocks live"
    yield f"{label}: first trace, {what}", f"{show(timed['first'])}, of CPU {show(timed['opened'])}"
    middle, worked = statistics.median(timed["traces"]), statistics.median(timed["works"])
    yield f"{label}: trace of a new plan", f"{show(middle)}, of CPU {show(worked)}"
    yield f"{label}: {timed['compactions']} recorded compactions, traced", f"CPU {show(timed['recorded'])}"
    yield f"{label}: lint after that", f"CPU {show(timed['linted'])}"


def run() -> Iterator[tuple[str, str]]:
    works: dict[float, dict[str, Any]] = {}
    for megabytes in SIZES:
        try:
            path = claude_session(megabytes)
        except Missing as reason:
            yield f"{megabytes} MB", f"not measured: {reason}"
            continue
        timed = measure(path)
        size = path.stat().st_size / 1e6
        works[size] = timed
        yield from tell(f"{size:.0f} MB", timed)
    if len(works) > 1:
        (small, least), (large, most) = min(works.items()), max(works.items())
        for name, what in GROWING.items():
            power = math.log(most[name] / least[name]) / math.log(large / small)
            yield f"{what}: CPU grows with the size to the power of", f"{power:.2f}; 1 is linear"
    if REAL.exists():
        size = REAL.stat().st_size / 1e6
        yield from tell(f"real, {size:.1f} MB", measure(REAL))


if __name__ == "__main__":
    for label, value in run():
        print(f"{label:<80} {value:>22}")
