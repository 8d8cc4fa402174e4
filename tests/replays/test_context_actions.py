"""What changes the context in a replay: automatic passes that come to nothing, and who arms them again."""

from __future__ import annotations

from inspector import read_session, replay
from inspector.replays.run import Run
from inspector.session.session import Session
from tests.replays.test_engine import at, kinds, live, make_policy, turns


def test_S0_106_a_pass_that_helps_does_not_count() -> None:
    run = live(turns(60), make_policy(keep=2, budget=30), window=300)
    assert len(run.adopted) > 1 and "no_progress" not in kinds(run)


def test_S0_106_a_summary_that_grows_is_told_and_ends_automatic_passes() -> None:
    # Summaries as long as what they are copied from: 27 tokens, then 38, and 240 tokens become 252.
    scenario = {"writer": {"oversize": 0}, "provider": "accepts"} | at("e46", "compact")
    run = live(turns(60), make_policy(keep=22, budget=30), scenario, window=300)
    assert [(item.reason, item.written) for item in run.adopted[:2]] == [("manual", 27), ("auto", 38)]
    little = [item.after >= 0.95 * item.before for item in run.adopted]
    told = [number for number, kind in enumerate(_passes(run)) if kind == "no_progress"]
    assert told, "passes that free next to nothing are told"
    passed = 0
    for kind, then in zip(_passes(run), [*_passes(run)[1:], ""], strict=True):
        passed += kind == "completed"
        if kind == "no_progress":
            assert little[passed - 2 : passed] == [True, True], "two in a row"
            assert then == "" or not little[passed], "the next one frees more"


def _passes(run: Run) -> list[str]:
    return [kind for kind in kinds(run) if kind in ("completed", "no_progress")]


def test_S0_106_one_small_pass_does_not_end_automatic_ones_and_three_are_told() -> None:
    def chat(sizes: list[int]) -> Session:
        words = [" ".join(f"w{turn}x{word}" for word in range(size)) for turn, size in enumerate(sizes)]
        return read_session(
            [
                {"role": role, "content": text}
                for number, answer in enumerate(words)
                for role, text in (("user", f"question {number}"), ("assistant", answer))
            ]
        )

    once = replay(chat([1500, 1500, 8, 1500, 2250, *[1500] * 4]), "stud-wiki-1.1", window=29_000)
    little = [item.after >= 0.95 * item.before for item in once.adopted]
    assert little.count(True) == 1 and not little[-1], "after the small pass there is another"
    assert "no_progress" not in kinds(once)
    # A turn that fills the window is protected, and every turn that leaves it is tiny.
    stuck = replay(chat([*[8] * 6, 5_200, *[8] * 5]), "stud-wiki-1.1", window=29_000)
    assert _passes(stuck)[:3] == ["completed", "completed", "no_progress"]
    assert [item.after >= 0.95 * item.before for item in stuck.adopted] == [True, True, False]
    assert stuck.adopted[-1].turn == 10, "the turn that filled the window is older now"
