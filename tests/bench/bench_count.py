"""How fast tokens are counted: cold, and warm when the same texts come again. Gate: 150 MB/s cold.

The texts are made here, in the shape of a coding agent's session: a few words to 200 lines each, of prose,
code, JSON, logs and Japanese. tiktoken counts a tenth of them in each round, so that the ratio is of one run.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable

from inspector.tokens.counters import chars4_utf16, find_counter, openai
from inspector.tokens.counters.openai import load_encoding

NAME, MEGABYTES, ROUNDS = "o200k_base", 40, 3
WORDS = (
    "cache index parser session token budget retain summary file path turn cut boundary tool result edit "
    "test build error stack frame queue worker commit branch merge config schema user model window"
).split()


def make_lines(chance: random.Random, count: int) -> list[str]:
    """Lines of every sort a session holds."""

    def words(n: int) -> str:
        return " ".join(chance.choices(WORDS, k=n))

    makers: list[Callable[[int], str]] = [
        lambda i: words(12).capitalize() + ".",
        lambda i: f"{i:5d}\tdef {words(1)}_{i}({words(1)}: int) -> str:  # {words(4)}",
        lambda i: f'{{"path":"src/{words(1)}/{i}.py","ok":true,"took":{chance.random():.4f}}}',
        lambda i: (
            f"2026-01-01T09:{i % 60:02d}:00Z WARN [{words(1)}-{i}] {words(5)} 0x{i * 2654435761 % 2**32:08x}"
        ),
        lambda i: f"日本語の説明 {words(2)} — ½ 😀",
    ]
    weights = (30, 40, 15, 14, 1)
    return [chance.choices(makers, weights)[0](i) for i in range(count)]


def make_texts(megabytes: int) -> list[str]:
    """Distinct texts of that size together, in characters."""
    chance = random.Random(42)
    lines = make_lines(chance, 8000)
    texts, size = [], 0
    while size < megabytes * 1_000_000:
        most = chance.choice((2, 5, 20, 60, 200))
        text = "\n".join(chance.choices(lines, k=chance.randrange(1, most)))
        texts.append(text)
        size += len(text)
    return texts


def clock(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def run() -> list[tuple[str, str]]:
    texts = make_texts(MEGABYTES)
    size = sum(map(len, texts)) / 1e6
    sample = texts[::10]
    sampled = sum(map(len, sample)) / 1e6
    counter, reference = find_counter(NAME), load_encoding(NAME)
    loading = clock(lambda: counter.count(["a"]))

    seconds: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        openai._cached_counts(NAME).clear()
        again = [text.encode().decode() for text in texts]
        for name, megabytes, work in (
            ("tiktoken, one call per text", sampled, lambda: [reference.encode_ordinary(t) for t in sample]),
            (f"{NAME}, cold", size, lambda: counter.count(texts)),
            (f"{NAME}, warm, equal texts read again", size, lambda again=again: counter.count(again)),
            (f"{NAME}, warm, the same strings", size, lambda: counter.count(texts)),
            ("chars4_utf16", size, lambda: chars4_utf16.count(texts)),
        ):
            seconds.setdefault(name, []).append(clock(work) / megabytes)

    rate = {name: 1 / statistics.median(times) for name, times in seconds.items()}
    slowest = rate["tiktoken, one call per text"]
    rows = [
        (f"{len(texts):,} texts", f"{size:.1f} MB"),
        (f"load the tables of {openai.find_engine(NAME).name}", f"{loading * 1000:.0f} ms"),
    ]
    return rows + [(name, f"{mbs:,.0f} MB/s, {mbs / slowest:,.1f}x") for name, mbs in rate.items()]


if __name__ == "__main__":
    for label, value in run():
        print(f"{label:<64} {value:>22}")
