"""Hypothesis repeats itself: two runs of one commit try the same 25 examples of each law.

`HYPOTHESIS_PROFILE=explore` tries 2,000 new ones.
"""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.loopback import KEY, Loopback
from tests.quick_imports import skip_grammar
from tests.slow import name_function, read_slow

skip_grammar()
# An exception that the product would isolate and report is raised here.
os.environ["INSPECTOR_STRICT"] = "1"

# A session is a great many small objects that live as long as its test module: to look through all of them
# for cycles as often as Python does by itself takes a fifth of the whole time.
gc.set_threshold(50_000, 20, 20)

LONGEST = ("test_conformance.py", "test_engine.py", "test_history.py")

settings.register_profile(
    "repeat",
    derandomize=True,
    deadline=None,
    max_examples=25,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("explore", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeat"))


def pytest_collection_finish() -> None:
    """Modules and tests stay to the end: nobody needs to look for them among the garbage."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The files with the longest tests come first, so that none is left to one process at the end."""
    items.sort(key=lambda item: item.path.name not in LONGEST)
    for item in items:
        # Whichever test of a Jupyter server is the first starts it.
        if name_function(item.nodeid) in read_slow() or "server" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Doctests are the package's: of these folders, only test_*.py is collected."""
    return True if collection_path.suffix == ".py" and not collection_path.name.startswith("test_") else None


def _forget() -> Iterator[None]:
    from inspector.policies import registry as policies
    from inspector.policies import rules

    before = [dict(own) for own in (rules._own, policies._own)]
    yield
    for own, kept in zip((rules._own, policies._own), before, strict=True):
        own.clear()
        own.update(kept)  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def forget_own_rules() -> Iterator[None]:
    """Rules and policies that a test adds are forgotten after it."""
    yield from _forget()


@pytest.fixture(autouse=True, scope="module")
def forget_own_rules_of_a_module() -> Iterator[None]:
    """And those that a module's fixtures add, after the module."""
    yield from _forget()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The demo session in a file, in a folder of its own."""
    from inspector.demo import read_demo

    path = tmp_path / "a session.jsonl"
    path.write_bytes(read_demo())
    return path


@pytest.fixture
def no_threads() -> Iterator[None]:
    """No thread can be started, as in a browser's Python: no address space holds such a stack."""
    size = threading.stack_size(2**50)
    yield
    threading.stack_size(size)


@pytest.fixture
def provider_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment with the key that `Loopback` lets in, and nothing else of a provider's."""
    for name in ("ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)


@pytest.fixture
def serve() -> Iterator[Callable[..., Loopback]]:
    """Starts a provider on loopback that answers by its cues; all are ended after the test."""
    with ExitStack() as open_ones:
        yield lambda *cues, **options: open_ones.enter_context(Loopback(*cues, **options))
