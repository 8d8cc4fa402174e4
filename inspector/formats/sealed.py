"""Summaries that a provider sealed: there is a text, and nobody but the provider can read it."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, Self

from pydantic import ValidationError, model_validator

from ..session.blocks import Chars, Value
from ..session.entries import Boundary
from ..session.json_text import stringify


class Sealed(Value):
    """A compaction as its provider wrote it: it goes back first, unchanged, with `betas` (CLAUDE).

    Only so do models that bind reasoning to what stands before it take what was kept after it (§5, §8).
    `model` wrote it: any other is told its words alone. Any other block than a compaction is refused,
    thinking above all: what was summarised is never reasoning again (S0-39).
    """

    block: dict[str, Any]
    betas: tuple[str, ...] = ()
    model: Chars | None = None

    @model_validator(mode="after")
    def _check_block(self) -> Self:
        if self.block.get("type") != "compaction":
            raise ValueError(f"a provider seals a compaction, not {self.block.get('type')!r:.60}")
        return self

    @property
    def digest(self) -> str:
        """SHA-256 of the block; one in which anything was changed is not the provider's any more."""
        return sha256(stringify(self.block).encode("utf-8", "surrogatepass")).hexdigest()

    def fields(self) -> dict[str, Any]:
        """What a boundary's `extra` holds of it."""
        fields = {"block": self.block, "betas": list(self.betas), "sha256": self.digest}
        return {SEALED: fields if self.model is None else {**fields, "model": self.model}}

    def suits(self, model: str | None) -> bool:
        """Whether it can be sent to a model."""
        from ..tokens.models import is_same  # imports numpy, which opening a file does not need

        return self.model is None or model is None or is_same(self.model, model)


THRESHOLD, ON_DEMAND = "compact-2026-01-12", "compact-2026-09-04"
"""The beta headers for the two kinds of compaction of Anthropic's API: above a threshold, and on demand."""


def seal_block(block: dict[str, Any], betas: Sequence[str], model: str | None) -> dict[str, Any]:
    """Return the fields for a boundary's `extra` from a compaction block that the provider returned."""
    whole = {key: item for key, item in block.items() if key != "cache_control"}
    return Sealed(block=whole, betas=tuple(betas), model=model).fields()


SEALED = "sealed"
"""Where a boundary's `extra` holds the provider's own block."""


def read_sealed(boundary: Boundary | None) -> Sealed | None:
    """The provider's own block of a recorded compaction; None where there is none, or it was changed."""
    stored = boundary.extra.get(SEALED) if boundary is not None else None
    if not isinstance(stored, dict) or not isinstance(stored.get("block"), dict):
        return None
    betas, model = stored.get("betas"), stored.get("model")
    try:
        sealed = Sealed(
            block=stored["block"],
            betas=tuple(filter(_is_text, betas)) if isinstance(betas, list) else (),
            model=model if _is_text(model) else None,
        )
    except ValidationError:
        return None
    return sealed if sealed.digest == stored.get("sha256") else None


def _is_text(value: Any) -> bool:
    return isinstance(value, str)
