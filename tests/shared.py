"""The transcripts and vectors that lie beside this checkout on some machines, and never in it."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).parents[2] / "shared"
needs_shared = pytest.mark.skipif(
    not SHARED.exists(), reason="the shared transcripts are not beside this checkout"
)
