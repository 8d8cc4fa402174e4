"""Hypothesis repeats itself: two runs of one commit try the same examples.

`HYPOTHESIS_PROFILE=explore` tries new ones, and more of them.
"""

from __future__ import annotations

import os
from pathlib import Path

from hypothesis import HealthCheck, settings

settings.register_profile(
    "repeat", derandomize=True, deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("explore", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeat"))


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Doctests are the package's: of these folders, only test_*.py is collected."""
    return True if collection_path.suffix == ".py" and not collection_path.name.startswith("test_") else None
