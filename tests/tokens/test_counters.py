"""Counters: exact where they say exact, the published figures where they cite them, and never a crash."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from inspector.errors import CounterError
from inspector.formats.readers import read_session
from inspector.session.blocks import Text
from inspector.session.entries import Entry, Usage
from inspector.session.session import Session
from inspector.text import utf16_length
from inspector.tokens.counter import Counter
from inspector.tokens.counters import find_counter, openai
from inspector.tokens.counters.openai import load_encoding
from inspector.tokens.ledger import count_tokens
from tests.shared import SHARED, needs_shared
from tests.work import limit_work

EXACT = ("o200k_base", "cl100k_base")
_awkward = st.sampled_from("'\u017f|\u017f'S|'s|'LL|\ud83d|\ude00|😀| |\n|\r\n|\t|\u3000|A|a|1".split("|"))
texts = st.one_of(
    st.text(st.characters()), st.lists(_awkward | st.text(max_size=4), max_size=40).map("".join)
)
"""Any `str`: lone surrogates and joined ones, the long s, whitespace, every script."""


def truth(name: str, text: str) -> int:
    """tiktoken's own answer, its ranks checked by tiktoken's own hash."""
    return len(load_encoding(name).encode_ordinary(text))


# -- exact counters -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXACT)
@given(batch=st.lists(texts, max_size=5))
@example(batch=["\u0130'\u017f'Stv'-sd\u017f\nsB'_l\u00e9", "\udc00\ud800", "<|endoftext|>", "\ufeff\ud800"])
def test_an_exact_counter_counts_any_text_as_tiktoken_does(name: str, batch: list[str]) -> None:
    assert find_counter(name).count(batch).tolist() == [truth(name, text) for text in batch]


def test_a_long_run_is_counted_in_pieces() -> None:
    """tiktoken reads eight a's as one token, and takes a minute for 50 million of them at once."""
    assert len(openai.load_encoding("o200k_base").encode_ordinary("a" * 8)) == 1
    with limit_work():
        assert openai.count_reference("o200k_base", "a" * 16_000_000) == 2_000_000


def test_a_million_spaces_are_counted(capfd: pytest.CaptureFixture[str]) -> None:
    """tiktoken panics on them; the pieces it is given instead may differ by a token at each seam."""
    run = " " * 1_100_000 + "\t" * 200_000
    fast = int(find_counter("o200k_base").count([run])[0])
    assert abs(openai.count_reference("o200k_base", run) - fast) <= 13
    assert capfd.readouterr().err == ""


def test_the_fast_engine_is_used_where_it_is_installed() -> None:
    toktok = pytest.importorskip("toktok")
    assert openai.find_engine("o200k_base").name == f"toktok {toktok.__version__}"
    assert "self-tested against tiktoken" in find_counter("o200k_base").source


def test_an_engine_that_counts_wrong_is_set_aside_and_named() -> None:
    def absent(name: str) -> Any:
        raise ImportError(name)

    def wrong(name: str) -> tuple[str, openai.Run]:
        return "guesser 1.0", lambda texts: [len(text) // 4 for text in texts]

    def broken(name: str) -> Any:
        raise OSError("illegal instruction")

    for load, rejected in (
        (absent, ""),
        (wrong, "guesser 1.0 failed its self-test"),
        (broken, "broken broke down in its self-test"),
    ):
        engine = openai.choose_engine("o200k_base", load)
        assert engine.name.startswith("tiktoken ")
        assert engine.rejected == rejected
        assert engine.run(["hello world"]) == [2]


def test_counting_again_gives_the_same_and_the_memory_stays_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai, "_REMEMBERED", 100)
    counter = find_counter("o200k_base")
    many = [f"text number {i}" + " and so on" * 50 for i in range(150)]
    first = counter.count(many)
    assert 0 < len(openai._cached_counts("o200k_base")) <= 100
    assert np.array_equal(counter.count(many), first)
    assert counter.count(["same", "same", "other"]).tolist() == [1, 1, 1]


# -- ranks ----------------------------------------------------------------------------------------------


def test_encodings_are_built_without_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    fresh = load_encoding.__wrapped__("cl100k_base")
    assert fresh.encode_ordinary("hello world") == [15339, 1917]
    assert not list(tmp_path.iterdir())


def test_an_unknown_counter_is_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(CounterError, match=r"'o201k'.*no such counter.*o200k_base, calibrated, chars4_utf16"):
        find_counter("o201k")


# -- published estimates --------------------------------------------------------------------------------


@given(texts)
def test_utf16_length_is_what_javascript_calls_length(text: str) -> None:
    assert utf16_length(text) == sum(2 if ord(char) > 0xFFFF else 1 for char in text)


# -- calibration ----------------------------------------------------------------------------------------


def chat(sizes: Sequence[int], factor: float) -> Session:
    """A chat whose provider counts `factor` tokens for each of ours.

    Every text is `size` times " a", one o200k token each.
    """
    entries: list[Entry] = []
    prompt = 5000.0
    for turn, size in enumerate(sizes):
        prompt += size * factor
        said, above = (Text(text=" a" * size),), f"a{turn - 1}" if turn else None
        usage = Usage(cache_read=round(prompt), output=size)
        entries.append(Entry(id=f"u{turn}", parent=above, blocks=said))
        answer = Entry(id=f"a{turn}", parent=f"u{turn}", role="assistant", blocks=said, usage=usage)
        entries.append(answer.model_copy(update={"model": "claude-opus-4-6"}))
        prompt += size * factor
    return Session(format="demo", entries=tuple(entries), leaf=entries[-1].id)


def test_calibration_finds_the_factor_the_provider_counts_by() -> None:
    ledger = count_tokens(chat([200] * 12, 1.25), "calibrated")
    assert ledger.calibration is not None and ledger.calibration.fitted
    assert ledger.calibration.factor == pytest.approx(1.25)
    assert (ledger.calibration.low, ledger.calibration.high) == (1.25, 1.25)
    assert ledger.calibration.replies == 11
    assert set(ledger.tokens.tolist()) == {250}
    assert ledger.count_texts([" a" * 200]).tolist() == [250]
    assert ledger.source == (
        "fitted to the provider: o200k_base x 1.250 (p10 1.25, p90 1.25), "
        "fitted to 11 replies of claude-opus-4-6 by their reported usage"
    )


@needs_shared
@pytest.mark.parametrize(
    "name",
    [
        "claude-code--entireio-cli/cc-auto+manual-1161l.jsonl",
        "claude-code--entireio-cli/cc-3auto-compactions-893l.jsonl",
        "pi--pi-mono/pi-before-compaction.jsonl",
    ],
)
def test_real_claude_sessions_calibrate_to_what_was_measured_elsewhere(name: str) -> None:
    """PEERS §5.5: Claude counts 1.13–1.30 tokens for one of o200k; frames and reminders come on top."""
    path = SHARED / "sessions" / name
    calibration = count_tokens(read_session(path.read_bytes(), path.name), "calibrated").calibration
    assert calibration is not None and calibration.fitted and calibration.replies > 200
    assert 1.13 <= calibration.factor <= 1.45
    assert calibration.low < calibration.factor < calibration.high


# -- counters of one's own ------------------------------------------------------------------------------


def test_a_counter_of_ones_own_is_enough_to_count_a_session() -> None:
    words = Counter("words", "Words", lambda texts: np.array([len(t.split()) for t in texts], np.int32))
    session = Session(format="demo", entries=(Entry(id="a", blocks=(Text(text="to be or not"),)),), leaf="a")
    ledger = count_tokens(session, words)
    assert (ledger.total, ledger.source) == (4, "Words")
