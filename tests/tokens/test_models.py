"""What is published about models, and what a session tells about its own."""

from __future__ import annotations

from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.formats.readers import read_session
from inspector.session.entries import Boundary, Entry, Usage
from inspector.session.session import Session
from inspector.tokens.models import (
    find_class,
    find_claude,
    image_tokens,
    model_of,
    published_window,
    window_of,
)
from tests.shared import SHARED, needs_shared


@pytest.mark.parametrize(
    ("name", "family", "version"),
    [
        ("claude-opus-4-5-20251101", "opus", (4, 5)),
        ("claude-opus-4-20250514", "opus", (4, 0)),
        ("claude-sonnet-4.6", "sonnet", (4, 6)),
        ("anthropic/claude-opus-4.7", "opus", (4, 7)),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "sonnet", (4, 5)),
        ("claude-opus-4-1@20250805", "opus", (4, 1)),
        ("claude-3-5-sonnet-20241022", "sonnet", (3, 5)),
        ("claude-3.7-sonnet", "sonnet", (3, 7)),
        ("claude-3-haiku-20240307", "haiku", (3, 0)),
        ("claude-fable-5-1", "fable", (5, 1)),
        ("claude-mythos-preview", "mythos", (0, 0)),
        ("Claude-Sonnet-5", "sonnet", (5, 0)),
    ],
)
def test_names_of_claude_models_are_understood(name: str, family: str, version: tuple[int, int]) -> None:
    assert find_claude(name) == (family, version)


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("claude-3-5-sonnet-20241022", "strip"),
        ("claude-opus-4-1", "strip"),
        ("claude-sonnet-4-5", "strip"),
        ("claude-haiku-4-5-20251001", "strip"),
        ("claude-opus-4-5", "keep"),
        ("claude-sonnet-4-6", "keep"),
        ("claude-sonnet-5", "keep"),
        ("claude-fable-5", "keep"),
        ("claude-mythos-preview", "keep"),
        ("claude-opus-5", "keep"),
        ("claude-opus-5-5", "bound"),
        ("claude-fable-5-1", "bound"),
        ("claude-haiku-5", None),
    ],
)
def test_models_are_classed_by_what_they_do_with_old_thinking(model: str, expected: str | None) -> None:
    assert find_class(model) == expected


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ("claude-opus-4-5-20251101", 200_000),
        ("claude-opus-4-6", 1_000_000),
        ("claude-sonnet-4-5", 200_000),
        ("claude-sonnet-4-5[1m]", 1_000_000),
        ("claude-sonnet-4-6", 1_000_000),
        ("claude-sonnet-5", 1_000_000),
        ("claude-haiku-4-5", 200_000),
        ("claude-fable-5", 1_000_000),
        ("claude-mythos-5", 1_000_000),
        ("claude-mythos-preview", 200_000),
        ("claude-opus", None),
    ],
)
def test_windows_are_the_published_ones(model: str, tokens: int | None) -> None:
    assert published_window(model) == tokens


# -- pictures -------------------------------------------------------------------------------------------

HIGH = "claude-opus-4-7"


@pytest.mark.parametrize(
    ("width", "height", "standard", "high"),
    [
        (200, 200, 64, 64),
        (1000, 1000, 1296, 1296),
        (1092, 1092, 1521, 1521),
        (1920, 1080, 1560, 2691),
        (3840, 2160, 1560, 4784),
    ],
)
def test_pictures_cost_the_published_check_values(width: int, height: int, standard: int, high: int) -> None:
    assert image_tokens(width, height) == image_tokens(width, height, "claude-sonnet-4-5") == standard
    assert image_tokens(width, height, HIGH) == high


@given(st.integers(1, 9000), st.integers(1, 9000))
def test_a_picture_keeps_within_its_tier_and_costs_the_same_lying_down(width: int, height: int) -> None:
    for model, edge, most in (("claude-opus-4-6", 1568, 1568), (HIGH, 2576, 4784)):
        tokens = image_tokens(width, height, model)
        assert tokens == image_tokens(height, width, model)
        assert tokens is not None and 1 <= tokens <= most
        if max(width, height) <= edge and ceil(width / 28) * ceil(height / 28) <= most:
            assert tokens == ceil(width / 28) * ceil(height / 28)
        # No size of the same shape that keeps the limits costs more: try all whole widths.
        sizes = ((w, w * height / width) for w in range(1, min(width, edge) + 1, 7))
        fitting = (ceil(w / 28) * ceil(h / 28) for w, h in sizes if h <= edge)
        assert all(cost <= tokens for cost in fitting if cost <= most)


# -- windows of sessions --------------------------------------------------------------------------------


def session(model: str | None, *prompts: int, boundary: Boundary | None = None, **given: object) -> Session:
    entries = [
        Entry(
            id=f"a{i}", parent=f"a{i - 1}" if i else None, role="assistant", model=model, usage=Usage(input=n)
        )
        for i, n in enumerate(prompts)
    ]
    if boundary is not None:
        entries.append(Entry(id="s", parent=entries[-1].id, kind="compaction", boundary=boundary))
    return Session.model_validate(
        {"format": "demo", "entries": tuple(entries), "leaf": entries[-1].id if entries else None, **given}
    )


def test_a_compaction_below_200k_tells_that_the_large_window_was_not_in_use() -> None:
    found = window_of(
        session("claude-opus-4-6", 150_000, boundary=Boundary(trigger="auto", tokens_before=167_000))
    )
    assert found.tokens == 200_000
    assert found.source.startswith("observed: 1,000,000 is published for claude-opus-4-6")


def test_an_answered_request_above_the_published_window_tells_a_larger_one() -> None:
    found = window_of(session("claude-sonnet-4-5", 350_000))
    assert found.tokens == 1_000_000 and "a context held 350,000 tokens" in found.source


@pytest.mark.parametrize("model", ["claude-haiku-4-5", "claude-opus-4-5", "claude-sonnet-4-5-20250929"])
def test_an_overflow_that_was_refused_proves_no_larger_window(model: str) -> None:
    overflow = Boundary(trigger="auto", tokens_before=203_512)
    assert window_of(session(model, 150_000, 190_000, boundary=overflow)).tokens == 200_000


@pytest.mark.parametrize("model", [None, "gpt-5.5"])
def test_an_unknown_window_is_none_and_says_so(model: str | None) -> None:
    found = window_of(session(model, 100))
    assert found.tokens is None and "none is published here" in found.source


def test_the_model_is_that_of_the_last_reply_a_model_wrote() -> None:
    entries = (
        Entry(id="a", role="assistant", model="claude-opus-4-5"),
        Entry(id="b", parent="a", role="assistant", model="claude-opus-4-6"),
        Entry(id="c", parent="b", role="assistant", model="<synthetic>"),
    )
    told = Session(format="demo", model="claude-haiku-4-5", entries=entries, leaf="c")
    assert model_of(told) == "claude-opus-4-6"
    assert model_of(told.at("a")) == "claude-opus-4-5"
    assert model_of(told.at(None)) == "claude-haiku-4-5"


@needs_shared
@pytest.mark.parametrize(
    ("name", "tokens", "how"),
    [
        ("claude-code--entireio-cli/cc-2auto-1519l.jsonl", 200_000, "observed"),
        ("claude-code--entireio-cli/cc-1auto-1micro.jsonl", 200_000, "published"),
        ("claude-code--git-sync/cc-426k-ctx-1142l.jsonl", 1_000_000, "published"),
    ],
)
def test_windows_of_real_sessions(name: str, tokens: int, how: str) -> None:
    path = SHARED / "sessions" / name
    found = window_of(read_session(path.read_bytes(), path.name))
    assert found.tokens == tokens and found.source.startswith(how)
