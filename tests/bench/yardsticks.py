"""Our policies and the extractive summary on three yardsticks that others made: `make yardsticks`.

None asks a model. Ours see a yardstick's messages as any messages, without its data, its labels or its words.

- compaction-conformance-kit 0.8 (MIT): sessions made anew for each seed; what is planted in them is looked
  for word by word after each of five rounds, in 10, 20 and 30 % of the characters.
- COMPINT (the package conpact 0.1, MIT): fifteen rules of a user's in the first, middle or last thing they
  say in real sessions of up to 97,000 tokens. Its judge is a model; here a rule counts that stands there.
- The experiment of claimkeep 0.3 (MIT): what the model said before a compaction that Claude Code recorded
  (paths, hashes, numbers with their word), looked for in the recorded summary and in an extract of as many
  characters. Written anew after its description.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.metadata import files
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, NamedTuple

from inspector.files import open_session
from inspector.formats.readers import read_session
from inspector.planning.planner import make_plan
from inspector.summaries.extractive.summariser import ExtractiveSummariser
from inspector.summaries.write import summarise
from inspector.tokens.ledger import count_tokens
from tests.bench.compressor import Compressor, find_largest

KIT, COMPINT = "compaction-conformance-kit", "conpact"
REMEDY = f"pip install {KIT}==0.8.0 && pip install --no-deps {COMPINT}==0.1.0"
POLICIES = ("claude-code-analysis", "codex", "flue", "keep-recent-turns")
OWN = "semantic-checklist"
"""The kit's own compressor, which knows the labels of what is planted."""
CAPS = (0.10, 0.20, 0.30)
SEEDS = range(500, 530)
"""None of the seeds that the extract was made with, which were 1 to 8."""
ROUNDS = 5
HAYSTACK = 97_000
"""Tokens of a session in which a rule is to be found again, as in the paper's static set."""


class Share(NamedTuple):
    """So many of so many."""

    kept: int
    asked: int

    def __str__(self) -> str:
        return f"{self.kept / self.asked:.0%} ({self.kept:,} of {self.asked:,})" if self.asked else "–"

    def plus(self, other: Share) -> Share:
        return Share(self.kept + other.kept, self.asked + other.asked)


class Kit(NamedTuple):
    """What a policy kept of what the kit planted, after the first and the last round, under a cap."""

    policy: str
    cap: float
    first: Share
    last: Share
    within: bool


def run_kit(policy: str, cap: float, seeds: Sequence[int] = SEEDS, rounds: int = ROUNDS) -> Kit:
    """A policy on the kit's sessions of these seeds, or the kit's own compressor."""
    build = import_module("compaction_kit.generated").build_generated_session
    run = import_module("compaction_kit.runner").run_conformance
    compressor: Any = Compressor(policy) if policy != OWN else None
    compressor = compressor or import_module("compaction_kit.semantic").SemanticChecklistCompactor()
    first = last = Share(0, 0)
    within = True
    for seed in seeds:
        session, planted = build(seed)
        told = run(session, compressor, rounds=rounds, canaries=planted, budget_fraction=cap)
        kept = [
            Share(sum(each.survived.values()), len(planted)) for each in (told.rounds[0], told.rounds[-1])
        ]
        first, last = first.plus(kept[0]), last.plus(kept[1])
        within = within and all(each.within_budget for each in told.rounds)
    return Kit(policy, cap, first, last, within)


def read_rules() -> list[str]:
    """COMPINT's rules as its users say them. Its package loads 400 MB of others, and this file needs none."""
    found = next(file for file in files(COMPINT) or () if file.name == "constraints.py")
    spec = spec_from_file_location("constraints", Path(str(found.locate())))
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return [module.render_sc(rule["sc"], strict=False, direct=True) for rule in module.SCS]


def make_haystack(path: Path, most: int = HAYSTACK) -> list[dict[str, str]]:
    """The beginning of a session as messages of text: what the user said, and everything else as replies."""
    session = open_session(path)
    ledger = count_tokens(session, "o200k_base")
    messages: list[dict[str, str]] = []
    for entry in session.entries:
        text = "\n".join(block.text for block in entry.blocks if block.kind != "reasoning")
        if entry.kind != "message" or not text.strip():
            continue
        most -= int(ledger.count_texts([text])[0])
        if most < 0:
            break
        role = "user" if entry.opens_turn else "assistant"
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"] += f"\n{text}"
        else:
            messages.append({"role": role, "content": text})
    return messages


def run_compint(policy: str, haystacks: Sequence[list[dict[str, str]]], rules: Sequence[str]) -> Share:
    """How many rules stand, each put before the first, the middle and the last words of the user's."""
    compress = Compressor(policy)
    kept = asked = 0
    for messages in haystacks:
        said = [number for number, message in enumerate(messages) if message["role"] == "user"]
        for place in (said[0], said[len(said) // 2], said[-1]):
            for rule in rules:
                made = [dict(message) for message in messages]
                made[place]["content"] = f"{rule}\n{made[place]['content']}"
                left = "\n".join(str(message["content"]) for message in compress(made))
                kept += _flat(rule.partition(". ")[2]) in _flat(left)
                asked += 1
    return Share(kept, asked)


class Stretch(NamedTuple):
    """What a file holds between two compactions: its rows, the recorded summary, what is looked for after."""

    name: str
    rows: list[dict[str, Any]]
    summary: str
    probes: list[tuple[str, ...]]


_PATH = re.compile(r"(?<![\w.])/(?:[\w.-]+/)+[\w.-]+", re.ASCII)
_HASH = re.compile(r"\b(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b")
_FIGURE = re.compile(r"\b(\d[\d.,]{0,12})\s+([A-Za-z\u0400-\u04ff]{4,20})")
_NO_NOUN = ("that", "with")
_MOST = {"path": 15, "hash": 10, "figure": 15}
_LEAST_PROBES, _LEAST_ROWS, _LEAST_SUMMARY, _LEAST_PATH = 5, 20, 200, 12


def find_stretches(path: Path) -> Iterator[Stretch]:
    """The stretches of a Claude Code file that end in a compaction whose summary can be read."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    begin = 0
    for number, row in enumerate(rows):
        if row.get("subtype") != "compact_boundary":
            continue
        after = next((at for at in range(number, len(rows)) if rows[at].get("isCompactSummary")), None)
        summary = "" if after is None else read_words(rows[after])
        if after is None or len(summary) < _LEAST_SUMMARY:
            continue
        mine, begin = rows[begin:number], after + 1
        said = [read_words(row) for row in mine if row.get("type") == "assistant"]
        probes = find_probes([text for text in said if text])
        if sum(bool(read_words(row)) for row in mine) >= _LEAST_ROWS and len(probes) >= _LEAST_PROBES:
            yield Stretch(f"{path.parent.name}/{path.name}", mine, summary, probes)


def read_words(row: dict[str, Any]) -> str:
    """The text of a row, that of its tools' outputs among it, without reasoning and calls."""
    content = (row.get("message") or {}).get("content") if isinstance(row.get("message"), dict) else None
    content = row.get("content") if content is None else content
    if isinstance(content, str):
        return content
    parts = []
    for part in content if isinstance(content, list) else ():
        inner = part if isinstance(part, str) else part.get("text", part.get("content"))
        texts = inner if isinstance(inner, list) else [inner]
        parts += [text if isinstance(text, str) else (text or {}).get("text") or "" for text in texts]
    return "\n".join(part for part in parts if part)


def find_probes(texts: Sequence[str]) -> list[tuple[str, ...]]:
    """What is looked for: the paths, hashes and numbers with their word that are said most often."""
    found: dict[str, Counter[tuple[str, ...]]] = {kind: Counter() for kind in _MOST}
    for text in texts:
        paths = (match[0].rstrip(".,;:)") for match in _PATH.finditer(text))
        found["path"].update((each,) for each in paths if len(each) >= _LEAST_PATH)
        found["hash"].update((match[0],) for match in _HASH.finditer(text))
        for line in text.split("\n"):
            if not _PATH.search(line) and not _HASH.search(line):
                pairs = ((match[1].rstrip(".,"), match[2].casefold()) for match in _FIGURE.finditer(line))
                found["figure"].update(pair for pair in pairs if len(pair[0]) > 1 and pair[1] not in _NO_NOUN)
    return [
        probe
        for kind, most in _MOST.items()
        for probe, _ in sorted(found[kind].items(), key=lambda told: (-told[1], told[0]))[:most]
    ]


def count_probes(probes: Sequence[tuple[str, ...]], text: str) -> Share:
    """How many stand in a text: a number and its word in one sentence or line."""
    parts = [_flat(part) for part in re.split(r"[\n.]+", text)]
    whole = _flat(text)
    kept = sum(
        probe[0].casefold() in whole
        if len(probe) == 1
        else any(probe[0] in part and probe[1] in part for part in parts)
        for probe in probes
    )
    return Share(kept, len(probes))


def run_stretch(stretch: Stretch) -> tuple[Share, Share]:
    """What the recorded summary kept, and an extract that has no more characters."""
    session = read_session("\n".join(map(json.dumps, stretch.rows)).encode())
    plan = make_plan(session, count_tokens(session), "claude-code-analysis", reason="manual")

    def extract(tokens: int) -> str:
        return summarise(plan, ExtractiveSummariser(plan.ledger, tokens=tokens)).text

    ours = find_largest(extract, len(stretch.summary), len(stretch.summary))
    recorded = count_probes(stretch.probes, stretch.summary)
    return recorded, count_probes(stretch.probes, ours if len(ours) <= len(stretch.summary) else "")


def _flat(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


class Yardsticks(NamedTuple):
    """Everything that was measured; `stretches` are (recorded, ours) by file, in the order of the files."""

    kit: list[Kit]
    compint: dict[str, Share]
    haystacks: list[str]
    stretches: list[tuple[str, Share, Share]]

    def pool(self) -> tuple[Share, Share]:
        """The recorded summaries and the extracts, all compactions together."""
        recorded = ours = Share(0, 0)
        for _, one, other in self.stretches:
            recorded, ours = recorded.plus(one), ours.plus(other)
        return recorded, ours


def measure_yardsticks(sessions: Path) -> Yardsticks:
    """All three, over the shared sessions. Raises `SystemExit` where a yardstick is not installed."""
    try:
        rules = read_rules()
        import_module("compaction_kit")
    except (ImportError, StopIteration) as error:
        raise SystemExit(f"a yardstick is not installed ({error}): {REMEDY}") from error
    kit = [run_kit(policy, cap) for policy in (*POLICIES, OWN) for cap in CAPS]
    stretches = [
        (stretch.name, *run_stretch(stretch))
        for path in sorted(sessions.rglob("*.jsonl"))
        if path.parent.name.startswith(("claude-code", "growth-series"))
        for stretch in find_stretches(path)
    ]
    paths = [sessions / name for name in HAYSTACKS]
    haystacks = [make_haystack(path) for path in paths]
    compint = {policy: run_compint(policy, haystacks, rules) for policy in POLICIES}
    return Yardsticks(kit, compint, [path.name for path in paths], stretches)


HAYSTACKS = (
    "claude-code--entireio-cli/cc-2auto-1519l.jsonl",
    "claude-code--entireio-cli/cc-3auto-compactions-893l.jsonl",
)


def tell_yardsticks(measured: Yardsticks) -> Iterator[str]:
    """The part of the benchmark's page."""
    recorded, ours = measured.pool()
    won = sum(one.kept < other.kept for _, one, other in measured.stretches)
    lost = sum(one.kept > other.kept for _, one, other in measured.stretches)
    yield TOP
    yield "### compaction-conformance-kit 0.8, its rotating corpus"
    yield ""
    yield (f"Seeds {SEEDS[0]} to {SEEDS[-1]}, {ROUNDS} rounds; the extract was made with other seeds.")
    yield ""
    yield f"| policy | {' | '.join(f'{cap:.0%} of the characters' for cap in CAPS)} | after round {ROUNDS} |"
    yield f"| --- |{' ---: |' * (len(CAPS) + 1)}"
    for policy in (*POLICIES, OWN):
        mine = [row for row in measured.kit if row.policy == policy]
        same = all(row.first == row.last for row in mine)
        shares = " | ".join(str(row.first) if row.within else f"{row.first}, too long" for row in mine)
        last = "the same" if same else ", ".join(str(row.last) for row in mine)
        yield f"| {policy} | {shares} | {last} |"
    yield KIT_NOTE
    yield "### COMPINT's rules, in real sessions"
    yield ""
    yield "| policy | rules that stand literally |"
    yield "| --- | ---: |"
    for policy, share in measured.compint.items():
        yield f"| {policy} | {share} |"
    yield COMPINT_NOTE.format(files=" and ".join(f"`{name}`" for name in measured.haystacks))
    yield "### claimkeep's experiment"
    yield ""
    yield "| compaction in | recorded summary | extract of the same length |"
    yield "| --- | ---: | ---: |"
    for name, one, other in measured.stretches:
        yield f"| `{name}` | {one} | {other} |"
    yield f"| **all** | **{recorded}** | **{ours}** |"
    yield CLAIMKEEP_NOTE.format(won=won, lost=lost, count=len(measured.stretches))


TOP = """## On yardsticks of others

Three public benchmarks whose score needs no model, with our policies and the extractive summary in the
place of one (`tests/bench/compressor.py`, which takes messages and gives fewer). The extract knows no
label, no header and no word of any of them. Run by `make yardsticks`, offline once the packages are there.
"""
KIT_NOTE = """
Ten things planted in each session, looked for word by word. `semantic-checklist` is the
kit's own compressor, which knows the labels of what is planted. A later round finds only the
text of the round before, in which there is nothing to compact: it is left as it is, so *the same* says
that nothing decays and not that compacting again loses nothing. Below 1,600 characters the extract has no
headings and takes short sentences first.
"""
COMPINT_NOTE = """
Fifteen rules, each put before the user's first, middle and last words in {files}, cut to 97,000 tokens.
Its judge is a model and its sessions are others; here a rule counts when it stands there literally, so
these shares are not the paper's. A policy that keeps what the user says keeps the rule with it.
"""
CLAIMKEEP_NOTE = """
Paths, hashes and numbers with the word after them, from what the model said before each of {count}
compactions. The extract kept more in {won} and less in {lost}. It picks sentences with figures on
purpose, which is what is asked for here, and it was made with these files at hand; on files nobody looked
at it will be lower.
"""

if __name__ == "__main__":
    print("\n".join(tell_yardsticks(measure_yardsticks(Path(__file__).parents[3] / "shared" / "sessions"))))
