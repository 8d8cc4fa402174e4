"""What changes the context in a replay: automatic passes that come to nothing, and who arms them again."""

from __future__ import annotations

from itertools import pairwise

from inspector.policies.policy import read_policy
from inspector.session.blocks import Text, ToolCall, ToolOutput
from inspector.session.entries import Entry
from tests.replays.test_engine import WARNING, at, event, kinds, live, make_policy, say, talk, turn, turns


def test_S0_106_passes_that_come_to_nothing_stop_automatic_ones_until_someone_acts() -> None:
    # Of 240 tokens 214 are kept, and the summary takes 30: ten come and ten go, 4 % of all.
    stalls = make_policy(keep=22, budget=30)
    accepts = {"provider": "accepts"}
    alone = live(turns(40), stalls, accepts, window=300)
    assert [item.reason for item in alone.adopted] == ["auto", "auto"]
    assert kinds(alone, "no_progress") == ["no_progress"] and kinds(alone)[-1] == "no_progress"
    assert any("automatic ones stop until the user acts" in one.sentence for one in alone.findings)
    stalled = next(one for one in alone.events if one.kind == "no_progress")
    # The user acts ten turns later: from then on it compacts by itself again, until it stalls again.
    acts = at(f"e{2 * (stalled.turn or 0) + 20}", "compact")
    acted = live(turns(40), stalls, acts | accepts, window=300)
    assert [item.reason for item in acted.adopted][:4] == ["auto", "auto", "manual", "auto"]
    assert acted.adopted[2].turn == (stalled.turn or 0) + 10
    # It is the user's word that counts: a /compact that finds nothing to compact arms it as well.
    next_question = f"e{2 * (stalled.turn or 0) + 2}"
    idle = live(turns(40), stalls, at(next_question, "compact") | accepts, window=300)
    assert [item.reason for item in idle.adopted] == ["auto", "auto", "auto"]
    assert idle.adopted[2].turn == (stalled.turn or 0) + 1


def test_S0_106_a_pass_that_helps_does_not_count() -> None:
    run = live(turns(60), make_policy(keep=2, budget=30), window=300)
    assert len(run.adopted) > 1 and "no_progress" not in kinds(run)


def test_S0_106_a_summary_that_grows_is_told_and_ends_automatic_passes() -> None:
    # Summaries as long as what they are copied from: 27 tokens, then 38, and 240 tokens become 252.
    scenario = {"writer": {"oversize": 0}, "provider": "accepts"} | at("e46", "compact")
    run = live(turns(60), make_policy(keep=22, budget=30), scenario, window=300)
    assert [(item.reason, item.written) for item in run.adopted] == [("manual", 27), ("auto", 38)]
    assert run.adopted[1].after >= 0.95 * run.adopted[1].before
    assert kinds(run)[-1] == "no_progress" and run.context[-1] > 300


def test_S0_106_a_pass_that_writes_no_summary_may_do_little_again_and_again() -> None:
    """Each takes the oldest of thirty turns, a thirtieth of the context: no summary grows by it."""
    rules = [{"kind": "keep-recent-turns", "turns": 30}, {"kind": "drop-older"}]
    trigger = {"tokens": 60, "measure": "assembled", "check": "request"}
    policy = read_policy({"name": "mine", "trigger": trigger, "rules": rules})
    run = live(talk(*(entry for _ in range(40) for entry in turn(1, 2))), policy, window=1_000)
    assert len(run.adopted) > 5 and "no_progress" not in kinds(run)
    assert all(0.95 < item.after / item.before < 1 for item in run.adopted)


def test_a_switch_to_a_model_without_a_published_window_names_it() -> None:
    run = live(turns(3), make_policy(), at("e2", "switch", model="nobody's model"))
    told = " ".join(one.sentence for one in run.findings)
    assert "No window is published for nobody's model" in told
    assert run.window == live(turns(3), make_policy()).window
    nothing = live(turns(3), make_policy(), at("e2", "switch"))
    assert any("neither a window nor a model" in one.sentence for one in nothing.findings)
    larger = live(turns(3), make_policy(), at("e2", "switch", model="nobody's model", window=500))
    assert not any("No window is published" in one.sentence for one in larger.findings)


def test_a_reset_leaves_the_words_of_a_message_that_brings_a_tool_s_output_too() -> None:
    """The output of 20 tokens goes with the call it answers; the five that the user says beside it stay."""
    output = ToolOutput(call_id="c", parts=(Text(text="word " * 20),))
    asked = Entry(id="", role="user", blocks=(output, Text(text="word " * 5)))
    call = say("assistant", 3, ToolCall(id="c", name="read", input={}))
    session = talk(say("user", 4), call, asked, say("assistant", 6))
    run = live(session, WARNING, at("e3", "reset", confirmed=True))
    told = event(run, "reset")
    assert (told.before, told.after) == (33, 5)
    assert run.sent[-1] == 5 and run.context[-1] == 11


def test_after_many_tries_in_vain_the_next_waits_until_the_context_has_grown_by_a_fiftieth() -> None:
    """Fifty looks at five thousand entries; from then on a try takes several turns at once."""
    rules = [{"kind": "keep-recent-turns", "turns": 5_058}, {"kind": "drop-older"}]
    trigger = {"tokens": 60, "measure": "assembled", "check": "request"}
    policy = read_policy({"name": "mine", "trigger": trigger, "rules": rules})
    asked = [say("user", 1) for _ in range(5_000)]
    session = talk(*asked, *(entry for _ in range(90) for entry in turn()))
    run = live(session, policy, {"provider": "accepts"}, window=1_000)
    assert len(run.adopted) > 1
    for one, following in pairwise(run.adopted):
        assert following.before >= one.after * 1.02
