"""Summaries that a provider encrypted: only the provider can read their text."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, Self

from pydantic import ValidationError, model_validator

from ..session.blocks import Chars, Value
from ..session.entries import Boundary
from ..session.json_text import stringify


class Sealed(Value):
    """A compaction block of a provider. It is sent back unchanged, first in the request, with `betas`.

    Without it, models that bind reasoning to the preceding blocks refuse the reasoning kept after it. `model`
    wrote the block: another model is sent only its text. Blocks of other types are refused, above all
    thinking: summarised content never becomes reasoning again (S0-39).
    """

    block: dict[str, Any]
    betas: tuple[str, ...] = ()
    model: Chars | None = None

    @model_validator(mode="after")
    def _check_block(self) -> Self:
        if self.block.get("type") != "compaction":
            raise ValueError(f"an encrypted block must be a compaction, not {self.block.get('type')!r:.60}")
        return self

    @property
    def digest(self) -> str:
        """SHA-256 of the block. A different digest shows that the block was changed."""
        return sha256(stringify(self.block).encode("utf-8", "surrogatepass")).hexdigest()

    def fields(self) -> dict[str, Any]:
        """Return the fields for a boundary's `extra`."""
        fields = {"block": self.block, "betas": list(self.betas), "sha256": self.digest}
        return {SEALED: fields if self.model is None else {**fields, "model": self.model}}

    def suits(self, model: str | None) -> bool:
        """Return whether the block can be sent to a model."""
        from ..tokens.models import is_same  # imports numpy, which opening a file does not need

        return self.model is None or model is None or is_same(self.model, model)


THRESHOLD, ON_DEMAND = "compact-2026-01-12", "compact-2026-09-04"
"""The beta headers for the two kinds of compaction of Anthropic's API: above a threshold, and on demand."""


def seal_block(block: dict[str, Any], betas: Sequence[str], model: str | None) -> dict[str, Any]:
    """Return the fields for a boundary's `extra` from a compaction block that the provider returned."""
    whole = {key: item for key, item in block.items() if key != "cache_control"}
    return Sealed(block=whole, betas=tuple(betas), model=model).fields()


SEALED = "sealed"
"""Key of the provider's block in a boundary's `extra`."""


def read_sealed(boundary: Boundary | None) -> Sealed | None:
    """Return the provider's block of a recorded compaction; None if it is missing or was changed."""
    stored = boundary.extra.get(SEALED) if boundary is not None else None
    if not isinstance(stored, dict) or not isinstance(stored.get("block"), dict):
        return None
    betas, model = stored.get("betas"), stored.get("model")
    try:
        sealed = Sealed(
            block=stored["block"],
            betas=tuple(b for b in betas if isinstance(b, str)) if isinstance(betas, list) else (),
            model=model if isinstance(model, str) else None,
        )
    except ValidationError:
        return None
    return sealed if sealed.digest == stored.get("sha256") else None
