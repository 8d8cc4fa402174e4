"""A policy lent to other people's benchmarks: what goes in and out, limits, a small sample of two of them."""

from __future__ import annotations

import pytest

from inspector.corpus import Compressor
from inspector.errors import PolicyError
from tests.bench.yardsticks import CAPS, count_probes, find_probes, find_stretches, run_kit, run_stretch
from tests.shared import SHARED

SAID = [
    {"role": "system", "content": "You are a coding assistant."},
    {"role": "user", "content": "Please look at the queue, it is slow. The staging host is db-7.internal."},
    {"role": "assistant", "content": "There are 204 jobs waiting, and one worker takes them."},
    {"role": "user", "content": "Never restart the worker by hand."},
    {"role": "assistant", "content": "Fine."},
]


class Said:
    """A turn as a benchmark hands it over."""

    def __init__(self, role: str, text: str) -> None:
        self.role, self.text = role, text


TURNS = [Said(message["role"], message["content"]) for message in SAID]
LONG = TURNS + [
    Said(role, f"{words} {number}.")
    for number in range(40, 240)
    for role, words in (("user", f"Room {number} on floor{number} has seats for"), ("assistant", "Noted as"))
]


def test_messages_come_back_as_messages_and_those_given_are_left_alone() -> None:
    given = [dict(message) for message in SAID]
    left = Compressor("claude-code")(given)
    assert given == SAID
    assert all(message.keys() == {"role", "content"} for message in left)
    text = "\n".join(message["content"] for message in left)
    assert "Never restart the worker by hand." in text and "204 jobs waiting" in text


@pytest.mark.parametrize("policy", ["claude-code", "codex", "flue", "keep-recent-turns"])
@pytest.mark.parametrize("limit", [300, 500, 1000, 3000])
def test_one_text_has_no_more_characters_than_were_asked_for(policy: str, limit: int) -> None:
    told = Compressor(policy).compact(LONG, round_num=3, budget_chars=limit)
    assert 0 < len(told.text) <= limit
    assert (told.round_num, told.compactor_name) == (3, f"compaction-inspector: {policy}")


def test_a_larger_limit_is_used() -> None:
    sizes = [len(Compressor("claude-code").compact(LONG, budget_chars=limit).text) for limit in (300, 900)]
    assert 150 < sizes[0] < sizes[1] - 100


def test_what_is_told_by_the_system_alone_comes_back_as_it_is() -> None:
    first = Compressor("claude-code").compact(LONG, budget_chars=600)
    again = Compressor("claude-code").compact([Said("system", first.text)], 2, 600)
    assert again.text == first.text


def test_a_policy_that_does_not_exist_is_told_at_once() -> None:
    with pytest.raises(PolicyError):
        Compressor("no-such-policy")


def test_the_kit_is_kept_within_its_caps_and_finds_more_in_more_room() -> None:
    pytest.importorskip("compaction_kit", reason="compaction-conformance-kit is in the extra 'test'")
    rows = [run_kit("claude-code", cap, seeds=range(3), rounds=3) for cap in CAPS]
    assert all(row.within and row.first == row.last and row.first.asked == 30 for row in rows)
    kept = [row.first.kept for row in rows]
    assert kept == sorted(kept) and kept[0] >= 9 and kept[1] >= 18 and kept[2] >= 25


def test_probes_are_counted_in_one_sentence_and_never_inside_another() -> None:
    said = ["It took 204 seconds.\nSee /srv/app/main.py and 1a2b3c4d."]
    probes = find_probes(said)
    assert probes == [("/srv/app/main.py",), ("1a2b3c4d",), ("204", "seconds")]
    assert count_probes(probes, "204 tries. Two seconds. /SRV/app/main.py").kept == 1
    assert count_probes(probes, said[0]) == (3, 3)


@pytest.mark.skipif(not SHARED.exists(), reason="the shared transcripts are not beside this checkout")
def test_an_extract_as_long_as_the_recorded_summary_keeps_more_of_what_the_model_said() -> None:
    path = SHARED / "sessions/claude-code--entireio-cli/cc-3auto-compactions-893l.jsonl"
    pairs = [run_stretch(stretch) for stretch in find_stretches(path)]
    assert [recorded.asked for recorded, _ in pairs] == [11, 5, 7]
    assert sum(ours.kept for _, ours in pairs) >= 2 * sum(recorded.kept for recorded, _ in pairs)
