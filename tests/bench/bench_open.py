"""How fast a 100 MB Claude Code session opens, with every block counted exactly.

Goals: 40 MB/s cold, 200 MB/s warm, memory below 3 times the file; as a document 1.5 s to its first picture.

Cold is a fresh process with empty caches, the import and the loading of token tables included; the file was
read before, so the disk is not measured. Warm is the same file opened again in that process, where counts
are remembered by text. The loop that it is compared with is what one writes first: `json.loads` on each
line, tiktoken on each text, its tables loaded beforehand. It runs on the first 10 MB. MB are 1,000,000 bytes.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from bench_count import clock
from outside import REAL, Missing, claude_session

from inspector.formats.readers import read_session
from inspector.tokens.counters.openai import load_encoding
from tests.shared import SHARED

MEGABYTES, SLICE, ROUNDS = 100, 10_000_000, 3

# Each runs in a process of its own and prints JSON. On Linux ru_maxrss would remember the process that this
# one was forked from; elsewhere it is all there is, in KiB or (macOS) in bytes.
COLD = """
import json, resource, sys, time
def peak():
    try:
        with open("/proc/self/status") as status:
            return int(status.read().split("VmHWM:")[1].split()[0]) * 1024
    except OSError:
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
bare, start = peak(), time.perf_counter()
from inspector import count_tokens, open_session
count_tokens(open_session(sys.argv[2]), "o200k_base")  # a small one: the tables are loaded
ready, begin = peak(), time.perf_counter()
session = open_session(sys.argv[1])
opened = time.perf_counter()
ledger = count_tokens(session, "o200k_base")
end = time.perf_counter()
print(json.dumps({
    "ready": begin - start, "open": opened - begin, "count": end - opened,
    "bare": bare, "imported": ready, "peak": peak(), "tokens": ledger.total, "records": session.records,
}))
"""
WARM = """
import json, sys, time
from inspector import count_tokens, open_session
seconds = []
for _ in range(int(sys.argv[2]) + 1):
    session = ledger = None
    start = time.perf_counter()
    session = open_session(sys.argv[1])
    opened = time.perf_counter()
    ledger = count_tokens(session, "o200k_base")
    seconds.append((opened - start, time.perf_counter() - opened))
print(json.dumps(seconds[1:]))
"""
SCENE = """
import json, sys, time
import inspector.jupyter.widget
from inspector import count_tokens, make_plan, open_session
from inspector.tokens.history import trace_history
from inspector.workbench.payloads.base_payload import to_json
from inspector.workbench.payloads.scene import draw_plan, draw_scene
start = time.perf_counter()
session = open_session(sys.argv[1])
ledger = count_tokens(session, "calibrated")
history = trace_history(session, ledger)
moment = session.at(history.fullest.at)
plan = make_plan(moment, ledger, "flue")
to_json(draw_scene(plan, history).payload), to_json(draw_plan(plan).payload)
first = time.perf_counter() - start
start = time.perf_counter()
to_json(
    draw_plan(make_plan(moment, ledger, "flue", {"settings": {"keep-recent-tokens.tokens": 12_000}})).payload
)
print(json.dumps([first, time.perf_counter() - start]))
"""
DOCUMENT = """
import asyncio, json, sys, time
from inspector.jupyter import kept
from inspector.jupyter.documents import DocumentSource, OpenDocument
kept.LARGE = float("inf")  # the file is read, whatever picture of it is kept

async def time_document(path):
    start = time.perf_counter()
    document = OpenDocument(DocumentSource(path, name="session.jsonl"), {}, asyncio.get_running_loop())
    document.frame(0, document=document.id)
    end = time.perf_counter()
    document.close()
    return end - start

print(json.dumps([asyncio.run(time_document(sys.argv[1]))]))
"""
AGAIN = """
import asyncio, json, sys, time
from inspector.jupyter import kept
from inspector.jupyter.documents import DocumentSource, OpenDocument
kept.LARGE = float("inf")  # the file is read, whatever picture of it is kept

async def time_documents(path):
    # Opened, asked what a screen asks, and closed; at once the same again.
    seconds = []
    for last in (False, False, True):
        start = time.perf_counter()
        document = OpenDocument(DocumentSource(path, name="session.jsonl"), {}, asyncio.get_running_loop())
        document.frame(0, document=document.id)
        seconds.append(time.perf_counter() - start)
        document.begin()
        query = {"type": "findings", "id": 1, "place": document.controller.model.plan.place or 0}
        heard = []
        start = time.process_time()
        document.controller.ask(query, heard.append)
        time.sleep(0.3)
        while last and not heard:
            time.sleep(0.05)
        if last:
            document.controller.wait()
        findings = time.process_time() - start
        start = time.process_time()
        if last:
            document.controller.reply(query)
        again = time.process_time() - start
        document.close()
    return [seconds[-1], findings, again]

print(json.dumps(asyncio.run(time_documents(sys.argv[1]))))
"""


def run_fresh(script: str, *arguments: object) -> Any:
    """What a script prints, run by a fresh interpreter."""
    command = [sys.executable, "-c", script, *map(str, arguments)]
    root = Path(__file__).parents[2]
    return json.loads(subprocess.run(command, capture_output=True, check=True, cwd=root).stdout)


def plain_loop(lines: list[bytes]) -> int:
    """Tokens of the messages' texts, counted the way one writes first."""
    encode, total = load_encoding("o200k_base").encode_ordinary, 0
    for line in lines:
        content = (json.loads(line).get("message") or {}).get("content") or ()
        for block in [{"text": content}] if isinstance(content, str) else content:
            said = block.get("text") or block.get("thinking") or block.get("content")
            total += len(encode(said if isinstance(said, str) else json.dumps(block.get("input"))))
    return total


CODEX = SHARED / "sessions" / "codex--agentv" / "codex-3compacted-2302l.jsonl"


def repeat_compactions(times: int) -> bytes:
    """A real rollout of Codex's whose last stretch between two compactions comes so many times more."""
    lines = CODEX.read_bytes().splitlines(keepends=True)
    ends = [at for at, line in enumerate(lines) if b'"type":"compacted"' in line]
    stretch = lines[ends[-2] + 1 : ends[-1] + 1]
    return b"".join([*lines[: ends[-1] + 1], *stretch * times])


def measure_codex() -> Iterator[tuple[str, str]]:
    """How the time for a MB grows with the compactions before: each names what it keeps of all the rest."""
    if not CODEX.exists():
        yield "Codex rollouts", "not measured: the shared transcripts are not beside this checkout"
        return
    few, many = repeat_compactions(5), repeat_compactions(40)
    read_session(few)
    each = [min(clock(partial(read_session, data)) for _ in range(2)) / len(data) for data in (few, many)]
    told = f"{each[1] * len(many):.2f} s, {each[1] / each[0]:.1f}x as long for a MB as 8 compactions"
    yield f"a Codex rollout of {len(many) / 1e6:.0f} MB, 43 compactions", told


def median(rows: list[Any], name: Any) -> float:
    return float(statistics.median(row[name] for row in rows))


def run() -> Iterator[tuple[str, str]]:
    yield from measure_codex()
    try:
        path = claude_session(MEGABYTES)
    except Missing as reason:
        yield f"a Claude Code session of {MEGABYTES} MB", f"not measured: {reason}"
        return
    data = path.read_bytes()
    size = len(data) / 1e6
    small = path.with_name("small.jsonl")
    small.write_bytes(b"".join(data[:50_000].splitlines(keepends=True)[:-1]))
    lines = data[:SLICE].splitlines()[:-1]
    sliced = sum(map(len, lines)) / 1e6
    plain_loop(lines[:10])
    cold, plain = [], []
    for _ in range(ROUNDS):
        cold.append(run_fresh(COLD, path, small))
        plain.append(clock(lambda: plain_loop(lines)))
    warm = run_fresh(WARM, path, ROUNDS)
    rate = sliced / statistics.median(plain)
    yield f"{cold[0]['records']:,} records", f"{size:.1f} MB, {cold[0]['tokens'] / 1e6:.1f} M tokens"
    yield f"json.loads and tiktoken, line by line, {sliced:.0f} MB of it", f"{rate:.1f} MB/s, 1x"
    for name, seconds in (
        ("cold, end to end", sum(median(cold, part) for part in ("ready", "open", "count"))),
        ("cold, import and tables loaded", median(cold, "open") + median(cold, "count")),
        ("warm, opened again", median(warm, 0) + median(warm, 1)),
    ):
        yield f"open and count, {name}", f"{size / seconds:.0f} MB/s, {size / seconds / rate:.1f}x"
    for name, seconds in (
        ("import, and loading of token tables", median(cold, "ready")),
        ("open, cold", median(cold, "open")),
        ("count, cold", median(cold, "count")),
        ("open, warm", median(warm, 0)),
        ("count, warm", median(warm, 1)),
    ):
        yield f"  {name}", f"{seconds:.2f} s"
    bare, imported, peak = (median(cold, name) / 1e6 for name in ("bare", "imported", "peak"))
    yield "memory: bare interpreter, with package and tables", f"{bare:.0f} MB, {imported:.0f} MB"
    yield "memory: peak while opening and counting", f"{peak:.0f} MB"
    yield (
        "memory: peak less package and tables, as a multiple of the file",
        f"{(peak - imported) / size:.2f}x",
    )
    documents = [run_fresh(DOCUMENT, path) for _ in range(ROUNDS)]
    yield (
        f"{size:.0f} MB: opened as a document by the server, by estimate first",
        f"{median(documents, 0):.2f} s",
    )
    again = [run_fresh(AGAIN, path) for _ in range(ROUNDS)]
    yield f"{size:.0f} MB: the same, right after two others were closed", f"{median(again, 0):.2f} s"
    yield f"{size:.0f} MB: its findings and exact counts, of CPU", f"{median(again, 1):.2f} s"
    yield f"{size:.0f} MB: its findings by exact counts, of CPU", f"{median(again, 2):.2f} s"
    yield from time_scene(path, f"{size:.0f} MB")
    if REAL.exists():
        yield from time_scene(REAL, f"a real session, {REAL.stat().st_size / 1e6:.1f} MB")


def time_scene(path: Path, name: str) -> Iterator[tuple[str, str]]:
    """What a workbench does before it shows itself, and after a rule was changed."""
    rounds = [run_fresh(SCENE, path) for _ in range(ROUNDS)]
    yield f"{name}: open to the workbench's first picture", f"{median(rounds, 0):.2f} s"
    yield f"{name}: a rule changed, to its picture", f"{median(rounds, 1) * 1e3:.1f} ms"


if __name__ == "__main__":
    for label, value in run():
        print(f"{label:<64} {value:>22}")
