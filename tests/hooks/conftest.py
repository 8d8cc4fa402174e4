"""The harness of the demo, before its compaction."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hooks.harness import FakeHarness, before_compaction


@pytest.fixture
def claude(tmp_path: Path) -> FakeHarness:
    return FakeHarness(tmp_path, before_compaction())
